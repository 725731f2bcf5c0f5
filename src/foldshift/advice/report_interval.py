"""The interval that may be printed, others with the reason against them, and differences between learners."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student_t

from foldshift.core.repr import figures
from foldshift.inference.intervals.interval import WORDS
from foldshift.inference.intervals.score_difference import Paired, paired_ends, score_difference_interval
from foldshift.inference.intervals.score_ends import row_interval
from foldshift.inference.intervals.score_interval import score_interval
from foldshift.inference.intervals.score_names import score_name

if TYPE_CHECKING:
    from foldshift.advice.planned_cv import Experiment, Fits
    from foldshift.advice.rules import Rule
    from foldshift.advice.score import Score
    from foldshift.core.types import Array, FloatArray, IntArray

Verdict = Literal["better", "worse", "equivalent", "not decided"]

MOST_NEEDED = 1_000_000
THESE_MODELS = "the error on new rows of models trained as these were, on {share} of the rows"
POWER = 0.8  # with which the rows that would decide it decide


class ScoreInterval(NamedTuple):
    """An interval of the score with its reason."""

    name: str
    words: str
    target: str  # the estimated quantity in words
    estimate: float  # estimate, low, high: In units of the score that is printed; NaN if there is none
    low: float
    high: float
    use: bool  # whether it is the one to print
    why: str  # reason for or against it
    evidence: str
    confidence: float = 0.95

    def sentence(self, score: Score) -> str:
        """One line for a terminal."""
        ends = f"{100 * self.confidence:g} % interval {score.text(self.low)} to {score.text(self.high)}"
        begin = "Print" if self.use else "Not"
        return f"{begin}: {score.name} {score.text(self.estimate)}, {ends} ({self.words}). {self.why}"


class Difference(NamedTuple):
    """Difference of two learners' scores on the same folds, and the decision."""

    name: str  # such as ``Ridge less baseline``
    # estimate, low, high: In units of the loss (of the score for scores of folds); below 0 the first has the smaller loss
    estimate: float
    low: float
    high: float
    rope: float  # half width of the region of practical equivalence, same units
    verdict: Verdict  # verdict on the first learner
    # rows with which the interval would leave the region or lie inside, if the difference is as estimated; NaN if decided
    rows_needed: float
    said: str


class _Request(NamedTuple):
    """The results that an interval is made of, and the terms: a rule that recommends one of the intervals."""

    experiment: Experiment
    fits: Fits
    rule: Rule

    @property
    def target(self) -> str:
        return THESE_MODELS.format(share=share_words(self.experiment.k))

    @property
    def scores(self) -> FloatArray:
        """Scores of the first learner by repetition and fold."""
        return self.fits.scores[self.experiment.name]

    def quantile(self, df: int) -> float:
        """Two-sided quantile of Student's t."""
        return float(student_t.isf((1 - self.experiment.confidence) / 2, df))

    def made(
        self, name: str, words: str, ends: tuple[float, float, float], *, why: str, evidence: str, target: str = ""
    ) -> ScoreInterval:
        """Make the record of an interval from estimate, low and high in units of the loss."""
        score, use = self.experiment.score, name == self.rule.advice
        with np.errstate(invalid="ignore"):
            least = np.maximum(ends[1], 0.0) if score.losses is not None else ends[1]
            values = [float(score.show(value)) for value in (ends[0], least, ends[2])]
        low, high = sorted(values[1:]) if np.isfinite(values[1:]).all() else values[1:]
        confidence = self.experiment.confidence
        return ScoreInterval(name, words, target or self.target, values[0], low, high, use, why, evidence, confidence)


def score_intervals(experiment: Experiment, fits: Fits, rule: Rule) -> tuple[ScoreInterval, ...]:
    """The interval that a rule recommends, then the others with the reason against them; of the first learner."""
    request = _Request(experiment, fits, rule)
    on_rows = bool(fits.losses) or bool(fits.predictions)
    makers = MAKERS if on_rows else {name: make for name, make in MAKERS.items() if name != "rows"}
    names = sorted(makers, key=lambda name: name != rule.advice)  # stable: the recommended one first
    return tuple(makers[name](request) for name in names)


def share_words(k: int) -> str:
    """Share of the rows in a training part of k folds, in words."""
    words = {2: "half", 3: "two thirds", 4: "three quarters", 5: "four fifths", 10: "nine tenths"}
    return words.get(k, f"{100 * (k - 1) / k:.3g} %")


def _rows(request: _Request) -> ScoreInterval:
    experiment, fits, groups = request.experiment, request.fits, request.experiment.data.groups
    if experiment.score.kind == "folds":
        raise TypeError(f"{experiment.score.name} is a score of whole folds; rows have no losses")
    words = f"spread of the {'rows' if groups is None else 'groups'} in one repetition"
    why = request.rule.say if request.rule.advice == "rows" else ""
    if experiment.score.kind == "pooled":
        found = score_interval(*_pooled(experiment, fits, experiment.name), **_pooled_options(experiment, fits))
        why = f"{why} Note: {found.note}." if found.note else why
        ends = float(found.estimate), float(found.low), float(found.high)
    else:
        usual = float(np.nanmean(fits.losses["baseline"]))
        kind: Literal["share", "loss"] = "share" if experiment.score.kind == "share" else "loss"
        ends = row_interval(fits.losses[experiment.name], experiment.confidence, kind, groups, usual)
    return request.made("rows", words, ends, why=why, evidence=request.rule.evidence)


def _pooled(experiment: Experiment, fits: Fits, learner: str) -> tuple[Array, FloatArray, str]:
    """Target, predictions (r, n) and name of a pooled score, of the rows that are tested."""
    data, predictions = experiment.data, fits.predictions[learner]
    tested = ~np.isnan(predictions).any(axis=0)
    y = np.unique(data.y, return_inverse=True)[1] if data.task == "classification" else np.asarray(data.y, dtype=np.float64)
    values = predictions[:, tested]
    return (
        y[tested],
        values.astype(int) if experiment.score.method == "predict" and data.task == "classification" else values,
        (experiment.score.metric),
    )


def _pooled_options(experiment: Experiment, fits: Fits) -> dict[str, Any]:
    """Options of `score_interval`: folds and groups of the rows that are tested, and scikit-learn's positive class."""
    data, score = experiment.data, experiment.score
    tested = ~np.isnan(fits.predictions[experiment.name]).any(axis=0)
    options: dict[str, Any] = {"folds": fits.folds[:, tested].astype(int), "confidence": experiment.confidence}
    if data.groups is not None:
        options["groups"] = np.asarray(data.groups)[tested]
    if score_name(score.metric).one_class:
        classes = np.unique(data.y).tolist()
        options["pos_label"] = classes.index(1) if 1 in classes and score.method == "predict" else len(classes) - 1
    return options


def _fold_means(request: _Request) -> ScoreInterval:
    scores = request.scores[0]
    scores = scores[~np.isnan(scores)]
    mean, spread = float(scores.mean()), float(scores.std(ddof=1) / np.sqrt(len(scores)))
    half = request.quantile(len(scores) - 1) * spread
    why = (
        "It takes the folds of one cross-validation for independent samples, which they are not: they share training rows, and "
        "another cut gives another width."
    )
    return request.made("fold means", WORDS["S2/K"], (mean, mean - half, mean + half), why=why, evidence="theorem")


def _corrected_t(request: _Request) -> ScoreInterval:
    name, words, rule = "corrected t", WORDS["Nadeau-Bengio"], request.rule
    scores = request.scores[:, ~np.isnan(request.scores).any(axis=0)]
    m, mean = scores.size, float(scores.mean()) if scores.size else np.nan
    if m < 2 or np.ptp(scores) == 0:
        none = "All folds have the same score: their spread says nothing, and no interval can be made."
        return request.made(name, words, (mean, np.nan, np.nan), why=none, evidence=rule.evidence)
    variance = float(scores.var(ddof=1)) * (1 / m + 1 / (request.experiment.k - 1))
    if rule.advice == name:
        df, why, evidence = min(m - 1, max(scores.shape[1] - 1, 1)), rule.say, rule.evidence
        about = "the score of this learner on other samples of this population, of this size"
    else:
        df, evidence, about = m - 1, "measured", ""
        why = (
            "It rests on the means of folds, of which there are few. Where 95 % is promised, from three repetitions it covered "
            "76 to 100 % by learner and population, the spread of rows 85 to 98."
        )
    half = request.quantile(df) * np.sqrt(variance)
    return request.made(name, words, (mean, mean - half, mean + half), why=why, evidence=evidence, target=about)


MAKERS: dict[str, Callable[[_Request], ScoreInterval]] = {
    "rows": _rows,
    "fold means": _fold_means,
    "corrected t": _corrected_t,
}


def difference(experiment: Experiment, fits: Fits, second: str, rope: float) -> Difference:
    """Compare the first learner with another one; `rope` is in units of the loss, or of the score where rows have no loss."""
    first, score, groups, loss = experiment.name, experiment.score, experiment.data.groups, np.nan
    if score.losses is not None:
        gap = fits.losses[first] - fits.losses[second]
        tested = ~np.isnan(gap).any(axis=0)
        loss = float(np.nanmean(fits.losses[second]))
        codes = None if groups is None else np.unique(groups[tested], return_inverse=True)[1].ravel()
        ends = _paired(gap[:, tested], score.kind == "share", loss, codes, experiment.confidence)
    elif score.kind == "pooled":
        y, of_first, metric = _pooled(experiment, fits, first)
        _, of_second, _ = _pooled(experiment, fits, second)
        found = score_difference_interval(y, of_first, of_second, metric, **_pooled_options(experiment, fits))
        ends = -found.estimate, -found.high, -found.low
    else:  # scorers of scikit-learn: larger is better, whatever their name
        gap = -(fits.scores[first] - fits.scores[second])
        gap = gap[:, ~np.isnan(gap).any(axis=0)]
        estimate, m, df = float(gap.mean()), gap.size, max(gap.shape[1] - 1, 1)
        spread = np.sqrt(float(gap.var(ddof=1)) * (1 / m + 1 / (experiment.k - 1)))
        half = float(student_t.isf((1 - experiment.confidence) / 2, df) * spread)
        ends = (estimate, estimate - half, estimate + half) if spread > 0 else (estimate, np.nan, np.nan)
    too_wide = rope >= loss  # the second learner's whole loss: nothing could lie beyond
    region = 0.0 if too_wide else rope
    verdict, needed = _decided(*ends, region, fits.folds.shape[1], experiment.confidence)
    found_difference = Difference(f"{first} less {second}", *ends, region, verdict, needed, "")
    return found_difference._replace(said=_said(found_difference, experiment, second, loss, rope if too_wide else 0.0))


def _said(found: Difference, experiment: Experiment, second: str, loss: float, too_wide: float) -> str:
    """Write a difference and its verdict; `too_wide` is a region that was not used, else 0."""
    text, measure, unit = _difference_format(experiment.score, second, loss)
    first, low, high = experiment.name, text(found.low), text(found.high)
    if experiment.score.kind == "pooled":  # in units of the score, of which more is better
        low, high = high, low
    interval = (
        f"{100 * experiment.confidence:g} % interval {low} to {high}" if np.isfinite(found.low) else "no interval can be made"
    )
    begin = f"{found.name}: {measure} {text(found.estimate)}{unit} ({interval})"
    region = _region(experiment.score, second, loss)
    reach = f"up to {region(found.rope)} taken for no difference" if found.rope else "any difference counts"
    if too_wide:
        reach += f": {region(too_wide)} is no less than all that {second} loses"
    if found.verdict == "not decided":
        if not np.isfinite(found.low):
            return f"{begin}: not decided ({reach})."
        rows = (
            f"some {found.rows_needed:,.0f} rows would decide it, with a power of {POWER:g}"
            if found.rows_needed <= MOST_NEEDED
            else "a million rows would not decide it"
        )
        return f"{begin}: not decided ({reach}); if the difference is as estimated, {rows}."
    words = {"better": f"{first} is better", "worse": f"{first} is worse", "equivalent": "the two are practically equivalent"}
    return f"{begin}: {words[found.verdict]} ({reach})."


def _paired(gap: FloatArray, share: bool, loss: float, groups: IntArray | None, confidence: float) -> tuple[float, float, float]:
    """Estimate and ends of a mean difference of losses (r, n), which is never less than all of the second learner's loss."""
    estimate, n = float(gap.mean()), float(gap.shape[1])
    if share:
        ends = paired_ends(Paired(estimate, [gap], [n], [1.0], True), groups, confidence)
    else:
        step = float(np.abs(gap).max()) or loss
        ends = paired_ends(Paired(estimate, [gap - gap.mean(axis=1, keepdims=True)], [n], [step], False), groups, confidence)
    return estimate, max(ends.low, -loss), ends.high


def _decided(estimate: float, low: float, high: float, rope: float, n: int, confidence: float) -> tuple[Verdict, float]:
    """Verdict on an interval, and the rows that would decide it with a power of `POWER`; n rows gave the interval."""
    if high < -rope:
        return "better", np.nan
    if low > rope:
        return "worse", np.nan
    if -rope <= low and high <= rope and rope > 0:
        return "equivalent", np.nan
    margin, half = abs(abs(estimate) - rope), (high - low) / 2
    # the interval of a sample as large as this ends beyond the margin, not only on it, in that share of samples
    times = (1 + norm.ppf(POWER) / norm.isf((1 - confidence) / 2)) ** 2
    return "not decided", float(np.ceil(n * times * (half / margin) ** 2)) if margin > 0 and np.isfinite(half) else np.inf


def _difference_format(score: Score, second: str, loss: float) -> tuple[Callable[[float], str], str, str]:
    """Format, measure and unit of a difference; losses other than shares are relative to those of the second learner."""
    if score.kind == "share":
        return lambda value: f"{100 * value:+.1f}", "error rate", " points"
    if score.kind == "loss" and loss > 0:
        measure = "mean squared error" if score.show is np.sqrt else score.name
        return lambda value: f"{100 * abs(value) / loss:.1f} % {'below' if value < 0 else 'above'}", measure, f" that of {second}"
    if score.kind == "pooled":
        return lambda value: "not defined" if np.isnan(value) else figures(0.0 - value, 3, "+"), score.name, ""
    return lambda value: figures(value, 3, "+"), f"loss of {score.name}", ""


def _region(score: Score, second: str, loss: float) -> Callable[[float], str]:
    """Format of the region of practical equivalence."""
    if score.kind == "share":
        return lambda value: f"{100 * value:.2g} points"
    if score.kind == "loss" and loss > 0:
        return lambda value: f"{100 * value / loss:.2g} % of that of {second}"
    return lambda value: figures(value, 3)


def default_rope(score: Score, fits: Fits) -> float:
    """Default half width of the region of practical equivalence, from the score and the loss of the baseline.

    .01 for scores from 0 to 1, but at most a tenth of the baseline's error rate; 1 % of the baseline's loss for others.
    """
    if not fits.losses:
        return 0.01
    baseline = float(np.nanmean(fits.losses["baseline"]))
    return min(0.01, 0.1 * baseline) if score.kind == "share" else 0.01 * baseline
