"""Randomness of repeated partitions: how many differ, and whether samples and pairs are spread as by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foldshift.core.gate.folds import check_folds, refuse_splitter
from foldshift.core.seeding import as_generator

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import IntArray


class FoldRandomness(NamedTuple):
    """Result of `fold_randomness`."""

    n_partitions: int  # number of partitions
    n_distinct: int  # how many of them differ by more than the names of the folds
    bits: float  # ``log2(n_distinct)``: what was seen of the freedom that a cut leaves; at most ``log2(n_partitions)``
    # mean over samples and folds of the distance between the share of partitions in which the sample is in the fold, and the
    # fold's mean share of the samples
    place_error: float
    place_chance: float  # what `place_error` would be on average if each sample was in each fold by chance
    # mean over pairs of samples of the distance between the share of partitions in which both are in one fold, and the mean of
    # these shares
    pair_error: float
    pair_chance: float  # what `pair_error` would be on average if pairs were together by chance
    pairs_together: float  # mean share of partitions in which two samples are in one fold


def fold_randomness(folds: ArrayLike, *, max_pairs: int = 20_000, rng: int | np.random.Generator = 0) -> FoldRandomness:
    """Measure how random repeated partitions are.

    A cut that balances much leaves less to chance; one that leaves too little cannot be repeated: its partitions are always the
    same, or the same samples are always tested together.

    Parameters
    ----------
    folds : array-like of shape (n_seeds, n_samples), integer
        Fold of every sample, one row per seed; at least two.
    max_pairs : int, default=20_000
        Pairs of samples to look at; where there are more, that many are drawn.
    rng : int or numpy.random.Generator, default=0
        Source of the draw.

    Returns
    -------
    randomness : FoldRandomness
        Numbers of partitions, and the spread of samples and pairs against that by chance.

    Raises
    ------
    ValueError
        If there are fewer than two partitions or samples, or `folds` does not hold folds.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import fold_randomness, make_folds
    >>> found = fold_randomness(make_folds("TSCV", None, np.arange(40.0), 5, range(500)))
    >>> found.n_distinct, round(found.pairs_together, 3)
    (500, 0.179)
    """
    refuse_splitter(folds)
    shape = np.shape(folds)
    folds = check_folds(folds, shape[-1] if shape else 0)
    n_seeds, n_samples = folds.shape
    if n_seeds < 2 or n_samples < 2:
        raise ValueError(f"folds have shape {folds.shape}; expected at least two partitions of at least two samples")
    folds = np.unique(folds, return_inverse=True)[1].reshape(folds.shape)  # numbers without gaps
    n_folds = int(folds.max()) + 1
    distinct = len({_by_first_sample(row).tobytes() for row in folds})
    place, place_chance = 0.0, 0.0
    for fold in range(n_folds):
        shares = (folds == fold).mean(axis=0)
        place += np.abs(shares - shares.mean()).mean() / n_folds
        place_chance += _chance(shares.mean(), n_seeds) / n_folds
    first, second = _pairs(n_samples, max_pairs, as_generator(rng))
    together = np.zeros(len(first))
    for row in folds:
        together += row[first] == row[second]
    together /= n_seeds
    mean = float(together.mean())
    return FoldRandomness(
        n_seeds,
        distinct,
        float(np.log2(distinct)),
        float(place),
        float(place_chance),
        float(np.abs(together - mean).mean()),
        _chance(mean, n_seeds),
        mean,
    )


def _by_first_sample(row: IntArray) -> IntArray:
    """First sample of the fold of every sample: the same for two cuts that differ by the names of their folds."""
    _, first, place = np.unique(row, return_index=True, return_inverse=True)
    return first[place]


def _pairs(n_samples: int, max_pairs: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    if n_samples * (n_samples - 1) // 2 <= max_pairs:
        return np.triu_indices(n_samples, 1)
    first = rng.integers(n_samples, size=max_pairs)
    return first, (first + rng.integers(1, n_samples, size=max_pairs)) % n_samples


def _chance(share: float, n_seeds: int) -> float:
    """Mean absolute error of a share estimated from independent draws, by the normal approximation."""
    return float(np.sqrt(2 / np.pi * share * (1 - share) / n_seeds))
