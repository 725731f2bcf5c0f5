"""Tables II to VI of the classification study (Moreno-Torres, Saez and Herrera 2012) from results of experiments.

Results are arrays as `experiments` reads them, by configuration of the classifiers; `schemes` maps the number of folds k to the
iterations of an experiment.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from foldshift.core.seeding import generator
from foldshift.inference.missing import mean_present, std_present
from foldshift.inference.repetitions.agreement import ALPHA, accuracy_by_repetitions, pairwise_tests
from foldshift.reporting.items import TableResult
from foldshift.reporting.min_datasets import one_line, too_few
from foldshift.reporting.number_formats import EMPTY, count_range, number, p_value, with_error
from foldshift.reporting.table_grid import Grid, TableCell
from foldshift.studies.moreno_torres_2012.experiment_accuracy import (
    accuracy_table,
    agreement_table,
    comparable_results,
    error_notes,
    formula_of,
)
from foldshift.studies.moreno_torres_2012.experiments import by_configuration, folds_and_classes
from foldshift.studies.moreno_torres_2012.notation import (
    AVERAGE,
    NO_PAIR,
    NOT_SEEN,
    describe,
    in_print_order,
    paper_name,
    scheme_name,
)

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray, Inputs, PathLike
    from foldshift.inference.repetitions.agreement import PairTests
    from foldshift.studies.moreno_torres_2012.experiments import Counts, Experiments

REPETITIONS = (1, 2, 5, 10, 20, 50)
N_DRAWS = 200

# Algorithm and type, as Table II prints them.
CLASSIFIERS = {
    "1NN": ("Nearest neighbour, k = 1", "Lazy learner"),
    "3NN": ("Nearest neighbour, k = 3", "Lazy learner"),
    "C4.5": ("C4.5", "Decision tree"),
    "FURIA": ("Fuzzy unordered rule induction algorithm", "Fuzzy rule-based (Mamdani)"),
    "LDA": ("Linear discriminant analysis", "Statistical"),
    "PART": ("PART", "Partial decision tree"),
    "PDFC": ("Positive definite fuzzy classifier", "Fuzzy rule-based (TSK)"),
    "RIPPER": ("Repeated incremental pruning to produce error reduction", "Rule-based"),
    "SVM": ("Support vector machine", "Support vector machine"),
}


def agreement(inputs: Inputs, settings: dict[str, Any], learners: dict[str, dict[str, Any]]) -> dict[str, TableResult]:
    """Make Tables II to VI, and the accuracy by repetitions; `learners`: entries of the learners file."""
    names, partitioners = settings["learners"], settings["partitioners"]
    schemes, alpha = settings["iterations"], settings["alpha"]
    results = by_configuration(inputs.scores, settings)
    classifiers = classifiers_table(learners, names, settings["ids"])
    auc = auc_table(results, schemes, names, settings["datasets"], folds_and_classes(inputs.scores, settings))
    tests = wilcoxon_table(results, schemes, names, alpha)
    seed = settings["master_seed"]
    found = agreement_table(results, schemes, partitioners, names, alpha, master_seed=seed)
    accuracies = accuracy_table(results, schemes, partitioners, alpha, master_seed=seed)
    repetitions = repetitions_table(results, schemes, partitioners, alpha, master_seed=seed)
    printed = read_print(inputs.printed, settings["datasets"])
    few = too_few(len(settings["datasets"]), alpha)
    nothing = few or (NO_PAIR if found.empty and auc["auc"].notna().any() else "")
    return {
        "table2_classifiers": TableResult(classifiers, classifiers_grid(classifiers)),
        "table3_auc": TableResult(auc, auc_grid(auc, printed.auc)),
        "table4_wilcoxon": TableResult(tests, one_line(few) if few else wilcoxon_grid(tests, alpha, printed.tests)),
        "table5_agreement": TableResult(
            found,
            one_line(nothing) if nothing else agreement_grid(found, names, alpha, printed.agreements),
            {"experiments": counts_of_experiments(found) or settings["n_seeds"]},
        ),
        "table6_accuracy": TableResult(accuracies, one_line(nothing) if nothing else accuracy_grid(accuracies, printed.accuracy)),
        "accuracy_by_repetitions": TableResult(repetitions, one_line(nothing) if nothing else repetitions_grid(repetitions)),
    }


class Printed(NamedTuple):
    """Printed cells that stand beside ours, as text: of Table III by data set and classifier, of IV and V by pair."""

    auc: dict[tuple[str, str], str]
    tests: dict[tuple[str, str], str]
    agreements: dict[tuple[str, str], str]
    accuracy: pd.DataFrame


def read_print(paths: Sequence[PathLike], datasets: Sequence[str]) -> Printed:
    """Read the printed cells of Tables III to VI; those of IV and V only for a run on the paper's data sets."""
    auc, tests, agreements, accuracy = (pd.read_csv(path) for path in paths)
    areas = {(paper_name(row.dataset), row.classifier): number(row.auc) for row in auc.itertuples()}
    if {paper_name(name) for name in datasets} != {name for name, _ in areas}:
        return Printed(areas, {}, {}, accuracy)
    sums = {
        (row.row, row.column): f"{row.r_plus:g}/{row.r_minus:g}/{'' if pd.isna(row.p_value) else row.p_value}"
        for row in tests.itertuples()
    }
    return Printed(areas, sums, {(row.row, row.column): str(row.times_same_result) for row in agreements.itertuples()}, accuracy)


def print_row(printed: dict[tuple[str, str], str], name: str, columns: Sequence[str], keys: Sequence[str]) -> list[Any]:
    """Make the row of print below one of ours, in a list; an empty list where it is not the paper's block, or nothing is printed.

    `keys` are the keys of the block: print has the paper's classifiers with 5x2, and in Table V DOB-SCV.
    """
    cells = [printed.get((name, column), "") for column in columns]
    if not set(keys) <= {"paper", "5x2", "DOB-SCV"} or not any(cells):
        return []
    return [["as printed", *[TableCell(text) for text in cells]]]


def classifiers_table(
    learners: dict[str, dict[str, Any]], names: Sequence[str], configurations: dict[str, dict[str, str]]
) -> pd.DataFrame:
    """Make Table II: the classifiers and their parameters."""
    rows = []
    for name in names:
        entry = learners[next(iter(configurations.values()))[name]]
        algorithm, kind = CLASSIFIERS.get(name, (entry["import"].rpartition(".")[2], ""))
        row = {"classifier": name, "algorithm": algorithm, "type": kind}
        for configuration, ids in configurations.items():
            row[f"parameters_{configuration}"] = _parameters(learners[ids[name]]["params"])
        rows.append(row)
    return pd.DataFrame(rows)


def auc_table(
    results: dict[str, Experiments],
    schemes: dict[int, int],
    learners: Sequence[str],
    datasets: Sequence[str],
    part_counts: dict[str, dict[int, Counts]] | None = None,
) -> pd.DataFrame:
    """Make Table III: the true AUC of every classifier on every data set.

    With `part_counts` (from `folds_and_classes`), the table also has the columns ``folds`` and ``classes``.
    """
    rows = []
    for configuration, (_, truth) in results.items():
        for k, r in schemes.items():
            counts = (~np.isnan(truth[k])).sum(axis=2)
            means, stds = mean_present(truth[k]), std_present(truth[k])
            for d, dataset in enumerate(datasets):
                for i, learner in enumerate(learners):
                    n, std = int(counts[i, d]), stds[i, d]
                    error = std / np.sqrt(n) if n else np.nan
                    rests_on = [counted[i, d] for counted in part_counts[configuration][k]] if part_counts else []
                    rows.append((configuration, scheme_name(k, r), dataset, learner, means[i, d], error, std, n, *rests_on))
    columns = ["configuration", "scheme", "dataset", "classifier", "auc", "standard_error", "std", "n_experiments"]
    return pd.DataFrame(rows, columns=columns + (["folds", "classes"] if part_counts else []))


def wilcoxon_table(
    results: dict[str, Experiments], schemes: dict[int, int], learners: Sequence[str], alpha: float = ALPHA
) -> pd.DataFrame:
    """Make Table IV: Wilcoxon's test over the data sets between all pairs of classifiers, on the true AUC.

    Every pair has a row in both orders; ``p_conditional`` is the exact p given the ties.
    """
    rows = []
    for configuration, (_, truth) in results.items():
        for k, r in schemes.items():
            means = mean_present(truth[k])
            tests = pairwise_tests(means, formula_of(configuration))
            conditional = pairwise_tests(means, "corrected").p_value
            for pair in _ordered(tests, conditional):
                names = (configuration, scheme_name(k, r), learners[pair.first], learners[pair.second])
                significant = int(pair.p_value <= alpha) if pair.n_datasets else np.nan
                sums = (pair.r_plus, pair.r_minus, pair.p_value, pair.method, pair.p_conditional)
                rows.append((*names, *sums, significant, pair.n_datasets))
    columns = ["configuration", "scheme", "row", "column", "r_plus", "r_minus", "p_value", "method", "p_conditional"]
    return pd.DataFrame(rows, columns=[*columns, "significant", "n_datasets"])


def repetitions_table(
    results: dict[str, Experiments],
    schemes: dict[int, int],
    partitioners: Sequence[str],
    alpha: float = ALPHA,
    repetitions: Sequence[int] = REPETITIONS,
    n_draws: int = N_DRAWS,
    *,
    master_seed: int,
) -> pd.DataFrame:
    """Make the table of the accuracy when m experiments are averaged before the test, drawn `n_draws` times."""
    rows = []
    for configuration, (values, truth) in results.items():
        values, truth = comparable_results(values, truth, schemes, partitioners)
        for k, r in schemes.items():
            means = mean_present(truth[k])
            for name in partitioners:
                rng = generator(master_seed, "repetitions", k)  # the same draws for every partitioner and configuration
                curve = accuracy_by_repetitions(
                    means, values[k, name], repetitions, n_draws, rng, alpha, formula_of(configuration)
                )
                n = values[k, name].shape[2]
                for m, percent, std, error in zip(*curve):
                    draws = n if m == 1 else 1 if m == n else n_draws
                    rows.append((configuration, scheme_name(k, r), name, m, percent, error, std, draws))
    columns = ["configuration", "scheme", "partitioner", "experiments", "percent", "standard_error", "std_draws", "n_draws"]
    return pd.DataFrame(rows, columns=columns)


def classifiers_grid(table: pd.DataFrame) -> Grid:
    """Print Table II with the parameters."""
    configurations = [name.removeprefix("parameters_") for name in table.columns if name.startswith("parameters_")]
    header = ["Algorithm", "Abbreviation", "Type of classifier", *[f"Parameters, {name}" for name in configurations]]
    rows = [
        [row["algorithm"], row["classifier"], row["type"], *[row[f"parameters_{name}"] for name in configurations]]
        for _, row in table.iterrows()
    ]
    return Grid(header, rows)


def auc_grid(table: pd.DataFrame, printed: dict[tuple[str, str], str] | None = None) -> Grid:
    """Print Table III: data sets by classifiers, the best of a row underlined; one block per configuration and scheme."""
    learners = list(dict.fromkeys(table["classifier"]))
    rows: list[list[TableCell | str]] = []
    for (configuration, scheme), block in _blocks(table, ["configuration", "scheme"]):
        rows.append([f"{configuration} configuration, {describe(scheme)}"])
        values = block.pivot(index="dataset", columns="classifier", values="auc").loc[
            list(dict.fromkeys(block["dataset"])), learners
        ]
        for dataset, row in values.iterrows():
            best = row.round(4).max()
            cells = [TableCell(number(v), underline=bool(round(v, 4) == best)) for v in row]
            rows.append([dataset, *cells])
            rows += print_row(printed or {}, paper_name(dataset), learners, (configuration, scheme))
        complete = values.dropna(axis=1, how="all").dropna()  # a classifier without any result is not waited for
        if len(values) > 1:
            average = complete.mean().reindex(learners)
            n = len(complete)
            rows.append([f"mean of the {n} complete row{'s' * (n != 1)}", *[TableCell(number(v)) for v in average]])
    counts = table.loc[table["n_experiments"] > 0, "n_experiments"]
    if table["auc"].isna().any():
        empty = f"{EMPTY}: no result; the classifier was not run on the data set, or its fits failed."
    else:
        empty = "Empty: the classifier was not run on the data set."
    notes = [
        f"Stratified cross-validation (SCV), {count_range(counts)} experiments per cell; the best of a row is underlined. "
        f"The paper prints the scheme 5x2 only. {empty}"
    ]
    return Grid(["Data set", *learners], rows, notes + absent_classes(table))


def absent_classes(table: pd.DataFrame) -> list[str]:
    """Write a note on every data set with test parts that lack a class; it needs the columns ``folds`` and ``classes``."""
    notes: list[str] = []
    if "classes" not in table:
        return notes
    for (dataset, scheme), part in table.dropna(subset="classes").groupby(["dataset", "scheme"], sort=False):
        classes = part["classes"].mean()
        if classes == round(classes):
            continue
        found = [f"{dataset}, {describe(scheme)}: test parts lack classes, they have {number(classes, '.2f')} on average"]
        for configuration, block in part.groupby("configuration", sort=False):
            folds = number(block["folds"].mean(), ".2f")
            what = (
                "such a part counts 0"
                if configuration == "paper"
                else f"a class takes no part where it is absent, {folds} parts count"
            )
            found.append(f"{configuration} configuration: {what}")
        notes.append("; ".join(found) + ".")
    return notes


def wilcoxon_grid(table: pd.DataFrame, alpha: float = ALPHA, printed: dict[tuple[str, str], str] | None = None) -> Grid:
    """Print Table IV: R+/R-/p of the row's classifier against the column's, significant ones bold."""
    names = list(dict.fromkeys(table["row"]))
    rows: list[list[TableCell | str]] = []
    for (configuration, scheme), block in _blocks(table, ["configuration", "scheme"]):
        rows.append([f"{configuration} configuration, {describe(scheme)}"])
        cells = {
            (row.row, row.column): TableCell(
                f"{row.r_plus:g}/{row.r_minus:g}/{p_value(row.p_value, decimals_from=0.03, decimals=4)}",
                bold=bool(row.significant),
            )
            if row.n_datasets
            else TableCell(EMPTY)
            for row in block.itertuples()
        }
        for a in names:
            rows.append([a, *[cells.get((a, b), TableCell("-")) for b in names]])
            rows += print_row(printed or {}, a, names, (configuration, scheme))
    methods = ", ".join(name for name in dict.fromkeys(table["method"]) if name)
    notes = [
        f"Bold: p at most {alpha:g}; only these pairs are used further. p: {methods}. The paper prints >0.2 where the table of "
        "its tool ends."
    ]
    fewest, most = int(table["n_datasets"].min()), int(table["n_datasets"].max())
    if fewest < most:
        notes.append(f"A pair rests on the data sets on which both have results: {fewest} to {most}. {EMPTY}: there is none.")
    return Grid(["", *names], rows, notes)


def agreement_grid(
    table: pd.DataFrame, learners: Sequence[str], alpha: float = ALPHA, printed: dict[tuple[str, str], str] | None = None
) -> Grid:
    """Print Table V: a matrix of pairs, one block per configuration, scheme and partitioner."""
    rows: list[list[TableCell | str]] = []
    for (configuration, scheme, partitioner), block in _blocks(table, ["configuration", "scheme", "partitioner"]):
        rows.append([f"{partitioner}, {configuration} configuration, {describe(scheme)}"])
        cells = {
            (row.row, row.column): TableCell(
                f"{row.agreements:.0f}" + (f" ({row.opposite:.0f})" if row.opposite else "") if row.n_experiments else EMPTY
            )
            for row in block.itertuples()
        }
        for a in learners:
            rows.append([a, *[cells.get((a, b), TableCell("-")) for b in learners]])
            rows += print_row(printed or {}, a, learners, (configuration, scheme, partitioner))
    notes = [
        f"A dash: the classifiers do not truly differ (p > {alpha:g}), the pair is not used. In brackets, where there are any: "
        "experiments as significant in the wrong direction, which the paper does not tell apart and which are not counted here. "
        "The paper prints DOB-SCV with 5x2 only."
    ]
    if (table["n_experiments"] == 0).any():
        notes.append(f"{EMPTY}: the classifiers truly differ, but no experiment has results of both.")
    return Grid(["", *learners], rows, notes)


def accuracy_grid(table: pd.DataFrame, printed: pd.DataFrame | None = None) -> Grid:
    """Print Table VI: schemes by partitioners, print below, the best of a row bold where it is seen."""
    partitioners = in_print_order(dict.fromkeys(table["partitioner"]))
    print_cells = {} if printed is None else printed.set_index(["scheme", "partitioner"])["percent_same_result"].to_dict()
    rows: list[list[TableCell | str]] = []
    for configuration, block in _blocks(table, ["configuration"]):
        pairs = block[block["scheme"] != AVERAGE].drop_duplicates("scheme")
        counts = ", ".join(f"{row.n_pairs:g} with {row.scheme}" for row in pairs.itertuples())
        rows.append([f"{configuration[0]} configuration; pairs that truly differ: {counts}"])
        for scheme, part in _blocks(block, ["scheme"]):
            part = part.set_index("partitioner")
            cells = []
            for name in partitioners:
                row = part.loc[name]
                text = f"{with_error(row['percent'], row['standard_error'], '.2f')} ({number(row['subset_error'], '.1f')})"
                if pd.isna(row["percent"]):
                    text = "no pair" if row["n_experiments"] and row["n_cells"] else EMPTY
                cells.append(TableCell(text, bold=bool(row.get("best_seen", 0))))
            rows.append([scheme[0], *cells])
            if any((scheme[0], name) in print_cells for name in partitioners):
                beside = [print_cells.get((scheme[0], name), np.nan) for name in partitioners]
                rows.append(["as printed", *[TableCell(number(value, ".3f", empty="")) for value in beside]])
    opposite = table["opposite_percent"].max()
    cells = table.loc[table["scheme"] != AVERAGE, "n_cells"]
    notes = [
        f"{counts_of_experiments(table)} experiments per cell. Bold: the best of a row, by more than two errors of the "
        f"difference, over experiments and data sets. Without bold, which is best {NOT_SEEN}. The partitioners are compared on "
        "the same data sets, so their differences vary less than the numbers in brackets say; table conclusions has the errors.",
        f"Experiments as significant in the wrong direction: at most {opposite:.2f} % of a cell; they do not count as agreements."
        if opposite == opposite
        else "No pair of classifiers truly differs in this run.",
        *error_notes(table),
    ]
    if cells.min() < cells.max():
        notes.append(
            f"Compared are the {cells.min()} to {cells.max()} pairs of data set and classifier that have results of all "
            f"partitioners. {EMPTY}: no result."
        )
    return Grid(["CV scheme", *partitioners], rows, notes)


def repetitions_grid(table: pd.DataFrame) -> Grid:
    """Print the accuracy by repetitions: partitioners by number of experiments."""
    counts = sorted(table["experiments"].unique())
    rows: list[list[TableCell | str]] = []
    for (configuration, scheme), block in _blocks(table, ["configuration", "scheme"]):
        rows.append([f"{configuration} configuration, {describe(scheme)}"])
        nothing = "no pair" if block["percent"].isna().all() else EMPTY
        for name, part in _blocks(block, ["partitioner"]):
            part = part.set_index("experiments")
            rows.append([name[0], *[_percent_cell(part.loc[m], nothing) if m in part.index else TableCell("") for m in counts]])
    return Grid(["Partitioner", *[f"m = {m}" for m in counts]], rows)


def counts_of_experiments(table: pd.DataFrame) -> str:
    """List the numbers of experiments that the cells of a table rest on, as text."""
    return ", ".join(str(value) for value in sorted(table["n_experiments"].unique()) if value)


def _blocks(table: pd.DataFrame, keys: list[str]) -> Iterator[tuple[Any, pd.DataFrame]]:
    """Iterate over groups in the order of their first rows, with a tuple of keys each."""
    return iter(table.groupby(keys, sort=False, dropna=False))


def _percent_cell(row: pd.Series, nothing: str) -> TableCell:
    if pd.isna(row["standard_error"]):  # of all experiments there is one average
        return TableCell(number(row["percent"], ".1f", empty=nothing))
    return TableCell(with_error(row["percent"], row["standard_error"], ".1f", empty=nothing))


def _parameters(params: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in params.items()) or "none"


class _Pair(NamedTuple):
    """Wilcoxon's test of two classifiers, by their positions."""

    first: int
    second: int
    r_plus: float
    r_minus: float
    p_value: float
    n_datasets: int
    method: str
    p_conditional: float


def _ordered(tests: PairTests, conditional: FloatArray) -> list[_Pair]:
    """List all pairs in both orders, sorted by row and column."""
    pairs = []
    for i in range(len(tests.row)):
        first, second = int(tests.row[i]), int(tests.column[i])
        common = (tests.p_value[i], int(tests.n_datasets[i]), tests.method[i], conditional[i])
        pairs.append(_Pair(first, second, tests.r_plus[i], tests.r_minus[i], *common))
        pairs.append(_Pair(second, first, tests.r_minus[i], tests.r_plus[i], *common))
    return sorted(pairs, key=lambda pair: pair[:2])
