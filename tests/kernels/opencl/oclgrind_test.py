"""Runs every operation under oclgrind: races, bounds, divergent barriers, uninitialised memory. oclgrind's exit code is
0 whatever it finds, so a finding is an entry of its log. A kernel with planted defects must be found first.

usage: oclgrind_test.py OCLGRIND TEST_PROGRAM
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
# What is run: scalar, samples of a work-item (1 is oclgrind's own way, a GPU's), and whether the naive kernels run too.
RUNS = [("float", "1", True), ("double", "1", False), ("float", "16", False), ("double", "8", False)]


def findings(log):
    """The entries of a log: a headline, then indented lines, one of which names the kernel."""
    entry = []
    for line in log.splitlines() + [""]:
        if line and not line.startswith(("\t", " ")) and entry:
            yield "\n".join(entry)
            entry = []
        if line.strip():
            entry.append(line)
    if entry:
        yield "\n".join(entry)


def run(oclgrind, program, test, seconds, **variables):
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log"
        # oclgrind counts the local memory of every kernel whose name begins with that of the kernel: linear_tiled needs more.
        command = [oclgrind, "--build-options", "-cl-opt-disable", "--data-races", "--uninitialized",
                   "--local-mem-size", "131072", "--max-errors", "1000000", "--log", str(log)]
        environment = dict(os.environ, LOCKSTEP_CACHE_DIR="off", **variables)
        done = subprocess.run(command + [program, f"--gtest_filter={test}", "--gtest_also_run_disabled_tests"],
                              env=environment, capture_output=True, text=True, timeout=seconds, check=False)
        return done, list(findings(log.read_text() if log.exists() else ""))


def run_operations(oclgrind, program, scalar, lanes, naive):
    variables = {} if naive else {"LOCKSTEP_TEST_TUNED_ONLY": "1"}
    if lanes != "1":
        variables["LOCKSTEP_OPENCL_LANES"] = lanes
    return run(oclgrind, program, f"DeviceTables/{('float', 'double').index(scalar)}.*", 500, **variables)


def main():
    oclgrind, program = sys.argv[1:]
    if not pathlib.Path(oclgrind).exists():
        print("oclgrind is not installed")
        return SKIPPED
    done, found = run(oclgrind, program, "Oclgrind.DISABLED_PlantedOutOfBounds", 100)
    if not any("Invalid" in entry for entry in found):
        print(f"a planted read out of bounds was not found:\n{done.stdout}{done.stderr}{found}")
        return 1
    failed = False
    with concurrent.futures.ThreadPoolExecutor(2) as pool:  # each run is one process
        results = list(pool.map(lambda what: run_operations(oclgrind, program, *what), RUNS))
    for (scalar, lanes, naive), (done, found) in zip(RUNS, results):
        if "[  PASSED  ] " not in done.stdout or "[  FAILED  ] " in done.stdout:
            print(f"the operations did not pass:\n{done.stdout[-4000:]}{done.stderr[-2000:]}")
            failed = True
        for entry in found[:5]:
            print(entry)
        print(f"{scalar}, {lanes} samples, {'all' if naive else 'tuned'} kernels: {len(found)} findings")
        failed = failed or bool(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
