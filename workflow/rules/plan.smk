"""Needs: the configuration. Prints what a run will take, before anything is started."""


rule plan:
    input:
        code=code("print_plan"),
    log:
        "<logs>/plan.log",
    localrule: True
    conda:
        "../../envs/foldshift.yaml"
    params:
        text=lambda wildcards: plan_of_run(),
    message:
        "The plan"
    script:
        "../../scripts/print_plan.py"
