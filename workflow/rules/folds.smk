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
        mem_mb=1000,
        runtime=10,
    params:
        master_seed=config["master_seed"],
        iterations=iterations_of_job,
        partitioners=partitioners_of_job,
    message:
        "Cutting {wildcards.dataset} with {wildcards.cuts}, seeds {wildcards.block}"
    script:
        "../../scripts/make_folds.py"


rule measure_shift:
    input:
        data=prepared_of,
        folds="<results>/{study}/folds/{dataset}/{cuts}/{block}.npz",
        code=code("measure_shift"),
    output:
        shift="<results>/{study}/shift/{dataset}/{cuts}/{block}.parquet",
    log:
        "<logs>/measure_shift/{study}/{dataset}/{cuts}/{block}.log",
    benchmark:
        "<benchmarks>/measure_shift/{study}/{dataset}/{cuts}/{block}.tsv"
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=2000,
        runtime=20,
    message:
        "Measuring the target shift of {wildcards.dataset}, seeds {wildcards.block}"
    script:
        "../../scripts/measure_shift.py"
