"""Failed fits in every table and figure: one fit, a learner on one data set, on all of them, and with one partitioner only."""

import json
import re
import warnings
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import collect_scores
from foldshift.core.imports import import_object
from foldshift.engine.storage.score_files import SCORE_SCHEMA, write_rows
from foldshift.engine.storage.seed_results import SEED_SHIFT_SCHEMA, count_failures, lost_summary, seed_schema
from foldshift.engine.study.declare import key
from foldshift.engine.study.find import find_studies
from foldshift.evaluation.regression_scores import CLASSIFICATION_METRICS, METRICS
from foldshift.inference.comparisons.wilcoxon import wilcoxon_signed_ranks
from foldshift.inference.missing import common_results, mean_present, std_present
from foldshift.inference.repetitions.convergence import RULES, THRESHOLDS, CellConvergence
from foldshift.inference.simulation.monte_carlo import p_values_by_repetitions
from foldshift.reporting import figure_style as figures
from foldshift.reporting.failure_table import failures_grid, failures_table
from foldshift.reporting.items import write_item
from foldshift.reporting.table_grid import plain_grid, shades, to_html
from foldshift.shift.measures.covariates import MEASURES
from foldshift.shift.report.fold_drift import FoldFeature
from foldshift.studies.moreno_torres_2012 import output_groups as items
from foldshift.studies.moreno_torres_2012 import shift_and_error, tables
from foldshift.studies.moreno_torres_2012.ablation import ablation_changes as changes
from foldshift.studies.moreno_torres_2012.against_print import compare
from foldshift.studies.moreno_torres_2012.measure_convergence import ALL_CRITERIA, cell_rows, unknown, with_keys
from foldshift.studies.saez_2022.tables import scaling_table

LEARNERS, CUTS, FOLDS, N_SEEDS = ["RPART", "NN"], ["CV", "SCV2", "TSCV"], [2, 5], 6
CLASSIFIERS, PARTITIONERS, SCHEMES = ["1NN", "LDA", "PART"], ["SCV", "DB-SCV", "DOB-SCV", "MS-SCV"], {2: 2, 5: 1}
SETS, N_EXPERIMENTS = ["bands", "crx", "sonar", "wdbc", "pima", "heart"], 5
PLACES = {
    "one fit": lambda rows, learner, cut: (
        (rows["learner"] == learner)
        & (rows["partitioner"] == cut)
        & (rows["k"] == 5)
        & (rows["seed"] == 2)
        & (rows["dataset"] == rows["dataset"].iloc[0])
    ),
    "one data set": lambda rows, learner, cut: (rows["learner"] == learner) & (rows["dataset"] == rows["dataset"].iloc[0]),
    "all data sets": lambda rows, learner, cut: rows["learner"] == learner,
    "one partitioner": lambda rows, learner, cut: (rows["learner"] == learner) & (rows["partitioner"] == cut),
    "everything": lambda rows, learner, cut: rows["learner"] == rows["learner"],
}


def run(main, inputs, outputs, **params):
    """Run a script's main as a job; a warning is an error."""
    job = SimpleNamespace(input=SimpleNamespace(**inputs), output=SimpleNamespace(**outputs))
    job.params = SimpleNamespace(**params)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        main(job)


def make_items(study, name, inputs, folder, settings, **arguments):
    """Make tables and figures that a study declares under one name, as files in a folder; a warning is an error."""
    found = find_studies()[study]
    group = next(group for group in found.declaration().items if group.name == name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = import_object(found.path(group.function), name)(SimpleNamespace(**inputs), settings, **arguments)
        assert set(made) == {key(item) for item in group.items}
        for item in group.items:
            words = {"name": item.name, "kind": item.kind, "title": item.title, "caption": item.caption}
            path = folder / ("figures" if item.kind == "figure" else "") / f"{item.name}.html"
            path.parent.mkdir(exist_ok=True)
            write_item(words, made[key(item)], path, settings)


def write_seeds(folder, rows, metrics):
    """One file of rows of seeds for each data set."""
    folder.mkdir(parents=True)
    paths = []
    for dataset, part in rows.groupby("dataset", sort=False):
        paths.append(str(folder / f"{dataset}.parquet"))
        write_rows(paths[-1], {name: part[name].to_numpy() for name in part}, seed_schema(metrics))
    return paths


def with_failures(rows, kind, metrics, learner, cut):
    rows = rows.copy()
    if kind:
        lost = PLACES[kind](rows, learner, cut)
        assert lost.any()
        rows.loc[lost, list(metrics)] = np.nan
        rows.loc[lost, "n_failed"] = 1 if kind == "one fit" else rows["k"]
    return rows


@pytest.fixture(scope="module", autouse=True)
def short_work():
    """Figures as SVG only, and few draws for standard errors: neither has to do with what failed."""
    few = (
        (changes, "judge", {"n_subsets": 8}),
        (tables, "accuracy_table", {"n_subsets": 8}),
        (tables, "repetitions_table", {"n_draws": 8}),
        (shift_and_error, "shift_and_error", {"n_draws": 20}),
        (compare, "rank_errors", {"n_draws": 20}),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "FORMATS", ("svg",))
        for module, name, numbers in few:
            patch.setattr(module, name, partial(getattr(module, name), **numbers))
        yield


@pytest.fixture(scope="module")
def regression(tmp_path_factory, root):
    """Function that makes all tables of the regression study with one kind of failure, by name; rows of seeds as well."""
    printed = [
        str(root / f"src/foldshift/studies/saez_2022/printed/{name}.csv")
        for name in ("table1_datasets", "table4_dn", "table5_error")
    ]
    datasets = pd.read_csv(printed[0])
    rng, rows, shift = np.random.default_rng(0), [], []
    for dataset in datasets["dataset"]:
        level = 0.1 + rng.random()
        for k in FOLDS:
            for i, cut in enumerate(CUTS):
                shift += [(dataset, cut, k, seed, 0.1 / (i + 1) + 0.01 * rng.random()) for seed in range(N_SEEDS)]
                for learner in LEARNERS:
                    for seed in range(N_SEEDS):
                        rows.append((dataset, learner, cut, k, seed, *[level - 0.01 * i + 0.02 * rng.random()] * 3, 0))
    described = tmp_path_factory.mktemp("descriptions")
    for dataset in datasets["dataset"]:
        about = {"name": dataset, "target_range": [0, 10], "scaling": "global"}
        (described / f"{dataset}.json").write_text(json.dumps(about))
    rows = pd.DataFrame(rows, columns=["dataset", "learner", "partitioner", "k", "seed", *METRICS, "n_failed"])
    shift = pd.DataFrame(shift, columns=["dataset", "partitioner", "k", "seed", "d_n"])
    settings = {"learners": LEARNERS, "n_folds": FOLDS, "partitioners": CUTS, "datasets": list(datasets["dataset"]), "alpha": 0.1}
    settings |= {"convergence": {"step": 2, "maximum": 150, "draws": 4}, "n_seeds": N_SEEDS, "master_seed": 0}
    made = {}

    def make(kind):
        if kind in made:
            return made[kind]
        folder = tmp_path_factory.mktemp("regression")
        some = with_failures(rows, kind, METRICS, "RPART", "TSCV")
        inputs = write_seeds(folder / "seeds", some, METRICS)
        given = {"errors": inputs, "descriptions": sorted(described.glob("*.json")), "printed": printed[2]}
        make_items("saez_2022", "error", given, folder, settings)
        curves = {"table": folder / "figure2_convergence.csv"}
        make_items("saez_2022", "convergence_figure", curves, folder, settings)
        shift_paths = []
        for dataset, part in shift.groupby("dataset", sort=False):
            shift_paths.append(str(folder / f"shift-{dataset}.parquet"))
            write_rows(shift_paths[-1], {name: part[name].to_numpy() for name in part}, SEED_SHIFT_SCHEMA)
        keys = ["k", "partitioner", "mean_dn", "standard_error", "p_vs_cv", "higher_vs_cv", "p_vs_tscv", "higher_vs_tscv"]
        pd.DataFrame(columns=keys).to_csv(folder / "table4.csv", index=False)
        given = {"datasets": printed[0], "table4": folder / "table4.csv", "table5": folder / "table5_error.csv"}
        given |= {"shift": shift_paths, "errors": inputs, "printed": printed}
        make_items("saez_2022", "compare", given, folder, settings)
        made[kind] = folder, some
        return made[kind]

    return make


def cell(table, /, **keys):
    for name, value in keys.items():
        table = table[table[name] == value]
    assert len(table) == 1
    return table.iloc[0]


def errors_of(rows, learner, k, cut):
    """Shape (data sets, seeds)."""
    part = rows[(rows["learner"] == learner) & (rows["k"] == k) & (rows["partitioner"] == cut)]
    return part["rmse"].to_numpy().reshape(-1, N_SEEDS)


def test_one_failed_fit_leaves_its_seed_out_for_all_partitioners(regression):
    folder, rows = regression("one fit")
    table = pd.read_csv(folder / "table5_error.csv")
    kept = {cut: errors_of(rows, "RPART", 5, cut).copy() for cut in CUTS}
    for values in kept.values():
        values[0, 2] = np.nan
    means = {cut: np.nanmean(values, axis=1) for cut, values in kept.items()}
    for cut in CUTS:
        row = cell(table, regressor="RPART", k=5, partitioner=cut)
        assert row["rmse"] == pytest.approx(means[cut].mean(), rel=1e-9)
        assert row["std"] == pytest.approx(np.nanstd(kept[cut], axis=1, ddof=1).mean(), rel=1e-9)
        assert (row["n_datasets"], row["n_seeds"], row["n_failed_fits"]) == (28, 5, int(cut == "TSCV"))
        if cut != "CV":
            assert row["p_vs_cv"] == pytest.approx(wilcoxon_signed_ranks(means[cut], means["CV"]).p_value, rel=1e-9)
    assert (table.query("regressor == 'NN' or k == 2")["n_seeds"] == N_SEEDS).all()
    each = pd.read_csv(folder / "error_by_dataset.csv")
    assert each["n_seeds"].value_counts().to_dict() == {6: 28 * 12 - 3, 5: 3}
    first = cell(each, dataset=rows["dataset"][0], regressor="RPART", k=5, partitioner="CV")
    assert first["rmse"] == pytest.approx(means["CV"][0], rel=1e-9)
    curves = pd.read_csv(folder / "figure2_convergence.csv")
    assert (curves["n_datasets"] == 28).all() and curves["repetitions"].max() <= N_SEEDS // 3
    assert "28 data sets and 5 to 6 seeds per cell. 1 fits failed" in (folder / "table5_error.html").read_text()


def test_a_learner_lost_on_a_data_set_is_compared_on_the_others(regression):
    folder, rows = regression("one data set")
    table, paper = pd.read_csv(folder / "table5_error.csv"), pd.read_csv(folder / "paper_vs_ours.csv")
    row = cell(table, regressor="RPART", k=2, partitioner="TSCV")
    ours, reference = (errors_of(rows, "RPART", 2, cut)[1:].mean(axis=1) for cut in ("TSCV", "CV"))
    assert row["rmse"] == pytest.approx(ours.mean(), rel=1e-9) and (row["n_datasets"], row["n_seeds"]) == (27, 6)
    assert row["p_vs_cv"] == pytest.approx(wilcoxon_signed_ranks(ours, reference).p_value, rel=1e-9)
    assert (
        row["n_failed_fits"] == 6 * 2
        and (pd.read_csv(folder / "figure2_convergence.csv").query("regressor == 'RPART'")["n_datasets"] == 27).all()
    )
    number = cell(paper, table="table5", regressor="RPART", metric="rmse", k=2, partitioner="TSCV", quantity="p_vs_CV")
    assert number["reason"].startswith("ours on 27 of 28 data sets") and number["standard_error"] >= 0
    assert paper.query("regressor == 'NN' and k == 2 and partitioner == 'TSCV'")["reason"].str.startswith("ours on").sum() == 0


def test_a_learner_lost_on_all_data_sets_leaves_empty_cells(regression):
    folder, _ = regression("all data sets")
    table = pd.read_csv(folder / "table5_error.csv")
    lost = table[table["regressor"] == "RPART"]
    numbers = [name for name in table if name.startswith(("rmse", "std", "p_", "higher"))]
    assert lost[numbers].isna().all(axis=None) and (lost["n_datasets"] == 0).all() and (lost["n_seeds"] == 0).all()
    assert lost["n_failed_fits"].tolist() == [28 * 6 * 2] * 3 + [28 * 6 * 5] * 3
    assert "RPART,2,CV,,,,,,,,,,,,,0,0,336\n" in (folder / "table5_error.csv").read_text()
    page, tex = (folder / "table5_error.html").read_text(), (folder / "table5_error.tex").read_text()
    assert "<td>–</td>" in page and "nan" not in page and "0 to 28 data sets" in page and " – & –" in tex
    order = pd.read_csv(folder / "error_order.csv")
    assert (
        order.query("regressor == 'RPART'")["ordered"].isna().all() and order.query("regressor == 'NN'")["ordered"].notna().all()
    )


def test_a_learner_lost_with_one_partitioner_leaves_the_comparison_of_the_others(regression):
    folder, _ = regression("one partitioner")
    whole, _ = regression(None)
    table, before = pd.read_csv(folder / "table5_error.csv"), pd.read_csv(whole / "table5_error.csv")
    for k in FOLDS:
        lost = cell(table, regressor="RPART", k=k, partitioner="TSCV")
        assert np.isnan(lost["rmse"]) and lost["n_datasets"] == 0
        now, then = (cell(one, regressor="RPART", k=k, partitioner="SCV2") for one in (table, before))
        names = ["rmse", "std", "p_vs_cv", "higher_vs_cv", "n_datasets", "n_seeds"]
        assert now[names].tolist() == then[names].tolist() and np.isnan(now["p_vs_tscv"])
    curves = pd.read_csv(folder / "figure2_convergence.csv").query("regressor == 'RPART'")
    assert (
        curves.query("partitioner == 'TSCV'")["mean_p"].isna().all()
        and curves.query("partitioner == 'SCV2'")["mean_p"].notna().all()
    )


@pytest.mark.parametrize("kind", ["one fit", "one data set", "all data sets", "one partitioner"])
def test_the_rows_of_the_other_learner_are_the_same_bytes(regression, kind):
    whole, folder = regression(None)[0], regression(kind)[0]
    for name in ("table5_error", "error_order", "error_by_dataset", "figure2_convergence", "paper_vs_ours"):
        lines = [[line for line in (where / f"{name}.csv").read_text().split("\n") if "NN," in line] for where in (whole, folder)]
        assert lines[0] and lines[0] == lines[1]


def test_a_study_in_which_everything_failed_still_has_its_tables(regression):
    folder, _ = regression("everything")
    assert (pd.read_csv(folder / "table5_error.csv")["n_datasets"] == 0).all() and (
        folder / "figures/figure2_convergence.svg"
    ).stat().st_size > 0


def test_scaling_is_compared_on_the_data_sets_where_both_kinds_have_results():
    rows = [
        (f"d{i}", learner, "CV", 5, 4, 0.1 * i + 0.1, 0.1 * i + 0.1 + 0.01 * (i % 3)) for i in range(6) for learner in LEARNERS
    ]
    rows = pd.DataFrame(rows, columns=["dataset", "regressor", "partitioner", "k", "n_seeds", "rmse_global", "rmse_fold"])
    rows.loc[(rows["regressor"] == "RPART") | (rows["dataset"] == "d1"), "rmse_fold"] = np.nan
    table = scaling_table(rows).set_index("regressor")
    assert table["n_datasets"].to_dict() == {"RPART": 0, "NN": 5} and np.isnan(table.loc["RPART", "ratio"])
    rest = rows[(rows["regressor"] == "NN") & (rows["dataset"] != "d1")]
    assert table.loc["NN", "p_value"] == wilcoxon_signed_ranks(rest["rmse_fold"], rest["rmse_global"]).p_value
    assert table.loc["NN", "rmse_global"] == pytest.approx(rest["rmse_global"].mean())


@pytest.fixture(scope="module")
def classes(tmp_path_factory, root):
    """Function that makes all tables and figures of the classification study with one kind of failure."""
    rng, rows, shift = np.random.default_rng(1), [], []
    for d, dataset in enumerate(SETS):
        for k, r in SCHEMES.items():
            for p, cut in enumerate([*PARTITIONERS, "truth"]):
                for run_ in range(N_EXPERIMENTS * r):
                    if cut != "truth":
                        shift.append((dataset, cut, k, run_, *(0.01 * (p + 1) * (1 + rng.random(5)))))
                for i, learner in enumerate(CLASSIFIERS):
                    for run_ in range(N_EXPERIMENTS * r):
                        value = 0.7 + 0.02 * d + 0.06 * i + 0.01 * rng.normal()
                        rows.append((dataset, learner, cut, k, run_, *[value] * len(CLASSIFICATION_METRICS), 0))
    rows = pd.DataFrame(rows, columns=["dataset", "learner", "partitioner", "k", "seed", *CLASSIFICATION_METRICS, "n_failed"])
    rows = rows.assign(n_classes=2.0, n_folds_of_classes=rows["k"])
    rows = rows.sort_values(
        ["dataset", "learner"], key=lambda column: column.map({n: i for i, n in enumerate(SETS + CLASSIFIERS)}), kind="stable"
    )
    shift = pd.DataFrame(shift, columns=["dataset", "partitioner", "k", "run", *MEASURES])
    features = shift.groupby(["dataset", "partitioner", "k"], sort=False).size().rename("n_runs").reset_index()
    kinds = pd.DataFrame([("size", "numeric"), ("target", "target")], columns=["feature", "kind"])
    features = features.merge(kinds, how="cross").assign(**dict.fromkeys(FoldFeature._fields[2:-1], 0.5), verdict="as chance")
    ids = {name: name for name in CLASSIFIERS}
    settings = {"learners": CLASSIFIERS, "datasets": SETS, "partitioners": PARTITIONERS, "iterations": SCHEMES, "alpha": 0.1}
    settings |= {"ids": {"paper": ids}, "variants": {}, "metric": "heom", "held_out": {"n_sample": 100}, "master_seed": 0}
    settings |= {"n_seeds": N_EXPERIMENTS, "n_truth": N_EXPERIMENTS}
    entries = {name: {"import": "foldshift.learners.X", "params": {}} for name in CLASSIFIERS}
    made = {}

    def make_all(kind):
        if kind in made:
            return made[kind]
        folder = tmp_path_factory.mktemp("classes")
        some = with_failures(rows, kind, CLASSIFICATION_METRICS, "LDA", "MS-SCV")
        scores = write_seeds(folder / "seeds", some, CLASSIFICATION_METRICS)
        make = partial(make_items, "moreno_torres_2012", folder=folder, settings=settings)
        printed = [find_studies()["moreno_torres_2012"].folder / f"printed/{name}.csv" for name in items.BESIDE_OURS]
        make("agreement", {"scores": scores, "printed": printed}, learners=entries)
        convergence, curves = write_convergence(folder, some)
        make("convergence", {"rows": convergence, "curves": curves})
        shift.to_parquet(folder / "shift.parquet")
        features.to_parquet(folder / "features.parquet")
        given = {"shift": [folder / "shift.parquet"], "features": [folder / "features.parquet"], "scores": scores}
        make("covariate_shift", given)
        heldout = write_heldout(folder, kind)
        make("heldout", {"rows": heldout})
        make("ablation", {"scores": scores, "convergence": convergence, "heldout": heldout})
        shown = ("accuracy_by_repetitions", "convergence_curves", "covariate_shift_by_dataset", "ablation", "heldout_bias")
        given = zip(("accuracy", "convergence", "shift", "ablation", "heldout"), shown)
        make("result_figures", {name: folder / f"{table}.csv" for name, table in given})
        pd.DataFrame({"dataset": SETS}).to_csv(folder / "table1_datasets.csv", index=False)
        given = {name.partition("_")[0]: folder / f"{name}.csv" for name in items.OURS} | {"scores": scores}
        printed = root / "src/foldshift/studies/moreno_torres_2012/printed"
        make("compare", given | {"printed": [printed / f"{name}.csv" for name in items.PRINTED]})
        made[kind] = folder, some
        return made[kind]

    return make_all


def write_convergence(folder, rows):
    """Rows as `measure_convergence` writes them, NaN for cells with a failed fit."""
    paths = [], []
    for dataset in SETS:
        parts, curves = [], []
        for learner in CLASSIFIERS:
            for cut in PARTITIONERS:
                for k in SCHEMES:
                    of_cell = rows[
                        (rows["dataset"] == dataset)
                        & (rows["learner"] == learner)
                        & (rows["partitioner"] == cut)
                        & (rows["k"] == k)
                    ]
                    failed = (of_cell["n_failed"] > 0).any()
                    rng = np.random.default_rng([SETS.index(dataset), CLASSIFIERS.index(learner), PARTITIONERS.index(cut), k])
                    ends = rng.integers(2, 9, (2, len(THRESHOLDS), len(RULES))).astype(float)
                    found = CellConvergence(
                        dict.fromkeys(ALL_CRITERIA, ends), np.full(len(THRESHOLDS), 9.0), np.full((2, 7), 0.99)
                    )
                    found = unknown(2, 8) if failed else found
                    keys = {"dataset": dataset, "learner": learner, "partitioner": cut, "k": k}
                    parts.append(pd.DataFrame(with_keys(cell_rows(found, 9, failed=failed), keys)))
                    points = {"experiments": np.array([2, 5, 8]), "correlation": found.correlations[:, [0, 3, 6]].mean(axis=0)}
                    curves.append(pd.DataFrame(with_keys(points, keys)))
        for where, frames, name in zip(paths, (parts, curves), ("rows", "curves")):
            where.append(folder / f"{name}-{dataset}.parquet")
            pd.concat(frames, ignore_index=True).to_parquet(where[-1])
    return paths


def write_heldout(folder, kind):
    """Samples of six populations; one lost estimate, or those of a learner as in the scores."""
    rng, rows = np.random.default_rng(2), []
    for population in range(6):
        for replicate in range(3):
            for i, learner in enumerate(CLASSIFIERS):
                for cut in PARTITIONERS:
                    for k in SCHEMES:
                        truth = 0.7 + 0.06 * i + 0.01 * population
                        rows.append(
                            (f"p{population}", replicate, learner, cut, k, truth + 0.01 * rng.normal(), truth, truth + 0.01)
                        )
    columns = ["population", "replicate", "learner", "partitioner", "k", "estimate", "truth_part", "truth_whole"]
    rows = pd.DataFrame(rows, columns=columns)
    if kind:
        lost = PLACES[kind](rows.rename(columns={"population": "dataset", "replicate": "seed"}), "LDA", "MS-SCV")
        rows.loc[lost, "estimate"] = np.nan
        if kind in ("all data sets", "everything"):
            rows.loc[lost, ["truth_part", "truth_whole"]] = np.nan
    paths = []
    for name, part in rows.groupby("population"):
        paths.append(folder / f"{name}.parquet")
        pq.write_table(pa.Table.from_pandas(part, preserve_index=False), paths[-1])
    return paths


def test_an_experiment_with_a_failed_fit_is_not_judged_for_the_pairs_it_lacks(classes):
    folder, _ = classes("one fit")
    table5, table6 = pd.read_csv(folder / "table5_agreement.csv"), pd.read_csv(folder / "table6_accuracy.csv")
    with_lda = table5.query("scheme == '5x1' and partitioner == 'MS-SCV' and row == '1NN'").set_index("column")["n_experiments"]
    assert with_lda.to_dict() == {"LDA": 4, "PART": 5}  # every pair differs truly: the classifiers lie far apart
    assert (table5[(table5["partitioner"] != "MS-SCV") | (table5["scheme"] != "5x1")]["n_experiments"] == 5).all()
    part = table6.query("scheme == '5x1'")  # partitioners are compared on the same experiments
    assert part["n_experiments"].tolist() == [4] * 4 and part["percent"].notna().all()
    assert table6.query("scheme == '2x2'")["n_experiments"].tolist() == [5] * 4
    bias = pd.read_csv(folder / "covariate_shift_by_dataset.csv").query("dataset == 'bands' and scheme == '5x1'")
    assert bias["n_errors"].tolist() == [14] * 4
    assert pd.read_csv(folder / "table7_convergence.csv").query("scheme == '5x1'")["n_pairs"].tolist() == [17] * 8


def test_the_accuracy_with_a_failed_fit_is_that_of_the_experiments_and_pairs_that_are_left(classes):
    folder, rows = classes("one fit")
    wide = rows[(rows["k"] == 5) & rows["partitioner"].isin(["SCV", "truth"])].pivot_table(
        index=["partitioner", "learner", "seed"], columns="dataset", values="auc_crisp"
    )[SETS]
    truth = wide.loc["truth"].groupby("learner").mean()
    shares = []
    for seed in range(N_EXPERIMENTS):
        hits = []
        for a, b in (("1NN", "LDA"), ("1NN", "PART"), ("LDA", "PART")):
            if seed == 2 and "LDA" in (a, b):  # failed with MS-SCV: left out for all partitioners
                continue
            true = wilcoxon_signed_ranks(truth.loc[a], truth.loc[b])
            one = wilcoxon_signed_ranks(wide.loc[("SCV", a, seed)], wide.loc[("SCV", b, seed)])
            hits.append(one.p_value <= true.p_value and (one.r_plus > one.r_minus) == (true.r_plus > true.r_minus))
        shares.append(100 * np.mean(hits))
    row = cell(pd.read_csv(folder / "table6_accuracy.csv"), scheme="5x1", partitioner="SCV")
    assert row["percent"] == pytest.approx(np.mean(shares)) and row["n_pairs"] == 3


def test_a_classifier_lost_on_a_data_set_is_compared_on_the_others(classes):
    folder, rows = classes("one data set")
    table3, table4, table6 = (
        pd.read_csv(folder / f"{name}.csv") for name in ("table3_auc", "table4_wilcoxon", "table6_accuracy")
    )
    lost = table3[(table3["dataset"] == "bands") & (table3["classifier"] == "LDA")]
    assert lost["auc"].isna().all() and (lost["n_experiments"] == 0).all() and table3["auc"].isna().sum() == 2
    with_lda = (table4["row"] == "LDA") | (table4["column"] == "LDA")
    assert (table4.loc[with_lda, "n_datasets"] == 5).all() and (table4.loc[~with_lda, "n_datasets"] == 6).all()
    truth = rows[(rows["k"] == 5) & (rows["partitioner"] == "truth") & (rows["dataset"] != "bands")]
    means = truth.groupby(["learner", "dataset"], sort=False)["auc_crisp"].mean()
    expected = wilcoxon_signed_ranks(means["LDA"], means["PART"])
    assert cell(table4, scheme="5x1", row="LDA", column="PART")["p_value"] == pytest.approx(expected.p_value)
    assert (table6["n_cells"] == 17).all() and (table6["n_datasets"] == 6).all()
    page = (folder / "table3_auc.html").read_text()
    assert "mean of the 5 complete rows" in page and "<td>–</td>" in page
    assert "5 to 6. –: there is none." in (folder / "table4_wilcoxon.html").read_text()
    assert pd.read_csv(folder / "table7_convergence.csv")["n_pairs"].eq(17).all()
    bias = pd.read_csv(folder / "partitioner_bias.csv")
    assert set(bias[bias["classifier"].isin(["LDA", "all"])]["n_datasets"]) == {5}
    assert set(bias[bias["classifier"] == "PART"]["n_datasets"]) == {6}


def test_a_classifier_lost_everywhere_leaves_the_results_of_the_others(classes):
    folder, _ = classes("all data sets")
    whole, _ = classes(None)
    table4, before = (pd.read_csv(where / "table4_wilcoxon.csv") for where in (folder, whole))
    with_lda = (table4["row"] == "LDA") | (table4["column"] == "LDA")
    assert table4.loc[with_lda, ["r_plus", "p_value", "significant"]].isna().all(axis=None)
    pd.testing.assert_frame_equal(table4[~with_lda], before[~with_lda], check_dtype=False)
    table6 = pd.read_csv(folder / "table6_accuracy.csv")
    assert (table6["n_pairs"] == 1).all() and (table6["n_cells"] == 12).all() and table6["percent"].notna().all()
    assert "mean of the 6 complete rows" in (folder / "table3_auc.html").read_text()
    bias = pd.read_csv(folder / "partitioner_bias.csv").set_index("classifier")
    assert bias.loc["LDA", "bias"].isna().all() and bias.loc["all", "n_datasets"].eq(6).all()
    assert pd.read_csv(folder / "table7_convergence.csv")["n_pairs"].eq(12).all()
    assert pd.read_csv(folder / "heldout_bias.csv").query("learner == 'LDA'")["bias"].isna().all()


def test_a_classifier_lost_with_one_partitioner_is_left_out_where_partitioners_are_compared(classes):
    folder, _ = classes("one partitioner")
    whole, _ = classes(None)
    for name in ("table3_auc", "table4_wilcoxon"):  # the truth is whole
        assert (folder / f"{name}.csv").read_bytes() == (whole / f"{name}.csv").read_bytes()
    table5, before = (pd.read_csv(where / "table5_agreement.csv") for where in (folder, whole))
    assert len(table5) == len(before)
    lost = (table5["partitioner"] == "MS-SCV") & ((table5["row"] == "LDA") | (table5["column"] == "LDA"))
    assert lost.sum() == 8 and table5.loc[lost, "agreements"].isna().all() and (table5.loc[lost, "n_experiments"] == 0).all()
    keys = ["configuration", "scheme", "partitioner", "row", "column"]
    rest = table5[~lost].set_index(keys).sort_index()
    pd.testing.assert_frame_equal(rest, before.set_index(keys).loc[rest.index], check_dtype=False)
    table6 = pd.read_csv(folder / "table6_accuracy.csv")
    assert (table6["n_pairs"] == 1).all() and (table6["n_cells"] == 12).all()
    alone = before.query("row == '1NN' and column == 'PART'").set_index(["scheme", "partitioner"])
    for row in table6[table6["scheme"] != "Average"].itertuples():
        assert row.percent == pytest.approx(100 * alone.loc[(row.scheme, row.partitioner), "agreements"] / 5)
    assert pd.read_csv(folder / "table7_convergence.csv")["n_pairs"].eq(12).all()
    heldout = pd.read_csv(folder / "heldout_bias.csv").query("learner == 'all'")
    assert heldout["bias"].notna().all()
    bias = pd.read_csv(folder / "partitioner_bias.csv").query("classifier == 'LDA'").set_index("partitioner")
    assert bias.loc["MS-SCV", "bias"].isna().all() and bias.loc["SCV", "n_datasets"].eq(6).all()


@pytest.mark.parametrize("kind", [None, *PLACES])
def test_no_page_shows_nan_and_every_figure_is_there(classes, regression, kind):
    for folder in (classes(kind)[0], regression(kind)[0]):
        pages = sorted(folder.glob("*.html"))
        figures_of = [*folder.glob("figures/*.svg"), *folder.glob("figures/*.html")]
        for page in (*pages, *sorted(folder.glob("*.tex"))):
            text = page.read_text()
            assert not re.search(r"\b(nan|inf)\b", text), page
        assert len(pages) > 3 and figures_of and all(path.stat().st_size > 0 for path in figures_of)


def test_a_method_without_results_is_not_waited_for_and_a_lost_cell_is_lost_for_all():
    nan = np.nan
    a, b = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), np.array([[1.0, nan], [nan, nan]])
    common = common_results({"a": a, "b": b, "c": np.full((2, 3), nan)})
    np.testing.assert_array_equal(common["a"], [[1, nan, 3], [nan, nan, nan]])
    np.testing.assert_array_equal(common["b"], b)
    assert np.isnan(common["c"]).all()
    whole = {"a": a, "b": a + 1}
    assert all(np.array_equal(common_results(whole)[name], whole[name]) for name in whole)
    assert np.isnan(common_results({"a": np.full((2, 2), nan)})["a"]).all()


def test_mean_and_deviation_of_what_is_there():
    values = np.array([[1.0, 2.0, np.nan], [np.nan] * 3, [np.nan, 7.0, np.nan]])
    np.testing.assert_array_equal(mean_present(values), [1.5, np.nan, 7])
    np.testing.assert_allclose(std_present(values), [np.sqrt(0.5), np.nan, np.nan])


def test_repetitions_without_any_result_on_a_data_set_are_tested_on_the_others():
    rng = np.random.default_rng(0)
    a, b = rng.random((6, 4)), rng.random((6, 4)) + 0.3
    a[0, 1:] = np.nan  # most draws of one seed have nothing there
    mean_p, _ = p_values_by_repetitions(a, b, [1], 50, np.random.default_rng(1))
    first = np.argsort(np.random.default_rng(1).random((50, 4)), axis=1)[:, 0]
    p = {s: wilcoxon_signed_ranks(a[s > 0 :, s], b[s > 0 :, s]).p_value for s in range(4)}
    assert mean_p[0] == pytest.approx(np.mean([p[s] for s in first]))


def test_shades_and_plain_cells_leave_nan_white_and_marked():
    assert shades([3.0, np.nan, 1.0]) == [0.0, 0.0, 1.0] and shades([np.nan, np.nan]) == [0.0, 0.0]
    frame = pd.DataFrame({"a": [1.0, np.nan]})
    assert plain_grid(frame).rows[1][0].text == "–"


def write_scores(path, learner, partitioners, status, message, n_seeds=3, k=2):
    """Score rows of one data set, `status` and `message` by (partitioner, seed, fold)."""
    rows = [(cut, seed, fold) for cut in partitioners for seed in range(n_seeds) for fold in range(k)]
    n = len(rows)
    columns = {"dataset": ["iris"] * n, "learner": [learner] * n, "partitioner": [row[0] for row in rows], "k": [k] * n}
    columns |= {"seed": [row[1] for row in rows], "fold": [row[2] for row in rows], "n_train": [9] * n, "n_test": [9] * n}
    columns |= {"status": [status.get(row, "ok") for row in rows], "message": [message.get(row, "") for row in rows]}
    columns |= {name: [np.nan if row in status else 1.0 for row in rows] for name in METRICS} | {"fit_seconds": [0.1] * n}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_rows(path, columns, SCORE_SCHEMA)
    return path


def collect(results, paths):
    out = {"seeds": results / "saez_2022/seed_scores/iris.parquet", "failures": results / "saez_2022/failures/iris.json"}
    wanted = {
        "learners": {path.parent.name: path.parent.name for path in paths},
        "partitioners": {"CV": "CV", "TSCV": "TSCV"},
        "seeds": {"CV_2x1": 6, "TSCV_2x1": 6},
    }
    run(collect_scores.main, {"scores": paths}, out, task="regression", wanted=wanted)
    return out


def report_failures(results, out):
    folder = results / "saez_2022"
    make_items("saez_2022", "failures", {"failures": [out["failures"]]}, folder, {}, results=str(results))
    return pd.read_csv(folder / "failures.csv"), (folder / "failures.html").read_text()


def test_failures_are_joined_and_counted_with_the_command_that_runs_the_job_again(tmp_path):
    results = tmp_path / "my results"
    scores = results / "saez_2022/scores/iris/CV+TSCV_2x1/0-5/all"
    status = {("CV", 0, 0): "failed", ("CV", 0, 1): "failed", ("CV", 2, 0): "timeout"}
    message = {("CV", 0, 0): "ValueError: x", ("CV", 0, 1): "ValueError: x", ("CV", 2, 0): "no end in 5 s"}
    paths = [write_scores(scores / "NN/0-2.parquet", "NN", ["CV", "TSCV"], {}, {})]
    paths += [write_scores(scores / f"GBM/{block}.parquet", "GBM", ["CV", "TSCV"], status, message) for block in ("0-2", "3-5")]
    out = collect(results, paths)
    seeds = pd.read_parquet(out["seeds"])
    assert seeds.query("learner == 'GBM' and partitioner == 'CV'")["n_failed"].tolist() == [2, 0, 1] * 2
    table, page = report_failures(results, out)
    assert table.iloc[0].tolist() == [
        "iris", "GBM", "CV", 2, "failed", "ValueError: x", 4, 12, 2, "saez_2022/scores/iris/CV+TSCV_2x1/0-5/all/GBM/0-2.parquet",
        f"snakemake --cores 1 --configfile '{results}/provenance/config.yaml' --force "
        f"'{results}/saez_2022/scores/iris/CV+TSCV_2x1/0-5/all/GBM/0-2.parquet'",
    ]  # fmt: skip
    assert table.iloc[1][["status", "message", "n_failed", "n_fits"]].tolist() == ["timeout", "no end in 5 s", 2, 12]
    assert len(table) == 2 and "6 of 36 fits on 1 data sets failed." in page and "GBM on iris" in page


def test_a_study_without_failures_says_so_in_a_sentence(tmp_path):
    path = write_scores(tmp_path / "saez_2022/scores/iris/CV+TSCV_2x1/0-5/all/NN/0-2.parquet", "NN", ["CV", "TSCV"], {}, {})
    out = collect(tmp_path, [path])
    assert json.loads(Path(out["failures"]).read_text()) == {"dataset": "iris", "n_fits": 12, "failures": []}
    table, page = report_failures(tmp_path, out)
    assert table.empty and list(table)[:3] == ["dataset", "learner", "partitioner"]
    assert "No fit failed: 12 fits on 1 data sets." in page


def test_a_data_set_that_failed_as_a_whole_has_a_line_of_its_own_and_the_command_of_the_job_that_it_failed_in():
    wanted = {"learners": {"A": "A", "B": "B"}, "partitioners": {"CV": "CV"}, "seeds": {"CV_5x2": 3}}
    failure = {"learner": "A", "partitioner": "CV", "k": 5, "status": "failed", "message": "no", "n_failed": 1, "n_fits": 9}
    lost = lost_summary("bad", "one value", "resources/fetched/many-1.parquet", wanted)
    lists = [{"dataset": "iris", "n_fits": 9, "failures": [failure | {"files": ["mine/a"]}]}, lost]
    table = failures_table(lists, "results")
    assert table["dataset"].tolist() == ["bad", "iris"] and table["n_failed"].tolist() == [60, 1]
    assert table["command"][0].endswith("--force resources/fetched/many-1.parquet")
    assert table["command"][1].endswith("--force results/mine/a")
    assert table.to_csv(columns=["learner", "k"], index=False).split() == ["learner,k", "all", "learners,", "A,5"]
    page = to_html(failures_grid(table, lists))
    assert "all learners on bad" in page and "61 of 69 fits on 2 data sets failed." in page


def test_many_different_messages_of_a_cell_fill_no_table():
    n = 9
    rows = {"learner": ["A"] * n, "partitioner": ["CV"] * n, "k": np.full(n, 5), "status": ["failed"] * n}
    failed = {"f": rows | {"message": ["often"] * 3 + [f"row {i}" for i in range(n - 3)]}}
    found = count_failures(failed, {("A", "CV", 5): 100})
    assert [(one["message"], one["n_failed"]) for one in found] == [
        ("(2 other messages)", 2), ("often", 3), ("row 0", 1), ("row 1", 1), ("row 2", 1), ("row 3", 1),
    ]  # fmt: skip


def test_a_long_message_is_cut_in_print_only():
    failure = {"learner": "A", "partitioner": "CV", "k": 5, "status": "failed", "message": "x" * 500}
    lists = [{"dataset": "iris", "n_fits": 9, "failures": [failure | {"n_failed": 1, "n_fits": 9, "files": ["a"]}]}]
    table = failures_table(lists, "results")
    page = to_html(failures_grid(table, lists))
    assert table["message"].item() == "x" * 500 and "x" * 159 + "…" in page and "x" * 160 not in page
