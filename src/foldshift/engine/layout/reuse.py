"""Which of the files that exist are kept, and what is to be made beside them: names in, names out.

The choice is the same at any moment of a run. Files are looked at in the order of their names; one is kept if it holds something
that is wanted and nothing that is wanted of one kept before it. A new file holds nothing that a kept one does, and no other new
one, and what was passed over before it was there is passed over for the same reason after. So with some of the new files made,
the kept ones and those are chosen; and as what is missing is cut within fixed tiles, into pieces each of which is the whole of a
gap, the rest is cut as before. A process that starts in the middle of a run (every job of a cluster) therefore sees the files
that the first one saw.
"""

import contextlib
import os
from itertools import product

from foldshift.engine.layout.bundles import block_range
from foldshift.engine.layout.file_names import Held, range_of


def files_below(folder):
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


def choose(files, wanted):
    """Choose the files that are kept.

    Parameters
    ----------
    files : iterable of foldshift.engine.layout.file_names.Held
        What exists.
    wanted : dict of tuple to int
        Cells that are wanted, to the number of seeds: those in position ``0 .. n_seeds - 1``.

    Returns
    -------
    chosen : list of foldshift.engine.layout.file_names.Held
        In the order of their names. No two of them hold the same seed of a cell that is wanted; they may hold more than is
        wanted.
    """
    chosen, found = [], {}
    for file in sorted(files):
        ranges = {cell: (file.start, min(file.stop, wanted[cell])) for cell in file.cells if wanted.get(cell, 0) > file.start}
        if ranges and not any(_overlaps(found.get(cell, ()), *ours) for cell, ours in ranges.items()):
            chosen.append(file)
            for cell, ours in ranges.items():
                found.setdefault(cell, []).append(ours)
    return chosen


def _overlaps(ranges, start, stop):
    return any(first < stop and start < last for first, last in ranges)


def covered(files, wanted):
    """Seeds of every wanted cell that some files hold.

    Parameters
    ----------
    files : iterable of foldshift.engine.layout.file_names.Held
    wanted : dict of tuple to int

    Returns
    -------
    ranges : dict of tuple to list of (int, int)
        First position, and the one after the last, sorted; by cell.
    """
    ranges = {}
    for file in files:
        for cell in file.cells:
            if wanted.get(cell, 0) > file.start:
                ranges.setdefault(cell, []).append((file.start, min(file.stop, wanted[cell])))
    return {cell: sorted(parts) for cell, parts in ranges.items()}


def gaps(ranges, start, stop):
    """What some ranges leave of another.

    Parameters
    ----------
    ranges : sequence of (int, int)
        First position, and the one after the last; sorted, without overlap.
    start, stop : int

    Returns
    -------
    gaps : list of (int, int)
    """
    found = []
    for first, last in ranges:
        if start < min(first, stop):
            found.append((start, min(first, stop)))
        start = max(start, last)
    return [*found, (start, stop)] if start < stop else found


def products(cells):
    """Cut a set of cells into products, each of which has a name: these learners with these partitioners and these schemes.

    Parameters
    ----------
    cells : sequence of tuple
        All of one length.

    Returns
    -------
    products : list of tuple of tuple
        For each product the values on every axis, in the order in which they come. Without one of the products, the rest is cut
        as before.
    """
    found = [(cell, ()) for cell in cells]
    for _ in cells[0] if cells else ():
        values = {}
        for rest, axes in found:
            values.setdefault((rest[:-1], axes), []).append(rest[-1])
        found = [(rest, (tuple(last), *axes)) for (rest, axes), last in values.items()]
    return [axes for _, axes in found]


def missing(cells, wanted, held, start, stop):
    """What is to be made of some cells and seeds: a tile of the study.

    Parameters
    ----------
    cells : iterable of tuple
        Of the tile, in the order of the configuration.
    wanted : dict of tuple to int
        Cells that are wanted, to the number of seeds.
    held : dict of tuple to list of (int, int)
        What is there; see `covered`.
    start, stop : int
        Seeds of the tile.

    Returns
    -------
    pieces : list of (tuple of tuple, int, int)
        Products of cells with their first seed and the one after the last: together all that is missing, and no seed of a cell
        twice.
    """
    found = {}
    for cell in cells:
        for gap in gaps(held.get(cell, ()), start, min(stop, wanted.get(cell, 0))):
            found.setdefault(gap, []).append(cell)
    return [(axes, *gap) for gap, members in found.items() for axes in products(members)]


def tiles(start, stop, size):
    """Cut a range into pieces of one size, the last one shorter.

    Returns
    -------
    tiles : list of (int, int)
        First position, and the one after the last.
    """
    return [(first, min(first + size, stop)) for first in range(start, stop, size)]


def blocks(existing, n, size):
    """Names of blocks that hold the numbers 0 to ``n - 1``, each once: those that exist, and new ones for the rest.

    Parameters
    ----------
    existing : iterable of str
        Names of blocks, such as ``0-24``; other names are passed over, and so are blocks that reach beyond `n`.
    n : int
        How many numbers.
    size : int
        Most numbers of a new block.

    Returns
    -------
    names : list of str
        In the order of their numbers.
    """
    taken = []
    for name in sorted(existing):
        first, _, last = name.partition("-")
        if first.isdecimal() and last.isdecimal() and int(first) <= int(last) < n and name == f"{int(first)}-{int(last)}":
            start, length = block_range(name)
            if not _overlaps(taken, start, start + length):
                taken.append((start, start + length))
    new = [gap for tile in tiles(0, n, size) for gap in gaps(sorted(taken), *tile)]
    return [f"{start}-{stop - 1}" for start, stop in sorted([*taken, *new])]


def pieces(existing, wanted, size):
    """Names of pieces that hold all that is wanted, each once: those that exist, and new ones for the rest.

    Parameters
    ----------
    existing : iterable of str
        Names of pieces, such as ``PET-3f2a/5+10/0-24``: values on every axis of a cell, and a block of repetitions. Other names
        are passed over, and so are pieces that hold something that is not wanted.
    wanted : dict of tuple of str to int
        Cells, in the order of the configuration, to the number of repetitions.
    size : int
        Most repetitions of a new piece.

    Returns
    -------
    names : list of tuple of str
        Values on every axis, joined by ``+``, and the block; in one order, whatever exists. A new piece has one value on the
        first axis, so that one that changes takes no other with it.
    """
    files = choose(filter(None, (_held(name, wanted) for name in existing)), wanted)
    held, names = covered(files, wanted), [tuple(file.name.split("/")) for file in files]
    for first in dict.fromkeys(cell[0] for cell in wanted):
        cells = [cell for cell in wanted if cell[0] == first]
        for tile in tiles(0, max(map(wanted.get, cells)), size):
            for axes, start, stop in missing(cells, wanted, held, *tile):
                names.append((*map("+".join, axes), f"{start}-{stop - 1}"))
    place = {cell: i for i, cell in enumerate(wanted)}
    return sorted(names, key=lambda name: (block_range(name[-1])[0], place[tuple(axis.split("+")[0] for axis in name[:-1])]))


def _held(name, wanted):
    """What a piece holds; None if it is none, or holds something that is not wanted."""
    *axes, block = name.split("/")
    cells = tuple(product(*(axis.split("+") for axis in axes)))
    try:
        start, stop = range_of(block)
    except ValueError:
        return None
    return Held(name, cells, start, stop) if all(wanted.get(cell, 0) >= stop for cell in cells) else None
