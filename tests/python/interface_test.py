"""What users touch: networks, arrays, weights, callbacks, files, errors."""
import copy
import inspect
import pickle
import subprocess
import sys

import numpy as np
import pytest

import lockstep as ls
from conftest import lenet, mlp, pictures, rows

try:
    import pandas
except ImportError:  # the clean environment has NumPy alone
    pandas = None


def test_import_prints_nothing_and_starts_no_thread():
    code = ("import threading, os; import lockstep; print(len(os.listdir('/proc/self/task')), "
            "threading.active_count(), 'numpy' in __import__('sys').modules)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "1", "False"] and done.stderr == ""


def test_layers_follow_the_records():
    assert {"Linear", "Conv2d", "ReLU", "Residual", "LayerNorm"} <= set(ls.layers())
    assert str(inspect.signature(ls.Conv2d)).startswith("(out, kernel, *, stride=1, pad=0")
    assert "Parameters" in ls.Conv2d.__doc__
    layer = ls.Conv2d(6, (5, 3), pad=2)
    assert (layer.out, layer.kernel, layer.pad, layer.groups) == (6, (5, 3), 2, 1)
    assert layer == pickle.loads(pickle.dumps(layer)) == copy.deepcopy(layer)
    assert repr(layer) == "Conv2d(out=6, kernel=(5, 3), pad=2)"
    assert ls.Sigmoid(2.0).lambda_ == 2.0
    net = ls.Network((2, 6, 6), [ls.Residual([ls.Conv2d(2, 3, pad=1), ls.ReLU()]), ls.Flatten(),
                                 ls.Linear(3, init=ls.UniformInit(0.1))])
    assert [row["type"] for row in net.summary()][0] == "residual"


@pytest.mark.parametrize("make, words", [
    (lambda: ls.Conv2d(6, 5, pad=-1), "Conv2d: pad: "),
    (lambda: ls.Dropout(1.5), "Dropout: p: "),
    (lambda: ls.Adam(-1.0), "Adam: lr: "),
    (lambda: ls.Network(4, [ls.ReLU]), "write ReLU(...)"),
    (lambda: ls.Network(4, [lambda x: x]), "not supported"),
    (lambda: ls.Network((1, 4, 4), [ls.Conv2d(2, 7)]), "conv2d"),
    (lambda: ls.Network(4, [ls.Linear(2)], precision="float16"), "float16"),
])
def test_faults_are_one_line(make, words):
    with pytest.raises(ls.Error) as error:
        make()
    assert words in str(error.value) and "\n" not in str(error.value) and error.value.code == "usage"


def test_unknown_options_name_the_nearest():
    x, y = rows()
    with pytest.raises(TypeError, match="did you mean epochs"):
        mlp().fit(x, y, epoch=3)
    with pytest.raises(ls.Error, match="fit: batch"):
        mlp().fit(x, y, batch=-1)
    with pytest.raises(ls.Error, match="not supported"):
        mlp().fit(x, y, optimizer=lambda: 1)
    with pytest.raises(ls.Error, match="unknown backend"):
        mlp().fit(x, y, backend="gpu")
    with pytest.raises(TypeError, match="optimizer=ls.Adam"):
        mlp().fit(x, y, lr=0.1)
    with pytest.raises(AttributeError, match="did you mean Linear"):
        ls.Dense
    for wrong in (lambda: ls.Conv2d(1, 6, 5), lambda: ls.Linear(784, 128)):  # as in PyTorch, with the inputs first
        with pytest.raises(TypeError, match="without a name"):
            wrong()


@pytest.mark.parametrize("option, words", [
    ({"threads": 1.5}, "fit: threads"), ({"threads": None}, "fit: threads"), ({"backend": 3}, "fit: backend"),
    ({"loss": 3}, "fit: loss"), ({"on_step": 3}, "on_step"), ({"on_epoch": "a"}, "on_epoch"),
    ({"validation": 0.2}, "validation"), ({"validation": (1, 2, 3)}, "validation"), ({"seed": -1}, "fit: seed"),
    ({"validation": np.zeros((3, 6))}, "validation"), ({"comm": 3}, "mpi4py")])
def test_wrong_options_are_one_line(option, words):
    with pytest.raises(ls.Error) as error:
        mlp().fit(*rows(), **option)
    assert words in str(error.value) and "\n" not in str(error.value), str(error.value)


def test_arrays_of_all_kinds_give_one_hash():
    x, y = rows()
    hashes = set()

    class Pairs:
        def __len__(self):
            return len(x)

        def __getitem__(self, i):
            if i >= len(x):
                raise IndexError
            return x[i], y[i]

    class Dlpack:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    wide = np.zeros((2 * len(x), 8), np.float32)
    wide[::2, 1:7] = x
    inputs = [(x, y), (x.astype(np.float64), y.astype(np.int32)), (x.tolist(), y.tolist()), (Pairs(), None),
              (wide[::2, 1:7], y), (iter(x), iter(y)), (x, y.astype(np.float64)), (memoryview(x), memoryview(y)),
              ([(x[:50], y[:50]), (x[50:], y[50:])], None), (Dlpack(x), y)]
    if pandas:
        inputs.append((pandas.DataFrame(x), pandas.Series(y)))
    for a, b in inputs:
        net = mlp()
        net.fit(a, b, epochs=2, batch=32)
        hashes.add(net.weight_hash)
    assert len(hashes) == 1


def test_memory_mapped_file(tmp_path):
    x, y = rows()
    np.save(tmp_path / "x.npy", x)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    a, b = mlp(), mlp()
    a.fit(x, y)
    b.fit(mapped, y)
    assert a.weight_hash == b.weight_hash


@pytest.mark.parametrize("change, words", [
    (lambda x, y: (np.asfortranarray(x), y), "np.ascontiguousarray(x)"),
    (lambda x, y: (x.astype(np.float16), y), "astype(np.float32)"),
    (lambda x, y: (x.astype(">f4"), y), "byte order"),
    (lambda x, y: (x[:, :5].copy(), y), "5"),
    (lambda x, y: (x[:100], y), "100 samples but 120 targets"),
    (lambda x, y: (x, y + 1), "outside the 3 classes"),
    (lambda x, y: (x, np.eye(3)[y]), "argmax"),
    (lambda x, y: (x, y.astype(str)), "text"),
    (lambda x, y: (x, y + 0.5), "not an integer"),
    (lambda x, y: (np.where(x == x[7, 3], np.nan, x), y), "sample 7"),
    (lambda x, y: (x.astype(object), y), "objects"),
    (lambda x, y: (3, y), "was expected"),
    (lambda x, y: (x, y.astype(str).astype(object)), "text"),
    (lambda x, y: ("x.npy", y), "np.load"),
    (lambda x, y: ({"a": x}, y), "not dict"),
    (lambda x, y: (x, None), "comes without y"),
    (lambda x, y: (x, y[:, None]), "y.ravel()"),
    (lambda x, y: (x.astype(np.float64) * 1e300, y), "float32 cannot hold"),
    (lambda x, y: (np.ma.masked_greater(x, 1), y), "filled"),
    (lambda x, y: ((x > 0).astype(np.uint8), y), "bytes 0 and 1"),
    (lambda x, y: (x[:0], y[:0]), "no samples"),
    (lambda x, y: (x.reshape(len(x), 3, 2)[:, :, ::-1], y), "np.ascontiguousarray(x)"),
])
def test_what_cannot_be_read_is_refused(change, words):
    with pytest.raises(ls.Error) as error:
        mlp().fit(*change(*rows()))
    assert words in str(error.value) and "\n" not in str(error.value), str(error.value)


def test_channels_last_are_noticed():
    x, y = np.zeros((4, 8, 8, 3), np.float32), np.zeros(4, int)
    net = ls.Network((3, 8, 8), [ls.Flatten(), ls.Linear(2)])
    with pytest.raises(ls.Error, match=r"x.transpose\(0, 3, 1, 2\)"):
        net.fit(x, y)
    net.fit(np.ascontiguousarray(x.transpose(0, 3, 1, 2)), y)


def test_arrays_are_not_copied():
    x = np.ones((4000, 6 * 100), np.float32)
    net = ls.Network(600, [ls.Linear(2)])
    import resource
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    big = np.zeros((60_000, 600), np.float32)  # 144 MB, untouched pages are not resident
    net.fit(x, np.zeros(4000, np.int64))
    samples = net._samples(big, np.zeros(60_000, np.int64), "cross-entropy")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert len(samples) == 60_000 and grown < 250_000, grown


def test_bytes_are_pictures():
    x, y = pictures()
    a, b = lenet(), lenet()
    a.fit(x, y, epochs=2)
    b.fit(x.astype(np.float32) * np.float32(1 / 255), y, epochs=2)
    assert a.weight_hash == b.weight_hash
    assert np.array_equal(a.predict(x), b.predict(x.astype(np.float32) * np.float32(1 / 255)))


def test_weights_are_views_and_settable():
    net = mlp(seed=5)
    view = net.weights["0.weight"]
    assert view.shape == (17, 6) and view.dtype == np.float32 and isinstance(view, np.ndarray)
    before = view.copy()
    x, y = rows()
    net.fit(x, y)
    assert not np.array_equal(view, before)  # it is the network's own memory
    net.weights["0.weight"] = before.astype(np.float64)
    assert np.array_equal(view, before)
    net.weights["0.weight"] -= 0.5
    assert np.array_equal(view, before - np.float32(0.5)) and type(view + 1) is np.ndarray
    view += 0.5
    view[3, :2] = 0
    view[0] = [1, 2, 3, 4, 5, 6]
    assert view[3, 1] == 0 and net.weights["0.weight"][0, 5] == 6
    with pytest.raises(ValueError):
        view[0][1] = 1  # a slice is a view of its own: nothing is lost without a word
    with pytest.raises(ls.Error, match="finite"):
        view[0, 0] = np.inf
    net.weights["0.weight"] = before
    with pytest.raises(ls.Error, match=r"\[17,6\]"):
        net.weights["0.weight"] = np.zeros((6, 17))
    with pytest.raises(ls.Error, match="finite"):
        net.weights["0.bias"] = np.full(17, np.nan)
    with pytest.raises(KeyError):
        net.weights["nothing"]
    outputs = net.predict(x)
    net.weights["0.bias"] = np.ones(17)
    assert not np.array_equal(outputs, net.predict(x))  # nothing stale
    del net
    assert view.sum() == before.sum()  # the view keeps the memory alive


def test_gradient_is_that_of_numpy():
    net = ls.Network(3, [ls.Linear(5), ls.Tanh(), ls.Linear(2)], seed=1, precision="float64")
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
    w = {name: np.array(array) for name, array in net.weights.items()}
    hidden = np.tanh(x @ w["0.weight"].T + w["0.bias"])
    z = hidden @ w["2.weight"].T + w["2.bias"]
    p = np.exp(z) / np.exp(z).sum(1, keepdims=True)
    dz = (p - np.eye(2)[y]) / len(x)
    dh = dz @ w["2.weight"] * (1 - hidden**2)
    gradient = net.gradient(x, y)
    mine = {"2.weight": dz.T @ hidden, "2.bias": dz.sum(0), "0.weight": dh.T @ x, "0.bias": dh.sum(0)}
    for name, expected in mine.items():
        np.testing.assert_allclose(gradient[name], expected, rtol=1e-9, atol=1e-12)


def test_a_second_fit_continues():
    x, y = rows()
    whole, parts = mlp(), mlp()
    whole.fit(x, y, epochs=5, threads=1)
    parts.fit(x, y, epochs=2, threads=2)
    parts.fit(x, y, epochs=3, threads=1)
    assert whole.weight_hash == parts.weight_hash
    fresh = mlp()
    fresh.fit(x, y, epochs=2)
    fresh.fit(x, y, epochs=3, resume=False)
    assert fresh.weight_hash != whole.weight_hash
    with pytest.raises(ls.Error, match="resume=True"):
        mlp().fit(x, y, resume=True)


def test_callbacks_stop_and_the_rest_follows():
    x, y = rows()
    seen = []
    net, whole = mlp(), mlp()
    run = net.fit(x, y, epochs=3, batch=16,
                  on_step=lambda at: seen.append(at["step"]) or (at["epoch"], at["step"]) == (2, 3))
    assert run.stopped and len(run.metrics) == 1 and len(seen) == 8 + 3
    with pytest.raises(ls.Error, match="same data"):
        net.fit(x[:50], y[:50], epochs=2, batch=16)
    net.fit(x, y, epochs=2, batch=16)  # the rest of the second, and the third
    whole.fit(x, y, epochs=3, batch=16)
    assert net.weight_hash == whole.weight_hash

    assert len(mlp().fit(x, y, epochs=3, on_epoch=lambda record: np.True_).metrics) == 1
    assert len(mlp().fit(x, y, epochs=3, on_epoch=lambda record: "no").metrics) == 3

    class Broken(Exception):
        pass

    def fails(_):
        raise Broken("in a callback")

    with pytest.raises(Broken):
        mlp().fit(x, y, on_epoch=fails)


def test_callbacks_may_read_not_change():
    x, y = rows()
    net, plain = mlp(), mlp()
    hashes = []

    def look(record):
        hashes.append(net.weight_hash == record["weight_hash"])
        assert net.predict(x[:3]).shape == (3, 3)
        assert 0 <= net.evaluate(x, y).accuracy <= 1
        with pytest.raises(ls.Error, match="callback"):
            net.weights["0.bias"] = np.zeros(17)
        with pytest.raises(ls.Error, match="callback"):
            net.weights["0.bias"][0] = 1
        with pytest.raises(ls.Error, match="callback"):
            net.fit(x, y)

    net.fit(x, y, epochs=2, threads=2, on_epoch=look)
    plain.fit(x, y, epochs=2)
    assert hashes == [True, True] and net.weight_hash == plain.weight_hash


def test_seeds():
    x, y = rows()
    a, b, c = mlp(), mlp(seed=7), mlp()
    a.fit(x, y, seed=7)
    b.fit(x, y, seed=7)
    assert a.weight_hash == b.weight_hash
    c.weights["0.bias"]
    with pytest.raises(ls.Error, match="seed=7"):
        c.fit(x, y, seed=7)
    b.reset(7)
    assert b.weight_hash == mlp(seed=7).weight_hash


def test_predictions():
    x, y = rows()
    net = mlp()
    net.fit(x, y, epochs=20, optimizer=ls.Adam(0.02))
    outputs = net.predict(x)
    assert outputs.dtype == np.float32 and outputs.shape == (120, 3)
    assert all(np.array_equal(outputs, net.predict(x, threads=t)) for t in (1, 2, 3))
    assert np.array_equal(outputs[5:6], net.predict(x[5:6]))
    assert np.array_equal(outputs, net.predict(x.astype(np.float64)))
    p = net.predict_proba(x)
    np.testing.assert_allclose(p.sum(1), 1, rtol=1e-12)
    classes = net.predict_classes(x)
    assert np.array_equal(classes, outputs.argmax(1))
    scores = net.evaluate(x, y)
    assert scores.accuracy == pytest.approx((classes == y).mean()) and scores.samples == 120
    with pytest.raises(ls.Error, match=r"x\[None\]"):
        net.predict(x[0])
    with pytest.raises(ls.Error, match="not finite|NaN|nan"):
        net.predict(np.full((2, 6), np.nan, np.float32))


def test_predictions_follow_the_training():
    x, y = pictures()
    net = lenet()
    for _ in range(3):  # what a prediction has prepared from the weights must not outlive them
        net.predict(x[:1])
        net.predict(x)
        net.fit(x, y)
        same = pickle.loads(pickle.dumps(net))
        assert np.array_equal(net.predict(x[:1]), same.predict(x[:1]))
        assert np.array_equal(net.predict(x), same.predict(x))


def test_regression():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(200, 3))
    y = x @ np.array([1.0, -2.0, 0.5]) + 3
    net = ls.Network(3, [ls.Linear(1)], precision="float64")
    run = net.fit(x, y, loss="squared-error", optimizer=ls.Momentum(0.05), epochs=40, validation=(x, y))
    assert run.metrics[-1]["validation_loss"] < 1e-3 and "accuracy" not in run.metrics[-1]
    with pytest.raises(ls.Error, match="predict_proba"):
        net.predict_proba(x)


def test_metrics_and_early_stopping():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(200, 4)).astype(np.float32)
    y = (x[:, 0] + 0.5 * rng.normal(size=200) > 0).astype(int)
    net = ls.Network(4, [ls.Linear(8), ls.ReLU(), ls.Linear(2)], seed=1)
    run = net.fit(x[:100], y[:100], validation=(x[100:], y[100:]), epochs=300, optimizer=ls.Adam(0.02), metrics=["f1", "auc"],
                  early_stopping=4)
    assert len(run.metrics) < 300, "the validation loss rises again long before"
    last = run.metrics[-1]
    assert 0.5 < last["validation_f1"] <= 1 and 0.5 < last["validation_auc"] <= 1
    losses = [record["validation_loss"] for record in run.metrics]
    assert losses.index(min(losses)) == len(losses) - 1 - 4


def test_files(tmp_path):
    x, y = pictures()
    net = lenet()
    net.fit(x, y, epochs=1)
    net.class_names = ["a", "b", "c", "d"]
    net.save(tmp_path / "m.safetensors")
    other = ls.Network.load(tmp_path / "m.safetensors")
    assert other.weight_hash == net.weight_hash and other.class_names == ["a", "b", "c", "d"]
    assert np.array_equal(other.predict(x), net.predict(x))
    again = pickle.loads(pickle.dumps(net))
    assert again.weight_hash == net.weight_hash and np.array_equal(again.predict_proba(x), net.predict_proba(x))
    with pytest.raises(ls.Error, match="end in .safetensors"):
        net.save(tmp_path / "m.onnx")
    with pytest.raises(ls.Error, match="4 names"):
        net.class_names = ["a"]
    for name in ("m.onnx", "m.npz"):
        net.export(tmp_path / name)
    assert np.array_equal(np.load(tmp_path / "m.npz")["0.weight"], net.weights["0.weight"])
    with pytest.raises(ls.Error) as error:
        ls.Network.load(tmp_path / "none.safetensors")
    assert error.value.code == "checkpoint"
    assert pickle.loads(pickle.dumps(error.value)).code == "checkpoint"


def test_divergence_is_an_error():
    x, y = rows()
    with pytest.raises(ls.Error) as error:
        ls.Network(6, [ls.Linear(50), ls.ReLU(), ls.Linear(50), ls.ReLU(), ls.Linear(3)]).fit(
            x * 1e4, y, optimizer=ls.SGD(1e9), epochs=50)
    assert error.value.code == "diverged"


def test_runs_show_themselves(tmp_path, capsys):
    x, y = rows()
    net = mlp()
    run = net.fit(x, y, epochs=3, validation=(x, y), profile=True, verbose=True)
    assert "epoch 3: loss" in capsys.readouterr().err
    net.fit(x, y, verbose=False)
    assert capsys.readouterr() == ("", "")
    assert [record["epoch"] for record in run.metrics] == [1, 2, 3]
    assert {"loss", "accuracy", "validation_loss", "validation_accuracy", "weight_hash"} <= set(run.metrics[0])
    assert any(row["section"].endswith("linear") for row in run.profile)
    assert "<svg" in run._repr_html_() and "linear" in net._repr_html_()
    assert "<svg" in run.report(tmp_path / "run.html").read_text()
    if pandas:
        assert list(run.metrics.to_pandas()["epoch"]) == [1, 2, 3]
