"""Advice for one table, one learner and one question: how to cut, how often, what may be claimed, what to beware of."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foldshift.advice.data import as_data, check_kind
from foldshift.advice.given_split import GivenSplit, given_split
from foldshift.advice.issues import find_faults
from foldshift.advice.learner.learner_calls import LearnerCalls
from foldshift.advice.learner.learner_warnings import with_warnings_as_an_issue
from foldshift.advice.preprocessing import SEED, baseline, has_gaps_or_texts, prepared, usual
from foldshift.advice.report_interval import difference, score_intervals
from foldshift.advice.result import Advice
from foldshift.advice.rules import cautions, decide
from foldshift.advice.score import as_score
from foldshift.advice.split_half import on_halves, with_biases
from foldshift.advice.split_shift import cuts_side_by_side, split_shift
from foldshift.advice.timed_cv import (
    FOR_FITS,
    Clock,
    Experiment,
    cross_validate_repeatedly,
    first_fit,
    seconds_of,
    with_spreads,
)
from foldshift.advice.wording import methods_paragraph, used_versions, verdict
from foldshift.core.arguments import check_confidence
from foldshift.core.errors import DataError
from foldshift.core.estimators import check_predictor, title, title_in_full

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.advice.data import Data
    from foldshift.advice.issues import Issue
    from foldshift.advice.rules import Facts
    from foldshift.advice.score import Score
    from foldshift.advice.split_half import Halves
    from foldshift.advice.split_shift import CutShift, SplitShift
    from foldshift.advice.timed_cv import Fits, Tell
    from foldshift.core.types import Array, Estimator, Splitter, TableLike, Task
    from foldshift.inference.repetitions.recommend import Repetitions
    from foldshift.partition.distinct import Partitions

MOST_REPEATS = 50
FOR_COMPILING, SLOWER = 0.5, 1.5  # share for a way of cutting that was never called here; machines slower than the one measured


@with_warnings_as_an_issue
def advise(
    X: TableLike,
    y: ArrayLike,
    estimator: Estimator = None,
    *,
    scoring: str | Callable[..., Any] | None = None,
    groups: ArrayLike | None = None,
    cv: int | Splitter | Iterable[tuple[Array, Array]] | None = None,
    compare: Estimator = None,
    budget: float | str | Clock | None = 60,
    rope: float | None = None,
    confidence: float = 0.95,
    task: Task | None = None,
    categorical_features: ArrayLike | None = None,
    most_repetitions: int = MOST_REPEATS,
    random_state: int = SEED,
    left_out: dict[str, str] | None = None,
    tell: Callable[[str], object] | None = None,
    isolate: bool = True,
) -> Advice:
    """Advise on one table: how to cut it and how often, which interval to print, whether the split is fair, what to beware of.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Inputs, in the form that the learner takes.
    y : array-like of shape (n_samples,)
        Target: a quantity, or two or more classes; without missing values.
    estimator : scikit-learn estimator, optional
        Any classifier, regressor or pipeline; not changed. By default a random forest behind a plain preparation
        (`foldshift.advice.preprocessing.prepared`).
    scoring : str or callable, optional
        A scorer of scikit-learn by name, or ``scorer(estimator, X, y)``; ``error`` (default for classes) or ``rmse`` (default for
        quantities). Intervals rest on rows for the scores of `foldshift.inference.score_interval`, such as ``f1``, on folds for
        all others: these are wider and their coverage is less sure.
    groups : array-like of shape (n_samples,), optional
        Rows that belong together and must not be cut apart: persons, sites, days.
    cv : int, splitter or iterable of (train, test), optional
        The split that you use, to be judged. By default that of scikit-learn: five folds, not shuffled.
    compare : scikit-learn estimator, optional
        Another learner, cross-validated on the same folds.
    budget : float, str or None, default=60
        Time for everything: seconds, or a text such as ``"90s"`` or ``"5 min"``; None: as long as it takes. At least one
        cross-validation is finished if one is possible. A fit that goes on after the time is used up, for three times as long as
        the first one took, is stopped.
    rope : float, optional
        Differences in loss up to this do not matter (in score, where rows have no loss). By default .01 for scores from 0 to 1,
        but at most a tenth of the baseline's error rate; 1 % of the baseline's loss for others.
    confidence : float, default=0.95
        Confidence level of the intervals.
    task : {None, "classification", "regression"}
        Kind of target, if neither the learner nor the values show it.
    categorical_features : None, array-like of bool of shape (n_features,), of int or of str, optional
        Nominal columns that hold numbers, by mask, positions or names. Texts are always nominal.
    most_repetitions : int, default=50
        Largest number of repetitions of cross-validation.
    random_state : int, default=0
        Seed of all folds; the same gives the same folds.
    left_out : dict of str to str, optional
        Columns that are not in X on purpose, and the reasons; the page reports them. A reason with the word "date" marks a column
        of dates, which raises the question of time.
    tell : callable, optional
        ``tell(text)`` is called with the step that begins.
    isolate : bool, default=True
        Whether learners, scorers and a user-defined split run in a copy of this process; see Notes.

    Returns
    -------
    advice : Advice
        Print it; ``advice.cv`` is the splitter, ``advice.to_html(path)`` the page, ``advice.to_dict()`` all figures.

    Raises
    ------
    ValueError
        If the data, the learner or an argument cannot be used; the message is one line. Of a learner: if it raises an error,
        exits, crashes, exhausts memory, takes too long, or predicts what is not of the target.

    Notes
    -----
    What runs in a copy of this process can neither stop nor change it: variables, random state, files that are open. What it
    prints is dropped. Libraries use one thread there, and joblib threads in place of processes.

    Copies are made on Linux only. Elsewhere, and with ``isolate=False``, a learner that hangs is not stopped and one that crashes
    takes Python along. A learner that uses a graphics card needs ``isolate=False``, because its driver does not survive a copy.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> advice = advise(*load_iris(return_X_y=True), GaussianNB(), budget=10)
    >>> advice.interval.low < 0.05 < advice.interval.high
    True
    """
    clock = budget if isinstance(budget, Clock) else Clock(seconds_of(budget))
    check_confidence(confidence)
    _check_numbers(rope, most_repetitions, random_state)
    tell = tell or _silent
    for name, learner in (("estimator", estimator), ("compare", compare)):
        if learner is not None:
            check_predictor(learner, name)
    data = as_data(X, y, estimator, groups, task, categorical_features)
    if compare is not None:
        check_kind(compare, data.task, len(np.unique(data.y)))
    if estimator is None:
        estimator = usual(data.task, random_state)
        estimator = prepared(estimator, data.X) if has_gaps_or_texts(data.X) else estimator
    score = as_score(scoring, data.task, len(data.classes) if data.task == "classification" else 2)
    rng = np.random.default_rng(random_state)
    learners = _learners(estimator, compare, data)
    with LearnerCalls(learners, data, score, clock, isolate) as calls:
        tell(f"one fit of {title(estimator)} on nine tenths of {data.n:,} rows")
        first = first_fit(calls, next(iter(learners)), data)
        split = given_split(cv, data, clock.left if isolate else None)
        judged = _judge(split, data, left_out, rng, tell)
        facts = _facts(data, score, max(0.0, clock.left) * FOR_FITS / max(first.seconds * (len(learners) - 1), 1e-9))
        parts = {part: decide(part, facts) for part in ("cut", "folds", "interval", "difference")}
        k = _n_folds(int(parts["folds"].advice), data)
        experiment = Experiment(learners, data, score, str(parts["cut"].advice), k, random_state, confidence, clock, calls, tell)
        measured = _measure(experiment, first.seconds, most_repetitions, rng)
    fits = measured.fits
    parts["repetitions"] = decide(
        "repetitions", facts | {"fits": len(fits.folds) * k, "one_partition": measured.partitions.are_one}
    )
    rope = _rope(score, fits) if rope is None else float(rope)
    n_repeats = _n_repeats(measured)
    splitter, line = _splitter(experiment, n_repeats)
    advice = Advice(
        verdict=(),
        cv=splitter,
        cv_line=line,
        data=data,
        facts=facts,
        rules=(*parts.values(), *cautions(facts)),
        faults=judged.issues,
        split=judged.shift,
        split_name=judged.split.name,
        split_is_given=cv is not None,
        cuts=measured.cuts,
        intervals=score_intervals(experiment, fits, parts["interval"]),
        differences=tuple(difference(experiment, fits, other, rope) for other in list(learners)[1:]),
        repetitions=measured.repetitions,
        halves=measured.halves,
        score=score,
        learner=experiment.name,
        baseline=float(score.show(np.nanmean(fits.losses["baseline"]))) if fits.losses else None,
        n_splits=k,
        n_repeats=n_repeats,
        n_done=len(fits.folds),
        partitions=measured.partitions,
        seconds_per_fit=fits.seconds_per_fit,
        seconds=clock.spent,
        budget=None if budget is None else clock.budget,
        methods="",
        notes=(*data.notes, *first.notes, *judged.split.notes, *measured.notes),
        versions=used_versions(),
    )
    methods = methods_paragraph(advice, title_in_full(estimator), confidence, random_state)
    return replace(advice, verdict=verdict(advice), methods=methods)


def _silent(text: str) -> None:
    """Report no progress."""


def _check_numbers(rope: float | None, most_repetitions: int, random_state: int) -> None:
    for name, value, least in (("random_state", random_state, 0), ("most_repetitions", most_repetitions, 1)):
        if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
            raise ValueError(f"{name}={value!r} must be a whole number of at least {least}")
    if rope is not None and not 0 <= rope < np.inf:
        raise ValueError(f"rope={rope!r} must be a difference of 0 or more")


class _Judged(NamedTuple):
    """The user's split, issues of table and split, and the shift of the split (None if it cannot be compared)."""

    split: GivenSplit
    issues: tuple[Issue, ...]
    shift: SplitShift | None


def _judge(split: GivenSplit, data: Data, left_out: dict[str, str] | None, rng: np.random.Generator, tell: Tell) -> _Judged:
    """Look for issues, and compare the user's split with random ones."""
    tell("looking for faults")
    issues = find_faults(data, split.folds, left_out=left_out, rng=rng, forward=split.name if split.forward else None)
    tell("comparing the split with random ones")
    shift = None if split.folds is None else split_shift(data, split.folds, rng, split.name)
    return _Judged(split, tuple(issues), shift)


class _Measured(NamedTuple):
    """Cross-validation as recommended, other ways of cutting, halves of the table, and notes on what there was no time for."""

    fits: Fits
    repetitions: Repetitions | None
    partitions: Partitions
    cuts: tuple[CutShift, ...]
    halves: Halves | None
    notes: tuple[str, ...]


def _measure(experiment: Experiment, seconds_per_fit: float, most_repetitions: int, rng: np.random.Generator) -> _Measured:
    """Cross-validate as recommended, then spend the rest of the budget on other ways of cutting and on halves of the table."""
    clock = experiment.clock
    experiment.tell("cutting in other ways")
    cuts, left_out = cuts_side_by_side(
        experiment.data, experiment.k, is_time_for=lambda seconds: SLOWER * seconds < FOR_COMPILING * clock.left
    )
    notes = (
        f"{', '.join(left_out)} {'was' if len(left_out) == 1 else 'were'} not cut side by side: compiling takes longer than the "
        "budget has left; with a longer one, once, it is there for good",
    )
    fits, repetitions, partitions = cross_validate_repeatedly(experiment, seconds_per_fit, most_repetitions)
    cuts = with_spreads(experiment, cuts, fits, partitions.are_one)
    halves = on_halves(experiment, fits.seconds_per_fit, rng)
    cuts = with_biases(experiment, cuts, halves, fits.seconds_per_fit)
    stopped = (f"{fits.stopped} was stopped in a repetition, which is left out: the budget is used up",)
    said = (*(notes if left_out else ()), *(stopped if fits.stopped else ()))
    return _Measured(fits, repetitions, partitions, tuple(cuts), halves.summary, said)


def _learners(estimator: Estimator, compare: Estimator, data: Data) -> dict[str, Estimator]:
    """Learners by name: the one that the advice is for, the other one, the baseline."""
    learners = {title(estimator): estimator}
    if compare is not None:
        name = title(compare)
        learners[name if name not in learners else f"{name} (2)"] = compare
    return {**learners, "baseline": baseline(data.task)}


def _facts(data: Data, score: Score, n_fits: float) -> Facts:
    """Facts that rules decide by; the budget pays for `n_fits` of the learner and its rivals."""
    smallest = int(np.bincount(data.target.astype(int)).min()) if data.task == "classification" else data.n
    return {
        "task": data.task,
        "score": score.kind,
        "groups": data.groups is not None,
        "n": data.n,
        "fits": int(min(n_fits, 1e6)),
        "smallest_class": smallest,
        "n_groups": data.n if data.groups is None else data.n_groups,
        "one_partition": False,
        "baseline": True,
    }


def _n_folds(k: int, data: Data) -> int:
    """The recommended number of folds, as far as rows or groups allow."""
    most = data.n // 2 if data.groups is None else data.n_groups
    return max(2, min(k, most))


def _n_repeats(measured: _Measured) -> int:
    """The recommended number of repetitions; those that were made if none can be recommended."""
    found = measured.repetitions
    n = len(measured.fits.folds) if found is None or found.repetitions is None else max(1, found.repetitions)
    return min(n, 10 * MOST_REPEATS)


def _rope(score: Score, fits: Fits) -> float:
    """Default half width of the region of practical equivalence, from the score and the loss of the baseline.

    .01 for scores from 0 to 1, but at most a tenth of the baseline's error rate; 1 % of the baseline's loss for others.
    """
    if not fits.losses:
        return 0.01
    baseline = float(np.nanmean(fits.losses["baseline"]))
    return min(0.01, 0.1 * baseline) if score.kind == "share" else 0.01 * baseline


def _splitter(experiment: Experiment, n_repeats: int) -> tuple[Splitter, str]:
    """The recommended splitter, and the line of Python that makes it."""
    from foldshift import partition

    name = experiment.cut
    options: dict[str, Any] = {}
    if name in ("TSCV", "CV"):
        kind, options = "RepeatedContinuousStratifiedKFold", {} if name == "TSCV" else {"n_strata": 1}
    elif name == "SCV":
        kind = "RepeatedSCV"
    elif name == "DOB-SCV":
        kind = "RepeatedDOBSCV"
    elif name.startswith("CB-"):
        kind, options = "RepeatedCovariateBalancedKFold", {"task": experiment.data.task}
    else:
        raise DataError(f"rules.toml names the cut {name!r}, which has no known splitter")
    arguments = {"n_splits": experiment.k, "n_repeats": n_repeats, **options, "random_state": experiment.random_state}
    line = f"foldshift.partition.{kind}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
    return getattr(partition, kind)(**arguments), line
