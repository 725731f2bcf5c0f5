"""The workflow as the catalog of Snakemake has it: a module from an address of git, and a lint with Snakemake alone."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from workflow_runner import ROOT

pytestmark = pytest.mark.workflow
PARTS = ("src", "workflow", "scripts", "config", "envs", "profiles")
FILES = ("Snakefile", "pyproject.toml", "setup.py")
SNAKEMAKE = str(Path(sys.executable).with_name("snakemake"))
# What an environment of Snakemake and snakefmt alone lacks; its plugins that this one has need pandas and numpy.
BLOCK = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("numba", "llvmlite", "sklearn", "scipy", "joblib", "lazy_loader", "pyarrow", "matplotlib"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A repository that holds what this clone holds now, at its tag v1."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    folder = tmp_path_factory.mktemp("git") / "foldshift"
    for name in PARTS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in FILES:
        shutil.copy(ROOT / name, folder)
    who = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.org"]
    for words in (["init", "-q"], ["add", "-A"], [*who, "commit", "-q", "-m", "All"], ["tag", "v1"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return f"git+file://{folder}/workflow/Snakefile@v1"


@pytest.fixture
def other(tmp_path, address):
    """A workflow of somebody else that uses this one by its address."""
    config = {"scale": "test", "studies": {"wong_2015": {}}, "results": "ours/results", "resources": "ours/resources"}
    text = f'module foldshift:\n    snakefile: "{address}"\n    config: {config}\n\nuse rule * from foldshift as foldshift_*\n'
    (tmp_path / "Snakefile").write_text(text)

    def run(*arguments):
        command = [SNAKEMAKE, *arguments, "--cores", "1"]
        environment = os.environ | {"PYTHONPATH": ""}
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment, timeout=600)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
        return done.stdout + done.stderr

    return run


def test_a_module_from_a_git_address_plans_a_study_and_makes_one_of_its_tables(other, tmp_path):
    assert re.search(r"^foldshift_wong_2015_count_correct +\d+$", other("foldshift_wong_2015", "--dry-run"), re.MULTILINE)
    other("ours/results/wong_2015/tables/examples.csv")
    assert (tmp_path / "ours/results/wong_2015/tables/examples.csv").read_text().count("\n") > 3
    (copy,) = (tmp_path / ".snakemake/foldshift").iterdir()  # one, for all of its processes
    assert re.fullmatch("[0-9a-f]{40}", copy.name) and (copy / "src/foldshift/__init__.py").is_file()


def test_a_lint_with_snakemake_alone_says_what_is_missing_in_a_line(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(BLOCK)
    for snakefile in ("Snakefile", "workflow/Snakefile"):
        done = subprocess.run(
            [SNAKEMAKE, "--lint", "--snakefile", snakefile],
            cwd=ROOT,
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONPATH": str(tmp_path)},
        )
        said = done.stdout + done.stderr
        assert "Traceback" not in said and "foldshift: the package scipy is not installed" in said and "pip install" in said


def test_the_catalog_is_told_how_the_software_is_deployed():
    usage = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text())["usage"]
    assert usage["software-stack-deployment"] == {"conda": True, "apptainer": True}
    assert re.search(r"^container: ", (ROOT / "workflow/main.smk").read_text(), re.MULTILINE)
