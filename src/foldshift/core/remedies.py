"""Messages that carry remedies: what to change, and to what, written for the door at which the user stands."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote

from foldshift.core.printable import printable

Door = Literal["command", "python", "workflow"]
SAFE = ",.:;/'~^!*()äöüßÄÖÜ"  # characters that one value of a source may hold as they are
MOST_SHOWN = 8  # columns in one message
MOST_CHARACTERS = 200  # of the values in one message

ENTRY_KEYS = ("task",)  # keys of an entry of `extra_datasets`; the other settings follow the `?` of its source
NUMBER = re.compile(r"-?\d+(\.\d+)?|-?inf|nan|True|False|None")
BY_BLANKS = ("space_on",)  # options of the command that take several values, one after the other
ONE_BY_ONE = ("drop", "keep", "nominal", "missing", "types", "member")  # options of the command that can be given again


@dataclass(frozen=True)
class Remedy:
    """Setting to change, and its new value: one text, names of columns, or pairs of column and text."""

    setting: str  # as in Python: `skip_rows`
    value: str | tuple[str, ...] | tuple[tuple[str, str], ...]

    @property
    def values(self) -> list[Any]:
        """All values, of which messages show the first ones."""
        return [self.value] if isinstance(self.value, str) else list(self.value)

    def at(self, door: Door) -> str:
        """Write the remedy as an option of the command, an argument of Python, or a key of the source in the workflow."""
        shown = self._shown()
        pairs = [tuple(one) if isinstance(one, tuple) else (one, "") for one in shown]
        if door == "command":
            written = _options(self.setting, ["=".join(filter(None, pair)) for pair in pairs])
        elif door == "python":
            written = f"{self.setting}={_argument(self.value, shown)!r}"
        elif isinstance(self.value, str) and self.setting not in ENTRY_KEYS:
            written = f"{self.setting}={quote(shown[0], safe=SAFE)}"
        elif self.setting in ENTRY_KEYS:
            return f"{self.setting}: {self.value} in the entry of the data set"
        else:
            written = f"{self.setting}={','.join(':'.join(map(_encoded, filter(None, pair))) for pair in pairs)}"
        written = printable(written)
        more = len(self.values) - len(shown)
        return written + (f" and {more} more" if more else "") + (" in the source" if door == "workflow" else "")

    def _shown(self) -> list[Any]:
        """Return the values that a message shows: a few, and no endless ones."""
        values = self.values if len(self.values) <= MOST_SHOWN else self.values[:3]
        shown, size = list[Any](), 0
        for value in values:
            size += len("".join(value))
            if shown and size > MOST_CHARACTERS:
                break
            shown.append(value[:MOST_CHARACTERS] if isinstance(value, str) else (value[0][:MOST_CHARACTERS], *value[1:]))
        return shown


class Number(Remedy):
    """Remedy whose value is a number, or a word that stands for one."""

    def at(self, door: Door) -> str:
        """Write the remedy for a door, in Python without quotation marks."""
        return f"{self.setting}={self.value}" if door == "python" else super().at(door)


class Given(Remedy):
    """Setting that the user gave and that a message names as the user wrote it; not a remedy."""

    def at(self, door: Door) -> str:
        """Write the setting as the user did: a number in Python is no text."""
        if door == "python" and isinstance(self.value, str) and NUMBER.fullmatch(self.value):
            return f"{self.setting}={self.value}"
        return super().at(door).removesuffix(" in the source")


class Message(str):
    """Text with remedies, which is a text for Python and can be written for another door."""

    parts: tuple[str | Remedy, ...]

    def __new__(cls, *parts: str | Remedy) -> Message:
        """Join texts, remedies and other messages."""
        flat = tuple(inner for part in parts for inner in (part.parts if isinstance(part, Message) else (part,)))
        text = super().__new__(cls, "".join(part.at("python") if isinstance(part, Remedy) else part for part in flat))
        text.parts = flat
        return text

    @property
    def remedies(self) -> list[Remedy]:
        """Remedies in their order."""
        return [part for part in self.parts if isinstance(part, Remedy) and not isinstance(part, Given)]

    def at(self, door: Door) -> str:
        """Write the message for a door."""
        return "".join(part.at(door) if isinstance(part, Remedy) else part for part in self.parts)


def at(text: str, door: Door) -> str:
    """Write a text for a door; a text without remedies is the same everywhere.

    >>> from foldshift.core.remedies import Message, Remedy, at
    >>> note = Message("left out: built in; ", Remedy("keep", ("built in",)), " takes it in")
    >>> at(note, "command")
    "left out: built in; --keep 'built in' takes it in"
    >>> at(note, "workflow"), at(note, "python")
    ('left out: built in; keep=built%20in in the source takes it in', "left out: built in; keep=['built in'] takes it in")
    """
    return text.at(door) if isinstance(text, Message) else text


def _options(setting: str, values: list[str]) -> str:
    name = f"--{setting.replace('_', '-')}"
    if setting not in ONE_BY_ONE + BY_BLANKS:
        values = [",".join(_in_csv(one) for one in values)] if len(values) > 1 else values
    quoted = [shlex.quote(one) if any(map(str.isalnum, one)) else f"'{one}'" if "'" not in one else f'"{one}"' for one in values]
    if setting in BY_BLANKS:
        return " ".join((name, *quoted))
    return " ".join(f"{name}={one}" if one.startswith("-") else f"{name} {one}" for one in quoted)


def _in_csv(text: str) -> str:
    """Quote a name that holds a comma or a quotation mark, as in a csv file."""
    return f'"{text.replace(chr(34), 2 * chr(34))}"' if "," in text or '"' in text else text


def _argument(value: Any, shown: list[Any]) -> Any:
    if isinstance(value, str):
        return shown[0]
    return dict(shown) if isinstance(shown[0], tuple) else shown


def _encoded(text: str) -> str:
    """Percent-encode what has a meaning in a source."""
    return re.sub(r"[\s%&?,;:=]", lambda match: quote(match.group()), text)
