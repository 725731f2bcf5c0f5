"""Cross-validate samples of one population and size with every cut and learner, and measure the true errors."""

import pyarrow as pa

from foldshift.core.seeding import seed_sequence
from foldshift.engine.storage.score_files import TEXT
from foldshift.studies.common.samples import NUMBERS, measure_folds
from foldshift.studies.foldshift_2026.sampling import cut_rows, measure_samples

KEYS = ("population", "task", "learner", "cut", "n_sample", "k", "replicate", "repetition")
SCHEMAS = {
    "estimates": pa.schema(
        [
            *[(name, TEXT) for name in KEYS[:4]],
            *[(name, pa.int32()) for name in KEYS[4:]],
            *[(name, pa.float64()) for name in NUMBERS],
            ("status", TEXT),
            ("message", TEXT),
        ]
    )
}


def cross_validate(inputs, cell, *, folds, n_repetitions, cuts, learners, master_seed, limits):
    """Moments of the losses, and two true errors, of every learner, cut, k, sample and repetition.

    Parameters
    ----------
    inputs : object
        ``data``: the prepared data set that is the population; nothing for a generated one.
    cell : dict
        ``population``, ``n_sample``, ``block`` of samples.
    folds : sequence of int
        Numbers of folds k.
    n_repetitions : int
        Partitions of each sample.
    cuts : sequence of str
        Those that fit the task of the population are used.
    learners : dict of str to dict
        Entries of the learners file; as `cuts`.
    master_seed : int
    limits : dict
        ``minutes`` and ``memory_mb`` of a learner on a sample.

    Returns
    -------
    rows : dict of str to list of dict
        Kind ``estimates``. ``truth_parts``: mean error on rows outside the sample of the models of this cross-validation;
        ``truth_whole``: that of the model trained on the whole sample. Errors are 0/1 for classes, and for numbers the squared
        error as a share of the variance of the target. NaN where a fit failed.
    """
    ks = [k for k in folds if k <= int(cell["n_sample"]) // 2]

    def keys(used):
        return [{"cut": one, "k": k, "repetition": repetition} for one in used for k in ks for repetition in range(n_repetitions)]

    def cut(population, sample, used, replicate, names):
        partitions = {}
        for one in used:
            for k in ks:
                seeds = [seed_sequence(*names, "folds", replicate, one, k, repetition) for repetition in range(n_repetitions)]
                partitions |= {(one, k, i): row for i, row in enumerate(cut_rows(population, sample, one, k, seeds))}
        return partitions

    def measure(estimator, X, population, sample, rest, partitions, rng):
        return list(measure_folds(estimator, X, population.y, sample, rest, partitions, rng).values())

    shared = {"cuts": cuts, "learners": learners, "master_seed": master_seed, "limits": limits}
    schema = SCHEMAS["estimates"]
    return {"estimates": measure_samples(inputs, cell, schema, word="honesty", keys=keys, cut=cut, measure=measure, **shared)}
