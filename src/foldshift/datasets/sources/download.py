"""Downloads with limits on time, size and retries, whole files or none; safe reading of archives."""

from __future__ import annotations

import email.utils
import io
import queue
import re
import threading
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from foldshift import __version__
from foldshift.core.errors import SourceError
from foldshift.core.files import atomic_path
from foldshift.core.printable import printable
from foldshift.core.remedies import Remedy

if TYPE_CHECKING:
    from threading import Event
    from zipfile import ZipFile, ZipInfo

    from foldshift.core.types import PathLike

MAX_BYTES = 64 * 2**20  # ten times the largest set of the catalogue
MAX_RATIO = 200  # text tables reach about 50; zip bombs exceed 1000
MAX_RETRY_AFTER = 60.0
USER_AGENT = f"foldshift/{__version__} (research data download)"
# First bytes of files that say themselves where they end: zip, gzip, bzip2, xz, Parquet.
BOUNDED = (b"PK", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"PAR1")
UNBOUNDED = (
    "the server does not say how long the file is, so nothing shows whether it is whole; save it, and name it as file:PATH"
)
_CHUNK = 2**16


def one_line(text: Any, length: int = 200) -> str:
    """Make text from outside safe for a message: one line, without control characters, at most `length` characters."""
    text = printable(" ".join(str(text)[: 10 * length].split()))
    return text if len(text) <= length else text[: length - 3] + "..."


class UnreachableError(SourceError):
    """The server could not be reached or gave a wrong answer; it may work later."""


class NotFoundError(SourceError):
    """The server reports that the file does not exist."""


@dataclass(frozen=True)
class Limits:
    """Limits of one download."""

    max_bytes: int = MAX_BYTES  # largest file, and largest sum of the files read from an archive
    timeout: float = 20.0  # seconds to wait for a connection, and for the next piece of an answer
    total_timeout: float = 180.0  # seconds for one file, retries and pauses included
    retries: int = 3  # attempts after the first, on connection errors, broken answers and the statuses 429 and 5xx
    backoff: float = 1.0  # first pause in seconds; every further pause is twice as long


DEFAULT_LIMITS = Limits()


class _Transient(Exception):
    """An attempt failed in a way that may be temporary; `pause` is the wait that the server asks for, in seconds."""

    def __init__(self, message: str, pause: float | None = None) -> None:
        super().__init__(message)
        self.pause = pause


def download(
    url: str,
    path: PathLike,
    limits: Limits = DEFAULT_LIMITS,
    *,
    authorities: str | None = None,
    sleep: Callable[[float], object] = time.sleep,
) -> Path:
    """Download one file, whole or not at all.

    Certificates are always verified, by those of the file `authorities` if it is given. `sleep` is called with the seconds of
    every pause.
    """
    if not re.match(r"https?://[^/]", url):
        raise SourceError(f"{url!r} is not an address; it must begin with https:// or http://")
    end = time.monotonic() + limits.total_timeout
    for attempt in range(limits.retries + 1):
        try:
            with atomic_path(path) as temporary:
                with open(temporary, "wb") as file:
                    _run_until(end, limits, _transfer, url, file, limits, authorities)
                return Path(path)
        except _Transient as error:
            pause = limits.backoff * 2**attempt if error.pause is None else min(error.pause, MAX_RETRY_AFTER)
            tries = f"after {attempt + 1} attempts" if attempt else "at the first attempt"
            if attempt == limits.retries:
                raise UnreachableError(f"{url}: {error} ({tries}); check the network or set a mirror") from error
            if time.monotonic() + pause > end:
                raise UnreachableError(
                    f"{url}: {error} ({tries}), and a pause of {pause:g} s exceeds the limit of {limits.total_timeout:g} s in all"
                ) from error
            sleep(pause)
        except SourceError as error:
            raise type(error)(f"{url}: {error}") from error
    raise AssertionError("unreachable: the last attempt returns or raises")


def _run_until(end: float, limits: Limits, function: Callable[..., None], *args: Any) -> None:
    """Call ``function(*args, stop)`` in a thread; raise an error at the time `end`.

    Only a thread can bound the time of a name look-up, or of an answer that comes byte by byte. A thread that is left behind
    finds `stop` set or its file closed, and ends.
    """
    result: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
    stop = threading.Event()

    def work() -> None:
        try:
            function(*args, stop)
            result.put(None)
        except BaseException as error:
            result.put(error)

    threading.Thread(target=work, daemon=True).start()
    try:
        error = result.get(timeout=max(0.0, end - time.monotonic()))
    except queue.Empty:
        raise UnreachableError(f"not finished within the limit of {limits.total_timeout:g} s in all; check the network") from None
    finally:
        stop.set()
    if error is not None:
        raise error


def _transfer(url: str, file: IO[bytes], limits: Limits, authorities: str | None, stop: Event) -> None:
    """Try once to write the answer of an address to a file."""
    try:
        import requests
    except ImportError as error:
        raise SourceError("requests is not installed: pip install requests, or use a mirror folder") from error
    import urllib3

    max_bytes, timeout = limits.max_bytes, limits.timeout
    headers = {"User-Agent": USER_AGENT, "Accept-Encoding": "identity"}  # so that sizes are sizes of the file
    try:
        with requests.get(url, headers=headers, timeout=(timeout, timeout), stream=True, verify=authorities or True) as answer:
            _check_encryption(url, answer)
            _check_status(answer)
            unpacker = _Unpacker(answer.headers.get("Content-Encoding", ""))
            length = answer.headers.get("Content-Length", "")
            expected = int(length) if length.isascii() and length.isdigit() else None
            if expected is not None and expected > max_bytes:
                raise SourceError(
                    f"the file has {expected} bytes, more than the limit of {max_bytes}; raise max_bytes to accept it"
                )
            is_bounded = expected is not None or answer.raw.chunked
            received = size = 0
            while chunk := answer.raw.read1(_CHUNK, decode_content=False):
                received += len(chunk)
                for piece in unpacker.unpack(chunk):
                    # Where the server does not say where a file ends, the file itself must.
                    if size == 0 and not (is_bounded or unpacker.is_packed or piece.startswith(BOUNDED)):
                        raise SourceError(UNBOUNDED)
                    size += len(piece)
                    if stop.is_set():
                        return
                    if size > max_bytes:
                        raise SourceError(f"the file has more than the limit of {max_bytes} bytes; raise max_bytes to accept it")
                    file.write(piece)
            if expected is not None and received != expected:
                raise _Transient(f"the answer broke off after {received} of {expected} bytes")
            if not unpacker.is_whole:
                raise _Transient(f"the packed answer broke off after {received} bytes")
            if size == 0:
                raise SourceError("the server gives an empty file; use another source or a mirror")
    except zlib.error as error:
        raise _Transient(f"the packed answer is damaged ({error})") from error
    except requests.exceptions.SSLError as error:
        raise SourceError(f"the secure connection failed ({_reason(error)}); use another source or a mirror") from error
    except (requests.exceptions.Timeout, urllib3.exceptions.TimeoutError) as error:
        raise _Transient(f"no answer within {timeout:g} s") from error
    except (requests.exceptions.ConnectionError, urllib3.exceptions.HTTPError, ConnectionError) as error:
        raise _Transient(f"the connection failed ({_reason(error)})") from error
    except (requests.exceptions.RequestException, UnicodeError) as error:
        raise SourceError(f"the request failed ({_reason(error)}); check the address") from error


def _check_encryption(url: str, answer: Any) -> None:
    """Raise an error if an encrypted address was redirected to one that is not."""
    if url.startswith("https://"):
        for step in (*answer.history, answer):
            if not step.url.startswith("https://"):
                raise SourceError(f"it leads to {one_line(step.url)}, which is not encrypted; use another source or a mirror")


class _Unpacker:
    """Unpacks the bytes of an answer into pieces of the file, none larger than a chunk.

    Packed answers are not requested, but some servers send nothing else.
    """

    def __init__(self, encoding: str) -> None:
        encoding = encoding.strip().lower()
        if encoding not in ("", "identity", "gzip", "x-gzip"):
            raise SourceError(f"the server packs its answer as {one_line(encoding, 40)!r}; use another source or a mirror")
        self.is_packed = "gzip" in encoding
        self._part = _gzip_part()
        self._begun = False  # whether bytes of the current part were read

    @property
    def is_whole(self) -> bool:
        """Return True if a packed answer ends where a part ends, its checksum included."""
        return not self.is_packed or (self._part.eof and self._begun)

    def unpack(self, chunk: bytes) -> Iterator[bytes]:
        """Unpack the next bytes of the answer, which may have several parts."""
        if not self.is_packed:
            yield chunk
            return
        while chunk:
            if self._part.eof:
                self._part = _gzip_part()
            self._begun = True
            yield self._part.decompress(chunk, _CHUNK)
            chunk = self._part.unconsumed_tail or self._part.unused_data


def _gzip_part() -> Any:
    return zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)


def _check_status(answer: Any) -> None:
    """Raise the error that fits the status of an answer, unless it is 200."""
    status, reason = answer.status_code, one_line(answer.reason or "", 60)
    text = f"HTTP {status} {reason}".strip()
    if status in (404, 410):
        raise NotFoundError(f"{text}; the file is not there (any more)")
    if status == 429 or status >= 500:
        raise _Transient(text, _retry_after(answer.headers.get("Retry-After", "")))
    if status != 200:
        raise SourceError(f"{text}; the server does not give the file")


def _retry_after(text: str) -> float | None:
    """Read the seconds of a Retry-After header, a number or a date (RFC 9110, 10.2.3); None if there is none."""
    text = text.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def _reason(error: BaseException) -> str:
    """Write the innermost cause of an error on one line."""
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return f"{type(error).__name__}: {one_line(error, 160)}"


def read_members(archive: bytes | PathLike, names: Sequence[str] = (), max_bytes: int = MAX_BYTES) -> dict[str, bytes]:
    """Read files of a zip archive into memory, by path in the archive; nothing is extracted to disk.

    `names` are base names, in any case and folder; without them the archive must hold one file. `max_bytes` limits the sum of
    sizes, counted while reading, because headers cannot be trusted.
    """
    data = archive if isinstance(archive, bytes) else Path(archive).read_bytes()
    if not data.startswith(b"PK"):
        html = data[:512].lstrip().lower().startswith((b"<!doctype", b"<html"))
        raise SourceError(f"not a zip archive{' but an HTML page' if html else ''}; the address may have moved")
    with _opened(data) as opened:
        files = [info for info in opened.infolist() if not info.filename.endswith("/") and not _is_of_system(info.filename)]
        if names:
            chosen = [_member(files, name) for name in names]
        elif len(files) == 1:
            chosen = files
        else:
            what = f"the archive holds {len(files)} files ({_shown(files)}); "
            if not files:
                raise SourceError(what, "pack the file again")
            bases = [file.filename.rsplit("/", 1)[-1] for file in files]
            likely = [base for base in bases if not _NO_TABLE.search(base)]
            raise SourceError(what, "name one, such as ", Remedy("member", ((likely or bases)[0],)))
        members = {}
        for info in chosen:
            members[info.filename] = b"".join(_chunks(opened, info, len(data), max_bytes))
            max_bytes -= len(members[info.filename])
        return members


_NO_TABLE = re.compile(
    r"(?i)read.?me|licen[cs]e|copying|index$|changes|\.(?:md|pdf|names|html?|docx?|rtf|r|py|ipynb|png|jpe?g|xml|test)$"
)


def _is_of_system(path: str) -> bool:
    """Report whether a file of an archive was added by an operating system."""
    base = path.rsplit("/", 1)[-1]
    return path.startswith("__MACOSX/") or base.startswith("._") or base.lower() in (".ds_store", "thumbs.db", "desktop.ini")


def check_archive(data: bytes, max_bytes: int = MAX_BYTES) -> None:
    """Check that all files of a workbook can be read within the limits, before a library reads it without limits.

    XML with a document type definition is refused: its entities can grow without bounds, and office programs write none.
    """
    with _opened(data) as opened:
        for info in opened.infolist():
            content = b"".join(_chunks(opened, info, len(data), max_bytes))
            max_bytes -= len(content)
            if b"<!DOCTYPE" in content.replace(b"\0", b""):  # in UTF-16, too
                raise SourceError(f"{one_line(info.filename, 60)!r} in the archive declares XML entities; no workbook does")


def _opened(data: bytes) -> ZipFile:
    """Open a zip archive."""
    try:
        return zipfile.ZipFile(io.BytesIO(data))
    except Exception as error:  # zipfile raises errors of many kinds for damaged files
        raise SourceError(f"damaged zip archive ({_reason(error)}); copy or pack it once more") from error


def _member(files: list[ZipInfo], name: str) -> ZipInfo:
    """Find the file with a base name; of several, the one at the top level."""

    def base(info: ZipInfo) -> str:
        return info.filename.replace("\\", "/").rsplit("/", 1)[-1].lower()

    found = [info for info in files if base(info) == name.lower()]
    if len(found) > 1:
        found = [info for info in found if "/" not in info.filename.replace("\\", "/")] or found
    if len(found) == 1:
        return found[0]
    if found:
        raise SourceError(
            f"the archive holds {len(found)} files of the name {name!r} ({_shown(found)}); it is not clear which is meant"
        )
    raise SourceError(f"the archive holds no file {name!r}; it holds {_shown(files) or 'nothing'}")


def _shown(files: list[ZipInfo]) -> str:
    """List the first names of files for a message."""
    return ", ".join(one_line(info.filename, 60) for info in files[:12]) + (", ..." if len(files) > 12 else "")


def _chunks(opened: ZipFile, info: ZipInfo, archive_size: int, max_bytes: int) -> Iterator[bytes]:
    """Read a file of an archive in pieces; raise an error when a limit is exceeded."""
    name = one_line(info.filename, 60)
    if info.flag_bits & 0x1:
        raise SourceError(f"{name!r} in the archive is encrypted; another source is needed")
    if info.compress_type in (
        zipfile.ZIP_BZIP2,
        zipfile.ZIP_LZMA,
    ):  # zipfile unpacks these without limits
        raise SourceError(f"{name!r} in the archive is packed by bzip2 or LZMA; pack it again in the usual way (deflate)")
    allowed = max(2**20, MAX_RATIO * min(info.compress_size, archive_size))
    size = 0
    try:
        with opened.open(info) as member:
            while chunk := member.read(_CHUNK):
                size += len(chunk)
                if size > max_bytes:
                    raise SourceError(f"{name!r} in the archive exceeds the limit of {max_bytes} bytes")
                if size > allowed:
                    raise SourceError(
                        f"{name!r} in the archive is more than {MAX_RATIO} times larger than its packed form;"
                        " it looks like a zip bomb"
                    )
                yield chunk
    except SourceError:
        raise
    except Exception as error:  # bad checksum, bad header, unknown compression: errors of any kind
        raise SourceError(f"{name!r} in the archive is damaged ({_reason(error)}); copy or pack it once more") from error
