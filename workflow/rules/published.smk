"""Needs: published results (docs/results), as they come with the clone. Makes: their pages, beside those of a smaller run. Not part of archived mode."""

for RUN, PUBLISHED in ask.published():

    rule:
        name:
            f"{RUN.id}_published"
        input:
            kept_here(PUBLISHED.inputs()),
        output:
            PUBLISHED.outputs(),
        log:
            f"<logs>/{RUN.id}/published.log",
        localrule: True
        conda:
            "../../envs/foldshift.yaml"
        resources:
            mem_mb=memory(1000),
            runtime=minutes(60 + PUBLISHED.seconds()),
            expected_s=PUBLISHED.seconds(),
        params:
            code=ask.code("make_published", PUBLISHED.functions()),
            shown=PUBLISHED.words(),
        message:
            f"{RUN.found.title}: published tables and figures, full scale"
        script:
            "../../scripts/make_published.py"
