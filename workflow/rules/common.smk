"""Functions only: configuration, and what rules ask about a data set, a cell or a block."""

import os
import sys
from pathlib import Path

ROOT = Path(str(workflow.current_basedir)).resolve().parents[1]
# Jobs run this clone's library, whatever else is installed, and find the user's own modules in the working directory.
sys.path[:0] = [str(ROOT / "src"), os.getcwd()]
os.environ["PYTHONPATH"] = os.pathsep.join(
    [
        str(ROOT / "src"),
        os.getcwd(),
        *filter(None, [os.environ.get("PYTHONPATH")]),
    ]
)

from foldshift.datasets.catalogue import add_entries, read_catalogue
from foldshift.errors import FoldshiftError
from foldshift.planning.blocks import block_names
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
from foldshift.planning.modules import module_files


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
    """Code of the partitioning, with the module of a partitioner of the user's own."""
    own = config["own_partitioners"].get(wildcards.partitioner)
    return code("make_folds", [own["import"]] if own else [])


def entry_of(wildcards):
    """Catalogue entry of a data set, as plain values."""
    return dict(vars(CATALOGUE[wildcards.dataset]))


def local_sources(wildcards):
    """Files of the user's own that a data set is read from, as inputs: an edited file replans."""
    return local_files(CATALOGUE[wildcards.dataset])


def study_blocks(study):
    """Names of the blocks of seeds of a study."""
    return block_names(config["studies"][study]["n_seeds"], config["seeds_per_block"])


def study_cells(study):
    """(partitioner, k) of every way of cutting, in the order of the configuration."""
    settings = config["studies"][study]
    return [(name, k) for k in settings["n_folds"] for name in settings["partitioners"]]


def prepared_of(wildcards):
    """Prepared data set with the scaling of the study."""
    scaling = config["studies"][wildcards.study]["scaling"]
    return f"<resources>/prepared/{scaling}/{wildcards.dataset}.npz"


def folds_of_dataset(wildcards):
    """Folds of all partitioners and k of a data set and a block."""
    return [
        f"<results>/{wildcards.study}/folds/{wildcards.dataset}/{name}/k{k}/{wildcards.block}.npz"
        for name, k in study_cells(wildcards.study)
    ]


def shift_of_dataset(wildcards):
    """Target shift of a data set, all blocks."""
    return [
        f"<results>/{wildcards.study}/shift/{wildcards.dataset}/{block}.parquet"
        for block in study_blocks(wildcards.study)
    ]


def scores_of_dataset(wildcards):
    """Scores of all learners, partitioners, k and blocks of a data set."""
    return [
        f"<results>/{wildcards.study}/scores/{wildcards.dataset}/{name}/k{k}/{learner}/{block}.parquet"
        for learner in config["studies"][wildcards.study]["learners"]
        for name, k in study_cells(wildcards.study)
        for block in study_blocks(wildcards.study)
    ]


def study_datasets(pattern):
    """Input function: one file for every data set of the study of the rule."""

    def files(wildcards):
        study = getattr(wildcards, "study", "saez_2022")
        return [
            pattern.format(study=study, dataset=name)
            for name in config["studies"][study]["datasets"]
        ]

    return files


def study_outputs(study):
    """Tables and figures of a study."""
    return STUDY_OUTPUTS[study]


STUDY_OUTPUTS = {}
