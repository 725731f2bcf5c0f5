"""Files of units: the files of many data sets in one, and which data sets failed, and why.

Rows with a column ``dataset`` become one Parquet file with the rows of all; other files become members of a zip archive.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from foldshift.core.errors import DamagedError
from foldshift.core.files import atomic_path
from foldshift.core.printable import printable
from foldshift.datasets.array_files import DAMAGE
from foldshift.datasets.catalogue_entry import NAME
from foldshift.engine.storage.parquet_files import read_parquet, write_parquet

if TYPE_CHECKING:
    from foldshift.core.types import PathLike

    Failed = dict[str, dict[str, str]]  # by data set: ``message``, and the ``file`` that was to be made

ABOUT = b"foldshift_unit"  # key of the schema's metadata: data sets, how many rows each has, and those that failed
FAILED = ".failed"  # the same, of an archive; no data set has such a name
ROWS, KEY = ".parquet", "dataset"


def pack(path: PathLike, files: Mapping[str, Path], failed: Failed) -> None:
    """Write one file that holds the files of some data sets, whole or not at all."""
    if Path(path).suffix == ROWS and all(map(_has_keys, files.values())):
        tables = [read_parquet(file) for file in files.values()]
        about = {"rows": dict(zip(files, map(len, tables))), "failed": failed}
        whole = pa.concat_tables([table.replace_schema_metadata(None) for table in tables]).unify_dictionaries()
        write_parquet(path, whole.replace_schema_metadata({ABOUT: json.dumps(about).encode()}))
        return
    with atomic_path(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, file in files.items():
            archive.writestr(zipfile.ZipInfo(name + file.suffix), file.read_bytes())
        archive.writestr(zipfile.ZipInfo(FAILED), json.dumps(failed))


def unpack(path: PathLike, place: Callable[[str], Path]) -> Failed:
    """Write the file of every data set of a unit to its place; return the data sets that failed.

    Raises
    ------
    DamagedError
        If the file is not the one that was written.
    """
    if holds_rows(path):
        whole = read_parquet(path)
        about, start = _about(path, whole.schema), 0
        for name, n_rows in about["rows"].items():
            target = place(_checked(path, name))
            target.parent.mkdir(parents=True, exist_ok=True)
            part = whole.slice(start, n_rows).replace_schema_metadata(None)
            pq.write_table(part, target)
            start += n_rows
        return about["failed"]
    try:
        with zipfile.ZipFile(path) as archive:
            failed: Failed = json.loads(archive.read(FAILED))
            for info in archive.infolist():
                if info.filename != FAILED:
                    target = place(_checked(path, info.filename.removesuffix(Path(path).suffix)))
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(archive.read(info))
            return failed
    except DAMAGE as error:
        raise DamagedError(path, f"{type(error).__name__}: {error}") from error


def holds_rows(path: PathLike) -> bool:
    """Return True if the file of a unit is one table with the rows of all data sets."""
    return Path(path).suffix == ROWS and not zipfile.is_zipfile(path)


def failed_in(path: PathLike) -> Failed:
    """Return the data sets that failed, from the file of a unit."""
    if holds_rows(path):
        return _about(path, pq.read_schema(path))["failed"]
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read(FAILED))


def texts_in(path: PathLike) -> list[str]:
    """Return the texts of the data sets of a unit, or the one text of a data set that has a file of its own."""
    if not zipfile.is_zipfile(path):
        return [Path(path).read_text(encoding="utf-8")]
    with zipfile.ZipFile(path) as archive:
        return [archive.read(info).decode() for info in archive.infolist() if info.filename != FAILED]


def _checked(path: PathLike, name: str) -> str:
    """Return the name of a data set; raise an error at one that would lead out of a folder."""
    if not re.fullmatch(NAME, name):
        raise DamagedError(path, f"{printable(name)!r} is not the name of a data set")
    return name


def _has_keys(file: Path) -> bool:
    """Return True if rows say which data set they are of; the tables of data sets themselves do not."""
    schema = pq.read_schema(file)
    return KEY in schema.names and b"foldshift" not in (schema.metadata or {})


def _about(path: PathLike, schema: pa.Schema) -> dict[str, Any]:
    """Read what a file of rows says of its data sets."""
    try:
        return json.loads((schema.metadata or {})[ABOUT])
    except (KeyError, ValueError) as error:
        raise DamagedError(path, "it does not say which data sets it holds") from error
