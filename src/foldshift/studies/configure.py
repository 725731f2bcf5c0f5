"""From a configuration as the user wrote it to the runs of its studies; mistakes are found here, before anything is planned."""

from pathlib import Path
from typing import NamedTuple

from foldshift.datasets.catalogue import add_entries, read_catalogue
from foldshift.planning.checks import check_imports, check_mirror, check_studies, check_writable
from foldshift.planning.config import at_scale, compose_schema, fill_in, fitting, read_yaml, resolve
from foldshift.planning.costs import CostModel, read_costs
from foldshift.planning.layout import Layout
from foldshift.planning.learners_file import read_learners
from foldshift.planning.record import read_record, record_file
from foldshift.studies.load import find_studies
from foldshift.studies.run import Run


class Configured(NamedTuple):
    """What a configuration comes to.

    Attributes
    ----------
    config : dict
        Resolved: every study with its complete settings.
    catalogue, learners : dict
        Data sets and learners by name.
    runs : dict of str to foldshift.studies.run.Run
        By id of the study, in their order.
    """

    config: dict
    catalogue: dict
    learners: dict
    runs: dict


def located(path, root):
    """A file of the working directory, or else the one of that name that comes with the workflow."""
    return Path(path) if Path(path).exists() else Path(root) / path


def configure(raw, root):
    """Resolve a configuration and check it.

    Parameters
    ----------
    raw : dict
        Configuration as read, command line included.
    root : path-like
        Folder of the workflow: its schema, and the files of the configuration that the working directory does not have.

    Returns
    -------
    configured : Configured

    Raises
    ------
    foldshift.errors.ConfigError
        At the first mistake: the key, the value received, what is allowed.
    """
    own = raw.get("studies_from") or []
    studies = find_studies([own] if isinstance(own, str) else own)
    schema = compose_schema(read_yaml(Path(root, "workflow/schemas/config.schema.yaml"), "configuration schema"), studies)
    raw = at_scale(raw, studies)
    filled = fill_in(raw, schema)
    catalogue = add_entries(read_catalogue(located(filled["catalogue"], root)), filled["extra_datasets"])
    learners = read_learners(located(filled["learners_file"], root))
    config = resolve(raw, schema, fitting(filled, catalogue, learners, studies))
    declared = {name: studies[name].declaration() for name in config["studies"]}
    check_studies(config, catalogue, learners, studies, declared)
    # An archive needs neither learners nor data, and no code that it names is imported.
    if not config["archived"]:
        check_imports(config, learners, studies)
    check_mirror(config["mirror"])
    for key in ("results", "resources"):
        check_writable(config[key], key)
    costs = CostModel(read_costs(located(config["costs_file"], root)))
    runs, recorded = {}, read_record(record_file(config["results"]))
    for study, words in declared.items():
        layout = Layout(study, config, catalogue, learners, costs, recorded) if words.cuts else None
        runs[study] = Run(studies[study], words, config, catalogue, learners, costs, layout)
    return Configured(config, catalogue, learners, runs)
