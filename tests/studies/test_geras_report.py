from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from scipy.stats import t as student_t

from factories import one_row, write_table
from foldshift.engine.study.declare import key
from foldshift.inference.repetitions.variance import ESTIMATORS, cv_variance, variance_components
from foldshift.reporting.items import caption_text
from foldshift.reporting.table_grid import to_html, to_tex
from foldshift.studies.geras_2013 import bias_tables, figures, measure, measure_models, tables
from foldshift.studies.geras_2013 import held_out_errors as errors
from foldshift.studies.geras_2013 import variance_estimators as estimators
from foldshift.studies.geras_2013.study import STUDY

GRID = {"n_sources": [2, 3], "n_points": [10, 20], "held_fixed": {"n_sources": 3, "n_points": 20}}
SIZES = [(2, 20), (3, 10), (3, 20)]


def _error_rows(n_draws=4, learners=("NB",), samplings=("with", "without"), gap=0.02):
    """CVS above and CVR below the truth by `gap` plus or minus a quarter of it in turn; the truth itself moves far more."""
    rows = []
    for learner in learners:
        for sampling in samplings:
            for k, m in SIZES:
                for draw in range(n_draws):
                    new, step = 0.3 + 0.05 * draw, gap * (1.25 if draw % 2 else 0.75)
                    rows.append(
                        (learner, sampling, k, m, draw, new + step, new - step, new, 0.03 + 0.002 * draw, 0.02 + 0.002 * draw)
                    )
    return pd.DataFrame(rows, columns=measure.SCHEMAS["error"].names)


def _losses(R=40, K=5, M=6, seed=0):
    """0/1 losses whose sources differ."""
    rng = np.random.default_rng(seed)
    return (rng.random((R, K, M)) < np.linspace(0.1, 0.6, K)[:, None]).astype(np.uint8)


def _variance_rows(losses, design="cvs", learner="NB", sampling="with"):
    found = cv_variance(losses)
    keys = {"learner": learner, "sampling": sampling, "n_points": losses.shape[2], "design": design}
    names = ("mean", "W", "S2", *ESTIMATORS)
    estimates = pd.DataFrame({"dataset": range(len(losses))} | {name: getattr(found, name) for name in names}).assign(**keys)
    components = pd.DataFrame(measure.component_rows(losses, design), columns=["kind", "k", "l", "value"])
    return estimates[measure.SCHEMAS["estimates"].names], components.assign(**keys)[measure.SCHEMAS["components"].names]


def _both_designs(samplings=("with", "without"), points=(6, 10), R=40):
    parts = [
        _variance_rows(_losses(R=R, M=m, seed=m + 100 * (design == "cvr")), design, sampling=sampling)
        for sampling in samplings
        for m in points
        for design in ("cvs", "cvr")
    ]
    return [pd.concat(frames, ignore_index=True) for frames in zip(*parts)]


def _single_rows(samplings=("with", "without"), points=(6, 10), R=40):
    """Rows of single sources for the data sets of `_both_designs`."""
    names = ["estimator", "k", "l", "bias", "se_bias"]
    parts = [
        pd.DataFrame(measure.single_source_rows(_losses(R=R, M=m, seed=m)), columns=names).assign(
            learner="NB", sampling=sampling, n_points=m, design="cvs"
        )
        for sampling in samplings
        for m in points
    ]
    return pd.concat(parts, ignore_index=True)[measure.SCHEMAS["single_source"].names]


def _model_rows(kinds=("iid", "random"), R=60):
    parts = []
    for kind in kinds:
        for design in ("cvs", "cvr"):
            losses = _losses(R=R, seed=len(kind))
            estimates, _ = _variance_rows(losses, design)
            known = {"model": "stump", "sources": kind, "out_of_source": 0.35 + 0.01 * np.cos(np.arange(R))}
            parts.append(estimates.assign(**known, sigma_term=variance_components(losses, design).sigma_term))
    return pd.concat(parts, ignore_index=True)[measure_models.SCHEMAS["models"].names]


def test_means_and_paired_differences_have_the_errors_of_the_textbook():
    table = errors.error_table(_error_rows(), **GRID)
    row = one_row(table, sampling="with", axis="sources", n_sources=2)
    assert [row["cvs"], row["out_of_source"], row["cvr"]] == pytest.approx([0.395, 0.375, 0.355]) and row["n_draws"] == 4
    assert row["se_out_of_source"] == pytest.approx(np.std([0.3, 0.35, 0.4, 0.45], ddof=1) / 2)
    steps = [0.015, 0.025, 0.015, 0.025]
    assert [row["cvs_minus_ose"], row["ose_minus_cvr"]] == pytest.approx([0.02, 0.02])
    assert [row["se_cvs_minus_ose"], row["se_ose_minus_cvr"]] == pytest.approx([np.std(steps, ddof=1) / 2] * 2)
    # The draws differ by far more than the gap: only the pairing shows the order.
    assert row["se_out_of_source"] > row["cvs_minus_ose"] and row["order_holds"] and row["draws_in_order"] == 1


def test_both_axes_share_the_point_where_they_cross():
    table = errors.error_table(_error_rows(), **GRID)
    assert list(zip(table["axis"], table["n_sources"], table["n_points"]))[:4] == [
        ("sources", 2, 20), ("sources", 3, 20), ("points", 3, 10), ("points", 3, 20),
    ]  # fmt: skip
    assert len(table) == 8 and table["sampling"].tolist() == ["with"] * 4 + ["without"] * 4
    assert "at 6 of 6 points" in tables.order_notes(table)[0] and len(tables.order_notes(table)) == 1


def test_the_point_where_the_axes_would_cross_need_not_be_measured():
    rows = _error_rows()
    grid = {"n_sources": [2], "n_points": [10], "held_fixed": GRID["held_fixed"]}
    table = errors.error_table(rows[~((rows["n_sources"] == 3) & (rows["n_points"] == 20))], **grid)
    assert len(table) == 4 and (table["n_draws"] == 4).all()


def test_one_draw_against_the_order_does_not_undo_a_clear_mean_and_is_counted():
    rows = _error_rows(n_draws=20)
    one = (rows["n_sources"] == 2) & (rows["draw"] == 0) & (rows["sampling"] == "with")
    rows.loc[one, "cvs"] = rows.loc[one, "out_of_source"] - 0.001
    row = one_row(errors.error_table(rows, **GRID), sampling="with", axis="sources", n_sources=2)
    assert row["order_holds"] and row["draws_in_order"] == 0.95


def test_a_mean_in_order_by_less_than_two_errors_is_not_called_in_order():
    rows = _error_rows(n_draws=4)
    one = (rows["n_sources"] == 2) & (rows["draw"] == 0) & (rows["sampling"] == "with")
    rows.loc[one, "cvs"] = rows.loc[one, "out_of_source"] - 0.03
    table = errors.error_table(rows, **GRID)
    row = one_row(table, sampling="with", axis="sources", n_sources=2)
    assert row["cvs_minus_ose"] > 0 and not row["cvs_above_ose"] and row["ose_above_cvr"] and not row["order_holds"]
    notes = tables.order_notes(table)
    assert "at 5 of 6 points" in notes[0]
    assert notes[1:] == ["NB, drawn with replacement: not above 0 by two errors: CVS - OSE at (K, M) = (2, 20)."]


def test_the_opposite_order_is_said_with_its_size():
    rows = _error_rows(samplings=("with",))
    wrong = rows["n_points"] == 10
    rows.loc[wrong, "cvr"] = rows.loc[wrong, "out_of_source"] + 0.01
    table = errors.error_table(rows, **GRID)
    row = one_row(table, axis="points", n_points=10)
    assert (
        row["se_ose_minus_cvr"] == pytest.approx(0, abs=1e-12)
        and row["order_reversed"]
        and not row["order_holds"]
        and row["draws_in_order"] == 0
    )
    assert tables.order_notes(table)[1] == (
        "NB, drawn with replacement: the other way round by two errors: OSE - CVR = -0.0100 ± 0.0000 at K = 3, M = 10."
    )


def test_one_draw_has_no_error_and_shows_nothing():
    table = errors.error_table(_error_rows(n_draws=1), **GRID)
    assert table["se_cvs"].isna().all() and not table["order_holds"].any() and (table["draws_in_order"] == 1).all()
    grid = tables.error_grid(table)
    assert "One draw has no standard error" in grid.notes[0] and "± –" in to_html(grid)
    spread = errors.spread_table(_error_rows(n_draws=1), **GRID)
    assert spread["se_sd_cvs"].isna().all() and not spread["cvs_above_cvr"].any()
    figures.draw_error(table)
    figures.draw_spread(spread)


def test_equal_estimates_are_in_no_order():
    table = errors.error_table(_error_rows(gap=0.0), **GRID)
    assert (table["cvs_minus_ose"] == 0).all() and not table["order_holds"].any()


def test_spread_is_compared_within_draws():
    row = one_row(errors.spread_table(_error_rows(), **GRID), sampling="with", axis="points", n_points=10)
    assert [row["sd_cvs"], row["sd_cvr"], row["cvs_minus_cvr"]] == pytest.approx([0.033, 0.023, 0.01])
    assert (
        row["se_cvs_minus_cvr"] == pytest.approx(0, abs=1e-12) and row["cvs_above_cvr"] and row["ratio"] == pytest.approx(33 / 23)
    )


def test_terms_add_up_to_the_variance_of_the_means_and_shares_to_one():
    losses = _losses()
    _, components = _variance_rows(losses)
    row = one_row(estimators.decomposition_table(components, len(losses)))
    assert row["sigma_term"] + row["omega_term"] + row["gamma_term"] == pytest.approx(row["theta"], rel=1e-12)
    assert row["theta"] == pytest.approx(losses.mean(axis=(1, 2)).var(ddof=1), rel=1e-12)
    assert row["sigma_share"] + row["omega_share"] + row["gamma_share"] == pytest.approx(1)
    gamma = np.cov(losses.mean(axis=2), rowvar=False)[np.triu_indices(5, 1)]
    assert row["gamma_spread"] == pytest.approx(gamma.std(ddof=1), rel=1e-12)


def test_covariances_that_are_all_equal_spread_as_much_as_their_noise():
    rng = np.random.default_rng(1)
    spreads = []
    for _ in range(30):
        shared = rng.normal(0.3, 0.04, (400, 8, 1))  # losses of a block vary together, blocks are alike
        losses = (rng.random((400, 8, 10)) < shared).astype(np.uint8)
        spreads.append(one_row(estimators.decomposition_table(_variance_rows(losses)[1], 400)))
    for kind in ("omega", "gamma"):
        spread, noise = (np.sqrt(np.mean([row[f"{kind}_{what}"] ** 2 for row in spreads])) for what in ("spread", "noise"))
        assert spread == pytest.approx(noise, rel=0.12)


def test_noise_needs_two_points_and_two_data_sets():
    assert np.isnan(estimators.covariance_noise(np.ones(3), np.ones(3), 1, 100)).all()
    assert np.isnan(estimators.covariance_noise(np.ones(3), np.ones(3), 5, 1)).all()
    # c_k = 1: two in 200 for a variance, one in 200 for a covariance.
    assert estimators.covariance_noise(np.ones(3), np.ones(3), 5, 201) == pytest.approx((1.25 * 0.1, np.sqrt(0.005)))


def test_every_printed_bias_is_the_measured_one():
    estimates, components = _both_designs()
    table1 = bias_tables.table1_bias(estimates, components, _single_rows())
    assert len(table1) == 4 * (5 + 10 + 4) and table1["holds"].all()
    assert table1["by_formula"].to_numpy() == pytest.approx(table1["bias"].to_numpy(), rel=1e-8, abs=1e-12)
    table2 = bias_tables.table2_bias(estimates, components)
    assert len(table2) == 4 * 5 and table2["holds"].all()
    chosen = bias_tables.proposition1(estimates, components)
    assert chosen["holds"].all() and (chosen[["a1", "a2", "a3"]].sum(axis=1) - chosen["a4"]).to_numpy() == pytest.approx(-1)
    same = chosen.query("chosen == 'ω - 2γ (theta_5)'").merge(
        table2.query("estimator == 'theta_5'"), on=["sampling", "n_points"], suffixes=("", "_5")
    )
    assert same["bias"].to_numpy() == pytest.approx(same["bias_5"].to_numpy()) and len(same) == 4


def test_a_wrong_formula_does_not_hold(monkeypatch):
    wrong = bias_tables.random_block_coefficients
    monkeypatch.setattr(bias_tables, "random_block_coefficients", lambda K, M: wrong(K, M) | {"theta_5": (0.0, 1.0, -1.9, 0.0)})
    table = bias_tables.table2_bias(*_both_designs())
    assert not table[table["estimator"] == "theta_5"]["holds"].any() and table[table["estimator"] != "theta_5"]["holds"].all()
    assert "measured bias in 16 of 20" in tables.bias_grid(table, bias_tables.TABLE2, "").notes[-1]


def test_the_tables_of_biases_have_the_lines_of_the_paper():
    estimates, components = _both_designs(samplings=("with",))
    grid = tables.bias_grid(
        bias_tables.table1_bias(estimates, components, _single_rows(samplings=("with",))), bias_tables.TABLE1, ""
    )
    heads = [row[1].split(" = ")[0] for row in grid.rows if len(row) > 1 and row[1]]
    assert heads == list(bias_tables.TABLE1)
    first = next(row for row in grid.rows if len(row) > 1)
    counts = [int(part.split()[0]) for part in first[-1].split(", ")]
    assert sum(counts) == 5  # sources
    assert to_html(grid) and to_tex(grid)


def test_the_sign_of_a_bias_is_told_by_two_errors():
    rows = pd.DataFrame({"bias": [-3.0, 3.0, 1.0, np.nan], "se_bias": [1.0, 1.0, 1.0, np.nan]})
    assert bias_tables.bias_signs(rows).tolist() == ["too small", "too large", "not shown", "not shown"]


def test_figure_6_has_the_variance_of_the_means_beside_the_means_of_the_estimators():
    estimates, _ = _both_designs()
    table = estimators.figure6_table(estimates)
    assert len(table) == 2 * 2 * 2 * 3 and set(table[table["design"] == "cvr"]["estimator"]) == {"theta_3", "theta_4", "theta_5"}
    part = estimates.query("sampling == 'with' and design == 'cvs' and n_points == 10")
    row = one_row(table, sampling="with", design="cvs", n_points=10, estimator="theta_A")
    assert row["theta"] == pytest.approx(part["mean"].var(ddof=1), rel=1e-12) and row["n_datasets"] == 40
    assert row["average"] == pytest.approx(part["theta_A"].mean(), rel=1e-12)
    assert row["se_average"] == pytest.approx(part["theta_A"].std(ddof=1) / np.sqrt(40), rel=1e-12)


def test_the_error_of_the_true_variance_is_the_spread_of_variances():
    rng = np.random.default_rng(0)
    found = [estimators._variance_and_error(rng.normal(size=200)) for _ in range(300)]
    variances, errors = np.array(found).T
    assert np.sqrt((errors**2).mean()) == pytest.approx(variances.std(), rel=0.12)
    values = rng.random(7)
    leave_one_out = np.array([np.delete(values, i).var(ddof=1) for i in range(7)])
    expected = np.sqrt(6 / 7 * ((leave_one_out - leave_one_out.mean()) ** 2).sum())
    assert estimators._variance_and_error(values) == pytest.approx((values.var(ddof=1), expected), rel=1e-12)
    assert np.isnan(estimators._variance_and_error(np.ones(1))).all() and np.isnan(estimators._variance_and_error(np.ones(2))[1])


def test_an_estimator_is_judged_by_the_formulas_of_its_columns():
    means = np.array([0.1, 0.2, 0.3, 0.4])  # variance 1/60 about .25
    estimates = np.array([0.01, 0.0001, -0.01, 0.04])
    row = estimators.judged(means, estimates, 5)
    theta = 1 / 60
    assert row["theta"] == pytest.approx(theta) and row["average"] == pytest.approx(0.010025)
    assert row["bias"] == pytest.approx(0.010025 - theta) and row["ratio"] == pytest.approx(0.6015)
    assert row["cv"] == pytest.approx(estimates.std(ddof=1) / 0.010025)
    assert row["relative_rmse"] == pytest.approx(np.sqrt(((estimates - theta) ** 2).mean()) / theta)
    assert row["negative"] == 0.25 and row["se_negative"] == pytest.approx(np.sqrt(0.1875 / 4))
    # Half-widths .196, .0196, none, .392 against distances .15, .05, .05, .15: the one below 0 covers nothing though it is near.
    assert row["coverage"] == 0.5 and row["coverage_t"] == 0.5
    assert estimators.judged(means, np.full(4, -1.0), 5)["coverage"] == 0 and np.isnan(
        estimators.judged(means, np.full(4, -1.0), 5)["cv"]
    )


def test_monte_carlo_errors_are_those_of_leaving_one_data_set_out():
    rng = np.random.default_rng(3)
    means, estimates = rng.random(9), rng.random(9) * 0.2
    names = ("average", "bias", "ratio", "cv", "relative_rmse")
    row = estimators.judged(means, estimates, None)
    without = [estimators.judged(np.delete(means, i), np.delete(estimates, i), None) for i in range(9)]
    for name in names:
        values = np.array([one[name] for one in without])
        assert row[f"se_{name}"] == pytest.approx(np.sqrt(8 / 9 * ((values - values.mean()) ** 2).sum()), rel=1e-9)


def test_student_quantiles_have_one_degree_of_freedom_less_than_there_are_blocks():
    means = np.linspace(-1, 1, 201)
    variance = 0.04
    row = estimators.judged(means, np.full(201, variance), 5)
    normal, student = norm.ppf(0.975) * 0.2, student_t.ppf(0.975, 4) * 0.2
    assert row["coverage"] == (np.abs(means) <= normal).mean() and row["coverage_t"] == (np.abs(means) <= student).mean()
    assert row["coverage_t"] > row["coverage"] and np.isnan(estimators.judged(means, means, None)["coverage_t"])


def test_the_number_of_blocks_is_found_in_the_rows():
    estimates, _ = _variance_rows(_losses(K=7))
    assert estimators._n_blocks(estimates) == 7
    assert estimators._n_blocks(estimates.assign(S2=0.0, theta_gamma=0.0)) is None
    table = estimators.estimators_table(estimates)
    student = table["estimator"] == "theta_gamma"
    assert table[student]["coverage_t"].notna().all() and table[~student]["coverage_t"].isna().all()


def test_estimates_that_do_not_exist_are_left_out_and_counted():
    estimates, _ = _variance_rows(_losses(), "cvr")
    some = estimates.copy()
    some.loc[some.index[:10], "theta_5"] = np.nan
    row = one_row(estimators.estimators_table(some), estimator="theta_5")
    kept = estimates["theta_5"][10:]
    assert row["n_undefined"] == 10 and row["n_datasets"] == 40 and row["theta"] == pytest.approx(estimates["mean"].var(ddof=1))
    assert row["average"] == pytest.approx(kept.mean()) and row["negative"] == (kept < 0).mean()
    assert row["ratio"] == pytest.approx(kept.mean() / row["theta"]) and np.isfinite(row["se_ratio"])
    none = estimators.estimators_table(estimates.assign(theta_5=np.nan))
    row = one_row(none, estimator="theta_5")
    assert row[["average", "bias", "ratio", "negative", "coverage", "se_coverage"]].isna().all() and row["n_undefined"] == 40
    grid = tables.estimators_grid(none)
    assert "40 estimates do not exist" in grid.notes[-1] and to_html(grid) and to_tex(grid)
    figure6 = estimators.figure6_table(estimates.assign(theta_5=np.nan))
    assert np.isnan(one_row(figure6, estimator="theta_5")["average"]) and to_html(tables.figure6_grid(figure6))
    figures.draw_estimators(figure6)
    figures.draw_coverage(none)


def test_losses_that_are_all_equal_leave_gaps_and_no_crash():
    losses = np.ones((5, 3, 6), dtype=np.uint8)
    estimates, components = _variance_rows(losses)
    decomposition, table = estimators.decomposition_table(components, 5), estimators.estimators_table(estimates)
    assert decomposition["theta"].item() == 0 and decomposition["sigma_share"].isna().all()
    assert table["ratio"].isna().all() and (table["bias"] == 0).all() and (table["negative"] == 0).all()
    for grid in (
        tables.decomposition_grid(decomposition),
        tables.estimators_grid(table),
        tables.figure6_grid(estimators.figure6_table(estimates)),
    ):
        assert to_html(grid)
    figures.draw_decomposition(decomposition)
    figures.draw_covariances(components, 5)
    figures.draw_coverage(table)


def test_only_random_sources_have_a_coverage_of_the_error_on_a_new_source():
    rows = _model_rows()
    table = estimators.models_table(rows)
    random = table["sources"] == "random"
    assert table[random]["coverage_ose"].notna().all() and table[~random]["coverage_ose"].isna().all()
    part = rows.query("sources == 'random' and design == 'cvs'")
    row = one_row(table, sources="random", design="cvs", estimator="theta_A")
    target = part["out_of_source"].mean()
    covered = np.abs(part["mean"] - target) <= norm.ppf(0.975) * np.sqrt(part["theta_A"])
    assert row["out_of_source"] == pytest.approx(target) and row["coverage_ose"] == covered.mean() and 0 < covered.mean() < 1
    assert row["expected"] == pytest.approx(part["mean"].mean())
    assert row["sigma_share"] == pytest.approx(part["sigma_term"].iloc[0] / part["mean"].var(ddof=1))
    assert one_row(table, sources="random", design="cvs", estimator="theta_gamma")["coverage_ose_t"] > 0
    assert to_html(tables.models_grid(table))


def test_the_exact_table_is_that_of_the_closed_forms():
    table = estimators.mean_predictor_table()
    for M, numbers in {
        10: (2.09727, 0.0643759, 0.00436685, 0.00563809, 0.0743809, 3.1165, 0.8590, 1.7179),
        100: (2.08727, 0.00635390, 0.000478154, 0.000539117, 0.00737117, 23.126, 0.8613, 1.7227),
    }.items():
        row = one_row(table, sources="fixed", n_points=M)
        columns = [
            "mu_cvs",
            "sigma_term",
            "omega_term",
            "gamma_term",
            "theta",
            "ratio_theta_gamma",
            "ratio_theta_A",
            "ratio_theta_B",
        ]
        assert row[columns].tolist() == pytest.approx(numbers, rel=1e-4) and np.isnan(row["out_of_source"])
    for M, numbers in {
        10: (1.285, 1.28889, 1.24091, 0.0516077, 0.9276),
        100: (1.276, 1.27889, 1.22659, 0.0205260, 0.8996),
    }.items():
        row = one_row(table, sources="random", n_points=M)
        assert row[["out_of_source", "mu_cvs", "mu_cvr", "theta", "ratio_theta_gamma"]].tolist() == pytest.approx(
            numbers, rel=1e-4
        )
        assert row[["sigma_term", "omega_term", "gamma_term"]].sum() == pytest.approx(row["theta"], rel=1e-12)
        assert row["mu_cvr"] < row["out_of_source"] < row["mu_cvs"]
    row = one_row(table, sources="iid", n_points=20)
    assert row["theta"] == pytest.approx(0.01018587, rel=1e-6) and row["ratio_theta_5"] * row["theta"] == pytest.approx(
        0.01009518, rel=1e-6
    )
    assert to_html(tables.mean_predictor_grid(table))


def test_sampling_with_one_value_makes_one_row_of_panels():
    table = errors.error_table(_error_rows(samplings=("without",)), **GRID)
    assert set(table["sampling"]) == {"without"}
    figure = figures.draw_error(table)
    assert len(figure.axes) == 2 and figure.axes[0].get_title() == "NB, drawn without replacement"
    estimates, components = _both_designs(samplings=("with",))
    assert len(figures.draw_covariances(components, 40).axes) == 2
    assert len(figures.draw_coverage(estimators.estimators_table(estimates)).axes) == 2


def test_rings_stand_where_the_order_is_not_shown_and_crosses_where_it_is_refuted():
    rows = _error_rows(samplings=("with",))
    rows.loc[rows["n_points"] == 10, "cvs"] -= 0.1
    one = (rows["n_sources"] == 2) & (rows["draw"] == 0)
    rows.loc[one, "cvs"] -= 0.05
    table = errors.error_table(rows, **GRID)
    assert table["order_reversed"].tolist() == [False, False, True, False]
    assert [row[-1] for row in tables.error_grid(table).rows if len(row) > 1] == ["not shown", "yes", "no", "yes"]
    marks = [
        [
            (line.get_marker(), line.get_xdata().tolist())
            for line in axis.lines
            if line.get_linestyle() == "None" and line.get_label()[0] == "C"
        ]
        for axis in figures.draw_error(table).axes
    ]
    crosses = [line for line in figures.draw_error(table).axes[1].lines if line.get_marker() == "X"]
    assert marks == [[("o", [2])], []] and crosses[0].get_xdata().tolist() == [10]


def test_terms_below_zero_are_shown_and_positive_ones_are_on_a_logarithmic_axis():
    _, components = _both_designs(samplings=("with",))
    table = estimators.decomposition_table(components, 40)
    positive = table.assign(omega_term=1e-4, gamma_term=1e-5)
    assert [axis.get_yscale() for axis in figures.draw_decomposition(positive).axes] == ["log", "log"]
    below = figures.draw_decomposition(positive.assign(gamma_term=-1e-4))
    assert [axis.get_yscale() for axis in below.axes] == ["symlog", "symlog"]
    assert below.axes[0].get_ylim()[0] < -1e-4
    assert below.axes[0].get_ylabel().startswith("linear within ±")  # which axis it is stands in words
    assert figures.draw_decomposition(positive).axes[0].get_ylabel() == "logarithmic"


def test_a_mean_below_zero_is_an_arrow_with_its_value_and_leaves_the_axis_to_the_others():
    estimates, _ = _both_designs(samplings=("with",))
    table = estimators.figure6_table(estimates)
    five = (table["estimator"] == "theta_5") & (table["n_points"] == 6)
    axes = figures.draw_estimators(table.assign(average=table["average"].where(~five, -2e-4))).axes
    assert {axis.get_yscale() for axis in axes} == {"log"}
    assert axes[0].get_ylim()[0] == pytest.approx(table["theta"].min() / figures.BELOW_TRUTH)
    assert [[text.get_text() for text in axis.texts] for axis in axes] == [[], ["-2e-04, below 0"]]
    plain = figures.draw_estimators(table.assign(average=table["theta"])).axes
    assert not any(axis.texts for axis in plain)


def test_bars_of_a_coverage_end_at_1_within_the_axis():
    estimates, _ = _both_designs(samplings=("with",))
    table = estimators.estimators_table(estimates).assign(coverage=1.0, se_coverage=0.05, coverage_t=0.99, se_coverage_t=0.05)
    for axis in figures.draw_coverage(table).axes:
        ends = np.concatenate([path.vertices[:, 1] for bars in axis.collections for path in bars.get_paths()])
        assert ends.max() == pytest.approx(1) and axis.get_ylim()[1] > 1.01


def test_every_block_of_the_diagram_has_its_label():
    left, right = figures.draw_blocks(K=3, M=4).axes
    labels = [text.get_text() for text in right.texts]
    assert len(left.texts) == len(labels) == 3 * 3 + 3  # a covariance in every block, and a variance on the diagonal
    assert {r"$\gamma_{12}$", r"$\gamma_{31}$", r"$\omega_{2}$", r"$\sigma_{3}^2$"} <= set(labels)
    assert {text.get_text() for text in left.texts} == {r"$\gamma$", r"$\omega$", r"$\sigma^2$"}


SETTINGS = GRID | {"reviews": "generated", "n_truth": 40, "n_seeds": 4, "n_datasets": 2, "n_simulations": 60, "models": ["stump"]}


def _declared(name):
    """Keys of the items that the study declares for one job."""
    return [key(item) for items in STUDY.items if items.name == name for item in items.items]


def _files(folder, samplings=("with",)):
    """Files of made-up rows, as the measures write them."""
    frames = dict(zip(("estimates", "components"), _both_designs(samplings=samplings, points=(6,))))
    frames["single_source"] = _single_rows(samplings=samplings, points=(6,))
    paths = {kind: [write_table(folder / f"{kind}.parquet", frame, measure.SCHEMAS[kind])] for kind, frame in frames.items()}
    draws = _error_rows().groupby("sampling")
    paths["error"] = [write_table(folder / f"e{n}.parquet", part, measure.SCHEMAS["error"]) for n, (_, part) in enumerate(draws)]
    paths["models"] = [write_table(folder / "models.parquet", _model_rows(), measure_models.SCHEMAS["models"])]
    return SimpleNamespace(**paths), frames


def test_every_declared_table_is_made_from_the_rows(tmp_path):
    paths, frames = _files(tmp_path)
    made = tables.error(SimpleNamespace(rows=paths.error), SETTINGS)
    assert list(made) == _declared("error")
    expected = errors.error_table(_error_rows(), **GRID)
    pd.testing.assert_frame_equal(made["figure2_error"].frame, expected, check_dtype=False)
    made |= tables.variance(paths, SETTINGS)
    assert list(made)[2:] == _declared("variance")
    expected = estimators.estimators_table(frames["estimates"])
    pd.testing.assert_frame_equal(made["estimators"].frame, expected, check_dtype=False)
    models = tables.models(SimpleNamespace(rows=paths.models), SETTINGS)
    assert list(models) == _declared("models")
    assert all(len(shown.frame) and to_html(shown.grid) and to_tex(shown.grid) for shown in (made | models).values())


def test_every_declared_figure_is_drawn_from_the_rows(tmp_path):
    made = figures.figures(_files(tmp_path)[0], SETTINGS)
    assert list(made) == _declared("figures")


def test_without_models_there_is_the_exact_table_alone():
    made = tables.models(SimpleNamespace(rows=[]), SETTINGS | {"models": []})
    assert list(made) == ["mean_predictor"]
    (table,) = [item for items in STUDY.items for item in items.items if item.name == "models"]
    assert table.when(SimpleNamespace(settings={"models": ["stump"]})) and not table.when(
        SimpleNamespace(settings={"models": []})
    )


@pytest.mark.parametrize(("reviews", "words"), [("amazon", "those of Amazon"), ("generated", "generated by a model")])
def test_captions_of_the_estimates_say_whose_reviews_they_are(tmp_path, reviews, words):
    paths, settings = _files(tmp_path)[0], SETTINGS | {"reviews": reviews}
    made = tables.error(SimpleNamespace(rows=paths.error), settings) | figures.figures(paths, settings)
    for items in STUDY.items:
        for item in items.items:
            if item.name == "figure2_error":
                text = caption_text({"title": item.title, "caption": item.caption}, settings | made[key(item)].words)
                assert words in text and "4 draws of domains with 2 data sets" in text
