"""Cut the seeds of a study into blocks, the unit of work, and its partitioners into bundles that one job works through."""

from typing import NamedTuple

from foldshift.engine.config.schemes import iterations
from foldshift.engine.layout.seed_blocks import block_names as block_names
from foldshift.engine.layout.seed_blocks import block_range as block_range
from foldshift.partition.registry import PARTITIONERS

TRUTH = "truth"  # the partitioner id of the experiments of SCV that make the truth
NEIGHBOUR_PARTITIONERS = tuple(name for name, one in PARTITIONERS.items() if "metric" in one.takes)
BALANCED_PARTITIONERS = tuple(name for name, one in PARTITIONERS.items() if "stratify" in one.takes)
RULES = {
    "balanced": {"duplicates": "neighbours", "remainders": "spread"},
    "keel": {"duplicates": "skipped", "remainders": "restart"},
}


OWN, ABLATION = "own", "ablation"  # what a bundle is for, beside TRUTH
MOST_LETTERS = 200  # of names that are joined in the name of a file: with schemes, below the 255 letters that file systems allow
MOST_OF_SCHEMES = 50  # which stand behind partitioners


class Bundle(NamedTuple):
    """What one job cuts.

    Attributes
    ----------
    kind : {"own", "truth", "ablation"}
        Partitioners of the study, the experiments that make the truth, or variants of the partitioners.
    partitioners : tuple of str
        Ids, as they stand in rows.
    iterations : dict of int to int
        Number of folds k to partitions per experiment.
    n_seeds : int
        Experiments.
    """

    kind: str
    partitioners: tuple
    iterations: dict
    n_seeds: int


def groups(names, size=None, shown=str, letters=MOST_LETTERS):
    """Cut a list of names into those that stand in one file.

    Parameters
    ----------
    names : iterable of str
        In the order of the configuration.
    size : int, optional
        Most names in a group.
    shown : callable, default=str
        How a name stands in the name of a file.
    letters : int, default=MOST_LETTERS
        Most letters there of the names of a group joined by ``+``, unless one alone has more.

    Returns
    -------
    groups : list of list of str
        A name that is added at the end leaves the groups before the last as they are.
    """
    found = []
    for name in names:
        if not found or len(found[-1]) == size or len("+".join(map(shown, [*found[-1], name]))) > letters:
            found.append([])
        found[-1].append(name)
    return found


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


def bundles(settings, size, shown=str):
    """Bundles of a study: its partitioners and, where it has them, the truth and the variants of the ablation.

    Parameters
    ----------
    settings : dict
        Resolved settings of the study.
    size : int
        Partitioners per bundle, at least 1.
    shown : callable, default=str
        How a partitioner stands in the name of a file.

    Returns
    -------
    bundles : list of Bundle
    """
    per_k = iterations(settings["schemes"]) if "schemes" in settings else dict.fromkeys(settings["n_folds"], 1)
    wanted = [(OWN, settings["partitioners"], per_k, settings["n_seeds"])]
    if "n_truth" in settings:
        wanted.append((TRUTH, [TRUTH], per_k, settings["n_truth"]))
    if settings.get("ablation", {}).get("n_seeds"):
        chosen = {k: r for k, r in per_k.items() if f"{k}x{r}" in settings["ablation"]["schemes"]}
        wanted.append((ABLATION, variants(settings), chosen, min(settings["ablation"]["n_seeds"], settings["n_seeds"])))
    return [
        Bundle(kind, tuple(part), {k: own[k] for k in numbers}, n_seeds)
        for kind, partitioners, own, n_seeds in wanted
        for part in groups(partitioners, size, shown)
        for numbers in groups(own, shown=lambda k, own=own: f"{k}x{own[k]}", letters=MOST_OF_SCHEMES)
    ]


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


def choice_of(name, settings, own):
    """How a partitioner cuts.

    Parameters
    ----------
    name : str
        Id of a partitioner.
    settings : dict
        Resolved settings of the study.
    own : dict of str to dict
        The user's own partitioners: ``import``, ``params``.

    Returns
    -------
    choice : dict
        ``partitioner``, a known one, or ``import``, the path of a function; and ``options`` for it.
    """
    if name in own:
        return {"import": own[name]["import"], "options": own[name].get("params", {})}
    if "metric" in settings:
        partitioner, options = partitioner_options(name, settings)
        return {"partitioner": partitioner, "options": options}
    return {"partitioner": name, "options": {}}
