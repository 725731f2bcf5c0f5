"""The driver of `tests/fuzz/fuzz_calls.py`: a slice of its calls, and that it sees a difference, a refusal and a crash."""

import numpy as np
import pytest

import fuzz_calls
from fuzz_calls import CHECKS, report, run, verdict


@pytest.mark.parametrize("n_calls", [6_000, pytest.param(50_000, marks=pytest.mark.thorough)])
def test_generated_calls_give_what_other_libraries_give(n_calls):
    shown = []
    text, total = report(run(n_calls, seed=0, show=shown.append))
    assert not total["different"] and not total["refused"], "\n".join([*shown, text])
    assert total["undefined"] < 0.01 * total.total()
    assert all(line.split()[1] != "0" for line in text.splitlines()[1:-1])  # every check was reached


def test_a_call_depends_on_seed_and_number_only(monkeypatch):
    monkeypatch.setattr(fuzz_calls, "CHECKS", {"paired_t": CHECKS["paired_t"]})
    assert run(30, 3)["paired_t"].outcomes == run(30, 3)["paired_t"].outcomes
    drawn = [np.random.default_rng([3, i]).random() for i in range(3)]
    assert len(set(drawn)) == 3


def planted(monkeypatch, check):
    monkeypatch.setattr(fuzz_calls, "CHECKS", {"planted": check})
    shown = []
    return run(1, 0, show=shown.append)["planted"].outcomes, shown


def test_a_planted_difference_is_found(monkeypatch):
    def wrong(rng):
        yield "value", 1.0, 1.001

    outcomes, shown = planted(monkeypatch, wrong)
    assert outcomes == {"different": 1} and shown == ["call 0, planted, value: 1.0 and 1.001"]


def test_a_refusal_and_a_silent_reference_are_told_apart(monkeypatch):
    def refused(rng):
        yield "value", fuzz_calls.inference.paired_t(["text", "more"]).p_value, 1.0

    def nothing(rng):
        yield "value", 1.0, float("nan")

    outcomes, shown = planted(monkeypatch, refused)
    assert outcomes == {"refused": 1} and "differences holds 'text', which is no number" in shown[0]
    assert planted(monkeypatch, nothing)[0] == {"undefined": 1}


def test_equal_up_to_rounding():
    assert verdict([1, 2], [1 + 1e-12, 2]) == "equal" and verdict(1.0, [1.0]) == "different"
    assert verdict(1e-17, 0.0) == "equal" and verdict(1e-3, 0.0) == "different"
