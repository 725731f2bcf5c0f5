"""Shares and percents side by side: a score of .8 beside one of 80."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from foldshift.core.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldshift.core.types import FloatArray

PERCENT = 10.0  # scores above this beside shares, up to 1, are in percent


def refuse_mixed_units(values: FloatArray, names: Sequence[str], by_metric: bool = False) -> None:
    """Refuse scores (n, n_learners) of which some are shares and others percents: those of two learners, or any `by_metric`."""
    if not (np.nanmin(values) >= 0 and np.nanmax(values) <= 100):
        return
    shares = (values > 0) & (values <= 1) & (values % 1 != 0)
    percents = values > PERCENT
    mixed = shares.sum() + percents.sum() >= 0.9 * (values > 0).sum() if by_metric else _one_each(values)
    if shares.any() and percents.any() and mixed:
        where = np.argwhere(shares)[0], np.argwhere(percents)[0]
        small, large = (f"{values[tuple(at)]:g} of {names[at[1]]!r}" for at in where)
        raise DataError(
            f"some scores are shares and others percents ({small}, {large}); write all in one way, and "
            "leave out what is not a learner"
        )


def _one_each(values: FloatArray) -> bool:
    """Say whether some learners have shares alone and all others hardly any."""
    most, middle = np.nanmax(values, axis=0), np.nanmedian(values, axis=0)
    return bool(((most <= 1) | (middle > PERCENT)).all())
