"""Score every fold by any of scikit-learn's scorers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from sklearn.model_selection import cross_validate

from foldshift.core.errors import LearnerError
from foldshift.core.estimators import check_instance, title
from foldshift.core.user_code.answers import one_line
from foldshift.core.user_code.guarded_process import no_copies
from foldshift.evaluation.cross_validate import check_inputs, iterate_fits

if TYPE_CHECKING:
    from foldshift.core.types import Estimator, FloatArray, TableLike


@overload
def score_folds(
    estimator: Estimator,
    X: TableLike,
    y: TableLike,
    folds: TableLike,
    *,
    scoring: str | Callable[..., Any] | None = None,
    params: dict[str, Any] | None = None,
    n_jobs: int | None = None,
    error_score: Literal["raise"] | float = np.nan,
) -> FloatArray: ...


@overload
def score_folds(
    estimator: Estimator,
    X: TableLike,
    y: TableLike,
    folds: TableLike,
    *,
    scoring: list[str] | tuple[str, ...] | dict[str, Any],
    params: dict[str, Any] | None = None,
    n_jobs: int | None = None,
    error_score: Literal["raise"] | float = np.nan,
) -> dict[str, FloatArray]: ...


def score_folds(
    estimator: Estimator,
    X: TableLike,
    y: TableLike,
    folds: TableLike,
    *,
    scoring: str | Callable[..., Any] | list[str] | tuple[Any, ...] | dict[str, Any] | None = None,
    params: dict[str, Any] | None = None,
    n_jobs: int | None = None,
    error_score: Literal["raise"] | float = np.nan,
) -> FloatArray | dict[str, FloatArray]:
    """Score an estimator by cross-validation, for many partitions.

    This does for many partitions what scikit-learn's `cross_val_score` does for one, through its `cross_validate`: a fit for each
    fold, without a shared path. Where `evaluate_folds` has one, scores computed from its predictions are faster.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Not changed; every fit uses a clone.
    X, y
        As in `evaluate_folds`.
    folds : array-like of shape (n_seeds, n_samples) or (n_samples,), integer; or a splitter
        As in `evaluate_folds`.
    scoring : str, callable, list, tuple or dict, optional
        As in scikit-learn; None is the estimator's own ``score``.
    params : dict, optional
        Parameters of ``fit``, such as ``{"sample_weight": w}``; with scikit-learn's metadata routing also of the scorers.
    n_jobs : int, optional
        Number of fits at the same time, as in scikit-learn.
    error_score : "raise" or float, default=NaN
        Score of a fit that fails.

    Returns
    -------
    scores : ndarray of shape (n_seeds, n_folds), dtype float64
        A row per seed and a column per fold, NaN where a seed has no such fold; in the units of the scorer, larger is better.
        Where `scoring` names several scorers, a dict of such arrays by name.

    Raises
    ------
    ValueError
        As in `evaluate_folds`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from foldshift.evaluation import score_folds
    >>> from foldshift.partition import make_folds
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> folds = make_folds("DOB-SCV", X, y, n_folds=5, seeds=range(2))
    >>> score_folds(LogisticRegression(max_iter=1000), X, y, folds, scoring="balanced_accuracy").shape
    (2, 5)
    """
    check_instance(estimator)
    X, y, folds = check_inputs(X, y, folds)
    scores: dict[str, FloatArray] = {}
    for s in range(len(folds)):
        fits = list(iterate_fits(folds[s : s + 1]))
        try:
            with no_copies():
                result = cross_validate(
                    estimator,
                    X,
                    y,
                    cv=[(np.flatnonzero(~test), np.flatnonzero(test)) for _, _, test in fits],
                    scoring=scoring,
                    params=params,
                    n_jobs=n_jobs,
                    error_score=error_score,
                )
        except SystemExit as error:  # what else a learner raises is scikit-learn's to treat
            raise LearnerError(f"{title(estimator)} could not be scored: {one_line(error)}") from error
        for name, values in result.items():
            if name.startswith("test_"):
                table = scores.setdefault(name.removeprefix("test_"), np.full((len(folds), int(folds.max()) + 1), np.nan))
                table[s, [fold for _, fold, _ in fits]] = values
    return scores["score"] if list(scores) == ["score"] else scores
