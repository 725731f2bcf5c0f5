"""Where the reviews of products come from: a mirror or their public place, each file known by its checksum."""

import csv
import hashlib
import io
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from foldshift.core.errors import DataError, SourceError
from foldshift.datasets.sources.download import Limits, download
from foldshift.datasets.sources.reviews import unpacked

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


def review_files():
    """The files of all domains.

    Returns
    -------
    found : dict of str to list of ReviewFile
        By domain, in the order of the alphabet.
    """
    text = files("foldshift.datasets.sources").joinpath("reviews.tsv").read_text(encoding="utf-8")
    found = {}
    for row in csv.DictReader(io.StringIO(text), delimiter="\t"):
        found.setdefault(row["domain"], []).append(ReviewFile(**row | {"n_reviews": int(row["n_reviews"])}))
    return found


def fetch_review_file(file, *, mirror=None, cache, limits=None):
    """Text of one file, from the mirror or else from its public place; what is not the known text is refused.

    Parameters
    ----------
    file : ReviewFile
    mirror : str or None
        Folder or address that holds ``sentiment/fdu-mtl/DOMAIN.task.PART.gz``; tried first.
    cache : path-like
        Folder that keeps what was downloaded.
    limits : Limits, optional
        Of the download.

    Returns
    -------
    data : bytes
        The text.
    address : str
        Where it was found.

    Raises
    ------
    SourceError
        If no place has it; one line with the reason of each.
    """
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


def _read(place, file, cache, limits):
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


def _checked(data, file):
    found = hashlib.sha256(data).hexdigest()
    if found != file.sha256:
        raise SourceError(f"not the expected text: SHA-256 {found[:12]}... instead of {file.sha256[:12]}...")
    return data
