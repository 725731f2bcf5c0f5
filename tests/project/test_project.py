"""The project's own files agree with each other."""

import os
import re
import shlex
import subprocess
import sys
import tomllib

import pytest
import yaml
from packaging.specifiers import SpecifierSet

import foldshift
from write_conda_env import PYTHON, conda_env, pins
from write_config_readme import readme


def test_the_conda_environment_has_the_pins_of_the_lock_file(root):
    lock = (root / "requirements.lock").read_text()
    assert (root / "envs/foldshift.yaml").read_text() == conda_env(lock), "run: python envs/write_conda_env.py"
    assert len(pins(lock)) == len(re.findall(r"^[a-z0-9]", lock, re.MULTILINE)) > 50


def container_recipe(root):
    """Image, copied files, commands and what runs, of the Containerfile."""
    text = (root / "envs/Containerfile").read_text()
    lines = [line.split(maxsplit=1) for line in text.splitlines() if line and not line.startswith("#")]
    image = next(rest for word, rest in lines if word == "FROM")
    copied = [rest.split() for word, rest in lines if word == "COPY"]
    commands = [rest for word, rest in lines if word == "RUN"]
    runs = [rest for word, rest in lines if word == "ENTRYPOINT"]
    assert {word for word, _ in lines} == {"FROM", "COPY", "RUN", "ENV", "WORKDIR", "ENTRYPOINT"}
    return image, copied, commands, runs


def apptainer_recipe(root):
    """Image, copied files, commands and what runs, of the definition file."""
    header, *sections = re.split(r"^%", (root / "envs/foldshift.def").read_text(), flags=re.MULTILINE)
    sections = {part.split("\n", 1)[0]: [line.strip() for line in part.splitlines()[1:] if line.strip()] for part in sections}
    image = re.fullmatch(r"Bootstrap: docker\nFrom: (python:\S+)\n\n", header)[1]
    return image, [line.split() for line in sections["files"]], sections["post"], sections["runscript"]


def test_the_containers_install_the_lock_file_with_its_checksums_and_nothing_else(root):
    image, copied, commands, runs = container_recipe(root)
    (command,) = commands
    ((lock, inside),) = copied
    assert lock == "requirements.lock" and (root / lock).is_file()
    words = shlex.split(command)
    assert words[:4] == ["python", "-m", "pip", "install"] and "--require-hashes" in words and words[-2:] == ["-r", inside]
    assert all(word.startswith("-") for word in words[4:-1])  # no package beside the lock's
    assert runs == ['["snakemake"]']
    assert apptainer_recipe(root) == (image, copied, commands, ['exec snakemake "$@"'])


def test_the_containers_have_the_python_of_the_conda_environment_which_the_project_supports(root):
    version = re.fullmatch(r"python:(\d+\.\d+\.\d+)-slim-bookworm", container_recipe(root)[0])[1]
    conda = yaml.safe_load((root / "envs/foldshift.yaml").read_text())["dependencies"]
    assert conda[0] == f"python={PYTHON}" and version.rsplit(".", 1)[0] == PYTHON
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    assert version in SpecifierSet(project["requires-python"])
    assert f"Programming Language :: Python :: {PYTHON}" in project["classifiers"]


@pytest.mark.parametrize("name", ["Containerfile", "foldshift.def"])
def test_the_containers_name_no_address(root, name):
    text = (root / "envs" / name).read_text()
    assert "://" not in text and "--index" not in text and not re.search(r"\b[a-z0-9-]+\.(io|org|com)\b", text)


LOCKS = pytest.mark.parametrize("lock", ["requirements.lock", "docs/requirements.lock"])


@LOCKS
def test_the_lock_file_has_hashes_and_no_addresses(root, lock):
    lock = (root / lock).read_text()
    assert "://" not in lock and "--index" not in lock and "--find-links" not in lock
    for block in re.split(r"\n(?=[a-z0-9])", lock.strip()):
        assert "--hash=sha256:" in block, block.splitlines()[0]


@LOCKS
def test_every_direct_requirement_is_locked(root, lock):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    extras = ("workflow", "docs") if lock.startswith("docs") else ("workflow", "test")
    wanted = project["dependencies"] + [name for extra in extras for name in project["optional-dependencies"][extra]]
    locked = {pin.split("==")[0] for pin in pins((root / lock).read_text())}
    assert {re.split(r"[\[><=]", name)[0] for name in wanted} <= locked


def test_the_site_is_made_with_the_versions_that_everything_else_runs_with(root):
    of_all, of_site = (dict(pin.split("==", 1) for pin in pins((root / lock).read_text())) for lock in LOCKS.args[1])
    assert {name: of_site[name] for name in of_all if name in of_site} == {
        name: of_all[name] for name in of_all if name in of_site
    }


def test_the_conda_recipe_asks_for_what_pip_does(root):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    recipe = yaml.safe_load((root / "recipe" / "recipe.yaml").read_text())
    asked = [line.replace("_", "-").replace(" ", "") for line in recipe["requirements"]["run"]]
    assert asked == ["python>=${{python-min}}", *project["dependencies"]]
    assert f">={recipe['context']['python_min']}" == project["requires-python"]
    assert recipe["context"]["version"] == foldshift.__version__


def test_versions_agree(root):
    assert yaml.safe_load((root / "CITATION.cff").read_text())["version"] == foldshift.__version__
    changes = (root / "CHANGELOG.md").read_text()
    assert f"## [{foldshift.__version__}]" in changes and changes.count("\n") <= 200


def test_the_configuration_readme_is_made_from_the_schemas(root):
    assert (root / "config/README.md").read_text() == readme(), "run: python docs/write_config_readme.py"


def test_the_code_of_the_readme_runs(root):
    blocks = re.findall(r"```python\n(.*?)```", (root / "README.md").read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(block, {})


def test_files_and_targets_that_the_readme_names_exist(root):
    text = (root / "README.md").read_text()
    for path in re.findall(r"\]\(([\w./-]+)\)", text):
        assert (root / path).exists(), path
    for target in re.findall(r"(?:`|    )make (\w+)", text):
        assert re.search(rf"^{target}:", (root / "Makefile").read_text(), re.MULTILINE), target


def make_choices(makefile):
    """Targets of make to the choices that WHAT takes; of a target without choices none."""
    targets = re.findall(r"^([a-z]+):.* ## ", makefile, re.MULTILINE)
    return {target: set(re.findall(rf"^{target}_(\S+) =", makefile, re.MULTILINE)) for target in targets}


def test_make_has_few_targets_and_names_all_their_choices(root):
    makefile = (root / "Makefile").read_text()
    choices = make_choices(makefile)
    assert {"setup", "run", "test", "bench"} <= set(choices) and len(choices) <= 14
    named = dict(re.findall(r"^([a-z]+):.* ## .*WHAT=([\w|-]+\|[\w|-]+)", makefile, re.MULTILINE))
    assert {target: sorted(choices[target]) for target in named} == {target: names.split("|") for target, names in named.items()}
    assert set(named) == {"thorough", "validate"}
    programs = re.findall(r"[\w/]+\.py", makefile)
    assert len(programs) > 15 and all((root / program).exists() for program in programs)


def test_targets_of_make_that_the_project_names_exist(root):
    choices = make_choices((root / "Makefile").read_text())
    folders = ("src", "scripts", "workflow", "tests", "benchmarks", "validation", "config")
    files = [path for folder in folders for path in (root / folder).rglob("*") if path.suffix in (".py", ".md", ".yaml", ".smk")]
    files += [*root.glob("*.md"), *(root / "docs").glob("*.*"), *(root / "docs" / "guides").glob("*.md"), root / ".ci" / "run"]
    named = {
        (path.relative_to(root).as_posix(), *call)
        for path in files
        if path.suffix in (".py", ".md", ".yaml", ".smk", "") and path.name != "CHANGELOG.md"
        for call in re.findall(r"(?:`|^|^ +)make ([a-z0-9-]+)(?: WHAT=([\w-]+))?", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    wrong = [call for call in named if call[1] not in choices or (call[2] and call[2] not in choices[call[1]])]
    assert not wrong and len(named) > 40


def test_every_script_is_run_by_a_rule_or_a_target_of_make(root):
    callers = [*sorted((root / "workflow").rglob("*.smk")), root / "Makefile"]
    run = set(re.findall(r"scripts/(\w+\.py)", "".join(path.read_text() for path in callers)))
    assert {path.name for path in (root / "scripts").glob("*.py")} == run


def test_programs_that_tests_import_by_name_have_names_of_their_own(root):
    folders = ("scripts", "benchmarks", "validation", "docs", "envs", "tests", "tests/fuzz")
    names = [path.name for folder in folders for path in (root / folder).glob("*.py") if path.name != "conftest.py"]
    assert len(names) == len(set(names))


def test_what_is_left_to_make_check_by_its_name_is_there(slow_places):
    assert slow_places and all(place.exists() for place in slow_places)


def test_continuous_integration_runs_the_command_of_the_readme_and_then_what_it_leaves_out(root):
    commands = [line.removesuffix(" &") for line in (root / ".ci/run").read_text().splitlines() if line.startswith("make ")]
    assert commands == ["make setup", "make lint", "make test", "make check", "make docs", "make thorough WHAT=adapters"]
    recipe = re.compile(r"^(test|check|thorough): .*\n\t.*\$\(PYTEST\) -m (thorough|\".*\")", re.MULTILINE)
    recipes = dict(recipe.findall((root / "Makefile").read_text()))
    # No test in two of them, none in none: what is thorough is slow (conftest.py).
    assert recipes == {"test": '"not slow"', "check": '"slow and not thorough"', "thorough": "thorough"}


def test_items_of_the_report_have_one_label(root):
    # With two, Snakemake's report may show a switch that fails where half of the items of a category are tables.
    rules = "".join(path.read_text() for path in sorted((root / "workflow/rules").glob("*.smk")))
    labels = re.findall(r"labels=\{(.*)\}", rules)
    assert len(labels) == len(re.findall(r"\breport\(", rules)) > 0
    assert all(label.startswith('"item": ') and label.count('": ') == 1 for label in labels)


def test_every_program_of_the_project_loads(root):
    """Programs that no test runs: a name that moved would be seen on the day when somebody needs them."""
    programs = sorted(path.stem for folder in ("validation", "benchmarks") for path in (root / folder).glob("*.py"))
    code = "import importlib, sys\nfor name in sys.argv[1:]:\n    importlib.import_module(name)"
    places = [str(root / folder) for folder in ("src", "validation", "benchmarks", "tests", "scripts", "docs")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(places)}
    done = subprocess.run([sys.executable, "-c", code, *programs], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-1000:]
    assert len(programs) > 30
