"""Accuracy of a single experiment, as Tables V and VI and the ablation count it.

Results are arrays as `experiments` reads them; `schemes` maps the number of folds k to the iterations of an experiment.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from foldshift.core.seeding import generator
from foldshift.inference.missing import common_results, mean_present
from foldshift.inference.repetitions.agreement import (
    ALPHA,
    accuracy,
    agreements,
    draw_experiments,
    draw_subsets,
    significant_pairs,
    subset_error,
    truth_errors,
)
from foldshift.reporting.number_formats import EMPTY, count_range
from foldshift.studies.moreno_torres_2012.notation import AVERAGE, scheme_name

if TYPE_CHECKING:
    from foldshift.core.types import BoolArray, Formula, IntArray, Rows
    from foldshift.inference.repetitions.agreement import Accuracy
    from foldshift.studies.moreno_torres_2012.experiments import Experiments, Truth, Values

N_SUBSETS = 200  # random ones of two thirds of the data sets
N_DRAWS = 200  # of the experiments of the truth
AGREEMENT_KEYS = ("configuration", "scheme", "partitioner", "row", "column")
COUNTED = ("agreements", "opposite", "n_experiments", "p_value", "truth_error")


def formula_of(configuration: str) -> Formula:
    """Return how Wilcoxon's test treats ties: the paper's way in its own configuration only."""
    return "paper" if configuration == "paper" else "corrected"


def comparable_results(
    values: Values, truth: Truth, schemes: dict[int, int], partitioners: Sequence[str]
) -> tuple[Values, Truth]:
    """Keep the results that all partitioners have, so that they can be compared; NaN in place of the others."""
    common_values: Values = {}
    common_truth: Truth = {}
    for k in schemes:
        common = common_results({name: values[k, name] for name in partitioners})
        common_values |= {(k, name): array for name, array in zip(partitioners, common.values())}
        if k in truth:
            usable = np.any([~np.isnan(array).all(axis=2) for array in common.values()], axis=0)
            common_truth[k] = np.where(usable if truth[k].ndim == 2 else usable[:, :, None], truth[k], np.nan)
    return common_values, common_truth


def common_subsets(n_datasets: int, n_subsets: int, master_seed: int) -> BoolArray:
    """Draw subsets of two thirds of the data sets: the same wherever the number of data sets is the same."""
    return draw_subsets(n_datasets, n_subsets, generator(master_seed, "subsets of data sets", n_datasets))


def truth_draws(n_truth: int, master_seed: int) -> IntArray:
    """Draw experiments of the truth with replacement: the same wherever a truth rests on as many."""
    return draw_experiments(n_truth, N_DRAWS, generator(master_seed, "experiments of the truth", n_truth))


def agreement_table(
    results: dict[str, Experiments],
    schemes: dict[int, int],
    partitioners: Sequence[str],
    learners: Sequence[str],
    alpha: float = ALPHA,
    *,
    master_seed: int,
) -> pd.DataFrame:
    """Make Table V: how many single experiments find the difference of a pair that the truth shows.

    Pairs that differ in truth at level `alpha` have a row in both orders. ``opposite`` counts experiments that are as significant
    in the wrong direction, which are not agreements; ``truth_error``, in per cent, comes from the truth's own experiments.
    """
    rows = []
    for configuration, (values, truth) in results.items():
        for k, r in schemes.items():
            means, formula = mean_present(truth[k]), formula_of(configuration)
            everywhere = significant_pairs(means, alpha, formula)
            drawn = truth_draws(truth[k].shape[2], master_seed)
            for name in partitioners:
                without: BoolArray = np.all(np.isnan(values[k, name]), axis=2)
                own = np.where(without, np.nan, means)
                found = agreements(own, values[k, name], alpha, formula)
                own_truth = np.where(without[:, :, None], np.nan, truth[k])
                errors = truth_errors(own_truth, values[k, name], drawn, alpha, formula).by_pair
                lost = np.isnan(own[everywhere.row] - own[everywhere.column]).all(axis=1)
                for i, j, p in zip(everywhere.row[lost], everywhere.column[lost], everywhere.p_value[lost]):
                    for first, second in ((i, j), (j, i)):
                        keys = (configuration, scheme_name(k, r), name, learners[first], learners[second])
                        rows.append((*keys, np.nan, np.nan, 0, p, np.nan))
                counts = dict(zip(zip(found.pairs.row.tolist(), found.pairs.column.tolist()), range(len(found.pairs.row))))
                counts |= {(j, i): position for (i, j), position in counts.items()}
                for (i, j), position in sorted(counts.items()):
                    n = int(found.judged[position].sum())
                    agree, opposite = int(found.agree[position].sum()), int(found.opposite[position].sum())
                    keys = (configuration, scheme_name(k, r), name, learners[i], learners[j])
                    counted = (agree, opposite) if n else (np.nan, np.nan)
                    rows.append((*keys, *counted, n, found.pairs.p_value[position], errors[i, j]))
    return pd.DataFrame(rows, columns=[*AGREEMENT_KEYS, *COUNTED])


def accuracy_table(
    results: dict[str, Experiments],
    schemes: dict[int, int],
    partitioners: Sequence[str],
    alpha: float = ALPHA,
    n_subsets: int = N_SUBSETS,
    *,
    master_seed: int,
) -> pd.DataFrame:
    """Make Table VI: per cent of single experiments that find the true result, averaged over the pairs.

    ``standard_error`` is over experiments; ``truth_error`` moves all partitioners together. ``subset_low`` to ``subset_high``
    are the middle 90 % over random subsets of two thirds of the data sets; ``subset_error`` and ``jackknife_error`` estimate the
    error over data sets, from the subsets and by leaving one out. All partitioners of a scheme rest on the same ``n_cells`` pairs
    of data set and classifier.
    """
    rows = []
    for configuration, (values, truth) in results.items():
        values, truth = comparable_results(values, truth, schemes, partitioners)
        means = {k: mean_present(truth[k]) for k in schemes}
        present = np.any([~np.isnan(array).all(axis=0) for array in means.values()], axis=0)
        subsets = common_subsets(int(present.sum()), n_subsets, master_seed)
        found = {
            (k, name): accuracy([(means[k][:, present], values[k, name][:, present])], subsets, alpha, formula_of(configuration))
            for k in schemes
            for name in partitioners
        }
        n_cells = {k: int((~np.isnan(array)).sum()) for k, array in means.items()}
        errors = {
            (k, name): truth_errors(
                truth[k], values[k, name], truth_draws(truth[k].shape[2], master_seed), alpha, formula_of(configuration)
            ).percent
            for k, name in found
        }
        rows += [
            {"configuration": configuration} | row | {"truth_error": _mean_error(errors, row, schemes)}
            for row in accuracy_rows(found, schemes, partitioners, int(present.sum()), n_cells)
        ]
    return pd.DataFrame(rows)


def accuracy_rows(
    found: dict[tuple[int, str], Accuracy],
    schemes: dict[int, int],
    partitioners: Sequence[str],
    n_datasets: int,
    n_cells: dict[int, int],
) -> Rows:
    """Make the rows of Table VI for one configuration: every scheme, then their average.

    ``best_seen`` is 1 where a partitioner is above all others by more than two errors, over experiments and data sets together.
    """
    blocks = [(scheme_name(k, r), [k], n_cells[k]) for k, r in schemes.items()]
    rows = []
    for scheme, ks, cells in (*blocks, (AVERAGE, list(schemes), min(n_cells.values()))):
        parts = {name: [found[k, name] for k in ks] for name in partitioners}
        for name in partitioners:
            row = _accuracy_row(scheme, name, parts[name], n_datasets, cells)
            others = [one for other, one in parts.items() if other != name]
            rows.append(row | {"best_seen": int(bool(others) and all(is_ahead(parts[name], one, n_datasets) for one in others))})
    return rows


def is_ahead(first: Sequence[Accuracy], second: Sequence[Accuracy], n_datasets: int) -> bool:
    """Return True if the mean of the first accuracies is above that of the second by more than two errors."""
    gap = np.mean([a.percent - b.percent for a, b in zip(first, second)])
    over_experiments = np.sqrt(np.sum([a.standard_error**2 + b.standard_error**2 for a, b in zip(first, second)])) / len(first)
    by_subset = np.mean([a.by_subset - b.by_subset for a, b in zip(first, second)], axis=0)
    return bool(gap > 2 * np.hypot(over_experiments, subset_error(by_subset, n_datasets)))


def _mean_error(errors: dict[tuple[int, str], float], row: dict[str, Any], schemes: dict[int, int]) -> float:
    """Combine the errors of the schemes of a row of Table VI; their truths share no experiment."""
    of_row = [errors[k, row["partitioner"]] for k, r in schemes.items() if row["scheme"] in (AVERAGE, scheme_name(k, r))]
    return float(np.sqrt(np.sum(np.square(of_row)))) / len(of_row)


def _accuracy_row(scheme: str, partitioner: str, parts: list[Accuracy], n_datasets: int, n_cells: int) -> dict[str, Any]:
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


def error_notes(table: pd.DataFrame, zero: str = "± 0.00") -> list[str]:
    """Write the notes below a Table VI that has an error of 0, or none over data sets."""
    notes = []
    found = table[table["percent"].notna()]
    without_spread = found[(found["standard_error"] == 0) & (found["n_experiments"] > 0)]
    if len(without_spread):
        n = without_spread["n_experiments"]
        notes.append(
            f"{zero}: all {count_range(n)} experiments of such a cell found as many pairs. It is not that there is no error: "
            f"at .05, up to {100 * (1 - 0.05 ** (1 / n.min())):.0f} % of other experiments may find more or fewer."
        )
    if found["subset_error"].isna().any():
        notes.append(
            f"({EMPTY}): no error over data sets. It needs at least three of them, and two subsets (two thirds of them) on which "
            "a pair of classifiers truly differs."
        )
    truth_error = found.get("truth_error", pd.Series(dtype=float)).max()
    if truth_error == truth_error:
        notes.append(
            "The experiments that make the truth are some of many, too: others would move the cells of a scheme, all together, "
            f"by up to {truth_error:.1f} points (standard error)."
        )
    return notes
