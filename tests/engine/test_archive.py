import contextlib
import hashlib
import json
import os
import random
import re
import stat
import zipfile
from collections import namedtuple
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldshift.core.errors import DataError
from foldshift.core.files import Content, content_of
from foldshift.engine.archive import crate as archive_module
from foldshift.engine.archive.crate import METADATA, Archive, unpack, workflow_files, write_archive
from foldshift.engine.archive.differences import differing_code, differing_outputs, differing_versions

ROOT = Path(__file__).resolve().parents[2]
SCORES = "results/saez_2022/scores/a set/CV+TSCV/NN@paper/0-7.parquet"
TABLE = "results/saez_2022/tables/table4_dn.csv"
FACTS = {
    "started": "2026-01-02T03:04:05+00:00",
    "ended": "2026-01-02T04:04:05+00:00",
    "versions": {"foldshift": "0.1.0", "python": "3.11.7", "packages": {"snakemake": "9.27.1", "numpy": "2.4.0"}},
    "origins": [
        {
            "name": "steps",
            "title": "Steps",
            "source": "generated:steps",
            "address": "",
            "licence": "CC0",
            "sha256": "ab" * 32,
            "citation": "none",
        }
    ],
}


def some_files(folder):
    """Files of a small made-up run, by name in the archive."""
    contents = {
        "workflow/Snakefile": b"rule all:\n",
        "results/provenance/config.yaml": b"studies: {}\n",
        SCORES: bytes(range(256)) * 20,
        TABLE: b"k,partitioner\n2,CV\n",
        "results/saez_2022/tables/größe 1%.csv": b"x\n",
    }
    files = {}
    for i, (name, content) in enumerate(contents.items()):
        files[name] = folder / f"file{i}"
        files[name].parent.mkdir(parents=True, exist_ok=True)
        files[name].write_bytes(content)
    return files


def write(path, files, **changes):
    outputs = [name for name in files if "/tables/" in name]
    write_archive(path, files, outputs, ["results/provenance/config.yaml"], **FACTS | changes)
    return path


@pytest.fixture
def made(tmp_path):
    return write(tmp_path / "made.zip", some_files(tmp_path / "files"))


def rewrite(source, target, change=lambda name, data: data, extra=(), leave_out=()):
    """A copy of an archive with other contents, as somebody could make it who does not touch the metadata."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for info in old.infolist():
            if info.filename not in leave_out:
                new.writestr(info.filename, change(info.filename, old.read(info)))
        for name, data in extra:
            new.writestr(name, data)
    return target


def tree(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_same_files_give_the_same_bytes_whatever_their_order_and_time_stamps(tmp_path, made):
    files = some_files(tmp_path / "other place")
    for path in files.values():
        os.utime(path, (1_000_000_000, 1_000_000_000))
        path.chmod(0o600)
    again = write(tmp_path / "again.zip", dict(reversed(files.items())))
    assert again.read_bytes() == made.read_bytes()
    assert write(tmp_path / "later.zip", files, ended="2026-01-02T05:00:00+00:00").read_bytes() != made.read_bytes()


def test_an_unpacked_archive_has_every_file_listed_with_the_right_checksum(tmp_path, made):
    files = some_files(tmp_path / "files")
    archive = unpack(made, tmp_path / "out")
    assert archive.files.keys() == files.keys()
    assert set(archive.outputs) == {TABLE, "results/saez_2022/tables/größe 1%.csv"}
    unpacked = tree(tmp_path / "out")
    assert unpacked.pop(METADATA)
    assert unpacked == {name: path.read_bytes() for name, path in files.items()}
    for name, content in archive.files.items():
        assert content == Content(len(unpacked[name]), hashlib.sha256(unpacked[name]).hexdigest())


def test_the_metadata_have_what_the_profiles_require(tmp_path, made):
    with zipfile.ZipFile(made) as opened:
        metadata = json.loads(opened.read(METADATA))
        names = set(opened.namelist()) - {METADATA}
    assert metadata["@context"] == ["https://w3id.org/ro/crate/1.1/context", "https://w3id.org/ro/terms/workflow-run/context"]
    entities = {entity["@id"]: entity for entity in metadata["@graph"]}
    assert len(entities) == len(metadata["@graph"])

    # RO-Crate 1.1: the descriptor, the root with name, description, date and licence, every reference to an entity that is there
    descriptor, root = entities[METADATA], entities["./"]
    assert descriptor["@type"] == "CreativeWork" and descriptor["about"] == {"@id": "./"}
    assert {"@id": "https://w3id.org/ro/crate/1.1"} in descriptor["conformsTo"]
    assert root["@type"] == "Dataset" and root["name"] and root["description"] and entities[root["license"]["@id"]]["name"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", root["datePublished"])
    assert root["datePublished"] == FACTS["ended"]  # not the time of writing
    parts = [part["@id"] for part in root["hasPart"]]
    assert {unquote(part) for part in parts} == names and len(parts) == len(names)
    for part in parts:
        entity = entities[part]
        assert "File" in entity["@type"] and re.fullmatch(r"[^\s]+", part)
        assert entity["contentSize"].isdigit() and len(entity["sha256"]) == 64 and "/" in entity["encodingFormat"]
    for entity in entities.values():
        for key in (
            "about",
            "license",
            "mainEntity",
            "mentions",
            "hasPart",
            "instrument",
            "object",
            "result",
            "programmingLanguage",
        ):
            values = entity.get(key, [])
            for value in values if isinstance(values, list) else [values]:
                assert not isinstance(value, dict) or value["@id"] in entities

    # Workflow RO-Crate 1.0: the main workflow and its language
    workflow = entities[root["mainEntity"]["@id"]]
    assert (
        set(workflow["@type"]) == {"File", "SoftwareSourceCode", "ComputationalWorkflow"}
        and workflow["name"]
        and workflow["version"]
    )
    language = entities[workflow["programmingLanguage"]["@id"]]
    assert (language["@type"], language["name"], language["version"]) == ("ComputerLanguage", "Snakemake", "9.27.1")

    # Workflow Run Crate 0.5 with Process Run Crate: the profiles, one action, mentioned by the root
    for profile in root["conformsTo"]:
        assert entities[profile["@id"]]["@type"] == "CreativeWork" and entities[profile["@id"]]["version"] in profile["@id"]
    assert {"@id": "https://w3id.org/ro/wfrun/workflow/0.5"} in root["conformsTo"]
    (action,) = (entity for entity in entities.values() if entity["@type"] == "CreateAction")
    assert action["instrument"] == {"@id": workflow["@id"]} and {"@id": action["@id"]} in root["mentions"]
    assert action["startTime"] < action["endTime"] and action["name"] and action["description"]
    assert {"@id": "results/provenance/config.yaml"} in action["object"] and {"@id": "#data-steps"} in action["object"]
    assert {unquote(result["@id"]) for result in action["result"]} == {TABLE, "results/saez_2022/tables/größe 1%.csv"}
    assert entities["#data-steps"]["license"] == "CC0"


def test_a_flipped_byte_in_a_score_file_is_refused_by_name(tmp_path, made):
    data = bytearray(made.read_bytes())
    start = data.index(bytes(range(256)))  # Parquet files are stored as they are
    data[start + 100] ^= 1
    (tmp_path / "flipped.zip").write_bytes(data)
    with pytest.raises(DataError, match=rf"{re.escape(SCORES)} is damaged \(Bad CRC-32.*\); fetch the archive again"):
        unpack(tmp_path / "flipped.zip", tmp_path / "out")


def test_the_first_changed_file_is_named_with_both_checksums(tmp_path, made):
    changed = rewrite(made, tmp_path / "changed.zip", lambda name, data: data if name == METADATA else data.swapcase())
    with pytest.raises(
        DataError, match=r"results/provenance/config.yaml is not the file that was archived: checksum \w{64}, expected \w{64}"
    ):
        unpack(changed, tmp_path / "out")
    longer = rewrite(made, tmp_path / "longer.zip", lambda name, data: data + b" " if name == TABLE else data)
    with pytest.raises(DataError, match=rf"{TABLE} is not the file that was archived: 20 bytes, expected 19"):
        unpack(longer, tmp_path / "out2")


@pytest.mark.parametrize(
    "name", ["../evil.txt", "results/../../evil.txt", "/evil.txt", "a\\..\\evil.txt", "C:evil.txt", "./evil.txt", "a//evil.txt"]
)
def test_a_member_that_would_land_outside_is_refused_before_anything_is_written(tmp_path, made, name):
    bad = rewrite(made, tmp_path / "bad.zip", extra=[(name, b"x")])
    with pytest.raises(DataError, match="would land outside the folder; nothing was unpacked"):
        unpack(bad, tmp_path / "in" / "out")
    assert not (tmp_path / "in").exists() and not list(tmp_path.rglob("evil*"))


def test_links_and_names_that_are_there_twice_are_refused(tmp_path, made):
    link = zipfile.ZipInfo("results/link")
    link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    with pytest.raises(DataError, match="'results/link' is not a plain file"):
        unpack(rewrite(made, tmp_path / "link.zip", extra=[(link, "../../..")]), tmp_path / "out")
    with pytest.warns(UserWarning, match="Duplicate name"):
        twice = rewrite(made, tmp_path / "twice.zip", extra=[(TABLE, b"x")])
    with pytest.raises(DataError, match=f"{TABLE}' is there twice"):
        unpack(twice, tmp_path / "out")


def test_a_file_too_many_and_a_file_too_few_are_named(tmp_path, made):
    with pytest.raises(DataError, match=r"results/new\.csv is not listed in ro-crate-metadata\.json"):
        unpack(rewrite(made, tmp_path / "more.zip", extra=[("results/new.csv", b"x")]), tmp_path / "out")
    with pytest.raises(DataError, match=f"{re.escape(SCORES)} is missing"):
        unpack(rewrite(made, tmp_path / "fewer.zip", leave_out=[SCORES]), tmp_path / "out")


def test_what_is_no_archive_is_refused_with_one_line(tmp_path, made):
    (tmp_path / "text.zip").write_text("no zip file")
    (tmp_path / "half.zip").write_bytes(made.read_bytes()[:-400])
    graphs = [
        "[]",
        "{}",
        '{"@graph": [{"@id": 1}]}',
        '{"@graph": 3}',
        "not json",
        "[" * 100_000,
        '{"@graph": [{"@id": "./", "@type": "Dataset"}]}',
    ]
    cases = [("text", "is not a zip file or was cut off"), ("half", "is not a zip file or was cut off"), ("none", "No such file")]
    for i, graph in enumerate(graphs):
        rewrite(made, tmp_path / f"graph{i}.zip", lambda name, data, graph=graph: graph if name == METADATA else data)
        cases.append((f"graph{i}", "is damaged or not that of an archive of foldshift"))
    rewrite(made, tmp_path / "bare.zip", leave_out=[METADATA])
    for name, message in [*cases, ("bare", "it is not an archive of foldshift")]:
        with pytest.raises(DataError, match=message) as caught:
            unpack(tmp_path / f"{name}.zip", tmp_path / "out")
        assert "\n" not in str(caught.value)


def test_what_would_fill_the_disk_is_refused_before_anything_is_written(tmp_path, made, monkeypatch):
    with monkeypatch.context() as patched, pytest.raises(DataError, match=r"unpacked; at most 0 GB are"):
        patched.setattr(archive_module, "MAX_BYTES", 5000)
        unpack(made, tmp_path / "out")
    with monkeypatch.context() as patched, pytest.raises(DataError, match="6 files; at most 4"):
        patched.setattr(archive_module, "MAX_FILES", 4)
        unpack(made, tmp_path / "out")
    with monkeypatch.context() as patched, pytest.raises(DataError, match=r"0.0 GB free in .*make space or name another folder"):
        patched.setattr(archive_module.shutil, "disk_usage", lambda place: namedtuple("Usage", "free")(1000))
        unpack(made, tmp_path / "out")
    assert not (tmp_path / "out").exists()


PARTS = st.sampled_from(["..", ".", "", "a", "b c", "C:", "\\", "~", "ü"])


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(parts=st.lists(PARTS, min_size=1, max_size=5))
def test_no_name_lands_outside_even_if_the_metadata_list_it(tmp_path_factory, parts):
    name = "/".join(parts)
    folder = tmp_path_factory.mktemp("names")
    files = some_files(folder / "files")
    plain = write(folder / "plain.zip", files | {"plain.csv": files[TABLE]})

    def list_name(member, data):
        return data.replace(b'"plain.csv"', json.dumps(quote(name)).encode()) if member == METADATA else data

    listed = rewrite(plain, folder / "listed.zip", list_name, leave_out=["plain.csv"])
    with zipfile.ZipFile(listed, "a") as opened, opened.open(zipfile.ZipInfo(name), "w") as file:
        file.write(files[TABLE].read_bytes())
    with contextlib.nullcontext() if set(parts) <= {"a", "b c", "~", "ü"} else contextlib.suppress(DataError):
        unpack(listed, folder / "in" / "out")
    allowed = {plain, listed, *files.values()}
    assert all(folder / "in" / "out" in path.parents for path in folder.rglob("*") if path.is_file() and path not in allowed)


def test_damage_anywhere_is_noticed_or_harmless(tmp_path, made):
    whole, rng = made.read_bytes(), random.Random(4)
    expected = tree_of(made, tmp_path / "whole")
    refused = 0
    for i in range(400):
        data = bytearray(whole)
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        (tmp_path / "damaged.zip").write_bytes(data)
        try:
            found = tree_of(tmp_path / "damaged.zip", tmp_path / f"out{i}")
        except DataError:
            refused += 1
        else:
            assert found == expected
    assert refused > 300


def tree_of(path, folder):
    """What is unpacked, without the metadata: a flipped bit in its descriptions does no harm to the files."""
    unpack(path, folder)
    return {name: data for name, data in tree(folder).items() if name != METADATA}


def test_differences_between_outputs_are_named(tmp_path):
    for name, text in (("same.csv", "1"), ("other.csv", "2"), ("new.csv", "3")):
        (tmp_path / "results/s/tables").mkdir(parents=True, exist_ok=True)
        (tmp_path / "results/s/tables" / name).write_text(text)
    (tmp_path / "results/s/scores").mkdir()
    one = content_of(tmp_path / "results/s/tables/same.csv")
    assert one == Content(1, hashlib.sha256(b"1").hexdigest())
    names = tuple(f"results/s/tables/{name}.csv" for name in ("same", "other", "gone"))
    assert differing_outputs(Archive(dict.fromkeys(names, one), names), tmp_path) == {
        "results/s/tables/other.csv": "differs",
        "results/s/tables/gone.csv": "was not made",
        "results/s/tables/new.csv": "is not in the archive",
    }
    assert differing_outputs(Archive({names[0]: one}, names[:1]), tmp_path).keys() == {names[1], "results/s/tables/new.csv"}


def test_versions_that_differ_are_named_with_both_values():
    theirs = {"foldshift": "0.1.0", "python": "3.11.7", "packages": {"numpy": "2.3.0", "scipy": "1.1", "old": "1"}}
    ours = {"foldshift": "0.1.0", "python": "3.12.1", "packages": {"numpy": "2.4.0", "scipy": "1.1", "new": "1"}}
    assert differing_versions(ours, theirs) == ["python 3.12.1 (archive: 3.11.7)", "numpy 2.4.0 (archive: 2.3.0)"]
    assert differing_versions(ours, ours) == []


def test_changed_new_and_missing_code_is_named(tmp_path):
    for name in (
        "src/foldshift/a.py",
        "src/foldshift/b.py",
        "src/foldshift/__pycache__/a.pyc",
        "src/x.egg-info/y",
        "config/my.yaml",
        "src/.hidden",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    assert workflow_files(tmp_path).keys() == {"src/foldshift/a.py", "src/foldshift/b.py", "config/my.yaml"}
    archive = Archive(
        {
            "src/foldshift/a.py": content_of(tmp_path / "src/foldshift/a.py"),
            "src/foldshift/b.py": Content(1, "0"),
            "scripts/c.py": Content(1, "0"),
            "config/other.yaml": Content(1, "0"),
        },
        (),
    )
    assert differing_code(archive, tmp_path) == ["scripts/c.py", "src/foldshift/b.py"]


def test_the_workflow_is_in_the_archive_with_all_that_it_needs():
    names = workflow_files(ROOT).keys()
    assert {
        "Snakefile",
        "workflow/Snakefile",
        "scripts/reproduce.py",
        "src/foldshift/engine/archive/crate.py",
        "requirements.lock",
        "LICENSE",
    } <= names
    assert not [name for name in names if name.endswith(".pyc") or "/." in name]
