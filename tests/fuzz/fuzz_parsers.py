"""Damaged data files against every parser: `python tests/fuzz/fuzz_parsers.py --inputs 100000 --seed 0 [--minutes 10] [--keep
FOLDER]`.

Case i depends on (seed, i) only. A case is a small file made by the grammar of its format, with odd values in it, then cut,
repeated and overwritten. It is a fault if anything but a `FoldshiftError` comes out, if the message is not one printable line, if
a table is returned that breaks its own promises, if the case takes more than 2 s of processor time, or if memory runs out (the
process may grow by 1 GiB). Exit code 1 if there was a fault.
"""

import argparse
import bz2
import contextlib
import faulthandler
import functools
import gzip
import io
import lzma
import resource
import signal
import struct
import sys
import time
import traceback
import warnings
import zipfile
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from foldshift.core.errors import FoldshiftError
from foldshift.datasets.prepare import prepare
from foldshift.datasets.readers.compression import unpacked
from foldshift.datasets.readers.formats import read_table
from foldshift.datasets.readers.programs.excel import ZIP_SIGNATURE
from foldshift.datasets.readers.raw_table import KINDS, RawTable, fingerprint
from foldshift.datasets.readers.read_options import parse_options
from foldshift.datasets.sources.download import read_members
from foldshift.datasets.sources.fetch import parse_source

SECONDS = 2.0  # of processor time: other work on the machine does not count
LARGE = 2**16  # bytes from which on a file may take longer: thousands of columns, each with an array of its own
SECONDS_OF_LARGE = 20.0
GROWTH = 2**30  # bytes that the process may grow by
HANG = 120  # seconds after which the process ends with a traceback: a loop inside a library does not let the timer in
MAX_MESSAGE = 1000

# Parser to its share of the cases: the text formats are many small files, the binary ones cost milliseconds each.
SHARES = {
    "keel": 25,
    "arff": 25,
    "csv": 18,
    "tsv": 5,
    "uci": 18,
    "source": 3,
    "zip": 3,
    "packed": 3,
    "xls": 1,
    "xlsx": 1,
    "parquet": 1,
}
NAMES = tuple(SHARES)
BOUNDS = np.cumsum(list(SHARES.values()))

_gzipped = functools.partial(gzip.compress, mtime=0)  # the time of day would make a case depend on when it is made

# fmt: off
PLAIN = ("1", "2", "0.5", "-3", "1e3", "12.25", "a", "b", "red", "dark blue")
ODD = (
    *("", " ", "?", "<null>", "NULL", "na", "NaN", "nan", "-nan", "+nan", "inf", "-Infinity", "1e999", "-1e999", "1e-999"),
    *("1e308", "-1e308", "5e-324"),
    *("9" * 400, "1" * 5000, "0x1F", "1_000", "1,5", "1.5.", "+.5e", "--1", "1e", ".", "-", "-0", "-0.0", "1d5", "1 2", "true"),
    *("\u0663", "\uff19"),
    *("'q'", '"q"', '"a""b"', "it\\'s", "it's", "'", '"', '"""', "'it\\'s'", "\\", "\\\\", "{", "}", "{0 1}", "[", "]"),
    *("[0, 1]", "{a, b}", "%", "#", "@"),
    *("@data", "@attribute x real", "@inputs", ";", ",", "\t", "|", "&", "=", "\r", "\n", "\r\n", "\n\n", "\x0b", "\x0c"),
    *("\x1a", "\x1b[31m", "\x7f"),
    *("\x85", "\u2028", "\xa0", "\u3000", "\ufeff", "\u200b", "\u202e", "\ufffd", "é", "\U0001f600", "\u0130", "ß", "\0"),
    *("../x", "/etc/passwd", "=1+1"),
    *("<html>", "<!DOCTYPE html>", "&lt;", "y", "x1", "x2", "1899-12-31", "relational", "date 'yyyy'", "x" * 70, "a'" * 40),
    *(" " * 300,),
)
MARKS = (
    b",", b";", b"\t", b" ", b"'", b'"', b"{", b"}", b"[", b"]", b"@", b"%", b"?", b"\\", b"\n", b"\r", b"\0", b"\xff",
    b"\xef\xbb\xbf", b"<", b"=",
)
LINES = (
    *("@data", "@DATA", "@data 1,2", "@relation", "@relation 'x", "@attribute", "@attribute x", "@attribute 'x real"),
    *("@attribute x real [0, 1]",),
    *("@attribute x integer [1e999, "
        "nan]", "@attribute x real [,]", "@attribute x real [1", "@attribute x {}", "@attribute x {a", "@attribute x {a,,a}"),
    *("@attribute x [a, b]", "@attribute x{'a', \"b\"}", "@attribute '' real", "@attribute x relational"),
    *("@attribute x date 'yyyy'", "@attribute x string"),
    *("@attribute x real {a}", "@inputs", "@inputs x1", "@inputs x1, x1,", "@inputs y", "@outputs", "@outputs y"),
    *("@outputs y, x1", "@output nothing"),
    *("@end x", "@", "%", "# @data", "{0 1, 1 a}", "1", "1,2,3", ",", ",,,,", "'a', 'b'", "\"a\nb\",1", "  ", "\x1a"),
)
MEMBERS = (
    "x.dat", "x.csv", "../x.dat", "/x.dat", "C:\\x.dat", "a/x.dat", "..\\..\\x.dat", "x", "", "\x1b[31mx", "é.dat", "x\n.dat",
    "folder/", "x.xlsx",
)
OPTIONS = (
    *("header=no", "header=yes", "sep=;", "sep=%20", "sep=tab", "sep='", "sep=|", "decimal=,", "decimal=,&sep=;", "skip=1"),
    *("skip=999999",),
    *("target=1", "target=-1", "target=y", "target=x1", "target=99", "target=-999999", "target=%00", "drop=1", "drop=-1,x1"),
    *("drop=1,2,3,4,5", "drop=y"),
    *("map=1:1=2,2=3", "map=-1:a=1,b=2", "map=1:1=%3F", "map=x1:red=1;y:a=b", "round=1:0", "round=1:2;2:300"),
    *("round=-1:999999", "missing=a,1", "missing=%20"),
    *("nominal=1", "nominal=1,-1", "nominal=y&round=y:1", "target=1&drop=1", "map=1:1=a&round=1:1"),
    *("header=no&target=2&drop=1", "skip=2&header=no"),
    *("format=keel", "format=arff", "format=csv", "format=tsv", "format=space", "format=excel", "format=parquet"),
    *("member=x.dat", "member=x.dat,x.csv"),
    *("header=2", "header=none&names=a,b,y", "names=p,q", "encoding=utf-16", "encoding=cp1252", "thousands=,", "thousands=none"),
    *("types=1:nominal,2:number", "types=-1:date", "sheet=1", "sheet=x", "skip_rows=0", "decimal=.&thousands=blank"),
)
SOURCES = (
    "mirror:a/b.dat", "keel:classification/iris", "uci:1/abc+d", "openml:61", "sklearn:load_iris", "generated:x", "file:a.csv",
    "url:https://h/x",
)
# fmt: on


@dataclass(frozen=True)
class Case:
    """One input.

    Attributes
    ----------
    parser : str
        One of `NAMES`.
    file : str
        Name of the file.
    data : bytes
        Its content; for ``source`` the text of a source.
    options : str
        Reading options, as after the ``?`` of a source.
    task, target : str
        As in `foldshift.datasets.readers.formats.read_table`.
    whole : bool
        Whether to take the checksum of the table and prepare it, too.
    own : bool
        Whether it is read as a file of the user's own.
    """

    parser: str
    file: str
    data: bytes
    options: str = ""
    task: str = ""
    target: str = ""
    whole: bool = True
    own: bool = False


class TooSlowError(BaseException):
    """A case took more than `SECONDS`. No `Exception`, so that no parser takes it for a damaged file."""


@dataclass
class Count:
    """Outcomes of the cases of one parser."""

    inputs: int = 0
    accepted: int = 0
    refused: int = 0
    slowest: float = 0.0
    faults: list = field(default_factory=list)


# ---- inputs ----


def make_case(seed, i):
    """Case `i` of a seed.

    Parameters
    ----------
    seed, i : int
        What the case depends on.

    Returns
    -------
    case : Case
    """
    rng = np.random.default_rng([seed, i])
    parser = NAMES[int(np.searchsorted(BOUNDS, rng.integers(BOUNDS[-1]), side="right"))]
    file, data = _MAKERS[parser](rng)
    options = "" if rng.random() < 0.6 else _pick(rng, OPTIONS)
    task, target = _pick(rng, ("", "regression", "classification")), _pick(rng, ("", "y", "x1"))
    return Case(parser, file, data, options, task, target, _chance(rng, 3), _chance(rng, 2))


def _pick(rng, choices):
    return choices[int(rng.integers(len(choices)))]


def _chance(rng, one_in):
    return int(rng.integers(one_in)) == 0


def _cells(rng):
    """Texts of a small table, mostly of one kind per column."""
    width, height = int(rng.integers(1, 6)), int(rng.integers(1, 8))
    columns = []
    odd = rng.random((width, height)) < _pick(rng, (0.0, 0.0, 0.05, 0.3))
    for p in range(width):
        kind = _pick(rng, (PLAIN[:2], PLAIN[:6], PLAIN[6:], PLAIN))
        columns.append([_pick(rng, ODD if odd[p, r] else kind) for r in range(height)])
    names = [f"x{p}" for p in range(1, width)] + ["y"]
    if _chance(rng, 6):
        names[int(rng.integers(width))] = _pick(rng, ODD)
    return names, columns


def _header(rng, quoted):
    """A KEEL or (`quoted`) ARFF file."""
    names, columns = _cells(rng)
    lines = ["@relation made-up"]
    for name, column in zip(names, columns):
        kind = "{" + ", ".join(dict.fromkeys(column)) + "}"
        if all(text in PLAIN[:6] for text in column) or _chance(rng, 4):
            kind = _pick(rng, ("real", "real [0, 12]", "integer", "numeric", "string" if quoted else "", kind, "INTEGER[1,2]"))
        quote = _pick(rng, ("", "", "'", '"')) if quoted else ""
        lines.append(f"@attribute {quote}{name}{quote} {kind}")
    if not quoted:
        lines.append(
            _pick(
                rng, ("", f"@outputs {names[-1]}", "@inputs " + ", ".join(names[:-1]) + f"\n@outputs {names[-1]}", "@output x1")
            )
        )
    lines.append("@data")
    if quoted and _chance(rng, 3):
        columns = [[repr(text) if _chance(rng, 2) else text for text in column] for column in columns]
    separator = _pick(rng, (",", ", "))
    lines += [separator.join(row) for row in zip(*columns)]
    return _damaged(rng, lines)


def _rows(rng, separator, header):
    """Rows of separated fields, quoted as RFC 4180 says or not at all."""
    names, columns = _cells(rng)
    rows = [names, *zip(*columns)] if header else list(zip(*columns))
    if _chance(rng, 3):
        rows = [['"' + text.replace('"', '""') + '"' if _chance(rng, 2) else text for text in row] for row in rows]
    return _damaged(rng, [separator.join(row) for row in rows])


def _damaged(rng, lines):
    """Bytes of a text, with lines, tokens and bytes moved, removed, repeated and overwritten."""
    for _ in range(_pick(rng, (0, 0, 0, 0, 1, 1, 2, 4))):
        at = int(rng.integers(len(lines) + 1))
        action = int(rng.integers(5))
        if action == 0:
            del lines[at : at + int(rng.integers(1, 3))]
        elif action == 1:
            lines.insert(at, _pick(rng, LINES))
        elif action == 2:
            lines[at:at] = lines[: int(rng.integers(1, 4))]
        elif action == 3:
            lines.insert(at, _pick(rng, ODD))
        elif lines:
            lines[at - 1] = lines[at - 1].replace(_pick(rng, (",", " ", "1", "a", "{", "}")), _pick(rng, ODD))
    data = (
        _pick(rng, ("\n", "\n", "\n", "\r\n", "\r"))
        .join([*lines, ""])
        .encode(_pick(rng, ("utf-8", "utf-8", "utf-8", "latin-1")), "replace")
    )
    if _chance(rng, 40):
        data = data.decode("utf-8", "replace").encode(
            _pick(rng, ("utf-8-sig", "utf-16", "utf-16-be", "utf-32", "utf-7", "cp037")), "replace"
        )
    return _overwritten(rng, data, _pick(rng, (0, 0, 0, 0, 1, 1, 3)))


def _overwritten(rng, data, times):
    """Bytes in which pieces were cut out, repeated or overwritten; one in 20,000 grows to a megabyte."""
    for _ in range(times):
        start = int(rng.integers(len(data) + 1))
        piece = data[start : start + int(rng.integers(1, 20))]
        action = int(rng.integers(6))
        if action == 0:
            data = data[:start] + rng.bytes(int(rng.integers(1, 5))) + data[start + int(rng.integers(5)) :]
        elif action == 1:
            data = data[:start] + data[start + len(piece) :]
        elif action == 2:
            data = data[:start] + piece + data[start:]
        elif action == 3:
            data = data[:start] + _pick(rng, MARKS) + data[start + int(rng.integers(2)) :]
        elif action == 4:
            data = data[:start] if _chance(rng, 3) else data[:start] + _pick(rng, ODD).encode() + data[start:]
        else:
            data = data[:start] + piece * int(rng.integers(2, 30)) + data[start:]
    if _chance(rng, 20_000):
        start = int(rng.integers(len(data) + 1))
        piece = data[start : start + _pick(rng, (1, 2, 20))] or _pick(rng, MARKS)
        data = data[:start] + piece * (2**20 // len(piece)) + data[start:]
    return data


def _packed(rng, members):
    """A zip archive."""
    packed = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(packed, "w") as archive:
        warnings.simplefilter("ignore")  # of names that occur twice
        method = zipfile.ZIP_DEFLATED if _chance(rng, 2) else zipfile.ZIP_STORED
        if _chance(rng, 20):
            method = _pick(rng, (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
        for name, data in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = _pick(rng, (0o100644, 0o120777, 0o040755)) << 16  # a file, a link, a folder
            archive.writestr(info, data, method)
    return packed.getvalue()


def _zip(rng):
    members = []
    for _ in range(_pick(rng, (0, 1, 1, 1, 1, 2, 3))):
        data = _header(rng, False) if _chance(rng, 2) else _rows(rng, ",", False)
        if _chance(rng, 10):
            data += _pick(rng, (b"\0", b" ", b"\n1,2")) * int(rng.integers(1, 400_000))
        members.append((_pick(rng, MEMBERS), data))
    return "x.zip", _overwritten(rng, _packed(rng, members), _pick(rng, (0, 1, 1, 2)))


def _single(rng):
    """One file packed by gzip, bzip2 or xz."""
    ending, pack = _pick(rng, (("gz", _gzipped), ("bz2", bz2.compress), ("xz", lzma.compress)))
    data = _rows(rng, _pick(rng, (",", ";")), True)
    if _chance(rng, 20):
        data += _pick(rng, (b"\0", b" ", b"\n1,2")) * int(rng.integers(1, 400_000))
    packed = pack(data) + (pack(b"\n1,2") if _chance(rng, 10) else b"")
    return f"x.csv.{ending}", _overwritten(rng, packed, _pick(rng, (0, 1, 1, 2)))


def _source(rng):
    text = _pick(rng, SOURCES) + "?" + _pick(rng, OPTIONS)
    return "", _overwritten(rng, text.encode(), _pick(rng, (0, 1, 1, 2)))[:200]


# fmt: off
SHEET = (
    '<?xml version="1.0"?>\n<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><dimension '
    'ref="A1:C3"/><sheetData>'
    '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>x2</t></is></c><c r="C1" t="str"><v>y</v></c></row>'
    '<row r="2"><c r="A2"><v>1.5</v></c><c r="B2" s="1"><v>41000</v></c><c r="C2" t="b"><v>1</v></c></row>'
    '<row r="3"><c r="A3"><v>2</v></c><c r="B3" s="1"><v>41001.5</v></c><c r="C3" '
    't="e"><v>#N/A</v></c></row></sheetData></worksheet>'
)
BOOK = {
    "[Content_Types].xml": '<?xml version="1.0"?>\n<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override '
    'PartName="/xl/workbook.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override '
    'PartName="/xl/sheet.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/><Override '
    'PartName="/xl/strings.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/><Override '
    'PartName="/xl/styles.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/></Types>',
    "_rels/.rels": '<?xml version="1.0"?>\n<Relationships '
        'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": '<?xml version="1.0"?>\n<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Sheet" sheetId="1" '
    'r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": '<?xml version="1.0"?>\n<Relationships '
        'xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" '
    'Target="sheet.xml"/></Relationships>',
    "xl/strings.xml": '<?xml version="1.0"?>\n<sst '
        'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>x1</t></si></sst>',
    "xl/styles.xml": '<?xml version="1.0"?>\n<styleSheet '
        'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><fonts><font/></fonts>'
    '<fills><fill><patternFill/></fill></fills><borders><border/></borders><cellStyleXfs><xf/></cellStyleXfs><cellXfs><xf '
    'numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
    "xl/sheet.xml": SHEET,
}
XML = (
    "A1", "C3", "XFD1048576", "ZZZ1", "A0", "A-1", "99999999999", "-1", 't="s"', 't="d"', 't="x"', 's="9"', "<v/>", "<v>",
    "&x;", "]]>", "<!--", "<row>",
)
XML += ('<!DOCTYPE x [<!ENTITY x '
    '"y">]>', '<!DOCTYPE x [<!ENTITY x SYSTEM "file:///etc/passwd">]>', "<c><c><c>", "1" * 5000, "1e999", "nan", "\x01", "")
# fmt: on


def _xlsx(rng):
    parts = dict(BOOK)
    for _ in range(_pick(rng, (0, 1, 2, 3))):
        name = _pick(rng, (*parts, "xl/sheet.xml", "xl/sheet.xml")) if parts else "xl/sheet.xml"
        text = parts.get(name, "")
        action = int(rng.integers(4))
        if action == 0:
            start = int(rng.integers(len(text) + 1))
            parts[name] = text[:start] + _pick(rng, XML) + text[start + int(rng.integers(3)) :]
        elif action == 1:
            parts[name] = text.replace(
                _pick(rng, ("A1", 'r="3"', "1.5", "41000", "<v>0", 't="s"', "numFmtId", "?>\n", "sheet.xml", "r1")),
                _pick(rng, XML),
            )
        elif action == 2:
            parts[name] = _overwritten(rng, text.encode(), 2).decode("utf-8", "replace")
        elif _chance(rng, 3):
            parts.pop(name, None)
    data = _packed(rng, parts.items())
    return "x.xlsx", _overwritten(rng, data, _pick(rng, (0, 0, 0, 1)))


def old_workbook(rows):
    """An `.xls` file: a BIFF8 stream in an OLE2 container of two sectors of administration.

    Parameters
    ----------
    rows : list of list of (str, float or None)
        Cells.

    Returns
    -------
    data : bytes
    """

    def record(kind, content):
        return struct.pack("<HH", kind, len(content)) + content

    cells = b""
    for r, row in enumerate(rows):
        for c, value in enumerate(row):
            if isinstance(value, str):
                text = struct.pack("<HB", len(value), 0) + value.encode("latin-1")
                cells += record(0x0204, struct.pack("<HHH", r, c, 0) + text)
            elif value is not None:
                cells += record(0x0203, struct.pack("<HHHd", r, c, 0, value))
    begin = [record(0x0809, struct.pack("<HHHHII", 0x0600, kind, 0, 0, 0, 0)) for kind in (5, 0x10)]
    end = record(0x000A, b"")
    name = struct.pack("<BB", 5, 0) + b"Sheet"
    position = len(begin[0]) + len(record(0x0085, b"\0" * 6 + name)) + len(end)
    stream = begin[0] + record(0x0085, struct.pack("<IH", position, 0) + name) + end + begin[1] + cells + end
    stream = stream.ljust(max(4096, -(-len(stream) // 512) * 512), b"\0")
    sectors = len(stream) // 512
    chain = [0xFFFFFFFD, 0xFFFFFFFE, *range(3, sectors + 2), 0xFFFFFFFE]
    table_of_sectors = struct.pack("<128I", *chain, *[0xFFFFFFFF] * (128 - len(chain)))

    def entry(title, kind, child, start, size):
        label = (title + "\0").encode("utf-16-le") if title else b""
        links = struct.pack("<HBB3I16sIQQIQ", len(label), kind, 1, 0xFFFFFFFF, 0xFFFFFFFF, child, b"", 0, 0, 0, start, size)
        return label.ljust(64, b"\0") + links

    directory = entry("Root Entry", 5, 1, 0xFFFFFFFE, 0) + entry("Workbook", 2, 0xFFFFFFFF, 2, len(stream)) + bytes(256)
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    head += struct.pack("<9I", 0, 1, 1, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0)
    head += struct.pack("<109I", 0, *[0xFFFFFFFF] * 108)
    return head + table_of_sectors + directory + stream


def _xls(rng):
    rows = [["x1", "x2", "y"], [1.0, 2.5, "a"], [2.0, None, "b"], [1e300, float("nan"), "\xff"]][: int(rng.integers(1, 5))]
    data = bytearray(old_workbook(rows))
    for _ in range(_pick(rng, (0, 1, 2, 6, 20))):
        region, length = _pick(rng, ((0, 90), (512, 40), (1024, 256), (1536, 100 + 30 * len(rows))))
        at = region + int(rng.integers(length))
        change = _pick(
            rng, (b"\0", b"\xff", b"\xff\xff\xff\xff", b"\0\0\0\0", b"\1", b"\x7f", rng.bytes(1), rng.bytes(2), rng.bytes(4))
        )
        data[at : at + len(change)] = change
    return "x.xls", _overwritten(rng, bytes(data), 1) if _chance(rng, 5) else bytes(data)


@functools.cache
def _tables():
    """Parquet files of many types and codings."""
    label = pa.array(["z", "a", "z"]).dictionary_encode()
    columns = {
        "x1": pa.array([1, 2, None]),
        "x2": pa.array([0.5, float("nan"), 2.0]),
        "truth": pa.array([True, False, None]),
        "label": label,
        "text": pa.array(["b", None, "a" * 200]),
        "binary": pa.array([b"\xff\xfe", b"", None]),
        "wrong": pa.StringArray.from_buffers(3, pa.py_buffer(struct.pack("<4i", 0, 1, 2, 3)), pa.py_buffer(b"\xff\xc3a")),
        "wrong_label": pa.DictionaryArray.from_arrays(
            pa.array([0, 1, 0], pa.int8()),
            pa.StringArray.from_buffers(2, pa.py_buffer(struct.pack("<3i", 0, 1, 2)), pa.py_buffer(b"\xffa")),
        ),
        "list": pa.array([[1], [], None]),
        "struct": pa.array([{"a": 1}, {"a": None}, None]),
        "map": pa.array([[("a", 1)], [], None], pa.map_(pa.string(), pa.int64())),
        "time": pa.array([2**62, -(2**62), 0], pa.timestamp("ns")),
        "late": pa.array([2**62, -(2**62), 0], pa.timestamp("s")),
        "zone": pa.array([0, 1, 2], pa.timestamp("ms", "Nowhere/City")),
        "date": pa.array([2**30, 0, -(2**30)], pa.date32()),
        "span": pa.array([1, 2, 2**62], pa.duration("s")),
        "clock": pa.array([0, 1, 86_399], pa.time32("s")),
        "big": pa.array([2**64 - 1, 0, 1], pa.uint64()),
        "half": pa.array(np.array([1, 2, 3], np.float16)),
        "decimal": pa.array([None, "1.5", "2"]).cast(pa.decimal128(38, 5)),
        "null": pa.nulls(3),
        "y": pa.array(["1", "2", "1"]),
    }
    tables = [pa.table({name: column, "y": columns["y"]}) for name, column in columns.items() if name != "y"]
    tables += [pa.table({name: columns[name] for name in ("x1", "x2", "label", "y")})] * 8
    tables += [
        pa.Table.from_arrays([columns["x1"], columns["x1"]], names=["a", "a"]),
        pa.table({"x1": columns["x1"][:0]}),
        pa.table({}),
    ]
    tables.append(pa.Table.from_pandas(pd.DataFrame({"a": [1, 2], "y": [3, 4]}, index=["p", "q"])))
    codecs = ("snappy", "gzip", "zstd", "lz4", "none", "brotli")
    files = []
    for position, table in enumerate(tables):
        packed = io.BytesIO()
        # some writers of this list do not exist for every type; what cannot be written cannot be read
        with contextlib.suppress(pa.ArrowException):
            pq.write_table(table, packed, compression=codecs[position % len(codecs)], use_dictionary=position % 2 == 0)
            files.append(packed.getvalue())
    return files


def _parquet(rng):
    data = bytearray(_pick(rng, _tables()))
    for _ in range(_pick(rng, (0, 1, 1, 2, 5))):
        at = 4 + int(rng.integers(len(data) - 8))
        change = _pick(rng, (b"\0", b"\xff", b"\xff\xff\xff\xff\x0f", b"\1", b"\x15", rng.bytes(1), rng.bytes(3)))
        data[at : at + len(change)] = change
    return "x.parquet", _overwritten(rng, bytes(data[:-4]), 1) + b"PAR1" if _chance(rng, 8) else bytes(data)


_MAKERS = {
    "keel": lambda rng: ("x.dat", _header(rng, False)),
    "arff": lambda rng: ("x.arff", _header(rng, True)),
    "csv": lambda rng: ("x.csv", _rows(rng, _pick(rng, (",", ",", ",", ";", ", ", "|", " ")), True)),
    "tsv": lambda rng: ("x.tsv", _rows(rng, "\t", True)),
    "uci": lambda rng: (
        _pick(rng, ("x.data", "x.txt", "x", "x.names")),
        _rows(rng, _pick(rng, (",", " ", "   ", ";", "\t")), _chance(rng, 4)),
    ),
    "source": _source,
    "zip": _zip,
    "packed": _single,
    "xls": _xls,
    "xlsx": _xlsx,
    "parquet": _parquet,
}


# ---- one case ----


def read_case(case):
    """Take a case the whole way: archive, parser, checksum, preparation.

    Parameters
    ----------
    case : Case
        The case.

    Returns
    -------
    table : RawTable or None
        What was read; None for the text of a source.

    Raises
    ------
    FoldshiftError
        If the input is refused.
    AssertionError
        If it is accepted, but what comes out is not what is promised.
    """
    if case.parser == "source":
        parse_source(case.data.decode("utf-8", "replace"))
        return None
    options = replace(parse_options(case.options), own=case.own)
    file, data = case.file, case.data
    if case.parser == "zip" and data.startswith(ZIP_SIGNATURE):
        members = read_members(data, options.member)
        file, data = f"{file}/{next(iter(members))}", next(iter(members.values()))
    if case.parser == "packed":
        file, data = unpacked(data, file)
    table = read_table(data, file, options, task=case.task, target=case.target)
    assert isinstance(table, RawTable) and len(table.frame) > 0, "no table"
    assert table.target in table.frame and list(table.kinds) == list(table.frame), "target or kinds do not fit the columns"
    assert set(table.kinds.values()) <= set(KINDS), "unknown kind"
    for name, kind in table.kinds.items():
        if kind != "nominal":
            assert table.frame[name].dtype == np.float64, "numbers are not float64"
    assert all(note.isprintable() and len(note) <= MAX_MESSAGE for note in table.notes), "a note is not one printable line"
    assert not set(table.left_out) & set(table.frame), "a column is left out and there"
    if case.whole:
        assert len(fingerprint(table)) == 16
        notes = prepare(table, "x", case.task or "regression").notes
        assert all(note.isprintable() and len(note) <= MAX_MESSAGE for note in notes), "a note is not one printable line"
    return table


def fault_of(case):
    """Find the fault in how a case is handled.

    Parameters
    ----------
    case : Case
        The case.

    Returns
    -------
    fault : str
        Empty if nothing is; else kind of error and place, the same for all cases with one cause.
    accepted : bool
        Whether a table came out.
    """
    signal.setitimer(signal.ITIMER_PROF, SECONDS if len(case.data) < LARGE else SECONDS_OF_LARGE)
    try:
        read_case(case)
        return "", True
    except FoldshiftError as error:
        text = str(error)
        if not (text.isprintable() and len(text) <= MAX_MESSAGE):
            return f"the message is not one printable line of at most {MAX_MESSAGE} characters: {text[:200]!r}", False
        return (f"memory ran out: {text}" if "MemoryError" in text else ""), False
    except (TooSlowError, Exception) as error:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "foldshift" in frame.filename]
        where = f"{Path(frames[-1].filename).name}:{frames[-1].name}" if frames else "fuzz_parsers.py"
        said = str(error) if isinstance(error, AssertionError) else ""
        return f"{type(error).__name__} in {where}{': ' if said else ''}{said}", False
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def minimise(case, tries=400):
    """A shorter file with the same fault: halves, quarters, ... are cut out as long as the fault stays.

    Parameters
    ----------
    case : Case
        A case with a fault.
    tries : int, default=400
        Files to try at most.

    Returns
    -------
    case : Case
    """
    fault, _ = fault_of(case)
    size = len(case.data) // 2
    while size > 0:
        start = 0
        while start < len(case.data) and tries > 0:
            tries -= 1
            shorter = replace(case, data=case.data[:start] + case.data[start + size :])
            if fault_of(shorter)[0] == fault:
                case = shorter
            else:
                start += size
        size //= 2
    return case


# ---- all cases ----


def too_slow(number, frame):
    """End a case: the handler of the timer's signal.

    Raises
    ------
    TooSlowError
        Always.
    """
    raise TooSlowError


def limit_process():
    """Bound memory and time of this process: what exceeds them becomes an exception, or ends the process with a traceback."""
    signal.signal(signal.SIGPROF, too_slow)
    faulthandler.enable()
    pa.set_memory_pool(pa.system_memory_pool())  # Arrow's own pool reserves a gigabyte at once
    _tables()
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if Path("/proc/self/statm").exists() else 0
    limit = pages * resource.getpagesize() + GROWTH
    if pages:
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))
    warnings.simplefilter("ignore")
    warnings.filterwarnings("error", category=RuntimeWarning, module="foldshift")


def fuzz(inputs, seed=0, minutes=None, keep=None, say=print):
    """Run cases 0, 1, ... of a seed.

    Parameters
    ----------
    inputs : int
        Number of cases.
    seed : int, default=0
        The seed.
    minutes : float or None, default=None
        Stop after so many minutes.
    keep : path-like or None, default=None
        Folder for the faulty inputs, minimised.
    say : callable, default=print
        Called with one line of text per kind of fault.

    Returns
    -------
    counts : dict of str to Count
        By parser.
    """
    counts = {parser: Count() for parser in NAMES}
    end = None if minutes is None else time.monotonic() + 60 * minutes
    known = set()
    for i in range(inputs):
        if i % 100 == 0:
            if end is not None and time.monotonic() > end:
                break
            faulthandler.dump_traceback_later(HANG, exit=True)
        case = make_case(seed, i)
        begin = time.process_time()
        fault, accepted = fault_of(case)
        seconds = time.process_time() - begin
        count = counts[case.parser]
        count.inputs += 1
        count.accepted += accepted
        count.refused += not accepted and not fault
        count.slowest = max(count.slowest, seconds)
        if fault:
            count.faults.append(i)
            kind = (case.parser, fault.partition(":")[0])
            if kind not in known:
                known.add(kind)
                say(f"case {i} ({case.file}, options {case.options!r}, task {case.task!r}): {fault}")
                if keep is not None:
                    _keep(Path(keep), minimise(case), f"{case.parser}-{seed}-{i}", fault)
    faulthandler.cancel_dump_traceback_later()
    return counts


def _keep(folder, case, name, fault):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.bin").write_bytes(case.data)
    (folder / f"{name}.txt").write_text(
        f"{case.file}\noptions {case.options}\ntask {case.task}\ntarget {case.target}\nown {case.own}\n{fault}\n",
        encoding="utf-8",
    )


def main():
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=100_000, help="number of cases")
    parser.add_argument("--seed", type=int, default=0, help="cases depend on it")
    parser.add_argument("--minutes", type=float, help="stop after so many minutes")
    parser.add_argument("--keep", help="folder for faulty inputs")
    arguments = parser.parse_args()
    limit_process()
    begin = time.monotonic()
    counts = fuzz(arguments.inputs, arguments.seed, arguments.minutes, arguments.keep)
    print(f"{'parser':8} {'inputs':>8} {'accepted':>8} {'refused':>8} {'slowest ms':>10} {'faults':>6}")
    for name, count in counts.items():
        print(
            f"{name:8} {count.inputs:8} {count.accepted:8} {count.refused:8} {1000 * count.slowest:10.1f} {len(count.faults):6}"
        )
    total, faults = sum(count.inputs for count in counts.values()), sum(len(count.faults) for count in counts.values())
    print(f"{total} inputs, {faults} faults, {time.monotonic() - begin:.1f} s")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
