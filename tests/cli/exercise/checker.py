"""What the tests of the checker share: a folder of an exercise, and a check of it."""
import json
import pathlib
import subprocess
import tempfile
import unittest

import sys

PROGRAM = sys.argv.pop(1)
SOLUTIONS = pathlib.Path(__file__).parent / "solutions"


def solution(exercise, changes=()):
    """The solved exercise, with some of its text replaced."""
    text = (SOLUTIONS / f"{exercise}.cpp").read_text()
    for old, new in changes:
        if old not in text:
            raise AssertionError(f"{exercise}: {old} is not in the solution")
        text = text.replace(old, new)
    return text


def check(folder, exercise, source, track="cpp", *options):
    """The verdict, as JSON. The secret seed is fixed: a failure can be repeated."""
    subprocess.run([PROGRAM, "exercise", "new", exercise, "--track", track, "--out", folder, "--quiet"], check=True,
                   stdout=subprocess.DEVNULL)
    return recheck(folder, "kernel.cpp", source, *options)


def recheck(folder, file, source, *options):
    """The same for a folder that is there."""
    (folder / file).write_text(source)
    done = subprocess.run([PROGRAM, "check", folder, "--json", "--quiet", "--seed", "7", *options], capture_output=True,
                          text=True, timeout=300)
    if done.returncode not in (0, 9):
        raise AssertionError(f"{folder}: check ended with {done.returncode}: {done.stderr}")
    verdict = json.loads(done.stdout)
    if (done.returncode == 0) != (verdict["verdict"] == "right"):
        raise AssertionError(f"exit code {done.returncode} for {verdict['verdict']}")
    return verdict


class CheckerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="lockstep-exercise-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.count = 0

    def check(self, *arguments):
        self.count += 1
        return check(self.folder / str(self.count), *arguments)
