import copy

import pytest
from foldshift.planning.jobs import study_jobs
from hypothesis import given, settings
from hypothesis import strategies as st

from foldshift.datasets.entry import CatalogueEntry
from foldshift.planning.blocks import Bundle, block_range
from foldshift.planning.config import compose_schema, read_yaml, resolve
from foldshift.planning.costs import Cost, CostModel
from foldshift.planning.layout import MOST_FOLD_BYTES, Layout, fold_block, pack, score_block
from foldshift.planning.plan import duration, plan_text, remaining, simulate
from foldshift.planning.shapes import ASSUMED, shape_of

BUNDLE = Bundle(("SCV", "DOB-SCV"), {5: 2, 10: 1}, 100)  # 2 x (5 x 2 + 10) = 40 fits and 6 partitions per experiment
CATALOGUE = {
    "small": CatalogueEntry("small", "classification", n_rows=100, n_features=4),
    "large": CatalogueEntry("large", "classification", n_rows=5000, n_features=20),
}
LEARNERS = {
    name: {"tasks": ["classification"], "import": f"foldshift.learners.{name}"}
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


def layout(schema, **changes):
    config = copy.deepcopy(CONFIG)
    for key, value in changes.items():
        (config["studies"]["moreno_torres_2012"] if key in ("n_seeds", "learners", "learners_per_job", "max_rows") else config)[
            key
        ] = value
    resolved = resolve(config, schema)
    return Layout("moreno_torres_2012", resolved, CATALOGUE, LEARNERS, COSTS), resolved


@given(st.floats(1e-7, 100), st.floats(0, 1000), st.floats(1, 3600))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_a_block_is_the_largest_power_of_two_that_keeps_to_the_limit(per_fit, once, limit):
    size = score_block(BUNDLE, [Cost(per_fit, once, 1, True)], limit, 1024)
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
    assert pack({"a": 1, "b": 2, "c": 3, "d": 9, "e": 1}, 4) == {"a+b": ["a", "b"], "c": ["c"], "d": ["d"], "e": ["e"]}
    assert pack({}, 4) == {}


@pytest.mark.parametrize("minutes", [0.1, 1, 3, 30])
def test_jobs_cover_every_learner_and_experiment_once(minutes, schema):
    found, _ = layout(schema, minutes_per_job=minutes)
    for dataset in ("small", "large"):
        for cuts in found.cuts(dataset):
            covered = [
                (name, seed)
                for group in found.groups(dataset, cuts).values()
                for block in found.score_blocks(dataset, cuts)
                for name in group
                for seed in range(block_range(block)[0], sum(block_range(block)))
            ]
            assert sorted(covered) == sorted(
                (name, seed) for name in found.learners_of(dataset) for seed in range(found.bundles[cuts].n_seeds)
            )


def test_a_block_of_scores_lies_in_one_block_of_folds(schema):
    found, _ = layout(schema, minutes_per_job=0.5)
    for dataset in ("small", "large"):
        for cuts in found.cuts(dataset):
            for block in found.score_blocks(dataset, cuts):
                (start, n), (first, n_folds) = block_range(block), block_range(found.fold_block_of(dataset, cuts, block))
                assert first <= start and start + n <= first + n_folds


def test_no_job_takes_longer_than_asked_unless_one_seed_does(schema):
    found, _ = layout(schema, minutes_per_job=3)
    for cuts in found.cuts("large"):
        for group in found.groups("large", cuts).values():
            for block in found.score_blocks("large", cuts):
                seconds, mb = found.job("large", cuts, group, block)
                assert seconds <= 180 or (block_range(block)[1] == 1 and len(group) == 1)
                assert mb > 3


def test_more_experiments_leave_the_full_blocks_of_fewer_as_they_are(schema):
    few, many = layout(schema)[0], layout(schema, n_seeds=100000)[0]
    for dataset in ("small", "large"):
        full = few.score_blocks(dataset, "SCV+DOB-SCV")[:-1]
        assert full == many.score_blocks(dataset, "SCV+DOB-SCV")[: len(full)]


def test_numbers_that_are_given_win_over_the_cost_model(schema):
    found, _ = layout(schema, seeds_per_block=7, learners_per_job=2)
    assert found.score_blocks("large", "truth")[:2] == ["0-6", "7-13"] == found.fold_blocks("large", "truth")[:2]
    assert list(found.groups("large", "truth")) == ["fast+slow@paper", "slow"]


def test_large_data_sets_go_without_the_ablation_and_without_learners_that_are_held_back(schema):
    found, _ = layout(schema, max_rows={"slow": 1000})
    assert "ablation1" in found.cuts("small") and "ablation1" not in found.cuts("large")
    assert found.learners_of("large") == ["fast"] and len(found.learners_of("small")) == 3


def test_learners_without_measurements_are_told(schema):
    assert layout(schema)[0].unmeasured() == [] and layout(schema, learners=["other", "fast"])[0].unmeasured() == ["other"]


def test_jobs_of_a_study_stand_after_those_they_need_and_every_score_job_is_there(schema):
    found, resolved = layout(schema)
    jobs = study_jobs("moreno_torres_2012", resolved, found, LEARNERS, CATALOGUE).jobs
    assert all(need < i for i, job in enumerate(jobs) for need in job.needs)
    assert len({job.output for job in jobs}) == len(jobs)
    expected = sum(len(found.groups(d, c)) * len(found.score_blocks(d, c)) for d in ("small", "large") for c in found.cuts(d))
    assert sum(job.rule == "classify" for job in jobs) == expected
    again = study_jobs("moreno_torres_2012", resolved, found, LEARNERS, CATALOGUE, None).jobs
    assert again == jobs


class FakeJob:
    def __init__(self, seconds, needs=()):
        self.seconds, self.needs = seconds, needs


def test_the_time_on_some_cores_is_that_of_the_longest_chain_or_of_all_work():
    jobs = [FakeJob(10), FakeJob(10), FakeJob(10), FakeJob(5, (0, 1, 2))]
    assert simulate(jobs, 1) == pytest.approx(35, abs=0.1)
    assert simulate(jobs, 2) == pytest.approx(25, abs=0.1)
    assert simulate(jobs, 100) == pytest.approx(15, abs=0.1)
    assert simulate([], 4) == 0


def test_jobs_that_are_done_are_left_out_of_the_time_and_of_the_needs(schema):
    found, resolved = layout(schema)
    jobs = study_jobs("moreno_torres_2012", resolved, found, LEARNERS, CATALOGUE).jobs
    left = remaining(jobs, [job.rule in ("fetch_dataset", "prepare_dataset") for job in jobs])
    assert {job.rule for job in jobs} - {job.rule for job in left} == {"fetch_dataset", "prepare_dataset"}
    assert all(need < i for i, job in enumerate(left) for need in job.needs)
    assert remaining(jobs, [False] * len(jobs)) == jobs


def test_the_plan_says_jobs_core_hours_longest_memory_disk_and_times(schema):
    found, resolved = layout(schema)
    jobs = study_jobs("moreno_torres_2012", resolved, found, LEARNERS, CATALOGUE).jobs
    text = plan_text(jobs, [False] * len(jobs), ["mine"], 3)
    total = next(line for line in text.splitlines() if line.startswith("all "))
    assert f"{len(jobs):,}" in total and f"{sum(job.seconds for job in jobs) / 3600:.2f}" in total
    assert "3 cores" in text and "mine" in text and "Nothing was started" in text


def test_times_are_readable():
    assert [duration(s) for s in (0, 45, 720, 12240)] == ["0 s", "45 s", "12 min", "3.4 h"]


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
