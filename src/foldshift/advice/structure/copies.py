"""Copies of rows: exact ones, and near ones measured against neighbours that are none, with the power of the search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from foldshift.advice.structure.near_misses import equal_pairs
from foldshift.advice.structure.neighbours import nearest_rows
from foldshift.advice.structure.off_grid import rows_off_grid
from foldshift.advice.structure.record import Copies
from foldshift.core.counting import bincount

if TYPE_CHECKING:
    from foldshift.advice.data import Data
    from foldshift.core.types import Array, BoolArray, FloatArray, IntArray

FEWEST_ROWS = 20
MOST_QUERIES, MOST_PAIRS = 2000, 50_000_000  # rows whose neighbours are looked at, and distances
SHUFFLE_SEED = 0  # the same table has the same null
N_SHUFFLES = 3  # of all columns, to count the rows that are alike by chance
WIDTH = 10  # neighbours looked at
DEEPEST = 3  # copies of one row that are told from its neighbours
LEVELS = (1e-4, 1e-3, 1e-2)  # chance of a row without copies to look like one
TIMES_CHANCE, SPARE = 3, 4  # rows beyond which more than chance is at work: times those expected, and as many again
TIMES_BOUND = 2  # times the pairs that chance allows at most
FARTHEST = 0.2  # standard deviations between their numbers, root mean square: twice the largest error looked for
N_RANDOM_PAIRS, NEAREST = 10_000, 0.02  # pairs, of which near copies with categories are nearer than this share
WIDER = 1.5  # times the distance of nine copies in ten, for those of the rows that were not looked at
N_DIRECTIONS = 24  # random directions along which near copies are neighbours, for tables of which not all rows are looked at
BY_TARGET = 5  # neighbours whose target is compared
JITTERS = (0.1, 0.05, 0.03, 0.02, 0.01, 0.005, 0.002, 1e-3, 1e-4, 1e-5, 1e-6)  # errors of copies, standard deviations
ACROSS = 0.5  # share of the near copies that must be of several groups
SHARES = (0.05, 0.1, 0.2, 0.5)  # of rows that have a copy


def find_copies(data: Data, rng: np.random.Generator) -> Copies | None:
    """Find rows that are copies of each other; None if the columns cannot be looked at."""
    columns = data.without_identifiers.columns
    if not columns:
        return None
    values = filled(data.without_identifiers.codes)
    exact = row_codes(values)
    counts = bincount(exact)
    alike = counts[exact] > 1
    if alike.any():
        shuffled = [row_codes(_shuffled(values, rng)) for _ in range(N_SHUFFLES)]
        by_chance = float(np.mean([(bincount(one)[one] > 1).sum() for one in shuffled]))
        if alike.sum() <= TIMES_CHANCE * by_chance + SPARE * (by_chance > 0) or _by_chance(*equal_pairs(values)):
            alike[:] = False
    codes = exact if alike.any() else np.arange(data.n)
    nominal = np.array([bool(column.categories) for column in columns])
    if nominal.all() or data.n < FEWEST_ROWS:
        return Copies(codes, int(alike.sum()), 0, 0, 0.0, 0.0)
    single = np.unique(exact, return_index=True)[1]
    single.sort()
    target = data.target[single] if data.task == "regression" else None
    n_numeric = int((values[single][:, ~nominal].std(axis=0) > 0).sum())
    found, n_near, n_queries, power = _near_copies(_scaled(values[single], nominal), target, n_numeric, rng)
    first, second = (single[one] for one in found)
    if not n_near:
        first, second, n_near = _beside_the_grid(values[:, ~nominal], values[:, nominal], data.target)
    if n_near:
        links = coo_array((np.ones(len(first)), (first, second)), shape=(data.n, data.n))
        same = coo_array((np.ones(data.n), (np.arange(data.n), single[_places(exact, single)])), shape=(data.n, data.n))
        codes = connected_components(links + same if alike.any() else links, directed=False)[1].astype(np.int64)
    return Copies(codes, int(alike.sum()), n_near, n_queries, *power)


def _by_chance(n_pairs: float, allowed: float) -> bool:
    """Return True for no more equal pairs than chance allows, where columns that go together are few-valued."""
    return allowed > 0 and n_pairs <= TIMES_BOUND * allowed + SPARE


def across_groups(copies: Copies, groups: IntArray) -> Copies:
    """Drop near copies if nearly all are of one group: rows of one person are near each other anyway."""
    low, high = np.full(copies.codes.max() + 1, groups.max()), np.zeros(copies.codes.max() + 1, groups.dtype)
    np.minimum.at(low, copies.codes, groups)
    np.maximum.at(high, copies.codes, groups)
    in_several = int((low < high)[copies.codes].sum())
    if in_several > max(SPARE, ACROSS * copies.n_near):
        return copies
    return copies._replace(n_near=0)


def filled(values: FloatArray) -> FloatArray:
    """Put a number below all others where one is missing; zeros in columns without any."""
    gaps = np.isnan(values)
    if gaps.any():
        values = np.where(gaps, np.nanmin(np.where(gaps, np.inf, values), axis=0, keepdims=True) - 1, values)
    values[:, ~np.isfinite(values).all(axis=0)] = 0.0
    return values


def row_codes(values: Array) -> IntArray:
    """Number the different rows of a table of numbers."""
    hashed = np.zeros(len(values), np.uint64)
    with np.errstate(over="ignore"):
        for column in (values + 0.0).T:  # -0.0 is 0.0
            hashed = hashed * np.uint64(0x9E3779B97F4A7C15) + pd.util.hash_array(np.ascontiguousarray(column))
    return pd.factorize(hashed)[0].astype(np.int64)


def _shuffled(values: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Shuffle every column by itself."""
    return np.column_stack([rng.permutation(column) for column in values.T])


def _scaled(values: FloatArray, nominal: BoolArray) -> FloatArray:
    """Scale columns that vary to standard deviation one; categories become points at random in a plane."""
    numbers = values[:, ~nominal & (values.std(axis=0) > 0)]
    parts = [(numbers - numbers.mean(axis=0)) / numbers.std(axis=0)]
    rng = np.random.default_rng(SHUFFLE_SEED)
    for column in values[:, nominal].T.astype(np.int64):
        parts.append(rng.standard_normal((column.max() + 1, 2))[column])
    return np.hstack(parts)


def _places(exact: IntArray, single: IntArray) -> IntArray:
    """Position in `single` of the row that stands for each row's set of exact copies."""
    place = np.empty(exact.max() + 1, np.int64)
    place[exact[single]] = np.arange(len(single))
    return place[exact]


def _near_copies(
    points: FloatArray, target: FloatArray | None, n_numeric: int, rng: np.random.Generator
) -> tuple[tuple[IntArray, IntArray], int, int, tuple[float, float]]:
    """Find pairs of near copies among different rows: pairs, rows in pairs, rows looked at, and the power of the search."""
    n = len(points)
    nothing = (np.empty(0, np.int64), np.empty(0, np.int64))
    if n < FEWEST_ROWS or points.shape[1] == 0:
        return nothing, 0, 0, (0.0, 0.0)
    n_queries = int(min(n, MOST_QUERIES, max(100, MOST_PAIRS // n)))
    queries = np.sort(rng.permutation(n)[:n_queries]) if n_queries < n else np.arange(n)
    width = min(WIDTH, n - 2)
    distances, rows = nearest_rows(points, queries, width)
    chances, depth = _chances(distances)
    # Without copies: the table with every column shuffled by itself, and the same rows without their nearest neighbours.
    nulls = [_chances(nearest_rows(_shuffled(points, rng), queries, width)[0])[0], _chances(distances, DEEPEST)[0]]
    wanted = [_wanted(n_queries, level, nulls) for level in LEVELS]
    found = [level for level, least in zip(LEVELS, wanted) if (chances <= level).sum() > least]
    pairs = [nothing]
    if found:
        near = chances <= max(found)
        close = [(queries[near & (depth >= j)], rows[near & (depth >= j), j]) for j in range(DEEPEST)]
        pairs += _near_in_numbers(close, points, n_numeric, min(wanted))
    pairs.append(_same_target(target, queries, rows, width))
    first, second = (np.concatenate(part) for part in zip(*pairs))
    if len(first) and n_queries < n:
        far = np.sqrt(((points[first] - points[second]) ** 2).sum(axis=1))
        first, second = _pairs_within(points, WIDER * float(np.quantile(far, 0.9)), rng)
        n_queries = n
    return (first, second), len(np.unique(first)), n_queries, _power(distances, wanted, n_numeric)


def _near_in_numbers(
    pairs: list[tuple[IntArray, IntArray]], points: FloatArray, n_numeric: int, least: float
) -> list[tuple[IntArray, IntArray]]:
    """Keep pairs that are nearer in their numbers than nearly all rows, not by their categories alone; none if few are left."""
    numbers = points[:, :n_numeric]
    if n_numeric in (0, points.shape[1]):
        return pairs
    some, others = np.random.default_rng(SHUFFLE_SEED).integers(0, len(points), (2, N_RANDOM_PAIRS))
    usual = np.quantile(((numbers[some] - numbers[others]) ** 2).sum(axis=1), NEAREST)
    farthest = min(usual, n_numeric * FARTHEST**2)
    near = [((numbers[first] - numbers[second]) ** 2).sum(axis=1) <= farthest for first, second in pairs]
    kept = [(first[one], second[one]) for (first, second), one in zip(pairs, near)]
    return kept if len(np.unique(np.concatenate([first for first, _ in kept]))) > least else []


def _dimension(distances: FloatArray) -> float:
    """Number of dimensions in which the rows lie, from neighbours that are not the nearest ones.

    In m dimensions, ``j * log(d_j+1 / d_j)`` has the mean ``1 / m`` for each j.
    """
    first = min(DEEPEST, distances.shape[1] - 2)
    logs = np.log(np.maximum(distances[:, first:], 1e-300))
    inverse = (np.diff(logs, axis=1) * np.arange(first + 1, distances.shape[1])).mean()
    return 1 / max(float(inverse), 1e-3)


def _chances(distances: FloatArray, first: int = 0) -> tuple[FloatArray, IntArray]:
    """Chance that a row without copies has neighbours as near as each row's; and how many of them are copies, less one.

    Where points have no structure but a density, ``(d_j / d_j+1) ** (j * m)`` is uniform on 0 to 1 for the distances d_1, d_2,
    ... to the neighbours of a point in m dimensions. The dimension comes from the same rows, without the nearest neighbours, so
    that copies do not change it. With `first`, as many of the nearest neighbours are passed over. Source: Facco, E. et al.
    (2017). Estimating the intrinsic dimension of datasets by a minimal neighborhood information. Scientific Reports 7, 12140.
    """
    d, dimension = np.maximum(distances, 1e-300), _dimension(distances)
    some = range(first, min(first + DEEPEST, d.shape[1] - 1))
    chances = np.column_stack([(d[:, j] / d[:, j + 1]) ** ((j + 1) * dimension) for j in some])
    return np.minimum(1.0, len(some) * chances.min(axis=1)), chances.argmin(axis=1)


def _wanted(n_queries: int, level: float, nulls: list[FloatArray]) -> float:
    """Number of rows at a level that chance does not reach: by the level, and by what is so near in tables without copies."""
    return TIMES_CHANCE * max(level * n_queries, *(float((null <= level).sum()) for null in nulls)) + SPARE


def _beside_the_grid(numbers: FloatArray, others: FloatArray, target: FloatArray) -> tuple[IntArray, IntArray, int]:
    """Pair rows that lie beside the grid of all other rows with those of the same target at the nearest place on it."""
    off = rows_off_grid(numbers)
    if off is None:
        return np.empty(0, np.int64), np.empty(0, np.int64), 0
    cells = row_codes(np.column_stack([off.nearest, others, target]))
    wanted = np.isin(cells, cells[off.rows])
    first = np.unique(cells, return_index=True)[1]
    return first[cells[wanted]], np.flatnonzero(wanted), int(off.rows.sum())


def _same_target(target: FloatArray | None, queries: IntArray, rows: IntArray, width: int) -> tuple[IntArray, IntArray]:
    """Pairs of neighbours with exactly the same target, if they are far more than among neighbours farther away."""
    near = min(BY_TARGET, width // 2)
    if target is None or len(np.unique(target)) <= len(target) / 4:
        return queries[:0], queries[:0]
    same = target[rows] == target[queries][:, None]
    close, far = same[:, :near].any(axis=1).sum(), same[:, near:].sum() * near / (width - near)
    if close <= TIMES_CHANCE * far + SPARE:
        return queries[:0], queries[:0]
    who, which = np.nonzero(same[:, :near])
    return queries[who], rows[who, which]


def _pairs_within(points: FloatArray, radius: float, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Pairs of points that are not farther apart than `radius`, of those that are neighbours along random directions."""
    pairs = []
    for direction in rng.standard_normal((N_DIRECTIONS, points.shape[1])):
        order = np.argsort(points @ direction, kind="stable")
        for step in (1, 2, 3):
            first, second = order[:-step], order[step:]
            near = ((points[first] - points[second]) ** 2).sum(axis=1) <= radius**2
            pairs.append((first[near], second[near]))
    first, second = (np.concatenate(part) for part in zip(*pairs))
    return first, second


def _power(distances: FloatArray, wanted: list[float], n_numeric: int) -> tuple[float, float]:
    """Largest error of copies that would be found, and in which share of the rows, from the distances of rows to others."""
    n = len(distances)
    dimension = _dimension(distances)
    for share in SHARES:
        for jitter in JITTERS:
            chances = np.minimum(1.0, DEEPEST * (jitter * np.sqrt(n_numeric) / distances[:, 1]) ** dimension)
            for level, least in zip(LEVELS, wanted):
                expected = 2 * share / (1 + share) * n * (chances <= level).mean()
                if expected - 2 * np.sqrt(2 * expected) >= least:
                    return jitter, share
    return 0.0, 0.0
