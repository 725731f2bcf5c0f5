"""Declaration of the study on cross-validation over several sources and its variance (Geras and Sutton 2013)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foldshift.core.errors import ConfigError
from foldshift.engine.layout.seed_blocks import block_range
from foldshift.engine.study.declare import Cost, Figure, Measure, OutputGroup, Study, Table

if TYPE_CHECKING:
    from foldshift.engine.study.run import Run

# Seconds of one core per review and fit, per fit, and per data set.
TEXT_SECONDS = {"NB": (6e-8, 1e-5, 7e-4), "SVM": (4.5e-7, 1e-5, 1.3e-3)}
MODEL_SECONDS = {"centroid": 2.5e-3, "stump": 2.5e-3, "highdim": 1.2e-2}  # per simulated data set, all settings
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
            rows={kind: f"{kind}/{{learner}}/{{sampling}}/{{points}}.parquet" for kind in ("estimates", "components")},
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
                    title="Figure 2 as a table: what cross-validation promises, and what a new source delivers",
                    category="1 Bias and spread",
                    caption="Does cross-validation promise too much on a source that it has not seen? A source is where data "
                    "come from, here the domain of the products reviewed; the task is to tell good reviews from bad ones; the "
                    "reviews are {kind_of_reviews}. CVS leaves one source out at a time; CVR cuts all points at random, so that "
                    "every source is also trained on; OSE is the error that the learner, trained on all K sources, really has on "
                    "a source held out. The paper: CVR < OSE < CVS everywhere. Cells: mean over {n_seeds} draws of domains with "
                    "{n_datasets} data sets each, plus or minus its standard error; differences are paired by draw. Bold: above "
                    "0 by two errors.",
                ),
                Table(
                    "figure3_spread",
                    title="Figure 3 as a table: spread of the estimate",
                    category="1 Bias and spread",
                    caption="How much do the estimates vary from data set to data set when the sources stay the same? Standard "
                    "deviation over data sets of the error estimated by leaving one source out (CVS) and by random blocks (CVR), "
                    "mean over {n_seeds} draws of domains, plus or minus its standard error. The paper: CVS varies more than "
                    "CVR, by the same order of magnitude, and both go to 0 with more data. Bold: the paired difference is above "
                    "0 by two errors.",
                ),
            ),
        ),
        OutputGroup(
            "variance",
            function="tables.variance",
            inputs=lambda run: {"estimates": run.rows("estimates"), "components": run.rows("components")},
            seconds=3,
            mb=1500,
            message="decomposition and estimators of the variance",
            items=(
                Table(
                    "figure4_decomposition",
                    title="Figure 4 as a table: what the variance is made of",
                    category="2 Decomposition",
                    caption="Losses vary by themselves (sigma), together with the others of their block (omega), and with those "
                    "of other blocks (gamma); the three terms of the paper's equations 7 (CVS: blocks are sources) and 2 (CVR: "
                    "random blocks) add up to theta, the variance of the cross-validation estimate. Measured on {n_truth} data "
                    "sets from the same domains. Shares in per cent: estimators built on W, the variance within blocks, see only "
                    "sigma. The last columns are the spread of the single omega_k and gamma_kl, and after the slash the spread "
                    "that they would show if all were equal, from measuring on finitely many data sets.",
                ),
                Table(
                    "figure6_estimators",
                    title="Figure 6 as a table: can a single data set tell the variance?",
                    category="3 Estimators",
                    caption="The true variance of the cross-validation estimate, over {n_truth} data sets from the same domains, "
                    "and what the estimators of the paper's Figure 6 say of it from a single data set, on average. Plus or "
                    "minus: Monte Carlo standard error. A mean says nothing about a single data set: spread and negative values "
                    "stand in the table of estimators.",
                ),
                Table(
                    "estimators",
                    title="How good is an estimate of the variance made from a single data set?",
                    category="3 Estimators",
                    caption="The paper compares means only; a user has one data set. Ratio: mean over true variance, 1 is "
                    "unbiased. sd/mean: standard deviation over mean. Negative: share of data sets in which the estimate is "
                    "below 0, which a variance cannot be. RMSE: root mean squared error over true variance. Coverage: share of "
                    "data sets whose 95 % interval, mean plus or minus z times root of the estimate, holds the expectation of "
                    "the mean, for these domains; it should reach .95. With t: the same with Student's t and K - 1 degrees of "
                    "freedom. Estimators that are equal for blocks of equal size are listed once, with their formula.",
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
                    title="Exact results",
                    category="4 Models",
                    caption="For the simplest learner, which predicts the mean of the training data, everything about "
                    "cross-validation over sources can be computed without random numbers: squared loss, normal points with "
                    "variance 1 and K = 10 sources. Fixed: source means at the normal quantiles of (k - .5)/10; random: source "
                    "means with variance .25; iid: all alike. E[...]: expected estimate of leaving one source out (CVS) and of "
                    "random blocks (CVR); OSE: error on a new source; terms and theta as in the decomposition of CVS; the last "
                    "columns: expected estimate of the variance over theta, 1 is unbiased. With random sources CVR lies below "
                    "OSE and CVS above. With fixed ones S2/K is many times too large and W/N (theta_A) is the least biased.",
                ),
                Table(
                    "models",
                    title="Estimators where the truth is known",
                    category="4 Models",
                    when=lambda run: bool(run.settings["models"]),
                    caption="Ten sources made by a model, {n_simulations} data sets: a stable learner (centroid), one that is "
                    "unstable on purpose (stump), and many inputs (highdim); sources that are all alike (iid), that differ and "
                    "stay the same in all data sets (fixed), or are drawn anew for each (random). Sigma: share of the variance "
                    "that the estimators built on W can see. Coverage of OSE: of the error on a source not seen, what a user "
                    "wants to know; only where sources are random is the variation of the sources part of the experiment. There, "
                    "intervals made from the variance within sources (W) know nothing of how sources differ; S2/K with Student's "
                    "t does, and comes near .95 where the learner is stable. Random blocks (CVR) can miss it for a second "
                    "reason: where they know every source, their mean is too low.",
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
                    caption="Cross-validation gives one loss for every test point. The picture is the table of all covariances "
                    "of these losses, here for three blocks of four points; the variance of the estimate is the mean of the "
                    "whole table. Dark: the variance of a loss. Hatched: two points of the same block, which were tested by the "
                    "same trained model. White: points of different blocks, whose models were trained on almost the same data. "
                    "Left: with random blocks (CVR) all blocks are alike and three numbers say everything. Right: with sources "
                    "as blocks (CVS) every source, and every pair of sources, has its own.",
                ),
                Figure(
                    "figure2_error",
                    title="Figure 2: what cross-validation promises, and what a new source delivers",
                    category="1 Bias and spread",
                    caption="A source is where data come from, here the domain of the products reviewed; the task is to tell "
                    "good reviews from bad ones. CVS leaves one source out at a time. CVR cuts all reviews at random, so that "
                    "every source is also trained on. OSE, the truth, is the error on a domain held out of everything, by the "
                    "learner trained on all K others. Means over {n_seeds} draws of domains with {n_datasets} data sets each; "
                    "the reviews are {kind_of_reviews}. The paper finds CVR < OSE < CVS everywhere: random cuts promise too "
                    "much, leaving sources out promises a little too little. Look at the gap between CVR and OSE, which more "
                    "data should not close, and at rings and crosses, where there are any: at a ring this study does not show "
                    "the order, at a cross it shows the contrary. Both ways of cutting train on K - 1 parts of K, the truth on "
                    "all K: with few sources or few reviews they pay for that, and even CVR can lie above the truth. Bars are "
                    "two standard errors over draws from these domains; the order is judged by differences within a draw, which "
                    "are in the table. Drawn with replacement, as in the paper, copies of a review get into training and test "
                    "part of random blocks; without, they do not.",
                ),
                Figure(
                    "figure3_spread",
                    title="Figure 3: spread of the estimate",
                    category="1 Bias and spread",
                    caption="The sources (domains of reviews) are fixed and data sets are drawn from them again and again: "
                    "standard deviation of the error estimated by leaving one source out (CVS) and by random blocks (CVR), mean "
                    "over {n_seeds} draws of domains. The paper: CVS varies more, by the same order of magnitude, and both go to "
                    "0 with more data. This is spread about each one's own mean: a small one does not help an estimate that is "
                    "biased (Figure 2). Bars: two standard errors.",
                ),
                Figure(
                    "figure4_decomposition",
                    title="Figure 4: what the variance is made of",
                    category="2 Decomposition",
                    caption="The variance of a cross-validation estimate is the sum of three terms: losses that vary by "
                    "themselves (sigma), together with the other points of their block (omega), and with points of other blocks "
                    "(gamma); Figure 1 shows where they come from. Left: blocks are sources (CVS); right: random blocks (CVR). "
                    "All domains are fixed; measured on {n_truth} data sets. Estimators built on W, the variance within blocks, "
                    "see only sigma: where it is far below the black line, W/N is too small. Terms can be below 0, truly or by "
                    "Monte Carlo error; a row of panels that has such values is linear about 0 and logarithmic beyond, others "
                    "are logarithmic: the axis says which. The table has the shares.",
                ),
                Figure(
                    "figure5_covariances",
                    title="Figure 5: do blocks differ?",
                    category="3 Estimators",
                    caption="Every dot is a covariance of losses: filled, of two points of one block (omega); open, of points of "
                    "two blocks (gamma). The variances on the diagonal are orders of magnitude larger and left out. The paper "
                    "sees that gammas vary less when there are more points per source, and omegas do not. Compare the dots with "
                    "the grey bands: two Monte Carlo errors, from {n_truth} data sets, about the mean of the dots. Dots that "
                    "mostly stay within their band may all be equal, and a band that narrows with M makes them draw together "
                    "whatever the truth is.",
                ),
                Figure(
                    "figure6_estimators",
                    title="Figure 6: can a single data set tell the variance?",
                    category="3 Estimators",
                    caption="Black: the true variance of the cross-validation estimate, over {n_truth} data sets from the same "
                    "domains. The other lines: what estimators say that see one data set only, on average. Left, sources as "
                    "blocks: the paper finds S2/K, from the spread of the source means, far too large when there are many "
                    "points, because sources differ; W/N, from the spread within sources, too small; twice that about right. "
                    "Right, random blocks: the paper recommends theta_5. A mean says nothing about a single data set: see the "
                    "table of estimators for spread and negative values. Bars: two Monte Carlo errors. A row of panels with "
                    "values below 0 is linear about 0 and logarithmic beyond, others are logarithmic: the axis says which.",
                ),
                Figure(
                    "coverage",
                    title="How often do the intervals hold?",
                    category="3 Estimators",
                    caption="Share of {n_truth} data sets whose 95 % interval holds the expectation of the estimate, for these "
                    "domains. Black line: what it should be. Below it, an interval promises too much; above, it is wider than "
                    "needed. A negative variance estimate makes no interval and counts as a miss, so that an estimator can be "
                    "right on average and useless for an interval (theta_5). None of these intervals is about a new source, for "
                    "which the table of models has the answer. Bars: two Monte Carlo errors, up to 1 at most.",
                ),
            ),
        ),
    ),
)
