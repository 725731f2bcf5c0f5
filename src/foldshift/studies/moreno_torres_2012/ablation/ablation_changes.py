"""The changes of the ablation: the classification study repeated with one thing changed at a time."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from foldshift.engine.layout.bundles import TRUTH
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
from foldshift.studies.moreno_torres_2012.ablation.variants import variant_id
from foldshift.studies.moreno_torres_2012.experiments import (
    all_ids,
    area_of,
    by_configuration,
    read_convergence,
    read_experiments,
    read_heldout,
)
from foldshift.studies.moreno_torres_2012.notation import NO_PAIR

if TYPE_CHECKING:
    from foldshift.core.types import BoolArray, FloatArray, Inputs
    from foldshift.studies.moreno_torres_2012.ablation.experiments_judged import JudgedBy
    from foldshift.studies.moreno_torres_2012.experiments import Experiments, Values

    Extent = tuple[dict[int, int], BoolArray]  # schemes, and data sets

SLOW = ("FURIA", "PDFC", "SVM")  # classifiers


def ablation(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Make the tables of accuracy and convergence under every change, of the surviving conclusions, and of the bias."""
    schemes, partitioners, datasets = settings["iterations"], settings["partitioners"], settings["datasets"]
    ids = all_ids(settings)
    values = {name: read_experiments(inputs.scores, ids, datasets, schemes, area_of(name)) for name in settings["ids"]}
    convergence = read_convergence(inputs.convergence, ids, datasets)
    heldout = read_heldout(inputs.heldout, ids, schemes, partitioners) if inputs.heldout else None
    changes = list_changes(settings, ids, values, convergence, heldout)
    seed = settings["master_seed"]
    judged = [judge(change, chosen, partitioners, settings["alpha"], master_seed=seed) for chosen, change in changes]
    accuracies, conclusions = ablation_table(judged), conclusions_table(judged)
    bias = bias_table(by_configuration(inputs.scores, settings), schemes, partitioners, settings["learners"])
    return {
        "ablation": TableResult(accuracies, ablation_grid(accuracies, too_few(len(datasets), settings["alpha"]) or NO_PAIR)),
        "conclusions": TableResult(conclusions, conclusions_grid(conclusions)),
        "partitioner_bias": TableResult(bias, bias_grid(bias)),
    }


def list_changes(
    settings: dict[str, Any], ids: list[str], values: dict[str, Values], convergence: Values, heldout: Experiments | None = None
) -> list[tuple[dict[int, int], Change]]:
    """List every change with its schemes: for each configuration first the base, then one thing changed at a time.

    `ids` name the rows of all arrays; `values` of a configuration hold the truth and the variants of the partitioners as well.
    """
    metrics = dict.fromkeys((one["metric"], one["rule"]) for one in settings["variants"].values())
    changes = []
    for configuration, names in settings["ids"].items():
        study = _Configuration(configuration, settings, ids, values[configuration], convergence)
        changes.append(study.change("base"))
        changes.append(study.change("judged by own mean", truth="own"))
        changes.append(study.change("judged by mean of all", truth="all"))
        if heldout:
            changes.append(study.change("held-out truth", truth="held-out", heldout=heldout))
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


def has_results(values: FloatArray) -> BoolArray:
    """Find the data sets with results of any learner: shape (n_datasets,) from (n_learners, n_datasets, n_experiments)."""
    return np.any(~np.isnan(values), axis=(0, 2))


class _Configuration:
    """The results of one configuration of the classifiers, which changes choose from."""

    def __init__(self, configuration: str, settings: dict[str, Any], ids: list[str], values: Values, convergence: Values) -> None:
        self.configuration, self.settings, self.ids = configuration, settings, ids
        self.values, self.convergence = values, convergence

    def extent(self, variant: str = "") -> Extent:
        """Find the schemes that a variant of all partitioners was run with, and the data sets with results of it."""
        partitioners, iterations = self.settings["partitioners"], self.settings["iterations"]
        cells = {k: [(k, variant_id(name, variant)) for name in partitioners] for k in iterations}
        schemes = {k: r for k, r in iterations.items() if all(cell in self.values for cell in cells[k])}
        found = [has_results(self.values[cell]) for k in schemes for cell in cells[k]]
        # The data sets of a comparison do not depend on a partitioner all of whose fits failed.
        return schemes, np.all([one for one in found if one.any()] or found, axis=0)

    def change(
        self,
        what: str,
        *,
        names: dict[str, str] | None = None,
        classifiers: str = "all",
        metric: str = "",
        rule: str = "",
        truth: JudgedBy = "SCV",
        heldout: Experiments | None = None,
        extent: Extent | None = None,
    ) -> tuple[dict[int, int], Change]:
        """Make one change with its schemes, on the data sets of `extent`, by default those of its partitioners."""
        settings = self.settings
        names = names or settings["ids"][self.configuration]
        rows = [self.ids.index(names[learner]) for learner in settings["learners"] if learner in names]
        variant = f"@{metric}-{rule}" if metric else ""
        metric, rule = metric or settings["metric"], rule or ("keel" if settings["metric"] == "keel" else "balanced")
        make = partial(
            Change, f"{self.configuration}: {what}", self.configuration, metric, rule, truth, classifiers, learners=rows
        )
        if heldout:
            values, truth_values = heldout
            return settings["iterations"], make(values, truth_values)
        schemes, datasets = extent or self.extent(variant)
        cells = {(k, name): (k, variant_id(name, variant)) for k in schemes for name in settings["partitioners"]}
        found = {cell: self.values[source][:, datasets] for cell, source in cells.items()}
        truths = {k: self.values[k, TRUTH][:, datasets] for k in schemes}
        speeds = {cell: self.convergence[source][:, datasets] for cell, source in cells.items() if source in self.convergence}
        return schemes, make(found, truths, convergence=speeds)
