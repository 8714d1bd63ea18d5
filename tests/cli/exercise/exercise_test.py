"""lockstep exercise and lockstep check: folders, verdicts, the work log; solved exercises are right."""
import json
import subprocess
import unittest

from checker import PROGRAM, SOLUTIONS, CheckerTest, solution


class Exercises(CheckerTest):
    def run_program(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=120)

    def test_every_exercise_has_a_solution_that_is_right(self):
        listed = json.loads(self.run_program("exercise", "--json").stdout)
        names = [each["name"] for each in listed]
        self.assertGreaterEqual(len(names), 14)
        self.assertEqual(sorted(names), sorted(path.stem for path in SOLUTIONS.glob("*.cpp")))
        for at, name in enumerate(names):
            verdict = self.check(name, solution(name), ("cpp", "openmp", "simd")[at % 3], "--quick")
            self.assertEqual(verdict["verdict"], "right", verdict)

    def test_a_stub_is_short_and_wrong(self):
        for each in json.loads(self.run_program("exercise", "--json").stdout):
            for track in ("cpp", "simd"):
                folder = self.folder / f"{each['name']}-{track}"
                self.run_program("exercise", "new", each["name"], "--track", track, "--out", folder)
                self.assertLessEqual(len((folder / "kernel.cpp").read_text().splitlines()), 40)
                self.assertIn(each["title"], (folder / "TASK.md").read_text())
        done = self.run_program("check", "max-cpp", "--quick")
        self.assertEqual(done.returncode, 9)
        self.assertIn("WRONG.\n  The function writes nothing.\n", done.stdout)

    def test_a_whole_check(self):
        verdict = self.check("linear-forward", solution("linear-forward"), "openmp")
        self.assertEqual(verdict["verdict"], "right", verdict)
        self.assertTrue(any("sanitizers" in line for line in verdict["checks"]), verdict)
        speed = verdict["speed"]
        self.assertEqual([row["name"] for row in speed["rows"]], ["yours", "naive", "simd"])
        self.assertEqual([row["threads"] for row in speed["scaling"]], [1, 2, 4, 8])
        self.assertTrue(speed["limit"] and speed["next"])
        folder = self.folder / "1"
        lines = [json.loads(line) for line in (folder / "worklog.jsonl").read_text().splitlines()]
        self.assertEqual([line["verdict"] for line in lines], ["right"])
        self.assertIn("linear-forward", (folder / "worklog.html").read_text())
        (folder / "kernel.cpp").write_text(solution("linear-forward", [("= sum;", "= sum / in;")]))
        self.run_program("check", folder, "--quick")
        lines = [json.loads(line) for line in (folder / "worklog.jsonl").read_text().splitlines()]
        self.assertEqual([(line["verdict"], line["cause"]) for line in lines], [("right", ""), ("wrong", "mean")])
        self.assertNotEqual(lines[0]["source"], lines[1]["source"])

    def test_a_race_between_threads(self):
        verdict = self.check("linear-forward", solution("linear-forward", [("float sum = ", "static float sum; sum = ")]), "openmp", "--quick")
        self.assertEqual((verdict["verdict"], verdict["cause"]), ("wrong", "race"), verdict)

    def test_the_compilers_first_error(self):
        verdict = self.check("max", solution("max", [("const int32_t p", "const int32_t pp")]), "cpp", "--quick")
        self.assertEqual(verdict["verdict"], "not built")
        self.assertEqual(len(verdict["words"][0].splitlines()), 2, verdict)
        self.assertIn("kernel.cpp:8:", verdict["words"][0])
        verdict = self.check("max", solution("max", [("extern \"C\"", "")]), "cpp", "--quick")
        self.assertIn("the function elementwise_max is missing", verdict["words"][0])

    def test_sanitizers_see_what_results_do_not(self):
        verdict = self.check("max", solution("max", [("const int64_t n", "int little[4]; volatile int at = 4; little[at] = 1;"
                                                      " volatile int keep = little[at]; (void)keep;\n  const int64_t n")]))
        self.assertEqual((verdict["verdict"], verdict["cause"]), ("crashed", "out-of-bounds"), verdict)
        self.assertIn("at kernel.cpp:", verdict["words"][0])

    def test_refusals(self):
        for arguments, message in (
                (("exercise", "new", "lineer-forward"), "no exercise is called lineer-forward; did you mean linear-forward?"),
                (("exercise", "old"), "exercise old: it is `exercise`, or `exercise` with new, export, test or report"),
                (("exercise", "new"), "exercise new takes one name"),
                (("check", "nowhere"), "check takes a folder that `lockstep exercise new` made")):
            done = self.run_program(*arguments)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(message, done.stderr)
        self.run_program("exercise", "new", "max")
        self.assertIn("max exists; give another folder with --out", self.run_program("exercise", "new", "max").stderr)


if __name__ == "__main__":
    unittest.main()
