"""Claims of Geras and Sutton (2013), judged from constructed tables."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from foldshift.engine.study.find import find_studies
from foldshift.reporting.claims_ledger import DOES_NOT_HOLD, HOLDS, IN_PART, NOT_SEEN
from foldshift.studies.geras_2013 import claims
from foldshift.studies.geras_2013.study import STUDY

SIZES = (10, 100, 500)
SENTENCES = find_studies()["geras_2013"].folder / "printed" / "claims.csv"


def _frames(learners=("NB", "SVM"), sizes=SIZES, error=0.01):
    """Tables in which the claims of the paper hold, with relative errors of `error`."""
    keys = [{"learner": one, "sampling": "with"} for one in learners]
    points = [
        {"axis": "sources", "n_sources": 2, "n_points": 100, "cvs_minus_ose": 0.03, "ose_minus_cvr": 0.04},
        {"axis": "sources", "n_sources": 9, "n_points": 100, "cvs_minus_ose": 0.004, "ose_minus_cvr": 0.02},
        *({"axis": "points", "n_sources": 9, "n_points": m, "cvs_minus_ose": 1 / m**0.8, "ose_minus_cvr": 0.3} for m in sizes),
    ]
    differences = {"se_cvs_minus_ose": 0.03 * error, "se_ose_minus_cvr": 0.03 * error}
    spread = [
        {name: point[name] for name in ("axis", "n_sources", "n_points")}
        | {"sd_cvs": 0.2 / m**0.5, "se_sd_cvs": error * 0.01, "sd_cvr": 0.18 / m**0.5, "se_sd_cvr": error * 0.01}
        | {"cvs_minus_cvr": 0.02 / m**0.5, "se_cvs_minus_cvr": error * 0.001, "ratio": 1.1}
        for point in points
        for m in [point["n_points"]]
    ]
    parts, estimators, table1, table2 = [], [], [], []
    for m in sizes:
        theta = 0.02 / m
        for design, omega in (("cvs", 0.5), ("cvr", 0.03)):
            terms = {"sigma_term": 0.7 * theta, "omega_term": omega * theta, "gamma_term": 0.2 * theta, "theta": theta}
            row = {"design": design, "n_points": m, "n_blocks": 10, "mu_over_theta": 30 * m, "mu_over_terms": 300 * m}
            row |= terms | {f"se_{name}": error * theta for name in terms} | {"sigma_over_covariances": 200 * m}
            row |= {"n_omega": 10, "n_omega_above": 9, "n_omega_below": 0, "n_gamma": 45, "n_gamma_above": 40, "n_gamma_below": 0}
            row |= {"omega_spread": 1.0, "omega_noise": 0.1, "gamma_spread": 1 / m, "gamma_noise": 0.1 / m}
            parts.append(row)
        ratios = {"theta_gamma": 1 + m / 300, "theta_A": 0.6, "theta_B": 1.02 + 50 / m, "theta_3": 0.7, "theta_5": 1.01}
        for name, ratio in ratios.items():
            row = {"design": "cvr" if name in ("theta_3", "theta_5") else "cvs", "n_points": m, "estimator": name, "ratio": ratio}
            row |= {"theta": theta, "se_ratio": error, "average": ratio * theta, "se_average": error * theta}
            row |= {"coverage": 0.95 if name in ("theta_B", "theta_5") else 0.8, "se_coverage": error}
            row |= {"relative_rmse": 0.1 if name == "theta_5" else 1.0, "se_relative_rmse": error, "bias": 0.01 * theta}
            estimators.append(row | {"se_bias": error * theta})
        small = {"n_points": m, "theta": theta, "se_bias": error * theta}
        single = {"theta_om_k": 30, "theta_gam_kl": -30}
        for name, bias in {**single, "theta_om": -9, "theta_gamma": m / 300 + 0.5, "theta_A": -0.4, "theta_B": 0.02}.items():
            table1.append(small | {"estimator": name, "bias": bias * theta})
        for name, bias in {"theta_1": 90, "theta_2": -0.4, "theta_3": -0.3, "theta_4": -0.3, "theta_5": 0.01}.items():
            table2.append(small | {"estimator": name, "bias": bias * theta})
    chosen = [{"holds": True}]
    rows = [[point | differences for point in points], spread, parts, estimators, table1, table2, chosen]
    return [pd.DataFrame([key | row for key in keys for row in one]) for one in rows]


def test_every_sentence_has_a_judge_and_an_item_of_the_study():
    sentences = pd.read_csv(SENTENCES, dtype=str)
    assert set(sentences["id"]) == {*claims.JUDGES, "svm_too"} and sentences["id"].is_unique
    items = {item.name for group in STUDY.items for item in group.items}
    assert set(sentences["item"]) <= items and not sentences.isna().any().any()


def test_claims_hold_where_the_tables_show_what_they_say():
    judged = claims.judge_claims(_frames())
    # CVS is pessimistic in these tables, so that it is not unbiased.
    assert {name for name, one in judged.items() if one.verdict != HOLDS} == {"cvs_unbiased"}
    assert judged["svm_too"].effect == 1 and judged["cvs_unbiased"].verdict == DOES_NOT_HOLD


def test_claims_fail_where_the_tables_show_the_contrary():
    error, spread, parts, estimators, table1, table2, chosen = _frames()
    error[["cvs_minus_ose", "ose_minus_cvr"]] *= -1
    spread["cvs_minus_cvr"] *= -1
    estimators["ratio"] = 2 - estimators["ratio"]
    table2.loc[table2["estimator"] == "theta_5", "bias"] *= 500
    table1.loc[table1["estimator"] == "theta_B", "bias"] *= 500
    chosen["holds"] = False
    judged = claims.judge_claims([error, spread, parts, estimators, table1, table2, chosen])
    ids = ("cvs_pessimistic", "cvr_optimistic", "cvr_elsewhere", "cvs_varies_more", "gamma_overestimates", "a_optimistic",
           "b_least_biased", "five_least_biased", "any_bias")  # fmt: skip
    assert {judged[name].verdict for name in ids} == {DOES_NOT_HOLD}


def test_nothing_is_seen_with_large_errors():
    judged = claims.judge_claims(_frames(error=1000.0))
    seen = {name for name, one in judged.items() if one.verdict != NOT_SEEN}
    # These compare counts and orders of magnitude, or are exact.
    assert seen <= {
        "mean_error_large", "mu_orders", "sigma_largest", "omega_positive", "gamma_positive", "any_bias", "same_order",
        "gamma_spread", "omega_spread", "sigma_orders", "svm_too",
    }  # fmt: skip


def test_one_learner_or_one_size_or_nothing_is_judged_as_far_as_it_goes():
    one = claims.judge_claims(_frames(learners=("SVM",), sizes=(100,)))
    assert "svm_too" not in one and one["a_optimistic"].verdict == HOLDS
    assert {"standard_fails", "spread_vanishes", "gamma_spread", "omega_spread"}.isdisjoint(one)
    assert claims.judge_claims([frame[:0] for frame in _frames()]) == {}


@pytest.mark.parametrize(
    ("effects", "verdict", "remark"),
    [
        ([3.0, 3.0, 0.0], HOLDS, "shown at 2 of 3 sizes"),
        ([3.0, -3.0, 3.0], IN_PART, "shown at 2 of 3 sizes, the contrary at 1"),
        ([3.0, 0.0, 0.0], IN_PART, "shown at 1 of 3 sizes"),
        ([-3.0, -3.0, 0.0], DOES_NOT_HOLD, "shown at 0 of 3 sizes, the contrary at 2"),
        ([-3.0, 0.0, 0.0], NOT_SEEN, "shown at 0 of 3 sizes, the contrary at 1"),
        ([1.0, 1.0, np.nan], NOT_SEEN, "shown at 0 of 2 sizes"),
        ([], NOT_SEEN, ""),
    ],
)
def test_an_order_at_several_sizes_is_judged_by_two_errors_each(effects, verdict, remark):
    found = claims.over_sizes(effects, np.ones(len(effects)))
    assert (found.verdict, found.remark) == (verdict, remark)


def test_a_number_is_near_0_only_if_its_errors_say_so():
    assert claims.within(0.1, 0.01, 0.25).verdict == HOLDS and claims.within(-0.5, 0.01, 0.25).verdict == DOES_NOT_HOLD
    assert claims.within(0.1, 0.1, 0.25).verdict == NOT_SEEN and claims.within(np.nan, 0.1, 0.25).verdict == NOT_SEEN


def test_claims_that_a_learner_loses_are_named():
    holds, fails, unseen = (claims.Judged(one) for one in (HOLDS, DOES_NOT_HOLD, NOT_SEEN))
    found = claims.same_verdicts(
        {"a": holds, "b_b": holds, "c": holds, "d": fails}, {"a": holds, "b_b": fails, "c": unseen, "d": fails}
    )
    assert found.verdict == DOES_NOT_HOLD and found.remark == "1 of 2; not b b"
    assert claims.same_verdicts({"a": fails}, {"a": fails}).verdict == NOT_SEEN


def test_the_ledger_is_made_from_the_files(tmp_path):
    paths = {}
    for name, frame in zip(claims.TABLES, _frames()):
        paths[name] = tmp_path / f"{name}.csv"
        frame.to_csv(paths[name], index=False)
    made = claims.ledger(SimpleNamespace(**paths, printed=SENTENCES), {"reviews": "generated"})["claims_ledger"]
    assert len(made.frame) == 38 and made.words["kind_of_reviews"].startswith("generated")


def _spreads(omega, gamma, noise=0.001):
    """Decompositions with these spreads of single covariances at three sizes."""
    frames = _frames()
    for kind, values in (("omega", omega), ("gamma", gamma)):
        for m, value in zip(SIZES, values):
            at = frames[2]["n_points"] == m
            frames[2].loc[at, [f"{kind}_spread", f"{kind}_noise"]] = float(np.hypot(value, noise)), noise
    return claims.Tables(*(frame[frame["learner"] == "NB"] for frame in frames))


def test_noise_is_taken_from_spreads_before_they_are_compared():
    tables = _spreads(omega=(0.0, 0.01, 0.01), gamma=(0.0, 0.04, 0.01))
    # At M = 10 there is noise alone.
    value, error, remark = claims.spread_falls(tables, "omega")
    assert value == pytest.approx(0, abs=1e-9) and error < 0.1 and remark.startswith("M = 100 and 500")
    assert claims.spread_falls(tables, "gamma")[0] == pytest.approx(np.log(4))
    assert np.isnan(claims.spread_falls(_spreads((0.01, 0.01, 0.0), (1, 1, 1)), "omega")[0])
