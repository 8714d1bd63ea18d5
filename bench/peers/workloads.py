"""The workloads of the comparison: what is trained, on what, and how. Everybody starts from the same weights and sees
the same batches in the same order (no shuffling), so losses can be compared and the work is the same."""
import dataclasses
import gzip
import math
import os
import pathlib

import numpy as np

FASHION = pathlib.Path(os.environ.get("LOCKSTEP_FASHION", "/usr/share/datasets/fashion-mnist"))


@dataclasses.dataclass(frozen=True)
class Workload:
    name: str
    layers: tuple  # (kind, numbers...): see torch_peer.build
    input: tuple
    batch: int
    optimizer: tuple  # ("sgd", lr, momentum) or ("adam", lr)
    samples: int
    loss: str = "cross-entropy"
    dtype: str = "float32"
    epochs: int = 1  # per timed run
    unit: str = "epoch"
    target: tuple = (0.0, 0.0)  # the ratio to reach on 1 and on 2 threads

    @property
    def units(self):
        """How many of `unit` one timed run holds."""
        steps = -(-self.samples // self.batch) * self.epochs
        return {"epoch": self.epochs, "step": steps, "run": 1}[self.unit]


RELU, FLATTEN, POOL = ("relu",), ("flatten",), ("max_pool2d", 2)


def conv_bn(out):
    return (("conv2d", out, 3, 1), ("batch_norm",), RELU)


TRAINING = (
    Workload("mlp-784-128-10", (("linear", 128), RELU, ("linear", 10)), (784,), 64, ("sgd", 0.05, 0.9), 60000,
             target=(1.15, 1.3)),
    Workload("mlp-784-1024-1024-10", (("linear", 1024), RELU, ("linear", 1024), RELU, ("linear", 10)), (784,), 128,
             ("sgd", 0.05, 0.9), 60000, target=(1.1, 1.1)),
    Workload("lenet5", (("conv2d", 6, 5, 2), RELU, POOL, ("conv2d", 16, 5, 0), RELU, POOL, FLATTEN, ("linear", 120), RELU,
                        ("linear", 84), RELU, ("linear", 10)), (1, 28, 28), 64, ("adam", 1e-3), 60000, target=(3.5, 3.5)),
    Workload("bn-cnn", (*conv_bn(32), *conv_bn(32), POOL, *conv_bn(64), *conv_bn(64), POOL, FLATTEN, ("linear", 128), RELU,
                        ("linear", 10)), (1, 28, 28), 128, ("adam", 1e-3), 128 * 24, unit="step", target=(1.25, 1.25)),
    Workload("digits-400-25-10", (("linear", 25), ("sigmoid",), ("linear", 10), ("sigmoid",)), (400,), 5000,
             ("sgd", 0.1, 0.0), 5000, loss="binary-cross-entropy", dtype="float64", epochs=60, unit="run",
             target=(1.5, 1.5)),
)


def by_name(name):
    return next(w for w in TRAINING if w.name == name)


def read_idx(path):
    raw = gzip.decompress(path.read_bytes())
    dims = [int.from_bytes(raw[4 + 4 * i:8 + 4 * i], "big") for i in range(raw[3])]
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(dims)


def load(workload):
    """x [samples, features] in the workload's precision, labels."""
    images = read_idx(FASHION / "train-images-idx3-ubyte.gz")[:workload.samples]
    labels = read_idx(FASHION / "train-labels-idx1-ubyte.gz")[:workload.samples].astype(np.int64)
    if math.prod(workload.input) == 400:  # the middle of the picture stands in for the 20x20 digits
        images = images[:, 4:24, 4:24]
    x = images.reshape(len(images), -1).astype(workload.dtype) / np.array(255, workload.dtype)
    return np.ascontiguousarray(x), labels


def shapes(workload):
    """(name, kind, shape) of every parameter, named as torch.nn.Sequential and Lockstep name them."""
    shape, result = list(workload.input), []
    for i, (kind, *n) in enumerate(workload.layers):
        if kind == "linear":
            result += [(f"{i}.weight", "weight", (n[0], math.prod(shape))), (f"{i}.bias", "bias", (n[0],))]
            shape = [n[0]]
        elif kind == "conv2d":
            out, kernel, pad = n
            result += [(f"{i}.weight", "weight", (out, shape[0], kernel, kernel)), (f"{i}.bias", "bias", (out,))]
            shape = [out, shape[1] + 2 * pad - kernel + 1, shape[2] + 2 * pad - kernel + 1]
        elif kind == "max_pool2d":
            shape = [shape[0], shape[1] // n[0], shape[2] // n[0]]
        elif kind == "batch_norm":
            result += [(f"{i}.weight", "one", (shape[0],)), (f"{i}.bias", "bias", (shape[0],)),
                       (f"{i}.running_mean", "bias", (shape[0],)), (f"{i}.running_var", "one", (shape[0],))]
        elif kind == "flatten":
            shape = [math.prod(shape)]
    return result


def initial_weights(workload):
    """Uniform in +-1/sqrt(fan_in), biases 0."""
    random, weights = np.random.default_rng(1), {}
    for name, kind, shape in shapes(workload):
        value = np.full(shape, 1.0 if kind == "one" else 0.0)
        if kind == "weight":
            value = random.uniform(-1, 1, shape) / math.sqrt(math.prod(shape[1:]))
        weights[name] = value.astype(workload.dtype)
    return weights
