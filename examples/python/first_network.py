"""A first network: two moons, a hidden layer, and the same weights on one and on two threads."""
from __future__ import annotations

import lockstep as ls


def train(threads: int) -> ls.Network:
    data = ls.load_data("moons", count=1000, test_count=500, noise=0.1)
    net = ls.Network(2, [ls.Linear(32), ls.Tanh(), ls.Linear(2)])
    net.fit(data.train, validation=data.test, optimizer=ls.Adam(0.02), batch=32, epochs=20, seed=1, threads=threads,
            verbose=False)
    scores = net.evaluate(data.test)
    print(f"{threads} thread(s): accuracy {scores.accuracy:.3f}, weights {net.weight_hash[:16]}")
    return net


if __name__ == "__main__":
    assert train(1).weight_hash == train(2).weight_hash
