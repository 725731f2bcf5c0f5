"""Wong's claims about cross-validation, checked on simulated losses.

Every function takes 0/1 losses (1 = wrong) of many simulated data sets and returns a dictionary from the name of a quantity to a
`Measured`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.stats import binom, norm
from scipy.stats import t as student

from foldshift.inference.intervals.accuracy import LARGE_SAMPLE, accuracy_interval

if TYPE_CHECKING:
    from foldshift.core.types import BoolArray, FloatArray, TableLike

JACKKNIFE_GROUPS = 50  # of the data sets, for standard errors


class Measured(NamedTuple):
    """Simulated quantity with its Monte Carlo standard error."""

    value: float
    standard_error: float


class Claim(NamedTuple):
    """Claim of the paper: ``quantity`` of ``function`` would have ``value`` if it were true."""

    section: str
    claim: str
    function: str
    quantity: str
    value: float


CLAIMS = (
    Claim("3, Proposition 1", "The accuracies of the k folds are independent.", "fold_independence", "sigma_share", 1.0),
    Claim(
        "3, Definition 1(b)",
        "Learners with different representations are right independently.",
        "scheme_independence",
        "phi",
        0.0,
    ),
    Claim("4.3.4", "The variance does not reduce when cross-validation is repeated.", "repetition", "variance_ratio", 1.0),
    Claim("4.1 and 4.3.1", "Folds that fail the large-sample conditions should be left out.", "dropping_bias", "bias", 0.0),
)


class DroppingBias(NamedTuple):
    """Result of `dropping_bias`, exact."""

    bias: float  # given that a fold is kept; it does not depend on k then
    bias_keeping_all: float  # of the mean over all folds
    fold_kept: float  # probability that a fold meets the conditions
    none_kept: float  # probability that no fold does, and there is no estimate


def fold_independence(losses: TableLike, *, confidence: float = 0.95, truth: float | None = None) -> dict[str, Measured]:
    """Measure the share of the variance of cross-validation that Wong's formula counts, and the coverage of his intervals.

    ``sigma_share``, ``omega_share`` and ``gamma_share`` are the parts of the variance from single instances, pairs in one fold,
    and pairs in different folds; independent folds and instances would have 1, 0, 0. The true accuracy is `truth`, by default the
    mean over the data sets.

    The mean accuracy is a multiple of 1/N and the ends of the intervals of a data set depend on nothing else, so that their
    coverage jumps by a hundredth or more (at N = 100) as the truth crosses an end. ``coverage_within`` is smoother; compare
    learners by it. Sources: [1] Wong (2015), Proposition 1 and Theorem 1. [2] Bengio, Grandvalet (2004). No unbiased estimator of
    the variance of k-fold cross-validation. JMLR 5, 1089-1105.
    """
    losses = _losses(losses, 3, "(R, K, M)", 2)
    k, m = losses.shape[1:]
    right = m - losses.sum(axis=2)
    intervals = (
        accuracy_interval(right, m, "dataset", method="normal", confidence=confidence),
        accuracy_interval(right, m, "fold", method="normal", confidence=confidence),
        accuracy_interval(right, m, "dataset", method="wilson", confidence=confidence),
    )
    limits = [limit for interval in intervals for limit in (interval.low, interval.high)]
    means, within = right.mean(axis=1) / m, (right * (m - right)).mean(axis=1) / (m * (m - 1))
    half = norm.isf((1 - confidence) / 2) * np.sqrt(within / (k * m))
    limits += [means - half, means + half]

    def statistic(rows: FloatArray) -> dict[str, float]:
        folds, limits = rows[:, :k] / m, rows[:, k:]
        means = folds.mean(axis=1)
        theta, diagonal = means.var(ddof=1), folds.var(axis=0, ddof=1).mean()
        sigma = means.mean() * (1 - means.mean())
        omega = (m * diagonal - sigma) / (m - 1)
        gamma = (k * theta - diagonal) / (k - 1)
        shares = np.array([sigma / (k * m), (m - 1) / (k * m) * omega, (k - 1) / k * gamma]) / _positive(theta, "losses")
        covered = _covered(means.mean() if truth is None else truth, limits)
        found = {"variance": theta} | dict(zip(("sigma_share", "omega_share", "gamma_share"), shares))
        names = ("coverage_dataset", "coverage_fold", "coverage_wilson", "coverage_within")
        return found | dict(zip(names, covered, strict=True))

    return _measured(statistic, np.column_stack([right, *limits]))


def scheme_independence(losses_a: TableLike, losses_b: TableLike, *, confidence: float = 0.95) -> dict[str, Measured]:
    """Measure the dependence of two learners (or partitions) on the same instances, and its effect on Theorems 3 and 4.

    ``independent_ratio`` and ``matched_ratio``: expected squared standard error of Theorem 3 and of the matched test over
    instances, divided by the true variance of the difference. ``minus``, ``zero``, ``plus``: probabilities of the differences -1,
    0, +1; ``..._product``: those of Theorem 4.

    Two omissions pull Theorem 3's variance apart: the covariance of the learners on an instance makes it too large, that between
    instances (overlapping training sets) too small. ``independent_ratio`` shows the balance, ``matched_ratio`` the second alone.
    Source: Wong (2015), Definition 1(b), Theorems 3 and 4.
    """
    a, b = _losses(losses_a, 2, "(R, N)", 2, "losses_a"), _losses(losses_b, 2, "(R, N)", 2, "losses_b")
    if a.shape != b.shape:
        raise ValueError(
            f"losses_a and losses_b have shapes {a.shape} and {b.shape}; expected the same instances of the same data sets"
        )
    n = a.shape[1]
    right_a, right_b = 1 - a.mean(axis=1), 1 - b.mean(axis=1)
    only_a, only_b = (b & ~a).mean(axis=1), (a & ~b).mean(axis=1)
    difference = right_a - right_b
    independent = (right_a * (1 - right_a) + right_b * (1 - right_b)) / n
    matched = (only_a + only_b - difference**2) / (n - 1)
    z, t = norm.isf((1 - confidence) / 2), student.isf((1 - confidence) / 2, n - 1)
    limits = [difference + sign * q * np.sqrt(v) for q, v in ((z, independent), (t, matched)) for sign in (-1, 1)]

    def statistic(rows: FloatArray) -> dict[str, float]:
        at = _Schemes(*rows[:, : len(_Schemes._fields)].T)
        p_a, p_b, plus, minus = at.right_a.mean(), at.right_b.mean(), at.only_a.mean(), at.only_b.mean()
        covariance = (at.right_a - at.only_a).mean() - p_a * p_b  # both right, less the product
        phi = covariance / np.sqrt(_positive(p_a * (1 - p_a), "losses_a") * _positive(p_b * (1 - p_b), "losses_b"))
        theta = (at.right_a - at.right_b).var(ddof=1)
        minus_product, plus_product = (1 - p_a) * p_b, p_a * (1 - p_b)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.array([at.independent.mean(), at.matched.mean()]) / theta
        found = {"accuracy_a": p_a, "accuracy_b": p_b, "covariance": covariance, "phi": phi, "difference_variance": theta}
        found |= {"independent_ratio": ratios[0], "matched_ratio": ratios[1]}
        found |= {"minus": minus, "zero": 1 - minus - plus, "plus": plus}
        found |= {"minus_product": minus_product, "zero_product": 1 - minus_product - plus_product, "plus_product": plus_product}
        covered = _covered(p_a - p_b, rows[:, len(_Schemes._fields) :])
        return found | dict(zip(("coverage_independent", "coverage_matched"), covered, strict=True))

    return _measured(statistic, np.column_stack([*_Schemes(right_a, right_b, only_a, only_b, independent, matched), *limits]))


class _Schemes(NamedTuple):
    """Shares of a data set that a learner, or only this learner, gets right, and squared standard errors of two tests."""

    right_a: FloatArray
    right_b: FloatArray
    only_a: FloatArray
    only_b: FloatArray
    independent: FloatArray
    matched: FloatArray


def repetition(losses: TableLike, *, confidence: float = 0.95) -> dict[str, Measured]:
    """Measure the effect of repeating cross-validation with other partitions on the variance of the mean accuracy.

    ``rho`` is the correlation of the accuracies of two partitions; ``variance_ratio``, ``(1 + (r - 1) rho) / r``, never falls
    below it. ``coverage_1``: of the interval from the first partition; ``coverage_r``: of the same width around the mean of r;
    ``coverage_counted``: of the interval that counts all r N predictions as independent. Source: Wong (2015), section 4.3.4.
    """
    losses = _losses(losses, 3, "(R, r, N)", 2)
    r, n = losses.shape[1:]
    accuracies = 1 - losses.mean(axis=2)
    first = accuracy_interval(n - losses[:, :1].sum(axis=2), n, method="normal", confidence=confidence)
    counted = accuracy_interval(n - losses.sum(axis=2), n, method="normal", confidence=confidence)
    half = (counted.high - counted.low) / 2
    limits = [first.low, first.high]
    for width in (np.sqrt(r) * half, half):
        limits += [counted.estimate - width, counted.estimate + width]

    def statistic(rows: FloatArray) -> dict[str, float]:
        accuracies, limits = rows[:, :r], rows[:, r:]
        one, mean = accuracies.var(axis=0, ddof=1).mean(), accuracies.mean(axis=1).var(ddof=1)
        ratio = mean / _positive(one, "losses")
        found = {"variance_1": one, "variance_r": mean, "variance_ratio": ratio, "rho": (r * ratio - 1) / (r - 1)}
        covered = _covered(accuracies.mean(), limits)
        return found | dict(zip(("coverage_1", "coverage_r", "coverage_counted"), covered, strict=True))

    return _measured(statistic, np.column_stack([accuracies, *limits]))


def fold_differences(losses_a: TableLike, losses_b: TableLike, *, confidence: float = 0.95) -> dict[str, Measured]:
    """Measure the coverage of the interval of the difference of two learners that the matched t over folds makes.

    Source: Wong (2015), Theorem 2.
    """
    a, b = (_losses(losses, 3, "(R, K, M)", 2, name) for losses, name in ((losses_a, "losses_a"), (losses_b, "losses_b")))
    gaps = b.mean(axis=2) - a.mean(axis=2)
    k = gaps.shape[1]
    means = gaps.mean(axis=1)
    half = student.isf((1 - confidence) / 2, k - 1) * gaps.std(axis=1, ddof=1) / np.sqrt(k)

    def statistic(rows: FloatArray) -> dict[str, float]:
        return {"coverage_folds": float(_covered(rows[:, 0].mean(), rows[:, 1:])[0])}

    return _measured(statistic, np.column_stack([means, means - half, means + half]))


def uneven_folds(
    accuracies: TableLike, reference: TableLike, failing: TableLike, *, confidence: float = 0.95
) -> dict[str, Measured]:
    """Measure the effect of another way to cut the same data sets into folds that are not all of one size.

    Accuracies of the folds are of shape (R, k), by the way and by the reference; `failing`, of shape (R,), marks data sets with a
    fold that fails the large-sample conditions. ``difference`` and ``moved`` are the mean difference of the accuracy of a data
    set from that of the reference, with its sign and without; ``variance_ratio`` is the true variance of the accuracy over that
    of the reference, ``spread_ratio`` the same of the variance that the folds show, ``coverage_fold`` the coverage of Wong's
    interval at the level of folds. Source: Wong (2015), section 4.3.2.
    """
    own, other = (np.asarray(values, dtype=np.float64) for values in (accuracies, reference))
    k = own.shape[1]
    own_mean, other_mean = own.mean(axis=1), other.mean(axis=1)
    own_spread, other_spread = own.var(axis=1, ddof=1) / k, other.var(axis=1, ddof=1) / k
    half = student.isf((1 - confidence) / 2, k - 1) * np.sqrt(own_spread)

    def statistic(rows: FloatArray) -> dict[str, float]:
        mean, reference, spread, other_spread, low, high, failed = rows.T
        found = {"accuracy": mean.mean(), "difference": (mean - reference).mean(), "moved": np.abs(mean - reference).mean()}
        found["variance_ratio"] = mean.var(ddof=1) / _positive(reference.var(ddof=1), "reference")
        found["spread_ratio"] = spread.mean() / _positive(other_spread.mean(), "reference")
        return found | {
            "coverage_fold": _covered(mean.mean(), np.column_stack([low, high]))[0],
            "failing": failed.mean(),
        }

    columns = [own_mean, other_mean, own_spread, other_spread, own_mean - half, own_mean + half, np.asarray(failing, np.float64)]
    return _measured(statistic, np.column_stack(columns))


def dropping_bias(p: float, m: int, k: int) -> DroppingBias:
    """Exact bias of the mean accuracy when folds that fail the large-sample conditions are left out.

    The k folds of m instances are independent and binomial with accuracy p, as in the paper; below ``m = 10`` none can be kept.
    Source: Wong (2015), sections 4.1 and 4.3.1.
    """
    if not 0 < p < 1:
        raise ValueError(f"p={p!r} must be between 0 and 1")
    if m < 2 * LARGE_SAMPLE:
        raise ValueError(
            f"m={m!r} must be at least {2 * LARGE_SAMPLE}; in a smaller fold the large-sample conditions cannot hold"
        )
    if k < 1:
        raise ValueError(f"k={k!r} must be at least 1")
    r = np.arange(m + 1)
    probability = binom.pmf(r, m, p)
    kept = (r >= LARGE_SAMPLE) & (m - r >= LARGE_SAMPLE)
    fold_kept = probability[kept].sum()
    bias = (probability * r)[kept].sum() / (m * fold_kept) - p
    return DroppingBias(float(bias), float((probability * r).sum() / m - p), float(fold_kept), float((1 - fold_kept) ** k))


def normal_coverage(p: float, n: int, confidence: float = 0.95) -> float:
    """Exact coverage of the normal interval for an accuracy p, from n independent predictions.

    Source: Wong (2015), section 2, for the rule of five right and five wrong.
    """
    r = np.arange(n + 1)
    interval = accuracy_interval(r[:, None], n, method="normal", confidence=confidence)
    return float(binom.pmf(r, n, p)[(interval.low <= p) & (p <= interval.high)].sum())


def _losses(losses: TableLike, ndim: int, shape: str, least: int, name: str = "losses") -> BoolArray:
    losses = np.asarray(losses)
    if losses.ndim != ndim or min(losses.shape) < least:
        raise ValueError(f"{name} has shape {losses.shape}; expected {shape} with at least {least} along each axis")
    if not ((losses == 0) | (losses == 1)).all():
        raise ValueError(f"{name} must hold 0 (right) and 1 (wrong) only, got {losses[(losses != 0) & (losses != 1)][0]:g}")
    return losses.astype(bool)


def _positive(value: float, name: str) -> float:
    if not value > 0:
        raise ValueError(f"{name} does not vary between data sets; the claim cannot be checked")
    return value


def _covered(truth: float, limits: FloatArray) -> FloatArray:
    """Share of data sets with the truth inside the interval, for every pair of columns (low, high)."""
    return ((limits[:, ::2] <= truth) & (truth <= limits[:, 1::2])).mean(axis=0)


def _measured(statistic: Callable[[FloatArray], dict[str, float]], rows: FloatArray) -> dict[str, Measured]:
    """Compute `statistic`, with standard errors by the jackknife over groups of data sets (the rows)."""
    values = statistic(rows)
    groups = min(JACKKNIFE_GROUPS, len(rows) // 2)
    if groups < 2:
        return {name: Measured(float(value), np.nan) for name, value in values.items()}
    edges = np.linspace(0, len(rows), groups + 1).astype(np.int64)
    without = [statistic(np.delete(rows, slice(low, high), axis=0)) for low, high in pairwise(edges)]
    errors = np.sqrt((groups - 1) * np.array([list(one.values()) for one in without]).var(axis=0))
    return {name: Measured(float(value), float(error)) for (name, value), error in zip(values.items(), errors, strict=True)}
