"""Runs under mpirun that are disturbed on their way: finding their processes, and what they leave behind."""
import os
import pathlib
import signal
import subprocess
import tempfile
import time

from program import MOONS, PROGRAM
from ranks_test import LAUNCHERS, RanksTest

# Within so many seconds the others end when a rank is killed, stopped or cut off.
BOUND = 15
EXECUTABLE = os.path.realpath(PROGRAM)

# Trains until it is stopped, in short epochs.
LONG = MOONS.replace("epochs = 3", "epochs = 1000000\nslots = 8")
# Saves all the time: the file is large enough to be seen being written.
SAVING = LONG.replace('sizes = "2-3-1"', 'sizes = "2-600-600-1"') + "[checkpoint]\nevery_steps = 1\n"
# Most of the time goes into evaluations.
EVALUATING = LONG.replace("count = 64", "count = 40064").replace("validation = 16", "validation = 40000")


def children(process):
    found = []
    try:
        for task in pathlib.Path(f"/proc/{process}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += [int(child), *children(child)]
    except OSError:  # it has ended
        pass
    return found


def read(process, name):
    try:
        return pathlib.Path(f"/proc/{process}/{name}").read_bytes()
    except OSError:
        return b""


def state(process):
    """As ps shows it; nothing for a process that is gone."""
    return read(process, "stat").decode().rpartition(")")[2].split()[:1]


def alive(process):
    return state(process) not in ([], ["Z"], ["X"])


class Job:
    """mpirun, or lockstep launch, and all its processes."""

    def __init__(self, test, command, **environment):
        self.test = test
        self.temporary = pathlib.Path(tempfile.mkdtemp(dir=test.folder))
        self.errors = ""  # what it said until it was killed
        # pylint: disable=consider-using-with
        self.process = subprocess.Popen(command, cwd=test.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, start_new_session=True,
                                        env=test.environment(TMPDIR=str(self.temporary), **environment))
        test.addCleanup(self.kill)

    def kill(self):
        if self.process.returncode is not None:
            return
        for process in [*children(self.process.pid), self.process.pid]:
            try:
                os.kill(process, signal.SIGKILL)
            except OSError:
                pass
        self.errors = self.process.communicate()[1]

    def ranks(self):
        """Process by rank."""
        found = {}
        for process in children(self.process.pid):
            try:
                if os.readlink(f"/proc/{process}/exe") != EXECUTABLE:
                    continue
            except OSError:
                continue
            for entry in read(process, "environ").split(b"\0"):
                if entry.startswith((b"OMPI_COMM_WORLD_RANK=", b"PMI_RANK=")):
                    found[int(entry.split(b"=")[1])] = process
        return found

    def wait_until(self, condition, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            if self.process.poll() is not None or time.monotonic() > end:
                out, err = self.process.communicate() if self.process.poll() is not None else ("", "still running")
                self.test.fail(f"it did not come so far: exit {self.process.returncode}\n{out}{err}")
            time.sleep(0.005)

    def wait_for_phase(self, phase, ranks, run):
        self.wait_until(lambda: len(self.ranks()) == ranks)
        if phase in ("training", "evaluation"):
            self.wait_until(lambda: self.test.has_lines(f"{run}/metrics.jsonl", 3))
        if phase == "saving":
            folder = self.test.folder / run
            self.wait_until(lambda: folder.exists() and any(name.startswith(".") for name in os.listdir(folder)))

    def finish(self, since, ranks):
        """Waits for the end of all; seconds since then, the output, and the shared memory that there was."""
        segments = set()
        while self.process.poll() is None and time.monotonic() < since + BOUND + 45:
            segments |= shared_memory(ranks)
            time.sleep(0.02)
        out, err = self.process.communicate(timeout=1)
        while any(alive(process) for process in ranks) and time.monotonic() < since + BOUND + 5:
            time.sleep(0.01)
        return time.monotonic() - since, out, err, segments


def shared_memory(processes):
    """The segments that they have mapped."""
    found = set()
    for process in processes:
        for line in read(process, "maps").decode().splitlines():
            if "/dev/shm/" in line and "(deleted)" not in line:
                found.add(line[line.index("/dev/shm/"):])
    return found


class JobTest(RanksTest):
    def setUp(self):
        super().setUp()
        self.write("training.toml", LONG)
        self.write("start.toml", LONG)
        self.write("saving.toml", SAVING)
        self.write("evaluation.toml", EVALUATING)

    def has_lines(self, name, count):
        path = self.folder / name
        return path.exists() and path.read_bytes().count(b"\n") >= count

    def mpirun(self, library, ranks, phase, run):
        return Job(self, self.command(library, ranks, "train", f"{phase}.toml", "--out", run, "--quiet"))

    def expect_nothing_left(self, job, processes, segments, message):
        self.assertEqual([p for p in processes if alive(p)], [], f"processes of {message}")
        self.assertEqual([s for s in segments if os.path.exists(s)], [], f"shared memory of {message}")
        left = [str(path) for path in job.temporary.rglob("*")]
        self.assertEqual(left, [], f"temporary files of {message}")


__all__ = ["BOUND", "EXECUTABLE", "Job", "JobTest", "LAUNCHERS", "LONG", "alive", "children", "shared_memory", "state"]
