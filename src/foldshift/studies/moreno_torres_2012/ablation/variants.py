"""Variants of the partitioners that measure distances: other distances, and other rules for duplicates and remainders."""

from __future__ import annotations

from typing import Any

from foldshift.engine.layout.bundles import NEIGHBOUR_PARTITIONERS, Variants

RULES = {
    "balanced": {"duplicates": "neighbours", "remainders": "spread"},
    "keel": {"duplicates": "skipped", "remainders": "restart"},
}
KEEL = ("keel", "keel")  # distance and rules of KEEL, the program that the paper was made with


def variants(settings: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Return the variants by id, such as ``DOB-SCV@keel-balanced``: their ``partitioner``, ``metric`` and ``rule``."""
    own = (settings["metric"], "keel" if settings["metric"] == "keel" else "balanced")
    return {
        f"{name}@{metric}-{rule}": {"partitioner": name, "metric": metric, "rule": rule}
        for metric in settings["ablation"]["metrics"]
        for rule in settings["ablation"]["rules"]
        if (metric, rule) != own
        for name in NEIGHBOUR_PARTITIONERS
    }


def variant_id(partitioner: str, variant: str) -> str:
    """Return the id of a variant such as ``@keel-keel``; a partitioner that measures no distances has its own id in all."""
    return partitioner + variant if partitioner in NEIGHBOUR_PARTITIONERS else partitioner


def variants_to_cut(settings: dict[str, Any]) -> tuple[Variants, ...]:
    """Declare the variants to the engine.

    Those with KEEL's distance and rules come last, with all schemes, if ``tool_seeds`` is not 0: the printed Tables V and VI are
    compared with them too.
    """
    ablation = settings["ablation"]
    if not ablation["n_seeds"]:
        return ()
    found, schemes, max_rows = variants(settings), tuple(ablation["schemes"]), ablation["max_rows"]
    keel = [name for name, one in found.items() if (one["metric"], one["rule"]) == KEEL] if ablation["tool_seeds"] else []
    others = {name: _choice(one) for name, one in found.items() if name not in keel}
    groups = [Variants(others, schemes, ablation["n_seeds"], max_rows)] if others else []
    if keel:
        choices = {name: _choice(found[name]) for name in keel}
        groups.append(Variants(choices, tuple(settings["schemes"]), ablation["tool_seeds"], max_rows))
    return tuple(groups)


def _choice(variant: dict[str, str]) -> dict[str, Any]:
    """Describe a variant to the engine."""
    return {"partitioner": variant["partitioner"], "options": {"metric": variant["metric"]} | RULES[variant["rule"]]}
