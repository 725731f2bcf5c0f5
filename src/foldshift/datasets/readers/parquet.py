"""Readers of parquet files and data frames."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pandas as pd

from foldshift.core.errors import DataError
from foldshift.datasets.readers.column_kinds import Columns, DeclaredKind, build_table
from foldshift.datasets.readers.text_fields import MAX_CELLS, MAX_COLUMNS, cell_text
from foldshift.datasets.sources.download import one_line

if TYPE_CHECKING:
    from foldshift.core.types import TaskIfKnown
    from foldshift.datasets.readers.raw_table import RawTable
    from foldshift.datasets.readers.read_options import ReadOptions

MAX_UNPACKED = 2**30  # bytes of a parquet file when unpacked, by its header


def read_parquet(data: bytes, options: ReadOptions | None = None, *, task: TaskIfKnown = "", target: str = "") -> RawTable:
    """Read a parquet file; labels of dictionary columns keep the order of the dictionary."""
    if not (data.startswith(b"PAR1") and data.endswith(b"PAR1")):
        raise DataError("not a parquet file (the letters PAR1 are missing at its ends); check the file or set format")
    try:
        columns = _frame_columns(_parquet_frame(data))
    except DataError:
        raise
    except ImportError as error:
        raise DataError("pyarrow is not installed: pip install pyarrow, or convert the table to csv") from error
    except Exception as error:  # damaged files raise OSError, ValueError, Arrow's own errors, MemoryError, texts even when used
        raise DataError(f"damaged parquet file ({type(error).__name__}: {one_line(error)}); copy or save it once more") from error
    return build_table(columns, options, task, target)


def _parquet_frame(data: bytes) -> pd.DataFrame:
    """Read a parquet file as a data frame; each different text is read once, so that few bytes cannot become many."""
    import pyarrow.parquet

    about = pyarrow.parquet.read_metadata(io.BytesIO(data))
    if about.num_rows * about.num_columns > MAX_CELLS or about.num_columns > MAX_COLUMNS:
        raise DataError(f"more than {MAX_CELLS} cells or {MAX_COLUMNS} columns; cut the table down")
    if sum(about.row_group(group).total_byte_size for group in range(about.num_row_groups)) > MAX_UNPACKED:
        raise DataError(f"more than {MAX_UNPACKED} bytes when unpacked; cut the table down")
    labels = set()
    for column in about.schema.to_arrow_schema():
        if pyarrow.types.is_nested(column.type):
            raise DataError(f"column {column.name[:60]!r} holds lists or records; drop it from the table")
        if pyarrow.types.is_dictionary(column.type):
            labels.add(column.name)
    texts = [column.path for column in map(about.schema.column, range(about.num_columns)) if column.physical_type == "BYTE_ARRAY"]
    frame = pyarrow.parquet.ParquetFile(io.BytesIO(data), read_dictionary=texts).read().to_pandas()
    for position, name in enumerate(frame.columns):
        if isinstance(frame.dtypes.iloc[position], pd.CategoricalDtype) and str(name) not in labels:
            frame.isetitem(position, frame.iloc[:, position].astype(object))
    return frame


def read_frame(frame: pd.DataFrame, options: ReadOptions | None = None, *, task: TaskIfKnown = "", target: str = "") -> RawTable:
    """Convert a data frame to the form of a parsed file; labels of categorical columns keep their order."""
    return build_table(_frame_columns(frame), options, task, target)


def _frame_columns(frame: pd.DataFrame) -> Columns:
    """Convert a data frame to columns of text."""
    names = [str(name) for name in frame.columns]
    values, categories = [], []
    for position in range(len(names)):
        column = frame.iloc[:, position]
        labels = None
        if isinstance(column.dtype, pd.CategoricalDtype):
            labels = list(dict.fromkeys(cell_text(label) for label in column.cat.categories))
        categories.append(labels)
        values.append([None if missing else cell_text(value) for value, missing in zip(column.tolist(), column.isna())])
    kinds: list[DeclaredKind] = ["nominal" if labels is not None else "" for labels in categories]
    return Columns(names, values, range(1, len(frame) + 1), kinds, categories)
