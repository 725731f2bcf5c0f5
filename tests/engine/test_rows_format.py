"""An archive of another version is refused with the version that can read it."""

import json

import pytest

import reproduce
from foldshift.core.errors import DataError
from foldshift.engine.archive.crate import ROWS_FORMAT


def provenance(folder, **versions):
    (folder / "versions.json").write_text(json.dumps({"foldshift": "0.1.0"} | versions))
    (folder / "run.json").write_text(json.dumps({"git": {"commit": "abc123"}}))
    return folder


def test_rows_of_this_format_pass(tmp_path):
    reproduce.check_format(provenance(tmp_path, rows_format=ROWS_FORMAT), "a.zip")


@pytest.mark.parametrize("versions", [{}, {"rows_format": ROWS_FORMAT + 1}], ids=["older", "newer"])
def test_rows_of_another_format_are_refused_with_the_commit_that_reads_them(versions, tmp_path):
    with pytest.raises(DataError, match=r"a.zip: its rows have format .* foldshift 0.1.0 \(git checkout abc123\)"):
        reproduce.check_format(provenance(tmp_path, **versions), "a.zip")
