"""The interval that may be printed, others and why not, and differences between learners."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student_t

from foldshift.core.repr import figures
from foldshift.inference.intervals.interval import WORDS
from foldshift.inference.proportions import wilson_interval

if TYPE_CHECKING:
    from foldshift.advice.rules import Rule
    from foldshift.advice.score import Score
    from foldshift.advice.timed_cv import Fits
    from foldshift.core.types import Array, FloatArray, IntArray

MOST_NEEDED = 1_000_000
THESE_MODELS = "the error on new rows of models trained as these were, on {share} of the rows"
INFLATION = {"share": 1.15, "loss": 1.05}
"""Of the variance of a difference: variance of estimate less truth over the row variance of one repetition, on eleven generated
populations of the study of honest cuts, three learners and 50, 150 and 400 rows."""
HARD, UNSTABLE, SKEWED = 0.5, 0.5, 1.3
"""Of the interval of one score, chosen on the same populations and 16 data sets that `validation/held_out_sets.py` does not
name: how far models err together where the task is hard, what repeating takes off where the learner is unstable, and how far
the third moment of the losses is underrated by that of a sample."""


class Told(NamedTuple):
    """An interval of the score with its reason.

    Attributes
    ----------
    name, words : str
    target : str
        What it is about, in words.
    estimate, low, high : float
        Of the score that is printed; NaN where there is none.
    use : bool
        Whether it is the one to print.
    why : str
        Why, or why not.
    evidence : str
    confidence : float
    """

    name: str
    words: str
    target: str
    estimate: float
    low: float
    high: float
    use: bool
    why: str
    evidence: str
    confidence: float = 0.95

    def sentence(self, score: Score) -> str:
        """One line for a terminal."""
        ends = f"{100 * self.confidence:g} % interval {score.text(self.low)} to {score.text(self.high)}"
        begin = "Print" if self.use else "Not"
        return f"{begin}: {score.name} {score.text(self.estimate)}, {ends} ({self.words}). {self.why}"


class Difference(NamedTuple):
    """Difference of two learners' scores, on the same folds, and what it decides.

    Attributes
    ----------
    name : str
        Such as ``Ridge less baseline``.
    estimate, low, high : float
        In units of the loss (of the score for scores of folds); below 0 the first has the smaller loss.
    rope : float
        Half width of the region of practical equivalence, same units.
    verdict : {"better", "worse", "equivalent", "not decided"}
        Of the first learner.
    rows_needed : float
        Rows with which the interval would leave the region or lie inside, if the difference is as estimated; NaN if decided.
    said : str
    """

    name: str
    estimate: float
    low: float
    high: float
    rope: float
    verdict: str
    rows_needed: float
    said: str

    def sentence(self, score: Score) -> str:
        """One line for a terminal."""
        return self.said


def told(rule: Rule, fits: Fits, score: Score, confidence: float, k: int, groups: IntArray | None = None) -> tuple[Told, ...]:
    """The interval that a rule names, then two others with the reason why not."""
    name = next(iter(fits.scores))
    target = THESE_MODELS.format(share=share_words(k))
    makers = {"rows": _rows, "fold means": _fold_means, "corrected t": _corrected_t}
    found = []
    for one in (rule.advice, *(other for other in makers if other != rule.advice)):
        if one == "rows" and not fits.losses:
            continue
        made = makers[one](fits, name, score, confidence, k, target, one == rule.advice, rule, groups)
        found.append(made._replace(confidence=confidence))
    return tuple(found)


def share_words(k: int) -> str:
    """Which part of the rows a training part of k folds holds, in words."""
    words = {2: "half", 3: "two thirds", 4: "three quarters", 5: "four fifths", 10: "nine tenths"}
    return words.get(k, f"{100 * (k - 1) / k:.3g} %")


def row_interval(
    losses: Array, confidence: float = 0.95, kind: Literal["loss", "share"] = "loss", groups: IntArray | None = None
) -> tuple[Any, ...]:
    """Interval of a mean loss from the spread of the rows within one repetition, whatever the number of repetitions.

    Notes
    -----
    The mean is one over all repetitions, the variance that of one: the losses of the rows in a single repetition, divided by n.
    For a stable learner repetitions say the same of every row, and this is the interval of [1]_ about the mean error of these
    models. For an unstable one the spread of the rows' means over repetitions is far too small: the models of different folds
    share rows, and err together.

    Shares have Wilson's interval with as many rows as give that variance times ``1 + HARD p - UNSTABLE u (1 - 1 / r)``: models
    trained on nearly the same rows err together the more, the more there is to err on (`p`, the share); and of the part `u` of
    the variance that lies between repetitions of one row, repeating takes most away. Other losses have the lower end of the
    interval of a logarithm, and above, where it is further, Student's t corrected for skewness [2]_, that of the sample times
    ``SKEWED``: a sample seldom holds the largest losses. With groups the variance of the mean is that of sums over groups [3]_,
    with one degree of freedom for each group but one. The skewness of these sums is halfway between their own, which few groups
    underrate, and that of rows, which is larger: chosen on populations of the study of honest cuts in groups, none of which is
    held out (``validation/calibrate_advice.py --of-the-rules --parts groups``).

    References
    ----------
    .. [1] Bayle, P., Bayle, A., Janson, L., Mackey, L. (2020). Cross-validation confidence intervals for test error. NeurIPS 33.
    .. [2] Hall, P. (1992). On the removal of skewness by transformation. JRSS B 54, 221-228.
    .. [3] Cameron, A.C., Miller, D.L. (2015). A practitioner's guide to cluster-robust inference. Journal of Human Resources 50,
       section II.
    """
    tested = ~np.isnan(losses).any(axis=0)
    losses, groups = losses[:, tested], None if groups is None else np.unique(groups[tested], return_inverse=True)[1].ravel()
    mean, variance, df = mean_and_variance(losses, groups)
    if kind == "share":
        factor = 1 + HARD * mean - UNSTABLE * _unstable_part(losses)
        n = losses.shape[1] / factor
        if groups is not None and variance > 0:
            n = min(n, mean * (1 - mean) / (factor * variance))
        if groups is not None:  # the quantile of Student's t, as the confidence that gives it to Wilson's interval
            confidence = 2 * norm.cdf(student_t.isf((1 - confidence) / 2, df)) - 1
        return mean, *map(float, wilson_interval(mean, n, confidence))
    quantile = float(student_t.isf((1 - confidence) / 2, df))
    if mean <= 0 or variance == 0:
        return mean, mean, mean
    ratio = np.sqrt(variance) / mean
    skewness = SKEWED * _skewness(losses, groups)
    high = mean + np.sqrt(variance * (df + 1)) * _hall(quantile, skewness, df + 1)
    return mean, mean * float(np.exp(-quantile * ratio)), max(mean * float(np.exp(quantile * ratio)), high)


def _unstable_part(losses: FloatArray) -> float:
    """Part of the variance of the losses that lies between repetitions of a row, times 1 - 1 / r; 0 for one repetition."""
    r, total = len(losses), float(losses.var())
    if r < 2 or total == 0:
        return 0.0
    return min(float(losses.var(axis=0, ddof=1).mean()) / total, 1.0) * (1 - 1 / r)


def mean_and_variance(losses: Array, groups: IntArray | None = None) -> tuple[float, float, int]:
    """Mean loss over all repetitions, the variance of the mean of one, and its degrees of freedom."""
    n, mean = losses.shape[1], float(losses.mean())
    if groups is None:
        return mean, float(losses.var(axis=1, ddof=1).mean()) / n, n - 1
    codes = np.unique(groups, return_inverse=True)[1].ravel()
    n_groups, sums = int(codes.max()) + 1, _group_sums(losses, codes)
    return mean, float((sums**2).sum(axis=1).mean()) * n_groups / max(n_groups - 1, 1) / n**2, max(n_groups - 1, 1)


def _skewness(losses: FloatArray, groups: IntArray | None) -> float:
    """Skewness of the losses, the mean over repetitions; with groups halfway to that of their sums, corrected for bias."""
    of_rows = _third(losses)
    if groups is None or (n_groups := int(groups.max()) + 1) < 3:
        return of_rows
    return (of_rows + _third(_group_sums(losses, groups)) * np.sqrt(n_groups * (n_groups - 1)) / (n_groups - 2)) / 2


def _third(values: FloatArray) -> float:
    third = ((values - values.mean(axis=1, keepdims=True)) ** 3).mean(axis=1)
    return float(np.mean(third / np.maximum(values.std(axis=1), 1e-300) ** 3))


def _group_sums(losses: FloatArray, groups: IntArray) -> FloatArray:
    """Sums over groups of the losses less their mean, by repetition; ndarray of shape (r, n_groups)."""
    return np.array([np.bincount(groups, row - row.mean(), int(groups.max()) + 1) for row in losses])


def _hall(quantile: float, skewness: float, n: int) -> float:
    """Upper end in standard deviations of a row, by the inverse of Hall's cubic transformation (1992)."""
    if abs(skewness) < 1e-9:
        return quantile / np.sqrt(n)
    inside = 1 + skewness * (-quantile / np.sqrt(n) - skewness / (6 * n))
    return -3 / skewness * (np.cbrt(inside) - 1)


def _rows(
    fits: Fits, name: str, score: Score, confidence: float, k: int, target: str, use: bool, rule: Rule, groups: IntArray | None
) -> Told:
    estimate, low, high = row_interval(fits.losses[name], confidence, score.kind, groups)
    words = f"spread of the {'rows' if groups is None else 'groups'} in one repetition"
    return _told("rows", words, target, score, (estimate, low, high), use,
                 rule.say if use else "", rule.evidence)  # fmt: skip


def _fold_means(
    fits: Fits, name: str, score: Score, confidence: float, k: int, target: str, use: bool, rule: Rule, groups: IntArray | None
) -> Told:
    scores = fits.scores[name][0]
    scores = scores[~np.isnan(scores)]
    mean, spread = float(scores.mean()), float(scores.std(ddof=1) / np.sqrt(len(scores)))
    half = student_t.isf((1 - confidence) / 2, len(scores) - 1) * spread
    why = (
        "It takes the folds of one cross-validation for independent samples, which they are not: they share training rows, and "
        "another cut gives another width."
    )
    return _told("fold means", WORDS["S2/K"], target, score, (mean, mean - half, mean + half), use, why, "theorem")


def _corrected_t(
    fits: Fits, name: str, score: Score, confidence: float, k: int, target: str, use: bool, rule: Rule, groups: IntArray | None
) -> Told:
    scores = fits.scores[name]
    scores = scores[:, ~np.isnan(scores).any(axis=0)]
    m, mean = scores.size, float(scores.mean()) if scores.size else np.nan
    if m < 2 or np.ptp(scores) == 0:
        none = "All folds have the same score: their spread says nothing, and no interval can be made."
        return _told("corrected t", WORDS["Nadeau-Bengio"], target, score, (mean, np.nan, np.nan), use, none, rule.evidence)
    variance = float(scores.var(ddof=1)) * (1 / m + 1 / (k - 1))
    half = student_t.isf((1 - confidence) / 2, min(m - 1, max(scores.shape[1] - 1, 1)) if use else m - 1) * np.sqrt(variance)
    why = rule.say if use else (
        "It rests on the means of folds, of which there are few: from three repetitions it covered 76 to 100 % by learner and "
        "population where 95 is promised, the spread of rows 85 to 98."
    )  # fmt: skip
    about = "the score of this learner on other samples of this population, of this size" if use else target
    return _told("corrected t", WORDS["Nadeau-Bengio"], about, score, (mean, mean - half, mean + half), use, why,
                 rule.evidence if use else "measured")  # fmt: skip


def _told(
    name: str, words: str, target: str, score: Score, found: tuple[float, float, float], use: bool, why: str, evidence: str
) -> Told:
    with np.errstate(invalid="ignore"):
        least = np.maximum(found[1], 0.0) if score.kind != "folds" else found[1]
        values = [float(score.show(value)) for value in (found[0], least, found[2])]
    low, high = sorted(values[1:]) if np.isfinite(values[1:]).all() else values[1:]
    return Told(name, words, target, values[0], low, high, use, why, evidence)


def difference(
    first: str, second: str, fits: Fits, score: Score, rope: float, confidence: float, k: int, groups: IntArray | None = None
) -> Difference:
    """Difference of two learners that were cross-validated on the same folds."""
    n = fits.folds.shape[1]
    if fits.losses:
        gap = fits.losses[first] - fits.losses[second]
        tested = ~np.isnan(gap).any(axis=0)
        estimate, variance, df = mean_and_variance(gap[:, tested], None if groups is None else groups[tested])
        half = float(student_t.isf((1 - confidence) / 2, df) * np.sqrt(INFLATION[score.kind] * variance))
        loss = float(np.nanmean(fits.losses[second]))
    else:  # scorers of scikit-learn: larger is better, whatever they are called
        loss = np.nan
        gap = -(fits.scores[first] - fits.scores[second])
        gap = gap[:, ~np.isnan(gap).any(axis=0)]
        estimate, m = float(gap.mean()), gap.size
        spread = np.sqrt(float(gap.var(ddof=1)) * (1 / m + 1 / (k - 1)))
        half = float(student_t.isf((1 - confidence) / 2, max(gap.shape[1] - 1, 1)) * spread)
    low, high = estimate - half, estimate + half
    verdict, needed = _decided(estimate, low, high, half, rope, n)
    said = _difference_words(first, second, score, (estimate, low, high), rope, verdict, needed, loss, confidence)
    return Difference(f"{first} less {second}", estimate, low, high, rope, verdict, needed, said)


def _decided(estimate: float, low: float, high: float, half: float, rope: float, n: int) -> tuple[str, float]:
    if high < -rope or (high < 0 and rope == 0):
        return "better", np.nan
    if low > rope:
        return "worse", np.nan
    if -rope <= low and high <= rope:
        return "equivalent", np.nan
    margin = abs(abs(estimate) - rope)
    return "not decided", float(np.ceil(n * (half / margin) ** 2)) if margin > 0 else np.inf


def _difference_words(
    first: str,
    second: str,
    score: Score,
    found: tuple[float, float, float],
    rope: float,
    verdict: str,
    needed: float,
    loss: float,
    confidence: float,
) -> str:
    """One or two sentences; losses that are no shares are told relative to those of the second learner."""
    if score.kind == "share":
        what, text = "error rate", lambda value: f"{100 * value:+.1f}"
        unit = " points"
    elif score.kind == "loss" and loss > 0:
        squared = score.show is np.sqrt
        what, text = "mean squared error" if squared else score.name, lambda value: f"{100 * value / loss:+.1f}"
        unit = f" % of that of {second}"
    else:
        what, text, unit = f"loss of {score.name}", lambda value: figures(value, 3, "+"), ""
    estimate, low, high = found
    share = f"{100 * confidence:g} % interval"
    begin = f"{first} less {second}: {what} {text(estimate)}{unit} ({share} {text(low)} to {text(high)})"
    region = f"up to {text(rope).lstrip('+')}{unit.split(' of ')[0]} taken for no difference"
    if verdict == "not decided":
        rows = f"some {needed:,.0f} rows would decide it" if needed <= MOST_NEEDED else "a million rows would not decide it"
        return f"{begin}: not decided ({region}); if the difference is as estimated, {rows}."
    words = {"better": f"{first} is better", "worse": f"{first} is worse", "equivalent": "the two are practically equivalent"}
    return f"{begin}: {words[verdict]} ({region})."
