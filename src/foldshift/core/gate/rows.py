"""Labels of rows: what belongs together is decided by label where there are labels, never by position against them."""

from __future__ import annotations

from typing import Any


def check_same_rows(**given: Any) -> None:
    """Refuse series and frames of pandas whose rows have the same labels in another order.

    Paired by position, each row would meet a wrong one. Frames must have their columns in one order, too. Labels of which only a
    part is the same are refused unless one side is numbered from 0.

    >>> import pandas as pd
    >>> a = pd.Series([1, 2], index=["x", "y"])
    >>> check_same_rows(a=a, b=a[::-1])
    Traceback (most recent call last):
    ...
    ValueError: a and b have the same row labels in another order; bring them into one: b.loc[a.index]
    """
    labelled = [(name, values) for name, values in given.items() if hasattr(values, "iloc") and hasattr(values, "index")]
    for (name, first), (other, second) in zip(labelled[:1] * len(labelled[1:]), labelled[1:]):
        if len(first) == len(second):
            _check(first.index, second.index, "row", f"{name} and {other}", f"{other}.loc[{name}.index]")


def count_rows(values: Any, name: str) -> int:
    """Count the rows of an array, a list, a frame or a sparse matrix; raise ValueError for a single value."""
    shape = getattr(values, "shape", None)
    if shape is None and hasattr(values, "__len__") and not isinstance(values, str):
        return len(values)
    if not shape:
        raise ValueError(f"{name} is {values!r}; expected a value for every sample")
    return int(shape[0])


def check_rows(**given: Any) -> None:
    """Refuse arrays that differ in the number of rows, or, if they are labelled, in the order of rows; None is left out."""
    present = {name: values for name, values in given.items() if values is not None}
    sizes = {name: count_rows(values, name) for name, values in present.items()}
    if len(set(sizes.values())) > 1:
        names, numbers = (f"{', '.join(map(str, part[:-1]))} and {part[-1]}" for part in (list(sizes), list(sizes.values())))
        raise ValueError(f"{names} have {numbers} samples; expected the same number")
    check_same_rows(**present)


def check_same_columns(**given: Any) -> None:
    """Refuse frames of pandas whose columns have the same names in another order."""
    labelled = [(name, values) for name, values in given.items() if hasattr(values, "iloc") and hasattr(values, "columns")]
    for (name, first), (other, second) in zip(labelled[:1] * len(labelled[1:]), labelled[1:]):
        if len(first.columns) == len(second.columns):
            _check(first.columns, second.columns, "column", f"{name} and {other}", f"{other}[{name}.columns]")


def check_pairs(**given: Any) -> None:
    """Refuse paired series or frames of which rows or columns have the same labels in another order."""
    check_same_rows(**given)
    check_same_columns(**given)


def _check(first: Any, second: Any, what: str, both: str, remedy: str) -> None:
    if first.equals(second):
        return
    shared = first.isin(second)
    if shared.all() and second.isin(first).all():
        raise ValueError(f"{both} have the same {what} labels in another order; bring them into one: {remedy}")
    if shared.any() and not (_numbered(first) or _numbered(second)):
        raise ValueError(
            f"{both} share only {int(shared.sum())} of {len(first)} {what} labels; give both the same, in one order, or without "
            "labels: .to_numpy()"
        )


def _numbered(labels: Any) -> bool:
    """Return True for labels that were never given: 0, 1, 2, ..."""
    return type(labels).__name__ == "RangeIndex" and labels.start == 0 and labels.step == 1
