"""Needs: nothing but the configuration. Makes: compiled code of all learners, partitioners and measures in use, and a stamp that says what it took.

Rules that call kernels have `kernels=ancient(COMPILED)` among their inputs: the stamp stands for an order only. An edit of a kernel replans the jobs
that rest on it, through their own inputs, and they compile anew what was edited; it must not replan the rest. Code is kept by the content of its
source, not by this stamp.
"""

COMPILED = "<resources>/compiled/kernels.json"


rule compile_kernels:
    """Compiled code of all kernels in use: once, before the jobs that call them."""
    output:
        stamp=COMPILED,
    log:
        "<logs>/compile_kernels.log",
    benchmark:
        "<benchmarks>/compile_kernels.tsv"
    conda:
        "../../envs/foldshift.yaml"
    threads: max(1, min(8, CORES or 2))
    resources:
        mem_mb=memory(3000),
        runtime=minutes(300),
        expected_s=COMPILE,
    params:
        learners=compiled_learners(),
        partitioners=(
            ["DB-SCV", "DOB-SCV", "MS-SCV"]
            if any(TASKS[study] == "classification" for study in LAYOUTS)
            else []
        ),
        measures=first_calls(),
    message:
        "Compiling kernels (once, a minute or two)"
    script:
        "../../scripts/compile_kernels.py"
