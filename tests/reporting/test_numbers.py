"""Numbers look the same in every table, and what is missing has one sign."""

import numpy as np
import pandas as pd
import pytest

from foldshift.reporting.number_formats import EMPTY, count, count_range, number, p_value, percent, signed, with_error


@pytest.mark.parametrize("missing", [None, np.nan, float("nan"), pd.NA])
def test_whatever_is_missing_has_the_same_sign(missing):
    forms = [number(missing), with_error(missing, 0.1), with_error(missing, missing), p_value(missing, True), percent(missing)]
    assert {*forms, count(missing)} == {EMPTY} == {"–"}
    assert number(missing, empty="") == with_error(missing, 0.1, empty="") == ""
    assert with_error(0.5, missing) == "0.5000 ± –"


def test_numbers_have_the_form_asked_for():
    assert number(0.12345) == "0.1235" and number(0.12345, "+.2f") == "+0.12"
    assert [number(x, ".4E") for x in (0.092947, 92.947, 9.2947, 9.2947e-12)] == [
        "9.2947E-2",
        "9.2947E+1",
        "9.2947E+0",
        "9.2947E-12",
    ]


def test_an_error_has_the_digits_of_its_number_but_no_sign():
    assert with_error(0.25, 0.05, "+.3f") == "+0.250 ± 0.050" and with_error(1.5e-3, 2e-5, ".2e", ".0e") == "1.50e-03 ± 2e-05"


def test_differences_have_a_sign_and_no_exponent_where_they_are_large():
    assert [signed(value) for value in (-1093.4, 999.4, 999.6, -248.1, 20.53, 0.0, None)] == [
        "-1,093", "+999", "+1,000", "-248", "+20.5", "+0", EMPTY,
    ]  # fmt: skip


def test_p_values_are_decimals_or_have_an_exponent():
    assert [p_value(p) for p in (1.0, 0.0432, 0.001, 0.00099, 7.4505e-9, 0.0)] == [
        "1.000",
        "0.043",
        "0.001",
        "9.90E-4",
        "7.45E-9",
        "0",
    ]


def test_p_values_can_be_printed_as_in_the_papers():
    assert [p_value(p, star, decimals_from=np.inf) for p, star in ((7.4505e-9, False), (0.126, True))] == ["7.45E-9", "1.26E-1 *"]
    forms = [p_value(p, decimals_from=0.03, decimals=4) for p in (7.4505e-8, 0.0112, 0.0319, 0.1001)]
    assert forms == ["7.45E-8", "1.12E-2", "0.0319", "0.1001"]


def test_shares_and_counts():
    assert percent(0.12345) == "12.3" and percent(0.12345, 2) == "12.35" and count(28.0) == "28" and count(np.int64(3)) == "3"
    assert [count_range(values) for values in ([28, 28], [20, 28.0, np.nan], [np.nan], [])] == ["28", "20 to 28", "0", "0"]
