"""Needs: prepared classification data sets, populations. Makes: counts of correct predictions, simulated claims, coverage.

Not part of archived mode, where these rows are given.
"""

WONG_LEARNERS = {name: LEARNERS[name] for name in WONG["learners"]}
AUDIT_LEARNERS = {name: LEARNERS[name] for name in WONG["audit"]["learners"]}


rule wong_2015_rows:
    # All that tables are made of: the target of `--batch`, which plans a part of the data sets at a time.
    input:
        WONG_COUNTS["folds"],
        WONG_COUNTS["pairs"],
        WONG_CLAIMS,
        WONG_AUDIT,
    localrule: True
    message:
        "All rows of the study of intervals and tests"


rule wong_measure:
    input:
        data="<resources>/prepared/global/{dataset}.npz",
        code=code(
            "measure_correct", [entry["import"] for entry in WONG_LEARNERS.values()]
        ),
    output:
        folds="<results>/wong_2015/folds/{dataset}.parquet",
        pairs="<results>/wong_2015/pairs/{dataset}.parquet",
    log:
        "<logs>/wong_2015/measure/{dataset}.log",
    benchmark:
        "<benchmarks>/wong_2015/measure/{dataset}.tsv"
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(planned_mb("wong_measure")),
        runtime=minutes(planned_seconds("wong_measure"), SPARE_MINUTES),
        attempt=current_attempt,
    params:
        learners=WONG_LEARNERS,
        n_folds=WONG["n_folds"],
        n_seeds=WONG["n_seeds"],
        max_rows=WONG["max_rows"],
        master_seed=config["master_seed"],
        limits=limits,
    message:
        "Correct predictions on {wildcards.dataset}: k-fold and leave-one-out"
    script:
        "../../scripts/measure_correct.py"


rule wong_simulate:
    input:
        code=code("simulate_claims"),
    output:
        rows="<results>/wong_2015/claims/{model}.parquet",
    log:
        "<logs>/wong_2015/claims/{model}.log",
    benchmark:
        "<benchmarks>/wong_2015/claims/{model}.tsv"
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(planned_mb("wong_simulate")),
        runtime=minutes(planned_seconds("wong_simulate")),
    params:
        n_simulations=WONG["claims"]["n_simulations"],
        level=WONG["level"],
        master_seed=config["master_seed"],
    message:
        "Claims on the model {wildcards.model}"
    script:
        "../../scripts/simulate_claims.py"


rule audit_coverage:
    input:
        data=lambda wildcards: (
            f"<resources>/prepared/none/{wildcards.population}.npz"
            if wildcards.population in CATALOGUE
            else []
        ),
        code=code(
            "audit_coverage", [entry["import"] for entry in AUDIT_LEARNERS.values()]
        ),
    output:
        rows="<results>/wong_2015/audit/{population}.parquet",
    log:
        "<logs>/wong_2015/audit/{population}.log",
    benchmark:
        "<benchmarks>/wong_2015/audit/{population}.tsv"
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(planned_mb("audit_coverage")),
        runtime=minutes(planned_seconds("audit_coverage"), SPARE_MINUTES),
        attempt=current_attempt,
    params:
        population=lambda wildcards: {
            (
                "dataset" if wildcards.population in CATALOGUE else "generated"
            ): wildcards.population
        },
        n_sample=WONG["audit"]["n_sample"],
        n_folds=WONG["audit"]["n_folds"],
        n_replicates=WONG["audit"]["n_replicates"],
        partitioners=WONG["audit"]["partitioners"],
        learners=AUDIT_LEARNERS,
        level=WONG["level"],
        master_seed=config["master_seed"],
        limits=limits,
    message:
        "Coverage of intervals on samples of {wildcards.population}"
    script:
        "../../scripts/audit_coverage.py"
