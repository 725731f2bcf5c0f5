"""Verdict on the reading of a made file: right, said, refused with a remedy that works, or wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from foldshift.core.errors import FoldshiftError, message_of
from foldshift.core.remedies import Remedy
from foldshift.datasets.own_files import read_bytes

GOOD = ("right", "said", "refused")


@dataclass(frozen=True)
class Made:
    """A made file and what it holds."""

    name: str  # of the file
    content: bytes
    truth: dict[str, list[Any]]  # columns of the table: numbers, texts, None for a missing value
    target: str = ""  # the target that is right; empty: not checked
    options: dict[str, Any] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()  # columns that are named as left out
    said: str = ""  # pattern of a note that must be there
    refused: str = ""  # pattern of the message where the file is refused and only the user can change it


def column_differs(found: pd.Series, wanted: list[Any]) -> bool:
    """Report whether a column is not the wanted one."""
    if len(found) != len(wanted):
        return True
    gaps = [value is None for value in wanted]
    if found.isna().tolist() != gaps:
        return True
    present = [value for value in wanted if value is not None]
    held = found[~np.array(gaps)]
    if any(isinstance(value, str) for value in present):
        return held.astype(str).tolist() != present
    if isinstance(held.dtype, pd.CategoricalDtype):
        return True
    return not np.allclose(held.to_numpy(dtype=float), np.array(present, dtype=float), rtol=1e-12, atol=0)


def difference(made: Made, table: Any) -> str:
    """Say how a table differs from the made one; empty if it does not."""
    frame = table.frame
    if list(frame) != list(made.truth):
        return f"columns {list(frame)[:20]} for {list(made.truth)[:20]}"
    for name, wanted in made.truth.items():
        if column_differs(frame[name], wanted):
            return f"column {name}: {frame[name].tolist()[:8]} ({len(frame)}) for {wanted[:8]} ({len(wanted)})"
    if made.target and table.target != made.target:
        return f"target {table.target!r} for {made.target!r}"
    missing = [name for name in made.left_out if name not in table.left_out]
    return f"not left out: {missing}" if missing else ""


def verdict(made: Made) -> tuple[str, str]:
    """Give the verdict on a file, and why."""
    try:
        table = read_bytes(made.content, made.name, made.options)
    except FoldshiftError as error:
        return _on_refusal(made, message_of(error))
    except Exception as error:
        return "traceback", repr(error)
    notes = " | ".join(map(str, table.notes))
    differs = difference(made, table)
    if differs:
        if made.said and re.search(made.said, notes):
            return "said", differs
        return "silent", f"{differs}; notes: {notes}"
    if made.said and not re.search(made.said, notes):
        return "unsaid", notes
    return "right", notes


def _on_refusal(made: Made, message: Any) -> tuple[str, str]:
    """Follow the remedies of a refusal literally: one of them must lead to the table."""
    why = []
    for remedy in message.remedies:
        options = made.options | eval(f"dict({remedy.at('python')})")
        task = options.pop("task", "")
        try:
            table = read_bytes(made.content, made.name, options, task=task)
        except FoldshiftError as error:
            why.append(f"{remedy.at('python')}: {error}")
            continue
        differs = difference(made, table)
        if not differs:
            return "refused", f"{message}"
        why.append(f"{remedy.at('python')}: {differs}")
    if made.refused and re.search(made.refused, str(message)) and not why:
        return "refused", str(message)
    return "misleading", f"{message}; {why}"


def counted(cases: list[Made]) -> dict[str, int]:
    """Count the verdicts."""
    words = [verdict(made)[0] for made in cases]
    return {word: words.count(word) for word in ("right", "said", "refused", "unsaid", "misleading", "silent", "traceback")}


__all__ = ["GOOD", "Made", "Remedy", "counted", "verdict"]
