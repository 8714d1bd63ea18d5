"""check_safetensors.py PROGRAM: the Python package reads our files, and we read the files it writes."""
import json

import safetensors
import safetensors.numpy

import exported


class Safetensors(exported.ExportTest):
    def test_package_reads_our_weights(self):
        for stem, path in self.files(".safetensors"):
            with self.subTest(stem):
                self.assert_same(self.weights(stem), safetensors.numpy.load_file(path))

    def test_package_reads_our_models(self):
        for stem, _ in self.files(".safetensors"):
            path = self.folder / (stem + ".model.safetensors")
            with self.subTest(stem), safetensors.safe_open(path, framework="numpy") as file:
                self.assert_same(self.weights(stem), {name: file.get_tensor(name) for name in file.keys()})
                metadata = file.metadata()
                self.assertEqual(json.loads(metadata["lockstep.model"])["precision"], stem.split(".")[1])
                self.assertEqual(json.loads(metadata["lockstep.data"])["class_names"], ["a", "b"])
                self.assertEqual(len(metadata["lockstep.weight_hash"]), 64)

    def test_we_read_what_the_package_writes(self):
        for stem, _ in self.files(".safetensors"):
            with self.subTest(stem):
                arrays = exported.other_values(self.weights(stem))
                path = self.folder / "theirs.safetensors"
                safetensors.numpy.save_file(arrays, path, metadata={"format": "np"})
                self.assert_same(arrays, self.read_back(stem, path))


if __name__ == "__main__":
    exported.main()
