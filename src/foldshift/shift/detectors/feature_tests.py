"""Tests of one feature of a training and a test table, and its change in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foldshift.core.counting import bincount
from foldshift.shift.columns import MISSING_LABEL, Column
from foldshift.shift.detectors.monitoring_tests import chi_square
from foldshift.shift.measures.hellinger import hellinger_features
from foldshift.shift.measures.ks import ks_p_value, ks_statistic, tie_sizes
from foldshift.shift.report.drift_text import percent
from foldshift.shift.table_versions import FEWEST_ROWS, scaled

if TYPE_CHECKING:
    from foldshift.core.types import Array, FloatArray, IntArray

FEW_EXPECTED = 5  # below this expected count in a cell, the chi-square p comes from permutations
BINS = 30  # of the Hellinger distance
MISSING = " (missing)"


class FeatureDrift(NamedTuple):
    """One feature of a `DriftReport`."""

    name: str
    kind: str  # ``numeric``, ``nominal``, or ``missing``: whether the value of a numeric feature is missing
    test: str  # ``KS`` or ``chi-square``
    statistic: float  # statistic, p_value: D or chi-square, and its p. Constant: 0 and 1. Not tested: NaN
    p_value: float
    p_adjusted: float  # corrected for all tests of the report; see `DriftReport`
    # largest difference in probability, in [0, 1]: over half-lines for a numeric feature (that is D), over sets of categories
    # otherwise (total variation). Effects of both kinds can be compared
    effect: float
    # hellinger, hellinger_excess: Hellinger distance (30 bins, at most sqrt(2)), and its excess over that of two random parts of
    # the same sizes (root mean square)
    hellinger: float
    hellinger_excess: float
    moved: bool  # true if p_adjusted is below alpha
    change: str  # change from training to test, in words
    note: str  # remark on an unusual column; mostly empty
    n_train: int  # n_train, n_test: Number of values that are not missing
    n_test: int


def feature_rows(column: Column, rng: np.random.Generator) -> list[FeatureDrift]:
    """Test one column; a numeric column with missing values gets a second row, on being missing."""
    if column.kind == "nominal":
        return [_nominal_row(column, rng)]
    a_gone, b_gone = np.isnan(column.train), np.isnan(column.test)
    a, b = column.train[~a_gone], column.test[~b_gone]
    rows = [_numeric_row(column, a, b)]
    if (a_gone.any() or b_gone.any()) and len(a) + len(b) > 0:
        gone = Column(column.name, "nominal", a_gone.astype(np.int64), b_gone.astype(np.int64), ["given", MISSING_LABEL])
        words = f"missing: {percent(a_gone.mean())} to {percent(b_gone.mean())}"
        rows.append(_nominal_row(gone, rng)._replace(name=column.name + MISSING, kind="missing", change=words, note=""))
    return rows


def _numeric_row(column: Column, a: FloatArray, b: FloatArray) -> FeatureDrift:
    row = FeatureDrift(
        column.name, "numeric", "KS", np.nan, np.nan, np.nan, np.nan, np.nan, np.nan, False, "", "", len(a), len(b)
    )
    few = [
        f"{len(part) or 'no'} value{'s' * (len(part) != 1)} in the {role} table"
        for part, role in ((a, "training"), (b, "test"))
        if len(part) < FEWEST_ROWS
    ]
    if few:
        return row._replace(note=f"not tested, {' and '.join(few)}")
    pooled = np.concatenate([a, b])
    if pooled.min() == pooled.max():
        return row._replace(statistic=0.0, p_value=1.0, effect=0.0, hellinger=0.0, hellinger_excess=0.0, note="constant")
    d, p = ks_with_p(a, b)
    distance, excess = _hellinger_excess(a, b, False)
    return row._replace(
        statistic=d, p_value=p, effect=d, hellinger=distance, hellinger_excess=excess, change=_numeric_words(column, a, b)
    )


def _nominal_row(column: Column, rng: np.random.Generator) -> FeatureDrift:
    codes = np.concatenate([column.train, column.test])
    counts = [bincount(part, minlength=len(column.categories)) for part in (column.train, column.test)]
    n_train, n_test = len(column.train), len(column.test)
    if MISSING_LABEL in column.categories:
        missing = column.categories.index(MISSING_LABEL)
        n_train, n_test = n_train - int(counts[0][missing]), n_test - int(counts[1][missing])
    row = FeatureDrift(
        column.name, "nominal", "chi-square", 0.0, 1.0, np.nan, 0.0, 0.0, 0.0, False, "", "constant", n_train, n_test
    )
    if (codes == codes[0]).all():
        return row
    statistic, p, effect = _chi_square(counts[0], counts[1], rng)
    distance, excess = _hellinger_excess(column.train, column.test, True)
    return row._replace(
        statistic=statistic, p_value=p, effect=effect, hellinger=distance, hellinger_excess=excess,
        change=_nominal_words(column.categories, counts), note=_one_sided(column.categories, counts),
    )  # fmt: skip


def _one_sided(categories: list[Any], counts: list[IntArray]) -> str:
    """Name the categories that only one table has."""
    parts = []
    for here, there, role in ((0, 1, "training"), (1, 0, "test")):
        only = [str(label) for label, n, m in zip(categories, counts[here], counts[there]) if n and not m]
        if only:
            shown = ", ".join(map(repr, only[:5])) + (f" and {len(only) - 5} more" if len(only) > 5 else "")
            parts.append(f"only in the {role} table: {shown}")
    return "; ".join(parts)


def _chi_square(counts_a: IntArray, counts_b: IntArray, rng: np.random.Generator) -> tuple[float, float, float]:
    """Compute chi-square of two rows of counts, its p, and the total variation."""
    kept = counts_a + counts_b > 0
    table = np.array([counts_a[kept], counts_b[kept]], dtype=np.int64)
    totals, n_a, n = table.sum(axis=0), table[0].sum(), table.sum()
    expected = totals * (n_a / n)
    scale = expected * (1 - n_a / n)  # with the row of A fixed, B's deviations are the same: both rows' terms in one
    statistic = float(((table[0] - expected) ** 2 / scale).sum())
    effect = float(np.abs(table[0] / n_a - table[1] / (n - n_a)).sum() / 2)
    if min(expected.min(), (totals - expected).min()) >= FEW_EXPECTED:
        return statistic, float(chi_square(table).p_value), effect
    n_draws = 9999 if len(totals) <= 50 else 1999
    drawn = rng.multivariate_hypergeometric(totals, n_a, size=n_draws, method="marginals")
    reached = ((drawn - expected) ** 2 / scale).sum(axis=1) >= statistic * (1 - 1e-12)
    return statistic, float((1 + reached.sum()) / (1 + n_draws)), effect


def _hellinger_excess(train: Array, test: Array, is_nominal: bool) -> tuple[float, float]:
    """Hellinger distance of one feature, and its excess over that of two random parts of the same sizes."""
    found = hellinger_features(train[:, None], test[:, None], n_bins=BINS, categorical_features=[0] if is_nominal else None)
    return float(found.distance[0]), float(found.excess[0])


def ks_with_p(a: FloatArray, b: FloatArray) -> tuple[float, float]:
    """Kolmogorov and Smirnov's D and its two-sided p."""
    d = ks_statistic(a, b)
    return d, ks_p_value(d, len(a), len(b), ties=tie_sizes(a, b))


def _numeric_words(column: Column, a: FloatArray, b: FloatArray) -> str:
    """Say how the numbers changed, in the units of the tables."""
    if a.min() == a.max():
        after = _shown(column, b[0], 0.0) if b.min() == b.max() else f"mean {_shown(column, _mean(b), np.ptp(b) / 100)}"
        return f"{_shown(column, a[0], 0.0)} in training, {after} in the test table"
    small = abs(max(a.max(), b.max(), -a.min(), -b.min())) > 1e150 or a.std(ddof=1) < 1e-150  # squares overflow or are lost
    near = np.split(scaled(np.concatenate([a, b])), [len(a)]) if small else [a, b]
    spreads = [part.std(ddof=1) for part in near]
    shift, ratio = (near[1].mean() - near[0].mean()) / spreads[0], spreads[1] / spreads[0]
    unit = np.ptp(a) * (spreads[0] / np.ptp(near[0]))
    before, after = (_shown(column, _mean(part), unit / 100) for part in (a, b))
    if abs(shift) >= 0.005:
        words = f"mean {before} to {after}, {'up' if shift > 0 else 'down'} by {abs(shift):.2f} standard deviations"
    else:
        words = f"same mean, {before}"
    if 0.8 < ratio < 1.25:
        return words
    return f"{words}, spread {spread_words(column, a, b)}"


def spread_words(column: Column, a: FloatArray, b: FloatArray) -> str:
    """Say how the standard deviation changed, in the units of the tables."""
    near = np.split(scaled(np.concatenate([a, b])), [len(a)])
    largest = int(np.frexp(max(np.abs(a).max(), np.abs(b).max()))[1])
    spreads = [float(part.std(ddof=1)) if part.min() < part.max() else 0.0 for part in near]
    before, after = (f"{np.ldexp(spread, largest):.3g}{' days' * column.is_date}" for spread in spreads)
    return f"{before} to {after}" + (f" (times {spreads[1] / spreads[0]:.2f})" if spreads[0] > 0 else "")


def _mean(values: FloatArray) -> float:
    """Compute the mean of numbers of any size."""
    largest = int(np.frexp(np.abs(values).max())[1])
    return float(np.ldexp(np.ldexp(values, -largest).mean(), largest))


def _shown(column: Column, value: float, step: float) -> str:
    """Write a number with the digits that tell values apart that differ by `step` (0: all digits), days as a date."""
    if column.is_date:
        return str(np.datetime64(round(value * 86400), "s") if step < 0.05 else np.datetime64(int(np.floor(value)), "D"))
    digits = 15
    if step > 0 and value:
        digits = int(np.clip(np.floor(np.log10(abs(value))) - np.floor(np.log10(step)) + 1, 1, 15))
    return f"{float(f'{value:.{digits}g}'):.15g}"


def _nominal_words(categories: list[Any], counts: list[IntArray]) -> str:
    shares = [part / part.sum() for part in counts]
    most = int(np.argmax(np.abs(shares[1] - shares[0])))
    return f"{str(categories[most])!r} from {percent(shares[0][most])} to {percent(shares[1][most])}"
