"""Cut the seeds of a study into blocks, the unit of work, and its partitioners into bundles that one job works through."""

from typing import NamedTuple

from foldshift.blocks import block_names as block_names
from foldshift.blocks import block_range as block_range
from foldshift.planning.schemes import iterations

TRUTH = "truth"  # the partitioner id of the experiments of SCV that make the truth
NEIGHBOUR_PARTITIONERS = ("DB-SCV", "DOB-SCV", "MS-SCV")
RULES = {
    "balanced": {"duplicates": "neighbours", "remainders": "spread"},
    "keel": {"duplicates": "skipped", "remainders": "restart"},
}


class Bundle(NamedTuple):
    """What one job cuts.

    Attributes
    ----------
    partitioners : tuple of str
        Ids, as they stand in files.
    iterations : dict of int to int
        Number of folds k to partitions per experiment.
    n_seeds : int
        Experiments.
    """

    partitioners: tuple
    iterations: dict
    n_seeds: int


def groups(names, size):
    """Cut a list of names into those that one job works through.

    Parameters
    ----------
    names : sequence of str
        In the order of the configuration.
    size : int
        Names per group, at least 1.

    Returns
    -------
    groups : dict of str to list of str
        By name, which joins the members by ``+``. A name that is added at the end leaves the full groups as they are.
    """
    parts = [list(names[i : i + size]) for i in range(0, len(names), size)]
    return {"+".join(part): part for part in parts}


def variants(settings):
    """Variants of the partitioners that look at the inputs: other distances, other rules than those of the study itself.

    Parameters
    ----------
    settings : dict
        Resolved settings of the study: ``metric``, ``ablation`` with ``metrics`` and ``rules``.

    Returns
    -------
    variants : dict of str to dict
        Id, e.g. ``DOB-SCV@keel-balanced``, to ``partitioner``, ``metric``, ``rule``.
    """
    own = (settings["metric"], "keel" if settings["metric"] == "keel" else "balanced")
    return {
        f"{name}@{metric}-{rule}": {"partitioner": name, "metric": metric, "rule": rule}
        for metric in settings["ablation"]["metrics"]
        for rule in settings["ablation"]["rules"]
        if (metric, rule) != own
        for name in NEIGHBOUR_PARTITIONERS
    }


def bundles(settings, size):
    """Bundles of a study: its partitioners and, where it has them, the truth and the variants of the ablation.

    Parameters
    ----------
    settings : dict
        Resolved settings of the study.
    size : int
        Partitioners per bundle, at least 1.

    Returns
    -------
    bundles : dict of str to Bundle
        By name.
    """
    per_k = iterations(settings["schemes"]) if "schemes" in settings else dict.fromkeys(settings["n_folds"], 1)
    found = {
        name: Bundle(tuple(part), per_k, settings["n_seeds"]) for name, part in groups(settings["partitioners"], size).items()
    }
    if "n_truth" in settings:
        found[TRUTH] = Bundle((TRUTH,), per_k, settings["n_truth"])
    if settings.get("ablation", {}).get("n_seeds"):
        chosen = {k: r for k, r in per_k.items() if f"{k}x{r}" in settings["ablation"]["schemes"]}
        n_seeds = min(settings["ablation"]["n_seeds"], settings["n_seeds"])
        for number, part in enumerate(groups(list(variants(settings)), size).values()):
            found[f"ablation{number + 1}"] = Bundle(tuple(part), chosen, n_seeds)
    return found


def partitioner_options(name, settings):
    """Partitioner and options behind an id.

    Parameters
    ----------
    name : str
        Id of a partitioner of classes, of a variant, or ``truth``.
    settings : dict
        Resolved settings of the study: ``metric``, ``ablation``.

    Returns
    -------
    partitioner : str
    options : dict
        Keyword arguments for `foldshift.partition.make_folds`.
    """
    if name == TRUTH:
        return "SCV", {}
    known = variants(settings)
    if name in known:
        return known[name]["partitioner"], {"metric": known[name]["metric"]} | RULES[known[name]["rule"]]
    return name, {"metric": settings["metric"]} if name in NEIGHBOUR_PARTITIONERS else {}
