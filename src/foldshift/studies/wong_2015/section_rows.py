"""Means over populations of quantities with Monte Carlo errors, which the tables of schemes and of cuts share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

ALL = "mean over populations"


def with_means(rows: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Add the mean over populations of every quantity, by `keys`; its error is that of these populations, not of others."""
    columns = [*keys, "quantity"]
    means = []
    for key, part in rows[np.isfinite(rows["value"])].groupby(columns, sort=False):
        error = float(np.sqrt((part["standard_error"] ** 2).sum()) / len(part))
        means.append(dict(zip(columns, key)) | {"population": ALL, "value": part["value"].mean(), "standard_error": error})
    return pd.concat([rows, pd.DataFrame(means, columns=rows.columns)], ignore_index=True).round(12)
