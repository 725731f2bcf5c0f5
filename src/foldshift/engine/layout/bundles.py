"""Cut the seeds of a study into blocks, the unit of work, and its partitioners into bundles that one job works through."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from foldshift.engine.config.schemes import iterations
from foldshift.engine.layout.seed_blocks import block_names as block_names
from foldshift.engine.layout.seed_blocks import block_range as block_range
from foldshift.partition.registry import PARTITIONERS

TRUTH = "truth"  # the partitioner id of the experiments of SCV that make the truth
NEIGHBOUR_PARTITIONERS = tuple(name for name, one in PARTITIONERS.items() if "metric" in one.takes)
BALANCED_PARTITIONERS = tuple(name for name, one in PARTITIONERS.items() if "stratify" in one.takes)
OWN, VARIANT = "own", "variant"  # purposes of a bundle, beside TRUTH
MOST_LETTERS = 200  # of names that are joined in the name of a file: with schemes, below the 255 letters that file systems allow
MOST_OF_SCHEMES = 50  # which stand behind partitioners


Name = TypeVar("Name")


class Variants(NamedTuple):
    """Variants of the partitioners of a study, which it declares: cut and evaluated beside its own."""

    choices: dict[str, dict[str, Any]]  # id of a variant to how it cuts: ``partitioner`` and ``options``
    schemes: tuple[str, ...]  # schemes of the study that the variants are run with, such as ``5x2``
    n_seeds: int  # experiments, at most those of the study
    max_rows: int  # rows of the largest data set that the variants run on


class Bundle(NamedTuple):
    """Partitioners that one job cuts with."""

    kind: str  # partitioners of the study, the experiments that make the truth, or variants of the partitioners
    partitioners: tuple[str, ...]  # ids, as they are in rows
    iterations: dict[int, int]  # number of folds k to partitions per experiment
    n_seeds: int  # experiments
    max_rows: int | None = None  # rows of the largest data set that it cuts


def groups(
    names: Iterable[Name], size: int | None = None, shown: Callable[[Any], str] = str, letters: int = MOST_LETTERS
) -> list[list[Name]]:
    """Cut a list of names into those that stand in one file."""
    found: list[list[Name]] = []
    for name in names:
        if not found or len(found[-1]) == size or len("+".join(map(shown, [*found[-1], name]))) > letters:
            found.append([])
        found[-1].append(name)
    return found


def bundles(
    settings: dict[str, Any], size: int, shown: Callable[[Any], str] = str, variants: Sequence[Variants] = ()
) -> list[Bundle]:
    """Cut the partitioners of a study into bundles: its own, the truth where it has one, and declared `Variants`.

    `size` is the most partitioners in a bundle; ``shown(name)`` is how a partitioner appears in the name of a file.
    """
    per_k = iterations(settings["schemes"]) if "schemes" in settings else dict.fromkeys(settings["n_folds"], 1)
    wanted: list[tuple[str, Iterable[str], dict[int, int], int, int | None]] = [
        (OWN, settings["partitioners"], per_k, settings["n_seeds"], None)
    ]
    if "n_truth" in settings:
        wanted.append((TRUTH, [TRUTH], per_k, settings["n_truth"], None))
    for some in variants:
        chosen = {k: r for k, r in per_k.items() if f"{k}x{r}" in some.schemes}
        wanted.append((VARIANT, some.choices, chosen, min(some.n_seeds, settings["n_seeds"]), some.max_rows))
    return [
        Bundle(kind, tuple(part), {k: own[k] for k in numbers}, n_seeds, max_rows)
        for kind, partitioners, own, n_seeds, max_rows in wanted
        for part in groups(partitioners, size, shown)
        for numbers in groups(own, shown=_scheme_names(own).__getitem__, letters=MOST_OF_SCHEMES)
    ]


def _scheme_names(per_k: dict[int, int]) -> dict[int, str]:
    """Schemes by number of folds, as they appear in names."""
    return {k: f"{k}x{r}" for k, r in per_k.items()}


def choice_of(name: str, settings: dict[str, Any], own: dict[str, Any], variants: Sequence[Variants] = ()) -> dict[str, Any]:
    """Return how a partitioner cuts: ``partitioner``, a known one, or ``import``, the path of a function; and its ``options``.

    `own` holds the user-defined partitioners by id; `variants` are those that the study declares.
    """
    if name in own:
        return {"import": own[name]["import"], "options": own[name].get("params", {})}
    for some in variants:
        if name in some.choices:
            return some.choices[name]
    if name == TRUTH:
        return {"partitioner": "SCV", "options": {}}
    by_distance = name in NEIGHBOUR_PARTITIONERS and "metric" in settings
    return {"partitioner": name, "options": {"metric": settings["metric"]} if by_distance else {}}
