"""lockstep train --resume: what goes on and how it ends, what is refused and why, and what a checkpoint is good for."""
import json
import shutil
import signal
import struct
import subprocess
import time

from program import PROGRAM, ProgramTest, main

# Checkpoints every few steps; the last batch of an epoch is shorter, and steps draw random numbers.
RUN = """\
[data]
source = "moons"
count = 240
test_count = 32
split = {validation = 16}
[model]
input = [2]
layers = [{linear = 8}, "batch_norm", "tanh", {dropout = 0.2}, {linear = 2}]
[train]
optimizer = {name = "adam", lr = 0.01}
schedule = {name = "step", every = 2, factor = 0.5}
batch = 16
epochs = 4
l2 = 0.001
[checkpoint]
every_steps = 3
"""
LONG = RUN.replace("epochs = 4", "epochs = 1000000")
SAME = ("metrics.jsonl", "model.safetensors", "config.toml")


class ResumeTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("a.toml", RUN)

    def train_args(self, out="run", *more):
        return ("train", "a.toml", "--out", out, "--threads", "1", *more)

    def checkpoints(self, out="run"):
        """The steps of the checkpoints, newest first."""
        return sorted((int(path.name.split("-")[1].split(".")[0])
                       for path in (self.folder / out).glob("checkpoint-*.safetensors")), reverse=True)

    def checkpoint(self, index=0, out="run"):
        return self.folder / out / f"checkpoint-{self.checkpoints(out)[index]}.safetensors"

    def whole(self, *more):
        """The same run, never stopped."""
        shutil.rmtree(self.folder / "whole", ignore_errors=True)
        return json.loads(self.succeed(*self.train_args("whole", "--json", "--quiet", *more)).out)

    def expect_same(self, out="run", files=SAME):
        for name in files:
            self.assertEqual((self.folder / out / name).read_bytes(), (self.folder / "whole" / name).read_bytes(), name)

    def damage(self, path, from_end=100):
        data = bytearray(path.read_bytes())
        data[-from_end] ^= 16
        path.write_bytes(data)

    def interrupted(self, *more, number=signal.SIGTERM, after=6):
        """A run of LONG that a signal stopped; its one line on stderr."""
        process = subprocess.Popen([PROGRAM, *self.train_args("run", "--quiet", *more)], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 60
        while not (self.checkpoints() and self.checkpoints()[0] >= after):
            self.assertLess(time.monotonic(), deadline, "no checkpoint was written")
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (10, b""), err)
        return err.decode()


class GoingOn(ResumeTest):
    def test_a_signal_saves_and_the_run_goes_on(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                self.write("a.toml", LONG)
                err = self.interrupted(number=number)
                self.assertEqual(len(err.splitlines()), 1)
                self.assertIn("stopped by a signal at epoch", err)
                self.assertIn("to go on: lockstep train run/config.toml --out run --resume", err)
                self.succeed("eval", "run/model.safetensors")
                stopped = len(self.lines("run/metrics.jsonl"))
                step = self.checkpoints()[0]
                inspected = json.loads(self.succeed("inspect", self.checkpoint(), "--json").out)[0]
                self.assertEqual((inspected["step"], inspected["epoch"]), (step, stopped))

    def test_from_each_kept_checkpoint(self):
        self.whole()
        for epochs in (1, 2, 3):
            for generation in (0, 1):
                with self.subTest(epochs=epochs, generation=generation):
                    shutil.rmtree(self.folder / "run", ignore_errors=True)
                    self.succeed(*self.train_args("run", "--quiet", "--set", f"train.epochs={epochs}"))
                    self.assertEqual(len(self.checkpoints()), 2)
                    if generation == 1:
                        self.checkpoint().unlink()
                    self.succeed("train", "a.toml", "--out", "run", "--resume", "--threads", "3")
                    self.expect_same()

    def test_on_other_threads_and_another_backend(self):
        self.whole()
        for threads, backend in ((2, "naive"), (5, "simd"), (1, "naive-o0")):
            shutil.rmtree(self.folder / "run", ignore_errors=True)
            self.succeed(*self.train_args("run", "--quiet", "--set", "train.epochs=2"))
            self.succeed("train", "a.toml", "--out", "run", "--resume", "--threads", threads, "--backend", backend)
            self.expect_same()

    def test_a_run_that_is_complete(self):
        whole = self.whole()
        result = self.succeed(*self.train_args("whole", "--resume", "--json"))
        self.assertIn("the run is complete: 4 epochs, 56 steps; nothing is left to train", result.err)
        again = json.loads(result.out)
        for key in ("train", "validation", "test", "weight_hash"):
            self.assertEqual(again[key], whole[key], key)
        self.assertEqual(again["resumed_at_step"], 56)
        self.assertEqual(len(self.lines("whole/timings.jsonl")), 4)
        table = self.succeed(*self.train_args("whole", "--resume")).out
        for word in ("train, during last epoch", "validation", "test", "resumed at step 56", "checkpoint-56.safetensors"):
            self.assertIn(word, table)

    def test_timings_are_kept(self):
        self.succeed(*self.train_args("run", "--quiet", "--set", "train.epochs=2"))
        before = (self.folder / "run/timings.jsonl").read_bytes()
        self.succeed(*self.train_args("run", "--resume"))
        after = (self.folder / "run/timings.jsonl").read_bytes()
        self.assertTrue(after.startswith(before))
        self.assertEqual([line["epoch"] for line in self.lines("run/timings.jsonl")], [1, 2, 3, 4])

    def test_how_often_it_is_saved_may_change(self):
        self.whole("--set", "checkpoint.every_steps=0")
        self.assertEqual(self.checkpoints("whole"), [56])
        self.succeed(*self.train_args("run", "--quiet", "--set", "train.epochs=3"))
        self.succeed(*self.train_args("run", "--resume", "--set", "checkpoint.every_steps=0"))
        self.expect_same()

    def test_saved_by_the_clock(self):
        self.succeed(*self.train_args("run", "--set", "checkpoint.every_steps=0", "--set", "checkpoint.every_minutes=1e-9"))
        self.assertEqual(len(self.checkpoints()), 2)

    def test_a_folder_without_a_checkpoint(self):
        self.whole()
        (self.folder / "empty").mkdir()
        self.write("killed/config.toml", (self.folder / "whole/config.toml").read_bytes())
        self.write("killed/metrics.jsonl", b'{"epoch":1}\n')
        self.write("early/.config.toml.12.0.tmp", b"[da")
        for out in ("new", "empty", "killed", "early"):
            result = self.succeed(*self.train_args(out, "--resume"))
            if out != "new":
                self.assertIn(f"{out}: no checkpoint to go on from; training from the beginning", result.err)
            self.expect_same(out)

    def test_leftovers_of_a_kill_are_removed(self):
        self.whole()
        self.succeed(*self.train_args("run", "--quiet", "--set", "train.epochs=2"))
        for name in (".checkpoint-9.safetensors.77.0.tmp", ".model.safetensors.77.1.tmp", ".config.toml.77.2.tmp"):
            self.write(f"run/{name}", b"half")
        self.succeed(*self.train_args("run", "--resume"))
        self.expect_same()
        self.assertEqual([path.name for path in (self.folder / "run").iterdir() if path.name.startswith(".")], [])

    def test_lines_after_the_checkpoint_are_written_again(self):
        self.whole()
        self.succeed(*self.train_args("run", "--quiet", "--set", "train.epochs=2"))
        with open(self.folder / "run/metrics.jsonl", "ab") as file:
            file.write(b'{"epoch": 3, "half a li')
        self.succeed(*self.train_args("run", "--resume"))
        self.expect_same()

    def test_a_damaged_checkpoint_falls_back_one_generation(self):
        self.whole()
        self.succeed(*self.train_args("run", "--quiet", "--set", "train.epochs=3"))
        newest, older = self.checkpoints()
        self.damage(self.checkpoint())
        result = self.succeed(*self.train_args("run", "--resume", "--quiet", "--json"))
        self.assertIn(f"lockstep: warning: run/checkpoint-{newest}.safetensors: damaged: optimizer.second", result.err)
        self.assertEqual(json.loads(result.out)["resumed_at_step"], older)
        self.expect_same()


class Refusals(ResumeTest):
    def setUp(self):
        super().setUp()
        self.succeed(*self.train_args("run", "--quiet", "--set", "train.epochs=2"))

    def refuse_resume(self, code, message, *more):
        before = {path.name: path.read_bytes() for path in (self.folder / "run").iterdir()}
        result = self.refuse(code, message, *self.train_args("run", "--resume", *more))
        after = {path.name: path.read_bytes() for path in (self.folder / "run").iterdir()}
        self.assertEqual(before, after, "a refusal changes nothing")
        return result

    def test_options_that_contradict(self):
        self.refuse(2, "--resume needs --out DIR", "train", "a.toml", "--resume")
        self.refuse_resume(2, "--resume keeps the run in --out and --overwrite replaces it", "--overwrite")
        self.refuse(2, "--resume to go on with it, or --overwrite to replace it", *self.train_args())

    def test_another_configuration(self):
        for change, words in (("train.optimizer.lr=0.5", "train.optimizer.lr is 0.01 there but 0.5 now"),
                              ("train.seed=7", "train.seed is 1 there but 7 now"),
                              ("train.epochs=1", "train.epochs is 2 there but 1 now"),
                              ("train.optimizer=sgd", 'train.optimizer.name is "adam" there but "sgd" now'),
                              ("data.noise=0.3", "data.noise is nothing there but 0.3 now"),
                              ("model.precision=float64", 'model.precision is "float32" there but "float64" now')):
            result = self.refuse_resume(4, words, "--set", change)
            self.assertIn("run/checkpoint-28.safetensors: ", result.err)
            self.assertIn("give another --out", result.err)

    def test_another_configuration_of_a_run_without_a_checkpoint(self):
        for step in self.checkpoints():
            (self.folder / f"run/checkpoint-{step}.safetensors").unlink()
        self.refuse_resume(4, "run/config.toml: train.seed is 1 there but 7 now", "--set", "train.seed=7")

    def test_more_epochs_of_a_cosine(self):
        shutil.rmtree(self.folder / "run")
        cosine = ("--set", "train.schedule=cosine")
        self.succeed(*self.train_args("run", "--quiet", *cosine))
        self.refuse_resume(4, "train.epochs is 4 there but 5 now, and the cosine schedule depends on it", *cosine,
                           "--set", "train.epochs=5")

    def test_other_data(self):
        shutil.rmtree(self.folder / "run")
        rows = [f"{x},{x * x % 7},{x % 2}" for x in range(40)]
        config = ('[data]\nsource = "d.csv"\n[model]\nsizes = "2-3-2"\n[train]\nbatch = 8\nepochs = 2\n'
                  '[checkpoint]\nevery_steps = 2\n')
        self.write("a.toml", config)
        self.write("d.csv", "\n".join(rows))
        self.succeed(*self.train_args("run", "--quiet"))
        self.write("d.csv", "\n".join(rows[:-1] + ["39,3,0"]))
        result = self.refuse_resume(4, "the data had the SHA-256 ")
        self.assertIn("run/checkpoint-10.safetensors", result.err)
        self.assertIn("put them back, or give another --out", result.err)
        self.write("d.csv", "\n".join(rows))
        self.succeed(*self.train_args("run", "--resume"))

    def test_another_numerics_version(self):
        for step in self.checkpoints():
            self.reseal(self.folder / f"run/checkpoint-{step}.safetensors", b'"lockstep.numerics_version":"1"',
                        b'"lockstep.numerics_version":"7"')
        self.refuse_resume(4, "made under numerics 7, this program computes under numerics 1")

    def reseal(self, path, old, new):
        """Changes the header and makes the last hash right again: what another version of the program might write."""
        import hashlib
        data = path.read_bytes()
        self.assertEqual((data.count(old), len(old)), (1, len(new)))
        data = data.replace(old, new)[:-32]
        path.write_bytes(data + hashlib.sha256(data).digest())

    def test_no_checkpoint_that_validates(self):
        self.damage(self.checkpoint(0), 20)
        self.damage(self.checkpoint(1))
        result = self.refuse_resume(4, "no checkpoint in this folder can be used: train anew with --overwrite")
        self.assertIn("checkpoint-28.safetensors: damaged: the header or the last 32 bytes", result.err)
        self.checkpoint(1).unlink()
        self.refuse_resume(4, "there is no other in this folder: train anew with --overwrite")
        self.checkpoint().write_bytes(b"")
        self.refuse_resume(4, "checkpoint-28.safetensors: byte 0")
        self.succeed(*self.train_args("run", "--overwrite", "--quiet"))

    def test_metrics_that_are_not_those_of_the_run(self):
        path = self.folder / "run/metrics.jsonl"
        good = path.read_bytes()
        for bad in (good[:100], good.replace(b'"epoch":1', b'"epoch":9'), b""):
            path.write_bytes(bad)
            self.refuse_resume(4, "are not what they were when checkpoint-28.safetensors was saved")
        path.unlink()
        self.refuse_resume(4, "run/metrics.jsonl: its first")
        path.write_bytes(good)
        self.succeed(*self.train_args("run", "--resume"))

    def test_a_folder_of_something_else(self):
        self.write("other/thesis.tex", "x")
        self.refuse(2, "--out other: the folder holds other files", *self.train_args("other", "--resume"))

    def test_a_run_that_is_still_going(self):
        self.write("a.toml", LONG)
        shutil.rmtree(self.folder / "run")
        process = subprocess.Popen([PROGRAM, *self.train_args("run", "--quiet")], cwd=self.folder, stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 60
        while not ((self.folder / "run").exists() and self.checkpoints()):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        self.refuse(6, "run: another run is writing here", *self.train_args("run", "--resume"))
        process.kill()
        process.wait()
        self.interrupted("--resume", after=self.checkpoints()[0] + 1)


class CheckpointsAsModels(ResumeTest):
    def setUp(self):
        super().setUp()
        self.result = json.loads(self.succeed(*self.train_args("run", "--json", "--quiet")).out)

    def test_eval_predict_export_and_initial_weights(self):
        path = self.checkpoint()
        scores = json.loads(self.succeed("eval", path, "--json").out)
        self.assertEqual(scores["loss"], self.result["test"]["loss"])
        self.succeed("predict", path, "--rows", "0-3")
        self.succeed("export", path, "out.safetensors")
        header = (self.folder / "out.safetensors").read_bytes()
        length = struct.unpack("<Q", header[:8])[0]
        self.assertNotIn("optimizer.first", json.loads(header[8:8 + length]))
        again = json.loads(self.succeed(*self.train_args("two", "--json", "--set", f"model.init={path}", "--set",
                                                         "train.epochs=0")).out)
        self.assertEqual(again["weight_hash"], self.result["weight_hash"])

    def test_inspect(self):
        text = self.succeed("inspect", self.checkpoint()).out
        self.assertTrue(json.loads(self.succeed("inspect", self.checkpoint(), "--json").out)[0]["validates"])
        for words in ("checkpoint\n", "validates", "yes", "step 56: 4 epochs and 0 batches", 'name = "adam"'):
            self.assertIn(words, text)
        self.damage(self.checkpoint())
        for command in (["inspect"], ["eval"], ["predict", "--rows", "0"]):
            self.refuse(4, "damaged or edited", command[0], self.checkpoint(), *command[1:])
        self.refuse(4, "damaged or edited", "export", self.checkpoint(), "out.npz")
        self.refuse(4, "damaged or edited", *self.train_args("two", "--set", f"model.init={self.checkpoint()}"))
        self.refuse(3, "checkpoint.sha256", "inspect", self.short(self.checkpoint()))

    def short(self, path):
        path.write_bytes(path.read_bytes()[:-1])
        return path


if __name__ == "__main__":
    main()
