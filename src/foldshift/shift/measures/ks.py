"""Kolmogorov-Smirnov distance of samples, of features of many versions of a table, and of folds, exact under ties."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy import special

from foldshift.core.arguments import check_one_of
from foldshift.core.compiling import compiled, form_for
from foldshift.core.counting import bincount
from foldshift.core.gate.numbers import whole_numbers
from foldshift.core.repr import readable
from foldshift.partition.folds import given_folds
from foldshift.shift.measures import in_numpy
from foldshift.shift.table_versions import as_numbers, features_frame, features_in_words, numeric_tables, plan_versions

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, BoolArray, FloatArray, Floats, IntArray, UnsignedArray
    from foldshift.shift.inject.injectors import Versions

KS_METHODS = ("auto", "exact", "asymptotic", "permutation", "paper")
LARGEST_EXACT = 100_000_000  # product of the two sizes up to which "auto" counts: some hundredths of a second for one D
FEW_VALUES = 50  # in a sample this small "auto" always counts: the cost is that of sorting
CELLS_AT_ONCE = 4_000_000  # counts in memory at the same time
SMALLEST = float(np.finfo(np.float64).tiny)  # p-value


@readable
class KSFeatures(NamedTuple):
    """Result of `ks_features`; without versions the first axis is absent."""

    # ``D = max |F_train - F_test|``, in [0, 1]; NaN where the feature has no value in one of the parts, or is masked; shape
    # (n_versions, n_features)
    statistic: FloatArray
    # one-sided, ``max (F_train - F_test)``: large where the test values are the larger ones. `scipy.stats.ks_2samp` calls it
    # "greater"
    greater: FloatArray
    n_train: IntArray  # number of values in the training table, without missing ones; shape (n_features,)
    # number of values in the version of the test table, without missing ones; 0 where masked; shape (n_versions, n_features)
    n_test: IntArray

    def sentences(self) -> list[str]:
        """Return the result in words."""
        return [features_in_words("Kolmogorov-Smirnov distance", self.statistic)]

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each feature, of each version if there are any."""
        sizes = np.broadcast_to(self.n_train, self.statistic.shape)
        return features_frame(statistic=self.statistic, greater=self.greater, n_train=sizes, n_test=self.n_test)


def ks_features(train: ArrayLike, test: ArrayLike, versions: Versions | ArrayLike | None = None) -> KSFeatures:
    """Compute the Kolmogorov-Smirnov distance of every feature between a training table and many versions of a test table.

    Parameters
    ----------
    train : array-like of shape (n_train, n_features)
        Numbers; NaN is a missing value and left out.
    test : array-like of shape (n_test, n_features)
        As `train`.
    versions : None, Versions, or array-like of int of shape (n_versions, n_kept)
        None: the test table as it is. Otherwise the result of `foldshift.shift.versions`, or the rows of every version; a row may
        occur more than once.

    Returns
    -------
    ks : KSFeatures
        Two-sided and one-sided distances, and the numbers of values.

    Raises
    ------
    ValueError
        If the tables have different numbers of features or none, a value is infinite, or a row does not exist.

    Notes
    -----
    Each feature is sorted once for all versions; a version is then a count of its rows along that order. D is computed on
    integers and rounded once, so that ties are exact. Counting values up to x or strictly below x gives the same D. A constant
    feature has D = 0 if it has the same value in both tables.

    References
    ----------
    .. [1] Cieslak, D.A., Chawla, N.V. (2009). A framework for monitoring classifiers' performance: when and why failure occurs?
       Knowledge and Information Systems 18, 83-108. Section 5.3.

    Examples
    --------
    >>> ks_features([[0, 5], [1, 6], [2, 7]], [[1, 5], [2, 6], [3, 7]]).statistic.round(3)
    array([0.333, 0.   ])
    """
    train, test = numeric_tables(train, test)
    plan = plan_versions(versions, *test.shape)
    n_versions, n_features = len(plan.feature), test.shape[1]
    statistic, greater = np.empty((2, n_versions, n_features))
    n_test = np.empty((n_versions, n_features), dtype=np.int64)
    counts = _row_counts(plan.rows, len(test))
    n_train = (~np.isnan(train)).sum(axis=0, dtype=np.int64)
    for j in range(n_features):
        column, here = np.sort(train[:, j])[: n_train[j]], plan.feature == j
        statistic[:, j], greater[:, j], n_test[:, j] = _ks_column(column, test[:, j], counts)
        if plan.masked:
            statistic[here, j], greater[here, j], n_test[here, j] = np.nan, np.nan, 0
        else:
            for v in np.flatnonzero(here & (plan.offset != 0)):
                one = counts[:, [min(v, counts.shape[1] - 1)]]
                moved = _ks_column(column, test[:, j] + plan.offset[v], one)
                statistic[v, j], greater[v, j], n_test[v, j] = (a[0] for a in moved)
    if versions is None:
        return KSFeatures(statistic[0], greater[0], n_train, n_test[0])
    return KSFeatures(statistic, greater, n_train, n_test)


def ks_p_value(
    D: ArrayLike,
    n1: ArrayLike,
    n2: ArrayLike,
    method: Literal["auto", "exact", "asymptotic", "permutation", "paper"] = "auto",
    ties: ArrayLike | None = None,
    *,
    largest_exact: int = LARGEST_EXACT,
) -> Floats:
    """Compute the p-value of the two-sample Kolmogorov-Smirnov statistic.

    Parameters
    ----------
    D : float or array-like
        Statistics, in [0, 1].
    n1, n2 : int or array-like of int
        Sizes of the samples; broadcast with D.
    method : {"auto", "exact", "asymptotic", "permutation", "paper"}, default="auto"
        ``exact``
            Two-sided, from the distribution of continuous values without ties (under ties it is too large).
        ``permutation``
            Two-sided, over all divisions of the pooled sample into parts of these sizes, given its ties: counted in full, not
            drawn at random. Without ties the same as ``exact``.
        ``asymptotic``
            Two-sided limit ``2 sum (-1)^(i-1) exp(-2 i^2 D^2 m)`` with ``m = n1 n2 / (n1 + n2)``.
        ``paper``
            Equation 7 of [1]_: ``4 D^2 m`` against a chi-square with 2 degrees of freedom, ``exp(-2 D^2 m)``. It is the limit of
            the one-sided D (`KSFeatures.greater`): for the two-sided D the true p is about twice as large.
        ``auto``
            Counted in full where that is cheap, the limit elsewhere; see `foldshift.shift.measures.ks.ks_method`.
    ties : array-like of int, optional
        Sizes of the groups of equal values of the pooled sample in ascending order of the value, from
        `foldshift.shift.measures.ks.tie_sizes`; needed by ``permutation``. They belong to one pooled sample, so that n1 and n2
        must be single numbers.
    largest_exact : int, default=100,000,000
        Largest product of the two sizes for which ``auto`` counts. Take less for many thousands of D at once if some decimals do
        not matter.

    Returns
    -------
    p_value : float or ndarray
        In (0, 1], at least 2e-308; NaN where D is, or where a size is 0.

    Raises
    ------
    ValueError
        If D, a size, `method` or `ties` is not allowed.

    References
    ----------
    .. [1] Cieslak, Chawla (2009), section 5.3, equation 7.
    .. [2] Schroeer, G., Trenkler, D. (1995). Exact and randomization distributions of Kolmogorov-Smirnov tests two or three
       samples. Computational Statistics & Data Analysis 20(2), 185-202.

    Examples
    --------
    >>> round(ks_p_value(0.5, 20, 20), 4), round(ks_p_value(0.5, 20, 20, "asymptotic"), 4)
    (0.0123, 0.0135)
    """
    sizes = (whole_numbers(size, name, "sizes of samples") for size, name in ((n1, "n1"), (n2, "n2")))
    D, n1, n2 = np.broadcast_arrays(as_numbers(D, "D"), *sizes)
    if ((D < 0) | (D > 1)).any():
        raise ValueError(f"D={D[(D < 0) | (D > 1)][0]:g} must be from 0 to 1")
    if (n1 < 0).any() or (n2 < 0).any():
        raise ValueError("n1 and n2 must be integers of at least 0")
    check_one_of("method", method, KS_METHODS)
    p = np.full(D.shape, np.nan)
    defined = ~np.isnan(D) & (n1 > 0) & (n2 > 0)
    for size1, size2 in np.unique(np.column_stack([n1[defined], n2[defined]]), axis=0).tolist():
        here = defined & (n1 == size1) & (n2 == size2)
        groups = _checked_ties(ties, size1 + size2)
        m = size1 * size2 / (size1 + size2)
        used = ks_method(size1, size2, method, groups, largest_exact=largest_exact)
        if used == "paper":
            p[here] = np.exp(-2 * D[here] ** 2 * m)
        elif used == "asymptotic":
            p[here] = special.kolmogorov(np.sqrt(m) * D[here])
        else:
            ends = np.arange(1, size1 + size2 + 1) if used == "exact" or groups is None else np.cumsum(groups)
            distinct, place = np.unique(D[here], return_inverse=True)
            p[here] = _exact_p(distinct, size1, size2, ends)[place.ravel()]
    p = np.maximum(p, SMALLEST)
    return float(p) if p.ndim == 0 else p


def ks_method(
    n1: int, n2: int, method: str = "auto", ties: ArrayLike | None = None, *, largest_exact: int = LARGEST_EXACT
) -> str:
    """Choose the method of `ks_p_value` for samples of two sizes: `method` itself unless that is ``auto``.

    ``auto`` counts all divisions (``permutation`` under ties, else ``exact``) while ``n1 n2`` is at most `largest_exact`, or the
    smaller sample has at most 50 values (unless `largest_exact` is below the default). Above that it takes ``asymptotic``, with a
    p that is too large, under ties by much: .05 is .036 for two samples of 100 and .047 for two of 3,000.

    >>> ks_method(8, 2000), ks_method(8, 2000, ties=[1] * 2006 + [2]), ks_method(20_000, 20_000)
    ('exact', 'permutation', 'asymptotic')
    """
    if method == "permutation" and ties is None:
        raise ValueError("ties is None; method='permutation' needs the sizes of the groups of equal values: tie_sizes(a, b)")
    if method != "auto":
        return method
    few = min(n1, n2) <= FEW_VALUES and largest_exact >= LARGEST_EXACT
    if n1 * n2 > largest_exact and not few:
        return "asymptotic"
    return "permutation" if ties is not None and (np.asarray(ties) > 1).any() else "exact"


def tie_sizes(a: ArrayLike, b: ArrayLike) -> IntArray:
    """Count the sizes of the groups of equal values of two samples together, in ascending order; NaN is left out."""
    pooled = np.concatenate([as_numbers(a, "a"), as_numbers(b, "b")])
    return np.unique(pooled[~np.isnan(pooled)], return_counts=True)[1]


def _row_counts(rows: IntArray, n: int) -> UnsignedArray:
    """Count the occurrences of every row in every version, (n, n_versions)."""
    n_versions = len(rows)
    flat = (np.arange(n_versions)[:, None] * n + rows).ravel()
    counts = bincount(flat, minlength=n_versions * n).reshape(n_versions, n)
    return np.ascontiguousarray(counts.T.astype(np.uint8 if counts.max() < 256 else np.int64))


def _ks_column(train: FloatArray, test: FloatArray, counts: UnsignedArray) -> tuple[FloatArray, FloatArray, IntArray]:
    """Compute D two-sided and one-sided, and the number of values, of every version of one column.

    `train` is sorted and has no NaN, `counts` is (n, n_versions).
    """
    n_train, n_versions = len(train), counts.shape[1]
    order = np.argsort(test)  # NaN last
    values = test[order]
    n_present = len(values) - int(np.isnan(values).sum())
    values, present = values[:n_present], order[:n_present]
    sizes = counts.take(present, axis=0).sum(axis=0, dtype=np.int64)
    statistic, greater = np.full((2, n_versions), np.nan)
    if n_train == 0 or n_present == 0:
        return statistic, greater, sizes
    ends = np.append(np.flatnonzero(values[1:] != values[:-1]), n_present - 1)
    # The distance is extreme just before or at a value of the test table, as the training function alone moves in between.
    distinct = values[ends]
    upto = np.searchsorted(train, distinct, side="right")
    below = upto.copy()
    shared = np.flatnonzero((upto > 0) & (train[upto - 1] == distinct))
    below[shared] = np.searchsorted(train, distinct[shared], side="left")
    kind: type[np.signedinteger[Any]] = np.int32 if n_train * int(sizes.max()) < 2**31 else np.int64  # int32 is twice as fast
    upto, below = upto.astype(kind), below.astype(kind)
    step = max(1, CELLS_AT_ONCE // n_present)
    for first in range(0, n_versions, step):
        part = slice(first, first + step)
        n_test = sizes[part].astype(kind)[:, None]
        # Sums run fastest down the columns, maxima along the rows.
        cumulated: Array = np.cumsum(counts[:, part].take(present, axis=0), axis=0, dtype=kind)
        cumulated = np.ascontiguousarray((cumulated.take(ends, axis=0) if len(ends) < n_present else cumulated).T)
        np.multiply(cumulated, kind(n_train), out=cumulated)
        at = n_test * upto
        at -= cumulated
        before = n_test * below
        before[:, 1:] -= cumulated[:, :-1]
        above = np.maximum(at.max(axis=1), before.max(axis=1))
        largest = np.maximum.reduce([above, -at.min(axis=1), -before.min(axis=1)])
        for found, out in ((largest, statistic), (above, greater)):
            np.divide(found, n_train * sizes[part], out=out[part], where=sizes[part] > 0)
    return statistic, greater, sizes


def _checked_ties(ties: ArrayLike | None, n: int) -> IntArray | None:
    if ties is None:
        return None
    ties = whole_numbers(ties, "ties", "sizes of groups of equal values")
    if ties.ndim != 1 or (ties < 1).any() or ties.sum() != n:
        raise ValueError(f"ties must be the sizes of the groups of equal values, at least 1 each, with sum n1 + n2 = {n}")
    return ties


def _exact_p(D: FloatArray, n1: int, n2: int, ends: IntArray) -> FloatArray:
    """Compute P(distance >= D) over all equally likely orders of the pooled sample, at the ends of groups of equal values."""
    n1, n2 = min(n1, n2), max(n1, n2)
    is_end = np.zeros(n1 + n2 + 1, dtype=bool)
    is_end[ends] = True
    threshold = np.ceil(D * (n1 * n2) - 1e-6).astype(np.int64)  # D is a multiple of 1 / (n1 n2)
    return np.array([1.0 if least <= 0 else min(_left_share(least, n1, n2, is_end), 1.0) for least in threshold])


@compiled
def _left_share(threshold: int, n1: int, n2: int, is_end: BoolArray) -> float:
    """Share of the orders of n1 and n2 values, ``n1 <= n2``, that are `threshold` apart (in units of 1 / (n1 n2)) somewhere.

    The pooled values are visited in order; state i holds the probability that i of them belong to the smaller sample. States too
    far apart leave, and the sum of all that left is p, which keeps small p accurate. The remaining states form a band, and only
    these are visited.
    """
    state = np.zeros(n1 + 1)
    state[0] = 1.0
    low, high, left_share = 0, 0, 0.0
    for t in range(n1 + n2):
        left = n1 + n2 - t
        top = min(high + 1, n1)
        for i in range(top, low - 1, -1):
            stays = state[i] * (max(n2 - t + i, 0) / left) if i <= high else 0.0
            state[i] = stays + (state[i - 1] * ((n1 - i + 1) / left) if i > low else 0.0)
        high = top
        if is_end[t + 1]:
            while low <= high and abs(low * n2 - (t + 1 - low) * n1) >= threshold:
                left_share += state[low]
                low += 1
            while low <= high and abs(high * n2 - (t + 1 - high) * n1) >= threshold:
                left_share += state[high]
                state[high] = 0.0
                high -= 1
            if low > high:
                break
    return left_share


def ks_statistic(a: ArrayLike, b: ArrayLike) -> float:
    """Compute the two-sample Kolmogorov-Smirnov statistic: the largest distance between two distribution functions.

    Parameters
    ----------
    a, b : array-like of shape (n,), (m,)
        Samples; finite numbers, at least one each.

    Returns
    -------
    statistic : float
        ``D = max_v |F_a(v) - F_b(v)|`` over the distinct values v, in ``[0, 1]``. Computed on integer counts and rounded once.

    Raises
    ------
    ValueError
        If a sample is empty or holds NaN.

    References
    ----------
    .. [1] Saez, Romero-Bejar (2022), section 4.3: ``D_n = sup_x |F_X - F_Y|``.

    Examples
    --------
    >>> ks_statistic([1, 2, 3, 4], [3, 4, 5, 6])
    0.5
    """
    a, b = as_numbers(a, "sample a"), as_numbers(b, "sample b")
    for name, sample in (("a", a), ("b", b)):
        if sample.ndim != 1 or len(sample) == 0:
            raise ValueError(f"sample {name} has shape {sample.shape}; expected (n,) with n of at least 1")
        if np.isnan(sample).any():
            raise ValueError(f"sample {name} holds NaN; drop missing values first")
    a, b = np.sort(a), np.sort(b)
    values = np.concatenate([a, b])
    counts_a = np.searchsorted(a, values, side="right")
    counts_b = np.searchsorted(b, values, side="right")
    return float(np.abs(counts_a * len(b) - counts_b * len(a)).max() / (len(a) * len(b)))


def fold_ks(y: ArrayLike, folds: ArrayLike, n_folds: int | None = None) -> FloatArray:
    """Compute the target shift of every fold of every seed: D_n between training and test part.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Target; finite numbers.
    folds : array-like of shape (n_seeds, n_samples) or (n_samples,), integer; or splitter
        Fold of every sample from 0, one row per seed; or a splitter such as ``KFold(5)``. -1 is a sample that is in every
        training part and never tested.
    n_folds : int, optional
        Number of folds; by default the largest fold number plus one.

    Returns
    -------
    d_n : ndarray of shape (n_seeds, n_folds), dtype float64
        Two-sample Kolmogorov-Smirnov statistic between the targets outside and inside each fold, in ``[0, 1]``; NaN for a
        fold that is empty or holds all samples. Step functions are compared at distinct values only.

    Raises
    ------
    ValueError
        If `y` is not a finite array of one axis, or the folds do not fit.

    Notes
    -----
    With j samples up to a value, c of them in a fold of size m, the distance is ``|j m - c n| / (m (n - m))``: integers until the
    last division. Between two samples of a fold it is extreme at the ends, so one pass over the sorted targets serves all folds:
    O(n) per seed.

    Examples
    --------
    >>> fold_ks([1.0, 2.0, 3.0, 4.0], np.array([[0, 1, 0, 1], [0, 0, 1, 1]], dtype=np.uint8))
    array([[0.5, 0.5],
           [1. , 1. ]])
    """
    target, y = y, as_numbers(y, "y")
    if y.ndim != 1:
        raise ValueError(f"y has shape {y.shape}; expected (n_samples,)")
    if not np.isfinite(y).all():
        raise ValueError("y holds NaN or infinite values; drop them first")
    folds, n_folds, n_parts = given_folds(folds, n_folds, target, target)
    order = np.argsort(y, kind="stable")
    sorted_y = y[order]
    ends = np.append(np.flatnonzero(sorted_y[1:] != sorted_y[:-1]) + 1, len(y))
    return ks_of_ranks(np.ascontiguousarray(folds[:, order]), ends, n_parts)[:, :n_folds]


def ks_of_ranks(folds: Array, ends: IntArray, n_folds: int) -> FloatArray:
    """Compute `fold_ks_in_order`, in NumPy while that is not compiled and the call is small."""
    return form_for(fold_ks_in_order, in_numpy.fold_ks, folds.size)(folds, ends, n_folds)


@compiled
def fold_ks_in_order(folds: Array, ends: IntArray, n_folds: int) -> FloatArray:
    """Compute `fold_ks` of samples in ascending order of the target; `ends` holds the ends (one past) of groups of equal values.

    Columns of `folds` from the last end on are samples without a value, which do not count.
    """
    n, n_seeds = ends[-1], len(folds)
    out = np.empty((n_seeds, n_folds))
    size = np.empty(n_folds, np.int64)
    gap = np.empty(n_folds, np.int64)
    largest = np.empty(n_folds, np.int64)
    smallest = np.empty(n_folds, np.int64)
    for s in range(n_seeds):
        size[:] = 0
        for i in range(n):
            size[folds[s, i]] += 1
        # With j samples so far, c of them in fold f: j m - c n = j m + gap[f]. Between two samples of a fold it grows, and falls
        # at each: it is largest just before and smallest just after some of them; comparing elsewhere does no harm.
        gap[:] = 0
        largest[:] = 0
        smallest[:] = 0
        start = 0
        for end in ends:
            if end - start == 1:
                f = folds[s, start]
                before = start * size[f] + gap[f]
                gap[f] -= n
                largest[f] = max(largest[f], before)
                smallest[f] = min(smallest[f], before + size[f] - n)
            elif end - start < n_folds:
                for i in range(start, end):
                    f = folds[s, i]
                    largest[f] = max(largest[f], start * size[f] + gap[f])
                for i in range(start, end):
                    gap[folds[s, i]] -= n
                for i in range(start, end):
                    f = folds[s, i]
                    smallest[f] = min(smallest[f], end * size[f] + gap[f])
            else:
                for f in range(n_folds):
                    largest[f] = max(largest[f], start * size[f] + gap[f])
                for i in range(start, end):
                    gap[folds[s, i]] -= n
                for f in range(n_folds):
                    smallest[f] = min(smallest[f], end * size[f] + gap[f])
            start = end
        for f in range(n_folds):
            scale = size[f] * (n - size[f])
            out[s, f] = max(largest[f], -smallest[f]) / scale if scale > 0 else np.nan
    return out
