"""Ranks that are killed or stopped, in every phase of a run under mpirun: the others end within 15 seconds, one of them says
in one line who is lost, and nothing is left behind. The same when mpirun is killed. Skipped, saying so, where it is missing."""
import concurrent.futures
import os
import re
import signal
import sys
import time

from jobs import BOUND, Job, JobTest, alive, shared_memory
from program import MOONS, PROGRAM, main

PHASES = ("start", "training", "saving", "evaluation")
LINE = re.compile(r"lockstep: rank (\d+) on \S+ (?:was silent for 8 s: it is stopped or cut off|has died); it was in phase "
                  r"(\w+) after step (\d+), as rank (\d+) on \S+ knows; go on from the last checkpoint with --resume\n")
START_LINE = re.compile(r"lockstep: rank \d+ has not met the other \d+ after [\d.]+ s: .*LOCKSTEP_PEER_TIMEOUT")


class LostTest(JobTest):
    def disturb(self, library, ranks, phase, victim, number):
        """One run: seconds until all had ended, the exit code, stderr, and all of it for the message of a failure."""
        run = f"{phase}-{victim}-{number.name}"
        job = self.mpirun(library, ranks, phase, run)
        job.wait_for_phase(phase, ranks, run)
        found = job.ranks()
        before = shared_memory(found.values())
        since = time.monotonic()
        os.kill(found[victim], number)
        seconds, out, err, segments = job.finish(since, found.values())
        message = f"{library}, {run}: {seconds:.1f} s, exit {job.process.returncode}\n{out}{err}"
        self.assertLess(seconds, BOUND, message)
        self.expect_nothing_left(job, found.values(), before | segments, message)
        return seconds, job.process.returncode, err, message

    def check(self, library, ranks, phase, victim, number):
        seconds, code, err, message = self.disturb(library, ranks, phase, victim, number)
        lines = [line for line in err.splitlines(keepends=True) if line.startswith("lockstep: ")]
        if number == signal.SIGKILL:
            # mpirun sees it too, at the same time, and ends the job itself with the code of the signal.
            self.assertIn(code, (7, 137) if library == "openmpi" else (7, 9), message)
        else:
            self.assertEqual(code, 7, message)
        # Before the ranks have met mpirun alone notices a death; MPICH's ends the others before they can speak.
        if number == signal.SIGKILL and (phase == "start" or library == "mpich"):
            self.assertLessEqual(len(lines), 1, message)
            return seconds
        self.assertEqual(len(lines), 1, message)
        if phase == "start":
            self.assertTrue(START_LINE.match(lines[0]) or LINE.match(lines[0]), message)
            return seconds
        match = LINE.match(lines[0])
        self.assertTrue(match, message)
        self.assertEqual((int(match[1]), int(match[4])), (victim, 0 if victim else 1), message)
        if phase != "saving":
            self.assertGreater(int(match[3]), 0, message)
        return seconds

    def check_all(self, cases, together):
        """Most of the time goes by waiting, so several at a time."""
        for library in {case[0] for case in cases}:
            self.command(library, 2)  # skips where it is missing
        with concurrent.futures.ThreadPoolExecutor(together) as pool:
            seconds = [done.result() for done in [pool.submit(self.check, *case) for case in cases]]
        print(f"{len(seconds)} runs on {cases[0][0]}, the others ended after {min(seconds):.1f} to {max(seconds):.1f} s",
              file=sys.stderr)

    def launcher_is_killed(self, library, wrapper=()):
        command = self.command(library, 2, "train", "training.toml", "--out", "run", "--quiet")
        at = command.index(PROGRAM)
        job = Job(self, [*command[:at], *wrapper, *command[at:]])
        job.wait_for_phase("training", 2, "run")
        found = job.ranks()
        segments = shared_memory(found.values())
        since = time.monotonic()
        job.process.kill()
        seconds, out, err, _ = job.finish(since, found.values())
        self.assertLess(seconds, BOUND, f"{out}{err}")
        self.assertFalse(any(alive(process) for process in found.values()), f"{out}{err}")
        self.expect_nothing_left(job, found.values(), segments, "mpirun that was killed")


class Killed(LostTest):
    def test_open_mpi(self):
        self.check_all([("openmpi", 3, phase, victim, signal.SIGKILL) for phase in PHASES for victim in range(3)], 6)

    def test_mpich(self):
        self.check_all([("mpich", 2, "training", victim, signal.SIGKILL) for victim in range(2)], 2)


class Stopped(LostTest):
    def test_open_mpi(self):
        victims = {"start": (0, 1), "training": (0, 2), "saving": (0, 1), "evaluation": (1, 2)}
        self.check_all([("openmpi", 3, phase, victim, signal.SIGSTOP) for phase in PHASES for victim in victims[phase]], 8)

    def test_mpich(self):
        self.check_all([("mpich", 2, "start", 1, signal.SIGSTOP), ("mpich", 2, "training", 0, signal.SIGSTOP),
                        ("mpich", 2, "training", 1, signal.SIGSTOP)], 3)


class Launcher(LostTest):
    def test_open_mpi(self):
        self.launcher_is_killed("openmpi")

    def test_mpich(self):
        self.launcher_is_killed("mpich")

    def test_behind_a_script(self):
        """The ranks are not its children; one of them tidies up all the same."""
        self.launcher_is_killed("openmpi", ["sh", "-c", '"$0" "$@"; true'])


class OtherEnds(JobTest):
    def test_a_rank_that_fails_says_why(self):
        """It has no room on the disk: that is said once, by nobody else, and is no lost rank."""
        self.write("limited.sh", f'[ "$OMPI_COMM_WORLD_RANK" != 0 ] || ulimit -f 8; exec "{PROGRAM}" "$@"\n')
        command = self.command("openmpi", 3, "train", "training.toml", "--out", "run", "--quiet")
        at = command.index(PROGRAM)
        # Shared memory is a file, too.
        job = Job(self, [*command[:at], "--mca", "btl", "self,tcp", "sh", "limited.sh", *command[at + 1:]])
        out, err = job.process.communicate(timeout=60)
        lines = [line for line in err.splitlines() if line.startswith("lockstep: ")]
        self.assertEqual(job.process.returncode, 5, f"{out}{err}")
        self.assertEqual(len(lines), 1, err)
        self.assertIn("File too large", lines[0])
        self.assertEqual(list(job.temporary.rglob("*")), [])


class SlowRanks(JobTest):
    def test_a_rank_that_works_for_long_is_not_lost(self):
        """One step, all of it on rank 0, takes several times as long as a rank may be silent."""
        self.write("a.toml", MOONS.replace("count = 64", "count = 20016").replace("batch = 16", "batch = 20000\nslots = 1")
                   .replace("2-3-1", "2-64-64-1").replace("epochs = 3", "epochs = 1"))
        job = Job(self, self.command("openmpi", 2, "train", "a.toml", "--out", "run", "--backend", "naive-o0"),
                  LOCKSTEP_PEER_TIMEOUT="1.5")
        out, err = job.process.communicate(timeout=120)
        self.assertEqual(job.process.returncode, 0, f"{out}{err}")
        seconds = self.lines("run/timings.jsonl")[0]["seconds"]
        self.assertGreater(seconds["total"], 1.6, "too fast to show anything")


if __name__ == "__main__":
    main()
