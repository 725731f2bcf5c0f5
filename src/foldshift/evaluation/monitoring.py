"""A classifier monitored while its test data shift: one random split, every injected shift, and what each detector says of it.

Two things that the paper leaves open are set as its printed numbers have them. Its KS is one-sided: the distribution function of the training part less that of
the test part, not the absolute difference, which is what equation 7 with two degrees of freedom is the limit of. And "the top 25 %" that MAR removes are the first
rows in ascending order, the smallest values: only then does a one-sided test that sees every translation upwards (Table 4) see every feature fail on itself (Table 2).
The kind of rows ``readings`` counts what fails under each of the four readings.
"""

import math
import warnings
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from foldshift.compiling import compiled
from foldshift.estimators import clone_with_state
from foldshift.evaluation.learner import build_learner, design_matrix
from foldshift.evaluation.scores import FAILED, OK, one_line
from foldshift.inference.roc import roc_area
from foldshift.learners.naive_bayes import NaiveBayesClassifier
from foldshift.learners.nearest_classifier import NNClassifier
from foldshift.learners.svm import platt
from foldshift.seeding import fit_states, generator
from foldshift.shift.failures import co_failure, failing
from foldshift.shift.hellinger import bin_codes, hellinger_features
from foldshift.shift.injectors import ENDS, feature_scale, versions
from foldshift.shift.ks import ks_features, ks_p_value
from foldshift.shift.statistics import (
    adjust_p,
    category_counts,
    chi_square,
    friedman_bootstrap,
    kruskal_wallis,
    skew,
    two_proportion,
)
from foldshift.shift.two_sample import classifier_two_sample, energy_distance_test, mmd

STUDY = "cieslak_2009"
SMALLEST_CLASS = 4  # rows: one or more in every part
N_BINS = 30
MOST_ROWS = 800  # of either table in the multivariate tests, whose cost grows with the square
DETECTORS = {"energy": energy_distance_test, "mmd": mmd, "c2st": classifier_two_sample}


class Condition(NamedTuple):
    """A shift of the test part: its name in tables, and kind and severity as `foldshift.shift.injectors.versions` takes them."""

    name: str
    kind: str
    severity: float


BASE = Condition("Base", "mcar", 0)
CONDITIONS = (
    BASE,
    *(Condition(f"{kind.upper()}{p}", kind, p) for kind in ("mcar", "mar", "mnar") for p in (25, 50)),
    *(Condition(f"CS{q}", "translation", q) for q in (25, 50, 100, 200)),
    *(Condition(f"P{pi}", "prior", pi / 100) for pi in (2, 5, *range(10, 80, 10))),
    *(Condition(f"MNARC{p}", "mnar_class", p) for p in (25, 50)),
)


class Split(NamedTuple):
    """Rows of the three parts, each in random order."""

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray


def split_sizes(n):
    """Rows of training, validation and test part: 50, 20 and 30 % of the rows of a class, the first two rounded up.

    Summed over classes they are Table 1 of the paper to 0.2 % of the rows (but for Compustat, which is a split by time).

    Parameters
    ----------
    n : int
        Rows of one class.

    Returns
    -------
    sizes : tuple of int

    Raises
    ------
    ValueError
        If n is below 4, so that a part would have none.
    """
    if n < SMALLEST_CLASS:
        raise ValueError(
            f"a class has {n} rows; {SMALLEST_CLASS} or more are needed for a training, a validation and a test part"
        )
    n_train, n_validation = -(-n // 2), -(-n // 5)
    return n_train, n_validation, n - n_train - n_validation


def split(y, rng):
    """Random training, validation and test part with the same share of every class.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Classes.
    rng : numpy.random.Generator

    Returns
    -------
    parts : Split

    Raises
    ------
    ValueError
        If a class has fewer than 4 rows.
    """
    parts = [[], [], []]
    for label in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == label))
        for part, piece in zip(parts, np.split(rows, np.cumsum(split_sizes(len(rows)))[:2])):
            part.append(piece)
    return Split(*(rng.permutation(np.concatenate(part)) for part in parts))


def positive_class(data, label=None):
    """Which rows are positive: those of one class, against all others.

    Parameters
    ----------
    data : foldshift.datasets.Dataset
        Classification data set.
    label : str, optional
        The positive class; by default the rarest, of several the last.

    Returns
    -------
    positive : ndarray of shape (n_samples,), dtype bool

    Raises
    ------
    ValueError
        If there is no class of this name.
    """
    if label is None:
        counts = np.bincount(data.y, minlength=len(data.classes))
        return data.y == len(counts) - 1 - np.argmin(counts[::-1])
    if str(label) not in data.classes:
        raise ValueError(f"positive_class={label!r} must be a class of data set {data.name}: {', '.join(data.classes)}")
    return data.y == data.classes.index(str(label))


def measure_repeat(
    data,
    learners,
    master_seed,
    repeat,
    *,
    positive=None,
    alpha=0.05,
    mask="median",
    removed="smallest",
    n_bootstraps=100,
    n_versions_multivariate=2,
    n_repeats_multivariate=5,
    n_permutations=200,
    progress=lambda line: None,
):
    """Split, train, shift the test part in every way, and detect: one repeat of the study on one data set.

    Parameters
    ----------
    data : foldshift.datasets.Dataset
        Classification data set, not scaled.
    learners : dict of str to dict
        Entries of the learners file by name.
    master_seed, repeat : int
        What all randomness is derived from, with the names of data set, condition and learner: rows do not depend on what else is measured.
    positive : str, optional
        The positive class; see `positive_class`.
    alpha : float, default=0.05
        Level of the tests whose failures are counted.
    mask : {"median", "missing"}, default="median"
        What a learner sees where a feature is masked: its median in the training part (the most frequent category of a nominal one), or NaN,
        at which most learners fail. Naive Bayes leaves the feature out in both.
    removed : {"smallest", "largest"}, default="smallest"
        Which values of a feature MAR, MNAR and true MNAR drop.
    n_bootstraps : int, default=100
        Bootstraps of the paper's Friedman test.
    n_versions_multivariate, n_repeats_multivariate : int
        The first versions of every condition, in the first repeats, on which the tests with permutations of rows are made.
    n_permutations : int, default=200
        Permutations of these.
    progress : callable, optional
        Called with one line of text for every condition that is refused and every learner that fails.

    Returns
    -------
    rows : dict of str to dict of str to ndarray
        ``shift``, ``readings``, ``co_failure``, ``learners``, ``multivariate``: columns by name.

    Raises
    ------
    ValueError
        If a class has fewer than 4 rows, or an argument is not allowed.

    Notes
    -----
    Numeric inputs are scaled to [0, 1] by the training part before any learner. A row is called positive where its score is above .5.
    Conditions that would leave a class with fewer than 5 rows have no rows. Nominal features are not translated.

    "Valid" p-values of a numeric feature are two-sided: exact for small samples, else asymptotic; under ties both are conservative. Those of a
    nominal one are chi-square's, in both columns.

    References
    ----------
    .. [1] Cieslak, D.A., Chawla, N.V. (2009). A framework for monitoring classifiers' performance: when and why failure occurs?
       Knowledge and Information Systems 18, 83-108.
    """
    if mask not in ("median", "missing"):
        raise ValueError(f"mask={mask!r} must be 'median' or 'missing'")
    if removed not in ENDS:
        raise ValueError(f"removed={removed!r} must be 'smallest' or 'largest'")
    y = positive_class(data, positive)
    parts = split(y, generator(master_seed, STUDY, data.name, "split", repeat))
    nominal = data.categorical_features
    train, test = data.X[parts.train], data.X[parts.test]
    y_train, y_test = y[parts.train], y[parts.test]
    scale = np.where(nominal, 0.0, feature_scale(train))
    scored = {}
    for name, spec in learners.items():
        state = fit_states(master_seed, (STUDY, data.name, name), [repeat], 1)[0, 0]
        scored[name] = learner_scores(spec, data, parts, y, scale, mask, state)
        for line in dict.fromkeys(text for text in scored[name].messages.values() if text):
            progress(f"repeat {repeat}: {name} failed: {line}")
    rows = {"shift": [], "readings": [], "co_failure": [], "learners": [], "multivariate": []}
    for condition in CONDITIONS:

        def shift_test(end, condition=condition):
            # MAR and MNAR share the draw, and so their rows.
            kind = "mar" if condition.kind == "mnar" else condition.kind
            return versions(
                test,
                y_test,
                condition.kind,
                condition.severity,
                rng=generator(master_seed, STUDY, data.name, "rows", repeat, kind, condition.severity),
                scale=scale,
                n_versions=1 if condition is BASE else None,
                positive=True,
                removed=end,
            )

        try:
            shifted = shift_test(removed)
        except ValueError as error:
            progress(f"repeat {repeat}: {condition.name} left out: {error}")
            continue
        n_versions = len(shifted.feature)

        def seed(purpose, *names, condition=condition):
            return generator(master_seed, STUDY, data.name, purpose, repeat, condition.name, *names)

        searched = range(min(n_versions_multivariate, n_versions) if repeat < n_repeats_multivariate else 0)
        tables = [_tables(train, test, shifted, version) for version in searched]
        per_version, per_condition = shift_rows(train, test, y_train, y_test, shifted, nominal, alpha)
        per_version["hellinger_p"][: len(tables)] = [
            hellinger_permutation_p(a, b, seed("hellinger", v), n_permutations, nominal[kept])
            for v, (a, b, kept) in enumerate(tables)
        ]
        if condition is BASE or condition.kind == "prior":
            per_version |= _class_failures(train, test, y_train, y_test, shifted.rows[0], nominal, alpha)
        keys = {"dataset": data.name, "repeat": repeat, "condition": condition.name}
        if condition.kind in ("mcar", "mar", "mnar"):
            by_end = {end: shifted if end == removed or condition.kind == "mcar" else shift_test(end) for end in ENDS}
            rows["readings"].append(_columns(4, **keys, **_readings(train, test, by_end, nominal, alpha)))
        rows["shift"].append(_columns(n_versions, **keys, version=np.arange(n_versions), **per_version))
        rows["co_failure"].append(_columns(1, **keys, **per_condition))
        for name, scores in scored.items():
            found = detector_rows(scores, condition, shifted, y_test, n_bootstraps, seed("friedman", name))
            rows["learners"].append(_columns(n_versions, **keys, version=np.arange(n_versions), learner=name, **found))
        for v, (a, b, kept) in enumerate(tables):
            for name, found in _multivariate(a, b, nominal[kept], n_permutations, lambda name, v=v: seed(name, v)).items():
                rows["multivariate"].append(_columns(1, **keys, version=v, detector=name, **found))
    return {kind: _joined(parts) for kind, parts in rows.items()}


class FeaturePValues(NamedTuple):
    """Result of `feature_p_values`: arrays of shape (n_versions, n_features), NaN where a feature is masked or has no values.

    Attributes
    ----------
    paper : ndarray
        Equation 7 with the one-sided D, ``max (F_train - F_test)``, as the printed numbers have it.
    two_sided : ndarray
        Equation 7 with the two-sided D, as the text says.
    valid : ndarray
        Two-sided, by `ks_p_value`.
    """

    paper: np.ndarray
    two_sided: np.ndarray
    valid: np.ndarray


def feature_p_values(train, test, shifted, nominal):
    """p-values of every feature and version.

    Parameters
    ----------
    train, test : ndarray of shape (n_train, n_features), (n_test, n_features)
        Tables.
    shifted : foldshift.shift.injectors.Versions or ndarray of int of shape (n_versions, n_kept)
        Versions of the test table.
    nominal : ndarray of shape (n_features,), dtype bool
        Features that are compared by chi-square, in all three.

    Returns
    -------
    p_values : FeaturePValues
    """
    ks = ks_features(train, test, shifted)
    found = FeaturePValues(
        ks_p_value(ks.greater, ks.n_train, ks.n_test, "paper"),
        ks_p_value(ks.statistic, ks.n_train, ks.n_test, "paper"),
        ks_p_value(ks.statistic, ks.n_train, ks.n_test),
    )
    rows = shifted if isinstance(shifted, np.ndarray) else shifted.rows
    for j in np.flatnonzero(nominal):
        for v in np.flatnonzero(~np.isnan(ks.statistic[:, j])):
            counts, _ = category_counts(train[:, j], test[rows[v], j])
            p_value = chi_square(counts).p_value
            for one in found:
                one[v, j] = p_value
    return found


def _readings(train, test, by_end, nominal, alpha):
    """How many features fail by equation 7, for either end that may be removed and D one-sided or two-sided."""
    columns = {"removed": [], "sides": [], "n_cells": [], "failing": []}
    for end, shifted in by_end.items():
        p_values = feature_p_values(train, test, shifted, nominal)
        for sides, p in ((1, p_values.paper), (2, p_values.two_sided)):
            fails = failing(p, alpha)
            found = (end, sides, (~np.isnan(fails)).sum(), np.nansum(fails))
            for name, value in zip(columns, found):
                columns[name].append(value)
    return columns


def shift_rows(train, test, y_train, y_test, shifted, nominal, alpha):
    """What the detectors on features say of the versions of one condition.

    Parameters
    ----------
    train, test, shifted, nominal
        As of `feature_p_values`.
    y_train, y_test : ndarray of shape (n_train,), (n_test,), dtype bool
        Which rows are positive.
    alpha : float
        Level.

    Returns
    -------
    per_version : dict of str to ndarray of shape (n_versions,)
        Columns of the kind ``shift``.
    per_condition : dict of str to float
        Columns of the kind ``co_failure``: phi_paper by the paper's formula from failures by its p, phi and jaccard from failures by
        the valid p.
    """
    paper, _, valid = feature_p_values(train, test, shifted, nominal)
    hellinger = hellinger_features(train, test, shifted, n_bins=N_BINS, categorical_features=nominal)
    distance = _mean(hellinger.distance)
    fails_paper, fails = failing(paper, alpha), failing(valid, alpha)
    n_versions, n_kept = shifted.rows.shape
    own = np.full((2, n_versions), np.nan)
    of_feature = np.flatnonzero(shifted.feature >= 0)
    for one, found in zip(own, (fails_paper, fails)):
        one[of_feature] = found[of_feature, shifted.feature[of_feature]]
    per_version = {
        "n_train": len(train),
        "n_test": n_kept,
        "share_positive": y_test[shifted.rows].mean(axis=1),
        "tied_share": shifted.tied_share,
        "n_tested": (~np.isnan(fails)).sum(axis=1),
        "fails_paper": np.nansum(fails_paper, axis=1),
        "fails": np.nansum(fails, axis=1),
        "fails_holm": np.nansum(failing(adjust_p(valid, "holm"), alpha), axis=1),
        "fails_bh": np.nansum(failing(adjust_p(valid, "bh"), alpha), axis=1),
        "self_tested": (~np.isnan(own[0])).astype(np.int64),
        "self_paper": own[0],
        "self_valid": own[1],
        "hellinger": distance,
        "hellinger_expected": _mean(hellinger.expected),
        "hellinger_p": np.full(n_versions, np.nan),
        **dict.fromkeys(("fails_positive", "fails_negative", "tested_positive", "tested_negative"), np.nan),
    }
    by_paper, corrected = co_failure(fails_paper, "paper"), co_failure(fails)
    per_condition = {
        "n_tests": n_versions,
        "phi_paper": by_paper.mean,
        "phi_paper_sd": by_paper.std,
        "phi": corrected.mean,
        "phi_sd": corrected.std,
        "n_undefined": corrected.n_undefined,
        "jaccard": corrected.mean_jaccard,
        "hellinger_mean": float(_mean(distance)),
        "hellinger_skew": skew(distance),
    }
    return per_version, per_condition


def hellinger_permutation_p(train, test, rng, n_permutations, nominal, n_bins=N_BINS):
    """p-value of the mean Hellinger distance over the features: whole rows are dealt anew to two tables of the same sizes.

    Parameters
    ----------
    train, test : ndarray of shape (n_train, n_features), (n_test, n_features)
        Tables without missing values.
    rng : numpy.random.Generator
    n_permutations : int
        At least 1.
    nominal : ndarray of shape (n_features,), dtype bool
        Features whose values are bins.
    n_bins : int, default=30
        Bins of the others, of equal width over both tables.

    Returns
    -------
    p_value : float
        Share of the permutations, this one included, that are as far apart; NaN where there are no features.
    """
    if train.shape[1] == 0:
        return math.nan
    pooled = np.concatenate([train, test])
    coded = [bin_codes(column, n_bins, is_nominal) for column, is_nominal in zip(pooled.T, nominal)]
    starts = np.cumsum([0, *(n_codes for _, n_codes in coded)])
    codes = np.column_stack([code + start for (code, _), start in zip(coded, starts)]).astype(np.intp)
    totals = np.bincount(codes.ravel(), minlength=starts[-1])

    def mean_distance(rows):
        counts = np.bincount(codes[rows].ravel(), minlength=starts[-1])
        gaps = (np.sqrt(counts / len(test)) - np.sqrt((totals - counts) / len(train))) ** 2
        return np.sqrt(np.add.reduceat(gaps, starts[:-1])).mean()

    found = mean_distance(np.arange(len(train), len(pooled)))
    null = [mean_distance(rng.permutation(len(pooled))[: len(test)]) for _ in range(n_permutations)]
    return float((1 + np.sum(np.array(null) >= found - 1e-12)) / (1 + n_permutations))


class LearnerScores(NamedTuple):
    """P(+) of one learner, trained once; an array is None where the learner failed.

    Attributes
    ----------
    validation, test : ndarray of shape (n_validation,), (n_test,)
        As they are.
    masked : ndarray of shape (n_features, n_test)
        One feature masked.
    translated : dict of float to ndarray of shape (n_features, n_test)
        One feature translated, by severity.
    correct : ndarray of shape (n_validation,), dtype bool
        Whether a validation row is classified correctly.
    messages : dict of str to str
        By kind of scores, ``test`` (and all that rests on it), ``masked``, ``translated``: why there are none.
    """

    validation: np.ndarray | None
    test: np.ndarray | None
    masked: np.ndarray | None
    translated: dict | None
    correct: np.ndarray | None
    messages: dict


def learner_scores(spec, data, parts, y, scale, mask="median", random_state=0):
    """Train a learner and score all that the conditions need: they drop rows, which costs nothing, or change one feature.

    Parameters
    ----------
    spec : dict
        Entry of the learners file.
    data : foldshift.datasets.Dataset
        Classification data set, not scaled.
    parts : Split
        Rows of the parts.
    y : ndarray of shape (n_samples,), dtype bool
        Which rows are positive.
    scale : ndarray of shape (n_features,)
        What a translation is a multiple of.
    mask : {"median", "missing"}, default="median"
        As of `measure_repeat`.
    random_state : int, default=0
        Of a learner that takes one and has none.

    Returns
    -------
    scores : LearnerScores
        A learner that raises costs its own scores only.
    """
    train, validation, test = (data.X[rows] for rows in parts)
    features = np.arange(train.shape[1])
    try:
        scorer = _Scorer(spec, data, train, y[parts.train], random_state)
        on_validation, on_test = scorer(validation), scorer(test)
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:
        text = one_line(error)
        return LearnerScores(None, None, None, None, None, dict.fromkeys(("test", "masked", "translated"), text))
    correct = (on_validation > 0.5) == y[parts.validation]
    found, messages = {"masked": None, "translated": None}, dict.fromkeys(("test", "masked", "translated"), "")

    def masked():
        fill = np.full(len(features), np.nan)
        if mask == "median" and not isinstance(scorer.estimator, NaiveBayesClassifier):
            fill = _typical(train, data.categorical_features)
        return scorer.changed(test, features, np.broadcast_to(fill[:, None], (len(features), len(test))))

    def translated():
        severities = [condition.severity for condition in CONDITIONS if condition.kind == "translation"]
        moved = np.concatenate([test.T + q / 100 * scale[:, None] for q in severities])
        scores = scorer.changed(test, np.tile(features, len(severities)), moved)
        return dict(zip(severities, np.split(scores, len(severities))))

    for name, make in (("masked", masked), ("translated", translated)):
        try:
            found[name] = make()
        except MemoryError:
            raise
        except (Exception, SystemExit) as error:
            messages[name] = one_line(error)
    return LearnerScores(on_validation, on_test, found["masked"], found["translated"], correct, messages)


def detector_rows(scores, condition, shifted, y_test, n_bootstraps, rng):
    """What the detectors on predictions say of the versions of one condition.

    Parameters
    ----------
    scores : LearnerScores
    condition : Condition
    shifted : foldshift.shift.injectors.Versions
        Versions of the test part.
    y_test : ndarray of shape (n_test,), dtype bool
        Which rows are positive.
    n_bootstraps : int
        Of the paper's Friedman test.
    rng : numpy.random.Generator
        Of the same.

    Returns
    -------
    columns : dict of str to ndarray of shape (n_versions,)
        Columns of the kind ``learners``; NaN where the learner failed.
    """
    of = {"translation": "translated", "mnar": "masked"}.get(condition.kind, "test")
    n_versions = len(shifted.feature)
    columns = dict.fromkeys(
        ("accuracy_validation", "accuracy_test", "auc_test", "friedman_p", "two_proportion_p", "kruskal_p", "ks_scores_p"), np.nan
    )
    if scores.correct is not None:
        columns["accuracy_validation"] = scores.correct.mean()
    if scores.messages[of]:
        return columns | {"status": FAILED, "message": scores.messages[of]}
    if of == "test":
        found = scores.test[shifted.rows]
    else:
        table = scores.masked if of == "masked" else scores.translated[condition.severity]
        found = np.take_along_axis(table[shifted.feature], shifted.rows, axis=1)
    positive = y_test[shifted.rows]
    correct = (found > 0.5) == positive
    ks = ks_features(np.broadcast_to(scores.validation[:, None], (len(scores.validation), n_versions)), found.T)
    return columns | {
        "accuracy_test": correct.mean(axis=1),
        "auc_test": roc_area(found, positive),
        "friedman_p": np.array([friedman_bootstrap(scores.correct, one, n_bootstraps, rng).p_value for one in correct]),
        "two_proportion_p": np.atleast_1d(two_proportion(scores.correct, correct).p_value),
        "kruskal_p": np.atleast_1d(kruskal_wallis(scores.validation, found).p_value),
        "ks_scores_p": ks_p_value(ks.statistic, ks.n_train, ks.n_test),
        "status": OK,
        "message": "",
    }


class _Scorer:
    """P(+) of a learner trained on the training part."""

    def __init__(self, spec, data, train, positive, random_state):
        nominal = data.categorical_features
        self.low = np.where(nominal, 0.0, train.min(axis=0))
        self.width = np.where(nominal, 1.0, train.max(axis=0) - self.low)
        self.width[self.width == 0] = 1.0
        # Scaled as a whole, as far as learners can tell; nothing to recode where all features are numeric.
        self.data, self.nominal = replace(data, scaling="global"), spec["nominal"] if nominal.any() else "native"
        self.estimator = clone_with_state(build_learner(spec, categorical_features=nominal), random_state)
        inputs = self._inputs(train)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of convergence: the learner as it is is what is monitored
            self.estimator.fit(inputs, positive.astype(np.int64))
        self.logistic = None
        if not hasattr(self.estimator, "predict_proba"):
            outputs = self.estimator.decision_function(inputs)
            self.logistic = platt(outputs, positive, np.ones(len(outputs)))
        self.train, self.positive = (train - self.low) / self.width, positive
        metric = getattr(self.estimator, "metric", None)
        self.is_plain_nearest = (
            isinstance(self.estimator, NNClassifier)
            and metric in ("heom", "euclidean")
            and not nominal.any()
            and not self.estimator.skip_zero_distance
        )

    def _inputs(self, table):
        table = (table - self.low) / self.width
        if self.nominal == "native":
            return table
        return design_matrix(replace(self.data, X=table), self.nominal)

    def __call__(self, table):
        inputs = self._inputs(table)
        if self.logistic is None:
            scores = self.estimator.predict_proba(inputs)[:, 1]
        else:
            intercept, slope = self.logistic
            with np.errstate(over="ignore"):
                scores = 1 / (1 + np.exp(-intercept - slope * self.estimator.decision_function(inputs)))
        if not np.isfinite(scores).all():
            raise ValueError(f"{(~np.isfinite(scores)).sum()} of {len(scores)} scores are not finite")
        return scores

    def changed(self, table, features, values):
        """Scores (n_versions, n) where in version v the column ``features[v]`` holds ``values[v]``."""
        if self.is_plain_nearest and np.isfinite(values).all():
            queries = (table - self.low) / self.width
            new = (values - self.low[features, None]) / self.width[features, None]
            n_neighbors = min(self.estimator.n_neighbors, len(self.train))
            return _nearest_votes(np.ascontiguousarray(self.train.T), self.positive, queries, features, new, n_neighbors)
        scores = np.empty((len(features), len(table)))
        table = table.copy()
        for v, j in enumerate(features):
            kept = table[:, j].copy()
            table[:, j] = values[v]
            scores[v] = self(table)
            table[:, j] = kept
        return scores


@compiled
def _nearest_votes(columns, positive, queries, features, values, n_neighbors):
    """Share of positive ones among the nearest training rows of every query, one of its values replaced: (n_versions, n_queries).

    The squared distances of a query are summed once; a version exchanges one term, column by column: columns is (n_features, n_train).
    Of rows at the same distance the first is nearer, as in `NNClassifier`.
    """
    n_features, n = columns.shape
    out = np.empty((len(features), len(queries)))
    terms, totals, distances = np.empty((n_features, n)), np.empty(n), np.empty(n)
    nearest, votes = np.empty(n_neighbors), np.empty(n_neighbors, np.bool_)
    for q in range(len(queries)):
        totals[:] = 0.0
        for j in range(n_features):
            for i in range(n):
                gap = queries[q, j] - columns[j, i]
                terms[j, i] = gap * gap
                totals[i] += terms[j, i]
        for v in range(len(features)):
            j, value = features[v], values[v, q]
            for i in range(n):
                gap = value - columns[j, i]
                distances[i] = totals[i] - terms[j, i] + gap * gap
            n_held, bound = 0, np.inf
            for i in range(n):
                if distances[i] < bound:
                    at = min(n_held, n_neighbors - 1)
                    while at > 0 and nearest[at - 1] > distances[i]:
                        nearest[at], votes[at] = nearest[at - 1], votes[at - 1]
                        at -= 1
                    nearest[at], votes[at] = distances[i], positive[i]
                    n_held = min(n_held + 1, n_neighbors)
                    if n_held == n_neighbors:
                        bound = nearest[n_neighbors - 1]
            out[v, q] = votes.sum() / n_neighbors
    return out


def _typical(train, nominal):
    """Median of every numeric feature, most frequent category of every nominal one."""
    typical = np.median(train, axis=0)
    for j in np.flatnonzero(nominal):
        typical[j] = np.bincount(train[:, j].astype(np.int64)).argmax()
    return typical


def _class_failures(train, test, y_train, y_test, rows, nominal, alpha):
    """Features of which the rows of one class differ, by the valid p, and features tested."""
    found = {}
    for name, positive in (("positive", True), ("negative", False)):
        kept = rows[y_test[rows] == positive]
        valid = feature_p_values(train[y_train == positive], test, kept[None], nominal).valid
        found |= {f"fails_{name}": np.nansum(failing(valid, alpha)), f"tested_{name}": (~np.isnan(valid)).sum()}
    return found


def _tables(train, test, shifted, version):
    """Training table and one version of the test table without the features that are masked or lack values, and which remain."""
    moved = shifted.injected(test, np.zeros(len(test)), version).X
    kept = ~(np.isnan(train).any(axis=0) | np.isnan(moved).any(axis=0))
    return train[:, kept], moved[:, kept], kept


def _multivariate(a, b, nominal, n_permutations, seed):
    """Statistic and p of the multivariate tests; NaN where a test refuses the tables. Rows are in random order: the first are a random subset."""
    found = {}
    for name, test in DETECTORS.items():
        try:
            result = test(a[:MOST_ROWS], b[:MOST_ROWS], seed(name), n_permutations=n_permutations, categorical_features=nominal)
            found[name] = {"p_value": result.p_value, "statistic": result.statistic}
        except ValueError:
            found[name] = {"p_value": np.nan, "statistic": np.nan}
    return found


def _mean(values):
    """Mean along the last axis of what is not NaN; NaN where there is none."""
    n = (~np.isnan(values)).sum(axis=-1)
    return np.divide(np.nansum(values, axis=-1), n, out=np.full(np.shape(n), np.nan), where=n > 0)


def _columns(n, **columns):
    """Columns of n rows; single values are repeated."""
    return {
        name: np.full(n, value, dtype=object if isinstance(value, str) else None) if np.ndim(value) == 0 else np.asarray(value)
        for name, value in columns.items()
    }


def _joined(parts):
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]} if parts else {}
