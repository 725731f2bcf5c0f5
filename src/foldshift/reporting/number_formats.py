"""How numbers look in printed tables, in HTML and in LaTeX: one form for each kind, and one sign for what is missing.

`EMPTY` stands where there should be a number and is none; a cell without any text is one in which there can be none.
"""

import numpy as np
import pandas as pd

EMPTY = "–"


def number(value, form=".4f", *, empty=EMPTY):
    """A number.

    Parameters
    ----------
    value : float or None
        NaN and None are missing.
    form : str, default=".4f"
        Format as of `format`; an exponent is written without leading zeros if the letter is ``E``: ``9.2947E-2``.
    empty : str, default=EMPTY
        What stands for a missing number: ``""`` where there can be none.

    Returns
    -------
    text : str
    """
    if missing(value):
        return empty
    text = format(value, form)
    return text.replace("E-0", "E-").replace("E+0", "E+") if form.endswith("E") else text


def signed(value):
    """A difference in a unit of any size, with its sign: three digits, and never an exponent for a large one.

    Examples
    --------
    >>> [signed(value) for value in (-1093.4, 20.53, 0.00123)]
    ['-1,093', '+20.5', '+0.00123']
    """
    return number(value, "+.3g" if missing(value) or abs(value) < 999.5 else "+,.0f")


def with_error(value, error, form=".4f", error_form=None, *, empty=EMPTY):
    """A number ± its error.

    Parameters
    ----------
    value, error : float or None
        NaN and None are missing.
    form : str, default=".4f"
        Format of the number.
    error_form : str, optional
        Format of the error; by default that of the number, without a sign.
    empty : str, default=EMPTY
        What stands for a missing number, whatever its error: ``""`` where there can be none.

    Returns
    -------
    text : str
        ``0.1234 ± –`` for a missing error.
    """
    if missing(value):
        return empty
    return f"{number(value, form)} ± {number(error, error_form or form.replace('+', ''))}"


def counted(n, noun):
    """A number of things: ``1 population``, ``3 populations``."""
    return f"{int(n)} {noun}{'' if int(n) == 1 else 's'}"


def p_value(p, asterisk=False, *, decimals_from=0.001, decimals=3):
    """A p-value: with decimals, or with three digits and an exponent where it is small.

    Parameters
    ----------
    p : float or None
        NaN and None are missing.
    asterisk : bool, default=False
        Whether an asterisk follows.
    decimals_from : float, default=0.001
        The least p written with decimals; above 1: none.
    decimals : int, default=3
        How many.

    Returns
    -------
    text : str
        ``0.043``, ``7.45E-9``, ``0`` for a p of exactly 0, `EMPTY` for a missing one.
    """
    if missing(p):
        return EMPTY
    mantissa, exponent = f"{p:.2e}".split("e")
    text = "0" if p == 0 else f"{p:.{decimals}f}" if p >= decimals_from else f"{mantissa}E{int(exponent)}"
    return text + " *" * bool(asterisk)


def percent(share, decimals=1):
    """A share of 1 in per cent, without the sign; `EMPTY` for a missing one."""
    return EMPTY if missing(share) else f"{100 * share:.{decimals}f}"


def count(n):
    """A whole number; `EMPTY` for a missing one."""
    return EMPTY if missing(n) else f"{n:.0f}"


def count_range(values):
    """From the least to the largest of some whole numbers: ``28``, or ``20 to 28``.

    Parameters
    ----------
    values : array-like
        NaN are left out.

    Returns
    -------
    text : str
        ``0`` if there are none.
    """
    values = np.asarray(values, dtype=np.float64)
    values = values[~np.isnan(values)]
    if not len(values):
        return "0"
    low, high = count(values.min()), count(values.max())
    return high if low == high else f"{low} to {high}"


def missing(value):
    """Whether there is no number: None, NaN or ``pandas.NA``."""
    return bool(pd.isna(value))
