"""Limits of tests over few data sets: with fewer than five they can find nothing at the usual levels."""

from __future__ import annotations

from foldshift.reporting.table_grid import Grid

INSTEAD = "what each data set says by itself stands in the tables on single data sets"


def smallest_p(n_datasets: int) -> float:
    """Smallest possible two-sided p of the sign test and the signed-ranks test over data sets: all differences have one sign.

    >>> smallest_p(3)
    0.25
    """
    return min(1.0, 2.0 ** (1 - n_datasets))


def too_few(n_datasets: int, alpha: float, unit: str = "data set") -> str:
    """Explain why no test over so few data sets can be significant, without the full stop; empty where one can be.

    >>> too_few(6, 0.05)
    ''
    >>> too_few(3, 0.05)[:60]
    'this run has 3 data sets, and the smallest p that a signed-r'
    """
    p = smallest_p(n_datasets)
    if p <= alpha:
        return ""
    instead = f"; {INSTEAD}" if unit == "data set" else ""
    return (
        f"this run has {n_datasets} {unit}{'s' * (n_datasets != 1)}, and the smallest p that a signed-ranks test over "
        f"{n_datasets} can have is {p:.3g}, above the level {alpha:g}, so that no test over {unit}s can show a difference"
        f"{instead}"
    )


def one_line(reason: str) -> Grid:
    """Make a printed table of one line, which gives the reason for the missing table."""
    return Grid([""], [[sentence(reason)]])


def sentence(reason: str) -> str:
    """Write a reason as a sentence with a capital letter and a full stop."""
    return f"{reason[:1].upper()}{reason[1:]}."
