"""Covariate shift of partitioners as tables and figures, and what it has to do with the error of the estimate."""

import numpy as np
import pandas as pd
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from scipy.stats import rankdata

from foldshift.inference.wilcoxon import wilcoxon_signed_ranks
from foldshift.planning.blocks import TRUTH
from foldshift.reporting.figures import plt, style
from foldshift.reporting.numbers import EMPTY, count_range, number, p_value, with_error
from foldshift.reporting.tables import Cell, Grid, shades
from foldshift.seeding import generator
from foldshift.shift.covariates import MEASURES

REFERENCE = "SCV"
EXTREME = "MS-SCV"  # made to shift: with it, any measure orders the partitioners
INTERVAL = (2.5, 97.5)  # per cent
CHANCE_IS_HALF = "two_sample_auc"
FEWEST = 3  # points of a rank correlation, at least
LABELS = {
    "ks_mean": "KS, mean",
    "ks_max": "KS, largest",
    "hellinger": "Hellinger",
    "energy": "energy",
    "two_sample_auc": "two-sample AUC",
    "features_more": "features shifted",
    "features_less": "features balanced",
}
SUMMARY = (*MEASURES, "features_more", "features_less")
MORE_IS_BETTER = "features_less"
QUESTIONS = {
    (
        "datasets",
        "rms",
    ): "Between data sets: is the estimate worse (root-mean-square error) on data sets that are cut with more shift?",
    ("datasets", "spread"): "Between data sets: does it scatter more (standard deviation over partitions) there?",
    (
        "partitioners",
        "rms",
    ): "Between partitioners, in each data set: has the one with more shift the larger root-mean-square error?",
    ("partitioners", "spread"): "Between partitioners, in each data set: does the one with more shift scatter more?",
    ("runs", "absolute"): "Between partitions of the same data by the same partitioner: does one with more shift err more?",
    ("runs", "signed"): "Between partitions of the same data by the same partitioner: does one with more shift say a higher AUC?",
}


def shift_by_cell(rows, schemes):
    """Shift of every data set, scheme and partitioner.

    Parameters
    ----------
    rows : pandas.DataFrame
        One row per run: columns ``dataset, partitioner, k, run`` and the measures (`foldshift.shift.covariates.MEASURES`).
    schemes : dict of int to int
        Number of folds k to iterations; other k are left out.

    Returns
    -------
    table : pandas.DataFrame
        Columns ``dataset, scheme, partitioner``, every measure's mean over the runs and, as ``<measure>_standard_error``, how far other
        runs would move it (NaN for a single run), ``n_runs``.
    """
    table = []
    for (dataset, k, partitioner), cell in rows.groupby(["dataset", "k", "partitioner"], sort=False):
        if k in schemes:
            row = {"dataset": dataset, "scheme": f"{k}x{schemes[k]}", "partitioner": partitioner}
            for name in MEASURES:
                row |= {name: cell[name].mean(), f"{name}_standard_error": cell[name].std(ddof=1) / np.sqrt(len(cell))}
            table.append(row | {"n_runs": len(cell)})
    return pd.DataFrame(table)


def feature_table(features, schemes):
    """Every feature of every data set, scheme and partitioner, against random cuts.

    Parameters
    ----------
    features : pandas.DataFrame
        One row per feature, and one of kind ``target``: columns ``dataset, partitioner, k, n_runs, feature`` and those of
        `foldshift.shift.folds.FoldFeature` but its name.
    schemes : dict of int to int
        Number of folds k to iterations; other k are left out.

    Returns
    -------
    table : pandas.DataFrame
        The same rows with ``scheme`` in place of ``k``, and ``distance_ratio``: distance as a multiple of that of random cuts; NaN for a
        constant feature, for which both are 0.
    """
    table = features[features["k"].isin(schemes)]
    scheme = [f"{k}x{schemes[k]}" for k in table["k"]]
    ratio = table["distance"] / table["distance_chance"].where(table["distance_chance"] > 0)
    table = table.assign(scheme=scheme, distance_ratio=ratio)
    before = ["dataset", "scheme", "partitioner", "n_runs", "feature", "kind", "distance", "distance_chance", "distance_ratio"]
    return table[[*before, "failing", "failing_chance", "p_more", "p_less", "p_adjusted", "verdict"]].reset_index(drop=True)


def drift_by_cell(features, schemes):
    """Which features every partitioner shifts, by data set and scheme.

    Parameters
    ----------
    features, schemes
        As of `feature_table`.

    Returns
    -------
    table : pandas.DataFrame
        Columns ``dataset, scheme, partitioner``; ``features_more, features_less``: share of the inputs that the cut shifts more than
        random cuts do, or less; ``shifted_features``: names of the former, the largest ratio first, joined by ", "; ``target``: verdict
        on the target; ``distance_ratio``: mean over the inputs, without constant ones (NaN if all are).
    """
    table = []
    cells = feature_table(features, schemes).groupby(["dataset", "scheme", "partitioner"], sort=False)
    for (dataset, scheme, partitioner), cell in cells:
        inputs = cell[cell["kind"] != "target"]
        row = {"dataset": dataset, "scheme": scheme, "partitioner": partitioner}
        row |= {f"features_{which}": (inputs["verdict"] == which).mean() for which in ("more", "less")}
        row |= {"shifted_features": ", ".join(_shifted(inputs)["feature"]), "target": _target_verdict(cell)}
        table.append(row | {"distance_ratio": inputs["distance_ratio"].mean()})
    keys = ["dataset", "scheme", "partitioner"]
    return pd.DataFrame(table, columns=[*keys, "features_more", "features_less", "shifted_features", "target", "distance_ratio"])


def _target_verdict(cell):
    return cell.loc[cell["kind"] == "target", "verdict"].item()


def _shifted(inputs):
    """Inputs that are shifted, the largest ratio first."""
    return inputs[inputs["verdict"] == "more"].sort_values("distance_ratio", ascending=False, kind="stable")


def shift_summary(by_cell, partitioners):
    """Mean shift over the data sets, and Wilcoxon's test of every partitioner against SCV.

    Parameters
    ----------
    by_cell : pandas.DataFrame
        As `shift_by_cell` makes it, and ``features_more, features_less`` of `drift_by_cell`.
    partitioners : sequence of str
        In the order of the table. Data sets that lack one of them are left out of a scheme.

    Returns
    -------
    table : pandas.DataFrame
        Columns ``scheme, measure, partitioner, mean, standard_error`` (other runs on the same data sets; NaN for the shares of
        features, which all runs together make), ``standard_error_datasets`` (other data sets), ``p_vs_scv, higher_vs_scv`` (1 where the
        row's partitioner has the larger values), ``n_datasets``. Measures: `SUMMARY`.
    """
    table = []
    for scheme, part in by_cell.groupby("scheme", sort=False):
        for measure in SUMMARY:
            means = _by_partitioner(part, measure, partitioners)
            error = f"{measure}_standard_error"
            errors = part.reindex(columns=["dataset", "partitioner", error])  # NaN for a measure that has none
            errors = errors.pivot(index="dataset", columns="partitioner", values=error).loc[means.index]
            for name in partitioners:
                values, n = means[name].to_numpy(), len(means)
                row = {"scheme": scheme, "measure": measure, "partitioner": name, "mean": values.mean() if n else np.nan}
                row["standard_error"] = np.sqrt((errors[name] ** 2).sum(skipna=False)) / n if n else np.nan
                row["standard_error_datasets"] = values.std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
                row |= {"p_vs_scv": np.nan, "higher_vs_scv": np.nan}
                if n and name != REFERENCE and REFERENCE in means:
                    test = wilcoxon_signed_ranks(values, means[REFERENCE].to_numpy())
                    row |= {"p_vs_scv": test.p_value, "higher_vs_scv": int(test.r_plus > test.r_minus)}
                table.append(row | {"n_datasets": n})
    return pd.DataFrame(table)


def run_errors(scores, partitioners, learners):
    """Error of the estimate of every run against the truth.

    Parameters
    ----------
    scores : pandas.DataFrame
        One row per run, in the order of the runs: columns ``dataset, learner, partitioner, k, auc_crisp``. The rows of partitioner `truth`
        make the truth.
    partitioners, learners : sequence of str
        What to keep.

    Returns
    -------
    rows : pandas.DataFrame
        Columns ``dataset, learner, partitioner, k, run, error``: ``auc_crisp`` minus the mean of the truth for that data set, learner and
        k; NaN where a fit failed.

    Raises
    ------
    ValueError
        If a data set, learner and k has no truth.
    """
    truth = scores[scores["partitioner"] == TRUTH].groupby(["dataset", "learner", "k"])["auc_crisp"].mean().rename("truth")
    kept = scores[scores["partitioner"].isin(partitioners) & scores["learner"].isin(learners)]
    rows = kept.join(truth, on=["dataset", "learner", "k"])
    rows["run"] = rows.groupby(["dataset", "learner", "partitioner", "k"], sort=False).cumcount()
    known = pd.MultiIndex.from_frame(rows[["dataset", "learner", "k"]]).isin(truth.index)
    if not known.all():
        dataset, learner, k = rows.loc[~known, ["dataset", "learner", "k"]].iloc[0]
        raise ValueError(f"data set {dataset}, learner {learner}, k={k}: no rows of partitioner {TRUTH!r} to compare with")
    rows["error"] = rows["auc_crisp"] - rows["truth"]
    return rows[["dataset", "learner", "partitioner", "k", "run", "error"]].reset_index(drop=True)


def error_by_cell(error_rows, schemes):
    """Error of the estimate of every data set, scheme and partitioner, over learners and runs.

    Parameters
    ----------
    error_rows : pandas.DataFrame
        As `run_errors` makes it.
    schemes : dict of int to int
        Number of folds k to iterations.

    Returns
    -------
    table : pandas.DataFrame
        Columns ``dataset, scheme, partitioner, rms_error`` (root of the mean square), ``bias`` (mean), ``spread`` (standard deviation
        over runs, root of its mean square over the learners), ``n_errors``. Runs of a learner that are not there for all partitioners that have results are
        left out of the data set and scheme; ``n_errors`` counts the others, over the learners.
    """
    table = []
    for (dataset, k), part in error_rows[error_rows["k"].isin(schemes)].groupby(["dataset", "k"], sort=False):
        n_partitioners = part.loc[part["error"].notna(), "partitioner"].nunique()
        complete = part.groupby(["learner", "run"])["error"].transform("count") == n_partitioners
        common = part[complete & part["error"].notna()]
        for partitioner, cell in common.groupby("partitioner", sort=False):
            by_learner = cell.groupby("learner")["error"]
            row = {"dataset": dataset, "scheme": f"{k}x{schemes[k]}", "partitioner": partitioner}
            row |= {"rms_error": np.sqrt((cell["error"] ** 2).mean()), "bias": by_learner.mean().mean()}
            table.append(row | {"spread": np.sqrt(by_learner.var(ddof=1).mean()), "n_errors": len(cell)})
    return pd.DataFrame(table, columns=["dataset", "scheme", "partitioner", "rms_error", "bias", "spread", "n_errors"])


def shift_and_error(shift_rows, error_rows, schemes, partitioners, n_draws=1000, *, master_seed):
    """Rank correlation of every measure of shift with the error of the estimate, at three levels.

    Parameters
    ----------
    shift_rows : pandas.DataFrame
        One row per run: columns ``dataset, partitioner, k, run`` and the measures.
    error_rows : pandas.DataFrame
        As `run_errors` makes it.
    schemes : dict of int to int
        Number of folds k to iterations.
    partitioners : sequence of str
        In the order of the table.
    n_draws : int, default=1000
        Bootstrap samples of the data sets.
    master_seed : int
        The one seed of the configuration, which the draws are derived from.

    Returns
    -------
    table : pandas.DataFrame
        Columns ``level, error, scheme, partitioner, measure, spearman, standard_error, low, high, n_datasets``. Levels:

        ``datasets``
            Mean shift against error over the data sets, within a partitioner.
        ``partitioners``
            Mean shift against error over the partitioners within a data set, averaged over the data sets; ``partitioner`` is ``all``
            or, since MS-SCV is made to shift, ``all but MS-SCV``.
        ``runs``
            Shift against error over the runs of a data set and partitioner, averaged over the data sets. The error is the mean over
            the learners of its absolute or signed value; runs in which a fit failed are left out.

        Errors: ``rms`` and ``spread`` as in `error_by_cell`, ``absolute``, ``signed``. Standard error and interval (2.5 and 97.5 per
        cent) are those of the bootstrap over data sets; NaN below three data sets, as is a correlation that has fewer than three
        points or no variation.
    """
    both = shift_by_cell(shift_rows, schemes).merge(error_by_cell(error_rows, schemes), on=["dataset", "scheme", "partitioner"])
    by_run = _run_correlations(shift_rows, error_rows, schemes)
    groups = {"all": list(partitioners)}
    if EXTREME in partitioners:
        groups[f"all but {EXTREME}"] = [name for name in partitioners if name != EXTREME]
    table = []
    for scheme in [f"{k}x{r}" for k, r in schemes.items()]:
        part = both[both["scheme"] == scheme]
        for measure in MEASURES:
            for error, column in (("rms", "rms_error"), ("spread", "spread")):
                shift = part.pivot(index="dataset", columns="partitioner", values=measure)
                errors = part.pivot(index="dataset", columns="partitioner", values=column)
                for name in [name for name in partitioners if name in shift]:
                    x, y = _finite(shift[name].to_numpy(), errors[name].to_numpy())
                    rng = generator(master_seed, "bootstrap", "covariate shift", scheme, measure, error, name)
                    drawn = _resampled(len(x), n_draws, rng)
                    draws = spearman(x[drawn], y[drawn])
                    table.append(_correlation_row("datasets", error, scheme, name, measure, spearman(x, y), draws, len(x)))
                for label, names in groups.items():
                    if set(names) <= set(shift):
                        values = spearman(shift[names].to_numpy(), errors[names].to_numpy())
                        table.append(_mean_row("partitioners", error, scheme, label, measure, values, n_draws, master_seed))
        for measure in MEASURES:
            for error in ("absolute", "signed"):
                for name in partitioners:
                    values = by_run.get((scheme, name, measure, error))
                    if values is not None:
                        table.append(_mean_row("runs", error, scheme, name, measure, np.array(values), n_draws, master_seed))
    columns = ["level", "error", "scheme", "partitioner", "measure", "spearman", "standard_error", "low", "high", "n_datasets"]
    order = {question: i for i, question in enumerate(QUESTIONS)}
    table = pd.DataFrame(table, columns=columns)
    return table.iloc[np.argsort([order[pair] for pair in zip(table["level"], table["error"])], kind="stable")].reset_index(
        drop=True
    )


def spearman(x, y):
    """Spearman's rank correlation along the last axis, average ranks for ties.

    Parameters
    ----------
    x, y : ndarray of shape (..., n)
        Paired values.

    Returns
    -------
    correlation : float or ndarray of shape (...)
        NaN where n is below three, or one side does not vary or holds NaN.
    """
    x, y = (rankdata(values, axis=-1) if values.size else np.zeros(values.shape) for values in (x, y))
    if x.shape[-1] < FEWEST:
        return np.full(x.shape[:-1], np.nan)[()]
    x, y = x - x.mean(axis=-1, keepdims=True), y - y.mean(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return (x * y).sum(axis=-1) / np.sqrt((x**2).sum(axis=-1) * (y**2).sum(axis=-1))


def _by_partitioner(part, value, partitioners):
    """Data sets by partitioners, those data sets that have a result for all."""
    wide = part.pivot(index="dataset", columns="partitioner", values=value).reindex(columns=list(partitioners))
    return wide.loc[[name for name in dict.fromkeys(part["dataset"]) if wide.loc[name].notna().all()]]


def _run_correlations(shift_rows, error_rows, schemes):
    """Correlation over the runs of every data set: lists by scheme, partitioner, measure and kind of error."""
    found = {}
    shift_cells = dict(iter(shift_rows.groupby(["dataset", "k", "partitioner"], sort=False)))
    for key, cell in error_rows.groupby(["dataset", "k", "partitioner"], sort=False):
        _, k, partitioner = key
        if k not in schemes or key not in shift_cells:
            continue
        wide = cell.pivot(index="run", columns="learner", values="error").dropna(axis=1, how="all").dropna()
        shift = shift_cells[key].set_index("run")
        runs = wide.index.intersection(shift.index)
        if wide.shape[1] == 0:
            continue
        errors = {"absolute": wide.loc[runs].abs().mean(axis=1).to_numpy(), "signed": wide.loc[runs].mean(axis=1).to_numpy()}
        for measure in MEASURES:
            x = shift.loc[runs, measure].to_numpy()
            for error, y in errors.items():
                found.setdefault((f"{k}x{schemes[k]}", partitioner, measure, error), []).append(spearman(x, y))
    return found


def _finite(x, y):
    usable = np.isfinite(x) & np.isfinite(y)
    return x[usable], y[usable]


def _resampled(n, n_draws, rng):
    return (rng.random((n_draws, n)) * n).astype(np.int64)


def _mean_row(level, error, scheme, partitioner, measure, values, n_draws, master_seed):
    """Row of a mean over data sets."""
    values = values[np.isfinite(values)]
    rng = generator(master_seed, "bootstrap", "covariate shift", level, scheme, measure, error, partitioner)
    draws = values[_resampled(len(values), n_draws, rng)].mean(axis=1) if len(values) else np.empty(0)
    mean = values.mean() if len(values) else np.nan
    return _correlation_row(level, error, scheme, partitioner, measure, mean, draws, len(values))


def _correlation_row(level, error, scheme, partitioner, measure, estimate, draws, n_datasets):
    draws = draws[np.isfinite(draws)] if n_datasets >= FEWEST else draws[:0]
    low, high = np.percentile(draws, INTERVAL) if len(draws) else (np.nan, np.nan)
    deviation = draws.std(ddof=1) if len(draws) > 1 else np.nan
    return level, error, scheme, partitioner, measure, estimate, deviation, low, high, n_datasets


def shift_grid(summary, alpha, caption):
    """The summary as it is printed: a block per scheme, means shaded, the smallest underlined, p-values against SCV below."""
    partitioners = list(dict.fromkeys(summary["partitioner"]))
    rows = []
    for scheme, block in summary.groupby("scheme", sort=False):
        rows.append([f"{scheme} ({scheme.split('x')[0]} folds), {block['n_datasets'].min()} data sets"])
        for measure, part in block.groupby("measure", sort=False):
            part = part.set_index("partitioner").loc[partitioners]
            means, less_is_better = part["mean"].to_list(), measure != MORE_IS_BETTER
            best = min(means) if less_is_better else max(means)
            errors = part["standard_error"]
            texts = map(with_error, means, errors) if errors.notna().any() else map(number, means)  # shares of features have none
            cells = [
                Cell(text, shade, underline=mean == best)
                for text, mean, shade in zip(texts, means, shades(means, less_is_better))
            ]
            rows.append([LABELS[measure], *cells])
            tests = zip(partitioners, part["p_vs_scv"], part["higher_vs_scv"])
            cells = [
                Cell("" if name == REFERENCE else p_value(p, more == 1, decimals_from=np.inf), bold=bool(p <= alpha))
                for name, p, more in tests
            ]
            rows.append([f"  p against {REFERENCE}", *cells])
    notes = [
        "Mean over the data sets ± how far other partitions of the same data would move it (Monte Carlo standard error). "
        "Darker is less shift, the least is underlined.",
        f"p: Wilcoxon's signed-ranks test over the data sets, exact, two-sided; bold: at most {alpha:g}. "
        f"The asterisk says that the column's partitioner shifts more than {REFERENCE}.",
        "Parts drawn at random differ too, the more the smaller the test part: compare within a scheme. For the two-sample AUC chance "
        "is .5; below it, test and training part are more alike than chance makes them.",
        "Features shifted, balanced: share of the inputs of a data set whose training and test parts differ more, or less, than those of "
        "random cuts of the same sizes (table shifted_features). The more are balanced the better: there darker and underlined is more, "
        f"and the asterisk says that the column's partitioner balances more features than {REFERENCE}.",
    ]
    return Grid(caption, ["Measure", *partitioners], rows, notes)


def shifted_grid(table, partitioners, caption):
    """Which features are shifted, as it is printed: a block per scheme, a row per data set, a column per partitioner.

    Parameters
    ----------
    table : pandas.DataFrame
        As `feature_table` makes it.
    partitioners : sequence of str
        Columns.
    caption : str

    Returns
    -------
    grid : foldshift.reporting.tables.Grid
        A cell says how many inputs are shifted and which most, how many are balanced, and whether the target is shifted.
    """
    rows = []
    for scheme, block in table.groupby("scheme", sort=False):
        n_runs = f"{count_range(block['n_runs'])} partitions"
        rows.append([f"{scheme} ({scheme.split('x')[0]} folds), {n_runs} of each data set"])
        for dataset, part in block.groupby("dataset", sort=False):
            cells = [_drift_cell(part[part["partitioner"] == name]) for name in partitioners]
            n_inputs = part.loc[part["kind"] != "target", "feature"].nunique()
            rows.append([dataset, Cell(str(n_inputs)), *cells])
    notes = [
        "Folds of one data set share their rows, so that the share of folds that fails a test (KS, or chi-square for nominal features) "
        "says nothing by itself. The distance between training and test part, mean over all folds of all partitions, is therefore "
        "compared with that of random cuts of the same sizes; level .05 for a data set, scheme and partitioner, corrected by Holm over "
        "its features and the target. The more partitions, the smaller the differences that are found: see how large they are.",
        "Shifted (bold): farther apart than in random cuts; the feature that is shifted most, and its distance as a multiple of that of "
        "random cuts. Balanced: closer than in random cuts. As chance: nothing differs from random cuts. The target is named only if it "
        "is shifted: a stratified cut balances it.",
    ]
    return Grid(caption, ["Data set", "features", *partitioners], rows, notes)


def _drift_cell(cell):
    if cell.empty:
        return Cell(EMPTY)
    inputs = cell[cell["kind"] != "target"]
    shifted, n_balanced = _shifted(inputs), (inputs["verdict"] == "less").sum()
    said = []
    if len(shifted):
        said.append(f"{len(shifted)} shifted, most {shifted['feature'].iloc[0]} ×{shifted['distance_ratio'].iloc[0]:.2f}")
    if n_balanced:
        said.append(f"{n_balanced} balanced")
    target_shifted = _target_verdict(cell) == "more"
    if target_shifted:
        said.append("target shifted")
    return Cell("; ".join(said) or "as chance", bold=len(shifted) > 0 or target_shifted)


def correlation_grid(table, caption):
    """The correlations as they are printed: a block per question, a column per measure, intervals that leave out 0 bold."""
    rows = []
    for (level, error), block in table.groupby(["level", "error"], sort=False):
        rows.append([QUESTIONS[level, error]])
        for (scheme, partitioner), part in block.groupby(["scheme", "partitioner"], sort=False):
            part = part.set_index("measure")
            cells = [_correlation_cell(part.loc[name]) if name in part.index else Cell("") for name in MEASURES]
            rows.append([f"{scheme}, {partitioner}", *cells, Cell(str(part["n_datasets"].min()))])
    notes = [
        "Spearman's rank correlation, from -1 to 1, with the interval (2.5 to 97.5 per cent) of a bootstrap over the data sets; bold "
        "where the interval leaves out 0. No correction for the number of cells: one of twenty is bold by chance.",
        "Error: AUC of the estimate minus the truth, the mean of further experiments of SCV. The root-mean-square error counts a "
        "partitioner's bias against that truth, the standard deviation does not.",
        "Between data sets size matters: small ones have both more shift and more error, without the one being the cause of the other.",
    ]
    return Grid(caption, ["", *[LABELS[name] for name in MEASURES], "data sets"], rows, notes)


def _correlation_cell(row):
    if not np.isfinite(row["spearman"]):
        return Cell("")
    if not np.isfinite(row["low"]):
        return Cell(f"{row['spearman']:.2f}")
    clear = bool(row["low"] > 0 or row["high"] < 0)
    return Cell(f"{row['spearman']:.2f} [{row['low']:.2f}, {row['high']:.2f}]", bold=clear)


def draw_covariate_shift(by_cell, partitioners, schemes):
    """Box plots of the shift over the data sets: a column per measure, a row per scheme.

    Parameters
    ----------
    by_cell : pandas.DataFrame
        As `shift_by_cell` makes it.
    partitioners : sequence of str
        Boxes, from left to right.
    schemes : sequence of str
        Rows, e.g. ``["2x5", "5x2"]``.

    Returns
    -------
    figure : matplotlib.figure.Figure
    """
    figure, axes = _panels(schemes, sharex=True, sharey="col")
    for i, scheme in enumerate(schemes):
        for axis, measure in zip(axes[i], MEASURES):
            wide = _by_partitioner(by_cell[by_cell["scheme"] == scheme], measure, partitioners)
            axis.boxplot(
                [wide[name].to_numpy() for name in partitioners],
                manage_ticks=False,
                widths=0.6,
                showmeans=True,
                medianprops={"color": "#000000", "lw": 1.5},
                boxprops={"color": "#333333"},
                meanprops={"marker": "D", "mfc": "#7F7F7F", "mec": "#000000", "ms": 4},
                flierprops={"marker": "o", "ms": 3, "mec": "#555555"},
            )
            if measure == CHANCE_IS_HALF:
                axis.axhline(0.5, color="#000000", lw=0.6)
            else:
                _log_scale(axis.yaxis)
            axis.set_xticks(range(1, len(partitioners) + 1), partitioners, rotation=60)
    _name_panels(axes, schemes, "shift")
    return figure


def draw_shift_against_error(by_cell, errors, partitioners, schemes):
    """Mean shift against root-mean-square error of the estimate: a point per data set and partitioner.

    Parameters
    ----------
    by_cell : pandas.DataFrame
        As `shift_by_cell` makes it.
    errors : pandas.DataFrame
        As `error_by_cell` makes it.
    partitioners : sequence of str
        Series.
    schemes : sequence of str
        Rows of panels; the columns are the measures.

    Returns
    -------
    figure : matplotlib.figure.Figure
    """
    both = by_cell.merge(errors, on=["dataset", "scheme", "partitioner"])
    figure, axes = _panels(schemes, sharex="col", sharey="row")
    for i, scheme in enumerate(schemes):
        for axis, measure in zip(axes[i], MEASURES):
            for index, name in enumerate(partitioners):
                part = both[(both["scheme"] == scheme) & (both["partitioner"] == name)]
                look = style(index)
                axis.plot(
                    part[measure], part["rms_error"], ls="none", marker=look["marker"], ms=4.5, mew=1, color=look["color"],
                    mfc="none" if index % 2 else look["color"], label=name,
                )  # fmt: skip
            _log_scale(axis.yaxis)
            if measure == CHANCE_IS_HALF:
                axis.axvline(0.5, color="#000000", lw=0.6)
            else:
                _log_scale(axis.xaxis, digits=(1,))
    _name_panels(axes, schemes, "rms error of AUC")
    figure.supxlabel("mean shift of a data set", fontsize=9)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(partitioners))
    return figure


def _panels(schemes, sharex, sharey):
    """Panels with a row per scheme and a column per measure."""
    size = (2.3 * len(MEASURES) + 0.6, 2.1 * len(schemes) + 1)
    return plt.subplots(len(schemes), len(MEASURES), figsize=size, sharex=sharex, sharey=sharey, squeeze=False)


def _log_scale(axis, digits=(1, 2, 5)):
    """Shift and error vary over orders of magnitude; their ticks are plain numbers."""
    if not axis.get_data_interval()[1] > 0:  # nothing to show, or no shift at all
        return
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    axis.set_major_locator(LogLocator(subs=digits))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def _name_panels(axes, schemes, what):
    for axis, measure in zip(axes[0], MEASURES):
        axis.set_title(LABELS[measure], fontsize=9)
    for axis, scheme in zip(axes[:, 0], schemes):
        axis.set_ylabel(f"{scheme}: {what}")
