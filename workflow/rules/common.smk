"""Functions only: configuration, and what rules ask about a data set, a cell or a block."""

import os
import re
import sys
from functools import cache
from pathlib import Path

from snakemake.logging import logger
from snakemake.settings.enums import Quietness
from snakemake_interface_storage_plugins.io import Mtime

ROOT = Path(str(workflow.current_basedir)).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from foldshift.core.errors import FoldshiftError
from foldshift.evaluation.task_objects import TASK_OBJECTS
from foldshift.core.files import sweep, write_text
from foldshift.engine.jobs.run_job import LEADER, RERUN, SHOWN, rerun_command
from foldshift.partition.registry import PARTITIONERS, import_path
from foldshift.engine.costs.compile_cost import compile_seconds, kept_paths
from foldshift.engine.costs.dataset_shapes import local_files, shape_of
from foldshift.engine.config.command_line import (
    check_arguments,
    check_targets,
    named_studies,
    targets_of,
)
from foldshift.engine.costs.rule_costs import (
    COLLECT,
    collect_cost,
    fetch_cost,
    folds_cost,
    prepare_cost,
    scores_cost,
    shift_cost,
)
from foldshift.engine.jobs.s3_patch import ask_less
from foldshift.engine.jobs.slurm_patch import shorten_log_folders
from foldshift.engine.jobs.failure_summary import lost_fits, lost_rows
from foldshift.engine.jobs.code_digest import digest, expose, module_files
from foldshift.engine.layout.file_names import bundle_of, part_of, scheme_of
from foldshift.engine.costs.machine_speed import pace
from foldshift.engine.costs.plan import RECORD, Recorder
from foldshift.engine.costs.progress import LastWords, Progress, ended_before, jobs_of
from foldshift.engine.layout.labels import add_record, forgotten, record_file
from foldshift.engine.study.declare import key as item_key
from foldshift.engine.config.configure import configure, located
from foldshift.engine.study.run import own_study_folders
from foldshift.core.versions import commit_of

# Jobs run this clone's library, whatever else is installed, and find the user's own modules in the working directory.
expose(ROOT / "src", Path.cwd())


# What was typed is looked at by the process that it was typed for, unless another workflow uses this one as a module.
IS_MAIN = (
    workflow.is_main_process and ROOT in Path(str(workflow.main_snakefile)).parents
)


def or_end(function, *arguments):
    """What a function returns; a mistake ends here with one line, before anything is planned."""
    try:
        return function(*arguments)
    except FoldshiftError as error:
        sys.exit(f"foldshift: {error}")


if IS_MAIN:
    or_end(check_arguments, sys.argv)
TARGETS = targets_of(sys.argv) if IS_MAIN else []
# Whether inputs and outputs stand in a storage such as a bucket, and not in folders that every job sees.
STORAGE = workflow.storage_settings.default_storage_provider is not None
if workflow.storage_settings.default_storage_provider == "s3":
    ask_less(
        workflow.storage_registry.default_storage_provider.get_storage_object_cls(),
        Mtime,
        workflow.storage_settings.default_storage_prefix or "",
    )
if "snakemake_executor_plugin_slurm" in sys.modules:
    shorten_log_folders(sys.modules["snakemake_executor_plugin_slurm"])
RESOLVED, CATALOGUE, LEARNERS, RUNS, NOTES = or_end(
    configure, config, ROOT, TARGETS, not STORAGE
)
if IS_MAIN:
    if not STORAGE and not RESOLVED["archived"]:
        NOTES += filter(None, [forgotten(RESOLVED["results"], RUNS)])
    for NOTE in NOTES:
        logger.warning(f"foldshift: note: {NOTE}")
LAYOUTS = {study: run.layout for study, run in RUNS.items() if run.layout}
TASKS = {study: run.found.task for study, run in RUNS.items()}
# How long the machine of the costs takes for what `pace` measures of this one.
WORKS = next(iter(RUNS.values())).costs.works
# Studies of the user's own may stand anywhere.
expose(ROOT / "src", Path.cwd(), *own_study_folders(RUNS.values()))
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
    # With `--quiet all` Snakemake keeps logs to itself: then jobs speak on their own.
    quiet = {one.name for one in workflow.output_settings.quiet or ()}
    if workflow.output_settings.show_failed_logs and "ALL" not in quiet:
        os.environ[SHOWN] = "1"


# Of this machine; on a cluster none are named, and `workflow.cores` would raise.
CORES = workflow.resource_settings.cores
REGISTRY = ROOT / "src/foldshift/partition/registry.py"


def code(script, objects=(), tables=True, called=()):
    """Digest of a script and the modules it rests on, as a parameter: an edited module replans what depends on it, a touched one nothing.

    As inputs, some fifty files a job, they made up nine tenths of what is looked up for a plan. The digest is that of the code when the run
    began: what is edited while a job runs, is seen by the next run.
    Where `tables` is true, a script that cuts by name rests on all partitioners; else on those among `objects`.
    """
    return code_digest(script, tuple(objects), tables, tuple(called))


@cache
def code_digest(script, objects, tables, called):
    """The same, looked up once for all jobs that share it."""
    script = ROOT / "scripts" / f"{script}.py"
    files = module_files(script, objects=objects, called=called, tables=tables)
    if tables and str(REGISTRY) in files:
        own = [entry["import"] for entry in config["own_partitioners"].values()]
        files = module_files(script, objects=[*objects, *own], called=called)
    # Names below the workflow or the working directory, so that a folder that was moved does not replan.
    return digest(files, (Path.cwd(), ROOT))


def on_this_machine(inputs):
    """Inputs of a rule, by name; with a storage, those that come with the workflow are looked up on this machine, as nobody puts them there.

    A job that has one runs on this machine.
    """
    return (
        {name: kept_here(paths) for name, paths in inputs.items()}
        if STORAGE
        else inputs
    )


def kept_here(paths):
    """A path, or a list of them, flagged where it is no result."""
    if isinstance(paths, str):
        return paths if paths.startswith("<") else local(paths)
    return [kept_here(path) for path in paths]


def folder_of_jobs(key):
    """The folder of the results, or of the resources, as jobs see it: with a storage, where its local copies are."""
    return str(workflow.modifier.path_modifier.apply_default_storage(config[key]))


def learner_code(script):
    """Function for the code of an evaluation: the script, and the modules of the task and of the learners of a job."""

    def digest_of(wildcards):
        learners = learners_of_job(wildcards).values()
        task = TASK_OBJECTS[TASKS[wildcards.study]]
        paths = [task, *(entry["import"] for entry in learners)]
        return code(script, paths, tables=False)

    return digest_of


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
    """Code of the partitioning, with the modules of the partitioners of the bundle and of no others."""
    choices = partitioners_of_job(wildcards).values()
    paths = [
        one["import"] if "import" in one else import_path(one["partitioner"])
        for one in choices
    ]
    return code("make_folds", paths, tables=False)


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
    return kept_here(local_files(CATALOGUE[wildcards.dataset]))


def origins_of_study(wildcards):
    """Files that say where the data of a study came from."""
    return RUNS[wildcards.study].fetched()


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


def wanted_folds(wildcards):
    """What is wanted of files of folds that may hold more."""
    return RUNS[wildcards.study].wanted_folds(wildcards.dataset)


def wanted_scores(wildcards):
    """What is wanted of files of scores that may hold more."""
    return RUNS[wildcards.study].wanted_scores(wildcards.dataset)


def shift_of_dataset(wildcards):
    """Target shift of all folds of a data set."""
    return RUNS[wildcards.study].shift(wildcards.dataset)


def scores_of_dataset(wildcards):
    """Scores of all learners, cells and seeds of a data set."""
    return RUNS[wildcards.study].scores(wildcards.dataset)


# On a cluster two Snakemakes of 200 MB each stand in the memory of a job beside its own process.
BESIDE_MB = 500


def memory(mb):
    """Memory of a job in MB: twice as much at every further attempt. `mb`: a number, or a function of the wildcards."""

    def resource(wildcards, attempt):
        own = mb(wildcards) if callable(mb) else mb
        return round((BESIDE_MB + own) * 2 ** (attempt - 1))

    return resource


def expected_seconds(cost):
    """Seconds of one core that a job is expected to take, as a resource: the plan and the progress read it, nothing is scheduled by it.

    `cost`: a `Cost` or seconds, or a function of the wildcards that gives one of them.
    """

    def resource(wildcards):
        value = cost(wildcards) if callable(cost) else cost
        return round(getattr(value, "seconds", value), 2)

    return resource


def expected_mb(cost, idle=600):
    """Function for the memory of a job: an idle process, and what is expected with a margin."""
    return lambda wildcards: idle + 1.5 * cost(wildcards).mb


def written_mb(cost):
    """Function for the size of what a job writes."""
    return lambda wildcards: round(cost(wildcards).writes_mb, 3)


def minutes(seconds, spare=10):
    """Time limit of a job in minutes: five times what is expected and something to spare, and more at every further attempt.

    `seconds`: a number or a `Cost`, or a function of the wildcards that gives one of them.
    """

    def resource(wildcards, attempt):
        value = seconds(wildcards) if callable(seconds) else seconds
        return round((spare + 5 * getattr(value, "seconds", value) / 60) * attempt)

    return resource


def cost_of_fetching(wildcards):
    """What reading and checking a table is expected to take."""
    return fetch_cost(shape_of(CATALOGUE[wildcards.dataset]))


def cost_of_preparing(wildcards):
    """What preparing a data set is expected to take."""
    return prepare_cost(shape_of(CATALOGUE[wildcards.dataset]))


def cost_of_folds(wildcards):
    """What cutting is expected to take."""
    study, names = wildcards.study, (wildcards.bundle, wildcards.block)
    return folds_cost(LAYOUTS[study], TASKS[study], wildcards.dataset, *names)


def cost_of_shift(wildcards):
    """What measuring the target shift is expected to take."""
    names = wildcards.bundle, wildcards.block
    return shift_cost(LAYOUTS[wildcards.study], wildcards.dataset, *names)


def cost_of_scores(wildcards):
    """What an evaluation is expected to take."""
    study = wildcards.study
    keys = ("bundle", "held", "part", "learners", "block")
    names = [wildcards[key] for key in keys]
    return scores_cost(LAYOUTS[study], TASKS[study], wildcards.dataset, *names)


def cost_of_collecting(wildcards):
    """What collecting scores is expected to take."""
    return collect_cost(LAYOUTS[wildcards.study], wildcards.dataset)


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


def front_file():
    """Front page of the report: what the studies of the last run ask."""
    return Path(config["results"], "provenance", "front.rst")


def front_text():
    """Its text, from the summaries of the studies."""
    first = (ROOT / "workflow/report/workflow.rst").read_text(encoding="utf-8")
    return "\n\n".join([first.strip(), *map(front_paragraph, RUNS.values())]) + "\n"


def front_paragraph(run):
    """What one study asks, for a report that has results of it: a study that the command leaves out has no category there."""
    words = f"*{run.found.title}* {run.found.summary}"
    condition = f"{run.found.title!r} in categories|map(attribute='name')"
    return f"{{% if {condition} %}}{{% raw %}}\n{words}\n{{% endraw %}}{{% endif %}}"


def front_page():
    """Path of the front page; of its beginning, while nothing has run."""
    file = front_file().absolute()
    return str(file if file.exists() else ROOT / "workflow/report/workflow.rst")


def begin():
    """At the start of a run: clear what a killed one left half-written, and tell from now on how far this one is."""
    folders = [config["results"], config["resources"]]
    if STORAGE:
        folders.append(str(workflow.storage_settings.local_storage_prefix))
    for folder in folders:
        sweep(folder)
    records = [layout.record() for layout in LAYOUTS.values()]
    add_record(record_file(config["results"]), records)
    write_text(front_file(), front_text())
    # Every timer of the rate limiter starts another one, more with every job: soon the scheduler would do nothing else, and with a long time
    # span in `max-jobs-per-timespan` the process would wait for them at its end (Snakemake 9.27).
    if hasattr(workflow.scheduler, "job_rate_limiter"):
        workflow.scheduler.job_rate_limiter = None
    here = workflow.local_exec
    factor = pace(WORKS) if here else 1.0
    PROGRESS.start(
        jobs_of(workflow.dag, factor),
        CORES if here else None,
        logger,
        ended_before(workflow.dag, factor) if here else (),
    )


def tell_failures():
    """At the end of a run that went well: how many fits failed, why, and where they are listed."""
    ran = {job.rule.name for job in workflow.dag.jobs}
    collected = {
        job.wildcards_dict["study"]
        for job in workflow.dag.jobs
        if job.rule.name.endswith("collect_scores")
    }
    runs = [RUNS[study] for study in LAYOUTS if study in collected]
    measured = [
        run
        for run in RUNS.values()
        if any(
            name.endswith(f"{run.id}_{measure.name}")
            for name in ran
            for measure in run.measures()
        )
    ]
    for line in (
        *lost_fits(config["results"], runs),
        *lost_rows(config["results"], measured),
    ):
        PROGRESS.say(f"foldshift: {line}")


def describe_rules():
    """Words beside every rule that is made from a declaration, for `snakemake --list`."""
    words = {}
    for run in RUNS.values():
        of = {items.name: items.message for items, _ in run.items()}
        of |= {measure.name: measure.message for measure in run.measures()}
        words[run.id] = f"Tables and figures of {run.found.title}."
        words[f"plan_{run.id}"] = (
            f"What a run of {run.found.title} will take. Nothing is started."
        )
        words[f"{run.id}_rows"] = (
            f"All rows of {run.found.title}: what its tables are made of."
        )
        for name, message in of.items():
            text = re.sub(r"{(\w+)}", lambda word: word[1].upper(), message)
            words[f"{run.id}_{name}"] = f"{run.found.title}: {text}."
    for one in workflow.rules:
        if one.name in words:
            one.docstring = words[one.name]


def checked_targets():
    """Refuse a target that nothing makes, with the nearest ones."""
    or_end(
        check_targets,
        TARGETS,
        [one.name for one in workflow.rules if not one.has_wildcards()],
        lambda: [
            path.replace("<results>", config["results"])
            for run in RUNS.values()
            for path in run.outputs()
        ],
        lambda file: any(one.is_producer(file) for one in workflow.rules),
    )


PROGRESS = Progress()
# `--quiet all` keeps back what ends a run as well.
if IS_MAIN and Quietness.ALL in (workflow.output_settings.quiet or ()):
    logger.addHandler(LastWords())
# A dry run that the plan has started says what it would do.
if os.environ.get(RECORD) and workflow.is_main_process:
    logger.addHandler(Recorder(os.environ[RECORD]))


def reporting_rules():
    """Rules that make tables and figures."""
    return [
        f"{run.id}_{items.name}" for run in RUNS.values() for items, _ in run.items()
    ]


def unmeasured_learners():
    """Learners that the table of costs does not know."""
    return sorted({name for layout in LAYOUTS.values() for name in layout.unmeasured()})


KERNELS = "<resources>/compiled/kernels.json"


def compiled():
    """The stamp of the compiled code, where there are jobs that call it (in archived mode there are none) and that find what another one compiled."""
    return [] if config["archived"] or STORAGE else [KERNELS]


def measure_code(run, measure):
    """The code that the rows of a measure rest on: its function, and the learners and partitioners that it says it calls."""
    own = {name: entry["import"] for name, entry in config["own_partitioners"].items()}
    learners = [LEARNERS[name]["import"] for name in measure.learners(run)]
    partitioners = [
        own[name] if name in own else import_path(name)
        for name in measure.partitioners(run)
    ]
    called = [run.found.path(measure.make)]
    return code("measure", [*learners, *partitioners], tables=False, called=called)


def compiled_learners():
    """Learners of the library that the run fits: those of others, and of the user's own, have nothing that is kept."""
    names = {
        name
        for run in RUNS.values()
        for name in (
            *(run.learner_ids if run.found.task else ()),
            *(name for measure in run.measures() for name in measure.learners(run)),
        )
    }
    return {
        name: LEARNERS[name]
        for name in sorted(names)
        if LEARNERS[name]["import"].startswith("foldshift.")
    }


def compiled_partitioners():
    """Partitioners of the library whose first call compiles: those that look at inputs, of all that are used."""
    used = {
        choice.get("partitioner")
        for layout in LAYOUTS.values()
        for choice in layout.record()["partitioners"].values()
    }
    for run in RUNS.values():
        for measure in run.measures():
            used.update(measure.partitioners(run))
    return [
        name
        for name, one in PARTITIONERS.items()
        if name in used and one.looks_at_inputs
    ]


def seconds_of_compiling(wildcards, threads):
    """Expected time of compiling what no earlier run has kept."""
    paths = {
        *(entry["import"] for entry in compiled_learners().values()),
        *map(import_path, compiled_partitioners()),
        *first_calls(),
    }
    return compile_seconds(paths, threads, kept_paths(paths))


def first_calls():
    """Functions that call what is measured besides scores."""
    shift = any(TASKS[study] == "regression" for study in LAYOUTS)
    return sorted(
        {
            *(["foldshift.engine.jobs.warm_up.target_shift"] if shift else []),
            *(
                run.found.path(measure.first_call)
                for run in RUNS.values()
                for measure in run.measures()
                if measure.first_call
            ),
        }
    )


STUDIES_OF = {
    task: "|".join(study for study in LAYOUTS if TASKS[study] == task) or "-"
    for task in ("regression", "classification")
}


# One label only: with a second one the report may show a switch that fails where half of the items are tables (Snakemake 9.27).
def report_entry(run, item):
    """The form of a table or figure that goes into the report."""
    stem = f"{config['results']}/{run.id}/{item.stem}"
    return report(
        f"<results>/{{study}}/{item.files()[0]}",
        caption=str(Path.cwd() / f"{stem}.rst"),
        category=run.found.title,
        subcategory=item.category,
        labels={"item": f"{item.title} ({item.kind})"},
    )


def item_words(item):
    """What a job has to know of an item that it makes."""
    return {
        "key": item_key(item),
        "name": item.name,
        "kind": item.kind,
        "title": item.title,
        "caption": item.caption,
    }


def cell_of(wildcards):
    """The cell of a job of a measure, by its words."""
    return dict(wildcards.items())


def measure_inputs(run, measure):
    """Function for the inputs of a job of a measure."""
    return lambda wildcards: measure.inputs(run, cell_of(wildcards))


def measure_params(run, measure):
    """Function for the further arguments of a job of a measure."""
    return lambda wildcards: measure.params(run, cell_of(wildcards))


def measure_cost(run, measure):
    """Function for what a job of a measure is expected to take."""
    return lambda wildcards: run.measure_cost(measure, cell_of(wildcards))
