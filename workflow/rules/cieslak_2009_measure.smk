"""Needs: prepared classification data sets. Makes: what every detector says of every injected shift, by blocks of random splits.

Not part of archived mode, where these rows are given.
"""

CIESLAK_LEARNERS = {name: LEARNERS[name] for name in CIESLAK["learners"]}


rule cieslak_2009_rows:
    # All that tables are made of: the target of `--batch`, which plans a part of the data sets at a time.
    input:
        list(CIESLAK_ROWS.values()),
    localrule: True
    message:
        "All rows of the monitoring study"


rule cieslak_measure:
    input:
        data="<resources>/prepared/none/{dataset}.npz",
        code=code(
            "measure_monitoring",
            [entry["import"] for entry in CIESLAK_LEARNERS.values()],
        ),
    output:
        shift="<results>/cieslak_2009/shift/{dataset}/{block}.parquet",
        readings="<results>/cieslak_2009/readings/{dataset}/{block}.parquet",
        co_failure="<results>/cieslak_2009/co_failure/{dataset}/{block}.parquet",
        learners="<results>/cieslak_2009/learners/{dataset}/{block}.parquet",
        multivariate="<results>/cieslak_2009/multivariate/{dataset}/{block}.parquet",
    log:
        "<logs>/cieslak_2009/measure/{dataset}/{block}.log",
    benchmark:
        "<benchmarks>/cieslak_2009/measure/{dataset}/{block}.tsv"
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(planned_mb("cieslak_measure")),
        runtime=minutes(planned_seconds("cieslak_measure")),
    params:
        learners=CIESLAK_LEARNERS,
        settings={
            key: CIESLAK[key]
            for key in (
                "positive_class",
                "n_bootstraps",
                "alpha",
                "mask",
                "removed",
                "n_versions_multivariate",
                "n_repeats_multivariate",
                "n_permutations",
            )
        },
        master_seed=config["master_seed"],
    message:
        "Monitoring on {wildcards.dataset}: shifts and detectors, repeats {wildcards.block}"
    script:
        "../../scripts/measure_monitoring.py"
