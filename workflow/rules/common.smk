"""Functions only: configuration, and what rules ask about a data set, a cell or a block."""

import os
import sys
from functools import cache
from pathlib import Path

ROOT = Path(str(workflow.current_basedir)).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from foldshift.datasets.catalogue import add_entries, read_catalogue
from foldshift.errors import FoldshiftError
from foldshift.files import sweep
from foldshift.jobs import LEADER, RERUN, rerun_command
from foldshift.evaluation.tasks import TASK_OBJECTS
from foldshift.planning.blocks import block_names, choice_of, variants
from foldshift.planning.config import (
    FOLD_STUDIES,
    TASKS,
    check_imports,
    check_mirror,
    check_studies,
    check_writable,
    configured_learners,
    fill_in,
    fitting,
    local_files,
    read_learners,
    read_yaml,
    resolve,
)
from foldshift.planning.costs import CostModel, read_costs
from foldshift.planning.jobs import is_done, study_jobs
from foldshift.planning.layout import (
    Layout,
    every,
    of_experiments,
    of_own_experiments,
)
from foldshift.planning.modules import expose, module_files
from foldshift.planning.names import bundle_of, part_of, scheme_of
from foldshift.planning.plan import plan_text
from foldshift.planning.progress import start_progress
from foldshift.planning.record import add_record, read_record
from foldshift.planning.schemes import iterations

# Jobs run this clone's library, whatever else is installed, and find the user's own modules in the working directory.
expose(ROOT / "src", Path.cwd())


def located(path):
    """A file of the working directory, or else the one of that name that comes with the workflow."""
    return path if Path(path).exists() else ROOT / path


def record_file(resolved):
    """What the labels in names of files stand for, of this run and of earlier ones."""
    return Path(resolved["results"], "provenance", "labels.json")


def configure(raw):
    """Resolved configuration, catalogue and learners; a mistake ends here with one line, before anything is planned."""
    try:
        schema = read_yaml(
            ROOT / "workflow/schemas/config.schema.yaml", "configuration schema"
        )
        filled = fill_in(raw, schema)
        known = add_entries(
            read_catalogue(located(filled["catalogue"])), filled["extra_datasets"]
        )
        learners = read_learners(located(filled["learners_file"]))
        resolved = resolve(raw, schema, fitting(filled, known, learners))
        check_studies(resolved, known, learners)
        # An archive needs neither learners nor data, and no code that it names is imported.
        if not resolved["archived"]:
            check_imports(resolved, learners)
        check_mirror(resolved["mirror"])
        check_writable(resolved["results"], "results")
        check_writable(resolved["resources"], "resources")
        costs = CostModel(read_costs(located(resolved["costs_file"])))
    except FoldshiftError as error:
        # Not an exception of Snakemake's: that would add a traceback to the user's one line.
        sys.stderr.write(f"foldshift: {error}\n")
        sys.stderr.flush()
        os._exit(1)
    recorded = read_record(record_file(resolved))
    layouts = {
        study: Layout(study, resolved, known, learners, costs, recorded)
        for study in resolved["studies"]
        if study in FOLD_STUDIES
    }
    return resolved, known, learners, layouts


RESOLVED, CATALOGUE, LEARNERS, LAYOUTS = configure(config)
config.clear()
config.update(RESOLVED)


# On a cluster every node has a Snakemake of its own.
os.environ[LEADER] = str(os.getpid())
if workflow.is_main_process:
    os.environ[RERUN] = rerun_command(
        workflow.main_snakefile,
        Path.cwd(),
        workflow.config_settings.configfiles,
        workflow.config_settings.config_args or (),
        ROOT / "profiles/default",
    )


def code(script, objects=()):
    """The script and the library modules it rests on, as inputs: an edited module replans what depends on it."""
    return list(code_files(script, tuple(objects)))


@cache
def code_files(script, objects):
    """The same, looked up once for all jobs that share it."""
    files = module_files(ROOT / "scripts" / f"{script}.py", objects=objects)
    # Relative where possible, so that a folder that was moved does not replan.
    here = Path.cwd()
    return [
        str(Path(file).relative_to(here)) if here in Path(file).parents else file
        for file in files
    ]


def learner_code(script):
    """Function for the code of an evaluation: the script, and the modules of the task and of the learners of a job."""

    def files(wildcards):
        learners = learners_of_job(wildcards).values()
        task = TASK_OBJECTS[TASKS[wildcards.study]]
        return code(script, [task, *(entry["import"] for entry in learners)])

    return files


def learners_of_job(wildcards):
    """Entries of the learners that one job works through, by id: a function of their labels alone."""
    layout = LAYOUTS[wildcards.study]
    return by_name(layout.learner(one) for one in wildcards.learners.split("+"))


def by_name(entries):
    """What labels stand for, by the names."""
    return {
        entry["name"]: {key: value for key, value in entry.items() if key != "name"}
        for entry in entries
    }


def folds_code(wildcards):
    """Code of the partitioning, with the modules of partitioners of the user's own."""
    choices = partitioners_of_job(wildcards).values()
    return code("make_folds", [one["import"] for one in choices if "import" in one])


def choices_of(study, names):
    """How each partitioner cuts: a known one or a function of the user's own, and its options."""
    settings, own = config["studies"][study], config["own_partitioners"]
    return {name: choice_of(name, settings, own) for name in names}


def partitioners_of_job(wildcards):
    """How the partitioners of a bundle cut: a function of their labels alone."""
    layout = LAYOUTS[wildcards.study]
    return by_name(layout.partitioner(one) for one in bundle_of(wildcards.bundle)[0])


def iterations_of_job(wildcards):
    """Partitions per seed or experiment, by number of folds."""
    return dict(map(scheme_of, bundle_of(wildcards.bundle)[1]))


def cuts_of_job(wildcards):
    """Partitioners, by id, and numbers of folds of an evaluation."""
    layout = LAYOUTS[wildcards.study]
    bundle = part_of(wildcards.bundle, wildcards.part)
    partitioners, schemes = bundle_of(bundle)
    return [
        (layout.partitioner(name)["name"], scheme_of(scheme)[0])
        for scheme in schemes
        for name in partitioners
    ]


def entry_of(wildcards):
    """Catalogue entry of a data set, as plain values."""
    return dict(vars(CATALOGUE[wildcards.dataset]))


def local_sources(wildcards):
    """Files of the user's own that a data set is read from, as inputs: an edited file replans."""
    return local_files(CATALOGUE[wildcards.dataset])


def origins_of_study(wildcards):
    """Where the data of a study came from: of each of its data sets, or of its reviews."""
    settings = config["studies"][wildcards.study]
    if "reviews" in settings:
        return [f"<resources>/reviews/{settings['reviews']}.json"]
    return [f"<resources>/fetched/{name}.json" for name in sorted(settings["datasets"])]


SCALINGS = ("global", "fold", "none")


def prepared_of(wildcards):
    """Prepared data set with the scaling of the study."""
    scaling = config["studies"][wildcards.study]["scaling"]
    return f"<resources>/prepared/{scaling}/{wildcards.dataset}.npz"


def data_to_cut(wildcards):
    """Prepared data set for the partitioners: those of classes look at the inputs and scale them as their distance wants."""
    if TASKS[wildcards.study] == "classification":
        return f"<resources>/prepared/none/{wildcards.dataset}.npz"
    return prepared_of(wildcards)


def in_study(study, paths):
    """Paths below the folder of a study."""
    return [f"<results>/{study}/{path}" for path in paths]


def folds_of_dataset(chosen=every, n_seeds=None):
    """Function for the folds of a data set that hold some of the chosen cells, at least of the first seeds."""
    return lambda wildcards: in_study(
        wildcards.study,
        LAYOUTS[wildcards.study].folds_files(wildcards.dataset, chosen, n_seeds),
    )


def wanted_folds(chosen=every, n_seeds=None):
    """Function for what is wanted of files of folds that may hold more."""
    return lambda wildcards: LAYOUTS[wildcards.study].wanted_folds(
        wildcards.dataset, chosen, n_seeds
    )


def wanted_scores(chosen=every):
    """Function for what is wanted of files of scores that may hold more."""
    return lambda wildcards: LAYOUTS[wildcards.study].wanted_scores(
        wildcards.dataset, chosen
    )


def shift_of_dataset(wildcards):
    """Target shift of all folds of a data set."""
    study = wildcards.study
    return in_study(study, LAYOUTS[study].shift_files(wildcards.dataset))


def scores_of_dataset(wildcards):
    """Scores of all learners, cells and seeds of a data set."""
    study = wildcards.study
    return in_study(study, LAYOUTS[study].score_files(wildcards.dataset))


def predictions_of_dataset(wildcards):
    """Predictions of all experiments of a data set, without those of the truth."""
    study = wildcards.study
    return in_study(study, LAYOUTS[study].prediction_files(wildcards.dataset))


# On a cluster two Snakemakes of 200 MB each stand in the memory of a job beside its own process.
BESIDE_MB = 500


def memory(mb):
    """Memory of a job in MB: twice as much at every further attempt. `mb`: a number, or a function of the wildcards."""

    def resource(wildcards, attempt):
        own = mb(wildcards) if callable(mb) else mb
        return round((BESIDE_MB + own) * 2 ** (attempt - 1))

    return resource


def minutes(seconds, spare=10):
    """Time limit of a job in minutes: five times what is expected and something to spare, and more at every further attempt.

    `seconds`: a number, or a function of the wildcards.
    """

    def resource(wildcards, attempt):
        expected = seconds(wildcards) if callable(seconds) else seconds
        return round((spare + 5 * expected / 60) * attempt)

    return resource


def evaluation(wildcards):
    """Seconds and MB that an evaluation is expected to take."""
    return LAYOUTS[wildcards.study].job(
        wildcards.dataset,
        wildcards.bundle,
        wildcards.held,
        wildcards.part,
        wildcards.learners,
        wildcards.block,
    )


def evaluation_seconds(wildcards):
    """Seconds that an evaluation is expected to take."""
    return evaluation(wildcards)[0]


def evaluation_mb(wildcards):
    """Memory of an evaluation: an idle process, and what the cost model expects with a margin."""
    return 600 + 1.5 * evaluation(wildcards)[1]


def current_attempt(wildcards, attempt):
    """How many times the job was started; the profile for SLURM allows three."""
    return attempt


def limits(wildcards, resources):
    """What a learner may take for one cell. A function of resources is no reason to run again: new limits leave what went well as it is.

    The last of three attempts stays below the memory of the job, so that a learner which needs more costs its cells and not the job.
    """
    mb = config["cell_memory_mb"]
    if resources.get("attempt", 1) >= 3:
        mb = min(mb or resources.mem_mb, resources.mem_mb - BESIDE_MB - 400)
    return {"minutes": config["cell_minutes"], "memory_mb": mb}


# Beside what is expected, an evaluation may once run into the time limit of a cell.
SPARE_MINUTES = 10 + (config["cell_minutes"] or 0)


def jobs_of_run():
    """Every job of the configured studies."""
    found = None
    for study in config["studies"]:
        layout = LAYOUTS.get(study)
        found = study_jobs(study, config, layout, LEARNERS, CATALOGUE, found)
    return found.jobs


def begin():
    """At the start of a run: clear what a killed one left half-written, and tell from now on how far this one is."""
    for folder in ("results", "resources"):
        sweep(config[folder])
    add_record(record_file(config), [layout.record() for layout in LAYOUTS.values()])
    # Every timer of the rate limiter starts another one, more with every job: soon the scheduler would do nothing else (Snakemake 9.27).
    workflow.scheduler.job_rate_limiter = None
    seconds = {job.output: job.seconds for job in jobs_of_run()}
    jobs = [
        (
            job.output[0],
            next((seconds[file] for file in job.output if file in seconds), 1.0),
        )
        for job in workflow.dag.needrun_jobs()
        if job.output
    ]
    start_progress(jobs, workflow.cores if workflow.local_exec else None)


def plan_of_run():
    """What the run will take, as text."""
    jobs = jobs_of_run()
    unmeasured = sorted(
        {name for layout in LAYOUTS.values() for name in layout.unmeasured()}
    )
    return plan_text(jobs, [is_done(job) for job in jobs], unmeasured, workflow.cores)


@cache
def planned():
    """Jobs of the run by name of the rule and what tells their outputs apart."""
    return {(job.rule, output_key(job.output)): job for job in jobs_of_run()}


def output_key(output):
    """Path of a result below the study and its kind, without the ending: `NB/with/0-24` of `results/geras_2013/error/NB/with/0-24.parquet`."""
    parts = Path(output).parts
    below = next((i + 2 for i, part in enumerate(parts) if part in TASKS), -1)
    return Path(*parts[below:-1], parts[-1].rpartition(".")[0]).as_posix()


def planned_job(rule, wildcards):
    """What is expected of a job, by its wildcards."""
    return planned()[rule, Path(*(w for w in wildcards if w not in TASKS)).as_posix()]


def planned_seconds(rule):
    """Function for the seconds that a job is expected to take."""
    return lambda wildcards: planned_job(rule, wildcards).seconds


def planned_mb(rule):
    """Function for the memory of a job, with a margin."""
    return lambda wildcards: 200 + 1.5 * planned_job(rule, wildcards).mb


STUDY_TITLES = {
    "saez_2022": "Saez and Romero-Bejar 2022",
    "moreno_torres_2012": "Moreno-Torres, Saez and Herrera 2012",
    "geras_2013": "Geras and Sutton 2013",
    "wong_2015": "Wong 2015",
    "cieslak_2009": "Cieslak and Chawla 2009",
}
STUDIES_OF = {
    task: "|".join(study for study in FOLD_STUDIES if TASKS[study] == task)
    for task in ("regression", "classification")
}


def table_files(study, name):
    """The three files of a table."""
    return [
        f"<results>/{study}/tables/{name}.{form}" for form in ("csv", "html", "tex")
    ]


def figure_files(study, name):
    """The three files of a figure."""
    return [
        f"<results>/{study}/figures/{name}.{form}" for form in ("svg", "pdf", "png")
    ]


# One label only: with a second one the report may show a switch that fails where half of the items are tables (Snakemake 9.27).
def report_table(study, name, category):
    """The HTML form of a table, which goes into the report."""
    return report(
        f"<results>/{study}/tables/{name}.html",
        caption=f"../report/{name}.rst",
        category=STUDY_TITLES[study],
        subcategory=category,
        labels={"item": f"{name} (table)"},
    )


def report_figure(study, name, category):
    """The SVG form of a figure, which goes into the report."""
    return report(
        f"<results>/{study}/figures/{name}.svg",
        caption=f"../report/{name}.rst",
        category=STUDY_TITLES[study],
        subcategory=category,
        labels={"item": f"{name} (figure)"},
    )


def report_captioned(study, path, caption, category, form):
    """A table or figure of the report whose caption has another name than the file: studies may have files of the same name."""
    return report(
        path,
        caption=f"../report/{caption}.rst",
        category=STUDY_TITLES[study],
        subcategory=category,
        labels={"item": f"{Path(path).stem} ({form})"},
    )


def study_outputs(study):
    """Tables and figures of a study."""
    return STUDY_OUTPUTS[study]


STUDY_OUTPUTS = {}
