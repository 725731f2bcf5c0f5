"""Which tests apply to a comparison of learners, which do not, and why."""

from itertools import combinations, groupby
from textwrap import fill
from typing import NamedTuple

import numpy as np

from foldshift.inference.comparisons import bayesian_correlated_t, f_5x2cv, mcnemar, nadeau_bengio, paired_t, t_5x2cv
from foldshift.inference.corrections import adjust_p
from foldshift.inference.ranks import friedman
from foldshift.inference.wilcoxon import LARGEST_EXACT, rank_sum_p, wilcoxon_signed_ranks

DESIGNS = ("folds", "datasets", "sources")
BLOCKS = {"datasets": "data sets", "sources": "sources"}
FEW_SOURCES = 10


class Row(NamedTuple):
    """One test of a `Comparison`.

    Attributes
    ----------
    test : str
        Name of the test.
    applies : bool
        Whether its assumptions hold well enough for the design. Numbers of a test that does not apply are shown for those who
        find them in a paper.
    reason : str
        Why it applies or does not.
    statistic, p_value : float
        NaN where the test cannot be done or has none. p is two-sided.
    df : float or tuple of float
        Degrees of freedom; NaN where there are none.
    estimate, low, high : float
        Difference of the scores, first learner minus second, and its interval; NaN where the test has none.
    probabilities : tuple of float or None
        Bayesian test only: P(difference < -rope), P(within), P(difference > rope).
    """

    test: str
    applies: bool
    reason: str
    statistic: float = np.nan
    df: float | tuple = np.nan
    p_value: float = np.nan
    estimate: float = np.nan
    low: float = np.nan
    high: float = np.nan
    probabilities: tuple | None = None


class Comparison(NamedTuple):
    """Result of `compare`; ``str()`` of it is a table to read."""

    names: tuple
    design: str
    shape: str
    level: float
    rows: list

    def row(self, test):
        """The row of the test of this name."""
        found = {row.test: row for row in self.rows}
        if test not in found:
            raise ValueError(f"test={test!r} is not in this comparison; it has {', '.join(found)}")
        return found[test]

    def __str__(self):
        lines = [f"{' - '.join(self.names) if len(self.names) == 2 else ', '.join(self.names)}: {self.shape}"]
        for applies, title in ((True, "These apply:"), (False, "These do not:")):
            chosen = [row for row in self.rows if row.applies is applies]
            if chosen:
                lines += ["", title]
            texts = [(row.test + _numbers(row, self.level), row.reason, row.test) for row in chosen]
            for reason, same in groupby(texts, key=lambda text: text[1]):
                same = list(same)
                bare = [head == test for head, _, test in same]
                # tests without figures that share a reason stand in one line
                lines += [f"  {', '.join(text[0] for text in same)}"] if all(bare) else [f"  {text[0]}" for text in same]
                lines.append(fill(reason, 110, initial_indent="      ", subsequent_indent="      "))
        return "\n".join(lines)


def compare(
    scores_a,
    scores_b=None,
    *,
    design,
    names=None,
    n_train=None,
    n_test=None,
    correct_a=None,
    correct_b=None,
    same_folds=True,
    rope=0.0,
    level=0.95,
):
    """Say which tests apply to a comparison of learners and why the others do not, with the figures of all that can be computed.

    Parameters
    ----------
    scores_a, scores_b : array-like
        ``design="folds"``: scores of two learners on one data set, each of shape (r, k), r repetitions of k folds, or (k,). k = 1
        is repeated hold-out. ``design="datasets"`` or ``"sources"``: scores_a of shape (n_blocks, n_learners), one number for
        every data set or source, averaged over its folds and repetitions; or two learners as scores_a and scores_b of shape
        (n_blocks,).
    design : {"folds", "datasets", "sources"}
        What a score stands for. ``sources``: one score for each source left out.
    names : sequence of str, optional
        Names of the learners; "a", "b", ... unless given.
    n_train, n_test : float, optional
        Rows in a training and in a test part, for folds; k - 1 and 1 unless given. Needed for repeated hold-out.
    correct_a, correct_b : array-like of shape (r, n) or (n,), bool or 0/1, optional
        Whether each learner got each row right in each repetition, for folds.
    same_folds : bool, default=True
        Whether both learners were trained and tested on the same folds. If not, the shapes of the scores may differ.
    rope : float, default=0.0
        Half-width of the region of practical equivalence, in units of the score.
    level : float, default=0.95
        Level of the intervals.

    Returns
    -------
    comparison : Comparison
        With one row per test. More than two learners: Friedman's test, and Wilcoxon's of every pair with p corrected by Holm (the
        intervals are not).

    Raises
    ------
    ValueError
        If the design is unknown, an argument does not go with it, a shape is wrong, or a score is not finite.

    References
    ----------
    .. [1] Dietterich, T. G. (1998). Approximate statistical tests for comparing supervised classification learning algorithms.
    Neural Computation 10,
           1895-1923.
    .. [2] Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52, 239-281.
    .. [3] Demsar, J. (2006). Statistical comparisons of classifiers over multiple data sets. JMLR 7, 1-30.
    .. [4] Benavoli, A., Corani, G. and Mangili, F. (2016). Should we really use post-hoc tests based on mean-ranks? JMLR 17(5),
    1-10.
    .. [5] Wong, T.-T. (2015). Performance evaluation of classification algorithms by k-fold and leave-one-out cross validation.
    Pattern Recognition 48,
           Theorems 2 and 4.
    """
    if design not in DESIGNS:
        raise ValueError(f"design={design!r} must be 'folds', 'datasets' or 'sources': what a score stands for")
    if not 0 < level < 1:
        raise ValueError(f"level={level!r} must be between 0 and 1, e.g. 0.95")
    if design != "folds":
        given = {"n_train": n_train, "n_test": n_test, "correct_a": correct_a, "correct_b": correct_b}
        wrong = [name for name, value in given.items() if value is not None]
        if wrong:
            raise ValueError(f"{', '.join(wrong)} cannot be used with design={design!r}; they are for the folds of one data set")
        scores = _block_scores(scores_a, scores_b)
        names = _names(names, scores.shape[1])
        shape = f"{scores.shape[1]} learners on {scores.shape[0]} {BLOCKS[design]}"
        return Comparison(names, design, shape, level, _block_rows(scores, names, design, level))
    if scores_b is None:
        raise ValueError("scores_b is missing; design='folds' compares two learners, each with scores of shape (r, k)")
    a, b = _fold_scores(scores_a, "scores_a"), _fold_scores(scores_b, "scores_b")
    if same_folds and a.shape != b.shape:
        raise ValueError(
            f"scores_a and scores_b have shapes {a.shape} and {b.shape}; on the same folds they are equal (else same_folds=False)"
        )
    rows = _fold_rows(a, b, n_train, n_test, same_folds, rope, level) + _instance_rows(correct_a, correct_b, a.shape, level)
    blocks = f"its blocks must be independent, data sets or sources; the {a.size} results here are about the rows of one data set"
    rows += [Row(test, False, blocks) for test in ("Wilcoxon signed ranks", "Friedman", "Iman-Davenport F")]
    names = _names(names, 2)
    shape = f"one data set, {_shape(a.shape)}" + ("" if same_folds else f" and {_shape(b.shape)}, different ones")
    return Comparison(names, design, shape, level, rows)


def _fold_rows(a, b, n_train, n_test, same_folds, rope, level):
    """Rows of the tests that work on the scores of the folds."""
    tests = [
        "paired t over folds",
        "Wong's matched t over folds",
        "Nadeau-Bengio corrected t",
        "Bayesian correlated t",
        "5x2cv t",
        "5x2cv F",
    ]
    r, k = a.shape
    overlap = _overlap(k, n_train, n_test, r * k)
    if not same_folds:
        reason = "the learners were tested on different folds, so there is nothing to pair; run both on the same folds"
        return [Row(test, False, reason, estimate=float(a.mean() - b.mean())) for test in tests]
    d = a - b
    if d.size < 2:
        reason = "a single result has no spread to compare with; repeat, or use several folds"
        return [Row(test, False, reason, estimate=float(d.mean())) for test in tests]
    naive = paired_t(d, level=level)
    same = _training_overlap(r, k)
    repeated = f"; the {r} repetitions test the same rows again and would be counted as independent" if r > 1 else ""
    rows = [Row(tests[0], False, f"{same}: the variance is too small and p too small{repeated}", *naive[:6])]
    if r == 1 and k > 1:
        reason = f"its fold accuracies are taken for independent (Wong's Proposition 1), but {same}"
        reason += "; the figures are those of the paired t"
        rows.append(Row(tests[1], False, reason, *naive[:6]))
    else:
        rows.append(Row(tests[1], False, f"it is for one partition into k folds; here are {_shape(a.shape)}"))
    constant = "; all differences are the same, so p says nothing" if naive.standard_error == 0 else ""
    never = f"; {r} repetitions are not {r} independent experiments, and this term does not shrink with them" if r > 1 else ""
    reason = (
        f"the variance s2 (1/{d.size} + {overlap:.4g}) allows for the shared training rows by its second term{never}{constant}"
    )
    rows.append(Row(tests[2], True, reason, *nadeau_bengio(d, 1.0, overlap, level=level)[:6]))
    rho = overlap / (1 + overlap)
    posterior = bayesian_correlated_t(d, rho, rope)
    region = (
        f"within means differences up to {rope:g}"
        if rope > 0
        else "no region of practical equivalence is given (rope=0), so it asks only for the sign"
    )
    reason = f"the same variance, rho = {rho:.4g}, read as a posterior; {region}{never}{constant}"
    low, high = posterior.interval(level)
    rows.append(
        Row(
            tests[3],
            True,
            reason,
            df=posterior.df,
            estimate=posterior.mean,
            low=low,
            high=high,
            probabilities=tuple(posterior[:3]),
        )
    )
    if (r, k) == (5, 2):
        t, f = t_5x2cv(d), f_5x2cv(d)
        reason = "five repetitions of two folds; it rests on the first difference alone, so prefer the F, which uses all ten"
        rows.append(Row(tests[4], True, reason + constant, t.statistic, t.df, t.p_value, t.estimate))
        rows.append(Row(tests[5], True, f"five repetitions of two folds{constant}", f.statistic, f.df, f.p_value, f.estimate))
    else:
        reason = f"it needs five repetitions of two folds; here are {_shape(a.shape)}"
        rows += [Row(test, False, reason) for test in tests[4:]]
    return rows


def _instance_rows(correct_a, correct_b, shape, level):
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
    all_of_them = mcnemar(x_a, x_b, level=level)
    test = mcnemar(x_a[0], x_b[0], level=level)
    n, (r, k) = x_a.shape[1], shape
    first = each = ""
    if r > 1:
        shared = f"would count every row {r} times" if k > 1 else "would count the rows that they share several times"
        first = f"; by the first of {r} repetitions: adding them up {shared} as independent"
        each = f" (p of each from {_p(all_of_them.p_value.min())} to {_p(all_of_them.p_value.max())})"
    reason = (
        f"exact; every row is tested once by both ({test.only_a} right for the first learner only, {test.only_b} for the second "
        f"only). "
        f"It is about the models trained here: how results vary with the training set is left out{first}{each}"
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
    return [*rows, Row(tests[1], k == n and enough, reason + first, *paired_t(y, level=level)[:6])]


def _block_rows(scores, names, design, level):
    """Rows of a comparison over data sets or sources."""
    n, k = scores.shape
    blocks = BLOCKS[design]
    rows = []
    if k == 2:
        test = paired_t(scores[:, 0] - scores[:, 1], level=level)
        if design == "datasets":
            reason = "differences on different data sets are not on one scale, and a single outlier decides (Demsar 2006, 3.1.2)"
        else:
            reason = "one task, so one scale; about a new source. "
            reason += "Training sets share the other sources, so its error is somewhat too small"
            reason += f"; {n} sources are few" if n < FEW_SOURCES else ""
        rows.append(Row(f"paired t over {blocks}", design == "sources", reason, *test[:6]))
    else:
        rows.append(Row(f"paired t over {blocks}", False, f"it is for two learners; here are {k}"))
    reason = f"it is for the folds of one data set; here a score stands for one of {n} {blocks}"
    rows += [Row(t, False, reason) for t in ("Nadeau-Bengio corrected t", "Bayesian correlated t", "5x2cv t", "5x2cv F")]
    reason = f"it is for the rows of one data set; here a score stands for one of {n} {blocks}"
    rows += [Row(test, False, reason) for test in ("McNemar", "Wong's matched t over folds", "Wong's matched t over rows")]
    independent = (
        "data sets are independent blocks"
        if design == "datasets"
        else "sources are blocks of their own, although their training sets share the others"
    )
    least = 2.0 ** (1 - n)
    small = f"; with {n} {blocks} p cannot be below {least:.3g}" if least > 1 - level else ""
    pairs = list(combinations(range(k), 2))
    results = [wilcoxon_signed_ranks(scores[:, i], scores[:, j]) for i, j in pairs]
    for (i, j), result, p in zip(pairs, results, adjust_p([result.p_value for result in results], "holm")):
        test = "Wilcoxon signed ranks" if k == 2 else f"Wilcoxon signed ranks: {names[i]} - {names[j]}"
        several = f"; p corrected by Holm for {len(pairs)} pairs" if k > 2 else ""
        reason = f"{independent}; {result.method}{several}{small}"
        rows.append(
            Row(test, True, reason, result.r_plus, np.nan, float(p), *_hodges_lehmann(scores[:, i] - scores[:, j], level))
        )
    test = friedman(scores)
    role = "with two learners it is the sign test; Wilcoxon's finds more" if k == 2 else "it asks whether any learner differs"
    rough = "" if n > 10 and k > 5 else f"; the chi-square is rough with {n} {blocks} and {k} learners, see the F"
    rows.append(Row("Friedman", True, f"{independent}; {role}{rough}", test.chi2, test.df, test.p_chi2))
    rows.append(
        Row("Iman-Davenport F", True, f"{independent}; Friedman's statistic, less conservative", test.f, test.df_f, test.p_f)
    )
    return rows


def _hodges_lehmann(d, level):
    """Median of the means of all pairs, with the interval of the values that Wilcoxon's exact test (without ties) does not
    reject."""
    n = len(d)
    if n > LARGEST_EXACT:
        return float(np.median(d)), np.nan, np.nan
    i, j = np.triu_indices(n)
    means = np.sort((d[i] + d[j]) / 2)
    rejected = int((rank_sum_p(np.arange(len(means) // 2 + 1), n) <= 1 - level).sum())
    low, high = (means[rejected - 1], means[-rejected]) if rejected else (-np.inf, np.inf)
    return float(np.median(means)), float(low), float(high)


def _overlap(k, n_train, n_test, size):
    """n_test / n_train of a partition."""
    if (n_train is None) != (n_test is None):
        raise ValueError(f"n_train={n_train!r} and n_test={n_test!r} must both be given or neither")
    if n_train is None:
        if k == 1 and size > 1:
            raise ValueError(
                "n_train and n_test are missing; repeated hold-out (k = 1) needs the sizes of its training and test parts"
            )
        return 1 / max(k - 1, 1)
    for name, value in (("n_train", n_train), ("n_test", n_test)):
        if not (np.ndim(value) == 0 and 0 < value < np.inf):
            raise ValueError(f"{name}={value!r} must be a positive number of rows (the mean where folds differ)")
    return n_test / n_train


def _training_overlap(r, k):
    if k == 1:
        return "the training parts of repeated hold-out share rows"
    if k == 2:
        return "each of the two folds is trained on what the other is tested on"
    return f"any two training sets of a partition share {(k - 2) / (k - 1):.0%} of their rows, so folds are not independent"


def _fold_scores(scores, name):
    scores = np.asarray(scores, dtype=np.float64)
    folds = scores[None, :] if scores.ndim == 1 else scores
    if folds.ndim != 2 or folds.size == 0:
        raise ValueError(f"{name} has shape {scores.shape}; expected (r, k), k folds of r repetitions, or (k,)")
    _check_finite(folds, name)
    return folds


def _block_scores(scores_a, scores_b):
    scores = np.asarray(scores_a, dtype=np.float64)
    if scores_b is not None:
        other = np.asarray(scores_b, dtype=np.float64)
        if scores.ndim != 1 or scores.shape != other.shape:
            raise ValueError(
                f"scores_a and scores_b have shapes {scores.shape} and {other.shape}; expected (n_blocks,) twice: one score for "
                f"every block, "
                "averaged over folds and repetitions, which are not blocks"
            )
        scores = np.stack([scores, other], axis=1)
    if scores.ndim != 2 or min(scores.shape) < 2:
        raise ValueError(
            f"scores_a has shape {scores.shape}; expected (n_blocks, n_learners), two or more of both: one score for every "
            f"block, "
            "averaged over folds and repetitions, which are not blocks"
        )
    _check_finite(scores, "scores_a")
    return scores


def _check_finite(scores, name):
    bad = ~np.isfinite(scores)
    if bad.any():
        first = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(
            f"{name} has {bad.sum()} NaN or infinite values, the first at {first}; leave them out for all learners alike"
        )


def _names(names, k):
    names = tuple(f"{name}" for name in (names if names is not None else (_letter(i) for i in range(k))))
    if len(names) != k or len(set(names)) != k:
        raise ValueError(
            f"names has {len(names)} names, {len(set(names))} of them different; expected {k}, one for every learner"
        )
    return names


def _letter(i):
    return chr(ord("a") + i) if i < 26 else f"learner {i + 1}"


def _shape(shape):
    r, k = shape
    if k == 1:
        return f"hold-out, {r} times" if r > 1 else "hold-out, once"
    return f"{r} x {k} folds" if r > 1 else f"{k} folds"


def _numbers(row, level):
    parts = []
    if not np.isnan(row.statistic):
        df = "" if np.ndim(row.df) == 0 and np.isnan(row.df) else f" (df {', '.join(f'{x:g}' for x in np.atleast_1d(row.df))})"
        parts.append(f"statistic {row.statistic:.4g}{df}")
    if not np.isnan(row.p_value):
        parts.append(f"p {_p(row.p_value)}")
    if row.probabilities:
        parts.append("P(smaller) {:.3f}, P(within) {:.3f}, P(larger) {:.3f}".format(*row.probabilities))
    if not np.isnan(row.estimate):
        interval = "" if np.isnan(row.low) else f" [{row.low:.4g}, {row.high:.4g}] at {level:g}"
        parts.append(f"difference {row.estimate:.4g}{interval}")
    return ": " + ", ".join(parts) if parts else ""


def _p(p):
    return f"{p:.4f}" if p >= 0.0001 else f"{p:.1e}"
