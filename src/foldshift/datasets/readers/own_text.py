"""Reader of user-defined texts: comments, separator, header, rows; every decision goes into the receipt."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from foldshift.core.errors import DataError
from foldshift.core.remedies import Remedy
from foldshift.datasets.readers.column_kinds import Columns, build_table
from foldshift.datasets.readers.columns.dressed_numbers import is_numeric
from foldshift.datasets.readers.columns.text_values import different_texts
from foldshift.datasets.readers.infer import SEPARATORS, find_separator
from foldshift.datasets.readers.receipt import Decision, Sure, note_of
from foldshift.datasets.readers.rows import own_columns
from foldshift.datasets.readers.text_fields import check_width, own_field, split_lines

if TYPE_CHECKING:
    from foldshift.core.types import TaskIfKnown
    from foldshift.datasets.readers.raw_table import RawTable
    from foldshift.datasets.readers.read_options import ReadOptions

SAMPLE = 200  # lines that decisions are based on
COMMENTS = ("#", "%", "//")
_SEP_LINE = re.compile(r"\s*\"?sep=(.|\\t)\"?\s*", re.IGNORECASE)
_RULER = re.compile(r"[\s|+:=-]*(?:---|===)[\s|+:=-]*")  # below the names, as in Markdown
MOST_RULERS = 3
OTHER_MARKS = ("&", "~", "^")  # that separate fields where every line has as many
_SINGLE = re.compile(r"(?:^|[,;\t|])[ ]*'[^']*[,;\t|][^']*'[ ]*(?:$|[,;\t|])")
_TOKENS = re.compile(r'"[^"]*"|[^\s"]+|"')


class Plan(NamedTuple):
    """Rules by which a text is cut into rows."""

    separator: str  # empty: any number of blanks
    start: int  # lines above the table
    inner_comments: bool  # whether lines between the rows are comments
    name_line: str  # line of names that was commented out; empty: none
    decisions: list[Decision]
    said: list[Decision]
    quote: str = '"'


def read_own_text(text: str, options: ReadOptions, *, task: TaskIfKnown = "", target: str = "", usual: str = "") -> RawTable:
    """Read a user-defined text; `usual` is the separator that the ending of its name promises."""
    lines = _without_rulers(without_line_quotes(split_lines(text)))
    plan = find_plan(lines[: options.n_skipped + 2 * SAMPLE], options, usual)
    rows, numbers = _rows(lines, plan)
    return table_of(own_columns(rows, numbers, options, options.target or target), plan, options, task, target)


def without_line_quotes(lines: list[str]) -> list[str]:
    """Take off the quotes around whole lines, as some programs write them."""
    sample = [line for line in lines if line.strip()][:SAMPLE]
    if not sample or not all(len(line) > 1 and line[0] == line[-1] == '"' for line in sample):
        return lines
    try:
        fields = [next(csv.reader([line], strict=True)) for line in sample]
    except csv.Error:
        return lines
    inner = [row[0] for row in fields]
    if any(len(row) > 1 for row in fields) or not find_separator(inner, ""):
        return lines
    return [line[1:-1].replace('""', '"') if line[:1] == line[-1:] == '"' else line for line in lines]


def is_ruler(line: str) -> bool:
    """Report whether a line only draws a table."""
    return line[:4].strip(" |+:=-") == "" and _RULER.fullmatch(line) is not None


def _without_rulers(lines: list[str]) -> list[str]:
    """Empty the few lines that only draw a table."""
    rulers = {at for at, line in enumerate(lines) if is_ruler(line)}
    return ["" if at in rulers else line for at, line in enumerate(lines)] if 0 < len(rulers) <= MOST_RULERS else lines


def table_of(columns: Columns, plan: Plan, options: ReadOptions, task: TaskIfKnown, target: str) -> RawTable:
    """Build the table of a text, with the decisions of its plan."""
    columns.receipt.decisions[:0] = plan.decisions
    columns.notes[:0] = [note_of(one) if one.overrule else one.read_as for one in plan.said]
    if len(columns.values) == 1 and options.has_target:
        name = repr(columns.names[0][:40]) if columns.names is not None else "without a name"
        what = f"the table has one column, {name}: there are no {_in_words(plan.separator)} between fields"
        mark = _common_mark(sorted(different_texts(columns.values[0]))[:SAMPLE])
        other = [remedy for one in plan.said if one.about == "separator" for remedy in one.overrule]
        other += [Remedy("sep", mark)] if mark and not other else []
        raise DataError(what, *(["; if another mark separates them: ", *other] if other else []))
    try:
        return build_table(columns, replace(options, sep=plan.separator), task, target)
    except DataError as error:
        wrong = [one for one in plan.said if one.about == "separator" and one.overrule]
        raise DataError(note_of(wrong[0])) if wrong else error from error


def find_plan(lines: list[str], options: ReadOptions, usual: str) -> Plan:
    """Decide on comments and the separator by the first lines of a text."""
    decisions: list[Decision] = []
    said: list[Decision] = []
    start, separator = options.n_skipped, options.sep
    sure: Sure = "given"
    while start < len(lines) and not lines[start].strip():
        start += 1
    if start < len(lines) and (found := _SEP_LINE.fullmatch(lines[start])):
        separator, sure, start = separator or {"\\t": "\t"}.get(found[1], found[1]), "sure", start + 1
    first, name_line = start, ""
    if options.skip_rows is None:
        start = _below_comments(lines, start)
    sample = [line for line in lines[start:] if line.strip() and not line.startswith(COMMENTS)][:SAMPLE]
    sample = sample or [line for line in lines[start:] if line.strip()][:SAMPLE]
    quote = "'" if any(map(_SINGLE.search, sample)) and not any('"' in line for line in sample) else '"'
    if separator == " ":
        separator = ""
    elif not separator:
        separator, sure = _separator(sample, usual, quote)
    if start > first:
        name_line = _commented_names(lines[start - 1], sample, separator)
        n_comments = start - first - bool(name_line)
        if n_comments:
            shown = f"{n_comments} line{'s' * (n_comments > 1)} above the table left out, e.g. {lines[first].strip()[:40]!r}"
            decisions.append(Decision("comments", shown, "likely", (Remedy("skip_rows", str(start - bool(name_line))),)))
            said.append(decisions[-1])
    words = f"fields are separated by {_in_words(separator)}"
    decision = Decision("separator", words, sure, () if sure == "given" else (Remedy("sep", _other(separator)),))
    decisions.append(decision)
    better = find_separator(sample, "") if options.sep else ""
    if better and better != separator and not _cuts(sample, separator, better):
        words = f"{words}, as asked; {_in_words(better)} would cut more lines alike"
        said.append(Decision("separator", words, "given", (Remedy("sep", better),)))
    if usual and separator not in (options.sep, usual):
        said.append(Decision("separator", words, sure))
    inner = options.skip_rows is None and any(line.startswith("#") for line in lines[start:])
    return Plan(separator, start, inner, name_line, decisions, said, quote)


def _cuts(sample: list[str], separator: str, other: str) -> bool:
    """Report whether a separator cuts most lines into as many fields as another one does."""
    widths = [Counter(len(cut(line, mark)) for line in sample).most_common(1)[0] for mark in (separator, other)]
    return widths[0][0] >= widths[1][0] and widths[0][1] > 0.5 * len(sample)


def _common_mark(texts: list[str]) -> str:
    """Find a mark that occurs in most texts; empty if there is none."""
    counts = {mark: sum(mark in text for text in texts) for mark in "~^:/#&!*$_ "}
    mark, count = max(counts.items(), key=lambda pair: pair[1])
    return ("blank" if mark == " " else mark) if count > 0.5 * len(texts) else ""


def _other(separator: str) -> str:
    return ";" if separator == "," else ","


def _in_words(separator: str) -> str:
    return SEPARATORS.get(separator, repr(separator)) if separator else "blanks"


def _below_comments(lines: list[str], start: int) -> int:
    """Find the first line below comments, unless most lines look like comments."""
    below = start
    while below < len(lines) and (not lines[below].strip() or lines[below].startswith(COMMENTS)):
        below += 1
    left = [line for line in lines[below:] if line.strip()]
    n_like = sum(line.startswith(COMMENTS) for line in left)
    return below if left and n_like <= len(left) / 2 else start


def _separator(sample: list[str], usual: str, quote: str) -> tuple[str, Sure]:
    """Find the separator of a text; blanks where no other mark cuts the lines."""
    found = find_separator(sample, "", quote)
    if found == "\t":
        return _beside_tabs(sample)
    if found:
        return found, "sure"
    for mark in OTHER_MARKS:
        if len({line.count(mark) for line in sample} - {0}) == 1 and all(mark in line for line in sample) and len(sample) > 1:
            return mark, "likely"
    widths = Counter(len(_TOKENS.findall(line)) for line in sample)
    width, count = max(widths.items(), key=lambda pair: pair[1], default=(1, 0))
    if width > 1 and count > 0.5 * len(sample):
        return "", "sure" if count == len(sample) else "likely"
    return (usual, "unsure") if usual else ("", "unsure")


def _beside_tabs(sample: list[str]) -> tuple[str, Sure]:
    """Decide whether tabs separate the fields, or stand behind commas, or are blanks among others."""
    fields = [line.rstrip().split("\t") for line in sample]
    for mark in (",", ";"):
        if all(len(row) > 1 and all(cell.endswith(mark) for cell in row[:-1]) for row in fields):
            return mark, "sure"
    tokens = [_TOKENS.findall(line) for line in sample]
    if len({len(row) for row in tokens}) == 1:
        several = [any(len(numbers := cell.split()) > 1 and all(map(is_numeric, numbers)) for cell in row) for row in fields]
        if len({len(row) for row in fields}) > 1 or sum(several) > 0.5 * len(several):
            return "", "likely"
    return "\t", "sure"


def _commented_names(comment: str, sample: list[str], separator: str) -> str:
    """Return the names in the last comment, if it has as many as the rows below have fields and these are not names."""
    bare = comment.lstrip("#%/ \t")
    names, rows = cut(bare, separator), [cut(line, separator) for line in sample[:20]]
    if not rows or len(names) < 2 or any(len(row) != len(names) for row in rows):
        return ""
    below_words = [any(is_numeric(row[at]) for row in rows[1:]) and not is_numeric(rows[0][at]) for at in range(len(names))]
    return bare if not any(below_words) and not any(map(is_numeric, names)) else ""


def cut(line: str, separator: str) -> list[str]:
    """Cut one line into fields."""
    if not separator:
        return [own_field(value) for value in _TOKENS.findall(line)]
    return [own_field(value) for value in next(csv.reader([line], delimiter=separator, skipinitialspace=separator != " "), [])]


def _rows(lines: list[str], plan: Plan) -> tuple[list[list[str]], list[int]]:
    """Cut all lines into fields, with the number of the line that each row ends in."""
    texts = lines[plan.start :]
    n_above = plan.start
    if plan.name_line:
        texts, n_above = [plan.name_line, *texts], n_above - 1
    if plan.inner_comments:
        texts = _without_comments(texts, plan, n_above)
    if not plan.separator:
        return [cut(line, "") for line in texts], list(range(n_above + 1, n_above + 1 + len(texts)))
    if plan.separator == "&":
        texts = [line.rstrip().removesuffix("\\\\") for line in texts]  # of LaTeX
    try:
        return _cut_all(texts, plan, n_above, None)
    except DataError:
        if not any('\\"' in line for line in texts):
            raise
        return _cut_all(texts, plan, n_above, "\\")


def _cut_all(texts: list[str], plan: Plan, n_above: int, escape: str | None) -> tuple[list[list[str]], list[int]]:
    """Cut lines into fields by the rules of csv."""
    content = io.StringIO("\n".join(texts), newline="")
    reader = csv.reader(
        content,
        delimiter=plan.separator,
        quotechar=plan.quote,
        escapechar=escape,
        skipinitialspace=plan.separator != " ",
        strict=True,
    )
    rows, numbers = [], []
    try:
        for row in reader:
            check_width(row, f"line {n_above + reader.line_num}: ")
            rows.append([own_field(value) for value in row])
            numbers.append(n_above + reader.line_num)
    except csv.Error as error:
        raise DataError(f"line {n_above + reader.line_num}: {_own_words(error)}") from error
    return rows, numbers


def _own_words(error: csv.Error) -> str:
    """Say what the csv module refuses."""
    text = str(error)
    if "unexpected end of data" in text:
        return "a quotation mark is not closed; close it, or take it out of the file"
    if "expected after" in text:
        return "a quotation mark stands inside a field; double it, or take it out of the file"
    if "field larger than" in text:
        return "a field has more than 131072 characters; a quotation mark may not be closed"
    return f"{text}; correct this line of the file"


def _without_comments(texts: list[str], plan: Plan, n_above: int) -> list[str]:
    """Empty the lines between the rows that begin with # and do not have the fields of a row."""
    usual = Counter(len(cut(line, plan.separator)) for line in texts[:SAMPLE] if line.strip() and not line.startswith("#"))
    width = usual.most_common(1)[0][0] if usual else 0
    where = [at for at, line in enumerate(texts) if line.startswith("#") and len(cut(line, plan.separator)) != width]
    if not where or not width:
        return texts
    shown = f"{len(where)} line{'s' * (len(where) > 1)} between the rows left out, the first is line {n_above + where[0] + 1}"
    decision = Decision("comments", f"{shown}, {texts[where[0]].strip()[:40]!r}", "likely")
    plan.decisions.append(decision)
    plan.said.append(decision)
    gone = set(where)
    return ["" if at in gone else line for at, line in enumerate(texts)]
