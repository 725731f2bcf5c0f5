"""SCV and MS-SCV with remainders left out, as the paper prints Algorithms 1 and 4: every fold gets count // k samples of a class.

The samples that are left are tested in no fold and train in all. A module of its own, so that folds of `scv_folds` and
`ms_scv_folds`, where the first folds get one more each, do not rest on it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

import numpy as np

from foldshift.core.counting import bincount
from foldshift.core.gate.rows import check_rows
from foldshift.core.gate.targets import class_target
from foldshift.partition.fold_numbers import check_n_folds, rows_by_class
from foldshift.partition.methods.distance_based import Options, Walk, cut_by_neighbours

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, IntArray, TableLike

MOST_FOLDS = 255  # one number more is the mark of no fold
DEFAULT = Options()


def left_out_folds(
    partitioner: Literal["SCV", "MS-SCV"],
    X: TableLike,
    y: ArrayLike,
    n_folds: int,
    rngs: Iterable[np.random.Generator],
    options: Options = DEFAULT,
) -> Array:
    """Assign samples to folds by the printed Algorithm 1 (SCV) or 4 (MS-SCV), remainders left out, once per generator.

    Folds have the shape (n_seeds, n_samples), dtype int16, with -1 for ``count mod k`` samples of every class. Errors are those
    of `db_scv_folds`, and ValueError if no class has k samples. DB-SCV and DOB-SCV leave nothing out in print.
    Source: Moreno-Torres, Saez, Herrera (2012). Study on the impact of partition-induced dataset shift on k-fold
    cross-validation. IEEE Transactions on Neural Networks and Learning Systems 23(8), 1304-1312. Algorithms 1 and 4.

    >>> folds = left_out_folds("SCV", None, [0] * 5 + [1] * 4, 2, [np.random.default_rng(0)])
    >>> [(folds == fold).sum().item() for fold in (-1, 0, 1)]
    [1, 4, 4]
    """
    check_rows(X=X, y=y)
    _, codes = np.unique(class_target(y), return_inverse=True)
    check_n_folds(n_folds, len(codes))
    if partitioner not in ("SCV", "MS-SCV"):
        raise ValueError(f"partitioner={partitioner!r} leaves no remainders out; allowed: SCV, MS-SCV")
    if options.remainders is not None:
        raise ValueError(f"remainders={options.remainders!r}: here they are left out; use make_folds for others")
    if n_folds > MOST_FOLDS or bincount(codes).max() < n_folds:
        raise ValueError(f"n_folds={n_folds} must be at most {MOST_FOLDS} and the size of a class, {bincount(codes).max()}")
    if partitioner == "MS-SCV":
        walk = Walk(_one_after_the_other, hops=True)
        marked = cut_by_neighbours(X, y, n_folds, rngs, options._replace(remainders="restart"), walk).astype(np.int16)
        return np.where(marked == n_folds, np.int16(-1), marked)
    rngs = list(rngs)
    folds = np.full((len(rngs), len(codes)), -1, dtype=np.int16)
    for rows in rows_by_class(codes):
        dealt = np.repeat(np.arange(n_folds), len(rows) // n_folds)
        for row, rng in zip(folds, rngs):
            row[rows[rng.permutation(len(rows))[: len(dealt)]]] = dealt
    return folds


def _one_after_the_other(group: IntArray, place: IntArray, n_folds: int, turn: int | None) -> IntArray:
    """Fill one fold before the next, and give the samples that are left the number after the last fold."""
    size = len(place) // n_folds
    return np.minimum(place // size, n_folds) if size else np.full(len(place), n_folds)
