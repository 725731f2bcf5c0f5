"""Claims of Wong (2015) against simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from foldshift.inference.simulation.wong_claims import CLAIMS, dropping_bias, normal_coverage
from foldshift.reporting.items import TableResult
from foldshift.reporting.number_formats import number, with_error
from foldshift.reporting.table_grid import Grid, TableCell
from foldshift.studies.wong_2015.accuracy_rows import REPETITIONS, read_rows

if TYPE_CHECKING:
    from foldshift.core.types import Inputs, Rows

COLUMNS = ("model", "claim", "n_folds", "n_points", "quantity", "value", "standard_error", "expected")
LIMIT = 3  # standard errors beyond which a claim is refuted
SENTENCES = {
    "fold_independence": "The accuracies of the k folds are independent, so that their variance is p(1 - p) / n.",
    "scheme_independence": "Learners with different representations are right independently of each other.",
    "partition_independence": (
        "Two partitions of the same data: nobody claims independence, the paper says they depend on each other."
    ),
    "repetition": "Repeating cross-validation with other partitions does not reduce the variance.",
    "dropping_bias": "Folds that fail the large-sample conditions should be left out.",
    "large_sample": "Five right and five wrong predictions are enough for a normal distribution.",
}
# By claim and quantity: the value if the claim held (`level`: the confidence level; NaN: not judged), and words.
QUANTITIES: dict[str, dict[str, tuple[float | Literal["level"], str]]] = {
    "fold_independence": {
        "sigma_share": (1.0, "share of the variance that Wong's formula counts"),
        "gamma_share": (0.0, "share from pairs of rows in different folds"),
        "coverage_within": ("level", "coverage of z with the variance within folds"),
        "coverage_dataset": ("level", "coverage of Wong's interval, data set"),
        "coverage_fold": ("level", "coverage of Wong's interval, folds"),
    },
    "scheme_independence": {
        "phi": (0.0, "phi of all features against one feature"),
        # This claim alone does not make a variance wrong, so that the rest is shown but not judged.
        "independent_ratio": (np.nan, "variance of Theorem 3 over the true one"),
        "matched_ratio": (np.nan, "variance of the matched t over instances over the true one"),
        "coverage_independent": (np.nan, "coverage of the interval of the difference, Theorem 3"),
        "coverage_matched": (np.nan, "coverage of the interval of the difference, matched"),
        "coverage_folds": ("level", "coverage of the interval of the difference, Theorem 2"),
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
# Accuracy and rows of a sample; five or more of each are expected but in the last two.
NORMAL_CASES = ((0.5, 20), (0.5, 30), (0.9, 50), (0.95, 100), (0.9, 40), (0.99, 200))


def claims(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Make the table of claims."""
    table = claims_table(read_rows(inputs.rows, COLUMNS), settings["level"])
    return {"claims": TableResult(table, claims_grid(table))}


def claims_table(rows: pd.DataFrame, level: float) -> pd.DataFrame:
    """Judge the paper's claims by simulation.

    A claim is refuted if a quantity is further from the claimed value than three standard errors; an exact value if it differs.
    """
    sections = {one.function: one.section for one in CLAIMS}
    out: Rows = []
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
                left = p + found.bias
                exact = {
                    ("bias", "bias of the mean accuracy, exact", 0.0): (found.bias, expected),
                    ("counted_variance", "variance as estimated, over that of all folds", np.nan): (
                        left * (1 - left) / (p * (1 - p) * found.fold_kept),
                        np.nan,
                    ),
                }
                out += [heads | setting | _claim_row(*key, value, 0.0, known) for key, (value, known) in exact.items()]
    for p, m in NORMAL_CASES:
        heads = {"claim": "large_sample", "section": "2", "sentence": SENTENCES["large_sample"]}
        setting = {"model": f"binomial, p = {p:g}", "n_folds": 1, "n_points": m}
        normal = {
            ("coverage_normal", "coverage of the normal interval, exact", np.nan): normal_coverage(p, m, level),
            ("fold_kept", "probability of five right and five wrong, exact", np.nan): dropping_bias(p, m, 1).fold_kept,
        }
        out += [heads | setting | _claim_row(*key, value, 0.0, np.nan) for key, value in normal.items()]
    # Rounding errors of means that are exactly 0 depend on the processor.
    return pd.DataFrame(out).round(12)


def claims_grid(table: pd.DataFrame) -> Grid:
    """Print claims and verdicts, a block per claim."""
    rows: list[list[TableCell | str]] = []
    for _, block in table.groupby("claim", sort=False):
        judged = block[block["verdict"] != ""]
        heading = block["sentence"].iloc[0]
        if len(judged):
            refuted = list(dict.fromkeys(judged["model"][judged["verdict"] == "refuted"]))
            verdict = f"Refuted on {'; '.join(refuted)}." if refuted else "Not refuted here."
            heading = f"Section {block['section'].iloc[0]}: {heading} {verdict}"
        rows.append([heading])
        for row in block.itertuples():
            exact = not row.standard_error > 0
            value = number(row.value) if exact else with_error(row.value, row.standard_error)
            cells = [TableCell(f"{row.n_folds} × {row.n_points}"), TableCell(number(row.claimed, "g", empty=""))]
            cells += [
                TableCell(value, bold=row.verdict == "refuted"),
                TableCell(number(row.expected, "g", empty="")),
                TableCell(row.verdict),
            ]
            rows.append([row.meaning, row.model, *cells])
    notes = [
        "Two learners: Theorem 3's variance lies above that of the matched test by the covariance that it leaves out. Neither "
        "counts that training sets overlap: a ratio below 1 to the true one is what that costs.",
        "Folds × rows of a fold, of the models and of the exact cases. A claim that holds on one model is not thereby true: the "
        "overlap of training sets does a stable classifier less harm. Reference: an earlier simulation of the same models by "
        "other code, of fewer data sets; exact values for binomial folds.",
        "An accuracy takes n + 1 values, and so do the ends of the interval over the data set, so that its coverage jumps by a "
        "hundredth as the truth crosses one; the interval with the variance within folds has nearly the same width and does not.",
    ]
    return Grid(["Quantity", "Model", "Folds", "Claimed", "Measured", "Reference", "Verdict"], rows, notes)


def _claim_row(quantity: str, meaning: str, claimed: float, value: float, error: float, expected: float) -> dict[str, Any]:
    """Judge one quantity."""
    verdict = ""
    if not np.isnan(claimed) and not np.isnan(value):
        verdict = "refuted" if abs(value - claimed) > max(LIMIT * np.nan_to_num(error), 1e-12) else "not refuted"
    numbers = {"claimed": claimed, "value": value, "standard_error": error, "expected": expected}
    return {"quantity": quantity, "meaning": meaning} | numbers | {"verdict": verdict}
