"""Logistic models of the class given a machine's output: that of largest likelihood, and the first step of KEEL's optimiser."""

import math

import numpy as np

from foldshift.compiling import compiled


@compiled
def platt(outputs, high, weights):
    """Logistic model of the class given the machine's output, with smoothed targets so that it always exists.

    Parameters
    ----------
    outputs : ndarray of shape (n_samples,), dtype float64
        Outputs on the training samples.
    high : ndarray of shape (n_samples,), dtype bool
        Which samples are of the higher class.
    weights : ndarray of shape (n_samples,), dtype float64
        How often every sample occurs.

    Returns
    -------
    intercept, slope : float
        The probability of the higher class is ``1 / (1 + exp(-intercept - slope * output))``.

    References
    ----------
    .. [1] Lin, Lin, Weng (2007). A note on Platt's probabilistic outputs for support vector machines. Machine Learning 68,
       267-276, algorithm 1.
    """
    n_high = (weights * high).sum()
    n_low = weights.sum() - n_high
    targets = np.where(high, (n_high + 1) / (n_high + 2), 1 / (n_low + 2))
    intercept, slope = math.log((n_high + 1) / (n_low + 1)), 0.0
    loss = _platt_loss(outputs, targets, weights, intercept, slope)
    for _ in range(100):
        g0, g1, h00, h01, h11 = 0.0, 0.0, 1e-12, 0.0, 1e-12
        for i in range(len(outputs)):
            p = _probability(intercept + slope * outputs[i])
            gap, curvature = weights[i] * (p - targets[i]), weights[i] * p * (1 - p)
            g0 += gap
            g1 += gap * outputs[i]
            h00 += curvature
            h01 += curvature * outputs[i]
            h11 += curvature * outputs[i] ** 2
        if abs(g0) < 1e-5 and abs(g1) < 1e-5:
            break
        determinant = h00 * h11 - h01 * h01
        d0, d1 = -(h11 * g0 - h01 * g1) / determinant, -(h00 * g1 - h01 * g0) / determinant
        step = 1.0
        while step >= 1e-10:
            moved = _platt_loss(outputs, targets, weights, intercept + step * d0, slope + step * d1)
            if moved < loss + 1e-4 * step * (g0 * d0 + g1 * d1):
                break
            step /= 2
        if step < 1e-10:
            break
        intercept, slope, loss = intercept + step * d0, slope + step * d1, moved
    return intercept, slope


@compiled
def _probability(value):
    return 1 / (1 + math.exp(-value)) if value >= 0 else math.exp(value) / (1 + math.exp(value))


@compiled
def _platt_loss(outputs, targets, weights, intercept, slope):
    total = 0.0
    for i in range(len(outputs)):
        value = intercept + slope * outputs[i]
        total += weights[i] * (max(value, 0.0) - targets[i] * value + math.log1p(math.exp(-abs(value))))
    return total


@compiled
def logistic_one_step(outputs, high, weights):
    """Threshold from a logistic model of the machine's outputs, as KEEL's optimiser leaves it.

    The model of the lower class given the standardised output (n - 1 in the variance) starts from the class frequencies and slope
    0, and is improved by BFGS from the identity matrix until the largest gradient component times ``max(|x|, 1)``, over
    ``max(|F|, 1)``, is below 1e-6. A first step of unit length down a gradient of many samples makes the model so steep that,
    where the outputs part the classes well, this holds at once. The threshold is then about the mean output.

    Parameters
    ----------
    outputs, high, weights
        As in `platt`.

    Returns
    -------
    intercept, slope : float
        The higher class has the score ``1 / (1 + exp(-intercept - slope * output))``. Both are divided by the size of the slope,
        so that scores keep the outputs' order instead of being all 0 or 1.
    """
    n = weights.sum()
    mean = (weights * outputs).sum() / n
    spread = math.sqrt((weights * (outputs - mean) ** 2).sum() / max(n - 1, 1.0))
    values = (outputs - mean) / spread if spread > 0 else outputs - mean
    n_high = (weights * high).sum()
    start = np.array([math.log((n - n_high + 1) / (n_high + 1)), 0.0])
    a, b = _minimise(values, ~high, weights, start)
    if spread > 0:
        b /= spread
    intercept, slope = b * mean - a, -b
    return (intercept / abs(slope), math.copysign(1.0, slope)) if slope != 0 else (intercept, slope)


@compiled
def _loss(values, low, weights, x):
    """Minus the log likelihood of a logistic model, its gradient into a new array."""
    total, gradient = 0.0, np.zeros(2)
    for i in range(len(values)):
        value = x[0] + x[1] * values[i]
        small = math.exp(-abs(value))  # of both the loss and the probability
        total += weights[i] * (max(value, 0.0) - low[i] * value + math.log1p(small))
        gap = weights[i] * ((1 if value >= 0 else small) / (1 + small) - low[i])
        gradient[0] += gap
        gradient[1] += gap * values[i]
    return total, gradient


@compiled
def _minimise(values, low, weights, x):
    """BFGS with the line search of Dennis and Schnabel (1983), algorithm A6.3.1mod; Armijo constant 1e-4, curvature .9."""
    loss, gradient = _loss(values, low, weights, x)
    inverse = np.eye(2)
    longest = 100 * max(math.sqrt((x * x).sum()), 2.0)
    for _ in range(200):
        if _converged(gradient, x, loss):
            break
        direction = -(inverse @ gradient)
        length = math.sqrt((direction * direction).sum())
        if length > longest:
            direction *= longest / length
        step, moved_loss, moved_gradient = _line_search(values, low, weights, x, direction, loss, gradient, longest)
        if step == 0:
            break
        change, turn = step * direction, moved_gradient - gradient
        x, loss, gradient = x + change, moved_loss, moved_gradient
        bend = (change * turn).sum()
        if bend > 1e-12 * math.sqrt((change * change).sum() * (turn * turn).sum()):
            left = np.eye(2) - np.outer(change, turn) / bend
            inverse = left @ inverse @ left.T + np.outer(change, change) / bend
    return x[0], x[1]


@compiled
def _converged(gradient, x, loss):
    return (np.abs(gradient) * np.maximum(np.abs(x), 1.0)).max() < 1e-6 * max(abs(loss), 1.0)


@compiled
def _line_search(values, low, weights, x, direction, loss, gradient, longest):
    """Step length (0 if there is none), loss and gradient there."""
    slope = (gradient * direction).sum()
    size = math.sqrt((direction * direction).sum())
    least = 1e-10 / max((np.abs(direction) / np.maximum(np.abs(x), 1.0)).max(), 1e-300)
    most = max(longest / size, 1.0)
    step, last_step, last_loss = 1.0, 0.0, loss
    moved_loss, moved = _loss(values, low, weights, x + step * direction)
    while moved_loss > loss + 1e-4 * step * slope:
        if step < least:
            return 0.0, loss, gradient
        if last_step == 0:
            wanted = -slope * step * step / (2 * (moved_loss - loss - slope * step))
        else:
            wanted = _cubic(slope, step, moved_loss - loss, last_step, last_loss - loss)
        last_step, last_loss = step, moved_loss
        step = max(min(wanted, 0.5 * step), 0.1 * step)
        moved_loss, moved = _loss(values, low, weights, x + step * direction)
    if (moved * direction).sum() >= 0.9 * slope:
        return step, moved_loss, moved
    # Too short: the slope has hardly changed. Lengthen, then close in between a step too short and one too long.
    short, short_loss, short_gradient = step, moved_loss, moved
    long, long_loss = last_step, last_loss
    if step == 1.0:
        while step < most:
            step = min(2 * step, most)
            moved_loss, moved = _loss(values, low, weights, x + step * direction)
            if moved_loss > loss + 1e-4 * step * slope:
                break
            if (moved * direction).sum() >= 0.9 * slope:
                return step, moved_loss, moved
            short, short_loss, short_gradient = step, moved_loss, moved
        if short == step:
            return short, short_loss, short_gradient
        long, long_loss = step, moved_loss
    while long - short > least:
        gap = long - short
        short_slope = (short_gradient * direction).sum()
        wanted = -short_slope * gap * gap / (2 * (long_loss - short_loss - short_slope * gap))
        step = short + max(wanted, 0.2 * gap)
        moved_loss, moved = _loss(values, low, weights, x + step * direction)
        if moved_loss > loss + 1e-4 * step * slope:
            long, long_loss = step, moved_loss
        elif (moved * direction).sum() < 0.9 * slope:
            short, short_loss, short_gradient = step, moved_loss, moved
        else:
            return step, moved_loss, moved
    return short, short_loss, short_gradient


@compiled
def _cubic(slope, step, rise, last_step, last_rise):
    """Minimum of the cubic through the start's slope and two points."""
    u, v = rise - step * slope, last_rise - last_step * slope
    a = (u / step**2 - v / last_step**2) / (step - last_step)
    b = (-last_step * u / step**2 + step * v / last_step**2) / (step - last_step)
    if a == 0:
        return -slope / (2 * b)
    root = b * b - 3 * a * slope
    if root < 0:
        return 0.5 * step
    return (-b + math.sqrt(root)) / (3 * a)
