"""Single experiments judged again with another metric, rule, truth, set or configuration of the classifiers.

Results are arrays as `experiments` reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from foldshift.inference.missing import common_results, mean_present
from foldshift.inference.repetitions.agreement import ALPHA, Accuracy, accuracy, halves
from foldshift.studies.moreno_torres_2012.experiment_accuracy import N_SUBSETS, common_subsets, comparable_results, formula_of

if TYPE_CHECKING:
    from foldshift.core.types import BoolArray, FloatArray
    from foldshift.studies.moreno_torres_2012.experiments import Truth, Values

JudgedBy = Literal["SCV", "own", "all", "held-out"]


@dataclass
class Change:
    """Results under one combination of choices."""

    name: str  # as tables and the figure print it
    configuration: str  # configuration, metric, rule, classifiers: Choices: keys of the tables
    metric: str
    rule: str
    # what experiments are judged by. ``SCV``: the mean of `truth_values`, further experiments of SCV. ``held-out``: the same with
    # `truth_values` from samples of populations. ``own``: the partitioner's own mean; ``all``: the mean of the means of all
    # partitioners. The last two are cross-fitted: the experiments are split into two halves, and each is judged by the mean of
    # the other
    truth: JudgedBy
    classifiers: str
    values: Values  # by k and partitioner; shape (n_learners, n_datasets, n_experiments)
    truth_values: Truth  # by k; not used by ``own`` and ``all``; shape (n_learners, n_datasets)
    learners: Sequence[int] | None = None  # rows of the arrays to use; all by default
    # experiments to convergence, by k and partitioner; shape (n_learners, n_datasets)
    convergence: Values = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.truth not in get_args(JudgedBy):
            raise ValueError(f"truth={self.truth!r} of change {self.name} must be one of {', '.join(get_args(JudgedBy))}")

    def chosen(self, values: FloatArray) -> FloatArray:
        """Select the rows of an array that belong to the chosen learners."""
        return values if self.learners is None else values[list(self.learners)]

    def truth_mean(self, k: int) -> FloatArray:
        """Average the truth of ``SCV`` or ``held-out``: shape (n_learners, n_datasets)."""
        truth = self.chosen(np.asarray(self.truth_values[k], dtype=np.float64))
        return mean_present(truth) if truth.ndim == 3 else truth


@dataclass
class Judged:
    """A change reduced to its learners and to the results that all partitioners have, with its accuracies."""

    change: Change
    schemes: dict[int, int]
    partitioners: list[str]
    accuracies: dict[tuple[int, str], Accuracy]
    subsets: BoolArray  # (n_subsets, n_datasets)
    n_cells: dict[int, int]  # pairs of classifier and data set, by k


def parts_of(change: Change, k: int, partitioner: str, partitioners: Sequence[str]) -> list[tuple[FloatArray, FloatArray]]:
    """Pair truths with the experiments judged by each of them: two pairs for ``own`` and ``all``, none without enough results."""
    values = change.chosen(change.values[k, partitioner])
    if change.truth in ("SCV", "held-out"):
        return [(change.truth_mean(k), values)]
    sources = [partitioner] if change.truth == "own" else [n for n in partitioners if not np.isnan(change.values[k, n]).all()]
    if not sources or min(change.values[k, name].shape[2] for name in (*sources, partitioner)) < 2:
        return []
    parts = []
    for half in (0, 1):
        means = []
        for name in sources:
            other = change.chosen(change.values[k, name])
            means.append(mean_present(other[:, :, halves(other.shape[2])[1 - half]]))
        # A cell counts only where every source has it: else means of different partitioners would stand in different cells.
        parts.append((np.mean(means, axis=0), values[:, :, halves(values.shape[2])[half]]))
    return parts


def judge(
    change: Change,
    schemes: dict[int, int],
    partitioners: Sequence[str],
    alpha: float = ALPHA,
    n_subsets: int = N_SUBSETS,
    *,
    master_seed: int,
) -> Judged:
    """Compute the agreement of single experiments with the truth under one change."""
    change, n_cells = _comparable(change, schemes, partitioners)
    n_datasets = next(iter(change.values.values())).shape[1]
    subsets = common_subsets(n_datasets, n_subsets, master_seed)
    nothing = Accuracy(np.nan, np.nan, np.nan, 0.0, 0, np.full(len(subsets), np.nan), np.full(n_datasets, np.nan))
    accuracies = {}
    for k in schemes:
        for name in partitioners:
            parts = parts_of(change, k, name, partitioners)
            accuracies[k, name] = accuracy(parts, subsets, alpha, formula_of(change.configuration)) if parts else nothing
    return Judged(change, dict(schemes), list(partitioners), accuracies, subsets, n_cells)


def _comparable(change: Change, schemes: dict[int, int], partitioners: Sequence[str]) -> tuple[Change, dict[int, int]]:
    """Reduce a change to its learners and to what all partitioners have; count its cells with a truth, by k."""
    values = {key: change.chosen(array) for key, array in change.values.items()}
    truth = {k: change.chosen(np.asarray(array, dtype=np.float64)) for k, array in change.truth_values.items()}
    values, truth = comparable_results(values, truth, schemes, partitioners)
    speeds: Values = {}
    for k in schemes:
        given = {
            name: change.chosen(np.asarray(change.convergence[k, name], dtype=np.float64))
            for name in partitioners
            if (k, name) in change.convergence
        }
        common = common_results({name: speed if speed.ndim == 3 else speed[:, :, None] for name, speed in given.items()})
        speeds |= {(k, name): speed for name, speed in zip(given, common.values())}
    cells = {}
    for k in schemes:
        cells[k] = np.any([~np.isnan(values[k, name]).all(axis=2) for name in partitioners], axis=0)
        if change.truth in ("SCV", "held-out"):
            cells[k] = cells[k] & ~np.isnan(truth[k] if truth[k].ndim == 2 else mean_present(truth[k]))
    present = np.any([array.any(axis=0) for array in cells.values()], axis=0)
    reduced = replace(
        change,
        values={key: array[:, present] for key, array in values.items()},
        truth_values={k: array[:, present] for k, array in truth.items()},
        convergence={key: array[:, present] for key, array in speeds.items()},
        learners=None,
    )
    return reduced, {k: int(array.sum()) for k, array in cells.items()}
