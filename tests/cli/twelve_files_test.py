"""Twelve files as people have them: each trains and predicts with at most its source and its target named. The files of PyTorch
and skl2onnx are real ones (tests/torch/make_fixtures.py)."""
import csv
import gzip
import io
import pathlib
import shutil
import struct

import numpy as np
import scipy.io
from PIL import Image
from sklearn.datasets import load_digits, load_iris

from program import ProgramTest, main

TORCH = pathlib.Path(__file__).parent.parent / "torch"
rng = np.random.default_rng(3)
ADAM = 'optimizer = {name = "adam", lr = 0.02}\n'


def table(header, rows):
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def pictures(count, size, channels=1):
    """Bright above or below: two classes."""
    labels = np.arange(count) % 2
    x = rng.integers(0, 60, (count, size, size, channels), dtype=np.uint8)
    for i, label in enumerate(labels):
        x[i, label * size // 2:(label + 1) * size // 2] += 150
    return x, labels


class TwelveFiles(ProgramTest):
    def learn(self, source, layers, target=None, test=True, more="", data=""):
        """Trains from source and target, in `data` and `more` with what the program said it should be told; returns what predict
        says of the source, a row per sample."""
        named = (f'label_column = "{target}"\n' if target else "") + data
        self.write("a.toml", f'[data]\nsource = "{source}"\n{named}[model]\n{layers}\n[train]\nepochs = 8\nbatch = 16\n{more}')
        self.succeed("train", "a.toml", "--out", "run", "--threads", "1", "--overwrite")
        return self.predict("run", *((source,) if test else ()))

    def predict(self, *arguments):
        result = self.succeed("predict", *arguments, "--format", "csv")
        rows = list(csv.DictReader(io.StringIO(result.out)))
        self.assertTrue(rows, result)
        return rows

    def agree(self, rows, labels, least):
        right = np.mean([row["answer"] == str(label) for row, label in zip(rows, labels)])
        self.assertEqual(len(rows), len(labels))
        self.assertGreaterEqual(right, least, rows[:3])

    def test_kaggle_fashion_csv(self):
        x, labels = pictures(60, 28)
        self.write("fashion-mnist_train.csv", table(["label"] + [f"pixel{i}" for i in range(1, 785)],
                                                    np.column_stack([labels, x.reshape(60, -1)]).tolist()))
        self.agree(self.learn("fashion-mnist_train.csv", 'sizes = "784-8-2"', data="scale = 255\n", more=ADAM), labels, 0.9)

    def test_iris_with_names(self):
        iris = load_iris()
        names = [f"Iris-{iris.target_names[t]}" for t in iris.target]
        self.write("iris.csv", table(["SepalLengthCm", "SepalWidthCm", "PetalLengthCm", "PetalWidthCm", "Species"],
                                     [[*x, name] for x, name in zip(iris.data, names)]))
        self.agree(self.learn("iris.csv", 'sizes = "4-8-3"', "Species", more=ADAM),
                   names, 0.8)

    def test_regression_with_missing_values(self):
        x = rng.normal(size=(80, 3))
        y = 3 * x[:, 0] - x[:, 2] + 5
        rows = [[*("" if rng.random() < 0.1 else f"{v:.3f}" for v in row), f"{t:.3f}"] for row, t in zip(x, y)]
        rows[3][1] = "NA"
        self.write("houses.csv", table(["rooms", "age", "distance", "price"], rows))
        answers = self.learn("houses.csv", 'sizes = "3-8-1"', "price")
        self.assertEqual(len(answers), 80)

    def test_titanic(self):
        rows = []
        for i in range(80):
            sex, pclass = ("female", "male")[i % 2], 1 + i % 3
            rows.append([i + 1, int(sex == "female"), pclass, f"Doe, Mr. J{i}", sex, "" if i % 7 == 0 else 20 + i % 40,
                         "SCQ"[i % 3]])
        self.write("titanic.csv", table(["PassengerId", "Survived", "Pclass", "Name", "Sex", "Age", "Embarked"], rows))
        self.write("a.toml", '[data]\nsource = "titanic.csv"\nlabel_column = "Survived"\nstandardise = true\n'
                             'drop = ["PassengerId"]\n[model]\nlayers = [{linear = 8}, "relu", {linear = 2}]\n[train]\nepochs = 8\nbatch = 16\n' + ADAM)
        self.succeed("train", "a.toml", "--out", "run", "--threads", "1")
        self.agree(self.predict("run", "titanic.csv"), [row[1] for row in rows], 0.7)

    def test_jpeg_folders(self):
        for i in range(24):
            x, _ = pictures(2, 12 + i % 5, 3)
            folder = self.folder / "pets" / ("cat", "dog")[i % 2]
            folder.mkdir(parents=True, exist_ok=True)
            Image.fromarray(x[i % 2]).save(folder / f"{i}.jpg")
        (self.folder / "pets" / "cat" / "Thumbs.db").write_bytes(b"x")
        self.write("a.toml", '[data]\nsource = "pets"\nresize = 12\n[model]\n'
                             'layers = [{conv2d = {out = 4, kernel = 3}}, "relu", {max_pool2d = 2}, {linear = 2}]\n'
                             '[train]\nepochs = 8\nbatch = 8\n')
        self.succeed("train", "a.toml", "--out", "run", "--threads", "1")
        self.assertEqual(len(self.predict("run", "pets")), 24)

    def test_nhwc_npz(self):
        x, labels = pictures(40, 8, 3)
        np.savez(self.folder / "images.npz", x_train=x, y_train=labels, x_test=x[:8], y_test=labels[:8])
        self.agree(self.learn("images.npz", 'layers = [{conv2d = {out = 4, kernel = 3}}, "relu", {linear = 2}]'),
                   labels[:8], 0.7)

    def test_sklearn_digits(self):
        digits = load_digits()
        np.savez(self.folder / "digits.npz", X=digits.data[:300], y=digits.target[:300])
        self.agree(self.learn("digits.npz", 'sizes = "64-32-10"', more=ADAM),
                   digits.target[:300], 0.8)

    def test_matlab(self):
        digits = load_digits()
        y = np.where(digits.target == 0, 10, digits.target)[:200, None]
        scipy.io.savemat(self.folder / "ex3data1.mat", {"X": digits.data[:200], "y": y.astype(np.uint8)})
        rows = self.learn("ex3data1.mat", 'sizes = "64-32-10"', more=ADAM)
        self.assertEqual(len(rows), 200)

    def test_cifar(self):
        x, labels = pictures(40, 32, 3)
        record = b"".join(bytes([int(k)]) + image.transpose(2, 0, 1).tobytes() for image, k in zip(x, labels))
        folder = self.folder / "cifar-10-batches-bin"
        folder.mkdir()
        (folder / "data_batch_1.bin").write_bytes(record)
        (folder / "test_batch.bin").write_bytes(record[:3073 * 8])
        (folder / "batches.meta.txt").write_text("\n".join("airplane automobile bird cat deer dog frog horse ship truck".split()))
        rows = self.learn("cifar-10-batches-bin", 'layers = [{conv2d = {out = 4, kernel = 5, stride = 3}}, "relu", {linear = 10}]')
        self.assertEqual(len(rows), 8)

    def test_idx(self):
        x, labels = pictures(40, 28)
        for part, count in (("train", 40), ("t10k", 8)):
            images = struct.pack(">4I", 0x803, count, 28, 28) + x[:count].tobytes()
            (self.folder / f"{part}-images-idx3-ubyte.gz").write_bytes(gzip.compress(images))
            (self.folder / f"{part}-labels-idx1-ubyte.gz").write_bytes(
                gzip.compress(struct.pack(">2I", 0x801, count) + bytes(labels[:count].tolist())))
        self.agree(self.learn("train-images-idx3-ubyte.gz", 'sizes = "784-8-2"', test=False), labels[:10], 0.7)

    def test_state_dict_of_pytorch(self):
        iris = load_iris()
        np.savez(self.folder / "iris.npz", X=iris.data, y=iris.target)
        for name in ("iris.pt", "iris_checkpoint.pt"):
            shutil.copy(TORCH / name, self.folder)
            rows = self.learn("iris.npz", f'init = "{name}"\nlayers = [{{linear = 6}}, "batch_norm", "relu", {{linear = 3}}]')
            self.assertEqual(len(rows), 150)
        self.succeed("train", "a.toml", "--set", "train.epochs=0", "--out", "as_is")
        answers = np.load(TORCH / "iris_mlp.npz")
        np.savetxt(self.folder / "x.csv", answers["x"], delimiter=",", fmt="%.9g")
        got = np.array([[float(row[k]) for k in "012"] for row in self.predict("as_is", "x.csv")])
        exp = np.exp(answers["y"])
        np.testing.assert_allclose(got, exp / exp.sum(axis=1, keepdims=True), atol=1e-5)

    def test_onnx_of_pytorch(self):
        digits = load_digits()
        np.savez(self.folder / "digits.npz", X=digits.images[:100].astype(np.float32), y=digits.target[:100])
        shutil.copy(TORCH / "digits_cnn.onnx", self.folder)
        rows = self.learn("digits.npz", 'file = "digits_cnn.onnx"')
        self.assertEqual(len(rows), 100)

    def test_other_files_of_pytorch_are_refused(self):
        for name, what in (("iris_model.pt", "save the weights alone: torch.save(model.state_dict(), path)"), ("half.pt", "HalfStorage")):
            shutil.copy(TORCH / name, self.folder)
            self.write("a.toml", f'[data]\nsource = "moons"\n[model]\ninit = "{name}"\nsizes = "2-3-2"\n[train]\nepochs = 1\n')
            result = self.run_program("train", "a.toml", "--out", "refused")
            self.assertEqual(result.code, 3, result)
            self.assertIn(what, result.err)
            self.assertEqual(len(result.err.strip().splitlines()), 1, result.err)


if __name__ == "__main__":
    main()
