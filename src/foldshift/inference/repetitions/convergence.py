"""Number of cross-validation experiments until their accumulated measurement no longer changes.

The criterion is that of Raeder, Hoens and Chawla: accumulate the measurements of the runs, and stop when the accumulated vectors
before and after the last step reach a correlation. Moreno-Torres et al. do not name the vector; `CRITERIA` lists those tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from foldshift.core.arguments import check_one_of
from foldshift.core.counting import bincount
from foldshift.core.gate.arrays import as_array
from foldshift.core.gate.numbers import as_numbers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, BoolArray, FloatArray, IntArray, UnsignedArray

THRESHOLD = 0.9999  # correlation to reach
THRESHOLDS = (0.999, THRESHOLD, 0.99999)
RULES = ("first", "last")
UNDEFINED = ("converged", "not_converged")
PRIMARY = "instances correct, run"
CRITERIA = {
    PRIMARY: "whether every instance is predicted correctly; one step is one run",
    "instances class, run": "predicted class of every instance; one step is one run",
    "instances correct, experiment": "whether every instance is predicted correctly; one step is one experiment",
    "instances class, experiment": "predicted class of every instance; one step is one experiment",
    "fold x class rates": "recall of every fold and class, averaged over the iterations of an experiment; one step is one "
    "experiment",
    "fold AUC": "AUC of every fold of every iteration, in order; one step is one experiment",
    "fold AUC, sorted": "the same, sorted within the experiment",
}
EXPECTED = "instances correct, expected"  # the primary criterion without cut-off, see `expected_runs`
CAP = 100  # experiments of the paper; a pair counts as at most so many in means, or a few that hardly converge decide them
DECIMALS = 5  # rates are integers in this unit, so that equal sums are equal whatever the order of summation
COLUMNS_AT_ONCE = 2**16  # sums of as many zeros and ones are exact in float32


class CellConvergence(NamedTuple):
    """Result of `converge_cell`, in experiments; an undefined correlation counts as converged."""

    experiments: dict[str, FloatArray]  # by criterion (n_orders, n_thresholds, 2), by rules "first" and "last"; NaN if not met
    expected: FloatArray  # (n_thresholds,), by `expected_runs`
    correlations: FloatArray  # (n_orders, n_runs - 1), of the primary criterion


def converged_after(
    vectors: ArrayLike,
    *,
    threshold: float = THRESHOLD,
    step: int = 1,
    rule: Literal["first", "last"] = "first",
    undefined: Literal["converged", "not_converged"] = "converged",
) -> int | None:
    """Number of runs after which the accumulated measurement has converged.

    Parameters
    ----------
    vectors : array-like of shape (n_runs, m)
        Measurement of every run on m instances, classes or folds, in the order of the runs; finite numbers. Their sum is
        accumulated: the mean has the same correlation.
    threshold : float, default=0.9999
        Pearson correlation to reach, in ``(-1, 1]``.
    step : int, default=1
        Runs that are added at a time; `n_runs` must be a multiple of it.
    rule : {"first", "last"}, default="first"
        The first step that reaches the threshold, or the first from which on the correlation does not fall below it again.
    undefined : {"converged", "not_converged"}, default="converged"
        Treatment of a step with an undefined correlation, because one of the two vectors is constant. The loop of Algorithm 5
        continues while the correlation is below the threshold; an undefined number is not below it, so the loop ends.

    Returns
    -------
    n_runs : int or None
        Runs accumulated when the criterion is met, the last step included: a multiple of `step`, at least two steps. With
        ``step=1`` and one experiment per row it is the k of Algorithm 5. None if the criterion is not met, for example with fewer
        than two steps.

    Raises
    ------
    ValueError
        If an argument is out of range or `vectors` is not a matrix of finite numbers.

    References
    ----------
    .. [1] Moreno-Torres, Saez, Herrera (2012), Algorithm 5.
    .. [2] Raeder, Hoens, Chawla (2010). Consequences of variability in classifier performance estimates. ICDM, 421-430.

    Examples
    --------
    The sum of two runs correlates .9973 with the first run, that of three .9997 with that of two:

    >>> runs = [[0.7, 0.8, 0.9], [0.72, 0.79, 0.91], [0.7, 0.8, 0.9], [0.71, 0.8, 0.9]]
    >>> converged_after(runs, threshold=0.999)
    3
    """
    if not -1 < threshold <= 1:
        raise ValueError(f"threshold={threshold!r} must be above -1 and at most 1")
    check_one_of("rule", rule, RULES)
    check_one_of("undefined", undefined, UNDEFINED)
    correlations = accumulated_correlations(vectors, step=step)
    reached = (correlations >= threshold) | (np.isnan(correlations) & (undefined == "converged"))
    steps = _crossing(reached, rule)
    return None if np.isnan(steps) else int(steps) * step


def accumulated_correlations(vectors: ArrayLike, *, step: int = 1) -> FloatArray:
    """Correlation of the accumulated measurements before and after each step from the second; NaN if one is constant."""
    vectors = as_array(vectors, "vectors")
    vectors = as_numbers(vectors, "vectors") if vectors.dtype.kind == "O" else vectors
    if vectors.ndim != 2 or 0 in vectors.shape:
        raise ValueError(f"vectors have shape {vectors.shape}; expected (n_runs, m) with at least one run and one entry")
    if vectors.dtype.kind not in "buif":
        raise ValueError(f"vectors hold {vectors.dtype}; expected numbers")
    if not np.isfinite(vectors).all():
        raise ValueError("vectors hold NaN or infinite values; drop these entries from all runs first")
    if step < 1 or len(vectors) % step:
        raise ValueError(f"step={step!r} must be at least 1 and divide the number of runs, {len(vectors)}")
    m = vectors.shape[1]
    exact = vectors.dtype.kind != "f" and (m * len(vectors) * int(np.abs(vectors.astype(np.float64)).max())) ** 2 < 2**62
    sums = np.cumsum(vectors, axis=0, dtype=np.int64 if exact else np.float64)[step - 1 :: step]
    if exact:
        totals = sums.sum(axis=1)
        own = m * np.einsum("ij,ij->i", sums, sums) - totals**2
        both = m * np.einsum("ij,ij->i", sums[:-1], sums[1:]) - totals[:-1] * totals[1:]
    else:
        constant = np.ptp(sums, axis=1) <= 1e-12 * np.abs(sums).max(axis=1)
        centred = sums - sums.mean(axis=1, keepdims=True)
        own = np.where(constant, 0.0, np.einsum("ij,ij->i", centred, centred))
        both = np.einsum("ij,ij->i", centred[:-1], centred[1:])
    return _correlation(both, own[:-1], own[1:])


def converge_cell(
    codes: Array,
    predictions: Array,
    folds: UnsignedArray,
    n_iterations: int,
    orders: Array,
    thresholds: Sequence[float] = THRESHOLDS,
) -> CellConvergence:
    """Experiments until convergence of one classifier on one data set with one partitioner, by all criteria at once.

    Experiment e has the runs ``e * n_iterations`` to ``(e + 1) * n_iterations - 1``; ``orders`` are permutations of the
    experiments, (n_orders, n_experiments). Codes are true classes from 0, (n_samples,); predictions and folds have shape (n_runs,
    n_samples).

    Everything follows from the scalar products of the runs: one product of matrices serves all orders, and every order costs
    n_runs squared, however many instances there are. Counts stay integers up to the quotient (beyond 10^18 they are rounded).

    For two classes the vector of predicted classes is that of the codes; for more a code has no meaning, and the indicators of
    the classes follow each other. Rates are rounded to five decimals. A fold that lacks a class has recall 0 and AUC 0, as in the
    scores.
    """
    n_runs = len(predictions)
    if predictions.shape != folds.shape or predictions.shape[1:] != codes.shape:
        raise ValueError(f"shapes differ: codes {codes.shape}, predictions {predictions.shape}, folds {folds.shape}")
    if n_runs % n_iterations or orders.shape[1] * n_iterations != n_runs:
        raise ValueError(f"{n_runs} runs do not make {orders.shape[1]} experiments of {n_iterations} runs")
    n_classes = int(max(codes.max(), predictions.max())) + 1
    labels = range(n_classes) if n_classes > 2 else (1,)
    n_samples, n_experiments = len(codes), orders.shape[1]
    correct = _centred(*_binary_products([predictions == codes]), n_samples)
    predicted = _centred(*_binary_products([predictions == c for c in labels]), len(labels) * n_samples)
    rates, areas = fold_rates(codes, predictions, folds, n_classes)
    rates = rates.reshape(n_experiments, n_iterations, -1).sum(axis=1)
    areas = areas.reshape(n_experiments, -1)
    products = {
        "instances correct, run": correct,
        "instances class, run": predicted,
        "instances correct, experiment": _by_experiment(correct, n_iterations),
        "instances class, experiment": _by_experiment(predicted, n_iterations),
        "fold x class rates": integer_products(rates),
        "fold AUC": integer_products(areas),
        "fold AUC, sorted": integer_products(np.sort(areas, axis=1)),
    }
    runs = (orders[:, :, None] * n_iterations + np.arange(n_iterations)).reshape(len(orders), n_runs)
    experiments = {}
    for name, matrix in products.items():
        by_run = name.endswith(", run")
        steps = crossings(matrix, runs if by_run else orders, thresholds)
        experiments[name] = steps / (n_iterations if by_run else 1)
    correlations = _in_orders(products[PRIMARY], runs)
    expected = np.array([expected_runs(correct, threshold) for threshold in thresholds]) / n_iterations
    return CellConvergence(experiments, expected, correlations)


def crossings(products: Array, orders: Array, thresholds: Sequence[float] = THRESHOLDS) -> FloatArray:
    """Steps until the accumulated vectors with these scalar products converge: (n_orders, n_thresholds, 2), by `RULES`."""
    values = _in_orders(products, orders)
    steps = [[_crossing(values >= threshold, rule) for rule in RULES] for threshold in thresholds]
    return np.moveaxis(np.array(steps), 2, 0)


def _in_orders(products: Array, orders: Array) -> FloatArray:
    """Correlations before and after each step, by order of the vectors."""
    return np.array([_ordered_correlations(products, order) for order in orders])


def expected_runs(products: Array, threshold: float = THRESHOLD) -> float:
    """Runs until convergence expected from the covariances of single runs (n_runs, n_runs); at least 2, NaN for a single run.

    Let V be the variance over the instances of what a run measures on average, the mean covariance of two runs, and V + N the
    mean variance of one. The vectors accumulated over t - 1 and over t independent runs then have a squared correlation of
    ``1 - N / (t ((t - 1) V + N))``, up to terms that vanish with the number of instances; solved for t. If nothing varies from
    run to run, two runs are enough.
    """
    n_runs = len(products)
    if n_runs < 2:
        return np.nan
    own, total = float(np.trace(products)), float(products.sum())
    signal = max((total - own) / (n_runs * (n_runs - 1)), 0.0)
    noise = max(own / n_runs - signal, 0.0)
    if noise == 0:
        return 2.0
    needed = noise / (1 - threshold**2)
    if signal == 0:
        return max(2.0, np.ceil(needed / noise))
    linear = noise - signal
    return max(2.0, float(np.ceil((np.sqrt(linear**2 + 4 * signal * needed) - linear) / (2 * signal))))


def _correlation(both: Array, before: Array, after: Array) -> FloatArray:
    """Correlations from covariances and variances; NaN if a variance is 0."""
    scale = np.sqrt(before.astype(np.float64) * after)
    return np.divide(np.clip(both, -scale, scale), scale, out=np.full(len(scale), np.nan), where=scale > 0)


def _crossing(reached: BoolArray, rule: str) -> FloatArray:
    """Number of steps when the criterion is met, from booleans (..., n_steps - 1) that begin with step 2; NaN if it is not."""
    n = reached.shape[-1]
    if n == 0:
        return np.full(reached.shape[:-1], np.nan)
    if rule == "last":
        missed = ~reached
        steps = n - missed[..., ::-1].argmax(axis=-1)
        return np.where(missed.any(axis=-1), np.where(steps < n, steps + 2.0, np.nan), 2.0)
    return np.where(reached.any(axis=-1), reached.argmax(axis=-1) + 2.0, np.nan)


def _ordered_correlations(products: IntArray, order: IntArray) -> FloatArray:
    """Correlations before and after each step when the vectors are accumulated in this order; 1 if undefined."""
    ordered = products[np.ix_(order, order)]
    cross = np.triu(ordered, 1).sum(axis=0)  # of every vector with all before it
    own = np.cumsum(np.diag(ordered) + 2 * cross)
    correlations = _correlation(own[:-1] + cross[1:], own[:-1], own[1:])
    return np.where(np.isnan(correlations), 1.0, correlations)


def _binary_products(indicators: list[BoolArray]) -> tuple[IntArray, IntArray]:
    """Scalar products of the runs and their sums over the columns of several boolean arrays of shape (n_runs, m)."""
    n_runs = len(indicators[0])
    products, totals = np.zeros((n_runs, n_runs), dtype=np.int64), np.zeros(n_runs, dtype=np.int64)
    for array in indicators:
        for start in range(0, array.shape[1], COLUMNS_AT_ONCE):
            block = array[:, start : start + COLUMNS_AT_ONCE].astype(np.float32)
            products += (block @ block.T).astype(np.int64)
        totals += array.sum(axis=1)
    return products, totals


def integer_products(vectors: IntArray) -> IntArray:
    """`_centred` products of integer vectors."""
    return _centred(vectors @ vectors.T, vectors.sum(axis=1), vectors.shape[1])


def _centred(products: IntArray, totals: IntArray, m: int) -> IntArray:
    """m times the products of the centred vectors, in floats only if sums over all of them do not fit in 64 bits."""
    if m * len(totals) ** 2 * int(np.diag(products).max()) >= 2**62:  # bound for the variance of all vectors accumulated
        products, totals = products.astype(np.float64), totals.astype(np.float64)
    return m * products - np.outer(totals, totals)


def _by_experiment(products: IntArray, n_iterations: int) -> IntArray:
    """Products of the sums over the runs of each experiment."""
    n = len(products) // n_iterations
    return products.reshape(n, n_iterations, n, n_iterations).sum(axis=(1, 3))


def fold_rates(codes: IntArray, predictions: UnsignedArray, folds: UnsignedArray, n_classes: int) -> tuple[IntArray, IntArray]:
    """Recall by fold and class (n_runs, n_folds * n_classes) and crisp AUC by fold (n_runs, n_folds), in units of 10^-5."""
    n_folds = int(folds.max()) + 1
    rates = np.empty((len(predictions), n_folds, n_classes))
    areas = np.empty((len(predictions), n_folds))
    for run, (row, predicted) in enumerate(zip(folds, predictions)):
        cell = row.astype(np.int64) * n_classes + codes
        counts = bincount(cell, minlength=n_folds * n_classes)
        right = bincount(cell[predicted == codes], minlength=n_folds * n_classes)
        recall = np.divide(right, counts, out=np.zeros(len(counts)), where=counts > 0).reshape(n_folds, n_classes)
        rates[run] = recall
        areas[run] = np.where((counts.reshape(n_folds, n_classes) > 0).all(axis=1), recall.mean(axis=1), 0.0)
    unit = 10**DECIMALS
    return np.rint(rates * unit).astype(np.int64).reshape(len(rates), -1), np.rint(areas * unit).astype(np.int64)
