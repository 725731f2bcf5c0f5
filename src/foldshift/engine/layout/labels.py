"""Record of the labels in file names, kept beside the results: their content in this configuration and in earlier ones.

The same of the units of many data sets, and whether Snakemake still knows what the results were made with.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldshift.core.files import write_text

if TYPE_CHECKING:
    from foldshift.core.types import PathLike

KINDS = ("learners", "partitioners")


def record_file(results: str) -> Path:
    """Path of the record below the folder of the results."""
    return Path(results, "provenance", "labels.json")


def read_record(path: PathLike) -> dict[str, dict[str, dict[str, Any]]]:
    """Read the record of labels."""
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
        return {kind: {label: dict(entry) for label, entry in record[kind].items()} for kind in KINDS}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {kind: {} for kind in KINDS}


def add_record(path: PathLike, records: Iterable[dict[str, Any]]) -> None:
    """Add labels to the record of earlier runs; write nothing where nothing is new."""
    known = read_record(path)
    record = {kind: dict(known[kind]) for kind in KINDS}
    for one in records:
        for kind in KINDS:
            record[kind] |= one[kind]
    if record != known:
        write_text(path, json.dumps(record, indent=1, ensure_ascii=False, default=str) + "\n")


def units_file(results: str) -> Path:
    """Path of the record of units below the folder of the results."""
    return Path(results, "provenance", "units.json")


def read_units(path: PathLike) -> dict[str, dict[str, tuple[str, ...]]]:
    """Read the data sets of the units of every study, in the order in which they were made."""
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
        return {study: {unit: tuple(map(str, names)) for unit, names in units.items()} for study, units in record.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def add_units(path: PathLike, of_studies: Mapping[str, Mapping[str, tuple[str, ...]]]) -> None:
    """Add the units of some studies to the record of earlier runs; write nothing where nothing is new."""
    known = read_units(path)
    record = known | {study: known.get(study, {}) | dict(units) for study, units in of_studies.items() if units}
    if record != known:
        write_text(path, json.dumps(record) + "\n")


def forgotten(results: PathLike, studies: Iterable[str], memory: PathLike = ".snakemake") -> str | None:
    """Warn if results exist that Snakemake has no metadata for: it would take them for finished."""
    if any(path.is_file() for path in Path(memory, "metadata").glob("**/*")) or Path(memory, "metadata.db").exists():
        return None
    found = [name for name in studies if any(path.is_file() for path in Path(results, name).glob("**/*"))]
    if not found:
        return None
    return (
        f"{results} holds files of {', '.join(found)}, and {memory} no record of what they were made with: they count as "
        "finished, even if code, data or settings have changed since. "
        f"Put {memory} back if you have it; to compute all anew, add --forceall"
    )
