"""Tests of learners that are compared over data sets or sources, one score on each, and the reasons for or against them."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Literal

import numpy as np

from foldshift.core.gate.numbers import as_numbers, check_finite
from foldshift.core.gate.rows import check_pairs
from foldshift.inference.comparisons.bayes import FEWEST_BLOCKS, bayesian_signed_ranks
from foldshift.inference.comparisons.comparison import Row
from foldshift.inference.comparisons.equivalence import equivalence_signed_ranks
from foldshift.inference.comparisons.paired import paired_t
from foldshift.inference.comparisons.ranks import friedman
from foldshift.inference.comparisons.sign import sign_test
from foldshift.inference.comparisons.wilcoxon import hodges_lehmann, wilcoxon_signed_ranks
from foldshift.inference.corrections import adjust_p

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray, TableLike

    Blocks = Literal["datasets", "sources"]

BLOCKS = {"datasets": "data sets", "sources": "sources"}
FEW_SOURCES = 10  # fewer are called few
FROM = {
    "exact": "p is exact, from all orders of the ranks",
    "Monte Carlo": "p is from 99,999 random orders of the ranks",
    "approximation": "p is that of the limiting distribution",
}


def block_rows(scores: FloatArray, names: tuple[str, ...], design: Blocks, confidence: float, rope: float) -> list[Row]:
    """Rows of a comparison over data sets or sources, from scores of shape (n_blocks, n_learners)."""
    n, k = scores.shape
    blocks = BLOCKS[design]
    rows = [_paired_row(scores, design, confidence)]
    reason = f"it is for the folds of one data set; here a score stands for one of {n} {blocks}"
    rows += [Row(t, False, reason) for t in ("Nadeau-Bengio corrected t", "Bayesian correlated t", "5x2cv t", "5x2cv F")]
    reason = f"it is for the rows of one data set; here a score stands for one of {n} {blocks}"
    rows += [Row(t, False, reason) for t in ("McNemar", "Wong's matched t over folds", "Wong's matched t over rows")]
    independent = (
        "data sets are independent blocks"
        if design == "datasets"
        else "sources are blocks of their own, although their training sets share the others"
    )
    pairs = list(combinations(range(k), 2))
    least = min(2.0 ** (1 - n) * len(pairs), 1.0)
    small = f"; with {n} {blocks} p cannot be below {least:.3g}" if least > 1 - confidence else ""
    results = [wilcoxon_signed_ranks(scores[:, i], scores[:, j]) for i, j in pairs]
    together = 1 - (1 - confidence) / len(pairs)
    for (i, j), result, p in zip(pairs, results, adjust_p([result.p_value for result in results], "holm")):
        test = "Wilcoxon signed ranks" if k == 2 else f"Wilcoxon signed ranks: {names[i]} - {names[j]}"
        several = f"; p corrected by Holm for {len(pairs)} pairs, intervals hold for all of them together (Bonferroni)"
        reason = f"{independent}; {result.method}{several if k > 2 else ''}{small}"
        ends = hodges_lehmann(scores[:, i] - scores[:, j], confidence=together)
        rows.append(Row(test, True, reason, result.r_plus, np.nan, float(p), *ends))
    if k == 2:
        rows += _pair_rows(scores, independent, small, rope)
    return rows + _friedman_rows(scores, independent)


def _paired_row(scores: FloatArray, design: Blocks, confidence: float) -> Row:
    """Row of the paired t test over blocks."""
    n, k = scores.shape
    blocks = BLOCKS[design]
    if k != 2:
        return Row(f"paired t over {blocks}", False, f"it is for two learners; here are {k}")
    if design == "datasets":
        reason = "differences on different data sets are not on one scale, and a single outlier decides (Demsar 2006, 3.1.2)"
    else:
        reason = "one task, so one scale; about a new source. "
        reason += "Training sets share the other sources, so its error is somewhat too small"
        reason += f"; {n} sources are few" if n < FEW_SOURCES else ""
    test = paired_t(scores[:, 0] - scores[:, 1], confidence=confidence)
    return Row.of_t(f"paired t over {blocks}", design == "sources", reason, test)


def _friedman_rows(scores: FloatArray, independent: str) -> list[Row]:
    """Rows of the tests that ask whether any learner differs."""
    test = friedman(scores)
    role = "it asks whether any learner differs"
    if scores.shape[1] == 2:
        role = "with two learners it is the sign test; Wilcoxon's finds more"
    source = FROM[test.distribution]
    reason = f"{independent}; {role}; {source}"
    less = "the same as Friedman's" if test.distribution != "approximation" else "less conservative"
    f_reason = f"{independent}; Friedman's statistic, {less}; {source}"
    return [
        Row("Friedman", True, reason, test.chi2, test.df, test.p_chi2),
        Row("Iman-Davenport F", True, f_reason, test.f, test.df_f, test.p_f),
    ]


def _pair_rows(scores: FloatArray, independent: str, small: str, rope: float) -> list[Row]:
    """Rows of the tests that are for two learners only."""
    a, b = scores.T
    test = sign_test(a, b)
    reason = f"{independent}; it asks only who is better, so that scales may differ, and finds less than Wilcoxon's{small}"
    rows = [Row("sign test", True, reason, float(test.wins), np.nan, test.p_value)]
    named = ("equivalence (two one-sided signed ranks)", "Bayesian signed ranks")
    if rope == 0:
        missing = "give rope=, the largest difference that does not matter, in units of the score"
        return rows + [Row(name, False, missing) for name in named]
    equal = equivalence_signed_ranks(a, b, rope)
    reason = f"{independent}; a small p shows that the typical difference is less than {rope:g}"
    rows.append(Row(named[0], True, reason, p_value=equal.p_value))
    posterior = bayesian_signed_ranks(a, b, rope=rope)
    reason = f"{independent}; how probable it is that differences below -{rope:g}, within, or above {rope:g} are the most common"
    reason += "; fewer than six blocks agree by chance too often for it" if len(a) < FEWEST_BLOCKS else ""
    return [*rows, Row(named[1], True, reason, probabilities=(posterior.left, posterior.rope, posterior.right))]


def block_scores(scores_a: TableLike, scores_b: TableLike) -> FloatArray:
    """Check one table or two columns of scores, and return them as (n_blocks, n_learners)."""
    check_pairs(scores_a=scores_a, scores_b=scores_b)
    scores = as_numbers(scores_a, "scores_a")
    if scores_b is not None:
        other = as_numbers(scores_b, "scores_b")
        check_finite(other, "scores_b", "leave that block out for all learners alike")
        if scores.ndim != 1 or scores.shape != other.shape:
            raise ValueError(
                f"scores_a and scores_b have shapes {scores.shape} and {other.shape}; expected (n_blocks,) twice: one score for "
                "every block, averaged over folds and repetitions, which are not blocks"
            )
        scores = np.stack([scores, other], axis=1)
    if scores.ndim != 2 or min(scores.shape) < 2:
        raise ValueError(
            f"scores_a has shape {scores.shape}; expected (n_blocks, n_learners), two or more of both: one score for every "
            "block, averaged over folds and repetitions, which are not blocks"
        )
    check_finite(scores, "scores_a", "leave that block out for all learners alike")
    return scores
