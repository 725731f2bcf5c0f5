"""Fetching of data sets: sources are tried in order of preference, and each table is checked."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

from foldshift.core.errors import DataError, SourceError, message_of, unknown
from foldshift.core.remedies import Message, at
from foldshift.datasets.readers.compression import opened
from foldshift.datasets.readers.formats import read_table
from foldshift.datasets.readers.parquet import read_frame
from foldshift.datasets.readers.raw_table import RawTable, fingerprint
from foldshift.datasets.readers.read_options import SETTINGS, ReadOptions, parse_options
from foldshift.datasets.sources.download import DEFAULT_LIMITS, Limits, NotFoundError, UnreachableError, download
from foldshift.datasets.sources.openml_client import fetch_openml

if TYPE_CHECKING:
    from foldshift.core.types import PathLike
    from foldshift.datasets.catalogue_entry import CatalogueEntry

DEFAULT_HOSTS = {
    "keel": "https://sci2s.ugr.es/keel/dataset/data",
    "uci": "https://archive.ics.uci.edu",
    "openml": "https://www.openml.org/api/v1/xml",
}
SKLEARN_LOADERS = ("load_breast_cancer", "load_diabetes", "load_digits", "load_iris", "load_wine")

_COLUMN_OPTIONS = (
    "target", "drop", "keep", "groups", "time_on", "space_on", "subset_on", "map", "round", "missing", "nominal", "types",
    "decimal", "thousands",
)  # fmt: skip
_FILE_OPTIONS = tuple(SETTINGS)
_SCHEMES = {
    "mirror": _FILE_OPTIONS,
    "keel": _FILE_OPTIONS,
    "uci": _FILE_OPTIONS,
    "openml": _COLUMN_OPTIONS,
    "sklearn": _COLUMN_OPTIONS,
    "generated": (),
    "file": _FILE_OPTIONS,
    "url": _FILE_OPTIONS,
}
_ADDRESSES = {
    "keel": (r"(regression|classification)/[^/]+", "regression/NAME or classification/NAME"),
    "uci": (r"[0-9]+/[^/]+", "ID/SLUG"),
    "openml": (r"[0-9]{1,9}", "the number of the data set"),
    "sklearn": (r"\w+", "a loader"),
    "generated": (r"[^/]+", "a name"),
    "url": (r"https?://[^/].*", "an address that begins with https:// or http://"),
}


@dataclass(frozen=True)
class Source:
    """One source of a data set: ``scheme:address?options``."""

    text: str  # as written in the catalogue
    scheme: str  # ``mirror``, ``keel``, ``uci``, ``openml``, ``sklearn``, ``generated``, ``file`` or ``url``
    address: str  # path, address or name that the scheme looks up, percent-decoded
    options: ReadOptions  # how to read the file


@dataclass(frozen=True)
class Attempt:
    """One source that was tried."""

    source: str  # as written in the catalogue
    address: str  # file or address that was looked up; empty if none was
    problem: str  # reason for the refusal; empty for the accepted source


@dataclass(frozen=True)
class Fetched:
    """A table and its origin."""

    table: RawTable  # the table
    source: str  # the accepted source, as written in the catalogue
    address: str  # file or address
    retrieved: str  # UTC date (ISO 8601) of the download; empty if nothing was downloaded
    sha256: str  # checksum of the file as received; empty if there was none
    licence: str  # licence as stated by the source; empty if it states none
    fingerprint: str  # `foldshift.datasets.readers.raw_table.fingerprint` of the table
    attempts: tuple[Attempt, ...]  # all sources that were tried, the accepted one last


@dataclass
class _Lookup:
    """One source that is being tried, and the origin of its table, filled in as soon as known so that refusals can name it."""

    source: Source
    entry: CatalogueEntry
    mirror: str
    hosts: dict[str, str]
    cache: Path
    limits: Limits
    address: str = ""
    retrieved: str = ""
    sha256: str = ""
    licence: str = ""
    downloaded: Path | None = None  # file of the cache to delete if the table is refused

    def set_download(self, path: Path) -> None:
        """Note the file of the cache and the UTC date of its download."""
        self.downloaded = path
        self.retrieved = time.strftime("%Y-%m-%d", time.gmtime(path.stat().st_mtime))


def parse_source(text: str) -> Source:
    """Parse one source of the catalogue: ``scheme:address?option=value&option=value``.

    A blank, ``&``, ``?`` or ``%`` of the address or of a value is percent-encoded. Schemes: ``mirror:PATH`` (a file below the
    configured mirror), ``keel:KIND/NAME``, ``uci:ID/SLUG``, ``openml:ID``, ``sklearn:LOADER``, ``generated:NAME``,
    ``file:PATH``, ``url:https://...``. Options are those of `foldshift.datasets.readers.read_options.ReadOptions`.
    """
    scheme, colon, rest = text.partition(":")
    if not colon:
        raise SourceError(f"source {text!r} is not of the form scheme:address; schemes are {', '.join(_SCHEMES)}")
    if scheme not in _SCHEMES:
        raise SourceError(unknown("scheme", scheme, _SCHEMES, f"It is in source {text!r}."))
    address, _, query = rest.partition("?")
    address = unquote(address)
    form, meaning = _ADDRESSES.get(scheme, (r".+", "a path"))
    if not re.fullmatch(form, address):
        raise SourceError(f"source {text!r}: {address!r} is not {meaning}")
    if scheme == "sklearn" and address not in SKLEARN_LOADERS:
        raise SourceError(f"source {text!r}: {unknown('scikit-learn loader', address, SKLEARN_LOADERS)}")
    try:
        options = parse_options(query, _SCHEMES[scheme])
    except SourceError as error:
        raise SourceError(f"source {text!r}: {error.at('workflow')}") from error
    return Source(text, scheme, address, options)


def fetch(
    entry: CatalogueEntry,
    *,
    mirror: PathLike | None = None,
    hosts: dict[str, str] = DEFAULT_HOSTS,
    cache: PathLike | None = None,
    progress: Callable[[str], object] = print,
    limits: Limits = DEFAULT_LIMITS,
) -> Fetched:
    """Fetch a data set from the first of its sources that has the table which the catalogue expects.

    Sources of a mirror are skipped if none is configured. Without a `cache` folder, downloads are not kept. `progress` gets one
    line per accepted source, and per refused one if there are others. If all sources are refused, the error lists the reasons;
    it is an `UnreachableError` if one of them may be reachable later.
    """
    sources = [parse_source(text) for text in entry.sources]
    if not sources:
        raise SourceError(f"{entry.name}: the catalogue names no source; add one")
    hosts = {**DEFAULT_HOSTS, **hosts}
    mirror = str(mirror) if mirror else ""
    attempts: list[Attempt] = []
    problems: list[Message] = []
    kind = SourceError
    with tempfile.TemporaryDirectory(prefix="foldshift.") as scratch:
        for source in sources:
            if source.scheme == "mirror" and not mirror:
                attempts.append(Attempt(source.text, "", "passed over, no mirror is configured"))
                problems.append(Message(f"{source.text}: {attempts[-1].problem}"))
                continue
            found = _Lookup(source, entry, mirror, hosts, Path(cache or scratch), limits)
            try:
                table = _READERS[source.scheme](found)
                digest = fingerprint(table)
                _check(table, digest, entry)
            except (DataError, OSError) as error:
                if found.downloaded is not None:
                    found.downloaded.unlink(missing_ok=True)
                attempts.append(Attempt(source.text, found.address, at(message_of(error), "workflow")))
                problems.append(Message(f"{source.text}: ", message_of(error)))
                kind = UnreachableError if isinstance(error, UnreachableError) else kind
                if len(sources) > 1:
                    progress(f"{entry.name}: {source.text} refused: {error}")
                continue
            attempts.append(Attempt(source.text, found.address, ""))
            progress(f"{entry.name}: {source.text} accepted ({found.address})")
            return Fetched(
                table, source.text, found.address, found.retrieved, found.sha256, found.licence, digest, tuple(attempts)
            )
    reasons = [part for problem in problems for part in ("; ", problem)][1:]
    if all(source.scheme == "file" for source in sources):
        raise SourceError(f"data set {entry.name}: ", *reasons)
    raise kind(
        f"data set {entry.name}: none of its {len(sources)} sources could be used; set mirror to a folder or address that holds "
        "the files, or check the network. ",
        *reasons,
    )


def _check(table: RawTable, digest: str, entry: CatalogueEntry) -> None:
    """Raise an error if a table is not the expected one."""
    rows, columns = int(table.complete().sum()), len(table.features)
    compared = (
        ("rows without missing values", rows, entry.n_rows),
        ("input columns", columns, entry.n_features),
        ("fingerprint", digest, entry.fingerprint or None),
    )
    different = [f"{what} {got} instead of {want}" for what, got, want in compared if want is not None and got != want]
    if different:
        raise SourceError(f"not the expected table: {', '.join(different)}")


def _read(data: bytes, name: str, options: ReadOptions, found: _Lookup) -> RawTable:
    """Read the table from the bytes of a file or an archive."""
    found.sha256 = hashlib.sha256(data).hexdigest()
    name, data, options = opened(data, name, replace(options, own=found.entry.own), found.limits.max_bytes)
    return read_table(data, name, options, task=found.entry.task, target=found.entry.target)


def _read_local(path: Path, found: _Lookup) -> RawTable:
    """Read the table from a local file."""
    found.address = str(path)
    limit = found.limits.max_bytes
    try:
        mode = path.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise SourceError(f"{path} is a device or pipe, not a file; give a file")
        with open(path, "rb") as file:
            data = file.read(limit + 1)
    except FileNotFoundError:
        raise SourceError(f"there is no file {path}") from None
    except SourceError:
        raise
    except (OSError, ValueError) as error:
        raise SourceError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > limit:
        raise SourceError(f"{path} has {path.stat().st_size} bytes, more than the limit of {limit}")
    return _read(data, path.name, found.source.options, found)


def _read_remote(places: list[tuple[str, Path]], found: _Lookup, member: str = "") -> RawTable:
    """Read the table from the first of `places` (address, path in the cache) that is cached or exists at its address."""
    kept = [place for place in places if place[1].is_file()]
    for found.address, path in kept or places:
        try:
            if not kept:
                download(found.address, path, found.limits)
            break
        except NotFoundError:
            if path == places[-1][1]:
                raise
    found.set_download(path)
    options = found.source.options
    if member and not options.member:
        options = replace(options, member=(member,))
    name = unquote(urlsplit(found.address).path.rsplit("/", 1)[-1])
    return _read(path.read_bytes(), name, options, found)


def _cached(cache: Path, *parts: str) -> Path:
    """Make a path in the cache; parts come from addresses and must not lead out of it."""
    return cache.joinpath(*(re.sub(r"[^\w.+-]", "_", part).lstrip(".") or "_" for part in parts))


def _from_mirror(found: _Lookup) -> RawTable:
    """Read a file below the configured mirror, a folder or an address."""
    address, mirror = found.source.address, found.mirror
    if ".." in Path(address).parts:
        raise SourceError(f"the path {address!r} leads out of the mirror")
    if mirror.startswith(("http://", "https://")):
        url = f"{mirror.rstrip('/')}/{quote(address.lstrip('/'), safe='/+')}"
        key = hashlib.sha256(mirror.encode()).hexdigest()[:8]
        return _read_remote([(url, _cached(found.cache, "mirror", key, *address.split("/")))], found)
    return _read_local(Path(os.path.expanduser(mirror)) / address.lstrip("/"), found)


def _from_file(found: _Lookup) -> RawTable:
    """Read a file by its path."""
    return _read_local(Path(os.path.expanduser(found.source.address)), found)


def _from_url(found: _Lookup) -> RawTable:
    """Read a file by its address."""
    address = found.source.address
    key = hashlib.sha256(address.encode()).hexdigest()[:16]
    return _read_remote([(address, _cached(found.cache, "url", key))], found)


def _from_keel(found: _Lookup) -> RawTable:
    """Read a data set of the KEEL repository; names of archives may be in lower case there."""
    kind, name = found.source.address.split("/")
    base = f"{found.hosts['keel'].rstrip('/')}/{kind}"
    places = [
        (f"{base}/{quote(spelling)}.zip", _cached(found.cache, "keel", kind, f"{spelling}.zip"))
        for spelling in dict.fromkeys((name, name.lower()))
    ]
    return _read_remote(places, found, member=f"{name}.dat")


def _from_uci(found: _Lookup) -> RawTable:
    """Read a data set of the UCI repository."""
    identifier, slug = found.source.address.split("/")
    url = f"{found.hosts['uci'].rstrip('/')}/static/public/{identifier}/{quote(slug, safe='+')}.zip"
    return _read_remote([(url, _cached(found.cache, "uci", f"{identifier}.zip"))], found)


def _from_openml(found: _Lookup) -> RawTable:
    """Read a data set of OpenML, without the columns that it declares not to be inputs."""
    options, entry, server = found.source.options, found.entry, found.hosts["openml"]
    found.address = f"{server.rstrip('/')}/data/{found.source.address}"
    path, about = fetch_openml(
        int(found.source.address),
        _cached(found.cache, "openml", hashlib.sha256(server.encode()).hexdigest()[:8]),
        server=server,
        limits=found.limits,
        insecure_parquet=bool(entry.fingerprint),
    )
    found.licence = about["licence"]
    found.set_download(path)
    asked_for = (options.target, about["target"], *[entry.target] * entry.own)
    ignored = tuple(name for name in about["ignore"] if name not in asked_for)
    declared = "" if entry.own else about["target"]  # the target that a user asks for comes first
    return _read(
        path.read_bytes(), path.name, replace(options, target=options.target or declared, drop=options.drop + ignored), found
    )


def _from_sklearn(found: _Lookup) -> RawTable:
    """Load a data set that comes with scikit-learn."""
    from sklearn import datasets

    loader, options, entry = found.source.address, found.source.options, found.entry
    found.address = f"sklearn.datasets.{loader}"
    scaled = {"scaled": False} if loader == "load_diabetes" else {}
    bunch = getattr(datasets, loader)(as_frame=True, **scaled)
    frame = bunch.frame
    if "target_names" in bunch:
        frame["target"] = [str(bunch.target_names[code]) for code in frame["target"]]
    named = options.target or ("" if entry.own else "target")
    return read_frame(frame, replace(options, target=named, own=entry.own), task=entry.task, target=entry.target)


def _from_generated(found: _Lookup) -> RawTable:
    """Make a generated data set."""
    from foldshift.datasets.synthetic.generated import generate

    found.address = f"foldshift.datasets.synthetic.generated.{found.source.address}"
    return generate(found.source.address)


_READERS: dict[str, Callable[[_Lookup], RawTable]] = {
    "mirror": _from_mirror,
    "keel": _from_keel,
    "uci": _from_uci,
    "openml": _from_openml,
    "sklearn": _from_sklearn,
    "generated": _from_generated,
    "file": _from_file,
    "url": _from_url,
}
