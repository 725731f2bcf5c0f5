"""Things that the tests of several rooms need, made in one place."""

import ast
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import foldshift

PACKAGE = Path(foldshift.__file__).parent


def public_names(package):
    """Public names of a package of the library, to the module that each is defined in, as its stub says."""
    stub = PACKAGE / package / "__init__.pyi"
    imports = [node for node in ast.parse(stub.read_text()).body if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module for node in imports for alias in node.names}


def one_row(table, /, **values):
    """The one row of a table with these values in its columns."""
    for name, value in values.items():
        table = table[table[name] == value]
    assert len(table) == 1
    return table.iloc[0]


def write_table(path, frame, schema=None):
    """Write a data frame as a file of rows, with the columns and types of a schema if there is one; return its path."""
    pq.write_table(pa.Table.from_pandas(frame, schema=schema, preserve_index=False), path)
    return path
