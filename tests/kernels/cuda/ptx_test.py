"""ptx_test.py CUDA_TESTS EMULATED [FLOAT.ptx DOUBLE.ptx]: nvcc's own code computes the bits of naive.

The contract tests run with the PTX that nvcc made, executed by the emulator, on small shapes; then with planted mistakes,
each of which they must find. Without nvcc there is nothing to execute.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TESTS, EMULATED = sys.argv.pop(1), sys.argv.pop(1)
PTX = [pathlib.Path(sys.argv.pop(1)) for _ in range(2)] if len(sys.argv) > 2 else []

# Every kernel at least once, in both precisions, on shapes that an interpreter is through with in seconds.
SMALL = ":".join(("DeviceTables*", "SimdActivation*", "SimdAdd*", "SimdBatchNorm*", "SimdDropout*", "SimdLayerNorm*",
                  "SimdLinear*", "SimdLoss*", "SimdOptimizer*", "SimdSoftmax*")) + ":-*PlacesOnTheCurve"
# Arithmetic whose result depends on rounding says how it rounds.
ROUNDED = re.compile(r"^\s*(?:@!?%p\d+\s+)?((?:add|sub|mul|div|fma|mad|rcp|sqrt)\.(?:\w+\.)*f(?:32|64))\s", re.MULTILINE)
# Kernels of the backends cuda-naive and opencl on processors: on a GPU they are there for comparison.
COLD = re.compile(r"_naive$|^batch_norm_(forward|backward|sums)$")


def kernels_of(text):
    """Name to body."""
    found = {}
    for part in text.split(".entry ")[1:]:
        mangled = part.split("(", 1)[0]
        name = re.search(r"_cu_[0-9a-f]{8}(\d+)(\w+)", mangled)
        found[name.group(2)[:int(name.group(1))]] = part
    return found


@unittest.skipUnless(PTX, "no nvcc, so no PTX")
class Text(unittest.TestCase):
    def test_arithmetic_is_rounded_to_nearest(self):
        for path in PTX:
            text = path.read_text()
            forms = set(ROUNDED.findall(text))
            self.assertGreaterEqual(len(forms), 6)
            self.assertEqual([form for form in forms if form.split(".")[1] != "rn"], [], path.name)
            strange = re.findall(r"\.approx|\.ftz|\.sat|^\s*(?:@!?%p\d+\s+)?(?:atom|red|shfl)\.", text, re.MULTILINE)
            self.assertEqual(strange, [], path.name)

    def test_hot_kernels_have_no_stack(self):
        for path in PTX:
            kernels = kernels_of(path.read_text())
            self.assertGreater(len(kernels), 40)
            with_stack = {name for name, body in kernels.items() if "__local_depot" in body}
            self.assertEqual({name for name in with_stack if not COLD.search(name)}, set(), path.name)

    def test_no_divergent_code_waits_at_a_barrier(self):
        for path in PTX:
            self.assertEqual(re.findall(r"@!?%p\d+\s+bar\.sync", path.read_text()), [], path.name)


@unittest.skipUnless(PTX, "no nvcc, so no PTX")
class Execution(unittest.TestCase):
    def run_tests(self, files, tests):
        emulator = f"random,memory=256,ptx={files[0]}:{files[1]}"
        return subprocess.run([TESTS, f"--gtest_filter={tests}"], capture_output=True, text=True, timeout=570, check=False,
                              env=os.environ | {"LOCKSTEP_CUDA_PLUGIN": EMULATED, "LOCKSTEP_CUDA_EMULATOR": emulator})

    def test_has_the_bits_of_naive(self):
        done = self.run_tests(PTX, SMALL)
        self.assertEqual(done.returncode, 0, (done.stdout + done.stderr)[-2000:])
        self.assertIn("PASSED", done.stdout)

    def caught(self, kernel, mistake, tests):
        """A mistake in one kernel of the float file; what the tests say."""
        text = PTX[0].read_text()
        body = kernels_of(text)[kernel]
        changed = mistake(body)
        self.assertNotEqual(body, changed, f"nothing was planted in {kernel}")
        with tempfile.TemporaryDirectory() as folder:
            mutant = pathlib.Path(folder) / "mutant.ptx"
            mutant.write_text(text.replace(body, changed))
            done = self.run_tests([mutant, PTX[1]], tests)
        self.assertNotEqual(done.returncode, 0, f"a mistake in {kernel} was not found")
        return done.stdout + done.stderr

    def test_finds_a_product_that_was_contracted(self):
        def contract(body):
            for product, a, b in re.findall(r"mul\.rn\.f32 \t(%f\d+), ([^,]+), ([^;]+);", body):
                pattern = rf"add\.rn\.f32 \t(%f\d+), (%f\d+), {product};"
                if re.search(pattern, body):
                    return re.sub(pattern, rf"fma.rn.f32 \t\1, {a}, {b}, \2;", body, count=1)
            return body

        self.assertIn("FAILED", self.caught("running_update", contract, "DeviceTables*:SimdBatchNorm*:SimdOptimizer*"))

    def test_finds_an_ordered_comparison(self):
        said = self.caught("max_pool2d_forward", lambda body: body.replace("setp.leu.f32", "setp.le.f32"),
                           "SimdPool2d/0.Max")
        self.assertIn("FAILED", said)

    def test_finds_a_missing_barrier(self):
        for kernel, tests in (("linear_tiled", "SimdLinear/0*"), ("batch_norm_statistics", "SimdBatchNorm/0*")):
            said = self.caught(kernel, lambda body: body.replace("bar.sync", "// bar.sync", 1), tests)
            self.assertIn("FAILED", said)

    def test_refuses_an_estimate(self):
        said = self.caught("adam_step", lambda body: body.replace("div.rn.f32", "div.approx.f32"), "SimdOptimizer/0*")
        self.assertIn("the form div.approx.f32 is not known", said)


if __name__ == "__main__":
    unittest.main()
