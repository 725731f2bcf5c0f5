"""Names and notation that several modules of the study share; tables and figures rest on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

REFERENCE = "SCV"
PRINT_ORDER = ("DOB-SCV", "DB-SCV", "SCV", "MS-SCV")  # of the columns of Tables VI and VII
NOT_SEEN = "cannot be seen at this size"
AVERAGE = "Average"  # the scheme of rows that average over the schemes
ALL = "all"  # the learner of rows that average over the learners
NO_PAIR = (
    "no pair of classifiers truly differs in this run (Table IV), so that there is nothing for an experiment to find; the order "
    "of the cuts cannot be seen at this size"
)


def paper_name(dataset: str) -> str:
    """Return the name of a data set in the paper's tables: small letters, without the mark of a repair or of declared ranges."""
    return dataset.lower().removesuffix("-repaired").removesuffix("-declared")


def in_print_order(partitioners: Iterable[str]) -> list[str]:
    """Sort partitioners as the paper's columns are; those that it does not have follow."""
    return sorted(partitioners, key=lambda name: PRINT_ORDER.index(name) if name in PRINT_ORDER else len(PRINT_ORDER))


def scheme_name(k: int, r: int) -> str:
    """Write a scheme as the paper does: 5x2 is five folds iterated twice."""
    return f"{k}x{r}"


def describe(scheme: str) -> str:
    """Describe a scheme in words: ``5x2 (5 folds, 2 iterations)``."""
    k, r = scheme.split("x")
    return f"{scheme} ({k} folds, {r} iteration{'s' if r != '1' else ''})"
