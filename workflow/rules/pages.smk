"""Needs: tables and figures. Makes: the report that is read in five minutes, a page for every study and an index. Not part of archived mode."""


rule write_study_page:
    """The page of one study: question, answer, figure, table, verdicts, links."""
    input:
        unpack(ask.study_page_files),
    output:
        page="<results>/{study}/index.html",
    log:
        "<logs>/write_study_page/{study}.log",
    localrule: True
    conda:
        "../../envs/foldshift.yaml"
    params:
        code=ask.code("write_study_page"),
        facts=ask.study_page_facts,
    message:
        "Report: the page of {wildcards.study}"
    script:
        "../../scripts/write_study_page.py"


rule write_index:
    """The index of the report: a card for every study."""
    input:
        pages=[page_of(RUNS[study]) for study in SESSION.reported],
    output:
        index="<results>/index.html",
    log:
        "<logs>/write_index.log",
    localrule: True
    conda:
        "../../envs/foldshift.yaml"
    params:
        code=ask.code("write_index"),
        studies={study: run.found.title for study, run in RUNS.items()},
        # Pages of earlier runs of the same configuration are shown as well; they are no inputs, so that nothing of theirs runs.
        earlier=SESSION.pages_of_earlier_runs(),
        left_out=SESSION.absent_studies(),
    message:
        "Report: the index"
    script:
        "../../scripts/write_index.py"
