"""The promise through Python: one weight hash from Python, the program and C++, for every number of threads and ranks
and every backend of the promise that this machine has."""
import json
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import lockstep as ls
from conftest import launcher, lenet, mlp, pictures, rows

LENET = """
[data]
source = "{folder}/x.npy"
labels = "{folder}/y.npy"
[model]
input = [1, 12, 12]
layers = [{{conv2d = {{out = 4, kernel = 5, pad = 2}}}}, "relu", {{max_pool2d = 2}},
          {{conv2d = {{out = 6, kernel = 3}}}}, "relu", "flatten", {{linear = 20}}, "tanh", {{linear = 4}}]
[train]
optimizer = {{name = "adam", lr = 0.003}}
batch = 32
epochs = 3
seed = 11
"""
MLP = """
[data]
source = "{folder}/x.npy"
labels = "{folder}/y.npy"
[model]
input = [6]
layers = [{{linear = 17}}, "tanh", {{dropout = 0.25}}, {{linear = 3}}]
[train]
optimizer = {{name = "adam", lr = 0.003}}
batch = 32
epochs = 3
seed = 11
"""
CASES = {"lenet": (lenet, pictures, LENET), "mlp": (mlp, rows, MLP)}
OPTIONS = dict(batch=32, epochs=3, seed=11)


def config_of(name, folder):
    make, data, text = CASES[name]
    x, y = data()
    np.save(folder / "x.npy", x)
    np.save(folder / "y.npy", y.astype(np.int32))
    (folder / "c.toml").write_text(text.format(folder=folder))
    return make, x, y, folder / "c.toml"


def backends():
    found = []
    for name in ("simd", "naive", "naive-o0", "opencl", "opencl-naive"):
        try:
            mlp().fit(*rows(), backend=name)
            found.append(name)
        except ls.Error:
            pass
    return found


@pytest.mark.parametrize("name", CASES)
def test_python_is_the_program(name, tmp_path, run_program):
    make, x, y, config = config_of(name, tmp_path)
    result = json.loads(run_program("train", config, "--json", "--quiet", "--out", tmp_path / "run").stdout)
    expected = result["weight_hash"]
    seen = {}
    for backend in backends():
        for threads in (1, 2, 3, 4) if backend in ("simd", "naive") else (1,):  # the others are slow
            net = make()
            net.fit(x, y, optimizer=ls.Adam(0.003), backend=backend, threads=threads, **OPTIONS)
            seen[backend, threads] = net.weight_hash
    assert set(seen.values()) == {expected}, seen
    assert {"simd", "naive"} <= {backend for backend, _ in seen}
    print(sorted(seen))
    run = ls.train(config, {"train.seed": 11}, out=tmp_path / "python", threads=2, profile=name == "mlp")
    assert run.profile is None or {"section", "phase", "seconds"} <= set(run.profile[0])
    assert run.weight_hash == expected and run.model.weight_hash == expected
    assert (tmp_path / "python/metrics.jsonl").read_bytes() == (tmp_path / "run/metrics.jsonl").read_bytes()
    assert run.report().exists() and len(run.metrics) == 3


@pytest.mark.parametrize("name", CASES)
def test_ranks(name, tmp_path):
    mpirun = launcher()
    if mpirun is None:
        pytest.skip("no mpirun")
    make, x, y, _ = config_of(name, tmp_path)
    net = make()
    net.fit(x, y, optimizer=ls.Adam(0.003), **OPTIONS)
    script = tmp_path / "train.py"
    script.write_text(textwrap.dedent(f"""
        import sys
        sys.path.insert(0, {str(__file__.rsplit('/', 1)[0])!r})
        import numpy as np
        import lockstep as ls
        from conftest import {make.__name__}
        ls.quiet(False)
        x, y = np.load({str(tmp_path / 'x.npy')!r}), np.load({str(tmp_path / 'y.npy')!r})
        net = {make.__name__}()
        net.fit(x, y, optimizer=ls.Adam(0.003), batch=32, epochs=2, seed=11, threads=1)
        net.fit(x, y, optimizer=ls.Adam(0.003), batch=32, epochs=1, seed=11, threads=1)
        print(f"rank {{ls.rank()}} of {{ls.ranks()}}: {{net.weight_hash}}\\n", end="", flush=True)
        if ls.rank() == 0:
            net.evaluate(x, y)  # not a step of all ranks
        """))
    for ranks in (2, 3):
        done = subprocess.run([*mpirun, "-n", str(ranks), sys.executable, str(script)], capture_output=True, text=True,
                              timeout=300)
        assert done.returncode == 0, done.stderr
        lines = sorted(line for line in done.stdout.splitlines() if line.startswith("rank"))
        assert lines == [f"rank {r} of {ranks}: {net.weight_hash}" for r in range(ranks)], done.stdout + done.stderr
        assert done.stderr.count("epoch 3") == 1  # rank 0 alone prints


def output_of(tmp_path, command, ranks):
    """What the command prints on this number of ranks."""
    mpirun = [] if ranks == 1 else [*launcher(), "-n", str(ranks)]
    from lockstep import _program
    variables = {**os.environ, "LOCKSTEP_MPI_DIR": os.path.dirname(_program.path())}  # of the package, for C++ too
    done = subprocess.run([*mpirun, *map(str, command)], capture_output=True, text=True, timeout=300, cwd=tmp_path,
                          env=variables)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_three_ways_to_train(ranks, tmp_path, program):
    """{Python, C++, command line} x threads 1 to 4 x ranks 1 to 3 x {simd, opencl}: one hash."""
    if launcher() is None and ranks > 1:
        pytest.skip("no mpirun")
    make, x, y, config = config_of("mlp", tmp_path)
    net = make()
    net.fit(x, y, optimizer=ls.Adam(0.003), **OPTIONS)
    ways = [(backend, threads) for backend in ("simd", "opencl") if backend in backends() for threads in (1, 2, 3, 4)]
    script = tmp_path / "train.py"
    script.write_text(textwrap.dedent(f"""
        import sys
        sys.path.insert(0, {str(__file__.rsplit('/', 1)[0])!r})
        import lockstep as ls
        from conftest import mlp, rows
        for backend, threads in {ways!r}:
            net = mlp()
            net.fit(*rows(), optimizer=ls.Adam(0.003), backend=backend, threads=threads, **{OPTIONS!r})
            if ls.rank() == 0:
                print(net.weight_hash, flush=True)
        """))
    seen = {"Python": output_of(tmp_path, [sys.executable, script], ranks).split()}
    # Every way in Python, of the two others the corners: a process each.
    corners = [(backend, threads) for backend, threads in ways if threads in ((1, 4) if backend == "simd" else (2,))]
    seen["program"] = [json.loads(output_of(tmp_path, [
        program, "train", config, "--backend", backend, "--threads", threads, "--json", "--quiet",
        "--out", tmp_path / f"run-{backend}-{threads}"], ranks))["weight_hash"] for backend, threads in corners]
    if "LOCKSTEP_CPP_HASH" in os.environ:
        seen["C++"] = [output_of(tmp_path, [os.environ["LOCKSTEP_CPP_HASH"], tmp_path, threads, backend], ranks).strip()
                       for backend, threads in corners]
    assert len(seen["Python"]) == len(ways) >= 4
    assert {each for found in seen.values() for each in found} == {net.weight_hash}, seen


def test_runs_of_ranks(tmp_path, program):
    """Two runs and a fit in one script: MPI starts and ends once."""
    mpirun = launcher()
    if mpirun is None:
        pytest.skip("no mpirun")
    *_, config = config_of("mlp", tmp_path)
    alone = ls.train(config, out=tmp_path / "alone")
    script = tmp_path / "train.py"
    script.write_text(textwrap.dedent(f"""
        import numpy as np, lockstep as ls
        ls.quiet()
        runs = [ls.train({str(config)!r}, out={str(tmp_path)!r} + f"/run{{i}}") for i in range(2)]
        ls.Network(2, [ls.Linear(2)]).fit(np.ones((40, 2), np.float32), np.zeros(40, int))
        if ls.rank() == 0:
            print(*(run.weight_hash for run in runs))
        """))
    done = subprocess.run([*mpirun, "-n", "2", sys.executable, str(script)], capture_output=True, text=True,
                          timeout=120)
    assert done.stdout.split() == [alone.weight_hash] * 2, done.stdout + done.stderr


def test_ranks_that_differ_are_noticed(tmp_path):
    mpirun = launcher()
    if mpirun is None:
        pytest.skip("no mpirun")
    script = tmp_path / "train.py"
    script.write_text("import numpy as np, lockstep as ls\n"
                      "x = np.ones((40, 2), np.float32) * (1 + ls.rank())\n"
                      "ls.Network(2, [ls.Linear(2)]).fit(x, np.zeros(40, int))\n")
    done = subprocess.run([*mpirun, "-n", "2", sys.executable, str(script)], capture_output=True, text=True,
                          timeout=120)
    assert done.returncode != 0 and "rank 1 has other data than rank 0" in done.stderr
    assert done.stderr.count("has other data") == 1, done.stderr


def test_a_rank_that_fails_ends_all(tmp_path):
    mpirun = launcher()
    if mpirun is None:
        pytest.skip("no mpirun")
    script = tmp_path / "train.py"
    script.write_text("import numpy as np, lockstep as ls\n"
                      "if ls.rank() == 1: raise ValueError('my own fault')\n"
                      "ls.Network(2, [ls.Linear(2)]).fit(np.ones((40, 2), np.float32), np.zeros(40, int))\n")
    done = subprocess.run([*mpirun, "-n", "2", sys.executable, str(script)], capture_output=True, text=True,
                          timeout=120)
    assert done.returncode != 0 and "my own fault" in done.stderr
