"""Worked examples of Wong (2015): as printed, by the printed formula, and corrected; and Table 1, the advice of textbooks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from foldshift.inference.comparisons.accuracy_tests import (
    check_frequencies,
    compare_independent,
    feasible_frequencies,
    loo_matched_frequencies,
)
from foldshift.inference.intervals.accuracy import accuracy_interval, large_sample
from foldshift.inference.simulation.wong_partitions import fold_of_uniform, wong_partition
from foldshift.reporting.items import TableResult
from foldshift.reporting.number_formats import EMPTY
from foldshift.reporting.table_grid import Grid, TableCell
from foldshift.studies.wong_2015.cut_tables import PRINTED_SIZES, cut_sizes, cut_sizes_grid

if TYPE_CHECKING:
    from foldshift.core.types import Inputs, Rows

FOLD_SIZE = 40
FIRST_LISTING = (32, 28, 30, 32, 28)
SECOND_LISTING = (32, 28, 30, 30, 32)
FIVE_FOLDS = len(SECOND_LISTING)
ANY_SEED = 0  # the sizes of schemes 2 and 3 do not depend on the random numbers
SCHEME_1_SIZES = (38, 41, 44, 37, 43)
RIGHT_A, RIGHT_B, N_ROWS = 80, 84, 100  # correct predictions of both schemes by leave-one-out, and rows
PRINTED_FREQUENCIES = (30, 44, 26)
PRINTED_VARIANCE = 0.16


class ExampleRow(NamedTuple):
    """One number of a worked example.

    ``printed`` holds the characters of the paper ("-" where it prints nothing), ``paper`` the value by its formula on the data it
    states (None where it has no formula), ``corrected`` the right value.
    """

    example: str
    item: str
    printed: str
    paper: float | str | None
    corrected: float | str | None
    note: str


class Textbook(NamedTuple):
    """Advice of a textbook on cross-validation; "-" where it gives none."""

    book: str
    folds: str
    fold_size: str
    averaging: str
    repetition: str
    leave_one_out: str


# Table 1.
TEXTBOOKS = (
    Textbook("Alpaydin (2010)", "10 or 30", "np >= 5 and n(1 - p) >= 5", "fold", "suggested", "-"),
    Textbook("Han et al. (2012)", "10", "-", "data set", "suggested", "-"),
    Textbook("Kantardzic (2011)", "-", "-", "fold", "-", "-"),
    Textbook("Mitchell (1997)", "-", "30", "fold", "-", "-"),
    Textbook("Tan et al. (2006)", "large", "-", "data set", "-", "-"),
    Textbook("Witten et al. (2011)", "10", "100", "fold", "suggested", "-"),
)


def examples(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Make the table of worked examples, sizes of folds, and Table 1."""
    worked, textbooks, sizes = examples_table(), textbooks_table(), cut_sizes()
    return {
        "examples": TableResult(worked, examples_grid(worked)),
        "cut_sizes": TableResult(sizes, cut_sizes_grid(sizes)),
        "table1_textbooks": TableResult(textbooks, textbooks_grid(textbooks)),
    }


def examples_table() -> pd.DataFrame:
    """Tabulate the worked examples: numbers as text of ten digits, as some entries are words; `agrees` to the digits printed."""
    rows: Rows = []
    for row in worked_examples():
        texts = {name: _text(getattr(row, name)) for name in ("paper", "corrected")}
        agrees = (
            "" if row.printed == "-" else "yes" if all(as_printed(row.printed, getattr(row, name)) for name in texts) else "no"
        )
        rows.append(
            {"example": row.example, "item": row.item, "printed": row.printed} | texts | {"agrees": agrees, "note": row.note}
        )
    return pd.DataFrame(rows)


def examples_grid(table: pd.DataFrame) -> Grid:
    """Print the worked examples, a block per example."""
    rows: list[list[TableCell | str]] = []
    for example, block in table.groupby("example", sort=False):
        rows.append([example])
        for row in block.itertuples():
            values = [TableCell(_shorter(value) or EMPTY, bold=row.agrees == "no") for value in (row.paper, row.corrected)]
            rows.append([row.item, TableCell(row.printed), *values, row.note])
    n_wrong = int((table["agrees"] == "no").sum())
    note = f"{n_wrong} of {int((table['agrees'] != '').sum())} printed items do not agree."
    return Grid(["Item", "Printed", "Printed formula", "Corrected", "Note"], rows, [note])


def textbooks_table() -> pd.DataFrame:
    """Table 1 of the paper."""
    return pd.DataFrame(TEXTBOOKS)


def textbooks_grid(table: pd.DataFrame) -> Grid:
    """Print Table 1."""
    header = ["Textbook", "Folds", "Fold size", "Averaging over", "Repetition", "Leave-one-out"]
    return Grid(header, [[name, *map(TableCell, rest)] for name, *rest in table.itertuples(index=False)])


def as_printed(printed: str, value: str | float | None) -> bool:
    """True if a value agrees with print, to the digits printed."""
    if isinstance(value, str):
        return value == printed
    try:
        number = float(printed)
    except ValueError:
        return False
    digits = len(printed.partition(".")[2])
    return value is not None and abs(value - number) <= 0.5 * 10**-digits * (1 + 1e-9)


def worked_examples() -> list[ExampleRow]:
    """Compute all worked examples, printed and corrected side by side."""
    return [*_conditions(), *_partitions(), *_example_1(), *_theorem_3(), *_example_2()]


def matched_frequencies(r_a: int, r_b: int, n: int, variance: float) -> tuple[int, int, int]:
    """Find the possible frequencies of the differences -1, 0, +1 whose sample variance is nearest to the given one."""

    def distance(frequencies: tuple[int, int, int]) -> float:
        return abs(loo_matched_frequencies(*frequencies, r_a=r_a, r_b=r_b).standard_error ** 2 * n - variance)

    return min(feasible_frequencies(r_a, r_b, n), key=distance)


def _conditions() -> list[ExampleRow]:
    """Compute the large-sample conditions of Section 2."""

    def row(item: str, printed: str, r: float, m: int) -> ExampleRow:
        answer = "large" if large_sample(r, m) else "not large"
        return ExampleRow("Section 2", item, printed, answer, answer, "")

    return [
        row("42 right of 50", "large", 42, 50),
        row("47 right of 50", "not large", 47, 50),
        row("p = 0.9, n = 40", "not large", 0.9 * 40, 40),
    ]


def _partitions() -> list[ExampleRow]:
    """Compute the sizes of folds of Section 4.3.2."""
    fold = str(fold_of_uniform(0.26, FIVE_FOLDS) + 1)
    total = str(sum(SCHEME_1_SIZES))
    rows = [
        ExampleRow("Section 4.3.2", "fold of u = 0.26", "2", fold, fold, "counted from 1"),
        ExampleRow(
            "Section 4.3.2", f"scheme 1, sum of {_listed(SCHEME_1_SIZES)}", "203", total, total, "an example of random sizes"
        ),
    ]
    schemes: tuple[Literal[2, 3], ...] = (2, 3)
    for scheme in schemes:
        printed = PRINTED_SIZES[scheme]
        sizes = _listed(wong_partition(203, FIVE_FOLDS, scheme, np.random.default_rng(ANY_SEED)).sizes)
        rows.append(ExampleRow("Section 4.3.2", f"scheme {scheme}, sizes", printed, sizes, sizes, ""))
    return rows


def _example_1() -> list[ExampleRow]:
    """Compute the intervals of Example 1."""
    r = np.array(SECOND_LISTING)
    n = FIVE_FOLDS * FOLD_SIZE
    whole, folds = accuracy_interval(r, FOLD_SIZE, "dataset"), accuracy_interval(r, FOLD_SIZE, "fold")
    first = accuracy_interval(FIRST_LISTING, FOLD_SIZE, "fold")
    variance, first_variance = (FIVE_FOLDS * interval.standard_error**2 for interval in (folds, first))

    def row(item: str, printed: str, paper: float, corrected: float, note: str = "") -> ExampleRow:
        return ExampleRow("Example 1", item, printed, paper, corrected, note)

    return [
        row(
            "correct predictions",
            "32, 28, 30, 32, 28",
            float(sum(FIRST_LISTING)),
            float(r.sum()),
            "sums; the folds used later are 32, 28, 30, 30, 32",
        ),
        row(
            "mean of the folds listed first",
            "0.76",
            first.estimate,
            whole.estimate,
            "the folds are listed twice; the first listing has a mean of .75",
        ),
        row(
            "variance over the folds listed first",
            "0.0007",
            first_variance,
            variance,
            "the folds are listed twice; neither listing has this variance",
        ),
        row(
            "mean, data set",
            "0.76",
            float(r.sum()) / FIVE_FOLDS,
            whole.estimate,
            f"the formula divides the sum by 5; the right divisor is {n}",
        ),
        row("variance, data set", ".000912", whole.standard_error**2, whole.standard_error**2),
        row("standard error, data set", "0.030", whole.standard_error, whole.standard_error),
        row("lower limit 95 %, data set", "-", whole.low, whole.low, "z"),
        row("upper limit 95 %, data set", "-", whole.high, whole.high, "z"),
        row("mean, folds", "0.76", folds.estimate, folds.estimate),
        row("variance, folds", "0.0007", variance, variance, "the printed fraction is 0.0070 / 4, which is .00175"),
        row(
            "standard error, folds",
            "0.012",
            folds.standard_error,
            folds.standard_error,
            "the root of the printed variance / 5, which is wrong",
        ),
        row("lower limit 95 %, folds", "-", folds.low, folds.low, "t with 4 degrees of freedom"),
        row("upper limit 95 %, folds", "-", folds.high, folds.high, "t with 4 degrees of freedom"),
    ]


def _theorem_3() -> list[ExampleRow]:
    """Compute the test of Theorem 3 on the two listings of Example 1."""
    pairs = [(SECOND_LISTING, FOLD_SIZE, FIRST_LISTING, FOLD_SIZE)]
    paper, corrected = (compare_independent(*pairs[0], test="t", formula=formula) for formula in ("paper", "corrected"))

    def row(item: str, field: str, note: str = "") -> ExampleRow:
        return ExampleRow("Theorem 3", item, "-", getattr(paper, field), getattr(corrected, field), note)

    return [
        row("t of the two listings of Example 1", "statistic", "the square root is missing in print"),
        row("degrees of freedom", "df", "Welch and Satterthwaite; not stated in print"),
        row("p", "p_value"),
    ]


def _example_2() -> list[ExampleRow]:
    """Compute the comparison by leave-one-out of Example 2."""
    r_a, r_b, n = RIGHT_A, RIGHT_B, N_ROWS
    z = [compare_independent([r_a], n, [r_b], n, formula=formula) for formula in ("paper", "corrected")]
    printed = PRINTED_FREQUENCIES
    possible = matched_frequencies(r_a, r_b, n, PRINTED_VARIANCE)
    as_printed, squared = (loo_matched_frequencies(*printed, formula=formula) for formula in ("paper", "corrected"))
    matched = loo_matched_frequencies(*possible, r_a=r_a, r_b=r_b)
    n_minus, _, n_plus = possible
    product = ((n - r_a) * r_b / n, ((n - r_a) * (n - r_b) + r_a * r_b) / n, r_a * (n - r_b) / n)

    def row(item: str, printed: str, paper: float | str | None, corrected: float | str, note: str = "") -> ExampleRow:
        return ExampleRow("Example 2", item, printed, paper, corrected, note)

    return [
        row("z, independent", "-0.7362", z[0].statistic, z[1].statistic),
        row("p of z", "-", z[0].p_value, z[1].p_value),
        row(
            "frequencies of -1, 0, +1",
            _listed(printed),
            _refusal(printed, r_a, r_b),
            _listed(possible),
            "30, 44, 26 cannot occur with 80 and 84 right of 100; 10, 84, 6 has the printed variance",
        ),
        row(
            "frequencies if schemes were independent",
            "-",
            _listed(product),
            _listed(possible),
            "Theorem 4's products of accuracies, times n",
        ),
        row("mean difference", "-0.04", as_printed.estimate, matched.estimate),
        row(
            "s^2",
            "0.16",
            n * as_printed.standard_error**2,
            n * matched.standard_error**2,
            "the printed formula lacks a square, so that it is 0 for all data",
        ),
        row("t, matched", "-1.0", as_printed.statistic, matched.statistic, "with the printed s^2 of 0 the test divides by 0"),
        row("p of t", "-", as_printed.p_value, matched.p_value),
        row(
            "s^2 of the printed frequencies, squared",
            "0.16",
            n * as_printed.standard_error**2,
            n * squared.standard_error**2,
            "the printed frequencies cannot occur with 80 and 84 right of 100",
        ),
        row(
            "t of the printed frequencies, squared",
            "-1.0",
            as_printed.statistic,
            squared.statistic,
            "the printed frequencies cannot occur with 80 and 84 right of 100",
        ),
        row(
            "McNemar z",
            "-",
            None,
            float((n_plus - n_minus) / np.sqrt(n_plus + n_minus)),
            "beside it; needs no independence of schemes",
        ),
        row(
            "McNemar exact p",
            "-",
            None,
            float(binomtest(n_plus, n_plus + n_minus).pvalue),
            "beside it; needs no independence of schemes",
        ),
    ]


def _refusal(frequencies: tuple[int, int, int], r_a: int, r_b: int) -> str:
    """Say why frequencies are impossible with these totals, or that they are possible."""
    try:
        check_frequencies(*frequencies, r_a=r_a, r_b=r_b)
    except ValueError as refused:
        return f"refused: {refused}"
    return "possible"


def _text(value: str | float | None) -> str:
    return "" if value is None else value if isinstance(value, str) else f"{value:.10g}"


def _listed(values: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)


def _shorter(text: str) -> str:
    """Six significant digits of a number in text; other text as it is."""
    try:
        return f"{float(text):.6g}"
    except ValueError:
        return text
