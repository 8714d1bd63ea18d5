"""lockstep exercise export, test and report: points by task.toml, the forms of other programs, own exercises from a folder."""
import json
import pathlib
import re
import subprocess
import unittest
import xml.etree.ElementTree
import zipfile

from checker import PROGRAM, CheckerTest, solution

DOCS = pathlib.Path(__file__).parents[3] / "docs/course"
TASK = 'exercise = "max"\ntrack = "cpp"\n[grading]\npoints = 6\nanother_order = 3\nseeds = [11, 12]\nleaderboard = false\n'
SPEED = {"rows": [{"name": name, "threads": 2, "seconds": seconds, "low": seconds, "high": seconds, "samples": 7}
                  for name, seconds in (("yours", 0.002), ("naive", 0.004), ("simd", 0.001))],
         "scaling": [{"name": "yours", "threads": 1, "seconds": 0.003, "speed_up": 1.0, "efficiency": 1.0},
                     {"name": "yours", "threads": 2, "seconds": 0.002, "speed_up": 1.5, "efficiency": 0.75, "karp_flatt": 0.33}],
         "times_naive": 2.0, "share_of_simd": 0.5, "share_of_roof": 0.25, "roof": "memory", "limit": "waiting", "next": "sleep"}
WRONG = [("p > q", "p < q")]


def run(*words, cwd=None):
    return subprocess.run([PROGRAM, *words, "--quiet"], cwd=cwd, capture_output=True, text=True, timeout=300)


class Graded(CheckerTest):
    def submission(self, source, exercise="max", track="cpp"):
        folder = self.folder / "submission"
        self.assertEqual(run("exercise", "new", exercise, "--track", track, "--out", folder).returncode, 0)
        (folder / "kernel.cpp").write_text(source)
        return folder

    def export(self, folder, *options, task=TASK):
        (self.folder / "teacher.toml").write_text(task)
        done = run("exercise", "export", folder, "--task", self.folder / "teacher.toml", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refused(self, task):
        (self.folder / "teacher.toml").write_text(task)
        (self.folder / "submission").mkdir(exist_ok=True)
        done = run("exercise", "export", "--json", self.folder / "submission", "--task", self.folder / "teacher.toml")
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        return done.stderr


class Forms(Graded):
    def test_a_right_kernel(self):
        folder = self.submission(solution("max"))
        results = json.loads(self.export(folder, "--results"))
        self.assertEqual(results["score"], 6)
        self.assertEqual([(t["score"], t["max_score"], t["status"], t["visibility"]) for t in results["tests"]],
                         [(6, 6, "passed", "visible")])
        self.assertNotIn("leaderboard", results)
        self.assertNotRegex(json.dumps(results), r"seed 1[12]\b")

    def test_a_wrong_kernel(self):
        folder = self.submission(solution("max", WRONG))
        (folder / "worklog.jsonl").write_text('{"verdict": "right"}\n')  # nobody believes it
        points = json.loads(self.export(folder, "--json"))
        self.assertEqual((points["points"], points["most"], points["check"]["cause"]), (0, 6, "minimum"))
        suite = xml.etree.ElementTree.fromstring(self.export(folder, "--junit")).find("testsuite")
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("1", "1"))
        self.assertIn("smaller", suite.find("testcase/failure").text)
        self.assertIn("**0 of 6 points**", self.export(folder, "--markdown"))

    def test_speed_and_leaderboard(self):
        task = TASK.replace("seeds = [11, 12]\nleaderboard = false",
                            "simd = [{share = 0.001, points = 2}, {share = 9.5, points = 1}]\nvisibility = \"hidden\"")
        results = json.loads(self.export(self.submission(solution("max")), "--results", task=task))
        self.assertEqual([t["score"] for t in results["tests"]], [6, 2, 0])
        self.assertEqual(results["score"], 8)
        self.assertEqual({t["visibility"] for t in results["tests"]}, {"hidden"})
        self.assertEqual([(b["name"], b["order"]) for b in results["leaderboard"]],
                         [("% of SIMD", "desc"), ("% of roof", "desc"), ("us per call", "asc")])

    def test_submissions_that_cannot_be_checked(self):
        folder = self.submission(solution("max"), track="openmp")
        output = lambda task: json.loads(self.export(folder, "--results", task=task))["tests"][0]["output"]
        self.assertIn("the track openmp is not allowed", output(TASK.replace("points = 6", "tracks = [\"cpp\"]\npoints = 6")))
        self.assertIn("a solution of max, not of relu", output(TASK.replace('"max"', '"relu"')))
        (folder / "kernel.cpp").unlink()
        self.assertIn("kernel.cpp is missing", output(TASK))
        self.assertEqual(json.loads(self.export(folder, "--results"))["score"], 0)

    def test_the_autograder(self):
        (self.folder / "teacher.toml").write_text(TASK)
        done = run("exercise", "export", "--gradescope", "teacher.toml", "--program", PROGRAM, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        with zipfile.ZipFile(self.folder / "autograder.zip") as archive:
            self.assertIsNone(archive.testzip())
            names = [name for name in archive.namelist() if name != "libcuda_emulator.so"]  # where it was built
            self.assertEqual(names, ["setup.sh", "run_autograder", "task/task.toml", "lockstep"])
            self.assertEqual(archive.getinfo("run_autograder").external_attr >> 16, 0o100755)
            archive.extractall(self.folder / "source")
        (self.folder / "source/lockstep").chmod(0o755)
        self.submission(solution("max"))
        script = self.folder / "run_autograder"
        script.write_bytes((self.folder / "source/run_autograder").read_bytes())
        script.chmod(0o755)
        subprocess.run([script], check=True, cwd="/", capture_output=True, timeout=300)
        self.assertEqual(json.loads((self.folder / "results/results.json").read_text())["score"], 6)


class Strict(Graded):
    def test_task_toml(self):
        for bad, words in (
                (("points = 6", "pints = 6"), "grading.pints: unknown key; did you mean grading.points"),
                (("points = 6", "points = -1"), "grading.points: must be at least 0"),
                (("points = 6", "points = \"six\""), "grading.points: must be a number"),
                (("another_order = 3", "another_order = 7"), "grading.another_order: 7 is more than a right kernel gets"),
                (("seeds = [11, 12]", "seeds = [1]"), "grading.seeds[0]: must be from 3"),
                (("seeds = [11, 12]", "tracks = [\"opnmp\"]"), "did you mean openmp"),
                (("seeds = [11, 12]", "limit = 0"), "grading.limit: must be at least 0.1"),
                (("seeds = [11, 12]", "visibility = \"secret\""), "grading.visibility: unknown name"),
                (("seeds = [11, 12]", "simd = [{share = 0.5, points = 1}, {share = 0.4, points = 1}]"), "shares go up"),
                (("seeds = [11, 12]", "roof = [{share = 0.5}]"), "grading.roof[0].points: missing"),
                (("exercise = \"max\"\n", ""), "exercise: missing"),
                (("exercise = \"max\"\n", "exercise = \"max\"\nteacher = 1\n"), "unknown key; this file has")):
            with self.subTest(words):
                self.assertIn(words, self.refused(TASK.replace(*bad)))

    def test_one_form(self):
        done = run("exercise", "export", "--junit", "--markdown", "x")
        self.assertEqual(done.returncode, 2)
        self.assertIn("one of --gradescope", done.stderr)


class Own(Graded):
    """The exercise of docs/course/own-exercise.md, made as the page says."""

    def make(self):
        own = self.folder / "scale-add"
        own.mkdir()
        for name, text in re.findall(r"^```\w+ file=(\S+)\n(.*?)^```", (DOCS / "own-exercise.md").read_text(), re.M | re.S):
            (own / name).write_text(text)
        return own

    def test_it_is_an_exercise(self):
        own = self.make()
        rows = json.loads(run("exercise", "test", own, "--json").stdout)
        self.assertEqual([(r["expected"], r["verdict"], r["cause"]) for r in rows],
                         [("right", "right", ""), ("no-fma", "another order", "no-fma")])
        self.assertEqual(run("exercise", "new", "./scale-add", "--track", "openmp", "--out", "mine", cwd=self.folder).returncode, 0)
        mine = self.folder / "mine"
        self.assertIn("float a;", (mine / "lockstep_exercise.h").read_text())
        (mine / "kernel.cpp").write_text((own / "no-fma.cpp").read_text())
        verdict = json.loads(run("check", mine, "--quick", "--json").stdout)
        self.assertEqual((verdict["verdict"], verdict["cause"]), ("another order", "no-fma"))
        (mine / "kernel.cpp").write_text((own / "plain-loops.cpp").read_text().replace("i < p->n", "i + 1 < p->n"))
        verdict = json.loads(run("check", mine, "--quick", "--json").stdout)
        self.assertEqual(verdict["verdict"], "wrong", verdict)
        (mine / "kernel.cpp").write_text((own / "plain-loops.cpp").read_text())
        results = run("exercise", "export", "--results", mine, "--task", own)
        self.assertEqual(json.loads(results.stdout)["tests"][0]["score"], 8, results)

    def test_a_wrong_oracle_and_a_variant_that_is_right(self):
        own = self.make()
        (own / "no-fma.cpp").write_text((own / "plain-loops.cpp").read_text())
        done = run("exercise", "test", own)
        self.assertEqual(done.returncode, 9, done)
        self.assertIn("1 source not judged as expected", done.stderr)

    def test_refusals(self):
        own = self.make()
        good = (own / "task.toml").read_text()
        for old, new, words in (("name = \"n\", ", "name = \"n\", dims = [\"n\"], ", "a size has none"),
                                ("dims = [\"n\"], words = \"[n]\"},\n  {kind = \"both\"", "dims = [\"m\"], words = \"[n]\"},\n  {kind = \"both\"",
                                 "m is no size; sizes are n"),
                                ("\"2 * n\"", "\"2 * (n\"", "a parenthesis is not closed"),
                                ("plain-loops.cpp", "../plain-loops.cpp", "a file in the folder of the exercise"),
                                ("\"no-fma.cpp\"", "\"none.cpp\"", "no such file"),
                                ("timed = [1000000]", "timed = [1, 2]", "must have 1 number: n"),
                                ("kind = \"both\"", "kind = \"input\"", "no field is an output"),
                                ("most =", "mots =", "did you mean definition.most"),
                                ("scale_add", "scale-add", "no name of a C function")):
            with self.subTest(words):
                self.assertIn(old, good)
                (own / "task.toml").write_text(good.replace(old, new))
                done = run("exercise", "test", own)
                self.assertEqual(done.returncode, 2, done)
                self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
                self.assertIn(words, done.stderr)
        (own / "task.toml").write_text(good)
        (own / "plain-loops.cpp").write_text("int x = ;\n")
        done = run("exercise", "test", own)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("plain-loops.cpp", done.stderr)


class Report(Graded):
    def test_a_page_of_the_way(self):
        folder = self.submission(solution("max", WRONG), track="openmp")
        run("check", folder, "--quick")
        with open(folder / "worklog.jsonl", "a") as log:
            log.write(json.dumps({"verdict": "right", "words": [], "cases": 3, "right_cases": 3, "speed": SPEED}) + "\n")
        (folder / "report.md").write_text("Every thread has rows of its own.\n\nMemory is <the> limit.\n")
        done = run("exercise", "report", folder, "--out", self.folder / "hw")
        self.assertEqual(done.returncode, 0, done.stderr)
        page = (self.folder / "hw/report.html").read_text()
        for words in ("Every thread has rows of its own.", "Memory is &lt;the&gt; limit.", "You take the smaller of the two numbers.",
                      "Karp-Flatt", "CUDA, 1000 blocks of 1000 threads", "1 part, 1 right by the contract"):
            self.assertIn(words, page)

    def test_a_folder_that_was_never_checked(self):
        done = run("exercise", "report", self.submission(solution("max")))
        self.assertEqual(done.returncode, 2)
        self.assertIn("no check in its work log", done.stderr)


if __name__ == "__main__":
    unittest.main()
