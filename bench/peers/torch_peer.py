"""torch_peer.py WORKLOAD VARIANT THREADS [quick]: PyTorch as a contender. Reads commands from standard input (`losses
N`, `outputs`, `run`, `weights FOLDER`) and answers each with one line of JSON. Variants: eager, fused (optimiser),
channels_last (with it), compile (with it)."""
import math
import sys
import time

import torch
from torch import nn

import workloads


class Residual(nn.Module):
    """body(x) + shortcut(x); an empty shortcut is x itself."""

    def __init__(self, body, shortcut):
        super().__init__()
        self.body, self.shortcut = body, shortcut

    def forward(self, x):
        return self.body(x) + self.shortcut(x)


def recurrence(kind, hidden, features):
    """The last state of an LSTM or GRU over [samples, features, steps]."""
    class Recurrence({"lstm": nn.LSTM, "gru": nn.GRU}[kind]):
        def forward(self, x):
            return super().forward(x.transpose(1, 2))[0][:, -1]

    return Recurrence(features, hidden, batch_first=True)


def module_of(kind, n, shape):
    if kind in workloads.GATES:
        return recurrence(kind, n[0], shape[0])
    if kind == "linear":
        return nn.Linear(math.prod(shape), n[0])
    if kind == "conv2d":
        out, kernel, pad, *stride = n
        return nn.Conv2d(shape[0], out, kernel, *stride, padding=pad)
    if kind == "residual":
        return Residual(*(sequence(layers, shape) for layers in n))
    if kind == "batch_norm":
        return nn.BatchNorm2d(shape[0])
    return {"relu": nn.ReLU, "sigmoid": nn.Sigmoid, "tanh": nn.Tanh, "flatten": nn.Flatten, "max_pool2d": nn.MaxPool2d,
            "avg_pool2d": nn.AvgPool2d}[kind](*n)


def sequence(layers, shape):
    return nn.Sequential(*(module_of(kind, n, before) for _, kind, n, before, _ in workloads.walk(layers, shape)))


def build(workload):
    return sequence(workload.layers, workload.input).to(getattr(torch, workload.dtype))


def image(workload, variant):
    picture, kernels = (torch.from_numpy(a) for a in workload.arrays())
    x = picture[None, None]
    conv = nn.Conv2d(1, workload.out, workload.kernel, bias=False)
    conv.weight.data = kernels[:, None].contiguous()
    if variant == "channels_last":
        x, conv = x.to(memory_format=torch.channels_last), conv.to(memory_format=torch.channels_last)
    call = torch.compile(conv) if variant == "compile" else conv
    with torch.inference_mode():
        call(x)
    first_step = workloads.seconds_since_start()

    def run():
        with torch.inference_mode():
            start = time.perf_counter()
            call(x)
            return {"seconds": time.perf_counter() - start}

    def outputs():
        with torch.inference_mode():
            return {"outputs": workload.probe(call(x)[0].contiguous().flatten().numpy())}
    return first_step, {"run": run, "outputs": outputs}


def training(workload, variant):
    x, labels = (torch.from_numpy(a) for a in workloads.load(workload))
    x = x.reshape(len(x), *workload.input)
    test_x, test_labels = (torch.from_numpy(a) for a in workloads.load(workload, "test"))
    test_x = test_x.reshape(len(test_x), *workload.input)
    weights = {k: torch.from_numpy(v) for k, v in workloads.initial_weights(workload).items()}
    net = build(workload)
    if variant == "channels_last" and len(workload.input) == 3:
        net, x = net.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
    if workload.loss == "cross-entropy":
        loss_of, body, targets = nn.CrossEntropyLoss(), net, labels
    else:  # summed over the outputs, averaged over samples; from the logits, as Lockstep folds the last sigmoid
        body, bce = net[:-1], nn.BCEWithLogitsLoss(reduction="sum")
        targets = nn.functional.one_hot(labels, 10).to(x.dtype)
        loss_of = lambda z, t: bce(z, t) / len(z)  # noqa: E731
    call = torch.compile(body) if variant == "compile" else body
    fused = variant != "eager"

    def begin():
        net.load_state_dict(weights, strict=False)
        kind, lr, *momentum = workload.optimizer
        if kind == "adam":
            return torch.optim.Adam(net.parameters(), lr, fused=fused)
        return torch.optim.SGD(net.parameters(), lr, momentum[0], fused=fused)

    per_epoch = -(-len(x) // workload.batch)

    def steps(optimizer, count):
        for step in range(count):
            first = step % per_epoch * workload.batch
            batch = slice(first, first + workload.batch)
            optimizer.zero_grad(set_to_none=True)
            loss = loss_of(call(x[batch]), targets[batch])
            loss.backward()
            optimizer.step()
            yield loss

    def losses(count):
        return {"losses": [float(loss.detach()) for loss in steps(begin(), count)]}

    def run():
        optimizer = begin()
        start = time.perf_counter()
        for _ in range(workload.epochs):
            total = 0.0
            for loss in steps(optimizer, per_epoch):
                total += loss.detach()  # stays a tensor: no wait for a number in every step
        total = float(total)
        seconds, memory = time.perf_counter() - start, workloads.peak_memory()
        with torch.no_grad():
            correct = (net.eval()(test_x).argmax(1) == test_labels).double().mean()
            net.train()
        return {"seconds": seconds, "loss": total / per_epoch, "accuracy": float(correct), "memory": memory}

    def save_weights(folder):
        workloads.save_weights(folder, "initial", {k: v.numpy() for k, v in weights.items()})
        answer = run()
        trained = {k: v.detach().numpy() for k, v in net.state_dict().items() if k in weights}
        workloads.save_weights(folder, "trained", trained)
        return answer
    losses(1)  # warm up, and compile
    first_step = workloads.seconds_since_start()
    if not workload.wide:
        losses(1)
    return first_step, {"run": run, "losses": losses, "weights": save_weights}


def main():
    name, variant, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    torch.set_num_threads(threads)
    workload = workloads.by_name(name, "quick" in sys.argv[4:])
    first_step, commands = image(workload, variant) if name == "image" else training(workload, variant)
    commands["exact_losses"] = lambda count: training(workloads.exact(workload), "eager")[1]["losses"](count)
    workloads.serve(f"torch {torch.__version__}", first_step, commands)


if __name__ == "__main__":
    main()
