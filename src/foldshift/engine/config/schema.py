"""Configuration: filled with defaults and checked against its schema."""

import copy
from pathlib import Path

import jsonschema
import yaml

from foldshift.core.errors import ConfigError, unknown
from foldshift.engine.config.schemes import choose_schemes, iterations
from foldshift.partition.registry import find_partitioner, known_partitioners

OVERRIDES = ("datasets", "partitioners", "learners", "n_folds", "n_seeds", "n_truth", "scaling", "seeds_per_block", "max_rows")
LAPTOP = "laptop"  # the scale that every study has
LISTS = ("datasets", "partitioners", "learners", "n_folds")


class _Loader(yaml.SafeLoader):
    """Refuses a key that stands twice: YAML would take the last one without a word."""

    def construct_mapping(self, node, deep=False):
        seen = {}
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                if key.value in seen:
                    problem = f"{key.value!r} stands there twice, first in line {seen[key.value]}"
                    raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
                seen[key.value] = key.start_mark.line + 1
        return super().construct_mapping(node, deep)


def read_yaml(path, what):
    """Read a YAML file safely.

    Parameters
    ----------
    path : path-like
    what : str
        What the file is, for messages.

    Returns
    -------
    content : object

    Raises
    ------
    ConfigError
        If the file is missing or is not YAML, with its name and the line.
    """
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


def compose_schema(schema, studies):
    """Schema of the whole configuration: that of the engine, with the settings of every study.

    Parameters
    ----------
    schema : dict
        ``workflow/schemas/config.schema.yaml``.
    studies : dict of str to foldshift.engine.study.find.Found
        The studies.

    Returns
    -------
    schema : dict
        A new dictionary.
    """
    whole = copy.deepcopy(schema)
    whole["properties"]["studies"]["properties"] = {name: copy.deepcopy(study.schema) for name, study in studies.items()}
    return whole


def at_scale(config, studies):
    """Put the settings that a study has at the scale of the configuration below those that the configuration gives itself.

    Parameters
    ----------
    config : dict
        Configuration as read; ``studies`` may name some studies, with settings or without, or be absent: all of them.
    studies : dict of str to foldshift.engine.study.find.Found
        The studies.

    Returns
    -------
    config : dict
        A new dictionary.

    Raises
    ------
    ConfigError
        If it names a study or a scale that does not exist.
    """
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


def _merged(below, above):
    """Settings over settings, key by key; a dictionary within goes over the one below it."""
    merged = copy.deepcopy(below)
    for key, value in above.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merged(merged[key], value) if both else copy.deepcopy(value)
    return merged


def fill_in(config, schema):
    """Fill in defaults and check against the schema.

    Parameters
    ----------
    config : dict
        Configuration as read, command line included.
    schema : dict
        JSON schema of the configuration.

    Returns
    -------
    filled : dict
        A new dictionary.

    Raises
    ------
    ConfigError
        At the first mistake: the key, the value received, what is allowed.
    """
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


def resolve(config, schema, misfit=lambda study, key, value: None, named=None, notes=None):
    """Fill in defaults, apply the overrides of the command line to every study that they fit, and check against the schema.

    Parameters
    ----------
    config : dict
        Configuration as read, command line included.
    schema : dict
        JSON schema of the configuration.
    misfit : callable, optional
        ``misfit(study, key, value)``: why one value of a list (a data set, a learner ...) makes no sense in a study, or None; see
        `fitting`. A study takes the values that fit it, and keeps its own list if none does.
    named : collection of str, optional
        Studies that are to run; by default all. Every value must make sense in one of them.
    notes : list of str, optional
        Gets a line for every study of them that passes over values, with the reason.

    Returns
    -------
    resolved : dict
        A new dictionary; every study carries its own complete settings.

    Raises
    ------
    ConfigError
        At the first mistake: the key, the value received, what is allowed.
    """
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


def _shown(value):
    return ",".join(map(str, value)) if isinstance(value, list) else value


def fitting(config, catalogue, learners, studies):
    """Make the function that tells which values of the command line fit which study, for `resolve`.

    Parameters
    ----------
    config : dict
        Configuration with its defaults filled in.
    catalogue, learners : dict
        Data sets and learners by name.
    studies : dict of str to foldshift.engine.study.find.Found
        The studies.

    Returns
    -------
    misfit : callable
        ``misfit(study, key, value)``: the reason, or None. A value that nobody knows fits every study: it is a mistake, and a
        message names it.
    """

    def misfit(study, key, value):
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


def is_partitioner(name):
    """Whether a name is that of one of the library's partitioners."""
    try:
        find_partitioner(str(name))
    except ValueError:
        return False
    return True


def _as_list(value):
    """Lists on the command line: ``datasets=a,b`` means the same as ``datasets=[a,b]``."""
    if isinstance(value, str):
        return [yaml.safe_load(part) for part in value.split(",") if part.strip()]
    return value if isinstance(value, list) else [value]


def _fill(values, schema):
    for key, part in schema.get("properties", {}).items():
        if key not in values and "default" in part:
            values[key] = copy.deepcopy(part["default"])
        if isinstance(values.get(key), dict):
            _fill(values[key], part)


def _check(config, schema):
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


def _one_line(error):
    where = ".".join(str(part) for part in error.path) or "configuration"
    if error.validator == "additionalProperties":
        allowed = list(error.schema.get("properties", {}))
        extra = next(key for key in error.instance if key not in allowed)
        return unknown("config key" if where == "configuration" else f"key in {where}", extra, allowed)
    if error.validator == "required":
        lacking = next(key for key in error.validator_value if key not in error.instance)
        return f"{where}: key {lacking!r} is missing; it needs {', '.join(error.validator_value)}"
    return f"{where}={error.instance!r} {_allowed(error)}"


def _allowed(error):
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
