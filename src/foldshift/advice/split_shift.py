"""Shift of target and inputs by cuts of a table: the user's against random ones, and those of the field side by side."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foldshift.advice.power import power_of
from foldshift.advice.work_plan import RANDOM_GROUPS, ROWS_FOR_CUTS
from foldshift.core.counting import bincount
from foldshift.inference.corrections import adjust_p
from foldshift.partition.fold_numbers import fold_dtype
from foldshift.partition.registry import make_folds, options_of
from foldshift.shift.detectors.two_sample import classifier_two_sample
from foldshift.shift.measures.random_splits import chances, fold_tests, mean_distances, ranked
from foldshift.shift.report.fold_drift import FoldDrift, fold_drift

if TYPE_CHECKING:
    from foldshift.advice.data import Data
    from foldshift.advice.power import Power
    from foldshift.core.types import Array, BoolArray, FloatArray, IntArray, UnsignedArray
    from foldshift.shift.measures.random_splits import Ranked

MOST_TESTED = 2000  # rows that the two-sample test looks at
GROUP_CUTS = (199, 1999)  # random cuts of whole groups, at least and at most
ALPHA = 0.05
GROUPS_SEED = 0  # of random cuts of whole groups that stand beside the others
SAMPLE_SEED = 0  # of the rows of a large table that are cut side by side
THE_TARGET = "the target"


class SplitShift(NamedTuple):
    """A split compared with random ones."""

    drift: FoldDrift | None  # feature by feature; None with groups
    percentile: float  # share of the random cuts whose target is closer, in [0, 1]
    # distance, chance: Mean distance of the target between training and test part, of the split and of random cuts
    distance: float
    chance: float
    shifted: tuple[str, ...]  # columns (and the target) that the split shifts by more than chance, 5 % over all of them
    closer: tuple[str, ...]  # those that it balances better than chance
    worst: tuple[str, int, float]  # column and fold (0-based) with the largest distance, and the distance
    # auc, p_value: Of a classifier that separates the test rows of the fold with the largest mean distance from its training
    # rows; p times the number of folds. NaN if it was not asked
    auc: float
    p_value: float
    n_random: int  # number of random cuts
    said: str  # one sentence
    # shifts of one fold that would be found, and how often; None with groups and for large tables
    power: tuple[Power, ...] | None = None


class CutShift(NamedTuple):
    """Effect of a way of cutting on this table."""

    cut: str
    # target, inputs, worst: Mean distance between training and test part: of the target, the inputs on average, the worst input
    target: float
    inputs: float
    worst: float
    # standard deviation of the score of the learner between partitions, in the score's own units; NaN without time
    spread: float = np.nan
    n_partitions: int = 0  # number of partitions behind the spread
    # bias, bias_error: Estimate less the error of the same models on rows that took no part, mean and standard error over pairs
    # of halves, in the score's own units; NaN without time
    bias: float = np.nan
    bias_error: float = np.nan


class _Distances(NamedTuple):
    """Distances between training and test part of a split."""

    names: list[str]  # columns, the target last
    ranks: list[Ranked]  # ranks of their values
    of_folds: FloatArray  # distance of every column in every fold; shape (n_names, k)

    @property
    def of_inputs(self) -> FloatArray:
        """Distances of the inputs; -1 in place of NaN."""
        return np.where(np.isnan(self.of_folds[:-1]), -1.0, self.of_folds[:-1])

    @property
    def worst(self) -> tuple[str, int, float]:
        """Input and fold that differ most, and the distance; NaN without inputs."""
        inputs = self.of_inputs
        if not inputs.size:
            return "", 0, np.nan
        column, fold = np.unravel_index(inputs.argmax(), inputs.shape)
        return self.names[column], int(fold), float(inputs[column, fold])


def split_shift(data: Data, folds: Array, rng: np.random.Generator, name: str = "the split") -> SplitShift | None:
    """Compare a split with random cuts of the same sizes, with groups with random cuts of whole groups.

    `folds` has shape (n_seeds, n); the first row is compared. None without columns, or if rows are not tested.
    """
    data = data.without_identifiers
    if not data.columns or (folds[:1] < 0).any():
        return None
    first, k = folds[:1], int(folds[0].max()) + 1
    names, rows = ranks(data)
    of_folds = np.stack([fold_tests(row.is_nominal, row.ends, first[:, row.order], k)[0][0] for row in rows])
    distances = _Distances(names, rows, of_folds)
    if data.groups is not None:
        return _with_groups(data.groups, distances, k, rng, name)
    drift = fold_drift(
        data.codes,
        data.y,
        first,
        k,
        categorical_features=data.nominal,
        feature_names=[column.name for column in data.columns],
        task=data.task,
        rng=rng,
    )
    target = drift.features[-1]
    called = [row.name if row.kind != "target" else THE_TARGET for row in drift.features]
    shifted = tuple(name for name, row in zip(called, drift.features) if row.verdict == "more")
    closer = tuple(name for name, row in zip(called, drift.features) if row.verdict == "less")
    auc, p_value = _separability(data, distances, first[0], k, rng)
    return SplitShift(
        drift, 1 - target.p_more, target.distance, target.distance_chance, shifted, closer, distances.worst, auc, p_value,
        drift.n_random, _sentence(name, shifted, closer, len(drift.features)),
        power_of(first[0].astype(fold_dtype(k)), len(drift.features), ALPHA),
    )  # fmt: skip


def _sentence(split: str, shifted: tuple[str, ...], closer: tuple[str, ...], n_features: int) -> str:
    split = split[0].upper() + split[1:]
    if shifted:
        verb = "differs" if len(shifted) == 1 else "differ"
        return f"{split} is shifted: {_some(shifted)} {verb} between training and test parts by more than in random cuts."
    if closer:
        return f"{split} is not shifted; it balances {_some(closer)} better than random cuts do."
    return f"{split} is not shifted: none of {n_features} columns differs from a random cut of the same sizes."


def _some(names: tuple[str, ...], most: int = 4) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def ranks(data: Data) -> tuple[list[str], list[Ranked]]:
    """Names and ranks of the columns with at least two known values, the target last."""
    rows = [ranked(column.train.astype(np.float64), bool(column.categories)) for column in data.columns]
    target = ranked(data.target, data.task == "classification")
    pairs = [(column.name, row) for column, row in zip(data.columns, rows) if len(row.order) >= 2]
    return [name for name, _ in pairs] + [THE_TARGET], [row for _, row in pairs] + [target]


def _separability(data: Data, distances: _Distances, folds: Array, k: int, rng: np.random.Generator) -> tuple[float, float]:
    """AUC and corrected p of a classifier that separates the fold that differs most from the rest; NaN for small folds."""
    if not distances.of_inputs.size:
        return np.nan, np.nan
    fold = int(np.nan_to_num(distances.of_folds[:-1].mean(axis=0), nan=-1.0).argmax())
    table = without_gaps(data.codes)
    rows = rng.permutation(len(table))[:MOST_TESTED]
    inside = folds[rows] == fold
    if min(inside.sum(), (~inside).sum()) < 5:
        return np.nan, np.nan
    found = classifier_two_sample(table[rows[~inside]], table[rows[inside]], rng, categorical_features=data.nominal)
    return float(found.effect), min(1.0, k * float(found.p_value))


def _with_groups(groups: IntArray, distances: _Distances, k: int, rng: np.random.Generator, split: str) -> SplitShift:
    """Compare a split with random cuts of whole groups: common traits of the rows of one group shift every cut of groups."""
    names = distances.names
    # As many cuts as let the smallest corrected p, two-sided, fall to half of the level.
    n_random = min(max(GROUP_CUTS[0], int(np.ceil(4 * len(names) / ALPHA)) - 1), GROUP_CUTS[1])
    random = np.array([_deal(groups, k, rng) for _ in range(n_random)])
    found = np.array([[np.nanmean(one) for one in distances.of_folds]])
    by_chance = np.column_stack(
        [mean_distances(fold_tests(row.is_nominal, row.ends, random[:, row.order], k)[0]) for row in distances.ranks]
    )
    more, less = chances(found, by_chance, np.zeros(1 + n_random, dtype=int), 999, rng)
    adjusted = adjust_p(np.minimum(1.0, 2 * np.minimum(more, less)), "holm")
    shifted = tuple(name for name, p, side in zip(names, adjusted, more < less) if p < ALPHA and side)
    closer = tuple(name for name, p, side in zip(names, adjusted, more < less) if p < ALPHA and not side)
    said = _sentence(split, shifted, closer, len(names)) + " Random cuts deal whole groups here."
    if 2 * len(names) / (1 + n_random) >= ALPHA:
        said = f"Whether {split} is shifted was not tested: {len(names)} columns are too many for {n_random} cuts of groups."
    return SplitShift(
        None, float(1 - more[-1]), float(found[0, -1]), float(by_chance[:, -1].mean()), shifted, closer, distances.worst, np.nan,
        np.nan, n_random, said,
    )  # fmt: skip


def _deal(groups: IntArray, k: int, rng: np.random.Generator) -> UnsignedArray:
    """Folds of shape (n,): groups in random order, each in the fold with the fewest rows so far."""
    sizes = bincount(groups)
    fold_of: UnsignedArray = np.empty(len(sizes), dtype=np.uint8 if k <= 256 else np.uint16)
    filled = np.zeros(k, dtype=np.int64)
    for group in rng.permutation(len(sizes)):
        fold = int(filled.argmin())
        fold_of[group], filled[fold] = fold, filled[fold] + sizes[group]
    return fold_of[groups]


def cuts_side_by_side(
    data: Data, k: int, names: Sequence[str], seeds: Iterable[int] = range(5), most_rows: int = ROWS_FOR_CUTS
) -> list[CutShift]:
    """Measure the shift of target and inputs for ways of cutting; of a larger table on a random sample of `most_rows` rows."""
    data = data.without_identifiers
    if not data.columns or not names:
        return []
    if data.n > most_rows:
        data = data.sample(most_rows, np.random.default_rng(SAMPLE_SEED))
    _, rows = ranks(data)
    filled, nominal, seeds = table_of(data), data.nominal, list(seeds)
    found = []
    for name in names:
        if name == RANDOM_GROUPS and data.groups is not None:
            rng = np.random.default_rng(GROUPS_SEED)
            folds = np.array([_deal(data.groups, k, rng) for _ in seeds])
        else:
            folds = cut(name, filled, data, k, seeds, nominal)
        *inputs, target = (
            float(mean_distances(fold_tests(row.is_nominal, row.ends, folds[:, row.order], k)[0]).mean()) for row in rows
        )
        found.append(CutShift(name, target, float(np.mean(inputs)), float(np.max(inputs))))
    return found


def without_gaps(table: FloatArray) -> FloatArray:
    """Put the mean of its column in place of NaN; 0 in a column of gaps only."""
    gaps = np.isnan(table)
    known = np.maximum((~gaps).sum(axis=0), 1)
    return np.where(gaps, np.where(gaps, 0.0, table).sum(axis=0) / known, table)


def table_of(data: Data) -> FloatArray:
    """Columns as numbers without gaps, as ways of cutting take them; one of zeros if there are none."""
    return without_gaps(data.codes) if data.columns else np.zeros((data.n, 1))


def cut(
    name: str, table: FloatArray, data: Data, k: int, seeds: Sequence[Any], nominal: BoolArray | None = None
) -> UnsignedArray:
    """Folds of shape (n_seeds, n) by a partitioner's name, with groups if it takes them."""
    options = options_of(name, categorical_features=nominal, groups=data.groups, task=data.task)
    target = data.target.astype(np.int64) if data.task == "classification" else data.target
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class with fewer rows than folds is an issue of its own
        return make_folds(name, table, target, n_folds=k, seeds=seeds, **options)
