"""Needs: the catalogue, a data host or a mirror. Makes: fetched tables with their origin, prepared data sets and their description. Not part of archived mode."""


rule fetch_dataset:
    """The table of one data set, from the first of its sources that gives it."""
    input:
        local=local_sources,
    output:
        table="<resources>/fetched/{dataset}.parquet",
        origin="<resources>/fetched/{dataset}.json",
    log:
        "<logs>/fetch_dataset/{dataset}.log",
    benchmark:
        "<benchmarks>/fetch_dataset/{dataset}.tsv"
    # The script itself tries again where a host was down. What is wrong with a file is said once.
    retries: 0
    # Nodes of a cluster often lack the network.
    localrule: True
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(1000),
        runtime=minutes(ask.cost_of_fetching, spare=30),
        expected_s=expected_seconds(ask.cost_of_fetching),
    params:
        code=ask.code("fetch_dataset"),
        entry=ask.entry_of,
        members=ask.members_to_fetch,
        contents=ask.local_contents,
        mirror=config["mirror"],
        hosts=config["hosts"],
        optin=config["allow_unlicensed_mirrors"],
        cache=f"{config['resources']}/downloads",
        # Not an output: Snakemake deletes those before a job runs, and this one must survive to be compared with.
        lock=ask.lock_of,
    message:
        "Fetching {wildcards.dataset}"
    script:
        "../../scripts/fetch_dataset.py"


rule prepare_dataset:
    """One data set as learners see it: complete rows, in one order, scaled."""
    input:
        table="<resources>/fetched/{dataset}.parquet",
    output:
        data=[f"<resources>/prepared/{scaling}/{{dataset}}.npz" for scaling in SCALINGS],
        descriptions=[
            f"<resources>/prepared/{scaling}/{{dataset}}.json" for scaling in SCALINGS
        ],
    log:
        "<logs>/prepare_dataset/{dataset}.log",
    benchmark:
        "<benchmarks>/prepare_dataset/{dataset}.tsv"
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(1000),
        runtime=minutes(ask.cost_of_preparing, spare=13),
        expected_s=expected_seconds(ask.cost_of_preparing),
    params:
        code=ask.code("prepare_dataset"),
        entry=ask.entry_of,
        members=ask.members_to_fetch,
        scalings=SCALINGS,
    message:
        "Preparing {wildcards.dataset}"
    script:
        "../../scripts/prepare_dataset.py"
