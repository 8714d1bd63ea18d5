"""lockstep train: what a run writes, that it repeats to the bit, and what happens when it cannot go on."""
import json
import os
import resource
import shutil
import signal
import subprocess
import time
import unittest

from program import HIDDEN, MOONS, PICTURES, PROGRAM, ProgramTest, main, sanitized

RUN_FILES = {"answers.json", "certificate.json", "config.toml", "metrics.jsonl", "timings.jsonl", "model.safetensors", "checkpoint-9.safetensors",
             "machine.json", "report.html", "status.json"}
LONG = MOONS.replace("epochs = 3", "epochs = 1000000")


class Train(ProgramTest):
    def files(self, folder):
        return {path.name for path in (self.folder / folder).iterdir()}

    def bytes(self, name):
        return (self.folder / name).read_bytes()

    def test_the_run_directory(self):
        result = self.train()
        self.assertEqual(self.files("run"), RUN_FILES)
        lines = self.lines("run/metrics.jsonl")
        self.assertEqual([line.get("epoch") for line in lines], [1, 2, 3, None])
        self.assertGreater(lines[0].pop("first_loss"), lines[0]["train"]["loss"] / 2)
        for line in lines[:3]:
            self.assertEqual(set(line), {"epoch", "steps", "lr", "train", "validation", "penalty", "weight_hash"})
            self.assertEqual(line["train"]["samples"], 48)
            self.assertEqual(line["validation"]["samples"], 16)
        self.assertEqual([line["steps"] for line in lines[:3]], [3, 6, 9])
        self.assertEqual(lines[3]["test"], result["test"])
        self.assertEqual(lines[2]["train"], result["train"])
        self.assertEqual(lines[3]["weight_hash"], result["weight_hash"])
        timings = self.lines("run/timings.jsonl")
        self.assertEqual(len(timings), 3)
        self.assertGreater(timings[0]["seconds"]["total"], 0)
        self.assertEqual(timings[0]["backend"], "simd")

    def status(self, run="run"):
        return json.loads((self.folder / run / "status.json").read_text())

    def test_the_status_of_a_run(self):
        self.train()
        status = self.status()
        self.assertEqual((status["state"], status["exit_code"], status["epoch"], status["epochs"], status["step"], status["ranks"]),
                         ("finished", 0, 3, 3, 9, 1))
        self.assertEqual((status["message"], status["resume"]), ("", None))
        self.assertLessEqual(status["began"], status["time"])
        self.write("wild.toml", MOONS.replace('{name = "adam", lr = 0.05}', '{name = "sgd", lr = 1e300}'))
        self.refuse(8, "diverged", "train", "wild.toml", "--out", "wild run")
        status = self.status("wild run")
        self.assertEqual((status["state"], status["exit_code"]), ("diverged", 8))
        self.assertIn("diverged", status["message"])
        self.assertEqual(status["resume"], "lockstep train 'wild run/config.toml' --out 'wild run' --resume")

    def test_the_status_while_it_runs(self):
        self.write("a.toml", LONG)
        process = self.start("train", "a.toml", "--out", "run", "--quiet")
        status = self.status()
        self.assertEqual((status["state"], status["exit_code"], status["process"]), ("running", None, process.pid))
        process.kill()

    def test_two_runs_are_the_same_bytes(self):
        first, second = self.train(out="one"), self.train(out="two")
        self.assertEqual(first["weight_hash"], second["weight_hash"])
        for name in ("metrics.jsonl", "model.safetensors", "config.toml"):
            self.assertEqual(self.bytes(f"one/{name}"), self.bytes(f"two/{name}"), name)
        other = self.train(MOONS, "three", "--set", "train.seed=2")
        self.assertNotEqual(first["weight_hash"], other["weight_hash"])

    def test_the_backend_does_not_change_the_result(self):
        self.train(out="one")
        self.train(MOONS, "two", "--backend", "naive-o0")
        for name in ("metrics.jsonl", "model.safetensors", "config.toml"):
            self.assertEqual(self.bytes(f"one/{name}"), self.bytes(f"two/{name}"), name)

    def test_the_library_backend_rounds_otherwise_and_says_so(self):
        self.write_digits()
        self.write("a.toml", PICTURES)
        first = self.run_program("train", "a.toml", "--out", "one", "--json", "--backend", "library", "--threads", "2")
        if first.code != 0:  # a machine without the libraries
            self.refuse(2, "backend library needs", "train", "a.toml", "--out", "one", "--json", "--backend", "library")
            return
        first = json.loads(first.out)
        self.assertEqual((first["backend"], first["promise"]), ("library", False))
        again = self.train(PICTURES, "two", "--backend", "library", "--threads", "2")
        self.assertEqual(first["weight_hash"], again["weight_hash"], "run to run it is the same")
        ours = self.train(PICTURES, "three", "--threads", "2")
        self.assertTrue(ours["promise"])
        self.assertAlmostEqual(first["train"]["loss"], ours["train"]["loss"], places=4)
        table = self.succeed("train", "a.toml", "--out", "four", "--backend", "library")
        self.assertIn("within rounding, not bit for bit", table.out)
        scores = self.succeed("eval", "four/model.safetensors", "--backend", "library")
        self.assertIn("within rounding, not bit for bit", scores.err)

    def test_the_resolved_configuration_is_the_same_run(self):
        first = self.train(MOONS, "one", "--set", "train.optimizer.lr=0.0123456789", "--set", "data.noise=0.2")
        again = json.loads(self.succeed("train", "one/config.toml", "--out", "two", "--json").out)
        self.assertEqual(first["weight_hash"], again["weight_hash"])
        for name in ("metrics.jsonl", "model.safetensors", "config.toml"):
            self.assertEqual(self.bytes(f"one/{name}"), self.bytes(f"two/{name}"), name)

    def test_the_table(self):
        self.write("a.toml", MOONS)
        result = self.succeed("train", "a.toml", "--out", "run")
        for word in ("train, during last epoch", "validation", "test", "samples/s", "weights", "13 parameters", "run/model.safetensors"):
            self.assertIn(word, result.out)
        self.assertIn("epoch 3/3", result.err)
        self.assertNotIn("epoch 3/3", result.out)
        self.assertNotIn("\x1b", result.err + result.out, "no terminal, no control sequences")
        self.assertNotIn("\r", result.err)

    def test_numbered_directories(self):
        self.write("my run.toml", MOONS)
        for number in (1, 2, 3):
            result = json.loads(self.succeed("train", "my run.toml", "--json", "--quiet").out)
            self.assertEqual(result["directory"], f"runs/my run-{number}")
        self.assertEqual(self.files("runs/my run-2"), RUN_FILES)

    def test_overwrite(self):
        first = self.train()
        self.refuse(2, "--out run: holds an earlier run; give another folder, --resume to go on", "train", "a.toml", "--out", "run")
        second = self.train(MOONS, "run", "--overwrite", "--set", "train.epochs=1")
        self.assertNotEqual(first["weight_hash"], second["weight_hash"])
        self.assertEqual(len(self.lines("run/timings.jsonl")), 1)
        (self.folder / "empty").mkdir()
        self.train(out="empty")

    def test_zero_epochs_keep_the_initial_weights(self):
        zero = self.train(MOONS, "zero", "--set", "train.epochs=0")
        self.assertNotIn("train", zero)
        self.assertIn("test", zero)
        started = self.train(MOONS, "started", "--set", "train.epochs=0", "--set", "model.init=zero/model.safetensors",
                             "--set", "train.seed=99")
        self.assertEqual(zero["weight_hash"], started["weight_hash"])
        self.write("a.toml", MOONS)
        self.assertIn("parameters", self.succeed("train", "a.toml", "--set", "train.epochs=0", "--out", "table").out)

    def test_pictures(self):
        self.write_digits()
        result = self.train(PICTURES)
        self.assertEqual(result["train"]["samples"], 12)
        self.assertNotIn("test", result)

    def test_regression(self):
        self.write("line.csv", "".join(f"{x},{2 * x + 1}\n" for x in range(20)))
        result = self.train('[data]\nsource = "line.csv"\nregression = true\nscale = 20\n[model]\nsizes = "1-1"\n[train]\n'
                            'loss = "squared-error"\noptimizer = {name = "sgd", lr = 0.05}\nbatch = "full"\nepochs = 5\n')
        self.assertNotIn("accuracy", result["train"])

    def test_a_number_beyond_float32_is_named(self):
        self.write("big.csv", "a,b,label\n" + "".join(f"0.{i},{'1e39' if i == 7 else i},{i % 2}\n" for i in range(20)))
        self.write("big.toml", '[data]\nsource = "big.csv"\n[model]\nsizes = "2-3-2"\n[train]\nbatch = 4\nepochs = 2\n')
        self.refuse(8, "feature 1 of training sample 7 is beyond the range of float32", "train", "big.toml")
        self.succeed("train", "big.toml", "--set", "model.precision=float64", "--out", "wide")

    def test_divergence_is_exit_8(self):
        config = MOONS.replace('"binary-cross-entropy"', '"squared-error"').replace('output = "sigmoid"\n', 'activation = "relu"\n')
        self.write("a.toml", config)
        result = self.refuse(8, "training diverged", "train", "a.toml", "--set", 'train.optimizer={name = "sgd", lr = 1e30}',
                             "--set", "train.epochs=50", "--out", "run")
        self.assertIn("lower train.optimizer.lr", result.err)

    def assert_diverged(self, *arguments, out="diverged"):
        """Exit 0 with a warning on stderr, in the summary and in the report."""
        shutil.rmtree(self.folder / out, ignore_errors=True)
        result = self.succeed("train", "a.toml", "--out", out, *arguments)
        warning = "the loss ended at"
        self.assertIn("lockstep: warning: " + warning, result.err)
        self.assertIn("warning  " + warning, result.out)
        self.assertIn(warning, (self.folder / out / "report.html").read_text())
        shutil.rmtree(self.folder / out)
        summary = json.loads(self.succeed("train", "a.toml", "--out", out, "--json", "--quiet", *arguments).out)
        self.assertIn("training diverged", summary["warning"])

    def test_a_loss_that_ended_far_above_its_beginning_is_said(self):
        self.write("a.toml", MOONS.replace('"2-3-1"', '"2-8-2"').replace('output = "sigmoid"\n', 'activation = "tanh"\n')
                   .replace("binary-cross-entropy", "cross-entropy").replace('"adam", lr = 0.05', '"sgd", lr = 0.05'))
        for rate in ("1e6", "1e30"):
            self.assert_diverged("--set", f"train.optimizer.lr={rate}")
        result = self.succeed("train", "a.toml", "--out", "good")
        self.assertNotIn("warning", result.err + result.out)
        self.assertNotIn("the loss ended", (self.folder / "good/report.html").read_text())

    def test_huge_features_are_said(self):
        self.write("big.csv", "".join(f"{1e30 * (1 + x % 3)},{-1e30 * (x % 5)},{x % 2}\n" for x in range(40)))
        self.write("a.toml", '[data]\nsource = "big.csv"\n[model]\nsizes = "2-2"\n[train]\nbatch = "full"\nepochs = 1\n'
                   'optimizer = {name = "sgd", lr = 1e-32}\n')
        self.assert_diverged()

    def test_weights_that_relu_hides_from_the_loss_are_exit_8(self):
        self.write("a.toml", HIDDEN)
        for arguments in ([], ["--threads", "3"], ["--backend", "naive"]):
            result = self.refuse(8, "training diverged: the weights are not finite numbers at epoch 1, step 1", "train", "a.toml",
                                 "--out", "run", "--overwrite", *arguments)
            self.assertIn("lower train.optimizer.lr", result.err)
            self.assertFalse((self.folder / "run/model.safetensors").exists())
            self.assertEqual(self.bytes("run/metrics.jsonl"), b"")
            self.assertFalse(list((self.folder / "run").glob("checkpoint-*")))

    def test_the_summary_shows_the_score_of_the_saved_weights(self):
        self.write_digits()
        for threads in ("1", "2"):
            shutil.rmtree(self.folder / "run", ignore_errors=True)
            summary = self.train(PICTURES, "run", "--threads", threads)
            scores = json.loads(self.succeed("eval", "run/model.safetensors", "--json").out)
            self.assertEqual({k: scores[k] for k in ("samples", "loss", "correct", "accuracy")}, summary["final_train"])
            self.assertNotEqual(summary["train"]["loss"], summary["final_train"]["loss"])
            last = self.lines("run/metrics.jsonl")[-1]
            self.assertEqual(last, {"final_train": summary["final_train"], "weight_hash": summary["weight_hash"]})
        shutil.rmtree(self.folder / "run")
        text = self.succeed("train", "a.toml", "--out", "run").out
        self.assertIn("train, during last epoch", text)
        self.assertIn("train, final weights", text)
        page = (self.folder / "run/report.html").read_text()
        self.assertIn(f"{summary['final_train']['correct']} of 12 right", page)
        self.assertIn("during the epoch: each batch before its update", page)

    def test_quiet_says_nothing(self):
        self.write("a.toml", MOONS)
        result = self.succeed("train", "a.toml", "--out", "run", "--quiet", "--json")
        self.assertEqual(result.err, "")
        self.assertEqual(json.loads(result.out)["epochs"], 3)

    def start(self, *arguments):
        """Starts a run in the folder `run` and waits for its first epoch."""
        process = subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 60
        metrics = self.folder / "run/metrics.jsonl"
        while not (metrics.exists() and metrics.stat().st_size > 0):
            self.assertLess(time.monotonic(), deadline, "training did not begin")
            self.assertIsNone(process.poll(), process.stderr.read() if process.poll() is not None else "")
            time.sleep(0.01)
        return process

    def test_a_signal_saves_and_ends(self):
        self.write("a.toml", LONG)
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                process = self.start("train", "a.toml", "--out", "run", "--quiet")
                process.send_signal(number)
                out, err = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 10, err)
                self.assertIn(b"stopped by a signal at epoch", err)
                self.assertEqual(out, b"")
                self.succeed("eval", "run/model.safetensors")
                status = self.status()
                self.assertEqual((status["state"], status["exit_code"]), ("stopped", 10))
                self.assertIn(status["message"], err.decode())
                self.assertIn(f"to go on: {status['resume']}", err.decode())
                self.assertEqual(status["epoch"], int(err.split(b"at epoch ")[1].split(b",")[0]))

    def test_a_directory_in_use(self):
        self.write("a.toml", LONG)
        self.start("train", "a.toml", "--out", "run", "--quiet")
        self.refuse(6, "run: another run is writing here", "train", "a.toml", "--out", "run", "--overwrite")

    def test_a_second_signal_ends_at_once(self):
        """While a long step is under way, the first signal waits for its end and the second does not."""
        self.write("a.toml", LONG.replace("2-3-1", "2-600-600-1").replace("batch = 16", 'batch = "full"')
                   .replace("count = 64", "count = 4096"))
        process = subprocess.Popen([PROGRAM, "train", "a.toml", "--out", "run", "--quiet", "--backend", "naive-o0",
                                    "--threads", "1"], cwd=self.folder, stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 60
        while not caught(process.pid, signal.SIGTERM):
            self.assertLess(time.monotonic(), deadline, "training did not begin")
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        while caught(process.pid, signal.SIGTERM):  # until it is noted
            self.assertLess(time.monotonic(), deadline, "the signal was not noted")
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=5), -signal.SIGTERM)


class NoRoom(ProgramTest):
    def test_a_limit_on_file_sizes(self):
        self.write("a.toml", MOONS.replace("2-3-1", "2-300-300-1"))
        result = self.run_program("train", "a.toml", "--out", "run", preexec_fn=limit_file_size)
        self.assertEqual(result.code, 5, result)
        self.assertIn("lockstep: ", result.err)
        self.assertIn("File too large", result.err)
        left = {path.name for path in (self.folder / "run").iterdir()}
        self.assertEqual(left - {"config.toml", "metrics.jsonl", "timings.jsonl"}, {"status.json"}, "a half-written model")

    def test_an_out_that_cannot_be_made(self):
        self.write("a.toml", MOONS)
        self.refuse(2, "a.toml/run", "train", "a.toml", "--out", "a.toml/run")
        self.refuse(2, "/proc/lockstep", "train", "a.toml", "--out", "/proc/lockstep")

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_a_folder_without_permission(self):
        self.write("a.toml", MOONS)
        (self.folder / "locked").mkdir(mode=0o555)
        self.refuse(5, "Permission denied", "train", "a.toml", "--out", "locked/run")
        self.refuse(5, "Permission denied", "train", "a.toml", "--out", "locked")

    @unittest.skipIf(sanitized(), "a sanitizer needs more address space than the test leaves")
    def test_threads_that_the_system_refuses(self):
        """A stack of 512 MB for each thread, and 1 GB of addresses for all."""
        self.write("a.toml", MOONS)

        def limits():
            resource.setrlimit(resource.RLIMIT_STACK, (512 << 20, 512 << 20))
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

        self.assertEqual(self.run_program("train", "a.toml", "--threads", "1", "--quiet", preexec_fn=limits).code, 0)
        result = self.refuse(5, "lockstep: asked for 4 threads, the system gives 2 (", "train", "a.toml", "--threads", "4",
                             "--out", "run", "--quiet", preexec_fn=limits)
        self.assertIn("lower --threads", result.err)
        self.assertEqual(len(result.err.splitlines()), 1, result)

    @unittest.skipIf(sanitized(), "a sanitizer ends the program itself when memory runs out")
    def test_memory_that_is_not_there(self):
        self.write("a.toml", MOONS.replace("2-3-1", "2-1000000-1000000-1"))
        self.refuse(5, "memory", "train", "a.toml", "--out", "run")


def caught(pid, number):
    """Whether the process has a handler for the signal."""
    with open(f"/proc/{pid}/status") as status:
        mask = next(line for line in status if line.startswith("SigCgt"))
    return int(mask.split()[1], 16) >> (number - 1) & 1


def limit_file_size():
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))


if __name__ == "__main__":
    main()
