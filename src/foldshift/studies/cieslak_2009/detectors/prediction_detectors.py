"""What the detectors on predictions say: learners trained once, and scored on every shifted version of the test part."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from foldshift.core.compiling import compiled
from foldshift.core.estimators import clone_with_state
from foldshift.evaluation.learner import build_learner, design_matrix
from foldshift.evaluation.regressors import one_line
from foldshift.evaluation.tasks import FAILED, OK
from foldshift.inference.roc import roc_area
from foldshift.learners.kernels.svm import platt
from foldshift.learners.linear.naive_bayes import NaiveBayesClassifier
from foldshift.learners.neighbours.nearest_classifier import NNClassifier
from foldshift.shift.detectors.univariate import friedman_bootstrap, kruskal_wallis, two_proportion
from foldshift.shift.measures.ks import ks_features, ks_p_value
from foldshift.studies.cieslak_2009.conditions import CONDITIONS, LARGEST_EXACT

if TYPE_CHECKING:
    from foldshift.core.types import Array, BoolArray, FloatArray, IntArray
    from foldshift.datasets.dataset import Dataset
    from foldshift.shift.inject.injectors import Versions
    from foldshift.studies.cieslak_2009.conditions import Condition
    from foldshift.studies.cieslak_2009.splits import Split


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

    validation: Array | None
    test: Array | None
    masked: Array | None
    translated: dict[float, Array] | None
    correct: BoolArray | None
    messages: dict[str, str]


def learner_scores(
    spec: dict[str, Any],
    data: Dataset,
    parts: Split,
    y: BoolArray,
    scale: Array,
    mask: Literal["median", "missing"] = "median",
    random_state: int = 0,
) -> LearnerScores:
    """Train a learner and score all that the conditions need: they drop rows, which costs nothing, or change one feature."""
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

    def masked() -> FloatArray:
        fill = np.full(len(features), np.nan)
        if mask == "median" and not isinstance(scorer.estimator, NaiveBayesClassifier):
            fill = _typical(train, data.categorical_features)
        return scorer.changed(test, features, np.broadcast_to(fill[:, None], (len(features), len(test))))

    def translated() -> dict[int, FloatArray]:
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


def detector_rows(
    scores: LearnerScores, condition: Condition, shifted: Versions, y_test: BoolArray, n_bootstraps: int, rng: np.random.Generator
) -> dict[str, Array]:
    """What the detectors on predictions say of the versions of one condition."""
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
        "ks_scores_p": ks_p_value(ks.statistic, ks.n_train, ks.n_test, largest_exact=LARGEST_EXACT),
        "status": OK,
        "message": "",
    }


class _Scorer:
    """P(+) of a learner trained on the training part."""

    def __init__(self, spec: dict[str, Any], data: Dataset, train: FloatArray, positive: BoolArray, random_state: int) -> None:
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

    def _inputs(self, table: FloatArray) -> FloatArray:
        table = (table - self.low) / self.width
        if self.nominal == "native":
            return table
        return design_matrix(replace(self.data, X=table), self.nominal)

    def __call__(self, table: FloatArray) -> FloatArray:
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

    def changed(self, table: FloatArray, features: IntArray, values: FloatArray) -> FloatArray:
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
def _nearest_votes(
    columns: FloatArray, positive: BoolArray, queries: FloatArray, features: IntArray, values: FloatArray, n_neighbors: int
) -> FloatArray:
    """Share of positive ones among the nearest training rows of every query, one of its values replaced: (n_versions, n_queries).

    The squared distances of a query are summed once; a version exchanges one term, column by column: columns is (n_features,
    n_train). Of rows at the same distance the first is nearer, as in `NNClassifier`.
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


def _typical(train: FloatArray, nominal: BoolArray) -> FloatArray:
    """Median of every numeric feature, most frequent category of every nominal one."""
    typical = np.median(train, axis=0)
    for j in np.flatnonzero(nominal):
        typical[j] = np.bincount(train[:, j].astype(np.int64)).argmax()
    return typical
