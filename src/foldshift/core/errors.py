"""Errors that are the user's to mend. Each message is one line: the thing, the value received, what is allowed, what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


class FoldshiftError(ValueError):
    """A mistake in configuration, data or arguments. Shown without a traceback."""


class ConfigError(FoldshiftError):
    """A mistake in configuration or catalogue, found before anything is planned."""


class DataError(FoldshiftError):
    """A file or table that cannot be used as it is."""


class SourceError(DataError):
    """One source of a data set could not be used; the next one is tried."""


def unknown(kind: str, value: str, allowed: Iterable[str], hint: str = "") -> str:
    """Say that a name is not known, and which are."""
    allowed = [str(name) for name in allowed]
    lower = {name.lower(): name for name in allowed}
    near = [lower[name] for name in difflib.get_close_matches(str(value).lower(), lower, n=3, cutoff=0.6)]
    text = f"unknown {kind} {value!r}"
    if near:
        text += f"; did you mean {', '.join(near)}?"
    shown = ", ".join(allowed[:60]) + (", ..." if len(allowed) > 60 else "")
    return (
        f"{text} Known: {shown}.{' ' + hint if hint else ''}" if near else f"{text}. Known: {shown}.{' ' + hint if hint else ''}"
    )


def require_keys(found: Any, wanted: Iterable[str], what: str) -> None:
    """Refuse what is no dictionary, or lacks a key."""
    wanted = list(wanted)
    lacking = [key for key in wanted if not isinstance(found, dict) or key not in found]
    if lacking:
        got = (
            ", ".join(map(repr, found)) or "an empty one"
            if isinstance(found, dict)
            else f"an object of type {type(found).__name__}"
        )
        raise DataError(f"{what} a dictionary with {', '.join(map(repr, lacking))}; got {got}")
