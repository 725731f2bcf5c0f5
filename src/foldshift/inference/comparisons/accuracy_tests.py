"""Wong's tests that two learners have the same accuracy, from k-fold or leave-one-out cross-validation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import t as student

from foldshift.core.arguments import check_confidence, check_one_of, condition_note, joined_notes, plain
from foldshift.core.gate.numbers import as_numbers, correctness, fold_counts
from foldshift.core.gate.rows import check_pairs
from foldshift.core.repr import readable
from foldshift.inference.intervals.accuracy import LARGE_SAMPLE, large_sample

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import FloatArray, Floats, Formula, TableLike


@readable
class AccuracyTest(NamedTuple):
    """Result of a test that two accuracies are equal; arrays if many tests were done at once.

    ``standard_error`` is the denominator of ``statistic``; ``df`` is inf for z; ``low`` and ``high`` bound ``estimate``, accuracy
    of A minus that of B.
    """

    name: str
    estimate: Floats
    standard_error: Floats
    statistic: Floats
    df: Floats
    p_value: Floats
    low: Floats
    high: Floats
    note: str

    def sentences(self) -> list[str]:
        """Report the test in words."""
        note = [f"{self.note[:1].upper()}{self.note[1:]}."] if self.note else []
        if np.ndim(self.p_value):
            return [f"{np.size(self.p_value)} tests, {self.name}, p from {np.nanmin(self.p_value):.3g}.", *note]
        return [
            f"{self.name[:1].upper()}{self.name[1:]}: accuracy of the first less that of the second {self.estimate:.4g} "
            f"(interval {self.low:.4g} to {self.high:.4g}), p = {self.p_value:.3g}.",
            *note,
        ]

    def to_frame(self) -> pd.DataFrame:
        """Table with one row for each test."""
        names = ("estimate", "low", "high", "p_value", "statistic", "df", "standard_error")
        values = np.broadcast_arrays(*(getattr(self, name) for name in names))
        return pd.DataFrame({"test": self.name, **{name: np.ravel(value) for name, value in zip(names, values)}})


def compare_matched(r_a: ArrayLike, r_b: ArrayLike, m: ArrayLike, *, confidence: float = 0.95) -> AccuracyTest:
    """Matched t test of two learners on the same folds.

    Parameters
    ----------
    r_a, r_b : array-like of shape (..., k)
        Correct predictions per fold of the two learners.
    m : int or array-like of shape (k,)
        Size of the folds.
    confidence : float, default=0.95
        For the interval of the difference.

    Returns
    -------
    test : AccuracyTest
        With k - 1 degrees of freedom. If all differences are equal, p is 1 if they are zero and 0 if not.

    Raises
    ------
    ValueError
        If the shapes differ, there are fewer than two folds, or a count is not a whole number from 0 to m.

    Notes
    -----
    The differences are counted as independent although training sets overlap; the Nadeau-Bengio test corrects for that. The two
    learners need not be independent.

    Examples
    --------
    >>> test = compare_matched([9, 8, 10, 9, 9], [7, 8, 8, 9, 7], 10)
    >>> round(test.estimate, 2), round(test.p_value, 3)
    (0.12, 0.07)

    References
    ----------
    .. [1] Wong (2015), Theorem 2.
    """
    check_confidence(confidence)
    check_pairs(r_a=r_a, r_b=r_b, m=m)
    r_a, m_k = fold_counts(r_a, m, "r_a")
    r_b, _ = fold_counts(r_b, m, "r_b")
    if r_a.shape != r_b.shape:
        raise ValueError(f"r_a and r_b have shapes {r_a.shape} and {r_b.shape}; matched folds need the same shape")
    k = _at_least_two(r_a, "r_a")
    d = (r_a - r_b) / m_k
    standard_error = np.sqrt(_variance(d) / k)
    large = np.stack([np.asarray(large_sample(r, m_k)) for r in (r_a, r_b)])
    return _test("matched t over folds", d.mean(axis=-1), standard_error, k - 1.0, confidence, condition_note(large, "keep"))


def compare_independent(
    r_a: ArrayLike,
    m_a: ArrayLike,
    r_b: ArrayLike,
    m_b: ArrayLike,
    *,
    test: Literal["z", "t"] = "z",
    formula: Formula = "corrected",
    confidence: float = 0.95,
) -> AccuracyTest:
    """Test of two learners on different folds.

    Parameters
    ----------
    r_a, r_b : array-like of shape (..., k) and (..., q)
        Correct predictions per fold of the two learners.
    m_a, m_b : int or array-like of shape (k,) and (q,)
        Size of the folds.
    test : {"z", "t"}, default="z"
        ``z``: two proportions with pooled variance. ``t``: two samples of fold accuracies.
    formula : {"corrected", "paper"}, default="corrected"
        ``corrected``: z pools by the number of predictions; t divides by the square root of the variance. ``paper``: z has one n
        for both learners, so their numbers of predictions must be equal; t divides by the variance itself (the root is missing in
        print).
    confidence : float, default=0.95
        For the interval of the difference.

    Returns
    -------
    test : AccuracyTest
        The degrees of freedom of t are Welch and Satterthwaite's; the paper states none. The interval of z has the unpooled
        variance.

    Raises
    ------
    ValueError
        If a count is not a whole number from 0 to m, t has fewer than two folds, or the paper's z has two numbers of predictions.

    Notes
    -----
    Both count the two learners as independent. On the same instances they are not: both fail on hard ones, and the variance of
    the difference is smaller than the one used here. Then use `compare_matched` or `loo_matched`.

    Examples
    --------
    >>> test = compare_independent([45, 44], 50, [38, 40], 50)
    >>> round(test.estimate, 2), round(test.p_value, 3)
    (0.11, 0.036)

    References
    ----------
    .. [1] Wong (2015), Theorem 3 and the paragraphs below it.
    """
    check_one_of("test", test, ("z", "t"))
    check_one_of("formula", formula, ("corrected", "paper"))
    check_confidence(confidence)
    check_pairs(r_a=r_a, m_a=m_a)
    check_pairs(r_b=r_b, m_b=m_b)
    r_a, m_a = fold_counts(r_a, m_a, "r_a")
    r_b, m_b = fold_counts(r_b, m_b, "r_b")
    if r_a.shape[:-1] != r_b.shape[:-1]:
        raise ValueError(f"r_a and r_b have shapes {r_a.shape} and {r_b.shape}; expected the same data sets, in the leading axes")
    large = np.concatenate([np.asarray(large_sample(r, m)) for r, m in ((r_a, m_a), (r_b, m_b))], axis=-1)
    note = condition_note(large, "keep")
    if test == "z":
        totals = (r_a.sum(axis=-1), m_a.sum()), (r_b.sum(axis=-1), m_b.sum())
        return _proportions_z(*totals, formula, confidence, note)
    k, q = _at_least_two(r_a, "r_a"), _at_least_two(r_b, "r_b")
    p_a, p_b = r_a / m_a, r_b / m_b
    part_a, part_b = _variance(p_a) / k, _variance(p_b) / q
    variance = part_a + part_b
    with np.errstate(invalid="ignore"):
        df = np.where(variance > 0, variance**2 / (part_a**2 / (k - 1) + part_b**2 / (q - 1)), k + q - 2.0)
    standard_error = np.sqrt(variance) if formula == "corrected" else variance
    if formula == "paper":
        note = joined_notes(note, "divides by the variance: the square root is missing in print")
    return _test("independent t over folds", p_a.mean(axis=-1) - p_b.mean(axis=-1), standard_error, df, confidence, note)


def loo_matched(x_a: TableLike, x_b: TableLike, *, formula: Formula = "corrected", confidence: float = 0.95) -> AccuracyTest:
    """Matched t test of two learners on the same instances, from leave-one-out.

    Parameters
    ----------
    x_a, x_b : array-like of shape (..., n)
        1 if the prediction of an instance is right, 0 if it is wrong.
    formula : {"corrected", "paper"}, default="corrected"
        ``paper``: s^2 sums the deviations without their square, as printed. That sum is zero for every data set, so t is infinite
        or, for equal accuracies, 0.
    confidence : float, default=0.95
        For the interval of the difference.

    Returns
    -------
    test : AccuracyTest
        With n - 1 degrees of freedom.

    Examples
    --------
    >>> import numpy as np
    >>> x_a, x_b = np.repeat([0, 1, 1, 0], [10, 6, 74, 10]), np.repeat([1, 0, 1, 0], [10, 6, 74, 10])
    >>> round(loo_matched(x_a, x_b).p_value, 4)
    0.3197

    References
    ----------
    .. [1] Wong (2015), Theorem 4 and the paragraph below it.
    """
    check_pairs(x_a=x_a, x_b=x_b)
    x_a, x_b = correctness(x_a, "x_a"), correctness(x_b, "x_b")
    if x_a.shape != x_b.shape:
        raise ValueError(f"x_a and x_b have shapes {x_a.shape} and {x_b.shape}; matched instances need the same shape")
    y = x_a - x_b
    counts = [(y == value).sum(axis=-1) for value in (-1, 0, 1)]
    return loo_matched_frequencies(*counts, formula=formula, confidence=confidence)


def loo_matched_frequencies(
    n_minus: TableLike,
    n_zero: TableLike,
    n_plus: TableLike,
    *,
    r_a: TableLike = None,
    r_b: TableLike = None,
    formula: Formula = "corrected",
    confidence: float = 0.95,
) -> AccuracyTest:
    """Matched t test of two learners from the frequencies of -1 (only B right), 0 and +1 (only A right).

    If `r_a` and `r_b`, the correct predictions, are given, the frequencies must be possible for them.
    Source: Wong (2015), Theorem 4, the paragraph below it, and Example 2.
    """
    check_one_of("formula", formula, ("corrected", "paper"))
    check_confidence(confidence)
    n_minus, n_zero, n_plus = (
        _frequency(value, name) for value, name in ((n_minus, "n_minus"), (n_zero, "n_zero"), (n_plus, "n_plus"))
    )
    n = n_minus + n_zero + n_plus
    if (n < 2).any():
        raise ValueError(f"n_minus + n_zero + n_plus = {n.min():g} instances; the matched test needs at least 2")
    if (r_a is None) != (r_b is None):
        raise ValueError("only one of r_a and r_b is given; give both, or neither")
    if r_a is not None:
        check_frequencies(n_minus, n_zero, n_plus, r_a, r_b)
    mean = (n_plus - n_minus) / n
    large = np.stack([count >= LARGE_SAMPLE for count in (n_minus, n_zero, n_plus)])
    note = "" if large.all() else f"{(~large).sum()} of {large.size} frequencies are below {LARGE_SAMPLE}"
    if formula == "paper":
        variance = np.zeros_like(mean)  # deviations from their own mean sum to zero
        note = joined_notes(note, "s^2 is zero: the square is missing in print")
    else:
        # in whole numbers, so that equal differences give exactly zero
        variance = (n * (n_plus + n_minus) - (n_plus - n_minus) ** 2) / (n * (n - 1))
    return _test("matched t over instances", mean, np.sqrt(variance / n), n - 1, confidence, note)


def check_frequencies(n_minus: ArrayLike, n_zero: ArrayLike, n_plus: ArrayLike, r_a: ArrayLike, r_b: ArrayLike) -> None:
    """Refuse frequencies of differences that no two learners with these correct predictions can have."""
    values = np.broadcast_arrays(*(as_numbers(value, "a frequency") for value in (n_minus, n_zero, n_plus, r_a, r_b)))
    for minus, zero, plus, a, b in zip(*(value.ravel() for value in values), strict=True):
        n = minus + zero + plus
        given = f"frequencies (-1, 0, +1) = ({minus:g}, {zero:g}, {plus:g}) are impossible for {a:g} and {b:g} right of {n:g}"
        if plus - minus != a - b:
            raise ValueError(f"{given}: n_plus - n_minus = {plus - minus:g} must be r_a - r_b = {a - b:g}")
        most_plus, most_minus = min(a, n - b), min(b, n - a)
        if plus > most_plus or minus > most_minus:
            raise ValueError(f"{given}: n_plus must be at most {most_plus:g} and n_minus at most {most_minus:g}")


def feasible_frequencies(r_a: int, r_b: int, n: int) -> list[tuple[int, int, int]]:
    """List all frequencies of the differences -1, 0, +1 for these correct predictions, from the fewest disagreements on."""
    fold_counts([r_a, r_b], n, "(r_a, r_b)")
    plus = range(max(0, r_a - r_b), min(r_a, n - r_b) + 1)
    return [(p - r_a + r_b, n - 2 * p + r_a - r_b, p) for p in plus]


def correctness_phi(x_a: TableLike, x_b: TableLike) -> Floats:
    """Phi coefficient of the correctness of two learners on the same instances.

    Zero if the "independence of schemes" holds; positive where both fail on the same instances.
    Source: Wong (2015), Definition 1(b) and section 3.
    """
    check_pairs(x_a=x_a, x_b=x_b)
    x_a, x_b = correctness(x_a, "x_a"), correctness(x_b, "x_b")
    if x_a.shape != x_b.shape:
        raise ValueError(f"x_a and x_b have shapes {x_a.shape} and {x_b.shape}; matched instances need the same shape")
    n = x_a.shape[-1]
    r_a, r_b, both = x_a.sum(axis=-1), x_b.sum(axis=-1), (x_a * x_b).sum(axis=-1)
    scale = r_a * (n - r_a) * r_b * (n - r_b)
    return plain((n * both - r_a * r_b) / np.where(scale > 0, np.sqrt(scale), np.nan))


def _proportions_z(
    a: tuple[FloatArray, float], b: tuple[FloatArray, float], formula: Formula, confidence: float, note: str
) -> AccuracyTest:
    """z test of two proportions, each given as correct predictions and their number."""
    (r_a, n_a), (r_b, n_b) = a, b
    if formula == "paper" and n_a != n_b:
        raise ValueError(f"n_A={n_a:g} and n_B={n_b:g} differ; the printed z has one n, use formula='corrected'")
    p_a, p_b = r_a / n_a, r_b / n_b
    p = (r_a + r_b) / (n_a + n_b)  # (p_a + p_b) / 2 where n_a = n_b, the paper's
    standard_error = np.sqrt(p * (1 - p) * (1 / n_a + 1 / n_b))
    unpooled = np.sqrt(p_a * (1 - p_a) / n_a + p_b * (1 - p_b) / n_b)
    test = _test("independent z", p_a - p_b, standard_error, np.inf, confidence, note)
    half = student.isf((1 - confidence) / 2, np.inf) * unpooled
    return test._replace(low=plain(p_a - p_b - half), high=plain(p_a - p_b + half))


def _test(name: str, difference: Floats, standard_error: Floats, df: Floats, confidence: float, note: str) -> AccuracyTest:
    """Two-sided test and interval; a statistic of 0 / 0 is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(difference == 0, 0.0, difference / standard_error)
    half = student.isf((1 - confidence) / 2, df) * standard_error
    p_value = 2 * student.sf(np.abs(statistic), df)
    low, high = plain(difference - half), plain(difference + half)
    return AccuracyTest(
        name, plain(difference), plain(standard_error), plain(statistic), plain(df), plain(p_value), low, high, note
    )


def _variance(values: FloatArray) -> FloatArray:
    """Variance over the last axis, exactly zero if all values are equal."""
    return np.where(np.ptp(values, axis=-1) == 0, 0.0, values.var(axis=-1, ddof=1))


def _frequency(value: ArrayLike, name: str) -> FloatArray:
    value = as_numbers(value, name)
    if not ((value >= 0) & (value == np.floor(value)) & np.isfinite(value)).all():
        raise ValueError(f"{name}={value.tolist()} must be a whole number from 0")
    return value


def _at_least_two(r: FloatArray, name: str) -> int:
    if r.shape[-1] < 2:
        raise ValueError(f"{name} has {r.shape[-1]} fold; a t test over folds needs at least 2")
    return r.shape[-1]
