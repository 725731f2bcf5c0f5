"""Share of single cross-validation experiments that find the true difference between two classifiers.

A comparison of two classifiers is Wilcoxon's signed-ranks test over the data sets. The pairs that differ in truth are kept; an
experiment agrees with the truth about a pair if its own test is at least as significant, in the same direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foldshift.core.counting import add_up
from foldshift.core.gate.numbers import as_numbers
from foldshift.inference.comparisons.wilcoxon import equal_rows, wilcoxon_signed_ranks
from foldshift.inference.missing import mean_present, std_present

if TYPE_CHECKING:
    from foldshift.core.types import Array, BoolArray, FloatArray, Formula, IntArray

ALPHA = 0.1  # level at which the truth must be significant
DECIMALS = 12  # differences of means are rounded, as their last bits differ with the order of summation


class PairTests(NamedTuple):
    """Wilcoxon tests of pairs of classifiers over the data sets; every field but the last has shape (n_pairs,)."""

    row: IntArray
    column: IntArray
    r_plus: FloatArray  # sum of ranks of the wins of the row; NaN if a pair shares no data set
    r_minus: FloatArray
    p_value: FloatArray
    n_datasets: IntArray
    method: list[str]

    def take(self, chosen: IntArray) -> PairTests:
        """Tests of the chosen pairs."""
        row, column, n_datasets = self.row[chosen], self.column[chosen], self.n_datasets[chosen]
        r_plus, r_minus, p_value = self.r_plus[chosen], self.r_minus[chosen], self.p_value[chosen]
        return PairTests(row, column, r_plus, r_minus, p_value, n_datasets, [self.method[i] for i in chosen])


class Agreements(NamedTuple):
    """Result of `agreements`."""

    pairs: PairTests
    agree: BoolArray
    opposite: BoolArray
    judged: BoolArray


class TruthErrors(NamedTuple):
    """Result of `truth_errors`, in per cent."""

    percent: float  # of the agreements over all kept pairs
    by_pair: FloatArray  # (n_learners, n_learners); of the share of one pair, over the draws that keep it


class Accuracy(NamedTuple):
    """Result of `accuracy`, in per cent of the kept pairs except for the counts; NaN if no pair is significant or judged."""

    percent: float
    standard_error: float  # over the experiments; NaN if a part has only one
    opposite_percent: float
    n_pairs: float  # mean over the parts
    n_experiments: int  # fewest that a pair is judged by
    by_subset: FloatArray
    without_one: FloatArray  # without each of the data sets

    @property
    def jackknife_error(self) -> float:
        """Standard error over data sets, by leaving one out."""
        return jackknife_error(self.without_one)


class RepetitionsCurve(NamedTuple):
    """Result of `accuracy_by_repetitions`, in per cent, for every number m of experiments."""

    m: IntArray
    percent: FloatArray
    std: FloatArray  # over the draws: about the spread of one user's result
    standard_error: FloatArray  # of the per cent; larger than the draws alone suggest, as they share experiments


def pairwise_tests(values: Array, formula: Formula = "corrected") -> PairTests:
    """Compare every classifier with every later one over the data sets on which both have results; higher is better."""
    values = _check(values, 2, "(n_learners, n_datasets)")
    row, column = np.triu_indices(len(values), k=1)
    r_plus, r_minus, p, method = _signed_ranks(values[row] - values[column], formula)
    n_datasets = (~np.isnan(values[row] - values[column])).sum(axis=1)
    return PairTests(row, column, r_plus, r_minus, p, n_datasets, method)


def significant_pairs(truth_mean: Array, alpha: float = ALPHA, formula: Formula = "corrected") -> PairTests:
    """Tests of the pairs of classifiers that differ in truth, with p of at most alpha.

    Source: Moreno-Torres, Saez, Herrera (2012), section V, step 2.
    """
    tests = pairwise_tests(truth_mean, formula)
    return tests.take(np.flatnonzero(tests.p_value <= alpha))


def agreements(
    truth_mean: Array, experiments: Array, alpha: float = ALPHA, formula: Formula = "corrected", pairs: PairTests | None = None
) -> Agreements:
    """Find the experiments that agree with the truth about each pair of classifiers.

    Parameters
    ----------
    truth_mean : ndarray of shape (n_learners, n_datasets)
        The true results; NaN if there is none.
    experiments : ndarray of shape (n_learners, n_datasets, n_experiments)
        Results of single experiments; NaN if there is none. Data sets without truth are left out.
    alpha : float, default=0.1
        Level at which the truth must be significant.
    formula : {"corrected", "paper"}, default="corrected"
        Formula of Wilcoxon's test under ties, see `wilcoxon_signed_ranks`. Differences are rounded to 12 decimals before they are
        ranked.
    pairs : PairTests, optional
        Pairs with their p and sums of ranks, if others than those of the truth are asked for; the truth then only says which data
        sets count.

    Returns
    -------
    agreements : Agreements
        ``pairs``, the pairs kept; ``agree`` and ``opposite``, bool of shape (n_pairs, n_experiments): the experiment's p is at
        most the true p of the pair and the difference has the sign it has in truth, or the opposite one. ``judged``, of the same
        shape: True if the experiment has results on all data sets that the truth of the pair rests on; if it lacks one, its p
        cannot be compared with the true one, and it is neither.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.array([np.arange(6) / 10 + 0.3, np.arange(6) / 10])
    >>> experiments = np.stack([truth, truth[::-1]], axis=2)
    >>> found = agreements(truth, experiments)
    >>> found.agree.tolist(), found.opposite.tolist()
    ([[True, False]], [[False, True]])

    References
    ----------
    .. [1] Moreno-Torres, Saez, Herrera (2012), section V, steps 3 and 4. The paper does not say that the sign must be that of the
           truth.
    """
    truth_mean = _check(truth_mean, 2, "(n_learners, n_datasets)")
    experiments = _check(experiments, 3, "(n_learners, n_datasets, n_experiments)")
    if experiments.shape[:2] != truth_mean.shape:
        raise ValueError(f"experiments of shape {experiments.shape} do not belong to a truth of shape {truth_mean.shape}")
    pairs = significant_pairs(truth_mean, alpha, formula) if pairs is None else pairs
    tests = _tests_of_experiments(truth_mean, experiments, pairs, formula)
    reached = (tests.p_value <= pairs.p_value[:, None]) & tests.judged
    same = tests.sign == np.sign(pairs.r_plus - pairs.r_minus)[:, None]
    return Agreements(pairs, reached & same, reached & ~same, tests.judged)


def draw_experiments(n_experiments: int, n_draws: int, rng: np.random.Generator) -> IntArray:
    """Draw indices of experiments with replacement, shape (n_draws, n_experiments); no draw from fewer than two."""
    return rng.integers(0, n_experiments, (n_draws if n_experiments > 1 else 0, n_experiments))


def truth_errors(
    truth: Array, experiments: Array, drawn: Array, alpha: float = ALPHA, formula: Formula = "corrected"
) -> TruthErrors:
    """Error that the experiments of the truth add to `agreements` and `accuracy`: other ones would set other thresholds.

    A bootstrap: the experiments of the truth are drawn with replacement, and the pairs and their p come from the mean of a draw;
    the judged experiments stay the same. The error is common to all partitioners that are judged by this truth.
    """
    truth, experiments = (_check(one, 3, "(n_learners, n_datasets, n_experiments)") for one in (truth, experiments))
    everything = pairwise_tests(mean_present(truth), formula)
    singles = _tests_of_experiments(mean_present(truth), experiments, everything, formula)
    judged = singles.judged
    percents, shares = [], []
    for chosen in drawn:
        tests = pairwise_tests(mean_present(truth[:, :, chosen]), formula)
        kept = tests.p_value <= alpha
        same = singles.sign == np.sign(tests.r_plus - tests.r_minus)[:, None]
        agree = (singles.p_value <= tests.p_value[:, None]) & same & judged
        percents.append(mean_present(_percent(agree[kept], judged[kept])))
        share = mean_present(np.where(judged, agree, np.nan), axis=1)
        shares.append(np.where(kept, 100 * share, np.nan))
    by_pair = np.full((len(truth), len(truth)), np.nan)
    if len(shares):
        errors = std_present(np.array(shares), axis=0)
        by_pair[everything.row, everything.column] = by_pair[everything.column, everything.row] = errors
    return TruthErrors(float(std_present(np.array(percents))) if percents else np.nan, by_pair)


def halves(n_experiments: int) -> tuple[BoolArray, BoolArray]:
    """Masks of the two halves of the experiments, so that each can be judged by the mean of the other."""
    first = np.arange(n_experiments) < n_experiments // 2
    return first, ~first


def accuracy(
    parts: Sequence[tuple[Array, Array]], subsets: BoolArray, alpha: float = ALPHA, formula: Formula = "corrected"
) -> Accuracy:
    """Per cent of agreements of single experiments with the truth (Table VI), with its errors.

    A part is a truth (n_learners, n_datasets) with the experiments judged by it. Everything, the choice of pairs included, is
    repeated on each of the subsets (n_subsets, n_datasets).
    """
    whole = [agreements(truth, experiments, alpha, formula) for truth, experiments in parts]
    weights = np.array([experiments.shape[2] for _, experiments in parts], dtype=np.float64)
    weights /= weights.sum()
    variances = []
    for found in whole:
        each = _percent(found.agree, found.judged)
        each = each[~np.isnan(each)]
        variances.append(each.var(ddof=1) / len(each) if len(each) > 1 else np.nan)
    alone = ~np.eye(subsets.shape[1], dtype=bool)
    return Accuracy(
        percent=float(add_up(w * mean_present(_percent(found.agree, found.judged)) for w, found in zip(weights, whole))),
        standard_error=float(np.sqrt(add_up(w**2 * v for w, v in zip(weights, variances)))),
        opposite_percent=float(
            add_up(w * mean_present(_percent(found.opposite, found.judged)) for w, found in zip(weights, whole))
        ),
        n_pairs=float(np.mean([len(found.pairs.row) for found in whole])),
        n_experiments=sum(_fewest(found.judged) for found in whole),
        by_subset=_over_subsets(parts, weights, subsets, alpha, formula),
        without_one=_over_subsets(parts, weights, alone, alpha, formula) if len(alone) > 1 else np.full(1, np.nan),
    )


def draw_subsets(n_datasets: int, n_subsets: int, rng: np.random.Generator) -> BoolArray:
    """Draw subsets of two thirds of the data sets, as masks; none of fewer than three data sets."""
    if n_datasets < 3:
        return np.zeros((0, n_datasets), dtype=bool)
    ranks = np.argsort(np.argsort(rng.random((n_subsets, n_datasets)), axis=1), axis=1)
    return ranks < kept_datasets(n_datasets)


def kept_datasets(n_datasets: int) -> int:
    """Size of a subset of `draw_subsets`: two thirds, rounded up."""
    return -(-2 * n_datasets // 3)


def subset_error(by_subset: Array, n_datasets: int) -> float:
    """Standard error over data sets from results on subsets of two thirds (delete-d jackknife).

    Source: Shao, J., Wu, C.F.J. (1989). A general theory for jackknife variance estimation. Annals of Statistics 17, 1176-1197.
    """
    found = by_subset[~np.isnan(by_subset)]
    if len(found) < 2:
        return float("nan")
    kept = kept_datasets(n_datasets)
    return float(found.std(ddof=1) * np.sqrt(kept / (n_datasets - kept)))


def jackknife_error(without_one: FloatArray) -> float:
    """Jackknife standard error from the results without each of the data sets; NaN if one of them is."""
    n = len(without_one)
    if n < 2:
        return float("nan")
    return float(np.sqrt((n - 1) / n * ((without_one - without_one.mean()) ** 2).sum()))


def accuracy_by_repetitions(
    truth_mean: FloatArray,
    experiments: FloatArray,
    repetitions: Sequence[int],
    n_draws: int,
    rng: np.random.Generator,
    alpha: float = ALPHA,
    formula: Formula = "corrected",
) -> RepetitionsCurve:
    """Per cent of agreements when m experiments, drawn without replacement, are averaged before the test."""
    n_experiments = experiments.shape[2]
    rows = []
    for m in repetitions:
        if m > n_experiments:
            continue
        if m == 1:
            drawn = experiments
        elif m == n_experiments:
            drawn = mean_present(experiments)[:, :, None]
        else:
            chosen = np.argsort(rng.random((n_draws, n_experiments)), axis=1)[:, :m]
            drawn = mean_present(experiments[:, :, chosen])
        found = agreements(truth_mean, drawn, alpha, formula)
        percent = _percent(found.agree, found.judged)
        percent = percent[~np.isnan(percent)]
        std = percent.std() if len(percent) and m < n_experiments else np.nan
        error = std * np.sqrt(m / (n_experiments - m)) if m < n_experiments else np.nan
        rows.append((m, mean_present(percent), std, error))
    numbers, *curves = np.array(rows, dtype=np.float64).reshape(-1, 4).T
    return RepetitionsCurve(numbers.astype(np.int64), *curves)


class _ExperimentTests(NamedTuple):
    """p, sign of the difference and mask of the judged ones, for every pair and experiment."""

    p_value: FloatArray
    sign: FloatArray
    judged: BoolArray


def _tests_of_experiments(
    truth_mean: FloatArray, experiments: FloatArray, pairs: PairTests, formula: Formula
) -> _ExperimentTests:
    """Test every pair in every experiment on the data sets that have a truth."""
    n_experiments = experiments.shape[2]
    differences = experiments[pairs.row] - experiments[pairs.column]
    without_truth = np.isnan(truth_mean[pairs.row] - truth_mean[pairs.column])
    differences[without_truth] = np.nan
    judged = np.all(~np.isnan(differences) | without_truth[:, :, None], axis=1)
    flat = np.moveaxis(differences, 2, 1).reshape(len(pairs.row) * n_experiments, truth_mean.shape[1])
    r_plus, r_minus, p, _ = _signed_ranks(flat, formula)
    shape = (len(pairs.row), n_experiments)
    return _ExperimentTests(p.reshape(shape), np.sign(r_plus - r_minus).reshape(shape), judged)


def _percent(found: BoolArray, judged: BoolArray) -> FloatArray:
    """Per cent of the judged pairs for every experiment; NaN if there is none."""
    return 100 * mean_present(np.where(judged, found, np.nan), axis=0)


def _fewest(judged: BoolArray) -> int:
    """Fewest experiments that a pair is judged by; all if there is no pair."""
    return int(judged.sum(axis=1).min()) if len(judged) else judged.shape[1]


def _over_subsets(
    parts: Sequence[tuple[Array, Array]], weights: FloatArray, subsets: BoolArray, alpha: float, formula: Formula
) -> FloatArray:
    """Per cent of agreements on each subset of the data sets."""
    # Few data sets have few different subsets.
    different, place = np.unique(subsets, axis=0, return_inverse=True)
    out = np.zeros(len(different))
    for i, chosen in enumerate(different):
        for weight, (truth, experiments) in zip(weights, parts):
            found = agreements(truth[:, chosen], experiments[:, chosen], alpha, formula)
            out[i] += weight * mean_present(_percent(found.agree, found.judged))
    return out[place.reshape(len(subsets))]


def _signed_ranks(differences: FloatArray, formula: Formula) -> tuple[FloatArray, FloatArray, FloatArray, list[str]]:
    """R+, R-, p and method for every row of differences; NaN are left out, and rows with the same NaN are tested together."""
    present = ~np.isnan(differences)
    differences = np.round(differences, DECIMALS)
    n = len(differences)
    r_plus, r_minus, p, method = np.full(n, np.nan), np.full(n, np.nan), np.full(n, np.nan), [""] * n
    for rows in equal_rows(present):
        d = differences[rows][:, present[rows[0]]]
        if d.shape[1]:
            test = wilcoxon_signed_ranks(d, np.zeros_like(d), formula=formula)
            r_plus[rows], r_minus[rows], p[rows] = test.r_plus, test.r_minus, test.p_value
            for row in rows:
                method[row] = test.method
    return r_plus, r_minus, p, method


def _check(values: FloatArray, n_axes: int, shape: str) -> FloatArray:
    values = as_numbers(values, "results")
    if np.isinf(values).any():
        raise ValueError(f"results have {int(np.isinf(values).sum())} infinite values; expected numbers, NaN where there is none")
    if values.ndim != n_axes:
        raise ValueError(f"results have shape {values.shape}; expected {shape}")
    return values
