"""Declaration of the study on which cuts are honest and which intervals hold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from foldshift.engine.layout.seed_blocks import block_range
from foldshift.engine.study.declare import Cost, Figure, Measure, OutputGroup, Study, Table
from foldshift.studies.foldshift_2026.cuts_and_methods import RERANDOMISED, n_fits

if TYPE_CHECKING:
    from foldshift.core.types import Rows
    from foldshift.engine.study.run import Run

RANDOM = ("CV", "SCV")  # references, of which re-randomisation draws
FEWEST = 5  # samples of a population and size
BLOCKS = (8, 32)  # samples of one job, least and most
BLOCK_ROWS = 16_000  # rows of its samples, between these bounds: jobs take about as long for large samples as for small ones
COLUMNS = 10  # of a generated population, about
PER_CUT = 4e-3  # seconds of one core: cutting a sample once, mean over the cuts
PER_INTERVALS = 0.012  # seconds: all intervals of one population, size, k, learner and cut
HELD_OUT = 2.0  # a fit with predictions of the rows held out costs as much as so many without


def cells(run: Run) -> Rows:
    """List populations by sizes and blocks of samples; a data set that is too small for a size is left out."""
    return _cells(run, "estimates", run.settings, BLOCK_ROWS)


def method_cells(run: Run) -> Rows:
    """List the same for the intervals that need fits of their own."""
    return _cells(run, "methods", run.settings["methods"], BLOCK_ROWS // 4)


def _cells(run: Run, kind: str, settings: dict[str, Any], block_rows: int) -> Rows:
    """List the jobs of one measure, with blocks of samples of some `block_rows` rows."""
    found = []
    for name in settings["populations"]:
        rows = run.catalogue[name].n_rows if name in run.catalogue else None
        for n in settings["sample_sizes"]:
            if rows is None or rows >= 2 * n:
                size = min(max(block_rows // n, BLOCKS[0]), BLOCKS[1])
                n_replicates = min(settings["n_replicates"], max(run.settings["sampled_rows"] // n, FEWEST))
                blocks = run.blocks(f"{kind}/{name}-{n}", n_replicates, size)
                found += [{"population": name, "n_sample": n, "block": block} for block in blocks]
    return found


def partitioners(cuts: list[str]) -> list[str]:
    """Select the partitioners of the library among some cuts; re-randomisation draws from the references."""
    return [cut for cut in dict.fromkeys([*cuts, *(RANDOM if RERANDOMISED in cuts else ())]) if cut != RERANDOMISED]


def learners_of(run: Run, cell: dict[str, Any]) -> list[str]:
    """Select the learners that are fast enough for samples of this size."""
    return [one for one in run.settings["fitted"] if int(cell["n_sample"]) <= run.settings["max_sample"].get(one, math.inf)]


def cost(run: Run, cell: dict[str, Any]) -> Cost:
    """Cost of every cut, k and repetition of every sample; about half of the cuts and learners fit the task of a population."""
    settings, name, n_sample = run.settings, cell["population"], int(cell["n_sample"])
    n_columns = run.shape(name)[1] if name in run.catalogue else COLUMNS
    n_cuts = len(settings["cuts"]) * settings["n_repetitions"] / 2
    n_fits = n_cuts * sum(settings["folds"]) + 1
    per_fit = sum(run.fit_cost(one, n_sample, n_columns).seconds_per_fit + 1e-3 for one in learners_of(run, cell)) / 2
    return Cost(
        block_range(cell["block"])[1] * (HELD_OUT * n_fits * per_fit + n_cuts * len(settings["folds"]) * PER_CUT), 300, 0.2
    )


def method_cost(run: Run, cell: dict[str, Any]) -> Cost:
    """Cost of every method of every sample; about half of the cuts and learners fit the task of a population."""
    settings, name, n_sample = run.settings["methods"], cell["population"], int(cell["n_sample"])
    n_columns = run.shape(name)[1] if name in run.catalogue else COLUMNS
    of_a_cut = sum(n_fits(*(settings[key] for key in ("n_partitions", "n_holdouts", "n_halves"))).values())
    per_fit = sum(run.fit_cost(one, n_sample, n_columns).seconds_per_fit + 1e-3 for one in settings["fitted"]) / 2
    return Cost(block_range(cell["block"])[1] * len(settings["cuts"]) / 2 * of_a_cut * per_fit, 300, 0.1)


def tables_seconds(run: Run) -> float:
    """Seconds of all intervals; about half of the cuts and learners fit the task of a population."""
    settings = run.settings
    of_each = len(settings["sample_sizes"]) * len(settings["folds"]) * len(settings["cuts"]) * len(settings["fitted"]) / 4
    return 5 + PER_INTERVALS * len(settings["populations"]) * of_each


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
                **run.pick("folds", "n_repetitions", "cuts"),
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
            "measure_methods",
            function="measure_methods.measure_methods",
            rows={"methods": "methods/{population}-{n_sample}/{block}.parquet"},
            cells=method_cells,
            inputs=lambda run, cell: {"data": run.population(cell["population"])},
            params=lambda run, cell: {
                **{key: run.settings["methods"][key] for key in ("cuts", "n_partitions", "n_holdouts", "n_halves")},
                "level": run.settings["level"],
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
            inputs=lambda run: {"rows": run.rows("estimates")},
            seconds=tables_seconds,
            mb=2000,
            message="honesty of cuts, coverage, ledger, answer",
            items=(
                Table(
                    "answer",
                    show="tables.answer_grid",
                    title="What to do",
                    category="1 Answer",
                    caption="Which cut, how many folds and repetitions, which interval, by task and size of the data: the random "
                    "cut, unless another one was shown to be nearer to the truth; over all learners, and for each. Error: root "
                    "mean square of the estimate of one cross-validation less the true error of the model trained on the whole "
                    "sample, per cent of that error, mean over learners, geometric mean over populations. Repetitions: after "
                    "which the variance between partitions is less than a tenth of the mean squared error that repeating cannot "
                    "remove. Interval: the narrowest from one cross-validation whose coverage, less two standard errors, is at "
                    "most 5 points below its promise of {level_percent} %; where none was, the one that covers most. The columns "
                    "from fewest folds on: what it costs to do otherwise.",
                ),
                Table(
                    "ledger",
                    show="tables.ledger_grid",
                    title="Claims of the field, tested",
                    category="2 Ledger",
                    caption="What papers, folklore and this project say of cuts, each as one comparison that was fixed before "
                    "the rows were looked at. A lower estimate is no merit: estimates are held against the error on rows outside "
                    "the sample.",
                ),
                Table(
                    "by_folds",
                    show="tables.folds_grid",
                    title="Does it depend on the number of folds?",
                    category="2 Ledger",
                    caption="Every cut against the random one with as many folds: how much nearer to the error of the model "
                    "trained on the whole sample its estimate is, how much less it varies between partitions, and how much lower "
                    "it is; below 0: nearer, varies less, lower. Models of two folds are trained on half of the rows, so that "
                    "the random cut tends to be too pessimistic there, and a cut that makes the estimate lower is nearer by that "
                    "alone. Cuts that make one partition of a sample (ABA, SPXY, BDSCV) vary by no more than the learners' own "
                    "chance.",
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
                    "sample (the CSV file has two more targets). An honest {level_percent} % interval holds it in "
                    "{level_percent} of 100 samples. Cuts that make folds alike can shrink intervals that rest on the spread "
                    "between folds (S2/K: mean of the folds and their spread; Nadeau-Bengio: with a correction for training "
                    "parts that overlap). theta_A takes the variance within the folds, theta_B twice that.",
                ),
                Table(
                    "by_population",
                    title="Every population",
                    category="5 Populations",
                    caption="What the tables are means of: each measure for every population, size, number of folds and cut, "
                    "mean over its learners; per cent of the true error, right choices as a share.",
                ),
                Figure(
                    "optimism",
                    title="Bias and error by size of the sample",
                    category="3 Honesty",
                    caption="Five folds (or the largest number that there is). Above: mean of estimate less the error of the "
                    "model trained on the whole sample, per cent of that error; below zero the estimate promises too much. "
                    "Below: by how much further one estimate lies from that error (root mean square) than with the random cut, "
                    "geometric mean; below zero it is nearer. Thick and black: the random cut that all are compared with. Bars: "
                    "one standard error over populations. Training on less than the whole sample tends to make an estimate "
                    "pessimistic; where spreading near twins over the folds brings a line nearer to 0, two errors cancel, which "
                    "is no virtue that can be relied on.",
                ),
            ),
        ),
        OutputGroup(
            "methods",
            function="interval_tables.methods",
            inputs=lambda run: {"rows": run.rows("methods")},
            seconds=4,
            mb=1500,
            message="intervals that need fits of their own",
            items=(
                Table(
                    "methods",
                    show="interval_tables.methods_grid",
                    shown_with={"n_failed": 0},
                    title="Nested, corrected t, conservative Z: what more fits buy",
                    category="4 Coverage",
                    when=lambda run: bool(method_cells(run)),
                    caption="Intervals that take more fits than one cross-validation, held against the error of the model "
                    "trained on the whole sample: nested cross-validation (Bates et al. 2024), the corrected t test's interval "
                    "on hold-outs of a tenth, and conservative Z, whose variance is measured on halves of the sample (both "
                    "Nadeau and Bengio 2003). The cut makes the folds, the hold-outs and the halves. An honest "
                    "{level_percent} % interval holds the error in "
                    "{level_percent} of 100 samples.",
                ),
            ),
        ),
    ),
)
