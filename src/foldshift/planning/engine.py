"""What the jobs of the engine are expected to take: fetching and preparing, folds, target shift, scores."""

from foldshift.planning.blocks import TRUTH, block_range
from foldshift.planning.layout import fits_per_seed, fold_work
from foldshift.studies.base import Cost

# Seconds of one core. Starting a job: with numpy alone, with scikit-learn.
START = {"light": 0.5, "learners": 1.4}
FETCH, PREPARE = 1.5, 0.5
PER_ASSIGNMENT = {"regression": 5e-8, "classification": 4e-7}  # per sample and partition
PER_NEIGHBOUR = 1e-8  # per pair of samples and column, once for a job that cuts by neighbours
PER_SHIFT = 1.2e-8  # D_n, per sample and fold
PER_SCORE = 2e-6  # collecting, per row
BYTES_PER_SCORE = 30
BYTES_PER_FOLD = 0.45  # per sample and partition, compressed
BYTES_PER_PREDICTION = 0.06  # per sample, partition and learner, bit-packed and compressed


def folds_cost(layout, task, dataset, cuts, block):
    """Cost of cutting a data set with a bundle of partitioners, for a block of seeds.

    Parameters
    ----------
    layout : foldshift.planning.layout.Layout
    task : {"regression", "classification"}
    dataset, cuts, block : str

    Returns
    -------
    cost : foldshift.studies.base.Cost
    """
    (n_rows, n_features), bundle = layout.shape(dataset), layout.bundles[cuts]
    work = fold_work(bundle, n_rows, block_range(block)[1])
    once = PER_NEIGHBOUR * n_rows**2 * n_features if task == "classification" and cuts != TRUTH else 0.0
    return Cost(START["light"] + once + PER_ASSIGNMENT[task] * work, 3 * work / 1e6, BYTES_PER_FOLD * work / 1e6)


def scores_cost(layout, task, dataset, cuts, learners, block):
    """Cost of evaluating some learners on the folds of a block; parameters as of `folds_cost`, `learners` a list of ids."""
    seconds, mb = layout.job(dataset, cuts, learners, block)
    bundle, n_seeds = layout.bundles[cuts], block_range(block)[1]
    size = BYTES_PER_SCORE * n_seeds * fits_per_seed(bundle) * len(learners)
    if task == "classification":
        size += BYTES_PER_PREDICTION * fold_work(bundle, layout.shape(dataset)[0], n_seeds) * len(learners)
    return Cost(START["learners"] + seconds, mb, size / 1e6)


def shift_cost(layout, dataset):
    """Cost of measuring the target shift of all folds of a data set."""
    work = sum(bundle.n_seeds * fits_per_seed(bundle) for bundle in layout.bundles.values())
    return Cost(START["light"] + PER_SHIFT * layout.shape(dataset)[0] * work)


def collect_cost(layout, dataset):
    """Cost of collecting the scores of a data set."""
    bundles = [layout.bundles[cuts] for cuts in layout.cuts(dataset)]
    n_rows = sum(bundle.n_seeds * fits_per_seed(bundle) for bundle in bundles) * len(layout.learners_of(dataset))
    return Cost(START["light"] + PER_SCORE * n_rows, 0.0, n_rows * 8 / 1e6)
