"""Parquet files whose pages and columns have checksums, which are compared whenever they are read."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from foldshift.core.errors import DamagedError
from foldshift.core.files import atomic_path
from foldshift.core.printable import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldshift.core.types import PathLike

DIGESTS = b"foldshift_columns"  # key of the schema's metadata: the digest of every column


def write_parquet(path: PathLike, table: pa.Table) -> None:
    """Write a table, whole or not at all; the same table gives the same bytes."""
    digests = {name: column_digest(table[name]) for name in table.column_names}
    about = {**(table.schema.metadata or {}), DIGESTS: json.dumps(digests).encode()}
    with atomic_path(path) as temporary:
        pq.write_table(table.replace_schema_metadata(about), temporary, write_page_checksum=True)


def read_parquet(path: PathLike, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a table, or some columns of it; raise DamagedError if the file is not the one that was written.

    Pages have checksums, and columns digests, for what stands beside the pages: types, dictionaries, numbers of rows. Files of
    versions before 0.7 have none.
    """
    try:
        table = pq.read_table(path, columns=None if columns is None else list(columns), page_checksum_verification=True)
        about = json.loads((table.schema.metadata or {}).get(DIGESTS, b"{}"))
        changed = [name for name in table.column_names if name in about and column_digest(table[name]) != about[name]]
        absent = [name for name in (about if columns is None else columns) if name not in table.column_names]
    except FileNotFoundError:
        raise
    except (OSError, ValueError, TypeError, KeyError, AttributeError, MemoryError, pa.ArrowException) as error:
        raise DamagedError(path, printable(" ".join(f"{type(error).__name__}: {error}".split())[:200])) from error
    if changed or absent:
        raise DamagedError(path, printable(f"columns {', '.join(changed or absent)} are not those that were written"))
    return table


def column_digest(column: pa.ChunkedArray) -> str:
    """Digest of type, values and gaps of a column, however it is cut into chunks or coded."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    # Parquet has one type of text: a dictionary of long texts comes back as one of texts.
    digest = hashlib.blake2b(str(kind).removeprefix("large_").encode(), digest_size=16)
    digest.update(np.packbits(column.is_null().to_numpy()).tobytes() if column.null_count else b"")
    digest.update(len(column).to_bytes(8, "little"))
    for part in _parts(column.cast(kind), kind):
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


def _parts(column: pa.ChunkedArray, kind: pa.DataType) -> list[np.ndarray]:
    """Values of a column as arrays: numbers as they are, texts as lengths and bytes, others as texts."""
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        return [column.fill_null(False if pa.types.is_boolean(kind) else 0).to_numpy()]
    if not (pa.types.is_binary(kind) or pa.types.is_large_binary(kind)):
        column = column.cast(pa.large_string())
    joined = column.cast(pa.large_binary()).fill_null(b"").combine_chunks()
    if len(joined) == 0:
        return []
    _, offsets, data = joined.buffers()
    ends = np.frombuffer(offsets, np.int64)[joined.offset : joined.offset + len(joined) + 1]
    return [np.diff(ends), np.frombuffer(data or b"", np.uint8)[ends[0] : ends[-1]]]
