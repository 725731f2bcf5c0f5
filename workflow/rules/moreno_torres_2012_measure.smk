"""Needs: prepared classification data sets, folds and predictions. Makes: rows of convergence, covariate shift and held-out truth.

Not part of archived mode, where these rows are given.
"""


rule moreno_torres_2012_rows:
    # All that tables are made of: the target of `--batch`, which plans a part of the data sets at a time.
    input:
        MORENO_SCORES,
        [
            f"<results>/moreno_torres_2012/{kind}/{name}.parquet"
            for kind in ("convergence", "covariate_shift", "shifted_features")
            for name in MORENO["datasets"]
        ],
        [
            f"<results>/moreno_torres_2012/held_out/{name}.parquet"
            for name in MORENO_POPULATIONS
        ],
    localrule: True
    message:
        "All rows of the classification study"


rule moreno_measure_convergence:
    input:
        data="<resources>/prepared/none/{dataset}.npz",
        folds=folds_of_dataset(of_experiments),
        predictions=predictions_of_dataset,
        scores="<results>/{study}/seed_scores/{dataset}.parquet",
        code=code("measure_convergence"),
    output:
        rows="<results>/{study}/convergence/{dataset}.parquet",
        curves="<results>/{study}/convergence_curves/{dataset}.parquet",
    log:
        "<logs>/{study}/convergence/{dataset}.log",
    benchmark:
        "<benchmarks>/{study}/convergence/{dataset}.tsv"
    wildcard_constraints:
        study="moreno_torres_2012",
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(planned_mb("moreno_measure_convergence")),
        runtime=minutes(planned_seconds("moreno_measure_convergence")),
    params:
        wanted=wanted_scores(of_experiments),
        iterations=MORENO_SETTINGS["iterations"],
        n_orders=MORENO["convergence"]["n_orders"],
        master_seed=config["master_seed"],
    message:
        "Convergence on {wildcards.dataset}"
    script:
        "../../scripts/measure_convergence.py"


rule moreno_measure_covariate_shift:
    input:
        data="<resources>/prepared/none/{dataset}.npz",
        folds=folds_of_dataset(of_own_experiments, MORENO["covariate_shift"]["n_runs"]),
        code=code("measure_covariate_shift"),
    output:
        shift="<results>/{study}/covariate_shift/{dataset}.parquet",
        features="<results>/{study}/shifted_features/{dataset}.parquet",
    log:
        "<logs>/{study}/covariate_shift/{dataset}.log",
    benchmark:
        "<benchmarks>/{study}/covariate_shift/{dataset}.tsv"
    wildcard_constraints:
        study="moreno_torres_2012",
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(planned_mb("moreno_measure_covariate_shift")),
        runtime=minutes(planned_seconds("moreno_measure_covariate_shift")),
    params:
        wanted=wanted_folds(of_own_experiments, MORENO["covariate_shift"]["n_runs"]),
        runs={k: MORENO["covariate_shift"]["n_runs"] for k in MORENO["n_folds"]},
    message:
        "Covariate shift of {wildcards.dataset}"
    script:
        "../../scripts/measure_covariate_shift.py"


rule moreno_measure_heldout:
    input:
        data=lambda wildcards: (
            f"<resources>/prepared/none/{wildcards.population}.npz"
            if wildcards.population in CATALOGUE
            else []
        ),
        code=code(
            "measure_heldout",
            [
                LEARNERS[name]["import"]
                for ids in MORENO_IDS.values()
                for name in ids.values()
            ],
        ),
    output:
        rows="<results>/{study}/held_out/{population}.parquet",
    log:
        "<logs>/{study}/held_out/{population}.log",
    benchmark:
        "<benchmarks>/{study}/held_out/{population}.tsv"
    wildcard_constraints:
        study="moreno_torres_2012",
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(planned_mb("moreno_measure_heldout")),
        runtime=minutes(planned_seconds("moreno_measure_heldout"), SPARE_MINUTES),
    params:
        population=lambda wildcards: {
            (
                "dataset" if wildcards.population in CATALOGUE else "generated"
            ): wildcards.population
        },
        n_sample=MORENO["held_out"]["n_sample"],
        n_replicates=MORENO["held_out"]["n_replicates"],
        n_parts=MORENO["held_out"]["n_parts"],
        schemes=MORENO_SETTINGS["iterations"],
        partitioners=choices_of("moreno_torres_2012", MORENO["partitioners"]),
        learners={
            name: LEARNERS[name]
            for ids in MORENO_IDS.values()
            for name in ids.values()
        },
        master_seed=config["master_seed"],
        limits=limits,
    message:
        "Held-out truth on {wildcards.population}"
    script:
        "../../scripts/measure_heldout.py"
