"""A pipeline and a grid search of scikit-learn with networks of Lockstep."""
from __future__ import annotations

from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lockstep.sklearn import MLPClassifier


def main() -> None:
    x, y = load_digits(return_X_y=True)
    x_train, x_test, y_train, y_test = train_test_split(x, y, random_state=0)
    pipeline = make_pipeline(StandardScaler(), MLPClassifier(max_iter=30, tol=0.0, random_state=1, n_jobs=2))
    search = GridSearchCV(pipeline, {"mlpclassifier__hidden_layer_sizes": [(32,), (64,)]}, cv=3)
    search.fit(x_train, y_train)
    best = search.best_estimator_[-1]
    print(f"{search.best_params_}: test accuracy {search.score(x_test, y_test):.3f}, weights {best.weight_hash_[:16]}")


if __name__ == "__main__":
    main()
