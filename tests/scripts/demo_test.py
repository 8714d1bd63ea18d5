"""demo_test.py ROOT LOCKSTEP BUILD NINJA [CUDA_PLUGIN]: what `make demo` says and builds, with stubs for the long parts."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT, PROGRAM, BUILD, NINJA, *PLUGIN = sys.argv[1:]
del sys.argv[1:]
EXAMPLE = "examples/lenet5-fashion.toml"
sys.path.insert(0, str(pathlib.Path(ROOT, "tests/bare")))

import rungs  # noqa: E402


class Demo(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="lockstep-demo-")
        self.addCleanup(folder.cleanup)
        self.tree = pathlib.Path(folder.name)
        (self.tree / "build").mkdir()
        for name in ("scripts/demo", "scripts/common.sh", EXAMPLE):
            (self.tree / name).parent.mkdir(exist_ok=True)
            shutil.copy2(pathlib.Path(ROOT, name), self.tree / name)

    def demo(self, **failing):
        for name, path in (("bootstrap", "scripts/bootstrap"), ("build", "scripts/build"), ("lockstep", "build/lockstep")):
            stub = self.tree / path
            native = "\n[ -n \"$NATIVE\" ] || exit 9" if name == "build" else ""
            stub.write_text(f"#!/bin/sh\necho {name} $*{native}\nexit {failing.get(name, 0)}\n")
            stub.chmod(0o755)
        done = subprocess.run([self.tree / "scripts/demo", EXAMPLE], capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()

    def test_every_stage_is_announced_with_its_time(self):
        code, out, err = self.demo()
        self.assertEqual(code, 0, err)
        self.assertEqual([re.sub(r"lockstep: (step \d of \d): .*\bmin.*", r"\1", line) for line in err],
                         ["step 1 of 3", "step 2 of 3", "step 3 of 3"])
        gpu = any(pathlib.Path(device).exists() for device in ("/dev/nvidiactl", "/dev/dxg"))
        self.assertEqual(out[:2], ["bootstrap demo fashion-mnist",
                                   f"build release lockstep_{'program' if gpu else 'ladder'}"])
        self.assertTrue(out[2].startswith(f"lockstep ladder {EXAMPLE} "), out)
        self.assertEqual(out[3], "build release lockstep_program")  # the rest, behind what is measured

    def test_it_ends_with_three_commands_that_exist(self):
        _, out, _ = self.demo()
        self.assertEqual(out[-4], "Try next:")
        for line in out[-3:]:
            command, comment = line.split("#")
            program, name, *arguments = command.split()
            self.assertEqual(program, "build/lockstep")
            self.assertTrue(comment.strip())
            subprocess.run([PROGRAM, name, *arguments, "--help"], check=True, capture_output=True, timeout=60)
            for argument in arguments:
                if "/" in argument:
                    self.assertTrue(pathlib.Path(ROOT, argument).exists(), argument)

    def test_a_stage_that_fails_ends_it(self):
        for name, said in (("bootstrap", 1), ("build", 2), ("lockstep", 3)):
            code, out, err = self.demo(**{name: 7})
            self.assertEqual((code, len(out), len(err)), (7, said, said))

    def test_the_program_comes_with_the_cuda_plugin_where_nvcc_is(self):
        if not PLUGIN:
            self.skipTest("no nvcc here, so no CUDA plugin")
        inputs = subprocess.run([NINJA, "-C", BUILD, "-t", "inputs", "lockstep_program"], check=True, capture_output=True,
                                text=True, timeout=60).stdout.split()
        self.assertTrue(any(name.endswith("lockstep/kernels/cuda/plugin.cu") for name in inputs))


class Build(unittest.TestCase):
    """scripts/build with stubs for CMake and Ninja: for which instruction sets it configures."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="lockstep-build-")
        self.addCleanup(folder.cleanup)
        self.tree = pathlib.Path(folder.name)
        (self.tree / "bin").mkdir()
        (self.tree / "scripts").mkdir()
        for name in ("scripts/build", "scripts/common.sh", "CMakePresets.json"):
            shutil.copy2(pathlib.Path(ROOT, name), self.tree / name)
        # Keeps what it was given, as CMake does.
        self.stub("bin/cmake", 'echo "$*" >> asked; mkdir -p build/release; touch build/release/build.ninja\n'
                               'for each in "$@"; do case $each in -DLOCKSTEP_ISAS=*)\n'
                               'echo "LOCKSTEP_ISAS:STRING=${each#*=}" > build/release/CMakeCache.txt;; esac; done')
        self.stub("scripts/compile", "")
        self.stub("scripts/venv", "exit 1")

    def stub(self, name, text):
        (self.tree / name).write_text(f"#!/bin/sh\n{text}\n")
        (self.tree / name).chmod(0o755)

    def configured(self, **variables):
        """The instruction sets that CMake was asked for; None: it was not called."""
        (self.tree / "asked").unlink(missing_ok=True)
        subprocess.run([self.tree / "scripts/build", "release"], check=True, capture_output=True, timeout=60,
                       env={"PATH": f"{self.tree / 'bin'}:/usr/bin:/bin", **variables})
        asked = self.tree / "asked"
        return re.search(r"-DLOCKSTEP_ISAS=(\w+)", asked.read_text())[1] if asked.exists() else None

    def test_the_demo_builds_for_this_processor_and_the_others_for_all(self):
        self.assertEqual(self.configured(NATIVE="1"), "native")
        self.assertIsNone(self.configured(NATIVE="1"))
        self.assertEqual(self.configured(), "all")
        self.assertIsNone(self.configured(NATIVE="1"), "what is built for all stays so")


class BareRungs(unittest.TestCase):
    """The check that `make test-bare` makes of the demo's results."""

    def check(self, names, processors, samples=(1.0,)):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            for name in names:
                file.write(json.dumps({"kind": "ladder", "name": name, "samples": list(samples)}) + "\n")
            file.write(json.dumps({"kind": "verdict", "name": "left out: opencl", "samples": []}) + "\n")
            file.flush()
            return subprocess.run([sys.executable, "-B", rungs.__file__, file.name, str(processors)], capture_output=True,
                                  text=True, timeout=60, check=False)

    def test_rungs_are_counted(self):
        names = ["naive-o0", "naive", "library", "simd", "threads-2", "ranks-2", "opencl"]
        done = self.check(names, 2)
        self.assertEqual((done.returncode, done.stdout.split(":")[0]), (0, "7 rungs"))
        for name in names:
            done = self.check([n for n in names if n != name], 2)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"MISSING: {name}\n", done.stdout)
        self.assertEqual(self.check(names, 2, samples=()).returncode, 1)
        self.assertEqual(self.check(["naive-o0", "naive", "library", "simd", "opencl"], 1).returncode, 0)


if __name__ == "__main__":
    unittest.main()
