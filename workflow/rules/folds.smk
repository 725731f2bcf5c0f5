"""Needs: prepared data sets. Makes: the folds of every block of seeds, and their target shift."""


rule make_folds:
    input:
        data=prepared_of,
        code=folds_code,
    output:
        folds="<results>/{study}/folds/{dataset}/{partitioner}/k{k}/{block}.npz",
    log:
        "<logs>/make_folds/{study}/{dataset}/{partitioner}/k{k}/{block}.log",
    benchmark:
        "<benchmarks>/make_folds/{study}/{dataset}/{partitioner}/k{k}/{block}.tsv"
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        master_seed=config["master_seed"],
        own_partitioner=lambda wildcards: config["own_partitioners"].get(
            wildcards.partitioner
        ),
    message:
        "Cutting {wildcards.dataset} into {wildcards.k} folds with {wildcards.partitioner}, seeds {wildcards.block}"
    script:
        "../../scripts/make_folds.py"


rule measure_shift:
    # All partitions of a data set in one job: counting takes less time than starting Python.
    input:
        data=prepared_of,
        folds=folds_of_dataset,
        code=code("measure_shift"),
    output:
        shift="<results>/{study}/shift/{dataset}/{block}.parquet",
    log:
        "<logs>/measure_shift/{study}/{dataset}/{block}.log",
    benchmark:
        "<benchmarks>/measure_shift/{study}/{dataset}/{block}.tsv"
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        cells=lambda wildcards: study_cells(wildcards.study),
    message:
        "Measuring the target shift of {wildcards.dataset}, seeds {wildcards.block}"
    script:
        "../../scripts/measure_shift.py"
