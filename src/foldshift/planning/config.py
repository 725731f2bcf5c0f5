"""Configuration: filled with defaults and checked against its schema."""

import copy
from pathlib import Path

import jsonschema
import yaml

from foldshift.errors import ConfigError, unknown
from foldshift.partition.registry import CLASS_PARTITIONERS, n_strata_of
from foldshift.planning.schemes import choose_schemes, iterations

OVERRIDES = ("datasets", "partitioners", "learners", "n_folds", "n_seeds", "n_truth", "scaling", "seeds_per_block", "max_rows")
LAPTOP = "laptop"  # the scale that every study has
LISTS = ("datasets", "partitioners", "learners", "n_folds")


def read_yaml(path, what):
    """Read a YAML file safely.

    Raises
    ------
    ConfigError
        If the file is missing or is not YAML.
    """
    try:
        return yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{what}: cannot read {path}: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{what}: {path} is not valid YAML: {' '.join(str(error).split())}") from error


def compose_schema(schema, studies):
    """Schema of the whole configuration: that of the engine, with the settings of every study.

    Parameters
    ----------
    schema : dict
        ``workflow/schemas/config.schema.yaml``.
    studies : dict of str to foldshift.studies.load.Found
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
    studies : dict of str to foldshift.studies.load.Found
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
    for name in chosen or ():
        if name not in studies:
            raise ConfigError(unknown("study in studies", name, studies, "A study of your own: name its folder in studies_from."))
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


def resolve(config, schema, fits=lambda study, key, value: True):
    """Fill in defaults, apply the overrides of the command line to every study that they fit, and check against the schema.

    Parameters
    ----------
    config : dict
        Configuration as read, command line included.
    schema : dict
        JSON schema of the configuration.
    fits : callable, optional
        ``fits(study, key, value)``: whether one value of a list (a data set, a learner ...) makes sense in a study; see
        `fitting`. A study takes the values that fit it, and keeps its own list if none does but some fit another study.

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
    for key in OVERRIDES:
        takers = [name for name in config["studies"] if key in schema["properties"]["studies"]["properties"][name]["properties"]]
        if key not in config:
            continue
        if key not in LISTS:
            for name in takers:
                config["studies"][name][key] = copy.deepcopy(config[key])
            continue
        fitting_values = {name: [value for value in config[key] if fits(name, key, value)] for name in takers}
        for name in takers:
            if fitting_values[name] or not any(fitting_values.values()):
                config["studies"][name][key] = fitting_values[name] or list(config[key])
    _check(config, schema)
    for name, study in config["studies"].items():
        if "schemes" in study:
            choose_schemes(name, study)
    return config


def fitting(config, catalogue, learners, studies):
    """Make the function that tells which values of the command line fit which study, for `resolve`.

    Parameters
    ----------
    config : dict
        Configuration with its defaults filled in.
    catalogue, learners : dict
        Data sets and learners by name.
    studies : dict of str to foldshift.studies.load.Found
        The studies.

    Returns
    -------
    fits : callable
        A value that nobody knows fits every study: it is a mistake, and a message names it.
    """

    def fits(study, key, value):
        task, own = studies[study].task, studies[study].schema["properties"]
        if key == "datasets":
            return value not in catalogue or catalogue[value].task == task
        if key == "learners":
            if task is None:  # learners of the study's own
                return value in own["learners"]["items"].get("enum", ())
            return value not in learners or task in learners[value]["tasks"]
        if key == "partitioners":
            of_classes = value in CLASS_PARTITIONERS
            of_targets = not of_classes and _is_regression_partitioner(value)
            return not (of_classes or of_targets) or of_classes == (task == "classification")
        schemes = config["studies"][study].get("schemes")
        return schemes is None or value in iterations(schemes)

    return fits


def _is_regression_partitioner(name):
    try:
        n_strata_of(str(name))
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


def _one_line(error):
    where = ".".join(str(part) for part in error.path) or "configuration"
    if error.validator == "additionalProperties":
        allowed = list(error.schema.get("properties", {}))
        extra = next(key for key in error.instance if key not in allowed)
        return unknown("config key" if where == "configuration" else f"key in {where}", extra, allowed)
    if error.validator == "required":
        return f"{where}: {error.message}"
    limits = {"minimum": "at least", "maximum": "at most", "exclusiveMinimum": "above", "exclusiveMaximum": "below"}
    if error.validator in limits:
        allowed = f"must be {limits[error.validator]} {error.validator_value}"
    elif error.validator == "enum":
        allowed = f"must be one of {', '.join(map(str, error.validator_value))}"
    elif error.validator == "type":
        kinds = error.validator_value
        allowed = f"must be of type {kinds if isinstance(kinds, str) else ' or '.join(kinds)}"
    elif error.validator == "uniqueItems":
        allowed = "must not repeat a value"
    elif error.validator in ("minItems", "minProperties", "minLength"):
        allowed = "must not be empty"
    else:
        allowed = error.message
    return f"{where}={error.instance!r} {allowed}"
