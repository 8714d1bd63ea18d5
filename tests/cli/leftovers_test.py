"""mpirun is killed, alone, while it starts: what its MPI library has left is removed by the ranks, by lockstep launch or by the
next start, and nothing else is. In a mount namespace with a /dev/shm of its own; needs root. Skipped, saying so, without."""
import ctypes
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest

from jobs import BOUND, JobTest, children, read
from program import MOONS, PROGRAM, main

KILLS, SUPERVISED_KILLS = 32, 8
FIRST = 0.5  # seconds
NEW_NAMESPACE = 0x00020000  # CLONE_NEWNS
# As of a job of somebody else, long dead: a number that no process has, and one of a job.
FOREIGN_PROCESS, FOREIGN_JOB = 4194304, 0x12340000


def own_namespace():
    """Whether this process has a /dev/shm of its own from now on; else why not."""
    if os.geteuid() != 0:
        return "a mount namespace needs root"
    if ctypes.CDLL(None, use_errno=True).unshare(NEW_NAMESPACE) != 0:
        return "no mount namespace can be made here"
    for command in (["mount", "--make-rprivate", "/"], ["mount", "-t", "tmpfs", "tmpfs", "/dev/shm"]):
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            return f"{' '.join(command)} is refused here"
    return None


class Leftovers(JobTest):
    @classmethod
    def setUpClass(cls):
        if reason := own_namespace():
            raise unittest.SkipTest(reason)

    def setUp(self):
        super().setUp()
        self.temporary = self.folder / "tmp"
        self.memory = pathlib.Path("/dev/shm")
        self.addCleanup(lambda: [path.unlink() for path in self.memory.iterdir()])
        self.sessions = self.temporary / f"ompi.{socket.gethostname().split('.')[0]}.{os.geteuid()}"
        theirs = self.sessions / f"pid.{FOREIGN_PROCESS}"
        (theirs / "0" / "0").mkdir(parents=True)
        (theirs / "1" / "0").mkdir(parents=True)
        (theirs / "contact.txt").write_text(f"{FOREIGN_JOB}.0;tcp://192.0.2.1:1\n{FOREIGN_PROCESS}\n")
        self.foreign = [theirs, self.memory / f"vader_segment.host.{os.geteuid()}.{FOREIGN_JOB + 1:x}.0",
                        self.memory / "mpich_shar_tmpAbCdEf", self.memory / "sem.mine"]
        for path in self.foreign[1:]:
            path.write_bytes(b"x")
            os.utime(path, (1e9, 1e9))

    def left(self):
        """What is there, without what was there before."""
        found = [*self.memory.iterdir(), *(self.sessions.iterdir() if self.sessions.exists() else [])]
        return sorted(str(path) for path in found if path not in self.foreign)

    def expect_foreign_kept(self):
        for path in self.foreign:
            self.assertTrue(path.exists(), f"{path} is not ours")

    def start(self, command):
        # pylint: disable=consider-using-with
        return subprocess.Popen(command, cwd=self.folder, env=self.environment(TMPDIR=str(self.temporary)), start_new_session=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def expect_ranks_end(self):
        """Ranks end with their launcher: all processes that were started with the folder of this test."""
        mark = f"TMPDIR={self.temporary}".encode()
        end = time.monotonic() + BOUND
        while living := [p.name for p in pathlib.Path("/proc").iterdir() if p.name.isdigit() and mark in read(p.name, "environ")]:
            self.assertLess(time.monotonic(), end, f"processes {living} live on after their mpirun")
            time.sleep(0.1)

    def after_the_next_start(self, library):
        self.write("short.toml", MOONS)
        chance = random.Random(3)
        count = 0
        for kill in range(KILLS):
            job = self.start(self.command(library, 2, "train", "training.toml", "--out", f"run{kill}", "--quiet"))
            time.sleep(chance.uniform(0, FIRST))
            job.kill()
            job.wait()
            time.sleep(0.2)
            count += bool(self.left())
        self.expect_ranks_end()
        before = self.left()
        result = self.launch(library, 2, "train", "short.toml", "--out", "last", TMPDIR=str(self.temporary))
        self.assertEqual(result.code, 0, result)
        self.assertEqual(self.left(), [], "left after the next start")
        self.expect_foreign_kept()
        print(f"{library}: something was left after {count} of {KILLS} kills, {len(before)} things before the next start, none "
              "after", file=sys.stderr)

    def test_open_mpi(self):
        self.after_the_next_start("openmpi")

    def test_mpich(self):
        self.after_the_next_start("mpich")

    def test_supervised(self):
        """lockstep launch outlives its mpirun and leaves nothing at once."""
        chance = random.Random(4)
        for library in ("openmpi", "mpich"):
            self.command(library, 2)
            for kill in range(SUPERVISED_KILLS):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                job = self.start([PROGRAM, "launch", "-n", "2", "--mpi", library, "--max-restarts", "0", "train", "training.toml",
                                  "--out", "run"])
                seconds = chance.uniform(0, FIRST)
                while not children(job.pid):
                    self.assertIsNone(job.poll())
                    time.sleep(0.002)
                time.sleep(seconds)
                os.kill(children(job.pid)[0], signal.SIGKILL)
                self.assertEqual(job.wait(timeout=60), 7)
                self.assertEqual(self.left(), [], f"{library}, kill {kill} after {seconds:.3f} s")
        self.expect_foreign_kept()


if __name__ == "__main__":
    main()
