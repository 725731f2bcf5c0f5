"""Counts and repeats: NumPy's values, int64 for every type of codes, and used wherever Python may have 32 bits."""

import ast
from pathlib import Path

import numpy as np
import pytest

import foldshift
from foldshift.core.counting import bincount, repeat

PACKAGE = Path(foldshift.__file__).parent
# Rooms of the advice. Learners need compiled code, which such builds of Python lack; the engine and studies are not run there.
ROOMS = ("advice", "core", "datasets/readers", "evaluation", "inference", "partition", "shift")


@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.int64])
def test_counts_and_repeats_are_those_of_numpy(kind):
    codes, weights = np.array([2, 0, 2, 5], dtype=kind), np.array([0.5, 1.0, 2.0, 4.0])
    assert bincount(codes).dtype == np.int64
    assert bincount(codes, minlength=8).tolist() == [1, 0, 2, 0, 0, 1, 0, 0]
    assert bincount(codes, weights).tolist() == [1.0, 0.0, 2.5, 0.0, 0.0, 4.0]
    assert repeat(["a", "b"], np.array([2, 1], dtype=kind)).tolist() == ["a", "a", "b"]
    assert repeat(np.eye(2), 2, axis=1).tolist() == [[1, 1, 0, 0], [0, 0, 1, 1]]


@pytest.mark.parametrize("codes", [[0.5], [-1]])
def test_what_numpy_refuses_is_refused(codes):
    with pytest.raises((TypeError, ValueError)):
        bincount(codes)


def test_the_rooms_of_the_advice_count_by_this_module():
    files = [path for room in ROOMS for path in (PACKAGE / room).rglob("*.py") if path != PACKAGE / "core" / "counting.py"]
    calls = [(path, node) for path in files for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    own = [
        f"{path}:{node.lineno}" for path, node in calls if isinstance(node, ast.Attribute) and ast.unparse(node) == "np.bincount"
    ]
    assert len(files) > 100 and own == []
