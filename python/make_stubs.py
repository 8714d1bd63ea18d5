#!/usr/bin/env python3
"""make_stubs.py [--check]: writes python/lockstep/__init__.pyi from the installed package: the classes of layers,
optimisers, schedules and initialisers, and the options of fit, come from the lists of fields of the C++ library.
--check: fails where the file is out of date."""
import pathlib
import sys

sys.path.pop(0)  # the folder of this file has the sources, without the module
from lockstep import _records  # noqa: E402

HEAD = '''# Written by python/make_stubs.py from the lists of fields of the C++ library.
from __future__ import annotations

import os
from typing import Any, Callable, Mapping, Sequence

from lockstep._data import Data as Data, load_data as load_data
from lockstep._error import Error as Error
from lockstep._ladder import Ladder as Ladder, ladder as ladder
from lockstep._network import Network as _Network, Scores as Scores, Weights as Weights
from lockstep._progress import quiet as quiet
from lockstep._ranks import rank as rank, ranks as ranks
from lockstep._records import Init as Init, Layer as Layer, Optimizer as Optimizer, Schedule as Schedule
from lockstep._run import Metrics as Metrics, Run as Run
from lockstep._train import train as train

__version__: str
numerics_version: int

def layers() -> list[str]: ...
def optimizers() -> list[str]: ...
def losses() -> list[str]: ...
def backends() -> list[str]: ...
'''
FIT = '''
class Network(_Network):
    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Network: ...
    def fit(self, x: Any, y: Any = None, *, sample_weight: Any = None, validation: Any = None, backend: str = "simd",
            threads: int = 0, comm: Any = None, on_step: Callable[[dict[str, Any]], Any] | None = None,
            on_epoch: Callable[[dict[str, Any]], Any] | None = None, profile: bool = False,
            resume: bool | None = None, verbose: bool | None = None,
            {options}) -> Run: ...
'''


def parameter(field):
    usual = "" if field["required"] else f" = {field['default']!r}"
    return f"{_records._parameter(field['name'])}: {field['type']}{usual}"


def wrapped(parts, indent):
    """Joined by commas, in lines of at most 120 columns."""
    lines = [""]
    for part in parts:
        if len(lines[-1]) + len(part) > 92 - indent:
            lines.append("")
        lines[-1] += part + ", "
    return ("\n" + " " * indent).join(line.strip() for line in lines).rstrip(", ")


def stubs():
    text = HEAD + FIT.format(options=wrapped(map(parameter, _records.described["train"]), 12))
    for name, each in _records.classes.items():
        base = each.__bases__[0].__name__
        text += f"\nclass {name}({base}):\n"
        parts = list(map(parameter, each._fields))
        if each._positional() < len(parts):
            parts.insert(each._positional(), "*")
        line = f"    def __init__(self{''.join(', ' + part for part in parts)}) -> None: ...\n"
        if len(line) > 121:
            line = f"    def __init__(self, {wrapped(parts, 17)}) -> None: ...\n"
        text += line
        for field in each._fields:
            text += f"    {_records._parameter(field['name'])}: {field['type']}\n"
    return text


def main():
    target = pathlib.Path(__file__).parent / "lockstep" / "__init__.pyi"
    if "--check" in sys.argv:
        if target.read_text() != stubs():
            sys.exit("python/lockstep/__init__.pyi is out of date: run python/make_stubs.py with the package installed")
    else:
        target.write_text(stubs())


if __name__ == "__main__":
    main()
