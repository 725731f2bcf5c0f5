"""Wong's rules for the accuracy of k-fold and leave-one-out cross-validation: conditions, cuts, intervals and tests."""

from typing import NamedTuple

import numpy as np
from scipy.stats import beta, norm
from scipy.stats import t as student

from foldshift.inference.intervals import THIS_POPULATION, Interval
from foldshift.partition.common import fold_dtype

LARGE_SAMPLE = 5
METHODS = ("auto", "normal", "wilson", "clopper-pearson")


class WongPartition(NamedTuple):
    """Result of `wong_partition`."""

    sizes: np.ndarray
    folds: np.ndarray


class AccuracyTest(NamedTuple):
    """A test that two accuracies are equal; arrays where many tests were done at once.

    ``standard_error`` is the denominator of ``statistic``; ``df`` is inf for z; ``low`` and ``high`` bound ``estimate``, accuracy of A minus that of B.
    """

    name: str
    estimate: float | np.ndarray
    standard_error: float | np.ndarray
    statistic: float | np.ndarray
    df: float | np.ndarray
    p_value: float | np.ndarray
    low: float | np.ndarray
    high: float | np.ndarray
    note: str


class Textbook(NamedTuple):
    """What a textbook says about cross-validation; "-" where it says nothing."""

    book: str
    folds: str
    fold_size: str
    averaging: str
    repetition: str
    leave_one_out: str


TEXTBOOKS = (
    Textbook("Alpaydin (2010)", "10 or 30", "np >= 5 and n(1 - p) >= 5", "fold", "suggested", "-"),
    Textbook("Han et al. (2012)", "10", "-", "data set", "suggested", "-"),
    Textbook("Kantardzic (2011)", "-", "-", "fold", "-", "-"),
    Textbook("Mitchell (1997)", "-", "30", "fold", "-", "-"),
    Textbook("Tan et al. (2006)", "large", "-", "data set", "-", "-"),
    Textbook("Witten et al. (2011)", "10", "100", "fold", "suggested", "-"),
)
"""Wong (2015), Table 1."""


def large_sample(r, m):
    """Whether counts are large enough for the normal approximation: five or more right, and five or more wrong.

    Parameters
    ----------
    r : float or array-like
        Correct predictions per fold, or their expected number ``m * p``; the total for leave-one-out.
    m : float or array-like
        Predictions, same shape as `r` or one number.

    Returns
    -------
    large : bool or ndarray of bool

    Raises
    ------
    ValueError
        If a count is not from 0 to m.

    References
    ----------
    .. [1] Wong (2015), section 2.
    """
    r, m = np.asarray(r, dtype=np.float64), np.asarray(m, dtype=np.float64)
    bad = ~((r >= 0) & (r <= m))
    if bad.any():
        r_bad, m_bad = (np.broadcast_to(a, bad.shape)[bad][0] for a in (r, m))
        raise ValueError(f"r={r_bad:g} must be from 0 to m={m_bad:g}")
    return _plain((r >= LARGE_SAMPLE) & (m - r >= LARGE_SAMPLE))


def large_sample_matched(n_minus, n_zero, n_plus):
    """Whether each of the three differences occurs five times or more, as the matched leave-one-out test requires.

    Parameters
    ----------
    n_minus, n_zero, n_plus : int
        Instances on which only B is right, on which both or neither are, and on which only A is.

    Returns
    -------
    large : bool

    References
    ----------
    .. [1] Wong (2015), Theorem 4.
    """
    return min(n_minus, n_zero, n_plus) >= LARGE_SAMPLE


def fold_of_uniform(u, k):
    """Fold of an instance that drew the random number u: ``ceil(k u)``, counted from 0.

    Parameters
    ----------
    u : float or ndarray
        In (0, 1].
    k : int
        Number of folds.

    Returns
    -------
    fold : int or ndarray of int64
    """
    return _plain(np.ceil(k * np.asarray(u)).astype(np.int64) - 1)


def wong_partition(n, k, scheme, rng):
    """Cut n instances into k folds at random in one of three ways.

    Parameters
    ----------
    n, k : int
        Instances and folds, ``2 <= k <= n``.
    scheme : {1, 2, 3}
        1: every instance draws its fold, so sizes vary and a fold may stay empty. 2: all folds have ``n // k`` instances and the last one
        takes the rest. 3: sizes differ by one at most, the larger folds last (recommended).
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    sizes : ndarray of shape (k,), dtype int64
    folds : ndarray of shape (n,), dtype uint8 (uint16 above 256 folds)
        Fold of every instance, counted from 0.

    Raises
    ------
    ValueError
        If n, k or scheme is out of range.

    References
    ----------
    .. [1] Wong (2015), section 4.3.2.
    """
    if scheme not in (1, 2, 3):
        raise ValueError(f"scheme={scheme!r} must be 1, 2 or 3")
    if not 2 <= k <= n:
        raise ValueError(f"k={k} folds must be from 2 to the number of instances, n={n}")
    if scheme == 1:
        folds = fold_of_uniform(1 - rng.random(n), k)  # in (0, 1], as the ceiling needs
        sizes = np.bincount(folds, minlength=k)
    else:
        sizes = np.full(k, n // k)
        if scheme == 2:
            sizes[-1] += n % k
        else:
            sizes[k - n % k :] += 1
        folds = np.empty(n, dtype=np.int64)
        folds[np.argsort(rng.random(n))] = np.repeat(np.arange(k), sizes)
    return WongPartition(sizes, folds.astype(fold_dtype(k)))


def accuracy_interval(r, m, level="dataset", *, confidence=0.95, method="auto", small_folds="keep"):
    """Confidence interval of the accuracy of one learner, from the correct predictions of every fold.

    Parameters
    ----------
    r : array-like of shape (..., k)
        Correct predictions per fold; leading axes are separate data sets. A single number is one fold.
    m : int or array-like of shape (k,)
        Size of the folds.
    level : {"dataset", "fold"}, default="dataset"
        ``dataset``: all predictions are one binomial sample. ``fold``: the k accuracies are a sample, and their mean has
        ``t`` with k - 1 degrees of freedom.
    confidence : float, default=0.95
        Probability of coverage aimed at.
    method : {"auto", "normal", "wilson", "clopper-pearson"}, default="auto"
        At the level of the data set. ``auto`` is ``normal`` where all folds (of all data sets) meet the large-sample conditions and ``wilson``
        otherwise. The normal interval is not cut at 0 and 1. At the level of folds ``auto`` and ``normal`` are the t interval.
    small_folds : {"keep", "drop"}, default="keep"
        What to do with folds that fail the large-sample conditions. ``drop`` is the paper's way and biased (see `foldshift.inference.claims`).

    Returns
    -------
    interval : Interval
        NaN with a note where too few folds are left after dropping.

    Raises
    ------
    ValueError
        If a count is not a whole number from 0 to m, or an argument is not one of those above.

    Notes
    -----
    The standard error counts predictions (or folds) as independent. They are not: training sets overlap. Covariances within and
    between folds are missing, so that the interval is too narrow for unstable learners.

    References
    ----------
    .. [1] Wong (2015), Theorem 1, section 4.3.3 and Example 1; section 5.1 for leave-one-out.
    """
    _one_of("level", level, ("dataset", "fold"))
    _one_of("method", method, METHODS)
    _one_of("small_folds", small_folds, ("keep", "drop"))
    _check_confidence(confidence)
    if level == "fold" and method not in ("auto", "normal"):
        raise ValueError(f"method={method!r} needs level='dataset'; level='fold' takes method 'auto' or 'normal'")
    r, m = _counts(np.atleast_1d(r), m, "r")
    large = np.asarray(large_sample(r, m))
    kept = large if small_folds == "drop" else np.ones_like(large)
    note = _condition_note(large, small_folds)
    if level == "fold":
        return _fold_interval(r / m, kept, confidence, note)
    if method == "auto":
        method = "normal" if large[kept].all() else "wilson"
    return _dataset_interval((r * kept).sum(axis=-1), (m * kept).sum(axis=-1), confidence, method, note)


def loo_interval(x, *, confidence=0.95, method="auto"):
    """Confidence interval of the accuracy of one learner, from leave-one-out.

    Parameters
    ----------
    x : array-like of shape (..., n)
        1 where the prediction of an instance is right, 0 where it is wrong.
    confidence, method
        As in `accuracy_interval`; the large-sample conditions hold for the totals.

    Returns
    -------
    interval : Interval

    References
    ----------
    .. [1] Wong (2015), section 5.1.
    """
    x = _correctness(x, "x")
    return accuracy_interval(x.sum(axis=-1)[..., None], x.shape[-1], confidence=confidence, method=method)


def compare_matched(r_a, r_b, m, *, confidence=0.95):
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
        With k - 1 degrees of freedom. Where all differences are equal p is 1 if they are zero and 0 if not.

    Raises
    ------
    ValueError
        If the shapes differ, there are fewer than two folds, or a count is not a whole number from 0 to m.

    Notes
    -----
    The differences are counted as independent although training sets overlap; the Nadeau-Bengio test corrects for it. Independence of the two
    learners is not needed.

    References
    ----------
    .. [1] Wong (2015), Theorem 2.
    """
    _check_confidence(confidence)
    r_a, m_k = _counts(r_a, m, "r_a")
    r_b, _ = _counts(r_b, m, "r_b")
    if r_a.shape != r_b.shape:
        raise ValueError(f"r_a and r_b have shapes {r_a.shape} and {r_b.shape}; matched folds need the same shape")
    k = _at_least_two(r_a, "r_a")
    d = (r_a - r_b) / m_k
    standard_error = np.sqrt(_variance(d) / k)
    large = np.stack([np.asarray(large_sample(r, m_k)) for r in (r_a, r_b)])
    return _test("matched t over folds", d.mean(axis=-1), standard_error, k - 1.0, confidence, _condition_note(large, "keep"))


def compare_independent(r_a, m_a, r_b, m_b, *, test="z", formula="corrected", confidence=0.95):
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
        ``corrected``: z pools by the number of predictions; t divides by the square root of the variance. ``paper``: z has one n for both learners,
        so their numbers of predictions must be equal; t divides by the variance itself (the root is missing in print).
    confidence : float, default=0.95
        For the interval of the difference.

    Returns
    -------
    test : AccuracyTest
        The degrees of freedom of t are Welch and Satterthwaite's; the paper states none. The interval of z has the unpooled variance.

    Raises
    ------
    ValueError
        If a count is not a whole number from 0 to m, t has fewer than two folds, or the paper's z has two numbers of predictions.

    Notes
    -----
    Both count the two learners as independent. On the same instances they are not: both fail on hard ones, and the variance of the
    difference is smaller than the one used here. Then use `compare_matched` or `loo_matched`.

    References
    ----------
    .. [1] Wong (2015), Theorem 3 and the paragraphs below it.
    """
    _one_of("test", test, ("z", "t"))
    _one_of("formula", formula, ("corrected", "paper"))
    _check_confidence(confidence)
    r_a, m_a = _counts(r_a, m_a, "r_a")
    r_b, m_b = _counts(r_b, m_b, "r_b")
    large = np.concatenate([np.asarray(large_sample(r, m)) for r, m in ((r_a, m_a), (r_b, m_b))], axis=-1)
    note = _condition_note(large, "keep")
    if test == "z":
        return _proportions_z(r_a.sum(axis=-1), m_a.sum(), r_b.sum(axis=-1), m_b.sum(), formula, confidence, note)
    k, q = _at_least_two(r_a, "r_a"), _at_least_two(r_b, "r_b")
    p_a, p_b = r_a / m_a, r_b / m_b
    part_a, part_b = _variance(p_a) / k, _variance(p_b) / q
    variance = part_a + part_b
    with np.errstate(invalid="ignore"):
        df = np.where(variance > 0, variance**2 / (part_a**2 / (k - 1) + part_b**2 / (q - 1)), k + q - 2.0)
    standard_error = np.sqrt(variance) if formula == "corrected" else variance
    if formula == "paper":
        note = _join(note, "divides by the variance: the square root is missing in print")
    return _test("independent t over folds", p_a.mean(axis=-1) - p_b.mean(axis=-1), standard_error, df, confidence, note)


def loo_independent(x_a, x_b, *, formula="corrected", confidence=0.95):
    """Two-proportion z test of two learners from leave-one-out.

    Parameters
    ----------
    x_a, x_b : array-like of shape (..., n_a) and (..., n_b)
        1 where the prediction of an instance is right, 0 where it is wrong.
    formula, confidence
        As in `compare_independent`.

    Returns
    -------
    test : AccuracyTest

    References
    ----------
    .. [1] Wong (2015), section 5.2 and Example 2.
    """
    x_a, x_b = _correctness(x_a, "x_a"), _correctness(x_b, "x_b")
    totals = [x.sum(axis=-1)[..., None] for x in (x_a, x_b)]
    return compare_independent(totals[0], x_a.shape[-1], totals[1], x_b.shape[-1], formula=formula, confidence=confidence)


def loo_matched(x_a, x_b, *, formula="corrected", confidence=0.95):
    """Matched t test of two learners on the same instances, from leave-one-out.

    Parameters
    ----------
    x_a, x_b : array-like of shape (..., n)
        1 where the prediction of an instance is right, 0 where it is wrong.
    formula, confidence
        As in `loo_matched_frequencies`.

    Returns
    -------
    test : AccuracyTest
        With n - 1 degrees of freedom.

    References
    ----------
    .. [1] Wong (2015), Theorem 4 and the paragraph below it.
    """
    x_a, x_b = _correctness(x_a, "x_a"), _correctness(x_b, "x_b")
    if x_a.shape != x_b.shape:
        raise ValueError(f"x_a and x_b have shapes {x_a.shape} and {x_b.shape}; matched instances need the same shape")
    y = x_a - x_b
    counts = [(y == value).sum(axis=-1) for value in (-1, 0, 1)]
    return loo_matched_frequencies(*counts, formula=formula, confidence=confidence)


def loo_matched_frequencies(n_minus, n_zero, n_plus, *, r_a=None, r_b=None, formula="corrected", confidence=0.95):
    """Matched t test of two learners from the frequencies of the differences -1, 0 and +1.

    Parameters
    ----------
    n_minus, n_zero, n_plus : int or array-like
        Instances on which only B is right, on which both or neither are, and on which only A is.
    r_a, r_b : int or array-like, optional
        Correct predictions of A and of B; where given, the frequencies must be possible for them.
    formula : {"corrected", "paper"}, default="corrected"
        ``paper``: s^2 sums the deviations without their square, as printed. That sum is zero for every data set, so t is infinite or,
        for equal accuracies, 0.
    confidence : float, default=0.95
        For the interval of the difference.

    Returns
    -------
    test : AccuracyTest
        With n - 1 degrees of freedom.

    Raises
    ------
    ValueError
        If a frequency is not a whole number from 0, there are fewer than two instances, only one of r_a and r_b is given, or the frequencies are
        impossible for them.

    References
    ----------
    .. [1] Wong (2015), Theorem 4, the paragraph below it, and Example 2.
    """
    _one_of("formula", formula, ("corrected", "paper"))
    _check_confidence(confidence)
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
        note = _join(note, "s^2 is zero: the square is missing in print")
    else:
        # in whole numbers, so that equal differences give exactly zero
        variance = (n * (n_plus + n_minus) - (n_plus - n_minus) ** 2) / (n * (n - 1))
    return _test("matched t over instances", mean, np.sqrt(variance / n), n - 1, confidence, note)


def check_frequencies(n_minus, n_zero, n_plus, r_a, r_b):
    """Refuse frequencies of differences that no two learners with these correct predictions can have.

    Parameters
    ----------
    n_minus, n_zero, n_plus : int or array-like
        Instances on which only B is right, on which both or neither are, and on which only A is.
    r_a, r_b : int or array-like
        Correct predictions of A and of B.

    Raises
    ------
    ValueError
        Unless ``n_plus - n_minus = r_a - r_b``, ``n_plus <= min(r_a, n - r_b)`` and ``n_minus <= min(r_b, n - r_a)``.
    """
    values = np.broadcast_arrays(*(np.asarray(value, dtype=np.float64) for value in (n_minus, n_zero, n_plus, r_a, r_b)))
    for minus, zero, plus, a, b in zip(*(value.ravel() for value in values), strict=True):
        n = minus + zero + plus
        given = f"frequencies (-1, 0, +1) = ({minus:g}, {zero:g}, {plus:g}) are impossible for {a:g} and {b:g} right of {n:g}"
        if plus - minus != a - b:
            raise ValueError(f"{given}: n_plus - n_minus = {plus - minus:g} must be r_a - r_b = {a - b:g}")
        most_plus, most_minus = min(a, n - b), min(b, n - a)
        if plus > most_plus or minus > most_minus:
            raise ValueError(f"{given}: n_plus must be at most {most_plus:g} and n_minus at most {most_minus:g}")


def feasible_frequencies(r_a, r_b, n):
    """All frequencies of the differences -1, 0, +1 that two learners with these correct predictions can have.

    Parameters
    ----------
    r_a, r_b : int
        Correct predictions of A and of B.
    n : int
        Instances.

    Returns
    -------
    frequencies : list of (int, int, int)
        (n_minus, n_zero, n_plus), from the fewest disagreements to the most.
    """
    _counts([r_a, r_b], n, "(r_a, r_b)")
    plus = range(max(0, r_a - r_b), min(r_a, n - r_b) + 1)
    return [(p - r_a + r_b, n - 2 * p + r_a - r_b, p) for p in plus]


def correctness_phi(x_a, x_b):
    """Phi coefficient of the correctness of two learners on the same instances.

    Zero if the "independence of schemes" holds; positive where both fail on the same instances.

    Parameters
    ----------
    x_a, x_b : array-like of shape (..., n)
        1 where the prediction of an instance is right, 0 where it is wrong.

    Returns
    -------
    phi : float or ndarray of shape (...)
        In [-1, 1]; NaN where a learner is right on all instances or on none.

    References
    ----------
    .. [1] Wong (2015), Definition 1(b) and section 3.
    """
    x_a, x_b = _correctness(x_a, "x_a"), _correctness(x_b, "x_b")
    if x_a.shape != x_b.shape:
        raise ValueError(f"x_a and x_b have shapes {x_a.shape} and {x_b.shape}; matched instances need the same shape")
    n = x_a.shape[-1]
    r_a, r_b, both = x_a.sum(axis=-1), x_b.sum(axis=-1), (x_a * x_b).sum(axis=-1)
    scale = r_a * (n - r_a) * r_b * (n - r_b)
    return _plain((n * both - r_a * r_b) / np.where(scale > 0, np.sqrt(scale), np.nan))


def _dataset_interval(r, n, confidence, method, note):
    if np.any(n == 0):
        note = _join(note, "no fold is left")
    n = np.where(n > 0, n, np.nan)
    p = r / n
    standard_error = np.sqrt(p * (1 - p) / n)
    tail = (1 - confidence) / 2
    z = norm.isf(tail)
    if method == "normal":
        low, high, name = p - z * standard_error, p + z * standard_error, "Wong, data set, z"
    elif method == "wilson":
        scale = 1 + z**2 / n
        centre, half = (p + z**2 / (2 * n)) / scale, z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / scale
        low, high, name = centre - half, centre + half, "data set, Wilson"
    else:
        low, high, name = beta.ppf(tail, r, n - r + 1), beta.isf(tail, r + 1, n - r), "data set, Clopper-Pearson"
    if method != "normal":  # exact ends, which rounding (Wilson) or a parameter of 0 (Clopper-Pearson) would miss
        low, high = np.where(p == 0, 0.0, low), np.where(p == 1, 1.0, high)
    return Interval(name, THIS_POPULATION, *(_plain(value) for value in (p, low, high, standard_error)), np.inf, note)


def _fold_interval(p, kept, confidence, note):
    k = kept.sum(axis=-1)
    if small_count := int((k < 2).sum()):
        if kept.all():
            raise ValueError(f"level='fold' needs at least 2 folds, got {p.shape[-1]}")
        note = _join(
            note,
            f"fewer than 2 folds are left in {small_count} of {k.size} data sets" if k.ndim else "fewer than 2 folds are left",
        )
    enough = np.where(k > 1, k, np.nan)
    mean = np.where(kept, p, 0).sum(axis=-1) / enough
    variance = (np.where(kept, p - mean[..., None], 0) ** 2).sum(axis=-1) / (enough - 1)
    standard_error = np.sqrt(variance / enough)
    half = student.isf((1 - confidence) / 2, enough - 1) * standard_error
    values = (_plain(value) for value in (mean, mean - half, mean + half, standard_error, enough - 1))
    return Interval("Wong, folds, t", THIS_POPULATION, *values, note)


def _proportions_z(r_a, n_a, r_b, n_b, formula, confidence, note):
    if formula == "paper" and n_a != n_b:
        raise ValueError(f"n_A={n_a:g} and n_B={n_b:g} differ; the printed z has one n, use formula='corrected'")
    p_a, p_b = r_a / n_a, r_b / n_b
    p = (r_a + r_b) / (n_a + n_b)  # (p_a + p_b) / 2 where n_a = n_b, the paper's
    standard_error = np.sqrt(p * (1 - p) * (1 / n_a + 1 / n_b))
    unpooled = np.sqrt(p_a * (1 - p_a) / n_a + p_b * (1 - p_b) / n_b)
    return _test("independent z", p_a - p_b, standard_error, np.inf, confidence, note, unpooled)


def _test(name, difference, standard_error, df, confidence, note, interval_error=None):
    """Two-sided test and interval; a statistic of 0 / 0 is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(difference == 0, 0.0, difference / standard_error)
    half = student.isf((1 - confidence) / 2, df) * (standard_error if interval_error is None else interval_error)
    p_value = 2 * student.sf(np.abs(statistic), df)
    values = (difference, standard_error, statistic, df, p_value, difference - half, difference + half)
    return AccuracyTest(name, *(_plain(value) for value in values), note)


def _variance(values):
    """Variance over the last axis, exactly zero where all values are equal."""
    return np.where(np.ptp(values, axis=-1) == 0, 0.0, values.var(axis=-1, ddof=1))


def _counts(r, m, name):
    """Correct predictions and fold sizes as float64, checked, of the same number of folds."""
    r, m = np.asarray(r, dtype=np.float64), np.asarray(m, dtype=np.float64)
    if r.ndim == 0 or r.shape[-1] == 0:
        raise ValueError(f"{name} has shape {r.shape}; expected correct predictions per fold, shape (..., k)")
    if m.ndim > 0 and m.shape != r.shape[-1:]:
        raise ValueError(f"fold sizes have shape {m.shape}; expected one number or one per fold, shape {r.shape[-1:]}")
    if not ((m >= 1) & (m == np.floor(m)) & np.isfinite(m)).all():
        raise ValueError(f"fold sizes must be whole numbers from 1, got {m.tolist()}")
    m = np.broadcast_to(m, r.shape[-1:])
    bad = ~((r >= 0) & (r <= m) & (r == np.floor(r)))
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        position = ", ".join(map(str, where))
        raise ValueError(
            f"{name}[{position}]={r[where]:g} must be a whole number from 0 to the size of its fold, {m[where[-1]]:g}"
        )
    return r, m


def _frequency(value, name):
    value = np.asarray(value, dtype=np.float64)
    if not ((value >= 0) & (value == np.floor(value)) & np.isfinite(value)).all():
        raise ValueError(f"{name}={value.tolist()} must be a whole number from 0")
    return value


def _correctness(x, name):
    x = np.asarray(x, dtype=np.float64)
    if x.ndim == 0 or x.shape[-1] == 0:
        raise ValueError(f"{name} has shape {x.shape}; expected the correctness of every instance, shape (..., n)")
    if not ((x == 0) | (x == 1)).all():
        raise ValueError(f"{name} must hold 1 (right) and 0 (wrong) only, got {x[(x != 0) & (x != 1)][0]:g}")
    return x


def _at_least_two(r, name):
    if r.shape[-1] < 2:
        raise ValueError(f"{name} has {r.shape[-1]} fold; a t test over folds needs at least 2")
    return r.shape[-1]


def _check_confidence(confidence):
    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence!r} must be between 0 and 1")


def _one_of(name, value, allowed):
    if value not in allowed:
        *rest, last = (repr(item) for item in allowed)
        raise ValueError(f"{name}={value!r} must be {', '.join(rest)} or {last}")


def _condition_note(large, small_folds):
    failing = int((~large).sum())
    if not failing:
        return ""
    counted = "folds" if large.shape[-1] > 2 else "totals"
    return f"{failing} of {large.size} {counted} fail the large-sample conditions" + (
        ", dropped" if small_folds == "drop" else ""
    )


def _join(note, more):
    return f"{note}; {more}" if note else more


def _plain(value):
    value = np.asarray(value)
    return value.item() if value.ndim == 0 else value
