"""Product reviews of several domains: parser, bag of words, file of counts, and a generated substitute."""

from __future__ import annotations

import gzip
import io
import stat
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from foldshift.core.errors import DataError, unknown
from foldshift.core.files import atomic_path
from foldshift.datasets.sources.download import MAX_BYTES, MAX_RATIO, one_line

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from foldshift.core.types import IntArray, PathLike

# The domains with 1000 negative and 1000 positive reviews. There are nine; the paper has ten.
COMPLETE_DOMAINS = (
    "apparel",
    "books",
    "dvd",
    "health_personal_care",
    "kitchen_housewares",
    "music",
    "sports_outdoors",
    "toys_games",
    "video",
)
# The tenth is the most complete of the others: 998 negative and 1000 positive reviews.
TEN_DOMAINS = tuple(sorted((*COMPLETE_DOMAINS, "electronics")))
ALL_DOMAINS = tuple(sorted((*TEN_DOMAINS, "baby", "camera_photo", "magazines", "software")))
FOLDER = "sentiment/fdu-mtl"
MAX_REVIEWS = 1_000_000  # of one file; a line of three bytes must not become millions of objects
_CHUNK = 2**16
_GZIP_SIGNATURE = b"\x1f\x8b"


class Reviews(NamedTuple):
    """Reviews of one domain; labels of shape (n_reviews,) are 0 (negative) or 1 (positive)."""

    texts: tuple[str, ...]
    labels: NDArray[np.int8]


class Counts(NamedTuple):
    """Reviews of several domains as counts of words."""

    X: csr_array  # count of every word (or n-gram) in every review; columns of a row are sorted; shape (n_reviews, n_words)
    y: NDArray[np.int8]  # 0 negative, 1 positive; shape (n_reviews,)
    groups: IntArray  # domain (source) of every review: its position in `domains`; shape (n_reviews,)
    vocabulary: tuple[str, ...]  # the words, sorted by code points
    domains: tuple[str, ...]  # names of the domains


def parse_reviews(data: bytes, name: str, *, max_bytes: int = MAX_BYTES) -> Reviews:
    """Parse the reviews of one file, packed by gzip or not; errors begin with its name.

    A line holds the label (0 or 1), a tab, and a text in ISO-8859-1 with blanks between words, which may be empty.
    """
    try:
        return _parse(gunzipped(data, max_bytes))
    except DataError as error:
        raise DataError(f"{one_line(name)}: {error}") from error


def gunzipped(data: bytes, max_bytes: int) -> bytes:
    """Unpack a file if it is packed by gzip; `max_bytes` limits it packed and unpacked."""
    if len(data) > max_bytes:
        raise DataError(f"the file has {len(data)} bytes, more than the limit of {max_bytes}")
    if not data.startswith(_GZIP_SIGNATURE):
        return data
    allowed = max(2**20, MAX_RATIO * len(data))
    pieces, size = [], 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            while piece := file.read(_CHUNK):
                size += len(piece)
                if size > max_bytes:
                    raise DataError(f"the file has more than the limit of {max_bytes} bytes when unpacked")
                if size > allowed:
                    raise DataError(
                        f"the file is more than {MAX_RATIO} times larger than its packed form; it looks like a zip bomb"
                    )
                pieces.append(piece)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"the gzip file is damaged ({type(error).__name__}: {one_line(error)}); fetch it again") from error
    return b"".join(pieces)


def _parse(data: bytes) -> Reviews:
    """Parse lines of a label, a tab and a text."""
    if not data.strip():
        raise DataError("the file is empty; fetch it again")
    if b"\0" in data:
        raise DataError("not a text file (it holds zero bytes); check the file")
    data = data.replace(b"\r\n", b"\n").removesuffix(b"\n")
    n_lines = data.count(b"\n") + 1
    if n_lines > MAX_REVIEWS:
        raise DataError(f"the file has {n_lines} lines; at most {MAX_REVIEWS} are allowed")
    lines = data.split(b"\n")
    for number, line in enumerate(lines, start=1):
        if line[:2] not in (b"0\t", b"1\t"):
            start = one_line(repr(line[:40].decode("latin-1")), 60)
            raise DataError(f"line {number} begins with {start}; expected the label 0 or 1, a tab and the text")
        if b"\t" in line[2:]:
            raise DataError(f"line {number} holds more than one tab; expected one, between label and text")
    labels = np.array([line[:1] == b"1" for line in lines], dtype=np.int8)
    return Reviews(tuple(line[2:].decode("latin-1") for line in lines), labels)


def load_reviews(mirror: PathLike, domains: Sequence[str] = TEN_DOMAINS, *, max_bytes: int = MAX_BYTES) -> dict[str, Reviews]:
    """Read the reviews of several domains from a folder, by domain; the published division into parts is undone."""
    reviews = {}
    for domain in domains:
        if domain not in ALL_DOMAINS:
            raise DataError(unknown("review domain", domain, ALL_DOMAINS))
        paths = [Path(mirror, FOLDER, f"{domain}.task.{part}.gz") for part in ("train", "test")]
        parts = [parse_reviews(_content(path, max_bytes), path.name, max_bytes=max_bytes) for path in paths]
        reviews[domain] = Reviews(parts[0].texts + parts[1].texts, np.concatenate([part.labels for part in parts]))
    return reviews


def _content(path: Path, max_bytes: int) -> bytes:
    """Read a file up to one byte more than the limit."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise DataError(f"{path} is not a file; set mirror to the folder that holds {FOLDER}")
        with open(path, "rb") as file:
            return file.read(max_bytes + 1)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}; set mirror to the folder that holds {FOLDER}") from error


def bag_of_words(texts_by_domain: dict[str, Reviews], *, n_features: int | None = None, min_count: int = 2) -> Counts:
    """Count the words of reviews with scikit-learn's ``CountVectorizer``; words are separated by blanks.

    Words in fewer than `min_count` reviews are left out. Of the others, only the `n_features` most frequent are kept, if it is
    given; of equally frequent words the first in sorted order.

    The vocabulary comes from the reviews of *all* domains, including test domains. This uses no label. But the number of words,
    and so the smoothing of naive Bayes, depends on reviews that a model is not trained on.
    """
    from sklearn.feature_extraction.text import CountVectorizer  # imported here, because most jobs read counts from a file

    if not texts_by_domain:
        raise ValueError("texts_by_domain holds no domain; expected one or more")
    _check_integer("min_count", min_count, 1)
    if n_features is not None:
        _check_integer("n_features", n_features, 1)
    texts = [text for part in texts_by_domain.values() for text in part.texts]
    vectorizer = CountVectorizer(lowercase=False, token_pattern="[^ ]+", min_df=1, dtype=np.int32)
    try:
        X = csr_array(vectorizer.fit_transform(texts))
    except ValueError as error:
        raise ValueError("the reviews hold no word; expected texts with words between blanks") from error
    words = vectorizer.get_feature_names_out()
    # Not by max_features: its choice among equally frequent words depends on the machine.
    kept = np.flatnonzero(np.bincount(X.indices, minlength=len(words)) >= min_count)
    if n_features is not None and n_features < len(kept):
        frequencies = np.asarray(X.sum(axis=0, dtype=np.int64)).ravel()
        kept = np.sort(kept[np.argsort(-frequencies[kept], kind="stable")[:n_features]])
    if not len(kept):
        raise ValueError(f"min_count={min_count} leaves none of the {len(words)} words; use a smaller one")
    y = np.concatenate([part.labels for part in texts_by_domain.values()])
    sizes = [len(part.labels) for part in texts_by_domain.values()]
    groups = np.repeat(np.arange(len(sizes)), sizes)
    return Counts(_canonical(X[:, kept]), y.astype(np.int8), groups, tuple(words[kept].tolist()), tuple(texts_by_domain))


def _check_integer(name: str, value: int, lowest: int) -> None:
    """Raise an error if a value is not an integer or too small."""
    if not (isinstance(value, (int, np.integer)) and value >= lowest):
        raise ValueError(f"{name}={value!r} must be an integer of at least {lowest}")


def _canonical(X: csr_array) -> csr_array:
    """Sort columns and use 32-bit indices, so that the same counts are the same arrays."""
    X = csr_array(X)
    X.sort_indices()
    return csr_array((X.data.astype(np.int32), X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


def write_counts(path: PathLike, counts: Counts) -> None:
    """Write counts; the same counts give the same bytes."""
    X = counts.X
    with atomic_path(path) as temporary, open(temporary, "wb") as file:
        np.savez(
            file,
            data=X.data,
            indices=X.indices,
            indptr=X.indptr,
            shape=np.array(X.shape, dtype=np.int64),
            y=counts.y,
            groups=counts.groups,
            vocabulary=np.frombuffer("\n".join(counts.vocabulary).encode(), dtype=np.uint8),
            domains=np.array(counts.domains, dtype=np.str_),
        )


def read_counts(path: PathLike) -> Counts:
    """Read counts that `write_counts` wrote."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = dict(archive)
        X = csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=tuple(arrays["shape"].tolist()))
        X.check_format(full_check=True)
        vocabulary = tuple(arrays["vocabulary"].tobytes().decode().split("\n"))
        counts = Counts(X, arrays["y"], arrays["groups"], vocabulary, tuple(arrays["domains"].tolist()))
    except (OSError, ValueError, KeyError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        raise DataError(f"cannot read counts from {path}: {one_line(error)}; make the file again") from error
    if not (X.shape == (len(counts.y), len(vocabulary)) and counts.groups.shape == counts.y.shape):
        raise DataError(
            f"{path} holds {X.shape} counts, {len(counts.y)} labels and {len(vocabulary)} words, which do not fit; make it again"
        )
    return counts


def generate_reviews(
    n_sources: int,
    n_per_source: int,
    rng: np.random.Generator,
    *,
    n_words: int = 300,
    mean_length: float = 40,
    polarity: float = 0.15,
    word_spread: float = 0.8,
    polarity_spread: float = 0.15,
) -> Counts:
    """Draw reviews of two classes from several sources by a hierarchical multinomial model, if the real ones are not available.

    Word j has log-frequency ``a_j`` (Zipf's law) and polarity ``d_j ~ N(0, polarity)``. Source k adds ``b_kj ~ N(0,
    word_spread)`` to the log-frequency and ``e_kj ~ N(0, polarity_spread)`` to the polarity. A review of class c in {-1, 1} has
    ``max(1, Poisson(mean_length))`` words, drawn independently with probabilities proportional to
    ``exp(a_j + b_kj + c (d_j + e_kj))``. The first half of the reviews of a source (rounded up) is negative.
    """
    for name, count, lowest in (("n_sources", n_sources, 1), ("n_per_source", n_per_source, 1), ("n_words", n_words, 2)):
        _check_integer(name, count, lowest)
    spreads = {"mean_length": mean_length, "polarity": polarity, "word_spread": word_spread, "polarity_spread": polarity_spread}
    for name, spread in spreads.items():
        if not (np.isfinite(spread) and spread >= 0):
            raise ValueError(f"{name}={spread!r} must be a finite number of at least 0")
    base = -np.log(np.arange(1, n_words + 1) + 10.0)
    shared_polarity = rng.normal(0, polarity, n_words)
    y = (np.arange(n_per_source) >= (n_per_source + 1) // 2).astype(np.int8)
    parts = []
    for _ in range(n_sources):
        words = base + rng.normal(0, word_spread, n_words)
        tells = shared_polarity + rng.normal(0, polarity_spread, n_words)
        weights = np.exp(words + np.array([[-1], [1]]) * tells)
        probabilities = weights / weights.sum(axis=1, keepdims=True)
        lengths = np.maximum(rng.poisson(mean_length, n_per_source), 1)
        parts.append(rng.multinomial(lengths, probabilities[y]))
    return Counts(
        _canonical(csr_array(np.concatenate(parts))),
        np.tile(y, n_sources),
        np.repeat(np.arange(n_sources), n_per_source),
        tuple(f"w{number:04d}" for number in range(1, n_words + 1)),
        tuple(f"source{number:02d}" for number in range(1, n_sources + 1)),
    )
