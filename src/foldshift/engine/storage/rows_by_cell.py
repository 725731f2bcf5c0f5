"""Read the rows of all data sets of a study and arrange them by cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from foldshift.engine.storage.score_files import read_columns
from foldshift.engine.storage.seed_results import by_cell

if TYPE_CHECKING:
    from foldshift.core.types import Array, PathLike


def read_cells(
    paths: Sequence[PathLike],
    keys: Sequence[str],
    values: Sequence[str],
    datasets: Sequence[str],
    cells: Sequence[tuple[Any, ...]],
) -> list[dict[tuple[Any, ...], Array]]:
    """Arrange the seed rows of all data sets as arrays."""
    names = ("dataset", *keys, *values)
    parts = [read_columns(path, names) for path in paths]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in names}
    return [by_cell(columns, keys, value, datasets, cells) for value in values]
