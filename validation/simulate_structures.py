"""Measure what the checks find in tables with a known structure, and how near the honest cut comes to the score at deployment.

``make validate WHAT=structures``. Tables come from `held_out_structures`, on which no threshold was set; ``--development`` runs
the tables for choices and writes nothing. The learner is a small random forest. Each table is scored with folds at random (the
naive score), with the honest cut for what was found, and at deployment. Writes ``tables/structure_checks.csv``, one row a table.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import held_out_structures as tables
from foldshift.advice.data import as_data
from foldshift.advice.issues import issues_of
from foldshift.advice.structure.checks import run_checks
from foldshift.advice.structure.find import find_structure
from foldshift.advice.structure.honest_cut import honest_cut
from foldshift.inference import score_interval
from provenance_tables import write_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from foldshift.advice.structure.checks import Check
    from foldshift.core.types import Array, Estimator, IntArray, Task
    from held_out_structures import StructuredTable

    Pairs = Iterable[tuple[IntArray, IntArray]]

N_FOLDS, N_TREES, SEED = 5, 50, 0
# Checks that find each structure; alarms are findings of any of them, notes aside.
OF_KIND = {
    "groups": ("G2",), "time": ("T2",), "space": ("S1",), "copies": ("D1", "D2"), "leak": ("L1", "L2"), "rare": ("R1",),
    "sentinel": ("V1",),
}  # fmt: skip
METRICS = {"rmse": "root_mean_squared_error", "error": "error", "roc_auc": "roc_auc"}


def learner(task: Task) -> Estimator:
    """Make a small forest on numbers and categories; dates are left out."""
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    prepare = make_column_transformer(
        (SimpleImputer(keep_empty_features=True), make_column_selector(dtype_include="number")),
        (encoder, make_column_selector(dtype_include=object)),
    )
    forest = RandomForestRegressor if task == "regression" else RandomForestClassifier
    return make_pipeline(prepare, forest(N_TREES, random_state=SEED))


def found_kinds(checks: tuple[Check, ...]) -> set[str]:
    """Kinds of structure that checks found, notes aside."""
    codes = {issue.check for issue in issues_of(checks) if issue.severity != "note"}
    return {kind for kind, some in OF_KIND.items() if codes & set(some)}


def score_with(table: StructuredTable, X: pd.DataFrame, pairs: Pairs, groups: Array | None) -> tuple[float, float, float]:
    """Score of all test rows, and its interval; `groups` are rows that are not independent, None: test parts."""
    predicted = np.full(len(X), np.nan, dtype=object)
    part = np.full(len(X), -1)
    rare = "rare" in table.structure
    for number, (train, test) in enumerate(pairs):
        fitted = clone(learner(table.task)).fit(X.iloc[train], table.y[train])
        known = rare and len(fitted.classes_) == 2
        predicted[test] = fitted.predict_proba(X.iloc[test])[:, 1] if known else 0.0 if rare else fitted.predict(X.iloc[test])
        part[test] = number
    rows = part >= 0
    metric = METRICS["roc_auc" if rare else "rmse" if table.task == "regression" else "error"]
    values = predicted[rows].astype(float) if rare or table.task == "regression" else predicted[rows].astype(str)
    y = table.y[rows] if table.task == "regression" else table.y[rows].astype(str)
    options: dict[str, Any] = {"pos_label": np.unique(y)[-1]} if rare else {}
    if groups is not None:
        options["groups"] = groups[rows]
    found = score_interval(y, values, metric, **options)
    return found.estimate, found.low, found.high


def measure(table: StructuredTable, fit: bool) -> dict[str, Any]:
    """Make one row: what was found, and the three scores."""
    start = time.process_time()
    data = as_data(table.X, table.y, task=table.task)
    structure = find_structure(data)
    checks = run_checks(data, structure)
    seconds = time.process_time() - start
    found = found_kinds(checks)
    cut = honest_cut(structure, N_FOLDS, SEED)
    row: dict[str, Any] = {
        "table": table.name, "task": table.task, "n_rows": data.n, "n_columns": table.X.shape[1],
        "structure": " ".join(table.structure), "found": " ".join(sorted(found)), "is_right": found == set(table.structure),
        "cut": cut.name,
    }  # fmt: skip
    if fit:
        folds = KFold if table.task == "regression" else StratifiedKFold
        naive = score_with(table, table.X, folds(N_FOLDS, shuffle=True, random_state=SEED).split(table.X, table.y), None)
        pairs = list(cut.splitter.split(table.X, table.y, cut.groups))
        blocks = np.full(data.n, -1)
        for number, (_, test) in enumerate(pairs):
            blocks[test] = number
        groups = cut.groups if cut.kind == "groups" else blocks if cut.kind in ("time", "space") else None
        honest = score_with(table, table.X.drop(columns=[*cut.drop]), pairs, groups)
        deployment = table.deployment(learner(table.task))
        for name, (estimate, low, high) in (("naive", naive), ("honest", honest)):
            row |= {name: estimate, f"{name}_low": low, f"{name}_high": high, f"{name}_holds": low <= deployment <= high}
        row["deployment"] = deployment
    return row | {"seconds_of_checks": round(seconds, 2)}


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Count, for every kind of structure: tables, those it is found in, and those whose interval holds the deployment score."""
    structured = rows[rows.structure != ""]
    kinds = [*OF_KIND, "all"]
    some = {kind: structured if kind == "all" else structured[structured.structure == kind] for kind in kinds}
    return pd.DataFrame(
        [
            {
                "structure": kind,
                "tables": len(part),
                "found": int(sum(set(one.structure.split()) <= set(one.found.split()) for one in part.itertuples())),
                "nothing_found": int((part.found == "").sum()),
                "naive_holds": int((part.naive_holds == True).sum()),  # noqa: E712 (objects, where clean tables have none)
                "honest_holds": int((part.honest_holds == True).sum()),  # noqa: E712
            }
            for kind, part in some.items()
        ]
    )


def main() -> None:
    """Measure all tables, print a summary, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--development", action="store_true", help="tables for choices; nothing is written")
    options = parser.parse_args()
    structured, clean = (tables.development, tables.development_clean) if options.development else (tables.held_out, tables.clean)
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for table, fit in [*((one, True) for one in structured()), *((one, False) for one in clean())]:
            rows.append(measure(table, fit))
            print(rows[-1], flush=True)
    made = pd.DataFrame(rows)
    counted = summary(made)
    alarms = made[(made.structure == "") & (made.found != "")]
    print(counted.to_string(index=False))
    print(f"clean tables: {(made.structure == '').sum()}, alarms: {len(alarms)}", *alarms.table)
    if not options.development:
        facts = {"seeds": {name: tables.SEEDS[name] for name in ("held out", "clean")}, "alarms": len(alarms)}
        print(write_table("structure_checks", made.round(5), **facts, summary=counted.to_dict("records")))


if __name__ == "__main__":
    main()
