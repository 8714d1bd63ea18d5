"""Docstrings, the examples of docs/python.md and examples/python, and the type stubs."""
import doctest
import importlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import lockstep

SOURCE = pathlib.Path(os.environ["LOCKSTEP_SOURCE"])


@pytest.mark.parametrize("name", ["lockstep", "lockstep._network", "lockstep._data", "lockstep._ranks",
                                  "lockstep.sklearn"])
def test_docstrings(name):
    module = importlib.import_module(name)
    finder = doctest.DocTestFinder(exclude_empty=True)
    runner = doctest.DocTestRunner()
    for test in finder.find(module, name, globs={}):
        test.globs["__name__"] = "__main__"
        runner.run(test)
    assert runner.summarize().failed == 0
    if name == "lockstep._network":
        assert runner.tries > 10


@pytest.mark.parametrize("index", [0, 1, 2])
def test_docs_python(index, tmp_path):
    """The blocks of the page, one after the other in one namespace."""
    blocks = re.findall(r"```python\n(.*?)```", (SOURCE / "docs/python.md").read_text(), re.DOTALL)
    assert len(blocks) == 3
    (tmp_path / "examples").symlink_to(SOURCE / "examples")
    code = "\n".join(blocks[: index + 1] if index < 2 else ["import lockstep as ls", blocks[2]])
    code = code.replace("budget=20", "budget=3, rungs=['naive', 'simd', 'threads']")
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("script", sorted(path.name for path in (SOURCE / "examples/python").glob("*.py")))
def test_examples(script, tmp_path):
    done = subprocess.run([sys.executable, str(SOURCE / "examples/python" / script)], cwd=tmp_path, capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_stubs_are_current():
    subprocess.run([sys.executable, "-B", str(SOURCE / "python/make_stubs.py"), "--check"], check=True)


def test_mypy_strict(tmp_path):
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"),
                           "--config-file", str(SOURCE / "pyproject.toml"),
                           *map(str, sorted((SOURCE / "examples/python").glob("*.py")))],
                          cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_public_name_is_documented():
    for name in lockstep.__all__:
        value = getattr(lockstep, name)
        assert not callable(value) or value.__doc__, name


@pytest.mark.parametrize("notebook", sorted(path.name for path in (SOURCE / "examples/notebooks").glob("*.ipynb")))
def test_notebooks(notebook, tmp_path):
    """In a folder like their own: paths in them are as a user of a clone needs them."""
    pytest.importorskip("nbconvert")
    folder = tmp_path / "notebooks"
    folder.mkdir()
    for config in (SOURCE / "examples").glob("*.toml"):
        (tmp_path / config.name).symlink_to(config)
    shutil.copy(SOURCE / "examples/notebooks" / notebook, folder)
    done = subprocess.run([sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--output", "out.ipynb",
                           str(folder / notebook)], cwd=tmp_path, capture_output=True, text=True, timeout=300,
                          env={**os.environ, "JUPYTER_PLATFORM_DIRS": "1", "IPYTHONDIR": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    cells = [cell for cell in json.loads((folder / "out.ipynb").read_text())["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] for cell in cells[1:])
    shown = json.dumps(cells)
    if notebook == "first_network.ipynb":  # the widget, the network, the curves
        assert "epoch 20: loss" in shown and "Mflop per sample" in shown and "<polyline" in shown
        assert not [out for cell in cells for out in cell["outputs"] if out.get("name") == "stderr"], shown
    if notebook == "ladder.ipynb":
        assert "speed-up" in shown and "<iframe" in shown
