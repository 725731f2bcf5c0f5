"""Functions only: configuration, and what rules ask about a data set, a cell or a block."""

import os
import sys
from pathlib import Path

ROOT = Path(str(workflow.current_basedir)).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from foldshift.datasets.catalogue import add_entries, read_catalogue
from foldshift.errors import FoldshiftError
from foldshift.planning.blocks import block_names, block_range, bundles
from foldshift.planning.config import (
    check_imports,
    check_mirror,
    check_studies,
    check_writable,
    local_files,
    read_learners,
    read_yaml,
    resolve,
)
from foldshift.planning.modules import expose, module_files

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
        resolved = resolve(raw, schema)
        known = add_entries(
            read_catalogue(located(resolved["catalogue"])),
            resolved["extra_datasets"],
        )
        learners = read_learners(located(resolved["learners_file"]))
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
    """Code of the evaluation, with the module of the learner."""
    return code("evaluate", [LEARNERS[wildcards.learner]["import"]])


def folds_code(wildcards):
    """Code of the partitioning, with the modules of partitioners of the user's own."""
    own = own_partitioners(wildcards).values()
    return code("make_folds", [entry["import"] for entry in own])


def own_partitioners(wildcards):
    """Configuration of those partitioners of a bundle that are the user's own."""
    names = study_bundles(wildcards.study)[wildcards.cuts]
    own = config["own_partitioners"]
    return {name: own[name] for name in names if name in own}


def entry_of(wildcards):
    """Catalogue entry of a data set, as plain values."""
    return dict(vars(CATALOGUE[wildcards.dataset]))


def local_sources(wildcards):
    """Files of the user's own that a data set is read from, as inputs: an edited file replans."""
    return local_files(CATALOGUE[wildcards.dataset])


def study_blocks(study):
    """Names of the blocks of seeds of a study."""
    return block_names(config["studies"][study]["n_seeds"], config["seeds_per_block"])


def study_bundles(study):
    """Partitioners that one job works through, by name of the bundle."""
    return bundles(
        config["studies"][study]["partitioners"], config["partitioners_per_job"]
    )


def bundle_cells(wildcards):
    """(partitioner, k) of every way of cutting of a bundle."""
    names = study_bundles(wildcards.study)[wildcards.cuts]
    return [
        (name, k)
        for k in config["studies"][wildcards.study]["n_folds"]
        for name in names
    ]


def prepared_of(wildcards):
    """Prepared data set with the scaling of the study."""
    scaling = config["studies"][wildcards.study]["scaling"]
    return f"<resources>/prepared/{scaling}/{wildcards.dataset}.npz"


def shift_of_dataset(wildcards):
    """Target shift of a data set: all bundles and blocks."""
    return [
        f"<results>/{wildcards.study}/shift/{wildcards.dataset}/{cuts}/{block}.parquet"
        for cuts in study_bundles(wildcards.study)
        for block in study_blocks(wildcards.study)
    ]


def scores_of_dataset(wildcards):
    """Scores of all learners, bundles and blocks of a data set."""
    return [
        f"<results>/{wildcards.study}/scores/{wildcards.dataset}/{cuts}/{learner}/{block}.parquet"
        for learner in config["studies"][wildcards.study]["learners"]
        for cuts in study_bundles(wildcards.study)
        for block in study_blocks(wildcards.study)
    ]


def first_blocks(study, n_seeds):
    """Blocks that hold the first seeds of a study."""
    return [block for block in study_blocks(study) if block_range(block)[0] < n_seeds]


STUDY_TITLES = {"saez_2022": "Saez and Romero-Bejar 2022"}


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
