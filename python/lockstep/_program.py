"""The command ``lockstep``: the program that the package brings along."""
from __future__ import annotations

import os
import sys


def path() -> str:
    """Where the program lies."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "lockstep")


def main() -> None:
    """Becomes the program."""
    os.execv(path(), [path(), *sys.argv[1:]])
