"""Archive of a run: one file with everything that its tables and figures rest on, as a Workflow Run RO-Crate; written and
unpacked.

The crate follows RO-Crate 1.1 (https://w3id.org/ro/crate/1.1) and Workflow Run Crate 0.5
(https://w3id.org/ro/wfrun/workflow/0.5): the workflow is the main entity, one `CreateAction` is its run, with configuration and
data as objects and tables and figures as results. Every file has its size and SHA-256.
"""

from __future__ import annotations

import json
import re
import shutil
import stat
import struct
import uuid
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, unquote

from rocrate.model import ContextEntity
from rocrate.rocrate import ROCrate

from foldshift.core.errors import DataError
from foldshift.core.files import Content, atomic_path, copy_stream

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

    from foldshift.core.types import PathLike, Rows

METADATA = "ro-crate-metadata.json"
# Of the rows that tables are made from: 2, studies as folders (0.2). What has no number is 1.
ROWS_FORMAT = 2
WORKFLOW = "workflow/Snakefile"
MAX_FILES = 500_000
MAX_BYTES = 100 * 10**9
MAX_METADATA_BYTES = 500 * 10**6
MAX_GROWTH, FROM_BYTES = 100, 100 * 10**6  # unpacked over packed, of a member from this size on: tables grow tenfold
# What zipfile raises at a damaged file.
_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, OverflowError, RuntimeError, ValueError)

# What the workflow itself consists of, relative to its folder.
_PARTS = (
    "CITATION.cff",
    "LICENSE",
    "Makefile",
    "README.md",
    "Snakefile",
    "config",
    "envs",
    "profiles",
    "pyproject.toml",
    "requirements.lock",
    "scripts",
    "src",
    "workflow",
)
_PACKED = {".parquet", ".png", ".npz"}  # compressed already
_FORMATS = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".json": "application/json",
    ".md": "text/markdown",
    ".parquet": "application/vnd.apache.parquet",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".py": "text/x-python",
    ".svg": "image/svg+xml",
    ".tex": "application/x-tex",
    ".toml": "application/toml",
    ".tsv": "text/tab-separated-values",
    ".yaml": "application/yaml",
}
_PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}


class Archive(NamedTuple):
    """Contents of an archive, as its metadata list them."""

    files: dict[str, Content]  # every file but the metadata, by its name in the archive
    outputs: tuple[str, ...]  # the tables and figures among them


def workflow_files(root: PathLike) -> dict[str, Path]:
    """Files of the workflow itself: rules, scripts, library, environments."""
    root = Path(root)
    found = {}
    for part in _PARTS:
        for path in [root / part, *(root / part).rglob("*")]:
            name = path.relative_to(root).as_posix()
            if path.is_file() and not re.search(r"(^|/)(\.|__pycache__/)|\.egg-info/", name):
                found[name] = path
    return found


def write_archive(
    path: PathLike,
    files: dict[str, PathLike],
    outputs: Iterable[str],
    objects: Iterable[str],
    *,
    started: str,
    ended: str,
    versions: dict[str, Any],
    origins: Rows,
) -> None:
    """Write an archive; the same files and facts give the same bytes."""
    contents = {}
    with atomic_path(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name in sorted(files):
            info = _info(name)
            info.file_size = Path(files[name]).stat().st_size  # lets zipfile choose the format for large files
            with open(files[name], "rb") as source, archive.open(info, "w") as target:
                contents[name] = copy_stream(source, target)
        graph = crate(contents, outputs, objects, started=started, ended=ended, versions=versions, origins=origins)
        archive.writestr(_info(METADATA), json.dumps(graph, indent=1, ensure_ascii=False) + "\n")


def _info(name: str) -> ZipInfo:
    """Entry of a zip file that depends on the name alone."""
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.create_system = 3  # Unix, wherever it is written
    info.external_attr = (stat.S_IFREG | 0o644) << 16
    info.compress_type = zipfile.ZIP_STORED if Path(name).suffix in _PACKED else zipfile.ZIP_DEFLATED
    return info


def crate(
    contents: dict[str, Content],
    outputs: Any,
    objects: Any,
    *,
    started: str,
    ended: str,
    versions: dict[str, Any],
    origins: list[dict[str, str]],
) -> dict[str, Any]:
    """Make the metadata of an archive as JSON-LD: nothing random, no time of day."""
    made = ROCrate(version="1.1")
    made.metadata.extra_contexts.append("https://w3id.org/ro/terms/workflow-run/context")

    def add(identifier: str, kind: str, /, **properties: Any) -> Any:
        return made.add(ContextEntity(made, identifier, {"@type": kind} | properties))

    files = {}
    for name in sorted(contents):
        facts = {
            "name": Path(name).name,
            "contentSize": str(contents[name].size),
            "encodingFormat": _FORMATS.get(Path(name).suffix, "text/plain"),
            "sha256": contents[name].sha256,
        }
        if name == WORKFLOW:
            facts |= {"name": "foldshift", "version": versions["foldshift"]}
            snakemake = versions["packages"].get("snakemake", "unknown")
            files[name] = made.add_workflow(dest_path=name, properties=facts, main=True, lang="snakemake", lang_version=snakemake)
        else:
            files[name] = made.add_file(dest_path=name, properties=facts)
    data = [
        add(f"#data-{quote(origin['name'], safe='')}", "CreativeWork", **_facts(origin))
        for origin in sorted(origins, key=lambda origin: origin["name"])
    ]
    digest = "".join(f"{content.sha256} {name}\n" for name, content in sorted(contents.items()))
    action = made.add_action(
        files[WORKFLOW],
        # Not random, as the profile recommends: the same results shall give the same archive.
        identifier=uuid.uuid5(uuid.NAMESPACE_URL, digest).urn,
        object=[*(files[name] for name in sorted(objects)), *data],
        result=[files[name] for name in sorted(outputs)],
        properties={
            "name": "Run of the foldshift workflow",
            "description": "The resolved configuration is results/provenance/config.yaml; "
            "start and end are the times of the first and of the last file.",
            "startTime": started,
            "endTime": ended,
            "actionStatus": "http://schema.org/CompletedActionStatus",
        },
    )
    made.name = "Results of a foldshift run"
    made.description = (
        "Scores of every fit, what was measured beside them, configuration and provenance, and the tables and figures made from "
        "them. The raw data are not included; the provenance says where they came from, with checksums. `make reproduce` makes "
        "the tables and figures again."
    )
    made.datePublished = ended
    made.license = add(
        "https://spdx.org/licenses/MIT",
        "CreativeWork",
        name="MIT License",
        description="Of the workflow and of what it computed; the data sets have licences of their own.",
    )
    profiles = [add(url, "CreativeWork", name=name, version=version) for url, (name, version) in _PROFILES.items()]
    made.root_dataset["conformsTo"] = profiles
    made.root_dataset["mentions"] = [action, *data]
    return made.metadata.generate()


def _facts(origin: dict[str, str]) -> dict[str, Any]:
    """Describe a data set, which is not in the archive, by its source."""
    facts = {
        "name": origin.get("title") or origin["name"],
        "identifier": origin["source"],
        "url": origin.get("address"),
        "sha256": origin.get("sha256"),
        "license": origin.get("licence"),
        "citation": origin.get("citation"),
    }
    return {key: value for key, value in facts.items() if value}


def unpack(path: PathLike, folder: PathLike) -> Archive:
    """Unpack an archive and check every file of it.

    Nothing is written outside `folder`, whatever the archive says, and nothing that its metadata do not list.
    """
    path, folder = Path(path), Path(folder)
    try:
        with zipfile.ZipFile(path) as opened:
            members = _members(opened, path)
            archive = _read_metadata(opened, members, path)
            _compare_names(path, members, archive)
            _check_space(path, folder, members)
            folder.mkdir(parents=True, exist_ok=True)
            for name in sorted(archive.files):
                _extract(opened, members[name], folder / name, archive.files[name], path)
            _extract(opened, members[METADATA], folder / METADATA, None, path)
    except DataError:
        raise
    except OSError as error:
        raise DataError(
            f"archive {path}: {error.strerror or error}; check the path, the permissions and the free space"
        ) from error
    except _DAMAGE as error:
        raise DataError(f"archive {path} is not a zip file or was cut off ({error}); fetch it again") from error
    return archive


def _members(opened: ZipFile, path: Path) -> dict[str, ZipInfo]:
    """List the members of a zip file by name, and refuse those that could do harm."""
    infos = [info for info in opened.infolist() if not (info.filename.endswith("/") and _is_inside(info.filename.rstrip("/")))]
    if len(infos) > MAX_FILES:
        raise DataError(f"archive {path}: {len(infos):,} files; at most {MAX_FILES:,} are unpacked")
    members = {}
    for info in infos:
        kind = stat.S_IFMT(info.external_attr >> 16)
        if not _is_inside(info.filename):
            raise DataError(f"archive {path}: the member {info.filename!r} would land outside the folder; nothing was unpacked")
        if (
            kind not in (0, stat.S_IFREG)
            or info.flag_bits & 1
            or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
        ):
            raise DataError(
                f"archive {path}: the member {info.filename!r} is not a plain file (a link, encrypted or packed in another way)"
            )
        if info.file_size > FROM_BYTES and info.file_size > MAX_GROWTH * info.compress_size:
            growth = info.file_size // max(info.compress_size, 1)
            raise DataError(
                f"archive {path}: the member {info.filename!r} grows {growth}-fold to {info.file_size / 1e6:.0f} MB; at most "
                f"{MAX_GROWTH}-fold is unpacked; ask who made the archive for another one"
            )
        if info.filename in members:
            raise DataError(f"archive {path}: the member {info.filename!r} is there twice")
        members[info.filename] = info
    total = sum(info.file_size for info in members.values())
    if total > MAX_BYTES:
        raise DataError(f"archive {path}: {total / 1e9:.1f} GB unpacked; at most {MAX_BYTES / 1e9:.0f} GB are")
    return members


def _is_inside(name: str) -> bool:
    """Return True if a member's name stays within the folder it is unpacked to, on every system."""
    return not re.search(r"[\\\x00-\x1f]|^[A-Za-z]:", name) and all(part not in ("", ".", "..") for part in name.split("/"))


def _check_space(path: Path, folder: Path, members: dict[str, ZipInfo]) -> None:
    """Refuse an archive that the disk cannot hold, before anything is written."""
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    needed, free = sum(info.file_size for info in members.values()), shutil.disk_usage(place).free
    if needed > free:
        raise DataError(
            f"archive {path}: {needed / 1e9:.1f} GB unpacked, {free / 1e9:.1f} GB free in {place}; make space or name another "
            f"folder"
        )


def _read_metadata(opened: ZipFile, members: dict[str, ZipInfo], path: Path) -> Archive:
    """Read the metadata of an archive."""
    info = members.get(METADATA)
    if info is None:
        raise DataError(f"archive {path}: no {METADATA}; it is not an archive of foldshift")
    if info.file_size > MAX_METADATA_BYTES:
        raise DataError(
            f"archive {path}: {METADATA} has {info.file_size / 1e6:.0f} MB; at most {MAX_METADATA_BYTES / 1e6:.0f} MB are read"
        )
    try:
        with opened.open(info) as file:
            return read_crate(json.load(file))
    except (KeyError, TypeError, AttributeError, *_DAMAGE) as error:
        raise DataError(
            f"archive {path}: {METADATA} is damaged or not that of an archive of foldshift ({type(error).__name__}: {error})"
        ) from error


def read_crate(metadata: dict[str, Any]) -> Archive:
    """Read the contents that metadata list; the counterpart of `crate`."""
    entities = {entity["@id"]: entity for entity in metadata["@graph"]}
    (action,) = (entity for entity in entities.values() if entity["@type"] == "CreateAction")
    files = {}
    for part in entities["./"]["hasPart"]:
        entity = entities[part["@id"]]
        if not re.fullmatch("[0-9a-f]{64}", entity["sha256"]):
            raise ValueError(f"sha256 of {part['@id']}")
        files[unquote(entity["@id"])] = Content(int(entity["contentSize"]), entity["sha256"])
    outputs = tuple(unquote(result["@id"]) for result in action["result"])
    for name in (*outputs, WORKFLOW):
        if name not in files:
            raise ValueError(f"{name} is not among the files")
    return Archive(files, outputs)


def _compare_names(path: Path, members: dict[str, ZipInfo], archive: Archive) -> None:
    """Refuse a zip file that holds more or less than its metadata list."""
    for name in sorted(archive.files.keys() ^ (members.keys() - {METADATA})):
        if name in members:
            raise DataError(f"archive {path}: {name} is not listed in {METADATA}; the archive was changed after it was made")
        raise DataError(f"archive {path}: {name} is missing; the archive was changed after it was made")


def _extract(opened: ZipFile, info: ZipInfo, target: Path, expected: Content | None, path: Path) -> None:
    """Write one member and compare it with what is expected of it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with opened.open(info) as source, open(target, "xb") as file:
            found = copy_stream(source, file)
    except _DAMAGE as error:
        raise DataError(f"archive {path}: {info.filename} is damaged ({error}); fetch the archive again") from error
    if expected is not None and found != expected:
        what = (
            f"checksum {found.sha256}, expected {expected.sha256}"
            if found.size == expected.size
            else f"{found.size} bytes, expected {expected.size}"
        )
        raise DataError(f"archive {path}: {info.filename} is not the file that was archived: {what}; fetch the archive again")
