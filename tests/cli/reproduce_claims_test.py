"""reproduce_claims_test.py PROGRAM: no sentence of a report is written beforehand. Every claim of every experiment is given results
that bear it out, results that contradict it, and none: the verdict follows, and a page never claims what its figures deny."""
import copy
import json
import re

import program
from program import ProgramTest
from reproduce_test import ORIGIN, result

EIGHT = copy.deepcopy(ORIGIN)
EIGHT["machine"]["processors"] = EIGHT["machine"]["cores"] = 8


def timing(name, seconds, kind="measurement", **more):
    """Three samples around the time."""
    samples = [0.99 * seconds, seconds, 1.01 * seconds]
    return result(name, samples=samples, n=3, median=seconds, kind=kind, **more)


def kernels(backend, threads=1, **numbers):
    return {"numbers": {"threads": threads} | numbers, "words": {"backend": backend}}


def on_gpu(kind="gpu"):
    return {"numbers": {"threads": 1}, "words": {"backend": "cuda", "device": "a card", "device_kind": kind}}


def hashes(series, *values):
    return "".join(timing(f"{series}: {i}", 1, weight_hash=value, **kernels("simd", i + 1)) for i, value in enumerate(values))


# cuda-quadrants
LOSS = [0.692727, 0.685889, 0.627985, 0.422742, 0.258762, 0.189306, 0.153980, 0.132437, 0.117702, 0.106858]
ACCURACY = [0.480469, 0.734375, 0.882812, 0.963867, 0.987305, 0.997070, 0.999023, 0.999023, 1, 1]


def quadrant_times(o0=32, o3=4, gpu=1):
    return (timing("epoch: plain loops -O0, 1 thread", o0, **kernels("naive-o0")) +
            timing("epoch: plain loops -O3, 1 thread", o3, **kernels("naive")) + timing("epoch: cuda, 1 thread", gpu, **on_gpu()))


def quadrant_curve(losses):
    return result("test loss by epoch", series={"loss": losses, "accuracy": ACCURACY})


def quadrant_shares(linear, relu, sigmoid):
    return result("shares: plain loops -O0", numbers={"linear backward": linear, "linear forward": 0, "relu backward": relu,
                                                      "relu forward": 0, "sigmoid and loss": sigmoid, "other": 1 - linear - relu - sigmoid})


QUADRANTS = {
    "gpu-speed-up": (quadrant_times(), quadrant_times(gpu=40)),
    "losses": (quadrant_curve(LOSS), quadrant_curve([0.69] * 10)),
    "parallel-share": (quadrant_shares(0.82, 0.14, 0.02), quadrant_shares(0.3, 0.1, 0.1)),
    "linear-first": (quadrant_shares(0.82, 0.14, 0.02), quadrant_shares(0.2, 0.1, 0.3)),
    "missing-flag": (quadrant_times(), quadrant_times(o3=32)),
    "same-weights": (hashes("epoch", "a", "a"), hashes("epoch", "a", "b"))}


# mpi-digits
def digit_training(data, last, precision=0.33):
    return result(f"training: {data}, seed 1", seed=1, words={"data": data}, numbers={"precision": precision},
                  series={"cost": [7.0, last], "precision": [0.1, precision]})


def digit_modes(ranks, python=None):
    lines = timing("iteration: sequential, SIMD", 1, **kernels("simd", ranks=1), weight_hash="a")
    lines += timing("iteration: SIMD, 2 ranks", ranks, **kernels("simd", ranks=2), weight_hash="a")
    return lines + ("" if python is None else timing("iteration: Python loops", 1, numbers={"cost": python, "back": python}))


def digit_fast(last):
    return result("fast: digits", series={"iterations": [50, 100, 200, 300], "precision": [0.8, 0.85, last, last]})


DIGITS = {
    "parallel-faster": (digit_modes(0.6), digit_modes(1.2)),
    "loops-dominate": (digit_modes(0.6, 0.48), digit_modes(0.6, 0.1)),
    "last-cost": (digit_training("digits", 3.214), digit_training("digits", 2.5)),
    "fashion-mnist": (digit_training("digits", 2.5) + digit_training("fashion", 3.214),
                      digit_training("digits", 3.214) + digit_training("fashion", 2.5)),
    "precision": (digit_training("digits", 3.214), digit_training("digits", 3.214, 0.9)),
    "fast-rate": (digit_fast(0.94), digit_fast(0.5)),
    "same-weights": (hashes("iteration", "a", "a"), hashes("iteration", "a", "b"))}


# mnist-mlp
def mnist_curve(test, validation):
    return result("accuracy by epoch: seed 1", numbers={"test_accuracy": test},
                  series={"validation_accuracy": validation, "epoch_seconds": [1] * 5})


def exercise(name, seconds, kind, words=None, same="same"):
    return timing(f"max 1000x1000: {name}", seconds, numbers={"threads": 1},
                  words={"variant": name, "kind": kind, "result": same, "limit": ""} | (words or {}))


def exercises(python, gpu, same="same"):
    return (exercise("loops", python, "python") + exercise("trivial", 1, "trivial") +
            exercise("card", gpu, "device", on_gpu()["words"], same))


GOOD = [0.9268, 0.9452, 0.9600, 0.9643, 0.9690]
MNIST = {
    "above-95": (mnist_curve(0.9678, GOOD), mnist_curve(0.90, GOOD)),
    "epoch-by-epoch": (mnist_curve(0.9678, GOOD), mnist_curve(0.9678, [0.1] * 5)),
    "gpu-40": (exercises(100, 1), exercises(1, 2)),
    "interpreter-first": (exercises(100, 1), exercises(2, 0.01)),
    "same-results": (exercises(100, 1), exercises(100, 1, "off by 2")),
    "same-weights": (hashes("epoch of 5,000 digits", "a", "a"), hashes("epoch of 5,000 digits", "a", "b"))}


# openmp-cuda-pytorch
def thread_times(two, many=2.0):
    lines = ""
    for backend in ("naive", "simd"):
        for threads, seconds in ((1, 1.0), (2, two), (32, many)):
            lines += timing(f"threads: {backend}, {threads} thread{'s' * (threads > 1)}", seconds, weight_hash="a",
                            **kernels(backend, threads, processors=2, batch=512, points=1000))
    return lines


def batch_times(one, most):
    return "".join(timing(f"batches: batch {batch}, 2 threads", seconds, **kernels("simd", 2, batch=batch, points=1000))
                   for batch, seconds in ((1, one), (512, most)))


def section_times(forward, backward):
    numbers = {"threads": 1, "forward": forward, "backward": backward, "update": 0.1, "all": forward + backward + 0.1}
    return result("sections: naive, 1 thread", numbers=numbers, words={"backend": "naive"})


def peer_times(torch, ours):
    return (timing("PyTorch: Lockstep, simd, 1 thread", ours, **kernels("simd")) +
            timing("PyTorch: PyTorch, eager, 1 thread", torch, baseline="PyTorch: Lockstep, simd, 1 thread",
                   numbers={"threads": 1}, words={"version": "2"}))


def layers(nan):
    return "".join(result(f"forward through layer: {i}", numbers={"published_nan": nan, "bounded_nan": 0}) for i in (1, 2, 3))


def moons(reached):
    numbers = {"threads": 1, "seconds": 1} | ({"reached_in_epoch": reached} if reached else {})
    return result("moons: simd, 1 thread", numbers=numbers, words={"backend": "simd"}, series={"accuracy": [0.99]})


OPENMP = {
    "threads-pay": (thread_times(0.55), thread_times(1.24)),  # 0.81 times as fast
    "no-more-than-cores": (thread_times(0.55, 0.9), thread_times(0.55, 0.2)),
    "batches": (batch_times(150, 1), batch_times(1, 2)),
    "backward-most": (section_times(1, 2), section_times(2, 1)),
    "pytorch-ahead": (peer_times(1, 2), peer_times(2, 1)),
    "moons": (moons(30), moons(0)),
    "not-a-number": (layers(1), layers(0)),
    "same-weights": (hashes("threads", "a", "a"), hashes("threads", "a", "b"))}


# conv-multicore
def conv(series, *seconds, **more):
    return "".join(timing(f"{series}: {workers}", time, numbers={"workers": workers, "kernels": 128}, origin=EIGHT, **more)
                   for workers, time in zip((1, 2, 4, 8), seconds))


def software(theirs):
    return (timing("software: SIMD, 1 thread", 1, numbers={"workers": 1}) +
            timing("software: PyTorch (NCHW), 1 thread", theirs, numbers={"workers": 1}, words={"version": "2"}))


def conv_cases(series):
    return conv(series, 8, 4, 2, 1), conv(series, 1, 1.2, 1.2, 1.3)


CONV = {"threads": conv_cases("threads"), "plain-loops": conv_cases("plain loops"), "ranks": conv_cases("ranks"),
        "software": (software(2), software(0.5))}

CASES = {"cuda-quadrants": QUADRANTS, "mpi-digits": DIGITS, "mnist-mlp": MNIST, "openmp-cuda-pytorch": OPENMP, "conv-multicore": CONV}
WORDS = ("holds in part", "holds", "does not hold", "not shown here", "cannot be tested here")


class Claims(ProgramTest):
    def judge(self, experiment, lines):
        """The claims by name, and the page as text."""
        self.write("run/results.jsonl", result("run", words={"experiment": experiment}) + lines + result("done", numbers={"seconds": 1}))
        claims = json.loads(self.succeed("reproduce", "--from", "run", "--json").out)["claims"]
        text = re.sub(r"\s+", " ", self.succeed("reproduce", "--from", "run").out)
        return {claim["id"]: claim for claim in claims}, text

    def check(self, experiment, name, lines, verdict):
        claims, text = self.judge(experiment, lines)
        self.assertEqual(claims[name]["verdict"], verdict, f"{experiment}, {name}: {claims[name]}")
        # The page has the verdict before the claim, and no other one.
        claim = re.escape(claims[name]["claim"])
        self.assertEqual(re.findall(rf"({'|'.join(WORDS)}) {claim}", text), [verdict], f"{experiment}, {name}: {text}")
        if list(claims)[0] == name:  # the head of the page
            self.assertIn(f"The claim. {claims[name]['claim']} {verdict.capitalize()}. ", text)
        page = (self.folder / "run/report.html").read_text()
        self.assertLess(page.index("The claim.</strong>"), page.index("<h3>"), "the page begins with the claim")

    def test_every_claim_has_its_cases(self):
        for experiment, cases in CASES.items():
            claims, text = self.judge(experiment, "")
            self.assertEqual(set(claims), set(cases), experiment)
            self.assertEqual({claim["verdict"] for claim in claims.values()}, {"cannot be tested here"}, experiment)
            self.assertNotRegex(text, r"(?<!not )holds")

    def test_results_that_bear_it_out(self):
        for experiment, cases in CASES.items():
            for name, (agreeing, _) in cases.items():
                self.check(experiment, name, agreeing, "holds")

    def test_results_that_contradict_it(self):
        for experiment, cases in CASES.items():
            for name, (_, contradicting) in cases.items():
                self.check(experiment, name, contradicting, "does not hold")

    def test_samples_that_overlap_show_nothing(self):
        noisy = [0.5, 1.0, 2.0]
        lines = "".join(result(f"threads: simd, {n} threads", samples=noisy, n=3, median=1.0,
                               kind="measurement", **kernels("simd", n, processors=2)) for n in (1, 2))
        claims, text = self.judge("openmp-cuda-pytorch", lines)
        self.assertEqual(claims["threads-pay"]["verdict"], "not shown here")
        self.assertNotIn("Threads pay while", text)

    def test_a_processor_is_no_gpu(self):
        slow = timing("epoch: opencl, 1 thread", 0.1, numbers={"threads": 1},
                      words={"backend": "opencl", "device": "PoCL", "device_kind": "cpu"})
        claims, text = self.judge("cuda-quadrants", quadrant_times(gpu=9).replace("gpu", "cpu") + slow)
        self.assertEqual(claims["gpu-speed-up"]["verdict"], "cannot be tested here")
        self.assertIn("PoCL: the processor itself, not a GPU", text)

    def test_part_of_the_cores_is_part_of_the_claim(self):
        two = conv("threads", 2, 1).replace('"processors": 8', '"processors": 2')
        claims, _ = self.judge("conv-multicore", two)
        self.assertEqual(claims["threads"]["verdict"], "holds in part")
        self.assertIn("4 and 8 cannot be tested on 2 processors", claims["threads"]["facts"])

    def test_long_tables_are_folded(self):
        self.judge("mpi-digits", digit_training("digits", 3.214))
        page = (self.folder / "run/report.html").read_text()
        table = page[page.index('id="costs"'):]
        self.assertIn("<details>", table[:200])
        # All 60 costs of the listing, of which the last is:
        self.assertEqual(table[:table.index("</details>")].count("<tr>"), 61)
        self.assertIn('data-value="3.217473"', table)


class Figures(ProgramTest):
    def test_ideal_lines_are_straight(self):
        for experiment, lines in (("conv-multicore", conv("threads", 8, 4, 2, 1)), ("openmp-cuda-pytorch", thread_times(0.55))):
            self.write("run/results.jsonl", result("run", words={"experiment": experiment}) + lines)
            self.succeed("reproduce", "--from", "run")
            page = (self.folder / "run/report.html").read_text()
            paths = re.findall(r'<path d="([^"]*)" class="line ideal', page)
            self.assertTrue(paths, experiment)
            for path in paths:
                points = [tuple(map(float, point.split())) for point in re.findall(r"[\d.]+ [\d.]+", path)]
                (x0, y0), (x1, y1) = points[0], points[-1]
                for x, y in points:
                    self.assertAlmostEqual((x - x0) * (y1 - y0), (y - y0) * (x1 - x0), delta=0.2 * abs(x1 - x0), msg=experiment)

    def test_bars_on_logarithmic_axes_say_so(self):
        self.write("run/results.jsonl", result("run", words={"experiment": "cuda-quadrants"}) + quadrant_times())
        self.succeed("reproduce", "--from", "run")
        self.assertIn("logarithmic axis", (self.folder / "run/report.html").read_text())


class Data(ProgramTest):
    def test_refused_where_it_is_not_read(self):
        self.write("picture.png", program.png(3, 2, bytes(6)))
        for name in ("cuda-quadrants", "openmp-cuda-pytorch"):
            self.refuse(2, "reads no file; leave --data out", "reproduce", name, "--data", "picture.png", "--quick")
        self.refuse(3, "no such file", "reproduce", "conv-multicore", "--data", "nowhere.png", "--quick")
        self.write("text.png", "no picture")
        self.refuse(3, "text.png", "reproduce", "conv-multicore", "--data", "text.png", "--quick")


if __name__ == "__main__":
    program.main()
