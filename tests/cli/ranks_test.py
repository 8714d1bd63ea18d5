"""The program under mpirun, with Open MPI and with MPICH: the files of a run are those of one process, byte for byte; a run
goes on with another number of ranks; rank 0 alone speaks. Skipped, saying so, where a launcher or its plugin is missing."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

from program import HIDDEN, MOONS, PROGRAM, ProgramTest, Result, main, sanitized

LAUNCHERS = {"openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"], "mpich": ["mpirun.mpich"]}
# Of a launcher that runs the tests themselves.
FOREIGN = ("OMPI_", "PMI", "PMIX_", "SLURM_")


def available(library):
    return shutil.which(LAUNCHERS[library][0]) is not None and (pathlib.Path(PROGRAM).parent / f"lockstep_{library}.so").exists()


class RanksTest(ProgramTest):
    def command(self, library, ranks, *arguments):
        if sanitized():
            self.skipTest("a sanitizer finds fault with the MPI libraries themselves")
        if not available(library):
            self.skipTest(f"{library} is missing: its mpirun, or the plugin for it")
        return [*LAUNCHERS[library], "-n", str(ranks), PROGRAM, *arguments]

    def environment(self, **more):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        return kept | {"HOME": str(self.folder), "OMP_NUM_THREADS": "1"} | more

    def launch(self, library, ranks, *arguments, **more):
        done = subprocess.run(self.command(library, ranks, *arguments), cwd=self.folder, env=self.environment(**more),
                              timeout=120, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        return Result(done.returncode, done.stdout, done.stderr)

    def contents(self, run):
        return [(self.folder / run / name).read_bytes() for name in ("metrics.jsonl", "model.safetensors", "config.toml")]

    def rank_process(self, launcher, rank):
        """The process of a rank, a child of Open MPI's mpirun."""
        children = pathlib.Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()
        wanted = f"OMPI_COMM_WORLD_RANK={rank}".encode()
        return next(int(child) for child in children
                    if wanted in pathlib.Path(f"/proc/{child}/environ").read_bytes().split(b"\0"))

    def has_lines(self, name, count):
        path = self.folder / name
        return path.exists() and path.read_bytes().count(b"\n") >= count

    def train_alone(self, text=MOONS):
        self.write("a.toml", text)
        self.assertEqual(self.run_program("train", "a.toml", "--out", "alone").code, 0)
        return self.contents("alone")


class SameBytes(RanksTest):
    def compare(self, library, counts):
        alone = self.train_alone(MOONS.replace("batch = 16", "batch = 16\nslots = 8"))
        for ranks in counts:
            result = self.launch(library, ranks, "train", "a.toml", "--out", f"run{ranks}")
            self.assertEqual(result.code, 0, result)
            self.assertIn(f"{ranks} ranks", result.err)
            self.assertEqual(result.out.count("weights"), 1, "one rank speaks")
            self.assertEqual(self.contents(f"run{ranks}"), alone, f"{ranks} ranks")

    def test_open_mpi(self):
        self.compare("openmpi", [1 + 1, 3, 5])

    def test_mpich(self):
        self.compare("mpich", [2])

    def test_gathering_at_rank_zero(self):
        alone = self.train_alone(MOONS.replace("batch = 16", "batch = 16\nslots = 8"))
        self.assertEqual(self.launch("openmpi", 3, "train", "a.toml", "--set", "parallel.reduce=gather", "--out", "run").code, 0)
        self.assertEqual(self.contents("run")[:2], alone[:2])

    def test_sum_by_mpi(self):
        """Trains as well, to other bits, and says so."""
        self.train_alone(MOONS.replace("batch = 16", "batch = 16\nslots = 8"))
        for library in LAUNCHERS:
            result = self.launch(library, 2, "train", "a.toml", "--set", "parallel.reduce=mpi", "--out", f"run-{library}")
            self.assertEqual(result.code, 0, result)
            self.assertIn("another number of ranks gives other bits", result.out)
            last = [json.loads((self.folder / run / "metrics.jsonl").read_text().splitlines()[-1]) for run in
                    ("alone", f"run-{library}")]
            losses = [(each.get("test") or each["train"])["loss"] for each in last]
            self.assertAlmostEqual(losses[0], losses[1], delta=1e-3 * losses[0])

    def test_where_the_time_of_each_rank_goes(self):
        self.train_alone(MOONS.replace("batch = 16", "batch = 16\nslots = 8"))
        result = self.launch("openmpi", 2, "train", "a.toml", "--verbose", "--out", "run")
        self.assertIn("ms per step", result.err)
        for line in (self.folder / "run" / "timings.jsonl").read_text().splitlines():
            ranks = json.loads(line)["ranks"]
            self.assertEqual([each["rank"] for each in ranks], [0, 1])
            for each in ranks:
                self.assertGreater(each["seconds"]["forward"], 0)
                self.assertGreater(each["seconds"]["exchange"] + each["seconds"]["broadcast"], 0)

    def test_more_ranks_than_slots(self):
        alone = self.train_alone()
        result = self.launch("openmpi", 3, "train", "a.toml", "--out", "run")
        self.assertIn("a batch of 16 has 1 slot: 2 ranks without samples", result.err)
        self.assertEqual(self.contents("run"), alone)

    def test_resumed_on_other_counts(self):
        text = MOONS.replace("epochs = 3", "epochs = 12\nslots = 8")
        alone = self.train_alone(text)
        self.write("part.toml", text.replace("epochs = 12", "epochs = 4"))
        self.assertEqual(self.launch("openmpi", 3, "train", "part.toml", "--out", "run").code, 0)
        result = self.launch("openmpi", 2, "train", "part.toml", "--set", "train.epochs=7", "--out", "run", "--resume")
        self.assertEqual(result.code, 0, result)
        self.assertEqual(self.run_program("train", "a.toml", "--out", "run", "--resume").code, 0)
        self.assertEqual(self.contents("run"), alone)


class FinalScore(RanksTest):
    def test_the_training_set_is_scored_by_all_ranks(self):
        config = MOONS.replace("test_count = 32\nsplit = {validation = 16}\n", "")
        alone = self.train_alone(config)
        self.assertIn("final_train", json.loads(alone[0].splitlines()[-1]))
        for parts in ([], ["--set", "parallel.pipeline=2"]):
            self.assertEqual(self.launch("openmpi", 2, "train", "a.toml", "--out", "run", "--overwrite", *parts).code, 0)
            self.assertEqual(self.contents("run")[:2], alone[:2])


class FromRankZero(RanksTest):
    """data.from = "rank0": the other ranks start in a folder that has no data, and end with the same bits."""
    CONFIG = """\
[data]
source = "x.npy"
labels = "y.npy"
split = {validation = 8}
[model]
sizes = "16-5-3"
[train]
batch = 16
slots = 4
epochs = 3
"""

    # Paths of the command line are those of the working directory.
    HERE = ["--set", "data.source=x.npy", "--set", "data.labels=y.npy"]

    def scattered(self, library, ranks, *arguments):
        """Every rank but 0 runs elsewhere."""
        (self.folder / "elsewhere").mkdir(exist_ok=True)
        script = self.write("rank.sh", 'if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 0 ]; then cd elsewhere; fi\nexec "$@"\n')
        command = self.command(library, ranks)
        place = command.index(PROGRAM)
        command[place:place] = ["sh", str(script)]
        done = subprocess.run([*command, "train", str(self.folder / "a.toml"), *arguments], cwd=self.folder,
                              env=self.environment(), timeout=120, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        return Result(done.returncode, done.stdout, done.stderr)

    def compare(self, library, config, counts=(1, 2, 3)):
        self.write_digits(40)
        alone = self.train_alone(config)
        for ranks in counts:
            out = f"{library}-{ranks}"
            result = self.scattered(library, ranks, *self.HERE, "--set", 'data.from="rank0"', "--out", out, "--overwrite")
            self.assertEqual(result.code, 0, result)
            self.assertEqual(self.contents(out)[:2], alone[:2], f"{ranks} ranks")
            timings = self.lines(f"{out}/timings.jsonl")
            self.assertEqual(["scatter" in each["seconds"] for each in timings], [True, False, False])
            if ranks > 1:
                self.assertIn("rank 0 has sent the data", result.err)
                self.assertGreater(timings[0]["seconds"]["scatter"], 0)

    def test_same_bits_with_open_mpi(self):
        self.compare("openmpi", self.CONFIG)

    def test_same_bits_with_mpich(self):
        self.compare("mpich", self.CONFIG, [2])

    def test_one_hot_targets_and_double_precision(self):
        config = self.CONFIG.replace("[model]", "one_hot = true\n[model]").replace("[train]", 'precision = "float64"\n[train]\nloss = "squared-error"')
        self.compare("openmpi", config, [2])

    def test_real_targets(self):
        self.compare("openmpi", self.CONFIG.replace("[model]", "regression = true\n[model]").replace("16-5-3", "16-5-1")
                     .replace("[train]", '[train]\nloss = "squared-error"'), [3])

    def test_without_it_every_rank_needs_the_file(self):
        self.write_digits(40)
        self.train_alone(self.CONFIG)
        result = self.scattered("openmpi", 2, *self.HERE, "--out", "run")
        self.assertEqual(result.code, 3, result)
        self.assertRegex(result.err, "rank 1 on .*x.npy")

    def test_ranks_in_other_folders_find_the_file_beside_the_configuration(self):
        self.write_digits(40)
        alone = self.train_alone(self.CONFIG)
        result = self.scattered("openmpi", 2, "--out", "run", "--overwrite")
        self.assertEqual(result.code, 0, result)
        self.assertEqual(self.contents("run")[:2], alone[:2])

    def test_a_file_that_rank_zero_cannot_read(self):
        self.write("a.toml", self.CONFIG)
        result = self.scattered("openmpi", 2, "--set", 'data.from="rank0"', "--out", "run")
        self.assertEqual(result.code, 3, result)
        self.assertEqual(len([line for line in result.err.splitlines() if line.startswith("lockstep:")]), 1, result)

    def test_other_values_are_refused(self):
        self.write("a.toml", self.CONFIG)
        self.refuse(2, "data.from", "train", "a.toml", "--set", 'data.from="rank1"')


class Ends(RanksTest):
    def test_a_fault_of_all_is_said_once(self):
        self.write("a.toml", MOONS.replace("epochs", "epoch"))
        result = self.launch("openmpi", 3, "train", "a.toml", "--out", "run")
        self.assertEqual(result.code, 2, result)
        self.assertEqual(result.err.count("lockstep: a.toml"), 1, result)

    def test_divergence_is_said_once(self):
        self.write("a.toml", MOONS.replace('{name = "adam", lr = 0.05}', '{name = "sgd", lr = 1e300}'))
        result = self.launch("openmpi", 2, "train", "a.toml", "--out", "run")
        self.assertEqual(result.code, 8, result)
        self.assertEqual(result.err.count("diverged"), 1, result)

    def test_weights_that_are_not_finite_are_seen_by_all_ranks(self):
        self.write("a.toml", HIDDEN)
        for parts in ([], ["--set", "parallel.pipeline=2"], ["--set", "parallel.tensor=2"]):
            with self.subTest(parts):
                result = self.launch("openmpi", 2, "train", "a.toml", "--out", "run", "--overwrite", *parts)
                self.assertEqual(result.code, 8, result)
                self.assertEqual(result.err.count("the weights are not finite numbers at epoch 1, step 1"), 1, result)
                self.assertFalse((self.folder / "run/model.safetensors").exists())

    def test_other_data_on_one_rank(self):
        self.write("a.toml", MOONS.replace('source = "moons"', 'source = "d.csv"').split("count = 64")[0]
                   + MOONS[MOONS.index("[model]"):].replace('output = "sigmoid"\n', 'output = "sigmoid"\n'))
        rows = [f"{i % 7 / 7},{i % 5 / 5},{i % 2}" for i in range(40)]
        for rank, changed in ((0, "0.5"), (1, "0.25")):
            self.write(f"{rank}/d.csv", "\n".join([f"{changed},0.1,1", *rows]) + "\n")
        script = self.write("rank.sh", f'cd "$OMPI_COMM_WORLD_RANK" && exec "{PROGRAM}" "$@"\n')
        command = self.command("openmpi", 2, "train", "../a.toml", "--out", "../run")
        at = command.index(PROGRAM)
        command[at:at + 1] = ["sh", str(script)]
        done = subprocess.run(command, cwd=self.folder, env=self.environment(), timeout=120, capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 9, done)
        self.assertRegex(done.stderr, r"lockstep: rank 1 on \S+ has another data \([0-9a-f]{8}\) than rank 0")

    def test_a_signal_saves_and_the_run_goes_on(self):
        text = MOONS.replace("epochs = 3", "epochs = 2000")
        alone = self.train_alone(text)
        with subprocess.Popen(self.command("openmpi", 2, "train", "a.toml", "--out", "run"), cwd=self.folder,
                              env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            while run.poll() is None and not self.has_lines("run/metrics.jsonl", 20):
                time.sleep(0.01)
            # One rank alone hears of it, and not rank 0; all stop after the same step.
            os.kill(self.rank_process(run.pid, 1), signal.SIGTERM)
            _, errors = run.communicate(timeout=60)
        self.assertEqual(errors.count("stopped by a signal"), 1, errors)
        self.assertEqual(run.returncode, 10, errors)
        result = self.launch("openmpi", 3, "train", "a.toml", "--out", "run", "--resume")
        self.assertEqual(result.code, 0, result)
        self.assertEqual(self.contents("run"), alone)


    def test_the_status_tells_what_mpirun_does_not(self):
        """Ctrl-C at mpirun: Open MPI ends with 1, MPICH with 0, and the last line may be lost."""
        self.write("a.toml", MOONS.replace("epochs = 3", "epochs = 1000000"))
        for library in LAUNCHERS:
            name = f"run-{library}"
            with subprocess.Popen(self.command(library, 2, "train", "a.toml", "--out", name, "--quiet"), cwd=self.folder,
                                  env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
                while run.poll() is None and not self.has_lines(f"{name}/metrics.jsonl", 5):
                    time.sleep(0.01)
                run.send_signal(signal.SIGINT)
                _, errors = run.communicate(timeout=60)
            status = json.loads((self.folder / name / "status.json").read_text())
            self.assertEqual((status["state"], status["exit_code"], status["ranks"]), ("stopped", 10, 2), f"{status}\n{errors}")
            self.assertEqual(status["resume"], f"lockstep train {name}/config.toml --out {name} --resume")

    def lose(self, victim, name):
        self.write("a.toml", MOONS.replace("epochs = 3", "epochs = 1000000"))
        with subprocess.Popen(self.command("openmpi", 2, "train", "a.toml", "--out", name, "--quiet"), cwd=self.folder,
                              env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            while run.poll() is None and not self.has_lines(f"{name}/metrics.jsonl", 5):
                time.sleep(0.01)
            os.kill(self.rank_process(run.pid, victim), signal.SIGKILL)
            _, errors = run.communicate(timeout=60)
        status = json.loads((self.folder / name / "status.json").read_text())
        self.assertEqual((status["state"], status["exit_code"]), ("lost", 7), f"{status}\n{errors}")
        self.assertRegex(status["message"], rf"rank {victim} on \S+ has died; it was in phase")

    def test_the_status_of_a_run_that_lost_a_rank(self):
        """Rank 1 says it where rank 0 cannot."""
        for victim in (1, 0):
            self.lose(victim, f"run{victim}")


class Launchers(RanksTest):
    def test_processes_that_do_not_find_each_other(self):
        self.write("a.toml", MOONS)
        result = self.run_program("train", "a.toml", env={"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "1"})
        self.assertEqual(result.code, 2, result)
        self.assertIn("srun --mpi=pmix", result.err)

    def test_a_plugin_that_is_missing(self):
        self.write("a.toml", MOONS)
        result = self.run_program("train", "a.toml", env={"OMPI_COMM_WORLD_SIZE": "2", "LOCKSTEP_MPI_DIR": str(self.folder)})
        self.assertEqual(result.code, 2, result)
        self.assertIn("lockstep_openmpi.so", result.err)

    def test_a_launcher_of_the_other_library(self):
        """Processes that each believe to be rank 0 of 1."""
        if not (available("openmpi") and available("mpich")):
            self.skipTest("needs Open MPI and MPICH")
        self.write("a.toml", MOONS)
        result = self.run_program("train", "a.toml", env={"PMI_SIZE": "2", "PMI_RANK": "0"})
        self.assertEqual(result.code, 2, result)
        self.assertIn("started 2 processes, but each finds 1", result.err)


class Map(RanksTest):
    def test_every_rank_has_its_line(self):
        self.write("a.toml", MOONS)
        result = self.launch("openmpi", 3, "train", "a.toml", "--out", "run", "--verbose")
        self.assertEqual(result.code, 0, result)
        for rank in range(3):
            self.assertRegex(result.err, rf"(?m)^rank {rank} on \S+: 1 thread, may use cpus? [0-9,-]+ \(\d+ of \d+\)$")
        self.assertNotIn("is bound to", result.err)

    def test_threads_without_room(self):
        """Open MPI binds each of two ranks to one core."""
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one processor: nothing to bind to")
        self.write("a.toml", MOONS)
        command = self.command("openmpi", 2, "train", "a.toml", "--threads", "2", "--out")
        bound = [*command[:1], "--bind-to", "hwthread", *command[1:], "bound"]
        free = [*command[:1], "--bind-to", "none", *command[1:], "free"]
        run = lambda each: subprocess.run(each, cwd=self.folder, env=self.environment(), timeout=120, capture_output=True,
                                          text=True, check=True).stderr
        errors = run(bound)
        self.assertEqual(errors.count("has 2 threads but is bound to 1 of"), 1, errors)
        self.assertIn("--bind-to none", errors)
        self.assertNotIn("is bound to", run(free))


if __name__ == "__main__":
    main()
