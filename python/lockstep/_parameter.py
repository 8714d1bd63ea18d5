"""The view of a parameter: an array over the network's memory, whose writes go through the network."""
from __future__ import annotations

from typing import Any

import numpy as np


class Parameter(np.ndarray):  # type: ignore[type-arg]
    """A parameter of a network where it lies. Writing to all or a part of it sets the parameter as an assignment to
    ``net.weights[name]`` does. Slices of it are read-only views, and results of arithmetic are plain arrays."""

    _home: tuple[Any, str] | None = None

    def __setitem__(self, key: Any, value: Any) -> None:
        if self._home is None:
            super().__setitem__(key, value)
            return
        fresh = np.array(self, subok=False)
        fresh[key] = value
        net, name = self._home
        net.set_weight(name, fresh)

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        plain = [np.asarray(each) if isinstance(each, Parameter) else each for each in inputs]
        targets = tuple(out or ())
        own = [each for each in targets if isinstance(each, Parameter)]
        if not own:
            return getattr(function, method)(*plain, **options, **({"out": targets} if targets else {}))
        if len(targets) > 1 or own[0]._home is None:
            raise ValueError("output array is read-only")
        own[0][...] = getattr(function, method)(*plain, **options)
        return own[0]


def parameter(net: Any, name: str) -> Parameter:
    """The view of this parameter."""
    view: Parameter = net.weight(name).view(Parameter)
    view._home = (net, name)
    return view
