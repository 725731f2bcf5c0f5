"""Correction of p-values for their number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import stats

from foldshift.core.arguments import check_one_of
from foldshift.core.gate.numbers import as_numbers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import FloatArray


def adjust_p(p: ArrayLike, method: Literal["bh", "holm", "none"] = "bh") -> FloatArray:
    """Correct p-values for their number.

    Parameters
    ----------
    p : array-like of shape (..., m)
        p-values; leading axes are separate families. NaN is not a test: it stays NaN and does not count.
    method : {"bh", "holm", "none"}, default="bh"
        ``bh``: Benjamini and Hochberg, the rate of false discoveries. ``holm``: Holm, the chance of a single one.

    Returns
    -------
    adjusted : ndarray of shape (..., m)
        In [0, 1].

    Raises
    ------
    ValueError
        If `method` is unknown or a p-value is not between 0 and 1.

    Examples
    --------
    >>> adjust_p([0.01, 0.04, 0.03], "holm").round(3).tolist()
    [0.03, 0.06, 0.06]

    References
    ----------
    .. [1] Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6, 65-70.
    .. [2] Benjamini, Y., Hochberg, Y. (1995). Controlling the false discovery rate: a practical and powerful approach to multiple
       testing. Journal of the Royal Statistical Society B 57, 289-300.
    """
    check_one_of("method", method, ("bh", "holm", "none"))
    p = as_numbers(p, "p").copy()
    bad = (p < 0) | (p > 1)
    if p.ndim == 0 or bad.any():
        raise ValueError(
            f"p has shape {p.shape}{f' and holds {p[bad][0]:g}' if bad.any() else ''}; expected (..., m) from 0 to 1"
        )
    if method == "none" or p.size == 0:
        return p
    return np.apply_along_axis(_adjusted, -1, p, method)


def _adjusted(p: FloatArray, method: Literal["bh", "holm"]) -> FloatArray:
    tests = ~np.isnan(p)
    m = int(tests.sum())
    if m == 0:
        return p
    adjusted = p.copy()
    if method == "bh":
        adjusted[tests] = stats.false_discovery_control(p[tests], method="bh")
    else:
        order = np.argsort(p[tests], kind="stable")
        stepped = np.empty(m)
        stepped[order] = np.minimum(np.maximum.accumulate(p[tests][order] * np.arange(m, 0, -1)), 1)
        adjusted[tests] = stepped
    return adjusted
