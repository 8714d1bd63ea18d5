"""Everyday training from TOML: weights. Each gives one metrics.jsonl on any number of threads and ranks, and on a device."""
import functools
import os
import struct
import subprocess
import unittest

from device_test import ENVIRONMENT, why_not
from program import PROGRAM, ProgramTest, main, npy, sanitized
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


if __name__ == "__main__":
    main()
