"""Halves of a table, each the truth of the other: whether the interval holds here, and the bias of every cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from foldshift.advice.report_interval import row_interval
from foldshift.advice.split_shift import cut, table_of
from foldshift.advice.timed_cv import fit, losses_on
from foldshift.core.errors import DataError

if TYPE_CHECKING:
    from foldshift.advice.data import Data
    from foldshift.advice.score import Score
    from foldshift.advice.split_shift import CutShift
    from foldshift.advice.timed_cv import Clock
    from foldshift.command.terminal_progress import Progress
    from foldshift.core.types import Array, Estimator, FloatArray, IntArray

FOR_HALVES = 0.4  # share of what is left when the cuts are compared
N_PAIRS, FEWEST_PAIRS, FOR_FEWEST = 10, 3, 0.8  # of halves; the last: share of what is left that the fewest may take
FOR_BIASES = 0.6  # share of what is left at the very end, for the other ways of cutting on the same halves


def on_halves_of(
    estimator: Estimator,
    data: Data,
    score: Score,
    name: str,
    k: int,
    clock: Clock,
    seconds: float,
    confidence: float,
    rng: np.random.Generator,
    tell: Callable[..., Any],
) -> tuple[dict[str, Any] | None, list[tuple[Array, Array, int]], list[float]]:
    """Cross-validate halves of the table as recommended, and hold their intervals against the error on the other halves.

    Halves come in pairs, each the truth of the other: what makes one half easier than the other then cancels in the bias.
    """
    if score.kind == "folds" or data.groups is not None or data.n < 100:
        return None, [], []
    possible = clock.left / max(2 * k * seconds, 1e-9)
    most = min(N_PAIRS, max(int(FOR_HALVES * possible), FEWEST_PAIRS))
    if most > FOR_FEWEST * possible:
        return None, [], []
    held, gaps, widths, drawn = 0, [], [], []
    stop = clock.left * (1 - FOR_HALVES * 2)
    for _ in range(most):
        if len(drawn) >= 2 * FEWEST_PAIRS and clock.left < stop:
            break
        rows = rng.permutation(data.n)
        pair = np.sort(rows[: data.n // 2]), np.sort(rows[data.n // 2 :])
        if data.task == "classification" and any(
            np.bincount(data.target[half].astype(int), minlength=len(data.classes)).min() < 2 for half in pair
        ):
            continue
        both = [(half, other, int(rng.integers(2**31))) for half, other in (pair, pair[::-1])]
        try:
            made = [on_half(estimator, data, score, name, k, one) for one in both]
        except DataError:  # a learner may need more rows than a half has
            continue
        drawn += both
        for losses, truth in made:
            estimate, low, high = row_interval(losses[None], confidence, score.kind)
            # The other half is finite: its own error is added to what the interval has to allow for.
            room = np.sqrt(1 + truth.var(ddof=1) / len(truth) / max(losses.var(ddof=1) / len(losses), 1e-300))
            held += bool(estimate - room * (estimate - low) <= truth.mean() <= estimate + room * (high - estimate))
            gaps.append(float(score.show(estimate) - score.show(truth.mean())))
            widths.append(float(abs(score.show(high) - score.show(max(low, 0.0)))))
        tell(f"halves of the table: {len(drawn)} of {2 * most}")
    done = len(drawn)
    if done < 2 * FEWEST_PAIRS:
        return None, [], []
    bias, error = _over_pairs(gaps)
    size, give_or_take = (score.text(value).replace(" %", "") for value in (abs(bias), error))
    said = (
        f"Halves of this table, cross-validated in this way: the interval held the {score.name} on the other half in {held} of "
        f"{done}; its estimate was {size} ± {give_or_take}{' points' if score.percent else ''} "
        f"{'above' if bias >= 0 else 'below'} it on average (± standard error over {done // 2} pairs of halves)."
    )
    halves = {"n": done, "held": held, "bias": bias, "bias_error": error, "width": float(np.mean(widths)), "said": said}
    return halves, drawn, gaps


def _over_pairs(gaps: list[float]) -> tuple[float, float]:
    """Mean, and standard error over pairs of halves."""
    means = np.reshape(gaps, (-1, 2)).mean(axis=1)
    return float(means.mean()), float(means.std(ddof=1) / np.sqrt(len(means)))


def on_half(
    estimator: Estimator, data: Data, score: Score, name: str, k: int, drawn: tuple[IntArray, IntArray, int]
) -> tuple[FloatArray, FloatArray]:
    """Cross-validate one half: the losses of its rows, and the mean loss of its models on every row of the other."""
    half, other, seed = drawn
    part, nominal = data._replace(target=data.target[half]), data.nominal if data.columns else None
    folds = cut(name, table_of(data)[half], part, k, [seed], nominal)[0]
    losses, truths = np.empty(len(half)), []
    for fold in range(k):
        model = fit(estimator, data, half[folds != fold])
        losses[folds == fold] = losses_on(model, data, score, half[folds == fold])
        truths.append(losses_on(model, data, score, other))
    return losses, np.mean(truths, axis=0)


def with_biases(
    cuts: list[CutShift],
    drawn: list[tuple[IntArray, IntArray, int]],
    gaps: list[float],
    estimator: Estimator,
    data: Data,
    score: Score,
    name: str,
    k: int,
    clock: Clock,
    seconds: float,
    tell: Callable[..., Any] | Progress,
) -> list[CutShift]:
    """Ways of cutting with the bias of their estimates on the same halves of the table, if there is time for all of them."""
    others = [one.cut for one in cuts if one.cut != name]
    if not drawn or not others:
        return cuts
    n_pairs = min(len(drawn) // 2, int(FOR_BIASES * clock.left / max(2 * len(others) * k * seconds, 1e-9)))
    if n_pairs < FEWEST_PAIRS:
        return cuts
    found = {name: gaps[: 2 * n_pairs]} | {other: [] for other in others}
    for number, one in enumerate(drawn[: 2 * n_pairs], 1):
        for other in [key for key in others if key in found]:
            try:
                losses, truth = on_half(estimator, data, score, other, k, one)
            except DataError:
                del found[other]
                continue
            found[other].append(float(score.show(losses.mean()) - score.show(truth.mean())))
        tell(f"the other ways of cutting on halves of the table: {number} of {2 * n_pairs}")
    biases = {cut: _over_pairs(values) for cut, values in found.items()}
    nothing = (np.nan, np.nan)
    return [one._replace(**dict(zip(("bias", "bias_error"), biases.get(one.cut, nothing)))) for one in cuts]
