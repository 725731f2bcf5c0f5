"""Test for a change of the spread of columns between two tables, regardless of changes of their centre."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtri
from scipy.stats import rankdata

from foldshift.core.repr import readable
from foldshift.core.seeding import as_generator
from foldshift.shift.detectors.two_sample import check_count, permutation_p, pooled_rows
from foldshift.shift.report.drift_text import p_in_words

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import FloatArray, TableLike

COLUMNS_AT_ONCE = 200
ROUNDING = 1e-12  # changes up to here are those of a column whose spread no permutation changes


@readable
class SpreadTest(NamedTuple):
    """Result of `spread_test`."""

    statistic: float  # largest change of spread of a column, in standard deviations of that change over the permutations
    p_value: float  # in (0, 1]
    effect: float  # spread of that column in B over its spread in A, in normal scores; below 1 if it is narrower
    n_rows: tuple[int, int]  # number of rows of A and of B that were used
    method: str
    column: int  # the column whose spread changes most

    def sentences(self) -> list[str]:
        """Return the result in words."""
        return [
            f"The spread of columns between {self.n_rows[0]} and {self.n_rows[1]} rows: p {p_in_words(self.p_value)} "
            f"({self.method}); most, of column {self.column}: times {self.effect:.2f} (normal scores)."
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return one row."""
        return pd.DataFrame([self._asdict()])


def spread_test(
    A: TableLike,
    B: TableLike,
    rng: np.random.Generator | int,
    n_permutations: int = 200,
    *,
    categorical_features: ArrayLike | None = None,
    max_rows: int = 2000,
) -> SpreadTest:
    """Test whether the numeric columns of two tables have the same spread.

    Parameters
    ----------
    A, B : DataFrame or array-like of shape (n, n_features), (m, n_features)
        As in `foldshift.shift.mmd`, but values may be missing; at least one numeric column.
    rng : numpy.random.Generator or int
        Source of permutations, and of the subset where the tables are large.
    n_permutations : int, default=200
        Number of permutations of the rows; at least 1.
    categorical_features : None, array-like of bool of shape (n_features,), of int, or of str, default=None
        Mask, positions or (of data frames) names of the nominal columns, which are not tested.
    max_rows : int, default=2000
        Largest number of rows of both tables together; above it random subsets are tested, as in `foldshift.shift.mmd`.

    Returns
    -------
    result : SpreadTest
        Statistic, p-value, effect, and the column whose spread changes most.

    Raises
    ------
    ValueError
        If the tables do not fit, are too small, have no numeric column but those of two values, or hold infinity.

    Notes
    -----
    The values of a column are replaced by the normal scores of their ranks in both tables together, ties by their mean [1]_. The
    spread of a table is the standard deviation of its scores, about its own mean. Its change between the tables is divided by
    the standard deviation of that change over the permutations, and the statistic is the largest over the columns. So one p
    holds for all columns, and it is exact for tables with the same distribution, with ties, rare values and few rows as well.
    Columns of two values are not tested: their spread follows from the share of each.

    The Kolmogorov-Smirnov test of a column hardly sees such a change (``validation/tables/drift_detectors.csv``).

    References
    ----------
    .. [1] Klotz, J. (1962). Nonparametric tests for scale. Annals of Mathematical Statistics 33(2), 498-512. (There about a known
       centre.)

    Examples
    --------
    >>> A, B = np.random.default_rng(0).normal(size=(2, 60, 3))
    >>> found = spread_test(A, B * [1, 2, 1], np.random.default_rng(0))
    >>> found.column, found.p_value, found.effect > 1.5
    (1, 0.004975124378109453, True)
    """
    rng = as_generator(rng)
    check_count("n_permutations", n_permutations, 1)
    rows, in_b, nominal = pooled_rows(A, B, rng, categorical_features, max_rows, gaps=True)
    numeric = np.array([j for j in np.flatnonzero(~nominal) if has_spread(rows[:, j])], dtype=np.intp)
    if not len(numeric):
        raise ValueError("the tables have no column of numbers but those of two values, whose spread follows from their shares")
    labels = np.repeat(in_b[:, None], n_permutations + 1, axis=1)
    labels[:, 1:] = rng.permuted(labels[:, 1:], axis=0)
    chosen = labels.T.astype(np.float64)
    largest, column, effect = np.zeros(n_permutations + 1), int(numeric[0]), 1.0
    for start in range(0, len(numeric), COLUMNS_AT_ONCE):
        some = numeric[start : start + COLUMNS_AT_ONCE]
        before, after = _spreads(rows[:, some], chosen)
        change = after - before
        deviation = change.std(axis=0)
        moves = deviation > ROUNDING
        size = np.zeros(change.shape)
        size[:, moves] = np.abs(change[:, moves] - change[:, moves].mean(axis=0)) / deviation[moves]
        most = int(size[0].argmax())
        if size[0, most] > largest[0]:
            column, effect = int(some[most]), float(after[0, most] / before[0, most]) if before[0, most] > 0 else np.inf
        largest = np.maximum(largest, size.max(axis=1))
    sizes = int((~in_b).sum()), int(in_b.sum())
    return SpreadTest(float(largest[0]), permutation_p(largest), effect, sizes, "permutation", column)


def has_spread(values: FloatArray) -> bool:
    """Return False for a column of two values, gaps aside."""
    return len(np.unique(values[~np.isnan(values)])) != 2


def _spreads(rows: FloatArray, chosen: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Standard deviation of the normal scores of columns (n, p), in A and in B, for every choice of B, (n_choices, n)."""
    present = ~np.isnan(rows)
    scores = np.zeros(rows.shape)
    for j, there in enumerate(present.T):
        if there.any():
            scores[there, j] = ndtri((rankdata(rows[there, j]) - 0.5) / there.sum())
    squares, counts = scores**2, present.astype(np.float64)
    found = []
    for part in (1 - chosen, chosen):
        n = np.maximum(part @ counts, 1)
        found.append(np.sqrt(np.maximum(part @ squares / n - (part @ scores / n) ** 2, 0)))
    return found[0], found[1]
