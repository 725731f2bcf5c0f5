"""Configuration, rules and targets: all of the workflow that is not in a folder of its own."""

import os
import sys
from pathlib import Path

ROOT = Path(str(workflow.current_basedir)).resolve().parent

if workflow.is_main_process and "check_machine" not in sys.modules:
    # A profile of the workflow has done it, if one was read. Where another workflow uses this one, the command line is its own.
    sys.path.insert(0, str(ROOT / "workflow"))
    import check_machine

    check_machine.check(
        sys.argv if ROOT in Path(str(workflow.main_snakefile)).parents else []
    )

sys.path.insert(
    0, str(ROOT / "src")
)  # the library of this clone, whatever else is installed

from foldshift.engine.config.command_line import end_at_code

# Only the default is named here: files of the command line stand in its place, and so does what another workflow says
# (module foldshift: config: ...), for which Snakemake passes over this statement.
if not workflow.overwrite_configfiles:

    DEFAULT = "config/config.yaml"

    if not os.path.exists(DEFAULT):
        DEFAULT = f"{ROOT}/{DEFAULT}"

    end_at_code(DEFAULT)

    configfile: DEFAULT


include: "rules/common.smk"


# For --sdm apptainer; --sdm conda takes the environment that every rule names.
container: str(located(config["container"], ROOT))


pathvars:
    results=config["results"],
    resources=config["resources"],
    logs=f"{config['results']}/logs",
    benchmarks=f"{config['results']}/benchmarks",


wildcard_constraints:
    study="|".join(config["studies"]),
    dataset="[^/]+",
    learner="[^/]+",
    learners="[^/]+",
    bundle="[^/]+",
    held="[0-9]+-[0-9]+",
    part="[^/]+",
    block="[0-9]+-[0-9]+",


report: SESSION.front_page()


onstart:
    if not workflow.touch:
        SESSION.begin(log)


onsuccess:
    SESSION.finish()


onerror:
    SESSION.end()


include: "rules/plan.smk"


# From an unpacked archive only tables and figures are made; its files are plain inputs.
if not config["archived"]:

    include: "rules/compile.smk"
    include: "rules/datasets.smk"
    include: "rules/folds.smk"
    include: "rules/evaluate.smk"
    include: "rules/report.smk"
    include: "rules/pages.smk"
    include: "rules/archive.smk"
    include: "rules/check.smk"
    include: "rules/published.smk"

    # Rules that one study alone needs are in its folder.
    for OWN_RULES in ask.rules_of_studies():

        include: OWN_RULES


include: "rules/study.smk"


rule all:
    """Tables and figures of all studies of the configuration, and the report."""
    default_target: True
    input:
        [run.outputs() for run in RUNS.values()],
        [ask.published_files(run) for run in RUNS.values()],
        [SESSION.report_pages(run) for run in RUNS.values()],
        ask.kernels_stamp(),
        "<results>/provenance/config.yaml",
        "<results>/provenance/versions.json",
        [f"<results>/provenance/datasets_{study}.json" for study in config["studies"]],
    localrule: True
    message:
        "All studies are complete"


rule paper:
    """The five papers in full: `scale: paper` and their studies alone, data from hosts or `mirror`. The plan is printed first."""
    input:
        rules.all.input,
    localrule: True
    message:
        "The five papers are complete"


SESSION.finish_rules()
