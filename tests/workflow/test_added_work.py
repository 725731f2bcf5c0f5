"""More seeds, learners, partitioners, numbers of folds or data sets: what is there stays as it is, only what is missing is
planned, and tables are those of a run from nothing."""

import copy
import hashlib

import pytest
import yaml

from foldshift.engine.config.runs import configure
from workflow_runner import ROOT, Workflow

pytestmark = pytest.mark.workflow
# Learners that take no time to load or to fit.
LEARNERS = {
    "Near": {"import": "sklearn.neighbors.KNeighborsRegressor", "tasks": ["regression"], "params": {"n_neighbors": 3}},
    "Line": {"import": "sklearn.linear_model.Ridge", "tasks": ["regression"], "params": {"alpha": 0.1}},
    # Compiled: adding it changes what the step before the jobs compiles.
    "Ours": {"import": "foldshift.learners.NNRegressor", "tasks": ["regression"], "params": {"n_neighbors": 3}},
    "Close": {"import": "sklearn.neighbors.KNeighborsClassifier", "tasks": ["classification"], "params": {"n_neighbors": 3}},
    "Bayes": {"import": "sklearn.naive_bayes.GaussianNB", "tasks": ["classification"], "params": {"var_smoothing": 1.0e-6}},
    "Branch": {"import": "sklearn.tree.DecisionTreeClassifier", "tasks": ["classification"], "params": {"max_depth": 2}},
}
REGRESSION = {
    "learners_file": "learners.yaml",
    "studies": {
        "saez_2022": {
            "datasets": ["steps"],
            "partitioners": ["CV", "TSCV"],
            "learners": ["Near", "Line"],
            "n_folds": [3],
            "n_seeds": 4,
            "convergence": {"step": 2, "draws": 2},
            "covariate_shift": {"n_runs": 3},
            "scaling_check": {"n_seeds": 2, "n_folds": 3},
        }
    },
}
CLASSES = {
    "learners_file": "learners.yaml",
    "studies": {
        "moreno_torres_2012": {
            "datasets": ["iris"],
            "partitioners": ["SCV", "DOB-SCV"],
            "learners": ["Close", "Bayes"],
            "configurations": ["corrected"],
            "schemes": ["2x2"],
            "n_seeds": 3,
            "n_truth": 3,
            "convergence": {"n_orders": 2},
            "covariate_shift": {"n_runs": 3},
            "ablation": {"n_seeds": 2, "schemes": ["2x2"], "metrics": ["heom", "keel"], "rules": ["balanced"]},
            "held_out": {"populations": []},
        }
    },
}
MORE = {
    "saez_2022": {
        "seeds": {"n_seeds": 8},
        "learner": {"learners": ["Near", "Ours", "Line"]},
        "partitioner": {"partitioners": ["CV", "SCV2", "TSCV"]},
        "k": {"n_folds": [2, 3]},
        "data set": {"datasets": ["friedman3", "steps"]},
    },
    "moreno_torres_2012": {
        "seeds": {"n_seeds": 6, "n_truth": 6},
        "learner": {"learners": ["Close", "Branch", "Bayes"]},
        "partitioner": {"partitioners": ["SCV", "DB-SCV", "DOB-SCV"]},
        "k": {"schemes": ["3x1", "2x2"]},
        "data set": {"datasets": ["wine", "iris"]},
    },
}
# Studies that measure by themselves: their settings, what is added, and the jobs that this plans, data sets apart.
OWN = {
    "wong_2015": (
        {"datasets": ["iris"], "learners": ["Close", "Bayes"], "n_folds": [3], "n_seeds": 2}
        | {"claims": {"models": []}, "audit": {"populations": [], "learners": ["Close"]}},
        {
            "seeds": ({"n_seeds": 4}, {"wong_2015_count_correct": 2}),
            "learner": ({"learners": ["Close", "Branch", "Bayes"]}, {"wong_2015_count_correct": 1}),
            "k": ({"n_folds": [2, 3]}, {"wong_2015_count_correct": 2}),
            "data set": ({"datasets": ["wine", "iris"]}, {"fetch_dataset": 1, "wong_2015_count_correct": 2}),
        },
    ),
    "cieslak_2009": (
        {"datasets": ["breast_cancer"], "learners": ["Close", "Bayes"], "n_seeds": 2, "n_bootstraps": 5}
        | {"n_repeats_multivariate": 0},
        {
            "seeds": ({"n_seeds": 3}, {"cieslak_2009_measure_shifts": 1, "cieslak_2009_measure_learners": 2}),
            "learner": ({"learners": ["Close", "Branch", "Bayes"]}, {"cieslak_2009_measure_learners": 1}),
            "data set": (
                {"datasets": ["wine", "breast_cancer"]},
                {"fetch_dataset": 1, "cieslak_2009_measure_shifts": 1, "cieslak_2009_measure_learners": 2},
            ),
        },
    ),
}
MEASURED = (
    "fetch_dataset",
    "make_folds",
    "measure_shift",
    "evaluate",
    "classify",
    "collect_scores",
    "saez_2022_compare_scaling",
    "saez_2022_measure_covariate_shift",
    "moreno_torres_2012_measure_convergence",
    "moreno_torres_2012_measure_covariate_shift",
    "wong_2015_count_correct",
    "cieslak_2009_measure_shifts",
    "cieslak_2009_measure_learners",
)
KINDS = ("folds", "shift", "scores", "predictions", "correct", "learners", "readings", "co_failure", "multivariate")


class Study:
    """A small study in a folder of its own, whose configuration grows."""

    def __init__(self, folder, config):
        (self.name,) = config["studies"]
        self.config, self.learners = copy.deepcopy(config), copy.deepcopy(LEARNERS)
        self.workflow = Workflow(folder, config)
        self.write()

    def write(self):
        (self.workflow.folder / "my.yaml").write_text(yaml.safe_dump(self.config))
        (self.workflow.folder / "learners.yaml").write_text(yaml.safe_dump(self.learners))

    def plan(self):
        """Planned jobs that measure something, by rule."""
        return {rule: n for rule, n in self.workflow.plan().items() if rule in MEASURED}

    def plan_with(self, **changes):
        """The same with other settings."""
        before = copy.deepcopy(self.config)
        for key, value in changes.items():
            (self.config if key in ("minutes_per_job", "partitioners_per_job") else self.config["studies"][self.name])[key] = (
                value
            )
        try:
            self.write()
            return self.plan()
        finally:
            self.config = before
            self.write()

    def files(self):
        """Time and content of everything that is measured in blocks."""
        folder = self.workflow.folder / "results" / self.name
        files = [path for kind in KINDS for path in (folder / kind).rglob("*") if path.is_file()]
        return {path: (path.stat().st_mtime_ns, hashlib.sha256(path.read_bytes()).hexdigest()) for path in files}

    def tables(self):
        """All tables, as targets; figures take longer and rest on the same rows."""
        config = self.config | {"learners_file": str(self.workflow.folder / "learners.yaml")}
        run = configure(copy.deepcopy(config), ROOT).runs[self.name]
        items = [item for _, some in run.items() for item in some if item.kind == "table"]
        return [f"results/{self.name}/{item.files()[0]}" for item in items]

    def tables_are_those_from_nothing(self, folder):
        """Make all tables, here and in an empty folder, and compare them; the study in that folder."""
        tables = self.tables()
        self.workflow(targets=tables, check=True)
        assert self.workflow.plan(targets=tables) == {}
        again = Study(folder, self.config)
        again.learners = self.learners
        again.write()
        again.workflow(targets=tables, check=True)
        grown, fresh = self.workflow.tables(), again.workflow.tables()
        assert grown.keys() == fresh.keys() and [name for name in fresh if grown[name] != fresh[name]] == []
        return again

    def grow(self, *changes):
        """Change the configuration and measure; check that what was there is as it was."""
        before = self.files()
        for change in changes:
            self.config["studies"][self.name] |= change
        self.write()
        rows = [f"{self.name}_rows"]
        self.workflow(targets=rows, check=True)
        after = self.files()
        assert before == {path: after[path] for path in before}
        assert self.workflow.plan(targets=rows) == {}


@pytest.fixture(
    scope="module",
    params=[REGRESSION, pytest.param(CLASSES, marks=pytest.mark.thorough)],
    ids=["regression", "classes"],
)
def study(request, tmp_path_factory):
    """A study that is measured."""
    study = Study(tmp_path_factory.mktemp("grows"), request.param)
    study.workflow(targets=[f"{study.name}_rows"], check=True)
    return study


@pytest.mark.thorough
def test_added_work_costs_only_the_added_work_and_tables_are_those_of_a_run_from_nothing(study, tmp_path):
    regression = study.name == "saez_2022"
    more = MORE[study.name]
    seen = {what: study.plan_with(**change) for what, change in more.items()}
    if regression:
        collected = {"collect_scores": 1}
        new_folds = {"make_folds": 1, "measure_shift": 1, "evaluate": 1} | collected
        shift = {"saez_2022_measure_covariate_shift": 1}
        assert seen == {
            "seeds": new_folds,
            "learner": {"evaluate": 1, "saez_2022_compare_scaling": 1} | collected,
            "partitioner": new_folds | shift,
            "k": new_folds | shift,
            "data set": {"fetch_dataset": 1, "saez_2022_compare_scaling": 1} | new_folds | shift,
        }
    else:
        collected = {"collect_scores": 1, "moreno_torres_2012_measure_convergence": 1}
        shift = {"moreno_torres_2012_measure_covariate_shift": 1}
        assert seen == {
            # Experiments and truth; the variants have seeds of their own.
            "seeds": {"make_folds": 2, "classify": 2} | collected,
            "learner": {"classify": 3} | collected,
            "partitioner": {"make_folds": 1, "classify": 1} | collected | shift,
            "k": {"make_folds": 2, "classify": 2} | collected | shift,
            "data set": {"fetch_dataset": 1, "make_folds": 3, "classify": 3} | collected | shift,
        }
    # How work is cut into jobs is no reason to do it again.
    assert study.plan_with(minutes_per_job=0.01, partitioners_per_job=1, seeds_per_block=1, learners_per_job=1) == {}

    study.grow(more["seeds"], more["learner"])
    study.grow(more["partitioner"], more["k"], more["data set"])
    # One learner's parameter: the files that it shares with others stay for the others.
    changed = "Near" if regression else "Close"
    study.learners[changed]["params"]["n_neighbors"] = 5
    study.write()
    planned = study.plan()
    assert "make_folds" not in planned and f"{study.name}_measure_covariate_shift" not in planned
    files = set(study.files())
    study.grow()
    new = {path for path in study.files() if path not in files}
    assert len(new) == planned["evaluate" if regression else "classify"] * (1 if regression else 2)
    assert all(path.parent.name.startswith(f"{changed}-") and "+" not in path.parent.name for path in new)

    again = study.tables_are_those_from_nothing(tmp_path / "from nothing")
    assert len(again.files()) < len(study.files())
    # Fewer seeds than there are: files that reach beyond are used for what is wanted of them.
    study.config["studies"][study.name] |= {"n_seeds": 2}
    study.write()
    assert not {"make_folds", "measure_shift", "evaluate", "classify"} & study.plan().keys()


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["wong_2015", "cieslak_2009"])
def test_measures_of_a_study_keep_the_rows_that_they_have(name, tmp_path):
    settings, more = OWN[name]
    study = Study(tmp_path / "grows", {"learners_file": "learners.yaml", "studies": {name: settings}})
    study.workflow(targets=[f"{name}_rows"], check=True)
    assert {what: study.plan_with(**change) for what, (change, _) in more.items()} == {
        what: planned for what, (_, planned) in more.items()
    }
    study.grow(*(change for change, _ in more.values()))
    study.learners["Close"]["params"]["n_neighbors"] = 5
    study.write()
    files = set(study.files())
    study.grow()
    new = {path.relative_to(study.workflow.folder).as_posix() for path in study.files() if path not in files}
    assert new and all("/Close-" in path for path in new)
    study.tables_are_those_from_nothing(tmp_path / "from nothing")
