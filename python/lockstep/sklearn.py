"""Estimators for scikit-learn: pipelines, grid searches and cross-validation with networks that have the same weights
on every machine and for every ``n_jobs``.

`MLPClassifier` and `MLPRegressor` take the parameters of scikit-learn's own classes of these names; `NetworkClassifier`
and `NetworkRegressor` take any list of layers. Sample and class weights are not supported: the engine has no weighted
loss.

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

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

import lockstep as ls

__all__ = ["MLPClassifier", "MLPRegressor", "NetworkClassifier", "NetworkRegressor"]

_ACTIVATIONS = {"identity": None, "logistic": "Sigmoid", "tanh": "Tanh", "relu": "ReLU"}


class _NetworkEstimator(BaseEstimator):
    """What all four share: data in, a network, the loop over epochs with early stopping."""

    def _hidden(self) -> list[Any]:
        raise NotImplementedError

    def _training(self, batch: int) -> dict[str, Any]:
        raise NotImplementedError

    def _encode(self, y: Any) -> Any:
        raise NotImplementedError

    def _loss(self) -> str:
        raise NotImplementedError

    def _score_of(self, x: Any, y: Any) -> float:
        raise NotImplementedError

    # The number of threads changes the time, never the weights.
    def _threads(self) -> int:
        if self.n_jobs is None:
            return 1
        return 0 if self.n_jobs < 0 else int(self.n_jobs)

    def _seed(self) -> int:
        if isinstance(self.random_state, (int, np.integer)) and self.random_state >= 0:
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _batch(self, samples: int) -> int:
        if isinstance(self.batch_size, str):
            if self.batch_size != "auto":
                raise ValueError(f"batch_size must be 'auto' or a whole number, not {self.batch_size!r}")
            return min(200, samples)
        if self.batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, not {self.batch_size}")
        return min(int(self.batch_size), samples)

    def _input_shape(self) -> int | tuple[int, ...]:
        shape = getattr(self, "input_shape", None)
        return self.n_features_in_ if shape is None else tuple(shape)

    def _build(self, samples: int) -> None:
        self._batch_ = self._batch(samples)
        self._seed_ = self._seed()
        output = ls.Linear(self.n_outputs_)  # type: ignore[attr-defined]
        self.network_ = ls.Network(self._input_shape(), [*self._hidden(), output],
                                   precision=self.precision, seed=self._seed_)
        self.loss_curve_: list[float] = []
        self.n_iter_ = 0

    def _shaped(self, x: Any) -> Any:
        shape = self._input_shape()
        return x.reshape(len(x), *shape) if isinstance(shape, tuple) else x

    def _run(self, x: Any, y: Any, epochs: int, on_epoch: Any) -> None:
        self.network_.fit(self._shaped(x), y, loss=self._loss(), batch=self._batch_, epochs=epochs, seed=self._seed_,
                          threads=self._threads(), shuffle=bool(self.shuffle), on_epoch=on_epoch,
                          verbose=bool(self.verbose), **self._training(self._batch_))
        self.weight_hash_ = self.network_.weight_hash

    def fit(self, X: Any, y: Any) -> Any:
        """Trains the network until `max_iter` epochs are done, or the loss (with `early_stopping` the score of held-out
        samples) has not improved by `tol` for `n_iter_no_change` epochs."""
        if not isinstance(self.max_iter, (int, np.integer)) or self.max_iter < 1:
            raise ValueError(f"max_iter must be a whole number from 1, not {self.max_iter!r}")
        X, targets = self._checked(X, y, first=not (self.warm_start and hasattr(self, "network_")))
        held_out = None
        if self.early_stopping:
            stratify = targets if self._loss() == "cross-entropy" else None
            X, kept_x, targets, kept_y = train_test_split(X, targets, test_size=self.validation_fraction,
                                                          random_state=self._seed(), stratify=stratify)
            X, held_out = np.ascontiguousarray(X), (np.ascontiguousarray(kept_x), kept_y)
        if not (self.warm_start and hasattr(self, "network_")):
            self._build(len(X))
        self.validation_scores_ = [] if held_out else None
        best = {"value": np.inf, "epochs": 0, "weights": None}

        def epoch(record: dict[str, Any]) -> bool:
            self.n_iter_ += 1
            self.loss_curve_.append(record["loss"] + record.get("penalty", 0.0))
            value = self.loss_curve_[-1]
            if held_out:
                value = -self._score_of(*held_out)
                self.validation_scores_.append(-value)
            improved = value < best["value"] - (self.tol if np.isfinite(best["value"]) else 0.0)
            best["epochs"] = 0 if improved else best["epochs"] + 1
            if value < best["value"]:
                best["value"] = value
                if held_out:
                    best["weights"] = {name: array.copy() for name, array in self.network_.weights.items()}
            return best["epochs"] > self.n_iter_no_change

        self._run(X, targets, int(self.max_iter), epoch)
        if best["epochs"] <= self.n_iter_no_change and self.n_iter_ >= self.max_iter and self.tol > 0:
            warnings.warn(f"Lockstep: max_iter = {self.max_iter} epochs are done and the loss still improves",
                          ConvergenceWarning, stacklevel=2)
        if best["weights"] is not None:
            for name, array in best["weights"].items():
                self.network_.weights[name] = array
        self.loss_ = self.loss_curve_[-1]
        self.best_loss_ = None if held_out else min(self.loss_curve_)
        self.best_validation_score_ = -best["value"] if held_out else None
        self.weight_hash_ = self.network_.weight_hash
        return self

    def _partial_fit(self, X: Any, y: Any, first: bool) -> Any:
        X, targets = self._checked(X, y, first=first)
        if first:
            self._build(len(X))

        def epoch(record: dict[str, Any]) -> bool:
            self.n_iter_ += 1
            self.loss_curve_.append(record["loss"] + record.get("penalty", 0.0))
            return False

        self._run(X, targets, 1, epoch)
        self.loss_ = self.loss_curve_[-1]
        return self

    def _checked(self, X: Any, y: Any, first: bool) -> tuple[Any, Any]:
        X, y = validate_data(self, X, y, reset=first, dtype=[np.float64, np.float32], order="C",
                             multi_output=self._loss() != "cross-entropy", y_numeric=self._loss() != "cross-entropy")
        return X, self._encode(y)

    def _inputs(self, X: Any) -> Any:
        check_is_fitted(self)
        return self._shaped(validate_data(self, X, reset=False, dtype=[np.float64, np.float32], order="C"))

    @property
    def coefs_(self) -> list[Any]:
        """The weight matrices of the linear layers, ``[in, out]``, as scikit-learn has them."""
        check_is_fitted(self)
        return [w.T for name, w in self.network_.weights.items() if name.endswith(".weight") and w.ndim == 2]

    @property
    def intercepts_(self) -> list[Any]:
        """Their biases."""
        check_is_fitted(self)
        matrices = {name.rsplit(".", 1)[0] for name, w in self.network_.weights.items()
                    if name.endswith(".weight") and w.ndim == 2}
        return [b for name, b in self.network_.weights.items()
                if name.endswith(".bias") and name.rsplit(".", 1)[0] in matrices]


class _Classifier(ClassifierMixin, _NetworkEstimator):
    def _loss(self) -> str:
        return "cross-entropy"

    def _score_of(self, x: Any, y: Any) -> float:
        return float(accuracy_score(y, self.network_.predict_classes(self._shaped(x), threads=1)))

    def _encode(self, y: Any) -> Any:
        check_classification_targets(y)
        if type_of_target(y) == "multilabel-indicator":
            raise ValueError("several labels per sample (multilabel-indicator) are not supported; one class is")
        y = np.ravel(y)
        if not hasattr(self, "classes_") or self._fresh:
            self.classes_ = np.unique(y)
            if len(self.classes_) < 2:
                raise ValueError(f"{type(self).__name__} needs samples of at least 2 classes; the data have 1 class")
            self.n_outputs_ = len(self.classes_)
        places = np.searchsorted(self.classes_, y)
        places[places == len(self.classes_)] = 0
        if not np.array_equal(self.classes_[places], y):
            raise ValueError("y holds classes that the first call did not name; give all of them in `classes`")
        return places.astype(np.int64)

    @property
    def _fresh(self) -> bool:
        return not getattr(self, "_classes_are_set", False)

    def fit(self, X: Any, y: Any) -> Any:
        self._classes_are_set = bool(self.warm_start and hasattr(self, "network_"))
        return super().fit(X, y)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Any:
        """One epoch on these samples. The first call needs all `classes` if its samples do not have them all."""
        first = not hasattr(self, "network_")
        if first and classes is not None:
            self.classes_ = np.unique(classes)
            self.n_outputs_ = len(self.classes_)
        if first and classes is None:
            self.classes_ = np.unique(np.ravel(y))
            self.n_outputs_ = len(self.classes_)
        self._classes_are_set = True
        return self._partial_fit(X, y, first)

    def predict_proba(self, X: Any) -> Any:
        """The probability of every class, in the order of `classes_`."""
        inputs = self._inputs(X)
        return self.network_.predict_proba(inputs, threads=self._threads())

    def predict_log_proba(self, X: Any) -> Any:
        """Its logarithm."""
        return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> Any:
        """The most likely class."""
        inputs = self._inputs(X)
        return self.classes_[self.network_.predict_classes(inputs, threads=self._threads())]

    @property
    def out_activation_(self) -> str:
        """Of the output layer."""
        return "softmax"


class _Regressor(RegressorMixin, _NetworkEstimator):
    def _loss(self) -> str:
        return "squared-error"

    def _score_of(self, x: Any, y: Any) -> float:
        return float(r2_score(y, self.network_.predict(np.asarray(self._shaped(x)), threads=1)))

    def _encode(self, y: Any) -> Any:
        y = np.asarray(y, dtype=np.float64)
        self._one_column = y.ndim == 1
        y = np.ascontiguousarray(y.reshape(len(y), -1))
        self.n_outputs_ = y.shape[1]
        return y

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def partial_fit(self, X: Any, y: Any) -> Any:
        """One epoch on these samples."""
        return self._partial_fit(X, y, not hasattr(self, "network_"))

    def predict(self, X: Any) -> Any:
        """The outputs: one number per sample, or one row where the targets had several."""
        inputs = self._inputs(X)
        outputs = self.network_.predict(inputs, threads=self._threads()).astype(inputs.dtype)
        return outputs.ravel() if self._one_column else outputs

    @property
    def out_activation_(self) -> str:
        """Of the output layer."""
        return "identity"


class _Mlp(_NetworkEstimator):
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


class MLPClassifier(_Classifier, _Mlp):
    """scikit-learn's `MLPClassifier` on the engine of Lockstep.

    The parameters are scikit-learn's, with its defaults; `n_jobs` is the number of threads (None: 1, -1: all) and
    changes the time only. Not supported: ``solver="lbfgs"``, the learning rates ``invscaling`` and ``adaptive``,
    several labels per sample, sample weights. Initial weights, order of the samples and so the trained weights are
    Lockstep's own: the same on every machine, not those of scikit-learn.

    Attributes
    ----------
    classes_, loss_, loss_curve_, n_iter_, coefs_, intercepts_
        As in scikit-learn.
    network_ : lockstep.Network
        The trained network.
    weight_hash_ : str
        The same for every `n_jobs` and every machine.
    """


class MLPRegressor(_Regressor, _Mlp):
    """scikit-learn's `MLPRegressor` on the engine of Lockstep; see `MLPClassifier`."""


class _AnyNetwork(_NetworkEstimator):
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


class NetworkClassifier(_Classifier, _AnyNetwork):
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
n_iter_no_change, n_jobs
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


class NetworkRegressor(_Regressor, _AnyNetwork):
    """A regressor with any layers of Lockstep; see `NetworkClassifier`. The output layer has one output per target."""
