"""Hold-out: sizes, strata of classes and numbers, groups that stay together."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import train_test_split

from foldshift.partition import holdout
from foldshift.shift import ks_statistic

quick = settings(deadline=None, max_examples=60, derandomize=True)
sizes = st.floats(0.05, 0.45) | st.integers(1, 8)


def rows_of(size, n):
    return size if isinstance(size, int) else int(np.ceil(size * n - 1e-9))


@quick
@given(st.integers(20, 120), sizes, st.none() | sizes, st.sampled_from(["none", "classes", "numbers"]), st.integers(0, 99))
def test_parts_have_the_wanted_sizes_and_hold_every_row_once(n, test_size, validation_size, kind, seed):
    rng = np.random.default_rng(seed)
    strata = {"none": None, "classes": rng.integers(0, 4, n), "numbers": rng.random(n)}[kind]
    parts = holdout(np.zeros((n, 2)), test_size=test_size, validation_size=validation_size, stratify=strata, random_state=seed)
    wanted = [rows_of(test_size, n), 0 if validation_size is None else rows_of(validation_size, n)]
    assert [len(parts.test), len(parts.validation)] == wanted
    assert sorted(np.concatenate(parts)) == list(range(n))
    assert all((np.diff(part) > 0).all() for part in parts)


@quick
@given(st.integers(20, 120), st.floats(0.1, 0.4), st.integers(0, 99))
def test_a_part_holds_each_class_by_its_share_as_scikit_learns_does(n, test_size, seed):
    y = np.random.default_rng(seed).integers(0, 3, n)
    part = holdout(y, test_size=test_size, stratify=y, random_state=seed).test
    share = len(part) / n * np.bincount(y, minlength=3)
    found = np.bincount(y[part], minlength=3)
    assert (np.floor(share) <= found).all() and (found <= np.ceil(share)).all()
    if np.bincount(y).min() > 1 and len(part) > 2:
        theirs = train_test_split(np.arange(n), test_size=test_size, stratify=y, random_state=seed)[1]
        assert len(theirs) == len(part) and np.abs(np.bincount(y[theirs], minlength=3) - found).max() <= 1


@quick
@given(st.integers(20, 120), st.integers(2, 6), st.integers(0, 99))
def test_numbers_give_one_row_of_each_run_of_neighbours(n, step, seed):
    y = np.random.default_rng(seed).random(n * step)
    part = holdout(y, test_size=n, stratify=y, random_state=seed).test
    assert (np.sort(np.argsort(np.argsort(y))[part]) // step == np.arange(n)).all()


def test_every_row_is_as_likely_as_any_other_to_be_held_out():
    y = np.repeat([0, 1], [30, 10])
    for strata in (None, y, np.arange(40) / 7):
        counts = np.zeros(40)
        for seed in range(1000):
            counts[holdout(y, test_size=8, stratify=strata, random_state=seed).test] += 1
        assert np.abs(counts / 1000 - 0.2).max() < 0.055  # four and a half standard errors


@quick
@given(st.integers(8, 60), st.floats(0.1, 0.4), st.none() | st.floats(0.1, 0.3), st.integers(0, 99))
def test_groups_are_in_one_part_and_sizes_are_met_within_the_largest(n_groups, test_size, validation_size, seed):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), rng.integers(1, 7, n_groups))
    parts = holdout(groups, test_size=test_size, validation_size=validation_size, groups=groups, random_state=seed)
    held = [set(groups[part]) for part in parts]
    assert not (held[0] & held[2] or held[0] & held[1] or held[1] & held[2]) and len(held[0]) > 0
    largest, slack = np.bincount(groups).max(), 0.02 * len(groups)
    for part, size in ((parts.test, test_size), (parts.validation, validation_size)):
        assert abs(len(part) - (0 if size is None else rows_of(size, len(groups)))) <= largest + slack
    turned = rng.permutation(len(groups))
    again = holdout(groups, test_size=test_size, validation_size=validation_size, groups=groups[turned], random_state=seed)
    assert set(groups[turned][again.test]) == held[2]


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_strata_of_groups_are_nearer_than_by_chance(kind):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 5)
    y = rng.normal(size=40)[groups] + 0.3 * rng.normal(size=200)
    y = (y > 0.3).astype(int) if kind == "classes" else y

    def distances(**options):
        parts = [holdout(y, groups=groups, random_state=seed, **options) for seed in range(30)]
        return np.mean([ks_statistic(y[part.train], y[part.test]) for part in parts])

    assert distances(stratify=y) < 0.5 * distances()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"test_size": 0}, "test_size=0"),
        ({"test_size": 1.0}, "test_size=1.0"),
        ({"test_size": True}, "test_size=True"),
        ({"test_size": 30}, "test_size=30"),
        ({"test_size": "20%"}, "test_size='20%'"),
        ({"test_size": None}, "test_size=None"),
        ({"validation_size": -0.1}, "validation_size=-0.1"),
        ({"test_size": 0.5, "validation_size": 0.5}, "leave at least one"),
        ({"groups": np.zeros(30)}, "groups are 1"),
        ({"groups": np.arange(30) // 15, "validation_size": 0.2}, "groups are 2"),
        ({"groups": np.arange(29)}, "samples"),
        ({"stratify": [None] * 30}, "stratify contains NaN"),
    ],
)
def test_sizes_and_groups_that_cannot_be_had_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        holdout(np.zeros(30), **options)


def test_a_part_of_a_hundred_thousand_rows_in_groups_is_drawn():
    groups, y = np.arange(100_000) // 4, np.random.default_rng(0).random(100_000)
    parts = holdout(y, stratify=y, groups=groups, random_state=0)
    assert abs(len(parts.test) - 20_000) <= 2004
    assert ks_statistic(y[parts.train], y[parts.test]) < 0.01
