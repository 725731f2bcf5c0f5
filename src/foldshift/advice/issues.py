"""Issues of a table or a split that make an estimate wrong: what was found, how, why it matters, and the remedy."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    import numpy as np

    from foldshift.advice.data import Data
    from foldshift.core.types import Array

Severity = Literal["fault", "beware", "note"]
SEVERITIES: tuple[Severity, ...] = ("fault", "beware", "note")  # the worst first
# Words in a text about one column, and about several.
ONE = {word: word for word in ("has", "was", "it", "looks", "says")}
MANY = {"has": "have", "was": "were", "it": "them", "looks": "look", "says": "say"}


class Issue(NamedTuple):
    """Something that makes an estimate wrong, or may."""

    code: str  # short and lasting, such as ``duplicates``
    # ``fault``: the estimate of this split is wrong. ``beware``: it is, unless you know better. ``note``: good to know
    severity: Severity
    found: str  # finding in this table
    how: str  # method of the search
    why: str  # reason why it matters
    remedy: str  # advice on what to do
    where: tuple[Any, ...] = ()  # columns (str) or rows (int, 0-based)
    check: str = ""  # code of the check that reports it, such as ``D1``


@cache
def issue_texts() -> dict[str, Any]:
    """Read the texts of checks and issues."""
    return tomllib.loads(files(__package__).joinpath("issues.toml").read_text(encoding="utf-8"))


def issue_of(section: str, where: Sequence[Any] = (), **words: object) -> Issue:
    """Make an issue from its section of ``issues.toml`` and the words for its braces."""
    text = issue_texts()[section]
    found, how, why, remedy = (text[part].format(**words) for part in ("found", "how", "why", "remedy"))
    return Issue(text.get("code", section), text["severity"], found, how, why, remedy, tuple(where), text["check"])


def issue_about(section: str, names: Sequence[str], **words: object) -> Issue:
    """Make an issue about columns: their names, and verbs in the singular or plural."""
    return issue_of(section, names, names=listed(names), **(ONE if len(names) == 1 else MANY), **words)


def listed(names: Sequence[str], most: int = 5) -> str:
    """List names in quotes, the first ones of many."""
    shown = ", ".join(repr(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def find_faults(
    data: Data,
    folds: Array | None = None,
    *,
    left_out: dict[str, str] | None = None,
    rng: np.random.Generator | None = None,
    forward: str | None = None,
) -> list[Issue]:
    """Look for issues that make cross-validation of a table wrong.

    Parameters
    ----------
    data : foldshift.advice.data.Data
    folds : ndarray of shape (n_seeds, n), optional
        The user's split, -1 for rows that are never tested.
    left_out : dict of str to str, optional
        Columns that were left out of the table before, and the reasons. One with the word "date" marks a column of dates.
    rng : numpy.random.Generator, optional
        Source of the rows that stand for a large table; by default one with a fixed seed.
    forward : str, optional
        Name of the user's split, if it trains on earlier rows only.

    Returns
    -------
    issues : list of Issue
        The worst first: those of the checks that found something.

    See Also
    --------
    foldshift.advice.structure.checks.run_checks : Every check, with those that passed.
    """
    from foldshift.advice.structure.checks import run_checks
    from foldshift.advice.structure.find import find_structure

    checks = run_checks(data, find_structure(data, rng=rng), folds, left_out=left_out, forward=forward)
    return issues_of(checks)


def issues_of(checks: Sequence[Any]) -> list[Issue]:
    """List the issues of the checks that found something, the worst first."""
    found = [check.issue for check in checks if check.result == "found"]
    return sorted(found, key=lambda issue: SEVERITIES.index(issue.severity))
