"""The workloads of the comparison: what is trained, on what, and how. Everybody starts from the same weights and sees
the same batches in the same order (no shuffling), so losses can be compared and the work is the same."""
import dataclasses
import gzip
import json
import math
import os
import pathlib
import sys
import time

import numpy as np

FOLDERS = [os.environ["LOCKSTEP_DATA_DIR"]] if "LOCKSTEP_DATA_DIR" in os.environ else []
FOLDERS += ["/usr/share/datasets", pathlib.Path.home() / ".cache/lockstep"]
PLACES = [pathlib.Path(folder) / "fashion-mnist" for folder in FOLDERS]
BEGAN = "PEERS_BEGAN"  # in the environment of a peer: time.monotonic() when its process was started


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
    memory: float = 0.0  # of PyTorch's peak, at most
    start: float = 0.0  # seconds from the start of the process to the end of the first step, at most
    source: str = "fashion-mnist"  # or "drawn": by rule, see drawn()
    tested: int = 2000  # samples whose accuracy is compared
    checked: int = 0  # batch of the comparison in float64 where the whole one takes too long (wide networks)

    @property
    def classes(self):
        return [*walk(self.layers, self.input)][-1][-1][0]

    @property
    def wide(self):
        return self.checked > 0

    @property
    def first_steps(self):
        """Whose losses are compared in float32."""
        return 1 if self.wide else 3

    @property
    def in_bytes(self):
        """Pictures are bytes, as users have them, and converted on the way into the network; tables are numbers."""
        return self.dtype == "float32" and (self.source == "fashion-mnist" or len(self.input) > 1)

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
        steps = 1 if self.wide else 24 if self.unit == "epoch" else 3
        return dataclasses.replace(self, samples=min(self.samples, self.batch * steps), tested=min(self.tested, 500))


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
    memory: float = 0.0
    start: float = 0.0
    wide: bool = False

    @property
    def flops(self):
        return 2 * self.out * self.kernel ** 2 * (self.height - self.kernel + 1) * (self.width - self.kernel + 1)

    def quick(self):
        return self

    def arrays(self):
        """The picture [height, width] and the kernels [out, kernel, kernel], by a rule that every language can
        follow."""
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


GATES = {"lstm": 4, "gru": 3}  # recurrences over [features, steps]
RELU, FLATTEN, POOL, TANH, NORM = ("relu",), ("flatten",), ("max_pool2d", 2), ("tanh",), ("batch_norm",)


def conv_bn(out):
    return (("conv2d", out, 3, 1), NORM, RELU)


def resnet(channels, blocks):
    """For pictures of 32x32: a convolution, groups of blocks, the mean of every map, ten classes. Where a block halves
    the maps, its shortcut is a convolution of 1x1."""
    layers, width = [*conv_bn(channels[0])], channels[0]
    for group, out in enumerate(channels):
        for block in range(blocks):
            stride = 2 if group and not block else 1
            body = (("conv2d", out, 3, 1, stride), NORM, RELU, ("conv2d", out, 3, 1), NORM)
            shortcut = (("conv2d", out, 1, 0, stride), NORM) if stride > 1 or out != width else ()
            layers += [("residual", body, shortcut), RELU]
            width = out
    return (*layers, ("avg_pool2d", 32 >> (len(channels) - 1)), FLATTEN, ("linear", 10))


def vgg(*plan):
    layers = [conv_bn(out) if out else (POOL,) for out in plan]
    return (*(layer for part in layers for layer in part), FLATTEN, ("linear", 10))


def mlp(inputs, hidden, depth, outputs, activation):
    """(layers, input): `depth` hidden layers of the same width."""
    return (*((("linear", hidden), activation) * depth), ("linear", outputs)), (inputs,)


TRAINING = (
    Workload("mlp", "MLP 784-128-10, batch 64, SGD momentum, one epoch of Fashion-MNIST",
             (("linear", 128), RELU, ("linear", 10)), (784,), 64, ("sgd", 0.05, 0.9), 60000,
             target=(1.15, 1.5), share=0.80, memory=0.25),
    Workload("mlp-wide", "MLP 784-1024-1024-10, batch 128, SGD momentum, one epoch",
             (("linear", 1024), RELU, ("linear", 1024), RELU, ("linear", 10)), (784,), 128,
             ("sgd", 0.05, 0.9), 60000, target=(1.1, 1.1), share=0.82, memory=0.25),
    Workload("lenet5", "LeNet-5 (ReLU, max), batch 64, Adam, one epoch",
             (("conv2d", 6, 5, 2), RELU, POOL, ("conv2d", 16, 5, 0), RELU, POOL, FLATTEN, ("linear", 120), RELU,
              ("linear", 84), RELU, ("linear", 10)), (1, 28, 28), 64, ("adam", 1e-3), 60000,
             target=(3.5, 3.5), share=0.65, memory=0.25, start=0.5),
    Workload("bn-cnn", "CNN with batch norm, batch 128, Adam, one step",
             (*conv_bn(32), *conv_bn(32), POOL, *conv_bn(64), *conv_bn(64), POOL, FLATTEN, ("linear", 128), RELU,
              ("linear", 10)), (1, 28, 28), 128, ("adam", 1e-3), 128 * 24, unit="step",
             target=(1.25, 1.25), share=0.75),
    Workload("digits", "400-25-10 full batch, 5000 samples, 60 iterations, float64",
             (("linear", 25), ("sigmoid",), ("linear", 10), ("sigmoid",)), (400,), 5000,
             ("sgd", 0.1, 0.0), 5000, loss="binary-cross-entropy", dtype="float64", epochs=60, unit="run",
             target=(1.5, 1.5), share=0.75),
    Workload("lstm", "LSTM of 128 over 28 steps of 28, batch 64, Adam, one step",
             (("lstm", 128), ("linear", 10)), (28, 28), 64, ("adam", 1e-3), 64 * 100, unit="step", target=(2.0, 2.0)),
    Workload("gru", "GRU of 128 over 28 steps of 28, batch 64, Adam, one step",
             (("gru", 128), ("linear", 10)), (28, 28), 64, ("adam", 1e-3), 64 * 100, unit="step", target=(2.0, 2.0)),
    Workload("lstm-wide", "LSTM of 512 over 64 steps of 512, batch 32, Adam, one step",
             (("lstm", 512), ("linear", 10)), (512, 64), 32, ("adam", 1e-3), 32 * 4, unit="step", source="drawn",
             target=(1.2, 1.2), tested=64, checked=4),
    Workload("tabular", "tabular 28-300-300-300-300-300-2, tanh, batch 100, SGD momentum, one step",
             *mlp(28, 300, 5, 2, TANH), 100, ("sgd", 0.01, 0.9), 100 * 500, unit="step", source="drawn",
             target=(2.0, 2.0), memory=0.25),
    Workload("resnet20", "ResNet-20, 3x32x32, batch 128, SGD momentum, one step",
             resnet((16, 32, 64), 3), (3, 32, 32), 128, ("sgd", 0.01, 0.9), 128 * 6, unit="step", source="drawn",
             target=(1.4, 1.4), memory=0.5, tested=256, checked=4),
    Workload("vgg11", "VGG-11 with batch norm, 3x32x32, batch 64, SGD momentum, one step",
             vgg(64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0), (3, 32, 32), 64, ("sgd", 0.01, 0.9), 64 * 4,
             unit="step", source="drawn", target=(1.15, 1.15), memory=0.5, tested=128, checked=4),
    Workload("resnet18", "ResNet-18 for 3x32x32, batch 64, SGD momentum, one step",
             resnet((64, 128, 256, 512), 2), (3, 32, 32), 64, ("sgd", 0.01, 0.9), 64 * 2, unit="step", source="drawn",
             target=(1.15, 1.15), memory=0.5, tested=64, checked=4),
)
ALL = (*TRAINING, Image())


def exact(workload):
    """Its first batch again and again, in float64. Adam divides a gradient by its own size, so the rounding of float32
    in the smallest gradients moves weights as far as any other: after two steps with batch normalisation losses of
    float32 differ by 1e-3 although the work is the same. In float64 those of PyTorch and Lockstep agree to 1e-12."""
    batch = workload.checked or workload.batch
    return dataclasses.replace(workload, dtype="float64", batch=batch, samples=batch, tested=8)


def tuples(value):
    return tuple(map(tuples, value)) if isinstance(value, list) else value


def described(text):
    """A workload as JSON, of the ladder (cli/ladder/peers.cpp: layers, input, batch, optimizer, samples, dtype, epochs)
    or of scaling.py."""
    parts = {key: tuples(value) for key, value in json.loads(text).items()}
    return Workload(**{"name": "ladder", "title": "the network of a ladder"} | parts)


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


def drawn(workload, part):
    """Every class has a picture, and a sample is a quarter of that and three quarters of noise; all of it by a rule
    that depends on nothing but positions. Bytes, and the labels."""
    features, classes = math.prod(workload.input), workload.classes
    count, first = (workload.samples, 0) if part == "train" else (workload.tested, 1 << 16)
    labels = hashed(np.arange(first, first + count) + (1 << 30)) % classes
    noise = hashed(np.arange(first, first + count)[:, None] * features + np.arange(features)) >> 24
    pictures = hashed(np.arange(classes * features) + (1 << 31)).reshape(classes, features) >> 24
    return ((3 * noise + pictures[labels]) >> 2).astype(np.uint8), labels.astype(np.int64)


def hashed(numbers):
    """32 bits that look drawn at random."""
    x = numbers.astype(np.uint32)
    for shift, factor in ((16, 0x7feb352d), (15, 0x846ca68b)):
        x = (x ^ (x >> np.uint32(shift))) * np.uint32(factor)
    return x ^ (x >> np.uint32(16))


def load(workload, part="train"):
    """x [samples, features] in the workload's precision, labels; `part` test: the samples whose accuracy is
    compared."""
    if workload.source == "drawn":
        images, labels = drawn(workload, part)
    else:
        prefix, count = ("train", workload.samples) if part == "train" else ("t10k", workload.tested)
        images = read_idx(fashion() / f"{prefix}-images-idx3-ubyte.gz")[:count]
        labels = read_idx(fashion() / f"{prefix}-labels-idx1-ubyte.gz")[:count].astype(np.int64)
        if math.prod(workload.input) == 400:  # the middle of the picture stands in for the 20x20 digits
            images = images[:, 4:24, 4:24]
    x = images.reshape(len(images), -1).astype(workload.dtype)
    if workload.source == "drawn" and len(workload.input) == 1:  # a table: numbers around 0
        x = x / np.array(64, workload.dtype) - np.array(2, workload.dtype)
    else:
        x = x / np.array(255, workload.dtype)
    return np.ascontiguousarray(x), labels


def walk(layers, shape, prefix=""):
    """(name, kind, numbers, shape before, shape after) of every layer; those within a residual block are not
    visited."""
    for i, (kind, *n) in enumerate(layers):
        before = list(shape)
        if kind == "linear" or kind in GATES:  # a recurrence gives its last state
            shape = [n[0]]
        elif kind == "conv2d":
            out, kernel, pad, *stride = n
            shape = [out, *((extent + 2 * pad - kernel) // (stride or [1])[0] + 1 for extent in shape[1:])]
        elif kind in ("max_pool2d", "avg_pool2d"):
            shape = [shape[0], shape[1] // n[0], shape[2] // n[0]]
        elif kind == "flatten":
            shape = [math.prod(shape)]
        elif kind == "residual":
            shape = [*walk(n[0], shape)][-1][-1]
        yield f"{prefix}{i}", kind, n, before, list(shape)


def every_layer(layers, shape, prefix=""):
    """As walk, with the layers of residual blocks instead of the blocks."""
    for name, kind, n, before, after in walk(layers, shape, prefix):
        if kind == "residual":
            yield from every_layer(n[0], before, f"{name}.body.")
            yield from every_layer(n[1], before, f"{name}.shortcut.")
        else:
            yield name, kind, n, before, after


def has(workload, kind):
    return any(layer[1] == kind for layer in every_layer(workload.layers, workload.input))


def multiplications(workload):
    """Of the forward pass of one sample, layer by layer; taps in the padding do not count."""
    for _, kind, n, before, after in every_layer(workload.layers, workload.input):
        if kind == "linear":
            yield math.prod(before) * n[0]
        elif kind in GATES:
            yield GATES[kind] * n[0] * math.prod(before)
            yield GATES[kind] * n[0] * n[0] * before[1]
        elif kind == "conv2d":
            out, kernel, pad, *stride = n
            inside = [sum(0 <= at * (stride or [1])[0] + tap - pad < before[axis]
                          for at in range(after[axis]) for tap in range(kernel)) for axis in (1, 2)]
            yield out * before[0] * math.prod(inside)


def shapes(workload):
    """(name, kind, shape) of every parameter, named as torch.nn.Sequential and Lockstep name them."""
    result = []
    for name, kind, n, before, _ in every_layer(workload.layers, workload.input):
        if kind == "linear":
            result += [(f"{name}.weight", "weight", (n[0], math.prod(before))), (f"{name}.bias", "bias", (n[0],))]
        elif kind in GATES:
            rows = GATES[kind] * n[0]
            result += [(f"{name}.weight_ih_l0", "weight", (rows, before[0])), (f"{name}.weight_hh_l0", "weight", (rows, n[0])),
                       (f"{name}.bias_ih_l0", "bias", (rows,)), (f"{name}.bias_hh_l0", "bias", (rows,))]
        elif kind == "conv2d":
            result += [(f"{name}.weight", "weight", (n[0], before[0], n[1], n[1])), (f"{name}.bias", "bias", (n[0],))]
        elif kind == "batch_norm":
            result += [(f"{name}.weight", "one", (before[0],)), (f"{name}.bias", "bias", (before[0],)),
                       (f"{name}.running_mean", "bias", (before[0],)), (f"{name}.running_var", "one", (before[0],))]
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


def peak_memory():
    """Of this process so far, in bytes."""
    return peak_memory_of("self")


def peak_memory_of(process):
    status = pathlib.Path(f"/proc/{process}/status").read_text()
    return 1024 * int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))


def seconds_since_start():
    """Since run.py started this process; nothing where somebody else did."""
    return time.monotonic() - float(os.environ[BEGAN]) if BEGAN in os.environ else None


def serve(ready, first_step, commands):
    """Says who is there and when its first step was done, then answers every line of standard input, a command and its
    numbers, with a line of JSON. `weights FOLDER` (a path, which may hold spaces) leaves the weights before and after a
    run there."""
    print(json.dumps({"ready": ready, "first_step": first_step}), flush=True)
    for line in sys.stdin:
        command, _, rest = line.strip().partition(" ")
        arguments = [rest] if command == "weights" else map(int, rest.split())
        print(json.dumps(commands[command](*arguments)), flush=True)
