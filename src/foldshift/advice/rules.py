"""Rules of advice: plain data in ``rules.toml``, read and matched here."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

PARTS = ("cut", "folds", "repetitions", "interval", "difference", "caution")
EVIDENCE = ("theorem", "measured", "measured here", "definition")
FACTS = {
    "task": str,  # classification, regression
    "score": str,  # share, loss, folds: foldshift.advice.score
    "groups": bool,  # rows belong together
    "n": int,  # rows
    "fits": int,  # fits that the budget pays for
    "smallest_class": int,  # rows of the smallest class; of a quantity all rows
    "n_groups": int,  # of rows without groups: all rows
    "baseline": bool,  # the difference is one to a baseline that ignores the inputs
}


class Rule(NamedTuple):
    """One rule.

    Attributes
    ----------
    id : str
    part : str
        What it decides, one of `PARTS`.
    when : dict
        Facts that must be so: a value, or ``{below = x}``, ``{from = x}``, or both. Empty: always.
    advice : str or int
        What follows: a partitioner, a number of folds, an interval ...
    say : str
        The advice in words.
    evidence : str
        What kind of evidence, one of `EVIDENCE`.
    shown : str
        The evidence in words, with figures.
    reference : str
    """

    id: str
    part: str
    when: dict[str, Any]
    advice: str | int
    say: str
    evidence: str
    shown: str
    reference: str = ""

    def holds(self, facts: dict[str, Any]) -> bool:
        """Whether the condition is met by facts (dict)."""
        return all(_meets(facts.get(name), wanted) for name, wanted in self.when.items())


def _meets(value: str | int, wanted: Any) -> bool:
    if not isinstance(wanted, dict):
        return value == wanted
    return value is not None and value >= wanted.get("from", value) and value < wanted.get("below", value + 1)


@cache
def read_rules() -> tuple[Rule, ...]:
    """All rules, in the order in which they are tried; the first that holds decides, of a caution every one.

    Returns
    -------
    rules : tuple of Rule

    Raises
    ------
    ValueError
        If the file holds a rule with an unknown part, fact or kind of evidence, or two of the same name.

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
            raise ValueError(f"rule {rule.id!r}: {strange[0]!r} is no fact; there are {', '.join(FACTS)}")
    return rules


def decide(part: str, facts: dict[str, Any]) -> Rule:
    """The rule that decides a part."""
    return next(rule for rule in read_rules() if rule.part == part and rule.holds(facts))


def cautions(facts: dict[str, Any]) -> list[Rule]:
    """All cautions that hold; a list of Rule."""
    return [rule for rule in read_rules() if rule.part == "caution" and rule.holds(facts)]
