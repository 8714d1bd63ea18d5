"""peers_test.py FOLDER LOCKSTEP IMAGE_FORWARD RENDER_PAGE: what the comparison with PyTorch and JAX computes itself,
and Lockstep's part in it, on data made here. How fast anybody is, no test may say."""
import dataclasses
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

FOLDER, PROGRAM, IMAGE, RENDER = sys.argv[1:5]
del sys.argv[1:5]
sys.path.insert(0, FOLDER)

import numpy as np  # noqa: E402

import lockstep_peer  # noqa: E402
import page  # noqa: E402
import report  # noqa: E402
import scaling  # noqa: E402
import workloads  # noqa: E402

SMALL = workloads.Workload("small", "a small network", (("linear", 5), ("relu",), ("linear", 3)), (4,), 8,
                           ("sgd", 0.1, 0.9), 32, unit="step")
BLOCK = workloads.Workload(
    "block", "a residual block",
    (("residual", (("conv2d", 3, 3, 1, 2), ("tanh",)), (("conv2d", 3, 1, 0, 2),)), ("avg_pool2d", 2), ("flatten",),
     ("linear", 4)),
    (2, 5, 4), 6, ("sgd", 0.1, 0.9), 12, unit="step", source="drawn", tested=8)


LOAD = workloads.load


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
        first = step * workload.batch % workload.samples
        part = slice(first, first + workload.batch)
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


def convolved(x, w, b, pad, stride):
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    height, width = ((extent - w.shape[2]) // stride + 1 for extent in x.shape[2:])
    y = np.empty((len(x), len(w), height, width))
    for i in range(height):
        for j in range(width):
            window = x[:, :, i * stride:i * stride + w.shape[2], j * stride:j * stride + w.shape[3]]
            y[:, :, i, j] = np.tensordot(window, w, ((1, 2, 3), (1, 2, 3))) + b
    return y


def first_loss_of_block():
    x, labels = (a[:BLOCK.batch] for a in workloads.load(dataclasses.replace(BLOCK, dtype="float64")))
    p = {k: v.astype(np.float64) for k, v in workloads.initial_weights(BLOCK).items()}
    x = x.reshape(-1, *BLOCK.input)
    body = np.tanh(convolved(x, p["0.body.0.weight"], p["0.body.0.bias"], 1, 2))
    y = body + convolved(x, p["0.shortcut.0.weight"], p["0.shortcut.0.bias"], 0, 2)
    z = y[:, :, :2, :2].mean((2, 3)) @ p["3.weight"].T + p["3.bias"]
    return (np.log(np.exp(z).sum(1)) - z[np.arange(len(z)), labels]).mean()


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
        exact = workloads.exact(SMALL)
        self.assertEqual(exact.samples, 8)  # one batch again and again
        for ours, right in zip(contender.exact_losses(3), expected_losses(exact, 3), strict=True):
            self.assertAlmostEqual(ours, right, places=12)

    def test_a_run_reports_time_loss_and_accuracy(self):
        contender = lockstep_peer.Lockstep(PROGRAM, SMALL, "simd", 2, self.folder / "run")
        answer = contender.run()
        self.assertGreater(answer["seconds"], 0)
        self.assertAlmostEqual(answer["loss"], np.mean(expected_losses(SMALL, 4)), places=5)
        self.assertTrue(0 <= answer["accuracy"] <= 1)
        self.assertEqual(answer["weight_hash"], contender.run()["weight_hash"])
        self.assertTrue(1e6 < answer["memory"] < 1e9)

    def test_the_first_step_is_seen(self):
        contender = lockstep_peer.Lockstep(PROGRAM, SMALL, "simd", 1, self.folder / "start")
        self.assertTrue(0 < contender.first_step < lockstep_peer.START_LIMIT)

    def test_a_failure_has_its_reason(self):
        contender = lockstep_peer.Lockstep(PROGRAM, SMALL, "simd", 1, self.folder / "failure")
        with self.assertRaisesRegex(RuntimeError, "no-such-key"):
            contender.train("train.no-such-key=1")
        contender.out.mkdir(exist_ok=True)
        contender.command[1] = "no-such-command"
        self.assertIsNone(contender.first_step)

    def test_residual_blocks_strides_and_means(self):
        workloads.load = LOAD
        contender = lockstep_peer.Lockstep(PROGRAM, BLOCK, "simd", 1, self.folder / "block")
        self.assertAlmostEqual(contender.losses(1)[0], first_loss_of_block(), places=5)

    def test_the_machine_has_a_rate_for_both_precisions(self):
        description = lockstep_peer.machine(PROGRAM, 1)
        for dtype in ("float32", "float64"):
            rate = lockstep_peer.product_rate(description, dtype, 1)
            self.assertEqual(rate is None, not description["openblas"])

    def test_the_image(self):
        done = subprocess.run([IMAGE, "2"], input="run\noutputs\n", capture_output=True, text=True, check=True)
        ready, run, outputs = map(json.loads, done.stdout.splitlines())
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
        lstm = workloads.by_name("lstm")
        self.assertEqual(list(workloads.multiplications(lstm)), [28 * 28 * 512, 28 * 128 * 512, 1280])
        self.assertEqual(workloads.Image().flops, 2 * 128 * 121 * 710 * 1270)
        # Maps of 5x4 become 3x2; 7 of 9 rows and 5 of 6 columns of taps lie inside.
        self.assertEqual(list(workloads.multiplications(BLOCK)), [3 * 2 * 7 * 5, 3 * 2 * 6, 3 * 4])

    def test_parameters_of_the_published_networks(self):
        def count(name):
            shapes = workloads.shapes(workloads.by_name(name))
            return sum(np.prod(shape) for key, _, shape in shapes if "running" not in key)
        self.assertEqual(count("tabular"), 28 * 300 + 4 * 300 ** 2 + 300 * 2 + 5 * 300 + 2)
        # With the biases of the convolutions, which batch normalisation makes superfluous.
        self.assertEqual(count("resnet20"), 269722 + 2752 + 784)  # the paper's, its shortcuts, biases
        self.assertEqual(count("resnet18"), 11178762)
        self.assertEqual(count("lstm"), 82186)  # what `lockstep inspect` says
        self.assertEqual(count("vgg11"), 9231114)

    def test_drawn_samples(self):
        x, labels = LOAD(BLOCK)
        self.assertEqual((x.shape, x.dtype, labels.shape), ((12, 40), np.float32, (12,)))
        self.assertTrue(0 <= x.min() < 0.1 and 0.9 < x.max() <= 1)
        self.assertEqual(set(LOAD(dataclasses.replace(BLOCK, samples=100))[1]), {0, 1, 2, 3})
        again, _ = LOAD(dataclasses.replace(BLOCK, samples=6, dtype="float64"))
        self.assertTrue(np.allclose(again, x[:6], atol=1e-7))  # a sample depends on its place alone
        self.assertFalse(np.allclose(LOAD(BLOCK, "test")[0][:6], again))

    def test_a_described_workload_is_the_one_that_was_written(self):
        self.assertEqual(workloads.described(json.dumps(dataclasses.asdict(BLOCK))), BLOCK)

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
        times = {"lockstep": 4.0, "torch eager": 12.0, "jax jit": 8.0}
        runs = {name: [{"seconds": seconds}] * 3 for name, seconds in times.items()}
        result = report.summarise(SMALL, 1, runs, dict.fromkeys(runs, "1.0"), rate=SMALL.flops * 2)
        self.assertEqual([row["contender"] for row in result["rows"]], ["lockstep", "jax jit", "torch eager"])
        self.assertEqual(result["ratio"], 2.0)
        self.assertEqual(result["share"], 0.5)  # a step takes one second, the rate allows two
        self.assertIn("2.00x", report.comparison_text(result))
        self.assertIn("n = 3", report.comparison_text(result))
        self.assertEqual((result["ratio_low"], result["ratio_high"]), (None, None))

    def test_the_interval_of_the_ratio_comes_from_the_rounds(self):
        """Both are twice as slow in every second round: the ratio is not."""
        noise = [1.0, 2.0] * 3
        runs = {"lockstep": [{"seconds": n} for n in noise], "jax jit": [{"seconds": 3 * n} for n in noise]}
        result = report.summarise(SMALL, 1, runs, dict.fromkeys(runs, ""), None)
        self.assertEqual((result["ratio_low"], result["ratio"], result["ratio_high"]), (3.0, 3.0, 3.0))

    def test_memory_and_first_step(self):
        result = small_result()
        self.assertEqual(result["memory"], 0.2)  # of the lowest of PyTorch's, after its first run
        self.assertEqual(result["first_step"], 0.25)
        self.assertIn("5.50", report.comparison_text(result))
        self.assertIn("0.20", report.aligned(report.summary([result])))

    def test_the_time_on_one_thread_over_that_on_two(self):
        def of(threads, seconds):
            runs = {"lockstep": [{"seconds": seconds}], "jax jit": [{"seconds": 1.0}]}
            return report.summarise(SMALL, threads, runs, dict.fromkeys(runs, ""), None)
        lines = report.summary([of(1, 3.8), of(2, 2.0)])
        self.assertEqual([line[-1] for line in lines[1:]], ["", "1.90"])


def small_result(threads=1):
    def runs_of(memory, seconds):
        return [{"seconds": seconds, "memory": memory, "loss": 0.5}, {"seconds": seconds, "memory": 2 * memory}]
    runs = {"lockstep": runs_of(100e6, 1.0), "torch eager": runs_of(800e6, 2.0), "torch fused": runs_of(500e6, 3.0)}
    result = report.summarise(SMALL, threads, runs, dict.fromkeys(runs, "1.0"), None,
                              {"lockstep": 0.25, "torch eager": 5.5, "torch fused": 6.0})
    return result | {"same_work": "The same work.", "same": True, "load": [0, 1], "left_out": ["jax: <not> there"]}


class Scaling(unittest.TestCase):
    def test_networks(self):
        found = scaling.points(quick=False)
        self.assertEqual([value for axis, value, _ in found if axis == "width"], [64, 128, 256, 512, 1024, 2048, 4096])
        for *_, workload in found:
            self.assertEqual(workload.samples % workload.batch, 0)
            self.assertTrue(scaling.FEWEST <= workload.steps_per_epoch <= scaling.MOST)
        deep = next(w for axis, value, w in found if (axis, value) == ("depth", 64))
        self.assertEqual(sum(kind == "linear" for kind, *_ in deep.layers), 65)

    def test_the_table(self):
        line = {"axis": "batch", "value": 8, "threads": 1}
        times = {"lockstep": 1e-6, "torch fused": 3e-6}
        results = [line | {"contender": name, "seconds": seconds} for name, seconds in times.items()]
        self.assertEqual(scaling.table(results, "batch")[1], ["8", "1.00", "3.00", "3.00x"])


class Page(unittest.TestCase):
    def test_it_is_drawn_with_all_that_was_measured(self):
        growth = [{"axis": "batch", "value": value, "threads": 1, "contender": name, "seconds": 1e-6, "samples": [1e-6]}
                  for value in (1, 2) for name in ("lockstep", "torch fused")]
        results = {"date": "today", "commit": "abc", "quick": True, "repeats": 2, "scaling": growth,
                   "machine": {"processor": "a <fast> one", "cores": 2, "openblas": ""},
                   "results": [small_result(1), small_result(2)]}
        with tempfile.TemporaryDirectory(prefix="lockstep-peers-") as folder:
            file = pathlib.Path(folder) / "document.json"
            file.write_text(json.dumps(page.document(results)), encoding="utf-8")
            subprocess.run([RENDER, file, folder], check=True, capture_output=True)
            html = (pathlib.Path(folder) / "report.html").read_text(encoding="utf-8")
        for text in ("a &lt;fast&gt; one", "jax: &lt;not&gt; there", "The same work.", "Time per sample against batch",
                     "20 %", "250 ms"):
            self.assertIn(text, html)
        self.assertNotIn("<script", html)
        self.assertEqual(html.count("<figure"), 4)

    def test_what_is_no_document_is_refused(self):
        with tempfile.TemporaryDirectory(prefix="lockstep-peers-") as folder:
            file = pathlib.Path(folder) / "document.json"
            for text in ("{}", "no json", '{"sections": [{"blocks": [{"tabel": 1}]}]}',
                         '{"sections": [{"blocks": [{"table": {"columns": [{"format": "x"}], "rows": []}}]}]}'):
                file.write_text(text, encoding="utf-8")
                done = subprocess.run([RENDER, file, folder], check=False, capture_output=True, text=True)
                self.assertEqual(done.returncode, 2)
                self.assertTrue(done.stderr.startswith("render_page: "))


if __name__ == "__main__":
    unittest.main()
