"""Estimators of the variance of a cross-validation estimate, from the losses of its test rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from foldshift.core.arguments import check_one_of
from foldshift.core.counting import add_up
from foldshift.core.gate.arrays import as_list
from foldshift.core.gate.numbers import as_numbers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, BoolArray, FloatArray, Floats, IntArray, TableLike

ESTIMATORS = ("theta_om", "theta_gamma", "theta_A", "theta_B", "theta_1", "theta_2", "theta_3", "theta_4", "theta_5")


@dataclass(frozen=True)
class CVVariance:
    """Moments of cross-validation losses and every estimate of the variance of their mean; see `cv_variance`.

    Floats for one data set, arrays of the shape of the leading axes for many.

    Attributes
    ----------
    mean : float or ndarray
        Mean of the fold means (macro); the estimators estimate its variance.
    mean_micro : float or ndarray
        Mean of all losses; differs from ``mean`` only with unequal sizes.
    K : int
        Number of folds or sources.
    M : int or ndarray of shape (K,)
        Rows of every fold; an array if they differ.
    W, S2 : float or ndarray
        Mean over folds of the sample variance within a fold, and the sample variance of the K fold means (both with n - 1).
    s1, s2, s3 : float or ndarray
        Mean of the squared losses, of the products of two losses of the same fold, and of two losses of different folds; means
        over folds.
    theta_om, theta_gamma, theta_A, theta_B : float or ndarray
        Estimators for sources (Table 1, equations 11 and 12 of [1]_).
    theta_1, ..., theta_5 : float or ndarray
        Estimators for random folds ([2]_, and section 5 of [1]_); NaN with unequal sizes.
    negative : tuple of str, or dict of str to boolean ndarray
        The estimators that are below 0, which a variance cannot be; they are never clipped. With leading axes, a mask for every
        estimator.

    References
    ----------
    .. [1] Geras, K. J., Sutton, C. (2013). Multiple-source cross-validation. ICML.
    .. [2] Grandvalet, Y., Bengio, Y. (2006). Hypothesis testing for cross-validation.

    Examples
    --------
    >>> import numpy as np
    >>> found = cv_variance(np.tile([0.0, 1.0], (3, 1)))
    >>> found.K, found.M, found.mean, found.W, found.S2
    (3, 2, 0.5, 0.5, 0.0)
    """

    mean: Floats
    mean_micro: Floats
    K: int
    M: int | Array
    W: Floats
    S2: Floats
    s1: Floats
    s2: Floats
    s3: Floats
    theta_om: Floats
    theta_gamma: Floats
    theta_A: Floats
    theta_B: Floats
    theta_1: Floats
    theta_2: Floats
    theta_3: Floats
    theta_4: Floats
    theta_5: Floats
    negative: tuple[str, ...] | dict[str, BoolArray]


def cv_variance(losses: ArrayLike | Sequence[Array]) -> CVVariance:
    """Compute every estimator of the variance of a cross-validation estimate, in one pass over the losses.

    Parameters
    ----------
    losses : array-like of shape (..., K, M), or sequence of K arrays of shape (M_k,)
        Loss of every test row by fold or source; leading axes are independent data sets.

    Returns
    -------
    CVVariance
        With equal sizes ``theta_2 == theta_om``, ``theta_3 == theta_gamma == S2 / K``, ``theta_4 == theta_A == W / (K M)``,
        ``theta_B == 2 theta_A``, ``theta_1 == mean**2`` and ``theta_5 == (1 + 1 / K) S2 - W / M``. Losses that are all equal give
        W = S2 = 0 and every estimator 0 but ``theta_1``. With unequal sizes the variance is that of the macro mean: ``theta_gamma
        = S2 / K``, ``theta_A = mean_k(W_k / M_k) / K``; ``theta_1`` to ``theta_5`` suppose one M and are NaN. With folds of one
        row there are no pairs within a fold: W, s2 and all estimators but ``theta_gamma``, ``theta_1`` and ``theta_3`` are NaN.

    Raises
    ------
    ValueError
        If there are fewer than two folds, an empty one, or a loss is NaN or infinite.

    References
    ----------
    .. [1] Geras, K. J., Sutton, C. (2013). Multiple-source cross-validation. ICML.
    .. [2] Grandvalet, Y., Bengio, Y. (2006). Hypothesis testing for cross-validation.

    Examples
    --------
    >>> import numpy as np
    >>> found = cv_variance([[0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 1]])
    >>> round(found.theta_gamma, 4), round(found.theta_A, 4), found.negative
    (0.0069, 0.0231, ('theta_5',))
    """
    means, within, sizes = fold_moments(losses)
    K, equal = len(sizes), bool((sizes == sizes[0]).all())
    mean = means.mean(axis=-1)
    S2 = (means - means[..., :1]).var(axis=-1, ddof=1)  # the shift keeps equal means exactly equal
    per_row = (within / sizes).mean(axis=-1)
    # Sums of squares are written about the fold means: the textbook moments cancel where the mean is large against the spread.
    theta_gamma, theta_A = S2 / K, per_row / K
    theta_om = per_row - (K - 1) * theta_gamma
    one_m = 1.0 if equal else np.nan
    estimates = {
        "theta_om": theta_om,
        "theta_gamma": theta_gamma,
        "theta_A": theta_A,
        "theta_B": 2 * theta_A,
        "theta_1": one_m * mean**2,
        "theta_2": one_m * theta_om,
        "theta_3": one_m * theta_gamma,
        "theta_4": one_m * theta_A,
        "theta_5": one_m * ((K + 1) * theta_gamma - per_row),
    }
    squares = means**2 + np.where(sizes > 1, within * (sizes - 1) / sizes, 0.0)
    numbers = {
        "mean": mean,
        "mean_micro": mean if equal else (means * sizes).sum(axis=-1) / sizes.sum(),
        "W": within.mean(axis=-1),
        "S2": S2,
        "s1": squares.mean(axis=-1),
        "s2": mean**2 - theta_om,
        "s3": mean**2 - theta_gamma,
    } | estimates
    negative: tuple[str, ...] | dict[str, BoolArray]
    if means.ndim == 1:
        numbers = {name: float(value) for name, value in numbers.items()}
        negative = tuple(name for name in ESTIMATORS if estimates[name] < 0)
    else:
        negative = {name: estimates[name] < 0 for name in ESTIMATORS}
    return CVVariance(K=K, M=int(sizes[0]) if equal else sizes, negative=negative, **numbers)


class FoldMoments(NamedTuple):
    """Mean, sample variance (n - 1; NaN for one row) and size of every fold; the first two have shape (..., K), the last (K,)."""

    means: FloatArray
    within: FloatArray
    sizes: IntArray


def fold_moments(losses: ArrayLike | Sequence[Array]) -> FoldMoments:
    """Mean, sample variance and size of every fold, of checked losses."""
    folds = check_losses(losses)
    if isinstance(folds, list):
        moments = [fold_moments_of_equal_sizes(fold[None]) for fold in folds]
        return FoldMoments(*(np.concatenate(parts) for parts in zip(*moments)))
    return fold_moments_of_equal_sizes(folds)


def fold_moments_of_equal_sizes(losses: FloatArray) -> FoldMoments:
    """Moments as by `fold_moments`, for checked losses of shape (..., K, M)."""
    K, M = losses.shape[-2:]
    if M == 1:
        return FoldMoments(losses[..., 0], np.full(losses.shape[:-1], np.nan), np.ones(K, dtype=np.int64))
    first = losses[..., 0]
    # About the first loss, so that equal losses have variance exactly 0; their mean is that loss, without the rounding of a sum.
    within = (losses - first[..., None]).var(axis=-1, ddof=1)
    return FoldMoments(np.where(within == 0, first, losses.mean(axis=-1)), within, np.full(K, M))


def check_losses(losses: TableLike) -> FloatArray | list[FloatArray]:
    """Check losses, and return an array of shape (..., K, M), or a list of K one-dimensional ones if their sizes differ."""
    if not isinstance(losses, np.ndarray):
        folds = [as_numbers(fold, f"losses[{number}]") for number, fold in enumerate(as_list(losses, "losses"))]
        if len({fold.shape for fold in folds}) > 1:
            return _check_unequal(folds)
        losses = np.array(folds)
    losses = as_numbers(losses, "losses")
    if losses.ndim < 2:
        raise ValueError(f"losses has shape {losses.shape}; expected (..., folds, rows) or one array of losses for every fold")
    _check_number_of_folds(losses.shape[-2])
    if losses.shape[-1] == 0:
        raise ValueError(f"losses has shape {losses.shape}: its folds hold no rows; every fold needs at least one")
    bad = ~np.isfinite(losses)
    if bad.any():
        raise _not_finite(int(bad.sum()), "index " + str(tuple(int(i) for i in np.argwhere(bad)[0])))
    return losses


def _check_unequal(folds: list[FloatArray]) -> list[FloatArray]:
    shapes = [fold.shape for fold in folds]
    if any(len(shape) != 1 for shape in shapes):
        raise ValueError(
            f"losses has folds of shapes {', '.join(map(str, shapes))}; folds of unequal sizes must be one-dimensional"
        )
    _check_number_of_folds(len(folds))
    empty = [number for number, fold in enumerate(folds) if not len(fold)]
    if empty:
        raise ValueError(f"fold {empty[0]} of losses holds no rows; every fold needs at least one")
    bad = [np.flatnonzero(~np.isfinite(fold)) for fold in folds]
    if any(map(len, bad)):
        fold = next(number for number, rows in enumerate(bad) if len(rows))
        raise _not_finite(sum(map(len, bad)), f"fold {fold}, row {bad[fold][0]}")
    return folds


def _check_number_of_folds(n_folds: int) -> None:
    if n_folds < 2:
        raise ValueError(
            f"losses has {n_folds} fold{'' if n_folds == 1 else 's'}; a variance needs at least two folds or sources"
        )


def _not_finite(count: int, where: str) -> ValueError:
    values = f"{count} value that is" if count == 1 else f"{count} values that are"
    return ValueError(f"losses has {values} NaN or infinite, the first at {where}; every loss must be a finite number")


def theta_om_k(losses: ArrayLike | Sequence[Array]) -> FloatArray:
    """Naive estimators from the pairs within one fold, shape (..., K): ``mean**2 - s_om[k]``.

    Source: Geras, K. J., Sutton, C. (2013). Multiple-source cross-validation. ICML, Table 1.
    """
    means, within, sizes = fold_moments(losses)
    return means.mean(axis=-1, keepdims=True) ** 2 - means**2 + within / sizes


def theta_gam_kl(losses: ArrayLike | Sequence[Array]) -> FloatArray:
    """Naive estimators from the pairs between two folds, (..., K, K) with a NaN diagonal: ``mean**2 - mean_k mean_l``.

    Source: Geras, K. J., Sutton, C. (2013). Multiple-source cross-validation. ICML, Table 1.
    """
    means = fold_moments(losses).means
    theta = means.mean(axis=-1)[..., None, None] ** 2 - means[..., :, None] * means[..., None, :]
    K = means.shape[-1]
    theta[..., range(K), range(K)] = np.nan
    return theta


def estimator_from_bias(a1: float, a2: float, a3: float) -> Callable[[TableLike], Floats]:
    """Quadratic estimator with the bias ``a1 sigma^2 + a2 omega + a3 gamma + a4 mu^2``.

    Parameters
    ----------
    a1, a2, a3 : float
        Coefficients of the bias; ``a4 = 1 + a1 + a2 + a3`` follows, so that there is no unbiased estimator: all four cannot be 0.

    Returns
    -------
    estimator : callable
        From losses of shape (..., K, M) to the estimate, a float or an array of the leading axes. It raises ValueError for
        unequal sizes, and is NaN for folds of one row unless the pairs within a fold have weight 0.

    References
    ----------
    .. [1] Geras, K. J., Sutton, C. (2013). Multiple-source cross-validation. ICML, Proposition 1, with ``mu^2`` where its first
           sentence prints ``mu``.

    Examples
    --------
    >>> import numpy as np
    >>> losses = np.random.default_rng(0).random((5, 8))
    >>> between = estimator_from_bias(0, 0, -1)  # biased by gamma alone: theta_gamma
    >>> bool(np.isclose(between(losses), cv_variance(losses).theta_gamma))
    True
    """

    def estimator(losses: TableLike) -> Floats:
        moments = cv_variance(losses)
        K, M = moments.K, moments.M
        if not isinstance(M, int):
            raise ValueError(f"folds of losses hold {M.min()} to {M.max()} rows; an estimator from its bias needs equal sizes")
        weights = a1 + 1 / (K * M), a2 + (M - 1) / (K * M), a3 + (K - 1) / K
        return add_up(weight * s for weight, s in zip(weights, (moments.s1, moments.s2, moments.s3)) if weight)

    return estimator


class PooledComponents(NamedTuple):
    """Variance of a loss, covariance of two of the same fold and of two of different folds, where the folds are exchangeable."""

    sigma: float
    omega: float
    gamma: float


class VarianceComponents(NamedTuple):
    """Parts of the variance of a cross-validation estimate; see `variance_components`."""

    sigma: FloatArray
    omega: FloatArray
    gamma: FloatArray
    sigma_term: float
    omega_term: float
    gamma_term: float
    theta: float
    pooled: PooledComponents | None


def variance_components(losses: TableLike, design: Literal["cvs", "cvr"]) -> VarianceComponents:
    """Decompose the variance of a cross-validation estimate, measured on many data sets.

    Parameters
    ----------
    losses : array-like of shape (R, K, M)
        Losses of R independent data sets. Rows of a fold are exchangeable: their order carries nothing.
    design : {"cvs", "cvr"}
        Folds are sources, equation (7), or random and so exchangeable, equation (2).

    Returns
    -------
    sigma, omega : ndarray of shape (K,)
        Variance of a loss of fold k, and covariance of two of its losses; unbiased. Omega is NaN with folds of one row, where its
        term is 0. For 0/1 losses with mean p_k sigma is ``p_k (1 - p_k) + C[k, k] / R``, where the last part makes up for
        estimating the mean.
    gamma : ndarray of shape (K, K)
        Covariance of a loss of fold k and one of fold l; the diagonal is NaN.
    sigma_term, omega_term, gamma_term : float
        Contribution of each to theta.
    theta : float
        Their sum: the variance of the mean over the data sets, with R - 1.
    pooled : PooledComponents or None
        The three numbers of equation (2), means over folds; None for ``cvs``.

    Raises
    ------
    ValueError
        If the shape does not have three axes, R or K is below two, design is unknown, or a loss is NaN or infinite.

    References
    ----------
    .. [1] Geras, K. J., Sutton, C. (2013). Multiple-source cross-validation. ICML, equations (2) and (7).

    Examples
    --------
    >>> import numpy as np
    >>> losses = np.random.default_rng(0).random((50, 5, 8))  # of fifty data sets
    >>> found = variance_components(losses, "cvr")
    >>> bool(np.isclose(found.theta, losses.mean(axis=(1, 2)).var(ddof=1)))
    True
    """
    check_one_of("design", design, ("cvs", "cvr"))
    losses = check_losses(losses)
    if isinstance(losses, list) or losses.ndim != 3 or len(losses) < 2:
        found = "folds of unequal sizes" if isinstance(losses, list) else f"shape {losses.shape}"
        raise ValueError(f"losses has {found}; expected (data sets, folds, rows) with at least two data sets")
    R, K, M = losses.shape
    covariance = np.cov(losses.mean(axis=2), rowvar=False)
    sigma = losses.var(axis=(0, 2)) + covariance.diagonal() / R
    omega = (M * covariance.diagonal() - sigma) / (M - 1) if M > 1 else np.full(K, np.nan)
    gamma = covariance.copy()
    np.fill_diagonal(gamma, np.nan)
    sigma_term = float(sigma.mean() / (K * M))
    omega_term = float((M - 1) * omega.mean() / (K * M)) if M > 1 else 0.0
    gamma_term = float(np.nansum(gamma) / K**2)
    pooled = None
    if design == "cvr":
        pooled = PooledComponents(float(sigma.mean()), float(omega.mean()), float(np.nanmean(gamma)))
    theta = sigma_term + omega_term + gamma_term
    return VarianceComponents(sigma, omega, gamma, sigma_term, omega_term, gamma_term, theta, pooled)
