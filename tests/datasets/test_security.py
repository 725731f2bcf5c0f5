"""Limits on what data files, archives, servers and configuration can do. Further cases are in test_download, test_sources
and test_parsers."""

import ast
import functools
import gzip
import io
import json
import os
import re
import shutil
import stat
import subprocess
import tracemalloc
import warnings
import zipfile
from dataclasses import replace

import numpy as np
import pytest

import data_server
from data_server import DataServer
from foldshift.core.errors import ConfigError, SourceError
from foldshift.datasets.catalogue import read_catalogue
from foldshift.datasets.catalogue_entry import CatalogueEntry
from foldshift.datasets.dataset import read_prepared
from foldshift.datasets.sources.download import Limits, check_archive, download, one_line, read_members
from foldshift.datasets.sources.fetch import DEFAULT_HOSTS, fetch
from foldshift.datasets.sources.openml_client import fetch_openml
from foldshift.engine.config.yaml_files import read_yaml
from foldshift.engine.storage.fold_files import read_folds
from foldshift.engine.storage.prediction_files import read_predictions

LIMITS = Limits(timeout=5, total_timeout=60, backoff=0.01)


@pytest.fixture
def server():
    with DataServer() as running:
        yield running


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


def peak(function, *arguments):
    """Most bytes that a call held at one time, and the message of its refusal."""
    tracemalloc.start()
    try:
        with pytest.raises(SourceError) as caught:
            function(*arguments)
        return tracemalloc.get_traced_memory()[1], str(caught.value)
    finally:
        tracemalloc.stop()


# ---- archives ----


def archive(name, content=b"1,2\n3,4\n", mode=0o100644, method=zipfile.ZIP_DEFLATED):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as opened, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        info = zipfile.ZipInfo(name)
        info.external_attr = mode << 16
        opened.writestr(info, content, method)
    return packed.getvalue()


@pytest.mark.parametrize("name", ["../../x.csv", "/x.csv", "C:\\x.csv", "..\\..\\x.csv", "a/../../../x.csv"])
def test_a_member_that_names_a_place_outside_is_read_and_written_nowhere(tmp_path, monkeypatch, name):
    inner = tmp_path / "a/b/c"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    (inner / "x.zip").write_bytes(archive(name))
    entry = CatalogueEntry("tiny", "regression", sources=("file:x.zip?header=no",))
    fetched = fetch(entry, cache=inner / "cache", progress=lambda line: None)
    assert len(fetched.table.frame) == 2
    assert files(tmp_path) == ["a/b/c/x.zip"]
    assert not os.path.exists("/x.csv")


def test_a_link_in_an_archive_is_the_text_of_the_link_and_leads_nowhere(tmp_path):
    link = archive("x.csv", os.fsencode(tmp_path / "secret"), mode=stat.S_IFLNK | 0o777)
    (tmp_path / "secret").write_text("hidden")
    assert read_members(link) == {"x.csv": os.fsencode(tmp_path / "secret")}
    assert files(tmp_path) == ["secret"]


def test_a_member_of_a_packing_that_cannot_be_unpacked_piece_by_piece_is_refused():
    bombs = [archive("x.csv", bytes(8_000_000), method=method) for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)]
    assert all(len(bomb) < 2_000 for bomb in bombs)
    for bomb in bombs:
        for read in (read_members, check_archive):
            held, message = peak(read, bomb)
            assert "'x.csv' in the archive is packed by bzip2 or LZMA" in message
            assert held < 1_000_000


def test_a_zip_bomb_is_given_up_before_it_fills_the_memory():
    held, message = peak(read_members, archive("x.csv", bytes(60_000_000)))
    assert "looks like a zip bomb" in message
    assert held < 20_000_000


def test_a_member_without_a_name_is_a_file_like_others():  # zipfile's own is_dir fails at it with an IndexError
    with pytest.raises(SourceError, match=r"holds no file 'x.csv'; it holds "):
        read_members(archive(""), ["x.csv"])


def test_names_in_an_archive_cannot_give_orders_to_the_terminal():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as opened:
        for name in ("\x1b[2Ja", "b\nc", "d" * 60_000):
            opened.writestr(name, b"1")
    for names in ((), ("z",)):
        with pytest.raises(SourceError) as caught:
            read_members(packed.getvalue(), names)
        message = str(caught.value)
        assert message.isprintable() and "\\x1b[2Ja, b c, ddd" in message and len(message) < 300


def test_a_workbook_whose_xml_declares_entities_is_refused():
    bomb = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><x>&b;</x>'
    for content in (bomb, bomb.decode().encode("utf-16")):
        with pytest.raises(SourceError, match=r"'xl/sheet.xml' in the archive declares XML entities"):
            check_archive(archive("xl/sheet.xml", content))
    check_archive(archive("xl/sheet.xml", b"<x>aaaa</x>"))


# ---- downloads ----


def test_a_packed_answer_is_unpacked_piece_by_piece_up_to_the_limit(server, tmp_path):
    content = b"1,2\n" * 300_000
    for encoding in ("gzip", "x-gzip"):
        server.serve("/good", data_server.body(gzip.compress(content), {"Content-Encoding": encoding}))
        assert download(f"{server.url}/good", tmp_path / "good", LIMITS).read_bytes() == content
    bomb = gzip.compress(bytes(100_000_000))
    assert len(bomb) < 100_000
    server.serve("/bomb", data_server.body(bomb, {"Content-Encoding": "gzip"}))
    tracemalloc.start()
    try:
        with pytest.raises(SourceError, match="more than the limit of 1000000 bytes"):
            download(f"{server.url}/bomb", tmp_path / "bomb", replace(LIMITS, max_bytes=1_000_000))
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
    assert files(tmp_path) == ["good"]


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "\x1b[31m"])
def test_an_answer_packed_in_another_way_is_refused(server, tmp_path, encoding):
    server.serve("/f", data_server.body(b"1,2\n", {"Content-Encoding": encoding}))
    with pytest.raises(SourceError) as caught:
        download(f"{server.url}/f", tmp_path / "f", LIMITS)
    assert "the server packs its answer as" in str(caught.value) and str(caught.value).isprintable()


def test_a_packed_answer_that_is_damaged_is_tried_again_and_refused(server, tmp_path):
    server.serve("/f", data_server.body(b"no gzip", {"Content-Encoding": "gzip"}))
    with pytest.raises(SourceError, match=r"the packed answer is damaged .* \(after 2 attempts\)"):
        download(f"{server.url}/f", tmp_path / "f", replace(LIMITS, retries=1))


def test_a_redirect_from_an_encrypted_to_a_plain_address_is_refused(server, tmp_path):
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which makes the certificate for this test, is not installed")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"
    subprocess.run([*command.split(), "-keyout", key, "-out", certificate], check=True, capture_output=True)
    with DataServer() as plain:
        plain.serve("/f", b"1,2\n")
        server.use_certificate(certificate, key)
        server.serve("/down", data_server.moved(f"{plain.url}/f"))
        server.serve("/along", data_server.moved(f"{server.url}/f"))
        server.serve("/f", b"1,2\n")
        assert download(f"{server.url}/along", tmp_path / "f", LIMITS, authorities=str(certificate)).read_bytes() == b"1,2\n"
        (tmp_path / "f").unlink()
        with pytest.raises(SourceError, match=r"it leads to http://127.0.0.1:\d+/f, which is not encrypted"):
            download(f"{server.url}/down", tmp_path / "f", LIMITS, authorities=str(certificate))
    assert not (tmp_path / "f").exists()


def test_all_public_hosts_are_asked_through_tls():
    assert all(address.startswith("https://") for address in DEFAULT_HOSTS.values())
    sources = [source for entry in read_catalogue().values() for source in (*entry.sources, *entry.optin_sources)]
    addresses = [source for source in sources if source.startswith("url:")]
    assert addresses and all(address.startswith("url:https://") for address in addresses)


def test_what_is_fetched_by_address_is_checked_by_its_fingerprint():
    for entry in read_catalogue().values():
        assert entry.fingerprint or not any(source.startswith("url:") for source in entry.sources), entry.name


def test_a_cached_description_cannot_name_a_file_outside_its_folder(tmp_path):
    (tmp_path / "secret.arff").write_text("hidden")
    folder = tmp_path / "cache"
    folder.mkdir()
    (folder / "61.json").write_text(json.dumps({"file": "../secret.arff", "target": "", "ignore": [], "licence": ""}))
    (folder / "secret.arff").write_text("own")
    path, _ = fetch_openml(61, folder, server="https://127.0.0.1:9", limits=Limits(total_timeout=1))
    assert path == folder / "secret.arff"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in folders")
def test_devices_and_pipes_are_not_read_as_files(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    for path in (tmp_path / "pipe.csv", "/dev/zero"):
        entry = CatalogueEntry("tiny", "regression", sources=(f"file:{path}",))
        with pytest.raises(SourceError, match=f"{path} is a device or pipe, not a file"):
            fetch(entry, progress=lambda line: None)


# ---- files of the pipeline, configuration ----


class Order:
    """Pickled, an order to write a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


@pytest.mark.parametrize(
    ("read", "keys"),
    [(read_prepared, ["X"]), (read_folds, ["CV/k2"]), (read_predictions, ["CART/CV/k2", "CART/CV/k2/runs"])],
)
def test_an_archive_of_arrays_that_holds_pickles_is_refused_and_nothing_runs(tmp_path, read, keys):
    np.savez(tmp_path / "x.npz", **dict.fromkeys(keys, np.array([Order(tmp_path / "harm")], dtype=object)))
    with pytest.raises(ValueError, match="allow_pickle=False"):
        read(tmp_path / "x.npz")
    assert files(tmp_path) == ["x.npz"]


@pytest.mark.parametrize(
    "tag",
    ["!!python/object/apply:os.mkdir [{}]", "!!python/object/new:os.mkdir [{}]", "!!python/name:os.mkdir", "!!python/module:os"],
)
def test_a_yaml_file_cannot_run_code(tmp_path, tag):
    path = tmp_path / "learners.yaml"
    path.write_text(f"SVR: {tag.format(tmp_path / 'harm')}\n")
    with pytest.raises(ConfigError) as caught:
        read_yaml(path, "learners file")
    assert str(caught.value).startswith(f"learners file: {path}, line 1: not valid YAML (could not determine a constructor")
    assert str(caught.value).isprintable()
    assert files(tmp_path) == ["learners.yaml"]


@functools.cache
def nodes(root):
    """Every call and import of the project's Python files, with the name of its file."""
    kinds = (ast.Call, ast.Import, ast.ImportFrom)
    return [
        (file.relative_to(root).as_posix(), node)
        for folder in ("src", "scripts", "benchmarks", "validation", "docs", "envs", "workflow")
        for file in sorted((root / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, kinds)
    ]


def dotted(node):
    """Name of what is called, e.g. ``np.load``; the part before the last names is a star if it is not a name."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "*"


def calls(root):
    """Every call: file, dotted name, keywords."""
    for file, node in nodes(root):
        if isinstance(node, ast.Call):
            yield file, dotted(node.func), {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}


def test_only_import_paths_of_the_configuration_name_code(root):
    loaders = {"import_module", "__import__", "find_spec", "spec_from_file_location", "exec_module", "load_module", "run_path"}
    loaders |= {"run_module", "exec", "eval", "import_object", "literal_eval"}
    found = {(file, name.split(".")[-1]) for file, name, _ in calls(root) if name.split(".")[-1] in loaders}
    found -= {(file, "eval") for file, name, _ in calls(root) if name.endswith(".eval")}  # a method, not the built-in
    assert found == {
        ("workflow/check_machine.py", "find_spec"),  # are required packages there? their names are in pyproject.toml
        ("src/foldshift/advice/learner/preprocessing.py", "import_object"),  # what the user names at the command line
        ("src/foldshift/core/imports.py", "import_module"),  # what the configuration names; optional packages by fixed names
        ("src/foldshift/engine/jobs/code_digest.py", "find_spec"),  # file of an import path of the configuration
        ("src/foldshift/core/imports.py", "find_spec"),  # a look at a file without running it
        ("src/foldshift/core/compiling.py", "find_spec"),  # whether a fixed name is a package or only a folder
        ("src/foldshift/engine/config/check.py", "import_object"),  # key `import` of learners and own_partitioners
        ("src/foldshift/evaluation/learner.py", "import_object"),  # a learner's `import`
        ("src/foldshift/engine/jobs/run_job.py", "import_object"),  # by a fixed name: how a job of many data sets runs
        ("src/foldshift/engine/jobs/warm_up.py", "import_object"),  # the same; and functions of the library and of studies
        ("src/foldshift/partition/registry.py", "import_object"),  # from the table of the package's own partitioners
        ("src/foldshift/engine/study/find.py", "import_module"),  # studies: the library's own, and those in studies_from
        ("src/foldshift/studies/moreno_torres_2012/measure_heldout.py", "import_object"),  # own_partitioners.*.import
        ("scripts/make_folds.py", "import_object"),  # the same
        ("scripts/evaluate.py", "import_object"),  # from the package's own table of tasks
        ("scripts/measure.py", "import_object"),  # functions that a study declares
        ("scripts/make_items.py", "import_object"),  # the same
        ("scripts/make_published.py", "import_object"),  # the same: what lays out a published item
        ("docs/pages.py", "import_object"),  # the same
        ("src/foldshift/core/compiling.py", "import_module"),  # numba, by its fixed name
        ("src/foldshift/advice/page/score_code.py", "exec"),  # code that an advice wrote itself, in a copy of the process
        ("docs/question_pages.py", "exec"),  # code of the project's own question pages, when the site is made
        ("docs/question_pages.py", "eval"),  # the same
        ("src/foldshift/engine/config/check.py", "find_spec"),  # key `module` of learners: whether a package is there
    }


def test_it_is_said_that_import_paths_name_code(root):
    text = (root / "config/README.md").read_text(encoding="utf-8")
    assert "Configuration names code in three places: `import` of a learner, `own_partitioners` and `studies_from`." in text


def test_nothing_unpickles_what_comes_from_a_file_and_no_shell_is_used(root):
    forbidden = {"os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput", "yaml.load", "yaml.unsafe_load"}
    forbidden |= {
        "yaml.full_load",
        "yaml.load_all",
        "pd.read_pickle",
        "joblib.load",
        "extractall",
        "ssl._create_unverified_context",
    }
    for file, name, keywords in calls(root):
        assert name not in forbidden and name.split(".")[-1] not in ("extractall", "read_pickle"), f"{file}: {name}"
        assert "shell" not in keywords, f"{file}: {name}(shell=...)"
        if name.startswith("requests.") and "verify" in keywords:
            assert keywords["verify"] == "authorities or True", file
        if name in ("np.load", "numpy.load"):
            assert keywords["allow_pickle"] == "False", file
    modules = {"pickle", "dill", "cloudpickle", "marshal", "shelve", "joblib"}
    found = set()
    for file, node in nodes(root):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) else []
        found |= {file for name in names if name and name.split(".")[0] in modules}
    # guarded_process: a pipe to the process's own fork, no file; the others: joblib's number of workers
    workers = {"evaluation/cross_validate.py", "advice/learner/learner_calls.py", "advice/learner/preprocessing.py"}
    assert found <= {f"src/foldshift/{name}" for name in (*workers, "core/user_code/guarded_process.py")}


def workflow_files(root):
    return [root / "Snakefile", root / "workflow/Snakefile", *sorted((root / "workflow").rglob("*.smk"))]


def test_the_workflow_files_neither_run_shells_nor_code_of_the_configuration(root):
    words = re.compile(
        r"\b(eval|exec|__import__|import_module|import_object|pickle|yaml\.load|os\.system)\b|shell\s*=\s*True|^\s*shell:", re.M
    )
    for file in workflow_files(root):
        assert words.findall(file.read_text(encoding="utf-8")) == [], file


def test_no_configuration_of_the_project_uses_snakemakes_template_language(root):
    # its key makes Snakemake run Python in the file, before anything of the project can look at it
    for file in (root / "config").rglob("*.yaml"):
        assert "__use_yte__" not in file.read_text(encoding="utf-8"), file


def test_the_profiles_run_one_piece_of_code_before_the_configuration_is_read_and_no_other(root):
    code = []
    for file in (root / "profiles").rglob("*.yaml"):
        text = file.read_text(encoding="utf-8")
        code.append(tuple(one.replace(', executor="slurm"', "") for one in read_yaml(file, "profile")["__definitions__"]))
        assert not re.search(r"^[ -]*['\"]?\?", text, re.M)  # a value or key that is evaluated begins so
    (only,) = set(code)
    assert len(only) == 1 and only[0].endswith("check(sys.argv)\n")


def test_texts_from_outside_become_one_printable_line():
    assert one_line("a\n b\t\x1b[31mc\u202ed\x85e") == "a b \\x1b[31mc\\u202ed e"
    assert one_line("x" * 10**6, 20) == "x" * 17 + "..."
    assert one_line(" \n ") == "" and one_line(12) == "12"


def test_the_openml_client_is_imported_in_its_process_alone(root):
    """The package fetches, logs and writes on its own; one module calls it, with limits, in a process of its own."""
    imports = re.compile(r"^\s*(?:import openml\b|from openml\b)|import_module\(.openml|optional\(.openml", re.MULTILINE)
    files = [
        file for part in ("src", "scripts", "workflow", "benchmarks", "validation") for file in (root / part).rglob("*.[ps]*")
    ]
    texts = {file.name: file.read_text(encoding="utf-8") for file in files if file.suffix in (".py", ".smk")}
    assert [name for name, text in texts.items() if imports.search(text)] == ["openml_client.py"]
