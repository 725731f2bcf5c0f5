import copy

import pytest
import yaml

from foldshift.core.errors import ConfigError
from foldshift.datasets.catalogue_entry import CatalogueEntry
from foldshift.engine.config.check import check_studies, check_writable
from foldshift.engine.config.command_line import named_studies
from foldshift.engine.config.learners_file import configured_learners, read_learners
from foldshift.engine.config.merge import MergedConfig, at_scale, fill_in, fitting, resolve
from foldshift.engine.config.runs import configure
from foldshift.engine.config.schema import compose_schema
from foldshift.engine.config.yaml_files import read_yaml
from foldshift.engine.jobs.code_digest import module_files
from foldshift.engine.layout.bundles import block_names, block_range, bundles, choice_of, groups
from foldshift.engine.study.find import find_studies
from foldshift.studies.moreno_torres_2012.ablation.variants import variants_to_cut

STUDIES = find_studies()
DECLARED = {name: study.declaration() for name, study in STUDIES.items()}

CATALOGUE = {
    "small": CatalogueEntry("small", "regression", n_rows=12),
    "large": CatalogueEntry("large", "regression", n_rows=500),
    "mine": CatalogueEntry("mine", "regression"),
    "classes": CatalogueEntry("classes", "classification", n_rows=50),
}
LEARNERS = {"NN": {"tasks": ["regression"]}, "SVM": {"tasks": ["classification"]}}
CONFIG = {
    "studies": {
        "saez_2022": {
            "datasets": ["small", "large"],
            "partitioners": ["CV", "SCV4", "TSCV"],
            "learners": ["NN"],
            "n_folds": [2, 5],
            "n_seeds": 10,
        }
    }
}
CLASSES = {
    "studies": {
        "moreno_torres_2012": {
            "datasets": ["classes"],
            "partitioners": ["SCV", "DOB-SCV"],
            "learners": ["SVM"],
            "schemes": ["2x5", "5x2"],
            "n_seeds": 4,
            "n_truth": 6,
        }
    }
}


def checked(config):
    """Check the studies of a resolved configuration."""
    check_studies(MergedConfig(config, CATALOGUE, LEARNERS, STUDIES, []), DECLARED)


@pytest.fixture(scope="module")
def schema(root):
    return compose_schema(read_yaml(root / "workflow/schemas/config.schema.yaml", "schema"), STUDIES)


def changed(**changes):
    config = copy.deepcopy(CONFIG)
    for key, value in changes.items():
        if key in ("datasets", "partitioners", "learners", "n_folds", "n_seeds", "scaling", "typo"):
            config["studies"]["saez_2022"][key] = value
        else:
            config[key] = value
    return config


def test_defaults_are_filled_in_and_the_input_is_left_alone(schema):
    config = changed()
    resolved = resolve(config, schema)
    assert resolved["studies"]["saez_2022"]["convergence"] == {"step": 5, "maximum": 150, "draws": 50}
    assert resolved["results"] == "results" and resolved["mirror"] is None
    assert config == CONFIG


def test_keys_of_the_command_line_win_over_every_study(schema):
    resolved = resolve(CONFIG | {"n_seeds": 3, "datasets": "small,large", "n_folds": "2,3", "partitioners": "CV,TSCV"}, schema)
    study = resolved["studies"]["saez_2022"]
    assert (study["n_seeds"], study["datasets"], study["n_folds"]) == (3, ["small", "large"], [2, 3])
    assert resolve(CONFIG | {"datasets": "small", "n_folds": 2}, schema)["studies"]["saez_2022"]["n_folds"] == [2]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (CONFIG | {"n_seed": 3}, "unknown config key 'n_seed'; did you mean n_seeds"),
        (changed(typo=1), "unknown key in studies.saez_2022 'typo'"),
        (CONFIG | {"studies": {"saez_2023": {}}}, "unknown key in studies 'saez_2023'; did you mean saez_2022"),
        (changed(n_folds=[1]), "studies.saez_2022.n_folds.0=1 must be at least 2"),
        (changed(n_folds=[2, 2]), "must not repeat a value"),
        (changed(n_seeds=1), "n_seeds=1 must be at least 2"),
        (changed(n_seeds="many"), "n_seeds='many' must be a whole number"),
        (changed(datasets=[]), "datasets=\\[\\] must not be empty"),
        (changed(scaling="local"), "scaling='local' must be one of global, fold, none"),
    ],
)
def test_a_mistake_in_the_configuration_is_one_line_with_key_value_and_what_is_allowed(config, message, schema):
    with pytest.raises(ConfigError, match=message) as caught:
        resolve(config, schema)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (changed(datasets=["smal"]), "unknown data set in saez_2022.datasets 'smal'; did you mean small"),
        (changed(datasets=["classes"]), "classes is a classification data set; saez_2022 takes regression data sets"),
        (changed(learners=["KNN"]), "unknown learner in saez_2022.learners 'KNN'; did you mean NN"),
        (changed(learners=["SVM"]), "SVM does not do regression"),
        (changed(partitioners=["CV", "TSCV", "DOB"]), "unknown partitioner in saez_2022.partitioners 'DOB'"),
        (changed(partitioners=["CV", "SCV4"]), "must contain CV and TSCV"),
        (
            changed(partitioners=["CV", "TSCV", "SCV13"]),
            "SCV13 wants 13 strata, but data set small has 12 rows; t must be between 1 and 12",
        ),
        (changed(n_folds=[13]), "k=13 is above the 12 rows of data set small; k must be between 2 and 12"),
    ],
)
def test_names_folds_and_strata_are_checked_before_planning(config, message, schema):
    with pytest.raises(ConfigError, match=message) as caught:
        checked(resolve(config, schema))
    assert "\n" not in str(caught.value)


def test_a_good_configuration_passes_and_a_partitioner_of_ones_own_is_known(schema):
    checked(resolve(changed(datasets=["small", "mine"]), schema))
    own = changed(partitioners=["CV", "TSCV", "Mine"], own_partitioners={"Mine": {"import": "my.cut"}})
    checked(resolve(own, schema))


@pytest.mark.parametrize("name", ["config.yaml", "paper.yaml"])
def test_shipped_configurations_are_valid(root, schema, name, monkeypatch):
    from foldshift.datasets.catalogue import read_catalogue

    config = resolve(at_scale(yaml.safe_load((root / "config" / name).read_text()), STUDIES), schema)
    catalogue, learners = read_catalogue(root / config["catalogue"]), read_learners(root / config["learners_file"])
    check_studies(MergedConfig(config, catalogue, learners, STUDIES, []), DECLARED)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A: {import: a.b, tasks: [regression], parms: {}}", "unknown key of learner A .*'parms'; did you mean params"),
        ("A: {tasks: [regression]}", "key 'import' is missing"),
        ("A: {import: a.b, tasks: regression}", "tasks='regression' must be a list"),
        ("A: {import: a.b, tasks: [regression], nominal: dummy}", "nominal='dummy' must be codes, one_hot or native"),
        ("[1]", "must map learner names to entries; got list"),
        ("A: {", "learners.yaml, line 1: not valid YAML"),
    ],
)
def test_a_mistake_in_the_learners_file_is_named(tmp_path, text, message):
    (tmp_path / "learners.yaml").write_text(text)
    with pytest.raises(ConfigError, match=message) as caught:
        read_learners(tmp_path / "learners.yaml")
    assert "\n" not in str(caught.value)


def test_a_folder_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(ConfigError, match="is a file, not a folder"):
        check_writable(tmp_path / "taken" / "below", "results")
    check_writable(tmp_path / "new" / "below", "results")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(("n", "size"), [(1, 1), (10, 3), (10, 100), (1000, 7)])
def test_blocks_cover_every_seed_once(n, size):
    covered = [i for name in block_names(n, size) for i in range(block_range(name)[0], sum(block_range(name)))]
    assert covered == list(range(n))


def test_code_of_a_rule_is_what_its_script_imports_and_nothing_else(root):
    names = {
        path.split("/src/foldshift/")[-1]
        for path in module_files(root / "scripts/evaluate.py", objects=["foldshift.learners.NNRegressor"])
    }
    assert {"evaluation/regressors.py", "learners/neighbours/nearest_regressor.py", "learners/base.py", "core/files.py"} <= names
    assert (
        not {
            "learners/__init__.py",
            "learners/trees/gbm.py",
            "partition/methods/stratified.py",
            "reporting/table_grid.py",
            "shift/measures/ks.py",
        }
        & names
    )


def test_a_learner_of_the_users_own_counts_as_code(tmp_path, monkeypatch):
    (tmp_path / "my_learner.py").write_text("class Mine: ...\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert module_files(objects=["my_learner.Mine"]) == [str(tmp_path / "my_learner.py")]
    assert module_files(objects=["sklearn.svm.SVR"]) == []


def with_classes(**changes):
    config = copy.deepcopy(CLASSES)
    config["studies"]["moreno_torres_2012"] |= changes
    return config


def test_schemes_give_the_numbers_of_folds(schema):
    study = resolve(CLASSES, schema)["studies"]["moreno_torres_2012"]
    assert (study["n_folds"], study["schemes"]) == ([2, 5], ["2x5", "5x2"])
    study = resolve(CLASSES | {"n_folds": [5], "n_truth": 3, "max_rows": {"SVM": 10}}, schema)["studies"]["moreno_torres_2012"]
    assert (study["n_folds"], study["schemes"], study["n_truth"], study["max_rows"]) == ([5], ["5x2"], 3, {"SVM": 10})


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (with_classes(schemes=["5x2", "5x3"]), "must not repeat a number of folds"),
        (with_classes(schemes=["1x5"]), "must have at least two folds"),
        (with_classes(schemes=["5-2"]), "schemes.0='5-2'"),
        (with_classes() | {"n_folds": [3]}, "k=3 has no scheme; allowed: 2, 5, or add 3x1 to schemes"),
        (with_classes(scaling="fold"), "scaling='fold' must be one of global, none"),
        (with_classes(configurations=["printed"]), "must be one of paper, corrected"),
        (with_classes(n_truth=1), "n_truth=1 must be at least 2"),
    ],
)
def test_a_mistake_in_a_study_of_classes_is_one_line(config, message, schema):
    with pytest.raises(ConfigError, match=message) as caught:
        resolve(config, schema)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (with_classes(partitioners=["DOB-SCV"]), "must contain SCV, the references"),
        (
            with_classes(partitioners=["SCV", "DOBSCV"]),
            "unknown partitioner in moreno_torres_2012.partitioners 'DOBSCV'; did you mean DOB-SCV",
        ),
        (with_classes(partitioners=["SCV", "TSCV"]), "unknown partitioner"),
        (with_classes(datasets=["small"]), "small is a regression data set; moreno_torres_2012 takes classification data sets"),
        (with_classes(learners=["NN"]), "NN does not do classification"),
        (with_classes(max_rows={"SVN": 3}), "unknown learner in moreno_torres_2012.max_rows 'SVN'; did you mean SVM"),
        (with_classes(schemes=["60x1"]), "k=60 is above the 50 rows"),
    ],
)
def test_a_study_of_classes_is_checked_against_catalogue_and_learners(config, message, schema):
    with pytest.raises(ConfigError, match=message):
        checked(resolve(config, schema))


def cut_into(study, size):
    """Bundles of the classification study, with the variants that it declares."""
    return bundles(study, size, variants=variants_to_cut(study))


def test_bundles_of_a_study_of_classes_are_partitioners_truth_and_variants(schema):
    study = resolve(with_classes(ablation={"n_seeds": 9, "metrics": ["heom", "keel"]}), schema)["studies"]["moreno_torres_2012"]
    found = cut_into(study, 8)
    assert [bundle.kind for bundle in found] == ["own", "truth", "variant", "variant"]
    assert found[0] == ("own", ("SCV", "DOB-SCV"), {2: 5, 5: 2}, 4, None)
    assert found[1] == ("truth", ("truth",), {2: 5, 5: 2}, 6, None)
    assert found[2].iterations == {5: 2} and found[2].n_seeds == 4 and found[2].max_rows == study["ablation"]["max_rows"]
    variants = [name for bundle in found[2:] for name in bundle.partitioners]
    assert len(variants) == 9 and "DOB-SCV@heom-keel" in variants and "DOB-SCV@heom-balanced" not in variants
    without = cut_into(study | {"ablation": study["ablation"] | {"n_seeds": 0}}, 8)
    assert [bundle.kind for bundle in without] == ["own", "truth"]


def test_the_cut_of_keel_has_all_schemes_and_its_own_number_of_experiments(schema):
    study = resolve(with_classes(ablation={"n_seeds": 2, "tool_seeds": 3}), schema)["studies"]["moreno_torres_2012"]
    found = cut_into(study, 8)
    keel = ("DB-SCV@keel-keel", "DOB-SCV@keel-keel", "MS-SCV@keel-keel")
    assert found[-1][:4] == ("variant", keel, {2: 5, 5: 2}, 3)
    others = [name for bundle in found[2:-1] for name in bundle.partitioners]
    assert len(others) == 4 * 3 and not set(others) & set(keel)
    assert all(bundle.iterations == {5: 2} and bundle.n_seeds == 2 for bundle in found[2:-1])
    assert choice_of(keel[1], study, {}, variants_to_cut(study))["partitioner"] == "DOB-SCV"

    def names(**changes):
        return [one.partitioners for one in cut_into(study | {"ablation": study["ablation"] | changes}, 8)[2:]]

    assert names(metrics=["heom", "keel"], rules=["keel"]) == [
        ("DB-SCV@heom-keel", "DOB-SCV@heom-keel", "MS-SCV@heom-keel"),
        keel,
    ]
    assert names(metrics=["keel"], rules=["keel"]) == [keel] and names(n_seeds=0) == []
    assert keel not in names(tool_seeds=0) and keel not in names(metrics=["heom"])


def test_ids_say_how_to_cut(schema):
    study = resolve(CLASSES, schema)["studies"]["moreno_torres_2012"]
    variants = variants_to_cut(study)

    def cut(name):
        return choice_of(name, study, {}, variants)

    assert cut("truth") == cut("SCV") == {"partitioner": "SCV", "options": {}}
    assert cut("MS-SCV") == {"partitioner": "MS-SCV", "options": {"metric": "heom"}}
    keel = {"metric": "keel", "duplicates": "neighbours", "remainders": "spread"}
    assert cut("DB-SCV@keel-balanced") == {"partitioner": "DB-SCV", "options": keel}


def test_groups_cover_every_name_once_and_in_order():
    assert groups(list("abcde"), 2) == [["a", "b"], ["c", "d"], ["e"]]
    assert groups(list("abcde")) == [list("abcde")] and groups(["a" * 190, "b" * 20, "c"]) == [["a" * 190], ["b" * 20, "c"]]


def test_the_paper_configuration_of_a_learner_adds_its_switches(tmp_path, schema):
    path = tmp_path / "learners.yaml"
    path.write_text(
        "A: {import: m.A, tasks: [classification], params: {x: 1, y: 2}, paper: {nominal: one_hot, params: {y: 3}}}\n"
        "B: {import: m.B, tasks: [classification]}\n"
        "C: {import: m.C, tasks: [classification], paper: {params: {z: 1}, same_fit: true}}\n"
    )
    learners = read_learners(path)
    assert list(learners) == ["A", "A@paper", "B", "C", "C@paper"]
    assert learners["A"]["params"] == {"x": 1, "y": 2} and learners["A@paper"]["params"] == {"x": 1, "y": 3}
    assert learners["A@paper"]["nominal"] == "one_hot" and learners["A"]["nominal"] == "codes"
    assert [entry["fit"] for entry in learners.values()] == ["A", "A@paper", "B", "C", "C"]
    settings = {"learners": ["B", "A"], "configurations": ["paper", "corrected"]}
    assert configured_learners(settings, learners) == {"paper": {"B": "B", "A": "A@paper"}, "corrected": {"B": "B", "A": "A"}}
    path.write_text("A: {import: m.A, tasks: [classification], paper: {metric: 3}}\n")
    with pytest.raises(ConfigError, match="unknown key of paper of learner A"):
        read_learners(path)


def test_values_of_the_command_line_go_to_the_studies_they_fit(schema):
    both = {"studies": CONFIG["studies"] | CLASSES["studies"]}
    misfit = fitting(fill_in(both, schema), CATALOGUE, LEARNERS, STUDIES)

    def studies(**settings):
        found = resolve(both | settings, schema, misfit)["studies"]
        return found["saez_2022"], found["moreno_torres_2012"]

    regression, classes = studies(datasets="large", learners="SVM", partitioners="SCV,MS-SCV", n_folds="3,5")
    assert regression["datasets"] == ["large"] and classes["datasets"] == ["classes"]
    assert regression["learners"] == ["NN"] and classes["learners"] == ["SVM"]
    assert regression["partitioners"] == ["CV", "SCV4", "TSCV"] and classes["partitioners"] == ["SCV", "MS-SCV"]
    assert regression["n_folds"] == [3, 5] and classes["n_folds"] == [5]
    regression, classes = studies(datasets="small,classes", n_folds="3")
    assert (regression["datasets"], classes["datasets"]) == (["small"], ["classes"])
    assert (regression["n_folds"], classes["n_folds"]) == ([3], [2, 5])
    regression, classes = studies(datasets="smal")  # known to nobody: every study gets it, and the check names it
    assert regression["datasets"] == classes["datasets"] == ["smal"]


def test_values_that_fit_no_study_that_is_named_are_refused_and_what_is_passed_over_is_told(schema):
    both = {"studies": CONFIG["studies"] | CLASSES["studies"]}
    misfit = fitting(fill_in(both, schema), CATALOGUE, LEARNERS, STUDIES)
    for key, value in {"datasets": "large,classes", "learners": "SVM", "partitioners": "DOB-SCV"}.items():
        notes = []
        resolve(both | {key: value}, schema, misfit, ["saez_2022", "moreno_torres_2012"], notes)
        assert notes and all(note.startswith(f"{key}: ") for note in notes)
        with pytest.raises(ConfigError, match=f"{key}=.* fits no study of this run: .* saez_2022 takes"):
            resolve(both | {key: value}, schema, misfit, ["saez_2022"])
    with pytest.raises(ConfigError, match="n_truth=5 says nothing to saez_2022: it is a setting of moreno_torres_2012"):
        resolve(both | {"n_truth": 5}, schema, misfit, ["saez_2022"])
    notes = []
    resolve(both | {"datasets": "large"}, schema, misfit, None, notes)
    assert len(notes) == 1 and notes[0].startswith(
        "datasets: moreno_torres_2012 keeps its own list (large is a regression data set"
    )


def test_what_is_described_and_studied_nowhere_is_told(root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.csv").write_text("x,y\n1,2\n2,3\n3,5\n")
    entry = {"mine": {"task": "regression", "target": "y", "sources": "file:mine.csv"}}
    raw = {"scale": "test", "studies": {"saez_2022": {}}, "extra_datasets": entry}
    assert configure(raw, root).notes == ["extra_datasets: mine is in no study of this run; add it to the datasets of a study"]
    found = configure({"extra_datasets": entry, "datasets": "mine"}, root, ["saez_2022"])  # a minimal file, over the defaults
    assert found.notes == [] and found.config["studies"]["saez_2022"]["datasets"] == ["mine"]
    assert found.config["studies"]["saez_2022"]["n_seeds"] == STUDIES["saez_2022"].scales["laptop"]["n_seeds"]


@pytest.mark.parametrize(
    ("targets", "named"),
    [
        ([], ["saez_2022", "wong_2015"]),
        (["all"], ["saez_2022", "wong_2015"]),
        (["wong_2015"], ["wong_2015"]),
        (["saez_2022_rows", "plan"], ["saez_2022", "wong_2015"]),
        (["my results/saez_2022/tables/table4_dn.csv"], ["saez_2022"]),
        (["results/provenance/datasets_wong_2015.json"], ["wong_2015"]),
    ],
)
def test_the_studies_that_targets_name(targets, named):
    assert named_studies(targets, ["saez_2022", "wong_2015"]) == named
