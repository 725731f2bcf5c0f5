"""Predict every sample from the folds it is not in, for many partitions of the same data."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import check_X_y, indexable
from sklearn.utils.validation import _num_samples

from foldshift.core.arguments import check_one_of
from foldshift.core.counting import bincount
from foldshift.core.errors import LearnerError
from foldshift.core.estimators import check_instance, clone_with_state, rows_of, shares_work, title
from foldshift.core.gate.arrays import refuse_masks
from foldshift.core.gate.folds import UNTESTED, check_folds, is_pairs, is_splitter
from foldshift.core.gate.rows import check_rows, check_same_rows
from foldshift.core.gate.targets import check_present, numbers_if_all
from foldshift.core.user_code.answers import as_answer, as_column, as_numbers, as_probabilities, check_labels, one_line
from foldshift.core.user_code.guarded_process import no_copies
from foldshift.evaluation.known_learners import is_known, predict_known
from foldshift.partition.folds import as_folds

if TYPE_CHECKING:
    from foldshift.core.types import Array, BoolArray, Estimator, FloatArray, TableLike, UnsignedArray

# Scores of a class that the training part lacks, as in scikit-learn's cross_val_predict.
ABSENT = {"predict_proba": 0.0, "predict_log_proba": np.finfo(np.float64).min, "decision_function": np.finfo(np.float64).min}
SHARED = {"predict": "predict_folds", "predict_proba": "scores_folds"}


def evaluate_folds(
    estimator: Estimator,
    X: TableLike,
    y: TableLike,
    folds: TableLike,
    *,
    random_states: UnsignedArray | None = None,
    shared: bool | Literal["always"] = True,
    response_method: str = "predict",
    params: dict[str, Any] | None = None,
    n_jobs: int | None = None,
    untested: Literal["raise", "nan"] = "raise",
) -> Array:
    """Predict every sample by cross-validation, for many partitions.

    This does for many partitions what scikit-learn's `cross_val_predict` does for one: data frames, sparse matrices and lists
    reach the estimator as they are, a part of their rows at a time.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Not changed; every fit uses a clone. An estimator with a method ``predict_folds(X, y, folds, random_states)`` shares
        between the fits what does not depend on the partition; so do scikit-learn's Ridge, GaussianNB, KNeighborsClassifier and
        KNeighborsRegressor with usual parameters.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features), or list
        Inputs, of any kind that the estimator takes.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), or None
        Target.
    folds : array-like of shape (n_seeds, n_samples) or (n_samples,), integer; or a splitter
        Fold of every sample, one row per seed, as `foldshift.partition.make_folds` makes them. -1 is a sample that is in every
        training part and never tested, as in scikit-learn's `PredefinedSplit`. For a splitter, see
        `foldshift.partition.as_folds`.
    random_states : ndarray of shape (n_seeds, n_folds), dtype uint32, optional
        The `random_state` of every fit, where the estimator (or one inside it) has one that is None; one that the user has set
        stays.
    shared : bool or "always", default=True
        Whether to use the shared path where there is one that predicts the same as separate fits; see Notes. ``always``: also
        where a training part lacks a class, which the shared path knows from the other parts.
    response_method : str, default="predict"
        Method of the fitted estimator: ``predict``, ``predict_proba``, ``predict_log_proba``, ``decision_function``.
    params : dict, optional
        Parameters of the estimator's ``fit``, such as ``{"sample_weight": w}``; those with a value for every sample are cut with
        the samples.
    n_jobs : int, optional
        Number of fits at the same time, as in scikit-learn. The shared path takes one core.
    untested : {"raise", "nan"}, default="raise"
        Treatment of samples that are never tested where predictions are labels: raise an error, or return an array of objects
        with NaN for them.

    Returns
    -------
    predictions : ndarray of shape (n_seeds, n_samples) or (n_seeds, n_samples, n_columns)
        Prediction of every sample by the model fitted on the other folds. A class that a training part lacks has probability 0
        there. Numbers are NaN for samples that are never tested.

    Raises
    ------
    ValueError
        If X, y and folds differ in length; if fold numbers are not integers or are below -1; if all samples are in one fold; if
        labels are asked for samples that are never tested.
    LearnerError, a ValueError
        If a fit or a prediction raises anything, ``SystemExit`` included; or if predictions are none of the target: too few or
        too many, of another kind, NaN or infinite for a quantity, labels that are no classes, probabilities that do not add to 1.

    Warns
    -----
    UserWarning
        If class scores are asked for and a training part lacks a class.

    Notes
    -----
    The shared path is taken only for complete numeric inputs, without `params`, where every training part holds all classes and
    every sample is tested. The estimator's ``fit`` and ``predict`` must be those that the path was written for, and its
    `random_state` must not be a generator (every fit would begin with the same state of it).

    Fits run in this process: an estimator that hangs, crashes or exhausts memory takes it along. `foldshift.advise` and the
    workflow stop such an estimator. Each fit is given copies of the rows, so that it can write into them.

    Labels have no sign for "not predicted": a class would be wrong, and NaN among labels counts as an error in an accuracy. So
    NaN is returned only on request.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from foldshift.partition import make_folds
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> evaluate_folds(Ridge(), X, y, make_folds("TSCV", X, y, n_folds=5, seeds=range(3))).shape
    (3, 442)
    """
    check_instance(estimator)
    X, y, folds = check_inputs(X, y, folds)
    check_one_of("untested", untested, ("raise", "nan"))
    if shared and not params and hasattr(estimator, SHARED.get(response_method, "-")) and (folds >= 0).all():
        numbers = _as_numbers(estimator, X, y, folds, every_class=shared != "always")
        if numbers is not None:
            found = getattr(clone(estimator), SHARED[response_method])(*numbers, folds, random_states=random_states)
            if np.shape(found)[:2] != folds.shape:
                wanted = f"{title(estimator)}.{SHARED[response_method]} gave an array of shape {np.shape(found)}"
                raise LearnerError(f"{wanted}; expected {folds.shape}, the prediction of every row for every partition")
            return found
    if shared and not params and response_method == "predict" and is_known(estimator) and (folds >= 0).all():
        known = predict_known(estimator, X, y, folds) if has_every_class(estimator, y, folds) else None
        if known is not None:
            return known
    tasks = (
        (estimator, X, y, test, None if random_states is None else random_states[s, fold], response_method, params)
        for s, fold, test in iterate_fits(folds)
    )
    answers = work_through(fit_predict, tasks, n_jobs)
    parts = [(s, fold, answer) for (s, fold, _), answer in zip(iterate_fits(folds), answers)]
    return put_together(estimator, y, folds, parts, response_method, untested)


def check_table(X: TableLike, y: TableLike) -> tuple[TableLike, TableLike]:
    """Return inputs and a target whose rows can be selected; refuse masked inputs and a target with missing values."""
    check_rows(X=X, y=y)
    refuse_masks(X)
    if y is not None and not hasattr(y, "tocsr"):
        check_present(y)
        y = numbers_if_all(y) if isinstance(y, np.ndarray) else y
    (X,) = indexable(X)
    return (X, None) if y is None else (X, indexable(y)[0])


def check_inputs(X: TableLike, y: TableLike, folds: TableLike) -> tuple[TableLike, TableLike, UnsignedArray]:
    """Return inputs whose rows can be selected, and folds of shape (n_seeds, n_samples) that fit them."""
    check_same_rows(X=X, y=y, folds=folds)
    X, y = check_table(X, y)
    n_samples = _num_samples(X)
    if is_splitter(folds) or is_pairs(folds):
        folds = as_folds(folds, X, y)
    if np.ndim(folds) == 0:
        raise ValueError(
            f"folds={folds!r} must hold the fold of every sample, as make_folds makes them, or be a splitter such as KFold(5), "
            "or its pairs of training and test rows"
        )
    width = np.shape(folds)[-1]
    sizes = {"X": n_samples} | ({} if y is None else {"y": _num_samples(y)}) | {"folds": width}
    if len(set(sizes.values())) > 1:
        names, numbers = (f"{', '.join(map(str, part[:-1]))} and {part[-1]}" for part in (list(sizes), list(sizes.values())))
        raise ValueError(f"{names} have {numbers} samples; expected the same number")
    folds = check_folds(folds, n_samples, untested=True)
    if not folds.size:
        raise ValueError(f"folds have shape {folds.shape}; expected at least one partition of at least one sample")
    alone = np.flatnonzero((folds == folds[:, :1]).all(axis=1) & (folds[:, 0] >= 0))
    if len(alone):
        raise ValueError(f"row {alone[0]} of folds puts all samples into fold {folds[alone[0], 0]}: nothing is left to train on")
    return X, y, folds


def _as_numbers(
    estimator: Estimator, X: TableLike, y: TableLike, folds: UnsignedArray, every_class: bool
) -> tuple[FloatArray, Array] | None:
    """Convert inputs and target for the shared path; None where it would not predict the same as separate fits."""
    if y is None or np.ndim(y) != 1 or not shares_work(estimator):
        return None
    try:
        X, y = check_X_y(X, y, dtype=np.float64, order="C", y_numeric=is_regressor(estimator))
    except (ValueError, TypeError):  # the estimator reports it in its own words, or accepts it
        return None
    return (X, y) if not every_class or has_every_class(estimator, y, folds) else None


def has_every_class(estimator: Estimator, y: TableLike, folds: UnsignedArray) -> bool:
    """Return True if the target is one column, and no training part lacks a class of a classifier."""
    if y is None or np.ndim(y) != 1:
        return False
    if not is_classifier(estimator):
        return True
    try:
        _, codes = np.unique(y, return_inverse=True)
    except TypeError:  # labels of several kinds, which the estimator reports
        return False
    n_classes, n_folds = int(codes.max()) + 1, int(folds.max()) + 1
    for row in folds:
        counts = bincount(row.astype(np.int64) * n_classes + codes, minlength=n_folds * n_classes).reshape(n_folds, n_classes)
        if (counts == counts.sum(axis=0)).any():
            return False
    return True


def iterate_fits(folds: UnsignedArray) -> Iterator[tuple[int, int, BoolArray]]:
    """Yield ``(seed row, fold, test mask)`` of every fit; folds without samples are left out."""
    for s, row in enumerate(folds):
        for fold in range(int(row.max()) + 1):
            test = row == fold
            if test.any():
                yield s, fold, test


def fit_predict(
    estimator: Estimator,
    X: TableLike,
    y: TableLike,
    test: BoolArray,
    random_state: int | None = None,
    response_method: str = "predict",
    params: dict[str, Any] | None = None,
) -> Any:
    """Fit a clone outside the test mask and predict inside it; class scores come with the labels of their columns."""
    train, rows = np.flatnonzero(~test), rows_of(X, np.flatnonzero(test))
    name, place = title(estimator), "be fitted"
    cut = {
        name: rows_of(value, train) if np.ndim(value) > 0 and _num_samples(value) == len(test) else value
        for name, value in (params or {}).items()
    }
    try:
        with no_copies():
            model = clone_with_state(estimator, random_state)
            model.fit(rows_of(X, train), *(() if y is None else (rows_of(y, train),)), **cut)
            place = response_method
            answer = getattr(model, response_method)(rows)
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:
        raise LearnerError(f"{name} could not {place}: {one_line(error)}") from error
    if isinstance(answer, list) and answer and np.ndim(answer[0]) == 2:
        raise ValueError(
            f"response_method={response_method!r} of several outputs gives one table for each; evaluate one column of y at a time"
        )
    answer = as_answer(answer, rows, name, response_method)
    return (answer, model.classes_) if response_method in ABSENT and hasattr(model, "classes_") else answer


def work_through(function: Callable[..., Any], tasks: Iterator[tuple[Any, ...]], n_jobs: int | None) -> Iterator[Any]:
    """Yield the answers to tasks in their order; `n_jobs` of them run at the same time."""
    import joblib

    if joblib.effective_n_jobs(n_jobs) == 1:
        for task in tasks:
            yield function(*task)
    else:
        from sklearn.utils.parallel import Parallel, delayed  # scikit-learn's: they pass on its settings

        yield from Parallel(n_jobs=n_jobs)(delayed(function)(*task) for task in tasks)


def put_together(
    estimator: Estimator,
    y: TableLike,
    folds: UnsignedArray,
    answers: list[tuple[int, int, Any]],
    response_method: str,
    untested: Literal["raise", "nan"],
) -> Array:
    """Collect the predictions of all test parts in one array; `answers` holds seed row, fold and the return of `fit_predict`."""
    if response_method in ABSENT and answers and isinstance(answers[0][2], tuple):
        answers = _aligned(estimator, y, answers, response_method)
    parts = [(s, fold, answer) for s, fold, answer in answers]
    if response_method == "predict":
        parts = _checked(parts, estimator, y)
    shape = (*folds.shape, *(parts[0][2].shape[1:] if parts else ()))
    dtype = np.result_type(*(part.dtype for _, _, part in parts)) if parts else np.dtype(np.float64)
    if is_regressor(estimator):
        dtype = np.dtype(np.float64)
    predictions = np.full(shape, np.nan, dtype=dtype) if dtype.kind in "fO" else np.empty(shape, dtype=dtype)
    never = folds == UNTESTED
    if never.any() and dtype.kind != "f":
        if untested == "raise":
            raise ValueError(
                f"{never.any(axis=0).sum()} of {folds.shape[1]} samples are in no test part (fold -1), and labels have no sign "
                "for 'not predicted'; say untested='nan' for an array of objects with NaN there"
            )
        predictions = np.full(shape, np.nan, dtype=object)
    for s, fold, part in parts:
        predictions[s, folds[s] == fold] = part
    return predictions


def _checked(parts: list[tuple[int, int, Array]], estimator: Estimator, y: TableLike) -> list[tuple[int, int, Array]]:
    """Refuse predictions that are of another kind than the target."""
    name, target = title(estimator), None if y is None else np.asarray(y)
    if target is None or (target.ndim == 2 and target.shape[1] > 1):
        return parts
    parts = [(s, fold, as_column(part, name)) for s, fold, part in parts]
    if is_regressor(estimator):
        return [(s, fold, as_numbers(part, name)) for s, fold, part in parts]
    if is_classifier(estimator):
        known = set(target.ravel().tolist())
        for _, _, part in parts:
            check_labels(part, known, name)
    return parts


def _aligned(
    estimator: Estimator, y: TableLike, answers: list[tuple[int, int, Any]], response_method: str
) -> list[tuple[int, int, Any]]:
    """Give class scores one column for every class of the target, in the training part or not."""
    classes = np.unique(np.asarray(y))
    aligned: list[tuple[int, int, Any]] = []
    lacking = 0
    for s, fold, (values, held) in answers:
        if values.ndim == 2:
            values = as_probabilities(values, len(held), title(estimator), response_method)
        if len(held) < len(classes):
            lacking += 1
            if values.ndim == 1:
                raise ValueError(
                    f"a training part holds {len(held)} of {len(classes)} classes, and then decision_function has another form; "
                    "use stratified folds, or predict_proba"
                )
            full = np.full((len(values), len(classes)), ABSENT[response_method])
            full[:, np.searchsorted(classes, held)] = values
            values = full
        aligned.append((s, fold, values))
    if lacking:
        warnings.warn(
            f"{lacking} of {len(answers)} training parts lack a class: its {response_method} is {ABSENT[response_method]:g}",
            UserWarning,
            stacklevel=4,
        )
    return aligned
