"""Folds of square blocks in space, and rows of training parts that are too near to a test part."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from foldshift.core.counting import bincount
from foldshift.core.gate.rows import check_rows, count_rows
from foldshift.core.gate.structure import coordinate_table
from foldshift.partition.fold_numbers import check_n_folds, fold_dtype
from foldshift.partition.structure.variogram import variogram_range

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import BoolArray, FloatArray, IntArray, TableLike, UnsignedArray

MOST_CELLS = 1 << 50  # along one axis: whole numbers that 64-bit floats tell apart
BLOCKS_A_FOLD = 10  # where the target says nothing on the size of blocks
FEWEST_A_FOLD = 3  # blocks of a fold by default: fewer leave no choice
SHRINK = 0.8


def block_folds(
    X: TableLike,
    y: ArrayLike | None,
    n_folds: int,
    rngs: Iterable[np.random.Generator],
    *,
    coordinates: TableLike = None,
    block_size: float | None = None,
) -> UnsignedArray:
    """Assign samples to folds by square blocks in space (BLOCKS), once per generator.

    A grid of square (or cubic) blocks is laid at a random place. The blocks, the largest first, go to the fold with fewest
    samples, so that fold sizes differ by at most the largest block.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or None
        Inputs; only the number of rows is used.
    y : array-like of shape (n_samples,) or None
        Target; without a `block_size` its variogram gives one.
    n_folds : int
        Number of folds k, ``2 <= k <= n_samples``.
    rngs : iterable of numpy.random.Generator
        One source of randomness per seed.
    coordinates : array-like of shape (n_samples, 2) or (n_samples, 3)
        Place of every sample, in one unit of length, such as metres. Degrees are not: project them first.
    block_size : float, optional
        Side of a block, in the unit of the coordinates. By default that of `default_block_size`.

    Returns
    -------
    folds : ndarray of shape (n_seeds, n_samples), dtype uint8 (uint16 above 256 folds)
        Fold of every sample, in ``0 .. k - 1``.

    Raises
    ------
    ValueError
        If `n_folds` or `block_size` is out of range, a coordinate is missing, or the blocks are fewer than the folds.

    References
    ----------
    .. [1] Roberts, D.R. et al. (2017). Cross-validation strategies for data with temporal, spatial, hierarchical, or
       phylogenetic structure. Ecography 40, 913-929.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import block_folds
    >>> places = np.random.default_rng(0).random((300, 2))
    >>> folds = block_folds(None, None, 3, [np.random.default_rng(1)], coordinates=places, block_size=0.1)
    >>> np.bincount(folds[0]).tolist()
    [100, 100, 100]
    """
    if coordinates is None:
        raise ValueError("partitioner BLOCKS needs coordinates, the place of every sample; got none")
    check_rows(X=X, y=y, coordinates=coordinates)
    places = coordinate_table(coordinates, count_rows(coordinates, "coordinates"))
    check_n_folds(n_folds, len(places))
    size = default_block_size(places, y, n_folds).size if block_size is None else check_length("block_size", block_size)
    rows = [_one_cut(places, size, n_folds, rng) for rng in rngs]
    return np.array(rows, dtype=fold_dtype(n_folds)).reshape(len(rows), len(places))


def _one_cut(places: FloatArray, size: float, n_folds: int, rng: np.random.Generator) -> IntArray:
    blocks = block_codes(places, size, rng.random((places.shape[1],)))
    sizes = bincount(blocks)
    if len(sizes) < n_folds:
        raise ValueError(
            f"a block size of {size:g} makes {len(sizes)} block{'s' * (len(sizes) > 1)} of the {len(places)} samples, fewer than "
            f"the {n_folds} folds; take smaller blocks, or fewer folds"
        )
    return dealt_blocks(sizes, n_folds, rng)[blocks]


def dealt_blocks(sizes: IntArray, n_folds: int, rng: np.random.Generator) -> IntArray:
    """Assign blocks of so many samples to folds: the largest first, to the fold with fewest samples."""
    heap = [(0, float(turn), fold) for fold, turn in enumerate(rng.permutation(n_folds))]
    of_block = np.empty(len(sizes), dtype=np.int64)
    for block in np.lexsort((rng.random(len(sizes)), -sizes)).tolist():
        n, turn, fold = heap[0]
        of_block[block] = fold
        heapq.heapreplace(heap, (n + int(sizes[block]), turn, fold))
    return of_block


def block_codes(places: FloatArray, size: float, offset: FloatArray) -> IntArray:
    """Number the blocks that hold samples from 0; the grid begins `offset` (in blocks, 0 to 1) below the lowest coordinates."""
    extent = np.ptp(places, axis=0)
    if (extent / size >= MOST_CELLS).any():
        raise ValueError(
            f"a block size of {size:g} is too small for an axis of length {extent.max():g}; take at least "
            f"{extent.max() / MOST_CELLS:.3g}"
        )
    cells = np.floor((places - places.min(axis=0)) / size + offset).astype(np.int64)
    key = np.zeros(len(cells), dtype=np.int64)
    for column in cells.T:  # numbered anew after each axis, so that few samples far away do no harm
        codes = np.unique(column, return_inverse=True)[1]
        key = np.unique(key * (codes.max() + 1) + codes, return_inverse=True)[1]
    return key


class BlockSize(NamedTuple):
    """Side of the blocks, and the range of the target's variogram."""

    size: float  # side of a block
    range: float | None  # distance up to which targets are alike; None: the target shows no structure, or there is none


def default_block_size(places: FloatArray, y: ArrayLike | None, n_folds: int) -> BlockSize:
    """Choose the side of blocks: the range of the target's variogram, or such that there are ten blocks a fold.

    Blocks of which fewer than three a fold hold samples are made smaller.
    """
    extent = np.ptp(places, axis=0)
    n_places = len(np.unique(places, axis=0))
    if n_places < n_folds:
        raise ValueError(
            f"coordinates name {n_places} different place{'s' * (n_places > 1)}, fewer than the {n_folds} folds; take fewer folds"
        )
    found = None if y is None else variogram_range(places, y)
    sides = extent[extent > 0]
    size = float(np.prod(sides) / (BLOCKS_A_FOLD * n_folds)) ** (1 / len(sides)) if found is None else found
    fewest = min(FEWEST_A_FOLD * n_folds, n_places)
    while (
        size * SHRINK > extent.max() / MOST_CELLS and block_codes(places, size, np.full(places.shape[1], 0.5)).max() + 1 < fewest
    ):
        size *= SHRINK
    return BlockSize(size, found)


def check_length(name: str, value: float) -> float:
    """Return a length above 0; raise ValueError for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating) or not 0 < value < np.inf:
        raise ValueError(f"{name}={value!r} must be a number above 0, in the unit of the coordinates, or None")
    return float(value)


def without_near(places: FloatArray, test: BoolArray, buffer: float | None) -> BoolArray:
    """Mask of the training rows that are farther than `buffer` from every test row."""
    train = ~test
    if buffer is None or not train.any():
        return train
    rows = np.flatnonzero(train)
    limit = np.nextafter(buffer, np.inf)
    near = np.isfinite(cKDTree(places[test]).query(places[rows], distance_upper_bound=limit)[0])
    train[rows[near]] = False
    return train
