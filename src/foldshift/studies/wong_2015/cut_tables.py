"""Tables of the three ways to cut a data set that k does not divide (section 4.3.2): sizes, and what the way changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from foldshift.inference.simulation.wong_partitions import uneven_variance, wong_partition
from foldshift.reporting.items import TableResult
from foldshift.reporting.number_formats import number, percent, with_error
from foldshift.reporting.table_grid import Grid, TableCell
from foldshift.studies.wong_2015.accuracy_rows import read_rows
from foldshift.studies.wong_2015.section_rows import ALL, with_means

if TYPE_CHECKING:
    from foldshift.core.types import Inputs

COLUMNS = ("population", "learner", "way", "n_samples", "quantity", "value", "standard_error")
PRINTED_SIZES: dict[Literal[1, 2, 3], str] = {1: "38, 41, 44, 37, 43", 2: "40, 40, 40, 40, 43", 3: "40, 40, 41, 41, 41"}
SIZES = (53, 203, 2003)  # rows; the paper's, and about a quarter and ten times as many
N_FOLDS = 5
# Quantities with an error, and how they are written.
MEASURED = {
    "difference": ("+.4f", ".4f"),
    "moved": (".4f", ".4f"),
    "variance_ratio": (".3f", ".3f"),
    "spread_ratio": (".3f", ".3f"),
}
LAST = ("coverage_fold", "failing")  # quantities of the last columns
ONE_DRAW = 0  # seed of the sizes shown of the first way


def cut_sizes() -> pd.DataFrame:
    """Tabulate sizes of folds by way and rows, print beside ours, and the exact variance that their inequality costs."""
    return pd.DataFrame(
        [
            {
                "rows": n,
                "way": way,
                "printed_sizes": printed if n == SIZES[1] else "",
                "sizes": ", ".join(map(str, wong_partition(n, N_FOLDS, way, ONE_DRAW).sizes)),
                "variance": uneven_variance(n, N_FOLDS, way),
            }
            for n in SIZES
            for way, printed in PRINTED_SIZES.items()
        ]
    )


def cut_sizes_grid(table: pd.DataFrame) -> Grid:
    """Print sizes and variances, a block per number of rows."""
    rows: list[list[TableCell | str]] = []
    for n, block in table.groupby("rows", sort=False):
        rows.append([f"{n} rows"])
        for row in block.itertuples():
            cells = [TableCell(text) for text in (row.printed_sizes, row.sizes, number(row.variance, ".4f"))]
            rows.append([f"way {row.way}", *cells])
    note = (
        "The first way draws its sizes: the printed ones are an example, ours are another. Its variance is the mean over sizes."
    )
    return Grid(["Way", "Sizes, as printed", "Sizes", "Variance"], rows, [note])


def cuts(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Make the table of what the three ways change."""
    table = with_means(read_rows(inputs.rows, COLUMNS), ["learner", "way"])
    return {"three_ways": TableResult(table, cuts_grid(table))}


def cuts_grid(table: pd.DataFrame) -> Grid:
    """Print the means over populations, a block per learner."""
    rows: list[list[TableCell | str]] = []
    means = table[table["population"] == ALL]
    for learner, block in means.groupby("learner", sort=False):
        rows.append([learner])
        for way, part in block.groupby("way", sort=False):
            found = part.set_index("quantity")
            value, error = found["value"], found["standard_error"]
            cells = [TableCell(with_error(value[name], error[name], *form)) for name, form in MEASURED.items()]
            if way == "3":
                cells = [TableCell(text) for text in ("reference", "", "1", "1")]
            rows.append([f"way {way}", *cells, *[TableCell(percent(value[name])) for name in LAST]])
    notes = [
        "Way 1: every row draws its fold. Way 2: the last fold takes the rest. Way 3: sizes differ by one. 3 again: other random "
        "folds by the third way, for what chance alone moves.",
        "Difference and moved: accuracy of a sample less that of the third way, with and without its sign. Variance: of the "
        "accuracy over samples, against the third way. Shown: the same of the variance that the folds show. Coverage: of Wong's "
        "interval over the folds. Failing: samples with a fold that fails the large-sample conditions.",
    ]
    return Grid(["Way", "Difference", "Moved", "Variance", "Shown", "Coverage, %", "Failing, %"], rows, notes)
