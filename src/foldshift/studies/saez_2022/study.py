"""Regressand stratification (Saez and Romero-Bejar 2022): the study with its measures, tables and figures."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from foldshift.engine.study.declare import Cost, Figure, Measure, OutputGroup, Study, Table
from foldshift.studies.common.standard_items import (
    COVARIATE_SHIFT,
    DATASETS,
    STRUCTURED_CUTS,
    failures,
    has_print,
    single_datasets,
    structured_cuts,
)

if TYPE_CHECKING:
    from foldshift.engine.layout.job_layout import CutSpec
    from foldshift.engine.study.run import Run

REFERENCES = ("CV", "TSCV")


def prepared(settings: dict[str, Any]) -> str:
    """Return the scaling of the prepared data sets."""
    return settings["scaling"]


def check_k(run: Run) -> int:
    """Return the number of folds of the scaling check: one that is cut anyway."""
    wanted = run.settings["scaling_check"]["n_folds"]
    return wanted if wanted in run.settings["n_folds"] else run.settings["n_folds"][0]


def of_check(run: Run) -> Callable[[CutSpec], bool]:
    """Make the function that chooses the cells of the scaling check."""
    return lambda cell: cell.partitioner in REFERENCES and cell.k == check_k(run)


def is_checked(run: Run) -> bool:
    """Return True if the run compares both kinds of scaling."""
    return run.settings["scaling_check"]["n_seeds"] > 0


def scaling_cost(run: Run, cell: dict[str, str]) -> Cost:
    """Estimate the cost of the scaling check on a data set: two partitioners and two kinds of scaling.

    Fits that are scaled by training part share nothing, so that every seed costs the start of a call.
    """
    check = run.settings["scaling_check"]
    n_rows, n_features = run.shape(cell["dataset"])
    costs = [run.fit_cost(name, n_rows, n_features) for name in run.learner_ids]
    per_fit, once = (sum(getattr(cost, what) for cost in costs) for what in ("seconds_per_fit", "seconds_once"))
    return Cost(2 * 2 * 2 * check["n_seeds"] * check_k(run) * per_fit + 2 * (1 + check["n_seeds"]) * once)


STUDY = Study(
    cuts=True,
    references=REFERENCES,
    prepared=prepared,
    measures=(
        Measure(
            "compare_scaling",
            function="measure.compare_scaling",
            # The first seeds of the folds that exist anyway; the learners see scaled and raw data cut alike.
            rows={"scaling": "scaling/{dataset}.parquet"},
            cells=lambda run: [{"dataset": name} for name in run.datasets if is_checked(run)],
            inputs=lambda run, cell: {
                "scaled": run.prepared(cell["dataset"], "global"),
                "raw": run.prepared(cell["dataset"], "fold"),
                "folds": run.folds(cell["dataset"], of_check(run), run.settings["scaling_check"]["n_seeds"]),
            },
            params=lambda run, cell: {
                "learners": run.entries(),
                "partitioners": REFERENCES,
                "wanted": run.wanted_folds(cell["dataset"], of_check(run), run.settings["scaling_check"]["n_seeds"]),
                "k": check_k(run),
                "n_seeds": run.settings["scaling_check"]["n_seeds"],
                "master_seed": run.master_seed,
            },
            cost=scaling_cost,
            learners=lambda run: run.learner_ids,
            limited=True,
            message="scaling on the whole set against scaling per fold, {dataset}",
        ),
        COVARIATE_SHIFT,
        STRUCTURED_CUTS,
    ),
    items=(
        DATASETS,
        OutputGroup(
            "setup",
            function="setup_tables.tables",
            inputs=lambda run: {"printed": [run.printed(name) for name in ("table2_regressors", "table3_experiment")]},
            params=lambda run: {"learners": run.entries()},
            local=True,
            message="Tables 2 and 3, regressors and experiment",
            items=(
                Table(
                    "table2_regressors",
                    title="Table 2: the regressors",
                    category="1 Data",
                    caption="Parameters of the regressors in print and here. Not in print: a parameter that the paper does not "
                    "name, at the default of the R package. RPART7 is RPART with R's own 7 samples in a leaf.",
                ),
                Table(
                    "table3_experiment",
                    title="Table 3: the experiment",
                    category="1 Data",
                    caption="What the experiment varies, in print and in this run, with the number of values of each.",
                ),
            ),
        ),
        OutputGroup(
            "shift",
            function="tables.target_shift",
            inputs=lambda run: {"shift": run.per_dataset("seed_shift"), "printed": run.printed("table4_dn")},
            mb=4000,
            message="Table 4, target shift",
            items=(
                Table(
                    "table4_dn",
                    show="grids.shift_grid",
                    title="Table 4: target shift",
                    category="2 Target shift",
                    caption="Target shift that cross-validation itself induces. D_n is the Kolmogorov-Smirnov distance between "
                    "the target's distributions in training and test part, mean over folds, {n_seeds} seeds and data "
                    "sets. CV cuts at random; SCVt spreads t strata of the sorted target over the folds; TSCV has one "
                    "stratum per sample. Smaller is better; D_n should fall from left to right.",
                ),
                Table(
                    "dn_by_dataset",
                    title="D_n of every data set",
                    category="2 Target shift",
                    caption="Mean over folds and seeds, its Monte Carlo standard error, and the standard deviation over seeds. "
                    "Compare small data sets with large ones, and stratified cuts with CV. Where all targets differ, no "
                    "cut can bring D_n to zero: one value in the test part alone is a step.",
                ),
            ),
        ),
        OutputGroup(
            "covariate_shift",
            function="input_shift_tables.tables",
            inputs=lambda run: {"shift": run.rows("covariate_shift"), "features": run.rows("shifted_features")},
            seconds=lambda run: 0.5 + 0.12 * len(run.datasets),
            mb=4000,
            message="shift of the inputs",
            items=(
                Table(
                    "covariate_shift",
                    show="foldshift.studies.common.covariate_shift_tables.shift_grid",
                    shown_with={"reference": "CV"},
                    title="Shift of the inputs",
                    category="2 Target shift",
                    caption="The paper balances the target and leaves the inputs to chance. Distances between the inputs of "
                    "training and test part; smaller is better. KS and Hellinger: single inputs. Energy: all at once. "
                    "Two-sample AUC: how well nearest neighbours tell test rows; compare with CV. Features shifted, "
                    "balanced: share that differs more, or less, than in random cuts.",
                ),
                Table(
                    "covariate_shift_by_dataset",
                    title="Shift of the inputs of every data set",
                    category="2 Target shift",
                    caption="Mean over folds and partitions by data set, number of folds and partitioner, with its Monte Carlo "
                    "standard error. Against random cuts of the same sizes: share of the inputs that are shifted "
                    "(features_more) and balanced (features_less), whether the target is, and the distance as a "
                    "multiple of that of random cuts.",
                ),
                Table(
                    "shifted_features",
                    show="foldshift.studies.common.covariate_shift_tables.shifted_grid",
                    title="Which features the folds shift",
                    category="2 Target shift",
                    caption="Inputs whose values in training and test part differ more than in random cuts of the same sizes "
                    "(shifted), or less (balanced). The one that is shifted most has its distance as a multiple of that "
                    "of random cuts. A learner that relies on a shifted feature is tested on other values than it was "
                    "trained on.",
                ),
            ),
        ),
        structured_cuts("2 Target shift"),
        OutputGroup(
            "error",
            function="tables.error",
            inputs=lambda run: {
                "errors": run.per_dataset("seed_scores"),
                "descriptions": run.descriptions(),
                "printed": run.printed("table5_error"),
            },
            seconds=lambda run: 0.5 + 1e-6 * run.n_fits(),
            mb=4000,
            message="Table 5, error; p-values by repetitions",
            items=(
                Table(
                    "table5_error",
                    show="grids.error_grid",
                    title="Table 5: error and its standard deviation",
                    category="3 Error",
                    caption="Estimated error of the regressors by way of cutting: root mean squared error on the target scaled "
                    "to [0, 1], mean over folds, seeds and data sets (left). Right: its standard deviation over seeds, "
                    "mean over data sets. If target shift harms the estimate, both fall from CV to TSCV. The paper "
                    "prints RPART and NN.",
                ),
                Table(
                    "error_order",
                    title="Does the error fall from CV to TSCV?",
                    category="3 Error",
                    caption="Every step between neighbouring partitioners, with the Monte Carlo standard error of the "
                    "difference. The result falls by more than two errors (yes), moves by less (within error: not shown "
                    "either way), or rises (no): there the paper's order does not hold. Without any difference, one "
                    "step in 44 would be marked yes and one in 44 no.",
                ),
                Table(
                    "error_by_dataset",
                    title="Error of every data set",
                    category="3 Error",
                    caption="Mean over folds and seeds and standard deviation over seeds of the root mean squared error, on the "
                    "target scaled to [0, 1] (rmse, std) and in the target's own units.",
                ),
                Table(
                    "figure2_convergence",
                    title="Figure 2 as a table: p-value by repetitions",
                    category="4 Convergence",
                    caption="How many repetitions show the difference: Wilcoxon's p of every stratified partitioner against CV "
                    "when r repetitions are drawn from the seeds, mean and standard deviation over {convergence[draws]} draws. "
                    "At most a third of the seeds are drawn: with more, the draws would be alike.",
                ),
            ),
        ),
        single_datasets("3 Error", "Root mean squared error", value="rmse", reference="CV", own_units=True),
        OutputGroup(
            "scaling",
            function="tables.scaling",
            inputs=lambda run: {"rows": run.rows("scaling")},
            local=True,
            message="scaling check",
            items=(
                Table(
                    "scaling_check",
                    title="Does scaling on the whole data set leak?",
                    category="3 Error",
                    when=is_checked,
                    caption="The paper scales before cutting, so the training part knows the range of the test part. Mean error "
                    "with this scaling (global) and with scaling fitted on each training part (fold), on the same "
                    "folds. A ratio near 1 says that the shortcut does no harm on average; the largest difference of a "
                    "data set may differ.",
                ),
            ),
        ),
        OutputGroup(
            "target_shift_figure",
            function="figures.target_shift",
            local=True,
            message="Figure 1, what target shift looks like",
            items=(
                Figure(
                    "figure1_target_shift",
                    title="Figure 1: what target shift looks like",
                    category="2 Target shift",
                    caption="The same 60 made-up samples cut in three ways. Open circles train, filled squares test. The more "
                    "the squares spread like the circles, the smaller D_n. Panels (c) and (d) are cut by the "
                    "partitioners of this program: (c) is the worst fold of 20 random partitions, (d) a fold of TSCV.",
                ),
            ),
        ),
        OutputGroup(
            "convergence_figure",
            function="figures.convergence",
            inputs=lambda run: {"table": run.table("figure2_convergence")},
            seconds=2,
            local=True,
            message="Figure 2, p-value against repetitions",
            items=(
                Figure(
                    "figure2_convergence",
                    draw="figures.draw_convergence",
                    title="Figure 2: how many repetitions show the difference?",
                    category="4 Convergence",
                    caption="Mean p-value of Wilcoxon's test of each stratified partitioner against CV when the error is "
                    "averaged over that many repetitions (drawn {convergence[draws]} times, at most a third of the "
                    "seeds). Thin line: the level of the test. The faster a curve falls, the fewer repetitions it "
                    "takes. What the paper claims says which orders can be seen at this size.",
                ),
            ),
        ),
        OutputGroup(
            "shift_figures",
            function="figures.shift",
            inputs=lambda run: {"table": run.table("dn_by_dataset"), "datasets": run.table("table1_datasets")},
            seconds=3,
            local=True,
            message="figures of D_n",
            items=(
                Figure(
                    "dn_boxes",
                    draw="figures.draw_shift_boxes",
                    drawn_from="dn_by_dataset",
                    title="D_n over the data sets",
                    category="2 Target shift",
                    caption="One box per partitioner (line: median, diamond: mean, box: middle half, whiskers: 1.5 box lengths). "
                    "From CV to TSCV there are more strata, and the shift should fall; with more folds the test parts are "
                    "smaller and the shift larger.",
                ),
                Figure(
                    "dn_by_dataset",
                    title="D_n of every data set",
                    category="2 Target shift",
                    caption="Compare small data sets with large ones, and stratified cuts with CV. Where all targets differ, no "
                    "cut can bring D_n to zero.",
                ),
            ),
        ),
        OutputGroup(
            "compare",
            function="compare.paper_vs_ours",
            inputs=lambda run: {
                "datasets": run.table("table1_datasets"),
                "table4": run.table("table4_dn"),
                "table5": run.table("table5_error"),
                "shift": run.per_dataset("seed_shift"),
                "errors": run.per_dataset("seed_scores"),
                "printed": [run.printed(name) for name in ("table1_datasets", "table4_dn", "table5_error")],
            },
            seconds=2,
            mb=4000,
            message="paper versus ours",
            items=(
                Table(
                    "paper_vs_ours",
                    show="foldshift.reporting.paper_vs_ours.compared_grid",
                    when=has_print,
                    title="Paper versus ours",
                    category="5 Paper versus ours",
                    caption="Every number of the paper's Tables 1, 4 and 5 beside ours, with verdict and reason. The standard "
                    "error says how far ours would move with other seeds (here {n_seeds}); print moves as well. "
                    "p-values of Table 5 move by orders of magnitude and have a bootstrap error. RPART has 6 samples in "
                    "a leaf, as printed.",
                ),
                Table(
                    "print_ledger",
                    show="foldshift.reporting.paper_vs_ours.ledger_grid",
                    when=has_print,
                    title="Printed numbers that are met",
                    category="5 Paper versus ours",
                    caption="Rows of paper versus ours, counted. Met: ours differs by at most two standard errors of the "
                    "difference and the rounding of print. Explained: met with 7 samples in a leaf of RPART, or no more "
                    "outside than chance leaves. Expected by chance: how many right numbers two errors leave outside.",
                ),
            ),
        ),
        OutputGroup(
            "claims",
            function="claims.claims",
            inputs=lambda run: {
                "shift": run.table("table4_dn"),
                "shift_by_dataset": run.table("dn_by_dataset"),
                "error": run.table("table5_error"),
                "error_by_dataset": run.table("error_by_dataset"),
                "convergence": run.table("figure2_convergence"),
                "sentences": run.printed("claims"),
            },
            local=True,
            message="claims of the paper",
            items=(
                Table(
                    "claims_ledger",
                    show="foldshift.reporting.claims_ledger.claims_grid",
                    title="What the paper claims",
                    category="5 Paper versus ours",
                    caption="Every sentence of the paper that states a number or an order about results, in our words, with a "
                    "verdict from this run's tables. Orders are judged by two standard errors, or by tests over the data sets. A "
                    "claim whose errors are too large for a verdict cannot be seen here.",
                ),
            ),
        ),
        failures("6 Failures"),
    ),
)
