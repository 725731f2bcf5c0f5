"""Words of a study for the report: its question, its one figure and table, and how a run decides the answer.

They stand in ``report`` of ``study.yaml``, which may be left out, as may each of its keys.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from foldshift.core.errors import ConfigError, unknown
from foldshift.engine.config.schema import check_schema
from foldshift.reporting.verdicts import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterable

TEXT = {"type": "string", "minLength": 1}
# The answer by the verdict on a claim, or by the number of rows of a table that have some values.
BY_CLAIM: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["claim", *VERDICTS],
    "properties": dict.fromkeys(("claim", *VERDICTS), TEXT),
}
BY_COUNT: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["table", "count", "text"],
    "properties": {
        "table": TEXT,
        "count": {"type": "object", "minProperties": 1, "additionalProperties": {"type": ["string", "integer"]}},
        "text": {**TEXT, "description": "text with {count}, the rows that have these values, and {rows}, all rows"},
    },
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"question": TEXT, "figure": TEXT, "table": TEXT, "answer": {"type": "object"}},
}


class ReportWords(NamedTuple):
    """Words of a study for the report; None where the study leaves a key out."""

    question: str | None = None  # one sentence, with its question mark
    figure: str | None = None  # name of the figure on its page
    table: str | None = None  # name of the table on its page
    answer: dict[str, Any] | None = None  # as `BY_CLAIM` or `BY_COUNT` describes


def read_report(where: Path, given: Any) -> ReportWords:
    """Check and read the key ``report`` of a ``study.yaml``; raise ConfigError at the first mistake."""
    if given is None:
        return ReportWords()
    _check(where, "report", given, SCHEMA)
    if (answer := given.get("answer")) is not None:
        _check(where, "report.answer", answer, BY_COUNT if "table" in answer else BY_CLAIM)
        if "text" in answer:
            try:
                answer["text"].format(count=1, rows=2)
            except (KeyError, IndexError, ValueError) as error:
                raise ConfigError(
                    f"{where}: report.answer.text={answer['text']!r} may have {{count}} and {{rows}} in braces, no other words"
                ) from error
    question, figure, table = (given.get(key) for key in ("question", "figure", "table"))
    return ReportWords(question and " ".join(question.split()), figure, table, answer)


def check_items(where: Path, words: ReportWords, items: Iterable[tuple[str, str]]) -> None:
    """Refuse names of a figure or a table that the study does not declare; `items` are pairs of kind and name."""
    items = list(items)
    named = {"figure": words.figure, "table": words.table, "answer.table": (words.answer or {}).get("table")}
    for key, name in named.items():
        kind = key.rpartition(".")[2]
        known = [one for found, one in items if found == kind]
        if name is not None and name not in known:
            raise ConfigError(unknown(f"{kind} in {where}, report.{key}", name, known))


def _check(where: Path, key: str, value: Any, schema: dict[str, Any]) -> None:
    try:
        check_schema({"report": value}, {"type": "object", "properties": {"report": schema}})
    except ConfigError as error:
        raise ConfigError(f"{where}: {str(error).replace('report', key, 1)}") from error
