"""lockstep verify, as users meet it: a run, its certificate, and what was changed in them."""
import json
import shutil

from program import MOONS, ProgramTest, main


class Verify(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("a.toml", MOONS + "[checkpoint]\nevery_steps = 4\nkeep = 0\n")
        self.succeed("train", "a.toml", "--out", "run", "--quiet")

    def expect_false(self, text, *arguments):
        """The table with the false claim, its line on standard error, and exit code 9."""
        done = self.run_program("verify", *arguments)
        self.assertEqual(done.code, 9, done)
        self.assertIn("FALSE", done.out)
        self.assertIn("NOT what it claims", done.out)
        self.assertIn(text, done.err)

    def test_the_run_is_what_it_claims(self):
        done = self.succeed("verify", "run", "--threads", "3")
        self.assertIn("run: the run is what it claims", done.out)
        self.assertNotIn("FALSE", done.out)
        answer = json.loads(self.succeed("verify", "run", "--segments", "2", "--seed", "1", "--json", "--quiet").out)
        self.assertTrue(answer["holds"])
        self.assertTrue(any(claim["what"].startswith("steps ") for claim in answer["claims"]))
        self.assertIn("holds  the chain", self.succeed("verify", "run/certificate.json").out)

    def test_another_model(self):
        self.succeed("train", "a.toml", "--out", "other", "--set", "train.seed=2", "--quiet")
        shutil.copy(self.folder / "other/model.safetensors", self.folder / "run/model.safetensors")
        self.expect_false("run: model.safetensors: the weight 0.weight[0] is ", "run")
        self.expect_false("the certificate is for", "run/certificate.json")
        self.succeed("verify", "other/certificate.json", "--model", "run/model.safetensors")

    def test_other_data(self):
        rows = "".join(f"{i % 7},{i % 5},{i % 2}\n" for i in range(40))
        self.write("d.csv", "a,b,label\n" + rows)
        self.write("d.toml", MOONS.replace('source = "moons"\ncount = 64\ntest_count = 32\nsplit = {validation = 16}',
                                           'source = "d.csv"\nlabel_column = "label"'))
        self.succeed("train", "d.toml", "--out", "table", "--quiet")
        self.succeed("verify", "table")
        self.write("d.csv", "a,b,label\n" + rows.replace("3,", "4,", 1))
        self.expect_false("the data have the SHA-256 ", "table")
        (self.folder / "d.csv").unlink()
        self.expect_false("cannot be computed again: ", "table")

    def test_averaged_weights(self):
        for average in ('{name = "ema", decay = 0.8}', '{name = "swa", from = 2}'):
            self.succeed("train", "a.toml", "--out", "averaged", "--overwrite", "--quiet", "--set", f"train.average={average}")
            self.succeed("verify", "averaged", "--threads", "2")
            self.succeed("verify", "averaged", "--segments", "2", "--seed", "1")
            self.succeed("verify", "averaged/certificate.json")

    def test_what_is_refused(self):
        self.refuse(2, "is not a run directory", "verify", ".")
        self.refuse(4, "is not a certificate", "verify", "run/machine.json")
        self.refuse(2, "--model belongs to a certificate", "verify", "run", "--model", "x")


if __name__ == "__main__":
    main()
