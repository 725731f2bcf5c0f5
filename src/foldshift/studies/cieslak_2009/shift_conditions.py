"""Conditions of the study: the shifts that are injected, and their names and order in tables and figures."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

BASE = "Base"  # the test part as it is
LARGEST_EXACT = 10_000  # product of sizes up to which p of KS is exact: there are many thousands of them, looked at in bulk
Removed = Literal["largest", "smallest"]  # values of a feature that MAR, MNAR and true MNAR drop
ENDS: tuple[Removed, ...] = get_args(Removed)


class Condition(NamedTuple):
    """A shift of the test part: its name in tables, and kind and severity as arguments of `versions`."""

    name: str
    kind: str
    severity: float


UNSHIFTED = Condition(BASE, "mcar", 0)
# In the order in which they are measured.
CONDITIONS = (
    UNSHIFTED,
    *(Condition(f"{kind.upper()}{p}", kind, p) for kind in ("mcar", "mar", "mnar") for p in (25, 50)),
    *(Condition(f"CS{q}", "translation", q) for q in (25, 50, 100, 200)),
    *(Condition(f"P{pi}", "prior", pi / 100) for pi in (2, 5, *range(10, 80, 10))),
    *(Condition(f"MNARC{p}", "mnar_class", p) for p in (25, 50)),
)


def _names(*kinds: str) -> tuple[str, ...]:
    """Names of the conditions of some kinds, without Base."""
    return tuple(one.name for one in CONDITIONS if one.kind in kinds and one is not UNSHIFTED)


BIAS, TRUE_MNAR, TRANSLATION, PRIORS = _names("mcar", "mar", "mnar"), _names("mnar_class"), _names("translation"), _names("prior")
NAMES = (BASE, *BIAS, *TRUE_MNAR, *TRANSLATION, *PRIORS)  # in the order of tables
NO_SHIFT = (BASE, "MCAR")  # kinds under which nothing moves: a detector that fires is wrong
KIND_NAMES = {
    "MCAR": "MCAR",
    "MAR": "MAR",
    "MNAR": "MNAR",
    "MNARC": "true MNAR",
    "CS": "translation",
    "P": "prior",
}
WORDS = (
    "MCAR: rows removed at random; MAR: those with the smallest values of one feature (the largest with the setting removed: "
    "largest); MNAR: the same, and the feature hidden; true MNAR: removed by class; CS: one feature moved by so many per cent "
    "of its standard deviation; P: share of positive rows in per cent."
)


def condition_kind(condition: str) -> str:
    """Kind of a condition by its name: ``MAR`` of ``MAR25``, ``P`` of ``P2``, ``Base``."""
    return condition.rstrip("0123456789")
