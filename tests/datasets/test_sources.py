"""Sources of data sets: real clients against a real server, and every way in which a source is refused."""

import hashlib
import io
import json
import re
import time
from pathlib import Path

import pandas as pd
import pytest

import data_server
from data_server import ARFF_TEXT, CSV_TEXT, KEEL_COLUMNS, KEEL_ROWS, KEEL_TEXT, DataServer, zip_of
from foldshift.core.errors import DataError, FoldshiftError, SourceError
from foldshift.datasets.catalogue_entry import CatalogueEntry
from foldshift.datasets.readers.arff import read_keel
from foldshift.datasets.readers.raw_table import fingerprint
from foldshift.datasets.sources.download import Limits
from foldshift.datasets.sources.fetch import fetch, parse_source

QUICK = Limits(timeout=2, total_timeout=10, backoff=0.01)
TODAY = r"\d{4}-\d\d-\d\d"


@pytest.fixture
def server():
    with DataServer() as running:
        yield running


def entry(*sources, task="classification", **fields):
    return CatalogueEntry("tiny", task, sources=sources, **fields)


def expecting(*sources, **fields):
    """Entry that knows the table of `KEEL_TEXT`."""
    known = {"n_rows": KEEL_ROWS, "n_features": KEEL_COLUMNS, "fingerprint": fingerprint(read_keel(KEEL_TEXT))}
    return entry(*sources, **{**known, **fields})


def get(one, server=None, **arguments):
    hosts = server.hosts if server else {}
    return fetch(one, hosts=hosts, progress=lambda line: None, **{"limits": QUICK, **arguments})


def refusals(one, server=None, **arguments):
    """Reasons, one per source, of a fetch that fails."""
    with pytest.raises(SourceError) as caught:
        get(one, server, **arguments)
    text = str(caught.value)
    assert "\n" not in text
    local = all(source.startswith("file:") for source in one.sources)
    head = "data set tiny: " if local else f"data set tiny: none of its {len(one.sources)} sources could be used; set mirror to "
    assert text.startswith(head)
    starts = [text.index(f"{source}: ") for source in one.sources]
    ends = [start - len("; ") for start in starts[1:]] + [len(text)]
    return [text[start + len(f"{source}: ") : end] for source, start, end in zip(one.sources, starts, ends)]


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file())


# ---- the grammar ----


def test_a_source_is_taken_apart():
    source = parse_source(
        "uci:9/auto+mpg?member=a%26b.data,c%2Cd&format=space&header=no&skip=2&sep=%3B&decimal=,&target=-1&drop=1,car%20name"
        "&map=1:M=1,%3D=2;sex:+=x&round=year:3;2:0&missing=-9,none&nominal=3,4&keep=2&groups=5&space_on=6,7&time_on=8&subset_on=9&ranges=declared"
    )
    assert (source.scheme, source.address) == ("uci", "9/auto+mpg")
    assert vars(source.options) == {
        "format": "space",
        "sep": ";",
        "decimal": ",",
        "header": 0,
        "skip_rows": 2,
        "names": (),
        "encoding": "",
        "thousands": "",
        "sheet": "",
        "types": {},
        "has_target": True,
        "member": ("a&b.data", "c,d"),
        "target": "-1",
        "drop": ("1", "car name"),
        "map": {"1": {"M": "1", "=": "2"}, "sex": {"+": "x"}},
        "round": {"year": 3, "2": 0},
        "ranges": "declared",
        "missing": ("-9", "none"),
        "nominal": ("3", "4"),
        "keep": ("2",),
        "groups": "5",
        "space_on": ("6", "7"),
        "time_on": "8",
        "subset_on": "9",
        "own": False,
    }
    assert parse_source("file:my%20data%3F.csv").address == "my data?.csv"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("abalone.csv", "not of the form scheme:address; schemes are mirror, keel, uci, openml, sklearn, generated, file, url"),
        ("kel:regression/x", "unknown scheme 'kel'; did you mean keel? Known: mirror, keel,"),
        ("keel:x", "'x' is not regression/NAME or classification/NAME"),
        ("uci:abalone", "'abalone' is not ID/SLUG"),
        ("openml:iris", "'iris' is not the number of the data set"),
        ("url:ftp://x/y", "'ftp://x/y' is not an address that begins with https:// or http://"),
        ("mirror:", "'' is not a path"),
        ("sklearn:load_boston", "unknown scikit-learn loader 'load_boston'"),
        ("file:x?haeder=no", "unknown reading option 'haeder'; did you mean header? Known: decimal, drop, encoding,"),
        ("openml:1?sep=,", "unknown reading option 'sep'"),
        ("generated:x?drop=1", "unknown reading option 'drop'. Known: ."),
        ("file:x?header", "reading option 'header' has no value"),
        ("file:x?skip=1&skip=2", "reading option 'skip_rows' is given twice"),
        ("file:x?types=a:word", "reading option types=a:word: the type must be one of number, nominal, date"),
        ("file:x?encoding=utf-99", "reading option encoding=utf-99 is not a known encoding"),
        ("file:x?thousands=;", "reading option thousands=; must be a comma, a point, an apostrophe, blank or none"),
        ("file:x?names=a,a", "reading option names=a,a: every column needs a name of its own"),
        ("file:x?header=true", "reading option header=true must be none, or the number of the line"),
        ("file:x?format=xml", "reading option format=xml must be one of keel, csv, "),
        ("file:x?sep=::", "sep=:: is not a separator"),
        ("file:x?skip=-1", "skip_rows=-1 is not a number of lines or digits"),
        ("file:x?map=sex", "reading option map: 'sex' is not of the form column:value"),
        ("file:x?map=sex:M", "reading option map: 'M' is not of the form old=new"),
        ("file:x?round=sex:M", "round=M is not a number"),
    ],
)
def test_a_source_that_is_written_wrongly_is_refused_before_any_is_tried(text, message):
    with pytest.raises(SourceError, match=re.escape(message)) as caught:
        fetch(entry("sklearn:load_iris", text), progress=lambda line: None)
    assert "\n" not in str(caught.value)


def test_an_entry_without_sources_is_refused():
    with pytest.raises(SourceError, match="tiny: the catalogue names no source"):
        fetch(entry())


# ---- sources that need no network ----


def test_a_file_is_found_in_the_mirror_folder(tmp_path):
    (tmp_path / "sub folder").mkdir()
    (tmp_path / "sub folder" / "x.dat").write_text(KEEL_TEXT)
    fetched = get(expecting("mirror:sub%20folder/x.dat"), mirror=tmp_path)
    assert fetched.address == str(tmp_path / "sub folder" / "x.dat")
    assert fetched.sha256 == hashlib.sha256(KEEL_TEXT.encode()).hexdigest()
    assert (fetched.retrieved, fetched.licence) == ("", "")
    assert fetched.table.frame["length"].tolist() == [1.5, 2.5, 3.5, 4.5]
    assert fetched.fingerprint == fingerprint(fetched.table)
    assert [(attempt.source, attempt.problem) for attempt in fetched.attempts] == [("mirror:sub%20folder/x.dat", "")]


def test_without_a_mirror_its_sources_are_passed_over(tmp_path):
    (tmp_path / "x.dat").write_text(KEEL_TEXT)
    lines = []
    fetched = fetch(expecting("mirror:x.dat", f"file:{tmp_path}/x.dat"), progress=lines.append)
    assert fetched.attempts[0].problem == "passed over, no mirror is configured"
    assert lines == [f"tiny: file:{tmp_path}/x.dat accepted ({tmp_path}/x.dat)"]


def test_mirror_paths_that_lead_out_of_the_mirror_are_refused(tmp_path):
    (tmp_path / "x.dat").write_text(KEEL_TEXT)
    (tmp_path / "mirror").mkdir()
    assert refusals(expecting("mirror:../x.dat"), mirror=tmp_path / "mirror") == ["the path '../x.dat' leads out of the mirror"]


def test_local_files_that_cannot_be_read_are_refused(tmp_path):
    (tmp_path / "large.csv").write_bytes(b"a,b\n1,2\n" * 10_000)
    sources = ("mirror:nothing.csv", "mirror:.", "mirror:large.csv", "mirror:a%00b")
    reasons = refusals(entry(*sources), mirror=tmp_path, limits=Limits(max_bytes=79_999))
    assert reasons[0] == f"there is no file {tmp_path}/nothing.csv"
    assert reasons[1] == f"cannot read {tmp_path}: Is a directory"
    assert reasons[2] == f"{tmp_path}/large.csv has 80000 bytes, more than the limit of 79999"
    assert reasons[3].startswith("cannot read ")


def test_a_file_of_the_user_may_be_relative_and_zipped(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.zip").write_bytes(zip_of({"deep/x.dat": KEEL_TEXT.encode()}))
    assert get(expecting("file:a.zip")).address == "a.zip"
    assert get(expecting("file:a.zip?member=X.DAT")).table.features == ["length", "colour"]


def test_members_are_joined_in_order_each_without_its_first_lines(tmp_path):
    parts = {"a.tra": b"title\n1 2 x\n", "a.tes": b"title\n3 4 y"}
    (tmp_path / "a.zip").write_bytes(zip_of(parts))
    fetched = get(entry("mirror:a.zip?member=a.tra,a.tes&skip=1&format=space"), mirror=tmp_path)
    assert fetched.table.frame.astype(object).to_numpy().tolist() == [[1.0, 2.0, "x"], [3.0, 4.0, "y"]]


@pytest.mark.parametrize(
    ("loader", "task", "shape", "labels"),
    [
        ("load_iris", "classification", (150, 5), ["setosa", "versicolor", "virginica"]),
        ("load_wine", "classification", (178, 14), ["class_0", "class_1", "class_2"]),
        ("load_breast_cancer", "classification", (569, 31), ["benign", "malignant"]),
        ("load_diabetes", "regression", (442, 11), None),
    ],
)
def test_bundled_sets_of_scikit_learn_need_no_network(loader, task, shape, labels):
    fetched = get(entry(f"sklearn:{loader}", task=task))
    assert fetched.table.frame.shape == shape
    assert (fetched.table.target, fetched.sha256, fetched.retrieved) == ("target", "", "")
    target = fetched.table.frame["target"]
    assert labels is None or target.cat.categories.tolist() == labels
    if loader == "load_diabetes":  # the unscaled values: ages in years
        assert fetched.table.frame["age"].iloc[:3].tolist() == [59.0, 48.0, 72.0]
        assert fetched.table.kinds["target"] == "integer"


def test_a_generated_set_needs_no_network():
    pytest.importorskip("foldshift.datasets.synthetic.generated")
    fetched = get(entry("generated:monk-2", n_rows=432, n_features=6, fingerprint="84a7a8496552fabf"))
    assert (fetched.sha256, fetched.retrieved) == ("", "")
    (reason,) = refusals(entry("generated:monk-9"))
    assert "monk-9" in reason


def test_the_home_folder_may_be_abbreviated(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "x.dat").write_text(KEEL_TEXT)
    assert get(expecting("file:~/x.dat")).address == str(tmp_path / "x.dat")
    assert get(expecting("mirror:x.dat"), mirror="~").address == str(tmp_path / "x.dat")
    assert refusals(expecting("file:~nobody-of-this-name/x.dat")) == ["there is no file ~nobody-of-this-name/x.dat"]


# ---- KEEL and UCI ----


def test_a_keel_archive_is_fetched_and_kept(server, tmp_path):
    server.serve_keel("tiny", member="Tiny.DAT")
    one = expecting("keel:classification/tiny")
    fetched = get(one, server, cache=tmp_path)
    assert fetched.address == f"{server.url}/keel/dataset/data/classification/tiny.zip"
    assert re.fullmatch(TODAY, fetched.retrieved) and len(fetched.sha256) == 64
    assert files(tmp_path) == ["keel/classification/tiny.zip"]
    again = get(one, server, cache=tmp_path)
    assert len(server.requests) == 1
    assert again.sha256 == fetched.sha256 and again.address == fetched.address


def test_without_a_cache_nothing_is_kept(server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    server.serve_keel("tiny")
    for _ in range(2):
        get(expecting("keel:classification/tiny"), server)
    assert len(server.requests) == 2 and files(tmp_path) == []


def test_a_keel_name_is_tried_in_lower_case_if_it_is_not_there(server, tmp_path):
    server.serve_keel("autompg8", kind="regression")
    one = expecting("keel:regression/autoMPG8")
    for _ in range(2):  # from the network, then from the cache
        assert get(one, server, cache=tmp_path).address.endswith("/regression/autompg8.zip")
    assert [path for _, path in server.requests] == [f"/keel/dataset/data/regression/{n}.zip" for n in ("autoMPG8", "autompg8")]


def test_a_keel_name_that_is_nowhere_is_refused(server, tmp_path):
    (reason,) = refusals(expecting("keel:regression/autoMPG8"), server, cache=tmp_path)
    assert reason.startswith(f"{server.url}/keel/dataset/data/regression/autompg8.zip: HTTP 404")
    assert files(tmp_path) == []


def test_a_uci_archive_is_fetched_with_its_slug(server, tmp_path):
    server.serve_uci(291, "airfoil+self+noise", {"folder/Air.csv": CSV_TEXT.encode(), "readme": b""})
    source = "uci:291/airfoil+self+noise?member=air.csv&format=csv&sep=;&header=no&target=3&map=2:red=1,green=2,blue=3"
    fetched = get(entry(source, task="regression", n_rows=3, n_features=2), server, cache=tmp_path)
    assert fetched.table.frame.to_numpy().tolist() == [[1.5, 1, 10], [2.5, 2, 20], [3.5, 3, 30]]
    assert list(fetched.table.frame) == ["x1", "x2", "y"]
    assert files(tmp_path) == ["uci/291.zip"]


def test_a_mirror_may_be_an_address(server, tmp_path):
    server.serve("/files/sub%20folder/x.dat", KEEL_TEXT.encode())
    fetched = get(expecting("mirror:sub%20folder/x.dat"), server, mirror=f"{server.url}/files/", cache=tmp_path)
    assert fetched.address == f"{server.url}/files/sub%20folder/x.dat"
    assert re.fullmatch(TODAY, fetched.retrieved)
    get(expecting("mirror:sub%20folder/x.dat"), server, mirror=f"{server.url}/files/", cache=tmp_path)
    assert len(server.requests) == 1


def test_a_plain_address_can_be_a_source(server, tmp_path):
    server.serve("/a/x.dat", KEEL_TEXT.encode())
    server.serve("/a/x.zip", zip_of({"x.dat": KEEL_TEXT.encode()}))
    for name in ("x.dat", "x.zip"):
        fetched = get(expecting(f"url:{server.url}/a/{name}"), server, cache=tmp_path)
        assert fetched.address == f"{server.url}/a/{name}"


# ---- refusals ----


def test_the_next_source_is_tried_and_every_refusal_is_recorded(server, tmp_path):
    server.serve_keel("tiny", KEEL_TEXT.replace("4.5, red, 1.0\n", ""))
    server.serve_uci(1, "tiny", {"x.dat": KEEL_TEXT.replace("4.5", "4.75").encode()})
    server.serve("/wide.csv", b"a,b,c,d\n1,2,3,x\n2,2,3,y\n3,2,3,y\n4,2,3,y\n")
    server.serve("/right.dat", KEEL_TEXT.encode())
    lines = []
    sources = ("keel:classification/tiny", "uci:1/tiny", f"url:{server.url}/wide.csv", f"url:{server.url}/right.dat")
    fetched = fetch(expecting(*sources), hosts=server.hosts, cache=tmp_path, progress=lines.append, limits=QUICK)
    assert fetched.source == sources[3]
    problems = [attempt.problem for attempt in fetched.attempts]
    right = fetched.fingerprint
    pattern = "not the expected table: "
    assert re.fullmatch(
        f"{pattern}rows without missing values 3 instead of 4, fingerprint \\w{{16}} instead of {right}", problems[0]
    )
    assert re.fullmatch(f"{pattern}fingerprint \\w{{16}} instead of {right}", problems[1])
    assert re.fullmatch(f"{pattern}input columns 3 instead of 2, fingerprint \\w{{16}} instead of {right}", problems[2])
    assert problems[3] == ""
    assert [line.startswith(f"tiny: {source} refused: ") for line, source in zip(lines, sources)] == [True] * 3 + [False]
    assert len(files(tmp_path)) == 1  # what was refused is not kept


def test_rows_with_missing_values_do_not_count(tmp_path):
    (tmp_path / "x.dat").write_text(KEEL_TEXT + "?, red, 1.0\n<NULL>, red, 1.0\n")
    assert len(get(expecting("mirror:x.dat"), mirror=tmp_path).table.frame) == KEEL_ROWS + 2


FAILURES = {
    "web page": ([data_server.html()], "HTML page"),
    "truncated": ([data_server.truncated(b"x" * 1000, 10)], "after 2 attempts"),
    "forbidden": ([data_server.status(403)], "HTTP 403"),
    "broken": ([data_server.status(500)], "HTTP 500"),
    "silent": ([data_server.hang()], "no answer within 0.2 s"),
    "dripping": ([data_server.drip(b"x" * 1000, 0.05)], "not finished within the limit of 1 s"),
    "endless": ([data_server.endless()], "more than the limit of 1000000 bytes"),
    "binary": ([zip_of({"tiny.dat": b"\0" * 900_000})], "not a text file"),
    "bomb": ([zip_of({"tiny.dat": b"\0" * 5_000_000})], "exceeds the limit of 1000000 bytes"),
    "not a zip": ([KEEL_TEXT.encode()], "not a zip archive"),
    "other member": ([zip_of({"other.dat": b"x", "evil.dat": b""})], "holds no file 'tiny.dat'; it holds other.dat, evil.dat"),
    "empty member": ([zip_of({"tiny.dat": b"\n"})], "the file is empty"),
    "web page inside": ([zip_of({"tiny.dat": b"<html>"})], "HTML page"),
    "cut off": ([zip_of({"tiny.dat": KEEL_TEXT[:-6].encode()})], "line 11: 2 fields where the header declares 3"),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_host_that_fails_is_refused_and_leaves_nothing_behind(server, tmp_path, failure):
    answers, message = FAILURES[failure]
    server.serve("/keel/dataset/data/classification/tiny.zip", *answers)
    limits = Limits(max_bytes=1_000_000, timeout=0.2, total_timeout=1, retries=1, backoff=0.01)
    begin = time.monotonic()
    (reason,) = refusals(expecting("keel:classification/tiny"), server, cache=tmp_path, limits=limits)
    assert message in reason
    assert time.monotonic() - begin < 3
    assert files(tmp_path) == []


def test_a_member_whose_name_leads_out_of_the_archive_is_only_read(server, tmp_path):
    server.serve_keel("tiny", member="../../../tiny.dat")
    get(expecting("keel:classification/tiny"), server, cache=tmp_path / "cache")
    assert files(tmp_path) == ["cache/keel/classification/tiny.zip"]


def test_hosts_that_are_down_are_named_with_what_to_do(tmp_path):
    down = data_server.closed_port()
    hosts = {"keel": down, "uci": down, "openml": f"{down}/api/v1/xml"}
    sources = ("mirror:x.dat", "keel:classification/tiny", "uci:1/tiny?member=x", "openml:61")
    limits = Limits(timeout=1, total_timeout=30, retries=1, backoff=0.01)
    with pytest.raises(SourceError) as caught:
        fetch(expecting(*sources), hosts=hosts, cache=tmp_path, progress=lambda line: None, limits=limits)
    text = str(caught.value)
    assert "set mirror to a folder or address that holds the files, or check the network" in text and "\n" not in text
    assert "mirror:x.dat: passed over, no mirror is configured" in text
    assert text.count("refused") == 3
    assert files(tmp_path) == []


# ---- OpenML, through its own client ----


def openml_paths(server):
    return [path for _, path in server.requests]


def test_openml_is_asked_through_its_client_and_then_kept(server, tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    tmp_path = tmp_path / "cache"
    file = server.serve_openml(61)
    one = entry("openml:61", n_rows=3, n_features=2)
    fetched = get(one, server, cache=tmp_path, limits=Limits(total_timeout=60))
    assert openml_paths(server) == ["/api/v1/xml/data/61", file]
    assert fetched.licence == "CC0" and re.fullmatch(TODAY, fetched.retrieved)
    assert fetched.sha256 == hashlib.sha256(ARFF_TEXT.encode()).hexdigest()
    assert fetched.address == f"{server.url}/api/v1/xml/data/61"
    assert fetched.table.features == ["length", "the colour"] and fetched.table.target == "class"  # id is an ignored attribute
    assert fetched.table.frame["class"].cat.categories.tolist() == ["good", "bad"]
    again = get(one, server, cache=tmp_path)
    assert len(server.requests) == 2
    assert (again.sha256, again.licence, again.fingerprint) == (fetched.sha256, fetched.licence, fetched.fingerprint)
    assert len(files(tmp_path)) == 2
    assert files(home) == []


def test_reading_options_go_before_what_openml_says(server, tmp_path):
    server.serve_openml(61, licence="")
    one = entry("openml:61?target=length&drop=class&map=the%20colour:red=1,green=2", task="regression")
    fetched = get(one, server, cache=tmp_path, limits=Limits(total_timeout=60))
    assert fetched.licence == ""
    assert fetched.table.target == "length" and fetched.table.features == ["the colour"]
    assert fetched.table.kinds["the colour"] == "integer"


def test_an_openml_file_with_a_wrong_checksum_is_refused(server, tmp_path):
    server.serve_openml(61, md5="0" * 32)
    limits = Limits(total_timeout=60, retries=0)
    (reason,) = refusals(entry("openml:61"), server, cache=tmp_path, limits=limits)
    assert "OpenMLHashException: Checksum of downloaded file is unequal" in reason
    assert files(tmp_path) == []


def test_an_openml_server_that_hangs_ends_in_a_clear_message_within_the_limit(server, tmp_path):
    server.serve("/api/v1/xml/data/61", data_server.hang())
    begin = time.monotonic()
    (reason,) = refusals(entry("openml:61"), server, cache=tmp_path, limits=Limits(total_timeout=4))
    assert reason == f"{server.url}/api/v1/xml: data set 61 not finished within the limit of 4 s; check the network"
    assert time.monotonic() - begin < 8
    assert files(tmp_path) == []


def test_an_openml_data_set_that_does_not_exist_is_refused(server, tmp_path):
    error = b'<oml:error xmlns:oml="http://openml.org/openml"><oml:code>111</oml:code>'
    error += b"<oml:message>Unknown dataset</oml:message></oml:error>"
    server.serve("/api/v1/xml/data/61", data_server.body(error, code=412))
    (reason,) = refusals(entry("openml:61"), server, cache=tmp_path, limits=Limits(total_timeout=60))
    assert "Unknown dataset" in reason
    assert files(tmp_path) == []


def test_an_openml_file_beyond_the_size_limit_is_refused(server, tmp_path):
    server.serve_openml(61)
    (reason,) = refusals(entry("openml:61"), server, cache=tmp_path, limits=Limits(total_timeout=60, max_bytes=50))
    assert "more than the limit of 50 bytes" in reason
    assert files(tmp_path) == []


def parquet_bytes():
    frame = pd.DataFrame({"length": [0.5, 1.5], "class": pd.Categorical(["good", "bad"], ["good", "bad"])})
    packed = io.BytesIO()
    frame.to_parquet(packed)
    return packed.getvalue()


def test_the_openml_client_cannot_fill_the_disk(server, tmp_path):
    server.serve_openml(61, arff=ARFF_TEXT + "% filling\n" * 400_000)
    limits = Limits(total_timeout=60, max_bytes=1_000_000, retries=0)
    (reason,) = refusals(entry("openml:61"), server, cache=tmp_path, limits=limits)
    assert "the file has more than the limit of 1000000 bytes" in reason
    assert files(tmp_path) == []


def test_the_parquet_form_is_taken_only_if_the_arff_is_gone_and_the_fingerprint_known(server, tmp_path):
    file = server.serve_openml(61, ignore="", parquet=parquet_bytes())
    server.serve(file, data_server.status(500))
    limits = Limits(total_timeout=60, retries=0)
    (reason,) = refusals(entry("openml:61"), server, cache=tmp_path, limits=limits)
    assert "the OpenML client failed with " in reason
    assert "/data/tiny.pq" not in openml_paths(server)
    right = hashlib.sha256(b"0.5,good\n1.5,bad").hexdigest()[:16]
    fetched = get(entry("openml:61", fingerprint=right), server, cache=tmp_path, limits=limits)
    assert "/data/tiny.pq" in openml_paths(server)
    assert fetched.table.frame["class"].cat.categories.tolist() == ["good", "bad"]
    seen = len(server.requests)
    get(entry("openml:61", fingerprint=right), server, cache=tmp_path, limits=limits)
    assert len(server.requests) == seen


def test_a_cached_description_that_is_damaged_is_fetched_again(server, tmp_path):
    server.serve_openml(61)
    limits = Limits(total_timeout=60)
    get(entry("openml:61"), server, cache=tmp_path, limits=limits)
    (description,) = tmp_path.rglob("61.json")
    assert json.loads(description.read_text())["licence"] == "CC0"
    description.write_text("{")
    get(entry("openml:61"), server, cache=tmp_path, limits=limits)
    assert len(server.requests) == 4


def test_errors_of_sources_are_errors_of_the_project():
    assert issubclass(SourceError, DataError) and issubclass(DataError, FoldshiftError)
