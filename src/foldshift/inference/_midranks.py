"""Ranks that tie numbers that differ only by rounding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import FloatArray

SAME = 1e-12  # share of the largest input: .8 - .7 and .3 - .2 are equal although their last bits differ


def midranks(values: ArrayLike, largest: ArrayLike, *, same: float = SAME) -> FloatArray:
    """Ranks along the last axis, from 1; neighbours within `same` times the `largest` input share the mean of their ranks.

    >>> import numpy as np
    >>> from foldshift.inference._midranks import midranks
    >>> d = np.array([0.8 - 0.7, 0.3 - 0.2, 0.5])
    >>> bool(d[0] == d[1]), midranks(d, 0.8).tolist()
    (False, [1.5, 1.5, 3.0])
    """
    values = np.asarray(values, dtype=np.float64)
    order = np.argsort(values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    steps = np.diff(ordered, axis=-1) > same * np.asarray(largest)[..., None]
    places = np.concatenate([np.zeros_like(order[..., :1]), np.cumsum(steps, axis=-1)], axis=-1)
    found = np.empty_like(order)
    np.put_along_axis(found, order, places, axis=-1)
    return rankdata(found, axis=-1)
