"""Records: what structure a table has, and how that is known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection

    from foldshift.core.types import Array, IntArray, Task


class Declared(NamedTuple):
    """Structure that the owner of a table knows; None for what is to be looked for."""

    groups: Any = None  # labels, shape (n,)
    times: Any = None  # numbers, dates, or texts that sort; shape (n,)
    coordinates: Any = None  # numbers, shape (n, 2)
    subsets: Any = None  # labels, shape (n,)


class Part(NamedTuple):
    """One kind of structure, and its source."""

    values: Array  # codes of groups or subsets, times as numbers or datetime64, shape (n,); coordinates, shape (n, 2)
    source: str  # "declared", or how it was found: "found: column 'site'"
    columns: tuple[str, ...] = ()  # columns that say it; empty if it was declared as an array
    code: str = ""  # code of the check that found it; empty if it was declared
    is_row_order: bool = False  # whether times are the order of the rows
    strength: float = float("nan")  # of what was found, in the words of its check
    beginning: str = ""  # that names of rows of the first row's group share; empty if names have nothing to do with it
    is_of_row_names: bool = False  # whether these names are no column of the inputs

    @property
    def is_declared(self) -> bool:
        """Return True if the owner declared it."""
        return self.source == "declared"


class Copies(NamedTuple):
    """Rows that are copies of each other, and what the search would have found."""

    codes: IntArray  # set of copies of every row, shape (n,); rows without a copy are sets of their own
    n_exact: int  # rows that another one equals
    n_near: int  # rows that are nearly another one, exact copies aside
    n_searched: int  # rows whose neighbours were looked at
    jitter: float  # largest error of copies, in standard deviations, that would be found; 0: exact copies only
    share: float  # in this share of the rows

    @property
    def any(self) -> bool:
        """True if there are copies."""
        return self.n_exact + self.n_near > 0


class Sentinel(NamedTuple):
    """A number that stands for a missing value."""

    column: str
    value: float
    n_rows: int


@dataclass(frozen=True)
class Structure:
    """Structure of a table, declared and found."""

    n: int
    task: Task
    has_texts: bool  # columns hold categories, which splitters must be told
    groups: Part | None = None
    times: Part | None = None
    coordinates: Part | None = None
    subsets: Part | None = None
    copies: Copies | None = None  # None if the columns cannot be looked at
    leaks: tuple[str, ...] = ()  # columns that give the target away by their values
    leaks_by_gaps: tuple[str, ...] = ()  # by what is missing in them
    formula: tuple[str, ...] = ()  # columns whose sum or product is the target
    rare: tuple[tuple[Any, int], ...] = ()  # classes below 5 % of the rows, and their rows
    sentinels: tuple[Sentinel, ...] = ()

    def without(self, codes: Collection[str]) -> Structure:
        """Drop what these checks found; what was declared stays."""

        def part(one: Part | None) -> Part | None:
            return None if one is not None and one.code in codes else one

        copies = self.copies
        if copies is not None and all(code in codes for code, n in (("D1", copies.n_exact), ("D2", copies.n_near)) if n):
            copies = None
        return replace(
            self,
            groups=part(self.groups),
            times=part(self.times),
            coordinates=part(self.coordinates),
            copies=copies,
            leaks=() if "L1" in codes else self.leaks,
            formula=() if "L1" in codes else self.formula,
            leaks_by_gaps=() if "L2" in codes else self.leaks_by_gaps,
            rare=() if "R1" in codes else self.rare,
            sentinels=() if "V1" in codes else self.sentinels,
        )
