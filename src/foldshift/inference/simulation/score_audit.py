"""Audit of intervals of any score: those of the pooled predictions of all rows, and those of the scores of folds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foldshift.core.user_code.answers import one_line
from foldshift.inference.fit_predictions import OF_FOLDS, fitted, predictions_of, score_of
from foldshift.inference.intervals.cross_validation import Labels
from foldshift.inference.intervals.interval import Interval
from foldshift.inference.intervals.score_interval import TARGET, score_interval
from foldshift.inference.simulation.coverage import THESE_MODELS, TRAINING_PART, WHOLE_SAMPLE, AuditRow, CutError, audit_rows
from foldshift.partition.registry import make_folds

if TYPE_CHECKING:
    from foldshift.core.types import Array, Estimator
    from foldshift.inference.fit_losses import Sample
    from foldshift.inference.intervals.score_names import ScoreName

    Scorer = Callable[[Any, Any, Any], float]

POOLED = "pooled predictions"


class ScoreReplicate(NamedTuple):
    """Results on one sample; the truths are those of the models of the folds, and of the whole sample."""

    pooled: tuple[float, float, float]  # estimate and ends; NaN for a scorer without a formula
    fold_scores: list[list[float]]  # of all partitions
    truths: tuple[float, float]


@dataclass(frozen=True)
class ScorePlan:
    """Learner, folds and score of an audit, the same for all samples."""

    estimator: Estimator
    score: ScoreName | None
    scorer: Scorer | None  # of the user's own, where there is no score
    partitioner: str | Callable[..., Any]
    n_folds: int
    n_repetitions: int
    confidence: float

    @property
    def name(self) -> str:
        """Name of the partitioner."""
        return self.partitioner if isinstance(self.partitioner, str) else getattr(self.partitioner, "__name__", "partitioner")

    @property
    def metric(self) -> str:
        """Name of the score."""
        own = getattr(self.scorer, "__name__", "<lambda>")
        return self.score.name if self.score is not None else "score" if own == "<lambda>" else own

    @property
    def notes(self) -> tuple[str, ...]:
        """Cautions about the intervals."""
        return () if self.score is not None else (OF_FOLDS,)

    def replicate(self, sample: Sample, rng: np.random.Generator) -> ScoreReplicate:
        """Cross-validate one sample, and measure the true scores on its held-out rows."""
        X, y, X_rest, y_rest = sample
        try:
            folds = make_folds(self.partitioner, X, y, self.n_folds, [rng] * self.n_repetitions)
        except ValueError as error:
            raise CutError(*error.args) from error
        states = (rng.random((self.n_repetitions, self.n_folds)) * 2**32).astype(np.uint32)
        classes = np.unique(np.concatenate([y, y_rest]))
        own: list[list[Array]] = []
        scores, truths = [], []
        for cut, of_cut in zip(folds, states):
            parts, of_folds = [], []
            for fold, state in enumerate(of_cut):
                test = cut == fold
                model = fitted(self.estimator, X[~test], y[~test], float(state))
                scored, predicted = self._scored(model, X[test], y[test], classes)
                of_folds.append(scored)
                parts.append(predicted)
                truths.append(self._scored(model, X_rest, y_rest, classes)[0])
            own.append(parts)
            scores.append(of_folds)
        whole = fitted(self.estimator, X, y, float(rng.random() * 2**32))
        pooled = (np.nan,) * 3 if self.score is None else self._pooled(self.score, y, own, folds)
        return ScoreReplicate(pooled, scores, (float(np.mean(truths)), self._scored(whole, X_rest, y_rest, classes)[0]))

    def _scored(self, model: Estimator, X: Array, y: Array, classes: Array) -> tuple[float, Array]:
        """Score of a fitted learner on some rows, and its predictions if the score is made of them."""
        if self.score is None:
            assert self.scorer is not None
            try:
                return float(self.scorer(model, X, y)), np.empty(0)
            except (Exception, SystemExit) as error:
                raise ValueError(f"the scorer {self.metric} failed: {one_line(error)}") from error
        predicted = predictions_of(model, self.score, X, classes)
        return score_of(y, predicted, self.score, len(classes)), predicted

    def _pooled(self, score: ScoreName, y: Array, parts: list[list[Array]], folds: Array) -> tuple[float, float, float]:
        """Interval of the score from the predictions of all rows."""
        together = []
        for cut, of_cut in zip(folds, parts):
            first = of_cut[0]
            rows = np.empty((len(y), *first.shape[1:]), dtype=np.result_type(*of_cut))
            for fold, predicted in enumerate(of_cut):
                rows[cut == fold] = predicted
            together.append(rows)
        found = score_interval(y, np.array(together), score.name, folds=folds.astype(np.int64), confidence=self.confidence)
        return float(found.estimate), float(found.low), float(found.high)

    def rows(self, results: list[ScoreReplicate]) -> list[AuditRow]:
        """Rows of the audit, by target."""
        parts, whole = np.array([one.truths for one in results]).T
        targets = {TRAINING_PART: parts, THESE_MODELS: parts, WHOLE_SAMPLE: whole}
        scores = np.array([one.fold_scores for one in results])
        n = self.n_repetitions * self.n_folds
        variance = scores.reshape(len(scores), -1).var(axis=1, ddof=1) * (1 / n + 1 / (self.n_folds - 1))
        found = [Labels(self.confidence, n).interval("Nadeau-Bengio", scores.mean(axis=(1, 2)), variance, n - 1.0)]
        if self.score is not None:
            estimate, low, high = np.array([one.pooled for one in results]).T
            missing = np.full(len(results), np.nan)
            found.insert(0, Interval(POOLED, TARGET, estimate, low, high, missing, np.inf, "", self.confidence))
        return sorted(audit_rows(found, targets, self.name), key=lambda row: list(targets).index(row.target))
