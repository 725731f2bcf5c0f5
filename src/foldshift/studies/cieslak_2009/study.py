"""Declaration of the study on monitoring classifiers while their test data shift (Cieslak and Chawla 2009)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foldshift.engine.layout.seed_blocks import block_range
from foldshift.engine.study.declare import Cost, Figure, Measure, OutputGroup, Study, Table
from foldshift.studies.cieslak_2009.datasets_in_print import paper_name
from foldshift.studies.common.standard_items import has_print

if TYPE_CHECKING:
    from foldshift.engine.study.run import Run

# Seconds, from the jobs of a full run (`snakemake plan` reports measured times beside planned ones).
PER_VERSION = (1.2e-3, 1.7e-7)  # of a shifted test part: the detectors on features; and per row of the data set
PER_PREDICTED = (4e-4, 6.5e-8)  # the same of a learner
LEARNERS_START = 0.4
PER_CHANGED_PAIR = 7e-10  # nearest neighbours after one feature changed: per version, test row and training row
PER_MULTIVARIATE = 9e-5  # of a version: energy, mmd, c2st, Hellinger; per row of both parts, of which `MOST_ROWS` each count
MOST_ROWS = 800  # as `foldshift.studies.cieslak_2009.detectors.feature_detectors` has it

DATA, FEATURES, DISTANCE, LEARNERS = "1 Data", "2 Features that fail", "3 Hellinger distance", "4 Learners"
DETECTORS, EXAMPLES, COMPARISON = "5 Detectors", "6 Worked examples", "7 Paper versus ours"
FEATURE_SETTINGS = ("alpha", "removed", "n_versions_multivariate", "n_repeats_multivariate", "n_permutations")
LEARNER_SETTINGS = ("mask", "removed", "n_bootstraps")
# Tables that show what the paper claims, by the names of `foldshift.studies.cieslak_2009.claims.claim_verdicts.Tables`.
JUDGED = {
    "ks": "table2_ks_failing",
    "phi": "table3_phi",
    "moved": "table4_ks_translation",
    "examples": "table5_examples",
    "skew": "table6_hellinger_skew",
    "prior": "ks_by_prior",
    "hellinger": "hellinger",
    "sensitivity": "learner_sensitivity",
    "p_values": "p_values",
    "power": "power",
}
# Computed tables with a printed counterpart, by the name of the latter.
COMPARED = {
    "table1_datasets": "table1_datasets",
    "table2_ks_failing": "table2_ks_failing",
    "table3_phi": "table3_phi",
    "table4_ks_covariate_shift": "table4_ks_translation",
    "table6_hellinger_skew": "table6_hellinger_skew",
}

KS_TABLE = (
    "Share of the features that differ between training and test part by the Kolmogorov-Smirnov test at level {alpha}: mean over "
    "versions and {n_seeds} repeats, with its standard error. The paper's p is one-sided, the valid p two-sided. Holm corrects "
    "for the number of features. Bold: print is farther away than two errors of a single split."
)
READINGS_TABLE = (
    "Mean distance from the printed Table 2, and cells within .05, for four readings of the text. MAR removes the smallest or "
    "the "
    "largest values. The KS distance keeps its sign (one-sided) or not (two-sided). Bold: the nearest. The reading was chosen "
    "on this table; Tables 3 and 4 had no part in it."
)
PHI_TABLE = (
    "Correlation of the failures of two features, mean over pairs and repeats, with its standard error. Print's plus or minus is "
    "read as an error over ordered pairs, in a row of its own. The paper's formula is inverted: it gives 0 to features that "
    "always fail together. Bold: print is farther away than two errors of a single split."
)
TRANSLATION_TABLE = (
    "Share of the features that fail when one is moved by 25 to 200 per cent of its standard deviation. Limit: the largest share "
    "that is possible, with b of n features that fail anyway: ((n - b)(b + 1) + b b) / n². All printed values follow from "
    "it. Bold: print is farther away than two errors of a single split."
)
SENSITIVITY_TABLE = (
    "Index: absolute change of accuracy against the same test rows without shift, in percentage points, with equal weight for "
    "MAR, MNAR, true MNAR, translation and prior. Rank 1 is the steadiest, not the best. Noticed: share of changes that a "
    "test of two proportions sees at level {alpha}. Bold: steadier than all others by the errors."
)
POWER_TABLE = (
    "Share of versions in which a detector rejects at level {alpha}, mean over data sets and {n_seeds} repeats, with its "
    "standard "
    "error. Nothing has moved at Base and MCAR. The last column names the best of those that keep their level; bold are all "
    "that cannot be told apart from it. The second block: versions on which every detector was run."
)
MEAN_P = "Above, as in the paper: mean p-value over versions, from the lowest to the highest data set; pluses are means. "
FRIEDMAN = MEAN_P + (
    "Friedman's test over {n_bootstraps} bootstraps of the same predictions rejects far too often. Below: how often a test of "
    "two "
    "proportions rejects."
)
KRUSKAL = MEAN_P + "Kruskal-Wallis compares predicted probabilities of validation and test part. Below: how often it rejects."
SELECTION = (
    "MCAR removes rows at random, MAR those with the {removed} values of a feature; MNAR hides it too; MNARC selects by class."
)
MOVED = "CS25 to CS200: one feature moved by so many per cent of its standard deviation."
SHARES = "P(+): share of positive rows in the test part, in per cent."


def features_cost(run: Run, cell: dict[str, Any]) -> Cost:
    """Cost of the detectors on features: twelve conditions have a version for every feature, ten have one."""
    settings, (n_rows, n_columns) = run.settings, run.shape(cell["dataset"])
    start, n_repeats = block_range(cell["block"])
    n_versions = settings["n_versions_multivariate"]
    n_compared = min(0.5 * n_rows, MOST_ROWS) + min(0.3 * n_rows, MOST_ROWS)
    searched = (12 * min(n_versions, n_columns) + 10 * min(n_versions, 1)) * PER_MULTIVARIATE * n_compared
    n_searched = min(max(settings["n_repeats_multivariate"] - start, 0), n_repeats)
    seconds = n_repeats * versions_seconds(n_rows, n_columns, PER_VERSION) + n_searched * searched
    return Cost(seconds, mb=300, writes_mb=0.1)


def learners_cost(run: Run, cell: dict[str, Any]) -> Cost:
    """Cost of a learner; five of the twelve conditions change a feature of every test row, and with it all neighbours."""
    n_rows, n_columns = run.shape(cell["dataset"])
    is_nearest = any(entry["import"].endswith("NNClassifier") for entry in run.labelled(cell["learner"]).values())
    changed = 5 * n_columns * 0.3 * n_rows * 0.5 * n_rows * PER_CHANGED_PAIR if is_nearest else 0.0
    of_repeat = versions_seconds(n_rows, n_columns, PER_PREDICTED) + changed
    return Cost(LEARNERS_START + block_range(cell["block"])[1] * of_repeat, mb=300, writes_mb=0.1)


def versions_seconds(n_rows: int, n_columns: int, per: tuple[float, float]) -> float:
    """Seconds of all versions of a repeat; `per` holds seconds of a version, and of a version and row."""
    per_version, per_row = per
    return (12 * n_columns + 10) * (per_version + per_row * n_rows)


def learner_cells(run: Run) -> list[dict[str, str]]:
    """List the jobs: learner by learner, repeats in blocks."""
    settings = run.settings
    wanted: dict[tuple[str, ...], int] = {(run.learner_label(name),): settings["n_seeds"] for name in run.learner_ids}
    return [
        {"dataset": name, "learner": learner, "block": block}
        for name in run.datasets
        for learner, block in run.pieces(f"learners/{name}", wanted, settings["repeats_per_block"])
    ]


def dataset_params(run: Run, cell: dict[str, Any]) -> dict[str, int | None]:
    """Arguments of both measures that depend on the data set."""
    return {"master_seed": run.master_seed, "positive": run.settings["positive_class"].get(cell["dataset"])}


STUDY = Study(
    prepared=lambda settings: "none",
    measures=(
        Measure(
            "measure_shifts",
            function="measure.measure_shifts",
            rows={kind: f"{kind}/{{dataset}}/{{block}}.parquet" for kind in ("shift", "readings", "co_failure", "multivariate")},
            cells=lambda run: [
                {"dataset": name, "block": block}
                for name in run.datasets
                for block in run.blocks(f"shift/{name}", run.settings["n_seeds"], run.settings["repeats_per_block"])
            ],
            inputs=lambda run, cell: {"data": run.prepared(cell["dataset"], "none")},
            params=lambda run, cell: dataset_params(run, cell) | run.pick(*FEATURE_SETTINGS),
            cost=features_cost,
            first_call="measure.first_call",
            message="shifts and detectors on {dataset}, repeats {block}",
        ),
        Measure(
            "measure_learners",
            function="measure.measure_learners",
            rows={"learners": "learners/{dataset}/{learner}/{block}.parquet"},
            cells=learner_cells,
            inputs=lambda run, cell: {"data": run.prepared(cell["dataset"], "none")},
            params=lambda run, cell: (
                dataset_params(run, cell) | {"learners": run.labelled(cell["learner"])} | run.pick(*LEARNER_SETTINGS)
            ),
            cost=learners_cost,
            first_call="measure.first_call",
            learners=lambda run: run.learner_ids,
            message="learners under shifts on {dataset}, {learner}, repeats {block}",
        ),
    ),
    items=(
        OutputGroup(
            "features",
            function="feature_tables.features",
            inputs=lambda run: {
                **{kind: run.rows(kind) for kind in ("shift", "readings", "co_failure")},
                "descriptions": run.descriptions(),
                **{name.split("_")[0]: run.printed(name) for name in list(COMPARED)[:4]},
            },
            seconds=4,
            mb=1500,
            message="Tables 1 to 4, features that fail",
            items=(
                Table(
                    "table1_datasets",
                    show="feature_tables.datasets_grid",
                    title="Table 1: data sets",
                    category=DATA,
                    caption="Rows for training, validation and testing (50, 20 and 30 per cent of every class) and features, "
                    "in this run and in print. Each of the {n_seeds} repeats cuts anew. Compustat is not public in full, so "
                    "its row stays empty.",
                ),
                Table(
                    "table2_ks_failing",
                    show="feature_tables.ks_grid",
                    shown_with={"identity": ()},
                    title="Table 2: which features fail?",
                    category=FEATURES,
                    caption=KS_TABLE,
                ),
                Table(
                    "ks_readings",
                    show="feature_tables.readings_grid",
                    title="Which reading of the paper gives its Table 2?",
                    category=FEATURES,
                    caption=READINGS_TABLE,
                ),
                Table(
                    "table3_phi",
                    show="feature_tables.phi_grid",
                    title="Table 3: do features fail together?",
                    category=FEATURES,
                    caption=PHI_TABLE,
                ),
                Table(
                    "table4_ks_translation",
                    show="feature_tables.translation_grid",
                    title="Table 4: one feature is moved",
                    category=FEATURES,
                    caption=TRANSLATION_TABLE,
                ),
                Table(
                    "ks_by_prior",
                    title="Figures 13 and 14 as a table: features that fail by share of positive rows",
                    category=FEATURES,
                    caption="Share of features that fail the Kolmogorov-Smirnov test at level {alpha} when classes are "
                    "undersampled: in all rows, by the paper's p and the valid p, and by the valid p within each class, where "
                    "nothing has moved.",
                ),
            ),
        ),
        OutputGroup(
            "hellinger",
            function="hellinger_tables.hellinger",
            inputs=lambda run: {
                "shift": run.rows("shift"),
                "co_failure": run.rows("co_failure"),
                "printed": run.printed("table6_hellinger_skew"),
            },
            seconds=1,
            mb=1500,
            message="Table 6, Hellinger distance",
            items=(
                Table(
                    "table6_hellinger_skew",
                    show="hellinger_tables.skew_grid",
                    title="Table 6: skewness of the Hellinger distance",
                    category=DISTANCE,
                    caption="Skewness of the Hellinger distances, mean over {n_seeds} repeats, with its standard error. Over "
                    "versions: as the text has it. Over features, sign turned: nearer to print, and not met either. A negative "
                    "skewness means a tail below the mean. Bold: print is farther away than two errors of a single split.",
                ),
                Table(
                    "hellinger",
                    title="Figures 15 to 17 as a table: Hellinger distance",
                    category=DISTANCE,
                    caption="Mean Hellinger distance of training and test features, its change against Base in per cent, and "
                    "its excess over what finite samples have without any shift. Fewer rows raise the distance by themselves, "
                    "so that the excess is near 0 under MCAR.",
                ),
            ),
        ),
        OutputGroup(
            "learners",
            function="learner_tables.learners",
            inputs=lambda run: {"learners": run.rows("learners")},
            seconds=3,
            mb=1500,
            message="sensitivity of the learners",
            items=(
                Table(
                    "learner_sensitivity",
                    show="learner_tables.sensitivity_grid",
                    title="How do the learners react to shift?",
                    category=LEARNERS,
                    caption=SENSITIVITY_TABLE,
                ),
                Table(
                    "p_values",
                    title="Figures 6 to 11 as a table: p-values of a monitored classifier",
                    category=LEARNERS,
                    caption="Mean p-value over versions and repeats, as the paper draws it, its median, and the share of "
                    "p-values below {alpha}, by data set, learner, condition and test. A mean of p-values is not a p-value: "
                    "without any shift it is about .5.",
                ),
            ),
        ),
        OutputGroup(
            "detectors",
            function="detector_tables.detectors",
            inputs=lambda run: {kind: run.rows(kind) for kind in ("shift", "learners", "multivariate")},
            seconds=4,
            mb=1500,
            message="power and false alarms of the detectors",
            items=(
                Table(
                    "power",
                    show="detector_tables.power_grid",
                    title="Which detector for which shift?",
                    category=DETECTORS,
                    caption=POWER_TABLE,
                ),
                Table(
                    "type_one",
                    show="detector_tables.type_one_grid",
                    title="False alarms",
                    category=DETECTORS,
                    caption="How often each detector rejects at level {alpha} where nothing has moved, by data set, with the "
                    "95 % Wilson interval; of the mean the unit is the data set. MCAR: the same after rows were removed at "
                    "random. Bold: too often.",
                ),
            ),
        ),
        OutputGroup(
            "examples",
            function="illustrations.examples",
            seconds=1,
            local=True,
            message="worked examples, Figures 2 to 5 and 12",
            items=(
                Figure(
                    "figures2_to_5_shifts",
                    title="Figures 2 to 5: what the shifts do",
                    category=DATA,
                    caption="A made-up feature of two classes, as in the paper: at first; with a quarter of its values removed "
                    "(here the largest; this run removes the {removed}); moved; with the shares of the classes exchanged. Left "
                    "the classes, right both together.",
                ),
                Table(
                    "table5_examples",
                    show="shift_test_examples.examples_grid",
                    title="Table 5 and the other worked examples",
                    category=EXAMPLES,
                    caption="As printed, by the paper's formula, and corrected. Table 5 has two populations that share no "
                    "value: the chi-square of equation 5 is negative for them; the right one is 19.0. A and B are the two "
                    "samples of Figure 12.",
                ),
                Figure(
                    "figure12_ks_example",
                    title="Figure 12: the Kolmogorov-Smirnov distance",
                    category=EXAMPLES,
                    caption="The paper's samples A and B: the largest vertical distance of their distribution functions is 0.5 "
                    "(reached more than once). Its p-values stand in the table of worked examples.",
                ),
            ),
        ),
        OutputGroup(
            "figures",
            function="figures.figures",
            inputs=lambda run: {name: run.table(name) for name in ("p_values", "ks_by_prior", "hellinger")},
            seconds=10,
            local=True,
            message="Figures 6 to 11 and 13 to 17",
            items=(
                Figure(
                    "figure6_friedman_bias",
                    title="Figure 6: accuracy under selection of rows",
                    category=LEARNERS,
                    caption=f"{FRIEDMAN} {SELECTION}",
                ),
                Figure(
                    "figure7_friedman_translation",
                    title="Figure 7: accuracy when one feature is moved",
                    category=LEARNERS,
                    caption=f"{FRIEDMAN} {MOVED}",
                ),
                Figure(
                    "figure8_friedman_prior",
                    title="Figure 8: accuracy when the share of positive rows changes",
                    category=LEARNERS,
                    caption=f"{FRIEDMAN} {SHARES}",
                ),
                Figure(
                    "figure9_kruskal_bias",
                    title="Figure 9: predicted probabilities under selection of rows",
                    category=LEARNERS,
                    caption=f"{KRUSKAL} {SELECTION}",
                ),
                Figure(
                    "figure10_kruskal_translation",
                    title="Figure 10: predicted probabilities when one feature is moved",
                    category=LEARNERS,
                    caption=f"{KRUSKAL} {MOVED}",
                ),
                Figure(
                    "figure11_kruskal_prior",
                    title="Figure 11: predicted probabilities when the share of positive rows changes",
                    category=LEARNERS,
                    caption=f"{KRUSKAL} {SHARES}",
                ),
                Figure(
                    "figure13_ks_prior",
                    draw="figures.draw_prior",
                    drawn_from="ks_by_prior",
                    title="Figure 13: features that fail as the share of positive rows changes",
                    category=FEATURES,
                    caption="Left with the paper's p, right with the valid one. The open mark of each data set is its test "
                    "part without shift, at its own share of positive rows: lines should be lowest near it.",
                ),
                Figure(
                    "figure14_ks_prior_by_class",
                    draw="figures.draw_prior_by_class",
                    drawn_from="ks_by_prior",
                    title="Figure 14: features that fail within each class",
                    category=FEATURES,
                    caption="As Figure 13, within a class. Undersampling changes no distribution within a class, so that what "
                    "is seen here is chance alone. Panels: the data sets that the paper names, or the first of this run. "
                    "Dotted: without shift. Bars: two standard errors.",
                ),
                Figure(
                    "figure15_hellinger_bias",
                    title="Figure 15: Hellinger distance under selection of rows",
                    category=DISTANCE,
                    caption="Above as in the paper: change against Base in per cent. It rises under MCAR too, as fewer rows "
                    "make rougher histograms. Below: the excess over what chance gives at these sizes. Whiskers: two standard "
                    "errors over repeats. MAR removes the {removed} values of a feature; MNAR hides it too.",
                ),
                Figure(
                    "figure16_hellinger_translation",
                    title="Figure 16: Hellinger distance when one feature is moved",
                    category=DISTANCE,
                    caption="Above as in the paper: change against Base in per cent; below the excess over chance. The more "
                    "features there are, the less a mean over all of them shows of one. Whiskers: two standard errors over "
                    f"repeats. {MOVED}",
                ),
                Figure(
                    "figure17_hellinger_prior",
                    draw="figures.draw_hellinger_prior",
                    drawn_from="hellinger",
                    title="Figure 17: Hellinger distance as the share of positive rows changes",
                    category=DISTANCE,
                    caption="Left as in the paper: change against Base in per cent; right the excess over chance. A share far "
                    f"above a data set's own leaves few rows, which raises the left by itself. {SHARES}",
                ),
            ),
        ),
        OutputGroup(
            "compare",
            function="compare.paper_vs_ours",
            inputs=lambda run: {
                "ours": [run.table(name) for name in COMPARED.values()],
                "printed": [run.printed(name) for name in COMPARED],
            },
            local=True,
            message="paper versus ours",
            items=(
                Table(
                    "paper_vs_ours",
                    show="foldshift.reporting.paper_vs_ours.compared_grid",
                    when=lambda run: has_print(run, paper_name),
                    title="Paper versus ours",
                    category=COMPARISON,
                    caption="Every printed number beside ours. Print is one split; the {n_seeds} splits of this run give its "
                    "error. Met: within two errors of a single split (Table 1: two rows in a thousand). Not compared: two "
                    "errors are more than a quarter of the range of the printed numbers, so that nearly anything would pass. "
                    "The reason stands in each row.",
                ),
                Table(
                    "print_ledger",
                    show="foldshift.reporting.paper_vs_ours.ledger_grid",
                    when=lambda run: has_print(run, paper_name),
                    title="Printed numbers that are met",
                    category=COMPARISON,
                    caption="Printed numbers by table and verdict. Outside: not met and not explained. Expected by chance: so "
                    "many right numbers lie beyond two errors. Not compared are the numbers of Compustat and those whose error "
                    "is too large to decide. Of the plus or minus many are 0 on both sides.",
                ),
            ),
        ),
        OutputGroup(
            "claims",
            function="claims.judge_claims.claims",
            inputs=lambda run: {name: run.table(table) for name, table in JUDGED.items()} | {"printed": run.printed("claims")},
            local=True,
            message="claims of the paper",
            items=(
                Table(
                    "claims_ledger",
                    show="foldshift.reporting.claims_ledger.claims_grid",
                    title="Do the paper's claims hold?",
                    category=COMPARISON,
                    caption="Every sentence of the paper that states a number or an order, in our words. An order holds if the "
                    "95 % interval over data sets lies above 0; it cannot be seen if the interval includes 0. Quite correlated "
                    "means above .5. Effect and standard error are over the data sets of this run.",
                ),
            ),
        ),
    ),
)
