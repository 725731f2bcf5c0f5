"""Formats with a header of attributes: KEEL and ARFF."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

from foldshift.core.errors import DataError
from foldshift.datasets.readers.column_kinds import Columns, build_table
from foldshift.datasets.readers.read_options import ReadOptions
from foldshift.datasets.readers.text_fields import as_number, check_width, split_lines, text_of, unquoted

if TYPE_CHECKING:
    from foldshift.datasets.readers.raw_table import RawTable

# possessive quantifiers (*+): no way back, so a hostile line costs no more than its length
_QUOTED_FIELD = re.compile(r"""\s*+(?:'((?:[^'\\]|\\.)*+)'\s*+|"((?:[^"\\]|\\.)*+)"\s*+|([^,'"]*+))(,|$)""")


def read_keel(
    data: bytes | str,
    options: ReadOptions | None = None,
    *,
    task: Literal["", "regression", "classification"] = "",
    target: str = "",
) -> RawTable:
    """Read a KEEL `.dat` file.

    References
    ----------
    KEEL Software Suite user manual, "Data files format"; `@input` and `@output` for `@inputs` and `@outputs`, missing
    `@inputs` or `@outputs`, and nominal attributes without a list occur in the distributed files.
    """
    return build_table(_header_columns(text_of(data, "latin-1"), options, quoted=False), options, task, target)


def read_arff(
    data: bytes | str,
    options: ReadOptions | None = None,
    *,
    task: Literal["", "regression", "classification"] = "",
    target: str = "",
) -> RawTable:
    """Read a dense ARFF file.

    References
    ----------
    Weka, "Attribute-Relation File Format (ARFF)", stable version.
    """
    return build_table(_header_columns(text_of(data), options, quoted=True), options, task, target)


def _header_columns(text: str, options: ReadOptions | None, quoted: bool) -> Columns:
    """Columns of a KEEL file or (`quoted`) of an ARFF file: both have `@attribute` lines, then `@data` and rows."""
    options = options or ReadOptions()
    lines = split_lines(text)
    names, kinds, categories, ranges, roles = [], [], [], {}, {}
    start = None
    for number, line in enumerate(lines[options.skip :], options.skip + 1):
        line = line.strip()
        if not line or line.startswith(("%", "#")):  # distributed files comment out @inputs with #
            continue
        keyword, _, rest = line.replace("\t", " ").partition(" ")
        keyword, rest = keyword.lower(), rest.strip()
        if keyword == "@data":
            start = number
            break
        if keyword == "@attribute":
            try:
                name, kind, labels, limits = _attribute(rest, quoted)
            except DataError as error:
                raise DataError(f"line {number}: {error}") from error
            if limits is not None:
                ranges[len(names)] = limits
            names.append(name)
            check_width(names, f"line {number}: ")
            kinds.append(kind)
            categories.append(labels)
        elif keyword in ("@inputs", "@input", "@outputs", "@output") and not quoted:
            roles[keyword.rstrip("s")] = (number, [unquoted(name) for name in rest.split(",") if name.strip()])
        elif keyword != "@relation":
            raise DataError(
                f"line {number}: {line[:40]!r} is not a header line; expected @relation, @attribute, @inputs, @outputs or @data"
            )
    if start is None:
        raise DataError("the header has no @data line; the file is truncated or of another format")
    if not names:
        raise DataError("the header declares no @attribute; the file is damaged or of another format")
    rows, numbers = [], []
    for number, line in enumerate(lines[start:], start + 1):
        line = line.strip()
        if not line or line.startswith("%"):
            continue
        row = _fields(line, number) if quoted else [value.strip() for value in line.split(",")]
        if len(row) != len(names):
            raise DataError(f"line {number}: {len(row)} fields where the header declares {len(names)} attributes; fetch it again")
        rows.append(row)
        numbers.append(number)
    if not rows:
        raise DataError("no rows after @data; the file is truncated")
    target, others = _roles(names, roles)
    return Columns(names, list(zip(*rows)), numbers, kinds, categories, target, others, ranges)


def _attribute(text: str, quoted: bool) -> tuple[Any, ...]:
    """Name, kind, labels and range of one `@attribute` line, without its keyword."""
    if text[:1] in ("'", '"'):
        end = text.find(text[0], 1)
        if end < 0:
            raise DataError(f"attribute name {text[:40]!r} has no closing quote")
        name, rest = text[1:end], text[end + 1 :].strip()
    else:
        name = re.match(r"[^\s{]*", text).group()
        rest = text[len(name) :].strip()
    if not name:
        raise DataError("an @attribute without a name")
    if rest[:1] in ("{", "["):
        closing = {"{": "}", "[": "]"}[rest[0]]
        if not rest.endswith(closing):
            raise DataError(f"the labels of attribute {name[:60]!r} have no closing {closing!r}")
        inner = rest[1:-1].strip()
        labels = _fields(inner, None) if quoted else [unquoted(label) for label in inner.split(",")]
        labels = list(dict.fromkeys(label for label in labels if label))
        if not labels:
            raise DataError(f"attribute {name[:60]!r} declares no labels")
        return name, "nominal", labels, None
    word = re.match(r"[A-Za-z]*", rest).group().lower()
    after = rest[len(word) :].strip()
    kind = {"integer": "integer", "real": "real", "numeric": "numeric", "": "nominal", "nominal": "nominal"}.get(word)
    if quoted:
        kind = "nominal" if word in ("string", "date") else kind if word else None
    if kind is None:
        raise DataError(f"attribute {name[:60]!r} has the type {rest[:40]!r}; allowed are integer, real, numeric and {{labels}}")
    limits = None
    if after.startswith("[") and kind != "nominal":
        bounds = [as_number(bound) for bound in after.rstrip("]").lstrip("[").split(",")]
        if len(bounds) != 2 or None in bounds:
            raise DataError(f"attribute {name[:60]!r} has the range {after[:40]!r}; expected [min, max]")
        limits = tuple(bounds)
    return name, kind, None, limits


def _fields(line: str, number: int | None) -> list[str]:
    """Fields of an ARFF row or label list, with quotes and backslash escapes."""
    if "'" not in line and '"' not in line:
        if line.startswith("{"):
            raise DataError(f"line {number}: sparse ARFF rows are not supported; convert the file to dense ARFF or csv")
        return [value.strip() for value in line.split(",")]
    fields, position = [], 0
    while True:
        match = _QUOTED_FIELD.match(line, position)
        if match is None:
            where = f"line {number}: " if number else ""
            raise DataError(
                f"{where}cannot read {line[position : position + 40]!r}: a quote is not closed or stands inside a field"
            )
        single, double, bare = match.group(1, 2, 3)
        if bare is not None:
            fields.append(bare.strip())
        else:
            fields.append(re.sub(r"\\(.)", r"\1", single if single is not None else double))
        position = match.end()
        check_width(fields, f"line {number}: " if number else "")
        if not match.group(4):
            return fields


def _roles(names: list[str], roles: dict[str, tuple[int, list[str]]]) -> tuple[int | None, set[Any]]:
    """Position of the target and of the columns that are neither inputs nor target, from @inputs and @outputs."""
    where = {name: position for position, name in enumerate(names)}
    positions = {}
    for role, (number, given) in roles.items():
        for name in given:
            if name not in where:
                raise DataError(
                    f"line {number}: {role}s names {name[:60]!r}, which no @attribute declares; the header is damaged"
                )
        positions[role] = {where[name] for name in given}
    everything = set(where.values())
    inputs, outputs = positions.get("@input"), positions.get("@output")
    if inputs is None and outputs is None:
        return None, set()
    if outputs is None:
        outputs = everything - inputs
    if inputs is None:
        inputs = everything - outputs
    target = next(iter(outputs)) if len(outputs) == 1 else None
    return target, everything - inputs - {target}
