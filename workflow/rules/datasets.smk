"""Needs: the catalogue, a data host or a mirror. Makes: fetched tables with their origin, prepared data sets."""


rule fetch_dataset:
    input:
        local=local_sources,
        code=code("fetch_dataset"),
    output:
        table="<resources>/fetched/{dataset}.parquet",
        origin="<resources>/fetched/{dataset}.json",
    log:
        "<logs>/fetch_dataset/{dataset}.log",
    benchmark:
        "<benchmarks>/fetch_dataset/{dataset}.tsv"
    # Hosts fail for minutes at a time; the pauses within one attempt are shorter.
    retries: 1
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        entry=entry_of,
        mirror=config["mirror"],
        hosts=config["hosts"],
        optin=config["allow_unlicensed_mirrors"],
        cache=f"{config['resources']}/downloads",
        # Not an output: Snakemake deletes those before a job runs, and this one must survive to be compared with.
        lock=lambda wildcards: f"{config['resources']}/checksums/{wildcards.dataset}.txt",
    message:
        "Fetching {wildcards.dataset}"
    script:
        "../../scripts/fetch_dataset.py"


rule prepare_dataset:
    input:
        table="<resources>/fetched/{dataset}.parquet",
        code=code("prepare_dataset"),
    output:
        data="<resources>/prepared/{scaling}/{dataset}.npz",
    log:
        "<logs>/prepare_dataset/{scaling}/{dataset}.log",
    benchmark:
        "<benchmarks>/prepare_dataset/{scaling}/{dataset}.tsv"
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        entry=entry_of,
    message:
        "Preparing {wildcards.dataset}, scaling {wildcards.scaling}"
    script:
        "../../scripts/prepare_dataset.py"
