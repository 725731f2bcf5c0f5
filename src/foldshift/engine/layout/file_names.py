"""File names of folds, shift, scores and predictions: each says completely, without the configuration, what the file holds.

Below the folder of a study, with the bundle ``SCV+DOB-SCV_5x2+10x1`` (partitioners and schemes: five folds iterated twice, ten
folds once)::

    folds/{dataset}/{bundle}/{block}.npz
    scores/{dataset}/{bundle}/{held}/{part}/{learners}/{block}.parquet

``held`` is the block of the file of folds that the scores were made with, ``part`` a bundle within the first one, or ``all`` of
it, and ``learners`` lists learners as ``1NN-3f2a+LDA-90c1``: four digits stand for all that rows of a learner depend on, so that
a changed parameter gives a new name. Where they would stand for two things, more digits are taken.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from foldshift.engine.layout.seed_blocks import block_range

if TYPE_CHECKING:
    from foldshift.core.types import PathLike

DIGITS = (4, 8, 16, 64)  # hexadecimal, of a label: as few as tell contents apart
ALL = "all"  # the part of a bundle that is all of it
OF_LEARNERS = ("import", "params", "nominal")  # what rows depend on; the rest of an entry is for people
_ODD = re.compile(r"[^\w.@-]")
_BLOCK = re.compile(r"(0|[1-9]\d*)-(0|[1-9]\d*)")
_SCHEME = re.compile(r"[1-9]\d*x[1-9]\d*")


Name = TypeVar("Name", bound="str | os.PathLike[str]")


class HeldSeeds(NamedTuple):
    """Seeds and cells that a file holds."""

    name: str  # its path below the folder of its data set
    cells: tuple[tuple[str, ...], ...]  # (partitioner, scheme), or (learner, partitioner, scheme), by their labels
    start: int  # start, stop: Its seeds (experiments), by their position in the draw: ``start .. stop - 1``
    stop: int


def label(name: str, content: dict[str, Any], n_digits: int = DIGITS[0]) -> str:
    """Return a name with digits that stand for its content."""
    return f"{_ODD.sub('_', name)}-{hashlib.sha256(_text(name, content).encode()).hexdigest()[:n_digits]}"


def _text(name: str, content: dict[str, Any]) -> str:
    return json.dumps([name, content], sort_keys=True, default=str)


def labels_of(contents: dict[str, dict[str, Any]], recorded: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Return labels of contents by name, no two of which are equal, and none of which stands for something else in the record.

    What the record of earlier runs has keeps its label: `recorded` maps labels to contents with their ``name``.
    """
    taken = {
        one: _text(str(entry.get("name")), {key: entry[key] for key in entry if key != "name"}) for one, entry in recorded.items()
    }
    found = dict[str, str]()
    for n_digits in DIGITS:
        left = {name: label(name, content, n_digits) for name, content in contents.items() if name not in found}
        kept = {name: one for name, one in left.items() if taken.get(one) == _text(name, contents[name])}
        times = Counter(left.values())
        new = {name: one for name, one in left.items() if one not in taken and times[one] == 1}
        known = set(taken.values())
        # A content that has a longer label in the record keeps that.
        found |= kept | {name: one for name, one in new.items() if _text(name, contents[name]) not in known}
    return {name: found.get(name, label(name, content, DIGITS[-1])) for name, content in contents.items()}


def learner_content(entry: dict[str, Any]) -> dict[str, Any]:
    """The part of a learner's entry that its rows depend on."""
    return {key: entry[key] for key in OF_LEARNERS}


def scheme_name(k: int, iterations: int) -> str:
    """Name of a scheme: folds x iterations."""
    return f"{k}x{iterations}"


def scheme_of(name: str) -> tuple[int, int]:
    """Number of folds and iterations of a scheme."""
    k, _, iterations = name.partition("x")
    return int(k), int(iterations)


def bundle_name(partitioners: Iterable[str], schemes: Iterable[str]) -> str:
    """Name of a bundle: every partitioner with every scheme."""
    return f"{'+'.join(partitioners)}_{'+'.join(schemes)}"


def bundle_of(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Partitioners and schemes of a bundle."""
    partitioners, _, schemes = name.rpartition("_")
    found = tuple(partitioners.split("+")), tuple(schemes.split("+"))
    if not all(found[0]) or not all(map(_SCHEME.fullmatch, found[1])):
        raise ValueError(f"{name!r} is not the name of a bundle, such as CV+TSCV_5x2+10x1")
    return found


def bundle_cells(name: str) -> tuple[tuple[str, str], ...]:
    """Cells of a bundle: (partitioner, scheme)."""
    partitioners, schemes = bundle_of(name)
    return tuple((partitioner, scheme) for partitioner in partitioners for scheme in schemes)


def part_of(bundle: str, part: str) -> str:
    """Return the bundle that a part of a bundle stands for."""
    return bundle if part == ALL else part


def held_folds(path: PathLike) -> HeldSeeds:
    """Parse the path of a file of folds, or of their shift: its last two parts say what it holds."""
    bundle, block = _parts(path, 2)
    return HeldSeeds(f"{bundle}/{block}", bundle_cells(bundle), *range_of(block))


def held_scores(path: PathLike) -> HeldSeeds:
    """Parse the path of a file of scores or predictions: its last five parts say what it holds."""
    bundle, held, part, learners, block = _parts(path, 5)
    within, (first, last), (start, stop) = bundle_cells(bundle), range_of(held), range_of(block)
    cells = bundle_cells(part_of(bundle, part))
    if not (first <= start and stop <= last) or not set(cells) <= set(within) or not all(learners.split("+")):
        raise ValueError(f"{path} is not the name of a file of scores")
    of_learners = tuple((learner, *cell) for learner in learners.split("+") for cell in cells)
    return HeldSeeds(f"{bundle}/{held}/{part}/{learners}/{block}", of_learners, start, stop)


def _parts(path: PathLike, n: int) -> tuple[str, ...]:
    parts = Path(path).parts[-n:]
    if len(parts) < n:
        raise ValueError(f"{path} is not the name of a file of folds or scores")
    return (*parts[:-1], parts[-1].rpartition(".")[0])


def range_of(block: str) -> tuple[int, int]:
    """Return the first repetition of a block and the one after its last; raise ValueError for another name."""
    if not _BLOCK.fullmatch(block):
        raise ValueError(f"{block!r} is not the name of a block, such as 0-99")
    start, n_seeds = block_range(block)
    if n_seeds < 1:
        raise ValueError(f"{block!r} is not the name of a block, such as 0-99")
    return start, start + n_seeds


def runs_wanted(held: HeldSeeds, wanted: dict[str, dict[str, Any]]) -> dict[tuple[Any, ...], int]:
    """Return the number of runs that are wanted of each partitioner and k of a file."""
    found = {}
    for *learner, partitioner, scheme in held.cells:
        n_seeds = min(held.stop, wanted["seeds"].get(bundle_name([partitioner], [scheme]), 0)) - held.start
        if n_seeds > 0 and all(one in wanted["learners"] for one in learner):
            k, iterations = scheme_of(scheme)
            name = tuple(wanted["learners"][one] for one in learner)
            found[*name, wanted["partitioners"][partitioner], k] = n_seeds * iterations
    return found


def cells_wanted(wanted: dict[str, dict[str, Any]]) -> list[tuple[str, int]]:
    """Cells that are wanted, (partitioner, k), in their order; see `runs_wanted`."""
    cells = [cell for name in wanted["seeds"] for cell in bundle_cells(name)]
    return [(wanted["partitioners"][partitioner], scheme_of(scheme)[0]) for partitioner, scheme in cells]


def in_order(paths: Iterable[Name]) -> list[Name]:
    """Files in the order of their seeds; those of the same seeds by name, so that the order depends on nothing else."""
    return sorted(paths, key=lambda path: (block_range(Path(path).stem)[0], str(path)))
