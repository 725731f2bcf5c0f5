"""The fast reader of large texts gives what the careful one gives, or leaves the file to it."""

import made_damage
import made_uci
import numpy as np
import pandas as pd
import pytest
from test_reading_remedies import CASES, LABELS, A, B, N, text

from foldshift.core.errors import FoldshiftError
from foldshift.datasets.own_files import read_bytes
from foldshift.datasets.readers import plain_text

ODD = {
    "short_row": text(a=A, b=B, y=LABELS) + "1,2\n",
    "long_row": text(a=A, b=B, y=LABELS) + "1,2,3,4\n",
    "gap_at_the_end": text(a=A, b=B, y=[*LABELS[1:], ""]),
    "gap_at_the_end_and_short_row": text(a=A, b=B, y=[*LABELS[1:], ""]) + "1,2\n",
    "quoted": text(a=A, b=[f'"{label}, dark"' for label in LABELS], y=B),
    "quoted_lines": text(a=A, b=[f'"{label}\ndark"' for label in LABELS], y=B),
    "quoted_numbers": text(a=[f'"{value}"' for value in A], b=[f"'{value}'" for value in B], y=LABELS),
    "open_quote": text(a=A, b=B, y=LABELS) + '1,"2,red\n',
    "empty_lines": text(a=A, b=B, y=LABELS).replace("\n", "\n\n"),
    "empty_rows": text(a=A, b=B, y=LABELS) + ",,\n,,\n",
    "windows": text(a=A, b=B, y=LABELS).replace("\n", "\r\n"),
    "macintosh": text(a=A, b=B, y=LABELS).replace("\n", "\r"),
    "mixed_ends": text(a=A, b=B, y=LABELS).replace("\n", "\r\n", 7),
    "bools": text(a=A, b=["TRUE", "true", "False", "FALSE"] * 10, y=LABELS),
    "bool_target": text(a=A, y=["True", "False"] * 20),
    "zeros": text(a=["007", "010", "100", "001"] * 10, b=[0.5, 0.25, 10, 0] * 10, y=LABELS),
    "zeros_with_gaps": text(a=["007", "", "100", "001"] * 10, y=LABELS),
    "long_numbers": text(a=[12345678901234567890 + i // 2 for i in range(N)], b=[10**16 + i // 2 for i in range(N)], y=LABELS),
    "spellings_of_numbers": text(a=["1e3", "+5", "-.5", "5."] * 10, b=["inf", "1e400", "nan", "7"] * 10, y=LABELS),
    "underscores": text(a=["1_000", "2_000"] * 20, b=B, y=LABELS),
    "blanks": text(", ", a=A, b=[f"{value} " for value in B], y=[f" {label} " for label in LABELS]),
    "byte_order_mark": "\ufeff" + text(a=A, b=B, y=LABELS),
    "umlauts": text(größe=A, b=["Köln", "Ulm"] * 20, y=LABELS),
    "total": text(k=["p", "q"] * 20, a=A, y=[1] * N) + f"Total,{sum(A):.2f},{N}\n",
    "marks": text(a=[*A[1:], "NA"], b=["-", *B[1:]], k=["NA", "?", "n/a", "x"] * 10, y=LABELS),
    "comment": text(a=A, b=B, y=LABELS) + "# the end\n",
    "names_again": text(a=A, b=B, y=LABELS) * 2,
    "r": "a b y\n" + "".join(f"{i} {a} {b} {y}\n" for i, (a, b, y) in enumerate(zip(A, B, LABELS))),
    "r_commas": "a,b,y\n" + "".join(f"{i},{a},{b},{y}\n" for i, (a, b, y) in enumerate(zip(A, B, LABELS))),
    "trailing_commas": text(a=A, b=B, y=LABELS).replace("\n", ",\n"),
    "ids": text(id=range(N), a=A, y=B, when=[f"2020-01-{1 + i % 28:02}" for i in range(N)]),
}
OPTIONS = ({}, {"header": "none"}, {"types": {"1": "nominal"}}, {"missing": ["999", "red"]}, {"skip_rows": 1}, {"groups": "1"})


def outcome(content, options, task):
    try:
        found = read_bytes(content, "m.csv", options, task=task)
    except FoldshiftError as error:
        return str(error)
    return found.frame, found.notes, found.kinds, found.left_out, [one[:3] for one in found.receipt.decisions]


@pytest.mark.parametrize("name", [*ODD, *(name for name in CASES if name.endswith(("csv", "tsv")))])
def test_both_readers_give_the_same(name, monkeypatch):
    content = ODD[name] if name in ODD else CASES[name][0] if isinstance(CASES[name], tuple) else CASES[name]
    content = content if isinstance(content, bytes) else content.encode()
    for options in OPTIONS:
        for task in ("", "classification", "regression"):
            careful = outcome(content, options, task)
            with monkeypatch.context() as patch:
                patch.setattr(plain_text, "LARGE", 0)
                fast = outcome(content, options, task)
            if isinstance(careful, str):
                assert fast == careful
            else:
                pd.testing.assert_frame_equal(fast[0], careful[0], check_exact=True)
                assert fast[1:] == careful[1:], (options, task)


def test_both_readers_give_the_same_of_made_files(monkeypatch):
    made = [one for one in made_damage.MAKERS.values() if one.name.endswith(".csv")] + [*map(made_uci.made, made_uci.MAKERS)]
    n_taken = 0
    for one in made:
        careful = outcome(one.content, one.options, "")
        with monkeypatch.context() as patch:
            patch.setattr(plain_text, "LARGE", 0)
            fast = outcome(one.content, one.options, "")
            n_taken += plain_text.read_plain(one.content, plain_options(), "", "", ",") is not None
        if isinstance(careful, str):
            assert fast == careful
        else:
            pd.testing.assert_frame_equal(fast[0], careful[0], check_exact=True)
            assert fast[1:] == careful[1:], one.name
    assert n_taken > 100


def test_the_fast_reader_takes_plain_texts(monkeypatch):
    monkeypatch.setattr(plain_text, "LARGE", 0)
    taken = [name for name in ODD if plain_text.read_plain(ODD[name].encode(), plain_options(), "", "", ",") is not None]
    assert {"windows", "bools", "zeros", "quoted", "umlauts", "ids"} <= set(taken) and "short_row" not in taken


def plain_options():
    from foldshift.datasets.readers.read_options import ReadOptions

    return ReadOptions(own=True)


def test_a_large_plain_file_is_left_to_pandas_with_its_values(monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(10_000, 20)).round(5), columns=[f"c{i}" for i in range(20)])
    frame["c3"], frame["c4"] = rng.integers(0, 50, 10_000), rng.choice(["red", "blue", "green"], 10_000)
    content = frame.to_csv(index=False).encode()
    assert len(content) > plain_text.LARGE
    monkeypatch.setattr("foldshift.datasets.readers.formats.read_own_text", None)
    found = read_bytes(content, "m.csv", {"target": "c0"})
    assert (found.frame.drop(columns="c4").to_numpy() == frame.drop(columns="c4").to_numpy()).all()
    assert (found.frame["c4"].astype(str) == frame["c4"]).all()
