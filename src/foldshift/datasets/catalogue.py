"""The catalogue of data sets: task, target, expected size and sources of each."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldshift.core.errors import ConfigError, DataError, unknown
from foldshift.core.files import check_is_path
from foldshift.datasets.catalogue_entry import NAME, TASKS, CatalogueEntry
from foldshift.datasets.sources.fetch import DEFAULT_HOSTS, fetch, parse_source

if TYPE_CHECKING:
    from foldshift.core.types import PathLike, Scaling
    from foldshift.datasets.dataset import Dataset

_INSTALLED = Path(__file__).with_name("catalogue.tsv")  # setup.py puts it there
DEFAULT_CATALOGUE = _INSTALLED if _INSTALLED.exists() else Path(__file__).parents[3] / "config" / "datasets.tsv"
COLUMNS = tuple(field.name for field in fields(CatalogueEntry) if field.name != "own")
REQUIRED = ("name", "task", "target", "sources")


def read_catalogue(path: PathLike = DEFAULT_CATALOGUE) -> dict[str, CatalogueEntry]:
    """Read a catalogue of data sets.

    Parameters
    ----------
    path : path-like, default: the catalogue that comes with the library
        Tab-separated text with a header line. Its columns are the attributes of `CatalogueEntry`; ``name``, ``task``,
        ``target`` and ``sources`` are required. Lines that begin with ``#`` are comments.

    Returns
    -------
    catalogue : dict of str to CatalogueEntry
        In the order of the file.

    Raises
    ------
    ConfigError
        At the first mistake; the message names file, line and column.

    Examples
    --------
    >>> from foldshift.datasets import read_catalogue
    >>> entry = read_catalogue()["wdbc"]
    >>> entry.task, entry.n_rows, entry.n_features
    ('classification', 569, 30)
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"catalogue: cannot read {path}: {error.strerror}; check the path") from error
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"catalogue {path} is not UTF-8 text (byte {error.start}); save it as tab-separated UTF-8 text"
        ) from error
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip() and not line.startswith("#")]
    if not lines:
        raise ConfigError(f"catalogue {path} is empty; the first line names the columns {', '.join(REQUIRED)}")
    header, *rows = [[field.strip() for field in line.split("\t")] for _, line in lines]
    for column in header:
        if column not in COLUMNS:
            raise ConfigError(unknown(f"column of catalogue {path}", column, COLUMNS))
        if header.count(column) > 1:
            raise ConfigError(f"catalogue {path}: column {column!r} occurs twice; remove one")
    for column in REQUIRED:
        if column not in header:
            raise ConfigError(f"catalogue {path}: column {column!r} is missing; the first line must name {', '.join(REQUIRED)}")
    catalogue = {}
    for (number, _), row in zip(lines[1:], rows):
        where = f"catalogue {path}, line {number}"
        if len(row) != len(header):
            raise ConfigError(f"{where}: {len(row)} fields, the header has {len(header)}; separate them by tabs")
        entry = make_entry(dict(zip(header, row)), where)
        if entry.name in catalogue:
            raise ConfigError(f"{where}: data set {entry.name} occurs twice; names must differ")
        catalogue[entry.name] = entry
    return catalogue


def make_entry(given: Mapping[str, Any], where: str, own: bool = False) -> CatalogueEntry:
    """Make a catalogue entry from the values of its columns, checked; messages begin with `where`.

    Empty values count as absent. An entry without fingerprint is always user-defined.
    """
    values = {key: str(value).strip() for key, value in given.items() if str(value).strip() and value is not None}
    for column in values:
        if column not in COLUMNS:
            raise ConfigError(f"{where}: {unknown('column', column, COLUMNS)}")
    for column in REQUIRED:
        if column not in values:
            raise ConfigError(f"{where}: {column} is empty; give {', '.join(REQUIRED)}")
    name = values["name"]
    if not re.fullmatch(NAME, name):
        raise ConfigError(f"{where}: name={name!r} may hold letters, digits, '.', '_' and '-' only: it becomes a folder")
    if values["task"] not in TASKS:
        raise ConfigError(f"{where}: task={values['task']!r} must be {' or '.join(TASKS)}")
    for column, least in (("n_rows", 2), ("n_features", 1)):
        if column in values and (not re.fullmatch(r"[0-9]{1,9}", values[column]) or int(values[column]) < least):
            raise ConfigError(f"{where}: {column}={values[column]!r} must be a whole number of at least {least}")
    if not re.fullmatch(r"[0-9a-f]{16}|", values.get("fingerprint", "")):
        raise ConfigError(f"{where}: fingerprint={values['fingerprint']!r} must be 16 hexadecimal digits, lower case")
    fields: dict[str, Any] = {**values, "own": own or not values.get("fingerprint")}
    fields |= {column: int(values[column]) for column in ("n_rows", "n_features") if column in values}
    for column in ("sources", "optin_sources"):
        fields[column] = tuple(values.get(column, "").split())
        for source in fields[column]:
            try:
                parse_source(source)
            except DataError as error:
                raise ConfigError(f"{where}: {column}: {error}") from error
    return CatalogueEntry(**fields)


def add_entries(catalogue: Mapping[str, CatalogueEntry], extra: Mapping[str, Mapping[str, Any]]) -> dict[str, CatalogueEntry]:
    """Return a catalogue with the data sets that a configuration adds."""
    added = dict(catalogue)
    for name, values in extra.items():
        if name in catalogue:
            raise ConfigError(f"extra_datasets: {name} is in the catalogue already; choose another name")
        if not isinstance(values, Mapping):
            raise ConfigError(f"extra_datasets.{name}={values!r} must hold {', '.join(REQUIRED[1:])}")
        added[name] = make_entry({**values, "name": name}, f"extra_datasets.{name}", own=True)
    return added


def find(name: str, catalogue: Mapping[str, CatalogueEntry]) -> CatalogueEntry:
    """Find the entry of a data set by name."""
    if name not in catalogue:
        raise DataError(unknown("data set", name, catalogue))
    return catalogue[name]


def load_dataset(
    name: PathLike,
    *,
    scaling: Scaling = "none",
    mirror: PathLike | None = None,
    catalogue: PathLike = DEFAULT_CATALOGUE,
    cache: PathLike | None = None,
    **options: Any,
) -> Dataset:
    """Fetch and prepare a data set of the catalogue, or read and prepare a file.

    Parameters
    ----------
    name : str or path-like
        Name in the catalogue, e.g. ``"wdbc"``, or the path of a file.
    scaling : {"none", "global", "fold"}, default="none"
        ``global`` scales numeric inputs and a regression target to [0, 1].
    mirror : path-like or str, optional
        Folder or URL with the files of the catalogue's ``mirror:`` sources.
    catalogue : path-like, optional
        Catalogue to use; by default the one that comes with the library.
    cache : path-like, optional
        Folder for downloads; by default ``foldshift`` in the user's cache folder.
    **options
        For a file: those of `foldshift.datasets.read_file`, such as ``target`` and ``task``.

    Returns
    -------
    data : foldshift.datasets.Dataset
        ``X, y, feature_names, categorical_features, classes, groups, task`` and more.

    Raises
    ------
    DataError
        If the name is unknown or no source provides the data set.

    Examples
    --------
    >>> from foldshift.datasets import load_dataset
    >>> load_dataset("diabetes").X.shape
    (442, 10)
    """
    from foldshift.datasets.own_files import load_file
    from foldshift.datasets.prepare import prepare

    check_is_path(name)
    entries, name = read_catalogue(catalogue), os.fspath(name)
    if name not in entries and (options or Path(name).suffix or Path(name).exists()):
        return load_file(name, scaling, **options)
    if options:
        raise DataError(f"data set {name} of the catalogue takes no option {next(iter(options))!r}; options are for files")
    entry = find(name, entries)
    if cache is None:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "foldshift"
    fetched = fetch(entry, mirror=mirror, hosts=DEFAULT_HOSTS, cache=cache, progress=lambda message: None)
    return prepare(
        fetched.table, name, entry.task, scaling=scaling, expected_rows=entry.n_rows, expected_features=entry.n_features
    )
