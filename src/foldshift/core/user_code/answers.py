"""Answers of learners, which may be anything: brought into one form, or refused with the learner's name."""

from __future__ import annotations

import numbers
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone, is_classifier

from foldshift.core.errors import LearnerError
from foldshift.core.estimators import title
from foldshift.core.user_code.guarded_process import no_copies

if TYPE_CHECKING:
    from foldshift.core.types import Array, Estimator, FloatArray, IntArray, TableLike

LEAST_TOLERANCE = 1e-6  # of sums of probabilities; more for short floating-point numbers


def one_line(error: BaseException) -> str:
    """Write an exception as one line: its type and its text. Of a LearnerError: what the learner raised, or the text alone."""
    if isinstance(error, LearnerError) and error.__cause__ is not None:
        error = error.__cause__
    text = " ".join(str(error).split())
    return text if isinstance(error, LearnerError) else f"{type(error).__name__}: {text}"


def predictions_after_fit(model: Estimator, X: TableLike, y: Array, rows: TableLike, target: Array) -> Array:
    """Fit a learner and predict some rows: real numbers for a regressor, classes of the whole `target` for a classifier.

    If it raises anything but MemoryError, or its answer is of another kind, raise LearnerError.
    """
    return predictions_of(model, rows, target, fit_on=(X, y))


def predictions_of(model: Estimator, rows: TableLike, target: Array, fit_on: tuple[TableLike, Array] | None = None) -> Array:
    """Predict some rows by a fitted learner, which is fitted first where `fit_on` has inputs and target.

    Errors as of `predictions_after_fit`.
    """
    name, place = title(model), "be fitted" if fit_on else "predict"
    try:
        with no_copies():
            model = model.fit(*fit_on) if fit_on else model
            place = "predict"
            answer = model.predict(rows)
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:
        raise LearnerError(f"{name} could not {place}: {one_line(error)}") from error
    found = as_column(as_answer(answer, rows, name), name)
    if is_classifier(model):
        check_labels(found, np.asarray(target).tolist(), name)
        return found
    return as_numbers(found, name, finite=False) if np.asarray(target).dtype.kind in "biuf" else found


def class_scores_after_fit(estimator: Estimator, X: FloatArray, labels: IntArray, rows: FloatArray) -> tuple[FloatArray, str]:
    """Fit a clone of a classifier of two classes; return scores of the second class for some rows, and the method they are of."""
    name, methods = title(estimator), ("predict_proba", "decision_function")
    try:
        with no_copies():
            model = clone(estimator).fit(X, labels)
            method = next((one for one in methods if hasattr(model, one)), "")
            answer = getattr(model, method)(rows) if method else None
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:
        raise LearnerError(f"{name} could not be fitted: {one_line(error)}") from error
    if not method:
        raise LearnerError(f"estimator={estimator!r} has neither predict_proba nor decision_function; give a classifier that has")
    array = as_answer(answer, rows, name, method)
    if method == "predict_proba":
        return as_probabilities(array, 2, name)[:, 1], method
    return as_numbers(as_column(array, name), name), method


def as_answer(answer: Any, rows: TableLike, name: str, method: str = "predict") -> Array:
    """Return the answer of a learner for some rows as an array with an entry for every row.

    Lists, frames and sparse matrices are taken. If it has no entry for each row, has gaps, or is labelled in another order than
    the rows, raise LearnerError.
    """
    n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    who = f"{name}.{method}"
    if issparse(answer):
        answer = answer.toarray()
    if isinstance(answer, np.ma.MaskedArray):
        if np.ma.getmaskarray(answer).any():
            raise LearnerError(f"{who} gave a masked array with {int(np.ma.getmaskarray(answer).sum())} gaps; fill them in")
        answer = answer.data
    if hasattr(answer, "iloc"):
        _check_order(answer, rows, n, who)
        answer = answer.to_numpy()
    if not isinstance(answer, list | tuple) and not hasattr(answer, "__array__"):
        raise LearnerError(f"{who} gave {_a(answer)}; expected an array with one entry for each of the {n} rows")
    try:
        array = np.asarray(answer)
    except Exception as error:
        raise LearnerError(f"{who} gave what is no array ({one_line(error)}); expected an entry for each row") from error
    if array.ndim == 0 or len(array) != n:
        raise LearnerError(f"{who} gave an array of shape {array.shape} for {n} rows; expected one entry for each row")
    return array


def _check_order(answer: Any, rows: TableLike, n: int, who: str) -> None:
    """Refuse an answer that has the labels of the rows in another order: matched by position, each would meet a wrong one."""
    here = list(rows.index) if hasattr(rows, "index") and hasattr(rows, "iloc") else list(range(n))
    there = list(answer.index)
    if there != here and len(set(here)) == n and len(there) == n and set(there) == set(here):
        raise LearnerError(f"{who} gave a {type(answer).__name__} with the labels of the rows in another order; keep that of X")


def as_column(array: Array, name: str) -> Array:
    """Return predictions of one target with one axis; a second one of length one is taken off."""
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise LearnerError(f"{name}.predict gave an array of shape {array.shape}; expected one value for each row")
    return array


def as_numbers(array: Array, name: str, *, finite: bool = True) -> FloatArray:
    """Return predictions of a quantity as float64; refuse texts, complex numbers, dates and gaps."""
    if array.dtype.kind not in "biuf":
        for value in array.ravel().tolist():
            if array.dtype.kind != "O" or not isinstance(value, numbers.Real):
                raise LearnerError(f"{name}.predict gave {value!r}, which is no real number; the target is a quantity")
    found = array.astype(np.float64)
    if finite and not np.isfinite(found).all():
        n_bad = int((~np.isfinite(found)).sum())
        raise LearnerError(
            f"{name} predicts values that are NaN or infinite for {n_bad} of {len(found)} rows; fix the learner, or "
            "scale its inputs"
        )
    return found


def check_labels(array: Array, labels: Collection[Any], name: str) -> None:
    """Refuse predictions that are no classes of the target: each would count as a wrong one."""
    known = labels if isinstance(labels, set | frozenset) else set(np.asarray(labels).tolist())
    try:
        other = [value for value in dict.fromkeys(array.tolist()) if value not in known]
    except TypeError:  # lists among the labels
        other = array.tolist()
    if other:
        shown = ", ".join(map(repr, sorted(known, key=str)[:5])) + (", ..." if len(known) > 5 else "")
        raise LearnerError(f"{name}.predict gave {other[0]!r}, which is no class of the target; its classes are {shown}")


def as_codes(array: Array, n_classes: int, name: str) -> IntArray:
    """Return predictions of classes by number as int64; refuse every other value."""
    array = as_column(array, name)
    if array.dtype.kind not in "iu" or not array.size or array.min() < 0 or array.max() >= n_classes:
        check_labels(array, set(range(n_classes)), name)
    return array.astype(np.int64)


def as_probabilities(array: Array, n_classes: int, name: str, method: str = "predict_proba") -> FloatArray:
    """Return class probabilities as float64; refuse columns for other classes, numbers outside of 0 to 1, sums other than one."""
    if array.ndim != 2 or array.shape[1] != n_classes:
        raise LearnerError(
            f"{name}.{method} gave an array of shape {array.shape}; expected a column for each of {n_classes} classes"
        )
    if array.dtype.kind not in "biuf":
        raise LearnerError(f"{name}.{method} gave values of type {array.dtype}; expected real numbers")
    found = array.astype(np.float64)
    if method != "predict_proba":
        return found
    if not np.isfinite(found).all():
        raise LearnerError(f"class scores of {name} are not finite")
    room = max(LEAST_TOLERANCE, float(np.sqrt(np.finfo(array.dtype).eps)) if array.dtype.kind == "f" else 0.0)
    if found.size and (found.min() < -room or found.max() > 1 + room):
        raise LearnerError(f"{name}.{method} gave {found.min():g} to {found.max():g}; probabilities are between 0 and 1")
    sums = found.sum(axis=1)
    if (abs(sums - 1) > room).any():
        worst = sums[abs(sums - 1).argmax()]
        raise LearnerError(f"{name}.{method} gave probabilities that add to {worst:g} in a row; they must add to 1")
    return found


def _a(value: Any) -> str:
    """Describe an object by its type."""
    kind = type(value).__name__
    return "None" if value is None else f"{'an' if kind[0].lower() in 'aeiou' else 'a'} {kind}"
