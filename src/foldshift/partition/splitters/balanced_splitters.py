"""The cuts balanced in target and inputs as scikit-learn splitters: use them wherever scikit-learn takes ``cv=``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils import indexable
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _num_samples

from foldshift.core.gate.rows import check_rows
from foldshift.partition.methods.balanced import cb_cv_folds, cb_scv_folds, cb_table_folds, cb_tscv_folds
from foldshift.partition.splitters.regression_splitters import FoldsSplitter, TakesGroups, make_rngs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, RandomState, Task

TASKS = (None, "classification", "regression")


class _CovariateBalanced(TakesGroups, FoldsSplitter):
    """Base of the single and the repeated splitter."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.task not in TASKS:
            raise ValueError(f"task={self.task!r} must be 'classification', 'regression', or None: by the target")

    def split(self, X: ArrayLike, y: ArrayLike | None = None, groups: ArrayLike | None = None) -> Iterator[tuple[Array, Array]]:
        """Generate indices to split data into training and test set.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs: an array or a data frame (pandas, polars); NaN where a value is missing.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), optional
            Target: numbers, classes, or a table of several. None: only the inputs are balanced.
        groups : array-like of shape (n_samples,), optional
            Group of every sample; no group is in training and test part.

        Yields
        ------
        train, test : ndarray
            Indices into the caller's own order, ascending.

        Warns
        -----
        UserWarning
            If a class has fewer members than there are folds, which some folds then lack; if a target of whole numbers is
            taken for classes although few of them occur twice; if repetitions are the same partition.
        """
        check_rows(X=X, y=y, groups=groups)
        X, y, groups = indexable(X, y, groups)
        n_samples = _num_samples(X)
        self._check_size(n_samples)
        cut = self._cut_for(y)
        options = {"groups": groups, "stratify": self.stratify, "categorical_features": self.categorical_features}
        yield from self._indices(cut(X, y, self.n_splits, make_rngs(self.random_state, self._n_repeats), **options), groups)

    def _cut_for(self, y: ArrayLike | None) -> Callable[..., Any]:
        """Choose the array function for a target."""
        if y is None:
            return cb_cv_folds
        shape = np.shape(y)
        if len(shape) == 2 and shape[1] > 1:
            return cb_table_folds
        task = self.task or ("regression" if type_of_target(np.ravel(y)) == "continuous" else "classification")
        if task == "regression":
            return cb_tscv_folds
        values, counts = np.unique(np.ravel(y), return_counts=True)
        if self.task is None and values.dtype.kind in "uif" and 2 * len(values) > counts.sum():
            warnings.warn(
                f"y holds {len(values)} different whole numbers in {counts.sum()} rows; they are taken for classes, as "
                "scikit-learn does. For a target that is a number say task='regression'.",
                UserWarning,
                stacklevel=4,
            )
        elif self.n_splits > counts.min():
            warnings.warn(
                f"The least populated class in y has only {counts.min()} members, which is less than n_splits={self.n_splits}.",
                UserWarning,
                stacklevel=4,
            )
        return cb_scv_folds


class CovariateBalancedKFold(_CovariateBalanced):
    """K-fold cross-validation balanced in target and inputs at once, with groups kept together.

    Every fold has the distribution of the target that stratification gives it, and the inputs are distributed alike in all
    folds. By the target, it is CB-TSCV (continuous), CB-SCV (classes) or CB-CV (none); several targets are balanced together.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    task : {None, "classification", "regression"}, default=None
        What the target is. None: as scikit-learn decides it, numbers that are all whole being classes.
    stratify : None, array-like of bool of shape (n_features,), of int or of str, default=None
        Columns of X, by mask, positions or names, that are to be balanced like a target, such as sex or site.
    categorical_features : None, "from_dtype", array-like of bool of shape (n_features,), of int or of str, default=None
        Nominal columns: a mask, positions or names; ``from_dtype``: those of a categorical type or of text.
    random_state : int, RandomState instance or None, default=None
        An integer gives the same folds in every call, those of ``make_folds(seeds=[random_state])``.

    See Also
    --------
    foldshift.partition.cb_tscv_folds : The same for many seeds at once, with the rules in detail.
    foldshift.partition.fold_randomness : How much is left to chance.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import CovariateBalancedKFold
    >>> X = np.random.default_rng(0).random((60, 3))
    >>> groups = np.arange(60) // 4
    >>> for train, test in CovariateBalancedKFold(n_splits=3, random_state=0).split(X, X.sum(axis=1), groups):
    ...     assert len(test) == 20 and not set(groups[train]) & set(groups[test])
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        task: Task | None = None,
        stratify: ArrayLike | None = None,
        categorical_features: Literal["from_dtype"] | ArrayLike | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_splits = n_splits
        self.task = task
        self.stratify = stratify
        self.categorical_features = categorical_features
        self.random_state = random_state
        self._check_parameters()


class RepeatedCovariateBalancedKFold(_CovariateBalanced):
    """`CovariateBalancedKFold` repeated with different randomisation in each repetition.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    n_repeats : int, default=10
        Number of repetitions, at least 1.
    task : {None, "classification", "regression"}, default=None
        What the target is. None: as scikit-learn decides it, numbers that are all whole being classes.
    stratify : None, array-like of bool of shape (n_features,), of int or of str, default=None
        Columns of X, by mask, positions or names, that are to be balanced like a target, such as sex or site.
    categorical_features : None, "from_dtype", array-like of bool of shape (n_features,), of int or of str, default=None
        Nominal columns: a mask, positions or names; ``from_dtype``: those of a categorical type or of text.
    random_state : int, RandomState instance or None, default=None
        An integer gives the same folds in every call, those of
        ``make_folds(seeds=numpy.random.SeedSequence(random_state).spawn(n_repeats))``: more repetitions keep the ones there were.

    See Also
    --------
    CovariateBalancedKFold : A single repetition, with a description.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import RepeatedCovariateBalancedKFold
    >>> X = np.random.default_rng(0).random((60, 3))
    >>> len(list(RepeatedCovariateBalancedKFold(n_splits=3, n_repeats=10, random_state=0).split(X, X.sum(axis=1))))
    30
    """

    def __init__(
        self,
        n_splits: int = 5,
        n_repeats: int = 10,
        *,
        task: Task | None = None,
        stratify: ArrayLike | None = None,
        categorical_features: Literal["from_dtype"] | ArrayLike | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_splits = n_splits
        self.n_repeats = n_repeats
        self.task = task
        self.stratify = stratify
        self.categorical_features = categorical_features
        self.random_state = random_state
        self._check_parameters()
