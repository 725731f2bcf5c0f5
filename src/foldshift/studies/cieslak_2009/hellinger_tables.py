"""The Hellinger distance of training and test features: Table 6, and the numbers behind Figures 15 to 17."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from foldshift.reporting.items import TableResult
from foldshift.reporting.table_grid import plain_grid
from foldshift.studies.cieslak_2009.compared_with_print import compared, compared_grid, over_repeats
from foldshift.studies.cieslak_2009.datasets_in_print import in_order, paper_name
from foldshift.studies.cieslak_2009.row_schemas import CELL, read_rows
from foldshift.studies.cieslak_2009.shift_conditions import BASE, BIAS, TRUE_MNAR

if TYPE_CHECKING:
    from foldshift.core.types import Inputs
    from foldshift.reporting.table_grid import Grid


# Column of the rows and words, by formula: the paper's text, and the reading that print is nearest to.
SKEWNESS = {
    "skew": ("hellinger_skew", "over versions"),
    "turned": ("hellinger_skew_turned", "over features, sign turned"),
}


def hellinger(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Make Table 6, and the numbers behind Figures 15 to 17."""
    skewness = skew_table(read_rows(inputs.co_failure, "co_failure"), pd.read_csv(inputs.printed))
    distance = hellinger_table(read_rows(inputs.shift, "shift"))
    return {
        "table6_hellinger_skew": TableResult(skewness, skew_grid(skewness)),
        "hellinger": TableResult(distance, plain_grid(distance, order_notes(distance))),
    }


def skew_table(co_failure: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Skewness of the mean Hellinger distance, over versions and over features (Table 6)."""
    columns = {formula: column for formula, (column, _) in SKEWNESS.items()}
    table = compared(co_failure, columns, (*BIAS, *TRUE_MNAR), printed, "skew")
    positive: dict[tuple[str, ...], float] = {}
    for formula, column in columns.items():
        known = co_failure.dropna(subset=[column])
        shares = (known[column] > 0).groupby([known["dataset"], known["condition"]], sort=False, observed=True).mean()
        positive |= {(*key, formula): share for key, share in shares.items()}
    both = table["value"].notna() & table["printed"].notna()
    same = np.sign(table["value"]) == np.sign(table["printed"])
    return table.assign(
        positive=[positive.get(key, np.nan) for key in zip(table["ours"], table["condition"], table["formula"])],
        same_sign=[bool(agrees) if known else None for agrees, known in zip(same, both)],
    )


def hellinger_table(shift: pd.DataFrame) -> pd.DataFrame:
    """Hellinger distance, its change against Base, and its excess over chance (Figures 15 to 17)."""
    means = shift.groupby(CELL, sort=False, observed=True)[["hellinger", "hellinger_expected"]].mean().reset_index()
    base = means[means["condition"] == BASE].set_index(["dataset", "repeat"])["hellinger"].rename("base")
    means = means.join(base, on=["dataset", "repeat"])
    means["change"] = 100 * (means["hellinger"] / means["base"].where(means["base"] > 0) - 1)
    means["excess"] = means["hellinger"] - means["hellinger_expected"]
    out = {}
    for name, column in (
        ("distance", "hellinger"),
        ("expected", "hellinger_expected"),
        ("change", "change"),
        ("excess", "excess"),
    ):
        found = over_repeats(means, column)
        out[name] = found["value"]
        if name in ("change", "excess"):
            out[f"se_{name}"] = found["standard_error"]
    return in_order(pd.DataFrame(out).rename_axis(["dataset", "condition"]).reset_index(), shift)


def order_notes(table: pd.DataFrame) -> list[str]:
    """Say on which data sets MCAR < MNAR < MAR, the order that the paper sees; a sentence per severity and column."""
    notes = []
    wide = {name: table.pivot(index="dataset", columns="condition", values=name) for name in ("distance", "excess")}
    for severity in (25, 50):
        names = [f"{kind}{severity}" for kind in ("MCAR", "MNAR", "MAR")]
        for column, words in (("distance", "Distance"), ("excess", "Excess")):
            found = wide[column].reindex(columns=names).dropna()
            holds = (found[names[0]] < found[names[1]]) & (found[names[1]] < found[names[2]])
            others = [paper_name(name) for name in found.index[~holds]]
            exceptions = f" (not {', '.join(others)})" if others else ""
            notes.append(
                f"{words}: {names[0]} < {names[1]} < {names[2]} on {int(holds.sum())} of {len(found)} data sets{exceptions}."
            )
    return notes


def skew_grid(table: pd.DataFrame) -> Grid:
    """Print `skew_table`."""
    notes = []
    for formula, (_, words) in SKEWNESS.items():
        part = table[(table["formula"] == formula) & table["same_sign"].notna()]
        if len(part):
            text = f"{words[0].upper()}{words[1:]}: the sign of print in {int(part['same_sign'].sum())} of {len(part)} cells"
            several = len(part) > 2 and part["printed"].nunique() > 1 and part["value"].nunique() > 1
            notes.append(f"{text}, correlation {part['value'].corr(part['printed']):.2f}." if several else f"{text}.")
    return compared_grid(table, {formula: words for formula, (_, words) in SKEWNESS.items()}, notes, "+.3f", tuple(SKEWNESS))
