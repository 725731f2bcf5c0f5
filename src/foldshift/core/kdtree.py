"""Nearest points by a k-d tree, for those who work out distances and ties exactly themselves."""

import numpy as np
from scipy.spatial import cKDTree

MANY_POINTS = 10_000  # from here on they are more than a processor's cache holds, and their order in memory tells
MOST_FEATURES = 20  # above, a tree is no faster than looking at every pair


def nearest_candidates(queries, points, width):
    """Nearest points of every query by Euclidean distance; among equally far ones, any.

    Parameters
    ----------
    queries : ndarray of shape (n_queries, n_features), dtype float64
        May be the points themselves, each of which is then among its own candidates unless others are as near.
    points : ndarray of shape (n_points, n_features), dtype float64
    width : int
        Candidates per query, at most n_points.

    Returns
    -------
    candidates : ndarray of shape (n_queries, width), dtype int32
        Rows of `points`. The tree may round a distance otherwise than its caller, in the last bits.

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
