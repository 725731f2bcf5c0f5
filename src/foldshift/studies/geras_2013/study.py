"""Declaration of the study on cross-validation over several sources and its variance (Geras and Sutton 2013)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foldshift.core.errors import ConfigError
from foldshift.engine.layout.seed_blocks import block_range
from foldshift.engine.study.declare import Cost, Figure, Measure, OutputGroup, Study, Table

if TYPE_CHECKING:
    from foldshift.engine.study.run import Run

# Seconds of one core per review and fit, per fit, and per data set.
TEXT_SECONDS = {"NB": (4e-8, 1e-5, 4e-4), "SVM": (2.4e-7, 1e-5, 6e-4)}
MODEL_SECONDS = {"centroid": 2.5e-3, "stump": 2.5e-3, "highdim": 2e-2}  # per simulated data set, all settings
CLAIM_TABLES = (
    "figure2_error",
    "figure3_spread",
    "figure4_decomposition",
    "estimators",
    "table1_bias",
    "table2_bias",
    "proposition1",
)
VARIANCE_ROWS = ("estimates", "components", "single_source")
MESSAGE = "{learner}, sampling {sampling} replacement"


def check(settings: dict[str, Any]) -> None:
    """Raise if there are too few domains: one is held out of every draw."""
    domains = settings["domains"]
    numbers = {"n_sources": max(settings["n_sources"]), "held_fixed.n_sources": settings["held_fixed"]["n_sources"]}
    for key, number in numbers.items():
        if number > len(domains) - 1:
            raise ConfigError(
                f"geras_2013.{key}={number} must be at most {len(domains) - 1}: of the {len(domains)} domains one is held out; "
                "lower it or add domains"
            )


def reviews(run: Run, ending: str) -> str:
    """Name the file of counted words of the reviews (``npz``), or of their origin (``json``)."""
    return f"<resources>/reviews/{run.id}/{run.settings['reviews']}.{ending}"


def counts(run: Run, cell: dict[str, Any]) -> dict[str, str]:
    """Name the input of both measures."""
    return {"counts": reviews(run, "npz")}


def samples(run: Run) -> list[dict[str, str]]:
    """List learners with the ways of drawing data sets from the reviews."""
    return [{"learner": name, "sampling": one} for name in run.settings["learners"] for one in run.settings["sampling"]]


def data_set_seconds(learner: str, n_sources: int, n_points: int) -> float:
    """Seconds of one data set: both ways of cutting, and a fit on all of it."""
    per_review, per_fit, once = TEXT_SECONDS[learner]
    return once + (2 * n_sources + 1) * (per_fit + per_review * n_sources * n_points)


def error_cost(run: Run, cell: dict[str, Any]) -> Cost:
    """Cost of a block of draws, each with data sets at all points of both axes."""
    settings, fixed = run.settings, run.settings["held_fixed"]
    grid = {(k, fixed["n_points"]) for k in settings["n_sources"]} | {(fixed["n_sources"], m) for m in settings["n_points"]}
    n_datasets = settings["n_datasets"] * block_range(cell["block"])[1]
    return Cost(n_datasets * sum(data_set_seconds(cell["learner"], k, m) for k, m in grid), 300, 0.1)


def variance_cost(run: Run, cell: dict[str, Any]) -> Cost:
    """Cost of the data sets of all domains."""
    seconds = data_set_seconds(cell["learner"], len(run.settings["domains"]), int(cell["points"]))
    return Cost(run.settings["n_truth"] * seconds, 300, 0.5)


STUDY = Study(
    check=check,
    origins=lambda run: [reviews(run, "json")],
    measures=(
        Measure(
            "measure_error",
            function="measure.measure_error",
            rows={"error": "error/{learner}/{sampling}/{block}.parquet"},
            cells=lambda run: [
                sample | {"block": block}
                for sample in samples(run)
                for block in run.blocks(
                    "error/{learner}/{sampling}".format(**sample), run.settings["n_seeds"], run.settings["draws_per_block"]
                )
            ],
            inputs=counts,
            params=lambda run, cell: (
                run.pick("n_datasets", "n_sources", "n_points", "held_fixed") | {"master_seed": run.master_seed}
            ),
            cost=error_cost,
            first_call="measure.first_call",
            message=f"error on several sources, draws {{block}}, {MESSAGE}",
        ),
        Measure(
            "measure_variance",
            function="measure.measure_variance",
            rows={kind: f"{kind}/{{learner}}/{{sampling}}/{{points}}.parquet" for kind in VARIANCE_ROWS},
            cells=lambda run: [sample | {"points": points} for sample in samples(run) for points in run.settings["n_points"]],
            inputs=counts,
            params=lambda run, cell: run.pick("n_truth") | {"master_seed": run.master_seed},
            cost=variance_cost,
            message=f"variance with {{points}} reviews per domain, {MESSAGE}",
            patterns={"points": "[0-9]+"},
        ),
        Measure(
            "simulate_model",
            function="measure_models.simulate_model",
            rows={"models": "models/{model}.parquet"},
            cells=lambda run: [{"model": model} for model in run.settings["models"]],
            params=lambda run, cell: run.pick("n_simulations") | {"master_seed": run.master_seed},
            cost=lambda run, cell: Cost(run.settings["n_simulations"] * MODEL_SECONDS[cell["model"]], 500, 0.5),
            message="model of several sources, {model}",
        ),
    ),
    items=(
        OutputGroup(
            "error",
            function="tables.error",
            inputs=lambda run: {"rows": run.rows("error")},
            seconds=1,
            mb=1500,
            message="estimates against the error on a new source",
            items=(
                Table(
                    "figure2_error",
                    show="tables.error_grid",
                    title="Figure 2 as a table: what cross-validation promises, and what a new source delivers",
                    category="1 Bias and spread",
                    caption="Does cross-validation promise too much on a source that it has not seen? CVS leaves one source "
                    "out, CVR cuts at random, OSE is the error on a source held out. Paper: CVR < OSE < CVS. The reviews are "
                    "{kind_of_reviews}. Means over {n_seeds} draws of domains with {n_datasets} data sets each, ± standard "
                    "error; bold: above 0 by two errors.",
                ),
                Table(
                    "figure3_spread",
                    show="tables.spread_grid",
                    title="Figure 3 as a table: spread of the estimate",
                    category="1 Bias and spread",
                    caption="How much do the estimates vary when the sources stay the same? Standard deviation over data "
                    "sets, mean over {n_seeds} draws of domains, ± standard error. The paper: CVS varies more, by the same "
                    "order of magnitude, and both go to 0 with more data. Bold: the paired difference is above 0 by two "
                    "errors.",
                ),
            ),
        ),
        OutputGroup(
            "variance",
            function="tables.variance",
            inputs=lambda run: {kind: run.rows(kind) for kind in VARIANCE_ROWS},
            seconds=5,
            mb=1500,
            message="decomposition and estimators of the variance",
            items=(
                Table(
                    "table1_bias",
                    show="tables.table1_grid",
                    title="Table 1: naive estimators of the variance of CVS",
                    category="3 Estimators",
                    caption="Estimators for blocks that are sources, with the bias that the paper prints. Right: the value "
                    "of that formula from measured moments, and the measured bias with its error, over {n_truth} data sets. "
                    "Both are divided by the true variance. theta_A and theta_B are the paper's new estimators.",
                ),
                Table(
                    "table2_bias",
                    show="tables.table2_grid",
                    title="Table 2: estimators of the variance of CVR",
                    category="3 Estimators",
                    caption="Estimators for random blocks, with the bias that the paper prints, and theta_5, its new one. "
                    "Right: the value of that formula from measured moments, and the measured bias with its error, over "
                    "{n_truth} data sets. Both are divided by the true variance.",
                ),
                Table(
                    "proposition1",
                    show="tables.proposition1_grid",
                    title="Proposition 1: an estimator for any chosen bias",
                    category="3 Estimators",
                    caption="Choose factors of sigma², omega, gamma and mu² with a1 + a2 + a3 - a4 = -1. The proposition "
                    "gives the weights of an estimator with that bias. Promised and measured bias over {n_truth} data sets, "
                    "divided by the true variance. A small bias costs spread, and estimates below 0.",
                ),
                Table(
                    "figure4_decomposition",
                    show="tables.decomposition_grid",
                    title="Figure 4 as a table: what the variance is made of",
                    category="2 Decomposition",
                    caption="The variance theta of the estimate is the sum of three terms. Losses vary alone (sigma), with "
                    "their block (omega), and with other blocks (gamma). Measured on {n_truth} data sets, ± standard error. "
                    "Last columns: spread of the single covariances, and after the slash the spread that noise alone gives.",
                ),
                Table(
                    "figure6_estimators",
                    show="tables.figure6_grid",
                    title="Figure 6 as a table: can a single data set tell the variance?",
                    category="3 Estimators",
                    caption="The true variance of the estimate over {n_truth} data sets from the same domains. Beside it is "
                    "the mean of what each estimator says of a single data set, ± Monte Carlo error. Spread and values below "
                    "0 stand in the table of estimators.",
                ),
                Table(
                    "estimators",
                    show="tables.estimators_grid",
                    title="How good is an estimate of the variance made from a single data set?",
                    category="3 Estimators",
                    caption="A user has one data set. Ratio: mean estimate over true variance. sd/mean: its spread. "
                    "Negative: share of estimates below 0. RMSE: over the true variance. Coverage: share of 95 % intervals "
                    "that hold the expected estimate, for these domains. With t: Student's t with K - 1 degrees of freedom.",
                ),
            ),
        ),
        OutputGroup(
            "claims",
            function="claims.ledger",
            inputs=lambda run: {name: run.table(name) for name in CLAIM_TABLES} | {"printed": run.printed("claims")},
            seconds=1,
            local=True,
            message="claims of the paper",
            items=(
                Table(
                    "claims_ledger",
                    show="foldshift.reporting.claims_ledger.claims_grid",
                    title="Claims of the paper",
                    category="5 Paper versus ours",
                    caption="Every sentence of the paper that states an order or a size of results, in our words, with our "
                    "verdict. The paper prints no measured number, so there is no table of printed numbers. Verdicts are those "
                    "of naive Bayes, drawn with replacement as in the paper; orders are judged by two errors. The reviews are "
                    "{kind_of_reviews}.",
                ),
            ),
        ),
        OutputGroup(
            "models",
            function="tables.models",
            inputs=lambda run: {"rows": run.rows("models")},
            seconds=2,
            local=True,
            message="models in which everything is known",
            items=(
                Table(
                    "mean_predictor",
                    show="tables.mean_predictor_grid",
                    title="Exact results",
                    category="4 Models",
                    caption="The mean of the training data as learner, squared loss, K = 10 sources of normal points with "
                    "variance 1: no random numbers are needed. Sources are fixed, random with variance .25, or all alike "
                    "(iid). Last columns: expected estimate of the variance over theta; 1 is unbiased.",
                ),
                Table(
                    "models",
                    show="tables.models_grid",
                    title="Estimators where the truth is known",
                    category="4 Models",
                    when=lambda run: bool(run.settings["models"]),
                    caption="Ten sources made by a model, {n_simulations} data sets; learners are stable (centroid), "
                    "unstable (stump), or have many inputs (highdim). Sources are alike (iid), fixed, or drawn anew (random). "
                    "Coverage of OSE: of the error on a new source, which only makes sense for random sources. S2/K with "
                    "Student's t comes nearest there.",
                ),
            ),
        ),
        OutputGroup(
            "figures",
            function="figures.figures",
            inputs=lambda run: {kind: run.rows(kind) for kind in ("error", "estimates", "components")},
            seconds=8,
            mb=1500,
            message="Figures 1 to 6, coverage",
            items=(
                Figure(
                    "figure1_blocks",
                    title="Figure 1: what varies together",
                    category="4 Models",
                    caption="Cross-validation gives one loss per test point. The picture is the table of their covariances, "
                    "for three blocks of four points. Dark: a loss itself. Hatched: two points of a block, tested by one "
                    "model. White: points of two blocks. Random blocks need three numbers (left); with sources every source "
                    "and pair has its own (right).",
                ),
                Figure(
                    "figure2_error",
                    draw="figures.draw_error",
                    title="Figure 2: what cross-validation promises, and what a new source delivers",
                    category="1 Bias and spread",
                    caption="CVS leaves one source out, CVR cuts at random, OSE is the error on a source held out of "
                    "everything. Paper: CVR < OSE < CVS. A ring marks sizes where this run cannot show the order, a cross the "
                    "contrary. The reviews are {kind_of_reviews}. Means over {n_seeds} draws of domains with {n_datasets} "
                    "data sets each. Bars: two errors.",
                ),
                Figure(
                    "figure3_spread",
                    draw="figures.draw_spread",
                    title="Figure 3: spread of the estimate",
                    category="1 Bias and spread",
                    caption="Standard deviation of both estimates when the sources stay the same, mean over {n_seeds} draws "
                    "of domains. The paper: CVS varies more, by the same order of magnitude, and both go to 0 with more data. "
                    "A small spread does not help a biased estimate (Figure 2). Bars: two errors.",
                ),
                Figure(
                    "figure4_decomposition",
                    draw="figures.draw_decomposition",
                    title="Figure 4: what the variance is made of",
                    category="2 Decomposition",
                    caption="The variance of the estimate (black) is the sum of three terms: losses alone (sigma), with "
                    "their block (omega), with other blocks (gamma). Measured on {n_truth} data sets from the same domains; "
                    "bars: two errors. Rows of panels with values below 0 have an axis that is linear about 0. W/N sees only "
                    "sigma.",
                ),
                Figure(
                    "figure5_covariances",
                    title="Figure 5: do blocks differ?",
                    category="3 Estimators",
                    caption="A dot is a covariance of losses: filled within a block (omega), open between two blocks "
                    "(gamma). The paper: gammas spread less with more points, omegas do not. Grey bands: two Monte Carlo "
                    "errors from {n_truth} data sets. Dots that stay within their band may all be equal.",
                ),
                Figure(
                    "figure6_estimators",
                    draw="figures.draw_estimators",
                    title="Figure 6: can a single data set tell the variance?",
                    category="3 Estimators",
                    caption="Black: the true variance, over {n_truth} data sets. Other lines: mean of each estimator, which "
                    "sees one data set. The paper: S2/K far too large with sources and many points, W/N too small, 2W/N about "
                    "right; theta_5 best for random blocks. Arrows: means below the axis, with their value. Bars: two "
                    "errors.",
                ),
                Figure(
                    "coverage",
                    draw="figures.draw_coverage",
                    drawn_from="estimators",
                    title="How often do the intervals hold?",
                    category="3 Estimators",
                    caption="Share of {n_truth} data sets whose 95 % interval holds the expected estimate, for these "
                    "domains. Black: what it should be. A negative estimate makes no interval and counts as a miss. None of "
                    "these intervals is about a new source; the table of models has that. Bars: two errors.",
                ),
            ),
        ),
    ),
)
