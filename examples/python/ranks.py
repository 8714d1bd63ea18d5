"""The same training on any number of ranks: python ranks.py, or mpirun -n 4 python ranks.py. One hash."""
from __future__ import annotations

import numpy as np

import lockstep as ls


def main() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(2000, 20)).astype(np.float32)
    y = (x[:, 0] * x[:, 1] > 0).astype(np.int64)
    net = ls.Network(20, [ls.Linear(64), ls.ReLU(), ls.Linear(2)])
    net.fit(x, y, optimizer=ls.Adam(1e-3), batch=128, epochs=3, seed=1, verbose=False)
    if ls.rank() == 0:
        print(f"{ls.ranks()} rank(s): weights {net.weight_hash}")


if __name__ == "__main__":
    main()
