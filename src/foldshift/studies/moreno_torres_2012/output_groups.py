"""Tables and figures of the classification study (Moreno-Torres, Saez and Herrera 2012): inputs, captions, jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldshift.engine.layout.job_layout import of_own_experiments
from foldshift.engine.study.declare import Figure, OutputGroup, Table
from foldshift.studies.common.standard_items import DATASETS, failures, has_print, single_datasets, structured_cuts
from foldshift.studies.moreno_torres_2012.notation import paper_name

if TYPE_CHECKING:
    from foldshift.engine.study.run import Run

PRINTED = (
    "table1_datasets",
    "table3_auc",
    "table4_wilcoxon",
    "table5_dobscv_5x2_agreement",
    "table6_accuracy",
    "table7_convergence",
)
BESIDE_OURS = ("table3_auc", "table4_wilcoxon", "table5_dobscv_5x2_agreement", "table6_accuracy")
OURS = ("table1_datasets", "table3_auc", "table4_wilcoxon", "table5_agreement", "table6_accuracy", "table7_convergence")


def has_populations(run: Run) -> bool:
    """Return True if the run draws samples of populations, whose truth is held out."""
    return bool(run.settings["held_out"]["populations"])


def is_printed(run: Run) -> bool:
    """Return True if the run has a data set of the paper, or a repaired form of one."""
    return has_print(run, paper_name)


AGREEMENT = OutputGroup(
    "agreement",
    function="tables.agreement",
    inputs=lambda run: {"scores": run.per_dataset("seed_scores"), "printed": [run.printed(name) for name in BESIDE_OURS]},
    params=lambda run: {"learners": run.entries()},
    seconds=lambda run: 1 + 2e-6 * run.n_fits(),
    mb=4000,
    message="Tables II to VI, truth, tests and accuracy of a single experiment",
    items=(
        Table(
            "table2_classifiers",
            show="tables.classifiers_grid",
            title="Table II: the classifiers",
            category="1 Data",
            caption="Algorithm, type and parameters. Each classifier exists once, done right (corrected). The paper "
            "configuration adds the switches that the printed numbers rest on: oddities of the tool that the paper "
            "used. The findings say what each switch changes.",
        ),
        Table(
            "table3_auc",
            show="tables.auc_grid",
            title="Table III: the true AUC",
            category="2 Truth",
            caption="Area under the ROC curve of every classifier on every data set, by SCV, mean of {n_truth} experiments. "
            "The area is the paper's, of predicted classes: (1 + true positive rate - false positive rate) / 2 per "
            "fold; more classes: mean recall. In the paper configuration a fold without one of the classes counts 0.",
        ),
        Table(
            "table4_wilcoxon",
            show="tables.wilcoxon_grid",
            title="Table IV: which classifiers truly differ",
            category="2 Truth",
            caption="Wilcoxon's signed-ranks test over the data sets between all pairs of classifiers, on Table III. A cell "
            "reads R+/R-/p: R+ is the sum of ranks where the row's classifier wins, R- where the column's does. Bold: "
            "p at most {alpha}; only these pairs are used in Tables V and VI.",
        ),
        Table(
            "table5_agreement",
            show="tables.agreement_grid",
            title="Table V: how often one experiment finds what is true",
            category="3 Single experiment",
            caption="For every pair of classifiers that truly differs (Table IV): experiments, out of {experiments}, whose "
            "own test is at least as significant, in the same direction. If the paper is right, better cuts count "
            "more. In brackets: experiments as significant in the wrong direction.",
        ),
        Table(
            "table6_accuracy",
            show="tables.accuracy_grid",
            title="Table VI: accuracy of a single experiment",
            category="3 Single experiment",
            caption="Per cent of single experiments that find the true difference between two classifiers (Table V), mean "
            "over the pairs. After ± the standard error over experiments, in brackets over data sets. Print stands "
            "below. Table table6_readings has other readings of the text, table conclusions the errors of the "
            "differences.",
        ),
        Table(
            "accuracy_by_repetitions",
            show="tables.repetitions_grid",
            title="Accuracy by repetitions",
            category="3 Single experiment",
            caption="Per cent of agreements with the truth (Table VI) when m experiments are averaged before the test, with "
            "its standard error. With all experiments there is one average and no error. A cut that is biased against "
            "the truth need not reach 100 %.",
        ),
    ),
)

CONVERGENCE = OutputGroup(
    "convergence",
    function="convergence_tables.convergence",
    inputs=lambda run: {"rows": run.rows("convergence"), "curves": run.rows("convergence_curves")},
    seconds=lambda run: 0.5 + 0.25 * len(run.datasets),
    mb=4000,
    message="Table VII, experiments until the estimate is stable",
    items=(
        Table(
            "table7_convergence",
            show="convergence_tables.convergence_grid",
            title="Table VII: experiments until the estimate is stable",
            category="4 Convergence",
            caption="Experiments are added one by one until the estimate stays the same: its correlation with the one before "
            "reaches .9999. Cells: mean ± standard deviation over the pairs of data set and classifier; fewer is "
            "better. The paper names no vector. Two readings stand beside print; the first is the nearest that uses "
            "no fitted number.",
        ),
        Table(
            "convergence_sensitivity",
            show="convergence_tables.sensitivity_grid",
            title="What Table VII depends on",
            category="4 Convergence",
            caption="All vectors that were tried for Table VII, with the distance to print: the root mean square logarithm of "
            "ours by print. Beside it ratios of the mean numbers of experiments, ± standard error over data sets: "
            "between schemes (cut by SCV) and between cuts (mean over the schemes).",
        ),
        Table(
            "convergence_curves",
            show="convergence_tables.curves_grid",
            title="Convergence curves as a table",
            category="4 Convergence",
            caption="Per cent of the pairs of data set and classifier whose estimate is stable after n experiments, by the "
            "correctness of the instances (Table VII, second reading), ± the standard error over the orders of the "
            "experiments.",
        ),
    ),
)

COVARIATE_SHIFT = OutputGroup(
    "covariate_shift",
    function="shift_and_error.covariate_shift",
    inputs=lambda run: {
        "shift": run.rows("covariate_shift"),
        "features": run.rows("shifted_features"),
        "scores": run.per_dataset("seed_scores"),
    },
    seconds=lambda run: 0.5 + 0.25 * len(run.datasets),
    mb=4000,
    message="covariate shift, and what it has to do with the error of the estimate",
    items=(
        Table(
            "covariate_shift",
            show="foldshift.studies.common.covariate_shift_tables.shift_grid",
            shown_with={"reference": "SCV"},
            title="The covariate shift itself",
            category="5 Covariate shift",
            caption="How different the inputs of training and test part are, which the paper never measures; smaller is "
            "better. KS: largest difference of distribution functions, mean and largest over the attributes. "
            "Hellinger: of histograms. Energy: of all attributes at once. Two-sample AUC: .5 is chance. Features "
            "shifted and balanced: more, or less, different than in random cuts.",
        ),
        Table(
            "covariate_shift_by_dataset",
            title="Covariate shift of every data set",
            category="5 Covariate shift",
            caption="Mean over folds and partitions with its standard error, by data set, scheme and cut; and the error of "
            "the estimated AUC against the truth: root mean square, bias and spread. Features more and less: share of "
            "the inputs that are shifted or balanced, against random cuts of the same sizes.",
        ),
        Table(
            "shifted_features",
            show="foldshift.studies.common.covariate_shift_tables.shifted_grid",
            title="Which features the folds shift",
            category="5 Covariate shift",
            caption="Inputs whose values in training and test part differ more than in random cuts of the same sizes "
            "(shifted), or less (balanced). The one that is shifted most stands with its distance as a multiple of "
            "that of random cuts. The CSV file has a row for every feature.",
        ),
        Table(
            "covariate_shift_and_error",
            show="shift_and_error.correlation_grid",
            title="Does covariate shift harm the estimate?",
            category="5 Covariate shift",
            caption="Rank correlation of each measure of the shift with the error of the estimated AUC: root mean square, and "
            "the spread alone, which is free of bias. Three levels: between data sets, between cuts of a data set, "
            "and between partitions by the same cut. Cuts are compared with and without MS-SCV.",
        ),
    ),
)

PARTITIONERS = OutputGroup(
    "partitioner_figures",
    function="partitioner_figures.partitioners",
    seconds=8,
    local=True,
    message="Figures 1 to 4, how the partitioners cut",
    items=(
        Figure(
            "figure1_extreme_shift",
            title="Figure 1: what covariate shift looks like",
            category="6 Partitioners",
            caption="Made-up samples and one fold of a cut by MS-SCV. All crosses at the bottom left go to the test part (c). "
            "A nearest-neighbour classifier trained on (b) gets them all wrong. D_n: largest difference of "
            "distribution functions, 0 to 1. SCV puts just these crosses into one fold in one of 34 000 cuts.",
        ),
        Figure(
            "figure2_artificial",
            title="Figure 2: eight samples on which DB-SCV and DOB-SCV differ",
            category="6 Partitioners",
            caption="Eight samples of one class, to be cut into four folds. The paper gives no coordinates; these were "
            "searched for. They are an exception: on eight samples at random places DB-SCV has the smaller shift on "
            "average. Figures 3 and 4 cut them with the partitioners of this program.",
        ),
        Figure(
            "figure3_db_scv",
            title="Figure 3: DB-SCV goes astray",
            category="6 Partitioners",
            caption="From a random start (white) DB-SCV hops to the nearest sample without a fold (arrows) and deals folds A, "
            "B, C, D in turn. Here it spirals outwards, so that each fold lies on one side. Above: mean covariate "
            "shift of this cut, of Figure 4, and of DB-SCV over all starts.",
        ),
        Figure(
            "figure4_dob_scv",
            title="Figure 4: DOB-SCV with the same start",
            category="6 Partitioners",
            caption="DOB-SCV gives a start (white) and its three nearest samples (arrows) to four different folds, then "
            "starts again. Most folds (outlines) reach across the data. The second start is the worst of four; even "
            "so the shift is smaller than in Figure 3. Over all starts the two cuts are much closer.",
        ),
    ),
)

CHANGES = OutputGroup(
    "ablation",
    function="ablation.ablation_changes.ablation",
    inputs=lambda run: {
        "scores": run.per_dataset("seed_scores"),
        "convergence": run.rows("convergence"),
        "heldout": run.rows("held_out"),
    },
    seconds=lambda run: 4 + 3e-6 * run.n_fits(),
    mb=4000,
    message="what the conclusions rest on",
    items=(
        Table(
            "ablation",
            show="ablation.ablation_tables.ablation_grid",
            title="What the order of the partitioners rests on",
            category="7 Ablation",
            caption="Tables VI and VII when one thing is changed at a time: the distance of the partitioners, their rules for "
            "duplicates and remainders, the truth, the classifiers. Left: per cent of experiments that find a true "
            "difference (± standard error over experiments, in brackets over data sets). Right: mean number of "
            "experiments to convergence.",
        ),
        Table(
            "conclusions",
            show="ablation.ablation_tables.conclusions_grid",
            title="Which of the paper's conclusions survive",
            category="7 Ablation",
            caption="The paper's conclusions under each change of what it left open. The first four are about Table VI (per "
            "cent), the others about Table VII (experiments). Cells: verdict and difference ± its standard error, "
            "positive where the paper is right. Within error: smaller than two standard errors, over experiments and "
            "data sets together.",
        ),
        Table(
            "partitioner_bias",
            show="ablation.ablation_tables.bias_grid",
            title="Bias against the SCV truth",
            category="7 Ablation",
            caption="How much higher the estimated area lies than the truth, in thousandths, by classifier, scheme and cut, "
            "mean over the data sets ± standard error over experiments. DB-SCV and DOB-SCV give every test row a near "
            "training row, which may raise the estimate. Table heldout_bias asks which is nearer to new data.",
        ),
    ),
)

HELDOUT = OutputGroup(
    "heldout",
    function="heldout_tables.heldout",
    inputs=lambda run: {"rows": run.rows("held_out")},
    seconds=3,
    mb=4000,
    message="estimates against held-out truth",
    items=(
        Table(
            "heldout_bias",
            show="heldout_tables.bias_grid",
            title="A truth that no cross-validation made",
            category="7 Ablation",
            when=has_populations,
            caption="Samples of {held_out[n_sample]} rows from large populations are cross-validated; the truth is the AUC on "
            "the other rows. Cells: mean of estimate minus truth, ± standard error over populations. Positive: it "
            "promises too much. Against a training part as large as the scheme's SCV should have no bias; against the "
            "whole sample a negative bias is the price of training on less.",
        ),
        Table(
            "heldout_agreement",
            show="heldout_tables.agreement_grid",
            title="Accuracy of a single experiment against the held-out truth",
            category="7 Ablation",
            when=has_populations,
            caption="How often a single experiment ranks classifiers as the held-out truth does. Populations stand for the "
            "data sets of Table VI: a pair counts if its true areas differ by Wilcoxon's test; one sample of every "
            "population is one experiment. Cells: per cent of agreements ± standard error over experiments.",
        ),
    ),
)

FIGURES = OutputGroup(
    "result_figures",
    function="figures.results",
    inputs=lambda run: {
        "accuracy": run.table("accuracy_by_repetitions"),
        "convergence": run.table("convergence_curves"),
        "shift": run.table("covariate_shift_by_dataset"),
        "ablation": run.table("ablation"),
        "heldout": run.table("heldout_bias") if has_populations(run) else [],
    },
    seconds=5,
    local=True,
    message="figures of accuracy, convergence, covariate shift and ablation",
    items=(
        Figure(
            "accuracy_by_repetitions",
            draw="figures.draw_accuracy",
            title="Accuracy by repetitions",
            category="3 Single experiment",
            caption="Per cent of agreements with the truth (Table VI) when several experiments are averaged before the test. "
            "Bands: one standard error either way, cut at 0 and 100. A cut that is biased against the truth need not "
            "reach 100 %.",
        ),
        Figure(
            "convergence_curves",
            draw="figures.draw_convergence_curves",
            title="Convergence curves",
            category="4 Convergence",
            caption="Above: share of the pairs of data set and classifier whose estimate is stable (Table VII, by the "
            "instances) after a number of experiments; bands: one standard error over orders. Below: how near 1 the "
            "correlation with the step before is, median over the pairs; the thin line is .9999.",
        ),
        Figure(
            "covariate_shift",
            title="The covariate shift itself",
            category="5 Covariate shift",
            caption="How different the inputs of training and test part are: a column per measure, a row per scheme, a box "
            "per cut over the data sets (line: median, diamond: mean). Smaller is better; .5 is chance for the two- "
            "sample AUC. If the paper is right, DB-SCV and DOB-SCV lie below SCV and MS-SCV far above.",
        ),
        Figure(
            "covariate_shift_and_error",
            title="Does covariate shift harm the estimate?",
            category="5 Covariate shift",
            caption="A point per data set and cut: mean shift against the root mean square error of the estimated AUC. A "
            "column per measure, a row per scheme. Small data sets tend to have more of both, without the one being "
            "the cause of the other; the table of the same name takes the two apart.",
        ),
        Figure(
            "ablation",
            title="What the order of the partitioners rests on",
            category="7 Ablation",
            caption="Accuracy of a single experiment (Table VI) when one thing is changed at a time: distance, rules for "
            "duplicates and remainders, truth, classifiers. Thick bars: two standard errors over experiments; thin "
            "ones: two over data sets.",
        ),
        Figure(
            "heldout_bias",
            draw="figures.draw_bias",
            title="A truth that no cross-validation made",
            category="7 Ablation",
            when=has_populations,
            caption="Mean of estimate minus what classifiers reach on rows outside the sample, by cut and scheme: trained on "
            "a part as large as a training part (left), or on the whole sample (right). Bars: two standard errors "
            "over populations; small marks: single classifiers. To the right of 0 the estimate promises too much.",
        ),
    ),
)

COMPARISON = OutputGroup(
    "compare",
    function="against_print.compare.paper_vs_ours",
    inputs=lambda run: {
        **{name.partition("_")[0]: run.table(name) for name in OURS},
        "scores": run.per_dataset("seed_scores"),
        "printed": [run.printed(name) for name in PRINTED],
    },
    seconds=5,
    message="paper versus ours",
    items=(
        Table(
            "paper_vs_ours",
            show="foldshift.reporting.paper_vs_ours.compared_grid",
            when=is_printed,
            title="Paper versus ours",
            category="8 Paper versus ours",
            caption="Every number of Tables I and III to VII beside ours, with verdict and reason. Pairs of classifiers count "
            "once in Tables IV and V. The error is that of ours; for Tables V and VI that of the truth is part of it. "
            "The run has {n_seeds} experiments and {n_truth} of the truth; the paper 100 and 200.",
        ),
        Table(
            "print_ledger",
            show="foldshift.reporting.paper_vs_ours.ledger_grid",
            when=is_printed,
            title="Printed numbers that are met",
            category="8 Paper versus ours",
            caption="Printed numbers by verdict, counted from the rows of paper_vs_ours. Met: within two standard errors of "
            "the difference and the rounding of print. Explained: by a fact that the paper or a run shows, or by "
            "chance. Outside and expected by chance: two errors leave one right number in twenty outside.",
        ),
        Table(
            "table3_gaps",
            when=is_printed,
            title="Distance to the printed Table III",
            category="8 Paper versus ours",
            caption="How close our true areas (5x2) are to print, by classifier over the data sets: mean absolute and root "
            "mean square gap, and cells within two and three standard errors. The paper configuration has the "
            "oddities of the paper's tool and should meet print; the corrected one shows what they are worth.",
        ),
        Table(
            "table3_far_cells",
            when=is_printed,
            title="Cells of Table III far from print",
            category="8 Paper versus ours",
            caption="Cells further off than three standard errors (ours and the print's together), with the reason where it "
            "is known. The corrected configuration is meant to differ: it leaves out what the print rests on.",
        ),
        Table(
            "table4_from_print",
            when=is_printed,
            title="Table IV from the printed Table III",
            category="8 Paper versus ours",
            caption="The paper's own test on the paper's own numbers: the printed sums of ranks and p, the exact p of the "
            "printed sums, and what the paper's rule gives on the printed Table III. Transposed: the print is nearer "
            "to the pair the other way round.",
        ),
        Table(
            "table6_readings",
            when=is_printed,
            title="Readings of Table VI",
            category="8 Paper versus ours",
            caption="What was tried for Table VI, with the distance to print. An experiment at 2x5 has five runs, two or one; "
            "5x2 is judged by our truth or by the printed Table IV. The first reading takes the same facts as the "
            "first reading of Table VII.",
        ),
    ),
)

CLAIMS = OutputGroup(
    "claims",
    function="claims.claims",
    inputs=lambda run: {
        "printed": run.printed("claims"),
        "rows": run.rows("convergence"),
        "conclusions": run.table("conclusions"),
        "table5": run.table("table5_agreement"),
        "table6": run.table("table6_accuracy"),
        "shift": run.table("covariate_shift_by_dataset"),
        "heldout": run.table("heldout_bias") if has_populations(run) else [],
    },
    seconds=lambda run: 1 + 0.25 * len(run.datasets),
    mb=2000,
    message="claims of the paper",
    items=(
        Table(
            "claims_ledger",
            show="foldshift.reporting.claims_ledger.claims_grid",
            title="Do the paper's claims hold?",
            category="8 Paper versus ours",
            caption="Every sentence of the paper that states a number or an order about results, in our words. An order holds "
            "if its effect is above two standard errors, over data sets. Significance is Wilcoxon's test at .05.",
        ),
    ),
)

ITEMS = (
    DATASETS,
    AGREEMENT,
    single_datasets(
        "3 Single experiment",
        "Area under the ROC curve of the predicted classes",
        value="auc_crisp",
        reference="SCV",
        chosen=of_own_experiments,
    ),
    CONVERGENCE,
    COVARIATE_SHIFT,
    structured_cuts("5 Covariate shift"),
    PARTITIONERS,
    CHANGES,
    HELDOUT,
    FIGURES,
    COMPARISON,
    CLAIMS,
    failures("9 Failures"),
)
