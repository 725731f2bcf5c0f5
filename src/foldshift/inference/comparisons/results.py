"""What the tests of two learners on one data set give, to read and to count with."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from foldshift.core.repr import readable


@readable
class TTest(NamedTuple):
    """Result of a t test; arrays where many tests were done at once."""

    statistic: np.ndarray
    df: int
    p_value: np.ndarray
    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    standard_error: np.ndarray

    def sentences(self):
        """What the test says, in words."""
        if np.ndim(self.p_value):
            return [_many(self.p_value, "t tests")]
        interval = "" if np.isnan(self.low) else f" (interval {self.low:.4g} to {self.high:.4g})"
        return [
            f"Mean difference, first minus second: {self.estimate:.4g}{interval}; t = {self.statistic:.4g} with {self.df} "
            f"degrees of freedom, two-sided p = {self.p_value:.3g}."
        ]

    def to_frame(self):
        """One row for each test."""
        return _frame(self)


@readable
class FTest(NamedTuple):
    """Result of `f_5x2cv`."""

    statistic: np.ndarray
    df: tuple
    p_value: np.ndarray
    estimate: np.ndarray

    def sentences(self):
        """What the test says, in words."""
        if np.ndim(self.p_value):
            return [_many(self.p_value, "F tests")]
        return [
            f"Mean difference, first minus second: {self.estimate:.4g}; F = {self.statistic:.4g} with {self.df[0]} and "
            f"{self.df[1]} degrees of freedom, p = {self.p_value:.3g}."
        ]

    def to_frame(self):
        """One row for each test."""
        return _frame(self)


@readable
class CorrelatedT(NamedTuple):
    """Result of `bayesian_correlated_t`: posterior probabilities that sum to 1, and the posterior itself, a Student t."""

    left: np.ndarray
    rope: np.ndarray
    right: np.ndarray
    mean: np.ndarray
    scale: np.ndarray
    df: int

    def interval(self, *, confidence=0.95):
        """Equal-tailed credible interval of the mean difference."""
        half = stats.t.ppf((1 + confidence) / 2, self.df) * self.scale
        return self.mean - half, self.mean + half

    def sentences(self):
        """What the posterior says, in words."""
        if np.ndim(self.mean):
            return [f"{np.size(self.mean)} Bayesian correlated t tests."]
        within = f", within the region of practical equivalence {self.rope:.3f}" if self.rope else ""
        return [f"Posterior probability that the second scores higher: {self.left:.3f}{within}, the first: {self.right:.3f}."]

    def to_frame(self):
        """One row for each test."""
        return _frame(self)


@readable
class McNemar(NamedTuple):
    """Result of `mcnemar`."""

    statistic: np.ndarray
    p_value: np.ndarray
    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    only_a: np.ndarray
    only_b: np.ndarray
    method: str

    def sentences(self):
        """What the test says, in words."""
        if np.ndim(self.p_value):
            return [_many(self.p_value, "McNemar tests")]
        return [
            f"{self.only_a} rows only the first got right, {self.only_b} only the second: accuracies differ by "
            f"{self.estimate:.4g} (interval {self.low:.4g} to {self.high:.4g}), McNemar's p = {self.p_value:.3g} ({self.method})."
        ]

    def to_frame(self):
        """One row for each test."""
        return _frame(self)


def _many(p, what):
    return f"{np.size(p)} {what}, p from {np.min(p):.3g}."


def _frame(test):
    """The fields of a test as a table, one row for each of many tests."""
    n = max(np.size(value) for value in test if not isinstance(value, tuple | str))
    return pd.DataFrame(
        {
            name: np.ravel(value) if np.ndim(value) and not isinstance(value, tuple) else [value] * n
            for name, value in zip(test._fields, test)
        }
    )
