"""Layout of a study: existing files are kept, and the rest is cut into jobs of some minutes, by learners and blocks of seeds."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from foldshift.engine.config.learners_file import FIT, configured_learners
from foldshift.engine.costs.dataset_shapes import shape_of
from foldshift.engine.jobs.code_digest import is_installed
from foldshift.engine.layout.bundles import (
    NEIGHBOUR_PARTITIONERS,
    OWN,
    TRUTH,
    Bundle,
    block_range,
    bundles,
    choice_of,
    groups,
)
from foldshift.engine.layout.file_names import (
    ALL,
    bundle_cells,
    bundle_name,
    bundle_of,
    held_folds,
    held_scores,
    in_order,
    labels_of,
    learner_content,
    part_of,
    scheme_name,
    scheme_of,
)
from foldshift.engine.layout.reuse import choose, covered, files_below, missing, tiles
from foldshift.engine.layout.units import Units, kept_units, new_units

if TYPE_CHECKING:
    from foldshift.datasets.catalogue_entry import CatalogueEntry
    from foldshift.engine.costs.fit_costs import CostModel, LearnerCost
    from foldshift.engine.layout.bundles import Variants
    from foldshift.engine.layout.file_names import HeldSeeds

USUAL_METRIC = "heom"  # of the partitioners that look at neighbours, where their label does not tell another
LARGEST_BLOCK = 1024
MOST_FOLD_BYTES = 150_000_000  # of the folds that one job holds in memory
SECONDS_OF_A_DATASET = 0.2  # in a job of many: fetching, preparing, cutting, collecting


def fits_per_seed(bundle: Bundle) -> int:
    """Fits per seed (or experiment) of a bundle: folds of all its partitioners."""
    return len(bundle.partitioners) * sum(k * r for k, r in bundle.iterations.items())


def calls_per_job(bundle: Bundle) -> int:
    """Calls of the shared path per learner and job: one for each partitioner and k."""
    return len(bundle.partitioners) * len(bundle.iterations)


def partitions_per_seed(bundle: Bundle) -> int:
    """Partitions per seed of a bundle."""
    return len(bundle.partitioners) * sum(bundle.iterations.values())


def fold_block(bundle: Bundle, n_rows: int) -> int:
    """Number of seeds whose folds go into one file."""
    return _power_of_two(min(LARGEST_BLOCK, MOST_FOLD_BYTES // (n_rows * partitions_per_seed(bundle))))


def score_block(bundle: Bundle, costs: Iterable[LearnerCost], seconds: float, largest: int) -> int:
    """Number of seeds that one job evaluates."""
    found = largest
    for cost in costs:
        left = seconds - calls_per_job(bundle) * cost.seconds_once
        per_seed = fits_per_seed(bundle) * cost.seconds_per_fit
        found = min(found, _power_of_two(left / per_seed))
    return found


def _power_of_two(number: float) -> int:
    """The largest power of two that is not above a number, at least 1."""
    return 1 << max(int(number).bit_length() - 1, 0) if number >= 1 else 1


def job_seconds(bundle: Bundle, cost: LearnerCost, n_seeds: int) -> float:
    """Predicted seconds of a learner in one job, without starting it."""
    return calls_per_job(bundle) * cost.seconds_once + n_seeds * fits_per_seed(bundle) * cost.seconds_per_fit


def pack(seconds: list[tuple[list[str], float]], limit: float) -> list[list[str]]:
    """Group neighbours while a group stays below a limit in seconds, and below the length of a name."""
    parts: list[list[str]] = []
    total = 0.0
    for names, value in seconds:
        if not parts or total + value > limit:
            parts.append([])
            total = 0.0
        parts[-1].extend(names)
        total += value
    return [group for part in parts for group in groups(part)]


class CutSpec(NamedTuple):
    """One way of cutting a data set that a study wants."""

    kind: str  # see `foldshift.engine.layout.bundles.Bundle`
    partitioner: str  # partitioner, label: Its id, as it stands in rows, and its label, as it stands in the names of files
    label: str
    k: int  # k, iterations: Number of folds, and partitions per seed (experiment)
    iterations: int
    n_seeds: int  # seeds (experiments) wanted

    @property
    def key(self) -> tuple[str, str]:
        """Label and scheme, as in the names of files."""
        return self.label, scheme_name(self.k, self.iterations)


def every(cell: CutSpec) -> bool:
    """Return True for any cell."""
    return True


def of_experiments(cell: CutSpec) -> bool:
    """Return True for cells of experiments, not of the truth."""
    return cell.kind != TRUTH


def of_own_experiments(cell: CutSpec) -> bool:
    """Return True for cells of the study's own partitioners, not of their variants."""
    return cell.kind == OWN


class JobLayout:
    """Files of folds and scores of a study: existing ones that are kept, and new ones for the rest.

    Every process that plans or runs a part of a study finds the same files; see `foldshift.engine.layout.reuse`. What a job does
    follows from the names of its files alone. `recorded` says what labels of earlier runs mean (see `record`).
    ``existing(kind, dataset)`` gives the paths of ``folds`` or ``scores`` that exist, relative to the folder of the data set.
    `units` are data sets that share jobs and files; the name of a unit stands for a data set in every method.
    """

    def __init__(
        self,
        study: str,
        config: dict[str, Any],
        catalogue: dict[str, CatalogueEntry],
        learners: dict[str, dict[str, Any]],
        costs: CostModel,
        recorded: dict[str, dict[Any, Any]] | None = None,
        existing: Callable[..., Any] | None = None,
        variants: Sequence[Variants] = (),
    ) -> None:
        self.study, self.settings = study, config["studies"][study]
        self.seconds = 60 * config["minutes_per_job"]
        self._config, self._catalogue, self._learners, self._costs = config, catalogue, learners, costs
        self._folder = f"{config['results']}/{study}"
        self._existing = existing or (lambda kind, dataset: files_below(f"{self._folder}/{kind}/{dataset}"))
        recorded = recorded or {}
        contents = {name: learner_content(entry) for name, entry in learners.items()}
        self.label_of = labels_of(contents, recorded.get("learners", {}))
        self._recorded_cuts = recorded.get("partitioners", {})
        self._fit_of = {name: entry.get(FIT, name) for name, entry in learners.items()}
        self._known_learners = recorded.get("learners", {}) | {
            self.label_of[name]: {"name": name} | learner_content(entry) for name, entry in learners.items()
        }
        self._variants = variants
        self.bundles = bundles(self.settings, config["partitioners_per_job"], self.partitioner_label, variants)
        self._known_partitioners = recorded.get("partitioners", {}) | {
            self.partitioner_label(name): {"name": name} | self.choice(name)
            for bundle in self.bundles
            for name in bundle.partitioners
        }
        self._current = {name for labels in self.record().values() for name in labels}
        self.units = Units()
        self.shape = cache(self._shape)
        self._learners_at = cache(self._find_learners)
        self._bundles_at = cache(self._find_bundles)
        self._cells_at = cache(self._find_cells)
        self._folds = cache(self._choose_folds)
        self._scores = cache(self._choose_scores)
        self._loadable = cache(self._is_loadable)
        self._cut = cache(self._cut_scores)

    def choice(self, name: str) -> dict[str, Any]:
        """Return how a partitioner cuts: ``partitioner``, or ``import`` of a user-defined function, and ``options``."""
        return choice_of(name, self.settings, self._config["own_partitioners"], self._variants)

    def partitioner_label(self, name: str) -> str:
        """Label of a partitioner: its id, and digits where the id does not say how it cuts."""
        choice = self.choice(name)
        told = "import" not in choice and (name not in NEIGHBOUR_PARTITIONERS or choice["options"]["metric"] == USUAL_METRIC)
        return name if told else labels_of({name: choice}, self._recorded_cuts)[name]

    def record(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Content of the labels of this configuration: entries of ``learners`` and ``partitioners``, with their names, by
        label."""
        used = {name for ids in configured_learners(self.settings, self._learners).values() for name in ids.values()}
        return {
            "learners": {self.label_of[name]: self._known_learners[self.label_of[name]] for name in sorted(used)},
            "partitioners": {
                self.partitioner_label(name): self._known_partitioners[self.partitioner_label(name)]
                for bundle in self.bundles
                for name in bundle.partitioners
            },
        }

    def learner(self, of_label: str) -> dict[str, Any]:
        """Entry of a learner, with its ``name``, by its label: everything that its rows depend on."""
        return self._known_learners[of_label]

    def partitioner(self, of_label: str) -> dict[str, Any]:
        """Entry of a partitioner, with its ``name``, by its label: how it cuts."""
        return self._known_partitioners[of_label]

    def unite(self, least: int | None, recorded: Sequence[dict[str, Any]], alone: Collection[str] = ()) -> None:
        """Choose the data sets that share jobs and files: those that are small, where there are at least so many.

        `recorded` are the units of earlier runs and of other studies, which are kept; data sets in `alone` have files already.
        """
        if least is None:
            return
        wanted = dict.fromkeys(name for name in self.settings["datasets"] if name not in alone)
        units = kept_units(recorded, wanted, self._kind_of)
        for names in units.values():
            for name in names:
                del wanted[name]
        new = new_units(wanted, self._seconds_of, self._kind_of, self.seconds)
        if units or sum(map(len, new.values())) >= least:
            self.units = Units(units | new)

    def _kind_of(self, dataset: str) -> tuple[Any, ...]:
        """Key of what is done with a data set: learners and bundles."""
        rows = self._rows(dataset)
        return tuple(self._learners_at(rows)), tuple((one.kind, one.partitioners) for one in self._bundles_at(rows))

    def _seconds_of(self, dataset: str) -> float:
        """Expected seconds of all work on a data set, in a job of many."""
        rows = self._rows(dataset)
        costs = [self.cost(name, dataset) for name in self._learners_at(rows)]
        fits = sum(job_seconds(bundle, cost, bundle.n_seeds) for bundle in self._bundles_at(rows) for cost in costs)
        return SECONDS_OF_A_DATASET + fits

    def _rows(self, dataset: str) -> int:
        """Rows of a data set, 0 where they are not known; of the first one of a unit, whose members are treated alike."""
        return self._catalogue[self.units.names(self.units.of(dataset))[0]].n_rows or 0

    def _shape(self, dataset: str) -> tuple[int, int]:
        """Rows and columns of a data set; of a unit all rows, and the most columns."""
        shapes = [shape_of(self._catalogue[name]) for name in self.units.names(dataset)]
        return sum(rows for rows, _ in shapes), max(columns for _, columns in shapes)

    def learners_of(self, dataset: str) -> list[str]:
        """Ids of the learners that run on a data set, of all configurations of the study."""
        return self._learners_at(self._rows(dataset))

    def cells(self, dataset: str) -> tuple[CutSpec, ...]:
        """Every `CutSpec` of a data set, in the order of the configuration."""
        return self._cells_at(self._rows(dataset))

    def _find_learners(self, rows: int) -> list[str]:
        """Ids of the learners that run on so many rows."""
        largest = self.settings.get("max_rows", {})
        return list(
            dict.fromkeys(
                name
                for ids in configured_learners(self.settings, self._learners).values()
                for learner, name in ids.items()
                if rows <= largest.get(learner, rows)
            )
        )

    def _find_bundles(self, rows: int) -> list[Bundle]:
        """Bundles that cut so many rows."""
        return [one for one in self.bundles if one.max_rows is None or rows <= one.max_rows]

    def _find_cells(self, rows: int) -> tuple[CutSpec, ...]:
        """Every `CutSpec` of so many rows."""
        return tuple(
            CutSpec(bundle.kind, name, self.partitioner_label(name), k, iterations, bundle.n_seeds)
            for bundle in self._bundles_at(rows)
            for k, iterations in bundle.iterations.items()
            for name in bundle.partitioners
        )

    def wanted_folds(
        self, dataset: str, chosen: Callable[..., Any] = every, n_seeds: int | None = None
    ) -> dict[str, dict[str, Any]]:
        """Partitioners and seeds that a reader takes from files of folds or shift, which may hold more."""
        cells = [cell for cell in self.cells(dataset) if chosen(cell)]
        return {
            "partitioners": {cell.label: cell.partitioner for cell in cells},
            "seeds": {bundle_name(*([part] for part in cell.key)): min(cell.n_seeds, n_seeds or cell.n_seeds) for cell in cells},
        }

    def wanted_scores(self, dataset: str, chosen: Callable[..., Any] = every) -> dict[str, dict[str, Any]]:
        """Learners, partitioners and seeds that a reader takes from files of scores or predictions; see `wanted_folds`."""
        learners = {self.label_of[name]: name for name in self.learners_of(dataset)}
        return {"learners": learners} | self.wanted_folds(dataset, chosen)

    def folds_files(self, dataset: str, chosen: Callable[..., Any] = every, n_seeds: int | None = None) -> list[Any]:
        """Files of folds of a data set."""
        wanted = {cell.key: min(cell.n_seeds, n_seeds or cell.n_seeds) for cell in self.cells(dataset) if chosen(cell)}
        return in_order(f"folds/{dataset}/{file.name}.npz" for file in _with_some_of(self._folds(self.units.of(dataset)), wanted))

    def shift_files(self, dataset: str) -> list[str]:
        """Files of the target shift of a data set, one for each file of folds; see `folds_files`."""
        return [f"shift/{path.removeprefix('folds/').removesuffix('npz')}parquet" for path in self.folds_files(dataset)]

    def score_files(self, dataset: str, chosen: Callable[..., Any] = every) -> list[Any]:
        """Files of scores of a data set; see `folds_files`."""
        return in_order(f"scores/{dataset}/{name}.parquet" for name in self._names_of_scores(dataset, chosen))

    def prediction_files(self, dataset: str, chosen: Callable[..., Any] = of_experiments) -> list[Any]:
        """Files of predictions of a data set; see `folds_files`."""
        return in_order(f"predictions/{dataset}/{name}.npz" for name in self._names_of_scores(dataset, chosen))

    def _names_of_scores(self, dataset: str, chosen: Callable[..., Any]) -> list[str]:
        labels = [self.label_of[name] for name in self.learners_of(dataset)]
        wanted = {(name, *cell.key): cell.n_seeds for cell in self.cells(dataset) if chosen(cell) for name in labels}
        return [file.name for file in _with_some_of(self._scores(self.units.of(dataset)), wanted)]

    def _found(self, kind: str, dataset: str, read: Callable[..., Any]) -> list[HeldSeeds]:
        """List existing files whose labels are known, from this configuration or an earlier one, so that they can be made
        again."""
        found = []
        for path in self._existing(kind, dataset):
            with contextlib.suppress(ValueError):
                file = read(path)
                if all(map(self._is_known, {name for cell in file.cells for name in cell[:-1]})):
                    found.append(file)
        return found

    def _is_known(self, of_label: str) -> bool:
        """Return True if the content of a label is known; for an earlier configuration, its module must still be there."""
        if of_label in self._current:
            return True
        entry = self._known_learners.get(of_label) or self._known_partitioners.get(of_label)
        return entry is not None and ("import" not in entry or self._loadable(entry["import"]))

    def _is_loadable(self, path: str) -> bool:
        """Return True if code that the record of earlier runs names may be run: the configuration names it too, or it is
        installed. Results of somebody else name no code."""
        named = {entry["import"] for entry in [*self._learners.values(), *self._config["own_partitioners"].values()]}
        return self._config["archived"] or path in named or is_installed(path)

    def _choose_folds(self, dataset: str) -> list[HeldSeeds]:
        """Files of folds that are kept, and new ones."""
        wanted = {cell.key: cell.n_seeds for cell in self.cells(dataset)}
        files = choose(self._found("folds", dataset, held_folds), wanted)
        held = covered(files, wanted)
        new = []
        for bundle in self._bundles_at(self._rows(dataset)):
            size = self.settings.get("seeds_per_block") or fold_block(bundle, self.shape(dataset)[0])
            schemes = [scheme_name(k, iterations) for k, iterations in bundle.iterations.items()]
            cells = [(self.partitioner_label(name), scheme) for name in bundle.partitioners for scheme in schemes]
            for tile in tiles(0, bundle.n_seeds, size):
                for axes, start, stop in missing(cells, wanted, held, *tile):
                    new.append(held_folds(f"{bundle_name(*axes)}/{start}-{stop - 1}.npz"))
        return [*files, *new]

    def _choose_scores(self, dataset: str) -> list[HeldSeeds]:
        """Files of scores that are kept, and new ones: within each file of folds, by groups of learners and blocks of seeds."""
        labels = [self.label_of[name] for name in self.learners_of(dataset)]
        cells: dict[tuple[str, ...], int] = {cell.key: cell.n_seeds for cell in self.cells(dataset)}
        wanted = {(name, *cell): n_seeds for name in labels for cell, n_seeds in cells.items()}
        files = choose(self._found("scores", dataset, held_scores), wanted)
        held = covered(files, wanted)
        new = []
        for folds in self._folds(dataset):
            own = [cell for cell in folds.cells if cells.get(cell, 0) > folds.start]
            size, groups_of_learners = self._cut(dataset, folds.name)
            for learners in groups_of_learners:
                members = [(name, *cell) for name in learners for cell in own]
                for tile in tiles(folds.start, folds.stop, size):
                    for (these, *axes), start, stop in missing(members, wanted, held, *tile):
                        bundle = bundle_name(*axes)
                        part = ALL if set(bundle_cells(bundle)) == set(folds.cells) else bundle
                        new.append(held_scores(f"{folds.name}/{part}/{'+'.join(these)}/{start}-{stop - 1}.parquet"))
        return [*files, *new]

    def _cut_scores(self, dataset: str, folds: str) -> tuple[int, list[list[str]]]:
        """Seeds per job, and groups of learners by their labels, for the scores of a file of folds."""
        name, block = folds.split("/")
        bundle, names = bundle_behind(name), self.learners_of(dataset)
        costs = {one: self.cost(one, dataset) for one in names}
        largest = fold_block(bundle, self.shape(dataset)[0])
        size = self.settings.get("seeds_per_block") or score_block(bundle, costs.values(), self.seconds, largest)
        if most := self.settings.get("learners_per_job"):
            return size, groups([self.label_of[one] for one in names], most)
        n_seeds = min(size, block_range(block)[1])
        fits = self._seconds_by_fit(bundle, costs, n_seeds)
        return size, pack([([self.label_of[one] for one in members], seconds) for members, seconds in fits], self.seconds)

    def _seconds_by_fit(self, bundle: Bundle, costs: dict[str, LearnerCost], n_seeds: int) -> list[tuple[list[str], float]]:
        """Learners that share a fit, and predicted seconds of the slowest of them in one job."""
        found: dict[Any, Any] = {}
        for name, cost in costs.items():
            found.setdefault(self._fit_of.get(name, name), {})[name] = job_seconds(bundle, cost, n_seeds)
        return [([*members], max(members.values())) for members in found.values()]

    def cost(self, learner: str, dataset: str) -> LearnerCost:
        """Cost of a learner on a data set; on all of a unit, one after the other."""
        if dataset not in self.units.members:
            return self.cost_at(learner, *self.shape(dataset))
        costs = [self.cost_at(learner, *self.shape(name)) for name in self.units.names(dataset)]
        per_fit, once, peaks, measured = zip(*costs)
        return type(costs[0])(sum(per_fit), sum(once), max(peaks), all(measured))

    def cost_at(self, learner: str, n_rows: int, n_features: int) -> LearnerCost:
        """Cost of a learner on a data set of some size."""
        return self._costs(learner, n_rows, n_features)

    def unmeasured(self) -> list[str]:
        """Learners of the study that the table of costs does not know."""
        names = {name for dataset in self.settings["datasets"] for name in self.learners_of(dataset)}
        return sorted(name for name in names if not self.cost_at(name, 1000, 10).measured)

    def fold_work(self, dataset: str, bundle: str, block: str) -> int:
        """Samples that are put into folds for one file, over all partitioners, k and seeds."""
        return self.shape(dataset)[0] * block_range(block)[1] * partitions_per_seed(bundle_behind(bundle))

    def shift_work(self, dataset: str, bundle: Any, block: str) -> Any:
        """Samples times folds of which the shift is measured, for one file of folds."""
        return self.shape(dataset)[0] * block_range(block)[1] * fits_per_seed(bundle_behind(bundle))

    def job(self, dataset: str, bundle: str, held: str, part: str, learners: str, block: str) -> tuple[float, float]:
        """Predicted seconds of one job, and its memory in MB beside that of an idle process."""
        own, n_seeds = bundle_behind(part_of(bundle, part)), block_range(block)[1]
        costs = {name: self.cost(name, dataset) for one in learners.split("+") for name in [self.learner(one)["name"]]}
        seconds = sum(seconds for _, seconds in self._seconds_by_fit(own, costs, n_seeds))
        # Beside the folds: predictions, class scores and their copies of the largest cell, in doubles.
        cell = 12 * 8 * n_seeds * max(own.iterations.values()) * self.shape(dataset)[0]
        return seconds, max(cost.peak_mb for cost in costs.values()) + (self.fold_work(dataset, bundle, held) + cell) / 1e6


def _with_some_of(files: list[HeldSeeds], wanted: dict[Any, Any]) -> list[HeldSeeds]:
    """Filter the files that hold some of the wanted seeds of a cell."""
    return [file for file in files if any(wanted.get(cell, 0) > file.start for cell in file.cells)]


def bundle_behind(name: str) -> Bundle:
    """Make the bundle that a name stands for; its partitioners are labels."""
    partitioners, schemes = bundle_of(name)
    return Bundle(OWN, partitioners, dict(map(scheme_of, schemes)), 1)
