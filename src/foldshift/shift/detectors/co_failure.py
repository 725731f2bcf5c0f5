"""Which features fail a test together: co-failure over many tests."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from foldshift.core.repr import readable
from foldshift.shift.report.drift_text import percent


@readable
class CoFailure(NamedTuple):
    """Result of `co_failure`.

    Attributes
    ----------
    n_tests : int
        Tests, T.
    failing_share : float
        Share of the tests and features that fail, of those that were tested; NaN where none was.
    mean, std : float
        Mean and standard deviation (n - 1) of phi over the pairs of features for which it is defined.
    mean_jaccard : float
        Mean of Jaccard's index over the pairs for which it is defined.
    n_pairs : int
        Pairs of features.
    n_undefined : int
        Pairs without a phi: a feature that always or never fails. Left out of mean and std.
    """

    n_tests: int
    failing_share: float
    mean: float
    std: float
    mean_jaccard: float
    n_pairs: int
    n_undefined: int

    def sentences(self):
        """What was found, in words."""
        if np.isnan(self.mean):
            together = "no pair of features of which both fail sometimes and not always"
        else:
            together = f"mean correlation (phi) of the failures of two features {self.mean:.2f}"
        return [f"In {self.n_tests} tests {percent(self.failing_share)} of the features fail; {together}."]

    def to_frame(self):
        """One row."""
        return pd.DataFrame([self._asdict()])


def failing(p_values, alpha=0.05):
    """Which tests fail: ``p < alpha``.

    Parameters
    ----------
    p_values : array-like
        NaN where a feature was not tested, e.g. because it is masked.
    alpha : float, default=0.05
        Level.

    Returns
    -------
    fails : ndarray of the same shape, dtype float64
        1, 0, or NaN where it was not tested: ``numpy.nanmean`` of it is the value of Tables 2 and 4 of [1]_.

    References
    ----------
    .. [1] Cieslak, D.A., Chawla, N.V. (2009). A framework for monitoring classifiers' performance: when and why failure occurs?
       Knowledge and Information Systems 18, 83-108.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha={alpha!r} must be between 0 and 1, e.g. 0.05")
    p_values = np.asarray(p_values, dtype=np.float64)
    return np.where(np.isnan(p_values), np.nan, p_values < alpha)


def phi(fails, formula="corrected"):
    """Correlation of the failures of every pair of features over many tests.

    Parameters
    ----------
    fails : array-like of shape (n_tests, n_features), bool or float
        Whether every feature failed in every test; NaN where it was not tested (`failing`).
    formula : {"corrected", "paper"}, default="corrected"
        ``corrected``: Pearson's phi of the two features' failures, over the tests in which both were tested: 1 where they always
        fail together, -1 where one fails exactly when the other does not, 0 if independent; NaN where a feature always or never
        fails. ``paper``: equation 8 of [1]_, ``(F_ii F_jj - F_ij^2) / ((F_ii + F_ij) (F_jj + F_ij))`` with F_ij tests in which
        both fail: 0 where they always fail together, 1 where they never do, and 0 for 0 / 0. A feature that was not tested did
        not fail.

    Returns
    -------
    phi : ndarray of shape (n_features, n_features), dtype float64
        Symmetric. A feature with itself has 1 (or NaN), by the paper's formula 0.

    Raises
    ------
    ValueError
        If `fails` has another shape or other values, or there is no test.

    References
    ----------
    .. [1] Cieslak, Chawla (2009), section 5.3.1, equation 8.
    """
    if formula not in ("corrected", "paper"):
        raise ValueError(f"formula={formula!r} must be 'corrected' or 'paper'")
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


def jaccard(fails):
    """Tests in which both of two features fail, as a share of those in which one does.

    Parameters
    ----------
    fails : array-like of shape (n_tests, n_features), bool or float
        As of `phi`; only tests count in which both features were tested.

    Returns
    -------
    jaccard : ndarray of shape (n_features, n_features), dtype float64
        In [0, 1]; NaN where neither ever fails.
    """
    fails = _checked(fails)
    failed, tested = (fails == 1).astype(np.float64), (~np.isnan(fails)).astype(np.float64)
    both, first = failed.T @ failed, failed.T @ tested
    return _divide(both, first + first.T - both, np.nan)


def co_failure(fails, formula="corrected"):
    """Failures and co-failures of many tests in a few numbers, as in Tables 2 and 3 of the paper.

    Parameters
    ----------
    fails, formula
        As of `phi`.

    Returns
    -------
    summary : CoFailure
        Means and std are NaN where no pair, for std no two pairs, are defined.

    Notes
    -----
    The paper does not say what its +- is; here std is the spread over pairs, not the error of the mean: pairs share their tests.

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


def translation_limit(n_features, base_failures):
    """Largest share of failing features under translation, one version per feature: the numbers of the paper's Table 4.

    Moving one feature changes no other. In the versions that move one of the b features that fail anyway b can fail at most, in
    the others one more: ``((n_f - b) (b + 1) + b b) / n_f^2``. It is reached if every moved feature fails, so it is a limit and
    not a law.

    Parameters
    ----------
    n_features : int or array-like
        Features, n_f.
    base_failures : int or array-like
        Features that fail without any shift, b, from 0 to n_f.

    Returns
    -------
    share : float or ndarray

    Raises
    ------
    ValueError
        If n_f is below 1 or b is not from 0 to n_f.
    """
    n, b = np.asarray(n_features), np.asarray(base_failures)
    if (n < 1).any() or (b < 0).any() or (b > n).any():
        raise ValueError(f"base_failures={base_failures!r} must be from 0 to n_features={n_features!r}, and that at least 1")
    share = ((n - b) * (b + 1) + b * b) / n**2
    return float(share) if share.ndim == 0 else share


def _checked(fails):
    fails = np.asarray(fails)
    if fails.ndim != 2 or 0 in fails.shape:
        raise ValueError(f"fails has shape {fails.shape}; expected (n_tests, n_features) with one or more of both")
    fails = fails.astype(np.float64)
    bad = ~(np.isnan(fails) | (fails == 0) | (fails == 1))
    if bad.any():
        raise ValueError(f"fails holds {fails[bad][0]:g}; expected 0 or False, 1 or True, or NaN where a feature was not tested")
    return fails


def _divide(above, below, otherwise):
    return np.divide(above, below, out=np.full(above.shape, otherwise), where=below > 0)


def _mean(values):
    return float(values.mean()) if len(values) else np.nan
