"""Remedies that name columns of the user's table: groups, times, coordinates, and columns to leave out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldshift.core.remedies import Remedy

if TYPE_CHECKING:
    from foldshift.core.remedies import Door

ARGUMENTS = {"group_on": "groups", "time_on": "times", "space_on": "coordinates", "subset_on": "subsets"}


class ColumnRemedy(Remedy):
    """Column or columns of the table to name, or to drop: an option of the command, an argument of Python with ``X[...]``."""

    def at(self, door: Door) -> str:
        """Write the remedy for a door."""
        if door != "python":
            return super().at(door)
        names = [str(name) for name in self.values]
        if self.setting == "drop":
            return f"X = X.drop(columns={names!r})"
        chosen = names if self.setting == "space_on" or len(names) > 1 else names[0]
        return f"{ARGUMENTS[self.setting]}=X[{chosen!r}]"


def drop(names: tuple[str, ...]) -> ColumnRemedy:
    """Make the remedy to leave columns out."""
    return ColumnRemedy("drop", names)
