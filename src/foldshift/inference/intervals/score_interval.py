"""Interval of any common score from pooled out-of-fold predictions, by influence functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from foldshift.core.arguments import check_confidence
from foldshift.core.counting import bincount
from foldshift.core.errors import DataError
from foldshift.inference.intervals.interval import Interval
from foldshift.inference.intervals.mean_loss import dependence, unstable_part
from foldshift.inference.intervals.score_ends import (
    HEAVY,
    HEAVY_TAILS,
    Ends,
    Spread,
    area_ends,
    explained_ends,
    largest_share,
    logit_ends,
    loss_ends,
    share_ends,
    table_ends,
    tail_weight,
)
from foldshift.inference.intervals.score_inputs import Read, read_inputs
from foldshift.inference.intervals.score_names import ScoreName, score_name
from foldshift.inference.intervals.score_parts import area, average_precision, row_losses, shares_of, table_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, BoolArray, FloatArray, IntArray

TARGET = "the score of models such as these on new rows of this population"
CLIP = 1e-3  # smallest probability in the log loss
FEW_ROWS, FEW_GROUPS = 5, 10
ALL_ALIKE = "y has the same value in all rows: r2 is not defined"
UNSTABLE_PART = 0.25  # of the variance of the losses that lies between repetitions of a row


def score_interval(
    y: ArrayLike,
    predictions: ArrayLike,
    metric: str,
    *,
    folds: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    pos_label: Any = None,
    clip: float = CLIP,
    confidence: float = 0.95,
) -> Interval:
    """Interval of a score from out-of-fold predictions.

    Parameters
    ----------
    y : array-like of shape (n,)
        Target: classes or numbers.
    predictions : array-like of shape (n,) or (r, n)
        Prediction of every row by the model of the fold that it was left out of; of r repetitions. Labels; a score of the
        positive class for ``roc_auc`` and ``average_precision``; probabilities for ``brier_score`` and ``log_loss``, of the
        positive class or, shape (n, C) or (r, n, C), of all classes in sorted order; numbers for ``r2`` and errors of numbers.
    metric : str
        Score by scikit-learn's name, without ``neg_``: error, accuracy, balanced_accuracy, f1, precision, recall, specificity
        and jaccard (also ``_macro``, ``_weighted``), matthews_corrcoef, cohen_kappa, roc_auc, average_precision, brier_score,
        log_loss, root_mean_squared_error, mean_squared_error, mean_absolute_error, r2.
    folds : array-like of int of shape (n,) or (r, n), optional
        Fold of every row; -1 for a row that is not tested, which is left out. For ``roc_auc`` rows are compared within folds
        only, as models of different folds score on different scales.
    groups : array-like of shape (n,), optional
        Rows that belong together: the spread is that of whole groups.
    pos_label : object, optional
        Positive class; of two classes the larger one by default.
    clip : float, default=0.001
        Smallest probability in the log loss. Without one, a single sure and wrong row decides the score.
    confidence : float, default=0.95
        Probability of coverage aimed at.

    Returns
    -------
    interval : Interval
        In units of the score, never outside its domain, about models trained as these were. The estimate is the mean over
        repetitions; the variance is that of the rows of one, as the rows are the same. Its note holds the cautions.

    Raises
    ------
    DataError
        If shapes do not fit, a value is missing, the score is unknown or needs other predictions; the message has a remedy.

    Notes
    -----
    Shares (error, recall, F1 by the Jaccard index ...) have Wilson's interval; means of shares join these by MOVER [1]_.
    Correlation and kappa: Fisher's scale. Area under the ROC curve: influences as in [2]_, with the variance as a function of the
    area. Losses: the logarithm below, Student's t corrected for skewness above. R2: the logarithm of what is not explained.
    Coverage by score and population: ``validation/tables/score_intervals.csv``.

    References
    ----------
    .. [1] Donner, A., Zou, G.Y. (2012). Closed-form confidence intervals for functions of the normal mean and standard deviation.
       Statistical Methods in Medical Research 21, 347-359.
    .. [2] LeDell, E., Petersen, M., van der Laan, M. (2015). Computationally efficient confidence intervals for cross-validated
       area under the ROC curve estimates. Electronic Journal of Statistics 9, 1583-1607.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.repeat([0, 1], [90, 10])
    >>> found = score_interval(y, np.where(np.arange(100) < 93, 0, 1), "f1")
    >>> round(found.estimate, 3), round(found.low, 3), round(found.high, 3)
    (0.824, 0.548, 0.947)
    """
    score = score_name(metric)
    check_confidence(confidence)
    check_clip(clip)
    read = read_inputs(score, y, predictions, folds, groups, pos_label)
    ends, notes = ends_of(score, read, clip, confidence)
    if score.name == "roc_auc":
        notes += of_other_class(ends.estimate, ends.high)
    ends = without_one_group(ends, read.groups)
    notes += [
        *labels_as_scores(score, read.predictions),
        *_of_all(score, read),
        *said_positive(score, read, pos_label, predictions),
    ]
    return Interval(score.name, TARGET, *ends[:5], "; ".join(notes), confidence)


def without_one_group(ends: Ends, groups: IntArray | None) -> Ends:
    """Leave the ends out where there is one group, which shows no spread of groups."""
    return ends if groups is None or groups.max() > 0 else Ends(ends.estimate, np.nan, np.nan, np.nan, np.nan)


def few_groups(groups: IntArray | None) -> list[str]:
    """Caution for few groups, or for one."""
    if groups is None or (n := int(groups.max()) + 1) >= FEW_GROUPS:
        return []
    return [f"only {n} groups" if n > 1 else "one group only, so that the spread of groups cannot be seen"]


def of_other_class(estimate: float, high: float) -> list[str]:
    """Caution for an area that is below .5 beyond chance."""
    return [f"the area is below .5; of the other class it is {1 - estimate:.4g}: are these its scores?"] if high < 0.5 else []


def labels_as_scores(score: ScoreName, predictions: Iterable[Array], name: str = "predictions") -> list[str]:
    """Caution for labels in the place of scores or probabilities."""
    if score.needs == "ranks" and all(len(np.unique(one)) <= 2 for one in predictions):
        return [f"{name} holds two values only: of labels this is the score of a single threshold"]
    if score.needs == "probabilities" and all(np.isin(one, (0, 1)).all() for one in predictions):
        return [f"{name} holds 0 and 1 only: these are labels, or a learner that is always sure"]
    return []


def said_positive(score: ScoreName, read: Read, pos_label: Any, predictions: ArrayLike) -> list[str]:
    """Say which class is the positive one, where neither the caller nor the labels do."""
    of_one = score.one_class or (
        score.needs == "probabilities" and np.ndim(predictions) < 3 and np.shape(predictions)[-1:] != (2,)
    )
    return chosen_positive(read.classes) if pos_label is None and read.positive >= 0 and of_one else []


def chosen_positive(classes: Array) -> list[str]:
    """Name the larger of two classes, which is the positive one, but for 0 and 1 or -1 and 1."""
    if set(classes.tolist()) in ({0, 1}, {-1, 1}):
        return []
    return [f"the positive class is {classes.tolist()[-1]!r}; pos_label= names another"]


def check_clip(clip: float) -> None:
    """Refuse a clip that is not a small probability."""
    if not 0 < clip < 0.5:
        raise DataError(f"clip={clip!r} must be a small probability, e.g. 0.001")


def ends_of(score: ScoreName, read: Read, clip: float, confidence: float) -> tuple[Ends, list[str]]:
    """Ends of the score, and the cautions that go with its kind."""
    y, spread = read.y, Spread(read.groups, dependence(_rows_right(score, read)), confidence)
    if score.family == "shares":
        parts = [shares_of(score, y, one, read.positive, len(read.classes)) for one in read.predictions]
        fewest = int(min(one.inside[one.weights > 0].sum(axis=1).min() for one in parts))
        return share_ends(parts, score.part, spread), _few(score, fewest)
    if score.family == "table":
        n_classes = len(read.classes)
        tables = np.array([table_of(y, one, n_classes) for one in read.predictions])
        codes = y * n_classes + read.predictions
        return table_ends(score.name, tables, codes, spread), _few(score, int(bincount(y).min()))
    if score.family in ("area", "precision-recall"):
        return _rank_ends(score, read, spread)
    losses = np.array([row_losses(score, y, one, clip) for one in read.predictions])
    notes = _tails(losses, bounded=score.needs == "probabilities")
    if score.name == "log_loss":
        own = read.predictions[:, np.arange(len(y)), y]
        clipped = int((own < clip).any(axis=0).sum())
        notes += [f"{clipped} rows have a probability below {clip:g}, which is raised to it"] if clipped else []
    if score.family == "explained":
        return explained_ends(losses, y, spread), notes if y.std() > 0 else [
            "y has the same value in all rows: r2 is not defined"
        ]
    if score.needs == "probabilities":
        usual = most = (1.0 if len(read.classes) == 2 else 2.0) if score.name == "brier_score" else -float(np.log(clip))
    else:
        most, usual = np.inf, float(row_losses(score, y, np.full(len(y), y.mean()), clip).mean())
    ends = loss_ends(losses, most, usual, spread)
    if score.name == "root_mean_squared_error":
        root = float(np.sqrt(losses.mean(axis=1)).mean()) if len(losses) > 1 else float(np.sqrt(ends.estimate))
        error = ends.standard_error / (2 * root) if root > 0 else 0.0
        ends = Ends(root, float(np.sqrt(ends.low)), float(np.sqrt(ends.high)), error, ends.df)
    return ends, notes


def _rows_right(score: ScoreName, read: Read) -> FloatArray:
    """Values of the rows that repetitions may disagree in; shape (r, n)."""
    if score.needs == "labels":
        return (read.predictions == read.y).astype(np.float64)
    if score.needs == "probabilities":
        own: FloatArray = read.predictions[:, np.arange(len(read.y)), read.y]
        return own
    return (read.predictions - read.y).astype(np.float64)


def _rank_ends(score: ScoreName, read: Read, spread: Spread) -> tuple[Ends, list[str]]:
    positive = read.y == read.positive
    n_up, n_down = int(positive.sum()), int((~positive).sum())
    if not n_up or not n_down:
        return Ends(np.nan, np.nan, np.nan, np.nan, np.nan), ["y holds one class only, so that there is nothing to rank"]
    notes = _few(score, min(n_up, n_down))
    if score.family == "precision-recall":
        scored = [average_precision(positive, one) for one in read.predictions]
        notes.append(
            "the estimate of average precision is too high where positives are few: a positive row is counted among the rows at "
            "its own score"
        )
        units = n_up if read.groups is None else len(np.unique(read.groups[positive]))
        return logit_ends(scored, max(units - 1.0, 1.0), spread), notes + _few_groups(read, positive)
    scored = [area(positive, one, cut) for one, cut in zip(read.predictions, read.folds)]
    if any(np.isnan(one.estimate) for one in scored):
        return Ends(np.nan, np.nan, np.nan, np.nan, np.nan), ["no fold holds both classes; use stratified folds, or fewer"]
    return area_ends(scored, positive, spread), notes + _few_groups(read, positive)


def _few_groups(read: Read, positive: BoolArray) -> list[str]:
    """Caution where few groups hold a class, however many there are."""
    if read.groups is None:
        return []
    fewest = min(len(np.unique(read.groups[one])) for one in (positive, ~positive))
    return [f"only {fewest} groups hold one of the classes"] if fewest < FEW_GROUPS <= int(read.groups.max()) + 1 else []


def _few(score: ScoreName, fewest: int) -> list[str]:
    if not fewest:
        missing = {"precision": "predicted to be of a class", "right": "there", "wrong": "there"}.get(score.part, "of a class")
        return [f"no row is {missing}: its share is not defined, and its interval is all of its range"]
    return [f"rests on a class of {fewest} rows; five are few"] if fewest < FEW_ROWS else []


def _tails(losses: FloatArray, *, bounded: bool) -> list[str]:
    """Caution where one row holds much of all loss, or where losses without a bound have heavy tails."""
    if (share := largest_share(losses)) < HEAVY:
        if bounded or (weight := tail_weight(losses)) < HEAVY_TAILS:
            return []
        many = f"the mean square of the losses is {weight:.1f} times their squared mean (3 for squared normal errors)"
        return [f"heavy tails: {many}, so that rare larger losses may be missing, and the interval may be too short"]
    return [f"one row holds {100 * share:.0f} % of all loss: a larger one may be missing, and the interval may be too short"]


def _of_all(score: ScoreName, read: Read) -> list[str]:
    """Cautions for any score: few groups, rows left out, learners that change with the partition."""
    notes = few_groups(read.groups)
    if read.left_out:
        notes.append(f"{read.left_out} rows that are not tested are left out")
    if (part := unstable_part(_rows_right(score, read))) > UNSTABLE_PART:
        notes.append(f"{100 * part:.0f} % of the spread is between repetitions of a row: the learner is unstable")
    return notes
