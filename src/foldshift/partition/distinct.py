"""Different partitions among repetitions: how many there are, and how many there can be."""

from __future__ import annotations

import hashlib
from math import factorial, prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foldshift.core.gate.folds import check_folds, refuse_splitter

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, IntArray


MOST_COUNTED = 1000  # rows or groups; of more there are partitions without end


class Partitions(NamedTuple):
    """Repetitions of a cut, and how many different partitions they are."""

    n_made: int  # repetitions
    n_different: int  # different partitions among them, whatever the numbers of the folds
    n_possible: int | None  # partitions with folds of these sizes; None where it is not known
    first: tuple[int, ...]  # the first repetition of each different partition

    @property
    def all_differ(self) -> bool:
        """True if every repetition is another partition."""
        return self.n_different == self.n_made

    @property
    def are_one(self) -> bool:
        """True if several repetitions are one and the same partition."""
        return self.n_different == 1 < self.n_made

    def in_words(self) -> str:
        """Write how many partitions differ, e.g. "2 different partitions of the 50 that there are", or "the same partition"."""
        few = "" if self.n_possible is None else f" of the {self.n_possible:,} that there are"
        if self.n_different > 1:
            return f"{self.n_different} different partitions{few}"
        only = ", the only one there is" if self.n_possible == 1 else f", one{few}" if few else ""
        return f"{'the same' if self.are_one else 'one'} partition{only}"


def fold_fingerprints(folds: ArrayLike) -> list[str]:
    """Compute a fingerprint of every partition, which does not depend on the numbers of its folds.

    Parameters
    ----------
    folds : array-like of shape (n_seeds, n_samples) or (n_samples,), integer
        Fold of every sample; -1 where it is never tested.

    Returns
    -------
    fingerprints : list of str
        Sixteen hexadecimal digits for each row. Two are equal if the same samples are tested together, and the same are never
        tested.

    Raises
    ------
    ValueError
        If the folds are not whole numbers from -1.

    Examples
    --------
    >>> from foldshift.partition import fold_fingerprints
    >>> one, turned, other = fold_fingerprints([[0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1]])
    >>> one == turned, one == other
    (True, False)
    """
    refuse_splitter(folds)
    n_samples = np.shape(folds)[-1] if np.ndim(folds) else 0
    return [hashlib.sha256(_renumbered(row).tobytes()).hexdigest()[:16] for row in check_folds(folds, n_samples, untested=True)]


def _renumbered(folds: Array) -> IntArray:
    """Number the folds by their first sample."""
    tested = folds >= 0
    out = np.full(len(folds), -1, dtype=np.int64)
    _, first, place = np.unique(folds[tested], return_index=True, return_inverse=True)
    out[tested] = np.argsort(np.argsort(first))[place]
    return out


def distinct_partitions(folds: ArrayLike, *, groups: ArrayLike | None = None, classes: ArrayLike | None = None) -> Partitions:
    """Count the different partitions among repetitions, and those that there can be.

    Parameters
    ----------
    folds : array-like of shape (n_seeds, n_samples) or (n_samples,), integer
        Fold of every sample, a row for each repetition; -1 where it is never tested.
    groups : array-like of shape (n_samples,), optional
        Groups that are kept together.
    classes : array-like of shape (n_samples,), optional
        Classes that the folds are stratified by.

    Returns
    -------
    partitions : Partitions
        ``n_made, n_different, n_possible, first``. The number of possible partitions is that of the ways to put rows, or whole
        groups, into folds of the sizes of the first row. It is known for rows, for groups of equal size, for classes whose rows
        the folds share equally, and where every fold holds one row or one group; of up to 1,000 rows or groups.

    Raises
    ------
    ValueError
        If the folds are not whole numbers from -1, or groups or classes have another length.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import distinct_partitions
    >>> distinct_partitions([[0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1]])[:3]
    (3, 2, 3)
    >>> distinct_partitions(np.arange(16) % 4, groups=np.arange(16) % 8).n_possible
    105
    """
    found = fold_fingerprints(folds)
    if not found or not np.shape(folds)[-1]:
        raise ValueError(f"folds have shape {np.shape(folds)}; expected at least one partition of at least one sample")
    n_samples = np.shape(folds)[-1]
    for name, values in (("groups", groups), ("classes", classes)):
        if values is not None and np.shape(values) != (n_samples,):
            raise ValueError(f"{name} has shape {np.shape(values)}; the folds have {n_samples} samples")
    first = sorted(found.index(one) for one in set(found))
    one = np.atleast_2d(np.asarray(folds))[0]
    return Partitions(len(found), len(first), _n_possible(one, groups, classes), tuple(first))


def _n_possible(folds: Array, groups: ArrayLike | None, classes: ArrayLike | None) -> int | None:
    """Count the partitions with folds of these sizes; None where it is not known."""
    if (folds < 0).any():
        return None
    k = len(np.unique(folds))
    if groups is not None:
        _, first, sizes = np.unique(np.asarray(groups, dtype=str), return_index=True, return_counts=True)
        if len(sizes) == k:
            return 1
        return _n_divisions(folds[first]) if len(set(sizes)) == 1 and len(sizes) <= MOST_COUNTED else None
    if k == len(folds):
        return 1
    if len(folds) > MOST_COUNTED:
        return None
    if classes is None:
        return _n_divisions(folds)
    parts = [np.unique(folds[np.asarray(classes) == label], return_counts=True)[1] for label in np.unique(np.asarray(classes))]
    if any(len(counts) < k or len(set(counts)) > 1 for counts in parts):
        return None
    return prod(_n_arrangements(counts) for counts in parts) // factorial(k)


def _n_divisions(folds: Array) -> int:
    """Count the ways to divide things into sets of given sizes, whatever the numbers of the sets."""
    counts = np.unique(folds, return_counts=True)[1]
    return _n_arrangements(counts) // prod(factorial(int(n)) for n in np.unique(counts, return_counts=True)[1])


def _n_arrangements(counts: IntArray) -> int:
    return factorial(int(counts.sum())) // prod(factorial(int(count)) for count in counts)
