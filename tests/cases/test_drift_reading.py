"""Two tables that are compared are read as one, at the command: public reports of drift that was none, or was not seen."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from foldshift.command.main import main

N, M = 60, 50
DRAW = np.random.default_rng(0)
NUMBERS = DRAW.normal(50, 3, N), DRAW.normal(50, 3, M)


def cycle(values, n):
    return [values[i % len(values)] for i in range(n)]


def days(form, start, n=M):
    return pd.date_range(start, periods=n).strftime(form).tolist()


def written(form, factor=1.0):
    return [form.format(value * factor) for value in NUMBERS[0]], [form.format(value * factor) for value in NUMBERS[1]]


def run(folder, before, after, *options, names=("a.csv", "b.csv")):
    """Write tables of one column and noise, and compare them; return what is printed, and the row of the column."""
    for name, values, noise in zip(names, (before, after), NUMBERS):
        text = "".join(f'{x:.3f},"{value}"\n' for x, value in zip(noise, values))
        (folder / name).write_text("x,c\n" + text, encoding="utf-8")
    ran = CliRunner().invoke(main, ["drift", *(str(folder / name) for name in names), "--json", *options])
    assert ran.exit_code in (0, 3), ran.output
    said = ran.stderr.replace(str(folder) + "/", "")
    return said, next((row for row in json.loads(ran.stdout)["tests"] if row["name"] == "c"), None)


SAME = {
    "0.0 and 0": (cycle(["0.0", "1.0", "2.0"], N), cycle(["0", "1", "2"], M)),
    "0.0 and 0 among labels": (cycle(["0.0", "1.0", "low"], N), cycle(["0", "1", "low"], M)),
    "blanks": (cycle(["a ", "b"], N), cycle(["a", " b"], M)),
    "capitals": (cycle(["Cat", "Dog"], N), cycle(["cat", "dog"], M)),
    "True and true": (cycle(["True", "False"], N), cycle(["true", "false"], M)),
    "a unit in one": (written("{:.1f} cm")[0], written("{:.1f}")[1]),
    "points between thousands": ([f"1.{100 + i}" for i in range(N)], [f"1.{105 + i},50" for i in range(M)]),
    "marks for missing": ([*written("{:.1f}")[0][2:], "NA", "?"], [*written("{:.1f}")[1][2:], "-", "n/a"]),
    "exponents": (written("{:.3e}")[0], written("{:.3f}")[1]),
}


@pytest.mark.parametrize("before, after", SAME.values(), ids=SAME)
def test_one_column_written_in_two_ways_has_not_moved(tmp_path, before, after):
    said, found = run(tmp_path, before, after)
    assert not found["moved"] and found["effect"] < 0.3, (said, found)


def test_columns_of_another_kind_are_said_with_both_files(tmp_path):
    said, found = run(tmp_path, written("{:.1f}")[0], cycle(["low", "high"], M))
    assert "Note: c: numbers in a.csv, text in b.csv, such as 'low'; compared as labels." in said and found["moved"]
    said, found = run(tmp_path, cycle(["001", "002"], N), cycle(["1", "2"], M))
    assert "numbers in b.csv, text in a.csv, such as '001'" in said and found["kind"] == "nominal"
    said, found = run(tmp_path, written("{:.1f}")[0], [f"name {i}" for i in range(M)])
    assert "left out: c (50 labels in 50 rows, in b.csv, numbers in a.csv)" in said and found is None
    said, found = run(tmp_path, written("{:.1f} cm")[0], written("{:.1f} mm", 10)[1])
    assert "have different units" in said and found["kind"] == "nominal"
    said, found = run(tmp_path, written("{:.1f}%")[0], written("{:.3f}", 0.01)[1])
    assert "c: % in a.csv, no unit in b.csv; the numbers are compared as they are" in said and found["moved"]
    said, found = run(tmp_path, written("{:.1f}")[0], [*written("{:.1f}")[1][2:], "broken", "broken"])
    assert "read as missing: 'broken' (2), the first in line 50 of b.csv" in said and found["kind"] == "numeric"


def test_many_rows_of_one_table_do_not_turn_the_text_of_the_other_into_gaps(tmp_path):
    rows = np.random.default_rng(1).normal(size=(2000, 2)).round(2)
    pd.DataFrame(rows, columns=["x", "c"]).to_csv(tmp_path / "a.csv", index=False)
    pd.DataFrame({"x": rows[:20, 0], "c": cycle(["low", "high"], 20)}).to_csv(tmp_path / "b.csv", index=False)
    ran = CliRunner().invoke(main, ["drift", str(tmp_path / "a.csv"), str(tmp_path / "b.csv")])
    assert "text in" in ran.stderr and "'high' from 0 % to 50 %" in ran.stdout


def test_dates_are_compared_as_dates_or_left_out(tmp_path):
    for before, after in (("%Y-%m-%d", "%Y-%m-%d"), ("%Y-%m-%d", "%d.%m.%Y"), ("%d/%m/%Y", "%d/%m/%Y")):
        tables = days(before, "2020-01-01", N), days(after, "2020-06-13")
        said, found = run(tmp_path, *tables)
        assert "left out: c (dates" in said and "--keep c" in said and found is None
        said, found = run(tmp_path, *tables, "--keep", "c")
        assert found["moved"] and found["change"].startswith("mean 2020-01-30 to 2020-07-07, up by"), found
    said, found = run(tmp_path, days("%Y-%m-%d", "2020-01-01", N), cycle(["old", "new"], M))
    assert "left out: c (dates, year-month-day, in a.csv, labels in b.csv)" in said


def test_ids_and_constants_and_gaps(tmp_path):
    assert run(tmp_path, cycle([5], N), cycle([6], M))[1]["change"] == "5 in training, 6 in the test table"
    assert run(tmp_path, cycle(["a", "b"], N), [""] * M)[1]["change"] == "'missing' from 0 % to 100 %"
    _, found = run(tmp_path, range(1, N + 1), range(N + 1, N + M + 1))
    assert found is None or not found["moved"]


def frames():
    rng = np.random.default_rng(2)
    before, after = (pd.DataFrame(rng.normal(size=(n, 3)).round(3), columns=["p", "q", "r"]) for n in (N, M))
    return before, after


def command(folder, *args):
    return CliRunner().invoke(main, ["drift", *(str(folder / a) if a.endswith(".csv") else a for a in args)])


def test_order_names_separators_and_decimal_commas_do_not_matter(tmp_path):
    before, after = frames()
    before.to_csv(tmp_path / "a.csv", index=False)
    after.to_csv(tmp_path / "b.csv", index=False)
    wanted = command(tmp_path, "a.csv", "b.csv").stdout
    after[["r", "p", "q"]].to_csv(tmp_path / "turned.csv", index=False)
    after.to_csv(tmp_path / "german.csv", index=False, sep=";", decimal=",")
    after.to_csv(tmp_path / "bare.csv", index=False, header=False)
    for name in ("turned.csv", "german.csv", "bare.csv"):
        ran = command(tmp_path, "a.csv", name)
        assert ran.stdout == wanted, name
    assert "bare.csv has no names of columns: they are taken in the order of" in ran.stderr


def test_columns_that_one_table_lacks_are_named_and_can_be_dropped(tmp_path):
    before, after = frames()
    before.to_csv(tmp_path / "a.csv", index=False)
    after.rename(columns={"r": "R2"}).to_csv(tmp_path / "b.csv", index=False)
    ran = command(tmp_path, "a.csv", "b.csv")
    assert ran.exit_code == 1 and "has r and only" in ran.stderr and ran.stderr.rstrip().endswith("--drop r --drop R2")
    ran = command(tmp_path, "a.csv", "b.csv", "--drop", "r", "--drop", "R2", "--check")
    assert ran.exit_code == 0 and "2 features" in ran.stdout
    after.add_prefix("other ").to_csv(tmp_path / "b.csv", index=False)
    assert "no column in common: p, q, r in" in command(tmp_path, "a.csv", "b.csv").stderr
    before[:1].to_csv(tmp_path / "one.csv", index=False)
    ran = command(tmp_path, "a.csv", "one.csv")
    assert ran.exit_code == 1 and "one.csv has 1 row; a comparison needs at least 5" in ran.stderr
    pd.DataFrame({"day": days("%Y-%m-%d", "2020-01-01")}).to_csv(tmp_path / "days.csv", index=False)
    ran = command(tmp_path, "days.csv", "days.csv")
    assert ran.exit_code == 1 and "nothing to compare" in ran.stderr and ran.stderr.rstrip().endswith("--keep day")
    assert command(tmp_path, "days.csv", "days.csv", "--keep", "day", "--check").exit_code == 0


def test_the_page_holds_verdict_picture_notes_and_figures(tmp_path):
    before, after = frames()
    before.assign(p=before.p + 2, day=days("%Y-%m-%d", "2020-01-01", N)).to_csv(tmp_path / "a.csv", index=False)
    after.assign(day=days("%Y-%m-%d", "2021-01-01")).to_csv(tmp_path / "b.csv", index=False)
    ran = command(tmp_path, "a.csv", "b.csv", "--html", str(tmp_path / "page.html"))
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert ran.exit_code == 0 and "Page: " in ran.stderr
    assert page.count("<svg") == 2 and "1 of 3 features moved: p (mean" in page and "left out: day (dates" in page
    assert 'src="http' not in page and 'href="http' not in page
    values = json.loads(page.split('id="figures">')[1].split("</script>")[0])
    assert values["verdict"].startswith("Shift: ") and any("left out: day" in note for note in values["notes"])
    ran = command(tmp_path, "a.csv", "b.csv", "--html", str(tmp_path / "none" / "page.html"))
    assert ran.exit_code == 1 and "there is no folder" in ran.stderr
    ran = command(tmp_path, "a.csv", "b.csv", "--multivariate", "energy,dependence", "--alpha", "0.0001")
    assert "dependence of columns" in ran.stdout and "take --n-permutations 40000 or more" in " ".join(ran.stdout.split())
    ran = command(tmp_path, "a.csv", "b.csv", "--multivariate", "energie")
    assert ran.exit_code == 1 and "'energy'" in ran.stderr
