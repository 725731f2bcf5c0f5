"""Order in which a partitioner visits the samples, to draw or to check how it cuts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from foldshift.core.errors import unknown
from foldshift.partition.methods.distance_based import WALKS, Options, Walk, cut_by_neighbours

if TYPE_CHECKING:
    from foldshift.core.types import BoolArray, IntArray, TableLike, UnsignedArray


class Exploration(NamedTuple):
    """Samples in the order in which they are assigned, one entry per sample."""

    rows: IntArray  # the sample; shape (n_samples,)
    # the sample whose nearest unassigned neighbour it was: the one assigned just before, or the start of the group (DOB-SCV). -1
    # for starts, which are chosen at random; shape (n_samples,)
    sources: IntArray
    folds: UnsignedArray  # the fold it goes to; shape (n_samples,)

    @property
    def is_start(self) -> BoolArray:
        """Mask of the samples that were chosen at random: shape (n_samples,)."""
        return self.sources < 0


def exploration(
    partitioner: Literal["DB-SCV", "DOB-SCV", "MS-SCV"],
    X: TableLike,
    y: TableLike,
    n_folds: int,
    rng: np.random.Generator,
    **options: Any,
) -> Exploration:
    """Cut data once and return the order in which the samples were assigned; `options` as in `db_scv_folds`."""
    if partitioner not in WALKS:
        raise ValueError(unknown("partitioner", partitioner, WALKS, "The others do not explore neighbours."))
    walk = WALKS[partitioner]
    walks = []

    def note_and_assign(group: IntArray, place: IntArray, n_folds: int, turn: int | None) -> IntArray:
        walks.append((group, place))
        return walk.folds_of(group, place, n_folds, turn)

    (folds,) = cut_by_neighbours(X, y, n_folds, [rng], Options(**options), Walk(note_and_assign, walk.hops))
    rows, sources = [], []
    for label, (group, place) in zip(np.unique(y), walks):
        order = np.lexsort((place, group))
        members = np.flatnonzero(np.asarray(y) == label)[order]
        is_start = np.append(True, np.diff(group[order]) > 0)
        before = np.append(-1, members[:-1]) if walk.hops else members[is_start][group[order]]
        rows.append(members)
        sources.append(np.where(is_start, -1, before))
    visited = np.concatenate(rows)
    return Exploration(visited, np.concatenate(sources), folds[visited])
