"""How far cuts of a table shift target and inputs: the user's own against random ones, and those of the field side by side."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foldshift.advice.power import power_of
from foldshift.core.compiling import is_kept
from foldshift.inference.corrections import adjust_p
from foldshift.partition.compile_seconds import COMPILE_SECONDS
from foldshift.partition.fold_numbers import fold_dtype
from foldshift.partition.registry import function_of, make_folds, options_of
from foldshift.shift.detectors.two_sample import classifier_two_sample
from foldshift.shift.measures.random_splits import chances, fold_tests, mean_distances, ranked
from foldshift.shift.report.fold_drift import FoldDrift, fold_drift

if TYPE_CHECKING:
    from foldshift.advice.data import Data
    from foldshift.advice.power import Power
    from foldshift.core.types import Array, BoolArray, FloatArray, IntArray, UnsignedArray
    from foldshift.shift.columns import Column
    from foldshift.shift.measures.random_splits import Ranked

MOST_CELLS = 60_000_000  # rows x columns x random cuts: some seconds
MOST_TESTED = 2000  # rows that the two-sample test looks at
GROUP_CUTS = (199, 1999)  # random cuts of whole groups, at least and at most
ALPHA = 0.05
GROUPS_SEED = 0  # of random cuts of whole groups that stand beside the others
THE_TARGET = "the target"
RANDOM_GROUPS = "random groups"
SIDE_BY_SIDE = {
    "classification": ("CV", "SCV", "DOB-SCV", "CB-SCV", "ABA"),
    "regression": ("CV", "SCV10", "TSCV", "CB-TSCV", "ABA"),
}
GROUPED = {"classification": ("CB-SCV",), "regression": ("CB-TSCV",)}


class SplitShift(NamedTuple):
    """How a split compares with random ones.

    Attributes
    ----------
    drift : FoldDrift or None
        Feature by feature; None with groups.
    percentile : float
        Share of the random cuts whose target is closer, in [0, 1].
    distance, chance : float
        Mean distance of the target between training and test part, of the split and of random cuts.
    shifted : tuple of str
        Columns (and the target) that the split shifts by more than chance, 5 % over all of them.
    closer : tuple of str
        Those that it balances better than chance.
    worst : tuple of (str, int, float)
        Column and fold with the largest distance, and the distance.
    auc, p_value : float
        Of the classifier that is to tell the test rows of that fold from its training rows; p times the number of folds. NaN
        where it was not asked.
    n_random : int
        Random cuts it was compared with.
    said : str
        One sentence.
    power : tuple of foldshift.advice.power.Power, or None
        Shifts of one fold that would be found, and how often; None with groups and for large tables.
    """

    drift: FoldDrift | None
    percentile: float
    distance: float
    chance: float
    shifted: tuple[str, ...]
    closer: tuple[str, ...]
    worst: tuple[tuple[str, int, float], ...]
    auc: float
    p_value: float
    n_random: int
    said: str
    power: tuple[Power, ...] | None = None


class CutShift(NamedTuple):
    """What a way of cutting does to this table.

    Attributes
    ----------
    cut : str
    target, inputs, worst : float
        Mean distance between training and test part: of the target, the inputs on average, the worst input.
    spread : float
        Standard deviation of the score of the learner between partitions, in the score's own units; NaN where there was no time.
    n_partitions : int
        From how many.
    bias, bias_error : float
        Estimate less the error of the same models on rows that took no part, mean and standard error over pairs of halves,
        in the score's own units; NaN where there was no time.
    """

    cut: str
    target: float
    inputs: float
    worst: float
    spread: float = np.nan
    n_partitions: int = 0
    bias: float = np.nan
    bias_error: float = np.nan


def split_shift(data: Data, folds: Array, rng: np.random.Generator, name: str = "the split") -> SplitShift | None:
    """Compare a split with random cuts of the same sizes, with groups with random cuts of whole groups."""
    columns = [column for column in data.columns if column.kind != "identifier"]
    if not columns or (folds[:1] < 0).any():
        return None
    first, k = folds[:1], int(folds[0].max()) + 1
    names, rows = ranks(data, columns)
    distance = np.stack([fold_tests(row.is_nominal, row.ends, first[:, row.order], k)[0][0] for row in rows])
    if data.groups is not None:
        return _with_groups(data, names, rows, distance, first, k, rng, name)
    table = np.column_stack([column.train for column in columns]).astype(np.float64)
    nominal = np.array([bool(column.categories) for column in columns])
    n_random = None if data.n * len(names) * 2000 <= MOST_CELLS * 40 else 999
    drift = fold_drift(table, data.y, first, k, categorical_features=nominal, feature_names=[column.name for column in columns],
                       task=data.task, n_random=n_random, rng=rng)  # fmt: skip
    target = drift.features[-1]
    called = [row.name if row.kind != "target" else THE_TARGET for row in drift.features]
    shifted = tuple(name for name, row in zip(called, drift.features) if row.verdict == "more")
    closer = tuple(name for name, row in zip(called, drift.features) if row.verdict == "less")
    worst, auc, p_value = _worst(names, distance, table, nominal, first[0], k, rng)
    return SplitShift(
        drift, 1 - target.p_more, target.distance, target.distance_chance, shifted, closer, worst, auc, p_value,
        drift.n_random, _said(name, shifted, closer, len(drift.features)),
        power_of(first[0].astype(fold_dtype(k)), len(drift.features), ALPHA),
    )  # fmt: skip


def _said(split: str, shifted: tuple[str, ...], closer: tuple[str, ...], n_features: int) -> str:
    split = split[0].upper() + split[1:]
    if shifted:
        verb = "differs" if len(shifted) == 1 else "differ"
        return f"{split} is shifted: {_some(shifted)} {verb} between training and test parts by more than in random cuts."
    if closer:
        return f"{split} is not shifted; it balances {_some(closer)} better than random cuts do."
    return f"{split} is not shifted: none of {n_features} columns differs from a random cut of the same sizes."


def _some(names: tuple[str, ...], most: int = 4) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def ranks(data: Data, columns: list[Column]) -> tuple[list[str], list[Ranked]]:
    """Names and ranks of the columns, the target last."""
    rows = [ranked(column.train.astype(np.float64), bool(column.categories)) for column in columns]
    target = ranked(data.target, data.task == "classification")
    pairs = [(column.name, row) for column, row in zip(columns, rows) if len(row.order) >= 2]
    return [name for name, _ in pairs] + [THE_TARGET], [row for _, row in pairs] + [target]


def _worst(
    names: list[str],
    distance: FloatArray,
    table: FloatArray,
    nominal: BoolArray,
    folds: IntArray,
    k: int,
    rng: np.random.Generator,
) -> tuple[tuple[str, int, float], float, float]:
    """Column and fold that differ most, and whether a classifier tells that fold from the rest."""
    inputs = np.where(np.isnan(distance[:-1]), -1.0, distance[:-1])
    if not inputs.size:
        return ("", 0, np.nan), np.nan, np.nan
    column, fold = np.unravel_index(inputs.argmax(), inputs.shape)
    worst = (names[column], int(fold), float(inputs[column, fold]))
    fold = int(np.nan_to_num(distance[:-1].mean(axis=0), nan=-1.0).argmax())
    table = without_gaps(table)
    rows = rng.permutation(len(table))[:MOST_TESTED]
    inside = folds[rows] == fold
    if min(inside.sum(), (~inside).sum()) < 5:
        return worst, np.nan, np.nan
    found = classifier_two_sample(table[rows[~inside]], table[rows[inside]], rng, categorical_features=nominal)
    return worst, float(found.effect), min(1.0, k * float(found.p_value))


def _with_groups(
    data: Data,
    names: list[str],
    rows: list[Ranked],
    distance: FloatArray,
    first: IntArray,
    k: int,
    rng: np.random.Generator,
    split: str,
) -> SplitShift:
    """Whole groups are dealt at random: what rows of one group have in common shifts every cut of groups."""
    # As many cuts as let the smallest corrected p, two-sided, fall to half of the level.
    n_random = min(max(GROUP_CUTS[0], int(np.ceil(4 * len(names) / ALPHA)) - 1), GROUP_CUTS[1])
    random = np.array([_deal(data.groups, k, rng) for _ in range(n_random)])
    found = np.array([[np.nanmean(one) for one in distance]])
    by_chance = np.column_stack(
        [mean_distances(fold_tests(row.is_nominal, row.ends, random[:, row.order], k)[0]) for row in rows]
    )
    more, less = chances(found, by_chance, np.zeros(1 + n_random, dtype=int), 999, rng)
    adjusted = adjust_p(np.minimum(1.0, 2 * np.minimum(more, less)), "holm")
    shifted = tuple(name for name, p, side in zip(names, adjusted, more < less) if p < ALPHA and side)
    closer = tuple(name for name, p, side in zip(names, adjusted, more < less) if p < ALPHA and not side)
    said = _said(split, shifted, closer, len(names)) + " Random cuts deal whole groups here."
    if 2 * len(names) / (1 + n_random) >= ALPHA:
        said = f"Whether {split} is shifted was not tested: {len(names)} columns are too many for {n_random} cuts of groups."
    inputs = np.where(np.isnan(distance[:-1]), -1.0, distance[:-1])
    column, fold = np.unravel_index(inputs.argmax(), inputs.shape) if inputs.size else (0, 0)
    worst = (names[column], int(fold), float(inputs[column, fold])) if inputs.size else ("", 0, np.nan)
    return SplitShift(
        None, float(1 - more[-1]), float(found[0, -1]), float(by_chance[:, -1].mean()), shifted, closer, worst, np.nan, np.nan,
        n_random, said,
    )  # fmt: skip


def _deal(groups: IntArray, k: int, rng: np.random.Generator) -> Array:
    """Groups in random order, each to the fold with the fewest rows so far."""
    sizes = np.bincount(groups)
    fold_of, filled = np.empty(len(sizes), dtype=np.uint8 if k <= 256 else np.uint16), np.zeros(k, dtype=np.int64)
    for group in rng.permutation(len(sizes)):
        fold = int(filled.argmin())
        fold_of[group], filled[fold] = fold, filled[fold] + sizes[group]
    return fold_of[groups]


def cuts_side_by_side(
    data: Data, k: int, seeds: Iterable[int] = range(5), is_time_for: Callable[..., Any] | None = lambda seconds: True
) -> tuple[list[CutShift], list[str]]:
    """Shift of target and inputs by way of cutting, measured on this table."""
    columns = [column for column in data.columns if column.kind != "identifier"]
    if not columns:
        return [], []
    _, rows = ranks(data, columns)
    table = np.column_stack([column.train for column in columns]).astype(np.float64)
    nominal = np.array([bool(column.categories) for column in columns])
    filled = without_gaps(table)
    seeds, found, left_out = list(seeds), [], []
    names = SIDE_BY_SIDE[data.task] if data.groups is None else (RANDOM_GROUPS, *GROUPED[data.task])
    for name in names:
        if name != RANDOM_GROUPS and (compiling := first_cut_seconds(name)) and not is_time_for(compiling):
            left_out.append(name)
            continue
        if name == RANDOM_GROUPS:
            rng = np.random.default_rng(GROUPS_SEED)
            folds = np.array([_deal(data.groups, k, rng) for _ in seeds])
        else:
            folds = cut(name, filled, data, k, seeds, nominal)
        distances = [mean_distances(fold_tests(row.is_nominal, row.ends, folds[:, row.order], k)[0]).mean() for row in rows]
        inputs = distances[:-1]
        found.append(CutShift(name, float(distances[-1]), float(np.mean(inputs)), float(np.max(inputs))))
    return found, left_out


def first_cut_seconds(name: str) -> float:
    """Processor time in seconds that compiling a partitioner takes, 0 where its machine code is kept."""
    function = function_of(name)
    seconds = COMPILE_SECONDS.get(function.__module__, 0.0)
    # What DB-, DOB- and MS-SCV compile stands where the neighbours are searched.
    return 0.0 if not seconds or is_kept(function.__globals__.get("assign_in_groups", function)) else seconds


def without_gaps(table: FloatArray) -> FloatArray:
    """A table of numbers with the mean of its column in place of NaN; 0 in a column of gaps only."""
    gaps = np.isnan(table)
    known = np.maximum((~gaps).sum(axis=0), 1)
    return np.where(gaps, np.where(gaps, 0.0, table).sum(axis=0) / known, table)


def table_of(data: Data) -> FloatArray:
    """Columns as numbers without gaps, as ways of cutting take them; one of zeros where there are none."""
    return without_gaps(data.codes) if data.columns else np.zeros((data.n, 1))


def cut(name: str, table: FloatArray, data: Data, k: int, seeds: list[Any], nominal: BoolArray | None = None) -> UnsignedArray:
    """Folds of a partitioner by name, with groups where it takes them; ndarray of shape (n_seeds, n)."""
    options = options_of(name, categorical_features=nominal, groups=data.groups, task=data.task)
    target = data.target.astype(np.int64) if data.task == "classification" else data.target
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class with fewer rows than folds is a fault of its own
        return make_folds(name, table, target, n_folds=k, seeds=seeds, **options)
