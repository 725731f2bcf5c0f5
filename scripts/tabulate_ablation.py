"""What the conclusions of the classification study rest on: the study again with one thing changed at a time."""

from foldshift.jobs import run
from foldshift.reporting.ablation import (
    ablation_grid,
    ablation_table,
    bias_grid,
    bias_table,
    conclusions_grid,
    conclusions_table,
    draw_ablation,
    judge,
)
from foldshift.reporting.changes import list_changes
from foldshift.reporting.experiments import by_configuration, read_convergence, read_experiments, read_heldout
from foldshift.reporting.figures import save_figure
from foldshift.reporting.moreno_torres_2012 import AVERAGE
from foldshift.reporting.tables import write_table


def common_scheme(table):
    """A scheme that all changes were run with, else their average."""
    counts = table.groupby("scheme", sort=False)["change"].nunique()
    return next((name for name, n in counts.items() if name != AVERAGE and n == table["change"].nunique()), AVERAGE)


def main(job):
    """Judge every change, write three tables and the figure."""
    settings = job.params.settings
    schemes, partitioners, datasets = settings["iterations"], settings["partitioners"], settings["datasets"]
    ids = list(dict.fromkeys(name for names in settings["ids"].values() for name in names.values()))
    values = read_experiments(job.input.scores, ids, datasets, schemes)
    convergence = read_convergence(job.input.convergence, ids, datasets)
    heldout = read_heldout(job.input.heldout, ids, schemes, partitioners) if job.input.heldout else None
    changes = list_changes(settings, ids, values, convergence, heldout)
    alpha, seed = settings["alpha"], job.params.master_seed
    judged = [judge(change, chosen, partitioners, alpha, master_seed=seed) for chosen, change in changes]
    table = ablation_table(judged)
    write_table(job.output.html, table, ablation_grid(table))
    save_figure(job.output.figure, draw_ablation(table, common_scheme(table)))
    table = conclusions_table(judged)
    write_table(job.output.conclusions, table, conclusions_grid(table))
    results = by_configuration(job.input.scores, settings)
    truth = {name: found for name, (_, found) in results.items()}
    table = bias_table({name: found for name, (found, _) in results.items()}, truth, schemes, partitioners, settings["learners"])
    write_table(job.output.bias, table, bias_grid(table))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
