"""A release: one address, files that are filled from it, pages whose first lines work before anything is published."""

import hashlib
import json
import re

import pytest
import yaml

from release import feedstock_recipe, filled_files, lacks, read_project, release_notes

HOME = "https://example.org/foldshift"


@pytest.fixture
def published(root):
    """The project as if its address were known."""
    return read_project(root)._replace(repository=HOME, maintainers=["somebody"])


def shown(root):
    """Files whose text people see."""
    found = [*root.glob("*.md"), *(root / "docs").glob("*.md"), *(root / "docs").glob("*/*.md"), root / "paper" / "paper.md"]
    found += [root / name for name in ("CITATION.cff", ".zenodo.json", "recipe/recipe.yaml", "pyproject.toml")]
    return [path for path in found if not {"made", "auto_gallery", "results"} & set(path.relative_to(root).parts)]


def test_files_that_show_version_and_address_are_filled(root):
    for name, text in filled_files(read_project(root), root).items():
        assert (root / name).read_text(encoding="utf-8") == text, f"{name}: run python recipe/release.py fill"


def test_nothing_that_is_shown_has_a_placeholder_or_the_address_typed_by_hand(root):
    project = read_project(root)
    wrong = re.compile(r"<address|<repository|YOUR_|your-org|example\.(com|org)|TODO|FIXME|0000000|XXX")
    filled = {root / name for name in filled_files(project, root)} | {root / "pyproject.toml"}
    for path in shown(root):
        text = path.read_text(encoding="utf-8")
        assert not wrong.search(text), f"{path}: {wrong.search(text)}"
        if project.repository and path not in filled:
            assert project.repository not in text, f"{path} types the address; pyproject.toml alone has it"
        if not project.repository:
            assert not re.search(r"pip install (-U )?foldshift($|[\s\[`])", text, re.MULTILINE), (
                f"{path}: no index has foldshift yet"
            )


def test_the_address_goes_into_every_file_that_shows_it(root, published):
    files = filled_files(published, root)
    assert yaml.safe_load(files["CITATION.cff"])["repository-code"] == HOME
    assert json.loads(files[".zenodo.json"])["related_identifiers"][0]["identifier"] == HOME
    assert files["CITATION.cff"].count(HOME) == 1 and filled_files(published, root) == files


def test_the_recipe_for_conda_forge_has_what_its_rules_ask_for(root, published):
    recipe = yaml.safe_load(feedstock_recipe(published, b"sdist", root))
    assert recipe["source"] == {
        "url": HOME + "/releases/download/v${{ version }}/foldshift-${{ version }}.tar.gz",
        "sha256": hashlib.sha256(b"sdist").hexdigest(),
    }
    assert recipe["about"].keys() >= {"homepage", "summary", "license", "license_file", "repository"}
    assert recipe["extra"]["recipe-maintainers"] == ["somebody"] and recipe["build"]["noarch"] == "python"
    assert recipe["context"]["python_min"] in recipe["requirements"]["run"][0] + published.python_min
    assert recipe["tests"][0]["python"]["python_version"][0] == "${{ python_min }}.*"


def test_what_a_release_lacks_is_listed_with_what_to_do(root, published):
    assert lacks(published._replace(repository=""), "v0.0.1", root)[:2] == [
        f"the tag is v0.0.1 and the version {published.version}: tag v{published.version}, or set __version__",
        'no address of the repository: add Repository = "https://..." to [project.urls] of pyproject.toml',
    ]
    assert lacks(read_project(root), f"v{published.version}", root)[0].startswith("no address of the repository")
    stale = lacks(published, f"v{published.version}", root)
    assert stale == [f"{name} is not up to date: python recipe/release.py fill" for name in ("CITATION.cff", ".zenodo.json")]
    assert any("maintains" in line for line in lacks(published._replace(maintainers=[]), "v1", root))
    assert any("has no section [9.9]" in line for line in lacks(published._replace(version="9.9"), "v9.9", root))


def test_the_notes_of_a_release_are_its_section_of_the_changelog(root):
    notes = release_notes(read_project(root), root)
    assert notes.startswith("### Added") and "\n## " not in notes


def test_every_action_is_pinned_by_its_hash_and_no_workflow_holds_a_secret(root):
    files = sorted((root / ".github" / "workflows").glob("*.yml"))
    assert {file.stem for file in files} >= {"tests", "site", "release"}
    for file in files:
        text = file.read_text(encoding="utf-8")
        used = re.findall(r"uses: (\S+)(.*)", text)
        assert used and all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", name) and "# v" in tag for name, tag in used)
        assert "secrets." not in text and yaml.safe_load(text)["permissions"]["contents"] == "read"


def test_the_tests_run_on_every_python_and_system_that_is_promised(root):
    jobs = yaml.safe_load((root / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))["jobs"]
    promised = re.findall(r"Python :: (3\.\d+)", (root / "pyproject.toml").read_text(encoding="utf-8"))
    assert jobs["test"]["strategy"]["matrix"]["python"] == promised
    systems = {name.split("-")[0] for name in jobs["library"]["strategy"]["matrix"]["system"]}
    assert systems == {"ubuntu", "windows", "macos"}
