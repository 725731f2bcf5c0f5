"""Co-failure: features that fail a test together, over many tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from foldshift.core.arguments import check_one_of
from foldshift.core.gate.numbers import as_numbers
from foldshift.core.repr import readable
from foldshift.shift.report.drift_text import percent

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import FloatArray, Floats, Formula, TableLike


@readable
class CoFailure(NamedTuple):
    """Result of `co_failure`."""

    n_tests: int  # number of tests, T
    failing_share: float  # share of failures among all tests of all features; NaN where nothing was tested
    mean: float  # mean, std: Mean and standard deviation (n - 1) of phi over the pairs of features for which it is defined
    std: float
    mean_jaccard: float  # mean of Jaccard's index over the pairs for which it is defined
    n_pairs: int  # number of pairs of features
    n_undefined: int  # number of pairs without a phi: one of the two always or never fails. They are left out of mean and std

    def sentences(self) -> list[str]:
        """Return the result in words."""
        if np.isnan(self.mean):
            together = "no pair of features of which both fail sometimes and not always"
        else:
            together = f"mean correlation (phi) of the failures of two features {self.mean:.2f}"
        return [f"In {self.n_tests} tests {percent(self.failing_share)} of the features fail; {together}."]

    def to_frame(self) -> pd.DataFrame:
        """Return one row."""
        return pd.DataFrame([self._asdict()])


def failing(p_values: ArrayLike, alpha: float = 0.05) -> FloatArray:
    """Mark the tests that fail, ``p < alpha``: 1 or 0, NaN where p is NaN.

    Source: Cieslak, D.A., Chawla, N.V. (2009). A framework for monitoring classifiers' performance: when and why failure occurs?
    Knowledge and Information Systems 18, 83-108.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha={alpha!r} must be between 0 and 1, e.g. 0.05")
    p_values = as_numbers(p_values, "p_values")
    return np.where(np.isnan(p_values), np.nan, p_values < alpha)


def phi(fails: TableLike, formula: Formula = "corrected") -> FloatArray:
    """Compute the correlation of the failures of every pair of features over many tests (n_tests, n_features).

    ``corrected`` is the phi coefficient, NaN where a feature always or never fails, over the tests in which both were tested;
    ``paper`` is the paper's formula as printed. Source: Cieslak, Chawla (2009), section 5.3.1, equation 8.
    """
    check_one_of("formula", formula, ("corrected", "paper"))
    fails = _checked(fails)
    failed, tested = (fails == 1).astype(np.float64), (~np.isnan(fails)).astype(np.float64)
    both = failed.T @ failed
    if formula == "paper":
        alone = np.diag(both)
        below = (alone[:, None] + both) * (alone[None, :] + both)
        return _divide(np.outer(alone, alone) - both**2, below, 0.0)
    n = tested.T @ tested
    first = failed.T @ tested  # failures of i in the tests in which j was tested too
    second = first.T
    return _divide(n * both - first * second, np.sqrt(first * (n - first) * second * (n - second)), np.nan)


def jaccard(fails: TableLike) -> FloatArray:
    """Jaccard's index: tests in which both of two features fail, as a share of those in which at least one does."""
    fails = _checked(fails)
    failed, tested = (fails == 1).astype(np.float64), (~np.isnan(fails)).astype(np.float64)
    both, first = failed.T @ failed, failed.T @ tested
    return _divide(both, first + first.T - both, np.nan)


def co_failure(fails: TableLike, formula: Formula = "corrected") -> CoFailure:
    """Summarise failures and co-failures of many tests in a few numbers, as in Tables 2 and 3 of the paper.

    Parameters
    ----------
    fails : array-like of shape (n_tests, n_features)
        1 or True where a feature fails a test, 0 or False where it does not, NaN where it was not tested.
    formula : {"corrected", "paper"}, default="corrected"
        ``corrected``: the phi coefficient. ``paper``: equation 8 of [1]_ as printed.

    Returns
    -------
    summary : CoFailure
        Means are NaN where phi is defined for no pair, std where it is for fewer than two.

    Raises
    ------
    ValueError
        If `fails` is not a table of such values, or the formula is unknown.

    Notes
    -----
    The paper does not define its +-; here std is the spread over pairs, not the error of the mean: pairs share their tests.

    References
    ----------
    .. [1] Cieslak, Chawla (2009), section 5.3.1, equation 8.

    Examples
    --------
    >>> print(co_failure([[1, 1, 0], [0, 0, 0], [1, 1, 1], [0, 0, 1]]).sentences()[0])
    In 4 tests 50 % of the features fail; mean correlation (phi) of the failures of two features 0.33.
    """
    fails = _checked(fails)
    pairs = np.triu_indices(fails.shape[1], 1)
    values, overlaps = phi(fails, formula)[pairs], jaccard(fails)[pairs]
    defined, overlaps, tested = values[~np.isnan(values)], overlaps[~np.isnan(overlaps)], fails[~np.isnan(fails)]
    return CoFailure(
        len(fails),
        _mean(tested),
        _mean(defined),
        float(defined.std(ddof=1)) if len(defined) > 1 else np.nan,
        _mean(overlaps),
        len(values),
        len(values) - len(defined),
    )


def translation_limit(n_features: ArrayLike, base_failures: ArrayLike) -> Floats:
    """Compute the largest share of failing features under translation, one version per feature, as in the paper's Table 4.

    Moving one feature changes no other. A version that moves one of the b features that fail anyway has at most b failures, any
    other one more: ``((n_f - b) (b + 1) + b b) / n_f^2``. It is reached if every moved feature fails, so it is a limit, not a
    prediction.
    """
    n, b = as_numbers(n_features, "n_features"), as_numbers(base_failures, "base_failures")
    if (n < 1).any() or (b < 0).any() or (b > n).any():
        raise ValueError(f"base_failures={base_failures!r} must be from 0 to n_features={n_features!r}, and that at least 1")
    share = ((n - b) * (b + 1) + b * b) / n**2
    return float(share) if share.ndim == 0 else share


def _checked(fails: TableLike) -> FloatArray:
    fails = as_numbers(fails, "fails")
    if fails.ndim != 2 or 0 in fails.shape:
        raise ValueError(f"fails has shape {fails.shape}; expected (n_tests, n_features) with one or more of both")
    bad = ~(np.isnan(fails) | (fails == 0) | (fails == 1))
    if bad.any():
        raise ValueError(f"fails holds {fails[bad][0]:g}; expected 0 or False, 1 or True, or NaN where a feature was not tested")
    return fails


def _divide(above: FloatArray, below: FloatArray, otherwise: float) -> FloatArray:
    return np.divide(above, below, out=np.full(above.shape, otherwise), where=below > 0)


def _mean(values: FloatArray) -> float:
    return float(values.mean()) if len(values) else np.nan
