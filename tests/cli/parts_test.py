"""A network in parts, under mpirun: layers cut into stages, or split over the members of a stage. The files of a run are those
of one process; it goes on with other numbers of parts; and a network for which one process has too little memory trains on
four. Skipped, saying so, without Open MPI."""
import os
import signal
import subprocess
import time

from program import MOONS, PROGRAM, main
from ranks_test import RanksTest

SLOTS = MOONS.replace("batch = 16", "batch = 16\nslots = 8")
LARGE = """\
[data]
source = "moons"
count = 256
[model]
sizes = "2-1400-1400-1400-1400-1"
output = "sigmoid"
[train]
loss = "binary-cross-entropy"
batch = 256
slots = 16
"""


class Parts(RanksTest):
    def results(self, run):
        """The configuration differs: it says how the work was shared."""
        return self.contents(run)[:2]

    def train(self, ranks, stages, members, *arguments, run="run"):
        result = self.launch("openmpi", ranks, "train", "a.toml", "--set", f"parallel.pipeline={stages}", "--set",
                             f"parallel.tensor={members}", "--out", run, *arguments)
        self.assertEqual(result.code, 0, result)
        return result

    def test_same_bytes(self):
        self.train_alone(SLOTS)
        for ranks, stages, members, schedule in ((2, 2, 1, "1f1b"), (3, 3, 1, "gpipe"), (4, 2, 1, "gpipe"), (2, 1, 2, "1f1b"),
                                                 (4, 1, 2, "1f1b"), (4, 2, 2, "1f1b"), (5, 1, 5, "1f1b")):
            run = f"run{ranks}-{stages}-{members}"
            self.train(ranks, stages, members, "--set", f"parallel.schedule={schedule}", run=run)
            self.assertEqual(self.results(run), self.results("alone"), run)

    def test_resumed_on_other_numbers_of_parts(self):
        alone = self.train_alone(SLOTS.replace("epochs = 3", "epochs = 12"))
        self.train(3, 3, 1, "--set", "train.epochs=4")
        self.train(2, 2, 1, "--set", "train.epochs=5", "--resume")
        self.train(4, 2, 2, "--set", "train.epochs=7", "--resume")
        self.train(3, 1, 3, "--set", "train.epochs=9", "--resume")
        self.assertEqual(self.run_program("train", "a.toml", "--out", "run", "--resume").code, 0)
        self.assertEqual(self.contents("run"), alone)
        # And from one process to parts.
        self.assertEqual(self.run_program("train", "a.toml", "--set", "train.epochs=5", "--out", "back").code, 0)
        self.train(2, 2, 1, "--set", "train.epochs=8", "--resume", run="back")
        self.train(2, 1, 2, "--resume", run="back")
        self.assertEqual(self.results("back"), alone[:2])

    def test_a_signal_saves_all_parts(self):
        self.train_alone(SLOTS.replace("epochs = 3", "epochs = 2000"))
        command = self.command("openmpi", 4, "train", "a.toml", "--set", "parallel.pipeline=2", "--set", "parallel.tensor=2",
                               "--out", "run")
        with subprocess.Popen(command, cwd=self.folder, env=self.environment(), stderr=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, text=True) as run:
            while run.poll() is None and not self.has_lines("run/metrics.jsonl", 20):
                time.sleep(0.01)
            os.kill(self.rank_process(run.pid, 1), signal.SIGTERM)
            _, errors = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 10, errors)
        self.train(2, 2, 1, "--resume")
        self.assertEqual(self.results("run"), self.results("alone"))

    def test_times_tell_of_gathering(self):
        self.train_alone(SLOTS)
        self.train(2, 1, 2)
        for line in self.lines("run/timings.jsonl"):
            for rank in line["ranks"]:
                self.assertGreater(rank["seconds"]["gather"], 0)
                self.assertGreater(rank["sent_bytes"], 0)

    def test_refusals(self):
        self.write("a.toml", SLOTS)
        for ranks, parts, message in (
                (3, ["pipeline=2"], "parallel.pipeline = 2 needs a multiple of 2 ranks, and there are 3"),
                (3, ["tensor=2"], "parallel.tensor = 2 needs a multiple of 2 ranks, and there are 3"),
                (2, ["tensor=2", "pipeline=2"], "parallel.pipeline = 2 with parallel.tensor = 2 needs a multiple of 4 ranks"),
                (2, ["tensor=2", "reduce=mpi"], "with parallel.tensor = 2 they have different weights; use tree"),
                (4, ["pipeline=4"], "parallel.pipeline = 4: the network has 3 layers")):
            settings = [word for part in parts for word in ("--set", f"parallel.{part}")]
            result = self.launch("openmpi", ranks, "train", "a.toml", *settings, "--out", "run")
            self.assertEqual(result.code, 2, result)
            self.assertEqual(result.err.count(message), 1, result)
        result = self.run_program("train", "a.toml", "--set", "parallel.pipeline=2", "--out", "run")
        self.assertEqual(result.code, 2, result)
        self.assertIn("there is 1: start it with mpirun -n 2", result.err)

    def test_a_network_too_large_for_one_process(self):
        """Nine tenths of what one process was seen to use are too little for it. The ranks hold a part of the network each, in less
        than half of that; all but rank 0, which gathers the whole to save it."""
        self.write("a.toml", LARGE)
        with subprocess.Popen([PROGRAM, "train", "a.toml", "--out", "alone"], cwd=self.folder, env=self.environment(),
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as alone:
            _, status, usage = os.wait4(alone.pid, 0)
            alone.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(alone.returncode, 0)
        limited = self.write("limited.sh", f'[ "$OMPI_COMM_WORLD_RANK" = 0 ] || ulimit -d $((PARTS * {usage.ru_maxrss} / 10))\n'
                                           f'exec "{PROGRAM}" "$@"\n')
        refused = subprocess.run(["sh", limited, "train", "a.toml", "--out", "limited"], cwd=self.folder, capture_output=True,
                                 env=self.environment(PARTS="9"), text=True, timeout=60, check=False)
        self.assertEqual(refused.returncode, 5, refused.stderr)
        command = self.command("openmpi", 4, "train", "a.toml", "--set", "parallel.pipeline=4", "--out", "run")
        at = command.index(PROGRAM)
        command[at:at + 1] = ["sh", str(limited)]
        done = subprocess.run(command, cwd=self.folder, env=self.environment(PARTS="5"), timeout=120, capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.results("run"), self.results("alone"))


if __name__ == "__main__":
    main()
