"""Lockstep trains neural networks, and gives the same weights, bit for bit, on any number of threads, processes and
devices. The same engine as the program ``lockstep`` and the C++ library: one network has one weight hash in all three.

>>> import numpy as np
>>> import lockstep as ls
>>> x = np.random.default_rng(1).normal(size=(256, 2)).astype(np.float32)
>>> y = (x[:, 0] * x[:, 1] > 0).astype(np.int64)
>>> net = ls.Network(2, [ls.Linear(16), ls.Tanh(), ls.Linear(2)])
>>> run = net.fit(x, y, optimizer=ls.Adam(0.01), batch=32, epochs=30, seed=1, verbose=False)
>>> net.evaluate(x, y).accuracy > 0.9
True
"""
from __future__ import annotations

import os as _os
from typing import Any as _Any

from lockstep import _core
from lockstep._data import Data, load_data
from lockstep._error import Error
from lockstep._ladder import Ladder, ladder
from lockstep._network import Network, Scores, Weights
from lockstep._progress import quiet
from lockstep._ranks import rank, ranks
from lockstep._records import Init, Layer, Optimizer, Schedule, classes as _classes, described as _described
from lockstep._run import Metrics, Run
from lockstep._train import train

__version__ = str(_core.version)
numerics_version = int(_core.numerics_version)
globals().update(_classes)

_os.register_at_fork(after_in_child=_core.note_fork)


def _names(base: type) -> list[str]:
    return [name for name, each in _classes.items() if issubclass(each, base)]


def layers() -> list[str]:
    """The names of the layers.

    Examples
    --------
    >>> import lockstep as ls
    >>> ls.layers()[:3]
    ['Linear', 'Conv2d', 'MaxPool2d']
    """
    return _names(Layer)


def optimizers() -> list[str]:
    """The names of the optimisers."""
    return [name for name in _names(Optimizer) if name not in _names(Schedule)]


def losses() -> list[str]:
    """The names of the losses.

    Examples
    --------
    >>> import lockstep as ls
    >>> ls.losses()
    ['cross-entropy', 'binary-cross-entropy', 'squared-error', 'focal', 'huber']
    """
    return [entry["name"] for entry in _described["losses"]]


def backends() -> list[str]:
    """The names of the backends; ``lockstep doctor`` tells which of them this machine runs."""
    return list(_core.backends())


__all__ = ["Data", "Error", "Init", "Ladder", "Layer", "Metrics", "Network", "Optimizer", "Run", "Schedule", "Scores",
           "Weights", "backends", "ladder", "layers", "load_data", "losses", "numerics_version", "optimizers", "quiet",
           "rank", "ranks", "train", *_classes]


def __getattr__(name: str) -> _Any:
    if name == "sklearn":  # only who asks for it needs scikit-learn
        import importlib
        return importlib.import_module("lockstep.sklearn")
    import difflib
    known = {each.lower(): each for each in __all__}
    others = {"dense": "Linear", "maxpooling2d": "MaxPool2d", "averagepooling2d": "AvgPool2d", "sequential": "Network",
              "batchnormalization": "BatchNorm", "batchnorm2d": "BatchNorm"}
    near = difflib.get_close_matches(name.lower(), known, 1) if name[:1].isupper() else []
    hint = others.get(name.lower()) or (known[near[0]] if near else None)
    raise AttributeError(f"module 'lockstep' has no attribute {name!r}" + (f"; did you mean {hint}?" if hint else ""))
