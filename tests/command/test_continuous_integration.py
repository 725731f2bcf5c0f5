"""The action and the pre-commit hook: their command lines run, and fail where something is wrong."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from click.testing import CliRunner

from foldshift.command.main import DONE, FOUND, MISTAKE, USAGE, main

ROOT = Path(__file__).parents[2]
BASH = shutil.which("bash")
RNG = np.random.default_rng(0)
CLEAN = pd.DataFrame(RNG.normal(size=(60, 3)).round(3), columns=["a", "b", "y"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    CLEAN.to_csv(folder / "clean.csv", index=False)
    pd.concat([CLEAN, CLEAN]).to_csv(folder / "copies.csv", index=False)
    CLEAN.assign(a=CLEAN.a + 5).to_csv(folder / "moved to.csv", index=False)
    program = folder / "bin" / "foldshift"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m foldshift "$@"\n')
    program.chmod(0o755)
    return folder


@pytest.mark.skipif(BASH is None or sys.platform == "win32", reason="needs bash, as the action says")
@pytest.mark.parametrize(("given", "code"), [
    ({"files": "clean.csv", "options": "--target y --learner Ridge --effort quick"}, DONE),
    ({"command": "drift", "files": "clean.csv 'moved to.csv'"}, FOUND),
])  # fmt: skip
def test_the_action_runs_the_command_with_its_inputs(folder, given, code):
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    install, check = action["runs"]["steps"]
    assert action["runs"]["using"] == "composite" and "$GITHUB_ACTION_PATH" in install["run"]
    values = {name: one.get("default", "") for name, one in action["inputs"].items()} | given
    env = {name: values[text.removeprefix("${{ inputs.").removesuffix(" }}")] for name, text in check["env"].items()}
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    words = [BASH, "--noprofile", "--norc", "-eo", "pipefail", "-c", check["run"]]  # as GitHub runs `shell: bash`
    done = subprocess.run(words, cwd=folder, env=os.environ | env | {"PATH": path}, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr


def in_folder(folder, *words):
    there = os.getcwd()
    os.chdir(folder)
    try:
        return CliRunner().invoke(main, words)
    finally:
        os.chdir(there)


def test_the_hook_takes_every_file_that_a_commit_changes(folder):
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    program, *words = shlex.split(hook["entry"])
    assert (program, hook["types"], hook["language"]) == ("foldshift", ["csv"], "python")
    done = in_folder(folder, *words, "--target", "y", "--learner", "Ridge", "clean.csv", "copies.csv")
    clean, copies = done.output.split("copies.csv:")
    assert done.exit_code == FOUND and "clean.csv:" in clean and "No fault" in clean and "copies kept together" in copies


def test_several_files_go_with_check_alone(folder):
    done = in_folder(folder, "advise", "clean.csv", "y")
    assert done.exit_code == USAGE and "'y' is a second file" in done.output and "--target NAME" in done.output
    done = in_folder(folder, "advise", "clean.csv", "copies.csv", "--check", "--json")
    assert done.exit_code == USAGE and "for one file" in done.output
    done = in_folder(folder, "advise", "none.csv", "neither.csv", "--check")
    assert done.exit_code == MISTAKE and done.output.count("foldshift: ") == 2
