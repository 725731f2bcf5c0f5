"""The catalogue: complete, true to the papers' tables, readable from its mirror; every mistake in it found and named."""

import csv
import io
import re
import shutil
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import jsonschema
import numpy as np
import openpyxl
import pytest
import yaml

from data_server import DataServer, zip_of
from foldshift.core.errors import ConfigError, DataError, FoldshiftError
from foldshift.datasets import load_dataset, read_catalogue
from foldshift.datasets.catalogue import DEFAULT_CATALOGUE, add_entries, find
from foldshift.datasets.catalogue_entry import CatalogueEntry
from foldshift.datasets.prepare import prepare
from foldshift.datasets.readers.formats import read_table
from foldshift.datasets.sources.fetch import fetch, parse_source

CATALOGUE = read_catalogue()
GENERATED = ("monk-2", "tic-tac-toe", "titanic")  # KEEL sets that a rule or a table of counts determines
BUNDLED = {
    "regression": ["diabetes", "friedman1", "friedman2", "friedman3", "steps", "heavy_tail"],
    "classification": ["balance", "breast_cancer", "iris", "wine"],
}
# Files among the reference data, by data set: as UCI distributes them, but for coolingeff and traffic (see `uci_file`).
UCI_FILES = {
    "abalone": "abalone.data",
    "airfoil": "airfoil_self_noise.dat",
    "coolingeff": "ENB2012_data.csv",
    "fish": "qsar_fish_toxicity.csv",
    "forest": "forestfires.csv",
    "german": "german.data",
    "machinecpu": "machine.data",
    "realestate": "real_estate_valuation.xlsx",
    "traffic": "behavior_urban_traffic_sao_paulo.csv",
    "watertoxicity": "qsar_aquatic_toxicity.csv",
    "yacht": "yacht_hydrodynamics.data",
}
KEEL_REGRESSION = {
    "baseball": "baseball",
    "dee": "dee",
    "ele-1": "elength",
    "friedman": "friedman",
    "laser": "laser",
    "machineCPU": "machinecpu",
    "mortgage": "mortgage",
    "plastic": "plastic",
    "quake": "quake",
    "treasury": "treasury",
    "wankara": "wankara",
    "wizmir": "wizmir",
}


@pytest.fixture
def server():
    with DataServer() as running:
        yield running


REPAIRED = ("mammographic-repaired", "bands-declared", "crx-declared", "hepatitis-declared")


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ","))


def quietly(entry, **arguments):
    return fetch(entry, progress=lambda line: None, **arguments)


def prepared(entry, table):
    return prepare(table, entry.name, entry.task, expected_rows=entry.n_rows, expected_features=entry.n_features)


MONITORED = {
    "estate",
    "mammography",
    "oil",
    "page",
    "pendigits",
    "satimage",
    "segment",
}  # those that only the monitoring study has


def studied(task):
    """Data sets of the papers on folds, as their sources have them."""
    others = {*BUNDLED[task], *REPAIRED, *MONITORED}
    return [name for name, entry in CATALOGUE.items() if entry.task == task and name not in others]


# ---- what is in it ----


def test_the_catalogue_of_the_library_is_the_one_of_the_configuration_and_no_file_of_the_project_is_a_link(root):
    assert DEFAULT_CATALOGUE.read_bytes() == (root / "config/datasets.tsv").read_bytes()
    # A checkout on Windows turns a link into a text file that holds the name of its target.
    listed = subprocess.run(["git", "ls-files", "--stage"], cwd=root, capture_output=True, text=True).stdout
    assert not [line for line in listed.splitlines() if line.startswith("120000")]


def test_every_line_satisfies_the_schema_and_every_column_is_described(root):
    schema = yaml.safe_load((root / "workflow/schemas/catalogue.schema.yaml").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for row in rows_of(root / "config/datasets.tsv"):
        row = {column: int(value) if column.startswith("n_") else value for column, value in row.items() if value}
        assert [error.message for error in validator.iter_errors(row)] == []
    assert set(schema["properties"]) == {field.name for field in fields(CatalogueEntry)} - {"own"}
    assert schema["additionalProperties"] is False
    assert all(part["description"] for part in schema["properties"].values())


def test_it_holds_28_regression_sets_27_classification_sets_4_in_another_form_7_monitored_and_those_that_need_no_download():
    assert (len(studied("regression")), len(studied("classification"))) == (28, 27)
    assert len(CATALOGUE) == 28 + 27 + len(REPAIRED) + len(MONITORED) + sum(map(len, BUNDLED.values()))
    for entry in CATALOGUE.values():
        assert entry.n_rows and entry.n_features and entry.fingerprint and entry.title and entry.citation and entry.licence


def test_counts_are_those_of_the_regression_paper(root):
    printed = {row["dataset"]: row for row in rows_of(root / "src/foldshift/studies/saez_2022/printed/table1_datasets.csv")}
    assert sorted(printed) == sorted(studied("regression"))
    for name, row in printed.items():
        assert (CATALOGUE[name].n_rows, CATALOGUE[name].n_features) == (int(row["samples"]), int(row["attributes"]))


def test_counts_and_kinds_are_those_of_the_classification_paper_but_for_its_misprint(shared):
    printed = {row["dataset"].lower(): row for row in rows_of(shared / "reference/moreno_torres_2012_table1_datasets.csv")}
    assert sorted(printed) == sorted(studied("classification"))
    different = {}
    for name, row in printed.items():
        entry = CATALOGUE[name]
        data = prepared(entry, quietly(entry, mirror=shared / "data").table)
        ours = {"attributes": data.X.shape[1], "examples": len(data.X)}
        ours |= {kind: data.kinds.count(kind) for kind in ("real", "integer", "nominal")}
        assert (entry.n_rows, entry.n_features) == (ours["examples"], ours["attributes"])
        for column, value in ours.items():
            if value != int(row[column]):
                different[name, column] = (int(row[column]), value)
    assert different == {("sonar", "attributes"): (3, 60)}


def test_fingerprints_are_those_of_the_public_record(shared):
    record = (shared / "specs/data_sources.md").read_text(encoding="utf-8")
    recorded = dict(re.findall(r"^\| ([\w-]+) \|.* \d+ x \d+ \| ([0-9a-f]{16})\b", record, re.MULTILINE))
    assert len(recorded) == 27 + 21
    assert {name: CATALOGUE[name].fingerprint for name in recorded} == recorded


# ---- where it says the sets are ----


def test_what_needs_no_download_comes_first_then_the_mirror():
    for name, entry in CATALOGUE.items():
        schemes = [parse_source(source).scheme for source in entry.sources]
        if name in (*BUNDLED["regression"], *BUNDLED["classification"]):
            assert schemes in (["sklearn"], ["generated"])
        else:
            assert schemes[: 2 if name in GENERATED else 1] == (["generated", "mirror"] if name in GENERATED else ["mirror"])
            assert set(schemes) & {"keel", "uci"} or name in MONITORED
            assert not set(schemes) & {"url", "file"}


def test_copies_without_a_licence_are_asked_for_only():
    for entry in CATALOGUE.values():
        assert {parse_source(source).scheme for source in entry.optin_sources} <= {"url"}


@pytest.mark.parametrize(("name", "n_wider"), [("bands", 3), ("crx", 1), ("hepatitis", 5)])
def test_sets_with_incomplete_rows_left_out_are_also_there_scaled_by_declared_ranges(shared, name, n_wider):
    tables = [quietly(CATALOGUE[form], mirror=shared / "data").table for form in (name, f"{name}-declared")]
    plain, declared = (prepare(table, name, "classification") for table in tables)
    wider = np.flatnonzero((plain.feature_ranges != declared.feature_ranges).any(axis=1))
    assert len(wider) == n_wider and (plain.rows == declared.rows).all() and (plain.y == declared.y).all()
    low, high = declared.feature_ranges.T
    assert ((low <= plain.feature_ranges[:, 0]) & (high >= plain.feature_ranges[:, 1])).all()
    back = [data.X * np.ptp(data.feature_ranges, axis=1) + data.feature_ranges[:, 0] for data in (plain, declared)]
    numeric = [i for i, kind in enumerate(plain.kinds) if kind != "nominal"]
    assert np.allclose(back[0][:, numeric], back[1][:, numeric], rtol=1e-12)
    assert declared.X[:, numeric].min() >= 0 and declared.X[:, numeric].max() <= 1
    same = np.setdiff1d(np.arange(plain.X.shape[1]), wider)
    assert (plain.X[:, same] == declared.X[:, same]).all()


def test_the_repaired_mammographic_differs_in_one_value(shared):
    tables = [quietly(CATALOGUE[name], mirror=shared / "data").table for name in ("mammographic", "mammographic-repaired")]
    as_is, repaired = (prepare(table, "mammographic", "classification", scaling="none") for table in tables)
    assert sorted(as_is.X[:, 0])[-1] == 55 and repaired.X[:, 0].max() == 6
    before, after = (data.X[np.argsort(data.rows)] for data in (as_is, repaired))
    row, column = np.nonzero(before != after)
    assert (len(row), column[0], before[row[0], 0], after[row[0], 0]) == (1, 0, 55, 5)


def test_no_substitute_is_listed_for_sets_that_only_keel_has_in_this_form():
    for name in ("australian", "crx", "heart", "ionosphere", "wdbc", "sonar", "spambase", "bands", "concrete"):
        assert {parse_source(source).scheme for source in CATALOGUE[name].sources} == {"mirror", "keel"}


@pytest.mark.parametrize("name", [*BUNDLED["regression"], *BUNDLED["classification"], *GENERATED])
def test_a_set_of_the_default_configuration_needs_neither_mirror_nor_network(name):
    entry = CATALOGUE[name]
    fetched = quietly(entry, hosts=dict.fromkeys(("keel", "uci", "openml"), "http://127.0.0.1:1"))
    assert fetched.source == entry.sources[0]
    assert prepared(entry, fetched.table).notes == ()


def test_every_studied_set_is_read_from_the_mirror_with_its_checksum(shared):
    for name in (*studied("regression"), *studied("classification"), *REPAIRED, *MONITORED):
        entry = CATALOGUE[name]
        fetched = quietly(replace(entry, sources=(source_of(name, "mirror"),)), mirror=shared / "data")
        assert fetched.fingerprint == entry.fingerprint
        data = prepared(entry, fetched.table)
        assert data.notes == ()
        assert data.n_dropped == 0


def test_monitored_sets_have_two_classes_and_the_counts_of_the_monitoring_paper_but_for_five_rows(shared):
    printed = {
        row["dataset"].lower().replace("-", ""): row for row in rows_of(shared / "reference/cieslak_2009_table1_datasets.csv")
    }
    different = {}
    for name in (*MONITORED, "phoneme"):
        data = prepared(CATALOGUE[name], quietly(CATALOGUE[name], mirror=shared / "data").table)
        assert (len(data.classes), data.X.shape[1]) == (2, int(printed[name]["features"]))
        rows = sum(int(printed[name][part]) for part in ("training", "validation", "testing"))
        if len(data.X) != rows:
            different[name] = (rows, len(data.X))
    assert different == {"satimage": (6435, 6430)}


@pytest.mark.parametrize(
    ("name", "file", "options"),
    [
        ("pendigits", "weka/pendigits.arff", "map=17:0=0,1=0,2=0,3=0,4=0,5=0,6=0,7=1,8=0,9=0"),
        ("page", "uci/page-blocks/page-blocks.data", "format=space&map=11:1=0,2=1,3=1,4=1,5=1"),
    ],
)
def test_classes_put_together_by_a_map_give_the_very_rows_of_the_mirror(name, file, options, shared):
    entry = replace(CATALOGUE[name], sources=(f"mirror:{file}?{options}",))
    assert quietly(entry, mirror=shared / "data").fingerprint == CATALOGUE[name].fingerprint


def test_sets_of_the_regression_study_have_numeric_inputs_only(shared):
    for name in studied("regression"):
        assert not prepared(CATALOGUE[name], quietly(CATALOGUE[name], mirror=shared / "data").table).categorical_features.any()


def source_of(name, scheme):
    (source,) = (source for source in CATALOGUE[name].sources if source.startswith(f"{scheme}:"))
    return source


def assert_the_arrays_of_the_mirror(name, source, shared, **arguments):
    """Through `source` alone the data set is the one of the mirror, value by value and label by label."""
    entry = CATALOGUE[name]
    one, other = (
        prepared(entry, quietly(replace(entry, sources=(text,)), mirror=shared / "data", **arguments).table)
        for text in (source_of(name, "mirror"), source)
    )
    assert one.X.tobytes() == other.X.tobytes()
    assert one.y.tobytes() == other.y.tobytes()
    assert (one.categories, one.classes) == (other.categories, other.classes)


def uci_file(name, shared):
    """The file as UCI distributes it; two of the reference copies are exports that have to be turned back."""
    content = (shared / "data/uci" / name / UCI_FILES[name]).read_bytes()
    if name == "coolingeff":  # without header, as csv
        book = openpyxl.Workbook()
        book.active.append([*(f"X{i}" for i in range(1, 9)), "Y1", "Y2"])
        for row in csv.reader(io.StringIO(content.decode())):
            book.active.append([float(value) for value in row])
        saved = io.BytesIO()
        book.save(saved)
        return saved.getvalue()
    if name == "traffic":  # the target's decimal comma became a separator, and its decimals a column with a name of its own
        header, *rows = csv.reader(io.StringIO(content.decode()))
        lines = [header[:18]] + [[*row[:17], ",".join(value for value in row[17:] if value)] for row in rows]
        return "\r\n".join(map(";".join, lines)).encode()
    return content


@pytest.mark.parametrize("name", UCI_FILES)
def test_the_recipe_for_the_uci_archive_gives_the_very_arrays_of_the_mirror(name, shared, server):
    source = source_of(name, "uci")
    identifier, slug = parse_source(source).address.split("/")
    (member,) = parse_source(source).options.member
    server.serve_uci(identifier, slug, {"Index": b"not data", f"folder/{member}": uci_file(name, shared)})
    assert_the_arrays_of_the_mirror(name, source, shared, hosts=server.hosts)


def test_keels_archives_give_the_very_arrays_of_the_mirror(shared, server):
    archives = {("regression", file): name for file, name in KEEL_REGRESSION.items()}
    archives |= {("classification", name): name for name in studied("classification")}
    for (kind, file), name in archives.items():
        server.serve_keel(file, (shared / f"data/keel/{kind}/{file}.dat").read_text(encoding="latin-1"), kind=kind)
        source = source_of(name, "keel")
        assert source == f"keel:{kind}/{file}"
        assert_the_arrays_of_the_mirror(name, source, shared, hosts=server.hosts)


def test_opt_in_copies_give_the_very_arrays_of_the_mirror(shared, server):
    # The repositories' files are those of the reference data; the archive holds all 28 sets in the folder `data`.
    regression = zip_of({f"data/{name}.dat": (shared / f"data/scvreg/{name}.dat").read_bytes() for name in studied("regression")})
    for name in (*studied("regression"), *studied("classification")):
        for source in CATALOGUE[name].optin_sources:
            path = parse_source(source).address.removeprefix("https://raw.githubusercontent.com")
            zipped = path.endswith("/docs/data.zip")
            server.serve(path, regression if zipped else (shared / f"data/keel/classification/{name}.dat").read_bytes())
            local = source.replace("https://raw.githubusercontent.com", server.url)
            assert_the_arrays_of_the_mirror(name, local, shared)
    assert len({path for _, path in server.requests}) == 1 + 24


@pytest.mark.parametrize(
    "name",
    ["breast", "bupa", "chess", "haberman", "hepatitis", "housevotes", "mammographic", "mushroom", "spectfheart", "wisconsin"],
)
def test_the_recipe_for_a_uci_file_keeps_the_order_of_labels(name, shared, tmp_path):
    # KEEL's rows in the layout of the UCI file: target at its place, columns to be dropped put in, labels as they were.
    source = source_of(name, "uci")
    options = parse_source(source).options
    text = (shared / f"data/keel/classification/{name}.dat").read_text(encoding="latin-1")
    rows = [[field.strip() for field in line.split(",")] for line in text.partition("@data")[2].split("\n") if line.strip()]
    for row in rows:
        if options.target:
            row.insert(int(options.target) - 1, row.pop())
        for column in options.drop:
            row.insert(int(column) - 1, "0")
        for column, new in options.map.items():
            row[int(column) - 1] = {label: old for old, label in new.items()}[row[int(column) - 1]]
    (tmp_path / "layout.data").write_text("\n".join(map(",".join, rows)), encoding="latin-1")
    query = "&".join(option for option in source.partition("?")[2].split("&") if not option.startswith("member="))
    assert_the_arrays_of_the_mirror(name, f"file:{tmp_path}/layout.data?{query}", shared)


def test_the_recipe_for_auto_mpg_reads_the_form_of_the_uci_file():
    source = parse_source(source_of("autompg8", "uci"))
    text = (
        '18.0   8   307.0      130.0      3504.      12.0   70  1\t"chevrolet chevelle malibu"\n'
        '25.0   4   98.00      ?          2046.      19.0   71  1\t"ford pinto"\n'
        '24.3   4   151.0      90.00      3003.      20.1   80  1\t"amc concord d\'l"\n'
    )
    table = read_table(text.encode(), "auto-mpg.data", source.options, task="regression", target="Mpg")
    assert table.frame[table.complete()].to_numpy().tolist() == [
        [18.0, 8, 307, 130, 3504, 12.0, 70, 1],
        [24.3, 4, 151, 90, 3003, 20.1, 80, 1],
    ]
    assert table.target == table.frame.columns[0]
    assert "nominal" not in table.kinds.values()


@pytest.mark.parametrize(("name", "scheme"), [("forest", "keel"), ("abalone", "keel"), ("autompg8", "openml")])
def test_maps_turn_labels_and_numbers_into_numbers_where_a_file_may_hold_either(name, scheme):
    for new in parse_source(source_of(name, scheme)).options.map.values():
        assert all(text.isdigit() for text in new.values())
        assert set(new.values()) <= set(new)


# ---- mistakes ----

HEADER = "name\ttask\ttarget\tn_rows\tn_features\tfingerprint\tsources\toptin_sources"
GOOD = "toy\tregression\ty\t10\t2\t\tfile:toy.csv\t"


def reading(tmp_path, *lines, encoding="utf-8"):
    path = tmp_path / "datasets.tsv"
    path.write_bytes("\n".join(lines).encode(encoding))
    return path


def test_comments_blank_lines_windows_line_ends_and_a_byte_order_mark_do_not_matter(tmp_path):
    path = reading(
        tmp_path,
        "# mine",
        HEADER + "\r",
        "\r",
        "# here",
        GOOD.replace("toy.csv", "a.csv  file:b.csv") + "\r",
        "",
        encoding="utf-8-sig",
    )
    assert read_catalogue(path) == {
        "toy": CatalogueEntry("toy", "regression", "y", n_rows=10, n_features=2, sources=("file:a.csv", "file:b.csv"), own=True)
    }


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "catalogue {path} is empty; the first line names the columns name, task, target, sources"),
        (
            ["name\ttask\ttarget"],
            "catalogue {path}: column 'sources' is missing; the first line must name name, task, target, sources",
        ),
        ([HEADER + "\tcitaton"], "unknown column of catalogue {path} 'citaton'; did you mean citation?"),
        ([HEADER + "\tname"], "catalogue {path}: column 'name' occurs twice; remove one"),
        ([HEADER, "toy\tregression"], "catalogue {path}, line 2: 2 fields, the header has 8; separate them by tabs"),
        ([HEADER, GOOD, "", GOOD], "catalogue {path}, line 4: data set toy occurs twice; names must differ"),
        ([HEADER, GOOD.replace("\ty\t", "\t\t")], "catalogue {path}, line 2: target is empty; give name, task, target, sources"),
        (
            [HEADER, GOOD.replace("file:toy.csv", "")],
            "catalogue {path}, line 2: sources is empty; give name, task, target, sources",
        ),
        (
            [HEADER, GOOD.replace("toy\t", "../toy\t")],
            "catalogue {path}, line 2: name='../toy' may hold letters, digits, '.', '_' and '-' only: it becomes a folder",
        ),
        (
            [HEADER, GOOD.replace("regression", "ranking")],
            "catalogue {path}, line 2: task='ranking' must be regression or classification",
        ),
        ([HEADER, GOOD.replace("10", "ten")], "catalogue {path}, line 2: n_rows='ten' must be a whole number of at least 2"),
        ([HEADER, GOOD.replace("10", "1")], "catalogue {path}, line 2: n_rows='1' must be a whole number of at least 2"),
        (
            [HEADER, GOOD.replace("\t2\t", "\t0\t")],
            "catalogue {path}, line 2: n_features='0' must be a whole number of at least 1",
        ),
        (
            [HEADER, GOOD.replace("\t\tfile", "\tABC\tfile")],
            "catalogue {path}, line 2: fingerprint='ABC' must be 16 hexadecimal digits, lower case",
        ),
        (
            [HEADER, GOOD.replace("file:", "flie:")],
            "catalogue {path}, line 2: sources: unknown scheme 'flie'; did you mean file?",
        ),
        ([HEADER, GOOD + "here"], "catalogue {path}, line 2: optin_sources: source 'here' is not of the form scheme:address;"),
        (
            [HEADER, GOOD.replace(".csv", ".csv?sheat=2")],
            "catalogue {path}, line 2: sources: source 'file:toy.csv?sheat=2': unknown",
        ),
    ],
)
def test_a_mistake_in_the_catalogue_is_one_line_with_its_place(tmp_path, lines, message):
    path = reading(tmp_path, *lines)
    with pytest.raises(ConfigError) as caught:
        read_catalogue(path)
    assert str(caught.value).startswith(message.format(path=path))
    assert "\n" not in str(caught.value)


def test_a_catalogue_that_is_absent_or_not_text_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"^catalogue: cannot read .*absent\.tsv: No such file or directory; check the path$"):
        read_catalogue(tmp_path / "absent.tsv")
    with pytest.raises(ConfigError, match=r"^catalogue .*datasets\.tsv is not UTF-8 text \(byte 0\); save it as"):
        read_catalogue(reading(tmp_path, "é", encoding="latin-1"))


def test_a_configuration_adds_its_own_sets_without_counts_or_checksum():
    extra = {"mine": {"task": "regression", "target": "price", "sources": "file:data/mine.csv url:https://example.org/mine.csv"}}
    both = add_entries(CATALOGUE, extra)
    assert both["mine"] == CatalogueEntry(
        "mine", "regression", "price", sources=("file:data/mine.csv", "url:https://example.org/mine.csv"), own=True
    )
    assert list(both) == [*CATALOGUE, "mine"]
    assert "mine" not in CATALOGUE
    counted = add_entries({}, {"mine": {**extra["mine"], "n_rows": 12, "n_features": 3}})["mine"]
    assert (counted.n_rows, counted.n_features, counted.fingerprint) == (12, 3, "")


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({"wdbc": {}}, "extra_datasets: wdbc is in the catalogue already; choose another name"),
        ({"mine": None}, "extra_datasets.mine=None must hold task, target, sources"),
        (
            {"mine": {"task": "regression", "target": "y"}},
            "extra_datasets.mine: sources is empty; give name, task, target, sources",
        ),
        (
            {"mine": {"task": "regression", "target": "y", "source": "file:a.csv"}},
            "extra_datasets.mine: unknown column 'source'; did you mean sources",
        ),
        (
            {"mine": {"task": "regression", "target": "y", "sources": "file:a.csv", "n_rows": 2.5}},
            "extra_datasets.mine: n_rows='2.5' must be a whole number of at least 2",
        ),
        (
            {"my data": {"task": "regression", "target": "y", "sources": "file:a.csv"}},
            "extra_datasets.my data: name='my data' may hold",
        ),
    ],
)
def test_a_mistake_in_an_extra_set_is_one_line_with_its_key(extra, message):
    with pytest.raises(ConfigError) as caught:
        add_entries(CATALOGUE, extra)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_an_unknown_set_is_refused_with_the_nearest_names():
    with pytest.raises(DataError, match=r"^unknown data set 'Wisconsn'; did you mean wisconsin\?") as caught:
        find("Wisconsn", CATALOGUE)
    assert "\n" not in str(caught.value)


# ---- load_dataset ----


def test_a_data_set_is_loaded_by_name_in_the_units_of_its_source():
    data = load_dataset("diabetes")
    assert (data.X.shape, data.y.shape, data.task) == ((442, 10), (442,), "regression")
    assert data.feature_names == ("age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6")
    assert (data.y.min(), data.y.max()) == (25, 346)
    assert not data.categorical_features.any()
    assert (data.classes, data.groups) == ((), None)
    scaled = load_dataset("diabetes", scaling="global")
    assert (scaled.X.min(axis=0) == 0).all() and (scaled.X.max(axis=0) == 1).all()
    assert np.array_equal(scaled.rows, data.rows)


def test_a_data_set_is_loaded_from_a_mirror_folder(shared, tmp_path):
    target = tmp_path / "mirror/keel/classification/wdbc.dat"
    target.parent.mkdir(parents=True)
    shutil.copy(shared / "data/keel/classification/wdbc.dat", target)
    data = load_dataset("wdbc", mirror=tmp_path / "mirror", cache=tmp_path / "cache")
    assert data.X.shape == (569, 30)
    assert data.classes == ("M", "B")
    assert np.bincount(data.y).tolist() == [212, 357]
    assert not (tmp_path / "cache").exists()


def test_a_data_set_of_ones_own_is_loaded_from_a_catalogue_of_ones_own(tmp_path):
    (tmp_path / "toy.csv").write_text("a,colour,y\n1,red,2\n2,blue,3\n?,red,4\n", encoding="utf-8")
    path = reading(tmp_path, HEADER, f"toy\tregression\ty\t\t\t\tfile:{tmp_path}/toy.csv\t")
    data = load_dataset("toy", catalogue=path)
    assert data.X.shape == (2, 2)
    assert data.categorical_features.tolist() == [False, True]
    assert data.categories == ((), ("blue", "red"))
    assert data.n_dropped == 1


def test_loading_an_unknown_or_unreachable_set_says_what_to_do(tmp_path):
    with pytest.raises(FoldshiftError, match=r"^unknown data set 'diabets'; did you mean diabetes\?"):
        load_dataset("diabets")
    path = reading(tmp_path, HEADER, GOOD.replace("file:toy.csv", f"file:{tmp_path}/absent.csv"))
    with pytest.raises(FoldshiftError, match=r"^data set toy: file:.*: there is no file .*absent\.csv$"):
        load_dataset("toy", catalogue=path)
    path = reading(tmp_path, HEADER, GOOD.replace("file:", "mirror:"))
    with pytest.raises(
        FoldshiftError, match=r"^data set toy: none of its 1 sources could be used; set mirror to .*toy\.csv: passed over"
    ):
        load_dataset("toy", catalogue=path)


def test_importing_the_package_is_cheap(root):
    code = (
        "import sys, foldshift.datasets; print(sorted({'numpy', 'pandas', 'sklearn', 'requests', 'openml'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", code]
    answer = subprocess.run(command, capture_output=True, text=True, check=True, env={"PYTHONPATH": str(Path(root) / "src")})
    assert answer.stdout.strip() == "[]"
