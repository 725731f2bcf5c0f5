"""Printed numbers that are met when KEEL's distance and rules cut."""

import numpy as np
import pandas as pd

from foldshift.reporting.paper_vs_ours import EXPLAINED, MET, OPEN
from foldshift.studies.moreno_torres_2012.against_print.compare import compare_with_keel, join
from foldshift.studies.moreno_torres_2012.against_print.keel_partitions import (
    WITH_KEEL,
    keel_results,
    keel_tables,
    met_by_keel,
)
from foldshift.studies.moreno_torres_2012.against_print.print_verdicts import verdicts
from foldshift.studies.moreno_torres_2012.experiment_accuracy import accuracy_table, agreement_table
from foldshift.studies.moreno_torres_2012.notation import AVERAGE

LEARNERS, SETS, SCHEMES = ["1NN", "LDA", "PART"], [f"d{i}" for i in range(14)], {2: 5, 5: 2}
CUTS = ["SCV", "DB-SCV", "DOB-SCV", "MS-SCV"]
SETTINGS = {
    "partitioners": CUTS, "iterations": SCHEMES, "learners": LEARNERS, "datasets": SETS, "alpha": 0.1, "master_seed": 0,
}  # fmt: skip


def results(bias=0.03, n=40, keel_schemes=(2, 5)):
    """Areas of three classifiers; DOB-SCV with the study's own distance favours one of them, with KEEL's it does not."""
    rng = np.random.default_rng(5)
    base = 0.7 + 0.1 * rng.random((1, 14, 1)) + 0.008 * np.arange(3)[:, None, None]
    draw = lambda m: base + 0.02 * rng.normal(size=(3, 14, m))  # noqa: E731
    values = {(k, name): draw(n) for k in SCHEMES for name in CUTS}
    for k in SCHEMES:
        values[k, "DOB-SCV"][0] -= bias
    for k in keel_schemes:
        values |= {(k, f"{name}@keel-keel"): draw(n // 2) for name in CUTS[1:]}
    return values, {k: draw(60) for k in SCHEMES}


def printed_of(tables):
    """Printed tables that say what ours do."""
    table5 = tables["table5"].query("scheme == '5x2' and partitioner == 'DOB-SCV'")
    shares = 100 * table5["agreements"] / table5["n_experiments"]
    table6 = tables["table6"]
    return {
        "table1": pd.DataFrame({"dataset": SETS}),
        "table3": pd.DataFrame(columns=["dataset", "classifier", "auc"]),
        "table4": pd.DataFrame(columns=["row", "column", "r_plus", "r_minus", "p_value"]),
        "table5": table5[["row", "column"]].assign(times_same_result=shares),
        "table6": table6[["scheme", "partitioner"]].assign(percent_same_result=table6["percent"]),
        "table7": pd.DataFrame(columns=["scheme", "partitioner", "mean_experiments", "std_experiments"]),
    }


def test_keel_has_the_variants_by_their_plain_names_and_scv_as_it_is():
    values, _ = results(keel_schemes=(5,))
    found = keel_results(values, SETTINGS)
    assert list(found) == [(5, name) for name in CUTS]
    assert found[5, "SCV"] is values[5, "SCV"] and found[5, "MS-SCV"] is values[5, "MS-SCV@keel-keel"]
    assert keel_results(results(keel_schemes=())[0], SETTINGS) == {}
    assert keel_results(values, SETTINGS | {"partitioners": ["SCV"]}) == {}


def test_numbers_that_only_keels_cut_meets_are_explained():
    values, truth = results()
    keel = keel_tables(keel_results(values, SETTINGS), truth, SETTINGS)
    assert set(keel["table6"]["configuration"]) == {WITH_KEEL} and set(keel["table6"]["scheme"]) == {"2x5", "5x2", AVERAGE}
    printed = printed_of(keel)
    plain = {
        "table5": agreement_table({"paper": (values, truth)}, SCHEMES, CUTS, LEARNERS, master_seed=0),
        "table6": accuracy_table({"paper": (values, truth)}, SCHEMES, CUTS, master_seed=0),
    }
    base, by_keel = join(printed, plain, {"paper": ""}), join(printed, keel, {WITH_KEEL: ""})
    keys = ["table", "scheme", "row", "column", "quantity"]
    base, by_keel = (one[one["table"].isin(["table5", "table6"])] for one in (base, by_keel))
    assert len(by_keel) == len(base) > 8 and met_by_keel(base, by_keel, 20, keys).all()
    off = by_keel.assign(ours=by_keel["ours"] + 60)
    assert not met_by_keel(base, off, 20, keys).any()


def test_the_ledger_counts_them_and_without_the_variants_they_are_open():
    values, truth = results()
    printed = printed_of(keel_tables(keel_results(values, SETTINGS), truth, SETTINGS))
    plain = {"table5": agreement_table({"paper": (values, truth)}, SCHEMES, CUTS, LEARNERS, master_seed=0)}
    base = join(printed, plain, {"paper": ""})
    base = base[base["table"] == "table5"]
    rows, n = compare_with_keel(printed, {"paper": (values, truth)}, SETTINGS)
    assert n == 20 and set(rows["configuration"]) == {WITH_KEEL} and set(rows["table"]) == {"table5", "table6"}
    assert (rows["ours"] - rows["printed"]).abs().max() < 1e-9
    explained = met_by_keel(base, rows, n, ["table", "scheme", "row", "column", "quantity"])
    found = verdicts(base, [""] * len(base), 40, 60, explained)["verdict"]
    alone = verdicts(base, [""] * len(base), 40, 60)["verdict"]
    assert (alone == OPEN).any() and not (found == OPEN).any()
    assert ((found == EXPLAINED) == (alone == OPEN)).all() and ((found == MET) == (alone == MET)).all()
    fewer = {key: array for key, array in values.items() if "@" not in key[1]}
    assert compare_with_keel(printed, {"paper": (fewer, truth)}, SETTINGS) is None
    assert compare_with_keel(printed, {"corrected": (values, truth)}, SETTINGS) is None


def test_a_mean_over_some_schemes_is_not_held_against_the_print_of_all():
    values, truth = results(keel_schemes=(5,))
    printed = printed_of(keel_tables(keel_results(results()[0], SETTINGS), truth, SETTINGS))
    rows, _ = compare_with_keel(printed, {"paper": (values, truth)}, SETTINGS)
    table6 = rows[rows["table"] == "table6"].set_index("scheme")["ours"]
    assert table6["5x2"].notna().all() and table6[AVERAGE].isna().all() and table6["2x5"].isna().all()
