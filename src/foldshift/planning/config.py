"""Configuration: filled with defaults, checked against its schema, and against the catalogue, before anything is planned."""

import copy
import os
import tempfile
from pathlib import Path
from urllib.parse import unquote

import jsonschema
import yaml

from foldshift.datasets.populations import POPULATIONS, TARGET_POPULATIONS
from foldshift.errors import ConfigError, unknown
from foldshift.importing import import_object, is_named
from foldshift.learners import EXPORTS
from foldshift.partition.registry import CLASS_PARTITIONERS, HINT, KNOWN, n_strata_of
from foldshift.planning.modules import module_files
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


def check_studies(config, catalogue, learners, studies, declared):
    """Check what the schema cannot know: names against catalogue and learners, folds and strata against the number of rows.

    Parameters
    ----------
    config : dict
        Resolved configuration.
    catalogue : dict of str to foldshift.datasets.entry.CatalogueEntry
        The data sets.
    learners : dict of str to dict
        The learners file.
    studies : dict of str to foldshift.studies.load.Found
        The studies.
    declared : dict of str to foldshift.studies.base.Study
        What they declare.

    Raises
    ------
    ConfigError
        At the first mistake.
    """
    for study, settings in config["studies"].items():
        task = studies[study].task
        for name in settings.get("datasets", []):
            if name not in catalogue:
                hint = f"Add a line to {config['catalogue']} or an entry to extra_datasets."
                same_task = [known for known, entry in catalogue.items() if entry.task == task]
                raise ConfigError(unknown(f"data set in {study}.datasets", name, same_task, hint))
            if catalogue[name].task != task:
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
        for part in ("held_out", "audit"):
            for name in settings.get(part, {}).get("populations", []):
                _check_population(
                    f"{study}.{part}", name, settings[part]["n_sample"], catalogue, task if part == "held_out" else None
                )
        for name in settings.get("audit", {}).get("learners", []):
            if name not in learners:
                raise ConfigError(
                    unknown(f"learner in {study}.audit.learners", name, learners, f"Add an entry to {config['learners_file']}.")
                )
        declared[study].check(settings)
        for name in settings.get("max_rows", {}):
            if name not in learners:
                raise ConfigError(unknown(f"learner in {study}.max_rows", name, learners))
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


def _check_partitioner(study, task, name, settings, config, catalogue):
    if name in config["own_partitioners"]:
        return
    if task == "classification":
        known = (*CLASS_PARTITIONERS, *config["own_partitioners"])
        if name not in known:
            raise ConfigError(unknown(f"partitioner in {study}.partitioners", name, known))
        return
    try:
        n_strata = n_strata_of(name)
    except ValueError:
        known = (*KNOWN, *config["own_partitioners"])
        raise ConfigError(unknown(f"partitioner in {study}.partitioners", name, known, HINT)) from None
    for dataset in settings["datasets"]:
        rows = catalogue[dataset].n_rows
        if n_strata is not None and rows is not None and n_strata > rows:
            raise ConfigError(
                f"{study}.partitioners: {name} wants {n_strata} strata, but data set {dataset} has {rows} rows; t must be "
                f"between 1 and {rows}"
            )


def _check_population(where, name, n_sample, catalogue, task):
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


def local_files(entry):
    """Local files of a data set that exist.

    Parameters
    ----------
    entry : foldshift.datasets.entry.CatalogueEntry
        The data set.

    Returns
    -------
    files : list of str
        Paths of its ``file:`` sources.
    """
    paths = [unquote(source[5:].split("?")[0]) for source in entry.sources if source.startswith("file:")]
    return [path for path in paths if os.path.isfile(path)]


def check_imports(config, learners, studies):
    """Check that everything that configuration names by import path exists.

    Parameters
    ----------
    config : dict
        Resolved configuration.
    learners : dict of str to dict
        The learners file; only the learners that a study uses are looked at.
    studies : dict of str to foldshift.studies.load.Found
        The studies.

    Raises
    ------
    ConfigError
        If an import fails; the message names the entry, or the file and line of the user's own that is not valid Python.
    """
    used = {name for study, settings in config["studies"].items() if studies[study].task for name in settings.get("learners", [])}
    wanted = [(f"learner {name} in {config['learners_file']}", learners[name]["import"]) for name in sorted(used)]
    wanted += [(f"own_partitioners.{name}", entry["import"]) for name, entry in config["own_partitioners"].items()]
    for what, path in wanted:
        module, _, name = path.rpartition(".")
        if module == "foldshift.learners" and name in EXPORTS:
            continue  # known without the second that importing it takes
        if module.partition(".")[0] == "sklearn" and is_named(path):
            continue  # so is this
        try:
            module_files(objects=[path])  # names a file that is not valid Python, and its line
            import_object(path, what)
        except ConfigError as error:
            raise ConfigError(f"{what}: {error}") from error
        except ValueError as error:
            raise ConfigError(str(error)) from error


PAPER = "@paper"  # ends the id of a learner with the switches of the paper configuration
LEARNER_KEYS = {
    "import": str,  # dotted path of a scikit-learn estimator class
    "params": dict,  # its parameters
    "tasks": list,  # regression, classification
    "nominal": str,  # codes, one_hot, or native: the learner takes categorical_features
    "replicates": int,  # evaluations with random_state 0, 1, ..., averaged
    "title": str,
    "paper": dict,  # what is different in the paper configuration: params (added to those above), nominal
}


def read_learners(path):
    """Read the learners file.

    Parameters
    ----------
    path : path-like
        YAML file: learner name to ``import``, ``tasks`` and optionally ``params``, ``nominal``, ``replicates``, ``title``.

    Returns
    -------
    learners : dict of str to dict
        Every entry complete with its defaults. An entry with a key ``paper`` comes twice: as it is, and with these changes as
        ``<name>@paper``.

    Raises
    ------
    ConfigError
        If the file cannot be read or an entry is wrong; the message names entry and key.
    """
    entries = read_yaml(path, "learners file")
    if not isinstance(entries, dict) or not entries:
        raise ConfigError(f"learners file {path} must map learner names to entries; got {type(entries).__name__}")
    learners = {}
    for name, entry in entries.items():
        if not isinstance(entry, dict):
            raise ConfigError(f"learner {name} in {path}: expected keys {', '.join(LEARNER_KEYS)}; got {entry!r}")
        for key, value in entry.items():
            if key not in LEARNER_KEYS:
                raise ConfigError(unknown(f"key of learner {name} in {path}", key, LEARNER_KEYS))
            if not isinstance(value, LEARNER_KEYS[key]):
                raise ConfigError(f"learner {name} in {path}: {key}={value!r} must be of type {LEARNER_KEYS[key].__name__}")
        for key in ("import", "tasks"):
            if key not in entry:
                raise ConfigError(f"learner {name} in {path}: key {key!r} is missing")
        entry = {"params": {}, "nominal": "codes", "replicates": 1, "title": name} | entry
        paper = entry.pop("paper", None)
        learners[name] = entry
        if paper is not None:
            for key in paper:
                if key not in ("params", "nominal"):
                    raise ConfigError(unknown(f"key of paper of learner {name} in {path}", key, ("params", "nominal")))
            learners[name + PAPER] = entry | paper | {"params": entry["params"] | paper.get("params", {})}
        if learners[name]["nominal"] not in ("codes", "one_hot", "native"):
            raise ConfigError(f"learner {name} in {path}: nominal={entry['nominal']!r} must be codes, one_hot or native")
        if learners[name]["replicates"] < 1:
            raise ConfigError(f"learner {name} in {path}: replicates={entry['replicates']} must be at least 1")
    return learners


def configured_learners(settings, learners):
    """Ids of the learners of a study in each of its configurations.

    Parameters
    ----------
    settings : dict
        Resolved settings of the study.
    learners : dict of str to dict
        The learners file, as `read_learners` reads it.

    Returns
    -------
    configurations : dict of str to dict of str to str
        Configuration to learner to id. A learner without switches has one id in both: it is evaluated once.
    """
    return {
        configuration: {
            name: name + PAPER if configuration == "paper" and name + PAPER in learners else name
            for name in settings.get("learners", [])
        }
        for configuration in settings.get("configurations", ["corrected"])
    }


def check_mirror(mirror):
    """Refuse a mirror that is neither an address nor a folder that exists.

    Parameters
    ----------
    mirror : str or None

    Raises
    ------
    ConfigError
    """
    if mirror and not mirror.startswith(("https://", "http://")) and not Path(mirror).is_dir():
        raise ConfigError(
            f"mirror={mirror!r} is not a folder; give a folder that exists (paths count from the folder you run in) or an address"
        )


def check_writable(folder, key):
    """Refuse an output folder that cannot be written, before work is done for it.

    Parameters
    ----------
    folder : path-like
        The folder; it need not exist yet.
    key : str
        Its config key, for the message.

    Raises
    ------
    ConfigError
        If it, or the nearest folder above it that exists, is not a folder or cannot be written.
    """
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
