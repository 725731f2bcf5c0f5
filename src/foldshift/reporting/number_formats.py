"""Number formats of printed tables, in HTML and in LaTeX: one form for each kind of number, and one sign for a missing one.

`EMPTY` marks a cell whose number is missing; a cell that cannot have a number has no text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from foldshift.core.types import TableLike

EMPTY = "–"


def number(value: float | None, form: str = ".4f", *, empty: str = EMPTY) -> str:
    """Format a number."""
    if missing(value):
        return empty
    text = format(value, form)
    return text.replace("E-0", "E-").replace("E+0", "E+") if form.endswith("E") else text


def signed(value: float | None) -> str:
    """Format a difference in a unit of any size, with its sign: three digits, and no exponent for a large one.

    >>> [signed(value) for value in (-1093.4, 20.53, 0.00123)]
    ['-1,093', '+20.5', '+0.00123']
    """
    return number(value, "+.3g" if value is None or missing(value) or abs(value) < 999.5 else "+,.0f")


def with_error(
    value: float | None, error: float | None, form: str = ".4f", error_form: str | None = None, *, empty: str = EMPTY
) -> str:
    """Format a number ± its error."""
    if missing(value):
        return empty
    return f"{number(value, form)} ± {number(error, error_form or form.replace('+', ''))}"


def counted(n: int, noun: str) -> str:
    """Write a number with its noun: ``1 population``, ``3 populations``."""
    return f"{int(n)} {noun}{'' if int(n) == 1 else 's'}"


def p_value(p: float | None, asterisk: bool = False, *, decimals_from: float = 0.001, decimals: int = 3) -> str:
    """Format a p-value: with decimals, or with three digits and an exponent where it is small."""
    if p is None or missing(p):
        return EMPTY
    mantissa, exponent = f"{p:.2e}".split("e")
    text = "0" if p == 0 else f"{p:.{decimals}f}" if p >= decimals_from else f"{mantissa}E{int(exponent)}"
    return text + " *" * bool(asterisk)


def percent(share: Any, decimals: int = 1) -> str:
    """Format a share of 1 in per cent, without the sign; `EMPTY` for a missing one."""
    return EMPTY if missing(share) else f"{100 * share:.{decimals}f}"


def count(n: Any) -> str:
    """Format a whole number; `EMPTY` for a missing one."""
    return EMPTY if missing(n) else f"{n:.0f}"


def count_range(values: TableLike) -> str:
    """Format the range of some whole numbers: ``28``, or ``20 to 28``."""
    values = np.asarray(values, dtype=np.float64)
    values = values[~np.isnan(values)]
    if not len(values):
        return "0"
    low, high = count(values.min()), count(values.max())
    return high if low == high else f"{low} to {high}"


def missing(value: Any) -> bool:
    """Return True for None, NaN or ``pandas.NA``."""
    return bool(pd.isna(value))
