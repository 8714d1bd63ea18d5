"""[guard] recheck, as users meet it: faults of the hardware that are planted, found and mended; and not one bit changed."""
import os
import re

from program import main
from ranks_test import RanksTest

# 16 slots of 4 samples, so that every thread and rank has some; 6 steps of 64 samples.
CLASSES = """\
[data]
source = "blobs"
count = 384
test_count = 32
[model]
sizes = "2-24-3"
activation = "relu"
[train]
optimizer = {name = "adam", lr = 0.01}
batch = 64
slots = 16
epochs = 1
"""
NORMALISED = CLASSES.replace('sizes = "2-24-3"\nactivation = "relu"',
                             'input = [2]\nlayers = [{linear = 8}, "batch_norm", "relu", {dropout = 0.2}, {linear = 3}]')


class Guard(RanksTest):
    def train(self, out, *arguments, fault=None, text=CLASSES, threads=2):
        """A run, with its exit code; every thread takes part, however short a step is."""
        self.write("a.toml", text)
        more = {"LOCKSTEP_STEP_THREADS": "all"} | ({"LOCKSTEP_PLANT_FAULT": fault} if fault else {})
        return self.run_program("train", "a.toml", "--out", out, "--overwrite", "--threads", str(threads),
                                *[word for each in arguments for word in ("--set", each)], env=os.environ | more)

    def plain(self, text=CLASSES):
        done = self.train("plain", text=text)
        self.assertEqual(done.code, 0, done)
        return self.contents("plain")[:2]

    def test_no_bit_changes(self):
        for text in (CLASSES, NORMALISED, CLASSES + 'average = "ema"\n', CLASSES + "clip_norm = 0.1\nl2 = 0.01\n"):
            expected = self.plain(text)
            for threads, share in ((1, 1), (2, 1), (3, 0.3)):
                done = self.train("run", f"guard.recheck={share}", text=text, threads=threads)
                self.assertEqual(done.code, 0, done)
                self.assertIn("computed twice, 0 differences", done.err)
                self.assertEqual(self.contents("run")[:2], expected, (text, threads))

    def test_faults_are_found_and_mended(self):
        expected = self.plain()
        for fault, what in (("gradient@3", "the gradient of "), ("activation@3", "the gradient of "), ("score@3", "the loss ")):
            for threads in (1, 2):
                done = self.train("run", "guard.recheck=1", fault=fault, threads=threads)
                self.assertEqual(done.code, 0, done)
                self.assertIn("guard: rank 0 on ", done.err)
                self.assertRegex(done.err, rf"step 3, slot \d+: {what}.*on core \d+ and .* on core \d+; core \d+ is wrong")
                self.assertIn("the step is repeated", done.err)
                self.assertEqual(self.contents("run")[:2], expected, fault)
        missed = self.train("run", "guard.recheck=1e-9", fault="gradient@3")
        self.assertEqual(missed.code, 0, missed)
        self.assertNotEqual(self.contents("run")[:2], expected, "the planted fault changes nothing: this test cannot fail")

    def test_more_threads_than_slots(self):
        for slots in (1, 2):
            text = CLASSES.replace("slots = 16", f"slots = {slots}")
            expected = self.plain(text)
            for threads in (2, 3):
                done = self.train("run", "guard.recheck=1", fault="gradient@3", text=text, threads=threads)
                self.assertEqual(done.code, 0, done)
                self.assertEqual(done.err.count("the step is repeated"), 1, done)
                self.assertEqual(self.contents("run")[:2], expected)

    def test_the_probability_is_the_share(self):
        text = CLASSES.replace("epochs = 1", "epochs = 40")
        done = self.train("run", "guard.recheck=0.25", fault="gradient@all", text=text)
        self.assertEqual(done.code, 0, done)
        found = done.err.count("the step is repeated")
        self.assertTrue(36 <= found <= 84, found)  # of 240 steps; 60 expected, 3.6 standard deviations

    def test_memory_between_steps(self):
        for fault, what in (("weight@4", "the weight in 0.weight"), ("state@4", "the optimiser's first of in 0.weight")):
            done = self.train("run", "guard.recheck=1e-9", fault=fault)
            self.assertEqual(done.code, 9, done)
            self.assertIn("has changed after step 3: " + what, done.err)
            self.assertEqual(self.train("run", "guard.recheck=1e-9", fault=fault.replace("4", "99")).code, 0)

    def test_no_checkpoint_of_a_wrong_state(self):
        done = self.train("run", "guard.recheck=1e-9", "checkpoint.every_steps=2", "checkpoint.keep=0", fault="save@2")
        self.assertEqual(done.code, 9, done)
        step = int(re.search(r"has changed after step (\d+): the weight in 0.weight", done.err)[1])
        saved = [int(re.search(r"\d+", path.name)[0]) for path in (self.folder / "run").glob("checkpoint-*")]
        self.assertTrue(saved and all(each < step for each in saved), (step, saved))
        self.write("a.toml", CLASSES)
        self.succeed("train", "a.toml", "--out", "run", "--resume", "--quiet")
        expected = self.plain()
        self.assertEqual(self.contents("run")[:2], expected)

    def test_a_core_that_is_always_wrong(self):
        cores = sorted(os.sched_getaffinity(0))
        if len(cores) < 2:
            self.skipTest("one core: no other can take over")
        expected = self.plain()
        done = self.train("run", "guard.recheck=1", fault=f"gradient@core:{cores[0]}", threads=2)
        self.assertEqual(done.code, 0, done)
        if "difference" in done.err and "0 differences" not in done.err:
            self.assertIn(f"core {cores[0]} is wrong", done.err)
            self.assertNotIn(f"core {cores[1]} is wrong", done.err)
        self.assertEqual(self.contents("run")[:2], expected)

    def test_ranks(self):
        expected = self.plain()
        for library in ("openmpi", "mpich"):
            with self.subTest(library):
                self.write("a.toml", CLASSES)
                arguments = ("train", "a.toml", "--out", "run", "--overwrite", "--set", "guard.recheck=1")
                done = self.launch(library, 2, *arguments, LOCKSTEP_PLANT_FAULT="gradient@2")
                self.assertEqual(done.code, 0, done)
                for rank in (0, 1):
                    self.assertIn(f"guard: rank {rank} on ", done.err)
                self.assertEqual(self.contents("run")[:2], expected)
                done = self.launch(library, 2, *arguments, LOCKSTEP_PLANT_FAULT="weight@2")
                self.assertEqual(done.code, 9, done)

    def test_a_damaged_message(self):
        """With or without the guard: a checksum travels with every message."""
        self.write("a.toml", CLASSES)
        for library in ("openmpi", "mpich"):
            with self.subTest(library):
                for number in (2, 20):
                    done = self.launch(library, 2, "train", "a.toml", "--out", "run", "--overwrite",
                                       LOCKSTEP_PLANT_FAULT=f"message@{number}")
                    self.assertEqual(done.code, 9, done)
                    self.assertRegex(done.err, r"a message of \d+ bytes from rank [01] to rank [01] on \S+ arrived with other bits")

    def test_what_is_refused(self):
        self.write("a.toml", CLASSES)
        train = ("train", "a.toml", "--out", "x", "--set", "guard.recheck=0.5")
        self.refuse(2, "guard.recheck compares the bits of two processor cores, and the backend is library", *train, "--backend", "library")
        self.refuse(2, "guard.recheck: ", "train", "a.toml", "--set", "guard.recheck=2")
        self.refuse(2, "did you mean guard.recheck?", "train", "a.toml", "--set", "guard.rechek=1")
        done = self.run_program(*train, env=os.environ | {"LOCKSTEP_PLANT_FAULT": "nothing@1"})
        self.assertEqual(done.code, 2, done)
        self.assertIn("LOCKSTEP_PLANT_FAULT=nothing@1: KIND@STEP", done.err)
        for key in ("pipeline", "tensor"):
            done = self.launch("openmpi", 2, *train, "--set", f"parallel.{key}=2")
            self.assertEqual(done.code, 2, done)
            self.assertIn("guard.recheck needs ranks that hold the whole network", done.err)


if __name__ == "__main__":
    main()
