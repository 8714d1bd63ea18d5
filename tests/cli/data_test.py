"""Data as people have them: what is read in one way only, what is said aloud, and what is refused."""
import io
import json
import random
import struct
import zipfile

from program import PICTURES, ProgramTest, main, npy

FLOWERS = """\
[data]
source = "flowers.csv"
standardise = true
split = {train = 0.7, validation = 0.15, test = 0.15}
[model]
sizes = "4-8-3"
[train]
optimizer = {name = "adam", lr = 0.02}
batch = 16
epochs = 40
"""

DIGITS = """\
[data]
source = "train.csv"
test = "test.csv"
scale = 255
[model]
sizes = "16-12-3"
[train]
optimizer = {name = "adam", lr = 0.02}
batch = 8
epochs = 30
"""


def npz(**arrays):
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as archive:
        for name, content in arrays.items():
            archive.writestr(f"{name}.npy", content)
    return memory.getvalue()


def digits(count, header="label," + ",".join(f"pixel{i}" for i in range(1, 17))):
    """Pictures of 4x4 with a bright row, the label first, as Kaggle writes digits; the last pixel is always 0."""
    lines = [header]
    for i in range(count):
        k = i % 3
        row = [200 + (i + p) % 50 if p // 4 == k else (7 * i + p) % 30 for p in range(15)] + [0]
        lines.append(",".join(map(str, [k, *row])))
    return "\n".join(lines) + "\n"


class Tables(ProgramTest):
    def test_the_label_comes_first(self):
        self.write("train.csv", digits(60))
        self.write("test.csv", digits(30))
        self.write("a.toml", DIGITS)
        result = self.succeed("train", "a.toml", "--out", "run", "--json")
        self.assertIn("train.csv: column 0 (label) is taken as the label; data.label_column names another", result.err)
        self.assertEqual(json.loads(result.out)["test"]["accuracy"], 1.0)
        self.assertNotIn("scale", result.err)
        self.write("a.toml", DIGITS.replace("scale = 255\n", ""))
        result = self.succeed("train", "a.toml", "--out", "b", "--set", "train.epochs=1")
        self.assertIn("train.csv: the columns called pixel hold integers from 0 to 249; data.scale = 255", result.err)

    def test_the_samples_say_the_input(self):
        self.write("train.csv", digits(60))
        model = DIGITS.replace('test = "test.csv"\n', "").replace('sizes = "16-12-3"', 'layers = [{linear = 3}]')
        self.write("a.toml", model)
        self.write("b.toml", model.replace("[model]", "[model]\ninput = [16]"))
        result = self.succeed("train", "a.toml", "--out", "a", "--json", "--set", "train.epochs=1")
        self.assertIn("model.input = [16], the shape of the samples", result.err)
        said = self.succeed("train", "b.toml", "--out", "b", "--json", "--set", "train.epochs=1")
        self.assertEqual(json.loads(result.out)["weight_hash"], json.loads(said.out)["weight_hash"])

    def test_whole_numbers_for_one_output(self):
        """Prices are no classes; what is chosen is said, and eval and predict know it."""
        self.write("houses.csv", "rooms,age,price\n" + "".join(f"{i % 5 + 1},{i % 7},{100 * (i % 5) + 3 * (i % 7)}\n"
                                                              for i in range(60)))
        self.write("a.toml", '[data]\nsource = "houses.csv"\nlabel_column = "price"\nstandardise = true\n[model]\nsizes = "2-4-1"\n'
                             '[train]\noptimizer = {name = "adam", lr = 0.1}\nbatch = 20\nepochs = 3\n')
        result = self.succeed("train", "a.toml", "--out", "run")
        self.assertIn('train.loss = "squared-error", for the model has one output', result.err)
        self.assertIn("the model has one output, so the numbers are targets of a regression (data.regression)", result.err)
        self.assertIn("rmse", self.succeed("eval", "run").out)
        rows = self.succeed("predict", "run", "houses.csv", "--format", "csv", "--true").out.splitlines()
        self.assertEqual(len(rows), 61)
        self.assertTrue(rows[3].startswith("row 2,206,"), rows[3])
        # Two values are two classes; a key decides.
        self.write("b.csv", "a,b,label\n" + "".join(f"{i % 5},{i % 7},{i % 2}\n" for i in range(60)))
        two = self.succeed("train", "a.toml", "--set", "data.source=b.csv", "--set", "data.label_column=label", "--out", "two")
        self.assertNotIn("regression", two.err)
        self.refuse(2, "the data has 419 classes", "train", "a.toml", "--set", "data.label_rule=as-stored", "--out", "no")

    def test_one_class_is_refused(self):
        self.write("train.csv", digits(60))
        self.write("a.toml", DIGITS.replace('test = "test.csv"\n', ""))
        self.refuse(3, "a.toml:2: data.source: train.csv: column 16 (pixel16): every label is 0, and from one class "
                       "nothing can be learnt; data.label_column says where the labels are",
                    "train", "a.toml", "--set", "data.label_column=last")

    def test_columns_that_could_both_be_the_label(self):
        self.write("train.csv", "class,a,b,label\n0,1,2,1\n1,2,3,0\n")
        self.write("a.toml", DIGITS.replace('test = "test.csv"\n', ""))
        self.refuse(2, "column 0 (class) and column 3 (label) could both be the label; say which in data.label_column",
                    "train", "a.toml")

    def test_words_among_the_features(self):
        self.write("train.csv", "label,colour\n0,red\n1,blue\n")
        self.write("a.toml", DIGITS.replace('test = "test.csv"\n', ""))
        self.write("a.toml", DIGITS.replace('test = "test.csv"\n', "").replace("16-12-3", "2-2"))
        result = self.succeed("train", "a.toml", "--out", "run")
        self.assertIn("1 column is 2 inputs: colour is 2 (blue, red)", result.err)
        self.write("train.csv", "label,size\n" + "".join(f"{i % 2},{i}\n" for i in range(20)) + "1,large\n")
        result = self.refuse(3, 'line 22: column 1 (size): "large" stands among numbers; mend it, or say that the column holds '
                                'words, data.categorical = ["size"], or leave it out, data.drop = ["size"]', "train", "a.toml")
        self.assertNotIn("class", result.err)


class White(ProgramTest):
    """Bytes, the same numbers in a table, and fractions of white: one model, one answer."""

    def setUp(self):
        super().setUp()
        rows = [list(map(int, line.split(","))) for line in digits(60).splitlines()[1:]]
        flat = [v for row in rows for v in row[1:]]
        labels = npy("<i8", (60,), struct.pack("<60q", *(row[0] for row in rows)))
        self.write("table.csv", digits(60))
        self.write("bytes.npz", npz(x=npy("|u1", (60, 4, 4), bytes(flat)), y=labels))
        self.write("numbers.npz", npz(x=npy("<f8", (60, 4, 4), struct.pack("<960d", *flat)), y=labels))
        self.write("fractions.npz", npz(x=npy("<f8", (60, 4, 4), struct.pack("<960d", *(v / 255 for v in flat))), y=labels))
        self.write("one_bytes.npy", npy("|u1", (4, 4), bytes(flat[:16])))
        self.write("one_numbers.npy", npy("<f8", (4, 4), struct.pack("<16d", *flat[:16])))
        self.write("one_fractions.npy", npy("<f8", (4, 4), struct.pack("<16d", *(v / 255 for v in flat[:16]))))

    def model(self, source, *changes):
        self.write("a.toml", DIGITS.replace('"train.csv"\ntest = "test.csv"\nscale = 255', f'"{source}"'))
        words = [word for change in changes for word in ("--set", change)]
        self.succeed("train", "a.toml", "--out", "run-" + source, "--overwrite", "--quiet", *words)
        return f"run-{source}/model.safetensors"

    def loss(self, model, source):
        return json.loads(self.succeed("eval", model, "--data", source, "--json", "--quiet").out)["loss"]

    def answers(self, model, picture):
        return json.loads(self.succeed("predict", model, picture, "--json").out)

    def test_a_table_of_bytes_with_its_scale(self):
        for changes in (["data.scale=255"], []):
            with self.subTest(changes):
                model = self.model("table.csv", *changes, "data.shape=[4, 4]")
                own = self.loss(model, "table.csv")
                self.assertEqual(self.loss(model, "bytes.npz"), own)
                self.assertEqual(self.loss(model, "numbers.npz"), own)
                self.assertEqual(json.dumps(self.answers(model, "one_bytes.npy")).replace("one_bytes", ""),
                                 json.dumps(self.answers(model, "one_numbers.npy")).replace("one_numbers", ""))

    def test_a_model_of_bytes(self):
        model = self.model("bytes.npz")
        own = self.loss(model, "bytes.npz")
        self.assertEqual(self.loss(model, "numbers.npz"), own, "the same numbers in another type")
        self.assertAlmostEqual(self.loss(model, "fractions.npz"), own, places=5)
        ours = self.answers(model, "one_bytes.npy")
        self.assertEqual(json.dumps(self.answers(model, "one_numbers.npy")).replace("one_numbers", "one_bytes"),
                         json.dumps(ours))

    def test_fractions_for_a_standardised_model_of_bytes(self):
        model = self.model("bytes.npz", "data.standardise=true")
        ours, theirs = (self.succeed("predict", model, f"one_{kind}.npy").out.split(None, 2)[2]
                        for kind in ("bytes", "fractions"))
        self.assertEqual(ours, theirs)

    def test_a_model_of_fractions(self):
        model = self.model("fractions.npz")
        self.assertAlmostEqual(self.loss(model, "bytes.npz"), self.loss(model, "fractions.npz"), places=5)


class Splits(ProgramTest):
    def flowers(self, kinds=(50, 50, 50)):
        """Sorted by kind, as the file of Iris flowers is."""
        random.seed(3)
        lines = ["a,b,c,d,species"]
        for k, count in enumerate(kinds):
            lines += [",".join(f"{random.gauss(k + f, 0.4):.2f}" for f in range(4)) + f",{k}" for _ in range(count)]
        self.write("flowers.csv", "\n".join(lines) + "\n")
        self.write("a.toml", FLOWERS)

    def test_a_sorted_file(self):
        self.flowers()
        result = json.loads(self.succeed("train", "a.toml", "--out", "run", "--json").out)
        self.assertGreater(result["test"]["accuracy"], 0.8)
        metrics = self.lines("run/metrics.jsonl")
        self.assertEqual(metrics[0]["train"]["samples"], 105)
        self.assertEqual(metrics[0]["validation"]["samples"] + result["test"]["samples"], 45, "all 150 are used")
        resolved = (self.folder / "run/config.toml").read_text()
        self.assertIn("shuffle = true\nstratify = true\nsplit = ", resolved)
        evaluated = json.loads(self.succeed("eval", "run/model.safetensors", "--json").out)
        self.assertEqual(evaluated["correct"], result["test"]["correct"], "eval divides the file in the same way")

    def test_resuming_compares_the_resolved_split(self):
        self.flowers()
        self.succeed("train", "a.toml", "--out", "run", "--set", "train.epochs=2")
        whole = self.train(FLOWERS.replace("epochs = 40", "epochs = 4"), "whole")
        self.write("a.toml", FLOWERS.replace("split", "shuffle = true\nstratify = true\nsplit"))
        more = self.succeed("train", "a.toml", "--out", "run", "--resume", "--json", "--set", "train.epochs=4")
        self.assertEqual(json.loads(more.out)["weight_hash"], whole["weight_hash"], "the defaults, written out")
        self.refuse(4, "data.shuffle", "train", "a.toml", "--out", "run", "--resume", "--set", "train.epochs=6",
                    "--set", "data.shuffle=false")

    def test_a_class_that_is_not_trained(self):
        self.flowers()
        self.write("a.toml", FLOWERS.replace("0.7, validation = 0.15", "0.6, validation = 0.25"))
        self.refuse(3, "a.toml:4: data.split: the training part of the split has no sample of class 2; leave out "
                       "data.shuffle = false and data.stratify = false",
                    "train", "a.toml", "--set", "data.shuffle=false")

    def test_a_class_of_one_sample_outside_the_training_part(self):
        self.write("few.csv", "a,label\n" + "".join(f"{k},{k}\n" for k in range(10)))
        self.write("a.toml", FLOWERS.replace("flowers.csv", "few.csv").replace("4-8-3", "1-10")
                   .replace("{train = 0.7, validation = 0.15, test = 0.15}", "{train = 0.5, test = 0.5}"))
        self.refuse(3, "data.split: the training part of the split has no sample of classes", "train", "a.toml")

    def test_a_part_without_a_sample(self):
        self.write("few.csv", "a,label\n1,0\n2,1\n3,1\n")
        self.write("a.toml", FLOWERS.replace("flowers.csv", "few.csv").replace("4-8-3", "1-2"))
        self.refuse(2, "split.validation = 0.15 of 3 samples is not one sample", "train", "a.toml")

    def test_a_limit_that_leaves_out_a_class(self):
        self.flowers()
        result = self.succeed("train", "a.toml", "--out", "run", "--set", "train.epochs=1", "--set", "data.limit=60")
        self.assertIn("data.limit = 60: the first 60 of 150 samples have none of class 2; where a file is sorted by class, "
                      "data.split takes samples of all classes and data.limit does not", result.err)

    def test_a_class_that_is_rare(self):
        self.flowers((50, 50, 4))
        result = self.succeed("train", "a.toml", "--out", "run", "--set", "train.epochs=1")
        self.assertIn("the training part of the split has fewer than 5 samples of class 2", result.err)


class Layouts(ProgramTest):
    def setUp(self):
        super().setUp()
        random.seed(4)
        self.config = PICTURES.replace('"x.npy"\nlabels = "y.npy"', '"x.npz"').replace("[1, 4, 4]", "[3, 4, 4]")
        count = 24
        self.labels = npy("<i8", (count,), struct.pack(f"<{count}q", *(i % 3 for i in range(count))))
        self.planes = [[[[random.randrange(256) for _ in range(4)] for _ in range(4)] for _ in range(3)]
                       for _ in range(count)]
        first = bytes(v for image in self.planes for plane in image for row in plane for v in row)
        last = bytes(image[c][y][x] for image in self.planes for y in range(4) for x in range(4) for c in range(3))
        self.write("first.npz", npz(x=npy("|u1", (count, 3, 4, 4), first), y=self.labels))
        self.write("last.npz", npz(x=npy("|u1", (count, 4, 4, 3), last), y=self.labels))
        self.write("flat.npz", npz(x=npy("|u1", (count, 48), first), y=self.labels))
        self.write("a.toml", self.config)

    def weights(self, source, *changes):
        words = ["train", "a.toml", "--json", "--quiet", "--set", f"data.source={source}", "--out", f"run{source}",
                 "--overwrite"]
        for change in changes:
            words += ["--set", change]
        return json.loads(self.succeed(*words).out)["weight_hash"]

    def test_channels_last_are_turned_for_the_network_and_said(self):
        self.assertEqual(self.weights("last.npz"), self.weights("first.npz"))
        result = self.refuse(2, "the data has samples [4,4,3] but the model input is [3,4,4]", "train", "a.toml",
                             "--set", "data.source=last.npz", "--set", "data.layout=nchw")
        self.assertIn('data.layout = "nhwc"', result.err)
        self.assertIn("data.shape = [3, 4, 4]", result.err)

    def test_the_layout_says_what_is_meant(self):
        right = self.weights("first.npz")
        self.assertEqual(self.weights("last.npz", "data.layout=nhwc"), right)
        self.assertEqual(self.weights("flat.npz", "data.scale=255"), right, "rows are channels, height, width")
        self.assertEqual(self.weights("first.npz", "data.layout=nchw"), right)
        self.assertNotEqual(self.weights("last.npz", "data.shape=[3, 4, 4]"), right, "scrambled, as asked for")

    def test_eval_turns_them_too(self):
        self.weights("last.npz", "data.layout=nhwc")
        ours = json.loads(self.succeed("eval", "runlast.npz/model.safetensors", "--json").out)
        theirs = json.loads(self.succeed("eval", "runlast.npz/model.safetensors", "--json", "--data", "first.npz",
                                         "--set", "data.layout=nchw").out)
        self.assertEqual(ours["loss"], theirs["loss"])
        self.write("one.npy", npy("|u1", (4, 4, 3), bytes(48)))
        self.succeed("predict", "runlast.npz/model.safetensors", "one.npy")  # stored as the samples of training
        self.weights("first.npz")
        self.refuse(2, "one.npy: holds uint8 [4,4,3], the model takes [3,4,4], whose numbers stand in another order",
                    "predict", "runfirst.npz/model.safetensors", "one.npy")


class Names(ProgramTest):
    def test_nearly_a_data_set(self):
        self.write("a.toml", DIGITS.replace('"train.csv"', '"fashoin-mnist"'))
        self.refuse(2, 'a.toml:2: data.source: there is no data set and no file called "fashoin-mnist"; did you mean '
                       "fashion-mnist?", "train", "a.toml")

    def test_wrong_settings_name_file_and_line(self):
        self.write("train.csv", digits(9))
        self.write("a.toml", DIGITS.replace('test = "test.csv"', 'label_column = "kind"'))
        self.refuse(2, 'a.toml:2: data.source: train.csv: no column "kind" among 17', "train", "a.toml")
        self.write("a.toml", DIGITS)
        self.refuse(3, "a.toml:3: data.test: test.csv: cannot open", "train", "a.toml")
        self.write("test.csv", digits(9))
        self.write("a.toml", DIGITS.replace("scale = 255", "shape = [1, 5, 5]"))
        self.refuse(2, "a.toml:4: data.shape: shape [1,5,5] does not fit samples [16]", "train", "a.toml")
        self.write("a.toml", DIGITS.replace("scale = 255", "transpose = true"))
        self.refuse(2, "a.toml:4: data.transpose: transpose: samples [16] are no images", "train", "a.toml")
        self.write("a.toml", DIGITS.replace("16-12-3", "15-3"))
        self.refuse(2, "a.toml:2: data.source: the data has samples [16] but the model input is [15]", "train", "a.toml")


class Bounds(ProgramTest):
    def test_overlapping_members_are_refused(self):
        whole = npz(x=npy("|u1", (4, 4), bytes(16)))
        end = whole.rindex(b"PK\x05\x06")
        entry = whole.index(b"PK\x01\x02")
        again = whole[entry:end].replace(b"x.npy", b"z.npy")
        record = bytearray(whole[end:])
        record[8:12] = struct.pack("<HH", 2, 2)
        record[12:16] = struct.pack("<I", 2 * (end - entry))
        self.write("bomb.npz", whole[:end] + again + bytes(record))
        self.refuse(3, "overlaps what follows it", "inspect", "bomb.npz")


if __name__ == "__main__":
    main()
