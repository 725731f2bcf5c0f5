"""The list of changes of the ablation."""

import numpy as np
import pytest

from foldshift.studies.moreno_torres_2012.ablation.ablation_changes import list_changes

PARTITIONERS = ["SCV", "DOB-SCV"]
IDS = ["1NN@paper", "PART@paper", "LDA", "1NN", "PART"]
SETTINGS = {
    "learners": ["1NN", "LDA", "PART"],
    "partitioners": PARTITIONERS,
    "metric": "heom",
    "iterations": {2: 5, 5: 2},
    "ids": {
        "paper": {"1NN": "1NN@paper", "LDA": "LDA", "PART": "PART@paper"},
        "corrected": {"1NN": "1NN", "LDA": "LDA", "PART": "PART"},
    },
    "variants": {"DOB-SCV@keel-balanced": {"partitioner": "DOB-SCV", "metric": "keel", "rule": "balanced"}},
}


@pytest.fixture
def values():
    rng = np.random.default_rng(0)
    found = {(k, name): rng.random((5, 4, 6)) for k in (2, 5) for name in (*PARTITIONERS, "truth")}
    found[5, "DOB-SCV@keel-balanced"] = rng.random((5, 4, 3))
    found[5, "DOB-SCV@keel-balanced"][:, 3] = np.nan  # not run on the last data set
    return found


@pytest.fixture
def changes(values):
    convergence = {cell: array.mean(axis=2) for cell, array in values.items()}
    heldout = {(k, p): values[k, p] for k in (2, 5) for p in PARTITIONERS}, {2: 1, 5: 2}
    found = list_changes(SETTINGS, IDS, dict.fromkeys(SETTINGS["ids"], values), convergence, heldout=heldout)
    return {change.name: (schemes, change) for schemes, change in found}


def test_one_thing_is_changed_at_a_time(changes):
    assert list(changes) == [
        f"{configuration}: {what}"
        for configuration in ("paper", "corrected")
        for what in (
            "base",
            "judged by own mean",
            "judged by mean of all",
            "held-out truth",
            "base, where the variants were run",
            "keel distance, balanced rules",
            "without PART",
            *(["PART without its stop"] if configuration == "paper" else []),
        )
    ]
    base = changes["paper: base"][1]
    for name, (_, change) in changes.items():
        differing = [key for key in ("metric", "rule", "truth", "classifiers") if getattr(change, key) != getattr(base, key)]
        assert len(differing) == (0 if "base" in name else 1), name


def test_a_variant_is_compared_with_scv_on_its_own_data_sets_and_schemes(changes, values):
    schemes, variant = changes["paper: keel distance, balanced rules"]
    assert schemes == {5: 2}
    np.testing.assert_array_equal(variant.values[5, "DOB-SCV"], values[5, "DOB-SCV@keel-balanced"][:, :3])
    np.testing.assert_array_equal(variant.values[5, "SCV"], values[5, "SCV"][:, :3])
    np.testing.assert_array_equal(variant.truth_values[5], values[5, "truth"][:, :3])
    np.testing.assert_array_equal(variant.convergence[5, "DOB-SCV"], values[5, "DOB-SCV@keel-balanced"].mean(axis=2)[:, :3])
    schemes, base = changes["paper: base, where the variants were run"]
    assert schemes == {5: 2}
    np.testing.assert_array_equal(base.values[5, "DOB-SCV"], values[5, "DOB-SCV"][:, :3])


def test_configurations_and_sets_of_classifiers_choose_rows(changes):
    assert changes["paper: base"][1].learners == [0, 2, 1]
    assert changes["corrected: base"][1].learners == [3, 2, 4]
    assert changes["paper: without PART"][1].learners == [0, 2]
    assert changes["paper: PART without its stop"][1].learners == [0, 2, 4]
    assert (
        changes["paper: held-out truth"][1].truth_values == {2: 1, 5: 2} and changes["paper: held-out truth"][1].convergence == {}
    )


def test_where_variants_cover_everything_the_base_stands_once(values):
    values[5, "DOB-SCV@keel-balanced"][:] = 0.5
    values[2, "DOB-SCV@keel-balanced"] = values[5, "DOB-SCV@keel-balanced"]
    convergence = {cell: array.mean(axis=2) for cell, array in values.items()}
    names = [change.name for _, change in list_changes(SETTINGS, IDS, dict.fromkeys(SETTINGS["ids"], values), convergence)]
    assert not any("where the variants" in name or "held-out" in name for name in names)
