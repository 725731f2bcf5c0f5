"""Every check is listed, with a code that has a paragraph; findings can be muted with a reason; remedies work where printed."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from foldshift.advice.data import as_data
from foldshift.advice.issues import find_faults, issue_texts, issues_of
from foldshift.advice.structure.checks import CHECKS, run_checks
from foldshift.advice.structure.find import find_structure
from planted_faults import PLANTED

CODES = {
    "identifier": "I1", "duplicates": "D1", "near_duplicates": "D2", "groups_cut": "G1", "like_groups": "G2", "given_away": "L1",
    "given_away_by_gaps": "L2", "sorted_blocks": "T3", "time": "T1", "rare_class": "R2", "few_rows": "N1", "scaled_before": "V2",
}  # fmt: skip


def checks_of(X, y, groups=None, folds=None, **options):
    data = as_data(X, y, groups=groups)
    return run_checks(data, find_structure(data), folds, **options)


def by_code(checks):
    return {check.code: check for check in checks}


@pytest.fixture
def grouped():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    return X.assign(site=np.repeat([f"S{j}" for j in range(20)], 10)), rng.normal(size=200)


def test_every_check_is_listed_once_and_passes_in_a_plain_table():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd"))
    checks = checks_of(X, np.where(X.a + rng.normal(size=300) > 0, "yes", "no"))
    assert [check.code for check in checks] == [*CHECKS]
    assert {check.code: check.result for check in checks if check.result != "passed"} == {"G1": "not applicable"}
    assert all(check.text.endswith(".") for check in checks if check.result == "passed")


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_has_its_check(fault):
    X, y, *rest = PLANTED[fault](np.random.default_rng(7))
    groups = rest[0] if rest else None
    folds = np.arange(len(X))[None] * 5 // len(X) if fault == "sorted_blocks" else np.arange(len(X))[None] % 5
    check = by_code(checks_of(X, y, groups, folds))[CODES[fault]]
    assert (check.result, check.issue.code, check.issue.check) == ("found", fault, check.code)
    assert check.address == f"checks.html#{check.code.lower()}"


def test_faults_are_those_of_the_checks_that_found_something(grouped):
    data = as_data(*grouped)
    checks = run_checks(data, find_structure(data))
    assert find_faults(data) == issues_of(checks) != []


def test_every_check_has_a_paragraph_on_the_site(root):
    page = (root / "docs" / "checks.md").read_text(encoding="utf-8")
    assert re.findall(r"^\(([a-z]\d)\)=\n## ([A-Z]\d) (.+)$", page, re.MULTILINE) == [
        (code.lower(), code, text["name"]) for code, text in issue_texts()["checks"].items()
    ]


def test_texts_name_checks_that_exist():
    texts = issue_texts()
    assert {text["check"] for name, text in texts.items() if name != "checks"} <= set(texts["checks"])
    assert {*CHECKS, "W1"} == set(texts["checks"])


def test_a_muted_finding_is_listed_with_its_reason_and_is_no_fault(grouped):
    checks = checks_of(*grouped, mute={"g2": "sites are fixed: no new ones will come"})
    check = by_code(checks)["G2"]
    assert check.result == "muted" and "sites are fixed: no new ones will come. 'site'" in check.text
    assert "like_groups" not in [issue.code for issue in issues_of(checks)]


def test_a_check_that_passes_is_not_muted(grouped):
    assert by_code(checks_of(*grouped, mute={"V1": "there are no sentinels"}))["V1"].result == "passed"


@pytest.mark.parametrize(
    "mute, message",
    [({"G9": "why"}, "the check 'G9'; checks are I1, D1"), ({"G2": " "}, "no reason for G2"), ({"G2": None}, "no reason for G2"),
     (["G2"], "must be a mapping"), ("G2", "must be a mapping")],
)  # fmt: skip
def test_what_cannot_be_muted_is_refused(grouped, mute, message):
    with pytest.raises(ValueError, match=message):
        checks_of(*grouped, mute=mute)


def test_remedies_are_written_for_the_door(grouped):
    X, y = grouped
    remedy = by_code(checks_of(X, y))["G2"].remedies[0]
    assert (remedy.at("command"), remedy.at("python")) == ("--group-on site", "groups=X['site']")
    leak = by_code(checks_of(X.assign(final=2 * y), y))["L1"].remedies[0]
    assert (leak.at("command"), leak.at("python")) == ("--drop final", "X = X.drop(columns=['final'])")
    marked = X.assign(a=X.a.where(np.arange(200) > 9, -999))
    missing = by_code(checks_of(marked, y))["V1"].remedies[0]
    assert missing.at("command") == "--missing=-999"
    local = {"X": marked}
    exec(missing.at("python"), local)
    assert local["X"].a.isna().sum() == 10


def test_columns_left_out_before_are_reported(grouped):
    checks = checks_of(*grouped, left_out={"day": "it holds dates", "row": "numbers the rows"}, forward="your split")
    assert [check.issue.code for check in checks if check.code == "T1"] == ["time", "time"]
    assert by_code(checks)["I1"].columns == ("row",)


def test_checks_of_columns_do_not_apply_where_there_are_none():
    wide = np.random.default_rng(0).normal(size=(40, 2100))
    checks = by_code(checks_of(wide, np.random.default_rng(1).normal(size=40)))
    assert "more than 2000" in checks["D2"].text and checks["D2"].result == "not applicable"
    assert {checks[code].result for code in ("I1", "D1", "G2", "S1", "L1", "V1", "V3", "T1")} == {"not applicable"}


def test_the_page_of_checks_says_what_was_measured(root):
    facts = json.loads((root / "validation" / "tables" / "structure_checks.json").read_text(encoding="utf-8"))
    rows = pd.read_csv(root / "validation" / "tables" / "structure_checks.csv", keep_default_na=False)
    structured = rows[rows.structure != ""]
    found = sum(set(row.structure.split()) <= set(row.found.split()) for row in structured.itertuples())
    holds = {cut: (structured[f"{cut}_holds"].astype(str) == "True").sum() for cut in ("naive", "honest")}
    alarms = ((rows.structure == "") & (rows.found != "")).sum()
    page = (root / "docs" / "checks.md").read_text(encoding="utf-8")
    assert f"In {len(structured)} tables" in page and f"was found in {found};" in page and alarms == facts["alarms"]
    assert f"In {len(rows) - len(structured)} clean tables {alarms} alarms" in page
    assert f"in {holds['honest']} of the {len(structured)}, that of folds at random in {holds['naive']} (" in page
