"""Declaration of the study on which cuts are honest and which intervals hold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from foldshift.engine.layout.seed_blocks import block_range
from foldshift.engine.study.declare import Cost, Figure, Measure, OutputGroup, Study, Table
from foldshift.studies.foldshift_2026.cuts_and_methods import RERANDOMISED, TIMES_A_SAMPLE, n_fits

if TYPE_CHECKING:
    from foldshift.core.types import Rows
    from foldshift.engine.study.run import Run

RANDOM = ("CV", "SCV")  # references, of which re-randomisation draws
FEWEST = 5  # samples of a population and size
BLOCKS = (8, 32)  # samples of one job, least and most
LARGE_BLOCKS = (8, 100)  # the same of the intervals, whose samples take half a second
BLOCK_ROWS = 16_000  # rows of its samples, between these bounds: jobs take about as long for large samples as for small ones
COLUMNS = 10  # of a generated population, about
PER_FIT = 5.5e-4  # seconds: predictions of the rows held out, and what a fit costs beside itself
PER_QUICK_FIT = 2.5e-4  # the same of a fit that predicts rows of its sample alone
PER_CUT = 2.5e-3  # seconds of one core: cutting a sample once, mean over the cuts
PER_TABLE_ROW = 1.3e-5  # seconds: what a row of the measures takes in all tables together
PER_VALUE = 4e-8  # seconds: drawing and scaling a number of a population
PER_PREDICTION = 5.5e-7  # seconds: predicting a held-out row, mean over the learners
PER_CONTROL = 9e-4  # seconds: two intervals of the control, of 100,000 rows
CONTROL_BLOCK = 1000  # samples of the control in one job


def cells(run: Run) -> Rows:
    """List populations by sizes and blocks of samples; a data set that is too small for a size is left out."""
    return _cells(run, "estimates", run.settings, BLOCK_ROWS)


def interval_cells(run: Run) -> Rows:
    """List the same for the intervals of one cross-validation."""
    return _cells(run, "intervals", run.settings["intervals"], 4 * BLOCK_ROWS, LARGE_BLOCKS)


def method_cells(run: Run) -> Rows:
    """List the same for the intervals that need fits of their own."""
    return _cells(run, "methods", run.settings["methods"], BLOCK_ROWS, LARGE_BLOCKS)


def control_cells(run: Run) -> Rows:
    """List the same for the control: all populations and sizes of the intervals, in blocks of many samples."""
    settings = run.settings["intervals"] | {"n_replicates": run.settings["n_controls"], "sampled_rows": math.inf}
    return _cells(run, "control", settings, 0, (CONTROL_BLOCK, CONTROL_BLOCK))


def _cells(run: Run, kind: str, settings: dict[str, Any], block_rows: int, bounds: tuple[int, int] = BLOCKS) -> Rows:
    """List the jobs of one measure, with blocks of samples of some `block_rows` rows."""
    found = []
    for name in settings.get("populations", run.settings["populations"]):
        rows = run.catalogue[name].n_rows if name in run.catalogue else None
        for n in settings["sample_sizes"]:
            if rows is None or rows >= TIMES_A_SAMPLE * n:
                size = min(max(block_rows // n, bounds[0]), bounds[1])
                most = settings.get("sampled_rows", math.inf) / n
                n_replicates = int(min(settings["n_replicates"], max(most, FEWEST)))
                blocks = run.blocks(f"{kind}/{name}-{n}", n_replicates, size)
                found += [{"population": name, "n_sample": n, "block": block} for block in blocks]
    return found


def partitioners(cuts: list[str]) -> list[str]:
    """Select the partitioners of the library among some cuts; re-randomisation draws from the references."""
    return [cut for cut in dict.fromkeys([*cuts, *(RANDOM if RERANDOMISED in cuts else ())]) if cut != RERANDOMISED]


def learners_of(run: Run, cell: dict[str, Any]) -> list[str]:
    """Select the learners that are fast enough for samples of this size."""
    return [one for one in run.settings["fitted"] if int(cell["n_sample"]) <= run.settings["max_sample"].get(one, math.inf)]


def _seconds_of_fits(run: Run, cell: dict[str, Any], learners: list[str], n_fits: float, beside: float = PER_FIT) -> float:
    """Cost of the fits of one sample, of its truths, and of drawing it; about half of the learners fit the task."""
    name, n_sample = cell["population"], int(cell["n_sample"])
    is_drawn = name not in run.catalogue
    n_columns = COLUMNS if is_drawn else run.shape(name)[1]
    n_rows = run.settings["truth_rows"] if is_drawn else run.catalogue[name].n_rows or 0
    per_fit = sum(run.fit_cost(one, n_sample, n_columns).seconds_per_fit + beside for one in learners) / 2
    return n_fits * per_fit + n_rows * (PER_VALUE * n_columns + PER_PREDICTION * len(learners) / 2)


def cost(run: Run, cell: dict[str, Any]) -> Cost:
    """Cost of every cut, k and repetition of every sample; about half of the cuts fit the task of a population."""
    settings = run.settings
    n_cuts = len(settings["cuts"]) * settings["n_repetitions"] / 2
    seconds = _seconds_of_fits(run, cell, learners_of(run, cell), n_cuts * sum(settings["folds"]))
    return _cost(cell, seconds + n_cuts * len(settings["folds"]) * PER_CUT, 0.2)


def interval_cost(run: Run, cell: dict[str, Any]) -> Cost:
    """Cost of every cut and k of every sample."""
    settings = run.settings["intervals"]
    n_cuts = len(settings["cuts"]) / 2
    seconds = _seconds_of_fits(run, cell, settings["fitted"], n_cuts * sum(settings["folds"]))
    return _cost(cell, seconds + n_cuts * len(settings["folds"]) * PER_CUT, 0.1)


def method_cost(run: Run, cell: dict[str, Any]) -> Cost:
    """Cost of every method of every sample; about half of the cuts fit the task of a population."""
    settings = run.settings["methods"]
    of_a_cut = sum(n_fits(*(settings[key] for key in ("n_partitions", "n_holdouts", "n_halves"))).values())
    fits = max(len(settings["cuts"]) / 2, 1) * of_a_cut
    return _cost(cell, _seconds_of_fits(run, cell, settings["fitted"], fits, PER_QUICK_FIT), 0.1)


def control_cost(run: Run, cell: dict[str, Any]) -> Cost:
    """Cost of the control, which trains nothing."""
    seconds = PER_CONTROL * run.settings["truth_rows"] / 100_000 + 1e-4
    return _cost(cell, seconds, 0.0)


def _cost(cell: dict[str, Any], seconds: float, writes_mb: float) -> Cost:
    """Cost of a job, from the seconds of one sample."""
    return Cost(block_range(cell["block"])[1] * seconds, 600, writes_mb)


def tables_seconds(run: Run) -> float:
    """Seconds of all tables, by the numbers of rows that the measures write."""
    settings = run.settings
    of_estimates = math.prod(len(settings[key]) for key in ("cuts", "folds", "fitted")) * settings["n_repetitions"]
    of_intervals = math.prod(len(settings["intervals"][key]) for key in ("cuts", "folds", "fitted"))
    n_rows = 0.0
    for listed, of_sample in ((cells(run), of_estimates), (interval_cells(run), of_intervals), (control_cells(run), 8)):
        n_rows += sum(block_range(cell["block"])[1] for cell in listed) * of_sample / 4  # half of the cuts and learners fit
    return 5 + PER_TABLE_ROW * n_rows


STUDY = Study(
    derive=lambda run: {"level_percent": f"{100 * run.settings['level']:g}"},
    measures=(
        Measure(
            "cross_validate",
            function="measure.cross_validate",
            rows={"estimates": "estimates/{population}-{n_sample}/{block}.parquet"},
            cells=cells,
            inputs=lambda run, cell: {"data": run.population(cell["population"])},
            params=lambda run, cell: {
                **run.pick("folds", "n_repetitions", "cuts", "truth_rows", "part_rows"),
                "learners": run.entries(learners_of(run, cell)),
                "master_seed": run.master_seed,
            },
            cost=cost,
            learners=lambda run: run.settings["fitted"],
            partitioners=lambda run: partitioners(run.settings["cuts"]),
            limited=True,
            message="samples {block} of {n_sample} rows of {population}, cross-validated with every cut",
        ),
        Measure(
            "measure_intervals",
            function="measure.measure_intervals",
            rows={"intervals": "intervals/{population}-{n_sample}/{block}.parquet"},
            cells=interval_cells,
            inputs=lambda run, cell: {"data": run.population(cell["population"])},
            params=lambda run, cell: {
                **{key: run.settings["intervals"][key] for key in ("cuts", "folds")},
                **run.pick("truth_rows", "part_rows"),
                "learners": run.entries(run.settings["intervals"]["fitted"]),
                "master_seed": run.master_seed,
            },
            cost=interval_cost,
            learners=lambda run: run.settings["intervals"]["fitted"],
            partitioners=lambda run: partitioners(run.settings["intervals"]["cuts"]),
            limited=True,
            message="intervals of samples {block} of {n_sample} rows of {population}",
        ),
        Measure(
            "measure_control",
            function="measure_control.measure_control",
            rows={"control": "control/{population}-{n_sample}/{block}.parquet"},
            cells=control_cells,
            inputs=lambda run, cell: {"data": run.population(cell["population"])},
            params=lambda run, cell: {**run.pick("truth_rows", "level"), "master_seed": run.master_seed},
            cost=control_cost,
            message="control of independent losses {block}, {n_sample} rows of {population}",
        ),
        Measure(
            "measure_methods",
            function="measure_methods.measure_methods",
            rows={"methods": "methods/{population}-{n_sample}/{block}.parquet"},
            cells=method_cells,
            inputs=lambda run, cell: {"data": run.population(cell["population"])},
            params=lambda run, cell: {
                **{key: run.settings["methods"][key] for key in ("cuts", "n_partitions", "n_holdouts", "n_halves")},
                **run.pick("level", "truth_rows"),
                "learners": run.entries(run.settings["methods"]["fitted"]),
                "master_seed": run.master_seed,
            },
            cost=method_cost,
            learners=lambda run: run.settings["methods"]["fitted"],
            partitioners=lambda run: partitioners(run.settings["methods"]["cuts"]),
            limited=True,
            message="nested cross-validation, hold-outs and halves of samples {block} of {n_sample} rows of {population}",
        ),
    ),
    items=(
        OutputGroup(
            "honesty",
            function="tables.honesty",
            inputs=lambda run: {
                "rows": run.rows("estimates"),
                **{kind: run.rows(kind) for kind in ("intervals", "control", "methods")},
            },
            seconds=tables_seconds,
            mb=3000,
            message="honesty of cuts, coverage, control, ledgers, answer",
            items=(
                Table(
                    "answer",
                    show="tables.answer_grid",
                    title="What to do",
                    category="1 Answer",
                    caption="Which cut, how many folds and repetitions, which interval, by task, by the rules of the protocol "
                    "from "
                    "the verdicts of the two ledgers and from nothing else. Which interval: the narrowest from one "
                    "cross-validation "
                    "that was shown to hold.",
                ),
                Table(
                    "ledger",
                    show="tables.ledger_grid",
                    title="Claims of the field, tested",
                    category="2 Ledger",
                    caption="What papers, folklore and this project say of cuts, each as one comparison at one size and "
                    "number of "
                    "folds, which the protocol fixed before the samples were drawn. Populations and learners are random "
                    "effects. A "
                    "lower estimate is no merit: estimates are held against the error on rows outside the sample.",
                ),
                Table(
                    "interval_ledger",
                    show="tables.intervals_grid",
                    title="Does an interval hold what it promises?",
                    category="2 Ledger",
                    caption="Intervals with random cuts, held against the error of the model trained on the whole sample, the "
                    "noise of "
                    "that error taken out. One verdict each, by the rules of the protocol.",
                ),
                Table(
                    "by_folds",
                    show="tables.folds_grid",
                    title="Does it depend on the number of folds?",
                    category="2 Ledger",
                    caption="Every cut against the random one with as many folds: how much nearer to the error of the model "
                    "trained on the whole sample its estimate is, how much less it varies between partitions, and how much lower "
                    "it is; below 0: nearer, varies less, lower. It describes; the ledger decides. Models of two folds are "
                    "trained on "
                    "half of the rows: a cut that makes the estimate lower may be nearer by that alone. Cuts that make one "
                    "partition "
                    "of a sample (ABA, SPXY, BDSCV) vary by no more than the learners' own chance.",
                ),
                Table(
                    "honesty",
                    show="tables.honesty_grid",
                    shown_with={"lost": 0},
                    title="Is the estimate honest?",
                    category="3 Honesty",
                    caption="Samples of populations are cross-validated with every cut. Bias: mean of estimate less truth, for "
                    "three truths that differ: the mean error of models trained on a random part of the sample as large as the "
                    "training parts (part), that of these very models, and the error of the model trained on the whole sample, "
                    "which is what a user gets. Positive: the estimate is too pessimistic. Spread: standard deviation between "
                    "partitions of the same sample. Error: root mean square distance from the error of the model trained on the "
                    "whole sample, of one repetition, and of the mean of ten, in which the variance between partitions counts a "
                    "tenth. Choice: share of the pairs of learners whose better one is found. Columns ending in _vs: the same "
                    "less that of the random cut, population by population; typical and times: the geometric mean of the error "
                    "of one repetition over learners and populations, and the mean logarithm of its ratio to that of the random "
                    "cut.",
                ),
                Table(
                    "coverage",
                    show="tables.coverage_grid",
                    title="Which interval holds, by cut?",
                    category="4 Coverage",
                    caption="Intervals from one cross-validation, held against the error of the model trained on the whole "
                    "sample (the CSV file has one more target). An honest {level_percent} % interval holds it in "
                    "{level_percent} of 100 samples. Cuts that make folds alike can shrink intervals that rest on the spread "
                    "between folds (S2/K: mean of the folds and their spread; Nadeau-Bengio: with a correction for training "
                    "parts that overlap). theta_A takes the variance within the folds, theta_B twice that.",
                ),
                Table(
                    "methods",
                    show="tables.methods_grid",
                    shown_with={"n_failed": 0},
                    title="Nested, corrected t, conservative Z: what more fits buy",
                    category="4 Coverage",
                    when=lambda run: bool(method_cells(run)),
                    caption="Intervals that take more fits than one cross-validation, held against the error of the model "
                    "trained on the whole sample: nested cross-validation (Bates et al. 2024), the corrected t test's interval "
                    "on hold-outs of a tenth, and conservative Z, whose variance is measured on halves of the sample (both "
                    "Nadeau and Bengio 2003). The cut makes the folds, the hold-outs and the halves.",
                ),
                Table(
                    "control",
                    show="tables.control_grid",
                    title="Control: are coverages measured rightly?",
                    category="4 Coverage",
                    caption="Intervals of the mean loss of a constant model on independent rows, where nothing is trained: "
                    "with the "
                    "known spread of the losses, and plain, with that of the sample. With known spread {level_percent} of 100 "
                    "must hold "
                    "the truth; what they lack would be the fault of the measurement.",
                ),
                Table(
                    "by_population",
                    title="Every population",
                    category="5 Populations",
                    caption="What the tables are means of: each measure for every population, size, number of folds and cut, "
                    "mean over its learners; per cent of the true error, right choices as a share.",
                ),
                Table(
                    "by_learner",
                    title="Every population and learner",
                    category="5 Populations",
                    caption="What the ledger is made from: each measure for every population, learner, size, number of folds "
                    "and cut, in "
                    "per cent of the true error.",
                ),
                Table(
                    "coverage_by_learner",
                    title="Coverage for every population and learner",
                    category="5 Populations",
                    caption="What the coverages are means of: each interval for every population, learner, size, number of "
                    "folds and "
                    "cut; as found, and with the noise of the truth taken out.",
                ),
                Figure(
                    "optimism",
                    title="Bias and error by size of the sample",
                    category="3 Honesty",
                    caption="The number of folds at which claims are decided. Above: mean of estimate less the error of the "
                    "model trained on the whole sample, per cent of that error; below zero the estimate promises too much. "
                    "Below: by how much further one estimate lies from that error (root mean square) than with the random cut, "
                    "geometric mean; below zero it is nearer; cuts that the ledger shows to be nearer are named. Thick and "
                    "black: the random cut that all are compared with. Bars: "
                    "one standard error over populations. Training on less than the whole sample tends to make an estimate "
                    "pessimistic; where spreading near twins over the folds brings a line nearer to 0, two errors cancel, which "
                    "is no virtue that can be relied on.",
                ),
            ),
        ),
    ),
)
