"""Names that all rules use: one call sets the run up, the rest are short functions."""

from foldshift.core.versions import commit_of
from foldshift.engine.config.read import located
from foldshift.engine.costs.job_costs import COLLECT
from foldshift.engine.rules.resources import (
    current_attempt,
    expected_mb,
    expected_seconds,
    limits_of_a_cell,
    memory,
    minutes,
    written_mb,
)
from foldshift.engine.rules.rule_functions import KERNELS, SCALINGS, item_words
from foldshift.engine.rules.session import Session
from foldshift.engine.study.declare import key as item_key
from foldshift.engine.study.report_facts import page_of

SESSION = Session(workflow, config, ROOT)
ask, RUNS = SESSION.functions, SESSION.runs
limits = limits_of_a_cell(config["cell_minutes"], config["cell_memory_mb"])


def kept_here(paths):
    """Flag a path, or each of a list, as one of this machine where it is no result and a storage holds the results.

    Nobody puts what comes with the workflow into the storage. A job that has such an input runs on this machine.
    """
    if not SESSION.has_storage or isinstance(paths, str) and paths.startswith("<"):
        return paths
    return (
        local(paths) if isinstance(paths, str) else [kept_here(path) for path in paths]
    )


def local_sources(wildcards):
    """Files of the user's own that a data set is read from."""
    return kept_here(ask.local_sources(wildcards))


# One label only: with a second one the report may show a switch that fails where half of the items are tables (Snakemake 9.27).
def report_entry(run, item):
    """The form of a table or figure that goes into the report."""
    return report(
        f"<results>/{{study}}/{item.files()[0]}",
        caption=str(Path.cwd() / f"{config['results']}/{run.id}/{item.stem}.rst"),
        category=run.found.title,
        subcategory=item.category,
        labels={"item": f"{item.title} ({item.kind})"},
    )
