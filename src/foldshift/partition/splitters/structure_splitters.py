"""Splitters for rows that belong together in time, in space or by subset: use them wherever scikit-learn takes ``cv=``."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator

from foldshift.core.gate.rows import check_rows, count_rows
from foldshift.core.gate.structure import coordinate_table, time_span, time_values
from foldshift.core.gate.targets import group_labels, one_column
from foldshift.partition.splitters.regression_splitters import TakesGroups, check_count, make_rngs
from foldshift.partition.structure.forward import forward_splits
from foldshift.partition.structure.nearest_distance import nndm_folds
from foldshift.partition.structure.spatial_blocks import block_folds, check_length, default_block_size, without_near
from foldshift.partition.structure.subsets import SubsetSplit, folds_within_subsets, same_other_all, subset_splits

if TYPE_CHECKING:
    import datetime

    from numpy.typing import ArrayLike

    from foldshift.core.types import BoolArray, FloatArray, IntArray, RandomState, TableLike


class _StructureSplitter(TakesGroups, BaseCrossValidator):
    """Base: what scikit-learn passes as ``groups`` says how rows belong together."""

    n_splits: int

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splitting iterations; `X`, `y` and `groups` are ignored, as in scikit-learn."""
        return self.n_splits

    def split(self, X: TableLike, y: TableLike = None, groups: TableLike = None) -> Iterator[tuple[IntArray, IntArray]]:
        """Generate indices to split data into training and test set.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data; only its length is used.
        y : array-like of shape (n_samples,), optional
            Target. `SpatialBlockKFold` takes its variogram if no block size is set; `SameOtherAllKFold` stratifies classes.
        groups : array-like of shape (n_samples,), (n_samples, 2) or (n_samples, 3)
            Times, coordinates or subsets, as the class says.

        Yields
        ------
        train, test : ndarray
            Indices into the caller's own order, ascending.

        Raises
        ------
        ValueError
            If a time, coordinate or subset is missing, there are too few for the folds, or a gap or buffer leaves no row.

        Warns
        -----
        UserWarning
            If the target is alike over longer distances than the side that blocks can have, or no folds come near the distances
            that `NNDistanceKFold` wants.
        """
        check_rows(X=X, y=y, groups=groups)
        return self._parts(count_rows(X, "X"), y, groups)

    def _parts(self, n_samples: int, y: TableLike, groups: TableLike) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield training and test rows."""
        raise NotImplementedError

    def _wanted(self, groups: TableLike, what: str) -> TableLike:
        if groups is None:
            raise ValueError(f"The 'groups' parameter should not be None: {type(self).__name__} takes {what} as groups.")
        return groups


class ForwardBlockKFold(_StructureSplitter):
    """Cross-validation forward in time: every block of times is predicted from what was before it.

    Rows are ordered by time and cut into ``n_splits + 1`` blocks of about equal size. Each block but the first is tested once, by
    a learner that is trained on earlier rows. Rows of the same time are never parted. Where all times differ, the parts are those
    of scikit-learn's `TimeSeriesSplit` on sorted rows.

    Parameters
    ----------
    n_splits : int, default=5
        Number of test blocks, at least 1.
    gap : float, or duration (datetime.timedelta, numpy.timedelta64, text such as "7D"), default=0
        Time before a test block of which no row is trained on: training rows are earlier by more than the gap. A duration for
        dates; a number, in the unit of the times, for times that are numbers. Without times, a number of rows.
    max_train_size : int, optional
        Most rows of a training part, the latest ones; whole times only.

    See Also
    --------
    foldshift.partition.as_splits : Training and test parts as arrays. An array of folds cannot show them.

    Notes
    -----
    Times are handed over as `groups`: `split(X, y, groups=times)`, as those of `GroupKFold` are. They are dates or numbers in any
    order. Without them, the order of the rows is that of time.

    References
    ----------
    .. [1] Bergmeir, C., Benitez, J.M. (2012). On the use of cross-validation for time series predictor evaluation. Information
       Sciences 191, 192-213.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import ForwardBlockKFold
    >>> days = np.array(["2024-01-01", "2024-01-03", "2024-01-02", "2024-01-03", "2024-01-09", "2024-01-08"], "M8[D]")
    >>> for train, test in ForwardBlockKFold(n_splits=2).split(np.zeros((6, 1)), groups=days):
    ...     print(train.tolist(), test.tolist())
    [0, 2] [1, 3]
    [0, 1, 2, 3] [4, 5]
    """

    def __init__(
        self, n_splits: int = 5, *, gap: float | str | datetime.timedelta | np.timedelta64 = 0, max_train_size: int | None = None
    ) -> None:
        self.n_splits = n_splits
        self.gap = gap
        self.max_train_size = max_train_size
        check_count("n_splits", n_splits, 1)
        if max_train_size is not None:
            check_count("max_train_size", max_train_size, 1)
        time_span(gap)

    def _parts(self, n_samples: int, y: TableLike, groups: TableLike) -> Iterator[tuple[IntArray, IntArray]]:
        times = np.arange(n_samples) if groups is None else time_values(groups, n_samples)
        return forward_splits(times, self.n_splits, time_span(self.gap), self.max_train_size)


class SpatialBlockKFold(_StructureSplitter):
    """K-fold cross-validation by square blocks in space, with a buffer around test parts.

    A grid of square blocks (cubic ones in three dimensions) is laid at a random place. Whole blocks go to folds, the largest
    first to the fold with fewest rows. With a buffer, rows within that distance of any test row are not trained on.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    block_size : float, optional
        Side of a block, in the unit of the coordinates. None: the range of a spherical model of the target's variogram, the
        distance beyond which targets are no longer alike. Where the target shows no such structure, or none is given, the side
        that cuts the area into ten blocks a fold. Blocks of which fewer than three a fold hold rows are made smaller, with a
        warning if they are then smaller than the range.
    buffer : float, optional
        Distance within which no training row is to a test row, in the unit of the coordinates. None: no buffer.
    random_state : int, RandomState instance or None, default=None
        An integer gives the same folds in every call, those of ``make_folds("BLOCKS", seeds=[random_state])``.

    See Also
    --------
    foldshift.partition.block_folds : The same for many seeds at once, without a buffer.
    foldshift.partition.NNDistanceKFold : Folds as far from each other as the places to predict are from the samples.

    Notes
    -----
    Coordinates are handed over as `groups`: `split(X, y, groups=coordinates)`. They are lengths of one unit; longitude and
    latitude are not: project them first.

    References
    ----------
    .. [1] Roberts, D.R. et al. (2017). Cross-validation strategies for data with temporal, spatial, hierarchical, or
       phylogenetic structure. Ecography 40, 913-929.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import SpatialBlockKFold
    >>> places = np.random.default_rng(0).random((200, 2))
    >>> splitter = SpatialBlockKFold(n_splits=4, block_size=0.2, buffer=0.05, random_state=0)
    >>> for train, test in splitter.split(places, groups=places):
    ...     distances = np.linalg.norm(places[train, None] - places[test], axis=2)
    ...     assert distances.min() > 0.05
    """

    def __init__(
        self, n_splits: int = 5, *, block_size: float | None = None, buffer: float | None = None, random_state: RandomState = None
    ) -> None:
        self.n_splits = n_splits
        self.block_size = block_size
        self.buffer = buffer
        self.random_state = random_state
        check_count("n_splits", n_splits, 2)
        for name, value in (("block_size", block_size), ("buffer", buffer)):
            if value is not None:
                check_length(name, value)

    def _parts(self, n_samples: int, y: TableLike, groups: TableLike) -> Iterator[tuple[IntArray, IntArray]]:
        places = coordinate_table(self._wanted(groups, "coordinates"), n_samples)
        size = self._size(places, y)
        rngs = make_rngs(self.random_state)
        folds = block_folds(None, None, self.n_splits, rngs, coordinates=places, block_size=size)[0]
        return _buffered(places, folds, self.n_splits, self.buffer)

    def _size(self, places: FloatArray, y: ArrayLike | None) -> float:
        """Side of a block, by default that of the variogram."""
        if self.block_size is not None:
            return float(self.block_size)
        size, alike = default_block_size(places, y, self.n_splits)
        if alike is not None and size < alike:
            warnings.warn(
                f"targets are alike up to a distance of {alike:.4g}, and blocks so large are too few for {self.n_splits} "
                f"folds; their side is {size:.4g}. Rows near the border of a block have neighbours in the training "
                "part: give a buffer, or take fewer folds.",
                UserWarning,
                stacklevel=4,
            )
        return size


def _buffered(places: FloatArray, folds: IntArray, n_splits: int, buffer: float | None) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield training and test rows of every fold, without training rows that are too near."""
    for fold in range(n_splits):
        test: BoolArray = folds == fold
        train = without_near(places, test, buffer)
        if not train.any():
            raise ValueError(
                f"a buffer of {buffer:g} leaves no row to train on: every other row is within it of the test rows of fold "
                f"{fold}; take a smaller buffer, or more splits"
            )
        yield np.flatnonzero(train), np.flatnonzero(test)


class NNDistanceKFold(_StructureSplitter):
    """K-fold cross-validation whose test rows are as far from the training part as places to predict are from the samples.

    For maps: places to predict that lie among the samples make nearly random folds, places far from them make folds of large
    clusters. The distances of nearest neighbours are matched in distribution (kNNDM).

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    prediction_points : array-like of shape (n_points, 2) or (n_points, 3)
        Places that will be predicted, such as the cells of a map, in the unit of the coordinates.
    random_state : int, RandomState instance or None, default=None
        An integer gives the same folds in every call, those of ``make_folds("NNDM", seeds=[random_state])``.

    See Also
    --------
    foldshift.partition.nndm_folds : The same for many seeds at once, with the rules in detail.
    foldshift.partition.SpatialBlockKFold : Square blocks, with a buffer.

    Notes
    -----
    Coordinates are handed over as `groups`: `split(X, y, groups=coordinates)`. They are lengths of one unit; longitude and
    latitude are not: project them first.

    References
    ----------
    .. [1] Linnenbrink, J., Mila, C., Ludwig, M., Meyer, H. (2024). kNNDM CV: k-fold nearest-neighbour distance matching
       cross-validation for map accuracy estimation. Geoscientific Model Development 17, 5897-5912.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import NNDistanceKFold
    >>> rng = np.random.default_rng(0)
    >>> samples, map_cells = rng.random((200, 2)) * 0.5, rng.random((500, 2))
    >>> splitter = NNDistanceKFold(n_splits=4, prediction_points=map_cells, random_state=0)
    >>> len(list(splitter.split(samples, groups=samples)))
    4
    """

    def __init__(self, n_splits: int = 5, *, prediction_points: TableLike, random_state: RandomState = None) -> None:
        self.n_splits = n_splits
        self.prediction_points = prediction_points
        self.random_state = random_state
        check_count("n_splits", n_splits, 2)

    def _parts(self, n_samples: int, y: TableLike, groups: TableLike) -> Iterator[tuple[IntArray, IntArray]]:
        places = coordinate_table(self._wanted(groups, "coordinates"), n_samples)
        rngs, points = make_rngs(self.random_state), self.prediction_points
        folds = nndm_folds(None, None, self.n_splits, rngs, coordinates=places, prediction_points=points)[0]
        return _buffered(places, folds, self.n_splits, None)


class SameOtherAllKFold(_StructureSplitter):
    """K-fold cross-validation that asks whether subsets may be pooled (SOAK: same, other, all).

    Every subset (a site, a year, a device) is cut into folds. Each fold is predicted three times: from the other folds of the
    same subset, from those of all other subsets, and from both. If *all* is better than *same*, pooling helps; if *other* is as
    good as *same*, the subsets are alike.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds of every subset, at least 2.
    random_state : int, RandomState instance or None, default=None
        An integer gives the same folds in every call.

    Notes
    -----
    Subsets are handed over as `groups`: `split(X, y, groups=subsets)`. There are ``3 * n_splits`` splits for each of them;
    `split_names` says which is which. A target of classes is stratified within the subsets.

    References
    ----------
    .. [1] Hocking, T.D., Bodine, C.S., et al. (2024). SOAK: Same/Other/All K-fold cross-validation for estimating similarity of
       patterns in data subsets. arXiv 2410.08643.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from foldshift.partition import SameOtherAllKFold
    >>> X = np.random.default_rng(0).random((60, 1))
    >>> sites = np.repeat(["a", "b"], 30)
    >>> y = np.where(sites == "a", X[:, 0], -X[:, 0])
    >>> splitter = SameOtherAllKFold(n_splits=2, random_state=0)
    >>> scores = cross_val_score(LinearRegression(), X, y, groups=sites, cv=splitter)
    >>> for name, score in zip(splitter.split_names(groups=sites)[:3], scores):
    ...     print(*name, bool(score > 0.99))
    a 0 same True
    a 0 other False
    a 0 all False
    """

    def __init__(self, n_splits: int = 5, *, random_state: RandomState = None) -> None:
        self.n_splits = n_splits
        self.random_state = random_state
        check_count("n_splits", n_splits, 2)

    def _parts(self, n_samples: int, y: TableLike, groups: TableLike) -> Iterator[tuple[IntArray, IntArray]]:
        labels = self._labels(groups, n_samples)
        target = None if y is None or (np.ndim(y) == 2 and np.shape(y)[1] > 1) else one_column(y)
        folds = folds_within_subsets(labels, target, self.n_splits, make_rngs(self.random_state)[0])
        return ((np.flatnonzero(train), np.flatnonzero(test)) for train, test in same_other_all(labels, folds, self.n_splits))

    def get_n_splits(self, X: Any = None, y: Any = None, groups: TableLike = None) -> int:
        """Return the number of splitting iterations.

        Parameters
        ----------
        X, y : object
            Ignored; exist for compatibility.
        groups : array-like of shape (n_samples,)
            Subset of every sample.

        Returns
        -------
        n_splits : int
            Three for every subset and fold.
        """
        return len(self.split_names(groups))

    def split_names(self, groups: TableLike = None) -> list[SubsetSplit]:
        """Name the splits, in their order.

        Parameters
        ----------
        groups : array-like of shape (n_samples,)
            Subset of every sample.

        Returns
        -------
        names : list of SubsetSplit
            ``subset, fold, trained_on``, the last one of ``same``, ``other`` and ``all``.
        """
        groups = self._wanted(groups, "subsets")
        return subset_splits(self._labels(groups, count_rows(groups, "groups")), self.n_splits)

    def _labels(self, groups: TableLike, n_samples: int) -> Any:
        return group_labels(self._wanted(groups, "subsets"), n_samples, "subsets")
