"""Cross-validation within a budget of time: as many repetitions as fit, all learners on the same folds."""

from __future__ import annotations

import math
import numbers
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foldshift.advice.split_shift import RANDOM_GROUPS, cut, table_of
from foldshift.core.errors import DataError, StoppedError
from foldshift.core.estimators import title
from foldshift.core.remedies import Given
from foldshift.inference.repetitions.recommend import FEWEST_PARTITIONS, recommend_repetitions
from foldshift.partition.distinct import distinct_partitions
from foldshift.shift.report.drift_text import counted

if TYPE_CHECKING:
    from foldshift.advice.data import Data
    from foldshift.advice.learner.learner_calls import LearnerCalls, Scored
    from foldshift.advice.score import Score
    from foldshift.advice.split_shift import CutShift
    from foldshift.core.types import Array, Estimator, FloatArray, UnsignedArray
    from foldshift.inference.repetitions.recommend import Repetitions
    from foldshift.partition.distinct import Partitions

    Tell = Callable[[str], object]  # called with the step that begins

FOR_EVER = 1e9  # seconds that stand for no budget
LEAST_BUDGET = 5.0  # seconds
QUICK = 2.0  # seconds, up to which a fit is timed twice
FOR_FITS = 0.75  # share of what the budget leaves after looking
FOR_SPREADS, N_SPREAD = 0.6, 5  # share of what is left then; partitions of each way of cutting
EPS = 0.25  # of the standard deviation that no repetition removes: beyond, another cut adds 3 % to the standard error


class Clock:
    """A budget of seconds, from now on or from an earlier time of `time.perf_counter`."""

    stopped = False  # whether the user wants an end now

    def __init__(self, seconds: float, begun: float | None = None) -> None:
        self.begun, self.budget = time.perf_counter() if begun is None else begun, float(seconds)

    @classmethod
    def stop_all(cls) -> None:
        """End every budget now."""
        cls.stopped = True

    @property
    def spent(self) -> float:
        """Seconds since the beginning."""
        return time.perf_counter() - self.begun

    @property
    def left(self) -> float:
        """Seconds left; below 0 when the budget is used up."""
        return self.budget - self.spent - 2 * FOR_EVER * self.stopped

    def __str__(self) -> str:
        """Seconds spent, and the budget if there is one."""
        return f"{self.spent:.0f}{f' of {self.budget:.0f}' if self.budget < FOR_EVER else ''} s"


def seconds_of(budget: float | str | None) -> float:
    """Seconds of a budget such as 60, "90s", "5 min" or "1h"; at least five.

    Examples
    --------
    >>> seconds_of("1.5 min")
    90.0
    """
    seconds = FOR_EVER if budget is None else None
    if isinstance(budget, numbers.Real) and not isinstance(budget, bool):
        seconds = float(budget)
    elif isinstance(budget, str) and (
        match := re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(s|sec|seconds?|m|min|minutes?|h|hours?)?\s*", budget)
    ):
        seconds = float(match[1]) * {"s": 1, "m": 60, "h": 3600}[(match[2] or "s")[0]]
    if seconds is None or not math.isfinite(seconds):
        raise DataError(Given("budget", str(budget)), " is not a time; give seconds, or a text such as '90s', '5 min', '1h'")
    if seconds < LEAST_BUDGET:
        raise DataError(Given("budget", str(budget)), f" is {seconds:g} s; advice on a table needs at least {LEAST_BUDGET:g} s")
    return seconds


@dataclass(frozen=True)
class Experiment:
    """Learners on one table, with one score, one way of cutting, one seed and one budget of time."""

    learners: dict[str, Estimator]  # the learner that the advice is for comes first, the baseline last
    data: Data
    score: Score
    cut: str  # the partitioner that is recommended
    k: int  # number of folds
    random_state: int
    confidence: float
    clock: Clock
    calls: LearnerCalls
    tell: Tell  # ``tell(text)`` is called with the step that begins

    @property
    def name(self) -> str:
        """Name of the learner that the advice is for."""
        return next(iter(self.learners))

    @property
    def learner(self) -> Estimator:
        """The learner that the advice is for."""
        return self.learners[self.name]

    def folds(self, partitioner: str, n: int) -> UnsignedArray:
        """Folds of shape (n, n_rows): those that a repeated splitter with this random state makes."""
        seeds = np.random.SeedSequence(self.random_state).spawn(n)
        nominal = self.data.nominal if self.data.columns else None
        return cut(partitioner, table_of(self.data), self.data, self.k, seeds, nominal)


class FirstFit(NamedTuple):
    """Duration of the first fit in seconds, and notes on the learner."""

    seconds: float
    notes: tuple[str, ...] = ()


class Fits(NamedTuple):
    """Results of cross-validation."""

    folds: Array  # folds of the repetitions that were finished; shape (r, n)
    # loss of every row by learner; empty for a score of folds. NaN for rows that are never tested; shape (r, n)
    losses: dict[str, FloatArray]
    scores: dict[str, FloatArray]  # mean loss, or score, of every fold by learner; shape (r, k)
    seconds: float  # duration of all fits and predictions
    n_fits: int  # number of fits of the first learner
    seconds_per_fit: float  # mean duration of a fit of the first learner and the prediction of its test part
    # prediction of every row by learner, for a pooled score: code of the class, score of the positive class, or number; (r, n)
    predictions: dict[str, FloatArray]
    stopped: str = ""  # learner that was stopped in a repetition that is left out

    def joined(self, other: Fits) -> Fits:
        """Append the repetitions of other fits of the same learners."""

        def both(a: dict[str, FloatArray], b: dict[str, FloatArray]) -> dict[str, FloatArray]:
            return {name: np.concatenate([a[name], b[name]]) for name in a}

        n_fits = self.n_fits + other.n_fits
        per_fit = (self.seconds_per_fit * self.n_fits + other.seconds_per_fit * other.n_fits) / n_fits
        folds = np.concatenate([self.folds, other.folds])
        losses, scores = both(self.losses, other.losses), both(self.scores, other.scores)
        predictions, stopped = both(self.predictions, other.predictions), other.stopped
        return Fits(folds, losses, scores, self.seconds + other.seconds, n_fits, per_fit, predictions, stopped)


def first_fit(calls: LearnerCalls, name: str, data: Data) -> FirstFit:
    """Time a fit on nine tenths of the rows; raise DataError if learner or score cannot handle these data."""
    test = np.zeros(data.n, dtype=bool)
    # Every tenth row of the rows in order of the target: no class with ten rows or more is left out of either part.
    test[np.argsort(data.target, kind="stable")[::10]] = True
    seconds: list[float] = []
    found: list[Scored] = []
    for _ in range(2):
        begun = time.perf_counter()
        found += calls(name, np.flatnonzero(~test), np.flatnonzero(test))
        seconds.append(time.perf_counter() - begun)
        if seconds[0] > QUICK:
            break
    calls.usual_seconds = min(seconds)  # the first one may have loaded or compiled something
    first, last = (one.score if one.losses is None else one.losses for one in (found[0], found[-1]))
    notes = (
        f"two fits of {name} on the same rows predicted different values: it draws at random without a seed of its own, or keeps "
        "something from fit to fit; set its random_state",
    )
    return FirstFit(calls.usual_seconds, () if np.allclose(first, last, rtol=1e-6, equal_nan=True) else notes)


def cross_validate(
    experiment: Experiment,
    folds: Array,
    *,
    reserve: float = 0.0,
    least: int = 1,
    seconds: float = 0.0,
    progress: Callable[[int], object] | None = None,
) -> Fits:
    """Cross-validate learners on the same folds, repetition by repetition, until the budget is used up.

    `folds` has shape (r, n), -1 for rows that are never tested. `least` repetitions are finished in any case, and
    `reserve` seconds are left over. `seconds` is the expected duration of the first repetition. ``progress(n)`` is called with
    the number of finished folds.
    """
    data, learners, clock = experiment.data, experiment.learners, experiment.clock
    k = int(folds.max()) + 1
    losses: dict[str, list[FloatArray]] = {name: [] for name in learners}
    scores: dict[str, list[FloatArray]] = {name: [] for name in learners}
    total, n_fits, of_first = 0.0, 0, 0.0
    for repetition, row in enumerate(folds):
        if repetition >= least and clock.left - reserve < seconds:
            break
        begun = time.perf_counter()
        found = {name: np.full(data.n, np.nan) for name in learners}
        of_folds = {name: np.full(k, np.nan) for name in learners}
        for fold in range(k):
            test = row == fold
            if not test.any():
                continue
            for name in learners:
                start = time.perf_counter()
                try:
                    ((values, mean),) = experiment.calls(name, np.flatnonzero(~test), np.flatnonzero(test))
                except StoppedError:
                    if repetition < least:
                        raise
                    return _fits(experiment, folds, (losses, scores), _Spent(total, n_fits, of_first), stopped=name)
                if name == experiment.name:
                    n_fits, of_first = n_fits + 1, of_first + time.perf_counter() - start
                of_folds[name][fold] = mean
                if values is not None:
                    found[name][test] = values
            if progress is not None:
                progress(repetition * k + fold + 1)
        for name in learners:
            losses[name].append(found[name])
            scores[name].append(of_folds[name])
        taken = time.perf_counter() - begun
        total, seconds = total + taken, max(seconds * 0.5, taken * 1.05)
    return _fits(experiment, folds, (losses, scores), _Spent(total, n_fits, of_first))


class _Spent(NamedTuple):
    """Duration of all fits, number of fits of the first learner, and their duration."""

    seconds: float
    n_fits: int
    of_first: float


def _fits(
    experiment: Experiment, folds: Array, found: tuple[dict[str, list[FloatArray]], ...], spent: _Spent, stopped: str = ""
) -> Fits:
    """Put the finished repetitions together."""
    losses, scores = found
    done = len(scores[experiment.name])
    of_rows = {name: np.array(values[:done]) for name, values in losses.items()}
    by_fold = {name: np.array(values[:done]) for name, values in scores.items()}
    has_losses, is_pooled = experiment.score.losses is not None, experiment.score.kind == "pooled"
    seconds, n_fits, of_first = spent
    losses_of_rows, predictions = of_rows if has_losses else {}, of_rows if is_pooled else {}
    return Fits(folds[:done], losses_of_rows, by_fold, seconds, n_fits, of_first / n_fits, predictions, stopped)


class Repeated(NamedTuple):
    """Result of repeated cross-validation."""

    fits: Fits
    repetitions: Repetitions | None  # None where there are not two different partitions
    partitions: Partitions  # of the repetitions that were made; of all that could be made where they are all the same


def cross_validate_repeatedly(experiment: Experiment, seconds_per_fit: float, most: int) -> Repeated:
    """Cross-validate until the promise on repetitions is met, `most` are made or the budget is used up.

    Where all partitions are the same, cross-validate once.
    """
    clock = experiment.clock
    reserve = clock.left * (1 - FOR_FITS)
    expected = seconds_per_fit * (len(experiment.learners) - 1) * experiment.k
    folds = experiment.folds(experiment.cut, most)
    groups = experiment.data.groups
    possible = distinct_partitions(folds, groups=groups)
    if possible.are_one:
        folds = folds[:1]
    called = title(experiment.learner)

    def progress(n_folds: int) -> None:
        experiment.tell(f"cross-validating: {n_folds} fits of {called}, {clock}")

    start = folds[: FEWEST_PARTITIONS * 2]
    fits = cross_validate(experiment, start, reserve=reserve, seconds=expected, progress=progress)
    found = _repetitions(fits, experiment.name)
    while (
        found is not None
        and found.repetitions is not None
        and not fits.stopped
        and len(fits.folds) < min(found.repetitions, most)
        and clock.left - reserve > 2 * fits.seconds / len(fits.folds)
    ):
        more, expected = folds[len(fits.folds) : len(fits.folds) + 5], fits.seconds / len(fits.folds)
        try:
            fits = fits.joined(cross_validate(experiment, more, reserve=reserve, seconds=expected, progress=progress))
        except StoppedError:
            fits = fits._replace(stopped=called)
        found = _repetitions(fits, experiment.name)
    made = possible if possible.are_one else distinct_partitions(fits.folds, groups=groups)
    if found is not None and not made.all_differ:
        note = f"{counted(made.n_made, 'repetition')} gave {made.in_words()}"
        found = found._replace(repetitions=None, plug_in=None, note=note)
    return Repeated(fits, found, made)


def _repetitions(fits: Fits, name: str) -> Repetitions | None:
    scores = fits.scores[name][list(distinct_partitions(fits.folds).first)]
    scores = scores[:, ~np.isnan(scores).any(axis=0)]
    if len(scores) < 2 or scores.shape[1] < 2:
        return None
    return recommend_repetitions(scores, eps=EPS)


def with_spreads(experiment: Experiment, cuts: list[CutShift], fits: Fits, is_one: bool = False) -> list[CutShift]:
    """Add the spread of the learner's score between partitions to ways of cutting, as far as there is time.

    `is_one` says that all seeds of the recommended cut give one partition. A cut that gives one has no spread.
    """
    name, clock = experiment.name, experiment.clock
    stop = clock.left * (1 - FOR_SPREADS)
    seconds = N_SPREAD * experiment.k * fits.seconds_per_fit
    if (len(fits.folds) < N_SPREAD and not is_one) or clock.left - stop < seconds:
        return cuts
    alone = replace(experiment, learners={name: experiment.learner})
    found = []
    for one in cuts:
        enough = clock.left - stop > seconds
        if one.cut == experiment.cut:
            values, folds = fits, fits.folds
        elif one.cut == RANDOM_GROUPS or not enough:
            found.append(one)
            continue
        else:
            experiment.tell(f"cross-validating with {one.cut}, {clock}")
            folds = experiment.folds(one.cut, N_SPREAD)
            folds = folds[list(distinct_partitions(folds).first)]
            try:
                values = cross_validate(alone, folds, least=len(folds))
            except DataError:  # a cut that is blind to classes may leave one out of a part, and some scores need all of them
                found.append(one)
                continue
        first = list(distinct_partitions(folds[:N_SPREAD]).first)
        if len(first) == 1:
            found.append(one._replace(spread=0.0, n_partitions=1))
            continue
        rows = values.losses.get(name, values.scores[name])[first]
        spread = float(np.std(experiment.score.show(np.nanmean(rows, axis=1)), ddof=1))
        found.append(one._replace(spread=spread, n_partitions=len(first)))
    return found
