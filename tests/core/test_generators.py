"""Every public function that draws takes a generator or a seed as `rng`, and refuses all else in its own words."""

import importlib
import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from foldshift import inference, partition, shift
from foldshift.core.seeding import as_generator

RNG = np.random.default_rng(0)
X, OTHER = RNG.normal(size=(2, 40, 3))
Y = np.arange(40) % 2
FOLDS = np.stack([np.arange(40) % 4, np.arange(40) // 10])


def _draw(rng):
    X = rng.normal(size=(90, 2))
    return X[:30], np.arange(30) % 2, X[30:], np.arange(60) % 2


CALLS = {
    "bootstrap_632plus": lambda rng: inference.bootstrap_632plus(GaussianNB(), X, Y, n_bootstraps=20, rng=rng),
    "coverage_audit": lambda rng: inference.coverage_audit(_draw, GaussianNB(), n_folds=3, n_replicates=3, rng=rng),
    "selection_corrected_error": lambda rng: inference.selection_corrected_error(X > 0, n_bootstraps=20, rng=rng),
    "simulate_losses": lambda rng: inference.simulate_losses("centroid", 3, 4, 2, rng),
    "wong_partition": lambda rng: inference.wong_partition(20, 3, 2, rng),
    "fold_randomness": lambda rng: partition.fold_randomness(FOLDS, max_pairs=20, rng=rng),
    "DriftReport": lambda rng: shift.DriftReport(X, OTHER, n_permutations=19, rng=rng),
    "classifier_two_sample": lambda rng: shift.classifier_two_sample(X, OTHER, rng, n_permutations=9),
    "dependence_test": lambda rng: shift.dependence_test(X, OTHER, rng, 19),
    "energy_distance_test": lambda rng: shift.energy_distance_test(X, OTHER, rng, 19),
    "fold_covariates": lambda rng: shift.fold_covariates(X, FOLDS, max_rows=20, rng=rng),
    "fold_drift": lambda rng: shift.fold_drift(X, Y, FOLDS, n_random=99, rng=rng),
    "friedman_bootstrap": lambda rng: shift.friedman_bootstrap(Y, Y, 20, rng),
    "hellinger_features": lambda rng: shift.hellinger_features(X, OTHER, n_permutations=9, rng=rng),
    "inject_shift": lambda rng: shift.inject_shift(X, Y, "mcar", severity=25, feature=0, rng=rng),
    "mmd": lambda rng: shift.mmd(X, OTHER, rng, n_permutations=19),
    "spread_test": lambda rng: shift.spread_test(X, OTHER, rng, 19),
    "versions": lambda rng: shift.versions(X, Y, "mcar", 25, rng=rng),
}


def test_no_function_that_draws_is_forgotten():
    public = [getattr(importlib.import_module(f"foldshift.{name}"), one)
              for name in ("datasets", "evaluation", "inference", "learners", "partition", "shift")
              for one in importlib.import_module(f"foldshift.{name}").__all__]  # fmt: skip
    drawing = {one.__name__ for one in public if callable(one) and "rng" in inspect.signature(one).parameters}
    assert drawing == set(CALLS)


def _text(found):
    """All that was drawn."""
    if isinstance(found, dict):
        return {key: _text(value) for key, value in found.items()}
    if isinstance(found, pd.DataFrame):
        return found.to_csv()
    if isinstance(found, tuple):
        return [_text(value) for value in found]
    return str(found.tolist()) if isinstance(found, np.ndarray) else str(found)


@pytest.mark.parametrize("name", CALLS)
def test_a_seed_is_the_generator_that_it_makes(name):
    if name != "DriftReport":  # of a generator it takes a number first, which seeds one stream for each test
        assert _text(CALLS[name](7)) == _text(CALLS[name](np.random.default_rng(7)))
    assert _text(CALLS[name](np.int64(7))) == _text(CALLS[name](7))


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("wrong", ["7", -1, 0.5, np.random.RandomState(0)])
def test_anything_else_is_refused(name, wrong):
    with pytest.raises(ValueError, match=r"must be a numpy.random.Generator, or a whole number of at least 0 that seeds one"):
        CALLS[name](wrong)


def test_a_truth_is_no_seed():
    with pytest.raises(ValueError, match="rng=True must be"):
        as_generator(True)
