"""The project's own files agree with each other."""

import re
import tomllib

import yaml

import foldshift
from write_conda_env import conda_env, pins
from write_config_readme import readme


def test_the_conda_environment_has_the_pins_of_the_lock_file(root):
    lock = (root / "requirements.lock").read_text()
    assert (root / "envs/foldshift.yaml").read_text() == conda_env(lock), "run: python scripts/write_conda_env.py"
    assert len(pins(lock)) == len(re.findall(r"^[a-z0-9]", lock, re.MULTILINE)) > 50


def test_the_lock_file_has_hashes_and_no_addresses(root):
    lock = (root / "requirements.lock").read_text()
    assert "://" not in lock and "--index" not in lock and "--find-links" not in lock
    for block in re.split(r"\n(?=[a-z0-9])", lock.strip()):
        assert "--hash=sha256:" in block, block.splitlines()[0]


def test_every_direct_requirement_is_locked(root):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    wanted = project["dependencies"] + [name for extra in project["optional-dependencies"].values() for name in extra]
    locked = {pin.split("==")[0] for pin in pins((root / "requirements.lock").read_text())}
    assert {re.split(r"[><=]", name)[0] for name in wanted} <= locked


def test_versions_agree(root):
    assert yaml.safe_load((root / "CITATION.cff").read_text())["version"] == foldshift.__version__
    assert f"## {foldshift.__version__}" in (root / "CHANGELOG.md").read_text()


def test_the_configuration_readme_is_made_from_the_schemas(root):
    assert (root / "config/README.md").read_text() == readme(), "run: python scripts/write_config_readme.py"


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
