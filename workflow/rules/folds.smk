"""Needs: prepared data sets. Makes: the folds of every block of seeds, and their target shift."""


rule make_folds:
    # All k and a bundle of partitioners in one job: cutting takes less time than starting Python.
    input:
        data=data_to_cut,
        code=folds_code,
    output:
        folds="<results>/{study}/folds/{dataset}/{cuts}/{block}.npz",
    log:
        "<logs>/make_folds/{study}/{dataset}/{cuts}/{block}.log",
    benchmark:
        "<benchmarks>/make_folds/{study}/{dataset}/{cuts}/{block}.tsv"
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(expected_mb(cost_of_folds)),
        runtime=minutes(cost_of_folds, spare=12),
        expected_s=expected_seconds(cost_of_folds),
        writes_mb=written_mb(cost_of_folds),
    params:
        master_seed=config["master_seed"],
        iterations=iterations_of_job,
        partitioners=partitioners_of_job,
    message:
        "Cutting {wildcards.dataset} with {wildcards.cuts}, seeds {wildcards.block}"
    script:
        "../../scripts/make_folds.py"


rule measure_shift:
    # All folds of a data set in one job: it takes seconds.
    input:
        data=prepared_of,
        folds=folds_of_dataset(),
        code=code("measure_shift"),
    output:
        shift="<results>/{study}/shift/{dataset}.parquet",
        seeds="<results>/{study}/seed_shift/{dataset}.parquet",
    log:
        "<logs>/measure_shift/{study}/{dataset}.log",
    benchmark:
        "<benchmarks>/measure_shift/{study}/{dataset}.tsv"
    wildcard_constraints:
        study=STUDIES_OF["regression"],
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(expected_mb(cost_of_shift)),
        runtime=minutes(cost_of_shift),
        expected_s=expected_seconds(cost_of_shift),
    message:
        "Measuring the target shift of {wildcards.dataset}"
    script:
        "../../scripts/measure_shift.py"
