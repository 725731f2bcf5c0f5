"""Tables of the classification study (Moreno-Torres, Saez and Herrera 2012) from results of experiments.

Results come as one pair ``(values, truth)`` for every configuration of the classifiers: `values` maps (k, partitioner) to an array of shape
(n_learners, n_datasets, n_experiments), `truth` maps k to an array of shape (n_learners, n_datasets, n_truth); the AUC of an experiment, NaN where a classifier
was not run on a data set or a fit failed. `schemes` maps the number of folds k to the iterations of an experiment.
"""

import numpy as np
import pandas as pd

from foldshift.inference.agreement import (
    ALPHA,
    accuracy,
    accuracy_by_repetitions,
    agreements,
    draw_subsets,
    pairwise_tests,
    significant_pairs,
    subset_error,
)
from foldshift.inference.missing import common_results, mean_present, std_present
from foldshift.inference.wilcoxon import rank_sum_p
from foldshift.reporting.figures import plt, style
from foldshift.reporting.numbers import EMPTY, count_range, number, p_value, with_error
from foldshift.reporting.tables import Cell, Grid
from foldshift.seeding import generator

FORMULAS = {"paper": "paper"}  # the paper's own way with ties belongs to its configuration; all others take the corrected one
REPETITIONS = (1, 2, 5, 10, 20, 50)
N_SUBSETS = 200
N_DRAWS = 200
AVERAGE = "Average"

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


def scheme_name(k, r):
    """Notation of the paper: 5x2 is five folds iterated twice."""
    return f"{k}x{r}"


def formula_of(configuration):
    """Treatment of ties in Wilcoxon's test that belongs to a configuration."""
    return FORMULAS.get(configuration, "corrected")


def alike(values, truth, schemes, partitioners):
    """Results on which partitioners can be compared: those that all of them have.

    Parameters
    ----------
    values : dict of (int, str) to ndarray of shape (n_learners, n_datasets, n_experiments)
        By k and partitioner; NaN where a fit failed.
    truth : dict of int to ndarray of shape (n_learners, n_datasets) or (n_learners, n_datasets, n_truth)
        By k; may be empty.
    schemes : dict of int to int
        Number of folds k to iterations.
    partitioners : sequence of str

    Returns
    -------
    values, truth : dict
        The same with NaN, for all partitioners and the truth, wherever a partitioner that has results at all lacks one; see
        `foldshift.inference.missing.common_results`.
    """
    alike_values, alike_truth = {}, {}
    for k in schemes:
        common = common_results({name: values[k, name] for name in partitioners})
        alike_values |= {(k, name): array for name, array in common.items()}
        if k in truth:
            usable = np.any([~np.isnan(array).all(axis=2) for array in common.values()], axis=0)
            alike_truth[k] = np.where(usable if truth[k].ndim == 2 else usable[:, :, None], truth[k], np.nan)
    return alike_values, alike_truth


def classifiers_table(learners, names, configurations):
    """Table II: the classifiers and their parameters.

    Parameters
    ----------
    learners : dict of str to dict
        Entries of the learners file: ``import``, ``params``.
    names : sequence of str
        Classifiers, in the order of the table.
    configurations : dict of str to (dict of str to str)
        For every configuration the id in `learners` of every classifier.

    Returns
    -------
    table : pandas.DataFrame
        ``classifier, algorithm, type`` and ``parameters_<configuration>``.
    """
    rows = []
    for name in names:
        entry = learners[next(iter(configurations.values()))[name]]
        algorithm, kind = CLASSIFIERS.get(name, (entry["import"].rpartition(".")[2], ""))
        row = {"classifier": name, "algorithm": algorithm, "type": kind}
        for configuration, ids in configurations.items():
            row[f"parameters_{configuration}"] = _parameters(learners[ids[name]]["params"])
        rows.append(row)
    return pd.DataFrame(rows)


def auc_table(results, schemes, learners, datasets):
    """Table III: the true AUC of every classifier on every data set.

    Parameters
    ----------
    results : dict of str to (dict, dict)
        Values and truth of every configuration.
    schemes : dict of int to int
        Number of folds k to iterations.
    learners, datasets : sequence of str
        In the order of the arrays.

    Returns
    -------
    table : pandas.DataFrame
        ``configuration, scheme, dataset, classifier, auc, standard_error, std, n_experiments``.
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
                    rows.append((configuration, scheme_name(k, r), dataset, learner, means[i, d], error, std, n))
    columns = ["configuration", "scheme", "dataset", "classifier", "auc", "standard_error", "std", "n_experiments"]
    return pd.DataFrame(rows, columns=columns)


def wilcoxon_table(results, schemes, learners, alpha=ALPHA):
    """Table IV: Wilcoxon's test over the data sets between all pairs of classifiers, on the true AUC.

    Parameters
    ----------
    results, schemes, learners
        See `auc_table`.
    alpha : float, default=0.1
        Level of ``significant``.

    Returns
    -------
    table : pandas.DataFrame
        ``configuration, scheme, row, column, r_plus, r_minus, p_value, method, p_conditional, significant, n_datasets``; every pair in both
        orders. ``p_conditional`` is the exact p given the ties. Empty where the two share no data set.
    """
    rows = []
    for configuration, (_, truth) in results.items():
        for k, r in schemes.items():
            means = mean_present(truth[k])
            tests = pairwise_tests(means, formula_of(configuration))
            conditional = pairwise_tests(means, "corrected").p_value
            for first, second, r_plus, r_minus, p, n, method, given_ties in _ordered(tests, conditional):
                names = (configuration, scheme_name(k, r), learners[first], learners[second])
                rows.append((*names, r_plus, r_minus, p, method, given_ties, int(p <= alpha) if n else np.nan, n))
    columns = [
        "configuration",
        "scheme",
        "row",
        "column",
        "r_plus",
        "r_minus",
        "p_value",
        "method",
        "p_conditional",
        "significant",
    ]
    return pd.DataFrame(rows, columns=[*columns, "n_datasets"])


def agreement_table(results, schemes, partitioners, learners, alpha=ALPHA):
    """Table V: how many single experiments find the difference of a pair that the truth shows.

    Parameters
    ----------
    results, schemes, learners, alpha
        See `wilcoxon_table`.
    partitioners : sequence of str
        In the order of the table.

    Returns
    -------
    table : pandas.DataFrame
        ``configuration, scheme, partitioner, row, column, agreements, opposite, n_experiments, p_value``; the pairs significant in truth, in both orders.
        ``opposite`` counts experiments that are as significant in the wrong direction; they are not agreements. ``p_value`` is the truth's, on the data
        sets on which the partitioner has results of both; ``n_experiments`` counts those that are complete on them. Empty where there is none.
    """
    rows = []
    for configuration, (values, truth) in results.items():
        for k, r in schemes.items():
            means = mean_present(truth[k])
            everywhere = significant_pairs(means, alpha, formula_of(configuration))
            for name in partitioners:
                own = np.where(np.isnan(values[k, name]).all(axis=2), np.nan, means)
                found = agreements(own, values[k, name], alpha, formula_of(configuration))
                lost = np.isnan(own[everywhere.row] - own[everywhere.column]).all(axis=1)
                for i, j, p in zip(everywhere.row[lost], everywhere.column[lost], everywhere.p_value[lost]):
                    for first, second in ((i, j), (j, i)):
                        keys = (configuration, scheme_name(k, r), name, learners[first], learners[second])
                        rows.append((*keys, np.nan, np.nan, 0, p))
                counts = dict(zip(zip(found.pairs.row.tolist(), found.pairs.column.tolist()), range(len(found.pairs.row))))
                counts |= {(j, i): position for (i, j), position in counts.items()}
                for (i, j), position in sorted(counts.items()):
                    n = int(found.judged[position].sum())
                    agree, opposite = int(found.agree[position].sum()), int(found.opposite[position].sum())
                    keys = (configuration, scheme_name(k, r), name, learners[i], learners[j])
                    rows.append((*keys, *((agree, opposite) if n else (np.nan, np.nan)), n, found.pairs.p_value[position]))
    columns = ["configuration", "scheme", "partitioner", "row", "column", "agreements", "opposite", "n_experiments", "p_value"]
    return pd.DataFrame(rows, columns=columns)


def accuracy_table(results, schemes, partitioners, alpha=ALPHA, n_subsets=N_SUBSETS, *, master_seed):
    """Table VI: per cent of single experiments that find the true result, averaged over the pairs.

    Parameters
    ----------
    results, schemes, partitioners, alpha
        See `agreement_table`.
    n_subsets : int, default=200
        Random subsets of two thirds of the data sets, the same for all cells.
    master_seed : int
        The one seed of the configuration, which the draws are derived from.

    Returns
    -------
    table : pandas.DataFrame
        ``configuration, scheme, partitioner, percent, standard_error, subset_std, subset_low, subset_high, subset_error, jackknife_error,
        opposite_percent, n_pairs, n_experiments, n_datasets, n_cells``. ``standard_error`` is over experiments; ``subset_std`` and the range from ``subset_low`` to
        ``subset_high`` (90 %) over the subsets, with everything repeated on each; ``subset_error`` and ``jackknife_error`` estimate the standard error
        over data sets, from the subsets and by leaving out one. Rows of scheme ``Average`` are the mean over the schemes. All partitioners of a scheme
        rest on the same results, see `alike`: ``n_datasets`` data sets with results, ``n_cells`` pairs of data set and classifier, and for every pair of
        classifiers at least ``n_experiments`` experiments. NaN where no pair differs in truth, or the partitioner has no results.
    """
    rows = []
    for configuration, (values, truth) in results.items():
        values, truth = alike(values, truth, schemes, partitioners)
        means = {k: mean_present(truth[k]) for k in schemes}
        present = np.any([~np.isnan(array).all(axis=0) for array in means.values()], axis=0)
        subsets = common_subsets(int(present.sum()), n_subsets, master_seed)
        found = {
            (k, name): accuracy([(means[k][:, present], values[k, name][:, present])], subsets, alpha, formula_of(configuration))
            for k in schemes
            for name in partitioners
        }
        n_cells = {k: int((~np.isnan(array)).sum()) for k, array in means.items()}
        rows += [
            {"configuration": configuration} | row
            for row in accuracy_rows(found, schemes, partitioners, int(present.sum()), n_cells)
        ]
    return pd.DataFrame(rows)


def common_subsets(n_datasets, n_subsets, master_seed):
    """Subsets of two thirds of the data sets, the same wherever as many data sets are compared."""
    return draw_subsets(n_datasets, n_subsets, generator(master_seed, "subsets of data sets", n_datasets))


def accuracy_rows(found, schemes, partitioners, n_datasets, n_cells):
    """Rows of Table VI for one configuration.

    Parameters
    ----------
    found : dict of (int, str) to foldshift.inference.agreement.Accuracy
        By k and partitioner.
    schemes, partitioners
        See `accuracy_table`.
    n_datasets : int
    n_cells : dict of int to int
        Pairs of data set and classifier with a truth, by k.

    Returns
    -------
    rows : list of dict
        One for each scheme and partitioner, then the means over the schemes.
    """
    rows = []
    for k, r in schemes.items():
        sizes = n_datasets, n_cells[k]
        rows += [_accuracy_row(scheme_name(k, r), name, [found[k, name]], *sizes) for name in partitioners]
    sizes = n_datasets, min(n_cells.values())
    return rows + [_accuracy_row(AVERAGE, name, [found[k, name] for k in schemes], *sizes) for name in partitioners]


def _accuracy_row(scheme, partitioner, parts, n_datasets, n_cells):
    by_subset = np.mean([part.by_subset for part in parts], axis=0)
    present = by_subset[~np.isnan(by_subset)]
    low, high = np.quantile(present, [0.05, 0.95]) if len(present) else (np.nan, np.nan)
    whole = [part.standard_error for part in parts]
    together = parts[0]._replace(without_one=np.mean([part.without_one for part in parts], axis=0))
    return {
        "scheme": scheme,
        "partitioner": partitioner,
        "percent": float(np.mean([part.percent for part in parts])),
        "standard_error": float(np.sqrt(np.sum(np.square(whole)))) / len(parts),
        "subset_std": float(present.std(ddof=1)) if len(present) > 1 else np.nan,
        "subset_low": float(low),
        "subset_high": float(high),
        "subset_error": subset_error(by_subset, n_datasets),
        "jackknife_error": together.jackknife_error,
        "opposite_percent": float(np.mean([part.opposite_percent for part in parts])),
        "n_pairs": float(np.mean([part.n_pairs for part in parts])),
        "n_experiments": min(part.n_experiments for part in parts),
        "n_datasets": n_datasets,
        "n_cells": n_cells,
    }


def repetitions_table(results, schemes, partitioners, alpha=ALPHA, repetitions=REPETITIONS, n_draws=N_DRAWS, *, master_seed):
    """Accuracy when m experiments are averaged before the test.

    Parameters
    ----------
    results, schemes, partitioners, alpha
        See `accuracy_table`.
    repetitions : sequence of int
        Numbers of experiments m; those above the number of experiments are left out.
    n_draws : int, default=200
        Draws of m experiments.
    master_seed : int
        The one seed of the configuration, which the draws are derived from.

    Returns
    -------
    table : pandas.DataFrame
        ``configuration, scheme, partitioner, experiments, percent, standard_error, std_draws, n_draws``; see
        `foldshift.inference.agreement.accuracy_by_repetitions`. Rests on the same results as `accuracy_table`.
    """
    rows = []
    for configuration, (values, truth) in results.items():
        values, truth = alike(values, truth, schemes, partitioners)
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


def printed_table4(table3, table4, alpha=ALPHA):
    """Table IV recomputed from the printed Table III, beside the print.

    Parameters
    ----------
    table3 : pandas.DataFrame
        Printed: ``dataset, classifier, auc``.
    table4 : pandas.DataFrame
        Printed: ``row, column, r_plus, r_minus, p_value`` (text: ``>0.2`` beyond KEEL's table, empty where illegible).
    alpha : float, default=0.1
        Level of significance.

    Returns
    -------
    table : pandas.DataFrame
        One row per pair, in the order of the classifiers: ``row, column, printed_r_plus, printed_r_minus, printed_p``; ``p_of_printed``, the exact p
        of the printed sums; ``r_plus, r_minus, p_value, p_conditional`` from Table III, the latter given the ties; ``difference`` of R+; ``transposed``, 1 where
        the print is nearer to the pair the other way round; ``significant_printed``, ``significant_of_printed``, ``significant``.
    """
    auc = table3.pivot(index="classifier", columns="dataset", values="auc")
    auc = auc.loc[list(dict.fromkeys(table3["classifier"]))]
    tests = pairwise_tests(auc.to_numpy(), "paper")
    conditional = pairwise_tests(auc.to_numpy(), "corrected").p_value
    printed = table4.set_index(["row", "column"])
    rows = []
    for i, (first, second) in enumerate(zip(auc.index[tests.row], auc.index[tests.column])):
        cell = printed.loc[(first, second)]
        text = "" if pd.isna(cell["p_value"]) else str(cell["p_value"])
        of_printed = float(rank_sum_p(float(cell["r_plus"]), int(tests.n_datasets[i])))
        # Where the p is illegible, the paper's text and the next tables use the pair as significant; its own sums say the same.
        printed_p = np.nan if text in ("", ">0.2") else float(text)
        rows.append(
            {
                "row": first,
                "column": second,
                "printed_r_plus": float(cell["r_plus"]),
                "printed_r_minus": float(cell["r_minus"]),
                "printed_p": text,
                "p_of_printed": of_printed,
                "r_plus": tests.r_plus[i],
                "r_minus": tests.r_minus[i],
                "p_value": tests.p_value[i],
                "p_conditional": conditional[i],
                "difference": tests.r_plus[i] - float(cell["r_plus"]),
                "transposed": int(abs(tests.r_minus[i] - cell["r_plus"]) < abs(tests.r_plus[i] - cell["r_plus"])),
                "significant_printed": int((of_printed if text == "" else printed_p) <= alpha),
                "significant_of_printed": int(of_printed <= alpha),
                "significant": int(tests.p_value[i] <= alpha),
            }
        )
    return pd.DataFrame(rows)


def classifiers_grid(table):
    """Table II as it is printed, with the parameters."""
    configurations = [name.removeprefix("parameters_") for name in table.columns if name.startswith("parameters_")]
    header = ["Algorithm", "Abbreviation", "Type of classifier", *[f"Parameters, {name}" for name in configurations]]
    rows = [
        [row["algorithm"], row["classifier"], row["type"], *[row[f"parameters_{name}"] for name in configurations]]
        for _, row in table.iterrows()
    ]
    caption = (
        "The classifiers. Each exists once, done right (corrected); the paper configuration adds the switches that the printed numbers rest on, oddities of the "
        "tool the paper used."
    )
    return Grid(caption, header, rows)


def auc_grid(table):
    """Table III as it is printed: data sets by classifiers, the best of a row underlined; one block per configuration and scheme."""
    learners = list(dict.fromkeys(table["classifier"]))
    rows = []
    for (configuration, scheme), block in _blocks(table, ["configuration", "scheme"]):
        rows.append([f"{configuration} configuration, {describe(scheme)}"])
        values = block.pivot(index="dataset", columns="classifier", values="auc").loc[
            list(dict.fromkeys(block["dataset"])), learners
        ]
        for dataset, row in values.iterrows():
            best = row.round(4).max()
            cells = [Cell(number(v), underline=bool(round(v, 4) == best)) for v in row]
            rows.append([dataset, *cells])
        complete = values.dropna(axis=1, how="all").dropna()  # a classifier without any result is not waited for
        average = complete.mean().reindex(learners)
        rows.append([f"mean of the {len(complete)} complete rows", *[Cell(number(v)) for v in average]])
    counts = table.loc[table["n_experiments"] > 0, "n_experiments"]
    if table["auc"].isna().any():
        empty = f"{EMPTY}: no result; the classifier was not run on the data set, or its fits failed."
    else:
        empty = "Empty: the classifier was not run on the data set."
    caption = (
        "The truth: area under the ROC curve of every classifier on every data set, by cross-validation, averaged over many repetitions. All later tables ask how "
        "well a single experiment finds what this table shows. The area is the paper's: of the predicted classes, (1 + true positive rate - false positive "
        "rate) / 2, so that .5 is chance and 1 perfect; per fold, then averaged."
    )
    notes = [
        f"Stratified cross-validation (SCV), {count_range(counts)} experiments per cell; the best of a row is underlined. "
        f"The paper prints the scheme 5x2 only. {empty}"
    ]
    return Grid(caption, ["Data set", *learners], rows, notes)


def wilcoxon_grid(table, alpha=ALPHA):
    """Table IV as it is printed: R+/R-/p of the row's classifier against the column's, significant ones bold."""
    names = list(dict.fromkeys(table["row"]))
    rows = []
    for (configuration, scheme), block in _blocks(table, ["configuration", "scheme"]):
        rows.append([f"{configuration} configuration, {describe(scheme)}"])
        cells = {
            (row.row, row.column): Cell(
                f"{row.r_plus:g}/{row.r_minus:g}/{p_value(row.p_value, decimals_from=0.03, decimals=4)}",
                bold=bool(row.significant),
            )
            if row.n_datasets
            else Cell(EMPTY)
            for row in block.itertuples()
        }
        rows += [[a, *[cells.get((a, b), Cell("-")) for b in names]] for a in names]
    caption = (
        "Which classifiers truly differ: Wilcoxon's signed-ranks test over the data sets between all pairs, on the true areas. Each cell reads R+/R-/p: R+ is "
        "the sum of ranks of the data sets where the row's classifier wins, R- where the column's does, p the two-sided p-value."
    )
    methods = ", ".join(name for name in dict.fromkeys(table["method"]) if name)
    notes = [
        f"Bold: p at most {alpha:g}; only these pairs are used further. p: {methods}. The paper prints >0.2 where the table of its tool ends."
    ]
    fewest, most = int(table["n_datasets"].min()), int(table["n_datasets"].max())
    if fewest < most:
        notes.append(f"A pair rests on the data sets on which both have results: {fewest} to {most}. {EMPTY}: there is none.")
    return Grid(caption, ["", *names], rows, notes)


def agreement_grid(table, learners):
    """Table V as it is printed: a matrix of pairs, one block per configuration, scheme and partitioner."""
    rows = []
    for (configuration, scheme, partitioner), block in _blocks(table, ["configuration", "scheme", "partitioner"]):
        rows.append([f"{partitioner}, {configuration} configuration, {describe(scheme)}"])
        cells = {
            (row.row, row.column): Cell(
                f"{row.agreements:.0f}" + (f" ({row.opposite:.0f})" if row.opposite else "") if row.n_experiments else EMPTY
            )
            for row in block.itertuples()
        }
        rows += [[a, *[cells.get((a, b), Cell("-")) for b in learners]] for a in learners]
    n = ", ".join(str(value) for value in sorted(table["n_experiments"].unique()) if value)
    caption = (
        f"How often a single experiment finds the true difference between two classifiers: number of experiments (out of {n}) whose Wilcoxon test is at least as "
        "significant as that of the true areas, in the same direction. Partitioners that cut better folds should count more."
    )
    notes = [
        "A dash: the classifiers do not truly differ (p > .1), the pair is not used. In brackets, where there are any: experiments as significant in the "
        "wrong direction, which the paper does not tell apart and which are not counted here. The paper prints DOB-SCV with 5x2 only."
    ]
    if (table["n_experiments"] == 0).any():
        notes.append(f"{EMPTY}: the classifiers truly differ, but no experiment has results of both.")
    return Grid(caption, ["", *learners], rows, notes)


def accuracy_grid(table):
    """Table VI as it is printed: schemes by partitioners, the best of a row bold."""
    partitioners = list(dict.fromkeys(table["partitioner"]))
    rows = []
    for configuration, block in _blocks(table, ["configuration"]):
        pairs = block[block["scheme"] != AVERAGE].drop_duplicates("scheme")
        counts = ", ".join(f"{row.n_pairs:g} with {row.scheme}" for row in pairs.itertuples())
        rows.append([f"{configuration[0]} configuration; pairs that truly differ: {counts}"])
        for scheme, part in _blocks(block, ["scheme"]):
            part = part.set_index("partitioner")
            best = part["percent"].max()
            cells = []
            for name in partitioners:
                row = part.loc[name]
                text = f"{with_error(row['percent'], row['standard_error'], '.2f')} ({number(row['subset_error'], '.1f')})"
                if pd.isna(row["percent"]):
                    text = "no pair" if row["n_experiments"] and row["n_cells"] else EMPTY
                cells.append(Cell(text, bold=bool(row["percent"] == best)))
            rows.append([scheme[0], *cells])
    opposite = table["opposite_percent"].max()
    cells = table.loc[table["scheme"] != AVERAGE, "n_cells"]
    n = ", ".join(str(value) for value in sorted(table["n_experiments"].unique()) if value)
    caption = (
        "How far a single experiment of cross-validation can be trusted: per cent of experiments that find the true difference between two classifiers, averaged "
        "over the pairs that truly differ. After ± the standard error over experiments; in brackets the standard error over data sets, which is what another choice "
        "of data sets would change."
    )
    notes = [
        f"{n} experiments per cell. The best of a row is bold. The partitioners are compared on the same data sets, so their differences vary less over "
        "data sets than the numbers in brackets say; the page on the ablation gives the errors of the differences.",
        f"Experiments as significant in the wrong direction: at most {opposite:.2f} % of a cell; they do not count as agreements."
        if opposite == opposite
        else "No pair of classifiers truly differs in this run.",
    ]
    if cells.min() < cells.max():
        notes.append(
            f"Compared are the {cells.min()} to {cells.max()} pairs of data set and classifier that have results of all partitioners. {EMPTY}: no result."
        )
    return Grid(caption, ["CV scheme", *partitioners], rows, notes)


def repetitions_grid(table):
    """Accuracy against repetitions: partitioners by number of experiments."""
    counts = sorted(table["experiments"].unique())
    rows = []
    for (configuration, scheme), block in _blocks(table, ["configuration", "scheme"]):
        rows.append([f"{configuration} configuration, {describe(scheme)}"])
        nothing = "no pair" if block["percent"].isna().all() else EMPTY
        for name, part in _blocks(block, ["partitioner"]):
            part = part.set_index("experiments")
            rows.append([name[0], *[_percent_cell(part.loc[m], nothing) if m in part.index else Cell("") for m in counts]])
    caption = (
        "How many experiments it takes: per cent of agreements with the truth when the areas of m experiments are averaged before the test, and its standard "
        "error. With all experiments there is a single average and no error."
    )
    return Grid(caption, ["Partitioner", *[f"m = {m}" for m in counts]], rows)


def draw_accuracy(table):
    """Accuracy against the number of experiments averaged: one panel per scheme, a row per configuration, a line per partitioner.

    Parameters
    ----------
    table : pandas.DataFrame
        As `repetitions_table` makes it. Bands are one standard error either way.

    Returns
    -------
    figure : matplotlib.figure.Figure
    """
    configurations, schemes = list(dict.fromkeys(table["configuration"])), list(dict.fromkeys(table["scheme"]))
    names = list(dict.fromkeys(table["partitioner"]))
    figure, axes = plt.subplots(
        len(configurations),
        len(schemes),
        figsize=(3.0 * len(schemes) + 0.8, 2.5 * len(configurations) + 0.8),
        sharex=True,
        sharey=True,
        squeeze=False,
    )
    ticks = sorted(table["experiments"].unique())
    for i, configuration in enumerate(configurations):
        for j, scheme in enumerate(schemes):
            axis = axes[i, j]
            for index, name in enumerate(names):
                part = table[
                    (table["configuration"] == configuration) & (table["scheme"] == scheme) & (table["partitioner"] == name)
                ]
                look = style(index)
                axis.plot(part["experiments"], part["percent"], lw=1.3, ms=4, label=name, **look)
                low, high = part["percent"] - part["standard_error"], part["percent"] + part["standard_error"]
                axis.fill_between(part["experiments"], low, high, color=look["color"], alpha=0.15, lw=0)
            axis.set_xscale("log")
            axis.set_xticks(ticks, [str(m) for m in ticks])
            axis.minorticks_off()
            axis.set_ylim(0, 100)
            axis.set_title(f"{configuration}, {scheme}", fontsize=9)
    figure.supxlabel("experiments averaged", fontsize=9)
    figure.supylabel("agreement with the truth (%)", fontsize=9)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(names), handlelength=4)
    return figure


def describe(scheme):
    """A scheme in words: ``5x2 (5 folds, 2 iterations)``."""
    k, r = scheme.split("x")
    return f"{scheme} ({k} folds, {r} iteration{'s' if r != '1' else ''})"


def _blocks(table, keys):
    """Groups in the order of their first rows, with a tuple of keys each."""
    return table.groupby(keys, sort=False, dropna=False)


def _percent_cell(row, nothing):
    if pd.isna(row["standard_error"]):  # of all experiments there is one average
        return Cell(number(row["percent"], ".1f", empty=nothing))
    return Cell(with_error(row["percent"], row["standard_error"], ".1f", empty=nothing))


def _parameters(params):
    return ", ".join(f"{name} = {value}" for name, value in params.items()) or "none"


def _ordered(tests, conditional):
    """All pairs in both orders, sorted by row and column."""
    rows = []
    for i in range(len(tests.row)):
        first, second = int(tests.row[i]), int(tests.column[i])
        common = (tests.p_value[i], int(tests.n_datasets[i]), tests.method[i], conditional[i])
        rows.append((first, second, tests.r_plus[i], tests.r_minus[i], *common))
        rows.append((second, first, tests.r_minus[i], tests.r_plus[i], *common))
    return sorted(rows, key=lambda row: row[:2])
