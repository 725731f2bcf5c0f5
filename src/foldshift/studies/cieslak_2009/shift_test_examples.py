"""Worked examples of the tests of shift: as printed, by the printed formula, and corrected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from foldshift.reporting.number_formats import number
from foldshift.reporting.table_grid import Grid, TableCell
from foldshift.shift.detectors.co_failure import phi
from foldshift.shift.detectors.monitoring_tests import chi_square
from foldshift.shift.inject.injectors import row_counts
from foldshift.shift.measures.hellinger import hellinger
from foldshift.shift.measures.ks import ks_features, ks_p_value

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

KS_A = (0.34, 0.94, 0.24, 1.26, 6.98, 0.95, 0.15, -2.08, 0.17, 1.55, 3.20, 0.50, 0.70, 4.55, 0.10, 0.49, 0.38, 0.42, 1.37, 1.75)
KS_B = (
    0.15, -0.62, -0.17, -0.31, -0.50, 0.38, 2.30, 0.37, -1.79, -0.87, 1.72, -0.09, -1.54, 0.30, -2.39, -0.74, 0.22, 1.28, 0.19,
    -1.10,
)  # fmt: skip
TABLE5 = {"Pop1": (7, 0, 0), "Pop2": (0, 10, 2)}


def examples_table() -> pd.DataFrame:
    """Compute Table 5, the samples of Figure 12, the corner cases of phi, and the example of shifted priors; NaN for no value."""
    counts = np.array(list(TABLE5.values()))
    chi2 = chi_square(counts)
    values = [np.repeat(np.arange(counts.shape[1]), row) for row in counts]
    rows = [
        ("Table 5", "chi-square", np.nan, printed_chi_square(counts), chi2.statistic,
         "equation 5 lacks the square and has another expectation"),
        ("Table 5", "degrees of freedom", np.nan, 2, chi2.df, ""),
        ("Table 5", "p", np.nan, np.nan, chi2.p_value, "a negative chi-square has none"),
        ("Table 5", "Hellinger distance", np.sqrt(2), *[hellinger(*values, categorical=True)] * 2,
         "printed as the root of 2, the largest there is"),
    ]  # fmt: skip
    n1, n2 = len(KS_A), len(KS_B)
    D = float(ks_features(np.array(KS_A)[:, None], np.array(KS_B)[:, None]).statistic[0])
    paper, asymptotic, exact = (ks_p_value(D, n1, n2, method) for method in ("paper", "asymptotic", "exact"))
    rows += [
        ("A and B (Figure 12)", "D", 0.5, D, D, ""),
        ("A and B (Figure 12)", "chi-square of equation 7", np.nan, 4 * D**2 * n1 * n2 / (n1 + n2), np.nan,
         "one-sided limit, 2 degrees of freedom"),
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
    n_negative = row_counts("prior", 3000, 0.5, 1000).n_negative or 0
    removed = 2000 - n_negative
    rows.append(("2000 negative, 1000 positive", "negative rows removed for P(+) = .5", 1000, removed, removed, ""))
    return pd.DataFrame(rows, columns=["example", "quantity", "printed", "paper", "corrected", "note"])


def printed_chi_square(counts: ArrayLike) -> float:
    """Compute equation 5 as printed, for `counts` of shape (n_populations, n_values); it is negative where it should be large."""
    counts = np.asarray(counts, dtype=np.float64)
    n = counts.sum()
    expected = (counts * counts.sum(axis=1, keepdims=True)).sum(axis=0) / n
    return float(((counts / n - expected) / expected).sum())


def examples_grid(table: pd.DataFrame) -> Grid:
    """Print `examples_table`."""
    body: list[list[TableCell | str]] = []
    for example, part in table.groupby("example", sort=False):
        body.append([example])
        for row in part.itertuples():
            cells = [TableCell(number(value, ".6g")) for value in (row.printed, row.paper, row.corrected)]
            body.append([row.quantity, *cells, row.note])
    return Grid(["", "printed", "paper's formula", "corrected", "note"], body)
