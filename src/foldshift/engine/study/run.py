"""A study under one configuration: the facts that its declarations may ask for, and the files that follow from them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from foldshift.engine.config.learners_file import configured_learners
from foldshift.engine.config.schemes import iterations
from foldshift.engine.costs.dataset_shapes import shape_of
from foldshift.engine.jobs.user_code import DECLARED, call_own
from foldshift.engine.layout import reuse as kept
from foldshift.engine.layout.file_names import labels_of, learner_content
from foldshift.engine.layout.job_layout import every, of_experiments
from foldshift.engine.layout.reuse import files_below
from foldshift.engine.layout.units import Units
from foldshift.engine.study.declare import Cost

if TYPE_CHECKING:
    from foldshift.datasets.catalogue_entry import CatalogueEntry
    from foldshift.engine.costs.fit_costs import CostModel, LearnerCost
    from foldshift.engine.layout.job_layout import JobLayout
    from foldshift.engine.study.declare import Measure, OutputGroup, Study, Table
    from foldshift.engine.study.find import StudyInfo

START = {"measure": 1.5, "items": 1.3}  # seconds of Python with SciPy and PyArrow; with pandas and Matplotlib


class Run:
    """A study under one configuration.

    Files are paths with ``<results>`` and ``<resources>`` in front, which Snakemake fills in.

    Parameters
    ----------
    found : foldshift.engine.study.find.StudyInfo
        The study.
    declared : foldshift.engine.study.declare.Study
        What it declares.
    config : dict
        Resolved configuration.
    catalogue : dict of str to foldshift.datasets.catalogue_entry.CatalogueEntry
        The data sets.
    learners : dict of str to dict
        The learners file, as `foldshift.engine.config.learners_file.read_learners` reads it.
    costs : foldshift.engine.costs.fit_costs.CostModel
        What a fit costs.
    layout : foldshift.engine.layout.job_layout.JobLayout, optional
        How the engine cuts the study into jobs; only for a study that it cuts.
    results_here : bool, default=True
        Whether files of earlier runs can be looked up below the folder of the results.

    Attributes
    ----------
    id : str
        Id of the study.
    settings : dict
        Its settings as the configuration has them.
    master_seed : int
    """

    def __init__(
        self,
        found: StudyInfo,
        declared: Study,
        config: dict[str, Any],
        catalogue: dict[str, CatalogueEntry],
        learners: dict[str, dict[str, Any]],
        costs: CostModel,
        layout: JobLayout | None = None,
        results_here: bool = True,
    ) -> None:
        self.found, self.declared, self.id = found, declared, found.id
        self.config, self.settings = config, config["studies"][found.id]
        self.catalogue, self.learners, self._layout = catalogue, learners, layout
        self.master_seed = config["master_seed"]
        self.costs = costs
        self.shape = cache(lambda dataset: shape_of(catalogue[dataset]))
        self.cells = cache(self._cells)
        self._names_in = cache(lambda folder: [path.rpartition(".")[0] for path in files_below(folder)] if results_here else [])

    @property
    def is_cut(self) -> bool:
        """True if the engine cuts the study's data sets and evaluates its learners."""
        return self._layout is not None

    @property
    def layout(self) -> JobLayout:
        """Layout of the study's jobs.

        Raises
        ------
        ValueError
            If the study does not declare ``cuts=True``.
        """
        if self._layout is None:
            raise ValueError(f"study {self.id} has no folds and scores; declare Study(cuts=True) if the engine is to make them")
        return self._layout

    # What is studied

    @property
    def datasets(self) -> list[str]:
        """Names of the study's data sets in the catalogue."""
        return self.settings.get("datasets", [])

    @cached_property
    def words(self) -> dict[str, Any]:
        """Settings as functions and captions get them: of the configuration, ``master_seed``, and what the study derives."""
        return self.settings | {"master_seed": self.master_seed} | self.declared.derive(self)

    @property
    def schemes(self) -> dict[int, int]:
        """Number of folds k to partitions per experiment."""
        return iterations(self.settings["schemes"]) if "schemes" in self.settings else dict.fromkeys(self.settings["n_folds"], 1)

    @cached_property
    def ids(self) -> dict[str, dict[str, str]]:
        """Ids of the learners by configuration (paper, corrected) and learner."""
        return configured_learners(self.settings, self.learners)

    @property
    def learner_ids(self) -> list[str]:
        """Ids of the learners of all configurations, each once."""
        return list(dict.fromkeys(name for ids in self.ids.values() for name in ids.values()))

    def entries(self, ids: Iterator[Any] | None = None) -> dict[str, dict[str, Any]]:
        """Entries of the learners file by id; of all learners of the study, where none are named."""
        return {name: self.learners[name] for name in (self.learner_ids if ids is None else ids)}

    def pick(self, *keys: Any) -> dict[str, Any]:
        """Select settings by name."""
        return {key: self.settings[key] for key in keys}

    def fit_cost(self, learner: str, n_rows: int, n_features: int) -> LearnerCost:
        """Cost of a learner on a data set of some size: ``seconds_per_fit``, ``seconds_once``, ``peak_mb``."""
        return self.costs(learner, n_rows, n_features)

    # Files

    def prepared(self, dataset: str, scaling: str, ending: str = "npz") -> str:
        """A prepared data set, or (``ending="json"``) its description."""
        return f"<resources>/prepared/{scaling}/{dataset}.{ending}"

    def population(self, name: str) -> list[Any] | str:
        """The prepared data set that samples are drawn from; no file, where the population is generated."""
        return self.prepared(name, "none") if name in self.catalogue else []

    def descriptions(self) -> list[str]:
        """Descriptions of the prepared data sets that the tables of the study use."""
        scaling = self.declared.prepared(self.settings)
        return [self.prepared(name, scaling, "json") for name in self.datasets] if scaling else []

    def fetched(self) -> Any:
        """Files that say where the data of the study came from."""
        if self.declared.origins is not None:
            return self.declared.origins(self)
        return [f"<resources>/fetched/{name}.json" for name in sorted(self.datasets)]

    def origins(self) -> list[str]:
        """The same, in the order of the data sets."""
        return [f"<resources>/fetched/{name}.json" for name in self.datasets]

    def file(self, path: str) -> str:
        """A result by its path below the results of the study."""
        return f"<results>/{self.id}/{path}"

    def table(self, name: str) -> str:
        """A table of the study, as CSV."""
        return self.file(f"tables/{name}.csv")

    def printed(self, name: str) -> str:
        """The printed numbers of a table: ``printed/<name>.csv`` in the folder of the study."""
        return str(self.found.folder / "printed" / f"{name}.csv")

    def per_dataset(self, kind: str, ending: str = "parquet") -> list[str]:
        """Files that the engine makes once for each data set: ``seed_scores``, ``failures`` ..."""
        return [self.file(f"{kind}/{name}.{ending}") for name in self.datasets]

    def folds(self, dataset: str, chosen: Callable[..., Any] = every, n_seeds: int | None = None) -> list[str]:
        """Files of folds of a data set; they may hold more than is wanted: `wanted_folds` says what is, for
        `foldshift.engine.storage.fold_files.join_folds`.

        Parameters
        ----------
        dataset : str
        chosen : callable, optional
            ``chosen(cell)``: whether a `foldshift.engine.layout.job_layout.CutSpec` is wanted.
        n_seeds : int, optional
            Only files with some of the first seeds.

        Returns
        -------
        files : list of str
            In the order of their seeds.
        """
        return list(map(self.file, self.layout.folds_files(dataset, chosen, n_seeds)))

    def wanted_folds(
        self, dataset: str, chosen: Callable[..., Any] = every, n_seeds: int | None = None
    ) -> dict[str, dict[str, Any]]:
        """Selection of `folds` that a function needs, as plain values; parameters as there."""
        return self.layout.wanted_folds(dataset, chosen, n_seeds)

    def shift(self, dataset: str) -> list[str]:
        """Files of the target shift of all folds of a data set."""
        return list(map(self.file, self.layout.shift_files(dataset)))

    def scores(self, dataset: str, chosen: Callable[..., Any] = every) -> list[str]:
        """Files of scores of a data set; as `folds`."""
        return list(map(self.file, self.layout.score_files(dataset, chosen)))

    def predictions(self, dataset: str, chosen: Callable[..., Any] = of_experiments) -> list[str]:
        """Files of predictions of the classes of a data set; as `folds`."""
        return list(map(self.file, self.layout.prediction_files(dataset, chosen)))

    def wanted_scores(self, dataset: str, chosen: Callable[..., Any] = every) -> dict[str, dict[str, Any]]:
        """Selection of `scores` and `predictions` that a function needs, as plain values."""
        return self.layout.wanted_scores(dataset, chosen)

    def rows(self, kind: str) -> list[str]:
        """Rows that a measure of the study writes: the files of one kind, of all cells.

        Raises
        ------
        KeyError
            If no measure writes such rows.
        """
        for measure in self.declared.measures:
            if kind in measure.rows:
                return [self.file(measure.rows[kind].format(**cell)) for cell in self.cells(measure)]
        raise KeyError(f"{self.id}: no measure writes rows of kind {kind!r}")

    def blocks(self, folder: str, n: int, size: int) -> list[str]:
        """Names of blocks of repetitions, ``first-last``: those whose rows exist, and new ones for the rest.

        Parameters
        ----------
        folder : str
            Where the rows of a block stand, below the results of the study.
        n : int
            Repetitions wanted.
        size : int
            Repetitions of a new block.

        Returns
        -------
        names : list of str
        """
        return kept.blocks(self._names_in(f"{self.config['results']}/{self.id}/{folder}"), n, size)

    def pieces(self, folder: str, wanted: dict[tuple[str, ...], int], size: int) -> list[tuple[str, ...]]:
        """Names of pieces of work: those whose rows exist, and new ones for the rest, so that what is added is all that is made.

        Parameters
        ----------
        folder : str
            Where the rows stand, below the results of the study: in ``{values on each axis}/{block}``.
        wanted : dict of tuple of str to int
            Cells to repetitions, in the order of the configuration; learners by `learner_label`.
        size : int
            Repetitions of a new piece.

        Returns
        -------
        names : list of tuple of str
            Values on every axis, joined by ``+``, and the block.
        """
        return kept.pieces(self._names_in(f"{self.config['results']}/{self.id}/{folder}"), wanted, size)

    @cached_property
    def _labels(self) -> dict[str, str]:
        return labels_of({name: learner_content(entry) for name, entry in self.learners.items()}, {})

    def learner_label(self, name: str) -> str:
        """A learner by id, with digits that stand for its parameters."""
        return self._labels[name]

    def labelled(self, label: str) -> dict[str, dict[str, Any]]:
        """The entry of the learners file that a label stands for, by its id."""
        return self.entries(name for name in self.learner_ids if self.learner_label(name) == label)

    # Units of many data sets: declarations name the files of data sets, rules those that hold them

    @property
    def units(self) -> Units:
        """Data sets that share jobs and files."""
        return self._layout.units if self._layout else Units()

    @cached_property
    def _cells_of_units(self) -> dict[str, dict[tuple[Any, ...], list[dict[str, str]]]]:
        """Cells of every measure by the cell of the job that works through them."""
        found: dict[str, dict[tuple[Any, ...], list[dict[str, str]]]] = {}
        for measure in self.measures():
            of_jobs = found.setdefault(measure.name, {})
            for cell in self.cells(measure):
                of_jobs.setdefault(self._job_cell(cell), []).append(cell)
        return found

    def _job_cell(self, cell: dict[str, str]) -> tuple[Any, ...]:
        """Cell of the job that works through a cell, in a form that can be looked up."""
        return tuple(sorted((cell | {"dataset": self.units.of(cell["dataset"])} if "dataset" in cell else cell).items()))

    def cells_of_job(self, measure: Measure, cell: dict[str, str]) -> list[dict[str, str]]:
        """Cells that one job of a measure works through: of all data sets of a unit, or the one that is asked for."""
        return self._cells_of_units[measure.name].get(self._job_cell(cell), [cell])

    # What the engine is made from

    def _cells(self, measure: Measure) -> list[dict[str, str]]:
        return [{key: str(value) for key, value in cell.items()} for cell in measure.cells(self)]

    def measures(self) -> list[Measure]:
        """Measures that have at least one cell."""
        return [measure for measure in self.declared.measures if self.cells(measure)]

    def items(self) -> list[tuple[OutputGroup, tuple[Table, ...]]]:
        """Groups of outputs, each with those of its items that this run has."""
        chosen = [(items, tuple(item for item in items.items if item.when(self))) for items in self.declared.items]
        return [(items, some) for items, some in chosen if some]

    def engine_rows(self) -> list[str]:
        """Rows of one kind per data set that the engine makes for a study that it cuts: what tables rest on."""
        if not self.is_cut:
            return []
        kinds = ["seed_scores"] + (["seed_shift"] if self.found.task == "regression" else [])
        of_datasets = [*(path for kind in kinds for path in self.per_dataset(kind)), *self.per_dataset("failures", "json")]
        return self.units.stored_files(of_datasets)

    def archived(self) -> list[str]:
        """Files that an archive holds beside tables and figures: scores, and all rows that tables are made of."""
        by_file: list[str] = []
        for name in self.datasets if self.is_cut else ():
            by_file += [*self.scores(name), *(self.shift(name) if self.found.task == "regression" else ())]
        return [*self.units.stored_files(by_file), *self.engine_rows(), *self.measured(archived_only=True)]

    def measured(self, archived_only: bool = False) -> list[str]:
        """All rows that the study's own measures write."""
        return self.units.stored_files(
            [
                self.file(path.format(**cell))
                for measure in self.measures()
                if measure.archived or not archived_only
                for path in measure.rows.values()
                for cell in self.cells(measure)
            ]
        )

    def outputs(self) -> list[str]:
        """Tables and figures in all their forms."""
        return [self.file(path) for _, some in self.items() for item in some for path in item.files()]

    def measure_cost(self, measure: Measure, cell: dict[str, Any]) -> Cost:
        """Cost of one job of a measure, with the start of Python."""
        cost = measure.cost(self, cell)
        return Cost(START["measure"] + cost.seconds, cost.mb, cost.writes_mb)

    def items_seconds(self, items: OutputGroup) -> float:
        """Expected time of a job that makes items, with the start of Python."""
        return START["items"] + (items.seconds(self) if callable(items.seconds) else items.seconds)

    def n_fits(self) -> int:
        """Number of fits that the engine makes for this study: what the time of tables grows with."""
        fits = {name: sum(cell.n_seeds * cell.k * cell.iterations for cell in self.layout.cells(name)) for name in self.datasets}
        return sum(n * len(self.layout.learners_of(name)) for name, n in fits.items())

    def rule_message(self, message: str) -> str:
        """Convert a message of a declaration to the form of Snakemake, with wildcards."""
        return f"{self.found.title}: " + re.sub(r"{(\w+)}", r"{wildcards.\1}", message)


def rehearse(run: Run) -> None:
    """Call every function that a user-defined study declares once, so that its errors are reported in one line (OwnCodeError)."""

    def ask(what: str, function: Callable[..., Any], *arguments: Any) -> Any:
        return call_own(f"{run.id}.study ({what})", DECLARED, function, *arguments)

    ask("derive", lambda: run.words)
    for measure in run.declared.measures:
        for cell in ask(f"cells of {measure.name}", run.cells, measure)[:1]:
            for what in ("inputs", "params", "cost"):
                ask(f"{what} of {measure.name}", getattr(measure, what), run, cell)
            ask(f"rows of {measure.name}", lambda cell=cell, rows=measure.rows: [path.format(**cell) for path in rows.values()])
        for what in ("learners", "partitioners"):
            ask(f"{what} of {measure.name}", getattr(measure, what), run)
    for items in run.declared.items:
        for what in ("inputs", "params"):
            ask(f"{what} of {items.name}", getattr(items, what), run)


def own_study_folders(runs: Iterable[Run]) -> list[str]:
    """Absolute folders that jobs must have on their import path for studies that do not come with the library, sorted."""
    return sorted({str(run.found.folder.resolve().parent) for run in runs if run.found.package == run.id})
