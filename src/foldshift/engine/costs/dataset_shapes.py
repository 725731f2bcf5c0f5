"""Rows and columns of a data set before it is read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from foldshift.datasets.catalogue_entry import CatalogueEntry

ASSUMED = (1000, 10)  # where nothing is known
SAMPLE = 1 << 20  # bytes of a local file that are looked at


def local_files(entry: CatalogueEntry) -> list[str]:
    """Local files of a data set that exist."""
    paths = [unquote(source[5:].split("?")[0]) for source in entry.sources if source.startswith("file:")]
    return [path for path in paths if os.path.isfile(path)]


def shape_of(entry: CatalogueEntry) -> tuple[int, int]:
    """Rows and input columns of a data set, as far as they are known before it is fetched."""
    guess = ASSUMED
    if not (entry.n_rows and entry.n_features) and local_files(entry):
        guess = _guess(local_files(entry)[0])
    return entry.n_rows or guess[0], entry.n_features or guess[1]


def _guess(path: str) -> tuple[int, int]:
    """Rows and columns from the size of a text file and the lines at its beginning."""
    with open(path, "rb") as file:
        head = file.read(SAMPLE)
        file.seek(0, 2)
        size = file.tell()
    lines = head.split(b"\n")[:-1]  # after the last line feed stands nothing, or a piece of a line
    if b"\0" in head or len(lines) < 2:
        return ASSUMED
    middle = lines[len(lines) // 2]
    n_columns = max(middle.count(separator) for separator in (b",", b";", b"\t", b" ")) + 1
    n_rows = round(size * len(lines) / (sum(map(len, lines)) + len(lines)))
    return n_rows, max(n_columns - 1, 1)
