"""Constants that users are shown are those of the table that a program in validation/ wrote, with its provenance."""

import json

import pandas as pd
import pytest

from foldshift.inference.comparisons.compare import HELD

TESTS = {
    "10 x 10 folds": "Nadeau-Bengio, 10 x 10 folds",
    "10 folds": "Nadeau-Bengio, 10 folds",
    "15 hold-outs": "Nadeau-Bengio, 15 hold-outs of 10 rows",
    "5 x 2 folds": "5x2cv F",
}
LEARNERS = {"5 nearest neighbours": "nearest", "LDA": "lda", "nearest centroid": "centroid"}


@pytest.fixture
def table(root):
    """Read a table and its provenance."""

    def read(name):
        path = root / "validation" / "tables" / f"{name}.csv"
        return pd.read_csv(path), json.loads(path.with_suffix(".json").read_text())

    return read


def test_false_findings_on_one_data_set_are_those_of_the_simulation(table):
    simulated, provenance = table("corrected_t")
    assert provenance["n_studies"] == 2000 and provenance["commit"]["commit"] and provenance["versions"]["numpy"]
    shares = simulated.set_index(["test", "learner"])["share_0.05"]
    for design, by_learner in HELD.items():
        for learner, share in by_learner.items():
            assert abs(shares[TESTS[design], LEARNERS[learner]] - share) <= 0.0005 + 1e-9, (design, learner)
    assert set(HELD) == set(TESTS) and all(set(by_learner) == set(LEARNERS) for by_learner in HELD.values())
