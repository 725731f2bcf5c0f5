"""Which conclusions of Moreno-Torres, Saez and Herrera (2012) survive a change of metric, rule, truth, classifiers or configuration.

Results come as arrays of shape (n_learners, n_datasets, n_experiments), the AUC of an experiment, NaN where there is none, by (k, partitioner).
"""

from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from foldshift.inference.agreement import ALPHA, Accuracy, accuracy, halves, subset_error
from foldshift.inference.missing import common_results, mean_present
from foldshift.reporting.figures import MARKERS, plt
from foldshift.reporting.moreno_torres_2012 import (
    AVERAGE,
    N_SUBSETS,
    accuracy_rows,
    alike,
    common_subsets,
    formula_of,
    scheme_name,
)
from foldshift.reporting.numbers import EMPTY, number, with_error
from foldshift.reporting.tables import Cell, Grid

TRUTHS = ("SCV", "own", "all", "held-out")
KEYS = ("configuration", "metric", "rule", "truth", "classifiers")
GREYS = ("#000000", "#FFFFFF", "#7F7F7F", "#D0D0D0")
N_ERRORS = 2  # a difference below this many standard errors is within error

# Conclusion, table, partitioners or schemes (lower, higher), and whether equality supports it.
CONCLUSIONS = (
    ("SCV below DOB-SCV", "table6", ("SCV", "DOB-SCV"), False),
    ("SCV below DB-SCV", "table6", ("SCV", "DB-SCV"), False),
    ("MS-SCV last", "table6", ("MS-SCV", None), False),
    ("DOB-SCV at least DB-SCV", "table6", ("DB-SCV", "DOB-SCV"), True),
    ("SCV slower than DOB-SCV", "table7", ("DOB-SCV", "SCV"), False),
    ("SCV slower than DB-SCV", "table7", ("DB-SCV", "SCV"), False),
    ("SCV faster than MS-SCV", "table7", ("SCV", "MS-SCV"), False),
    ("2x5 before 5x2", "schemes", (2, 5), False),
    ("5x2 before 10x1", "schemes", (5, 10), False),
)


@dataclass
class Change:
    """Results under one combination of choices.

    Attributes
    ----------
    name : str
        As tables and the figure print it.
    configuration, metric, rule, classifiers : str
        What was chosen: keys of the tables.
    truth : {"SCV", "own", "all", "held-out"}
        What experiments are judged by. ``SCV``: the mean of `truth_values`, further experiments of SCV. ``held-out``: the same with `truth_values` that
        no cross-validation made. ``own``: the partitioner's own mean; ``all``: the mean of the means of all partitioners. The last two are cross-fitted: the
        experiments are split into two halves, and each is judged by the mean of the other.
    values : dict of (int, str) to ndarray of shape (n_learners, n_datasets, n_experiments)
        By k and partitioner.
    truth_values : dict of int to ndarray of shape (n_learners, n_datasets) or (n_learners, n_datasets, n_truth)
        By k; not used by ``own`` and ``all``.
    learners : sequence of int, optional
        Rows of the arrays to use; all by default.
    convergence : dict of (int, str) to ndarray of shape (n_learners, n_datasets) or (n_learners, n_datasets, n_orders), optional
        Experiments to convergence, by k and partitioner.
    """

    name: str
    configuration: str
    metric: str
    rule: str
    truth: str
    classifiers: str
    values: dict
    truth_values: dict
    learners: object = None
    convergence: dict = field(default_factory=dict)

    def __post_init__(self):
        if self.truth not in TRUTHS:
            raise ValueError(f"truth={self.truth!r} of change {self.name} must be one of {', '.join(TRUTHS)}")

    def chosen(self, values):
        """The rows of an array that belong to the chosen learners."""
        return values if self.learners is None else values[list(self.learners)]

    def truth_mean(self, k):
        """The truth of ``SCV`` and ``held-out``, shape (n_learners, n_datasets)."""
        truth = self.chosen(np.asarray(self.truth_values[k], dtype=np.float64))
        return mean_present(truth) if truth.ndim == 3 else truth


@dataclass
class Judged:
    """A change with its accuracies, as `judge` makes it: with the chosen learners only, and only the results that all partitioners have."""

    change: Change
    schemes: dict
    partitioners: list
    accuracies: dict
    subsets: np.ndarray
    n_cells: dict


def parts_of(change, k, partitioner, partitioners):
    """Truths and the experiments judged by each of them.

    Parameters
    ----------
    change : Change
    k : int
        Number of folds.
    partitioner : str
        Whose experiments are judged.
    partitioners : sequence of str
        Those that the truth ``all`` averages.

    Returns
    -------
    parts : list of (ndarray of shape (n_learners, n_datasets), ndarray of shape (n_learners, n_datasets, n_experiments))
        One part, or two for the cross-fitted truths; none if these have fewer than two experiments or no results.
    """
    values = change.chosen(change.values[k, partitioner])
    if change.truth in ("SCV", "held-out"):
        return [(change.truth_mean(k), values)]
    sources = [partitioner] if change.truth == "own" else [n for n in partitioners if not np.isnan(change.values[k, n]).all()]
    if not sources or min(change.values[k, name].shape[2] for name in (*sources, partitioner)) < 2:
        return []
    parts = []
    for half in (0, 1):
        means = []
        for name in sources:
            other = change.chosen(change.values[k, name])
            means.append(mean_present(other[:, :, halves(other.shape[2])[1 - half]]))
        # A cell counts where every source has it, so that the mean is not one of different partitioners in different cells.
        parts.append((np.mean(means, axis=0), values[:, :, halves(values.shape[2])[half]]))
    return parts


def judge(change, schemes, partitioners, alpha=ALPHA, n_subsets=N_SUBSETS, *, master_seed):
    """Agreement of single experiments with the truth under one change.

    Parameters
    ----------
    change : Change
    schemes : dict of int to int
        Number of folds k to iterations.
    partitioners : sequence of str
        In the order of the tables.
    alpha : float, default=0.1
        Level at which a pair differs in truth.
    n_subsets : int, default=200
        Random subsets of two thirds of the data sets.
    master_seed : int
        The one seed of the configuration, which the draws are derived from.

    Returns
    -------
    judged : Judged
    """
    change, n_cells = _comparable(change, schemes, partitioners)
    n_datasets = next(iter(change.values.values())).shape[1]
    subsets = common_subsets(n_datasets, n_subsets, master_seed)
    nothing = Accuracy(np.nan, np.nan, np.nan, 0.0, 0, np.full(len(subsets), np.nan), np.full(n_datasets, np.nan))
    accuracies = {}
    for k in schemes:
        for name in partitioners:
            parts = parts_of(change, k, name, partitioners)
            accuracies[k, name] = accuracy(parts, subsets, alpha, formula_of(change.configuration)) if parts else nothing
    return Judged(change, dict(schemes), list(partitioners), accuracies, subsets, n_cells)


def _comparable(change, schemes, partitioners):
    """The change with its chosen learners, what all partitioners have, and data sets that have anything; and the pairs of both with a truth, by k."""
    values = {key: change.chosen(array) for key, array in change.values.items()}
    truth = {k: change.chosen(np.asarray(array, dtype=np.float64)) for k, array in change.truth_values.items()}
    values, truth = alike(values, truth, schemes, partitioners)
    speeds = {}
    for k in schemes:
        given = {
            name: change.chosen(np.asarray(change.convergence[k, name], dtype=np.float64))
            for name in partitioners
            if (k, name) in change.convergence
        }
        given = common_results({name: speed if speed.ndim == 3 else speed[:, :, None] for name, speed in given.items()})
        speeds |= {(k, name): speed for name, speed in given.items()}
    cells = {}
    for k in schemes:
        cells[k] = np.any([~np.isnan(values[k, name]).all(axis=2) for name in partitioners], axis=0)
        if change.truth in ("SCV", "held-out"):
            cells[k] = cells[k] & ~np.isnan(truth[k] if truth[k].ndim == 2 else mean_present(truth[k]))
    present = np.any([array.any(axis=0) for array in cells.values()], axis=0)
    taken = [{key: array[:, present] for key, array in arrays.items()} for arrays in (values, truth, speeds)]
    change = replace(change, values=taken[0], truth_values=taken[1], convergence=taken[2], learners=None)
    return change, {k: int(array.sum()) for k, array in cells.items()}


def ablation_table(judged):
    """Tables VI and VII under every change.

    Parameters
    ----------
    judged : sequence of Judged
        As `judge` makes them.

    Returns
    -------
    table : pandas.DataFrame
        ``change, configuration, metric, rule, truth, classifiers``, the columns of `foldshift.reporting.moreno_torres_2012.accuracy_table` from ``scheme`` on,
        and ``mean_experiments`` to convergence (empty where not given).
    """
    rows = []
    for one in judged:
        keys = {"change": one.change.name} | {key: getattr(one.change, key) for key in KEYS}
        for row in accuracy_rows(one.accuracies, one.schemes, one.partitioners, one.subsets.shape[1], one.n_cells):
            ks = [k for k, r in one.schemes.items() if row["scheme"] in (AVERAGE, scheme_name(k, r))]
            speeds = [_speed(one.change, k, row["partitioner"]) for k in ks]
            rows.append(keys | row | {"mean_experiments": float(np.mean([_mean(speed) for speed in speeds]))})
    return pd.DataFrame(rows)


def conclusions_table(judged):
    """Which conclusions of the paper hold under every change.

    Parameters
    ----------
    judged : sequence of Judged
        As `judge` makes them.

    Returns
    -------
    table : pandas.DataFrame
        ``change, configuration, metric, rule, truth, classifiers, conclusion, table, scheme, verdict, difference, standard_error, experiments_error,
        datasets_error``. ``difference`` is positive where the conclusion is right: points of per cent (Table VI) or experiments (Table VII). Its error over
        experiments takes partitioners as independent (0 for convergence, whose noise is part of that over data sets); its error over data sets comes from the
        same subsets for both sides; ``standard_error`` combines the two. ``verdict``: ``holds`` beyond two standard errors (``at least``: from zero on),
        ``within error``, ``reversed`` beyond two standard errors the other way, ``not tested`` without a difference or its error. Rows of
        scheme ``Average`` are about the mean over the schemes.
    """
    rows = []
    for one in judged:
        keys = {"change": one.change.name} | {key: getattr(one.change, key) for key in KEYS}
        for conclusion, table, sides, equality in CONCLUSIONS:
            for scheme, difference, over_experiments, over_datasets in _differences(one, table, sides):
                both = float(np.hypot(over_experiments, over_datasets))
                rows.append(
                    keys
                    | {
                        "conclusion": conclusion,
                        "table": "table7" if table == "schemes" else table,
                        "scheme": scheme,
                        "verdict": verdict(difference, both, equality),
                        "difference": difference,
                        "standard_error": both,
                        "experiments_error": over_experiments,
                        "datasets_error": over_datasets,
                    }
                )
    return pd.DataFrame(rows)


def verdict(difference, standard_error, equality=False):
    """``holds``, ``within error``, ``reversed`` or ``not tested``.

    Parameters
    ----------
    difference : float
        Positive where the conclusion is right.
    standard_error : float
    equality : bool, default=False
        Whether the conclusion says "at least", so that it holds from zero on.
    """
    if np.isnan(difference) or np.isnan(standard_error):
        return "not tested"
    if difference > N_ERRORS * standard_error or (equality and difference >= 0):
        return "holds"
    return "reversed" if difference < -N_ERRORS * standard_error else "within error"


def bias_table(configurations, truth, schemes, partitioners, learners):
    """How much higher a partitioner's estimate lies than the truth.

    Parameters
    ----------
    configurations : dict of str to (dict of (int, str) to ndarray of shape (n_learners, n_datasets, n_experiments))
        Values by name of the configuration or change, then by k and partitioner.
    truth : dict of str to (dict of int to ndarray of shape (n_learners, n_datasets, n_truth) or (n_learners, n_datasets))
        Truth by the same names, then by k.
    schemes : dict of int to int
        Number of folds k to iterations.
    partitioners, learners : sequence of str
        In the order of the arrays.

    Returns
    -------
    table : pandas.DataFrame
        ``configuration, scheme, partitioner, classifier, bias, standard_error, datasets_error, n_datasets``. ``standard_error`` is over experiments of both
        sides, the data sets fixed; ``datasets_error`` is the standard error of a mean over data sets. Classifier ``all`` is the mean over those classifiers
        that have any results of all partitioners, on the data sets and experiments that all of these have.
    """
    rows = []
    for configuration, values in configurations.items():
        for k, r in schemes.items():
            reference = np.asarray(truth[configuration][k], dtype=np.float64)
            reference = reference[:, :, None] if reference.ndim == 2 else reference
            common, _ = alike(values, {}, {k: r}, partitioners)
            whole = ~np.all([np.isnan(common[k, name]).all(axis=(1, 2)) for name in partitioners], axis=0)
            for name in partitioners:
                cells = {learner: (values[k, name][i], reference[i]) for i, learner in enumerate(learners)}
                # Classifiers share folds: their mean is taken within an experiment, before its spread.
                cells["all"] = _mean_of(common[k, name], whole), _mean_of(reference, whole)
                for learner, (ours, true) in cells.items():
                    rows.append((configuration, scheme_name(k, r), name, learner, *_bias(ours, true)))
    columns = ["configuration", "scheme", "partitioner", "classifier", "bias", "standard_error", "datasets_error", "n_datasets"]
    return pd.DataFrame(rows, columns=columns)


def conclusions_grid(table):
    """One page: changes by conclusions, verdict and difference of each."""
    conclusions = list(dict.fromkeys(table["conclusion"]))
    schemes = [AVERAGE, *[name for name in dict.fromkeys(table["scheme"]) if name != AVERAGE]]
    rows = []
    for scheme in schemes:
        part = table[table["scheme"] == scheme]
        rows.append(["Mean over the schemes" if scheme == AVERAGE else f"Scheme {scheme}"])
        for change, block in part.groupby("change", sort=False):
            cells = {row.conclusion: _verdict_cell(row) for row in block.itertuples()}
            rows.append([change, *[cells.get(name, Cell("")) for name in conclusions]])
    caption = (
        "Which conclusions of the paper survive a change of what it left open. Columns are its conclusions: the first four about how often a single experiment finds "
        "the true differences between classifiers (Table VI, per cent), the others about how many experiments an estimate needs to settle (Table VII). Rows are the "
        "changes. Each cell gives the verdict and the difference ± its standard error, positive where the paper is right."
    )
    notes = [
        "holds: right by more than two standard errors (at least: not wrong); within error: less than that either way; reversed (bold, darkest): wrong by more than "
        "two standard errors; not tested: not in this run. The standard error combines that over experiments with that over data sets; both sides of a "
        "difference are judged on the same subsets of data sets.",
        "Truth SCV: further experiments of SCV itself, as in the paper. own: each partitioner by its own mean; all: by the mean of all partitioners (both judge one half "
        "of the experiments by the other); held-out: by the area on samples that took no part.",
    ]
    return Grid(caption, ["Change", *conclusions], rows, notes)


def ablation_grid(table):
    """Per cent of agreements under every change, schemes as blocks."""
    partitioners = list(dict.fromkeys(table["partitioner"]))
    rows = []
    for scheme in [AVERAGE, *[name for name in dict.fromkeys(table["scheme"]) if name != AVERAGE]]:
        rows.append(["Mean over the schemes" if scheme == AVERAGE else f"Scheme {scheme}"])
        for change, block in table[table["scheme"] == scheme].groupby("change", sort=False):
            block = block.set_index("partitioner")
            best = block["percent"].max()
            cells = []
            for name in partitioners:
                row = block.loc[name]
                text = f"{with_error(row['percent'], row['standard_error'], '.1f')} ({number(row['subset_error'], '.1f')})"
                if pd.isna(row["percent"]):
                    text = "no pair" if row["n_experiments"] and row["n_cells"] else EMPTY
                cells.append(Cell(text, bold=bool(row["percent"] == best)))
            speeds = [block.loc[name, "mean_experiments"] for name in partitioners]
            unknown = "" if np.isnan(speeds).all() else EMPTY
            rows.append(
                [
                    change,
                    Cell(f"{block['n_pairs'].mean():.3g}"),
                    *cells,
                    *[Cell(number(v, ".1f", empty=unknown)) for v in speeds],
                ]
            )
    header = ["Change", "Pairs", *[f"{name} (%)" for name in partitioners], *[f"{name}, experiments" for name in partitioners]]
    caption = (
        "Tables VI and VII under every change: per cent of single experiments that find a true difference between two classifiers (left; ± the standard error over "
        "experiments, in brackets over data sets; the best is bold) and mean number of experiments to convergence (right)."
    )
    return Grid(caption, header, rows)


def bias_grid(table):
    """Bias by classifier, blocks of configuration and scheme, in thousandths of AUC."""
    learners = list(dict.fromkeys(table["classifier"]))
    rows = []
    for (configuration, scheme), block in table.groupby(["configuration", "scheme"], sort=False):
        rows.append([f"{configuration}, {scheme}"])
        for name, part in block.groupby("partitioner", sort=False):
            part = part.set_index("classifier")
            rows.append([name, *[_bias_cell(part.loc[learner]) for learner in learners]])
    caption = (
        "How much higher each partitioner's estimate of the area lies than the truth, in thousandths, mean over the data sets ± standard error over "
        "experiments. A partitioner whose folds resemble each other more than new data would is too favourable."
    )
    return Grid(caption, ["Partitioner", *learners], rows, ["Bold: more than three standard errors from zero."])


def draw_ablation(table, scheme=AVERAGE):
    """Per cent of agreements of the partitioners under every change.

    Parameters
    ----------
    table : pandas.DataFrame
        As `ablation_table` makes it.
    scheme : str, default="Average"
        Which rows.

    Returns
    -------
    figure : matplotlib.figure.Figure
        One line per change from top to bottom; thick bars are two standard errors over experiments, thin ones two over data sets.
    """
    part = table[table["scheme"] == scheme]
    changes, partitioners = list(dict.fromkeys(part["change"])), list(dict.fromkeys(part["partitioner"]))
    figure, axis = plt.subplots(figsize=(7.5, 0.55 * len(changes) + 1.4))
    for index, name in enumerate(partitioners):
        rows = part[part["partitioner"] == name].set_index("change").loc[changes]
        y = np.arange(len(changes)) + 0.18 * (index - (len(partitioners) - 1) / 2)
        for column, width in (("subset_error", 0.7), ("standard_error", 2.4)):
            spread = 2 * rows[column].fillna(0).to_numpy()
            axis.hlines(
                y,
                np.maximum(rows["percent"] - spread, 0),
                np.minimum(rows["percent"] + spread, 100),
                color="#555555",
                lw=width,
                zorder=2,
            )
        marker, colour = MARKERS[index % len(MARKERS)], GREYS[index % len(GREYS)]
        axis.plot(rows["percent"], y, marker, mfc=colour, mec="#000000", ms=6, label=name, zorder=3)
    for line in np.arange(len(changes) - 1) + 0.5:
        axis.axhline(line, color="#BBBBBB", lw=0.6)
    axis.set_yticks(range(len(changes)), changes)
    axis.set_ylim(len(changes) - 0.5, -0.5)
    axis.grid(False, axis="y")
    axis.set_xlim(left=0)
    axis.set_xlabel("agreement of single experiments with the truth (%)" + ("" if scheme == AVERAGE else f", {scheme}"))
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(partitioners))
    return figure


def _differences(one, table, sides):
    """Rows of (scheme, difference, error over experiments, error over data sets), every scheme and the average."""
    n_datasets = one.subsets.shape[1]
    ks = list(one.schemes)
    if table == "schemes":
        # Both schemes of the conclusion, averaged over the partitioners.
        present = [name for name in one.partitioners if all((k, name) in one.change.convergence for k in sides)]
        present = [name for name in present if all(not np.isnan(one.change.convergence[k, name]).all() for k in sides)]
        if not set(sides) <= set(ks) or not present:
            return [(AVERAGE, np.nan, np.nan, np.nan)]
        speeds = [_speed(one.change, high, name) - _speed(one.change, low, name) for low, high in [sides] for name in present]
        return [(AVERAGE, *_speed_difference(np.mean(speeds, axis=0), one.subsets))]
    if table == "table7":
        differences = [_speed(one.change, k, sides[1]) - _speed(one.change, k, sides[0]) for k in ks]
        rows = [(scheme_name(k, one.schemes[k]), *_speed_difference(d, one.subsets)) for k, d in zip(ks, differences)]
        return [*rows, (AVERAGE, *_speed_difference(np.mean(differences, axis=0), one.subsets))]
    rows, wholes, errors, subsets = [], [], [], []
    for k in ks:
        whole, error, by_subset = _accuracy_difference(one, k, sides)
        rows.append((scheme_name(k, one.schemes[k]), whole, error, subset_error(by_subset, n_datasets)))
        wholes, errors, subsets = [*wholes, whole], [*errors, error], [*subsets, by_subset]
    error = float(np.sqrt(np.sum(np.square(errors)))) / len(ks)
    return [*rows, (AVERAGE, float(np.mean(wholes)), error, subset_error(np.mean(subsets, axis=0), n_datasets))]


def _accuracy_difference(one, k, sides):
    """Difference of two partitioners in Table VI, its error over experiments, and the difference on every subset.

    Without a second partitioner it is the next one above the first: the lowest of the others.
    """
    low, high = sides
    nothing = (np.nan, np.nan, np.full(len(one.subsets), np.nan))
    others = [high] if high else [name for name in one.partitioners if name != low]
    if not {low, *others} <= set(one.partitioners):
        return nothing
    others = [name for name in others if not np.isnan(one.accuracies[k, name].percent)]
    if not others:
        return nothing
    nearest = min(others, key=lambda name: one.accuracies[k, name].percent)
    below, above = one.accuracies[k, low], one.accuracies[k, nearest]
    error = float(np.hypot(below.standard_error, above.standard_error))
    return above.percent - below.percent, error, above.by_subset - below.by_subset


def _speed(change, k, partitioner):
    """Experiments to convergence, mean over the orders: shape (n_learners, n_datasets); a single NaN where not given."""
    if (k, partitioner) not in change.convergence:
        return np.full((1, 1), np.nan)
    speed = change.chosen(np.asarray(change.convergence[k, partitioner], dtype=np.float64))
    return mean_present(speed) if speed.ndim == 3 else speed


def _speed_difference(difference, subsets):
    if np.isnan(difference).all():
        return np.nan, np.nan, np.nan
    by_dataset = mean_present(difference, axis=0)
    by_subset = np.array([_mean(by_dataset[chosen]) for chosen in subsets])
    return _mean(difference), 0.0, subset_error(by_subset, subsets.shape[1])


def _mean(values):
    return float(mean_present(np.ravel(values)))


def _bias(ours, true):
    """Mean difference over data sets, Monte Carlo error, error over data sets, and their number; arrays of shape (n_datasets, n_experiments)."""
    difference = mean_present(ours) - mean_present(true)
    usable = ~np.isnan(difference)
    n = int(usable.sum())
    if n == 0:
        return np.nan, np.nan, np.nan, 0
    variance = _variance_of_mean(ours[usable])
    if true.shape[1] > 1:
        variance = variance + _variance_of_mean(true[usable])
    over_datasets = difference[usable].std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
    return float(difference[usable].mean()), float(np.sqrt(variance.sum()) / n), float(over_datasets), n


def _mean_of(values, learners):
    """Mean over some learners, NaN where one of them has none: shape (n_datasets, n_experiments)."""
    return values[learners].mean(axis=0) if learners.any() else np.full(values.shape[1:], np.nan)


def _variance_of_mean(values):
    """Squared standard error of the mean of every row; NaN below two values."""
    n = (~np.isnan(values)).sum(axis=1)
    squares = np.nansum((values - mean_present(values)[:, None]) ** 2, axis=1)
    return np.where(n > 1, squares / np.maximum(n - 1, 1) / np.maximum(n, 1), np.nan)


def _verdict_cell(row):
    if row.verdict == "not tested":
        return Cell("not tested")
    text = f"{row.verdict}: {with_error(row.difference, row.standard_error, '+.1f')}"
    return Cell(text, shade={"holds": 0.0, "within error": 0.35, "reversed": 1.0}[row.verdict], bold=row.verdict == "reversed")


def _bias_cell(row):
    text = with_error(1000 * row["bias"], 1000 * row["standard_error"], "+.1f")
    return Cell(text, bold=bool(abs(row["bias"]) > 3 * row["standard_error"]))
