"""deep_sigmoid_torch.py THREADS EPOCHS VARIANT...: PyTorch beside Lockstep on two networks of sigmoids and 1000 moons.

First 2-3-3-1 for EPOCHS epochs (Adam, batches of 50), then an epoch or two of 2-300-300-300-300-300-300-1 (plain descent, batches
of 512) by every VARIANT: eager, fused (the optimiser in one kernel), compile (torch.compile). A line of JSON says how the first
went, how long the variants took and which was the fastest. Then, for every line of standard input, an epoch by the fastest: a line
with its seconds. A variant that this PyTorch cannot do is left out. lockstep reproduce openmp-cuda-pytorch runs it."""
import json
import math
import sys
import time

import torch

THREADS, EPOCHS = map(int, sys.argv[1:3])
VARIANTS = sys.argv[3:] or ["eager"]


def moons(count, seed):
    """Two half circles with normal noise of deviation 0.1."""
    generator = torch.Generator().manual_seed(seed)
    turn = math.pi * torch.rand(count, generator=generator)
    label = torch.arange(count) % 2
    upper = torch.stack([torch.cos(turn), torch.sin(turn)], 1)
    lower = torch.stack([1 - torch.cos(turn), 0.5 - torch.sin(turn)], 1)
    points = torch.where(label[:, None] == 0, upper, lower) + 0.1 * torch.randn(count, 2, generator=generator)
    return points, label[:, None].float()


def network(*sizes):
    layers = []
    for i, o in zip(sizes, sizes[1:]):
        linear = torch.nn.Linear(i, o)
        torch.nn.init.xavier_normal_(linear.weight)
        torch.nn.init.zeros_(linear.bias)
        layers += [linear, torch.nn.Sigmoid()]
    return torch.nn.Sequential(*layers)


def epoch(loss_of, optimizer, x, y, batch):
    order = torch.randperm(len(x))
    for ids in order.split(batch):
        optimizer.zero_grad()
        loss_of(x[ids], y[ids]).backward()
        optimizer.step()


def learn_moons(x, y, new_x, new_y):
    net = network(2, 3, 3, 1)
    optimizer, loss = torch.optim.Adam(net.parameters(), lr=0.05), torch.nn.BCELoss()
    reached, accuracy, start = 0, 0.0, time.perf_counter()
    for e in range(EPOCHS):
        epoch(lambda a, b: loss(net(a), b), optimizer, x, y, 50)
        with torch.no_grad():
            accuracy = ((net(new_x) > 0.5) == (new_y > 0.5)).float().mean().item()
        if accuracy >= 0.99 and reached == 0:
            reached = e + 1
    return {"reached": reached, "accuracy": accuracy, "epochs": EPOCHS, "seconds": time.perf_counter() - start}


def deep_epoch(variant, x, y):
    """A function that trains the deep network for one more epoch."""
    net, loss = network(2, 300, 300, 300, 300, 300, 300, 1), torch.nn.MSELoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, **({} if variant == "eager" else {"fused": True}))

    def loss_of(a, b):
        return loss(net(a), b)
    if variant == "compile":
        loss_of = torch.compile(loss_of)
    return lambda: epoch(loss_of, optimizer, x, y, 512)


def seconds_of(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main():
    torch.set_num_threads(THREADS)
    torch.manual_seed(1)
    x, y = moons(1000, 1)
    answer = learn_moons(x, y, *moons(1000, 2))
    tried, runs = {}, {}
    for variant in VARIANTS:
        try:
            run = deep_epoch(variant, x, y)
            run()
            tried[variant], runs[variant] = min(seconds_of(run) for _ in range(3)), run
        except Exception as error:  # an old PyTorch, or no compiler
            if variant == "eager":
                raise
            print(f"{variant}: {error}", file=sys.stderr)
    best = min(tried, key=tried.get)
    print(json.dumps({"version": torch.__version__, "variant": best, "tried": tried} | answer), flush=True)
    for _ in sys.stdin:
        print(json.dumps({"seconds": seconds_of(runs[best])}), flush=True)


main()
