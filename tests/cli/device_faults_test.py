"""device_faults_test.py PROGRAM FAULTY_DRIVER: what a driver can do to a training, each time one line and an exit code.
Skipped, saying so, where this build or machine has no OpenCL device."""
import os
import pathlib
import sys

from device_test import ENVIRONMENT, why_not
from program import MOONS, ProgramTest, main

FAULTY_DRIVER = sys.argv.pop(1) if len(sys.argv) > 1 else ""


class FaultsTest(ProgramTest):
    def refuse_fault(self, fault, code, message, *arguments, **environment):
        """One line of ours, and nothing that looks like a crash; the driver may have said something before."""
        self.write("a.toml", MOONS)
        environment = ENVIRONMENT | {"LD_PRELOAD": FAULTY_DRIVER, "LOCKSTEP_FAULT": fault,
                                     "ASAN_OPTIONS": "verify_asan_link_order=0"} | environment
        result = self.refuse(code, message, "train", "a.toml", "--backend", "opencl", "--out", "run", "--quiet",
                             *arguments, env=environment)
        self.assertEqual(len([line for line in result.err.splitlines() if line.startswith("lockstep: ")]), 1, result)
        return result

    def test_without_a_fault_it_trains(self):
        self.write("a.toml", MOONS)
        self.succeed("train", "a.toml", "--backend", "opencl", "--out", "run",
                     env=ENVIRONMENT | {"LD_PRELOAD": FAULTY_DRIVER, "ASAN_OPTIONS": "verify_asan_link_order=0"})

    def test_a_kernel_that_does_not_compile(self):
        result = self.refuse_fault("compile", 2, "does not compile the kernels of", LOCKSTEP_CACHE_DIR="off")
        self.assertIn("error", result.err)  # what the compiler said
        self.assertIn("use --backend simd", result.err)

    def test_an_imprecise_device_is_refused(self):
        """Whatever it says of itself, and with the operation that differs."""
        for fault, operation in (("division", "division"), ("sqrt", "square root"), ("fma", "fma"),
                                 ("denormals", "multiplication")):
            with self.subTest(fault=fault):
                result = self.refuse_fault(fault, 2, f": {operation} in float32", LOCKSTEP_CACHE_DIR="off",
                                           LOCKSTEP_OPENCL_ANY="1")
                self.assertIn("is not what IEEE 754 says", result.err)
                self.assertIn("use --backend simd", result.err)
                self.assertFalse((self.folder / "run").exists())

    def test_out_of_memory_at_any_time(self):
        for buffer in (1, 4, 8):
            with self.subTest(buffer=buffer):
                result = self.refuse_fault(f"memory:{buffer}", 5, "out of memory", "--overwrite")
                self.assertIn("use a smaller batch", result.err)
                self.assertEqual(len(result.err.splitlines()), 1, result)

    def test_a_device_that_is_lost_and_resumed_elsewhere(self):
        result = self.refuse_fault("lost:60", 5, "the OpenCL device was lost", "--set", "checkpoint.every_steps=1")
        self.assertEqual(len(result.err.splitlines()), 1, result)
        self.succeed("train", "a.toml", "--out", "run", "--resume", "--set", "checkpoint.every_steps=1")
        self.succeed("train", "a.toml", "--out", "whole", "--set", "checkpoint.every_steps=1")
        for name in ("metrics.jsonl", "model.safetensors"):
            self.assertEqual((self.folder / "run" / name).read_bytes(), (self.folder / "whole" / name).read_bytes(), name)

    def test_a_driver_that_aborts(self):
        self.refuse_fault("abort:30", 5, "aborted while the OpenCL device")

    def test_pocl_without_a_linker(self):
        """Kernels that are compiled need it; those that lie in the cache do not."""
        (self.folder / "empty").mkdir()
        clinfo = os.popen("clinfo 2>/dev/null").read()
        if "PoCL" not in clinfo or "debian" not in clinfo:
            self.skipTest("no PoCL of the distribution, or no clinfo that says so")
        result = self.refuse_fault("", 2, "the linker ld", PATH=str(self.folder / "empty"), LOCKSTEP_CACHE_DIR="off",
                           POCL_CACHE_DIR=str(self.folder / "empty"))
        self.assertIn("install binutils", result.err)
        self.assertEqual(len(result.err.splitlines()), 1, result)


if __name__ == "__main__":
    if not pathlib.Path(FAULTY_DRIVER).is_file():
        print("no faulty driver: this build has no OpenCL")
        sys.exit(77)
    if reason := why_not():
        print(f"no OpenCL device: {reason}")
        sys.exit(77)
    main()
