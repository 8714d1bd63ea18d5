"""deep_sigmoid_torch.py THREADS EPOCHS: PyTorch beside Lockstep on two networks of sigmoids and 1000 moons.

First 2-3-3-1 for EPOCHS epochs (Adam, batches of 50): a line of JSON says how it went. Then, for every line of standard
input, an epoch of 2-300-300-300-300-300-300-1 (plain descent, batches of 512): a line with its seconds.
lockstep reproduce openmp-cuda-pytorch runs it."""
import json
import math
import sys
import time

import torch

THREADS, EPOCHS = map(int, sys.argv[1:3])


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


def epoch(net, loss, optimizer, x, y, batch):
    order = torch.randperm(len(x))
    for ids in order.split(batch):
        optimizer.zero_grad()
        loss(net(x[ids]), y[ids]).backward()
        optimizer.step()


def main():
    torch.set_num_threads(THREADS)
    torch.manual_seed(1)
    x, y = moons(1000, 1)
    new_x, new_y = moons(1000, 2)
    net = network(2, 3, 3, 1)
    optimizer, loss = torch.optim.Adam(net.parameters(), lr=0.05), torch.nn.BCELoss()
    reached, start = 0, time.perf_counter()
    accuracy = 0.0
    for e in range(EPOCHS):
        epoch(net, loss, optimizer, x, y, 50)
        with torch.no_grad():
            accuracy = ((net(new_x) > 0.5) == (new_y > 0.5)).float().mean().item()
        if accuracy >= 0.99 and reached == 0:
            reached = e + 1
    print(json.dumps({"version": torch.__version__, "reached": reached, "accuracy": accuracy, "seconds": time.perf_counter() - start}), flush=True)
    net = network(2, 300, 300, 300, 300, 300, 300, 1)
    optimizer, loss = torch.optim.SGD(net.parameters(), lr=0.1), torch.nn.MSELoss()
    epoch(net, loss, optimizer, x, y, 512)
    for _ in sys.stdin:
        start = time.perf_counter()
        epoch(net, loss, optimizer, x, y, 512)
        print(json.dumps({"seconds": time.perf_counter() - start}), flush=True)


main()
