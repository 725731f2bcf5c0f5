"""Helpers for any scikit-learn estimator and the inputs it accepts: copies, titles, checks, rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone, is_clusterer, is_outlier_detector
from sklearn.utils import _safe_indexing

if TYPE_CHECKING:
    from foldshift.core.types import Array, Estimator, TableLike

# Methods of the plain path of an estimator, and of the path that shares work between fits.
_PLAIN = {"fit", "predict", "predict_proba", "_fit", "_predict", "_scores"}
_SHARED = {"predict_folds", "scores_folds", "_predict_folds", "_scores_folds"}


def clone_with_state(estimator: Estimator, random_state: float | None = None) -> Estimator:
    """Clone an estimator; set every `random_state` that is None, also those of estimators inside it."""
    model = clone(estimator)
    if random_state is not None:
        open_states = [
            name for name, value in model.get_params().items() if name.split("__")[-1] == "random_state" and value is None
        ]
        model.set_params(**dict.fromkeys(open_states, int(random_state)))
    return model


def title(learner: Estimator) -> str:
    """Name of a learner for tables and messages: its class, or the class of the last step of a pipeline."""
    steps = getattr(learner, "steps", None)
    return title(steps[-1][1]) if steps else type(learner).__name__


def title_in_full(learner: Estimator) -> str:
    """Full name of a learner for a methods section: with the steps of a pipeline and the learner that a search tunes.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> title_in_full(make_pipeline(StandardScaler(), LogisticRegression()))
    'LogisticRegression behind StandardScaler'
    """
    steps = [step for _, step in getattr(learner, "steps", []) if step is not None and step != "passthrough"]
    if steps:
        *before, last = map(title_in_full, steps)
        return f"{last} behind {', '.join(before)}" if before else last
    # Read as a parameter, because a forest has an attribute of that name that the user did not choose.
    inner = learner.get_params(deep=False).get("estimator") if hasattr(learner, "get_params") else None
    return type(learner).__name__ + (f" of {title_in_full(inner)}" if hasattr(inner, "fit") else "")


def check_instance(estimator: Any, name: str = "estimator") -> None:
    """Raise an error if an object is a class, or has no fit."""
    if isinstance(estimator, type):
        raise ValueError(f"{name} is the class {estimator.__name__}; give an instance, {estimator.__name__}()")
    if not hasattr(estimator, "fit"):
        shown = f"of shape {np.shape(estimator)}" if np.ndim(estimator) else repr(estimator)
        raise ValueError(f"{name} is {shown}, which has no fit; give a scikit-learn estimator")


def check_predictor(estimator: Any, name: str = "estimator") -> None:
    """Raise an error if an object is not an instance of a scikit-learn estimator that predicts a target.

    Clusterers and outlier detectors are refused: their numbers would be scored as if they were classes.

    >>> from sklearn.cluster import KMeans
    >>> check_predictor(KMeans())
    Traceback (most recent call last):
    ...
    ValueError: estimator: KMeans is a clusterer, which predicts no target; give a classifier or a regressor
    """
    check_instance(estimator, name)
    kind = title(estimator)
    if not (hasattr(estimator, "get_params") and hasattr(estimator, "__sklearn_tags__")):
        raise ValueError(
            f"{name}: {kind} cannot be copied for every fold; let the class inherit from sklearn.base.BaseEstimator, and from "
            "ClassifierMixin or RegressorMixin before it"
        )
    for is_it, what in ((is_clusterer, "clusterer"), (is_outlier_detector, "detector of outliers")):
        if is_it(estimator):
            raise ValueError(f"{name}: {kind} is a {what}, which predicts no target; give a classifier or a regressor")


def rows_of(values: TableLike, rows: Array) -> TableLike:
    """Select rows, by position, of an array, list, sparse matrix or data frame, which keeps its type.

    This is the function that scikit-learn uses for its cross-validation; it is private there.
    """
    return _safe_indexing(values, rows)


def shares_work(estimator: Estimator) -> bool:
    """Report whether the path that shares work between fits can replace ``fit`` and ``predict`` of an estimator.

    It cannot if a subclass overrides ``fit`` or ``predict`` but not the path. Nor can it if `random_state` is a generator: every
    clone would begin with the same state, but the path goes on drawing from one.
    """
    order = type(estimator).__mro__

    def first(names: set[str]) -> int:
        return next((place for place, cls in enumerate(order) if names & vars(cls).keys()), len(order))

    return first(_SHARED) <= first(_PLAIN) and not isinstance(
        getattr(estimator, "random_state", None), (np.random.RandomState, np.random.Generator)
    )
