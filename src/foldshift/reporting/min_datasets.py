"""What tests over data sets can say of a run with few of them: below five, nothing at the usual levels."""

from __future__ import annotations

from foldshift.reporting.table_grid import Grid

INSTEAD = "what each data set says by itself stands in the tables on single data sets"


def smallest_p(n_datasets: int) -> float:
    """Least two-sided p of the sign test and of the signed-ranks test over data sets: all differences have one sign.

    Examples
    --------
    >>> smallest_p(3)
    0.25
    """
    return min(1.0, 2.0 ** (1 - n_datasets))


def too_few(n_datasets: int, alpha: float, unit: str = "data set") -> str:
    """Why no test over so many data sets can be significant, as a sentence without its full stop; empty where one can.

    Examples
    --------
    >>> too_few(6, 0.05)
    ''
    >>> too_few(3, 0.05)[:60]
    'this run has 3 data sets, and the smallest p that a signed-r'
    """
    p = smallest_p(n_datasets)
    if p <= alpha:
        return ""
    return (
        f"this run has {n_datasets} {unit}{'s' * (n_datasets != 1)}, and the smallest p that a signed-ranks test over "
        f"{n_datasets} can have is {p:.3g}, above the level {alpha:g}, so that no test over {unit}s can show a difference"
        + f"; {INSTEAD}"
        * (unit == "data set")
    )


def one_line(reason: str) -> Grid:
    """A printed table that says in one line why there is none."""
    return Grid([""], [[sentence(reason)]])


def sentence(reason: str) -> str:
    """A reason as a sentence of its own."""
    return f"{reason[:1].upper()}{reason[1:]}."
