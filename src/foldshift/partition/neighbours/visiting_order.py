"""In which order a partitioner visits the samples, to draw or to check how it cuts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from foldshift.core.errors import unknown
from foldshift.partition.methods.distance_based import cut_by_neighbours, group_by_group, in_turn, one_after_the_other

if TYPE_CHECKING:
    from foldshift.core.types import BoolArray, IntArray, TableLike, UnsignedArray

# How the fold follows from a sample's place, and whether the walk goes on from the sample just assigned or returns to its start.
_RULES = {
    "DB-SCV": (in_turn, True),
    "DOB-SCV": (group_by_group, False),
    "MS-SCV": (one_after_the_other, True),
}


class Exploration(NamedTuple):
    """Samples in the order in which they are assigned, one entry per sample.

    Attributes
    ----------
    rows : ndarray of shape (n_samples,), dtype int64
        The sample.
    sources : ndarray of shape (n_samples,), dtype int64
        The sample whose nearest unassigned neighbour it was: the one assigned just before, or the start of the group (DOB-SCV).
        -1 for starts, which are chosen at random.
    folds : ndarray of shape (n_samples,), dtype uint8 (uint16 above 256 folds)
        The fold it goes to.
    """

    rows: IntArray
    sources: IntArray
    folds: UnsignedArray

    @property
    def is_start(self) -> BoolArray:
        """ndarray of shape (n_samples,), dtype bool: whether the sample was chosen at random."""
        return self.sources < 0


def exploration(
    partitioner: Literal["DB-SCV", "DOB-SCV", "MS-SCV"],
    X: TableLike,
    y: TableLike,
    n_folds: int,
    rng: np.random.Generator,
    **options: Any,
) -> Exploration:
    """Cut data once and tell the order in which the samples were assigned."""
    if partitioner not in _RULES:
        raise ValueError(unknown("partitioner", partitioner, _RULES, "The others do not explore neighbours."))
    folds_of, hops = _RULES[partitioner]
    walks = []

    def note_and_assign(group: IntArray, place: IntArray, n_folds: int, turn: int) -> IntArray:
        walks.append((group, place))
        return folds_of(group, place, n_folds, turn)

    options = {"metric": "heom", "duplicates": None, "remainders": None, "categorical_features": None} | options
    (folds,) = cut_by_neighbours(X, y, n_folds, [rng], folds_of=note_and_assign, hops=hops, **options)
    rows, sources = [], []
    for label, (group, place) in zip(np.unique(y), walks):
        order = np.lexsort((place, group))
        members = np.flatnonzero(np.asarray(y) == label)[order]
        is_start = np.append(True, np.diff(group[order]) > 0)
        before = np.append(-1, members[:-1]) if hops else members[is_start][group[order]]
        rows.append(members)
        sources.append(np.where(is_start, -1, before))
    rows = np.concatenate(rows)
    return Exploration(rows, np.concatenate(sources), folds[rows])
