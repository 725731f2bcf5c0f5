"""Tables 1 and 2 and Proposition 1: the printed formulas of the bias beside the measured bias of the estimators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from foldshift.inference.repetitions.variance_bias import (
    LossMoments,
    loss_moments,
    pooled,
    random_block_coefficients,
    single_source_bias,
    source_bias,
)
from foldshift.reporting.number_formats import number, with_error
from foldshift.reporting.table_grid import Grid, TableCell
from foldshift.studies.geras_2013.source_rows import CELL, SAMPLING, blocks, cells, ratio_or_nan, share_and_error
from foldshift.studies.geras_2013.variance_estimators import judged

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray, StrArray

SINGLE = (*CELL, "estimator", "k", "l", "bias", "se_bias")
COLUMNS = (*CELL, "estimator", "k", "l", "theta", "by_formula", "bias", "se_bias", "difference", "holds")
SIGNS = ("too small", "too large", "not shown")
EXACT = 1e-9  # largest difference by rounding, over the largest mu squared


class Printed(NamedTuple):
    """A line of Table 1 or 2: when the estimator is unbiased, the estimator, and its bias; sums run over all blocks."""

    unbiased_if: str
    estimator: str
    bias: str


TABLE1 = {
    "theta_om_k": Printed("ω_k = 0, of one source k", "(s1 + (M-1) s2)/KM + (K-1)/K s3 - s_k", "-ω_k + Σμ_kμ_l/K² - μ_k²"),
    "theta_gam_kl": Printed(
        "γ_kl = 0, of one pair k, l", "(s1 + (M-1) s2)/KM + (K-1)/K s3 - s_kl", "-γ_kl + Σμ_kμ_l/K² - μ_kμ_l"
    ),
    "theta_om": Printed("all ω_k = 0", "(s1 + (M-1-KM) s2)/KM + (K-1)/K s3", "-Σω_k/K + (1-K)/K² (Σμ_k² - Σ(k≠l) μ_kμ_l/(K-1))"),
    "theta_gamma": Printed("all γ_kl = 0", "(s1 + (M-1) s2)/KM - s3/K", "-Σγ_kl/K(K-1) + 1/K² (Σμ_k² - Σ(k≠l) μ_kμ_l/(K-1))"),
    "theta_A": Printed("(equation 11)", "(s1 - s2)/KM", "-(Σω_k + Σγ_kl)/K²"),
    "theta_B": Printed("(equation 12)", "2 (s1 - s2)/KM", "(Σσ_k² - (M+1) Σω_k - M Σγ_kl)/K²M"),
}
TABLE2 = {
    "theta_1": Printed("μ = 0", "(s1 + (M-1) s2 + (N-M) s3)/N", "μ²"),
    "theta_2": Printed("ω = 0", "(s1 - (N+1-M) s2 + (N-M) s3)/N", "-ω"),
    "theta_3": Printed("γ = 0", "(s1 + (M-1) s2 - M s3)/N", "-γ"),
    "theta_4": Printed("γ = -M/(N-M) ω", "(s1 - s2)/N", "-M/N ω - (N-M)/N γ"),
    "theta_5": Printed("(section 5)", "(s1 + (N+M-1) s2 - (N+M) s3)/N", "ω - 2γ"),
}
# Factors of sigma^2, omega and gamma in a chosen bias; that of mu^2 follows, 1 + their sum.
CHOSEN = {
    "-γ (theta_3)": (0.0, 0.0, -1.0),
    "ω - 2γ (theta_5)": (0.0, 1.0, -2.0),
    "(ω - 3γ)/2": (0.0, 0.5, -1.5),
    "2ω - 3γ": (0.0, 2.0, -3.0),
    "-(ω + γ)/2": (0.0, -0.5, -0.5),
    "-σ²": (-1.0, 0.0, 0.0),
    "(μ² - γ)/2": (0.0, 0.0, -0.5),
}


def moments_of(components: pd.DataFrame, n_points: int, n_datasets: int) -> LossMoments:
    """Collect the measured moments of one cell from its rows."""
    values = {kind: part.sort_values(["k", "l"])["value"].to_numpy() for kind, part in components.groupby("kind")}
    K = len(values["mu"])
    gamma = np.zeros((K, K))
    gamma[np.triu_indices(K, 1)] = values["gamma"]
    return loss_moments(values["sigma"], values["omega"], gamma + gamma.T, values["mu"], n_points=n_points, n_datasets=n_datasets)


def table1_bias(estimates: pd.DataFrame, components: pd.DataFrame, single: pd.DataFrame) -> pd.DataFrame:
    """Bias of the estimators for sources (Table 1, equations 11 and 12), by formula and measured; one row per source or pair."""
    rows: list[dict[str, Any]] = []
    singles = dict(iter(single.groupby(CELL)))
    for keys, part, moments in _with_moments(estimates, components, "cvs"):
        of_source, of_pair = single_source_bias(moments)
        by_formula = {"theta_om_k": np.diag(of_source), "theta_gam_kl": of_pair}
        theta = float(part["mean"].var(ddof=1))
        for name, k, other, bias, error in singles[tuple(keys.values())][list(SINGLE[len(CELL) :])].itertuples(index=False):
            place = {"estimator": name, "k": k, "l": other, "theta": theta}
            rows.append(keys | place | _compared(float(by_formula[name][k, other]), bias, error, moments))
        for name, value in source_bias(moments).items():
            found = judged(part["mean"].to_numpy(), part[name].to_numpy(), None)
            place = {"estimator": name, "k": -1, "l": -1, "theta": theta}
            rows.append(keys | place | _compared(value, found["bias"], found["se_bias"], moments))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def table2_bias(estimates: pd.DataFrame, components: pd.DataFrame) -> pd.DataFrame:
    """Bias of the estimators for random blocks (Table 2, section 5), by formula and measured."""
    rows: list[dict[str, Any]] = []
    for keys, part, moments in _with_moments(estimates, components, "cvr"):
        K, M = len(moments.sigma), moments.n_points
        for name, coefficients in random_block_coefficients(K, M).items():
            found = judged(part["mean"].to_numpy(), part[name].to_numpy(), None)
            by_formula = float(np.dot(coefficients, pooled(moments)))
            compared = _compared(by_formula, found["bias"], found["se_bias"], moments)
            rows.append(keys | {"estimator": name, "k": -1, "l": -1, "theta": found["theta"]} | compared)
    return pd.DataFrame(rows, columns=list(COLUMNS)).drop(columns=["k", "l"])


def proposition1(estimates: pd.DataFrame, components: pd.DataFrame) -> pd.DataFrame:
    """Estimators made to have a chosen bias: the weights that Proposition 1 gives, the bias promised and measured, the spread."""
    rows: list[dict[str, Any]] = []
    for keys, part, moments in _with_moments(estimates, components, "cvr"):
        K, M = len(moments.sigma), moments.n_points
        means = part["mean"].to_numpy()
        s2 = means**2 - part["theta_2"].to_numpy()
        s1, s3 = s2 + K * M * part["theta_4"].to_numpy(), means**2 - part["theta_3"].to_numpy()
        for name, (a1, a2, a3) in CHOSEN.items():
            weights = a1 + 1 / (K * M), a2 + (M - 1) / (K * M), a3 + (K - 1) / K
            values = weights[0] * s1 + weights[1] * s2 + weights[2] * s3
            found = judged(means, values, None)
            a4 = 1 + a1 + a2 + a3
            chosen = {"chosen": name, "a1": a1, "a2": a2, "a3": a3, "a4": a4}
            row = keys | chosen | dict(zip(("weight_s1", "weight_s2", "weight_s3"), weights)) | {"theta": found["theta"]}
            promised = float(np.dot((a1, a2, a3, a4), pooled(moments)))
            row |= _compared(promised, found["bias"], found["se_bias"], moments)
            row |= {"sd": float(values.std(ddof=1)), "negative": share_and_error(values < 0)[0]}
            rows.append(row)
    return pd.DataFrame(rows)


def _with_moments(estimates: pd.DataFrame, components: pd.DataFrame, design: str) -> list[Any]:
    """List keys, estimates and moments of every cell of one design."""
    parts = dict(iter(components.groupby(CELL)))
    out = []
    for keys, part in cells(estimates[estimates["design"] == design], CELL):
        out.append((keys, part, moments_of(parts[tuple(keys.values())], keys["n_points"], len(part))))
    return out


def _compared(by_formula: float, bias: float, error: float, moments: LossMoments) -> dict[str, Any]:
    """Put the bias by formula beside the measured one; of the same data sets, a right formula differs by rounding alone."""
    holds = bool(abs(bias - by_formula) <= EXACT * np.abs(moments.mu_mu).max())
    return {"by_formula": by_formula, "bias": bias, "se_bias": error, "difference": bias - by_formula, "holds": holds}


def bias_grid(table: pd.DataFrame, printed: dict[str, Printed], note: str) -> Grid:
    """Print a table of biases in the shape of the paper's Tables 1 and 2, with ours over the true variance to the right."""
    header = ["Unbiased if", "Estimator", "Bias, as printed", "M", "By formula", "Measured", "The estimate is"]
    body: list[list[TableCell | str]] = []
    for (learner, sampling), part in blocks(table, ["learner", "sampling"]):
        body.append([f"{learner}, {SAMPLING[sampling]}; bias over the true variance"])
        for name, words in printed.items():
            for place, (n_points, rows) in enumerate(part[part["estimator"] == name].groupby("n_points")):
                head = (words.unbiased_if, f"{name} = {words.estimator}", words.bias) if place == 0 else ("", "", "")
                body.append([*head, str(n_points), *_bias_cells(rows)])
    return Grid(header, body, [note, _verdict_note(table)])


def _bias_cells(rows: pd.DataFrame) -> list[TableCell | str]:
    """Print the bias by formula and as measured over the variance, and its sign; of several, the range and the counts."""
    signs = bias_signs(rows)
    by_formula, bias, error = (_over(rows, name) for name in ("by_formula", "bias", "se_bias"))
    if len(rows) > 1:
        ranges = [TableCell(f"{values.min():+.1f} to {values.max():+.1f}") for values in (by_formula, bias)]
        return [*ranges, ", ".join(f"{int((signs == sign).sum())} {sign}" for sign in SIGNS)]
    return [TableCell(number(by_formula[0], "+.2f")), TableCell(with_error(bias[0], error[0], "+.2f", ".2f")), str(signs[0])]


def bias_signs(rows: pd.DataFrame) -> StrArray:
    """Say whether estimates are too small or too large, by two errors of the measured bias, or not shown to be."""
    bias, error = rows["bias"].to_numpy(), rows["se_bias"].to_numpy()
    return np.select([bias < -2 * error, bias > 2 * error], SIGNS[:2], SIGNS[2])


def _over(rows: pd.DataFrame, name: str) -> FloatArray:
    """Divide a column by the true variance."""
    return np.array([ratio_or_nan(value, theta) for value, theta in rows[[name, "theta"]].itertuples(index=False)])


def proposition1_grid(table: pd.DataFrame) -> Grid:
    """Print `proposition1`: a row per chosen bias and M."""
    header = ["Chosen bias", "Weights of s1, s2, s3", "M", "Promised", "Measured", "sd", "Negative", "The estimate is"]
    body: list[list[TableCell | str]] = []
    for (learner, sampling), part in blocks(table, ["learner", "sampling"]):
        body.append([f"{learner}, {SAMPLING[sampling]}; over the true variance"])
        for (name,), of_name in blocks(part, ["chosen"]):
            for place, (_, row) in enumerate(of_name.iterrows()):
                weights = ", ".join(f"{row[f'weight_{one}']:+.4f}" for one in ("s1", "s2", "s3"))
                *biases, sign = _bias_cells(of_name.iloc[[place]])
                spread, negative = number(ratio_or_nan(row["sd"], row["theta"]), ".2f"), number(row["negative"], ".3f")
                head: list[TableCell | str] = [name if place == 0 else "", weights, str(row["n_points"])]
                body.append([*head, *biases, TableCell(spread), TableCell(negative), sign])
    return Grid(header, body, [_verdict_note(table)])


def _verdict_note(table: pd.DataFrame) -> str:
    """Count the comparisons in which the formula holds."""
    holds = f"The formula gives the measured bias in {int(table['holds'].sum())} of {len(table)} comparisons."
    return (
        f"{holds} Both use the same data sets, so only rounding may differ. Signs are judged by two errors of the measured bias."
    )
