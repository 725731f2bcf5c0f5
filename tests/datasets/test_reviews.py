import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from foldshift.core.errors import DataError
from foldshift.datasets.sources import reviews as module
from foldshift.datasets.sources.reviews import (
    ALL_DOMAINS,
    COMPLETE_DOMAINS,
    TEN_DOMAINS,
    Counts,
    Reviews,
    bag_of_words,
    generate_reviews,
    load_reviews,
    parse_reviews,
    read_counts,
    write_counts,
)

DATA = Path(os.environ.get("FOLDSHIFT_SHARED", Path(__file__).parents[3] / "shared")) / "data"
real = pytest.mark.skipif(not (DATA / "sentiment").is_dir(), reason="the shared data are absent")
PLAIN = b"1\tgood good book\n0\tbad book , bad\n1\t\n"
# Packed bytes hold the time of day: cases with them have names, or the tests' ids differ from one second to the next.
PACKED = gzip.compress(PLAIN)
TINY = {
    "books": Reviews(("good good book", "bad book , bad"), np.array([1, 0], dtype=np.int8)),
    "dvd": Reviews(("bad film", "", "good film !"), np.array([0, 0, 1], dtype=np.int8)),
}


@pytest.mark.parametrize(
    "data",
    [PLAIN, PLAIN[:-1], PLAIN.replace(b"\n", b"\r\n"), PACKED],
    ids=["plain", "no line feed at the end", "lines of Windows", "packed"],
)
def test_reviews_are_parsed_plain_and_packed(data):
    reviews = parse_reviews(data, "x")
    assert reviews.texts == ("good good book", "bad book , bad", "")
    assert reviews.labels.tolist() == [1, 0, 1] and reviews.labels.dtype == np.int8


def test_text_is_latin_1_and_only_line_feeds_end_a_line():
    assert parse_reviews(b"0\tcaf\xe9 \x85 \xa0 \x0c x\n", "x").texts == ("caf\xe9 \x85 \xa0 \x0c x",)


@pytest.mark.parametrize("data", [PACKED * 2, gzip.compress(PLAIN + PLAIN)], ids=["two members", "one member"])
def test_several_members_of_a_gzip_file_are_one_text(data):
    assert len(parse_reviews(data, "x").texts) == 6


@pytest.mark.parametrize(
    "data, message",
    [
        (b"", "the file is empty"),
        pytest.param(gzip.compress(b"\n\n"), "the file is empty", id="packed empty lines"),
        (b"2\tx\n", r"line 1 begins with '2\\tx'; expected the label 0 or 1, a tab and the text"),
        (b"0\tx\n\n1\ty\n", "line 2 begins with ''"),
        (b"0\tx\n1 y\n", "line 2 begins with '1 y'"),
        (b"10\ty\n", "line 1 begins with"),
        (b"0\tx\ty\n", "line 1 holds more than one tab"),
        (b"0\tx\0\n", "it holds zero bytes"),
        (b"<!doctype html><html>\n", "line 1 begins with '<!doctype html><html>'"),
        pytest.param(PACKED[:-9], "the gzip file is damaged", id="packed without its end"),
        pytest.param(PACKED[:5], "the gzip file is damaged", id="half a gzip header"),
        pytest.param(PACKED + b"rubbish", "the gzip file is damaged", id="packed and rubbish behind"),
        (b"\x1f\x8b" + bytes(40), "the gzip file is damaged"),
        (bytes([31, 139, 8, 0, 0, 0, 0, 0, 0, 3]) + b"\xff" * 40, "the gzip file is damaged"),
    ],
)
def test_damaged_files_are_refused_in_one_line(data, message):
    with pytest.raises(DataError, match=f"^some file: .*{message}") as error:
        parse_reviews(data, "some\nfile")
    assert "\n" not in str(error.value) and len(str(error.value)) < 300


def test_terminal_control_characters_of_a_file_do_not_reach_messages():
    with pytest.raises(DataError) as error:
        parse_reviews(b"\x1b[31mred\n", "\x1b[2Jname")
    assert str(error.value).isprintable()


def test_large_files_are_refused_packed_and_unpacked():
    data = b"0\t" + b"x" * 5000 + b"\n"
    with pytest.raises(DataError, match="the file has 5003 bytes, more than the limit of 1000"):
        parse_reviews(data, "x", max_bytes=1000)
    with pytest.raises(DataError, match="more than the limit of 1000 bytes when unpacked"):
        parse_reviews(gzip.compress(data), "x", max_bytes=1000)
    assert len(parse_reviews(gzip.compress(data), "x", max_bytes=5003).texts) == 1


def test_a_zip_bomb_is_refused_before_it_is_unpacked():
    bomb = gzip.compress(b"0\t" + bytes(50 * 2**20).replace(b"\0", b"x"))
    with pytest.raises(DataError, match="more than 200 times larger than its packed form; it looks like a zip bomb"):
        parse_reviews(bomb, "x")


def test_a_file_of_countless_short_lines_is_refused(monkeypatch):
    monkeypatch.setattr(module, "MAX_REVIEWS", 5)
    with pytest.raises(DataError, match="the file has 6 lines; at most 5 are allowed"):
        parse_reviews(b"0\t\n" * 6, "x")


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.one_of(
        st.binary(max_size=60),
        st.binary(max_size=60).map(gzip.compress),
        st.binary(max_size=60).map(lambda b: b"\x1f\x8b\x08\0" + b),
    )
)
def test_any_bytes_are_parsed_or_refused(data):
    try:
        reviews = parse_reviews(data, "x")
    except DataError:
        return
    assert len(reviews.texts) == len(reviews.labels) > 0 and set(reviews.labels) <= {0, 1}


def _write_domain(folder, domain, train, test):
    (folder / "sentiment/fdu-mtl").mkdir(parents=True, exist_ok=True)
    for part, data in (("train", train), ("test", test)):
        (folder / f"sentiment/fdu-mtl/{domain}.task.{part}.gz").write_bytes(gzip.compress(data))


def test_training_and_test_part_of_a_domain_are_joined(tmp_path):
    _write_domain(tmp_path, "dvd", PLAIN, b"0\tlast\n")
    _write_domain(tmp_path, "books", b"0\tx\n", b"0\ty\n")
    loaded = load_reviews(tmp_path, ("dvd", "books"))
    assert list(loaded) == ["dvd", "books"]
    assert loaded["dvd"].texts[-1] == "last" and loaded["dvd"].labels.tolist() == [1, 0, 1, 0]


def test_missing_files_and_unknown_domains_are_refused(tmp_path):
    with pytest.raises(DataError, match="unknown review domain 'book'; did you mean books"):
        load_reviews(tmp_path, ("book",))
    with pytest.raises(DataError, match=r"cannot read .*books\.task\.train\.gz: No such file"):
        load_reviews(tmp_path, ("books",))
    (tmp_path / "sentiment/fdu-mtl/books.task.train.gz").mkdir(parents=True)
    with pytest.raises(DataError, match="is not a file; set mirror"):
        load_reviews(tmp_path, ("books",))


def test_a_file_is_read_no_further_than_the_limit(tmp_path):
    _write_domain(tmp_path, "dvd", PLAIN, PLAIN)
    with pytest.raises(DataError, match=r"dvd\.task\.train\.gz: the file has 11 bytes, more than the limit of 10"):
        load_reviews(tmp_path, ("dvd",), max_bytes=10)


def test_words_of_tiny_texts_are_counted_exactly():
    counts = bag_of_words(TINY, min_count=1)
    assert counts.vocabulary == ("!", ",", "bad", "book", "film", "good")
    expected = [[0, 0, 0, 1, 0, 2], [0, 1, 2, 1, 0, 0], [0, 0, 1, 0, 1, 0], [0] * 6, [1, 0, 0, 0, 1, 1]]
    assert counts.X.toarray().tolist() == expected
    assert counts.y.tolist() == [1, 0, 0, 0, 1] and counts.groups.tolist() == [0, 0, 1, 1, 1]
    assert counts.domains == ("books", "dvd")
    assert (counts.X.dtype, counts.X.indices.dtype, counts.X.indptr.dtype, counts.y.dtype) == (
        np.int32,
        np.int32,
        np.int32,
        np.int8,
    )


def test_rare_words_are_left_out_by_the_number_of_reviews_that_hold_them():
    assert bag_of_words(TINY).vocabulary == ("bad", "book", "film", "good")
    only_once = {"a": Reviews(("x x x", "y", "y"), np.array([0, 1, 1], dtype=np.int8))}
    assert bag_of_words(only_once).vocabulary == ("y",)


def test_the_most_frequent_words_are_kept_and_ties_go_to_the_first_in_order():
    assert bag_of_words(TINY, n_features=2, min_count=1).vocabulary == ("bad", "good")
    assert bag_of_words(TINY, n_features=3, min_count=1).vocabulary == ("bad", "book", "good")  # book and film occur twice each
    assert bag_of_words(TINY, n_features=99, min_count=1).vocabulary == bag_of_words(TINY, min_count=1).vocabulary


def test_words_are_what_stands_between_blanks():
    odd = {"a": Reviews(("I 'm x\xa0y n't UP up",), np.array([1], dtype=np.int8))}
    assert bag_of_words(odd, min_count=1).vocabulary == ("'m", "I", "UP", "n't", "up", "x\xa0y")


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"texts_by_domain": {}}, "texts_by_domain holds no domain"),
        ({"n_features": 0}, "n_features=0 must be an integer of at least 1"),
        ({"min_count": 0.5}, "min_count=0.5 must be an integer of at least 1"),
        ({"min_count": 9}, "min_count=9 leaves none of the 6 words"),
        ({"texts_by_domain": {"a": Reviews(("", " "), np.array([0, 1]))}}, "the reviews hold no word"),
    ],
)
def test_bad_arguments_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        bag_of_words(**({"texts_by_domain": TINY} | changes))


def _same(a, b):
    return (
        (a.X != b.X).nnz == 0
        and a.X.shape == b.X.shape
        and a.X.dtype == b.X.dtype
        and np.array_equal(a.y, b.y)
        and a.y.dtype == b.y.dtype
        and np.array_equal(a.groups, b.groups)
        and a.vocabulary == b.vocabulary
        and a.domains == b.domains
    )


def test_counts_survive_their_file_and_the_same_counts_are_the_same_bytes(tmp_path):
    odd = {"d\xe9": Reviews(("x\x85 y\xa0 x\x85", "y\xa0"), np.array([1, 0], dtype=np.int8))}
    for counts in (
        bag_of_words(TINY, min_count=1),
        bag_of_words(odd, min_count=1),
        generate_reviews(2, 5, np.random.default_rng(0)),
    ):
        for name in ("one.npz", "two.npz"):
            write_counts(tmp_path / name, counts)
        assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
        assert _same(read_counts(tmp_path / "one.npz"), counts)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.npz", "two.npz"]


def test_damaged_count_files_are_refused(tmp_path):
    path, counts = tmp_path / "counts.npz", bag_of_words(TINY, min_count=1)
    write_counts(path, counts)
    whole = path.read_bytes()
    for data in (b"", b"rubbish", whole[: len(whole) // 2], whole.replace(b"film", b"mlif")):
        path.write_bytes(data)
        with pytest.raises(DataError, match="cannot read counts from"):
            read_counts(path)
    with pytest.raises(DataError, match="cannot read counts from"):
        read_counts(tmp_path / "absent.npz")
    with open(path, "wb") as file:
        np.savez(file, y=np.array([{}], dtype=object))
    with pytest.raises(DataError, match="cannot read counts from"):
        read_counts(path)
    outside = csr_array(counts.X)
    outside.indices = np.where(outside.indices == 5, 700, outside.indices).astype(np.int32)
    write_counts(path, counts._replace(X=outside))
    with pytest.raises(DataError, match="cannot read counts from"):
        read_counts(path)
    write_counts(path, counts._replace(y=counts.y[:2]))
    with pytest.raises(DataError, match="which do not fit"):
        read_counts(path)


def test_generated_reviews_have_the_stated_shape_and_repeat():
    counts = generate_reviews(3, 7, np.random.default_rng(5), n_words=20, mean_length=6)
    assert isinstance(counts, Counts) and counts.X.shape == (21, 20)
    assert counts.y.tolist() == [0, 0, 0, 0, 1, 1, 1] * 3
    assert counts.groups.tolist() == [0] * 7 + [1] * 7 + [2] * 7
    assert counts.domains == ("source01", "source02", "source03") and counts.vocabulary[-1] == "w0020"
    assert counts.X.sum(axis=1).min() >= 1
    assert _same(counts, generate_reviews(3, 7, np.random.default_rng(5), n_words=20, mean_length=6))


def test_generated_lengths_and_shared_words_follow_the_model():
    counts = generate_reviews(2, 3000, np.random.default_rng(1), word_spread=0, polarity=0, polarity_spread=0)
    lengths = np.asarray(counts.X.sum(axis=1)).ravel()
    assert abs(lengths.mean() - 40) < 4 * np.sqrt(40 / 6000)
    expected = 1 / (np.arange(300) + 11)
    shares = np.asarray(counts.X.sum(axis=0)).ravel() / lengths.sum()
    error = np.sqrt(expected / expected.sum() / lengths.sum())
    assert np.abs((shares - expected / expected.sum()) / error).max() < 5


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"n_sources": 0}, "n_sources=0 must be an integer of at least 1"),
        ({"n_per_source": 2.0}, "n_per_source=2.0 must be an integer"),
        ({"n_words": 1}, "n_words=1 must be an integer of at least 2"),
        ({"polarity": -1.0}, "polarity=-1.0 must be a finite number of at least 0"),
        ({"mean_length": np.inf}, "mean_length=inf must be a finite number"),
    ],
)
def test_bad_sizes_of_generated_reviews_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        generate_reviews(**({"n_sources": 2, "n_per_source": 3, "rng": np.random.default_rng(0)} | arguments))


def test_ten_domains_are_the_complete_ones_and_electronics():
    assert len(COMPLETE_DOMAINS) == 9 and len(TEN_DOMAINS) == 10 and len(ALL_DOMAINS) == 14
    assert set(TEN_DOMAINS) - set(COMPLETE_DOMAINS) == {"electronics"} and set(TEN_DOMAINS) < set(ALL_DOMAINS)


@real
def test_the_domains_agree_with_the_manifest():
    lines = (DATA / "MANIFEST.tsv").read_text(encoding="utf-8").splitlines()
    fields = [line.split("\t") for line in lines if "\tdata/sentiment/fdu-mtl/" in line]
    assert {field[1].removeprefix("Amazon reviews: ") for field in fields} == set(ALL_DOMAINS)
    assert {field[1].removeprefix("Amazon reviews: ") for field in fields if field[-2] == "yes"} == set(COMPLETE_DOMAINS)


@real
def test_real_reviews_have_the_numbers_of_the_manifest():
    loaded = load_reviews(DATA, ("apparel", "electronics"))
    assert np.bincount(loaded["apparel"].labels).tolist() == [1000, 1000]
    assert np.bincount(loaded["electronics"].labels).tolist() == [998, 1000]
    assert len({(text, label) for text, label in zip(*loaded["apparel"])}) == 1962
    counts = bag_of_words(loaded)
    assert counts.X.shape[0] == 3998
    words = sum(len(text.split(" ")) for part in loaded.values() for text in part.texts if text)
    assert bag_of_words(loaded, min_count=1).X.sum() == words
