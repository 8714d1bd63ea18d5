"""lockstep inspect: every kind of file that the program reads."""
import gzip
import io
import json
import struct
import zipfile

from program import MOONS, PICTURES, ProgramTest, idx, main, npy, png


NORMALISED = MOONS.replace('sizes = "2-3-1"\noutput = "sigmoid"',
                           'input = [2]\nlayers = [{linear = 3}, "batch_norm", {linear = 1}, "sigmoid"]')


class Inspect(ProgramTest):
    def inspect(self, *names):
        return json.loads(self.succeed("inspect", *names, "--json").out)

    def test_a_model(self):
        trained = self.train()
        facts = self.inspect("run/model.safetensors")[0]
        self.assertEqual(facts["format"], "model")
        self.assertEqual(facts["weight_hash"], trained["weight_hash"])
        self.assertEqual(facts["parameters"], 13)
        self.assertEqual([layer["type"] for layer in facts["layers"]], ["linear", "sigmoid", "linear", "sigmoid"])
        self.assertEqual(facts["loss"], "binary-cross-entropy")
        self.assertEqual(facts["source"], "moons")
        text = self.succeed("inspect", "run/model.safetensors").out
        for word in ("[2] -> [1], float32", "trained on", "moons", "linear", "total", trained["weight_hash"], "numerics 1"):
            self.assertIn(word, text)
        self.assertEqual(self.inspect("run")[0]["weight_hash"], trained["weight_hash"])

    def test_a_configuration(self):
        self.write("a.toml", PICTURES)
        facts = self.inspect("a.toml")[0]
        self.assertEqual(facts["parameters"], 2 * 9 + 2 + 3 * 8 + 3)
        self.write("resolved.toml", facts["resolved"])
        self.assertEqual(self.inspect("resolved.toml")[0]["resolved"], facts["resolved"])
        text = self.succeed("inspect", "a.toml", "--set", "train.epochs=77").out
        for word in ("conv2d", "[2,4,4]", "epochs = 77"):
            self.assertIn(word, text)

    def test_running_statistics_are_no_parameters(self):
        trained = self.train(NORMALISED)
        facts = self.inspect("run")[0]
        self.assertEqual(facts["parameters"], trained["parameters"])
        self.assertEqual(facts["parameters"], 2 * 3 + 3 + 3 + 3 + 3 + 1)
        self.assertEqual(facts["running_statistics"], 3 + 3)
        self.assertEqual([layer["parameters"] for layer in facts["layers"]], [9, 6, 4, 0])

    def test_plain_weights(self):
        self.train()
        self.succeed("export", "run/model.safetensors", "w.safetensors")
        facts = self.inspect("w.safetensors")[0]
        self.assertEqual(facts["format"], "safetensors")
        self.assertIn({"name": "0.weight", "type": "float32", "shape": [3, 2]}, facts["tensors"])

    def test_arrays(self):
        self.write("a.npy", npy("<f8", (2, 3), struct.pack("<6d", 1, 2, 3, -4, 5, float("inf"))))
        self.write("b.idx", idx((2, 2), bytes([1, 2, 3, 250])))
        self.write("c.gz", gzip.compress(idx((4,), bytes([9, 8, 7, 6]))))
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as z:
            z.writestr("x.npy", npy("<i4", (3,), struct.pack("<3i", -1, 0, 1)))
            z.writestr("y.npy", npy("|u1", (1,), b"\7"))
        self.write("d.npz", archive.getvalue())
        a, b, c, d = self.inspect("a.npy", "b.idx", "c.gz", "d.npz")
        self.assertEqual(a["arrays"][0], {"name": "-", "type": "float64", "shape": [2, 3], "min": -4.0, "max": 5.0, "not_finite": 1})
        self.assertEqual((b["arrays"][0]["type"], b["arrays"][0]["max"]), ("uint8", 250))
        self.assertEqual(c["arrays"][0]["shape"], [4])
        self.assertEqual([entry["name"] for entry in d["arrays"]], ["x", "y"])
        self.assertIn("-4 to 5, 1 not finite", self.succeed("inspect", "a.npy").out)

    def test_mat(self):
        self.train()
        self.succeed("export", "run/model.safetensors", "w.mat")
        names = {entry["name"]: entry["shape"] for entry in self.inspect("w.mat")[0]["arrays"]}
        self.assertEqual(names, {"Theta1": [3, 3], "Theta2": [1, 4]})

    def test_tables_and_pictures(self):
        self.write("t.csv", "height,class\n1.5,0\n2.5,1\n")
        facts = self.inspect("t.csv")[0]
        self.assertEqual((facts["lines"], facts["columns"][0]), (2, {"name": "height", "min": 1.5, "max": 2.5}))
        self.write("p.png", png(3, 2, range(6)))
        self.assertEqual(self.inspect("p.png")[0]["arrays"][0]["shape"], [1, 2, 3])
        self.write("pictures/cat/1.png", png(3, 2, range(6)))
        self.write("pictures/dog/1.png", png(3, 2, range(6)))
        self.write("pictures/dog/2.png", png(3, 2, range(6)))
        self.assertEqual(self.inspect("pictures")[0]["classes"], [{"name": "cat", "images": 1}, {"name": "dog", "images": 2}])
        self.assertIn("folder of 3 images [1,2,3]", self.succeed("inspect", "pictures").out)

    def test_a_large_file_is_described_by_its_header(self):
        head = npy("|u1", (3 << 30,), b"")
        with open(self.folder / "large.npy", "wb") as file:
            file.write(head)
            file.truncate(len(head) + (3 << 30))
        self.assertEqual(self.inspect("large.npy")[0]["arrays"], [{"name": "-", "type": "uint8", "shape": [3 << 30]}])

    def test_several_files(self):
        self.write("a.toml", MOONS)
        self.write("t.csv", "1,2\n")
        text = self.succeed("inspect", "a.toml", "t.csv").out
        self.assertIn("a.toml: ", text)
        self.assertIn("t.csv: ", text)
        self.refuse_one_of_two()

    def refuse_one_of_two(self):
        result = self.run_program("inspect", "t.csv", "gone.csv")
        self.assertEqual(result.code, 3, result)
        self.assertIn("gone.csv", result.err)


if __name__ == "__main__":
    main()
