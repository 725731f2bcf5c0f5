"""Entry of the catalogue for one data set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foldshift.core.types import Task

TASKS = ("regression", "classification")
NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"  # of a data set: it becomes a folder


STRUCTURE = {"groups": ("groups", "group_on"), "time_on": ("time_on",), "space_on": ("space_on",), "subset_on": ("subset_on",)}


@dataclass(frozen=True)
class CatalogueEntry:
    """One data set of the catalogue."""

    name: str  # identifier of the data set, lower case
    task: Task  # kind of the target: a number or a class
    target: str = ""  # name of the target column, used if a file does not declare one. Empty: the last column
    n_rows: int | None = None  # rows without missing values; None if not known
    n_features: int | None = None  # input columns; None if not known
    fingerprint: str = ""  # `foldshift.datasets.readers.raw_table.fingerprint` of the table; empty if not known
    sources: tuple[str, ...] = ()  # sources in order of preference, written as in `foldshift.datasets.sources.fetch.parse_source`
    title: str = ""  # name for reports
    citation: str = ""  # publication to cite
    licence: str = ""  # licence of the data as stated publicly
    optin_sources: tuple[str, ...] = ()  # further sources, used only if the user asks for them
    # whether the data are user-defined, with nothing known about them: see `foldshift.datasets.readers.infer`. Not a column of a
    # catalogue
    own: bool = False

    @property
    def structure(self) -> frozenset[str]:
        """Settings among `STRUCTURE` that a source names columns for: how rows belong together."""
        given = {option.partition("=")[0] for source in self.sources for option in source.partition("?")[2].split("&")}
        return frozenset(name for name, words in STRUCTURE.items() if given & set(words))
