import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from foldshift.inference import friedman, sign_test


@settings(deadline=None, max_examples=60, derandomize=True)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=30))
def test_it_is_scipys_binomial_test_of_the_blocks_that_are_not_tied(d):
    d = np.array(d, dtype=float)
    test = sign_test(d, 0 * d, confidence=0.9)
    wins, losses = int((d > 0).sum()), int((d < 0).sum())
    assert (test.wins, test.losses, test.ties) == (wins, losses, len(d) - wins - losses)
    if wins + losses == 0:
        assert test.p_value == 1 and np.isnan(test.estimate) and (test.low, test.high) == (0, 1)
        return
    theirs = binomtest(wins, wins + losses)
    interval = theirs.proportion_ci(0.9, method="exact")
    assert test[3:7] == pytest.approx((theirs.pvalue, theirs.statistic, interval.low, interval.high), rel=1e-9)
    if len(d) > 1:
        assert friedman(np.stack([d, 0 * d], axis=1)).p_f == pytest.approx(test.p_value, rel=1e-9)


def test_rounding_does_not_decide_and_many_tests_are_one_by_one():
    a, b = np.array([[0.3, 0.1, 0.5], [0.2, 0.9, 0.4]]), np.array([[0.1 + 0.2, 0.7 - 0.6, 0.4], [0.1, 0.2, 0.5]])
    many = sign_test(a, b)
    assert many.ties.tolist() == [2, 0] and many.p_value.tolist() == [1, 1]
    for i in range(2):
        assert sign_test(a[i], b[i])[:6] == tuple(value[i] for value in many[:6])
    assert "2 exact sign tests" in str(many) and len(many.to_frame()) == 2


def test_it_reads_as_a_sentence():
    assert str(sign_test(np.ones(6), np.zeros(6))).startswith(
        "Sign test: 6 wins, 0 losses, 0 ties: the first wins 1 of the blocks that are not tied (0.95 interval 0.541 to 1); exact "
        "two-sided p = 0.0312."
    )
    assert "no block is left to compare on" in str(sign_test([1], [1]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sign_test([1, 2], [1]), r"shapes \(2,\) and \(1,\)"),
        (lambda: sign_test([], []), "at least one pair"),
        (lambda: sign_test([np.nan], [1]), "finite"),
        (lambda: sign_test([1], [1], confidence=95), "confidence=95 must be between 0 and 1"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
