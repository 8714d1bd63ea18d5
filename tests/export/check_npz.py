"""check_npz.py PROGRAM: numpy reads our .npz files, and we read the files it writes."""
import numpy

import exported


class Npz(exported.ExportTest):
    def test_numpy_reads_names_shapes_and_types(self):
        arrays = self.weights("lenet.float32")
        self.assertEqual({name: array.shape for name, array in arrays.items()}, {
            "0.weight": (3, 1, 5, 5), "0.bias": (3,), "3.weight": (4, 3, 3, 3), "3.bias": (4,),
            "7.weight": (10, 16), "7.bias": (10,)})
        self.assertEqual({array.dtype.name for array in arrays.values()}, {"float32"})
        self.assertEqual({a.dtype.name for a in self.weights("lenet.float64").values()}, {"float64"})

    def test_we_read_what_numpy_writes(self):
        for stem, _ in self.files(".npz"):
            for save in (numpy.savez, numpy.savez_compressed):
                with self.subTest(stem, save=save.__name__):
                    arrays = exported.other_values(self.weights(stem))
                    save(self.folder / "theirs.npz", **arrays)
                    self.assert_same(arrays, self.read_back(stem, self.folder / "theirs.npz"))
                    (self.folder / "theirs.npz").unlink()


if __name__ == "__main__":
    exported.main()
