"""Rules of advice: plain data in ``rules.toml``, read and matched here."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

if TYPE_CHECKING:
    from foldshift.advice.score import Kind
    from foldshift.core.types import Task

Evidence = Literal["theorem", "measured", "measured here", "definition"]
PARTS = ("cut", "folds", "repetitions", "interval", "difference", "caution")
EVIDENCE = ("theorem", "measured", "measured here", "definition")


class Facts(TypedDict):
    """Facts about data, learner and work plan that rules decide by."""

    task: Task
    score: Kind
    groups: bool  # rows belong together
    n: int  # rows
    repetitions: int  # repetitions that the work plan makes
    smallest_class: int  # rows of the smallest class; all rows for a quantity
    n_groups: int  # all rows if there are no groups
    one_partition: bool  # all seeds gave the same partition
    baseline: bool  # the difference is one to a baseline that ignores the inputs


FACTS = tuple(Facts.__annotations__)


class Rule(NamedTuple):
    """One rule."""

    id: str
    part: str  # the decision it makes, one of `PARTS`
    when: dict[str, Any]  # required facts: a value, or ``{below = x}``, ``{from = x}``, or both. Empty: always
    advice: str | int  # the decision: a partitioner, a number of folds, an interval
    say: str  # the advice in words
    evidence: Evidence  # kind of evidence, one of `EVIDENCE`
    shown: str  # the evidence in words, with figures
    reference: str = ""

    def holds(self, facts: Mapping[str, Any]) -> bool:
        """Return True if the facts meet the condition."""
        return all(_meets(facts.get(name), wanted) for name, wanted in self.when.items())


def _meets(value: Any, wanted: Any) -> bool:
    if not isinstance(wanted, dict):
        return bool(value == wanted)
    return value is not None and wanted.get("from", value) <= value < wanted.get("below", value + 1)


@cache
def read_rules() -> tuple[Rule, ...]:
    """Read all rules, in the order in which they are tried: the first that holds decides, but every caution that holds is said.

    Returns
    -------
    rules : tuple of Rule

    Raises
    ------
    ValueError
        If a rule has an unknown part, fact or kind of evidence, or if two have the same name.

    Examples
    --------
    >>> [rule.advice for rule in read_rules() if rule.part == "cut" and rule.holds({"task": "regression", "groups": False})]
    ['TSCV']
    """
    found = tomllib.loads(files(__package__).joinpath("rules.toml").read_text(encoding="utf-8"))["rule"]
    rules = tuple(Rule(**{"when": {}, **one}) for one in found)
    names = [rule.id for rule in rules]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"rules.toml has two rules {sorted(twice)[0]!r}")
    for rule in rules:
        for what, value, allowed in (("part", rule.part, PARTS), ("evidence", rule.evidence, EVIDENCE)):
            if value not in allowed:
                raise ValueError(f"rule {rule.id!r}: {what} is {value!r}; allowed: {', '.join(allowed)}")
        if strange := [name for name in rule.when if name not in FACTS]:
            raise ValueError(f"rule {rule.id!r}: {strange[0]!r} is not a fact; facts are {', '.join(FACTS)}")
    return rules


def decide(part: str, facts: Mapping[str, Any]) -> Rule:
    """Find the rule that decides a part: the first that holds. The last of every part always does."""
    return next(rule for rule in read_rules() if rule.part == part and rule.holds(facts))


def cautions(facts: Mapping[str, Any]) -> list[Rule]:
    """List all cautions that hold."""
    return [rule for rule in read_rules() if rule.part == "caution" and rule.holds(facts)]
