"""An archive or a configuration of somebody else runs no code: a harmless piece of code in it would write a file."""

import contextlib
import json
import os
import pickle
import sys
import zipfile

import pytest
import yaml

import reproduce
from foldshift.core.errors import ConfigError, DataError
from foldshift.engine.archive.archived_config import archived_config, is_data
from foldshift.engine.archive.crate import ROWS_FORMAT, write_archive
from foldshift.engine.config.command_line import check_arguments, end_at_code
from foldshift.engine.config.yaml_files import read_config_file, read_yaml
from foldshift.engine.jobs.code_digest import is_installed
from workflow_runner import ROOT

FACTS = {"started": "", "ended": "", "versions": {"foldshift": "1", "packages": {}}, "origins": []}


def write_file(harm):
    """Python that shows that it ran."""
    return f"open({str(harm)!r}, 'w').close()"


def of_yte(harm):
    """A configuration in the template language of Snakemake, which runs code."""
    return f'__use_yte__: true\n__definitions__:\n  - "{write_file(harm)}"\nstudies: {{}}\n'


class Order:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def evil_archive(folder, config, more=()):
    """An archive whose checksums are right, with a configuration and more files of somebody's choice."""
    files = {
        "workflow/Snakefile": "rule all:\n",
        "results/provenance/config.yaml": config,
        "results/provenance/versions.json": json.dumps({"rows_format": ROWS_FORMAT}),
        "results/provenance/run.json": "{}",
        "results/wong_2015/tables/a.csv": "k\n1\n",
        **dict(more),
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    path = folder.parent / "evil.zip"
    write_archive(path, {name: folder / name for name in files}, ["results/wong_2015/tables/a.csv"], [], **FACTS)
    return path


EVIL = {
    "template language": (of_yte, "'__use_yte__' makes Snakemake run Python code"),
    "definitions alone": (lambda harm: f'__definitions__: ["{write_file(harm)}"]\n', "'__definitions__'"),
    "below a study": (lambda harm: "studies: {wong_2015: {__use_yte__: true}}\n", "'__use_yte__'"),
    "by a merge": (lambda harm: f'a: &a {{__use_yte__: true, __definitions__: ["{write_file(harm)}"]}}\n<<: *a\n', "__"),
    "in JSON": (lambda harm: '{"__use_yte__": true}', "'__use_yte__'"),
    "an object": (lambda harm: f"studies: !!python/object/apply:os.mkdir [{harm}]\n", "not valid YAML"),
    "a tag": (lambda harm: "studies: !evil {}\n", "not valid YAML"),
    "an unknown key": (lambda harm: "studies: {}\nonstart: rm\n", "unknown config key 'onstart'"),
    "an unknown setting": (lambda harm: "studies: {wong_2015: {run: rm}}\n", "unknown key in studies.wong_2015 'run'"),
    "an unknown study": (lambda harm: "studies: {evil_2020: {}}\n", "STUDIES_FROM=FOLDER"),
    "a list": (lambda harm: "[1]\n", "must hold keys and values"),
    "twice the same key": (lambda harm: "studies: {}\nstudies: {}\n", "there twice"),
    "deep": (lambda harm: "a: " + "[" * 50_000, "not valid YAML"),
    "itself": (lambda harm: "a: &a [*a]\n", "an alias stands for itself"),
    "a thousand laughs": (
        lambda harm: "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12)),
        "an alias stands for",
    ),
    "no text": (lambda harm: b"\xff\xfe\x00", "not UTF-8"),
    "huge": (lambda harm: "# " + "x" * 21_000_000, "at most 20 MB"),
}


@pytest.mark.parametrize("name", EVIL)
def test_the_configuration_of_an_archive_runs_no_code_and_is_refused_by_file_and_key(tmp_path, monkeypatch, name):
    make, expected = EVIL[name]
    harm = tmp_path / "harm"
    path = evil_archive(tmp_path / "files", make(harm))
    monkeypatch.setattr(reproduce, "make_again", lambda run, cores: pytest.fail("Snakemake was called"))
    with pytest.raises(DataError) as caught:
        reproduce.reproduce(path, str(tmp_path / "out"), 1)
    line = str(caught.value)
    assert "config.yaml of the archive is not followed" in line and expected in line and "\n" not in line
    assert not harm.exists()


@pytest.mark.parametrize("name", [name for name in EVIL if not name.startswith("an unknown")])
def test_a_configuration_of_somebody_else_is_refused_before_snakemake_reads_it(tmp_path, monkeypatch, capsys, name):
    make, expected = EVIL[name]
    (tmp_path / "config").mkdir()
    for file in (tmp_path / "their.yaml", tmp_path / "config/config.yaml"):
        content = make(tmp_path / "harm")
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ConfigError) as caught:
        check_arguments(["all", "--configfile", str(tmp_path / "their.yaml")])
    assert expected in str(caught.value) and "their.yaml" in str(caught.value)
    monkeypatch.chdir(tmp_path)  # the file that Snakemake takes by itself
    with pytest.raises(SystemExit, match="foldshift: "):
        end_at_code("config/config.yaml")
    assert not (tmp_path / "harm").exists()


def test_aliases_of_a_plain_configuration_are_read(tmp_path):
    file = tmp_path / "my.yaml"
    file.write_text("a: &a [x, y]\nb: *a\nc: {<<: &c {k: 1}, d: *c}\n")
    assert read_config_file(file) == {"a": ["x", "y"], "b": ["x", "y"], "c": {"k": 1, "d": {"k": 1}}}
    assert read_yaml(file, "learners file") == read_config_file(file)


def test_the_places_of_an_archive_go_over_those_that_it_names(tmp_path):
    file = tmp_path / "config.yaml"
    named = {"results": "/etc", "resources": "..", "catalogue": "/a", "mirror": "https://a", "container": "docker://evil"}
    file.write_text(yaml.safe_dump(named | {"studies_from": ["evil"], "archived": False, "hosts": {"uci": "https://a"}}))
    found = archived_config(file, ROOT)
    assert [found[key] for key in ("results", "resources", "catalogue", "mirror")] == [
        "results", "resources", "config/datasets.tsv", None,
    ]  # fmt: skip
    assert found["archived"] is True and found["studies_from"] == [] and not {"container", "hosts"} & found.keys()


def test_only_data_of_an_archive_lies_where_tables_are_made(tmp_path, monkeypatch):
    harm = tmp_path / "harm"
    code = {
        f"{folder}/{name}": write_file(harm)
        for folder in ("results", "config", "resources", "results/provenance")
        for name in (
            "__init__.py",
            "sitecustomize.py",
            "evil.so",
            "evil.pyc",
            "Snakefile",
            ".hidden.json",
            "conftest.py",
            "a.rst",
        )
    }
    more = {"Snakefile": write_file(harm), "profiles/default/config.yaml": of_yte(harm), "my_code.py": write_file(harm)}
    more |= {"results/a.pkl": pickle.dumps(Order(harm)), "results/b.npz": pickle.dumps(Order(harm))}
    path = evil_archive(tmp_path / "files", "studies: {wong_2015: {}}\n", code | more)
    for module in ("results", "config"):
        sys.modules.pop(module, None)
    seen = []
    monkeypatch.setattr(reproduce, "make_again", lambda run, cores: seen.append(run))
    reproduce.reproduce(path, str(tmp_path / "out"), 1)
    (run,) = seen
    names = {file.relative_to(run).as_posix() for file in run.rglob("*") if file.is_file()}
    assert names == {
        "archived.json", "results/b.npz", "results/provenance/config.yaml", "results/provenance/run.json",
        "results/provenance/versions.json",
    }  # fmt: skip
    assert not harm.exists() and all(map(is_data, names - {"archived.json"}))


def test_provenance_that_is_not_there_or_damaged_is_refused_in_words(tmp_path):
    for text in ("[]", "{", "[" * 100_000):
        path = evil_archive(tmp_path / "files", "studies: {}\n", {"results/provenance/versions.json": text})
        with pytest.raises(DataError, match=r"versions\.json of the archive .*; fetch the archive again"):
            reproduce.reproduce(path, None, 1)


def test_a_member_that_grows_without_measure_is_refused(tmp_path):
    path = evil_archive(tmp_path / "files", "studies: {}\n")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as opened, opened.open("results/bomb.csv", "w") as file:
        for _ in range(120):
            file.write(bytes(1_000_000))
    with pytest.raises(DataError, match=r"'results/bomb\.csv' grows .*-fold"):
        reproduce.reproduce(path, str(tmp_path / "out"), 1)
    assert not (tmp_path / "out").exists()


def test_code_that_the_record_of_results_names_is_not_imported(tmp_path, monkeypatch):
    (tmp_path / "results").mkdir()
    for name in ("__init__.py", "evil.py"):
        (tmp_path / "results" / name).write_text(write_file(tmp_path / "harm"))
    monkeypatch.chdir(tmp_path)
    with contextlib.suppress(ValueError):
        monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert not is_installed("results.evil.Learner") and not is_installed("evil") and not is_installed("no_such.thing.A")
    assert is_installed("sklearn.linear_model.Ridge") and is_installed("foldshift.learners.RPARTRegressor")
    assert not is_installed("sklearn.no_such_module.Ridge")
    assert os.listdir(tmp_path) == ["results"]
