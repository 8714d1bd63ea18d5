"""Shared by the tests of the Python package: where the program is, and small networks."""
import os
import pathlib
import subprocess

import numpy as np
import pytest

import lockstep as ls

ls.quiet()


def lenet(seed=None, precision="float32"):
    """LeNet-5 in the small."""
    return ls.Network((1, 12, 12), [ls.Conv2d(4, 5, pad=2), ls.ReLU(), ls.MaxPool2d(2), ls.Conv2d(6, 3), ls.ReLU(),
                                    ls.Flatten(), ls.Linear(20), ls.Tanh(), ls.Linear(4)],
                      seed=seed, precision=precision)


def mlp(seed=None, precision="float32"):
    return ls.Network(6, [ls.Linear(17), ls.Tanh(), ls.Dropout(0.25), ls.Linear(3)], seed=seed, precision=precision)


def pictures(count=96, seed=3):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 256, (count, 1, 12, 12), dtype=np.uint8), rng.integers(0, 4, count)


def rows(count=120, seed=4):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 6)).astype(np.float32)
    return x, (x[:, 0] + x[:, 1] > 0).astype(np.int64) + (x[:, 2] > 0.5)


@pytest.fixture
def program():
    """The program of the package."""
    from lockstep import _program
    return _program.path()


@pytest.fixture
def run_program(program, tmp_path):
    def run(*arguments, **options):
        environment = {**os.environ, **options.pop("env", {})}
        return subprocess.run([program, *map(str, arguments)], cwd=tmp_path, env=environment, text=True,
                              capture_output=True, check=True, **options)
    return run


def launcher():
    """mpirun of Open MPI for processes on this machine; None where it is missing."""
    import shutil
    found = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
    if found is None:
        return None
    return [found, "--oversubscribe", "--bind-to", "none", "--allow-run-as-root"]


DATA = pathlib.Path(__file__).parent
