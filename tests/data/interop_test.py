"""interop_test.py PROGRAM: NumPy, SciPy and Lockstep read each other's files."""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import scipy.io

TYPES = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8", ">i2", ">f4", ">f8"]


def arrays():
    rng = np.random.default_rng(1)
    for code in TYPES:
        for shape in [(5,), (3, 4), (2, 3, 4), (1, 1), (0, 3)]:
            yield (rng.random(shape) * 100).astype(code)
    yield np.array([True, False])
    yield np.float64(3.5)


def written_by_numpy(folder):
    """Files by NumPy and SciPy: {(file, key): array}."""
    expected = {}
    for i, array in enumerate(arrays()):
        for order in "CF":
            name = f"{i}{order}.npy"
            np.save(folder / name, np.asarray(array, order=order))
            expected[name, ""] = np.asarray(array)
    named = {f"a{i}": np.asarray(array) for i, array in enumerate(arrays())}
    np.savez(folder / "stored.npz", **named)
    np.savez_compressed(folder / "packed.npz", **named)
    matrices = {key: array for key, array in named.items() if array.ndim >= 2}
    for name, packed in [("plain.mat", False), ("packed.mat", True)]:
        scipy.io.savemat(folder / name, matrices | {"text": "skipped", "cell": np.array([1, "a"], dtype=object)},
                         do_compression=packed)
    expected |= {(f, key): array for f in ["stored.npz", "packed.npz"] for key, array in named.items()}
    expected |= {(f, key): array for f in ["plain.mat", "packed.mat"] for key, array in matrices.items()}
    return expected


def check_reading(program, folder):
    expected = written_by_numpy(folder)
    files = sorted({str(folder / file) for file, _ in expected})
    lines = subprocess.run([program, "read", *files], check=True, capture_output=True, text=True).stdout.splitlines()
    assert len(lines) == len(expected), (len(lines), len(expected))
    for line in lines:
        file, key, kind, dims, values = line.split("|")
        array = expected[file, key]
        wanted = "uint8" if array.dtype == bool else array.dtype.newbyteorder("=").name
        assert kind == wanted, line
        assert [int(d) for d in dims.split(",") if d] == list(array.shape), line
        assert np.array_equal([float(v) for v in values.split(",") if v], array.astype(float).ravel()), line


def check_writing(program, folder):
    subprocess.run([program, "write", str(folder)], check=True)
    theta, cube = np.array([[1, 2, 3], [4, 5, 6.25]]), np.arange(12).reshape(2, 3, 2)
    assert np.array_equal(np.load(folder / "a.npy"), theta)
    archive = np.load(folder / "a.npz")
    assert archive.files == ["Theta1", "b", "cube", "n"]
    assert archive["b"].dtype == np.float32 and np.array_equal(archive["b"], [1.5, -2, 3])
    assert archive["cube"].dtype == np.uint8 and np.array_equal(archive["cube"], cube)
    assert archive["n"].shape == () and archive["n"] == -7
    matlab = scipy.io.loadmat(folder / "a.mat")
    assert np.array_equal(matlab["Theta1"], theta) and np.array_equal(matlab["cube"], cube)
    assert np.array_equal(matlab["b"], [[1.5], [-2], [3]]) and np.array_equal(matlab["n"], [[-7]])


with tempfile.TemporaryDirectory() as temporary:
    check_reading(sys.argv[1], pathlib.Path(temporary))
    check_writing(sys.argv[1], pathlib.Path(temporary))
