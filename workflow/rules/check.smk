"""Needs: the record of checksums that runs keep. Prints which files of results are damaged, missing or of another run. Not part of archived mode."""


rule check_results:
    """Which files of results are damaged, missing or of another run, and how to make them anew."""
    log:
        "<logs>/check_results.log",
    localrule: True
    conda:
        "../../envs/foldshift.yaml"
    params:
        code=ask.code("check_results"),
        results=config["results"],
        studies=list(RUNS),
    message:
        "Comparing files of results with their checksums"
    script:
        "../../scripts/check_results.py"
