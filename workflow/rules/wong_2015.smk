"""Intervals and tests from k-fold and leave-one-out cross-validation (Wong 2015), and how far they can be trusted.

Needs: counts of correct predictions per fold and per pair of learners, simulations, the audit. Makes: worked examples, intervals, comparisons, claims, coverage.
"""

WONG = config["studies"]["wong_2015"]
WONG_TABLES = "<results>/wong_2015/tables"
WONG_FIGURES = "<results>/wong_2015/figures"
WONG_COUNTS = {
    kind: [f"<results>/wong_2015/{kind}/{name}.parquet" for name in WONG["datasets"]]
    for kind in ("folds", "pairs")
}
WONG_CLAIMS = [
    f"<results>/wong_2015/claims/{model}.parquet" for model in WONG["claims"]["models"]
]
WONG_AUDIT = [
    f"<results>/wong_2015/audit/{name}.parquet" for name in WONG["audit"]["populations"]
]
WONG_TABLE_NAMES = [
    "examples",
    "table1_textbooks",
    "intervals",
    "comparisons",
    "agreement",
    "repetitions",
    "average_ranks",
]
WONG_FIGURE_NAMES = ["intervals", "repetitions", "critical_difference"]
if WONG_CLAIMS:
    WONG_TABLE_NAMES += ["claims"]
    WONG_FIGURE_NAMES += ["sigma_share"]
if WONG_AUDIT:
    WONG_TABLE_NAMES += ["audit", "audit_by_partitioner"]
    WONG_FIGURE_NAMES += ["audit"]
STUDY_OUTPUTS["wong_2015"] = [
    *[path for name in WONG_TABLE_NAMES for path in table_files("wong_2015", name)],
    *[path for name in WONG_FIGURE_NAMES for path in figure_files("wong_2015", name)],
]


rule wong_2015:
    input:
        STUDY_OUTPUTS["wong_2015"],
        "<results>/provenance/config.yaml",
        "<results>/provenance/versions.json",
        "<results>/provenance/datasets_wong_2015.json",
    localrule: True
    message:
        "The study of intervals and tests is complete"


rule wong_examples:
    input:
        code=code("tabulate_examples"),
    output:
        multiext(f"{WONG_TABLES}/examples", ".csv", ".tex"),
        multiext(f"{WONG_TABLES}/table1_textbooks", ".csv", ".tex"),
        examples=report_table("wong_2015", "examples", "1 Worked examples"),
        textbooks=report_table("wong_2015", "table1_textbooks", "1 Worked examples"),
    log:
        "<logs>/wong_2015/examples.log",
    localrule: True
    conda:
        "../../envs/foldshift.yaml"
    message:
        "Worked examples, printed and corrected; Table 1"
    script:
        "../../scripts/tabulate_examples.py"


rule wong_intervals:
    input:
        folds=WONG_COUNTS["folds"],
        pairs=WONG_COUNTS["pairs"],
        code=code("tabulate_intervals"),
    output:
        multiext(f"{WONG_TABLES}/intervals", ".csv", ".tex"),
        multiext(f"{WONG_TABLES}/comparisons", ".csv", ".tex"),
        multiext(f"{WONG_TABLES}/agreement", ".csv", ".tex"),
        multiext(f"{WONG_TABLES}/repetitions", ".csv", ".tex"),
        multiext(f"{WONG_TABLES}/average_ranks", ".csv", ".tex"),
        multiext(f"{WONG_FIGURES}/intervals", ".pdf", ".png"),
        multiext(f"{WONG_FIGURES}/repetitions", ".pdf", ".png"),
        multiext(f"{WONG_FIGURES}/critical_difference", ".pdf", ".png"),
        intervals=report_table("wong_2015", "intervals", "2 Intervals"),
        comparisons=report_table("wong_2015", "comparisons", "3 Comparisons"),
        agreement=report_table("wong_2015", "agreement", "3 Comparisons"),
        repetitions=report_table("wong_2015", "repetitions", "4 Repetitions"),
        ranks=report_table("wong_2015", "average_ranks", "3 Comparisons"),
        intervals_figure=report_figure("wong_2015", "intervals", "2 Intervals"),
        repetitions_figure=report_figure("wong_2015", "repetitions", "4 Repetitions"),
        difference_figure=report_figure(
            "wong_2015", "critical_difference", "3 Comparisons"
        ),
    log:
        "<logs>/wong_2015/intervals.log",
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(1500),
        runtime=minutes(60),
    params:
        settings=WONG,
    message:
        "Intervals, comparisons, repetitions"
    script:
        "../../scripts/tabulate_intervals.py"


if WONG_CLAIMS:

    rule wong_claims:
        input:
            rows=WONG_CLAIMS,
            code=code("tabulate_claims"),
        output:
            multiext(f"{WONG_TABLES}/claims", ".csv", ".tex"),
            multiext(f"{WONG_FIGURES}/sigma_share", ".pdf", ".png"),
            claims=report_table("wong_2015", "claims", "5 Claims"),
            share=report_figure("wong_2015", "sigma_share", "5 Claims"),
        log:
            "<logs>/wong_2015/claims.log",
        localrule: True
        conda:
            "../../envs/foldshift.yaml"
        params:
            settings=WONG,
        message:
            "The paper's claims, checked where the truth is known"
        script:
            "../../scripts/tabulate_claims.py"


if WONG_AUDIT:

    rule wong_audit:
        input:
            rows=WONG_AUDIT,
            code=code("tabulate_audit"),
        output:
            multiext(f"{WONG_TABLES}/audit", ".csv", ".tex"),
            multiext(f"{WONG_TABLES}/audit_by_partitioner", ".csv", ".tex"),
            multiext(f"{WONG_FIGURES}/audit", ".pdf", ".png"),
            audit=report_table("wong_2015", "audit", "6 Coverage"),
            by_partitioner=report_table(
                "wong_2015", "audit_by_partitioner", "7 Partitioners"
            ),
            figure=report_figure("wong_2015", "audit", "6 Coverage"),
        log:
            "<logs>/wong_2015/audit.log",
        conda:
            "../../envs/foldshift.yaml"
        resources:
            mem_mb=memory(1500),
            runtime=minutes(60),
        params:
            settings=WONG,
        message:
            "Coverage of every interval, by partitioner"
        script:
            "../../scripts/tabulate_audit.py"
