"""Estimate of a prediction error by the .632+ bootstrap (Efron and Tibshirani 1997)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from foldshift.core.gate.arrays import refuse_masks
from foldshift.core.gate.numbers import as_numbers, finite_numbers
from foldshift.core.gate.rows import check_same_rows
from foldshift.core.gate.targets import class_labels
from foldshift.core.repr import readable
from foldshift.core.seeding import as_generator
from foldshift.inference.fit_losses import squared_error, zero_one_loss

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, Estimator, FloatArray, IntArray, TableLike

UNIQUE_SHARE = 0.632  # of the rows in a bootstrap sample


@readable
class BootstrapError(NamedTuple):
    """Result of `bootstrap_632plus`."""

    estimate: float  # .632+ estimate of the error of the model trained on all rows
    plain_632: float  # .632 estimate, with the fixed weights .368 and .632
    left_out: float  # leave-one-out bootstrap: mean error of a row over the bootstrap samples without it
    training: float  # error of the model trained on all rows on these rows
    no_information: float  # error of that model if inputs and target were independent
    overfitting: float  # relative overfitting rate, from 0 to 1; it moves the weight from .632 towards 1
    n_rows: int
    n_bootstraps: int

    def sentences(self) -> list[str]:
        """Report the estimate in words; a list of str."""
        return [
            f"Error of the model trained on all {self.n_rows} rows, by the .632+ bootstrap: {self.estimate:.4g} "
            f"({self.n_bootstraps} bootstrap samples); no interval, since none with a known coverage goes with it.",
            f"It lies between the training error {self.training:.4g} and that of rows left out {self.left_out:.4g}; guessing "
            f"would give {self.no_information:.4g}, relative overfitting {self.overfitting:.2f}.",
        ]

    def to_frame(self) -> pd.DataFrame:
        """Table of one row with the fields."""
        return pd.DataFrame([self._asdict()])


def bootstrap_632plus(
    estimator: Estimator,
    X: TableLike,
    y: ArrayLike,
    *,
    n_bootstraps: int = 100,
    loss: Callable[[Array, Array], FloatArray] | None = None,
    rng: np.random.Generator | int,
) -> BootstrapError:
    """Estimate the error of an estimator trained on all rows by the .632+ bootstrap.

    Parameters
    ----------
    estimator : scikit-learn classifier or regressor
        Not changed; trained n_bootstraps + 1 times.
    X, y : array-like or data frame of n rows, array-like of shape (n,)
        Passed on by rows as they are.
    n_bootstraps : int, default=100
        Bootstrap samples; every row must be outside one of them, which 20 samples make almost certain.
    loss : callable, optional
        ``loss(y, predicted)`` returns one number for every row; by default 0/1 for a classifier, squared error for a regressor.
    rng : numpy.random.Generator or int
        Source of randomness.

    Returns
    -------
    error : BootstrapError

    Raises
    ------
    ValueError
        If lengths differ, n_bootstraps is below 2, a row is in every bootstrap sample, or a loss is not finite.

    References
    ----------
    .. [1] Efron, B., Tibshirani, R. (1997). Improvements on cross-validation: the .632+ bootstrap method. JASA 92, 548-560.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> found = bootstrap_632plus(KNeighborsClassifier(1), X, y, n_bootstraps=30, rng=np.random.default_rng(0))
    >>> found.training, bool(found.plain_632 < found.estimate < found.left_out)
    (0.0, True)
    """
    from sklearn.base import is_classifier
    from sklearn.utils import _safe_indexing

    from foldshift.core.estimators import check_predictor, clone_with_state
    from foldshift.core.user_code.answers import predictions_after_fit

    check_predictor(estimator)
    rng = as_generator(rng)
    check_same_rows(X=X, y=y)
    refuse_masks(X)
    y = class_labels(y, "y") if is_classifier(estimator) else finite_numbers(y, "y", "drop these rows")
    n = len(y) if y.ndim else 0
    if not n or y.ndim != 1 or np.ndim(X) == 0 or (X.shape[0] if hasattr(X, "shape") else len(X)) != n:
        raise ValueError(f"y has shape {y.shape}; expected one target for every row of X, and some rows")
    if n_bootstraps < 2:
        raise ValueError(f"n_bootstraps={n_bootstraps!r} must be at least 2, e.g. 100")
    loss = loss or (zero_one_loss if is_classifier(estimator) else squared_error)

    def predicted(rows: IntArray, on: IntArray) -> Array:
        model = clone_with_state(estimator, int(rng.random() * 2**32))
        return predictions_after_fit(model, _safe_indexing(X, rows), y[rows], _safe_indexing(X, on), y)

    every = np.arange(n)
    whole = predicted(every, every)
    total, times = np.zeros(n), np.zeros(n, dtype=np.int64)
    for _ in range(n_bootstraps):
        rows = rng.integers(n, size=n)
        out = np.setdiff1d(every, rows)
        if len(out):
            total[out] += _losses(loss, y[out], predicted(rows, out))
            times[out] += 1
    if not times.all():
        raise ValueError(f"{(times == 0).sum()} rows are in every bootstrap sample; raise n_bootstraps={n_bootstraps}")
    left_out, training = float((total / times).mean()), float(_losses(loss, y, whole).mean())
    values, counts = np.unique(whole, return_counts=True)
    guesses = [_losses(loss, y, np.full(n, value)).mean() for value in values]
    no_information = float(np.average(guesses, weights=counts))
    return _combined(left_out, training, no_information, n, n_bootstraps)


def _combined(left_out: float, training: float, no_information: float, n: int, n_bootstraps: int) -> BootstrapError:
    bounded = min(left_out, no_information)
    overfits = bounded > training and no_information > training
    overfitting = (bounded - training) / (no_information - training) if overfits else 0.0
    weight = UNIQUE_SHARE / (1 - (1 - UNIQUE_SHARE) * overfitting)
    plain = (1 - UNIQUE_SHARE) * training + UNIQUE_SHARE * left_out
    # Without overfitting the two agree; else the left-out error is first cut off at the no-information error.
    estimate = (1 - weight) * training + weight * bounded if overfits else plain
    return BootstrapError(estimate, plain, left_out, training, no_information, overfitting, n, n_bootstraps)


def _losses(loss: Callable[[Array, Array], FloatArray], y: Array, predicted: Array) -> FloatArray:
    """Return the loss of every row; the target that the function is given is read-only."""
    y = y.view()
    y.flags.writeable = False
    losses = as_numbers(loss(y, predicted), "losses")
    if losses.shape != y.shape:
        raise ValueError(f"loss returned shape {losses.shape} for {len(y)} rows; expected the loss of every row")
    if not np.isfinite(losses).all():
        raise ValueError(f"{int((~np.isfinite(losses)).sum())} of {len(losses)} losses are NaN or infinite")
    return losses
