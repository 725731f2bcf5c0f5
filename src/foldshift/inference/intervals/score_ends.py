"""Ends of the intervals of scores, each on the scale of its score, from parts of rows of one or more repetitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import norm
from scipy.stats import t as student_t

from foldshift.core.counting import bincount
from foldshift.inference.intervals.mean_loss import dependence, mean_loss_ends
from foldshift.inference.intervals.score_parts import Scored, Shares, table_score
from foldshift.inference.proportions import wilson_ends

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldshift.core.types import BoolArray, FloatArray, IntArray


LEAST_RATIO = 0.5  # of the variance of an area to that of exponential scores
ADDED = 0.25  # rows of every class that are right, and that are wrong, for the variance of a table
# Both are chosen on the development populations of `validation/held_out_scores.py`.
HEAVY = 0.15  # share of all loss that one row holds
HEAVY_TAILS = 4.0  # mean square over squared mean: of squared normal errors 3; `validation/tables/loss_tails.csv`
FEWEST_FOR_TAILS = 20  # rows
MOST_LOGARITHM = 700.0
SMALL = 1e-9  # next to an estimate of 0 or 1, where the variance is 0


class Spread(NamedTuple):
    """Source of the spread of rows: groups, the factor of its variance, and the confidence of the interval."""

    groups: IntArray | None
    factor: float  # of the variance: models that share rows err together
    confidence: float


class Ends(NamedTuple):
    """Estimate, ends, standard error and degrees of freedom of a score."""

    estimate: float
    low: float
    high: float
    standard_error: float
    df: float


def quantile_of(confidence: float, df: float) -> float:
    """Two-sided quantile of Student's t; of the normal distribution for infinite `df`."""
    upper = (1 - confidence) / 2
    return float(norm.isf(upper) if np.isinf(df) else student_t.isf(upper, max(df, 1.0)))


def variance_of_mean(influences: FloatArray, groups: IntArray | None) -> tuple[float, float]:
    """Variance of the mean influence in one repetition, the mean over repetitions (r, n), and its degrees of freedom."""
    n = influences.shape[1]
    if groups is None:
        return float((influences**2).sum(axis=1).mean()) / (n * max(n - 1, 1)), float(max(n - 1, 1))
    n_groups = int(groups.max()) + 1
    sums = np.array([bincount(groups, row, n_groups) for row in influences])
    df = max(n_groups - 1, 1)
    return float((sums**2).sum(axis=1).mean()) * n_groups / df / n**2, float(df)


def share_ends(parts: Sequence[Shares], mapped: str, spread: Spread) -> Ends:
    """Ends of a weighted mean of shares: Wilson's interval of every share, joined by MOVER.

    A share of rows in groups has Wilson's interval with as many rows as give the variance of a ratio of sums over groups, and
    Student's t. A share of 0 or 1 shows no such variance: it counts its groups. F1 is the mapped Jaccard index, which is a share.
    MOVER takes the distances of the ends of the parts for their deviations; parts that share rows are correlated as their
    influences are. Source: Donner, A., Zou, G.Y. (2012). Closed-form confidence intervals for functions of the normal mean and
    standard deviation. Statistical Methods in Medical Research 21, 347-359.
    """
    n_parts = len(parts[0].weights)
    sizes = np.array([one.inside.sum(axis=1) for one in parts], dtype=float)
    hits = np.array([one.hits.sum(axis=1) for one in parts], dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = hits.sum(axis=0) / sizes.sum(axis=0)
    weights, n_rows = np.mean([one.weights for one in parts], axis=0), sizes.mean(axis=0)
    rests = [np.where(one.inside, one.hits - np.nan_to_num(shares)[:, None], 0.0) for one in parts]
    groups, factor = spread.groups, spread.factor
    df, effective = np.inf, n_rows
    if groups is not None:
        effective, df = _rows_of_groups(shares, n_rows, rests, parts, groups)
    effective = effective / factor
    low, high = wilson_ends(np.nan_to_num(shares), np.maximum(effective, 1e-9), quantile_of(spread.confidence, df))
    none = n_rows == 0
    low, high = np.where(none, 0.0, low), np.where(none, 1.0, high)
    error = np.sqrt(np.nan_to_num(shares * (1 - shares)) / np.maximum(effective, 1e-9))
    value, by_repetition = shares, np.divide(hits, sizes, out=np.full_like(hits, np.nan), where=sizes > 0)
    if mapped == "f1":
        error = error * 2 / (1 + np.nan_to_num(shares)) ** 2
        value, low, high, by_repetition = _f1(shares), _f1(low), _f1(high), _f1(by_repetition)
    if n_parts == 1:
        estimate = float(by_repetition.mean())
        return Ends(estimate, float(np.fmin(low[0], estimate)), float(np.fmax(high[0], estimate)), float(error[0]), df)
    # a class that is never predicted has a precision of 0, as in scikit-learn
    value, by_repetition = np.nan_to_num(value), np.nan_to_num(by_repetition)
    estimate = float(np.mean([one.weights @ scores for one, scores in zip(parts, by_repetition)]))
    together = _correlations(rests, groups)

    def distance(away: FloatArray) -> float:
        return float(np.sqrt(max(float(away @ together @ away), 0.0)))

    below, above = distance(weights * (value - low)), distance(weights * (high - value))
    return Ends(estimate, max(0.0, estimate - below), min(1.0, estimate + above), distance(weights * error), df)


def _f1(jaccard: FloatArray) -> FloatArray:
    return 2 * jaccard / (1 + jaccard)


def _rows_of_groups(
    shares: FloatArray, n_rows: FloatArray, rests: list[FloatArray], parts: Sequence[Shares], groups: IntArray
) -> tuple[FloatArray, float]:
    """Independent rows with the variance of every share, and degrees of freedom."""
    n_groups = int(groups.max()) + 1
    out, fewest = np.empty(len(shares)), n_groups
    for part in range(len(shares)):
        inside = np.mean([bincount(groups, one.inside[part], n_groups) > 0 for one in parts], axis=0)
        n_inside = max(float(inside.sum()), 1.0)
        sums = np.array([bincount(groups, one[part], n_groups) for one in rests])
        correction = n_inside / max(n_inside - 1, 1.0)
        variance = float((sums**2).sum(axis=1).mean()) * correction / max(n_rows[part], 1.0) ** 2
        binomial = np.nan_to_num(shares[part] * (1 - shares[part]))
        out[part] = min(n_rows[part], binomial / variance) if variance > 0 and binomial > 0 else min(n_inside, n_rows[part])
        fewest = min(fewest, round(n_inside))
    return out, float(max(fewest - 1, 1))


def _correlations(rests: list[FloatArray], groups: IntArray | None) -> FloatArray:
    """Correlations of the shares; those of a share without spread are 0."""
    together = np.zeros((len(rests[0]), len(rests[0])))
    for rest in rests:
        of_unit = rest if groups is None else np.array([bincount(groups, one) for one in rest])
        together += of_unit @ of_unit.T
    spread = np.sqrt(np.diag(together))
    scale = np.where(spread > 0, spread, np.inf)
    together = together / np.outer(scale, scale)
    np.fill_diagonal(together, 1.0)
    return together


def table_ends(name: str, tables: FloatArray, codes: FloatArray, spread: Spread) -> Ends:
    """Ends of a correlation or of kappa on Fisher's scale, from the tables of the repetitions (r, C, C) and the codes (r, n).

    The variance is that of a table with half a row more in every class, `ADDED` right and as much wrong, so that a perfect table
    has one.
    """
    n_classes = tables.shape[1]
    estimate = float(np.mean([table_score(name, one)[0] for one in tables]))
    n = tables[0].sum()
    added = np.full((n_classes, n_classes), ADDED / max(n_classes - 1, 1))
    np.fill_diagonal(added, ADDED)
    middle, influences, more = [], [], 0.0
    for table, code in zip(tables, codes):
        value, gradient = table_score(name, table + added)
        mean = float((gradient * (table + added)).sum() / (n + added.sum()))
        middle.append(value)
        influences.append(gradient.ravel()[code.astype(int)] - mean)
        more += float((added * (gradient - mean) ** 2).sum()) / len(tables)
    variance, df = variance_of_mean(np.array(influences), spread.groups)
    total = n + added.sum()
    variance = spread.factor * (variance * n**2 + more) / total**2
    centre, df = float(np.mean(middle)), np.inf if spread.groups is None else df
    centre = min(max(centre, -1 + 1e-9), 1 - 1e-9)
    half = quantile_of(spread.confidence, df) * np.sqrt(variance) / (1 - centre**2)
    low, high = np.tanh(np.arctanh(centre) - half), np.tanh(np.arctanh(centre) + half)
    return Ends(estimate, float(min(low, estimate)), float(max(high, estimate)), float(np.sqrt(variance)), df)


def area_ends(scored: Sequence[Scored], positive: BoolArray, spread: Spread) -> Ends:
    """Ends of an area under the ROC curve: all areas that are no further off than their own variance allows.

    The variance of an area A is that of [1] for exponential scores, as a function of A, times the ratio of the variance of the
    influences to it at the estimate, but at least `LEAST_RATIO`: positive rows that all tie show no variance [2].
    Sources: [1] Hanley, J.A., McNeil, B.J. (1982). The meaning and use of the area under a receiver operating characteristic
    (ROC) curve. Radiology 143, 29-36. [2] Newcombe, R.G. (2006). Confidence intervals for an effect size measure based on the
    Mann-Whitney statistic, part 2. Statistics in Medicine 25, 559-573.
    """
    estimate = float(np.mean([one.estimate for one in scored]))
    n_up, n_down = int(positive.sum()), int((~positive).sum())
    variance, fewest = area_variance(np.array([one.influence for one in scored]), positive, spread.groups)
    df = max(fewest - 1, 1.0)
    quantile = quantile_of(spread.confidence, df)
    middle = (n_up + n_down) / 2

    def exponential(one: float) -> float:
        return one * (1 - one) / (n_up * n_down) * (1 + (middle - 1) * ((1 - one) / (2 - one) + one / (1 + one)))

    ratio = max(variance / exponential(estimate), LEAST_RATIO) if 0 < estimate < 1 else 1.0
    ratio *= spread.factor

    def outside(one: float) -> float:
        return (one - estimate) ** 2 - quantile**2 * ratio * exponential(one)

    low = 0.0 if estimate <= SMALL or outside(0.0) < 0 else brentq(outside, 0.0, estimate - SMALL)
    high = 1.0 if estimate >= 1 - SMALL or outside(1.0) < 0 else brentq(outside, estimate + SMALL, 1.0)
    return Ends(estimate, float(low), float(high), float(np.sqrt(variance)), df)


def area_variance(influences: FloatArray, positive: BoolArray, groups: IntArray | None) -> tuple[float, float]:
    """Variance of an area, and the units of the smaller class."""
    n = len(positive)
    if groups is not None:
        variance, df = variance_of_mean(influences, groups)
        n_groups = [len(np.unique(groups[one])) for one in (positive, ~positive)]
        return variance, min(df + 1, float(min(n_groups)))
    total = float((influences**2).sum(axis=1).mean())
    return total / n**2, float(min(positive.sum(), (~positive).sum()))


def logit_ends(scored: Sequence[Scored], df: float, spread: Spread) -> Ends:
    """Ends that are symmetric about the log odds of a score; a score of 0 or 1 is taken one row off."""
    estimate = float(np.mean([one.estimate for one in scored]))
    influences = np.array([one.influence for one in scored])
    variance, of_groups = variance_of_mean(influences, spread.groups)
    df = min(df, of_groups)
    n = influences.shape[1]
    inner = min(max(estimate, 0.5 / (df + 2)), 1 - 0.5 / (df + 2))
    variance = spread.factor * max(variance, inner * (1 - inner) / n)
    half = quantile_of(spread.confidence, df) * np.sqrt(variance) / (inner * (1 - inner))
    low, high = expit(logit(inner) - half), expit(logit(inner) + half)
    return Ends(estimate, float(min(low, estimate)), float(max(high, estimate)), float(np.sqrt(variance)), df)


def loss_ends(losses: FloatArray, most: float, usual: float, spread: Spread) -> Ends:
    """Ends of a mean loss: of a logarithm below, and above, where it is further, of Student's t corrected for skewness.

    `most` is the largest loss that there can be, `usual` that of a guess: where all losses are the same, rows as unlikely as none
    of n shows may have it.
    """
    groups, confidence, n = spread.groups, spread.confidence, losses.shape[1]
    units = n if groups is None else int(groups.max()) + 1
    if units < 2:
        return Ends(float(losses.mean()), np.nan, np.nan, np.nan, 1.0)
    estimate, low, high = mean_loss_ends(losses, confidence, groups, spread.factor)
    centred = losses - losses.mean(axis=1, keepdims=True)
    variance, df = variance_of_mean(centred, groups)
    if variance == 0:
        unseen = 1 - ((1 - confidence) / 2) ** (1 / units)
        return Ends(estimate, estimate * (1 - unseen), estimate + unseen * max(usual - estimate, 0.0), 0.0, df)
    if largest_share(losses) >= HEAVY:  # a row as large as there can be, or as was seen, may be missing
        larger = most if np.isfinite(most) else float(losses.max(axis=1).mean())
        high = (n * high + larger) / (n + 1)
    return Ends(estimate, max(low, 0.0), min(high, most), float(np.sqrt(variance)), df)


def row_interval(
    losses: FloatArray,
    confidence: float = 0.95,
    kind: Literal["loss", "share"] = "loss",
    groups: IntArray | None = None,
    usual: float = 0.0,
) -> tuple[float, float, float]:
    """Estimate and interval of a mean loss, as `foldshift.inference.score_interval`, from losses (r, n) in place of predictions.

    Losses are NaN for rows that were not tested. `kind` is "share" for losses of 0 or 1; `usual` is the loss of a guess.
    """
    tested = ~np.isnan(losses).any(axis=0)
    losses, groups = losses[:, tested], None if groups is None else np.unique(groups[tested], return_inverse=True)[1].ravel()
    spread = Spread(groups, dependence(losses), confidence)
    if kind == "share":
        every = np.ones((1, losses.shape[1]), dtype=bool)
        return share_ends([Shares(every, one[None] > 0, np.ones(1)) for one in losses], "", spread)[:3]
    return loss_ends(losses, np.inf, usual, spread)[:3]


def largest_share(losses: FloatArray) -> float:
    """Share of all loss that the largest row holds, the mean over repetitions; 0 where rows are few."""
    total = losses.sum(axis=1)
    if not (total > 0).all() or losses.shape[1] < FEWEST_FOR_TAILS:
        return 0.0
    return float((losses.max(axis=1) / total).mean())


def tail_weight(losses: FloatArray) -> float:
    """Mean square of the losses over their squared mean, the mean over repetitions: the kurtosis of errors, for squared ones.

    A sample that lacks the rare large losses of a heavy tail often shows it by this, and not by the share of its largest loss.
    """
    means = losses.mean(axis=1)
    if not (means > 0).all() or losses.shape[1] < FEWEST_FOR_TAILS:
        return 0.0
    return float(((losses / means[:, None]) ** 2).mean())


def explained_ends(losses: FloatArray, y: FloatArray, spread: Spread) -> Ends:
    """Ends of R2: of the logarithm of the mean squared error over the variance of the target.

    The variance is that of the jackknife over rows or groups. Its degrees of freedom are those of a variance of values with the
    tails of the influences.
    """
    away = (y - y.mean()) ** 2
    if away.mean() == 0:
        return Ends(np.nan, np.nan, np.nan, np.nan, 1.0)
    ratio = float(losses.mean() / away.mean())
    if ratio == 0:
        units = len(y) if spread.groups is None else int(spread.groups.max()) + 1
        return Ends(1.0, ((1 - spread.confidence) / 2) ** (1 / units), 1.0, 0.0, np.inf)
    values = [_without_row(one, y, spread.groups) for one in losses]
    count = len(values[0])
    if count < 2:
        return Ends(1 - ratio, np.nan, np.nan, np.nan, np.nan)
    influences = np.array([(one - one.mean()) * (count - 1) for one in values])
    variance = spread.factor * float((influences**2).sum(axis=1).mean()) / (count * max(count - 1, 1))
    tails = float(((influences**4).mean(axis=1) / np.maximum((influences**2).mean(axis=1), 1e-300) ** 2).mean())
    df = min(max(2 * count / max(tails - 1, 1e-9), 2.0), count - 1.0)
    half = min(quantile_of(spread.confidence, df) * float(np.sqrt(variance)), MOST_LOGARITHM)
    error = ratio * float(np.sqrt(variance))
    return Ends(1 - ratio, 1 - ratio * float(np.exp(half)), 1 - ratio * float(np.exp(-half)), error, df)


def _without_row(losses: FloatArray, y: FloatArray, groups: IntArray | None) -> FloatArray:
    """Logarithms of the squared error over the spread of the target, each without one row or group."""
    n, codes = len(y), np.arange(len(y)) if groups is None else groups
    lost, counts, sums, squares = (bincount(codes, one) for one in (losses, np.ones(n), y, y**2))
    left = n - counts
    spread = y @ y - squares - (y.sum() - sums) ** 2 / np.maximum(left, 1)
    least = 1e-12 * float(y @ y) + 1e-300
    return np.asarray(np.log(np.maximum(losses.sum() - lost, 1e-300)) - np.log(np.maximum(spread, least)))
