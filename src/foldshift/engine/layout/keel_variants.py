"""Variants that cut as the paper's tool does: with all schemes, and with their own number of experiments."""

from foldshift.engine.layout.bundles import ABLATION, bundles, variants

OF_TOOL = ("keel", "keel")  # distance and rules of KEEL, which the classification study was made with


def all_bundles(settings, size, shown=str):
    """Bundles of a study; see `foldshift.engine.layout.bundles.bundles`.

    Parameters
    ----------
    settings : dict
        Resolved settings of the study: ``ablation`` may have ``tool_seeds``, the experiments of the variants with the tool's
        distance and rules.
    size, shown
        See `foldshift.engine.layout.bundles.bundles`.

    Returns
    -------
    bundles : list of foldshift.engine.layout.bundles.Bundle
        The variants of the tool last, with all schemes, where they are asked for and among the variants; else with the others.
    """
    found, ablation = bundles(settings, size, shown), settings.get("ablation", {})
    if not (ablation.get("tool_seeds") and ablation["n_seeds"]):
        return found
    of_tool = {name for name, one in variants(settings).items() if (one["metric"], one["rule"]) == OF_TOOL}
    if not of_tool:
        return found
    metric, rule = OF_TOOL
    alone = {"metrics": [metric], "rules": [rule], "schemes": settings["schemes"], "n_seeds": ablation["tool_seeds"]}
    others = [one._replace(partitioners=tuple(name for name in one.partitioners if name not in of_tool)) for one in found]
    last = [one for one in bundles(settings | {"ablation": ablation | alone}, size, shown) if one.kind == ABLATION]
    return [one for one in others if one.partitioners] + last
