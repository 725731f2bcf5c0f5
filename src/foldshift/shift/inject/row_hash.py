"""Keys of rows that depend on their values and not on their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from foldshift.core.counting import repeat

if TYPE_CHECKING:
    from foldshift.core.types import Array, FloatArray, UnsignedArray


def digests(X: FloatArray, y: Array) -> UnsignedArray:
    """Hash every row from its values and its class; identical rows are numbered, so that their hashes differ."""
    keys = mix(np.unique(y, return_inverse=True)[1].ravel().astype(np.uint64))
    for column in X.T:
        column = np.where(np.isnan(column), np.nan, column + 0.0)  # one NaN, one zero
        keys = mix(keys ^ column.view(np.uint64))
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    place = np.empty(len(keys), dtype=np.uint64)
    place[order] = np.arange(len(keys)) - repeat(starts, np.diff(np.append(starts, len(keys))))
    return mix(keys + place)


def mix(bits: UnsignedArray) -> UnsignedArray:
    """Scramble 64-bit numbers, one to one (the finalizer of SplitMix64: Steele, Lea, Flood 2014)."""
    mixed = bits + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
