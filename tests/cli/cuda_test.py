"""--backend cuda: what the program says where a part of CUDA is missing, and that it trains on the emulator.

cuda_test.py PROGRAM EMULATED_PLUGIN OTHER_LIBRARY [PLUGIN]: the plugin for the emulator, a library that is no plugin,
and the plugin that nvcc made, where there is one.
"""
import ctypes.util
import os
import pathlib
import shutil
import subprocess
import sys

import program
from libraries import LIBRARY_CNN, LibraryTest
from program import MOONS, ProgramTest, main

EMULATED, OTHER = sys.argv.pop(1), sys.argv.pop(1)
REAL = sys.argv.pop(1) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else ""


def has_gpu():
    return shutil.which("nvidia-smi") is not None or pathlib.Path("/proc/driver/nvidia/version").exists()


class Missing(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("a.toml", MOONS)

    def refuse_cuda(self, message, plugin=None, emulator=""):
        env = {"LOCKSTEP_CUDA_EMULATOR": emulator} | ({"LOCKSTEP_CUDA_PLUGIN": str(plugin)} if plugin else {})
        result = self.refuse(2, message, "train", "a.toml", "--backend", "cuda", "--quiet", env=env)
        self.assertEqual(len(result.err.splitlines()), 1, result)
        return result

    def test_no_plugin(self):
        # Alone in a folder, the program finds nothing beside it.
        lonely = self.folder / "bin" / "lockstep"
        lonely.parent.mkdir()
        shutil.copy2(program.PROGRAM, lonely)
        environment = {k: v for k, v in os.environ.items() if k != "LOCKSTEP_CUDA_PLUGIN"}

        def refused(**more):
            done = subprocess.run([lonely, "train", "a.toml", "--backend", "cuda"], cwd=self.folder, env=environment | more,
                                  capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 2, done)
            self.assertEqual(len(done.stderr.splitlines()), 1)
            return done.stderr

        if ctypes.util.find_library("cuda") is None:
            self.assertIn("no GPU found: no NVIDIA driver on this machine", refused())
        shutil.copy2(OTHER, lonely.parent / "libcuda.so.1")  # any library: only the plugin looks into it
        said = refused(LD_LIBRARY_PATH=str(lonely.parent))
        self.assertIn("liblockstep_cuda.so is not beside the program", said)
        self.assertIn("nvcc", said)

    def test_no_kernels_for_this_gpu(self):
        result = self.refuse_cuda("CUDA emulator 0 runs none of the kernels of this plugin", EMULATED, "image=none,sm=61")
        self.assertIn("sm_61", result.err)
        self.assertIn("no kernel image is available", result.err)
        self.assertIn("sm_75 or newer", result.err)

    def test_device_is_chosen_before_mpi_starts(self):
        # Marks of Open MPI's launcher, and no part of the program for it: it ends before MPI, but after the choice.
        log = self.folder / "trace"
        env = {"LOCKSTEP_CUDA_PLUGIN": EMULATED, "LOCKSTEP_CUDA_EMULATOR": f"devices=2,trace={log}",
               "LOCKSTEP_MPI_DIR": str(self.folder), "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "3",
               "OMPI_COMM_WORLD_LOCAL_RANK": "1"}
        self.refuse(2, "lockstep_openmpi.so", "train", "a.toml", "--backend", "cuda", "--quiet", env=env)
        self.assertEqual(log.read_text(), "context 1\n")

    def test_plugin_that_does_not_load(self):
        self.refuse_cuda("the plugin does not load", self.folder / "absent.so")
        self.refuse_cuda("the plugin does not load", self.write("text.so", "no library"))

    def test_plugin_of_another_version(self):
        self.refuse_cuda("was made for another version of Lockstep", OTHER)

    def test_no_driver(self):
        self.refuse_cuda("no GPU found: no NVIDIA driver on this machine", EMULATED, "driver=none")

    def test_no_gpu(self):
        self.refuse_cuda("the NVIDIA driver finds no GPU", EMULATED, "devices=0")

    def refuse_library(self, message, **files):
        env = {"LOCKSTEP_CUDA_PLUGIN": EMULATED} | {name: str(file) for name, file in files.items()}
        result = self.refuse(2, message, "train", "a.toml", "--backend", "cuda-library", "--quiet", env=env)
        self.assertEqual(len(result.err.splitlines()), 1, result)
        return result

    def test_no_cublas(self):
        result = self.refuse_library("cuda-library: cuBLAS: ", LOCKSTEP_CUBLAS=self.folder / "absent.so")
        self.assertIn("absent.so: cannot open shared object file", result.err)

    def test_no_cudnn(self):
        result = self.refuse_library("cuda-library: cuDNN: ", LOCKSTEP_CUDNN=self.folder / "absent.so")
        self.assertIn("absent.so: cannot open shared object file", result.err)
        self.assertIn("or use --backend cuda", result.err)
        self.refuse_library("cuda-library: cuDNN: the library has no cudnn", LOCKSTEP_CUDNN="libc.so.6")

    def test_no_driver_for_the_plugin_of_nvcc(self):
        if not REAL:
            self.skipTest("no nvcc, so no plugin made by it")
        if has_gpu():
            self.skipTest("this machine has an NVIDIA driver")
        self.refuse_cuda("no GPU found: no NVIDIA driver on this machine", REAL)


class Training(LibraryTest):
    def hash_of(self, backend, out):
        self.write("a.toml", MOONS)
        env = {"LOCKSTEP_CUDA_PLUGIN": EMULATED, "LOCKSTEP_CUDA_EMULATOR": "random"}
        self.succeed("train", "a.toml", "--backend", backend, "--out", out, "--quiet", "--json", env=env)
        return (self.folder / out / "model.safetensors").read_bytes()

    def test_model_of_the_emulator_is_that_of_the_cpu(self):
        expected = self.hash_of("naive", "naive")
        for backend in ("cuda", "cuda-naive"):
            self.assertEqual(self.hash_of(backend, backend), expected, backend)

    def test_libraries_train_almost_the_same_network(self):
        env = {"LOCKSTEP_CUDA_PLUGIN": EMULATED, "LOCKSTEP_CUDA_EMULATOR": "random"}
        self.close_to_naive("cuda-library", env=env)

    def test_libraries_stand_in_the_profile(self):
        self.write_digits(40)
        self.write("cnn.toml", LIBRARY_CNN)
        env = {"LOCKSTEP_CUDA_PLUGIN": EMULATED, "LOCKSTEP_CUDA_EMULATOR": "random"}
        result = self.succeed("train", "cnn.toml", "--backend", "cuda-library", "--profile", env=env)
        for name in ("cublas_gemm", "cudnn_convolution_forward", "cudnn_convolution_backward_weights",
                     "cudnn_pooling_backward", "cudnn_batch_norm_training"):
            self.assertIn(name, result.out + result.err)

    def test_lost_device_is_exit_5(self):
        self.write("a.toml", MOONS)
        for error, said in ((702, "timed out"), (214, "ECC"), (46, "unavailable"), (719, "launch failure")):
            env = {"LOCKSTEP_CUDA_PLUGIN": EMULATED, "LOCKSTEP_CUDA_EMULATOR": f"lose=40/{error}"}
            result = self.refuse(5, "is lost", "train", "a.toml", "--backend", "cuda", "--quiet", "--out", f"r{error}",
                                 env=env)
            self.assertIn(said, result.err)
            self.assertIn("--resume", result.err)
        env = {"LOCKSTEP_CUDA_PLUGIN": EMULATED, "LOCKSTEP_CUDA_EMULATOR": "lose=40/700"}
        self.refuse(1, "illegal memory access", "train", "a.toml", "--backend", "cuda", "--quiet", "--out", "bug", env=env)

    def test_plans_on_what_is_free(self):
        # The batch needs about 40 MiB at once: less than nine tenths of the memory, more than is free.
        self.write("a.toml", MOONS.replace("count = 64", "count = 8192").replace("2-3-1", "2-256-256-1")
                   .replace("batch = 16", "batch = 8000").replace("epochs = 3", "epochs = 1"))
        hashes = set()
        for emulator in ("memory=96,taken=60", "memory=96"):
            env = {"LOCKSTEP_CUDA_PLUGIN": EMULATED, "LOCKSTEP_CUDA_EMULATOR": emulator}
            self.succeed("train", "a.toml", "--backend", "cuda", "--quiet", "--out", emulator, env=env)
            hashes.add((self.folder / emulator / "model.safetensors").read_bytes())
        self.assertEqual(len(hashes), 1)

    def test_out_of_device_memory(self):
        self.write("a.toml", MOONS.replace("2-3-1", "2-3000-3000-1"))
        env = {"LOCKSTEP_CUDA_PLUGIN": EMULATED, "LOCKSTEP_CUDA_EMULATOR": "memory=16"}
        self.refuse(5, "use a smaller batch or network", "train", "a.toml", "--backend", "cuda", "--quiet", env=env)


if __name__ == "__main__":
    main()
