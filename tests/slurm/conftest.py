"""A SLURM cluster of three nodes for the tests of this folder, and what a laptop makes of the same configuration."""

import os
import subprocess

import pytest
from cluster_runner import BOTH, SCRIPT, TABLES, Cluster

from workflow_runner import Workflow


@pytest.fixture(scope="session")
def cluster():
    if "FOLDSHIFT_SLURM" not in os.environ:
        pytest.skip("tests on a SLURM cluster take root and ten minutes: make thorough WHAT=slurm, or .ci/run as root")
    if os.geteuid() != 0:
        pytest.skip("a SLURM cluster for tests needs root")
    done = subprocess.run([SCRIPT, "start"], capture_output=True, text=True, timeout=180)
    try:
        if done.returncode != 0:
            # Continuous integration installs the packages first: there, no cluster is a failure.
            (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"no SLURM cluster: {done.stderr.strip()}")
        yield Cluster()
    finally:
        subprocess.run([SCRIPT, "stop"], timeout=180)


@pytest.fixture(scope="session")
def laptop(cluster, tmp_path_factory):
    """Both studies on this machine without SLURM, nothing run yet."""
    return Workflow(tmp_path_factory.mktemp("laptop"), BOTH)


@pytest.fixture(scope="session")
def regression(laptop):
    """Both main tables of the study of regression."""
    laptop(targets=TABLES, check=True)
    return laptop.tables()


@pytest.fixture(scope="session")
def both(laptop, regression):
    """Tables and figures of both studies."""
    laptop(check=True)
    return laptop.tables()
