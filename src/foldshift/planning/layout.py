"""How a study is cut into jobs: learners that one job works through and blocks of seeds, so that every job takes minutes."""

from functools import cache

from foldshift.planning.blocks import Bundle, block_names, block_range, bundles
from foldshift.planning.config import configured_learners
from foldshift.planning.shapes import shape_of

LARGEST_BLOCK = 1024
MOST_FOLD_BYTES = 150_000_000  # of the folds that one job holds in memory
ABLATION = "ablation"


def fits_per_seed(bundle):
    """Fits per seed (or experiment) of a bundle: folds of all its partitioners.

    Parameters
    ----------
    bundle : Bundle

    Returns
    -------
    n_fits : int
    """
    return len(bundle.partitioners) * sum(k * r for k, r in bundle.iterations.items())


def calls_per_job(bundle):
    """Calls of the shared path per learner and job: one for each partitioner and k."""
    return len(bundle.partitioners) * len(bundle.iterations)


def partitions_per_seed(bundle):
    """Partitions per seed of a bundle."""
    return len(bundle.partitioners) * sum(bundle.iterations.values())


def fold_block(bundle, n_rows):
    """Seeds whose folds stand in one file.

    Parameters
    ----------
    bundle : Bundle
    n_rows : int
        Rows of the data set.

    Returns
    -------
    n_seeds : int
        A power of two, at most `LARGEST_BLOCK`, so that the folds of a file take at most `MOST_FOLD_BYTES`.
    """
    return _power_of_two(min(LARGEST_BLOCK, MOST_FOLD_BYTES // (n_rows * partitions_per_seed(bundle))))


def score_block(bundle, costs, seconds, largest):
    """Seeds that one job works through.

    Parameters
    ----------
    bundle : Bundle
    costs : iterable of Cost
        Of the learners.
    seconds : float
        How long a job may take.
    largest : int
        Most seeds, a power of two.

    Returns
    -------
    n_seeds : int
        A power of two: the most with which no learner alone takes longer; it does not depend on how many seeds there are, so that more seeds
        leave the blocks of the fewer as they are.
    """
    found = largest
    for cost in costs:
        left = seconds - calls_per_job(bundle) * cost.seconds_once
        per_seed = fits_per_seed(bundle) * cost.seconds_per_fit
        found = min(found, _power_of_two(left / per_seed))
    return found


def _power_of_two(number):
    """The largest power of two that is not above a number, at least 1."""
    return 1 << max(int(number).bit_length() - 1, 0) if number >= 1 else 1


def job_seconds(bundle, cost, n_seeds):
    """Predicted seconds of a learner in one job, without starting it."""
    return calls_per_job(bundle) * cost.seconds_once + n_seeds * fits_per_seed(bundle) * cost.seconds_per_fit


def pack(seconds, limit):
    """Put neighbours together while they stay below a limit.

    Parameters
    ----------
    seconds : dict of str to float
        Predicted seconds by name, in the order of the configuration.
    limit : float
        Most seconds of a group, unless one name alone takes longer.

    Returns
    -------
    groups : dict of str to list of str
        Members by the name of the group, which joins them by ``+``. A name that is added at the end changes the last group only.
    """
    parts, total = [], 0.0
    for name, value in seconds.items():
        if not parts or total + value > limit:
            parts.append([])
            total = 0.0
        parts[-1].append(name)
        total += value
    return {"+".join(part): part for part in parts}


class Layout:
    """The jobs of a study that cut data sets and evaluate learners.

    Parameters
    ----------
    study : str
        Id of the study.
    config : dict
        Resolved configuration.
    catalogue : dict of str to foldshift.datasets.entry.CatalogueEntry
        The data sets.
    learners : dict of str to dict
        The learners file, as `foldshift.planning.config.read_learners` reads it.
    costs : foldshift.planning.costs.CostModel
        What a fit costs.

    Attributes
    ----------
    bundles : dict of str to Bundle
        What one job cuts, by name.
    """

    def __init__(self, study, config, catalogue, learners, costs):
        self.settings = config["studies"][study]
        self.seconds = 60 * config["minutes_per_job"]
        self.bundles = bundles(self.settings, config["partitioners_per_job"])
        self._catalogue, self._learners, self._costs = catalogue, learners, costs
        self.shape = cache(lambda dataset: shape_of(catalogue[dataset]))
        self.learners_of = cache(self._learners_of)
        self._chosen = cache(self._choose)

    def cuts(self, dataset):
        """Names of the bundles that cut a data set."""
        rows = self._catalogue[dataset].n_rows or 0
        return [name for name in self.bundles if not name.startswith(ABLATION) or rows <= self.settings["ablation"]["max_rows"]]

    def _learners_of(self, dataset):
        """Ids of the learners that run on a data set, of all configurations of the study."""
        rows, largest = self._catalogue[dataset].n_rows or 0, self.settings.get("max_rows", {})
        return list(
            dict.fromkeys(
                name
                for ids in configured_learners(self.settings, self._learners).values()
                for learner, name in ids.items()
                if rows <= largest.get(learner, rows)
            )
        )

    def cost(self, learner, dataset):
        """Cost of a learner on a data set."""
        return self.cost_at(learner, *self.shape(dataset))

    def cost_at(self, learner, n_rows, n_features):
        """Cost of a learner on a data set of some size."""
        return self._costs(learner, n_rows, n_features)

    def unmeasured(self):
        """Learners of the study that the table of costs does not know."""
        names = {name for dataset in self.settings["datasets"] for name in self.learners_of(dataset)}
        return sorted(name for name in names if not self.cost_at(name, 1000, 10).measured)

    def _choose(self, dataset, cuts):
        """Seeds per file of folds, seeds per job, and groups of learners."""
        bundle, names = self.bundles[cuts], self.learners_of(dataset)
        costs = {name: self.cost(name, dataset) for name in names}
        given = self.settings.get("seeds_per_block")
        folds = given or fold_block(bundle, self.shape(dataset)[0])
        block = given or score_block(bundle, costs.values(), self.seconds, folds)
        size = self.settings.get("learners_per_job")
        if size:
            parts = [names[i : i + size] for i in range(0, len(names), size)]
            return folds, block, {"+".join(part): part for part in parts}
        n_seeds = min(block, bundle.n_seeds)
        return folds, block, pack({name: job_seconds(bundle, cost, n_seeds) for name, cost in costs.items()}, self.seconds)

    def fold_blocks(self, dataset, cuts):
        """Blocks of seeds whose folds stand in one file."""
        return block_names(self.bundles[cuts].n_seeds, self._chosen(dataset, cuts)[0])

    def fold_block_of(self, dataset, cuts, block):
        """The block of folds that holds a block of scores."""
        size = self._chosen(dataset, cuts)[0]
        return self.fold_blocks(dataset, cuts)[block_range(block)[0] // size]

    def score_blocks(self, dataset, cuts):
        """Blocks of seeds that one job works through."""
        return block_names(self.bundles[cuts].n_seeds, self._chosen(dataset, cuts)[1])

    def groups(self, dataset, cuts):
        """Learners that one job works through, by the name of the group."""
        return self._chosen(dataset, cuts)[2]

    def job(self, dataset, cuts, learners, block):
        """Predicted seconds of one job, and its memory in MB beside that of an idle process.

        Parameters
        ----------
        dataset, cuts, block : str
        learners : iterable of str
            Ids of its learners.

        Returns
        -------
        seconds, mb : float, float
        """
        bundle, n_seeds = self.bundles[cuts], block_range(block)[1]
        costs = [self.cost(name, dataset) for name in learners]
        seconds = sum(job_seconds(bundle, cost, n_seeds) for cost in costs)
        rows = self.shape(dataset)[0]
        folds = block_range(self.fold_block_of(dataset, cuts, block))[1] * rows * partitions_per_seed(bundle)
        # Beside the folds: predictions, class scores and their copies of the largest cell, in doubles.
        cell = 12 * 8 * n_seeds * max(bundle.iterations.values()) * rows
        return seconds, max(cost.peak_mb for cost in costs) + (folds + cell) / 1e6


def fold_work(bundle: Bundle, n_rows, n_seeds):
    """Samples that are put into folds, over all partitioners, k and seeds."""
    return n_rows * n_seeds * partitions_per_seed(bundle)
