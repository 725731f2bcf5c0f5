"""Tables between fetching and preparation, as Parquet."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from foldshift.core.remedies import at
from foldshift.datasets.readers.raw_table import RawTable
from foldshift.datasets.readers.receipt import Receipt
from foldshift.engine.storage.parquet_files import read_parquet, write_parquet

if TYPE_CHECKING:
    from foldshift.core.types import PathLike

STRUCTURE = ("time_on", "space_on", "subset_on")  # written where a table has them


def write_raw(path: PathLike, table: RawTable) -> None:
    """Write a parsed table; the same table gives the same bytes."""
    arrow = pa.Table.from_pandas(table.frame, preserve_index=False)
    about: dict[str, Any] = {
        "target": table.target,
        "kinds": table.kinds,
        "notes": [at(note, "workflow") for note in table.notes],
    }
    about |= {"left_out": table.left_out, "own": table.own, "groups": table.groups}
    about |= {"ranges": table.ranges} if table.ranges else {}
    about |= {name: value for name in STRUCTURE if (value := getattr(table, name))}
    about |= {"receipt": table.receipt.rows("workflow")} if table.own else {}
    arrow = arrow.replace_schema_metadata({**arrow.schema.metadata, b"foldshift": json.dumps(about).encode()})
    write_parquet(path, arrow)


def read_raw(path: PathLike) -> RawTable:
    """Read a table that `write_raw` wrote."""
    arrow = read_parquet(path)
    about = json.loads(arrow.schema.metadata[b"foldshift"])
    about["space_on"] = tuple(about.get("space_on", ()))
    about["receipt"] = Receipt(kept=about.get("receipt", []))
    return RawTable(arrow.to_pandas(), **about)
