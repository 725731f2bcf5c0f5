"""Configuration: filled with defaults and checked against its schema."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import yaml

from foldshift.core.errors import ConfigError, unknown
from foldshift.engine.config.schemes import choose_schemes, iterations
from foldshift.partition.registry import find_partitioner, known_partitioners

if TYPE_CHECKING:
    from foldshift.core.types import PathLike
    from foldshift.datasets.catalogue_entry import CatalogueEntry
    from foldshift.engine.study.find import Found

OVERRIDES = ("datasets", "partitioners", "learners", "n_folds", "n_seeds", "n_truth", "scaling", "seeds_per_block", "max_rows")
LAPTOP = "laptop"  # the scale that every study has
LISTS = ("datasets", "partitioners", "learners", "n_folds")


class _Loader(yaml.SafeLoader):
    """Refuses a key that stands twice: YAML would take the last one without a word."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[str, Any]:
        seen: dict[Any, Any] = {}
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                if key.value in seen:
                    problem = f"{key.value!r} stands there twice, first in line {seen[key.value]}"
                    raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
                seen[key.value] = key.start_mark.line + 1
        return super().construct_mapping(node, deep)


def read_yaml(path: PathLike, what: str) -> Any:
    """Read a YAML file safely."""
    try:
        return _Loader(Path(path).read_text(encoding="utf-8")).get_single_data()
    except OSError as error:
        raise ConfigError(f"{what}: cannot read {path}: {error.strerror}; check the path") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{what}: {path} is not UTF-8 text (byte {error.start}); save it as UTF-8") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}, line {mark.line + 1}" if mark else str(path)
        problem = "a tab; indent with blanks" if "'\\t'" in str(error) else getattr(error, "problem", None) or error
        raise ConfigError(f"{what}: {where}: not valid YAML ({' '.join(str(problem).split())}); mend the file") from error


def compose_schema(schema: dict[str, Any], studies: dict[str, Found]) -> dict[str, Any]:
    """Schema of the whole configuration: that of the engine, with the settings of every study."""
    whole = copy.deepcopy(schema)
    whole["properties"]["studies"]["properties"] = {name: copy.deepcopy(study.schema) for name, study in studies.items()}
    return whole


def at_scale(config: dict[str, Any], studies: dict[str, Found]) -> dict[str, Any]:
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
    _check(config, schema)
    _fill(config, schema)
    return config


def resolve(
    config: dict[str, Any],
    schema: dict[str, Any],
    misfit: Callable[..., Any] | None = lambda study, key, value: None,
    named: Collection[str] | None = None,
    notes: list[str] | None = None,
) -> dict[str, Any]:
    """Fill in defaults, apply the overrides of the command line to every study that they fit, and check against the schema."""
    config = fill_in(config, schema)
    named, notes = list(config["studies"] if named is None else named), [] if notes is None else notes
    for key in OVERRIDES:
        if key not in config:
            continue
        takers = [name for name in config["studies"] if key in schema["properties"]["studies"]["properties"][name]["properties"]]
        if not set(takers) & set(named):
            others = f"it is a setting of {', '.join(takers)}" if takers else "no study of this configuration has such a setting"
            raise ConfigError(f"{key}={_shown(config[key])} says nothing to {' and '.join(named)}: {others}; leave it out")
        if key not in LISTS:
            for name in takers:
                config["studies"][name][key] = copy.deepcopy(config[key])
            continue
        reasons = {name: {str(value): misfit(name, key, value) for value in config[key]} for name in takers}
        for value in map(str, config[key]):
            found = [reasons[name][value] for name in takers if name in named]
            if all(found):
                raise ConfigError(f"{key}={value} fits no study of this run: {'; '.join(dict.fromkeys(found))}")
        for name in takers:
            own = [value for value in config[key] if not reasons[name][str(value)]]
            if own and name in named:  # others keep what is their own
                config["studies"][name][key] = own
            if name in named and len(own) < len(config[key]):
                left_out = next(reason for reason in reasons[name].values() if reason)
                notes.append(f"{key}: {name} {'takes ' + _shown(own) if own else 'keeps its own list'} ({left_out})")
    _check(config, schema)
    for name, study in config["studies"].items():
        if "schemes" in study:
            choose_schemes(name, study)
    return config


def _shown(value: list[Any] | int) -> str | int:
    return ",".join(map(str, value)) if isinstance(value, list) else value


def fitting(
    config: dict[str, Any], catalogue: dict[str, CatalogueEntry], learners: dict[str, dict[str, Any]], studies: dict[str, Found]
) -> Callable[..., Any]:
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
                return f"{value} is no partitioner of {task}; {study} takes {', '.join(known_partitioners(task))}"
        elif (schemes := config["studies"][study].get("schemes")) is not None and value not in iterations(schemes):
            known = ", ".join(map(str, iterations(schemes)))
            return f"k={value} has no scheme in {study}; allowed: {known}, or add {value}x1 to its schemes"
        return None

    return misfit


def is_partitioner(name: Any) -> bool:
    """Whether a name is that of one of the library's partitioners."""
    try:
        find_partitioner(str(name))
    except ValueError:
        return False
    return True


def _as_list(value: str | int | list[int]) -> list[Any]:
    """Lists on the command line: ``datasets=a,b`` means the same as ``datasets=[a,b]``."""
    if isinstance(value, str):
        return [yaml.safe_load(part) for part in value.split(",") if part.strip()]
    return value if isinstance(value, list) else [value]


def _fill(values: dict[str, Any], schema: dict[str, Any]) -> None:
    for key, part in schema.get("properties", {}).items():
        if key not in values and "default" in part:
            values[key] = copy.deepcopy(part["default"])
        if isinstance(values.get(key), dict):
            _fill(values[key], part)


def _check(config: dict[str, Any], schema: dict[str, Any]) -> None:
    errors = sorted(jsonschema.Draft202012Validator(schema).iter_errors(config), key=lambda error: list(map(str, error.path)))
    if errors:
        raise ConfigError(_one_line(errors[0]))


LIMITS = {"minimum": "at least", "maximum": "at most", "exclusiveMinimum": "above", "exclusiveMaximum": "below"}
KINDS = {
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "boolean": "true or false",
    "array": "a list, such as [a, b]",
    "object": "keys and values, such as {key: value}",
    "null": "null",
}


def _one_line(error: Any) -> str:
    where = ".".join(str(part) for part in error.path) or "configuration"
    if error.validator == "additionalProperties":
        allowed = list(error.schema.get("properties", {}))
        extra = next(key for key in error.instance if key not in allowed)
        return unknown("config key" if where == "configuration" else f"key in {where}", extra, allowed)
    if error.validator == "required":
        lacking = next(key for key in error.validator_value if key not in error.instance)
        return f"{where}: key {lacking!r} is missing; it needs {', '.join(error.validator_value)}"
    return f"{where}={error.instance!r} {_allowed(error)}"


def _allowed(error: Any) -> str:
    """What a value must be, in words, and where the schema tells it what the key means."""
    validator, value = error.validator, error.validator_value
    about = " ".join(str(error.schema.get("description", "")).split()).rstrip(".")
    if validator in LIMITS:
        return f"must be {LIMITS[validator]} {value}"
    if validator == "enum":
        return f"must be one of {', '.join(map(str, value))}"
    if validator == "type":
        return f"must be {' or '.join(KINDS[kind] for kind in ([value] if isinstance(value, str) else value))}"
    if validator == "uniqueItems":
        return "must not repeat a value"
    if validator in ("minItems", "minProperties", "minLength"):
        return "must not be empty; leave the key out for its default"
    if validator == "pattern":
        return f"is not written as it must be{f': {about}' if about else f'; the pattern is {value}'}"
    return f"is not allowed{f': {about}' if about else f' ({error.message})'}"
