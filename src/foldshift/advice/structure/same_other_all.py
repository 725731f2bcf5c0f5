"""Score of a learner trained on the same subset, on the other ones, and on all (SOAK): what a new subset can expect."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from foldshift.advice.learner.learner_calls import LearnerCalls
from foldshift.advice.planned_cv import Fits
from foldshift.advice.report_interval import default_rope, difference, score_intervals
from foldshift.advice.structure.both_cuts import fit_splits
from foldshift.core.counting import bincount
from foldshift.core.errors import LearnerError, StoppedError
from foldshift.partition.structure.subsets import PARTS, folds_within_subsets, same_other_all

if TYPE_CHECKING:
    from foldshift.advice.planned_cv import Experiment
    from foldshift.advice.report_interval import Difference, ScoreInterval
    from foldshift.advice.rules import Rule
    from foldshift.core.types import Array, IntArray

    Splits = list[tuple[IntArray, IntArray]]

TRAINED = {"same": "the same subset", "other": "the other subsets", "all": "all subsets"}


class SameOtherAll(NamedTuple):
    """Scores on the same test rows, by the subsets that were trained on; those of the same one are None if it cannot be."""

    other: ScoreInterval
    all: ScoreInterval
    same: ScoreInterval | None
    other_less_all: Difference
    same_less_all: Difference | None
    n_folds: int  # of every subset
    n_tested: int  # subsets that were tested
    n_subsets: int
    said: str  # what is better for a new subset: one or two sentences


def run_same_other_all(
    experiment: Experiment, subsets: IntArray, rows: IntArray, rule: Rule, rope: float | None, isolate: bool
) -> SameOtherAll:
    """Test every fold of the subsets with models of the same subset, of the others, and of all, less the rows of that fold.

    `rows` are those that take part: one of every set of copies. Raise StoppedError when the budget is used up, ValueError if a
    subset has one row, or the learner cannot be fitted.
    """
    splits, k, n_tested = _splits(experiment, subsets, rows)
    learner, of_parts = experiment.name, dict[str, Fits]()
    learners = {learner: experiment.learner, "baseline": experiment.learners["baseline"]}
    data, plan = experiment.data._replace(groups=subsets), replace(experiment.plan, folds=len(splits["all"]))
    with LearnerCalls(learners, data, experiment.score, experiment.clock, isolate) as calls:
        alone = replace(experiment, learners=learners, data=data, plan=plan, calls=calls)
        for part in ("other", "all", "same"):
            try:
                of_parts[part] = fit_splits(alone, splits[part], f"training on {TRAINED[part]}")
            except StoppedError:
                raise
            except LearnerError:
                if part != "same":  # one subset may hold one class
                    raise
    rope = default_rope(experiment.score, of_parts["all"]) if rope is None else rope
    scores = {part: score_intervals(alone, fits, rule)[0] for part, fits in of_parts.items()}
    less = {part: _less_all(alone, of_parts, part, rope) for part in of_parts if part != "all"}
    found = SameOtherAll(
        scores["other"], scores["all"], scores.get("same"), less["other"], less.get("same"),
        k, n_tested, int(subsets.max()) + 1, "",
    )  # fmt: skip
    return found._replace(said=_said(found, experiment))


def _splits(experiment: Experiment, subsets: IntArray, rows: IntArray) -> tuple[dict[str, Splits], int, int]:
    """Training and test rows by what is trained on, the folds of a subset, and the number of subsets that are tested."""
    plan, data, rng = experiment.plan, experiment.data, experiment.rng("subsets")
    labels = subsets[rows]
    k = min(plan.subset_folds, int(bincount(labels).min()))
    if k < 2:
        raise ValueError("a subset has one row")
    folds = folds_within_subsets(labels, data.y[rows] if data.task == "classification" else None, k, rng)
    chosen = rng.permutation(int(labels.max()) + 1)[: plan.subsets_tested]
    splits: dict[str, Splits] = {part: [] for part in PARTS}
    for place, (train, test) in enumerate(same_other_all(labels, folds, k)):
        if place // (len(PARTS) * k) in chosen:
            splits[PARTS[place % len(PARTS)]].append((rows[train], rows[test]))
    return splits, k, len(chosen)


def _less_all(experiment: Experiment, fits: dict[str, Fits], part: str, rope: float) -> Difference:
    """Compare what was trained on a part with what was trained on all."""
    learner, first, second = experiment.name, f"training on {TRAINED[part]}", f"training on {TRAINED['all']}"

    def of(kind: str) -> dict[str, Array]:
        found = {first: getattr(fits[part], kind), second: getattr(fits["all"], kind)}
        return {name: values[learner] for name, values in found.items() if values}

    joined = fits["all"]._replace(losses=of("losses"), scores=of("scores"), predictions=of("predictions"))
    return difference(replace(experiment, learners={first: experiment.learner, second: experiment.learner}), joined, second, rope)


def _said(found: SameOtherAll, experiment: Experiment) -> str:
    """Say what is better for a new subset."""
    score = experiment.score
    but = f"the {score.name} is {score.text(found.other.estimate)}, on all {score.text(found.all.estimate)}"
    for_new = {
        "worse": f"Rows of the new subset itself would help: trained on the others {but}.",
        "better": f"Leave a subset's own rows out: trained on the others {but}.",
        "equivalent": f"The other subsets are enough: trained on them {but}.",
        "not decided": f"Which is better for a new subset is not decided: trained on the others {but}.",
    }[found.other_less_all.verdict]
    if found.same is None or found.same_less_all is None:
        return for_new
    begin = f"Trained on the subset alone it is {score.text(found.same.estimate)}"
    of_own = {
        "better": f"{begin}, better still: the subsets differ, so do not pool them.",
        "worse": f"{begin}: the others help.",
        "equivalent": f"{begin}: the others neither help nor harm.",
        "not decided": f"{begin}; whether the others help is not decided.",
    }[found.same_less_all.verdict]
    return f"{for_new} {of_own}"
