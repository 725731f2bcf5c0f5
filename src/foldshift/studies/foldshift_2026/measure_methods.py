"""Intervals that need fits of their own, with every cut: nested cross-validation, conservative Z, corrected t on hold-outs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from foldshift.core.seeding import seed_sequence
from foldshift.engine.storage.score_files import TEXT
from foldshift.inference.comparisons.paired import nadeau_bengio
from foldshift.inference.fit_losses import losses_after_fit, squared_error, zero_one_loss
from foldshift.inference.comparisons.conservative_z import conservative_z
from foldshift.inference.intervals.cross_validation import nested_cv_interval
from foldshift.studies.common.samples import attempt
from foldshift.studies.foldshift_2026.constants import METHODS, NESTED_FOLDS, n_fits
from foldshift.studies.foldshift_2026.sampling import cut_rows, measure_samples

if TYPE_CHECKING:
    from foldshift.core.types import Array, Estimator, Inputs, Rows, UnsignedArray

HELD_OUT_SHARE = 10  # a hold-out tests one fold of so many
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


def measure_methods(
    inputs: Inputs,
    cell: dict[str, str],
    *,
    cuts: Sequence[str],
    n_partitions: int,
    n_holdouts: int,
    n_halves: int,
    level: float,
    learners: dict[str, dict[str, Any]],
    master_seed: int,
    limits: dict[str, None],
) -> dict[str, Rows]:
    """Intervals of every method, learner, cut and sample, and the error of the model trained on the whole sample."""
    numbers_of_fits = n_fits(n_partitions, n_holdouts, n_halves)

    def keys(used: list[str]) -> Rows:
        return [{"cut": one, "method": method, "n_fits": numbers_of_fits[method]} for one in used for method in METHODS]

    def cut(population: Any, sample: Array, used: Any, replicate: Any, names: Any) -> list[Any]:
        return [_plan(population, sample, one, n_partitions, n_holdouts, n_halves, (*names, replicate)) for one in used]

    def measure(
        estimator: Estimator, X: Any, population: Any, sample: Array, rest: Any, plans: Any, rng: np.random.Generator
    ) -> list[Any]:
        fit = _Fits(estimator, np.ascontiguousarray(X), population.y, sample, rest, int(rng.integers(2**32)))
        truth, message = attempt(fit.error_outside)
        found = []
        for plan in plans:
            for interval in (_nested, _corrected_t, _conservative_z):  # in the order of METHODS
                ends, reason = attempt(interval, fit, plan, level)
                numbers = dict(zip(ENDS, ends if ends is not None else (np.nan,) * len(ENDS)))
                numbers["truth"] = np.nan if truth is None else truth
                found.append(numbers | {"message": reason or message})
        return found

    shared = {"cuts": cuts, "learners": learners, "master_seed": master_seed, "limits": limits}
    schema = SCHEMAS["methods"]
    return {"methods": measure_samples(inputs, cell, schema, word="methods", keys=keys, cut=cut, measure=measure, **shared)}


class _Fits:
    """A learner on rows of one sample; every fit has the same state."""

    def __init__(self, estimator: Estimator, X: Array, y: Any, sample: Array, rest: Any, state: int) -> None:
        self.estimator, self.state = estimator, state
        self.X, self.y, self.outside = X[sample], y[sample], (X[rest], y[rest])
        self.loss = zero_one_loss if y.dtype.kind == "i" else squared_error

    def losses(self, train: Any, test: Any) -> Array:
        """Losses of some rows of the sample after training on others."""
        parts = [(self.X[test], self.y[test])]
        return losses_after_fit(self.estimator, self.X[train], self.y[train], parts, self.state, self.loss)[0]

    def error_outside(self) -> float:
        """Mean loss outside the sample after training on the whole of it."""
        return float(losses_after_fit(self.estimator, self.X, self.y, [self.outside], self.state, self.loss)[0].mean())

    def holdout_errors(self, holdouts: Any) -> Array:
        """Mean loss on the rows that each hold-out tests: pairs of training and test rows."""
        return np.array([self.losses(train, test).mean() for train, test in holdouts])


class _Plan(NamedTuple):
    """Folds of nested cross-validation, hold-outs of all rows, and of pairs of halves."""

    folds: Array
    holdouts: list[Any]
    halves: list[Any]


def _plan(data: Any, sample: Array, cut: Any, n_partitions: int, n_holdouts: int, n_halves: int, names: tuple[Any, ...]) -> _Plan:
    """All partitions of one sample by one cut."""

    def folds(rows: Array, k: int, n: int, *more: Any) -> UnsignedArray:
        return cut_rows(data, sample[rows], cut, k, [seed_sequence(*names, cut, *more, i) for i in range(n)])

    def holdouts(rows: Array, n_test: Any, *more: Any) -> list[tuple[Any, Any]]:
        k = max(len(rows) // n_test, 2)
        return [(rows[row != 0], rows[row == 0]) for row in folds(rows, k, n_holdouts, *more)]

    every = np.arange(len(sample))
    n_test = max(len(every) // HELD_OUT_SHARE, 1)
    halves = [
        [holdouts(every[row == half], n_test, "half", number, half) for half in range(2)]
        for number, row in enumerate(folds(every, 2, n_halves, "halves"))
    ]
    return _Plan(folds(every, NESTED_FOLDS, n_partitions, "nested"), holdouts(every, n_test, "holdouts"), halves)


def _nested(fit: Any, plan: Any, level: float) -> tuple[Any, Any, Any]:
    found = nested_cv_interval(fit.losses, plan.folds.astype(np.int64), confidence=level)
    return found.estimate, found.low, found.high


def _corrected_t(fit: Any, plan: Any, level: float) -> tuple[Any, Any, Any]:
    train, test = plan.holdouts[0]
    found = nadeau_bengio(fit.holdout_errors(plan.holdouts), len(train), len(test), confidence=level)
    return found.estimate, found.low, found.high


def _conservative_z(fit: Any, plan: Any, level: float) -> tuple[Any, Any, Any]:
    halves = [[fit.holdout_errors(half).mean() for half in pair] for pair in plan.halves]
    found = conservative_z(fit.holdout_errors(plan.holdouts), halves, confidence=level)
    return found.estimate, found.low, found.high
