"""Logistic models of the class given a machine's output: that of largest likelihood, and where KEEL's optimiser stops."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from foldshift.core.compiling import compiled

if TYPE_CHECKING:
    from foldshift.core.types import BoolArray, FloatArray

# Of KEEL's logistic model and its optimiser, as its source has them.
RIDGE = 1e-8
SMALL = 2.0**-26  # root of the machine's precision
RESTART, MOST_STEPS = 200, 2000  # it starts again as long as need be; we stop at last


@compiled
def platt(outputs: FloatArray, high: BoolArray, weights: FloatArray) -> tuple[float, float]:
    """Fit a logistic model of the class given the machine's output, with smoothed targets so that it always exists.

    The probability of the higher class is ``1 / (1 + exp(-intercept - slope * output))``; `weights` says how often samples occur.
    Source: Lin, Lin, Weng (2007). A note on Platt's probabilistic outputs for support vector machines. Machine Learning 68,
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
def _probability(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value >= 0 else math.exp(value) / (1 + math.exp(value))


@compiled
def _platt_loss(outputs: FloatArray, targets: FloatArray, weights: FloatArray, intercept: float, slope: float) -> float:
    total = 0.0
    for i in range(len(outputs)):
        value = intercept + slope * outputs[i]
        total += weights[i] * (max(value, 0.0) - targets[i] * value + math.log1p(math.exp(-abs(value))))
    return total


@compiled
def logistic_one_step(outputs: FloatArray, high: BoolArray, weights: FloatArray) -> tuple[float, float]:
    """Fit a logistic model of the class given the machine's output, as KEEL's optimiser leaves it.

    The model of the lower class given the standardised output (n - 1 in the variance) starts from the class frequencies and slope
    0. The loss is minus the log likelihood plus 1e-8 times the square of the slope; see `_minimise` for when the optimiser stops.
    A first step of unit length down a gradient of many samples makes the model so steep that, where the outputs part the classes
    well, there is nothing left to gain. The threshold is then about the mean output.
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
    # Divided by the size of the slope, so that scores keep the order of the outputs instead of being all 0 or 1.
    return (intercept / abs(slope), math.copysign(1.0, slope)) if slope != 0 else (intercept, slope)


@compiled
def _loss(values: FloatArray, low: BoolArray, weights: FloatArray, x: FloatArray) -> tuple[float, FloatArray]:
    """Loss that KEEL's logistic model minimises, and its gradient in a new array."""
    total, gradient = RIDGE * x[1] * x[1], np.zeros(2)
    for i in range(len(values)):
        value = x[0] + x[1] * values[i]
        small = math.exp(-abs(value))  # of both the loss and the probability
        total += weights[i] * (max(value, 0.0) - low[i] * value + math.log1p(small))
        gap = weights[i] * ((1 if value >= 0 else small) / (1 + small) - low[i])
        gradient[0] += gap
        gradient[1] += gap * values[i]
    gradient[1] += 2 * RIDGE * x[1]
    return total, gradient


@compiled
def _minimise(values: FloatArray, low: BoolArray, weights: FloatArray, x: FloatArray) -> tuple[float, float]:
    """Minimise by BFGS from the identity matrix with the line search of Dennis and Schnabel (1983), algorithm A6.3.1mod.

    It stops after a step, never before one, where the step is small against x, where the gradient times the length of the
    direction is small against the loss, or where their change along the step is: below the root of the machine's precision each.
    """
    loss, gradient = _loss(values, low, weights, x)
    longest, hessian, direction = 0.0, np.eye(2), -gradient
    for number in range(MOST_STEPS):
        if number % RESTART == 0:  # at the start, and where so many steps were not enough
            longest = 100 * max(math.sqrt((gradient * gradient).sum()), 2.0)
            hessian, direction = np.eye(2), -gradient
        length = math.sqrt((direction * direction).sum())
        most = 1.0
        if length > longest:
            direction = direction * (longest / length)
        elif length > 0:
            most = longest / length
        slope = (gradient * direction).sum()
        step, moved_loss, moved = _line_search(values, low, weights, x, direction, loss, gradient, slope, most)
        change, turn, before = step * direction, moved - gradient, gradient
        x, loss, gradient = x + change, moved_loss, moved
        bend = (change * turn).sum()
        if (
            (np.abs(change) / np.maximum(np.abs(x), 1.0)).max() < SMALL
            or (np.abs(gradient) * np.maximum(np.abs(direction), 1.0)).max() < SMALL * max(abs(loss), 1.0)
            or abs(bend) < SMALL
        ):
            break
        if bend >= max(SMALL * math.sqrt((change * change).sum() * (turn * turn).sum()), SMALL):
            hessian = hessian + np.outer(turn, turn) / bend + np.outer(before, before) / slope
        determinant = hessian[0, 0] * hessian[1, 1] - hessian[0, 1] * hessian[1, 0]
        direction = np.empty(2)
        direction[0] = (hessian[0, 1] * gradient[1] - hessian[1, 1] * gradient[0]) / determinant
        direction[1] = (hessian[1, 0] * gradient[0] - hessian[0, 0] * gradient[1]) / determinant
    return x[0], x[1]


@compiled
def _line_search(
    values: FloatArray,
    low: BoolArray,
    weights: FloatArray,
    x: FloatArray,
    direction: FloatArray,
    loss: float,
    gradient: FloatArray,
    slope: float,
    most: float,
) -> tuple[float, float, FloatArray]:
    """Find a step length (0 if there is none); return it with the loss and the gradient there.

    Armijo's constant is 1e-4, that of the curvature .9; a longer step that meets the latter is taken even where
    the loss has gone up.
    """
    reach = (np.abs(direction) / np.maximum(np.abs(x), 1.0)).max()
    if abs(slope) <= SMALL or reach <= SMALL:
        return 0.0, loss, gradient
    least = 1e-6 / reach
    step, last_step, last_loss, first_loss = 1.0, 0.0, loss, loss
    moved_loss, moved = _loss(values, low, weights, x + direction)
    while moved_loss > loss + 1e-4 * step * slope:
        if step < least:
            if first_loss >= loss:
                return 0.0, loss, gradient
            moved_loss, moved = _loss(values, low, weights, x + direction)
            return 1.0, moved_loss, moved
        if last_step == 0:
            first_loss = moved_loss
            wanted = -0.5 * step * slope / ((moved_loss - loss) / step - slope)
        else:
            wanted = min(_cubic(slope, step, moved_loss - loss, last_step, last_loss - loss), 0.5 * step)
        last_step, last_loss = step, moved_loss
        step = max(wanted, 0.1 * step)
        moved_loss, moved = _loss(values, low, weights, x + step * direction)
    if (moved * direction).sum() >= 0.9 * slope:
        return step, moved_loss, moved
    # Too short: the slope has hardly changed. Lengthen, then close in between a step too short and one too long.
    short, short_loss, short_gradient = step, moved_loss, moved
    long, long_loss = last_step, last_loss
    if last_step == 0:
        while step < most and moved_loss <= loss + 1e-4 * step * slope:
            short, short_loss, short_gradient = step, moved_loss, moved
            step = min(2 * step, most)
            moved_loss, moved = _loss(values, low, weights, x + step * direction)
            if (moved * direction).sum() >= 0.9 * slope:
                return step, moved_loss, moved
        long, long_loss = step, moved_loss
    gap, new_slope = long - short, (moved * direction).sum()
    while gap >= least:
        rise = min(max(-0.5 * new_slope * gap * gap / (long_loss - short_loss - new_slope * gap), 0.2 * gap), gap)
        step = short + rise
        moved_loss, moved = _loss(values, low, weights, x + step * direction)
        if moved_loss > loss + 1e-4 * step * slope:
            gap, long_loss = rise, moved_loss
            continue
        new_slope = (moved * direction).sum()
        if new_slope >= 0.9 * slope:
            return step, moved_loss, moved
        short, short_loss, short_gradient = step, moved_loss, moved
        gap -= rise
    return short, short_loss, short_gradient


@compiled
def _cubic(slope: float, step: float, rise: float, last_step: float, last_rise: float) -> float:
    """Minimum of the cubic through the start's slope and two points."""
    u, v = rise - step * slope, last_rise - last_step * slope
    a = (u / step**2 - v / last_step**2) / (step - last_step)
    b = (-last_step * u / step**2 + step * v / last_step**2) / (step - last_step)
    if a == 0:
        return -slope / (2 * b)
    return (-b + math.sqrt(max(b * b - 3 * a * slope, 0.0))) / (3 * a)
