"""Tables of the held-out truth: bias of estimates against what classifiers reach on new data, and agreement with it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from foldshift.engine.storage.score_files import read_columns
from foldshift.inference.missing import common_results, mean_present
from foldshift.inference.repetitions.agreement import ALPHA, agreements, jackknife_error
from foldshift.reporting.items import TableResult
from foldshift.reporting.min_datasets import one_line, too_few
from foldshift.reporting.number_formats import count_range, number, with_error
from foldshift.reporting.table_grid import Grid, TableCell, shades
from foldshift.studies.moreno_torres_2012.notation import ALL, AVERAGE, REFERENCE, scheme_name

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray, Formula, Inputs, IntArray

ROWS = ("population", "replicate", "learner", "partitioner", "k", "estimate", "truth_part", "truth_whole")
TRUTHS = {
    "part": "trained on a random stratified part of the sample, as large as a training part of the scheme",
    "whole": "trained on the whole sample",
}
TRUTHS_OF = {"population": "mean over all samples", "sample": "of the same sample"}


def heldout(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Make the tables of bias against held-out rows, and of agreement of single experiments with the held-out truth."""
    rows = pd.concat([pd.DataFrame(read_columns(path, ROWS)) for path in inputs.rows], ignore_index=True)
    learners = list(next(iter(settings["ids"].values())).values())  # of the first configuration
    keys = settings["iterations"], list(settings["partitioners"]), learners
    bias, agreement = bias_table(rows, *keys), agreement_table(rows, *keys)
    few = too_few(rows["population"].nunique(), ALPHA, "population")
    return {
        "heldout_bias": TableResult(bias, bias_grid(bias)),
        "heldout_agreement": TableResult(agreement, one_line(few) if few else agreement_grid(agreement)),
    }


def bias_table(rows: pd.DataFrame, schemes: dict[int, int], partitioners: Sequence[str], learners: Sequence[str]) -> pd.DataFrame:
    """Make the table of bias, error and spread of single experiments against both truths.

    ``standard_error`` is over populations, ``replicate_error`` over samples of the same populations. ``vs_scv`` is the bias less
    that of SCV on the same samples; ``rmse`` and ``std`` are about a single experiment. What one partitioner lacks is left out
    for all; ``n_failed`` counts the numbers that failed fits cost.
    """
    out = []
    for truth in TRUTHS:
        for k, n_runs in schemes.items():
            estimate = _cube(rows, "estimate", k, partitioners, learners)
            held_out = _cube(rows, f"truth_{truth}", k, partitioners, learners)
            failed = np.isnan(estimate - held_out)
            found = ~failed.all(axis=(1, 2, 3))  # a partitioner without any result is not waited for
            missing = failed[found].any(axis=0)
            estimate[:, missing], held_out[:, missing] = np.nan, np.nan
            gap = estimate - held_out
            for index, learner in [(slice(None), ALL), *((slice(i, i + 1), name) for i, name in enumerate(learners))]:
                means = mean_present(gap[:, index], axis=1)  # (partitioner, population, replicate)
                keys = {"truth": truth, "scheme": scheme_name(k, n_runs), "learner": learner}
                for p, name in enumerate(partitioners):
                    row = keys | {
                        "partitioner": name,
                        "estimate": _over_populations(mean_present(estimate[p, index], axis=0))[0],
                        "held_out": _over_populations(mean_present(held_out[p, index], axis=0))[0],
                    }
                    row["bias"], row["standard_error"] = _over_populations(means[p])
                    row["replicate_error"] = _replicate_error(means[p])
                    row["vs_scv"], row["vs_scv_error"] = np.nan, np.nan
                    if REFERENCE in partitioners and name != REFERENCE:
                        row["vs_scv"], row["vs_scv_error"] = _over_populations(means[p] - means[partitioners.index(REFERENCE)])
                    row["rmse"], row["std"] = _rmse_and_std(gap[p, index])
                    row["n_populations"] = int((~np.isnan(means[p])).any(axis=1).sum())
                    row["n_replicates"] = means.shape[2]
                    out.append(row | {"n_failed": int(failed[p, index].sum())})
    return pd.DataFrame(out)


class _Agreement(NamedTuple):
    """Agreement with a truth under one scheme, in per cent."""

    agree: FloatArray  # (n_partitioners, n_replicates)
    opposite: FloatArray  # as significant in the wrong direction, the same shape
    without_one: FloatArray  # agreement without each of the populations, (n_partitioners, n_populations)
    n_pairs: FloatArray  # that differ in truth, (n_partitioners, n_replicates)


def agreement_table(
    rows: pd.DataFrame,
    schemes: dict[int, int],
    partitioners: Sequence[str],
    learners: Sequence[str],
    alpha: float = ALPHA,
    formula: Formula = "corrected",
) -> pd.DataFrame:
    """Make the table of single experiments that agree with the held-out truth about pairs of classifiers, as in Table VI.

    By ``truth_of``, all replicates are judged by the mean true AUC (``population``), or each by that after training on its own
    sample (``sample``). ``population_error`` is a jackknife over populations, with the choice of pairs.
    """
    cubes = {}
    for k in schemes:
        common = common_results(dict(enumerate(_cube(rows, "estimate", k, partitioners, learners))))
        cubes[k] = np.array(list(common.values()))
    n_populations = min(int((~np.isnan(estimate)).any(axis=(0, 1, 3)).sum()) for estimate in cubes.values())
    scv = partitioners.index(REFERENCE) if REFERENCE in partitioners else None
    out = []
    for truth, truth_of in itertools.product(TRUTHS, TRUTHS_OF):
        found: dict[str, _Agreement] = {}
        for k, estimate in cubes.items():
            true = _cube(rows, f"truth_{truth}", k, partitioners, learners)[0]
            missing = np.isnan(estimate).all(axis=0)
            if truth_of == "population":
                true, missing = mean_present(true), missing.all(axis=-1)
            true = np.where(missing, np.nan, true)
            percents = [_percents(true, one, alpha, formula) for one in estimate]
            others = ~np.eye(true.shape[1], dtype=bool) if true.shape[1] > 1 else ()
            reduced = [
                [mean_present(_percents(true[:, kept], one[:, kept], alpha, formula)[0]) for kept in others] for one in estimate
            ]
            agreeing, opposite, n_pairs = (np.array(values) for values in zip(*percents))
            found[scheme_name(k, schemes[k])] = _Agreement(agreeing, opposite, np.array(reduced), n_pairs)
        found[AVERAGE] = _Agreement(*(mean_present(np.array(values), axis=0) for values in zip(*found.values())))
        for scheme, agreement in found.items():
            agree, without_one = agreement.agree, agreement.without_one
            for p, name in enumerate(partitioners):
                row: dict[str, Any] = {"truth": truth, "truth_of": truth_of, "scheme": scheme, "partitioner": name}
                row |= {"percent": float(mean_present(agree[p])), "standard_error": _mean_error(agree[p])}
                row |= {"population_error": jackknife_error(without_one[p])}
                row |= {"vs_scv": np.nan, "vs_scv_error": np.nan, "vs_scv_population_error": np.nan}
                if scv is not None and p != scv:
                    difference = agree[p] - agree[scv]
                    row |= {"vs_scv": float(mean_present(difference)), "vs_scv_error": _mean_error(difference)}
                    row["vs_scv_population_error"] = jackknife_error(without_one[p] - without_one[scv])
                row |= {"opposite_percent": float(mean_present(agreement.opposite[p]))}
                row |= {"n_pairs": float(agreement.n_pairs[p].mean()), "n_populations": n_populations}
                out.append(row | {"n_replicates": agree.shape[1]})
    return pd.DataFrame(out)


def bias_grid(table: pd.DataFrame) -> Grid:
    """Print `bias_table`: bias and error by learner, the error of a single experiment below."""
    partitioners, schemes, learners = (list(dict.fromkeys(table[column])) for column in ("partitioner", "scheme", "learner"))
    cells = table.set_index(["truth", "learner", "scheme", "partitioner"]).sort_index()
    rows: list[list[TableCell | str]] = []
    for truth, words in TRUTHS.items():
        rows.append([f"Estimate minus AUC on new data, {words}"])
        for learner in learners:
            part = cells.loc[truth, learner]
            rows.append([learner, *[_bias_cell(part.loc[scheme, name]) for scheme in schemes for name in partitioners]])
        rows.append([f"Root mean squared difference of a single experiment, {words}"])
        for learner in learners:
            part = cells.loc[truth, learner]["rmse"]
            row = [learner]
            for scheme in schemes:
                numbers = [part[scheme, name] for name in partitioners]
                least = np.min([value for value in numbers if value == value], initial=np.inf)
                row += [
                    TableCell(number(value), shade, underline=bool(value == least))
                    for value, shade in zip(numbers, shades(numbers))
                ]
            rows.append(row)
    header = ["Classifier", *[f"{scheme} {name}" for scheme in schemes for name in partitioners]]
    return Grid(header, rows, [_bias_note(table)])


def agreement_grid(table: pd.DataFrame) -> Grid:
    """Print `agreement_table`: one row per truth and scheme, the best partitioner underlined."""
    partitioners = list(dict.fromkeys(table["partitioner"]))
    cells = table.set_index(["truth", "truth_of", "scheme", "partitioner"]).sort_index()
    rows: list[list[TableCell | str]] = []
    for truth, truth_of in itertools.product(TRUTHS, TRUTHS_OF):
        rows.append([f"Truth: {TRUTHS[truth]}; {TRUTHS_OF[truth_of]}"])
        for scheme in dict.fromkeys(table["scheme"]):
            part = cells.loc[truth, truth_of, scheme]
            best = part["percent"].max()
            row = [scheme]
            for name in partitioners:
                text = with_error(part["percent"][name], part["standard_error"][name], ".1f")
                text = text if part["n_pairs"][name] else ""  # where no pair differs in truth there is nothing to find
                row.append(TableCell(text, underline=bool(part["percent"][name] == best)))
            rows.append(
                [
                    *row,
                    *[
                        TableCell(number(part[column].max(), form, empty=""))
                        for column, form in (("n_pairs", ".3g"), ("opposite_percent", ".1f"))
                    ],
                ]
            )
    note = (
        f"{int(table['n_populations'].max())} populations, {int(table['n_replicates'].max())} replicates. Against the mean over "
        "all samples, the luck of the sample counts as well as that of the cut; against the truth of the same sample, its luck "
        "as training data does not. Opposite: largest per cent of experiments that are as significant in the wrong direction. "
        "The CSV file has the errors over populations and the differences from SCV."
    )
    return Grid(["Scheme", *partitioners, "Pairs", "Opposite"], rows, [note])


def _cube(rows: pd.DataFrame, column: str, k: int, partitioners: Sequence[str], learners: Sequence[str]) -> FloatArray:
    """Arrange a column, shape (n_partitioners, n_learners, n_populations, n_replicates); NaN where there is no row."""
    keys = ["partitioner", "learner", "population", "replicate"]
    populations, replicates = list(dict.fromkeys(rows["population"])), sorted(set(rows["replicate"]))
    index = pd.MultiIndex.from_product([partitioners, learners, populations, replicates], names=keys)
    part = rows[rows["k"] == k].set_index(keys)[column]
    return part.reindex(index).to_numpy(dtype=np.float64, copy=True).reshape([len(level) for level in index.levels])


def _over_populations(values: FloatArray) -> tuple[float, float]:
    """Average over replicates, then populations, with the error over populations; `values`: (n_populations, n_replicates)."""
    means = mean_present(values)
    return float(mean_present(means)), _mean_error(means)


def _mean_error(values: FloatArray) -> float:
    values = values[~np.isnan(values)]
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan


def _variances(values: FloatArray) -> tuple[FloatArray, IntArray]:
    """Compute the variance over the last axis without NaN, and count the values; NaN below two."""
    counts = (~np.isnan(values)).sum(axis=-1)
    squares = np.nansum((values - mean_present(values)[..., None]) ** 2, axis=-1)
    return np.where(counts > 1, squares / np.maximum(counts - 1, 1), np.nan), counts


def _replicate_error(values: FloatArray) -> float:
    variance, counts = _variances(values)
    there = counts > 0
    return float(np.sqrt((variance[there] / counts[there]).sum()) / there.sum()) if there.any() else np.nan


def _rmse_and_std(gap: FloatArray) -> tuple[float, float]:
    """Compute both for a single experiment; `gap`: (n_learners, n_populations, n_replicates), averaged from last to first."""
    variance, _ = _variances(gap)
    rmse, std = (float(np.sqrt(mean_present(mean_present(values)))) for values in (mean_present(gap**2), variance))
    return rmse, std


def _percents(
    truth: FloatArray, experiments: FloatArray, alpha: float, formula: Formula
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Compute per cent of agreements and opposite results, and number of pairs, by experiment; `truth`: one for all, or each."""
    n_experiments = experiments.shape[2]
    if truth.ndim == 3:
        each = [_percents(truth[:, :, e], experiments[:, :, e : e + 1], alpha, formula) for e in range(n_experiments)]
        agreeing, opposing, n_pairs = (np.concatenate(values) for values in zip(*each))
        return agreeing, opposing, n_pairs
    found = agreements(truth, experiments, alpha, formula)
    counts = np.full(n_experiments, len(found.pairs.row))
    if not len(found.pairs.row):
        nothing = np.full(n_experiments, np.nan)
        return nothing, nothing, counts
    agree, opposite = (np.where(found.judged, which, np.nan) for which in (found.agree, found.opposite))
    return 100 * mean_present(agree, axis=0), 100 * mean_present(opposite, axis=0), counts


def _bias_cell(row: pd.Series) -> TableCell:
    text = with_error(row["bias"], row["standard_error"], "+.4f")
    return TableCell(text, bold=bool(abs(row["bias"]) > 2 * row["standard_error"]))


def _bias_note(table: pd.DataFrame) -> str:
    failed = int(table[table["learner"] != ALL]["n_failed"].sum())
    text = (
        f"{count_range(table['n_populations'])} populations, {int(table['n_replicates'].max())} samples of each. Bold: further "
        "from 0 than two standard errors. In the lower blocks darker is better and the smallest error of a scheme is "
        "underlined."
    )
    return text + (f" {failed} values were lost to failed fits and left out." if failed else "")
