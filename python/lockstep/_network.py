"""Networks: layers, weights, training and use."""
from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, Callable, NamedTuple

from lockstep import _core
from lockstep._data import as_array, pairs_of
from lockstep._error import Error, text, whole_number
from lockstep._progress import Progress, is_wanted
from lockstep._ranks import communicator
from lockstep._records import Layer, config_of, described, option_lines
from lockstep._run import Run


class Scores(NamedTuple):
    """Loss and, where the targets are classes, accuracy over a set of samples."""

    samples: int
    loss: float
    accuracy: float | None


class Weights(MutableMapping[str, Any]):
    """The parameters of a network by name, as ``torch.nn.Sequential`` names them.

    Reading gives a view of the network's memory. Assign an array to set a parameter, or write into the view: what is
    written is checked and takes effect at once.

    Examples
    --------
    >>> import lockstep as ls
    >>> net = ls.Network(2, [ls.Linear(3)], seed=1)
    >>> list(net.weights), net.weights["0.weight"].shape
    (['0.weight', '0.bias'], (3, 2))
    >>> net.weights["0.bias"] = [1.0, 2.0, 3.0]
    >>> net.weights["0.bias"] -= 0.5
    >>> net.weights["0.bias"][0] = 7.0
    >>> net.weights["0.bias"].tolist()
    [7.0, 1.5, 2.5]
    """

    def __init__(self, net: Any) -> None:
        self._net = net

    def __getitem__(self, name: str) -> Any:
        if name not in self._net.weight_names():
            raise KeyError(name)
        from lockstep._parameter import parameter
        return parameter(self._net, name)

    def __setitem__(self, name: str, values: Any) -> None:
        import numpy as np
        self._net.set_weight(name, np.ascontiguousarray(as_array(values, f'weights["{name}"]')))

    def __delitem__(self, name: str) -> None:
        raise Error("weights cannot be removed: they belong to the layers", "usage")

    def __iter__(self) -> Iterator[str]:
        return iter(self._net.weight_names())

    def __len__(self) -> int:
        return len(self._net.weight_names())

    def __repr__(self) -> str:
        return "Weights(" + ", ".join(f"{name}: {list(self[name].shape)}" for name in self) + ")"


def _input_config(shape: Any) -> Any:
    if isinstance(shape, (str, dict)) or not hasattr(shape, "__iter__"):
        return shape
    return [extent if isinstance(extent, int) else getattr(extent, "item", lambda each=extent: each)()
            for extent in shape]


def _layer_configs(layers: Any) -> list[Any]:
    if isinstance(layers, (Layer, str, dict)) or not hasattr(layers, "__iter__"):
        raise Error(f"Network: a list of layers was expected, not {layers!r:.60}")
    return [_layer_config(layer) for layer in layers]


def _layer_config(layer: Any) -> Any:
    if isinstance(layer, type) and issubclass(layer, Layer):
        raise Error(f"Network: write {layer.__name__}(...), an object, not the class", "usage")
    if isinstance(layer, (Layer, str, dict)):
        return config_of(layer)
    raise Error(f"Network: {type(layer).__name__} is no layer of Lockstep; layers written in Python are not supported; "
                "lockstep.layers() lists what there is", "usage")


class Network:
    """A network: the shape of its input, its layers, its weights.

    Parameters
    ----------
    input : int or tuple of int
        The shape of one sample: ``784``, ``(1, 28, 28)``.
    layers : sequence of Layer
        From the input to the output.
    precision : {"float32", "float64"}
        Of weights and arithmetic.
    init : Init or str, optional
        How weights are drawn where a layer does not say; default ``xavier-uniform``.
    seed : int, optional
        Draws the initial weights. Without it the seed of the first `fit` does, as in a configuration.

    Examples
    --------
    >>> import lockstep as ls
    >>> net = ls.Network((1, 8, 8), [ls.Conv2d(4, 3), ls.ReLU(), ls.Flatten(), ls.Linear(10)])
    >>> net.input_shape, net.outputs, net.parameters
    ((1, 8, 8), 10, 1490)
    """

    def __init__(self, input: int | tuple[int, ...], layers: list[Any] | tuple[Any, ...], *, precision: str = "float32",
                 init: Any = None, seed: int | None = None) -> None:
        model = {"input": _input_config(input), "layers": _layer_configs(layers), "precision": precision,
                 "init": config_of(init)}
        self._net = _core.make_net(model, None if seed is None else whole_number(seed, "Network: seed"))
        self.last_run: Run | None = None

    @classmethod
    def _of(cls, net: Any) -> "Network":
        made = cls.__new__(cls)
        made._net = net
        made.last_run = None
        return made

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Network":
        """A network from a model file or checkpoint (``.safetensors``) of `save`, of `train` or of the program."""
        return cls._of(_core.load_net(os.fspath(path)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a model file (``.safetensors``) that `load` and every command of the program read."""
        if not os.fspath(path).endswith(".safetensors"):
            raise Error(f"save: {os.fspath(path)}: model files end in .safetensors; export writes .onnx, .npz and .mat")
        self._net.save(os.fspath(path))

    def export(self, path: str | os.PathLike[str]) -> None:
        """Writes the network for other programs: ``.onnx``, ``.safetensors``, ``.npz`` or ``.mat``."""
        self._net.export(os.fspath(path))

    # Facts

    @property
    def input_shape(self) -> tuple[int, ...]:
        """The shape of one sample."""
        return tuple(self._net.input)

    @property
    def outputs(self) -> int:
        """How many numbers the network answers with."""
        return self._net.outputs

    @property
    def parameters(self) -> int:
        """How many numbers are trained."""
        return self._net.parameters

    @property
    def precision(self) -> str:
        """``float32`` or ``float64``."""
        return self._net.precision

    @property
    def weights(self) -> Weights:
        """The parameters by name."""
        return Weights(self._net)

    @property
    def weight_hash(self) -> str:
        """SHA-256 over all weights: two networks trained alike have the same."""
        return self._net.weight_hash

    @property
    def class_names(self) -> list[str]:
        """The names of the classes, where the model knows them."""
        return list(self._net.class_names)

    @class_names.setter
    def class_names(self, names: list[str]) -> None:
        wanted = max(self.outputs, 2)
        if isinstance(names, str) or len(names) != wanted:
            raise Error(f"class_names: a list of {wanted} names was expected, one per class")
        self._net.class_names = [str(name) for name in names]

    def summary(self) -> list[dict[str, Any]]:
        """A record per layer: path, type, shapes, parameters, cost."""
        return list(self._net.summary())

    def reset(self, seed: int = 1) -> None:
        """Draws all weights anew; the next `fit` is a new training."""
        self._net.reset(whole_number(seed, "reset: seed"))

    # Training

    def _samples(self, x: Any, y: Any, loss: str | None, name: str = "", weight: Any = None) -> Any:
        if isinstance(x, _core.Samples):
            if y is not None or weight is not None:
                raise Error("Samples of load_data bring their targets and weights: leave y and sample_weight out")
            return x
        if y is None:
            x, y = pairs_of(x, name, self.input_shape)
        if weight is not None:
            weight = as_array(weight, "sample_weight")
        return self._net.samples(as_array(x, f"x{name}"), as_array(y, f"y{name}"), weight, loss, name)

    def _by_class(self, weights: Any) -> Any:
        """Weights of a dict by class as a list; those that it does not name are 1."""
        if not isinstance(weights, Mapping):
            return weights
        count = max(self.outputs, 2)
        for key in weights:
            if key not in range(count):
                raise Error(f"class_weights: {key!r:.60} is no class; there are 0 to {count - 1}")
        return [weights.get(index, 1.0) for index in range(count)]

    def fit(self, x: Any, y: Any = None, *, sample_weight: Any = None, validation: Any = None, backend: str = "simd",
            threads: int = 0, comm: Any = None, on_step: Callable[[dict[str, Any]], Any] | None = None,
            on_epoch: Callable[[dict[str, Any]], Any] | None = None, profile: bool = False,
            resume: bool | None = None, verbose: bool | None = None, **options: Any) -> Run:
        group = communicator(comm)
        if "class_weights" in options:
            options["class_weights"] = self._by_class(options["class_weights"])
        wanted = _train_options(options, "fit")
        loss = text(wanted.get("loss", "cross-entropy"), "fit: loss")
        threads = whole_number(threads, "fit: threads")
        for name, callback in (("on_step", on_step), ("on_epoch", on_epoch)):
            if callback is not None and not callable(callback):
                raise Error(f"fit: {name}: a function was expected, not {callback!r:.60}")
        data = self._samples(x, y, loss, weight=sample_weight)
        self._net.check_training(data)
        held_out = None
        if validation is not None:
            is_pair = isinstance(validation, (tuple, list)) and len(validation) == 2
            if not is_pair and (isinstance(validation, (tuple, float, int)) or hasattr(validation, "shape") and
                                not isinstance(validation, _core.Samples)):
                raise Error("fit: validation: (x, y), Samples of load_data or a data set of pairs was expected, not "
                            f"{type(validation).__name__}")
            pair = validation if is_pair else (validation, None)
            held_out = self._samples(*pair, loss, "_validation")
        progress = Progress(wanted.get("epochs", 1)) if is_wanted(verbose, comm) else None
        metrics: list[dict[str, Any]] = []

        def epoch(record: dict[str, Any]) -> bool:
            metrics.append(record)
            if progress is not None:
                progress.epoch(record)
            return on_epoch is not None and is_true(on_epoch(record))

        result: dict[str, Any] = {}
        try:
            result = self._net.fit(data, held_out, wanted, text(backend, "fit: backend"), threads, group, on_step, epoch,
                                   progress.step if progress is not None else None, profile, resume)
        finally:
            if progress is not None:
                progress.close()
            self.last_run = Run(metrics, metrics[-1]["weight_hash"] if metrics and result and not result["stopped"]
                                else self._net.weight_hash, stopped=not result or result["stopped"],
                                profile=result.get("profile"))
        return self.last_run

    def evaluate(self, x: Any, y: Any = None, *, loss: str | None = None, backend: str = "simd",
                 threads: int = 0) -> Scores:
        """Loss and accuracy of the present weights.

        Parameters
        ----------
        x, y
            As in `fit`.
        loss : str, optional
            Default: that of training, or ``cross-entropy``.
        """
        chosen = loss or self._net.loss or "cross-entropy"
        scores = self._net.evaluate(self._samples(x, y, chosen), {"loss": chosen}, text(backend, "evaluate: backend"),
                                    whole_number(threads, "evaluate: threads"))
        return Scores(scores["samples"], scores["loss"], scores.get("accuracy"))

    def gradient(self, x: Any, y: Any = None, *, sample_weight: Any = None, class_weights: Any = None,
                 loss: str | None = None, reduction: str = "mean", l2: float = 0.0, backend: str = "simd",
                 threads: int = 0) -> dict[str, Any]:
        """The gradient of the loss over all given samples, by parameter: to compare your own back-propagation with.
        Options as in `fit`.

        Examples
        --------
        >>> import numpy as np
        >>> import lockstep as ls
        >>> net = ls.Network(2, [ls.Linear(1)], seed=1, precision="float64")
        >>> x, y = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0], [0.0]])
        >>> error = x @ net.weights["0.weight"].T + net.weights["0.bias"] - y
        >>> gradient = net.gradient(x, y, loss="squared-error")
        >>> np.allclose(gradient["0.weight"], error.T @ x / 2), np.allclose(gradient["0.bias"], error.mean(0))
        (True, True)
        """
        chosen = loss or self._net.loss or "cross-entropy"
        options = _train_options({"loss": chosen, "reduction": reduction, "l2": float(l2), "batch": "full",
                                  "class_weights": self._by_class(class_weights)}, "gradient")
        return dict(self._net.gradient(self._samples(x, y, chosen, weight=sample_weight), options,
                                       text(backend, "gradient: backend"), whole_number(threads, "gradient: threads")))

    # Use

    def predict(self, x: Any, *, backend: str = "simd", threads: int = 0) -> Any:
        """The outputs for every sample, ``[samples, outputs]``, in the network's precision. A network that was trained
        with cross-entropy and ends in `Linear` gives logits; `predict_proba` gives probabilities."""
        outputs = self._net.predict_fast(x, backend, threads)
        if outputs is not None:
            return outputs
        return self._net.predict(self._inputs(x), backend, threads)

    def _inputs(self, x: Any) -> Any:
        return x if isinstance(x, _core.Samples) else self._net.samples(as_array(x, "x"), None, None, None, "")

    def predict_proba(self, x: Any, *, backend: str = "simd", threads: int = 0) -> Any:
        """The probability of every class, ``[samples, classes]``, in float64: the softmax of the outputs
        (cross-entropy) or the sigmoid of each (binary cross-entropy)."""
        if self._net.loss not in ("cross-entropy", "binary-cross-entropy"):
            raise Error("predict_proba: only a network that was trained with a cross-entropy has probabilities; "
                        "predict gives the outputs", "usage")
        return self._net.answers(self._inputs(x), backend, threads)[0]

    def predict_classes(self, x: Any, *, backend: str = "simd", threads: int = 0) -> Any:
        """The most likely class of every sample, ``[samples]``; the first of equal ones."""
        return self._net.answers(self._inputs(x), backend, threads)[1].ravel()

    def __repr__(self) -> str:
        kinds = ", ".join(row["type"] for row in self.summary())
        return f"Network({self.input_shape}, [{kinds}], {self.parameters:,} parameters)"

    def _repr_html_(self) -> str:
        from lockstep import _html
        return _html.network(self.summary(), self.parameters, self.precision, self.weight_hash)

    def __getstate__(self) -> dict[str, Any]:
        return {"model": self._net.bytes()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._net = _core.net_from_bytes(state["model"])
        self.last_run = None


def is_true(answer: Any) -> bool:
    """True of Python or NumPy; no other answer of a callback stops a training."""
    return answer is True or (type(answer).__name__ in ("bool", "bool_") and bool(answer))


# What other libraries call it.
_ALIASES = {"lr": "optimizer=ls.Adam(lr)", "learning_rate": "optimizer=ls.Adam(lr)", "batch_size": "batch",
            "validation_data": "validation", "weight_decay": "l2", "callbacks": "on_step and on_epoch",
            "n_jobs": "threads", "class_weight": "class_weights", "sample_weights": "sample_weight", "random_state": "seed", "max_iter": "epochs", "device": "backend"}
_TRAIN_KEYS = [field["name"] for field in described["train"]]


def _train_options(options: dict[str, Any], what: str) -> dict[str, Any]:
    import numbers
    for key, value in options.items():
        if key not in _TRAIN_KEYS:
            import difflib
            known = [*_TRAIN_KEYS, "validation", "backend", "threads", "comm", "verbose"]
            near = [_ALIASES[key]] if key in _ALIASES else difflib.get_close_matches(key, known, 1)
            hint = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(known)}"
            raise TypeError(f"{what}() has no option {key!r}{hint}")
        if callable(value) and not isinstance(value, numbers.Number):
            raise Error(f"{what}: {key}: functions and classes written in Python are not supported; give a name or an "
                        "object of lockstep, as ls.Adam()", "usage")
    return {key: config_of(value) for key, value in options.items() if value is not None}


Network.fit.__doc__ = f"""Trains the network.

The weights afterwards are a function of the initial weights, the data and the options below `validation`; `backend`,
`threads` and the number of ranks change the time only. A second call with the same options continues the training where
it stands, also in the middle of an epoch that Ctrl-C or a callback has ended; other options start a new one from the
present weights.

Parameters
----------
x : array
    The samples, ``[samples, ...]``, in C order: float32, float64, whole numbers, or bytes, which are pictures from 0 to
    255 and become fractions of white. Arrays are read where they lie. Lists, frames of pandas, sequences and iterables
    are converted. Or `Samples` of `load_data`; or, without `y`, any object that holds pairs.
y : array, optional
    Classes from 0 (cross-entropy), or numbers, one row per sample.
sample_weight : array, optional
    How much each sample counts, one number from 0 per sample. Losses and gradients are multiplied by it, and the mean
    over a batch is divided by the sum of its weights. `class_weights` below gives weights by class.
validation : (x, y) or Samples, optional
    Scored after every epoch; every sample counts once.
backend : str, default "simd"
    One of `backends`.
threads : int, default 0
    0: ``OMP_NUM_THREADS``, else as many as there are processors.
comm : mpi4py.MPI.Comm, optional
    The ranks that train together; all of them call `fit`. Default: all that ``mpirun`` or ``srun`` started.
    ``MPI.COMM_SELF``: every rank trains alone.
on_step, on_epoch : callable, optional
    Get a dict after every step and epoch. Training stops when one returns ``True`` or raises. They may read, save and
    evaluate the network, not change it. Under `mpirun` all ranks pass the same callbacks.
profile : bool, default False
    Measures where the time goes: `Run.profile`.
resume : bool, optional
    ``False``: start anew from the present weights. ``True``: refuse to.
verbose : bool, optional
    Progress on stderr; default: unless `quiet` was called.
{option_lines(described["train"])}

Returns
-------
Run
    The metrics of every epoch.

Examples
--------
>>> import lockstep as ls
>>> data = ls.load_data("moons", count=300)
>>> net = ls.Network(2, [ls.Linear(8), ls.Tanh(), ls.Linear(2)])
>>> run = net.fit(data.train, optimizer=ls.Adam(0.02), epochs=3, seed=7, threads=2, verbose=False)
>>> other = ls.Network(2, [ls.Linear(8), ls.Tanh(), ls.Linear(2)])
>>> again = other.fit(data.train, optimizer=ls.Adam(0.02), epochs=3, seed=7, threads=1, verbose=False)
>>> net.weight_hash == other.weight_hash
True
"""
