"""Sign-flip (permutation) test of the mean of paired differences, of rows or of whole clusters, for many pairs at once."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray

MOST_COUNTED = 14  # differences that are not 0, up to which all signs are counted
N_FLIPS, CHUNK = 9_999, 500
SEED = 1935  # of the signs; fixed, so that the same scores have the same p
ROUNDING = 1e-12  # share of the largest sum below which two sums are equal


def sign_flip_p(differences: FloatArray, factor: float = 1.0) -> FloatArray:
    """Two-sided p of every column of differences, shape (n_units, n_pairs), by flips of the signs of whole units.

    `factor` is that of the variance of a sum, above 1 where units share the models that scored them: the sum seen is divided by
    its root. Zero differences change nothing. Few others: all signs are counted. More: 9,999 draws of a fixed seed, the same for
    all columns, and ``p = (1 + as far) / (1 + draws)``.
    """
    p = np.ones(differences.shape[1])
    drawn = []
    for column, d in enumerate(differences.T):
        d = d[d != 0]
        if not len(d):
            continue
        if len(d) > MOST_COUNTED:
            drawn.append(column)
            continue
        signs = np.array(list(product((-1.0, 1.0), repeat=len(d))))
        p[column] = _as_far(signs @ d, float(d.sum()) / np.sqrt(factor), float(np.abs(d).sum())).mean()
    if drawn:
        d = differences[:, drawn]
        totals, sizes, rng = d.sum(axis=0) / np.sqrt(factor), np.abs(d).sum(axis=0), np.random.default_rng(SEED)
        far = np.zeros(len(drawn))
        for start in range(0, N_FLIPS, CHUNK):
            signs = 2.0 * rng.integers(2, size=(min(CHUNK, N_FLIPS - start), len(d))) - 1
            far += _as_far(signs @ d, totals, sizes).sum(axis=0)
        p[drawn] = (1 + far) / (1 + N_FLIPS)
    return p


def _as_far(sums: FloatArray, seen: FloatArray | float, size: FloatArray | float) -> FloatArray:
    """Report whether sums are at least as far from 0 as the one seen, but for rounding."""
    return (np.abs(sums) >= np.abs(seen) - ROUNDING * np.asarray(size)).astype(np.float64)
