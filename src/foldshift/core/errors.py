"""Errors that the user can fix. Each message is one line: the thing, the value received, the values allowed, the remedy."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from foldshift.core.printable import printable
from foldshift.core.remedies import Door, Message, Remedy


class FoldshiftError(ValueError):
    """A mistake in configuration, data or arguments. Shown without a traceback.

    Its message is made of texts and remedies; ``str`` writes it for Python.
    """

    @property
    def message(self) -> Message:
        """Message with its remedies."""
        return Message(*(part if isinstance(part, str | Remedy) else str(part) for part in self.args))

    def __str__(self) -> str:
        return printable(self.message)

    def at(self, door: Door) -> str:
        """Write the message for a door; names in it cannot steer a terminal."""
        return printable(self.message.at(door))


class ConfigError(FoldshiftError):
    """A mistake in configuration or catalogue, found before anything is planned."""


class DataError(FoldshiftError):
    """A file or table that cannot be used as it is."""


class DamagedError(DataError):
    """A file of results that is not the one that was written."""

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(
            f"{path} is damaged ({reason}); delete it and start the run again, which makes it anew; `snakemake check_results` "
            "looks for others"
        )


class LearnerError(DataError):
    """A learner, or other code that a user hands over, that fails, or answers what cannot be used."""


class StoppedError(LearnerError):
    """Code of a user that took longer than it may."""


class SourceError(DataError):
    """One source of a data set could not be used; the next one is tried."""


def message_of(error: Exception) -> Message:
    """Return the message of any error, with its remedies if it has any."""
    return error.message if isinstance(error, FoldshiftError) else Message(str(error))


def unknown(kind: str, value: str, allowed: Iterable[str], hint: str = "") -> str:
    """Write the message for an unknown name: the nearest names if there are any, then the known ones and a hint."""
    allowed = [str(name) for name in allowed]
    lower = {name.lower(): name for name in allowed}
    near = [lower[name] for name in difflib.get_close_matches(str(value).lower(), lower, n=3, cutoff=0.6)]
    question = f"; did you mean {', '.join(near)}?" if near else "."
    shown = ", ".join(allowed[:60]) + (", ..." if len(allowed) > 60 else "")
    return f"unknown {kind} {value!r}{question} Known: {shown}.{' ' + hint if hint else ''}"


def require_keys(found: Any, wanted: Iterable[str], what: str) -> None:
    """Raise an error if `found` is not a dict or a key is missing; the message begins with `what`."""
    wanted = list(wanted)
    lacking = [key for key in wanted if not isinstance(found, dict) or key not in found]
    if lacking:
        got = (
            ", ".join(map(repr, found)) or "an empty one"
            if isinstance(found, dict)
            else f"an object of type {type(found).__name__}"
        )
        raise DataError(f"{what} a dictionary with {', '.join(map(repr, lacking))}; got {got}")
