"""Make tables and figures again from an archive, in a fresh folder, and compare them byte for byte: `make reproduce
ARCHIVE=path`.

Nothing is fetched or fitted, and no code of the archive is run: the workflow is this one, a configuration that holds more than
the settings of the schema is refused, and of the other files only data lie where tables are made.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from foldshift.core.errors import DataError, FoldshiftError
from foldshift.core.files import content_of
from foldshift.core.versions import installed_versions
from foldshift.engine.archive.archived_config import archived_config, is_data, read_provenance
from foldshift.engine.archive.crate import ROWS_FORMAT, unpack
from foldshift.engine.archive.differences import differing_code, differing_outputs, differing_versions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldshift.core.types import PathLike
    from foldshift.engine.archive.crate import Archive

ROOT = Path(__file__).resolve().parents[1]
CONFIG = "archived.json"
SHOWN = 10


def fresh_folder(name: str | None) -> Path:
    """The folder to work in: the one named, which must be empty, or a temporary one."""
    if name is None:
        return Path(tempfile.mkdtemp(prefix="foldshift-reproduce-"))
    folder = Path(name).absolute()  # Snakemake works in another one
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(f"folder {folder} is not empty; name a folder that does not exist yet")
    return folder


def check_format(provenance: PathLike, path: PathLike) -> None:
    """Refuse rows that this version cannot read, with the version that can.

    Parameters
    ----------
    provenance : path-like
        Folder ``results/provenance`` of the archive.
    path : path-like
        The archive, for the message.

    Raises
    ------
    DataError
        If the rows have another format.
    """
    versions = read_provenance(Path(provenance, "versions.json"))
    if versions.get("rows_format", 1) != ROWS_FORMAT:
        about = read_provenance(Path(provenance, "run.json"))
        commit = (about.get("git") or {}).get("commit")
        raise DataError(
            f"{path}: its rows have format {versions.get('rows_format', 1)}, this version reads format {ROWS_FORMAT}; "
            f"everything in it was checked and is whole. Make its tables again with foldshift {versions.get('foldshift', '?')}"
            + (f" (git checkout {commit})" if commit else "")
        )


def set_up(archive: Archive, unpacked: Path, run: Path, studies_from: Sequence[str]) -> None:
    """Move what the tables and figures are made from into a folder of its own; they themselves stay where they were unpacked."""
    config = archived_config(unpacked / "results/provenance/config.yaml", ROOT, studies_from)
    for name in archive.files:
        if name not in archive.outputs and is_data(name):
            (run / name).parent.mkdir(parents=True, exist_ok=True)
            (unpacked / name).rename(run / name)
    # JSON: Snakemake runs code of files in YAML alone.
    (run / CONFIG).write_text(json.dumps(config, indent=1), encoding="utf-8")


def make_again(run: Path, cores: int) -> None:
    """Run the workflow in archived mode; its output goes to a file and, if it fails, to the screen."""
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "all",
        "--verbose",
        "--snakefile",
        ROOT / "Snakefile",
        "--directory",
        run,
        "--cores",
        cores,
    ]
    command += ["--workflow-profile", ROOT / "profiles/default", "--configfile", run / CONFIG]
    # No module is looked for in the folder that the archive was unpacked to.
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if os.path.isabs(path)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "PYTHONSAFEPATH": "1"}
    done = subprocess.run(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=run, env=environment
    )
    (run / "reproduce.log").write_text(done.stdout, encoding="utf-8")
    if done.returncode:
        sys.stdout.write("".join(done.stdout.splitlines(keepends=True)[-30:]))
        raise DataError(
            f"the tables and figures could not be made; everything is kept in {run}, the whole output in {run / 'reproduce.log'}"
        )


def shorten(items: Sequence[str]) -> str:
    """The first items in one line, and how many more there are."""
    return ", ".join(items[:SHOWN]) + (f" and {len(items) - SHOWN} more" if len(items) > SHOWN else "")


def reproduce(path: PathLike, name: str | None, cores: int, studies_from: Sequence[str] = ()) -> int:
    """Unpack, check, make again, compare, say what came of it.

    Returns
    -------
    identical : bool
    """
    folder = fresh_folder(name)
    unpacked, run = folder / "archived", folder / "run"
    identical = False
    try:
        archive = unpack(path, unpacked)
        print(f"{path}: SHA-256 {content_of(path).sha256}, {len(archive.files)} files, all checksums right", flush=True)
        check_format(unpacked / "results/provenance", path)
        set_up(archive, unpacked, run, [str(Path(folder).absolute()) for folder in studies_from])
        print(f"Making {len(archive.outputs)} tables and figures again in {run} ...", flush=True)
        make_again(run, cores)
        differences = differing_outputs(archive, run)
        wrong = len(differences.keys() & set(archive.outputs))
        print(f"{len(archive.outputs) - wrong} of {len(archive.outputs)} files identical")
        for file, what in sorted(differences.items()):
            print(f"  {file} {what}")
        theirs = read_provenance(run / "results/provenance/versions.json")
        for what, items in (
            ("Versions", differing_versions(installed_versions(), theirs)),
            ("Code", differing_code(archive, ROOT)),
        ):
            if items:
                print(f"{what} that differ from the archive's; a difference in bytes may come from there: {shorten(items)}")
        identical = not differences
        if not identical:
            print(f"Both are kept for comparison: {unpacked / 'results'} and {run / 'results'}")
    finally:
        # A temporary folder is kept where there is something to look at in it.
        if name is None and (identical or not run.exists()):
            shutil.rmtree(folder, ignore_errors=True)
    return identical


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("archive", help="made with `snakemake archive`: results/archive/foldshift.zip")
    parser.add_argument("--folder", help="where to work, and keep everything; by default a temporary folder")
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument(
        "--studies-from",
        nargs="*",
        default=[],
        help="folders with studies that do not come with the project, as in the configuration",
    )
    options = parser.parse_args()
    try:
        sys.exit(0 if reproduce(Path(options.archive), options.folder, options.cores, options.studies_from) else 1)
    except FoldshiftError as error:
        sys.exit(f"foldshift: {error}")


if __name__ == "__main__":
    main()
