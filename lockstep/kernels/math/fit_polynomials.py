#!/usr/bin/env python3
"""Prints the polynomial coefficients of elementary.hpp. Needs nothing but Python.

Each is a minimax fit by the Remez exchange in 60-digit arithmetic. The coefficients are rounded to the target
precision one at a time, lowest power first, and the others are fitted again after each rounding, so that they
make good what the rounding spoilt. The error printed is that of the rounded polynomial, evaluated exactly.
"""
import math
import struct
from decimal import Decimal as D, getcontext

getcontext().prec = 60


def to_float(x):
    return D(struct.unpack("f", struct.pack("f", float(x)))[0])


def to_double(x):
    return D(float(x))


def solve(rows, right):
    """Gaussian elimination with partial pivoting."""
    n = len(rows)
    a = [row[:] + [value] for row, value in zip(rows, right)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda k: abs(a[k][i]))
        a[i], a[pivot] = a[pivot], a[i]
        for k in range(i + 1, n):
            factor = a[k][i] / a[i][i]
            for j in range(i, n + 1):
                a[k][j] -= factor * a[i][j]
    x = [D(0)] * n
    for i in reversed(range(n)):
        x[i] = (a[i][n] - sum(a[i][j] * x[j] for j in range(i + 1, n))) / a[i][i]
    return x


def cosine_nodes(low, high, count):
    return [(low + high) / 2 + (high - low) / 2 * D(math.cos(math.pi * i / (count - 1))) for i in range(count)][::-1]


def remez(target, weight, powers, low, high):
    """Coefficients c minimising max |weight(x) (target(x) - sum c_k x^k)| over [low, high]."""
    grid = [x for x in cosine_nodes(low, high, 2001) if x != 0]
    wanted = [(x, target(x), weight(x)) for x in grid]
    # Not at zero, where the weights vanish: the first exchange would divide by them.
    shift = (high - low) / 20
    points = [x if abs(x) > shift else x + shift for x in cosine_nodes(low, high, len(powers) + 1)]
    for _ in range(12):
        rows = [[x**k for k in powers] + [(-1) ** i / weight(x)] for i, x in enumerate(points)]
        *c, level = solve(rows, [target(x) for x in points])
        errors = [(w * (f - sum(ck * x**k for ck, k in zip(c, powers))), x) for x, f, w in wanted]
        peaks = []  # the largest error of each run of one sign
        for e, x in errors:
            if peaks and (peaks[-1][0] > 0) == (e > 0):
                if abs(e) > abs(peaks[-1][0]):
                    peaks[-1] = (e, x)
            else:
                peaks.append((e, x))
        while len(peaks) > len(points):
            peaks.pop(0 if abs(peaks[0][0]) < abs(peaks[-1][0]) else -1)
        if len(peaks) < len(points):
            raise RuntimeError("the error does not alternate often enough; start from other points")
        points = [x for _, x in peaks]
        if max(abs(e) for e, _ in peaks) < abs(level) * D("1.001"):
            break
    return c


def fit(name, target, weight, degree, low, high, rounding):
    fixed = []
    for first in range(degree + 1):
        rest = lambda x: target(x) - sum(c * x**k for k, c in enumerate(fixed))
        fixed.append(rounding(remez(rest, weight, list(range(first, degree + 1)), low, high)[0]))
    grid = [x for x in cosine_nodes(low, high, 4001) if x != 0]
    error = max(abs(weight(x) * (target(x) - sum(c * x**k for k, c in enumerate(fixed)))) for x in grid)
    print(f"{name}: error {float(error):.2e}")
    print("  " + ", ".join(float(c).hex() for c in fixed))


def main():
    ln2 = D(2).ln()
    half = ln2 / 2 * D("1.0001")
    exp_tail = lambda r: (r.exp() - 1 - r) / (r * r) if abs(r) > D("1e-20") else D("0.5")
    exp_weight = lambda r: r * r / r.exp()  # relative error of exp
    fit("exp float", exp_tail, exp_weight, 4, -half, half, to_float)
    fit("exp double", exp_tail, exp_weight, 9, -half, half, to_double)

    s_max = (D(2).sqrt() - 1) / (D(2).sqrt() + 1) * D("1.0001")
    # log((1+s)/(1-s)) = 2s + s z T(z), z = s^2; the relative error of the logarithm is z/2 times that of T.
    log_tail = lambda z: ((((1 + z.sqrt()) / (1 - z.sqrt())).ln()) / z.sqrt() - 2) / z
    log_weight = lambda z: z / 2
    low = D("1e-12")
    fit("log float", log_tail, log_weight, 2, low, s_max * s_max, to_float)
    fit("log double", log_tail, log_weight, 6, low, s_max * s_max, to_double)

    for bits, rounding, label in ((15, to_float, "float"), (42, to_double, "double")):
        high = D(int(ln2 * 2**bits)) / 2**bits
        print(f"ln2 {label}: {float(high).hex()} + {float(rounding(ln2 - high)).hex()}, "
              f"log2e {float(rounding(1 / ln2)).hex()}")


if __name__ == "__main__":
    main()
