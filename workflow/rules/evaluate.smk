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
    wildcard_constraints:
        study=STUDIES_OF["regression"],
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


rule classify:
    input:
        data=prepared_of,
        folds="<results>/{study}/folds/{dataset}/{cuts}/{block}.npz",
        code=classify_code,
    output:
        scores="<results>/{study}/scores/{dataset}/{cuts}/{learners}/{block}.parquet",
        predictions="<results>/{study}/predictions/{dataset}/{cuts}/{learners}/{block}.npz",
    log:
        "<logs>/classify/{study}/{dataset}/{cuts}/{learners}/{block}.log",
    benchmark:
        "<benchmarks>/classify/{study}/{dataset}/{cuts}/{learners}/{block}.tsv"
    wildcard_constraints:
        study=STUDIES_OF["classification"],
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=3000,
        runtime=240,
    params:
        learners=learners_of_job,
        master_seed=config["master_seed"],
    message:
        "Evaluating {wildcards.learners} on {wildcards.dataset}, {wildcards.cuts}, experiments {wildcards.block}"
    script:
        "../../scripts/classify.py"


rule collect_scores:
    # One row per seed instead of one per fold, so that tables need not read every fit again.
    input:
        scores=scores_of_dataset,
        code=code("collect_scores"),
    output:
        seeds="<results>/{study}/seed_scores/{dataset}.parquet",
    log:
        "<logs>/collect_scores/{study}/{dataset}.log",
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        task=lambda wildcards: TASKS[wildcards.study],
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
