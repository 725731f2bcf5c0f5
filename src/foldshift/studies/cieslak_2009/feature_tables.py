"""Data sets, and which features fail under which shift: Tables 1 to 4, and the numbers behind Figures 13 and 14."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from foldshift.reporting.items import TableResult
from foldshift.reporting.number_formats import EMPTY, count, number, percent, with_error
from foldshift.reporting.table_grid import Grid, TableCell
from foldshift.shift.detectors.co_failure import translation_limit
from foldshift.studies.cieslak_2009.compared_with_print import TOLERANCE, compared, compared_grid, heading, over_repeats
from foldshift.studies.cieslak_2009.datasets_in_print import in_order, listed_datasets
from foldshift.studies.cieslak_2009.row_schemas import CELL, read_rows
from foldshift.studies.cieslak_2009.shift_conditions import BASE, BIAS, TRANSLATION, TRUE_MNAR, WORDS, condition_kind

if TYPE_CHECKING:
    from pathlib import Path

    from foldshift.core.types import Inputs

FORMULAS = {"paper": "paper's p", "valid": "valid p", "holm": "valid p, Holm", "bh": "valid p, Benjamini-Hochberg"}
FAILS = {"paper": "fails_paper", "valid": "fails", "holm": "fails_holm", "bh": "fails_bh"}
SHOWN = ("paper", "valid", "holm")
PHI = {"paper": "phi_paper", "corrected": "phi", "jaccard": "jaccard"}
OVER_PAIRS = "its error over ordered pairs"
PAIR_SPREAD = {"paper": "phi_paper_sd", "corrected": "phi_sd"}  # standard deviations of phi over pairs of features


def features(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult | pd.DataFrame]:
    """Make Tables 1 to 4, the readings of Table 2, and the numbers behind Figures 13 and 14."""
    shift, readings, together = (read_rows(getattr(inputs, kind), kind) for kind in ("shift", "readings", "co_failure"))
    table1, table2, table3, table4 = (pd.read_csv(getattr(inputs, f"table{i}")) for i in (1, 2, 3, 4))
    shares = failing_shares(shift)
    tables = {
        "table1_datasets": (datasets_table(shift, read_sizes(inputs.descriptions), table1), datasets_grid),
        "table2_ks_failing": (ks_table(shares, table2), lambda table: ks_grid(table, self_failures(shares))),
        "ks_readings": (readings_table(readings, table2), readings_grid),
        "table3_phi": (phi_table(together, table3), phi_grid),
        "table4_ks_translation": (translation_table(shares, table4), translation_grid),
    }
    return {name: TableResult(table, grid(table)) for name, (table, grid) in tables.items()} | {"ks_by_prior": prior_table(shift)}


def read_sizes(paths: list[Path]) -> dict[str, int]:
    """Read the number of rows of every prepared data set, by its name."""
    sizes = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        sizes[data["name"]] = data["n_rows"]
    return sizes


def datasets_table(shift: pd.DataFrame, n_rows: dict[str, int], printed: pd.DataFrame) -> pd.DataFrame:
    """Sizes of the parts, ours and printed (Table 1)."""
    base = shift[shift["condition"] == BASE].groupby("dataset", sort=False, observed=True)[
        ["n_train", "n_test", "n_tested", "share_positive"]
    ].mean()  # fmt: skip
    print_of = printed.set_index("dataset")
    parts = ("training", "validation", "testing", "features")
    out = []
    for name, ours, note in listed_datasets(base.index):
        row: dict[str, Any] = {"dataset": name, "ours": ours or ""} | dict.fromkeys((*parts, "share_positive"), np.nan)
        if ours:
            found = base.loc[ours]
            row |= {"training": found["n_train"], "testing": found["n_test"], "features": found["n_tested"]}
            row |= {"validation": n_rows.get(ours, np.nan) - found["n_train"] - found["n_test"]}
            row |= {"share_positive": found["share_positive"]}
        row |= {f"printed_{part}": float(print_of[part].get(name, np.nan)) for part in parts}
        out.append(row | {"note": note})
    return pd.DataFrame(out)


def failing_shares(shift: pd.DataFrame) -> pd.DataFrame:
    """Share of the features that fail, over the versions of every repeat and condition."""
    groups = shift.groupby(CELL, sort=False, observed=True)
    sums = groups[["n_tested", *FAILS.values()]].sum()
    own = groups[["self_paper", "self_valid"]].sum(min_count=1)
    out = pd.DataFrame({"n_cells": sums["n_tested"]})
    for formula, column in FAILS.items():
        out[f"failing_{formula}"] = sums[column]
        out[formula] = sums[column] / sums["n_tested"].where(sums["n_tested"] > 0)
    return out.join(own).reset_index()


def self_failures(shares: pd.DataFrame) -> pd.DataFrame:
    """Check that features that fail under MAR but not under MNAR are those that fail on themselves, as in Table 2."""
    by_condition = {
        condition: part.set_index(["dataset", "repeat"]) for condition, part in shares.groupby("condition", observed=True)
    }
    out = []
    for severity in (25, 50):
        mar, mnar = (by_condition.get(f"{kind}{severity}") for kind in ("MAR", "MNAR"))
        if mar is None or mnar is None:
            continue
        for formula in ("paper", "valid"):
            table = pd.DataFrame({"mar": mar[f"failing_{formula}"], "itself": mar[f"self_{formula}"].fillna(0)})
            table = table.join(mnar[f"failing_{formula}"].rename("mnar"), how="inner").reset_index()
            holds = table["mar"] - table["mnar"] == table["itself"]
            out.append(table.assign(severity=severity, formula=formula, holds=holds))
    columns = ["dataset", "repeat", "severity", "formula", "mar", "mnar", "itself", "holds"]
    return pd.concat(out, ignore_index=True)[columns] if out else pd.DataFrame(columns=columns)


def ks_table(shares: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Share of features that fail KS, by condition (Table 2)."""
    table = compared(shares, {name: name for name in FAILS}, (BASE, *BIAS, *TRUE_MNAR), printed, "proportion")
    cells = shares.groupby(["dataset", "condition"], sort=False, observed=True)["n_cells"].first()
    return table.assign(n_cells=[cells.get(key, np.nan) for key in zip(table["ours"], table["condition"])])


def readings_table(readings: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Distance from the printed Table 2, for every reading of which end MAR removes and of the sides of KS."""
    rows = readings.assign(share=readings["failing"] / readings["n_cells"])
    out = []
    for (removed, sides), part in rows.groupby(["removed", "sides"], sort=False, observed=True):
        table = compared(part, {"paper": "share"}, (BASE, *BIAS), printed, "proportion").dropna(subset=["difference"])
        for dataset, cells in [*table.groupby("dataset", sort=False), ("all", table)]:
            distance = cells["difference"].abs()
            row = {"dataset": dataset, "removed": removed, "sides": sides, "distance": distance.mean()}
            out.append(row | {"n_agree": int((distance <= TOLERANCE + 1e-9).sum()), "n_cells": len(cells)})
    return pd.DataFrame(out, columns=["dataset", "removed", "sides", "distance", "n_agree", "n_cells"])


def phi_table(co_failure: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Correlation of the failures of features (Table 3), with the standard error that print seems to have as plus or minus."""
    table = compared(co_failure, PHI, (*BIAS, *TRUE_MNAR), printed, "phi_mean")
    means = co_failure.groupby(["dataset", "condition"], sort=False, observed=True)[["n_undefined"]].mean()
    errors = {formula: over_repeats(pair_errors(co_failure, formula), "error") for formula in PAIR_SPREAD}
    spreads = printed.set_index(["dataset", "condition"])["phi_spread"]
    keys = list(zip(table["ours"], table["condition"], table["formula"]))
    return table.assign(
        spread=[_at(errors.get(formula), (ours, condition), "value") for ours, condition, formula in keys],
        se_spread=[_at(errors.get(formula), (ours, condition), "standard_error") for ours, condition, formula in keys],
        printed_spread=[spreads.get(key, np.nan) for key in zip(table["dataset"], table["condition"])],
        undefined=[_at(means, (ours, condition), "n_undefined") for ours, condition, _ in keys],
    )


def pair_errors(co_failure: pd.DataFrame, formula: str) -> pd.DataFrame:
    """Standard error of phi over ordered pairs of features, by repeat: every pair counts twice, as in a square matrix.

    There is a version for every feature, so that n features have n(n - 1) ordered pairs.
    """
    n = co_failure["n_tests"]
    return co_failure.assign(error=co_failure[PAIR_SPREAD[formula]] / np.sqrt((n * (n - 1)).where(n > 1)))


def translation_table(shares: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Share of features that fail when one of them is moved, and its upper limit (Table 4)."""
    base = shares[shares["condition"] == BASE].set_index(["dataset", "repeat"])
    moved = shares[shares["condition"].isin(TRANSLATION)]
    formulas = {name: name for name in ("paper", "valid")}
    table = compared(moved, formulas, TRANSLATION, printed, "proportion")
    limits = {}
    for formula in formulas:
        part = moved.join(base[["n_cells", f"failing_{formula}"]].add_prefix("base_"), on=["dataset", "repeat"]).dropna(
            subset=["base_n_cells"]
        )
        n, b = part["base_n_cells"].astype(int), part[f"base_failing_{formula}"].astype(int)
        part = part.assign(limit=translation_limit(n.to_numpy(), b.to_numpy()) if len(part) else [])
        for key, cell in part.groupby(["dataset", "condition"], sort=False, observed=True):
            limits[(*key, formula)] = float(cell["limit"].mean()), bool((cell[formula] <= cell["limit"] + 1e-12).all())
    keys = list(zip(table["ours"], table["condition"], table["formula"]))
    return table.assign(
        limit=[limits.get(key, (np.nan, None))[0] for key in keys],
        within_limit=[limits.get(key, (np.nan, None))[1] for key in keys],
    )


def prior_table(shift: pd.DataFrame) -> pd.DataFrame:
    """Share of features that fail KS as the share of positive rows changes, also within the classes (Figures 13 and 14)."""
    rows = shift[shift["condition"].map(condition_kind).isin(["Base", "P"])]
    parts = {
        "paper": ("fails_paper", "n_tested"),
        "valid": ("fails", "n_tested"),
        "positive": ("fails_positive", "tested_positive"),
        "negative": ("fails_negative", "tested_negative"),
    }
    shares = rows.groupby(["dataset", "condition"], sort=False, observed=True)["share_positive"].mean()
    out = []
    for part, (fails, tested) in parts.items():
        sums = rows.groupby(CELL, sort=False, observed=True)[[fails, tested]].sum().reset_index()
        found = over_repeats(sums.assign(value=sums[fails] / sums[tested].where(sums[tested] > 0)), "value")
        out.append(found[["value", "standard_error", "n_repeats"]].assign(part=part, share_positive=shares).reset_index())
    table = pd.concat(out, ignore_index=True)
    return in_order(table[["dataset", "condition", "part", "share_positive", "value", "standard_error", "n_repeats"]], shift)


def datasets_grid(table: pd.DataFrame) -> Grid:
    """Print `datasets_table`."""
    parts = ("training", "validation", "testing", "features")
    body: list[list[TableCell | str]] = []
    for _, row in table.iterrows():
        both = [TableCell(f"{count(row[part])} / {count(row[f'printed_{part}'])}") for part in parts]
        body.append([row["dataset"], row["ours"], *both, TableCell(percent(row["share_positive"])), row["note"]])
    header = ["Data set", "in this run", *[f"{part}, ours / printed" for part in parts], "positive %", "note"]
    return Grid(header, body)


def ks_grid(table: pd.DataFrame, identity: pd.DataFrame) -> Grid:
    """Print `ks_table`; `identity` is the table of `self_failures`."""
    notes = [WORDS]
    if len(identity):
        holds = int(identity["holds"].sum())
        notes.append(
            "MAR and MNAR keep the same rows, so that the failures under MAR less those under MNAR are the features that fail on "
            f"themselves: so in {holds} of {len(identity)} cases (data set, repeat, severity, p-value)."
        )
    return compared_grid(table, {name: FORMULAS[name] for name in SHOWN}, notes)


def readings_grid(table: pd.DataFrame) -> Grid:
    """Print `readings_table`: a column per reading, the nearest one bold."""
    readings = list(dict.fromkeys(zip(table["removed"], table["sides"])))
    body: list[list[TableCell | str]] = []
    for dataset, part in table.groupby("dataset", sort=False):
        by_reading = {(row.removed, row.sides): row for row in part.itertuples()}
        nearest = part["distance"].min()
        cells = [
            TableCell(f"{row.distance:.3f} ({row.n_agree} of {row.n_cells})", bold=bool(row.distance == nearest))
            if row.n_cells
            else EMPTY
            for row in (by_reading[reading] for reading in readings)
        ]
        body.append(["all data sets" if dataset == "all" else dataset, *cells])
    sides = {1: "one-sided", 2: "two-sided"}
    notes = (
        []
        if table["n_cells"].any()
        else ["No data set of the run is one of the paper's, so that there is nothing to compare with print."]
    )
    return Grid(["", *[f"{removed} removed, {sides[n]}" for removed, n in readings]], body, notes)


def phi_grid(table: pd.DataFrame) -> Grid:
    """Print `phi_table`."""
    pairs = table[(table["formula"] == "corrected") & (table["undefined"] > 0)]
    notes = [WORDS]
    if len(pairs):
        notes.append(f"Pairs without a corrected phi occur in {len(pairs)} of the cells; their number stands in the CSV file.")
    labels = {"paper": "paper's formula", "corrected": "corrected", "jaccard": "Jaccard"}
    rows = {key: part[part["formula"] == "paper"] for key, part in table.groupby(["dataset", "ours"], sort=False)}
    errors = {
        heading(dataset, ours, part["note"].iloc[0]): [TableCell(f"± {number(value, '.3f')}") for value in part["spread"]]
        for (dataset, ours), part in rows.items()
    }
    return with_row_below(compared_grid(table, labels, notes, printed=_printed_phi), labels["paper"], OVER_PAIRS, errors)


def translation_grid(table: pd.DataFrame) -> Grid:
    """Print `translation_table`."""
    known = table.dropna(subset=["limit"])
    above = int((~known["within_limit"].astype(bool)).sum())
    notes = [
        f"Above its limit in a repeat: {above} of {len(known)} cells." if len(known) else "No data set of the run has these rows."
    ]
    labels = {"paper": FORMULAS["paper"], "valid": FORMULAS["valid"]}
    limits: dict[str, list[TableCell]] = {}
    for (dataset, ours), part in table[table["formula"] == "paper"].groupby(["dataset", "ours"], sort=False):
        limits[heading(dataset, ours, part["note"].iloc[0])] = [TableCell(number(value, ".3f")) for value in part["limit"]]
    return with_row_below(compared_grid(table, labels, notes), labels["paper"], "limit of it", limits)


def with_row_below(grid: Grid, label: str, words: str, cells: dict[str, list[TableCell]]) -> Grid:
    """Add a row below every row with a label; `cells` are those of a data set, by its heading."""
    rows: list[list[TableCell | str]] = []
    for row in grid.rows:
        rows.append(row)
        if len(row) == 1:  # the heading of a data set
            below = cells[str(row[0])]
        elif row[0] == label:
            rows.append([words, *below])
    return Grid(grid.header, rows, grid.notes)


def _printed_phi(row: pd.Series) -> str:
    """Print the phi of the paper with its plus or minus."""
    return with_error(row["printed"], row["printed_spread"], ".3f")


def _at(frame: pd.DataFrame | None, key: tuple[str, str], column: str) -> float:
    """Look up a number; NaN if the row or the table is missing."""
    return float(frame.loc[key, column]) if frame is not None and key in frame.index else np.nan
