"""Intervals that need fits of their own, with every cut: nested cross-validation, conservative Z, corrected t on hold-outs."""

import logging
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from foldshift.datasets.dataset import read_prepared
from foldshift.datasets.populations import draw_population
from foldshift.errors import DataError
from foldshift.evaluation.isolation import Lost, run_cells
from foldshift.evaluation.learner import build_learner, design_matrix
from foldshift.evaluation.status import FAILED, OK
from foldshift.evaluation.storage import TEXT
from foldshift.inference.comparisons import nadeau_bengio
from foldshift.inference.conservative import conservative_z
from foldshift.inference.fit_losses import losses_after_fit, squared_error, zero_one_loss
from foldshift.inference.intervals import nested_cv_interval
from foldshift.planning.blocks import block_range
from foldshift.seeding import generator, seed_sequence
from foldshift.studies.foldshift_2026.cuts import cut_sample, fits
from foldshift.studies.samples import attempt, draw_sample, target_scale

MOST_HELD_OUT = 4000  # rows that stand for the population
NESTED_FOLDS = 5
HELD_OUT_SHARE = 10  # a hold-out tests one fold of so many
METHODS = ("nested", "corrected t", "conservative Z")
ENDS = ("estimate", "low", "high")
KEYS = ("population", "task", "learner", "cut", "method", "n_sample", "replicate")
SCHEMAS = {
    "methods": pa.schema(
        [
            *[(name, TEXT) for name in KEYS[:5]],
            *[(name, pa.int32()) for name in KEYS[5:]],
            *[(name, pa.float64()) for name in (*ENDS, "truth")],
            ("n_fits", pa.int32()),
            ("status", TEXT),
            ("message", TEXT),
        ]
    )
}


def n_fits(n_partitions, n_holdouts, n_halves):
    """Fits of each of `METHODS` for one sample, learner and cut.

    Parameters
    ----------
    n_partitions, n_holdouts, n_halves : int
        As in `measure_methods`.

    Returns
    -------
    fits : dict of str to int
    """
    nested = n_partitions * NESTED_FOLDS * (NESTED_FOLDS + 1) // 2
    return dict(zip(METHODS, (nested, n_holdouts, n_holdouts * (1 + 2 * n_halves))))


def measure_methods(inputs, cell, *, cuts, n_partitions, n_holdouts, n_halves, level, learners, master_seed, limits):
    """Intervals of every method, learner, cut and sample, and the error of the model trained on the whole sample.

    Parameters
    ----------
    inputs : object
        ``data``: the prepared data set that is the population; nothing for a generated one.
    cell : dict
        ``population``, ``n_sample``, ``block`` of samples.
    cuts : sequence of str
        Those that fit the task of the population are used, for the folds of nested cross-validation, the hold-outs (one fold of
        ten) and the halves alike.
    n_partitions : int
        Partitions of nested cross-validation into five folds.
    n_holdouts, n_halves : int
        J and M of the conservative Z test: hold-outs of all rows and of every half, and cuts into halves. The corrected t test
        takes the former alone.
    level : float
        Confidence level.
    learners : dict of str to dict
        Entries of the learners file; as `cuts`.
    master_seed : int
    limits : dict
        ``minutes`` and ``memory_mb`` of a learner on a sample.

    Returns
    -------
    rows : dict of str to list of dict
        Kind ``methods``. Errors as in `foldshift.studies.foldshift_2026.measure.cross_validate`.
    """
    name, n_sample = cell["population"], int(cell["n_sample"])
    data = read_prepared(inputs.data) if inputs.data else None
    if data is not None and len(data.y) < 2 * n_sample:
        logging.warning("%s: %d rows are too few for samples of %d; left out", name, len(data.y), n_sample)
        return {"methods": []}
    names = (master_seed, "methods", name, n_sample)
    task = data.task if data is not None else draw_population(name, 2, generator(*names)).task
    scale = target_scale(name, data, generator(*names, "scale")) if task == "regression" else 1.0
    fitting = {learner: spec for learner, spec in learners.items() if task in spec["tasks"]}
    used = [cut for cut in cuts if fits(cut, task)]
    start, n_replicates = block_range(cell["block"])
    numbers_of_fits = n_fits(n_partitions, n_holdouts, n_halves)

    @lru_cache(maxsize=1)  # the learners of a replicate come one after the other
    def drawn(replicate):
        rng = generator(*names, "rows", replicate)
        population, sample, rest = draw_sample(name, data, scale, n_sample, MOST_HELD_OUT, rng)
        plans = {cut: _plan(population, sample, cut, n_partitions, n_holdouts, n_halves, (*names, replicate)) for cut in used}
        return population, sample, rest, plans

    def result_of(cell):
        learner, replicate = cell
        population, sample, rest, plans = drawn(replicate)
        try:
            estimator = build_learner(fitting[learner], categorical_features=population.categorical_features)
        except ValueError as error:
            raise DataError(str(error)) from error
        X = np.ascontiguousarray(design_matrix(population, fitting[learner]["nominal"]))
        fit = _Fits(estimator, X, population.y, sample, rest, int(generator(*names, "fits", learner, replicate).integers(2**32)))
        truth, message = attempt(fit.error_outside)
        found = {}
        for cut, plan in plans.items():
            for method, interval in zip(METHODS, (_nested, _corrected_t, _conservative_z)):
                ends, reason = attempt(interval, fit, plan, level)
                numbers = dict(zip(ENDS, ends if ends is not None else (np.nan,) * len(ENDS)))
                numbers["truth"] = np.nan if truth is None else truth
                found[cut, method] = numbers | {"message": reason or message}
        return found

    rows = []
    cells = [(learner, replicate) for replicate in range(start, start + n_replicates) for learner in fitting if used]
    for (learner, replicate), result in run_cells(result_of, cells, **limits):
        lost = isinstance(result, Lost)
        if lost:
            logging.warning("%s, replicate %d: %s: %s", learner, replicate, result.status, result.message)
        for cut in used:
            for method in METHODS:
                numbers = {"message": result.message} if lost else result[cut, method]
                status = result.status if lost else FAILED if numbers["message"] else OK
                keys = dict(zip(KEYS, (name, task, learner, cut, method, n_sample, replicate)))
                rows.append(keys | numbers | {"n_fits": numbers_of_fits[method], "status": status})
    logging.info("%s, n=%d: %d rows, %d with a failed fit", name, n_sample, len(rows), sum(row["status"] != OK for row in rows))
    return {"methods": [{column: [row.get(column, np.nan) for row in rows] for column in SCHEMAS["methods"].names}]}


class _Fits:
    """A learner on rows of one sample; every fit has the same state."""

    def __init__(self, estimator, X, y, sample, rest, state):
        self.estimator, self.state = estimator, state
        self.X, self.y, self.outside = X[sample], y[sample], (X[rest], y[rest])
        self.loss = zero_one_loss if y.dtype.kind == "i" else squared_error

    def losses(self, train, test):
        """Losses of some rows of the sample after training on others."""
        parts = [(self.X[test], self.y[test])]
        return losses_after_fit(self.estimator, self.X[train], self.y[train], parts, self.state, self.loss)[0]

    def error_outside(self):
        """Mean loss outside the sample after training on the whole of it."""
        return float(losses_after_fit(self.estimator, self.X, self.y, [self.outside], self.state, self.loss)[0].mean())

    def holdout_errors(self, holdouts):
        """Mean loss on the rows that each hold-out tests: pairs of training and test rows."""
        return np.array([self.losses(train, test).mean() for train, test in holdouts])


class _Plan(NamedTuple):
    """Folds of nested cross-validation, hold-outs of all rows, and of pairs of halves."""

    folds: np.ndarray
    holdouts: list
    halves: list


def _plan(data, sample, cut, n_partitions, n_holdouts, n_halves, names):
    """All partitions of one sample by one cut."""
    X, y = data.X[sample], data.y[sample]

    def folds(rows, k, n, *more):
        seeds = [seed_sequence(*names, cut, *more, i) for i in range(n)]
        try:
            return cut_sample(cut, X[rows], y[rows], k, seeds, data.task, data.categorical_features)
        except ValueError as error:
            raise DataError(f"population {data.name}, cut {cut}, k={k}: {error}") from error

    def holdouts(rows, n_test, *more):
        k = max(len(rows) // n_test, 2)
        return [(rows[row != 0], rows[row == 0]) for row in folds(rows, k, n_holdouts, *more)]

    every = np.arange(len(sample))
    n_test = max(len(every) // HELD_OUT_SHARE, 1)
    halves = [
        [holdouts(every[row == half], n_test, "half", number, half) for half in range(2)]
        for number, row in enumerate(folds(every, 2, n_halves, "halves"))
    ]
    return _Plan(folds(every, NESTED_FOLDS, n_partitions, "nested"), holdouts(every, n_test, "holdouts"), halves)


def _nested(fit, plan, level):
    found = nested_cv_interval(fit.losses, plan.folds.astype(np.int64), confidence=level)
    return found.estimate, found.low, found.high


def _corrected_t(fit, plan, level):
    train, test = plan.holdouts[0]
    found = nadeau_bengio(fit.holdout_errors(plan.holdouts), len(train), len(test), confidence=level)
    return found.estimate, found.low, found.high


def _conservative_z(fit, plan, level):
    halves = [[fit.holdout_errors(half).mean() for half in pair] for pair in plan.halves]
    found = conservative_z(fit.holdout_errors(plan.holdouts), halves, confidence=level)
    return found.estimate, found.low, found.high
