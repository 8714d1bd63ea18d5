"""lockstep eval and export on models that the program has just trained."""
import io
import json
import struct
import zipfile

from program import MOONS, PICTURES, ProgramTest, main

MODEL = "run/model.safetensors"


class Eval(ProgramTest):
    def test_scores_are_those_of_training(self):
        trained = self.train()
        for split in ("test", "validation"):
            scores = json.loads(self.succeed("eval", MODEL, "--split", split, "--json").out)
            for key in ("samples", "loss", "accuracy", "correct"):
                self.assertEqual(scores[key], trained[split][key], (split, key))
            self.assertEqual(scores["weight_hash"], trained["weight_hash"])
        self.assertEqual(json.loads(self.succeed("eval", MODEL, "--json").out)["split"], "test")

    def test_the_matrix_agrees_with_the_accuracy(self):
        self.train()
        scores = json.loads(self.succeed("eval", MODEL, "--json").out)
        matrix = scores["confusion"]
        self.assertEqual(len(matrix), 2)
        self.assertEqual(sum(map(sum, matrix)), scores["samples"])
        self.assertEqual(matrix[0][0] + matrix[1][1], scores["correct"])

    def test_text(self):
        self.train()
        result = self.succeed("eval", MODEL)
        for word in ("samples", "loss", "binary-cross-entropy", "accuracy", "true \\ answer", "found"):
            self.assertIn(word, result.out)
        self.assertIn("test part of moons", result.err)

    def test_other_data(self):
        self.train()
        scores = json.loads(self.succeed("eval", MODEL, "--data", "moons", "--set", "data.count=10", "--set", "data.seed=9",
                                         "--json").out)
        self.assertEqual((scores["samples"], scores["split"]), (10, "train"))
        self.write("points.csv", "0.1,0.2,1\n0.5,-0.3,0\n")
        self.assertEqual(json.loads(self.succeed("eval", MODEL, "--data", "points.csv", "--json").out)["samples"], 2)
        self.write("other.toml", MOONS.replace("count = 64", "count = 20"))
        scores = json.loads(self.succeed("eval", MODEL, "--config", "other.toml", "--split", "train", "--json").out)
        self.assertEqual(scores["samples"], 4)

    def test_standardised_data_keeps_the_scaling_of_training(self):
        trained = self.train(MOONS.replace("count = 64", "standardise = true\ncount = 64"))
        part = json.loads(self.succeed("eval", MODEL, "--split", "train", "--set", "data.limit=40", "--json").out)
        whole = json.loads(self.succeed("eval", MODEL, "--split", "test", "--set", "data.limit=40", "--json").out)
        self.assertEqual(part["samples"], 24)
        self.assertEqual(whole["loss"], trained["test"]["loss"], "the test set was scaled by other numbers")

    def test_bytes_and_fractions_are_the_same_pictures(self):
        self.write_digits()
        self.train(PICTURES)
        pixels = (self.folder / "x.npy").read_bytes()[-12 * 16:]
        from program import npy
        self.write("f.npy", npy("<f8", (12, 4, 4), struct.pack("<192d", *(p / 255 for p in pixels))))
        one = json.loads(self.succeed("eval", MODEL, "--json").out)
        two = json.loads(self.succeed("eval", MODEL, "--data", "f.npy", "--set", "data.labels=y.npy", "--json").out)
        self.assertAlmostEqual(one["loss"], two["loss"], places=6)


class Export(ProgramTest):
    def test_npz_and_safetensors_hold_the_weights(self):
        self.train()
        model = (self.folder / MODEL).read_bytes()
        self.succeed("export", MODEL, "w.npz")
        with zipfile.ZipFile(io.BytesIO((self.folder / "w.npz").read_bytes())) as archive:
            self.assertEqual(sorted(archive.namelist()), ["0.bias.npy", "0.weight.npy", "2.bias.npy", "2.weight.npy"])
            weight = archive.read("0.weight.npy")[-24:]
        self.assertIn(weight, model)
        self.succeed("export", MODEL, "w.safetensors")
        plain = (self.folder / "w.safetensors").read_bytes()
        length = struct.unpack("<Q", plain[:8])[0]
        self.assertEqual(plain[8 + length:], model[-13 * 4:])

    def test_mat_starts_another_run(self):
        zero = self.train(MOONS, "run", "--set", "train.epochs=1")
        self.succeed("export", MODEL, "w.mat")
        again = self.train(MOONS, "again", "--set", "train.epochs=0", "--set", "model.init=w.mat")
        self.assertEqual(zero["weight_hash"], again["weight_hash"])

    def test_onnx_and_overwrite(self):
        self.train()
        result = self.succeed("export", MODEL, "m.onnx")
        self.assertIn("m.onnx", result.out)
        first = (self.folder / "m.onnx").read_bytes()
        self.assertGreater(len(first), 100)
        facts = json.loads(self.succeed("export", MODEL, "m.onnx", "--overwrite", "--json").out)
        self.assertEqual(facts["bytes"], len(first))
        self.assertEqual((self.folder / "m.onnx").read_bytes(), first)

    def test_mat_is_for_linear_networks(self):
        self.write_digits()
        self.train(PICTURES)
        self.refuse(2, "linear", "export", MODEL, "w.mat")
        self.assertFalse((self.folder / "w.mat").exists())


if __name__ == "__main__":
    main()
