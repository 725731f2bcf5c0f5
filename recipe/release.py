"""Fill and check what a release needs: one address in pyproject.toml goes into every file that shows it.

python recipe/release.py fill            # after a change of version or address: CITATION.cff, .zenodo.json, recipe/recipe.yaml
python recipe/release.py check v0.2.0    # what a release with this tag lacks; nothing is printed if it lacks nothing
python recipe/release.py notes           # the section of the changelog for this version
python recipe/release.py feedstock SDIST # the recipe for conda-forge, whose source is the archive at the address
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SOURCE = "source:\n  path: ..\n"  # of the recipe in the repository
FIRST_LINE = re.compile(r"^# In the feedstock .*\n", re.MULTILINE)


class Project(NamedTuple):
    """Facts that the files of a release show."""

    name: str
    version: str
    summary: str
    keywords: list[str]
    python_min: str
    repository: str  # address; empty as long as pyproject.toml has none
    maintainers: list[str]  # of the recipe, by their names on the host of conda-forge


def read_project(root: Path = ROOT) -> Project:
    """Read pyproject.toml and the version of the library."""
    whole = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    project, release = whole["project"], whole["tool"]["foldshift"]["release"]
    code = (root / "src" / "foldshift" / "__init__.py").read_text(encoding="utf-8")
    return Project(
        name=project["name"],
        version=re.findall(r'^__version__ = "(.+)"$', code, re.MULTILINE)[0],
        summary=project["description"],
        keywords=project["keywords"],
        python_min=re.findall(r"\d+\.\d+", project["requires-python"])[0],
        repository=project.get("urls", {}).get("Repository", "").rstrip("/"),
        maintainers=release["conda-maintainers"],
    )


def filled_files(project: Project, root: Path = ROOT) -> dict[str, str]:
    """Texts of the files that repeat version or address, by their path in the project."""
    citation = (root / "CITATION.cff").read_text(encoding="utf-8")
    citation = re.sub(r"^repository-code: .*\n", "", citation, flags=re.MULTILINE)
    address = f"repository-code: {project.repository}\n" if project.repository else ""
    citation = re.sub(r"^version: .*\n", f"version: {project.version}\n{address}", citation, flags=re.MULTILINE)
    recipe = (root / "recipe" / "recipe.yaml").read_text(encoding="utf-8")
    recipe = re.sub(r'^  version: ".*"$', f'  version: "{project.version}"', recipe, flags=re.MULTILINE)
    recipe = re.sub(r'^  python_min: ".*"$', f'  python_min: "{project.python_min}"', recipe, flags=re.MULTILINE)
    return {"CITATION.cff": citation, "recipe/recipe.yaml": recipe, ".zenodo.json": zenodo(project)}


def zenodo(project: Project) -> str:
    """Text of .zenodo.json: what the archive that gives a DOI to a release shows."""
    about: dict[str, Any] = {
        "title": f"{project.name}: what the way of cutting data into folds does to results",
        "description": project.summary,
        "version": project.version,
        "upload_type": "software",
        "access_right": "open",
        "license": "MIT",
        "creators": [{"name": "The foldshift developers"}],
        "keywords": project.keywords,
    }
    if project.repository:
        about["related_identifiers"] = [
            {"identifier": project.repository, "relation": "isSupplementTo", "scheme": "url", "resource_type": "software"}
        ]
    return json.dumps(about, indent=2, ensure_ascii=False) + "\n"


def feedstock_recipe(project: Project, sdist: bytes, root: Path = ROOT) -> str:
    """Text of the recipe for conda-forge: source by address and checksum, homepage, maintainers.

    `sdist` is the archive at the address of a release: `make package` made it, and release.yml attached it.
    """
    recipe = FIRST_LINE.sub("", (root / "recipe" / "recipe.yaml").read_text(encoding="utf-8"))
    file = f"{project.name}-${{{{ version }}}}.tar.gz"
    url = f"{project.repository}/releases/download/v${{{{ version }}}}/{file}"
    recipe = recipe.replace(SOURCE, f"source:\n  url: {url}\n  sha256: {hashlib.sha256(sdist).hexdigest()}\n")
    homepage = f"about:\n  homepage: {project.repository}\n  repository: {project.repository}\n"
    recipe = recipe.replace("about:\n", homepage)
    return recipe + "extra:\n  recipe-maintainers:\n" + "".join(f"    - {name}\n" for name in project.maintainers)


def release_notes(project: Project, root: Path = ROOT) -> str:
    """Section of the changelog for this version; empty if there is none."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(rf"^## \[{re.escape(project.version)}\].*\n((?:(?!## \[).*\n?)*)", text, re.MULTILINE)
    return found[1].strip() + "\n" if found else ""


def lacks(project: Project, tag: str, root: Path = ROOT) -> list[str]:
    """List what keeps a tag from being a release, each with what to do."""
    found = []
    if tag != f"v{project.version}":
        found.append(f"the tag is {tag} and the version {project.version}: tag v{project.version}, or set __version__")
    if not project.repository:
        found.append('no address of the repository: add Repository = "https://..." to [project.urls] of pyproject.toml')
    if not project.maintainers:
        found.append("nobody maintains the recipe: name them in [tool.foldshift.release] of pyproject.toml")
    if not release_notes(project, root):
        found.append(f"CHANGELOG.md has no section [{project.version}]: write it")
    for name, text in filled_files(project, root).items():
        path = root / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            found.append(f"{name} is not up to date: python recipe/release.py fill")
    return found


def main(argv: list[str] | None = None) -> None:
    """Run one of the commands."""
    parser = argparse.ArgumentParser(description="Fill and check what a release needs.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("fill", help="write version and address into the files that show them")
    commands.add_parser("notes", help="print the section of the changelog for this version")
    commands.add_parser("check", help="print what a release lacks").add_argument("tag")
    commands.add_parser("feedstock", help="print the recipe for conda-forge").add_argument("sdist", type=Path)
    options = parser.parse_args(argv)
    project = read_project()
    if options.command == "fill":
        for name, text in filled_files(project).items():
            (ROOT / name).write_text(text, encoding="utf-8", newline="\n")
    elif options.command == "notes":
        sys.stdout.write(release_notes(project))
    elif options.command == "check":
        found = lacks(project, options.tag)
        sys.exit("\n".join(found) if found else 0)
    else:
        if not project.repository or not project.maintainers:
            sys.exit("\n".join(lacks(project, f"v{project.version}")))
        sys.stdout.write(feedstock_recipe(project, options.sdist.read_bytes()))


if __name__ == "__main__":
    main()
