"""Needs: the configuration. Prints what a run will take, before anything is started."""


rule plan:
    """What a run will take: jobs, core-hours, memory, disk, time. Nothing is started."""
    input:
        code=code("print_plan"),
    log:
        "<logs>/plan.log",
    localrule: True
    conda:
        "../../envs/foldshift.yaml"
    params:
        reporting=reporting_rules(),
        unmeasured=unmeasured_learners(),
        cores=CORES or 1,
    message:
        "The plan"
    script:
        "../../scripts/print_plan.py"
