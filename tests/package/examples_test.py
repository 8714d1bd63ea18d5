"""examples_test.py FOLDER PROGRAM...: the examples in C++ run, one after the other in one folder, and say what they should. FOLDER has the part
for MPI."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAMS = {Path(path).name.removeprefix("example_"): path for path in sys.argv[2:]}
ENVIRONMENT = os.environ | {"LOCKSTEP_MPI_DIR": sys.argv[1]}


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)

    def run_example(self, name, before=()):
        result = subprocess.run([*before, PROGRAMS[name]], cwd=self.folder.name, capture_output=True, text=True, timeout=120,
                                env=ENVIRONMENT)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_train_then_predict(self):
        missing = subprocess.run([PROGRAMS["predict"]], cwd=self.folder.name, capture_output=True, text=True)
        self.assertEqual((missing.returncode, missing.stderr.count("\n")), (4, 1), "no model: one line, exit code 4")
        self.assertRegex(self.run_example("train"), r"right on (9\d|100)\.\d %")
        self.assertTrue((Path(self.folder.name) / "moons.onnx").is_file())
        self.assertEqual(re.findall(r"class (\d)", self.run_example("predict"))[:2], ["0", "1"])

    def test_own_data(self):
        text = self.run_example("own_data")
        self.assertIn("the weights are the same, bit for bit", text)
        self.assertGreater(float(re.search(r"right on ([\d.]+) %", text)[1]), 85)

    def test_callbacks(self):
        text = self.run_example("callbacks")
        self.assertRegex(text, r"run, epoch 3: loss 0\.\d+")
        self.assertTrue((Path(self.folder.name) / "callbacks-run/report.html").is_file())

    def test_ranks_have_the_same_weights(self):
        alone = self.run_example("ranks")
        self.assertRegex(alone, r"^1 rank, weights [0-9a-f]+\n$")
        if shutil.which("mpirun") is None:
            self.skipTest("no mpirun")
        version = subprocess.run(["mpirun", "--version"], capture_output=True, text=True).stdout
        kind, options = ("openmpi", ["--allow-run-as-root", "--oversubscribe"]) if "Open MPI" in version else ("mpich", [])
        if not (Path(sys.argv[1]) / f"lockstep_{kind}.so").exists():
            self.skipTest(f"this build has no part for {kind}")
        two = self.run_example("ranks", ["mpirun", *options, "-n", "2"])
        self.assertEqual(two, alone.replace("1 rank,", "2 ranks,"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
