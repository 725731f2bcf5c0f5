from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from foldshift.reporting.table_grid import to_html
from foldshift.studies.moreno_torres_2012.figures import draw_bias
from foldshift.studies.moreno_torres_2012.heldout_tables import agreement_grid, agreement_table, bias_grid, bias_table, heldout

PARTITIONERS, LEARNERS, SCHEMES = ["SCV", "DB-SCV"], ["a", "b", "c"], {2: 5, 5: 2}
KEYS = SCHEMES, PARTITIONERS, LEARNERS
BIAS = {("SCV", 2): 0.0, ("DB-SCV", 2): 0.04, ("SCV", 5): 0.0, ("DB-SCV", 5): 0.02}


def _rows(n_populations=6, n_replicates=8, noise=0.0, seed=0):
    """Learner a is better than b, b than c, everywhere; DB-SCV promises too much."""
    rng = np.random.default_rng(seed)
    rows = []
    for population in range(n_populations):
        for replicate in range(n_replicates):
            for i, learner in enumerate(LEARNERS):
                part = 0.9 - (0.1 + 0.01 * population) * i
                for (partitioner, k), bias in BIAS.items():
                    estimate = part + bias + noise * rng.normal()
                    rows.append((f"p{population}", replicate, learner, partitioner, k, estimate, part, part + 0.03))
    columns = ["population", "replicate", "learner", "partitioner", "k", "estimate", "truth_part", "truth_whole"]
    return pd.DataFrame(rows, columns=columns)


def _row(table, **keys):
    for name, value in keys.items():
        table = table[table[name] == value]
    return table.iloc[0] if len(table) == 1 else table


def test_a_constant_bias_is_found_exactly_with_error_zero():
    table = bias_table(_rows(), *KEYS)
    assert len(table) == 2 * 2 * 4 * 2
    row = _row(table, truth="part", scheme="2x5", learner="all", partitioner="DB-SCV")
    assert [row["bias"], row["rmse"], row["vs_scv"]] == pytest.approx([0.04] * 3)
    assert [row["standard_error"], row["replicate_error"], row["std"], row["vs_scv_error"]] == pytest.approx([0] * 4, abs=1e-12)
    assert row["estimate"] - row["held_out"] == pytest.approx(0.04) and row["n_populations"] == 6 and row["n_replicates"] == 8
    row = _row(table, truth="whole", scheme="5x2", learner="b", partitioner="DB-SCV")
    assert row["bias"] == pytest.approx(0.02 - 0.03) and row["rmse"] == pytest.approx(0.01)
    assert np.isnan(_row(table, truth="part", scheme="2x5", learner="all", partitioner="SCV")["vs_scv"])


def test_errors_are_those_of_the_textbook():
    rows = _rows(noise=0.02)
    table = bias_table(rows, *KEYS)
    part = rows[(rows["k"] == 2) & (rows["partitioner"] == "DB-SCV") & (rows["learner"] == "b")]
    gap = (part["estimate"] - part["truth_part"]).to_numpy().reshape(6, 8)
    row = _row(table, truth="part", scheme="2x5", learner="b", partitioner="DB-SCV")
    assert row["bias"] == pytest.approx(gap.mean())
    assert row["standard_error"] == pytest.approx(gap.mean(axis=1).std(ddof=1) / np.sqrt(6))
    assert row["replicate_error"] == pytest.approx(np.sqrt((gap.var(axis=1, ddof=1) / 8).sum()) / 6)
    assert row["rmse"] == pytest.approx(np.sqrt((gap**2).mean())) and row["std"] == pytest.approx(
        np.sqrt(gap.var(axis=1, ddof=1).mean())
    )
    each = [_row(table, truth="part", scheme="2x5", learner=name, partitioner="DB-SCV") for name in LEARNERS]
    total = _row(table, truth="part", scheme="2x5", learner="all", partitioner="DB-SCV")
    assert total["bias"] == pytest.approx(np.mean([one["bias"] for one in each]))
    assert total["rmse"] == pytest.approx(np.sqrt(np.mean([one["rmse"] ** 2 for one in each])))


def test_the_standard_error_is_the_spread_of_the_bias_over_repeated_studies():
    found = [
        bias_table(_rows(n_replicates=3, noise=0.05, seed=seed), {2: 5}, PARTITIONERS, LEARNERS).iloc[0] for seed in range(200)
    ]
    spread = np.std([row["bias"] for row in found])
    assert np.sqrt(np.mean([row["standard_error"] ** 2 for row in found])) == pytest.approx(spread, rel=0.15)
    assert np.mean([row["replicate_error"] for row in found]) == pytest.approx(spread, rel=0.15)


def test_populations_weigh_the_same_whatever_was_lost_in_them():
    rows = _rows()
    first = (rows["population"] == "p0") & (rows["partitioner"] == "DB-SCV") & (rows["k"] == 2)
    rows.loc[first, "estimate"] += 0.06  # p0 is off by 0.1
    rows.loc[first & (rows["replicate"] > 0), "estimate"] = np.nan  # and has one replicate left
    table = bias_table(rows, *KEYS)
    row = _row(table, truth="part", scheme="2x5", learner="a", partitioner="DB-SCV")
    assert row["bias"] == pytest.approx((0.1 + 5 * 0.04) / 6) and row["n_failed"] == 7 and row["n_populations"] == 6
    rows.loc[first, "estimate"] = np.nan
    table = bias_table(rows, *KEYS)
    for name, bias in (("SCV", 0.0), ("DB-SCV", 0.04)):  # both rest on what both have
        row = _row(table, truth="part", scheme="2x5", learner="all", partitioner=name)
        assert row["n_populations"] == 5 and row["bias"] == pytest.approx(bias, abs=1e-12)
    assert "48 values were lost" in bias_grid(table).notes[0]  # 24 estimates, under both truths


def test_the_columns_of_a_row_stay_together_whatever_their_order():
    rows = _rows(noise=0.02)
    shuffled = rows.sample(frac=1, random_state=0)
    order = {name: i for i, name in enumerate(dict.fromkeys(rows["population"]))}
    shuffled = shuffled.sort_values("population", key=lambda column: column.map(order), kind="stable")
    pd.testing.assert_frame_equal(bias_table(shuffled, *KEYS), bias_table(rows, *KEYS))
    turned = bias_table(rows, SCHEMES, PARTITIONERS[::-1], LEARNERS[::-1])
    keys = ["truth", "scheme", "learner", "partitioner"]
    pd.testing.assert_frame_equal(
        turned.set_index(keys).sort_index(), bias_table(rows, *KEYS).set_index(keys).sort_index(), check_like=True
    )


def test_experiments_without_noise_agree_always_and_those_that_are_noise_hardly_ever():
    table = agreement_table(_rows(), *KEYS)
    assert (table["percent"] == 100).all() and (table["standard_error"] == 0).all() and (table["n_pairs"] == 3).all()
    assert (
        len(table) == 2 * 2 * 3 * 2
        and table["scheme"].unique().tolist() == ["2x5", "5x2", "Average"]
        and (table["opposite_percent"] == 0).all()
    )
    noisy = agreement_table(_rows(noise=3.0), *KEYS)
    assert noisy["percent"].max() < 15


def test_differences_from_scv_are_paired_and_zero_for_a_bias_that_all_learners_share():
    rows = _rows(noise=0.08)
    for k, bias in ((2, 0.04), (5, 0.02)):  # DB-SCV: SCV's estimates plus a constant
        scv = rows[(rows["partitioner"] == "SCV") & (rows["k"] == k)]["estimate"].to_numpy()
        rows.loc[(rows["partitioner"] == "DB-SCV") & (rows["k"] == k), "estimate"] = scv + bias
    table = agreement_table(rows, *KEYS)
    part = table[table["partitioner"] == "DB-SCV"]
    assert (part[["vs_scv", "vs_scv_error"]] == 0).all(axis=None) and part["percent"].between(1, 99).all()
    assert part["standard_error"].max() > 0


def test_the_truth_of_the_same_sample_forgives_the_luck_of_the_sample():
    rows = _rows()
    for _, part in rows.groupby(["population", "replicate", "learner"]):  # samples differ, their estimates are right
        luck = 0.3 * np.random.default_rng(part.index[0]).normal()
        rows.loc[part.index, ["estimate", "truth_part", "truth_whole"]] += luck
    table = (
        agreement_table(rows, *KEYS).query("truth == 'part' and scheme == '2x5' and partitioner == 'SCV'").set_index("truth_of")
    )
    assert table["percent"]["sample"] == 100 and table["percent"]["population"] < 60
    one = rows[rows["replicate"] == 3]  # a single replicate is its own mean
    alone = agreement_table(one, *KEYS).drop(columns="truth_of")
    halves = alone.iloc[:6], alone.iloc[6:12]
    pd.testing.assert_frame_equal(halves[0].reset_index(drop=True), halves[1].reset_index(drop=True), check_dtype=False)


def test_an_opposite_result_does_not_count_as_agreement():
    rows = _rows()
    db = rows["partitioner"] == "DB-SCV"
    rows.loc[db, "estimate"] = 1.5 - rows.loc[db, "estimate"]
    table = agreement_table(rows, *KEYS)
    part = table[table["partitioner"] == "DB-SCV"]
    assert (part["percent"] == 0).all() and (part["opposite_percent"] == 100).all()


def test_one_population_one_replicate_and_equal_learners_leave_gaps_and_no_crash():
    rows = _rows(n_populations=1, n_replicates=1)
    table, agreement = bias_table(rows, *KEYS), agreement_table(rows, *KEYS)
    assert table["bias"].notna().all() and table["standard_error"].isna().all() and agreement["percent"].isna().all()
    assert "± –" in to_html(bias_grid(table)) and to_html(agreement_grid(agreement))
    draw_bias(table)
    equal = _rows()
    equal[["estimate", "truth_part", "truth_whole"]] = 0.7
    assert (agreement_table(equal, *KEYS)["n_pairs"] == 0).all()


def test_a_learner_that_never_works_leaves_an_empty_row():
    rows = _rows()
    rows.loc[rows["learner"] == "c", ["estimate", "truth_part"]] = np.nan
    table = bias_table(rows, *KEYS)
    row = _row(table, truth="part", scheme="2x5", learner="c", partitioner="SCV")
    assert np.isnan(row["bias"]) and np.isnan(row["rmse"]) and row["n_populations"] == 0 and row["n_failed"] == 48
    assert _row(table, truth="part", scheme="2x5", learner="all", partitioner="DB-SCV")["bias"] == pytest.approx(0.04)
    assert to_html(bias_grid(table))
    assert (agreement_table(rows, *KEYS).query("truth == 'part'")["n_pairs"] == 1).all()


def test_printed_cells_mark_what_is_further_from_zero_than_two_errors():
    grid = bias_grid(bias_table(_rows(noise=0.01), *KEYS))
    headings = [row[0] for row in grid.rows if len(row) == 1]
    assert len(headings) == 4 and grid.header == ["Classifier", "2x5 SCV", "2x5 DB-SCV", "5x2 SCV", "5x2 DB-SCV"]
    scv, db = grid.rows[1][1:3]
    assert grid.rows[1][0] == "all" and db.bold and not scv.bold and db.text.startswith("+0.04")
    assert grid.rows[6][1].underline and not grid.rows[6][2].underline  # the smaller error of the scheme


def test_the_figure_has_a_dot_with_error_bars_for_every_partitioner_scheme_and_truth():
    figure = draw_bias(bias_table(_rows(noise=0.01), *KEYS))
    for axis, shift in zip(figure.axes, (0.0, -0.03)):
        assert len(axis.containers) == 2  # partitioners
        dots = [container.lines[0].get_xdata() for container in axis.containers]
        assert np.asarray(dots) == pytest.approx(np.array([[0, 0], [0.04, 0.02]]) + shift, abs=0.005)


def test_the_populations_are_joined_into_both_tables(tmp_path):
    rows = _rows(noise=0.02)
    paths = []
    for name, part in rows.groupby("population"):
        paths.append(tmp_path / f"{name}.parquet")
        pq.write_table(pa.Table.from_pandas(part, preserve_index=False), paths[-1])
    settings = {"iterations": SCHEMES, "partitioners": PARTITIONERS, "ids": {"paper": {name: name for name in LEARNERS}}}
    made = heldout(SimpleNamespace(rows=paths), settings)
    pd.testing.assert_frame_equal(made["heldout_bias"].frame, bias_table(rows, *KEYS))
    pd.testing.assert_frame_equal(made["heldout_agreement"].frame, agreement_table(rows, *KEYS))
    assert all(to_html(one.grid) for one in made.values())
