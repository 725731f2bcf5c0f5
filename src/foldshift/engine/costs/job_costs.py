"""Expected costs of the engine's jobs: fetching and preparing, folds, target shift, scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foldshift.engine.costs.cost_record import Cost
from foldshift.engine.layout.bundles import BALANCED_PARTITIONERS, NEIGHBOUR_PARTITIONERS
from foldshift.engine.layout.file_names import bundle_of, part_of
from foldshift.partition.methods.cosine_features import n_waves

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldshift.core.types import Task
    from foldshift.engine.layout.job_layout import JobLayout

# Seconds of one core. Starting a job: with numpy alone, with scikit-learn.
START = {"light": 0.5, "learners": 1.4}
FETCH, PREPARE, COLLECT = 1.5, 0.5, 0.6
IN_A_UNIT = 0.02  # per data set of a unit: reading and writing files of its own
PER_FETCHED, PER_PREPARED = 2.8e-6, 1.3e-6  # per value of the table; make bench does not measure them: 100,000 rows, 11 columns
PER_ASSIGNMENT = {"regression": 8e-8, "classification": 3e-7}  # per sample and partition
PER_NEIGHBOUR = 7.5e-9  # per pair of samples and column, once for a job that cuts by neighbours
PER_BALANCED = 1.1e-9  # per sample, partition, fold and term
PER_TWIN = 1.9e-10  # per pair of samples, column and partition
PER_SHIFT = 9e-9  # D_n, per sample and fold
PER_SCORE = 1.5e-6  # collecting, per row
BYTES_PER_SCORE = 30
BYTES_PER_FOLD = 0.45  # per sample and partition, compressed
BYTES_PER_PREDICTION = 0.06  # per sample, partition and learner, bit-packed and compressed


def added(costs: Sequence[Cost], start: float) -> Cost:
    """Cost of one job for many data sets, one after the other: Python starts once, which takes `start` seconds of each cost."""
    if len(costs) == 1:
        return costs[0]
    seconds, mb, writes = zip(*costs)
    return Cost(start + sum(one - start + IN_A_UNIT for one in seconds), max(mb), sum(writes))


def fetch_cost(shape: tuple[int, int]) -> Cost:
    """Cost of fetching a table, as far as it is reading and checking it."""
    return Cost(FETCH + PER_FETCHED * shape[0] * (shape[1] + 1))


def prepare_cost(shape: tuple[int, int]) -> Cost:
    """Cost of preparing a data set with every kind of scaling; parameters as of `fetch_cost`."""
    return Cost(PREPARE + PER_PREPARED * shape[0] * (shape[1] + 1))


def folds_cost(layout: JobLayout, task: Task, dataset: str, bundle: str, block: str) -> Cost:
    """Cost of cutting a data set with a bundle of partitioners, for a block of seeds."""
    n_rows, n_features = layout.shape(dataset)
    work = layout.fold_work(dataset, bundle, block)
    cutters = {layout.partitioner(name).get("partitioner") for name in bundle_of(bundle)[0]}
    work_of_folds = layout.shift_work(dataset, bundle, block)
    seconds = PER_ASSIGNMENT[task] * work
    if cutters.intersection(NEIGHBOUR_PARTITIONERS):
        seconds += PER_NEIGHBOUR * n_rows**2 * n_features
    n_balanced = sum(name in BALANCED_PARTITIONERS for name in cutters)
    seconds += PER_BALANCED * work_of_folds * n_features * n_waves(n_rows, n_features) * n_balanced / len(cutters)
    if "Twinning" in cutters:
        seconds += PER_TWIN * work * n_rows * n_features / len(cutters)
    return Cost(START["light"] + seconds, 3 * work / 1e6, BYTES_PER_FOLD * work / 1e6)


def shift_cost(layout: Any, task: Any, dataset: str, bundle: Any, block: Any) -> Cost:
    """Cost of measuring the target shift of the folds of a file; parameters as of `folds_cost`."""
    return Cost(START["light"] + PER_SHIFT * layout.shift_work(dataset, bundle, block))


def scores_cost(layout: Any, task: Any, dataset: str, bundle: Any, held: Any, part: Any, learners: Any, block: Any) -> Cost:
    """Cost of evaluating some learners on folds; parameters as of `folds_cost`."""
    seconds, mb = layout.job(dataset, bundle, held, part, learners, block)
    own, n_learners = part_of(bundle, part), len(learners.split("+"))
    n_fits = layout.shift_work(dataset, own, block) / layout.shape(dataset)[0]
    size = BYTES_PER_SCORE * n_fits * n_learners
    if task == "classification":
        size += BYTES_PER_PREDICTION * layout.fold_work(dataset, own, block) * n_learners
    return Cost(START["learners"] + seconds, mb, size / 1e6)


def collect_cost(layout: Any, task: Any, dataset: str) -> Cost:
    """Cost of collecting the scores of a data set."""
    n_fits = sum(cell.n_seeds * cell.k * cell.iterations for cell in layout.cells(dataset))
    n_rows = n_fits * len(layout.learners_of(dataset))
    return Cost(START["light"] + PER_SCORE * n_rows, 0.0, n_rows * 8 / 1e6)
