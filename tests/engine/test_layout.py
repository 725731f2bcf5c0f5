import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldshift.datasets.catalogue_entry import CatalogueEntry
from foldshift.engine.config.merge import resolve
from foldshift.engine.config.schema import compose_schema
from foldshift.engine.config.yaml_files import read_yaml
from foldshift.engine.costs.dataset_shapes import ASSUMED, shape_of
from foldshift.engine.costs.fit_costs import CostModel, LearnerCost
from foldshift.engine.layout.bundles import MOST_LETTERS, Bundle, block_range
from foldshift.engine.layout.file_names import bundle_of, held_folds, held_scores, label, labels_of
from foldshift.engine.layout.job_layout import MOST_FOLD_BYTES, JobLayout, fold_block, pack, score_block
from foldshift.engine.study.find import find_studies
from foldshift.studies.moreno_torres_2012.ablation.variants import variants_to_cut

BUNDLE = Bundle("own", ("SCV", "DOB-SCV"), {5: 2, 10: 1}, 100)  # 2 x (5 x 2 + 10) = 40 fits and 6 partitions per experiment
CATALOGUE = {
    "small": CatalogueEntry("small", "classification", n_rows=100, n_features=4),
    "large": CatalogueEntry("large", "classification", n_rows=5000, n_features=20),
}
LEARNERS = {
    name: {"tasks": ["classification"], "import": f"foldshift.learners.{name}", "params": {}, "nominal": "codes"}
    for name in ("fast", "slow", "slow@paper", "other")
}
COSTS = CostModel(
    {
        name: [
            {"n_rows": n, "n_features": p, "ms_per_fit": ms * n / 100, "seconds_once": 0.01, "peak_mb": 3}
            for n, p in ((100, 4), (5000, 20), (900, 3))
        ]
        for name, ms in (("fast", 0.1), ("slow", 20), ("slow@paper", 30))
    }
)
CONFIG = {
    "studies": {
        "moreno_torres_2012": {
            "datasets": ["small", "large"],
            "partitioners": ["SCV", "DOB-SCV"],
            "learners": ["fast", "slow"],
            "schemes": ["5x2", "10x1"],
            "n_seeds": 100,
            "n_truth": 200,
            "ablation": {"max_rows": 1000},
        }
    }
}


@pytest.fixture(scope="module")
def schema(root):
    return compose_schema(read_yaml(root / "workflow/schemas/config.schema.yaml", "schema"), find_studies())


def layout(schema, existing=(), recorded=None, entries=LEARNERS, **changes):
    """A layout where some files exist: paths as the layout itself gives them."""
    config = copy.deepcopy(CONFIG)
    for key, value in changes.items():
        settings = config["studies"]["moreno_torres_2012"]
        (settings if key in settings or key in ("learners_per_job", "max_rows", "metric", "configurations") else config)[key] = (
            value
        )
    resolved = resolve(config, schema)

    def found(kind, dataset):
        start = f"{kind}/{dataset}/"
        return [path.removeprefix(start) for path in existing if path.startswith(start)]

    variants = variants_to_cut(resolved["studies"]["moreno_torres_2012"])
    return JobLayout("moreno_torres_2012", resolved, CATALOGUE, entries, COSTS, recorded, found, variants), resolved


def all_files(found):
    """Every file of folds and scores."""
    datasets = ("small", "large")
    return [path for dataset in datasets for path in (*found.folds_files(dataset), *found.score_files(dataset))]


def labels(found, *names):
    return tuple(found.label_of[name] for name in names)


@given(st.floats(1e-7, 100), st.floats(0, 1000), st.floats(1, 3600))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_a_block_is_the_largest_power_of_two_that_keeps_to_the_limit(per_fit, once, limit):
    size = score_block(BUNDLE, [LearnerCost(per_fit, once, 1, True)], limit, 1024)
    taken = 4 * once + 40 * size * per_fit
    assert size & (size - 1) == 0 and 1 <= size <= 1024
    assert size == 1 or taken <= limit
    assert size == 1024 or taken + 40 * size * per_fit > limit


def test_folds_of_a_file_fit_into_memory():
    assert fold_block(BUNDLE, 100) == 1024
    size = fold_block(BUNDLE, 200_000)
    assert size * 200_000 * 6 <= MOST_FOLD_BYTES < 2 * size * 200_000 * 6
    assert fold_block(BUNDLE, 10**9) == 1


def test_learners_are_packed_in_their_order_up_to_the_limit():
    alone = [([name], seconds) for name, seconds in {"a": 1, "b": 2, "c": 3, "d": 9, "e": 1}.items()]
    assert pack(alone, 4) == [["a", "b"], ["c"], ["d"], ["e"]]
    assert pack([(["a", "e"], 3), (["b"], 1), (["c", "d"], 2)], 4) == [["a", "e", "b"], ["c", "d"]]
    assert pack([], 4) == []
    long = ["a" * (MOST_LETTERS // 2), "b" * (MOST_LETTERS // 2)]
    assert pack([([name], 1) for name in long], 4) == [[name] for name in long]  # of which one name would be too long


@pytest.mark.parametrize("minutes", [0.1, 1, 3, 30])
def test_jobs_cover_every_learner_and_experiment_once(minutes, schema):
    found, _ = layout(schema, minutes_per_job=minutes)
    for dataset in ("small", "large"):
        held = [held_scores(path) for path in found.score_files(dataset)]
        covered = [(cell, seed) for file in held for cell in file.cells for seed in range(file.start, file.stop)]
        expected = [
            ((learner, *cell.key), seed)
            for learner in labels(found, *found.learners_of(dataset))
            for cell in found.cells(dataset)
            for seed in range(cell.n_seeds)
        ]
        assert sorted(covered) == sorted(expected)


def test_a_file_of_scores_names_the_file_of_folds_that_it_is_made_with(schema):
    found, _ = layout(schema, minutes_per_job=0.5)
    for dataset in ("small", "large"):
        folds = found.folds_files(dataset)
        for path in found.score_files(dataset):
            bundle, held, *_, block = held_scores(path).name.split("/")
            assert f"folds/{dataset}/{bundle}/{held}.npz" in folds
            (start, n), (first, n_folds) = block_range(block), block_range(held)
            assert first <= start and start + n <= first + n_folds


def test_no_job_takes_longer_than_asked_unless_one_seed_does(schema):
    found, _ = layout(schema, minutes_per_job=3)
    for path in found.score_files("large"):
        bundle, held, part, learners, block = held_scores(path).name.split("/")
        seconds, mb = found.job("large", bundle, held, part, learners, block)
        assert seconds <= 180 or (block_range(block)[1] == 1 and "+" not in learners)
        assert mb > 3


def test_learners_that_share_a_fit_stay_together_and_cost_that_of_the_slower(schema):
    entries = LEARNERS | {"slow@paper": LEARNERS["slow"] | {"params": {"threshold": 1}, "fit": "slow"}}
    wanted = {"configurations": ["paper", "corrected"], "minutes_per_job": 0.1, "learners": ["slow", "fast"]}
    found, _ = layout(schema, entries=entries, **wanted)
    both = set(labels(found, "slow@paper", "slow"))
    for path in found.score_files("large"):
        bundle, held, part, learners, block = held_scores(path).name.split("/")
        assert both.isdisjoint(learners.split("+")) or both <= set(learners.split("+"))
        if both <= set(learners.split("+")):
            alone = [found.job("large", bundle, held, part, one, block)[0] for one in learners.split("+")]
            assert found.job("large", bundle, held, part, "+".join(both), block)[0] == max(alone) > min(alone)


def test_what_is_there_is_kept_and_only_the_rest_is_new(schema):
    files = all_files(layout(schema)[0])
    changes = [
        {"n_seeds": 250},
        {"partitioners": ["SCV", "MS-SCV", "DOB-SCV"]},
        {"learners": ["other", "fast", "slow"]},
        {"schemes": ["2x5", "5x2", "10x1"]},
        {"minutes_per_job": 0.2},
        {"partitioners_per_job": 1},
        {"learners_per_job": 1},
    ]
    for change in changes:
        grown = all_files(layout(schema, files, **change)[0])
        assert set(files) <= set(grown)
        if len(change) == 1 and next(iter(change)).endswith("per_job"):
            assert grown == files
        new = set(grown) - set(files)
        # From nothing there are as many cells and seeds.
        amount = [
            sum(len(file.cells) * (file.stop - file.start) for file in map(held_scores, paths) if paths)
            for paths in (
                [path for path in all_files(layout(schema, **change)[0]) if path.startswith("scores")],
                [path for path in grown if path.startswith("scores")],
            )
        ]
        assert amount[0] == amount[1] and bool(new) == (not next(iter(change)).endswith("per_job"))


def test_files_are_the_same_in_the_middle_of_a_run(schema):
    files = all_files(layout(schema)[0])
    change = {"n_seeds": 250, "learners": ["other", "fast", "slow"], "minutes_per_job": 0.5}
    grown = all_files(layout(schema, files, **change)[0])
    for made in (grown[::2], grown[1::3], grown):
        assert set(all_files(layout(schema, [*files, *made], **change)[0])) == set(grown)


def test_a_changed_parameter_makes_the_rows_of_its_learner_new_and_no_others(schema):
    before, _ = layout(schema, minutes_per_job=60)
    files, recorded = all_files(before), before.record()
    changed = LEARNERS | {"fast": LEARNERS["fast"] | {"params": {"x": 1}}}
    after, _ = layout(schema, files, recorded, changed, minutes_per_job=60)
    new = [path for path in all_files(after) if path not in files]
    assert set(files) <= set(all_files(after)) and new
    assert (
        {cell[0] for path in new for cell in held_scores(path).cells} == set(labels(after, "fast")) != set(labels(before, "fast"))
    )
    # What a kept file holds besides can be made again; where nothing says what it was, the file is not used.
    assert after.learner(before.label_of["fast"]) == before.learner(before.label_of["fast"])
    unknown = all_files(layout(schema, files, None, changed, minutes_per_job=60)[0])
    assert not [path for path in unknown if before.label_of["fast"] in path]
    gone = {"learners": {before.label_of["fast"]: recorded["learners"][before.label_of["fast"]] | {"import": "no_such.Thing"}}}
    assert all_files(layout(schema, files, gone, changed, minutes_per_job=60)[0]) == unknown


def test_labels_of_different_contents_are_never_equal_and_those_of_earlier_runs_stay():
    contents = {f"learner {i}": {"params": {"depth": i}} for i in range(700)}
    settings = [{"params": {"depth": i}} for i in range(700)]  # of one learner, one run after the other
    names = [label("Tree", one) for one in settings]
    assert len(set(names)) < len(names)  # four digits alone are not enough
    assert len(set(labels_of(contents, {}).values())) == len(contents)
    recorded = {}
    for one in settings:
        ours = labels_of({"Tree": one}, recorded)["Tree"]
        assert ours not in recorded
        recorded[ours] = {"name": "Tree"} | one
    assert {len(one.removeprefix("Tree-")) for one in recorded} == {4, 8}
    kept = json.loads(json.dumps(recorded))
    assert [labels_of({"Tree": one}, kept)["Tree"] for one in settings] == list(recorded)


def test_names_that_look_alike_in_the_name_of_a_file_have_labels_of_their_own():
    same = {"params": {}}
    contents = dict.fromkeys(("a b", "a:b", "a_b", "a/b"), same)
    assert len(set(labels_of(contents, {}).values())) == 4
    first, second = "a b", "a:b"
    taken = {label(first, same): {"name": "another", "params": {}}}
    assert labels_of({first: same, second: same}, taken) == {first: label(first, same, 8), second: label(second, same)}


def test_another_title_of_a_learner_is_no_reason_for_a_new_name(schema):
    titled = LEARNERS | {"fast": LEARNERS["fast"] | {"title": "Fast", "tasks": ["classification", "regression"]}}
    assert layout(schema)[0].label_of == layout(schema, entries=titled)[0].label_of


def test_partitioners_have_digits_where_their_id_does_not_say_how_they_cut(schema):
    found, _ = layout(schema)
    assert [found.partitioner_label(name) for name in ("SCV", "DOB-SCV", "truth", "DB-SCV@keel-balanced")] == [
        "SCV",
        "DOB-SCV",
        "truth",
        "DB-SCV@keel-balanced",
    ]
    files = all_files(found)
    other, _ = layout(schema, files, found.record(), metric="euclidean")
    label = other.partitioner_label("DOB-SCV")
    assert label.startswith("DOB-SCV-") and other.partitioner(label)["options"] == {"metric": "euclidean"}
    new = [path for path in all_files(other) if path not in files]
    changed = {cell[-2] for path in new for cell in (held_folds if path.startswith("folds") else held_scores)(path).cells}
    assert label in changed and not changed & {"SCV", "truth"}


def test_readers_are_told_what_is_wanted_of_files_that_hold_more(schema):
    before, _ = layout(schema)
    found, _ = layout(schema, all_files(before), before.record(), partitioners=["SCV"], learners=["slow"], n_seeds=30, n_truth=30)
    wanted = found.wanted_scores("large")
    assert list(wanted["learners"].values()) == ["slow@paper", "slow"] and set(wanted["seeds"].values()) == {30}
    assert set(wanted["partitioners"].values()) == {"SCV", "truth"}
    assert found.wanted_folds("large", lambda cell: cell.partitioner == "SCV", 9)["seeds"] == {"SCV_5x2": 9, "SCV_10x1": 9}
    assert set(all_files(found)) <= set(all_files(before))


def test_names_of_files_stay_short(schema):
    many = {f"a learner with a name of its own {i}": LEARNERS["fast"] for i in range(40)}
    schemes = [f"{k}x5" for k in range(2, 60)]
    few = {"n_seeds": 3, "n_truth": 3, "schemes": schemes}
    found, _ = layout(schema, entries=many, learners=list(many), partitioners_per_job=9, **few)
    parts = [part for path in all_files(found) for part in path.split("/")]
    assert max(map(len, parts)) < 200
    cells = {cell for path in found.folds_files("large") for cell in held_folds(path).cells}
    assert len(cells) == 3 * 58 and all(len(bundle_of(path.split("/")[2])[1]) < 58 for path in found.folds_files("large"))


def test_numbers_that_are_given_win_over_the_cost_model(schema):
    found, _ = layout(schema, seeds_per_block=7, learners_per_job=2)
    assert [held_folds(path).name for path in found.folds_files("large", lambda cell: cell.kind == "truth")][:2] == [
        "truth_5x2+10x1/0-6",
        "truth_5x2+10x1/7-13",
    ]
    groups = {held_scores(path).name.split("/")[3] for path in found.score_files("large")}
    assert groups == {"+".join(labels(found, "fast", "slow@paper")), *labels(found, "slow")}


def test_large_data_sets_go_without_variants_and_without_learners_that_are_held_back(schema):
    found, _ = layout(schema, max_rows={"slow": 1000})
    kinds = {dataset: {cell.kind for cell in found.cells(dataset)} for dataset in ("small", "large")}
    assert "variant" in kinds["small"] and "variant" not in kinds["large"]
    assert found.learners_of("large") == ["fast"] and len(found.learners_of("small")) == 3


def test_learners_without_measurements_are_told(schema):
    assert layout(schema)[0].unmeasured() == [] and layout(schema, learners=["other", "fast"])[0].unmeasured() == ["other"]


@pytest.mark.parametrize(
    ("lines", "expected"), [("a,b,c\n" + "1,2,3\n" * 400, (401, 2)), ("1 2\n" * 90, (90, 1)), ("x\n", ASSUMED)]
)
def test_a_local_file_tells_its_size_before_it_is_read(lines, expected, tmp_path):
    file = tmp_path / "mine.csv"
    file.write_text(lines)
    assert shape_of(CatalogueEntry("mine", "regression", sources=(f"file:{file}",))) == expected


def test_a_large_local_file_is_estimated_from_its_beginning(tmp_path):
    file = tmp_path / "mine.csv"
    file.write_text("0.1,0.2,0.3,4\n" * 200_000)
    rows, columns = shape_of(CatalogueEntry("mine", "regression", sources=(f"file:{file}",)))
    assert columns == 3 and rows == pytest.approx(200_000, rel=0.01)


def test_the_catalogue_knows_better_than_the_file():
    assert shape_of(CATALOGUE["small"]) == (100, 4) and shape_of(CatalogueEntry("x", "regression")) == ASSUMED


def united(schema, n, least, alone=(), recorded=()):
    """A layout of many small data sets and a large one, which share jobs from `least` small ones on."""
    names = [f"tiny{i}" for i in range(n)]
    CATALOGUE.update({name: CatalogueEntry(name, "classification", n_rows=60, n_features=3) for name in names})
    found, _ = layout(schema, datasets=["large", *names], learners=["fast"], n_seeds=2, n_truth=2)
    found.unite(least, recorded, alone)
    return found, names


def test_many_small_data_sets_share_the_names_of_files_and_large_ones_do_not(schema):
    found, names = united(schema, 40, least=40)
    assert found.units.of("large") == "large" and {found.units.of(name) for name in names} == set(found.units.members)
    unit = found.units.of("tiny3")
    for files in (found.folds_files, found.score_files, found.prediction_files):
        assert files("tiny3") == [path.replace(f"/{unit}/", "/tiny3/") for path in files(unit)]
    assert found.shape(unit) == (60 * len(found.units.names(unit)), 3)
    seconds = sum(found.cost("fast", name).seconds_per_fit for name in found.units.names(unit))
    assert found.cost("fast", unit).seconds_per_fit == pytest.approx(seconds)


def test_few_data_sets_and_those_with_files_of_their_own_stay_alone(schema):
    for least in (41, None):
        assert united(schema, 40, least)[0].units.members == {}
    found, _ = united(schema, 40, least=20, alone={"tiny0", "tiny7"})
    assert found.units.of("tiny0") == "tiny0" and found.units.of("tiny7") == "tiny7" and found.units.of("tiny1") != "tiny1"
    before = found.units.members
    more, _ = united(schema, 44, least=1000, alone={"tiny0", "tiny7"}, recorded=[before])
    assert more.units.members.items() > before.items() and more.units.of("tiny43") not in before
