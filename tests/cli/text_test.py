"""Text through the program: training on tokens with a target at every step, resuming, evaluating, generating; and what must be
refused."""
import json
import shutil

from program import ProgramTest, main, npy

TEXT = ("The quick brown fox jumps over the lazy dog. " * 40 + "\n") * 2
CONFIG = """\
[data]
source = "plays.txt"
steps = 12
split = {validation = 0.1}
[model]
input = [12]
layers = [{embedding = {out = 16, vocabulary = 30}}, "positions",
          {residual = {body = [{layer_norm = {per_step = true}}, {attention = {heads = 2, causal = true}}]}},
          {linear = {out = 30, per_step = true}}]
[train]
optimizer = {name = "adamw", lr = 0.01}
batch = 16
slots = 4
epochs = 6
"""


WINDOWS = CONFIG.replace("""layers = [{embedding = {out = 16, vocabulary = 30}}, "positions",
          {residual = {body = [{layer_norm = {per_step = true}}, {attention = {heads = 2, causal = true}}]}},
""", """layers = [{embedding = {out = 16, vocabulary = 30}}, {lstm = {hidden = 16, all_steps = true}},
          {residual = {body = [{layer_norm = {per_step = true}}, {gru = {hidden = 16, all_steps = true}}]}},
""") + """truncate = 4
[checkpoint]
every_steps = 1
keep = 0
"""


class Text(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("plays.txt", TEXT)

    def generate(self, *words):
        return self.succeed("generate", "run/model.safetensors", "--tokens", "60", *words).out

    def test_train_eval_and_generate(self):
        self.train(CONFIG)
        scores = json.loads(self.succeed("eval", "run/model.safetensors", "--split", "train", "--json").out)
        self.assertLess(scores["loss"], 1.5)
        self.assertAlmostEqual(scores["bits"], scores["loss"] / 0.6931471805599453, places=12)
        self.assertEqual(scores["tokens"], 12 * scores["samples"])
        text = self.generate("--prompt", "The quick", "--temperature", "0.8", "--seed", "3")
        self.assertTrue(text.startswith("The quick"))
        self.assertEqual(len(text), len("The quick") + 60 + 1)
        for words in (("--backend", "naive"), ("--threads", "2"), ("--threads", "1")):
            self.assertEqual(self.generate("--prompt", "The quick", "--seed", "3", *words), text)
        self.assertNotEqual(self.generate("--prompt", "The quick", "--seed", "4"), text)
        self.assertIn("jumps", self.generate("--prompt", "The quick brown fox ", "--temperature", "0"))

    def test_resumed_from_any_step_the_metrics_are_the_same(self):
        text = CONFIG.replace("epochs = 6", "epochs = 2") + "[checkpoint]\nevery_steps = 1\nkeep = 0\n"
        self.train(text, "whole")
        expected = (self.folder / "whole/metrics.jsonl").read_bytes()
        steps = sorted(int(path.stem.split("-")[1]) for path in (self.folder / "whole").glob("checkpoint-*"))
        self.assertGreater(len(steps), 8)
        for step in steps[::2]:
            shutil.rmtree(self.folder / "run", ignore_errors=True)
            shutil.copytree(self.folder / "whole", self.folder / "run")
            for later in steps:
                if later > step:
                    (self.folder / f"run/checkpoint-{later}.safetensors").unlink()
            self.succeed("train", "a.toml", "--out", "run", "--resume", "--quiet")
            self.assertEqual((self.folder / "run/metrics.jsonl").read_bytes(), expected, f"from step {step}")

    def test_other_text_with_the_vocabulary_of_the_model(self):
        self.train(CONFIG)
        self.write("other.txt", "the lazy dog jumps over the fox")
        self.succeed("eval", "run/model.safetensors", "--data", "other.txt")
        self.write("foreign.txt", "the lazy dog jumps over 2 foxes")
        self.refuse(3, "byte 24: the character \"2\" (U+0032) is not among the 30 of the vocabulary",
                       "eval", "run/model.safetensors", "--data", "foreign.txt")
        self.refuse(3, "prompt: byte 1: the character \"?\" (U+003F) is not among the 30 of the vocabulary",
                       "generate", "run/model.safetensors", "--prompt", "e?")

    def test_windows_have_one_hash(self):
        """Truncated back-propagation through time: also resumed between two windows of the same sequences."""
        whole = self.train(WINDOWS, "whole")
        for i, options in enumerate((["--threads", "3"], ["--backend", "naive"])):
            self.assertEqual(self.train(WINDOWS, f"run-{i}", *options)["weight_hash"], whole["weight_hash"])
        plain = self.train(WINDOWS, "plain", "--set", "train.truncate=0")
        self.assertNotEqual(plain["weight_hash"], whole["weight_hash"])
        between = 0
        for step in (1, 3, 4, 5):  # of three windows each
            part = self.folder / f"part-{step}"
            shutil.copytree(self.folder / "whole", part)
            for path in part.glob("checkpoint-*.safetensors"):
                if int(path.stem.removeprefix("checkpoint-")) > step:
                    path.unlink()
            between += b'"train.carried"' in (part / f"checkpoint-{step}.safetensors").read_bytes()
            resumed = json.loads(self.succeed("train", "a.toml", "--out", str(part), "--resume", "--json", "--quiet",
                                              "--threads", "2").out)
            self.assertEqual(resumed["weight_hash"], whole["weight_hash"], step)
        self.assertEqual(between, 3)
        self.refuse(2, "train.truncate: 12 steps are not whole windows of 5; choose a divisor", "train", "a.toml", "--set",
                       "train.truncate=5")

    def test_tokens_outside_the_vocabulary(self):
        self.train(CONFIG)
        self.write("tokens.npy", npy("<i8", (2, 12), b"".join(t.to_bytes(8, "little") for t in [3] * 23 + [30])))
        self.refuse(2, "layer 0 (embedding): step 11 of sample 1 is 30, and its vocabulary has 30 tokens",
                       "predict", "run/model.safetensors", "tokens.npy")

    def test_refused(self):
        self.write("run.toml", CONFIG.replace("vocabulary = 30", "vocabulary = 20"))
        self.refuse(2, "layer 0 (embedding): the text has 30 tokens, and its vocabulary has 20 tokens", "train", "run.toml")
        self.write("run.toml", CONFIG.replace("{linear = {out = 30, per_step = true}}", "{linear = 30}"))
        self.refuse(2, "end it in {linear = {out = 30, per_step = true}}", "train", "run.toml")
        self.write("run.toml", CONFIG + "truncate = 4\n")
        self.refuse(2, 'train.truncate: layer 1 (positions) needs whole sequences', "train", "run.toml")
        self.write("plays.txt", b"ab\xff" * 50)
        self.write("run.toml", CONFIG)
        self.refuse(3, "plays.txt: byte 2: the text is not UTF-8", "train", "run.toml")


if __name__ == "__main__":
    main()
