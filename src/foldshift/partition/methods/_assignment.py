"""Assignment problem: every row of a square table of costs gets a column of its own, at the least total cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from foldshift.core.compiling import compiled

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray, IntArray


@compiled
def assign(costs: FloatArray, n: int) -> IntArray:
    """Solve the assignment problem by shortest augmenting paths.

    Time grows with ``n**3``. The order of rows and columns decides between solutions of equal cost.
    Source: Jonker, R., Volgenant, A. (1987). A shortest augmenting path algorithm for dense and sparse linear assignment
    problems. Computing 38, 325-340.
    """
    columns = np.empty(n, np.int64)
    if n == 2:
        columns[0] = 0 if costs[0, 0] + costs[1, 1] <= costs[0, 1] + costs[1, 0] else 1
        columns[1] = 1 - columns[0]
        return columns
    of_row, of_column = np.zeros(n), np.zeros(n + 1)  # potentials; column n means none
    row_at = np.full(n + 1, -1)
    before = np.empty(n + 1, np.int64)
    reach = np.empty(n)
    visited = np.empty(n + 1, np.bool_)
    for row in range(n):
        row_at[n] = row
        column = n
        reach[:] = np.inf
        visited[:] = False
        while row_at[column] >= 0:
            visited[column] = True
            here = row_at[column]
            nearest, step = -1, np.inf
            for j in range(n):
                if visited[j]:
                    continue
                reduced = costs[here, j] - of_row[here] - of_column[j]
                if reduced < reach[j]:
                    reach[j], before[j] = reduced, column
                if reach[j] < step:
                    nearest, step = j, reach[j]
            for j in range(n + 1):
                if visited[j]:
                    of_row[row_at[j]] += step
                    of_column[j] -= step
                elif j < n:
                    reach[j] -= step
            column = nearest
        while column != n:
            row_at[column] = row_at[before[column]]
            column = before[column]
    for j in range(n):
        columns[row_at[j]] = j
    return columns
