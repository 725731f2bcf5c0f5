"""Both estimates of cross-validation over several sources against the error on a source held out: bias and spread."""

import numpy as np
import pandas as pd

from foldshift.studies.geras_2013.rows import AXES, above_zero, blocks, mean_and_error, share_and_error

DRAWS = ("learner", "sampling", "n_sources", "n_points", "draw", "cvs", "cvr", "out_of_source", "sd_cvs", "sd_cvr")


def error_table(rows, n_sources, n_points, held_fixed):
    """Estimates of both ways of cutting beside the error on a source held out (Figure 2).

    Parameters
    ----------
    rows : pandas.DataFrame
        One row per draw of domains: ``learner, sampling, n_sources, n_points, draw, cvs, cvr, out_of_source``.
    n_sources, n_points : sequence of int
        The two axes.
    held_fixed : dict
        ``n_sources`` and ``n_points`` while the other varies.

    Returns
    -------
    table : pandas.DataFrame
        One row per learner, sampling, ``axis`` (``sources``, ``points``) and size: means over ``n_draws`` draws of ``cvs``,
        ``cvr`` and ``out_of_source`` and their standard errors ``se_...`` (NaN for one draw), which are about draws from the
        domains at hand; the paired differences ``cvs_minus_ose`` and ``ose_minus_cvr``, their standard errors, whether each is
        above 0 by two errors, ``order_holds``: both are, and ``order_reversed``: one is below 0 by two errors.
        ``draws_in_order``: share of single draws with CVR < OSE < CVS.
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


def spread_table(rows, n_sources, n_points, held_fixed):
    """Standard deviation of both estimates given the domains (Figure 3).

    Parameters
    ----------
    rows : pandas.DataFrame
        ``learner, sampling, n_sources, n_points, draw, sd_cvs, sd_cvr``.
    n_sources, n_points, held_fixed
        As in `error_table`.

    Returns
    -------
    table : pandas.DataFrame
        Rows as in `error_table`: mean ``sd_cvs`` and ``sd_cvr`` over draws, their standard errors and paired difference, whether
        it is above 0 by two errors (``cvs_above_cvr``), and the ``ratio`` of the means.
    """
    out = []
    for keys, part in _along_axes(rows, n_sources, n_points, held_fixed):
        cvs, cvr = part["sd_cvs"].to_numpy(), part["sd_cvr"].to_numpy()
        row = keys | {"n_draws": len(part)}
        for name, value in {"sd_cvs": cvs, "sd_cvr": cvr, "cvs_minus_cvr": cvs - cvr}.items():
            row[name], row[f"se_{name}"] = mean_and_error(value)
        row["cvs_above_cvr"] = above_zero(row["cvs_minus_cvr"], row["se_cvs_minus_cvr"])
        out.append(row | {"ratio": row["sd_cvs"] / row["sd_cvr"] if row["sd_cvr"] else np.nan})
    return pd.DataFrame(out)


def _along_axes(rows, n_sources, n_points, held_fixed):
    """Keys and rows of every learner, sampling, axis and size."""
    wanted = {
        "sources": [(k, held_fixed["n_points"]) for k in sorted(set(n_sources))],
        "points": [(held_fixed["n_sources"], m) for m in sorted(set(n_points))],
    }
    for (learner, sampling), part in blocks(rows, ["learner", "sampling"]):
        for axis in AXES:
            for k, m in wanted[axis]:
                draws = part[(part["n_sources"] == k) & (part["n_points"] == m)]
                yield {"learner": learner, "sampling": sampling, "axis": axis, "n_sources": k, "n_points": m}, draws
