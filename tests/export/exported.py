"""What the checks of this folder share: the program export_models and the files it writes."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy

PROGRAM = None


class ExportTest(unittest.TestCase):
    """Each class of tests has a folder with the exports of every example network."""

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        subprocess.run([PROGRAM, "write", cls.folder], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def files(self, ending):
        """(stem, path) of every export with this ending; stem is NAME.PRECISION."""
        found = sorted((path.name.removesuffix(ending), path) for path in self.folder.glob("*" + ending))
        found = [(stem, path) for stem, path in found if stem.count(".") == 1]
        self.assertGreaterEqual(len(found), 6, f"too few files *{ending}")
        return found

    def weights(self, stem):
        """The weights of an example, as numpy reads them from the .npz export."""
        with numpy.load(self.folder / (stem + ".npz")) as archive:
            return dict(archive)

    def read_back(self, stem, path):
        """The weights that Lockstep has after reading a file Python wrote."""
        name, precision = stem.split(".")
        subprocess.run([PROGRAM, "read", name, precision, path, self.folder / "back.npz"], check=True)
        with numpy.load(self.folder / "back.npz") as archive:
            return dict(archive)

    def assert_same(self, ours, theirs):
        self.assertEqual(sorted(ours), sorted(theirs))
        for name, array in ours.items():
            self.assertEqual(array.dtype, theirs[name].dtype, name)
            self.assertEqual(array.shape, theirs[name].shape, name)
            self.assertEqual(array.tobytes(), theirs[name].tobytes(), name)


def other_values(arrays):
    """The same names, shapes and types with other numbers."""
    random = numpy.random.default_rng(5)
    return {name: random.uniform(-1, 1, array.shape).astype(array.dtype) for name, array in arrays.items()}


def main():
    global PROGRAM
    PROGRAM = sys.argv.pop(1)
    unittest.main(module="__main__")
