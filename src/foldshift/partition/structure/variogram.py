"""Range of a target's variogram: the distance up to which near samples have targets that are alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.distance import pdist

from foldshift.core.counting import bincount
from foldshift.core.gate.arrays import as_array
from foldshift.core.gate.targets import one_column

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import FloatArray, IntArray

MOST_ROWS = 1500  # samples whose pairs are looked at
N_LAGS = 15  # classes of distance, up to half of the largest
N_RANGES = 60  # ranges that are tried
NEAR_PAIRS = 3  # nearest pairs, for each sample, in the test of structure
SHUFFLE_SEED = 0  # the same table has the same null
N_SHUFFLES = 199  # of the target: near pairs must be more alike than in all of them, by chance one time in 200


def variogram_range(places: FloatArray, y: ArrayLike) -> float | None:
    """Fit a spherical model to the empirical variogram, and return its range; None if the target shows no structure.

    Classes count as different or equal. Of a target of several columns it is the longest range.
    """
    if np.ndim(y) == 2 and np.shape(y)[1] > 1:
        found = [variogram_range(places, column) for column in as_array(y, "y").T]
        return max((one for one in found if one is not None), default=None)
    target = one_column(y)
    numeric = target.dtype.kind in "uif"
    values = target.astype(np.float64) if numeric else np.unique(target, return_inverse=True)[1].astype(np.float64)
    rows = _spread_rows(places, values)
    places, values = places[rows], values[rows]
    apart = pdist(places)
    longest = apart.max() / 2 if len(apart) else 0.0
    if not longest > 0 or not _is_structured(apart, values, numeric):
        return None
    unlike = _unlike(pdist(values[:, None]), numeric)
    near = apart <= longest
    lag = np.minimum((apart[near] / longest * N_LAGS).astype(np.int64), N_LAGS - 1)
    counts = bincount(lag, minlength=N_LAGS).astype(np.float64)
    sums = [bincount(lag, weights=part[near], minlength=N_LAGS) for part in (apart, unlike)]
    there = (counts > 0) & (sums[0] > 0)
    lags, gamma = (part[there] / counts[there] for part in sums)
    return _fitted_range(lags, gamma, counts[there], longest)


def _is_structured(apart: FloatArray, values: FloatArray, numeric: bool) -> bool:
    """Check whether the nearest pairs are more alike than by chance."""
    first, second = np.triu_indices(len(values), 1)  # the order of `pdist`
    nearest = np.argpartition(apart, min(NEAR_PAIRS * len(values), len(apart) - 1))[: NEAR_PAIRS * len(values)]
    nearest = np.flatnonzero(apart <= apart[nearest].max())  # all that are equally far: the same in any order
    first, second = first[nearest], second[nearest]
    rng = np.random.default_rng(SHUFFLE_SEED)
    found = _unlike(values[first] - values[second], numeric).mean()
    shuffled = (rng.permutation(values) for _ in range(N_SHUFFLES))
    return all(found < _unlike(other[first] - other[second], numeric).mean() for other in shuffled)


def _unlike(difference: FloatArray, numeric: bool) -> FloatArray:
    """Half of the squared difference of numbers; one half for classes that differ."""
    return 0.5 * difference**2 if numeric else 0.5 * (difference != 0)


def _spread_rows(places: FloatArray, values: FloatArray) -> IntArray:
    """Choose samples for pairs, the same ones in whatever order the rows stand."""
    order = np.lexsort((values, *places.T))
    if len(order) <= MOST_ROWS:
        return order
    return order[np.linspace(0, len(order) - 1, MOST_ROWS).astype(np.int64)]


def _fitted_range(lags: FloatArray, gamma: FloatArray, counts: FloatArray, longest: float) -> float | None:
    """Fit nugget and sill by least squares for every range, and choose the range; near pairs weigh most (Cressie 1985)."""
    weights = counts / lags**2
    flat = float((weights * (gamma - np.average(gamma, weights=weights)) ** 2).sum())
    if len(lags) < 3 or flat <= 0:
        return None
    best, found = 0.0, None
    for distance in np.linspace(longest / N_LAGS, longest, N_RANGES):
        h = np.minimum(lags / distance, 1)
        rise = 1.5 * h - 0.5 * h**3
        root = np.sqrt(weights)
        nugget, sill = np.linalg.lstsq(np.column_stack([root, root * rise]), root * gamma, rcond=None)[0]
        if nugget < 0:
            nugget, sill = 0.0, float((weights * gamma * rise).sum() / (weights * rise**2).sum())
        if sill <= 0:
            continue
        fit = 1 - float((weights * (gamma - nugget - sill * rise) ** 2).sum()) / flat
        if fit > best:
            best, found = fit, float(distance)
    return found
