"""Hellinger distance of two samples, of all features of many versions of a table, and its expectation by chance."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from scipy import special

from foldshift.core.arguments import check_one_of, plain
from foldshift.core.counting import bincount
from foldshift.core.gate.arrays import as_array
from foldshift.core.gate.categorical import nominal_columns
from foldshift.core.gate.targets import class_labels
from foldshift.core.repr import readable
from foldshift.core.seeding import as_generator
from foldshift.shift.table_versions import as_numbers, features_frame, features_in_words, numeric_tables, plan_versions

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, BoolArray, FloatArray, Floats, IntArray
    from foldshift.shift.inject.injectors import Versions


@readable
class HellingerFeatures(NamedTuple):
    """Result of `hellinger_features`; without versions the first axis is absent, and shapes are (n_features,)."""

    # in [0, sqrt(2)]; NaN where the feature has no value in one of the parts, or is masked; shape (n_versions, n_features)
    distance: FloatArray
    # distance of two random parts of these sizes, cut from both tables together: the mean over the permutations where there are
    # any, else `expected_hellinger` (exact, a root mean square, which is a little more than the mean)
    expected: FloatArray
    excess: FloatArray  # ``distance - expected``
    p_value: FloatArray  # share of the permutations, this one included, that are as far apart; NaN without permutations

    def sentences(self) -> list[str]:
        """Return the result in words."""
        chance = "unknown" if np.isnan(self.expected).all() else f"{np.nanmean(self.expected):.3g}"
        return [features_in_words("Hellinger distance", self.distance), f"Chance alone gives {chance} on average."]

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each feature, of each version if there are any."""
        return features_frame(**self._asdict())


def hellinger_features(
    train: ArrayLike,
    test: ArrayLike,
    versions: Versions | None = None,
    *,
    n_bins: int = 30,
    rng: np.random.Generator | int | None = None,
    n_permutations: int = 0,
    categorical_features: ArrayLike | None = None,
) -> HellingerFeatures:
    """Compute the Hellinger distance of every feature between a training table and many versions of a test table.

    Parameters
    ----------
    train : array-like of shape (n_train, n_features)
        Numbers; NaN is a missing value and left out.
    test : array-like of shape (n_test, n_features)
        As `train`.
    versions : None, Versions, or array-like of int of shape (n_versions, n_kept)
        Versions of the test table, as in `ks_features`; None: the table as it is.
    n_bins : int, default=30
        Number of bins of equal width between the smallest and the largest value of both parts together, set again for every
        version.
    rng : numpy.random.Generator or int, optional
        Source of the permutations.
    n_permutations : int, default=0
        Number of random divisions of the pooled rows into parts of the same sizes, for p-values. The counts of the bins in the
        test part follow a multivariate hypergeometric distribution, which is drawn from directly.
    categorical_features : None, array-like of bool of shape (n_features,) or of int, default=None
        Mask or positions of the nominal features. Each distinct value is a bin, even if only one part has it.

    Returns
    -------
    hellinger : HellingerFeatures
        The paper's distance of two tables is the mean over the features: ``numpy.nanmean(distance, axis=-1)``.

    Raises
    ------
    ValueError
        As in `ks_features`; or if an argument is below its limit, or there are permutations without `rng`.

    Notes
    -----
    Without a shift the distance is about ``sqrt((n_bins - 1) / 4 (1 / n_train + 1 / n_test))``, and not 0: dropping rows alone
    makes it larger. So compare the excess. A constant feature with the same value in both parts has distance, expected distance
    and excess 0.

    References
    ----------
    .. [1] Cieslak, Chawla (2009), section 5.4, equation 9 and Algorithm 1.

    Examples
    --------
    >>> found = hellinger_features([[0.0], [0.0], [1.0]], [[0.0], [1.0]], n_bins=2)
    >>> found.distance.round(3), found.expected.round(3)
    (array([0.17]), array([0.686]))
    """
    train, test = numeric_tables(train, test)
    for name, value, least in (("n_bins", n_bins, 1), ("n_permutations", n_permutations, 0)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise ValueError(f"{name}={value!r} must be an integer of at least {least}")
    generator = None if rng is None else as_generator(rng)
    if n_permutations and generator is None:
        raise ValueError(
            f"rng is None; n_permutations={n_permutations} needs a numpy.random.Generator, or a whole number that seeds one"
        )
    plan = plan_versions(versions, *test.shape)
    nominal = nominal_columns(categorical_features, test.shape[1])
    shape = (len(plan.feature), test.shape[1])
    distance, expected, p_value = (np.full(shape, np.nan) for _ in range(3))
    for j in range(test.shape[1]):
        offset = np.where(plan.feature == j, plan.offset, 0.0)
        present = np.full(shape[0], True) if not plan.masked else plan.feature != j
        for of_versions, totals, counts in _histograms(train[:, j], test[:, j], plan.rows, offset, present, n_bins, nominal[j]):
            n_test = counts.sum(axis=1)
            distance[of_versions, j] = _hellinger(totals, counts, n_test)
            if n_permutations and generator is not None:
                for v, total, size, found in zip(of_versions, totals, n_test, distance[of_versions, j]):
                    drawn = generator.multivariate_hypergeometric(total, size, n_permutations, method="marginals")
                    null = _hellinger(total[None], drawn, np.full(n_permutations, size))
                    expected[v, j] = null.mean()
                    p_value[v, j] = (1 + (null >= found - 1e-12).sum()) / (1 + n_permutations)
            else:
                expected[of_versions, j] = expected_hellinger(totals, n_test)
    found = HellingerFeatures(distance, expected, distance - expected, p_value)
    return HellingerFeatures(*(a[0] for a in found)) if versions is None else found


def expected_hellinger(totals: ArrayLike, n_test: ArrayLike, *, formula: Literal["exact", "approximate"] = "exact") -> Floats:
    """Compute the Hellinger distance expected by chance: root of the mean square over all random divisions of the pooled rows.

    `totals` holds the counts of every bin (..., n_bins) of both parts, `n_test` the size of the test part (...). ``exact``:
    ``E H^2 = 2 - 2 sum_b E sqrt(X_b (T_b - X_b)) / sqrt(n_train n_test)`` with X_b hypergeometric. ``approximate``:
    ``(B - 1) / 4 (1 / n_train + 1 / n_test)`` with the B bins that are not empty, for bins with many values. NaN where a part is
    empty.
    """
    check_one_of("formula", formula, ("exact", "approximate"))
    totals = as_array(totals, "totals")
    if totals.ndim == 0 or totals.dtype.kind not in "ui" or (totals < 0).any():
        raise ValueError(
            f"totals has shape {totals.shape} and type {totals.dtype}; expected (..., n_bins) integers of at least 0"
        )
    n_test = np.broadcast_to(n_test, totals.shape[:-1])
    n_train = totals.sum(axis=-1) - n_test
    if (n_test < 0).any() or (n_train < 0).any():
        raise ValueError("n_test must be from 0 to the sum of totals")
    squared = np.full(totals.shape[:-1], np.nan)
    if formula == "approximate":
        two = (n_test > 0) & (n_train > 0)
        occupied = (totals > 0).sum(axis=-1)
        squared[two] = (occupied[two] - 1) / 4 * (1 / n_train[two] + 1 / n_test[two])
        return plain(np.sqrt(squared))
    for size, rest in np.unique(np.column_stack([n_test.ravel(), n_train.ravel()]), axis=0).tolist():
        here = (n_test == size) & (n_train == rest)
        if size and rest:
            distinct, place = np.unique(totals[here], return_inverse=True)
            overlap = np.array([_expected_root(total, size, rest) for total in distinct.tolist()])[place].reshape(
                totals[here].shape
            )
            squared[here] = np.maximum(2 - 2 * overlap.sum(axis=-1) / np.sqrt(size * rest), 0)
    return plain(np.where(squared < 1e-13, 0.0, np.sqrt(squared)))


def _histograms(
    train: FloatArray, test: FloatArray, rows: IntArray, offset: FloatArray, present: BoolArray, n_bins: int, nominal: bool
) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
    """Yield versions of one column in groups with the same bins: their numbers, counts of both parts together, of the test part.

    Versions without a value, masked, or without a training value, are left out.
    """
    train = train[~np.isnan(train)]
    values = test[rows]
    n_values = np.broadcast_to((~np.isnan(values)).sum(axis=1), len(offset))
    usable = present & (n_values > 0) & (len(train) > 0)
    if not usable.any():
        return
    lowest = np.broadcast_to(np.where(np.isnan(values), np.inf, values).min(axis=1), len(offset)) + offset
    highest = np.broadcast_to(np.where(np.isnan(values), -np.inf, values).max(axis=1), len(offset)) + offset
    if nominal:
        keys = np.column_stack([offset, offset])  # each category is a bin, for any rows
    else:
        keys = np.column_stack([np.minimum(lowest, train.min()), np.maximum(highest, train.max()), offset])
    groups = np.unique(keys[usable], axis=0)
    for key in groups:
        of_versions = np.flatnonzero(usable & (keys == key).all(axis=1))
        moved = test + key[-1]
        inside = ~np.isnan(moved)
        if not nominal:
            inside &= (moved >= key[0]) & (moved <= key[1])
        ends = [] if nominal else [key[0], key[1]]  # the bins span just these, as some rows of the table may lie outside
        codes, n_codes = bin_codes(np.concatenate([train, moved[inside], ends]), n_bins, nominal)
        of_train = bincount(codes[: len(train)], minlength=n_codes)
        code = np.full(len(test), n_codes)  # the last bin is for missing values
        code[inside] = codes[len(train) : len(train) + inside.sum()]
        picked = code[rows[of_versions] if len(rows) > 1 else rows]
        flat = (np.arange(len(picked))[:, None] * (n_codes + 1) + picked).ravel()
        counts = bincount(flat, minlength=len(picked) * (n_codes + 1)).reshape(len(picked), n_codes + 1)[:, :-1]
        counts = np.broadcast_to(counts, (len(of_versions), n_codes))
        yield of_versions, of_train + counts, counts


def _hellinger(totals: IntArray, counts: IntArray, n_test: IntArray) -> FloatArray:
    """Compute the distance of the parts with `counts` from the rest of `totals`."""
    rest = totals - counts
    p, q = counts / n_test[:, None], rest / rest.sum(axis=1, keepdims=True)
    return np.sqrt(((np.sqrt(p) - np.sqrt(q)) ** 2).sum(axis=1))


@lru_cache(maxsize=100_000)
def _expected_root(total: int, n_test: int, n_train: int) -> float:
    """Compute E sqrt(X (T - X)) for hypergeometric X, the number of the T values of a bin that are in the test part."""
    n = n_test + n_train
    x = np.arange(max(0, total - n_train), min(total, n_test) + 1)
    log = _log_factorials(n)
    chance = log[total] - log[x] - log[total - x] + log[n - total] - log[n_test - x] - log[n_train - total + x]
    chance = np.exp(chance - chance.max())
    return float((np.sqrt(x * (total - x)) * chance).sum() / chance.sum())


@lru_cache(maxsize=4)
def _log_factorials(n: int) -> FloatArray:
    return special.gammaln(np.arange(n + 1) + 1.0)


def hellinger(a: ArrayLike, b: ArrayLike, *, bins: int = 30, categorical: bool = False) -> float:
    """Compute the Hellinger distance between the histograms of two samples.

    Parameters
    ----------
    a, b : array-like of shape (n,), (m,)
        Samples, at least one value each; finite numbers, or labels of any sortable type if `categorical` is True.
    bins : int, default=30
        Number of bins of equal width between the smallest and the largest value of both samples. Not used for categories.
    categorical : bool, default=False
        If True, every distinct value is a bin of its own.

    Returns
    -------
    distance : float
        ``sqrt(sum over bins of (sqrt(p) - sqrt(q))**2)``, in ``[0, sqrt(2)]``: not divided by sqrt(2), as some libraries do.

    Raises
    ------
    ValueError
        If a sample is empty or holds NaN or infinity, or `bins` is below 1.

    References
    ----------
    .. [1] Cieslak, D.A., Chawla, N.V. (2009). A framework for monitoring classifiers' performance: when and why failure occurs?
       Knowledge and Information Systems 18, 83-108. Equation 9, Algorithm 1.

    Examples
    --------
    >>> hellinger(["a", "a", "b"], ["b", "c"], categorical=True).__round__(3)
    1.088
    """
    a, b = ((class_labels(part, name) if categorical else as_numbers(part, name)) for part, name in ((a, "a"), (b, "b")))
    for name, sample in (("a", a), ("b", b)):
        if sample.ndim != 1 or len(sample) == 0:
            raise ValueError(f"sample {name} has shape {sample.shape}; expected (n,) with n of at least 1")
    codes, n_codes = bin_codes(np.concatenate([a, b]), bins, categorical)
    p = bincount(codes[: len(a)], minlength=n_codes) / len(a)
    q = bincount(codes[len(a) :], minlength=n_codes) / len(b)
    return float(np.sqrt(((np.sqrt(p) - np.sqrt(q)) ** 2).sum()))


def bin_codes(values: Array, bins: int, categorical: bool) -> tuple[IntArray, int]:
    """Number the bin of every value from 0, and count the bins.

    Bins of equal width between the smallest and the largest value are closed below, the last one on both sides; each distinct
    value is a bin, for any `bins`, if `categorical`.
    """
    if categorical:
        if values.dtype.kind == "f" and np.isnan(values).any():
            raise ValueError("the samples hold NaN; drop missing values first")
        categories, codes = np.unique(values, return_inverse=True)
        return codes, len(categories)
    if bins < 1:
        raise ValueError(f"bins={bins!r} must be at least 1")
    values = as_numbers(values, "a sample")
    if not np.isfinite(values).all():
        raise ValueError("the samples hold NaN or infinite values; drop them first")
    edges = np.linspace(values.min(), values.max(), bins + 1)
    return np.clip(np.searchsorted(edges, values, side="right") - 1, 0, bins - 1), bins
