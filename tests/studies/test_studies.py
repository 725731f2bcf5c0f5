"""What holds for every study: declarations name functions and files that are there, and nothing outside names a study."""

import ast
import inspect
import re
from pathlib import Path

import pytest
import yaml

from foldshift.core.errors import ConfigError, DataError, require_keys
from foldshift.core.imports import import_object
from foldshift.engine.config.runs import configure
from foldshift.engine.jobs.code_digest import module_files
from foldshift.engine.study.declare import ENGINE_SETTINGS, FORMATS, PAPER_VS_OURS, key
from foldshift.engine.study.find import STUDIES as HERE
from foldshift.engine.study.find import find_studies
from foldshift.reporting.items import caption_text, to_rst

ROOT = Path(__file__).resolve().parents[2]
STUDIES = find_studies()
SCALES = ("laptop", "paper", "test")


@pytest.fixture(scope="module")
def runs():
    """Runs of all studies by scale."""
    return {scale: configure({"scale": scale}, ROOT).runs for scale in SCALES}


@pytest.mark.parametrize("study", STUDIES)
def test_a_study_is_a_whole_folder(study):
    folder = STUDIES[study].folder
    assert {path.name for path in folder.iterdir()} >= {"study.yaml", "study.py", "README.md", "findings.md", "__init__.py"}
    assert set(STUDIES[study].scales) == set(SCALES)
    for name in ("README.md", "findings.md"):
        assert len((folder / name).read_text(encoding="utf-8").split()) > 50


@pytest.mark.parametrize("study", STUDIES)
def test_no_row_rests_on_the_declarations_where_captions_are_edited(study):
    found = STUDIES[study]
    for measure in found.declaration().measures:
        assert found.folder / "study.py" not in map(Path, module_files(objects=[found.path(measure.function)])), measure.name


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("study", STUDIES)
def test_declared_functions_take_what_the_rules_hand_them(study, scale, runs):
    run = runs[scale][study]
    for measure in run.declared.measures:
        function = import_object(STUDIES[study].path(measure.function), "measure")
        schemas = import_object(STUDIES[study].path(measure.function.rpartition(".")[0] + ".SCHEMAS"), "measure")
        assert {kind for kind, path in measure.rows.items() if not path.endswith(".html")} <= set(schemas)
        assert len({tuple(re.findall(r"{(\w+)}", path)) for path in measure.rows.values()}) == 1
        for cell in run.cells(measure)[:2]:
            assert set(cell) == set(measure.words)
            arguments = measure.params(run, cell) | ({"limits": {}} if measure.limited else {})
            inspect.signature(function).bind(object(), cell, **arguments)
            assert measure.inputs(run, cell) is not None
            cost = run.measure_cost(measure, cell)
            assert 0 < cost.seconds < 1e6 and cost.mb >= 0 and cost.writes_mb >= 0
    for items, _ in run.items():
        function = import_object(STUDIES[study].path(items.function), "items")
        inspect.signature(function).bind(object(), {}, **items.params(run))


@pytest.mark.parametrize("study", STUDIES)
def test_every_item_has_a_name_of_its_own_a_title_and_a_caption_that_can_be_filled_in(study, runs):
    run = runs["paper"][study]
    items = [item for _, some in run.items() for item in some]
    assert len({key(item) for item in items}) == len(items)
    for item in items:
        assert item.kind in FORMATS and re.match(r"\d+ \S", item.category)
        assert len(item.title) < 90 and len(item.caption.split()) >= 8
        assert not item.caption.startswith(item.title)
        assert not re.search(r"\*\*|``|{{|{%", item.caption)  # plain words


@pytest.mark.parametrize("study", STUDIES)
def test_printed_numbers_of_the_folder_are_used(study, runs):
    run = runs["paper"][study]
    printed = {str(path) for path in STUDIES[study].folder.glob("printed/*.csv")}
    inputs = [items.inputs(run) for items, _ in run.items()]
    used = {path for one in inputs for value in one.values() for path in ([value] if isinstance(value, str) else value)}
    assert printed <= used
    numbers = [path for path in printed if Path(path).stem != "claims"]  # claims are sentences
    assert not numbers or PAPER_VS_OURS in {item.name for _, some in run.items() for item in some}


def settings_read(text):
    """Keys that a module reads of settings: ``settings["key"]`` or ``settings.get("key")``, whatever the settings are part of."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Subscript):
            holder, key = node.value, node.slice
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
            holder, key = node.func.value, node.args[0]
        else:
            continue
        name = getattr(holder, "id", getattr(holder, "attr", ""))
        if name == "settings" and isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield key.value


def modules_of_the_engine():
    """Code that is the same for every study: the package without the studies, scripts, rules written in Python."""
    package = [path for path in HERE.parent.rglob("*.py") if HERE not in path.parents]
    return [*package, *(ROOT / "scripts").glob("*.py")]


def test_the_engine_imports_no_study_and_reads_no_setting_of_one_study():
    wrong = []
    for path in modules_of_the_engine():
        text = path.read_text(encoding="utf-8")
        imports = re.findall(r"^\s*(?:from|import) (foldshift\.studies\.\w+)", text, re.MULTILINE)
        wrong += [f"{path.name} imports {name}" for name in imports if name.rpartition(".")[2] in STUDIES]
        wrong += [f"{path.name} reads settings[{key!r}]" for key in settings_read(text) if key not in ENGINE_SETTINGS]
    assert wrong == [], "declare it in the study (foldshift.engine.study.declare.Study)"


def test_settings_that_are_read_are_found():
    text = "def f(run, settings):\n    settings['a'], run.settings.get('b', 1), settings[run], run.config['c']\n"
    assert list(settings_read(text)) == ["a", "b"]


def study_folder(place, name="mine", **changes):
    """A study of one's own that declares nothing."""
    about = {"title": "Mine", "summary": "asks", "order": 9, "task": None, "settings": {"type": "object", "properties": {}}}
    folder = place / name
    folder.mkdir()
    (folder / "study.yaml").write_text(yaml.safe_dump(about | {"scales": {"laptop": {}}} | changes))
    (folder / "study.py").write_text("from foldshift.engine.study.declare import Study\nSTUDY = Study()\n")
    return folder


def test_a_folder_outside_is_a_study_or_holds_studies(tmp_path):
    folder = study_folder(tmp_path, "first_of_mine")
    study_folder(tmp_path, "second_of_mine")
    assert list(find_studies([folder]))[-1:] == ["first_of_mine"]
    assert list(find_studies([tmp_path]))[-2:] == ["first_of_mine", "second_of_mine"]
    assert find_studies([folder])["first_of_mine"].declaration().measures == ()


@pytest.mark.parametrize(
    "name, changes, message",
    [
        ("Mine", {}, "small letters"),
        ("mine", {"task": "ranking"}, "task='ranking' must be regression, classification or null"),
        ("mine", {"titel": "x"}, "wrong or missing: titel"),
        ("saez_2022", {}, "two studies are called saez_2022"),
    ],
    ids=["name", "task", "key", "twice"],
)
def test_mistakes_of_a_study_folder_are_named(name, changes, message, tmp_path):
    with pytest.raises(ConfigError, match=message):
        find_studies([study_folder(tmp_path, name, **changes)])


def test_a_folder_without_a_study_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"holds no study; a study is a folder with study.yaml and study.py"):
        find_studies([tmp_path])


def test_a_study_that_declares_nothing_is_named(tmp_path):
    folder = study_folder(tmp_path, "silent")
    (folder / "study.py").write_text("")
    with pytest.raises(ConfigError, match=r"study silent: .*study.py must define STUDY"):
        find_studies([folder])["silent"].declaration()


def test_settings_go_over_those_of_the_scale():
    run = configure({"studies": {"saez_2022": {"n_seeds": 7, "convergence": {"step": 3}}}}, ROOT).runs["saez_2022"]
    laptop = STUDIES["saez_2022"].scales["laptop"]
    assert run.settings["datasets"] == laptop["datasets"] and run.settings["n_seeds"] == 7
    assert run.settings["convergence"] == {"step": 3, "maximum": 150, "draws": 50}


@pytest.mark.parametrize(
    "raw, message",
    [
        ({"studies": {"saez_2023": {}}}, "unknown study in studies 'saez_2023'; did you mean saez_2022"),
        ({"scale": "papper"}, "unknown scale 'papper'; did you mean paper"),
        ({"studies": ["saez_2022"]}, "must map ids of studies to their settings"),
    ],
    ids=["study", "scale", "list"],
)
def test_unknown_studies_and_scales_are_named(raw, message):
    with pytest.raises(ConfigError, match=message):
        configure(raw, ROOT)


def test_what_a_function_of_a_study_must_return_is_named():
    require_keys({"a": 1, "b": 2}, ["a"], "mine must return")
    with pytest.raises(DataError, match=r"^mine must return a dictionary with 'b', 'c'; got 'a'$"):
        require_keys({"a": 1}, ["a", "b", "c"], "mine must return")
    with pytest.raises(DataError, match=r"'a'; got an object of type list$"):
        require_keys([], ["a"], "mine must return")


def test_a_caption_is_one_text_with_the_settings_filled_in():
    item = {"name": "t", "title": "Is it so?", "caption": "Of {n_seeds}\n  seeds, {convergence[draws]} draws."}
    assert caption_text(item, {"n_seeds": 7, "convergence": {"draws": 5}}) == "Is it so? Of 7 seeds, 5 draws."
    assert to_rst("D_n. Mean |x|", "D_n") == "**D\\_n.** Mean \\|x\\|"


@pytest.mark.parametrize("caption", ["{seeds} seeds", "{0}", "{"], ids=["word", "number", "brace"])
def test_a_caption_with_words_that_nobody_gives_is_named(caption):
    with pytest.raises(DataError, match=r"^caption of t: .* Known: n_seeds$"):
        caption_text({"name": "t", "title": "T", "caption": caption}, {"n_seeds": 7})
