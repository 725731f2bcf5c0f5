"""Groups: columns that name persons or sites with several rows, and columns whose values together do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import f as f_distribution

from foldshift.advice.structure.record import Part
from foldshift.partition.methods.cosine_features import mid_ranks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from foldshift.advice.data import Data
    from foldshift.core.types import Array, FloatArray, IntArray
    from foldshift.shift.columns import Column

GROUP_NAME = re.compile(
    r"(patient|subject|person|participant|customer|client|user|household|family|site|clinic|hospital|school|batch|plate|group|"
    r"session|device|machine|plant|lot|station|plot|farm|case|donor|animal|mouse|rater|vehicle|store|village|country|region)"
    r"[ _-]?(id|nr|no|number|code|name)?$",
    re.IGNORECASE,
)
FEWEST_GROUPS = 8
ONE_MANY = 0.5  # a column that is constant within groups by chance in this share of them says nothing about the groups
CONSTANT = 0.95  # of the groups, in which a column of a person or site has one value
LEVEL = 1e-6  # of the test whether other columns differ between groups
UNLIKE = 0.5  # share of the other columns that must differ
JUMPS = 0.5  # of the differences of neighbouring groups: smaller for a quantity, along which other columns change smoothly
MOST_COLUMNS = 100  # among which columns that go together are looked for
MOST_ROWS, MOST_ROWS_IN_PAIRS = 2000, 500  # rows whose equal pairs are counted; rows of which all pairs are compared
CLOSE, LESS_CLOSE = 0.05, 0.15  # standard deviations
LIFT = 5.0  # times more pairs close in both columns than if they had nothing to do with each other
SLOPE = 0.5  # dimension of the pairs close in both columns: 0 for groups of equal rows, 1 for curves, 2 for plain columns
IN_GROUPS = 0.8  # share of the rows that must have another one of their group


def find_groups(data: Data) -> Part | None:
    """Find groups that a column names or that columns show together; None without any."""
    columns = [column for column in data.columns if column.kind != "identifier"]
    named, shown = _like_groups(columns, data)
    together = None if named else _from_several([column for column in columns if column.kind != "date"], data)
    if together is not None or not named + shown:
        return together
    column = (named + shown)[0]
    codes = np.unique(column.train, return_inverse=True)[1].ravel().astype(np.int64)
    return Part(codes, f"found: column {column.name!r}", (column.name,), "G2")


def _like_groups(columns: list[Column], data: Data) -> tuple[list[Column], list[Column]]:
    """Columns whose values may stand for persons or sites with several rows: those whose names say so, and others."""
    n = data.n
    codes = [np.unique(column.train, return_inverse=True)[1].ravel() for column in columns]
    sizes = [np.bincount(code) for code in codes]
    named: list[Column] = []
    shown: list[Column] = []
    for place, (column, size) in enumerate(zip(columns, sizes)):
        whole = bool(column.categories) or (column.kind == "numeric" and not (column.train % 1 != 0).any())
        if not whole or not FEWEST_GROUPS <= len(size) <= n / 2 or (size >= 2).mean() < 0.9:
            continue
        if GROUP_NAME.search(column.name):
            named.append(column)
        elif n >= 10 * FEWEST_GROUPS and _differ(place, columns, codes, data):
            shown.append(column)
    return named, shown


def _differ(place: int, columns: list[Column], codes: list[Array], data: Data) -> bool:
    """Return True if most other columns, and the target, differ between values of a column beyond chance and beyond a trend."""
    code, ordered = codes[place], not columns[place].categories
    others = [other for j, other in enumerate(codes) if j != place and len(np.unique(other)) > 1]
    ranks = [mid_ranks(other.astype(np.float64)) for other in others]
    if not ranks:
        return False
    target = mid_ranks(data.target) if data.task == "regression" else data.target == data.target[0]
    unlike = [_is_unlike(code, values, ordered) for values in ranks]
    return sum(unlike) >= max(1, UNLIKE * len(unlike)) and _is_unlike(code, np.asarray(target, np.float64), ordered)


def _is_unlike(code: IntArray, values: FloatArray, ordered: bool) -> bool:
    """Return True if the means of groups differ; if groups are numbers, neighbouring ones as much as any."""
    sizes = np.bincount(code)
    means = np.bincount(code, values) / sizes
    within = float(((values - means[code]) ** 2).sum())
    between = float((sizes * (means - values.mean()) ** 2).sum())
    free = len(values) - len(sizes)
    if free < 1 or between <= 0:
        return False
    if within > 0 and f_distribution.sf(between / (len(sizes) - 1) / (within / free), len(sizes) - 1, free) > LEVEL:
        return False
    if not ordered:
        return True
    noise = within / free * (1 / sizes[1:] + 1 / sizes[:-1])
    spread = 2 * means.var(ddof=1) - noise.mean()
    return bool(spread > 0 and ((np.diff(means) ** 2).mean() - noise.mean()) / spread > JUMPS)


def _from_several(columns: list[Column], data: Data) -> Part | None:
    """Find columns that are constant, or nearly so, within persons or sites that no column names."""
    usable = [column for column in columns if len(np.unique(column.train)) > 1]
    if not 3 <= len(usable) <= MOST_COLUMNS:
        return None
    chosen = _equal_together(usable, data.n)
    if not chosen:
        chosen = _close_together(usable, data.n)
    if not 2 <= len(chosen) < len(usable):  # rows that are alike in all columns are copies
        return None
    return _part([usable[c] for c in sorted(chosen)], data)


def _equal_together(columns: list[Column], n: int) -> list[int]:
    """Positions of columns that are equal in the same pairs of rows, far more often than by chance."""
    codes = [np.unique(column.train, return_inverse=True)[1].ravel() for column in columns]
    chance = [float(((size := np.bincount(code)) * (size - 1.0)).sum() / (n * (n - 1.0))) for code in codes]
    n_values = [int(code.max()) + 1 for code in codes]
    anchors = [a for a in range(len(codes)) if FEWEST_GROUPS <= n_values[a] <= n * (1 - IN_GROUPS / 2)]
    best: tuple[float, list[int]] = (0.0, [])
    for a in anchors:
        rows = _rows_of_some_values(codes[a], n)
        for b in anchors:
            both = _n_pairs(codes[a][rows] * n_values[b] + codes[b][rows])
            if (
                b != a
                and both > max(best[0] * len(rows), len(rows) / 2)
                and both >= LIFT * chance[b] * _n_pairs(codes[a][rows])
                and not _is_function(columns[a], columns[b])
                and not _is_function(columns[b], columns[a])
            ):
                best = (both / len(rows), [a, b])
    if not best[1]:
        return []
    chosen = best[1]
    rows = _rows_of_some_values(codes[chosen[0]], n)
    together = codes[chosen[0]][rows] * n_values[chosen[1]] + codes[chosen[1]][rows]
    for c in range(len(codes)):
        joint = np.unique(together, return_inverse=True)[1].ravel() * n_values[c] + codes[c][rows]
        if c not in chosen and chance[c] < ONE_MANY + 0.2 and _n_pairs(joint) >= CONSTANT * _n_pairs(together):
            chosen, together = [*chosen, c], joint
    return chosen


def _rows_of_some_values(code: IntArray, n: int) -> IntArray:
    """Rows of some of the values of a column, so that none of their pairs is lost."""
    if n <= MOST_ROWS:
        return np.arange(n)
    values = np.random.default_rng(0).permutation(int(code.max()) + 1)
    kept = values[np.cumsum(np.bincount(code)[values]) <= MOST_ROWS]
    return np.flatnonzero(np.isin(code, kept if len(kept) else values[:1]))


def _n_pairs(code: IntArray) -> float:
    """Number of pairs of rows of equal code."""
    sizes = np.unique(code, return_counts=True)[1]
    return float((sizes * (sizes - 1.0)).sum() / 2)


def _close_together(columns: list[Column], n: int) -> list[int]:
    """Positions of columns of quantities that are nearly equal in the same pairs of rows."""
    places = [c for c, column in enumerate(columns) if not column.categories and len(np.unique(column.train)) > n / 2]
    rows = np.random.default_rng(0).permutation(n)[:MOST_ROWS_IN_PAIRS]
    if len(places) < 2 or len(rows) < 4 * FEWEST_GROUPS:
        return []
    first, second = np.triu_indices(len(rows), 1)
    far = np.stack([_distances(columns[c], rows, first, second) for c in places])
    close, less_close = ((far <= size).astype(np.float32) for size in (CLOSE, LESS_CLOSE))
    best: tuple[float, int, int] = (len(rows) / 2, -1, -1)
    both, both_less = (one @ one.T for one in (close, less_close))
    for a in range(len(places)):
        for b in range(a):
            chance, chance_less = (
                one[a].mean(dtype=np.float64) * one[b].mean(dtype=np.float64) * len(first) for one in (close, less_close)
            )
            if both[a, b] < max(best[0], LIFT * chance):
                continue
            slope = np.log(max(both_less[a, b] - chance_less, 1.0) / (both[a, b] - chance)) / np.log(LESS_CLOSE / CLOSE)
            if slope < SLOPE:
                best = (float(both[a, b]), a, b)
    if best[1] < 0:
        return []
    together = close[best[1]] * close[best[2]]
    return [places[c] for c in range(len(places)) if (close[c] * together).sum() >= 0.8 * together.sum()]


def _distances(column: Column, rows: IntArray, first: IntArray, second: IntArray) -> NDArray[np.float32]:
    values = column.train[rows].astype(np.float64)
    values = np.where(np.isnan(values), np.nanmin(values) - 1, values)
    scaled = (values / (values.std() or 1.0)).astype(np.float32)
    return np.abs(scaled[first] - scaled[second])


def _is_function(column: Column, of: Column) -> bool:
    """Return True if a column changes smoothly along the values of another one, as what is computed from it does."""
    if of.categories or column.categories:
        return False
    values, code = np.unique(of.train, return_inverse=True)
    means = np.bincount(code.ravel(), column.train) / np.bincount(code.ravel())
    spread = means.var()
    return len(values) < FEWEST_GROUPS or spread == 0 or bool((np.diff(means) ** 2).mean() / (2 * spread) < JUMPS)


def _part(columns: list[Column], data: Data) -> Part | None:
    """Make groups of the rows that are linked by closeness in all these columns."""
    from foldshift.advice.structure.copies import row_codes

    parts = []
    for column in columns:
        values = column.train.astype(np.float64)
        if column.categories:
            parts.append(values)
            continue
        order = np.argsort(values, kind="stable")
        steps = np.diff(values[order]) > CLOSE * (np.nanstd(values) or 1.0)
        code = np.empty(data.n)
        code[order] = np.concatenate([[0], np.cumsum(steps)])
        parts.append(code)
    codes = row_codes(np.column_stack(parts))
    exact = row_codes(np.column_stack([column.train.astype(np.float64) for column in columns]))
    codes = exact if (np.bincount(exact)[exact] > 1).mean() >= IN_GROUPS else codes
    sizes = np.bincount(codes)
    if len(sizes) < FEWEST_GROUPS or (sizes[codes] > 1).mean() < IN_GROUPS or len(sizes) > data.n / 2:
        return None
    names = tuple(column.name for column in columns)
    listed = ", ".join(map(repr, names[:-1])) + f" and {names[-1]!r}"
    return Part(codes, f"found: columns {listed} together", names, "G2")
