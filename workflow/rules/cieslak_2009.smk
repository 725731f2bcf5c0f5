"""When and why classifiers fail: injected shifts and what detects them (Cieslak and Chawla 2009).

Needs: rows of shift, readings, co-failure, learners and multivariate tests. Makes: Tables 1 to 6, Figures 2 to 17, the sensitivity of the learners, the power of the detectors.
"""

CIESLAK = config["studies"]["cieslak_2009"]
CIESLAK_TABLES = "<results>/cieslak_2009/tables"
CIESLAK_FIGURES = "<results>/cieslak_2009/figures"
CIESLAK_BLOCKS = block_names(CIESLAK["n_seeds"], CIESLAK["repeats_per_block"])
# The rows that everything here is made of, by kind.
CIESLAK_ROWS = {
    kind: [
        f"<results>/cieslak_2009/{kind}/{name}/{block}.parquet"
        for name in CIESLAK["datasets"]
        for block in CIESLAK_BLOCKS
    ]
    for kind in ("shift", "readings", "co_failure", "learners", "multivariate")
}
CIESLAK_DESCRIPTIONS = [
    f"<resources>/prepared/none/{name}.json" for name in CIESLAK["datasets"]
]
CIESLAK_PRINTED = [
    str(ROOT / f"workflow/reference/cieslak_2009_{name}.csv")
    for name in (
        "table1_datasets",
        "table2_ks_failing",
        "table3_phi",
        "table4_ks_covariate_shift",
        "table6_hellinger_skew",
    )
]
# Those with a printed counterpart, in the order of `CIESLAK_PRINTED`.
CIESLAK_COMPARED = [
    "table1_datasets",
    "table2_ks_failing",
    "table3_phi",
    "table4_ks_translation",
    "table6_hellinger_skew",
]
# Subcategory of the report by table and figure.
CIESLAK_TABLE_NAMES = {
    "table1_datasets": "1 Data",
    "table2_ks_failing": "2 Features that fail",
    "ks_readings": "2 Features that fail",
    "table3_phi": "2 Features that fail",
    "table4_ks_translation": "2 Features that fail",
    "table5_examples": "6 Worked examples",
    "table6_hellinger_skew": "3 Hellinger distance",
    "learner_sensitivity": "4 Learners",
    "power": "5 Detectors",
    "type_one": "5 Detectors",
    "p_values": "4 Learners",
    "ks_by_prior": "2 Features that fail",
    "hellinger": "3 Hellinger distance",
}
CIESLAK_FIGURE_NAMES = {
    "figures2_to_5_shifts": "1 Data",
    "figure6_friedman_bias": "4 Learners",
    "figure7_friedman_translation": "4 Learners",
    "figure8_friedman_prior": "4 Learners",
    "figure9_kruskal_bias": "4 Learners",
    "figure10_kruskal_translation": "4 Learners",
    "figure11_kruskal_prior": "4 Learners",
    "figure12_ks_example": "6 Worked examples",
    "figure13_ks_prior": "2 Features that fail",
    "figure14_ks_prior_by_class": "2 Features that fail",
    "figure15_hellinger_bias": "3 Hellinger distance",
    "figure16_hellinger_translation": "3 Hellinger distance",
    "figure17_hellinger_prior": "3 Hellinger distance",
}
STUDY_OUTPUTS["cieslak_2009"] = [
    *[
        path
        for name in CIESLAK_TABLE_NAMES
        for path in table_files("cieslak_2009", name)
    ],
    *[
        path
        for name in CIESLAK_FIGURE_NAMES
        for path in figure_files("cieslak_2009", name)
    ],
    *[
        f"<results>/cieslak_2009/paper_vs_ours.{form}"
        for form in ("csv", "html", "tex")
    ],
]


rule cieslak_2009:
    input:
        STUDY_OUTPUTS["cieslak_2009"],
        "<results>/provenance/config.yaml",
        "<results>/provenance/versions.json",
        "<results>/provenance/datasets_cieslak_2009.json",
    localrule: True
    message:
        "The monitoring study is complete"


rule cieslak_tables:
    input:
        **CIESLAK_ROWS,
        descriptions=CIESLAK_DESCRIPTIONS,
        printed=CIESLAK_PRINTED,
        code=code("tabulate_monitoring"),
    output:
        [
            f"{CIESLAK_TABLES}/{name}{ending}"
            for name in CIESLAK_TABLE_NAMES
            for ending in (".csv", ".tex")
        ],
        **{
            name: report_captioned(
                "cieslak_2009",
                f"{CIESLAK_TABLES}/{name}.html",
                f"monitoring_{name}",
                category,
                "table",
            )
            for name, category in CIESLAK_TABLE_NAMES.items()
        },
    log:
        "<logs>/cieslak_2009/tables.log",
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(1500),
        runtime=minutes(120),
    params:
        settings=CIESLAK,
    message:
        "Tables of the monitoring study"
    script:
        "../../scripts/tabulate_monitoring.py"


rule cieslak_figures:
    input:
        p_values=f"{CIESLAK_TABLES}/p_values.csv",
        ks_by_prior=f"{CIESLAK_TABLES}/ks_by_prior.csv",
        hellinger=f"{CIESLAK_TABLES}/hellinger.csv",
        code=code("plot_monitoring"),
    output:
        [
            f"{CIESLAK_FIGURES}/{name}{ending}"
            for name in CIESLAK_FIGURE_NAMES
            for ending in (".pdf", ".png")
        ],
        **{
            name: report_captioned(
                "cieslak_2009",
                f"{CIESLAK_FIGURES}/{name}.svg",
                f"monitoring_{name}",
                category,
                "figure",
            )
            for name, category in CIESLAK_FIGURE_NAMES.items()
        },
    log:
        "<logs>/cieslak_2009/figures.log",
    localrule: True
    conda:
        "../../envs/foldshift.yaml"
    params:
        settings=CIESLAK,
    message:
        "Figures 2 to 17 of the monitoring study"
    script:
        "../../scripts/plot_monitoring.py"


rule cieslak_paper_vs_ours:
    input:
        ours=[f"{CIESLAK_TABLES}/{name}.csv" for name in CIESLAK_COMPARED],
        printed=CIESLAK_PRINTED,
        code=code("compare_monitoring_with_paper"),
    output:
        multiext("<results>/cieslak_2009/paper_vs_ours", ".csv", ".tex"),
        html=report_captioned(
            "cieslak_2009",
            "<results>/cieslak_2009/paper_vs_ours.html",
            "monitoring_paper_vs_ours",
            "7 Paper versus ours",
            "table",
        ),
    log:
        "<logs>/cieslak_2009/paper_vs_ours.log",
    localrule: True
    conda:
        "../../envs/foldshift.yaml"
    params:
        settings=CIESLAK,
    message:
        "Paper versus ours: the monitoring study"
    script:
        "../../scripts/compare_monitoring_with_paper.py"
