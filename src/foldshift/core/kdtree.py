"""Nearest points by a k-d tree, for those who work out distances and ties exactly themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import cKDTree

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from foldshift.core.types import FloatArray

MANY_POINTS = 10_000  # from here on they are more than a processor's cache holds, and their order in memory tells
MOST_FEATURES = 20  # above, a tree is no faster than looking at every pair


def nearest_candidates(queries: FloatArray, points: FloatArray, width: int) -> NDArray[np.int32]:
    """Nearest points of every query by Euclidean distance; among equally far ones, any.

    Examples
    --------
    >>> import numpy as np
    >>> nearest_candidates(np.array([[0.0], [9.0]]), np.array([[1.0], [8.0], [2.0]]), 2).tolist()
    [[0, 2], [1, 2]]
    """
    tree = cKDTree(points)
    if len(points) < MANY_POINTS:
        return tree.query(queries, k=[*range(1, width + 1)])[1].astype(np.int32)
    # What is near in space stands near in memory, of the points and of the queries in turn: the same answers in half the time.
    place = tree.indices
    order = place if queries is points else cKDTree(queries).indices
    candidates = np.empty((len(queries), width), np.int32)
    candidates[order] = place[cKDTree(points[place]).query(queries[order], k=[*range(1, width + 1)])[1]]
    return candidates
