"""compile_test.py ROOT NINJA: what scripts/compile says while Ninja works, on made-up steps."""
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT, NINJA = sys.argv[1:3]
del sys.argv[1:]
RULES = """
rule make
  command = sleep $seconds; echo > $out; $then
  description = Building CXX object $out
build build.ninja: phony
"""
LEFT = re.compile(r"building: (\d+) of (\d+), about ((?:\d+ min )?\d+ s) left")


class Compile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="lockstep-compile-")
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)
        (self.dir / "bin").mkdir()
        (self.dir / "bin/ninja").symlink_to(shutil.which(NINJA))
        self.environment = dict(os.environ, PATH=f"{self.dir}/bin:{os.environ['PATH']}")

    def steps(self, steps):
        """steps: (output, seconds, what to do then)."""
        text = "".join(f"build {out}: make\n  seconds = {seconds}\n  then = {then}\n" for out, seconds, then in steps)
        (self.dir / "build.ninja").write_text(RULES + text)

    def compile(self, *targets):
        command = [pathlib.Path(ROOT, "scripts/compile"), self.dir, "2", *targets]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60, check=False)

    def remember(self, milliseconds):
        """As if the steps had taken so long in an earlier build."""
        lines = [f"0\t{time}\t1\t{out}\t0" for out, time in milliseconds.items()]
        (self.dir / ".ninja_log").write_text("# ninja log v5\n" + "\n".join(lines) + "\n")

    def test_a_log_has_a_few_lines_however_many_steps(self):
        self.steps([(f"{i}.o", 0, "true") for i in range(100)])
        self.remember({f"{i}.o": 2000 for i in range(100)})
        done = self.compile(*(f"{i}.o" for i in range(100)))
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        said = done.stderr.splitlines()
        self.assertIn(len(said), range(1, 6), said)
        # 200 seconds of a processor, on two.
        self.assertEqual(LEFT.search(said[0]).groups(), ("0", "100", "1 min 40 s"))

    def test_times_of_the_last_build_count_not_the_number_of_steps(self):
        self.steps([("long.o", 1, "true"), ("short.o", 0, "true")])
        self.remember({"long.o": 600000, "short.o": 1000})
        self.assertIn("about 5 min 0 s left", self.compile("long.o", "short.o").stderr)

    def test_sizes_count_where_nothing_was_built_before(self):
        (self.dir / "CMakeCache.txt").write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={self.dir}/tree\n")
        sources = self.dir / "tree/lib"
        sources.mkdir(parents=True)
        for name, size in (("large.cpp", 400000), ("one.cpp", 200000), ("other.cpp", 200000)):
            (sources / name).write_text("x" * (size - 1) + "\n")
        unity = self.dir / "lib/CMakeFiles/t.dir/Unity/unity_0_cxx.cxx"
        unity.parent.mkdir(parents=True)
        unity.write_text(f'#include "{sources}/one.cpp"\n\n#include "{sources}/other.cpp"\n')
        self.steps([(f"lib/CMakeFiles/t.dir/{name}.o", 0, "true") for name in ("large.cpp", "Unity/unity_0_cxx.cxx")])
        done = self.compile("lib/CMakeFiles/t.dir/large.cpp.o")
        self.assertIn("0 of 1, about 50 s left", done.stderr)
        done = self.compile("lib/CMakeFiles/t.dir/Unity/unity_0_cxx.cxx.o")
        self.assertIn("0 of 1, about 50 s left", done.stderr)

    def test_errors_are_shown_in_full_and_the_exit_code_kept(self):
        error = ["d.cpp:2:7: error: no such thing", "    2 |   x(%s);" % ("long" * 60), "      |   ^"]
        then = "; ".join(f"echo '{line}'" for line in error) + "; exit 3"
        self.steps([("fine.o", 0, "echo 'a.cpp:1: warning: unused'"), ("d.o", 0, then)])
        done = self.compile("fine.o", "d.o")
        self.assertEqual(done.returncode, 1)
        self.assertIn("a.cpp:1: warning: unused", done.stdout)
        self.assertIn("FAILED: d.o", done.stdout)
        self.assertIn("\n".join(error), done.stdout)
        self.assertNotIn("@ ", done.stdout)

    def test_nothing_to_do_says_nothing(self):
        self.steps([("a.o", 0, "true")])
        self.compile("a.o")
        done = self.compile("a.o")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_a_terminal_has_one_line_that_ends_empty(self):
        self.steps([("a.o", 1, "true"), ("b.o", 1, "echo 'b.cpp:1: warning: unused'")])
        ours, theirs = pty.openpty()
        command = [pathlib.Path(ROOT, "scripts/compile"), self.dir, "2", "a.o", "b.o"]
        subprocess.run(command, env=self.environment, stdout=theirs, stderr=theirs, timeout=60, check=True)
        os.close(theirs)
        text = os.read(ours, 100000).decode()
        os.close(ours)
        self.assertEqual(text.count("\n"), 1, text)  # the warning's
        self.assertIn("\r\033[Kb.cpp:1: warning: unused\r\n", text)
        self.assertTrue(LEFT.search(text), text)
        self.assertTrue(text.endswith("\r\033[K"), text)


if __name__ == "__main__":
    unittest.main()
