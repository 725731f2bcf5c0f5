"""Remedies that name columns of the user's table: groups, times, coordinates, and columns to leave out."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from foldshift.core.remedies import Remedy

if TYPE_CHECKING:
    from foldshift.core.remedies import Door

ARGUMENTS = {"group_on": "groups", "time_on": "times", "space_on": "coordinates", "subset_on": "subsets"}


class ColumnRemedy(Remedy):
    """Column or columns of the table to name, or to drop: an option of the command, an argument of Python with ``X[...]``."""

    def at(self, door: Door) -> str:
        """Write the remedy for a door."""
        names = [str(name) for name in self.values]
        if door == "command" and self.setting == "space_on":
            return f"--space-on {' '.join(shlex.quote(name) for name in names)}"
        if door != "python":
            return super().at(door)
        if self.setting == "drop":
            return f"X = X.drop(columns={names!r})"
        chosen = names if len(names) > 1 else names[0]
        return f"{ARGUMENTS[self.setting]}=X[{chosen!r}]"


class MissingRemedy(Remedy):
    """Numbers that mark what is missing: an option of reading; in Python, values to replace."""

    def at(self, door: Door) -> str:
        """Write the remedy for a door."""
        if door != "python":
            return super().at(door)
        return f"X = X.replace([{', '.join(map(str, self.values))}], float('nan'))"


def drop(names: tuple[str, ...]) -> ColumnRemedy:
    """Make the remedy to leave columns out."""
    return ColumnRemedy("drop", names)
