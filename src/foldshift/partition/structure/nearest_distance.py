"""Folds as far from each other as places to predict are from the samples (kNNDM)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.spatial import cKDTree
from scipy.stats import wasserstein_distance
from sklearn.cluster import KMeans

from foldshift.core.counting import bincount
from foldshift.core.gate.rows import check_rows, count_rows
from foldshift.core.gate.structure import coordinate_table
from foldshift.partition.fold_numbers import check_n_folds, fold_dtype
from foldshift.partition.structure.spatial_blocks import dealt_blocks

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import FloatArray, IntArray, TableLike, UnsignedArray

N_TRIALS = 10  # numbers of clusters that are tried, beside few ones and random folds
MOST_CLUSTERS = 300
FEW_A_FOLD, FEW_STEPS = 3, 5  # clusters a fold up to which all numbers are tried, in steps of a fifth of the folds
N_STARTS = 5  # of k-means for few clusters; for many, one start is as good
MOST_FITTED = 10_000  # samples that clusters are found from
MOST_MEASURED = 2000  # samples and places whose distances are compared
LARGEST_SHARE = 0.5  # of the samples in one fold
UNMATCHED = 0.25  # share of the mean distance by which the folds may miss it without a warning


class _Trial(NamedTuple):
    """Folds, and how far their distances are from those wanted."""

    folds: IntArray  # (n_samples,)
    misfit: float  # Wasserstein distance
    distance: float  # mean distance from a test row to the nearest training row


def nndm_folds(
    X: TableLike,
    y: ArrayLike | None,
    n_folds: int,
    rngs: Iterable[np.random.Generator],
    *,
    coordinates: TableLike = None,
    prediction_points: TableLike = None,
) -> UnsignedArray:
    """Assign samples to folds by matched nearest-neighbour distances (NNDM), once per generator.

    The distances from test rows to their nearest training rows shall be distributed as those from the places to predict to their
    nearest samples. Samples are put into some twenty numbers of clusters by k-means, from one a fold to 300, and clusters into
    folds of about equal size. Of these and of random folds, those are taken whose distances have the least Wasserstein distance
    to the distances wanted.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or None
        Inputs; only the number of rows is used.
    y : array-like of shape (n_samples,) or None
        Not looked at.
    n_folds : int
        Number of folds k, ``2 <= k <= n_samples``.
    rngs : iterable of numpy.random.Generator
        One source of randomness per seed.
    coordinates : array-like of shape (n_samples, 2) or (n_samples, 3)
        Place of every sample, in one unit of length, such as metres. Degrees are not: project them first.
    prediction_points : array-like of shape (n_points, 2) or (n_points, 3)
        Places that will be predicted, such as the cells of a map.

    Returns
    -------
    folds : ndarray of shape (n_seeds, n_samples), dtype uint8 (uint16 above 256 folds)
        Fold of every sample, in ``0 .. k - 1``. No fold holds more than half of the samples.

    Raises
    ------
    ValueError
        If `n_folds` is out of range, a coordinate is missing, or samples and places differ in their number of coordinates.

    Warns
    -----
    UserWarning
        If no folds come near the distances wanted, because the places are farther from the samples than these are from each
        other.

    Notes
    -----
    The clusters, their merging and the share of the largest fold follow the idea of the source, not its program.

    References
    ----------
    .. [1] Linnenbrink, J., Mila, C., Ludwig, M., Meyer, H. (2024). kNNDM CV: k-fold nearest-neighbour distance matching
       cross-validation for map accuracy estimation. Geoscientific Model Development 17, 5897-5912.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import nndm_folds
    >>> rng = np.random.default_rng(0)
    >>> samples, map_cells = rng.random((200, 2)) * 0.5, rng.random((500, 2))
    >>> folds = nndm_folds(None, None, 4, [rng], coordinates=samples, prediction_points=map_cells)
    >>> np.unique(folds).tolist()
    [0, 1, 2, 3]
    """
    for name, given in (("coordinates", coordinates), ("prediction_points", prediction_points)):
        if given is None:
            raise ValueError(f"partitioner NNDM needs {name}; got none")
    check_rows(X=X, y=y, coordinates=coordinates)
    places = coordinate_table(coordinates, count_rows(coordinates, "coordinates"))
    wanted = coordinate_table(prediction_points, count_rows(prediction_points, "prediction_points"), "prediction_points")
    check_n_folds(n_folds, len(places))
    if not len(wanted) or wanted.shape[1] != places.shape[1]:
        raise ValueError(
            f"prediction_points have shape {wanted.shape}; expected at least one place of {places.shape[1]} coordinates, as the "
            "samples have"
        )
    order = np.lexsort(places.T)
    cuts = []
    for rng in rngs:
        rows = np.empty(len(places), dtype=np.int64)
        rows[order] = _matched(places[order], wanted, n_folds, rng)
        cuts.append(rows)
    return np.array(cuts, dtype=fold_dtype(n_folds)).reshape(len(cuts), len(places))


def _matched(places: FloatArray, wanted: FloatArray, n_folds: int, rng: np.random.Generator) -> IntArray:
    """Choose the folds whose distances are nearest to those of the places to predict."""
    distances = cKDTree(places).query(_some(wanted))[0]
    measured = np.arange(len(places)) if len(places) <= MOST_MEASURED else np.sort(rng.permutation(len(places))[:MOST_MEASURED])
    trials = [_measured(places, folds, measured, distances) for folds in _candidates(places, n_folds, rng)]
    best = min(trials, key=lambda trial: trial.misfit)
    if best.misfit > UNMATCHED * distances.mean() and best.distance < distances.mean():
        warnings.warn(
            f"the places to predict are {distances.mean():.4g} from the nearest sample on average, and test rows of the "
            f"folds that come nearest are {best.distance:.4g} from the training rows: an estimate is for nearer places",
            UserWarning,
            stacklevel=4,
        )
    return best.folds


def _some(wanted: FloatArray) -> FloatArray:
    """Choose places to measure from, the same ones in any order."""
    if len(wanted) <= MOST_MEASURED:
        return wanted
    return wanted[np.lexsort(wanted.T)[np.linspace(0, len(wanted) - 1, MOST_MEASURED).astype(np.int64)]]


def _candidates(places: FloatArray, n_folds: int, rng: np.random.Generator) -> Iterator[IntArray]:
    """Yield random folds, then folds of many small clusters to few large ones."""
    n_samples = len(places)
    yield rng.permutation(n_samples) % n_folds
    fitted = places if n_samples <= MOST_FITTED else places[np.sort(rng.permutation(n_samples)[:MOST_FITTED])]
    most = min(MOST_CLUSTERS, n_samples // 2, len(np.unique(fitted, axis=0)))
    few = np.arange(n_folds, FEW_A_FOLD * n_folds + 1, max(1, n_folds // FEW_STEPS))
    numbers = np.unique(np.concatenate([few, np.geomspace(n_folds, max(most, n_folds), N_TRIALS).astype(np.int64)]))
    for n_clusters in numbers[numbers <= most][::-1].tolist():
        n_init = N_STARTS if n_clusters <= FEW_A_FOLD * n_folds else 1
        model = KMeans(n_clusters, n_init=n_init, random_state=int(rng.integers(2**31))).fit(fitted)
        clusters = np.unique(model.predict(places), return_inverse=True)[1]
        if clusters.max() + 1 < n_folds:
            continue
        folds = dealt_blocks(bincount(clusters), n_folds, rng)[clusters]
        if bincount(folds).max() <= max(LARGEST_SHARE * n_samples, -(-n_samples // n_folds)):
            yield folds


def _measured(places: FloatArray, folds: IntArray, measured: IntArray, wanted: FloatArray) -> _Trial:
    """Measure distances from test rows to the nearest training row."""
    found = np.empty(len(measured))
    for fold in np.unique(folds[measured]):
        test = folds[measured] == fold
        found[test] = cKDTree(places[folds != fold]).query(places[measured[test]])[0]
    return _Trial(folds, float(wasserstein_distance(found, wanted)), float(found.mean()))
