"""Interval for the difference of two learners' errors, from the losses of the same rows (Bayle et al. 2020)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import norm

from foldshift.core.arguments import check_confidence, check_one_of
from foldshift.core.gate.arrays import as_list
from foldshift.core.gate.folds import is_tested, named_folds, refuse_splitter
from foldshift.core.gate.numbers import as_numbers
from foldshift.core.gate.rows import check_same_rows
from foldshift.core.repr import figures, readable
from foldshift.inference.repetitions.variance import fold_moments

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray, TableLike

TARGET = "difference of the mean errors of these k models of either learner"
FEW_ROWS = 1000  # more have not been simulated; the interval is one for many
KNOWN_LOW = (
    "Its coverage is known to be low: .88 to .92 in 400 samples of 150 rows each of three populations, where .95 is promised "
    "(make validate WHAT=coverage)."
)


@readable
class LossDifference(NamedTuple):
    """Result of `loss_difference_interval`."""

    estimate: float  # estimate, low, high, standard_error: Of the mean loss of the first learner minus that of the second
    low: float
    high: float
    standard_error: float
    p_value: float  # two-sided, for no difference; 1 if no row tells the learners apart
    variance: str  # estimate of the variance that was used
    n_rows: int
    n_folds: int
    target: str  # the number that the interval should cover
    confidence: float  # probability of coverage aimed at

    def sentences(self) -> list[str]:
        """Report the difference in words; a list of str."""
        which = "neither" if self.low <= 0 <= self.high else "the second" if self.low > 0 else "the first"
        return [
            f"Mean loss of the first learner less that of the second: {figures(self.estimate)}, {100 * self.confidence:g} % "
            f"interval {figures(self.low)} to {figures(self.high)} (p = {self.p_value:.3g}); {which} is shown to be better.",
            f"This is about the {self.target}, not about other training sets: learners that vary with their training set need "
            "repetitions and foldshift.inference.compare.",
            *([] if self.n_rows > FEW_ROWS else [KNOWN_LOW]),
        ]

    def to_frame(self) -> pd.DataFrame:
        """Table of one row with the fields."""
        return pd.DataFrame([self._asdict()])


def loss_difference_interval(
    losses_a: Any,
    losses_b: Any,
    folds: TableLike = None,
    *,
    variance: Literal["within", "all pairs"] = "within",
    confidence: float = 0.95,
) -> LossDifference:
    """Interval and test for the difference of two learners' errors, cross-validated on the same folds.

    Parameters
    ----------
    losses_a, losses_b : array-like of shape (K, M), sequence of K arrays of shape (M_k,), or, with `folds`, of shape (N,)
        Loss of every test row, of the same rows in the same order.
    folds : array-like of shape (N,), optional
        Fold of every row; rows with -1 are never tested and left out.
    variance : {"within", "all pairs"}, default="within"
        Of the differences within folds, which needs two rows in every fold, or about the mean of all [1]_.
    confidence : float, default=0.95
        Probability of coverage aimed at.

    Returns
    -------
    difference : LossDifference
        Normal, about the mean of all rows. Valid for many rows where losses are stable: leaving one row of the training set out
        changes them little. Its target is the mean difference of these models, which another cut or sample does not share.

    Raises
    ------
    ValueError
        If shapes differ, there are fewer than two folds, a loss is not finite, a fold has one row where ``within`` is asked for,
        or an argument is out of range.

    References
    ----------
    .. [1] Bayle, P., Bayle, A., Janson, L., Mackey, L. (2020). Cross-validation confidence intervals for test error. NeurIPS 33.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> found = loss_difference_interval(rng.random(100) < 0.3, rng.random(100) < 0.1, np.arange(100) % 5)
    >>> found.n_folds, bool(found.low < 0.2 < found.high)
    (5, True)
    """
    check_confidence(confidence)
    check_one_of("variance", variance, ("within", "all pairs"))
    means, within, sizes = fold_moments(_differences(losses_a, losses_b, folds))
    if means.ndim != 1:
        raise ValueError(f"losses have {means.ndim + 1} axes; expected those of one cross-validation, shape (folds, rows)")
    N = int(sizes.sum())
    estimate = float((means * sizes).sum() / N)
    if variance == "within":
        if (sizes < 2).any():
            raise ValueError("a fold has one row, which has no variance within; say variance='all pairs'")
        spread = float((within * sizes).sum() / N)
    else:
        inside = np.where(sizes > 1, within * (sizes - 1), 0.0)
        spread = float((inside + sizes * (means - estimate) ** 2).sum() / N)
    error = float(np.sqrt(spread / N))
    half = float(norm.isf((1 - confidence) / 2)) * error
    p_value = float(2 * norm.sf(abs(estimate) / error)) if error > 0 else float(estimate == 0)
    return LossDifference(estimate, estimate - half, estimate + half, error, p_value, variance, N, len(sizes), TARGET, confidence)


def _differences(losses_a: Any, losses_b: Any, folds: TableLike) -> list[FloatArray]:
    """Differences of the losses, an array for every fold."""
    refuse_splitter(folds)
    if folds is None and all(np.ndim(loss) == 0 for loss in as_list(losses_a, "losses_a")):
        raise ValueError(f"losses_a has shape ({len(losses_a)},), one loss for every row; say in which fold each row is: folds=")
    if folds is not None:
        check_same_rows(losses_a=losses_a, losses_b=losses_b, folds=folds)
        a, b, folds = as_numbers(losses_a, "losses_a"), as_numbers(losses_b, "losses_b"), named_folds(folds)
        if a.ndim != 1 or not a.shape == b.shape == folds.shape:
            raise ValueError(
                f"losses_a, losses_b and folds have shapes {a.shape}, {b.shape}, {folds.shape}; expected one value for every row"
            )
        return [(a - b)[folds == fold] for fold in np.unique(folds[is_tested(folds)])]
    by_fold_a, by_fold_b = (
        [as_numbers(fold, f"{name}[{number}]") for number, fold in enumerate(as_list(losses, name))]
        for name, losses in (("losses_a", losses_a), ("losses_b", losses_b))
    )
    shapes = [[fold.shape for fold in losses] for losses in (by_fold_a, by_fold_b)]
    if shapes[0] != shapes[1]:
        raise ValueError(f"losses_a has folds of shapes {shapes[0]} and losses_b {shapes[1]}; expected the same rows")
    if any(len(shape) != 1 for shape in shapes[0]):
        raise ValueError(f"losses_a has folds of shapes {shapes[0]}; expected rows by fold, or folds=, the fold of every row")
    return [one - other for one, other in zip(by_fold_a, by_fold_b)]
