"""Units of many small data sets: data sets that share jobs and files, so that neither grows with the number of data sets.

The name of a unit stands in rules where that of a data set does. Declarations of studies know data sets only: `Units.stored`
says which file holds theirs. A unit that earlier runs made is kept, so that added data sets make new ones beside it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from typing import Any

LEAST_IN_A_JOB = 10  # data sets that fit into a job, at least, where they share it: others have jobs of their own
MOST_IN_A_UNIT = 1000
PREFIX = "many-"
DIGITS = 12  # hexadecimal, of the names of its data sets


class Units:
    """Data sets that share jobs and files.

    Parameters
    ----------
    members : dict of str to tuple of str, optional
        Data sets by unit, each in one unit at most. A data set that is in none has jobs and files of its own.
    """

    def __init__(self, members: Mapping[str, tuple[str, ...]] | None = None) -> None:
        self.members = dict(members or {})
        self._unit_of = {name: unit for unit, names in self.members.items() for name in names}

    def of(self, dataset: str) -> str:
        """Name of the unit of a data set; its own name, where it has jobs of its own."""
        return self._unit_of.get(dataset, dataset)

    def names(self, unit: str) -> tuple[str, ...]:
        """Data sets of a unit; the name itself, where it is that of a data set."""
        return self.members.get(unit, (unit,))

    def stored(self, path: str) -> str:
        """Return the file that holds a file of a data set: of a unit, where the data set is in one."""
        if not self.members or not path.startswith("<"):
            return path
        *folders, last = path.split("/")
        for i, part in enumerate(folders):
            if part in self._unit_of:
                return "/".join([*folders[:i], self._unit_of[part], *folders[i + 1 :], last])
        stem, dot, ending = last.rpartition(".")
        return "/".join([*folders, f"{self._unit_of[stem]}{dot}{ending}"]) if stem in self._unit_of else path

    def stored_files(self, paths: Any) -> Any:
        """Return the files that hold those of data sets, each once; a single path stays one."""
        if not self.members:
            return paths
        return self.stored(paths) if isinstance(paths, str) else list(dict.fromkeys(map(self.stored, paths)))


def unit_name(names: Iterable[str]) -> str:
    """Name of a unit: digits that stand for its data sets."""
    return PREFIX + hashlib.sha256("\n".join(names).encode()).hexdigest()[:DIGITS]


def kept_units(
    recorded: Iterable[Mapping[str, Iterable[str]]], wanted: Collection[str], key: Callable[[str], Hashable]
) -> dict[str, tuple[str, ...]]:
    """Units of earlier runs, or of other studies, that hold nothing but wanted data sets of one key, each data set once."""
    found, taken = dict[str, tuple[str, ...]](), set[str]()
    for units in recorded:
        for unit, names in units.items():
            members = tuple(names)
            fits = all(name in wanted and name not in taken for name in members)
            if fits and unit == unit_name(members) and len({key(name) for name in members}) == 1:
                found[unit] = members
                taken.update(members)
    return found


def new_units(
    datasets: Iterable[str], cost: Callable[[str], float], key: Callable[[str], Hashable], seconds: float
) -> dict[str, tuple[str, ...]]:
    """Fill units with data sets of one key, in their order, until their expected seconds fill a job.

    Data sets that take more than a tenth of a job are left out, and so is one that would be alone.
    """
    parts: dict[Hashable, list[list[str]]] = {}
    filled: dict[Hashable, float] = {}
    for name in datasets:
        if (own := cost(name)) > seconds / LEAST_IN_A_JOB:
            continue
        kind = key(name)
        of_kind = parts.setdefault(kind, [])
        if not of_kind or filled[kind] + own > seconds or len(of_kind[-1]) == MOST_IN_A_UNIT:
            of_kind.append([])
            filled[kind] = 0.0
        of_kind[-1].append(name)
        filled[kind] += own
    return {unit_name(part): tuple(part) for of_kind in parts.values() for part in of_kind if len(part) > 1}
