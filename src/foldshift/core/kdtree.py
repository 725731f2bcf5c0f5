"""Nearest points by a k-d tree, for callers that compute exact distances and ties themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import cKDTree

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from foldshift.core.types import FloatArray

MANY_POINTS = 10_000  # more do not fit the cache of a processor, so their order in memory matters
MOST_FEATURES = 20  # with more, a tree is not faster than comparing all pairs


def nearest_candidates(queries: FloatArray, points: FloatArray, width: int) -> NDArray[np.int32]:
    """Find the rows of the nearest points of every query by Euclidean distance; among equally far ones, any.

    The tree may round a distance differently from its caller, in the last bits. If queries are the points, a point is among its
    own candidates unless others are as near.

    >>> import numpy as np
    >>> nearest_candidates(np.array([[0.0], [9.0]]), np.array([[1.0], [8.0], [2.0]]), 2).tolist()
    [[0, 2], [1, 2]]
    """
    tree = cKDTree(points)
    if len(points) < MANY_POINTS:
        return tree.query(queries, k=[*range(1, width + 1)])[1].astype(np.int32)
    # Points and queries are sorted so that neighbours in space are neighbours in memory: the same answers in half the time.
    place = tree.indices
    order = place if queries is points else cKDTree(queries).indices
    candidates = np.empty((len(queries), width), np.int32)
    candidates[order] = place[cKDTree(points[place]).query(queries[order], k=[*range(1, width + 1)])[1]]
    return candidates
