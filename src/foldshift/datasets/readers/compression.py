"""Unpacking of single files packed by gzip, bzip2, xz or zip, in memory and within limits."""

from __future__ import annotations

import bz2
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

from foldshift.core.errors import DataError, SourceError
from foldshift.core.remedies import Given
from foldshift.datasets.readers.programs.excel import ZIP_SIGNATURE, is_workbook
from foldshift.datasets.readers.programs.foreign_formats import check_readable
from foldshift.datasets.sources.download import MAX_BYTES, MAX_RATIO, one_line, read_members

if TYPE_CHECKING:
    from foldshift.datasets.readers.read_options import ReadOptions

_CHUNK = 2**16
MOST_NESTED = 2  # archives in archives
_TAR = slice(257, 262)  # bytes of a tar archive that hold the word "ustar"


class _Decompressor(Protocol):
    """Interface of the unpackers of bz2 and lzma."""

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...

    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...


class _Gzip:
    """Unpacker of one gzip stream, with the interface of those of bz2 and lzma."""

    def __init__(self) -> None:
        self._state = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._state.decompress(self._state.unconsumed_tail + data, max_length)

    @property
    def eof(self) -> bool:
        return self._state.eof

    @property
    def needs_input(self) -> bool:
        return not self._state.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._state.unused_data


def _xz() -> _Decompressor:
    """Make the unpacker of one xz stream; some builds of Python, those for browsers among them, have none."""
    try:
        import lzma
    except ImportError as error:
        raise SourceError("this Python was built without the module lzma, which unpacks xz; unpack the file first") from error
    return lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=2**28)


class _Packer(NamedTuple):
    """A format of packed files: its first bytes, endings of names, and a function that makes the unpacker of one stream."""

    signature: bytes
    endings: tuple[str, ...]
    make: Callable[[], _Decompressor]


_PACKERS = (
    _Packer(b"\x1f\x8b", (".gz", ".gzip", ".z"), _Gzip),
    _Packer(b"BZh", (".bz2", ".bz"), bz2.BZ2Decompressor),
    _Packer(b"\xfd7zXZ\0", (".xz",), _xz),
)


class Opened(NamedTuple):
    """Name and content of a file out of its packing, and the options it is to be read with."""

    name: str
    content: bytes
    options: ReadOptions


def opened(data: bytes, name: str, options: ReadOptions, max_bytes: int = MAX_BYTES, depth: int = 0) -> Opened:
    """Unpack a file and take it out of a zip archive.

    The option `member` names the files of an archive that are joined; without it the archive must hold one file. The lines
    that `skip_rows` leaves out of several members are cut here, and `skip_rows` becomes 0.
    """
    name, data = unpacked(data, name, max_bytes)
    if options.own:
        check_own(data, name)
    book = options.format == "excel" or name.lower().endswith(".xlsx") or is_workbook(data)
    if not options.member and (book or not data.startswith(ZIP_SIGNATURE)):
        return Opened(name, data, options)
    if options.own and not data.startswith(b"PK"):
        raise SourceError(f"{one_line(name)} is not a zip archive; leave out ", Given("member", options.member))
    members = read_members(data, options.member, max_bytes)
    name, content = f"{name}/{next(iter(members))}", next(iter(members.values()))
    if len(members) > 1:
        content = b"\n".join(b"\n".join(part.splitlines()[options.n_skipped :]) for part in members.values())
        options = replace(options, skip_rows=0)
    if options.own and depth < MOST_NESTED and content.startswith((ZIP_SIGNATURE, *(packer.signature for packer in _PACKERS))):
        return opened(content, name, replace(options, member=()), max_bytes, depth + 1)
    return Opened(name, content, options)


def check_own(data: bytes, name: str) -> None:
    """Refuse a user-defined file that is no table; the message names the file."""
    try:
        check_readable(data)
    except DataError as error:
        raise SourceError(f"{one_line(name)}: {error}") from error
    if data[_TAR] == b"ustar":
        raise SourceError(f"{one_line(name, 60)!r} is an archive of files (tar); unpack it, and give the file inside")


def unpacked(data: bytes, name: str, max_bytes: int = MAX_BYTES) -> tuple[str, bytes]:
    """Unpack a file that its first bytes show to be packed by gzip, bzip2 or xz; return its name without ending, and content.

    Other files are returned as they are. The limit counts the unpacked bytes.

    >>> import gzip
    >>> from foldshift.datasets.readers.compression import unpacked
    >>> unpacked(gzip.compress(b"x,y"), "mine.csv.gz")
    ('mine.csv', b'x,y')
    """
    packer = next((packer for packer in _PACKERS if data.startswith(packer.signature)), None)
    if packer is None:
        return name, data
    lower = name.lower()
    ending = next((ending for ending in packer.endings if lower.endswith(ending)), "")
    if lower.endswith((".tgz", ".tbz", ".txz")):
        raise SourceError(f"{one_line(name, 60)!r} is an archive of files (tar); pack the one file alone")
    content = b"".join(_pieces(data, packer.make, name, max_bytes))
    if content[_TAR] == b"ustar":
        raise SourceError(f"{one_line(name, 60)!r} is an archive of files (tar); pack the one file alone")
    return name[: len(name) - len(ending)], content


def _pieces(data: bytes, make: Callable[[], _Decompressor], name: str, max_bytes: int) -> Iterator[bytes]:
    """Unpack one stream after the other in pieces, none larger than a chunk however tightly it is packed."""
    name, size, allowed, position = one_line(name, 60), 0, max(2**20, MAX_RATIO * len(data)), 0
    state = make()
    while True:
        fed = b""
        if state.needs_input:
            fed, position = data[position : position + _CHUNK], position + _CHUNK
        try:
            piece = state.decompress(fed, _CHUNK)
        except Exception as error:  # each packer has its own errors
            raise SourceError(
                f"{name!r} is packed but damaged ({type(error).__name__}: {one_line(error)}); copy or save it once more"
            ) from error
        if not (fed or piece or state.eof) and state.needs_input:
            raise SourceError(f"{name!r} is packed but ends too early; copy or save it once more")
        size += len(piece)
        if size > max_bytes:
            raise SourceError(f"{name!r} exceeds the limit of {max_bytes} bytes when unpacked")
        if size > allowed:
            raise SourceError(f"{name!r} is more than {MAX_RATIO} times larger than its packed form; it looks like a bomb")
        yield piece
        if state.eof:
            position = min(position, len(data)) - len(state.unused_data)
            while data[position : position + 1] == b"\0":  # tapes are filled up with zeros
                position += 1
            if position >= len(data):
                return
            state = make()
