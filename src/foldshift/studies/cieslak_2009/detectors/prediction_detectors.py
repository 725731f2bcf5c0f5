"""Detectors on predictions: learners are trained once, and scored on every shifted version of the test part."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import numpy as np

from foldshift.core.compiling import compiled
from foldshift.core.estimators import clone_with_state
from foldshift.core.user_code.answers import one_line
from foldshift.evaluation.learner import build_learner, design_matrix
from foldshift.evaluation.tasks import FAILED, OK
from foldshift.inference.roc import roc_area
from foldshift.learners.kernels.svm import platt
from foldshift.learners.linear.naive_bayes import NaiveBayesClassifier
from foldshift.learners.neighbours.nearest_classifier import NNClassifier
from foldshift.shift.detectors.monitoring_tests import friedman_bootstrap, kruskal_wallis, two_proportion
from foldshift.shift.measures.ks import ks_features, ks_p_value
from foldshift.studies.cieslak_2009.shift_conditions import CONDITIONS, LARGEST_EXACT

if TYPE_CHECKING:
    from foldshift.core.types import BoolArray, FloatArray, IntArray
    from foldshift.datasets.dataset import Dataset
    from foldshift.shift.inject.injectors import Versions
    from foldshift.studies.cieslak_2009.shift_conditions import Condition
    from foldshift.studies.cieslak_2009.three_part_split import Repeat

T = TypeVar("T")
NUMBERS = ("accuracy_validation", "accuracy_test", "auc_test", "friedman_p", "two_proportion_p", "kruskal_p", "ks_scores_p")


class LearnerScores(NamedTuple):
    """P(+) of one learner, trained once."""

    validation: FloatArray  # validation, test: As they are; shape (n_validation,)
    test: FloatArray
    correct: BoolArray  # whether a validation row is classified correctly; shape (n_validation,)
    masked: FloatArray | str  # one feature masked; or why there are none; shape (n_features, n_test)
    # one feature translated, by severity; or why there are none; shape (n_features, n_test)
    translated: dict[float, FloatArray] | str


def learner_scores(
    spec: dict[str, Any], repeat: Repeat, mask: Literal["median", "missing"] = "median", random_state: int = 0
) -> LearnerScores | str:
    """Train a learner and score all that the conditions need, or say why it failed.

    Conditions drop rows, which costs nothing, or change one feature.
    """
    data, parts = repeat.data, repeat.parts
    train, validation, test = (data.X[rows] for rows in parts)
    features = np.arange(train.shape[1])

    def trained() -> tuple[_Scorer, FloatArray, FloatArray]:
        scorer = _Scorer(spec, data, train, repeat.y[parts.train], random_state)
        return scorer, scorer(validation), scorer(test)

    found = _or_message(trained)
    if isinstance(found, str):
        return found
    scorer, on_validation, on_test = found

    def masked() -> FloatArray:
        fill = np.full(len(features), np.nan)
        if mask == "median" and not isinstance(scorer.estimator, NaiveBayesClassifier):
            fill = _typical(train, data.categorical_features)
        return scorer.changed(test, features, np.broadcast_to(fill[:, None], (len(features), len(test))))

    def translated() -> dict[float, FloatArray]:
        severities = [condition.severity for condition in CONDITIONS if condition.kind == "translation"]
        moved = np.concatenate([test.T + q / 100 * repeat.scale[:, None] for q in severities])
        scores = scorer.changed(test, np.tile(features, len(severities)), moved)
        return dict(zip(severities, np.split(scores, len(severities))))

    correct = (on_validation > 0.5) == repeat.y[parts.validation]
    return LearnerScores(on_validation, on_test, correct, _or_message(masked), _or_message(translated))


def failures(scores: LearnerScores | str) -> list[str]:
    """Collect the messages of a learner that failed, each once."""
    found = (scores,) if isinstance(scores, str) else (scores.masked, scores.translated)
    return list(dict.fromkeys(one for one in found if isinstance(one, str)))


def detector_rows(
    scores: LearnerScores | str,
    condition: Condition,
    shifted: Versions,
    y_test: BoolArray,
    n_bootstraps: int,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Apply the detectors on predictions to the versions of one condition: columns; NaN and a message where a learner failed."""
    columns: dict[str, Any] = dict.fromkeys(NUMBERS, np.nan)
    if isinstance(scores, str):
        return columns | {"status": FAILED, "message": scores}
    columns["accuracy_validation"] = scores.correct.mean()
    found = _shifted_scores(scores, condition, shifted)
    if isinstance(found, str):
        return columns | {"status": FAILED, "message": found}
    positive = y_test[shifted.rows]
    correct = (found > 0.5) == positive
    ks = ks_features(np.broadcast_to(scores.validation[:, None], (len(scores.validation), len(found))), found.T)
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


def _shifted_scores(scores: LearnerScores, condition: Condition, shifted: Versions) -> FloatArray | str:
    """Scores of shape (n_versions, n_kept) under a condition, or why there are none."""
    if condition.kind not in ("translation", "mnar"):
        return scores.test[shifted.rows]
    table = scores.masked if condition.kind == "mnar" else scores.translated
    if isinstance(table, str):
        return table
    by_feature = table[condition.severity] if isinstance(table, dict) else table
    return np.take_along_axis(by_feature[shifted.feature], shifted.rows, axis=1)


def _or_message(make: Callable[[], T]) -> T | str:
    """Call what trains or applies a learner; what it raises costs its rows, not the job."""
    try:
        return make()
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:
        return one_line(error)


class _Scorer:
    """P(+) of a learner trained on the training part."""

    def __init__(self, spec: dict[str, Any], data: Dataset, train: FloatArray, positive: BoolArray, random_state: int) -> None:
        nominal = data.categorical_features
        self.low = np.where(nominal, 0.0, train.min(axis=0))
        self.width = np.where(nominal, 1.0, train.max(axis=0) - self.low)
        self.width[self.width == 0] = 1.0
        self.data = replace(data, scaling="global")  # learners see it as scaled as a whole
        # Nothing to recode where all features are numeric.
        self.nominal: Literal["codes", "one_hot", "native"] = spec["nominal"] if nominal.any() else "native"
        self.estimator = clone_with_state(build_learner(spec, categorical_features=nominal), random_state)
        inputs = self._inputs(train)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of convergence: the learner is monitored as it is
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
        """Scale a table by the training part, and recode its nominal features."""
        table = (table - self.low) / self.width
        if self.nominal == "native":
            return table
        return design_matrix(replace(self.data, X=table), self.nominal)

    def __call__(self, table: FloatArray) -> FloatArray:
        """P(+) of every row of a table."""
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
        """Score versions of a table, shape (n_versions, n): in version v the column ``features[v]`` holds ``values[v]``."""
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
    """Share of positive rows among the nearest training rows of every query with one value replaced: (n_versions, n_queries).

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
