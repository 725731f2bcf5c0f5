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
CLAIM_SECONDS = {"centroid": 6e-4, "stump": 6e-4, "highdim": 4e-3}  # per simulated data set
PER_FIT = 4e-4
PER_AUDIT = 1.65e-3  # fit, and predictions of the rows held out: mean over the populations
PER_PAIRS = 0.25  # a sample of 100 rows, ten folds, all pairs: .1 with two features, .45 with most
PER_THREE_WAYS = 0.035  # a sample of 203 rows, five folds
PER_PAIR_OF_ROWS = 3e-9  # leave-one-out: once for learners that share work


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
            function="measures.measure_counts.count_correct",
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
            function="measures.measure_claims.simulate_claims",
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
            function="measures.measure_schemes.correlate_schemes",
            rows={"schemes": "schemes/{population}.parquet"},
            cells=lambda run: [{"population": name} for name in run.settings["pairs"]["populations"]],
            params=sample_params("pairs"),
            cost=lambda run, cell: Cost(run.settings["pairs"]["n_replicates"] * PER_PAIRS, 500, 0.1),
            partitioners=lambda run: ["CV"],
            first_call="measures.measure_schemes.first_call",
            message="pairs of learning schemes on samples of {population}",
        ),
        Measure(
            "cut_in_three_ways",
            function="measures.measure_cuts.cut_in_three_ways",
            rows={"cuts": "cuts/{population}.parquet"},
            cells=lambda run: [{"population": name} for name in run.settings["three_ways"]["populations"]],
            params=sample_params("three_ways"),
            cost=lambda run, cell: Cost(run.settings["three_ways"]["n_replicates"] * PER_THREE_WAYS, 500, 0.1),
            message="three ways to cut samples of {population}",
        ),
        Measure(
            "audit_coverage",
            function="measures.measure_audit.audit_coverage",
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
                    show="worked_examples.examples_grid",
                    title="Worked examples",
                    category="1 Worked examples",
                    caption="Every number of the paper's examples: as printed, by the printed formula on the data stated, "
                    "and right. Bold: the three do not agree to the digits printed. The notes say which slip "
                    "explains it.",
                ),
                Table(
                    "cut_sizes",
                    show="cut_tables.cut_sizes_grid",
                    title="Three ways to cut 203 rows into five folds",
                    category="1 Worked examples",
                    caption="Sizes of the folds by the three ways of section 4.3.2, as printed and ours. Variance: of the "
                    "mean of the five accuracies, if rows were independent, as a multiple of p(1 - p) / n. Unequal folds "
                    "raise it.",
                ),
                Table(
                    "table1_textbooks",
                    show="worked_examples.textbooks_grid",
                    title="Table 1: what textbooks say about k-fold cross-validation",
                    category="1 Worked examples",
                    caption="How many folds six textbooks want, how large one must be, whether accuracies are averaged over "
                    "folds or over the data set, and whether to repeat. A dash: nothing. None says how to infer from "
                    "leave-one-out.",
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
                    show="tables.intervals_grid",
                    title="Intervals for the accuracy of one classifier",
                    category="2 Intervals",
                    caption="Accuracy of every classifier with {level_percent} % intervals of one partition; Nadeau and "
                    "Bengio's is of all. Look at how far Wong's two differ on the same predictions. Where the "
                    "conditions fail, read Wilson's. No interval is about the one classifier that is trained on all "
                    "rows.",
                ),
                Table(
                    "comparisons",
                    show="tables.comparisons_grid",
                    title="Which of two classifiers is better?",
                    category="3 Comparisons",
                    caption="Pairs of classifiers: difference of their accuracies, A minus B, and the p-value of each test. "
                    "Bold: significant at {alpha}. Where p-values of a row disagree, the choice of the test decides. "
                    "Phi is the correlation of being right on the same row; the independent z takes it for 0.",
                ),
                Table(
                    "agreement",
                    show="tables.agreement_grid",
                    title="How often tests decide differently",
                    category="3 Comparisons",
                    caption="Over all data sets and pairs of classifiers: per cent in which a test rejects at {alpha}, and "
                    "in which two tests decide differently. The numbers at the head of the columns are those of the "
                    "rows. Rejecting more often is no merit: nobody knows which pairs truly differ.",
                ),
                Table(
                    "average_ranks",
                    show="tables.ranks_grid",
                    title="Average ranks",
                    category="3 Comparisons",
                    caption="Classifiers ranked by leave-one-out accuracy on every data set, 1 is best, and averaged. The "
                    "data sets are the sample. Nemenyi's test does not tell classifiers that share a letter apart at "
                    "{alpha}.",
                ),
                Table(
                    "repetitions",
                    show="tables.repetitions_grid",
                    title="Is it worth repeating cross-validation?",
                    category="4 Repetitions",
                    caption="What other random folds can gain. The paper says: nothing. Repeating removes the variance "
                    "between partitions, but not that of the data. Rho is the share that stays. Enough: repetitions "
                    "after which the choice of folds adds at most a tenth to the standard deviation that stays, in "
                    "90 % of such studies.",
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
                    show="claim_tables.claims_grid",
                    title="The paper's claims, checked where the truth is known",
                    category="5 Claims",
                    when=has_claims,
                    caption="Classifiers on {claims[n_simulations]} data sets drawn from models, so that the truth is known. "
                    "Claimed: the value if the claim held. Measured: with its Monte Carlo error. Bold: further from "
                    "the claim than three errors. Centroid is a stable classifier, stump an unstable one, highdim "
                    "has many inputs. All cases named binomial are exact.",
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
                    show="scheme_tables.schemes_grid",
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
                    show="cut_tables.cuts_grid",
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
                    show="coverage_tables.audit_grid",
                    title="Which interval from one cross-validation can be trusted?",
                    category="6 Coverage",
                    when=has_audit,
                    caption="Per cent of samples whose {level_percent} % interval holds the true error, measured on rows "
                    "outside the sample. Three targets: the mean error of models of a training part, that of the "
                    "models of this cross-validation, and that of the model of the whole sample, which a user gets. "
                    "Bold: below the level by two errors.",
                ),
                Table(
                    "audit_by_partitioner",
                    show="coverage_tables.partitioner_grid",
                    title="Does the way of cutting make intervals more honest?",
                    category="7 Partitioners",
                    when=has_audit,
                    caption="Per cent of samples whose interval holds the target, mean over populations ± error over "
                    "populations. Below: the difference in points from the reference (SCV for classes, CV for "
                    "numbers) on the same samples. Bold: further from 0 than chance allows. A mean is no promise for "
                    "each population; see pairs_below in the CSV file.",
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
                    caption="The first classifier of the study on every data set. Over the data set, all predictions are one "
                    "sample; over the folds, the k accuracies are. Look at how far these two differ on the same "
                    "predictions.",
                ),
                Figure(
                    "critical_difference",
                    title="Critical-difference diagram",
                    category="3 Comparisons",
                    caption="Average ranks of the classifiers by leave-one-out accuracy over the data sets; the best is on "
                    "the left. Bars join classifiers that are not told apart. The length above the axis is the "
                    "difference that would be needed.",
                ),
                Figure(
                    "repetitions",
                    draw="figures.draw_repetitions",
                    title="Is it worth repeating cross-validation?",
                    category="4 Repetitions",
                    caption="Variance of the mean of r repetitions over that of one. Dashed: the paper's claim that "
                    "repeating gains nothing. Grey: a classifier on a data set. Black: their middle. No curve falls "
                    "below the part that the data contribute.",
                ),
                Figure(
                    "sigma_share",
                    title="What ties two papers together",
                    category="5 Claims",
                    when=has_claims,
                    caption="Horizontal: the part of the true variance that Wong's formula counts, one mark per model and "
                    "size. Vertical: how often the interval holds the truth. Overlap of training parts moves marks "
                    "left, and coverage falls with them. The curve is what follows if nothing else is wrong.",
                ),
                Figure(
                    "audit",
                    title="Which interval from one cross-validation can be trusted?",
                    category="6 Coverage",
                    when=has_audit,
                    caption="Share of samples whose interval holds the true error, by partitioner and target. Large marks: "
                    "mean over populations and learners with two errors. Small marks: single ones. Dashed: the "
                    "level, {level_percent} %. Left of it an interval promises too much, right of it it is wider "
                    "than need be. The axis is stretched towards 1.",
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
                    show="foldshift.reporting.claims_ledger.claims_grid",
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
                    show="foldshift.reporting.paper_vs_ours.compared_grid",
                    title="Paper versus ours",
                    category="8 Paper versus ours",
                    caption="Every number of the paper's examples beside ours: by the printed formula on the data stated "
                    "(paper), and right (corrected). Both are exact and have no error. The reason says which slip "
                    "explains a number that differs.",
                ),
                Table(
                    "print_ledger",
                    show="foldshift.reporting.paper_vs_ours.ledger_grid",
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
