"""lockstep report, and the report that a training run writes: made from its files alone, and never in its way."""
import json
import os

from program import MOONS, ProgramTest, main


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
