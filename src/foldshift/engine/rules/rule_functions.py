"""Functions of wildcards for the inputs, parameters and costs of rules, under one configuration."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldshift.core.files import content_of
from foldshift.engine.costs.compile_cost import compile_seconds, kept_paths
from foldshift.engine.costs.dataset_shapes import local_files, shape_of
from foldshift.engine.costs.job_costs import (
    FETCH,
    PREPARE,
    START,
    added,
    collect_cost,
    fetch_cost,
    folds_cost,
    prepare_cost,
    scores_cost,
    shift_cost,
)
from foldshift.engine.jobs.code_digest import digest, module_files
from foldshift.engine.layout.file_names import bundle_of, part_of, scheme_of
from foldshift.engine.study.published import PublishedStudy
from foldshift.engine.study.report_facts import page_facts, page_files
from foldshift.engine.study.run import START as START_MEASURE
from foldshift.evaluation.task_objects import TASK_OBJECTS
from foldshift.partition.registry import PARTITIONERS, import_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from foldshift.engine.config.runs import Configured
    from foldshift.engine.costs.cost_record import Cost
    from foldshift.engine.study.declare import Measure, OutputGroup, Table
    from foldshift.engine.study.run import Run

SCALINGS = ("global", "fold", "none")
KERNELS = "<resources>/compiled/kernels.json"
PAGE_RULES = ("write_study_page", "write_index")
FOR_EACH = "foldshift.engine.jobs.each_dataset.for_each"
WARM_UP_SHIFT = "foldshift.engine.jobs.warm_up.target_shift"


class RuleFunctions:
    """Answers to the questions of rules: files, parameters, digests of code and expected costs.

    Methods that take `wildcards` have the form in which Snakemake calls them. With `has_storage`, inputs and outputs are in a
    bucket or the like, and not in folders that every job sees.
    """

    def __init__(self, configured: Configured, root: Path, has_storage: bool) -> None:
        self.config, self.catalogue, self.learners = configured.config, configured.catalogue, configured.learners
        self.runs, self.root, self.has_storage = configured.runs, root, has_storage
        self.layouts = {study: run.layout for study, run in self.runs.items() if run.is_cut}
        self._names = {unit: names for run in self.runs.values() for unit, names in run.units.members.items()}
        self._cost = cache(self._added_cost)
        self.tasks: dict[str, Any] = {study: run.found.task for study, run in self.runs.items()}
        self._published = {study: PublishedStudy(run, root) for study, run in self.runs.items()}
        self.spare_minutes = 10 + (self.config["cell_minutes"] or 0)  # an evaluation may once run into the limit of a cell
        self._digest = cache(self._digest_of_files)

    # Digests of code

    def code(self, script: str | Path, objects: Iterable[str] = (), tables: bool = True, called: Iterable[str] = ()) -> str:
        """Digest of a script and of the modules it rests on, as a parameter: an edited module plans exactly its dependents again.

        As inputs, some fifty files for each job, they were nine tenths of all that Snakemake looks up for a plan. The digest is
        that of the code when the run began; the next run sees an edit made while a job runs. With `tables`, a script that cuts by
        name rests on all partitioners; without, on those among `objects`.
        """
        return self._digest(script, tuple(objects), tables, tuple(called))

    def _digest_of_files(self, script: str | Path, objects: tuple[str, ...], tables: bool, called: tuple[str, ...]) -> str:
        path = script if isinstance(script, Path) else self.root / "scripts" / f"{script}.py"
        files = module_files(path, objects=objects, called=called, tables=tables)
        if tables and str(self.root / "src/foldshift/partition/registry.py") in files:
            own = [entry["import"] for entry in self.config["own_partitioners"].values()]
            files = module_files(path, objects=[*objects, *own], called=called)
        # Names below the workflow or the working directory, so that a folder that was moved has the same digest.
        return digest(files, (Path.cwd(), self.root))

    def learner_code(self, script: str) -> Callable[[Any], str]:
        """Make the function for the code of an evaluation: the script, and the modules of the task and learners of a job."""

        def digest_of(wildcards: Any) -> str:
            learners = self.learners_of_job(wildcards).values()
            task = TASK_OBJECTS[self.tasks[wildcards.study]]
            return self.code(script, [task, *(entry["import"] for entry in learners)], tables=False)

        return digest_of

    def folds_code(self, wildcards: Any) -> str:
        """Code of the partitioning, with the modules of the partitioners of the bundle and of no others."""
        choices = self.partitioners_of_job(wildcards).values()
        paths = [one["import"] if "import" in one else import_path(one["partitioner"]) for one in choices]
        return self.code("make_folds", paths, tables=False)

    def measure_code(self, run: Run, measure: Measure) -> str:
        """Code that the rows of a measure rest on: its function, and the learners and partitioners that it declares."""
        own = {name: entry["import"] for name, entry in self.config["own_partitioners"].items()}
        learners = [self.learners[name]["import"] for name in measure.learners(run)]
        partitioners = [own.get(name) or import_path(name) for name in measure.partitioners(run)]
        return self.code("measure", [*learners, *partitioners], tables=False, called=[run.found.path(measure.function)])

    # What a job works through: functions of its labels alone

    def learners_of_job(self, wildcards: Any) -> dict[str, dict[str, Any]]:
        """Entries of the learners of a job, by id."""
        layout = self.layouts[wildcards.study]
        return _by_name(layout.learner(label) for label in wildcards.learners.split("+"))

    def partitioners_of_job(self, wildcards: Any) -> dict[str, dict[str, Any]]:
        """Partitioners of the bundle of a job, by id, with their options."""
        layout = self.layouts[wildcards.study]
        return _by_name(layout.partitioner(label) for label in bundle_of(wildcards.bundle)[0])

    def iterations_of_job(self, wildcards: Any) -> dict[int, int]:
        """Partitions per seed or experiment, by number of folds."""
        return dict(map(scheme_of, bundle_of(wildcards.bundle)[1]))

    def cuts_of_job(self, wildcards: Any) -> list[tuple[str, int]]:
        """Partitioners, by id, and numbers of folds of an evaluation."""
        layout = self.layouts[wildcards.study]
        partitioners, schemes = bundle_of(part_of(wildcards.bundle, wildcards.part))
        return [(layout.partitioner(name)["name"], scheme_of(scheme)[0]) for scheme in schemes for name in partitioners]

    # Units: the name of one stands where that of a data set does

    def _names_of(self, wildcards: Any) -> tuple[str, ...]:
        """Data sets that a job works through."""
        return self._names.get(wildcards.dataset, (wildcards.dataset,))

    def members(self, wildcards: Any) -> dict[str, Any]:
        """Data sets of the unit of a job; nothing where the job has one data set."""
        return _of_each({name: {} for name in self._names.get(wildcards.dataset, ())})

    def members_to_fetch(self, wildcards: Any) -> dict[str, Any]:
        """The same, of the job that fetches them or prepares them."""
        names = self._names.get(wildcards.dataset, ())
        return _of_each({name: {"entry": self._entry(name), "lock": self._lock(name)} for name in names})

    # Files

    def _entry(self, name: str) -> dict[str, Any]:
        return dict(vars(self.catalogue[name]))

    def _lock(self, name: str) -> str:
        return f"{self.config['resources']}/checksums/{name}.txt"

    def entry_of(self, wildcards: Any) -> dict[str, Any]:
        """Catalogue entry of a data set, as plain values."""
        return {} if wildcards.dataset in self._names else self._entry(wildcards.dataset)

    def lock_of(self, wildcards: Any) -> str:
        """File with the checksum of the first use of a data set."""
        return self._lock(wildcards.dataset)

    def local_sources(self, wildcards: Any) -> list[str]:
        """The user's own files of a data set, as inputs: an edited file plans its dependents again. Of a unit none: their digest
        does, and Snakemake need not look at each of a hundred thousand files."""
        return [] if wildcards.dataset in self._names else local_files(self.catalogue[wildcards.dataset])

    def local_contents(self, wildcards: Any) -> str:
        """Digest of the user's own files of a data set, as a parameter: another file of the same name plans its dependents again,
        also one with an older time stamp."""
        files = [file for name in self._names_of(wildcards) for file in local_files(self.catalogue[name])]
        return "".join(content_of(file).sha256[:16] for file in files)

    def origins_of_study(self, wildcards: Any) -> list[str]:
        """Files that record where the data of a study came from."""
        run = self.runs[wildcards.study]
        return run.units.stored_files(run.fetched())

    def prepared_data(self, wildcards: Any) -> str:
        """Prepared data set with the scaling of the study."""
        scaling = self.config["studies"][wildcards.study]["scaling"]
        return f"<resources>/prepared/{scaling}/{wildcards.dataset}.npz"

    def data_to_cut(self, wildcards: Any) -> str:
        """Prepared data set for the partitioners: those of classes scale the inputs themselves, as their distance needs."""
        if self.tasks[wildcards.study] == "classification":
            return f"<resources>/prepared/none/{wildcards.dataset}.npz"
        return self.prepared_data(wildcards)

    def wanted_folds(self, wildcards: Any) -> dict[str, Any]:
        """Partitioners and seeds that are wanted of files of folds that may hold more."""
        return self.runs[wildcards.study].wanted_folds(wildcards.dataset)

    def wanted_scores(self, wildcards: Any) -> dict[str, Any]:
        """Learners, partitioners and seeds that are wanted of files of scores that may hold more."""
        return self.runs[wildcards.study].wanted_scores(wildcards.dataset)

    def shift_of_dataset(self, wildcards: Any) -> list[str]:
        """Files of the target shift of all folds of a data set."""
        return self.runs[wildcards.study].shift(wildcards.dataset)

    def item_inputs(self, run: Run, group: OutputGroup) -> dict[str, Any]:
        """Files that tables and figures are made of, by name: those of units in place of those of their data sets."""
        return {name: run.units.stored_files(paths) for name, paths in group.inputs(run).items()}

    def scores_of_dataset(self, wildcards: Any) -> list[str]:
        """Files of the scores of all learners, cells and seeds of a data set."""
        return self.runs[wildcards.study].scores(wildcards.dataset)

    def study_page_files(self, wildcards: Any) -> dict[str, list[str]]:
        """Files that the page of a study in the report is made from, by name of the input."""
        run = self.runs[wildcards.study]
        return page_files(run) | {"published": self.published_files(run)}

    def study_page_facts(self, wildcards: Any) -> dict[str, Any]:
        """Facts that the page of a study shows beside its results."""
        return page_facts(self.runs[wildcards.study])

    def kernels_stamp(self) -> list[str]:
        """Stamp of the compiled code, where jobs call it and find what another one compiled; none in archived mode."""
        return [] if self.config["archived"] or self.has_storage else [KERNELS]

    # Expected costs

    def _added_cost(self, function: Callable[..., Cost], kind: str, study: str, dataset: str, names: tuple[str, ...]) -> Cost:
        """Cost of a job: of all data sets of a unit, one after the other."""
        layout, task = self.layouts[study], self.tasks[study]
        return added([function(layout, task, name, *names) for name in self._names.get(dataset, (dataset,))], START[kind])

    def cost_of_fetching(self, wildcards: Any) -> Cost:
        """Expected cost of reading and checking a table."""
        return added([fetch_cost(shape_of(self.catalogue[name])) for name in self._names_of(wildcards)], FETCH)

    def cost_of_preparing(self, wildcards: Any) -> Cost:
        """Expected cost of preparing a data set."""
        return added([prepare_cost(shape_of(self.catalogue[name])) for name in self._names_of(wildcards)], PREPARE)

    def cost_of_folds(self, wildcards: Any) -> Cost:
        """Expected cost of cutting."""
        return self._cost(folds_cost, "light", wildcards.study, wildcards.dataset, (wildcards.bundle, wildcards.block))

    def cost_of_shift(self, wildcards: Any) -> Cost:
        """Expected cost of measuring the target shift."""
        return self._cost(shift_cost, "light", wildcards.study, wildcards.dataset, (wildcards.bundle, wildcards.block))

    def cost_of_scores(self, wildcards: Any) -> Cost:
        """Expected cost of an evaluation."""
        names = tuple(wildcards[key] for key in ("bundle", "held", "part", "learners", "block"))
        return self._cost(scores_cost, "learners", wildcards.study, wildcards.dataset, names)

    def cost_of_collecting(self, wildcards: Any) -> Cost:
        """Expected cost of collecting scores."""
        return self._cost(collect_cost, "light", wildcards.study, wildcards.dataset, ())

    def seconds_of_compiling(self, wildcards: Any, threads: int) -> float:
        """Expected time of compiling what no earlier run has kept."""
        paths = {
            *(entry["import"] for entry in self.compiled_learners().values()),
            *map(import_path, self.compiled_partitioners()),
            *self.first_calls(),
        }
        return compile_seconds(paths, threads, kept_paths(paths))

    # What is compiled

    def compiled_learners(self) -> dict[str, dict[str, Any]]:
        """Learners of the library that the run fits, by id: code of others is not kept."""
        names = {
            name
            for run in self.runs.values()
            for name in (
                *(run.learner_ids if run.found.task else ()),
                *(name for measure in run.measures() for name in measure.learners(run)),
            )
        }
        own = {name for name in names if self.learners[name]["import"].startswith("foldshift.")}
        return {name: self.learners[name] for name in sorted(own)}

    def compiled_partitioners(self) -> list[str]:
        """Partitioners of the library that are used and whose first call compiles: those that look at inputs."""
        choices = (one for layout in self.layouts.values() for one in layout.record()["partitioners"].values())
        used = {choice.get("partitioner") for choice in choices}
        for run in self.runs.values():
            for measure in run.measures():
                used.update(measure.partitioners(run))
        return [name for name, one in PARTITIONERS.items() if name in used and one.looks_at_inputs]

    def first_calls(self) -> list[str]:
        """Functions that make the first call of what is measured besides scores."""
        shift = any(self.tasks[study] == "regression" for study in self.layouts)
        measures = [(run, measure) for run in self.runs.values() for measure in run.measures() if measure.first_call]
        return sorted({*([WARM_UP_SHIFT] if shift else []), *(run.found.path(one.first_call) for run, one in measures)})

    # Lists for the rules of all studies

    def studies_pattern(self, task: str) -> str:
        """Regular expression of the studies of a task that the engine cuts; one that matches nothing where there are none."""
        return "|".join(study for study in self.layouts if self.tasks[study] == task) or "-"

    def rules_of_studies(self) -> list[str]:
        """Files of rules that studies have beside those of the engine."""
        files = [run.found.folder / "rules.smk" for run in self.runs.values()]
        return [str(file) for file in files if file.is_file()]

    def reporting_rules(self) -> list[str]:
        """Names of the rules that make tables and figures, and the pages that show them."""
        made = [f"{run.id}_{group.name}" for run in self.runs.values() for group, _ in run.items()]
        return made + [f"{run.id}_published" for run, _ in self.published()] + list(PAGE_RULES)

    def published(self) -> list[tuple[Run, PublishedStudy]]:
        """Studies whose published results are shown beside those of the run."""
        return [(self.runs[study], found) for study, found in self._published.items() if found.items]

    def published_files(self, run: Run) -> list[str]:
        """Pages of the published results of a study."""
        return self._published[run.id].outputs()

    def item_targets(self) -> dict[str, list[str]]:
        """Files of every table and figure by ``<study>_<name>``, where no measure has that name."""
        found: dict[str, list[str]] = {}
        for run in self.runs.values():
            for _, some in run.items():
                for item in some:
                    found.setdefault(f"{run.id}_{item.name}", []).extend(map(run.file, item.files()))
        taken = {f"{run.id}_{measure.name}" for run in self.runs.values() for measure in run.measures()}
        return {name: files for name, files in found.items() if name not in taken}

    def unmeasured_learners(self) -> list[str]:
        """Learners that the table of costs does not know."""
        return sorted({name for layout in self.layouts.values() for name in layout.unmeasured()})

    def archived_imports(self) -> list[str]:
        """Import paths of the learners and user-defined partitioners that the results of an archive rest on."""
        learners = {self.learners[name]["import"] for run in self.runs.values() if run.found.task for name in run.learner_ids}
        return sorted(learners | {entry["import"] for entry in self.config["own_partitioners"].values()})

    def user_studies(self) -> dict[str, str]:
        """Folders of the studies that do not come with the library, by id."""
        return {study: str(run.found.folder) for study, run in self.runs.items() if run.found.package == study}

    # Jobs of a measure: functions of the wildcards

    def measure_inputs(self, run: Run, measure: Measure) -> Callable[[Any], dict[str, Any]]:
        """Make the function for the inputs of a job of a measure: of the first data set of a unit, whose others are alike."""

        def inputs(wildcards: Any) -> dict[str, Any]:
            found = measure.inputs(run, run.cells_of_job(measure, _cell_of(wildcards))[0])
            return {name: run.units.stored_files(paths) for name, paths in found.items()}

        return inputs

    def measure_params(self, run: Run, measure: Measure) -> Callable[[Any], dict[str, Any]]:
        """Make the function for the further arguments of a job of a measure; of the first data set of a unit."""
        return lambda wildcards: measure.params(run, run.cells_of_job(measure, _cell_of(wildcards))[0])

    def measure_members(self, run: Run, measure: Measure) -> Callable[[Any], dict[str, Any]]:
        """Make the function for the data sets of a job of a measure, with arguments where they are not those of the first."""

        def members(wildcards: Any) -> dict[str, Any]:
            if getattr(wildcards, "dataset", None) not in self._names:
                return {}
            found = {cell["dataset"]: measure.params(run, cell) for cell in run.cells_of_job(measure, _cell_of(wildcards))}
            first = next(iter(found.values()))
            return _of_each({name: {} if own == first else {"arguments": own} for name, own in found.items()})

        return members

    def measure_cost(self, run: Run, measure: Measure) -> Callable[[Any], Cost]:
        """Make the function for the expected cost of a job of a measure."""

        @cache
        def cost(cell: tuple[tuple[str, str], ...]) -> Cost:
            return added(
                [run.measure_cost(measure, one) for one in run.cells_of_job(measure, dict(cell))], START_MEASURE["measure"]
            )

        return lambda wildcards: cost(tuple(_cell_of(wildcards).items()))


def item_words(item: Table, key: str) -> dict[str, str]:
    """Facts that a job needs to know of an item that it makes."""
    return {"key": key, "name": item.name, "kind": item.kind, "title": item.title, "caption": item.caption}


def rule_descriptions(runs: Mapping[str, Run], fill: Callable[[str], str]) -> dict[str, str]:
    """Descriptions of the rules that are made from declarations, for ``snakemake --list``; `fill` shows a message without a
    job."""
    found = {"plan_paper": "Plan of the five papers in full: jobs, time, memory. Nothing is started."}
    for run in runs.values():
        title = run.found.title
        groups: list[OutputGroup | Measure] = [*(group for group, _ in run.items()), *run.measures()]
        found[run.id] = f"Tables and figures of {title}."
        found[f"plan_{run.id}"] = f"Plan of a run of {title}: jobs, time, memory. Nothing is started."
        found[f"{run.id}_rows"] = f"All rows of {title}: what its tables are made of."
        found[f"{run.id}_published"] = f"Published tables and figures of {title}, full scale, to stand beside those of a run."
        found |= {f"{run.id}_{group.name}": f"{title}: {fill(group.message)}." for group in groups}
        for group, some in run.items():  # each of them is a target as well: <study>_<name>
            if names := dict.fromkeys(item.name for item in some if item.name != group.name):
                found[f"{run.id}_{group.name}"] += f" Items: {', '.join(names)}."
    return found


def _of_each(datasets: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Find how a job works through data sets: a function, as a path so that code of no other job rests on it, and the parameters
    that are a data set's own; nothing, where there are none."""
    return {"run": FOR_EACH, "datasets": datasets} if datasets else {}


def _by_name(entries: Iterable[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Entries of labels, by their names."""
    return {entry["name"]: {key: value for key, value in entry.items() if key != "name"} for entry in entries}


def _cell_of(wildcards: Any) -> dict[str, str]:
    """The cell of a job of a measure."""
    return dict(wildcards.items())
