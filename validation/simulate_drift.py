"""Simulate level and power of the drift reports: "moved" once in twenty where nothing has moved, often where something has.

``--what folds``: `fold_drift` on random cuts, by the number of seeds: share of reports that anything differs from chance;
``power``: on cuts that lean on one column. ``--what report``: `DriftReport` on two tables, by the change between them.
``--what dependence``: the tests of all features together where only the dependence of columns has changed. ``--what detectors``:
which test sees which change; ``--write-docs`` copies that table into the guide on drift.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from foldshift.inference.proportions import wilson_interval
from foldshift.shift.detectors.dependence import dependence_test
from foldshift.shift.detectors.two_sample import classifier_two_sample, energy_distance_test, mmd
from foldshift.shift.report.drift_report import DriftReport
from foldshift.shift.report.fold_drift import fold_drift
from provenance_tables import FOLDER, ROOT, write_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldshift.core.types import FloatArray, IntArray

SEEDS = (1, 20, 200, 2000)
N_ROWS, N_FOLDS = 60, 5
GUIDE = ROOT / "docs/guides/watch_for_drift.md"
START, END = "<!-- detectors: made by validation/simulate_drift.py -->", "<!-- end of detectors -->"


def shares(title: str, counts: dict[str, int], n: int, seconds: float) -> list[dict[str, object]]:
    """Make and print a row for each name: one share with its Wilson interval."""
    rows: list[dict[str, object]] = []
    for name, count in counts.items():
        low, high = wilson_interval(count / n, n)
        rows.append({"what": title, "of_what": name, "share": count / n, "low": float(low), "high": float(high), "n_tables": n})
        print(f"{title} | {name} | {count / n:.3f} | {low:.3f} to {high:.3f} | {n} | {seconds:.0f} s", flush=True)
    return rows


def mixed(rng: np.random.Generator, n: int) -> FloatArray:
    """Draw five columns: three without ties, one rounded, one of three values."""
    return np.column_stack([rng.normal(size=(n, 3)), rng.normal(size=n).round(), rng.integers(0, 3, n)])


def folds(sizes: Sequence[int], n_tables: int, power: float) -> list[dict[str, object]]:
    """Run `fold_drift` on random cuts of tables of 60 rows, or on cuts that lean on the first column."""
    found = []
    for n_seeds in sizes:
        start, said = time.monotonic(), 0
        for table in range(n_tables):
            rng = np.random.default_rng([table, n_seeds])
            X = mixed(rng, N_ROWS)
            cuts = rng.permuted(np.tile(np.arange(N_ROWS) % N_FOLDS, (n_seeds, 1)), axis=1)
            if power:  # every row keeps its fold by chance, or takes one by the value of the first column
                by_value = X[:, 0].argsort().argsort() * N_FOLDS // N_ROWS
                # A distance grows with the square of a small lean, its mean over seeds is known to the root of their number.
                cuts = np.where(rng.random(cuts.shape) < power / n_seeds**0.25, by_value, cuts)
            rows = fold_drift(X, None, cuts, N_FOLDS, categorical_features=[4], rng=rng).features
            said += any(row.verdict != "as chance" for row in rows[: 1 if power else None])
        title = f"fold_drift, {'power' if power else 'level'}"
        found += shares(title, {f"{n_seeds} seeds": said}, n_tables, time.monotonic() - start)
    return found


def two_tables(rng: np.random.Generator, change: str) -> tuple[list[FloatArray], list[IntArray]]:
    """Draw tables of 100 and 80 rows and two targets, with one change."""
    tables = [mixed(rng, n) for n in (100, 80)]
    targets = [rng.poisson(200, n) for n in (100, 80)]
    if change == "mean by half a standard deviation":
        tables[1][:, 0] += 0.5
    elif change == "shares of categories":
        tables[1][:, 4] = rng.choice(3, 80, p=[0.5, 0.3, 0.2])
    elif change == "whole-numbered target by half a standard deviation":
        targets[1] = targets[1] + 7
    elif change == "all means by a quarter":
        tables[1][:, :3] += 0.25
    return tables, targets


def report(n_tables: int, n_permutations: int = 199) -> list[dict[str, object]]:
    """Run `DriftReport` on tables of 100 and 80 rows, five columns and a target."""
    changes = ("nothing", "mean by half a standard deviation", "shares of categories", "all means by a quarter",
               "whole-numbered target by half a standard deviation")  # fmt: skip
    rows = []
    for change in changes:
        start, said = time.monotonic(), {"anything moved": 0, "target moved": 0}
        for number in range(n_tables):
            rng = np.random.default_rng(number)
            tables, targets = two_tables(rng, change)
            found = DriftReport(*tables, categorical_features=[4], y_train=targets[0], y_test=targets[1],
                                n_permutations=n_permutations, rng=number)  # fmt: skip
            said["anything moved"] += any(row.moved for row in [*found.features, *found.global_tests])
            said["target moved"] += any(row.moved for row in found.global_tests if row.about == "classes")
        rows += shares(f"DriftReport, {change}", said, n_tables, time.monotonic() - start)
    return rows


def dependence(n_tables: int, n_rows: int = 100, n_permutations: int = 199) -> list[dict[str, object]]:
    """Test three columns, uncorrelated in one table and correlated in the other, at .05 uncorrected."""
    tests = {"energy": energy_distance_test, "mmd": mmd, "c2st": classifier_two_sample, "dependence": dependence_test}
    rows = []
    for correlation in (0.0, 0.3, 0.5, 0.7):
        start, said = time.monotonic(), dict.fromkeys(tests, 0)
        factor = np.linalg.cholesky(np.full((3, 3), correlation) + (1 - correlation) * np.eye(3))
        for number in range(n_tables):
            rng = np.random.default_rng(number)
            a, b = rng.normal(size=(2, n_rows, 3))
            for name, test in tests.items():
                said[name] += test(a, b @ factor.T, rng, n_permutations=n_permutations).p_value <= 0.05
        rows += shares(f"correlation 0 to {correlation}, {n_rows} rows each", said, n_tables, time.monotonic() - start)
    return rows


DETECTORS = {
    "KS": "KS, chi-square",
    "energy distance": "energy",
    "spread of columns": "spread",
    "maximum mean discrepancy": "mmd",
    "classifier two-sample test": "c2st",
    "dependence of columns": "dependence",
}
CHANGES = {
    "nothing": "nothing",
    "mean": "one mean by half a standard deviation",
    "spread": "one spread, times 1.82",
    "shape": "one shape: two peaks, the same mean and spread",
    "rare category": "a category from 1 to 8 %",
    "missing values": "one column from 0 to 10 % missing",
    "dependence": "correlations of three columns from 0 to .5",
    "copies": "half of the new rows are copies of training rows",
}


def changed_tables(rng: np.random.Generator, change: str) -> list[pd.DataFrame]:
    """Draw tables of 80 and 60 rows, four columns of numbers and one of categories, with one change."""
    tables = []
    for n, changed in ((80, False), (60, change != "nothing")):
        x = rng.normal(size=(n, 4))
        shares = np.array([0.5, 0.3, 0.19, 0.01])
        if changed and change == "mean":
            x[:, 0] += 0.5
        elif changed and change == "spread":
            x[:, 0] *= 1.82
        elif changed and change == "shape":
            x[:, 0] = rng.choice([-0.95, 0.95], n) + np.sqrt(1 - 0.95**2) * x[:, 0]
        elif changed and change == "rare category":
            shares = np.array([0.46, 0.28, 0.18, 0.08])
        elif changed and change == "dependence":
            x[:, :3] = x[:, :3] @ np.linalg.cholesky(0.5 * np.ones((3, 3)) + 0.5 * np.eye(3)).T
        if changed and change == "missing values":
            x[rng.random(n) < 0.1, 0] = np.nan
        tables.append(pd.DataFrame(x, columns=list("abcd")).assign(e=rng.choice(list("pqrs"), n, p=shares)))
    if change == "copies":
        tables[1].iloc[:30] = tables[0].iloc[rng.choice(80, 30, replace=False)].to_numpy()
        tables[1] = tables[1].astype(tables[0].dtypes)
    return tables


def detectors(n_tables: int, n_permutations: int = 199) -> list[dict[str, object]]:
    """Ask each detector, alone at .05 over all columns, and the whole report with its defaults, about every change."""
    rows = []
    for change, words in CHANGES.items():
        start, said = time.monotonic(), dict.fromkeys([*DETECTORS.values(), "report"], 0)
        for number in range(n_tables):
            tables = changed_tables(np.random.default_rng(number), change)
            every = DriftReport(*tables, multivariate=["energy", "spread", "mmd", "c2st", "dependence"], rng=number,
                                n_permutations=n_permutations)  # fmt: skip
            p = np.sort([row.p_value for row in every.features if not np.isnan(row.p_value)])
            said["KS, chi-square"] += bool(p[0] * len(p) <= 0.05)
            for test in every.global_tests:
                said[DETECTORS[test.name]] += test.p_value <= 0.05
            report = DriftReport(*tables, rng=number, n_permutations=n_permutations)
            said["report"] += report.verdict.startswith("Shift")
        rows += shares(words, said, n_tables, time.monotonic() - start)
    return rows


def detector_lines(table: pd.DataFrame) -> list[str]:
    """Write the table of detectors in Markdown."""
    names = [*DETECTORS.values(), "report"]
    lines = [f"| change | {' | '.join(names)} |", f"| --- |{' ---: |' * len(names)}"]
    for change, part in table.groupby("what", sort=False):
        share = part.set_index("of_what")["share"]
        lines.append(f"| {change} | {' | '.join(f'{share[name]:.2f}'.lstrip('0') for name in names)} |")
    return lines


def write_docs() -> None:
    """Put the table of detectors into the guide on drift, between its marks."""
    text = GUIDE.read_text(encoding="utf-8")
    before, rest = text.split(START)
    after = rest.split(END)[1]
    lines = detector_lines(pd.read_csv(FOLDER / "drift_detectors.csv"))
    GUIDE.write_text(before + START + "\n" + "\n".join(lines) + "\n" + END + after, encoding="utf-8")


def main() -> None:
    """Read the arguments; print the figures of each section and write them with their provenance."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--what", nargs="+", choices=["folds", "power", "report", "dependence", "detectors"],
                        default=["folds", "power", "report", "dependence", "detectors"])  # fmt: skip
    parser.add_argument("--tables", type=int, default=1000, help="pairs of tables, or tables, of each kind")
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS, help="numbers of seeds of fold_drift")
    parser.add_argument("--write-docs", action="store_true", help="only copy the table of detectors into the guide")
    arguments = parser.parse_args()
    sections = {
        "folds": lambda: folds(arguments.seeds, arguments.tables, 0),
        "power": lambda: folds(arguments.seeds, arguments.tables, 0.4),
        "report": lambda: report(arguments.tables),
        "dependence": lambda: dependence(arguments.tables),
        "detectors": lambda: detectors(arguments.tables),
    }
    if arguments.write_docs:
        write_docs()
        return
    print("what | of what | share | 95 % interval | tables | time")
    for name in arguments.what:
        write_table(f"drift_{name}", pd.DataFrame(sections[name]()), n_tables=arguments.tables)


if __name__ == "__main__":
    main()
