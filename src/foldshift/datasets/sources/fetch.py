"""Where data sets come from: sources in order of preference, each checked before it is believed."""

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
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit

from foldshift.core.errors import DataError, SourceError, unknown
from foldshift.datasets.readers.compression import opened
from foldshift.datasets.readers.formats import read_table
from foldshift.datasets.readers.parquet import read_frame
from foldshift.datasets.readers.raw_table import RawTable, fingerprint
from foldshift.datasets.readers.read_options import ReadOptions, parse_options
from foldshift.datasets.sources.download import Limits, NotFoundError, UnreachableError, download
from foldshift.datasets.sources.openml_client import fetch_openml

if TYPE_CHECKING:
    from foldshift.core.types import PathLike
    from foldshift.datasets.catalogue_entry import CatalogueEntry

DEFAULT_HOSTS = {
    "keel": "https://sci2s.ugr.es/keel/dataset/data",
    "uci": "https://archive.ics.uci.edu",
    "openml": "https://www.openml.org/api/v1/xml",
}
DEFAULT_LIMITS = Limits()
SKLEARN_LOADERS = ("load_breast_cancer", "load_diabetes", "load_digits", "load_iris", "load_wine")

_COLUMN_OPTIONS = ("target", "drop", "keep", "groups", "map", "round", "missing", "nominal")
_FILE_OPTIONS = ("format", "sep", "decimal", "header", "skip", "member", "ranges", *_COLUMN_OPTIONS)
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
    """One source of a data set: ``scheme:address?options``.

    Attributes
    ----------
    text : str
        As written in the catalogue.
    scheme : str
        ``mirror``, ``keel``, ``uci``, ``openml``, ``sklearn``, ``generated``, ``file`` or ``url``.
    address : str
        What the scheme looks up, percent-decoded.
    options : ReadOptions
        How to read what is found.
    """

    text: str
    scheme: str
    address: str
    options: ReadOptions


@dataclass(frozen=True)
class Attempt:
    """One source that was tried.

    Attributes
    ----------
    source : str
        As written in the catalogue.
    address : str
        The file or address that was looked at; empty if it did not come to that.
    problem : str
        Why it was refused; empty for the source that was accepted.
    """

    source: str
    address: str
    problem: str


@dataclass(frozen=True)
class Fetched:
    """A table and where it came from.

    Attributes
    ----------
    table : RawTable
        The table.
    source : str
        The source that was accepted, as written in the catalogue.
    address : str
        File or address.
    retrieved : str
        UTC date (ISO 8601) of the download; empty if nothing was downloaded.
    sha256 : str
        Checksum of the file as it was received; empty if there was none.
    licence : str
        Licence as the source states it; empty if it does not.
    fingerprint : str
        `foldshift.datasets.readers.raw_table.fingerprint` of the table.
    attempts : tuple of Attempt
        Every source that was tried, the accepted one last.
    """

    table: RawTable
    source: str
    address: str
    retrieved: str
    sha256: str
    licence: str
    fingerprint: str
    attempts: tuple[Attempt, ...]


@dataclass
class _Found:
    """What a scheme found besides the table, each filled in as soon as it is known, so that refusals can name it."""

    address: str = ""
    retrieved: str = ""
    sha256: str = ""
    licence: str = ""
    downloaded: tuple[Any, ...] = ()  # files of the cache to forget if the table is refused


def parse_source(text: str) -> Source:
    """Read one source as it stands in the catalogue."""
    scheme, colon, rest = text.partition(":")
    if not colon:
        raise SourceError(f"source {text!r} is not of the form scheme:address; schemes are {', '.join(_SCHEMES)}")
    if scheme not in _SCHEMES:
        raise SourceError(unknown("scheme", scheme, _SCHEMES, f"It stands in source {text!r}."))
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
        raise SourceError(f"source {text!r}: {error}") from error
    return Source(text, scheme, address, options)


def fetch(
    entry: CatalogueEntry,
    *,
    mirror: PathLike | None = None,
    hosts: dict[str, str] = DEFAULT_HOSTS,
    cache: PathLike | None = None,
    progress: Callable[..., Any] = print,
    limits: Limits = DEFAULT_LIMITS,
) -> Fetched:
    """Get a data set from the first of its sources that gives the table which the catalogue expects."""
    sources = [parse_source(text) for text in entry.sources]
    if not sources:
        raise SourceError(f"{entry.name}: the catalogue names no source; add one")
    hosts = {**DEFAULT_HOSTS, **hosts}
    mirror = str(mirror) if mirror else ""
    attempts, kind = [], SourceError
    with tempfile.TemporaryDirectory(prefix="foldshift.") as scratch:
        for source in sources:
            found = _Found()
            if source.scheme == "mirror" and not mirror:
                attempts.append(Attempt(source.text, "", "passed over, no mirror is configured"))
                continue
            try:
                table = _READERS[source.scheme](source, entry, found, mirror, hosts, Path(cache or scratch), limits)
                digest = fingerprint(table)
                _check(table, digest, entry)
            except (DataError, OSError) as error:
                for path in found.downloaded:
                    path.unlink(missing_ok=True)
                attempts.append(Attempt(source.text, found.address, str(error)))
                kind = UnreachableError if isinstance(error, UnreachableError) else kind
                if len(sources) > 1:
                    progress(f"{entry.name}: {source.text} refused: {error}")
                continue
            attempts.append(Attempt(source.text, found.address, ""))
            progress(f"{entry.name}: {source.text} accepted ({found.address})")
            return Fetched(
                table,
                source.text,
                found.address,
                found.retrieved,
                found.sha256,
                found.licence,
                digest,
                tuple(attempts),
            )
    said = "; ".join(f"{attempt.source}: {attempt.problem}" for attempt in attempts)
    if all(source.scheme == "file" for source in sources):
        raise SourceError(f"data set {entry.name}: {said}")
    raise kind(
        f"data set {entry.name}: none of its {len(sources)} sources could be used; set mirror to a folder or address that holds "
        f"the files, or"
        f" check the network. {said}"
    )


def _check(table: RawTable, digest: str, entry: CatalogueEntry) -> None:
    """Refuse a table that is not the expected one."""
    rows, columns = int(table.complete().sum()), len(table.features)
    compared = (
        ("rows without missing values", rows, entry.n_rows),
        ("input columns", columns, entry.n_features),
        ("fingerprint", digest, entry.fingerprint or None),
    )
    different = [f"{what} {got} instead of {want}" for what, got, want in compared if want is not None and got != want]
    if different:
        raise SourceError(f"not the expected table: {', '.join(different)}")


def _read(data: bytes, name: str, source: Source, entry: CatalogueEntry, found: _Found, limits: Limits) -> RawTable:
    """Table from the bytes of a file or of an archive."""
    found.sha256 = hashlib.sha256(data).hexdigest()
    name, data, options = opened(data, name, replace(source.options, own=entry.own), limits.max_bytes)
    return read_table(data, name, options, task=entry.task, target=entry.target)


def _local(path: Path, source: Source, entry: CatalogueEntry, found: _Found, limits: Limits) -> RawTable:
    found.address = str(path)
    try:
        mode = path.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise SourceError(f"{path} is a device or pipe, not a file; give a file")
        with open(path, "rb") as file:
            data = file.read(limits.max_bytes + 1)
    except FileNotFoundError:
        raise SourceError(f"there is no file {path}") from None
    except SourceError:
        raise
    except (OSError, ValueError) as error:
        raise SourceError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > limits.max_bytes:
        raise SourceError(f"{path} has {path.stat().st_size} bytes, more than the limit of {limits.max_bytes}")
    return _read(data, path.name, source, entry, found, limits)


def _remote(
    places: list[tuple[str, Path]],
    source: Source,
    entry: CatalogueEntry,
    found: _Found,
    limits: Limits,
    member: str | None = None,
) -> RawTable:
    """Table from the first of `places` (address, path in the cache) that is in the cache or exists at its address."""
    kept = [place for place in places if place[1].is_file()]
    for found.address, path in kept or places:
        try:
            if not kept:
                download(found.address, path, **vars(limits))
            break
        except NotFoundError:
            if path == places[-1][1]:
                raise
    found.downloaded = (path,)
    found.retrieved = time.strftime("%Y-%m-%d", time.gmtime(path.stat().st_mtime))
    if member is not None and not source.options.member:
        source = replace(source, options=replace(source.options, member=(member,)))
    name = unquote(urlsplit(found.address).path.rsplit("/", 1)[-1])
    return _read(path.read_bytes(), name, source, entry, found, limits)


def _cached(cache: Path, *parts: Any) -> Path:
    """Path in the cache; parts come from addresses and must not lead out of it."""
    return cache.joinpath(*(re.sub(r"[^\w.+-]", "_", part).lstrip(".") or "_" for part in parts))


def _from_mirror(
    source: Source, entry: CatalogueEntry, found: _Found, mirror: str, hosts: dict[str, str], cache: Path, limits: Limits
) -> RawTable:
    if ".." in Path(source.address).parts:
        raise SourceError(f"the path {source.address!r} leads out of the mirror")
    if mirror.startswith(("http://", "https://")):
        url = f"{mirror.rstrip('/')}/{quote(source.address.lstrip('/'), safe='/+')}"
        key = hashlib.sha256(mirror.encode()).hexdigest()[:8]
        path = _cached(cache, "mirror", key, *source.address.split("/"))
        return _remote([(url, path)], source, entry, found, limits)
    return _local(Path(os.path.expanduser(mirror)) / source.address.lstrip("/"), source, entry, found, limits)


def _from_file(
    source: Source, entry: CatalogueEntry, found: _Found, mirror: str, hosts: dict[str, str], cache: Path, limits: Limits
) -> RawTable:
    return _local(Path(os.path.expanduser(source.address)), source, entry, found, limits)


def _from_url(
    source: Source, entry: CatalogueEntry, found: _Found, mirror: str, hosts: dict[str, str], cache: Path, limits: Limits
) -> RawTable:
    key = hashlib.sha256(source.address.encode()).hexdigest()[:16]
    return _remote([(source.address, _cached(cache, "url", key))], source, entry, found, limits)


def _from_keel(
    source: Source, entry: CatalogueEntry, found: _Found, mirror: str, hosts: dict[str, str], cache: Path, limits: Limits
) -> RawTable:
    kind, name = source.address.split("/")
    base = f"{hosts['keel'].rstrip('/')}/{kind}"
    places = [
        (f"{base}/{quote(spelling)}.zip", _cached(cache, "keel", kind, f"{spelling}.zip"))
        for spelling in dict.fromkeys((name, name.lower()))
    ]
    return _remote(places, source, entry, found, limits, member=f"{name}.dat")


def _from_uci(
    source: Source, entry: CatalogueEntry, found: _Found, mirror: str, hosts: dict[str, str], cache: Path, limits: Limits
) -> RawTable:
    identifier, slug = source.address.split("/")
    url = f"{hosts['uci'].rstrip('/')}/static/public/{identifier}/{quote(slug, safe='+')}.zip"
    return _remote([(url, _cached(cache, "uci", f"{identifier}.zip"))], source, entry, found, limits)


def _from_openml(
    source: Source, entry: CatalogueEntry, found: _Found, mirror: str, hosts: dict[str, str], cache: Path, limits: Limits
) -> RawTable:
    found.address = f"{hosts['openml'].rstrip('/')}/data/{source.address}"
    folder = _cached(cache, "openml", hashlib.sha256(hosts["openml"].encode()).hexdigest()[:8])
    path, about = fetch_openml(
        int(source.address),
        folder,
        server=hosts["openml"],
        limits=limits,
        insecure_parquet=bool(entry.fingerprint),
    )
    found.downloaded = (path,)
    found.licence = about["licence"]
    found.retrieved = time.strftime("%Y-%m-%d", time.gmtime(path.stat().st_mtime))
    options = source.options
    ignored = tuple(
        name for name in about["ignore"] if name not in (options.target, about["target"], *[entry.target] * entry.own)
    )
    declared = "" if entry.own else about["target"]  # what the user asks for goes before what the source says
    options = replace(options, target=options.target or declared, drop=options.drop + ignored)
    return _read(path.read_bytes(), path.name, replace(source, options=options), entry, found, limits)


def _from_sklearn(
    source: Source, entry: CatalogueEntry, found: _Found, mirror: str, hosts: dict[str, str], cache: Path, limits: Limits
) -> RawTable:
    from sklearn import datasets

    found.address = f"sklearn.datasets.{source.address}"
    scaled = {"scaled": False} if source.address == "load_diabetes" else {}
    bunch = getattr(datasets, source.address)(as_frame=True, **scaled)
    frame = bunch.frame
    if "target_names" in bunch:
        frame["target"] = [str(bunch.target_names[code]) for code in frame["target"]]
    named = source.options.target or ("" if entry.own else "target")
    options = replace(source.options, target=named, own=entry.own)
    return read_frame(frame, options, task=entry.task, target=entry.target)


def _from_generated(
    source: Source, entry: CatalogueEntry, found: _Found, mirror: str, hosts: dict[str, str], cache: Path, limits: Limits
) -> RawTable:
    from foldshift.datasets.synthetic.generated import generate

    found.address = f"foldshift.datasets.synthetic.generated.{source.address}"
    return generate(source.address)


_READERS = {
    "mirror": _from_mirror,
    "keel": _from_keel,
    "uci": _from_uci,
    "openml": _from_openml,
    "sklearn": _from_sklearn,
    "generated": _from_generated,
    "file": _from_file,
    "url": _from_url,
}
