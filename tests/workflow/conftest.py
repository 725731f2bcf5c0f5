"""One finished run for all tests of the workflow."""

import pytest

from workflow_runner import Workflow


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """The tiny study, run once with two cores."""
    workflow = Workflow(tmp_path_factory.mktemp("finished"))
    done = workflow(check=True)
    workflow.said = done.stdout + done.stderr
    return workflow
