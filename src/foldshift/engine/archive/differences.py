"""Differences between an archive and this machine: tables and figures that were made again, versions, code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldshift.core.files import content_of
from foldshift.engine.archive.crate import workflow_files

if TYPE_CHECKING:
    from foldshift.core.types import PathLike
    from foldshift.engine.archive.crate import Archive


def differing_outputs(archive: Archive, folder: PathLike) -> dict[str, str]:
    """Compare tables and figures that were made again with the archived ones, byte for byte."""
    folder = Path(folder)
    differences = {}
    for name in archive.outputs:
        if not (folder / name).is_file():
            differences[name] = "was not made"
        elif content_of(folder / name) != archive.files[name]:
            differences[name] = "differs"
    for place in sorted({Path(name).parent for name in archive.outputs}):
        for made in sorted((folder / place).iterdir()) if (folder / place).is_dir() else ():
            name = made.relative_to(folder).as_posix()
            if made.is_file() and name not in archive.outputs and name not in archive.files:
                differences[name] = "is not in the archive"
    return differences


def differing_versions(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """List installed versions that differ from those of an archive."""
    pairs = {key: (ours.get(key), theirs.get(key)) for key in ("foldshift", "python")}
    packages = ours.get("packages", {}), theirs.get("packages", {})
    pairs |= {name: (packages[0][name], packages[1][name]) for name in sorted(packages[0].keys() & packages[1].keys())}
    return [f"{name} {here} (archive: {there})" for name, (here, there) in pairs.items() if here != there]


def differing_code(archive: Archive, root: PathLike) -> list[str]:
    """List files of the workflow that differ from those of an archive."""
    places = ("Snakefile", "workflow/", "scripts/", "src/")
    here = {name: path for name, path in workflow_files(root).items() if name.startswith(places)}
    there = {name for name in archive.files if name.startswith(places)}
    changed = [name for name in here.keys() & there if content_of(here[name]) != archive.files[name]]
    return sorted([*changed, *(here.keys() ^ there)])
