import ast
import re

import numpy as np
import pytest

from foldshift.core.seeding import draw_seeds, fit_states, generator, seed_sequence


def test_the_same_names_give_the_same_numbers_and_others_give_others():
    first = generator(1, "folds", "abalone", "TSCV", 10, 7).random(4)
    assert (first == generator(1, "folds", "abalone", "TSCV", 10, 7).random(4)).all()
    for names in [
        ("folds", "abalone", "TSCV", 1, 7),
        ("folds", "abalone", "TSCV", "10,7"),
        ("folds", "abalone", "TSCV1", "0", 7),
    ]:
        assert (first != generator(1, *names).random(4)).all()
    assert (first != generator(2, "folds", "abalone", "TSCV", 10, 7).random(4)).all()


def test_numbers_do_not_change_between_versions_and_machines():
    assert seed_sequence(1, "folds", "abalone").generate_state(2).tolist() == [2018516726, 2896382317]
    assert draw_seeds(1, 5).tolist() == draw_seeds(1, 1000)[:5].tolist()


def test_seeds_are_drawn_without_replacement_and_fewer_are_the_first_of_more():
    seeds = draw_seeds(3, 1000)
    assert len(set(seeds.tolist())) == 1000 and seeds.min() >= 1 and seeds.max() <= 1_000_000
    assert (draw_seeds(3, 20) == seeds[:20]).all()
    assert abs(seeds.mean() - 500_000) < 4 * 1_000_000 / np.sqrt(12 * 1000)


def test_all_seeds_can_be_drawn():
    assert (np.sort(draw_seeds(3, 1_000_000)) == np.arange(1, 1_000_001)).all()


@pytest.mark.parametrize("n_seeds", [0, -1, 1_000_001])
def test_a_number_of_seeds_out_of_range_is_refused(n_seeds):
    with pytest.raises(ValueError, match=f"n_seeds={n_seeds} must be between 1 and 1,000,000"):
        draw_seeds(1, n_seeds)


def test_states_of_fits_do_not_depend_on_the_other_seeds():
    both = fit_states(1, ("abalone", "CV", 5), [11, 12], 5)
    assert both.shape == (2, 5) and both.dtype == np.uint32
    assert (fit_states(1, ("abalone", "CV", 5), [12], 5)[0] == both[1]).all()


SEEDED = {
    "generator",
    "seed_sequence",
    "draw_seeds",
    "fit_states",
    "default_rng",
    "SeedSequence",
    "PCG64",
    "MT19937",
    "RandomState",
}
SEEDED |= {"check_random_state", "seed", "Random"}
SEED_NAMES = ("seed", "random_state", "rng")
TOOLS = ("bench", "fuzz_")  # scripts that make no results
# Literal seeds that are right: defaults of public estimators and functions.
FIXED = {
    # One draw of input weights for all fits, as the paper has it.
    ("src/foldshift/learners/linear/elm.py", "__init__ random_state=0"),
    # `DriftReport` and `fold_drift` by themselves, as a library.
    ("src/foldshift/shift/report/drift_report.py", "__init__ rng=0"),
    ("src/foldshift/shift/report/fold_drift.py", "fold_drift rng=0"),
    # Splits of an advice, which gives its own.
    ("src/foldshift/advice/structure/honest_cut.py", "honest_cut seed=0"),
    # Which pairs stand for all, as a library.
    ("src/foldshift/partition/randomness.py", "fold_randomness rng=0"),
    # Draws from a posterior: no study asks for them.
    ("src/foldshift/inference/comparisons/bayes.py", "bayesian_signed_ranks random_state=0"),
    ("src/foldshift/inference/comparisons/bayes.py", "bayesian_hierarchical random_state=0"),
    # The workflow gives its own, from the master seed.
    ("src/foldshift/studies/cieslak_2009/detectors/prediction_detectors.py", "learner_scores random_state=0"),
    # made-up data on which kernels are compiled before the jobs; what comes out is thrown away
    ("src/foldshift/engine/jobs/warm_up.py", "np.random.default_rng(0)"),
    ("src/foldshift/studies/cieslak_2009/measure.py", "np.random.default_rng(0)"),
    ("src/foldshift/studies/common/measure_covariate_shift.py", "np.random.default_rng(0)"),
    # made-up data that are worked on to see how fast the machine is
    ("src/foldshift/engine/costs/machine_speed.py", "np.random.default_rng(0)"),
    # Places that a population consists of, the same in every draw, as its other constants are.
    ("src/foldshift/datasets/synthetic/populations.py", "np.random.default_rng(0)"),
    # Trees and rules that break exact ties of splits in one way in all fits.
    ("src/foldshift/studies/wong_2015/measures/measure_cuts.py", "DecisionTreeClassifier(random_state=0)"),
    ("src/foldshift/studies/wong_2015/measures/schemes.py", "DecisionTreeClassifier(criterion='entropy', random_state=0)"),
    (
        "src/foldshift/studies/wong_2015/measures/schemes.py",
        "DecisionTreeClassifier(criterion='gini', min_samples_leaf=2, random_state=0)",
    ),
    (
        "src/foldshift/studies/wong_2015/measures/schemes.py",
        "DecisionTreeClassifier(criterion='entropy', max_leaf_nodes=N_BINS, min_samples_leaf=SMALLEST_BIN, random_state=0)",
    ),
    ("src/foldshift/studies/wong_2015/measures/schemes.py", "RIPPERClassifier(random_state=0)"),
    ("src/foldshift/studies/wong_2015/measures/measure_schemes.py", "generator(0, 'first')"),  # a first call, to compile
}


def is_literal(node):
    """Report whether an expression consists of numbers and strings only, a number first."""
    if isinstance(node, ast.List | ast.Tuple):
        return bool(node.elts) and all(is_literal(one) for one in node.elts)
    if isinstance(node, ast.UnaryOp):
        return is_literal(node.operand)
    return isinstance(node, ast.Constant) and isinstance(node.value, int) and not isinstance(node.value, bool)


def literal_seeds(text):
    """Seeds that stand in a program as numbers, and generators that take theirs from the machine."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func).split(".")[-1]
            given = [*node.args[:1], *(keyword.value for keyword in node.keywords if keyword.arg in SEED_NAMES)]
            if name in SEEDED and (not given or any(is_literal(one) for one in given)):
                yield ast.unparse(node)
            named = [keyword.value for keyword in node.keywords if keyword.arg and keyword.arg.endswith(SEED_NAMES)]
            if name not in SEEDED and any(is_literal(one) for one in named):
                yield ast.unparse(node)
            if name not in SEEDED and re.fullmatch(r"(np|numpy)\.random\.[a-z_]+", ast.unparse(node.func)):
                yield ast.unparse(node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = [*node.args.posonlyargs, *node.args.args]
            pairs = [*zip(arguments[::-1], node.args.defaults[::-1]), *zip(node.args.kwonlyargs, node.args.kw_defaults)]
            for argument, default in pairs:
                if argument.arg.endswith(SEED_NAMES) and default is not None and is_literal(default):
                    yield f"{node.name} {argument.arg}={ast.unparse(default)}"


@pytest.mark.parametrize(
    "text",
    [
        "generator(0, 'bootstrap')",
        "rng = np.random.default_rng(7)",
        "np.random.default_rng([1, 2])",
        "np.random.default_rng()",
        "np.random.default_rng(seed=3)",
        "np.random.SeedSequence(5)",
        "np.random.seed(1)",
        "np.random.shuffle(x)",
        "train_test_split(X, random_state=0)",
        "table(results, master_seed=0)",
        "def draw(n, rng_seed=2012): ...",
        "def draw(n, *, master_seed=0): ...",
    ],
)
def test_a_seed_that_is_a_number_is_seen(text):
    assert len(list(literal_seeds(text))) == 1


@pytest.mark.parametrize(
    "text",
    ["generator(job.params.master_seed, 'a', 3)", "np.random.default_rng(ROWS_SEED)", "def draw(n, random_state=None): ..."],
)
def test_a_seed_that_has_a_name_is_none(text):
    assert list(literal_seeds(text)) == []


def test_all_randomness_comes_from_the_master_seed_or_from_a_seed_with_a_name(root):
    found = {
        (file.relative_to(root).as_posix(), seed)
        for folder in ("src", "scripts")
        for file in sorted((root / folder).rglob("*.py"))
        if not file.name.startswith(TOOLS)
        for seed in literal_seeds(file.read_text(encoding="utf-8"))
    }
    assert found == FIXED
