"""Checks of the configuration that its schema cannot make: names, imports, folders. All run before anything is planned."""

from __future__ import annotations

import importlib.util
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from foldshift import learners as own_learners
from foldshift.core.errors import ConfigError, unknown
from foldshift.core.imports import import_object, is_named, is_own
from foldshift.datasets.synthetic.populations import POPULATIONS, TARGET_POPULATIONS
from foldshift.engine.costs.dataset_shapes import local_files
from foldshift.engine.jobs.code_digest import module_files
from foldshift.engine.jobs.user_code import DECLARED, LEARNER, PARTITIONER, OwnCodeError, call_own, check_call
from foldshift.engine.layout.bundles import TRUTH
from foldshift.partition.registry import HINT, STRATA, find_partitioner, is_partitioner, known_partitioners, n_strata_of

if TYPE_CHECKING:
    from foldshift.core.types import PathLike
    from foldshift.datasets.catalogue_entry import CatalogueEntry
    from foldshift.engine.config.merge import MergedConfig
    from foldshift.engine.study.declare import Study
    from foldshift.engine.study.find import StudyInfo
    from foldshift.engine.study.run import Run


class CheckedConfig(NamedTuple):
    """A merged configuration whose names, imports and folders are right."""

    merged: MergedConfig
    declared: dict[str, Study]  # declarations of the studies of the configuration, by id


def check_config(merged: MergedConfig) -> CheckedConfig:
    """Check a merged configuration and load what its studies declare; raise ConfigError at the first mistake."""
    config = merged.config
    check_own_partitioners(config["own_partitioners"])
    declared = {name: merged.studies[name].declaration() for name in config["studies"]}
    check_studies(merged, declared)
    # An archive needs neither learners nor data, and no code that it names is imported.
    if not config["archived"]:
        check_imports(config, merged.learners, merged.studies)
    check_mirror(config["mirror"])
    for key in ("results", "resources"):
        check_writable(config[key], key)
    return CheckedConfig(merged, declared)


def check_studies(merged: MergedConfig, declared: dict[str, Study]) -> None:
    """Check the settings of every study: names against catalogue and learners, folds and strata against the number of rows."""
    for name, settings in merged.config["studies"].items():
        study = merged.studies[name]
        _check_datasets(study, settings, merged)
        _check_learners(study, settings, merged)
        for partitioner in settings.get("partitioners", []):
            _check_partitioner(study, partitioner, settings, merged)
        _check_parts(study, settings, merged, declared[name])
        call_own(f"{study.package}.study (check)", DECLARED, declared[name].check, settings)
        _check_limits(study, settings, merged.learners)
        _check_references(study, settings, declared[name])
        _check_n_folds(study, settings, merged.catalogue)


def _check_datasets(study: StudyInfo, settings: dict[str, Any], merged: MergedConfig) -> None:
    """Refuse data sets that the catalogue lacks, that are for another task, or whose files are not there."""
    catalogue = merged.catalogue
    for name in settings.get("datasets", []):
        if name not in catalogue:
            hint = f"Add a line to {merged.config['catalogue']} or an entry to extra_datasets."
            same_task = [known for known, entry in catalogue.items() if study.task in (None, entry.task)]
            raise ConfigError(unknown(f"data set in {study.id}.datasets", name, same_task, hint))
        entry = catalogue[name]
        if study.task not in (None, entry.task):
            raise ConfigError(f"{study.id}.datasets: {name} is a {entry.task} data set; {study.id} takes {study.task} data sets")
        only_files = bool(entry.sources) and all(source.startswith("file:") for source in entry.sources)
        if only_files and not merged.config["archived"] and not local_files(entry):
            path = unquote(entry.sources[0][5:].split("?")[0])
            raise ConfigError(f"data set {name}: no such file {path}; paths count from the folder you run in")


def _check_learners(study: StudyInfo, settings: dict[str, Any], merged: MergedConfig) -> None:
    """Refuse learners that the learners file lacks, or that are for another task."""
    learners, hint = merged.learners, f"Add an entry to {merged.config['learners_file']}."
    for name in settings.get("learners", []) if study.task else []:
        if name not in learners:
            raise ConfigError(unknown(f"learner in {study.id}.learners", name, learners, hint))
        if study.task not in learners[name]["tasks"]:
            tasks = ", ".join(learners[name]["tasks"])
            raise ConfigError(f"{study.id}.learners: {name} does not do {study.task}; its tasks are {tasks}")


def _check_parts(study: StudyInfo, settings: dict[str, Any], merged: MergedConfig, declared: Study) -> None:
    """Check the populations of a study and of each part of its settings, and the learners of the parts."""
    parts = {"": settings} | {key: part for key, part in settings.items() if isinstance(part, dict)}
    for key, part in parts.items():
        where = f"{study.id}.{key}" if key else study.id
        n_sample = part.get("n_sample", min(part.get("sample_sizes", [0])))
        for name in part.get("populations", []):
            _check_population(where, name, n_sample, merged.catalogue, declared.population_tasks.get(key))
        for name in part.get("learners", []) if key else []:
            if name not in merged.learners:
                hint = f"Add an entry to {merged.config['learners_file']}."
                raise ConfigError(unknown(f"learner in {where}.learners", name, merged.learners, hint))


def _check_limits(study: StudyInfo, settings: dict[str, Any], learners: dict[str, dict[str, Any]]) -> None:
    """Refuse limits on learners that nobody knows."""
    for key in ("max_rows", "max_sample"):
        for name in settings.get(key, {}):
            if name not in learners:
                raise ConfigError(unknown(f"learner in {study.id}.{key}", name, learners))


def _check_references(study: StudyInfo, settings: dict[str, Any], declared: Study) -> None:
    """Refuse a list of partitioners without those that the others are compared with."""
    if set(declared.references) - set(settings.get("partitioners", [])):
        raise ConfigError(
            f"{study.id}.partitioners must contain {' and '.join(declared.references)}, the references of the tests; "
            f"got {', '.join(settings['partitioners'])}"
        )


def _check_n_folds(study: StudyInfo, settings: dict[str, Any], catalogue: dict[str, CatalogueEntry]) -> None:
    """Refuse more folds than a data set has rows."""
    for k in settings.get("n_folds", []):
        for name in settings.get("datasets", []):
            rows = catalogue[name].n_rows
            if rows is not None and k > rows:
                raise ConfigError(
                    f"{study.id}.n_folds: k={k} is above the {rows} rows of data set {name}; k must be between 2 and {rows}"
                )


def check_measures(run: Run, learners: dict[str, dict[str, Any]]) -> None:
    """Refuse names of learners and partitioners that a measure of a study would call and nobody knows."""
    for measure in run.measures():
        for name in measure.learners(run):
            if name not in learners:
                hint = f"Add an entry to {run.config['learners_file']}."
                raise ConfigError(unknown(f"learner in {run.id} ({measure.name})", name, learners, hint))
        for name in measure.partitioners(run):
            if name not in run.config["own_partitioners"] and not (is_partitioner(name) and find_partitioner(name).tasks):
                of_tasks = dict.fromkeys(known_partitioners("regression") + known_partitioners("classification"))
                known = (*of_tasks, *run.config["own_partitioners"])
                raise ConfigError(unknown(f"partitioner in {run.id} ({measure.name})", name, known, HINT))


def _check_partitioner(study: StudyInfo, name: str, settings: dict[str, Any], merged: MergedConfig) -> None:
    """Refuse a partitioner that nobody knows, that is for another task, or that wants more strata than a data set has rows."""
    own = merged.config["own_partitioners"]
    if name in own:
        return
    if not is_partitioner(name) or study.task not in find_partitioner(name).tasks:
        known = (*known_partitioners(study.task), *own)
        hint = HINT if study.task == "regression" else ""
        raise ConfigError(unknown(f"partitioner in {study.id}.partitioners", name, known, hint))
    if "coordinates" in find_partitioner(name).takes:
        for dataset in settings["datasets"]:
            if "space_on" not in merged.catalogue[dataset].structure:
                raise ConfigError(
                    f"{study.id}.partitioners: {name} needs the place of every row, and data set {dataset} has none; add "
                    "space_on=COLUMN,COLUMN to its source, or take the partitioner or the data set out of the study"
                )
    if find_partitioner(name) is not STRATA:
        return
    n_strata = n_strata_of(name)
    for dataset in settings["datasets"]:
        rows = merged.catalogue[dataset].n_rows
        if n_strata is not None and rows is not None and n_strata > rows:
            raise ConfigError(
                f"{study.id}.partitioners: {name} wants {n_strata} strata, but data set {dataset} has {rows} rows; t must be "
                f"between 1 and {rows}"
            )


def _check_population(where: str, name: str, n_sample: int, catalogue: dict[str, CatalogueEntry], task: str | None) -> None:
    """`task`: the only one that fits; None if both do."""
    generated = (*POPULATIONS, *(TARGET_POPULATIONS if task is None else ()))
    if name in generated:
        return
    if name not in catalogue or task not in (None, catalogue[name].task):
        fitting = [known for known, entry in catalogue.items() if task in (None, entry.task)]
        raise ConfigError(unknown(f"population in {where}.populations", name, (*generated, *fitting)))
    rows = catalogue[name].n_rows
    if rows is not None and rows < 2 * n_sample:
        raise ConfigError(
            f"{where}.populations: {name} has {rows} rows; a population needs at least twice n_sample={n_sample}, as much is "
            f"held out as drawn"
        )


def check_imports(config: dict[str, Any], learners: dict[str, dict[str, Any]], studies: dict[str, StudyInfo]) -> None:
    """Check that everything that configuration names by import path exists."""
    used = {name for study, settings in config["studies"].items() if studies[study].task for name in settings.get("learners", [])}
    wanted = [(f"learner {name} in {config['learners_file']}", learners[name], _check_learner) for name in sorted(used)]
    wanted += [(f"own_partitioners.{name}", entry, _check_function) for name, entry in config["own_partitioners"].items()]
    for what, entry, check in wanted:
        path, package = entry["import"], entry.get("module")
        if package and importlib.util.find_spec(package.partition(".")[0]) is None:
            raise ConfigError(f"{what} needs {package}, which is not installed: pip install {package}")
        module, _, name = path.rpartition(".")
        if module == "foldshift.learners" and name in dir(own_learners):
            continue  # known without the second that importing it takes
        if module.partition(".")[0] == "sklearn" and is_named(path):
            continue  # so is this
        try:
            module_files(objects=[path])  # names a file that is not valid Python, and its line
            found = import_object(path, what)
            if is_own(path):
                check(path, found, entry)
        except (ConfigError, OwnCodeError) as error:
            raise ConfigError(f"{what}: {error}") from error
        except ValueError as error:
            raise ConfigError(str(error)) from error


def _check_function(path: str, found: Callable[..., Any] | int, entry: dict[str, Any]) -> None:
    check_call(path, PARTITIONER, found, None, None, 2, [], **entry.get("params", {}))


def _check_learner(path: str, found: type[Any], entry: dict[str, Any]) -> None:
    lacking = [method for method in ("fit", "predict") if not callable(getattr(found, method, None))]
    if lacking:
        raise OwnCodeError(f"your {path} has no {' and no '.join(lacking)}; {LEARNER}")
    params = entry["params"] | ({"categorical_features": None} if entry["nominal"] == "native" else {})
    check_call(path, LEARNER, found, **params)


def check_own_partitioners(own: dict[str, dict[str, Any]]) -> None:
    """Refuse names of partitioners of the user's own that are taken, or that cannot stand in the name of a file."""
    for name in own:
        if name == TRUTH or is_partitioner(name):
            raise ConfigError(f"own_partitioners: {name} is a partitioner of foldshift's own already; choose another name")
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9._-]*", name):
            raise ConfigError(
                f"own_partitioners: the name {name!r} may hold letters, digits, '.', '_' and '-' only, a letter first: files are "
                "named after it"
            )


def check_mirror(mirror: str | None) -> None:
    """Refuse a mirror that is neither an address nor a folder that exists."""
    if mirror and not mirror.startswith(("https://", "http://")) and not Path(mirror).is_dir():
        raise ConfigError(
            f"mirror={mirror!r} is not a folder; give a folder that exists (paths count from the folder you run in) or an address"
        )


def check_writable(folder: PathLike, key: str) -> None:
    """Refuse an output folder that cannot be written, before work is done for it."""
    path = Path(folder).absolute()
    while not path.exists():
        path = path.parent
    if not path.is_dir():
        raise ConfigError(f"{key}={str(folder)!r}: {path} is a file, not a folder; name another folder")
    try:
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        problem = f"cannot write in {path} ({error.strerror})"
        raise ConfigError(f"{key}={str(folder)!r}: {problem}; change the permission or name another folder") from error
