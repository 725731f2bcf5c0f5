"""Public home of everything that a user-defined study imports: declarations, results, and the standard outputs.

``docs/add_a_study.md`` has a complete example.

- `Study`, `Measure`, `OutputGroup`, `Table`, `Figure`, `Cost`: declarations
- `Run`: the argument of every function in a declaration
- `DATASETS`, `failures`, `single_datasets`, `has_print`: standard outputs, and whether a run has data sets of the paper
- `TableResult`, `FigureResult`, `Grid`: results of the functions that make tables and figures
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foldshift.engine.study.declare import Cost, Figure, Measure, OutputGroup, Study, Table
from foldshift.engine.study.run import Run
from foldshift.studies.common.standard_items import DATASETS, failures, has_print, single_datasets

if TYPE_CHECKING:
    from foldshift.reporting.items import FigureResult, TableResult
    from foldshift.reporting.table_grid import Grid

__all__ = [
    "DATASETS",
    "Cost",
    "Figure",
    "FigureResult",
    "Grid",
    "Measure",
    "OutputGroup",
    "Run",
    "Study",
    "Table",
    "TableResult",
    "failures",
    "has_print",
    "single_datasets",
]


def __getattr__(name: str) -> Any:
    """Import the results on demand: every process of Snakemake reads the declarations, and only jobs need pandas."""
    if name in ("FigureResult", "TableResult"):
        from foldshift.reporting import items

        return getattr(items, name)
    if name == "Grid":
        from foldshift.reporting.table_grid import Grid

        return Grid
    raise AttributeError(f"foldshift.study has no {name!r}; it has {', '.join(__all__)}", name=name)
