"""Lines that sum up the results of a study: its answer, the printed numbers that are met, the verdicts on its paper's claims.

They are read from the tables that the run wrote. A table that the run does not have gives no line.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from foldshift.reporting.verdicts import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LEDGER_COUNTS = ("met", "explained", "open", "not_compared")
CONFIGURATION = "paper"  # the configuration whose printed numbers are counted, where a study has several
ALL = "all"

Row = dict[str, str]


class Answer(NamedTuple):
    """Answer of a run to the question of a study."""

    text: str
    verdict: str = ""  # on the claim that decides it
    effect: str = ""  # what shows it, in a number with its error


def read_rows(path: Path) -> list[Row]:
    """Read a table that the run wrote, as texts; no rows where it has none."""
    if not path.exists():
        return []
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def find_answer(rule: Mapping[str, Any] | None, claims: Sequence[Row], table: Sequence[Row]) -> Answer | None:
    """Answer a question by the rule of the study: the verdict on a claim, or a count of rows of a table."""
    if rule is None:
        return None
    if "claim" in rule:
        row = next((row for row in claims if row["id"] == rule["claim"]), None)
        return Answer(rule[row["verdict"]], row["verdict"], _measured(row)) if row else None
    if not table or not rule["count"].keys() <= table[0].keys():
        return None
    n = sum(all(row[key] == str(value) for key, value in rule["count"].items()) for row in table)
    return Answer(rule["text"].format(count=n, rows=len(table)))


def effect_text(row: Row) -> str:
    """Write the effect of a claim with its error, in four digits."""
    effect, error = (_digits(row.get(key, "")) for key in ("effect", "standard_error"))
    return f"{effect} ± {error}" if effect and error and float(error) > 0 else effect


def _measured(row: Row) -> str:
    """Write what shows a claim and the number that was found; empty without a number."""
    effect = effect_text(row)
    return f"{row['shown_by']}: {effect}" if effect else ""


def _digits(text: str) -> str:
    try:
        return f"{float(text):.4g}"
    except ValueError:
        return ""


def ledger_line(ledger: Sequence[Row]) -> str:
    """Count the printed numbers of a paper by verdict, from the table ``print_ledger``; empty without such a table."""
    rows = total_rows(ledger)
    if not rows or not rows[0].keys() >= {*LEDGER_COUNTS, "numbers"}:  # or one that an earlier version published
        return ""
    counts = {name: sum(int(float(row[name])) for row in rows) for name in LEDGER_COUNTS}
    numbers = sum(int(float(row["numbers"])) for row in rows)
    words = ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in counts.items())
    line = f"{numbers} printed numbers: {words}."
    outside, expected = (sum(float(row.get(name) or 0) for row in rows) for name in ("outside", "expected_by_chance"))
    if expected > 0:
        line += f" {outside:.0f} lie beyond two errors, where chance leaves {expected:.1f}."
    return line


def total_rows(ledger: Sequence[Row]) -> list[Row]:
    """Select the rows that sum up a ledger: ``all``, or the only one; of several configurations, that of the paper."""
    if not ledger:
        return []
    keys = list(ledger[0])[: list(ledger[0]).index("numbers")]
    groups: dict[str, list[Row]] = {}
    for row in ledger:
        groups.setdefault(row[keys[0]] if len(keys) > 1 else "", []).append(row)
    rows = groups.get(CONFIGURATION) or next(iter(groups.values()))
    return [row for row in rows if row[keys[-1]] == ALL] or rows


def claims_line(claims: Sequence[Row]) -> str:
    """Count the claims of a paper by verdict; empty without such a table."""
    if not claims:
        return ""
    counts = {one: sum(row["verdict"] == one for row in claims) for one in VERDICTS}
    words = ", ".join(f"{n} {_counted(one, n)}" for one, n in counts.items())
    return f"{len(claims)} claim{'s' * (len(claims) != 1)}: {words}."


def _counted(verdict: str, n: int) -> str:
    """Put a verdict into the plural where it must be."""
    plural = {"holds": "hold", "holds in part": "hold in part", "does not hold": "do not hold"}
    return verdict if n == 1 else plural.get(verdict, verdict)
