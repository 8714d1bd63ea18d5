"""Runs every operation under oclgrind: races, bounds, divergent barriers, uninitialised memory. oclgrind's exit code is
0 whatever it finds, so a finding is an entry of its log. A kernel with planted defects must be found first.

usage: oclgrind_test.py OCLGRIND TEST_PROGRAM
"""

import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
# oclgrind calls everything uninitialised that an earlier kernel wrote: these read what one did, in scratch memory.
SECOND_KERNELS = ("linear_weights", "batch_norm_tree")


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


def is_false_alarm(entry):
    return "ninitialized" in entry.splitlines()[0] and any(f"Kernel: {name}" in entry for name in SECOND_KERNELS)


def run(oclgrind, program, test, seconds):
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log"
        command = [oclgrind, "--build-options", "-cl-opt-disable", "--data-races", "--uninitialized",
                   "--max-errors", "1000000", "--log", str(log)]
        environment = dict(os.environ, LOCKSTEP_OPENCL_ANY="1", LOCKSTEP_CACHE_DIR="off")
        done = subprocess.run(command + [program, f"--gtest_filter={test}", "--gtest_also_run_disabled_tests"],
                              env=environment, capture_output=True, text=True, timeout=seconds, check=False)
        return done, list(findings(log.read_text() if log.exists() else ""))


def main():
    oclgrind, program = sys.argv[1:]
    if not pathlib.Path(oclgrind).exists():
        print("oclgrind is not installed")
        return SKIPPED
    done, found = run(oclgrind, program, "Oclgrind.DISABLED_PlantedOutOfBounds", 100)
    if not any("Invalid" in entry for entry in found):
        print(f"a planted read out of bounds was not found:\n{done.stdout}{done.stderr}{found}")
        return 1
    done, found = run(oclgrind, program, "DeviceTables/0.*", 500)
    if "[  PASSED  ] 1 test" not in done.stdout:
        print(f"the operations did not pass:\n{done.stdout[-4000:]}{done.stderr[-2000:]}")
        return 1
    real = [entry for entry in found if not is_false_alarm(entry)]
    for entry in real[:5]:
        print(entry)
    print(f"{len(real)} findings")
    return 1 if real else 0


if __name__ == "__main__":
    sys.exit(main())
