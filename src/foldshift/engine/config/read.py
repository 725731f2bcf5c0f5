"""Reading of the configuration: the studies that it may name, and the schema that follows from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from foldshift.core.errors import ConfigError
from foldshift.engine.config.schema import compose_schema
from foldshift.engine.config.yaml_files import read_yaml
from foldshift.engine.study.find import StudyInfo, find_studies


class ReadConfig(NamedTuple):
    """A configuration as it was read, with what is needed to understand it."""

    raw: dict[str, Any]  # configuration files and command line, merged by Snakemake
    root: Path  # folder of the workflow
    studies: dict[str, StudyInfo]  # all studies by id, user-defined ones included
    schema: dict[str, Any]  # JSON schema of the whole configuration

    def located(self, path: str) -> Path:
        """Path of a file of the working directory, or else of the one of that name that comes with the workflow."""
        return located(path, self.root)


def located(path: str, root: Path) -> Path:
    """Path of a file of the working directory, or else of the one of that name below another folder."""
    there = root / path
    return there if there.exists() and not Path(path).exists() else Path(path)


def read_config(raw: dict[str, Any], root: Path) -> ReadConfig:
    """Find the studies that a configuration may name, and compose its schema; ConfigError for folders without studies."""
    folders = raw.get("studies_from") or []
    folders = [folders] if isinstance(folders, str) else folders
    if not isinstance(folders, list) or not all(isinstance(folder, str) for folder in folders):
        raise ConfigError(f"studies_from={folders!r} must be a list of folders, such as [my_studies]")
    studies = find_studies(folders)
    schema = read_yaml(root / "workflow/schemas/config.schema.yaml", "configuration schema")
    return ReadConfig(raw, root, studies, compose_schema(schema, studies))
