"""Tables of the monitoring study (Cieslak and Chawla 2009): which features fail under which shift, how learners react, and which detector finds what."""

import numpy as np
import pandas as pd
from scipy.stats import norm

from foldshift.inference.ranks import friedman
from foldshift.reporting.numbers import EMPTY, count, number, percent, with_error
from foldshift.reporting.tables import Cell, Grid
from foldshift.shift.failures import phi, translation_limit
from foldshift.shift.hellinger import hellinger
from foldshift.shift.injectors import row_counts
from foldshift.shift.ks import ks_features, ks_p_value
from foldshift.shift.statistics import chi_square

BASE = "Base"
BIAS = ("MCAR25", "MCAR50", "MAR25", "MAR50", "MNAR25", "MNAR50")
TRUE_MNAR = ("MNARC25", "MNARC50")
TRANSLATION = ("CS25", "CS50", "CS100", "CS200")
PRIORS = ("P2", "P5", "P10", "P20", "P30", "P40", "P50", "P60", "P70")
CONDITIONS = (BASE, *BIAS, *TRUE_MNAR, *TRANSLATION, *PRIORS)
NO_SHIFT = ("Base", "MCAR")  # kinds under which nothing moves: a detector that fires is wrong
KIND_NAMES = {
    "MCAR": "MCAR",
    "MAR": "MAR",
    "MNAR": "MNAR",
    "MNARC": "true MNAR",
    "CS": "translation",
    "P": "prior",
}
# The rows of Table 1, in its order.
PAPER_DATASETS = ("Compustat", "E-State", "Mammography", "Oil", "Page", "Pendigits", "Phoneme", "Satimage", "Segment")
NOT_PUBLIC = {"Compustat": "not measured, as its financial data are not public in full"}
NOT_IN_RUN = "not in this run"
FORMULAS = {"paper": "paper's p", "valid": "valid p", "holm": "valid p, Holm", "bh": "valid p, Benjamini-Hochberg"}
FAILS = {"paper": "fails_paper", "valid": "fails", "holm": "fails_holm", "bh": "fails_bh"}
SHOWN = ("paper", "valid", "holm")
PHI = {"paper": "phi_paper", "corrected": "phi", "jaccard": "jaccard"}
TOLERANCE = 0.05  # distance from a printed proportion or phi that is pointed out

# id: (words, kind of rows, column, whether the column is a p-value or a number of failing features)
DETECTORS = {
    "ks_any_paper": ("KS, any feature, paper's p", "shift", "fails_paper", "count"),
    "ks_any_holm": ("KS, any feature, Holm", "shift", "fails_holm", "count"),
    "ks_any_bh": ("KS, any feature, Benjamini-Hochberg", "shift", "fails_bh", "count"),
    "hellinger": ("Hellinger, permutation", "shift", "hellinger_p", "p"),
    "friedman": ("Friedman over bootstraps (paper)", "learners", "friedman_p", "p"),
    "two_proportion": ("two proportions of correct rows", "learners", "two_proportion_p", "p"),
    "kruskal": ("Kruskal-Wallis on P(+)", "learners", "kruskal_p", "p"),
    "ks_scores": ("KS on P(+)", "learners", "ks_scores_p", "p"),
    "energy": ("energy distance", "multivariate", "energy", "p"),
    "mmd": ("MMD", "multivariate", "mmd", "p"),
    "c2st": ("classifier two-sample test", "multivariate", "c2st", "p"),
}
SUPERVISED = ("friedman", "two_proportion")  # they need the classes of the test rows
COMPLETE = 0.95  # share of the cells that a detector needs to be compared on all of them
TESTS = {"friedman": "friedman_p", "two_proportion": "two_proportion_p", "kruskal": "kruskal_p", "ks_scores": "ks_scores_p"}
CELL = ["dataset", "repeat", "condition"]

# Columns of the kinds of rows that the tables are made of.
SHIFT_COLUMNS = (
    *CELL, "version", "n_train", "n_test", "share_positive", "n_tested", "fails_paper", "fails", "fails_holm", "fails_bh", "self_paper", "self_valid",
    "hellinger", "hellinger_expected", "hellinger_p", "fails_positive", "fails_negative", "tested_positive", "tested_negative",
)  # fmt: skip
READING_COLUMNS = (*CELL, "removed", "sides", "n_cells", "failing")
CO_FAILURE_COLUMNS = (*CELL, "n_tests", "phi_paper", "phi_paper_sd", "phi", "phi_sd", "n_undefined", "jaccard", "hellinger_skew")
LEARNER_COLUMNS = (*CELL, "version", "learner", "accuracy_test", "auc_test", *TESTS.values())
MULTIVARIATE_COLUMNS = (*CELL, "version", "detector", "p_value")

KS_A = (0.34, 0.94, 0.24, 1.26, 6.98, 0.95, 0.15, -2.08, 0.17, 1.55, 3.20, 0.50, 0.70, 4.55, 0.10, 0.49, 0.38, 0.42, 1.37, 1.75)
KS_B = (0.15, -0.62, -0.17, -0.31, -0.50, 0.38, 2.30, 0.37, -1.79, -0.87, 1.72, -0.09, -1.54, 0.30, -2.39, -0.74, 0.22, 1.28, 0.19, -1.10)  # fmt: skip
TABLE5 = {"Pop1": (7, 0, 0), "Pop2": (0, 10, 2)}

WORDS = (
    "MCAR: rows removed at random; MAR: those with the smallest values of one feature (the largest with `removed: largest`); MNAR: the same, and the feature hidden; true MNAR: removed by class; CS: one "
    "feature moved by so many per cent of its standard deviation; P: share of positive rows in per cent."
)
TABLE1_CAPTION = (
    "Data sets: rows for training, validation and testing (50, 20 and 30 per cent, stratified by class) and features, ours and as printed in Table 1. Print agrees with "
    "these shares to two rows in a thousand but for Compustat, which was split by time."
)
TABLE2_CAPTION = (
    "Table 2: share of the features whose distribution in the test part differs from that in training by the Kolmogorov-Smirnov test at 5 %, mean over versions (one per "
    "feature biased) and over repeats, plus or minus its standard error. Paper's p: equation 7 with the one-sided distance, which sees only features whose test values are the larger ones (see the table of "
    "readings); valid p: the two-sided one; Holm: corrected for the number of features. Under MNAR the hidden feature does not count: n(n - 1) cells. Bold: more than .05 from print. MNARC is selection by class, which the paper "
    "defines but does not simulate."
)
READINGS_CAPTION = (
    'Which reading of the paper\'s text gives its Table 2? MAR removes "the top 25 %": the largest values, or the first rows of an ascending sort, the smallest. The KS distance is taken without its sign, as the '
    "text says, or as F(train) - F(test), of which equation 7 is the limit. Mean distance from the printed cells of Table 2, and how many of them are within .05. The mirror image of the nearest reading, F(test) - F(train) with the "
    "largest values removed, is not shown: it would miss every feature that Table 4 moves upwards. The readings were compared on Table 2 alone; Tables 3 and 6 had no part in it and stand in paper_vs_ours."
)
TABLE3_CAPTION = (
    "Table 3: do features fail together? Correlation phi of the failures of two features over the versions, mean over pairs and repeats, plus or minus its standard "
    "error; printed with the paper's own plus or minus, which it does not explain. The paper's formula is inverted: always together gives 0, never together 1. Corrected: Pearson's phi; pairs with a feature that "
    "always or never fails have none and are left out. Jaccard: both fail among those versions in which one does."
)
TABLE4_CAPTION = (
    "Table 4: share of the features that fail when one is moved by 25 to 200 per cent of its standard deviation, mean over versions and repeats, plus or minus its standard error. Limit: "
    "the largest share there can be when b of the n features fail anyway, ((n - b)(b + 1) + b b) / n²: all that is printed in this table follows from it and from Base in Table 2. "
    "Bold: more than .05 from print."
)
TABLE5_CAPTION = "The paper's worked examples, as printed, by its formula, and corrected. Table 5 has two populations that share no value. A and B are the two samples of Figure 12."
TABLE6_CAPTION = (
    "Table 6: skewness, over the versions, of the mean Hellinger distance; mean over repeats plus or minus its standard error. Only signs can be compared with print: one split is printed, and a skewness "
    "of so few versions moves much. Bold: the other sign, by two errors. A negative skewness means a tail below the mean and more than half of the values above it; the paper says the opposite."
)
SENSITIVITY_CAPTION = (
    "How do learners react to shift? The paper proposes to simulate shifts on known data, to observe the variation in performance, and to choose the learner that is most "
    "consistent. Index: absolute change of accuracy against the same test rows without shift, in percentage points, mean over versions, severities and repeats, then over the kinds of shift with equal weight "
    "(MAR, MNAR, true MNAR, translation, prior); MCAR stands beside it as what losing rows alone does. Rank 1 is the steadiest. The index of AUC does not react to the shares of "
    "the classes themselves. Worst change: the lowest mean of any condition (and data set). Noticed: share of versions in which the two-proportion test sees the change at 5 %."
)
POWER_CAPTION = (
    "Which detector for which shift? Share of versions in which a detector rejects at 5 %, mean over data sets, plus or minus its standard error over data sets (over repeats where there is one data set). Base and MCAR: nothing has "
    "moved, and 5 % is right. Last column: of the detectors that keep their level, the best, and all that round to the same. A detector keeps its level if its rate at Base is not above 5 % by more than two "
    "standard errors of a rate of 5 %. Darker is more."
)
TYPE_ONE_CAPTION = "How often does a detector fire when nothing has moved? Rejections at 5 % between training (or validation) and an unshifted test part, by data set, with the 95 % Wilson interval; MCAR: the same after rows were removed at random."
P_VALUES_CAPTION = (
    "What is behind Figures 6 to 11: for every data set, learner and condition the mean p-value over versions and repeats, as the paper draws it, its median, and the share of p-values below 5 %. A mean of p-values is not a p-value: with no "
    "shift it is .5, and .15 does not mean 85 per cent confidence."
)
PRIOR_CAPTION = "What is behind Figures 13 and 14: share of features that fail KS when the share of positive rows changes, in all rows and (by the valid p) within each class. Within a class nothing has moved."
HELLINGER_CAPTION = (
    "What is behind Figures 15 to 17: mean Hellinger distance of training and test features, its change against Base in per cent, as the paper draws it, and its excess over what finite samples of these sizes have without any shift. Removing rows at "
    "random raises the distance: the change under MCAR is this alone, the excess is about 0."
)


def paper_name(dataset):
    """Name of a data set in the paper's Table 1; its own name if it is not one of them.

    ``estate`` is E-State, ``page-blocks`` is Page: the letters and digits of the printed name begin those of the data set.
    """
    letters = _letters(dataset)
    return next((name for name in PAPER_DATASETS if letters.startswith(_letters(name))), dataset)


def condition_kind(condition):
    """Kind of a condition: ``MAR`` of ``MAR25``, ``P`` of ``P2``, ``Base``."""
    return condition.rstrip("0123456789")


def listed_datasets(datasets):
    """Every data set of the paper in the order of Table 1, then those of the run that the paper has not.

    Parameters
    ----------
    datasets : iterable of str
        Data sets of the run.

    Returns
    -------
    listed : list of (str, str or None, str)
        Printed name, name in the run, and reason if there is none. A data set in several forms has a row for each.
    """
    datasets = list(dict.fromkeys(datasets))
    listed = []
    for name in PAPER_DATASETS:
        ours = [one for one in datasets if paper_name(one) == name]
        listed += [(name, one, "") for one in ours] or [(name, None, NOT_PUBLIC.get(name, NOT_IN_RUN))]
    return listed + [(one, one, "") for one in datasets if paper_name(one) not in PAPER_DATASETS]


def datasets_table(shift, n_rows, printed):
    """Sizes of the parts, ours and printed (Table 1).

    Parameters
    ----------
    shift : pandas.DataFrame
        Rows of kind ``shift``.
    n_rows : dict of str to int
        Rows of every data set, from which the size of the validation part follows.
    printed : pandas.DataFrame
        ``dataset, training, validation, testing, features``.

    Returns
    -------
    table : pandas.DataFrame
        ``dataset, ours, training, validation, testing, features, share_positive``, the four numbers as ``printed_...``, and ``note``; NaN where there is none.
    """
    base = shift[shift["condition"] == BASE].groupby("dataset", sort=False, observed=True)[
        ["n_train", "n_test", "n_tested", "share_positive"]
    ].mean()  # fmt: skip
    print_of = printed.set_index("dataset")
    parts = ("training", "validation", "testing", "features")
    out = []
    for name, ours, note in listed_datasets(base.index):
        row = {"dataset": name, "ours": ours or ""} | dict.fromkeys((*parts, "share_positive"), np.nan)
        if ours:
            found = base.loc[ours]
            row |= {"training": found["n_train"], "testing": found["n_test"], "features": found["n_tested"]}
            row |= {"validation": n_rows.get(ours, np.nan) - found["n_train"] - found["n_test"]}
            row |= {"share_positive": found["share_positive"]}
        row |= {f"printed_{part}": float(print_of[part].get(name, np.nan)) for part in parts}
        out.append(row | {"note": note})
    return pd.DataFrame(out)


def failing_shares(shift):
    """Share of the features that fail, over the versions of every repeat.

    Parameters
    ----------
    shift : pandas.DataFrame
        Rows of kind ``shift``.

    Returns
    -------
    shares : pandas.DataFrame
        One row per data set, repeat and condition: ``n_cells`` (versions times features tested), ``paper``, ``valid``, ``holm`` and ``bh`` (shares), ``failing_...`` (numbers) and
        ``self_paper``, ``self_valid``: numbers of versions whose own feature fails (NaN if there is no own feature, or it is hidden).
    """
    groups = shift.groupby(CELL, sort=False, observed=True)
    sums = groups[["n_tested", *FAILS.values()]].sum()
    own = groups[["self_paper", "self_valid"]].sum(min_count=1)
    out = pd.DataFrame({"n_cells": sums["n_tested"]})
    for formula, column in FAILS.items():
        out[f"failing_{formula}"] = sums[column]
        out[formula] = sums[column] / sums["n_tested"].where(sums["n_tested"] > 0)
    return out.join(own).reset_index()


def self_failures(shares):
    """The identity that Table 2 obeys: features that fail under MAR but not under MNAR are those that fail on themselves.

    Parameters
    ----------
    shares : pandas.DataFrame
        As `failing_shares` makes them.

    Returns
    -------
    table : pandas.DataFrame
        One row per data set, repeat, severity and p-value (paper's, valid): ``mar``, ``mnar`` (numbers failing), ``itself`` and whether it ``holds``: ``mar - mnar == itself``.
    """
    by_condition = {
        condition: part.set_index(["dataset", "repeat"]) for condition, part in shares.groupby("condition", observed=True)
    }
    out = []
    for severity in (25, 50):
        mar, mnar = (by_condition.get(f"{kind}{severity}") for kind in ("MAR", "MNAR"))
        if mar is None or mnar is None:
            continue
        for formula in ("paper", "valid"):
            table = pd.DataFrame({"mar": mar[f"failing_{formula}"], "itself": mar[f"self_{formula}"].fillna(0)})
            table = table.join(mnar[f"failing_{formula}"].rename("mnar"), how="inner").reset_index()
            holds = table["mar"] - table["mnar"] == table["itself"]
            out.append(table.assign(severity=severity, formula=formula, holds=holds))
    columns = ["dataset", "repeat", "severity", "formula", "mar", "mnar", "itself", "holds"]
    return pd.concat(out, ignore_index=True)[columns] if out else pd.DataFrame(columns=columns)


def ks_table(shares, printed):
    """Share of features that fail KS, by condition (Table 2).

    Parameters
    ----------
    shares : pandas.DataFrame
        As `failing_shares` makes them.
    printed : pandas.DataFrame
        ``dataset, condition, proportion``.

    Returns
    -------
    table : pandas.DataFrame
        Columns of `compared`, by formula ``paper``, ``valid``, ``holm`` and ``bh``; ``n_cells`` of one repeat.
    """
    table = compared(shares, {name: name for name in FAILS}, (BASE, *BIAS, *TRUE_MNAR), printed, "proportion")
    cells = shares.groupby(["dataset", "condition"], sort=False, observed=True)["n_cells"].first()
    return table.assign(n_cells=[cells.get(key, np.nan) for key in zip(table["ours"], table["condition"])])


def readings_table(readings, printed):
    """Distance from the printed Table 2 of every reading of what MAR removes and of the sides of KS.

    Parameters
    ----------
    readings : pandas.DataFrame
        Rows of kind ``readings``: ``removed``, ``sides`` (1 or 2), ``n_cells`` and ``failing``.
    printed : pandas.DataFrame
        ``dataset, condition, proportion``.

    Returns
    -------
    table : pandas.DataFrame
        By data set, and for ``all`` together: ``dataset, removed, sides, distance`` (mean absolute, of means over repeats), ``n_agree`` (within .05) and ``n_cells``: printed cells that can be compared.
    """
    rows = readings.assign(share=readings["failing"] / readings["n_cells"])
    out = []
    for (removed, sides), part in rows.groupby(["removed", "sides"], sort=False, observed=True):
        table = compared(part, {"paper": "share"}, (BASE, *BIAS), printed, "proportion").dropna(subset=["difference"])
        for dataset, cells in [*table.groupby("dataset", sort=False), ("all", table)]:
            distance = cells["difference"].abs()
            row = {"dataset": dataset, "removed": removed, "sides": sides, "distance": distance.mean()}
            out.append(row | {"n_agree": int((distance <= TOLERANCE + 1e-9).sum()), "n_cells": len(cells)})
    return pd.DataFrame(out, columns=["dataset", "removed", "sides", "distance", "n_agree", "n_cells"])


def phi_table(co_failure, printed):
    """How features fail together (Table 3).

    Parameters
    ----------
    co_failure : pandas.DataFrame
        Rows of kind ``co_failure``.
    printed : pandas.DataFrame
        ``dataset, condition, phi_mean, phi_spread``.

    Returns
    -------
    table : pandas.DataFrame
        Columns of `compared`, by formula ``paper``, ``corrected`` and ``jaccard``; ``spread``: standard deviation over pairs, mean over repeats, ``printed_spread``, and ``undefined``: pairs without a
        corrected phi, mean over repeats.
    """
    table = compared(co_failure, PHI, (*BIAS, *TRUE_MNAR), printed, "phi_mean")
    means = co_failure.groupby(["dataset", "condition"], sort=False, observed=True)[
        ["phi_paper_sd", "phi_sd", "n_undefined"]
    ].mean()
    column = {"paper": "phi_paper_sd", "corrected": "phi_sd"}
    spreads = printed.set_index(["dataset", "condition"])["phi_spread"]
    keys = list(zip(table["ours"], table["condition"], table["formula"]))
    return table.assign(
        spread=[_at(means, (ours, condition), column.get(formula)) for ours, condition, formula in keys],
        printed_spread=[spreads.get(key, np.nan) for key in zip(table["dataset"], table["condition"])],
        undefined=[_at(means, (ours, condition), "n_undefined") for ours, condition, _ in keys],
    )


def translation_table(shares, printed):
    """Share of features that fail when one of them is moved, and the largest share there can be (Table 4).

    Parameters
    ----------
    shares : pandas.DataFrame
        As `failing_shares` makes them.
    printed : pandas.DataFrame
        ``dataset, condition, proportion``.

    Returns
    -------
    table : pandas.DataFrame
        Columns of `compared`, by formula ``paper`` and ``valid``; ``limit`` (mean over repeats of the limit from the same repeat's failures without shift) and ``within_limit``: whether no repeat is above its own.
    """
    base = shares[shares["condition"] == BASE].set_index(["dataset", "repeat"])
    moved = shares[shares["condition"].isin(TRANSLATION)]
    formulas = {name: name for name in ("paper", "valid")}
    table = compared(moved, formulas, TRANSLATION, printed, "proportion")
    limits = {}
    for formula in formulas:
        part = moved.join(base[["n_cells", f"failing_{formula}"]].add_prefix("base_"), on=["dataset", "repeat"]).dropna(
            subset=["base_n_cells"]
        )
        n, b = part["base_n_cells"].astype(int), part[f"base_failing_{formula}"].astype(int)
        part = part.assign(limit=translation_limit(n.to_numpy(), b.to_numpy()) if len(part) else [])
        for key, cell in part.groupby(["dataset", "condition"], sort=False, observed=True):
            limits[(*key, formula)] = float(cell["limit"].mean()), bool((cell[formula] <= cell["limit"] + 1e-12).all())
    keys = list(zip(table["ours"], table["condition"], table["formula"]))
    return table.assign(
        limit=[limits.get(key, (np.nan, None))[0] for key in keys],
        within_limit=[limits.get(key, (np.nan, None))[1] for key in keys],
    )


def skew_table(co_failure, printed):
    """Skewness over the versions of the mean Hellinger distance (Table 6).

    Parameters
    ----------
    co_failure : pandas.DataFrame
        Rows of kind ``co_failure``.
    printed : pandas.DataFrame
        ``dataset, condition, skew``.

    Returns
    -------
    table : pandas.DataFrame
        Columns of `compared`, with ``positive``: share of the repeats with a positive skewness, and ``same_sign`` as print (None where there is nothing to compare).
    """
    table = compared(co_failure, {"skew": "hellinger_skew"}, (*BIAS, *TRUE_MNAR), printed, "skew")
    known = co_failure.dropna(subset=["hellinger_skew"])
    positive = (known["hellinger_skew"] > 0).groupby([known["dataset"], known["condition"]], sort=False, observed=True).mean()
    both = table["value"].notna() & table["printed"].notna()
    same = np.sign(table["value"]) == np.sign(table["printed"])
    return table.assign(
        positive=[positive.get(key, np.nan) for key in zip(table["ours"], table["condition"])],
        same_sign=[bool(agrees) if known else None for agrees, known in zip(same, both)],
    )


def compared(rows, formulas, conditions, printed, column):
    """Mean over repeats of every data set and condition, beside print.

    Parameters
    ----------
    rows : pandas.DataFrame
        ``dataset, repeat, condition`` and the columns of the formulas, one row for each; NaN is left out.
    formulas : dict of str to str
        Columns by formula. Print is compared with the first.
    conditions : sequence of str
        Conditions.
    printed : pandas.DataFrame
        ``dataset, condition`` and `column`.
    column : str
        The printed number.

    Returns
    -------
    table : pandas.DataFrame
        One row per data set of the paper or the run, condition and formula: ``dataset, ours, condition, formula, value, standard_error, lowest, highest`` (over repeats), ``n_repeats, printed, difference, note``.
    """
    print_of = printed.set_index(["dataset", "condition"])[column]
    stats = {name: over_repeats(rows, values) for name, values in formulas.items()}
    out = []
    for name, ours, note in listed_datasets(rows["dataset"]):
        for condition in conditions:
            value = float(print_of.get((name, condition), np.nan))
            for formula, found in stats.items():
                row = {"dataset": name, "ours": ours or "", "condition": condition, "formula": formula}
                if (ours, condition) in found.index:
                    row |= found.loc[(ours, condition)].to_dict()
                else:
                    row |= dict.fromkeys(found.columns, np.nan) | {"n_repeats": 0}
                out.append(row | {"printed": value, "difference": row["value"] - value, "note": note})
    return pd.DataFrame(out).astype({"n_repeats": int})


def over_repeats(rows, value, keys=("dataset", "condition")):
    """Mean, standard error (NaN for one), extremes and number of the repeats that have a value."""
    known = rows.dropna(subset=[value])
    out = known.groupby(list(keys), sort=False, observed=True)[value].agg(["mean", "std", "min", "max", "count"])
    out["std"] /= np.sqrt(out["count"])
    return out.set_axis(["value", "standard_error", "lowest", "highest", "n_repeats"], axis=1)


def examples_table():
    """The worked examples: Table 5, the samples of Figure 12, the corner cases of phi, the example of shifted priors.

    Returns
    -------
    table : pandas.DataFrame
        ``example, quantity, printed, paper, corrected, note``: as printed, by the printed formula, and right; NaN where there is none.
    """
    counts = np.array(list(TABLE5.values()))
    chi2 = chi_square(counts)
    values = [np.repeat(np.arange(counts.shape[1]), row) for row in counts]
    rows = [
        ("Table 5", "chi-square", np.nan, printed_chi_square(counts), chi2.statistic, "equation 5 lacks the square and has another expectation"),
        ("Table 5", "degrees of freedom", np.nan, 2, chi2.df, ""),
        ("Table 5", "p", np.nan, np.nan, chi2.p_value, "a negative chi-square has none"),
        ("Table 5", "Hellinger distance", np.sqrt(2), *[hellinger(*values, categorical=True)] * 2, "printed as the root of 2, the largest there is"),
    ]  # fmt: skip
    n1, n2 = len(KS_A), len(KS_B)
    D = float(ks_features(np.array(KS_A)[:, None], np.array(KS_B)[:, None]).statistic[0])
    paper, asymptotic, exact = (ks_p_value(D, n1, n2, method) for method in ("paper", "asymptotic", "exact"))
    rows += [
        ("A and B (Figure 12)", "D", 0.5, D, D, ""),
        ("A and B (Figure 12)", "chi-square of equation 7", np.nan, 4 * D**2 * n1 * n2 / (n1 + n2), np.nan, "one-sided limit, 2 degrees of freedom"),
        ("A and B (Figure 12)", "p, limit", np.nan, paper, asymptotic, "the paper's is one-sided"),
        ("A and B (Figure 12)", "p, exact", np.nan, np.nan, exact, "two-sided, continuous values"),
    ]  # fmt: skip
    cases = {
        "always together": [(1, 1)] * 4 + [(0, 0)] * 6,
        "never together": [(1, 0)] * 4 + [(0, 1)] * 6,
        "independent (5, 4 and 2 of 10)": [(1, 1)] * 2 + [(1, 0)] * 3 + [(0, 1)] * 2 + [(0, 0)] * 3,
    }
    for case, fails in cases.items():
        both = [float(phi(fails, formula)[0, 1]) for formula in ("paper", "corrected")]
        rows.append(("phi (equation 8)", case, np.nan, *both, ""))
    # MNAR of four features, where all that are not hidden fail.
    hidden = np.where(np.eye(4, dtype=bool), np.nan, 1.0)
    both = [float(phi(hidden, formula)[0, 1]) for formula in ("paper", "corrected")]
    rows.append(
        (
            "phi (equation 8)",
            "MNAR of 4 features, all others fail",
            np.nan,
            *both,
            "1 / (2 n - 3) for n features; 0 for Mammography in print",
        )
    )
    removed = 2000 - row_counts("prior", 3000, 0.5, 1000).n_negative
    rows.append(("2000 negative, 1000 positive", "negative rows removed for P(+) = .5", 1000, removed, removed, ""))
    return pd.DataFrame(rows, columns=["example", "quantity", "printed", "paper", "corrected", "note"])


def printed_chi_square(counts):
    """Equation 5 as it is printed, for `counts` of shape (n_populations, n_values): negative where it should be large; for the examples only."""
    counts = np.asarray(counts, dtype=np.float64)
    n = counts.sum()
    expected = (counts * counts.sum(axis=1, keepdims=True)).sum(axis=0) / n
    return float(((counts / n - expected) / expected).sum())


def sensitivity_table(learners, alpha):
    """How strongly learners react to shift.

    Parameters
    ----------
    learners : pandas.DataFrame
        Rows of kind ``learners``.
    alpha : float
        Level of the two-proportion test.

    Returns
    -------
    table : pandas.DataFrame
        One row per learner and data set, and one of ``all`` (mean over the data sets in which every learner has an index; first): ``base_accuracy``, ``base_auc``; ``index`` and ``auc_index`` (mean absolute change, over
        kinds of shift with equal weight; NaN if a kind is missing that another learner has), standard errors (over repeats; of ``all`` over data sets), ``rank``, ``auc_rank`` (1 has the smallest index; of ``all`` means of ranks);
        one column of absolute change per kind; ``worst`` (lowest mean change of accuracy, with its sign) and ``worst_condition``; ``noticed``. Everything but AUC and noticed in shares of 1 of accuracy.
    """
    keys = ["dataset", "repeat", "learner"]
    base = learners[learners["condition"] == BASE].set_index(keys)[["accuracy_test", "auc_test"]].add_prefix("base_")
    moved = learners[learners["condition"] != BASE].join(base, on=keys)
    kinds = moved["condition"].map(condition_kind)
    moved = moved.assign(
        kind=kinds,
        change=moved["accuracy_test"] - moved["base_accuracy_test"],
        auc_change=(moved["auc_test"] - moved["base_auc_test"]).abs(),
        noticed=(moved["two_proportion_p"] < alpha).where(moved["two_proportion_p"].notna()).astype(float),
    )
    moved["absolute"] = moved["change"].abs()
    measures = ["absolute", "auc_change", "noticed"]
    by_condition = moved.groupby([*keys, "kind", "condition"], sort=False, observed=True)[[*measures, "change"]].mean()
    by_kind = by_condition.groupby([*keys, "kind"], sort=False, observed=True)[measures].mean()
    shifts = [kind for kind in KIND_NAMES if kind not in NO_SHIFT and kind in set(kinds)]
    wide = {name: by_kind[name].unstack("kind").reindex(columns=[*NO_SHIFT[1:], *shifts]) for name in measures}
    index = {name: wide[name][shifts].mean(axis=1, skipna=False) for name in measures}
    names, datasets = (list(dict.fromkeys(learners[column])) for column in ("learner", "dataset"))
    worst = by_condition["change"].groupby(["dataset", "learner", "condition"], sort=False, observed=True).mean()
    out = []
    for dataset in datasets:
        of_dataset = []
        for learner in names:
            at = {"dataset": dataset, "learner": learner}
            row = {"learner": learner, "dataset": dataset}
            for column, name in (("base_accuracy", "base_accuracy_test"), ("base_auc", "base_auc_test")):
                row[column] = float(_where(base[name], at).mean())
            for column, name in (("index", "absolute"), ("auc_index", "auc_change")):
                row[column], row[f"se_{column}"] = _mean_and_error(_where(index[name], at))
            row |= {kind: float(_where(wide["absolute"][kind], at).mean()) for kind in wide["absolute"].columns}
            row["noticed"] = float(_where(index["noticed"], at).mean())
            falls = worst[[key for key in worst.index if key[:2] == (dataset, learner)]].dropna()
            row["worst"] = float(falls.min()) if len(falls) else np.nan
            row["worst_condition"] = falls.idxmin()[2] if len(falls) else ""
            of_dataset.append(row)
        frame = pd.DataFrame(of_dataset)
        for column, rank in (("index", "rank"), ("auc_index", "auc_rank")):
            complete = frame[column].notna().all()
            frame[rank] = frame[column].rank() if complete else np.nan
        out.append(frame)
    table = pd.concat(out, ignore_index=True)
    return pd.concat([_over_datasets(table, names), table], ignore_index=True)


def sensitivity_test(table):
    """Friedman's test of the indices over data sets: its p-value, and the number of data sets; p is NaN below two data sets or learners."""
    part = table[table["dataset"] != "all"].dropna(subset=["rank"])
    scores = part.pivot(index="dataset", columns="learner", values="index")
    if min(scores.shape) < 2:
        return np.nan, len(scores)
    return friedman(scores.to_numpy(), larger_is_better=False).p_chi2, len(scores)


def rejections(shift, learners, multivariate, alpha):
    """Which detectors fire, for every version of every data set.

    Parameters
    ----------
    shift, learners, multivariate : pandas.DataFrame
        Rows of the three kinds.
    alpha : float
        Level.

    Returns
    -------
    fired : pandas.DataFrame
        Index ``dataset, repeat, condition, version``; a column of 0 and 1 per detector, for those over learners the share of the learners; NaN where it was not run.
    """
    index = [*CELL, "version"]
    rows = shift.set_index(index)
    out = {}
    for name, (_, _, column, form) in _detectors("shift"):
        values = rows[column]
        out[name] = ((values > 0) if form == "count" else (values < alpha)).where(values.notna()).astype(float)
    out = pd.DataFrame(out, index=rows.index)
    fires = pd.DataFrame(
        {name: (learners[column] < alpha).where(learners[column].notna()).astype(float) for name, (_, _, column, _) in _detectors("learners")}
    )  # fmt: skip
    out = out.join(fires.groupby([learners[name] for name in index], sort=False, observed=True).mean())
    wide = multivariate.pivot_table(index=index, columns="detector", values="p_value", observed=True, aggfunc="first")
    wide = wide.reindex(columns=[name for name, _ in _detectors("multivariate")])
    fired = (wide < alpha).where(wide.notna()).astype(float)
    return out.join(fired).reindex(columns=list(DETECTORS)).astype(float)


def type_one_table(fired, alpha):
    """Rejections where nothing has moved.

    Parameters
    ----------
    fired : pandas.DataFrame
        As `rejections` makes it.
    alpha : float
        Level.

    Returns
    -------
    table : pandas.DataFrame
        One row per detector and data set, and of ``all`` (mean over data sets; first): ``rate`` at Base, ``low`` and ``high`` (95 % Wilson interval, with every split as one trial), ``n_splits``, ``allowed`` (`allowed_rate`), ``keeps_level``
        (None if it was not run), and ``mcar25``, ``mcar50``.
    """
    by_dataset = _rates(fired)
    out = []
    for detector in DETECTORS:
        part = by_dataset[by_dataset["detector"] == detector]
        base = part[part["condition"] == BASE].set_index("dataset")
        for dataset in ("all", *base.index):
            rows = base if dataset == "all" else base.loc[[dataset]]
            rate, n = float(rows["rate"].mean()), int(rows["n_repeats"].sum())
            low, high = _wilson(rate, n)
            row = {
                "detector": detector,
                "dataset": dataset,
                "rate": rate,
                "low": low,
                "high": high,
                "n_splits": n,
                "allowed": allowed_rate(alpha, n),
            }
            row["keeps_level"] = bool(rate <= row["allowed"]) if n else None
            for condition in ("MCAR25", "MCAR50"):
                rows = part[
                    (part["condition"] == condition) & part["dataset"].isin(base.index if dataset == "all" else [dataset])
                ]
                row[condition.lower()] = float(rows["rate"].mean())
            out.append(row)
    return pd.DataFrame(out)


def allowed_rate(alpha, n):
    """Highest rate in n independent trials that is not above alpha by more than two standard errors of a rate of alpha; NaN for none."""
    return alpha + 2 * float(np.sqrt(alpha * (1 - alpha) / n)) if n else np.nan


def power_table(fired, alpha):
    """Rejection rate of every detector under every condition, and which is best.

    Parameters
    ----------
    fired : pandas.DataFrame
        As `rejections` makes it.
    alpha : float
        Level.

    Returns
    -------
    table : pandas.DataFrame
        One row per ``cells``, condition and detector. ``all``: every version of every repeat, for detectors that were run on 95 % of them or more; ``common``, if some were not: those versions on which every detector was run that was
        run at all. ``rate`` (mean over versions, repeats, data sets), ``se_datasets`` (NaN for one), ``se_repeats``, ``n_datasets``, ``n_splits``, ``type_one`` (Base rate on all versions it was run on), ``keeps_level``, ``best``: of those that
        keep their level the highest rate, or one that rounds to the same hundredth; none where nothing moves, or none is above what chance allows.
    """
    level = type_one_table(fired, alpha).query("dataset == 'all'").set_index("detector")
    run = [name for name in DETECTORS if fired[name].notna().any()]
    complete = [name for name in run if fired[name].notna().mean() >= COMPLETE]
    blocks = [("all", fired[complete])]
    if len(complete) < len(run):
        blocks.append(("common", fired[run].dropna()))
    out = []
    for cells, part in blocks:
        by_dataset = _rates(part)
        for condition in CONDITIONS:
            rows = [
                {"cells": cells, "condition": condition, "detector": name}
                | _over_data_sets(by_dataset[(by_dataset["condition"] == condition) & (by_dataset["detector"] == name)])
                | {"type_one": level.loc[name, "rate"], "keeps_level": level.loc[name, "keeps_level"]}
                for name in part.columns
            ]
            best = max(
                (
                    round(row["rate"], 2)
                    for row in rows
                    if row["keeps_level"] and row["n_splits"] and row["rate"] > allowed_rate(alpha, row["n_splits"])
                ),
                default=None,
            )
            named = condition_kind(condition) not in NO_SHIFT and best is not None
            out += [row | {"best": bool(named and row["keeps_level"] and round(row["rate"], 2) == best)} for row in rows]
    return pd.DataFrame(out)


def p_values_table(learners, alpha):
    """p-values of the tests of a monitored classifier (Figures 6 to 11).

    Parameters
    ----------
    learners : pandas.DataFrame
        Rows of kind ``learners``.
    alpha : float
        Level.

    Returns
    -------
    table : pandas.DataFrame
        One row per data set, learner, condition and test: ``mean_p``, ``median_p``, ``rejection_rate`` and ``n`` p-values.
    """
    long = learners.melt(["dataset", "learner", "condition"], list(TESTS.values()), "test", "p").dropna(subset=["p"])
    long = long.assign(
        test=long["test"].map({column: name for name, column in TESTS.items()}), below=(long["p"] < alpha).astype(float)
    )
    groups = long.groupby(["dataset", "learner", "condition", "test"], sort=False, observed=True)
    out = groups.agg(mean_p=("p", "mean"), median_p=("p", "median"), rejection_rate=("below", "mean"), n=("p", "size"))
    return _in_order(out.reset_index(), learners)


def prior_table(shift):
    """Share of features that fail KS as the share of positive rows changes, also within the classes (Figures 13 and 14).

    Parameters
    ----------
    shift : pandas.DataFrame
        Rows of kind ``shift``.

    Returns
    -------
    table : pandas.DataFrame
        One row per data set, condition (Base and priors) and ``part`` (``paper``, ``valid``: all rows with the two p-values; ``positive``, ``negative``): ``share_positive``, ``value``, ``standard_error`` (over repeats), ``n_repeats``.
    """
    rows = shift[shift["condition"].map(condition_kind).isin(["Base", "P"])]
    parts = {
        "paper": ("fails_paper", "n_tested"),
        "valid": ("fails", "n_tested"),
        "positive": ("fails_positive", "tested_positive"),
        "negative": ("fails_negative", "tested_negative"),
    }
    shares = rows.groupby(["dataset", "condition"], sort=False, observed=True)["share_positive"].mean()
    out = []
    for part, (fails, tested) in parts.items():
        sums = rows.groupby(CELL, sort=False, observed=True)[[fails, tested]].sum().reset_index()
        found = over_repeats(sums.assign(value=sums[fails] / sums[tested].where(sums[tested] > 0)), "value")
        out.append(found[["value", "standard_error", "n_repeats"]].assign(part=part, share_positive=shares).reset_index())
    table = pd.concat(out, ignore_index=True)
    return _in_order(table[["dataset", "condition", "part", "share_positive", "value", "standard_error", "n_repeats"]], shift)


def hellinger_table(shift):
    """Hellinger distance, its change against Base, and its excess over chance (Figures 15 to 17).

    Parameters
    ----------
    shift : pandas.DataFrame
        Rows of kind ``shift``.

    Returns
    -------
    table : pandas.DataFrame
        One row per data set and condition: ``distance``, ``expected``, ``change`` (per cent, against Base of the same repeat), ``excess`` and the standard errors ``se_change`` and ``se_excess`` over repeats.
    """
    means = shift.groupby(CELL, sort=False, observed=True)[["hellinger", "hellinger_expected"]].mean().reset_index()
    base = means[means["condition"] == BASE].set_index(["dataset", "repeat"])["hellinger"].rename("base")
    means = means.join(base, on=["dataset", "repeat"])
    means["change"] = 100 * (means["hellinger"] / means["base"].where(means["base"] > 0) - 1)
    means["excess"] = means["hellinger"] - means["hellinger_expected"]
    out = {}
    for name, column in (
        ("distance", "hellinger"),
        ("expected", "hellinger_expected"),
        ("change", "change"),
        ("excess", "excess"),
    ):
        found = over_repeats(means, column)
        out[name] = found["value"]
        if name in ("change", "excess"):
            out[f"se_{name}"] = found["standard_error"]
    return _in_order(pd.DataFrame(out).rename_axis(["dataset", "condition"]).reset_index(), shift)


def order_notes(table):
    """Where the Hellinger distance orders the biases as the paper says, MCAR below MNAR below MAR; a sentence per severity."""
    notes = []
    wide = {name: table.pivot(index="dataset", columns="condition", values=name) for name in ("distance", "excess")}
    for severity in (25, 50):
        names = [f"{kind}{severity}" for kind in ("MCAR", "MNAR", "MAR")]
        for column, words in (("distance", "Distance"), ("excess", "Excess")):
            found = wide[column].reindex(columns=names).dropna()
            holds = (found[names[0]] < found[names[1]]) & (found[names[1]] < found[names[2]])
            others = [paper_name(name) for name in found.index[~holds]]
            exceptions = f" (not {', '.join(others)})" if others else ""
            notes.append(
                f"{words}: {names[0]} < {names[1]} < {names[2]} on {int(holds.sum())} of {len(found)} data sets{exceptions}."
            )
    return notes


def datasets_grid(table):
    """`datasets_table` as it is printed."""
    parts = ("training", "validation", "testing", "features")
    body = []
    for _, row in table.iterrows():
        both = [Cell(f"{count(row[part])} / {count(row[f'printed_{part}'])}") for part in parts]
        body.append([row["dataset"], row["ours"], *both, Cell(percent(row["share_positive"])), row["note"]])
    header = ["Data set", "in this run", *[f"{part}, ours / printed" for part in parts], "positive %", "note"]
    return Grid(TABLE1_CAPTION, header, body)


def ks_grid(table, identity):
    """`ks_table` as it is printed; `identity`: as `self_failures` makes it."""
    notes = [WORDS]
    if len(identity):
        holds = int(identity["holds"].sum())
        notes.append(
            f"MAR and MNAR keep the same rows, so that the failures under MAR less those under MNAR are the features that fail on themselves: so in {holds} of {len(identity)} cases (data set, repeat, severity, p-value)."
        )
    return _compared_grid(table, TABLE2_CAPTION, {name: FORMULAS[name] for name in SHOWN}, notes)


def readings_grid(table):
    """`readings_table` as it is printed: a column per reading, the nearest one bold."""
    readings = list(dict.fromkeys(zip(table["removed"], table["sides"])))
    body = []
    for dataset, part in table.groupby("dataset", sort=False):
        by_reading = {(row.removed, row.sides): row for row in part.itertuples()}
        nearest = part["distance"].min()
        cells = [
            Cell(f"{row.distance:.3f} ({row.n_agree} of {row.n_cells})", bold=bool(row.distance == nearest))
            if row.n_cells
            else EMPTY
            for row in (by_reading[reading] for reading in readings)
        ]
        body.append(["all data sets" if dataset == "all" else dataset, *cells])
    sides = {1: "one-sided", 2: "two-sided"}
    notes = (
        []
        if table["n_cells"].any()
        else ["No data set of the run is one of the paper's, so that there is nothing to compare with print."]
    )
    return Grid(READINGS_CAPTION, ["", *[f"{removed} removed, {sides[n]}" for removed, n in readings]], body, notes)


def phi_grid(table):
    """`phi_table` as it is printed."""
    pairs = table[(table["formula"] == "corrected") & (table["undefined"] > 0)]
    notes = [WORDS]
    if len(pairs):
        notes.append(f"Pairs without a corrected phi occur in {len(pairs)} of the cells; their number stands in the CSV file.")
    labels = {"paper": "paper's formula", "corrected": "corrected", "jaccard": "Jaccard"}
    return _compared_grid(table, TABLE3_CAPTION, labels, notes, printed=_printed_phi)


def translation_grid(table):
    """`translation_table` as it is printed."""
    known = table.dropna(subset=["limit"])
    above = int((~known["within_limit"].astype(bool)).sum())
    notes = [
        f"Above its limit in a repeat: {above} of {len(known)} cells." if len(known) else "No data set of the run has these rows."
    ]
    labels = {"paper": FORMULAS["paper"], "valid": FORMULAS["valid"]}
    grid = _compared_grid(table, TABLE4_CAPTION, labels, notes)
    limits = {}
    for (dataset, ours), part in table[table["formula"] == "paper"].groupby(["dataset", "ours"], sort=False):
        limits[_heading(dataset, ours, part["note"].iloc[0])] = [Cell(number(value, ".3f")) for value in part["limit"]]
    rows, heading = [], ""
    for row in grid.rows:
        rows.append(row)
        heading = row[0] if len(row) == 1 else heading
        if row[0] == labels["paper"]:
            rows.append(["limit of it", *limits[heading]])
    grid.rows = rows
    return grid


def examples_grid(table):
    """`examples_table` as it is printed."""
    body = []
    for example, part in table.groupby("example", sort=False):
        body.append([example])
        for row in part.itertuples():
            cells = [Cell(number(value, ".6g")) for value in (row.printed, row.paper, row.corrected)]
            body.append([row.quantity, *cells, row.note])
    return Grid(TABLE5_CAPTION, ["", "printed", "paper's formula", "corrected", "note"], body)


def skew_grid(table):
    """`skew_table` as it is printed."""
    same = table["same_sign"].dropna()
    notes = [f"The sign of print in {int(same.sum())} of {len(same)} cells."] if len(same) else []
    other = (table["same_sign"] == False) & (table["value"].abs() > 2 * table["standard_error"])  # noqa: E712
    return _compared_grid(table, TABLE6_CAPTION, {"skew": "ours"}, notes, form="+.3f", bold=other)


def sensitivity_grid(table):
    """`sensitivity_table` as it is printed, one block for all data sets together and one for each."""
    kinds = [kind for kind in KIND_NAMES if kind in table]
    body = []
    for dataset, part in table.groupby("dataset", sort=False):
        body.append(["mean over data sets" if dataset == "all" else f"{paper_name(dataset)} ({dataset})"])
        for _, row in part.sort_values("rank", kind="stable").iterrows():
            body.append(
                [
                    row["learner"],
                    Cell(number(row["rank"], ".3g"), bold=bool(row["rank"] == part["rank"].min())),
                    Cell(with_error(100 * row["index"], 100 * row["se_index"], ".2f")),
                    *[Cell(percent(row[kind], 2)) for kind in kinds],
                    Cell(percent(row["base_accuracy"])),
                    Cell(f"{100 * row['worst']:+.1f} {row['worst_condition']}" if row["worst"] == row["worst"] else EMPTY),
                    Cell(number(row["noticed"], ".2f")),
                    Cell(number(row["auc_rank"], ".3g")),
                    Cell(with_error(100 * row["auc_index"], 100 * row["se_auc_index"], ".2f")),
                ]
            )
    header = [
        "Learner",
        "rank",
        "index",
        *[KIND_NAMES[kind] for kind in kinds],
        "accuracy, Base",
        "worst change",
        "noticed",
        "AUC rank",
        "AUC index",
    ]
    p, n = sensitivity_test(table)
    notes = (
        [f"Friedman's test of the ranks over {n} data sets: p = {p:.3g}."]
        if p == p
        else ["Too few data sets for a test of the ranks."]
    )
    return Grid(SENSITIVITY_CAPTION, header, body, notes)


def power_grid(table, alpha):
    """`power_table` as it is printed: a row per condition, a column per detector; shaded by rate."""
    detectors = [name for name in DETECTORS if name in set(table["detector"])]
    names = {"all": "all versions and repeats", "common": "the versions and repeats that every detector was run on"}
    body = []
    for cells, block in table.groupby("cells", sort=False):
        body.append([names[cells]])
        for condition, part in block.groupby("condition", sort=False):
            if not part["n_splits"].any():
                body.append([condition, *[Cell(EMPTY) for _ in detectors], EMPTY])
                continue
            by_name = part.set_index("detector")
            row = [condition]
            for name in detectors:
                if name not in by_name.index or by_name.loc[name, "rate"] != by_name.loc[name, "rate"]:
                    row.append(Cell(EMPTY))
                    continue
                one = by_name.loc[name]
                error = one["se_datasets"] if one["se_datasets"] == one["se_datasets"] else one["se_repeats"]
                text = with_error(one["rate"], error, ".2f")
                row.append(Cell(text, shade=float(one["rate"]), bold=bool(one["best"])))
            body.append([*row, _best_words(condition, part)])
    header = ["Condition", *[DETECTORS[name][0] for name in detectors], "best that keeps its level"]
    level = table.drop_duplicates("detector").set_index("detector")
    broken = [
        f"{DETECTORS[name][0]} ({level.loc[name, 'type_one']:.2f})" for name in detectors if not level.loc[name, "keeps_level"]
    ]
    notes = [
        f"Do not keep their level of {100 * alpha:g} %, with the rate at Base: {'; '.join(broken) if broken else 'none'}.",
        f"{' and '.join(DETECTORS[name][0] for name in SUPERVISED)} need the classes of the test rows; detectors over learners: mean over learners. {WORDS}",
    ]
    return Grid(POWER_CAPTION, header, body, notes)


def type_one_grid(table, alpha):
    """`type_one_table` as it is printed."""
    body = []
    for detector, part in table.groupby("detector", sort=False):
        body.append([DETECTORS[detector][0] + ("" if part["n_splits"].any() else ": not run")])
        for row in part[part["n_splits"] > 0].itertuples():
            rates = [Cell(number(value, ".3f")) for value in (row.mcar25, row.mcar50)]
            body.append(
                [
                    "mean over data sets" if row.dataset == "all" else paper_name(row.dataset),
                    Cell(f"{row.rate:.3f}", bold=not row.keeps_level),
                    Cell(f"{row.low:.3f} to {row.high:.3f}"),
                    Cell(str(row.n_splits)),
                    Cell(f"{row.allowed:.3f}"),
                    *rates,
                ]
            )
    note = f"Bold: above {100 * alpha:g} % by more than two standard errors (allowed). Over learners: the mean of their decisions counts once per split."
    return Grid(TYPE_ONE_CAPTION, ["", "rate at Base", "95 % interval", "splits", "allowed", "MCAR25", "MCAR50"], body, [note])


def _compared_grid(table, caption, labels, notes, form=".3f", bold=None, printed=None):
    """A table of `compared`: a heading per data set, print and every formula in rows, conditions in columns."""
    conditions = list(dict.fromkeys(table["condition"]))
    first = next(iter(labels))
    if bold is None:
        bold = (table["formula"] == first) & (table["difference"].abs() > TOLERANCE + 1e-9)
    printed = printed or (lambda row: number(row["printed"], form))
    table = table.assign(bold=bold)
    body = []
    for (dataset, ours), part in table.groupby(["dataset", "ours"], sort=False):
        body.append([_heading(dataset, ours, part["note"].iloc[0])])
        if part["printed"].notna().any():
            body.append(["printed", *[Cell(printed(row)) for _, row in part[part["formula"] == first].iterrows()]])
        if not ours:
            continue
        for formula, label in labels.items():
            rows = part[part["formula"] == formula]
            body.append(
                [
                    label,
                    *[
                        Cell(with_error(row["value"], row["standard_error"], form), bold=bool(row["bold"]))
                        for _, row in rows.iterrows()
                    ],
                ]
            )
    return Grid(caption, ["", *conditions], body, list(notes))


def _heading(dataset, ours, note):
    return f"{dataset}: {note}" if note else f"{dataset} ({ours})" if ours != dataset else dataset


def _printed_phi(row):
    return with_error(row["printed"], row["printed_spread"], ".3f")


def _best_words(condition, part):
    if condition_kind(condition) in NO_SHIFT:
        return "nothing has moved"
    best = [DETECTORS[name][0] for name in part[part["best"]]["detector"]]
    return "; ".join(best) if best else "none above chance"


def _detectors(kind):
    return [(name, words) for name, words in DETECTORS.items() if words[1] == kind]


def _rates(fired):
    """Rate, standard error over repeats and number of repeats, by data set, condition and detector: the mean over versions of a repeat is one value."""
    by_repeat = fired.groupby(level=CELL, sort=False, observed=True).mean()
    by_repeat = by_repeat.rename_axis(columns="detector").stack().rename("rate").dropna().reset_index()
    groups = by_repeat.groupby(["dataset", "condition", "detector"], sort=False, observed=True)["rate"]
    out = groups.agg(rate="mean", se="std", n_repeats="size").reset_index()
    return out.assign(se=out["se"] / np.sqrt(out["n_repeats"]))


def _over_data_sets(rows):
    """Mean rate over data sets with both standard errors: between data sets, and of the mean for these data sets."""
    n = len(rows)
    if n == 0:
        return {"rate": np.nan, "se_datasets": np.nan, "se_repeats": np.nan, "n_datasets": 0, "n_splits": 0}
    return {
        "rate": float(rows["rate"].mean()),
        "se_datasets": float(rows["rate"].std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan,
        "se_repeats": float(np.sqrt((rows["se"] ** 2).sum(skipna=False)) / n),
        "n_datasets": n,
        "n_splits": int(rows["n_repeats"].sum()),
    }


def _over_datasets(table, learners):
    """Rows ``all`` of `sensitivity_table`."""
    complete = table[table["rank"].notna()]
    out = []
    for learner in learners:
        part = complete[complete["learner"] == learner]
        row = part.drop(columns=["learner", "dataset", "worst_condition"]).mean().to_dict()
        row |= {f"se_{name}": _mean_and_error(part[name])[1] for name in ("index", "auc_index")}
        lowest = part["worst"].idxmin() if part["worst"].notna().any() else None
        row |= {"worst": np.nan, "worst_condition": ""}
        if lowest is not None:
            row |= {"worst": part.loc[lowest, "worst"], "worst_condition": part.loc[lowest, "worst_condition"]}
        out.append({"learner": learner, "dataset": "all"} | row)
    return pd.DataFrame(out, columns=table.columns)


def _in_order(table, rows):
    """Rows by data set as the paper lists them, and by condition."""
    order = {ours: i for i, (_, ours, _) in enumerate(listed_datasets(rows["dataset"]))}
    conditions = {name: i for i, name in enumerate(CONDITIONS)}
    place = pd.DataFrame({"d": table["dataset"].map(order), "c": table["condition"].map(conditions)}, index=table.index)
    keys = ["d", "learner", "test", "c"] if "learner" in table else ["d", "part", "c"] if "part" in table else ["d", "c"]
    for name in keys:
        if name in table:
            place[name] = table[name].map({value: i for i, value in enumerate(dict.fromkeys(table[name]))})
    return table.loc[place.sort_values(keys, kind="stable").index].reset_index(drop=True)


def _wilson(rate, n, level=0.95):
    if not n:
        return np.nan, np.nan
    z = norm.isf((1 - level) / 2)
    centre, half = rate + z**2 / (2 * n), z * np.sqrt(rate * (1 - rate) / n + z**2 / (4 * n**2))
    return max(float((centre - half) / (1 + z**2 / n)), 0.0), min(float((centre + half) / (1 + z**2 / n)), 1.0)


def _where(series, at):
    """Values whose index levels have the values of `at`."""
    for name, value in at.items():
        series = series[series.index.get_level_values(name) == value]
    return series


def _has(frame, condition):
    return condition in frame.index.get_level_values("condition")


def _at(frame, key, column):
    return float(frame.loc[key, column]) if column and key in frame.index else np.nan


def _letters(name):
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _mean_and_error(values):
    values = values.dropna()
    if len(values) == 0:
        return np.nan, np.nan
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan
