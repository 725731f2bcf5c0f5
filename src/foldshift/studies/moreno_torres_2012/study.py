"""Partition-induced covariate shift (Moreno-Torres, Saez and Herrera 2012): the study and its measures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foldshift.engine.layout.bundles import choice_of
from foldshift.engine.layout.job_layout import of_experiments
from foldshift.engine.study.declare import Cost, Measure, Study
from foldshift.studies.common.standard_items import COVARIATE_SHIFT, STRUCTURED_CUTS, engine_layout
from foldshift.studies.moreno_torres_2012.ablation.variants import variants, variants_to_cut
from foldshift.studies.moreno_torres_2012.notation import in_print_order
from foldshift.studies.moreno_torres_2012.output_groups import ITEMS

if TYPE_CHECKING:
    from foldshift.engine.study.run import Run

# Seconds of one core.
PER_PREDICTION = 2.3e-9  # convergence, per prediction and order
PER_EXPERIMENT = 1.9e-4  # convergence, per learner, partitioner, k and experiment
HELDOUT_MB = 900  # memory
GENERATED_COLUMNS = 10  # of a generated population, about


def derive(run: Run) -> dict[str, Any]:
    """Derive settings: partitions per experiment, ids of learners, partitioners in the order of print, and their variants."""
    settings = run.settings
    return {
        "iterations": run.schemes,
        "ids": run.ids,
        "partitioners": in_print_order(settings["partitioners"]),
        "variants": variants(settings) if settings["ablation"]["n_seeds"] else {},
    }


def choices(run: Run) -> dict[str, dict[str, Any]]:
    """Return how each partitioner cuts: a known one or a user-defined function, and its options."""
    own = run.config["own_partitioners"]
    return {name: choice_of(name, run.settings, own) for name in run.settings["partitioners"]}


def convergence_cost(run: Run, cell: dict[str, str]) -> Cost:
    """Estimate the cost of convergence on a data set: every prediction is counted once in every order."""
    layout = engine_layout(run)
    cells = [one for one in layout.cells(cell["dataset"]) if of_experiments(one)]
    n_runs = sum(one.n_seeds * one.iterations for one in cells)
    per_run = PER_PREDICTION * run.shape(cell["dataset"])[0] * run.settings["convergence"]["n_orders"]
    seconds = per_run * n_runs + PER_EXPERIMENT * sum(one.n_seeds for one in cells)
    return Cost(seconds * len(layout.learners_of(cell["dataset"])))


def heldout_cost(run: Run, cell: dict[str, str]) -> Cost:
    """Estimate the cost of a population: folds of every partitioner, training parts of every k, and the whole sample."""
    settings, schemes, name = run.settings["held_out"], run.schemes, cell["population"]
    n_fits = len(run.settings["partitioners"]) * sum(k * r for k, r in schemes.items()) + settings["n_parts"] * len(schemes) + 1
    n_columns = run.shape(name)[1] if name in run.catalogue else GENERATED_COLUMNS
    per_fit = sum(run.fit_cost(one, settings["n_sample"], n_columns).seconds_per_fit for one in run.learner_ids)
    # Three times the cost of fits that share work: single calls share little.
    return Cost(3 * settings["n_replicates"] * n_fits * per_fit, HELDOUT_MB)


MEASURES = (
    Measure(
        "measure_convergence",
        function="measure_convergence.measure_convergence",
        rows={"convergence": "convergence/{dataset}.parquet", "convergence_curves": "convergence_curves/{dataset}.parquet"},
        cells=lambda run: [{"dataset": name} for name in run.datasets],
        inputs=lambda run, cell: {
            "data": run.prepared(cell["dataset"], "none"),
            "folds": run.folds(cell["dataset"], of_experiments),
            "predictions": run.predictions(cell["dataset"], of_experiments),
            "scores": run.file(f"seed_scores/{cell['dataset']}.parquet"),
        },
        params=lambda run, cell: {
            "wanted": run.wanted_scores(cell["dataset"], of_experiments),
            "iterations": run.schemes,
            "n_orders": run.settings["convergence"]["n_orders"],
            "master_seed": run.master_seed,
        },
        cost=convergence_cost,
        message="experiments until estimates are stable, {dataset}",
    ),
    COVARIATE_SHIFT,
    STRUCTURED_CUTS,
    Measure(
        "measure_heldout",
        function="measure_heldout.measure_heldout",
        rows={"held_out": "held_out/{population}.parquet"},
        cells=lambda run: [{"population": name} for name in run.settings["held_out"]["populations"]],
        inputs=lambda run, cell: {"data": run.population(cell["population"])},
        params=lambda run, cell: {
            **{key: run.settings["held_out"][key] for key in ("n_sample", "n_replicates", "n_parts")},
            "schemes": run.schemes,
            "partitioners": choices(run),
            "learners": run.entries(),
            "master_seed": run.master_seed,
        },
        cost=heldout_cost,
        learners=lambda run: run.learner_ids,
        partitioners=lambda run: run.settings["partitioners"],
        limited=True,
        message="estimates against rows held out, {population}",
    ),
)


STUDY = Study(
    cuts=True,
    variants=variants_to_cut,
    population_tasks={"held_out": "classification"},
    references=("SCV",),
    prepared=lambda settings: "none",  # partitioners see inputs as they are and scale them as their distance wants
    derive=derive,
    measures=MEASURES,
    items=ITEMS,
)
