"""Advice for one table, one learner and one question: how to cut, how often, what may be claimed, what to beware of."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foldshift.advice.data import as_data, check_kind, with_row_names
from foldshift.advice.given_split import given_split
from foldshift.advice.issues import issues_of
from foldshift.advice.learner.learner_calls import LearnerCalls
from foldshift.advice.learner.learner_warnings import with_warnings_as_an_issue
from foldshift.advice.learner.preprocessing import SEED, baseline, has_gaps_or_texts, prepared, usual
from foldshift.advice.page.score_code import score_code
from foldshift.advice.planned_cv import Clock, Experiment, Said, cross_validate_repeatedly, first_fit, seconds_of, with_spreads
from foldshift.advice.report_interval import default_rope, difference, score_intervals
from foldshift.advice.result import Advice
from foldshift.advice.rules import cautions, decide
from foldshift.advice.score import as_score, usual_scoring
from foldshift.advice.split_half import HalvesFound, on_halves, with_biases
from foldshift.advice.split_shift import cuts_side_by_side, split_shift
from foldshift.advice.structure.both_cuts import (
    WORDS,
    BothCuts,
    both_of,
    cut_of_structure,
    kind_of,
    not_respected,
    run_naive,
    structure_that_counts,
    tried,
)
from foldshift.advice.structure.checks import check_muted, run_checks
from foldshift.advice.structure.find import find_structure, with_declared
from foldshift.advice.structure.record import Declared
from foldshift.advice.structure.same_other_all import run_same_other_all
from foldshift.advice.wording import CUT_WORDS, first_verdict, methods_paragraph, stopped_words, used_versions, verdict
from foldshift.advice.work_plan import Effort, check_effort, check_numbers, check_others, limited, with_subsets, work_plan
from foldshift.core.arguments import check_confidence
from foldshift.core.counting import bincount
from foldshift.core.errors import DataError, StoppedError
from foldshift.core.estimators import check_predictor, title, title_in_full
from foldshift.core.gate.structure import of_degrees

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.advice.data import Data
    from foldshift.advice.given_split import GivenSplit
    from foldshift.advice.issues import Issue
    from foldshift.advice.planned_cv import Fits, Repeated
    from foldshift.advice.rules import Facts, Rule
    from foldshift.advice.score import Score
    from foldshift.advice.split_shift import CutShift, SplitShift
    from foldshift.advice.structure.both_cuts import Honest
    from foldshift.advice.structure.checks import Check
    from foldshift.advice.structure.record import Structure
    from foldshift.advice.structure.same_other_all import SameOtherAll
    from foldshift.core.types import Array, Estimator, Splitter, TableLike, Task

    Tell = Callable[[str], object]


# Steps that say something of cuts by rows alone.
OF_RANDOM_CUTS = ("the spread of other ways of cutting", "halves of the table", "other ways of cutting on halves")


@with_warnings_as_an_issue
def advise(
    X: TableLike,
    y: ArrayLike,
    estimator: Estimator = None,
    *,
    scoring: str | Callable[..., Any] | None = None,
    groups: ArrayLike | None = None,
    times: ArrayLike | None = None,
    coordinates: ArrayLike | None = None,
    subsets: ArrayLike | None = None,
    cv: int | Splitter | Iterable[tuple[Array, Array]] | None = None,
    compare: Estimator = None,
    effort: Effort = "standard",
    budget: float | str | Clock | None = None,
    rope: float | None = None,
    confidence: float = 0.95,
    task: Task | None = None,
    categorical_features: ArrayLike | None = None,
    most_repetitions: int | None = None,
    random_state: int = SEED,
    left_out: dict[str, str] | None = None,
    row_names: ArrayLike | None = None,
    mute: dict[str, str] | None = None,
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
        (`foldshift.advice.learner.preprocessing.prepared`); boosted trees on histograms above 20,000 rows.
    scoring : str or callable, optional
        A scorer of scikit-learn by name, or ``scorer(estimator, X, y)``; ``error`` (default for classes) or ``rmse`` (default for
        quantities). Intervals rest on rows for the scores of `foldshift.inference.score_interval`, such as ``f1``, on folds for
        all others: these are wider and their coverage is less sure.
    groups : array-like of shape (n_samples,), optional
        Rows that belong together and must not be cut apart: persons, sites, days. What is not declared, here and below, is
        looked for. Where there is structure, both cuts are run: the honest one is the headline, the naive one stands beside it.
    times : array-like of shape (n_samples,), optional
        Dates, or numbers that grow with time: later rows are predicted from earlier ones.
    coordinates : array-like of shape (n_samples, 2), optional
        Places, as lengths of one unit: blocks of them are left out.
    subsets : array-like of shape (n_samples,), optional
        Subsets, such as countries, that the learner will meet new ones of: each is left out as a whole, as groups are. Models of
        the same subset, of the others and of all are compared as well. Groups that are declared, too, must lie within subsets.
    cv : int, splitter or iterable of (train, test), optional
        The split that you use, to be judged. By default that of scikit-learn: five folds, not shuffled.
    compare : scikit-learn estimator, optional
        Another learner, cross-validated on the same folds.
    effort : {"quick", "standard", "thorough"}, default="standard"
        Amount of work. With the rows, columns, task and class of the learner it fixes all that is computed, on any machine
        (`foldshift.advice.work_plan.WorkPlan`).
    budget : float, str or None, default=None
        Time after which the work stops: seconds, or a text such as ``"90s"`` or ``"5 min"``; None: as long as it takes. It
        changes nothing else; the verdict says what was stopped. A fit that is under way then is stopped, too.
    rope : float, optional
        Differences in loss up to this do not matter (in score, where rows have no loss). By default .01 for scores from 0 to 1,
        but at most a tenth of the baseline's error rate; 1 % of the baseline's loss for others.
    confidence : float, default=0.95
        Confidence level of the intervals.
    task : {None, "classification", "regression"}
        Kind of target, if neither the learner nor the values show it.
    categorical_features : None, array-like of bool of shape (n_features,), of int or of str, optional
        Nominal columns that hold numbers, by mask, positions or names. Texts are always nominal.
    most_repetitions : int, optional
        Largest number of repetitions of cross-validation; by default that of the work plan.
    random_state : int, default=0
        Seed of all folds; the same gives the same folds.
    left_out : dict of str to str, optional
        Columns that are not in X on purpose, and the reasons; the page reports them. A reason with the word "date" marks a column
        of dates, which raises the question of time.
    row_names : array-like of shape (n_samples,), optional
        Names of the rows that are no inputs, such as those of files or visits; groups are looked for in how they begin.
    mute : dict of str to str, optional
        Codes of checks whose findings are known, such as ``"D1"``, and the reasons, which the page prints.
    tell : callable, optional
        ``tell(text)`` is called with the step that begins, and with the first verdict as soon as there is one.
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
    >>> advice = advise(*load_iris(return_X_y=True), GaussianNB(), effort="quick")
    >>> advice.interval.low < 0.05 < advice.interval.high
    True
    """
    clock = budget if isinstance(budget, Clock) else Clock(seconds_of(budget))
    check_confidence(confidence)
    check_numbers(rope, most_repetitions, random_state)
    check_effort(effort)
    check_muted(mute)
    check_others(left_out, tell, isolate)
    tell = tell or _silent
    for name, learner in (("estimator", estimator), ("compare", compare)):
        if learner is not None:
            check_predictor(learner, name)
    declared = Declared(times=times, coordinates=coordinates, subsets=subsets)
    data = with_row_names(as_data(X, y, estimator, groups, task, categorical_features), row_names)
    data = with_declared(data, declared)
    if compare is not None:
        check_kind(compare, data.task, len(np.unique(data.y)))
    if estimator is None:
        estimator = usual(data.task, random_state, data.n)
        estimator = prepared(estimator, data.X) if has_gaps_or_texts(data.X) else estimator
    score = as_score(
        usual_scoring(data, estimator) if scoring is None else scoring,
        data.task,
        len(data.classes) if data.task == "classification" else 2,
    )
    learners = _learners(estimator, compare, data)
    n_columns = int(np.shape(data.X)[1])
    plan = work_plan(data.n, n_columns, data.task, list(learners.values())[:-1], effort, data.groups is not None)
    facts = _facts(data, score, min(plan.start, most_repetitions or plan.start))
    parts = {part: decide(part, facts) for part in ("cut", "folds", "interval", "difference")}
    plan = limited(plan, _n_folds(int(parts["folds"].advice), data), most_repetitions)
    plan = plan if subsets is None or data.groups is None else with_subsets(plan, bincount(data.groups))
    tell(Said(plan.sentence(data.n, n_columns), lasting=True))
    with LearnerCalls(learners, data, score, clock, isolate) as calls:
        tell(f"{plan.checks} fits of {title(estimator)} on nine tenths of {data.n:,} rows")
        clock.begin_fits()
        notes = first_fit(calls, next(iter(learners)), data, plan.checks)
        split = given_split(cv, data, clock.left if isolate else None)
        experiment = Experiment(
            learners, data, score, str(parts["cut"].advice), plan, random_state, confidence, clock, calls, tell
        )

        def first(fits: Fits) -> None:
            intervals = score_intervals(experiment, fits, parts["interval"])
            tell(Said(first_verdict(experiment, intervals, len(fits.folds)), lasting=True, known=True))

        repeated = cross_validate_repeatedly(experiment, first)
        if len(repeated.fits.folds) > 1:
            first(repeated.fits.first(repeated.advised))
        asked = _Asked(declared, split, left_out or {}, mute or {}, isolate, parts["interval"], rope)
        found = _look(experiment, repeated, asked)
    fits = repeated.fits.first(repeated.advised)
    parts["repetitions"] = decide("repetitions", facts | {"one_partition": repeated.partitions.are_one})
    asked_rope = rope
    rope = default_rope(score, fits) if rope is None else float(rope)
    splitter, line = _splitter(experiment, repeated.advised)
    _, code_line = _splitter(experiment, len(fits.folds))
    scored, n_repeats = (experiment, fits), repeated.advised
    both, honest = found.both, found.honest
    if honest is not None and both is not None:
        scored, n_repeats = (honest.experiment, honest.fits), 1
        splitter, line, code_line = honest.cut.splitter, both.cv_line, both.cv_line
        rope = default_rope(score, honest.fits) if asked_rope is None else rope
    advice = Advice(
        verdict=(),
        cv=splitter,
        cv_line=line,
        data=data,
        facts=facts,
        rules=(*parts.values(), *cautions(facts)),
        faults=found.issues,
        split=found.shift,
        split_name=split.name,
        split_is_given=cv is not None,
        cuts=tuple(found.cuts),
        checks=found.checks,
        both=both,
        subsets=found.subsets,
        not_respected=tuple(found.not_respected),
        intervals=score_intervals(*scored, parts["interval"]) if honest is None else honest.intervals,
        differences=tuple(difference(*scored, other, rope) for other in list(learners)[1:]),
        repetitions=repeated.repetitions,
        halves=found.halves.summary,
        score=score,
        learner=experiment.name,
        baseline=float(score.show(np.nanmean(scored[1].losses["baseline"]))) if fits.losses else None,
        n_splits=scored[0].k,
        n_repeats=n_repeats,
        n_done=len(scored[1].folds),
        partitions=repeated.partitions,
        plan=plan,
        stopped=stopped_words(repeated, found.not_made),
        seconds_per_fit=fits.seconds_per_fit,
        seconds=clock.spent,
        budget=None if budget is None else clock.budget,
        methods="",
        code=score_code(
            code_line, score, data, estimator, None if honest is None else both, () if both is None else both.prelude
        ),
        declared=declared,
        estimator=estimator,
        isolate=isolate,
        notes=(*data.notes, *notes, *split.notes, *found.not_respected, *found.notes),
        versions=used_versions(),
    )
    if advice.subsets is not None and honest is None:
        about = f"the score on {WORDS['subsets']}, of models trained as these were"
        advice = replace(advice, intervals=tuple(one._replace(target=about) for one in advice.intervals))
    methods = methods_paragraph(advice, title_in_full(estimator), confidence, random_state)
    return replace(advice, verdict=verdict(advice), methods=methods)


def _silent(text: str) -> None:
    """Report no progress."""


class _Asked(NamedTuple):
    """Statements of the user on the table and its split."""

    declared: Declared
    split: GivenSplit
    left_out: dict[str, str]
    mute: dict[str, str]
    isolate: bool
    rule: Rule  # that decides the interval
    rope: float | None


@dataclass
class _Found:
    """Results of the looks at table, split and ways of cutting that follow cross-validation."""

    issues: tuple[Issue, ...] = ()
    checks: tuple[Check, ...] = ()
    structure: Structure | None = None
    honest: Honest | None = None
    both: BothCuts | None = None
    subsets: SameOtherAll | None = None
    notes: list[str] = field(default_factory=list)
    not_respected: list[str] = field(default_factory=list)
    shift: SplitShift | None = None
    cuts: list[CutShift] = field(default_factory=list)
    halves: HalvesFound = field(default_factory=HalvesFound)
    not_made: list[str] = field(default_factory=list)  # steps that the budget stopped, in words


def _look(experiment: Experiment, repeated: Repeated, asked: _Asked) -> _Found:
    """Look for structure and issues, run both cuts where there is structure, and look at the split and at random cuts.

    The budget stops it between steps, and within fits.
    Every step has a generator of its own: a step that is left out changes no other one.
    """
    data, plan, fits, found = experiment.data, experiment.plan, repeated.fits, _Found()

    split, subsets_declared = asked.split, asked.declared.subsets is not None

    def faults() -> None:
        forward = split.name if split.forward else None
        structure = find_structure(data, asked.declared, experiment.rng("structure"))
        found.checks = run_checks(data, structure, split.folds, asked.mute, left_out=asked.left_out, forward=forward)
        found.structure, found.issues = structure, tuple(issues_of(found.checks))
        if (places := structure.coordinates) is not None:
            said = of_degrees(places.columns or getattr(asked.declared.coordinates, "columns", ()), places.values)
            found.notes += [f"coordinates {said}"] if said else []
        for issue in found.issues:
            experiment.tell(Said(f"[{issue.severity}] {issue.code}: {issue.found} {issue.remedy}", known=True))

    def both() -> None:
        if found.structure is not None:
            _run_both(experiment, fits.first(repeated.advised), found, asked)

    def same_other_all() -> None:
        if data.groups is not None and found.structure is not None:
            copies = structure_that_counts(found.structure, found.checks).copies
            rows = np.arange(data.n) if copies is None else np.sort(np.unique(copies.codes, return_index=True)[1])
            alone = experiment if found.honest is None else replace(experiment, data=found.honest.experiment.data)
            try:
                found.subsets = run_same_other_all(alone, data.groups, rows, asked.rule, asked.rope, asked.isolate)
            except StoppedError:
                raise
            except ValueError as error:
                found.notes.append(f"models of the same, the other and all subsets were not compared: {error}")

    def shift() -> None:
        if split.folds is not None:
            found.shift = split_shift(data, split.folds, experiment.rng("split"), split.name)

    def cuts() -> None:
        found.cuts = cuts_side_by_side(data, plan.folds, plan.cuts, most_rows=plan.rows_for_cuts)

    def spreads() -> None:
        found.cuts = with_spreads(experiment, found.cuts, fits, repeated.partitions.are_one)

    def halves() -> None:
        found.halves = on_halves(experiment)

    def biases() -> None:
        found.cuts = with_biases(experiment, found.cuts, found.halves)

    steps: list[tuple[str, Callable[[], None], object]] = [
        ("looking for faults", faults, True),
        ("the honest cut beside the naive one", both, True),
        ("models of the same, the other and all subsets", same_other_all, subsets_declared),
        ("comparing the split with random ones", shift, True),
        ("cutting in other ways", cuts, plan.cuts),
        ("the spread of other ways of cutting", spreads, plan.spreads),
        ("halves of the table", halves, plan.pairs),
        ("other ways of cutting on halves", biases, plan.bias_pairs),
    ]
    for words, step, is_planned in steps:
        if not is_planned or (found.honest is not None and words in OF_RANDOM_CUTS):
            continue
        try:
            if experiment.clock.is_over:
                raise StoppedError(words)
            experiment.tell(words)
            step()
        except StoppedError:
            found.not_made.append(words)
    return found


def _run_both(experiment: Experiment, fits: Fits, found: _Found, asked: _Asked) -> None:
    """Run the honest cut where there is structure; where the recommended cut is the honest one, run the naive one."""
    data, structure = experiment.data, found.structure
    if structure is None:
        return
    counts = structure_that_counts(structure, found.checks)
    cut = cut_of_structure(counts, experiment.plan.folds, experiment.random_state)
    found.not_respected = not_respected(asked.declared, cut.kind, data)
    if cut.is_plain:
        return
    by_rows = "SCV" if data.task == "classification" else "TSCV"
    if data.groups is None:
        naive = score_intervals(experiment, fits, asked.rule)[0]
    else:
        naive = run_naive(experiment, asked.rule, by_rows)[0]
        if cut.kind == "groups" and not cut.drop and (counts.copies is None or not counts.copies.any):
            intervals = score_intervals(experiment, fits, asked.rule)
            kind, lines = kind_of(cut, counts), (cut.groups_line,) if cut.groups_line else ()
            found.both = BothCuts(kind, cut.name, cut.why, "", lines, True, intervals[0], naive, CUT_WORDS[by_rows])
            return
    honest = tried(experiment, cut, counts, asked.rule, asked.isolate)
    if isinstance(honest, str):
        found.not_respected.append(honest)
        return
    found.honest, found.both = honest, both_of(honest, naive, CUT_WORDS[by_rows])


def _learners(estimator: Estimator, compare: Estimator, data: Data) -> dict[str, Estimator]:
    """Learners by name: the one that the advice is for, the other one, the baseline."""
    learners = {title(estimator): estimator}
    if compare is not None:
        name = title(compare)
        learners[name if name not in learners else f"{name} (2)"] = compare
    return {**learners, "baseline": baseline(data.task)}


def _facts(data: Data, score: Score, repetitions: int) -> Facts:
    """Facts that rules decide by; the plan makes so many `repetitions`."""
    smallest = int(bincount(data.target.astype(int)).min()) if data.task == "classification" else data.n
    return {
        "task": data.task,
        "score": score.kind,
        "groups": data.groups is not None,
        "n": data.n,
        "repetitions": repetitions,
        "smallest_class": smallest,
        "n_groups": data.n if data.groups is None else data.n_groups,
        "one_partition": False,
        "baseline": True,
    }


def _n_folds(k: int, data: Data) -> int:
    """The recommended number of folds, as far as rows or groups allow."""
    most = data.n // 2 if data.groups is None else data.n_groups
    return max(2, min(k, most))


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
        nominal = [place for place, column in enumerate(experiment.data.columns) if column.categories]
        if nominal:
            names = getattr(experiment.data.X, "columns", None)
            options["categorical_features"] = nominal if names is None else [str(names[place]) for place in nominal]
    else:
        raise DataError(f"rules.toml names the cut {name!r}, which has no known splitter")
    arguments = {"n_splits": experiment.k, "n_repeats": n_repeats, **options, "random_state": experiment.random_state}
    line = f"foldshift.partition.{kind}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
    return getattr(partition, kind)(**arguments), line
