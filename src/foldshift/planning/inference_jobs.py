"""Jobs of the studies that measure in one go, without files of folds: several sources, intervals and tests, monitoring."""

from foldshift.datasets.populations import POPULATIONS, TARGET_POPULATIONS
from foldshift.planning.blocks import block_names, block_range
from foldshift.planning.shapes import shape_of

IDLE_MB = 330  # of a job that does nothing
START_SECONDS = 1.5  # Python, SciPy and scikit-learn
# Seconds of one core per training review, and per fit.
TEXT_SECONDS = {"NB": (1e-6, 1e-4), "SVM": (8e-6, 1.5e-3)}
MODEL_SECONDS = {"centroid": 2.5e-3, "stump": 2.5e-3, "highdim": 1.2e-2}  # per simulated data set, all settings
CLAIM_SECONDS = {"centroid": 4e-3, "stump": 4e-3, "highdim": 2e-2}
PER_FIT = 2e-3  # of a learner whose cost was not measured
PER_AUDIT = 5e-3  # fit, and predictions of the rows held out
PER_VERSION = (1.5e-3, 3.5e-7)  # of a shifted test part: per learner, and per learner and row of the data set
PER_CHANGED_PAIR = 1.2e-9  # nearest neighbours after one feature changed: per version, test row and training row
PER_MULTIVARIATE = 0.3  # of a version: energy, mmd, c2st, Hellinger


def source_jobs(found, config, settings, learners, catalogue):
    """Measuring jobs of the study of several sources.

    Parameters
    ----------
    found : foldshift.planning.jobs.JobList
        Gets the jobs.
    config, settings : dict
        Resolved configuration, and that of the study.
    learners, catalogue : dict
        Not used: the study has its own.

    Returns
    -------
    positions : list of int
        Of the measuring jobs in the list.
    """
    results = f"{config['results']}/geras_2013"
    counts = found.add("count_reviews", f"{config['resources']}/reviews/{settings['reviews']}.npz", 20.0, 900)
    fixed = settings["held_fixed"]
    grid = {(k, fixed["n_points"]) for k in settings["n_sources"]} | {(fixed["n_sources"], m) for m in settings["n_points"]}
    last = []
    for learner in settings["learners"]:
        for sampling in settings["sampling"]:
            for block in block_names(settings["n_seeds"], settings["draws_per_block"]):
                n_datasets = settings["n_datasets"] * block_range(block)[1]
                seconds = n_datasets * sum(_sources_seconds(learner, k, m) for k, m in grid)
                output = f"{results}/error/{learner}/{sampling}/{block}.parquet"
                last.append(found.add("geras_measure_error", output, START_SECONDS + seconds, IDLE_MB + 300, 0.1, [counts]))
            for points in settings["n_points"]:
                seconds = settings["n_truth"] * _sources_seconds(learner, len(settings["domains"]), points)
                output = f"{results}/estimates/{learner}/{sampling}/{points}.parquet"
                last.append(found.add("geras_measure_variance", output, START_SECONDS + seconds, IDLE_MB + 300, 0.5, [counts]))
    for model in settings["models"]:
        seconds = START_SECONDS + settings["n_simulations"] * MODEL_SECONDS[model]
        last.append(found.add("geras_measure_model", f"{results}/models/{model}.parquet", seconds, IDLE_MB + 500, 0.5))
    return last


def _sources_seconds(learner, n_sources, n_points):
    """Seconds of one data set: both ways of cutting, and a fit on all of it."""
    per_review, per_fit = TEXT_SECONDS[learner]
    n_fits = 2 * n_sources + 1
    return n_fits * (per_fit + per_review * n_sources * n_points)


def inference_jobs(found, config, settings, learners, catalogue):
    """Measuring jobs of the study of intervals and tests; parameters as in `source_jobs`."""
    results, resources = f"{config['results']}/wong_2015", config["resources"]
    last = []
    for name in settings["datasets"]:
        n_rows, n_columns = shape_of(catalogue[name])
        n_fits = settings["n_seeds"] * sum(settings["n_folds"])
        # Leave-one-out: once for learners that share work, else as many fits as rows.
        seconds = len(settings["learners"]) * (n_fits * PER_FIT + n_rows**2 * n_columns * 1e-8)
        last.append(
            found.add(
                "wong_measure",
                f"{results}/folds/{name}.parquet",
                START_SECONDS + seconds,
                IDLE_MB + 300,
                0.1,
                [_prepared(found, resources, name)],
            )
        )
    for model in settings["claims"]["models"]:
        seconds = START_SECONDS + settings["claims"]["n_simulations"] * CLAIM_SECONDS[model]
        last.append(found.add("wong_simulate", f"{results}/claims/{model}.parquet", seconds, IDLE_MB + 500, 0.1))
    audit = settings["audit"]
    for name in audit["populations"]:
        needs = [] if name not in catalogue and name in POPULATIONS | TARGET_POPULATIONS else [_prepared(found, resources, name)]
        # About half of the learners and partitioners fit the task of a population.
        n_cells = audit["n_replicates"] * len(audit["learners"]) * len(audit["partitioners"]) / 4
        seconds = START_SECONDS + n_cells * PER_AUDIT * (audit["n_folds"] + 1)
        last.append(found.add("audit_coverage", f"{results}/audit/{name}.parquet", seconds, IDLE_MB + 500, 0.5, needs))
    return last


def monitoring_jobs(found, config, settings, learners, catalogue):
    """Measuring jobs of the monitoring study; parameters as in `source_jobs`."""
    results, resources = f"{config['results']}/cieslak_2009", config["resources"]
    n_learners, n_multivariate = len(settings["learners"]), settings["n_versions_multivariate"]
    last = []
    for name in settings["datasets"]:
        n_rows, n_columns = shape_of(catalogue[name])
        # Twelve conditions with a version for every feature, ten with one; five of the twelve change a feature of every test row.
        per_version, per_row = PER_VERSION
        seconds = n_learners * (12 * n_columns + 10) * (per_version + per_row * n_rows)
        seconds += 5 * n_columns * 0.3 * n_rows * 0.5 * n_rows * PER_CHANGED_PAIR
        searched = (12 * min(n_multivariate, n_columns) + 10 * min(n_multivariate, 1)) * PER_MULTIVARIATE
        needs = [_prepared(found, resources, name)]
        for block in block_names(settings["n_seeds"], settings["repeats_per_block"]):
            start, n_repeats = block_range(block)
            n_searched = min(max(settings["n_repeats_multivariate"] - start, 0), n_repeats)
            output = f"{results}/shift/{name}/{block}.parquet"
            work = n_repeats * seconds + n_searched * searched
            last.append(found.add("cieslak_measure", output, START_SECONDS + work, IDLE_MB + 300, 0.2, needs))
    return last


def _prepared(found, resources, name):
    # One job makes all scalings; it goes by its first output.
    fetched = found.add("fetch_dataset", f"{resources}/fetched/{name}.parquet", 1.5)
    return found.add("prepare_dataset", f"{resources}/prepared/global/{name}.npz", 0.5, needs=[fetched])
