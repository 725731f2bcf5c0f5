"""Needs: configuration, origins of the data. Makes: what the results came from. Not part of archived mode."""


rule write_provenance:
    """Configuration, versions, machine, seeds."""
    output:
        config="<results>/provenance/config.yaml",
        versions="<results>/provenance/versions.json",
        run="<results>/provenance/run.json",
    log:
        "<logs>/write_provenance.log",
    # First of all: it tells when the run began.
    priority: 1
    localrule: True
    conda:
        "../../envs/foldshift.yaml"
    params:
        code=ask.code("write_provenance"),
        config=config,
        # A new commit is written down, also where none of its changes makes anything again.
        git=lambda wildcards: commit_of(ROOT),
    message:
        "Provenance: configuration, versions, machine, seeds"
    script:
        "../../scripts/write_provenance.py"


rule list_sources:
    """Where the data of one study came from, with checksums."""
    input:
        origins=ask.origins_of_study,
    output:
        datasets="<results>/provenance/datasets_{study}.json",
    log:
        "<logs>/list_sources/{study}.log",
    localrule: True
    conda:
        "../../envs/foldshift.yaml"
    params:
        code=ask.code("list_sources"),
    message:
        "Provenance: sources and checksums of the data of {wildcards.study}"
    script:
        "../../scripts/list_sources.py"
