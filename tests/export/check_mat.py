"""check_mat.py PROGRAM: scipy reads our .mat files, and we read the files it writes."""
import numpy
import scipy.io

import exported


def linear_layers(weights):
    """The indices of the layers that have weights, in order."""
    return sorted({int(name.split(".")[0]) for name in weights})


class Mat(exported.ExportTest):
    def thetas(self, weights):
        """[bias, weight] of each linear layer, in double; zeros where it has no bias."""
        result = {}
        for number, layer in enumerate(linear_layers(weights), 1):
            weight = weights[f"{layer}.weight"].astype(numpy.float64)
            bias = weights.get(f"{layer}.bias", numpy.zeros(len(weight))).astype(numpy.float64)
            result[f"Theta{number}"] = numpy.hstack([bias[:, None], weight])
        last = result[f"Theta{number}"]
        if len(last) == 10:  # digits: rows 1 to 10 in the course's order, where 10 is the digit 0
            result[f"Theta{number}"] = numpy.ascontiguousarray(numpy.roll(last, -1, axis=0))
        return result

    def test_scipy_reads_our_files(self):
        for stem, path in self.files(".mat"):
            with self.subTest(stem):
                read = {name: array for name, array in scipy.io.loadmat(path).items() if not name.startswith("__")}
                read = {name: numpy.ascontiguousarray(array) for name, array in read.items()}
                self.assert_same(self.thetas(self.weights(stem)), read)

    def test_we_read_what_scipy_writes(self):
        for stem, _ in self.files(".mat"):
            for compressed in (False, True):
                with self.subTest(stem, compressed=compressed):
                    weights = exported.other_values(self.weights(stem))
                    path = self.folder / "theirs.mat"
                    scipy.io.savemat(path, self.thetas(weights), do_compression=compressed)
                    self.assert_same(weights, self.read_back(stem, path))
                    path.unlink()


if __name__ == "__main__":
    exported.main()
