"""Entry of the catalogue for one data set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foldshift.core.types import Task

TASKS = ("regression", "classification")


@dataclass(frozen=True)
class CatalogueEntry:
    """One data set of the catalogue.

    Attributes
    ----------
    name : str
        Identifier of the data set, lower case.
    task : {"regression", "classification"}
        Kind of the target: a number or a class.
    target : str, default=""
        Name of the target column, used if a file does not declare one. Empty: the last column.
    n_rows : int or None, default=None
        Rows without missing values; None if not known.
    n_features : int or None, default=None
        Input columns; None if not known.
    fingerprint : str, default=""
        `foldshift.datasets.readers.raw_table.fingerprint` of the table; empty if not known.
    sources : tuple of str, default=()
        Sources in order of preference, written as in `foldshift.datasets.sources.fetch.parse_source`.
    title : str, default=""
        Name for reports.
    citation : str, default=""
        Publication to cite.
    licence : str, default=""
        Licence of the data as stated publicly.
    optin_sources : tuple of str, default=()
        Further sources, used only if the user asks for them.
    own : bool, default=False
        Whether the data are user-defined, with nothing known about them: see `foldshift.datasets.readers.infer`. Not a column
        of a catalogue.
    """

    name: str
    task: Task
    target: str = ""
    n_rows: int | None = None
    n_features: int | None = None
    fingerprint: str = ""
    sources: tuple[str, ...] = ()
    title: str = ""
    citation: str = ""
    licence: str = ""
    optin_sources: tuple[str, ...] = ()
    own: bool = False
