"""Experiments until the estimate of a classifier is stable: Table VII, what it depends on, and curves.

Rows come from `measure_convergence`: one per data set, learner, partitioner, k, criterion, threshold, rule and order of the
experiments. The unit of all tables is a pair of data set and classifier: the mean over the orders of its experiments. A pair with
a failed fit has NaN, and is left out for all partitioners.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from foldshift.engine.storage.score_files import read_columns
from foldshift.inference.missing import mean_present
from foldshift.inference.repetitions.agreement import jackknife_error
from foldshift.inference.repetitions.convergence import CAP, CRITERIA, EXPECTED, PRIMARY, RULES, THRESHOLD
from foldshift.inference.repetitions.recall_convergence import RECALL, RECALL_CRITERIA
from foldshift.reporting.items import TableResult
from foldshift.reporting.number_formats import EMPTY, count_range, number, percent, with_error
from foldshift.reporting.table_grid import Grid, TableCell
from foldshift.studies.moreno_torres_2012.ablation.variants import KEEL, variant_id
from foldshift.studies.moreno_torres_2012.notation import NOT_SEEN, REFERENCE, in_print_order, scheme_name

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray, Floats, Inputs, IntArray

    Ids = dict[str, dict[str, str]]  # configuration to learner to id

KEYS = ["dataset", "learner", "partitioner", "k", "criterion", "threshold", "rule"]
ROWS = (*KEYS, "order", "experiments", "cut_off", "n_experiments")
CURVES = ("dataset", "learner", "partitioner", "k", "experiments", "correlation")
MOST_NINES = 12.0  # -log10(1 - correlation) at most: of a correlation of 1, or one that rounding makes 1
LEVEL = "level against print"
DISTANCE = "distance to print"
READINGS = {RECALL: "the paper's reading", PRIMARY: "the instances"}  # criteria of Table VII
ALL_CRITERIA = {**RECALL_CRITERIA, **CRITERIA}
# Table VII as printed: mean and standard deviation by scheme and partitioner.
PRINTED = {
    "2x5": {"DOB-SCV": (16.71, 12.01), "DB-SCV": (16.82, 11.67), "SCV": (18.39, 11.88), "MS-SCV": (31.42, 13.23)},
    "5x2": {"DOB-SCV": (33.46, 24.05), "DB-SCV": (34.86, 23.85), "SCV": (37.16, 24.41), "MS-SCV": (62.58, 26.17)},
    "10x1": {"DOB-SCV": (53.98, 32.08), "DB-SCV": (54.70, 32.17), "SCV": (59.73, 32.14), "MS-SCV": (85.77, 27.14)},
}
PRINTED_CAP = 100  # experiments that the paper made of every kind


def convergence(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Make Table VII, the table of what it depends on, and convergence against the number of experiments."""
    keys = settings["ids"], settings["iterations"], list(settings["partitioners"]), list(settings["datasets"])
    keel = {variant_id(name, "@{}-{}".format(*KEEL)): name for name in keys[2]}
    by_dataset, primary = [], []
    for path in inputs.rows:  # averaged over the orders data set by data set: all rows together take much memory
        rows = pd.DataFrame(read_columns(path, ROWS))
        rows = rows[rows["partitioner"].isin([*keys[2], *keel])]
        by_dataset.append(pair_means(rows))
        primary.append(primary_rows(rows[rows["partitioner"].isin(keys[2])]))
    every = pd.concat(by_dataset, ignore_index=True)
    pairs = every[every["partitioner"].isin(keys[2])]
    table = pd.concat([convergence_table(pairs, *keys, criterion) for criterion in READINGS], ignore_index=True)
    table = table.sort_values("configuration", key=lambda names: names.map(list(keys[0]).index), kind="stable", ignore_index=True)
    sensitivity = sensitivity_table(pairs, *keys)
    if as_many_with_keel(every, keel):
        renamed = every[every["partitioner"].isin(keel)]
        renamed = renamed.assign(partitioner=renamed["partitioner"].astype(str).map(keel))
        sensitivity = pd.concat([sensitivity, sensitivity_table(renamed, *keys, cut="KEEL's")], ignore_index=True)
    points = pd.concat([pd.DataFrame(read_columns(path, CURVES)) for path in inputs.curves], ignore_index=True)
    curves = convergence_curves(pd.concat(primary, ignore_index=True), points, *keys)
    return {
        "table7_convergence": TableResult(table, convergence_grid(table)),
        "convergence_sensitivity": TableResult(sensitivity, sensitivity_grid(sensitivity)),
        "convergence_curves": TableResult(curves, curves_grid(curves)),
    }


def as_many_with_keel(pairs: pd.DataFrame, keel: dict[str, str]) -> bool:
    """Return True if KEEL's cut has as many experiments as the study's own, in every scheme: fewer end too early to compare."""
    if list(keel) == list(keel.values()):
        return False
    counts = pairs.groupby(["k", "partitioner"], observed=True)["n_experiments"].max().unstack("k")
    return set(keel) <= set(counts.index) and bool((counts.loc[list(keel)] == counts.max()).all(axis=None))


def pair_means(rows: pd.DataFrame) -> pd.DataFrame:
    """Average over the orders of the experiments; ``variance`` is that of the mean."""
    groups = rows.groupby(KEYS, sort=False, observed=True)
    pairs = groups.agg(
        experiments=("experiments", "mean"),
        variance=("experiments", "var"),
        cut_off=("cut_off", "mean"),
        n_orders=("order", "size"),
        n_experiments=("n_experiments", "max"),
    )
    pairs["variance"] /= pairs["n_orders"]
    pairs = pairs.reset_index()
    expected = pairs["criterion"] == EXPECTED
    pairs.loc[expected, "experiments"] = pairs.loc[expected, "experiments"].clip(upper=CAP)
    return pairs


def convergence_table(
    pairs: pd.DataFrame,
    configurations: Ids,
    schemes: dict[int, int],
    partitioners: Sequence[str],
    datasets: Sequence[str],
    criterion: str = PRIMARY,
) -> pd.DataFrame:
    """Make Table VII: experiments until convergence, with threshold .9999 and the first step that reaches it.

    ``cut_off`` is the number of pairs that did not converge, mean over the orders. ``standard_error`` is over the orders, with
    the experiments fixed, and so too small where many orders end late; ``dataset_error`` is over data sets (jackknife).
    ``expected`` is what the agreement between single runs leads one to expect, at most 100; the criterion `RECALL` has none.
    ``fewest_seen`` is 1 where a partitioner is below all others by more than two errors over data sets.
    """
    out = []
    chosen = pairs[(pairs["threshold"] == THRESHOLD) & (pairs["rule"] == RULES[0])]
    for configuration, ids in configurations.items():
        values, expectations = (
            _arrays(chosen[chosen["criterion"] == one], list(ids.values()), schemes, partitioners, datasets)
            for one in (criterion, EXPECTED)
        )
        expected = _common(expectations["experiments"], 2) * (1.0 if criterion == PRIMARY else np.nan)
        values["experiments"] = _common(values["experiments"], 2)
        for s, (k, r) in enumerate(schemes.items()):
            for p, name in enumerate(partitioners):
                keys = {"configuration": configuration, "scheme": scheme_name(k, r), "partitioner": name, "criterion": criterion}
                cell = {column: array[:, :, p, s] for column, array in values.items()}
                seen = int(_fewest_seen(values["experiments"][:, :, :, s], p))
                out.append(keys | _convergence_row(cell, expected[:, :, p, s]) | {"fewest_seen": seen})
    return pd.DataFrame(out)


def _convergence_row(cell: dict[str, FloatArray], expected: FloatArray) -> dict[str, Any]:
    """Make a row of Table VII without its keys from arrays of shape (n_datasets, n_learners)."""
    present = ~np.isnan(cell["experiments"])
    n_pairs = int(present.sum())
    numbers = cell["experiments"][present]
    return {
        "mean": numbers.mean() if n_pairs else np.nan,
        "std": numbers.std(ddof=1) if n_pairs > 1 else np.nan,
        "cut_off": cell["cut_off"][present].sum() if n_pairs else np.nan,
        "standard_error": np.sqrt(cell["variance"][present].sum()) / n_pairs if n_pairs else np.nan,
        "dataset_error": float(_jackknife(cell["experiments"], _mean)),
        "expected": float(_mean(expected)),
        "expected_error": float(_jackknife(expected, _mean)),
        "n_pairs": n_pairs,
        "n_datasets": int(present.any(axis=1).sum()),
        **{column: int(cell[column][present].max()) if n_pairs else np.nan for column in ("n_orders", "n_experiments")},
    }


def _fewest_seen(experiments: FloatArray, place: int) -> bool:
    """Return True if a partitioner, the third axis, needs fewer experiments than each other by more than two errors."""
    gaps = experiments - experiments[:, :, [place]]
    others = [p for p in range(gaps.shape[2]) if p != place and not np.isnan(gaps[:, :, p]).all()]
    return bool(others) and all(_mean(gaps[:, :, p]) > 2 * _jackknife(gaps[:, :, p], _mean) for p in others)


def sensitivity_table(
    pairs: pd.DataFrame,
    configurations: Ids,
    schemes: dict[int, int],
    partitioners: Sequence[str],
    datasets: Sequence[str],
    *,
    cut: str = "the study's",
) -> pd.DataFrame:
    """Make the table of ratios by every criterion, threshold and rule, beside those of the printed Table VII.

    ``standard_error`` is over data sets (jackknife); see `_quantities` for the ratios.
    """
    names = [scheme_name(k, r) for k, r in schemes.items()]
    print_means = np.array([[PRINTED.get(scheme, {}).get(name, (np.nan,))[0] for scheme in names] for name in partitioners])
    printed = _quantities(print_means, print_means, partitioners, names)
    out = []
    variants = dict(iter(pairs.groupby(["criterion", "threshold", "rule"], sort=False, observed=True)))
    places = {name: i for i, name in enumerate([*ALL_CRITERIA, EXPECTED])}
    for configuration, ids in configurations.items():
        for criterion, threshold, rule in sorted(variants, key=lambda key: (places[key[0]], key[2], key[1])):
            values = _arrays(variants[criterion, threshold, rule], list(ids.values()), schemes, partitioners, datasets)
            experiments = _common(values["experiments"], (2, 3))
            present = ~np.isnan(experiments)
            if not present.any():
                continue

            def quantities(part: FloatArray) -> FloatArray:
                return np.array(list(_quantities(_mean(part), print_means, partitioners, names).values()))

            errors = _jackknife(experiments, quantities)
            cut_off = 100 * float(values["cut_off"][present].mean())
            keys = {"configuration": configuration, "cut": cut, "criterion": criterion, "threshold": threshold, "rule": rule}
            for quantity, value, error in zip(printed, quantities(experiments), errors):
                row = {"quantity": quantity, "value": value, "standard_error": error, "printed": printed[quantity]}
                out.append(keys | row | {"cut_off_percent": cut_off, "n_pairs": int(present.any(axis=(2, 3)).sum())})
    return pd.DataFrame(out)


def convergence_curves(
    rows: pd.DataFrame,
    curves: pd.DataFrame,
    configurations: Ids,
    schemes: dict[int, int],
    partitioners: Sequence[str],
    datasets: Sequence[str],
) -> pd.DataFrame:
    """Make the table of the share of converged pairs, and of quartiles of -log10(1 - correlation), by number of experiments."""
    rows = primary_rows(rows)
    rows = rows.assign(experiments=np.where(rows["cut_off"], np.inf, rows["experiments"]))
    converged = _by_cell(rows, "experiments")
    correlations = _by_cell(curves, ["experiments", "correlation"])
    out: list[dict[str, Any]] = []
    for configuration, ids in configurations.items():
        for k, r in schemes.items():
            known = {
                name: {(d, learner) for d in datasets for learner in ids.values() if _is_known(converged, (d, learner, name, k))}
                for name in partitioners
            }
            common = set.intersection(*[pairs for pairs in known.values() if pairs] or [set()])
            for name in partitioners:
                row = {"configuration": configuration, "scheme": scheme_name(k, r), "partitioner": name}
                keys = [(dataset, learner, name, k) for dataset in datasets for learner in ids.values()]
                keys = [key for key in keys if key[:2] in common and key[:2] in known[name]]
                if not keys:
                    points = sorted(set(curves.loc[curves["k"] == k, "experiments"]))
                    out += [row | {"experiments": n, "n_pairs": 0} for n in points]
                    continue
                ends = np.array([converged[key] for key in keys])  # pairs by orders
                places = np.array([datasets.index(key[0]) for key in keys])
                for n in correlations[keys[0]][:, 0]:
                    rho = np.array([correlations[key][correlations[key][:, 0] == n, 1][0] for key in keys])
                    out.append(row | {"experiments": int(n)} | _curve_point((ends <= n).mean(axis=1), ends.shape[1], places, rho))
    columns = ["configuration", "scheme", "partitioner", "experiments", "share", "standard_error", "dataset_error"]
    return pd.DataFrame(out, columns=[*columns, "nines_low", "nines_median", "nines_high", "n_pairs"])


def _curve_point(share: FloatArray, n_orders: int, places: IntArray, rho: FloatArray) -> dict[str, Any]:
    """Make the values of `convergence_curves` at one number of experiments.

    `share`, `places` and `rho` have shape (n_pairs,): share of the orders that have converged, position of the data set, and
    correlation.
    """
    spread = (share * (1 - share)).sum() / (n_orders - 1) if n_orders > 1 else np.nan
    left_out = [share[places != d].mean() for d in np.unique(places) if (places != d).any()]
    nines = -np.log10(np.maximum(1 - rho, 10.0**-MOST_NINES))
    low, median, high = np.quantile(nines, [0.25, 0.5, 0.75])
    return {
        "share": share.mean(),
        "standard_error": np.sqrt(spread) / len(share),
        "dataset_error": jackknife_error(np.array(left_out)),
        "nines_low": low,
        "nines_median": median,
        "nines_high": high,
        "n_pairs": len(share),
    }


def primary_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Select the rows of Table VII: primary criterion, threshold .9999, first crossing."""
    return rows[(rows["criterion"] == PRIMARY) & (rows["threshold"] == THRESHOLD) & (rows["rule"] == RULES[0])]


def convergence_grid(table: pd.DataFrame) -> Grid:
    """Print Table VII: schemes by partitioners, mean ± std, each reading beside print; the fewest bold where they are seen."""
    partitioners = in_print_order(dict.fromkeys(table["partitioner"]))
    table = table if "fewest_seen" in table else table.assign(fewest_seen=0)  # as in tables published before
    rows: list[list[TableCell | str]] = []
    for (configuration, criterion), block in table.groupby(["configuration", "criterion"], sort=False):
        rows.append([f"{configuration} configuration, {criterion} ({READINGS.get(criterion, 'by name')})"])
        for scheme, part in block.groupby("scheme", sort=False):
            part = part.set_index("partitioner").reindex(partitioners)
            cells = zip(part["mean"], part["std"], part["fewest_seen"])
            rows.append([scheme, *[TableCell(with_error(m, s, ".2f"), bold=bool(seen == 1)) for m, s, seen in cells]])
            if scheme in PRINTED:
                printed = [PRINTED[scheme].get(name, (np.nan, np.nan)) for name in partitioners]
                rows.append(["as printed", *[TableCell(with_error(m, s, ".2f", empty="")) for m, s in printed]])
            rows += _error_rows(part, criterion)
    cap = count_range(table["n_experiments"])
    notes = [
        f"{count_range(table['n_pairs'])} pairs of {count_range(table['n_datasets'])} data sets; every pair is the mean of "
        f"{count_range(table['n_orders'])} random orders of {cap} experiments. A pair that has not converged by then is given "
        f"{cap} and counted as cut off"
        + ("." if cap == str(PRINTED_CAP) else f": means with many of them are too small; the paper cuts off at {PRINTED_CAP}."),
        f"Bold: the fewest of a row, by more than two errors over data sets. Without bold, the fewest {NOT_SEEN}.",
        f"{RECALL}: {RECALL_CRITERIA[RECALL]}. {PRIMARY}: {CRITERIA[PRIMARY]}.",
        "Standard error: over the orders, the experiments being the same in all; over data sets by leaving one out. Expected: "
        "the number that the agreement between single runs leads one to expect, however few runs there are; in brackets the "
        "standard error over data sets.",
        "The paper names no vector. Table convergence_sensitivity has all that were tried.",
    ]
    return Grid(["CV scheme", *partitioners], rows, notes)


def _error_rows(part: pd.DataFrame, criterion: str) -> list[list[TableCell | str]]:
    """Make the rows of errors, of what was cut off and of what is expected, for one scheme and criterion."""
    there = part["n_pairs"] > 0
    errors = zip(part["standard_error"], part["dataset_error"], there)
    shares = part["cut_off"].to_numpy() / np.maximum(part["n_pairs"].to_numpy(), 1)
    rows: list[list[TableCell | str]] = [
        [
            "standard error: orders; data sets",
            *[TableCell(f"{number(o, '.2f')}; {number(d, '.1f')}" if n else EMPTY) for o, d, n in errors],
        ],
        ["cut off (% of pairs)", *[TableCell(percent(c)) for c in shares]],
    ]
    if criterion == PRIMARY:
        expected = zip(part["expected"], part["expected_error"], there)
        cells = [TableCell(f"{number(e, '.1f')} ({number(d, '.1f')})" if n else EMPTY) for e, d, n in expected]
        rows.append([f"expected, {CAP} at most", *cells])
    return rows


def sensitivity_grid(table: pd.DataFrame) -> Grid:
    """Print `sensitivity_table`: the means over the schemes, a row per criterion, threshold and rule, the paper's first."""
    if table.empty:
        return Grid(["Criterion"], [])
    shown = [name for name in dict.fromkeys(table["quantity"]) if ", " not in name]
    shown = sorted(shown, key=lambda name: name not in (DISTANCE, LEVEL))
    table = table if "cut" in table else table.assign(cut="the study's")  # as in tables published before
    printed = table.drop_duplicates("quantity").set_index("quantity")["printed"]
    # Schemes that the paper does not print have neither.
    empty = {name: "" if name in (LEVEL, DISTANCE) and np.isnan(printed[name]) else EMPTY for name in shown}
    rows: list[list[TableCell | str]] = []
    for (configuration, cut), block in table.groupby(["configuration", "cut"], sort=False):
        rows.append([f"{configuration} configuration, {cut} cut"])
        rows.append(
            [
                "print",
                TableCell(f"{THRESHOLD:g}"),
                TableCell(""),
                *[TableCell(number(printed[name], ".2f", empty="")) for name in shown],
                TableCell(""),
            ]
        )
        for (criterion, threshold, rule), part in block.groupby(["criterion", "threshold", "rule"], sort=False):
            part = part.set_index("quantity")
            primary = criterion in READINGS and (threshold, rule) == (THRESHOLD, RULES[0])
            cells = [
                TableCell(with_error(part["value"][name], part["standard_error"][name], ".2f", empty=empty[name]), bold=primary)
                for name in shown
            ]
            rows.append(
                [
                    criterion,
                    TableCell(f"{threshold:g}"),
                    TableCell(rule),
                    *cells,
                    TableCell(f"{part['cut_off_percent'].iloc[0]:.1f}"),
                ]
            )
    words = "; ".join(f"{name}: {text}" for name, text in ALL_CRITERIA.items())
    notes = [
        f"Vectors. {words}; {EXPECTED}: that of {PRIMARY}, as expected from the agreement between single runs. Bold: those of "
        "Table VII.",
        f"{DISTANCE.capitalize()}: root mean square of the logarithm of ours by print, over the means of Table VII; "
        f"{LEVEL}: mean of ours by print.",
        "Rule: the first step that reaches the threshold, or the first from which on the correlation never falls below it "
        "again. Cut off: per cent that did not converge and were given the number of experiments; with many, all ratios are "
        "drawn towards 1 and the row says little. The CSV file has the ratios scheme by scheme.",
    ]
    return Grid(["Vector", "Threshold", "Rule", *shown, "Cut off (%)"], rows, notes)


def curves_grid(table: pd.DataFrame) -> Grid:
    """Print the share of the pairs that have converged: partitioners by number of experiments."""
    counts = sorted(table["experiments"].unique())
    rows: list[list[TableCell | str]] = []
    for (configuration, scheme), block in table.groupby(["configuration", "scheme"], sort=False):
        rows.append([f"{configuration} configuration, {scheme}"])
        for name, part in block.groupby("partitioner", sort=False):
            part = part.set_index("experiments").reindex(counts)
            shares = zip(100 * part["share"], 100 * part["standard_error"], part["n_pairs"])
            rows.append(
                [name, *[TableCell(with_error(share, error, ".1f", empty="" if n else EMPTY)) for share, error, n in shares]]
            )
    notes = [
        "The CSV file also has the standard error over data sets and the quartiles of -log10(1 - correlation): 4 is a "
        "correlation of .9999."
    ]
    return Grid(["Partitioner", *[f"n = {n}" for n in counts]], rows, notes)


def _arrays(
    pairs: pd.DataFrame, learners: Sequence[str], schemes: dict[int, int], partitioners: Sequence[str], datasets: Sequence[str]
) -> dict[str, FloatArray]:
    """Arrange the columns of `pair_means`, shape (n_datasets, n_learners, n_partitioners, n_schemes); NaN where no row is."""
    names = ["dataset", "learner", "partitioner", "k"]
    index = pd.MultiIndex.from_product([datasets, learners, partitioners, list(schemes)], names=names)
    part = pairs.set_index(names).reindex(index)
    shape = (len(datasets), len(learners), len(partitioners), len(schemes))
    columns = ("experiments", "variance", "cut_off", "n_orders", "n_experiments")
    return {column: part[column].to_numpy(dtype=np.float64).reshape(shape) for column in columns}


def _common(values: FloatArray, axes: int | tuple[int, int]) -> FloatArray:
    """Put NaN along `axes` (partitioners, or these and schemes) where one that has values elsewhere lacks one."""
    present = ~np.isnan(values)
    found = present.any(axis=(0, 1), keepdims=True)
    return np.where((present | ~found).all(axis=axes, keepdims=True), values, np.nan)


def _is_known(ends: dict[tuple[str, str, str, int], FloatArray], key: tuple[str, str, str, int]) -> bool:
    """Return True if a pair has numbers of experiments; they are NaN if a fit failed."""
    return key in ends and not np.isnan(ends[key]).any()


def _mean(values: FloatArray) -> FloatArray:
    """Average over data sets and learners, the first two axes, without NaN."""
    return mean_present(values.reshape(-1, *values.shape[2:]), axis=0)


def _jackknife(values: FloatArray, statistic: Callable[..., Any]) -> Floats:
    """Compute the standard error of a statistic over data sets, the first axis, leaving out those without any value."""
    values = values[~np.isnan(values).all(axis=tuple(range(1, values.ndim)))]
    without = [statistic(np.delete(values, d, axis=0)) for d in range(len(values))] if len(values) > 1 else []
    if not without:
        return np.full(np.shape(statistic(values)), np.nan)[()]
    spread = np.array(without)
    return np.sqrt((len(spread) - 1) / len(spread) * ((spread - spread.mean(axis=0)) ** 2).sum(axis=0))


def _quantities(
    means: FloatArray, print_means: FloatArray, partitioners: Sequence[str], schemes: Sequence[str]
) -> dict[str, Floats]:
    """Compute ratios of mean experiments, arrays of shape (n_partitioners, n_schemes), by name.

    These are every scheme by the one before it, both cut by SCV; every partitioner by SCV, mean over the schemes and scheme by
    scheme; ours by print, mean over the printed cells; and the root mean square of the logarithm of ours by print.
    """
    found: dict[str, Floats] = {}
    if REFERENCE in partitioners:
        reference = means[partitioners.index(REFERENCE)]
        found |= {f"{b} / {a}": reference[i + 1] / reference[i] for i, (a, b) in enumerate(pairwise(schemes))}
        for p, name in enumerate(partitioners):
            if name != REFERENCE:
                ratios = means[p] / reference
                found[f"{name} / {REFERENCE}"] = ratios.mean()
                found |= {f"{name} / {REFERENCE}, {scheme}": ratio for scheme, ratio in zip(schemes, ratios)}
    ratios = (means / print_means).ravel()
    return found | {LEVEL: mean_present(ratios), DISTANCE: np.sqrt(mean_present(np.log(ratios) ** 2))}


def _by_cell(frame: pd.DataFrame, columns: str | list[str]) -> dict[tuple[str, str, str, int], FloatArray]:
    """Arrange values by (data set, learner, partitioner, k), in the order of the rows."""
    keys = ["dataset", "learner", "partitioner", "k"]
    return {key: part[columns].to_numpy() for key, part in frame.groupby(keys, sort=False, observed=True)}
