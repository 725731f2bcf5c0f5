"""Faults of a table or of a split that make an estimate wrong: what was found, how, why it matters, and how to mend it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from foldshift.partition.methods.cosine_features import mid_ranks

if TYPE_CHECKING:
    from foldshift.advice.data import Data
    from foldshift.core.types import Array, BoolArray, FloatArray, IntArray

SEVERITIES = ("fault", "beware", "note")
GROUP_NAME = re.compile(
    r"(patient|subject|person|participant|customer|client|user|household|family|site|clinic|hospital|school|batch|plate|group|"
    r"session|device|station|plot|farm|case)[ _-]?(id|nr|no|number|code|name)?$",
    re.IGNORECASE,
)
TIME_NAME = re.compile(r"(^|[ _-])(date|time|timestamp|year|month|day|week|datum|jahr)($|[ _-])", re.IGNORECASE)
GIVEN_AWAY = 0.99  # of the target's variation by one column alone
STRAY = 2  # test rows that a column may get wrong all the same, of ten times as many or more that chance gets wrong
ROWS_SEED = 0  # which rows stand for a large table, where the caller brings no generator
MOST_ROWS = 5000  # that are looked at where time grows with the square of the rows, or a tree is grown for every column
NEAR = 1e-3  # of the usual distance between neighbours: nearer rows are the same one twice
SHARE_NEAR = 0.01  # of the rows, from which near duplicates are a fault
ORDERED = 0.9  # rank correlation of the target with the number of the row
FEW_ROWS = 50
ONE_MANY = 0.5  # of a column's groups, from which on another column is constant within them by more than chance


class Fault(NamedTuple):
    """Something that makes an estimate wrong, or may.

    Attributes
    ----------
    code : str
        Short and lasting, such as ``duplicates``.
    severity : {"fault", "beware", "note"}
        ``fault``: the estimate of this split is wrong. ``beware``: it is, unless you know better. ``note``: good to know.
    found : str
        What was found, in this table.
    how : str
        How it was looked for.
    why : str
        Why it matters.
    mend : str
        What to do.
    where : tuple
        Columns, or rows.
    """

    code: str
    severity: str
    found: str
    how: str
    why: str
    mend: str
    where: tuple[Any, ...] = ()


def find_faults(
    data: Data,
    folds: Array | None = None,
    *,
    left_out: dict[str, str] | None = None,
    rng: np.random.Generator | None = None,
    forward: str | None = None,
) -> list[Fault]:
    """Look for what makes cross-validation of a table wrong.

    Parameters
    ----------
    data : foldshift.advice.data.Data
    folds : ndarray of shape (n_seeds, n), optional
        The user's own split, -1 for rows that are never tested.
    left_out : dict of str to str, optional
        Columns that were left out of the table before, and why.
    rng : numpy.random.Generator, optional
        Source of the rows that stand for a large table; by default one with a fixed seed.
    forward : str, optional
        Name of the user's own split, where it trains on earlier rows only.

    Returns
    -------
    faults : list of Fault
        The worst first.

    Notes
    -----
    None of these is a test with a level: a threshold says from when on a thing is no chance in any table. They are measured on 20
    clean sets by `make validate WHAT=advice`.
    """
    rng = np.random.default_rng(ROWS_SEED) if rng is None else rng
    identifiers = [column.name for column in data.columns if column.kind == "identifier"]
    found = [
        *_left_out(left_out or {}),
        *_identifiers(data),
        *_giving_away(data, identifiers, rng),
        *_duplicates(data, identifiers, folds, rng),
        *_groups(data, folds, identifiers),
        *_order(data, folds),
        *_forward(forward),
        *_time(data),
        *_classes(data, folds),
        *_size(data),
        *_scaled(data),
        *_constant(data),
    ]
    return sorted(found, key=lambda fault: SEVERITIES.index(fault.severity))


def _names(names: Sequence[str], most: int = 5) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def _left_out(left_out: dict[str, str]) -> Iterator[Fault]:
    """Columns that reading left out: dates ask a question even so."""
    dates = tuple(name for name, why in left_out.items() if "date" in why)
    others = tuple(name for name in left_out if name not in dates)
    if dates:
        yield _of_time(dates, "left out of the inputs", "Else nothing: as it is left out, no model reads the time from it.")
    if others:
        yield Fault(
            "identifier",
            "note",
            f"{_names(others)} {'was' if len(others) == 1 else 'were'} left out: "
            + "; ".join(sorted({left_out[name] for name in others}))
            + ".",
            "Whole numbers that number the rows, and texts that differ in nearly every row.",
            "A learner can read the order of collection from a number of rows, and learns nothing that new rows will have.",
            "Nothing, if that is right.",
            others,
        )


def _identifiers(data: Data) -> Iterator[Fault]:
    names = [column.name for column in data.columns if column.kind == "identifier"]
    if names:
        yield Fault(
            "identifier",
            "beware",
            f"{_names(names)} {'has' if len(names) == 1 else 'have'} as many values as there are rows.",
            "Texts of which 95 % differ; whole numbers that all differ and fill half of their range, or bear a name such as id.",
            "A learner can read the order of collection from a number of rows, and learns nothing that new rows will have.",
            f"Leave {'it' if len(names) == 1 else 'them'} out of X.",
            tuple(names),
        )


def _giving_away(data: Data, identifiers: list[str], rng: np.random.Generator) -> Iterator[Fault]:
    """Columns that alone give the target: by a small tree on half of the rows, tested on the other half; in a few dozen rows no
    tree gives a quantity exactly, and the order of the values tells.
    """
    rows = rng.permutation(data.n)[:MOST_ROWS]
    half = len(rows) // 2
    train, test = rows[:half], rows[half:]
    target, names, gaps = data.target, [], []
    classes = data.task == "classification"
    make = DecisionTreeClassifier if classes else DecisionTreeRegressor
    if classes:
        chance = 1 - np.bincount(target[test].astype(int)).max() / len(test)
    else:
        chance = target[test].var()
    if not chance or len(np.unique(target[train])) < 2:
        return
    for column in data.columns:
        if column.name in identifiers:
            continue
        values = column.train.astype(np.float64)
        absent = np.isnan(values)
        if not classes and not column.categories and _same_order(values[rows], target[rows]):
            names.append(column.name)
            continue
        tries = [(np.where(absent, np.nanmin(values) - 1 if (~absent).any() else 0.0, values), names)]
        if 0 < absent.sum() < data.n:
            tries.insert(0, (absent.astype(np.float64), gaps))
        for inputs, into in tries:
            model = make(max_leaf_nodes=max(64, 4 * len(data.classes)), min_samples_leaf=2, random_state=ROWS_SEED)
            said = model.fit(inputs[train, None], target[train]).predict(inputs[test, None])
            error = (said != target[test]).mean() if classes else ((said - target[test]) ** 2).mean()
            few = STRAY / len(test) if classes and chance * len(test) >= 10 * STRAY else 0.0
            if error <= max((1 - GIVEN_AWAY) * chance, few):
                into.append(column.name)
                break
    for some, code, what in ((names, "given_away", "the value"), (gaps, "given_away_by_gaps", "whether a value is missing")):
        if some:
            yield Fault(
                code,
                "beware",
                f"{_names(some)}: {what} alone gives {data.name} away, in nearly every row.",
                "A small tree on this column alone, grown on half of the rows and tested on the other half; for a quantity, rank "
                "correlation too.",
                "Such a column is often the target in other words, or known only after it; a score with it is of no use.",
                "Ask when its value is known. If not before the target, leave it out of X.",
                tuple(some),
            )


def _same_order(values: FloatArray, target: FloatArray) -> bool:
    """Whether the ranks of a column give 99 % of the variation of the target's, rising or falling, where it has values."""
    known = ~np.isnan(values)
    if known.mean() < GIVEN_AWAY or len(np.unique(values[known])) < 3 or not np.ptp(target[known]):
        return False
    return np.corrcoef(mid_ranks(values[known]), mid_ranks(target[known]))[0, 1] ** 2 >= GIVEN_AWAY


def _inputs(data: Data, identifiers: list[str]) -> tuple[FloatArray, BoolArray] | None:
    """Inputs as numbers without gaps, scaled, identifiers left out; codes of categories as indicators would be too wide."""
    kept = [column for column in data.columns if column.name not in identifiers]
    if not kept:
        return None
    values = np.column_stack([column.train for column in kept]).astype(np.float64)
    gaps = np.isnan(values)
    values = np.where(gaps, np.nanmin(np.where(gaps, np.inf, values), axis=0, keepdims=True) - 1, values)
    values[:, ~np.isfinite(values).all(axis=0)] = 0.0
    return values, np.array([bool(column.categories) for column in kept])


def _duplicates(data: Data, identifiers: list[str], folds: IntArray, rng: np.random.Generator) -> Iterator[Fault]:
    kept = _inputs(data, identifiers)
    if kept is None:
        return
    values, nominal = kept
    _, which, counts = np.unique(values, axis=0, return_inverse=True, return_counts=True)
    which = which.ravel()
    twice = counts[which] > 1
    share = twice.mean()
    # Few columns of few values repeat by themselves: so many rows are alike where every column is shuffled by itself.
    by_chance = _alike(np.column_stack([rng.permutation(column) for column in values.T])) if twice.any() else 0
    if twice.any() and twice.sum() > 3 * by_chance + 3 * (by_chance > 0):
        apart = "" if folds is None else _cut_apart(which, folds)
        yield Fault(
            "duplicates",
            "beware" if share >= SHARE_NEAR else "note",
            f"{int(twice.sum())} of {data.n} rows have the same inputs as another row{apart}.",
            "All columns but identifiers, compared exactly; three times as many as where every column is shuffled by itself.",
            "A copy in the test part is one that the model has seen: the estimate is too good.",
            "If copies are the same case, keep one of each. If new data will repeat cases too, keep them; else give "
            "groups= with one number for all copies of a case.",
            tuple(np.flatnonzero(twice)[:20].tolist()),
        )
    numeric = ~nominal
    if numeric.sum() < 2 or data.n < FEW_ROWS:
        return
    rows = np.sort(rng.permutation(data.n)[: 4 * MOST_ROWS])
    first = np.unique(which[rows], return_index=True)[1]  # one of every set of copies
    rows = rows[first]
    scaled = StandardScaler().fit_transform(values[rows]) if len(rows) > 3 else None
    if scaled is None:
        return
    # Rows next to each other along a random direction are looked at, and not all pairs: near copies are near along any.
    distance = _nearest(scaled, rng)
    usual = np.median(distance)
    near = distance <= NEAR * usual if usual > 0 else np.zeros(len(rows), bool)
    if near.mean() >= SHARE_NEAR:
        yield Fault(
            "near_duplicates",
            "beware",
            f"{int(near.sum())} of {len(rows)} rows looked at have another one nearer than a thousandth of the usual distance.",
            "Distance to the nearest other row, inputs scaled to standard deviation one; exact copies count once.",
            "Rows that were measured twice, or made from each other, stand on both sides of a cut: the estimate is too good.",
            "Find out where they come from; give groups= with one number for all rows of one origin.",
            tuple(rows[near][:20].tolist()),
        )


def _alike(values: FloatArray) -> int:
    """Number of rows that another row equals."""
    _, which, counts = np.unique(values, axis=0, return_inverse=True, return_counts=True)
    return int((counts[which.ravel()] > 1).sum())


def _nearest(points: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Distance to the nearest other point; above 5,000 points an upper bound from neighbours along 24 random directions."""
    n = len(points)
    if n <= MOST_ROWS:
        return NearestNeighbors(n_neighbors=2, algorithm="auto").fit(points).kneighbors(points)[0][:, 1]
    best = np.full(n, np.inf)
    for direction in rng.standard_normal((24, points.shape[1])):
        order = np.argsort(points @ direction, kind="stable")
        for step in (1, 2, 3):
            gap = np.linalg.norm(points[order[step:]] - points[order[:-step]], axis=1)
            np.minimum.at(best, order[step:], gap)
            np.minimum.at(best, order[:-step], gap)
    return best


def _cut_apart(which: IntArray, folds: IntArray) -> str:
    """In words, how many sets of rows that belong together the split cuts apart."""
    n_sets, apart = int(which.max()) + 1, 0
    low, high = np.full(n_sets, np.iinfo(np.int64).max), np.full(n_sets, -2)
    np.minimum.at(low, which, folds[0])
    np.maximum.at(high, which, folds[0])
    apart = int((high > low).sum())
    return f"; the split puts {apart} such sets on both sides of a cut" if apart else ""


def _groups(data: Data, folds: IntArray, identifiers: list[str]) -> Iterator[Fault]:
    if data.groups is not None and folds is not None:
        cut = np.zeros(data.groups.max() + 1, dtype=bool)
        for row in folds:
            low, high = np.full(len(cut), np.iinfo(np.int64).max), np.full(len(cut), -2)
            np.minimum.at(low, data.groups, row)
            np.maximum.at(high, data.groups, row)
            cut |= high > low
        if cut.any():
            yield Fault(
                "groups_cut",
                "fault",
                f"The split cuts {int(cut.sum())} of {len(cut)} groups apart.",
                "Folds of the rows of every group.",
                "The model is tested on persons, sites or days that it was trained on: the estimate is too good for new ones.",
                "Use a splitter that keeps groups together, such as the one recommended here.",
            )
    if data.groups is not None:
        return
    names = [name for name in _like_groups(data) if name not in identifiers]
    if names:
        yield Fault(
            "like_groups",
            "beware",
            f"{_names(names)} {'looks' if len(names) == 1 else 'look'} like rows that belong together, such as several of one "
            "person, and no groups= were given.",
            "Columns with at least ten values, nearly all of which stand in several rows, whose name says so or within whose "
            "values other columns are constant.",
            "Folds that are cut by rows test the model on persons or sites that it has seen: the estimate is too good for new "
            "ones.",
            f"If new data bring new ones, give groups= with that column, and leave it out of X: groups=X[{names[0]!r}].",
            tuple(names),
        )


def _like_groups(data: Data) -> Iterator[str]:
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
        # Constant within most of its values, as age and sex are within a person, although it varies between them.
        bound = 0
        for other, values, counts in zip(data.columns, codes, sizes):
            if other is column or not 2 <= len(counts) <= len(size) or counts.max() > 0.9 * n:
                continue
            low, high = np.full(len(size), n), np.full(len(size), -1)
            np.minimum.at(low, code, values)
            np.maximum.at(high, code, values)
            several = size >= 2
            share = (low == high)[several].mean()
            by_chance = ((counts / n)[:, None] ** size[several]).sum(axis=0).mean()
            bound += share >= 0.95 and by_chance < ONE_MANY
        if bound >= 2:
            yield column.name


def _order(data: Data, folds: IntArray) -> Iterator[Fault]:
    place = np.arange(data.n)
    if data.task == "regression":
        ranks = data.target.argsort(kind="stable").argsort()
        sorted_rows = abs(np.corrcoef(place, ranks)[0, 1]) >= ORDERED
    else:
        changes = int((np.diff(data.target) != 0).sum())
        expected = (1 - ((np.bincount(data.target.astype(int)) / data.n) ** 2).sum()) * (data.n - 1)
        sorted_rows = expected >= 10 and changes <= (1 - ORDERED) * expected
    if not sorted_rows:
        return
    blocks = folds is not None and all(_contiguous(row) for row in folds)
    yield Fault(
        "sorted_blocks" if blocks else "sorted",
        "fault" if blocks else "note",
        f"The rows are sorted by {data.name}"
        + (
            ", and the folds are blocks of rows in that order." if blocks else "; the folds recommended here are drawn at random."
        ),
        "Rank correlation of the target with the number of the row above .9; or a tenth of the changes of class that a "
        "random order has.",
        "Folds without shuffling test on classes or sizes that training lacked: the estimate is far too bad.",
        "Say shuffle=True and a random_state, or take the splitter recommended here.",
    )


def _contiguous(row: IntArray) -> bool:
    tested = row[row >= 0]
    return len(tested) > 1 and (np.diff(tested) != 0).sum() == len(np.unique(tested)) - 1


def _time(data: Data) -> Iterator[Any]:
    dates = [column.name for column in data.columns if column.kind == "date"]
    names = [
        column.name
        for column in data.columns
        if column.kind != "date" and TIME_NAME.search(column.name) and _runs_on(column.train)
    ]
    if dates or names:
        yield _of_time((*dates, *names), "an input", "Else leave the column out of X.")


def _forward(name: str | None) -> Iterator[Any]:
    """A split in time answers another question than folds at random, which are what is measured here."""
    if name:
        yield Fault(
            "time",
            "beware",
            f"{name[0].upper()}{name[1:]} tests rows behind those that it trains on; the score given here is one of folds at "
            "random.",
            "Places of the training and the test rows of every part.",
            "If the rows are in order of time and the model will predict the future, random folds let it learn from the future "
            "of its test rows.",
            "To predict the future from rows in order of time, keep your split and print its scores; the score given here is "
            "about new rows of the same time.",
        )


def _of_time(names: tuple[Any, ...], what: str, else_: str) -> Fault:
    one = len(names) == 1
    return Fault(
        "time",
        "beware",
        f"{_names(names)} {'says' if one else 'say'} when a row was taken ({what}).",
        "Columns of dates; columns with such a name that grow with the number of the row.",
        "If the model will predict the future, random folds let it learn from the future of its test rows.",
        f"For that question test on later rows than those trained on: scikit-learn's TimeSeriesSplit. {else_}",
        tuple(names),
    )


def _runs_on(values: FloatArray) -> Any:
    known = values[~np.isnan(values.astype(np.float64))]
    return len(known) > 1 and len(np.unique(known)) > 1 and (np.diff(known) >= 0).all()


def _classes(data: Data, folds: IntArray) -> Iterator[Any]:
    if data.task != "classification":
        return
    counts = np.bincount(data.target.astype(int))
    k = 10 if folds is None else int(folds.max()) + 1
    few = [f"{data.classes[code]!r} ({count})" for code, count in enumerate(counts) if count < k]
    if few:
        yield Fault(
            "rare_class",
            "beware",
            f"{', '.join(few[:5])}{' and more' if len(few) > 5 else ''}: fewer rows than the {k} folds.",
            "Rows of every class against the number of folds.",
            "Some folds test on none of them, and with one row of a class it is never both trained and tested: what the score "
            "says of it is chance.",
            "Take fewer folds, join classes, or say that nothing can be said of this class; no cut makes up for rows.",
        )


def _size(data: Data) -> Iterator[Fault]:
    if data.n >= FEW_ROWS:
        return
    yield Fault(
        "few_rows",
        "beware",
        f"The table has {data.n} rows.",
        f"Fewer than {FEW_ROWS}.",
        "An error rate of 20 % is known to within 11 points or worse, however often it is cross-validated.",
        "Say the interval, not the score; compare no learners on these rows.",
    )


def _scaled(data: Data) -> Iterator[Any]:
    names = []
    for column in data.columns:
        if column.categories:
            continue
        values = column.train[~np.isnan(column.train)]
        if len(np.unique(values)) > 2 and abs(values.mean()) < 1e-6 and abs(values.std(ddof=0) - 1) < 1e-6 + 1 / len(values):
            names.append(column.name)
    if len(names) >= 2 and len(names) >= 0.5 * sum(not column.categories for column in data.columns):
        yield Fault(
            "scaled_before",
            "note",
            f"{_names(names)} {'has' if len(names) == 1 else 'have'} mean 0 and standard deviation 1 on all rows.",
            "Mean and standard deviation of every numeric column.",
            "Scaling on all rows lets the training part see the test part. It harms little; selecting columns or filling gaps "
            "in the same way harms much.",
            "Put whatever is estimated from rows into a scikit-learn Pipeline with the learner.",
            tuple(names),
        )


def _constant(data: Data) -> Iterator[Any]:
    names = [column.name for column in data.columns if len(np.unique(column.train[~np.isnan(column.train)])) < 2]
    if names:
        yield Fault(
            "constant",
            "note",
            f"{_names(names)} {'has' if len(names) == 1 else 'have'} a single value.",
            "Number of different values.",
            "It tells nothing, and some learners cannot scale it.",
            f"Leave {'it' if len(names) == 1 else 'them'} out.",
            tuple(names),
        )
