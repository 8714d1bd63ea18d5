"""device_test.py PROGRAM: training, evaluation and prediction on an OpenCL device, as users meet them: the same bytes as on
the CPU, and one line where something is missing. Skipped, saying so, where this build or machine has no OpenCL device."""
import ctypes
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

from libraries import LibraryTest
from program import HIDDEN, MOONS, PICTURES, PROGRAM, main, sanitized

# Batch normalisation, dropout and clipping; batches of 10 leave a remainder.
SMALL_CNN = """\
[data]
source = "x.npy"
labels = "y.npy"
split = {validation = 8}
[model]
input = [1, 4, 4]
layers = [{conv2d = {out = 4, kernel = 3, pad = 1}}, "batch_norm", "relu", {max_pool2d = 2}, {dropout = 0.25}, {linear = 3}]
[train]
batch = 10
slots = 2
epochs = 4
l2 = 1e-3
clip_norm = 1.0
[checkpoint]
every_steps = 3
"""
# Compiled kernels of all tests, once; they stay in the build for the next time.
CACHE = str(pathlib.Path(PROGRAM).resolve().parent / "test-kernels")
ENVIRONMENT = {"POCL_CACHE_DIR": CACHE, "XDG_CACHE_HOME": CACHE}
RESULTS = ["metrics.jsonl", "model.safetensors"]


def why_not():
    """Why there is nothing to test; None: there is a device."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "a.toml").write_text(MOONS)
        done = subprocess.run([PROGRAM, "train", "a.toml", "--backend", "opencl", "--quiet"], cwd=folder, text=True,
                              env=os.environ | ENVIRONMENT, capture_output=True, timeout=300, check=False)
    return None if done.returncode == 0 else done.stderr.strip()


class DeviceTest(LibraryTest):
    def run_program(self, *arguments, **options):
        options["env"] = ENVIRONMENT | options.get("env", {})
        return super().run_program(*arguments, **options)

    def same_files(self, one, other):
        for name in RESULTS:
            self.assertEqual((self.folder / one / name).read_bytes(), (self.folder / other / name).read_bytes(), name)

    def small_cnn(self):
        self.write_digits(60)
        self.write("cnn.toml", SMALL_CNN)

    def test_files_are_the_same_byte_by_byte(self):
        self.small_cnn()
        for backend in ("simd", "opencl"):
            self.succeed("train", "cnn.toml", "--backend", backend, "--out", backend)
        self.same_files("simd", "opencl")
        self.assertIn('"backend":"opencl"', (self.folder / "opencl" / "timings.jsonl").read_text())

    def test_clblast_trains_almost_the_same_network(self):
        try:
            ctypes.CDLL("libclblast.so.1")
        except OSError as error:
            self.skipTest(str(error))
        self.close_to_naive("opencl-library")

    def test_resumed_on_the_other_it_is_the_same_run(self):
        self.small_cnn()
        self.succeed("train", "cnn.toml", "--out", "whole")
        for first, second in (("opencl", "simd"), ("simd", "opencl")):
            out = f"{first}-{second}"
            self.succeed("train", "cnn.toml", "--backend", first, "--out", out, "--set", "train.epochs=2")
            self.succeed("train", "cnn.toml", "--backend", second, "--out", out, "--resume")
            self.same_files("whole", out)

    def test_evaluates_and_predicts_the_same(self):
        self.write_digits()
        self.train(PICTURES)
        model = "run/model.safetensors"
        for command in (["eval", model, "--json"], ["predict", model, "x.npy", "--json"]):
            self.assertEqual(self.succeed(*command, "--backend", "opencl").out, self.succeed(*command).out)

    def test_profile_shows_the_kernels_of_the_device(self):
        self.small_cnn()
        result = self.succeed("train", "cnn.toml", "--backend", "opencl", "--out", "run", "--profile")
        self.assertIn("kernel on the device", result.out + result.err)
        profile = json.loads((self.folder / "run" / "profile.json").read_text())
        self.assertTrue(all(kernel["launches"] > 0 for kernel in profile["device_kernels"]))
        for copy in ("copy to the device", "copy to the host"):
            (times,) = [kernel for kernel in profile["device_kernels"] if kernel["kernel"] == copy]
            self.assertGreater(times["seconds"], 0, times)
        self.assertIn("GB/s, ", result.out + result.err)

    def test_bench_by_the_clock_of_the_device(self):
        done = json.loads(self.succeed("bench", "digits", "--quick", "--json", "--threads", "1", "--backend", "opencl",
                                       "--backend", "opencl-naive", "--backend", "naive").out)
        (device,) = done["machine"]["devices"]
        self.assertGreater(device["float64_gflops_per_second"], 0)
        kernels = done["kernels"]
        self.assertEqual({each["backend"] for each in kernels}, {"opencl", "opencl-naive", "naive"})
        for each in kernels:
            self.assertEqual(each["bits"], "same")
            self.assertGreater(each["gflops_per_second"], 0)
            self.assertGreater(each["share_of_peak"], 0)
        shapes = [(each["kernel"], each["shape"]) for each in kernels]
        self.assertTrue(all(shapes.count(shape) == 3 for shape in shapes), shapes)

    def test_doctor_says_the_limits(self):
        (device, *_) = json.loads(self.succeed("doctor", "--json").out)["devices"]
        for limit in ("memory_bytes", "max_allocation_bytes", "local_bytes", "max_group", "compute_units"):
            self.assertGreater(device[limit], 0, device)
        self.assertTrue(device["driver"] and device["float64"], device)
        self.assertIn(f"device {device['id']}: {device['name']}", self.succeed("doctor").out)

    def test_two_ranks_have_the_same_files(self):
        if shutil.which("mpirun.openmpi") is None:
            self.skipTest("no mpirun.openmpi")
        self.small_cnn()
        self.succeed("train", "cnn.toml", "--out", "alone")
        done = subprocess.run(["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", "2", PROGRAM, "train",
                               "cnn.toml", "--backend", "opencl", "--out", "two"], cwd=self.folder, text=True,
                              env=os.environ | ENVIRONMENT, capture_output=True, timeout=300, check=False)
        if "part of this program for" in done.stderr:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.same_files("alone", "two")

    def refuse_opencl(self, message, **options):
        self.write("a.toml", MOONS)
        result = self.refuse(2, message, "train", "a.toml", "--backend", "opencl", "--quiet", **options)
        self.assertEqual(len(result.err.splitlines()), 1, result)
        return result

    def test_without_a_device_it_says_so(self):
        (self.folder / "none").mkdir()
        result = self.refuse_opencl("no OpenCL driver on this machine", env={"OCL_ICD_VENDORS": str(self.folder / "none")})
        self.assertIn("pocl-opencl-icd", result.err)

    def test_a_driver_that_does_not_load_is_named_with_the_reason(self):
        for content, reason in ((None, "cannot open shared object file"), (b"no library at all", "file too short"),
                                (b"no library at all " * 100, "invalid ELF header")):
            with self.subTest(reason=reason):
                if content:
                    self.write("libdriver.so", content)
                driver = str(self.folder / "libdriver.so")
                self.write("vendors/own.icd", driver + "\n")
                result = self.refuse_opencl(f"the driver {driver} of ",
                                            env={"OCL_ICD_VENDORS": str(self.folder / "vendors")})
                self.assertIn(reason, result.err)
                self.assertNotIn("no OpenCL driver", result.err)

    def test_a_loader_that_does_not_load_is_not_called_absent(self):
        self.write("broken/libOpenCL.so.1", b"no library at all " * 100)
        result = self.refuse_opencl("which does not load: ", env={"LD_LIBRARY_PATH": str(self.folder / "broken")})
        self.assertIn("invalid ELF header", result.err)
        self.assertNotIn("lacks", result.err)

    def test_a_limit_of_memory_is_not_called_a_missing_driver(self):
        if sanitized():
            self.skipTest("a sanitizer needs more address space than the limit leaves")
        limit = 200 << 20
        result = self.refuse_opencl("ulimit -v", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        self.assertNotIn("no OpenCL driver", result.err)

    def test_parts_of_networks_are_refused(self):
        self.write("a.toml", MOONS)
        self.refuse(2, "parallel.pipeline", "train", "a.toml", "--backend", "opencl", "--set", "parallel.pipeline=2")

    def test_weights_that_relu_hides_from_the_loss_are_exit_8(self):
        self.write("a.toml", HIDDEN)
        for backend in ("opencl", "opencl-naive"):
            result = self.refuse(8, "training diverged: the weights are not finite numbers at epoch 1, step 1", "train",
                                 "a.toml", "--backend", backend, "--out", backend)
            self.assertIn("lower train.optimizer.lr", result.err)
            self.assertFalse((self.folder / backend / "model.safetensors").exists())
            status = json.loads((self.folder / backend / "status.json").read_text())
            self.assertEqual((status["state"], status["exit_code"]), ("diverged", 8))

    def test_a_batch_that_is_too_large_is_refused(self):
        """PoCL can be told to have one gigabyte: 20,000 samples at a time of 60,000 numbers each do not fit."""
        self.write("a.toml", MOONS.replace("2-3-1", "2-60000-1").replace("count = 64", "count = 20000")
                   .replace("batch = 16", "batch = 20000\nslots = 1"))
        self.refuse(5, "lower train.batch", "train", "a.toml", "--backend", "opencl", "--out", "run",
                    env={"POCL_MEMORY_LIMIT": "1"})


if __name__ == "__main__":
    if reason := why_not():
        print(f"no OpenCL device: {reason}")
        sys.exit(77)
    main()
