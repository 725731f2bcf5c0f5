"""Groups: columns that name persons or sites with several rows, columns whose values together do, and beginnings of names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import f as f_distribution

from foldshift.advice.structure.copies import row_codes
from foldshift.advice.structure.record import Part
from foldshift.core.counting import bincount
from foldshift.partition.methods.cosine_features import mid_ranks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from foldshift.advice.data import Data
    from foldshift.core.types import Array, FloatArray, IntArray, Task
    from foldshift.shift.columns import Column

GROUP_NAME = re.compile(
    r"(patient|subject|person|participant|customer|client|user|household|family|site|clinic|hospital|school|batch|plate|group|"
    r"session|device|machine|plant|lot|station|plot|farm|case|donor|animal|mouse|rater|vehicle|store|village|country|region|zip|"
    r"post|postal|plz|county|district|province|city|town|physician|speaker|author|company|employee|player|slide|video|cage|litter)"
    r"[ _-]?(id|nr|no|number|code|name)?$",
    re.IGNORECASE,
)
# Endings that tell rows of one person or object apart: P001_2, img_07_crop3.png, S12-left, M4b.
_ENDING = re.compile(r"(?<=\w)(?:[ _./:-]+(?:[A-Za-z]{0,12}\d{1,6}|[A-Za-z]{1,12})|(?<=\d)[A-Za-z])$")
MOST_ENDINGS = 4  # that are taken off
MOST_NAMES = 100_000  # that are looked at
FEWEST_GROUPS = 8
ONE_MANY = 0.5  # a column that is constant within groups by chance in this share of them says nothing about the groups
CONSTANT = 0.95  # of the groups, in which a column of a person or site has one value
LEVEL = 1e-6  # of the test whether other columns differ between groups
UNLIKE = 0.5  # share of the other columns that must differ
JUMPS = 0.5  # of the differences of neighbouring groups: smaller for a quantity, along which other columns change smoothly
AS_MUCH = 0.8  # of what the column that tells most of the others tells
TENTHS = 10  # classes of a quantity
SHUFFLE_SEED = 0  # the same table has the same null
MOST_COLUMNS = 100  # among which columns that go together are looked for
MOST_ROWS, MOST_ROWS_IN_PAIRS = 2000, 500  # rows whose equal pairs are counted; rows of which all pairs are compared
ALIKE = 0.1  # share of the pairs of rows that may be equal in a column that tells persons apart
CLOSE, LESS_CLOSE = 0.05, 0.15  # standard deviations
LIFT = 5.0  # times more pairs close in both columns than if they had nothing to do with each other
SLOPE = 0.5  # dimension of the pairs close in both columns: 0 for groups of equal rows, 1 for curves, 2 for plain columns
IN_GROUPS = 0.8  # share of the rows that must have another one of their group


def find_groups(data: Data, rows: IntArray) -> Part | None:
    """Find groups that a column names or that columns show together; `rows` are one of every set of copies."""
    columns = [column for column in data.columns if column.kind != "identifier"]
    named = [column for column in data.columns if column.kind == "identifier"]
    for column in [*named, *([] if data.row_names is None else [data.row_names])]:
        part = _by_beginning(column, columns, data, rows) if column.categories and not column.is_cut else None
        if part is not None:
            return part._replace(is_of_row_names=column not in named)
    names = [column for column in columns if GROUP_NAME.search(column.name) and _can_be_groups(column)]
    if not names:
        single = [column._replace(train=column.train[rows]) for column in columns]
        chosen = _from_several([place for place, one in enumerate(single) if one.kind != "date"], single)
        part = _part([columns[place] for place in chosen], rows) if chosen else None
        if part is not None:
            return part
        names = [columns[place] for place in _like_groups(single, data.target[rows], data.task)]
    if not names:
        return None
    column = names[0]
    codes = np.unique(column.train, return_inverse=True)[1].ravel().astype(np.int64)
    return Part(codes, f"found: column {column.name!r}", (column.name,), "G2")


def _by_beginning(names: Column, columns: list[Column], data: Data, rows: IntArray) -> Part | None:
    """Make groups of the rows whose names begin alike, if target or columns are alike in them; the largest such groups."""
    if len(names.categories) > MOST_NAMES:
        return None
    codes = [np.unique(column.train[rows], return_inverse=True)[1].ravel() for column in columns]
    target = data.target[rows]
    ranks = [mid_ranks(target) if data.task == "regression" else (target == target[0]).astype(np.float64)]
    texts, found = [str(text) for text in names.categories], None
    for _ in range(MOST_ENDINGS):
        texts = [_ENDING.sub("", text) for text in texts]
        beginnings, of_text = np.unique(texts, return_inverse=True)
        groups = np.unique(of_text.ravel()[names.train], return_inverse=True)[1].ravel().astype(np.int64)
        sizes = bincount(groups[rows])
        few = FEWEST_GROUPS <= len(sizes) <= len(rows) / 2
        if not few or (sizes[groups[rows]] > 1).mean() < IN_GROUPS or not (sizes > 0).all():
            continue
        own = groups[rows]
        alike = [_is_unlike(own, mid_ranks(other.astype(np.float64)), False) for other in codes if other.max() > 0]
        if _is_unlike(own, ranks[0], False) or sum(alike) >= max(1, UNLIKE * len(alike)):
            shared = str(beginnings[of_text.ravel()[names.train[0]]])
            source = f"found: names in column {names.name!r} that begin alike"
            found = Part(groups, source, (names.name,), "G2", beginning=shared)
    return found


def _can_be_groups(column: Column) -> bool:
    """Return True for categories or whole numbers of which nearly all stand in several rows."""
    if not (column.categories or (column.kind == "numeric" and not (column.train % 1 != 0).any())):
        return False
    sizes = np.unique(column.train, return_counts=True)[1]
    return FEWEST_GROUPS <= len(sizes) <= len(column.train) / 2 and (sizes >= 2).mean() >= 0.9


def _like_groups(columns: list[Column], target: FloatArray, task: Task) -> list[int]:
    """Positions of columns whose values may stand for persons or sites, by how other columns and the target differ."""
    if len(target) < 10 * FEWEST_GROUPS:
        return []
    codes = [np.unique(column.train, return_inverse=True)[1].ravel() for column in columns]
    ranks = mid_ranks(target) if task == "regression" else (target == target[0]).astype(np.float64)
    found = [
        place
        for place, column in enumerate(columns)
        if _can_be_groups(column) and _differ(place, codes, ranks, ordered=not column.categories)
    ]
    if not found or len(codes) > MOST_COLUMNS:
        return found
    told = [_told_of_others(place, codes) for place in range(len(codes))]
    return [place for place in found if told[place] >= AS_MUCH * max(told)]


def _told_of_others(place: int, codes: list[Array]) -> float:
    """Share of the variation of the other columns that a column explains, on average, beyond chance.

    A person or site is behind all other columns, so that none of these tells more of the rest. A quantity is taken in tenths.
    """
    code, n = codes[place], len(codes[place])
    if code.max() >= n / TENTHS:
        code = (mid_ranks(code.astype(np.float64)) * TENTHS / (n + 1)).astype(np.int64)
    sizes = bincount(code)
    free = max(n - int((sizes > 0).sum()), 1)
    shares = []
    for j, other in enumerate(codes):
        values = mid_ranks(other.astype(np.float64))
        total = float(((values - values.mean()) ** 2).sum())
        if j != place and total > 0:
            means = bincount(code, values) / np.maximum(sizes, 1)
            shares.append(1 - float(((values - means[code]) ** 2).sum()) / free / (total / (n - 1)))
    return float(np.mean(shares)) if shares else 0.0


def _differ(place: int, codes: list[Array], target: FloatArray, ordered: bool) -> bool:
    """Return True if most other columns, and the target, differ between values of a column beyond chance and beyond a trend."""
    others = [other for j, other in enumerate(codes) if j != place and len(np.unique(other)) > 1]
    if not others or not _is_unlike(codes[place], target, ordered):
        return False
    unlike = [_is_unlike(codes[place], mid_ranks(other.astype(np.float64)), ordered) for other in others]
    return sum(unlike) >= max(1, UNLIKE * len(unlike))


def _is_unlike(code: IntArray, values: FloatArray, ordered: bool) -> bool:
    """Return True if the means of groups differ; if groups are numbers, neighbouring ones as much as any."""
    sizes = bincount(code)
    means = bincount(code, values) / sizes
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


def _from_several(places: list[int], columns: list[Column]) -> list[int]:
    """Positions of columns that are constant, or nearly so, within persons or sites that no column names; empty without any."""
    usable = [place for place in places if len(np.unique(columns[place].train)) > 1]
    if not 3 <= len(usable) <= MOST_COLUMNS:
        return []
    some = [columns[place] for place in usable]
    n = len(some[0].train)
    chosen = _equal_together(some, n) or _close_together(some, n)
    return [usable[c] for c in sorted(chosen)] if 2 <= len(chosen) < len(usable) else []  # all columns alike: copies


def _equal_together(columns: list[Column], n: int) -> list[int]:
    """Positions of columns that are equal in the same pairs of rows, far more often than by chance."""
    codes = [np.unique(column.train, return_inverse=True)[1].ravel() for column in columns]
    chance = [float(((size := bincount(code)) * (size - 1.0)).sum() / (n * (n - 1.0))) for code in codes]
    n_values = [int(code.max()) + 1 for code in codes]
    anchors = [
        a for a, chance_a in enumerate(chance) if FEWEST_GROUPS <= n_values[a] <= n * (1 - IN_GROUPS / 2) and chance_a <= ALIKE
    ]
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
    values = np.random.default_rng(SHUFFLE_SEED).permutation(int(code.max()) + 1)
    kept = values[np.cumsum(bincount(code)[values]) <= MOST_ROWS]
    return np.flatnonzero(np.isin(code, kept if len(kept) else values[:1]))


def _n_pairs(code: IntArray) -> float:
    """Number of pairs of rows of equal code."""
    few = code.max() < 8 * len(code)
    sizes = bincount(code) if few else np.unique(code, return_counts=True)[1]
    return float((sizes * (sizes - 1.0)).sum() / 2)


def _close_together(columns: list[Column], n: int) -> list[int]:
    """Positions of columns of quantities that are nearly equal in the same pairs of rows."""
    places = [c for c, column in enumerate(columns) if not column.categories and len(np.unique(column.train)) > n / 2]
    rows = np.random.default_rng(SHUFFLE_SEED).permutation(n)[:MOST_ROWS_IN_PAIRS]
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
    means = bincount(code.ravel(), column.train) / bincount(code.ravel())
    spread = means.var()
    return len(values) < FEWEST_GROUPS or spread == 0 or bool((np.diff(means) ** 2).mean() / (2 * spread) < JUMPS)


def _n_alike(sizes: IntArray) -> float:
    """Number of groups of equal sizes in which two rows fall together as often."""
    return float(sizes.sum() ** 2 / (sizes.astype(np.float64) ** 2).sum())


def _part(columns: list[Column], rows: IntArray) -> Part | None:
    """Make groups of the rows that are equal in all these columns or, if these are few, of those that are close."""
    close = []
    for column in columns:
        values = column.train.astype(np.float64)
        order = np.argsort(values, kind="stable")
        code = np.empty(len(values))
        code[order] = np.concatenate([[0], np.cumsum(np.diff(values[order]) > CLOSE * (np.nanstd(values) or 1.0))])
        close.append(values if column.categories else code)
    names = tuple(column.name for column in columns)
    source = f"found: columns {', '.join(map(repr, names[:-1]))} and {names[-1]!r} together"
    for table in ([column.train.astype(np.float64) for column in columns], close):
        codes = row_codes(np.column_stack(table))
        sizes = bincount(codes[rows])
        # Not one large set of equal rows, such as zeros in both columns, beside small ones.
        if (
            _n_alike(sizes) >= FEWEST_GROUPS
            and (sizes[codes[rows]] > 1).mean() >= IN_GROUPS
            and (sizes > 0).sum() <= len(rows) / 2
        ):
            return Part(codes, source, names, "G2")
    return None
