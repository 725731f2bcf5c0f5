"""The study advice: what the source of a data set says of its rows reaches the advice."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from foldshift.datasets import prepare
from foldshift.datasets.dataset import write_prepared
from foldshift.datasets.readers.parquet import read_frame
from foldshift.datasets.readers.read_options import make_options
from foldshift.studies.advice.measure import advise_one

RIDGE = {"import": "sklearn.linear_model.Ridge", "task": "regression", "nominal": "onehot", "params": {}, "random_state": False}


@pytest.mark.parametrize(
    ("structure", "words"),
    [
        ({"time_on": "day"}, "forward in time"),
        ({"subset_on": "site"}, "for a new subset"),
        ({"groups": "site"}, "whole groups left out"),
    ],
)
def test_structure_of_a_source_reaches_the_advice(tmp_path, structure, words):
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.normal(size=120))
    table = pd.DataFrame(
        {"day": np.arange(120), "site": np.repeat([*"abcdefghijkl"], 10), "x": walk + rng.normal(size=120), "y": walk}
    )
    data = prepare(
        read_frame(table, make_options(structure), task="regression", target="y"), "mine", "regression", scaling="none"
    )
    write_prepared(tmp_path / "data.npz", data)
    found = advise_one(
        SimpleNamespace(data=tmp_path / "data.npz"),
        {"dataset": "mine", "learner": "Ridge"},
        most_repetitions=1,
        entry=RIDGE,
        master_seed=1,
        limits={"minutes": None, "memory_mb": None},
    )
    (row,) = found["advice"]
    assert row["status"] == ["ok"], row["message"]
    assert words in found["pages"]
