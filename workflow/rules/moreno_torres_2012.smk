"""Partition-induced covariate shift (Moreno-Torres, Saez and Herrera 2012).

Needs: scores, predictions and folds of the classification data sets. Makes: Tables 1 to 7, Figures 1 to 4, and what the paper has no room for:
curves, the covariate shift itself, a truth that no cross-validation made, and what the conclusions rest on.
"""

MORENO = config["studies"]["moreno_torres_2012"]
MORENO_TABLES = "<results>/moreno_torres_2012/tables"
MORENO_FIGURES = "<results>/moreno_torres_2012/figures"
MORENO_IDS = configured_learners(MORENO, LEARNERS)
MORENO_SETTINGS = MORENO | {
    "iterations": iterations(MORENO["schemes"]),
    "ids": MORENO_IDS,
    "variants": variants(MORENO) if MORENO["ablation"]["n_seeds"] else {},
}
MORENO_SCORES = [
    f"<results>/moreno_torres_2012/seed_scores/{name}.parquet"
    for name in MORENO["datasets"]
]
MORENO_POPULATIONS = MORENO["held_out"]["populations"]
MORENO_TABLE_NAMES = [
    "table1_datasets",
    "table2_classifiers",
    "table3_auc",
    "table4_wilcoxon",
    "table5_agreement",
    "table6_accuracy",
    "accuracy_by_repetitions",
    "table7_convergence",
    "convergence_sensitivity",
    "convergence_curves",
    "covariate_shift",
    "covariate_shift_by_dataset",
    "shifted_features",
    "covariate_shift_and_error",
    "ablation",
    "conclusions",
    "partitioner_bias",
    "table3_gaps",
    "table3_far_cells",
    "table4_from_print",
] + (["heldout_bias", "heldout_agreement"] if MORENO_POPULATIONS else [])
MORENO_FIGURE_NAMES = [
    "figure1_extreme_shift",
    "figure2_artificial",
    "figure3_db_scv",
    "figure4_dob_scv",
    "accuracy_by_repetitions",
    "convergence_curves",
    "covariate_shift",
    "covariate_shift_and_error",
    "ablation",
] + (["heldout_bias"] if MORENO_POPULATIONS else [])
MORENO_TABLE_NAMES.append("failures")
STUDY_OUTPUTS["moreno_torres_2012"] = [
    *[
        path
        for name in MORENO_TABLE_NAMES
        for path in table_files("moreno_torres_2012", name)
    ],
    *[
        path
        for name in MORENO_FIGURE_NAMES
        for path in figure_files("moreno_torres_2012", name)
    ],
    *[
        f"<results>/moreno_torres_2012/paper_vs_ours.{form}"
        for form in ("csv", "html", "tex")
    ],
]


rule moreno_torres_2012:
    input:
        STUDY_OUTPUTS["moreno_torres_2012"],
        "<results>/provenance/config.yaml",
        "<results>/provenance/versions.json",
        "<results>/provenance/datasets_moreno_torres_2012.json",
    localrule: True
    message:
        "The study moreno_torres_2012 is complete"


rule moreno_datasets:
    input:
        descriptions=[
            f"<resources>/prepared/none/{name}.json" for name in MORENO["datasets"]
        ],
        origins=[f"<resources>/fetched/{name}.json" for name in MORENO["datasets"]],
        code=code("tabulate_datasets"),
    output:
        multiext(f"{MORENO_TABLES}/table1_datasets", ".csv", ".tex"),
        html=report_table("moreno_torres_2012", "table1_datasets", "1 Data"),
    log:
        "<logs>/moreno_torres_2012/table1_datasets.log",
    localrule: True
    conda:
        "../../envs/foldshift.yaml"
    params:
        entries=[dict(vars(CATALOGUE[name])) for name in MORENO["datasets"]],
    message:
        "Table 1: data sets"
    script:
        "../../scripts/tabulate_datasets.py"


rule moreno_agreement:
    input:
        scores=MORENO_SCORES,
        code=code("tabulate_agreement"),
    output:
        multiext(f"{MORENO_TABLES}/table2_classifiers", ".csv", ".tex"),
        multiext(f"{MORENO_TABLES}/table3_auc", ".csv", ".tex"),
        multiext(f"{MORENO_TABLES}/table4_wilcoxon", ".csv", ".tex"),
        multiext(f"{MORENO_TABLES}/table5_agreement", ".csv", ".tex"),
        multiext(f"{MORENO_TABLES}/table6_accuracy", ".csv", ".tex"),
        multiext(f"{MORENO_TABLES}/accuracy_by_repetitions", ".csv", ".tex"),
        multiext(f"{MORENO_FIGURES}/accuracy_by_repetitions", ".pdf", ".png"),
        table2=report_table("moreno_torres_2012", "table2_classifiers", "1 Data"),
        table3=report_table("moreno_torres_2012", "table3_auc", "2 Truth"),
        table4=report_table("moreno_torres_2012", "table4_wilcoxon", "2 Truth"),
        table5=report_table(
            "moreno_torres_2012", "table5_agreement", "3 Single experiment"
        ),
        table6=report_table(
            "moreno_torres_2012", "table6_accuracy", "3 Single experiment"
        ),
        repetitions=report_table(
            "moreno_torres_2012", "accuracy_by_repetitions", "3 Single experiment"
        ),
        figure=report_figure(
            "moreno_torres_2012", "accuracy_by_repetitions", "3 Single experiment"
        ),
    log:
        "<logs>/moreno_torres_2012/agreement.log",
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(4000),
        runtime=minutes(300),
    params:
        settings=MORENO_SETTINGS,
        learners={
            name: LEARNERS[name]
            for ids in MORENO_IDS.values()
            for name in ids.values()
        },
        master_seed=config["master_seed"],
    message:
        "Tables 2 to 6: truth, tests, accuracy of a single experiment"
    script:
        "../../scripts/tabulate_agreement.py"


rule moreno_convergence:
    input:
        rows=[
            f"<results>/moreno_torres_2012/convergence/{name}.parquet"
            for name in MORENO["datasets"]
        ],
        curves=[
            f"<results>/moreno_torres_2012/convergence_curves/{name}.parquet"
            for name in MORENO["datasets"]
        ],
        code=code("tabulate_convergence"),
    output:
        multiext(f"{MORENO_TABLES}/table7_convergence", ".csv", ".tex"),
        multiext(f"{MORENO_TABLES}/convergence_sensitivity", ".csv", ".tex"),
        multiext(f"{MORENO_TABLES}/convergence_curves", ".csv", ".tex"),
        multiext(f"{MORENO_FIGURES}/convergence_curves", ".pdf", ".png"),
        html=report_table("moreno_torres_2012", "table7_convergence", "4 Convergence"),
        sensitivity=report_table(
            "moreno_torres_2012", "convergence_sensitivity", "4 Convergence"
        ),
        curves=report_table("moreno_torres_2012", "convergence_curves", "4 Convergence"),
        figure=report_figure(
            "moreno_torres_2012", "convergence_curves", "4 Convergence"
        ),
    log:
        "<logs>/moreno_torres_2012/convergence.log",
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(4000),
        runtime=minutes(300),
    params:
        settings=MORENO_SETTINGS,
    message:
        "Table 7: experiments until the estimate is stable"
    script:
        "../../scripts/tabulate_convergence.py"


rule moreno_covariate_shift:
    input:
        shift=[
            f"<results>/moreno_torres_2012/covariate_shift/{name}.parquet"
            for name in MORENO["datasets"]
        ],
        features=[
            f"<results>/moreno_torres_2012/shifted_features/{name}.parquet"
            for name in MORENO["datasets"]
        ],
        errors=MORENO_SCORES,
        code=code("tabulate_covariate_shift"),
    output:
        multiext(f"{MORENO_TABLES}/covariate_shift", ".csv", ".tex"),
        multiext(f"{MORENO_TABLES}/covariate_shift_by_dataset", ".csv", ".tex"),
        multiext(f"{MORENO_TABLES}/shifted_features", ".csv", ".tex"),
        multiext(f"{MORENO_TABLES}/covariate_shift_and_error", ".csv", ".tex"),
        multiext(f"{MORENO_FIGURES}/covariate_shift", ".pdf", ".png"),
        multiext(f"{MORENO_FIGURES}/covariate_shift_and_error", ".pdf", ".png"),
        html=report_table("moreno_torres_2012", "covariate_shift", "5 Covariate shift"),
        by_dataset=report_table(
            "moreno_torres_2012", "covariate_shift_by_dataset", "5 Covariate shift"
        ),
        features=report_table(
            "moreno_torres_2012", "shifted_features", "5 Covariate shift"
        ),
        correlation=report_table(
            "moreno_torres_2012", "covariate_shift_and_error", "5 Covariate shift"
        ),
        figure=report_figure(
            "moreno_torres_2012", "covariate_shift", "5 Covariate shift"
        ),
        scatter=report_figure(
            "moreno_torres_2012", "covariate_shift_and_error", "5 Covariate shift"
        ),
    log:
        "<logs>/moreno_torres_2012/covariate_shift.log",
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(4000),
        runtime=minutes(300),
    params:
        alpha=MORENO["alpha"],
        schemes=MORENO_SETTINGS["iterations"],
        partitioners=MORENO["partitioners"],
        learners=list(next(iter(MORENO_IDS.values())).values()),
    message:
        "Covariate shift, and what it has to do with the error of the estimate"
    script:
        "../../scripts/tabulate_covariate_shift.py"


rule moreno_partitioner_figures:
    input:
        code=code("plot_partitioners"),
    output:
        *[
            f"{MORENO_FIGURES}/{name}.{form}"
            for name in MORENO_FIGURE_NAMES[:4]
            for form in ("pdf", "png")
        ],
        figure1=report_figure(
            "moreno_torres_2012", "figure1_extreme_shift", "6 Partitioners"
        ),
        figure2=report_figure(
            "moreno_torres_2012", "figure2_artificial", "6 Partitioners"
        ),
        figure3=report_figure("moreno_torres_2012", "figure3_db_scv", "6 Partitioners"),
        figure4=report_figure("moreno_torres_2012", "figure4_dob_scv", "6 Partitioners"),
    log:
        "<logs>/moreno_torres_2012/partitioner_figures.log",
    localrule: True
    conda:
        "../../envs/foldshift.yaml"
    message:
        "Figures 1 to 4: how the partitioners cut"
    script:
        "../../scripts/plot_partitioners.py"


rule moreno_heldout:
    input:
        rows=[
            f"<results>/moreno_torres_2012/held_out/{name}.parquet"
            for name in MORENO_POPULATIONS
        ],
        code=code("tabulate_heldout"),
    output:
        multiext(f"{MORENO_TABLES}/heldout_bias", ".csv", ".tex"),
        multiext(f"{MORENO_TABLES}/heldout_agreement", ".csv", ".tex"),
        multiext(f"{MORENO_FIGURES}/heldout_bias", ".pdf", ".png"),
        html=report_table("moreno_torres_2012", "heldout_bias", "7 Ablation"),
        agreement=report_table("moreno_torres_2012", "heldout_agreement", "7 Ablation"),
        figure=report_figure("moreno_torres_2012", "heldout_bias", "7 Ablation"),
    log:
        "<logs>/moreno_torres_2012/heldout.log",
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(4000),
        runtime=minutes(300),
    params:
        schemes=MORENO_SETTINGS["iterations"],
        partitioners=MORENO["partitioners"],
        learners=list(next(iter(MORENO_IDS.values())).values()),
    message:
        "Estimates against held-out truth"
    script:
        "../../scripts/tabulate_heldout.py"


rule moreno_ablation:
    input:
        scores=MORENO_SCORES,
        convergence=[
            f"<results>/moreno_torres_2012/convergence/{name}.parquet"
            for name in MORENO["datasets"]
        ],
        heldout=[
            f"<results>/moreno_torres_2012/held_out/{name}.parquet"
            for name in MORENO_POPULATIONS
        ],
        code=code("tabulate_ablation"),
    output:
        multiext(f"{MORENO_TABLES}/ablation", ".csv", ".tex"),
        multiext(f"{MORENO_TABLES}/conclusions", ".csv", ".tex"),
        multiext(f"{MORENO_TABLES}/partitioner_bias", ".csv", ".tex"),
        multiext(f"{MORENO_FIGURES}/ablation", ".pdf", ".png"),
        html=report_table("moreno_torres_2012", "ablation", "7 Ablation"),
        conclusions=report_table("moreno_torres_2012", "conclusions", "7 Ablation"),
        bias=report_table("moreno_torres_2012", "partitioner_bias", "7 Ablation"),
        figure=report_figure("moreno_torres_2012", "ablation", "7 Ablation"),
    log:
        "<logs>/moreno_torres_2012/ablation.log",
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(4000),
        runtime=minutes(300),
    params:
        settings=MORENO_SETTINGS,
        master_seed=config["master_seed"],
    message:
        "What the conclusions rest on"
    script:
        "../../scripts/tabulate_ablation.py"


rule moreno_paper_vs_ours:
    input:
        table1=f"{MORENO_TABLES}/table1_datasets.csv",
        table3=f"{MORENO_TABLES}/table3_auc.csv",
        table4=f"{MORENO_TABLES}/table4_wilcoxon.csv",
        table5=f"{MORENO_TABLES}/table5_agreement.csv",
        table6=f"{MORENO_TABLES}/table6_accuracy.csv",
        table7=f"{MORENO_TABLES}/table7_convergence.csv",
        scores=MORENO_SCORES,
        printed=[
            str(ROOT / f"workflow/reference/moreno_torres_2012_{name}.csv")
            for name in (
                "table1_datasets",
                "table3_auc",
                "table4_wilcoxon",
                "table5_dobscv_5x2_agreement",
                "table6_accuracy",
                "table7_convergence",
            )
        ],
        code=code("compare_classes_with_paper"),
    output:
        multiext("<results>/moreno_torres_2012/paper_vs_ours", ".csv", ".tex"),
        multiext(f"{MORENO_TABLES}/table3_gaps", ".csv", ".tex"),
        multiext(f"{MORENO_TABLES}/table3_far_cells", ".csv", ".tex"),
        multiext(f"{MORENO_TABLES}/table4_from_print", ".csv", ".tex"),
        html=report(
            "<results>/moreno_torres_2012/paper_vs_ours.html",
            caption="../report/paper_vs_ours_classes.rst",
            category=STUDY_TITLES["moreno_torres_2012"],
            subcategory="8 Paper versus ours",
            labels={"item": "paper_vs_ours (table)"},
        ),
        gaps=report_table("moreno_torres_2012", "table3_gaps", "8 Paper versus ours"),
        far=report_table(
            "moreno_torres_2012", "table3_far_cells", "8 Paper versus ours"
        ),
        print4=report_table(
            "moreno_torres_2012", "table4_from_print", "8 Paper versus ours"
        ),
    log:
        "<logs>/moreno_torres_2012/paper_vs_ours.log",
    conda:
        "../../envs/foldshift.yaml"
    params:
        settings=MORENO_SETTINGS,
    message:
        "Paper versus ours"
    script:
        "../../scripts/compare_classes_with_paper.py"


rule moreno_failures:
    input:
        failures=[
            f"<results>/moreno_torres_2012/failures/{name}.json"
            for name in MORENO["datasets"]
        ],
        code=code("list_failures"),
    output:
        multiext(f"{MORENO_TABLES}/failures", ".csv", ".tex"),
        html=report_table("moreno_torres_2012", "failures", "9 Failures"),
    log:
        "<logs>/moreno_torres_2012/failures.log",
    localrule: True
    conda:
        "../../envs/foldshift.yaml"
    message:
        "What failed, and why"
    script:
        "../../scripts/list_failures.py"
