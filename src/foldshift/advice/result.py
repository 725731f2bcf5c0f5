"""The result of `foldshift.advise`: for a terminal, a notebook, a page, or a program."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from foldshift.advice.data import Data
from foldshift.advice.expected import expected_of
from foldshift.advice.page.score_code import ran
from foldshift.advice.power import in_words
from foldshift.core.files import atomic_path
from foldshift.core.printable import printable_lines
from foldshift.core.repr import readable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from foldshift.advice.issues import Issue
    from foldshift.advice.page.score_code import Ran
    from foldshift.advice.report_interval import Difference, ScoreInterval
    from foldshift.advice.rules import Facts, Rule
    from foldshift.advice.score import Score
    from foldshift.advice.split_half import Halves
    from foldshift.advice.split_shift import CutShift, SplitShift
    from foldshift.advice.structure.both_cuts import BothCuts
    from foldshift.advice.structure.checks import Check
    from foldshift.advice.structure.record import Declared
    from foldshift.advice.structure.same_other_all import SameOtherAll
    from foldshift.advice.work_plan import WorkPlan
    from foldshift.core.types import Estimator, PathLike, Splitter
    from foldshift.inference.repetitions.recommend import Repetitions
    from foldshift.partition.distinct import Partitions


@readable
@dataclass(frozen=True)
class Advice:
    """Advice for one table and one learner; print it, or write a page with `to_html`.

    Attributes
    ----------
    verdict : tuple of str
        Three sentences: how to cut, what the learner reaches, what to beware of.
    cv : splitter
        The recommended splitter, for ``cv=`` of scikit-learn.
    cv_line : str
        The same as a line of Python.
    data : foldshift.advice.data.Data
    facts : dict
        Facts by which the rules decided.
    rules : tuple of foldshift.advice.rules.Rule
        Those that decided.
    faults : tuple of foldshift.advice.issues.Issue
        Issues of table and split, the worst first.
    checks : tuple of foldshift.advice.structure.checks.Check
        Every check of the table and its split: passed, found, not applicable or muted.
    both : foldshift.advice.structure.both_cuts.BothCuts or None
        Scores by the honest cut, which is the headline, and by the naive one; None where no structure was found.
    subsets : foldshift.advice.structure.same_other_all.SameOtherAll or None
        Scores of models of the same subset, of the others and of all; None where no subsets were declared.
    split : foldshift.advice.split_shift.SplitShift or None
        The split given as ``cv=``, or scikit-learn's default, against random cuts.
    split_name : str
        Name of that split, as the subject of a sentence.
    split_is_given : bool
        Whether it was given as ``cv=``.
    cuts : tuple of foldshift.advice.split_shift.CutShift
    intervals : tuple of foldshift.advice.report_interval.ScoreInterval
        The one to print first, then others with the reason against them.
    differences : tuple of foldshift.advice.report_interval.Difference
        To the baseline, and to the other learner.
    repetitions : foldshift.inference.repetitions.recommend.Repetitions or None
        From the repetitions that were made; None where one was.
    halves : dict or None
        Cross-validation of halves of this table compared with their other halves: ``n`` halves, of which the interval ``held`` so
        many; ``bias``, ``bias_error`` and ``width`` in the score's own units; ``said``, a sentence. None for scores of folds,
        groups, fewer than 100 rows, and without time.
    score : foldshift.advice.score.Score
    learner : str
    baseline : float or None
        The score of the baseline; None for a score of folds.
    n_splits, n_repeats, n_done : int
        Folds and repetitions recommended, and repetitions behind the score: fewer only where the budget stopped the work.
    partitions : foldshift.partition.distinct.Partitions
        How many different partitions these are, and how many there can be.
    plan : foldshift.advice.work_plan.WorkPlan
        The work, fixed by table, learner and effort.
    stopped : str
        What the budget stopped, such as ``stopped by the budget after 12 of 100 fits``; empty if nothing.
    seconds_per_fit : float
    seconds : float
        Duration of the advice.
    budget : float or None
        Seconds; None without a budget.
    methods : str
        A paragraph for the methods section.
    code : str
        Code that gives the score, from X, y and learner (groups, scorer): of `n_done` repetitions.
    not_respected : tuple of str
        Structure that the cut does not respect, and why; among the notes, too.
    notes : tuple of str
        Parts that were not looked at, and why.
    versions : dict
    """

    verdict: tuple[str, ...]
    cv: Splitter
    cv_line: str
    data: Data
    facts: Facts
    rules: tuple[Rule, ...]
    faults: tuple[Issue, ...]
    checks: tuple[Check, ...]
    both: BothCuts | None
    subsets: SameOtherAll | None
    not_respected: tuple[str, ...]
    split: SplitShift | None
    split_name: str
    split_is_given: bool
    cuts: tuple[CutShift, ...]
    intervals: tuple[ScoreInterval, ...]
    differences: tuple[Difference, ...]
    repetitions: Repetitions | None
    halves: Halves | None
    score: Score
    learner: str
    baseline: float | None
    n_splits: int
    n_repeats: int
    n_done: int
    partitions: Partitions
    plan: WorkPlan
    stopped: str
    seconds_per_fit: float
    seconds: float
    budget: float | None
    methods: str
    code: str
    estimator: Estimator = field(repr=False)
    isolate: bool = field(repr=False)
    declared: Declared = field(repr=False)
    notes: tuple[str, ...] = ()
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def interval(self) -> ScoreInterval:
        """The interval that is recommended."""
        return self.intervals[0]

    @cached_property
    def ran(self) -> Ran:
        """Result of running `code`, in a copy of this process: it is run once, when the page is written or when this is read."""
        return ran(self, self.estimator, self.isolate)

    def sentences(self) -> list[str]:
        """List the sentences on verdict, issues, split, score and differences."""
        said = [*self.verdict, ""]
        said += [f"[{one.severity}] {one.code}: {one.found} {one.remedy}" for one in self.faults] or ["No fault was found."]
        if self.split is not None:
            said += ["", " ".join(filter(None, (self.split.said, in_words(self.split.power))))]
        said += ["", *(one.sentence(self.score) for one in self.intervals)]
        said += [one.said for one in self.differences]
        if self.subsets is not None:
            compared = (self.subsets.other_less_all, self.subsets.same_less_all)
            said += ["", self.subsets.said, *(one.said for one in compared if one is not None)]
        if self.halves is not None:
            said += ["", self.halves["said"]]
        return [*said, "", "For the methods section:", self.methods, *(f"Note: {note.rstrip('.')}." for note in self.notes)]

    def to_frame(self) -> pd.DataFrame:
        """Make a table with a row for each figure: ``quantity, value, low, high, evidence``."""
        rows = [(f"{self.score.name} ({one.name})", one.estimate, one.low, one.high, one.evidence) for one in self.intervals]
        rows += [(one.name, one.estimate, one.low, one.high, "measured here") for one in self.differences]
        rows += [(f"{cut.cut}: distance of the inputs", cut.inputs, np.nan, np.nan, "measured here") for cut in self.cuts]
        rows += [
            (f"{cut.cut}: spread between partitions", cut.spread, np.nan, np.nan, "measured here")
            for cut in self.cuts
            if np.isfinite(cut.spread)
        ]
        return pd.DataFrame(rows, columns=["quantity", "value", "low", "high", "evidence"])

    def to_dict(self) -> dict[str, Any]:
        """Turn all of it into plain values, e.g. for JSON; None stands for an unknown value."""
        data = self.data
        plain: dict[str, Any] = _plain(
            {
                "verdict": list(self.verdict),
                "cv": self.cv_line,
                "code": self.code,
                "n_splits": self.n_splits,
                "n_repeats": self.n_repeats,
                "data": {
                    "n_rows": data.n,
                    "n_columns": np.shape(data.X)[1],
                    "task": data.task,
                    "target": data.name,
                    "classes": {str(name): int((data.target == code).sum()) for code, name in enumerate(data.classes)},
                    "n_groups": None if data.groups is None else data.n_groups,
                    "columns": [{"name": column.name, "kind": column.kind} for column in data.columns],
                },
                "learner": self.learner,
                "baseline": self.baseline,
                "scoring": self.score.name,
                "facts": self.facts,
                "rules": [rule._asdict() for rule in self.rules],
                # `mend` stays the key of the remedy: programs read it, and pages hold it.
                "faults": [
                    {"mend" if key == "remedy" else key: value for key, value in one._asdict().items()} for one in self.faults
                ],
                "checks": [_check(one) for one in self.checks],
                "both": None if self.both is None else {
                    **self.both._asdict(), "honest": self.both.honest._asdict(), "naive": self.both.naive._asdict(),
                },
                "subsets": None if self.subsets is None else {
                    key: value._asdict() if hasattr(value, "_asdict") else value for key, value in self.subsets._asdict().items()
                },
                "split": None if self.split is None else {
                    "name": self.split_name, "is_given": self.split_is_given,
                    **{key: value for key, value in self.split._asdict().items() if key not in ("drift", "power")},
                    "power": None if self.split.power is None else [one._asdict() for one in self.split.power],
                    "columns": [] if self.split.drift is None else self.split.drift.to_rows(),
                },
                "cuts": [cut._asdict() for cut in self.cuts],
                "expected": {cut: one._asdict() for cut, one in expected_of(self.facts, self.n_splits).items()},
                "intervals": [one._asdict() for one in self.intervals],
                "differences": [one._asdict() for one in self.differences],
                "repetitions": None if self.repetitions is None else self.repetitions._asdict(),
                "halves": self.halves,
                "n_done": self.n_done,
                "n_different": self.partitions.n_different,
                "n_possible": self.partitions.n_possible,
                "plan": self.plan.to_dict(),
                "stopped": self.stopped or None,
                "seconds_per_fit": self.seconds_per_fit,
                "seconds": self.seconds,
                "budget": self.budget,
                "methods": self.methods,
                "notes": list(self.notes),
                "versions": self.versions,
            }
        )  # fmt: skip
        return plain

    def to_json(self, path: PathLike | None = None) -> str:
        """Turn `to_dict` into text, the same keys in the same order; write it to a file if a path is given."""
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n"
        return _written(text, path)

    def to_html(self, path: PathLike | None = None) -> str:
        """Make the page as text, without any reference to a network; write it to a file if a path is given."""
        from foldshift.advice.page.html import page

        return _written(printable_lines(page(self)), path)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the intervals below each other, in units of the score.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        import matplotlib.pyplot as plt

        if ax is None:
            ax = plt.subplots(figsize=(7, 0.8 + 0.5 * len(self.intervals)), layout="constrained")[1]
        for place, one in enumerate(self.intervals):
            ax.plot([one.low, one.high], [place, place], color="#000000", lw=1.5)
            ax.plot(one.estimate, place, "o", color="#000000", ms=4)
            ax.annotate(one.words, (one.low, place), (0, 4), textcoords="offset points", fontsize=8)  # too long for an axis
        ax.set_yticks([])
        ax.set_ylim(len(self.intervals) - 0.5, -0.7)
        ax.set_xlabel(self.score.name)
        return ax


def _check(check: Check) -> dict[str, Any]:
    """Turn a check into plain values."""
    named = {name: getattr(check, name) for name in ("code", "name", "result", "severity", "text", "rows", "columns", "address")}
    return named | {"remedies": [remedy.at("python") for remedy in check.remedies]}


def _written(text: str, path: PathLike | None) -> str:
    """Write a text if there is a path, and return it."""
    if path is not None:
        with atomic_path(Path(path)) as temporary:
            Path(temporary).write_text(text, encoding="utf-8")
    return text


def _plain(value: Any) -> Any:
    """Turn values into those of JSON: no NaN, no NumPy, no tuples."""
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if np.isfinite(value) else None
    return value if value is None or isinstance(value, str) else str(value)
