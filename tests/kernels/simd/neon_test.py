"""neon_test.py ROOT SOURCE...: the kernels compile for ARM's NEON, with warnings as errors.

Nothing is run: that needs such a machine. Skipped where there is no cross compiler."""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

COMPILER = "aarch64-linux-gnu-g++"
FLAGS = ["-std=c++20", "-O0", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-Wno-psabi",
         "-DLOCKSTEP_SIMD=simd_neon", '-DLOCKSTEP_SIMD_NAME="simd.neon"', "-DLOCKSTEP_SIMD_BYTES=16"]


def compile_one(root, source):
    return subprocess.run([COMPILER, *FLAGS, f"-I{root}", "-c", source, "-o", os.devnull], capture_output=True, text=True)


def main():
    root, *sources = sys.argv[1:]
    assert len(sources) >= 10, sources
    if shutil.which(COMPILER) is None:
        print(f"skipped: no {COMPILER} (Debian: g++-aarch64-linux-gnu)")
        return 77
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        results = list(pool.map(lambda source: compile_one(root, source), sources))
    for source, result in zip(sources, results):
        if result.returncode != 0:
            print(f"{pathlib.Path(source).name} does not compile for NEON:\n{result.stderr}")
    return int(any(result.returncode != 0 for result in results))


if __name__ == "__main__":
    sys.exit(main())
