"""lockstep check on the tracks cuda (by the emulator), opencl (by PoCL) and python."""
import pathlib
import subprocess
import unittest

import checker
from checker import CheckerTest

TILED = (pathlib.Path(__file__).parent / "solutions/product.cu").read_text()
PLAIN = (pathlib.Path(__file__).parent / "solutions/linear-forward.py").read_text()
OPENCL = (pathlib.Path(__file__).parent / "solutions/linear-forward.cl").read_text()


class Tracks(CheckerTest):
    def check_text(self, exercise, track, text):
        self.count += 1
        folder = self.folder / str(self.count)
        subprocess.run([checker.PROGRAM, "exercise", "new", exercise, "--track", track, "--out", folder], check=True,
                       stdout=subprocess.DEVNULL)
        return checker.recheck(folder, {"cuda": "kernel.cu", "opencl": "kernel.cl", "python": "kernel.py"}[track], text)

    def verdict(self, exercise, track, text, tier, cause):
        verdict = self.check_text(exercise, track, text)
        self.assertEqual((verdict["verdict"], verdict["cause"]), (tier, cause), verdict)
        return verdict

    def test_cuda(self):
        verdict = self.verdict("product", "cuda", TILED, "right", "")
        self.assertIn("blocks and threads in reverse and in random order: nothing found", verdict["checks"])
        self.verdict("product", "cuda", TILED.replace("if (i < m && j < n) c", "c"), "crashed", "out-of-bounds")
        self.verdict("product", "cuda", TILED.replace("sum = fmaf(tile_a[threadIdx.y][q], tile_b[q][threadIdx.x], sum)",
                                                      "sum = sum + tile_a[threadIdx.y][q] * tile_b[q][threadIdx.x]"),
                     "another order", "no-fma")
        self.verdict("product", "cuda", TILED.replace("__syncthreads();  // loaded", ""), "wrong", "reads-unwritten")
        self.verdict("product", "cuda", TILED.replace("__syncthreads();  // used", ""), "wrong", "race")

    def test_opencl(self):
        verdict = self.check_text("linear-forward", "opencl", OPENCL)
        if "there is no platform" in str(verdict["words"]):
            self.skipTest("no OpenCL platform")
        self.assertEqual(verdict["verdict"], "right", verdict)
        self.verdict("linear-forward", "opencl", OPENCL.replace("fmaf(w[o * in + i], x[i * samples + s], sum)",
                                                                "sum + w[o * in + i] * x[i * samples + s]"),
                     "another order", "no-fma")
        self.verdict("linear-forward", "opencl", OPENCL.replace("(a->out * a->samples + 31) / 32 * 32",
                                                                "(a->out * a->samples) / 32 * 32"), "wrong", "remainder")

    def test_python(self):
        self.verdict("linear-forward", "python", PLAIN, "right", "")
        self.verdict("linear-forward", "python", PLAIN.replace("fmaf(a.w[o * a.in_ + i], a.x[i * a.samples + s], total)",
                                                               "total + a.w[o * a.in_ + i] * a.x[i * a.samples + s]"),
                     "another order", "double")
        self.verdict("linear-forward", "python", PLAIN.replace("range(a.in_)", "range(a.in_ + 1)"), "crashed", "out-of-bounds")
        self.verdict("linear-forward", "python", PLAIN.replace("a.y[", "a.x["), "crashed", "writes-input")
        self.verdict("linear-forward", "python", "import os\n\n\ndef linear_forward(a):\n    os.fork()\n", "rejected", "forbidden")
        verdict = self.verdict("linear-forward", "python", "def linear_forward(a):\n    a.x[0 = 1\n", "not built", "compiler")
        self.assertIn("kernel.py:", verdict["words"][0])


if __name__ == "__main__":
    unittest.main()
