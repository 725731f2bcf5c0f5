"""Structure is found where it is, with its source; what was declared is taken as it is, or refused by name."""

import numpy as np
import pandas as pd
import pytest

from foldshift.advice import rows_kept_together
from foldshift.advice.data import as_data, with_row_names
from foldshift.advice.structure.find import find_structure
from foldshift.advice.structure.record import Declared, Sentinel
from foldshift.core.seeding import generator
from foldshift.datasets.readers.arff import read_keel
from held_out_structures import DEVELOPMENT, development, development_clean, real

KINDS = {"groups": "groups", "times": "time", "coordinates": "space"}


def found_in(structure):
    found = {name for kind, name in KINDS.items() if getattr(structure, kind) is not None}
    copies = structure.copies
    found |= {"copies"} if copies is not None and copies.n_exact + copies.n_near > max(4, 0.01 * structure.n) else set()
    found |= {"leak"} if structure.leaks or structure.leaks_by_gaps or structure.formula else set()
    return found | ({"rare"} if structure.rare else set()) | ({"sentinel"} if structure.sentinels else set())


def structure_of(X, y, **declared):
    return find_structure(as_data(X, y), Declared(**declared))


def plain(n=200, p=4, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, p)), columns=[f"input {j}" for j in range(p)])
    return X, X.to_numpy() @ rng.normal(size=p) + rng.normal(size=n), rng


def test_structure_is_found_in_the_tables_for_development_and_nothing_in_clean_ones():
    tables = [*development(), *development_clean()][::2]
    wrong = {}
    for table in tables:
        found = found_in(find_structure(as_data(table.X, table.y, task=table.task)))
        if found != set(table.structure):
            wrong[table.name] = (table.structure, found)
    assert len(wrong) <= 0.03 * len(tables), wrong
    assert not any(expected == () for expected, _ in wrong.values()), wrong


@pytest.mark.parametrize("name", ["00", "10", "14"])
def test_groups_that_are_found_are_the_groups(name):
    table = next(one for one in development() if one.name.startswith(name))
    found = find_structure(as_data(table.X, table.y, task=table.task)).groups.values
    assert len(set(zip(found, table.codes))) == len(set(found)) == len(set(table.codes))


def test_a_source_names_the_columns():
    X, y, _rng = plain()
    X["site"] = [f"S{code:02d}" for code in np.repeat(np.arange(20), 10)]
    assert structure_of(X, y).groups.source == "found: column 'site'"
    assert structure_of(X, y).groups.code == "G2"
    assert structure_of(X, y, groups=X.site).groups.source == "declared"


def test_nothing_is_looked_for_in_the_place_of_what_was_declared():
    X, y, _rng = plain()
    X["site"] = np.repeat(np.arange(20), 10)
    structure = structure_of(X, y, times=np.arange(len(X)))
    assert structure.groups is None and structure.times.is_declared


DECLARED = {
    "groups, short": ({"groups": [1, 2]}, r"groups have shape \(2,\)"),
    "groups, one": ({"groups": ["a"] * 200}, "groups is 'a' in every row"),
    "groups, missing": ({"groups": [None, *range(199)]}, "groups contain NaN: 1 of 200"),
    "subsets, one": ({"subsets": [3] * 200}, "subsets is 3 in every row"),
    "times, one": ({"times": np.zeros(200)}, "times are 0.0 in every row"),
    "times, text": ({"times": ["2021-01-01"] * 200}, "times hold .*to_datetime"),
    "times, missing": ({"times": [np.nan, *range(199)]}, "times contain NaN"),
    "coordinates, one column": ({"coordinates": np.zeros(200)}, "coordinates have shape"),
    "coordinates, one place": ({"coordinates": np.ones((200, 2))}, "coordinates are .* in every row"),
    "coordinates, infinite": ({"coordinates": np.full((200, 2), np.inf)}, "coordinates contain infinity"),
}


@pytest.mark.parametrize("name", DECLARED)
def test_what_cannot_be_a_declaration_is_refused_by_name(name):
    declared, message = DECLARED[name]
    X, y, _ = plain()
    with pytest.raises(ValueError, match=message):
        structure_of(X, y, **declared)


def test_dates_may_be_declared_in_any_form():
    X, y, _ = plain()
    dates = pd.Series(pd.date_range("2020-01-01", periods=200))
    for times in (dates, dates.to_numpy(), dates.dt.date, dates.dt.tz_localize("Europe/Madrid")):
        assert structure_of(X, y, times=times).times.values.dtype.kind == "M"


# Copies


@pytest.mark.parametrize("jitter", [0, 1e-6, 1e-3, 0.03])
@pytest.mark.parametrize("share", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_copies_are_found_with_errors_of_any_size_in_any_share_of_rows(jitter, share, task):
    X, y, rng = plain(300)
    y = y if task == "regression" else np.where(y > 0, "yes", "no")
    again = rng.permutation(300)[: int(share * 300)]
    more = X.iloc[again] + jitter * rng.normal(size=(len(again), X.shape[1]))
    together = rows_kept_together(pd.concat([X, more], ignore_index=True), np.concatenate([y, y[again]]))
    right = together[300:] == together[again]
    assert right.mean() >= (0.95 if jitter <= 1e-3 or task == "regression" else 0.8)


def test_a_row_with_several_copies_is_found():
    X, y, rng = plain(300)
    again = np.tile(rng.permutation(300)[:15], 3)
    more = X.iloc[again] + 1e-3 * rng.normal(size=(45, 4))
    together = rows_kept_together(pd.concat([X, more], ignore_index=True), np.concatenate([y, y[again]]))
    assert (together[300:] == together[again]).all()


def test_the_search_says_what_it_would_have_found():
    X, y, _ = plain(500, p=6)
    copies = structure_of(X, y).copies
    assert not copies.any and copies.jitter >= 0.03 and copies.share == 0.05
    assert structure_of(X.iloc[:30, :2], y[:30]).copies.jitter < 0.03


def test_copies_that_the_search_says_it_would_find_are_found():
    for seed in range(5):
        X, y, rng = plain(400, p=3, seed=seed)
        y = np.where(y > 0, "yes", "no")
        promised = structure_of(X, y).copies
        again = rng.permutation(400)[: int(promised.share * 400)]
        more = X.iloc[again] + promised.jitter * rng.normal(size=(len(again), 3))
        assert structure_of(pd.concat([X, more], ignore_index=True), np.concatenate([y, y[again]])).copies.n_near


@pytest.mark.parametrize("share", [0.05, 1.0])
def test_copies_with_errors_of_rows_of_few_whole_numbers_are_found(share):
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.integers(4, size=(400, 4)).astype(float), columns=list("abcd"))
    y = np.where(X.a + rng.normal(size=400) > 2, "yes", "no")
    again = rng.permutation(400)[: int(share * 400)]
    more = X.iloc[again] + 1e-4 * rng.normal(size=(len(again), 4))
    together = rows_kept_together(pd.concat([X, more], ignore_index=True), np.concatenate([y, y[again]]))
    assert (together[400:] == together[again]).all()
    few = X.assign(a=X.a.where(np.arange(400) > 20, X.a + 1e-4 * rng.normal(size=400)))
    assert not structure_of(few, y).copies.any


def test_near_rows_that_are_no_copies_are_none():
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 10, 500)
    curve = pd.DataFrame({"a": np.cos(t), "b": np.sin(t), "c": t}) + 1e-3 * rng.normal(size=(500, 3))
    assert not structure_of(curve, rng.normal(size=500)).copies.any
    table = pd.DataFrame(rng.integers(5, size=(500, 3)), columns=list("abc"))
    assert not structure_of(table, rng.normal(size=500)).copies.any


def test_copies_in_a_table_of_which_not_all_rows_are_looked_at():
    X, y, rng = plain(6000, p=8)
    again = rng.permutation(6000)[:600]
    together = rows_kept_together(
        pd.concat([X, X.iloc[again] + 1e-4 * rng.normal(size=(600, 8))], ignore_index=True), np.concatenate([y, y[again]])
    )
    assert (together[6000:] == together[again]).mean() >= 0.9


# Order, places, leaks, values


def test_rows_sorted_by_the_target_or_by_group_do_not_look_like_time():
    X, y, rng = plain(300)
    order = np.argsort(y)
    assert structure_of(X.iloc[order], y[order]).times is None
    sites = np.repeat(np.arange(30), 10)
    shifted = y + 3 * rng.normal(size=30)[sites]
    assert structure_of(X, shifted, groups=sites).times is None


def test_a_column_of_hours_is_not_an_order():
    X, y, rng = plain(400)
    X["hour"] = rng.integers(24, size=400)
    assert structure_of(X, y + X.hour.to_numpy()).times is None


def test_a_date_column_with_gaps_gives_no_order():
    X, y, rng = plain(300)
    X["date"] = pd.Series(pd.date_range("2020-01-01", periods=300)).mask(rng.random(300) < 0.1)
    assert structure_of(X, y).times is None


def test_columns_computed_from_each_other_are_no_persons():
    X, y, rng = plain(400)
    X["age"] = rng.integers(20, 80, 400)
    X = X.assign(decade=X.age // 10, squared=X.age**2, log=np.log(X.age))
    assert structure_of(X, y).groups is None


def test_coordinates_without_a_field_are_no_space():
    X, y, rng = plain(400)
    X["lat"], X["lon"] = rng.uniform(40, 45, 400), rng.uniform(0, 5, 400)
    assert structure_of(X, y).coordinates is None
    alike = y + 3 * np.sin(3 * X.lat) * np.cos(3 * X.lon)
    assert structure_of(X, alike).coordinates.columns == ("lat", "lon")


@pytest.mark.parametrize(
    "name", ["P{:03d}_{}", "img_{:03d}_crop{}.png", "S{}-visit{}", "sub-{:02d}_ses-1_run-{}", "m{} {}", "10.0.{}.{}"]
)
def test_names_that_begin_alike_make_groups_where_their_rows_are_alike(name):
    rng = np.random.default_rng(3)
    persons = np.repeat(np.arange(40), 5)
    order = rng.permutation(200)
    names = np.array([name.format(person, i % 5) for i, person in enumerate(persons)])[order]
    X, y = pd.DataFrame({"x": rng.normal(size=200)}), (rng.normal(size=40)[persons] + 0.2 * rng.normal(size=200))[order]
    groups = structure_of(X.assign(file=names), y).groups
    assert groups.columns == ("file",) and names[0].startswith(groups.beginning) and groups.code == "G2"
    assert len({(a, b) for a, b in zip(groups.values, persons[order])}) == 40
    assert structure_of(X.assign(file=names), rng.normal(size=200)).groups is None
    apart = find_structure(with_row_names(as_data(X, y), names)).groups
    assert (apart.values == groups.values).all() and apart.is_of_row_names
    assert (rows_kept_together(X, y, row_names=names) == rows_kept_together(X.assign(file=names), y)).all()


@pytest.mark.parametrize("name", ["row_{}", "img_{:04d}.png", "{}", "r{}"])
def test_names_that_share_nothing_but_a_word_make_no_groups(name):
    rng = np.random.default_rng(4)
    X = pd.DataFrame({"x": rng.normal(size=200), "file": [name.format(i) for i in range(200)]})
    assert structure_of(X, np.cumsum(rng.normal(size=200))).groups is None


def test_leaks_by_value_and_by_gap():
    X, y, rng = plain(300)
    X["late"] = -2 * y + 0.01 * rng.normal(size=300)
    X["follow up"] = np.where(y > np.median(y), rng.normal(size=300), np.nan)
    structure = structure_of(X, y)
    assert (structure.leaks, structure.leaks_by_gaps) == (("late",), ("follow up",))


@pytest.mark.parametrize(
    ("make", "found"),
    [
        (lambda X: X.net + X.tax, ("net", "tax")),
        (lambda X: (X.net + X.tax).round(2), ("net", "tax")),
        (lambda X: X.net * X.tax**2, ("net", "tax")),
        (lambda X: X.net / X.tax, ("net", "tax")),
        (lambda X: X.sum(axis=1), ("net", "tax", "a", "b")),
        (lambda X: X.net + X.tax + 0.1 * np.sin(9 * X.a), ()),
        (lambda X: np.sin(X.a) + X.tax, ()),
    ],
    ids=["sum", "rounded sum", "product", "ratio", "sum of all", "noise", "no formula"],
)
def test_columns_whose_sum_or_product_is_the_target_are_leaks(make, found):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"net": rng.gamma(2, 10, 150), "tax": rng.gamma(2, 4, 150), "a": rng.normal(size=150)})
    X["b"] = rng.normal(size=150)
    y = make(X)
    assert structure_of(X, y).formula == found and structure_of(X, y).leaks == ()
    assert structure_of(X.mask(rng.random(X.shape) < 0.05), y).formula == found


def test_a_column_that_marks_a_class_and_is_named_after_it_is_a_leak():
    X, _, rng = plain(120)
    y = pd.Series(rng.choice(["low", "middle", "high"], 120), name="risk")
    X["isHigh"], X["risk_low"], X["fur"] = (y == "high") * 1, np.where(y == "low", "no", "yes"), (y == "middle") * 1
    assert structure_of(X, y).leaks == ("isHigh", "risk_low")
    X.loc[y.index[y == "low"][0], "risk_low"] = "yes"
    assert structure_of(X, y).leaks == ("isHigh",)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_prediction_of_the_target_is_a_leak_though_it_is_often_wrong(task):
    rng = np.random.default_rng(1)
    x, noise = rng.normal(size=200), rng.normal(size=200)
    y = x + noise
    near = y + 0.4 * rng.normal(size=200)
    if task == "classification":
        y, near = (np.where(y > 0, "yes", "no"), np.where((y > 0) ^ (rng.random(200) < 0.15), "yes", "no"))
    for name, leaks in (("predicted y", ("predicted y",)), ("yHat", ("yHat",)), ("measured", ())):
        assert structure_of(pd.DataFrame({"x": x, name: near}), y).leaks == leaks
    assert structure_of(pd.DataFrame({"x": x, "pred_of_rain": rng.normal(size=200)}), y).leaks == ()


def test_few_rows_of_a_rare_class_do_not_make_a_leak():
    X, _, rng = plain(200)
    y = np.where(np.arange(200) < 5, "rare", "usual")
    X["mark"] = np.where(y == "rare", 4.0, 0.0) + rng.normal(size=200)
    structure = structure_of(X, y)
    assert structure.leaks == () and structure.rare == (("rare", 5),)


SENTINELS = {
    "far below": (lambda v: np.where(np.arange(200) < 9, -999.0, v), -999.0),
    "zero among large": (lambda v: np.where(np.arange(200) < 9, 0.0, 50 + 5 * v), 0.0),
    "few values": (lambda v: np.where(np.arange(200) < 9, 99.0, (v > 0).astype(float)), 99.0),
    "in their midst": (lambda v: np.where(np.arange(200) < 9, 99.0, 100 + 50 * v), 99.0),
}


@pytest.mark.parametrize("name", SENTINELS)
def test_numbers_that_stand_for_missing_values_are_found(name):
    make, value = SENTINELS[name]
    X, y, rng = plain()
    X["dose"] = make(rng.normal(size=200))
    assert structure_of(X, y).sentinels == (Sentinel("dose", value, 9),)


@pytest.mark.parametrize(
    "make", [lambda rng: rng.poisson(2, 200), lambda rng: rng.integers(0, 100, 200), lambda rng: rng.integers(2, size=200),
             lambda rng: np.where(rng.random(200) < 0.6, 0, rng.exponential(size=200)), lambda rng: rng.choice([-1, 1], 200)],
)  # fmt: skip
def test_usual_numbers_stand_for_no_missing_value(make):
    X, y, rng = plain()
    X["dose"] = make(rng).astype(float)
    assert structure_of(X, y).sentinels == ()


def test_wide_and_sparse_tables_are_said_not_to_be_looked_at():
    from scipy.sparse import csr_matrix

    X, y, _ = plain(60)
    structure = find_structure(as_data(csr_matrix(X.to_numpy()), y))
    assert structure.copies is None and structure.groups is None
    wide = np.random.default_rng(0).normal(size=(40, 2100))
    assert find_structure(as_data(wide, y[:40])).copies is None


@pytest.mark.parametrize("seed", [200, 205])
def test_copies_with_errors_of_most_rows_are_not_taken_for_persons(seed):
    name = "57 real digits jitter"
    table = real(name, DEVELOPMENT, generator(seed, name), "digits", "jitter")
    structure = find_structure(as_data(table.X, table.y, task=table.task))
    assert structure.groups is None and structure.copies.n_near > 0.8 * len(table.X)


def test_a_column_that_gives_classes_away_in_nearly_every_row_is_found():
    X, y, rng = plain(600)
    y = y > 0
    X["late"] = 5 * np.where(rng.random(600) < 0.005, ~y, y) + rng.random(600)
    assert structure_of(X, np.where(y, "yes", "no")).leaks == ("late",)


def voters(rng, n=300, p=16):
    """Votes of two parties: many are alike, and none is a copy."""
    party = rng.integers(0, 2, n)
    return (rng.random((n, p)) < np.where(party[:, None], 0.9, 0.1)).astype(float), party


def marks(rng, n=400, p=8):
    """Marks from 1 to 5 that a single ability decides."""
    ability = rng.normal(size=(n, 1))
    return np.clip(np.round(3 + ability + 0.7 * rng.normal(size=(n, p))), 1, 5), ability[:, 0]


@pytest.mark.parametrize("make", [voters, marks])
def test_rows_of_few_values_are_alike_by_chance_where_columns_go_together(make):
    found = 0
    for seed in range(10):
        X, y = make(np.random.default_rng(seed))
        assert (np.unique(X, axis=0, return_counts=True)[1] > 1).sum() > 5
        found += find_structure(as_data(X, y + 0.1)).copies.n_exact > 0
    assert found <= 1


def test_copies_of_rows_of_few_values_are_found_beyond_those_by_chance():
    X, y = marks(np.random.default_rng(0))
    assert find_structure(as_data(np.vstack([X, X[:100]]), np.r_[y, y[:100]])).copies.n_exact >= 200


def test_rows_with_the_same_categories_are_no_near_copies():
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.choice(["a", "b", "c", "d"], size=(500, 10), p=[0.7, 0.15, 0.1, 0.05]))
    wide = wide.set_axis([f"kind {j}" for j in range(10)], axis=1).assign(sum=rng.lognormal(7, 1, 500).round())
    assert find_structure(as_data(wide, rng.integers(0, 2, 500))).copies.n_near <= 4
    doubled = pd.concat([wide, wide[:50].assign(sum=wide["sum"][:50] + 1)], ignore_index=True)
    assert find_structure(as_data(doubled, rng.integers(0, 2, 550))).copies.n_near >= 80


def test_values_at_the_end_of_a_scale_name_no_persons():
    rng = np.random.default_rng(0)
    good = rng.random(350) < 0.6
    pulses = np.clip(np.where(good[:, None], 1.2, 0.0) + 0.5 * rng.normal(size=(350, 6)) * (1 + ~good[:, None]), -1, 1)
    assert find_structure(as_data(pulses, good.astype(int))).groups is None


def test_a_category_among_others_that_tell_more_names_no_persons():
    rng = np.random.default_rng(0)
    species = rng.integers(0, 23, 2000)
    parts = {f"part {j}": rng.integers(0, k, 23)[species] for j, k in enumerate([9, 7, 6, 5, 4, 10, 3, 6, 8, 4])}
    blurred = {name: np.where(rng.random(2000) < 0.3, rng.permutation(values), values) for name, values in parts.items()}
    table = pd.DataFrame(blurred).astype(str)
    table["part 0"] = np.where(rng.random(2000) < 0.6, rng.permutation(table["part 0"]), table["part 0"])
    groups = find_structure(as_data(table, (species % 2).astype(int))).groups
    assert groups is None or groups.columns != ("part 0",)


def test_the_order_of_a_full_design_is_no_time():
    design = np.array(np.meshgrid(range(3), range(3), range(2), range(3), range(4), range(2), indexing="ij")).reshape(6, -1).T
    y = design[:, 1] + 0.3 * np.random.default_rng(0).normal(size=len(design))
    assert find_structure(as_data(design, y)).times is None
    half = design[::2]
    assert find_structure(as_data(half[:-1], y[::2][:-1])).times is not None


def test_columns_that_are_mostly_zero_are_no_places():
    rng = np.random.default_rng(0)
    length = rng.lognormal(size=800)
    words = {f"word {j}": np.where(rng.random(800) < 0.6, 0, length * rng.random(800)).round(3) for j in range(5)}
    assert find_structure(as_data(pd.DataFrame(words).assign(length=length), length + rng.normal(size=800))).coordinates is None


@pytest.mark.parametrize(("name", "copies", "groups"), [
    ("classification/housevotes", False, False), ("classification/wisconsin", False, False), ("classification/bupa", True, False),
    ("classification/mushroom", False, False), ("classification/ionosphere", True, False), ("regression/machineCPU", True, False),
])  # fmt: skip
def test_what_is_known_of_tables_of_other_hosts_is_found_and_nothing_else(shared, name, copies, groups):
    raw = read_keel((shared / "data" / "keel" / f"{name}.dat").read_text(encoding="utf-8"))
    data = as_data(raw.frame[raw.features], raw.frame[raw.target])
    found = find_structure(data)
    assert ((found.copies.n_exact > 0), found.groups is not None) == (copies, groups)
