"""What training with a library's kernels must agree with: naive, to a tolerance, not to the bit."""
import json

from program import ProgramTest

# Every layer that libraries have kernels for. Not with Adam: the bias in front of batch normalisation has a gradient that
# is 0 but for rounding, and Adam would make full steps of it.
LIBRARY_CNN = """\
[data]
source = "x.npy"
labels = "y.npy"
split = {validation = 10}
[model]
input = [1, 4, 4]
layers = [{conv2d = {out = 4, kernel = 3, pad = 1}}, "batch_norm", "relu", {max_pool2d = 2},
          {conv2d = {out = 6, kernel = 3, pad = 1}}, "tanh", {avg_pool2d = 2}, {linear = 3}]
[train]
batch = 15
slots = 2
epochs = 3
optimizer = {name = "sgd", lr = 0.1}
"""
# Of a loss, after 9 steps: rounding differs by some 1e-7 of each number, and a step multiplies that by no more than a few.
TOLERANCE = 1e-4


class LibraryTest(ProgramTest):
    def losses(self, backend, **options):
        self.succeed("train", "cnn.toml", "--backend", backend, "--out", backend, "--quiet", **options)
        rows = [json.loads(line) for line in (self.folder / backend / "metrics.jsonl").read_text().splitlines()]
        return [value for row in rows for value in (row["train"]["loss"], row["validation"]["loss"])]

    def close_to_naive(self, backend, **options):
        self.write_digits(50)
        self.write("cnn.toml", LIBRARY_CNN)
        expected, actual = self.losses("naive"), self.losses(backend, **options)
        self.assertEqual(len(actual), len(expected))
        self.assertLess(expected[-2], expected[0], "nothing was learnt")
        for one, other in zip(actual, expected):
            self.assertAlmostEqual(one, other, delta=TOLERANCE * abs(other))
