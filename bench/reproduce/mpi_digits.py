"""mpi_digits.py FOLDER ITERATIONS: 400-25-10 with sigmoids by full-batch descent, cost and back propagation sample by
sample in Python: what a first program of that kind looks like, and what `lockstep reproduce mpi-digits` is compared
with. FOLDER holds doubles: x [400][samples], y [samples] and weights (25x400, 25, 10x25, 10). Prints one line of JSON:
the seconds of every phase and iteration, and the costs before each update.
"""
import json
import pathlib
import sys
import time

import numpy as np

INPUTS, HIDDEN, OUTPUTS, RATE = 400, 25, 10, 0.1


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def read(folder):
    x = np.fromfile(folder / "x").reshape(INPUTS, -1).T.copy()
    y = np.fromfile(folder / "y").astype(int)
    flat = np.fromfile(folder / "weights")
    parts = np.split(flat, np.cumsum([HIDDEN * INPUTS, HIDDEN, OUTPUTS * HIDDEN]))
    theta1 = np.column_stack([parts[1], parts[0].reshape(HIDDEN, INPUTS)])
    theta2 = np.column_stack([parts[3], parts[2].reshape(OUTPUTS, HIDDEN)])
    return x, np.eye(OUTPUTS)[y], theta1, theta2


def cost_of(targets, outputs):
    """Binary cross-entropy summed over outputs, averaged over samples: a loop over the samples."""
    cost = 0.0
    for target, output in zip(targets, outputs):
        cost -= np.sum(target * np.log(output) + (1 - target) * np.log(1 - output))
    return cost / len(targets)


def gradients_of(inputs, targets, hidden, outputs, theta2):
    """Back propagation, one sample after the other."""
    gradient1 = np.zeros((HIDDEN, INPUTS + 1))
    gradient2 = np.zeros((OUTPUTS, HIDDEN + 1))
    for i in range(len(inputs)):
        delta2 = outputs[i] - targets[i]
        delta1 = (theta2.T @ delta2)[1:] * hidden[i][1:] * (1 - hidden[i][1:])
        gradient2 += np.outer(delta2, hidden[i])
        gradient1 += np.outer(delta1, inputs[i])
    return gradient1 / len(inputs), gradient2 / len(inputs)


def main():
    folder, iterations = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    x, targets, theta1, theta2 = read(folder)
    ones = np.ones((len(x), 1))
    times = {name: [] for name in ("hidden", "output", "cost", "back", "total")}
    costs = []
    for _ in range(iterations):
        marks = [time.perf_counter()]
        inputs = np.hstack([ones, x])
        hidden = np.hstack([ones, sigmoid(inputs @ theta1.T)])
        marks.append(time.perf_counter())
        outputs = sigmoid(hidden @ theta2.T)
        marks.append(time.perf_counter())
        costs.append(cost_of(targets, outputs))
        marks.append(time.perf_counter())
        gradient1, gradient2 = gradients_of(inputs, targets, hidden, outputs, theta2)
        theta1, theta2 = theta1 - RATE * gradient1, theta2 - RATE * gradient2
        marks.append(time.perf_counter())
        for name, begin, end in zip(times, marks, marks[1:]):
            times[name].append(end - begin)
        times["total"].append(marks[-1] - marks[0])
    version = f"Python {sys.version.split()[0]}, NumPy {np.__version__}"
    print(json.dumps({"version": version, "cost_values": costs} | times))


if __name__ == "__main__":
    main()
