"""The partitioners for classification as scikit-learn splitters: use them wherever scikit-learn takes ``cv=``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from sklearn.utils import indexable
from sklearn.utils.validation import _num_samples

from foldshift.core.gate.rows import check_rows
from foldshift.core.gate.targets import class_target
from foldshift.partition.methods.distance_based import check_rules, db_scv_folds, dob_scv_folds, ms_scv_folds
from foldshift.partition.methods.scv import scv_folds
from foldshift.partition.splitters.regression_splitters import FoldsSplitter, make_rngs, warn_of_groups

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, Metric, RandomState, TableLike, UnsignedArray


class _ClassStratified(FoldsSplitter):
    """Base of all splitters for classes. A subclass names its array function in `_make`."""

    _make: ClassVar[Callable[..., UnsignedArray]]

    def _check_target(self, y: TableLike, n_samples: int) -> Array:
        if y is None:
            raise ValueError(f"The 'y' parameter should not be None: {type(self).__name__} stratifies on it.")
        y = class_target(y)
        self._check_size(n_samples)
        counts = np.unique(y, return_counts=True)[1]
        if self.n_splits > counts.max():
            raise ValueError(f"n_splits={self.n_splits} cannot be greater than the number of members in each class.")
        if self.n_splits > counts.min():
            warnings.warn(
                f"The least populated class in y has only {counts.min()} members, which is less than n_splits={self.n_splits}.",
                UserWarning,
                stacklevel=3,
            )
        return y

    def _folds(self, X: ArrayLike, y: Array) -> UnsignedArray:
        return self._make(X, y, self.n_splits, make_rngs(self.random_state, self._n_repeats))

    def split(self, X: TableLike, y: TableLike = None, groups: Any = None) -> Iterator[tuple[Array, Array]]:
        """Generate indices to split data into training and test set.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data: an array or a data frame (pandas, polars). `SCV` and `RepeatedSCV` use only its length; the others
            measure distances, see `DBSCV`.
        y : array-like of shape (n_samples,)
            Class labels.
        groups : object
            Ignored, with a warning; exists for compatibility.

        Yields
        ------
        train, test : ndarray
            Indices into the caller's own order, ascending.

        Warns
        -----
        UserWarning
            If groups are given. If a class has fewer members than there are folds; some folds then lack it, as with
            scikit-learn's `StratifiedKFold`.
        """
        warn_of_groups(self, groups)
        check_rows(X=X, y=y)
        X, y = indexable(X, y)
        y = self._check_target(y, _num_samples(X))
        yield from self._indices(self._folds(X, y))


class _NeighbourStratified(_ClassStratified):
    """Base of the splitters that look at the inputs."""

    def __init__(
        self,
        n_splits: int = 5,
        *,
        metric: Metric = "heom",
        duplicates: Literal["neighbours", "skipped"] | None = None,
        remainders: Literal["spread", "restart"] | None = None,
        categorical_features: TableLike = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_splits = n_splits
        self.metric = metric
        self.duplicates = duplicates
        self.remainders = remainders
        self.categorical_features = categorical_features
        self.random_state = random_state
        self._check_parameters()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_rules(self.metric, self.duplicates, self.remainders)

    def _folds(self, X: Any, y: Array) -> UnsignedArray:
        return self._make(
            X,
            y,
            self.n_splits,
            make_rngs(self.random_state, self._n_repeats),
            metric=self.metric,
            duplicates=self.duplicates,
            remainders=self.remainders,
            categorical_features=self.categorical_features,
        )


class _RepeatedNeighbourStratified(_NeighbourStratified):
    """Base of the repeated splitters that look at the inputs."""

    def __init__(
        self,
        n_splits: int = 5,
        n_repeats: int = 10,
        *,
        metric: Metric = "heom",
        duplicates: Literal["neighbours", "skipped"] | None = None,
        remainders: Literal["spread", "restart"] | None = None,
        categorical_features: TableLike = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_repeats = n_repeats
        super().__init__(
            n_splits,
            metric=metric,
            duplicates=duplicates,
            remainders=remainders,
            categorical_features=categorical_features,
            random_state=random_state,
        )


class SCV(_ClassStratified):
    """K-fold cross-validation stratified on classes.

    The samples of every class are shuffled and dealt to the folds in turn; the turn runs on across classes, so that class counts
    and fold sizes differ by at most one.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    random_state : int, RandomState instance or None, default=None
        An integer gives the same folds in every call, those of ``make_folds(seeds=[random_state])``.

    See Also
    --------
    foldshift.partition.scv_folds : The same for many seeds at once, with the rules in detail and the source.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import SCV
    >>> y = np.array(["a", "a", "b", "b", "b", "b"])
    >>> for train, test in SCV(n_splits=2, random_state=0).split(np.zeros((6, 1)), y):
    ...     print(sorted(y[test].tolist()))
    ['a', 'b', 'b']
    ['a', 'b', 'b']
    """

    _make = staticmethod(scv_folds)

    def __init__(self, n_splits: int = 5, *, random_state: RandomState = None) -> None:
        self.n_splits = n_splits
        self.random_state = random_state
        self._check_parameters()


class RepeatedSCV(_ClassStratified):
    """`SCV` repeated with different randomisation in each repetition.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    n_repeats : int, default=10
        Number of repetitions, at least 1.
    random_state : int, RandomState instance or None, default=None
        An integer gives the same folds in every call, those of
        ``make_folds(seeds=numpy.random.SeedSequence(random_state).spawn(n_repeats))``: more repetitions keep the ones there were.

    See Also
    --------
    SCV : A single repetition, with a description.

    Examples
    --------
    >>> from foldshift.partition import RepeatedSCV
    >>> X, y = [[0.0], [0.1], [5.0], [5.1]], [0, 0, 1, 1]
    >>> len(list(RepeatedSCV(n_splits=2, n_repeats=10, random_state=0).split(X, y)))
    20
    """

    _make = staticmethod(scv_folds)

    def __init__(self, n_splits: int = 5, n_repeats: int = 10, *, random_state: RandomState = None) -> None:
        self.n_splits = n_splits
        self.n_repeats = n_repeats
        self.random_state = random_state
        self._check_parameters()


class DBSCV(_NeighbourStratified):
    """Distribution-balanced stratified cross-validation: near samples of a class go to different folds.

    From a random sample of a class on, the walk hops to the nearest unassigned sample of the class, and every sample on the way
    goes to the next fold.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    metric : {"heom", "euclidean", "keel"}, default="heom"
        Which samples are near. ``heom``: Euclidean distance of numeric columns scaled to [0, 1] over all samples, nominal columns
        adding 0 or 1 (equal or not); ``euclidean``: of the inputs as they are; ``keel``: as the KEEL tool orders neighbours, see
        `foldshift.partition.db_scv_folds`.
    duplicates : None or {"neighbours", "skipped"}, default=None
        Whether samples at distance exactly 0 are neighbours like all others, or none. None: ``skipped`` for ``keel``,
        ``neighbours`` otherwise.
    remainders : None or {"spread", "restart"}, default=None
        Whether the first fold moves on from group to group and class to class, which keeps the folds equally large, or every
        group and class begins with the first fold. None: ``restart`` for ``keel``, ``spread`` otherwise.
    categorical_features : None, "from_dtype", array-like of bool of shape (n_features,), of int or of str, default=None
        Mask, positions or names of the nominal columns, which may hold texts; ``from_dtype``: those of a categorical type or of
        text. All others hold numbers. Under ``heom``, a missing value is at distance 1 from all others.
    random_state : int, RandomState instance or None, default=None
        An integer gives the same folds in every call, those of ``make_folds(seeds=[random_state])``.

    See Also
    --------
    foldshift.partition.db_scv_folds : The same for many seeds at once, with the rules in detail and the source.

    Examples
    --------
    >>> import pandas as pd
    >>> from foldshift.partition import DBSCV
    >>> X = pd.DataFrame({"size": [0.0, 0.1, 5.0, None], "colour": ["red", "red", "blue", "blue"]})
    >>> splitter = DBSCV(n_splits=2, categorical_features=["colour"], random_state=0)
    >>> for train, test in splitter.split(X, [0, 0, 0, 0]):
    ...     print(sorted(X["colour"][test]))
    ['blue', 'red']
    ['blue', 'red']
    """

    _make = staticmethod(db_scv_folds)


class RepeatedDBSCV(_RepeatedNeighbourStratified):
    """`DBSCV` repeated with different randomisation in each repetition.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    n_repeats : int, default=10
        Number of repetitions, at least 1.
    metric : {"heom", "euclidean", "keel"}, default="heom"
    duplicates : None or {"neighbours", "skipped"}, default=None
    remainders : None or {"spread", "restart"}, default=None
    categorical_features : None, "from_dtype", array-like of bool of shape (n_features,), of int or of str, default=None
        These four are described in `DBSCV`.
    random_state : int, RandomState instance or None, default=None
        An integer gives the same folds in every call, those of
        ``make_folds(seeds=numpy.random.SeedSequence(random_state).spawn(n_repeats))``: more repetitions keep the ones there were.

    See Also
    --------
    DBSCV : A single repetition, with a description.

    Examples
    --------
    >>> from foldshift.partition import RepeatedDBSCV
    >>> X, y = [[0.0], [0.1], [5.0], [5.1]], [0, 0, 1, 1]
    >>> len(list(RepeatedDBSCV(n_splits=2, n_repeats=10, random_state=0).split(X, y)))
    20
    """

    _make = staticmethod(db_scv_folds)


class DOBSCV(_NeighbourStratified):
    """Distribution optimally balanced stratified cross-validation: a random sample and its nearest go to different folds.

    A random unassigned sample and its ``n_splits - 1`` nearest unassigned samples of the class go to as many different folds,
    until all are assigned.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    metric : {"heom", "euclidean", "keel"}, default="heom"
    duplicates : None or {"neighbours", "skipped"}, default=None
    remainders : None or {"spread", "restart"}, default=None
    categorical_features : None, "from_dtype", array-like of bool of shape (n_features,), of int or of str, default=None
        These four are described in `DBSCV`.
    random_state : int, RandomState instance or None, default=None
        An integer gives the same folds in every call, those of ``make_folds(seeds=[random_state])``.

    See Also
    --------
    foldshift.partition.dob_scv_folds : The same for many seeds at once, with the rules in detail and the source.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import DOBSCV
    >>> X, y = np.array([[0.0], [0.1], [5.0], [5.1], [9.0], [9.1]]), [0, 0, 0, 0, 1, 1]
    >>> for train, test in DOBSCV(n_splits=2, random_state=0).split(X, y):
    ...     assert sorted(X[test, 0].round()) == [0, 5, 9]
    """

    _make = staticmethod(dob_scv_folds)


class RepeatedDOBSCV(_RepeatedNeighbourStratified):
    """`DOBSCV` repeated with different randomisation in each repetition.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    n_repeats : int, default=10
        Number of repetitions, at least 1.
    metric : {"heom", "euclidean", "keel"}, default="heom"
    duplicates : None or {"neighbours", "skipped"}, default=None
    remainders : None or {"spread", "restart"}, default=None
    categorical_features : None, "from_dtype", array-like of bool of shape (n_features,), of int or of str, default=None
        These four are described in `DBSCV`.
    random_state : int, RandomState instance or None, default=None
        An integer gives the same folds in every call, those of
        ``make_folds(seeds=numpy.random.SeedSequence(random_state).spawn(n_repeats))``: more repetitions keep the ones there were.

    See Also
    --------
    DOBSCV : A single repetition, with a description.

    Examples
    --------
    >>> from foldshift.partition import RepeatedDOBSCV
    >>> X, y = [[0.0], [0.1], [5.0], [5.1]], [0, 0, 1, 1]
    >>> len(list(RepeatedDOBSCV(n_splits=2, n_repeats=10, random_state=0).split(X, y)))
    20
    """

    _make = staticmethod(dob_scv_folds)


class MSSCV(_NeighbourStratified):
    """Maximally shifted stratified cross-validation: near samples of a class go to the same fold.

    The walk of `DBSCV`, which here fills a fold with its share of the class before the next one: a worst case to compare with.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    metric : {"heom", "euclidean", "keel"}, default="heom"
    duplicates : None or {"neighbours", "skipped"}, default=None
    remainders : None or {"spread", "restart"}, default=None
    categorical_features : None, "from_dtype", array-like of bool of shape (n_features,), of int or of str, default=None
        These four are described in `DBSCV`.
    random_state : int, RandomState instance or None, default=None
        An integer gives the same folds in every call, those of ``make_folds(seeds=[random_state])``.

    See Also
    --------
    foldshift.partition.ms_scv_folds : The same for many seeds at once, with the rules in detail and the source.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import MSSCV
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> sorted(X[test].ravel().tolist() for train, test in MSSCV(n_splits=2, random_state=0).split(X, [0, 0, 0, 0]))
    [[0.0, 0.1], [5.0, 5.1]]
    """

    _make = staticmethod(ms_scv_folds)


class RepeatedMSSCV(_RepeatedNeighbourStratified):
    """`MSSCV` repeated with different randomisation in each repetition.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    n_repeats : int, default=10
        Number of repetitions, at least 1.
    metric : {"heom", "euclidean", "keel"}, default="heom"
    duplicates : None or {"neighbours", "skipped"}, default=None
    remainders : None or {"spread", "restart"}, default=None
    categorical_features : None, "from_dtype", array-like of bool of shape (n_features,), of int or of str, default=None
        These four are described in `DBSCV`.
    random_state : int, RandomState instance or None, default=None
        An integer gives the same folds in every call, those of
        ``make_folds(seeds=numpy.random.SeedSequence(random_state).spawn(n_repeats))``: more repetitions keep the ones there were.

    See Also
    --------
    MSSCV : A single repetition, with a description.

    Examples
    --------
    >>> from foldshift.partition import RepeatedMSSCV
    >>> X, y = [[0.0], [0.1], [5.0], [5.1]], [0, 0, 1, 1]
    >>> len(list(RepeatedMSSCV(n_splits=2, n_repeats=10, random_state=0).split(X, y)))
    20
    """

    _make = staticmethod(ms_scv_folds)
