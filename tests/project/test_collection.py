"""Every process that collects the tests finds the same ones: workers of pytest-xdist refuse to start where they differ."""

import os
import subprocess
import sys
from itertools import zip_longest

import pytest


def collected(root, hash_seed):
    """Ids of all tests, in order, as a new process finds them: some ten seconds."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "--verbosity=-1", "-p", "no:cacheprovider", "tests"]
    environment = os.environ | {"PYTHONHASHSEED": str(hash_seed), "PYTEST_ADDOPTS": ""}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return [line for line in done.stdout.splitlines() if "::" in line]


@pytest.mark.slow
def test_two_processes_seconds_and_hash_seeds_apart_collect_the_same_tests(root):
    first, second = collected(root, 1), collected(root, 2)  # one after the other: no second of the clock is in both
    differing = [f"{a}\n  here, and there\n  {b}" for a, b in zip_longest(first, second) if a != b]
    shown = "\n  ".join(differing[:5])
    assert not differing, f"{len(differing)} ids differ between two collections; give these cases names (ids=):\n  {shown}"
    assert len(first) > 1000
