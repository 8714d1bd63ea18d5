"""How much samples and classes count: fit and gradient."""
import json

import numpy as np
import pytest

import lockstep as ls
from conftest import mlp, rows


def fitted(weight=None, **options):
    net = mlp()
    net.fit(*rows(), sample_weight=weight, **{"batch": 32, "epochs": 2, **options})
    return net.weight_hash


def test_weights_of_one_change_nothing():
    assert fitted(np.ones(120)) == fitted() == fitted([1] * 120) != fitted(np.arange(120))
    assert fitted(np.full(120, 2.0)) == fitted()  # a factor common to all


def test_gradient_is_that_of_repeated_samples():
    net = ls.Network(6, [ls.Linear(5), ls.Tanh(), ls.Linear(3)], seed=3, precision="float64")
    x, y = rows(60)
    times = np.arange(60) % 4
    weighted = net.gradient(x, y, sample_weight=times)
    repeated = net.gradient(np.repeat(x, times, axis=0), np.repeat(y, times))
    plain = net.gradient(x, y)
    for name, expected in repeated.items():
        np.testing.assert_allclose(weighted[name], expected, rtol=1e-9, atol=1e-12)
        assert not np.allclose(plain[name], expected)


def test_classes_that_count_the_same():
    y = rows()[1]
    balanced = len(y) / (3 * np.bincount(y, minlength=3))
    hashes = {fitted(class_weights="balanced", threads=threads) for threads in (1, 2, 3)}
    hashes |= {fitted(class_weights=balanced.tolist()), fitted(balanced[y]), fitted(class_weights=balanced)}
    assert len(hashes) == 1 and hashes != {fitted()}
    assert fitted(class_weights={1: 2}) == fitted(class_weights=[1, 2, 1])
    assert fitted(np.arange(120), class_weights=[1, 2, 3]) == fitted(np.arange(120) * np.array([1, 2, 3])[y])


def test_the_program_counts_alike(tmp_path, run_program):
    x, y = rows()
    weight = (np.arange(120) % 5) / 2
    for name, array in (("x", x), ("y", y.astype(np.int32)), ("w", weight)):
        np.save(tmp_path / f"{name}.npy", array)
    (tmp_path / "c.toml").write_text(f"""
        [data]
        source = "{tmp_path}/x.npy"
        labels = "{tmp_path}/y.npy"
        weights = "{tmp_path}/w.npy"
        [model]
        input = [6]
        layers = [{{linear = 17}}, "tanh", {{dropout = 0.25}}, {{linear = 3}}]
        [train]
        batch = 32
        epochs = 2
        class_weights = "balanced"
        """)
    done = run_program("train", "c.toml", "--json", "--quiet", "--out", "run")
    assert json.loads(done.stdout)["weight_hash"] == fitted(weight, class_weights="balanced")


@pytest.mark.parametrize("weight, words", [
    (np.full(120, -1.0), "sample 0"), (np.full(120, np.nan), "sample 0"), (np.zeros(120), "0"),
    (np.ones(7), "[7]"), (np.ones((120, 2)), "[120,2]"), (["a"] * 120, "text"), (3, "sample_weight")])
def test_wrong_weights_are_one_line(weight, words):
    with pytest.raises(ls.Error) as error:
        fitted(weight)
    assert words in str(error.value) and "\n" not in str(error.value), str(error.value)


@pytest.mark.parametrize("weights, words", [
    ([1, 2], "3"), ([1, -1, 1], "class"), ("fair", "balanced"), ([0, 0, 0], "0"), ({"a": 1.0}, "is no class"), ({3: 1}, "0 to 2")])
def test_wrong_class_weights_are_one_line(weights, words):
    with pytest.raises(ls.Error) as error:
        fitted(class_weights=weights)
    assert words in str(error.value) and "\n" not in str(error.value), str(error.value)


def test_classes_need_labels():
    x, _ = rows()
    with pytest.raises(ls.Error, match="class"):
        ls.Network(6, [ls.Linear(1)]).fit(x, x[:, 0], loss="squared-error", class_weights="balanced")
    with pytest.raises(TypeError, match="did you mean class_weights"):
        fitted(class_weight="balanced")
