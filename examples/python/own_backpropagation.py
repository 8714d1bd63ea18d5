"""A course's exercise: back-propagation in NumPy, compared with the engine's gradient."""
from __future__ import annotations

import numpy as np

import lockstep as ls


def main() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(50, 4)), rng.integers(0, 3, 50)
    net = ls.Network(4, [ls.Linear(8), ls.Tanh(), ls.Linear(3)], seed=1, precision="float64")
    w1, b1, w2, b2 = (np.array(net.weights[name]) for name in net.weights)
    hidden = np.tanh(x @ w1.T + b1)
    scores = hidden @ w2.T + b2
    p = np.exp(scores - scores.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    d_scores = (p - np.eye(3)[y]) / len(x)
    d_hidden = d_scores @ w2 * (1 - hidden**2)
    mine = {"0.weight": d_hidden.T @ x, "0.bias": d_hidden.sum(0), "2.weight": d_scores.T @ hidden,
            "2.bias": d_scores.sum(0)}
    for name, gradient in net.gradient(x, y).items():
        print(f"{name}: largest difference {np.abs(gradient - mine[name]).max():.1e}")
        assert np.allclose(gradient, mine[name])


if __name__ == "__main__":
    main()
