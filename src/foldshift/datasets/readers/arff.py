"""Readers of formats with a header of attributes: KEEL and ARFF."""

from __future__ import annotations

import re
from string import ascii_letters
from typing import TYPE_CHECKING, NamedTuple

from foldshift.core.errors import DataError
from foldshift.datasets.readers.column_kinds import Columns, build_table
from foldshift.datasets.readers.read_options import ReadOptions
from foldshift.datasets.readers.text_fields import MAX_CELLS, as_number, check_width, split_lines, text_of, unquoted

if TYPE_CHECKING:
    from foldshift.core.types import TaskIfKnown
    from foldshift.datasets.readers.column_kinds import DeclaredKind
    from foldshift.datasets.readers.raw_table import RawTable

# Possessive quantifiers (*+) never go back, so a hostile line costs no more than its length.
_QUOTED_FIELD = re.compile(r"""\s*+(?:'((?:[^'\\]|\\.)*+)'\s*+|"((?:[^"\\]|\\.)*+)"\s*+|([^,'"]*+))(,|$)""")

_SPARSE_FIELD = re.compile(r"""\s*+(\d{1,6})\s++(?:'((?:[^'\\]|\\.)*+)'|"((?:[^"\\]|\\.)*+)"|([^\s,'"{}]++))\s*+(?:,|(?=\}))""")
_WEIGHT = re.compile(r",\s*\{\s*[\d.eE+-]+\s*\}$")  # of a row, behind its last field

_KINDS: dict[str, DeclaredKind] = {
    "integer": "integer",
    "real": "real",
    "numeric": "numeric",
    "": "nominal",
    "nominal": "nominal",
}


def read_keel(data: bytes | str, options: ReadOptions | None = None, *, task: TaskIfKnown = "", target: str = "") -> RawTable:
    """Read a KEEL `.dat` file, Latin-1 after an optional UTF-8 byte-order mark; kinds and labels are those of the header.

    Source: KEEL Software Suite user manual, "Data files format"; `@input` and `@output` for `@inputs` and `@outputs`, missing
    `@inputs` or `@outputs`, and nominal attributes without a list occur in the distributed files.
    """
    return build_table(_header_columns(text_of(data, "latin-1"), options, quoted=False), options, task, target)


def read_arff(data: bytes | str, options: ReadOptions | None = None, *, task: TaskIfKnown = "", target: str = "") -> RawTable:
    """Read an ARFF file, dense or sparse, UTF-8 or else Latin-1; string and date attributes are nominal.

    Source: Weka, "Attribute-Relation File Format (ARFF)", stable version.
    """
    return build_table(_header_columns(text_of(data), options, quoted=True), options, task, target)


class _Attribute(NamedTuple):
    """Declaration of one column: its name, kind, labels and range."""

    name: str
    kind: DeclaredKind
    labels: list[str] | None = None
    limits: tuple[float, float] | None = None


class _Header(NamedTuple):
    """Declarations before `@data`, and the number of lines up to it; `roles` hold line and names of @input and @output."""

    attributes: list[_Attribute]
    roles: dict[str, tuple[int, list[str]]]
    n_lines: int


def _header_columns(text: str, options: ReadOptions | None, quoted: bool) -> Columns:
    """Read the columns of a KEEL file or (`quoted`) of an ARFF file: `@attribute` lines, then `@data` and rows."""
    options = options or ReadOptions()
    lines = split_lines(text)
    attributes, roles, start = _read_header(lines, options.n_skipped, quoted)
    rows, numbers = [], []
    n_weights, n_sparse = 0, 0
    for number, line in enumerate(lines[start:], start + 1):
        line = line.strip()
        if not line or line.startswith("%"):
            continue
        if quoted and line.endswith("}") and (weight := _WEIGHT.search(line)):
            line, n_weights = line[: weight.start()], n_weights + 1
        if quoted and line.startswith("{"):
            row = _sparse_row(line, number, attributes, options.own)
            n_sparse += 1
            if n_sparse * len(attributes) > MAX_CELLS:
                raise DataError(f"more than {MAX_CELLS} cells with the zeros that sparse rows leave out; cut the table down")
        else:
            row = _row(line, number, len(attributes), quoted, options.own)
        if len(row) != len(attributes):
            raise DataError(
                f"line {number}: {len(row)} fields where the header declares {len(attributes)} attributes; correct this line, "
                "or the header"
            )
        rows.append(row)
        numbers.append(number)
    if not rows:
        raise DataError("no rows after @data; the file is truncated")
    names = [attribute.name for attribute in attributes]
    target, others = _roles(names, roles)
    return Columns(
        names,
        list(zip(*rows)),
        numbers,
        kinds=[attribute.kind for attribute in attributes],
        categories=[attribute.labels for attribute in attributes],
        target=target,
        others=others,
        ranges={p: attribute.limits for p, attribute in enumerate(attributes) if attribute.limits is not None},
        notes=[f"weights of {n_weights} rows left out; no weights are used"] if n_weights else [],
    )


def _row(line: str, number: int, width: int, quoted: bool, own: bool) -> list[str | None]:
    """Cut a row into fields; a comma at its end does not count, and tabs separate fields where commas do not."""
    if own and quoted and "%" in line:
        line = _without_comment(line)
    row: list[str | None] = list(_fields(line, number) if quoted else [value.strip() for value in line.split(",")])
    if len(row) == width + 1 and not row[-1]:
        row.pop()
    if len(row) != width and "\t" in line:
        cells = line.rstrip(",").split("\t")
        row = [unquoted(cell) for cell in cells] if len(cells) == width else row
    if own and quoted and "?" in row and not re.search(r"""['"]\s*\?\s*['"]""", line):
        row = [None if cell == "?" else cell for cell in row]
    return row


def _sparse_row(line: str, number: int, attributes: list[_Attribute], own: bool) -> list[str | None]:
    """Read a row that leaves out zeros and first labels: ``{index value, index value}``, with indices from 0."""
    if own and "%" in line:
        line = _without_comment(line)
    row: list[str | None] = [attribute.labels[0] if attribute.labels else "0" for attribute in attributes]
    seen, position = set[int](), 1
    while line[position:].strip() not in ("}", ""):
        found = _SPARSE_FIELD.match(line, position)
        if found is None:
            shown = line[position : position + 40].strip()
            raise DataError(f"line {number}: cannot read {shown!r} of a sparse row; write {{index value, index value}}")
        at, single, double, bare = int(found[1]), found[2], found[3], found[4]
        if at >= len(attributes) or at in seen:
            why = "which is there twice" if at in seen else f"the attributes are 0 to {len(attributes) - 1}"
            raise DataError(f"line {number}: a sparse row has the index {at}, {why}; correct this line")
        seen.add(at)
        quoted = single if single is not None else double
        row[at] = (None if own and bare == "?" else bare) if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
        position = found.end()
    if not line.endswith("}"):
        raise DataError(f"line {number}: a sparse row has no closing brace; the file may be cut")
    texts = [one for at, one in enumerate(attributes) if one.kind == "nominal" and one.labels is None and at not in seen]
    if texts:
        raise DataError(f"line {number}: a sparse row leaves out the text of {texts[0].name[:60]!r}; write it in")
    return row


def _without_comment(line: str) -> str:
    """Cut a line at the first per-cent sign behind a blank and outside of quotes."""
    outside = re.match(r"""(?:'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+"|[^'"%]|(?<!\s)%)*+""", line)
    return line if outside is None else line[: outside.end()].rstrip() if line[outside.end() :][:1] == "%" else line


def _read_header(lines: list[str], skip: int, quoted: bool) -> _Header:
    """Read the lines up to `@data`; ARFF files (`quoted`) declare no inputs and outputs."""
    attributes: list[_Attribute] = []
    roles: dict[str, tuple[int, list[str]]] = {}
    for number, line in enumerate(lines[skip:], skip + 1):
        line = line.strip()
        if not line or line.startswith(("%", "#")):  # distributed files comment out @inputs with #
            continue
        keyword, _, rest = line.replace("\t", " ").partition(" ")
        keyword, rest = keyword.lower(), rest.strip()
        if keyword == "@data":
            if not attributes:
                raise DataError("the header declares no @attribute; the file is damaged or of another format")
            return _Header(attributes, roles, number)
        if keyword == "@attribute":
            try:
                attributes.append(_attribute(rest, quoted))
            except DataError as error:
                raise DataError(f"line {number}: {error}") from error
            check_width(attributes, f"line {number}: ")
        elif keyword in ("@inputs", "@input", "@outputs", "@output") and not quoted:
            roles[keyword.rstrip("s")] = (number, [unquoted(name) for name in rest.split(",") if name.strip()])
        elif keyword != "@relation":
            raise DataError(
                f"line {number}: {line[:40]!r} is not a header line; expected @relation, @attribute, @inputs, @outputs or @data"
            )
    raise DataError("the header has no @data line; the file is truncated or of another format")


def _attribute(text: str, quoted: bool) -> _Attribute:
    """Read one `@attribute` line, without its keyword."""
    if text[:1] in ("'", '"'):
        end = text.find(text[0], 1)
        if end < 0:
            raise DataError(f"attribute name {text[:40]!r} has no closing quote")
        name, rest = text[1:end], text[end + 1 :].strip()
    else:
        end = next((place for place, letter in enumerate(text) if letter == "{" or letter.isspace()), len(text))
        name, rest = text[:end], text[end:].strip()
    if not name:
        raise DataError("an @attribute without a name")
    if rest[:1] in ("{", "["):
        return _Attribute(name, "nominal", _declared_labels(name, rest, quoted))
    word = rest[: len(rest) - len(rest.lstrip(ascii_letters))].lower()
    after = rest[len(word) :].strip()
    kind = _KINDS.get(word)
    if quoted and word == "relational":
        raise DataError(f"attribute {name[:60]!r} is relational, a table in every cell; write one row for each of its rows")
    if quoted:
        kind = "nominal" if word in ("string", "date") else kind if word else None
    if kind is None:
        raise DataError(f"attribute {name[:60]!r} has the type {rest[:40]!r}; allowed are integer, real, numeric and {{labels}}")
    after = after.partition("%")[0].rstrip()
    if not after.startswith("[") or kind == "nominal":
        return _Attribute(name, kind)
    bounds = [as_number(bound) for bound in after.rstrip("]").lstrip("[").split(",")]
    if len(bounds) != 2 or bounds[0] is None or bounds[1] is None:
        raise DataError(f"attribute {name[:60]!r} has the range {after[:40]!r}; expected [min, max]")
    return _Attribute(name, kind, limits=(bounds[0], bounds[1]))


def _declared_labels(name: str, text: str, quoted: bool) -> list[str]:
    """Read the labels of an attribute, in braces or brackets."""
    closing = {"{": "}", "[": "]"}[text[0]]
    if "%" in text:
        text = _without_comment(text)
    if not text.endswith(closing):
        raise DataError(f"the labels of attribute {name[:60]!r} have no closing {closing!r}")
    inner = text[1:-1].strip()
    labels = _fields(inner, None) if quoted else [unquoted(label) for label in inner.split(",")]
    labels = list(dict.fromkeys(label for label in labels if label))
    if not labels:
        raise DataError(f"attribute {name[:60]!r} declares no labels")
    return labels


def _fields(line: str, number: int | None) -> list[str]:
    """Split an ARFF row or list of labels (no `number`) into fields, with quotes and backslash escapes."""
    if "'" not in line and '"' not in line:
        return [value.strip() for value in line.split(",")]
    fields: list[str] = []
    position = 0
    while True:
        match = _QUOTED_FIELD.match(line, position)
        if match is None:
            where = f"line {number}: " if number else ""
            raise DataError(f"{where}cannot read {line[position : position + 40]!r}: a quote is not closed or is inside a field")
        single, double, bare = match.group(1, 2, 3)
        if bare is not None:
            fields.append(bare.strip())
        else:
            fields.append(re.sub(r"\\(.)", r"\1", single if single is not None else double))
        position = match.end()
        check_width(fields, f"line {number}: " if number else "")
        if not match.group(4):
            return fields


def _roles(names: list[str], roles: dict[str, tuple[int, list[str]]]) -> tuple[int | None, set[int]]:
    """Find the position of the target, and of columns that are neither inputs nor target, from @inputs and @outputs."""
    where = {name: position for position, name in enumerate(names)}
    positions = {}
    for role, (number, given) in roles.items():
        for name in given:
            if name not in where:
                raise DataError(
                    f"line {number}: {role}s names {name[:60]!r}, which no @attribute declares; the header is damaged"
                )
        positions[role] = {where[name] for name in given}
    if not positions:
        return None, set()
    everything = set(where.values())
    inputs = positions["@input"] if "@input" in positions else everything - positions["@output"]
    outputs = positions.get("@output", everything - inputs)
    target = next(iter(outputs)) if len(outputs) == 1 else None
    return target, everything - inputs - ({target} if target is not None else set())
