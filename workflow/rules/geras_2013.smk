"""Cross-validation over several sources, and its variance (Geras and Sutton 2013).

Needs: rows of error and of variance. Makes: Figures 1 to 6, their tables, and what the paper leaves out: spread, negative values and coverage of the estimators.
"""

GERAS = config["studies"]["geras_2013"]
GERAS_TABLES = "<results>/geras_2013/tables"
GERAS_FIGURES = "<results>/geras_2013/figures"
GERAS_BLOCKS = block_names(GERAS["n_seeds"], GERAS["draws_per_block"])
GERAS_ERROR = [
    f"<results>/geras_2013/error/{learner}/{sampling}/{block}.parquet"
    for learner in GERAS["learners"]
    for sampling in GERAS["sampling"]
    for block in GERAS_BLOCKS
]
GERAS_VARIANCE = [
    f"<results>/geras_2013/{kind}/{learner}/{sampling}/{points}.parquet"
    for kind in ("estimates", "components")
    for learner in GERAS["learners"]
    for sampling in GERAS["sampling"]
    for points in GERAS["n_points"]
]
GERAS_MODELS = [
    f"<results>/geras_2013/models/{model}.parquet" for model in GERAS["models"]
]
GERAS_TABLE_NAMES = [
    "figure2_error",
    "figure3_spread",
    "figure4_decomposition",
    "figure6_estimators",
    "estimators",
    "mean_predictor",
] + (["models"] if GERAS["models"] else [])
GERAS_FIGURE_NAMES = [
    "figure1_blocks",
    "figure2_error",
    "figure3_spread",
    "figure4_decomposition",
    "figure5_covariances",
    "figure6_estimators",
    "coverage",
]
STUDY_OUTPUTS["geras_2013"] = [
    *[path for name in GERAS_TABLE_NAMES for path in table_files("geras_2013", name)],
    *[path for name in GERAS_FIGURE_NAMES for path in figure_files("geras_2013", name)],
]


rule geras_2013:
    input:
        STUDY_OUTPUTS["geras_2013"],
        "<results>/provenance/config.yaml",
        "<results>/provenance/versions.json",
        "<results>/provenance/datasets_geras_2013.json",
    localrule: True
    message:
        "The study of several sources is complete"


rule geras_error:
    input:
        rows=GERAS_ERROR,
        code=code("tabulate_source_error"),
    output:
        multiext(f"{GERAS_TABLES}/figure2_error", ".csv", ".tex"),
        multiext(f"{GERAS_TABLES}/figure3_spread", ".csv", ".tex"),
        multiext(f"{GERAS_FIGURES}/figure2_error", ".pdf", ".png"),
        multiext(f"{GERAS_FIGURES}/figure3_spread", ".pdf", ".png"),
        error=report_table("geras_2013", "figure2_error", "1 Bias and spread"),
        spread=report_table("geras_2013", "figure3_spread", "1 Bias and spread"),
        error_figure=report_figure("geras_2013", "figure2_error", "1 Bias and spread"),
        spread_figure=report_figure("geras_2013", "figure3_spread", "1 Bias and spread"),
    log:
        "<logs>/geras_2013/error.log",
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(1500),
        runtime=minutes(60),
    params:
        settings=GERAS,
    message:
        "Figures 2 and 3: estimates against the error on a new source"
    script:
        "../../scripts/tabulate_source_error.py"


rule geras_variance:
    input:
        estimates=[path for path in GERAS_VARIANCE if "/estimates/" in path],
        components=[path for path in GERAS_VARIANCE if "/components/" in path],
        code=code("tabulate_source_variance"),
    output:
        multiext(f"{GERAS_TABLES}/figure4_decomposition", ".csv", ".tex"),
        multiext(f"{GERAS_TABLES}/figure6_estimators", ".csv", ".tex"),
        multiext(f"{GERAS_TABLES}/estimators", ".csv", ".tex"),
        multiext(f"{GERAS_FIGURES}/figure4_decomposition", ".pdf", ".png"),
        multiext(f"{GERAS_FIGURES}/figure5_covariances", ".pdf", ".png"),
        multiext(f"{GERAS_FIGURES}/figure6_estimators", ".pdf", ".png"),
        multiext(f"{GERAS_FIGURES}/coverage", ".pdf", ".png"),
        decomposition=report_table(
            "geras_2013", "figure4_decomposition", "2 Decomposition"
        ),
        figure6=report_table("geras_2013", "figure6_estimators", "3 Estimators"),
        estimators=report_table("geras_2013", "estimators", "3 Estimators"),
        decomposition_figure=report_figure(
            "geras_2013", "figure4_decomposition", "2 Decomposition"
        ),
        covariances_figure=report_figure(
            "geras_2013", "figure5_covariances", "3 Estimators"
        ),
        figure6_figure=report_figure("geras_2013", "figure6_estimators", "3 Estimators"),
        coverage_figure=report_figure("geras_2013", "coverage", "3 Estimators"),
    log:
        "<logs>/geras_2013/variance.log",
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(1500),
        runtime=minutes(60),
    params:
        settings=GERAS,
    message:
        "Figures 4 to 6: decomposition and estimators of the variance"
    script:
        "../../scripts/tabulate_source_variance.py"


rule geras_models:
    input:
        rows=GERAS_MODELS,
        code=code("tabulate_source_models"),
    output:
        multiext(f"{GERAS_TABLES}/mean_predictor", ".csv", ".tex"),
        multiext(f"{GERAS_TABLES}/models", ".csv", ".tex") if GERAS["models"] else [],
        multiext(f"{GERAS_FIGURES}/figure1_blocks", ".pdf", ".png"),
        exact=report_table("geras_2013", "mean_predictor", "4 Models"),
        models=(
            report_table("geras_2013", "models", "4 Models") if GERAS["models"] else []
        ),
        blocks=report_figure("geras_2013", "figure1_blocks", "4 Models"),
    log:
        "<logs>/geras_2013/models.log",
    localrule: True
    conda:
        "../../envs/foldshift.yaml"
    params:
        settings=GERAS,
    message:
        "Models in which everything is known; Figure 1"
    script:
        "../../scripts/tabulate_source_models.py"
