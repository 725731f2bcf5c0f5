"""Repeated cross-validation of simple classifiers on data sets of a known model, to check claims about folds and repetitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from foldshift.core.arguments import check_one_of
from foldshift.inference.simulation.source_models import CHUNK_BYTES, MODELS, block_losses, class_sums
from foldshift.partition.fold_numbers import fold_dtype

if TYPE_CHECKING:
    from foldshift.core.types import UnsignedArray


class RepeatedLosses(NamedTuple):
    """Result of `simulate_repeated`: 0/1 losses and folds of every partition, in the order of the rows."""

    losses: UnsignedArray  # losses of the model's own rule; shape (R, r, N)
    # losses of the other rule on the first partition: nearest centroid by the one feature with the largest difference of means if
    # the model's rule uses all, and by all features if it uses that one; shape (R, N)
    other: UnsignedArray
    folds: UnsignedArray  # fold of every row; shape (R, r, N)


def simulate_repeated(
    model: Literal["centroid", "stump", "highdim"], K: int, M: int, n_datasets: int, n_repetitions: int, rng: np.random.Generator
) -> RepeatedLosses:
    """Cut the same independent data into random folds several times, and cross-validate; M is even.

    Data and rules are those of `foldshift.inference.simulation.source_models.simulate_losses` with ``sources="iid"``; with one
    repetition the losses are its ``cvr``.
    """
    check_one_of("model", model, MODELS)
    for name, value, least in (("K", K, 2), ("M", M, 2), ("n_datasets", n_datasets, 1), ("n_repetitions", n_repetitions, 1)):
        if value < least:
            raise ValueError(f"{name}={value} must be at least {least}")
    if M % 2:
        raise ValueError(f"M={M} must be even, as for simulate_losses")
    setting, N = MODELS[model], K * M
    d = len(setting.delta)
    y = np.tile(np.repeat([True, False], M // 2), K)
    sign = np.where(y, 1.0, -1.0)[:, None]
    blocks = np.repeat(np.arange(K), M).astype(fold_dtype(K))
    losses = np.empty((n_datasets, n_repetitions, N), dtype=np.uint8)
    other = np.empty((n_datasets, N), dtype=np.uint8)
    folds = np.empty((n_datasets, n_repetitions, N), dtype=fold_dtype(K))
    per_chunk = max(1, CHUNK_BYTES // (8 * N * d))
    for start in range(0, n_datasets, per_chunk):
        rows = slice(start, min(start + per_chunk, n_datasets))
        size = rows.stop - start
        x = np.empty((size, N, d))
        order = np.empty((size, n_repetitions, N), dtype=np.int64)
        for number in range(size):  # one data set at a time, so that the draws do not depend on the chunks
            rng.standard_normal(out=x[number])
            order[number] = [rng.permutation(N) for _ in range(n_repetitions)]
        x += sign * setting.delta
        total = class_sums(x.reshape(size, 1, N, d), y.reshape(1, 1, N))
        for p in range(n_repetitions):
            cut = order[:, p]
            shuffled = np.take_along_axis(x, cut[:, :, None], axis=1).reshape(size, K, M, d)
            classes = y[cut].reshape(size, K, M)
            rules = [(losses[rows, p], setting.one_feature)] + ([(other[rows], not setting.one_feature)] if p == 0 else [])
            for target, one_feature in rules:
                wrong = block_losses(shuffled, classes, total, one_feature)
                np.put_along_axis(target, cut, wrong.reshape(size, N).astype(np.uint8), axis=1)
            np.put_along_axis(folds[rows, p], cut, blocks[None], axis=1)
    return RepeatedLosses(losses, other, folds)


def by_fold(losses: UnsignedArray, folds: UnsignedArray, K: int) -> UnsignedArray:
    """Arrange losses in the order of the rows, (R, N), by folds of equal size as (R, K, M)."""
    order = np.argsort(folds, axis=1, kind="stable")
    return np.take_along_axis(losses, order, axis=1).reshape(len(losses), K, -1)
