"""Work plan of an advice: what is computed, fixed by table, learner and effort, and never by a clock."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from sklearn.pipeline import Pipeline

from foldshift.core.errors import DataError, unknown

if TYPE_CHECKING:
    from foldshift.core.types import Estimator, IntArray, Task

Effort = Literal["quick", "standard", "thorough"]
LearnerClass = Literal["cheap", "dear"]

EFFORTS: tuple[Effort, ...] = ("quick", "standard", "thorough")
# Modules whose learners are cheap: a fit takes some passes over the table. Classes that end in "CV" search, and are dear.
CHEAP = (
    "sklearn.linear_model", "sklearn.naive_bayes", "sklearn.discriminant_analysis", "sklearn.neighbors", "sklearn.tree",
    "sklearn.dummy", "foldshift.learners.linear", "foldshift.learners.neighbours", "foldshift.learners.trees.rpart",
    "foldshift.learners.trees.c45",
)  # fmt: skip
STEPS = ("sklearn.preprocessing", "sklearn.impute", "sklearn.compose", "sklearn.decomposition", "sklearn.feature_selection")
ROWS_FOR_CUTS = 20_000  # rows of a large table that are cut side by side
SIDE_BY_SIDE = {
    "classification": ("CV", "SCV", "DOB-SCV", "CB-SCV", "ABA"),
    "regression": ("CV", "SCV10", "TSCV", "CB-TSCV", "ABA"),
}
RANDOM_GROUPS = "random groups"
GROUPED = {"classification": (RANDOM_GROUPS, "CB-SCV"), "regression": (RANDOM_GROUPS, "CB-TSCV")}


class Work(NamedTuple):
    """Numbers of repetitions, partitions and halves."""

    start: int  # repetitions of cross-validation that are made in any case
    most: int  # repetitions at most, where more than `start` are needed
    spreads: int = 0  # partitions of every other way of cutting, for its spread
    pairs: int = 0  # pairs of halves of the table
    bias_pairs: int = 0  # those of them on which the other ways of cutting are tried


ONCE = Work(1, 1)
MOST_SUBSETS = 10  # that are tested by models of the same, the other and all subsets
SUBSET_FOLDS = {"cheap": 5, "dear": 2}
# Rows x columns up to which a line holds, and the work for a cheap and for a dear learner.
TABLE: dict[Effort, tuple[tuple[float, Work, Work], ...]] = {
    "quick": (
        (1e5, Work(5, 10), ONCE),
        (float("inf"), ONCE, ONCE),
    ),
    "standard": (
        (2e4, Work(10, 50, 5, 10), Work(5, 20, pairs=3)),
        (1e5, Work(10, 50, 5, 10), Work(5, 5)),
        (1e6, Work(5, 20, pairs=3), ONCE),
        (float("inf"), ONCE, ONCE),
    ),
    "thorough": (
        (1e5, Work(20, 100, 10, 10, 10), Work(10, 50, 5, 10)),
        (1e6, Work(10, 50, 5, 10), Work(5, 20, pairs=3)),
        (float("inf"), Work(5, 5, pairs=3), ONCE),
    ),
}


@dataclass(frozen=True)
class WorkPlan:
    """Amount of work for one advice, from `TABLE` by effort, rows times columns, and learner's class.

    The recommended number of repetitions lies between 1 and `most`.
    """

    effort: Effort
    learner_class: LearnerClass  # see `learner_class`
    folds: int
    start: int  # repetitions of cross-validation that are made in any case
    most: int  # repetitions at most
    spreads: int  # partitions of every other way of cutting, for its spread
    pairs: int  # pairs of halves of the table
    bias_pairs: int  # those on which the other ways of cutting are tried
    cuts: tuple[str, ...]  # ways of cutting that stand side by side
    rows_for_cuts: int = ROWS_FOR_CUTS  # rows at most on which these are compared, drawn from a larger table
    checks: int = 2  # fits before cross-validation: 2 show a learner that draws at random, 1 is for large tables
    subset_folds: int = 0  # folds of every subset that is tested by models of the same subset, the others and all
    subsets_tested: int = 0  # such subsets

    @property
    def n_fits(self) -> int:
        """Number of fits of the learner that are made in any case."""
        others = max(len(self.cuts) - 1, 0)
        halves = 2 * (self.pairs + self.bias_pairs * others)
        of_subsets = 3 * self.subset_folds * self.subsets_tested
        return self.checks + self.folds * (self.start + self.spreads * others + halves) + of_subsets

    def sentence(self, n: int, n_columns: int) -> str:
        """Say what will be done, before it begins."""
        often = "once" if self.start == 1 else f"{self.start} times"
        parts = [f"{self.folds} folds {often}", f"{self.pairs} pairs of halves" if self.pairs else "no halves"]
        if self.cuts:
            parts.append(f"{len(self.cuts)} ways of cutting" + (f" on {self.rows_for_cuts:,} rows" * (n > self.rows_for_cuts)))
        if self.subset_folds:
            parts.append(f"{self.subset_folds} folds of {self.subsets_tested} subsets by same, others and all")
        return f"{n:,} x {n_columns:,}, effort {self.effort}: {', '.join(parts)}; about {self.n_fits:,} fits"

    def to_dict(self) -> dict[str, Any]:
        """Turn it into plain values."""
        return asdict(self)


def check_effort(effort: str) -> Effort:
    """Return the effort; raise DataError if it is not one of `EFFORTS`."""
    for known in EFFORTS:
        if effort == known:
            return known
    if not isinstance(effort, str):
        raise DataError(f"effort={effort!r} must be one of {', '.join(map(repr, EFFORTS))}")
    raise DataError(unknown("effort", effort, EFFORTS))


def check_numbers(rope: Any, most_repetitions: Any, random_state: Any) -> None:
    """Refuse what is not a whole number, or no width."""
    for name, value, least in (("random_state", random_state, 0), ("most_repetitions", most_repetitions, 1)):
        if value is None and name == "most_repetitions":
            continue
        if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
            raise ValueError(f"{name}={value!r} must be a whole number of at least {least}")
    is_number = isinstance(rope, numbers.Real) and not isinstance(rope, bool)
    if rope is not None and not (is_number and 0 <= rope < math.inf):
        raise ValueError(f"rope={rope!r} must be a difference of 0 or more")


def check_others(left_out: Any, tell: Any, isolate: Any) -> None:
    """Refuse reasons that are not texts, what cannot be called, and a switch that is neither on nor off."""
    reasons = left_out.values() if isinstance(left_out, dict) else ()
    if left_out is not None and not (isinstance(left_out, dict) and all(isinstance(reason, str) for reason in reasons)):
        raise ValueError(f"left_out={left_out!r} must map columns to reasons, such as {{'day': 'a date'}}")
    if tell is not None and not callable(tell):
        raise ValueError(f"tell={tell!r} must be a function of one text, such as print")
    if not isinstance(isolate, bool):
        raise ValueError(f"isolate={isolate!r} must be True or False")


def learner_class(learner: Estimator) -> LearnerClass:
    """Look up the class of a learner: cheap if its own class, or that of all steps of a pipeline, is known to be; else dear.

    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn.linear_model import Ridge
    >>> learner_class(Ridge()), learner_class(RandomForestClassifier())
    ('cheap', 'dear')
    """
    steps = [step for _, step in learner.steps] if type(learner) is Pipeline else [learner]
    *before, last = steps
    known = all(_is_of(STEPS, step) for step in before if step is not None and step != "passthrough")
    return "cheap" if known and _is_of(CHEAP, last) and not type(last).__name__.endswith("CV") else "dear"


def _is_of(modules: Iterable[str], step: Estimator) -> bool:
    name = f"{type(step).__module__}."
    return any(name.startswith(f"{module}.") for module in modules)


def work_plan(
    n: int, n_columns: int, task: Task, learners: Iterable[Estimator], effort: Effort = "standard", groups: bool = False
) -> WorkPlan:
    """Make the plan for a table of `n` rows; the dearest of the learners counts. `folds` is 10 until the rules have decided.

    >>> from sklearn.linear_model import Ridge
    >>> plan = work_plan(500, 10, "regression", [Ridge()])
    >>> plan.start, plan.most, plan.pairs
    (10, 50, 10)
    """
    kind: LearnerClass = "dear" if any(learner_class(one) == "dear" for one in learners) else "cheap"
    size = n * n_columns
    _, cheap, dear = next(line for line in TABLE[effort] if size <= line[0])
    work = cheap if kind == "cheap" else dear
    cuts = () if effort == "quick" else GROUPED[task] if groups else SIDE_BY_SIDE[task]
    return WorkPlan(effort, kind, 10, *work, cuts=cuts, checks=2 if size <= TABLE["standard"][-2][0] else 1)


def limited(plan: WorkPlan, folds: int, most_repetitions: int | None) -> WorkPlan:
    """Put the number of folds into a plan, and the largest number of repetitions that the user allows."""
    if most_repetitions is None:
        return replace(plan, folds=folds)
    return replace(plan, folds=folds, start=min(plan.start, most_repetitions), most=min(plan.most, most_repetitions))


def with_subsets(plan: WorkPlan, sizes: IntArray) -> WorkPlan:
    """Plan fits on the same, the other and all subsets, of these sizes; none if a subset has one row, which leaves none to train.

    Examples
    --------
    >>> import numpy as np
    >>> plan = work_plan(60, 3, "regression", [], effort="quick")
    >>> with_subsets(plan, np.array([20, 40])).n_fits - plan.n_fits
    12
    """
    wanted = 2 if plan.effort == "quick" else SUBSET_FOLDS[plan.learner_class]
    folds = min(wanted, int(sizes.min()))
    return plan if folds < 2 else replace(plan, subset_folds=folds, subsets_tested=min(len(sizes), MOST_SUBSETS))
