"""Files that are no tables for these readers, recognised by their first bytes: what each is, and what to do."""

from __future__ import annotations

import io
import re
import zipfile
from typing import NamedTuple

from foldshift.core.errors import DataError


class _Foreign(NamedTuple):
    """A format that is not read: its first bytes, what it is, and what to do."""

    signatures: tuple[bytes, ...]
    what: str
    remedy: str


_SAVE = "open it in a spreadsheet program and save the sheet as csv or xlsx"
_SHOW = "save the table that it shows as csv"
_UNPACK = "unpack it, and give the file inside"
_R = "in R, write.csv(table, 'data.csv', row.names = FALSE) writes what is read here"
_PYTHON = "in Python, pandas.DataFrame(table).to_csv('data.csv', index=False) writes what is read here"
_FOREIGN = (
    _Foreign(
        (b"version https://git-lfs.github.com/",), "a pointer of Git LFS, not the data", "run `git lfs pull` in its repository"
    ),
    _Foreign((b"%PDF",), "a PDF document", _SHOW),
    _Foreign((b"\x89PNG", b"\xff\xd8\xff", b"GIF8"), "a picture", _SHOW),
    _Foreign((b"7z\xbc\xaf\x27\x1c",), "a 7-Zip archive", _UNPACK),
    _Foreign((b"Rar!",), "a RAR archive", _UNPACK),
    _Foreign((b"\x28\xb5\x2f\xfd",), "packed by Zstandard (zstd)", _UNPACK),
    _Foreign((b"PK\x05\x06",), "a zip archive without files", "pack the table again"),
    _Foreign((b"$FL2", b"$FL3"), "an SPSS file", "save it in SPSS or PSPP as csv"),
    _Foreign((b"RDX2", b"RDX3", b"RDA2", b"RDA3", b"X\n\0\0\0", b"A\n2\n", b"A\n3\n"), "an R file", _R),
    _Foreign(
        (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"), "a Python pickle, which can run code and is never opened", _PYTHON
    ),
    _Foreign((b"\x93NUMPY",), "a NumPy array", _PYTHON),
    _Foreign((b"\x89HDF",), "an HDF5 file", _PYTHON),
    _Foreign(
        (b"SQLite format 3",), "an SQLite database", "write the table as csv: sqlite3 -header -csv FILE 'select * from TABLE'"
    ),
    _Foreign((b"MATLAB 5.0",), "a MATLAB file", "write the table in MATLAB by writetable(T, 'data.csv')"),
    _Foreign((b"ORC", b"Obj\x01"), "an ORC or Avro file", "convert it to Parquet"),
)
_IN_ZIP = (
    ("word/document.xml", "a Word document", "copy its table into a spreadsheet, and save that as csv"),
    ("ppt/presentation.xml", "a presentation", _SHOW),
    ("xl/workbook.bin", "a binary Excel workbook (.xlsb)", "save it as .xlsx"),
    ("content.xml", "an OpenDocument file", "open it and save the sheet as .xlsx or csv"),
)
_TEXTS = (
    (
        re.compile(rb"(?:\S+(?:[ \t]+\d+:(?![0-5]\d\s)[^\s:]+)+[ \t]*(?:#.*)?\r?\n){2}"),  # 10:30 is a time of day
        "a file of LIBSVM, whose fields are number:value",
        "sklearn.datasets.load_svmlight_file reads it in Python; write its table as csv",
    ),
    (re.compile(rb"\s*\\(?:begin|documentclass|usepackage)\b"), "a LaTeX document", _SHOW),
    (
        re.compile(rb"(?i)\s*(?:--.*\n\s*)*(?:create table|insert into|pragma |drop table|set names|begin transaction)\b"),
        "a program in SQL",
        "run it in its database, and write the table as csv",
    ),
)
_HTML = (b"<!doctype html", b"<html", b"<head", b"<body", b"<table", b"<div")


def check_readable(data: bytes) -> None:
    """Refuse a file that is not a table for these readers; the message says what it is and what to do."""
    found = next((one for one in _FOREIGN if data.startswith(one.signatures)), None)
    if found is not None:
        raise DataError(f"this is {found.what}; {found.remedy}")
    if data.startswith(b"PK\x03\x04"):
        _check_zip(data)
    start = data[: 2**12].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if looks_like_html(data):
        look = "open the address in a browser to see what it says"
        todo = f"if it shows the table, {_SAVE}; else {look}" if b"<table" in data[: 2**20].lower() else look
        raise DataError(f"this is an HTML page, not data; {todo}")
    found_text = next((one for one in _TEXTS if one[0].match(data[: 2**12].removeprefix(b"\xef\xbb\xbf"))), None)
    if found_text is not None:
        raise DataError(f"this is {found_text[1]}; {found_text[2]}")
    if start.startswith((b"<?xml", b"<")) and b">" in start:
        raise DataError(f"this is an XML document, not a table of rows; {_SAVE}")


def _check_zip(data: bytes) -> None:
    try:
        names = zipfile.ZipFile(io.BytesIO(data)).namelist()
    except Exception:  # zipfile raises errors of many kinds for damaged files, which are refused where they are opened
        return
    for member, what, remedy in _IN_ZIP:
        if member in names:
            raise DataError(f"this is {what}; {remedy}")
    if names and all(name.endswith(".npy") for name in names):
        raise DataError(f"this is an archive of NumPy arrays; {_PYTHON}")


def looks_like_html(data: bytes) -> bool:
    """Report whether bytes are a web page, which servers may send instead of a file."""
    start = data[:1024].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    return start.startswith(_HTML) or (start.startswith((b"<?xml", b"<!--")) and b"<html" in start)
