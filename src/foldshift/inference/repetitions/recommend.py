"""Recommended number of repetitions of cross-validation, and the most that repeating can gain.

The estimates of different partitions of the same data share the data. With theta the variance of the estimate of one partition
and rho the correlation of two, ``Var(mean of r) = theta (1 + (r - 1) rho) / r``: repeating removes the partition variance ``(1 -
rho) theta`` and leaves the fixed variance ``rho theta``, which only more data reduce.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import chi2

from foldshift.core.arguments import check_confidence
from foldshift.core.gate.numbers import as_numbers
from foldshift.core.repr import figures, readable
from foldshift.inference._fold_scores import first_of_equal, fold_scores, rows_of_folds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, FloatArray, Floats, Splitter, TableLike

FEWEST_PARTITIONS = 5  # from fewer, the bound of the partition variance is over six times the estimate, and of no use
FEW_ERRORS = 10.0  # below, the number allows for them; from there on by less than a fifth
UNSEEN_STEPS = 2.0
"""Squared steps by which partitions that were not drawn are off; chosen on other draws of the cells of
``validation/tables/repetitions_by_cell.csv``."""
MOST_DRAWN = 1000  # repetitions in the plot


@readable
class Repetitions(NamedTuple):
    """Result of `recommend_repetitions`; it prints the promise and its limits."""

    n_partitions: int  # partitions the estimates come from
    mean: float  # mean estimate of the partitions
    # partition_variance, partition_bound: Variance of the estimate between partitions of these data, and its upper bound
    # (chi-square, one-sided, the estimates taken for normal). Another data set of the same size may have another one
    partition_variance: float
    partition_bound: float
    fixed_variance: float  # part of the variance of the estimate that no number of repetitions removes, as estimated
    # source of the fixed variance: the given theta less the partition variance, or the spread of the scores of the folds
    fixed_from: str
    # recommended number: with it the promise holds, ``ceil(partition_bound / (eps^2 fixed_variance))``, at least 1, and more
    # where few errors were seen. None if it is unknown; the note says why
    repetitions: int | None
    # the same number with the estimated partition variance in place of its bound; too small in 25 to 58 % of simulated studies
    plug_in: int | None
    # promise: the standard deviation that the choice of partitions leaves in the mean is at most eps times the one that no number
    # of repetitions removes
    eps: float
    confidence: float  # share of studies in which the promise holds
    note: str  # reason for a missing number; empty if none is missing
    n_errors: float = np.inf  # errors that the fixed variance rests on, where some fold has none; infinite where all folds have

    @property
    def rho(self) -> float:
        """Correlation of the estimates of two partitions: the share of the variance of one that no repetition removes.

        A plug-in, within 0 and 1; NaN where neither variance is above 0.
        """
        total = self.fixed_variance + self.partition_variance
        return self.fixed_variance / total if self.fixed_variance >= 0 and total > 0 else np.nan

    @property
    def most_gain(self) -> float:
        """Largest share of the variance of one partition that repeating can remove: ``1 - rho``."""
        return 1 - self.rho

    def curve(self, repetitions: ArrayLike) -> Floats:
        """Variance of the mean of r partitions as a share of that of one, see `variance_ratio`."""
        return variance_ratio(repetitions, self.rho)

    def sentences(self) -> list[str]:
        """Report the recommendation in words; a list of str."""
        n, share = self.n_partitions, f"{100 * self.confidence:g} %"
        said = [f"The mean of {n} repetitions of cross-validation is {figures(self.mean)}."]
        if self.repetitions is None:
            return [*said, f"How many repetitions are enough cannot be told: {self.note}."]
        if self.partition_variance == 0 and self.repetitions == 1:
            return [*said, "Folds of one row have one partition: repeating gains nothing, 1 repetition is enough."]
        if self.partition_variance == 0:
            said.append("All of them gave the same estimate; the number allows for partitions that differ and were not drawn.")
        said.append(
            f"{self.repetitions} repetitions are enough: with them the choice of folds leaves at most {self.eps:g} of the "
            f"standard deviation that no number of repetitions removes, in {share} of such studies."
        )
        if self.n_errors < FEW_ERRORS:
            said.append(
                f"The scores rest on some {self.n_errors:.0f} errors, which tell little about what repeating cannot remove; the "
                "number allows for that."
            )
        said.append(
            f"The plug-in number, without that promise, is {self.plug_in}; in simulated studies it was too small in 25 to 58 %."
        )
        said.append(
            f"Repeating for ever would take about {100 * self.most_gain:.0f} % off the variance of one repetition; the rest is "
            "due to the data, and repetitions are not independent."
        )
        return said

    def to_frame(self) -> pd.DataFrame:
        """Table with one row per quantity: ``quantity, plug_in, upper_bound``; NaN if unknown."""
        told = self.n_partitions >= FEWEST_PARTITIONS or self.partition_variance == 0
        rows = [
            (
                "standard deviation between partitions",
                self.partition_variance**0.5,
                self.partition_bound**0.5 if told else np.nan,
            ),
            ("standard deviation that repeating cannot remove", max(self.fixed_variance, 0.0) ** 0.5, np.nan),
            ("repetitions", self.plug_in, self.repetitions),
        ]
        frame = pd.DataFrame(rows, columns=["quantity", "plug_in", "upper_bound"])
        return frame.astype({"plug_in": float, "upper_bound": float})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the standard deviation that the choice of folds leaves in the mean of r repetitions, and the wanted one."""
        import matplotlib.pyplot as plt

        ax = plt.subplots()[1] if ax is None else ax
        r = np.arange(1, min(MOST_DRAWN, 2 * (self.repetitions or 50)) + 1)
        ax.plot(r, np.sqrt(self.partition_variance / r), color="#000000", label="estimated")
        if self.repetitions is not None:
            bound = f"upper bound, {100 * self.confidence:g} %"
            ax.plot(r, np.sqrt(self.partition_bound / r), color="#000000", dashes=(4, 2), label=bound)
            ax.axvline(self.repetitions, color="#7F7F7F", lw=0.8, label=f"recommended: {self.repetitions}")
        if self.fixed_variance > 0:
            wanted = self.eps * self.fixed_variance**0.5
            ax.axhline(wanted, color="#D55E00", lw=1, label=f"{self.eps:g} of what repeating cannot remove")
        ax.set(xlabel="repetitions", ylabel="standard deviation left by the choice of folds", xscale="log")
        ax.legend()
        return ax


def variance_ratio(repetitions: ArrayLike, rho: float) -> Floats:
    """Variance of the mean of r partitions as a share of that of one, ``(1 + (r - 1) rho) / r``.

    Source: Wong, T.-T. (2015). Performance evaluation of classification algorithms by k-fold and leave-one-out cross validation.
    Pattern Recognition 48, section 4.3, which claims that the variance does not fall; this is what it does.
    """
    r = as_numbers(repetitions, "repetitions")
    if not (r >= 1).all():
        raise ValueError(f"repetitions={repetitions!r} must be 1 or more")
    ratio = rho + (1 - rho) / r
    return float(ratio) if ratio.ndim == 0 else ratio


def recommend_repetitions(
    scores: ArrayLike | dict[str, Any],
    *,
    cv: int | Splitter | Iterable[tuple[Array, Array]] | None = None,
    n_splits: int | None = None,
    n_repeats: int | None = None,
    metric: str | None = None,
    theta: float | None = None,
    eps: float = 0.1,
    confidence: float = 0.9,
) -> Repetitions:
    """Number of repetitions after which the choice of partitions hardly matters.

    The mean of r partitions is settled when the standard deviation that the choice of partitions leaves in it is at most eps
    times the one that no number of repetitions removes: beyond that, the figure becomes more exact, but not closer to the truth.

    Parameters
    ----------
    scores : array-like of shape (r, k) or (r * k,), or dict
        Scores of the k folds of r partitions of the same data (differences of two learners as well): an array, or the result of
        scikit-learn's `cross_val_score` (flat; say `cv` or `n_splits`) or `cross_validate`. Folds have equal weight. With theta
        also of shape (r,): the estimates of the partitions.
    cv : int, splitter or iterable of (train, test), optional
        Splitter that cut the data, its number of folds, or the rows of every fold. Repetitions of the same partition count once
        where the rows are known: from `cv`, or from `cross_validate` with ``return_indices=True``.
    n_splits, n_repeats : int, optional
        Folds and repetitions, instead of `cv`; one of them is enough for flat scores.
    metric : str, optional
        Name of the scorer, if `cross_validate` was given several.
    theta : float, optional
        Variance of the estimate of one partition, over data sets and partitions, in squared units of the score. The part that
        repeating cannot remove is then theta less the partition variance. Default: the variance of the folds within a partition,
        divided by k, mean over partitions. It ignores the training rows that folds share, so it tends to be too small rather than
        too large: .94 to .5 of theta on simulated sets of 100 rows, for a stable learner and an unstable one.
    eps : float, default=0.1
        See above; larger than 0.
    confidence : float, default=0.9
        Share of studies in which the promise should hold. Half of the risk goes to the bound of the partition variance, one-sided
        and by chi-square; the other half is left for the error of the part that repeating cannot remove.

    Returns
    -------
    recommendation : Repetitions
        Print it. Fewer than five partitions give no number, unless they are those of leave-one-out: then 1. Estimates that are
        all equal give the number for partitions that were not drawn and differ by a row or two.

    Raises
    ------
    ValueError
        If there are fewer than two partitions, the shape can be read in two ways, a score is not finite, theta is needed and not
        given or negative, or eps or confidence is out of range.

    Notes
    -----
    In simulated studies (``validation/tables/coverage_repetitions.csv``: 100 rows, 10 folds, 10 partitions, eps = .1) the promise
    at .9 held in 96 % of those of a nearest centroid, and 96.5 % of those of a stump and of a nearest centroid of 200 inputs;
    the plug-in in 47.5, 75 and 65 %. With 5 folds, or 5 partitions, the promise held in 92.5 % or more, the plug-in in 42 % or
    more. In 40 cells with errors from .5 to 25 % (``repetitions_by_cell.csv``) it held in 98 % on average, and in 90 % of the
    lowest cell. Where most samples have no error or one, the folds of the others overrate what repeating cannot remove: the
    number then allows for the few errors that were seen.

    References
    ----------
    .. [1] Bouckaert, R. R. and Frank, E. (2004). Evaluating the replicability of significance tests for comparing learning
           algorithms. PAKDD, 3-12.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
    >>> from sklearn.naive_bayes import GaussianNB
    >>> cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=10, random_state=0)
    >>> found = recommend_repetitions(cross_val_score(GaussianNB(), *load_iris(return_X_y=True), cv=cv), cv=cv)
    >>> found.n_partitions, found.plug_in < found.repetitions
    (10, True)
    """
    check_confidence(confidence)
    if not 0 < eps < np.inf:
        raise ValueError(f"eps={eps!r} must be larger than 0, e.g. 0.1")
    if theta is not None and not 0 <= theta < np.inf:
        raise ValueError(f"theta={theta!r} must be a variance, 0 or more; a negative estimate of it cannot be used here")
    cv = list(cv) if isinstance(cv, Iterable) and not hasattr(cv, "get_n_splits") else cv
    given = rows_of_folds(scores) if cv is None or hasattr(cv, "get_n_splits") else cv
    scores = _read(scores, cv, n_splits, n_repeats, metric, theta)
    n_made = len(scores)
    scores = scores[first_of_equal(given, n_made)]
    n, size = len(scores), np.abs(scores).max()
    if n < 2:
        if n_made > 1:
            raise ValueError(f"the {n_made} repetitions are one partition, cut again; repeat with other partitions of the data")
        raise ValueError(
            "scores comes from 1 partition; two partitions of the same data are needed to see how far the estimate depends on "
            "the partition"
        )
    estimates = scores.mean(axis=1)
    variance = _variance(estimates, size)
    if theta is None:
        fixed, fixed_from = float(np.mean([_variance(row, size) for row in scores])) / scores.shape[1], "folds"
    else:
        fixed, fixed_from = float(theta) - variance, "given"
    bound = float((n - 1) * variance / chi2.ppf((1 - confidence) / 2, n - 1))
    n_errors = _errors(scores, fixed) if theta is None and fixed > 0 else np.inf
    leave_one_out = variance == 0 and scores.shape[1] > 2 and set(np.unique(scores)) == {0.0, 1.0}  # folds of one row
    if variance == 0 and not leave_one_out:
        bound = _unseen(scores, confidence)
    repetitions: int | None = None
    plug_in: int | None = None
    note = ""
    if leave_one_out:
        repetitions = plug_in = 1
    elif n < FEWEST_PARTITIONS:
        note = (
            f"{n} repetitions do not tell how far the estimate depends on the folds; repeat at least {FEWEST_PARTITIONS} times, "
            "better 10"
        )
    elif variance == 0 and bound == 0:
        note = "all scores are the same, so that nothing tells how far another partition may be off"
    elif fixed <= 0 and theta is None:
        note = "all folds of a repetition have the same score, so that nothing tells what repeating cannot remove; give theta"
    elif n_errors < 1:
        note = "the scores of a partition rest on less than one error, so that nothing tells what repeating cannot remove"
    elif fixed <= 0:
        note = "the partitions differ by more than theta allows, which is too small for these data"
    else:
        # rounded before it is rounded up, or 10.000000000000002 repetitions would become 11
        least = 1 if variance > 0 else 2  # equal estimates are no proof that another partition gives the same
        wider = _of_few_errors(n_errors, bound / variance, confidence) if variance > 0 else 1.0
        repetitions, plug_in = (max(least, int(np.ceil(round(v / (eps**2 * fixed), 9)))) for v in (wider * bound, variance))
    mean = float(estimates.mean())
    return Repetitions(n, mean, variance, bound, fixed, fixed_from, repetitions, plug_in, eps, confidence, note, n_errors)


def _read(
    scores: TableLike, cv: Any, n_splits: int | None, n_repeats: int | None, metric: str | None, theta: float | None
) -> FloatArray:
    """Read scores of shape (r, k); with theta and without a design, a row of numbers holds r estimates, (r, 1)."""
    if theta is not None and cv is None and n_splits is None and n_repeats is None and metric is None and np.ndim(scores) == 1:
        n_splits = 1
    scores = fold_scores(scores, cv, n_splits, n_repeats, metric).scores
    if theta is None and scores.shape[1] < 2:
        raise ValueError(
            f"scores has shape {scores.shape}, without folds to tell what repeating cannot remove; give theta, the variance of "
            "one estimate"
        )
    return scores


def _unseen(scores: FloatArray, confidence: float) -> float:
    """Bound of the variance between partitions that all gave the same estimate: others may be off by a row or two."""
    steps = np.diff(np.unique(scores))
    step = float(steps[steps > 1e-12 * np.abs(scores).max()].min(initial=np.inf)) / scores.shape[1]
    share = 1 - ((1 - confidence) / 2) ** (1 / len(scores))
    return UNSEEN_STEPS * share * step**2 if np.isfinite(step) else 0.0


def _errors(scores: FloatArray, fixed: float) -> float:
    """Number of errors that scores rest on, where some fold has none: a rare count of mean m has the relative variance 1/m.

    Differences of either sign tell no such number, as their errors cancel.
    """
    sizes = np.abs(scores)
    if scores.min() < 0 < scores.max() or sizes.max() > 1:
        return np.inf
    ends = [end for end in (0.0, 1.0) if np.isclose(sizes, end, rtol=0, atol=1e-12).any()]
    return float(min(np.abs(sizes - end).mean() for end in ends) ** 2 / fixed) if ends else np.inf


def _of_few_errors(n_errors: float, of_partitions: float, confidence: float) -> float:
    """Factor of the number of repetitions where the fixed variance rests on few errors.

    Its lower bound is that of a Poisson mean; the bounds of both variances are joined as margins on the logarithm (MOVER [1]_).

    References
    ----------
    .. [1] Zou, G.Y., Donner, A. (2008). Construction of confidence limits about effect measures. Statistics in Medicine 27,
           1693-1702.
    """
    if n_errors >= FEW_ERRORS:
        return 1.0
    of_errors = np.log(n_errors) - np.log(chi2.ppf((1 - confidence) / 2, 2 * n_errors) / 2)
    margin = np.log(of_partitions)
    return float(np.exp(np.hypot(margin, of_errors) - margin))


def _variance(values: FloatArray, size: float) -> float:
    """Variance with ddof 1; exactly 0 if the values differ only by rounding."""
    return 0.0 if np.ptp(values) <= 1e-12 * size else float(values.var(ddof=1))
