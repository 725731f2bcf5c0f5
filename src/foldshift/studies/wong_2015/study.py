"""Declaration of the study on intervals and tests from k-fold and leave-one-out cross-validation (Wong 2015)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from foldshift.engine.layout.seed_blocks import block_range
from foldshift.engine.study.declare import Cost, Figure, Measure, OutputGroup, Study, Table

if TYPE_CHECKING:
    from foldshift.engine.study.run import Run

MOST_REPETITIONS = 1000  # in one job
LEAVE_ONE_OUT = "loo"
CLAIM_SECONDS = {"centroid": 4e-3, "stump": 4e-3, "highdim": 2e-2}  # per simulated data set
PER_FIT = 2e-3
PER_AUDIT = 2.2e-3  # fit, and predictions of the rows held out: mean over the populations
PER_PAIRS = 0.3  # a sample of 100 rows, ten folds, all pairs; .45 with twenty features
PER_THREE_WAYS = 0.08  # a sample of 203 rows, five folds
PER_PAIR_OF_ROWS = 1e-8  # leave-one-out: once for learners that share work


def derive(run: Run) -> dict[str, Any]:
    """Make the words of captions for the level."""
    level = run.settings["level"]
    return {"level_percent": f"{100 * level:g}", "alpha": f"{round(1 - level, 10):g}"}


def has_claims(run: Run) -> bool:
    """True if the run checks the claims."""
    return bool(run.settings["claims"]["models"])


def has_pairs(run: Run) -> bool:
    """True if the run compares pairs of learning schemes."""
    return bool(run.settings["pairs"]["populations"])


def has_three_ways(run: Run) -> bool:
    """True if the run cuts in the paper's three ways."""
    return bool(run.settings["three_ways"]["populations"])


def sample_params(part: str) -> Callable[[Run, dict[str, str]], dict[str, Any]]:
    """Make the parameters of a measure on samples of populations, from a part of the settings."""

    def params(run: Run, cell: dict[str, str]) -> dict[str, Any]:
        chosen = {key: run.settings[part][key] for key in ("n_sample", "n_folds", "n_replicates")}
        return chosen | {"level": run.settings["level"], "master_seed": run.master_seed}

    return params


def ledger_inputs(run: Run) -> dict[str, Any]:
    """Name the tables that claims are judged from, and the sentences; a table that the run lacks has no file."""
    optional = {"claims": has_claims, "schemes": has_pairs, "three_ways": has_three_ways, "audit_by_partitioner": has_audit}
    there = [name for name, has in optional.items() if has(run)]
    files = {name: run.table(name) if name in there else [] for name in optional}
    return files | {name: run.table(name) for name in ("intervals", "repetitions")} | {"sentences": run.printed("claims")}


def has_audit(run: Run) -> bool:
    """True if the run audits coverage."""
    return bool(run.settings["audit"]["populations"])


def count_cells(run: Run) -> list[dict[str, str]]:
    """List the jobs: learner by learner, all numbers of folds, in blocks of repetitions; leave-one-out is in the first block."""
    labels, settings = map(run.learner_label, run.settings["learners"]), run.settings
    wanted: dict[tuple[str, ...], int] = {
        (label, str(k)): settings["n_seeds"] for label in labels for k in (*settings["n_folds"], LEAVE_ONE_OUT)
    }
    return [
        {"dataset": name, "learner": learner, "schemes": schemes, "block": block}
        for name in run.datasets
        for learner, schemes, block in run.pieces(f"folds/{name}", wanted, MOST_REPETITIONS)
    ]


def count_cost(run: Run, cell: dict[str, Any]) -> Cost:
    """Cost of all fits of k-fold, and of leave-one-out."""
    (n_rows, n_features), (start, n_seeds) = run.shape(cell["dataset"]), block_range(cell["block"])
    schemes = cell["schemes"].split("+")
    seconds = n_seeds * sum(int(k) for k in schemes if k != LEAVE_ONE_OUT) * PER_FIT
    if LEAVE_ONE_OUT in schemes and not start:
        seconds += n_rows**2 * n_features * PER_PAIR_OF_ROWS
    return Cost(seconds, 300, 0.1)


def audit_cost(run: Run, cell: dict[str, Any]) -> Cost:
    """Cost of an audit; about half of the learners and partitioners fit the task of a population."""
    audit = run.settings["audit"]
    n_cells = audit["n_replicates"] * len(audit["learners"]) * len(audit["partitioners"]) / 4
    return Cost(n_cells * PER_AUDIT * (audit["n_folds"] + 1), 500, 0.5)


STUDY = Study(
    derive=derive,
    measures=(
        Measure(
            "count_correct",
            function="measure.count_correct",
            rows={kind: f"{kind}/{{dataset}}/{{learner}}/{{schemes}}/{{block}}.parquet" for kind in ("folds", "correct")},
            cells=count_cells,
            inputs=lambda run, cell: {"data": run.prepared(cell["dataset"], "global")},
            params=lambda run, cell: {
                "learners": (learners := run.labelled(cell["learner"])),
                "max_rows": {name: most for name, most in run.settings["max_rows"].items() if name in learners},
                "master_seed": run.master_seed,
            },
            cost=count_cost,
            learners=lambda run: run.settings["learners"],
            partitioners=lambda run: ["CV"],
            limited=True,
            message="correct predictions on {dataset}, {learner}, {schemes} folds, repetitions {block}",
        ),
        Measure(
            "simulate_claims",
            function="measure_claims.simulate_claims",
            rows={"claims": "claims/{model}.parquet"},
            cells=lambda run: [{"model": model} for model in run.settings["claims"]["models"]],
            params=lambda run, cell: {
                "n_simulations": run.settings["claims"]["n_simulations"],
                "level": run.settings["level"],
                "master_seed": run.master_seed,
            },
            cost=lambda run, cell: Cost(run.settings["claims"]["n_simulations"] * CLAIM_SECONDS[cell["model"]], 500, 0.1),
            message="claims on the model {model}",
        ),
        Measure(
            "correlate_schemes",
            function="measure_schemes.correlate_schemes",
            rows={"schemes": "schemes/{population}.parquet"},
            cells=lambda run: [{"population": name} for name in run.settings["pairs"]["populations"]],
            params=sample_params("pairs"),
            cost=lambda run, cell: Cost(run.settings["pairs"]["n_replicates"] * PER_PAIRS, 500, 0.1),
            message="pairs of learning schemes on samples of {population}",
        ),
        Measure(
            "cut_in_three_ways",
            function="measure_cuts.cut_in_three_ways",
            rows={"cuts": "cuts/{population}.parquet"},
            cells=lambda run: [{"population": name} for name in run.settings["three_ways"]["populations"]],
            params=sample_params("three_ways"),
            cost=lambda run, cell: Cost(run.settings["three_ways"]["n_replicates"] * PER_THREE_WAYS, 500, 0.1),
            message="three ways to cut samples of {population}",
        ),
        Measure(
            "audit_coverage",
            function="measure_audit.audit_coverage",
            rows={"audit": "audit/{population}.parquet"},
            cells=lambda run: [{"population": name} for name in run.settings["audit"]["populations"]],
            inputs=lambda run, cell: {"data": run.population(cell["population"])},
            params=lambda run, cell: {
                **{key: run.settings["audit"][key] for key in ("n_sample", "n_folds", "n_replicates", "partitioners")},
                "learners": run.entries(run.settings["audit"]["learners"]),
                "master_seed": run.master_seed,
            },
            cost=audit_cost,
            learners=lambda run: run.settings["audit"]["learners"],
            partitioners=lambda run: run.settings["audit"]["partitioners"],
            limited=True,
            message="coverage of intervals on samples of {population}",
        ),
    ),
    items=(
        OutputGroup(
            "examples",
            function="worked_examples.examples",
            local=True,
            message="worked examples, printed and corrected; Table 1",
            items=(
                Table(
                    "examples",
                    title="Worked examples",
                    category="1 Worked examples",
                    caption="Every number of the examples of Wong (2015): what is printed, what the printed formula gives for "
                    "the data stated, and what is right. Bold: the three do not agree to the digits printed. The variance over "
                    "the folds of Example 1 is 0.0070 / 4 = 0.00175, not 0.0007; Example 2 states frequencies that two "
                    "classifiers with 80 and 84 right of 100 cannot have, and a formula that lacks a square. All numbers are "
                    "computed when the table is made.",
                ),
                Table(
                    "cut_sizes",
                    title="Three ways to cut 203 rows into five folds",
                    category="1 Worked examples",
                    caption="Sizes of the folds by the three ways of section 4.3.2, as printed and ours. Variance: of the "
                    "mean of the five accuracies, if rows were independent, as a multiple of p(1 - p) / n. Unequal folds "
                    "raise it.",
                ),
                Table(
                    "table1_textbooks",
                    title="Table 1: what textbooks say about k-fold cross-validation",
                    category="1 Worked examples",
                    caption="How many folds six textbooks want, how large one must be, whether accuracies are averaged over "
                    "folds or over the data set, and whether to repeat. A dash: nothing. They disagree, which is why the paper "
                    "was written; none says how to infer from leave-one-out.",
                ),
            ),
        ),
        OutputGroup(
            "intervals",
            function="tables.intervals",
            inputs=lambda run: {kind: run.rows(kind) for kind in ("folds", "correct")},
            seconds=4,
            mb=1500,
            message="intervals, comparisons, repetitions",
            items=(
                Table(
                    "intervals",
                    title="Intervals for the accuracy of one classifier",
                    category="2 Intervals",
                    caption="Accuracy of every classifier with {level_percent} % intervals. Wong's interval over the data set "
                    "takes all predictions for one binomial sample; the one over the folds takes the k accuracies for a sample, "
                    "with t; for leave-one-out (k is 0 in the CSV file) every row is a fold. Wilson's is the one to read of the "
                    "two binomial ones where errors are few, and never leaves 0 to 1. These three are of one partition. Nadeau "
                    "and Bengio's is about the mean over all repetitions and makes up for training sets that overlap. Look at "
                    "how far the first two differ on the same predictions, and at the last column: conditions that fail mean "
                    "that the normal intervals should not be used. None is about the one classifier trained on all rows: Wong's "
                    "and Wilson's over the data set are about the mean accuracy of the k classifiers of the folds, the others "
                    "about the average over training sets of this size.",
                ),
                Table(
                    "comparisons",
                    title="Which of two classifiers is better?",
                    category="3 Comparisons",
                    caption="Pairs of classifiers: difference of their accuracies, A minus B, and the p-value of every test of "
                    "the paper and of those used today on the same predictions. Bold: significant at {alpha}. Read a row from "
                    "left to right: where p-values disagree, the choice of the test decides. The matched t over folds takes the "
                    "folds for independent; Nadeau-Bengio corrects it and uses all repetitions; McNemar looks at the rows on "
                    "which only one of the two is right; the independent z takes the two classifiers to err independently, in "
                    "which case phi, the correlation of their being right on the same row, would be 0. For leave-one-out the "
                    "printed formula of the matched t lacks a square and rejects whenever there is any difference.",
                ),
                Table(
                    "agreement",
                    title="How often tests decide differently",
                    category="3 Comparisons",
                    caption="Which test is chosen matters: over all data sets and pairs of classifiers, in how many per cent "
                    "each test rejects at {alpha} that the two are equally good, and in how many two tests come to different "
                    "decisions. The numbers at the head of the columns are those of the rows. Rejecting more often is no merit "
                    "here, since nobody knows which pairs truly differ.",
                ),
                Table(
                    "average_ranks",
                    title="Average ranks",
                    category="3 Comparisons",
                    caption="Classifiers ranked by leave-one-out accuracy on every data set, 1 is best, and averaged; the data "
                    "sets are the sample, never folds or repetitions. Classifiers that share a letter are not told apart at "
                    "{alpha} by Nemenyi's test.",
                ),
                Table(
                    "repetitions",
                    title="Is it worth repeating cross-validation?",
                    category="4 Repetitions",
                    caption="What repeating k-fold cross-validation with other random folds can gain. The paper says that it "
                    "does not reduce the variance of the estimate. It does, but not below what the sample itself contributes: "
                    "the estimate varies between partitions of the same data (the variance that repeating removes), and with the "
                    "data (the one that it cannot remove). rho, the correlation of two partitions' estimates, is also the share "
                    "of the variance that no number of repetitions removes: the variance of the mean of r repetitions is (1 + (r "
                    "- 1) rho) / r of that of one. Enough: repetitions after which the standard deviation that the choice of "
                    "partitions leaves is at most a tenth of the one that repeating cannot remove, in 90 % of such studies; more "
                    "make a figure more exact that does not get nearer to the truth.",
                ),
            ),
        ),
        OutputGroup(
            "claims",
            function="claim_tables.claims",
            inputs=lambda run: {"rows": run.rows("claims")},
            seconds=2,
            local=True,
            message="the paper's claims, checked where the truth is known",
            items=(
                Table(
                    "claims",
                    title="The paper's claims, checked where the truth is known",
                    category="5 Claims",
                    when=has_claims,
                    caption="Classifiers on {claims[n_simulations]} data sets drawn from models, cross-validated, so that true "
                    "variances and true coverage are known up to the Monte Carlo error shown. Are the accuracies of folds "
                    "independent? Do different classifiers err independently? Is repeating useless? Should folds with few errors "
                    "be left out? Claimed is what the quantity would be if the claim held; measured is given plus or minus its "
                    "Monte Carlo standard error. Bold: further from what is claimed than three standard errors. Where a claim "
                    "stands on one model and falls on another, it depends on the classifier: centroid is stable, stump is "
                    "unstable on purpose, highdim has many inputs.",
                ),
            ),
        ),
        OutputGroup(
            "schemes",
            function="scheme_tables.schemes",
            inputs=lambda run: {"rows": run.rows("schemes")},
            seconds=2,
            local=True,
            message="learning schemes that may be right independently",
            items=(
                Table(
                    "schemes",
                    title="Which learning schemes are right independently of each other?",
                    category="5 Claims",
                    when=has_pairs,
                    caption="Pairs of learning schemes that section 3 names, on {pairs[n_replicates]} samples of "
                    "{pairs[n_sample]} rows of each population, cross-validated with the same folds. Phi is the correlation of "
                    "being right on the same row. Errors are Monte Carlo errors on these populations. Bold: the paper says "
                    "independent, and phi is further from 0 than two errors.",
                ),
            ),
        ),
        OutputGroup(
            "three_ways",
            function="cut_tables.cuts",
            inputs=lambda run: {"rows": run.rows("cuts")},
            seconds=2,
            local=True,
            message="what the three ways to cut change",
            items=(
                Table(
                    "three_ways",
                    title="What do the three ways to cut change?",
                    category="5 Claims",
                    when=has_three_ways,
                    caption="{three_ways[n_replicates]} samples of {three_ways[n_sample]} rows of each population, cut into "
                    "{three_ways[n_folds]} folds in the three ways of section 4.3.2, and once more in the third. Means over "
                    "populations, with Monte Carlo errors. Compare ways 1 and 2 with “3 again”: what the third way moves by "
                    "chance is no effect of the way.",
                ),
            ),
        ),
        OutputGroup(
            "audit",
            function="coverage_tables.audit",
            inputs=lambda run: {"rows": run.rows("audit")},
            seconds=2,
            mb=1500,
            message="coverage of every interval, by partitioner",
            items=(
                Table(
                    "audit",
                    title="Which interval from one cross-validation can be trusted?",
                    category="6 Coverage",
                    when=has_audit,
                    caption="Samples of a population are cross-validated, and every interval is held against the true error, "
                    "measured on rows outside the sample. Cells: per cent of the samples whose interval holds the target. An "
                    "honest {level_percent} % interval holds it in {level_percent} of 100; below that it promises too much, "
                    "above it is wider than it need be. Three targets, which differ: the mean error of models trained on a "
                    "training part (one number for all samples), the mean error of the models of this very cross-validation, and "
                    "the error of the model trained on the whole sample, which is what a user gets. Bold: below the level by "
                    "more than two Monte Carlo standard errors. Bias: mean of estimate less target, plus or minus its error. "
                    "Where a data set is the population, intervals look wider than they are for an endless population, the more "
                    "the larger a sample is as a share of it.",
                ),
                Table(
                    "audit_by_partitioner",
                    title="Does the way of cutting make intervals more honest?",
                    category="7 Partitioners",
                    when=has_audit,
                    caption="Per cent of samples whose interval holds the target, mean over populations (of each the mean over "
                    "learners), plus or minus the standard error over populations; below, the difference in percentage points "
                    "from the reference (SCV for classes, CV for numbers) on the same samples. Bold: further from 0 than two "
                    "standard errors. A partitioner helps where its coverage lies nearer the level than that of the reference by "
                    "more than that; the notes count where it does. Bias: mean of estimate less target, in units of the loss "
                    "(0/1 error, or squared error as a share of the variance of the target). Two things can move coverage: this "
                    "bias, and folds that are made alike or unlike, which may shrink or widen the intervals that rest on the "
                    "spread between folds (S2/K, Nadeau-Bengio, theta_5), and those that rest on all rows much less. SCV need "
                    "not be free of bias itself where errors are counted: test parts have the class shares of the sample, new "
                    "rows those of the population, so that a learner that does little more than guess the larger class looks "
                    "better than it is. A mean is no promise for each population: pairs_below of the CSV file counts the pairs "
                    "of population and learner that are covered less than the level by more than two Monte Carlo errors.",
                ),
            ),
        ),
        OutputGroup(
            "figures",
            function="figures.figures",
            inputs=lambda run: {kind: run.rows(kind) for kind in ("folds", "claims", "audit")},
            seconds=6,
            mb=1500,
            message="figures of intervals, ranks, repetitions, claims, coverage",
            items=(
                Figure(
                    "intervals",
                    title="Intervals for the accuracy of one classifier",
                    category="2 Intervals",
                    caption="The first classifier of the study on every data set; the table has all of them. Over the data set: "
                    "all predictions are one sample of right and wrong. Over the folds: the accuracies of the k folds are the "
                    "sample. Leave-one-out: every row is a fold. Look at how far the first two differ on the same predictions. "
                    "None is about the one classifier trained on all rows: over the data set, it is the k classifiers of the "
                    "folds, over the folds the average over training sets of this size.",
                ),
                Figure(
                    "critical_difference",
                    title="Critical-difference diagram",
                    category="3 Comparisons",
                    caption="Average ranks of the classifiers over the data sets, by leave-one-out accuracy; the best is on the "
                    "left. Bars join classifiers that are not told apart; the length above the axis is the difference of average "
                    "ranks that would be needed.",
                ),
                Figure(
                    "repetitions",
                    title="Is it worth repeating cross-validation?",
                    category="4 Repetitions",
                    caption="The paper says that repeating with other random folds does not reduce the variance of the estimate: "
                    "the dashed line. It does, but not below what the sample itself contributes: the variance of the mean of r "
                    "repetitions is (1 + (r - 1) rho) / r of that of one. Every grey curve is a classifier on a data set, the "
                    "black one their middle. The table gives the number of repetitions after which the choice of folds leaves a "
                    "standard deviation of at most a tenth of the one that stays, and the most that repeating could ever take "
                    "off.",
                ),
                Figure(
                    "sigma_share",
                    title="What ties two papers together",
                    category="5 Claims",
                    when=has_claims,
                    caption="Geras and Sutton split the variance of a cross-validation estimate into three parts: from single "
                    "rows (sigma), from pairs of rows in the same fold (omega), and from pairs in different folds (gamma). "
                    "Wong's formula is the first part alone. On the horizontal axis: its share of the true variance, one mark "
                    "per model, number of folds and rows of a fold. On the vertical axis: how often the interval holds the "
                    "truth. If overlap of the training parts is the cause, the less stable the learner, the further left and the "
                    "lower. The curve is what follows if nothing else is wrong.",
                ),
                Figure(
                    "audit",
                    title="Which interval from one cross-validation can be trusted?",
                    category="6 Coverage",
                    when=has_audit,
                    caption="Share of samples of a population whose interval holds the true error, measured on rows outside the "
                    "sample, by partitioner. Large marks: mean over populations and learners with two standard errors; small "
                    "marks: the single ones; dashed line: the level, {level_percent} %. The axis is stretched towards 1. Three "
                    "targets, which differ: the mean error of models trained on a training part, the mean error of the models of "
                    "this very cross-validation, and the error of the model trained on the whole sample, which is what a user "
                    "gets. Left of the line an interval promises too much, right of it it is wider than it need be.",
                ),
            ),
        ),
        OutputGroup(
            "claims_ledger",
            function="claims.ledger",
            inputs=ledger_inputs,
            seconds=2,
            local=True,
            message="every claim of the paper, and whether it holds",
            items=(
                Table(
                    "claims_ledger",
                    title="Every claim of the paper, and whether it holds",
                    category="8 Paper versus ours",
                    caption="Every sentence of the paper that states a number or an order, in our words, with its section. "
                    "Orders are judged with their errors; a claim that this run cannot show says so. The evidence "
                    "stands in the item named last.",
                ),
            ),
        ),
        OutputGroup(
            "compare",
            function="compare.paper_vs_ours",
            local=True,
            message="paper versus ours",
            items=(
                Table(
                    "paper_vs_ours",
                    title="Paper versus ours",
                    category="8 Paper versus ours",
                    caption="Every number of the paper's worked examples beside ours: by the printed formula on the data stated "
                    "(paper), and done right (corrected). Both are exact, so that there is no standard error; the note says "
                    "whether they agree with print to the digits printed, and why not.",
                ),
                Table(
                    "print_ledger",
                    title="Printed numbers that are met",
                    category="8 Paper versus ours",
                    caption="Printed numbers of the worked examples. Met: the printed formula, on the data stated, gives the "
                    "printed number to the digits printed. Explained: it does not, and paper versus ours says which "
                    "slip does.",
                ),
            ),
        ),
    ),
)
