"""Measure intervals that need fits of their own: nested cross-validation, corrected t on hold-outs, conservative Z."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from foldshift.core.seeding import seed_sequence
from foldshift.engine.storage.score_files import TEXT
from foldshift.inference.comparisons.conservative_z import conservative_z
from foldshift.inference.comparisons.paired import nadeau_bengio
from foldshift.inference.fit_losses import Sample as Drawn
from foldshift.inference.fit_losses import fold_predictor, held_out_moments, losses_after_fit, squared_error, zero_one_loss
from foldshift.inference.intervals.cross_validation import nested_cv_interval
from foldshift.studies.common.samples import attempt
from foldshift.studies.foldshift_2026.cuts_and_methods import METHODS, NESTED_FOLDS, n_fits
from foldshift.studies.foldshift_2026.measure_samples import SampleMeasure, SharedSettings, measure_samples
from foldshift.studies.foldshift_2026.partitioners import cut_sample

if TYPE_CHECKING:
    from foldshift.core.types import Estimator, FloatArray, Floats, Inputs, IntArray, Rows, UnsignedArray
    from foldshift.datasets.dataset import Dataset
    from foldshift.studies.foldshift_2026.measure_samples import Names, Sample

    Holdout = tuple[IntArray, IntArray]  # training and test rows of the sample
    Ends = tuple[Floats, Floats, Floats]  # estimate and interval: `ENDS`

HELD_OUT_SHARE = 10  # a hold-out tests one of so many folds
ENDS = ("estimate", "low", "high")
TRUTH = ("truth", "truth_noise")
KEYS = ("population", "task", "learner", "cut", "method", "n_sample", "replicate")
SCHEMAS = {
    "methods": pa.schema(
        [
            *[(name, TEXT) for name in KEYS[:5]],
            *[(name, pa.int32()) for name in KEYS[5:]],
            *[(name, pa.float64()) for name in (*ENDS, *TRUTH)],
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
    truth_rows: int,
    learners: dict[str, dict[str, Any]],
    master_seed: int,
    limits: dict[str, float | None],
) -> dict[str, Rows]:
    """Measure the intervals of every method, learner, cut and sample, and the error of the model trained on the whole sample."""
    sizes = Sizes(n_partitions, n_holdouts, n_halves)
    numbers_of_fits = n_fits(*sizes)

    def labels(cuts: list[str]) -> Rows:
        return [{"cut": one, "method": method, "n_fits": numbers_of_fits[method]} for one in cuts for method in METHODS]

    def cut(population: Dataset, rows: IntArray, cuts: list[str], replicate: int, names: Names) -> list[_Partitions]:
        return [_partitions(population, rows, one, sizes, (*names, replicate)) for one in cuts]

    def measure(estimator: Estimator, X: FloatArray, sample: Sample, rng: np.random.Generator) -> Rows:
        fit = _Fits(estimator, np.ascontiguousarray(X), sample, int(rng.integers(2**32)))
        outside, message = attempt(fit.error_outside)
        truth = dict(zip(TRUTH, (np.nan, np.nan) if outside is None else outside))
        found: Rows = []
        for partitions in sample.partitions:
            for interval in (_nested, _corrected_t, _conservative_z):  # in the order of METHODS
                ends, reason = attempt(interval, fit, partitions, level)
                numbers = dict(zip(ENDS, ends if ends is not None else (np.nan,) * len(ENDS)))
                found.append(numbers | truth | {"message": reason or message})
        return found

    work = SampleMeasure("methods", SCHEMAS["methods"], labels, cut, measure)
    return {"methods": measure_samples(inputs, cell, work, SharedSettings(cuts, learners, master_seed, limits), truth_rows)}


class Sizes(NamedTuple):
    """Numbers of partitions of nested cross-validation, of hold-outs, and of pairs of halves; as the settings of these names."""

    n_partitions: int
    n_holdouts: int
    n_halves: int


class _Fits:
    """A learner on rows of one sample; every fit has the same state."""

    def __init__(self, estimator: Estimator, X: FloatArray, sample: Sample, state: int) -> None:
        self.estimator, self.state = estimator, state
        y = sample.population.y
        self.X, self.y = X[sample.rows], y[sample.rows]
        self.whole = Drawn(self.X, self.y, X[sample.rest], y[sample.rest])
        self.loss = zero_one_loss if y.dtype.kind == "i" else squared_error
        self.predict, _ = attempt(fold_predictor, estimator, Drawn(self.X, self.y, self.X, self.y))

    def losses(self, train: IntArray, test: IntArray) -> FloatArray:
        """Losses of some rows of the sample after training on others."""
        if self.predict:  # the model of fold 0 is trained on the rows of the other folds
            trained_on = np.zeros(len(self.y), dtype=np.uint8)
            trained_on[train] = 1
            return self.loss(self.y[test], next(iter(self.predict(trained_on)))[test])
        parts = [(self.X[test], self.y[test])]
        return losses_after_fit(self.estimator, self.X[train], self.y[train], parts, self.state, self.loss)[0]

    def error_outside(self) -> tuple[float, float]:
        """Mean loss outside the sample after training on the whole of it, and its standard error."""
        return held_out_moments(self.estimator, self.whole, self.state, self.loss)

    def holdout_errors(self, holdouts: list[Holdout]) -> FloatArray:
        """Mean loss on the rows that each hold-out tests."""
        return np.array([self.losses(train, test).mean() for train, test in holdouts])


class _Partitions(NamedTuple):
    """Folds of nested cross-validation, hold-outs of all rows, and hold-outs within both halves of every pair."""

    folds: UnsignedArray
    holdouts: list[Holdout]
    halves: list[list[list[Holdout]]]


def _partitions(data: Dataset, sample: IntArray, cut: str, sizes: Sizes, names: tuple[int, str, str, int, int]) -> _Partitions:
    """Make all partitions of one sample by one cut."""

    def folds(rows: IntArray, k: int, n: int, *more: str | int) -> UnsignedArray:
        return cut_sample(cut, data, sample[rows], k, [seed_sequence(*names, cut, *more, i) for i in range(n)])

    def holdouts(rows: IntArray, n_test: int, *more: str | int) -> list[Holdout]:
        k = max(len(rows) // n_test, 2)
        return [(rows[row != 0], rows[row == 0]) for row in folds(rows, k, sizes.n_holdouts, *more)]

    every = np.arange(len(sample))
    n_test = max(len(every) // HELD_OUT_SHARE, 1)
    halves = [
        [holdouts(every[row == half], n_test, "half", number, half) for half in range(2)]
        for number, row in enumerate(folds(every, 2, sizes.n_halves, "halves"))
    ]
    nested = folds(every, NESTED_FOLDS, sizes.n_partitions, "nested")
    return _Partitions(nested, holdouts(every, n_test, "holdouts"), halves)


def _nested(fit: _Fits, partitions: _Partitions, level: float) -> Ends:
    """Interval of nested cross-validation."""
    found = nested_cv_interval(fit.losses, partitions.folds.astype(np.int64), confidence=level)
    return found.estimate, found.low, found.high


def _corrected_t(fit: _Fits, partitions: _Partitions, level: float) -> Ends:
    """Interval of the corrected t test on hold-outs."""
    train, test = partitions.holdouts[0]
    found = nadeau_bengio(fit.holdout_errors(partitions.holdouts), len(train), len(test), confidence=level)
    return found.estimate, found.low, found.high


def _conservative_z(fit: _Fits, partitions: _Partitions, level: float) -> Ends:
    """Interval of conservative Z."""
    halves = [[fit.holdout_errors(half).mean() for half in pair] for pair in partitions.halves]
    found = conservative_z(fit.holdout_errors(partitions.holdouts), halves, confidence=level)
    return found.estimate, found.low, found.high
