"""Losses of cross-validation over sources, for many data sets drawn from the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from foldshift.core.counting import repeat
from foldshift.core.errors import unknown
from foldshift.core.estimators import clone_with_state
from foldshift.core.user_code.answers import predictions_after_fit

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, Estimator, IntArray, TableLike, UnsignedArray

DESIGNS = ("cvs", "cvr")


class _Blocks(NamedTuple):
    """Data sets block after block: rows of shape (R, n), the sizes of the blocks, and the first block that is tested."""

    rows: IntArray
    sizes: IntArray
    first: int = 0


def draw_rows(
    groups: ArrayLike,
    sources: Sequence[Any] | Array,
    M: int | Sequence[int],
    n_datasets: int,
    rng: np.random.Generator,
    *,
    replace: bool = True,
) -> Any:
    """Draw data sets from the empirical distribution of every source: R x K x M rows, a list over sources if `M` is one.

    With replacement a row can occur twice in a data set, and then in two blocks of a random cut but never in two sources. The
    classes are not stratified. Source: Geras, Sutton (2013). Multiple-source cross-validation. ICML, section 6.
    """
    groups, sources = np.asarray(groups), list(sources)
    sizes = list(M) if isinstance(M, Sequence | np.ndarray) else [M] * len(sources)
    if not sources or len(sizes) != len(sources):
        raise ValueError(f"M has {len(sizes)} sizes for {len(sources)} sources; expected one or more sources and a size for each")
    if len(set(sources)) < len(sources):
        raise ValueError(f"sources {sources} names a source twice; every source is one block")
    for name, value in (("n_datasets", n_datasets), *(("M", size) for size in sizes)):
        if not (isinstance(value, (int, np.integer)) and value >= 1):
            raise ValueError(f"{name}={value!r} must be an integer of at least 1")
    rows = []
    for source, size in zip(sources, sizes):
        members = np.flatnonzero(groups == source)
        if not len(members):
            raise ValueError(f"source {source!r} has no rows; groups holds {np.unique(groups)[:12].tolist()}")
        if replace:
            chosen = rng.integers(len(members), size=(n_datasets, size))
        elif size > len(members):
            raise ValueError(f"source {source!r} has {len(members)} rows; M={size} cannot be drawn without replacement")
        else:
            chosen = np.argsort(rng.random((n_datasets, len(members))), axis=1, kind="stable")[:, :size]
        rows.append(members[chosen])
    return np.stack(rows, axis=1) if np.ndim(M) == 0 else rows


def random_blocks(rows: Array | Sequence[Array], rng: np.random.Generator) -> Any:
    """Cut every data set at random into as many blocks as it has sources (CVR), without regard to source or class.

    The sizes of the blocks differ by one at most, larger ones first, for sources of any sizes.
    """
    blocks = _flat(rows)
    shuffled = np.take_along_axis(blocks.rows, _random_orders(blocks.rows.shape, rng), axis=1)
    if isinstance(rows, np.ndarray):
        return shuffled.reshape(rows.shape)
    return np.array_split(shuffled, len(blocks.sizes), axis=1)


def source_losses(
    X: TableLike,
    y: TableLike,
    rows: Array | Sequence[Array],
    learner: Estimator,
    design: Literal["cvs", "cvr"],
    rng: np.random.Generator | None = None,
    *,
    shared: bool = True,
) -> Any:
    """Compute 0/1 losses of cross-validation for many data sets: 1 where the m-th row of block k is predicted wrongly.

    ``cvs``: block k is source k, predicted by a model of the others. ``cvr``: `random_blocks`. `rng` first draws the random cut,
    the same for every learner, then the states of a learner that is random and whose `random_state` is None. `shared` uses
    ``predict_blocks`` of the learner where there is one; the losses are the same. A training part of one class predicts that
    class. The losses have the shape of `rows`, dtype uint8.
    Source: Geras, Sutton (2013). Multiple-source cross-validation. ICML, sections 2 and 3, equation 1.
    """
    if design not in DESIGNS:
        raise ValueError(unknown("design", design, DESIGNS))
    if design == "cvr":
        if rng is None:
            raise ValueError("rng=None; design 'cvr' needs a numpy.random.Generator to cut the data sets")
        rows = random_blocks(rows, rng)
    blocks = _flat(rows)
    if len(blocks.sizes) < 2:
        raise ValueError(f"rows has {len(blocks.sizes)} source; cross-validation over sources needs at least 2")
    losses = _losses(X, y, blocks, learner, rng, shared)
    if isinstance(rows, np.ndarray):
        return losses.reshape(rows.shape)
    return np.split(losses, np.cumsum(blocks.sizes)[:-1], axis=1)


def estimate_losses(
    X: TableLike, y: TableLike, rows: Array, new_rows: Array, learner: Estimator, rng: np.random.Generator, *, shared: bool = True
) -> tuple[UnsignedArray, UnsignedArray, UnsignedArray]:
    """Compute `source_losses` of both designs, and the losses of the model of all rows on `new_rows` (R, m) of a new source.

    `shared` uses ``predict_partitions`` of the learner where there is one: it shares work between all models of a data set.
    Source: Geras, Sutton (2013). Multiple-source cross-validation. ICML, equations 1 and 3.
    """
    rows, new_rows = np.asarray(rows), np.asarray(new_rows)
    flat, sizes, _ = blocks = _flat(rows)
    if new_rows.ndim != 2 or len(new_rows) != len(rows):
        raise ValueError(f"new_rows has shape {new_rows.shape} for {len(rows)} data sets; expected ({len(rows)}, m)")
    orders = _random_orders(flat.shape, rng)  # first, so that every learner sees the same cut
    both = np.concatenate([flat, new_rows], axis=1)
    y = _checked(X, y, both)
    if shared and hasattr(learner, "predict_partitions"):
        by_source = np.broadcast_to(repeat(np.arange(len(sizes)), sizes), flat.shape)
        at_random = np.empty_like(by_source)
        np.put_along_axis(at_random, orders, by_source, axis=1)
        predicted, new = learner.predict_partitions(X, y, flat, np.stack([by_source, at_random], axis=1), new_rows)
        wrong = (predicted != y[flat][:, None]).astype(np.uint8)
        # In memory as on the plain path, so that sums of them are the same to the last bit.
        cvs, cvr = (np.ascontiguousarray(one) for one in (wrong[:, 0], np.take_along_axis(wrong[:, 1], orders, axis=1)))
        new = (new != y[new_rows]).astype(np.uint8)
    else:
        cvs = _losses(X, y, blocks, learner, rng, shared)
        cvr = _losses(X, y, blocks._replace(rows=np.take_along_axis(flat, orders, axis=1)), learner, rng, shared)
        new = np.empty(new_rows.shape, dtype=np.uint8)
        if new.size:
            new = _losses(X, y, _Blocks(both, np.array([flat.shape[1], new_rows.shape[1]]), 1), learner, rng, shared)
    return cvs.reshape(rows.shape), cvr.reshape(rows.shape), new


def _random_orders(shape: tuple[int, int], rng: np.random.Generator) -> IntArray:
    """Draw the places 0 to n - 1 of every data set in random order, shape (R, n)."""
    return rng.permuted(np.broadcast_to(np.arange(shape[1]), shape), axis=1)


def _flat(rows: Array | Sequence[Array]) -> _Blocks:
    """Write data sets block after block."""
    if isinstance(rows, np.ndarray) and rows.ndim != 3:
        raise ValueError(f"rows has shape {rows.shape}; expected (n_datasets, n_sources, M), or a list with one array per source")
    parts = list(rows.swapaxes(0, 1)) if isinstance(rows, np.ndarray) else [np.asarray(part) for part in rows]
    shapes = [part.shape for part in parts]
    if not parts or any(len(shape) != 2 or shape[0] != shapes[0][0] for shape in shapes):
        raise ValueError(f"rows holds arrays of the shapes {shapes}; expected (n_datasets, M_k) for every source k")
    if any(part.dtype.kind not in "ui" for part in parts):
        raise ValueError(f"rows holds {', '.join(sorted({str(part.dtype) for part in parts}))}; expected integers")
    sizes = np.array([shape[1] for shape in shapes])
    if (sizes == 0).any():
        raise ValueError(f"source {int(np.flatnonzero(sizes == 0)[0])} has no rows; every source needs one or more")
    return _Blocks(np.concatenate(parts, axis=1), sizes)


def _checked(X: TableLike, y: TableLike, rows: IntArray) -> Array:
    """Return `y` as an array; raise if it does not fit `X` or a row does not exist."""
    y = np.asarray(y)
    if len(y) != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows and y {len(y)}; expected the same number")
    if rows.size and (rows.min() < 0 or rows.max() >= len(y)):
        raise ValueError(f"rows holds numbers from {rows.min()} to {rows.max()}; expected 0 to {len(y) - 1}")
    return y


def _losses(
    X: TableLike, y: TableLike, blocks: _Blocks, learner: Estimator, rng: np.random.Generator | None, shared: bool
) -> UnsignedArray:
    """Compute the losses, uint8, of the rows from the first tested block on."""
    rows, sizes, first = blocks
    y = _checked(X, y, rows)
    starts = np.append(0, np.cumsum(sizes))
    truth = y[rows[:, starts[first] :]]
    if shared and hasattr(learner, "predict_blocks"):
        return (learner.predict_blocks(X, y, rows, sizes, first) != truth).astype(np.uint8)
    losses = np.empty(truth.shape, dtype=np.uint8)
    n_fits = len(sizes) - first
    states = None if rng is None else rng.integers(2**32, size=(len(rows), n_fits), dtype=np.uint32)
    for r, chosen in enumerate(rows):
        for k in range(first, len(sizes)):
            test = slice(starts[k], starts[k + 1])
            train = np.delete(chosen, test)
            if (y[train] == y[train[0]]).all():
                predicted = y[train[0]]  # some learners refuse a single class; there is nothing else to predict
            else:
                model = clone_with_state(learner, None if states is None else states[r, k - first])
                predicted = predictions_after_fit(model, X[train], y[train], X[chosen[test]], y)
            losses[r, starts[k] - starts[first] : starts[k + 1] - starts[first]] = predicted != y[chosen[test]]
    return losses
