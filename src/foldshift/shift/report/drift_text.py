"""Number formats and wording of the drift reports, and the check of their level."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from foldshift.core.types import Floats


def check_alpha(alpha: float) -> None:
    """Raise if a level is not between 0 and 1."""
    if not 0 < alpha < 1:
        raise ValueError(f"alpha={alpha!r} must be between 0 and 1, e.g. 0.05")


def p_in_words(p: Floats) -> str:
    """Format a p-value with three decimals, a smaller one as a power of ten."""
    return "NaN" if np.isnan(p) else f"{p:.3f}" if p >= 0.001 else f"{p:.0e}" if p > 0 else "0"


def percent(share: float) -> str:
    """Format a share in percent with three digits."""
    return f"{100 * share:.3g} %"


def shortened(name: str, width: int) -> str:
    """Shorten a name to `width` letters."""
    return name if len(name) <= width else name[: width - 3] + "..."


def counted(n: int, noun: str) -> str:
    """Write a number with its noun, e.g. "1 feature", "2 features"."""
    return f"{n} {noun}{'s' * (n != 1)}"


def plain_values(row: dict[str, Any]) -> dict[str, Any]:
    """Convert the values of a dictionary to plain Python: NumPy numbers to numbers, NaN to None."""
    values = {key: value.item() if isinstance(value, np.generic) else value for key, value in row.items()}
    return {key: None if isinstance(value, float) and np.isnan(value) else value for key, value in values.items()}
