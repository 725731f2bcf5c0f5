"""Preparation of a parsed table: drop rows with missing values, order rows, scale, convert to arrays."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foldshift.core.counting import bincount
from foldshift.core.errors import DataError
from foldshift.core.remedies import Message, Remedy, at
from foldshift.datasets.dataset import Dataset
from foldshift.datasets.readers.raw_table import missing_counts, row_texts
from foldshift.datasets.sources.download import one_line

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, FloatArray, IntArray, Scaling, Task
    from foldshift.datasets.readers.raw_table import RawTable

MAX_CHARACTERS = 2**26  # of names or labels as NumPy stores them, all as wide as the widest
SMALL = 10  # rows of a class; the usual number of folds
SCALINGS = ("global", "fold", "none")
BY_STRUCTURE = "the table of cuts by structure has"


def prepare(
    table: RawTable,
    name: str,
    task: Task,
    *,
    scaling: Scaling = "global",
    expected_rows: int | None = None,
    expected_features: int | None = None,
    groups: ArrayLike | None = None,
) -> Dataset:
    """Make a data set from a parsed table.

    Rows with missing values are dropped. The others are sorted by `row_order`. Results per seed depend on the order of rows, so
    this order is the same for every source of the table, and unrelated to any value.

    Parameters
    ----------
    table : foldshift.datasets.readers.raw_table.RawTable
        The parsed table.
    name : str
        Identifier, for messages.
    task : {"regression", "classification"}
        Kind of the target: a number or a class.
    scaling : {"global", "fold", "none"}, default="global"
        ``global`` scales numeric inputs and a regression target to [0, 1] by ``(x - min) / (max - min)`` over all rows; inputs
        are scaled by declared ranges if the option ``ranges`` of the source says so. A constant column becomes 0.
    expected_rows, expected_features : int, optional
        Counts from the catalogue; a difference becomes a note.
    groups : array-like of shape (n_rows,), optional
        Group or source of every row of the table, including rows with missing values. The default is the table's column of
        groups, if there is one.

    Returns
    -------
    data : Dataset

    Raises
    ------
    DataError
        If nothing can be learned: fewer than two rows, no inputs, a single target value, a target that does not suit the task,
        or infinite numbers. The message names the data set.

    Examples
    --------
    >>> import pandas as pd
    >>> from foldshift.datasets.readers.parquet import read_frame
    >>> from foldshift.datasets import prepare
    >>> frame = pd.DataFrame({"size": [1.0, 2.0, 3.0], "colour": ["red", "blue", "red"], "price": [1.5, 2.5, 3.5]})
    >>> data = prepare(read_frame(frame, target="price"), "mine", "regression")
    >>> data.kinds, data.categories
    (('integer', 'nominal'), ((), ('blue', 'red')))
    >>> data.target_range, sorted(data.y.tolist())
    ((1.5, 3.5), [0.0, 0.5, 1.0])
    """
    if scaling not in SCALINGS:
        raise DataError(f"data set {name}: scaling={scaling!r} must be one of {', '.join(SCALINGS)}")
    if groups is None and table.groups:
        groups = table.frame[table.groups].to_numpy(dtype=object)
    features = table.features
    _check_size(features, f"data set {name}: the names of its columns")
    if not features:
        raise DataError(
            f"data set {name}: no inputs, only the target {table.target[:60]!r}; give a table with at least one more column"
        )
    complete = np.flatnonzero(table.complete())
    n_dropped = len(table.frame) - len(complete)
    if n_dropped and len(complete) == 0:
        raise DataError(f"data set {name}: all {n_dropped} rows have missing values; ", _where_missing(table))
    if len(complete) < 2:
        raise DataError(
            f"data set {name}: {len(complete)} of {len(table.frame)} rows without missing values; at least 2 are needed"
        )
    if groups is not None and np.shape(groups) != (len(table.frame),):
        raise DataError(
            f"data set {name}: groups of shape {np.shape(groups)} for a table of {len(table.frame)} rows; give one per row"
        )
    rows = complete[row_order(row_texts(table))]
    frame = table.frame.iloc[rows]

    inputs = [_input(frame[feature], feature, table, name, scaling) for feature in features]
    y, classes, target_range = _target(frame[table.target], table, task, name, scaling)
    return Dataset(
        name=name,
        task=task,
        X=np.ascontiguousarray(np.column_stack([column.values for column in inputs])),
        y=y,
        feature_names=tuple(features),
        kinds=tuple(table.kinds[feature] for feature in features),
        categories=tuple(column.labels for column in inputs),
        classes=classes,
        groups=None if groups is None else _codes(np.asarray(groups)[rows]) if table.groups else np.asarray(groups)[rows],
        target=table.target,
        target_range=target_range,
        feature_ranges=np.array([column.range for column in inputs]),
        scaling=scaling,
        rows=rows,
        n_dropped=n_dropped,
        coordinates=frame[list(table.space_on)].to_numpy(dtype=np.float64) if table.space_on else None,
        times=_numbers(frame[table.time_on], f"data set {name}: the times {table.time_on[:60]!r}") if table.time_on else None,
        subsets=_labels(frame[table.subset_on], f"data set {name}: the subsets") if table.subset_on else None,
        constant_features=tuple(feature for feature, column in zip(features, inputs) if column.is_constant),
        notes=(
            *table.notes,
            *(_own_notes(table, n_dropped, y, classes) if table.own else ()),
            *_group_notes(table, rows),
            *_structure_notes(table, rows),
            *_count_notes(len(rows), len(features), expected_rows, expected_features),
        ),
    )


def row_order(texts: Sequence[str]) -> IntArray:
    """Sort rows by the SHA-256 of their text, so that the order does not depend on the source; return their positions.

    A repeated row is hashed with the number of times it occurred before. Otherwise equal rows would be neighbours, which matters
    where the order of rows breaks ties: TSCV would separate every two of them, and among samples at equal distances the nearest
    would be copies of one row.
    """
    seen: Counter[str] = Counter()
    digests = []
    for text in texts:
        digests.append(hashlib.sha256(f"{text}\n{seen[text]}".encode() if seen[text] else text.encode()).digest())
        seen[text] += 1
    return np.array(sorted(range(len(digests)), key=digests.__getitem__), dtype=np.int64)


def _where_missing(table: RawTable) -> Message:
    """Write which columns lack values, and the remedy."""
    counts, n = missing_counts(table), len(table.frame)
    empty = [name for name, count in counts.items() if count == n]
    if empty:
        what = (
            f"column {one_line(empty[0], 60)!r} has none at all" if len(empty) == 1 else f"{len(empty)} columns have none at all"
        )
        if table.target in empty:
            return Message(f"{what}; fill in the target" if len(empty) == 1 else f"{what}, the target among them; fill it in")
        return Message(f"{what}; leave {'it' if len(empty) == 1 else 'them'} out: ", Remedy("drop", tuple(empty)))
    shown = ", ".join(f"{one_line(name, 60)} {count}" for name, count in list(counts.items())[:5])
    worst = [name for name in counts if name != table.target][:1]
    return Message(f"missing are {shown} of {n}; fill them in, or leave out columns: ", Remedy("drop", tuple(worst)))


def _codes(labels: Array) -> IntArray:
    """Number groups in sorted order of their labels."""
    return np.unique(labels.astype(str), return_inverse=True)[1].astype(np.int64)


def _labels(column: pd.Series, what: str) -> Array:
    """Return the labels of all rows as texts."""
    texts = column.astype(str).to_numpy(dtype=object)
    _check_size(texts, f"{what}, by row,")
    return texts.astype(np.str_)


def _group_notes(table: RawTable, rows: IntArray) -> tuple[str, ...]:
    """Note the number of groups, and which partitioners keep them together."""
    if not table.groups:
        return ()
    sizes = table.frame[table.groups].iloc[rows].value_counts()
    sizes = sizes[sizes > 0]
    column = one_line(table.groups, 60)
    return (
        f"groups of column {column}: {len(sizes)}, the largest of {sizes.max()} rows; CB-TSCV, CB-SCV and CB-CV keep them "
        "together, the other partitioners do not",
    )


def _structure_notes(table: RawTable, rows: IntArray) -> list[str]:
    """Note the columns of time, place and subset, and which cuts heed them."""
    notes = []
    if table.time_on:
        notes.append(f"time of every row by the column {one_line(table.time_on, 60)}: no input; {BY_STRUCTURE} FORWARD")
    if table.space_on:
        columns = ", ".join(one_line(name, 60) for name in table.space_on)
        what = f"place of every row by the columns {columns}: BLOCKS keeps near rows together, the other partitioners do not"
        notes.append(what)
    if table.subset_on:
        n = table.frame[table.subset_on].iloc[rows].nunique()
        what = f"subset of every row by the column {one_line(table.subset_on, 60)}: {n}, no input"
        notes.append(f"{what}; {BY_STRUCTURE} SAME, OTHER and ALL")
    return notes


def _own_notes(table: RawTable, n_dropped: int, y: Array, classes: tuple[str, ...]) -> list[str]:
    """Note lost rows and classes, and small classes, of a user-defined file."""
    notes = []
    if n_dropped:
        shown = ", ".join(f"{one_line(name, 60)} {count}" for name, count in list(missing_counts(table).items())[:12])
        notes.append(f"{n_dropped} of {len(table.frame)} rows dropped, for they lack values: {shown}")
    if not classes:
        if len(np.unique(y)) == 2:
            notes.append(
                Message(
                    f"the target {one_line(table.target, 60)} has two values; if they are classes: ",
                    Remedy("task", "classification"),
                )
            )
        return notes
    lost = set(map(str, table.frame[table.target].dropna().unique())) - set(classes)
    if lost:
        notes.append(f"no complete row is left of the classes {', '.join(one_line(name, 30) for name in sorted(lost)[:12])}")
    sizes = bincount(y, minlength=len(classes))
    small = [f"{one_line(classes[code], 30)} ({sizes[code]})" for code in np.argsort(sizes, kind="stable") if sizes[code] < SMALL]
    if small:
        shown = ", ".join(small[:12]) + (", ..." if len(small) > 12 else "")
        notes.append(
            f"classes of fewer than {SMALL} rows: {shown}; where there are more folds than rows, test parts lack the class"
        )
    return notes


def describe(data: Dataset, table: RawTable | None = None) -> dict[str, Any]:
    """Describe a prepared data set without its values, ready for JSON: for Table 1, and for archives, which hold no data.

    The parsed `table` adds the columns with missing values and those that were left out.
    """
    return {
        "name": data.name,
        "task": data.task,
        "scaling": data.scaling,
        "n_rows": data.X.shape[0],
        "n_features": data.X.shape[1],
        "n_dropped": data.n_dropped,
        "feature_names": list(data.feature_names),
        "kinds": list(data.kinds),
        "constant_features": list(data.constant_features),
        "target": data.target,
        "target_values": len(np.unique(data.y)),
        "target_range": list(data.target_range),
        "classes": list(data.classes),
        "class_sizes": bincount(data.y, minlength=len(data.classes)).tolist() if data.classes else [],
        "missing": {} if table is None else missing_counts(table),
        "left_out": {} if table is None else dict(table.left_out),
        "notes": [at(note, "workflow") for note in data.notes],
        **({} if table is None or not table.own else {"receipt": table.receipt.rows("workflow")}),
    }


class _Input(NamedTuple):
    """Values of an input (codes if nominal), its category labels, the range it is scaled by, and whether it has one value."""

    values: FloatArray
    labels: tuple[str, ...]
    range: tuple[float, float]
    is_constant: bool


def _input(column: pd.Series, feature: str, table: RawTable, name: str, scaling: Scaling) -> _Input:
    """Convert an input to numbers, scaled if it is numeric and `scaling` is global."""
    labels: tuple[str, ...] = ()
    is_nominal = table.kinds[feature] == "nominal"
    if is_nominal:
        values = column.cat.codes.to_numpy(dtype=np.float64)
        labels = tuple(str(label) for label in column.cat.categories)
    else:
        values = _numbers(column, f"data set {name}: input {feature[:60]!r}")
    low, high = float(values.min()), float(values.max())
    least, most = _declared(table, feature, low, high, name)
    _check_size(labels, f"data set {name}: the labels of input {feature[:60]!r}")
    if scaling == "global" and not is_nominal:
        values = _scaled(values, least, most)
    return _Input(values, labels, (least, most), low == high)


def _check_size(texts: Sequence[str] | pd.Index, what: str) -> None:
    """Raise an error if names or labels would take too much memory."""
    if len(texts) * max(map(len, texts), default=0) > MAX_CHARACTERS:
        raise DataError(f"{what} are too long ({len(texts)}, up to {max(map(len, texts))} characters); shorten or drop them")


def _numbers(column: pd.Series, what: str) -> FloatArray:
    """Return the values of a numeric column, without negative zeros, in which sources differ."""
    values = column.to_numpy(dtype=np.float64) + 0.0
    if not np.isfinite(values).all():
        bad = column.index[~np.isfinite(values)]
        raise DataError(
            f"{what} holds {len(bad)} infinite value{'s' * (len(bad) > 1)}, the first in row {int(bad.min()) + 1}; only finite "
            "numbers can be used: fix the file, or say which text stands for a missing value, such as ",
            Remedy("missing", ("inf",)),
        )
    if np.ptp(values / 2) > np.finfo(np.float64).max / 2:
        raise DataError(f"{what} ranges from {values.min():g} to {values.max():g}, too far for double precision; change its unit")
    return values


class _Target(NamedTuple):
    """Target as codes or numbers, labels of its classes, and its range before scaling (0 to 0 for classes)."""

    y: Array
    classes: tuple[str, ...]
    range: tuple[float, float]


def _target(column: pd.Series, table: RawTable, task: Task, name: str, scaling: Scaling) -> _Target:
    """Convert the target to codes of classes, or to numbers, and check that something can be predicted."""
    if task == "classification":
        if table.kinds[table.target] != "nominal":
            raise DataError(
                f"data set {name}: the target {table.target[:60]!r} is numeric; classification needs labels: ",
                Remedy("types", ((table.target, "nominal"),)),
            )
        present = column.cat.remove_unused_categories()
        if len(present.cat.categories) < 2:
            raise DataError(
                f"data set {name}: all rows are of class {present.cat.categories[0][:60]!r}; at least two classes are needed"
            )
        _check_size(present.cat.categories, f"data set {name}: the labels of the target {table.target[:60]!r}")
        labels = tuple(str(label) for label in present.cat.categories)
        return _Target(present.cat.codes.to_numpy(dtype=np.int64), labels, (0.0, 0.0))
    if table.kinds[table.target] == "nominal":
        raise DataError(
            f"data set {name}: the target {table.target[:60]!r} is not numeric (e.g. {column.iloc[0][:60]!r}); regression needs "
            "numbers; if it holds classes: ",
            Remedy("task", "classification"),
        )
    values = _numbers(column, f"data set {name}: the target {table.target[:60]!r}")
    low, high = float(values.min()), float(values.max())
    if low == high:
        raise DataError(
            f"data set {name}: the target {table.target[:60]!r} has one value, {low:g}, in all {len(values)} rows; nothing can "
            f"be predicted"
        )
    return _Target(_scaled(values, low, high) if scaling == "global" else values, (), (low, high))


def _declared(table: RawTable, feature: str, low: float, high: float, name: str) -> tuple[float, float]:
    """Return the range that an input is scaled by: the declared one if the table has it, else that of its values."""
    if feature not in table.ranges:
        return low, high
    least, most = map(float, table.ranges[feature])
    if low < least or high > most:
        raise DataError(
            f"data set {name}: input {feature[:60]!r} has values from {low:g} to {high:g}, the file declares {least:g} to "
            f"{most:g}; leave out ranges=declared"
        )
    return least, most


def _scaled(values: FloatArray, low: float, high: float) -> FloatArray:
    """Scale values from the range `low` to `high` to [0, 1]; 0 if the range is empty."""
    return (values - low) / (high - low) if high > low else np.zeros_like(values)


def _count_notes(n_rows: int, n_features: int, expected_rows: int | None, expected_features: int | None) -> list[str]:
    """Note counts that differ from those of the catalogue."""
    notes = []
    for what, found, expected in (
        ("rows without missing values", n_rows, expected_rows),
        ("inputs", n_features, expected_features),
    ):
        if expected is not None and found != expected:
            notes.append(f"{found} {what}, expected {expected}")
    return notes
