"""Tests of two learners on the folds of one data set, and the reasons for or against them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from foldshift.inference.comparisons.comparison import Row, p_text
from foldshift.inference.comparisons.equivalence import equivalence_test
from foldshift.inference.comparisons.paired import bayesian_correlated_t, f_5x2cv, mcnemar, nadeau_bengio, paired_t, t_5x2cv

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray, TableLike

FOLD_TESTS = (
    PAIRED_T := "paired t over folds",
    WONG_T := "Wong's matched t over folds",
    CORRECTED_T := "Nadeau-Bengio corrected t",
    BAYESIAN_T := "Bayesian correlated t",
    EQUIVALENCE := "equivalence (two one-sided corrected t)",
    T_5X2CV := "5x2cv t",
    F_5X2CV := "5x2cv F",
)
# Shares of false findings between equally good learners, 2,000 data sets each: `make validate WHAT=corrected-t`.
HELD = {
    "10 x 10 folds": {"5 nearest neighbours": 0.110, "LDA": 0.046, "nearest centroid": 0.042},
    "10 folds": {"5 nearest neighbours": 0.036, "LDA": 0.013, "nearest centroid": 0.014},
    "15 hold-outs": {"5 nearest neighbours": 0.093, "LDA": 0.060, "nearest centroid": 0.057},
    "5 x 2 folds": {"5 nearest neighbours": 0.160, "LDA": 0.093, "nearest centroid": 0.076},  # of the 5x2cv F
}


def fold_rows(
    a: FloatArray, b: FloatArray, overlap: float | None, unpaired: str | None, rope: float, confidence: float
) -> list[Row]:
    """Rows of the tests that work on the scores of the folds; `unpaired` says why they are not paired (None: they are)."""
    if unpaired is not None:
        different = "the learners were tested on different folds, so there is nothing to pair; run both on the same folds"
        reason = unpaired or different
        return [Row(test, False, reason, estimate=float(a.mean() - b.mean())) for test in FOLD_TESTS]
    d = a - b
    if d.size < 2 or overlap is None:
        reason = "a single result has no spread to compare with; repeat, or use several folds"
        return [Row(test, False, reason, estimate=float(d.mean())) for test in FOLD_TESTS]
    r, k = d.shape
    naive = paired_t(d, confidence=confidence)
    same = _training_overlap(k)
    repeated = f"; the {r} repetitions test the same rows again and would be counted as independent" if r > 1 else ""
    rows = [Row.of_t(PAIRED_T, False, f"{same}: the variance is too small and p too small{repeated}", naive)]
    if r == 1 and k > 1:
        reason = f"its fold accuracies are taken for independent (Wong's Proposition 1), but {same}"
        reason += "; the figures are those of the paired t"
        rows.append(Row.of_t(WONG_T, False, reason, naive))
    else:
        rows.append(Row(WONG_T, False, f"it is for one partition into k folds; here are {shape_in_words((r, k))}"))
    constant = "; all differences are the same, so p says nothing" if naive.standard_error == 0 else ""
    return rows + _corrected_rows(d, overlap, rope, confidence, constant) + _five_by_two_rows(d, constant)


def _corrected_rows(d: FloatArray, overlap: float, rope: float, confidence: float, constant: str) -> list[Row]:
    """Rows of the tests whose variance allows for the shared training rows."""
    r, k = d.shape
    never = f"; {r} repetitions are not {r} independent experiments, and this term does not shrink with them" if r > 1 else ""
    reason = (
        f"the variance s2 (1/{d.size} + {overlap:.4g}) allows for the shared training rows by its second term{never}{constant}"
    )
    corrected = nadeau_bengio(d, 1.0, overlap, confidence=confidence)
    rows = [Row.of_t(CORRECTED_T, True, f"{reason}. {_held(r, k)}", corrected)]
    rho = overlap / (1 + overlap)
    posterior = bayesian_correlated_t(d, rho, rope)
    region = (
        f"within means differences up to {rope:g}"
        if rope > 0
        else "no region of practical equivalence is given (rope=0), so it asks only for the sign"
    )
    reason = f"the same variance, rho = {rho:.4g}, read as a posterior; {region}{never}{constant}"
    low, high = posterior.interval(confidence=confidence)
    shares = posterior.left, posterior.rope, posterior.right
    mean, df = posterior.mean, posterior.df
    rows.append(Row(BAYESIAN_T, True, reason, df=df, estimate=mean, low=low, high=high, probabilities=shares))
    if rope > 0:
        equal = equivalence_test(corrected, rope, alpha=min(1 - confidence, 0.49))
        reason = f"the same variance; a small p shows that the learners differ by less than {rope:g}{constant}"
        rows.append(Row(EQUIVALENCE, True, reason, df=corrected.df, p_value=equal.p_value, estimate=corrected.estimate))
    else:
        rows.append(Row(EQUIVALENCE, False, "give rope=, the largest difference that does not matter, in units of the score"))
    return rows


def _five_by_two_rows(d: FloatArray, constant: str) -> list[Row]:
    """Rows of the tests for five repetitions of two folds."""
    if d.shape != (5, 2):
        reason = f"it needs five repetitions of two folds; here are {shape_in_words(d.shape)}"
        return [Row(T_5X2CV, False, reason), Row(F_5X2CV, False, reason)]
    t, f = t_5x2cv(d), f_5x2cv(d)
    t_reason = "five repetitions of two folds; it rests on the first difference alone, so prefer the F, which uses all ten"
    f_reason = f"five repetitions of two folds{constant}. {_shares('5 x 2 folds')}"
    return [
        Row(T_5X2CV, True, t_reason + constant, t.statistic, t.df, t.p_value, t.estimate),
        Row(F_5X2CV, True, f_reason, f.statistic, f.df, f.p_value, f.estimate),
    ]


def instance_rows(correct_a: TableLike, correct_b: TableLike, shape: tuple[int, ...], confidence: float) -> list[Row]:
    """Rows of the tests that work on the rows of the data set."""
    tests = ["McNemar", "Wong's matched t over rows"]
    if correct_a is None and correct_b is None:
        reason = "it needs to know which rows each learner got right (classification): pass correct_a and correct_b"
        return [Row(test, False, reason) for test in tests]
    if correct_a is None or correct_b is None:
        raise ValueError(f"{'correct_a' if correct_a is None else 'correct_b'} is missing; give both or neither")
    x_a, x_b = np.atleast_2d(correct_a), np.atleast_2d(correct_b)
    if x_a.shape != x_b.shape or x_a.ndim != 2 or len(x_a) != shape[0]:
        raise ValueError(
            f"correct_a and correct_b have shapes {x_a.shape} and {x_b.shape}; expected ({shape[0]}, n), n rows in every "
            f"repetition"
        )
    all_of_them = mcnemar(x_a, x_b, confidence=confidence)
    test = mcnemar(x_a[0], x_b[0], confidence=confidence)
    n, (r, k) = x_a.shape[1], shape
    first = each = ""
    if r > 1:
        shared = f"would count every row {r} times" if k > 1 else "would count the rows that they share several times"
        first = f"; by the first of {r} repetitions: adding them up {shared} as independent"
        each = f" (p of each from {p_text(all_of_them.p_value.min())} to {p_text(all_of_them.p_value.max())})"
    reason = (
        f"exact; every row is tested once by both ({test.only_a} right for the first learner only, {test.only_b} for the second "
        f"only). It is about the models trained here: how results vary with the training set is left out{first}{each}"
    )
    rows = [Row(tests[0], True, reason, test.statistic, np.nan, test.p_value, test.estimate, test.low, test.high)]
    y = x_a[0].astype(float) - x_b[0]
    if n < 2:
        return [*rows, Row(tests[1], False, "a single row has no spread")]
    counts = (test.only_b, n - test.only_a - test.only_b, test.only_a)
    enough = min(counts) >= 5
    if k != n:
        reason = f"it is for leave-one-out, k = n; here k = {k} and n = {n}. McNemar's is the test of the same rows"
    elif not enough:
        reason = f"it needs at least 5 rows of each difference -1, 0, 1; here are {', '.join(map(str, counts))}. Use McNemar's"
    else:
        reason = "leave-one-out with at least 5 rows of each difference -1, 0, 1; it takes the rows for independent, although "
        reason += "the models share training rows"
    return [*rows, Row.of_t(tests[1], k == n and enough, reason + first, paired_t(y, confidence=confidence))]


def _held(r: int, k: int) -> str:
    """Report in words how well the corrected t held its level in simulations of this design."""
    return _shares("10 x 10 folds" if r > 1 and k > 1 else "10 folds" if k > 1 else "15 hold-outs")


def _shares(design: str) -> str:
    """Report in words how often a test found a difference that does not exist, in simulations of this design."""
    shares = ", ".join(f"{share:.1%} ({learner})" for learner, share in HELD[design].items())
    return (
        f"It is a rule of thumb: with {design} of 100 simulated rows it found a difference at .05 between two equally good "
        f"learners in {shares} of the cases"
    )


def _training_overlap(k: int) -> str:
    if k == 1:
        return "the training parts of repeated hold-out share rows"
    if k == 2:
        return "each of the two folds is trained on what the other is tested on"
    return f"any two training sets of a partition share {(k - 2) / (k - 1):.0%} of their rows, so folds are not independent"


def shape_in_words(shape: tuple[int, ...]) -> str:
    r, k = shape
    if k == 1:
        return f"hold-out, {r} times" if r > 1 else "hold-out, once"
    return f"{r} x {k} folds" if r > 1 else f"{k} folds"
