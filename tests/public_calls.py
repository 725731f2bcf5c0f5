"""Valid calls of all public functions, one each, with the arrays that they take: what the tests of the gate walk over."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.linear_model import Ridge

from foldshift import advice, datasets, evaluation, inference, learners, partition, shift

PACKAGES = {
    "advice": advice,
    "datasets": datasets,
    "evaluation": evaluation,
    "inference": inference,
    "learners": learners,
    "partition": partition,
    "shift": shift,
}
N = 24
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3)).round(3)
Y = RNG.normal(size=N).round(3)
C = np.arange(N) % 2
FOLDS = np.arange(N) // 2 % 4
GROUPS = np.arange(N) // 3
A, B = RNG.random((2, 12)).round(3)
RIGHT = (RNG.random((2, N)) < 0.7).astype(np.int64)
D52 = RNG.normal(size=(5, 2)).round(3)
BLOCKS = RNG.random((6, 3)).round(3)
LOSSES = RNG.random((4, 6)).round(3)
TWO = RNG.normal(size=(2, 12, 2)).round(3)


@dataclass
class Call:
    """How a public name is called: with arrays by name, of which some have a row for every sample."""

    run: Any  # takes the public object and the arrays
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    rows: tuple[str, ...] = ()  # arrays whose rows belong together
    slow: bool = False  # only a few kinds are tried
    lenient: tuple[str, ...] = ()  # forms that may mean something else here; the reason stands beside
    names: dict[str, str] = field(default_factory=dict)  # other words for an array in messages, joined by |


def blind(call):
    """Mark a cut that does not look at the inputs, or at the target."""
    call.lenient = ("complex",)
    return call


def timeless(result):
    return {key: value for key, value in result.items() if not key.startswith("seconds")}


def splitter(f, **options):
    """Fold of every row by a splitter."""

    def run(cls, **arrays):
        groups = arrays.pop("groups", None)
        made = cls(3, random_state=0, **f, **options)
        return [test.tolist() for _, test in made.split(arrays["X"], arrays.get("y"), groups)]

    return run


def parts(splits):
    """Training and test parts as lists."""
    return [(train.tolist(), test.tolist()) for train, test in splits]


def learner(y, **options):
    """Predictions of a learner, plain and shared."""

    def run(cls, X, y, folds):
        model = cls(**options)
        plain = model.fit(X, y).predict(X)
        return plain, cls(**options).predict_folds(X, y, folds)

    return Call(run, {"X": X, "y": y, "folds": FOLDS[None].astype(np.uint8)}, ("X", "y"))


def rngs():
    return [np.random.default_rng(0)]


def cut(*arrays, **options):
    """Folds by an array function."""
    given = {"X": X, "y": Y, "classes": C, "groups": GROUPS}
    taken = {("y" if name == "classes" else name): given[name] for name in arrays}

    def run(f, **values):
        keywords = {"groups": values.pop("groups")} if "groups" in values else {}
        return f(*values.values(), 3, rngs(), **keywords, **options)

    return Call(run, taken, tuple(taken))


def pair(first, second, *, same=True, **options):
    """Function of two samples."""
    names = list(options.pop("names", ("a", "b")))
    return Call(
        lambda f, **v: f(v[names[0]], v[names[1]], **options), dict(zip(names, (first, second))), tuple(names) if same else ()
    )


def one(name, array, *more, **options):
    """Function of one array."""
    return Call(lambda f, **v: f(v[name], *more, **options), {name: array})


REPEATED = {"n_repeats": 2}
DATA_FREE = Call(lambda f: None)  # takes no array of the caller's
BY_NAME = "folds|sample|row"
CALLS = {
    "advice": {
        "advise": Call(
            lambda f, X, y, groups: timeless(f(X, y, Ridge(), groups=groups, effort="quick", most_repetitions=2).to_dict()),
            {"X": np.tile(X, (2, 1)) + np.arange(48)[:, None] / 7, "y": np.tile(Y, 2), "groups": np.arange(48) // 4},
            ("X", "y", "groups"),
            slow=True,
            lenient=("pandas",),  # the names of columns are part of the answer
        ),
        "Advice": DATA_FREE,
        "find_faults": DATA_FREE,  # takes what `advise` has checked
        "read_rules": DATA_FREE,
        "rows_kept_together": Call(
            lambda f, X, y, groups: f(X, y, groups),
            {"X": np.tile(X, (2, 1)) + np.arange(48)[:, None] / 7, "y": np.tile(Y, 2), "groups": np.arange(48) // 4},
            ("X", "y", "groups"),
        ),
    },
    "datasets": {
        "load_dataset": DATA_FREE,
        "read_catalogue": DATA_FREE,
        "Dataset": DATA_FREE,
        "read_file": DATA_FREE,
        "prepare": DATA_FREE,
    },
    "evaluation": {
        "classification_scores": Call(
            lambda f, codes, predictions, folds: f(codes, predictions, None, folds, 4),
            {"codes": C, "predictions": RIGHT[:1], "folds": FOLDS[None]},
            names={"codes": "codes|folds have shape"},
        ),
        "evaluate_folds": Call(
            lambda f, X, y, folds: f(Ridge(), X, y, folds, untested="nan"), {"X": X, "y": Y, "folds": FOLDS}, ("X", "y", "folds")
        ),
        "leave_one_out": Call(lambda f, X, y: f(Ridge(), X, y), {"X": X, "y": Y}, ("X", "y")),
        "regression_scores": Call(
            lambda f, y, predictions, folds: f(y, predictions, folds, 4),
            {"y": Y, "predictions": Y[None, ::-1].copy(), "folds": FOLDS[None]},
        ),
        "evaluate_cell": Call(
            lambda f, X, y, folds: {k: v for k, v in f(Ridge(), X, y, folds).items() if k != "fit_seconds"},
            {"X": X, "y": Y, "folds": FOLDS[None].astype(np.uint8)},
            ("X", "y"),
            lenient=("complex", "object NA", "None inside a list"),  # a fit that fails is a row with the learner's words
        ),
        "score_folds": Call(
            lambda f, X, y, folds: f(Ridge(), X, y, folds), {"X": X, "y": Y, "folds": FOLDS}, ("X", "y", "folds")
        ),
        "build_learner": DATA_FREE,
        "design_matrix": DATA_FREE,
    },
    "inference": {
        "compare_independent": Call(
            lambda f, r_a, r_b: f(r_a, 9, r_b, 9), {"r_a": np.array([7, 8, 6, 9]), "r_b": np.array([5, 6, 6])}
        ),
        "compare_matched": Call(
            lambda f, r_a, r_b, m: f(r_a, r_b, m),
            {"r_a": np.array([7, 8, 6, 9]), "r_b": np.array([5, 6, 6, 5]), "m": np.array([9, 9, 9, 10])},
            ("r_a", "r_b", "m"),
            names={"m": "fold sizes|size of its fold"},
        ),
        "loo_matched": pair(*RIGHT, names=("x_a", "x_b")),
        "bayesian_hierarchical": one("differences", RNG.normal(size=(3, 4)).round(3), rho=0.1, rope=0.1, n_draws=200),
        "bayesian_signed_ranks": pair(A, B, n_draws=100),
        "compare": pair(A, B, names=("scores_a", "scores_b"), design="datasets"),
        "check_scores": DATA_FREE,  # takes a dictionary of scores
        "CheckedScores": DATA_FREE,
        "TableComparison": DATA_FREE,
        "conservative_z": Call(
            lambda f, differences, halves: f(differences, halves), {"differences": A[:3], "halves": RNG.random((4, 2)).round(3)}
        ),
        "equivalence_signed_ranks": pair(A, B, margin=0.1),
        "equivalence_test": DATA_FREE,
        "bayesian_correlated_t": one("differences", A, 0.1, 0.01),
        "f_5x2cv": one("differences", D52),
        "mcnemar": pair(*RIGHT, names=("x_a", "x_b")),
        "nadeau_bengio": one("differences", A, n_train=90, n_test=10),
        "paired_t": one("differences", A),
        "t_5x2cv": one("differences", D52),
        "critical_difference": one("scores", BLOCKS, list("abc")),
        "friedman": one("scores", BLOCKS),
        "sign_test": pair(A, B),
        "SignedRanks": DATA_FREE,
        "wilcoxon_signed_ranks": pair(A, B),
        "accuracy_interval": Call(
            lambda f, r, m: f(r, m),
            {"r": np.array([7, 8, 6, 9]), "m": np.array([9, 9, 9, 10])},
            ("r", "m"),
            names={"m": "fold sizes|size of its fold"},
        ),
        "large_sample": pair(np.array([7, 8, 6, 9]), np.array([9, 9, 9, 10]), names=("r", "m")),
        "loo_interval": one("x", RIGHT[0]),
        "auc_interval": Call(
            lambda f, y, scores, folds: f(y, scores, folds), {"y": C, "scores": Y, "folds": FOLDS}, ("y", "scores", "folds")
        ),
        "bootstrap_632plus": Call(lambda f, X, y: f(Ridge(), X, y, n_bootstraps=30, rng=0), {"X": X, "y": Y}, ("X", "y")),
        "Interval": DATA_FREE,
        "cv_intervals": Call(
            lambda f, losses, folds: f(losses=losses, folds=folds), {"losses": Y, "folds": FOLDS}, ("losses", "folds")
        ),
        "nested_cv_interval": Call(
            lambda f, folds: f(lambda train, test: Y[test] ** 2 + train.sum(), folds), {"folds": FOLDS[None]}
        ),
        "loss_difference_interval": Call(
            lambda f, losses_a, losses_b, folds: f(losses_a, losses_b, folds),
            {"losses_a": Y, "losses_b": Y[::-1] ** 2, "folds": FOLDS},
            ("losses_a", "losses_b", "folds"),
            names={"losses_a": "losses", "losses_b": "losses"},
        ),
        "score_interval": Call(
            lambda f, y, predictions, folds, groups: f(y, predictions, "accuracy", folds=folds, groups=groups),
            {"y": C, "predictions": RIGHT[0], "folds": FOLDS, "groups": GROUPS},
            ("y", "predictions", "folds", "groups"),
        ),
        "score_difference_interval": Call(
            lambda f, y, predictions_a, predictions_b: f(y, predictions_a, predictions_b, "accuracy"),
            {"y": C, "predictions_a": RIGHT[0], "predictions_b": RIGHT[1]},
            ("y", "predictions_a", "predictions_b"),
            names={"predictions_a": "predictions", "predictions_b": "predictions"},
        ),
        "selection_corrected_error": one("losses", BLOCKS, n_bootstraps=20, rng=0),
        "agreements": Call(
            lambda f, truth_mean, experiments: f(truth_mean, experiments, alpha=0.5),
            {"truth_mean": BLOCKS.T.copy(), "experiments": RNG.random((3, 6, 4)).round(3)},
            names={"truth_mean": "results|truth", "experiments": "results"},
        ),
        "converged_after": one("vectors", RNG.random((5, 6)).round(3), threshold=0.9),
        "recommend_repetitions": one("scores", RNG.random((6, 4)).round(3)),
        "CVVariance": DATA_FREE,
        "cv_variance": one("losses", LOSSES),
        "estimator_from_bias": Call(lambda f, losses: f(0, 0, -1)(losses), {"losses": LOSSES}),
        "variance_components": one("losses", RNG.random((3, 4, 5)).round(3), "cvr"),
        "coverage_audit": DATA_FREE,
        "mean_predictor_fixed": Call(lambda f, beta: f(beta, 5), {"beta": A[:4]}, names={"beta": "beta|K="}),
        "mean_predictor_random": DATA_FREE,
        "simulate_losses": DATA_FREE,
        "wong_partition": DATA_FREE,
    },
    "learners": {
        "PDFClassifier": learner(C),
        "SVMClassifier": learner(C),
        "ELMRegressor": learner(Y, n_hidden=5, random_state=0),
        "LDAClassifier": learner(C),
        "MARSRegressor": learner(Y),
        "NaiveBayesClassifier": learner(C),
        "NNClassifier": learner(C),
        "NNRegressor": learner(Y),
        "RandomTiesNNRegressor": learner(Y, random_state=0),
        "FURIAClassifier": learner(C, random_state=0),
        "RIPPERClassifier": learner(C, random_state=0),
        "C45Classifier": learner(C),
        "GBMRegressor": learner(Y, random_state=0),
        "PARTClassifier": learner(C),
        "RPARTRegressor": learner(Y),
    },
    "partition": {
        "as_folds": Call(
            lambda f, groups: f(__import__("sklearn.model_selection").model_selection.GroupKFold(3), X, Y, groups),
            {"groups": GROUPS},
        ),
        "check_folds": Call(lambda f, folds: f(folds, N), {"folds": FOLDS}),
        "aba_folds": blind(cut("X", "y")),
        "twinning_folds": cut("X", "y"),
        "cb_cv_folds": blind(cut("X", "y", "groups")),
        "cb_scv_folds": cut("X", "classes", "groups"),
        "cb_table_folds": Call(
            lambda f, X, Y: f(X, Y, 3, rngs()), {"X": X, "Y": np.column_stack([Y, C])}, ("X", "Y"), names={"Y": "y|Y|X"}
        ),
        "cb_tscv_folds": cut("X", "y", "groups"),
        "cbdscv_folds": blind(cut("X", "y")),
        "scbcv_folds": cut("X", "classes"),
        "bdscv_folds": blind(cut("X", "y")),
        "db_scv_folds": cut("X", "classes"),
        "dob_scv_folds": cut("X", "classes"),
        "ms_scv_folds": cut("X", "classes"),
        "scv_folds": Call(lambda f, y: f(None, y, 3, rngs()), {"y": C}),
        "spxy_folds": cut("X", "y"),
        "stratified_folds": Call(lambda f, y: f(y, 3, 4, rngs()), {"y": Y}),
        "fold_fingerprints": one("folds", np.stack([FOLDS, GROUPS % 4])),
        "distinct_partitions": one("folds", np.stack([FOLDS, GROUPS % 4])),
        "fold_randomness": one("folds", np.stack([FOLDS, GROUPS % 4])),
        "make_folds": Call(
            lambda f, X, y, groups: f("CB-TSCV", X, y, 3, [0], groups=groups),
            {"X": X, "y": Y, "groups": GROUPS},
            ("X", "y", "groups"),
        ),
        "CovariateBalancedKFold": Call(
            splitter({"task": "regression"}), {"X": X, "y": Y, "groups": GROUPS}, ("X", "y", "groups")
        ),
        "RepeatedCovariateBalancedKFold": Call(splitter(REPEATED | {"task": "regression"}), {"X": X, "y": Y}, ("X", "y")),
        "DBSCV": Call(splitter({}), {"X": X, "y": C}, ("X", "y")),
        "DOBSCV": Call(splitter({}), {"X": X, "y": C}, ("X", "y")),
        "MSSCV": Call(splitter({}), {"X": X, "y": C}, ("X", "y")),
        "SCV": blind(Call(splitter({}), {"X": X, "y": C}, ("X", "y"))),
        "RepeatedDBSCV": Call(splitter(REPEATED), {"X": X, "y": C}, ("X", "y")),
        "RepeatedDOBSCV": Call(splitter(REPEATED), {"X": X, "y": C}, ("X", "y")),
        "RepeatedMSSCV": Call(splitter(REPEATED), {"X": X, "y": C}, ("X", "y")),
        "RepeatedSCV": blind(Call(splitter(REPEATED), {"X": X, "y": C}, ("X", "y"))),
        "ForwardBlockKFold": Call(
            lambda f, X, groups: parts(f(3, gap=0.5).split(X, None, groups)),
            {"X": X, "groups": GROUPS / 2},
            ("X", "groups"),
            lenient=(
                "complex",
                "days",
                "durations",
            ),  # the inputs are not looked at; a gap is a number, so that dates are refused
            names={"groups": "times"},
        ),
        "SpatialBlockKFold": Call(
            lambda f, X, y, groups: parts(f(3, buffer=0.01, random_state=0).split(X, y, groups)),
            {"X": X, "y": Y, "groups": X[:, :2].copy()},
            ("X", "y", "groups"),
            lenient=("complex",),  # the inputs are not looked at
            names={"groups": "coordinates"},
        ),
        "SameOtherAllKFold": Call(
            lambda f, X, y, groups: parts(f(3, random_state=0).split(X, y, groups)),
            {"X": X, "y": C, "groups": np.arange(N) // 12},
            ("X", "y", "groups"),
            lenient=("complex",),  # the inputs are not looked at
            names={"groups": "subsets"},
        ),
        "NNDistanceKFold": Call(
            lambda f, X, groups, prediction_points: parts(
                f(3, prediction_points=prediction_points, random_state=0).split(X, None, groups)
            ),
            {"X": X, "groups": X[:, :2].copy(), "prediction_points": 2 * X[:9, 1:]},
            ("X", "groups"),
            lenient=("complex",),  # the inputs are not looked at
            names={"groups": "coordinates"},
        ),
        "nndm_folds": Call(
            lambda f, coordinates, prediction_points: f(
                None, None, 3, rngs(), coordinates=coordinates, prediction_points=prediction_points
            ),
            {"coordinates": X[:, :2].copy(), "prediction_points": 2 * X[:9, 1:]},
        ),
        "block_folds": Call(
            lambda f, y, coordinates: f(None, y, 3, rngs(), coordinates=coordinates),
            {"y": Y, "coordinates": X[:, :2].copy()},
            ("y", "coordinates"),
        ),
        "as_splits": Call(
            lambda f, folds, X, groups: (
                f(folds, X),
                f(__import__("sklearn.model_selection").model_selection.GroupKFold(3), X, Y, groups),
            ),
            {"folds": FOLDS, "X": X, "groups": GROUPS},
            ("folds", "X", "groups"),
            lenient=("complex",),  # the inputs are counted
        ),
        "export_folds": Call(
            lambda f, folds, rows: f(folds, "csv", rows=rows), {"folds": FOLDS, "rows": np.arange(N)}, ("folds", "rows")
        ),
        "holdout": Call(
            lambda f, stratify, groups: f(X, validation_size=0.2, stratify=stratify, groups=groups, random_state=0),
            {"stratify": Y, "groups": GROUPS},
            ("stratify", "groups"),
        ),
        "ContinuousStratifiedKFold": blind(Call(splitter({}), {"X": X, "y": Y}, ("X", "y"))),
        "RepeatedContinuousStratifiedKFold": blind(Call(splitter(REPEATED), {"X": X, "y": Y}, ("X", "y"))),
    },
    "shift": {
        "co_failure": one("fails", RIGHT.T.copy()),
        "dependence_test": Call(lambda f, A, B: f(A, B, 0, 20), {"A": TWO[0], "B": TWO[1]}),
        "adjust_p": one("p", A),
        "chi_square": one("table", np.array([[3, 4, 5], [5, 6, 1]])),
        "friedman_bootstrap": Call(
            lambda f, correct_val, correct_test: f(correct_val, correct_test, 5, 0),
            {"correct_val": RIGHT[0], "correct_test": RIGHT[1]},
        ),
        "kruskal_wallis": pair(A, B, same=False, names=("scores_a", "scores_b")),
        "two_proportion": pair(*RIGHT, same=False, names=("correct_val", "correct_test")),
        "classifier_two_sample": Call(lambda f, A, B: f(A, B, 0, n_permutations=9), {"A": TWO[0], "B": TWO[1]}),
        "spread_test": Call(lambda f, A, B: f(A, B, 0, 20), {"A": TWO[0], "B": TWO[1]}),
        "energy_distance_test": Call(lambda f, A, B: f(A, B, 0, 20), {"A": TWO[0], "B": TWO[1]}),
        "mmd": Call(lambda f, A, B: f(A, B, 0, n_permutations=20), {"A": TWO[0], "B": TWO[1]}),
        "inject_shift": Call(
            lambda f, X, y: f(X, y, "mar", severity=25, feature=0, rng=np.random.default_rng(0)), {"X": X, "y": C}, ("X", "y")
        ),
        "versions": Call(lambda f, X, y: f(X, y, "mar", 25, rng=np.random.default_rng(0)), {"X": X, "y": C}, ("X", "y")),
        "fold_covariates": Call(lambda f, X, folds: f(X, folds), {"X": X, "folds": FOLDS}, ("X", "folds")),
        "fold_hellinger_attributes": Call(lambda f, X, folds: f(X, folds), {"X": X, "folds": FOLDS}, ("X", "folds")),
        "fold_ks_attributes": Call(lambda f, X, folds: f(X, folds), {"X": X, "folds": FOLDS}, ("X", "folds")),
        "hellinger": pair(A, B, same=False),
        "hellinger_features": pair(X, X[::-1] ** 2, same=False, names=("train", "test")),
        "fold_ks": Call(lambda f, y, folds: f(y, folds), {"y": Y, "folds": FOLDS}, ("y", "folds")),
        "ks_features": pair(X, X[::-1] ** 2, same=False, names=("train", "test")),
        "split_ks": Call(
            lambda f, values, cv: f(values, cv), {"values": Y, "cv": FOLDS}, ("values", "cv"), names={"cv": "folds"}
        ),
        "ks_p_value": Call(lambda f, D: f(D, 9, 9), {"D": A}),
        "ks_statistic": pair(A, B, same=False),
        "DriftReport": Call(
            lambda f, train, test, y_train, y_test: f(train, test, y_train=y_train, y_test=y_test, n_permutations=20).to_dict(),
            {"train": X, "test": X[:12] ** 2, "y_train": Y, "y_test": Y[:12] ** 2},
            names={"train": "training table|train"},
            slow=True,
            lenient=("pandas", "nullable NA"),  # the names of columns are part of the answer
        ),
        "fold_drift": Call(
            lambda f, X, y, folds: f(X, y, folds, n_random=99).to_dict(),
            {"X": X, "y": Y, "folds": FOLDS},
            ("X", "y", "folds"),
            slow=True,
            lenient=("pandas", "nullable NA"),  # as in DriftReport
        ),
    },
}
