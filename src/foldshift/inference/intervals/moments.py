"""Moments of the losses of a cross-validation, and all intervals that follow from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foldshift.core.arguments import check_confidence
from foldshift.inference.intervals.accuracy import accuracy_interval
from foldshift.inference.intervals.cross_validation import Labels
from foldshift.inference.intervals.interval import THESE_K_MODELS, Interval
from foldshift.inference.repetitions.variance import fold_moments

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, Floats


class LossMoments(NamedTuple):
    """Moments of cross-validated losses that intervals need; see `loss_moments`."""

    estimate: Floats  # estimate, estimate_micro: Mean of the fold means, and mean of all losses
    estimate_micro: Floats
    variance: Floats  # variance of all losses about their mean, divided by their number
    # W, S2: Mean sample variance within a fold (of ``W_k M / M_k`` if sizes M_k differ), and sample variance of the fold means. W
    # is NaN if a fold has one row
    W: Floats
    S2: Floats
    K: int  # number of folds
    M: float  # mean number of rows of a fold


def loss_moments(losses: ArrayLike | Sequence[Array]) -> LossMoments:
    """Moments of losses of shape (..., K, M), or of K arrays if sizes differ; leading axes are separate samples."""
    means, within, sizes = fold_moments(losses)
    N, M = sizes.sum(), sizes.mean()
    macro = means.mean(axis=-1)
    micro = macro if (sizes == sizes[0]).all() else (means * sizes).sum(axis=-1) / N
    inside = np.where(sizes > 1, within * (sizes - 1), 0.0)
    variance = (inside + sizes * (means - micro[..., None]) ** 2).sum(axis=-1) / N
    S2 = (means - means[..., :1]).var(axis=-1, ddof=1)
    return LossMoments(macro, micro, variance, (within * M / sizes).mean(axis=-1), S2, len(sizes), float(M))


def moment_intervals(moments: LossMoments, *, confidence: float = 0.95, binary: bool = False) -> list[Interval]:
    """Compute all intervals that follow from the moments with random folds; for 0/1 losses (binary) also Wilson's.

    An estimate is NaN if its interval does not exist, the ends also if the variance estimate is negative.
    """
    check_confidence(confidence)
    macro, micro, W, S2, K, M = moments.estimate, moments.estimate_micro, moments.W, moments.S2, moments.K, moments.M
    N = K * M
    one_row = ["does not exist: a fold has one row"] if np.isnan(W).all() else []

    def interval(name: str, estimate: Floats, variance: Floats, df: float, notes: Sequence[str] = ()) -> Interval:
        estimate = np.where(np.isnan(variance), np.nan, estimate)
        return Labels(confidence, K).interval(name, estimate, variance, df, notes)

    found = [
        interval("theta_A", macro, W / N, np.inf, one_row),
        interval("theta_B", macro, 2 * W / N, np.inf, one_row),
        interval("S2/K", macro, S2 / K, K - 1.0),
        interval("all pairs", micro, moments.variance / N, np.inf),
        interval("theta_5", macro, (1 + 1 / K) * S2 - W / M, np.inf, one_row),
        interval("Nadeau-Bengio", macro, S2 * (1 / K + 1 / (K - 1)), K - 1.0),
    ]
    if binary:
        rows = round(N)
        errors = np.round(np.asarray(micro) * rows)  # NaN (a failed sample) is not a count
        present = np.isfinite(errors)
        wilson = accuracy_interval(np.where(present, errors, 0.0)[..., None], rows, confidence=confidence, method="wilson")
        low, high = (np.where(present, end, np.nan) for end in (wilson.low, wilson.high))
        found.append(Interval("Wilson", THESE_K_MODELS, micro, low, high, np.sqrt(moments.variance / N), np.inf, "", confidence))
    return found
