"""Needs: prepared data sets. Makes: the folds of every block of seeds, and their target shift."""


rule make_folds:
    """The folds of one data set, for some partitioners and a block of seeds."""

    # All k and a bundle of partitioners in one job: cutting takes less time than starting Python.
    input:
        data=ask.data_to_cut,
    output:
        folds="<results>/{study}/folds/{dataset}/{bundle}/{block}.npz",
    log:
        "<logs>/make_folds/{study}/{dataset}/{bundle}/{block}.log",
    benchmark:
        "<benchmarks>/make_folds/{study}/{dataset}/{bundle}/{block}.tsv"
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(expected_mb(ask.cost_of_folds)),
        runtime=minutes(ask.cost_of_folds, spare=12),
        expected_s=expected_seconds(ask.cost_of_folds),
        writes_mb=written_mb(ask.cost_of_folds),
    params:
        code=ask.folds_code,
        members=ask.members,
        master_seed=config["master_seed"],
        iterations=ask.iterations_of_job,
        partitioners=ask.partitioners_of_job,
        limits=limits,
    message:
        "Cutting {wildcards.dataset} with {wildcards.bundle}, seeds {wildcards.block}"
    script:
        "../../scripts/make_folds.py"


rule measure_shift:
    """The target shift between the folds of one data set, for a block of seeds."""
    input:
        data=ask.prepared_data,
        folds="<results>/{study}/folds/{dataset}/{bundle}/{block}.npz",
    output:
        shift="<results>/{study}/shift/{dataset}/{bundle}/{block}.parquet",
    log:
        "<logs>/measure_shift/{study}/{dataset}/{bundle}/{block}.log",
    benchmark:
        "<benchmarks>/measure_shift/{study}/{dataset}/{bundle}/{block}.tsv"
    wildcard_constraints:
        study=ask.studies_pattern("regression"),
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(expected_mb(ask.cost_of_shift)),
        runtime=minutes(ask.cost_of_shift),
        expected_s=expected_seconds(ask.cost_of_shift),
    params:
        code=ask.code("measure_shift"),
        members=ask.members,
    message:
        "Measuring the target shift of {wildcards.dataset}, {wildcards.bundle}, seeds {wildcards.block}"
    script:
        "../../scripts/measure_shift.py"


rule collect_shift:
    """The target shift of one data set, a row per seed."""

    # One row per seed instead of one per fold; the files may hold more than is wanted.
    input:
        shift=ask.shift_of_dataset,
    output:
        seeds="<results>/{study}/seed_shift/{dataset}.parquet",
    log:
        "<logs>/collect_shift/{study}/{dataset}.log",
    wildcard_constraints:
        study=ask.studies_pattern("regression"),
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(1000),
        runtime=minutes(30),
        expected_s=COLLECT,
    params:
        code=ask.code("collect_shift"),
        members=ask.members,
        wanted=ask.wanted_folds,
    message:
        "Collecting the target shift of {wildcards.dataset}"
    script:
        "../../scripts/collect_shift.py"
