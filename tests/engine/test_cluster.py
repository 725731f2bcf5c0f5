"""Names of the folders of SLURM's logs stay below what file systems allow."""

import inspect
from types import ModuleType, SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldshift.engine.jobs.slurm_patch import LONGEST, PACKAGE, TESTED, shorten_log_folders, shortened


@given(st.text(max_size=600))
def test_a_name_is_cut_only_where_it_is_too_long(name):
    found = shortened(name)
    assert len(found.encode()) <= LONGEST
    assert found == name or len(name.encode()) > LONGEST


def test_long_names_that_differ_at_their_end_stay_different():
    names = ["é" * 150 + end for end in ("0-3", "4-7")]
    assert len({shortened(name) for name in names}) == 2


def test_the_plugin_names_a_job_of_many_cuts_and_learners_within_the_limit():
    import snakemake_executor_plugin_slurm as plugin

    job = SimpleNamespace(
        wildcards=["moreno_torres_2012", "iris", "DB-SCV@euclidean-balanced+" * 8, "0-3", "all", "LDA-6ae9+" * 20]
    )
    ours = ModuleType(plugin.__name__)
    ours.get_job_wildcards = plugin.get_job_wildcards
    assert len(ours.get_job_wildcards(job)) > 255
    assert shorten_log_folders(ours) is None
    assert len(ours.get_job_wildcards(job)) == LONGEST
    job.wildcards = ["saez_2022", "yacht"]
    assert ours.get_job_wildcards(job) == "saez_2022_yacht"


@pytest.mark.parametrize(
    ("name", "reason"),
    [("get_wildcards", "has no get_job_wildcards"), ("get_job_wildcards", "takes (job, group) and not (job)")],
)
def test_another_version_of_the_plugin_is_left_as_it_is_and_a_line_says_so(name, reason):
    def theirs(job, group):
        return job

    plugin = ModuleType("plugin")
    setattr(plugin, name, theirs)
    line = shorten_log_folders(plugin)
    assert reason in line and f"pip install '{PACKAGE}=={TESTED}'" in line
    assert getattr(plugin, name) is theirs


def test_the_plugin_takes_the_name_from_its_module_at_every_job():
    """The patch replaces the name in the module where the plugin's own class looks it up."""
    import snakemake_executor_plugin_slurm as plugin

    for method in (plugin.Executor.run_job, plugin.Executor.run_array_jobs):
        assert "get_job_wildcards" in inspect.getsource(method) and method.__globals__ is vars(plugin)
