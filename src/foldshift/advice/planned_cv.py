"""Cross-validation as the work plan says, all learners on the same folds; a budget of time can stop it."""

from __future__ import annotations

import math
import numbers
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from foldshift.advice.split_shift import cut, table_of
from foldshift.advice.work_plan import RANDOM_GROUPS
from foldshift.core.errors import DataError, StoppedError
from foldshift.core.estimators import title
from foldshift.core.remedies import Given
from foldshift.core.seeding import generator
from foldshift.inference.repetitions.recommend import recommend_repetitions
from foldshift.partition.distinct import distinct_partitions
from foldshift.shift.report.drift_text import counted

if TYPE_CHECKING:
    from foldshift.advice.data import Data
    from foldshift.advice.learner.learner_calls import LearnerCalls, Scored
    from foldshift.advice.score import Score
    from foldshift.advice.split_shift import CutShift
    from foldshift.advice.work_plan import WorkPlan
    from foldshift.core.types import Array, Estimator, FloatArray, UnsignedArray
    from foldshift.inference.repetitions.recommend import Repetitions
    from foldshift.partition.distinct import Partitions

    Tell = Callable[[str], object]  # called with the step that begins

FOR_EVER = 1e9  # seconds that stand for no budget
LEAST_BUDGET = 5.0  # seconds
FOR_FITS = 0.5  # share of the budget that fits have in any case
FEWEST_FOLDS = 2  # of a repetition that the budget stopped, for a score
STEP = 5  # repetitions that are added before it is looked again how many are enough
EPS = 0.25  # of the standard deviation that no repetition removes: beyond, another cut adds 3 % to the standard error


class Clock:
    """A budget of seconds, from now on or from an earlier time of `time.perf_counter`. It only stops work."""

    def __init__(self, seconds: float, begun: float | None = None) -> None:
        self.begun, self.budget = time.perf_counter() if begun is None else begun, float(seconds)
        self._end = self.budget

    def begin_fits(self) -> None:
        """Give fits a share of the budget, however long it took to load libraries and to read the table."""
        self._end = max(self.budget, self.spent + FOR_FITS * self.budget)

    @property
    def spent(self) -> float:
        """Seconds since the beginning."""
        return time.perf_counter() - self.begun

    @property
    def left(self) -> float:
        """Seconds left; below 0 when the budget is used up."""
        return self._end - self.spent

    @property
    def is_over(self) -> bool:
        """Return True once the budget is used up."""
        return self.left <= 0

    def __str__(self) -> str:
        """Seconds spent, and the budget if there is one."""
        return f"{self.spent:.0f}{f' of {self.budget:.0f}' if self.budget < FOR_EVER else ''} s"


class Said(str):
    """A text for `Tell` that is more than a step.

    One that is `lasting` is worth a line of its own, which the next step does not overwrite; one that is `known` is a result,
    worth printing if the work ends there.
    """

    def __new__(cls, text: str, *, lasting: bool = False, known: bool = False) -> Self:
        """Make a text with these marks."""
        made = super().__new__(cls, text)
        made.lasting, made.known = lasting, known
        return made

    lasting: bool
    known: bool


def seconds_of(budget: float | str | None) -> float:
    """Seconds of a budget such as 60, "90s", "5 min" or "1h"; at least five.

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
    """Learners on one table, with one score, one way of cutting, one seed, one plan and one budget of time."""

    learners: dict[str, Estimator]  # the learner that the advice is for comes first, the baseline last
    data: Data
    score: Score
    cut: str  # the partitioner that is recommended
    plan: WorkPlan
    random_state: int
    confidence: float
    clock: Clock
    calls: LearnerCalls
    tell: Tell  # ``tell(text)`` is called with the step that begins

    @property
    def k(self) -> int:
        """Number of folds."""
        return self.plan.folds

    @property
    def name(self) -> str:
        """Name of the learner that the advice is for."""
        return next(iter(self.learners))

    @property
    def learner(self) -> Estimator:
        """The learner that the advice is for."""
        return self.learners[self.name]

    def rng(self, step: str) -> np.random.Generator:
        """Generator of a step: it depends on no other step."""
        return generator(self.random_state, "advice", step)

    def folds(self, partitioner: str, n: int) -> UnsignedArray:
        """Folds of shape (n, n_rows): those that a repeated splitter with this random state makes."""
        seeds = np.random.SeedSequence(self.random_state).spawn(n)
        nominal = self.data.nominal if self.data.columns else None
        return cut(partitioner, table_of(self.data), self.data, self.k, seeds, nominal)


class Fits(NamedTuple):
    """Results of cross-validation."""

    folds: Array  # folds of the repetitions, -1 for rows that no finished fold tests; shape (r, n)
    # loss of every row by learner; empty for a score of folds. NaN for rows that are never tested; shape (r, n)
    losses: dict[str, FloatArray]
    scores: dict[str, FloatArray]  # mean loss, or score, of every fold by learner; shape (r, k)
    n_fits: int  # number of fits of the first learner, those of an unfinished repetition included
    seconds_per_fit: float  # mean duration of a fit of the first learner and the prediction of its test part
    # prediction of every row by learner, for a pooled score: code of the class, score of the positive class, or number; (r, n)
    predictions: dict[str, FloatArray]
    stopped: str = ""  # what the budget stopped: the learner, in a repetition that is left out or in the only one

    def joined(self, other: Fits) -> Fits:
        """Append the repetitions of other fits of the same learners."""

        def both(a: dict[str, FloatArray], b: dict[str, FloatArray]) -> dict[str, FloatArray]:
            return {name: np.concatenate([a[name], b[name]]) for name in a}

        n_fits = self.n_fits + other.n_fits
        per_fit = (self.seconds_per_fit * self.n_fits + other.seconds_per_fit * other.n_fits) / max(n_fits, 1)
        folds = np.concatenate([self.folds, other.folds])
        losses, scores = both(self.losses, other.losses), both(self.scores, other.scores)
        return Fits(folds, losses, scores, n_fits, per_fit, both(self.predictions, other.predictions), other.stopped)

    def first(self, n: int) -> Fits:
        """Keep the first `n` repetitions."""
        losses, scores, predictions = (
            {name: values[:n] for name, values in found.items()} for found in (self.losses, self.scores, self.predictions)
        )
        return self._replace(folds=self.folds[:n], losses=losses, scores=scores, predictions=predictions)


def first_fit(calls: LearnerCalls, name: str, data: Data, times: int) -> tuple[str, ...]:
    """Fit on nine tenths of the rows; raise DataError if learner or score cannot handle these data.

    Two fits show a learner that draws at random: notes on it are returned.
    """
    test = np.zeros(data.n, dtype=bool)
    # Every tenth row of the rows in order of the target: no class with ten rows or more is left out of either part.
    test[np.argsort(data.target, kind="stable")[::10]] = True
    found: list[Scored] = []
    for _ in range(times):
        found += calls(name, np.flatnonzero(~test), np.flatnonzero(test))
    first, last = (one.score if one.losses is None else one.losses for one in (found[0], found[-1]))
    if np.allclose(first, last, rtol=1e-6, equal_nan=True):
        return ()
    return (
        f"two fits of {name} on the same rows predicted different values: it draws at random without a seed of its own, or keeps "
        "something from fit to fit; set its random_state",
    )


def cross_validate(
    experiment: Experiment, folds: Array, progress: Callable[[int], object] | None = None, is_first: bool = True
) -> Fits:
    """Cross-validate learners on the same folds, repetition by repetition, until all is done or the budget is used up.

    `folds` has shape (r, n), -1 for rows that are never tested. ``progress(n)`` is called with the number of finished folds. A
    repetition that is not finished is left out. If it is the first of all, two folds are enough; with fewer, StoppedError is
    raised.
    """
    data, learners = experiment.data, experiment.learners
    k = int(folds.max()) + 1
    losses: dict[str, list[FloatArray]] = {name: [] for name in learners}
    scores: dict[str, list[FloatArray]] = {name: [] for name in learners}
    used: list[Array] = []
    n_fits, of_first, stopped = 0, 0.0, ""
    for row in folds:
        found = {name: np.full(data.n, np.nan) for name in learners}
        of_folds = {name: np.full(k, np.nan) for name in learners}
        try:
            for fold in (fold for fold in range(k) if (row == fold).any()):
                test = row == fold
                made: dict[str, tuple[FloatArray | None, float]] = {}
                for name in learners:
                    start = time.perf_counter()
                    ((values, mean),) = experiment.calls(name, np.flatnonzero(~test), np.flatnonzero(test))
                    made[name] = values, mean
                    if name == experiment.name:
                        n_fits, of_first = n_fits + 1, of_first + time.perf_counter() - start
                for name, (values, mean) in made.items():
                    of_folds[name][fold] = mean
                    if values is not None:
                        found[name][test] = values
                if progress is not None:
                    progress(n_fits)
        except StoppedError:
            tested = np.isfinite(of_folds[experiment.name])
            stopped = experiment.name
            if used or not is_first:
                break
            if tested.sum() < FEWEST_FOLDS:
                raise
            row = np.where(np.isin(row, np.flatnonzero(tested)), row.astype(np.int64), -1)
        used.append(row)
        for name in learners:
            losses[name].append(found[name])
            scores[name].append(of_folds[name])
        if stopped:
            break
    of_rows = {name: np.reshape(values, (-1, data.n)) for name, values in losses.items()}
    by_fold = {name: np.reshape(values, (-1, k)) for name, values in scores.items()}
    has_losses, is_pooled = experiment.score.losses is not None, experiment.score.kind == "pooled"
    per_fit = of_first / max(n_fits, 1)
    return Fits(
        np.reshape(np.array(used, dtype=np.int64), (-1, data.n)),
        of_rows if has_losses else {},
        by_fold,
        n_fits,
        per_fit,
        of_rows if is_pooled else {},
        stopped,
    )


class Repeated(NamedTuple):
    """Result of repeated cross-validation."""

    fits: Fits  # all repetitions
    repetitions: Repetitions | None  # None where there are not two different partitions
    partitions: Partitions  # of the repetitions that were made; of all that could be made where they are all the same
    advised: int  # recommended number of repetitions
    planned: int  # fits of the learner that this number and the plan ask for


def cross_validate_repeatedly(experiment: Experiment, first: Callable[[Fits], object]) -> Repeated:
    """Cross-validate as often as the plan says, and until the promise on repetitions is met.

    Where all partitions are the same, cross-validate once. ``first(fits)`` is called with the first repetition.
    """
    plan = experiment.plan
    folds = experiment.folds(experiment.cut, plan.most)
    groups = experiment.data.groups
    possible = distinct_partitions(folds, groups=groups)
    if possible.are_one:
        folds = folds[:1]
    called, done = title(experiment.learner), 0

    def progress(n: int) -> None:
        experiment.tell(f"cross-validating: {done + n} fits of {called}, {experiment.clock}")

    fits = cross_validate(experiment, folds[:1], progress)
    first(fits)
    wanted = min(plan.start, len(folds))
    found = None
    while not fits.stopped and len(fits.folds) < wanted:
        done = fits.n_fits
        step = folds[len(fits.folds) : wanted]
        fits = fits.joined(cross_validate(experiment, step, progress, is_first=False))
        found = _repetitions(fits, experiment.name)
        if found is not None and found.repetitions is not None and len(fits.folds) >= plan.start:
            wanted = min(max(found.repetitions, plan.start), len(fits.folds) + STEP, len(folds))
    made = possible if possible.are_one else distinct_partitions(fits.folds, groups=groups)
    if found is not None and not made.all_differ:
        note = f"{counted(made.n_made, 'repetition')} gave {made.in_words()}"
        found = found._replace(repetitions=None, plug_in=None, note=note)
    start = min(plan.start, len(folds))
    advised = start
    if found is not None and found.repetitions is not None:
        advised = min(max(found.repetitions, 1), plan.most)
    planned = experiment.k * max(start, advised)
    return Repeated(fits, found, made, advised, planned)


def _repetitions(fits: Fits, name: str) -> Repetitions | None:
    scores = fits.scores[name][list(distinct_partitions(fits.folds).first)]
    scores = scores[:, ~np.isnan(scores).any(axis=0)]
    if len(scores) < 2 or scores.shape[1] < 2:
        return None
    return recommend_repetitions(scores, eps=EPS)


def with_spreads(experiment: Experiment, cuts: list[CutShift], fits: Fits, is_one: bool = False) -> list[CutShift]:
    """Add the spread of the learner's score between partitions to ways of cutting, as the plan says.

    `is_one` says that all seeds of the recommended cut give one partition. A cut that gives one has no spread. Raise StoppedError
    when the budget is used up.
    """
    name, n_spread = experiment.name, experiment.plan.spreads
    if not n_spread or (len(fits.folds) < n_spread and not is_one):
        return cuts
    alone = replace(experiment, learners={name: experiment.learner})
    found = []
    for one in cuts:
        if one.cut == experiment.cut:
            values, folds = fits, fits.folds
        elif one.cut == RANDOM_GROUPS:
            found.append(one)
            continue
        else:
            experiment.tell(f"cross-validating with {one.cut}, {experiment.clock}")
            folds = experiment.folds(one.cut, n_spread)
            folds = folds[list(distinct_partitions(folds).first)]
            try:
                values = cross_validate(alone, folds)
            except StoppedError:
                raise
            except DataError:  # a cut that is blind to classes may leave one out of a part, and some scores need all of them
                found.append(one)
                continue
            if values.stopped:
                raise StoppedError(f"{name} was stopped in {one.cut}")
        first = list(distinct_partitions(folds[:n_spread]).first)
        if len(first) == 1:
            found.append(one._replace(spread=0.0, n_partitions=1))
            continue
        rows = values.losses.get(name, values.scores[name])[first]
        spread = float(np.std(experiment.score.show(np.nanmean(rows, axis=1)), ddof=1))
        found.append(one._replace(spread=spread, n_partitions=len(first)))
    return found
