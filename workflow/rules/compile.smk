"""Needs: nothing but the configuration. Makes: compiled code of all learners, partitioners and measures in use, and a stamp that says what it took.

The targets (`all`, those of the studies and of their rows) name the stamp, and its priority puts it first: no job that calls kernels does. A job waits
for no stamp to be right, as code is kept by the content of its source; with more cores than this rule takes, some compile beside it. As an `ancient`
input of theirs it would do harm: where Snakemake plans to make such an input again, it does not look at what rests on it, and a run in which nothing
else was left to be done before those jobs ended as complete without them (Snakemake 9.27).
"""


rule compile_kernels:
    """Compiled code of all kernels in use: once, before the jobs that call them."""
    output:
        stamp=KERNELS,
    log:
        "<logs>/compile_kernels.log",
    benchmark:
        "<benchmarks>/compile_kernels.tsv"
    priority: 100
    conda:
        "../../envs/foldshift.yaml"
    threads: max(1, min(8, SESSION.cores or 2))
    resources:
        mem_mb=memory(3000),
        runtime=minutes(300),
        expected_s=ask.seconds_of_compiling,
    params:
        learners=ask.compiled_learners(),
        partitioners=ask.compiled_partitioners(),
        measures=ask.first_calls(),
    message:
        "Compiling kernels (once, a minute or two)"
    script:
        "../../scripts/compile_kernels.py"
