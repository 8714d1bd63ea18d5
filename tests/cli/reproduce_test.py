"""reproduce_test.py PROGRAM: lockstep reproduce, its list, one experiment from end to end, and its report made again."""
import json
import os
import re
import unittest

import program
from program import ProgramTest

NAMES = ["mpi-digits", "cuda-quadrants", "conv-multicore"]
EVERY_NAME = NAMES + ["mnist-mlp", "openmp-cuda-pytorch"]
ORIGIN = {"machine": {"processor": "p", "processors": 2, "cores": 2, "caches": [], "instruction_sets": [], "load": 0},
          "versions": {}, "commit": "c", "command": "lockstep reproduce", "time": "2026-01-01T00:00:00Z"}


def result(name, seconds=None, **more):
    """A line of results.jsonl, with one sample or none."""
    one = {"format": "lockstep-result-1", "kind": "experiment", "name": name, "unit": "s", "samples": [], "baseline": "",
           "seed": None, "kernels": [], "weight_hash": "", "warnings": [], "numbers": {}, "words": {}, "series": {},
           "configuration": "", "origin": ORIGIN}
    if seconds is not None:
        one.update(samples=[seconds], n=1, median=seconds)
    return json.dumps({**one, **more}) + "\n"


class List(ProgramTest):
    def test_names_what_they_show_and_how_long_they_take(self):
        out = self.succeed("reproduce").out
        for name in NAMES:
            self.assertRegex(out, rf"(?m)^{name}$")
        self.assertIn("Vajja", out)
        listed = json.loads(self.succeed("reproduce", "--json").out)
        for name in NAMES:
            self.assertIn(name, [one["name"] for one in listed])
        for one in listed:
            self.assertRegex(one["time"], r"\d (min|s)|minute")
            self.assertTrue(one["title"] and one["paper"])

    def test_unknown_names(self):
        self.refuse(2, "did you mean cuda-quadrants", "reproduce", "cuda-quadrant")
        self.refuse(2, "NAME and --out do not go with it", "reproduce", "cuda-quadrants", "--from", "x")

    def test_folders(self):
        self.write("other/file", "mine")
        self.refuse(2, "holds other files", "reproduce", "cuda-quadrants", "--out", "other")
        self.refuse(3, "", "reproduce", "--from", "nowhere")
        self.write("empty/results.jsonl", "")
        self.refuse(3, "not of lockstep reproduce", "reproduce", "--from", "empty")

    def test_digits_without_data(self):
        self.refuse(3, "no such file", "reproduce", "mpi-digits", "--data", "nowhere.mat", "--quick")
        self.assertFalse((self.folder / "runs").exists(), "a folder for what was refused")


class Quadrants(ProgramTest):
    @unittest.skipIf(program.sanitized(), "times under a sanitizer mean nothing, and it takes minutes")
    def test_end_to_end(self):
        # No valgrind, no Python, no device: what cannot be done is named, the rest is done.
        done = self.succeed("reproduce", "cuda-quadrants", "--quick", "--out", "run",
                            env={"PATH": "/nowhere", "OCL_ICD_VENDORS": "/nowhere"})
        self.assertIn("opencl, 1 thread:", done.out)
        self.assertIn("8 of the 10 epochs agree in all printed digits", done.out)
        self.assertIn("instructions by callgrind: valgrind is not installed", done.out)
        results = self.lines("run/results.jsonl")
        by_name = {one["name"]: one for one in results}
        curve = by_name["test loss by epoch"]
        self.assertEqual([f"{x:.6f}" for x in curve["series"]["loss"][:2]], ["0.692727", "0.685889"])
        times = {name: one for name, one in by_name.items() if name.startswith("epoch: ")}
        bits = {one["weight_hash"] for name, one in times.items() if "plain" in name or "SIMD" in name}
        self.assertEqual(len(bits), 1, times.keys())
        self.assertGreater(times["epoch: plain loops -O0, 1 thread"]["median"],
                           times["epoch: SIMD, 1 thread"]["median"])
        for name, one in by_name.items():
            if name.startswith("shares: "):
                self.assertAlmostEqual(sum(one["numbers"].values()), 1, places=6, msg=name)
        self.again(done)
        self.stopped((self.folder / "run/results.jsonl").read_text().splitlines(keepends=True))

    def again(self, done):
        """The report is made from the results alone, and is the same."""
        page = (self.folder / "run/report.html").read_text()
        self.assertIn("Content-Security-Policy", page)
        os.remove(self.folder / "run/report.html")
        self.assertEqual(self.succeed("reproduce", "--from", "run").out, done.out)
        self.assertEqual((self.folder / "run/report.html").read_text(), page)
        answer = json.loads(self.succeed("reproduce", "--from", "run", "--json").out)
        self.assertEqual(answer["experiment"], "cuda-quadrants")
        rows = answer["report"]["tables"][0]["rows"]
        self.assertEqual([row["cells"][2]["text"] for row in rows[:2]], ["0.692727", "0.685889"])
        self.refuse(2, "holds an earlier run", "reproduce", "cuda-quadrants", "--out", "run")

    def stopped(self, lines):
        """Every line is kept when it is measured: the report of a run that was stopped has what it had."""
        for count in range(1, len(lines)):
            self.write("half/results.jsonl", "".join(lines[:count]))
            self.assertIn("stopped before its end", self.succeed("report", "half").out)


class Stopped(ProgramTest):
    def test_at_once(self):
        for name in EVERY_NAME:
            self.write("half/results.jsonl", result("run", words={"experiment": name}))
            for command in (["report", "half"], ["reproduce", "--from", "half"]):
                self.assertIn("stopped before its end", self.succeed(*command).out)

    def test_numbers_that_are_not_there(self):
        """Results come from files: what a report needs and does not find is said in a line."""
        short = {"accuracy": [0.5], "loss": [0.5], "cost": [], "precision": [0.5], "iterations": []}
        hostile = {
            "cuda-quadrants": [result("test loss by epoch", series=short),
                               "".join(result(f"epoch: {i}") for i in range(3))],
            "mpi-digits": [result("training: a", series=short), result("training: a"), result("fast: a", series=short),
                           result("fast: a"), result("iteration: a")],
            "mnist-mlp": [result("accuracy by epoch: a"), result("max 1000x1000: a"), result("max 1000x1000: a", 0.5),
                          result("accuracy by epoch: a", series={"validation_accuracy": [0.5] * 99})],
            "openmp-cuda-pytorch": [result("moons: a"), result("moons: a", series={"accuracy": []})],
            "conv-multicore": [result("threads: a"), result("software: a") + result("threads: a")]}
        for name, files in hostile.items():
            for text in files:
                self.write("half/results.jsonl", result("run", words={"experiment": name}) + text)
                self.refuse(3, "measure again", "report", "half")


if __name__ == "__main__":
    program.main()
