"""intel_test.py PROMISE_DEVICE_TESTS: level L6 of the promise on Intel's OpenCL runtime for processors, a second compiler
of the same kernels beside PoCL. It does not declare correctly rounded division; the probe of the device finds that it has
it. From PyPI (intel-opencl-rt, scripts/requirements-test.txt); skipped, saying so, where it is not installed."""
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

SKIPPED = 77


def find_runtime():
    """LOCKSTEP_TEST_INTEL names the library; else it lies in the virtual environment of the tests."""
    given = os.environ.get("LOCKSTEP_TEST_INTEL")
    path = pathlib.Path(given) if given else pathlib.Path(sys.prefix) / "lib" / "libintelocl.so"
    return path if path.is_file() else None


def main():
    (program,) = sys.argv[1:]
    runtime = find_runtime()
    if runtime is None:
        print(f"intel-opencl-rt is not installed in {sys.prefix}")
        on_ci = os.environ.get("CI") and platform.machine() == "x86_64"
        return 1 if on_ci else SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "intel.icd").write_text(f"{runtime}\n")
        environment = {key: value for key, value in os.environ.items() if not key.startswith("LOCKSTEP_OPENCL")}
        environment |= {"OCL_ICD_VENDORS": folder, "LOCKSTEP_CACHE_DIR": folder}
        done = subprocess.run([program, "--gtest_filter=Devices.*/opencl*"], env=environment,
                              capture_output=True, text=True, timeout=550, check=False)
    print(done.stdout[-6000:], done.stderr[-2000:])
    passed = re.search(r"\[  PASSED  \] (\d+) test", done.stdout)
    if done.returncode != 0 or "SKIPPED" in done.stdout or passed is None or int(passed[1]) < 10:
        print("the promise is not kept, or was not tested, on Intel's runtime")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
