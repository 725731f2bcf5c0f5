"""Base classes of the estimators: checked input, and one method for a whole array of folds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from foldshift.core.gate.arrays import as_array, na_as_nan, refuse_dates, refuse_masks
from foldshift.core.gate.folds import check_folds
from foldshift.core.gate.numbers import as_numbers, finite_numbers
from foldshift.core.gate.rows import check_same_rows
from foldshift.core.gate.targets import check_present, class_labels, one_column
from foldshift.learners._states import Cuts

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, FloatArray, IntArray, TableLike, UnsignedArray


def _checked_folds(folds: ArrayLike, X: FloatArray, y: Array) -> UnsignedArray:
    """Check folds and convert them to one type, so that every kernel is compiled once."""
    if X.ndim != 2 or y.shape != (len(X),) or not len(y):
        raise ValueError(f"X has shape {X.shape} and y {y.shape}; expected (n_samples, n_features) and (n_samples,)")
    folds = check_folds(folds, len(X))
    if not len(folds) or (folds == folds[:, :1]).all(axis=1).any():
        raise ValueError("one fold holds all samples, so that none are left for training; make at least two folds")
    return np.ascontiguousarray(folds, dtype=np.uint16 if np.max(folds) < 2**16 else np.int64)


class _Shared(BaseEstimator):
    """Checks that regressors and classifiers share."""

    _finite: bool | Literal["allow-nan"] = True  # "allow-nan" for a learner that has a rule for missing values

    def _validated(self, X: Any, *y: Any, **options: Any) -> TableLike:
        """Validate inputs as scikit-learn does, and name the learner in the errors."""
        self._refuse_sparse(X)
        refuse_masks(X)
        refuse_dates(X)
        check_same_rows(X=X, y=y[0] if y else None)
        y = tuple(self._target(target) for target in y)
        try:
            return validate_data(self, na_as_nan(X), *y, dtype=np.float64, order="C", ensure_all_finite=self._finite, **options)
        except ValueError as error:
            raise self._in_own_words(error) from None

    def _numbers(self, X: FloatArray) -> FloatArray:
        """Convert the inputs of the shared path to float64."""
        self._refuse_sparse(X)
        refuse_masks(X)
        refuse_dates(X)
        try:
            return np.ascontiguousarray(na_as_nan(X), dtype=np.float64)
        except ValueError as error:
            raise self._in_own_words(error) from None

    def _target(self, y: Any) -> Any:
        """Refuse a target with missing values, which conversions may turn into numbers."""
        if y is not None and not issparse(y):
            check_present(y)
        return y

    def _refuse_sparse(self, X: Any) -> None:
        if issparse(X):
            raise TypeError(f"{type(self).__name__}: X is a sparse matrix, which it does not take; give X.toarray()")

    def _in_own_words(self, error: Exception) -> Exception:
        _, found, text = str(error).partition("could not convert string to float: ")
        if not found:
            return error
        advice = "give category codes 0, 1, ... (OrdinalEncoder makes them)"
        if "categorical_features" in self.get_params():
            advice += " and name the column in categorical_features"
        return ValueError(f"{type(self).__name__}: X holds the text {text}; {advice}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._finite == "allow-nan"
        return tags

    def _cuts(self, folds: UnsignedArray, random_states: UnsignedArray | None) -> Cuts:
        """Record the partitions; seeds of single fits count only if the estimator has no `random_state` of its own."""
        has_own = getattr(self, "random_state", None) is not None
        return Cuts(folds, int(folds.max()) + 1, None if has_own else random_states)

    def fold_predictor(self, X: ArrayLike, y: ArrayLike, X_new: ArrayLike) -> Callable[..., Any] | None:
        """Make a function that predicts new samples by the models of all folds; inputs are checked once.

        It takes the fold of every sample, shape (n_samples,), and yields what each fold's model, trained on the others, predicts
        for the new samples: arrays of shape (n_new,), the same as by `fit` and `predict`. None for a learner with a random state,
        as every fit has its own.
        """
        if "random_state" in self.get_params(deep=False):
            return None
        model = clone(self)
        rows, targets = model._validated(X, model._target_of_folds(y))
        new = model._validated(X_new, reset=False)

        def predict(folds: UnsignedArray) -> Iterator[Array]:
            for fold in range(int(folds.max()) + 1):
                training = folds != fold
                yield model._predict_after(rows[training], targets[training], new)

        return predict

    def _target_of_folds(self, y: Any) -> Any:
        """Check the target that `fold_predictor` is given, as `fit` does."""
        return y

    def _predict_after(self, X: FloatArray, y: Array, X_new: FloatArray) -> Array:
        """Predict new samples after training; inputs are checked."""
        raise NotImplementedError


class FoldRegressor(_Shared, RegressorMixin, BaseEstimator):
    """Base of the regressors that share work between folds.

    A subclass writes ``_fit(X, y)`` and ``_predict(X)`` (the plain path: any scikit-learn tool may call `fit` and
    `predict`), and ``_predict_folds(X, y, cuts)`` (the shared path: it receives all the folds of
    all the seeds, and does once what does not depend on the partition). Both paths give the same predictions; the
    contract tests run both for every subclass.
    """

    def _target(self, y: Any) -> Any:
        y = super()._target(y)
        return as_numbers(y, "y") if y is not None and as_array(y, "y").dtype.kind in "OSUmM" else y

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit to training data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs; finite numbers.
        y : array-like of shape (n_samples,)
            Target; finite numbers.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, y = self._validated(X, y, y_numeric=True)
        self._fit(X, np.ascontiguousarray(y, dtype=np.float64))
        return self

    def predict(self, X: ArrayLike) -> FloatArray:
        """Predict the target.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs; finite numbers.

        Returns
        -------
        y : ndarray of shape (n_samples,), dtype float64
            Predictions, in the unit of the training target.
        """
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        return self._predict(X)

    def _predict_after(self, X: FloatArray, y: Array, X_new: FloatArray) -> FloatArray:
        self._fit(X, np.ascontiguousarray(y, dtype=np.float64))
        return self._predict(X_new)

    def predict_folds(self, X: FloatArray, y: FloatArray, folds: Array, random_states: UnsignedArray | None = None) -> FloatArray:
        """Predict every sample from the other folds, for many partitions of the same data.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features), dtype float64
            Inputs; finite numbers.
        y : ndarray of shape (n_samples,), dtype float64
            Target; finite numbers.
        folds : ndarray of shape (n_seeds, n_samples), dtype uint8 or uint16
            Fold of every sample, in ``0 .. n_folds - 1``, one row per seed.
        random_states : ndarray of shape (n_seeds, n_folds), dtype uint32, optional
            The `random_state` of every fit, for randomised learners whose own `random_state` is None; one that is set
            is used in every fit.

        Returns
        -------
        predictions : ndarray of shape (n_seeds, n_samples), dtype float64
            Each sample is predicted by the model fitted on the folds it is not in.
        """
        X = self._numbers(X)
        y = np.ascontiguousarray(finite_numbers(one_column(y), "y"))
        folds = _checked_folds(folds, X, y)
        return self._predict_folds(X, y, self._cuts(folds, random_states))


class FoldClassifier(_Shared, ClassifierMixin, BaseEstimator):
    """Base of the classifiers that share work between folds.

    A subclass writes ``_fit(X, codes, n_classes)`` and ``_scores(X)`` (the plain path), and ``_scores_folds(X, codes,
    n_classes, cuts)`` (the shared path). Both give the same scores; the contract tests run both for every subclass. The
    predicted class is the one with the largest score, the lower code among equal ones, unless a subclass overrides `decide`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels in sorted order; a label's position is its code.
    """

    _tie: float = 0.0  # scores that differ by less, as by rounding, are equal

    def _target(self, y: Any) -> Any:
        y = super()._target(y)
        return class_labels(y, "y") if y is not None and as_array(y, "y").dtype.kind == "O" else y

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit to training data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs; finite numbers, category codes 0, 1, ... in nominal columns.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, y = self._validated(X, y)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self._fit(X, codes.astype(np.int64), len(self.classes_))
        return self

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Compute class scores of new samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs as in `fit`.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes), dtype float64
            Not negative, rows sum to 1.
        """
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        return self._scores(X)

    def predict(self, X: ArrayLike) -> Array:
        """Predict the class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs as in `fit`.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Class labels.
        """
        codes = self.decide(self.predict_proba(X))  # first: it says when the estimator is not fitted
        return self.classes_[codes]

    def _target_of_folds(self, y: Any) -> Any:
        check_classification_targets(self._target(y))
        return y

    def _predict_after(self, X: FloatArray, y: Array, X_new: FloatArray) -> Array:
        self.classes_, codes = np.unique(y, return_inverse=True)
        self._fit(X, codes.astype(np.int64), len(self.classes_))
        return self.classes_[self.decide(self._scores(X_new))]

    def scores_folds(self, X: FloatArray, y: Array, folds: Array, random_states: UnsignedArray | None = None) -> FloatArray:
        """Compute class scores of every sample from the other folds, for many partitions of the same data.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features), dtype float64
            Inputs.
        y : ndarray of shape (n_samples,)
            Class labels; every training part should hold every class (a class that a training part lacks gets score 0 there).
        folds : ndarray of shape (n_seeds, n_samples), dtype uint8 or uint16
            Fold of every sample, in ``0 .. n_folds - 1``, one row per seed.
        random_states : ndarray of shape (n_seeds, n_folds), dtype uint32, optional
            The `random_state` of every fit, for randomised learners whose own `random_state` is None; one that is set
            is used in every fit.

        Returns
        -------
        scores : ndarray of shape (n_seeds, n_samples, n_classes), dtype float64
            Classes in sorted order.
        """
        X = self._numbers(X)
        y = one_column(y)
        folds = _checked_folds(folds, X, y)
        classes, codes = np.unique(y, return_inverse=True)
        return self._scores_folds(X, codes.astype(np.int64), len(classes), self._cuts(folds, random_states))

    def predict_folds(self, X: TableLike, y: Array, folds: UnsignedArray, random_states: UnsignedArray | None = None) -> Array:
        """Predict the class of every sample from the other folds.

        Parameters
        ----------
        X, y, folds, random_states
            As in `scores_folds`.

        Returns
        -------
        predictions : ndarray of shape (n_seeds, n_samples)
            Class labels.
        """
        return np.unique(one_column(y))[self.decide(self.scores_folds(X, y, folds, random_states))]

    def decide(self, scores: FloatArray) -> IntArray:
        """Choose the codes (...) of classes from their scores (..., n_classes); the first of equal ones."""
        if not self._tie:
            return scores.argmax(axis=-1)
        return (scores >= scores.max(axis=-1, keepdims=True) - self._tie).argmax(axis=-1)
