"""Runs that are killed, at random instants and at system calls of the way to a checkpoint, and then go on: they must end
with the bytes of a run that was never stopped."""
import itertools
import os
import random
import re
import shutil
import subprocess
import sys
import time
import unittest

from program import PROGRAM, ProgramTest, main

KILLS = 40
SAME = ("metrics.jsonl", "model.safetensors", "config.toml")

# Small, but with everything that has a state: running averages, dropout, shuffles, schedules, optimisers.
RUN = """\
[data]
source = "moons"
count = 1100
test_count = 64
split = {validation = 76}
[model]
input = [2]
layers = [{linear = 12}, "batch_norm", "tanh", {dropout = 0.2}, {linear = 12}, "relu", {linear = 2}]
[train]
batch = 6
epochs = EPOCHS
[checkpoint]
every_steps = 7
"""
CONFIGURATIONS = (
    ("train.optimizer=adam",),
    ("train.optimizer=momentum", "model.precision=float64", "train.schedule=cosine"),
    ("train.optimizer=rmsprop", "train.clip_norm=0.5", "train.l2=0.01"),
)


class KillTest(ProgramTest):
    def arguments(self, settings, out, threads, *more):
        changes = [part for setting in settings for part in ("--set", setting)]
        return ["train", "a.toml", "--out", out, "--threads", str(threads), "--quiet", *changes, *more]

    def whole(self, settings=(), threads=1):
        """The run that is never stopped, and the seconds it took."""
        shutil.rmtree(self.folder / "whole", ignore_errors=True)
        start = time.monotonic()
        self.succeed(*self.arguments(settings, "whole", threads))
        return time.monotonic() - start

    def expect_same(self, message):
        for name in SAME:
            self.assertEqual((self.folder / "run" / name).read_bytes(), (self.folder / "whole" / name).read_bytes(),
                             f"{name}: {message}")
        hidden = [path.name for path in (self.folder / "run").iterdir() if path.name.startswith(".")]
        self.assertEqual(hidden, [], message)


class RandomInstants(KillTest):
    def run_and_kill(self, command, seconds):
        """True when the kill came before the end."""
        process = subprocess.Popen([PROGRAM, *command], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            _, err = process.communicate(timeout=seconds)
            self.assertEqual(process.returncode, 0, err)
            return False
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return True

    def test_the_end_is_the_same(self):
        self.write("a.toml", RUN.replace("EPOCHS", "24"))
        instants = random.Random(5)
        kills = chains = 0
        for settings in itertools.cycle(CONFIGURATIONS):
            if kills >= KILLS:
                break
            whole = self.whole(settings)
            shutil.rmtree(self.folder / "run", ignore_errors=True)
            log, finished = [], False
            while not finished:
                threads = instants.choice((1, 1, 2, 3, 4))
                # Late in a run that is resumed there is less left to do: the instants come earlier.
                limit = instants.uniform(0, whole / (1 + len(log) / 4)) if len(log) < 8 else 300
                finished = not self.run_and_kill(self.arguments(settings, "run", threads, "--resume"), limit)
                log.append(f"{threads} threads, {limit:.3f} s")
                kills += not finished
            chains += 1
            self.expect_same(f"{settings}, killed after {log}")
        print(f"{kills} kills in {chains} runs", file=sys.stderr)
        self.assertGreaterEqual(kills, KILLS)


def can_trace():
    if shutil.which("strace") is None:
        return False
    return subprocess.run(["strace", "-f", "-o", "/dev/null", "true"], capture_output=True, check=False).returncode == 0


def traced():
    """The environment of a traced program: the search for leaks of a sanitizer is a tracer itself."""
    return os.environ | {"ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:detect_leaks=0"}


# What changes the disk or waits for it. Opening and closing lie between these and change nothing by themselves, save that
# a temporary file appears, which the kill before the first write leaves behind as well.
CALLS = ("write", "fsync", "fdatasync", "rename", "unlink", "ftruncate", "mkdir", "flock", "getdents64")
# Others do the same on other machines: the first of each that the program uses.
NAMES = {"rename": ("rename", "renameat", "renameat2"), "unlink": ("unlink", "unlinkat"), "mkdir": ("mkdir", "mkdirat")}


class EverySystemCall(KillTest):
    @unittest.skipUnless(can_trace(), "strace is not there or may not trace; sudo apt-get install strace")
    def test_the_end_is_the_same(self):
        # Long enough for several checkpoints on the way, so that old ones are removed. A slow disk skips some of them.
        for epochs in ("3", "6", "12", "24"):
            self.write("a.toml", RUN.replace("EPOCHS", epochs).replace("count = 1100", "count = 250").replace("12}", "48}")
                       .replace("every_steps = 7", "every_steps = 25"))
            self.whole()
            used = self.calls_of_a_run()
            if any(name in used for name in NAMES["unlink"]):
                break
        for needed in ("write", "fsync", "fdatasync", "rename", "unlink"):
            self.assertTrue(any(name in used for name in NAMES.get(needed, (needed,))), f"{needed} not in {used}")
        kills = 0
        for call, most in used.items():
            for number in range(1, most + 1):
                kills += self.kill_at(call, number)
        print(f"{kills} kills at {', '.join(f'{most} {call}' for call, most in used.items())}", file=sys.stderr)
        self.assertGreater(kills, 30)

    def slow_run(self):
        return self.arguments((), "run", 1, "--backend", "naive-o0")

    def calls_of_a_run(self):
        """How often a thread of the run uses each call, at most: a counter of strace belongs to a thread."""
        names = [f"?{name}" for call in CALLS for name in NAMES.get(call, (call,))]
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        subprocess.run(["strace", "-f", "-o", "trace", "-e", "trace=" + ",".join(names), PROGRAM,
                        *self.slow_run()], cwd=self.folder, env=traced(), check=True, stdout=subprocess.DEVNULL)
        counts = {}
        for line in (self.folder / "trace").read_text().splitlines():
            if match := re.match(r"(\d+) +(\w+)\(", line):
                counts[match.groups()] = counts.get(match.groups(), 0) + 1
        used = {}
        for (_, name), count in counts.items():
            used[name] = max(used.get(name, 0), count)
        return used

    def kill_at(self, call, number):
        """Kills a run as it enters its call of that number and goes on; whether it was killed."""
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        done = subprocess.run(["strace", "-f", "-o", "/dev/null", "-e", f"trace={call}",
                               "-e", f"inject={call}:signal=KILL:when={number}", PROGRAM,
                               *self.slow_run()], cwd=self.folder, env=traced(), capture_output=True, check=False)
        left = sorted(os.listdir(self.folder / "run")) if (self.folder / "run").exists() else []
        self.succeed(*self.arguments((), "run", 2, "--resume"))
        self.expect_same(f"killed at {call} {number}, which left {left}")
        return done.returncode != 0


if __name__ == "__main__":
    main()
