"""Comparison of learners from a table of their scores: the test that fits its design, power, and the verdict on every pair."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student_t

from foldshift.core.arguments import check_confidence
from foldshift.core.counting import bincount
from foldshift.core.errors import DataError
from foldshift.core.remedies import Given
from foldshift.inference.comparisons.paired import mcnemar, nadeau_bengio
from foldshift.inference.comparisons.ranks import CriticalDifference, critical_difference
from foldshift.inference.comparisons.sign_flips import sign_flip_p
from foldshift.inference.comparisons.wilcoxon import hodges_lehmann, wilcoxon_signed_ranks
from foldshift.inference.corrections import adjust_p
from foldshift.inference.intervals.score_difference import PAIRED, Paired, paired_ends
from foldshift.inference.score_tables.score_table import WORDS, ScoreTable, read_scores
from foldshift.inference.score_tables.table_comparison import EQUIVALENT, OPEN, Pair, Power, TableComparison

if TYPE_CHECKING:
    import pandas as pd

    from foldshift.core.types import FloatArray
    from foldshift.inference.score_tables.score_columns import TableColumns

POWER = 0.8  # with which a difference is found
EFFICIENCY = 3 / np.pi  # of Wilcoxon's test beside Student's t for normal differences
TESTS = {
    "mcnemar": "mid-p McNemar",
    "flips": "sign flips",
    "cluster flips": "sign flips of clusters",
    "corrected t": "Nadeau-Bengio corrected t",
    "wilcoxon": "Wilcoxon signed ranks",
}


class _Tested(NamedTuple):
    """Test of one pair: first learner less the second."""

    estimate: float
    low: float
    high: float
    p_value: float
    standard_error: float
    df: float


def compare_table(
    frame: pd.DataFrame,
    columns: TableColumns,
    *,
    metric: str | None = None,
    sizes: tuple[float | None, float | None] = (None, None),
    rope: float = 0.0,
    confidence: float = 0.95,
) -> TableComparison:
    """Compare the learners of a table of scores; see `compare`."""
    check_confidence(confidence)
    if not 0 <= rope < np.inf:
        raise DataError(Given("rope", str(rope)), " must be 0 or a positive number in units of the score")
    table = read_scores(frame, columns, metric, sizes)
    test = _test_of(table)
    places = list(combinations(range(len(table.learners)), 2))
    together = 1 - (1 - confidence) / len(places)
    found = [_tested(table, test, i, j, together) for i, j in places]
    least = _least_p(table, test) * len(places)
    if least > 1 - confidence:
        few = f"with {_n_drawn(table)} {'clusters' if table.clusters is not None else WORDS[table.design.unit]}"
        table = table._replace(
            notes=(*table.notes, f"{few} p cannot be below {min(least, 1.0):.3g}, so that nothing can be shown")
        )
    if test in ("flips", "cluster flips"):
        gaps = np.column_stack([_sums(table, table.scores[:, i] - table.scores[:, j]) for i, j in places])
        found = [one._replace(p_value=float(p)) for one, p in zip(found, sign_flip_p(gaps, _factor(table)))]
    adjusted = adjust_p([one.p_value for one in found], "holm")
    pairs = []
    for (i, j), one, p in zip(places, found, adjusted):
        a, b = table.scores[:, i], table.scores[:, j]
        wins, losses = int((a > b).sum()), int((a < b).sum())
        wins, losses = (wins, losses) if table.higher_is_better else (losses, wins)
        names = table.learners[i], table.learners[j]
        own = Pair(*names, *one[:4], float(p), wins, losses, len(a) - wins - losses, "")
        pairs.append(own._replace(verdict=_verdict(own, table, rope, 1 - confidence, len(places) == 1)))
    ranks = _ranks(table, 1 - confidence)
    return TableComparison(
        table, TESTS[test], tuple(pairs), ranks, _power(table, test, found, confidence, least), confidence, rope,
        metric or table.metric,
    )  # fmt: skip


def _n_drawn(table: ScoreTable) -> int:
    """Number of items, clusters or data sets that are drawn anew."""
    return len(table.scores) if table.clusters is None else int(table.clusters.max()) + 1


def _least_p(table: ScoreTable, test: str) -> float:
    """Least p that signs of so many units can give; 0 for tests without such a limit."""
    return 0.0 if test == "corrected t" else 2.0 ** (1 - min(_n_drawn(table), 1000)) / (2 if test == "mcnemar" else 1)


def _test_of(table: ScoreTable) -> str:
    if table.design.unit == "fold":
        return "corrected t"
    if table.design.unit == "dataset":
        return "wilcoxon"
    if table.clusters is not None:
        return "cluster flips"
    return "mcnemar" if table.binary else "flips"


def _tested(table: ScoreTable, test: str, i: int, j: int, confidence: float) -> _Tested:
    """Test and interval of one pair of learners; the p of sign flips is found for all pairs at once."""
    a, b = table.scores[:, i], table.scores[:, j]
    d = a - b
    n = len(d)
    if test == "corrected t":
        t = nadeau_bengio(d, 1.0, table.design.overlap, confidence=confidence)
        return _Tested(float(t.estimate), float(t.low), float(t.high), float(t.p_value), float(t.standard_error), t.df)
    if test == "wilcoxon":
        estimate, low, high = hodges_lehmann(d, confidence=confidence)
        p = float(wilcoxon_signed_ranks(a, b).p_value)
        return _Tested(estimate, low, high, p, float(d.std(ddof=1) / np.sqrt(n * EFFICIENCY)), n - 1)
    step = 1.0 if table.binary else float(np.abs(d).max()) or float(np.ptp(table.scores)) or 1.0
    shrunk = table.binary and table.clusters is None  # Bonett and Price's interval
    paired = Paired(float(d.mean()), [(d if shrunk else d - d.mean())[None]], [float(n)], [step], shrunk)
    ends = paired_ends(paired, table.clusters, confidence, _factor(table))
    p = float(mcnemar(a, b, "mid_p").p_value) if test == "mcnemar" else np.nan
    return _Tested(ends.estimate, ends.low, ends.high, p, ends.standard_error, ends.df)


def _factor(table: ScoreTable) -> float:
    """Factor of the variance of a mean: above 1 where the items of a fold share its models."""
    return 1.0 if table.design.of_test_set else PAIRED


def _sums(table: ScoreTable, d: FloatArray) -> FloatArray:
    """Differences of items, or their sums over clusters."""
    return d if table.clusters is None else bincount(table.clusters, d).astype(np.float64)


def _verdict(pair: Pair, table: ScoreTable, rope: float, alpha: float, alone: bool) -> str:
    """Verdict on a pair: who is better, whether they are practically equivalent, or that it is not decided.

    With one pair both the test and the interval must tell, so that neither contradicts the other.
    """
    apart = pair.low > 0 or pair.high < 0
    inside = rope > 0 and -rope < pair.low and pair.high < rope
    if inside:
        return EQUIVALENT
    if pair.p_adjusted <= alpha and (apart or not alone):
        first = (pair.estimate > 0) == table.higher_is_better
        return f"{pair.first if first else pair.second} is better"
    return OPEN


def _ranks(table: ScoreTable, alpha: float) -> CriticalDifference | None:
    """Average ranks over data sets, with Friedman's test and the pairs by Holm; None for other designs."""
    if table.design.unit != "dataset" or len(table.learners) < 3:
        return None
    return critical_difference(table.scores, table.learners, alpha=alpha, method="holm", larger_is_better=table.higher_is_better)


def _power(table: ScoreTable, test: str, found: list[_Tested], confidence: float, least: float) -> Power:
    """Difference that so many units would show with a power of `POWER`: for the pair of median spread."""
    if least > 1 - confidence:
        return Power(POWER, len(table.scores), np.nan, {}, 0)
    order = sorted(found, key=lambda one: one.standard_error)
    middle = order[len(order) // 2]
    level = 1 - (1 - confidence) / len(found)
    df = middle.df
    reach = float(student_t.isf((1 - level) / 2, df) + student_t.isf(1 - POWER, df)) if np.isfinite(df) else float(
        norm.isf((1 - level) / 2) + norm.isf(1 - POWER))  # fmt: skip
    shown = reach * middle.standard_error
    n = len(table.scores)
    needed: dict[float, int] = {}
    if test != "corrected t" and shown > 0:
        spread = shown * np.sqrt(n)
        needed = {share: int(np.ceil((spread / (share * shown)) ** 2)) for share in (0.5, 0.25)}
    largest = max((one for one in found), key=lambda one: abs(one.estimate))
    decide = 0
    if test != "corrected t" and len(found) == 1 and largest.estimate != 0 and abs(largest.estimate) < shown:
        decide = int(np.ceil(n * (shown / abs(largest.estimate)) ** 2))
    return Power(POWER, n, shown, needed, decide)
