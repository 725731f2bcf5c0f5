"""Bias and spread of both estimates of cross-validation over several sources, against the error on a source held out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypedDict

import numpy as np
import pandas as pd

from foldshift.studies.geras_2013.source_rows import AXES, above_zero, blocks, mean_and_error, share_and_error

DRAWS = ("learner", "sampling", "n_sources", "n_points", "draw", "cvs", "cvr", "out_of_source", "sd_cvs", "sd_cvr")


class Fixed(TypedDict):
    """Setting ``held_fixed``: the size of one axis while the other one varies."""

    n_sources: int
    n_points: int


def error_table(rows: pd.DataFrame, n_sources: Sequence[int], n_points: Sequence[int], held_fixed: Fixed) -> pd.DataFrame:
    """Put the estimates of both ways of cutting beside the error on a source held out (Figure 2).

    A row per learner, sampling, axis and size: means over draws and their standard errors (NaN for one draw), which hold for the
    domains at hand; differences are paired by draw.
    """
    out = []
    for keys, part in _along_axes(rows, n_sources, n_points, held_fixed):
        cvs, cvr, new = (part[name].to_numpy() for name in ("cvs", "cvr", "out_of_source"))
        row = keys | {"n_draws": len(part)}
        values = {"cvs": cvs, "cvr": cvr, "out_of_source": new, "cvs_minus_ose": cvs - new, "ose_minus_cvr": new - cvr}
        for name, value in values.items():
            row[name], row[f"se_{name}"] = mean_and_error(value)
        row["cvs_above_ose"] = above_zero(row["cvs_minus_ose"], row["se_cvs_minus_ose"])
        row["ose_above_cvr"] = above_zero(row["ose_minus_cvr"], row["se_ose_minus_cvr"])
        row["order_holds"] = row["cvs_above_ose"] and row["ose_above_cvr"]
        row["order_reversed"] = any(above_zero(-row[name], row[f"se_{name}"]) for name in ("cvs_minus_ose", "ose_minus_cvr"))
        out.append(row | {"draws_in_order": share_and_error((cvr < new) & (new < cvs))[0]})
    return pd.DataFrame(out)


def spread_table(rows: pd.DataFrame, n_sources: Sequence[int], n_points: Sequence[int], held_fixed: Fixed) -> pd.DataFrame:
    """Standard deviation of both estimates given the domains (Figure 3)."""
    out = []
    for keys, part in _along_axes(rows, n_sources, n_points, held_fixed):
        cvs, cvr = part["sd_cvs"].to_numpy(), part["sd_cvr"].to_numpy()
        row = keys | {"n_draws": len(part)}
        for name, value in {"sd_cvs": cvs, "sd_cvr": cvr, "cvs_minus_cvr": cvs - cvr}.items():
            row[name], row[f"se_{name}"] = mean_and_error(value)
        row["cvs_above_cvr"] = above_zero(row["cvs_minus_cvr"], row["se_cvs_minus_cvr"])
        out.append(row | {"ratio": row["sd_cvs"] / row["sd_cvr"] if row["sd_cvr"] else np.nan})
    return pd.DataFrame(out)


def _along_axes(
    rows: pd.DataFrame, n_sources: Sequence[int], n_points: Sequence[int], held_fixed: Fixed
) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Yield keys and rows of every learner, sampling, axis and size."""
    wanted = {
        "sources": [(k, held_fixed["n_points"]) for k in sorted(set(n_sources))],
        "points": [(held_fixed["n_sources"], m) for m in sorted(set(n_points))],
    }
    for (learner, sampling), part in blocks(rows, ["learner", "sampling"]):
        for axis in AXES:
            for k, m in wanted[axis]:
                draws = part[(part["n_sources"] == k) & (part["n_points"] == m)]
                yield {"learner": learner, "sampling": sampling, "axis": axis, "n_sources": k, "n_points": m}, draws
