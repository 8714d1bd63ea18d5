"""lockstep ladder, report and doctor, as users meet them: three rungs of a tiny training, and what is left of them."""
import json
import os
import re
import signal
import subprocess
import time

from program import MOONS, PROGRAM, ProgramTest, main

RUNGS = ["naive", "simd", "threads-2"] if len(os.sched_getaffinity(0)) > 1 else ["naive", "simd"]


class Ladder(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("moons.toml", MOONS)

    def climb(self, *more, out="out"):
        return self.run_program("ladder", "moons.toml", "--rungs", ",".join(RUNGS), "--budget", "2", "--samples", "3",
                                "--out", out, *more)

    def results(self, folder="out"):
        return [json.loads(line) for line in (self.folder / folder / "results.jsonl").read_text().splitlines()]

    def test_climbs_and_reports(self):
        done = self.climb("--csv")
        self.assertEqual(done.code, 0, done)
        self.check_screen(done)
        results = self.results()
        rungs = [r for r in results if r["kind"] == "ladder"]
        self.assertEqual([r["name"] for r in rungs], RUNGS)
        self.assertEqual(len({r["weight_hash"] for r in rungs}), 1)
        self.check_few_samples(rungs)
        for rung in rungs:
            self.assertEqual(rung["words"]["mark"], "same")
            self.assertGreaterEqual(len(rung["samples"]), 1)
            self.assertGreater(min(rung["samples"]), 0)
            self.assertGreater(rung["numbers"]["explained"], 0.9)
            self.assertTrue(rung["words"]["verdict"])
            self.assertTrue(rung["kernels"])
            self.assertEqual(rung["numbers"]["samples_per_epoch"], 48)
            self.assertIn("[train]", rung["configuration"])
            self.assertEqual(rung["seed"], 1)
        kinds = {r["kind"] for r in results}
        self.assertLessEqual({"machine", "ladder", "section", "roofline", "curve", "check"}, kinds)
        self.assertEqual("fit" in kinds, len(RUNGS) > 2)
        self.check_fits([r for r in results if r["kind"] == "fit"])
        page = (self.folder / "out/report.html").read_text()
        for text in ("plain loops, optimised", "Roofline", "Hoefler", "What each part gains from which kind of parallelism"):
            self.assertIn(text, page)
        self.assertTrue((self.folder / "out/ladder.csv").exists())
        self.report_again(page)

    def check_screen(self, done):
        """What happens on stderr, stage by stage; then one table, three sentences, the report's path; no hash but one."""
        for stage in range(1, 6):
            self.assertRegex(done.err, rf"(?m)^{stage}/5 .*: about \d")
        for text in ("plain loops, optimised", "SIMD kernels, 1 thread", "Efficiency", "report.html", "What limits it:"):
            self.assertIn(text, " ".join(done.out.split()), "wherever its lines are broken")
        for text in ("What limits each rung", "Karp-Flatt", "Amdahl", "POP", "results.jsonl", "GFLOP"):
            self.assertNotIn(text, done.out)
        self.assertEqual(done.out.count("Rung "), 1, "one table")
        self.assertEqual(len(set(re.findall(r"\b[0-9a-f]{8,64}\b(?= \(same\))", done.out))), 1, done.out)
        self.assertLessEqual(max(map(len, done.out.splitlines())), 130)

    def check_few_samples(self, rungs):
        """Three samples are too few for an interval: their number stands there instead."""
        for rung in rungs:
            self.assertEqual(rung["n"], len(rung["samples"]))
            self.assertLess(rung["n"], 6)
            self.assertFalse({"low", "high", "coverage"} & set(rung), rung["name"])
        page = json.dumps(json.loads((self.folder / "out/report.json").read_text()))
        self.assertIn('"n = ', page)
        self.assertNotIn('"interval"', page)
        self.assertNotIn("95 %: ", page)

    def check_fits(self, fits):
        """What is fitted is shown, and what has too few points, or cannot be, is named instead."""
        self.assertFalse([f for f in fits if f["words"]["law"] == "usl"])
        if len(RUNGS) > 2:
            page = (self.folder / "out/report.html").read_text()
            for text in ("No fit of the universal scalability law of threads", "Karp-Flatt", "serial share of threads",
                         "Parallel efficiency and its factors (POP)"):
                self.assertIn(text, page)
            self.assertIn("karp_flatt_2", next(f for f in fits if f["name"] == "measured threads")["numbers"])
            for fit in fits:
                self.assertFalse([key for key in fit["numbers"] if key.endswith(("_low", "_high"))], fit)
                self.assertLessEqual(abs(fit["numbers"].get("serial", 0)), 1.25)

    def test_verbose_prints_what_the_report_has(self):
        done = self.climb("--verbose", out="verbose")
        self.assertEqual(done.code, 0, done)
        for text in ("What limits each rung", "GFLOP/s", "Efficiency"):
            self.assertIn(text, done.out)

    def test_slow_rungs_show_the_same_hash(self):
        """Plain loops without optimisation are timed on fewer samples than the others, and trained the same check."""
        self.write("wide.toml", MOONS.replace("count = 64", "count = 8192").replace("2-3-1", "2-96-96-1"))
        done = self.run_program("ladder", "wide.toml", "--rungs", "naive-o0,simd", "--budget", "1", "--samples", "1",
                                "--out", "slow")
        self.assertEqual(done.code, 0, done)
        slow, fast = (r for r in self.results("slow") if r["kind"] == "ladder")
        self.assertLess(slow["numbers"]["measured_samples"], fast["numbers"]["measured_samples"])
        self.assertEqual(slow["weight_hash"], fast["weight_hash"])
        self.assertEqual(slow["numbers"]["check_samples"], fast["numbers"]["check_samples"])
        self.assertEqual((slow["words"]["mark"], fast["words"]["mark"]), ("same", "same"))

    def test_more_workers_than_processors(self):
        """Whoever names such a rung gets it, with a warning; a crowded hybrid keeps the bits too."""
        crowded = f"threads-{len(os.sched_getaffinity(0)) + 1}"
        done = self.run_program("ladder", "moons.toml", "--rungs", f"simd,{crowded}", "--budget", "1", "--samples", "1",
                                "--out", "crowd")
        self.assertEqual(done.code, 0, done)
        rung = next(r for r in self.results("crowd") if r["name"] == crowded)
        self.assertEqual(rung["words"]["mark"], "same")
        self.assertIn("more workers than processors", rung["warnings"])
        for name in ("threads-0", "threads-2x", "hybrid-2", "hybrid-2x2x2", "ranks-100000"):
            self.refuse(2, f"--rungs {name}", "ladder", "moons.toml", "--out", "none", "--rungs", name)

    def test_an_efficiency_that_cannot_be(self):
        """Two workers six times as fast as one: a fault of measuring, not a finding."""
        if len(RUNGS) < 3:
            self.skipTest("needs two processors")
        self.assertEqual(self.climb(out="odd").code, 0)
        results = self.results("odd")
        base = next(r for r in results if r["kind"] == "ladder" and r["name"] == "simd")["median"]
        for rung in results:
            if rung["kind"] == "ladder" and rung["name"] == "threads-2":
                rung.update(samples=[base / 6.08], n=1, median=base / 6.08)
        (self.folder / "odd/results.jsonl").write_text("".join(json.dumps(r) + "\n" for r in results))
        self.assertEqual(self.run_program("report", "odd").code, 0)
        page = (self.folder / "odd/report.html").read_text()
        self.assertNotIn("304 %", page)
        self.assertIn("not usable", page)
        self.assertIn("the machine was busy", page)

    def report_again(self, page):
        """The same page from the results alone; hostile names do no harm; a damaged line is refused."""
        (self.folder / "out/report.html").unlink()
        again = self.run_program("report", "out")
        self.assertEqual(again.code, 0, again)
        self.assertEqual((self.folder / "out/report.html").read_text(), page)
        lines = (self.folder / "out/results.jsonl").read_text()
        (self.folder / "hostile").mkdir()
        hostile = lines.replace("plain loops, optimised", "<script>alert(1)</script>")
        (self.folder / "hostile/results.jsonl").write_text(hostile)
        self.assertEqual(self.run_program("report", "hostile").code, 0)
        self.assertNotIn("<script>alert", (self.folder / "hostile/report.html").read_text())
        (self.folder / "hostile/results.jsonl").write_text(lines.replace('"median":', '"median":1', 1))
        refused = self.run_program("report", "hostile")
        self.assertEqual(refused.code, 3, refused)
        self.assertIn("does not follow from the samples", refused.err)

    def test_refuses_what_makes_no_sense(self):
        for arguments, code, words in ((("--rungs", "warp"), 2, "--rungs warp"), (("--budget", "-1"), 2, "--budget"),
                                       (("--set", "train.epoch=1"), 2, "train.epochs")):
            self.refuse(code, words, "ladder", "moons.toml", "--out", "none", *arguments)
            self.assertFalse((self.folder / "none").exists())
        self.write("keep/mine.txt", "mine")
        self.assertEqual(self.climb(out="keep").code, 2)
        self.assertEqual((self.folder / "keep/mine.txt").read_text(), "mine")

    def test_a_failure_leaves_nothing_behind(self):
        (self.folder / "scratch").mkdir()
        self.refuse(2, "none of the chosen rungs runs here", "ladder", "moons.toml", "--rungs", "cuda", "--quiet",
                    env={"TMPDIR": str(self.folder / "scratch"), "LOCKSTEP_CUDA_PLUGIN": "/nowhere"})
        self.assertEqual(list((self.folder / "scratch").iterdir()), [])

    def cut(self, number):
        """A ladder with a budget that nobody waits for, ended by a signal after its first round; what it said."""
        process = subprocess.Popen([PROGRAM, "ladder", "moons.toml", "--rungs", "naive,simd", "--budget", "600",
                                    "--samples", "1000", "--share", "0.001", "--out", "cut"],
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(600):
            if (self.folder / "cut/results.jsonl").exists() or process.poll() is not None:
                break
            time.sleep(0.1)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
        return process.returncode, err

    def check_cut(self, word):
        rungs = [r for r in self.results("cut") if r["kind"] == "ladder"]
        self.assertEqual([r["name"] for r in rungs], ["naive", "simd"])
        self.assertTrue(any(word in warning for warning in rungs[0]["warnings"]))

    def test_a_signal_leaves_what_was_measured(self):
        code, err = self.cut(signal.SIGINT)
        self.assertEqual(code, 10, err)
        self.assertIn("stopped by a signal", err)
        self.check_cut("stopped")
        self.assertTrue((self.folder / "cut/report.html").exists())

    def test_a_kill_leaves_what_was_measured(self):
        code, err = self.cut(signal.SIGKILL)
        self.assertEqual(code, -signal.SIGKILL, err)
        self.check_cut("killed before its end")
        self.assertEqual(self.run_program("report", "cut").code, 0)
        self.assertIn("killed before its end", (self.folder / "cut/report.html").read_text())

    def test_doctor(self):
        done = self.run_program("doctor", "--json")
        self.assertEqual(done.code, 0, done)
        report = json.loads(done.out)
        checks = {f["check"] for f in report["findings"]}
        self.assertLessEqual({"load", "frequency", "smt", "affinity", "cgroup", "oversubscription", "mpi binding", "blas threads",
                              "instructions", "memory"}, checks)
        for finding in report["findings"]:
            if finding["grade"] == "warning":
                self.assertTrue(finding["cure"], finding)
        self.assertTrue(next(p for p in report["parts"] if p["name"] == "backend simd")["there"])
        self.assertIn("What would spoil a measurement", self.run_program("doctor").out)


if __name__ == "__main__":
    main()
