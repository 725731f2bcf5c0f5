import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.model_selection import LeaveOneGroupOut, cross_val_predict
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from bench_sources import main, plain_losses
from foldshift.datasets.sources.reviews import generate_reviews
from foldshift.evaluation import evaluate_folds
from foldshift.evaluation.source_losses import (
    DESIGNS,
    draw_rows,
    estimate_losses,
    random_blocks,
    source_losses,
)
from foldshift.learners.kernels.linear_svm import LinearSVMClassifier
from foldshift.learners.linear.text import MultinomialNBClassifier, text_learner, unit_rows
from foldshift.partition import make_folds


@pytest.fixture(scope="module")
def counts():
    return generate_reviews(4, 80, np.random.default_rng(6))


@pytest.fixture(scope="module")
def rows(counts):
    return draw_rows(counts.groups, [0, 1, 3], 20, 5, np.random.default_rng(7))


def _rng():
    return np.random.default_rng(8)


@pytest.mark.parametrize("design", DESIGNS)
def test_shared_and_plain_path_give_the_same_losses(design, counts, rows):
    learner = MultinomialNBClassifier()
    shared = source_losses(counts.X, counts.y, rows, learner, design, _rng())
    plain = source_losses(counts.X, counts.y, rows, learner, design, _rng(), shared=False)
    np.testing.assert_array_equal(shared, plain)
    assert shared.shape == (5, 3, 20) and shared.dtype == np.uint8 and 0 < shared.mean() < 0.5


@pytest.mark.parametrize("design", DESIGNS)
def test_losses_are_those_of_a_loop_over_scikit_learn(design, counts, rows):
    blocks = rows if design == "cvs" else random_blocks(rows, _rng())
    losses = source_losses(counts.X, counts.y, rows, MultinomialNBClassifier(), design, _rng())
    np.testing.assert_array_equal(losses, plain_losses(counts.X, counts.y, blocks))


def test_leaving_one_source_out_is_scikit_learns_leave_one_group_out(counts):
    rows = np.arange(320).reshape(1, 4, 80)
    X = unit_rows(counts.X)
    for learner, inputs in ((MultinomialNBClassifier(), counts.X), (LinearSVMClassifier(), X)):
        predicted = cross_val_predict(learner, inputs, counts.y, groups=counts.groups, cv=LeaveOneGroupOut())
        losses = source_losses(inputs, counts.y, rows, learner, "cvs")
        np.testing.assert_array_equal(losses[0].ravel(), predicted != counts.y)


@pytest.mark.parametrize("design", DESIGNS)
def test_linear_svm_losses_repeat_and_follow_the_blocks(design, counts, rows):
    X = unit_rows(counts.X)
    losses = source_losses(X, counts.y, rows, LinearSVMClassifier(), design, _rng())
    np.testing.assert_array_equal(losses, source_losses(X, counts.y, rows, LinearSVMClassifier(), design, _rng()))
    blocks = rows if design == "cvs" else random_blocks(rows, _rng())
    train, test = blocks[2, 1:].ravel(), blocks[2, 0]
    np.testing.assert_array_equal(
        losses[2, 0], LinearSVMClassifier().fit(X[train], counts.y[train]).predict(X[test]) != counts.y[test]
    )


@pytest.mark.parametrize(
    "learner",
    [MultinomialNBClassifier(), LinearSVMClassifier(tol=1e-9), LinearSVC(random_state=0, tol=1e-9)],
    ids=["NB", "SVM", "plain"],
)
def test_both_designs_and_the_new_source_in_one_call(learner, counts, rows):
    X = counts.X if isinstance(learner, MultinomialNBClassifier) else unit_rows(counts.X)
    new_rows = np.broadcast_to(np.flatnonzero(counts.groups == 2), (5, 80))
    together = estimate_losses(X, counts.y, rows, new_rows, learner, _rng())
    plain = estimate_losses(X, counts.y, rows, new_rows, learner, _rng(), shared=False)
    alone = [source_losses(X, counts.y, rows, learner, design, _rng(), shared=False) for design in DESIGNS]
    for found, other in zip(together, plain):
        np.testing.assert_array_equal(found, other)
        assert found.dtype == np.uint8
    for found, other in zip(together[1:2], alone[1:] if learner.get_params().get("random_state") is None else ()):
        np.testing.assert_array_equal(found, other)
    np.testing.assert_array_equal(together[0], alone[0])


def test_both_designs_without_a_new_source(counts, rows):
    X, nothing = unit_rows(counts.X), np.empty((5, 0), dtype=int)
    for learner in (LinearSVMClassifier(), LinearSVC(random_state=0)):
        cvs, cvr, new = estimate_losses(X, counts.y, rows, nothing, learner, _rng())
        assert cvs.shape == cvr.shape == (5, 3, 20) and new.shape == (5, 0)
    with pytest.raises(ValueError, match=r"new_rows has shape \(4, 0\) for 5 data sets; expected \(5, m\)"):
        estimate_losses(X, counts.y, rows, nothing[:4], LinearSVMClassifier(), _rng())


def test_random_blocks_hold_the_same_rows_and_do_not_follow_the_sources(counts, rows):
    blocks = random_blocks(rows, _rng())
    np.testing.assert_array_equal(np.sort(blocks.reshape(5, -1)), np.sort(rows.reshape(5, -1)))
    sources = counts.groups[blocks]
    assert all(len(np.unique(sources[r, k])) == 3 for r in range(5) for k in range(3))


def test_random_blocks_do_not_depend_on_how_data_sets_are_blocked(rows):
    rng = _rng()
    np.testing.assert_array_equal(
        np.concatenate([random_blocks(rows[:2], rng), random_blocks(rows[2:], rng)]), random_blocks(rows, _rng())
    )


def test_every_row_is_equally_likely_in_every_block():
    rows = np.broadcast_to(np.arange(6).reshape(1, 3, 2), (30_000, 3, 2))
    blocks = random_blocks(rows, np.random.default_rng(0))
    shares = np.array([(blocks[:, k] == row).any(axis=1).mean() for k in range(3) for row in range(6)])
    assert np.abs(shares - 1 / 3).max() < 4 * np.sqrt(2 / 9 / 30_000)


def test_the_random_cut_is_the_same_for_every_learner(counts, rows):
    X, first = counts.X.toarray(), _rng()
    source_losses(X, counts.y, rows, DecisionTreeClassifier(max_depth=1), "cvr", first)
    second = _rng()
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    blocks = random_blocks(rows, _rng())
    losses = source_losses(X, counts.y, rows, tree, "cvr", second)
    train = blocks[0, :2].ravel()
    expected = tree.fit(X[train], counts.y[train]).predict(X[blocks[0, 2]]) != counts.y[blocks[0, 2]]
    np.testing.assert_array_equal(losses[0, 2], expected)


def test_open_states_of_a_random_learner_come_from_rng(counts, rows):
    learner = LinearSVC(max_iter=1, tol=1e-9)  # far from convergence, so that the state shows
    X = unit_rows(counts.X)
    with pytest.warns(UserWarning, match="converge"):
        runs = [source_losses(X, counts.y, rows, learner, "cvs", np.random.default_rng(seed)) for seed in (1, 1, 2)]
    np.testing.assert_array_equal(runs[0], runs[1])
    assert (runs[0] != runs[2]).any()
    assert learner.random_state is None


@pytest.mark.parametrize("design", DESIGNS)
def test_sources_of_unequal_sizes_give_lists(design, counts):
    learner = MultinomialNBClassifier()
    rows = draw_rows(counts.groups, [2, 0, 1], [5, 30, 1], 4, np.random.default_rng(0))
    assert [part.shape for part in rows] == [(4, 5), (4, 30), (4, 1)]
    losses = source_losses(counts.X, counts.y, rows, learner, design, _rng())
    assert [part.shape for part in losses] == ([(4, 5), (4, 30), (4, 1)] if design == "cvs" else [(4, 12)] * 3)
    plain = source_losses(counts.X, counts.y, rows, learner, design, _rng(), shared=False)
    for a, b in zip(losses, plain):
        np.testing.assert_array_equal(a, b)


def test_unequal_form_with_equal_sizes_is_the_equal_form(counts, rows):
    as_list = list(rows.swapaxes(0, 1))
    for design in DESIGNS:
        equal = source_losses(counts.X, counts.y, rows, MultinomialNBClassifier(), design, _rng())
        unequal = source_losses(counts.X, counts.y, as_list, MultinomialNBClassifier(), design, _rng())
        np.testing.assert_array_equal(np.stack(unequal, axis=1), equal)


def test_losses_of_a_new_source_are_those_of_one_fit_per_data_set(counts, rows):
    learner = MultinomialNBClassifier()
    new_rows = draw_rows(counts.groups, [2], 30, 5, np.random.default_rng(9))[:, 0]
    losses = estimate_losses(counts.X, counts.y, rows, new_rows, learner, _rng())[2]
    for chosen, new, found in zip(rows.reshape(5, 60), new_rows, losses):
        predicted = learner.fit(counts.X[chosen], counts.y[chosen]).predict(counts.X[new])
        np.testing.assert_array_equal(found, predicted != counts.y[new])


def test_drawn_rows_are_of_their_source(counts):
    for replace in (True, False):
        rows = draw_rows(counts.groups, [3, 1], 80, 6, np.random.default_rng(0), replace=replace)
        assert rows.shape == (6, 2, 80)
        assert (counts.groups[rows] == np.array([3, 1])[:, None]).all()
        distinct = np.array([[len(np.unique(part)) for part in data] for data in rows])
        assert (distinct == 80).all() if not replace else (distinct < 70).all()


def test_drawing_follows_the_empirical_distribution_and_does_not_stratify(counts):
    rows = draw_rows(counts.groups, [0], 40, 3000, np.random.default_rng(0))
    shares = counts.y[rows].mean(axis=(1, 2))
    assert abs(shares.mean() - 0.5) < 0.01
    assert abs(shares.std() - np.sqrt(0.25 / 40)) < 0.005
    assert np.bincount(rows.ravel(), minlength=80)[:80].min() > 1300  # 1500 expected, standard deviation 38.5


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"sources": [0, 9]}, "source 9 has no rows; groups holds"),
        ({"sources": [1, 1]}, "names a source twice"),
        ({"sources": []}, "expected one or more sources"),
        ({"M": [3]}, "M has 1 sizes for 2 sources"),
        ({"M": 0}, "M=0 must be an integer of at least 1"),
        ({"M": 2.5}, "M=2.5 must be an integer"),
        ({"n_datasets": 0}, "n_datasets=0 must be an integer of at least 1"),
        ({"M": 81, "replace": False}, "source 0 has 80 rows; M=81 cannot be drawn without replacement"),
    ],
)
def test_bad_draws_are_refused(changes, message, counts):
    arguments = {"groups": counts.groups, "sources": [0, 1], "M": 5, "n_datasets": 2, "rng": _rng()} | changes
    with pytest.raises(ValueError, match=message):
        draw_rows(**arguments)


@pytest.mark.parametrize("learner", [MultinomialNBClassifier(), MultinomialNB()], ids=["shared", "plain"])
@pytest.mark.parametrize(
    "changes, message",
    [
        ({"design": "cvx"}, "unknown design 'cvx'"),
        ({"design": "cvr", "rng": None}, "rng=None; design 'cvr' needs"),
        ({"rows": np.zeros((2, 1, 5), dtype=int)}, "rows has 1 source; cross-validation over sources needs at least 2"),
        ({"rows": np.zeros((2, 3, 0), dtype=int)}, "source 0 has no rows"),
        ({"rows": [np.zeros((2, 3), dtype=int), np.zeros((2, 0), dtype=int)]}, "source 1 has no rows"),
        ({"rows": [np.zeros((2, 3), dtype=int), np.zeros((1, 3), dtype=int)]}, "expected \\(n_datasets, M_k\\) for every source"),
        ({"rows": []}, "rows holds arrays of the shapes \\[\\]"),
        ({"rows": np.zeros((2, 5), dtype=int)}, "expected \\(n_datasets, n_sources, M\\)"),
        ({"rows": np.zeros((2, 2, 5))}, "rows holds float64; expected integers"),
        ({"rows": np.full((2, 2, 5), 320)}, "expected 0 to 319"),
        ({"rows": np.full((2, 2, 5), -1)}, "rows holds numbers from -1 to -1"),
        ({"y": np.zeros(3)}, "X has 320 rows and y 3"),
    ],
)
def test_bad_input_is_refused(learner, changes, message, counts, rows):
    arguments = {"X": counts.X, "y": counts.y, "rows": rows, "learner": learner, "design": "cvs", "rng": _rng()} | changes
    with pytest.raises(ValueError, match=message) as error:
        source_losses(**arguments)
    assert "\n" not in str(error.value)


def test_no_data_set_gives_no_losses(counts):
    empty = np.zeros((0, 3, 4), dtype=int)
    assert source_losses(counts.X, counts.y, empty, MultinomialNBClassifier(), "cvr", _rng()).shape == (0, 3, 4)


def test_an_unseen_source_is_harder_than_a_random_cut_says_on_generated_reviews():
    learner, means = MultinomialNBClassifier(), []
    for population in range(12):
        counts = generate_reviews(6, 300, np.random.default_rng([population, 0]))
        errors = []
        for new in range(6):  # each source in turn, because one source can be easy
            rng = np.random.default_rng([population, 1, new])
            rows = draw_rows(counts.groups, [source for source in range(6) if source != new], 50, 5, rng, replace=False)
            test = draw_rows(counts.groups, [new], 100, 5, rng, replace=False)[:, 0]
            errors.append([losses.mean() for losses in estimate_losses(counts.X, counts.y, rows, test, learner, rng)])
        means.append(np.mean(errors, axis=0))
    cvs, cvr, ose = np.array(means).T
    for gap in (cvs - cvr, ose - cvr):
        assert gap.mean() > 4 * gap.std(ddof=1) / np.sqrt(12)


def test_the_benchmark_prints_both_times_and_their_ratio(tmp_path, capsys):
    main(["--datasets", "4", "--plain", "2", "--sizes", "5", "--svm-datasets", "2", "--output", str(tmp_path / "bench.csv")])
    printed = capsys.readouterr().out
    assert "generated reviews: 10 sources, 20000 reviews, 300 words" in printed and "losses_differ" in printed
    assert all(name in printed for name in ("seconds_shared", "seconds_plain", "plain_over_shared"))
    assert len((tmp_path / "bench.csv").read_text().splitlines()) == 4


def test_the_benchmark_refuses_sizes_below_one(capsys):
    with pytest.raises(SystemExit):
        main(["--sizes", "0"])
    assert "must be at least 1" in capsys.readouterr().err


def test_a_training_part_of_one_class_predicts_it():
    X, y = np.array([[2, 0], [1, 0], [0, 3], [1, 1]]), np.array([0, 0, 0, 1])
    rows = np.array([[[0, 1], [2, 3]]])  # without the second block only class 0 is left
    for name in ("NB", "SVM"):
        learner, inputs = text_learner(name, csr_array(X))
        for shared in (True, False):
            losses = source_losses(inputs, y, rows, learner, "cvs", shared=shared)
            assert losses[0, 1].tolist() == [0, 1]


def test_leave_one_source_out_is_a_partitioner_of_the_engine():
    groups = np.array(["b", "a", "b", "c", "a"])
    folds = make_folds("LOSO", None, np.zeros(5), seeds=range(2), groups=groups)
    assert folds.dtype == np.uint8 and folds.tolist() == [[1, 0, 1, 2, 0]] * 2
    X, y = np.random.default_rng(0).random((60, 3)), np.tile([0, 1], 30)
    groups = np.repeat(range(4), 15)
    expected = cross_val_predict(DecisionTreeClassifier(random_state=0), X, y, groups=groups, cv=LeaveOneGroupOut())
    found = evaluate_folds(DecisionTreeClassifier(random_state=0), X, y, make_folds("LOSO", X, y, groups=groups))
    assert (found[0] == expected).all()


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({}, "LOSO needs groups"),
        ({"groups": [1, 1, 1]}, "groups name 1 source; expected between 2 and 65536"),
        ({"groups": [1, 2]}, "y and groups have 3 and 2 samples; expected the same number"),
    ],
)
def test_sources_that_cannot_be_left_out_are_refused(groups, message):
    with pytest.raises(ValueError, match=message):
        make_folds("LOSO", None, np.zeros(3), **groups)
