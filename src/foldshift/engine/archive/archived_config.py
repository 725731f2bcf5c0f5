"""Configuration and provenance of an archive, which somebody else made: checked before anything of it is used."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from foldshift.core.errors import ConfigError, DataError, unknown
from foldshift.engine.config.merge import at_scale
from foldshift.engine.config.read import read_config
from foldshift.engine.config.schema import check_schema
from foldshift.engine.config.yaml_files import read_config_file

# Where the archive keeps what the configuration names by path.
PLACES = {
    "results": "results",
    "resources": "resources",
    "catalogue": "config/datasets.tsv",
    "learners_file": "config/learners.yaml",
    "costs_file": "config/costs.tsv",
    "mirror": None,
}
NOT_FOLLOWED = ("container", "hosts")  # settings of the run: where code and data came from
FOLDERS = ("results", "resources", "config")
ENDINGS = {".parquet", ".json", ".yaml", ".tsv", ".csv", ".npz", ".html", ".tex", ".svg", ".pdf", ".png"}  # no code among them


def is_data(name: str) -> bool:
    """Return True if a member of an archive may lie where tables are made: rows, settings and outputs, no code."""
    path = PurePosixPath(name)
    return path.parts[0] in FOLDERS and path.suffix in ENDINGS and not any(part.startswith(".") for part in path.parts)


def archived_config(path: Path, root: Path, studies_from: Sequence[str] = ()) -> dict[str, Any]:
    """Read the configuration of an archive and put it into archived mode, with the places that files have in an archive.

    `studies_from` are folders that the user names; those of the archive are not followed, as a study is code. Keys that the
    schema does not have, such as those that make Snakemake run code, raise DataError.
    """
    try:
        found = read_config_file(path, "the archive's configuration")
        config = {key: value for key, value in found.items() if key not in NOT_FOLLOWED} | PLACES
        config |= {"archived": True, "studies_from": list(studies_from)}
        read = read_config(config, root)
        for name in config["studies"] if isinstance(config.get("studies"), dict) else ():
            if name not in read.studies:
                hint = "Code of an archive is not run; if you trust the study, name its folder: STUDIES_FROM=FOLDER."
                raise ConfigError(unknown("study in the archive", name, read.studies, hint))
        check_schema(at_scale(config, read.studies), read.schema)
    except ConfigError as error:
        raise DataError(f"{path.name} of the archive is not followed: {error}; nothing of the archive was run") from error
    return config


def read_provenance(path: Path) -> dict[str, Any]:
    """Read a JSON file of the provenance of an archive."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path.name} of the archive cannot be read ({error}); fetch the archive again") from error
    if not isinstance(found, dict):
        raise DataError(f"{path.name} of the archive holds no keys and values; fetch the archive again")
    return found
