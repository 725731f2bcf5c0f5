"""Tables of the shift of the inputs by partitioner, by data set and by feature.

`schemes` maps the number of folds k to the iterations of an experiment; other k are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from foldshift.engine.storage.score_files import read_columns
from foldshift.inference.comparisons.wilcoxon import wilcoxon_signed_ranks
from foldshift.reporting.min_datasets import sentence
from foldshift.reporting.number_formats import EMPTY, count_range, number, p_value, with_error
from foldshift.reporting.table_grid import Grid, TableCell, shades
from foldshift.shift.measures.covariates import MEASURES
from foldshift.shift.report.fold_drift import FoldFeature

if TYPE_CHECKING:
    from foldshift.core.types import PathLike

SUMMARY = (*MEASURES, "features_more", "features_less")
MORE_IS_BETTER = "features_less"
SHIFT_COLUMNS = ("dataset", "partitioner", "k", "run", *MEASURES)
FEATURE_COLUMNS = ("dataset", "partitioner", "k", "n_runs", "feature", *FoldFeature._fields[1:])
# Measures of the covariate shift as tables and figures call them.
SHIFT_LABELS = {
    "ks_mean": "KS, mean",
    "ks_max": "KS, largest",
    "hellinger": "Hellinger",
    "energy": "energy",
    "two_sample_auc": "two-sample AUC",
    "features_more": "features shifted",
    "features_less": "features balanced",
}
CHANCE_IS_HALF = "two_sample_auc"


def read_shift(
    shift: Sequence[PathLike], features: Sequence[PathLike], partitioners: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read the rows of runs and of features that `measure_covariate_shift` wrote, of some partitioners."""
    by_run, by_feature = (
        pd.concat([pd.DataFrame(read_columns(path, names)) for path in paths], ignore_index=True)
        for paths, names in ((shift, SHIFT_COLUMNS), (features, FEATURE_COLUMNS))
    )
    return by_run[by_run["partitioner"].isin(partitioners)], by_feature[by_feature["partitioner"].isin(partitioners)]


def by_partitioner(part: pd.DataFrame, value: str, partitioners: Sequence[str]) -> pd.DataFrame:
    """Arrange a column as data sets by partitioners, for the data sets that have a result of all; `part`: rows of one scheme."""
    wide = part.pivot(index="dataset", columns="partitioner", values=value).reindex(columns=list(partitioners))
    return wide.loc[[name for name in dict.fromkeys(part["dataset"]) if wide.loc[name].notna().all()]]


def shift_by_cell(rows: pd.DataFrame, schemes: dict[int, int]) -> pd.DataFrame:
    """Average every measure over the runs, by data set, scheme and partitioner.

    ``<measure>_standard_error`` is how far other runs would move the mean; NaN for a single run.
    """
    table = []
    for (dataset, k, partitioner), cell in rows.groupby(["dataset", "k", "partitioner"], sort=False):
        if k in schemes:
            row = {"dataset": dataset, "scheme": f"{k}x{schemes[k]}", "partitioner": partitioner}
            for name in MEASURES:
                row |= {name: cell[name].mean(), f"{name}_standard_error": cell[name].std(ddof=1) / np.sqrt(len(cell))}
            table.append(row | {"n_runs": len(cell)})
    return pd.DataFrame(table)


def feature_table(features: pd.DataFrame, schemes: dict[int, int]) -> pd.DataFrame:
    """Make the table of every feature by data set, scheme and partitioner, against random cuts; the target is a row as well.

    ``distance_ratio`` is the distance as a multiple of that of random cuts; NaN for a constant feature, for which both are 0.
    """
    table = features[features["k"].isin(schemes)]
    scheme = [f"{k}x{schemes[k]}" for k in table["k"]]
    ratio = table["distance"] / table["distance_chance"].where(table["distance_chance"] > 0)
    table = table.assign(scheme=scheme, distance_ratio=ratio)
    before = ["dataset", "scheme", "partitioner", "n_runs", "feature", "kind", "distance", "distance_chance", "distance_ratio"]
    return table[[*before, "failing", "failing_chance", "p_more", "p_less", "p_adjusted", "verdict"]].reset_index(drop=True)


def drift_by_cell(features: pd.DataFrame, schemes: dict[int, int]) -> pd.DataFrame:
    """Summarise the features that every partitioner shifts, by data set and scheme.

    ``features_more`` and ``features_less`` are shares of the inputs, ``shifted_features`` the names of the former, the largest
    ratio first; ``target`` is the verdict on the target, ``distance_ratio`` the mean over the inputs without constant ones.
    """
    table = []
    cells = feature_table(features, schemes).groupby(["dataset", "scheme", "partitioner"], sort=False)
    for (dataset, scheme, partitioner), cell in cells:
        inputs = cell[cell["kind"] != "target"]
        row = {"dataset": dataset, "scheme": scheme, "partitioner": partitioner}
        row |= {f"features_{which}": (inputs["verdict"] == which).mean() for which in ("more", "less")}
        row |= {"shifted_features": ", ".join(_shifted(inputs)["feature"]), "target": _target_verdict(cell)}
        table.append(row | {"distance_ratio": inputs["distance_ratio"].mean()})
    keys = ["dataset", "scheme", "partitioner"]
    return pd.DataFrame(table, columns=[*keys, "features_more", "features_less", "shifted_features", "target", "distance_ratio"])


def _target_verdict(cell: pd.DataFrame) -> str:
    return cell.loc[cell["kind"] == "target", "verdict"].item()


def _shifted(inputs: pd.DataFrame) -> pd.DataFrame:
    """Select the inputs that are shifted, the largest ratio first."""
    return inputs[inputs["verdict"] == "more"].sort_values("distance_ratio", ascending=False, kind="stable")


def shift_summary(by_cell: pd.DataFrame, partitioners: Sequence[str], reference: str) -> pd.DataFrame:
    """Average the shift over the data sets, and test every partitioner against a reference by Wilcoxon's test.

    `by_cell` joins `shift_by_cell` and `drift_by_cell`; a data set that lacks a partitioner is left out of a scheme.
    ``standard_error`` is over other runs on the same data sets (NaN for the shares of features, which all runs together make),
    ``standard_error_datasets`` over other data sets; ``higher_vs_...`` is 1 where the row's partitioner has the larger values.
    """
    table, (p_vs, higher_vs) = [], against(reference)
    for scheme, part in by_cell.groupby("scheme", sort=False):
        for measure in SUMMARY:
            means = by_partitioner(part, measure, partitioners)
            error = f"{measure}_standard_error"
            errors = part.reindex(columns=["dataset", "partitioner", error])  # NaN for a measure that has none
            errors = errors.pivot(index="dataset", columns="partitioner", values=error).loc[means.index]
            for name in partitioners:
                values, n = means[name].to_numpy(), len(means)
                row = {"scheme": scheme, "measure": measure, "partitioner": name, "mean": values.mean() if n else np.nan}
                row["standard_error"] = np.sqrt((errors[name] ** 2).sum(skipna=False)) / n if n else np.nan
                row["standard_error_datasets"] = values.std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
                row |= {p_vs: np.nan, higher_vs: np.nan}
                if n and name != reference and reference in means:
                    test = wilcoxon_signed_ranks(values, means[reference].to_numpy())
                    row |= {p_vs: test.p_value, higher_vs: int(test.r_plus > test.r_minus)}
                table.append(row | {"n_datasets": n})
    return pd.DataFrame(table)


def against(reference: str) -> tuple[str, str]:
    """Name the columns of the test against a reference: p, and whether values are higher."""
    return f"p_vs_{reference.lower()}", f"higher_vs_{reference.lower()}"


def shift_grid(summary: pd.DataFrame, alpha: float, reference: str, few: str = "") -> Grid:
    """Print the summary: a block per scheme, means shaded, the smallest underlined, p-values below; `few` is a note."""
    partitioners, (p_vs, higher_vs) = list(dict.fromkeys(summary["partitioner"])), against(reference)
    rows: list[list[TableCell | str]] = []
    for scheme, block in summary.groupby("scheme", sort=False):
        n = block["n_datasets"].min()
        rows.append([f"{scheme} ({scheme.split('x')[0]} folds), {n} data {'set' if n == 1 else 'sets'}"])
        for measure, part in block.groupby("measure", sort=False):
            part = part.set_index("partitioner").loc[partitioners]
            means, less_is_better = part["mean"].to_list(), measure != MORE_IS_BETTER
            best = min(means) if less_is_better else max(means)
            errors = part["standard_error"]
            texts = map(with_error, means, errors) if errors.notna().any() else map(number, means)  # shares have none
            cells = [
                TableCell(text, shade, underline=mean == best)
                for text, mean, shade in zip(texts, means, shades(means, less_is_better))
            ]
            rows.append([SHIFT_LABELS[measure], *cells])
            tests = zip(partitioners, part[p_vs], part[higher_vs])
            cells = [
                TableCell("" if name == reference else p_value(p, more == 1, decimals_from=np.inf), bold=bool(p <= alpha))
                for name, p, more in tests
            ]
            rows.append([f"  p against {reference}", *cells])
    notes = [
        "Mean over the data sets ± how far other partitions of the same data would move it (Monte Carlo standard error). "
        "Darker is less shift, the least is underlined.",
        f"p: Wilcoxon's signed-ranks test over the data sets, exact, two-sided; bold: at most {alpha:g}. "
        f"The asterisk says that the column's partitioner shifts more than {reference}.",
        "Parts drawn at random differ too, the more the smaller the test part: compare within a scheme. For the two-sample AUC "
        "chance is .5; below it, test and training part are more alike than chance makes them.",
        "Features shifted, balanced: share of the inputs of a data set whose training and test parts differ more, or less, "
        "than those of random cuts of the same sizes (table shifted_features). The more are balanced the better: there darker "
        f"and underlined is more, and the asterisk says that the column's partitioner balances more features than {reference}.",
        *([sentence(few)] if few else []),
    ]
    return Grid(["Measure", *partitioners], rows, notes)


def shifted_grid(table: pd.DataFrame, partitioners: Sequence[str]) -> Grid:
    """Print the shifted features of `feature_table`: a block per scheme, a row per data set, a column per partitioner.

    A cell says how many inputs are shifted and which most, how many are balanced, and whether the target is shifted.
    """
    rows: list[list[TableCell | str]] = []
    for scheme, block in table.groupby("scheme", sort=False):
        n_runs = f"{count_range(block['n_runs'])} partitions"
        rows.append([f"{scheme} ({scheme.split('x')[0]} folds), {n_runs} of each data set"])
        for dataset, part in block.groupby("dataset", sort=False):
            cells = [_drift_cell(part[part["partitioner"] == name]) for name in partitioners]
            n_inputs = part.loc[part["kind"] != "target", "feature"].nunique()
            rows.append([dataset, TableCell(str(n_inputs)), *cells])
    notes = [
        "Folds of one data set share their rows, so that the share of folds that fails a test (KS, or chi-square for nominal "
        "features) says nothing by itself. The distance between training and test part, mean over all folds of all partitions, "
        "is therefore compared with that of random cuts of the same sizes; level .05 for a data set, scheme and partitioner, "
        "corrected by Holm over its features and the target. The more partitions, the smaller the differences that are found: "
        "see how large they are.",
        "Shifted (bold): farther apart than in random cuts; the feature that is shifted most, and its distance as a multiple of "
        "that of random cuts. Balanced: closer than in random cuts. As chance: nothing differs from random cuts. The target is "
        "named only if it is shifted: a stratified cut balances it.",
    ]
    return Grid(["Data set", "features", *partitioners], rows, notes)


def _drift_cell(cell: pd.DataFrame) -> TableCell:
    if cell.empty:
        return TableCell(EMPTY)
    inputs = cell[cell["kind"] != "target"]
    shifted, n_balanced = _shifted(inputs), (inputs["verdict"] == "less").sum()
    words = []
    if len(shifted):
        words.append(f"{len(shifted)} shifted, most {shifted['feature'].iloc[0]} ×{shifted['distance_ratio'].iloc[0]:.2f}")
    if n_balanced:
        words.append(f"{n_balanced} balanced")
    target_shifted = _target_verdict(cell) == "more"
    if target_shifted:
        words.append("target shifted")
    return TableCell("; ".join(words) or "as chance", bold=len(shifted) > 0 or target_shifted)
