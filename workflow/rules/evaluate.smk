"""Needs: prepared data sets and folds. Makes: the scores of every learner, and their summary per data set."""


rule evaluate:
    input:
        data=prepared_of,
        folds="<results>/{study}/folds/{dataset}/{cuts}/{block}.npz",
        code=evaluate_code,
    output:
        scores="<results>/{study}/scores/{dataset}/{cuts}/{learner}/{block}.parquet",
    log:
        "<logs>/evaluate/{study}/{dataset}/{cuts}/{learner}/{block}.log",
    benchmark:
        "<benchmarks>/evaluate/{study}/{dataset}/{cuts}/{learner}/{block}.tsv"
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=2000,
        runtime=120,
    params:
        learner=lambda wildcards: LEARNERS[wildcards.learner],
        master_seed=config["master_seed"],
    message:
        "Evaluating {wildcards.learner} on {wildcards.dataset}, seeds {wildcards.block}"
    script:
        "../../scripts/evaluate.py"


rule collect_scores:
    # One row per seed instead of one per fold, so that tables need not read every fit again.
    input:
        scores=scores_of_dataset,
        code=code("collect_scores"),
    output:
        errors="<results>/{study}/seed_errors/{dataset}.parquet",
    log:
        "<logs>/collect_scores/{study}/{dataset}.log",
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=2000,
        runtime=20,
    message:
        "Collecting the scores of {wildcards.dataset}"
    script:
        "../../scripts/collect_scores.py"


rule collect_shift:
    input:
        shift=shift_of_dataset,
        code=code("collect_shift"),
    output:
        shift="<results>/{study}/seed_shift/{dataset}.parquet",
    log:
        "<logs>/collect_shift/{study}/{dataset}.log",
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=2000,
        runtime=20,
    message:
        "Collecting the target shift of {wildcards.dataset}"
    script:
        "../../scripts/collect_shift.py"
