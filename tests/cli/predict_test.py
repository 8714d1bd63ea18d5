"""lockstep predict: pictures, arrays and rows must give the same answers for the same numbers."""
import json
import struct

from program import MOONS, PICTURES, ProgramTest, main, npy, png

MODEL = "run/model.safetensors"


class Rows(ProgramTest):
    def test_rows_of_the_run_s_own_data(self):
        self.train()
        answers = json.loads(self.succeed("predict", MODEL, "--rows", "0,5,7-9", "--json").out)
        self.assertEqual([a["input"] for a in answers], ["row 0", "row 5", "row 7", "row 8", "row 9"])
        for answer in answers:
            self.assertEqual(len(answer["probabilities"]), 2)
            self.assertAlmostEqual(sum(answer["probabilities"]), 1)
            self.assertEqual(answer["class"], 1 if answer["probabilities"][1] >= 0.5 else 0)
            self.assertIn(answer["label"], (0, 1))
        self.assertEqual(len(json.loads(self.succeed("predict", MODEL, "--json").out)), 10)

    def test_answers_agree_with_eval(self):
        self.train()
        answers = json.loads(self.succeed("predict", MODEL, "--rows", "0-31", "--json").out)
        correct = sum(a["class"] == a["label"] for a in answers)
        self.assertEqual(correct, json.loads(self.succeed("eval", MODEL, "--json").out)["correct"])

    def test_text(self):
        self.train()
        result = self.succeed("predict", MODEL, "--rows", "3", "--top", "1")
        self.assertRegex(result.out, r"row 3 +[01] +[01] \d+\.\d\d %\n")
        self.assertEqual(len(result.out.splitlines()), 2)

    def test_plain_numbers(self):
        self.write("line.csv", "".join(f"{x / 20},{x / 10 + 1}\n" for x in range(20)))
        self.train('[data]\nsource = "line.csv"\nregression = true\n[model]\nsizes = "1-1"\n[train]\nepochs = 2\n'
                   'loss = "squared-error"\noptimizer = {name = "sgd", lr = 0.05}\nbatch = "full"\n')
        answers = json.loads(self.succeed("predict", MODEL, "--rows", "0,1", "--json").out)
        self.assertEqual([len(a["outputs"]) for a in answers], [1, 1])
        self.assertNotIn("class", answers[0])
        self.assertRegex(self.succeed("predict", MODEL, "--rows", "0").out, r"^row 0 +[-\d.e]+\n$")


class Pictures(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write_digits()
        self.train(PICTURES)
        self.pixels = (self.folder / "x.npy").read_bytes()[-12 * 16:]

    def predict(self, *arguments):
        return json.loads(self.succeed("predict", MODEL, *arguments, "--json").out)

    def row(self, i):
        return self.predict("--rows", i)[0]["probabilities"]

    def test_a_picture_is_its_row(self):
        for i in range(3):
            self.write("p.png", png(4, 4, self.pixels[16 * i:16 * i + 16]))
            self.assertEqual(self.predict("p.png")[0]["probabilities"], self.row(i))

    def test_colour_becomes_grey(self):
        grey = self.pixels[:16]
        self.write("c.png", png(4, 4, [p for p in grey for _ in range(3)], channels=3))
        self.assertEqual(self.predict("c.png")[0]["probabilities"], self.row(0))

    def test_inverted_and_transposed_pictures(self):
        grey = self.pixels[:16]
        self.write("i.png", png(4, 4, [255 - p for p in grey]))
        self.assertEqual(self.predict("i.png", "--invert")[0]["probabilities"], self.row(0))
        self.write("t.png", png(4, 4, [grey[4 * x + y] for y in range(4) for x in range(4)]))
        self.assertEqual(self.predict("t.png", "--transpose")[0]["probabilities"], self.row(0))
        self.assertNotEqual(self.predict("t.png")[0]["probabilities"], self.row(0))

    def test_another_size_is_resized_and_said(self):
        self.write("big.png", png(8, 8, [self.pixels[4 * (y // 2) + x // 2] for y in range(8) for x in range(8)]))
        result = self.succeed("predict", MODEL, "big.png", "--json")
        self.assertIn("big.png: resized from 8x8 to 4x4 (bicubic)", result.err)
        self.assertEqual(json.loads(result.out)[0]["class"], self.predict("--rows", 0)[0]["class"])
        self.write("wide.png", png(8, 4, range(32)))
        self.assertIn("it is not square, so it is distorted", self.succeed("predict", MODEL, "wide.png").err)

    def test_arrays(self):
        self.assertEqual([a["probabilities"] for a in self.predict("x.npy")], [self.row(i) for i in range(12)])
        self.assertEqual(self.predict("x.npy")[3]["input"], "x.npy[3]")
        self.write("one.npy", npy("|u1", (4, 4), self.pixels[:16]))
        self.assertEqual(self.predict("one.npy")[0]["probabilities"], self.row(0))
        self.write("f.npy", npy("<f8", (1, 1, 4, 4), struct.pack("<16d", *(p / 255 for p in self.pixels[:16]))))
        for ours, theirs in zip(self.predict("f.npy")[0]["probabilities"], self.row(0)):
            self.assertAlmostEqual(ours, theirs, places=6)

    def test_threads_and_backends_change_nothing(self):
        answers = self.predict("x.npy")
        for threads in (1, 2, 5):
            self.assertEqual(self.predict("x.npy", "--threads", threads), answers)
        self.assertEqual(self.predict("x.npy", "--threads", 3, "--backend", "naive"), answers)
        self.refuse(2, "--threads", "predict", MODEL, "x.npy", "--threads", 0)

    def test_several_files(self):
        self.write("a.png", png(4, 4, self.pixels[:16]))
        self.write("b.png", png(4, 4, self.pixels[16:32]))
        self.assertEqual([a["input"] for a in self.predict("a.png", "b.png")], ["a.png", "b.png"])
        self.assertIn("a.png", self.succeed("predict", MODEL, "a.png", "b.png").out)

    def test_class_names_of_a_folder(self):
        for i in range(12):
            name = ("bag", "coat", "dress")[i % 3]
            self.write(f"pictures/{name}/{i}.png", png(4, 4, self.pixels[16 * i:16 * i + 16]))
        self.train(PICTURES.replace('source = "x.npy"\nlabels = "y.npy"', 'source = "pictures"'), "named")
        self.write("a.png", png(4, 4, self.pixels[:16]))
        answer = json.loads(self.succeed("predict", "named/model.safetensors", "a.png", "--json").out)[0]
        self.assertEqual(answer["name"], ("bag", "coat", "dress")[answer["class"]])
        self.assertIn("dress", self.succeed("eval", "named/model.safetensors").out)


class Fractions(ProgramTest):
    def test_a_picture_for_a_model_of_fractions(self):
        self.write_digits()
        pixels = (self.folder / "x.npy").read_bytes()[-12 * 16:]
        self.write("x.npy", npy("<f8", (12, 4, 4), struct.pack("<192d", *(p / 255 for p in pixels))))
        self.train(PICTURES)
        self.write("p.png", png(4, 4, pixels[:16]))
        picture = json.loads(self.succeed("predict", MODEL, "p.png", "--json").out)[0]["probabilities"]
        row = json.loads(self.succeed("predict", MODEL, "--rows", "0", "--json").out)[0]["probabilities"]
        for ours, theirs in zip(picture, row):
            self.assertAlmostEqual(ours, theirs, places=6)

    def test_a_model_of_points_takes_no_pictures(self):
        self.train(MOONS)
        self.write("p.png", png(4, 4, range(16)))
        self.refuse(2, "the model takes [2], which is no picture", "predict", MODEL, "p.png")
        self.write("p.npy", npy("<f8", (2,), struct.pack("<2d", 0.5, 0.25)))
        self.assertIn("p.npy", self.succeed("predict", MODEL, "p.npy").out)


if __name__ == "__main__":
    main()
