"""Needs: prepared data sets and folds. Makes: the scores of every learner, and their summary per data set."""


rule evaluate:
    """The scores of some learners on one data set, for a block of seeds."""
    input:
        data=ask.prepared_data,
        folds="<results>/{study}/folds/{dataset}/{bundle}/{held}.npz",
    output:
        scores="<results>/{study}/scores/{dataset}/{bundle}/{held}/{part}/{learners}/{block}.parquet",
    log:
        "<logs>/evaluate/{study}/{dataset}/{bundle}/{held}/{part}/{learners}/{block}.log",
    benchmark:
        "<benchmarks>/evaluate/{study}/{dataset}/{bundle}/{held}/{part}/{learners}/{block}.tsv"
    wildcard_constraints:
        study=ask.studies_pattern("regression"),
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(expected_mb(ask.cost_of_scores)),
        runtime=minutes(ask.cost_of_scores, ask.spare_minutes),
        expected_s=expected_seconds(ask.cost_of_scores),
        writes_mb=written_mb(ask.cost_of_scores),
        attempt=current_attempt,
    params:
        code=ask.learner_code("evaluate"),
        members=ask.members,
        task=lambda wildcards: ask.tasks[wildcards.study],
        learners=ask.learners_of_job,
        cuts=ask.cuts_of_job,
        master_seed=config["master_seed"],
        limits=limits,
    message:
        "Evaluating {wildcards.learners} on {wildcards.dataset}, seeds {wildcards.block}"
    script:
        "../../scripts/evaluate.py"


# The same with one more file: what classifiers predicted, which convergence is measured on.
use rule evaluate as classify with:
    output:
        scores="<results>/{study}/scores/{dataset}/{bundle}/{held}/{part}/{learners}/{block}.parquet",
        predictions="<results>/{study}/predictions/{dataset}/{bundle}/{held}/{part}/{learners}/{block}.npz",
    wildcard_constraints:
        study=ask.studies_pattern("classification"),


rule collect_scores:
    """The scores of one data set, a row per seed, and which fits failed."""

    # One row per seed instead of one per fold, so that tables need not read every fit again.
    input:
        scores=ask.scores_of_dataset,
    output:
        seeds="<results>/{study}/seed_scores/{dataset}.parquet",
        failures="<results>/{study}/failures/{dataset}.json",
    log:
        "<logs>/collect_scores/{study}/{dataset}.log",
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(1000),
        runtime=minutes(ask.cost_of_collecting),
        expected_s=expected_seconds(ask.cost_of_collecting),
        writes_mb=written_mb(ask.cost_of_collecting),
    params:
        code=ask.code("collect_scores"),
        members=ask.members,
        task=lambda wildcards: ask.tasks[wildcards.study],
        wanted=ask.wanted_scores,
    message:
        "Collecting the scores of {wildcards.dataset}"
    script:
        "../../scripts/collect_scores.py"
