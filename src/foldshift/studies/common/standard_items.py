"""Measures, tables and figures that several studies have, for authors of studies."""

from __future__ import annotations

import csv
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from foldshift.engine.layout.job_layout import every, of_own_experiments
from foldshift.engine.study.declare import Cost, Measure, OutputGroup, Table

if TYPE_CHECKING:
    from foldshift.engine.layout.job_layout import CutSpec, JobLayout
    from foldshift.engine.study.run import Run

# Seconds of one core.
PER_COVARIATE = 7.5e-9  # covariate shift, per sample, column and fold
PER_PAIR, PER_QUERY = 4e-10, 1e-5  # neighbours of the two-sample classifier: per pair, or sample, and column, once for a data set
PER_DRIFT = 2.3e-6  # shifted features, per sample and column, for a partitioner and k: hundreds of random cuts
DRIFT_ONCE = 1000  # samples that a column takes in addition, however small the data set
DRIFT_MB = 1.1e-3  # per sample


def has_print(run: Run, paper_name: Callable[[str], str] = str) -> bool:
    """Return True if a run has a data set of the paper; without one, there is nothing to compare with print.

    Parameters
    ----------
    run : foldshift.engine.study.run.Run
        The run; its study has ``printed/table1_datasets.csv`` with a column ``dataset``.
    paper_name : callable, default=str
        Gives one name to a data set of the run and the same data set in the printed table.

    Returns
    -------
    has : bool
    """
    with open(run.printed("table1_datasets"), encoding="utf-8", newline="") as file:
        printed = {paper_name(row["dataset"]) for row in csv.DictReader(file)}
    return any(paper_name(name) in printed for name in run.datasets)


def engine_layout(run: Run) -> JobLayout:
    """Return how the engine cuts a study into jobs; ValueError if the study does not declare ``cuts=True``."""
    if run.layout is None:
        raise ValueError(f"study {run.id}: the engine does not cut its data sets; declare cuts=True")
    return run.layout


DATASETS = OutputGroup(
    "datasets",
    function="foldshift.reporting.dataset_table.datasets_table",
    inputs=lambda run: {"descriptions": run.descriptions(), "origins": run.origins()},
    params=lambda run: {
        "entries": {
            name: {"n_rows": entry.n_rows, "n_features": entry.n_features, "own": entry.own}
            for name in run.datasets
            for entry in [run.catalogue[name]]
        }
    },
    local=True,
    message="data sets",
    items=(
        Table(
            "table1_datasets",
            show="foldshift.reporting.dataset_table.datasets_grid",
            title="Table 1: data sets",
            category="1 Data",
            caption="Data sets of the study after rows with missing values were dropped: what is predicted and the sizes of its "
            "classes, inputs (in all and by kind) and samples as found and as the catalogue expects them (the paper's Table 1, "
            "where they are the paper's), rows dropped, distinct target values, constant inputs, and the source of the file. "
            "Listed below are differences from what was expected and, for data of your own, what every column was read as, which "
            "were left out of the inputs and why, and which columns lacked values in the rows dropped. The CSV file says so of "
            "all data sets.",
        ),
    ),
)


def wanted_by_dataset(run: Run, chosen: Callable[[CutSpec], bool]) -> dict[str, Any]:
    """Arguments of `foldshift.studies.common.within_dataset.differences` on the scores of data sets.

    Parameters
    ----------
    run : foldshift.engine.study.run.Run
    chosen : callable
        As of `single_datasets`.

    Returns
    -------
    arguments : dict
        ``wanted``: how many files a data set has, and what is wanted of them; each different answer once. ``kinds``: the
        position of its answer there, by data set.
    """
    wanted: list[dict[str, Any]] = []
    kinds: dict[str, int] = {}
    positions: dict[str, int] = {}
    for name in run.datasets:
        one = {"files": len(run.scores(name, chosen)), "wanted": run.wanted_scores(name, chosen)}
        kinds[name] = positions.setdefault(repr(one), len(wanted))
        if kinds[name] == len(wanted):
            wanted.append(one)
    return {"wanted": wanted, "kinds": kinds}


def failures(category: str) -> OutputGroup:
    """Declare the table of failed fits of a study that the engine cuts.

    Parameters
    ----------
    category : str
        Part of the report, such as ``"9 Failures"``.

    Returns
    -------
    items : foldshift.engine.study.declare.OutputGroup
    """
    return OutputGroup(
        "failures",
        function="foldshift.reporting.failure_table.failures",
        inputs=lambda run: {"failures": run.per_dataset("failures", "json")},
        params=lambda run: {"results": run.config["results"]},
        local=True,
        message="what failed, and why",
        items=(
            Table(
                "failures",
                title="What failed, and why",
                category=category,
                caption="A fit is one training of one learner on all folds but one of a data set. A fit that raises an error, "
                "does not end in time or uses up the memory costs itself only: it is an empty row of the scores, never a zero, "
                "and tables of results say on how many data sets, repetitions or pairs they rest; results that cannot be "
                "compared without it are left out on both sides. Listed are the message, how many fits were lost and of how "
                "many, and the command that runs such a job again alone. The table says so where nothing failed.",
            ),
        ),
    )


def single_datasets(
    category: str, what: str, *, value: str, reference: str, chosen: Callable[[CutSpec], bool] = every, own_units: bool = False
) -> OutputGroup:
    """Declare the tables of differences within single data sets, between partitioners and between learners.

    Parameters
    ----------
    category : str
        Part of the report, such as ``"3 Error"``.
    what : str
        What the scores are, as captions call it.
    value : str
        Column of the scores.
    reference : str
        Partitioner that the others are compared with, and that cuts for the comparison of learners.
    chosen : callable, optional
        ``chosen(cell)``: whether a `foldshift.engine.layout.job_layout.CutSpec` is compared; all by default.
    own_units : bool, default=False
        Whether differences are also shown in units of the target, by its range in the descriptions of the prepared data sets.

    Returns
    -------
    items : foldshift.engine.study.declare.OutputGroup
    """
    return OutputGroup(
        "single_datasets",
        function="foldshift.studies.common.within_dataset.differences",
        inputs=lambda run: {
            "scores": [path for name in run.datasets for path in run.scores(name, chosen)],
            **({"descriptions": run.descriptions()} if own_units else {}),
        },
        params=lambda run: wanted_by_dataset(run, chosen) | {"value": value, "reference": reference},
        seconds=lambda run: 0.5 + 3e-6 * run.n_fits(),
        mb=4000,
        message="differences within data sets",
        items=(
            Table(
                "partitioners_by_dataset",
                show="foldshift.studies.common.within_dataset.partitioners_grid",
                title="Ways of cutting, on each data set by itself",
                category=category,
                caption=f"{what} under every way of cutting less that under {reference}, with the 95 % interval of the mean over "
                "partitions of these rows: partitions are independent given the rows, so that Welch's test of the two sets of "
                "them is right, and its p is corrected for all comparisons of the data set (Holm). Spread: standard deviation "
                "between partitions, and in brackets that of the reference; so much may a single cross-validation be off by "
                "its cut alone. Repetitions to settle: after so many the interval would leave out 0, if difference and spreads "
                "were exactly what they are here. The p of other samples asks whether other rows of the same kind would show "
                "the difference: Nadeau and Bengio's test, corrected for training parts that overlap; it is careful here, as "
                "both ways of cutting share the rows.",
            ),
            Table(
                "learners_by_dataset",
                show="foldshift.studies.common.within_dataset.learners_grid",
                title="Learners, on each data set by itself",
                category=category,
                caption=f"{what} of one learner less that of another on the same folds, cut by {reference}, with the 95 % "
                "interval and p of Nadeau and Bengio's test: training parts overlap, and repeating does not make partitions "
                "independent, so that a plain t test would find differences that are not there. Spread: standard deviation of "
                "the difference between partitions. Repetitions recommended: after so many the standard deviation that the "
                "choice of partitions leaves is at most a tenth of the one that repeating cannot remove; more of them make no "
                "better test.",
            ),
        ),
    )


def covariate_shift_cost(run: Run, cell: dict[str, str]) -> Cost:
    """Estimate the cost of `COVARIATE_SHIFT` on a data set: distances of the first runs, and random cuts for every feature."""
    (n_rows, n_columns), n_runs = run.shape(cell["dataset"]), run.settings["covariate_shift"]["n_runs"]
    cells = [one for one in engine_layout(run).cells(cell["dataset"]) if of_own_experiments(one)]
    n_folds = sum(min(one.n_seeds * one.iterations, n_runs) * one.k for one in cells)
    seconds = PER_COVARIATE * n_folds * n_rows * n_columns + min(PER_PAIR * n_rows, PER_QUERY) * n_rows * n_columns
    return Cost(seconds + PER_DRIFT * len(cells) * (n_rows + DRIFT_ONCE) * n_columns, DRIFT_MB * n_rows)


# For a study that the engine cuts, with the setting ``covariate_shift: {n_runs: ...}``: partitions measured, at most.
COVARIATE_SHIFT = Measure(
    "measure_covariate_shift",
    function="foldshift.studies.common.measure_covariate_shift.measure_covariate_shift",
    rows={"covariate_shift": "covariate_shift/{dataset}.parquet", "shifted_features": "shifted_features/{dataset}.parquet"},
    cells=lambda run: [{"dataset": name} for name in run.datasets],
    inputs=lambda run, cell: {
        "data": run.prepared(cell["dataset"], "none"),
        "folds": run.folds(cell["dataset"], of_own_experiments, run.settings["covariate_shift"]["n_runs"]),
    },
    params=lambda run, cell: {
        "wanted": run.wanted_folds(cell["dataset"], of_own_experiments, run.settings["covariate_shift"]["n_runs"]),
        "runs": dict.fromkeys(run.schemes, run.settings["covariate_shift"]["n_runs"]),
        "master_seed": run.master_seed,
    },
    cost=covariate_shift_cost,
    first_call="foldshift.studies.common.measure_covariate_shift.first_call",
    message="shift of the inputs between training and test parts, {dataset}",
)


def has_structure(run: Run) -> bool:
    """Return True if the source of a data set names columns of groups, time, place or subset."""
    return any(run.catalogue[name].structure for name in run.datasets)


def structured_cuts_cost(run: Run, cell: dict[str, str]) -> Cost:
    """Estimate the cost of `STRUCTURED_CUTS` on a data set: neighbours and distances of every run, cut at random and not."""
    (n_rows, n_columns), n_runs = run.shape(cell["dataset"]), run.settings["structured_cuts"]["n_runs"]
    n_cuts = 1 + len(run.catalogue[cell["dataset"]].structure) * 3
    per_run = min(PER_PAIR * n_rows, PER_QUERY) * n_rows * n_columns + 2 * PER_COVARIATE * max(run.schemes) * n_rows * n_columns
    return Cost(1 + n_cuts * len(run.schemes) * n_runs * (per_run + 0.01), DRIFT_MB * n_rows)


# For a study of data sets with the setting ``structured_cuts: {n_runs: ...}``: runs of a cut that is drawn at random.
STRUCTURED_CUTS = Measure(
    "measure_structured_cuts",
    function="foldshift.studies.common.measure_structured_cuts.measure_structured_cuts",
    rows={"structured_cuts": "structured_cuts/{dataset}.parquet"},
    cells=lambda run: [{"dataset": name} for name in run.datasets if run.catalogue[name].structure],
    inputs=lambda run, cell: {"data": run.prepared(cell["dataset"], "none")},
    params=lambda run, cell: {
        "n_folds": list(run.schemes),
        "n_runs": run.settings["structured_cuts"]["n_runs"],
        "master_seed": run.master_seed,
    },
    cost=structured_cuts_cost,
    first_call="foldshift.studies.common.measure_structured_cuts.first_call",
    message="shift of cuts by time, place, group and subset, {dataset}",
)


def structured_cuts(category: str) -> OutputGroup:
    """Declare the table of `STRUCTURED_CUTS`, for runs that have data sets with structure.

    Parameters
    ----------
    category : str
        Part of the report, such as ``"2 Target shift"``.

    Returns
    -------
    items : foldshift.engine.study.declare.OutputGroup
    """
    return OutputGroup(
        "structured_cuts",
        function="foldshift.studies.common.structured_cut_tables.tables",
        inputs=lambda run: {"rows": run.rows("structured_cuts")},
        local=True,
        message="cuts by time, place, group and subset",
        items=(
            Table(
                "structured_cuts",
                show="foldshift.studies.common.structured_cut_tables.structured_grid",
                title="Cuts by time, place, group and subset",
                category=category,
                when=has_structure,
                caption="Shift of target and inputs between training and test part when the cut heeds how rows belong together: "
                "forward in time, blocks of places, whole groups left out, trained on the same subset, on others, on all. "
                "Compare with the cut at random of the same data set, and with the number in brackets: the same rows, parted at "
                "random in the same sizes.",
            ),
        ),
    )
