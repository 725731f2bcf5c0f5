"""Which interval from cross-validation covers what, for data of a given shape: measured on many samples of a population."""

from dataclasses import dataclass

import numpy as np

from foldshift.inference.arguments import check_level
from foldshift.inference.comparisons import nadeau_bengio
from foldshift.inference.coverage import (
    AVERAGE_NEW_SOURCE,
    MODEL_ON_NEW_SOURCE,
    THESE_MODELS,
    TRAINING_PART,
    WHOLE_SAMPLE,
    audit_rows,
    keeps_level,
)
from foldshift.inference.fit_losses import fold_losses, held_out_loss, losses_after_fit, squared_error, zero_one_loss
from foldshift.inference.intervals import THIS_POPULATION, Interval, nested_cv_interval
from foldshift.inference.moments import LossMoments, loss_moments, moment_intervals
from foldshift.inference.sources_model import simulate_losses
from foldshift.partition.registry import make_folds

LEAVE_ONE_SOURCE_OUT, RANDOM_FOLDS = "leave one source out", "random folds"


@dataclass(frozen=True)
class CoverageAudit:
    """Result of `coverage_audit`; printed, a table.

    Attributes
    ----------
    rows : tuple of AuditRow
        By partitioner, target and interval.
    level : float
        What coverage is to be.
    title : str
        What was audited.
    notes : tuple of str
        What to beware of.
    """

    rows: tuple
    level: float
    title: str
    notes: tuple

    def trusted(self, partitioner, target):
        """The narrowest interval whose coverage is not below the level by more than two Monte Carlo standard errors.

        Parameters
        ----------
        partitioner, target : str
            As in the rows.

        Returns
        -------
        row : AuditRow or None
            None if there is none, or no such partitioner or target.
        """
        held = [
            row
            for row in self.rows
            if row.partitioner == partitioner and row.target == target and keeps_level(row.coverage, row.n, self.level)
        ]
        return min(held, key=lambda row: row.width, default=None)

    def __str__(self):
        lines = [self.title]
        name_width = max(len(row.interval) for row in self.rows)
        for partitioner, target in dict.fromkeys((row.partitioner, row.target) for row in self.rows):
            rows = [row for row in self.rows if (row.partitioner, row.target) == (partitioner, target)]
            trusted = self.trusted(partitioner, target)
            lines += ["", f"{partitioner}: {target}, {_mean(row.truth for row in rows):.4g}"]
            lines.append(f"    {'interval':{name_width}}  {'bias':>19}  {'coverage':>13}  {'P(neg.)':>7}  {'width':>9}")
            for row in rows:
                bias = f"{row.bias:+.3g} ± {row.bias_error:.2g}"
                coverage = f"{row.coverage:.3f} ± {row.coverage_error:.3f}"
                mark = "*" if row is trusted else " "
                lines.append(
                    f"  {mark} {row.interval:{name_width}}  {bias:>19}  {coverage:>13}  {row.negative:7.3f}  {row.width:9.4g}"
                )
        lines += ["", f"* the narrowest interval whose coverage is not below {self.level:g} by more than two standard errors"]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])


def coverage_audit(
    draw=None,
    estimator=None,
    *,
    shape=None,
    model="centroid",
    sources="random",
    n_folds=10,
    partitioner=None,
    n_replicates=200,
    level=0.95,
    n_repetitions=1,
    n_nested=0,
    rng,
):
    """Measure which interval from cross-validation can be trusted: how often each covers what it may be about.

    Samples of a population are cross-validated, and every interval is held against the true errors, measured on rows outside the
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
    level : float, default=0.95
        Confidence level.
    n_repetitions : int, default=1
        Partitions of every sample. With more than one there is also the interval of Nadeau and Bengio from all of them.
    n_nested : int, default=0
        Partitions for the interval of nested cross-validation, each of which takes ``k (k + 1) / 2`` fits; 0 leaves it out.
    rng : numpy.random.Generator
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
    check_level(level)
    for name, value, least in (("n_replicates", n_replicates, 2), ("n_repetitions", n_repetitions, 1), ("n_nested", n_nested, 0)):
        if value < least:
            raise ValueError(f"{name}={value!r} must be at least {least}")
    if (shape is None) == (draw is None) or (draw is None) != (estimator is None):
        raise ValueError("coverage_audit needs either draw and estimator, or shape=(rows, sources)")
    if shape is not None:
        return _audit_of_shape(shape, model, sources, n_replicates, level, rng)
    if n_nested and n_folds < 3:
        raise ValueError(f"n_folds={n_folds} must be at least 3 for nested cross-validation, which leaves two folds out")
    return _audit_of_draws(draw, estimator, n_folds, partitioner, n_replicates, level, n_repetitions, n_nested, rng)


def _audit_of_draws(draw, estimator, n_folds, partitioner, n_replicates, level, n_repetitions, n_nested, rng):
    from sklearn.base import is_classifier

    classes = is_classifier(estimator)
    loss = zero_one_loss if classes else squared_error
    partitioner = partitioner or ("SCV" if classes else "CV")
    results, failures = [], []
    n_rows = None
    for stream in rng.spawn(n_replicates):
        sample = _checked_sample(draw(stream), n_rows)
        n_rows = len(sample[0])
        try:
            results.append(_replicate(estimator, *sample, partitioner, n_folds, n_repetitions, n_nested, level, stream, loss))
        except MemoryError:
            raise
        except _CutError as error:
            raise ValueError(str(error)) from error
        except (Exception, SystemExit) as error:  # whatever a learner raises costs its sample
            failures.append(f"{type(error).__name__}: {' '.join(str(error).split())}")
    name = partitioner if isinstance(partitioner, str) else getattr(partitioner, "__name__", "partitioner")
    learner = type(estimator).__name__
    if not results:
        raise ValueError(f"{learner} failed on all {n_replicates} samples; the first time: {failures[0]}")
    folds, repeats, nested, truths = ([one[i] for one in results] for i in range(4))
    moments = _stacked(folds)
    parts, repeated_parts, whole = np.array(truths).T
    targets = {TRAINING_PART: parts, THESE_MODELS: parts, WHOLE_SAMPLE: whole}
    rows = audit_rows(moment_intervals(moments, level, binary=classes), targets, name)
    if n_repetitions > 1:
        test = nadeau_bengio(np.array(repeats), n_folds - 1, 1, confidence=level)
        of_all = Interval(
            f"Nadeau-Bengio, {n_repetitions}x",
            THIS_POPULATION,
            test.estimate,
            test.low,
            test.high,
            test.standard_error,
            test.df,
            "",
        )
        rows += audit_rows([of_all], targets | {TRAINING_PART: repeated_parts, THESE_MODELS: repeated_parts}, name)
    if n_nested:
        values = [np.array([getattr(one, field) for one in nested]) for field in ("estimate", "low", "high", "standard_error")]
        rows += audit_rows([Interval("nested", nested[0].target, *values, nested[0].df, "")], targets, name)
    rows.sort(key=lambda row: list(targets).index(row.target))
    n_rows = round(moments.K * moments.M)
    title = f"Coverage at level {level:g}: {n_replicates} samples of {n_rows} rows, {n_folds} folds by {name}, {learner}"
    notes = (
        [f"the estimator failed on {len(failures)} of {n_replicates} samples; the first time: {failures[0]}"] if failures else []
    )
    return CoverageAudit(tuple(rows), level, title, tuple(notes))


class _CutError(Exception):
    """Folds could not be cut: no fault of the learner."""


def _replicate(estimator, X, y, X_rest, y_rest, partitioner, n_folds, n_repetitions, n_nested, level, rng, loss):
    """Of one sample: moments of the first partition, fold means of all, the nested interval or None, and the truths.

    The truths are those of the first partition, of all, and of the whole sample.
    """
    try:
        folds = make_folds(partitioner, X, y, n_folds, [rng] * (n_repetitions + n_nested))
    except ValueError as error:
        raise _CutError(*error.args) from error
    states = (rng.random((n_repetitions, n_folds)) * 2**32).astype(np.uint32)
    found = [
        fold_losses(estimator, X, y, X_rest, y_rest, row, of_row, loss) for row, of_row in zip(folds[:n_repetitions], states)
    ]
    state = int(rng.random() * 2**32)
    whole = held_out_loss(estimator, X, y, X_rest, y_rest, state, loss)
    nested = None
    if n_nested:

        def loss_of(train, test):
            return losses_after_fit(estimator, X[train], y[train], [(X[test], y[test])], state, loss)[0]

        nested = nested_cv_interval(loss_of, folds[n_repetitions:], level)
    means = [[fold.mean() for fold in losses] for losses, _ in found]
    truths = [truth for _, truth in found]
    return loss_moments(found[0][0]), means, nested, (truths[0], np.mean(truths), whole)


def _audit_of_shape(shape, model, sources, n_replicates, level, rng):
    n, K = shape
    if sources not in ("random", "iid"):
        raise ValueError(f"sources={sources!r} must be 'random' or 'iid'")
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
        rows += audit_rows(moment_intervals(moments, level, binary=True), truths, name)
    what = "sources drawn anew for every sample" if random else "one source"
    title = f"Coverage at level {level:g}: {n_replicates} samples of {n} rows in {K} blocks, model {model}, {what}"
    notes = () if random else (f"the bias against {TRAINING_PART!r} is 0 by construction",)
    return CoverageAudit(tuple(rows), level, title, notes)


def _checked_sample(drawn, n_rows):
    """`n_rows`: of the samples before, if any."""
    if not isinstance(drawn, tuple) or len(drawn) != 4:
        raise ValueError(f"draw returned {type(drawn).__name__}; expected a tuple (X, y, X_rest, y_rest)")
    X, y, X_rest, y_rest = map(np.asarray, drawn)
    if len(X) != len(y) or len(X_rest) != len(y_rest) or not len(X) or not len(X_rest):
        raise ValueError(
            f"draw returned X, y, X_rest, y_rest with {len(X)}, {len(y)}, {len(X_rest)}, {len(y_rest)} rows; "
            "expected as many of X as of y, and some"
        )
    if n_rows not in (None, len(X)):
        raise ValueError(f"draw returned samples of {n_rows} and of {len(X)} rows; coverage is that of one size of sample")
    return X, y, X_rest, y_rest


def _stacked(moments):
    """Moments of many samples of one shape."""
    return LossMoments(
        *(np.array([getattr(one, field) for one in moments]) for field in LossMoments._fields[:5]), *moments[0][5:]
    )


def _mean(values):
    values = [value for value in values if value == value]
    return float(np.mean(values)) if values else np.nan
