"""Regressand stratification (Saez and Romero-Bejar 2022): the study with its measures, tables and figures."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from foldshift.engine.study.declare import Cost, Figure, Measure, OutputGroup, Study, Table
from foldshift.studies.common.standard_items import COVARIATE_SHIFT, DATASETS, failures, has_print, single_datasets

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
    ),
    items=(
        DATASETS,
        OutputGroup(
            "shift",
            function="tables.target_shift",
            inputs=lambda run: {"shift": run.per_dataset("seed_shift")},
            mb=4000,
            message="Table 4, target shift",
            items=(
                Table(
                    "table4_dn",
                    title="Table 4: target shift",
                    category="2 Target shift",
                    caption="Target shift that cross-validation itself induces: the Kolmogorov-Smirnov distance D_n between the "
                    "target's distributions in training and test part, mean over folds, {n_seeds} seeds and data sets. CV cuts "
                    "at random; SCVt first sorts by target into t strata and spreads each over the folds; TSCV is the extreme, "
                    "one stratum per sample. Smaller is better. With the partitioners from CV to TSCV, D_n should fall from left "
                    "to right.",
                ),
                Table(
                    "dn_by_dataset",
                    title="D_n of every data set",
                    category="2 Target shift",
                    caption="Mean over folds and seeds, its Monte Carlo standard error, and the standard deviation over seeds. "
                    "Compare small data sets with large ones, and stratified cuts with CV. Where all targets differ, no cut can "
                    "bring D_n to zero: one value in the test part alone is a step.",
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
                    title="Shift of the inputs",
                    category="2 Target shift",
                    caption="The paper balances the target and leaves the inputs to chance: how different are the inputs of "
                    "training and test part? Smaller is better. KS: largest difference between the distribution functions of an "
                    "input (nominal ones: total variation), mean and largest over the inputs. Hellinger: distance between the "
                    "histograms of an input, mean over the inputs, at most the root of 2. Energy: energy distance of all inputs "
                    "at once. Two-sample AUC: how well a row's five nearest neighbours tell whether it is a test row; .5 would "
                    "be chance; compare with CV, which lies slightly below it itself, and where it is less the parts are more "
                    "alike than a random cut makes them. Features shifted and balanced: share of the inputs that differ more, or "
                    "less, than in random cuts of the same sizes. Stratifying on the target can only help inputs that go with "
                    "it; CB-TSCV, where it is among the partitioners, balances target and inputs at once.",
                ),
                Table(
                    "covariate_shift_by_dataset",
                    title="Shift of the inputs of every data set",
                    category="2 Target shift",
                    caption="For every data set, number of folds and partitioner: mean over folds and partitions, with its Monte "
                    "Carlo standard error. Against random cuts of the same sizes: share of the inputs that are shifted "
                    "(features_more) and balanced (features_less), whether the target is (more, less, as chance), and the "
                    "distance between training and test part as a multiple of that of random cuts, mean over the inputs.",
                ),
                Table(
                    "shifted_features",
                    title="Which features the folds shift",
                    category="2 Target shift",
                    caption="Inputs whose values in training and test part differ more than in random cuts of the same sizes "
                    "(shifted; the one that is shifted most with its distance as a multiple of that of random cuts), or less "
                    "(balanced), for every data set, number of folds and partitioner. A learner that relies on a shifted feature "
                    "is tested on other values than it was trained on. The CSV file has a row for every feature and the target.",
                ),
            ),
        ),
        OutputGroup(
            "error",
            function="tables.error",
            inputs=lambda run: {"errors": run.per_dataset("seed_scores"), "descriptions": run.descriptions()},
            seconds=lambda run: 0.5 + 1e-6 * run.n_fits(),
            mb=4000,
            message="Table 5, error; p-values by repetitions",
            items=(
                Table(
                    "table5_error",
                    title="Table 5: error and its standard deviation",
                    category="3 Error",
                    caption="Estimated error of the regressors by way of cutting: root mean squared error on the target scaled "
                    "to [0, 1], mean over folds, seeds and "
                    "data sets (left), and its standard deviation over seeds, averaged over data sets (right). If target shift "
                    "harms the estimate, both fall from CV "
                    "to TSCV. The paper prints RPART and NN; the other regressors are ours.",
                ),
                Table(
                    "error_order",
                    title="Does the error fall from CV to TSCV?",
                    category="3 Error",
                    caption="Every step between neighbouring partitioners: difference of the means, its Monte Carlo standard "
                    "error, and whether the result falls by more than two standard errors (yes), moves by at most two (within "
                    "error: not shown either way) or rises by more (no): there the paper's order does not hold in this run. If "
                    "neighbouring partitioners did not differ at all, one step in 44 would be marked yes and one in 44 no by "
                    "chance.",
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
                    "when r repetitions are drawn from the "
                    "seeds, mean and standard deviation over {convergence[draws]} draws.",
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
                    caption="The paper scales before cutting, so the training part knows the range of the test part. Mean root "
                    "mean squared error over the data sets with inputs and target scaled to [0, 1] before cutting (global) and "
                    "with the scaling fitted on each training part (fold), on the same folds, both in units of the target's "
                    "whole range; their ratio, the largest relative difference of a data set, and Wilcoxon's p over the data "
                    "sets. A ratio near 1 means that the shortcut did no harm on average; the largest difference tells whether "
                    "single data sets differ. Trees should hardly change, as scaling keeps the order of values; distances and "
                    "random hidden layers do.",
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
                    "the squares spread like the circles, the smaller D_n. Panels (c) and (d) are cut by the partitioners of "
                    "this program: (c) is the worst fold of 20 random partitions, (d) a fold of TSCV.",
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
                    title="Figure 2: how many repetitions show the difference?",
                    category="4 Convergence",
                    caption="Mean p-value of Wilcoxon's test of each stratified partitioner against CV when the error is "
                    "averaged over that many repetitions (drawn {convergence[draws]} times from the seeds). The thin line is the "
                    "level of the test. The faster a curve falls, the fewer repetitions show the difference.",
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
                    when=has_print,
                    title="Paper versus ours",
                    category="5 Paper versus ours",
                    caption="Every number of the paper's Tables 1, 4 and 5 beside ours: ratio, and the standard error that says "
                    "how far our number would move with other seeds (the run has {n_seeds}, the paper 1000); the paper's own "
                    "numbers move as well. The p-values of Table 5 vary by orders of magnitude with the seeds and carry a "
                    "bootstrap error; compare them by size and asterisk, not digit by digit. RPART has 6 samples in a leaf, as "
                    "the paper's Table 2 says; with 7, R's own default, its numbers come nearer to print (learner RPART7, where "
                    "the run has it, in the notes).",
                ),
                Table(
                    "print_ledger",
                    when=has_print,
                    title="Printed numbers that are met",
                    category="5 Paper versus ours",
                    caption="Printed numbers by table. Met: ours differs by at most two standard errors of the difference (ours, "
                    "and the print's, which rests on 1,000 seeds) and the rounding of the print: by chance alone one in twenty "
                    "is not. Explained: RPART's that are met with 7 samples in a leaf, see paper versus ours, and mean errors of "
                    "NN that differ by less than the order of rows can make, which decides between samples at equal distance. "
                    "p-values of Table 5 move by orders of magnitude with the seeds; their errors are by bootstrap.",
                ),
            ),
        ),
        failures("6 Failures"),
    ),
)
