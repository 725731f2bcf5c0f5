"""Predictions of every sample in every partition as files: some bits each, compressed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from foldshift.core.files import atomic_path
from foldshift.datasets.array_files import read_arrays

if TYPE_CHECKING:
    from foldshift.core.types import Array, PathLike, UnsignedArray


def write_predictions(path: PathLike, predictions: dict[tuple[str, str, int], Array], n_classes: int) -> None:
    """Write the predicted classes of a block of partitions."""
    n_bits = max(1, (n_classes - 1).bit_length())
    arrays: dict[str, Any] = {}
    for (learner, partitioner, k), codes in predictions.items():
        name = f"{learner}/{partitioner}/k{k}"
        columns = np.ascontiguousarray(codes.T)
        arrays[name] = np.packbits(np.stack([columns >> bit & 1 for bit in range(n_bits)]).astype(np.uint8), axis=-1)
        arrays[f"{name}/runs"] = np.array(len(codes))
    with atomic_path(path) as temporary, open(temporary, "wb") as file:
        np.savez_compressed(file, **arrays)


def read_predictions(path: PathLike) -> dict[tuple[str, str, int], UnsignedArray]:
    """Read predictions that `write_predictions` wrote."""
    predictions = {}
    arrays = read_arrays(path)
    for name, packed in arrays.items():
        if name.endswith("/runs"):
            continue
        learner, partitioner, k = name.split("/")
        bits = np.unpackbits(packed, axis=-1, count=int(arrays[f"{name}/runs"]))
        codes = bits[0] if len(bits) <= 8 else bits[0].astype(np.int64)
        for bit in range(1, len(bits)):
            codes = codes | (bits[bit].astype(codes.dtype) << bit)
        predictions[learner, partitioner, int(k[1:])] = np.ascontiguousarray(codes.T)
    return predictions
