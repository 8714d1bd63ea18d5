"""Command lines and configurations that must be refused: each with its exit code and its one line."""
import os
import shutil
import subprocess
import unittest

from program import MOONS, PROGRAM, ProgramTest, main

# What is added to or changed in a good configuration, and the line that answers it. {} is the name of the file.
SETS = [
    ("train.epoch=3", "--set train.epoch=3: train.epoch: unknown key; did you mean train.epochs?"),
    ("train.epochs=-1", "train.epochs: must be from 0 to 1000000000, got -1"),
    ("train.epochs=2.5", "train.epochs: must be a whole number from 0 to 1000000000, not a number: 2.5"),
    ("train.batch=0", "train.batch: must be from 1 to 1000000000, got 0"),
    ("train.batch=half", 'train.batch: must be "full" or a whole number from 1 to 1000000000, got "half"'),
    ("train.slots=3", 'train.slots: must be "auto" or a power of two up to 4096, got 3'),
    ("train.loss=hinge", "known are cross-entropy, binary-cross-entropy, squared-error, focal, huber"),
    ("train.loss=cross-entropi", "did you mean cross-entropy?"),
    ("train.optimizer=lbfgs", "train.optimizer: unknown name"),
    ("train.optimizer.lr=0", "train.optimizer.lr: must be above 0, got 0"),
    ("train.optimizer.lr=inf", "train.optimizer.lr: must be above 0, got inf"),
    ("train.optimizer.beta1=1", "train.optimizer.beta1: must be at least 0 and below 1, got 1"),
    ("train.optimizer.nesterov=true", "train.optimizer.nesterov: unknown key"),
    ("train.schedule=exponential", "known are constant, step, cosine, one-cycle, plateau"),
    ("train.reduction=max", "known are mean, sum"),
    ("train.shuffle=yes", 'train.shuffle: must be true or false, not a string: "yes"'),
    ("train.l2=-1", "train.l2: must be at least 0, got -1"),
    ("train.seed=-1", "train.seed: must be at least 0, got -1"),
    ("train.backend=naive", "train.backend: unknown key"),
    ("trian.epochs=3", "trian: unknown section; did you mean train?"),
    ("epochs=3", "write --set section.key=value"),
    ("train.epochs", "write --set section.key=value"),
    ("train.epochs=", "a value is missing after the equals sign"),
    ("train.optimizer={name = adam}", "--set train.optimizer={name = adam}: "),
    ("model.precision=float16", "did you mean float32?"),
    ("model.sizes=2-x-1", "model.sizes: must be whole numbers from 1 to 16777216 joined by '-'"),
    ('model.sizes="2"', "model.sizes: must have 2 to 256 sizes"),
    ("model.layers=[]", "model.sizes: give either model.sizes or model.layers, not both"),
    ("model.activation=rely", "did you mean relu?"),
    ("model.init=uniform", 'model.init.scale: missing; "uniform" needs one'),
    ("model.init=xavier-unifrom", "did you mean xavier-uniform?"),
    ("data.source=", "a value is missing"),
    ("data.sorce=x", "did you mean data.source?"),
    ("data.noise=-1", "data.noise: must be at least 0, got -1"),
    ("data.split=[0.9, 0.2, 0]", "data.split: the fractions must not exceed 1 together"),
    ("data.split={validation = 64}", "split of 64 samples into train 0, validation 64, test 0 is impossible"),
    ("data.split={test = 8}", "the source has a test set of its own"),
    ("data.shape=[3]", "shape [3] does not fit samples [2] of moons"),
    ("data.resize=20", "samples [2] are no images"),
    # What is right by itself but does not fit together.
    ("model.output=none", "a.toml:7: model.sizes: binary-cross-entropy needs a network that ends in sigmoid"),
    ("model.sizes=3-1", "a.toml:2: data.source: the data has samples [2] but the model input is [3]; write model.sizes = \"2-...\" or model.input = [2]"),
    ("train.loss=cross-entropy", "a.toml:2: data.source: the data has 2 classes but the model has 1 output"),
]

LAYERS = """\
[data]
source = "moons"
[model]
input = [1, 8, 8]
layers = [
  "relu",
  LAYER
]
"""

LAYER_LINES = [
    ('"rellu"', 'bad.toml:7: model.layers[1]: unknown layer "rellu"; did you mean relu?'),
    ('"linear"', 'bad.toml:7: model.layers[1]: "linear" needs options, as {linear = 10}'),
    ("{linear = 0}", "bad.toml:7: model.layers[1].linear: must be from 1 to 16777216, got 0"),
    ("{conv2d = {out = 4}}", "bad.toml:7: model.layers[1].conv2d.kernel: missing"),
    ("{conv2d = {out = 4, kernel = 3, padding = 1}}", "bad.toml:7: model.layers[1].conv2d.padding: unknown key"),
    ("{dropout = 1.5}", "bad.toml:7: model.layers[1].dropout: must be at least 0 and below 1, got 1.5"),
    ("{conv2d = {out = 4, kernel = 9}}", "bad.toml:7: model.layers[1]: layer 1 (conv2d): "),
    ("{conv2d = {out = 4, kernel = 3, groups = 3}}", "bad.toml:7: model.layers[1]: layer 1 (conv2d): "),
    ("{max_pool2d = 9}", "bad.toml:7: model.layers[1]: layer 1 (max_pool2d): "),
    ('{residual = {body = [{linear = 3}]}}', "bad.toml:7: model.layers[1]: layer 1 (residual): "),
    ("{linear = 3}", "bad.toml:2: data.source: the data has samples [2] but the model input is [1,8,8]; write model.input = [2]"),
    ("{linear = 3, relu = 1}", "bad.toml:7: model.layers[1]: a layer is a name or a table with one key"),
]

FILES = [
    ("", "data.source: missing"),
    ("epochs = 3\n", "bad.toml:1: epochs: stands outside the sections; did you mean train.epochs?"),
    ("[data]\nsource = moons\n", "bad.toml:2:"),
    ("[data\n", "bad.toml:1:"),
    ("[data]\nsource = \"moons\"\nsource = \"circles\"\n", "bad.toml:3:"),
    ("[data]\nsource = \"\xff\"\n".encode("latin-1"), "bad.toml:2:"),
    (b"\x93NUMPY\x00\x01", "bad.toml:1: a zero byte: this is no text"),
    (b"a" * 2_000_000, "bad.toml"),
    ("[data]\nsource = \"moons\"\n", "model.layers: missing"),
    ("[data]\nsource = \"moons\"\nfrom = \"rank0\"\n[model]\nlayers = [\"relu\"]\n", "model.input: missing"),
    ("[data]\nsource = \"moons\"\ntarget = \"y\"\n", "data.target: unknown key; did you mean data.label_column?"),
    ("[data]\nsource = 2020-01-01\n[model]\nsizes = \"2-1\"\n", "must be a string, not a date or time"),
    ("a" + ".a" * 100 + " = 1\n", "a key of more than 64 parts"),
    ("a = " + "[" * 5000, "bad.toml:1:"),
    ("[\"data\\u001b[31m\"]\n", "unknown section"),
]

COMMANDS = [
    ([], "a command is missing: train, eval, predict, generate, inspect, export"),
    (["trian"], "unknown command trian; did you mean train?"),
    (["dance"], "unknown command dance; known are train, eval, predict, generate, inspect, export"),
    (["--jsn"], "unknown option --jsn; options stand after a command"),
    (["--json", "train", "a.toml"], "unknown option --json; options stand after a command"),
    (["train"], "see lockstep train --help"),
    (["train", "a.toml", "--bakend", "naive"], "unknown option --bakend; did you mean --backend?"),
    (["train", "a.toml", "--thread=2"], "unknown option --thread=2"),
    (["train", "a.toml", "b.toml"], "unexpected argument b.toml"),
    (["train", "a.toml", "--backend", "metal"], "--backend metal: unknown name; known are simd, naive, naive-o0"),
    (["train", "a.toml", "--backend", "naiv"], "did you mean naive?"),
    (["train", "a.toml", "--set"], "--set"),
    (["train", "missing.toml"], "missing.toml: cannot open: No such file or directory"),
    (["train", "."], ".: "),
    (["eval"], "see lockstep eval --help"),
    (["export", "m.safetensors"], "see lockstep export --help"),
    (["predict", "m.safetensors", "--top", "0"], "--top"),
    (["ladder", "a.toml", "--budget", "nan"], "--budget: nan is not a number from 0.1 to 1000000"),
    (["ladder", "a.toml", "--share", "2"], "--share: 2 is not a number from 0.001 to 1"),
    (["simulate", "a.toml", "--timeout", "soon"], "--timeout: soon is not a number from 1 to 86400"),
    (["predict", "m.safetensors", "x.png", "--rows", "1"], "--rows chooses rows of a table or data set; x.png is read whole"),
]


class BadConfig(ProgramTest):
    def test_changes_of_a_good_configuration(self):
        self.write("a.toml", MOONS)
        for text, message in SETS:
            with self.subTest(text):
                self.refuse(2, message, "train", "a.toml", "--set", text)
        self.assertFalse((self.folder / "runs").exists(), "a refused run left a folder behind")

    def test_layers(self):
        for layer, message in LAYER_LINES:
            with self.subTest(layer):
                self.write("bad.toml", LAYERS.replace("LAYER", layer))
                self.refuse(2, message, "train", "bad.toml")

    def test_files(self):
        for content, message in FILES:
            with self.subTest(content[:60]):
                self.write("bad.toml", content)
                result = self.refuse(2, message, "train", "bad.toml")
                self.assertEqual(len(result.err.splitlines()), 1, result)
                self.assertNotIn("\x1b", result.err)

    def test_command_lines(self):
        self.write("a.toml", MOONS)
        for arguments, message in COMMANDS:
            with self.subTest(arguments):
                result = self.refuse(2, message, *arguments)
                self.assertEqual(len(result.err.splitlines()), 1, result)

    def test_a_folder_with_other_files_is_never_touched(self):
        self.write("a.toml", MOONS)
        self.write("out/thesis.txt", "precious")
        for extra in ([], ["--overwrite"]):
            self.refuse(2, "--out out: the folder holds other files", "train", "a.toml", "--out", "out", *extra)
        self.write("out/config.toml", "")
        self.refuse(2, "the folder holds other files", "train", "a.toml", "--out", "out", "--overwrite")
        self.assertEqual((self.folder / "out/thesis.txt").read_text(), "precious")
        self.refuse(2, "--out a.toml: is a file, not a folder", "train", "a.toml", "--out", "a.toml")

    def test_a_folder_that_cannot_be_made(self):
        self.write("a.toml", MOONS)
        self.write("results.jsonl", "")
        for command in (["train", "a.toml"], ["ladder", "a.toml", "--rungs", "simd"], ["report", "results.jsonl"]):
            with self.subTest(command):
                result = self.refuse(2, "cannot create a.toml/run: ", *command, "--out", "a.toml/run")
                self.assertIn("not a directory; choose another with --out", result.err)
        result = self.refuse(2, "cannot create ", "train", "a.toml", "--out", "/proc/self/fdinfo/run")
        self.assertIn("choose another with --out", result.err)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "another user needs root and setpriv")
    def test_a_folder_without_permission(self):
        config = self.write("a.toml", MOONS)
        config.chmod(0o644)
        self.folder.chmod(0o755)
        (self.folder / "closed").mkdir(mode=0o755)
        for out, words in (("closed/run", "cannot create closed/run: permission denied"),
                           ("closed", "cannot write to closed: permission denied")):
            done = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", PROGRAM, "train", "a.toml", "--quiet",
                                   "--out", out], cwd=self.folder, capture_output=True, text=True, check=False)
            if "ailed to execute" in done.stderr:
                self.skipTest(done.stderr)
            self.assertEqual((done.returncode, done.stderr), (2, f"lockstep: {words}; choose another with --out\n"))


if __name__ == "__main__":
    main()
