"""Halves of a table, each the truth of the other: coverage of the interval here, and the bias of every cut."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import numpy as np

from foldshift.advice.split_shift import cut, table_of
from foldshift.core.counting import bincount
from foldshift.core.errors import DataError, StoppedError
from foldshift.inference.intervals.score_ends import row_interval

if TYPE_CHECKING:
    from foldshift.advice.data import Data
    from foldshift.advice.learner.learner_calls import Scored
    from foldshift.advice.planned_cv import Experiment
    from foldshift.advice.score import Score
    from foldshift.advice.split_shift import CutShift
    from foldshift.core.types import FloatArray, IntArray

FEWEST_PAIRS = 3  # of halves, for a standard error


class Halves(TypedDict):
    """Cross-validation of halves against their other halves: of `n` halves the interval `held` so many.

    `bias`, `bias_error` and `width` are in the score's own units; `said` is a sentence.
    """

    n: int
    held: int
    bias: float
    bias_error: float
    width: float
    said: str


class Half(NamedTuple):
    """Rows of a half, rows of the other half, and the seed of its folds."""

    rows: IntArray
    others: IntArray
    seed: int


class HalvesFound(NamedTuple):
    """Summary of the halves (None without any), the halves pair by pair, and the estimate less the truth of each."""

    summary: Halves | None = None
    drawn: tuple[Half, ...] = ()
    gaps: tuple[float, ...] = ()


def on_halves(experiment: Experiment) -> HalvesFound:
    """Cross-validate halves of the table as recommended, and compare their intervals with the error on the other halves.

    Halves come in pairs, each the truth of the other: a difference in difficulty between two halves cancels in the bias. None
    are made for scores of folds, with groups, with fewer than 100 rows, and where the plan has none. Raise StoppedError when the
    budget is used up.
    """
    data, score, n_pairs, rng = experiment.data, experiment.score, experiment.plan.pairs, experiment.rng("halves")
    if score.losses is None or data.groups is not None or data.n < 100 or n_pairs < FEWEST_PAIRS:
        return HalvesFound()
    held = 0
    gaps: list[float] = []
    widths: list[float] = []
    drawn: list[Half] = []
    of_learner = partial(experiment.calls, experiment.name)
    for number in range(1, n_pairs + 1):
        pair = _pair(data, rng)
        if not pair:
            continue
        try:
            made = [on_half(of_learner, data, experiment.cut, experiment.k, half) for half in pair]
        except StoppedError:
            raise
        except DataError:  # a learner may need more rows than a half has
            continue
        drawn += pair
        for losses, truth in made:
            estimate, low, high = row_interval(losses[None], experiment.confidence, "share" if score.kind == "share" else "loss")
            # The other half is finite: its own error is added to what the interval has to allow for.
            room = np.sqrt(1 + truth.var(ddof=1) / len(truth) / max(losses.var(ddof=1) / len(losses), 1e-300))
            held += bool(estimate - room * (estimate - low) <= truth.mean() <= estimate + room * (high - estimate))
            gaps.append(float(score.show(estimate) - score.show(truth.mean())))
            widths.append(float(abs(score.show(high) - score.show(max(low, 0.0)))))
        experiment.tell(f"halves of the table: {2 * number} of {2 * n_pairs}")
    if len(drawn) < 2 * FEWEST_PAIRS:
        return HalvesFound()
    return HalvesFound(_summary(score, held, gaps, widths), tuple(drawn), tuple(gaps))


def _pair(data: Data, rng: np.random.Generator) -> list[Half]:
    """Two random halves of the rows; none if a class has fewer than two rows in one of them."""
    rows = rng.permutation(data.n)
    a, b = np.sort(rows[: data.n // 2]), np.sort(rows[data.n // 2 :])
    if data.task == "classification" and any(
        bincount(data.target[half].astype(int), minlength=len(data.classes)).min() < 2 for half in (a, b)
    ):
        return []
    return [Half(half, other, int(rng.integers(2**31))) for half, other in ((a, b), (b, a))]


def _summary(score: Score, held: int, gaps: list[float], widths: list[float]) -> Halves:
    bias, error = _over_pairs(gaps)
    size, give_or_take = (score.text(value).replace(" %", "") for value in (abs(bias), error))
    said = (
        f"Halves of this table, cross-validated in this way: the interval held the {score.name} on the other half in {held} of "
        f"{len(gaps)}; its estimate was {size} ± {give_or_take}{' points' if score.percent else ''} "
        f"{'above' if bias >= 0 else 'below'} it on average (± standard error over {len(gaps) // 2} pairs of halves)."
    )
    return {
        "n": len(gaps),
        "held": held,
        "bias": bias,
        "bias_error": error,
        "width": float(np.mean(widths)),
        "said": said,
    }


def _over_pairs(gaps: list[float]) -> tuple[float, float]:
    """Mean, and standard error over pairs of halves."""
    means = np.reshape(gaps, (-1, 2)).mean(axis=1)
    return float(means.mean()), float(means.std(ddof=1) / np.sqrt(len(means)))


def on_half(
    score: Callable[..., list[Scored]], data: Data, partitioner: str, k: int, half: Half | tuple[IntArray, IntArray, int]
) -> tuple[FloatArray, FloatArray]:
    """Cross-validate one half: the losses of its rows, and the mean loss of its models on every row of the other.

    ``score(train, *tests)`` fits a learner on some rows and scores it on others.
    """
    rows, others, seed = half
    part, nominal = data._replace(target=data.target[rows]), data.nominal if data.columns else None
    folds = cut(partitioner, table_of(data)[rows], part, k, [seed], nominal)[0]
    losses, truths = np.empty(len(rows)), list[Any]()
    for fold in range(k):
        inside, outside = score(rows[folds != fold], rows[folds == fold], others)
        losses[folds == fold] = inside.losses
        truths.append(outside.losses)
    return losses, np.mean(truths, axis=0)


def with_biases(experiment: Experiment, cuts: list[CutShift], halves: HalvesFound) -> list[CutShift]:
    """Add the bias of their estimates on the same halves to ways of cutting, as the plan says.

    Raise StoppedError when the budget is used up.
    """
    score, k = experiment.score, experiment.k
    others = [one.cut for one in cuts if one.cut != experiment.cut]
    n_pairs = min(len(halves.drawn) // 2, experiment.plan.bias_pairs)
    if n_pairs < FEWEST_PAIRS or not others:
        return cuts
    found: dict[str, list[float]] = {experiment.cut: list(halves.gaps[: 2 * n_pairs])} | {other: [] for other in others}
    for number, half in enumerate(halves.drawn[: 2 * n_pairs], 1):
        for other in [name for name in others if name in found]:
            try:
                losses, truth = on_half(partial(experiment.calls, experiment.name), experiment.data, other, k, half)
            except StoppedError:
                raise
            except DataError:
                del found[other]
                continue
            found[other].append(float(score.show(losses.mean()) - score.show(truth.mean())))
        experiment.tell(f"the other ways of cutting on halves of the table: {number} of {2 * n_pairs}")
    biases = {name: _over_pairs(gaps) for name, gaps in found.items()}
    with_bias = []
    for one in cuts:
        bias, error = biases.get(one.cut, (np.nan, np.nan))
        with_bias.append(one._replace(bias=bias, bias_error=error))
    return with_bias
