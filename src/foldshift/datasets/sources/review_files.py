"""Fetching of product reviews from a mirror or their public address; every file has a known checksum."""

from __future__ import annotations

import csv
import hashlib
import io
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from foldshift.core.errors import DataError, SourceError
from foldshift.datasets.sources.download import DEFAULT_LIMITS, Limits, download
from foldshift.datasets.sources.reviews import gunzipped

if TYPE_CHECKING:
    from foldshift.core.types import PathLike

MIRRORED = "sentiment/fdu-mtl/{domain}.task.{part}.gz"
MAX_BYTES = 16 * 2**20  # of one file; the largest has two million bytes


class ReviewFile(NamedTuple):
    """One of the two files of a domain."""

    domain: str  # domain, part: ``books``, ``train``
    part: str
    n_reviews: int
    sha256: str  # checksum of the uncompressed text
    url: str  # public address


def review_files() -> dict[str, list[ReviewFile]]:
    """List the files of all domains, by domain in alphabetical order."""
    text = files("foldshift.datasets.sources").joinpath("reviews.tsv").read_text(encoding="utf-8")
    found: dict[str, list[ReviewFile]] = {}
    for row in csv.DictReader(io.StringIO(text), delimiter="\t"):
        file = ReviewFile(row["domain"], row["part"], int(row["n_reviews"]), row["sha256"], row["url"])
        found.setdefault(file.domain, []).append(file)
    return found


def fetch_review_file(
    file: ReviewFile, *, mirror: str | None = None, cache: PathLike, limits: Limits = DEFAULT_LIMITS
) -> tuple[bytes, str]:
    """Fetch the text of one file from the mirror, else from its public address; return it and the place.

    A text with another checksum is refused.
    """
    name = MIRRORED.format(domain=file.domain, part=file.part)
    problems = []
    places = []
    if mirror and mirror.startswith(("https://", "http://")):
        places.append(f"{mirror.rstrip('/')}/{quote(name)}")
    elif mirror:
        places.append(str(Path(mirror).expanduser() / name))
    places.append(file.url)
    for place in places:
        try:
            return _checked(_read(place, file, Path(cache), limits), file), place
        except (DataError, OSError) as error:
            problems.append(f"{place}: {getattr(error, 'strerror', None) or error}")
    raise SourceError(
        f"reviews of {file.domain} ({file.part}): none of {len(places)} places could be used; set mirror to a folder or address "
        f"that holds {name}, "
        f"check the network, or use the generated reviews (reviews: generated). {'; '.join(problems)}"
    )


def _read(place: str, file: ReviewFile, cache: Path, limits: Limits) -> bytes:
    """Read a file from a local path, or from an address through the cache."""
    if not place.startswith(("https://", "http://")):
        return gunzipped(Path(place).read_bytes(), MAX_BYTES)
    path = cache / "reviews" / f"{file.domain}.{file.part}.{hashlib.sha256(place.encode()).hexdigest()[:8]}"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        download(place, path, limits)
    data = gunzipped(path.read_bytes(), MAX_BYTES)
    if hashlib.sha256(data).hexdigest() != file.sha256:
        path.unlink()  # so that the next attempt downloads it again
    return data


def _checked(data: bytes, file: ReviewFile) -> bytes:
    """Return a text if its checksum is the known one, else raise an error."""
    found = hashlib.sha256(data).hexdigest()
    if found != file.sha256:
        raise SourceError(f"not the expected text: SHA-256 {found[:12]}... instead of {file.sha256[:12]}...")
    return data
