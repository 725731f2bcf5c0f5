"""The partitioners as scikit-learn splitters: use them wherever scikit-learn takes ``cv=``."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state, indexable
from sklearn.utils.validation import _num_samples

from foldshift.core.gate.rows import check_rows
from foldshift.core.gate.targets import numeric_target
from foldshift.partition.distinct import distinct_partitions
from foldshift.partition.methods.stratified import one_stratum_target, stratified_folds

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, FloatArray, IntArray, RandomState, TableLike, UnsignedArray


class TakesGroups:
    """Request for ``groups`` where scikit-learn routes metadata: by default, as that of `GroupKFold`."""

    __metadata_request__split: ClassVar = {"groups": True}


class FoldsSplitter(BaseCrossValidator):
    """Base of all splitters: checks the numbers of folds and repetitions, and turns folds into indices."""

    @property
    def _n_repeats(self) -> int | None:
        return getattr(self, "n_repeats", None)

    def _check_parameters(self) -> None:
        check_count("n_splits", self.n_splits, 2)
        if self._n_repeats is not None:
            check_count("n_repeats", self._n_repeats, 1)

    def _check_size(self, n_samples: int) -> None:
        if self.n_splits > n_samples:
            raise ValueError(
                f"Cannot have number of splits n_splits={self.n_splits} greater than the number of samples: "
                f"n_samples={n_samples}."
            )

    def _indices(self, cuts: UnsignedArray, groups: ArrayLike | None = None) -> Iterator[tuple[IntArray, IntArray]]:
        """Generate training and test rows, ascending, for every fold of every row of folds; warn of equal repetitions."""
        made = distinct_partitions(cuts, groups=groups) if len(cuts) > 1 else None
        if made is not None and not made.all_differ:
            warnings.warn(
                f"{made.n_made} repetitions gave {made.in_words()}; equal ones show nothing about the spread between partitions",
                stacklevel=3,
            )
        for folds in cuts:
            for fold in range(self.n_splits):
                test = folds == fold
                yield np.flatnonzero(~test), np.flatnonzero(test)

    def get_n_splits(self, X: Array | None = None, y: Array | None = None, groups: Any = None) -> int:
        """Return the number of folds times that of repetitions; `X`, `y` and `groups` are ignored, as in scikit-learn."""
        return self.n_splits * (self._n_repeats or 1)


class _ContinuousStratified(FoldsSplitter):
    """Shared by the single and the repeated splitter: checks and folds."""

    def _check(self, y: FloatArray, n_samples: int) -> FloatArray:
        if y is None:
            raise ValueError(f"The 'y' parameter should not be None: {type(self).__name__} stratifies on it.")
        y = one_stratum_target(y) if self.n_strata == 1 else numeric_target(y)
        self._check_size(n_samples)
        if self.n_strata is not None and self.n_strata > n_samples:
            raise ValueError(
                f"Cannot have number of strata n_strata={self.n_strata} greater than the number of samples: "
                f"n_samples={n_samples}. "
                "n_strata=None makes as many strata as samples."
            )
        return y

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_strata is not None:
            check_count("n_strata", self.n_strata, 1)

    def split(self, X: ArrayLike, y: TableLike = None, groups: Any = None) -> Iterator[tuple[Array, Array]]:
        """Generate indices to split data into training and test set.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data; only its length is used.
        y : array-like of shape (n_samples,)
            Numeric target to stratify on; one stratum takes class labels too.
        groups : object
            Ignored, with a warning; exists for compatibility.

        Yields
        ------
        train, test : ndarray
            Indices into the caller's own order, ascending.

        Warns
        -----
        UserWarning
            If groups are given.
        """
        warn_of_groups(self, groups)
        check_rows(X=X, y=y)
        X, y = indexable(X, y)
        n_samples = _num_samples(X)
        y = self._check(y, n_samples)
        rngs = make_rngs(self.random_state, self._n_repeats)
        yield from self._indices(stratified_folds(y, self.n_splits, self.n_strata, rngs))


class ContinuousStratifiedKFold(_ContinuousStratified):
    """K-fold cross-validation stratified on a continuous target.

    Samples are sorted by target and cut into `n_strata` strata of neighbours; the samples of each stratum are spread evenly, at
    random, over the folds. One stratum is plain shuffled k-fold, as many strata as samples (the default) is total
    stratification (TSCV), in which every run of `n_splits` neighbours in target goes to `n_splits` different folds.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    n_strata : int or None, default=None
        Number of strata t of SCV_t; None is as many as samples, 1 is plain k-fold.
    random_state : int, RandomState instance or None, default=None
        An integer gives the same folds in every call, those of ``make_folds(seeds=[random_state])``.

    Notes
    -----
    Samples with equal target keep the order that they come in. Where that order puts copies of a sample side by side, many strata
    part them more often than chance would, and the error of a learner that memorises is too low: shuffle such rows first.

    References
    ----------
    .. [1] Saez, J.A., Romero-Bejar, J.L. (2022). Impact of regressand stratification in dataset shift caused by
       cross-validation. Mathematics 10(14), 2538. Algorithms 1 to 3.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import ContinuousStratifiedKFold
    >>> y = np.arange(6.0)
    >>> for train, test in ContinuousStratifiedKFold(n_splits=3, random_state=0).split(y, y):
    ...     assert len(test) == 2 and min(test) < 3 <= max(test)
    """

    def __init__(self, n_splits: int = 5, n_strata: int | None = None, *, random_state: RandomState = None) -> None:
        self.n_splits = n_splits
        self.n_strata = n_strata
        self.random_state = random_state
        self._check_parameters()


class RepeatedContinuousStratifiedKFold(_ContinuousStratified):
    """`ContinuousStratifiedKFold` repeated with different randomisation in each repetition.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    n_repeats : int, default=10
        Number of repetitions, at least 1.
    n_strata : int or None, default=None
        Number of strata; None is as many as samples, 1 is plain k-fold.
    random_state : int, RandomState instance or None, default=None
        An integer gives the same folds in every call, those of
        ``make_folds(seeds=numpy.random.SeedSequence(random_state).spawn(n_repeats))``: more repetitions keep the ones there were.

    See Also
    --------
    ContinuousStratifiedKFold : A single repetition, with a description.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import RepeatedContinuousStratifiedKFold
    >>> y = np.arange(6.0)
    >>> splits = list(RepeatedContinuousStratifiedKFold(n_splits=3, n_repeats=10, random_state=0).split(y, y))
    >>> len(splits)
    30
    """

    def __init__(
        self, n_splits: int = 5, n_repeats: int = 10, n_strata: int | None = None, *, random_state: RandomState = None
    ) -> None:
        self.n_splits = n_splits
        self.n_repeats = n_repeats
        self.n_strata = n_strata
        self.random_state = random_state
        self._check_parameters()


def check_count(name: str, value: int, lowest: int) -> None:
    """Raise ValueError if a value is not an integer of at least `lowest`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise ValueError(f"{name} must be an integer of at least {lowest}; got {value!r} of type {type(value).__name__}.")
    if value < lowest:
        raise ValueError(f"{name} must be at least {lowest}; got {name}={value}.")


def warn_of_groups(splitter: FoldsSplitter, groups: Any) -> None:
    """Warn that groups are ignored, in scikit-learn's words and ours."""
    if groups is not None:
        warnings.warn(
            f"The groups parameter is ignored by {type(splitter).__name__}: rows of a group may be in training and test part. "
            "GroupKFold keeps them together, make_folds('LOSO', ..., groups=groups) leaves out one at a time.",
            UserWarning,
            stacklevel=3,
        )


def make_rngs(random_state: RandomState, n_repeats: int | None = None) -> list[np.random.Generator]:
    """Make one generator per repetition of a splitter."""
    if isinstance(random_state, numbers.Integral):
        if n_repeats is None:
            return [np.random.default_rng(int(random_state))]
        entropy = int(random_state)
    else:
        entropy = check_random_state(random_state).randint(0, 2**31, size=4).tolist()
    return [np.random.default_rng(child) for child in np.random.SeedSequence(entropy).spawn(n_repeats or 1)]
