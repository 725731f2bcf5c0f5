from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

from foldshift.engine.storage.score_files import write_rows
from foldshift.inference.intervals.moments import loss_moments, moment_intervals
from foldshift.inference.simulation.coverage import THESE_MODELS, TRAINING_PART, WHOLE_SAMPLE
from foldshift.reporting.figure_style import plt
from foldshift.reporting.number_formats import EMPTY
from foldshift.reporting.table_grid import to_html, to_tex
from foldshift.studies.common.coverage_rows import AUDIT_COLUMNS, audit_table, partitioner_table
from foldshift.studies.wong_2015 import coverage_tables
from foldshift.studies.wong_2015.coverage_figure import draw_audit
from foldshift.studies.wong_2015.coverage_tables import audit_grid, partitioner_grid
from foldshift.studies.wong_2015.measures.measure_audit import SCHEMAS

PARTITIONERS = ["SCV", "DOB-SCV", "CV", "TSCV"]
COLUMNS = [*SCHEMAS["audit"].names]


def _rows(partitioners=("SCV", "DOB-SCV"), populations=("p", "q"), learners=("a", "b"), task="classification", n=6, seed=0):
    """Losses of 4 folds of 5 rows; DOB-SCV and TSCV promise too much."""
    rng = np.random.default_rng(seed)
    out = []
    for population in populations:
        for learner in learners:
            for replicate in range(n):
                for partitioner in partitioners:
                    error = 0.15 if partitioner in ("DOB-SCV", "TSCV") else 0.3
                    losses = rng.random((4, 5))
                    losses = (losses < error).astype(float) if task == "classification" else 2 * error * losses
                    out.append(
                        {"population": population, "task": task, "learner": learner, "partitioner": partitioner}
                        | {"replicate": replicate, "truth_parts": 0.3, "truth_whole": 0.25, "status": "ok", "message": ""}
                        | loss_moments(losses)._asdict()
                    )
    return pd.DataFrame(out)[COLUMNS]


def _fail(rows, mask):
    names = [*COLUMNS[5:14]]
    rows = rows.copy()
    rows.loc[mask, names] = np.nan
    rows.loc[mask, "status"] = "failed"
    return rows


def _one(table, **keys):
    for name, value in keys.items():
        table = table[table[name] == value]
    assert len(table) == 1
    return table.iloc[0]


def test_the_table_counts_what_the_intervals_cover():
    rows = _rows()
    table = audit_table(rows, PARTITIONERS)
    assert list(table.columns) == AUDIT_COLUMNS and len(table) == 4 * 2 * 3 * 7
    part = rows[(rows["population"] == "q") & (rows["learner"] == "b") & (rows["partitioner"] == "DOB-SCV")]
    W = part["W"].to_numpy()
    half = 1.959963984540054 * np.sqrt(W / 20)
    covered = np.abs(part["estimate"].to_numpy() - 0.25) <= half
    row = _one(table, population="q", learner="b", partitioner="DOB-SCV", target=WHOLE_SAMPLE, interval="theta_A")
    assert row["n"] == 6 and row["coverage"] == covered.mean() and row["width"] == pytest.approx(2 * half.mean())
    assert row["bias"] == pytest.approx(part["estimate"].mean() - 0.25) and row["truth"] == 0.25 and row["n_failed"] == 0
    p = covered.mean()  # Wilson, at one standard error
    assert row["coverage_error"] == pytest.approx(np.sqrt(p * (1 - p) / 6 + 1 / 144) / (1 + 1 / 6))
    theta_5 = 1.25 * part["S2"] - part["W"] / 5
    row = _one(table, population="q", learner="b", partitioner="DOB-SCV", target=TRAINING_PART, interval="theta_5")
    assert row["negative"] == (theta_5 < 0).mean() and row["truth"] == pytest.approx(0.3)


def test_another_level_gives_other_intervals():
    rows = _rows(n=40)
    narrow, wide = (audit_table(rows, PARTITIONERS, level)["width"].mean() for level in (0.5, 0.99))
    assert narrow < wide


def test_numbers_have_no_binomial_interval():
    table = audit_table(_rows(("CV", "TSCV"), task="regression"), PARTITIONERS)
    assert "Wilson" not in set(table["interval"]) and "Nadeau-Bengio" in set(table["interval"])


def test_what_one_partitioner_lacks_is_left_out_for_all():
    rows = _rows()
    first = (rows["population"] == "p") & (rows["learner"] == "a") & (rows["partitioner"] == "SCV")
    table = audit_table(_fail(rows, first & (rows["replicate"] < 2)), PARTITIONERS)
    keys = {"population": "p", "learner": "a", "target": WHOLE_SAMPLE, "interval": "S2/K"}
    scv, dob = (_one(table, partitioner=name, **keys) for name in ("SCV", "DOB-SCV"))
    assert (scv["n"], dob["n"], scv["n_failed"], dob["n_failed"]) == (4, 4, 2, 0)
    full = audit_table(rows[rows["replicate"] >= 2], PARTITIONERS)
    assert dob["coverage"] == _one(full, partitioner="DOB-SCV", **keys)["coverage"]
    assert _one(table, **(keys | {"partitioner": "SCV", "learner": "b"}))["n"] == 6


def test_a_partitioner_without_any_result_is_not_waited_for():
    rows = _rows()
    lost = (rows["population"] == "p") & (rows["learner"] == "a") & (rows["partitioner"] == "SCV")
    table = audit_table(_fail(rows, lost), PARTITIONERS)
    keys = {"population": "p", "learner": "a", "target": WHOLE_SAMPLE, "interval": "S2/K"}
    scv, dob = (_one(table, partitioner=name, **keys) for name in ("SCV", "DOB-SCV"))
    assert (scv["n"], dob["n"], scv["n_failed"]) == (0, 6, 6) and np.isnan(scv["coverage"])
    means = partitioner_table(table)
    assert set(means["n_pairs"]) == {3}  # of the four pairs this one has no SCV
    text = to_html(audit_grid(table))
    assert EMPTY in text and "6 cross-validations failed" in text


def test_a_learner_that_always_fails_leaves_its_pairs_out():
    rows = _rows()
    table = audit_table(_fail(rows, rows["learner"] == "a"), PARTITIONERS)
    assert set(table["n"][table["learner"] == "a"]) == {0}
    means = partitioner_table(table)
    assert set(means["n_pairs"]) == {2} and means["coverage"].notna().all()
    plt.close(draw_audit(table, means))


def test_means_and_differences_over_populations_are_those_of_the_textbook():
    """Before, the pairs of population and learner were the unit, as if learners on the same samples were independent."""
    table = audit_table(_rows(n=30), PARTITIONERS)
    means = partitioner_table(table)
    keys = {"target": THESE_MODELS, "interval": "all pairs"}
    pairs = table[(table["target"] == THESE_MODELS) & (table["interval"] == "all pairs")]
    scv, dob = (
        pairs[pairs["partitioner"] == name].assign(distance=lambda f: abs(f["coverage"] - 0.95)) for name in ("SCV", "DOB-SCV")
    )
    row = _one(means, partitioner="DOB-SCV", **keys)
    assert (row["n_populations"], row["n_pairs"]) == (2, 4)
    below = pairs[pairs["partitioner"] == "DOB-SCV"]["coverage"] < 0.95 - 2 * (0.95 * 0.05 / 30) ** 0.5
    assert row["pairs_below"] == below.sum() > 0
    names = ["coverage", "bias", "width", "negative", "distance"]
    scv, dob = (frame.groupby("population")[names].mean() for frame in (scv, dob))
    for column in ("coverage", "bias", "width", "negative"):
        assert row[column] == pytest.approx(dob[column].mean())
        assert row[f"{column}_error"] == pytest.approx(dob[column].std(ddof=1) / 2**0.5)
    for column, values in (
        ("coverage", dob["coverage"].to_numpy() - scv["coverage"].to_numpy()),
        ("bias", dob["bias"].to_numpy() - scv["bias"].to_numpy()),
        ("distance", dob["distance"].to_numpy() - scv["distance"].to_numpy()),
    ):
        assert row[f"{column}_vs"] == pytest.approx(values.mean())
        assert row[f"{column}_vs_error"] == pytest.approx(values.std(ddof=1) / 2**0.5)
    assert row["bias_vs"] == pytest.approx(-0.15, abs=0.05) and row["distance_vs"] > 0
    reference = _one(means, partitioner="SCV", **keys)
    assert np.isnan(reference["coverage_vs"]) and np.isnan(reference["bias_vs_error"])


def test_numbers_are_compared_with_cv_and_without_a_reference_nothing_is():
    table = audit_table(_rows(("CV", "TSCV"), task="regression"), PARTITIONERS)
    means = partitioner_table(table)
    assert means["coverage_vs"].notna().sum() == 3 * 6 and set(means["partitioner"][means["bias_vs"].notna()]) == {"TSCV"}
    means = partitioner_table(audit_table(_rows(("DOB-SCV",)), PARTITIONERS))
    assert means["coverage_vs"].isna().all() and "against" not in " ".join(partitioner_grid(means).notes)


def test_a_single_pair_has_no_error():
    table = audit_table(_rows(populations=("p",), learners=("a",)), PARTITIONERS)
    means = partitioner_table(table)
    assert set(means["n_pairs"]) == {1} and means["coverage_error"].isna().all()
    text = to_html(partitioner_grid(means))
    assert "1 population, 1 pair with a learner" in text and "± –" in text
    plt.close(draw_audit(table, means))


def test_the_printed_table_makes_too_low_a_coverage_bold():
    rows = _rows(n=100, populations=("p",), learners=("a",))
    table = audit_table(rows, PARTITIONERS)
    grid = audit_grid(table, populations=["p", "staircase"])
    heading, scv, dob = grid.rows[:3]
    assert heading == [f"p: {TRAINING_PART}"] and scv[:2] == ["a", "SCV"] and dob[1] == "DOB-SCV"
    assert grid.header[:7] == ["Learner", "Partitioner", "Samples", "True error", "Bias", "theta_A", "theta_B"]
    cell, row = dob[5], _one(table, partitioner="DOB-SCV", target=TRAINING_PART, interval="theta_A")
    assert cell.text == f"{100 * row['coverage']:.1f}" and cell.bold and row["coverage"] < 0.9
    wide = scv[grid.header.index("Nadeau-Bengio")]
    assert not wide.bold and float(wide.text) > 95
    assert any("Nothing was measured on staircase" in note for note in grid.notes)


def test_the_printed_comparison_says_who_is_more_honest():
    means = partitioner_table(audit_table(_rows(n=100), PARTITIONERS))
    grid = partitioner_grid(means)
    assert [row[0] for row in grid.rows[:4]] == [
        f"Classes: {TRAINING_PART}; 2 populations, 4 pairs with a learner",
        "SCV",
        "DOB-SCV",
        "DOB-SCV − SCV",
    ]
    change = _one(means, partitioner="DOB-SCV", target=TRAINING_PART, interval="theta_A")
    cell = grid.rows[3][2]
    assert cell.text == f"{100 * change['coverage_vs']:+.1f} ± {100 * change['coverage_vs_error']:.1f}" and cell.bold
    limit = student.ppf(0.975, 1) * means["distance_vs_error"]  # two populations
    closer, further = int((means["distance_vs"] < -limit).sum()), int((means["distance_vs"] > limit).sum())
    assert further > 1
    assert f"closer to 95 % in {closer} and further from it in {further}" in grid.notes[0]
    assert "Classes: differences cannot be seen at this size, with 2 populations." in grid.notes


def test_the_figure_has_a_panel_per_target_and_a_row_per_task_and_stays_within_0_and_1():
    rows = pd.concat([_rows(), _rows(("CV", "TSCV"), ("s",), ("c",), "regression")], ignore_index=True)
    table = audit_table(rows, PARTITIONERS)
    figure = draw_audit(table, partitioner_table(table))
    assert len(figure.axes) == 6
    assert [axis.get_title() for axis in figure.axes[:3]] == [TRAINING_PART, THESE_MODELS, WHOLE_SAMPLE]
    for axis in figure.axes:
        low, high = axis.get_xlim()
        assert -0.2 < low < 0.95 < 1 < high < 1.03  # marks at the ends stand off the border
        for line in axis.lines:
            if line.get_color() == "#DDDDDD":  # a border between intervals
                continue
            values = np.asarray(line.get_xdata(), dtype=float)
            assert (values > low).all() and (values >= 0).all() and (values <= 1).all()
    assert len(figure.axes[0].get_yticks()) == 5 and len(figure.axes[3].get_yticks()) == 4
    plt.close(figure)


def test_tables_are_made_also_without_a_single_row(tmp_path):
    made = {}
    for name, rows in (("some", _rows()), ("none", _rows()[:0])):
        path = tmp_path / f"{name}.parquet"
        write_rows(path, {column: rows[column].tolist() for column in COLUMNS}, SCHEMAS["audit"])
        settings = {"level": 0.95, "audit": {"partitioners": PARTITIONERS, "populations": ["p", "q"]}}
        made[name] = coverage_tables.audit(SimpleNamespace(rows=[path]), settings)
        assert list(made[name]) == ["audit", "audit_by_partitioner"]
        assert all(to_html(shown.grid) and to_tex(shown.grid) for shown in made[name].values())
        frames = [shown.frame for shown in made[name].values()]
        assert draw_audit(*frames)
    assert "Nothing was measured on p, q" in to_html(made["none"]["audit"].grid)
    found = made["some"]["audit"].frame
    assert len(found) == len(audit_table(_rows(), PARTITIONERS)) and list(found.columns) == AUDIT_COLUMNS


def test_intervals_of_the_table_are_those_of_the_library():
    rows = _rows(populations=("p",), learners=("a",), partitioners=("SCV",), n=1)
    losses = np.random.default_rng(0).random((4, 5)) < 0.3
    expected = {one.name: one for one in moment_intervals(loss_moments(losses), binary=True)}
    table = audit_table(rows, PARTITIONERS)
    for name, interval in expected.items():
        row = _one(table, target=WHOLE_SAMPLE, interval=name)
        width = interval.high - interval.low
        assert (row["width"] == pytest.approx(float(width))) if np.isfinite(width) else np.isnan(row["width"])
        assert row["coverage"] == float(interval.low <= 0.25 <= interval.high)
