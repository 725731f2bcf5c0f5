"""Claims of a paper and the verdicts on them."""

import numpy as np
import pytest

from foldshift.core.errors import DataError
from foldshift.reporting.claims_ledger import COLUMNS, Judged, by_error, claims_ledger

SENTENCES = """id,page,claim,shown_by,item
order,7,"The error falls with every stratum, in most sets",steps that fall by two errors,table4
ratio,9,TSCV halves D_n,D_n of TSCV over that of CV,table4
other,9,Nobody can tell,a run with other data,table5
"""


@pytest.fixture
def sentences(tmp_path):
    path = tmp_path / "claims.csv"
    path.write_text(SENTENCES, encoding="utf-8")
    return path


def test_every_sentence_has_a_row_and_without_a_verdict_it_cannot_be_seen(sentences):
    made = claims_ledger(sentences, {"order": by_error(0.3, 0.1, "24 of 28 sets"), "ratio": Judged("does not hold", 0.8)})
    table = made.frame
    assert tuple(table) == COLUMNS and table["id"].tolist() == ["order", "ratio", "other"]
    assert table["verdict"].tolist() == ["holds", "does not hold", "cannot be seen here"]
    assert table["effect"].tolist()[:2] == [0.3, 0.8] and table["effect"].isna().tolist() == [False, False, True]
    assert made.grid.notes == ["3 claims: 1 holds; 0 holds in part; 1 does not hold; 1 cannot be seen."]
    assert made.grid.rows[0][4].text == "0.3000 ± 0.1000" and made.grid.rows[1][4].text == "0.8000"
    nothing = claims_ledger(sentences, {})
    assert (nothing.frame["verdict"] == "cannot be seen here").all()


def test_a_verdict_on_no_sentence_is_refused(sentences):
    with pytest.raises(DataError, match="no sentence for the verdicts oder"):
        claims_ledger(sentences, {"oder": by_error(1, 0.1)})


@pytest.mark.parametrize(
    ("effect", "error", "verdict"),
    [
        (0.3, 0.1, "holds"),
        (-0.3, 0.1, "does not hold"),
        (0.2, 0.1, "cannot be seen here"),
        (0.3, np.nan, "cannot be seen here"),
        (np.nan, 0.1, "cannot be seen here"),
        (0.3, 0.0, "holds"),
        (0.0, 0.0, "cannot be seen here"),
    ],
)
def test_an_effect_is_seen_beyond_two_errors(effect, error, verdict):
    assert by_error(effect, error).verdict == verdict
