import csv
import io
import json
import sys
import unicodedata

import pandas as pd
import pytest

from foldshift.core.errors import DataError
from foldshift.core.printable import harmless_cell, printable, printable_json, printable_lines
from foldshift.core.remedies import Remedy
from foldshift.reporting.table_grid import Grid, to_csv, to_html, to_tex

ALL = [chr(code) for code in range(sys.maxunicode + 1)]
CONTROLS = [one for one in ALL if unicodedata.category(one) in ("Cc", "Cf", "Cs", "Zl", "Zp") and one not in "\u200c\u200d"]


def test_no_control_character_of_unicode_is_left_and_nothing_else_changes():
    assert [one for one in CONTROLS if printable(one) == one or not printable(one).isprintable()] == []
    kept = [one for one in ALL if one.isprintable() or one in "\u200c\u200d\xa0"]
    assert printable("".join(kept)) == "".join(kept)
    assert printable_lines("a\n\tb\x1b[2J") == "a\n\tb\\x1b[2J"


def test_json_for_a_terminal_has_the_same_values():
    value = {"".join(one for one in CONTROLS if unicodedata.category(one) != "Cs"): ["Größe", 1.5, None]}
    text = printable_json(json.dumps(value, ensure_ascii=False, indent=1))
    assert json.loads(text) == value and all(one.isprintable() or one == "\n" for one in text)


def test_errors_and_their_remedies_cannot_steer_a_terminal():
    error = DataError("column \x1b[31mprice\x07; ", Remedy("drop", ("\x9b2J",)))
    assert str(error).isprintable() and error.at("command").isprintable() and error.at("workflow").isprintable()


@pytest.mark.parametrize("name", ["=1+2", "=HYPERLINK(1)", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "-x", "+ x"])
def test_a_name_that_a_spreadsheet_would_take_for_a_formula_begins_with_an_apostrophe(name):
    text = to_csv(pd.DataFrame({"class": [name], name: [1.5]}))
    header, row = csv.reader(io.StringIO(text))
    assert header == ["class", f"'{name}".replace("\r", "\n")] and row == [header[1], "1.5"]


@pytest.mark.parametrize("value", ["-0.5", "+1e-3", "-", "", "-1.0 2924, 1.0 2376", "C4.5", -0.5, None, "1+1", "-1,5"])
def test_numbers_and_plain_texts_stay(value):
    assert harmless_cell(value) is value


def test_numbers_of_a_table_are_written_as_ever():
    frame = pd.DataFrame({"name": ["a", None], "value": [-1 / 3, float("nan")], "n": [-1, 2]})
    assert to_csv(frame) == "name,value,n\na,-0.3333333333,-1\n,,2\n"


def test_every_special_character_of_latex_is_a_command():
    shown = {one: to_tex(Grid([one], [["x"]], [])).split("\n")[5].removesuffix(" \\\\") for one in map(chr, range(128))}
    letters = {one for one, text in shown.items() if text == one}
    assert letters == {one for one in map(chr, range(32, 127)) if one not in '&%_#${}~^\\<>|"'}
    assert all(text.startswith("\\") or text.strip() == "" for one, text in shown.items() if one not in letters)


def test_names_are_escaped_in_html():
    page = to_html(Grid(["<script>alert(1)</script>"], [['"><img src=x>']], ["</p><b>"]))
    assert "<script" not in page and "<img" not in page and "</p><b>" not in page
