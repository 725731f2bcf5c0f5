"""Errors that are the user's to mend. Each message is one line: the thing, the value received, what is allowed, what to do."""

import difflib


class FoldshiftError(ValueError):
    """A mistake in configuration, data or arguments. Shown without a traceback."""


class ConfigError(FoldshiftError):
    """A mistake in configuration or catalogue, found before anything is planned."""


class DataError(FoldshiftError):
    """A file or table that cannot be used as it is."""


class SourceError(DataError):
    """One source of a data set could not be used; the next one is tried."""


def unknown(kind, value, allowed, hint=""):
    """Say that a name is not known, and which are.

    Parameters
    ----------
    kind : str
        What the name stands for, e.g. ``"data set"``.
    value : str
        The name received.
    allowed : iterable of str
        The names that exist.
    hint : str, default=""
        What else the user can do.

    Returns
    -------
    message : str
        One line: the nearest names first when there are any.
    """
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


def require_keys(found, wanted, what):
    """Refuse what is no dictionary, or lacks a key.

    Parameters
    ----------
    found : object
        What a function or module of the user's own gave.
    wanted : iterable of str
        Keys that must be there.
    what : str
        Who must give it, e.g. ``"my_study.show.tables must return"``.

    Raises
    ------
    DataError
        One line: what is missing, and what was received.
    """
    wanted = list(wanted)
    lacking = [key for key in wanted if not isinstance(found, dict) or key not in found]
    if lacking:
        got = (
            ", ".join(map(repr, found)) or "an empty one"
            if isinstance(found, dict)
            else f"an object of type {type(found).__name__}"
        )
        raise DataError(f"{what} a dictionary with {', '.join(map(repr, lacking))}; got {got}")
