"""scripts/gpu_first_run on the emulator, with stand-ins for NVIDIA's tools: every step is taken, and a failure costs one row.

gpu_first_run_test.py PROGRAM BUILD EMULATED_PLUGIN
"""
import os
import pathlib
import stat
import subprocess
import sys
import tarfile

from program import MOONS, PROGRAM, ProgramTest, main

BUILD, EMULATED = sys.argv.pop(1), sys.argv.pop(1)
SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/gpu_first_run"
# Each says what it was called with, and runs what stands behind its own options.
STAND_INS = {
    "nvidia-smi": 'echo "Driver Version: 580.1 $*"',
    "compute-sanitizer": 'echo "tool $2"; shift 4; exec "$@"',
    "nsys": 'shift 5; exec "$@"',
    "ncu": 'shift 5; exec "$@"',
    "mpirun": 'shift 2; exec "$@"',
}


class GpuFirstRun(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("a.toml", MOONS)
        self.tools = self.folder / "tools"
        self.tools.mkdir()

    def stand_in(self, name, body):
        path = self.tools / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def build(self):
        """The build, with a program that only says what would be measured: the emulator's times mean nothing."""
        made = self.folder / "build"
        (made / "tests/kernels").mkdir(parents=True)
        (made / "cli").mkdir()
        (made / "tests/kernels/cuda").symlink_to(pathlib.Path(BUILD) / "tests/kernels/cuda")
        program = made / "cli/lockstep"
        program.write_text(f'#!/bin/sh\ncase $1 in bench | ladder) echo "measures $*" ;; *) exec {PROGRAM} "$@" ;; esac\n')
        program.chmod(0o755)
        return made

    def first_run(self, out):
        build = self.build()
        environment = os.environ | {"PATH": f"{self.tools}:{os.environ['PATH']}", "LOCKSTEP_CUDA_EMULATOR": "memory=512"}
        done = subprocess.run(
            [SCRIPT, "--quick", "--build", build, "--plugin", EMULATED, "--out", self.folder / out, "--networks",
             self.folder / "a.toml"], capture_output=True, text=True, timeout=600, check=False, env=environment)
        rows = {}
        for line in (self.folder / out / "table.txt").read_text().splitlines():
            name, result, *rest = [part.strip() for part in line.split("  ") if part.strip()]
            rows[name] = (result, " ".join(rest))
        return done, rows

    def test_every_step_is_taken(self):
        for name, body in STAND_INS.items():
            self.stand_in(name, body)
        done, rows = self.first_run("all")
        self.assertEqual(done.returncode, 0, done.stdout[-3000:])
        expected = {"record", "record clocks", "record machine", "doctor", "contract tests", "kernels of the driver",
                    "library tests", "bench", "ladder", "nsys", "ncu", "memory is full", "same bits a float32", "same bits a float64",
                    "same bits a float32 without graphs", "same bits a float64 without graphs", "same bits two ranks by the host", "same bits two ranks device memory"}
        expected |= {f"compute-sanitizer {tool}" for tool in ("memcheck", "racecheck", "synccheck", "initcheck")}
        self.assertEqual({name for name in expected if rows.get(name, ("absent",))[0] != "passed"}, set(), rows)
        with tarfile.open(self.folder / "all.tar.gz") as archive:
            names = archive.getnames()
        for file in ("all/table.txt", "all/doctor.log", "all/record.log", "all/a-float32-cuda/model.safetensors"):
            self.assertIn(file, names)
        self.assertIn("Driver Version: 580.1", (self.folder / "all/record.log").read_text())

    def test_builds_the_preset(self):
        self.stand_in("cmake", 'echo "cmake $*"')
        environment = os.environ | {"PATH": f"{self.tools}:{os.environ['PATH']}"}
        command = [SCRIPT, "--parts", "compile", "--out", self.folder / "made"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("cmake --preset cuda\n", (self.folder / "made/configure.log").read_text())
        self.assertIn("cmake --build --preset cuda\n", (self.folder / "made/build.log").read_text())
        self.stand_in("cmake", "exit 3")
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"build +FAILED +exit 3")

    def test_refuses_a_part_that_it_has_not(self):
        done = subprocess.run([SCRIPT, "--parts", "dance"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no part 'dance'", done.stderr)

    def test_goes_on_after_a_failure(self):
        self.stand_in("nvidia-smi", "exit 9")
        self.stand_in("compute-sanitizer", "exit 99")
        done, rows = self.first_run("some")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(rows["record"][0], "FAILED")
        self.assertIn("exit 9", rows["record"][1])
        self.assertEqual(rows["compute-sanitizer racecheck"][0], "FAILED")
        self.assertEqual(rows["memory is full"][0], "passed")
        self.assertTrue((self.folder / "some.tar.gz").exists())


if __name__ == "__main__":
    main()
