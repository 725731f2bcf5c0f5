"""Needs: nothing but the configuration. Makes: compiled code of all learners, partitioners and measures in use, and a stamp that says what it took.

To wire it: `include: "rules/compile.smk"` where the measuring rules are included (not in archived mode), and in every rule that calls kernels
(evaluate, classify, make_folds, measure_shift, measure_covariate_shift ...) the input

    kernels=ancient(COMPILED),

`ancient`, and no code among the inputs here: the stamp stands for an order only. An edit of a kernel replans the jobs that rest on it, through their
own inputs, and they compile anew what was edited; it must not replan the rest. Code is kept by the content of its source, not by this stamp.
"""

# What studies measure besides scores that is compiled, see foldshift.evaluation.first_calls.
MEASURES_OF = {
    "saez_2022": ("target_shift",),
    "moreno_torres_2012": ("covariate_shift",),
    "geras_2013": ("sources",),
    "wong_2015": (),
    "cieslak_2009": ("monitoring",),
}
# Text learners of geras_2013 are no entries of the learners file.
KERNEL_LEARNERS = sorted(
    {
        name
        for study, settings in config["studies"].items()
        if study != "geras_2013"
        for names in (
            *(ids.values() for ids in configured_learners(settings, LEARNERS).values()),
            (settings.get("audit") or {}).get("learners", ()),
        )
        for name in names
    }
)
COMPILED = "<resources>/compiled/kernels.json"


rule compile_kernels:
    output:
        stamp=COMPILED,
    log:
        "<logs>/compile_kernels.log",
    benchmark:
        "<benchmarks>/compile_kernels.tsv"
    conda:
        "../../envs/foldshift.yaml"
    threads: max(1, min(8, workflow.cores or 2))
    resources:
        mem_mb=memory(3000),
        runtime=minutes(300),
    params:
        learners={name: LEARNERS[name] for name in KERNEL_LEARNERS},
        partitioners=(
            ["DB-SCV", "DOB-SCV", "MS-SCV"]
            if "classification" in {TASKS[study] for study in config["studies"]}
            else []
        ),
        measures=sorted(
            {name for study in config["studies"] for name in MEASURES_OF[study]}
        ),
    message:
        "Compiling kernels (once)"
    script:
        "../../scripts/compile_kernels.py"
