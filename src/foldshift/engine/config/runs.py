"""From a configuration as the user wrote it to the runs of its studies: read, merge, check, make runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from foldshift.engine.config.check import CheckedConfig, check_config, check_measures
from foldshift.engine.config.merge import merge_config
from foldshift.engine.config.read import located, read_config
from foldshift.engine.costs.fit_costs import CostModel, read_costs
from foldshift.engine.layout.job_layout import JobLayout
from foldshift.engine.layout.labels import read_record, read_units, record_file, units_file
from foldshift.engine.layout.reuse import folders_in
from foldshift.engine.study.run import Run, rehearse

if TYPE_CHECKING:
    from foldshift.core.types import PathLike
    from foldshift.datasets.catalogue_entry import CatalogueEntry


class Configured(NamedTuple):
    """A configuration that is ready to run."""

    config: dict[str, Any]  # resolved: every study with its complete settings
    catalogue: dict[str, CatalogueEntry]  # catalogue, learners: Data sets and learners by name
    learners: dict[str, dict[str, Any]]
    runs: dict[str, Run]  # by id of the study, in their order
    notes: list[str]  # settings that are passed over, and why: a line each
    titles: dict[str, str]  # of all known studies by id, those that the configuration leaves out included


def configure(raw: dict[str, Any], root: PathLike, targets: Sequence[str] = (), results_here: bool = True) -> Configured:
    """Turn a configuration, command line included, into the runs of its studies; raise ConfigError at the first mistake.

    Where `targets` name single studies, the lists of the command line must fit one of them. With `results_here` every job sees
    the results: files of earlier runs are kept, and new ones hold what they leave. Else the configuration alone says what the
    files are.
    """
    return make_runs(check_config(merge_config(read_config(raw, Path(root)), targets)), Path(root), results_here)


def make_runs(checked: CheckedConfig, root: Path, results_here: bool = True) -> Configured:
    """Make the run of every study of a checked configuration."""
    config, catalogue, learners, studies, notes = checked.merged
    costs = CostModel(read_costs(located(config["costs_file"], root)))
    recorded = read_record(record_file(config["results"])) if results_here else None
    existing = None if results_here else _no_files
    united = read_units(units_file(config["results"])) if results_here else {}
    runs: dict[str, Run] = {}
    for study, words in checked.declared.items():
        variants = words.variants(config["studies"][study])
        layout = JobLayout(study, config, catalogue, learners, costs, recorded, existing, variants) if words.cuts else None
        pages = any(path.endswith(".html") for measure in words.measures for path in measure.rows.values())
        if layout and not pages:  # a page is read, and linked to, by itself
            others = [run.units.members for run in runs.values()]
            own = united.get(study, {})
            layout.unite(config["many_datasets"], [own, *others], _alone(config, study, own) if results_here else ())
        runs[study] = Run(studies[study], words, config, catalogue, learners, costs, layout, results_here)
        if studies[study].package == study:  # user-defined
            rehearse(runs[study])
        check_measures(runs[study], learners)
    titles = {study: found.title for study, found in studies.items()}
    return Configured(config, catalogue, learners, runs, notes, titles)


def _alone(config: dict[str, Any], study: str, units: Mapping[str, tuple[str, ...]]) -> set[str]:
    """Data sets of a study that have files of their own; in an archive all that are in no unit."""
    if config["archived"]:
        return set(config["studies"][study]["datasets"]).difference(*units.values())
    return folders_in(f"{config['results']}/{study}/folds")


def _no_files(kind: str, dataset: str) -> tuple[str, ...]:
    """Files of earlier runs, where there are none or no process sees those of others."""
    return ()
