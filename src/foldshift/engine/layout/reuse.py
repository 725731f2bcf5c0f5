"""Reuse of results: which existing files are kept, and which new ones complete them. Names in, names out.

The choice is the same at any moment of a run. Files are looked at in the order of their names; one is kept if it holds something
that is wanted and nothing that is wanted of one kept before it. A new file holds nothing that a kept one does, and no other new
one, and what was passed over before it was there is passed over for the same reason after. So with some of the new files made,
the kept ones and those are chosen; and as what is missing is cut within fixed tiles, into pieces each of which is the whole of a
gap, the rest is cut as before. A process that starts in the middle of a run (every job of a cluster) therefore sees the files
that the first one saw.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

from foldshift.engine.layout.bundles import block_range
from foldshift.engine.layout.file_names import HeldSeeds, range_of


def files_below(folder: str) -> list[Any]:
    """Paths of all files below a folder, relative to it; none where it does not exist."""
    found, todo = [], [""]
    while todo:
        below = todo.pop()
        with contextlib.suppress(FileNotFoundError), os.scandir(os.path.join(folder, below)) as entries:
            for entry in entries:
                path = f"{below}{entry.name}"
                if entry.is_dir():
                    todo.append(f"{path}/")
                else:
                    found.append(path)
    return found


def folders_in(folder: str) -> set[str]:
    """Names of the folders in a folder; none where it does not exist."""
    with contextlib.suppress(FileNotFoundError), os.scandir(folder) as entries:
        return {entry.name for entry in entries if entry.is_dir()}
    return set()


def choose(files: Iterable[HeldSeeds], wanted: dict[tuple[Any, ...], int]) -> list[HeldSeeds]:
    """Choose the files that are kept."""
    chosen: list[HeldSeeds] = []
    found: dict[tuple[Any, ...], list[tuple[int, int]]] = {}
    for file in sorted(files):
        ranges = {cell: (file.start, min(file.stop, wanted[cell])) for cell in file.cells if wanted.get(cell, 0) > file.start}
        if ranges and not any(_overlaps(found.get(cell, ()), *ours) for cell, ours in ranges.items()):
            chosen.append(file)
            for cell, ours in ranges.items():
                found.setdefault(cell, []).append(ours)
    return chosen


def _overlaps(ranges: Sequence[Any], start: int, stop: int) -> bool:
    return any(first < stop and start < last for first, last in ranges)


def covered(files: Iterable[HeldSeeds], wanted: dict[tuple[Any, ...], int]) -> dict[tuple[Any, ...], list[tuple[int, int]]]:
    """Find the ranges of seeds of every wanted cell that some files hold."""
    ranges: dict[Any, Any] = {}
    for file in files:
        for cell in file.cells:
            if wanted.get(cell, 0) > file.start:
                ranges.setdefault(cell, []).append((file.start, min(file.stop, wanted[cell])))
    return {cell: sorted(parts) for cell, parts in ranges.items()}


def gaps(ranges: Sequence[tuple[int, int]], start: int, stop: int) -> list[tuple[int, int]]:
    """Return the gaps that sorted ranges leave in another range."""
    found = []
    for first, last in ranges:
        if start < min(first, stop):
            found.append((start, min(first, stop)))
        start = max(start, last)
    return [*found, (start, stop)] if start < stop else found


def products(cells: Sequence[tuple[Any, ...]]) -> list[tuple[tuple[Any, ...], ...]]:
    """Cut a set of cells into products, each of which has a name: these learners with these partitioners and these schemes."""
    found = [(cell, ()) for cell in cells]
    for _ in cells[0] if cells else ():
        values: dict[Any, Any] = {}
        for rest, axes in found:
            values.setdefault((rest[:-1], axes), []).append(rest[-1])
        found = [(rest, (tuple(last), *axes)) for (rest, axes), last in values.items()]
    return [axes for _, axes in found]


def missing(
    cells: Iterable[tuple[Any, ...]],
    wanted: dict[tuple[Any, ...], int],
    held: dict[tuple[Any, ...], list[tuple[int, int]]],
    start: int,
    stop: int,
) -> list[tuple[tuple[tuple[Any, ...], ...], int, int]]:
    """Find the cells and seeds of a tile that no kept file holds."""
    found: dict[Any, Any] = {}
    for cell in cells:
        for gap in gaps(held.get(cell, ()), start, min(stop, wanted.get(cell, 0))):
            found.setdefault(gap, []).append(cell)
    return [(axes, *gap) for gap, members in found.items() for axes in products(members)]


def tiles(start: int, stop: int, size: int) -> list[tuple[int, int]]:
    """Cut a range into pieces of one size, the last one shorter."""
    return [(first, min(first + size, stop)) for first in range(start, stop, size)]


def blocks(existing: Iterable[str], n: int, size: int) -> list[str]:
    """Names of blocks that hold the numbers 0 to ``n - 1``, each once: those that exist, and new ones for the rest."""
    taken: list[Any] = []
    for name in sorted(existing):
        first, _, last = name.partition("-")
        if first.isdecimal() and last.isdecimal() and int(first) <= int(last) < n and name == f"{int(first)}-{int(last)}":
            start, length = block_range(name)
            if not _overlaps(taken, start, start + length):
                taken.append((start, start + length))
    new = [gap for tile in tiles(0, n, size) for gap in gaps(sorted(taken), *tile)]
    return [f"{start}-{stop - 1}" for start, stop in sorted([*taken, *new])]


def pieces(existing: Iterable[str], wanted: dict[tuple[str, ...], int], size: int) -> list[tuple[str, ...]]:
    """Names of pieces that hold all that is wanted, each once: those that exist, and new ones for the rest."""
    files = choose(filter(None, (_held(name, wanted) for name in existing)), wanted)
    held, names = covered(files, wanted), [tuple(file.name.split("/")) for file in files]
    for first in dict.fromkeys(cell[0] for cell in wanted):
        cells = [cell for cell in wanted if cell[0] == first]
        for tile in tiles(0, max(wanted[cell] for cell in cells), size):
            for axes, start, stop in missing(cells, wanted, held, *tile):
                names.append((*map("+".join, axes), f"{start}-{stop - 1}"))
    place = {cell: i for i, cell in enumerate(wanted)}
    return sorted(names, key=lambda name: (block_range(name[-1])[0], place[tuple(axis.split("+")[0] for axis in name[:-1])]))


def _held(name: str, wanted: dict[Any, Any]) -> HeldSeeds | None:
    """Parse the name of a piece; None for another name, or for a piece that holds something that is not wanted."""
    *axes, block = name.split("/")
    cells = tuple(product(*(axis.split("+") for axis in axes)))
    try:
        start, stop = range_of(block)
    except ValueError:
        return None
    return HeldSeeds(name, cells, start, stop) if all(wanted.get(cell, 0) >= stop for cell in cells) else None
