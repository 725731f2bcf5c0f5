"""Which files are kept, and what is made beside them."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldshift.engine.layout import reuse as kept
from foldshift.engine.layout.file_names import HeldSeeds

CELLS = [(learner, partitioner, scheme) for learner in "abc" for partitioner in ("CV", "DOB") for scheme in ("2x5", "5x2")]
often = settings(max_examples=300, deadline=None, derandomize=True)


@st.composite
def files(draw):
    """Any files: they overlap, hold what nobody wants, and reach beyond what is wanted."""
    found = []
    for number in range(draw(st.integers(0, 6))):
        axes = [
            draw(st.lists(st.sampled_from(values), min_size=1, unique=True))
            for values in (["a", "b", "c", "old"], ["CV", "DOB"], ["2x5", "5x2"])
        ]
        start = draw(st.integers(0, 20))
        cells = tuple((a, b, c) for a in axes[0] for b in axes[1] for c in axes[2])
        found.append(HeldSeeds(f"file {draw(st.integers(0, 99))} {number}", cells, start, start + draw(st.integers(1, 15))))
    return found


wanted_cells = st.dictionaries(st.sampled_from(CELLS), st.integers(1, 25), min_size=1)


def plan(existing, wanted, size):
    """Files that are kept, and new ones."""
    chosen = kept.choose(existing, wanted)
    held = kept.covered(chosen, wanted)
    new = []
    for start, stop in kept.tiles(0, max(wanted.values()), size):
        for axes, first, last in kept.missing([cell for cell in CELLS if cell in wanted], wanted, held, start, stop):
            cells = tuple((a, b, c) for a in axes[0] for b in axes[1] for c in axes[2])
            new.append(HeldSeeds("_".join("+".join(axis) for axis in axes) + f"/{first}-{last - 1}", cells, first, last))
    return chosen, new


@given(files(), wanted_cells, st.integers(1, 30))
@often
def test_every_wanted_seed_of_a_cell_is_held_exactly_once(existing, wanted, size):
    chosen, new = plan(existing, wanted, size)
    times = {}
    for file in (*chosen, *new):
        for cell in file.cells:
            for seed in range(file.start, min(file.stop, wanted.get(cell, 0))):
                times[cell, seed] = times.get((cell, seed), 0) + 1
    assert times == {(cell, seed): 1 for cell, n_seeds in wanted.items() for seed in range(n_seeds)}
    assert set(chosen) <= set(existing)
    # Of the new ones nothing is surplus, and none is larger than asked.
    assert all(file.stop <= wanted.get(cell, 0) for file in new for cell in file.cells)
    assert all(file.stop - file.start <= size for file in new)


@given(files(), wanted_cells, st.integers(1, 30), st.data())
@often
def test_the_choice_is_the_same_when_some_of_the_new_files_are_made(existing, wanted, size, data):
    chosen, new = plan(existing, wanted, size)
    made = data.draw(st.lists(st.sampled_from(new), unique=True) if new else st.just([]))
    then, rest = plan([*existing, *made], wanted, size)
    assert set(then) == {*chosen, *made}
    assert set(rest) == set(new) - set(made) and len(rest) == len(new) - len(made)


@given(files(), wanted_cells, st.integers(1, 30), st.integers(1, 30))
@often
def test_when_all_is_made_the_size_of_jobs_and_the_order_of_files_change_nothing(existing, wanted, size, other):
    chosen, new = plan(existing, wanted, size)
    assert plan([*new, *reversed(existing)], wanted, other) == (sorted([*chosen, *new]), [])


@given(wanted_cells, st.integers(1, 30), st.integers(1, 30))
@often
def test_more_seeds_and_cells_keep_every_file_of_the_fewer(wanted, size, other):
    _, new = plan([], wanted, size)
    chosen, _ = plan(new, {cell: 2 * wanted.get(cell, 3) for cell in CELLS}, other)
    assert chosen == sorted(new)


def test_a_file_with_more_than_is_wanted_is_kept_and_one_with_nothing_of_it_is_not():
    more, other = HeldSeeds("more", (("CV", "2x1"), ("old", "2x1")), 0, 9), HeldSeeds("other", (("old", "2x1"),), 0, 9)
    late = HeldSeeds("late", (("CV", "2x1"),), 9, 12)
    assert kept.choose([other, late, more], {("CV", "2x1"): 6}) == [more]


def test_gaps_are_what_ranges_leave():
    assert kept.gaps([], 2, 5) == [(2, 5)] and kept.gaps([(0, 9)], 2, 5) == [] and kept.gaps([], 5, 5) == []
    assert kept.gaps([(0, 3), (4, 5), (8, 20)], 1, 10) == [(3, 4), (5, 8)]


def test_cells_are_cut_into_products_in_their_order():
    cells = [("a", "CV", "2"), ("a", "CV", "5"), ("a", "SCV", "2"), ("b", "CV", "2"), ("b", "CV", "5"), ("b", "SCV", "2")]
    assert kept.products(cells) == [(("a", "b"), ("CV",), ("2", "5")), (("a", "b"), ("SCV",), ("2",))]
    assert kept.products([]) == []


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 12)), max_size=6), st.integers(1, 30), st.integers(1, 12))
@often
def test_blocks_hold_every_number_once_and_those_that_exist_are_taken_first(existing, n, size):
    names = [f"{start}-{start + length}" for start, length in existing]
    found = kept.blocks([*names, "x", "3", "2-1", "01-2", "temporary-file"], n, size)
    ranges = [tuple(map(int, name.split("-"))) for name in found]
    assert [number for first, last in ranges for number in range(first, last + 1)] == list(range(n))
    assert kept.blocks(found, n, 99) == found
    assert kept.blocks([*names, *found[::2]], n, size) == found
    if len(names) == 1 and existing[0][0] + existing[0][1] < n:
        assert names[0] in found


@pytest.mark.parametrize(
    ("existing", "expected"),
    [([], ["0-3", "4-7", "8-9"]), (["0-4"], ["0-4", "5-7", "8-9"]), (["0-24"], ["0-3", "4-7", "8-9"])],
)
def test_new_blocks_fill_what_is_left(existing, expected):
    assert kept.blocks(existing, 10, 4) == expected


def held(name):
    """Cells and repetitions of a piece."""
    *axes, block = name
    first, last = map(int, block.split("-"))
    return [(cell, i) for cell in product(*(axis.split("+") for axis in axes)) for i in range(first, last + 1)]


@given(
    st.lists(st.tuples(st.sets(st.sampled_from("abcx"), min_size=1), st.sets(st.sampled_from(["5", "10"]), min_size=1),
                       st.integers(0, 9), st.integers(0, 9)), max_size=6),
    st.sets(st.sampled_from("abc"), min_size=1), st.sets(st.sampled_from(["5", "10"]), min_size=1),
    st.integers(1, 12), st.integers(1, 7),
)  # fmt: skip
@often
def test_pieces_hold_every_repetition_of_a_cell_once_at_any_moment_of_a_run(existing, learners, schemes, n, size):
    names = [f"{'+'.join(sorted(a))}/{'+'.join(sorted(b))}/{start}-{start + more}" for a, b, start, more in existing]
    wanted = {(a, b): n for a in sorted(learners) for b in sorted(schemes)}
    found = kept.pieces([*names, "x", "a/5", "a/5/2-1", "a/5/01-2"], wanted, size)
    assert sorted(one for name in found for one in held(name)) == sorted((cell, i) for cell in wanted for i in range(n))
    paths = ["/".join(name) for name in found]
    for some in (paths, paths[::2], paths[1:]):
        assert kept.pieces([*names, *some], wanted, size) == found
    assert kept.pieces(paths, wanted, 99) == found


def test_pieces_make_what_was_added_alone():
    wanted = {(a, b): 10 for a in ("NB-1", "LDA-2") for b in ("5", "loo")}
    whole = kept.pieces([], wanted, 100)
    assert whole == [("NB-1", "5+loo", "0-9"), ("LDA-2", "5+loo", "0-9")]
    there = ["/".join(name) for name in whole]
    more = {(a, b): 20 for a in ("NB-1", "LDA-2", "1NN-3") for b in ("5", "10", "loo")}
    found = kept.pieces(there, more, 100)
    assert [name for name in found if "/".join(name) not in there] == [
        ("NB-1", "10", "0-19"), ("LDA-2", "10", "0-19"), ("1NN-3", "5+10+loo", "0-19"),
        ("NB-1", "5+loo", "10-19"), ("LDA-2", "5+loo", "10-19"),
    ]  # fmt: skip
    changed = {("NB-9", "5"): 10, ("LDA-2", "5"): 10}
    assert kept.pieces(["NB-1/5/0-9", "LDA-2/5/0-9"], changed, 100) == [("NB-9", "5", "0-9"), ("LDA-2", "5", "0-9")]
