"""Merging of the configuration: scale, defaults and the settings of the command line, for every study that they fit."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from foldshift.core.errors import ConfigError, unknown
from foldshift.datasets.catalogue import add_entries, read_catalogue
from foldshift.engine.config.command_line import named_studies
from foldshift.engine.config.learners_file import read_learners
from foldshift.engine.config.schema import check_schema, fill_defaults
from foldshift.engine.config.schemes import choose_schemes, iterations
from foldshift.partition.registry import find_partitioner, is_partitioner, known_partitioners

if TYPE_CHECKING:
    from foldshift.datasets.catalogue_entry import CatalogueEntry
    from foldshift.engine.config.read import ReadConfig
    from foldshift.engine.study.find import StudyInfo

OVERRIDES = ("datasets", "partitioners", "learners", "n_folds", "n_seeds", "n_truth", "scaling", "seeds_per_block", "max_rows")
LAPTOP = "laptop"  # the scale that every study has
LISTS = ("datasets", "partitioners", "learners", "n_folds")
Misfit = Callable[[str, str, Any], str | None]  # study, key, value -> reason why the value makes no sense in the study


class MergedConfig(NamedTuple):
    """A configuration in which every study carries its own complete settings; names in it are not checked yet."""

    config: dict[str, Any]  # settings of the engine, and of each study below ``studies``
    catalogue: dict[str, CatalogueEntry]  # data sets by name, those of `extra_datasets` included
    learners: dict[str, dict[str, Any]]  # entries of the learners file by id
    studies: dict[str, StudyInfo]  # all studies by id
    notes: list[str]  # settings that are passed over, and why: a line each


def merge_config(read: ReadConfig, targets: Sequence[str] = ()) -> MergedConfig:
    """Merge a configuration as it was read with scales, defaults and overrides.

    Where `targets` name single studies, every value of the overrides must fit one of them.
    """
    raw = at_scale(read.raw, read.studies)
    filled = fill_in(raw, read.schema)
    catalogue = add_entries(read_catalogue(read.located(filled["catalogue"])), filled["extra_datasets"])
    learners = read_learners(read.located(filled["learners_file"]))
    notes: list[str] = []
    misfit = fitting(filled, catalogue, learners, read.studies)
    config = resolve(raw, read.schema, misfit, named_studies(targets, filled["studies"]), notes)
    return MergedConfig(config, catalogue, learners, read.studies, notes + _unused(config))


def at_scale(config: dict[str, Any], studies: dict[str, StudyInfo]) -> dict[str, Any]:
    """Put the settings that a study has at the scale of the configuration below those that the configuration gives itself."""
    config, scale = copy.deepcopy(dict(config)), config.get("scale", LAPTOP)
    chosen = config.get("studies")
    if chosen is not None and not isinstance(chosen, dict):
        raise ConfigError(
            f"studies={chosen!r} must map ids of studies to their settings, e.g. `studies: {{{next(iter(studies))}: {{}}}}`"
        )
    for name, own in (chosen or {}).items():
        if name not in studies:
            raise ConfigError(unknown("study in studies", name, studies, "A study of your own: name its folder in studies_from."))
        if own is not None and not isinstance(own, dict):
            raise ConfigError(f"studies.{name}={own!r} must hold settings and their values, e.g. {{n_seeds: 10}}, or nothing")
    scales = list(dict.fromkeys(known for study in studies.values() for known in study.scales))
    if scale not in scales:
        raise ConfigError(unknown("scale", scale, scales))
    config["studies"] = {
        name: _merged(study.scales.get(scale, study.scales[LAPTOP]), (chosen or {}).get(name) or {})
        for name, study in studies.items()
        if chosen is None or name in chosen
    }
    return config


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Settings over settings, key by key; a dictionary within goes over the one below it."""
    merged = copy.deepcopy(below)
    for key, value in above.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merged(merged[key], value) if both else copy.deepcopy(value)
    return merged


def fill_in(config: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Fill in defaults and check against the schema."""
    config = copy.deepcopy(dict(config))
    for key in LISTS:
        if key in config:
            config[key] = _as_list(config[key])
    if isinstance(config.get("max_rows"), dict):  # the command line gives text
        config["max_rows"] = {
            name: yaml.safe_load(value) if isinstance(value, str) else value for name, value in config["max_rows"].items()
        }
    check_schema(config, schema)
    fill_defaults(config, schema)
    return config


def fits_all(study: str, key: str, value: Any) -> None:
    """Say of every value that it fits every study."""


def resolve(
    config: dict[str, Any],
    schema: dict[str, Any],
    misfit: Misfit = fits_all,
    named: Collection[str] | None = None,
    notes: list[str] | None = None,
) -> dict[str, Any]:
    """Fill in defaults, apply the overrides of the command line to every study that they fit, and check against the schema.

    `named` are the studies that are to run, by default all; `notes` gets a line for each of them that passes over values.
    """
    config = fill_in(config, schema)
    named, notes = list(config["studies"] if named is None else named), [] if notes is None else notes
    for key in OVERRIDES:
        if key in config:
            _override(key, config, schema, misfit, named, notes)
    check_schema(config, schema)
    for name, study in config["studies"].items():
        if "schemes" in study:
            choose_schemes(name, study)
    return config


def _override(
    key: str, config: dict[str, Any], schema: dict[str, Any], misfit: Misfit, named: Collection[str], notes: list[str]
) -> None:
    """Apply one setting of the top level to every study that has it and that it fits, in place."""
    settings = schema["properties"]["studies"]["properties"]
    takers = [name for name in config["studies"] if key in settings[name]["properties"]]
    if not set(takers) & set(named):
        others = f"it is a setting of {', '.join(takers)}" if takers else "no study of this configuration has such a setting"
        raise ConfigError(f"{key}={_shown(config[key])} says nothing to {' and '.join(named)}: {others}; leave it out")
    if key not in LISTS:
        for name in takers:
            config["studies"][name][key] = copy.deepcopy(config[key])
        return
    reasons = {name: {str(value): misfit(name, key, value) for value in config[key]} for name in takers}
    for value in map(str, config[key]):
        found = [reasons[name][value] for name in takers if name in named]
        if all(found):
            raise ConfigError(f"{key}={value} fits no study of this run: {'; '.join(map(str, dict.fromkeys(found)))}")
    for name in takers:
        if name not in named:
            continue  # others keep their own list
        own = [value for value in config[key] if not reasons[name][str(value)]]
        if own:
            config["studies"][name][key] = own
        if len(own) < len(config[key]):
            left_out = next(reason for reason in reasons[name].values() if reason)
            notes.append(f"{key}: {name} {f'takes {_shown(own)}' if own else 'keeps its own list'} ({left_out})")


def _shown(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def fitting(
    config: dict[str, Any],
    catalogue: dict[str, CatalogueEntry],
    learners: dict[str, dict[str, Any]],
    studies: dict[str, StudyInfo],
) -> Misfit:
    """Make the function that tells which values of the command line fit which study, for `resolve`."""

    def misfit(study: str, key: str, value: str | int) -> str | None:
        task, own = studies[study].task, studies[study].schema["properties"]
        if key == "datasets":
            if value in catalogue and task not in (None, catalogue[value].task):
                return f"{value} is a {catalogue[value].task} data set; {study} takes {task} data sets"
        elif key == "learners" and task is None:  # learners of the study's own
            allowed = own["learners"]["items"].get("enum", ())
            if value not in allowed:
                return f"{study} has learners of its own: {', '.join(map(str, allowed))}"
        elif key == "learners":
            if value in learners and task not in learners[value]["tasks"]:
                return f"{value} does {' and '.join(learners[value]['tasks'])}; {study} takes learners of {task}"
        elif key == "partitioners":
            if is_partitioner(value) and task not in find_partitioner(str(value)).tasks:
                return f"{value} is not a partitioner of {task}; {study} takes {', '.join(known_partitioners(task))}"
        elif (schemes := config["studies"][study].get("schemes")) is not None and value not in iterations(schemes):
            known = ", ".join(map(str, iterations(schemes)))
            return f"k={value} has no scheme in {study}; allowed: {known}, or add {value}x1 to its schemes"
        return None

    return misfit


def _unused(config: dict[str, Any]) -> list[str]:
    """Lines on what the configuration describes and no study takes."""
    return [
        f"{described}: {name} is in no study of this run; add it to the {key} of a study"
        for described, key in (("extra_datasets", "datasets"), ("own_partitioners", "partitioners"))
        for name in config[described]
        if not any(name in settings.get(key, ()) for settings in config["studies"].values())
    ]


def _as_list(value: str | int | list[int]) -> list[Any]:
    """Lists on the command line: ``datasets=a,b`` means the same as ``datasets=[a,b]``."""
    if isinstance(value, str):
        return [yaml.safe_load(part) for part in value.split(",") if part.strip()]
    return value if isinstance(value, list) else [value]
