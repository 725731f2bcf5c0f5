"""Names of cuts and methods that declarations and measures share.

They are not in `study.py`, as the measures would then be repeated after every edit of a caption.
"""

from __future__ import annotations

RERANDOMISED = "Rerandomised"
NESTED_FOLDS = 5
TIMES_A_SAMPLE = 5  # rows of a data set for each row of a sample, at least
METHODS = ("nested", "corrected t", "conservative Z")


def n_fits(n_partitions: int, n_holdouts: int, n_halves: int) -> dict[str, int]:
    """Count the fits of each of `METHODS` for one sample, learner and cut; arguments as the settings of the same names."""
    nested = n_partitions * NESTED_FOLDS * (NESTED_FOLDS + 1) // 2
    return dict(zip(METHODS, (nested, n_holdouts, n_holdouts * (1 + 2 * n_halves))))
