"""Needs: the reviews, or their model. Makes: rows of error and of variance of cross-validation over several sources.

Not part of archived mode, where these rows are given.
"""


rule geras_2013_rows:
    # All that tables are made of: the target of `--batch`, which plans a part at a time.
    input:
        GERAS_ERROR,
        GERAS_VARIANCE,
        GERAS_MODELS,
    localrule: True
    message:
        "All rows of the study of several sources"


rule count_reviews:
    input:
        code=code("count_reviews"),
    output:
        counts="<resources>/reviews/{reviews}.npz",
        origin="<resources>/reviews/{reviews}.json",
    log:
        "<logs>/count_reviews/{reviews}.log",
    # Hosts fail for minutes at a time; the pauses within one attempt are shorter.
    retries: 1
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(1500),
        runtime=minutes(120, spare=20),
    params:
        domains=GERAS["domains"],
        n_features=GERAS["n_features"],
        mirror=config["mirror"],
        cache=f"{config['resources']}/downloads",
        master_seed=config["master_seed"],
    message:
        "Counting the words of the reviews ({wildcards.reviews})"
    script:
        "../../scripts/count_reviews.py"


rule geras_measure_error:
    input:
        counts=f"<resources>/reviews/{GERAS['reviews']}.npz",
        code=code("measure_source_error"),
    output:
        rows="<results>/geras_2013/error/{learner}/{sampling}/{block}.parquet",
    log:
        "<logs>/geras_2013/error/{learner}/{sampling}/{block}.log",
    benchmark:
        "<benchmarks>/geras_2013/error/{learner}/{sampling}/{block}.tsv"
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(planned_mb("geras_measure_error")),
        runtime=minutes(planned_seconds("geras_measure_error")),
    params:
        settings={
            key: GERAS[key]
            for key in ("n_datasets", "n_sources", "n_points", "held_fixed")
        },
        master_seed=config["master_seed"],
    message:
        "Error of {wildcards.learner} on several sources, draws {wildcards.block}, sampling {wildcards.sampling} replacement"
    script:
        "../../scripts/measure_source_error.py"


rule geras_measure_variance:
    input:
        counts=f"<resources>/reviews/{GERAS['reviews']}.npz",
        code=code("measure_source_variance"),
    output:
        estimates="<results>/geras_2013/estimates/{learner}/{sampling}/{points}.parquet",
        components="<results>/geras_2013/components/{learner}/{sampling}/{points}.parquet",
    log:
        "<logs>/geras_2013/variance/{learner}/{sampling}/{points}.log",
    benchmark:
        "<benchmarks>/geras_2013/variance/{learner}/{sampling}/{points}.tsv"
    wildcard_constraints:
        points="[0-9]+",
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(planned_mb("geras_measure_variance")),
        runtime=minutes(planned_seconds("geras_measure_variance")),
    params:
        n_truth=GERAS["n_truth"],
        master_seed=config["master_seed"],
    message:
        "Variance with {wildcards.learner}, {wildcards.points} reviews per domain, sampling {wildcards.sampling} replacement"
    script:
        "../../scripts/measure_source_variance.py"


rule geras_measure_model:
    input:
        code=code("measure_source_model"),
    output:
        rows="<results>/geras_2013/models/{model}.parquet",
    log:
        "<logs>/geras_2013/models/{model}.log",
    benchmark:
        "<benchmarks>/geras_2013/models/{model}.tsv"
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(planned_mb("geras_measure_model")),
        runtime=minutes(planned_seconds("geras_measure_model")),
    params:
        n_simulations=GERAS["n_simulations"],
        master_seed=config["master_seed"],
    message:
        "Model of several sources: {wildcards.model}"
    script:
        "../../scripts/measure_source_model.py"
