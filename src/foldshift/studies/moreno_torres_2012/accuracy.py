"""Accuracy of a single experiment, as Table VI and the ablation count it: results that can be compared, treatment of ties, rows.

Results are arrays of shape (n_learners, n_datasets, n_experiments), the AUC of an experiment, NaN where a classifier was not run
on a data set or a fit failed.
"""

import numpy as np

from foldshift.inference.agreement import draw_subsets, subset_error
from foldshift.inference.missing import common_results
from foldshift.reporting.numbers import EMPTY, count_range
from foldshift.seeding import generator
from foldshift.studies.moreno_torres_2012.shared import AVERAGE, scheme_name

FORMULAS = {"paper": "paper"}  # the paper's own way with ties belongs to its configuration; all others take the corrected one

N_SUBSETS = 200


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


def error_notes(table, zero="± 0.00"):
    """What is to be said of a Table VI with an error of 0, or without one over data sets.

    Parameters
    ----------
    table : pandas.DataFrame
        Rows of `accuracy_rows`.
    zero : str, default="± 0.00"
        How an error of 0 is printed.

    Returns
    -------
    notes : list of str
        Of n experiments that all find the same share of the pairs others may still differ: where more than
        ``1 - .05 ** (1 / n)`` of all experiments do, n alike have a probability below .05 (the rule of three, exactly).
    """
    notes = []
    found = table[table["percent"].notna()]
    alike_ones = found[(found["standard_error"] == 0) & (found["n_experiments"] > 0)]
    if len(alike_ones):
        n = alike_ones["n_experiments"]
        notes.append(
            f"{zero}: all {count_range(n)} experiments of such a cell found as many pairs. It is not that there is no error: "
            f"at .05, up to {100 * (1 - 0.05 ** (1 / n.min())):.0f} % of other experiments may find more or fewer."
        )
    if found["subset_error"].isna().any():
        notes.append(
            f"({EMPTY}): no error over data sets. It needs at least three of them, and two subsets (two thirds of them) on which "
            "a pair of classifiers truly differs."
        )
    return notes
