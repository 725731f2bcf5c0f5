"""Samples of one population and size, worked through learner by learner: what both measures of the study share."""

import logging
from functools import lru_cache

import numpy as np

from foldshift.core.errors import DataError
from foldshift.core.seeding import generator
from foldshift.datasets.dataset import read_prepared
from foldshift.datasets.synthetic.populations import draw_population
from foldshift.engine.jobs.isolation import Lost, run_cells
from foldshift.engine.layout.seed_blocks import block_range
from foldshift.evaluation.learner import build_learner, design_matrix
from foldshift.evaluation.status import FAILED, OK
from foldshift.studies.common.samples import draw_sample, target_scale
from foldshift.studies.foldshift_2026.partitioners import cut_sample, fits

MOST_HELD_OUT = 4000  # rows that stand for the population


def measure_samples(inputs, cell, schema, *, word, cuts, learners, keys, cut, measure, master_seed, limits):
    """Cut every sample of a block, and measure every learner on it; a learner that fails or is lost has rows that say so.

    Parameters
    ----------
    inputs : object
        ``data``: the prepared data set that is the population; nothing for a generated one.
    cell : dict
        ``population``, ``n_sample``, ``block`` of samples.
    schema : pyarrow.Schema
        Columns of the rows.
    word : str
        Stands in all seeds.
    cuts : sequence of str
        Those that fit the task of the population are used.
    learners : dict of str to dict
        Entries of the learners file; as `cuts`.
    keys : callable
        ``keys(cuts)``: what stands in the rows of one learner and sample beside their numbers, a dictionary for each row.
    cut : callable
        ``cut(population, sample, cuts, replicate, names)``: partitions of a sample; `names` begin its seeds.
    measure : callable
        ``measure(estimator, X, population, sample, rest, partitions, rng)``: for each of `keys`, in their order, a dictionary of
        numbers and ``message``, empty where nothing failed.
    master_seed : int
    limits : dict
        ``minutes`` and ``memory_mb`` of a learner on a sample.

    Returns
    -------
    columns : list of dict
        One dictionary of columns; empty for a data set with fewer than twice the rows of a sample.
    """
    name, n_sample = cell["population"], int(cell["n_sample"])
    data = read_prepared(inputs.data) if inputs.data else None
    if data is not None and len(data.y) < 2 * n_sample:
        logging.warning("%s: %d rows are too few for samples of %d; left out", name, len(data.y), n_sample)
        return []
    names = (master_seed, word, name, n_sample)
    task = data.task if data is not None else draw_population(name, 2, generator(*names)).task
    scale = target_scale(name, data, generator(*names, "scale")) if task == "regression" else 1.0
    fitting = {learner: spec for learner, spec in learners.items() if task in spec["tasks"]}
    used = [one for one in cuts if fits(one, task)]
    labels = keys(used)
    start, n_replicates = block_range(cell["block"])

    @lru_cache(maxsize=1)  # the learners of a replicate come one after the other
    def drawn(replicate):
        population, sample, rest = draw_sample(name, data, scale, n_sample, MOST_HELD_OUT, generator(*names, "rows", replicate))
        return population, sample, rest, cut(population, sample, used, replicate, names)

    def result_of(cell):
        learner, replicate = cell
        population, sample, rest, partitions = drawn(replicate)
        try:
            estimator = build_learner(fitting[learner], categorical_features=population.categorical_features)
        except ValueError as error:
            raise DataError(str(error)) from error
        X = design_matrix(population, fitting[learner]["nominal"])
        rng = generator(*names, "fits", learner, replicate)
        return measure(estimator, X, population, sample, rest, partitions, rng)

    rows = []
    cells = [(learner, replicate) for replicate in range(start, start + n_replicates) for learner in fitting if labels]
    for (learner, replicate), result in run_cells(result_of, cells, **limits):
        common = {"population": name, "task": task, "learner": learner, "n_sample": n_sample, "replicate": replicate}
        lost = isinstance(result, Lost)
        if lost:
            logging.warning("%s, replicate %d: %s: %s", learner, replicate, result.status, result.message)
        for i, label in enumerate(labels):
            numbers = {"message": result.message} if lost else result[i]
            status = result.status if lost else FAILED if numbers["message"] else OK
            rows.append(common | label | numbers | {"status": status})
    logging.info("%s, n=%d: %d rows, %d with a failed fit", name, n_sample, len(rows), sum(row["status"] != OK for row in rows))
    return [{column: [row.get(column, np.nan) for row in rows] for column in schema.names}]


def cut_rows(data, rows, cut, n_folds, seeds):
    """Partitions of some rows of a population, one for each seed: ndarray of shape (n_seeds, n_rows); an error names them."""
    try:
        return cut_sample(cut, data.X[rows], data.y[rows], n_folds, seeds, data.task, data.categorical_features)
    except ValueError as error:
        raise DataError(f"population {data.name}, cut {cut}, k={n_folds}: {error}") from error
