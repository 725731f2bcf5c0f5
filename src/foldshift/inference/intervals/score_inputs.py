"""Targets and predictions as intervals of scores take them: read and checked once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foldshift.core.errors import DataError
from foldshift.core.gate.arrays import as_array, missing
from foldshift.core.gate.folds import UNTESTED, refuse_splitter
from foldshift.core.gate.rows import check_same_rows
from foldshift.inference.intervals.score_names import ScoreName

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, FloatArray, IntArray

WORDS_OF_NEED = {
    "labels": "predicted labels",
    "ranks": "a score of the positive class for every row",
    "probabilities": "probabilities: one of the positive class for every row, or one for every class in sorted order",
    "numbers": "predicted numbers",
}


class Read(NamedTuple):
    """Targets and predictions that were checked; rows that some repetition does not test are left out."""

    y: Array  # codes of classes, or numbers; shape (n,)
    predictions: Array  # codes (r, n), scores (r, n), probabilities (r, n, C) or numbers (r, n)
    folds: IntArray  # fold of every row; one fold if none are given; shape (r, n)
    groups: IntArray | None  # codes of groups; shape (n,)
    classes: Array
    positive: int  # code of the positive class; -1 if the score has none
    left_out: int  # rows that were left out


def read_inputs(
    score: ScoreName,
    y: ArrayLike,
    predictions: ArrayLike,
    folds: Any,
    groups: ArrayLike | None,
    pos_label: Any,
    name: str = "predictions",
) -> Read:
    """Check targets, predictions, folds and groups; raise DataError with the thing, the value and a remedy.

    `name` is what the caller calls the predictions.
    """
    refuse_splitter(folds)
    one_each = {"folds": folds, "groups": groups, name: predictions}
    check_same_rows(y=y, **{key: values for key, values in one_each.items() if values is not None and np.ndim(values) == 1})
    target = _one_per_row(y, "y")
    n = len(target)
    given = _plain(predictions, name)
    target_codes: Array
    if score.needs == "numbers":
        target_codes, classes = _numbers(target, "y"), np.empty(0)
        values, positive = _rows(_numbers(given, name), n, score, name), -1
    else:
        classes = np.unique(target)
        if score.needs == "labels":
            refuse_columns(given, n, classes, score, -1, name)
            values = _rows(given, n, score, name)
            classes = _joined(classes, values, score, name)
            values = np.searchsorted(classes, values)
        positive = _positive(score, classes, pos_label, given)
        target_codes = np.searchsorted(classes, target)
        if score.needs == "ranks":
            numbers = _numbers(given, name)
            refuse_columns(numbers, n, classes, score, positive, name)
            values = _rows(numbers, n, score, name)
        elif score.needs == "probabilities":
            values = _probabilities(_numbers(given, name), target_codes, classes, score, positive, name)
    cut = _folds(folds, values.shape[:2])
    tested = (cut != UNTESTED).all(axis=0)
    if not tested.any():
        raise DataError("folds has no row that every repetition tests; every row to be scored needs a fold from 0")
    of_groups = None if groups is None else _groups(groups, n)[tested]
    if of_groups is not None:
        of_groups = np.unique(of_groups, return_inverse=True)[1].ravel()
    return Read(target_codes[tested], values[:, tested], cut[:, tested], of_groups, classes, positive, int((~tested).sum()))


def _plain(values: Any, name: str) -> Array:
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise DataError(
            f"{name} has {int(np.ma.getmaskarray(values).sum())} masked values; leave these rows out of all arguments"
        )
    array = as_array(values, name)
    if array.dtype.kind in "mM":
        raise DataError(f"{name} holds dates or times; expected labels or numbers")
    if missing(array).any() and array.dtype.kind == "O":
        raise DataError(f"{name} has missing values (None or NaN); leave these rows out of all arguments")
    if array.dtype.kind == "c":
        raise DataError(f"{name} holds complex numbers; expected real ones")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise DataError(f"{name} has {int((~np.isfinite(array)).sum())} NaN or infinite values; every row needs a finite one")
    if array.dtype.kind == "O":
        kinds = {type(one).__name__ for one in array.ravel()}
        if len(kinds) > 1 and "str" in kinds:
            raise DataError(f"{name} mixes {' and '.join(sorted(kinds))}; write all of its labels in one way")
    return array


def _one_per_row(values: Any, name: str) -> Array:
    array = _plain(values, name)
    array = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
    if array.ndim != 1 or not len(array):
        raise DataError(f"{name} has shape {np.shape(values)}; expected one value for every row, shape (n,)")
    return array


def _numbers(array: Array, name: str) -> FloatArray:
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} holds {array.ravel().tolist()[0]!r}, which is not a number") from None


def refuse_columns(array: Array, n: int, classes: Array, score: ScoreName, positive: int, name: str) -> None:
    """Refuse probabilities of every class, as `predict_proba` gives them, where a score takes one value for every row."""
    axis = _axis_of_classes(array, n, max(len(classes), 2))
    if axis is None:
        return
    of_positive = f"[{positive}]" if axis == 0 else f"[:, {positive}]"
    remedy = f"{name}{of_positive}" if positive >= 0 else f"np.unique(y)[{name}.argmax(axis={axis})]"
    raise DataError(
        f"{name} has shape {array.shape} and adds up to 1 in every row: a probability for every class, as predict_proba gives "
        f"them; {score.name} needs {WORDS_OF_NEED[score.needs]}: pass {remedy}"
    )


def _axis_of_classes(array: Array, n: int, n_classes: int) -> int | None:
    """Axis along which an array holds a probability for every class; repetitions do not add up to 1."""
    if array.ndim != 2 or array.dtype.kind not in "iuf" or n == n_classes:
        return None
    axis = {(n, n_classes): 1, (n_classes, n): 0}.get(array.shape)
    return axis if axis is not None and np.abs(array.sum(axis=axis) - 1).max() < 1e-3 else None


def _rows(array: Array, n: int, score: ScoreName, name: str) -> Array:
    """Give predictions the shape (r, n)."""
    if array.ndim == 2 and array.shape == (n, 1):
        array = array[:, 0]
    found = array[None] if array.ndim == 1 else array
    if found.ndim != 2 or found.shape[1] != n or not len(found):
        turned = f"; if its columns are repetitions, pass {name}.T" if found.ndim == 2 and found.shape[0] == n else ""
        raise DataError(
            f"{name} has shape {array.shape} for {n} rows of y; {score.name} needs {WORDS_OF_NEED[score.needs]}, shape "
            f"({n},), or (repetitions, {n}){turned}"
        )
    return found


def _joined(classes: Array, values: Array, score: ScoreName, name: str) -> Array:
    """Classes of target and predictions; refuse predictions that are no labels."""
    said = np.unique(values)
    texts = [one.dtype.kind in "US" or (one.dtype.kind == "O" and isinstance(one.flat[0], str)) for one in (classes, said)]
    if texts[0] != texts[1]:
        shown = said.tolist()[0], classes.tolist()[0]
        raise DataError(f"{name} holds {shown[0]!r} and y holds {shown[1]!r}; {score.name} needs labels, written as y")
    if said.dtype.kind == "f" and len(between := said[said != np.floor(said)]) and not np.isin(between, classes).any():
        raise DataError(
            f"{name} holds {between[0]:g}, which is no class of y; {score.name} needs predicted labels, such as "
            "(probability > 0.5).astype(int)"
        )
    return np.union1d(classes, said)


def _positive(score: ScoreName, classes: Array, pos_label: Any, given: Array) -> int:
    """Code of the positive class; `given` are the predictions."""
    if pos_label is not None:
        if pos_label not in classes.tolist():
            raise DataError(f"pos_label={pos_label!r} is not among the classes {', '.join(map(repr, classes[:8].tolist()))}")
        return int(np.searchsorted(classes, pos_label))
    if score.one_class and len(classes) == 1:
        raise DataError(f"y has one class, {classes.tolist()[0]!r}; {score.name} needs rows of two")
    if score.one_class and classes.dtype.kind == "f" and (classes % 1 != 0).any() and len(np.unique(given)) == 2:
        raise DataError(
            f"y holds {classes[classes % 1 != 0][0]:g}, which is no label, and the predictions hold two values: are the "
            "two exchanged? The true labels come first"
        )
    if score.one_class and len(classes) != 2:
        instead = f" or metric='{score.name}_macro'" if score.part in ("f1", "recall", "precision", "jaccard") else ""
        raise DataError(
            f"{score.name} is about one class, and y has {len(classes)}: {', '.join(map(repr, classes[:8].tolist()))}; say "
            f"which, e.g. pos_label={classes.tolist()[-1]!r}{instead}"
        )
    return len(classes) - 1 if len(classes) == 2 else -1


def _probabilities(array: FloatArray, codes: IntArray, classes: Array, score: ScoreName, positive: int, name: str) -> FloatArray:
    """Give probabilities the shape (r, n, C)."""
    n, n_classes = len(codes), len(classes)
    if _axis_of_classes(array, n, n_classes) == 0:
        raise DataError(f"{name} has shape {array.shape}, a row for every class; expected a column for each: pass {name}.T")
    if array.ndim and array.size and (array.min() < 0 or array.max() > 1):
        raise DataError(f"{name} holds {array.min() if array.min() < 0 else array.max():g}; probabilities lie from 0 to 1")
    if array.ndim >= 2 and array.shape[-2:] == (n, n_classes):
        found = array if array.ndim == 3 else array[None]
        if np.abs(found.sum(axis=2) - 1).max() > 1e-3:
            raise DataError(f"{name} has a row whose probabilities add up to {found.sum(axis=2).flat[0]:g}; they must to 1")
        return found
    if n_classes > 2:
        raise DataError(
            f"{name} has shape {array.shape} for {n} rows of {n_classes} classes; expected ({n}, {n_classes}) or "
            f"(repetitions, {n}, {n_classes}), the columns in sorted order of the classes"
        )
    if n_classes == 1:
        raise DataError(f"y has one class, {classes.tolist()[0]!r}, of two; {score.name} needs rows of both")
    found = _rows(array, n, score, name)
    both = np.stack([1 - found, found], axis=2)
    return both if positive == 1 else both[..., ::-1]


def _folds(folds: Any, shape: tuple[int, ...]) -> IntArray:
    """Give folds the shape of the predictions."""
    if folds is None:
        return np.zeros(shape, dtype=np.int64)
    array = _plain(folds, "folds")
    array = array[None] if array.ndim == 1 else array
    if array.ndim == 2 and array.shape[1:] == shape[1:] and len(array) in (1, shape[0]):
        array = np.broadcast_to(array, shape)
    if array.shape != shape:
        raise DataError(f"folds has shape {np.shape(folds)} and predictions {shape} (repetitions, rows); expected the same")
    if array.dtype.kind not in "iub" and not (array.dtype.kind == "f" and (array == np.floor(array)).all()):
        raise DataError(f"folds holds {array.ravel().tolist()[0]!r}; expected whole numbers, the fold of every row")
    if array.min() < UNTESTED:
        raise DataError(f"folds holds {array.min()}; expected folds from 0, and {UNTESTED} for rows that are not tested")
    return array.astype(np.int64)


def _groups(groups: Any, n: int) -> Array:
    array = _one_per_row(groups, "groups")
    if len(array) != n:
        raise DataError(f"groups has {len(array)} values for {n} rows of y; expected the group of every row")
    return array
