"""The printed numbers of Moreno-Torres, Saez and Herrera (2012) beside ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from foldshift.core.seeding import generator
from foldshift.inference.comparisons.wilcoxon import rank_sum_p
from foldshift.inference.missing import mean_present
from foldshift.inference.repetitions.agreement import ALPHA, pairwise_tests
from foldshift.inference.repetitions.recall_convergence import RECALL
from foldshift.reporting.items import TableResult
from foldshift.reporting.paper_vs_ours import MET, OTHER_DATA, comparison_items, join_with_print, print_ledger
from foldshift.studies.moreno_torres_2012.ablation.variants import KEEL, variant_id
from foldshift.studies.moreno_torres_2012.against_print.accuracy_readings import readings_grid, readings_table
from foldshift.studies.moreno_torres_2012.against_print.keel_partitions import (
    PAPER,
    WITH_KEEL,
    keel_results,
    keel_tables,
    met_by_keel,
)
from foldshift.studies.moreno_torres_2012.against_print.keel_partitions import TABLES as KEEL_TABLES
from foldshift.studies.moreno_torres_2012.against_print.print_verdicts import verdicts
from foldshift.studies.moreno_torres_2012.against_print.table3_gaps import (
    TRUTH_SCHEME,
    auc_error,
    compare_table3,
    gaps_grid,
    is_far,
    reason_for,
    share_error,
    table3_gaps,
)
from foldshift.studies.moreno_torres_2012.experiment_accuracy import comparable_results, formula_of
from foldshift.studies.moreno_torres_2012.experiments import Experiments, by_configuration
from foldshift.studies.moreno_torres_2012.notation import AVERAGE, paper_name

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray, Inputs
    from foldshift.studies.moreno_torres_2012.experiments import Values

    RankErrors = dict[tuple[str, str, str], float]  # by configuration, row and column

TABLES = ("table1", "table3", "table4", "table5", "table6", "table7")
TABLE5_PARTITIONER = "DOB-SCV"
AGREEMENTS = f"agreements of {TABLE5_PARTITIONER}, of 100"
PRINT_KEYS = ("configuration", "scheme", "row", "column", "quantity")  # of a printed number
N_BOOTSTRAP = 200
STUDY_CUT, KEEL_CUT = "the study's", "KEEL's"
VECTOR = "the paper does not say what it correlates; ours: recall of every fold and class"


class _Key(NamedTuple):
    """Keys of a printed number."""

    table: str
    configuration: str
    scheme: str
    row: str
    column: str
    quantity: str


class _Printed(NamedTuple):
    """A printed number."""

    table: str
    scheme: str
    row: str
    column: str
    quantity: str
    value: float
    note: str = ""


def paper_vs_ours(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Compare every printed number with ours, summarise the gaps of Table III, and redo Table IV from the printed Table III."""
    printed = {name: pd.read_csv(path) for name, path in zip(TABLES, inputs.printed)}
    ours = {name: pd.read_csv(getattr(inputs, name)) for name in TABLES}
    plain = {name: name for name in settings["partitioners"]}
    keel = {name: variant_id(name, "@{}-{}".format(*KEEL)) for name in plain}
    cuts = {STUDY_CUT: plain} | ({KEEL_CUT: keel} if keel != plain else {})
    readings = readings_table(inputs.scores, settings, printed, cuts)
    ours["table6"] = by_reading(ours["table6"], readings, STUDY_CUT)
    ours["table7"] = ours["table7"][ours["table7"]["criterion"] == RECALL]
    results, learners = by_configuration(inputs.scores, settings), settings["learners"]
    remarks = {
        configuration: coverage(whole_cells(values, settings), settings["datasets"], learners, printed["table1"]["dataset"])
        for configuration, (values, _) in results.items()
    }
    k = int(TRUTH_SCHEME.split("x")[0])
    errors = (
        rank_errors(results, learners, k, rng=generator(settings["master_seed"], "rank errors"))
        if k in settings["iterations"]
        else {}
    )
    table, cells = join(printed, ours, remarks, errors), compare_table3(printed["table3"], ours["table3"], ours["table1"])
    gaps, far = table3_gaps(cells), cells[is_far(cells)]
    from_print = printed_table4(printed["table3"], printed["table4"], settings["alpha"])
    columns = {paper_name(row["dataset"]): row for row in ours["table1"].to_dict("records")}
    by_keel = compare_with_keel(printed, results, settings, readings)
    judged: list[pd.DataFrame] = []
    for configuration, rows in table.groupby("configuration", sort=False):
        reasons = known_reasons(rows, judged, columns)
        with_keel = met_by_keel(rows, *by_keel, ["table", *PRINT_KEYS[1:]]) if by_keel and configuration == PAPER else None
        judged.append(verdicts(rows, reasons, settings["n_seeds"], settings["n_truth"], with_keel))
    if by_keel:
        rows, n = by_keel
        judged.append(verdicts(rows, [""] * len(rows), n, settings["n_truth"]))
    table = pd.concat(judged, ignore_index=True)
    return comparison_items(table, print_ledger(table, by=("configuration", "table"))) | {
        "table3_gaps": TableResult(gaps, gaps_grid(gaps, cells)),
        "table3_far_cells": TableResult(far),
        "table4_from_print": TableResult(from_print),
        "table6_readings": TableResult(readings, readings_grid(readings)),
    }


def known_reasons(rows: pd.DataFrame, judged: Sequence[pd.DataFrame], columns: dict[str, Any]) -> list[str]:
    """List by row why a number may be off: the facts about cells of Table III, and what the paper's classifiers meet.

    `judged` are the rows of the configurations before; `columns` have the kinds of columns of every data set.
    """
    on = ["table", *PRINT_KEYS[1:]]
    met = {key for one in judged for key in one.loc[one["verdict"] == MET, on].itertuples(index=False, name=None)}
    reasons = []
    for row, key in zip(rows.itertuples(), rows[on].itertuples(index=False, name=None)):
        if row.table == "table3":
            reasons.append(reason_for(row.configuration, row.column, row.row, columns.get(row.row)))
        else:
            reasons.append("met with the paper's classifiers" if key in met and row.configuration != PAPER else "")
    return reasons


def compare_with_keel(
    printed: dict[str, pd.DataFrame],
    results: dict[str, Experiments],
    settings: dict[str, Any],
    readings: pd.DataFrame | None = None,
) -> tuple[pd.DataFrame, int] | None:
    """Compare the printed Tables V and VI with ours cut by KEEL's distance and rules; also return the number of experiments.

    None if nothing was cut so, or if the whole study was.
    """
    values, truth = results.get(PAPER, Experiments({}, {}))
    values = keel_results(values, settings)
    if not values:
        return None
    schemes = {k: r for k, r in settings["iterations"].items() if any(k == one for one, _ in values)}
    settings = settings | {"iterations": schemes}
    whole = whole_cells(values, settings)
    remark = coverage(whole, settings["datasets"], settings["learners"], printed["table1"]["dataset"])
    tables = keel_tables(values, truth, settings)
    if readings is not None:
        tables["table6"] = by_reading(tables["table6"], readings, KEEL_CUT)
    rows = join(printed, tables, {WITH_KEEL: remark})
    return rows[rows["table"].isin(KEEL_TABLES)], min(array.shape[2] for array in values.values())


def by_reading(table6: pd.DataFrame, readings: pd.DataFrame, cut: str) -> pd.DataFrame:
    """Put the numbers of the paper's reading into the rows of Table VI with the paper's classifiers, where there are any."""
    chosen = readings[(readings["cut"] == cut) & (readings["reading"] == PAPER)].set_index(["scheme", "partitioner"])
    table6 = table6.copy()
    for place in table6.index[table6["configuration"].isin([PAPER, WITH_KEEL])]:
        key = (table6["scheme"][place], table6["partitioner"][place])
        if key in chosen.index:
            table6.loc[place, ["percent", "standard_error"]] = chosen.loc[key, ["percent", "standard_error"]].to_numpy()
            if key[0] == TRUTH_SCHEME:  # judged by print, not by a truth of ours
                table6.loc[place, "truth_error"] = 0.0
    return table6


def whole_cells(values: Values, settings: dict[str, Any]) -> FloatArray:
    """Return 1 where every scheme has results of all partitioners, NaN elsewhere: shape (n_learners, n_datasets, 1)."""
    schemes, partitioners = settings["iterations"], settings["partitioners"]
    common, _ = comparable_results(values, {}, schemes, partitioners)
    there = [np.any([~np.isnan(common[k, name]).all(axis=2) for name in partitioners], axis=0) for k in schemes]
    return np.where(np.all(there, axis=0), 1.0, np.nan)[:, :, None]


def rank_errors(
    results: dict[str, Experiments], learners: Sequence[str], k: int, n_draws: int = N_BOOTSTRAP, *, rng: np.random.Generator
) -> RankErrors:
    """Compute Monte Carlo errors of the sums of ranks of Table IV, by drawing the experiments of the truth with replacement."""
    errors = {}
    for configuration, (_, truth) in results.items():
        n = truth[k].shape[2]
        draws = [
            pairwise_tests(mean_present(truth[k][:, :, rng.integers(0, n, n)]), formula_of(configuration)) for _ in range(n_draws)
        ]
        spread = np.std([tests.r_plus for tests in draws], axis=0, ddof=1)
        for a, b, error in zip(draws[0].row, draws[0].column, spread):
            errors[configuration, learners[a], learners[b]] = errors[configuration, learners[b], learners[a]] = float(error)
    return errors


def coverage(values: FloatArray, datasets: Sequence[str], learners: Sequence[str], printed_datasets: Sequence[str]) -> str | None:
    """Describe the results of the paper that a run lacks: a remark, empty if it has all, None if it has other data sets."""
    found, wanted = {paper_name(name) for name in datasets}, {paper_name(name) for name in printed_datasets}
    if found != wanted:
        return None
    counts = {name: int((~np.isnan(values[i])).any(axis=1).sum()) for i, name in enumerate(learners)}
    short = [f"{name} on {count}" for name, count in counts.items() if count < len(wanted)]
    return f"ours with {', '.join(short)} of the {len(wanted)} data sets" if short else ""


def join(
    printed: dict[str, pd.DataFrame],
    ours: dict[str, pd.DataFrame],
    remarks: dict[str, str | None],
    rank_sum_errors: RankErrors | None = None,
) -> pd.DataFrame:
    """Put every number that the paper prints in Tables I and III to VII beside ours.

    `ours` may lack tables; `remarks` has what `coverage` says of every configuration, `rank_sum_errors` comes from `rank_errors`.
    """
    if "table6" in ours and not set(printed["table6"]["scheme"]) <= set(ours["table6"]["scheme"]):
        table6 = ours["table6"]  # the print's mean is over all its schemes
        ours = ours | {"table6": table6[table6["scheme"] != AVERAGE]}
    numbers = _our_numbers(ours, rank_sum_errors or {})
    theirs, here = [], []
    for number in _printed_numbers(printed):
        table = number.table
        for configuration in [""] if table == "table1" else remarks:
            key = _Key(table, configuration, *number[1:5])
            found, error = numbers.get(key, (np.nan, np.nan))
            note = number.note
            limit = remarks[configuration] if table not in ("table1", "table3") else ""
            if limit is None:
                theirs.append((*key, number.value, OTHER_DATA))
                continue
            if table == "table5" and np.isnan(found) and "table5" in ours:
                note = "no experiment has results of both" if key in numbers else "the pair does not differ at .1 in our truth"
            theirs.append((*key, number.value, note))
            here.append((*key, found, error, "" if np.isnan(found) else limit))
    on = ["table", *PRINT_KEYS]
    return join_with_print(
        pd.DataFrame(theirs, columns=[*on, "printed", "reason"]),
        pd.DataFrame(here, columns=[*on, "ours", "standard_error", "reason"]),
        PRINT_KEYS,
    )


def _printed_numbers(printed: dict[str, pd.DataFrame]) -> list[_Printed]:
    """List the numbers of the printed tables."""
    rows = []
    for row in printed["table1"].to_dict("records"):
        for quantity, value in row.items():
            if quantity != "dataset":
                slip = (paper_name(row["dataset"]), quantity) == ("sonar", "attributes")
                note = "misprint: the row has 60 real attributes" if slip else ""
                rows.append(_Printed("table1", "", paper_name(row["dataset"]), "", str(quantity), float(value), note))
    for row in printed["table3"].itertuples():
        rows.append(_Printed("table3", TRUTH_SCHEME, paper_name(row.dataset), row.classifier, "auc", row.auc))
    # The two orders of a pair have the same sums of ranks, which add to that of all ranks, and p follows from them.
    for row in _each_pair(printed["table4"]):
        rows.append(_Printed("table4", TRUTH_SCHEME, row.row, row.column, "r_plus", float(row.r_plus)))
    for row in _each_pair(printed["table5"]):
        rows.append(_Printed("table5", TRUTH_SCHEME, row.row, row.column, AGREEMENTS, float(row.times_same_result)))
    for row in printed["table6"].itertuples():
        rows.append(_Printed("table6", row.scheme, row.partitioner, "", "percent", float(row.percent_same_result)))
    for row in printed["table7"].itertuples():
        cell = ("table7", row.scheme, row.partitioner, "")
        rows += [
            _Printed(*cell, quantity, float(value), VECTOR)
            for quantity, value in (("mean", row.mean_experiments), ("std", row.std_experiments))
        ]
    return rows


def _each_pair(table: pd.DataFrame) -> list[Any]:
    """List the first of the two rows that print has of every pair of classifiers."""
    found: dict[frozenset[str], Any] = {}
    for row in table.itertuples():
        found.setdefault(frozenset((row.row, row.column)), row)
    return list(found.values())


def _our_numbers(ours: dict[str, pd.DataFrame], rank_sum_errors: RankErrors) -> dict[_Key, tuple[float, float]]:
    """Collect our numbers and their standard errors by the keys of the printed ones."""
    out: dict[_Key, tuple[float, float]] = {}
    for row in ours.get("table1", pd.DataFrame()).rename(columns={"samples": "examples"}).to_dict("records"):
        for quantity in ("attributes", "real", "integer", "nominal", "examples"):
            if quantity in row:
                out[_Key("table1", "", "", paper_name(row["dataset"]), "", quantity)] = (float(row[quantity]), np.nan)
    for row in _rows(ours, "table3"):
        key = _Key("table3", row.configuration, row.scheme, paper_name(row.dataset), row.classifier, "auc")
        out[key] = (row.auc, auc_error(row))
    for row in _rows(ours, "table4"):
        error = rank_sum_errors.get((row.configuration, row.row, row.column), np.nan)
        out[_Key("table4", row.configuration, row.scheme, row.row, row.column, "r_plus")] = (row.r_plus, error)
    for row in _rows(ours, "table5"):
        if row.partitioner == TABLE5_PARTITIONER:
            n = row.n_experiments or np.nan
            share = row.agreements / n
            error = np.hypot(100 * share_error(row.agreements, n), _truth_error(row))
            out[_Key("table5", row.configuration, row.scheme, row.row, row.column, AGREEMENTS)] = (100 * share, error)
    for row in _rows(ours, "table6"):
        key = _Key("table6", row.configuration, row.scheme, row.partitioner, "", "percent")
        out[key] = (row.percent, np.hypot(row.standard_error, _truth_error(row)))
    for row in _rows(ours, "table7"):
        cell = ("table7", row.configuration, row.scheme, row.partitioner, "")
        out[_Key(*cell, "mean")] = (row.mean, getattr(row, "standard_error", np.nan))
        out[_Key(*cell, "std")] = (row.std, np.nan)
    return out


def _truth_error(row: Any) -> float:
    """Return the error of a number of Tables V and VI from the truth's own experiments; 0 if it is not known."""
    error = getattr(row, "truth_error", np.nan)
    return 0.0 if np.isnan(error) else error


def _rows(ours: dict[str, pd.DataFrame], name: str) -> Iterable[Any]:
    """Iterate over the rows of one of our tables, if there is one."""
    return ours[name].itertuples() if name in ours else ()


def printed_table4(table3: pd.DataFrame, table4: pd.DataFrame, alpha: float = ALPHA) -> pd.DataFrame:
    """Recompute Table IV from the printed Table III, and put it beside the print."""
    auc = table3.pivot(index="classifier", columns="dataset", values="auc")
    auc = auc.loc[list(dict.fromkeys(table3["classifier"]))]
    tests = pairwise_tests(auc.to_numpy(), "paper")
    conditional = pairwise_tests(auc.to_numpy(), "corrected").p_value
    printed = table4.set_index(["row", "column"])
    rows = []
    for i, (first, second) in enumerate(zip(auc.index[tests.row], auc.index[tests.column])):
        cell = printed.loc[(first, second)]
        text = "" if pd.isna(cell["p_value"]) else str(cell["p_value"])
        p_of_printed = float(rank_sum_p(float(cell["r_plus"]), int(tests.n_datasets[i])))
        # Where the p is illegible, the paper's text and the next tables use the pair as significant; its own sums say the same.
        printed_p = np.nan if text in ("", ">0.2") else float(text)
        rows.append(
            {
                "row": first,
                "column": second,
                "printed_r_plus": float(cell["r_plus"]),
                "printed_r_minus": float(cell["r_minus"]),
                "printed_p": text,
                "p_of_printed": p_of_printed,
                "r_plus": tests.r_plus[i],
                "r_minus": tests.r_minus[i],
                "p_value": tests.p_value[i],
                "p_conditional": conditional[i],
                "difference": tests.r_plus[i] - float(cell["r_plus"]),
                "transposed": int(abs(tests.r_minus[i] - cell["r_plus"]) < abs(tests.r_plus[i] - cell["r_plus"])),
                "significant_printed": int((p_of_printed if text == "" else printed_p) <= alpha),
                "significant_of_printed": int(p_of_printed <= alpha),
                "significant": int(tests.p_value[i] <= alpha),
            }
        )
    return pd.DataFrame(rows)
