"""The cut that respects the structure of a table: groups left out, forward in time, blocks in space, copies kept together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from foldshift.partition import CovariateBalancedKFold, ForwardBlockKFold, SpatialBlockKFold

if TYPE_CHECKING:
    from foldshift.advice.structure.record import Part, Structure
    from foldshift.core.types import Array, FloatArray, IntArray, Splitter

STEPS_A_FOLD = 10  # steps of time in a block, below which no gap is left: it would cost too much
Kind = Literal["rows", "groups", "time", "space"]


@dataclass(frozen=True)
class HonestCut:
    """A way of cutting that estimates the score where the model will be used."""

    kind: Kind  # rows, if nothing was found that rows share
    name: str  # in words, such as "whole groups left out"
    splitter: Splitter
    groups: Array | None  # for `split`: groups (n,), times (n,) or coordinates (n, 2)
    n_folds: int
    line: str  # code that makes the splitter
    groups_line: str  # code that makes the groups; empty if they are not needed, or were declared as an array
    why: str
    drop: tuple[str, ...] = ()  # columns that give the target away

    @property
    def is_plain(self) -> bool:
        """Return True for a cut by rows, of all columns: nothing was found."""
        return self.kind == "rows" and not self.drop


def honest_cut(structure: Structure, n_folds: int = 5, seed: int = 0) -> HonestCut:
    """Choose the cut that respects what was declared or found; ValueError if rows are linked so that none can be held out.

    What was declared comes before what was found; groups come before times, and times before places. `structure` lacks what was
    muted. There are fewer than `n_folds` folds if there are fewer groups, times or places.
    """
    drop = (*structure.leaks, *structure.formula, *structure.leaks_by_gaps)
    kind = _kind(structure)
    if kind == "time":
        return _forward(structure, n_folds, drop)
    if kind == "space":
        return _blocks(structure, n_folds, seed, drop)
    together = rows_together(structure)
    if kind == "groups" and together is not None:
        return _by_groups(structure, together, (n_folds, seed), drop)
    splitter, line = _balanced(structure, n_folds, seed)
    why = "No groups, no order and no places were found that rows share."
    return HonestCut("rows", "rows at random, balanced", splitter, None, n_folds, line, "", why, drop)


def _kind(structure: Structure) -> Kind:
    """Choose by what was declared, else by what was found."""
    kinds: tuple[tuple[Kind, Part | None], ...] = (
        ("groups", structure.groups), ("time", structure.times), ("space", structure.coordinates),
    )  # fmt: skip
    there = [(kind, part) for kind, part in kinds if part is not None]
    declared = [kind for kind, part in there if part.is_declared]
    if declared or there:
        return declared[0] if declared else there[0][0]
    return "groups" if structure.copies is not None and structure.copies.any else "rows"


def rows_together(structure: Structure) -> IntArray | None:
    """Number the sets of rows that a cut must not part: groups, and copies, across groups too; None if there are none."""
    groups = None if structure.groups is None else structure.groups.values
    copies = structure.copies
    if copies is None or not copies.any:
        return groups
    if groups is None:
        return copies.codes
    n = structure.n
    links = coo_array((np.ones(n), (groups, groups.max() + 1 + copies.codes)), shape=(n + groups.max() + 1,) * 2)
    labels = connected_components(links, directed=False)[1][groups]
    return np.unique(labels, return_inverse=True)[1].ravel().astype(np.int64)


def _by_groups(structure: Structure, together: IntArray, wanted: tuple[int, int], drop: tuple[str, ...]) -> HonestCut:
    """Cut by whole groups, with copies kept together."""
    n_sets = int(together.max()) + 1
    if n_sets < 2:
        raise ValueError(
            "groups and copies link all rows with each other: nothing can be held out; drop the copies, or mute their check: "
            "mute={'D2': 'reason'}"
        )
    n_folds = min(wanted[0], n_sets)
    splitter, line = _balanced(structure, n_folds, wanted[1])
    groups, copies = structure.groups, structure.copies
    has_copies = copies is not None and copies.any
    if groups is None:
        name, why = "copies kept together", "Rows are copies of each other: a copy of a test row must not be trained on."
    elif structure.subsets is not None:
        name = "whole subsets left out" + (", copies kept together" if has_copies else "")
        why = "Subsets were declared: the score for a new subset comes from subsets that were left out."
    else:
        name = "whole groups left out" + (", copies kept together" if has_copies else "")
        why = f"Rows belong together ({groups.source}): the score for new groups comes from groups that were left out."
    return HonestCut("groups", name, splitter, together, n_folds, line, _groups_line(structure, has_copies), why, drop)


def _groups_line(structure: Structure, has_copies: bool) -> str:
    """Code that makes the groups from the table."""
    groups, declared = structure.groups, "groups" if structure.subsets is None else "subsets"
    if groups is not None and groups.is_declared and not has_copies:
        return "" if structure.subsets is None else "groups = subsets"
    if groups is not None and len(groups.columns) == 1 and not groups.beginning and not has_copies:
        return f"groups = X[{groups.columns[0]!r}]"
    given = f", {declared}" if groups is not None and groups.is_declared else ""
    if groups is not None and groups.is_of_row_names:
        about = f"  # row_names: column {groups.columns[0]!r}"
        return f"groups = foldshift.advice.rows_kept_together(X, y{given}, row_names=row_names){about}"
    return f"groups = foldshift.advice.rows_kept_together(X, y{given})"


def _forward(structure: Structure, n_folds: int, drop: tuple[str, ...]) -> HonestCut:
    """Cut into blocks of time, each predicted from what was before it, less one step."""
    part = structure.times
    assert part is not None
    steps = np.diff(np.unique(part.values))
    options: dict[str, Any] = {"n_splits": min(n_folds, len(steps))}
    if len(steps) >= STEPS_A_FOLD * n_folds:
        step = np.median(steps) if steps.dtype.kind != "m" else np.sort(steps)[len(steps) // 2]
        options["gap"] = _duration(step) if steps.dtype.kind == "m" else int(step) if step % 1 == 0 else float(f"{step:.6g}")
    groups = None if part.is_row_order else part.values
    given = f"groups = X[{part.columns[0]!r}]" if part.columns else ""
    why = f"Rows follow each other ({part.source}): the score for later rows comes from models of earlier ones."
    name = "blocks forward in time, with a gap" if "gap" in options else "blocks forward in time"
    splitter = ForwardBlockKFold(**options)
    return HonestCut("time", name, splitter, groups, options["n_splits"], _line("ForwardBlockKFold", options), given, why, drop)


def _duration(step: np.timedelta64) -> str:
    """Write a duration in the largest unit of which it is a whole number, such as ``1D``."""
    span = pd.Timedelta(step)
    for unit in ("D", "h", "min", "s", "ms"):
        count = span / pd.Timedelta(1, unit)
        if count >= 1 and count % 1 == 0:
            return f"{count:.0f}{unit}"
    return f"{span / pd.Timedelta(1, 'us'):.0f}us"


def _blocks(structure: Structure, n_folds: int, seed: int, drop: tuple[str, ...]) -> HonestCut:
    """Cut into blocks of places, and leave out training rows near them."""
    part = structure.coordinates
    assert part is not None
    n_folds = min(n_folds, len(np.unique(part.values, axis=0)))
    options: dict[str, Any] = {"n_splits": n_folds, "buffer": _buffer(part.values), "random_state": seed}
    given = f"groups = X[{[*part.columns]!r}]" if part.columns else ""
    why = f"Near rows are alike ({part.source}): the score for other places comes from blocks that were left out."
    splitter, line = SpatialBlockKFold(**options), _line("SpatialBlockKFold", options)
    return HonestCut("space", "blocks of places, with a buffer", splitter, part.values, n_folds, line, given, why, drop)


def _buffer(places: FloatArray) -> float:
    """Distance from test rows within which nothing is trained on: the usual one of a place to the nearest other one."""
    different = np.unique(places, axis=0)
    return float(f"{np.median(cKDTree(different).query(different, k=2)[0][:, 1]):.2g}")


def _balanced(structure: Structure, n_folds: int, seed: int) -> tuple[Splitter, str]:
    """Make the project's balanced splitter, and its line of code."""
    options: dict[str, Any] = {"n_splits": n_folds, "task": structure.task}
    if structure.has_texts:
        options["categorical_features"] = "from_dtype"
    options["random_state"] = seed
    return CovariateBalancedKFold(**options), _line("CovariateBalancedKFold", options)


def _line(kind: str, options: dict[str, Any]) -> str:
    return f"cv = foldshift.partition.{kind}({', '.join(f'{key}={value!r}' for key, value in options.items())})"
