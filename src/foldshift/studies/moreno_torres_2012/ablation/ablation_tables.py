"""Tables of the ablation: accuracy, convergence and verdicts on the paper's conclusions under every change; bias."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from foldshift.inference.missing import mean_present
from foldshift.inference.repetitions.agreement import subset_error
from foldshift.reporting.min_datasets import one_line, sentence
from foldshift.reporting.number_formats import EMPTY, number, with_error
from foldshift.reporting.table_grid import Grid, TableCell
from foldshift.studies.moreno_torres_2012.experiment_accuracy import accuracy_rows, comparable_results, error_notes
from foldshift.studies.moreno_torres_2012.notation import AVERAGE, NO_PAIR, in_print_order, scheme_name

if TYPE_CHECKING:
    from foldshift.core.types import BoolArray, FloatArray
    from foldshift.studies.moreno_torres_2012.ablation.experiments_judged import Change, Judged
    from foldshift.studies.moreno_torres_2012.experiments import Experiments

KEYS = ("configuration", "metric", "rule", "truth", "classifiers")
N_ERRORS = 2  # a difference below this many standard errors is within error


class Conclusion(NamedTuple):
    """A conclusion of the paper: in a table, one partitioner or scheme has lower numbers than another one."""

    name: str
    table: Literal["table6", "table7"]
    partitioners: tuple[str, str | None] = ("", None)  # the lower and the higher; None: the next one above
    folds: tuple[int, int] | None = None  # k of the lower and the higher scheme, over all partitioners
    at_least: bool = False  # equality supports it as well


CONCLUSIONS = (
    Conclusion("SCV below DOB-SCV", "table6", ("SCV", "DOB-SCV")),
    Conclusion("SCV below DB-SCV", "table6", ("SCV", "DB-SCV")),
    Conclusion("MS-SCV last", "table6", ("MS-SCV", None)),
    Conclusion("DOB-SCV at least DB-SCV", "table6", ("DB-SCV", "DOB-SCV"), at_least=True),
    Conclusion("SCV slower than DOB-SCV", "table7", ("DOB-SCV", "SCV")),
    Conclusion("SCV slower than DB-SCV", "table7", ("DB-SCV", "SCV")),
    Conclusion("SCV faster than MS-SCV", "table7", ("SCV", "MS-SCV")),
    Conclusion("2x5 before 5x2", "table7", folds=(2, 5)),
    Conclusion("5x2 before 10x1", "table7", folds=(5, 10)),
)


class _Difference(NamedTuple):
    """A difference that a conclusion is about, positive where the paper is right."""

    scheme: str
    value: float  # points of per cent (Table VI) or experiments (Table VII)
    experiments_error: float  # partitioners count as independent; 0 for convergence, whose noise is part of the other error
    datasets_error: float


def ablation_table(judged: Sequence[Judged]) -> pd.DataFrame:
    """Make the table of accuracy and of mean experiments to convergence under every change, as in Tables VI and VII."""
    rows = []
    for one in judged:
        keys = {"change": one.change.name} | {key: getattr(one.change, key) for key in KEYS}
        for row in accuracy_rows(one.accuracies, one.schemes, one.partitioners, one.subsets.shape[1], one.n_cells):
            ks = [k for k, r in one.schemes.items() if row["scheme"] in (AVERAGE, scheme_name(k, r))]
            speeds = [_speed(one.change, k, row["partitioner"]) for k in ks]
            rows.append(keys | row | {"mean_experiments": float(np.mean([_mean(speed) for speed in speeds]))})
    return pd.DataFrame(rows)


def conclusions_table(judged: Sequence[Judged]) -> pd.DataFrame:
    """Make the table of the verdicts on the conclusions of the paper under every change.

    ``standard_error`` combines both errors; those over data sets come from the same subsets for both sides of a difference.
    """
    rows = []
    for one in judged:
        keys = {"change": one.change.name} | {key: getattr(one.change, key) for key in KEYS}
        for conclusion in CONCLUSIONS:
            for scheme, difference, over_experiments, over_datasets in _differences(one, conclusion):
                both = float(np.hypot(over_experiments, over_datasets))
                row: dict[str, Any] = {"conclusion": conclusion.name, "table": conclusion.table, "scheme": scheme}
                row |= {"verdict": verdict(difference, both, conclusion.at_least), "difference": difference}
                row |= {"standard_error": both, "experiments_error": over_experiments, "datasets_error": over_datasets}
                rows.append(keys | row)
    return pd.DataFrame(rows)


def verdict(difference: float, standard_error: float, at_least: bool = False) -> str:
    """Judge a difference that is positive where a conclusion is right; with `at_least` the conclusion holds from zero on.

    The verdict is ``holds``, ``within error``, ``reversed`` or ``not tested``.
    """
    if np.isnan(difference) or np.isnan(standard_error):
        return "not tested"
    if difference > N_ERRORS * standard_error or (at_least and difference >= 0):
        return "holds"
    return "reversed" if difference < -N_ERRORS * standard_error else "within error"


def bias_table(
    results: dict[str, Experiments], schemes: dict[int, int], partitioners: Sequence[str], learners: Sequence[str]
) -> pd.DataFrame:
    """Make the table of the bias of every partitioner's estimate against the truth.

    ``standard_error`` is over the experiments of both, ``datasets_error`` over data sets. Classifier ``all`` is the mean over the
    classifiers that have any results of all partitioners, on the data sets and experiments that all of these have.
    """
    rows = []
    for configuration, (values, truth) in results.items():
        for k, r in schemes.items():
            reference = np.asarray(truth[k], dtype=np.float64)
            reference = reference[:, :, None] if reference.ndim == 2 else reference
            common, _ = comparable_results(values, {}, {k: r}, partitioners)
            whole = ~np.all([np.isnan(common[k, name]).all(axis=(1, 2)) for name in partitioners], axis=0)
            for name in partitioners:
                cells = {learner: (values[k, name][i], reference[i]) for i, learner in enumerate(learners)}
                # Classifiers share folds: their mean is taken within an experiment, before the spread over experiments.
                cells["all"] = _mean_of(common[k, name], whole), _mean_of(reference, whole)
                for learner, (ours, true) in cells.items():
                    rows.append((configuration, scheme_name(k, r), name, learner, *_bias(ours, true)))
    columns = ["configuration", "scheme", "partitioner", "classifier", "bias", "standard_error", "datasets_error", "n_datasets"]
    return pd.DataFrame(rows, columns=columns)


def conclusions_grid(table: pd.DataFrame) -> Grid:
    """Print changes by conclusions, with verdict and difference of each; those without any verdict are named below."""
    tested = table[table["verdict"] != "not tested"]
    left_out = [
        f"Left out, as this run has no verdict on them: the {what} {', '.join(names)}. There is none without a pair of "
        "classifiers that truly differs, or with too few data sets to tell the error over data sets."
        for what, names in (
            (what, [name for name in dict.fromkeys(table[column]) if name not in set(tested[column])])
            for what, column in (("conclusions", "conclusion"), ("changes", "change"))
        )
        if names
    ]
    if tested.empty:
        return one_line(
            "this run has no verdict on any conclusion: no pair of classifiers truly differs, or it has too few data sets"
        )
    conclusions = list(dict.fromkeys(tested["conclusion"]))
    schemes = [AVERAGE, *[name for name in dict.fromkeys(tested["scheme"]) if name != AVERAGE]]
    rows: list[list[TableCell | str]] = []
    for scheme in schemes:
        part = table[(table["scheme"] == scheme) & table["change"].isin(set(tested["change"][tested["scheme"] == scheme]))]
        rows.append(["Mean over the schemes" if scheme == AVERAGE else f"Scheme {scheme}"])
        for change, block in part.groupby("change", sort=False):
            cells = {row.conclusion: _verdict_cell(row) for row in block.itertuples()}
            rows.append([change, *[cells.get(name, TableCell("")) for name in conclusions]])
    notes = [
        "holds: right by more than two standard errors (at least: not wrong); within error: less than that either way; reversed "
        "(bold, darkest): wrong by more than two standard errors; not tested: the run cannot tell. The standard error combines "
        "that over experiments with that over data sets; both sides of a difference are judged on the same subsets of data sets.",
        "Truth SCV: further experiments of SCV itself, as in the paper. own: each partitioner by its own mean; all: by the mean "
        "of all partitioners (both judge one half of the experiments by the other); held-out: by the area on samples that took "
        "no part.",
    ]
    return Grid(["Change", *conclusions], rows, [*left_out, *notes])


def ablation_grid(table: pd.DataFrame, nothing: str = NO_PAIR) -> Grid:
    """Print the per cent of agreements under every change, schemes as blocks; without any, the note `nothing` says why."""
    none = table["percent"].isna().all() and table["n_cells"].any()
    partitioners = in_print_order(dict.fromkeys(table["partitioner"]))
    rows: list[list[TableCell | str]] = []
    for scheme in [AVERAGE, *[name for name in dict.fromkeys(table["scheme"]) if name != AVERAGE]]:
        rows.append(["Mean over the schemes" if scheme == AVERAGE else f"Scheme {scheme}"])
        for change, block in table[table["scheme"] == scheme].groupby("change", sort=False):
            block = block.set_index("partitioner")
            cells = []
            for name in partitioners:
                row = block.loc[name]
                text = f"{with_error(row['percent'], row['standard_error'], '.1f')} ({number(row['subset_error'], '.1f')})"
                if pd.isna(row["percent"]):
                    text = "no pair" if row["n_experiments"] and row["n_cells"] else EMPTY
                cells.append(TableCell(text, bold=bool(row.get("best_seen", 0))))
            speeds = [block.loc[name, "mean_experiments"] for name in partitioners]
            if none and np.isnan(speeds).all():
                continue
            unknown = "" if np.isnan(speeds).all() else EMPTY
            rows.append(
                [
                    change,
                    *([] if none else [TableCell(f"{block['n_pairs'].mean():.3g}"), *cells]),
                    *[TableCell(number(v, ".1f", empty=unknown)) for v in speeds],
                ]
            )
    shares = [] if none else ["Pairs", *[f"{name} (%)" for name in partitioners]]
    header = ["Change", *shares, *[f"{name}, experiments" for name in partitioners]]
    return Grid(header, rows, [sentence(nothing)] if none else error_notes(table, "± 0.0"))


def bias_grid(table: pd.DataFrame) -> Grid:
    """Print the bias by classifier in thousandths of AUC, in blocks of configuration and scheme."""
    learners = list(dict.fromkeys(table["classifier"]))
    rows: list[list[TableCell | str]] = []
    for (configuration, scheme), block in table.groupby(["configuration", "scheme"], sort=False):
        rows.append([f"{configuration}, {scheme}"])
        for name, part in block.groupby("partitioner", sort=False):
            part = part.set_index("classifier")
            rows.append([name, *[_bias_cell(part.loc[learner]) for learner in learners]])
    return Grid(["Partitioner", *learners], rows, ["Bold: more than three standard errors from zero."])


def _differences(one: Judged, conclusion: Conclusion) -> list[_Difference]:
    """Compute the differences that a conclusion is about: of every scheme and of their average."""
    n_datasets, ks = one.subsets.shape[1], list(one.schemes)
    if conclusion.folds:
        # Both schemes of the conclusion, averaged over the partitioners.
        fewer, more = conclusion.folds
        speeds = one.change.convergence
        present = [name for name in one.partitioners if all((k, name) in speeds for k in (fewer, more))]
        present = [name for name in present if all(not np.isnan(speeds[k, name]).all() for k in (fewer, more))]
        if not {fewer, more} <= set(ks) or not present:
            return [_Difference(AVERAGE, np.nan, np.nan, np.nan)]
        gaps = [_speed(one.change, more, name) - _speed(one.change, fewer, name) for name in present]
        return [_speed_difference(AVERAGE, np.mean(gaps, axis=0), one.subsets)]
    low, high = conclusion.partitioners
    if conclusion.table == "table7":
        gaps = [_speed(one.change, k, high or "") - _speed(one.change, k, low) for k in ks]
        rows = [_speed_difference(scheme_name(k, one.schemes[k]), gap, one.subsets) for k, gap in zip(ks, gaps)]
        return [*rows, _speed_difference(AVERAGE, np.mean(gaps, axis=0), one.subsets)]
    rows, by_subset = [], []
    for k in ks:
        whole, error, on_subsets = _accuracy_difference(one, k, low, high)
        rows.append(_Difference(scheme_name(k, one.schemes[k]), whole, error, subset_error(on_subsets, n_datasets)))
        by_subset.append(on_subsets)
    error = float(np.sqrt(np.sum(np.square([row.experiments_error for row in rows])))) / len(ks)
    mean = float(np.mean([row.value for row in rows]))
    return [*rows, _Difference(AVERAGE, mean, error, subset_error(np.mean(by_subset, axis=0), n_datasets))]


def _accuracy_difference(one: Judged, k: int, low: str, high: str | None) -> tuple[float, float, FloatArray]:
    """Compute the difference of two partitioners in Table VI, its error over experiments, and the difference on every subset.

    Without a second partitioner it is the next one above the first: the lowest of the others.
    """
    nothing = (np.nan, np.nan, np.full(len(one.subsets), np.nan))
    others = [high] if high else [name for name in one.partitioners if name != low]
    if not {low, *others} <= set(one.partitioners):
        return nothing
    others = [name for name in others if not np.isnan(one.accuracies[k, name].percent)]
    if not others:
        return nothing
    nearest = min(others, key=lambda name: one.accuracies[k, name].percent)
    below, above = one.accuracies[k, low], one.accuracies[k, nearest]
    error = float(np.hypot(below.standard_error, above.standard_error))
    return above.percent - below.percent, error, above.by_subset - below.by_subset


def _speed(change: Change, k: int, partitioner: str) -> FloatArray:
    """Average the experiments to convergence over the orders: shape (n_learners, n_datasets); a single NaN if there are none."""
    if (k, partitioner) not in change.convergence:
        return np.full((1, 1), np.nan)
    speed = change.chosen(np.asarray(change.convergence[k, partitioner], dtype=np.float64))
    return mean_present(speed) if speed.ndim == 3 else speed


def _speed_difference(scheme: str, difference: FloatArray, subsets: BoolArray) -> _Difference:
    """Average a difference of shape (n_learners, n_datasets); its only error is that over data sets."""
    if np.isnan(difference).all():
        return _Difference(scheme, np.nan, np.nan, np.nan)
    by_dataset = mean_present(difference, axis=0)
    by_subset = np.array([_mean(by_dataset[chosen]) for chosen in subsets])
    return _Difference(scheme, _mean(difference), 0.0, subset_error(by_subset, subsets.shape[1]))


def _mean(values: FloatArray) -> float:
    return float(mean_present(np.ravel(values)))


def _bias(ours: FloatArray, true: FloatArray) -> tuple[float, float, float, int]:
    """Average the difference over data sets, with both errors and their number; arrays: (n_datasets, n_experiments)."""
    difference = mean_present(ours) - mean_present(true)
    usable = ~np.isnan(difference)
    n = int(usable.sum())
    if n == 0:
        return np.nan, np.nan, np.nan, 0
    variance = _variance_of_mean(ours[usable])
    if true.shape[1] > 1:
        variance = variance + _variance_of_mean(true[usable])
    over_datasets = difference[usable].std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
    return float(difference[usable].mean()), float(np.sqrt(variance.sum()) / n), float(over_datasets), n


def _mean_of(values: FloatArray, learners: BoolArray) -> FloatArray:
    """Average over some learners, NaN where one of them has no result: shape (n_datasets, n_experiments)."""
    return values[learners].mean(axis=0) if learners.any() else np.full(values.shape[1:], np.nan)


def _variance_of_mean(values: FloatArray) -> FloatArray:
    """Compute the squared standard error of the mean of every row; NaN below two values."""
    n = (~np.isnan(values)).sum(axis=1)
    squares = np.nansum((values - mean_present(values)[:, None]) ** 2, axis=1)
    return np.where(n > 1, squares / np.maximum(n - 1, 1) / np.maximum(n, 1), np.nan)


def _verdict_cell(row: Any) -> TableCell:
    if row.verdict == "not tested":
        return TableCell("not tested")
    text = f"{row.verdict}: {with_error(row.difference, row.standard_error, '+.1f')}"
    return TableCell(
        text, shade={"holds": 0.0, "within error": 0.35, "reversed": 1.0}[row.verdict], bold=row.verdict == "reversed"
    )


def _bias_cell(row: pd.Series) -> TableCell:
    text = with_error(1000 * row["bias"], 1000 * row["standard_error"], "+.1f")
    return TableCell(text, bold=bool(abs(row["bias"]) > 3 * row["standard_error"]))
