"""Every job of the configured studies with what it is expected to take: for the plan, and for progress."""

from pathlib import Path
from typing import NamedTuple

from foldshift.datasets.populations import POPULATIONS
from foldshift.planning.blocks import OWN, TRUTH
from foldshift.planning.config import TASKS, configured_learners
from foldshift.planning.inference_jobs import inference_jobs, monitoring_jobs, source_jobs
from foldshift.planning.layout import bundle_behind, of_experiments
from foldshift.planning.names import held_folds, held_scores, part_of
from foldshift.planning.schemes import iterations

IDLE_MB = 330  # of a job that does nothing
# Seconds of one core. Starting a job: with numpy alone, with scikit-learn, with pandas and matplotlib.
START = {"light": 0.5, "learners": 1.4, "tables": 2.5}
PER_ASSIGNMENT = {"regression": 5e-8, "classification": 4e-7}  # per sample and partition
PER_NEIGHBOUR = 1e-8  # per pair of samples and column, once for a job that cuts by neighbours
PER_SHIFT = 1.2e-8  # D_n, per sample and fold
PER_PREDICTION = 3e-9  # convergence, per prediction and order
PER_EXPERIMENT = 2.5e-4  # convergence, per learner, partitioner, k and experiment
PER_COVARIATE = 1e-8  # covariate shift, per sample, column and fold
PER_DRIFT = 3e-6  # shifted features, per sample and column, for a partitioner and k: hundreds of random cuts
DRIFT_ONCE = 1000  # samples that a column takes in addition, however small the data set
DRIFT_MB = 1.1e-3  # per sample
PER_SCORE = 2e-6  # collecting, per row
BYTES_PER_SCORE = 30
BYTES_PER_FOLD = 0.45  # per sample and partition, compressed
BYTES_PER_PREDICTION = 0.06  # per sample, partition and learner, bit-packed and compressed
TABLE_MB = 700
# One output of every rule that makes tables and figures of a study, and its seconds at the paper's scale.
TABLE_JOBS = {
    "saez_2022": {
        "saez_datasets": ("tables/table1_datasets.csv", 1),
        "saez_shift": ("tables/table4_dn.csv", 1),
        "saez_error": ("tables/table5_error.csv", 20),
        "saez_scaling": ("tables/scaling_check.csv", 1),
        "saez_paper_vs_ours": ("paper_vs_ours.csv", 2),
        "saez_figure1": ("figures/figure1_target_shift.svg", 1),
        "saez_figure2": ("figures/figure2_convergence.svg", 2),
        "saez_shift_figures": ("figures/dn_boxes.svg", 3),
        "saez_failures": ("tables/failures.csv", 1),
    },
    "moreno_torres_2012": {
        "moreno_datasets": ("tables/table1_datasets.csv", 1),
        "moreno_agreement": ("tables/table3_auc.csv", 20),
        "moreno_convergence": ("tables/table7_convergence.csv", 8),
        "moreno_covariate_shift": ("tables/covariate_shift.csv", 8),
        "moreno_partitioner_figures": ("figures/figure1_extreme_shift.svg", 8),
        "moreno_heldout": ("tables/heldout_bias.csv", 3),
        "moreno_ablation": ("tables/ablation.csv", 30),
        "moreno_paper_vs_ours": ("paper_vs_ours.csv", 5),
        "moreno_failures": ("tables/failures.csv", 1),
    },
    "geras_2013": {
        "geras_error": ("tables/figure2_error.csv", 3),
        "geras_variance": ("tables/estimators.csv", 5),
        "geras_models": ("tables/mean_predictor.csv", 2),
    },
    "wong_2015": {
        "wong_examples": ("tables/examples.csv", 1),
        "wong_intervals": ("tables/intervals.csv", 5),
        "wong_claims": ("tables/claims.csv", 2),
        "wong_audit": ("tables/audit.csv", 3),
    },
    "cieslak_2009": {
        "cieslak_tables": ("tables/table1_datasets.csv", 10),
        "cieslak_figures": ("figures/figure6_friedman_bias.svg", 10),
        "cieslak_paper_vs_ours": ("paper_vs_ours.csv", 1),
    },
}


class Job(NamedTuple):
    """One job of the workflow.

    Attributes
    ----------
    rule : str
    output : str
        Its first output.
    seconds : float
        Expected seconds of one core.
    mb : float
        Expected memory in MB.
    megabytes : float
        Expected size of what it writes.
    needs : tuple of int
        Positions, in the list of jobs, of those that must be done before.
    """

    rule: str
    output: str
    seconds: float
    mb: float
    megabytes: float
    needs: tuple


class JobList:
    """Jobs in an order in which they can run."""

    def __init__(self):
        self.jobs = []
        self._known = {}

    def add(self, rule, output, seconds, mb=IDLE_MB, megabytes=0.0, needs=()):
        """Append a job, unless its output is made already.

        Returns
        -------
        position : int
        """
        if output not in self._known:
            self._known[output] = len(self.jobs)
            self.jobs.append(Job(rule, output, seconds, mb, megabytes, tuple(needs)))
        return self._known[output]


def study_jobs(study, config, layout, learners, catalogue, found=None):
    """Jobs of a study.

    Parameters
    ----------
    study : str
    config : dict
        Resolved configuration.
    layout : foldshift.planning.layout.Layout or None
        How the study is cut into jobs; None for a study without files of folds.
    learners, catalogue : dict
        Learners and data sets by name.
    found : JobList, optional
        Jobs of other studies, which may have fetched the same data sets.

    Returns
    -------
    found : JobList
        The same list, with what is missing added.
    """
    found = JobList() if found is None else found
    settings = config["studies"][study]
    if layout is None:
        jobs = {"geras_2013": source_jobs, "wong_2015": inference_jobs, "cieslak_2009": monitoring_jobs}[study]
        return _finish(found, study, config, jobs(found, config, settings, learners, catalogue))
    task = TASKS[study]
    results, resources = f"{config['results']}/{study}", config["resources"]
    last = []
    for dataset in settings["datasets"]:
        data = _data(found, resources, dataset)
        rows, columns = layout.shape(dataset)
        folds = _fold_jobs(found, layout, results, dataset, rows, columns, task, data)
        scores = _score_jobs(found, layout, results, dataset, rows, task, (data, *folds.values()))
        n_scores = _n_scores(layout, dataset)
        output = f"{results}/seed_scores/{dataset}.parquet"
        last.append(
            found.add("collect_scores", output, START["light"] + PER_SCORE * n_scores, needs=scores, megabytes=n_scores * 8 / 1e6)
        )
        measure = _measure_regression if task == "regression" else _measure_classes
        last += measure(found, layout, settings, learners, results, dataset, rows, columns, data, folds, scores)
    if task == "classification":
        last += _heldout_jobs(found, layout, config, study, learners, catalogue)
    return _finish(found, study, config, last)


def _finish(found, study, config, last):
    """Tables, figures and provenance of a study, after its measurements."""
    settings, results = config["studies"][study], f"{config['results']}/{study}"
    tables = [
        found.add(rule, f"{results}/{output}", START["tables"] + seconds, TABLE_MB, needs=last)
        for rule, (output, seconds) in TABLE_JOBS[study].items()
        if _is_made(rule, settings)
    ]
    found.add("list_sources", f"{config['results']}/provenance/datasets_{study}.json", START["light"], needs=tables)
    found.add("write_provenance", f"{config['results']}/provenance/config.yaml", START["light"])
    return found


def _data(found, resources, dataset):
    fetched = found.add("fetch_dataset", f"{resources}/fetched/{dataset}.parquet", 1.5)
    return found.add("prepare_dataset", f"{resources}/prepared/global/{dataset}.npz", START["light"], needs=[fetched])


def _fold_jobs(found, layout, results, dataset, rows, columns, task, data):
    """Jobs that cut a data set, by the path of their file."""
    jobs = {}
    for path in layout.folds_files(dataset):
        bundle, block = held_folds(path).name.split("/")
        work = layout.fold_work(dataset, bundle, block)
        truth = bundle_behind(bundle).partitioners == (TRUTH,)
        once = PER_NEIGHBOUR * rows**2 * columns if task == "classification" and not truth else 0.0
        jobs[path] = found.add(
            "make_folds",
            f"{results}/{path}",
            START["light"] + once + PER_ASSIGNMENT[task] * work,
            IDLE_MB + 3 * work / 1e6,
            BYTES_PER_FOLD * work / 1e6,
            [data],
        )
    return jobs


def _score_jobs(found, layout, results, dataset, rows, task, needs):
    rule = "evaluate" if task == "regression" else "classify"
    jobs = []
    for path in layout.score_files(dataset):
        bundle, held, part, learners, block = held_scores(path).name.split("/")
        seconds, mb = layout.job(dataset, bundle, held, part, learners, block)
        own, n_learners = part_of(bundle, part), len(learners.split("+"))
        n_fits = layout.shift_work(dataset, own, block) / rows
        size = BYTES_PER_SCORE * n_fits * n_learners
        if task == "classification":
            size += BYTES_PER_PREDICTION * layout.fold_work(dataset, own, block) * n_learners
        jobs.append(found.add(rule, f"{results}/{path}", START["learners"] + seconds, IDLE_MB + mb, size / 1e6, needs))
    return jobs


def _n_scores(layout, dataset):
    return sum(cell.n_seeds * cell.k * cell.iterations for cell in layout.cells(dataset)) * len(layout.learners_of(dataset))


def _measure_regression(found, layout, settings, learners, results, dataset, rows, columns, data, folds, scores):
    """Target shift, and what scaling before cutting leaks."""
    shifts = []
    for path, shift in zip(folds, layout.shift_files(dataset)):
        seconds = START["light"] + PER_SHIFT * layout.shift_work(dataset, *held_folds(path).name.split("/"))
        shifts.append(found.add("measure_shift", f"{results}/{shift}", seconds, needs=[data, folds[path]]))
    output = f"{results}/seed_shift/{dataset}.parquet"
    jobs = [found.add("collect_shift", output, START["light"], needs=shifts)]
    check = settings["scaling_check"]
    if check["n_seeds"]:
        n_fits = 2 * 2 * check["n_seeds"] * check["n_folds"]
        seconds = sum(layout.cost(name, dataset).seconds_per_fit for name in layout.learners_of(dataset)) * n_fits
        output = f"{results}/scaling/{dataset}.csv"
        jobs.append(found.add("saez_compare_scaling", output, START["learners"] + 2 * seconds, needs=[data, *folds.values()]))
    return jobs


def _measure_classes(found, layout, settings, learners, results, dataset, rows, columns, data, folds, scores):
    """Convergence and covariate shift."""
    cells = [cell for cell in layout.cells(dataset) if of_experiments(cell)]
    n_runs = sum(cell.n_seeds * cell.iterations for cell in cells)
    n_predictions = n_runs * rows * len(layout.learners_of(dataset))
    n_experiments = sum(cell.n_seeds for cell in cells)
    seconds = START["light"] + PER_PREDICTION * n_predictions * settings["convergence"]["n_orders"]
    seconds += PER_EXPERIMENT * n_experiments * len(layout.learners_of(dataset))
    output = f"{results}/convergence/{dataset}.parquet"
    jobs = [found.add("moreno_measure_convergence", output, seconds, IDLE_MB, needs=[data, *folds.values(), *scores])]
    own = [cell for cell in cells if cell.kind == OWN]
    n_folds = sum(min(cell.n_seeds * cell.iterations, settings["covariate_shift"]["n_runs"]) * cell.k for cell in own)
    seconds = START["learners"] + PER_COVARIATE * n_folds * rows * columns
    seconds += PER_DRIFT * len(own) * (rows + DRIFT_ONCE) * columns
    output = f"{results}/covariate_shift/{dataset}.parquet"
    mb = IDLE_MB + DRIFT_MB * rows
    jobs.append(found.add("moreno_measure_covariate_shift", output, seconds, mb, needs=[data, *folds.values()]))
    return jobs


def _heldout_jobs(found, layout, config, study, learners, catalogue):
    settings = config["studies"][study]
    held_out, results = settings["held_out"], f"{config['results']}/{study}"
    ids = {name for names in configured_learners(settings, learners).values() for name in names.values()}
    per_scheme = iterations(settings["schemes"])
    # Cross-validation by every partitioner, the training parts of every k, and the whole sample.
    n_fits = len(settings["partitioners"]) * sum(k * r for k, r in per_scheme.items()) + held_out["n_parts"] * len(per_scheme) + 1
    jobs = []
    for name in held_out["populations"]:
        needs = [] if name in POPULATIONS and name not in catalogue else [_data(found, config["resources"], name)]
        columns = layout.shape(name)[1] if name in catalogue else 10
        per_fit = sum(layout.cost_at(one, held_out["n_sample"], columns).seconds_per_fit for one in ids)
        seconds = START["learners"] + 3 * held_out["n_replicates"] * n_fits * per_fit  # single calls share little
        jobs.append(found.add("moreno_measure_heldout", f"{results}/held_out/{name}.parquet", seconds, 1200, needs=needs))
    return jobs


def _is_made(rule, settings):
    if rule in ("wong_claims", "wong_audit"):
        part = settings[rule.removeprefix("wong_")]
        return bool(part["models"] if rule == "wong_claims" else part["populations"])
    if rule == "saez_scaling":
        return settings["scaling_check"]["n_seeds"] > 0
    return rule != "moreno_heldout" or bool(settings["held_out"]["populations"])


def is_done(job):
    """Whether the output of a job exists."""
    return Path(job.output).exists()
