"""Tables of the study of k-fold and leave-one-out inference (Wong 2015): worked examples, intervals, comparisons, repetitions, claims."""

import itertools

import numpy as np
import pandas as pd

from foldshift.inference.accuracy import accuracy_interval, large_sample
from foldshift.inference.accuracy_tests import compare_independent, compare_matched, correctness_phi, loo_matched
from foldshift.inference.claims import CLAIMS, dropping_bias
from foldshift.inference.comparisons import mcnemar, nadeau_bengio
from foldshift.inference.ranks import critical_difference
from foldshift.inference.repetitions import recommend_repetitions
from foldshift.inference.wong_cuts import TEXTBOOKS
from foldshift.inference.wong_examples import wong_examples
from foldshift.reporting.numbers import EMPTY, number, p_value, with_error
from foldshift.reporting.paper import join_with_print
from foldshift.reporting.tables import Cell, Grid

PRINT_KEYS = ("example", "item", "formula")  # of a printed number
LEAVE_ONE_OUT = 0  # the k of leave-one-out
REPETITIONS = 10  # for which the variance ratio is printed
LIMIT = 3  # standard errors beyond which a claim is refuted
INTERVALS = {
    "dataset": "Wong, data set (z)",
    "fold": "Wong, folds (t)",
    "wilson": "Wilson",
    "corrected": "Nadeau-Bengio, all repetitions",
}
# Test, formula, whether it is of leave-one-out, and what a reader sees.
TESTS = {
    ("matched t over folds", "paper", False): "matched t over folds (Wong)",
    ("Nadeau-Bengio", "corrected", False): "Nadeau-Bengio, all repetitions",
    ("McNemar", "exact", False): "McNemar",
    ("independent z", "paper", False): "independent z (Wong)",
    ("McNemar", "exact", True): "leave-one-out: McNemar",
    ("independent z", "paper", True): "leave-one-out: independent z (Wong)",
    ("matched t over instances", "corrected", True): "leave-one-out: matched t (Wong, corrected)",
    ("matched t over instances", "paper", True): "leave-one-out: matched t as printed",
}
NO_PAIRS = "There are no two classifiers to compare."
EXAMPLES_CAPTION = (
    "Worked examples of Wong (2015): what is printed, what the printed formula gives for the data stated, and what is right. "
    "Bold: the three do not agree to the digits printed."
)
TEXTBOOKS_CAPTION = (
    "Table 1 of Wong (2015): what six textbooks say about cross-validation. A dash: nothing. How many folds, how large one must be, "
    "whether accuracies are averaged over folds or over the data set, and whether to repeat; none says how to infer from leave-one-out."
)
INTERVALS_CAPTION = (
    "Accuracy of every classifier with {level:g} % intervals. Wong's interval over the data set takes all predictions for one binomial sample; "
    "the one over the folds takes the k accuracies for a sample, with t. Wilson's holds for few errors, too. Nadeau and Bengio's is about the mean over all "
    "repetitions and makes up for training sets that overlap. The first three are of one partition."
)
COMPARISONS_CAPTION = (
    "Pairs of classifiers: difference of their accuracies, A minus B, and the p-value of every test. Bold: significant at {alpha:g}. Phi is the correlation "
    "of the two classifiers' being right on the same row; the independent z takes it for 0."
)
AGREEMENT_CAPTION = (
    "Which test is chosen matters: in how many per cent of pairs of classifiers each test rejects equality at {alpha:g}, and in how many two tests "
    "come to different decisions. On these data nobody knows which pairs truly differ: a test that rejects more often is not a better one."
)
REPETITIONS_CAPTION = (
    "What repeating k-fold cross-validation with other random folds can gain. The estimate varies between partitions of the same data (first column), "
    "and with the data (second). rho, the correlation of two partitions' estimates, is also the share of the variance that no number of repetitions removes. "
    "The last column: repetitions after which the choice of partitions adds less than a tenth of the standard deviation."
)
RANKS_CAPTION = (
    "Average rank of every classifier over the data sets by leave-one-out accuracy; 1 is best. Classifiers that share a letter are not told apart at {alpha:g} "
    "(Nemenyi)."
)
CLAIMS_CAPTION = (
    "Claims of Wong (2015), checked where the truth is known: classifiers on thousands of data sets drawn from models (`centroid`: stable; `stump`: unstable; "
    "`highdim`: many inputs). Claimed is what the quantity would be if the claim held; measured is given plus or minus its Monte Carlo standard error. "
    "Bold: further from what is claimed than three standard errors."
)
SENTENCES = {
    "fold_independence": "The accuracies of the k folds are independent, so that their variance is p(1 - p) / n.",
    "scheme_independence": "Learners with different representations are right independently of each other.",
    "partition_independence": "Two partitions of the same data: nobody claims independence, the paper says they depend on each other.",
    "repetition": "Repeating cross-validation with other partitions does not reduce the variance.",
    "dropping_bias": "Folds that fail the large-sample conditions should be left out.",
}
# Quantities in print, what they would be if the claim held (`level`: the confidence level), and their names.
QUANTITIES = {
    "fold_independence": {
        "sigma_share": (1.0, "share of the variance that Wong's formula counts"),
        "gamma_share": (0.0, "share from pairs of rows in different folds"),
        "coverage_within": ("level", "coverage of z with the variance within folds"),
        "coverage_dataset": ("level", "coverage of Wong's interval, data set"),
        "coverage_fold": ("level", "coverage of Wong's interval, folds"),
    },
    "scheme_independence": {
        "phi": (0.0, "phi of all features against one feature"),
        # How wrong a variance is in all is not the fault of this claim alone, so that the rest is shown but not judged.
        "independent_ratio": (np.nan, "variance of Theorem 3 over the true one"),
        "matched_ratio": (np.nan, "variance of the matched t over instances over the true one"),
        "coverage_independent": (np.nan, "coverage of the interval of the difference, Theorem 3"),
        "coverage_matched": (np.nan, "coverage of the interval of the difference, matched"),
    },
    "partition_independence": {"phi": (np.nan, "phi of two partitions")},
    "repetition": {
        "variance_ratio": (1.0, f"variance of the mean of {REPETITIONS} partitions over that of one"),
        "rho": (1.0, "correlation of two partitions' accuracies"),
        "coverage_counted": (np.nan, "coverage if the repetitions are counted as independent"),
    },
    "dropping_bias": {
        "bias": (0.0, "bias of the mean accuracy"),
        "bias_binomial": (np.nan, "the same, binomial folds, exact"),
    },
}
# Accuracy, rows of a fold, folds, and the bias that the specification of the study states.
DROPPING_CASES = ((0.95, 100, 10, -0.0151), (0.90, 40, 10, -0.0499))


def examples_table():
    """The worked examples.

    Returns
    -------
    table : pandas.DataFrame
        ``example, item, printed, paper`` (by the printed formula), ``corrected``, ``agrees`` (whether the three are the same to the digits printed; empty
        where nothing is printed), ``note``. Numbers are text of ten significant digits, as some entries are words.
    """
    rows = []
    for row in wong_examples():
        texts = {name: _text(getattr(row, name)) for name in ("paper", "corrected")}
        agrees = (
            "" if row.printed == "-" else "yes" if all(_as_printed(row.printed, getattr(row, name)) for name in texts) else "no"
        )
        rows.append(
            {"example": row.example, "item": row.item, "printed": row.printed} | texts | {"agrees": agrees, "note": row.note}
        )
    return pd.DataFrame(rows)


def paper_vs_ours():
    """Every number of the worked examples that is printed beside ours.

    Returns
    -------
    table : pandas.DataFrame
        As `foldshift.reporting.paper.join_with_print` makes it, with `PRINT_KEYS`: ``formula`` is ``paper`` for what the printed formula gives for the data
        stated, ``corrected`` for what is right. Both are exact, so that there is no standard error. The note says which differ from print to the digits
        printed. Words and lists that the paper prints stand in `examples_table` alone.
    """
    theirs, here = [], []
    for row in wong_examples():
        try:
            printed = float(row.printed)
        except ValueError:
            continue
        for formula in ("paper", "corrected"):
            key, value = ("examples", row.example, row.item, formula), getattr(row, formula)
            if value is None:
                theirs.append((*key, printed, "; ".join(filter(None, ("there is no such formula", row.note)))))
                continue
            verdict = "agrees" if _as_printed(row.printed, value) else "differs"
            theirs.append((*key, printed, ""))
            here.append((*key, float(value), f"{verdict}: {row.note}" if row.note else verdict))
    on = ["table", *PRINT_KEYS]
    theirs = pd.DataFrame(theirs, columns=[*on, "printed", "note"])
    return join_with_print(theirs, pd.DataFrame(here, columns=[*on, "ours", "note"]), PRINT_KEYS)


def examples_grid(table):
    """The worked examples as they are printed, a block per example."""
    rows = []
    for example, block in table.groupby("example", sort=False):
        rows.append([example])
        for row in block.itertuples():
            values = [Cell(_shorter(value) or EMPTY, bold=row.agrees == "no") for value in (row.paper, row.corrected)]
            rows.append([row.item, Cell(row.printed), *values, row.note])
    n_wrong = int((table["agrees"] == "no").sum())
    note = f"{n_wrong} of {int((table['agrees'] != '').sum())} printed items do not agree."
    return Grid(EXAMPLES_CAPTION, ["Item", "Printed", "Printed formula", "Corrected", "Note"], rows, [note])


def textbooks_table():
    """Table 1 of the paper."""
    return pd.DataFrame(TEXTBOOKS)


def textbooks_grid(table):
    """Table 1 as it is printed."""
    header = ["Textbook", "Folds", "Fold size", "Averaging over", "Repetition", "Leave-one-out"]
    return Grid(TEXTBOOKS_CAPTION, header, [[name, *map(Cell, rest)] for name, *rest in table.itertuples(index=False)])


def intervals_table(folds, level):
    """Every interval of every learner.

    Parameters
    ----------
    folds : pandas.DataFrame
        Columns ``dataset, learner, k, repetition, fold, n_correct, n_test, status, message``: one row per fold, ``k = 0`` for leave-one-out (totals);
        ``n_correct`` is NaN where the fit was lost.
    level : float
        Confidence level.

    Returns
    -------
    table : pandas.DataFrame
        One row per data set, learner and k: ``n``, ``accuracy`` (of the first repetition), ``n_small`` (folds, or totals, that fail the large-sample
        conditions), ``large_sample``, ``dataset_low``, ``dataset_high``, ``fold_low`` ... for each of `INTERVALS`, ``repeated_accuracy`` (mean of all
        repetitions), ``n_repetitions`` (complete ones), ``n_failed`` (fits), ``message`` (the first one). NaN where there is no result.
    """
    rows = []
    for dataset, learner, k, right, sizes, messages in _cells(folds):
        row = {"dataset": dataset, "learner": learner, "k": k, "n": int(sizes[0].sum()), "accuracy": np.nan}
        row |= {"n_small": np.nan, "large_sample": np.nan} | {
            f"{name}_{end}": np.nan for name in INTERVALS for end in ("low", "high")
        }
        row["repeated_accuracy"] = np.nan
        complete = ~np.isnan(right).any(axis=1)
        if complete[0]:
            first, m = right[0], sizes[0]
            large = np.atleast_1d(large_sample(first, m))
            row |= {"accuracy": first.sum() / m.sum(), "n_small": float((~large).sum()), "large_sample": bool(large.all())}
            found = {
                "dataset": accuracy_interval(first, m, method="normal", confidence=level),
                "wilson": accuracy_interval(first, m, method="wilson", confidence=level),
            }
            if k != LEAVE_ONE_OUT:
                found["fold"] = accuracy_interval(first, m, "fold", confidence=level)
            row |= _ends(found)
        if k != LEAVE_ONE_OUT and complete.any():
            test = nadeau_bengio((right / sizes)[complete], k - 1, 1, level=level)
            row |= _ends({"corrected": test}) | {"repeated_accuracy": test.estimate}
        row |= {"n_repetitions": int(complete.sum()), "n_failed": int(np.isnan(right).sum()), "message": next(iter(messages), "")}
        rows.append(row)
    names = ["dataset", "learner", "k", "n", "accuracy", "n_small", "large_sample"]
    names += [f"{name}_{end}" for name in INTERVALS for end in ("low", "high")]
    return pd.DataFrame(rows, columns=[*names, "repeated_accuracy", "n_repetitions", "n_failed", "message"])


def intervals_grid(table, level):
    """The intervals as they are printed, a block per data set."""
    rows = []
    for dataset, block in table.groupby("dataset", sort=False):
        rows.append([f"{dataset}, {int(block['n'].iloc[0])} rows"])
        for row in block.to_dict("records"):
            cells = [Cell(_range(row[f"{name}_low"], row[f"{name}_high"]) or _missing(name, row)) for name in INTERVALS]
            small = "" if np.isnan(row["n_small"]) else "hold" if row["large_sample"] else "fail"
            if small == "fail" and row["k"] != LEAVE_ONE_OUT:
                small += f" in {row['n_small']:.0f} of {row['k']}"
            rows.append([row["learner"], Cell(_cut(row["k"])), Cell(number(row["accuracy"], ".3f")), *cells, Cell(small)])
    notes = [
        "Conditions: at least five right and five wrong predictions in every fold (leave-one-out: in all). Where they fail the paper drops the fold, which biases the "
        "estimate; here all folds are kept, and Wilson's interval is the one to read. For leave-one-out there are no folds and no repetitions.",
    ]
    if lost := int(table["n_failed"].sum()):
        notes.append(f"{lost} fits were lost; what rests on them is left out. The CSV file has the messages.")
    header = ["Classifier", "k", "Accuracy", *INTERVALS.values(), "Conditions"]
    return Grid(INTERVALS_CAPTION.format(level=100 * level), header, rows, notes)


def comparisons_table(folds, pairs, level):
    """Every test of every pair of learners.

    Parameters
    ----------
    folds : pandas.DataFrame
        As for `intervals_table`.
    pairs : pandas.DataFrame
        Columns ``dataset, learner_a, learner_b, k, repetition, both, only_a, only_b, neither``: how many rows both, one or none of the two get right.
    level : float
        Confidence level; equality is rejected at ``1 - level``.

    Returns
    -------
    table : pandas.DataFrame
        One row per data set, pair, k and test: ``dataset, learner_a, learner_b, k, test, formula, difference, statistic, df, p_value, rejects, phi``
        (correlation of being right on the same row). NaN where one of the two has no result. Nadeau-Bengio is over all complete repetitions, the others are of
        the first one.
    """
    by_learner = {(dataset, learner, k): (right, sizes) for dataset, learner, k, right, sizes, _ in _cells(folds)}
    first = pairs[pairs["repetition"] == 0]
    rows = []
    for pair in first.itertuples():
        keys = {"dataset": pair.dataset, "learner_a": pair.learner_a, "learner_b": pair.learner_b, "k": int(pair.k)}
        right_a, sizes = by_learner[pair.dataset, pair.learner_a, pair.k]
        right_b, _ = by_learner[pair.dataset, pair.learner_b, pair.k]
        counts = np.array([pair.both, pair.only_a, pair.only_b, pair.neither])
        found, phi = _tests_of_pair(right_a, right_b, sizes, counts, pair.k == LEAVE_ONE_OUT)
        for test, formula, loo in TESTS:
            if loo == (pair.k == LEAVE_ONE_OUT):
                rows.append(
                    keys | {"test": test, "formula": formula} | _result(found.get((test, formula)), 1 - level) | {"phi": phi}
                )
    names = [
        "dataset",
        "learner_a",
        "learner_b",
        "k",
        "test",
        "formula",
        "difference",
        "statistic",
        "df",
        "p_value",
        "rejects",
        "phi",
    ]
    return pd.DataFrame(rows, columns=names)


def comparisons_grid(table, level):
    """p-values as they are printed: a block per data set, a row per pair and k."""
    alpha = round(1 - level, 10)
    by_cut = {loo: [key for key in TESTS if key[2] == loo] for loo in (False, True)}
    names = list(dict.fromkeys(_column(test, formula) for test, formula, _ in TESTS))
    rows = [] if len(table) else [[NO_PAIRS]]
    for dataset, block in table.groupby("dataset", sort=False):
        rows.append([dataset])
        for (a, b, k), part in block.groupby(["learner_a", "learner_b", "k"], sort=False):
            p = {(row.test, row.formula): row.p_value for row in part.itertuples()}
            difference = part["difference"][part["test"] == "McNemar"].iloc[0]  # of one partition
            cells = {}
            for test, formula, _ in by_cut[k == LEAVE_ONE_OUT]:
                value = p[test, formula]
                cells[_column(test, formula)] = Cell(p_value(value), bold=bool(value <= alpha))
            numbers = [Cell(number(value, "+.3f")) for value in (difference, part["phi"].iloc[0])]
            rows.append([f"{a} - {b}", Cell(_cut(k)), *numbers, *[cells.get(name, Cell("")) for name in names]])
    notes = [
        "Matched t over folds and independent z are Wong's; the first takes the folds for independent. Nadeau-Bengio uses all repetitions without counting them as independent; "
        "all other tests are of one partition, so that their p depends on the luck of the cut. McNemar: exact.",
        "Matched t over instances as printed lacks a square: its s^2 is 0 for all data, so that p is 0 for any difference and 1 for none.",
    ]
    if len(phi := table.drop_duplicates(["dataset", "learner_a", "learner_b", "k"])["phi"].dropna()):
        notes.append(
            f"Phi is above 0 (the two err on the same rows) in {int((phi > 0).sum())} of {len(phi)} comparisons; its median is {phi.median():.2f}."
        )
    return Grid(COMPARISONS_CAPTION.format(alpha=alpha), ["A - B", "k", "Difference", "Phi", *names], rows, notes)


def agreement_table(comparisons, level):
    """How often every test rejects, and how often two tests disagree, over data sets and pairs of learners.

    Parameters
    ----------
    comparisons : pandas.DataFrame
        As `comparisons_table` makes it.
    level : float
        Confidence level; equality is rejected at ``1 - level``.

    Returns
    -------
    table : pandas.DataFrame
        One row per k and two tests, also of a test with itself: ``k, test_a, test_b, n`` (pairs of learners, over all data sets, for which both tests have a
        result), ``rejects_a``, ``rejects_b``, ``only_a``, ``only_b`` (counts), ``disagree_percent``. Leave-one-out tests are compared with those of every k.
    """
    keys = ["dataset", "learner_a", "learner_b"]
    names = {(test, formula, loo): label for (test, formula, loo), label in TESTS.items()}
    labels = [names[row.test, row.formula, row.k == LEAVE_ONE_OUT] for row in comparisons.itertuples()]
    comparisons = comparisons.assign(label=labels)
    rows = []
    for k in sorted(set(comparisons["k"]) - {LEAVE_ONE_OUT}):
        part = comparisons[comparisons["k"].isin([k, LEAVE_ONE_OUT])]
        p = part.set_index([*keys, "label"])["p_value"].unstack("label").reindex(columns=list(TESTS.values()))
        for a, b in itertools.product(TESTS.values(), repeat=2):
            there = p[[a, b]].notna().all(axis=1)
            rejects_a, rejects_b = (p.loc[there, name] <= 1 - level + 1e-12 for name in (a, b))
            only_a, only_b, n = int((rejects_a & ~rejects_b).sum()), int((rejects_b & ~rejects_a).sum()), int(there.sum())
            row = {"k": k, "test_a": a, "test_b": b, "n": n, "rejects_a": int(rejects_a.sum()), "rejects_b": int(rejects_b.sum())}
            share = 100 * (only_a + only_b) / n if n else np.nan
            rows.append(row | {"only_a": only_a, "only_b": only_b, "disagree_percent": share})
    names = ["k", "test_a", "test_b", "n", "rejects_a", "rejects_b", "only_a", "only_b", "disagree_percent"]
    return pd.DataFrame(rows, columns=names)


def agreement_grid(table, level):
    """Rejections and disagreements as they are printed: one block per k, tests by number."""
    tests = list(TESTS.values())
    rows = [] if len(table) else [[NO_PAIRS]]
    for k, block in table.groupby("k", sort=False):
        rows.append([f"k = {k}"])
        cells = block.set_index(["test_a", "test_b"])
        for i, a in enumerate(tests):
            own = cells.loc[(a, a)]
            rejects = Cell(f"{100 * own['rejects_a'] / own['n']:.1f}" if own["n"] else EMPTY)
            others = [
                Cell("") if i == j else Cell(number(cells.loc[(a, b), "disagree_percent"], ".1f")) for j, b in enumerate(tests)
            ]
            rows.append([f"{i + 1} {a}", Cell(f"{own['n']:.0f}"), rejects, *others])
    header = ["Test", "Pairs", "Rejects, %", *[str(i + 1) for i in range(len(tests))]]
    note = "Numbers 1 to 8 head the columns of the tests: per cent of pairs on which the test of the row and that of the column decide differently."
    return Grid(AGREEMENT_CAPTION.format(alpha=round(1 - level, 10)), header, rows, [note])


def repetitions_table(folds, level):
    """Partition variance, and what repeating can gain.

    Parameters
    ----------
    folds : pandas.DataFrame
        As for `intervals_table`.
    level : float
        Level of the interval of the partition variance.

    Returns
    -------
    table : pandas.DataFrame
        One row per data set, learner and k (without leave-one-out, which has one partition): ``n_repetitions`` (complete ones), ``mean``,
        ``partition_variance``, ``partition_low``, ``partition_high``, ``theta`` (variance of one estimate, by Nadeau and Bengio), ``rho``, ``rho_low``,
        ``rho_high``, ``ratio_10`` (variance of the mean of ten partitions over that of one), ``most_gain`` (the most that repeating can take off),
        ``recommended``, ``recommended_low``, ``recommended_high``, ``note``. NaN with a note where it cannot be told.
    """
    numbers = ["mean", "partition_variance", "partition_low", "partition_high", "theta", "rho", "rho_low", "rho_high"]
    derived = [f"ratio_{REPETITIONS}", "most_gain", "recommended", "recommended_low", "recommended_high"]
    rows = []
    for dataset, learner, k, right, sizes, _ in _cells(folds):
        if k == LEAVE_ONE_OUT:
            continue
        complete = ~np.isnan(right).any(axis=1)
        row = {"dataset": dataset, "learner": learner, "k": k, "n_repetitions": int(complete.sum())} | dict.fromkeys(
            numbers + derived, np.nan
        )
        try:
            found = recommend_repetitions((right / sizes)[complete], level=level)
            row |= {name: getattr(found, name) for name in numbers}
            row |= {f"ratio_{REPETITIONS}": found.curve(REPETITIONS), "most_gain": found.most_gain}
            wanted = found.repetitions, found.repetitions_low, found.repetitions_high
            row |= dict(zip(derived[2:], map(float, wanted))) | {"note": found.note}
        except ValueError as error:  # fewer than two complete partitions, or no variance to compare with
            row["note"] = str(error)
        rows.append(row)
    return pd.DataFrame(rows, columns=["dataset", "learner", "k", "n_repetitions", *numbers, *derived, "note"])


def repetitions_grid(table):
    """What repeating can gain as it is printed, a block per data set."""
    rows = []
    for dataset, block in table.groupby("dataset", sort=False):
        rows.append([dataset])
        for row in block.to_dict("records"):
            spread = [number(row[name] ** 0.5, ".4f") for name in ("partition_variance", "theta")]
            rho, wanted = _with_range(row, "rho", ".3f"), _with_range(row, "recommended", ".0f")
            ratios = [number(row[name], ".3f") for name in (f"ratio_{REPETITIONS}", "most_gain")]
            cells = [Cell(text) for text in (*spread, rho, *ratios, wanted)]
            rows.append([row["learner"], Cell(str(row["k"])), Cell(str(row["n_repetitions"])), *cells])
    notes = [
        "sd of one estimate: Nadeau and Bengio's, from the folds; it tends to be too large for stable classifiers, so that the true gain may be larger. In brackets: interval from the "
        "spread of the partitions alone. The paper claims a ratio of 1."
    ]
    if negative := int((table["rho"] < 0).sum()):
        notes.append(
            f"rho is below 0 in {negative} of {len(table)} rows, which no correlation of partitions can be: there the sd of one estimate is too small."
        )
    header = [
        "Classifier",
        "k",
        "Repetitions",
        "sd between partitions",
        "sd of one estimate",
        "rho",
        f"Ratio at {REPETITIONS}",
        "Most to gain",
        "Recommended",
    ]
    return Grid(REPETITIONS_CAPTION, header, rows, notes)


def ranks_table(intervals, level):
    """Average ranks of the learners over the data sets, from leave-one-out accuracy.

    Parameters
    ----------
    intervals : pandas.DataFrame
        As `intervals_table` makes it.
    level : float
        Pairs are told apart at ``1 - level``.

    Returns
    -------
    table : pandas.DataFrame
        One row per learner, the best first: ``learner, average_rank, mean_accuracy, groups`` (letters that learners which are not told apart share),
        ``p_from_best`` (Nemenyi), ``n_datasets``, ``critical_difference``, ``chi2``, ``p_chi2``, ``f``, ``p_f`` (Friedman's test, the same in every row). Data sets on which a
        learner has no result are left out for all; a learner without any result is not waited for. Without rows where fewer than two learners or
        data sets are left.
    result : foldshift.inference.ranks.CriticalDifference or None
    """
    columns = [
        "learner",
        "average_rank",
        "mean_accuracy",
        "groups",
        "p_from_best",
        "n_datasets",
        "critical_difference",
        "chi2",
        "p_chi2",
        "f",
        "p_f",
    ]
    part = intervals[(intervals["k"] == LEAVE_ONE_OUT) & intervals["accuracy"].notna()]
    scores = part.pivot(index="dataset", columns="learner", values="accuracy").dropna()
    if min(scores.shape) < 2:
        return pd.DataFrame(columns=columns), None
    result = critical_difference(scores.to_numpy(), list(scores.columns), alpha=round(1 - level, 10))
    test, rows = result.friedman, []
    for i, name in enumerate(result.names):
        letters = "".join(_letter(g) for g, group in enumerate(result.groups) if i in group)
        own = name, result.average_ranks[i], scores[name].mean(), letters, result.p_values[0, i]
        rows.append((*own, result.n_blocks, result.difference, test.chi2, test.p_chi2, test.f, test.p_f))
    return pd.DataFrame(rows, columns=columns), result


def ranks_grid(table, level):
    """Average ranks as they are printed."""
    caption = RANKS_CAPTION.format(alpha=round(1 - level, 10))
    header = ["Classifier", "Average rank", "Mean accuracy", "Groups", "p against the best"]
    if table.empty:
        return Grid(caption, header, [["Fewer than two classifiers or data sets have leave-one-out results in common."]])
    rows = [
        [
            row.learner,
            Cell(f"{row.average_rank:.2f}"),
            Cell(f"{row.mean_accuracy:.3f}"),
            Cell(row.groups),
            Cell("" if i == 0 else p_value(row.p_from_best)),
        ]
        for i, row in enumerate(table.itertuples())
    ]
    one = table.iloc[0]
    note = (
        f"{one['n_datasets']} data sets. Friedman: chi-square {one['chi2']:.2f}, p {p_value(one['p_chi2'])}; Iman-Davenport: F {one['f']:.2f}, p {p_value(one['p_f'])}. "
        f"Critical difference of average ranks: {one['critical_difference']:.2f}."
    )
    return Grid(caption, header, rows, [note])


def claims_table(rows, level):
    """The paper's claims against what simulation shows.

    Parameters
    ----------
    rows : pandas.DataFrame
        Columns ``model, claim, n_folds, n_points, quantity, value, standard_error, expected`` of all models.
    level : float
        Confidence level, at which coverage is claimed.

    Returns
    -------
    table : pandas.DataFrame
        The quantities of `QUANTITIES`: ``claim, section, sentence, model, n_folds, n_points, quantity, meaning, claimed, value, standard_error, expected``
        (an independent simulation's, where there is one), ``verdict``: ``refuted`` if the value is further from what is claimed than three standard errors
        (exact values: if it differs at all), ``not refuted``, or empty where nothing is claimed. The last rows are the exact bias of leaving out folds.
    """
    sections = {one.function: one.section for one in CLAIMS}
    out = []
    for claim, quantities in QUANTITIES.items():
        heads = {"claim": claim, "section": sections.get(claim, ""), "sentence": SENTENCES[claim]}
        part = rows[(rows["claim"] == claim) & rows["quantity"].isin(list(quantities))]
        order = {name: i for i, name in enumerate(quantities)}
        part = part.assign(order=part["quantity"].map(order)).sort_values("order", kind="stable")
        for row in part.itertuples():
            claimed, meaning = quantities[row.quantity]
            numbers = row.value, row.standard_error, row.expected
            setting = {"model": row.model, "n_folds": row.n_folds, "n_points": row.n_points}
            out.append(heads | setting | _claim_row(row.quantity, meaning, level if claimed == "level" else claimed, *numbers))
        if claim == "dropping_bias":
            for p, m, k, expected in DROPPING_CASES:
                found = dropping_bias(p, m, k)
                setting = {"model": f"binomial folds, p = {p:g}", "n_folds": k, "n_points": m}
                out.append(
                    heads | setting | _claim_row("bias", "bias of the mean accuracy, exact", 0.0, found.bias, 0.0, expected)
                )
    # What is left of means that are exactly 0 depends on the processor.
    return pd.DataFrame(out).round(12)


def claims_grid(table):
    """Claims and verdicts as they are printed, a block per claim."""
    rows = []
    for _, block in table.groupby("claim", sort=False):
        judged = block[block["verdict"] != ""]
        heading = block["sentence"].iloc[0]
        if len(judged):
            refuted = list(dict.fromkeys(judged["model"][judged["verdict"] == "refuted"]))
            verdict = f"False: refuted on {'; '.join(refuted)}." if refuted else "Not refuted here."
            heading = f"Section {block['section'].iloc[0]}: {heading} {verdict}"
        rows.append([heading])
        for row in block.itertuples():
            exact = not row.standard_error > 0
            value = number(row.value) if exact else with_error(row.value, row.standard_error)
            cells = [Cell(f"{row.n_folds} × {row.n_points}"), Cell(number(row.claimed, "g", empty=""))]
            cells += [Cell(value, bold=row.verdict == "refuted"), Cell(number(row.expected, "g", empty="")), Cell(row.verdict)]
            rows.append([row.meaning, row.model, *cells])
    notes = [
        "Two learners: Theorem 3's variance lies above that of the matched test by the covariance that it leaves out. Both lie below the true one, because neither "
        "counts that training sets overlap.",
        "Folds × rows of a fold, of the models and of the exact cases. A claim that holds on one model is not thereby true: the stable classifier's training sets overlap without doing harm. "
        "Reference: an independent simulation of the same models; exact values for binomial folds.",
        "The interval over the data set has ends on multiples of 1/n, so that its coverage jumps by a hundredth as the truth crosses one; the "
        "interval with the variance within folds has nearly the same width and does not.",
    ]
    return Grid(CLAIMS_CAPTION, ["Quantity", "Model", "Folds", "Claimed", "Measured", "Reference", "Verdict"], rows, notes)


def _cells(folds):
    """Yield (data set, learner, k, correct (r, k), sizes (r, k), messages) in the order of first appearance."""
    for (dataset, learner, k), part in folds.groupby(["dataset", "learner", "k"], sort=False, observed=True):
        part = part.sort_values(["repetition", "fold"], kind="stable")
        shape = part["repetition"].nunique(), -1
        messages = dict.fromkeys(part["message"][part["status"] != "ok"])
        yield (
            dataset,
            learner,
            int(k),
            part["n_correct"].to_numpy(np.float64).reshape(shape),
            part["n_test"].to_numpy().reshape(shape),
            messages,
        )


def _ends(found):
    return {f"{name}_{end}": getattr(interval, end) for name, interval in found.items() for end in ("low", "high")}


def _tests_of_pair(right_a, right_b, sizes, counts, loo):
    """Results by (test, formula) of one pair at one k, and phi; what cannot be computed is left out."""
    found, phi = {}, np.nan
    complete = ~(np.isnan(right_a) | np.isnan(right_b)).any(axis=1)
    if not np.isnan(counts).any():
        x_a, x_b = (np.repeat(right, counts.astype(np.int64)) for right in ((1, 1, 0, 0), (1, 0, 1, 0)))
        phi = correctness_phi(x_a, x_b)
        found["McNemar", "exact"] = mcnemar(x_a, x_b)
        if loo:
            for formula in ("corrected", "paper"):
                found["matched t over instances", formula] = loo_matched(x_a, x_b, formula=formula)
    if complete[0]:
        a, b, m = right_a[0], right_b[0], sizes[0]
        found["independent z", "paper"] = compare_independent(a, m, b, m)
        if not loo:
            found["matched t over folds", "paper"] = compare_matched(a, b, m)
    if not loo and complete.any():
        differences = ((right_a - right_b) / sizes)[complete]
        found["Nadeau-Bengio", "corrected"] = nadeau_bengio(differences, sizes.shape[1] - 1, 1)
    return found, phi


def _result(test, alpha):
    if test is None:
        return dict.fromkeys(("difference", "statistic", "df", "p_value", "rejects"), np.nan)
    numbers = {
        "difference": test.estimate,
        "statistic": test.statistic,
        "df": getattr(test, "df", np.nan),
        "p_value": test.p_value,
    }
    return numbers | {"rejects": bool(test.p_value <= alpha + 1e-12)}


def _column(test, formula):
    """Head of a test's column; only the matched t over instances is there in both formulas."""
    return f"{test}, as printed" if (test, formula) == ("matched t over instances", "paper") else test


def _claim_row(quantity, meaning, claimed, value, error, expected):
    verdict = ""
    if not np.isnan(claimed) and not np.isnan(value):
        verdict = "refuted" if abs(value - claimed) > max(LIMIT * np.nan_to_num(error), 1e-12) else "not refuted"
    numbers = {"claimed": claimed, "value": value, "standard_error": error, "expected": expected}
    return {"quantity": quantity, "meaning": meaning} | numbers | {"verdict": verdict}


def _as_printed(printed, value):
    """Whether a value is what is printed, to the digits printed."""
    if isinstance(value, str):
        return value == printed
    try:
        number = float(printed)
    except ValueError:
        return False
    digits = len(printed.partition(".")[2])
    return value is not None and abs(value - number) <= 0.5 * 10**-digits * (1 + 1e-9)


def _text(value):
    return "" if value is None else value if isinstance(value, str) else f"{value:.10g}"


def _shorter(text):
    """Six significant digits of a number in text; other text as it is."""
    try:
        return f"{float(text):.6g}"
    except ValueError:
        return text


def _cut(k):
    return "leave-one-out" if k == LEAVE_ONE_OUT else str(k)


def _range(low, high):
    return "" if np.isnan(low) or np.isnan(high) else f"{low:.3f} to {high:.3f}"


def _missing(name, row):
    """What stands where there is no interval: nothing where there can be none."""
    return "" if row["k"] == LEAVE_ONE_OUT and name in ("fold", "corrected") else EMPTY


def _with_range(row, name, form):
    """A number and, in brackets, its interval from the columns ``<name>_low`` and ``<name>_high``."""
    value, low, high = (number(row[column], form) for column in (name, f"{name}_low", f"{name}_high"))
    return value if value == EMPTY else f"{value} ({low} to {high})"


def _letter(index):
    return chr(ord("a") + index % 26)
