"""Comparison of intervals with the true errors that they should cover, over many samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.stats import norm

from foldshift.inference.intervals.interval import NEW_SOURCE
from foldshift.inference.proportions import wilson_interval

if TYPE_CHECKING:
    from foldshift.core.types import Array, BoolArray, FloatArray, Floats, IntArray
    from foldshift.inference.intervals.interval import Interval

TRAINING_PART = "error of a training part"
THESE_MODELS = "this sample's models"
WHOLE_SAMPLE = "whole sample"
AVERAGE_NEW_SOURCE = f"{NEW_SOURCE}, average over samples"
MODEL_ON_NEW_SOURCE = f"{NEW_SOURCE}, this sample's model"
AVERAGED = (TRAINING_PART, AVERAGE_NEW_SOURCE)
"""Targets that are one number for all samples: the mean of their truths."""
ONE_ERROR = float(2 * norm.cdf(1) - 1)  # confidence of an interval of one standard error to either side


class CutError(Exception):
    """Folds could not be cut, which is not the learner's fault."""


class AuditRow(NamedTuple):
    """Performance of one interval for one target; see `coverage_audit`."""

    partitioner: str
    interval: str
    target: str
    n: int  # samples that the row rests on
    truth: float  # mean true error
    bias: float  # bias, bias_error: Mean of estimate less truth, and its Monte Carlo standard error
    bias_error: float
    # coverage, coverage_error: Share of the samples with the truth inside the interval, and its Monte Carlo standard error: half
    # the width of Wilson's interval at one standard error, so that a coverage of 1 has an error too
    coverage: float
    coverage_error: float
    coverage_low: float  # coverage_low, coverage_high: Wilson's 95 % interval of the coverage
    coverage_high: float
    negative: float  # share of the samples with a negative variance estimate, hence without interval; these count as not covered
    width: float  # mean width of the intervals that exist


def coverage_errors(coverage: float, n: int) -> tuple[float, float, float]:
    """Standard error of a coverage measured on n samples, and the ends of its 95 % interval, all by Wilson."""
    (low, high), (below, above) = (wilson_interval(coverage, n, inner) for inner in (0.95, ONE_ERROR))
    return float((above - below) / 2), float(low), float(high)


def not_refuted(coverage: Floats, n: int | IntArray, confidence: float) -> bool | BoolArray:
    """Check that a coverage measured on n samples is not below the promise by more than two Monte Carlo standard errors.

    It does not show that the interval covers: with 20 samples, one that covers .90 passes in two cases of three.
    """
    return coverage >= confidence - 2 * np.sqrt(confidence * (1 - confidence) / np.maximum(n, 1))


def audit_rows(found: Sequence[Interval], truths: dict[str, Array], partitioner: str) -> list[AuditRow]:
    """Bias, coverage and width of every interval for every target; samples without estimate or truth (NaN) are left out."""
    return [_audit_row(interval, target, truth, partitioner) for target, truth in truths.items() for interval in found]


def _audit_row(interval: Interval, target: str, truth: FloatArray, partitioner: str) -> AuditRow:
    truth = np.asarray(truth, dtype=np.float64)
    present = np.isfinite(interval.estimate) & np.isfinite(truth)
    n = int(present.sum())
    if not n:
        return AuditRow(partitioner, interval.name, target, 0, *[np.nan] * 9)
    estimate, low, high, truth = (values[present] for values in (interval.estimate, interval.low, interval.high, truth))
    gap = estimate - truth
    aim = truth.mean() if target in AVERAGED else truth
    coverage, width = float(((low <= aim) & (aim <= high)).mean()), (high - low)[~np.isnan(low)]
    return AuditRow(
        partitioner,
        interval.name,
        target,
        n,
        float(truth.mean()),
        float(gap.mean()),
        float(gap.std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan,
        coverage,
        *coverage_errors(coverage, n),
        float(np.isnan(low).mean()),
        float(width.mean()) if len(width) else np.nan,
    )
