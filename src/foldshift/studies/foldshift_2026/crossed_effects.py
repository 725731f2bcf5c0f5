"""Mean over populations and learners, both of them random: the mixed model of the study.

comparison = mean + population + learner + rest. With one value for every pair, the mean squares have closed forms, so that
neither an optimiser nor a further package is needed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray


class Effect(NamedTuple):
    """Mean over populations and learners, with what its tests need."""

    mean: float
    error: float  # standard error; NaN for one population
    df: float  # degrees of freedom of Student's t
    n_populations: int
    n_learners: int

    def p_two_sided(self, of: float = 0.0) -> float:
        """p of a mean that differs from a number; NaN for fewer than three populations."""
        return min(2 * self.p_above(of), 2 * self.p_below(of), 1.0)

    def p_above(self, bound: float) -> float:
        """p of a mean above a bound, one-sided."""
        return self._tail(self.mean - bound)

    def p_below(self, bound: float) -> float:
        """p of a mean below a bound, one-sided."""
        return self._tail(bound - self.mean)

    def p_within(self, margin: float) -> float:
        """p of a mean between -margin and margin: the larger of two one-sided tests."""
        return max(self.p_above(-margin), self.p_below(margin))

    def _tail(self, gap: float) -> float:
        if self.n_populations < 3 or not math.isfinite(self.error):
            return math.nan
        if self.error == 0:
            return 0.0 if gap > 0 else 0.5 if gap == 0 else 1.0
        return float(stats.t.sf(gap / self.error, self.df))


def crossed_effect(values: pd.Series) -> Effect:
    """Mean of values indexed by population and learner, both as crossed random effects; incomplete populations are left out.

    The variance of the mean is ``(MS_population + MS_learner - MS_rest) / (P L)``, with Satterthwaite's degrees of freedom. Where
    learners differ by no more than the rest, it is that of population means alone, which is also its least. Source: Searle, S.R.,
    Casella, G., McCulloch, C.E. (1992). Variance Components. Wiley, section 4.3 (two-way crossed, balanced).
    """
    table = values.unstack("learner") if len(values) else pd.DataFrame()
    cells = table.dropna().to_numpy(dtype=np.float64)
    n_populations, n_learners = cells.shape
    if cells.size == 0:
        return Effect(math.nan, math.nan, math.nan, 0, n_learners)
    mean = float(cells.mean())
    if n_populations < 2:
        return Effect(mean, math.nan, math.nan, n_populations, n_learners)
    variance, df = _variance_of_mean(cells)
    return Effect(mean, math.sqrt(variance), df, n_populations, n_learners)


def population_effect(values: pd.Series) -> Effect:
    """Mean of values indexed by population and learner, where the populations alone are a random effect.

    The value of a population is the mean over its learners; one that lacks a learner is left out.
    """
    means = values.unstack("learner").dropna().mean(axis=1) if len(values) else values
    effect = crossed_effect(pd.concat({"all": means}, names=["learner"]).rename_axis(["learner", "population"]))
    return effect._replace(n_learners=values.index.get_level_values("learner").nunique())


def _variance_of_mean(cells: FloatArray) -> tuple[float, float]:
    """Variance of the mean of a table of populations by learners, and its degrees of freedom."""
    n_rows, n_columns = cells.shape
    of_rows = n_columns * float(cells.mean(axis=1).var(ddof=1))
    if n_columns == 1:
        return of_rows / cells.size, n_rows - 1.0
    of_columns = n_rows * float(cells.mean(axis=0).var(ddof=1))
    rest = cells - cells.mean(axis=1, keepdims=True) - cells.mean(axis=0) + cells.mean()
    of_rest = float((rest**2).sum()) / ((n_rows - 1) * (n_columns - 1))
    if of_columns <= of_rest:
        return of_rows / cells.size, n_rows - 1.0
    total = of_rows + of_columns - of_rest
    parts = of_rows**2 / (n_rows - 1) + of_columns**2 / (n_columns - 1) + of_rest**2 / ((n_rows - 1) * (n_columns - 1))
    return total / cells.size, total**2 / parts
