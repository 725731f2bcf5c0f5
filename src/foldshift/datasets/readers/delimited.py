"""Readers of separated fields: csv, tabs, blanks."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from foldshift.core.errors import DataError
from foldshift.datasets.readers.column_kinds import build_table
from foldshift.datasets.readers.read_options import ReadOptions
from foldshift.datasets.readers.rows import row_columns
from foldshift.datasets.readers.text_fields import check_width, split_lines, text_of, unquoted

if TYPE_CHECKING:
    from foldshift.core.types import TaskIfKnown
    from foldshift.datasets.readers.raw_table import RawTable


def read_csv(data: bytes | str, options: ReadOptions | None = None, *, task: TaskIfKnown = "", target: str = "") -> RawTable:
    """Read rows of separated fields: RFC 4180 with any one-character separator, UTF-8 or else Latin-1, a header by default."""
    options = options or ReadOptions()
    text = "\n".join(split_lines(text_of(data))[options.n_skipped :])
    usual = "\t" if options.format == "tsv" else ","
    separator = options.sep or usual
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=separator != " ", strict=True)
    rows, lines = [], []
    try:
        for row in reader:
            check_width(row, f"line {options.n_skipped + reader.line_num}: ")
            rows.append([unquoted(value) for value in row])
            lines.append(options.n_skipped + reader.line_num)
    except csv.Error as error:
        raise DataError(f"line {options.n_skipped + reader.line_num}: {error}; check sep and the quotes") from error
    return build_table(row_columns(rows, lines, options, header=True), replace(options, sep=separator), task, target)


def read_tsv(data: bytes | str, options: ReadOptions | None = None, *, task: TaskIfKnown = "", target: str = "") -> RawTable:
    """Read rows of fields separated by tabs; see `read_csv`."""
    options = options or ReadOptions()
    return read_csv(data, replace(options, format="tsv"), task=task, target=target)


def read_space(data: bytes | str, options: ReadOptions | None = None, *, task: TaskIfKnown = "", target: str = "") -> RawTable:
    """Read rows of fields separated by any number of blanks, by default without a header; quoted fields may hold blanks."""
    options = options or ReadOptions()
    texts = split_lines(text_of(data))[options.n_skipped :]
    rows = [[unquoted(value) for value in re.findall(r'"[^"]*"|[^\s"]+|"', line)] for line in texts]
    lines = range(options.n_skipped + 1, options.n_skipped + 1 + len(rows))
    return build_table(row_columns(rows, lines, options, header=False), options, task, target)
