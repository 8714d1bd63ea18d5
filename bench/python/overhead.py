"""overhead.py: what Python costs, and what it brings; needs the package, scikit-learn and Fashion-MNIST.

fit       net.fit on arrays against `lockstep train` on the same data, in turns: seconds of the steps of an epoch
predict   one sample: net.predict against Predictor::run in C++
sklearn   784-128-10, Adam, batch 64, equal epochs: MLPClassifier of scikit-learn against Lockstep's, one thread, in
          processor time, which a busy machine changes less: pixels / 255 as NumPy divides bytes (float64, and
          scikit-learn then computes in float64), and in float32
"""
from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np  # noqa: E402

import lockstep as ls  # noqa: E402
from lockstep import _program  # noqa: E402

CONFIG = """
[data]
source = "fashion-mnist"
[model]
input = [1, 28, 28]
layers = [{conv2d = {out = 6, kernel = 5, pad = 2}}, "relu", {max_pool2d = 2}, {conv2d = {out = 16, kernel = 5}},
          "relu", {max_pool2d = 2}, "flatten", {linear = 120}, "relu", {linear = 84}, "relu", {linear = 10}]
[train]
optimizer = {name = "adam", lr = 0.001}
batch = 64
epochs = 1
seed = 1
"""


def lenet() -> ls.Network:
    return ls.Network((1, 28, 28), [ls.Conv2d(6, 5, pad=2), ls.ReLU(), ls.MaxPool2d(2), ls.Conv2d(16, 5), ls.ReLU(),
                                    ls.MaxPool2d(2), ls.Flatten(), ls.Linear(120), ls.ReLU(), ls.Linear(84), ls.ReLU(),
                                    ls.Linear(10)])


def bytes_of(samples: object) -> np.ndarray:
    return np.rint(samples.x * 255).astype(np.uint8)  # type: ignore[attr-defined]


def fit(x: np.ndarray, y: np.ndarray, turns: int) -> None:
    times: dict[str, list[float]] = {"python": [], "program": []}
    hashes = set()
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/c.toml", "w") as file:
            file.write(CONFIG)
        for turn in range(turns):
            net = lenet()
            run = net.fit(x, y, optimizer=ls.Adam(1e-3), batch=64, epochs=1, seed=1, threads=1, verbose=False)
            times["python"].append(run.metrics[0]["seconds"])
            out = subprocess.run([_program.path(), "train", f"{folder}/c.toml", "--threads", "1",
                                  "--out", f"{folder}/{turn}", "--json", "--quiet"],
                                 capture_output=True, text=True, check=True)
            with open(f"{folder}/{turn}/timings.jsonl") as file:
                times["program"].append(json.loads(file.readline())["seconds"]["total"])
            hashes |= {net.weight_hash, json.loads(out.stdout)["weight_hash"]}
    ratios = [a / b for a, b in zip(times["python"], times["program"])]
    print(f"fit: python {statistics.median(times['python']):.3f} s, "
          f"program {statistics.median(times['program']):.3f} s; "
          f"ratio {statistics.median(ratios):.3f} (median of {turns} turns, {min(ratios):.3f} to {max(ratios):.3f}); "
          f"best {min(times['python']):.3f} and {min(times['program']):.3f} s; {len(hashes)} hash")


def predict() -> None:
    net = ls.Network(784, [ls.Linear(128), ls.ReLU(), ls.Linear(10)], seed=1)
    x = np.random.default_rng(1).normal(size=(1, 784)).astype(np.float32)
    seconds = []
    for _ in range(20000):
        begin = time.perf_counter()
        net.predict(x, threads=1)
        seconds.append(time.perf_counter() - begin)
    here, there = statistics.median(seconds), net._net.time_predict(x, 1, 20000)
    print(f"predict of one sample: python {here * 1e6:.1f} us, C++ {there * 1e6:.1f} us, "
          f"difference {(here - there) * 1e6:.1f} us")


def against_sklearn(x: np.ndarray, y: np.ndarray, x_test: np.ndarray, y_test: np.ndarray, epochs: int,
                    turns: int) -> None:
    import warnings

    from sklearn.neural_network import MLPClassifier as Theirs

    from lockstep.sklearn import MLPClassifier as Ours
    warnings.simplefilter("ignore")
    seconds: dict[str, list[float]] = {"scikit-learn": [], "lockstep": []}
    accuracy: dict[str, list[float]] = {"scikit-learn": [], "lockstep": []}
    for seed in range(1, turns + 1):
        for name, kind in (("scikit-learn", Theirs), ("lockstep", Ours)):
            model = kind((128,), batch_size=64, max_iter=epochs, random_state=seed, tol=0.0)
            begin = time.process_time()
            model.fit(x, y)
            seconds[name].append(time.process_time() - begin)
            accuracy[name].append(model.score(x_test, y_test))
    for name in seconds:
        print(f"{name}, {x.dtype}: {statistics.median(seconds[name]):.2f} s for {epochs} epochs (median of {turns} turns, "
              f"{min(seconds[name]):.2f} to {max(seconds[name]):.2f}), accuracy {statistics.mean(accuracy[name]):.4f} "
              f"({min(accuracy[name]):.4f} to {max(accuracy[name]):.4f})")
    ratios = [a / b for a, b in zip(seconds["scikit-learn"], seconds["lockstep"])]
    print(f"ratio {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")


def main() -> None:
    what = sys.argv[1:] or ["fit", "predict", "sklearn"]
    predict() if "predict" in what else None
    if {"fit", "sklearn"} & set(what):
        data = ls.load_data("fashion-mnist")
        x, y, x_test, y_test = bytes_of(data.train), data.train.y, bytes_of(data.test), data.test.y
        if "fit" in what:
            fit(x, y, 7)
        if "sklearn" in what:
            for scale in (255, np.float32(255)):  # float64, float32
                against_sklearn(x.reshape(len(x), -1) / scale, y, x_test.reshape(len(x_test), -1) / scale, y_test, 5, 5)


if __name__ == "__main__":
    main()
