"""Three ways to cut instances into folds at random, by Wong (2015)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from scipy.stats import binom

from foldshift.core.arguments import plain
from foldshift.core.counting import bincount, repeat
from foldshift.core.seeding import as_generator
from foldshift.partition.fold_numbers import fold_dtype

if TYPE_CHECKING:
    from foldshift.core.types import Floats, IntArray, UnsignedArray


class WongPartition(NamedTuple):
    """Result of `wong_partition`."""

    sizes: IntArray
    folds: UnsignedArray


def fold_of_uniform(u: Floats, k: int) -> int | IntArray:
    """Fold, counted from 0, of an instance that drew the random number u in (0, 1]: ``ceil(k u)``."""
    return plain(np.ceil(k * np.asarray(u)).astype(np.int64) - 1)


def wong_partition(n: int, k: int, scheme: Literal[1, 2, 3], rng: np.random.Generator | int) -> WongPartition:
    """Cut n instances into k folds at random in one of three ways.

    Parameters
    ----------
    n, k : int
        Instances and folds, ``2 <= k <= n``.
    scheme : {1, 2, 3}
        1: every instance draws its fold, so sizes vary and a fold may stay empty. 2: all folds have ``n // k`` instances and the
        last one takes the rest. 3: sizes differ by one at most, the larger folds last (recommended).
    rng : numpy.random.Generator or int
        Source of randomness.

    Returns
    -------
    sizes : ndarray of shape (k,), dtype int64
    folds : ndarray of shape (n,), dtype uint8 (uint16 above 256 folds)
        Fold of every instance, counted from 0.

    Raises
    ------
    ValueError
        If n, k or scheme is out of range.

    References
    ----------
    .. [1] Wong (2015), section 4.3.2.

    Examples
    --------
    >>> import numpy as np
    >>> sizes, folds = wong_partition(11, 3, scheme=3, rng=np.random.default_rng(0))
    >>> sizes.tolist(), np.bincount(folds).tolist()
    ([3, 4, 4], [3, 4, 4])
    """
    if scheme not in (1, 2, 3):
        raise ValueError(f"scheme={scheme!r} must be 1, 2 or 3")
    if not 2 <= k <= n:
        raise ValueError(f"k={k} folds must be from 2 to the number of instances, n={n}")
    rng = as_generator(rng)
    if scheme == 1:
        folds = np.asarray(fold_of_uniform(1 - rng.random(n), k))  # in (0, 1], as the ceiling needs
        sizes = bincount(folds, minlength=k)
    else:
        sizes = np.full(k, n // k)
        if scheme == 2:
            sizes[-1] += n % k
        else:
            sizes[k - n % k :] += 1
        folds = np.empty(n, dtype=np.int64)
        folds[np.argsort(rng.random(n))] = repeat(np.arange(k), sizes)
    return WongPartition(sizes, folds.astype(fold_dtype(k)))


def uneven_variance(n: int, k: int, scheme: Literal[1, 2, 3]) -> float:
    """Variance of the mean of k accuracies of independent rows, as a multiple of ``p (1 - p) / n``; 1 if all folds are equal.

    For scheme 1 it is the mean over the sizes that occur, of folds that are not empty.
    Source: Wong (2015), section 4.3.2: the accuracy of a fold of m rows has variance ``p (1 - p) / m``.
    """
    if scheme == 1:
        m = np.arange(1, n + 1)
        probability = binom.pmf(m, n, 1 / k)
        return float(n / k * (probability / m).sum() / probability.sum())
    sizes = wong_partition(n, k, scheme, 0).sizes
    return float(n / k**2 * (1 / sizes).sum())
