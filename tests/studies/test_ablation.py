import numpy as np
import pytest

from foldshift.inference.repetitions.agreement import agreements, subset_error
from foldshift.reporting.figure_style import plt
from foldshift.reporting.table_grid import to_html, to_tex
from foldshift.studies.moreno_torres_2012.ablation.ablation_tables import (
    CONCLUSIONS,
    ablation_grid,
    ablation_table,
    bias_grid,
    bias_table,
    conclusions_grid,
    conclusions_table,
    verdict,
)
from foldshift.studies.moreno_torres_2012.ablation.experiments_judged import Change, judge, parts_of
from foldshift.studies.moreno_torres_2012.experiment_accuracy import accuracy_table
from foldshift.studies.moreno_torres_2012.figures import draw_ablation

SCHEMES = {2: 5, 5: 2, 10: 1}
PARTITIONERS = ["SCV", "DB-SCV", "DOB-SCV", "MS-SCV"]
LEARNERS = ["1NN", "LDA", "PART", "SVM"]
N_DATASETS = 12
RNG = np.random.default_rng(0)
BASE = 0.7 + 0.03 * np.arange(4)[:, None] + 0.03 * RNG.normal(size=(4, N_DATASETS))
SPREAD = {"SCV": 0.05, "DB-SCV": 0.02, "DOB-SCV": 0.02, "MS-SCV": 0.3}
SPEED = {"SCV": 20.0, "DB-SCV": 18.0, "DOB-SCV": 17.0, "MS-SCV": 30.0}


def draw(n, spread, seed):
    return BASE[:, :, None] + spread * np.random.default_rng(seed).normal(size=(4, N_DATASETS, n))


VALUES = {(k, name): draw(30, SPREAD[name], 10 * k + i) for k in SCHEMES for i, name in enumerate(PARTITIONERS)}
TRUTH = {k: draw(60, 0.01, 1000 + k) for k in SCHEMES}
CONVERGENCE = {
    (k, name): SPEED[name] * k + np.random.default_rng(i).normal(size=(4, N_DATASETS, 3))
    for k in SCHEMES
    for i, name in enumerate(PARTITIONERS)
}


def change(name="as printed", truth="SCV", values=VALUES, truth_values=TRUTH, **options):
    return Change(name, "paper", "heom", "balanced", truth, "all nine", values, truth_values, **options)


AS_PRINTED = judge(change(convergence=CONVERGENCE), SCHEMES, PARTITIONERS, n_subsets=12, master_seed=0)


def test_the_unchanged_case_is_table_6():
    table = ablation_table([AS_PRINTED])
    plain = accuracy_table({"paper": (VALUES, TRUTH)}, SCHEMES, PARTITIONERS, n_subsets=12, master_seed=0)
    assert plain.columns[-1] == "truth_error"  # of Table VI alone
    for column in plain.columns[1:-1]:
        assert table[column].tolist() == plain[column].tolist()
    row = table[(table["scheme"] == "5x2") & (table["partitioner"] == "SCV")].iloc[0]
    assert row["mean_experiments"] == pytest.approx(CONVERGENCE[5, "SCV"].mean())
    assert list(table.columns[:6]) == ["change", "configuration", "metric", "rule", "truth", "classifiers"]


def test_an_experiment_is_never_judged_by_a_mean_that_contains_it():
    values = {key: array.copy() for key, array in VALUES.items()}
    values[5, "SCV"][:, :, :15] += 100.0  # the first half shows in whatever is made of it
    (first_truth, first), (second_truth, second) = parts_of(change(truth="own", values=values), 5, "SCV", PARTITIONERS)
    assert first.min() > 50 and first_truth.max() < 50 and second.max() < 50 and second_truth.min() > 50
    assert first.shape[2] + second.shape[2] == 30
    (first_truth, _), (second_truth, _) = parts_of(change(truth="all", values=values), 5, "DB-SCV", PARTITIONERS)
    halves = [
        np.mean([values[5, name][:, :, half].mean(axis=2) for name in PARTITIONERS], axis=0)
        for half in (slice(15, 30), slice(15))
    ]
    assert np.allclose(first_truth, halves[0]) and np.allclose(second_truth, halves[1])


def test_a_bias_towards_a_classifier_costs_agreement_with_another_truth_but_not_with_its_own():
    values = {key: array.copy() for key, array in VALUES.items()}
    for k in SCHEMES:
        values[k, "DOB-SCV"][0] += 0.2  # so that the nearest neighbour seems the best of all
    kinds = {
        truth: judge(change(truth=truth, values=values), SCHEMES, PARTITIONERS, n_subsets=4, master_seed=0).accuracies[
            5, "DOB-SCV"
        ]
        for truth in ("SCV", "own")
    }
    assert kinds["SCV"].opposite_percent > 10 and kinds["own"].opposite_percent == 0
    assert kinds["own"].percent > kinds["SCV"].percent + 20


def test_a_held_out_truth_may_be_one_number_per_cell():
    given = judge(
        change(truth="held-out", truth_values=dict.fromkeys(SCHEMES, BASE)), SCHEMES, PARTITIONERS, n_subsets=3, master_seed=0
    )
    found = agreements(BASE, VALUES[2, "SCV"], formula="paper")
    assert given.accuracies[2, "SCV"].percent == pytest.approx(100 * found.agree.mean())


def test_a_set_of_classifiers_uses_their_rows_only():
    fewer = judge(change(learners=[0, 1, 3], convergence=CONVERGENCE), SCHEMES, PARTITIONERS, n_subsets=3, master_seed=0)
    rows = {key: array[[0, 1, 3]] for key, array in VALUES.items()}
    same = judge(
        change(values=rows, truth_values={k: t[[0, 1, 3]] for k, t in TRUTH.items()}),
        SCHEMES,
        PARTITIONERS,
        n_subsets=3,
        master_seed=0,
    )
    assert fewer.accuracies[5, "SCV"][:5] == same.accuracies[5, "SCV"][:5]
    table = ablation_table([fewer])
    assert table["mean_experiments"][0] == pytest.approx(CONVERGENCE[2, "SCV"][[0, 1, 3]].mean())


def test_conclusions_are_judged_by_difference_and_error():
    table = conclusions_table([AS_PRINTED])
    verdicts = table[table["scheme"] == "Average"].set_index("conclusion")
    assert len(verdicts) == len(CONCLUSIONS)
    assert verdicts.loc["SCV below DOB-SCV", "verdict"] == verdicts.loc["MS-SCV last", "verdict"] == "holds"
    for name in ("SCV slower than DOB-SCV", "SCV faster than MS-SCV", "2x5 before 5x2", "5x2 before 10x1"):
        assert verdicts.loc[name, "verdict"] == "holds"
    accuracies = AS_PRINTED.accuracies
    row = table[(table["scheme"] == "5x2") & (table["conclusion"] == "SCV below DB-SCV")].iloc[0]
    low, high = accuracies[5, "SCV"], accuracies[5, "DB-SCV"]
    assert row["difference"] == pytest.approx(high.percent - low.percent)
    assert row["experiments_error"] == pytest.approx(np.hypot(low.standard_error, high.standard_error))
    assert row["datasets_error"] == pytest.approx(subset_error(high.by_subset - low.by_subset, N_DATASETS))
    assert row["standard_error"] == pytest.approx(np.hypot(row["experiments_error"], row["datasets_error"]))
    assert verdicts.loc["SCV slower than DOB-SCV", "difference"] == pytest.approx(3 * 17 / 3, abs=1)
    assert verdicts.loc["5x2 before 10x1", "difference"] == pytest.approx(5 * np.mean(list(SPEED.values())), abs=1)


def test_the_last_is_compared_with_the_next_one_above():
    table = conclusions_table([AS_PRINTED])
    row = table[(table["scheme"] == "2x5") & (table["conclusion"] == "MS-SCV last")].iloc[0]
    percents = [AS_PRINTED.accuracies[2, name].percent for name in PARTITIONERS]
    assert row["difference"] == pytest.approx(min(percents[:3]) - percents[3])


def test_swapped_results_reverse_the_conclusions():
    values = {(k, {"SCV": "DOB-SCV", "DOB-SCV": "SCV"}.get(name, name)): array for (k, name), array in VALUES.items()}
    speeds = {(k, {"SCV": "DOB-SCV", "DOB-SCV": "SCV"}.get(name, name)): array for (k, name), array in CONVERGENCE.items()}
    table = conclusions_table(
        [judge(change(values=values, convergence=speeds), SCHEMES, PARTITIONERS, n_subsets=12, master_seed=0)]
    )
    verdicts = table[table["scheme"] == "Average"].set_index("conclusion")["verdict"]
    assert verdicts["SCV below DOB-SCV"] == verdicts["SCV slower than DOB-SCV"] == "reversed"


@pytest.mark.parametrize(
    ("difference", "error", "equality", "expected"),
    [
        (2.1, 1.0, False, "holds"),
        (1.9, 1.0, False, "within error"),
        (-1.9, 1.0, False, "within error"),
        (-2.1, 1.0, False, "reversed"),
        (0.0, 1.0, True, "holds"),
        (-0.1, 1.0, True, "within error"),
        (-2.1, 1.0, True, "reversed"),
        (np.nan, 1.0, False, "not tested"),
        (5.0, np.nan, False, "not tested"),
    ],
)
def test_verdicts(difference, error, equality, expected):
    assert verdict(difference, error, equality) == expected


def test_what_is_not_there_is_not_tested():
    bare = judge(change(), {5: 2}, ["SCV", "DOB-SCV"], n_subsets=4, master_seed=0)
    table = conclusions_table([bare]).set_index(["conclusion", "scheme"])["verdict"]
    assert (
        table["SCV below DB-SCV", "5x2"]
        == table["SCV slower than DOB-SCV", "5x2"]
        == table["2x5 before 5x2", "Average"]
        == "not tested"
    )
    assert table["SCV below DOB-SCV", "5x2"] != "not tested"
    single = {key: array[:, :, :1] for key, array in VALUES.items()}
    for truth in ("own", "all", "SCV"):
        one = conclusions_table([judge(change(truth=truth, values=single), SCHEMES, PARTITIONERS, n_subsets=4, master_seed=0)])
        assert set(one["verdict"]) == {"not tested"}
    same = {key: np.repeat(array[:1], 4, axis=0) for key, array in VALUES.items()}
    equal = judge(
        change(values=same, truth_values={k: np.repeat(t[:1], 4, axis=0) for k, t in TRUTH.items()}),
        SCHEMES,
        PARTITIONERS,
        n_subsets=4,
        master_seed=0,
    )
    assert ablation_table([equal])["percent"].isna().all()


def test_one_data_set_gives_tables_without_verdicts():
    values = {key: array[:, :1] for key, array in VALUES.items()}
    lone = judge(
        change(values=values, truth_values={k: t[:, :1] for k, t in TRUTH.items()}),
        SCHEMES,
        PARTITIONERS,
        n_subsets=4,
        master_seed=0,
    )
    assert set(conclusions_table([lone])["verdict"]) == {"not tested"}
    page = to_html(ablation_grid(ablation_table([lone])))
    assert "No pair of classifiers truly differs in this run" in page and page.count("no pair") == 0


def test_unknown_truths_are_refused():
    with pytest.raises(ValueError, match="truth='scv' of change x must be one of SCV, own, all, held-out"):
        change("x", truth="scv")


def test_bias_is_the_mean_difference_from_the_truth_with_both_errors():
    values = {key: array + 0.01 * (key[1] == "DB-SCV") for key, array in VALUES.items()}
    values[5, "DB-SCV"][2, 4] = np.nan
    table = bias_table({"paper": (values, TRUTH)}, SCHEMES, PARTITIONERS, LEARNERS)
    cells = table.set_index(["scheme", "partitioner", "classifier"])
    row = cells.loc[("2x5", "DB-SCV", "LDA")]
    ours, true = values[2, "DB-SCV"][1], TRUTH[2][1]
    assert row["bias"] == pytest.approx(ours.mean() - true.mean())
    variances = ours.var(axis=1, ddof=1) / 30 + true.var(axis=1, ddof=1) / 60
    assert row["standard_error"] == pytest.approx(np.sqrt(variances.sum()) / N_DATASETS)
    assert row["datasets_error"] == pytest.approx((ours.mean(axis=1) - true.mean(axis=1)).std(ddof=1) / np.sqrt(N_DATASETS))
    assert (cells.loc[("5x2", "DB-SCV", "PART"), "n_datasets"], cells.loc[("5x2", "DB-SCV", "all"), "n_datasets"]) == (11, 11)
    assert cells.loc[("2x5", "DB-SCV", "all"), "bias"] == pytest.approx(values[2, "DB-SCV"].mean() - TRUTH[2].mean())
    assert abs(cells.loc[("2x5", "DB-SCV", "all"), "bias"] - 0.01) < 4 * cells.loc[("2x5", "DB-SCV", "all"), "standard_error"]
    grid = bias_grid(table)
    assert {len(row) for row in grid.rows} == {1, 6} and any(cell.bold for row in grid.rows if len(row) > 1 for cell in row[1:])
    held_out = bias_table({"paper": (values, dict.fromkeys(SCHEMES, BASE))}, SCHEMES, PARTITIONERS, LEARNERS)
    assert held_out["standard_error"].notna().all()


def test_pages_name_every_change_and_every_conclusion():
    other = judge(change("own truth", truth="own"), SCHEMES, PARTITIONERS, n_subsets=4, master_seed=0)
    conclusions = conclusions_grid(conclusions_table([AS_PRINTED, other]))
    assert conclusions.header == ["Change", *[entry[0] for entry in CONCLUSIONS]]
    for grid in (conclusions, ablation_grid(ablation_table([AS_PRINTED, other]))):
        assert {len(row) for row in grid.rows} == {1, len(grid.header)}
        page = to_html(grid)
        assert page.count("own truth") == 4 and "nan" not in page and "own truth" in to_tex(grid)
    assert "not tested" in to_html(conclusions) and "holds: +" in to_html(conclusions)


def test_the_figure_has_a_dot_for_every_change_and_partitioner():
    other = judge(change("own truth", truth="own"), SCHEMES, PARTITIONERS, n_subsets=4, master_seed=0)
    figure = draw_ablation(ablation_table([AS_PRINTED, other]))
    dots = [line for line in figure.axes[0].lines if line.get_label() in PARTITIONERS]
    assert [len(line.get_xdata()) for line in dots] == [2] * 4
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["as printed", "own truth"]
    plt.close(figure)
