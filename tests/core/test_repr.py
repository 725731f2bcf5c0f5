"""Results that print as sentences and a table."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from foldshift.core.repr import readable


@readable
class Shares(NamedTuple):
    shares: tuple

    def sentences(self):
        return [f"{len(self.shares)} shares, all <= 1.", "Nothing else is known."]

    def to_frame(self):
        return pd.DataFrame({"share": self.shares})


def test_a_result_reads_as_sentences_and_a_table():
    text = str(Shares((0.123456, np.nan)))
    assert text.splitlines() == ["2 shares, all <= 1.", "Nothing else is known.", "", " share", "0.1235", "     -"]


def test_a_notebook_shows_the_same():
    page = Shares((0.123456, np.nan))._repr_html_()
    assert page.startswith("<p>2 shares, all &lt;= 1.</p><p>Nothing else is known.</p><table")
    assert "<td>0.1235</td>" in page and "<td>-</td>" in page
