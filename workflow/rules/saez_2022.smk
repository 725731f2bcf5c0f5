"""Regressand stratification (Saez and Romero-Bejar 2022).

Needs: scores and target shift of the regression data sets. Makes: Tables 1, 4 and 5, Figures 1 and 2 and what stands behind them.
"""

SAEZ = config["studies"]["saez_2022"]
SAEZ_TABLES = "<results>/saez_2022/tables"
SAEZ_FIGURES = "<results>/saez_2022/figures"
SAEZ_CHECK = SAEZ["scaling_check"]
# The k of the check must be one that is cut anyway.
SAEZ_CHECK_K = (
    SAEZ_CHECK["n_folds"]
    if SAEZ_CHECK["n_folds"] in SAEZ["n_folds"]
    else SAEZ["n_folds"][0]
)
SAEZ_TABLE_NAMES = [
    "table1_datasets",
    "table4_dn",
    "dn_by_dataset",
    "table5_error",
    "error_order",
    "error_by_dataset",
    "figure2_convergence",
] + (["scaling_check"] if SAEZ_CHECK["n_seeds"] else [])
SAEZ_FIGURE_NAMES = [
    "figure1_target_shift",
    "figure2_convergence",
    "dn_boxes",
    "dn_by_dataset",
]
SAEZ_TABLE_NAMES.append("failures")
STUDY_OUTPUTS["saez_2022"] = [
    *[path for name in SAEZ_TABLE_NAMES for path in table_files("saez_2022", name)],
    *[path for name in SAEZ_FIGURE_NAMES for path in figure_files("saez_2022", name)],
    *[f"<results>/saez_2022/paper_vs_ours.{form}" for form in ("csv", "html", "tex")],
]


rule saez_2022:
    input:
        STUDY_OUTPUTS["saez_2022"],
        "<results>/provenance/config.yaml",
        "<results>/provenance/versions.json",
        "<results>/provenance/datasets_saez_2022.json",
    localrule: True
    message:
        "The regression study is complete"


rule saez_datasets:
    input:
        descriptions=[
            f"<resources>/prepared/{SAEZ['scaling']}/{name}.json"
            for name in SAEZ["datasets"]
        ],
        origins=[f"<resources>/fetched/{name}.json" for name in SAEZ["datasets"]],
        code=code("tabulate_datasets"),
    output:
        multiext(f"{SAEZ_TABLES}/table1_datasets", ".csv", ".tex"),
        html=report_table("saez_2022", "table1_datasets", "1 Data"),
    log:
        "<logs>/saez_2022/table1_datasets.log",
    localrule: True
    conda:
        "../../envs/foldshift.yaml"
    params:
        entries=[dict(vars(CATALOGUE[name])) for name in SAEZ["datasets"]],
    message:
        "Table 1: data sets"
    script:
        "../../scripts/tabulate_datasets.py"


rule saez_shift:
    input:
        shift=[
            f"<results>/saez_2022/seed_shift/{name}.parquet"
            for name in SAEZ["datasets"]
        ],
        code=code("tabulate_shift"),
    output:
        multiext(f"{SAEZ_TABLES}/table4_dn", ".csv", ".tex"),
        multiext(f"{SAEZ_TABLES}/dn_by_dataset", ".csv", ".tex"),
        html=report_table("saez_2022", "table4_dn", "2 Target shift"),
        by_dataset=report_table("saez_2022", "dn_by_dataset", "2 Target shift"),
    log:
        "<logs>/saez_2022/table4_dn.log",
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(4000),
        runtime=minutes(300),
    params:
        settings=SAEZ,
    message:
        "Table 4: target shift"
    script:
        "../../scripts/tabulate_shift.py"


rule saez_error:
    input:
        errors=[
            f"<results>/saez_2022/seed_scores/{name}.parquet"
            for name in SAEZ["datasets"]
        ],
        code=code("tabulate_error"),
    output:
        multiext(f"{SAEZ_TABLES}/table5_error", ".csv", ".tex"),
        multiext(f"{SAEZ_TABLES}/error_order", ".csv", ".tex"),
        multiext(f"{SAEZ_TABLES}/error_by_dataset", ".csv", ".tex"),
        multiext(f"{SAEZ_TABLES}/figure2_convergence", ".tex"),
        html=report_table("saez_2022", "table5_error", "3 Error"),
        order=report_table("saez_2022", "error_order", "3 Error"),
        by_dataset=report_table("saez_2022", "error_by_dataset", "3 Error"),
        convergence_html=report_table(
            "saez_2022", "figure2_convergence", "4 Convergence"
        ),
        convergence=f"{SAEZ_TABLES}/figure2_convergence.csv",
    log:
        "<logs>/saez_2022/table5_error.log",
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(4000),
        runtime=minutes(300),
    params:
        settings=SAEZ,
    message:
        "Table 5: error; p-values by repetitions"
    script:
        "../../scripts/tabulate_error.py"


rule saez_paper_vs_ours:
    input:
        datasets=f"{SAEZ_TABLES}/table1_datasets.csv",
        table4=f"{SAEZ_TABLES}/table4_dn.csv",
        table5=f"{SAEZ_TABLES}/table5_error.csv",
        shift=[
            f"<results>/saez_2022/seed_shift/{name}.parquet"
            for name in SAEZ["datasets"]
        ],
        errors=[
            f"<results>/saez_2022/seed_scores/{name}.parquet"
            for name in SAEZ["datasets"]
        ],
        printed=[
            str(ROOT / f"workflow/reference/saez_2022_{name}.csv")
            for name in ("table1_datasets", "table4_dn", "table5_error")
        ],
        code=code("compare_with_paper"),
    output:
        multiext("<results>/saez_2022/paper_vs_ours", ".csv", ".tex"),
        html=report(
            "<results>/saez_2022/paper_vs_ours.html",
            caption="../report/paper_vs_ours.rst",
            category="Saez and Romero-Bejar 2022",
            subcategory="5 Paper versus ours",
            labels={"item": "paper_vs_ours (table)"},
        ),
    log:
        "<logs>/saez_2022/paper_vs_ours.log",
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(4000),
        runtime=minutes(300),
    params:
        settings=SAEZ,
    message:
        "Paper versus ours"
    script:
        "../../scripts/compare_with_paper.py"


rule saez_scaling:
    input:
        rows=[
            f"<results>/saez_2022/scaling/{dataset}.csv"
            for dataset in SAEZ["datasets"]
        ],
        code=code("tabulate_scaling"),
    output:
        multiext(f"{SAEZ_TABLES}/scaling_check", ".csv", ".tex"),
        html=report_table("saez_2022", "scaling_check", "3 Error"),
    log:
        "<logs>/saez_2022/scaling_check.log",
    localrule: True
    conda:
        "../../envs/foldshift.yaml"
    message:
        "Scaling check"
    script:
        "../../scripts/tabulate_scaling.py"


rule saez_figure1:
    input:
        code=code("plot_target_shift"),
    output:
        multiext(f"{SAEZ_FIGURES}/figure1_target_shift", ".pdf", ".png"),
        svg=report_figure("saez_2022", "figure1_target_shift", "2 Target shift"),
    log:
        "<logs>/saez_2022/figure1_target_shift.log",
    localrule: True
    conda:
        "../../envs/foldshift.yaml"
    message:
        "Figure 1: what target shift looks like"
    script:
        "../../scripts/plot_target_shift.py"


rule saez_figure2:
    input:
        table=f"{SAEZ_TABLES}/figure2_convergence.csv",
        code=code("plot_convergence"),
    output:
        multiext(f"{SAEZ_FIGURES}/figure2_convergence", ".pdf", ".png"),
        svg=report_figure("saez_2022", "figure2_convergence", "4 Convergence"),
    log:
        "<logs>/saez_2022/figure2_convergence.log",
    localrule: True
    conda:
        "../../envs/foldshift.yaml"
    params:
        settings=SAEZ,
    message:
        "Figure 2: p-value against repetitions"
    script:
        "../../scripts/plot_convergence.py"


rule saez_shift_figures:
    input:
        table=f"{SAEZ_TABLES}/dn_by_dataset.csv",
        datasets=f"{SAEZ_TABLES}/table1_datasets.csv",
        code=code("plot_shift"),
    output:
        multiext(f"{SAEZ_FIGURES}/dn_boxes", ".pdf", ".png"),
        multiext(f"{SAEZ_FIGURES}/dn_by_dataset", ".pdf", ".png"),
        boxes=report_figure("saez_2022", "dn_boxes", "2 Target shift"),
        by_dataset=report_figure("saez_2022", "dn_by_dataset", "2 Target shift"),
    log:
        "<logs>/saez_2022/dn_figures.log",
    localrule: True
    conda:
        "../../envs/foldshift.yaml"
    params:
        settings=SAEZ,
    message:
        "Figures of D_n"
    script:
        "../../scripts/plot_shift.py"


rule saez_failures:
    input:
        failures=[
            f"<results>/saez_2022/failures/{name}.json" for name in SAEZ["datasets"]
        ],
        code=code("list_failures"),
    output:
        multiext(f"{SAEZ_TABLES}/failures", ".csv", ".tex"),
        html=report_table("saez_2022", "failures", "6 Failures"),
    log:
        "<logs>/saez_2022/failures.log",
    localrule: True
    conda:
        "../../envs/foldshift.yaml"
    message:
        "What failed, and why"
    script:
        "../../scripts/list_failures.py"
