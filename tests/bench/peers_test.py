"""peers_test.py FOLDER LOCKSTEP IMAGE_FORWARD: what the comparison with PyTorch and JAX computes itself, and Lockstep's
part in it, on data made here. How fast anybody is, no test may say."""
import dataclasses
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

FOLDER, PROGRAM, IMAGE = sys.argv[1:4]
del sys.argv[1:4]
sys.path.insert(0, FOLDER)

import numpy as np  # noqa: E402

import lockstep_peer  # noqa: E402
import report  # noqa: E402
import workloads  # noqa: E402

SMALL = workloads.Workload("small", "a small network", (("linear", 5), ("relu",), ("linear", 3)), (4,), 8,
                           ("sgd", 0.1, 0.9), 32, unit="step")


def points(workload, part="train"):
    random = np.random.default_rng(3 if part == "train" else 4)
    x = random.integers(0, 256, (workload.samples, 4)).astype(workload.dtype) / np.array(255, workload.dtype)
    return x, (x[:, 0] > x[:, 1]).astype(np.int64) + (x[:, 2] > 0.5)


def expected_losses(workload, count):
    """The same training in NumPy and float64."""
    x, labels = points(workload)
    p = {k: v.astype(np.float64) for k, v in workloads.initial_weights(workload).items()}
    v, losses = {k: 0 * w for k, w in p.items()}, []
    for step in range(count):
        part = slice(step * workload.batch, (step + 1) * workload.batch)
        a, t = x[part].astype(np.float64), labels[part]
        h = a @ p["0.weight"].T + p["0.bias"]
        z = np.maximum(h, 0) @ p["2.weight"].T + p["2.bias"]
        q = np.exp(z - z.max(1, keepdims=True))
        q /= q.sum(1, keepdims=True)
        losses.append(-np.log(q[np.arange(len(t)), t]).mean())
        dz = (q - np.eye(3)[t]) / len(t)
        dh = (dz @ p["2.weight"]) * (h > 0)
        g = {"2.weight": dz.T @ np.maximum(h, 0), "2.bias": dz.sum(0), "0.weight": dh.T @ a, "0.bias": dh.sum(0)}
        for k in p:
            v[k] = 0.9 * v[k] + g[k]
            p[k] -= 0.1 * v[k]
    return losses


class LockstepsPart(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="lockstep-peers-")
        self.addCleanup(folder.cleanup)
        self.addCleanup(setattr, workloads, "load", workloads.load)
        workloads.load = points
        self.folder = pathlib.Path(folder.name)

    def test_it_starts_from_the_weights_it_is_given_and_does_the_same_work(self):
        for dtype in ("float32", "float64"):
            workload = dataclasses.replace(SMALL, dtype=dtype)
            contender = lockstep_peer.Lockstep(PROGRAM, workload, "simd", 1, self.folder / dtype)
            for ours, right in zip(contender.losses(3), expected_losses(workload, 3), strict=True):
                self.assertAlmostEqual(ours, right, places=5)

    def test_in_float64_losses_are_exact(self):
        contender = lockstep_peer.Lockstep(PROGRAM, SMALL, "simd", 1, self.folder / "narrow")
        exact = workloads.exact(SMALL, 3)
        self.assertEqual(exact.samples, 24)
        for ours, right in zip(contender.exact_losses(3), expected_losses(exact, 3), strict=True):
            self.assertAlmostEqual(ours, right, places=12)

    def test_a_run_reports_time_loss_and_accuracy(self):
        contender = lockstep_peer.Lockstep(PROGRAM, SMALL, "simd", 2, self.folder / "run")
        answer = contender.run()
        self.assertGreater(answer["seconds"], 0)
        self.assertAlmostEqual(answer["loss"], np.mean(expected_losses(SMALL, 4)), places=5)
        self.assertTrue(0 <= answer["accuracy"] <= 1)
        self.assertEqual(answer["weight_hash"], contender.run()["weight_hash"])

    def test_the_machine_has_a_rate_for_both_precisions(self):
        description = lockstep_peer.machine(PROGRAM, 1)
        for dtype in ("float32", "float64"):
            rate = lockstep_peer.product_rate(description, dtype, 1)
            self.assertEqual(rate is None, not description["openblas"])

    def test_the_image(self):
        answers = subprocess.run([IMAGE, "2"], input="run\noutputs\n", capture_output=True, text=True, check=True).stdout
        ready, run, outputs = map(json.loads, answers.splitlines())
        self.assertIn("lockstep", ready["ready"])
        self.assertGreater(run["seconds"], 0)
        image = workloads.Image()
        x, w = (a.astype(np.float64) for a in image.arrays())
        height, width = image.height - image.kernel + 1, image.width - image.kernel + 1
        indices = range(0, image.out * height * width, image.probe_step)
        self.assertEqual(len(outputs["outputs"]), len(indices))
        for index, value in zip(indices, outputs["outputs"]):
            channel, pixel = divmod(index, height * width)
            top, left = divmod(pixel, width)
            window = x[top:top + image.kernel, left:left + image.kernel]
            self.assertAlmostEqual(value, (window * w[channel]).sum(), places=4)


class Figures(unittest.TestCase):
    def test_operations(self):
        self.assertEqual(list(workloads.multiplications(SMALL)), [20, 15])
        # Forward and weight gradient of both layers, data gradient of the second; 8 samples per step.
        self.assertEqual(SMALL.flops, (2 * (40 + 30) + 30) * 8)
        lenet = workloads.by_name("lenet5")
        self.assertEqual(list(workloads.multiplications(lenet)), [6 * 134 ** 2, 240000, 48000, 10080, 840])
        self.assertEqual(workloads.Image().flops, 2 * 128 * 121 * 710 * 1270)

    def test_units(self):
        self.assertEqual(SMALL.units, 4)
        self.assertEqual(workloads.by_name("digits").units, 1)
        self.assertEqual(workloads.by_name("mlp").steps_per_epoch, 938)

    def test_the_interval_covers_the_median_in_95_of_100_cases(self):
        self.assertEqual(report.interval([3, 1, 2]), (2, None, None))  # too few for an interval
        self.assertEqual(report.interval(range(1, 7)), (3.5, 1, 6))  # [1st, 6th] of 6: 96.9 %
        self.assertEqual(report.interval(range(1, 10)), (5, 2, 8))  # [2nd, 8th] of 9: 96.1 %
        self.assertEqual(report.interval(range(1, 9)), (4.5, 1, 8))  # [2nd, 7th] of 8: 93.0 %

    def test_ratio_share_and_order(self):
        runs = {"lockstep": [{"seconds": 4.0}] * 3, "torch eager": [{"seconds": 12.0}] * 3, "jax jit": [{"seconds": 8.0}] * 3}
        result = report.summarise(SMALL, 1, runs, dict.fromkeys(runs, "1.0"), rate=SMALL.flops * 2)
        self.assertEqual([row["contender"] for row in result["rows"]], ["lockstep", "jax jit", "torch eager"])
        self.assertEqual(result["ratio"], 2.0)
        self.assertEqual(result["share"], 0.5)  # a step takes one second, the rate allows two
        self.assertIn("2.00x", report.comparison_text(result))
        self.assertIn("n = 3", report.comparison_text(result))

    def test_the_time_on_one_thread_over_that_on_two(self):
        def of(threads, seconds):
            runs = {"lockstep": [{"seconds": seconds}], "jax jit": [{"seconds": 1.0}]}
            return report.summarise(SMALL, threads, runs, dict.fromkeys(runs, ""), None)
        lines = report.summary([of(1, 3.8), of(2, 2.0)])
        self.assertEqual([line[-1] for line in lines[1:]], ["", "1.90"])


if __name__ == "__main__":
    unittest.main()
