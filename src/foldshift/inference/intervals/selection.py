"""Error of the best of many learners, without the optimism of the choice (Tsamardinos et al. 2018)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from foldshift.core.arguments import check_confidence
from foldshift.core.counting import bincount
from foldshift.core.gate.numbers import as_numbers
from foldshift.core.repr import readable
from foldshift.core.seeding import as_generator

if TYPE_CHECKING:
    from foldshift.core.types import TableLike

TARGET = "error of the learner that this selection chooses, trained on a training part"


@readable
class SelectedError(NamedTuple):
    """Result of `selection_corrected_error`."""

    chosen: int  # learner with the smallest mean loss (the first if several are equal)
    apparent: float  # its mean loss, which is too small, because it was chosen for it
    estimate: float  # estimate, low, high: Corrected error, and its percentile interval
    low: float
    high: float
    n_rows: int
    n_learners: int
    n_bootstraps: int
    target: str  # the number that the interval should cover
    confidence: float  # probability of coverage aimed at

    def sentences(self) -> list[str]:
        """Report the error in words; a list of str."""
        return [
            f"Learner {self.chosen} has the smallest cross-validated error of {self.n_learners}: {self.apparent:.4g}, too good, "
            "since it was chosen for it.",
            f"Corrected for the choice: {self.estimate:.4g}, {100 * self.confidence:g} % interval {self.low:.4g} to "
            f"{self.high:.4g}, for the {self.target}.",
            "The interval is wider than needed: it covers more often than it promises.",
        ]

    def to_frame(self) -> pd.DataFrame:
        """Table of one row with the fields."""
        return pd.DataFrame([self._asdict()])


def selection_corrected_error(
    losses: TableLike, *, n_bootstraps: int = 1000, confidence: float = 0.95, rng: np.random.Generator | int
) -> SelectedError:
    """Bootstrap bias corrected cross-validation: choose on resampled rows, estimate on those left out.

    Parameters
    ----------
    losses : array-like of shape (N, n_learners) or (r, N, n_learners)
        Loss of every row under every learner (or setting of one), each from the model of the fold that the row was left out of;
        of r repetitions. Nothing is fitted again.
    n_bootstraps : int, default=1000
        Bootstrap samples of the rows.
    confidence : float, default=0.95
        Probability of coverage aimed at.
    rng : numpy.random.Generator or int
        Source of randomness.

    Returns
    -------
    selected : SelectedError
        In every bootstrap sample the learner with the smallest mean loss is chosen, and judged by the rows outside the sample;
        the estimate is the mean, the interval that of percentiles, which is
        wider than needed: rows outside a sample are .368 of all. Repetitions are averaged row by row. The estimate is a little
        too large, as the choice is made on .632 of the rows.

    Raises
    ------
    ValueError
        If losses has another shape, less than two rows, one is not finite, or an argument is out of range.

    References
    ----------
    .. [1] Tsamardinos, I., Greasidou, E., Borboudakis, G. (2018). Bootstrapping the out-of-sample predictions for efficient and
       accurate cross-validation. Machine Learning 107, 1895-1922.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> found = selection_corrected_error(rng.random((100, 50)) < 0.5, rng=rng)  # fifty ways to guess
    >>> found.apparent < 0.42, bool(0.45 < found.estimate < 0.55)
    (True, True)
    """
    rng = as_generator(rng)
    check_confidence(confidence)
    if n_bootstraps < 2:
        raise ValueError(f"n_bootstraps={n_bootstraps!r} must be at least 2, e.g. 1000")
    losses = as_numbers(losses, "losses")
    if losses.ndim not in (2, 3) or min(losses.shape) < 1 or losses.shape[-2] < 2:
        raise ValueError(f"losses has shape {losses.shape}; expected (rows, learners) or (repetitions, rows, learners), two rows")
    if not np.isfinite(losses).all():
        raise ValueError(f"losses has {int((~np.isfinite(losses)).sum())} NaN or infinite values; leave that learner out")
    losses = losses if losses.ndim == 2 else losses.mean(axis=0)
    n = len(losses)
    means = losses.mean(axis=0)
    found: list[float] = []
    while len(found) < n_bootstraps:
        times = bincount(rng.integers(n, size=n), minlength=n)
        if (times == 0).any():  # of two rows, a sample may hold both
            found.append(losses[times == 0, (times @ losses).argmin()].mean())
    low, high = np.quantile(found, [(1 - confidence) / 2, (1 + confidence) / 2])
    chosen = int(means.argmin())
    numbers = float(means[chosen]), float(np.mean(found)), float(low), float(high)
    return SelectedError(chosen, *numbers, n, losses.shape[1], n_bootstraps, TARGET, confidence)
