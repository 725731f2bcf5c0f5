"""What the tests of two learners on one data set give, to read and to count with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from foldshift.core.repr import readable

if TYPE_CHECKING:
    from foldshift.core.types import Array, FloatArray


@readable
class TTest(NamedTuple):
    """Result of a t test; arrays where many tests were done at once."""

    statistic: Array
    df: int
    p_value: Array
    estimate: Array
    low: Array
    high: Array
    standard_error: Array

    def sentences(self) -> list[str]:
        """What the test says, in words."""
        if np.ndim(self.p_value):
            return [_many(self.p_value, "t tests")]
        interval = "" if np.isnan(self.low) else f" (interval {self.low:.4g} to {self.high:.4g})"
        return [
            f"Mean difference, first minus second: {self.estimate:.4g}{interval}; t = {self.statistic:.4g} with {self.df} "
            f"degrees of freedom, two-sided p = {self.p_value:.3g}."
        ]

    def to_frame(self) -> pd.DataFrame:
        """One row for each test."""
        return _frame(self)


@readable
class FTest(NamedTuple):
    """Result of `f_5x2cv`."""

    statistic: Array
    df: tuple[Any, ...]
    p_value: Array
    estimate: Array

    def sentences(self) -> list[str]:
        """What the test says, in words."""
        if np.ndim(self.p_value):
            return [_many(self.p_value, "F tests")]
        return [
            f"Mean difference, first minus second: {self.estimate:.4g}; F = {self.statistic:.4g} with {self.df[0]} and "
            f"{self.df[1]} degrees of freedom, p = {self.p_value:.3g}."
        ]

    def to_frame(self) -> pd.DataFrame:
        """One row for each test."""
        return _frame(self)


@readable
class CorrelatedT(NamedTuple):
    """Result of `bayesian_correlated_t`: posterior probabilities that sum to 1, and the posterior itself, a Student t."""

    left: Array
    rope: Array
    right: Array
    mean: Array
    scale: Array
    df: int

    def interval(self, *, confidence: float = 0.95) -> tuple[float, float]:
        """Equal-tailed credible interval of the mean difference."""
        half = stats.t.ppf((1 + confidence) / 2, self.df) * self.scale
        return self.mean - half, self.mean + half

    def sentences(self) -> list[str]:
        """What the posterior says, in words."""
        if np.ndim(self.mean):
            return [f"{np.size(self.mean)} Bayesian correlated t tests."]
        within = f", within the region of practical equivalence {self.rope:.3f}" if self.rope else ""
        return [f"Posterior probability that the second scores higher: {self.left:.3f}{within}, the first: {self.right:.3f}."]

    def to_frame(self) -> pd.DataFrame:
        """One row for each test."""
        return _frame(self)


@readable
class McNemar(NamedTuple):
    """Result of `mcnemar`."""

    statistic: Array
    p_value: Array
    estimate: Array
    low: Array
    high: Array
    only_a: Array
    only_b: Array
    method: str

    def sentences(self) -> list[str]:
        """What the test says, in words."""
        if np.ndim(self.p_value):
            return [_many(self.p_value, "McNemar tests")]
        return [
            f"{self.only_a} rows only the first got right, {self.only_b} only the second: accuracies differ by "
            f"{self.estimate:.4g} (interval {self.low:.4g} to {self.high:.4g}), McNemar's p = {self.p_value:.3g} ({self.method})."
        ]

    def to_frame(self) -> pd.DataFrame:
        """One row for each test."""
        return _frame(self)


def _many(p: FloatArray, what: str) -> str:
    return f"{np.size(p)} {what}, p from {np.min(p):.3g}."


def _frame(test: Any) -> pd.DataFrame:
    """The fields of a test as a table, one row for each of many tests."""
    n = max(np.size(value) for value in test if not isinstance(value, tuple | str))
    return pd.DataFrame(
        {
            name: np.ravel(value) if np.ndim(value) and not isinstance(value, tuple) else [value] * n
            for name, value in zip(test._fields, test)
        }
    )
