"""Both cuts of a table with structure: the honest one, which is the headline, and the naive one beside it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foldshift.advice.learner.learner_calls import LearnerCalls
from foldshift.advice.planned_cv import Fits, cross_validate
from foldshift.advice.report_interval import score_intervals
from foldshift.advice.structure.honest_cut import honest_cut
from foldshift.core.errors import LearnerError, StoppedError

if TYPE_CHECKING:
    from foldshift.advice.data import Data
    from foldshift.advice.planned_cv import Experiment
    from foldshift.advice.report_interval import ScoreInterval
    from foldshift.advice.rules import Rule
    from foldshift.advice.structure.checks import Check
    from foldshift.advice.structure.honest_cut import HonestCut
    from foldshift.advice.structure.record import Declared, Structure
    from foldshift.core.types import FloatArray, IntArray, TableLike

    Split = tuple[IntArray, IntArray]

FEW_FOLDS = 5  # of time and of places: each is a stretch, or an area, of its own
STRETCHES = 4  # parts of a fold whose rows count as one in the interval
WORDS = {
    "rows": "new rows",
    "groups": "groups that were left out",
    "subsets": "subsets that were left out",
    "copies": "rows that are no copies",
    "time": "later rows",
    "space": "other places",
}


class BothCuts(NamedTuple):
    """Scores by the honest and by the naive cut."""

    kind: str  # one of `WORDS`
    name: str  # the honest cut in words
    why: str  # a sentence
    cv_line: str  # code that makes the splitter
    prelude: tuple[str, ...]  # code before it: groups, and X without columns
    has_groups: bool  # whether the splitter takes groups
    honest: ScoreInterval
    naive: ScoreInterval
    naive_name: str  # the naive cut in words


class Honest(NamedTuple):
    """The honest cut as it was run."""

    cut: HonestCut
    experiment: Experiment
    fits: Fits
    intervals: tuple[ScoreInterval, ...]
    prelude: tuple[str, ...]
    structure: Structure


def structure_that_counts(structure: Structure, checks: Sequence[Check]) -> Structure:
    """Drop what was muted, and what is a note alone, such as a single copy."""
    codes = {check.code for check in checks if check.result == "muted" or (check.result == "found" and check.severity == "note")}
    grave = {check.code for check in checks if check.result == "found" and check.severity != "note"}
    return structure.without(codes - grave)


def cut_of_structure(structure: Structure, n_folds: int, seed: int) -> HonestCut:
    """Choose the honest cut: of time and places `FEW_FOLDS` folds, of groups as many as the rules say."""
    cut = honest_cut(structure, n_folds=n_folds, seed=seed)
    return honest_cut(structure, n_folds=min(n_folds, FEW_FOLDS), seed=seed) if cut.kind in ("time", "space") else cut


def run_honest(experiment: Experiment, cut: HonestCut, structure: Structure, rule: Rule, isolate: bool) -> Honest:
    """Cross-validate by the honest cut, once, and make its intervals from whole groups, stretches of time or areas.

    Raise StoppedError when the budget is used up, LearnerError if the learner cannot do without the columns that leak.
    """
    data, prelude = experiment.data, list[str]()
    if cut.drop:
        X, line = _without(data, cut.drop)
        data = data._replace(X=X)
        prelude.append(line)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        splits = list(cut.splitter.split(data.X, data.y, cut.groups))
    groups = _clusters(splits, cut, structure, data.n)
    clustered = data._replace(groups=groups)
    with LearnerCalls(experiment.learners, clustered, experiment.score, experiment.clock, isolate) as calls:
        plan = replace(experiment.plan, folds=len(splits))
        alone = replace(experiment, data=clustered, calls=calls, plan=plan)
        fits = fit_splits(alone, splits)
    about = f"the score on {WORDS[kind_of(cut, structure)]}, of models trained as these were"
    intervals = tuple(one._replace(target=about) for one in score_intervals(alone, fits, rule))
    if cut.groups_line:
        prelude.insert(0, cut.groups_line)
    elif cut.groups is not None and cut.kind in ("time", "space"):
        prelude.insert(0, f"groups = {'times' if cut.kind == 'time' else 'coordinates'}")
    return Honest(cut, alone, fits, intervals, tuple(prelude), structure)


def fit_splits(experiment: Experiment, splits: list[Split], words: str = "cross-validating by the honest cut") -> Fits:
    """Fit all learners on the training parts, and score them on the test parts; no row is tested twice."""
    n, k = experiment.data.n, len(splits)
    folds: IntArray = np.full(n, -1, dtype=np.int64)
    found = {name: np.full((1, n), np.nan) for name in experiment.learners}
    scores = {name: np.full((1, k), np.nan) for name in experiment.learners}
    seconds = 0.0
    for fold, (train, test) in enumerate(splits):
        folds[test] = fold
        for name in experiment.learners:
            start = time.perf_counter()
            ((values, mean),) = experiment.calls(name, train, test)
            seconds += (time.perf_counter() - start) * (name == experiment.name)
            scores[name][0, fold] = mean
            if values is not None:
                found[name][0, test] = values
        experiment.tell(f"{words}: {fold + 1} of {k} fits")
    has_losses, is_pooled = experiment.score.losses is not None, experiment.score.kind == "pooled"
    return Fits(folds[None], found if has_losses else {}, scores, k, seconds / k, found if is_pooled else {})


def run_naive(experiment: Experiment, rule: Rule, cut: str) -> tuple[ScoreInterval, ...]:
    """Cross-validate once by rows, whatever belongs together; StoppedError when the budget is used up."""
    alone = replace(experiment, data=experiment.data._replace(groups=None), cut=cut)
    fits = cross_validate(alone, alone.folds(cut, 1))
    if fits.stopped:
        raise StoppedError("the naive cut was stopped")
    return score_intervals(alone, fits, rule)


def tried(experiment: Experiment, cut: HonestCut, structure: Structure, rule: Rule, isolate: bool) -> Honest | str:
    """Run the honest cut; the reason if the learner refuses its training parts, and nobody declared what the cut respects."""
    try:
        return run_honest(experiment, cut, structure, rule, isolate)
    except StoppedError:
        raise
    except LearnerError as error:
        if cut.drop:
            return f"the score without {', '.join(cut.drop)} was not measured: the learner refuses the table without it"
        parts = {"groups": structure.groups, "time": structure.times, "space": structure.coordinates}
        part = parts.get(cut.kind)
        if part is not None and part.is_declared:
            raise
        return f"the score with {cut.name} was not measured: {error}"


def _without(data: Data, names: tuple[str, ...]) -> tuple[TableLike, str]:
    """Inputs without columns, and the code for it."""
    if hasattr(data.X, "drop"):
        wanted = [column for column in data.X.columns if str(column) in names]
        return data.X.drop(columns=wanted), f"X = X.drop(columns={wanted!r})"
    places = [place for place, column in enumerate(data.columns) if column.name in names]
    return np.delete(data.X, places, axis=1), f"X = np.delete(X, {places!r}, axis=1)"


def _clusters(splits: list[Split], cut: HonestCut, structure: Structure, n: int) -> IntArray | None:
    """Rows that count as one in the interval: groups; or stretches of a fold along time, or areas of it."""
    if cut.kind == "rows":
        return None
    if cut.kind == "groups" and cut.groups is not None:
        codes: IntArray = np.unique(cut.groups, return_inverse=True)[1].ravel()
        return codes
    codes = np.full(n, STRETCHES * len(splits), dtype=np.int64)
    for fold, (_, test) in enumerate(splits):
        codes[test] = STRETCHES * fold + _quarters(_values(cut, structure, test))
    return np.unique(codes, return_inverse=True)[1].ravel()


def _values(cut: HonestCut, structure: Structure, rows: IntArray) -> FloatArray:
    """Times, shape (n,), or coordinates, shape (n, 2), of some rows."""
    part = structure.times if cut.kind == "time" else structure.coordinates
    values: Any = rows if part is None or part.is_row_order else np.asarray(part.values)[rows]
    return values.astype(np.float64)


def _quarters(values: FloatArray) -> IntArray:
    """Number four parts of about equal size: along time, or by the longer side and then the other one."""
    if values.ndim == 1:
        order = np.argsort(np.argsort(values, kind="stable"))
        return order * STRETCHES // max(len(values), 1)
    sides = np.argsort(-np.ptp(values, axis=0))
    first = values[:, sides[0]] > np.median(values[:, sides[0]])
    second = np.zeros(len(values), dtype=bool)
    for half in (first, ~first):
        if half.any():
            second[half] = values[half, sides[-1]] > np.median(values[half, sides[-1]])
    return 2 * first.astype(np.int64) + second


def both_of(found: Honest, naive: ScoreInterval, naive_name: str) -> BothCuts:
    """Put the scores by both cuts side by side."""
    cut, why = found.cut, found.cut.why
    line, kind, name = cut.line.removeprefix("cv = "), kind_of(cut, found.structure), cut.name
    if cut.drop:
        those, is_one = ", ".join(map(repr, cut.drop)), len(cut.drop) == 1
        left_out = f"{those} {'gives' if is_one else 'give'} the target away, and {'was' if is_one else 'were'} left out."
        why = left_out if cut.kind == "rows" else f"{why} {left_out}"
        name, naive_name = f"{name}, without {those}", f"{naive_name}, with {those} among the inputs"
    return BothCuts(kind, name, why, line, found.prelude, cut.groups is not None, found.intervals[0], naive, naive_name)


def kind_of(cut: HonestCut, structure: Structure) -> str:
    """Kind of an honest cut, a key of `WORDS`."""
    if cut.kind != "groups":
        return cut.kind
    return "copies" if structure.groups is None else "groups" if structure.subsets is None else "subsets"


def not_respected(declared: Declared, kind: str, data: Data) -> list[str]:
    """Name what was declared and does not change the cut, because something else comes before it, or as it is no group."""
    wanted = {"times": "time", "coordinates": "space", "subsets": "groups"}
    others = [name for name, of in wanted.items() if getattr(declared, name) is not None and of != kind]
    by = {"groups": "groups", "time": "time", "space": "places"}.get(kind, "rows")
    said = [f"{name} were declared, too; the cut is by {by}, and does not respect them" for name in others]
    if data.groups is not None and data.n_groups == data.n:
        what = "groups" if declared.subsets is None else "subsets"
        said.append(f"all {what} have one row: a cut by {what} is one by rows")
    return said
