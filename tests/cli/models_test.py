"""lockstep eval and export on models that the program has just trained."""
import io
import json
import shutil
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


# Images of 4x4 numbers from 0 to 255 behind their label, made smaller: nothing of it is a default.
TABLE = """\
[data]
source = "x.csv"
header = false
label_column = 0
shape = [1, 4, 4]
transpose = true
resize = {size = 2, method = "bicubic"}
STANDARDISE
scale = 255
shuffle = false
split = {test = 6}
[model]
input = [1, 2, 2]
layers = [{linear = 3}]
[train]
batch = 4
epochs = 3
"""
KEYS = ("samples", "loss", "correct", "accuracy")


class Preparation(ProgramTest):
    """Data without any option are prepared as those of training, whatever the format."""

    def rows(self, count=30):
        return [(i % 3, [(37 * i + 11 * p * p) % 256 for p in range(16)]) for i in range(count)]

    def table(self, rows):
        return "".join(",".join(map(str, [label, *pixels])) + "\n" for label, pixels in rows)

    def assert_as_trained(self, summary, source, *options):
        scores = json.loads(self.succeed("eval", MODEL, "--data", source, "--json", *options).out)
        self.assertEqual({k: scores[k] for k in KEYS}, summary, source)

    def test_a_table(self):
        for standardise in ("", "standardise = true"):
            with self.subTest(standardise):
                self.write("x.csv", self.table(self.rows()))
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                trained = self.train(TABLE.replace("STANDARDISE", standardise))
                self.assertEqual({k: json.loads(self.succeed("eval", MODEL, "--json").out)[k] for k in KEYS}, trained["test"])
                # The test part alone, in a file of its own, far from config.toml.
                self.write("part.csv", self.table(self.rows()[24:]))
                (self.folder / "run/config.toml").unlink()
                self.assert_as_trained(trained["test"], "part.csv")
                result = self.succeed("eval", MODEL, "--data", "part.csv")
                for line in ('data.label_column = "0", as in training', "data.scale = 255.0, as in training",
                             'data.resize = {"size":2,"method":"bicubic"}, as in training'):
                    self.assertIn(line, result.err)
                answers = json.loads(self.succeed("predict", MODEL, "--data", "part.csv", "--json").out)
                self.assertEqual(sum(a["class"] == a["label"] for a in answers), trained["test"]["correct"])

    def test_explicit_options_override_and_are_said(self):
        self.write("x.csv", self.table(self.rows()))
        self.train(TABLE.replace("STANDARDISE", ""))
        usual = json.loads(self.succeed("eval", MODEL, "--data", "x.csv", "--json").out)
        result = self.succeed("eval", MODEL, "--data", "x.csv", "--set", "data.scale=25.5", "--json")
        self.assertIn("data.scale = 25.5 here; the model was trained with 255.0", result.err)
        self.assertNotEqual(json.loads(result.out)["loss"], usual["loss"])
        self.write("y.csv", "".join(line.split(",", 1)[1] + "," + line.split(",", 1)[0] + "\n"
                                    for line in self.table(self.rows()).splitlines()))
        moved = self.succeed("eval", MODEL, "--data", "y.csv", "--set", "data.label_column=16", "--json")
        self.assertEqual(json.loads(moved.out)["loss"], usual["loss"])
        self.assertIn('data.label_column = "16" here; the model was trained with "0"', moved.err)

    def test_arrays_and_folders(self):
        from program import npy, png
        config = TABLE.replace("STANDARDISE", "").replace("header = false\nlabel_column = 0\n", "")
        rows = self.rows()
        pixels = bytes(p for _, image in rows for p in image)
        self.write("x.npy", npy("|u1", (30, 16), pixels))
        self.write("y.npy", npy("<i8", (30,), struct.pack("<30q", *(label for label, _ in rows))))
        with zipfile.ZipFile(self.folder / "x.npz", "w") as archive:
            archive.write(self.folder / "x.npy", "images.npy")
            archive.write(self.folder / "y.npy", "classes.npy")
        summary = self.train(config.replace('"x.csv"', '"x.npz"\nx_key = "images"\ny_key = "classes"').replace("shuffle", "#").replace("split", "#"))
        self.assert_as_trained(summary["final_train"], "x.npz")
        # One array of raw numbers, as predict takes it, gives the answers of the rows.
        answers = json.loads(self.succeed("predict", MODEL, "x.npy", "--json").out)
        of_rows = json.loads(self.succeed("predict", MODEL, "--data", "x.npz", "--rows", "0-29", "--json").out)
        self.assertEqual([a["probabilities"] for a in answers], [a["probabilities"] for a in of_rows])
        for i, (label, image) in enumerate(rows):
            self.write(f"pictures/{label}/{i:02}.png", png(4, 4, image))
        summary = self.train(config.replace('"x.csv"', '"pictures"').replace("shape", "#").replace("shuffle", "#").replace("split", "#"), "run",
                             "--overwrite")
        self.assert_as_trained(summary["final_train"], "pictures")
        of_rows = json.loads(self.succeed("predict", MODEL, "--rows", "0", "--json").out)
        picture = json.loads(self.succeed("predict", MODEL, "pictures/0/00.png", "--json").out)
        self.assertEqual(picture[0]["probabilities"], of_rows[0]["probabilities"])


    def test_layout(self):
        from program import npy
        pixels = bytes((7 * i * i + i // 3) % 256 for i in range(12 * 48))
        self.write("x.npy", npy("|u1", (12, 4, 4, 3), pixels))
        self.write("y.npy", npy("<i8", (12,), struct.pack("<12q", *(i % 3 for i in range(12)))))
        summary = self.train('[data]\nsource = "x.npy"\nlabels = "y.npy"\nlayout = "nhwc"\n[model]\ninput = [3, 4, 4]\n'
                             'layers = [{conv2d = {out = 2, kernel = 3}}, "relu", {linear = 3}]\n[train]\nepochs = 2\n')
        self.assert_as_trained(summary["final_train"], "x.npy", "--set", "data.labels=y.npy")
        answers = json.loads(self.succeed("predict", MODEL, "x.npy", "--json").out)
        of_rows = json.loads(self.succeed("predict", MODEL, "--rows", "0-11", "--json").out)
        self.assertEqual([a["probabilities"] for a in answers], [a["probabilities"] for a in of_rows])

    def test_a_label_found_by_its_name(self):
        head = "label," + ",".join(f"pixel{p}" for p in range(16)) + "\n"
        self.write("x.csv", head + self.table(self.rows()))
        summary = self.train('[data]\nsource = "x.csv"\nscale = 255\n[model]\nsizes = "16-3"\n[train]\nepochs = 2\n')
        self.assert_as_trained(summary["final_train"], "x.csv")
        self.assertIn('label_column = "label"', self.succeed("inspect", MODEL).out)
        self.write("bare.csv", self.table(self.rows()))
        self.refuse(2, "label", "eval", MODEL, "--data", "bare.csv")


class Damage(ProgramTest):
    """One flipped bit, wherever it is, stops every command; no answer is given."""

    def commands(self, name):
        return (["eval", name, "--data", "moons"], ["predict", name, "--data", "moons"], ["inspect", name],
                ["export", name, "out.npz"], ["train", "a.toml", "--out", "two", "--set", f"model.init={name}"])

    def test_flipped_bits(self):
        self.train(MOONS.replace("count = 64", "standardise = true\ncount = 64"))
        for name in (MODEL, "run/checkpoint-9.safetensors"):
            good = (self.folder / name).read_bytes()
            for part in (b"offset", b"sigmoid", b"lockstep.data", b"lockstep.model", b"lockstep.sha256", b"  ", b"F32"):
                at = good.find(part)
                if at < 0:
                    continue
                bad = bytearray(good)
                bad[at + 1] ^= 4
                self.write("bad.safetensors", bytes(bad))
                for command in self.commands("bad.safetensors"):
                    with self.subTest((name, part, command[0])):
                        result = self.run_program(*command)
                        self.assertIn(result.code, (3, 4), result)
                        self.assertEqual(result.out, "")
        self.assertFalse((self.folder / "out.npz").exists())

    def test_files_without_a_digest_are_said_to_be_unverified(self):
        self.train()
        good = (self.folder / MODEL).read_bytes()
        length = struct.unpack("<Q", good[:8])[0]
        header = json.loads(good[8:8 + length])

        def written(name):
            text = json.dumps(header).encode()
            self.write(name, struct.pack("<Q", len(text)) + text + good[8 + length:])

        del header["__metadata__"]["lockstep.sha256"]
        written("old.safetensors")
        for command in self.commands("old.safetensors"):
            with self.subTest(command[0]):
                result = self.succeed(*command)
                said = result.out if command[0] == "inspect" else result.err
                self.assertIn("weights only" if command[0] == "inspect" else "unverified: an earlier Lockstep", said)
        header["__metadata__"] = {"format": "pt"}
        written("theirs.safetensors")
        self.assertIn("unverified", self.succeed("inspect", "theirs.safetensors").out)
        result = self.succeed("train", "a.toml", "--out", "three", "--set", "model.init=theirs.safetensors")
        self.assertIn("theirs.safetensors: unverified: the file has no digest of Lockstep", result.err)
        self.assertNotIn("unverified", self.succeed("eval", MODEL).err)


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
