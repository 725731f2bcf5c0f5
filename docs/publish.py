"""Publish tables and figures of archives, with provenance, below docs/results: `python docs/publish.py foldshift.zip`.

Tables (CSV), figures (SVG) and captions of every study in an archive are copied unchanged, and ``provenance.json`` is written
beside them: the archive's name and checksum, commit, versions, machine, settings, data, and the checksum of every file
in the archive. The archive itself is kept elsewhere.
"""

import argparse
import hashlib
import json
import shutil
import sys
import tempfile
from pathlib import Path

import yaml

from foldshift.core.errors import DataError, FoldshiftError
from foldshift.core.files import content_of, write_text
from foldshift.engine.archive.crate import METADATA, unpack

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "results"
PROVENANCE = "provenance.json"
MAX_BYTES = 20 * 10**6  # of all that is published; it is part of the history
ENDINGS = {"tables": {".csv", ".rst"}, "figures": {".svg", ".rst"}}


def place_of(name):
    """Study and path below it of a file that is published, by its name in the archive; None for all others."""
    parts = name.split("/")
    if parts[0] != "results" or len(parts) not in (3, 4):
        return None
    folder = parts[2] if len(parts) == 4 else "tables"  # what lies beside the folders, the comparison with print, is a table
    return (parts[1], "/".join(parts[2:])) if Path(name).suffix in ENDINGS.get(folder, ()) else None


def publish(path, folder=FOLDER):
    """Take the results of an archive; those of the same study that were there are replaced.

    Parameters
    ----------
    path : path-like
        The archive.
    folder : path-like
        Where the studies' folders are.

    Returns
    -------
    sizes : dict of str to int
        Bytes by study.

    Raises
    ------
    DataError
        If the archive is damaged, comes from a workflow that was edited after its commit, has nothing to publish, or if all that
        is published would be more than `MAX_BYTES`.
    """
    path, folder = Path(path), Path(folder)
    with tempfile.TemporaryDirectory(prefix="foldshift-publish-") as temporary:
        unpacked = Path(temporary)
        archive = unpack(path, unpacked)
        facts = _facts(path, unpacked)
        chosen = {}
        for name in archive.outputs:
            if found := place_of(name):
                chosen.setdefault(found[0], {})[found[1]] = name
        if not chosen:
            raise DataError(f"archive {path}: no tables or figures below results/<study>; make it with: snakemake archive")
        sizes = {study: sum(archive.files[name].size for name in files.values()) for study, files in chosen.items()}
        kept = sum(
            file.stat().st_size
            for file in folder.rglob("*")
            if file.is_file() and file.relative_to(folder).parts[0] not in chosen
        )
        total = sum(sizes.values())
        if kept + total > MAX_BYTES:
            names = [name for files in chosen.values() for name in files.values()]
            raise DataError(
                f"archive {path}: {total / 1e6:.1f} MB to publish beside {kept / 1e6:.1f} MB of other studies; at most "
                f"{MAX_BYTES / 1e6:.0f} MB are; the largest file is {max(names, key=lambda name: archive.files[name].size)}"
            )
        for study, files in chosen.items():
            shutil.rmtree(folder / study, ignore_errors=True)
            for below, name in files.items():
                (folder / study / below).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(unpacked / name, folder / study / below)
            settings = facts["settings"].get(study, {})
            about = {key: value for key, value in facts.items() if key != "settings"}
            about |= {
                "settings": settings,
                "files": {below: archive.files[name].sha256 for below, name in sorted(files.items())},
            }
            write_text(folder / study / PROVENANCE, json.dumps(about, indent=1, ensure_ascii=False) + "\n")
    return sizes


def _facts(path, unpacked):
    """Read the facts of a run from its archive."""

    def read(name):
        return (unpacked / "results" / "provenance" / name).read_text(encoding="utf-8")

    run, versions, config = json.loads(read("run.json")), json.loads(read("versions.json")), yaml.safe_load(read("config.yaml"))
    entities = json.loads((unpacked / METADATA).read_text(encoding="utf-8"))["@graph"]
    (action,) = (entity for entity in entities if entity["@type"] == "CreateAction")
    git = run["git"]
    if not git or git["changed_files"]:
        raise DataError(f"archive {path}: made by files that no commit holds; commit them and make it again: snakemake archive")
    content = content_of(path)
    return {
        "archive": {"name": path.name, "bytes": content.size, "sha256": content.sha256},
        "commit": git["commit"],
        "foldshift": versions["foldshift"],
        "machine": run["machine"],
        "started": action["startTime"],
        "ended": action["endTime"],
        "master_seed": run["master_seed"],
        "settings": config["studies"],
    }


def faults(folder=FOLDER):
    """List faults of the published results, a line each: files changed, missing, not listed, or too large in all.

    Parameters
    ----------
    folder : path-like
        Where the studies' folders are.

    Returns
    -------
    lines : list of str
    """
    folder, lines = Path(folder), []
    for study in sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else ():
        about = study / PROVENANCE
        listed = json.loads(about.read_text(encoding="utf-8"))["files"] if about.exists() else {}
        there = {file.relative_to(study).as_posix() for file in study.rglob("*") if file.is_file()} - {PROVENANCE}
        lines += [f"{study.name}/{name}: not listed in {PROVENANCE}" for name in sorted(there - listed.keys())]
        lines += [f"{study.name}/{name}: missing" for name in sorted(listed.keys() - there)]
        for name in sorted(there & listed.keys()):
            if hashlib.sha256((study / name).read_bytes()).hexdigest() != listed[name]:
                lines.append(f"{study.name}/{name}: not the file of the archive")
    total = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) if folder.is_dir() else 0
    return lines + ([f"{total / 1e6:.1f} MB in all; at most {MAX_BYTES / 1e6:.0f} MB"] if total > MAX_BYTES else [])


def main(arguments=None):
    """Publish what the archive holds, and say how much."""
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("archive", nargs="+", type=Path)
    given = parser.parse_args(arguments)
    try:
        for path in given.archive:
            for study, size in publish(path).items():
                print(f"docs/results/{study}: {size / 1e6:.2f} MB")
    except FoldshiftError as error:
        sys.exit(f"foldshift: {error}")


if __name__ == "__main__":
    main()
