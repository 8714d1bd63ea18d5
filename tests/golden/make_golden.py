"""make_golden.py: writes golden.json beside it: losses, gradients and weights of small networks, computed by PyTorch in
float64. tests/train/golden_test.cpp trains the same networks with Lockstep and compares.

    python3 -m venv venv && venv/bin/pip install torch==2.4.1 "numpy<2" && venv/bin/python make_golden.py

The cases of recurrent layers were added with PyTorch 2.15.0, those of text with 2.4.1; the others kept their lines.

A case holds everything that both sides need: the network in the language of model files (network_json.hpp), the options
of training, and for each parameter how its first values are made. Inputs, targets and first weights come from one
integer formula (`noise`), so the file holds results only. Of a tensor it keeps the sum, the sum of magnitudes, a dot
product with noise (which sees a transposed tensor) and some of its elements.
"""
import json
import math
import pathlib

import torch
from torch import nn

STEPS = 5
INPUT, LABEL, TARGET, DOT, SAMPLE, PARAMETER = 1, 2, 3, 4, 5, 100  # streams of noise

# ---- the formula


def mix(stream, i):
    """A 32-bit hash of two numbers."""
    x = ((i + 1) * 0x9E3779B1 + stream * 0x85EBCA77) & 0xFFFFFFFF
    x = ((x ^ (x >> 16)) * 0x7FEB352D) & 0xFFFFFFFF
    x = ((x ^ (x >> 15)) * 0x846CA68B) & 0xFFFFFFFF
    return x ^ (x >> 16)


def noise(stream, count):
    """Numbers in [-1, 1), exact in float64."""
    return torch.tensor([mix(stream, i) / 2**31 - 1 for i in range(count)], dtype=torch.float64)


def number(scalar):
    """With 14 digits: the comparison asks for ten."""
    return float(f"{scalar.item():.14g}")


def summary(tensor, samples):
    flat = tensor.detach().to(torch.float64).reshape(-1)
    n = len(flat)
    picks = range(n) if n <= samples else [mix(SAMPLE, j) % n for j in range(samples)]
    return {"sum": number(flat.sum()), "abs": number(flat.abs().sum()), "max": number(flat.abs().max()),
            "dot": number((flat * noise(DOT, n)).sum()), "values": [number(flat[i]) for i in picks]}


# ---- layers: the JSON of model files, and what it means in PyTorch


def pair(v):
    return list(v) if isinstance(v, (tuple, list)) else [v, v]


def linear(out, bias=True, **more):
    return {"linear": {"out": out, "bias": bias, **more}}


def conv2d(out, kernel, stride=1, pad=0, dilation=1, groups=1, bias=True):
    return {"conv2d": {"out": out, "kernel": pair(kernel), "stride": pair(stride), "pad": pair(pad),
                       "dilation": pair(dilation), "groups": groups, "bias": bias}}


def pool(kind, window, stride=None, pad=0):
    return {kind: {"window": pair(window), "stride": pair(window if stride is None else stride), "pad": pair(pad)}}


def plain(name, **fields):
    return {name: fields}


def batch_norm(momentum=0.1, eps=1e-5):
    return {"batch_norm": {"momentum": momentum, "eps": eps}}


def layer_norm(eps=1e-5, **more):
    return {"layer_norm": {"eps": eps, **more}}


def recurrent(kind, hidden, layers=1, bidirectional=False, all_steps=False, bias=True, **more):
    return {kind: {"hidden": hidden, "layers": layers, "bidirectional": bidirectional, "all_steps": all_steps,
                   "bias": bias, **more}}


def residual(body, shortcut=()):
    return {"residual": {"body": list(body), "shortcut": list(shortcut)}}


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class Lengths:
    """The lengths of the sequences of a case; None: all have all steps."""
    current = None


class Carried:
    """The states of recurrent layers at the end of the window before; None: sequences are whole."""
    current = None


def recurrent_module(kind, f, features):
    """An LSTM, GRU or RNN over [samples, features, steps]. Its parameters keep PyTorch's names; a step behind the end of a
    sequence has the state of its end."""
    base = {"lstm": nn.LSTM, "gru": nn.GRU, "rnn": nn.RNN}[kind]

    class Recurrent(base):
        def forward(self, x):
            x = x.permute(0, 2, 1)
            lengths = Lengths.current if Lengths.current is not None else torch.full((len(x),), x.shape[1])
            packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
            y, state = super().forward(packed, None if Carried.current is None else Carried.current.get(self))
            if Carried.current is not None:
                Carried.current[self] = tuple(s.detach() for s in state) if kind == "lstm" else state.detach()
            state = state[0] if kind == "lstm" else state  # [layers * directions, samples, hidden]
            ends = state[-self.directions:].permute(1, 0, 2)  # of the last layer
            if not f["all_steps"]:
                return ends.reshape(len(x), -1)
            y = nn.utils.rnn.pad_packed_sequence(y, batch_first=True, total_length=x.shape[1])[0]
            kept = ends.clone()
            if self.directions == 2:  # behind the end the second direction has not begun
                kept[:, 1] = 0
            beyond = torch.arange(x.shape[1])[None, :] >= lengths[:, None]
            return torch.where(beyond[:, :, None], kept.reshape(len(x), 1, -1), y).permute(0, 2, 1)

    more = {"nonlinearity": "relu" if f["relu"] else "tanh"} if kind == "rnn" else {}
    module = Recurrent(features, f["hidden"], num_layers=f["layers"], bias=f["bias"], batch_first=True,
                       bidirectional=f["bidirectional"], **more)
    module.directions = 2 if f["bidirectional"] else 1
    return module


class EachStep(nn.Module):
    """A module over the features of every step of [samples, features, steps]. Its parameters keep their names."""

    def __init__(self, module):
        super().__init__()
        for name, parameter in module.named_parameters():
            self.register_parameter(name, parameter)
        self.module = [module]  # not registered a second time

    def forward(self, x):
        own = dict(self.named_parameters())
        return torch.func.functional_call(self.module[0], own, (x.permute(0, 2, 1),)).permute(0, 2, 1)


class Embedding(nn.Embedding):
    """Tokens [samples, steps] to [samples, features, steps]."""

    def forward(self, x):
        return super().forward(x.long()).permute(0, 2, 1)


class Positions(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(shape))

    def forward(self, x):
        return x + self.weight


class Attention(nn.MultiheadAttention):
    """Over [samples, features, steps]; a step behind the end of a sequence is no key."""

    def __init__(self, features, f):
        super().__init__(features, f["heads"], bias=f["bias"], batch_first=True)
        self.causal = f["causal"]

    def forward(self, x):
        x, steps = x.permute(0, 2, 1), x.shape[2]
        mask = torch.ones(steps, steps, dtype=torch.bool).triu(1) if self.causal else None
        ended = None
        if Lengths.current is not None and len(x) == len(Lengths.current):
            ended = torch.arange(steps)[None, :] >= Lengths.current[:, None]
        return super().forward(x, x, x, attn_mask=mask, key_padding_mask=ended, need_weights=True)[0].permute(0, 2, 1)


class Residual(nn.Module):
    def __init__(self, body, shortcut):
        super().__init__()
        self.body, self.shortcut = body, shortcut

    def forward(self, x):
        return self.body(x) + self.shortcut(x)


def module_of(layer, shape):
    """The module for one layer on samples of that shape."""
    (kind, f), = layer.items()
    if kind in ("linear", "layer_norm") and f.get("per_step"):
        return EachStep(nn.Linear(shape[0], f["out"], f["bias"]) if kind == "linear" else nn.LayerNorm(shape[0], f["eps"]))
    if kind == "embedding":
        return Embedding(f["vocabulary"], f["out"])
    if kind == "positions":
        return Positions(shape)
    if kind == "attention":
        return Attention(shape[0], f)
    if kind == "linear":
        return nn.Linear(math.prod(shape), f["out"], f["bias"])
    if kind == "conv2d":
        return nn.Conv2d(shape[0], f["out"], tuple(f["kernel"]), tuple(f["stride"]), tuple(f["pad"]),
                         tuple(f["dilation"]), f["groups"], f["bias"])
    if kind == "max_pool2d":
        return nn.MaxPool2d(tuple(f["window"]), tuple(f["stride"]), tuple(f["pad"]))
    if kind == "avg_pool2d":
        return nn.AvgPool2d(tuple(f["window"]), tuple(f["stride"]), tuple(f["pad"]), count_include_pad=True)
    if kind == "batch_norm":
        return (nn.BatchNorm2d if len(shape) == 3 else nn.BatchNorm1d)(shape[0], f["eps"], f["momentum"])
    if kind == "layer_norm":
        return nn.LayerNorm(shape, f["eps"])
    if kind in ("lstm", "gru", "rnn"):
        return recurrent_module(kind, f, shape[0])
    if kind == "residual":
        return Residual(sequential(f["body"], shape)[0], sequential(f["shortcut"], shape)[0])
    return {"relu": nn.ReLU, "tanh": nn.Tanh, "flatten": nn.Flatten, "softmax": lambda: nn.Softmax(dim=1),
            "gelu": lambda: nn.GELU(approximate="tanh"), "leaky_relu": lambda: nn.LeakyReLU(f["slope"]),
            "abs_tanh": lambda: Function(lambda x: torch.tanh(x).abs()),
            "sigmoid": lambda: Function(lambda x: torch.sigmoid(f["lambda"] * x))}[kind]()


def sequential(layers, shape):
    modules = []
    for layer in layers:
        modules.append(module_of(layer, shape).to(torch.float64))
        modules[-1].eval()  # looking at shapes must not touch running averages
        shape = tuple(modules[-1](torch.zeros((1, *shape), dtype=torch.float64)).shape[1:])
        modules[-1].train()
    return nn.Sequential(*modules), shape


def fill(model):
    """Sets every parameter by the formula; returns how, for the file."""
    recipe = []
    for i, (name, p) in enumerate(model.named_parameters()):
        batch_norm_scale = name.endswith("weight") and p.dim() == 1
        scale = 0.125 if p.dim() == 1 else 1 / math.sqrt(p[0].numel())
        offset = 1.0 if batch_norm_scale else 0.0
        with torch.no_grad():
            p.copy_((offset + scale * noise(PARAMETER + i, p.numel())).reshape(p.shape))
        recipe.append({"name": name, "shape": list(p.shape), "stream": PARAMETER + i, "scale": scale, "offset": offset})
    return recipe


# ---- training


def optimizer_of(model, spec, l2):
    """Decay and L2 act on weights of two or more dimensions only: not on biases, nor on batch normalisation."""
    decay = spec.get("weight_decay", l2)
    groups = [{"params": [p for p in model.parameters() if p.dim() > 1], "weight_decay": decay},
              {"params": [p for p in model.parameters() if p.dim() == 1], "weight_decay": 0}]
    betas = (spec.get("beta1"), spec.get("beta2"))
    if spec["name"] == "sgd":
        return torch.optim.SGD(groups, spec["lr"], momentum=spec["momentum"], nesterov=spec["nesterov"])
    if spec["name"] == "rmsprop":
        return torch.optim.RMSprop(groups, spec["lr"], alpha=spec["alpha"], eps=spec["eps"])
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[spec["name"]]
    return kind(groups, spec["lr"], betas=betas, eps=spec["eps"])


def scheduler_of(optimizer, s):
    lr = optimizer.param_groups[0]["lr"]
    if s["kind"] == "step":
        return torch.optim.lr_scheduler.StepLR(optimizer, s["every"], s["factor"])
    if s["kind"] == "cosine" and s["warmup_steps"] == 0:
        return torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS, eta_min=s["final"] * lr)
    if s["kind"] == "constant" and s["warmup_steps"] > 0:
        return torch.optim.lr_scheduler.LinearLR(optimizer, 1 / s["warmup_steps"], total_iters=s["warmup_steps"] - 1)
    return torch.optim.lr_scheduler.ConstantLR(optimizer, 1)


def sample_losses(case, z, labels, values):
    """One loss per sample, from the logits where the loss contains the last activation."""
    loss, outputs = case["loss"], z.shape[1]
    if "step_classes" in case:  # a loss for every step; those behind the end of a sequence do not count
        losses = nn.functional.cross_entropy(z, labels, reduction="none")
        if Lengths.current is None:
            return losses.reshape(-1)
        return losses[torch.arange(z.shape[2])[None, :] < Lengths.current[:, None]]
    if loss == "cross-entropy":
        return nn.functional.cross_entropy(z, labels, reduction="none")
    if case["classes"] > 0:
        values = labels[:, None].to(z.dtype) if outputs == 1 else nn.functional.one_hot(labels, outputs).to(z.dtype)
    if loss == "binary-cross-entropy":
        return nn.functional.binary_cross_entropy_with_logits(z, values, reduction="none").sum(1)
    return 0.5 * ((z - values) ** 2).sum(1)


def data_of(case, outputs):
    n, shape = case["samples"], case["network"]["input"]
    x = noise(INPUT, n * math.prod(shape)).reshape(n, *shape)
    if "vocabulary" in case:
        x = torch.tensor([mix(INPUT, i) % case["vocabulary"] for i in range(n * math.prod(shape))]).reshape(n, *shape)
    if "step_classes" in case:
        steps = shape[-1]
        return x, torch.tensor([mix(LABEL, i) % case["step_classes"] for i in range(n * steps)]).reshape(n, steps), None
    labels = torch.tensor([mix(LABEL, i) % max(case["classes"], 1) for i in range(n)])
    return x, labels, 0.5 * (noise(TARGET, n * outputs).reshape(n, outputs) + 1)


def run(case):
    """Trains the case for STEPS full-batch steps, or one epoch of batches, and puts the results into it. With windows
    (truncate) each of them is a step."""
    network, keep, keep_gradient = case["network"], case.pop("keep"), case.pop("keep_gradient")
    model, out_shape = sequential(network["layers"], tuple(network["input"]))
    case["parameters"] = fill(model)
    x, labels, values = data_of(case, math.prod(out_shape))
    last = next(iter(network["layers"][-1]))
    contained = {"binary-cross-entropy": "sigmoid", "cross-entropy": "softmax"}.get(case["loss"])
    body = model[:-1] if last == contained else model
    optimizer = optimizer_of(model, case["optimizer"], case["l2"])
    scheduler = scheduler_of(optimizer, case["schedule"])
    Lengths.current = torch.tensor(case["lengths"]) if "lengths" in case else None
    case["losses"] = []
    batch = case.get("batch", case["samples"])
    window = case.get("truncate", x.shape[-1])
    windows = x.shape[-1] // window
    for step in range((case["samples"] // batch if "batch" in case else STEPS) * windows):
        optimizer.zero_grad()
        own = slice(step * batch, (step + 1) * batch) if "batch" in case else slice(None)
        xs, targets = x[own], labels[own]
        if windows > 1:
            if step % windows == 0:
                Carried.current = {}
            first = step % windows * window
            xs, targets = xs[..., first:first + window], targets[..., first:first + window]
        losses = sample_losses(case, body(xs), targets, values if values is None else values[own])
        (losses.mean() if case["reduction"] == "mean" else losses.sum()).backward()
        case["losses"].append(number(losses.mean()))
        if step == 0 and keep_gradient:
            case["gradient"] = {}
            for name, p in model.named_parameters():
                g = p.grad + case["l2"] * p if p.dim() > 1 else p.grad
                case["gradient"][name] = summary(g, keep)
        if case["clip_norm"] > 0:
            clip(model, case["clip_norm"], always="batch" not in case)
        optimizer.step()
        scheduler.step()
    Carried.current = None
    case["weights"] = {name: summary(p, keep) for name, p in model.state_dict().items() if "num_batches" not in name}
    model.eval()
    outputs = model(x)
    if "step_classes" in case and Lengths.current is not None:  # steps behind the end are nobody's: 0 in the file
        outputs = outputs * (torch.arange(outputs.shape[2]) < Lengths.current[:, None])[:, None, :]
    case["outputs"] = summary(outputs, keep)
    Lengths.current = None


def clip(model, limit, always):
    """As nn.utils.clip_grad_norm_, without its 1e-6 in the denominator."""
    norm = torch.sqrt(sum((p.grad**2).sum() for p in model.parameters()))
    assert norm > limit or not always, "the case would not clip"
    for p in model.parameters():
        p.grad *= min(1.0, limit / norm)


# ---- the cases

ADAM = {"name": "adam", "lr": 1e-3, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8}
CONSTANT = {"kind": "constant", "warmup_steps": 0, "every": 10, "factor": 0.1, "final": 0.0}


def sgd(lr=0.1, momentum=0.0, nesterov=False):
    return {"name": "sgd", "lr": lr, "momentum": momentum, "nesterov": nesterov}


def case(name, shape, layers, **changes):
    made = {"name": name, "network": {"input": list(shape), "precision": "float64", "layers": layers}, "samples": 8,
            "classes": 10, "loss": "cross-entropy", "reduction": "mean", "optimizer": sgd(), "l2": 0.0, "clip_norm": 0.0,
            "schedule": CONSTANT, "slots": [1, 4], "keep": 4, "keep_gradient": True}
    made.update(changes)
    return made


def lenet(activation, pooling):
    return [conv2d(6, 5, pad=2), plain(activation), pool(pooling, 2), conv2d(16, 5), plain(activation), pool(pooling, 2),
            plain("flatten"), linear(120), plain(activation), linear(84), plain(activation), linear(10)]


def bn_cnn(bias):
    return [conv2d(4, 3, pad=1, bias=bias), batch_norm(), plain("relu"), conv2d(4, 3, pad=1, bias=bias), batch_norm(),
            plain("relu"), pool("max_pool2d", 2), conv2d(6, 3, pad=1, bias=bias), batch_norm(0.2, 1e-3), plain("relu"),
            pool("max_pool2d", 2), plain("flatten"), linear(12, bias), batch_norm(), plain("relu"), linear(10)]


def mlp(activation=plain("tanh"), outputs=3, last=()):
    return [linear(7), activation, linear(5), activation, linear(outputs), *last]


SIGMOID = {"sigmoid": {"lambda": 1.0}}


def network_cases():
    yield case("lenet5 tanh avg", (1, 28, 28), lenet("tanh", "avg_pool2d"), optimizer=ADAM, keep=16)
    yield case("lenet5 relu max", (1, 28, 28), lenet("relu", "max_pool2d"), optimizer=ADAM, keep=16)
    # A bias before a batch normalisation has the gradient 0; Adam would divide its rounding noise by itself.
    yield case("bn cnn", (1, 8, 8), bn_cnn(bias=False), optimizer=ADAM, slots=[1])
    yield case("bn cnn sgd", (1, 8, 8), bn_cnn(bias=True), slots=[1])
    awkward = [conv2d(6, (3, 2), stride=(2, 1), pad=(1, 2), dilation=(1, 2), groups=2), {"leaky_relu": {"slope": 0.1}},
               conv2d(6, 3, pad=2, dilation=2, groups=6, bias=False), plain("gelu"),
               pool("max_pool2d", 3, stride=2, pad=1), plain("abs_tanh"), pool("avg_pool2d", (2, 3), stride=(1, 2), pad=1),
               {"sigmoid": {"lambda": 1.75}}, plain("flatten"), linear(9, bias=False), plain("softmax"), linear(10)]
    yield case("awkward convolutions", (4, 9, 7), awkward)
    blocks = [conv2d(4, 3, pad=1), plain("relu"), residual([conv2d(4, 3, pad=1), plain("relu"), conv2d(4, 3, pad=1)]),
              plain("relu"), residual([conv2d(6, 3, stride=2, pad=1), plain("tanh")], [conv2d(6, 1, stride=2)]),
              plain("flatten"), linear(10)]
    yield case("residual", (2, 6, 6), blocks, optimizer=sgd(0.05, 0.9))
    normalised = [conv2d(4, 3, pad=1), layer_norm(), plain("relu"), pool("max_pool2d", 2), plain("flatten"),
                  layer_norm(1e-3), linear(12), layer_norm(), plain("tanh"), linear(10)]
    yield case("layer norm", (2, 6, 6), normalised, optimizer=ADAM)


def sequence_cases():
    """Every recurrent layer alone and stacked, in both directions; then with sequences that end early."""
    yield case("lstm", (3, 5), [recurrent("lstm", 4), linear(10)], optimizer=ADAM, keep=1)
    yield case("gru", (3, 5), [recurrent("gru", 4), linear(10)], optimizer=ADAM, keep=1)
    yield case("rnn", (3, 5), [recurrent("rnn", 4, relu=False), linear(10)], optimizer=ADAM, keep=1)
    yield case("rnn with ReLU, no bias", (3, 5), [recurrent("rnn", 4, bias=False, relu=True), linear(10)],
               keep=1)
    stacked = [recurrent("lstm", 3, layers=2, bidirectional=True, all_steps=True), plain("tanh"),
               recurrent("gru", 4, layers=2, bidirectional=True, all_steps=True),
               recurrent("rnn", 3, layers=2, bidirectional=True, relu=False), linear(10)]
    yield case("stacked recurrent layers", (3, 4), stacked, optimizer=ADAM, keep=1)
    lengths = [5, 1, 3, 2, 5, 4, 1, 3]
    for kind, more in (("lstm", {}), ("gru", {}), ("rnn", {"relu": False})):
        layers = [recurrent(kind, 3, layers=2, bidirectional=True, all_steps=True, **more),
                  recurrent(kind, 4, bidirectional=True, **more), linear(10)]
        yield case(f"{kind}, sequences that end", (3, 5), layers, optimizer=ADAM, lengths=lengths, keep=1)
    flat = [recurrent("lstm", 3, all_steps=True), plain("flatten"), linear(10)]
    yield case("lstm, all steps that end", (3, 5), flat, lengths=lengths, keep=1)


def block(heads, wide, width, causal=True):
    """Of a transformer: attention, then two products."""
    return [residual([layer_norm(per_step=True), {"attention": {"heads": heads, "causal": causal, "bias": True}}]),
            residual([layer_norm(per_step=True), linear(wide, per_step=True), plain("gelu"), linear(width, per_step=True)])]


def text_cases():
    """The layers of transformers, one by one and together; then the network of examples/char-gpt.toml, 20 steps of it."""
    end = [plain("flatten"), linear(10)]
    for name, causal, bias in (("attention", False, True), ("causal, no bias", True, False)):
        yield case(name, (6, 5), [{"attention": {"heads": 3, "causal": causal, "bias": bias}}, *end], keep=1)
    yield case("every step alike", (4, 5), [plain("positions"), layer_norm(per_step=True), linear(6, per_step=True),
                                           plain("gelu"), linear(3, bias=False, per_step=True), *end],
               optimizer=ADAM, keep=1)
    lengths = [5, 1, 3, 2, 5, 4, 1, 3]
    yield case("attention, lengths", (4, 5), [{"attention": {"heads": 2, "causal": False, "bias": True}},
                                                        recurrent("gru", 3), linear(10)], lengths=lengths, keep=1)
    tokens = [{"embedding": {"out": 8, "vocabulary": 11}}, plain("positions")]
    small = [*tokens, *block(2, 16, 8), layer_norm(per_step=True), linear(7, per_step=True)]
    text = {"vocabulary": 11, "step_classes": 7, "classes": 0, "keep": 1,
            "optimizer": ADAM | {"name": "adamw", "lr": 0.01, "weight_decay": 0.1}}
    yield case("transformer", (5,), small, **text)
    yield case("transformer, lengths", (5,), small, lengths=lengths, **text)
    yield case("lstm over tokens", (5,), [tokens[0], recurrent("lstm", 6, all_steps=True), linear(7, per_step=True)], **text)
    layers = [tokens[0], recurrent("lstm", 4, layers=2, all_steps=True), recurrent("gru", 5, all_steps=True),
              recurrent("rnn", 4, all_steps=True, relu=False), linear(7, per_step=True)]
    yield case("truncated windows", (6,), layers, truncate=2, **(text | {"keep_gradient": False}))
    gpt = [{"embedding": {"out": 128, "vocabulary": 80}}, plain("positions")]
    for _ in range(4):
        gpt += block(4, 512, 128)
    gpt += [layer_norm(per_step=True), linear(80, per_step=True)]
    yield case("character gpt", (64,), gpt, samples=240, batch=12, vocabulary=80, step_classes=80, classes=0, keep=0,
               keep_gradient=False, slots=[1], clip_norm=1.0,
               optimizer={"name": "adamw", "lr": 1e-3, "beta1": 0.9, "beta2": 0.99, "eps": 1e-8, "weight_decay": 0.1})


def loss_cases():
    yield case("softmax as last layer", (6,), mlp(last=[plain("softmax")]), classes=3)
    yield case("binary, one output", (6,), mlp(outputs=1, last=[SIGMOID]), classes=2, loss="binary-cross-entropy")
    yield case("binary, sigmoid outputs", (6,), mlp(last=[SIGMOID]), classes=3, loss="binary-cross-entropy")
    yield case("binary, real targets", (6,), mlp(last=[SIGMOID]), classes=0, loss="binary-cross-entropy")
    yield case("squared error", (6,), mlp(), classes=0, loss="squared-error")
    yield case("squared error of a sum", (6,), mlp(SIGMOID, last=[SIGMOID]), classes=3, loss="squared-error",
               reduction="sum")


def optimizer_cases():
    small = {"samples": 5, "classes": 3, "keep": 2, "keep_gradient": False}  # the gradient is that of the losses' cases
    yield case("sgd", (6,), mlp(), **small)
    yield case("momentum", (6,), mlp(), optimizer=sgd(0.1, 0.9), **small)
    yield case("nesterov", (6,), mlp(), optimizer=sgd(0.1, 0.9, True), **small)
    yield case("adam", (6,), mlp(), optimizer=ADAM | {"lr": 0.02, "beta1": 0.8, "beta2": 0.95, "eps": 1e-4}, **small)
    yield case("adamw", (6,), mlp(), optimizer=ADAM | {"name": "adamw", "lr": 0.02, "weight_decay": 0.1}, **small)
    yield case("rmsprop", (6,), mlp(), optimizer={"name": "rmsprop", "lr": 0.01, "alpha": 0.9, "eps": 1e-8}, **small)
    yield case("l2", (6,), mlp(), l2=0.3, **(small | {"keep_gradient": True}))
    yield case("adam with l2", (6,), mlp(), optimizer=ADAM | {"lr": 0.02}, l2=0.3, **small)
    yield case("clipping", (6,), mlp(), clip_norm=0.1, **small)
    yield case("cosine", (6,), mlp(), schedule=CONSTANT | {"kind": "cosine", "final": 0.1}, **small)
    yield case("warm-up", (6,), mlp(), schedule=CONSTANT | {"warmup_steps": 3}, **small)
    yield case("step", (6,), mlp(), schedule=CONSTANT | {"kind": "step", "every": 2, "factor": 0.25}, **small)


def main():
    torch.set_num_threads(1)
    cases = [*network_cases(), *sequence_cases(), *text_cases(), *loss_cases(), *optimizer_cases()]
    for c in cases:
        run(c)
    lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases)
    path = pathlib.Path(__file__).with_name("golden.json")
    path.write_text(f'{{"made_by":"make_golden.py, PyTorch {torch.__version__.split("+")[0]}, float64",'
                    f'"steps":{STEPS},"cases":[\n{lines}\n]}}\n')
    print(f"{path.name}: {len(cases)} cases, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
