"""Compiled code: never older than its source, kept in one place, cleared, and made by one decorator only."""

import ast
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numba
import pytest

import foldshift
from foldshift.core import compiling
from foldshift.core.compiling import KEPT_VERSIONS, clear_old_versions, compiled, kernel_sources
from foldshift.learners.kernels import linear_svm

PACKAGE = Path(foldshift.__file__).parent

SCORES = """
import numpy as np
from foldshift.learners import NNClassifier
rng = np.random.default_rng(0)
X, y = rng.random((40, 2)), rng.integers(0, 2, 40)
folds = rng.integers(0, 4, (1, 40)).astype(np.uint8)
print(NNClassifier(3, metric="manhattan").scores_folds(X, y, folds).ravel().tolist())
"""


def run(source, code, **environment):
    """Standard output of a program that sees the modules below `source`."""
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"} | environment
    program = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(program, env=environment | {"PYTHONPATH": str(source)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_folder_called_coverage_does_not_pass_for_the_package(tmp_path):
    (tmp_path / "coverage").mkdir()
    code = "import foldshift.core.compiling, sys; print(sys.modules.get('coverage'))"
    assert run(f"{PACKAGE.parent}{os.pathsep}{tmp_path}", code) == "None\n"


@pytest.fixture
def package(tmp_path):
    """A package of two modules with a kernel each, of which one calls the other and uses a constant of it."""
    folder = tmp_path / "source"
    (folder / "pair").mkdir(parents=True)
    (folder / "pair" / "__init__.py").touch()
    (folder / "pair" / "helper.py").write_text(
        "from foldshift.core.compiling import compiled\n\nSTEP = 10\n\n\n@compiled\ndef more(x):\n    return x + 1\n"
    )
    (folder / "pair" / "caller.py").write_text(
        "from foldshift.core.compiling import compiled\nfrom pair.helper import STEP, more\n\n\n"
        "@compiled\ndef twice(x):\n    return more(more(x)) + STEP\n"
    )
    shutil.copytree(PACKAGE, folder / "foldshift", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


CALL = """
from pair.caller import twice
print(twice(1), sum(twice.stats.cache_hits.values()), twice.stats.cache_path)
"""


def edit(file, old, new):
    """Replace a text that must be there."""
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_an_edit_of_a_kernel_in_another_file_reaches_the_code_that_calls_it(package):
    assert run(package, CALL).split()[:2] == ["13", "0"]
    assert run(package, CALL).split()[:2] == ["13", "1"]
    edit(package / "pair" / "helper.py", "x + 1", "x - 1")
    assert run(package, CALL).split()[:2] == ["9", "0"]


def test_an_edit_of_a_constant_in_another_file_reaches_the_code_that_uses_it(package):
    assert run(package, CALL).split()[0] == "13"
    edit(package / "pair" / "helper.py", "STEP = 10", "STEP = 20")
    assert run(package, CALL).split()[0] == "23"


def test_scores_change_when_a_helper_kernel_is_inverted_and_the_cache_is_left_in_place(package):
    before = run(package, SCORES)
    assert run(package, SCORES) == before
    helper = package / "foldshift" / "learners" / "neighbours" / "nearest_regressor.py"
    edit(helper, "distances[at - 1] > distance:", "distances[at - 1] < distance:")
    edit(helper, "if distance >= distances[n_held", "if distance <= distances[n_held")
    assert run(package, SCORES) != before


def test_code_is_kept_where_the_user_wants_it(package, tmp_path):
    wanted = tmp_path / "elsewhere"
    assert Path(run(package, CALL, NUMBA_CACHE_DIR=str(wanted)).split()[2]).is_relative_to(wanted)
    assert not (package / "foldshift" / "__pycache__" / "kernels").exists()


def test_code_is_kept_in_the_users_folder_where_the_package_is_read_only(package, tmp_path):
    # A file where the folder would be: this refuses every user, root too.
    (package / "foldshift" / "__pycache__").mkdir()
    (package / "foldshift" / "__pycache__" / "kernels").write_text("")
    assert Path(run(package, CALL, XDG_CACHE_HOME=str(tmp_path / "home")).split()[2]).is_relative_to(tmp_path / "home")
    assert run(package, CALL, XDG_CACHE_HOME=str(tmp_path / "home")).split()[1] == "1"


def test_a_kernel_works_where_nothing_can_be_kept(package, tmp_path):
    (package / "foldshift" / "__pycache__").mkdir()
    (package / "foldshift" / "__pycache__" / "kernels").write_text("")
    (tmp_path / "file").write_text("")
    assert run(package, CALL, XDG_CACHE_HOME=str(tmp_path / "file")).split() == ["13", "0", "None"]


def test_several_processes_compile_the_same_kernels_at_once(package):
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"} | {"PYTHONPATH": str(package)}
    program = [sys.executable, "-c", CALL]
    processes = [subprocess.Popen(program, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate()[0].split()[0] for process in processes] == ["13"] * 3
    assert run(package, CALL).split()[1] == "1"


def test_the_last_versions_of_a_module_are_kept_and_those_in_use(tmp_path):
    for age in range(6):
        (tmp_path / f"a.b-{age}" / "inside").mkdir(parents=True)
        os.utime(tmp_path / f"a.b-{age}", (10_000 - 1000 * age,) * 2)
    (tmp_path / "a.bc-9").mkdir()
    os.utime(tmp_path / "a.bc-9", (0, 0))
    clear_old_versions(tmp_path, "a.b", now=10_000)
    assert sorted(folder.name for folder in tmp_path.iterdir()) == ["a.b-0", "a.b-1", "a.b-2", "a.b-3", "a.bc-9"]
    clear_old_versions(tmp_path, "a.b", now=1e9)
    assert len(list(tmp_path.glob("a.b-*"))) == KEPT_VERSIONS


def test_numba_still_takes_the_folder_from_its_setting_when_a_function_is_decorated():
    # `compiled` rests on these two public names.
    assert isinstance(numba.config.CACHE_DIR, str)
    assert "cache_path" in compiled(clear_old_versions).stats._fields


def test_the_source_of_a_module_includes_what_its_kernels_take_from_others_and_no_more():
    from foldshift.learners.neighbours import nearest_classifier

    files = [Path(file).relative_to(PACKAGE).as_posix() for file in kernel_sources(nearest_classifier.__file__)]
    assert files == [
        "learners/neighbours/nearest_classifier.py",
        "learners/neighbours/_distances.py",
        "learners/neighbours/nearest_regressor.py",
    ]


def modules_of_the_library():
    """Files of the library, by their names in it."""
    return {file.relative_to(PACKAGE).as_posix(): file for file in sorted(PACKAGE.rglob("*.py"))}


def test_nothing_is_compiled_but_by_the_decorator():
    users = []
    for name, file in modules_of_the_library().items():
        for node in ast.walk(ast.parse(file.read_text())):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            users += [name for module in modules if module.split(".")[0] == "numba"]
    # The second defines instructions, which kernels take by name: its source counts as theirs.
    assert set(users) == {"core/compiling.py", "learners/_lanes.py"}
    assert kernel_sources(linear_svm.__file__)[1:] == [str(PACKAGE / "learners/_lanes.py")]


def test_kernels_name_what_they_take_from_other_modules():
    # An attribute of an imported module would not be followed.
    for name, file in modules_of_the_library().items():
        tree = ast.parse(file.read_text())
        whole = {alias.asname or alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names}
        ours = {module for module in whole if module.split(".")[0] == "foldshift"}
        kernels = [node for node in tree.body if compiling.is_kernel(node)]
        used = {node.id for kernel in kernels for node in ast.walk(kernel) if isinstance(node, ast.Name)}
        assert not ours & used, name
