"""Needs: all studies. Makes: one file with scores, configuration, provenance, tables and figures. Not part of archived mode."""

# What is measured besides the scores. Raw and prepared data stay out, for their licences; folds and predictions too, for their size: the seeds determine them.
ARCHIVED_ROWS = {
    "saez_2022": [
        "seed_shift/{name}.parquet",
        "seed_scores/{name}.parquet",
        "failures/{name}.json",
    ],
    "moreno_torres_2012": [
        "seed_scores/{name}.parquet",
        "failures/{name}.json",
        "convergence/{name}.parquet",
        "convergence_curves/{name}.parquet",
        "covariate_shift/{name}.parquet",
        "shifted_features/{name}.parquet",
    ],
    "wong_2015": ["folds/{name}.parquet", "pairs/{name}.parquet"],
}
ARCHIVED_DATASETS = sorted(
    {
        name
        for settings in config["studies"].values()
        for name in settings.get("datasets", [])
    }
)


def measured_files(study, dataset):
    """What was measured of every fold of a data set: scores, and the shift of a target."""
    layout = LAYOUTS[study]
    shift = layout.shift_files(dataset) if TASKS[study] == "regression" else []
    return [*layout.score_files(dataset), *shift]


rule archive:
    input:
        outputs=[study_outputs(study) for study in config["studies"]],
        scores=lambda wildcards: [
            path
            for study, settings in config["studies"].items()
            if study in FOLD_STUDIES
            for name in settings["datasets"]
            for path in in_study(study, measured_files(study, name))
        ],
        rows=[
            f"<results>/{study}/{rows.format(name=name)}"
            for study, settings in config["studies"].items()
            for rows in ARCHIVED_ROWS.get(study, [])
            for name in settings["datasets"]
        ],
        sources=(
            GERAS_ERROR + GERAS_VARIANCE + GERAS_MODELS
            if "geras_2013" in config["studies"]
            else []
        ),
        simulated=(WONG_CLAIMS + WONG_AUDIT if "wong_2015" in config["studies"] else []),
        monitored=(
            sum(CIESLAK_ROWS.values(), [])
            if "cieslak_2009" in config["studies"]
            else []
        ),
        scaling=[
            f"<results>/{study}/scaling/{name}.csv"
            for study, settings in config["studies"].items()
            if settings.get("scaling_check", {}).get("n_seeds")
            for name in settings["datasets"]
        ],
        held_out=[
            f"<results>/{study}/held_out/{name}.parquet"
            for study, settings in config["studies"].items()
            for name in settings.get("held_out", {}).get("populations", [])
        ],
        descriptions=sorted(
            f"<resources>/prepared/{settings['scaling'] if TASKS[study] == 'regression' else 'none'}/{name}.json"
            for study, settings in config["studies"].items()
            if study in (*FOLD_STUDIES, "cieslak_2009")
            for name in settings["datasets"]
        ),
        origins=[f"<resources>/fetched/{name}.json" for name in ARCHIVED_DATASETS]
        + [
            f"<resources>/reviews/{settings['reviews']}.json"
            for settings in config["studies"].values()
            if "reviews" in settings
        ],
        provenance=[
            "<results>/provenance/config.yaml",
            "<results>/provenance/versions.json",
            "<results>/provenance/run.json",
            *[
                f"<results>/provenance/datasets_{study}.json"
                for study in config["studies"]
            ],
        ],
        catalogue=str(located(config["catalogue"])),
        learners=str(located(config["learners_file"])),
        costs=str(located(config["costs_file"])),
        code=code("write_archive"),
    output:
        archive="<results>/archive/foldshift.zip",
    log:
        "<logs>/archive.log",
    localrule: True
    conda:
        "../../envs/foldshift.yaml"
    params:
        folders={key: config[key] for key in ("results", "resources")},
        imports=sorted(
            {
                LEARNERS[name]["import"]
                for study, settings in config["studies"].items()
                if TASKS[study]
                for ids in configured_learners(settings, LEARNERS).values()
                for name in ids.values()
            }
            | {entry["import"] for entry in config["own_partitioners"].values()}
        ),
    message:
        "Archive: scores, configuration, provenance, tables and figures in one file"
    script:
        "../../scripts/write_archive.py"
