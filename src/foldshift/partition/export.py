"""Folds and splits as text for other programs: csv, OpenML, rsample, AutoGluon, scikit-learn."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd

from foldshift.core.counting import bincount
from foldshift.core.errors import DataError, unknown
from foldshift.core.gate.arrays import as_array
from foldshift.core.gate.folds import check_folds
from foldshift.core.gate.numbers import whole_numbers
from foldshift.core.gate.rows import check_same_rows
from foldshift.core.remedies import Remedy
from foldshift.partition.splits import Splits, as_splits

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, IntArray

Format = Literal["csv", "openml", "rsample", "autogluon", "sklearn"]
FORMATS: tuple[Format, ...] = get_args(Format)


class _Cut(NamedTuple):
    """Splits of rows of a table."""

    splits: Splits
    rows: IntArray  # (n_samples,): position of every sample in the table, from 0
    names: list[str]  # of the splits


def export_folds(
    folds: ArrayLike | Splits, format: Format = "csv", *, rows: ArrayLike | None = None, names: Sequence[str] | None = None
) -> str:
    """Write folds, or splits, as text that another program reads.

    Parameters
    ----------
    folds : array-like of shape (n_seeds, n_samples) or (n_samples,), or what `as_splits` returns
        Fold of every sample, -1 where it is never tested; or training and test parts.
    format : {"csv", "openml", "rsample", "autogluon", "sklearn"}, default="csv"
        ``csv``: a column for every row of folds; for splits that folds cannot say, a column for each split, with *train*, *test*
        or nothing. ``openml``: ARFF with type, rowid, repeat and fold, as OpenML's tasks have them. ``rsample``: R code of a
        function that makes the `manual_rset` of a data frame. ``autogluon``: csv with one column, see the notes. ``sklearn``:
        Python code that makes ``cv``.
    rows : array-like of shape (n_samples,), integer, optional
        Position of every sample in the table that the other program has, from 0. None: 0, 1, 2, ...
    names : sequence of str, optional
        Names of the splits, for ``csv`` and ``rsample``.

    Returns
    -------
    text : str
        Ends with a line feed.

    Raises
    ------
    ValueError
        If the format is unknown, folds or rows are none, or the format cannot say these splits.

    Notes
    -----
    AutoGluon reads one partition. A column ``fold`` is for ``TabularPredictor(label=..., groups="fold")``, which leaves out one
    fold at a time and takes the column from the inputs. Splits forward in time, in which every part trains on all parts before
    it, give a column ``block`` for ``fit(..., validation_structure={"time_on": "block", "temporal_forward_only": True})``.

    Examples
    --------
    >>> from foldshift.partition import export_folds
    >>> print(export_folds([0, 1, 0]), end="")
    row,seed_0
    1,0
    2,1
    3,0
    >>> print(export_folds([0, 1, -1], "sklearn").splitlines()[-1])
    cv = PredefinedSplit([0, 1, -1])
    """
    if format not in FORMATS:
        raise ValueError(unknown("format", str(format), FORMATS))
    if not isinstance(folds, Splits) and np.ndim(folds) == 1:
        check_same_rows(folds=folds, rows=rows)
    splits = folds if isinstance(folds, Splits) else _splits_of(folds)
    n_splits, n_samples = splits.test.shape
    found = [f"seed_{repeat}_fold_{fold}" for repeat, fold in zip(splits.repeat.tolist(), splits.fold.tolist())]
    if names is not None and len(names) != n_splits:
        raise ValueError(f"names are {len(names)}; expected one for each of the {n_splits} splits")
    return _WRITERS[format](_Cut(splits, _positions(rows, n_samples), found if names is None else [str(name) for name in names]))


def _splits_of(folds: ArrayLike) -> Splits:
    """Check an array of folds and convert it."""
    n_samples = np.shape(folds)[-1] if np.ndim(folds) else 0
    checked = check_folds(folds, n_samples, untested=True)
    if not checked.size or checked.max() < 0:
        raise ValueError(f"folds of shape {np.shape(folds)} make no test part; expected a fold from 0 for some row")
    return as_splits(checked, np.zeros((n_samples, 1)))


def _positions(rows: ArrayLike | None, n_samples: int) -> IntArray:
    """Check the positions of the samples in their table."""
    if rows is None:
        return np.arange(n_samples)
    found = whole_numbers(np.atleast_1d(as_array(rows, "rows")), "rows", "the position of every sample")
    found = (found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found).astype(np.int64)
    if found.shape != (n_samples,) or len(np.unique(found)) < n_samples or (n_samples and found.min() < 0):
        raise ValueError(f"rows have shape {found.shape}; expected {(n_samples,)} different positions from 0")
    return found


def _csv(cut: _Cut) -> str:
    folds = cut.splits.folds
    columns: dict[str, Array] = {"row": cut.rows + 1}
    if folds is not None:
        columns |= {f"seed_{seed}": row for seed, row in enumerate(folds)}
    else:
        for name, train, test in zip(cut.names, cut.splits.train, cut.splits.test):
            columns[name] = np.select([train, test], ["train", "test"], "")
    return csv_text(columns)


def csv_text(columns: dict[str, Array]) -> str:
    """Write columns as csv."""
    text = io.StringIO()
    pd.DataFrame(columns).to_csv(text, index=False, lineterminator="\n")
    return text.getvalue()


def _openml(cut: _Cut) -> str:
    lines = [
        "@RELATION foldshift_splits",
        "",
        "@ATTRIBUTE type {TRAIN,TEST}",
        "@ATTRIBUTE rowid NUMERIC",
        "@ATTRIBUTE repeat NUMERIC",
        "@ATTRIBUTE fold NUMERIC",
        "",
        "@DATA",
    ]
    splits, repeats, folds = cut.splits, cut.splits.repeat, cut.splits.fold
    if len(set(bincount(repeats).tolist())) > 1:  # OpenML wants as many folds in every repetition
        repeats, folds = np.arange(len(repeats)), np.zeros_like(folds)
    for repeat, fold, train, test in zip(repeats.tolist(), folds.tolist(), splits.train, splits.test):
        for kind, part in (("TRAIN", train), ("TEST", test)):
            lines += [f"{kind},{row},{repeat},{fold}" for row in cut.rows[part].tolist()]
    return "\n".join(lines) + "\n"


def _rsample(cut: _Cut) -> str:
    """R code: positions from 1, in lines of moderate length."""
    parts = []
    for train, test in zip(cut.splits.train, cut.splits.test):
        analysis, assessment = (_r_integers(cut.rows[part] + 1) for part in (train, test))
        parts.append(f"    list(\n      analysis = {analysis},\n      assessment = {assessment}\n    )")
    ids = ", ".join(f'"{_r_text(name)}"' for name in cut.names)
    return (
        '# Splits for the R package rsample. In R: source("splits.R"); folds <- foldshift_splits(data)\n'
        "foldshift_splits <- function(data) {\n"
        f"  stopifnot(nrow(data) >= {int(cut.rows.max()) + 1}L)\n"
        "  indices <- list(\n" + ",\n".join(parts) + "\n  )\n"
        "  splits <- lapply(indices, rsample::make_splits, data = data)\n"
        f"  rsample::manual_rset(splits, c({_wrapped(ids)}))\n}}\n"
    )


def _r_integers(values: IntArray) -> str:
    return f"c({_wrapped(', '.join(f'{value}L' for value in values.tolist()))})" if len(values) else "integer(0)"


def _r_text(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"')


def _wrapped(text: str) -> str:
    """Break a list of values into lines."""
    if len(text) <= 90:
        return text
    return "\n        " + "\n        ".join(textwrap.wrap(text, 110, break_long_words=False, break_on_hyphens=False)) + "\n      "


def _autogluon(cut: _Cut) -> str:
    splits, n_repeats = cut.splits, int(cut.splits.repeat[-1]) + 1
    if n_repeats > 1:
        raise DataError(f"AutoGluon reads one partition, and there are {n_repeats}; take ", Remedy("seeds", "1"), ", or one row")
    part = np.full(splits.test.shape[1], -1)
    for fold, test in zip(splits.fold, splits.test):
        part[test] = fold
    if splits.folds is not None and (part >= 0).all():
        return csv_text({"row": cut.rows + 1, "fold": part})
    if all((train == (part < fold)).all() for fold, train in zip(splits.fold, splits.train)):
        return csv_text({"row": cut.rows + 1, "block": part + 1})
    why = "some rows are never tested" if splits.folds is not None else "some rows are in neither part of a split"
    raise DataError(
        f"AutoGluon cannot read these splits: {why}; take ", Remedy("format", "csv"), ", or a cut without gap or buffer"
    )


def _sklearn(cut: _Cut) -> str:
    """Python code; positions count the samples, in their order."""
    folds = cut.splits.folds
    if folds is not None and len(folds) == 1:
        return f"from sklearn.model_selection import PredefinedSplit\n\ncv = PredefinedSplit([{_commas(folds[0])}])\n"
    pairs = [
        f"    ([{_commas(np.flatnonzero(train))}], [{_commas(np.flatnonzero(test))}]),"
        for train, test in zip(cut.splits.train, cut.splits.test)
    ]
    return "\n".join(["cv = [  # training and test rows of every split", *pairs, "]", ""])


def _commas(values: Array) -> str:
    return ", ".join(map(str, values.tolist()))


_WRITERS: dict[Format, Callable[[_Cut], str]] = {
    "csv": _csv,
    "openml": _openml,
    "rsample": _rsample,
    "autogluon": _autogluon,
    "sklearn": _sklearn,
}
