"""Functions only: configuration, and what rules ask about a data set, a cell or a block."""

import os
import sys
from pathlib import Path

ROOT = Path(str(workflow.current_basedir)).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from foldshift.datasets.catalogue import add_entries, read_catalogue
from foldshift.errors import FoldshiftError
from foldshift.planning.blocks import (
    block_names,
    block_range,
    bundles,
    groups,
    partitioner_options,
    variants,
)
from foldshift.planning.config import (
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
from foldshift.planning.modules import expose, module_files
from foldshift.planning.schemes import iterations

# Jobs run this clone's library, whatever else is installed, and find the user's own modules in the working directory.
expose(ROOT / "src", Path.cwd())


def located(path):
    """A file of the working directory, or else the one of that name that comes with the workflow."""
    return path if Path(path).exists() else ROOT / path


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
        check_imports(resolved, learners)
        check_mirror(resolved["mirror"])
        check_writable(resolved["results"], "results")
        check_writable(resolved["resources"], "resources")
    except FoldshiftError as error:
        # Not an exception of Snakemake's: that would add a traceback to the user's one line.
        sys.stderr.write(f"foldshift: {error}\n")
        sys.stderr.flush()
        os._exit(1)
    return resolved, known, learners


RESOLVED, CATALOGUE, LEARNERS = configure(config)
config.clear()
config.update(RESOLVED)


def code(script, objects=()):
    """The script and the library modules it rests on, as inputs: an edited module replans what depends on it."""
    files = module_files(ROOT / "scripts" / f"{script}.py", objects=objects)
    # Relative where possible, so that a folder that was moved does not replan.
    here = Path.cwd()
    return [
        str(Path(file).relative_to(here)) if here in Path(file).parents else file
        for file in files
    ]


def evaluate_code(wildcards):
    """Code of the evaluation, with the module of the regressor."""
    return code("evaluate", [LEARNERS[wildcards.learner]["import"]])


def classify_code(wildcards):
    """Code of the evaluation, with the modules of the classifiers."""
    return code(
        "classify", [LEARNERS[name]["import"] for name in learners_of_job(wildcards)]
    )


def learners_of_job(wildcards):
    """Entries of the classifiers that one job works through, by id."""
    return {name: LEARNERS[name] for name in wildcards.learners.split("+")}


def folds_code(wildcards):
    """Code of the partitioning, with the modules of partitioners of the user's own."""
    choices = partitioners_of_job(wildcards).values()
    return code("make_folds", [one["import"] for one in choices if "import" in one])


def choices_of(study, names):
    """How each partitioner cuts: a known one or a function of the user's own, and its options."""
    choices = {}
    for name in names:
        if name in config["own_partitioners"]:
            own = config["own_partitioners"][name]
            choices[name] = {"import": own["import"], "options": own.get("params", {})}
        elif TASKS[study] == "classification":
            partitioner, options = partitioner_options(name, config["studies"][study])
            choices[name] = {"partitioner": partitioner, "options": options}
        else:
            choices[name] = {"partitioner": name, "options": {}}
    return choices


def partitioners_of_job(wildcards):
    """How the partitioners of a bundle cut."""
    names = study_bundles(wildcards.study)[wildcards.cuts].partitioners
    return choices_of(wildcards.study, names)


def iterations_of_job(wildcards):
    """Partitions per seed or experiment, by number of folds."""
    return dict(study_bundles(wildcards.study)[wildcards.cuts].iterations)


def entry_of(wildcards):
    """Catalogue entry of a data set, as plain values."""
    return dict(vars(CATALOGUE[wildcards.dataset]))


def local_sources(wildcards):
    """Files of the user's own that a data set is read from, as inputs: an edited file replans."""
    return local_files(CATALOGUE[wildcards.dataset])


def study_bundles(study):
    """What one job cuts, by name of the bundle."""
    return bundles(config["studies"][study], config["partitioners_per_job"])


def dataset_cuts(study, dataset):
    """(bundle, block) of every job that cuts a data set for a study."""
    settings = config["studies"][study]
    rows = CATALOGUE[dataset].n_rows or 0
    return [
        (cuts, block)
        for cuts, bundle in study_bundles(study).items()
        if not cuts.startswith("ablation") or rows <= settings["ablation"]["max_rows"]
        for block in block_names(bundle.n_seeds, settings["seeds_per_block"])
    ]


def study_learners(study, dataset):
    """Ids of the learners that a study runs on a data set, of all its configurations."""
    settings = config["studies"][study]
    rows = CATALOGUE[dataset].n_rows or 0
    largest = settings.get("max_rows", {})
    return list(
        dict.fromkeys(
            name
            for ids in configured_learners(settings, LEARNERS).values()
            for learner, name in ids.items()
            if rows <= largest.get(learner, rows)
        )
    )


def learner_groups(study, dataset):
    """Learners of a data set by the job that evaluates them."""
    size = config["studies"][study].get("learners_per_job", 1)
    return groups(study_learners(study, dataset), size)


def prepared_of(wildcards):
    """Prepared data set with the scaling of the study."""
    scaling = config["studies"][wildcards.study]["scaling"]
    return f"<resources>/prepared/{scaling}/{wildcards.dataset}.npz"


def data_to_cut(wildcards):
    """Prepared data set for the partitioners: those of classes look at the inputs and scale them as their distance wants."""
    if TASKS[wildcards.study] == "classification":
        return f"<resources>/prepared/none/{wildcards.dataset}.npz"
    return prepared_of(wildcards)


def shift_of_dataset(wildcards):
    """Target shift of a data set: all bundles and blocks."""
    return [
        f"<results>/{wildcards.study}/shift/{wildcards.dataset}/{cuts}/{block}.parquet"
        for cuts, block in dataset_cuts(wildcards.study, wildcards.dataset)
    ]


def scores_of_dataset(wildcards):
    """Scores of all learners, bundles and blocks of a data set."""
    return [
        f"<results>/{wildcards.study}/scores/{wildcards.dataset}/{cuts}/{learners}/{block}.parquet"
        for learners in learner_groups(wildcards.study, wildcards.dataset)
        for cuts, block in dataset_cuts(wildcards.study, wildcards.dataset)
    ]


def experiments_of_dataset(kind, ending, variants=True):
    """Function for the files of a kind (`folds`, `predictions`) of all partitioners of a data set, without the truth."""

    def files(wildcards):
        study, dataset = wildcards.study, wildcards.dataset
        cuts = [
            (name, block)
            for name, block in dataset_cuts(study, dataset)
            if name != "truth" and (variants or not name.startswith("ablation"))
        ]
        if kind == "predictions":
            cuts = [
                (f"{name}/{learners}", block)
                for learners in learner_groups(study, dataset)
                for name, block in cuts
            ]
        return [
            f"<results>/{study}/{kind}/{dataset}/{name}/{block}.{ending}"
            for name, block in cuts
        ]

    return files


def first_blocks(study, n_seeds):
    """Blocks that hold the first seeds of a study."""
    settings = config["studies"][study]
    names = block_names(settings["n_seeds"], settings["seeds_per_block"])
    return [block for block in names if block_range(block)[0] < n_seeds]


STUDY_TITLES = {
    "saez_2022": "Saez and Romero-Bejar 2022",
    "moreno_torres_2012": "Moreno-Torres, Saez and Herrera 2012",
}
STUDIES_OF = {
    task: "|".join(study for study in TASKS if TASKS[study] == task)
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


def report_table(study, name, category):
    """The HTML form of a table, which goes into the report."""
    return report(
        f"<results>/{study}/tables/{name}.html",
        caption=f"../report/{name}.rst",
        category=STUDY_TITLES[study],
        subcategory=category,
        labels={"item": name, "form": "table"},
    )


def report_figure(study, name, category):
    """The SVG form of a figure, which goes into the report."""
    return report(
        f"<results>/{study}/figures/{name}.svg",
        caption=f"../report/{name}.rst",
        category=STUDY_TITLES[study],
        subcategory=category,
        labels={"item": name, "form": "figure"},
    )


def study_outputs(study):
    """Tables and figures of a study."""
    return STUDY_OUTPUTS[study]


STUDY_OUTPUTS = {}
