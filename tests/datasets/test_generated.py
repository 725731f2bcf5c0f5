"""Generated data sets: exact counts, exact rules, numbers that never change."""

import itertools
import math

import numpy as np
import pytest

from foldshift.core.errors import SourceError
from foldshift.datasets.readers.formats import read_table
from foldshift.datasets.readers.raw_table import fingerprint
from foldshift.datasets.synthetic.generated import GENERATED, LINES, generate, noise, uniform

# rows, inputs, kinds of the inputs, checksum of the content
EXPECTED = {
    "friedman1": (500, 10, {"real"}, "bc149f5b0bf07031"),
    "friedman2": (400, 4, {"real"}, "6285becd71bb3fe4"),
    "friedman3": (300, 4, {"real"}, "f918dd460c0f349f"),
    "steps": (400, 4, {"real"}, "bc36816488a19a59"),
    "heavy_tail": (350, 3, {"real"}, "288b5c151f9db1ab"),
    "monk-2": (432, 6, {"integer"}, "84a7a8496552fabf"),
    "tic-tac-toe": (958, 9, {"nominal"}, "e0095fbcd6454e15"),
    "titanic": (2201, 3, {"real"}, "3a7ec8e7bac9ecee"),
    "balance": (625, 4, {"integer"}, "f1da90f58213b58e"),
}


def arrays(name):
    table = generate(name)
    return table.frame[table.features].to_numpy(), table.frame[table.target].to_numpy()


def counts(name, column):
    return generate(name).frame[column].value_counts().to_dict()


def splitmix64(seed, n):
    """The generator in whole numbers of Python, started where `uniform` starts stream `seed`."""
    mask, golden, out = 2**64 - 1, 0x9E3779B97F4A7C15, []
    state = (seed << 32) * golden & mask
    for _ in range(n):
        state = (state + golden) & mask
        z = state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & mask
        out.append(z ^ (z >> 31))
    return out


def test_every_generated_set_is_tested_here():
    assert list(GENERATED) == list(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_generated_set_has_its_exact_rows_inputs_kinds_and_content(name):
    table = generate(name)
    rows, inputs, kinds, checksum = EXPECTED[name]
    assert (len(table.frame), len(table.features)) == (rows, inputs)
    assert {table.kinds[feature] for feature in table.features} == kinds
    assert table.complete().all()
    assert table.frame.columns[-1] == table.target
    assert fingerprint(table) == checksum


@pytest.mark.parametrize("name", ["monk-2", "tic-tac-toe", "titanic"])
def test_a_generated_set_has_the_names_kinds_and_order_of_labels_of_the_file_it_stands_for(name, shared):
    table = generate(name)
    path = shared / f"data/keel/classification/{name}.dat"
    published = read_table(path.read_bytes(), path.name, task="classification")
    assert list(table.frame.columns) == list(published.frame.columns)
    assert (table.target, table.kinds) == (published.target, published.kinds)
    for column, kind in table.kinds.items():
        if kind == "nominal":
            assert list(table.frame[column].cat.categories) == list(published.frame[column].cat.categories)


def test_the_generator_gives_the_published_numbers_of_splitmix64():
    first = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]  # seed 0, in every published implementation
    assert splitmix64(0, 3) == first
    assert uniform(0, 3, 1)[:, 0].tolist() == [(number >> 11) / 2**53 for number in first]


@pytest.mark.parametrize("seed", [0, 1, 10, 2**32 - 1])
def test_the_generator_agrees_with_whole_number_arithmetic(seed):
    expected = [(number >> 11) / 2**53 for number in splitmix64(seed, 12)]
    assert uniform(seed, 4, 3).ravel().tolist() == expected


def test_uniform_numbers_and_noise_have_their_mean_and_variance():
    numbers, errors = uniform(21, 20000, 1)[:, 0], noise(22, 20000)
    assert (numbers >= 0).all() and (numbers < 1).all()
    assert abs(numbers.mean() - 1 / 2) < 4 * math.sqrt(1 / 12 / 20000)
    assert abs(errors.mean()) < 4 / math.sqrt(20000)
    assert abs(errors.var() - 1) < 4 * math.sqrt(
        (3 - 0.1 - 1) / 20000
    )  # kurtosis of a sum of twelve uniform numbers: 3 - 1.2 / 12


def friedman1(x):
    return 10 * math.sin(math.pi * x[0] * x[1]) + 20 * (x[2] - 0.5) ** 2 + 10 * x[3] + 5 * x[4]


def friedman2(x):
    return math.sqrt(x[0] ** 2 + (x[1] * x[2] - 1 / (x[1] * x[3])) ** 2)


def friedman3(x):
    return math.atan((x[1] * x[2] - 1 / (x[1] * x[3])) / x[0])


@pytest.mark.parametrize(
    ("name", "function", "seed", "deviation"),
    [("friedman1", friedman1, 2, 1), ("friedman2", friedman2, 4, 125), ("friedman3", friedman3, 6, 0.1)],
)
def test_friedmans_targets_are_his_functions_and_noise_of_the_stated_size(name, function, seed, deviation):
    x, y = arrays(name)
    expected = np.array([function(row) for row in x]) + deviation * noise(seed, len(x))
    assert np.abs(y - expected).max() < 1e-4  # inputs are printed with six digits


def test_steps_has_many_ties_in_whole_numbers():
    table = generate("steps")
    assert table.kinds["y"] == "integer"
    assert counts("steps", "y") == {-1: 8, 0: 60, 1: 97, 2: 94, 3: 86, 4: 36, 5: 17, 6: 2}


def test_heavy_tail_has_values_far_from_the_rest():
    y = arrays("heavy_tail")[1]
    middle, spread = np.median(y), np.subtract(*np.quantile(y, [0.75, 0.25]))
    assert y.max() > middle + 10 * spread
    assert len(set(y.tolist())) == len(y)


def test_monk_2_holds_every_combination_once_with_keels_numbers_of_classes():
    x, _ = arrays("monk-2")
    assert len({tuple(row) for row in x}) == 3 * 3 * 2 * 3 * 4 * 2
    assert counts("monk-2", "Class") == {"0": 204, "1": 228}


def test_tic_tac_toe_holds_the_boards_at_which_a_legal_game_ends():
    # Of all 3^9 boards: x won with the last move, or o did, or the board is full and nobody won.
    ends = {}
    for board in itertools.product("xob", repeat=9):
        n_x, n_o = board.count("x"), board.count("o")
        x_won, o_won = (any(all(board[i] == player for i in line) for line in LINES) for player in "xo")
        drawn = (n_x, n_o) == (5, 4) and not x_won and not o_won
        if (x_won and not o_won and n_x == n_o + 1) or (o_won and not x_won and n_x == n_o) or drawn:
            ends[board] = "positive" if x_won else "negative"
    x, y = arrays("tic-tac-toe")
    assert {tuple(row): label for row, label in zip(x, y)} == ends
    assert counts("tic-tac-toe", "Class") == {"positive": 626, "negative": 332}


def test_titanic_has_the_totals_of_the_published_table():
    assert counts("titanic", "Survived") == {"-1.0": 1490, "1.0": 711}
    assert sorted(counts("titanic", "Class").values()) == [285, 325, 706, 885]  # second class, first, third, crew
    assert sorted(counts("titanic", "Age").values()) == [109, 2092]
    assert sorted(counts("titanic", "Sex").values()) == [470, 1731]


def test_balance_tips_to_the_side_of_the_larger_moment():
    x, y = arrays("balance")
    assert len({tuple(row) for row in x}) == 5**4
    for (left, left_distance, right, right_distance), label in zip(x, y):
        moment = left * left_distance - right * right_distance
        assert label == ("left" if moment > 0 else "right" if moment < 0 else "balanced")
    assert counts("balance", "tips") == {"left": 288, "right": 288, "balanced": 49}


def test_an_unknown_generated_set_is_refused_with_the_nearest_name():
    with pytest.raises(SourceError, match=r"^unknown generated data set 'fridman1'; did you mean friedman1.*\?"):
        generate("fridman1")
