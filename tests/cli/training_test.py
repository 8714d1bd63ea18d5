"""Everyday training from TOML: weights, early stopping, metrics, losses, schedules. Each gives one metrics.jsonl and one model on any
number of threads and ranks, on a device, and after a stop."""
import functools
import json
import os
import struct
import subprocess
import unittest

from device_test import ENVIRONMENT, why_not
from program import PICTURES, PROGRAM, ProgramTest, main, npy, sanitized
from ranks_test import FOREIGN, LAUNCHERS, available

WEIGHTED = """\
[data]
source = "samples.csv"
label_column = "kind"
weights = "w"
split = {validation = 0.25}
[model]
sizes = "2-7-3"
[train]
batch = 16
slots = 4
epochs = 3
optimizer = {name = "adam", lr = 0.02}
"""


def table(rows=96, weights=True):
    """Three classes of unequal size in two features."""
    lines = ["a,w,b,kind" if weights else "a,b,kind"]
    for i in range(rows):
        kind = 0 if i % 8 < 5 else 1 if i % 8 < 7 else 2
        a, b = (i * 37 % 19) / 10 + kind, (i * 23 % 17) / 10 - kind
        lines.append(",".join([f"{a:.2f}"] + ([f"{i % 4 / 2}"] if weights else []) + [f"{b:.2f}", str(kind)]))
    return "\n".join(lines) + "\n"


@functools.cache
def has_device():
    return why_not() is None


class Rungs(ProgramTest):
    """One configuration, trained in every way there is."""

    def results(self, run):
        return [(self.folder / run / name).read_bytes() for name in ("metrics.jsonl", "model.safetensors")]

    def under_ranks(self, config, count, out):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        done = subprocess.run([*LAUNCHERS["openmpi"], "-n", str(count), PROGRAM, "train", config, "--threads", "1", "--out", out],
                              cwd=self.folder, env=kept | {"HOME": str(self.folder)}, capture_output=True, text=True, timeout=120,
                              stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def same_everywhere(self, text, name="run"):
        """Threads 1 and 3, naive kernels, two ranks, OpenCL: the same bytes. Returns the lines of metrics.jsonl."""
        config = f"{name}.toml"
        self.write(config, text)
        self.succeed("train", config, "--threads", "1", "--out", name)
        ways = {"three": ["--threads", "3"], "naive": ["--backend", "naive", "--threads", "2"]}
        if has_device():
            ways["opencl"] = ["--backend", "opencl"]
        for way, options in ways.items():
            self.succeed("train", config, "--out", f"{name}-{way}", *options, env=ENVIRONMENT)
        if available("openmpi") and not sanitized():
            self.under_ranks(config, 2, f"{name}-ranks")
            ways["ranks"] = []
        for way in ways:
            self.assertEqual(self.results(f"{name}-{way}"), self.results(name), f"{name}: {way}")
        return self.lines(f"{name}/metrics.jsonl")


class Weights(Rungs):
    def setUp(self):
        super().setUp()
        self.write("samples.csv", table())

    def test_one_result_everywhere(self):
        samples = self.same_everywhere(WEIGHTED)
        both = self.same_everywhere(WEIGHTED.replace("[train]", '[train]\nclass_weights = "balanced"'), "both")
        self.write("samples.csv", table(weights=False))
        classes = self.same_everywhere(WEIGHTED.replace('weights = "w"\n', "").replace("[train]", "[train]\nclass_weights = [1, 2.5, 0]"),
                                       "classes")
        hashes = {lines[-1]["weight_hash"] for lines in (samples, both, classes)}
        self.assertEqual(len(hashes), 3)

    def test_a_stopped_run_goes_on_to_the_same_bytes(self):
        self.write("run.toml", WEIGHTED.replace("[train]", '[train]\nclass_weights = "balanced"'))
        self.succeed("train", "run.toml", "--out", "whole")
        # 72 samples in batches of 16 are 5 steps: step 7 is in the middle of an epoch.
        self.succeed("train", "run.toml", "--out", "parts", "--set", "checkpoint.every_steps=7", "--set", "train.epochs=2")
        for late in self.folder.glob("parts/checkpoint-10.*"):
            late.unlink()
        self.succeed("train", "run.toml", "--out", "parts", "--resume")
        self.assertEqual(self.results("parts"), self.results("whole"))

    def test_rank_0_sends_weights_too(self):
        self.write("run.toml", WEIGHTED)
        self.succeed("train", "run.toml", "--out", "alone")
        if not available("openmpi") or sanitized():
            self.skipTest("no Open MPI")
        self.write("sent.toml", WEIGHTED.replace("[data]", '[data]\nfrom = "rank0"'))
        self.under_ranks("sent.toml", 2, "sent")
        self.assertEqual((self.folder / "sent/metrics.jsonl").read_bytes(), (self.folder / "alone/metrics.jsonl").read_bytes())

    def test_files_of_every_kind_give_the_same_weights(self):
        """A column of a CSV, a file beside .npy; eval takes the table with and without the column."""
        rows = [line.split(",") for line in table().splitlines()[1:]]
        column = lambda i: [float(row[i]) for row in rows]
        xs = [number for row in rows for number in (float(row[0]), float(row[2]))]
        self.write("x.npy", npy("<f8", (len(rows), 2), struct.pack(f"<{len(xs)}d", *xs)))
        self.write("y.npy", npy("<f8", (len(rows),), struct.pack(f"<{len(rows)}d", *column(3))))
        self.write("w.npy", npy("<f8", (len(rows),), struct.pack(f"<{len(rows)}d", *column(1))))
        self.write("csv.toml", WEIGHTED)
        self.write("npy.toml", WEIGHTED.replace('"samples.csv"', '"x.npy"\nlabels = "y.npy"').replace('label_column = "kind"\n', "")
                   .replace('"w"', '"w.npy"'))
        for config in ("csv", "npy"):
            self.succeed("train", f"{config}.toml", "--out", config)
        self.assertEqual(self.lines("npy/metrics.jsonl"), self.lines("csv/metrics.jsonl"))
        self.write("bare.csv", table(weights=False))
        with_column = self.succeed("eval", "csv/model.safetensors", "--data", "samples.csv", "--json").out
        self.assertEqual(self.succeed("eval", "csv/model.safetensors", "--data", "bare.csv", "--json").out, with_column)

    def test_augmented_pictures_keep_their_weights(self):
        self.write_digits(24)
        self.write("w.npy", npy("<f8", (24,), struct.pack("<24d", *[i % 5 for i in range(24)])))
        text = PICTURES.replace("[model]", "augment = {shift = 1}\n[model]")
        plain = self.same_everywhere(text, "plain")
        weighted = self.same_everywhere(text.replace("[model]", 'weights = "w.npy"\n[model]'), "weighted")
        self.assertNotEqual(weighted[-1]["weight_hash"], plain[-1]["weight_hash"])

    def test_what_is_refused(self):
        def refuse(code, message, text=WEIGHTED):
            self.write("bad.toml", text)
            self.refuse(code, message, "train", "bad.toml", "--out", "bad")
            self.assertFalse((self.folder / "bad").exists())
        refuse(2, 'samples.csv: data.weights: no column "v" among 4 (names: a, w, b, kind)', WEIGHTED.replace('"w"', '"v"'))
        refuse(2, "samples.csv: data.weights: column 3 (kind) would be the label too", WEIGHTED.replace('"w"', '"kind"'))
        weigh = lambda weights: WEIGHTED.replace("[train]", f"[train]\nclass_weights = {weights}")
        refuse(2, "bad.toml: train.class_weights: 2 weights for 3 classes", weigh("[1, 2]"))
        refuse(2, "train.class_weights[1]: must be at least 0, got -2", weigh("[1, -2, 1]"))
        refuse(2, "train.class_weights: every class has weight 0", weigh("[0, 0, 0]"))
        refuse(2, 'train.class_weights: unknown name "balancd"', weigh('"balancd"'))
        self.write("samples.csv", table().replace(",1.5,", ",-1.5,"))
        refuse(3, "the weight of sample 3 is -1.5; a weight is a finite number, at least 0")


NOISY = """\
[data]
source = "moons"
count = 160
test_count = 48
noise = 0.4
split = {validation = 48}
[model]
sizes = "2-9-2"
[train]
batch = 16
slots = 4
epochs = 60
optimizer = {name = "adam", lr = 0.05}
"""
WATCHED = NOISY + 'metrics = ["f1", "auc"]\nearly_stopping = {patience = 4, metric = "f1", min_gain = 0.001}\n'
NUMBERS = """\
[data]
source = "numbers.csv"
regression = true
label_column = "y"
split = {validation = 0.25}
[model]
sizes = "2-5-1"
[train]
loss = "huber"
huber_delta = 0.5
batch = 16
epochs = 3
metrics = ["mae", "rmse", "r2"]
optimizer = {name = "adam", lr = 0.02}
"""


class EarlyStopping(Rungs):
    def test_one_result_everywhere(self):
        lines = self.same_everywhere(WATCHED)
        epochs = lines[:-1]
        self.assertLess(len(epochs), 60)
        best, at = -1, 0
        for line in epochs:
            if line["validation"]["f1"] > best + 0.001:
                best, at = line["validation"]["f1"], line["epoch"]
            self.assertEqual(line["best_epoch"], at)
            self.assertEqual("stops" in line, line["epoch"] - at >= 4)
        self.assertTrue(epochs[-1]["stops"])
        kept = json.loads(self.succeed("eval", "run/model-best.safetensors", "--json").out)
        self.assertEqual(kept["weight_hash"], epochs[at - 1]["weight_hash"])
        for way in self.folder.glob("run-*"):
            self.assertEqual((way / "model-best.safetensors").read_bytes(), (self.folder / "run/model-best.safetensors").read_bytes())

    def test_a_stopped_run_goes_on_to_the_same_end(self):
        self.write("run.toml", WATCHED)
        whole = self.succeed("train", "run.toml", "--out", "whole")
        self.assertIn("stopped early", whole.out + whole.err)
        self.assertIn("best", whole.out)
        last = len(self.lines("whole/metrics.jsonl")) - 1
        # Stopped between the best epoch and the end: what was watched must be known again.
        self.succeed("train", "run.toml", "--out", "parts", "--set", f"train.epochs={last - 2}")
        self.succeed("train", "run.toml", "--out", "parts", "--resume", "--threads", "2")
        self.assertEqual(self.results("parts"), self.results("whole"))
        self.assertEqual((self.folder / "parts/model-best.safetensors").read_bytes(),
                         (self.folder / "whole/model-best.safetensors").read_bytes())
        again = self.succeed("train", "run.toml", "--out", "parts", "--resume")
        self.assertIn("early stopping ended it", again.err)

    def test_what_is_refused(self):
        self.write("bad.toml", WATCHED.replace("split = {validation = 48}\n", ""))
        self.refuse(2, "train.early_stopping needs validation data", "train", "bad.toml", "--out", "bad")
        self.write("bad.toml", NOISY + 'metrics = ["mae"]\n')
        self.refuse(2, "mae is for real-valued targets, and the data has classes", "train", "bad.toml", "--out", "bad")
        self.write("bad.toml", NOISY + 'metrics = ["top-3"]\n')
        self.refuse(2, "top-3 of 2 outputs", "train", "bad.toml", "--out", "bad")
        self.assertFalse((self.folder / "bad").exists())


class Metrics(Rungs):
    def test_eval_has_the_numbers_of_training(self):
        self.write("run.toml", NOISY.replace("epochs = 60", "epochs = 2") + 'metrics = ["f1", "auc", "precision", "recall"]\n')
        trained = json.loads(self.succeed("train", "run.toml", "--out", "run", "--json").out)["test"]
        scored = json.loads(self.succeed("eval", "run/model.safetensors", "--json").out)
        for name in ("f1", "auc", "precision", "recall", "f1_per_class", "accuracy", "loss"):
            self.assertEqual(scored[name], trained[name], name)
        confusion = scored["confusion"]
        recall = [row[k] / sum(row) for k, row in enumerate(confusion)]
        precision = [confusion[k][k] / sum(row[k] for row in confusion) for k in range(2)]
        self.assertEqual(scored["recall_per_class"], recall)
        self.assertEqual(scored["precision_per_class"], precision)
        self.assertAlmostEqual(scored["f1"], sum(2 * p * r / (p + r) for p, r in zip(precision, recall)) / 2, places=12)
        text = self.succeed("eval", "run/model.safetensors").out
        for name in ("f1", "auc", "precision"):
            self.assertIn(name, text)
        page = (self.folder / "run/report.html").read_text()
        for text in ("Validation f1", "Metrics on the test set", "Every class on the test set"):
            self.assertIn(text, page)

    def test_of_numbers(self):
        rows = [(i * 37 % 19 / 10, i * 23 % 17 / 10) for i in range(64)]
        self.write("numbers.csv", "a,b,y\n" + "".join(f"{a},{b},{a * a - b}\n" for a, b in rows))
        lines = self.same_everywhere(NUMBERS)
        scores = lines[-1]["validation"]
        self.assertGreater(scores["rmse"], scores["mae"])
        self.assertLess(scores["r2"], 1)
        scored = json.loads(self.succeed("eval", "run/model.safetensors", "--split", "validation", "--json").out)
        for name in ("mae", "rmse", "r2", "loss"):
            self.assertEqual(scored[name], scores[name], name)


class Averages(Rungs):
    CONFIG = """\
[data]
source = "moons"
count = 120
test_count = 40
split = {validation = 24}
augment = {mixup = 0.4}
[model]
input = [2]
layers = [{linear = 12}, "batch_norm", "relu", {linear = 2}]
[train]
average = @
metrics = ["f1"]
early_stopping = 9
batch = 16
epochs = 3
"""

    def test_one_result_everywhere(self):
        hashes = set()
        for name, average in (("ema", '{name = "ema", decay = 0.9}'), ("swa", '{name = "swa", from = 2}'), ("none", '"none"')):
            lines = self.same_everywhere(self.CONFIG.replace("@", average), name)
            hashes.add(lines[-1]["weight_hash"])
            model = self.succeed("eval", f"{name}/model.safetensors", "--json")
            self.assertEqual(json.loads(model.out)["loss"], lines[-1]["test"]["loss"], "the model has the weights that were scored")
        self.assertEqual(len(hashes), 3)
        # Training itself does not see the average.
        self.assertEqual(*([line["train"]["loss"] for line in self.lines(f"{name}/metrics.jsonl")[:3]] for name in ("ema", "none")))

    def test_a_stopped_run_goes_on_to_the_same_bytes(self):
        for average in ('{name = "ema", decay = 0.9}', '{name = "swa", from = 2}'):
            self.write("run.toml", self.CONFIG.replace("@", average))
            self.succeed("train", "run.toml", "--out", "whole", "--overwrite")
            self.succeed("train", "run.toml", "--out", "parts", "--overwrite", "--set", "checkpoint.every_steps=8", "--set", "train.epochs=2")
            for late in self.folder.glob("parts/checkpoint-12.*"):  # 96 samples in batches of 16 are 6 steps
                late.unlink()
            self.succeed("train", "run.toml", "--out", "parts", "--resume", "--threads", "2")
            self.assertEqual(self.results("parts"), self.results("whole"), average)
            self.succeed("train", "run.toml", "--out", "parts", "--resume")  # nothing is left to train
            self.assertEqual(self.results("parts"), self.results("whole"), average)

    def test_parts_of_a_network(self):
        if not available("openmpi") or sanitized():
            self.skipTest("no Open MPI")
        text = self.CONFIG.replace("@", '"ema"')
        self.write("run.toml", text)
        self.succeed("train", "run.toml", "--out", "whole")
        for key in ("pipeline", "tensor"):
            self.write("part.toml", text + f"[parallel]\n{key} = 2\n")
            self.under_ranks("part.toml", 2, key)
            self.assertEqual(self.results(key), self.results("whole"), key)

    def test_what_is_refused(self):
        self.write("run.toml", self.CONFIG.replace("@", '"ema"'))
        self.refuse(2, "focal needs one class per sample, and data.augment.mixup makes two", "train", "run.toml", "--out", "run", "--set",
                    "train.loss=focal")


class LossesAndSchedules(Rungs):
    def test_one_result_everywhere(self):
        short = NOISY.replace("epochs = 60", "epochs = 4")
        plain = self.same_everywhere(short.replace('optimizer =', 'label_smoothing = 0.1\nschedule = "one-cycle"\noptimizer ='), "smooth")
        focal = self.same_everywhere(short.replace('optimizer =', 'loss = "focal"\nfocal_gamma = 3\n'
                                                   'schedule = {name = "plateau", patience = 1, factor = 0.5, min_gain = 1}\noptimizer ='), "focal")
        self.assertEqual([line["lr"] for line in focal[:4]], [0.05, 0.05, 0.025, 0.0125])
        self.assertLess(plain[3]["lr"], plain[1]["lr"])
        scored = json.loads(self.succeed("eval", "focal/model.safetensors", "--json").out)
        self.assertEqual(scored["loss"], focal[-1]["test"]["loss"])
        self.write("bad.toml", short.replace("optimizer =", 'loss = "squared-error"\nlabel_smoothing = 0.1\noptimizer ='))
        self.refuse(2, "label_smoothing is for cross-entropy, and the loss is squared-error", "train", "bad.toml", "--out", "bad")


class Habits(Rungs):
    """What people bring along: mixed tables, changed pictures, another model's layers, statistics of the whole batch."""

    def test_a_table_of_words_and_gaps(self):
        rows = [(("red", "green", "blue")[i % 3], "" if i % 5 == 0 else 20 + i % 9, i % 2) for i in range(60)]
        self.write("mixed.csv", "colour;age;kind\n" + "".join(f"{c};{a};{('cat', 'dog')[k]}\n" for c, a, k in rows))
        self.same_everywhere('[data]\nsource = "mixed.csv"\nlabel_column = "kind"\nmissing = "median"\nstandardise = true\n'
                             'split = {validation = 0.2}\n[model]\nlayers = [{linear = 5}, "tanh", {linear = 2}]\n'
                             '[train]\nbatch = 16\nslots = 4\nepochs = 2\n')

    def test_changed_pictures(self):
        self.write_digits(24)
        augment = "augment = {flip = true, shift = 1, rotate = 20, brightness = 0.1, contrast = 0.1, cutout = 2, mixup = 0.2}\n"
        self.same_everywhere(PICTURES.replace("[model]", augment + "[model]").replace("batch = 4", "batch = 8\nslots = 2"))

    def test_layers_of_another_model(self):
        first = NOISY.replace("epochs = 60", "epochs = 1")
        self.write("first.toml", first)
        self.succeed("train", "first.toml", "--out", "first")
        text = first.replace("[train]", 'init = {file = "first/model.safetensors", map = {"0" = "0"}}\n[train]\nfrozen = ["0"]')
        lines = self.same_everywhere(text)
        self.assertNotEqual(lines[-1]["weight_hash"], self.lines("first/metrics.jsonl")[-1]["weight_hash"])

    def test_statistics_of_the_whole_batch(self):
        text = NOISY.replace("epochs = 60", "epochs = 2").replace(
            'sizes = "2-9-2"', 'input = [2]\nlayers = [{linear = 9}, {batch_norm = {over = "@"}}, "relu", {linear = 2}]')
        hashes = {self.same_everywhere(text.replace("@", over), over)[-1]["weight_hash"] for over in ("slot", "batch")}
        self.assertEqual(len(hashes), 2)


if __name__ == "__main__":
    main()
