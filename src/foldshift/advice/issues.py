"""Issues of a table or a split that make an estimate wrong: what was found, how, why it matters, and the remedy."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from foldshift.partition.methods.cosine_features import mid_ranks

if TYPE_CHECKING:
    from foldshift.advice.data import Data
    from foldshift.core.types import Array, BoolArray, FloatArray, IntArray

Severity = Literal["fault", "beware", "note"]
SEVERITIES: tuple[Severity, ...] = ("fault", "beware", "note")  # the worst first
GROUP_NAME = re.compile(
    r"(patient|subject|person|participant|customer|client|user|household|family|site|clinic|hospital|school|batch|plate|group|"
    r"session|device|station|plot|farm|case)[ _-]?(id|nr|no|number|code|name)?$",
    re.IGNORECASE,
)
TIME_NAME = re.compile(r"(^|[ _-])(date|time|timestamp|year|month|day|week|datum|jahr)($|[ _-])", re.IGNORECASE)
GIVEN_AWAY = 0.99  # share of the target's variation that one column alone explains
STRAY = 2  # test rows that a column may get wrong all the same, if chance gets at least ten times as many wrong
ROWS_SEED = 0  # seed of the rows that are sampled from a large table, if the caller brings no generator
MOST_ROWS = 5000  # rows looked at, if time grows with their square, or a tree is grown for every column
NEAR = 1e-3  # share of the usual distance between neighbours: nearer rows are near duplicates
SHARE_NEAR = 0.01  # share of the rows from which (near) duplicates are reported, as "beware"
ORDERED = 0.9  # rank correlation of the target with the row number
FEW_ROWS = 50
ONE_MANY = 0.5  # a column that is constant within groups by chance in this share of them says nothing about the groups
# Words in a text about one column, and about several.
ONE = {word: word for word in ("has", "was", "it", "looks", "says")}
MANY = {"has": "have", "was": "were", "it": "them", "looks": "look", "says": "say"}


class Issue(NamedTuple):
    """Something that makes an estimate wrong, or may."""

    code: str  # short and lasting, such as ``duplicates``
    # ``fault``: the estimate of this split is wrong. ``beware``: it is, unless you know better. ``note``: good to know
    severity: Severity
    found: str  # finding in this table
    how: str  # method of the search
    why: str  # reason why it matters
    remedy: str  # advice on what to do
    where: tuple[Any, ...] = ()  # columns (str) or rows (int, 0-based)


@cache
def _texts() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("issues.toml").read_text(encoding="utf-8"))


def issue_of(section: str, where: Sequence[Any] = (), **words: object) -> Issue:
    """Make an issue from its section of ``issues.toml`` and the words for its braces."""
    text = _texts()[section]
    found, how, why, remedy = (text[part].format(**words) for part in ("found", "how", "why", "remedy"))
    return Issue(text.get("code", section), text["severity"], found, how, why, remedy, tuple(where))


def _about(section: str, names: Sequence[str], **words: object) -> Issue:
    """Make an issue about columns: their names, and verbs in the singular or plural."""
    return issue_of(section, names, names=_listed(names), **(ONE if len(names) == 1 else MANY), **words)


def find_faults(
    data: Data,
    folds: Array | None = None,
    *,
    left_out: dict[str, str] | None = None,
    rng: np.random.Generator | None = None,
    forward: str | None = None,
) -> list[Issue]:
    """Look for issues that make cross-validation of a table wrong.

    Parameters
    ----------
    data : foldshift.advice.data.Data
    folds : ndarray of shape (n_seeds, n), optional
        The user's split, -1 for rows that are never tested.
    left_out : dict of str to str, optional
        Columns that were left out of the table before, and the reasons. One with the word "date" marks a column of dates.
    rng : numpy.random.Generator, optional
        Source of the rows that stand for a large table; by default one with a fixed seed.
    forward : str, optional
        Name of the user's split, if it trains on earlier rows only.

    Returns
    -------
    issues : list of Issue
        The worst first.

    Notes
    -----
    None of these is a test with a level. Each threshold is one that chance does not reach in any table; `make validate
    WHAT=advice` measures them on 20 clean sets.
    """
    rng = np.random.default_rng(ROWS_SEED) if rng is None else rng
    identifiers = [column.name for column in data.columns if column.kind == "identifier"]
    found = [
        *_left_out(left_out or {}),
        *([_about("identifier", identifiers)] if identifiers else []),
        *_giving_away(data, identifiers, rng),
        *_duplicates(data, identifiers, folds, rng),
        *_groups(data, folds, identifiers),
        *_order(data, folds),
        *([issue_of("time_forward", split=f"{forward[0].upper()}{forward[1:]}")] if forward else []),
        *_time(data),
        *_classes(data, folds),
        *([issue_of("few_rows", n=data.n, least=FEW_ROWS)] if data.n < FEW_ROWS else []),
        *_scaled(data),
        *_constant(data),
    ]
    return sorted(found, key=lambda issue: SEVERITIES.index(issue.severity))


def _listed(names: Sequence[str], most: int = 5) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def _left_out(left_out: dict[str, str]) -> Iterator[Issue]:
    """Report columns that the reader left out; dates ask a question even so."""
    dates = [name for name, why in left_out.items() if "date" in why]
    others = [name for name in left_out if name not in dates]
    if dates:
        yield _about("time_left_out", dates)
    if others:
        yield _about("identifier_left_out", others, reasons="; ".join(sorted({left_out[name] for name in others})))


def _giving_away(data: Data, identifiers: list[str], rng: np.random.Generator) -> Iterator[Issue]:
    """Report columns that alone predict the target.

    A small tree is grown on half of the rows and tested on the other half. In a few dozen rows no tree gives a quantity exactly:
    there the order of the values decides.
    """
    rows = rng.permutation(data.n)[:MOST_ROWS]
    half = len(rows) // 2
    train, test = rows[:half], rows[half:]
    target, classes = data.target, data.task == "classification"
    make = DecisionTreeClassifier if classes else DecisionTreeRegressor
    if classes:
        chance = 1 - np.bincount(target[test].astype(int)).max() / len(test)
    else:
        chance = target[test].var()
    if not chance or len(np.unique(target[train])) < 2:
        return
    few = STRAY / len(test) if classes and chance * len(test) >= 10 * STRAY else 0.0
    by_value: list[str] = []
    by_gaps: list[str] = []
    for column in data.columns:
        if column.name in identifiers:
            continue
        values = column.train.astype(np.float64)
        absent = np.isnan(values)
        if not classes and not column.categories and _same_order(values[rows], target[rows]):
            by_value.append(column.name)
            continue
        tries = [(np.where(absent, np.nanmin(values) - 1 if (~absent).any() else 0.0, values), by_value)]
        if 0 < absent.sum() < data.n:
            tries.insert(0, (absent.astype(np.float64), by_gaps))
        for inputs, names in tries:
            model = make(max_leaf_nodes=max(64, 4 * len(data.classes)), min_samples_leaf=2, random_state=ROWS_SEED)
            predicted = model.fit(inputs[train, None], target[train]).predict(inputs[test, None])
            error = (predicted != target[test]).mean() if classes else ((predicted - target[test]) ** 2).mean()
            if error <= max((1 - GIVEN_AWAY) * chance, few):
                names.append(column.name)
                break
    for section, names in (("given_away", by_value), ("given_away_by_gaps", by_gaps)):
        if names:
            yield _about(section, names, target=data.name)


def _same_order(values: FloatArray, target: FloatArray) -> bool:
    """Return True if the ranks of a column explain 99 % of the variation of the target's, rising or falling, gaps aside."""
    known = ~np.isnan(values)
    if known.mean() < GIVEN_AWAY or len(np.unique(values[known])) < 3 or not np.ptp(target[known]):
        return False
    return bool(np.corrcoef(mid_ranks(values[known]), mid_ranks(target[known]))[0, 1] ** 2 >= GIVEN_AWAY)


def _inputs(data: Data, identifiers: list[str]) -> tuple[FloatArray, BoolArray] | None:
    """Inputs without identifiers as numbers without gaps, and a mask of the nominal ones; indicators would be too wide."""
    kept = [column for column in data.columns if column.name not in identifiers]
    if not kept:
        return None
    values = np.column_stack([column.train for column in kept]).astype(np.float64)
    gaps = np.isnan(values)
    values = np.where(gaps, np.nanmin(np.where(gaps, np.inf, values), axis=0, keepdims=True) - 1, values)
    values[:, ~np.isfinite(values).all(axis=0)] = 0.0
    return values, np.array([bool(column.categories) for column in kept])


def _duplicates(data: Data, identifiers: list[str], folds: Array | None, rng: np.random.Generator) -> Iterator[Issue]:
    """Report rows with the same inputs, then rows with nearly the same."""
    kept = _inputs(data, identifiers)
    if kept is None:
        return
    values, nominal = kept
    _, copy_of, counts = np.unique(values, axis=0, return_inverse=True, return_counts=True)
    copy_of = copy_of.ravel()
    alike = counts[copy_of] > 1
    # Few columns of few values repeat by themselves: so many rows are alike if every column is shuffled by itself.
    by_chance = _n_alike(np.column_stack([rng.permutation(column) for column in values.T])) if alike.any() else 0
    if alike.any() and alike.sum() > 3 * by_chance + 3 * (by_chance > 0):
        apart = "" if folds is None else _cut_apart(copy_of, folds)
        rows = np.flatnonzero(alike)[:20].tolist()
        issue = issue_of("duplicates", rows, n_alike=int(alike.sum()), n=data.n, apart=apart)
        yield issue._replace(severity="beware") if alike.mean() >= SHARE_NEAR else issue
    if (~nominal).sum() >= 2 and data.n >= FEW_ROWS:
        yield from _near_duplicates(values, copy_of, rng)


def _near_duplicates(values: FloatArray, copy_of: IntArray, rng: np.random.Generator) -> Iterator[Issue]:
    """Report rows that are near another one, exact copies aside; inputs of shape (n, n_columns)."""
    rows = np.sort(rng.permutation(len(values))[: 4 * MOST_ROWS])
    rows = rows[np.unique(copy_of[rows], return_index=True)[1]]  # one of every set of copies
    if len(rows) <= 3:
        return
    distance = _nearest(StandardScaler().fit_transform(values[rows]), rng)
    usual = np.median(distance)
    near = distance <= NEAR * usual if usual > 0 else np.zeros(len(rows), bool)
    if near.mean() >= SHARE_NEAR:
        yield issue_of("near_duplicates", rows[near][:20].tolist(), n_near=int(near.sum()), n=len(rows))


def _n_alike(values: FloatArray) -> int:
    """Number of rows that another row equals."""
    _, copy_of, counts = np.unique(values, axis=0, return_inverse=True, return_counts=True)
    return int((counts[copy_of.ravel()] > 1).sum())


def _nearest(points: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Distance to the nearest other point; above 5,000 points an upper bound from neighbours along 24 random directions."""
    n = len(points)
    if n <= MOST_ROWS:
        distances: FloatArray = NearestNeighbors(n_neighbors=2, algorithm="auto").fit(points).kneighbors(points)[0]
        return distances[:, 1]
    best = np.full(n, np.inf)
    for direction in rng.standard_normal((24, points.shape[1])):
        # Near copies are neighbours along any direction, so that not all pairs need be looked at.
        order = np.argsort(points @ direction, kind="stable")
        for step in (1, 2, 3):
            gap = np.linalg.norm(points[order[step:]] - points[order[:-step]], axis=1)
            np.minimum.at(best, order[step:], gap)
            np.minimum.at(best, order[:-step], gap)
    return best


def _lowest_and_highest(values: Array, sets: IntArray, n_sets: int) -> tuple[IntArray, IntArray]:
    """Smallest and largest of the whole numbers `values` in every set of rows."""
    low, high = np.full(n_sets, np.iinfo(np.int64).max), np.full(n_sets, -2)
    np.minimum.at(low, sets, values)
    np.maximum.at(high, sets, values)
    return low, high


def _cut_apart(copy_of: IntArray, folds: Array) -> str:
    """Say how many sets of copies the split cuts apart; empty for none."""
    low, high = _lowest_and_highest(folds[0], copy_of, int(copy_of.max()) + 1)
    apart = int((high > low).sum())
    return f"; the split puts {apart} such sets on both sides of a cut" if apart else ""


def _groups(data: Data, folds: Array | None, identifiers: list[str]) -> Iterator[Issue]:
    """Report groups that the split cuts apart; without groups, columns that look like groups."""
    if data.groups is None:
        names = [name for name in _like_groups(data) if name not in identifiers]
        if names:
            yield _about("like_groups", names, first=names[0])
    elif folds is not None:
        cut = np.zeros(data.groups.max() + 1, dtype=bool)
        for row in folds:
            low, high = _lowest_and_highest(row, data.groups, len(cut))
            cut |= high > low
        if cut.any():
            yield issue_of("groups_cut", n_cut=int(cut.sum()), n_groups=len(cut))


def _like_groups(data: Data) -> Iterator[str]:
    """Names of columns whose values may stand for persons or sites with several rows."""
    n = data.n
    codes = [np.unique(column.train, return_inverse=True)[1].ravel() for column in data.columns]
    sizes = [np.bincount(code) for code in codes]
    for column, code, size in zip(data.columns, codes, sizes):
        whole = bool(column.categories) or not (column.train % 1 != 0).any()
        if not whole or not 10 <= len(size) <= n / 2 or (size >= 2).mean() < 0.9:
            continue
        if GROUP_NAME.search(column.name):
            yield column.name
            continue
        # Other columns are constant within most of its values, as age and sex are within a person, although they vary.
        bound = 0
        for other, values, counts in zip(data.columns, codes, sizes):
            if other is column or not 2 <= len(counts) <= len(size) or counts.max() > 0.9 * n:
                continue
            low, high = _lowest_and_highest(values, code, len(size))
            several = size >= 2
            share = (low == high)[several].mean()
            by_chance = ((counts / n)[:, None] ** size[several]).sum(axis=0).mean()
            bound += share >= 0.95 and by_chance < ONE_MANY
        if bound >= 2:
            yield column.name


def _order(data: Data, folds: Array | None) -> Iterator[Issue]:
    """Report rows that are sorted by the target."""
    if data.task == "regression":
        ranks = data.target.argsort(kind="stable").argsort()
        sorted_rows = abs(np.corrcoef(np.arange(data.n), ranks)[0, 1]) >= ORDERED
    else:
        changes = int((np.diff(data.target) != 0).sum())
        expected = (1 - ((np.bincount(data.target.astype(int)) / data.n) ** 2).sum()) * (data.n - 1)
        sorted_rows = expected >= 10 and changes <= (1 - ORDERED) * expected
    if sorted_rows:
        in_blocks = folds is not None and all(_contiguous(row) for row in folds)
        yield issue_of("sorted_blocks" if in_blocks else "sorted", target=data.name)


def _contiguous(row: Array) -> bool:
    tested = row[row >= 0]
    return len(tested) > 1 and bool((np.diff(tested) != 0).sum() == len(np.unique(tested)) - 1)


def _time(data: Data) -> Iterator[Issue]:
    """Report columns of dates, and columns with such a name that grow with the row number."""
    dates = [column.name for column in data.columns if column.kind == "date"]
    names = [
        column.name
        for column in data.columns
        if column.kind != "date" and TIME_NAME.search(column.name) and _never_falls(column.train)
    ]
    if dates or names:
        yield _about("time", [*dates, *names])


def _never_falls(values: Array) -> bool:
    known = values[~np.isnan(values.astype(np.float64))]
    return len(known) > 1 and len(np.unique(known)) > 1 and bool((np.diff(known) >= 0).all())


def _classes(data: Data, folds: Array | None) -> Iterator[Issue]:
    """Report classes with fewer rows than there are folds; ten folds if no split is given."""
    if data.task != "classification":
        return
    n_folds = 10 if folds is None else int(folds.max()) + 1
    counts = np.bincount(data.target.astype(int))
    few = [f"{data.classes[code]!r} ({count})" for code, count in enumerate(counts) if count < n_folds]
    if few:
        yield issue_of("rare_class", classes=", ".join(few[:5]) + (" and more" if len(few) > 5 else ""), n_folds=n_folds)


def _scaled(data: Data) -> Iterator[Issue]:
    """Report numeric columns that were standardised on all rows, if they are at least half of them."""
    names = []
    for column in data.columns:
        if column.categories:
            continue
        values = column.train[~np.isnan(column.train)]
        if len(np.unique(values)) > 2 and abs(values.mean()) < 1e-6 and abs(values.std(ddof=0) - 1) < 1e-6 + 1 / len(values):
            names.append(column.name)
    if len(names) >= 2 and len(names) >= 0.5 * sum(not column.categories for column in data.columns):
        yield _about("scaled_before", names)


def _constant(data: Data) -> Iterator[Issue]:
    names = [column.name for column in data.columns if len(np.unique(column.train[~np.isnan(column.train)])) < 2]
    if names:
        yield _about("constant", names)
