"""Needs: everything else. Makes: what the results came from."""


rule write_provenance:
    input:
        origins=[
            f"<resources>/fetched/{name}.json"
            for name in sorted(
                {
                    dataset
                    for study in config["studies"].values()
                    for dataset in study["datasets"]
                }
            )
        ],
        code=code("write_provenance"),
    output:
        config="<results>/provenance/config.yaml",
        versions="<results>/provenance/versions.json",
        datasets="<results>/provenance/datasets.json",
    log:
        "<logs>/write_provenance.log",
    localrule: True
    conda:
        "../../envs/foldshift.yaml"
    params:
        config=config,
    message:
        "Provenance: configuration, versions, checksums"
    script:
        "../../scripts/write_provenance.py"
