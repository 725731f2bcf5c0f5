"""The cut that respects the structure of a table: groups left out, copies kept together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from foldshift.partition import CovariateBalancedKFold

if TYPE_CHECKING:
    from foldshift.advice.structure.record import Part, Structure
    from foldshift.core.types import Array, IntArray, Splitter, Task

Kind = Literal["rows", "groups", "time", "space"]


@dataclass(frozen=True)
class HonestCut:
    """A way of cutting that estimates the score where the model will be used.

    Attributes
    ----------
    kind : {"rows", "groups", "time", "space"}
        ``rows`` if nothing was found that rows share.
    name : str
        The cut in words, such as "whole groups left out".
    splitter : splitter of scikit-learn
    groups : ndarray or None
        To be handed to ``splitter.split(X, y, groups)``: groups, shape (n,); times, shape (n,); coordinates, shape (n, 2).
    n_folds : int
        Test parts.
    line : str
        Code that makes the splitter.
    groups_line : str
        Code that makes the groups; empty if they are not needed, or were declared as an array.
    why : str
        A sentence.
    drop : tuple of str
        Columns that give the target away, to be left out of X.
    """

    kind: Kind
    name: str
    splitter: Splitter
    groups: Array | None
    n_folds: int
    line: str
    groups_line: str
    why: str
    drop: tuple[str, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether it is a cut by rows, of all columns: nothing was found."""
        return self.kind == "rows" and not self.drop


def honest_cut(structure: Structure, n_folds: int = 5, seed: int = 0, task: Task | None = None) -> HonestCut:
    """Choose the cut that respects what was declared or found.

    Parameters
    ----------
    structure : Structure
        Without what was muted: ``structure.without(codes)``.
    n_folds : int, default=5
        Folds wanted; fewer if there are fewer groups.
    seed : int, default=0
        Seed of the folds.
    task : {None, "classification", "regression"}
        Kind of target. None: as the target's values say.

    Returns
    -------
    cut : HonestCut
    """
    drop = (*structure.leaks, *structure.leaks_by_gaps)
    together = rows_together(structure)
    if together is not None:
        return _by_groups(structure, together, (n_folds, seed, task), drop)
    splitter, line = _balanced(n_folds, seed, task)
    why = "No groups, no order and no places were found that rows share."
    return HonestCut("rows", "rows at random, balanced", splitter, None, n_folds, line, "", why, drop)


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


def _by_groups(
    structure: Structure, together: IntArray, wanted: tuple[int, int, Task | None], drop: tuple[str, ...]
) -> HonestCut:
    """Cut by whole groups, with copies kept together."""
    n_folds, seed, task = wanted
    n_folds = max(2, min(n_folds, int(together.max()) + 1))
    splitter, line = _balanced(n_folds, seed, task)
    groups, copies = structure.groups, structure.copies
    has_copies = copies is not None and copies.any
    if groups is None:
        name, why = "copies kept together", "Rows are copies of each other: a copy of a test row must not be trained on."
    else:
        name = "whole groups left out" + (", copies kept together" if has_copies else "")
        why = f"Rows belong together ({groups.source}): the score for new groups comes from groups that were left out."
    return HonestCut("groups", name, splitter, together, n_folds, line, _groups_line(groups, has_copies), why, drop)


def _groups_line(groups: Part | None, has_copies: bool) -> str:
    """Code that makes the groups from the table."""
    if groups is not None and groups.is_declared and not has_copies:
        return ""
    if groups is not None and len(groups.columns) == 1 and not has_copies:
        return f"groups = X[{groups.columns[0]!r}]"
    given = ", groups" if groups is not None and groups.is_declared else ""
    return f"groups = foldshift.advice.rows_kept_together(X, y{given})"


def _balanced(n_folds: int, seed: int, task: Task | None) -> tuple[Splitter, str]:
    """Make the project's balanced splitter, and its line of code."""
    options: dict[str, Any] = {"n_splits": n_folds, "task": task, "random_state": seed}
    if task is None:
        del options["task"]
    return CovariateBalancedKFold(**options), _line("CovariateBalancedKFold", options)


def _line(kind: str, options: dict[str, Any]) -> str:
    return f"cv = foldshift.partition.{kind}({', '.join(f'{key}={value!r}' for key, value in options.items())})"
