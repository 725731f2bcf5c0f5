"""Tables 2 to 6 of the classification study: classifiers, truth, tests on it, and how often a single experiment finds what is true."""

from foldshift.jobs import run
from foldshift.reporting.experiments import by_configuration
from foldshift.reporting.figures import save_figure
from foldshift.reporting.moreno_torres_2012 import (
    accuracy_grid,
    accuracy_table,
    agreement_grid,
    agreement_table,
    auc_grid,
    auc_table,
    classifiers_grid,
    classifiers_table,
    draw_accuracy,
    repetitions_grid,
    repetitions_table,
    wilcoxon_grid,
    wilcoxon_table,
)
from foldshift.reporting.tables import write_table


def main(job):
    """Arrange the experiments, test, write the tables and the figure."""
    settings = job.params.settings
    learners, datasets, partitioners = settings["learners"], settings["datasets"], settings["partitioners"]
    schemes, alpha = settings["iterations"], settings["alpha"]
    results = by_configuration(job.input.scores, settings)
    table = classifiers_table(job.params.learners, learners, settings["ids"])
    write_table(job.output.table2, table, classifiers_grid(table))
    table = auc_table(results, schemes, learners, datasets)
    write_table(job.output.table3, table, auc_grid(table))
    table = wilcoxon_table(results, schemes, learners, alpha)
    write_table(job.output.table4, table, wilcoxon_grid(table, alpha))
    table = agreement_table(results, schemes, partitioners, learners, alpha)
    write_table(job.output.table5, table, agreement_grid(table, learners))
    table = accuracy_table(results, schemes, partitioners, alpha, master_seed=job.params.master_seed)
    write_table(job.output.table6, table, accuracy_grid(table))
    table = repetitions_table(results, schemes, partitioners, alpha, master_seed=job.params.master_seed)
    write_table(job.output.repetitions, table, repetitions_grid(table))
    save_figure(job.output.figure, draw_accuracy(table))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
