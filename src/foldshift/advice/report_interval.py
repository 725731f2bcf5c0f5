"""The interval that may be printed, others with the reason against them, and differences between learners."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from scipy.stats import t as student_t

from foldshift.core.repr import figures
from foldshift.inference.intervals.interval import WORDS
from foldshift.inference.intervals.mean_loss import mean_and_variance, row_interval

if TYPE_CHECKING:
    from foldshift.advice.rules import Rule
    from foldshift.advice.score import Score
    from foldshift.advice.timed_cv import Experiment, Fits
    from foldshift.core.types import FloatArray

Verdict = Literal["better", "worse", "equivalent", "not decided"]

MOST_NEEDED = 1_000_000
THESE_MODELS = "the error on new rows of models trained as these were, on {share} of the rows"
INFLATION = {"share": 1.15, "loss": 1.05}
"""Of the variance of a difference: variance of estimate less truth over the row variance of one repetition, on eleven generated
populations of the study of honest cuts, three learners and 50, 150 and 400 rows."""


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
            least = np.maximum(ends[1], 0.0) if score.kind != "folds" else ends[1]
            values = [float(score.show(value)) for value in (ends[0], least, ends[2])]
        low, high = sorted(values[1:]) if np.isfinite(values[1:]).all() else values[1:]
        confidence = self.experiment.confidence
        return ScoreInterval(name, words, target or self.target, values[0], low, high, use, why, evidence, confidence)


def score_intervals(experiment: Experiment, fits: Fits, rule: Rule) -> tuple[ScoreInterval, ...]:
    """The interval that a rule recommends, then the others with the reason against them; of the first learner."""
    request = _Request(experiment, fits, rule)
    makers = MAKERS if fits.losses else {name: make for name, make in MAKERS.items() if name != "rows"}
    names = sorted(makers, key=lambda name: name != rule.advice)  # stable: the recommended one first
    return tuple(makers[name](request) for name in names)


def share_words(k: int) -> str:
    """Share of the rows in a training part of k folds, in words."""
    words = {2: "half", 3: "two thirds", 4: "three quarters", 5: "four fifths", 10: "nine tenths"}
    return words.get(k, f"{100 * (k - 1) / k:.3g} %")


def _rows(request: _Request) -> ScoreInterval:
    experiment, groups = request.experiment, request.experiment.data.groups
    if experiment.score.kind == "folds":
        raise TypeError(f"{experiment.score.name} is a score of whole folds; rows have no losses")
    ends = row_interval(request.fits.losses[experiment.name], experiment.confidence, experiment.score.kind, groups)
    words = f"spread of the {'rows' if groups is None else 'groups'} in one repetition"
    why = request.rule.say if request.rule.advice == "rows" else ""
    return request.made("rows", words, ends, why=why, evidence=request.rule.evidence)


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
            "It rests on the means of folds, of which there are few: from three repetitions it covered 76 to 100 % by learner "
            "and population where 95 is promised, the spread of rows 85 to 98."
        )
    half = request.quantile(df) * np.sqrt(variance)
    return request.made(name, words, (mean, mean - half, mean + half), why=why, evidence=evidence, target=about)


MAKERS: dict[str, Callable[[_Request], ScoreInterval]] = {
    "rows": _rows,
    "fold means": _fold_means,
    "corrected t": _corrected_t,
}


def difference(experiment: Experiment, fits: Fits, second: str, rope: float) -> Difference:
    """Compare the first learner with another one; `rope` is in units of the loss, or of the score for scores of folds."""
    first, score, groups = experiment.name, experiment.score, experiment.data.groups
    if score.kind != "folds":
        gap = fits.losses[first] - fits.losses[second]
        tested = ~np.isnan(gap).any(axis=0)
        estimate, variance, df = mean_and_variance(gap[:, tested], None if groups is None else groups[tested])
        spread = np.sqrt(INFLATION[score.kind] * variance)
        loss = float(np.nanmean(fits.losses[second]))
    else:  # scorers of scikit-learn: larger is better, whatever their name
        gap = -(fits.scores[first] - fits.scores[second])
        gap = gap[:, ~np.isnan(gap).any(axis=0)]
        estimate, m, df, loss = float(gap.mean()), gap.size, max(gap.shape[1] - 1, 1), np.nan
        spread = np.sqrt(float(gap.var(ddof=1)) * (1 / m + 1 / (experiment.k - 1)))
    half = float(student_t.isf((1 - experiment.confidence) / 2, df) * spread)
    low, high = estimate - half, estimate + half
    verdict, needed = _decided(estimate, half, rope, fits.folds.shape[1])
    found = Difference(f"{first} less {second}", estimate, low, high, rope, verdict, needed, "")
    text, measure, unit = _difference_format(score, second, loss)
    begin = (
        f"{found.name}: {measure} {text(estimate)}{unit} ({100 * experiment.confidence:g} % interval {text(low)} to {text(high)})"
    )
    region = f"up to {text(rope).lstrip('+')}{unit.split(' of ')[0]} taken for no difference"
    if verdict == "not decided":
        rows = f"some {needed:,.0f} rows would decide it" if needed <= MOST_NEEDED else "a million rows would not decide it"
        return found._replace(said=f"{begin}: not decided ({region}); if the difference is as estimated, {rows}.")
    words = {"better": f"{first} is better", "worse": f"{first} is worse", "equivalent": "the two are practically equivalent"}
    return found._replace(said=f"{begin}: {words[verdict]} ({region}).")


def _decided(estimate: float, half: float, rope: float, n: int) -> tuple[Verdict, float]:
    """Verdict on an interval of half width `half`, and the rows that would decide it; n rows gave the interval."""
    low, high = estimate - half, estimate + half
    if high < -rope or (high < 0 and rope == 0):
        return "better", np.nan
    if low > rope:
        return "worse", np.nan
    if -rope <= low and high <= rope:
        return "equivalent", np.nan
    margin = abs(abs(estimate) - rope)
    return "not decided", float(np.ceil(n * (half / margin) ** 2)) if margin > 0 else np.inf


def _difference_format(score: Score, second: str, loss: float) -> tuple[Callable[[float], str], str, str]:
    """Format, measure and unit of a difference; losses other than shares are relative to those of the second learner."""
    if score.kind == "share":
        return lambda value: f"{100 * value:+.1f}", "error rate", " points"
    if score.kind == "loss" and loss > 0:
        measure = "mean squared error" if score.show is np.sqrt else score.name
        return lambda value: f"{100 * value / loss:+.1f}", measure, f" % of that of {second}"
    return lambda value: figures(value, 3, "+"), f"loss of {score.name}", ""
