"""compilers_test.py PROJECT BUILDS [--this=NAME=PROGRAM]: builds the training run of PROJECT with several compilers
and flags, each in a lasting folder of BUILDS (so that a second run compiles only what changed), and runs them all.
A run prints lines `WHAT HASH`, for example one per kernel variant; all hashes of all runs must be the same."""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

VARIANTS = {"gcc-O0": ("g++", "-O0"), "gcc-O3": ("g++", "-O3"), "clang-O3": ("clang++", "-O3")}
# The release build of gcc is gcc-O3: no need to compile the library once more.
SAME_AS = {"GNU-Release": "gcc-O3", "Clang-Release": "clang-O3"}
SKIPPED = 77


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed ({done.returncode}):\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def level_of(command):
    """The optimisation level a compiler command ends up with: the last one wins."""
    levels = re.findall(r"(?<=\s)-O\w*(?=\s)", f" {command} ")
    return levels[-1] if levels else "-O0"


def wrong_levels(commands, wanted):
    """Source files compiled with a level of their own, which would make the comparison a false one. The naive kernels
    of the ladder's first rung are at -O0 by design, and so have theirs the loops that measure the machine's peak, which
    no training uses."""
    return [entry["file"] for entry in commands
            if level_of(entry["command"]) != wanted and "/lab/peak/" not in entry["file"]
            and " -DLOCKSTEP_NAIVE=naive_o0 " not in entry["command"]]


def build(project, folder, compiler, level, isas):
    """`isas`: kernels for AVX-512 are compiled only where they can run."""
    if not (folder / "build.ninja").exists():
        run(["cmake", "-S", project, "-B", folder, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={compiler}",
             f"-DCMAKE_CXX_FLAGS={level}", f"-DLOCKSTEP_KERNEL_LEVEL={level}", f"-DLOCKSTEP_ISAS={isas}",
             "-DCMAKE_BUILD_TYPE=None"])
    run(["ninja", "-C", folder, "-j2", "train_hash"])
    wrong = wrong_levels(json.loads((folder / "compile_commands.json").read_text()), level)
    if wrong:
        sys.exit(f"compiled with another level than {level}: " + ", ".join(wrong))
    return folder / "train_hash"


def verdict(hashes):
    """None if there is one hash from every run, else what is wrong. `hashes` maps a run to its lines."""
    if silent := [name for name, lines in hashes.items() if not lines]:
        return "printed no hash: " + ", ".join(silent)
    different = {line.split()[-1] for lines in hashes.values() for line in lines}
    return None if len(different) == 1 else f"the weights depend on the compiler: {len(different)} different hashes"


def main(arguments):
    project, builds = (pathlib.Path(a) for a in arguments[:2])
    programs, skipped = {}, []
    for option in arguments[2:]:
        name, program = option.removeprefix("--this=").split("=", 1)
        programs[SAME_AS.get(name, name)] = pathlib.Path(program)
    hashes = {name: run([program]).splitlines() for name, program in programs.items()}
    avx512 = any(line.startswith("simd.avx512 ") for lines in hashes.values() for line in lines)
    isas = "all" if avx512 else "baseline;avx2;neon"
    # A program runs while the next one is built: at -O0 it takes 40 seconds, and often one thread only.
    with concurrent.futures.ThreadPoolExecutor(max_workers=1) as beside:
        runs = {}
        for name, (compiler, level) in VARIANTS.items():
            if name in programs:
                continue
            if shutil.which(compiler) is None:
                skipped.append(f"{name}: {compiler} is not installed")
                continue
            runs[name] = beside.submit(run, [build(project, builds / name, compiler, level, isas)])
        hashes |= {name: done.result().splitlines() for name, done in runs.items()}
    print("\n".join([f"{name:10} {line}" for name, lines in hashes.items() for line in lines] + skipped))
    if fault := verdict(hashes):
        sys.exit(fault)
    if skipped:
        return 1 if os.environ.get("CI") else SKIPPED
    return 0


class SelfTest(unittest.TestCase):
    def test_verdict(self):
        self.assertIsNone(verdict({"a": ["x 1", "y 1"], "b": ["x 1"]}))
        self.assertIn("2 different", verdict({"a": ["x 1", "y 1"], "b": ["x 1", "y 2"]}))
        self.assertIn("no hash: b", verdict({"a": ["x 1"], "b": []}))

    def test_last_level_wins(self):
        self.assertEqual(level_of("g++ -O0 -c -O3 -o x.o"), "-O3")
        self.assertEqual(level_of("g++ -c -o x.o"), "-O0")
        self.assertEqual(wrong_levels([{"file": "a", "command": "g++ -O0 -O3 a"}], "-O0"), ["a"])
        self.assertEqual(wrong_levels([{"file": "a", "command": "g++ -O3 a"}], "-O3"), [])
        self.assertEqual(wrong_levels([{"file": "a", "command": "g++ -DLOCKSTEP_NAIVE=naive_o0 -O0 a"}], "-O3"), [])


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        unittest.main(argv=sys.argv[:1])
    sys.exit(main(sys.argv[1:]))
