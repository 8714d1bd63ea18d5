"""Runs on several ranks of which one, or their launcher, is killed at random instants, and which go on with other numbers of
ranks, threads and parts of the network: they must end with the bytes of one process that was never stopped. Skipped, saying so,
without Open MPI."""
import fcntl
import os
import random
import shutil
import signal
import subprocess
import sys
import time

from program import main
from ranks_test import RanksTest

KILLS = 16
RUN = """\
[data]
source = "moons"
count = 800
test_count = 64
[model]
input = [2]
layers = [{linear = 12}, "batch_norm", "tanh", {dropout = 0.2}, {linear = 12}, "relu", {linear = 2}]
[train]
batch = 20
slots = 4
epochs = 60
optimizer = "adam"
[checkpoint]
every_steps = 7
"""
# ranks, threads, pipeline, tensor
SHAPES = ((1, 2, 1, 1), (2, 1, 1, 1), (3, 1, 1, 1), (2, 2, 1, 1), (2, 1, 2, 1), (2, 1, 1, 2), (4, 1, 2, 2), (4, 1, 1, 2))


class RandomInstants(RanksTest):
    def victim(self, launcher, ranks, chance):
        """The process to be killed: the launcher, or a rank, where it is there already."""
        if chance.random() < 0.2:
            return launcher
        try:
            return self.rank_process(launcher, chance.randrange(ranks))
        except (StopIteration, OSError):
            return launcher

    def run_and_kill(self, shape, seconds, chance):
        """True when the kill came before the end."""
        ranks, threads, stages, members = shape
        command = self.command("openmpi", ranks, "train", "a.toml", "--out", "run", "--resume", "--threads", str(threads),
                               "--set", f"parallel.pipeline={stages}", "--set", f"parallel.tensor={members}")
        with subprocess.Popen(command, cwd=self.folder, env=self.environment(), stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True) as run:
            try:
                _, errors = run.communicate(timeout=seconds)
                self.assertEqual(run.returncode, 0, errors)
                return False
            except subprocess.TimeoutExpired:
                os.kill(self.victim(run.pid, ranks, chance), signal.SIGKILL)
                _, errors = run.communicate(timeout=60)
                return run.returncode != 0

    def wait_until_free(self):
        """Ranks whose launcher was killed end by themselves, and with them the lock on the run directory."""
        for _ in range(150):
            try:
                folder = os.open(self.folder / "run", os.O_RDONLY)
            except FileNotFoundError:
                return
            try:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                time.sleep(0.1)
            finally:
                os.close(folder)
        self.fail("the ranks outlived their launcher by 15 s")

    def test_the_end_is_the_same(self):
        alone = self.train_alone(RUN)
        chance = random.Random(11)
        start = time.monotonic()
        self.run_and_kill((2, 1, 1, 1), 300, chance)
        whole = time.monotonic() - start
        kills = 0
        while kills < KILLS:
            shutil.rmtree(self.folder / "run", ignore_errors=True)
            log, finished = [], False
            while not finished:
                shape = chance.choice(SHAPES)
                limit = chance.uniform(0.1, whole) if len(log) < 8 else 300
                finished = not self.run_and_kill(shape, limit, chance)
                self.wait_until_free()
                log.append(f"{shape}, {limit:.3f} s")
                kills += not finished
            self.assertEqual(self.contents("run")[:2], alone[:2], f"killed after {log}")
        print(f"{kills} kills", file=sys.stderr)


if __name__ == "__main__":
    main()
