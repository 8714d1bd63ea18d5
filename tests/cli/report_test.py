"""lockstep report, and the report that a training run writes: made from its files alone, and never in its way."""
import json
import os
import re
import socket
import time

from program import MOONS, PICTURES, ProgramTest, main

REGRESSION = """\
[data]
source = "x.csv"
label_column = "price"
regression = true
standardise = true
split = {validation = 10}
[model]
sizes = "3-4-1"
activation = "relu"
[train]
loss = "squared-error"
batch = 10
epochs = 2
"""


class RunReport(ProgramTest):
    def page(self, name="run"):
        return (self.folder / name / "report.html").read_text()

    def test_training_writes_it_and_report_makes_the_same_again(self):
        trained = self.train()
        page = self.page()
        self.assertIn("Content-Security-Policy", page)
        self.assertIn(trained["weight_hash"], page)
        self.assertIn("Validation accuracy", page)
        (self.folder / "run/report.html").unlink()
        shown = self.succeed("report", "run")
        self.assertEqual(self.page(), page)
        self.assertIn("wrote run/report.html", shown.err)
        self.assertIn("Every epoch", shown.out)

    def test_open_shows_the_page_in_the_browser(self):
        self.train()
        opener = self.write("bin/xdg-open", f'#!/bin/sh\necho "$1" > "{self.folder}/opened.new"\nmv "{self.folder}/opened.new" "{self.folder}/opened"\n')
        opener.chmod(0o755)
        self.succeed("report", "run", "--open", env={"PATH": f"{opener.parent}:/usr/bin:/bin"})
        for _ in range(100):
            if (self.folder / "opened").exists():
                break
            time.sleep(0.1)
        self.assertEqual((self.folder / "opened").read_text().strip(), str((self.folder / "run/report.html").resolve()))
        missing = self.run_program("report", "run", "--open", env={"PATH": "/nowhere"})
        self.assertEqual(missing.code, 2, missing)
        self.assertIn("--open needs the program xdg-open", missing.err)

    def test_it_says_when_where_and_how_it_was_run(self):
        self.write("a.toml", MOONS)
        self.succeed("train", "a.toml", "--out", "run", "--threads", "2", "--quiet")
        machine = json.loads((self.folder / "run/machine.json").read_text())
        origin = machine["origin"]
        self.assertEqual(origin["command"], "lockstep train a.toml --out run --threads 2 --quiet")
        self.assertRegex(origin["time"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertEqual(origin["commit"], json.loads(self.succeed("doctor", "--json").out)["commit"])
        self.assertEqual(machine["words"], {"backend": "simd", "host": socket.gethostname()})
        self.assertEqual(machine["numbers"], {"ranks": 1, "threads": 2})
        page = self.page()
        for words in (origin["command"], origin["time"], origin["commit"], socket.gethostname(), "Threads of a rank",
                      "Ranks", "Backend"):
            self.assertIn(words, page)

    def test_the_times_of_a_run_are_one_time(self):
        """Terminal, sentence and phases: the time of the steps, and said to be that."""
        self.write("a.toml", MOONS)
        shown = self.succeed("train", "a.toml", "--out", "run", "--quiet").out
        total = sum(line["seconds"]["total"] for line in self.lines("run/timings.jsonl"))
        (words,) = re.findall(r"time +(\S+ \S+) in steps, \S+ \S+ with validation and checkpoints;", shown)
        self.assertIn(f"The steps took {words} (without validation and checkpoints)", self.page())
        tables = {t["name"]: t for t in json.loads(self.succeed("report", "run", "--json", "--quiet").out)["tables"]}
        rows = {row["cells"][0]["value"]: row["cells"][1]["value"] for row in tables["phases"]["rows"]}
        self.assertAlmostEqual(rows.pop("total"), total)
        rows.pop("validation, besides")
        self.assertAlmostEqual(sum(rows.values()), total)

    def test_every_epoch_is_that_of_the_metrics(self):
        self.train()
        tables = {t["name"]: t for t in json.loads(self.succeed("report", "run", "--json", "--quiet").out)["tables"]}
        keys = [column["key"] for column in tables["epochs"]["columns"]]
        rows = [dict(zip(keys, [cell["value"] for cell in row["cells"]])) for row in tables["epochs"]["rows"]]
        metrics, timings = self.lines("run/metrics.jsonl"), self.lines("run/timings.jsonl")
        self.assertEqual(len(rows), 3)
        for row, line, times in zip(rows, metrics, timings):
            self.assertEqual(row["epoch"], line["epoch"])
            self.assertEqual(row["training_loss"], line["train"]["loss"])
            self.assertEqual(row["validation_accuracy"], line["validation"]["accuracy"])
            self.assertEqual(row["time"], times["seconds"]["total"])
        self.assertEqual(sum(row["cells"][4]["value"] for row in tables["layers"]["rows"]), 13)

    def test_a_resumed_run_writes_it_anew(self):
        self.write("a.toml", MOONS)
        self.succeed("train", "a.toml", "--out", "run", "--quiet")
        before = self.page()
        self.succeed("train", "a.toml", "--out", "run", "--quiet", "--resume", "--set", "train.epochs=5")
        self.assertNotEqual(self.page(), before)
        self.assertIn("<strong>5 epochs</strong>", self.page())

    def test_a_training_does_not_fail_for_it(self):
        """A folder stands where the page should go."""
        self.write("a.toml", MOONS)
        self.succeed("train", "a.toml", "--out", "run", "--quiet")
        (self.folder / "run/report.html").unlink()
        (self.folder / "run/report.html").mkdir()
        done = self.succeed("train", "a.toml", "--out", "run", "--resume", "--set", "train.epochs=4")
        self.assertIn("the report was not written", done.err)
        self.assertEqual(len(self.lines("run/timings.jsonl")), 4)

    def answers(self, name="run"):
        return json.loads((self.folder / name / "answers.json").read_text())

    def tables(self, name="run"):
        return {t["name"]: t for t in json.loads(self.succeed("report", name, "--json", "--quiet").out)["tables"]}

    def test_answers_are_those_of_the_last_evaluation(self):
        """Whatever was scored last: the test set, the validation set, or all there is; on one thread or on two ranks."""
        for part, text in (("test", MOONS), ("validation", MOONS.replace("test_count = 32\n", "")),
                           ("training", MOONS.replace("test_count = 32\n", "").replace("split = {validation = 16}\n", ""))):
            with self.subTest(part):
                trained = self.train(text, part)
                answers = self.answers(part)
                self.assertEqual(answers["part"], part)
                last = self.lines(f"{part}/metrics.jsonl")[-1]
                scores = last.get("test") or last.get("final_train") or last["validation"]
                self.assertEqual(answers["samples"], scores["samples"])
                right = sum(answers["confusion"][k][k] for k in range(2))
                self.assertEqual(right, scores["correct"])
                wrong = scores["samples"] - right
                self.assertEqual(len(answers.get("worst", [])), min(wrong, 12))
                for mistake in answers.get("worst", []):
                    self.assertNotEqual(mistake["truth"], mistake["answer"])
                    self.assertGreaterEqual(mistake["probability"], 0.5)
                self.assertEqual(len(answers["boundary"]["classes"]), 96 * 64)
                again = self.train(text, f"{part}-3", "--threads", "3")
                self.assertEqual(again["weight_hash"], trained["weight_hash"])
                self.assertEqual(self.answers(f"{part}-3"), answers)
                self.assertIn("What the network answers where", self.page(part))

    def test_scores_of_classes_follow_from_the_matrix(self):
        self.write_digits(60)
        self.train(PICTURES)
        answers = self.answers()
        rows = self.tables()["class-scores"]["rows"]
        for k, row in enumerate(rows):
            name, samples, precision, recall, f1 = (cell["value"] for cell in row["cells"])
            right, column = answers["confusion"][k][k], sum(r[k] for r in answers["confusion"])
            self.assertEqual((name, samples), (str(k), 20))
            self.assertAlmostEqual(precision, right / column if column else 0)
            self.assertAlmostEqual(recall, right / 20)
            self.assertAlmostEqual(f1, 2 * right / (20 + column))

    def test_pictures_and_filters_are_shown(self):
        self.write_digits(60)
        self.train(PICTURES.replace("epochs = 2", "epochs = 1"))
        answers = self.answers()
        self.assertTrue(all(m["picture"].startswith("iVBORw0KGgo") for m in answers["worst"]))
        self.assertEqual([len(answers["filters"][key]) for key in ("before", "after")], [2, 2])
        self.assertNotEqual(answers["filters"]["before"], answers["filters"]["after"])
        page = self.page()
        self.assertEqual(page.count("<img "), len(answers["worst"]) + 4)
        self.assertIn("Filters of layer 0 conv2d, before and after training", page)

    def test_initial_filters_are_known_after_a_restart(self):
        self.write_digits(60)
        self.train(PICTURES)
        self.succeed("train", "a.toml", "--out", "run", "--quiet", "--resume", "--set", "train.epochs=4")
        self.succeed("train", "a.toml", "--out", "whole", "--quiet", "--set", "train.epochs=4")
        self.assertEqual(self.answers(), self.answers("whole"))

    def test_a_regression_shows_predictions_and_errors(self):
        rows = [f"{i},{'red' if i % 3 else 'blue'},{2 * i + i % 3}" for i in range(40)]
        self.write("x.csv", "length,colour,price\n" + "\n".join(rows) + "\n")
        self.train(REGRESSION)
        answers = self.answers()
        self.assertEqual((answers["part"], answers["columns"], len(answers["pairs"])), ("validation", ["length", "colour"], 10))
        rows = [[cell["text"] for cell in row["cells"]] for row in self.tables()["mistakes"]["rows"]]
        self.assertEqual(len(rows), 10)
        errors = [abs(m["true_value"] - m["answered_value"]) for m in answers["worst"]]
        self.assertEqual(errors, sorted(errors, reverse=True))
        for row in rows:
            price = 2 * int(row[4]) + int(row[4]) % 3
            self.assertEqual((float(row[1]), row[5]), (price, "red" if int(row[4]) % 3 else "blue"))
        self.assertIn("Predicted against true", self.page())

    def test_the_profile_is_shown_per_layer(self):
        self.write("a.toml", MOONS)
        self.succeed("train", "a.toml", "--out", "run", "--quiet", "--profile")
        page = self.page()
        self.assertIn("Share of the machine&#39;s peak", page)
        self.assertIn("% of time", page)
        (self.folder / "run/profile.json").write_text("{")
        self.refuse(3, "profile.json: is damaged", "report", "run")

    def test_files_of_an_earlier_run_have_no_answers(self):
        self.train()
        (self.folder / "run/answers.json").unlink()
        self.succeed("report", "run")
        self.assertNotIn("Confusion matrix", self.page())

    def test_damaged_answers(self):
        self.train()
        whole = self.answers()
        for key, value in (("samples", -1), ("confusion", [[1]]), ("boundary", {}), ("worst", [{"sample": 1, "truth": 9}]),
                           ("classes", 3), ("filters", {"layer": "0", "all": 1, "before": ["a"], "after": []})):
            self.write("run/answers.json", json.dumps(whole | {key: value}))
            self.refuse(3, "run/answers.json: is damaged", "report", "run")
        self.write("run/answers.json", json.dumps(whole | {"filters": {"layer": "<b>", "all": 1, "before": ['"><script>'], "after": ["<"]}}))
        self.succeed("report", "run")
        self.assertNotIn("<script", self.page())

    def test_hostile_names(self):
        name = "<script>alert(1)<"
        self.train(out=name)
        self.assertNotIn("<script", self.page(name))
        self.assertIn("&lt;script&gt;alert(1)&lt;", self.page(name))

    def test_damaged_files(self):
        self.train()
        self.write("run/metrics.jsonl", "{}\n")
        self.refuse(3, "run: the metrics or timings are not those of a run", "report", "run")
        self.write("run/metrics.jsonl", '{"epoch": 1\n')
        self.refuse(3, "run/metrics.jsonl:1: no JSON object", "report", "run")
        os.mkdir(self.folder / "empty")
        self.refuse(2, "empty: holds neither results.jsonl nor metrics.jsonl", "report", "empty")
        self.refuse(2, "nowhere: there is no such file", "report", "nowhere")


class ResultsReport(ProgramTest):
    def test_damaged_results(self):
        self.write("results.jsonl", '{"kind": "measurement"}\n')
        self.refuse(3, "results.jsonl:1", "report", "results.jsonl")


if __name__ == "__main__":
    main()
