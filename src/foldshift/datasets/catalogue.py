"""The catalogue: what every data set is, and where it can be had."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldshift.core.errors import ConfigError, DataError, unknown
from foldshift.datasets.catalogue_entry import TASKS, CatalogueEntry
from foldshift.datasets.sources.fetch import DEFAULT_HOSTS, fetch, parse_source

if TYPE_CHECKING:
    from foldshift.core.types import PathLike, Scaling
    from foldshift.datasets.dataset import Dataset

DEFAULT_CATALOGUE = Path(__file__).with_name("catalogue.tsv")
COLUMNS = tuple(field.name for field in fields(CatalogueEntry) if field.name != "own")
REQUIRED = ("name", "task", "target", "sources")


def read_catalogue(path: PathLike = DEFAULT_CATALOGUE) -> dict[str, CatalogueEntry]:
    """Read a catalogue of data sets.

    Parameters
    ----------
    path : path-like, default: the catalogue that comes with the library
        Tab-separated text with a header line; columns as the attributes of `CatalogueEntry`, of which ``name``, ``task``,
        ``target`` and ``sources`` must be there. Lines that begin with ``#`` are comments.

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
            raise ConfigError(f"catalogue {path}: column {column!r} stands there twice; remove one")
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
            raise ConfigError(f"{where}: data set {entry.name} stands there twice; names must differ")
        catalogue[entry.name] = entry
    return catalogue


def make_entry(values: dict[str, str | int], where: str, own: bool = False) -> CatalogueEntry:
    """Make a catalogue entry of plain values, with every column checked."""
    values = {key: str(value).strip() for key, value in values.items() if str(value).strip() and value is not None}
    for column in values:
        if column not in COLUMNS:
            raise ConfigError(f"{where}: {unknown('column', column, COLUMNS)}")
    for column in REQUIRED:
        if column not in values:
            raise ConfigError(f"{where}: {column} is empty; give {', '.join(REQUIRED)}")
    name = values["name"]
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise ConfigError(f"{where}: name={name!r} may hold letters, digits, '.', '_' and '-' only: it becomes a folder")
    if values["task"] not in TASKS:
        raise ConfigError(f"{where}: task={values['task']!r} must be {' or '.join(TASKS)}")
    for column, least in (("n_rows", 2), ("n_features", 1)):
        if column in values:
            if not re.fullmatch(r"[0-9]{1,9}", values[column]) or int(values[column]) < least:
                raise ConfigError(f"{where}: {column}={values[column]!r} must be a whole number of at least {least}")
            values[column] = int(values[column])
    if not re.fullmatch(r"[0-9a-f]{16}|", values.get("fingerprint", "")):
        raise ConfigError(f"{where}: fingerprint={values['fingerprint']!r} must be 16 hexadecimal digits, lower case")
    for column in ("sources", "optin_sources"):
        values[column] = tuple(values.get(column, "").split())
        for source in values[column]:
            try:
                parse_source(source)
            except DataError as error:
                raise ConfigError(f"{where}: {column}: {error}") from error
    return CatalogueEntry(**values, own=own or not values.get("fingerprint"))


def add_entries(catalogue: dict[str, CatalogueEntry], extra: dict[str, dict[str, Any]]) -> dict[str, CatalogueEntry]:
    """Add the data sets that a configuration describes."""
    added = dict(catalogue)
    for name, values in extra.items():
        if name in catalogue:
            raise ConfigError(f"extra_datasets: {name} is in the catalogue already; choose another name")
        if not isinstance(values, Mapping):
            raise ConfigError(f"extra_datasets.{name}={values!r} must hold {', '.join(REQUIRED[1:])}")
        added[name] = make_entry({**values, "name": name}, f"extra_datasets.{name}", own=True)
    return added


def find(name: str, catalogue: dict[str, CatalogueEntry]) -> CatalogueEntry:
    """Entry of a data set by name."""
    if name not in catalogue:
        raise DataError(unknown("data set", name, catalogue))
    return catalogue[name]


def load_dataset(
    name: str,
    *,
    scaling: Scaling = "none",
    mirror: PathLike | None = None,
    catalogue: PathLike | None = DEFAULT_CATALOGUE,
    cache: PathLike | None = None,
) -> Dataset:
    """Fetch and prepare a data set of the catalogue.

    Parameters
    ----------
    name : str
        Name in the catalogue, e.g. ``"wdbc"``.
    scaling : {"none", "global", "fold"}, default="none"
        ``global`` scales numeric inputs and a regression target to [0, 1].
    mirror : path-like or str, optional
        Folder or URL with the files of the catalogue's ``mirror:`` sources.
    catalogue : path-like, optional
        Another catalogue than the one that comes with the library.
    cache : path-like, optional
        Folder of downloads; by default ``foldshift`` in the user's cache folder.

    Returns
    -------
    data : foldshift.datasets.prepare.Dataset
        ``X, y, feature_names, categorical_features, classes, groups, task`` and more.

    Raises
    ------
    DataError
        If the name is unknown or no source gives the data set.

    Examples
    --------
    >>> from foldshift.datasets import load_dataset
    >>> load_dataset("diabetes").X.shape
    (442, 10)
    """
    from foldshift.datasets.prepare import prepare

    entry = find(name, read_catalogue(catalogue))
    if cache is None:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "foldshift"
    fetched = fetch(entry, mirror=mirror, hosts=DEFAULT_HOSTS, cache=cache, progress=lambda message: None)
    return prepare(
        fetched.table, name, entry.task, scaling=scaling, expected_rows=entry.n_rows, expected_features=entry.n_features
    )
