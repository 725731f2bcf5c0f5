"""Printed tables of the study of several sources (Geras and Sutton 2013)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foldshift.reporting.items import TableResult
from foldshift.reporting.number_formats import EMPTY, count_range, number, percent, with_error
from foldshift.reporting.table_grid import Grid, TableCell
from foldshift.studies.geras_2013.bias_tables import (
    SINGLE,
    TABLE1,
    TABLE2,
    bias_grid,
    proposition1,
    proposition1_grid,
    table1_bias,
    table2_bias,
)
from foldshift.studies.geras_2013.held_out_errors import DRAWS, error_table, spread_table
from foldshift.studies.geras_2013.source_rows import CELL, DESIGNS, GRID, REVIEWS, SAMPLING, above_zero, blocks, read_rows
from foldshift.studies.geras_2013.variance_estimators import (
    COMPONENTS,
    ESTIMATES,
    FIGURE6,
    FORMULAS,
    MODEL_CELL,
    MODELS,
    TERMS,
    decomposition_table,
    estimators_table,
    figure6_table,
    mean_predictor_table,
    models_table,
)

if TYPE_CHECKING:
    import pandas as pd

    from foldshift.core.types import Inputs

LETTERS = (
    "K: sources (blocks); M: points of each; N = KM; W: mean over the blocks of the variance within a block; S2: variance of the "
    "K block means; "
    "s2: mean product of two losses of one block; mean: the estimate of the error."
)

MOMENTS = (
    "s1: mean squared loss; s2 and s3: mean product of two losses of one block and of two blocks; s_k, s_kl: s2 of source k, s3 "
    "of the pair k, l. Two numbers are the smallest and the largest over sources or pairs, which the CSV file has one by one."
)


def error(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Make Figures 2 and 3 as tables."""
    rows = read_rows(inputs.rows, DRAWS)
    grid = {name: settings[name] for name in GRID}
    bias, spread = error_table(rows, **grid), spread_table(rows, **grid)
    return {
        "figure2_error": TableResult(bias, error_grid(bias), {"kind_of_reviews": REVIEWS[settings["reviews"]]}),
        "figure3_spread": TableResult(spread, spread_grid(spread)),
    }


def variance(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Make Tables 1 and 2, Proposition 1, Figures 4 and 6 as tables, and the table of estimators."""
    estimates, components = read_rows(inputs.estimates, ESTIMATES), read_rows(inputs.components, COMPONENTS)
    table1 = table1_bias(estimates, components, read_rows(inputs.single_source, SINGLE))
    table2, chosen = table2_bias(estimates, components), proposition1(estimates, components)
    decomposition = decomposition_table(components, settings["n_truth"])
    figure6, estimators = figure6_table(estimates), estimators_table(estimates)
    return {
        "table1_bias": TableResult(table1, table1_grid(table1)),
        "table2_bias": TableResult(table2, table2_grid(table2)),
        "proposition1": TableResult(chosen, proposition1_grid(chosen)),
        "figure4_decomposition": TableResult(decomposition, decomposition_grid(decomposition)),
        "figure6_estimators": TableResult(figure6, figure6_grid(figure6)),
        "estimators": TableResult(estimators, estimators_grid(estimators)),
    }


def models(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Make the tables of models in which everything is known: exact, and simulated where a model was simulated."""
    exact = mean_predictor_table()
    items = {"mean_predictor": TableResult(exact, mean_predictor_grid(exact))}
    if inputs.rows:
        simulated = models_table(read_rows(inputs.rows, MODELS))
        items["models"] = TableResult(simulated, models_grid(simulated))
    return items


def table1_grid(table: pd.DataFrame) -> Grid:
    """Print Table 1."""
    return bias_grid(table, TABLE1, MOMENTS)


def table2_grid(table: pd.DataFrame) -> Grid:
    """Print Table 2."""
    return bias_grid(table, TABLE2, MOMENTS)


def error_grid(table: pd.DataFrame) -> Grid:
    """Print `error_table`, with notes on where the order CVR < OSE < CVS does not hold."""
    header = ["", "CVR", "OSE", "CVS", "OSE - CVR", "CVS - OSE", "CVR < OSE < CVS"]
    body: list[list[TableCell | str]] = []
    for (learner, sampling, axis), part in blocks(table, ["learner", "sampling", "axis"]):
        body.append([_axis_heading(learner, sampling, axis, part)])
        for _, row in part.iterrows():
            body.append(
                [
                    _size(axis, row),
                    *[_pair(row, name, ".4f") for name in ("cvr", "out_of_source", "cvs")],
                    _pair(row, "ose_minus_cvr", "+.4f", bold=row["ose_above_cvr"]),
                    _pair(row, "cvs_minus_ose", "+.4f", bold=row["cvs_above_ose"]),
                    "yes" if row["order_holds"] else "no" if row["order_reversed"] else "not shown",
                ]
            )
    return Grid(header, body, order_notes(table))


def order_notes(table: pd.DataFrame) -> list[str]:
    """Say where CVR < OSE < CVS holds beyond two errors, where it is not shown, and where it is the other way round."""
    points = table.drop_duplicates(["learner", "sampling", "n_sources", "n_points"])
    holds = int(points["order_holds"].sum())
    notes = [
        f"CVR < OSE < CVS holds by two standard errors at {holds} of {len(points)} points "
        f"({count_range(points['n_draws'])} draw{'s' if points['n_draws'].max() > 1 else ''} of domains)."
        + (" One draw has no standard error, so that nothing is shown." if points["n_draws"].min() == 1 else "")
    ]
    for (learner, sampling), part in blocks(points, ["learner", "sampling"]):
        reversed_, unsure = [], []
        for name, words in (("cvs_minus_ose", "CVS - OSE"), ("ose_minus_cvr", "OSE - CVR")):
            at = []
            for k, m, value, error in part[["n_sources", "n_points", name, f"se_{name}"]].itertuples(index=False):
                if above_zero(-value, error):
                    reversed_.append(f"{words} = {value:+.4f} ± {error:.4f} at K = {k}, M = {m}")
                elif not above_zero(value, error):
                    at.append(f"({k}, {m})")
            if at:
                unsure.append(f"{words} at (K, M) = {', '.join(at)}")
        found = [f"the other way round by two errors: {'; '.join(reversed_)}"] if reversed_ else []
        found += [f"not above 0 by two errors: {'; '.join(unsure)}"] if unsure else []
        notes += [f"{learner}, {SAMPLING[sampling]}: {'. Also '.join(found)}."] if found else []
    return notes


def spread_grid(table: pd.DataFrame) -> Grid:
    """Print `spread_table`."""
    header = ["", "sd of CVS", "sd of CVR", "CVS - CVR", "CVS / CVR"]
    body: list[list[TableCell | str]] = []
    for (learner, sampling, axis), part in blocks(table, ["learner", "sampling", "axis"]):
        body.append([_axis_heading(learner, sampling, axis, part)])
        for _, row in part.iterrows():
            cells = [_pair(row, name, ".4f") for name in ("sd_cvs", "sd_cvr")]
            difference = _pair(row, "cvs_minus_cvr", "+.4f", bold=row["cvs_above_cvr"])
            body.append([_size(axis, row), *cells, difference, TableCell(number(row["ratio"], ".2f"))])
    points = table.drop_duplicates(["learner", "sampling", "n_sources", "n_points"])
    note = f"CVS varies more than CVR by two standard errors at {int(points['cvs_above_cvr'].sum())} of {len(points)} points."
    return Grid(header, body, [note])


def decomposition_grid(table: pd.DataFrame) -> Grid:
    """Print `decomposition_table`."""
    header = [
        "M",
        "sigma term",
        "omega term",
        "gamma term",
        "theta",
        "sigma %",
        "omega %",
        "gamma %",
        "omega spread",
        "gamma spread",
    ]
    body: list[list[TableCell | str]] = []
    for (learner, sampling, design), part in blocks(table, CELL[:3]):
        body.append([f"{learner}, {SAMPLING[sampling]}; {DESIGNS[design]}"])
        for _, row in part.iterrows():
            cells = [TableCell(number(row[name], ".2e")) for name in (*TERMS, "theta")]
            cells += [TableCell(percent(row[f"{name}_share"])) for name in ("sigma", "omega", "gamma")]
            for name in ("omega", "gamma"):
                spread, noise = (number(row[f"{name}_{what}"], ".1e") for what in ("spread", "noise"))
                cells.append(TableCell(f"{spread} / {noise}"))
            body.append([str(row["n_points"]), *cells])
    note = "A covariance, and so a term, can be below 0: truly, or because it was measured on finitely many data sets."
    return Grid(header, body, [note])


def figure6_grid(table: pd.DataFrame) -> Grid:
    """Print `figure6_table`: one row per M."""
    body: list[list[TableCell | str]] = []
    names = dict.fromkeys(name for design in FIGURE6 for name in FIGURE6[design])
    for (learner, sampling, design), part in blocks(table, CELL[:3]):
        body.append([f"{learner}, {SAMPLING[sampling]}; {DESIGNS[design]}"])
        for n_points, of_points in part.groupby("n_points"):
            row, by_name = of_points.iloc[0], of_points.set_index("estimator")
            cells = [
                TableCell("") if name not in FIGURE6[design] else _pair(by_name.loc[name], "average", ".2e", ".0e")
                for name in names
            ]
            body.append([str(n_points), _pair(row, "theta", ".2e", ".0e"), *cells])
    header = ["M", "true theta", *[f"{name} = {FORMULAS[name]}" for name in names]]
    return Grid(header, body, [f"{count_range(table['n_datasets'])} data sets. {LETTERS}"])


def estimators_grid(table: pd.DataFrame) -> Grid:
    """Print `estimators_table`."""
    body: list[list[TableCell | str]] = []
    for (learner, sampling, design), part in blocks(table, CELL[:3]):
        body.append([f"{learner}, {SAMPLING[sampling]}; {DESIGNS[design]}"])
        for _, row in part.iterrows():
            body.append([_estimator(row), str(row["n_points"]), *_judged_cells(row), *_coverage_cells(row, "coverage")])
    header = ["Estimator", "M", "Ratio", "sd/mean", "Negative", "RMSE", "Coverage", "with t"]
    return Grid(header, body, _judged_notes(table))


def models_grid(table: pd.DataFrame) -> Grid:
    """Print `models_table`."""
    body: list[list[TableCell | str]] = []
    for (model, sources, design), part in blocks(table, MODEL_CELL[:3]):
        body.append([f"{model}, sources {sources}; {DESIGNS[design]}"])
        for _, row in part.iterrows():
            body.append(
                [
                    _estimator(row),
                    str(row["n_points"]),
                    *[TableCell(number(row[name], empty="")) for name in ("expected", "out_of_source")],
                    TableCell(number(row["sigma_share"], ".2f")),
                    *_judged_cells(row),
                    *_coverage_cells(row, "coverage"),
                    *_coverage_cells(row, "coverage_ose"),
                ]
            )
    header = ["Estimator", "M", "Mean", "OSE", "Sigma", "Ratio", "sd/mean", "Negative", "RMSE", "Coverage", "with t"]
    return Grid([*header, "Coverage of OSE", "OSE with t"], body, _judged_notes(table))


def mean_predictor_grid(table: pd.DataFrame) -> Grid:
    """Print `mean_predictor_table`."""
    columns = list(table.columns[2:])
    heads = {"out_of_source": "OSE", "mu_cvs": "E[CVS]", "mu_cvr": "E[CVR]"}
    header = ["M", *[heads.get(name, _exact_head(name)) for name in columns]]
    body: list[list[TableCell | str]] = []
    for (sources,), part in blocks(table, ["sources"]):
        body.append([f"sources {sources}"])
        body += [
            [str(row["n_points"]), *[TableCell(number(row[name], ".6g", empty="")) for name in columns]]
            for _, row in part.iterrows()
        ]
    note = (
        "Where sources are random, E[CVR] < OSE < E[CVS] at every M: Figure 2 without random numbers. Fixed sources have no new "
        "source."
    )
    return Grid(header, body, [note])


def _axis_heading(learner: str, sampling: str, axis: str, part: pd.DataFrame) -> str:
    """Heading of the rows along one axis, with the size of the other one."""
    fixed = f"M = {part['n_points'].iloc[0]} points" if axis == "sources" else f"K = {part['n_sources'].iloc[0]} sources"
    return f"{learner}, {SAMPLING[sampling]}; {fixed}"


def _size(axis: str, row: pd.Series) -> str:
    """Size of a row along an axis."""
    return f"K = {row['n_sources']}" if axis == "sources" else f"M = {row['n_points']}"


def _estimator(row: pd.Series) -> str:
    """Name of an estimator with its formula."""
    return f"{row['estimator']} = {row['formula']}"


def _judged_cells(row: pd.Series) -> list[TableCell]:
    """Print the numbers of `judged` without coverage."""
    return [
        _pair(row, "ratio", ".2f"),
        TableCell(number(row["cv"], ".2f")),
        TableCell(number(row["negative"], ".3f")),
        TableCell(number(row["relative_rmse"], ".2f")),
    ]


def _coverage_cells(row: pd.Series, name: str) -> list[TableCell]:
    """Print a coverage by the normal and by Student's quantile."""
    return [_pair(row, column, ".3f", empty="") for column in (name, f"{name}_t")]


def _judged_notes(table: pd.DataFrame) -> list[str]:
    """Write the notes below a table of estimators."""
    undefined = int(table["n_undefined"].sum())
    notes = [
        f"{count_range(table['n_datasets'])} data sets; plus or minus: Monte Carlo standard error. An interval whose variance "
        "estimate is negative covers nothing: it counts "
        "as a miss. The CSV file has the bias and all errors.",
        f"{LETTERS} Under other names the same numbers: theta_2 is theta_om, theta_3 is theta_gamma, theta_4 is theta_A.",
    ]
    return notes + ([f"{undefined} estimates do not exist and are left out."] if undefined else [])


def _pair(
    row: pd.Series, name: str, form: str, error_form: str | None = None, bold: bool = False, empty: str = EMPTY
) -> TableCell:
    """Print a number ± its error, from the columns `name` and ``se_<name>``."""
    return TableCell(with_error(row[name], row[f"se_{name}"], form, error_form, empty=empty), bold=bool(bold))


def _exact_head(name: str) -> str:
    """Head of a column of exact results."""
    return f"{name.removeprefix('ratio_')} / theta" if name.startswith("ratio_") else name.replace("_", " ")
