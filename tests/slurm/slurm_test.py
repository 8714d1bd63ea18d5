"""slurm_test.py PROGRAM: the program under a real Slurm, started by srun and by the scripts of examples/slurm: the files
of a run are those of one process, byte for byte. To be run within tests/slurm/cluster (make test-slurm)."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
FILES = ("metrics.jsonl", "model.safetensors", "config.toml")
# 64 slots: enough for the ranks of every test here.
QUADRANTS = [EXAMPLES / "quadrants.toml", "--set", "data.count=8192", "--set", "train.epochs=4"]
# Long enough to be met by a signal.
MANY_EPOCHS = [EXAMPLES / "quadrants.toml", "--set", "data.count=4096", "--set", "train.epochs=2000"]


def rank_process(rank):
    """The process of a rank that srun started, on whichever node: they share one machine."""
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            variables = (process / "environ").read_bytes().split(b"\0")
            if (process / "exe").samefile(PROGRAM) and f"SLURM_PROCID={rank}".encode() in variables:
                return int(process.name)
        except OSError:
            continue  # it has just ended
    raise AssertionError(f"no process of rank {rank}")


class SlurmTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="lockstep-slurm-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_command(self, *command, seconds=120):
        environment = os.environ | {"LOCKSTEP": PROGRAM}
        done = subprocess.run([str(part) for part in command], cwd=self.folder, env=environment, timeout=seconds,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        done.all = f"exit {done.returncode}\nstdout: {done.stdout}\nstderr: {done.stderr}"
        return done

    def contents(self, run):
        return {name: (self.folder / run / name).read_bytes() for name in FILES}

    def train_alone(self, arguments):
        done = self.run_command(PROGRAM, "train", *arguments, "--out", "alone", "--threads", "1")
        self.assertEqual(done.returncode, 0, done.all)
        return self.contents("alone")

    def assert_same_files(self, run, alone):
        for name, expected in alone.items():
            self.assertEqual((self.folder / run / name).read_bytes(), expected, f"{run}/{name} is not that of one process")

    def batch(self, script, *arguments):
        """Submits a script of examples/slurm and returns the job."""
        done = self.run_command("sbatch", "--parsable", "--nodes=2", "--cpus-per-task=1", EXAMPLES / "slurm" / script,
                                *arguments)
        self.assertEqual(done.returncode, 0, done.all)
        return done.stdout.strip()

    def job(self, job):
        """What Slurm says of a job: {"JobState": "RUNNING", "ErrorCode": "0:0", ...}."""
        done = self.run_command("scontrol", "show", "--oneliner", "job", job)
        return dict(re.findall(r"(\w+)=(\S*)", done.stdout))

    def wait_until(self, job, condition, what, seconds=120):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                self.fail(f"{what} did not come in {seconds} s; {self.job(job)}\n{self.log(job)}")
            time.sleep(0.2)

    def wait_for_end(self, job):
        self.wait_until(job, lambda: self.job(job).get("JobState") in ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT"), "the end")
        facts = self.job(job)
        self.assertEqual((facts["JobState"], facts["ErrorCode"]), ("COMPLETED", "0:0"), self.log(job))

    def log(self, job):
        path = self.folder / f"lockstep-{job}.log"
        return path.read_text() if path.exists() else "(no output)"


class Srun(SlurmTest):
    def compare(self, interface, library):
        alone = self.train_alone(QUADRANTS)
        for nodes, ranks, threads in ((2, 2, 1), (3, 3, 2), (2, 4, 1)):
            run = f"run-{nodes}-{ranks}-{threads}"
            done = self.run_command("srun", f"--mpi={interface}", f"--nodes={nodes}", f"--ntasks={ranks}", "--overcommit",
                                    PROGRAM, "train", *QUADRANTS, "--out", run, "--threads", threads)
            self.assertEqual(done.returncode, 0, done.all)
            self.assertRegex(done.stderr, rf"\b{ranks} ranks \({library}", "the ranks found each other")
            self.assertEqual(done.stdout.count("weights"), 1, "one rank speaks")
            self.assert_same_files(run, alone)

    def test_pmix_with_open_mpi(self):
        self.compare("pmix", "Open MPI")

    def test_pmi2_with_mpich(self):
        self.compare("pmi2", "MPICH")

    def test_ranks_that_cannot_find_each_other_are_refused(self):
        done = self.run_command("srun", "--mpi=none", "--ntasks=2", "--nodes=2", PROGRAM, "train", *QUADRANTS, "--out", "run")
        self.assertEqual(done.returncode, 2, done.all)
        self.assertIn("use srun --mpi=pmix", done.stderr)
        self.assertFalse((self.folder / "run").exists())

    def test_the_map_names_every_node(self):
        done = self.run_command("srun", "--mpi=pmix", "--nodes=3", "--ntasks=3", PROGRAM, "train", *QUADRANTS, "--out", "run",
                                "--verbose", "--threads", "1")
        self.assertEqual(done.returncode, 0, done.all)
        for rank in range(3):
            self.assertRegex(done.stderr, rf"(?m)^rank {rank} on n{rank + 1}: 1 thread, may use cpus? [0-9,-]+ \(\d+ of \d+\)$")

    def test_more_threads_than_bound_processors(self):
        if os.cpu_count() < 2:
            self.skipTest("one processor: nothing to bind to")
        command = ["srun", "--mpi=pmix", "--nodes=2", "--ntasks=2", "--cpus-per-task=1", "--cpu-bind=cores", PROGRAM, "train",
                   *QUADRANTS, "--threads", "2", "--out"]
        cramped = self.run_command(*command, "bound")
        self.assertEqual(cramped.returncode, 0, cramped.all)
        self.assertEqual(cramped.stderr.count("is bound to"), 1, cramped.all)
        self.assertIn("srun --cpus-per-task=2", cramped.stderr)
        command[4] = "--cpus-per-task=2"
        self.assertNotIn("is bound to", self.run_command(*command, "free").stderr)

    def test_a_rank_that_dies_is_named(self):
        for interface in ("pmix", "pmi2"):
            run = self.folder / interface
            command = ["srun", f"--mpi={interface}", "--nodes=2", "--ntasks=2", PROGRAM, "train", *MANY_EPOCHS, "--out", run,
                       "--set", "train.epochs=1000000", "--threads", "1"]
            with subprocess.Popen([str(part) for part in command], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                  text=True) as step:
                self.addCleanup(step.kill)
                end = time.monotonic() + 60
                while not (run / "metrics.jsonl").exists() and time.monotonic() < end:
                    time.sleep(0.1)
                os.kill(rank_process(1), signal.SIGKILL)
                _, errors = step.communicate(timeout=30)
            self.assertEqual(errors.count("rank 1 on n2 has died"), 1, errors)
            # srun itself returns the highest code of all, that of the rank that was killed.
            self.assertIn("task 0: Exited with exit code 7", errors)


class Batch(SlurmTest):
    def test_scripts_of_the_examples(self):
        alone = self.train_alone(QUADRANTS)
        for script, library in (("openmpi.sbatch", "Open MPI"), ("mpich.sbatch", "MPICH")):
            job = self.batch(script, *QUADRANTS, "--out", script)
            self.wait_for_end(job)
            self.assertIn(f"2 ranks ({library}", self.log(job))
            self.assert_same_files(script, alone)

    def test_mpirun_inside_a_job(self):
        """Each library's mpirun starts its helpers by srun, whose marks must not be taken for those of the ranks."""
        alone = self.train_alone(QUADRANTS)
        for mpirun, library in (("mpirun.openmpi --allow-run-as-root --oversubscribe", "Open MPI"), ("mpirun.mpich", "MPICH")):
            run = mpirun.split()[0]
            training = " ".join(map(str, [PROGRAM, "train", *QUADRANTS, "--threads", 1, "--out", run]))
            done = self.run_command("sbatch", "--wait", "--parsable", "--nodes=2", "--ntasks=2", "--output=lockstep-%j.log",
                                    "--wrap", f"SLURM_MPI_TYPE=pmix timeout -k 2 60 {mpirun} -n 4 {training}")
            log = self.log(done.stdout.strip())
            self.assertEqual(done.returncode, 0, done.all + log)
            self.assertIn(f"4 ranks ({library}", log)
            self.assert_same_files(run, alone)

    def test_a_job_signalled_before_its_limit_is_requeued_and_goes_on(self):
        alone = self.train_alone(MANY_EPOCHS)
        job = self.batch("requeue.sbatch", *MANY_EPOCHS, "--out", "run")
        metrics = self.folder / "run/metrics.jsonl"
        self.wait_until(job, lambda: metrics.exists() and metrics.read_bytes().count(b"\n") >= 20, "training")
        # As --signal=TERM@120 does when the limit is near: the ranks, not the script.
        self.assertEqual(self.run_command("scancel", "--signal=TERM", job).returncode, 0)
        self.wait_until(job, lambda: self.job(job).get("Restarts") == "1", "the job a second time")
        self.wait_for_end(job)
        self.assertEqual(self.log(job).count("stopped by a signal"), 1, self.log(job))
        self.assertEqual(self.log(job).count("going on from step"), 1, self.log(job))
        self.assert_same_files("run", alone)


if __name__ == "__main__":
    unittest.main(verbosity=2)
