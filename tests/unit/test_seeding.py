import numpy as np
import pytest

from foldshift.seeding import draw_seeds, fit_states, generator, seed_sequence


def test_the_same_names_give_the_same_numbers_and_others_give_others():
    first = generator(1, "folds", "abalone", "TSCV", 10, 7).random(4)
    assert (first == generator(1, "folds", "abalone", "TSCV", 10, 7).random(4)).all()
    for names in [
        ("folds", "abalone", "TSCV", 1, 7),
        ("folds", "abalone", "TSCV", "10,7"),
        ("folds", "abalone", "TSCV1", "0", 7),
    ]:
        assert (first != generator(1, *names).random(4)).all()
    assert (first != generator(2, "folds", "abalone", "TSCV", 10, 7).random(4)).all()


def test_numbers_do_not_change_between_versions_and_machines():
    assert seed_sequence(1, "folds", "abalone").generate_state(2).tolist() == [2018516726, 2896382317]
    assert draw_seeds(1, 5).tolist() == draw_seeds(1, 1000)[:5].tolist()


def test_seeds_are_drawn_without_replacement_and_fewer_are_the_first_of_more():
    seeds = draw_seeds(3, 1000)
    assert len(set(seeds.tolist())) == 1000 and seeds.min() >= 1 and seeds.max() <= 1_000_000
    assert (draw_seeds(3, 20) == seeds[:20]).all()
    assert abs(seeds.mean() - 500_000) < 4 * 1_000_000 / np.sqrt(12 * 1000)


def test_all_seeds_can_be_drawn():
    assert (np.sort(draw_seeds(3, 1_000_000)) == np.arange(1, 1_000_001)).all()


@pytest.mark.parametrize("n_seeds", [0, -1, 1_000_001])
def test_a_number_of_seeds_out_of_range_is_refused(n_seeds):
    with pytest.raises(ValueError, match=f"n_seeds={n_seeds} must be between 1 and 1,000,000"):
        draw_seeds(1, n_seeds)


def test_states_of_fits_do_not_depend_on_the_other_seeds():
    both = fit_states(1, ("abalone", "CV", 5), [11, 12], 5)
    assert both.shape == (2, 5) and both.dtype == np.uint32
    assert (fit_states(1, ("abalone", "CV", 5), [12], 5)[0] == both[1]).all()
