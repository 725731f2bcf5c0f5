"""Predictions of every sample in every partition as files: some bits each, compressed."""

import numpy as np

from foldshift.core.files import atomic_path


def write_predictions(path, predictions, n_classes):
    """Write the predicted classes of a block of partitions.

    Parameters
    ----------
    path : path-like
        File in NumPy's ``.npz`` format, compressed: for every cell an array ``<learner>/<partitioner>/k<k>`` of shape (n_bits,
        n_samples, ceil(n_runs / 8)), uint8, the bits of the codes packed along the runs, and
        ``<learner>/<partitioner>/k<k>/runs``, their number. Along the runs, because a sample is mostly predicted the same: that
        compresses best.
    predictions : dict of (str, str, int) to ndarray of shape (n_runs, n_samples), integer
        Class codes by learner, partitioner and k.
    n_classes : int
        Codes are below it.
    """
    n_bits = max(1, (n_classes - 1).bit_length())
    arrays = {}
    for (learner, partitioner, k), codes in predictions.items():
        name = f"{learner}/{partitioner}/k{k}"
        columns = np.ascontiguousarray(codes.T)
        arrays[name] = np.packbits(np.stack([columns >> bit & 1 for bit in range(n_bits)]).astype(np.uint8), axis=-1)
        arrays[f"{name}/runs"] = np.array(len(codes))
    with atomic_path(path) as temporary, open(temporary, "wb") as file:
        np.savez_compressed(file, **arrays)


def read_predictions(path):
    """Read predictions that `write_predictions` wrote.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    predictions : dict of (str, str, int) to ndarray of shape (n_runs, n_samples), dtype uint8 (int64 above 256 classes)
        Class codes by learner, partitioner and k.
    """
    predictions = {}
    with np.load(path, allow_pickle=False) as archive:
        for name in archive.files:
            if name.endswith("/runs"):
                continue
            learner, partitioner, k = name.split("/")
            bits = np.unpackbits(archive[name], axis=-1, count=int(archive[f"{name}/runs"]))
            codes = bits[0] if len(bits) <= 8 else bits[0].astype(np.int64)
            for bit in range(1, len(bits)):
                codes = codes | (bits[bit].astype(codes.dtype) << bit)
            predictions[learner, partitioner, int(k[1:])] = np.ascontiguousarray(codes.T)
    return predictions
