"""What the estimators of lockstep.sklearn share: data in, a network, the loop over epochs with early stopping."""
from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

import lockstep as ls


class NetworkEstimator(BaseEstimator):
    """The base of all four."""

    def _hidden(self) -> list[Any]:
        raise NotImplementedError

    def _training(self, batch: int) -> dict[str, Any]:
        raise NotImplementedError

    def _encode(self, y: Any) -> Any:
        raise NotImplementedError

    def _loss(self) -> str:
        raise NotImplementedError

    def _score_of(self, x: Any, y: Any, weight: Any) -> float:
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

    def _run(self, x: Any, y: Any, weight: Any, epochs: int, on_epoch: Any) -> None:
        self.network_.fit(self._shaped(x), y, sample_weight=weight, class_weights=self._class_weights(),
                          loss=self._loss(), batch=self._batch_, epochs=epochs, seed=self._seed_,
                          threads=self._threads(), shuffle=bool(self.shuffle), on_epoch=on_epoch,
                          verbose=bool(self.verbose), **self._training(self._batch_))
        self.weight_hash_ = self.network_.weight_hash

    def _class_weights(self) -> Any:
        """As `Network.fit` takes them."""
        return None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Trains the network until `max_iter` epochs are done, or the loss (with `early_stopping` the score of held-out
        samples) has not improved by `tol` for `n_iter_no_change` epochs. `sample_weight`: how much each sample counts;
        the mean over a batch is divided by the sum of its weights, as scikit-learn's own networks do it."""
        if not isinstance(self.max_iter, (int, np.integer)) or self.max_iter < 1:
            raise ValueError(f"max_iter must be a whole number from 1, not {self.max_iter!r}")
        X, targets, weight = self._checked(X, y, sample_weight,
                                           first=not (self.warm_start and hasattr(self, "network_")))
        held_out = None
        if self.early_stopping:
            stratify = targets if self._loss() == "cross-entropy" else None
            parts = train_test_split(X, targets, *([] if weight is None else [weight]), stratify=stratify,
                                     test_size=self.validation_fraction, random_state=self._seed())
            X, kept_x, targets, kept_y = parts[:4]
            weight, kept_weight = parts[4:] if weight is not None else (None, None)
            X, held_out = np.ascontiguousarray(X), (np.ascontiguousarray(kept_x), kept_y, kept_weight)
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

        self._run(X, targets, weight, int(self.max_iter), epoch)
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

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, first: bool) -> Any:
        X, targets, weight = self._checked(X, y, sample_weight, first=first)
        if first:
            self._build(len(X))

        def epoch(record: dict[str, Any]) -> bool:
            self.n_iter_ += 1
            self.loss_curve_.append(record["loss"] + record.get("penalty", 0.0))
            return False

        self._run(X, targets, weight, 1, epoch)
        self.loss_ = self.loss_curve_[-1]
        return self

    def _checked(self, X: Any, y: Any, weight: Any, first: bool) -> tuple[Any, Any, Any]:
        # Once, in place of a conversion in every epoch: a network in float32 reads nothing else.
        X, y = validate_data(self, X, y, reset=first, dtype=np.dtype(self.precision), order="C",
                             multi_output=self._loss() != "cross-entropy", y_numeric=self._loss() != "cross-entropy")
        if weight is not None:
            weight = _check_sample_weight(weight, X, dtype=np.float64, ensure_non_negative=True)
        return X, self._encode(y), weight

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


class Classifier(ClassifierMixin, NetworkEstimator):
    def _loss(self) -> str:
        return "cross-entropy"

    def _score_of(self, x: Any, y: Any, weight: Any) -> float:
        return float(accuracy_score(y, self.network_.predict_classes(self._shaped(x), threads=1),
                                    sample_weight=weight))

    def _class_weights(self) -> Any:
        if self.class_weight is None or isinstance(self.class_weight, str):
            if self.class_weight not in (None, "balanced"):
                raise ValueError(f"class_weight must be None, 'balanced' or a dict, not {self.class_weight!r}")
            return self.class_weight
        return compute_class_weight(self.class_weight, classes=self.classes_, y=self.classes_).tolist()

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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        self._classes_are_set = bool(self.warm_start and hasattr(self, "network_"))
        return super().fit(X, y, sample_weight)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, classes: Any = None) -> Any:
        """One epoch on these samples. The first call needs all `classes` if its samples do not have them all."""
        if self.class_weight == "balanced":
            raise ValueError("class_weight = 'balanced' needs all samples at once; for partial_fit give a dict, or "
                             "sample_weight = compute_sample_weight('balanced', y) of all of them")
        first = not hasattr(self, "network_")
        if first and classes is not None:
            self.classes_ = np.unique(classes)
            self.n_outputs_ = len(self.classes_)
        if first and classes is None:
            self.classes_ = np.unique(np.ravel(y))
            self.n_outputs_ = len(self.classes_)
        self._classes_are_set = True
        return self._partial_fit(X, y, sample_weight, first)

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


class Regressor(RegressorMixin, NetworkEstimator):
    def _loss(self) -> str:
        return "squared-error"

    def _score_of(self, x: Any, y: Any, weight: Any) -> float:
        return float(r2_score(y, self.network_.predict(np.asarray(self._shaped(x)), threads=1), sample_weight=weight))

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

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """One epoch on these samples."""
        return self._partial_fit(X, y, sample_weight, not hasattr(self, "network_"))

    def predict(self, X: Any) -> Any:
        """The outputs: one number per sample, or one row where the targets had several."""
        inputs = self._inputs(X)
        outputs = self.network_.predict(inputs, threads=self._threads()).astype(inputs.dtype)
        return outputs.ravel() if self._one_column else outputs

    @property
    def out_activation_(self) -> str:
        """Of the output layer."""
        return "identity"
