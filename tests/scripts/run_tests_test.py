"""run_tests_test.py ROOT BUILD: what `make test` prints, with a CTest that only pretends; and the names of our tests."""
import json
import os
import pathlib
import pty
import subprocess
import sys
import tempfile
import unittest

ROOT, BUILD = sys.argv[1:3]
del sys.argv[1:]
LONGEST_NAME = 60
CTEST = """#!/bin/sh
case "$*" in
  *--show-only*) cat list.json ;;
  *) cp junit.xml build/some/tests.xml && cat output.txt && exit $(cat code.txt) ;;
esac
"""
SKIPPED = """<testsuite><testcase name="cli_tests.Gpu" status="notrun"><skipped message=""/>
<system-out>x.cpp:3: Skipped\nno device\n</system-out></testcase></testsuite>"""


class RunTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="lockstep-run-tests-")
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)
        (self.dir / "build/some").mkdir(parents=True)
        (self.dir / "ctest").write_text(CTEST)
        (self.dir / "ctest").chmod(0o755)

    def pretend(self, results, closing, code=0):
        """results: (name, what CTest prints for the result, lines below it)."""
        lines = ["Test project somewhere"]
        for number, (name, word, below) in enumerate(results, 1):
            lines.append(f"        Start {number:4}: {name}")
            mark = "   " if word == "Passed" else "***"
            lines += [f"  {number}/{len(results)} Test {'#' + str(number):>5}: {name} {'.' * (70 - len(name))}{mark}{word}    1.50 sec"]
            lines += below
        (self.dir / "output.txt").write_text("\n".join(lines + ["", *closing]) + "\n")
        (self.dir / "list.json").write_text(json.dumps({"tests": [{"name": name} for name, *_ in results]}))
        (self.dir / "junit.xml").write_text(SKIPPED)
        (self.dir / "code.txt").write_text(str(code))

    def run_tests(self, **options):
        environment = dict(os.environ, PATH=f"{self.dir}:{os.environ['PATH']}")
        command = [sys.executable, pathlib.Path(ROOT, "scripts/run_tests.py"), "some", "-j2"]
        return subprocess.run(command, cwd=self.dir, env=environment, text=True, timeout=60, check=False, **options)

    def many(self):
        results = [(f"core_tests.File.Part{i}", "Passed", []) for i in range(200)]
        results += [("cli_tests.Gpu", "Skipped", []), ("cli_tests.Pipe", "Passed", [])]
        self.pretend(results, ["100% tests passed, 0 tests failed out of 202", "", "Total Test time (real) =   7.00 sec"])

    def test_a_log_has_a_line_per_group_the_skips_and_the_closing_lines(self):
        self.many()
        done = self.run_tests(capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines(), [
            "core_tests     5 min 0 s  200 passed",
            "cli_tests          3.0 s  1 passed, 1 skipped",
            "skipped: no device (cli_tests.Gpu)",
            "",
            "100% tests passed, 0 tests failed out of 202",
            "",
            "Total Test time (real) =   7.00 sec"])

    def test_a_failure_is_shown_in_full(self):
        said = ["a_test.cpp:7: Failure", "Expected equality", "", "  " + "x" * 500]
        closing = ["50% tests passed, 1 tests failed out of 2", "", "Total Test time (real) =   3.00 sec", "",
                   "The following tests FAILED:", "\t  1 - nn_tests.Broken (Failed)", "Errors while running CTest"]
        self.pretend([("nn_tests.Broken", "Failed", said), ("nn_tests.Fine", "Passed", ["not of interest"])], closing, 8)
        done = self.run_tests(capture_output=True)
        self.assertEqual(done.returncode, 8)
        self.assertIn("\n".join(said), done.stdout)
        self.assertNotIn("not of interest", done.stdout)
        self.assertIn("1 passed, 1 failed", done.stdout)
        self.assertIn("The following tests FAILED:\n\t  1 - nn_tests.Broken (Failed)", done.stdout)
        self.assertTrue(done.stdout.endswith("50% tests passed, 1 tests failed out of 2\n\n"
                                             "Total Test time (real) =   3.00 sec\n"), done.stdout)

    def test_a_crash_and_a_timeout_are_failures(self):
        results = [("a.b", "Timeout", ["too long"]), ("a.c", "Exception: SegFault", []), ("a.d", "Not Run", [])]
        self.pretend(results, ["0% tests passed, 3 tests failed out of 3"], 8)
        done = self.run_tests(capture_output=True)
        self.assertIn("3 failed", done.stdout)
        self.assertIn("too long", done.stdout)
        self.assertIn("SegFault", done.stdout)

    def test_a_terminal_has_one_line_of_progress(self):
        self.many()
        ours, theirs = pty.openpty()
        self.run_tests(stdout=theirs)
        os.close(theirs)
        text = ""
        try:
            while part := os.read(ours, 100000).decode():
                text += part
        except OSError:  # the end of a terminal
            pass
        os.close(ours)
        progress, rest = text.rsplit("\r\033[K", 1)
        self.assertNotIn("\n", progress)
        self.assertIn("tests: 200 of 202, 0 failed", progress)
        self.assertEqual(rest.splitlines()[:2], ["skipped: no device (cli_tests.Gpu)", ""])
        self.assertLessEqual(max(len(line) for line in progress.split("\r\033[K")), 79)


class Names(unittest.TestCase):
    def test_no_name_is_longer_than_a_line_has_room_for(self):
        listed = subprocess.run(["ctest", "--test-dir", BUILD, "--show-only=json-v1"], capture_output=True, text=True,
                                timeout=120, check=True)
        names = [test["name"] for test in json.loads(listed.stdout)["tests"]]
        self.assertGreater(len(names), 50)
        self.assertEqual([name for name in names if len(name) > LONGEST_NAME], [])
        self.assertEqual([name for name in names if "GetParam" in name or " object <" in name], [])


if __name__ == "__main__":
    unittest.main()
