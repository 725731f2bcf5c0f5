"""Receipt of a reading: every decision, how sure it is, and the option that overrules it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from foldshift.core.remedies import Door, Message, Remedy, at

Sure = Literal["given", "sure", "likely", "unsure"]


class Decision(NamedTuple):
    """One decision about how a file is read."""

    about: str  # what was decided: encoding, separator, header, or a column
    read_as: str  # the decision, in words
    sure: Sure  # ``given``: by the user
    overrule: tuple[Remedy, ...] = ()  # settings that change it


@dataclass
class Receipt:
    """Decisions in the order in which they were made."""

    decisions: list[Decision] = field(default_factory=list)
    kept: list[dict[str, Any]] = field(default_factory=list)  # rows of a receipt that was read from a file

    def add(self, about: str, read_as: str, sure: Sure, *overrule: Remedy) -> None:
        """Add a decision."""
        self.decisions.append(Decision(about, read_as, sure, overrule))

    def rows(self, door: Door) -> list[dict[str, Any]]:
        """Return the decisions as plain values, with options written for a door."""
        return [
            *self.kept,
            *(
                {
                    "about": one.about,
                    "read_as": at(one.read_as, door),
                    "sure": one.sure,
                    "overrule": [remedy.at(door) for remedy in one.overrule],
                }
                for one in self.decisions
            ),
        ]


def note_of(decision: Decision, words: str = "; if that is wrong: ") -> Message:
    """Write a decision as a note: what was decided and the settings that overrule it."""
    remedies = [part for remedy in decision.overrule for part in (", ", remedy)][1:]
    words = (
        "; another number of lines: "
        if [one for one in decision.overrule if one.value != "0" and one.setting == "skip_rows"]
        else words
    )
    return Message(f"{decision.about}: ", decision.read_as, *([words, *remedies] if remedies else []))
