"""Sequential minimal optimisation: a support vector machine between two classes, on a part of a kernel matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foldshift.core.compiling import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from foldshift.core.types import BoolArray, FloatArray, IntArray

LEAST_CURVATURE = 1e-12
SHRINK_EVERY = 1000  # steps
FEW = 0.05  # share of the active samples: where fewer are set aside, rows of the kernel are put in order, and else gathered again
MOST = np.int64(2**63 - 1)


class _Samples(NamedTuple):
    """Training samples, which change places so that the active ones come first."""

    place: NDArray[np.uint32]  # row of the kernel; unsigned: loops need not test for negative positions
    sample: IntArray  # position in the order that was given
    mobile: BoolArray  # (2, n): which can rise, which can fall
    state: FloatArray  # (5, n): slope, beta, its low and high bound, entry of the kernel with itself


class _Rows(NamedTuple):
    """Rows of the kernel in use, gathered for the active samples."""

    work: NDArray[np.float32]
    filled: BoolArray  # (n,): which samples have their row there


@compiled
def train_machine(
    kernel: NDArray[np.float32],
    rows: IntArray,
    signs: FloatArray,
    costs: FloatArray,
    tolerance: float,
    max_steps: int,
    work: NDArray[np.float32],
) -> tuple[FloatArray, float, FloatArray, bool]:
    """Train the machine between two classes; return coefficients, bias, slopes, and whether the tolerance was reached.

    `signs` are 1 or -1, and both must occur; the order of `rows` breaks ties: the last of equals is chosen. `work` has room for
    n**2 numbers. The output for a sample is the bias plus the sum of beta times kernel; a slope is the sign less that sum.

    The dual problem, with ``beta = signs * alpha``: maximise ``sum(signs * beta) - beta' K beta / 2`` where ``sum(beta) = 0`` and
    every beta lies between 0 and ``signs * costs``. A step moves one pair: the sample of the steepest slope among those that can
    rise, and of those that can fall the one that promises the largest gain [1]. Samples at a bound that seem to stay there are
    set aside for a while [2]. The steps, and the single precision of the kernel, are those of libsvm, and so is the solution.
    Sources: [1] Fan, Chen, Lin (2005). Working set selection using second order information for training support vector machines.
    Journal of Machine Learning Research 6, 1889-1918, WSS 2. [2] Chang, Lin (2011). LIBSVM: a library for support vector
    machines. ACM Transactions on Intelligent Systems and Technology 2, 27, sections 4.1 and 5.1.
    """
    n = len(rows)
    samples = _Samples(rows.astype(np.uint32), np.arange(n), np.ones((2, n), np.bool_), np.zeros((5, n)))
    sample, place, mobile, state = samples.sample, samples.place, samples.mobile, samples.state
    # Position by position: unpacking would hide that the rows are contiguous, and the loops would be slower.
    slope, beta, low, high, own = state[0], state[1], state[2], state[3], state[4]
    slope[:] = signs
    low[:], high[:] = np.minimum(signs * costs, 0), np.maximum(signs * costs, 0)
    for t in range(n):
        own[t] = kernel[rows[t], rows[t]]
        _note_room(mobile, t, beta[t], low[t], high[t])
    capped = np.zeros(len(kernel))  # what samples at their cost take from the slope of every row of the kernel
    gain, filled = np.empty(n), np.zeros(n, np.bool_)
    gathered = _Rows(work, filled)
    n_active, stride, countdown, restored, converged = n, n, min(n, SHRINK_EVERY) + 1, False, False
    i, top, bottom = _steepest(slope, mobile[0], mobile[1])
    for _ in range(max_steps):
        countdown -= 1
        if countdown == 0:
            countdown = min(n, SHRINK_EVERY)
            if not restored and top - bottom <= 10 * tolerance:
                restored = True
                _restore(kernel, samples, signs, capped, n_active)
                filled[:] &= n_active == n
                n_active, stride = n, n
            few = _count_settled(samples, top, bottom, n_active) < FEW * n_active
            n_active = _shrink(samples, top, bottom, n_active, gathered, stride, few)
            if not few:
                filled[:], stride = False, n_active
            i, top, bottom = _steepest(slope[:n_active], mobile[0], mobile[1])
        if top - bottom < tolerance:
            if n_active == n:
                converged = True
                break
            _restore(kernel, samples, signs, capped, n_active)
            n_active, stride, countdown = n, n, 1
            filled[:] = False
            i, top, bottom = _steepest(slope, mobile[0], mobile[1])
            if top - bottom < tolerance:
                converged = True
                break
        row_i = _kernel_row(kernel, samples, i, n_active, gathered, stride)
        j = _best_partner(slope, mobile[1], own, i, row_i, gain)
        row_j = _kernel_row(kernel, samples, j, n_active, gathered, stride)
        before_i, before_j = beta[i], beta[j]
        _step(state, i, j, row_i[j])
        for t, before in ((i, before_i), (j, before_j)):
            _note_room(mobile, t, beta[t], low[t], high[t])
            _note_cap(kernel[place[t]], capped, before, beta[t], low[t] + high[t])
        _move(slope, row_i, row_j, beta[i] - before_i, beta[j] - before_j)
        i, top, bottom = _steepest(slope[:n_active], mobile[0], mobile[1])
    _restore(kernel, samples, signs, capped, n_active)
    out, slopes = np.empty(n), np.empty(n)
    out[sample], slopes[sample] = beta, slope
    return out, _bias(state, mobile[0]), slopes, converged


@compiled
def _note_room(mobile: BoolArray, t: int, beta: float, low: float, high: float) -> None:
    mobile[0, t], mobile[1, t] = beta < high, beta > low


@compiled
def _steepest(slope: FloatArray, can_rise: BoolArray, can_fall: BoolArray) -> tuple[int, float, float]:
    """Find the sample that can rise with the largest slope, that slope, and the smallest slope of those that can fall."""
    bits = slope.view(np.int64)
    top, bottom = _extremes(bits, can_rise, can_fall)
    top, bottom = top ^ ((top >> 63) & MOST), bottom ^ ((bottom >> 63) & MOST)
    slopes = np.array([top, bottom]).view(np.float64)
    return _last(bits, can_rise, top), slopes[0], slopes[1]


@compiled
def _extremes(bits: IntArray, can_rise: BoolArray, can_fall: BoolArray) -> tuple[np.int64, np.int64]:
    """Find the largest and the smallest slope, their bits turned into integers of the same order.

    Compilers run comparisons of integers side by side, those of floats not. They fail to if the result is turned back here.
    """
    top, bottom = -MOST, MOST
    for t in range(len(bits)):
        key = bits[t] ^ ((bits[t] >> 63) & MOST)
        top = max(top, key if can_rise[t] else -MOST)
        bottom = min(bottom, key if can_fall[t] else MOST)
    return top, bottom


@compiled
def _last(bits: IntArray, can_rise: BoolArray, top: int) -> np.int64:
    last = np.int64(0)
    for t in range(len(bits)):
        last = max(last, t * np.int64(can_rise[t]) * np.int64(bits[t] == top))
    return last


@compiled
def _best_partner(
    slope: FloatArray, can_fall: BoolArray, own: FloatArray, i: int, row: NDArray[np.float32], gain: FloatArray
) -> int:
    """Find the sample whose fall, with the rise of sample i, promises the largest gain."""
    for t in range(len(row)):
        gap = slope[i] - slope[t]
        gap = gap if can_fall[t] and gap > 0 else 0.0
        curvature = own[i] + own[t] - 2.0 * row[t]
        gain[t] = gap * gap / (curvature if curvature > 0 else LEAST_CURVATURE)
    bits = gain.view(np.int64)[: len(row)]  # no gain is negative
    largest, last = np.int64(0), -1
    for t in range(len(bits)):
        largest = max(largest, bits[t])
    for t in range(len(bits)):
        last = t if bits[t] == largest else last
    return last


@compiled
def _kernel_row(
    kernel: NDArray[np.float32], samples: _Samples, t: int, n_active: int, gathered: _Rows, stride: int
) -> NDArray[np.float32]:
    """Kernel between a sample and the active ones; gathered once, while they stay where they are."""
    place, filled = samples.place, gathered.filled
    own = samples.sample[t]
    row = gathered.work[own * stride : own * stride + n_active]
    if not filled[own]:
        whole = kernel[place[t]]
        for k in range(n_active):
            row[k] = whole[place[k]]
        filled[own] = True
    return row


@compiled
def _step(state: FloatArray, i: int, j: int, between: float) -> None:
    """Raise one sample and lower another to the best point, or to the first bound on the way."""
    slope, beta, low, high, own = state[0], state[1], state[2], state[3], state[4]
    curvature = own[i] + own[j] - 2.0 * between
    change = (slope[i] - slope[j]) / (curvature if curvature > 0 else LEAST_CURVATURE)
    total = beta[i] + beta[j]
    beta[i] += change
    beta[j] -= change
    if total > high[i] + low[j]:  # then the first bound is that of i
        if beta[i] > high[i]:
            beta[i], beta[j] = high[i], total - high[i]
    elif beta[j] < low[j]:
        beta[i], beta[j] = total - low[j], low[j]


@compiled
def _move(slope: FloatArray, row_i: NDArray[np.float32], row_j: NDArray[np.float32], change_i: float, change_j: float) -> None:
    for t in range(len(row_i)):
        slope[t] -= row_i[t] * change_i + row_j[t] * change_j


@compiled
def _note_cap(whole: NDArray[np.float32], capped: FloatArray, before: float, after: float, cap: float) -> None:
    """Keep `capped` when a sample reaches or leaves its cost, which has the sample's sign."""
    was, now = abs(before) >= abs(cap), abs(after) >= abs(cap)
    if was != now:
        change = cap if now else -cap
        for k in range(len(whole)):
            capped[k] += change * whole[k]


@compiled
def _restore(kernel: NDArray[np.float32], samples: _Samples, signs: FloatArray, capped: FloatArray, n_active: int) -> None:
    """Bring the slopes of the samples that were set aside up to date."""
    place, sample, state = samples.place, samples.sample, samples.state
    slope, beta, low, high = state[0], state[1], state[2], state[3]
    n = len(place)
    if n_active == n:
        return
    for k in range(n_active, n):
        slope[k] = signs[sample[k]] - capped[place[k]]
    for t in range(n_active):
        if beta[t] != 0 and low[t] < beta[t] < high[t]:
            whole = kernel[place[t]]
            for k in range(n_active, n):
                slope[k] -= beta[t] * whole[place[k]]


@compiled
def _count_settled(samples: _Samples, top: float, bottom: float, n_active: int) -> int:
    n = 0
    for t in range(n_active):
        n += _is_settled(samples.mobile, samples.state, t, top, bottom)
    return n


@compiled
def _shrink(samples: _Samples, top: float, bottom: float, n_active: int, gathered: _Rows, stride: int, few: bool) -> int:
    """Set aside samples at a bound whose slope is beyond those of all that could move; return how many stay.

    Where they are few, the rows of the kernel that were gathered stay in use.
    """
    place, sample, mobile, state = samples.place, samples.sample, samples.mobile, samples.state
    work, filled = gathered.work, gathered.filled
    i = 0
    while i < n_active:
        if _is_settled(mobile, state, i, top, bottom):
            n_active -= 1
            while n_active > i and _is_settled(mobile, state, n_active, top, bottom):
                n_active -= 1
            for v in range(len(state)):
                state[v, i], state[v, n_active] = state[v, n_active], state[v, i]
            for v in range(2):
                mobile[v, i], mobile[v, n_active] = mobile[v, n_active], mobile[v, i]
            place[i], place[n_active] = place[n_active], place[i]
            sample[i], sample[n_active] = sample[n_active], sample[i]
            if few:
                for own in range(len(filled)):
                    if filled[own]:
                        work[own * stride + i] = work[own * stride + n_active]
        i += 1
    return n_active


@compiled
def _is_settled(mobile: BoolArray, state: FloatArray, t: int, top: float, bottom: float) -> bool:
    return (not mobile[0, t] and state[0, t] > top) or (not mobile[1, t] and state[0, t] < bottom)


@compiled
def _bias(state: FloatArray, can_rise: BoolArray) -> float:
    """Mean slope of the samples between their bounds, or the middle of what the others allow."""
    slope, beta, low, high = state[0], state[1], state[2], state[3]
    total, n_free, top, bottom = 0.0, 0, -np.inf, np.inf
    for t in range(len(slope)):
        if low[t] < beta[t] < high[t]:
            total += slope[t]
            n_free += 1
        elif can_rise[t]:
            top = max(top, slope[t])
        else:
            bottom = min(bottom, slope[t])
    return total / n_free if n_free else (top + bottom) / 2
