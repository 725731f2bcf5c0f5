"""Where the reviews of products come from: a mirror or their public place, each file known by its checksum."""

from __future__ import annotations

import csv
import hashlib
import io
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from foldshift.core.errors import DataError, SourceError
from foldshift.datasets.sources.download import Limits, download
from foldshift.datasets.sources.reviews import unpacked

if TYPE_CHECKING:
    from foldshift.core.types import Array, PathLike

MIRRORED = "sentiment/fdu-mtl/{domain}.task.{part}.gz"
MAX_BYTES = 16 * 2**20  # of one file; the largest has two million


class ReviewFile(NamedTuple):
    """One of the two files of a domain.

    Attributes
    ----------
    domain, part : str
        ``books``, ``train`` ...
    n_reviews : int
    sha256 : str
        Checksum of the text, not compressed.
    url : str
        Its public place.
    """

    domain: str
    part: str
    n_reviews: int
    sha256: str
    url: str


def review_files() -> dict[str, list[ReviewFile]]:
    """The files of all domains."""
    text = files("foldshift.datasets.sources").joinpath("reviews.tsv").read_text(encoding="utf-8")
    found: dict[Any, Any] = {}
    for row in csv.DictReader(io.StringIO(text), delimiter="\t"):
        found.setdefault(row["domain"], []).append(ReviewFile(**row | {"n_reviews": int(row["n_reviews"])}))
    return found


def fetch_review_file(
    file: ReviewFile, *, mirror: str | None = None, cache: PathLike, limits: Limits | None = None
) -> tuple[bytes, str]:
    """Text of one file, from the mirror or else from its public place; what is not the known text is refused."""
    name = MIRRORED.format(domain=file.domain, part=file.part)
    limits = limits or Limits()
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


def _read(place: Array | str, file: ReviewFile, cache: Path, limits: Limits | None) -> bytes:
    if not place.startswith(("https://", "http://")):
        return unpacked(Path(place).read_bytes(), MAX_BYTES)
    path = cache / "reviews" / f"{file.domain}.{file.part}.{hashlib.sha256(place.encode()).hexdigest()[:8]}"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        download(place, path, **vars(limits))
    data = unpacked(path.read_bytes(), MAX_BYTES)
    if hashlib.sha256(data).hexdigest() != file.sha256:
        path.unlink()  # the next attempt asks again
    return data


def _checked(data: bytes, file: ReviewFile) -> bytes:
    found = hashlib.sha256(data).hexdigest()
    if found != file.sha256:
        raise SourceError(f"not the expected text: SHA-256 {found[:12]}... instead of {file.sha256[:12]}...")
    return data
