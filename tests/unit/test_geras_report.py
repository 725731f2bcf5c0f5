from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import norm
from scipy.stats import t as student_t

import measure_source_error
import measure_source_model
import measure_source_variance
import tabulate_source_error
import tabulate_source_models
import tabulate_source_variance
from foldshift.inference.variance import ESTIMATORS, cv_variance, variance_components
from foldshift.reporting import geras_2013 as report
from foldshift.reporting import geras_2013_figures as figures
from foldshift.reporting.tables import to_html, to_tex

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
    return pd.DataFrame(rows, columns=measure_source_error.SCHEMA.names)


def _losses(R=40, K=5, M=6, seed=0):
    """0/1 losses whose sources differ."""
    rng = np.random.default_rng(seed)
    return (rng.random((R, K, M)) < np.linspace(0.1, 0.6, K)[:, None]).astype(np.uint8)


def _variance_rows(losses, design="cvs", learner="NB", sampling="with"):
    found = cv_variance(losses)
    keys = {"learner": learner, "sampling": sampling, "n_points": losses.shape[2], "design": design}
    names = ("mean", "W", "S2", *ESTIMATORS)
    estimates = pd.DataFrame({"dataset": range(len(losses))} | {name: getattr(found, name) for name in names}).assign(**keys)
    components = pd.DataFrame(
        measure_source_variance.component_rows(variance_components(losses, design)), columns=["kind", "k", "l", "value"]
    )
    return estimates[measure_source_variance.ESTIMATES.names], components.assign(**keys)[measure_source_variance.COMPONENTS.names]


def _both_designs(samplings=("with", "without"), points=(6, 10), R=40):
    parts = [
        _variance_rows(_losses(R=R, M=m, seed=m + 100 * (design == "cvr")), design, sampling=sampling)
        for sampling in samplings
        for m in points
        for design in ("cvs", "cvr")
    ]
    return [pd.concat(frames, ignore_index=True) for frames in zip(*parts)]


def _model_rows(kinds=("iid", "random"), R=60):
    parts = []
    for kind in kinds:
        for design in ("cvs", "cvr"):
            losses = _losses(R=R, seed=len(kind))
            estimates, _ = _variance_rows(losses, design)
            known = {"model": "stump", "sources": kind, "out_of_source": 0.35 + 0.01 * np.cos(np.arange(R))}
            parts.append(estimates.assign(**known, sigma_term=variance_components(losses, design).sigma_term))
    return pd.concat(parts, ignore_index=True)[measure_source_model.SCHEMA.names]


def _row(table, **keys):
    for name, value in keys.items():
        table = table[table[name] == value]
    assert len(table) == 1
    return table.iloc[0]


def _write(path, frame, schema):
    pq.write_table(pa.Table.from_pandas(frame, schema=schema, preserve_index=False), path)
    return path


def test_means_and_paired_differences_have_the_errors_of_the_textbook():
    table = report.error_table(_error_rows(), **GRID)
    row = _row(table, sampling="with", axis="sources", n_sources=2)
    assert [row["cvs"], row["out_of_source"], row["cvr"]] == pytest.approx([0.395, 0.375, 0.355]) and row["n_draws"] == 4
    assert row["se_out_of_source"] == pytest.approx(np.std([0.3, 0.35, 0.4, 0.45], ddof=1) / 2)
    steps = [0.015, 0.025, 0.015, 0.025]
    assert [row["cvs_minus_ose"], row["ose_minus_cvr"]] == pytest.approx([0.02, 0.02])
    assert [row["se_cvs_minus_ose"], row["se_ose_minus_cvr"]] == pytest.approx([np.std(steps, ddof=1) / 2] * 2)
    # The draws differ by far more than the gap: only the pairing shows the order.
    assert row["se_out_of_source"] > row["cvs_minus_ose"] and row["order_holds"] and row["draws_in_order"] == 1


def test_both_axes_share_the_point_where_they_cross():
    table = report.error_table(_error_rows(), **GRID)
    assert list(zip(table["axis"], table["n_sources"], table["n_points"]))[:4] == [
        ("sources", 2, 20), ("sources", 3, 20), ("points", 3, 10), ("points", 3, 20),
    ]  # fmt: skip
    assert len(table) == 8 and table["sampling"].tolist() == ["with"] * 4 + ["without"] * 4
    assert "at 6 of 6 points" in report.order_notes(table)[0] and len(report.order_notes(table)) == 1


def test_the_point_where_the_axes_would_cross_need_not_be_measured():
    rows = _error_rows()
    grid = {"n_sources": [2], "n_points": [10], "held_fixed": GRID["held_fixed"]}
    table = report.error_table(rows[~((rows["n_sources"] == 3) & (rows["n_points"] == 20))], **grid)
    assert len(table) == 4 and (table["n_draws"] == 4).all()


def test_one_draw_against_the_order_does_not_undo_a_clear_mean_and_is_counted():
    rows = _error_rows(n_draws=20)
    one = (rows["n_sources"] == 2) & (rows["draw"] == 0) & (rows["sampling"] == "with")
    rows.loc[one, "cvs"] = rows.loc[one, "out_of_source"] - 0.001
    row = _row(report.error_table(rows, **GRID), sampling="with", axis="sources", n_sources=2)
    assert row["order_holds"] and row["draws_in_order"] == 0.95


def test_a_mean_in_order_by_less_than_two_errors_is_not_called_in_order():
    rows = _error_rows(n_draws=4)
    one = (rows["n_sources"] == 2) & (rows["draw"] == 0) & (rows["sampling"] == "with")
    rows.loc[one, "cvs"] = rows.loc[one, "out_of_source"] - 0.03
    table = report.error_table(rows, **GRID)
    row = _row(table, sampling="with", axis="sources", n_sources=2)
    assert row["cvs_minus_ose"] > 0 and not row["cvs_above_ose"] and row["ose_above_cvr"] and not row["order_holds"]
    notes = report.order_notes(table)
    assert "at 5 of 6 points" in notes[0]
    assert notes[1:] == ["NB, drawn with replacement: not above 0 by two errors: CVS - OSE at (K, M) = (2, 20)."]


def test_the_opposite_order_is_said_with_its_size():
    rows = _error_rows(samplings=("with",))
    wrong = rows["n_points"] == 10
    rows.loc[wrong, "cvr"] = rows.loc[wrong, "out_of_source"] + 0.01
    table = report.error_table(rows, **GRID)
    row = _row(table, axis="points", n_points=10)
    assert (
        row["se_ose_minus_cvr"] == pytest.approx(0, abs=1e-12)
        and row["order_reversed"]
        and not row["order_holds"]
        and row["draws_in_order"] == 0
    )
    assert report.order_notes(table)[1] == (
        "NB, drawn with replacement: the other way round by two errors: OSE - CVR = -0.0100 ± 0.0000 at K = 3, M = 10."
    )


def test_one_draw_has_no_error_and_shows_nothing():
    table = report.error_table(_error_rows(n_draws=1), **GRID)
    assert table["se_cvs"].isna().all() and not table["order_holds"].any() and (table["draws_in_order"] == 1).all()
    grid = report.error_grid(table)
    assert "One draw has no standard error" in grid.notes[0] and "± –" in to_html(grid)
    spread = report.spread_table(_error_rows(n_draws=1), **GRID)
    assert spread["se_sd_cvs"].isna().all() and not spread["cvs_above_cvr"].any()
    figures.draw_error(table)
    figures.draw_spread(spread)


def test_equal_estimates_are_in_no_order():
    table = report.error_table(_error_rows(gap=0.0), **GRID)
    assert (table["cvs_minus_ose"] == 0).all() and not table["order_holds"].any()


def test_spread_is_compared_within_draws():
    row = _row(report.spread_table(_error_rows(), **GRID), sampling="with", axis="points", n_points=10)
    assert [row["sd_cvs"], row["sd_cvr"], row["cvs_minus_cvr"]] == pytest.approx([0.033, 0.023, 0.01])
    assert (
        row["se_cvs_minus_cvr"] == pytest.approx(0, abs=1e-12) and row["cvs_above_cvr"] and row["ratio"] == pytest.approx(33 / 23)
    )


def test_terms_add_up_to_the_variance_of_the_means_and_shares_to_one():
    losses = _losses()
    _, components = _variance_rows(losses)
    row = _row(report.decomposition_table(components, len(losses)))
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
        spreads.append(_row(report.decomposition_table(_variance_rows(losses)[1], 400)))
    for kind in ("omega", "gamma"):
        spread, noise = (np.sqrt(np.mean([row[f"{kind}_{what}"] ** 2 for row in spreads])) for what in ("spread", "noise"))
        assert spread == pytest.approx(noise, rel=0.12)


def test_noise_needs_two_points_and_two_data_sets():
    assert np.isnan(report.covariance_noise(np.ones(3), np.ones(3), 1, 100)).all()
    assert np.isnan(report.covariance_noise(np.ones(3), np.ones(3), 5, 1)).all()
    # c_k = 1: two in 200 for a variance, one in 200 for a covariance.
    assert report.covariance_noise(np.ones(3), np.ones(3), 5, 201) == pytest.approx((1.25 * 0.1, np.sqrt(0.005)))


def test_figure_6_has_the_variance_of_the_means_beside_the_means_of_the_estimators():
    estimates, _ = _both_designs()
    table = report.figure6_table(estimates)
    assert len(table) == 2 * 2 * 2 * 3 and set(table[table["design"] == "cvr"]["estimator"]) == {"theta_3", "theta_4", "theta_5"}
    part = estimates.query("sampling == 'with' and design == 'cvs' and n_points == 10")
    row = _row(table, sampling="with", design="cvs", n_points=10, estimator="theta_A")
    assert row["theta"] == pytest.approx(part["mean"].var(ddof=1), rel=1e-12) and row["n_datasets"] == 40
    assert row["average"] == pytest.approx(part["theta_A"].mean(), rel=1e-12)
    assert row["se_average"] == pytest.approx(part["theta_A"].std(ddof=1) / np.sqrt(40), rel=1e-12)


def test_the_error_of_the_true_variance_is_the_spread_of_variances():
    rng = np.random.default_rng(0)
    found = [report._variance_and_error(rng.normal(size=200)) for _ in range(300)]
    variances, errors = np.array(found).T
    assert np.sqrt((errors**2).mean()) == pytest.approx(variances.std(), rel=0.12)
    values = rng.random(7)
    leave_one_out = np.array([np.delete(values, i).var(ddof=1) for i in range(7)])
    expected = np.sqrt(6 / 7 * ((leave_one_out - leave_one_out.mean()) ** 2).sum())
    assert report._variance_and_error(values) == pytest.approx((values.var(ddof=1), expected), rel=1e-12)
    assert np.isnan(report._variance_and_error(np.ones(1))).all() and np.isnan(report._variance_and_error(np.ones(2))[1])


def test_an_estimator_is_judged_by_the_formulas_of_its_columns():
    means = np.array([0.1, 0.2, 0.3, 0.4])  # variance 1/60 about .25
    estimates = np.array([0.01, 0.0001, -0.01, 0.04])
    row = report.judged(means, estimates, 5)
    theta = 1 / 60
    assert row["theta"] == pytest.approx(theta) and row["average"] == pytest.approx(0.010025)
    assert row["bias"] == pytest.approx(0.010025 - theta) and row["ratio"] == pytest.approx(0.6015)
    assert row["cv"] == pytest.approx(estimates.std(ddof=1) / 0.010025)
    assert row["relative_rmse"] == pytest.approx(np.sqrt(((estimates - theta) ** 2).mean()) / theta)
    assert row["negative"] == 0.25 and row["se_negative"] == pytest.approx(np.sqrt(0.1875 / 4))
    # Half-widths .196, .0196, none, .392 against distances .15, .05, .05, .15: the one below 0 covers nothing though it is near.
    assert row["coverage"] == 0.5 and row["coverage_t"] == 0.5
    assert report.judged(means, np.full(4, -1.0), 5)["coverage"] == 0 and np.isnan(
        report.judged(means, np.full(4, -1.0), 5)["cv"]
    )


def test_monte_carlo_errors_are_those_of_leaving_one_data_set_out():
    rng = np.random.default_rng(3)
    means, estimates = rng.random(9), rng.random(9) * 0.2
    names = ("average", "bias", "ratio", "cv", "relative_rmse")
    row = report.judged(means, estimates, None)
    without = [report.judged(np.delete(means, i), np.delete(estimates, i), None) for i in range(9)]
    for name in names:
        values = np.array([one[name] for one in without])
        assert row[f"se_{name}"] == pytest.approx(np.sqrt(8 / 9 * ((values - values.mean()) ** 2).sum()), rel=1e-9)


def test_student_quantiles_have_one_degree_of_freedom_less_than_there_are_blocks():
    means = np.linspace(-1, 1, 201)
    variance = 0.04
    row = report.judged(means, np.full(201, variance), 5)
    normal, student = norm.ppf(0.975) * 0.2, student_t.ppf(0.975, 4) * 0.2
    assert row["coverage"] == (np.abs(means) <= normal).mean() and row["coverage_t"] == (np.abs(means) <= student).mean()
    assert row["coverage_t"] > row["coverage"] and np.isnan(report.judged(means, means, None)["coverage_t"])


def test_the_number_of_blocks_is_found_in_the_rows():
    estimates, _ = _variance_rows(_losses(K=7))
    assert report._n_blocks(estimates) == 7
    assert report._n_blocks(estimates.assign(S2=0.0, theta_gamma=0.0)) is None
    table = report.estimators_table(estimates)
    student = table["estimator"] == "theta_gamma"
    assert table[student]["coverage_t"].notna().all() and table[~student]["coverage_t"].isna().all()


def test_estimates_that_do_not_exist_are_left_out_and_counted():
    estimates, _ = _variance_rows(_losses(), "cvr")
    some = estimates.copy()
    some.loc[some.index[:10], "theta_5"] = np.nan
    row = _row(report.estimators_table(some), estimator="theta_5")
    kept = estimates["theta_5"][10:]
    assert row["n_undefined"] == 10 and row["n_datasets"] == 40 and row["theta"] == pytest.approx(estimates["mean"].var(ddof=1))
    assert row["average"] == pytest.approx(kept.mean()) and row["negative"] == (kept < 0).mean()
    assert row["ratio"] == pytest.approx(kept.mean() / row["theta"]) and np.isfinite(row["se_ratio"])
    none = report.estimators_table(estimates.assign(theta_5=np.nan))
    row = _row(none, estimator="theta_5")
    assert row[["average", "bias", "ratio", "negative", "coverage", "se_coverage"]].isna().all() and row["n_undefined"] == 40
    grid = report.estimators_grid(none)
    assert "40 estimates do not exist" in grid.notes[-1] and to_html(grid) and to_tex(grid)
    figure6 = report.figure6_table(estimates.assign(theta_5=np.nan))
    assert np.isnan(_row(figure6, estimator="theta_5")["average"]) and to_html(report.figure6_grid(figure6))
    figures.draw_estimators(figure6)
    figures.draw_coverage(none)


def test_losses_that_are_all_equal_leave_gaps_and_no_crash():
    losses = np.ones((5, 3, 6), dtype=np.uint8)
    estimates, components = _variance_rows(losses)
    decomposition, table = report.decomposition_table(components, 5), report.estimators_table(estimates)
    assert decomposition["theta"].item() == 0 and decomposition["sigma_share"].isna().all()
    assert table["ratio"].isna().all() and (table["bias"] == 0).all() and (table["negative"] == 0).all()
    for grid in (
        report.decomposition_grid(decomposition),
        report.estimators_grid(table),
        report.figure6_grid(report.figure6_table(estimates)),
    ):
        assert to_html(grid)
    figures.draw_decomposition(decomposition)
    figures.draw_covariances(components, 5)
    figures.draw_coverage(table)


def test_only_random_sources_have_a_coverage_of_the_error_on_a_new_source():
    rows = _model_rows()
    table = report.models_table(rows)
    random = table["sources"] == "random"
    assert table[random]["coverage_ose"].notna().all() and table[~random]["coverage_ose"].isna().all()
    part = rows.query("sources == 'random' and design == 'cvs'")
    row = _row(table, sources="random", design="cvs", estimator="theta_A")
    target = part["out_of_source"].mean()
    covered = np.abs(part["mean"] - target) <= norm.ppf(0.975) * np.sqrt(part["theta_A"])
    assert row["out_of_source"] == pytest.approx(target) and row["coverage_ose"] == covered.mean() and 0 < covered.mean() < 1
    assert row["expected"] == pytest.approx(part["mean"].mean())
    assert row["sigma_share"] == pytest.approx(part["sigma_term"].iloc[0] / part["mean"].var(ddof=1))
    assert _row(table, sources="random", design="cvs", estimator="theta_gamma")["coverage_ose_t"] > 0
    assert to_html(report.models_grid(table))


def test_the_exact_table_is_that_of_the_closed_forms():
    table = report.mean_predictor_table()
    for M, numbers in {
        10: (2.09727, 0.0643759, 0.00436685, 0.00563809, 0.0743809, 3.1165, 0.8590, 1.7179),
        100: (2.08727, 0.00635390, 0.000478154, 0.000539117, 0.00737117, 23.126, 0.8613, 1.7227),
    }.items():
        row = _row(table, sources="fixed", n_points=M)
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
        row = _row(table, sources="random", n_points=M)
        assert row[["out_of_source", "mu_cvs", "mu_cvr", "theta", "ratio_theta_gamma"]].tolist() == pytest.approx(
            numbers, rel=1e-4
        )
        assert row[["sigma_term", "omega_term", "gamma_term"]].sum() == pytest.approx(row["theta"], rel=1e-12)
        assert row["mu_cvr"] < row["out_of_source"] < row["mu_cvs"]
    row = _row(table, sources="iid", n_points=20)
    assert row["theta"] == pytest.approx(0.01018587, rel=1e-6) and row["ratio_theta_5"] * row["theta"] == pytest.approx(
        0.01009518, rel=1e-6
    )
    assert to_html(report.mean_predictor_grid(table))


def test_sampling_with_one_value_makes_one_row_of_panels():
    table = report.error_table(_error_rows(samplings=("without",)), **GRID)
    assert set(table["sampling"]) == {"without"}
    figure = figures.draw_error(table)
    assert len(figure.axes) == 2 and figure.axes[0].get_title() == "NB, drawn without replacement"
    estimates, components = _both_designs(samplings=("with",))
    assert len(figures.draw_covariances(components, 40).axes) == 2
    assert len(figures.draw_coverage(report.estimators_table(estimates)).axes) == 2


def test_rings_stand_where_the_order_is_not_shown_and_crosses_where_it_is_refuted():
    rows = _error_rows(samplings=("with",))
    rows.loc[rows["n_points"] == 10, "cvs"] -= 0.1
    one = (rows["n_sources"] == 2) & (rows["draw"] == 0)
    rows.loc[one, "cvs"] -= 0.05
    table = report.error_table(rows, **GRID)
    assert table["order_reversed"].tolist() == [False, False, True, False]
    assert [row[-1] for row in report.error_grid(table).rows if len(row) > 1] == ["not shown", "yes", "no", "yes"]
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
    table = report.decomposition_table(components, 40)
    positive = table.assign(omega_term=1e-4, gamma_term=1e-5)
    assert [axis.get_yscale() for axis in figures.draw_decomposition(positive).axes] == ["log", "log"]
    below = figures.draw_decomposition(positive.assign(gamma_term=-1e-4))
    assert [axis.get_yscale() for axis in below.axes] == ["symlog", "symlog"]
    assert below.axes[0].get_ylim()[0] < -1e-4


def test_every_block_of_the_diagram_has_its_label():
    left, right = figures.draw_blocks(K=3, M=4).axes
    labels = [text.get_text() for text in right.texts]
    assert len(left.texts) == len(labels) == 3 * 3 + 3  # a covariance in every block, and a variance on the diagonal
    assert {r"$\gamma_{12}$", r"$\gamma_{31}$", r"$\omega_{2}$", r"$\sigma_{3}^2$"} <= set(labels)
    assert {text.get_text() for text in left.texts} == {r"$\gamma$", r"$\omega$", r"$\sigma^2$"}


def test_the_jobs_write_every_table_and_figure_of_the_rules(tmp_path):
    rows = _error_rows()
    paths = [
        _write(tmp_path / f"e{n}.parquet", part, measure_source_error.SCHEMA)
        for n, (_, part) in enumerate(rows.groupby("sampling"))
    ]
    output = {
        "error": "figure2_error.html",
        "spread": "figure3_spread.html",
        "error_figure": "figure2_error.svg",
        "spread_figure": "figure3_spread.svg",
    }
    _run(tabulate_source_error, tmp_path, {"rows": paths}, output, GRID)
    found = pd.read_csv(tmp_path / "figure2_error.csv")
    pd.testing.assert_frame_equal(found, report.error_table(rows, **GRID), check_dtype=False, rtol=1e-8)

    frames = _both_designs(samplings=("with",), points=(6,))
    paths = {
        name: [_write(tmp_path / f"{name}.parquet", frame, schema)]
        for name, frame, schema in zip(
            ("estimates", "components"), frames, (measure_source_variance.ESTIMATES, measure_source_variance.COMPONENTS)
        )
    }
    output = {
        "decomposition": "figure4_decomposition.html",
        "figure6": "figure6_estimators.html",
        "estimators": "estimators.html",
    }
    output |= {"decomposition_figure": "figure4_decomposition.svg", "covariances_figure": "figure5_covariances.svg"}
    output |= {"figure6_figure": "figure6_estimators.svg", "coverage_figure": "coverage.svg"}
    _run(tabulate_source_variance, tmp_path, paths, output, {"n_truth": 40})
    found = pd.read_csv(tmp_path / "estimators.csv")
    pd.testing.assert_frame_equal(found, report.estimators_table(frames[0]), check_dtype=False, rtol=1e-8, atol=1e-12)

    path = _write(tmp_path / "models.parquet", _model_rows(), measure_source_model.SCHEMA)
    output = {"exact": "mean_predictor.html", "models": "models.html", "blocks": "figure1_blocks.svg"}
    _run(tabulate_source_models, tmp_path, {"rows": [path]}, output, {"models": ["stump"]})
    names = {path.name for path in tmp_path.iterdir()}
    for table in (
        "figure2_error",
        "figure3_spread",
        "figure4_decomposition",
        "figure6_estimators",
        "estimators",
        "models",
        "mean_predictor",
    ):
        assert {f"{table}.{form}" for form in ("csv", "html", "tex")} <= names
    for figure in (
        "figure1_blocks",
        "figure2_error",
        "figure3_spread",
        "figure4_decomposition",
        "figure5_covariances",
        "figure6_estimators",
        "coverage",
    ):
        assert {f"{figure}.{form}" for form in ("svg", "pdf", "png")} <= names


def test_without_models_there_are_the_exact_table_and_the_diagram(tmp_path):
    output = {"exact": "mean_predictor.html", "blocks": "figure1_blocks.svg"}
    _run(tabulate_source_models, tmp_path, {"rows": []}, output, {"models": []})
    assert (tmp_path / "mean_predictor.csv").exists() and (tmp_path / "figure1_blocks.png").exists()
    assert not (tmp_path / "models.html").exists()


def _run(script, folder, inputs, output, settings):
    script.main(
        SimpleNamespace(
            input=SimpleNamespace(**inputs),
            output=SimpleNamespace(**{name: folder / file for name, file in output.items()}),
            params=SimpleNamespace(settings=settings),
        )
    )
