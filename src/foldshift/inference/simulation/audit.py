"""Audit of intervals from cross-validation: how often each covers its target, measured on many samples of a population."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
import pandas as pd

from foldshift.core.arguments import check_confidence, check_one_of
from foldshift.core.repr import readable
from foldshift.core.seeding import as_generator
from foldshift.core.user_code.answers import one_line
from foldshift.inference.fit_losses import Sample, fold_losses, held_out_loss, losses_after_fit, squared_error, zero_one_loss
from foldshift.inference.intervals.cross_validation import Labels, nested_cv_interval
from foldshift.inference.intervals.interval import WORDS, Interval
from foldshift.inference.intervals.moments import LossMoments, loss_moments, moment_intervals
from foldshift.inference.simulation.coverage import (
    AVERAGE_NEW_SOURCE,
    MODEL_ON_NEW_SOURCE,
    THESE_MODELS,
    TRAINING_PART,
    WHOLE_SAMPLE,
    AuditRow,
    CutError,
    audit_rows,
    coverage_errors,
    not_refuted,
)
from foldshift.inference.simulation.source_models import simulate_losses
from foldshift.partition.registry import make_folds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from foldshift.core.types import Array, BoolArray, Estimator, FloatArray
    from foldshift.inference.simulation.score_audit import ScorePlan

LEAVE_ONE_SOURCE_OUT, RANDOM_FOLDS = "leave one source out", "random folds"
TOLERANCE = 0.05  # below the promise, for an interval to be trusted


@readable
@dataclass(frozen=True)
class CoverageAudit:
    """Result of `coverage_audit`; it prints as sentences and a table."""

    rows: tuple[AuditRow, ...]  # by partitioner, target and interval
    confidence: float  # coverage that the intervals promise
    title: str  # data, folds and learner that were audited
    notes: tuple[str, ...]  # warnings
    metric: str = "error"  # score that was audited

    def trusted(self, partitioner: str, target: str, *, tolerance: float = TOLERANCE) -> AuditRow | None:
        """Return the narrowest interval that was shown to cover what is promised, less a tolerance; None if there is none.

        Shown: the lower end of Wilson's 95 % interval of its coverage reaches ``confidence - tolerance``. An interval that covers
        less than that passes in at most one of 40 audits, however few the samples; with few samples nothing can be shown.
        """
        if not 0 <= tolerance < self.confidence:
            raise ValueError(f"tolerance={tolerance!r} must be from 0 to below confidence={self.confidence:g}")
        shown = [row for row in self._of(partitioner, target) if row.coverage_low >= self.confidence - tolerance - 1e-12]
        return min(shown, key=lambda row: row.width, default=None)

    def not_refuted(self, partitioner: str, target: str) -> list[AuditRow]:
        """List the intervals not below the promise by more than two standard errors, the narrowest first.

        That does not show that they hold.
        """
        rows = [row for row in self._of(partitioner, target) if not_refuted(row.coverage, row.n, self.confidence)]
        return sorted(rows, key=lambda row: row.width)

    def _of(self, partitioner: str, target: str) -> list[AuditRow]:
        return [row for row in self.rows if (row.partitioner, row.target) == (partitioner, target)]

    def _blocks(self) -> list[tuple[str, str]]:
        return list(dict.fromkeys((row.partitioner, row.target) for row in self.rows))

    def sentences(self) -> list[str]:
        """Report the audit, and the interval that can be trusted for each target; a list of str."""
        said = [f"{self.title}."]
        least = self.confidence - TOLERANCE
        for partitioner, target in self._blocks():
            rows, row = self._of(partitioner, target), self.trusted(partitioner, target)
            n = max(one.n for one in rows)
            where = f"{partitioner}: {target} (true {self.metric} {_mean(one.truth for one in rows):.4g})"
            if row is not None:
                share = f"covered {100 * row.coverage:.1f} % ({100 * row.coverage_low:.1f} to {100 * row.coverage_high:.1f})"
                said.append(f"{where}: trust {_words(row.interval)}, the narrowest shown to cover {100 * least:g} %; it {share}.")
            elif coverage_errors(1.0, n)[1] < least:
                said.append(f"{where}: {n} samples are too few to show that any interval covers {100 * least:g} %.")
            else:
                said.append(f"{where}: no interval was shown to cover {100 * least:g} %.")
            refuted = [one.interval for one in rows if one not in self.not_refuted(partitioner, target)]
            if refuted:
                said.append(f"Refuted there, covering less than {100 * self.confidence:g} %: {', '.join(refuted)}.")
        return [*said, *(f"Note: {note}." for note in self.notes)]

    def to_frame(self) -> pd.DataFrame:
        """Table with one row per partitioner, target and interval: the fields of `AuditRow`, ``trusted``, ``not_refuted``."""
        frame = pd.DataFrame(self.rows, columns=AuditRow._fields)
        blocks = self._blocks()
        trusted = {id(self.trusted(*block)) for block in blocks}
        passed = {id(row) for block in blocks for row in self.not_refuted(*block)}
        marks = {"trusted": trusted, "not_refuted": passed}
        return frame.assign(**{name: [id(row) in rows for row in self.rows] for name, rows in marks.items()})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the coverage of every interval with Wilson's 95 % interval, by target; the line is the promise."""
        import matplotlib.pyplot as plt

        rows = [row for row in self.rows if row.n]
        ax = plt.subplots(figsize=(7, 1 + 0.2 * len(rows)))[1] if ax is None else ax
        for number, block in enumerate(self._blocks()):
            places = [place for place, row in enumerate(rows) if (row.partitioner, row.target) == block]
            of_block = [rows[place] for place in places]
            ends = [
                [row.coverage - row.coverage_low for row in of_block],
                [row.coverage_high - row.coverage for row in of_block],
            ]
            coverage = [row.coverage for row in of_block]
            ax.errorbar(coverage, places, xerr=ends, fmt="osD^v"[number % 5], ms=4, lw=1, label=": ".join(block))
        ax.axvline(self.confidence, color="#7F7F7F", dashes=(6, 2), lw=1, label="promised")
        ax.set_yticks(range(len(rows)), [row.interval for row in rows], fontsize=7)
        ax.set_ylim(len(rows) - 0.5, -0.5)
        ax.set_xlabel("coverage")
        ax.legend(fontsize=7)
        return ax


def coverage_audit(
    draw: Callable[[np.random.Generator], Any] | None = None,
    estimator: Estimator = None,
    *,
    shape: tuple[int, int] | None = None,
    model: Literal["centroid", "stump", "highdim"] = "centroid",
    sources: Literal["random", "iid"] = "random",
    n_folds: int = 10,
    partitioner: str | Callable[..., Any] | None = None,
    n_replicates: int = 200,
    confidence: float = 0.95,
    n_repetitions: int = 1,
    n_nested: int = 0,
    metric: str | Callable[[Any, Any, Any], float] | None = None,
    rng: np.random.Generator | int,
) -> CoverageAudit:
    """Measure how often each interval from cross-validation covers each of its possible targets.

    Samples of a population are cross-validated, and every interval is compared with the true errors, measured on rows outside the
    sample.

    Parameters
    ----------
    draw : callable
        ``draw(rng)`` returns a sample and held-out rows of the same population: ``(X, y, X_rest, y_rest)``. With few held-out
        rows their own error is counted as the interval's: take ten times as many as in the sample.
    estimator : scikit-learn classifier or regressor
        Not changed. Its loss is 0/1 or the squared error.
    shape : (int, int), optional
        Instead of `draw` and `estimator`: n rows and K sources or folds of equal size; losses are those of `simulate_losses` for
        `model`.
    model : {"centroid", "stump", "highdim"}, default="centroid"
        With `shape`: a stable classifier, an unstable one, and one with more inputs than it can use.
    sources : {"random", "iid"}, default="random"
        With `shape`: the K sources differ, new ones in every sample, and both leave-one-source-out and random folds are audited;
        or all rows are from one source, and folds are random.
    n_folds : int, default=10
        Number of folds k.
    partitioner : str or callable, optional
        As for `foldshift.partition.make_folds`; by default ``SCV`` for a classifier and ``CV`` for a regressor.
    n_replicates : int, default=200
        Samples; the Monte Carlo error of a coverage of .95 is then .015. Fewer samples are the first of more.
    confidence : float, default=0.95
        Probability of coverage that is promised.
    n_repetitions : int, default=1
        Partitions of every sample. With more than one there is also the interval of Nadeau and Bengio from all of them.
    n_nested : int, default=0
        Partitions for the interval of nested cross-validation, each of which takes ``k (k + 1) / 2`` fits; 0 leaves it out.
    metric : str or callable, optional
        Score by the names of `score_interval`, instead of the error: its interval from the pooled predictions of all rows, beside
        the one from the scores of the folds. A scorer of your own, ``scorer(estimator, X, y)``, has the latter alone.
    rng : numpy.random.Generator or int
        Source of randomness.

    Returns
    -------
    audit : CoverageAudit
        Print it. Targets: `TRAINING_PART`, the mean true error of models trained on (k - 1) / k of a sample, over the training
        parts of all samples; `THESE_MODELS`, the mean true error of the k models of this sample; `WHOLE_SAMPLE`, that of the
        model trained on the whole sample. With `shape` and random sources: the error on a new source of the model of this sample
        (`MODEL_ON_NEW_SOURCE`), and its mean over samples (`AVERAGE_NEW_SOURCE`). With ``iid`` the bias against `TRAINING_PART`
        is 0 by construction.

    Raises
    ------
    ValueError
        If neither or both of `draw` and `shape` are given, an argument is out of range, `draw` returns something else, or the
        estimator fails on all samples.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> def draw(rng):
    ...     y = rng.integers(2, size=1100)
    ...     X = rng.standard_normal((1100, 2)) + y[:, None]
    ...     return X[:100], y[:100], X[100:], y[100:]
    >>> audit = coverage_audit(draw, GaussianNB(), n_folds=5, n_replicates=20, rng=np.random.default_rng(0))
    >>> sorted({row.target for row in audit.rows})
    ['error of a training part', "this sample's models", 'whole sample']
    """
    rng = as_generator(rng)
    check_confidence(confidence)
    for name, value, least in (("n_replicates", n_replicates, 2), ("n_repetitions", n_repetitions, 1), ("n_nested", n_nested, 0)):
        if value < least:
            raise ValueError(f"{name}={value!r} must be at least {least}")
    if shape is not None and draw is None and estimator is None:
        return _audit_of_shape(shape, model, sources, n_replicates, confidence, rng)
    if shape is not None or draw is None or estimator is None:
        raise ValueError("coverage_audit needs either draw and estimator, or shape=(rows, sources)")
    if n_nested and n_folds < 3:
        raise ValueError(f"n_folds={n_folds} must be at least 3 for nested cross-validation, which leaves two folds out")
    from sklearn.base import is_classifier

    from foldshift.core.estimators import check_predictor

    check_predictor(estimator)
    classifies = is_classifier(estimator)
    partitioner = partitioner or ("SCV" if classifies else "CV")
    if metric is not None:
        if n_nested:
            raise ValueError(f"n_nested={n_nested} is for the error; leave it out with metric=")
        scored = _score_plan(estimator, metric, partitioner, (n_folds, n_repetitions), confidence)
        return _audit_of_draws(draw, scored, n_replicates, rng)
    plan = _Plan(estimator, classifies, partitioner, n_folds, n_repetitions, n_nested, confidence)
    return _audit_of_draws(draw, plan, n_replicates, rng)


def _score_plan(estimator: Estimator, metric: Any, partitioner: Any, shape: tuple[int, int], confidence: float) -> ScorePlan:
    """Plan of an audit of a named score, or of a scorer of the user's own."""
    from foldshift.inference.fit_predictions import check_task
    from foldshift.inference.intervals.score_names import score_name
    from foldshift.inference.simulation.score_audit import ScorePlan

    if callable(metric):
        return ScorePlan(estimator, None, metric, partitioner, *shape, confidence)
    score = score_name(metric)
    check_task(estimator, score)
    return ScorePlan(estimator, score, None, partitioner, *shape, confidence)


def _audit_of_draws(
    draw: Callable[[np.random.Generator], Any], plan: _Plan | ScorePlan, n_replicates: int, rng: np.random.Generator
) -> CoverageAudit:
    results: list[Any] = []
    failures: list[str] = []
    n_rows = None
    for stream in rng.spawn(n_replicates):
        sample = _checked_sample(draw(stream), n_rows)
        n_rows = len(sample.X)
        try:
            results.append(plan.replicate(sample, stream))
        except MemoryError:
            raise
        except CutError as error:
            raise ValueError(str(error)) from error
        except (Exception, SystemExit) as error:  # whatever a learner raises costs its sample
            failures.append(one_line(error))
    learner = type(plan.estimator).__name__
    if not results:
        raise ValueError(f"{learner} failed on all {n_replicates} samples; the first time: {failures[0]}")
    title = (
        f"Coverage at {100 * plan.confidence:g} %: {n_replicates} samples of {n_rows} rows, {plan.n_folds} folds by {plan.name}, "
        f"{learner}"
    )
    title += "" if plan.metric == "error" else f", score {plan.metric}"
    failed = f"the estimator failed on {len(failures)} of {n_replicates} samples; the first time: "
    notes = (*(failed + first for first in failures[:1]), *plan.notes)
    return CoverageAudit(tuple(plan.rows(results)), plan.confidence, title, notes, plan.metric)


class _Replicate(NamedTuple):
    """Results on one sample; the truths are those of the first partition, of all partitions, and of the whole sample."""

    moments: LossMoments  # of the first partition
    fold_means: list[list[float]]  # of all partitions
    nested: Interval | None
    truths: tuple[float, float, float]


@dataclass(frozen=True)
class _Plan:
    """Learner, folds and intervals of an audit, the same for all samples."""

    estimator: Estimator
    classifies: bool
    partitioner: str | Callable[..., Any]
    n_folds: int
    n_repetitions: int
    n_nested: int
    confidence: float
    metric = "error"
    notes: ClassVar[tuple[str, ...]] = ()

    @property
    def name(self) -> str:
        """Name of the partitioner."""
        return self.partitioner if isinstance(self.partitioner, str) else getattr(self.partitioner, "__name__", "partitioner")

    def replicate(self, sample: Sample, rng: np.random.Generator) -> _Replicate:
        """Cross-validate one sample, and measure the true errors on its held-out rows."""
        X, y, estimator = sample.X, sample.y, self.estimator
        loss = zero_one_loss if self.classifies else squared_error
        try:
            folds = make_folds(self.partitioner, X, y, self.n_folds, [rng] * (self.n_repetitions + self.n_nested))
        except ValueError as error:
            raise CutError(*error.args) from error
        states = (rng.random((self.n_repetitions, self.n_folds)) * 2**32).astype(np.uint32)
        found = [fold_losses(estimator, sample, row, of_row, loss) for row, of_row in zip(folds[: self.n_repetitions], states)]
        state = int(rng.random() * 2**32)
        whole = held_out_loss(estimator, sample, state, loss)
        nested = None
        if self.n_nested:

            def loss_of(train: BoolArray, test: BoolArray) -> FloatArray:
                return losses_after_fit(estimator, X[train], y[train], [(X[test], y[test])], state, loss)[0]

            nested = nested_cv_interval(loss_of, folds[self.n_repetitions :], confidence=self.confidence)
        means = [[fold.mean() for fold in losses] for losses, _ in found]
        truths = [truth for _, truth in found]
        return _Replicate(loss_moments(found[0][0]), means, nested, (truths[0], float(np.mean(truths)), whole))

    def rows(self, results: list[_Replicate]) -> list[AuditRow]:
        """Rows of the audit, by target."""
        parts, repeated_parts, whole = np.array([one.truths for one in results]).T
        targets = {TRAINING_PART: parts, THESE_MODELS: parts, WHOLE_SAMPLE: whole}
        moments = _stacked([one.moments for one in results])
        rows = audit_rows(moment_intervals(moments, confidence=self.confidence, binary=self.classifies), targets, self.name)
        if self.n_repetitions > 1:
            scores = np.array([one.fold_means for one in results])
            mean, S2 = scores.mean(axis=(1, 2)), scores.reshape(len(scores), -1).var(axis=1, ddof=1)
            n = self.n_repetitions * self.n_folds
            variance = S2 * (1 / n + 1 / (self.n_folds - 1))
            of_all = Labels(self.confidence, n).interval("Nadeau-Bengio", mean, variance, n - 1.0)
            of_all = of_all._replace(name=f"Nadeau-Bengio, {self.n_repetitions}x")
            rows += audit_rows([of_all], targets | {TRAINING_PART: repeated_parts, THESE_MODELS: repeated_parts}, self.name)
        if nested := [one.nested for one in results if one.nested is not None]:
            estimate, low, high = _stack(nested, "estimate"), _stack(nested, "low"), _stack(nested, "high")
            errors, first = _stack(nested, "standard_error"), nested[0]
            together = Interval("nested", first.target, estimate, low, high, errors, first.df, "", self.confidence)
            rows += audit_rows([together], targets, self.name)
        return sorted(rows, key=lambda row: list(targets).index(row.target))


def _audit_of_shape(
    shape: tuple[int, int],
    model: Literal["centroid", "stump", "highdim"],
    sources: Literal["random", "iid"],
    n_replicates: int,
    confidence: float,
    rng: np.random.Generator,
) -> CoverageAudit:
    n, K = shape
    check_one_of("sources", sources, ("random", "iid"))
    if K < 2 or n < 2 * K or n % (2 * K):
        raise ValueError(
            f"shape=({n}, {K}) must be (n, K) with two or more sources K, and n a multiple of 2 K: sources of equal size, half "
            "of the rows of each of either class"
        )
    random = sources == "random"
    drawn = simulate_losses(model, K, n // K, n_replicates, rng, sources=sources, design="both" if random else "cvr")
    rows = []
    for name, losses in ((LEAVE_ONE_SOURCE_OUT, drawn.cvs), (RANDOM_FOLDS, drawn.cvr)):
        if losses is None:
            continue
        moments = loss_moments(losses)
        if random:
            truths = {AVERAGE_NEW_SOURCE: drawn.out_of_source, MODEL_ON_NEW_SOURCE: drawn.out_of_source}
        else:
            truths = {TRAINING_PART: moments.estimate, WHOLE_SAMPLE: drawn.out_of_source}
        rows += audit_rows(moment_intervals(moments, confidence=confidence, binary=True), truths, name)
    what = "sources drawn anew for every sample" if random else "one source"
    title = f"Coverage at {100 * confidence:g} %: {n_replicates} samples of {n} rows in {K} blocks, model {model}, {what}"
    notes = () if random else (f"the bias against {TRAINING_PART!r} is 0 by construction",)
    return CoverageAudit(tuple(rows), confidence, title, notes)


def _checked_sample(drawn: Any, n_rows: int | None) -> Sample:
    """Refuse a result of `draw` that is not a sample, or not one of `n_rows` rows as those before."""
    if not isinstance(drawn, tuple) or len(drawn) != 4:
        raise ValueError(f"draw returned {type(drawn).__name__}; expected a tuple (X, y, X_rest, y_rest)")
    sample = Sample(*map(np.asarray, drawn))
    X, y, X_rest, y_rest = sample
    if len(X) != len(y) or len(X_rest) != len(y_rest) or not len(X) or not len(X_rest):
        raise ValueError(
            f"draw returned X, y, X_rest, y_rest with {len(X)}, {len(y)}, {len(X_rest)}, {len(y_rest)} rows; "
            "expected as many of X as of y, and some"
        )
    if n_rows not in (None, len(X)):
        raise ValueError(f"draw returned samples of {n_rows} and of {len(X)} rows; coverage is that of one size of sample")
    return sample


def _stacked(moments: list[LossMoments]) -> LossMoments:
    """Moments of many samples of one shape."""
    estimate, micro = _stack(moments, "estimate"), _stack(moments, "estimate_micro")
    spreads = _stack(moments, "variance"), _stack(moments, "W"), _stack(moments, "S2")
    return LossMoments(estimate, micro, *spreads, moments[0].K, moments[0].M)


def _stack(records: Sequence[Any], field: str) -> Array:
    return np.array([getattr(record, field) for record in records])


def _words(name: str) -> str:
    return f"{name} ({WORDS[name]})" if name in WORDS else name


def _mean(values: Iterable[float]) -> float:
    """Mean of the values that are not NaN."""
    present = [value for value in values if value == value]
    return float(np.mean(present)) if present else np.nan
