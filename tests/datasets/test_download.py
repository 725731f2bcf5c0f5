"""Downloads and archives, against a real server that fails in every way."""

import gzip
import shutil
import struct
import subprocess
import threading
import time

import pytest

import data_server
from data_server import DataServer, zip_of
from foldshift import __version__
from foldshift.core.errors import SourceError
from foldshift.datasets.sources.download import Limits, NotFoundError, check_archive, download, read_members

CONTENT = b"a,b\n" + b"1,2\n" * 50_000


@pytest.fixture
def server():
    with DataServer() as running:
        yield running


def get(url, folder, **limits):
    """Download with limits that suit a test."""
    options = {name: limits.pop(name) for name in ("authorities", "sleep") if name in limits}
    return download(url, folder / "file", Limits(**{"timeout": 2, "total_timeout": 10, "backoff": 0.01, **limits}), **options)


def refused(url, folder, **limits):
    """The one-line message of a download that fails and leaves nothing behind."""
    with pytest.raises(SourceError) as caught:
        get(url, folder, **limits)
    assert list(folder.iterdir()) == []
    message = str(caught.value)
    assert "\n" not in message and url in message
    return message


def test_a_file_arrives_whole_with_the_usual_permissions(server, tmp_path):
    server.serve("/f", CONTENT)
    path = get(f"{server.url}/f", tmp_path)
    assert path.read_bytes() == CONTENT
    (tmp_path / "plain").touch()
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "plain"]


def test_a_chunked_answer_without_length_arrives_whole(server, tmp_path):
    server.serve("/f", data_server.chunked(CONTENT[:5000]))
    assert get(f"{server.url}/f", tmp_path).read_bytes() == CONTENT[:5000]


def test_the_client_names_itself_and_its_version(server, tmp_path):
    seen = []

    def answer(handler, ended):
        seen.append(handler.headers["User-Agent"])
        data_server.body(b"x")(handler, ended)

    server.serve("/f", answer)
    get(f"{server.url}/f", tmp_path)
    assert seen[0].startswith(f"foldshift/{__version__} ")


def test_a_redirect_is_followed(server, tmp_path):
    server.serve("/old", data_server.moved(f"{server.url}/new"))
    server.serve("/new", CONTENT)
    assert get(f"{server.url}/old", tmp_path).read_bytes() == CONTENT


def test_an_endless_redirect_is_refused(server, tmp_path):
    server.serve("/old", data_server.moved(f"{server.url}/old"))
    assert "redirects" in refused(f"{server.url}/old", tmp_path)


def test_a_server_that_is_down_is_tried_four_times_with_growing_pauses(tmp_path):
    pauses = []
    message = refused(f"{data_server.closed_port()}/f", tmp_path, backoff=0.5, sleep=pauses.append)
    assert "Connection refused" in message and "after 4 attempts" in message
    assert pauses == [0.5, 1.0, 2.0]


def test_a_missing_file_is_refused_at_once(server, tmp_path):
    with pytest.raises(NotFoundError, match=r"/f: HTTP 404 Not Found"):
        get(f"{server.url}/f", tmp_path)
    assert len(server.requests) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_forbidden_file_is_refused_at_once(server, tmp_path):
    server.serve("/f", data_server.status(403))
    assert "HTTP 403 Forbidden" in refused(f"{server.url}/f", tmp_path)
    assert len(server.requests) == 1


@pytest.mark.parametrize("code", [500, 502, 503])
def test_a_server_error_that_passes_is_overcome(server, tmp_path, code):
    server.serve("/f", data_server.status(code), data_server.status(code), CONTENT)
    assert get(f"{server.url}/f", tmp_path).read_bytes() == CONTENT
    assert len(server.requests) == 3


def test_a_server_error_that_stays_ends_after_four_attempts(server, tmp_path):
    server.serve("/f", data_server.status(500))
    assert "HTTP 500 Internal Server Error (after 4 attempts)" in refused(f"{server.url}/f", tmp_path)
    assert len(server.requests) == 4


def test_retry_after_sets_the_pause(server, tmp_path):
    pauses = []
    server.serve("/f", data_server.status(429, Retry_After="3"), data_server.status(503), b"x")
    get(f"{server.url}/f", tmp_path, backoff=0.25, sleep=pauses.append)
    assert pauses == [3.0, 0.5]


def test_retry_after_may_be_a_date_and_is_capped(server, tmp_path):
    pauses = []
    far = "Fri, 01 Jan 2100 00:00:00 GMT"
    past = "Fri, 01 Jan 2010 00:00:00 GMT"
    answers = [data_server.status(429, Retry_After=when) for when in (far, past, "soon")]
    server.serve("/f", *answers, b"x")
    get(f"{server.url}/f", tmp_path, backoff=0.25, total_timeout=100, sleep=pauses.append)
    assert pauses == [60.0, 0.0, 1.0]


def test_a_pause_longer_than_the_total_limit_is_not_waited_for(server, tmp_path):
    server.serve("/f", data_server.status(429, Retry_After="50"))
    assert "a pause of 50 s exceeds the limit of 10 s" in refused(f"{server.url}/f", tmp_path)
    assert len(server.requests) == 1


def test_a_server_that_says_nothing_ends_at_the_read_limit(server, tmp_path):
    server.serve("/f", data_server.hang())
    begin = time.monotonic()
    assert "no answer within 0.2 s" in refused(f"{server.url}/f", tmp_path, timeout=0.2)
    assert time.monotonic() - begin < 3


@pytest.mark.parametrize("answer", [data_server.drip(CONTENT, 0.05), data_server.drip_header(0.05)])
def test_an_answer_that_drips_ends_at_the_total_limit(server, tmp_path, answer):
    server.serve("/f", answer)
    begin = time.monotonic()
    assert "not finished within the limit of 0.7 s" in refused(f"{server.url}/f", tmp_path, total_timeout=0.7)
    assert time.monotonic() - begin < 2


@pytest.mark.parametrize("answer", [data_server.truncated(CONTENT, 70_000), data_server.broken_chunk(CONTENT)])
def test_a_truncated_answer_is_tried_again_and_then_refused(server, tmp_path, answer):
    server.serve("/f", answer)
    assert "after 4 attempts" in refused(f"{server.url}/f", tmp_path)
    server.serve("/f", answer, CONTENT)
    assert get(f"{server.url}/f", tmp_path).read_bytes() == CONTENT


ROWS = b"a,b\n" + b"".join(b"%d,%d\n" % (i, i % 7) for i in range(20))
PACKED = {"Content-Encoding": "gzip"}


@pytest.mark.parametrize(
    ("sent", "headers", "chunk", "taken"),
    [
        (gzip.compress(ROWS), PACKED, None, {ROWS}),
        (gzip.compress(ROWS), PACKED, 40, {ROWS}),
        # Nothing says that a second part is to come.
        (gzip.compress(ROWS[:50]) + gzip.compress(ROWS[50:]), PACKED, None, {ROWS[:50], ROWS}),
        (ROWS, {}, 40, {ROWS}),
        (ROWS, {}, None, set()),
    ],
    ids=["packed", "packed in chunks", "packed in two parts", "in chunks", "without a length"],
)
def test_an_answer_that_breaks_off_at_any_byte_is_not_taken_for_whole(server, tmp_path, sent, headers, chunk, taken):
    whole = len(sent) + (0 if chunk is None else 5 + 6 * (1 + len(sent) // chunk))
    received, reasons = set(), ("broke off", "connection failed", "how long the file is", "empty file")
    for cut in range(whole + 1):
        server.serve("/f", data_server.cut_off(sent, cut, headers, chunk))
        try:
            received.add(get(f"{server.url}/f", tmp_path, retries=0).read_bytes())
        except SourceError as error:
            assert any(reason in str(error) for reason in reasons)
    assert received == taken


def test_a_file_that_says_itself_where_it_ends_needs_no_length(server, tmp_path):
    archive = zip_of({"x.dat": ROWS})
    server.serve("/f", data_server.cut_off(archive, len(archive)))
    assert read_members(get(f"{server.url}/f", tmp_path)) == {"x.dat": ROWS}
    for cut in range(4, len(archive)):
        with pytest.raises(SourceError):
            read_members(archive[:cut])


@pytest.mark.parametrize("encoding", ["br", "deflate", "zstd"])
def test_an_answer_that_is_packed_otherwise_is_refused(server, tmp_path, encoding):
    server.serve("/f", data_server.body(b"packed", {"Content-Encoding": encoding}))
    assert f"packs its answer as '{encoding}'" in refused(f"{server.url}/f", tmp_path)


def test_an_empty_answer_and_a_part_that_nobody_asked_for_are_refused(server, tmp_path):
    server.serve("/f", b"")
    assert "empty file" in refused(f"{server.url}/f", tmp_path)
    server.serve("/f", data_server.body(ROWS, {"Content-Range": "bytes 0-9/999"}, 206))
    assert "HTTP 206" in refused(f"{server.url}/f", tmp_path)


@pytest.mark.parametrize("place", ["file:///etc/hostname", "ftp://127.0.0.1/f", "gopher://127.0.0.1/f"])
def test_a_redirect_to_a_file_or_another_kind_of_address_is_refused(server, tmp_path, place):
    server.serve("/f", data_server.moved(place))
    assert "check the address" in refused(f"{server.url}/f", tmp_path)


def test_a_packed_answer_that_grows_beyond_the_limit_is_cut_off(server, tmp_path):
    server.serve("/f", data_server.body(gzip.compress(b"0" * 10**7), PACKED))
    assert "more than the limit of 100000 bytes" in refused(f"{server.url}/f", tmp_path, max_bytes=100_000)


def test_a_file_that_says_it_is_too_large_is_refused_before_it_is_read(server, tmp_path):
    server.serve("/f", data_server.body(b"", {"Content-Length": 10**12}))
    assert "1000000000000 bytes, more than the limit of 1000" in refused(f"{server.url}/f", tmp_path, max_bytes=1000)


def test_an_endless_answer_is_cut_off_at_the_size_limit(server, tmp_path):
    server.serve("/f", data_server.endless())
    assert "more than the limit of 1000000 bytes" in refused(f"{server.url}/f", tmp_path, max_bytes=1_000_000)
    assert len(server.requests) == 1


def test_a_file_of_exactly_the_limit_is_accepted(server, tmp_path):
    server.serve("/f", CONTENT)
    get(f"{server.url}/f", tmp_path, max_bytes=len(CONTENT))
    with pytest.raises(SourceError, match="more than the limit"):
        get(f"{server.url}/f", tmp_path, max_bytes=len(CONTENT) - 1)
    assert (tmp_path / "file").read_bytes() == CONTENT  # the older file is left alone


def test_a_server_without_a_trusted_certificate_is_refused_at_once(server, tmp_path):
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which makes the certificate for this test, is not installed")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"
    subprocess.run([*command.split(), "-keyout", key, "-out", certificate], check=True, capture_output=True)
    server.use_certificate(certificate, key)
    server.serve("/f", CONTENT)
    folder, pauses = tmp_path / "folder", []
    folder.mkdir()
    message = refused(f"{server.url}/f", folder, sleep=pauses.append)
    assert "the secure connection failed" in message and "certificate verify failed" in message
    assert pauses == [] and server.requests == []
    assert get(f"{server.url}/f", folder, authorities=str(certificate)).read_bytes() == CONTENT


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/f", "f.csv", "http:///f", "https://"])
def test_what_is_not_an_address_is_refused(tmp_path, url):
    assert "is not an address" in refused(url, tmp_path)


def test_downloads_leave_no_busy_thread_behind(server, tmp_path):
    server.serve("/f", data_server.endless())
    refused(f"{server.url}/f", tmp_path, max_bytes=10**9, total_timeout=0.3)
    waited = time.monotonic() + 5
    while any(thread.name.endswith("(work)") for thread in threading.enumerate()):
        assert time.monotonic() < waited
        time.sleep(0.02)


# ---- archives ----


def test_members_are_found_by_base_name_ignoring_case_and_folders():
    archive = zip_of({"Some Folder/inner/Wine.DATA": b"1", "readme": b"2", "../../evil.dat": b"3", "a\\b.dat": b"4"})
    assert read_members(archive, ["wine.data", "README", "evil.dat", "b.dat"]) == {
        "Some Folder/inner/Wine.DATA": b"1",
        "readme": b"2",
        "../../evil.dat": b"3",
        "a\\b.dat": b"4",
    }


def test_members_of_an_archive_on_disk_can_be_read(tmp_path):
    (tmp_path / "a.zip").write_bytes(zip_of({"x": b"1"}))
    assert read_members(tmp_path / "a.zip") == {"x": b"1"}
    assert [file.name for file in tmp_path.iterdir()] == ["a.zip"]


def test_of_several_members_of_one_name_the_one_at_the_top_is_meant():
    assert read_members(zip_of({"old/x.dat": b"1", "X.dat": b"2", "new/x.dat": b"3"}), ["x.dat"]) == {"X.dat": b"2"}
    with pytest.raises(SourceError, match=r"2 files of the name 'x.dat' \(old/x.dat, new/x.dat\)"):
        read_members(zip_of({"old/x.dat": b"1", "new/x.dat": b"3"}), ["x.dat"])


def test_a_missing_member_is_refused_with_what_there_is():
    with pytest.raises(SourceError, match=r"holds no file 'x.dat'; it holds y.dat, z.dat"):
        read_members(zip_of({"y.dat": b"", "z.dat": b""}), ["x.dat"])
    with pytest.raises(SourceError, match=r"holds 2 files \(y.dat, z.dat\); name one, such as member=\['y.dat'\]"):
        read_members(zip_of({"y.dat": b"", "z.dat": b""}))
    with pytest.raises(SourceError, match=r"holds no file 'x.dat'; it holds nothing"):
        read_members(zip_of({}), ["x.dat"])


def test_what_is_not_an_archive_is_refused():
    with pytest.raises(SourceError, match="not a zip archive;"):
        read_members(b"a,b\n1,2\n")
    with pytest.raises(SourceError, match="not a zip archive but an HTML page"):
        read_members(b"\n<!DOCTYPE html><html></html>")


def test_a_zip_bomb_is_refused_by_its_ratio():
    bomb = zip_of({"x.dat": b"\0" * 30_000_000})
    assert len(bomb) < 40_000
    with pytest.raises(SourceError, match="looks like a zip bomb"):
        read_members(bomb, ["x.dat"])
    with pytest.raises(SourceError, match="looks like a zip bomb"):
        check_archive(bomb)


def test_members_beyond_the_size_limit_are_refused_in_sum():
    archive = zip_of({"x": b"12345678", "y": b"12345678"})
    assert read_members(archive, ["x", "y"], max_bytes=16) == {"x": b"12345678", "y": b"12345678"}
    with pytest.raises(SourceError, match="'y' in the archive exceeds the limit of 7 bytes"):
        read_members(archive, ["x", "y"], max_bytes=15)
    with pytest.raises(SourceError, match="exceeds the limit"):
        check_archive(archive, max_bytes=15)


def test_sizes_in_the_archive_header_are_not_trusted():
    archive = bytearray(zip_of({"x.dat": b"\0" * 5_000_000}))
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<I", archive, archive.index(signature) + offset, 10)
    with pytest.raises(SourceError):
        read_members(bytes(archive), ["x.dat"], max_bytes=1_000_000)


def test_damaged_archives_are_refused():
    archive = zip_of({"x.dat": bytes(range(256)) * 20})
    for position in range(len(archive)):
        damaged = archive[:position] + bytes([archive[position] ^ 0xFF]) + archive[position + 1 :]
        try:
            read_members(damaged, ["x.dat"])
        except SourceError as error:
            assert "\n" not in str(error)
        try:
            read_members(archive[:position], ["x.dat"])
            raise AssertionError("a truncated archive was accepted")
        except SourceError:
            pass


def test_an_encrypted_member_is_refused():
    archive = bytearray(zip_of({"x.dat": b"1"}))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        archive[archive.index(signature) + offset] |= 1
    with pytest.raises(SourceError, match=r"'x.dat' in the archive is encrypted"):
        read_members(bytes(archive), ["x.dat"])


def test_an_unknown_compression_is_refused():
    archive = bytearray(zip_of({"x.dat": b"1"}))
    for signature, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        archive[archive.index(signature) + offset] = 99
    with pytest.raises(SourceError, match=r"'x.dat' in the archive is damaged"):
        read_members(bytes(archive), ["x.dat"])
