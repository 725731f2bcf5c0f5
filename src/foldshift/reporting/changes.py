"""The changes of the ablation: the classification study again with one thing changed at a time."""

from foldshift.planning.blocks import TRUTH
from foldshift.reporting.ablation import Change

SLOW = ("FURIA", "PDFC", "SVM")


def list_changes(settings, ids, values, convergence, heldout=None):
    """Every change: for each configuration first the base, then one thing changed at a time.

    Parameters
    ----------
    settings : dict
        Settings of the study: ``learners``, ``partitioners``, ``metric``, ``ids`` (configuration to learner to id), ``iterations`` (k to partitions per experiment),
        ``variants`` (id to ``metric`` and ``rule``).
    ids : list of str
        Ids of the learners, the first axis of all arrays.
    values : dict of (int, str) to ndarray of shape (n_ids, n_datasets, n_experiments)
        Results of experiments by k and partitioner, with the truth and the variants.
    convergence : dict of (int, str) to ndarray of shape (n_ids, n_datasets)
        Experiments to convergence.
    heldout : (dict, dict), optional
        Values and truth of samples of populations, see `foldshift.reporting.experiments.read_heldout`.

    Returns
    -------
    changes : list of (dict, Change)
        With the schemes (k to iterations) that the change was run with.
    """
    metrics = dict.fromkeys((one["metric"], one["rule"]) for one in settings["variants"].values())
    changes = []
    for configuration, names in settings["ids"].items():
        study = _Study(settings, ids, values, convergence, configuration, names)
        changes.append(study.change("base"))
        changes.append(study.change("judged by own mean", truth="own"))
        changes.append(study.change("judged by mean of all", truth="all"))
        if heldout:
            changes.append(study.change("held-out truth", truth="held-out", sources=heldout))
        for metric, rule in metrics:
            changes.append(study.change(f"{metric} distance, {rule} rules", metric=metric, rule=rule))
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


class _Study:
    """The results that changes of one configuration choose from."""

    def __init__(self, settings, ids, values, convergence, configuration, names):
        self.settings, self.ids, self.values, self.convergence = settings, ids, values, convergence
        self.configuration, self.names = configuration, names

    def change(self, what, *, names=None, classifiers="all", metric=None, rule=None, truth="SCV", sources=None):
        """One change with its schemes: those that its partitioners were run with."""
        settings = self.settings
        names = names or self.names
        rows = [self.ids.index(names[learner]) for learner in settings["learners"] if learner in names]
        values, truths = sources or (self.values, {k: self.values[k, TRUTH] for k in settings["iterations"]})
        ending = f"@{metric}-{rule}" if metric else ""
        cells = {
            (k, name): (k, name if name == "SCV" else name + ending)
            for k in settings["iterations"]
            for name in settings["partitioners"]
        }
        schemes = {
            k: r for k, r in settings["iterations"].items() if all(cells[k, name] in values for name in settings["partitioners"])
        }
        found = {cell: values[source] for cell, source in cells.items() if cell[0] in schemes}
        speeds = {} if sources else {cell: self.convergence[cells[cell]] for cell in found}
        metric = metric or settings["metric"]
        rule = rule or ("keel" if settings["metric"] == "keel" else "balanced")
        label = f"{self.configuration}: {what}"
        return schemes, Change(label, self.configuration, metric, rule, truth, classifiers, found, truths, rows, speeds)
