"""Estimators for scikit-learn: pipelines, grid searches and cross-validation with networks that have the same weights
on every machine and for every ``n_jobs``.

`MLPClassifier` and `MLPRegressor` take the parameters of scikit-learn's own classes of these names; `NetworkClassifier`
and `NetworkRegressor` take any list of layers. All of them take sample weights, classifiers class weights too.

Examples
--------
>>> from sklearn.datasets import make_moons
>>> from lockstep.sklearn import MLPClassifier
>>> x, y = make_moons(300, noise=0.1, random_state=0)
>>> model = MLPClassifier((32,), learning_rate_init=0.02, max_iter=60, tol=0.0, random_state=1, n_jobs=2).fit(x, y)
>>> model.score(x, y) > 0.9
True
>>> same = MLPClassifier((32,), learning_rate_init=0.02, max_iter=60, tol=0.0, random_state=1, n_jobs=1).fit(x, y)
>>> model.weight_hash_ == same.weight_hash_
True
"""
from __future__ import annotations

import functools
import inspect
from typing import Any, Callable

import numpy as np

import lockstep as ls
from lockstep._estimator import Classifier, NetworkEstimator, Regressor

__all__ = ["MLPClassifier", "MLPRegressor", "NetworkClassifier", "NetworkRegressor"]

_ACTIVATIONS = {"identity": None, "logistic": "Sigmoid", "tanh": "Tanh", "relu": "ReLU"}


def _with_class_weight(init: Callable[..., None]) -> Callable[..., None]:
    """The constructor of a classifier: `init` with one parameter more."""
    @functools.wraps(init)
    def made(self: Any, *arguments: Any, class_weight: Any = None, **options: Any) -> None:
        init(self, *arguments, **options)
        self.class_weight = class_weight

    own = inspect.signature(init)
    more = inspect.Parameter("class_weight", inspect.Parameter.KEYWORD_ONLY, default=None)
    made.__signature__ = own.replace(parameters=[*own.parameters.values(), more])  # type: ignore[attr-defined]
    return made


class _Mlp(NetworkEstimator):
    def __init__(self, hidden_layer_sizes: Any = (100,), activation: str = "relu", *, solver: str = "adam",
                 alpha: float = 0.0001, batch_size: Any = "auto", learning_rate: str = "constant",
                 learning_rate_init: float = 0.001, power_t: float = 0.5, max_iter: int = 200, shuffle: bool = True,
                 random_state: Any = None, tol: float = 1e-4, verbose: bool = False, warm_start: bool = False,
                 momentum: float = 0.9, nesterovs_momentum: bool = True, early_stopping: bool = False,
                 validation_fraction: float = 0.1, beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-8,
                 n_iter_no_change: int = 10, max_fun: int = 15000, n_jobs: int | None = None,
                 precision: str = "float32") -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.solver = solver
        self.alpha = alpha
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.learning_rate_init = learning_rate_init
        self.power_t = power_t
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.tol = tol
        self.verbose = verbose
        self.warm_start = warm_start
        self.momentum = momentum
        self.nesterovs_momentum = nesterovs_momentum
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.n_iter_no_change = n_iter_no_change
        self.max_fun = max_fun
        self.n_jobs = n_jobs
        self.precision = precision

    def _hidden(self) -> list[Any]:
        if self.activation not in _ACTIVATIONS:
            raise ValueError(f"activation must be one of {', '.join(_ACTIVATIONS)}, not {self.activation!r}")
        name = _ACTIVATIONS[self.activation]
        layers: list[Any] = []
        for size in np.atleast_1d(np.asarray(self.hidden_layer_sizes, dtype=np.int64)).tolist():
            layers.append(ls.Linear(size))  # type: ignore[attr-defined]
            if name is not None:
                layers.append(getattr(ls, name)())
        return layers

    def _training(self, batch: int) -> dict[str, Any]:
        rate = float(self.learning_rate_init)
        if self.solver == "adam":
            optimizer = ls.Adam(rate, self.beta_1, self.beta_2, self.epsilon)  # type: ignore[attr-defined]
        elif self.solver == "sgd":
            if self.learning_rate != "constant":
                raise ValueError(f"learning_rate = {self.learning_rate!r} is not supported; 'constant' is, and "
                                 "NetworkClassifier takes any schedule of Lockstep")
            if self.momentum == 0:
                optimizer = ls.SGD(rate)  # type: ignore[attr-defined]
            else:
                kind = ls.Nesterov if self.nesterovs_momentum else ls.Momentum  # type: ignore[attr-defined]
                optimizer = kind(rate, self.momentum)
        else:
            raise ValueError(f"solver = {self.solver!r} is not supported; 'adam' and 'sgd' are")
        # scikit-learn divides the penalty by the samples of a batch.
        return {"optimizer": optimizer, "l2": float(self.alpha) / batch}

    @property
    def n_layers_(self) -> int:
        """Input and output counted."""
        return len(self.coefs_) + 1


class MLPClassifier(Classifier, _Mlp):
    """scikit-learn's `MLPClassifier` on the engine of Lockstep.

    The parameters are scikit-learn's, with its defaults, and three more: `n_jobs`, the number of threads (None: 1, -1:
    all), which changes the time only; `class_weight`, ``"balanced"`` or a dict by class; `precision`. Not supported: ``solver="lbfgs"``, the learning rates ``invscaling`` and ``adaptive``,
    several labels per sample. Initial weights, order of the samples and so the trained weights are
    Lockstep's own: the same on every machine, not those of scikit-learn.

    Attributes
    ----------
    classes_, loss_, loss_curve_, n_iter_, coefs_, intercepts_
        As in scikit-learn.
    network_ : lockstep.Network
        The trained network.
    weight_hash_ : str
        The same for every `n_jobs` and every machine.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from lockstep.sklearn import MLPClassifier
    >>> x, y = make_blobs([500, 25], cluster_std=3.0, random_state=0)
    >>> plain, fair = (MLPClassifier((8,), class_weight=weight, max_iter=30, tol=0.0, random_state=1).fit(x, y)
    ...                for weight in (None, "balanced"))
    >>> (fair.predict(x)[y == 1] == 1).mean() > (plain.predict(x)[y == 1] == 1).mean()
    np.True_
    """

    __init__ = _with_class_weight(_Mlp.__init__)


class MLPRegressor(Regressor, _Mlp):
    """scikit-learn's `MLPRegressor` on the engine of Lockstep; see `MLPClassifier`."""


class _AnyNetwork(NetworkEstimator):
    def __init__(self, layers: Any = None, *, input_shape: Any = None, optimizer: Any = None, schedule: Any = None,
                 l2: float = 0.0, clip_norm: float = 0.0, batch_size: Any = "auto", max_iter: int = 200,
                 shuffle: bool = True, random_state: Any = None, tol: float = 1e-4, verbose: bool = False,
                 warm_start: bool = False, early_stopping: bool = False, validation_fraction: float = 0.1,
                 n_iter_no_change: int = 10, n_jobs: int | None = None, precision: str = "float32") -> None:
        self.layers = layers
        self.input_shape = input_shape
        self.optimizer = optimizer
        self.schedule = schedule
        self.l2 = l2
        self.clip_norm = clip_norm
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.tol = tol
        self.verbose = verbose
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.n_jobs = n_jobs
        self.precision = precision

    def _hidden(self) -> list[Any]:
        return [ls.Linear(100), ls.ReLU()] if self.layers is None else list(self.layers)  # type: ignore[attr-defined]

    def _training(self, batch: int) -> dict[str, Any]:
        return {"optimizer": self.optimizer, "schedule": self.schedule, "l2": float(self.l2),
                "clip_norm": float(self.clip_norm)}


class NetworkClassifier(Classifier, _AnyNetwork):
    """A classifier with any layers of Lockstep.

    Parameters
    ----------
    layers : list of lockstep.Layer, optional
        All but the last: the output layer, `Linear` with one output per class, is added. Default: `Linear(100)`,
        `ReLU()`.
    input_shape : tuple of int, optional
        The shape of one sample, where rows of `X` are pictures: ``(1, 28, 28)``. Default: a row of features.
    optimizer, schedule, l2, clip_norm
        As in `lockstep.Network.fit`.
    batch_size, max_iter, shuffle, random_state, tol, verbose, warm_start, early_stopping, validation_fraction, \
n_iter_no_change, n_jobs, class_weight
        As in `MLPClassifier`.

    Examples
    --------
    >>> import lockstep as ls
    >>> from sklearn.datasets import load_digits
    >>> from lockstep.sklearn import NetworkClassifier
    >>> x, y = load_digits(return_X_y=True)
    >>> model = NetworkClassifier([ls.Conv2d(8, 3, pad=1), ls.ReLU(), ls.MaxPool2d(2), ls.Flatten()],
    ...                           input_shape=(1, 8, 8), optimizer=ls.Adam(0.01), max_iter=15, tol=0.0,
    ...                           random_state=1)
    >>> model.fit(x / 16, y).score(x / 16, y) > 0.9
    True
    """

    __init__ = _with_class_weight(_AnyNetwork.__init__)


class NetworkRegressor(Regressor, _AnyNetwork):
    """A regressor with any layers of Lockstep; see `NetworkClassifier`. The output layer has one output per target."""
