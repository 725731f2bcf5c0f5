"""From a configuration as the user wrote it to the runs of its studies; mistakes are found here, before anything is planned."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from foldshift.core.errors import ConfigError
from foldshift.datasets.catalogue import add_entries, read_catalogue
from foldshift.engine.config.checks import (
    check_imports,
    check_measures,
    check_mirror,
    check_own_partitioners,
    check_studies,
    check_writable,
)
from foldshift.engine.config.command_line import named_studies
from foldshift.engine.config.learners_file import read_learners
from foldshift.engine.config.schema import at_scale, compose_schema, fill_in, fitting, read_yaml, resolve
from foldshift.engine.costs.fit_costs import CostModel, read_costs
from foldshift.engine.layout.job_layout import Layout
from foldshift.engine.layout.labels import read_record, record_file
from foldshift.engine.study.find import find_studies
from foldshift.engine.study.run import Run, rehearse

if TYPE_CHECKING:
    from foldshift.core.types import PathLike


class Configured(NamedTuple):
    """What a configuration comes to.

    Attributes
    ----------
    config : dict
        Resolved: every study with its complete settings.
    catalogue, learners : dict
        Data sets and learners by name.
    runs : dict of str to foldshift.engine.study.run.Run
        By id of the study, in their order.
    notes : list of str
        What is passed over, and why: a line each.
    """

    config: dict[str, Any]
    catalogue: dict[str, Any]
    learners: dict[str, Any]
    runs: dict[str, Run]
    notes: list[str]


def located(path: str, root: PathLike) -> Path:
    """A file of the working directory, or else the one of that name that comes with the workflow."""
    there = Path(root) / path
    return there if there.exists() and not Path(path).exists() else Path(path)


def nothing(kind: Any, dataset: str) -> tuple[Any, ...]:
    """Files of earlier runs, where there are none or nobody can see them."""
    return ()


def unused(config: dict[str, Any]) -> list[str]:
    """Lines on what the configuration describes and no study takes."""
    return [
        f"{described}: {name} is in no study of this run; add it to the {key} of a study"
        for described, key in (("extra_datasets", "datasets"), ("own_partitioners", "partitioners"))
        for name in config[described]
        if not any(name in settings.get(key, ()) for settings in config["studies"].values())
    ]


def configure(raw: dict[str, Any], root: PathLike, targets: Sequence[str] | None = (), results_here: bool = True) -> Configured:
    """Resolve a configuration and check it."""
    own = raw.get("studies_from") or []
    own = [own] if isinstance(own, str) else own
    if not isinstance(own, list) or not all(isinstance(folder, str) for folder in own):
        raise ConfigError(f"studies_from={own!r} must be a list of folders, such as [my_studies]")
    studies = find_studies(own)
    schema = compose_schema(read_yaml(Path(root, "workflow/schemas/config.schema.yaml"), "configuration schema"), studies)
    raw = at_scale(raw, studies)
    filled = fill_in(raw, schema)
    catalogue = add_entries(read_catalogue(located(filled["catalogue"], root)), filled["extra_datasets"])
    learners = read_learners(located(filled["learners_file"], root))
    notes, named = [], named_studies(targets, filled["studies"])
    config = resolve(raw, schema, fitting(filled, catalogue, learners, studies), named, notes)
    check_own_partitioners(config["own_partitioners"])
    declared = {name: studies[name].declaration() for name in config["studies"]}
    check_studies(config, catalogue, learners, studies, declared)
    # An archive needs neither learners nor data, and no code that it names is imported.
    if not config["archived"]:
        check_imports(config, learners, studies)
    check_mirror(config["mirror"])
    for key in ("results", "resources"):
        check_writable(config[key], key)
    costs = CostModel(read_costs(located(config["costs_file"], root)))
    runs, recorded = {}, read_record(record_file(config["results"])) if results_here else None
    existing = None if results_here else nothing
    for study, words in declared.items():
        variants = words.variants(config["studies"][study])
        layout = Layout(study, config, catalogue, learners, costs, recorded, existing, variants) if words.cuts else None
        runs[study] = Run(studies[study], words, config, catalogue, learners, costs, layout, results_here)
        if studies[study].package == study:  # of the user's own
            rehearse(runs[study])
        check_measures(runs[study], learners)
    return Configured(config, catalogue, learners, runs, notes + unused(config))
