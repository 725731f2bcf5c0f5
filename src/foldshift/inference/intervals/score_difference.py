"""Interval of the difference of two learners' scores on the same rows, which holds where the two hardly disagree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foldshift.core.arguments import check_confidence
from foldshift.core.counting import add_up, bincount
from foldshift.core.errors import DataError
from foldshift.inference.intervals.interval import DIFFERENCE, Interval
from foldshift.inference.intervals.score_ends import HEAVY, Ends, largest_share, quantile_of, variance_of_mean
from foldshift.inference.intervals.score_inputs import Read, read_inputs
from foldshift.inference.intervals.score_interval import (
    CLIP,
    check_clip,
    ends_of,
    few_groups,
    labels_as_scores,
    said_positive,
    without_one_group,
)
from foldshift.inference.intervals.score_names import ScoreName, score_name
from foldshift.inference.intervals.score_parts import area, average_precision, label_score, row_losses, table_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import FloatArray, IntArray

PAIRED = 1.1
"""Factor of the variance of a paired difference, chosen on the development populations of `validation/held_out_scores.py`."""


def score_difference_interval(
    y: ArrayLike,
    predictions_a: ArrayLike,
    predictions_b: ArrayLike,
    metric: str,
    *,
    folds: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    pos_label: Any = None,
    clip: float = CLIP,
    confidence: float = 0.95,
) -> Interval:
    """Interval of the score of one learner less that of another, from out-of-fold predictions of the same rows.

    Parameters
    ----------
    y, metric, folds, groups, pos_label, clip, confidence
        As for `score_interval`.
    predictions_a, predictions_b : array-like of shape (n,) or (r, n)
        Predictions of either learner for the same rows, from the same folds; as for `score_interval`.

    Returns
    -------
    interval : Interval
        Never a single number: two learners that agree on n rows may disagree on the next ones.

    Raises
    ------
    DataError
        As `score_interval`, and if the predictions have different shapes.

    Notes
    -----
    For error, accuracy, recall and specificity, and means of these over classes: the interval of Bonett and Price [1]_, which
    counts two more rows, one that only the first learner gets right and one that only the second does. Losses: paired rows,
    Student's t, and two such rows with the largest difference seen. Other scores: the intervals of either learner, joined by
    MOVER [2]_ with the correlation of their influences, to which every class adds such a pair. Level and power beside the
    corrected t, McNemar's test and sign flips: ``validation/tables/score_difference_power.csv``.

    References
    ----------
    .. [1] Bonett, D.G., Price, R.M. (2012). Adjusted Wald confidence interval for a difference of binomial proportions based on
       paired data. Journal of Educational and Behavioral Statistics 37, 479-488.
    .. [2] Zou, G.Y. (2007). Toward using confidence intervals to compare correlations. Psychological Methods 12, 399-413.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.arange(40) % 2
    >>> found = score_difference_interval(y, y, y, "accuracy")
    >>> found.estimate, round(found.low, 3), round(found.high, 3)
    (0.0, -0.069, 0.069)
    """
    score = score_name(metric)
    check_confidence(confidence)
    check_clip(clip)
    named = (("predictions_a", predictions_a), ("predictions_b", predictions_b))
    a, b = (read_inputs(score, y, one, folds, groups, pos_label, name) for name, one in named)
    if score.needs == "labels":
        a, b = _same_classes(score, y, (predictions_a, predictions_b), folds, groups, pos_label)
    if a.predictions.shape != b.predictions.shape:
        raise DataError(
            f"predictions_a and predictions_b have shapes {a.predictions.shape} and {b.predictions.shape} (repetitions, rows); "
            "expected those of the same repetitions"
        )
    if len(a.y) < 2:
        raise DataError("y has 1 row; a difference of two learners needs the spread of more")
    if score.family in ("losses", "explained"):
        ends = paired_ends(_of_losses(score, a, b, clip), a.groups, confidence)
    elif score.part in ("right", "wrong", "recall", "specificity") and score.average != "weighted":
        ends = paired_ends(_of_right_rows(score, a, b), a.groups, confidence)
    else:
        own = [ends_of(score, one, clip, confidence)[0] for one in (a, b)]
        ends = joined_ends(own[0], own[1], _correlation(score, a, b), score)
    most = score.high - score.low
    ends = ends._replace(low=max(ends.low, -most), high=min(ends.high, most))
    ends = without_one_group(ends, a.groups)
    notes = [caution for (name, _), one in zip(named, (a, b)) for caution in labels_as_scores(score, one.predictions, name)]
    notes += few_groups(a.groups)
    notes += [f"{a.left_out} rows that are not tested are left out"] if a.left_out else []
    notes += said_positive(score, a, pos_label, predictions_a)
    return Interval(score.name, DIFFERENCE, *ends, "; ".join(notes), confidence)


class Paired(NamedTuple):
    """Parts of a difference: a sum over parts of mean influences, each of the rows that are inside it."""

    estimate: float
    rows: list[FloatArray]  # by part: differences of the rows inside, of shape (r, n); 0 outside
    sizes: list[float]  # rows inside
    steps: list[float]  # how far a row may differ, in the same units
    shrunk: bool  # whether the middle of the interval is drawn to 0, as Bonett and Price's


def paired_ends(paired: Paired, groups: IntArray | None, confidence: float, factor: float = PAIRED) -> Ends:
    """Ends of a difference whose parts have a pair of opposite rows more than were seen.

    `factor` is that of the variance: 1 for rows that no model of another row was trained on.
    """
    sizes = np.array(paired.sizes) + 2
    rows = np.sum([one / size for one, size in zip(paired.rows, sizes)], axis=0)
    units = paired.sizes
    if groups is None:
        seen = float((rows**2).sum(axis=1).mean())
    else:
        n_groups = int(groups.max()) + 1
        units = [float(n_groups)]
        seen = float((np.array([bincount(groups, row, n_groups) for row in rows]) ** 2).sum(axis=1).mean())
        seen *= n_groups / max(n_groups - 1, 1)
    totals = np.array([float(one.sum(axis=1).mean()) for one in paired.rows])
    variance = factor * (seen + float(((2 * np.square(paired.steps) - totals**2 / sizes) / sizes**2).sum()))
    df = np.inf if groups is None and paired.shrunk else max(min(units) - 1, 1.0)
    middle = float((totals / sizes).sum()) if paired.shrunk else paired.estimate
    half = quantile_of(confidence, df) * float(np.sqrt(max(variance, 0.0)))
    low, high = min(middle - half, paired.estimate), max(middle + half, paired.estimate)
    return Ends(paired.estimate, low, high, float(np.sqrt(max(variance, 0.0))), df)


def joined_ends(a: Ends, b: Ends, correlation: float, score: ScoreName) -> Ends:
    """Ends of a difference by MOVER; where a score is not defined, its end is that of its domain."""
    estimate = a.estimate - b.estimate
    if np.isnan(estimate):
        known = [(np.nan_to_num(one.low, nan=score.low), np.nan_to_num(one.high, nan=score.high)) for one in (a, b)]
        return Ends(estimate, known[0][0] - known[1][1], known[0][1] - known[1][0], np.nan, np.nan)

    def distance(one: float, other: float) -> float:
        return float(np.sqrt(max(one**2 + other**2 - 2 * correlation * one * other, 0.0)))

    below = distance(a.estimate - a.low, b.high - b.estimate)
    above = distance(a.high - a.estimate, b.estimate - b.low)
    error = distance(a.standard_error, b.standard_error)
    return Ends(estimate, estimate - below, estimate + above, error, min(a.df, b.df))


def _correlation(score: ScoreName, a: Read, b: Read) -> float:
    """Correlation of the influences on two scores, less than 1 by a pair of opposite rows in every class."""
    of_a, of_b, added = _influences_of_labels(score, a, b) if score.needs == "labels" else _influences_of_ranks(score, a, b)
    own = [variance_of_mean(one, a.groups)[0] for one in (of_a, of_b)]
    gap = variance_of_mean(of_a - of_b, a.groups)[0] + added / (len(a.y) + 2) ** 2
    both = float(np.sqrt(own[0] * own[1]))
    return float(np.clip((own[0] + own[1] - gap) / (2 * both), -1.0, 1.0)) if both > 0 else 0.0


def _same_classes(
    score: ScoreName, y: ArrayLike, predictions: tuple[Any, Any], folds: Any, groups: Any, pos_label: Any
) -> tuple[Read, Read]:
    """Read both predictions with the codes of all classes that any of them names."""
    shapes = [np.atleast_2d(np.asarray(one)).shape for one in predictions]
    if shapes[0] != shapes[1]:
        raise DataError(f"predictions_a and predictions_b have shapes {shapes[0]} and {shapes[1]}; expected the same repetitions")
    both = read_inputs(score, y, np.concatenate([np.atleast_2d(np.asarray(one)) for one in predictions]), _twice(folds), groups,
                       pos_label)  # fmt: skip
    r = shapes[0][0]
    first, second = (
        both._replace(predictions=both.predictions[part], folds=both.folds[part]) for part in (slice(r), slice(r, None))
    )
    return first, second


def _twice(folds: Any) -> Any:
    array = None if folds is None else np.asarray(folds)
    return folds if array is None or array.ndim < 2 or len(array) == 1 else np.concatenate([array, array])


def _of_right_rows(score: ScoreName, a: Read, b: Read) -> Paired:
    """Parts of a difference of shares of right rows: of all rows, of a class, or of every class."""
    y, n = a.y, len(a.y)
    sign = -1.0 if score.part == "wrong" else 1.0
    gap = sign * ((a.predictions == y).astype(float) - (b.predictions == y))
    if score.part in ("right", "wrong"):
        inside, weights = np.ones((1, n), dtype=bool), [1.0]
    elif score.average:
        inside = y == np.unique(y)[:, None]
        weights = [1 / len(inside)] * len(inside)
    else:
        positive = y == a.positive
        inside, weights = (positive if score.part == "recall" else ~positive)[None], [1.0]
        if score.part == "specificity":  # of many classes: not predicted to be the positive one
            gap = (b.predictions == a.positive).astype(float) - (a.predictions == a.positive)
    rows = [weight * gap * one for weight, one in zip(weights, inside)]
    sizes = [float(one.sum()) for one in inside]
    if not min(sizes):
        raise DataError(f"y has no row that {score.name} counts; there is nothing to compare")
    estimate = add_up(float(one.sum(axis=1).mean()) / size for one, size in zip(rows, sizes))
    return Paired(estimate, rows, sizes, weights, True)


def _influences_of_labels(score: ScoreName, a: Read, b: Read) -> tuple[FloatArray, FloatArray, float]:
    """Influences of rows on either score (r, n), and what a pair of opposite rows in every class adds to their squares."""
    y, n_classes = a.y, len(a.classes)
    found: list[list[FloatArray]] = [[], []]
    steps = np.zeros(n_classes)
    for said in zip(a.predictions, b.predictions):
        for which, one in enumerate(said):
            influence = label_score(score, table_of(y, one, n_classes), a.positive)[1]
            found[which].append(influence[y, one])
            steps = np.maximum(steps, np.abs(np.diag(influence)[:, None] - influence).max(axis=1))
    return np.array(found[0]), np.array(found[1]), 2 * float((steps[np.unique(y)] ** 2).sum())


def _influences_of_ranks(score: ScoreName, a: Read, b: Read) -> tuple[FloatArray, FloatArray, float]:
    """Influences as `_influences_of_labels`; the opposite rows have the largest difference seen in their class."""
    positive, n = a.y == a.positive, len(a.y)

    def influences(read: Read) -> FloatArray:
        pairs = zip(read.predictions, read.folds)
        of_area = score.family == "area"
        return np.array([(area(positive, *one) if of_area else average_precision(positive, one[0])).influence for one in pairs])

    of_a, of_b = influences(a), influences(b)
    gaps = np.abs(of_a - of_b)
    inside = [one for one in (positive, ~positive) if one.any()]
    return of_a, of_b, 2 * add_up((float(gaps[:, one].max()) or n / float(one.sum())) ** 2 for one in inside)


def _of_losses(score: ScoreName, a: Read, b: Read, clip: float) -> Paired:
    """Parts of a difference of mean losses."""
    y, n = a.y, len(a.y)
    of_a, of_b = (np.array([row_losses(score, y, one, clip) for one in read.predictions]) for read in (a, b))
    slopes, estimate = _slopes(score, of_a, of_b, y)
    gaps = np.array([one * slope[0] - other * slope[1] for one, other, slope in zip(of_a, of_b, slopes)])
    step = float(np.abs(gaps).max()) or float(np.abs(of_a * slopes[0][0]).max()) or _usual(score, y)
    if score.needs == "probabilities" and largest_share(np.abs(gaps)) >= HEAVY:
        step = -float(np.log(clip)) if score.name == "log_loss" else 1.0
    return Paired(estimate, [gaps - gaps.mean(axis=1, keepdims=True)], [float(n)], [step], False)


def _slopes(score: ScoreName, of_a: FloatArray, of_b: FloatArray, y: FloatArray) -> tuple[list[tuple[float, float]], float]:
    """Slope of the score by the mean loss of either learner, by repetition, and the difference."""
    if score.name == "root_mean_squared_error":
        roots = [(float(np.sqrt(one.mean())), float(np.sqrt(other.mean()))) for one, other in zip(of_a, of_b)]
        slopes = [(0.5 / max(one, 1e-300), 0.5 / max(other, 1e-300)) for one, other in roots]
        return slopes, float(np.mean([one - other for one, other in roots]))
    slope = 1.0
    if score.family == "explained":
        if y.std() == 0:
            raise DataError("y has the same value in all rows; r2 is not defined")
        slope = -1 / float(y.var())
    return [(slope, slope)] * len(of_a), slope * float(of_a.mean() - of_b.mean())


def _usual(score: ScoreName, y: FloatArray) -> float:
    """Size of a difference where both learners are perfect."""
    if score.needs == "probabilities" or score.family == "explained":
        return 1.0
    return float(np.abs(y - y.mean()).mean()) or 1.0
