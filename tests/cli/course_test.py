"""course_test.py PROGRAM DATA: weights and labels as the MATLAB course keeps them, against its formulas in NumPy.

Labels are 1 to 10, and row r of the last Theta answers for label r; 10 is the digit 0. DATA is the folder with
coursera/ex4data1.mat and ex4weights.mat; without them the tests of those files are left out.
"""
import json
import pathlib
import sys
import unittest

import numpy
import scipy.io

from program import ProgramTest, main

DATA = pathlib.Path(sys.argv.pop(1)) / "coursera" if len(sys.argv) > 1 else pathlib.Path("coursera")
HAS_DATA = (DATA / "ex4data1.mat").exists() and (DATA / "ex4weights.mat").exists()

CONFIG = """\
[data]
source = "SOURCE"
[model]
sizes = "SIZES"
activation = "sigmoid"
output = "sigmoid"
precision = "float64"
init = "INIT"
[train]
loss = "binary-cross-entropy"
optimizer = {name = "sgd", lr = RATE}
batch = "full"
epochs = EPOCHS
"""


def sigmoid(z):
    return 1 / (1 + numpy.exp(-z))


def with_ones(x):
    return numpy.hstack([numpy.ones((len(x), 1)), x])


class Course:
    """The exercise's network, as its text defines it: y is the label 1 to K, one-hot in this order."""

    def __init__(self, x, y, thetas):
        self.x, self.thetas = x, [theta.copy() for theta in thetas]
        self.y = numpy.eye(len(thetas[-1]))[y.ravel().astype(int) - 1]

    def forward(self):
        a1 = with_ones(self.x)
        a2 = with_ones(sigmoid(a1 @ self.thetas[0].T))
        return a1, a2, sigmoid(a2 @ self.thetas[1].T)

    def cost(self):
        h = self.forward()[2]
        return -(self.y * numpy.log(h) + (1 - self.y) * numpy.log(1 - h)).sum() / len(self.x)

    def correct(self):
        return int((self.forward()[2].argmax(axis=1) == self.y.argmax(axis=1)).sum())

    def step(self, rate):
        a1, a2, h = self.forward()
        d3 = h - self.y
        d2 = (d3 @ self.thetas[1])[:, 1:] * a2[:, 1:] * (1 - a2[:, 1:])
        self.thetas[0] -= rate / len(self.x) * d2.T @ a1
        self.thetas[1] -= rate / len(self.x) * d3.T @ a2


class CourseTest(ProgramTest):
    def descend(self, source, sizes, course, rate, iterations):
        """Trains and compares every cost, the answers and the exported weights with the course's formulas."""
        scipy.io.savemat(self.folder / "theta.mat", {"Theta1": course.thetas[0], "Theta2": course.thetas[1]})
        config = CONFIG.replace("SOURCE", str(source)).replace("SIZES", sizes).replace("INIT", "theta.mat")
        config = config.replace("RATE", str(rate)).replace("EPOCHS", str(iterations))
        result = self.train(config)
        costs = [line["train"]["loss"] for line in self.lines("run/metrics.jsonl") if "epoch" in line]
        expected = []
        for _ in range(iterations):
            expected.append(course.cost())
            course.step(rate)
        self.assertEqual(len(costs), iterations)
        numpy.testing.assert_allclose(costs, expected, rtol=1e-12)
        evaluated = json.loads(self.succeed("eval", "run/model.safetensors", "--json").out)
        numpy.testing.assert_allclose(evaluated["loss"], course.cost(), rtol=1e-12)
        self.assertEqual(evaluated["correct"], course.correct())
        self.succeed("export", "run/model.safetensors", "out.mat")
        exported = scipy.io.loadmat(self.folder / "out.mat")
        for number, theta in enumerate(course.thetas, 1):
            self.assertEqual(exported[f"Theta{number}"].shape, theta.shape)
            numpy.testing.assert_allclose(exported[f"Theta{number}"], theta, rtol=1e-9, atol=1e-12)
        reader = Course(course.x, course.y.argmax(axis=1) + 1, [exported["Theta1"], exported["Theta2"]])
        self.assertEqual(reader.correct(), course.correct(), "for a reader of the course's convention")
        # And back: the exported weights are where the training ended.
        again = config.replace('"theta.mat"', '"out.mat"').replace(f"epochs = {iterations}", "epochs = 0")
        self.assertEqual(self.train(again, "again")["weight_hash"], result["weight_hash"])

    def random_course(self, classes, samples=200, inputs=12, hidden=7):
        random = numpy.random.default_rng(classes)
        x = random.uniform(0, 1, (samples, inputs))
        y = random.integers(1, classes + 1, (samples, 1))
        y[:classes, 0] = numpy.arange(classes) + 1
        thetas = [random.uniform(-1, 1, (hidden, inputs + 1)), random.uniform(-1, 1, (classes, hidden + 1))]
        scipy.io.savemat(self.folder / "data.mat", {"X": x, "y": y.astype(float)})
        return Course(x, y, thetas)

    def test_sixty_iterations_of_random_networks(self):
        for classes in (10, 7):  # digits, where 10 is 0; and classes that count from 1
            with self.subTest(classes=classes):
                self.descend("data.mat", f"12-7-{classes}", self.random_course(classes), 0.1, 60)
                self.setUp()

    def test_the_rule_is_said_and_can_be_changed(self):
        self.random_course(10)
        config = CONFIG.replace("SOURCE", "data.mat").replace("SIZES", "12-7-10").replace("INIT", "he-normal")
        self.write("a.toml", config.replace("RATE", "0.1").replace("EPOCHS", "1"))
        told = self.succeed("train", "a.toml", "--out", "a")
        self.assertIn("labels 1 to 10 are digits, and 10 is class 0; data.label_rule decides otherwise", told.err)
        told = self.succeed("train", "a.toml", "--out", "b", "--set", "data.label_rule=from-one")
        self.assertNotIn("label_rule", told.err)

    def test_rows_and_labels_of_two_rules(self):
        """Seven classes, which count from one, and ten outputs, whose rows would be digits."""
        course = self.random_course(7)
        random = numpy.random.default_rng(1)
        thetas = [course.thetas[0], random.uniform(-1, 1, (10, 8))]
        scipy.io.savemat(self.folder / "theta.mat", {"Theta1": thetas[0], "Theta2": thetas[1]})
        config = CONFIG.replace("SOURCE", "data.mat").replace("SIZES", "12-7-10").replace("INIT", "theta.mat")
        self.write("a.toml", config.replace("RATE", "0.1").replace("EPOCHS", "0"))
        self.refuse(2, 'the 10 rows of the last Theta in theta.mat are taken as "digits", but the labels of data.mat as '
                       '"from-one"; say in data.label_rule what holds for both', "train", "a.toml")
        self.succeed("train", "a.toml", "--out", "run", "--set", "data.label_rule=from-one")
        scores = json.loads(self.succeed("eval", "run/model.safetensors", "--json").out)
        told = Course(course.x, course.y.argmax(axis=1) + 1, thetas)
        numpy.testing.assert_allclose(scores["loss"], told.cost(), rtol=1e-12)
        self.succeed("export", "run/model.safetensors", "out.mat")
        numpy.testing.assert_array_equal(scipy.io.loadmat(self.folder / "out.mat")["Theta2"], thetas[1])

    def test_labels_from_zero(self):
        """Labels that are classes already say nothing about rows: with 10 of them, the last one is class 0."""
        course = self.random_course(10)
        scipy.io.savemat(self.folder / "data.mat", {"X": course.x, "y": (course.y.argmax(axis=1) + 1) % 10})
        scipy.io.savemat(self.folder / "theta.mat", {"Theta1": course.thetas[0], "Theta2": course.thetas[1]})
        config = CONFIG.replace("SOURCE", "data.mat").replace("SIZES", "12-7-10").replace("INIT", "theta.mat")
        self.train(config.replace("RATE", "0.1").replace("EPOCHS", "0"))
        scores = json.loads(self.succeed("eval", "run/model.safetensors", "--json").out)
        self.assertEqual(scores["correct"], course.correct())
        self.succeed("export", "run/model.safetensors", "out.mat")
        numpy.testing.assert_array_equal(scipy.io.loadmat(self.folder / "out.mat")["Theta2"], course.thetas[1])

    @unittest.skipUnless(HAS_DATA, f"{DATA} holds no ex4data1.mat and ex4weights.mat")
    def test_the_published_weights(self):
        config = CONFIG.replace("SOURCE", str(DATA / "ex4data1.mat")).replace("SIZES", "400-25-10")
        config = config.replace("INIT", str(DATA / "ex4weights.mat")).replace("RATE", "0.1").replace("EPOCHS", "1")
        self.train(config)
        first = self.lines("run/metrics.jsonl")[0]["train"]
        self.assertAlmostEqual(first["loss"], 0.28762916516131887, delta=1e-13)
        self.assertEqual(first["correct"], 4876)
        self.train(config.replace("epochs = 1", "epochs = 0"), "untouched")
        scores = json.loads(self.succeed("eval", "untouched/model.safetensors", "--json").out)
        self.assertAlmostEqual(scores["loss"], 0.28762916516131887, delta=1e-13)
        self.assertEqual(scores["correct"], 4876)
        self.succeed("export", "untouched/model.safetensors", "out.mat")
        theirs, ours = scipy.io.loadmat(DATA / "ex4weights.mat"), scipy.io.loadmat(self.folder / "out.mat")
        for name in ("Theta1", "Theta2"):
            self.assertEqual(theirs[name].tobytes("F"), ours[name].tobytes("F"), name)

    @unittest.skipUnless(HAS_DATA, f"{DATA} holds no ex4data1.mat and ex4weights.mat")
    def test_three_hundred_iterations_on_the_digits(self):
        data = scipy.io.loadmat(DATA / "ex4data1.mat")
        random = numpy.random.default_rng(5)
        thetas = [random.uniform(-0.12, 0.12, shape) for shape in ((25, 401), (10, 26))]
        self.descend(DATA / "ex4data1.mat", "400-25-10", Course(data["X"], data["y"], thetas), 2.0, 300)


if __name__ == "__main__":
    main()
