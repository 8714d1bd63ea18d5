"""neon_test.py ROOT HEADERS SOURCE...: the kernels compile for ARM's NEON, with warnings as errors. HEADERS, with
commas between them, are what most of them include: precompiled, as in the build.

Nothing is run: that needs such a machine. Skipped where there is no cross compiler."""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

COMPILER = "aarch64-linux-gnu-g++"
FLAGS = ["-std=c++20", "-O0", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-Wno-psabi",
         "-DLOCKSTEP_SIMD=simd_neon", '-DLOCKSTEP_SIMD_NAME="simd.neon"', "-DLOCKSTEP_SIMD_BYTES=16"]


def compile_one(root, *arguments):
    return subprocess.run([COMPILER, *FLAGS, f"-I{root}", *arguments], capture_output=True, text=True)


def compile_all(root, headers, sources, folder):
    """The name of each file and how its compilation ended: first the headers, then the sources beside each other."""
    common = folder / "common.hpp"
    common.write_text("".join(f'#include "{header}"\n' for header in headers))
    yield "the headers", compile_one(root, "-x", "c++-header", common, "-o", f"{common}.gch")
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        yield from zip(sources, pool.map(
            lambda source: compile_one(root, "-include", common, "-c", source, "-o", os.devnull), sources))


def main():
    root, headers, *sources = sys.argv[1:]
    assert len(sources) >= 10, sources
    if shutil.which(COMPILER) is None:
        print(f"skipped: no {COMPILER} (Debian: g++-aarch64-linux-gnu)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        results = list(compile_all(root, headers.split(","), sources, pathlib.Path(folder)))
    for name, result in results:
        if result.returncode != 0:
            print(f"{pathlib.Path(name).name} does not compile for NEON:\n{result.stderr}")
    return int(any(result.returncode != 0 for _, result in results))


if __name__ == "__main__":
    sys.exit(main())
