"""The changes of the ablation: the classification study again with one thing changed at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from foldshift.engine.layout.bundles import NEIGHBOUR_PARTITIONERS, TRUTH
from foldshift.reporting.items import TableResult
from foldshift.reporting.min_datasets import too_few
from foldshift.studies.moreno_torres_2012.ablation.ablation_tables import (
    ablation_grid,
    ablation_table,
    bias_grid,
    bias_table,
    conclusions_grid,
    conclusions_table,
)
from foldshift.studies.moreno_torres_2012.ablation.experiments_judged import Change, judge
from foldshift.studies.moreno_torres_2012.experiments import (
    area_of,
    by_configuration,
    read_convergence,
    read_experiments,
    read_heldout,
)
from foldshift.studies.moreno_torres_2012.notation import NO_PAIR

if TYPE_CHECKING:
    from foldshift.core.types import Array, BoolArray, FloatArray, Inputs

SLOW = ("FURIA", "PDFC", "SVM")


def ablation(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Accuracy and convergence under every change, which conclusions survive, and the bias of the partitioners."""
    schemes, partitioners, datasets = settings["iterations"], settings["partitioners"], settings["datasets"]
    ids = list(dict.fromkeys(name for names in settings["ids"].values() for name in names.values()))
    values = {name: read_experiments(inputs.scores, ids, datasets, schemes, area_of(name)) for name in settings["ids"]}
    convergence = read_convergence(inputs.convergence, ids, datasets)
    heldout = read_heldout(inputs.heldout, ids, schemes, partitioners) if inputs.heldout else None
    changes = list_changes(settings, ids, values, convergence, heldout)
    seed = settings["master_seed"]
    judged = [judge(change, chosen, partitioners, settings["alpha"], master_seed=seed) for chosen, change in changes]
    accuracies, conclusions = ablation_table(judged), conclusions_table(judged)
    results = by_configuration(inputs.scores, settings)
    values, truth = ({name: both[i] for name, both in results.items()} for i in (0, 1))
    bias = bias_table(values, truth, schemes, partitioners, settings["learners"])
    return {
        "ablation": TableResult(accuracies, ablation_grid(accuracies, too_few(len(datasets), settings["alpha"]) or NO_PAIR)),
        "conclusions": TableResult(conclusions, conclusions_grid(conclusions)),
        "partitioner_bias": TableResult(bias, bias_grid(bias)),
    }


def list_changes(
    settings: dict[str, Any],
    ids: list[str],
    values: dict[str, dict[tuple[int, str], Array]],
    convergence: dict[tuple[int, str], Array],
    heldout: tuple[dict[str, Any], dict[str, Any]] | None = None,
) -> list[Any]:
    """Every change: for each configuration first the base, then one thing changed at a time."""
    metrics = dict.fromkeys((one["metric"], one["rule"]) for one in settings["variants"].values())
    changes = []
    for configuration, names in settings["ids"].items():
        study = _Study(settings, ids, values[configuration], convergence, configuration, names)
        changes.append(study.change("base"))
        changes.append(study.change("judged by own mean", truth="own"))
        changes.append(study.change("judged by mean of all", truth="all"))
        if heldout:
            changes.append(study.change("held-out truth", truth="held-out", sources=heldout))
        varied = [study.change(f"{metric} distance, {rule} rules", metric=metric, rule=rule) for metric, rule in metrics]
        if metrics:
            extent, whole = study.extent("@{}-{}".format(*next(iter(metrics)))), study.extent()
            if extent[0] != whole[0] or (extent[1] != whole[1]).any():
                changes.append(study.change("base, where the variants were run", extent=extent))
        changes += varied
        if "PART" in names and len(names) > 2:
            rest = {name: one for name, one in names.items() if name != "PART"}
            changes.append(study.change("without PART", names=rest, classifiers="without PART"))
            if configuration == "paper" and "corrected" in settings["ids"]:
                repaired = names | {"PART": settings["ids"]["corrected"]["PART"]}
                changes.append(study.change("PART without its stop", names=repaired, classifiers="PART corrected"))
        fast = {name: one for name, one in names.items() if name not in SLOW}
        if 2 < len(fast) < len(names):
            changes.append(study.change("fast classifiers", names=fast, classifiers="fast"))
    return changes


def present(values: FloatArray) -> Any:
    """Which data sets have results of any learner: shape (n_datasets,) from (n_learners, n_datasets, n_experiments)."""
    return (~np.isnan(values)).any(axis=(0, 2))


class _Study:
    """The results that changes of one configuration choose from."""

    def __init__(
        self,
        settings: dict[str, Any],
        ids: list[str],
        values: dict[tuple[int, str], FloatArray],
        convergence: dict[tuple[int, str], FloatArray],
        configuration: str,
        names: dict[str, str],
    ) -> None:
        self.settings, self.ids, self.values, self.convergence = settings, ids, values, convergence
        self.configuration, self.names = configuration, names

    def extent(self, ending: str = "") -> tuple[dict[int, int], BoolArray]:
        """Schemes that all partitioners, with this ending of their ids, were run with, and the data sets on which they were."""
        partitioners, iterations = self.settings["partitioners"], self.settings["iterations"]
        cells = {k: [(k, _with(name, ending)) for name in partitioners] for k in iterations}
        schemes = {k: r for k, r in iterations.items() if all(cell in self.values for cell in cells[k])}
        found = [present(self.values[cell]) for k in schemes for cell in cells[k]]
        # A partitioner all of whose fits failed has no say in which data sets the others are compared on.
        return schemes, np.all([one for one in found if one.any()] or found, axis=0)

    def change(
        self,
        what: str,
        *,
        names: dict[str, str] | None = None,
        classifiers: str = "all",
        metric: str | None = None,
        rule: str | None = None,
        truth: str = "SCV",
        sources: Any = None,
        extent: tuple[dict[int, int], BoolArray] | None = None,
    ) -> tuple[dict[int, int], Change]:
        """One change with its schemes; on the data sets of `extent`, by default those of its partitioners."""
        settings = self.settings
        names = names or self.names
        rows = [self.ids.index(names[learner]) for learner in settings["learners"] if learner in names]
        ending = f"@{metric}-{rule}" if metric else ""
        metric, rule = metric or settings["metric"], rule or ("keel" if settings["metric"] == "keel" else "balanced")
        keys = f"{self.configuration}: {what}", self.configuration, metric, rule, truth, classifiers
        if sources:
            return settings["iterations"], Change(*keys, *sources, rows)
        schemes, datasets = extent or self.extent(ending)
        cells = {(k, name): (k, _with(name, ending)) for k in schemes for name in settings["partitioners"]}
        found = {cell: self.values[source][:, datasets] for cell, source in cells.items()}
        truths = {k: self.values[k, TRUTH][:, datasets] for k in schemes}
        speeds = {cell: self.convergence[source][:, datasets] for cell, source in cells.items() if source in self.convergence}
        return schemes, Change(*keys, found, truths, rows, speeds)


def _with(name: str, ending: str) -> str:
    """Id of a partitioner's variant; those that measure no distances have none."""
    return name + ending if name in NEIGHBOUR_PARTITIONERS else name
