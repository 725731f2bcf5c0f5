"""Product reviews of several domains: parser, bag of words, file of counts, and a generated stand-in."""

import gzip
import io
import stat
import zipfile
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from foldshift.core.errors import DataError, unknown
from foldshift.core.files import atomic_path
from foldshift.datasets.sources.download import MAX_BYTES, MAX_RATIO, one_line

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
    """Reviews of one domain: `texts`, a tuple of str; `labels`, ndarray of shape (n_reviews,), int8, 0 negative, 1 positive."""

    texts: tuple
    labels: np.ndarray


class Counts(NamedTuple):
    """Reviews of several domains as counts of words.

    Attributes
    ----------
    X : scipy.sparse.csr_array of shape (n_reviews, n_words), dtype int32
        How often every word (or n-gram) occurs in every review; columns of a row ascend.
    y : ndarray of shape (n_reviews,), dtype int8
        0 negative, 1 positive.
    groups : ndarray of shape (n_reviews,), dtype int64
        Domain (source) of every review: its position in `domains`.
    vocabulary : tuple of str
        The words, sorted by code points.
    domains : tuple of str
        Names of the domains.
    """

    X: csr_array
    y: np.ndarray
    groups: np.ndarray
    vocabulary: tuple
    domains: tuple


def parse_reviews(data, name, *, max_bytes=MAX_BYTES):
    """Read the reviews of one file.

    Parameters
    ----------
    data : bytes
        Content of the file, packed by gzip or not: one review per line, label 0 or 1, tab, tokenised text in ISO-8859-1. A text
        may be empty.
    name : str
        Name of the file, for messages.
    max_bytes : int, default=64 MiB
        Largest size, packed and unpacked; counted while unpacking.

    Returns
    -------
    reviews : Reviews

    Raises
    ------
    DataError
        If the file is damaged, too large, or not of this form; one line that begins with `name`.
    """
    try:
        return _parse(unpacked(data, max_bytes))
    except DataError as error:
        raise DataError(f"{one_line(name)}: {error}") from error


def unpacked(data, max_bytes):
    """Content of a file that may be packed by gzip, within limits.

    Parameters
    ----------
    data : bytes
        The file.
    max_bytes : int
        Largest size, packed and unpacked.

    Returns
    -------
    content : bytes

    Raises
    ------
    DataError
        If the file is damaged, too large, or unpacks to more than `MAX_RATIO` times its size.
    """
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


def _parse(data):
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


def load_reviews(mirror, domains=TEN_DOMAINS, *, max_bytes=MAX_BYTES):
    """Read the reviews of several domains from a folder.

    Parameters
    ----------
    mirror : path-like
        Folder that holds ``sentiment/fdu-mtl/DOMAIN.task.train.gz`` and ``DOMAIN.task.test.gz``.
    domains : sequence of str, default=TEN_DOMAINS
        Names from `ALL_DOMAINS`.
    max_bytes : int, default=64 MiB
        Largest size of a file, packed and unpacked.

    Returns
    -------
    reviews : dict of str to Reviews
        In the order of `domains`; the reviews of ``train``, then those of ``test``: the published division is undone.

    Raises
    ------
    DataError
        If a domain is not known or a file is missing or refused.
    """
    reviews = {}
    for domain in domains:
        if domain not in ALL_DOMAINS:
            raise DataError(unknown("review domain", domain, ALL_DOMAINS))
        paths = [Path(mirror, FOLDER, f"{domain}.task.{part}.gz") for part in ("train", "test")]
        parts = [parse_reviews(_content(path, max_bytes), path.name, max_bytes=max_bytes) for path in paths]
        reviews[domain] = Reviews(parts[0].texts + parts[1].texts, np.concatenate([part.labels for part in parts]))
    return reviews


def _content(path, max_bytes):
    """At most one byte more than the limit."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise DataError(f"{path} is not a file; set mirror to the folder that holds {FOLDER}")
        with open(path, "rb") as file:
            return file.read(max_bytes + 1)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}; set mirror to the folder that holds {FOLDER}") from error


def bag_of_words(texts_by_domain, *, n_features=None, min_count=2, binary=False, ngram_range=(1, 1)):
    """Count the words of reviews, by scikit-learn's ``CountVectorizer``.

    The vocabulary is taken from the reviews of *all* domains, test domains included. No label is used (it is unsupervised), but
    the number of words, and with it the smoothing of naive Bayes, depends on reviews that a model is not trained on.

    Parameters
    ----------
    texts_by_domain : dict of str to Reviews
        The reviews of every domain, as `load_reviews` gives them.
    n_features : int or None, default=None
        Keep only so many words, the most frequent over all reviews; of equally frequent ones those that come first in sorted
        order.
    min_count : int, default=2
        Keep only words that so many reviews hold or more.
    binary : bool, default=False
        Count a word once per review.
    ngram_range : tuple of int, default=(1, 1)
        Smallest and largest number of words in a row that count as one.

    Returns
    -------
    counts : Counts
        Words are what stands between blanks, as it stands there. A review without a word of the vocabulary is a row of zeros.

    Raises
    ------
    ValueError
        If there is no domain, an argument is out of range, or no word is left.
    """
    from sklearn.feature_extraction.text import CountVectorizer  # here, because most jobs read counts that are there

    if not texts_by_domain:
        raise ValueError("texts_by_domain holds no domain; expected one or more")
    _check_integer("min_count", min_count, 1)
    if n_features is not None:
        _check_integer("n_features", n_features, 1)
    low, high = ngram_range
    if not 1 <= low <= high:
        raise ValueError(f"ngram_range={ngram_range!r} must be two integers, 1 <= smallest <= largest")
    texts = [text for part in texts_by_domain.values() for text in part.texts]
    vectorizer = CountVectorizer(
        lowercase=False, token_pattern="[^ ]+", ngram_range=(low, high), min_df=1, binary=binary, dtype=np.int32
    )
    try:
        X = csr_array(vectorizer.fit_transform(texts))
    except ValueError as error:
        raise ValueError("the reviews hold no word; expected texts with words between blanks") from error
    words = vectorizer.get_feature_names_out()
    # Not by max_features, which takes some of equally frequent words, not the same ones on every machine.
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


def _check_integer(name, value, lowest):
    if not (isinstance(value, (int, np.integer)) and value >= lowest):
        raise ValueError(f"{name}={value!r} must be an integer of at least {lowest}")


def _canonical(X):
    """Sorted columns, 32-bit indices: the same counts are the same arrays."""
    X = csr_array(X)
    X.sort_indices()
    return csr_array((X.data.astype(np.int32), X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


def write_counts(path, counts):
    """Write counts; the same counts give the same bytes.

    Parameters
    ----------
    path : path-like
        File in NumPy's ``.npz`` format, without pickles.
    counts : Counts
    """
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


def read_counts(path):
    """Read counts that `write_counts` wrote.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    counts : Counts

    Raises
    ------
    DataError
        If the file is not one that `write_counts` wrote, or is damaged.
    """
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
    n_sources, n_per_source, rng, *, n_words=300, mean_length=40, polarity=0.15, word_spread=0.8, polarity_spread=0.15
):
    """Draw reviews of two classes from several sources: a hierarchical multinomial model, for machines without the real ones.

    Word j has log-frequency ``a_j`` (Zipf's law), and its polarity is ``d_j ~ N(0, polarity)``. Source k adds ``b_kj ~ N(0,
    word_spread)`` to the log-frequency, its own words, and ``e_kj ~ N(0, polarity_spread)`` to the polarity, its own way to tell
    the class. A review of class c in {-1, 1} has ``max(1, Poisson(mean_length))`` words, drawn independently with probabilities
    in proportion to ``exp(a_j + b_kj + c (d_j + e_kj))``.

    Parameters
    ----------
    n_sources : int
        Number of sources K.
    n_per_source : int
        Reviews of every source; the first half (rounded up) is negative.
    rng : numpy.random.Generator
        Source of randomness.
    n_words : int, default=300
    mean_length : float, default=40
        Mean number of words of a review.
    polarity, word_spread, polarity_spread : float
        Standard deviations, see above; the defaults give naive Bayes errors near those on the real reviews. With
        ``polarity_spread=0`` and ``word_spread=0`` all sources are the same.

    Returns
    -------
    counts : Counts
        Words ``w0001`` ..., domains ``source01`` ....

    Raises
    ------
    ValueError
        If a number is out of range.
    """
    for name, value, lowest in (("n_sources", n_sources, 1), ("n_per_source", n_per_source, 1), ("n_words", n_words, 2)):
        _check_integer(name, value, lowest)
    spreads = {"mean_length": mean_length, "polarity": polarity, "word_spread": word_spread, "polarity_spread": polarity_spread}
    for name, value in spreads.items():
        if not (np.isfinite(value) and value >= 0):
            raise ValueError(f"{name}={value!r} must be a finite number of at least 0")
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
