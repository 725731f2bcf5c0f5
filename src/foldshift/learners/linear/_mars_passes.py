"""Forward and backward pass of MARS, and the least squares between them and after."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foldshift.core.compiling import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from foldshift.core.types import FloatArray, IntArray

# What earth does beyond the papers, found by running it (trace = 9); `tests/oracles/test_mars_against_r.py` keeps watch.
_ALPHA = 0.05  # of the automatic spans
_LINEAR_TOLERANCE = 0.01  # least residual sum of squares of a predictor that may enter linearly; in its own unit
_HINGE_TOLERANCE = 0.01  # least share of a hinge's sum of squares that is not explained by the terms already there
_LATE_HINGE_TOLERANCE = 1e-5  # the same in later steps
_FIRST_LATE_TERM = 16
_LARGEST_RISE = 10.0  # a knot may not reduce the error by more than this multiple of the last reduction
_LEAST_GRSQ = -10.0
_ROUNDING = 1e-12  # share of a sum of squares below which a residual is rounding noise


class Columns(NamedTuple):
    """Presorted columns of the training rows, each array of shape (n_features, n_samples)."""

    values: FloatArray  # ascending
    order: NDArray[np.int32]  # row of every value


class Settings(NamedTuple):
    """Parameters of `MARSRegressor` as the kernels take them; a span of 0 is automatic."""

    max_terms: int
    threshold: float
    penalty: float
    min_span: int
    end_span: int


class Work(NamedTuple):
    """Arrays that every fit overwrites."""

    basis: FloatArray  # (max_terms, n_samples): orthonormal basis of the centred model
    hinges: FloatArray  # (4, n_features, n_samples): state of the right hinge at every knot, see `forward`


class Grid(NamedTuple):
    """Positions of the knots among the sorted samples."""

    highest: IntArray  # (n_features,): highest position of every predictor
    distance: int
    n_knots: IntArray  # (n_features,)


class ForwardModel(NamedTuple):
    """Terms that the forward pass chose, without the intercept."""

    features: IntArray
    knots: FloatArray
    signs: IntArray
    means: FloatArray
    loadings: FloatArray  # (n_terms, n_terms): the centred terms in coordinates of the orthonormal basis, one column per term
    scores: FloatArray  # (n_terms,): coordinates of the target


class _State(NamedTuple):
    """Predictors and hinges outside the span of the model."""

    linear: FloatArray  # (3, n_features): sum of squares, product with the target, full sum of squares of every predictor
    hinges: FloatArray  # (4, n_features, n_samples): see `forward`
    along: FloatArray  # (n_samples,), overwritten


@compiled
def knot_grid(values: FloatArray, min_span: int, end_span: int) -> Grid:
    """Place the knots."""
    n_features, n_samples = values.shape
    if min_span == 0:
        trials = n_features * n_samples
        min_span = max(1, int(-math.log2(-math.log(1 - _ALPHA) / trials) / 2.5))
    if end_span == 0:
        end_span = int(3 - math.log2(_ALPHA / n_features))
        end_span = max(1, min(end_span, n_samples // 2 - 1))
    # What the distance does not divide is left over at both ends alike.
    beyond = end_span + ((n_samples - 2 * end_span - 1) % min_span + 1) // 2
    highest = np.empty(n_features, dtype=np.int64)
    n_knots = np.zeros(n_features, dtype=np.int64)
    for j in range(n_features):
        n_largest = 1
        while n_largest < n_samples and values[j, n_samples - 1 - n_largest] == values[j, n_samples - 1]:
            n_largest += 1
        highest[j] = n_samples - n_largest - beyond  # samples tied at the maximum count as one
        if highest[j] >= end_span:
            n_knots[j] = (highest[j] - end_span) // min_span + 1
    return Grid(highest, min_span, n_knots)


@compiled
def _gcv(rss: float, n_terms: int, n_samples: int, penalty: float) -> float:
    """Generalised cross-validation error (Friedman 1991, equations 30 and 32), up to the factor 1 / n_samples."""
    n_parameters = n_terms + penalty * (n_terms - 1) / 2
    if n_parameters >= n_samples:
        return np.inf
    return rss / (1 - n_parameters / n_samples) ** 2


@compiled
def forward(columns: Columns, target: FloatArray, settings: Settings, work: Work) -> ForwardModel:
    """Add terms step by step (Friedman 1991, algorithm 2, without products).

    Every step adds the predictor linearly, or a pair of hinge functions at one knot, or only the right one of them if
    the predictor is already in the span of the model. For every knot of every predictor, `Work.hinges` keeps what a step
    asks for: the sum of squares of the right hinge outside the span of the model, its products with the target and with
    the predictor there, and its full sum of squares. They change by one scan of the sorted column for every new basis
    vector, however many there are already.
    """
    values, order, basis = columns.values, columns.order, work.basis
    max_terms, threshold, penalty = settings.max_terms, settings.threshold, settings.penalty
    n_features, n_samples = values.shape
    grid = knot_grid(values, settings.min_span, settings.end_span)
    linear_mean = np.empty(n_features)
    state = _State(np.empty((3, n_features)), work.hinges, np.empty(n_samples))
    linear = state.linear
    features = np.empty(max_terms, dtype=np.int64)
    knots = np.empty(max_terms)
    signs = np.empty(max_terms, dtype=np.int64)
    means = np.empty(max_terms)
    loadings = np.zeros((max_terms, max_terms))
    scores = np.empty(max_terms)
    column = np.empty(n_samples)
    hinge = np.empty(n_samples)
    total = np.sum(target**2)
    rss = total
    null_gcv = _gcv(total, 1, n_samples, penalty)
    last_gain = np.inf
    size = np.int64(0)  # typed: with the literal, numba would compile every function it is given to twice
    if np.max(target) > np.min(target):
        for j in range(n_features):
            linear_mean[j] = np.mean(values[j])
            _start_hinges(j, columns, target, linear_mean[j], grid, state)
        first_step = 2
    else:
        first_step = max_terms  # nothing to explain
    # Steps are counted in pairs of terms, also where a step adds one term only.
    for step in range(first_step, max_terms, 2):
        tolerance = _HINGE_TOLERANCE if step < _FIRST_LATE_TERM else _LATE_HINGE_TOLERANCE
        gain, j, which = _best_step(linear, work.hinges, grid.n_knots, tolerance, _LARGEST_RISE * last_gain)
        if gain <= 0:
            break
        is_new = linear[0, j] >= _least_linear(linear, j)
        n_added = 2 if is_new and which >= 0 else 1
        grsq = 1 - _gcv(max(0.0, rss - gain), size + 1 + n_added, n_samples, penalty) / null_gcv
        if gain < threshold * total or grsq < _LEAST_GRSQ:
            break
        old_size = size
        if is_new:
            for i in range(n_samples):
                column[order[j, i]] = values[j, i] - linear_mean[j]
            _orthonormalise(column, basis, size, loadings[:, size])
            size += 1
        if which < 0:
            features[old_size], knots[old_size], signs[old_size] = j, 0.0, 0
            means[old_size] = linear_mean[j]
        else:
            knot = values[j, grid.highest[j] - which * grid.distance]
            for i in range(n_samples):
                hinge[order[j, i]] = max(0.0, values[j, i] - knot)
            means[old_size] = np.mean(hinge)
            hinge -= means[old_size]
            if is_new:  # the linear part was put where the left hinge belongs: right minus left is linear
                loadings[:, size] = loadings[:, old_size]
                loadings[:, old_size] = 0.0
            _orthonormalise(hinge, basis, size, loadings[:, old_size])
            features[old_size], knots[old_size], signs[old_size] = j, knot, 1
            if is_new:
                for k in range(size + 1):
                    loadings[k, size] = loadings[k, old_size] - loadings[k, size]
                features[size], knots[size], signs[size] = j, knot, -1
                means[size] = means[old_size] - (linear_mean[j] - knot)
            size += 1
        for k in range(old_size, size):
            scores[k] = _dot(basis[k], target, n_samples)
            rss -= scores[k] ** 2
            for other in range(n_features):
                _project(other, basis[k], scores[k], columns, grid, state)
        last_gain = gain
        if rss <= max(threshold, _ROUNDING) * total:
            break
    return ForwardModel(features[:size], knots[:size], signs[:size], means[:size], loadings[:size, :size], scores[:size])


@compiled
def _start_hinges(j: int, columns: Columns, target: FloatArray, mean: float, grid: Grid, state: _State) -> None:
    """Sum the squares and products of the centred hinges and of the centred predictor itself.

    Going down from the largest value, the sum over (x - knot) * t grows by the step of the knot times the sum of the t
    passed so far (the idea of Friedman 1991, equation 52).
    """
    x, rows = columns.values[j], columns.order[j]
    linear, hinges, n_knots = state.linear, state.hinges, grid.n_knots[j]
    n_samples = len(x)
    passed_y = passed_x = 0.0
    product_y = product_x = sum_1 = sum_2 = 0.0
    which = 0
    next_knot = grid.highest[j] if n_knots > 0 else -1
    previous = x[n_samples - 1]
    for i in range(n_samples - 1, -1, -1):
        gap = previous - x[i]
        previous = x[i]
        n_passed = n_samples - 1 - i
        sum_2 += gap * (2 * sum_1 + gap * n_passed)
        sum_1 += gap * n_passed
        product_y += gap * passed_y
        product_x += gap * passed_x
        if i == next_knot:
            spread = sum_2 - sum_1 * sum_1 / n_samples
            hinges[0, j, which] = spread
            hinges[1, j, which] = product_y
            hinges[2, j, which] = product_x
            hinges[3, j, which] = spread
            which += 1
            next_knot = i - grid.distance if which < n_knots else -1
        passed_y += target[rows[i]]
        passed_x += x[i] - mean
    linear[0, j] = product_x
    linear[1, j] = product_y
    linear[2, j] = product_x


@compiled
def _project(j: int, vector: FloatArray, score: float, columns: Columns, grid: Grid, state: _State) -> None:
    """Take the part along a new basis vector out of the state of a predictor and its hinges."""
    x, rows = columns.values[j], columns.order[j]
    linear, hinges, along, n_knots = state.linear, state.hinges, state.along, grid.n_knots[j]
    n_samples = len(x)
    passed = product = 0.0
    which = 0
    next_knot = grid.highest[j] if n_knots > 0 else -1
    previous = x[n_samples - 1]
    for i in range(n_samples - 1, -1, -1):
        product += (previous - x[i]) * passed
        previous = x[i]
        if i == next_knot:
            along[which] = product
            which += 1
            next_knot = i - grid.distance if which < n_knots else -1
        passed += vector[rows[i]]
    for which in range(n_knots):
        hinges[0, j, which] -= along[which] * along[which]
        hinges[1, j, which] -= along[which] * score
        hinges[2, j, which] -= along[which] * product
    linear[0, j] -= product * product
    linear[1, j] -= product * score


@compiled
def _least_linear(linear: FloatArray, j: int) -> float:
    """Least residual sum of squares of a predictor that is not in the span of the model."""
    return max(_LINEAR_TOLERANCE, _ROUNDING * linear[2, j])


@compiled
def _best_step(
    linear: FloatArray, hinges: FloatArray, n_knots: IntArray, tolerance: float, limit: float
) -> tuple[float, int, int]:
    """Find the greatest reduction of the residual sum of squares, its predictor, and its knot (-1: linear)."""
    best_gain = 0.0
    best_feature = best_which = -1
    for j in range(linear.shape[1]):
        linear_gain = share = score_share = 0.0
        if linear[0, j] >= _least_linear(linear, j):
            share = 1 / linear[0, j]
            score_share = linear[1, j] * share
            linear_gain = linear[1, j] * score_share
        if linear_gain > best_gain:
            best_gain, best_feature, best_which = linear_gain, j, -1
        for which in range(n_knots[j]):
            with_linear = hinges[2, j, which]
            spread = hinges[0, j, which] - with_linear * with_linear * share
            if spread > tolerance * hinges[3, j, which]:
                product = hinges[1, j, which] - with_linear * score_share
                gain = linear_gain + product * product / spread
                if best_gain < gain < limit:
                    best_gain, best_feature, best_which = gain, j, which
    return best_gain, best_feature, best_which


@compiled
def _dot(a: FloatArray, b: FloatArray, n: int) -> float:
    # Eight partial sums: the compiler may use vector registers, and the order of the sum is the same everywhere.
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    whole = n - n % 8
    for i in range(0, whole, 8):
        s0 += a[i] * b[i]
        s1 += a[i + 1] * b[i + 1]
        s2 += a[i + 2] * b[i + 2]
        s3 += a[i + 3] * b[i + 3]
        s4 += a[i + 4] * b[i + 4]
        s5 += a[i + 5] * b[i + 5]
        s6 += a[i + 6] * b[i + 6]
        s7 += a[i + 7] * b[i + 7]
    total = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
    for i in range(whole, n):
        total += a[i] * b[i]
    return total


@compiled
def _orthonormalise(vector: FloatArray, basis: FloatArray, size: int, loadings: FloatArray) -> None:
    """Write the normed part of a vector outside the span of the basis to ``basis[size]``, and its coordinates.

    Modified Gram-Schmidt, a second time if the first left little, which may not be orthogonal enough.
    """
    n = len(vector)
    before = _dot(vector, vector, n)
    for _ in range(2):
        for k in range(size):
            coordinate = _dot(basis[k], vector, n)
            loadings[k] += coordinate
            for i in range(n):
                vector[i] -= coordinate * basis[k, i]
        left = _dot(vector, vector, n)
        if left > 0.01 * before:
            break
    norm = math.sqrt(left)
    loadings[size] = norm
    for i in range(n):
        basis[size, i] = vector[i] / norm


@compiled
def backward(loadings: FloatArray, scores: FloatArray, total: float, n_samples: int, penalty: float) -> IntArray:
    """Choose the subset of the terms with the lowest GCV that a backward elimination meets (Friedman 1991, algorithm 3).

    As in Miller's procedure, which earth uses, the term whose removal costs least is moved to the end of the order of the
    remaining ones, and for every size the best of all leading subsets seen on the way counts, not only the one that remains.
    """
    n_terms = len(scores)
    factor, rotated = _triangular(loadings, scores)
    order = np.arange(n_terms)
    best_rss = np.full(n_terms + 1, np.inf)
    best_order = np.zeros((n_terms + 1, n_terms), dtype=np.int64)
    _note_leading(order, rotated, total, np.int64(0), n_terms, best_rss, best_order)
    for size in range(n_terms, 1, -1):
        position = _cheapest(factor, rotated, size)
        if position < size - 1:
            _move_to_end(factor, rotated, order, position, size)
            _note_leading(order, rotated, total, position + 1, size - 1, best_rss, best_order)
    best = 0
    best_gcv = np.inf
    for size in range(n_terms + 1):
        gcv = _gcv(best_rss[size], size + 1, n_samples, penalty)
        if gcv < best_gcv:
            best, best_gcv = size, gcv
    return np.sort(best_order[best, :best])


@compiled
def _note_leading(
    order: IntArray, rotated: FloatArray, total: float, first: int, last: int, best_rss: FloatArray, best_order: IntArray
) -> None:
    """Keep the leading subsets of ``first`` to ``last`` terms that are better than the best of their size."""
    rss = total
    for size in range(last + 1):
        if size > 0:
            rss -= rotated[size - 1] ** 2
        if size >= first and rss < best_rss[size]:
            best_rss[size] = rss
            best_order[size, :size] = order[:size]


@compiled
def _cheapest(factor: FloatArray, rotated: FloatArray, size: int) -> int:
    """Find the term whose removal from the first ``size`` raises the residual sum of squares least."""
    inverse = np.zeros((size, size))
    cheapest = 0
    least = np.inf
    for row in range(size - 1, -1, -1):
        inverse[row, row] = 1 / factor[row, row]
        for column in range(row + 1, size):
            value = 0.0
            for k in range(row + 1, column + 1):
                value -= factor[row, k] * inverse[k, column]
            inverse[row, column] = value / factor[row, row]
        slope = norm = 0.0
        for column in range(row, size):
            slope += inverse[row, column] * rotated[column]
            norm += inverse[row, column] ** 2
        cost = slope * slope / norm
        if cost <= least:
            cheapest, least = row, cost
    return cheapest


@compiled
def _move_to_end(factor: FloatArray, rotated: FloatArray, order: IntArray, position: int, size: int) -> None:
    """Move a column to the end of the first ``size`` and make the factor triangular again by plane rotations."""
    moved = factor[:, position].copy()
    moved_term = order[position]
    for column in range(position, size - 1):
        factor[:, column] = factor[:, column + 1]
        order[column] = order[column + 1]
    factor[:, size - 1] = moved
    order[size - 1] = moved_term
    for row in range(position, size - 1):
        _rotate(factor, rotated, row, row + 1, row, size)


@compiled
def _triangular(loadings: FloatArray, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Compute the upper triangular factor of the loadings, and the scores rotated alike.

    Below their diagonal, loadings have only what the right hinge of a pair has along the second vector of the pair.
    """
    factor = loadings.copy()
    rotated = scores.copy()
    n_terms = len(scores)
    for row in range(n_terms - 1):
        if factor[row + 1, row] != 0.0:
            _rotate(factor, rotated, row, row + 1, row, n_terms)
    return factor, rotated


@compiled
def _rotate(factor: FloatArray, rotated: FloatArray, upper: int, lower: int, column: int, n_columns: int) -> None:
    """Rotate two rows in their plane so that the lower one becomes zero in a column."""
    norm = math.hypot(factor[upper, column], factor[lower, column])
    if norm == 0.0:
        return
    cosine = factor[upper, column] / norm
    sine = factor[lower, column] / norm
    for k in range(column, n_columns):
        high, low = factor[upper, k], factor[lower, k]
        factor[upper, k] = cosine * high + sine * low
        factor[lower, k] = cosine * low - sine * high
    factor[lower, column] = 0.0
    high, low = rotated[upper], rotated[lower]
    rotated[upper] = cosine * high + sine * low
    rotated[lower] = cosine * low - sine * high


@compiled
def least_squares(columns: FloatArray, scores: FloatArray) -> FloatArray:
    """Compute the coefficients of the columns for the scores, by Gram-Schmidt on the columns and the scores."""
    n_rows, n_columns = columns.shape
    left = columns.copy()
    rest = scores.copy()
    factor = np.zeros((n_columns, n_columns))
    rotated = np.zeros(n_columns)
    for a in range(n_columns):
        norm = 0.0
        for k in range(n_rows):
            norm += left[k, a] ** 2
        factor[a, a] = math.sqrt(norm)
        for b in range(a + 1, n_columns):
            for k in range(n_rows):
                factor[a, b] += left[k, a] * left[k, b]
            factor[a, b] /= factor[a, a]
            for k in range(n_rows):
                left[k, b] -= factor[a, b] / factor[a, a] * left[k, a]
        for k in range(n_rows):
            rotated[a] += left[k, a] * rest[k]
        rotated[a] /= factor[a, a]
        for k in range(n_rows):
            rest[k] -= rotated[a] / factor[a, a] * left[k, a]
    for a in range(n_columns - 1, -1, -1):
        for b in range(a + 1, n_columns):
            rotated[a] -= factor[a, b] * rotated[b]
        rotated[a] /= factor[a, a]
    return rotated
