"""Generated calls of public functions against other libraries: `python tests/fuzz/fuzz_calls.py --calls 50000 --seed 0`.

Call i depends on (seed, i) only. Values are drawn with ties, equal values and odd magnitudes; arrays are handed to foldshift in
any of the forms that people have (lists, series, strided, read-only, big-endian, nullable), and plain to the reference: SciPy,
scikit-learn, statsmodels where it is installed, or a few lines of Python. Counted by function: equal, refused (by us, in our own
words), undefined (the reference gives no number, or warns that it cannot), and different, which is a fault. Exit code 1 if there
was one.
"""

import argparse
import sys
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy import stats
from sklearn import metrics
from sklearn import model_selection as ms
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from foldshift import evaluation, inference, partition, shift
from foldshift.learners import LDAClassifier

try:
    from statsmodels.stats import contingency_tables, multitest, proportion
except ImportError:  # no dependency: its share of the calls is left out
    proportion = None

CHECKS = {}


def check(function):
    """Register a check: it takes a random generator and yields (what, ours, reference)."""
    CHECKS[function.__name__] = function
    return function


# ---- values and forms ----


def values(rng, n, *, ties=True):
    """Draw n numbers: continuous, on a coarse grid, nearly or all equal, of any magnitude."""
    kind = rng.integers(5 if ties else 1)
    if kind == 0:
        drawn = rng.normal(size=n)
    elif kind == 1:
        drawn = rng.integers(-3, 4, n) / 4
    elif kind == 2:
        drawn = rng.normal(size=n).round(1)
    elif kind == 3:
        drawn = rng.integers(0, 10, n).astype(float)
    else:
        drawn = rng.choice([0.5, 0.75], n)
    return drawn * 2.0 ** rng.integers(-20, 20) if rng.random() < 0.3 else drawn


def dressed(rng, array):
    """The same content in another form."""
    array = np.asarray(array)
    form = rng.integers(9)
    if form == 0:
        return array.tolist()
    if form == 1:
        return pd.Series(array) if array.ndim == 1 else pd.DataFrame(array) if array.ndim == 2 else array
    if form == 2:
        wide = np.empty((2 * len(array), *array.shape[1:]), array.dtype)
        wide[::2] = array
        return wide[::2]
    if form == 3:
        array = array.copy()
        array.flags.writeable = False
        return array
    if form == 4:
        return array.astype(array.dtype.newbyteorder(">"))
    if form == 5:
        return array.astype(object)
    if form == 6 and array.ndim == 1:
        return pd.Series(array).convert_dtypes()
    if form == 7:
        return np.ma.array(array, mask=False)
    return array


def pair(rng, least=2, most=30):
    n = int(rng.integers(least, most + 1))
    a = values(rng, n)
    b = a + values(rng, n) if rng.random() < 0.5 else values(rng, n)
    return a, b


def differences(a, b):
    """Differences in units of the largest value, 0 where they are rounding; None where that is a matter of opinion."""
    d = (a - b) / max(np.abs(a).max(), np.abs(b).max(), 1e-300)
    size = np.sort(np.abs(d))
    apart = np.r_[size, np.diff(size)]
    return None if ((apart > 1e-13) & (apart < 1e-11)).any() else np.where(np.abs(d) <= 1e-12, 0, d)


def folds_of(rng, n, n_folds, *, untested=True):
    """Draw the folds of n rows, none of them empty; some rows may be in none."""
    folds = rng.permutation(np.arange(n) % n_folds)
    if untested and rng.random() < 0.3:
        gone = rng.permutation(n)[: n // 5]
        gone = [row for row in gone if (folds == folds[row]).sum() > 2]
        for row in gone:
            if (folds == folds[row]).sum() > 2:
                folds[row] = -1
    return folds


# ---- tests of two or more learners ----


@check
def paired_t(rng):
    a, b = pair(rng)
    d = a - b
    ours = inference.paired_t(dressed(rng, d))
    theirs = stats.ttest_1samp(d, 0)
    ends = theirs.confidence_interval(0.95)
    yield "t", ours.statistic, theirs.statistic
    yield "p", ours.p_value, theirs.pvalue
    yield "interval", (ours.low, ours.high), (ends.low, ends.high)


@check
def nadeau_bengio(rng):
    r, k = rng.integers(1, 5), rng.integers(2, 11)
    d = values(rng, r * k)
    ours = inference.nadeau_bengio(dressed(rng, d.reshape(r, k)), n_train=k - 1, n_test=1)
    error = np.sqrt(d.var(ddof=1) * (1 / len(d) + 1 / (k - 1)))
    t = d.mean() / error if error > 0 else np.nan
    yield "t", ours.statistic, t
    yield "p", ours.p_value, 2 * stats.t.sf(abs(t), len(d) - 1)
    posterior = inference.bayesian_correlated_t(dressed(rng, d.reshape(r, k)), 1 / k, 0.0)
    yield "posterior", posterior.right, stats.t.cdf(t, len(d) - 1)


@check
def five_by_two(rng):
    d = values(rng, 10).reshape(5, 2)
    s2 = d.var(axis=1, ddof=1)
    t = d[0, 0] / np.sqrt(s2.mean()) if s2.sum() > 0 else np.nan
    f = (d**2).sum() / (2 * s2.sum()) if s2.sum() > 0 else np.nan
    yield "t", inference.t_5x2cv(dressed(rng, d)).p_value, 2 * stats.t.sf(abs(t), 5)
    yield "F", inference.f_5x2cv(dressed(rng, d)).p_value, stats.f.sf(f, 10, 5)


@check
def wilcoxon_signed_ranks(rng):
    a, b = pair(rng, 1, 12)
    ours = inference.wilcoxon_signed_ranks(dressed(rng, a), dressed(rng, b))
    d = differences(a, b)
    if d is None:
        return
    size = np.abs(d)
    order = np.argsort(size)
    size[order] = np.cumsum(np.diff(size[order], prepend=size[order[0]]) > 1e-12)  # differences by rounding are ties
    ranks = stats.rankdata(size)
    halves = ranks[d == 0].sum() / 2
    yield "R+", (ours.r_plus, ours.r_minus), (ranks[d > 0].sum() + halves, ranks[d < 0].sum() + halves)
    moving = ranks[d != 0]
    signs = (np.arange(2 ** len(moving))[:, None] >> np.arange(len(moving))) & 1
    sums = signs @ moving + halves
    smaller = min(ours.r_plus, ours.r_minus)
    yield "p by all signs", ours.p_value, min(1.0, 2 * np.mean(sums <= smaller + 1e-9))
    if len(np.unique(size)) == len(d) and (d != 0).all():
        yield "p", ours.p_value, stats.wilcoxon(d, method="exact").pvalue


@check
def sign_test(rng):
    a, b = pair(rng)
    ours = inference.sign_test(dressed(rng, a), dressed(rng, b))
    d = differences(a, b)
    if d is None:
        return
    wins, losses = int((d > 0).sum()), int((d < 0).sum())
    yield "counts", (ours.wins, ours.losses), (wins, losses)
    if wins + losses:
        theirs = stats.binomtest(wins, wins + losses)
        ends = theirs.proportion_ci(0.95, "exact")
        yield "p", ours.p_value, theirs.pvalue
        yield "interval", (ours.low, ours.high), (ends.low, ends.high)


@check
def mcnemar(rng):
    n = int(rng.integers(1, 60))
    x = (rng.random((2, n)) < rng.random((2, 1))).astype(int)
    method = rng.choice(["exact", "mid_p", "asymptotic", "corrected"])
    ours = inference.mcnemar(*(dressed(rng, row) for row in x), method=str(method))
    b, c = int((x[0] > x[1]).sum()), int((x[1] > x[0]).sum())
    if method in ("exact", "mid_p"):
        exact = stats.binomtest(b, b + c).pvalue if b + c else 1.0
        yield (
            "p",
            ours.p_value,
            exact
            if method == "exact" or not b + c
            else exact - stats.binom.pmf(b, b + c, 0.5) + (0 if b != c else stats.binom.pmf(b, b + c, 0.5) / 2 + 1 - exact),
        )
    if proportion and method in ("exact", "asymptotic") and b + c:
        table = [[int((x[0] & x[1]).sum()), b], [c, int(((1 - x[0]) & (1 - x[1])).sum())]]
        theirs = contingency_tables.mcnemar(table, exact=method == "exact", correction=False)
        yield f"statsmodels, {method}", ours.p_value, theirs.pvalue


@check
def friedman(rng):
    n, k = rng.integers(2, 12), rng.integers(3, 6)
    scores = values(rng, n * k).reshape(n, k)
    ours = inference.friedman(dressed(rng, scores), distribution="approximation")
    theirs = stats.friedmanchisquare(*scores.T)
    yield "chi-square", ours.chi2, theirs.statistic
    yield "p", ours.p_chi2, theirs.pvalue


@check
def kruskal_wallis(rng):
    a, b = values(rng, rng.integers(1, 20)), values(rng, rng.integers(1, 20))
    ours = shift.kruskal_wallis(dressed(rng, a), dressed(rng, b))
    if len(np.unique(np.r_[a, b])) > 1:
        theirs = stats.kruskal(a, b)
        yield "H", ours.statistic, theirs.statistic
        yield "p", ours.p_value, theirs.pvalue


@check
def matched_and_independent(rng):
    k = int(rng.integers(2, 11))
    m = int(rng.integers(10, 40))
    r_a, r_b = rng.integers(0, m + 1, (2, k))
    ours = inference.compare_matched(dressed(rng, r_a), dressed(rng, r_b), m)
    yield "matched", ours.p_value, stats.ttest_rel(r_a / m, r_b / m).pvalue
    t = inference.compare_independent(dressed(rng, r_a), m, dressed(rng, r_b), m, test="t")
    yield "Welch", t.p_value, stats.ttest_ind(r_a / m, r_b / m, equal_var=False).pvalue
    if proportion:
        z = inference.compare_independent(dressed(rng, r_a), m, dressed(rng, r_b), m)
        yield "z", z.p_value, proportion.proportions_ztest([r_a.sum(), r_b.sum()], [m * k, m * k])[1]


@check
def adjust_p(rng):
    p = rng.random(rng.integers(1, 20)) ** 3
    method = str(rng.choice(["bh", "holm"]))
    ours = shift.adjust_p(dressed(rng, p), method)
    order = np.argsort(p)
    m = len(p)
    steps = p[order] * (np.arange(m, 0, -1) if method == "holm" else m / np.arange(1, m + 1))
    steps = np.maximum.accumulate(steps) if method == "holm" else np.minimum.accumulate(steps[::-1])[::-1]
    theirs = np.empty(m)
    theirs[order] = np.minimum(steps, 1)
    yield method, ours, theirs
    if proportion:
        yield "statsmodels", ours, multitest.multipletests(p, method={"bh": "fdr_bh", "holm": "holm"}[method])[1]


# ---- intervals ----


@check
def accuracy_interval(rng):
    n = int(rng.integers(1, 200))
    r = int(rng.integers(0, n + 1))
    for method, name in (("wilson", "wilson"), ("clopper-pearson", "exact")):
        ours = inference.accuracy_interval(r, n, method=method)
        ends = stats.binomtest(r, n).proportion_ci(0.95, name)
        yield method, (ours.low, ours.high), (ends.low, ends.high)
    if proportion:
        ours = inference.accuracy_interval(dressed(rng, np.array([r])), n, method="normal")
        low, high = r / n - (half := stats.norm.ppf(0.975) * np.sqrt(r / n * (1 - r / n) / n)), r / n + half
        yield "normal", (ours.low, ours.high), (low, high)
        yield (
            "statsmodels",
            inference.accuracy_interval(r, n, method="wilson").low,
            proportion.proportion_confint(r, n, 0.05, "wilson")[0],
        )


@check
def two_proportion(rng):
    n, m = rng.integers(5, 80, 2)
    a, b = (rng.random(n) < rng.random()).astype(int), (rng.random(m) < rng.random()).astype(int)
    ours = shift.two_proportion(dressed(rng, a), dressed(rng, b))
    pooled = np.r_[a, b].mean()
    if min(n, m) * min(pooled, 1 - pooled) < 5:
        yield "Fisher", ours.p_value, stats.fisher_exact([[a.sum(), n - a.sum()], [b.sum(), m - b.sum()]])[1]
    elif proportion:
        yield "z", ours.p_value, proportion.proportions_ztest([a.sum(), b.sum()], [n, m])[1]
    if proportion:
        ends = proportion.confint_proportions_2indep(a.sum(), n, b.sum(), m, method="newcomb")
        yield "interval", (ours.low, ours.high), ends


@check
def cv_intervals(rng):
    k = int(rng.integers(2, 8))
    n = int(rng.integers(3 * k, 60))
    folds, losses = folds_of(rng, n, k), values(rng, n)
    ours = inference.cv_intervals(losses=dressed(rng, losses), folds=dressed(rng, folds))
    parts = [losses[folds == fold] for fold in range(k)]
    means = np.array([part.mean() for part in parts])
    S2 = means.var(ddof=1)
    t = stats.t.ppf(0.975, k - 1)
    yield "S2/K", (ours["S2/K"].low, ours["S2/K"].high), (means.mean() - t * np.sqrt(S2 / k), means.mean() + t * np.sqrt(S2 / k))
    half = t * np.sqrt(S2 * (1 / k + 1 / (k - 1)))
    yield "Nadeau-Bengio", (ours["Nadeau-Bengio"].low, ours["Nadeau-Bengio"].high), (means.mean() - half, means.mean() + half)
    every = np.concatenate(parts)
    half = stats.norm.ppf(0.975) * np.sqrt(every.var() / len(every))
    yield "all pairs", (ours["all pairs"].low, ours["all pairs"].high), (every.mean() - half, every.mean() + half)
    within = np.mean([part.var(ddof=1) / len(part) for part in parts]) / k
    half = stats.norm.ppf(0.975) * np.sqrt(within)
    yield "theta_A", (ours["theta_A"].low, ours["theta_A"].high), (means.mean() - half, means.mean() + half)


@check
def loss_difference_interval(rng):
    k = int(rng.integers(2, 8))
    n = int(rng.integers(3 * k, 60))
    folds, (a, b) = folds_of(rng, n, k), (values(rng, n), values(rng, n))
    ours = inference.loss_difference_interval(dressed(rng, a), dressed(rng, b), dressed(rng, folds))
    parts = [(a - b)[folds == fold] for fold in range(k)]
    every = np.concatenate(parts)
    variance = sum(len(part) * part.var(ddof=1) for part in parts) / len(every)
    half = stats.norm.ppf(0.975) * np.sqrt(variance / len(every))
    yield "interval", (ours.estimate, ours.low, ours.high), (every.mean(), every.mean() - half, every.mean() + half)


@check
def auc_interval(rng):
    k = int(rng.integers(2, 5))
    n = int(rng.integers(12, 60))
    folds, y, scores = folds_of(rng, n, k), rng.integers(0, 2, n), values(rng, n)
    areas = [metrics.roc_auc_score(y[folds == f], scores[folds == f]) for f in range(k) if len(np.unique(y[folds == f])) == 2]
    if areas and len(np.unique(y[folds >= 0])) == 2:
        ours = inference.auc_interval(dressed(rng, y), dressed(rng, scores), dressed(rng, folds))
        yield "area", ours.estimate, np.mean(areas)
        yield "folds", ours.n_folds, len(areas)


@check
def cv_variance(rng):
    k, m = rng.integers(2, 7), rng.integers(2, 9)
    losses = values(rng, k * m).reshape(k, m)
    ours = inference.cv_variance(dressed(rng, losses))
    yield "W", ours.W, losses.var(axis=1, ddof=1).mean()
    yield "S2", ours.S2, losses.mean(axis=1).var(ddof=1)
    yield "mean", ours.mean, losses.mean()


@check
def converged_after(rng):
    runs = values(rng, 40, ties=False).reshape(10, 4) + rng.normal(size=4) * 3
    ours = inference.converged_after(dressed(rng, runs), threshold=0.999)
    sums = np.cumsum(runs, axis=0)
    reached = [i + 2 for i in range(9) if np.corrcoef(sums[i], sums[i + 1])[0, 1] >= 0.999]
    yield "runs", -1 if ours is None else ours, reached[0] if reached else -1


# ---- shift ----


@check
def ks_statistic(rng):
    a, b = values(rng, rng.integers(1, 25)), values(rng, rng.integers(1, 25))
    theirs = stats.ks_2samp(a, b, method="exact")
    yield "D", shift.ks_statistic(dressed(rng, a), dressed(rng, b)), theirs.statistic
    yield "p", shift.ks_p_value(float(theirs.statistic), len(a), len(b), "exact"), theirs.pvalue


@check
def ks_features(rng):
    a, b = values(rng, 30).reshape(10, 3), values(rng, 24).reshape(8, 3)
    ours = shift.ks_features(dressed(rng, a), dressed(rng, b))
    yield "D", ours.statistic, [stats.ks_2samp(a[:, j], b[:, j]).statistic for j in range(3)]
    yield "one-sided", ours.greater, [stats.ks_2samp(a[:, j], b[:, j], alternative="greater").statistic for j in range(3)]


@check
def hellinger(rng):
    a, b = (rng.integers(0, 6, rng.integers(1, 30)) for _ in range(2))
    share = [np.array([(part == value).mean() for value in range(6)]) for part in (a, b)]
    wanted = np.sqrt(((np.sqrt(share[0]) - np.sqrt(share[1])) ** 2).sum())
    yield "categories", shift.hellinger(dressed(rng, a), dressed(rng, b), categorical=True), wanted
    x, z = rng.normal(size=20), rng.normal(size=30)
    edges = np.histogram_bin_edges(np.r_[x, z], 7)
    share = [np.histogram(part, edges)[0] / len(part) for part in (x, z)]
    wanted = np.sqrt(((np.sqrt(share[0]) - np.sqrt(share[1])) ** 2).sum())
    yield "bins", shift.hellinger(dressed(rng, x), dressed(rng, z), bins=7), wanted


@check
def fold_measures(rng):
    k = int(rng.integers(2, 6))
    n = int(rng.integers(3 * k, 50))
    y, folds = values(rng, n), folds_of(rng, n, k)
    parts = [(y[folds != fold], y[folds == fold]) for fold in range(k)]
    yield (
        "fold_ks",
        shift.fold_ks(dressed(rng, y), dressed(rng, folds), k)[0],
        [stats.ks_2samp(*part).statistic for part in parts],
    )
    attributes = shift.fold_ks_attributes(y[:, None], dressed(rng, folds), k)[0, :, 0]
    yield "attributes", attributes, [stats.ks_2samp(*part).statistic for part in parts]
    if np.ptp(y) > 0:
        scaled = (y - y.min()) / np.ptp(y)
        energy = [stats.energy_distance(scaled[folds != fold], scaled[folds == fold]) for fold in range(k)]
        yield "energy", shift.fold_covariates(y[:, None], dressed(rng, folds), k)["energy"][0], energy


@check
def energy_distance_test(rng):
    a, b = rng.normal(size=int(rng.integers(5, 15))), rng.normal(size=int(rng.integers(5, 15))) + 1
    spread = np.r_[a, b].std(ddof=1)
    ours = shift.energy_distance_test(dressed(rng, a[:, None]), dressed(rng, b[:, None]), 0, 1)
    yield "statistic", ours.statistic, stats.energy_distance(a / spread, b / spread) ** 2


@check
def chi_square(rng):
    table = rng.integers(0, 12, (int(rng.integers(2, 4)), int(rng.integers(2, 5))))
    if (table.sum(axis=1) > 0).all():
        theirs = stats.chi2_contingency(table[:, table.sum(axis=0) > 0], correction=False)
        ours = shift.chi_square(dressed(rng, table))
        yield "p", (ours.statistic, ours.p_value), (theirs.statistic, theirs.pvalue)


@check
def co_failure(rng):
    fails = rng.integers(0, 2, (int(rng.integers(4, 20)), 3))
    if (np.ptp(fails, axis=0) > 0).all():
        theirs = np.corrcoef(fails.T)[np.triu_indices(3, 1)]
        yield "phi", shift.co_failure(dressed(rng, fails)).mean, theirs.mean()


# ---- evaluation ----


@check
def classification_scores(rng):
    k, n_classes = int(rng.integers(2, 5)), int(rng.integers(2, 4))
    n = int(rng.integers(6 * k, 60))
    folds = folds_of(rng, n, k)
    y = np.r_[np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)]
    predicted = rng.integers(0, n_classes, n)
    scores = rng.dirichlet(np.ones(n_classes), n)
    ours = evaluation.classification_scores(
        dressed(rng, y), dressed(rng, predicted[None]), scores[None], dressed(rng, folds[None]), k
    )
    for fold in range(k):
        here = folds == fold
        yield "accuracy", ours["accuracy"][0, fold], metrics.accuracy_score(y[here], predicted[here])
        yield (
            "balanced",
            ours["balanced_accuracy"][0, fold],
            np.mean([(predicted[here & (y == c)] == c).mean() for c in np.unique(y[here])]),
        )
        yield "log loss", ours["log_loss"][0, fold], metrics.log_loss(y[here], scores[here], labels=range(n_classes))
        if n_classes == 2 and len(np.unique(y[here])) == 2:
            yield "area", ours["auc"][0, fold], metrics.roc_auc_score(y[here], scores[here, 1])


@check
def regression_scores(rng):
    k = int(rng.integers(2, 5))
    n = int(rng.integers(4 * k, 60))
    folds, y = folds_of(rng, n, k), values(rng, n)
    predicted = y + values(rng, n)
    ours = evaluation.regression_scores(dressed(rng, y), dressed(rng, predicted[None]), dressed(rng, folds[None]), k)
    for fold in range(k):
        here = folds == fold
        yield "rmse", ours["rmse"][0, fold], metrics.root_mean_squared_error(y[here], predicted[here])
        yield "mae", ours["mae"][0, fold], metrics.mean_absolute_error(y[here], predicted[here])
        if np.ptp(y[here]) > 0:
            yield "r2", ours["r2"][0, fold], metrics.r2_score(y[here], predicted[here])


@check
def evaluate_folds(rng):
    k = int(rng.integers(2, 5))
    n = int(rng.integers(8 * k, 50))
    X, folds = rng.normal(size=(n, 2)), folds_of(rng, n, k, untested=False)
    if rng.random() < 0.5:
        model, y = Ridge(), values(rng, n)
    else:
        model = [GaussianNB(), DecisionTreeClassifier(random_state=0), LinearDiscriminantAnalysis()][rng.integers(3)]
        y = np.r_[np.tile([0, 1], k), rng.integers(0, 2, n - 2 * k)]
        folds = partition.make_folds("SCV", None, y, k, [int(rng.integers(99))])[0]
    cv = ms.PredefinedSplit(folds)
    theirs = ms.cross_val_predict(model, X, y, cv=cv)
    yield type(model).__name__, evaluation.evaluate_folds(model, dressed(rng, X), dressed(rng, y), dressed(rng, folds))[0], theirs
    yield (
        "scores",
        evaluation.score_folds(model, X, dressed(rng, y), dressed(rng, folds))[0],
        ms.cross_val_score(model, X, y, cv=cv),
    )
    if isinstance(model, LinearDiscriminantAnalysis):
        yield "our LDA", evaluation.evaluate_folds(LDAClassifier(), X, y, folds)[0], theirs


# ---- cuts ----


@check
def guarantees(rng):
    n, k = int(rng.integers(12, 60)), int(rng.integers(2, 6))
    X, y, classes = rng.normal(size=(n, 2)), values(rng, n), rng.integers(0, 3, n)
    groups = rng.integers(0, max(k, n // 3), n)
    seed = int(rng.integers(1000))
    name = str(rng.choice(["SCV", "DB-SCV", "DOB-SCV", "MS-SCV", "CB-SCV", "TSCV", "SCV4", "CV", "CB-TSCV"]))
    of_classes = name not in ("TSCV", "SCV4", "CV", "CB-TSCV")
    target = classes if of_classes else y
    folds = partition.make_folds(name, dressed(rng, X), dressed(rng, target), k, [seed])[0]
    sizes = np.bincount(folds, minlength=k)
    yield f"{name} tests every row once", (len(folds), folds.max() < k), (n, True)
    if of_classes and name != "CB-SCV":
        counts = np.array([np.bincount(folds[classes == c], minlength=k) for c in np.unique(classes)])
        theirs = partition.as_folds(ms.StratifiedKFold(k, shuffle=True, random_state=0), X, classes)[0]
        stratified = np.array([np.bincount(theirs[classes == c], minlength=k) for c in np.unique(classes)])
        yield f"{name} spreads classes", np.ptp(counts, axis=1).max() <= 1, True
        yield "as scikit-learn", counts.sum(axis=1), stratified.sum(axis=1)
    else:
        yield f"{name} has even folds", np.ptp(sizes) <= 1, True
    if len(np.unique(groups)) >= k:
        grouped = partition.make_folds("CB-CV", X, None, k, [seed], groups=dressed(rng, groups))[0]
        yield "groups stay whole", all(len(set(grouped[groups == g])) == 1 for g in np.unique(groups)), True
    cv = ms.RepeatedKFold(n_splits=k, n_repeats=2, random_state=seed)
    made = partition.as_folds(cv, X)
    parts = [np.flatnonzero(row == fold) for row in made for fold in range(k)]
    yield "as_folds", np.concatenate(parts), np.concatenate([test for _, test in cv.split(X)])


# ---- the driver ----


@dataclass
class Counts:
    """Outcomes of one check."""

    outcomes: Counter = field(default_factory=Counter)
    seconds: float = 0.0


def verdict(ours, theirs):
    """Compare a result with the reference; "undefined" where the reference has no number."""
    a, b = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    if a.shape != b.shape:
        return "different"
    if not np.isfinite(b).all():
        return "undefined"
    tolerance = max(1e-15, 1e-9 * np.abs(b).max(initial=0.0))  # a sum that cancels is 0 up to rounding
    return "equal" if np.allclose(a, b, rtol=1e-7, atol=tolerance) else "different"


def blame(error):
    """Tell a refusal of ours from a crash of ours, and from a reference that gives nothing."""
    frames = traceback.extract_tb(error.__traceback__)
    if not any("/foldshift/" in frame.filename for frame in frames):
        return "undefined"
    return "refused" if isinstance(error, ValueError | TypeError) and "/foldshift/" in frames[-1].filename else "different"


def run(n_calls, seed, *, show=print):
    """Make calls until there are so many; return the counts by function."""
    counts = {name: Counts() for name in CHECKS}
    names, done, i = list(CHECKS), 0, 0
    while done < n_calls:
        name = names[i % len(names)]
        rng = np.random.default_rng([seed, i])
        start = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for what, ours, theirs in CHECKS[name](rng):
                    found = verdict(ours, theirs)
                    counts[name].outcomes[found] += 1
                    done += 1
                    if found == "different":
                        show(f"call {i}, {name}, {what}: {ours} and {theirs}")
        except Exception as error:  # of any kind: a crash is a difference
            found = blame(error)
            counts[name].outcomes[found] += 1
            done += 1
            if found != "undefined":
                show(f"call {i}, {name}, {found}: {type(error).__name__}: {error}")
        counts[name].seconds += time.process_time() - start
        i += 1
    return counts


def report(counts):
    """Table of the counts by function, and the totals."""
    kinds = ("equal", "undefined", "refused", "different")
    rows = [f"{'function':<28}" + "".join(f"{kind:>11}" for kind in kinds) + "    seconds"]
    for name, one in counts.items():
        rows.append(f"{name:<28}" + "".join(f"{one.outcomes[kind]:>11}" for kind in kinds) + f"{one.seconds:>11.1f}")
    total = sum((one.outcomes for one in counts.values()), Counter())
    rows.append(f"{total.total()} calls, " + ", ".join(f"{total[kind]} {kind}" for kind in kinds))
    return "\n".join(rows), total


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--calls", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    text, total = report(run(arguments.calls, arguments.seed))
    print(text)
    return int(total["different"] + total["refused"] > 0)


if __name__ == "__main__":
    sys.exit(main())
