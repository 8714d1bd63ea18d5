"""The workloads of the comparison: what is trained, on what, and how. Everybody starts from the same weights and sees
the same batches in the same order (no shuffling), so losses can be compared and the work is the same."""
import dataclasses
import gzip
import json
import math
import os
import pathlib
import sys

import numpy as np

PLACES = ([pathlib.Path(os.environ["LOCKSTEP_DATA_DIR"]) / "fashion-mnist"] if "LOCKSTEP_DATA_DIR" in os.environ else []) + [
    pathlib.Path("/usr/share/datasets/fashion-mnist"), pathlib.Path.home() / ".cache/lockstep/fashion-mnist"]
TESTED = 2000  # samples of the test set whose accuracy is compared


@dataclasses.dataclass(frozen=True)
class Workload:
    """A training. Times are given per `unit`: epoch, step, or the whole run."""
    name: str
    title: str
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
    share: float = 0.0  # of the machine's matrix product, to reach on one thread

    @property
    def steps_per_epoch(self):
        return -(-self.samples // self.batch)

    @property
    def units(self):
        """How many of `unit` one timed run holds."""
        return {"epoch": self.epochs, "step": self.steps_per_epoch * self.epochs, "run": 1}[self.unit]

    @property
    def flops(self):
        """Of the matrix products and convolutions in one unit: forward, weight gradient, and data gradient of all
        layers but the first. What is not a product (pooling, normalisation, the optimiser) counts as nothing."""
        products = [2 * n for n in multiplications(self)]
        per_sample = 2 * sum(products) + sum(products[1:])
        return per_sample * self.samples * self.epochs / self.units

    def quick(self):
        """The same in a few seconds: to see that everything runs, not to measure."""
        if self.batch == self.samples:
            return dataclasses.replace(self, epochs=min(self.epochs, 6))
        return dataclasses.replace(self, samples=min(self.samples, self.batch * (24 if self.unit == "epoch" else 3)))


@dataclasses.dataclass(frozen=True)
class Image:
    """One picture, many kernels, forward: no training, no loss."""
    name: str = "image"
    title: str = "one 1280x720 image, 128 kernels of 11x11, forward"
    height: int = 720
    width: int = 1280
    out: int = 128
    kernel: int = 11
    dtype: str = "float32"
    unit: str = "image"
    units: int = 1
    target: tuple = (1.7, 1.8)
    share: float = 0.80

    @property
    def flops(self):
        return 2 * self.out * self.kernel ** 2 * (self.height - self.kernel + 1) * (self.width - self.kernel + 1)

    def quick(self):
        return self

    def arrays(self):
        """The picture [height, width] and the kernels [out, kernel, kernel], by a rule that every language can follow."""
        x = scrambled(self.height * self.width).reshape(self.height, self.width)
        return x, scrambled(self.out * self.kernel ** 2).reshape(self.out, self.kernel, self.kernel)

    def probe(self, flat):
        """Some of the outputs [out, y, x]."""
        return [float(v) for v in flat[::self.probe_step]]

    probe_step = 1000003


def scrambled(count):
    """Numbers in [-0.5, 0.5): the upper 24 bits of i * 2654435761 mod 2^32."""
    bits = (np.arange(count, dtype=np.uint64) * np.uint64(2654435761)) & np.uint64(0xFFFFFFFF)
    return ((bits >> np.uint64(8)).astype(np.float32) / np.float32(2 ** 24) - np.float32(0.5)).astype(np.float32)


RELU, FLATTEN, POOL = ("relu",), ("flatten",), ("max_pool2d", 2)


def conv_bn(out):
    return (("conv2d", out, 3, 1), ("batch_norm",), RELU)


TRAINING = (
    Workload("mlp", "MLP 784-128-10, batch 64, SGD momentum, one epoch of Fashion-MNIST",
             (("linear", 128), RELU, ("linear", 10)), (784,), 64, ("sgd", 0.05, 0.9), 60000,
             target=(1.15, 1.3), share=0.80),
    Workload("mlp-wide", "MLP 784-1024-1024-10, batch 128, SGD momentum, one epoch",
             (("linear", 1024), RELU, ("linear", 1024), RELU, ("linear", 10)), (784,), 128,
             ("sgd", 0.05, 0.9), 60000, target=(1.1, 1.1), share=0.82),
    Workload("lenet5", "LeNet-5 (ReLU, max), batch 64, Adam, one epoch",
             (("conv2d", 6, 5, 2), RELU, POOL, ("conv2d", 16, 5, 0), RELU, POOL, FLATTEN, ("linear", 120), RELU,
              ("linear", 84), RELU, ("linear", 10)), (1, 28, 28), 64, ("adam", 1e-3), 60000,
             target=(3.5, 3.5), share=0.65),
    Workload("bn-cnn", "CNN with batch norm, batch 128, Adam, one step",
             (*conv_bn(32), *conv_bn(32), POOL, *conv_bn(64), *conv_bn(64), POOL, FLATTEN, ("linear", 128), RELU,
              ("linear", 10)), (1, 28, 28), 128, ("adam", 1e-3), 128 * 24, unit="step",
             target=(1.25, 1.25), share=0.75),
    Workload("digits", "400-25-10 full batch, 5000 samples, 60 iterations, float64",
             (("linear", 25), ("sigmoid",), ("linear", 10), ("sigmoid",)), (400,), 5000,
             ("sgd", 0.1, 0.0), 5000, loss="binary-cross-entropy", dtype="float64", epochs=60, unit="run",
             target=(1.5, 1.5), share=0.75),
)
ALL = (*TRAINING, Image())


def exact(workload, steps):
    """The first steps of a training in float64. Adam divides a gradient by its own size, so the rounding of float32 in
    the smallest gradients moves weights as far as any other: after two steps with batch normalisation losses of float32
    differ by 1e-3 although the work is the same. In float64 those of PyTorch and Lockstep agree to 1e-12."""
    return dataclasses.replace(workload, dtype="float64", samples=min(workload.samples, steps * workload.batch))


def described(text):
    """A workload of the ladder (cli/ladder/peers.cpp): JSON with layers, input, batch, optimizer, samples, dtype, epochs."""
    parts = json.loads(text)
    for key in ("input", "optimizer"):
        parts[key] = tuple(parts[key])
    return Workload("ladder", "the network of a ladder", layers=tuple(map(tuple, parts.pop("layers"))), **parts)


def by_name(name, quick=False):
    if name.startswith("{"):
        return described(name)
    found = next((w for w in ALL if w.name == name), None)
    if found is None:
        raise SystemExit(f"peers: no workload {name}; there are {', '.join(w.name for w in ALL)}")
    return found.quick() if quick else found


def read_idx(path):
    raw = gzip.decompress(path.read_bytes())
    dims = [int.from_bytes(raw[4 + 4 * i:8 + 4 * i], "big") for i in range(raw[3])]
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(dims)


def fashion():
    for place in PLACES:
        if (place / "train-images-idx3-ubyte.gz").exists():
            return place
    raise SystemExit("peers: no Fashion-MNIST; install the Debian package dataset-fashion-mnist")


def load(workload, part="train"):
    """x [samples, features] in the workload's precision, labels; `part` test: the samples whose accuracy is compared."""
    prefix, count = ("train", workload.samples) if part == "train" else ("t10k", TESTED)
    images = read_idx(fashion() / f"{prefix}-images-idx3-ubyte.gz")[:count]
    labels = read_idx(fashion() / f"{prefix}-labels-idx1-ubyte.gz")[:count].astype(np.int64)
    if math.prod(workload.input) == 400:  # the middle of the picture stands in for the 20x20 digits
        images = images[:, 4:24, 4:24]
    x = images.reshape(len(images), -1).astype(workload.dtype) / np.array(255, workload.dtype)
    return np.ascontiguousarray(x), labels


def walk(workload):
    """(index, kind, numbers, shape before, shape after) of every layer."""
    shape = list(workload.input)
    for i, (kind, *n) in enumerate(workload.layers):
        before = list(shape)
        if kind == "linear":
            shape = [n[0]]
        elif kind == "conv2d":
            out, kernel, pad = n
            shape = [out, shape[1] + 2 * pad - kernel + 1, shape[2] + 2 * pad - kernel + 1]
        elif kind == "max_pool2d":
            shape = [shape[0], shape[1] // n[0], shape[2] // n[0]]
        elif kind == "flatten":
            shape = [math.prod(shape)]
        yield i, kind, n, before, list(shape)


def multiplications(workload):
    """Of the forward pass of one sample, layer by layer; taps in the padding do not count."""
    for _, kind, n, before, after in walk(workload):
        if kind == "linear":
            yield math.prod(before) * n[0]
        elif kind == "conv2d":
            inside = [sum(0 <= out + tap - n[2] < before[axis] for out in range(after[axis]) for tap in range(n[1]))
                      for axis in (1, 2)]
            yield n[0] * before[0] * math.prod(inside)


def shapes(workload):
    """(name, kind, shape) of every parameter, named as torch.nn.Sequential and Lockstep name them."""
    result = []
    for i, kind, n, before, _ in walk(workload):
        if kind == "linear":
            result += [(f"{i}.weight", "weight", (n[0], math.prod(before))), (f"{i}.bias", "bias", (n[0],))]
        elif kind == "conv2d":
            result += [(f"{i}.weight", "weight", (n[0], before[0], n[1], n[1])), (f"{i}.bias", "bias", (n[0],))]
        elif kind == "batch_norm":
            result += [(f"{i}.weight", "one", (before[0],)), (f"{i}.bias", "bias", (before[0],)),
                       (f"{i}.running_mean", "bias", (before[0],)), (f"{i}.running_var", "one", (before[0],))]
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


def save_weights(folder, name, weights):
    """As folder/name.safetensors, in the workload's precision, named as Lockstep names them."""
    from safetensors.numpy import save_file
    save_file({k: np.ascontiguousarray(v) for k, v in weights.items()}, pathlib.Path(folder) / f"{name}.safetensors")


def serve(ready, commands):
    """Says who is there, then answers every line of standard input, a command and its numbers, with a line of JSON.
    `weights FOLDER` (a path, which may hold spaces) leaves the weights before and after a run there."""
    print(json.dumps({"ready": ready}), flush=True)
    for line in sys.stdin:
        command, _, rest = line.strip().partition(" ")
        arguments = [rest] if command == "weights" else map(int, rest.split())
        print(json.dumps(commands[command](*arguments)), flush=True)
