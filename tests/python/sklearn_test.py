"""lockstep.sklearn: scikit-learn's own checks, and the habits of its users."""
import pickle
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import compute_sample_weight
from sklearn.utils.estimator_checks import check_estimator

import lockstep as ls
from lockstep.sklearn import MLPClassifier, MLPRegressor, NetworkClassifier, NetworkRegressor

# Why a check of scikit-learn does not apply; at most three.
_BATCHES = ("repeated samples fall into other batches than one sample with a weight, and a sample of weight 0 still takes "
            "a place in its batch; the same holds for scikit-learn's own networks with adam and sgd")
EXCEPTIONS = {"check_sample_weight_equivalence_on_dense_data": _BATCHES,
              "check_sample_weight_equivalence_on_sparse_data": _BATCHES}


@pytest.mark.parametrize("estimator", [
    MLPClassifier(max_iter=100), MLPRegressor(max_iter=200, learning_rate_init=0.01),
    NetworkClassifier(max_iter=100), NetworkRegressor(max_iter=200, optimizer=ls.Adam(0.01))],
    ids=lambda e: type(e).__name__)
def test_check_estimator(estimator):
    assert len(EXCEPTIONS) <= 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, expected_failed_checks=EXCEPTIONS, on_fail=None)
    failed = {r["check_name"]: str(r["exception"])[:300] for r in results if r["status"] == "failed"}
    assert not failed, failed


def iris():
    x, y = load_iris(return_X_y=True)
    return x, np.array(["setosa", "versicolor", "virginica"])[y]


def test_pipeline_search_and_names():
    x, y = iris()
    pipeline = make_pipeline(StandardScaler(), MLPClassifier((16,), max_iter=40, tol=0.0, random_state=1,
                                                            learning_rate_init=0.02))
    assert cross_val_score(pipeline, x, y, cv=3).mean() > 0.9
    search = GridSearchCV(pipeline, {"mlpclassifier__alpha": [1e-4, 1e-2]}, cv=3, n_jobs=2).fit(x, y)
    assert search.best_estimator_.predict(x[:1])[0] == "setosa"
    p = search.predict_proba(x)
    assert p.shape == (150, 3) and np.allclose(p.sum(1), 1)


def test_same_hash_for_every_n_jobs():
    x, y = iris()
    hashes = {MLPClassifier((20, 10), max_iter=5, tol=0.0, random_state=3, n_jobs=n).fit(x, y).weight_hash_
              for n in (None, 1, 2, 3, -1)}
    assert len(hashes) == 1
    copy = clone(MLPClassifier((20, 10), max_iter=5, tol=0.0, random_state=3))
    assert copy.fit(x, y).weight_hash_ in hashes


def test_pickle_and_partial_fit():
    x, y = iris()
    model = MLPClassifier((8,), random_state=1)
    for part in np.array_split(np.random.default_rng(0).permutation(150), 3):
        model.partial_fit(x[part], y[part], classes=np.unique(y))
    again = pickle.loads(pickle.dumps(model))
    assert again.weight_hash_ == model.weight_hash_ and np.array_equal(again.predict(x), model.predict(x))
    assert model.coefs_[0].shape == (4, 8) and model.intercepts_[1].shape == (3,) and model.n_layers_ == 3


def test_early_stopping_and_warnings():
    x, y = make_moons(400, noise=0.2, random_state=0)
    model = MLPClassifier((32,), learning_rate_init=0.02, early_stopping=True, random_state=1, max_iter=300).fit(x, y)
    assert model.n_iter_ < 300 and len(model.validation_scores_) == model.n_iter_
    assert model.best_validation_score_ == max(model.validation_scores_)
    with pytest.warns(ConvergenceWarning):
        MLPClassifier(max_iter=1, random_state=1, n_iter_no_change=10).fit(x, y)


def test_sample_and_class_weights():
    x, y = iris()
    few = np.r_[0:50, 50:60, 100:150]  # ten of one class
    x, y = x[few], y[few]
    options = dict(hidden_layer_sizes=(8,), max_iter=5, tol=0.0, random_state=1)
    by_name = {"setosa": 1.0, "versicolor": 8.0, "virginica": 0.5}
    weight = np.array([by_name[name] for name in y])
    plain = MLPClassifier(**options).fit(x, y)
    named = MLPClassifier(class_weight=by_name, **options).fit(x, y)
    assert named.weight_hash_ == MLPClassifier(**options).fit(x, y, sample_weight=weight).weight_hash_
    assert named.weight_hash_ != plain.weight_hash_
    fair = MLPClassifier(class_weight="balanced", **options)
    hashes = {clone(fair).set_params(n_jobs=n).fit(x, y).weight_hash_ for n in (None, 2, 3)}
    balanced = MLPClassifier(**options).fit(x, y, compute_sample_weight("balanced", y))
    assert hashes == {balanced.weight_hash_} and fair.get_params()["class_weight"] == "balanced"
    pipeline = make_pipeline(StandardScaler(), NetworkClassifier([ls.Linear(8), ls.Tanh()], max_iter=5, random_state=1))
    pipeline.fit(x, y, networkclassifier__sample_weight=weight)
    parts = MLPClassifier((8,), random_state=1)
    parts.partial_fit(x, y, weight, classes=np.unique(y)).partial_fit(x, y, weight)
    assert parts.weight_hash_ != MLPClassifier((8,), random_state=1).partial_fit(x, y).partial_fit(x, y).weight_hash_
    with pytest.raises(ValueError, match="balanced"):
        MLPClassifier(class_weight="balanced").partial_fit(x, y)
    with pytest.raises(ValueError, match="class_weight"):
        MLPClassifier(class_weight="fair").fit(x, y)
    held = MLPClassifier((8,), max_iter=20, early_stopping=True, random_state=1).fit(x, y, weight)
    assert len(held.validation_scores_) == held.n_iter_


def test_weighted_regression():
    x = np.linspace(-1, 1, 200)[:, None]
    y = np.where(np.arange(200) % 2, 1.0, -1.0)
    model = MLPRegressor((8,), learning_rate_init=0.02, max_iter=60, tol=0.0, random_state=1)
    low, high = (model.fit(x, y, sample_weight=np.where(y > 0, w, 1.0)).predict(x).mean() for w in (0.1, 10.0))
    assert low < -0.5 < 0.5 < high


def test_regression():
    x, y = load_diabetes(return_X_y=True)
    x, y = StandardScaler().fit_transform(x), (y - y.mean()) / y.std()
    model = MLPRegressor((32,), learning_rate_init=0.01, max_iter=60, tol=0.0, random_state=1).fit(x, y)
    assert model.score(x, y) > 0.5 and model.predict(x).shape == y.shape
    both = MLPRegressor((8,), max_iter=3, random_state=1).fit(x, np.stack([y, -y], axis=1))
    assert both.predict(x).shape == (len(x), 2)


@pytest.mark.parametrize("options, words", [
    ({"solver": "lbfgs"}, "lbfgs"), ({"activation": "gelu"}, "activation"),
    ({"solver": "sgd", "learning_rate": "adaptive"}, "adaptive"), ({"batch_size": 0}, "batch_size")])
def test_what_is_missing_is_refused(options, words):
    x, y = iris()
    with pytest.raises(ValueError, match=words):
        MLPClassifier(**options).fit(x, y)
