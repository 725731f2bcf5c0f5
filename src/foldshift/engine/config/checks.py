"""What the schema of the configuration cannot know, checked before anything is planned: names, imports, folders."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from foldshift import learners as own_learners
from foldshift.core.errors import ConfigError, unknown
from foldshift.core.imports import import_object, is_named, is_own
from foldshift.datasets.synthetic.populations import POPULATIONS, TARGET_POPULATIONS
from foldshift.engine.config.schema import is_partitioner
from foldshift.engine.costs.dataset_shapes import local_files
from foldshift.engine.jobs.code_digest import module_files
from foldshift.engine.jobs.user_code import DECLARED, LEARNER, PARTITIONER, OwnCodeError, call_own, check_call
from foldshift.engine.layout.bundles import TRUTH
from foldshift.partition.registry import HINT, STRATA, find_partitioner, known_partitioners, n_strata_of

if TYPE_CHECKING:
    from foldshift.core.types import PathLike
    from foldshift.datasets.catalogue_entry import CatalogueEntry
    from foldshift.engine.study.declare import Study
    from foldshift.engine.study.find import Found
    from foldshift.engine.study.run import Run


def check_studies(
    config: dict[str, Any],
    catalogue: dict[str, CatalogueEntry],
    learners: dict[str, dict[str, Any]],
    studies: dict[str, Found],
    declared: dict[str, Study],
) -> None:
    """Check what the schema cannot know: names against catalogue and learners, folds and strata against the number of rows."""
    for study, settings in config["studies"].items():
        task = studies[study].task
        for name in settings.get("datasets", []):
            if name not in catalogue:
                hint = f"Add a line to {config['catalogue']} or an entry to extra_datasets."
                same_task = [known for known, entry in catalogue.items() if task in (None, entry.task)]
                raise ConfigError(unknown(f"data set in {study}.datasets", name, same_task, hint))
            if task not in (None, catalogue[name].task):
                raise ConfigError(
                    f"{study}.datasets: {name} is a {catalogue[name].task} data set; {study} takes {task} data sets"
                )
            sources = catalogue[name].sources
            if (
                not config["archived"]
                and sources
                and all(source.startswith("file:") for source in sources)
                and not local_files(catalogue[name])
            ):
                path = unquote(sources[0][5:].split("?")[0])
                raise ConfigError(f"data set {name}: no such file {path}; paths count from the folder you run in")
        for name in settings.get("learners", []) if task else []:
            if name not in learners:
                raise ConfigError(
                    unknown(f"learner in {study}.learners", name, learners, f"Add an entry to {config['learners_file']}.")
                )
            if task not in learners[name]["tasks"]:
                raise ConfigError(
                    f"{study}.learners: {name} does not do {task}; its tasks are {', '.join(learners[name]['tasks'])}"
                )
        for name in settings.get("partitioners", []):
            _check_partitioner(study, task, name, settings, config, catalogue)
        parts = {study: settings} | {f"{study}.{key}": part for key, part in settings.items() if isinstance(part, dict)}
        for where, part in parts.items():
            n_sample = part.get("n_sample", min(part.get("sample_sizes", [0])))
            for name in part.get("populations", []):
                _check_population(where, name, n_sample, catalogue, task if where == f"{study}.held_out" else None)
        for name in settings.get("audit", {}).get("learners", []):
            if name not in learners:
                raise ConfigError(
                    unknown(f"learner in {study}.audit.learners", name, learners, f"Add an entry to {config['learners_file']}.")
                )
        call_own(f"{studies[study].package}.study (check)", DECLARED, declared[study].check, settings)
        for key in ("max_rows", "max_sample"):
            for name in settings.get(key, {}):
                if name not in learners:
                    raise ConfigError(unknown(f"learner in {study}.{key}", name, learners))
        if set(declared[study].references) - set(settings.get("partitioners", [])):
            raise ConfigError(
                f"{study}.partitioners must contain {' and '.join(declared[study].references)}, the references of the tests; "
                f"got {', '.join(settings['partitioners'])}"
            )
        for k in settings.get("n_folds", []):
            for name in settings.get("datasets", []):
                rows = catalogue[name].n_rows
                if rows is not None and k > rows:
                    raise ConfigError(
                        f"{study}.n_folds: k={k} is above the {rows} rows of data set {name}; k must be between 2 and {rows}"
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


def _check_partitioner(
    study: str, task: str, name: str, settings: dict[str, Any], config: dict[str, Any], catalogue: dict[str, CatalogueEntry]
) -> None:
    if name in config["own_partitioners"]:
        return
    if not is_partitioner(name) or task not in find_partitioner(name).tasks:
        known = (*known_partitioners(task), *config["own_partitioners"])
        hint = HINT if task == "regression" else ""
        raise ConfigError(unknown(f"partitioner in {study}.partitioners", name, known, hint))
    if find_partitioner(name) is not STRATA:
        return
    n_strata = n_strata_of(name)
    for dataset in settings["datasets"]:
        rows = catalogue[dataset].n_rows
        if n_strata is not None and rows is not None and n_strata > rows:
            raise ConfigError(
                f"{study}.partitioners: {name} wants {n_strata} strata, but data set {dataset} has {rows} rows; t must be "
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


def check_imports(config: dict[str, Any], learners: dict[str, dict[str, Any]], studies: dict[str, Found]) -> None:
    """Check that everything that configuration names by import path exists."""
    used = {name for study, settings in config["studies"].items() if studies[study].task for name in settings.get("learners", [])}
    wanted = [(f"learner {name} in {config['learners_file']}", learners[name], _check_learner) for name in sorted(used)]
    wanted += [(f"own_partitioners.{name}", entry, _check_function) for name, entry in config["own_partitioners"].items()]
    for what, entry, check in wanted:
        path = entry["import"]
        module, _, name = path.rpartition(".")
        if module == "foldshift.learners" and name in own_learners.__all__:
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
