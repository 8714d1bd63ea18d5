"""Sequences through the program: images by rows, .ts files of different lengths; training, resuming, evaluating, predicting,
inspecting and exporting them; and what must be refused."""
import json
import random

from program import PICTURES, ProgramTest, main, png

ROWS = """\
[data]
source = "x.npy"
labels = "y.npy"
as_sequence = "rows"
[model]
input = [4, 4]
layers = [{lstm = {hidden = 6, bidirectional = true}}, {linear = 3}]
[train]
optimizer = {name = "adam", lr = 0.02}
batch = 4
slots = 2
epochs = 6
"""
SERIES = """\
[data]
source = "train.ts"
test = "test.ts"
steps = 7
[model]
input = [2, 7]
layers = [{gru = {hidden = 5, layers = 2, all_steps = true}}, {rnn = 5}, {linear = 3}]
init = {name = "fan-in-uniform", biases = true}
[train]
optimizer = {name = "adam", lr = 0.03}
batch = 8
slots = 4
epochs = 8
clip_norm = 1.0
"""
HEAD = "# drawn\n@problemName drawn\n@timeStamps false\n@classLabel true up down flat\n@data\n"


def series(seed, count, longest):
    """Lines of two dimensions that rise, fall or stay, of 2 to `longest` steps."""
    draw, lines = random.Random(seed), []
    for i in range(count):
        slope, steps = (1, -1, 0)[i % 3], draw.randint(2, longest) if i else longest
        values = [[f"{slope * t / 4 + draw.gauss(0, 0.1):.6f}" for t in range(steps)] for _ in range(2)]
        lines.append(":".join(",".join(row) for row in values) + ":" + ("up", "down", "flat")[i % 3])
    return HEAD + "\n".join(lines) + "\n"


class Sequences(ProgramTest):
    def write_series(self):
        self.write("train.ts", series(1, 36, 5))
        self.write("test.ts", series(2, 12, 7))

    def test_classes_of_ts_files_go_by_name(self):
        self.write_series()
        self.write("turned.ts", series(2, 12, 7).replace("true up down flat", "true flat up down"))
        self.train(SERIES)
        scores = [json.loads(self.succeed("eval", "run/model.safetensors", "--data", name, "--json").out)
                  for name in ("test.ts", "turned.ts")]
        self.assertEqual(scores[0]["correct"], scores[1]["correct"])
        self.write("other.ts", series(2, 12, 7).replace("true up down flat", "true up down flat wild"))
        self.refuse(3, 'the label "wild" is no class of training', "eval", "run/model.safetensors", "--data", "other.ts")

    def test_rows_of_images_have_one_hash(self):
        self.write_digits()
        hashes = {self.train(ROWS, f"run-{i}", *options)["weight_hash"] for i, options in enumerate(
            ([], ["--threads", "2"], ["--backend", "naive"]))}
        self.assertEqual(len(hashes), 1)

    def test_pictures_are_read_by_rows_too(self):
        self.write_digits()
        self.train(ROWS.replace("epochs = 6", "epochs = 40"))
        for k in range(3):
            bright = [220 if p // 4 == k else 10 for p in range(16)]
            self.write("p.png", png(4, 4, bright))
            answer = json.loads(self.succeed("predict", "run/model.safetensors", "p.png", "--json").out)
            self.assertEqual((answer["predictions"] if "predictions" in answer else answer)[0]["class"], k, answer)

    def test_series_of_different_lengths(self):
        self.write_series()
        result = self.train(SERIES)
        self.assertGreater(result["test"]["accuracy"], 0.9, result)
        again = {self.train(SERIES, f"other-{i}", *options)["weight_hash"] for i, options in enumerate(
            (["--threads", "3"], ["--backend", "naive"]))}
        self.assertEqual(again, {result["weight_hash"]})
        answer = json.loads(self.succeed("eval", "run/model.safetensors", "--data", "test.ts", "--json").out)
        self.assertEqual(answer["accuracy"], result["test"]["accuracy"])

    def test_more_padding_changes_nothing(self):
        self.write_series()
        runs = [self.train(SERIES.replace("7", steps), f"run-{steps}") for steps in ("7", "9")]
        self.assertEqual(runs[0]["weight_hash"], runs[1]["weight_hash"])
        self.assertEqual(runs[0]["test"], runs[1]["test"])

    def test_resumed_is_the_same_run(self):
        self.write_series()
        straight = self.train(SERIES, "straight")["weight_hash"]
        self.train(SERIES, "parts", "--set", "train.epochs=3")
        resumed = json.loads(self.succeed("train", "a.toml", "--out", "parts", "--resume", "--json", "--quiet", "--threads", "2").out)
        self.assertEqual(resumed["weight_hash"], straight)

    def test_inspect_names_the_lengths(self):
        self.write_series()
        said = self.succeed("inspect", "train.ts").out
        self.assertIn("36 sequences of 2 dimensions, 2 to 5 steps, 3 classes", said)

    def test_export_without_lengths_only(self):
        self.write_series()
        self.write_digits()
        self.train(ROWS, "rows")
        self.succeed("export", "rows/model.safetensors", "rows.onnx")
        self.train(SERIES, "series")
        self.refuse(2, "has no input for their lengths; export .safetensors", "export", "series/model.safetensors", "series.onnx")
        self.succeed("export", "series/model.safetensors", "series.npz")

    def test_refusals(self):
        self.write_digits()
        self.write_series()
        self.write("a.toml", ROWS.replace('as_sequence = "rows"\n', ""))
        self.refuse(2, 'samples [1,4,4] are no sequences [features,steps], which the model reads; set data.as_sequence = "rows" or '
                    '"columns"', "train", "a.toml")
        self.write("a.toml", PICTURES.replace("[1, 4, 4]", "[4, 4]").replace("{conv2d", '{lstm = 2}, {conv2d'))
        self.refuse(2, "layer 1 (conv2d)", "train", "a.toml")
        self.write("a.toml", ROWS.replace("[4, 4]", "[1, 4, 4]"))
        self.refuse(2, "layer 0 (lstm): needs a sequence [features,steps]", "train", "a.toml")
        self.write("a.toml", SERIES.replace("steps = 7", "steps = 4"))
        self.refuse(3, "sample 0 has 5 steps, more than data.steps = 4", "train", "a.toml")
        self.write("a.toml", SERIES.replace("steps = 7\n", ""))
        self.refuse(2, "data.steps = 7 gives both the same steps", "train", "a.toml")
        self.write("a.toml", SERIES)
        self.refuse(2, "sequences of different lengths are not standardised", "train", "a.toml", "--set", "data.standardise=true")
        self.write("equal.ts", HEAD + "1,2:3,4:up\n4,2:3,1:down\n")
        self.refuse(2, "augment changes pictures, and these samples are sequences", "train", "a.toml", "--set",
                    "data.source=equal.ts", "--set", "data.augment={flip = true}")
        self.write("train.ts", HEAD + "1,2:3,4:sideways\n")
        self.refuse(3, "train.ts: line 6: the class \"sideways\" is not one of @classLabel", "train", "a.toml")


if __name__ == "__main__":
    main()
