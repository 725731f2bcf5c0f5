"""Cross-validate samples of one population and size with every cut and learner, and measure the true errors."""

import logging
from functools import lru_cache

import numpy as np
import pyarrow as pa

from foldshift.datasets.dataset import read_prepared
from foldshift.datasets.populations import draw_population
from foldshift.errors import DataError
from foldshift.evaluation.isolation import Lost, run_cells
from foldshift.evaluation.learner import build_learner, design_matrix
from foldshift.evaluation.status import FAILED, OK
from foldshift.evaluation.storage import TEXT
from foldshift.planning.blocks import block_range
from foldshift.seeding import generator, seed_sequence
from foldshift.studies.foldshift_2026.cuts import cut_sample, fits
from foldshift.studies.samples import NUMBERS, draw_sample, measure_folds, target_scale

MOST_HELD_OUT = 4000  # rows that stand for the population
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
    name, n_sample = cell["population"], int(cell["n_sample"])
    data = read_prepared(inputs.data) if inputs.data else None
    if data is not None and len(data.y) < 2 * n_sample:
        logging.warning("%s: %d rows are too few for samples of %d; left out", name, len(data.y), n_sample)
        return {"estimates": []}
    names = (master_seed, "honesty", name, n_sample)
    task = data.task if data is not None else draw_population(name, 2, generator(*names)).task
    scale = target_scale(name, data, generator(*names, "scale")) if task == "regression" else 1.0
    fitting = {learner: spec for learner, spec in learners.items() if task in spec["tasks"]}
    used = [cut for cut in cuts if fits(cut, task)]
    ks = [k for k in folds if k <= n_sample // 2]
    start, n_replicates = block_range(cell["block"])

    @lru_cache(maxsize=1)  # the learners of a replicate come one after the other
    def drawn(replicate):
        population, sample, rest = draw_sample(name, data, scale, n_sample, MOST_HELD_OUT, generator(*names, "rows", replicate))
        return population, sample, rest, _cut(population, sample, used, ks, n_repetitions, (*names, "folds", replicate))

    def result_of(cell):
        learner, replicate = cell
        population, sample, rest, partitions = drawn(replicate)
        try:
            estimator = build_learner(fitting[learner], categorical_features=population.categorical_features)
        except ValueError as error:
            raise DataError(str(error)) from error
        X = design_matrix(population, fitting[learner]["nominal"])
        rng = generator(*names, "fits", learner, replicate)
        return measure_folds(estimator, X, population.y, sample, rest, partitions, rng)

    rows = []
    cells = [(learner, replicate) for replicate in range(start, start + n_replicates) for learner in fitting if used and ks]
    for (learner, replicate), result in run_cells(result_of, cells, **limits):
        lost = isinstance(result, Lost)
        if lost:
            logging.warning("%s, replicate %d: %s: %s", learner, replicate, result.status, result.message)
        for cut in used:
            for k in ks:
                for repetition in range(n_repetitions):
                    numbers = {"message": result.message} if lost else result[cut, k, repetition]
                    status = result.status if lost else FAILED if numbers["message"] else OK
                    values = (name, task, learner, cut, n_sample, k, replicate, repetition)
                    rows.append(dict(zip(KEYS, values)) | numbers | {"status": status})
    logging.info("%s, n=%d: %d rows, %d with a failed fit", name, n_sample, len(rows), sum(row["status"] != OK for row in rows))
    return {"estimates": [{column: [row.get(column, np.nan) for row in rows] for column in SCHEMAS["estimates"].names}]}


def _cut(data, sample, cuts, folds, n_repetitions, names):
    """Partitions of the sample by cut, k and repetition."""
    X, y, partitions = data.X[sample], data.y[sample], {}
    for cut in cuts:
        for k in folds:
            seeds = [seed_sequence(*names, cut, k, repetition) for repetition in range(n_repetitions)]
            try:
                rows = cut_sample(cut, X, y, k, seeds, data.task, data.categorical_features)
            except ValueError as error:
                raise DataError(f"population {data.name}, cut {cut}, k={k}: {error}") from error
            partitions |= {(cut, k, repetition): row for repetition, row in enumerate(rows)}
    return partitions
