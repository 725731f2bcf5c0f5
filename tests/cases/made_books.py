"""Made workbooks and files of other programs: cells with types, merged cells, several sheets, frames."""

# ruff: noqa: E501
# fmt: off
from __future__ import annotations

import datetime
import decimal
import io
import json
from collections.abc import Callable
from typing import Any

import openpyxl
import openpyxl.chart
import pandas as pd
from made_damage import DAYS, PLAIN, TRUTH, A, B, K, N, Y, packed
from verdicts import Made

DATES = [datetime.datetime(*day) for day in DAYS]
ROWS: list[list[Any]] = [list(TRUTH), *map(list, zip(*TRUTH.values()))]


def rows_of(table: dict[str, list[Any]]) -> list[list[Any]]:
    return [list(table), *map(list, zip(*table.values()))]


def book(*sheets: tuple[str, list[list[Any]]], after: Callable[[Any], None] | None = None, **more: Any) -> bytes:
    made = openpyxl.Workbook()
    made.remove(made.active)
    for title, rows in sheets:
        sheet = made.create_sheet(title)
        for row in rows:
            sheet.append(row)
    if after is not None:
        after(made)
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def sheet(rows: list[list[Any]], truth: dict[str, list[Any]] | None = None, after: Callable[[Any], None] | None = None, **more: Any) -> Made:
    return Made(more.pop("file", "m.xlsx"), book(("Data", rows), after=after), TRUTH if truth is None else truth, **more)


def merged(*areas: str) -> Callable[[Any], None]:
    def run(made: Any) -> None:
        for area in areas:
            made.active.merge_cells(area)

    return run


def hide(name: str) -> Callable[[Any], None]:
    def run(made: Any) -> None:
        made[name].sheet_state = "hidden"
        made.active = next(i for i, one in enumerate(made.worksheets) if one.title != name)

    return run


def epoch_1904(made: Any) -> None:
    made.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904


def percent(made: Any) -> None:
    for row in made.active.iter_rows(min_row=2, max_col=1):
        row[0].number_format = "0.0%"


def note_aside(made: Any) -> None:
    made.active["H3"] = "checked by hand"


def chart_sheet(made: Any) -> None:
    bars = openpyxl.chart.BarChart()
    bars.add_data(openpyxl.chart.Reference(made["Data"], min_col=1, min_row=1, max_row=N + 1))
    made.create_chartsheet("Chart", 0).add_chart(bars)


BLOCKS = ["north"] * 20 + ["south"] * 20 + ["west"] * 20
FIRST = [value if i % 20 == 0 else None for i, value in enumerate(BLOCKS)]
FRAME = pd.DataFrame(TRUTH)


def written(method: str, frame: pd.DataFrame, **more: Any) -> bytes:
    out = io.BytesIO()
    getattr(frame, method)(out, **more)
    return out.getvalue()


def records(table: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(table, row)) for row in zip(*table.values())]


def text(value: Any) -> bytes:
    return json.dumps(value).encode()


GAPPED = {**TRUTH, "a": [None, *A[1:]]}
MAKERS: dict[str, Made] = {
    "sheet": sheet(ROWS),
    "xlsm": sheet(ROWS, file="m.xlsm"),
    "named_csv": sheet(ROWS, file="m.csv"),
    "offset": sheet([[], [], *([None, None, *row] for row in ROWS)]),
    "title": sheet([["Survey of 2020"], [], *ROWS], said="left out"),
    "footer": sheet([*ROWS, [], ["Source: survey"]], said="left out"),
    "total": sheet(rows_of({"k": [*K, "Total"], "a": [*A, sum(A)], "b": [*B, sum(B)]}), {"k": K, "a": A, "b": B}, said="Total"),
    "units": sheet([["a", "b", "y"], ["cm", "kg", None], *rows_of({"a": A, "b": B, "y": Y})[1:]], {"a": A, "b": B, "y": Y}, said="cm"),
    "merged_titles": sheet([["size", None, "class"], *ROWS], after=merged("A1:B1")),
    "merged_rows": sheet(rows_of({"k": FIRST, "a": A, "y": Y}), {"k": BLOCKS, "a": A, "y": Y}, after=merged("A2:A21", "A22:A41", "A42:A61"), said="merged"),
    "merged_header": sheet([["a", "k", "class"], [None, None, "y"], *ROWS[1:]], {"a": A, "k": K, "class": Y}, after=merged("A1:A2", "B1:B2"), said="line 2 below the names left out"),
    "not_merged_blocks": sheet(rows_of({"k": FIRST, "a": A, "y": Y}), {"k": FIRST, "a": A, "y": Y}, said="first of a block"),
    "numbers_as_text": sheet(rows_of({"a": [str(value) for value in A], "k": K, "y": Y})),
    "some_numbers_as_text": sheet(rows_of({"a": [str(value) if i % 2 else value for i, value in enumerate(A)], "k": K, "y": Y})),
    "german_text": sheet(rows_of({"a": [str(value).replace(".", ",") for value in A], "k": K, "y": Y}), said="decimal commas"),
    "percent_cells": sheet(ROWS, after=percent),
    "errors": sheet(rows_of({"a": ["#N/A", *A[1:]], "k": K, "y": Y}), GAPPED, said="#N/A"),
    "all_errors": sheet(rows_of({"a": A, "b": ["#DIV/0!"] * N, "y": Y}), {"a": A, "y": Y}, left_out=("b",), said="#DIV/0!"),
    "formulas": sheet(rows_of({"a": A, "b": [f"=A{i + 2}*2" for i in range(N)], "y": Y}), {"a": A, "y": Y}, left_out=("b",), said="formulas without stored values"),
    "some_formulas": sheet(rows_of({"a": A, "b": [f"=A{i + 2}*2" if i < 5 else value for i, value in enumerate(B)], "y": Y}), {"a": A, "b": [None] * 5 + B[5:], "y": Y}, said="5 of 60 cells hold formulas"),
    "dates": sheet(rows_of({"a": A, "d": DATES, "y": Y}), {"a": A, "y": Y}, left_out=("d",)),
    "dates_1904": sheet(rows_of({"a": A, "d": DATES, "y": Y}), {"a": A, "d": [(day - datetime.datetime(1970, 1, 1)).days for day in DATES], "y": Y}, after=epoch_1904, options={"keep": ["d"]}),
    "dates_1900": sheet(rows_of({"a": A, "d": DATES, "y": Y}), {"a": A, "d": [(day - datetime.datetime(1970, 1, 1)).days for day in DATES], "y": Y}, options={"keep": ["d"]}),
    "clock": sheet(rows_of({"a": A, "t": [datetime.time(i % 24, 30) for i in range(N)], "y": Y}), {"a": A, "t": [f"{i % 24:02}:30:00" for i in range(N)], "y": Y}),
    "booleans": sheet(rows_of({"a": A, "b": [i % 3 == 0 for i in range(N)], "y": Y}), {"a": A, "b": [str(i % 3 == 0) for i in range(N)], "y": Y}),
    "leading_zeros": sheet(rows_of({"a": A, "b": [f"00{i % 7}" for i in range(N)], "y": Y}), {"a": A, "b": [f"00{i % 7}" for i in range(N)], "y": Y}, said="leading zeros"),
    "note_aside": sheet(ROWS, after=note_aside, said="beside the table"),
    "empty_column": sheet(rows_of({"a": A, "b": [None] * N, "y": Y}), {"a": A, "y": Y}, left_out=("b",)),
    "numbers_for_names": sheet([["k", 2019, 2020], *rows_of({"k": K, "a": A, "b": B})[1:]], {"k": K, "2019": A, "2020": B}),
    "two_tables_below": sheet([*ROWS, [], ["p", "q", "r"], *rows_of({"p": A, "q": K, "r": Y})[1:]], refused="second table"),
    "cover": Made("m.xlsx", book(("About", [["Survey"], ["by a group"]]), ("Data", ROWS)), TRUTH, said="sheet 'Data'"),
    "hidden": Made("m.xlsx", book(("Old", ROWS[:20]), ("Data", ROWS), after=hide("Old")), TRUTH, said="'Old' \\(hidden\\)"),
    "chart": Made("m.xlsx", book(("Data", ROWS), after=chart_sheet), TRUTH),
    "several": Made("m.xlsx", book(("Data", ROWS), ("More", ROWS[:30])), TRUTH, said="another: sheet='More'"),
    "several_chosen": Made("m.xlsx", book(("Old", ROWS[:20]), ("Data", ROWS)), TRUTH, options={"sheet": "Data"}),
    "unknown_sheet": Made("m.xlsx", book(("Old", ROWS[:20]), ("Data", ROWS)), TRUTH, options={"sheet": "Dat"}, refused="there is no sheet 'Dat'"),
    "empty_book": Made("m.xlsx", book(("Data", [])), {}, refused="empty"),
    "cut_book": Made("m.xlsx", book(("Data", ROWS))[:2000], {}, refused="damaged"),
    "csv_named_xlsx": Made("m.xlsx", PLAIN.encode(), TRUTH),
    "tabs_named_xls": Made("m.xls", PLAIN.replace(",", "\t").encode(), TRUTH),
    "ods": Made("m.ods", packed({"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": "<x/>"}), {}, refused="OpenDocument.*save"),
    "xlsb": Made("m.xlsb", packed({"[Content_Types].xml": "<x/>", "xl/workbook.bin": b"\0"}), {}, refused="xlsb.*save"),
    "parquet": Made("m.parquet", written("to_parquet", FRAME), TRUTH),
    "parquet_index": Made("m.parquet", written("to_parquet", FRAME.set_index(pd.RangeIndex(5, 5 + N))), TRUTH),
    "parquet_named_index": Made("m.parquet", written("to_parquet", FRAME.set_index("k")), {"a": A, "y": Y}),
    "parquet_types": Made("m.parquet", written("to_parquet", pd.DataFrame({"i": pd.array([None, *range(1, N)], dtype="Int64"), "b": [True, False] * 30, "c": pd.Categorical(K), "y": Y})),
                          {"i": [None, *map(float, range(1, N))], "b": ["True", "False"] * 30, "c": K, "y": Y}),
    "parquet_dates": Made("m.parquet", written("to_parquet", pd.DataFrame({"a": A, "d": DATES, "y": Y})), {"a": A, "y": Y}, left_out=("d",)),
    "parquet_decimals": Made("m.parquet", written("to_parquet", pd.DataFrame({"a": [decimal.Decimal(str(value)) for value in A], "k": K, "y": Y})), TRUTH),
    "parquet_lists": Made("m.parquet", written("to_parquet", pd.DataFrame({"a": A, "l": [[1, 2]] * N, "y": Y})), {}, refused="'l' holds lists"),
    "parquet_cut": Made("m.parquet", written("to_parquet", FRAME)[:-20], {}, refused="parquet"),
    "feather": Made("m.feather", written("to_feather", FRAME), TRUTH),
    "feather_named_csv": Made("m.csv", written("to_feather", FRAME), TRUTH),
    "feather_cut": Made("m.feather", written("to_feather", FRAME)[:-40], {}, refused="damaged feather"),
    "stata": Made("m.dta", written("to_stata", FRAME, write_index=False), TRUTH),
    "stata_labels": Made("m.dta", written("to_stata", FRAME.assign(k=pd.Categorical(K)), write_index=False), TRUTH),
    "stata_old": Made("m.dta", written("to_stata", FRAME, write_index=False, version=114), TRUTH),
    "stata_dates": Made("m.dta", written("to_stata", pd.DataFrame({"a": A, "d": DATES, "y": Y}), write_index=False), {"a": A, "y": Y}, left_out=("d",)),
    "json_records": Made("m.json", text(records(TRUTH)), TRUTH),
    "json_gaps": Made("m.json", text([{name: value for name, value in row.items() if value is not None} for row in records(GAPPED)]), {"k": K, "y": Y, "a": GAPPED["a"]}, target="y", options={"target": "y"}),
    "json_nulls": Made("m.json", text(records(GAPPED)), GAPPED),
    "json_lines": Made("m.jsonl", b"\n".join(map(text, records(TRUTH))), TRUTH),
    "json_lines_cut": Made("m.jsonl", b"\n".join(map(text, records(TRUTH)))[:-5], {}, refused="damaged in line 60"),
    "json_columns": Made("m.json", text(TRUTH), TRUTH),
    "json_pandas": Made("m.json", FRAME.to_json().encode(), TRUTH),
    "json_split": Made("m.json", FRAME.to_json(orient="split").encode(), TRUTH),
    "json_table": Made("m.json", text({"schema": {}, "data": records(TRUTH)}), TRUTH),
    "json_lists": Made("m.json", text(ROWS), TRUTH),
    "json_nested": Made("m.json", text([{**row, "at": {"x": 1}} for row in records(TRUTH)]), {}, refused="'at' holds lists or records"),
    "json_text_numbers": Made("m.json", text(records({**TRUTH, "a": [str(value) for value in A]})), TRUTH),
    "json_numbers": Made("m.json", text([1, 2, 3]), {}, refused="JSON without a table|table"),
    "json_named_csv": Made("m.csv", text(records(TRUTH)), TRUTH),
    "json_mixed_types": Made("m.json", text(records({**TRUTH, "k": [one if i % 2 else 5 for i, one in enumerate(K)]})), {**TRUTH, "k": [one if i % 2 else "5" for i, one in enumerate(K)]}),
}
