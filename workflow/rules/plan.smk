"""Needs: the configuration. Prints what a run will take, before anything is started."""

for NAME, TARGET in {
    "plan": "all",
    "plan_paper": "paper",
    **{f"plan_{study}": study for study in RUNS},
}.items():

    rule:
        """What a run will take: jobs, core-hours, memory, disk, time. Nothing is started."""
        name:
            NAME
        log:
            f"<logs>/{NAME}.log",
        localrule: True
        conda:
            "../../envs/foldshift.yaml"
        params:
            code=ask.code("print_plan"),
            name=NAME,
            target=TARGET,
            reporting=ask.reporting_rules(),
            unmeasured=ask.unmeasured_learners(),
            cores=SESSION.cores or 1,
            works=SESSION.works,
        message:
            "The plan"
        script:
            "../../scripts/print_plan.py"
