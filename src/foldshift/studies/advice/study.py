"""Declaration of the study that asks for advice on many data sets and learners."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foldshift.engine.study.declare import Cost, Figure, Measure, OutputGroup, Study, Table

if TYPE_CHECKING:
    from foldshift.engine.study.run import Run

K = 10
N_OTHERS, N_SPREAD, N_PAIRS = 4, 5, 10  # other ways of cutting, partitions of each, pairs of halves: at most
CUTS = ("CV", "SCV", "SCV10", "TSCV", "DOB-SCV", "CB-SCV", "CB-TSCV", "ABA")  # that a page may compare


def cells(run: Run) -> list[dict[str, str]]:
    """List data sets with the learners that fit their task."""
    return [
        {"dataset": name, "learner": learner}
        for name in run.settings["datasets"]
        for learner in run.settings["fitted"]
        if run.catalogue[name].task in run.learners[learner]["tasks"]
    ]


def cost(run: Run, cell: dict[str, Any]) -> Cost:
    """Cost of repetitions, halves of the table and other ways of cutting, and of looking at the data."""
    rows, columns = run.shape(cell["dataset"])
    fit = run.fit_cost(cell["learner"], rows, columns)
    repetitions = run.settings["most_repetitions"]
    # Two fits on half of the rows take as long as one on all.
    n_fits = K * (repetitions + N_PAIRS + (N_OTHERS * N_SPREAD if repetitions >= N_SPREAD else 0))
    return Cost(5 + 1e-5 * rows * columns + 2 * n_fits * (fit.seconds_per_fit + 1e-3) + fit.seconds_once, 400 + fit.peak_mb, 0.2)


STUDY = Study(
    prepared=lambda settings: "none",
    measures=(
        Measure(
            "advise",
            function="measure.advise_one",
            rows={"advice": "advice/{dataset}/{learner}.parquet", "pages": "pages/{dataset}/{learner}.html"},
            cells=cells,
            inputs=lambda run, cell: {"data": run.prepared(cell["dataset"], "none")},
            params=lambda run, cell: {
                **run.pick("most_repetitions"),
                "entry": run.learners[cell["learner"]],
                "master_seed": run.master_seed,
            },
            cost=cost,
            learners=lambda run: run.settings["fitted"],
            partitioners=lambda run: CUTS,
            limited=True,
            message="advice for {learner} on {dataset}",
        ),
    ),
    items=(
        OutputGroup(
            "summary",
            function="tables.summary",
            inputs=lambda run: {"rows": run.rows("advice")},
            local=True,
            message="advice over all data sets and learners",
            items=(
                Table(
                    "advice",
                    title="Advice for every data set and learner",
                    category="1 Advice",
                    caption="How to cut and how often, the score with the one interval that may be printed, whether the learner "
                    "beats a baseline that ignores the inputs, and what to beware of. Error rate for classes, root mean square "
                    "error for quantities, of models trained on the part of the rows that the number of folds leaves. "
                    "The page of each, with all evidence, is in the folder pages.",
                ),
                Figure(
                    "intervals",
                    title="Scores with their intervals",
                    category="1 Advice",
                    caption="Error of each learner relative to that of a baseline that ignores the inputs, with its 95 % "
                    "interval. Left of 1 the learner is better than the baseline.",
                ),
            ),
        ),
    ),
)
