"""lockstep diff: where two runs that should agree part, and who is right."""
import json
import shutil

from program import MOONS, ProgramTest, main

# 3 steps per epoch; a checkpoint after 6 steps and after 12.
KEPT = MOONS.replace("epochs = 3", "epochs = 2") + "[checkpoint]\nkeep = 0\n"


class Diff(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("a.toml", KEPT)
        self.train_twice("one")

    def train_twice(self, out, *arguments, **more):
        """Two epochs, and two more in a run that goes on."""
        self.succeed("train", "a.toml", "--out", out, "--overwrite", "--quiet", *arguments, **more)
        self.succeed("train", "a.toml", "--out", out, "--resume", "--quiet", "--set", "train.epochs=4", *arguments)

    def diff(self, first, second, *arguments):
        done = self.run_program("diff", first, second, "--json", *arguments)
        self.assertEqual(done.code, 9, done)
        self.assertIn(f"lockstep: {first} and {second} differ: ", done.err)
        answer = json.loads(done.out)
        self.assertFalse(answer["agree"])
        self.assertLessEqual(answer["replays"], 20)
        return answer

    def corrupted(self, step, threads):
        """A run in which a bit of a gradient was wrong in one step; all threads take part, and only one has a slot."""
        self.train_twice("two", "--set", "guard.recheck=1e-9", "--threads", threads,
                         env={"LOCKSTEP_PLANT_FAULT": f"gradient@{step}", "LOCKSTEP_STEP_THREADS": "all"})

    def test_runs_that_agree(self):
        self.train_twice("two", "--threads", "2", "--backend", "naive")
        self.assertIn("The runs agree, bit for bit: 4 epochs and 2 checkpoints", self.succeed("diff", "one", "two").out)

    def test_a_wrong_step(self):
        for step, threads in ((5, 2), (1, 1)):
            self.corrupted(step, threads)
            for first, second in (("one", "two"), ("two", "one")):
                answer = self.diff(first, second)
                right = first == "one"
                self.assertEqual(answer["computed_here"], [right, not right])
                self.assertEqual([answer["last_same"], answer["first_other"]], [3, 6] if step == 5 else [0, 3])
                self.assertIn(".safetensors: the weight ", answer["state"])
                sound = answer["sound_from"]
                self.assertIsNone(sound[0 if right else 1])
                self.assertEqual(sound[1 if right else 0], 6)
        text = self.run_program("diff", "one", "two").out
        self.assertIn("The backend simd computes here what the first run (one) has; the second run (two) has other bits.",
                      " ".join(text.split()))

    def test_a_forged_metric(self):
        shutil.copytree(self.folder / "one", self.folder / "two")
        lines = (self.folder / "two/metrics.jsonl").read_text().splitlines()
        entry = json.loads(lines[1])
        entry["train"]["correct"] += 1
        lines[1] = json.dumps(entry)
        self.write("two/metrics.jsonl", "\n".join(lines) + "\n")
        answer = self.diff("one", "two")
        self.assertIn("the metrics: train.correct is ", answer["evidence"])
        self.assertEqual(answer["computed_here"], [True, False])

    def test_within_rounding(self):
        if self.run_program("train", "a.toml", "--out", "two", "--backend", "library", "--quiet").code == 2:
            self.skipTest("this build has no library kernels")
        self.train_twice("two", "--backend", "library")
        if (self.folder / "one/model.safetensors").read_bytes() == (self.folder / "two/model.safetensors").read_bytes():
            self.skipTest("the library has the same bits here")
        answer = self.diff("one", "two", "--out", "page")
        self.assertEqual(answer["computed_here"], [True, False])
        self.assertEqual(answer["reproduced"], [False, True])
        self.assertGreaterEqual(answer["step"], 1)
        self.assertIn(answer["phase"], ("forward", "backward", "update"))
        self.assertIn(" and ", answer["place"])
        self.assertGreater(len(answer["growth"]), 2)
        self.assertEqual(answer["growth"][0]["step"], answer["step"])
        self.assertLess(answer["growth"][0]["largest"], 1e-4)
        self.assertGreater(answer["growth"][-1]["largest"], 0)
        self.assertIn("How the difference of the weights grows", (self.folder / "page/report.html").read_text())

    def test_what_need_not_agree(self):
        self.train_twice("two", "--set", "train.seed=2")
        self.refuse(2, "one and two need not agree: train.seed is 1 and 2; lockstep compare", "diff", "one", "two")
        self.write("b.csv", "a,b,label\n" + "".join(f"{i % 7},{i % 5},{i % 2}\n" for i in range(40)))
        table = KEPT.replace('source = "moons"\ncount = 64\ntest_count = 32\nsplit = {validation = 16}',
                             'source = "b.csv"\nlabel_column = "label"')
        self.write("b.toml", table)
        self.succeed("train", "b.toml", "--out", "table", "--quiet")
        self.write("b.csv", "a,b,label\n" + "".join(f"{i % 6},{i % 5},{i % 2}\n" for i in range(40)))
        self.succeed("train", "b.toml", "--out", "other", "--quiet")
        self.refuse(2, "need not agree: their data have the SHA-256 ", "diff", "table", "other")
        self.refuse(2, "is not a run directory", "diff", "one", ".")


if __name__ == "__main__":
    main()
