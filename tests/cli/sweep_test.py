"""lockstep sweep, lockstep compare, train --find-lr, frozen layers and layers of other models."""
import json
import os
import signal
import subprocess
import time

from program import MOONS, PROGRAM, ProgramTest, main
from training_test import Rungs

SHORT = MOONS.replace("epochs = 3", "epochs = 4")


class Sweep(ProgramTest):
    GRID = ["--grid", "train.optimizer.lr=0.001,0.1", "--grid", "model.sizes=2-3-1,2-5-1"]

    def test_every_combination_is_a_run_and_the_best_is_named(self):
        self.write("a.toml", SHORT)
        result = self.succeed("sweep", "a.toml", *self.GRID, "--runs", "2", "--out", "all", "--threads", "1")
        self.assertEqual(sorted(path.name for path in (self.folder / "all").iterdir()), ["1", "2", "3", "4"])
        losses = {}
        for i, (lr, sizes) in enumerate([("0.001", "2-3-1"), ("0.001", "2-5-1"), ("0.1", "2-3-1"), ("0.1", "2-5-1")], 1):
            self.succeed("train", "a.toml", "--out", "single", "--overwrite", "--set", f"train.optimizer.lr={lr}",
                         "--set", f"model.sizes={sizes}")
            self.assertEqual((self.folder / f"all/{i}/metrics.jsonl").read_bytes(),
                             (self.folder / "single/metrics.jsonl").read_bytes())
            losses[i] = self.lines(f"all/{i}/metrics.jsonl")[-1]["test"]["loss"]
        best = min(losses, key=losses.get)
        self.assertIn(f"best: all/{best}\n", result.out)
        self.assertIn("train.optimizer.lr", result.out)

    def test_it_goes_on_where_it_was(self):
        self.write("a.toml", SHORT)
        self.succeed("sweep", "a.toml", *self.GRID, "--out", "all")
        before = (self.folder / "all/1/timings.jsonl").read_bytes()
        for name in ("status.json", "model.safetensors"):
            (self.folder / "all/3" / name).unlink()
        result = self.succeed("sweep", "a.toml", *self.GRID, "--out", "all")
        self.assertEqual(result.err.count("finished before"), 3)
        self.assertEqual((self.folder / "all/1/timings.jsonl").read_bytes(), before)
        self.assertTrue((self.folder / "all/3/model.safetensors").exists())
        self.refuse(2, "all/1 holds a run with train.optimizer.lr = 0.001, not 0.5", "sweep", "a.toml", "--grid",
                    "train.optimizer.lr=0.5,0.1", "--grid", "model.sizes=2-3-1,2-5-1", "--out", "all")

    def test_a_signal_stops_it_and_the_runs_are_saved(self):
        self.write("a.toml", SHORT.replace("epochs = 4", "epochs = 100000"))
        process = subprocess.Popen([PROGRAM, "sweep", "a.toml", "--grid", "train.optimizer.lr=0.1,0.2", "--out", "all", "--threads", "1"],
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=os.environ | {"HOME": str(self.folder)})
        while not (self.folder / "all/1/metrics.jsonl").exists() and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 10, err)
        self.assertIn("the same command goes on", err)

    def test_what_is_refused(self):
        self.write("a.toml", SHORT)
        self.refuse(2, "train.optimizer.lrr", "sweep", "a.toml", "--grid", "train.optimizer.lrr=1,2", "--out", "bad")
        self.refuse(2, "write --grid section.key=value,value", "sweep", "a.toml", "--grid", "train.batch", "--out", "bad")
        self.assertFalse((self.folder / "bad").exists())


class Compare(ProgramTest):
    def test_scores_configurations_and_bits(self):
        self.write("a.toml", SHORT)
        for name, options in {"one": [], "two": ["--threads", "2"], "other": ["--set", "train.seed=2"],
                              "slower": ["--set", "train.schedule={name = \"step\", every = 2}"]}.items():
            self.succeed("train", "a.toml", "--out", name, *options)
        result = self.succeed("compare", "one", "two", "other", "slower", "--out", "page")
        rows = {line.split()[0]: line for line in result.out.splitlines() if line.strip()}
        self.assertIn("the same", rows["two"])
        self.assertIn("differ from epoch 1 on", rows["other"])
        self.assertIn("differ from epoch 3 on", rows["slower"])
        self.assertIn("train.seed", result.out)
        self.assertNotIn("train.batch", result.out)
        page = (self.folder / "page/report.html").read_text()
        self.assertIn("Validation loss", page)
        self.refuse(2, "at least two run directories", "compare", "one")
        self.refuse(2, "is no run directory", "compare", "one", "page")


class FindRate(ProgramTest):
    def test_a_curve_and_a_suggestion(self):
        self.write("a.toml", SHORT)
        found = json.loads(self.succeed("train", "a.toml", "--find-lr", "--json").out)
        rates = [point["lr"] for point in found["points"]]
        self.assertEqual(rates, sorted(rates))
        self.assertAlmostEqual(rates[0], 1e-6, places=12)
        self.assertTrue(1e-5 < found["suggestion"] < 10, found["suggestion"])
        self.assertEqual(json.loads(self.succeed("train", "a.toml", "--find-lr", "--json", "--threads", "3").out), found)
        text = self.succeed("train", "a.toml", "--find-lr").out
        self.assertIn("suggestion: train.optimizer.lr = ", text)
        self.assertFalse((self.folder / "runs").exists())


class LayersOfOthers(Rungs):
    TARGET = SHORT.replace('sizes = "2-3-1"\noutput = "sigmoid"', 'sizes = "2-3-4-1"\noutput = "sigmoid"')

    def test_frozen_layers_keep_their_weights_everywhere(self):
        self.write("a.toml", SHORT)
        self.succeed("train", "a.toml", "--out", "first")
        text = self.TARGET.replace("[model]", '[model]\ninit = {file = "first/model.safetensors", map = {"0" = "0"}}') \
            .replace("[train]", '[train]\nfrozen = ["0"]\nl2 = 0.01\nclip_norm = 0.5')
        lines = self.same_everywhere(text)
        before, after = self.tensors("first/model.safetensors"), self.tensors("run/model.safetensors")
        for name in ("0.weight", "0.bias"):
            self.assertEqual(after[name], before[name], name)
        free = self.same_everywhere(text.replace('frozen = ["0"]\n', ""), "free")
        self.assertNotEqual(self.tensors("free/model.safetensors")["0.weight"], before["0.weight"])
        self.assertNotEqual(free[-1]["weight_hash"], lines[-1]["weight_hash"])

    def tensors(self, name):
        """The bytes of each tensor of a safetensors file."""
        data = (self.folder / name).read_bytes()
        size = int.from_bytes(data[:8], "little")
        header = json.loads(data[8:8 + size])
        return {key: data[8 + size + value["data_offsets"][0]:8 + size + value["data_offsets"][1]]
                for key, value in header.items() if key != "__metadata__"}

    def test_what_is_refused(self):
        self.write("a.toml", SHORT)
        self.succeed("train", "a.toml", "--out", "first")
        def refuse(code, message, *options):
            self.refuse(code, message, "train", "a.toml", "--out", "bad", *options)
        refuse(2, 'frozen: no layer "7" has parameters', "--set", 'train.frozen=["7"]')
        file = "model.init={file = \"first/model.safetensors\", map = {%s}}"
        refuse(3, "no array begins with conv1.", "--set", file % '"conv1" = "0"')
        refuse(3, "0.weight would be 5.weight, which the network does not have", "--set", file % '"0" = "5"')
        refuse(3, "is [3,2] in the file but [1,3] in the network", "--set", file % '"0" = "2"')


if __name__ == "__main__":
    main()
