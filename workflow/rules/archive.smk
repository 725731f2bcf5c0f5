"""Needs: all studies. Makes: one file with scores, configuration, provenance, tables and figures. Not part of archived mode."""


rule archive:
    """One file with scores, configuration, provenance, tables and figures."""
    input:
        outputs=[run.outputs() for run in RUNS.values()],
        # Raw and prepared data stay out, for their licences; folds and predictions too, for their size: the seeds determine them.
        rows=[run.archived() for run in RUNS.values()],
        descriptions=sorted(
            {
                path
                for run in RUNS.values()
                for path in run.units.stored_files(run.descriptions())
            }
        ),
        origins=sorted(
            {
                path
                for run in RUNS.values()
                for path in run.units.stored_files(run.fetched())
            }
        ),
        provenance=[
            "<results>/provenance/config.yaml",
            "<results>/provenance/versions.json",
            "<results>/provenance/run.json",
            *[f"<results>/provenance/datasets_{study}.json" for study in RUNS],
        ],
        catalogue=kept_here(str(located(config["catalogue"], ROOT))),
        learners=kept_here(str(located(config["learners_file"], ROOT))),
        costs=kept_here(str(located(config["costs_file"], ROOT))),
    output:
        archive="<results>/archive/foldshift.zip",
    log:
        "<logs>/archive.log",
    localrule: True
    conda:
        "../../envs/foldshift.yaml"
    params:
        code=ask.code("write_archive"),
        folders={key: SESSION.path_in_jobs(key) for key in ("results", "resources")},
        imports=ask.archived_imports(),
        studies=ask.user_studies(),
    message:
        "Archive: scores, configuration, provenance, tables and figures in one file"
    script:
        "../../scripts/write_archive.py"
