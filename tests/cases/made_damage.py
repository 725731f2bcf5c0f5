"""Made tables with the damage that files of people have: cut rows, marks, dress, dates, packing."""

# ruff: noqa: E501
# fmt: off
from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from typing import Any

import numpy as np
from made_uci import lines, pick, real, shown
from verdicts import Made

N = 60
_RNG = np.random.default_rng(5)
A, B, K, Y = real(_RNG, 1, 20, 2), real(_RNG, 3, 9, 2), pick(_RNG, "north south west"), pick(_RNG, "red blue")
C = [float(f"{value:.1f}") for value in real(_RNG, 1, 9, 1)]
TRUTH = {"a": A, "k": K, "y": Y}
DAYS = [(2020, 1 + i % 12, 13 + i % 15) for i in range(N)]  # day and month cannot be confused
EARLY = [(2020, 1 + i % 12, 1 + i % 12) for i in range(N)]


def csv_of(table: dict[str, list[Any]], separator: str = ",", gap: str = "", names: bool = True) -> str:
    return (separator.join(table) + "\n" if names else "") + lines([*table.values()], separator, gap)


PLAIN = csv_of(TRUTH)
ROWS = PLAIN.splitlines()


def made(name: str, content: str | bytes, truth: dict[str, list[Any]] | None = None, file: str = "m.csv", **more: Any) -> tuple[str, Made]:
    content = content if isinstance(content, bytes) else content.encode()
    return name, Made(file, content, TRUTH if truth is None else truth, **more)


def column(name: str, texts: list[Any], truth: list[Any] | None, **more: Any) -> tuple[str, Made]:
    """Make a table whose column b holds the given texts; None as truth: it is left out."""
    texts = (texts * N)[:N]
    more.setdefault("target", "y")
    separator = more.pop("separator", ";")
    table = {"a": A, "b": texts, "y": Y}
    wanted = {"a": A, "y": Y} if truth is None else {"a": A, "b": (truth * N)[:N], "y": Y}
    if truth is None:
        more.setdefault("left_out", ("b",))
    return made(name, csv_of(table, separator), wanted, **more)


def quoted(texts: list[str]) -> list[str]:
    return [f'"{text}"' for text in texts]


def inserted(at: int, *new: str) -> str:
    return "\n".join([*ROWS[:at], *new, *ROWS[at:]]) + "\n"


def packed(files: dict[str, bytes | str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def tarred(files: dict[str, str], mode: str = "w") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        for name, content in files.items():
            about = tarfile.TarInfo(name)
            about.size = len(content.encode())
            archive.addfile(about, io.BytesIO(content.encode()))
    return out.getvalue()


def cyclic(values: list[Any]) -> list[Any]:
    return (values * N)[:N]


STRUCTURE = [
    made("plain", PLAIN),
    made("row_cut", inserted(20, "3.5,north"), refused="line 21: 2 fields where the header has 3"),
    made("last_row_cut", PLAIN.rstrip("\n") + "\n3.5,nor", refused="2 fields where the header has 3"),
    made("last_field_cut", PLAIN[: -len(Y[-1]) - 1].rstrip("\n") + "\n", {**TRUTH, "y": [*Y[:-1], None]}),
    made("row_longer", inserted(20, "3.5,north,red,7"), refused="line 21: 4 fields where the header has 3"),
    made("two_rows_in_one", inserted(20, ROWS[5] + "," + ROWS[6]), refused="line 21: 6 fields"),
    made("comma_in_text", inserted(20, "3.5,north, far,red"), refused="line 21: 4 fields"),
    made("mixed_separators", "\n".join(row.replace(",", ";") if i > 30 else row for i, row in enumerate(ROWS)) + "\n", refused="line 32: 1 field"),
    made("few_other_separators", inserted(20, "3.5;north;red"), refused="line 21: 1 field"),
    made("open_quote", inserted(20, '3.5,"north,red'), refused="quotation mark"),
    made("quote_in_field", inserted(20, '3.5,no"rth,red'), {"a": [*A[:19], 3.5, *A[19:]], "k": [*K[:19], 'no"rth', *K[19:]], "y": [*Y[:19], "red", *Y[19:]]}),
    made("inches", csv_of({"a": A, "k": [f'5" {one}' for one in K], "y": Y}), {"a": A, "k": [f'5" {one}' for one in K], "y": Y}),
    made("two_tables", PLAIN + "\n" + csv_of({"p": A, "q": B}), refused="line 63: 2 fields|second table"),
    made("two_tables_alike", PLAIN + "\n" + csv_of({"p": A, "q": K, "r": Y}), refused="line 63"),
    made("names_again", PLAIN + PLAIN, {name: values * 2 for name, values in TRUTH.items()}, said="repeat"),
    made("bom", b"\xef\xbb\xbf" + PLAIN.encode()),
    made("bom_quoted", b"\xef\xbb\xbf" + PLAIN.replace("a,k,y", '"a","k","y"').encode()),
    made("bom_inside", PLAIN + "\ufeff" + csv_of(TRUTH), {name: values * 2 for name, values in TRUTH.items()}, said="repeat"),
    made("utf_16", PLAIN.encode("utf-16")),
    made("utf_16_no_mark", PLAIN.encode("utf-16-le"), said="UTF-16"),
    made("utf_32", PLAIN.encode("utf-32")),
    made("latin_1", PLAIN.replace("north", "Köln").encode("latin-1"), {**TRUTH, "k": [one.replace("north", "Köln") for one in K]}, said="Windows-1252"),
    made("mixed_encodings", PLAIN.replace("north", "Köln").encode() + "7,Köln,red\n".encode("latin-1"),
         {"a": [*A, 7.0], "k": [*(one.replace("north", "Köln") for one in K), "Köln"], "y": [*Y, "red"]}, said="UTF-8"),
    made("nul_bytes", PLAIN.encode() + b"\0" * 40),
    made("nul_inside", PLAIN.replace("north", "no\0rth", 1), refused="zero bytes"),
    made("control_z", PLAIN.encode() + b"\x1a"),
    made("crlf", PLAIN.replace("\n", "\r\n")),
    made("cr", PLAIN.replace("\n", "\r")),
    made("mixed_ends", PLAIN.replace("\n", "\r\n", 30)),
    made("crcrlf", PLAIN.replace("\n", "\r\r\n")),
    made("no_last_end", PLAIN.rstrip("\n")),
    made("empty_lines", PLAIN.replace("\n", "\n\n")),
    made("blank_lines", PLAIN.replace("\n", "\n   \n", 3)),
    made("footer", PLAIN + "Source: survey of 2020\n", said="left out"),
    made("footers", PLAIN + "\nSource: survey of 2020\nLast updated: May\n", said="left out"),
    made("footer_with_commas", PLAIN + "\n\"Source: survey, of 2020, and more\"\n", said="left out"),
    made("footer_n_rows", PLAIN + "(60 rows affected)\n", said="left out"),
    made("footer_padded", PLAIN + "Source: survey,,\n", said="left out"),
    made("total", csv_of({"k": [*K, "Total"], "a": [*A, round(sum(A), 2)], "b": [*B, round(sum(B), 2)]}), {"k": K, "a": A, "b": B}, said="Total"),
    made("mean_last", csv_of({"k": [*K, "Mean"], "a": [*A, round(sum(A) / N, 4)], "b": [*B, round(sum(B) / N, 4)]}), {"k": K, "a": A, "b": B}, said="Mean"),
    made("total_first", csv_of({"k": ["Total", *K], "a": [round(sum(A), 2), *A], "b": [round(sum(B), 2), *B]}), {"k": K, "a": A, "b": B}, said="Total"),
    made("total_without_word", csv_of({"k": [*K, ""], "a": [*A, round(sum(A), 2)], "b": [*B, round(sum(B), 2)]}), {"k": K, "a": A, "b": B}, said="sum"),
    made("total_and_mean", csv_of({"k": [*K, "Total", "Mean"], "a": [*A, round(sum(A), 2), round(sum(A) / N, 3)], "b": [*B, round(sum(B), 2), round(sum(B) / N, 3)]}), {"k": K, "a": A, "b": B}, said="Total"),
    made("units_row", "a,b,y\ncm,kg,\n" + csv_of({"a": A, "b": B, "y": Y}, names=False), {"a": A, "b": B, "y": Y}, said="cm, kg"),
    made("units_in_brackets", "a,b,y\n(cm),(kg),(-)\n" + csv_of({"a": A, "b": B, "y": Y}, names=False), {"a": A, "b": B, "y": Y}, said="cm"),
    made("types_row", "a,k,y\nfloat,string,class\n" + csv_of(TRUTH, names=False), said="float"),
    made("merged_header", "size,,class\na,k,y\n" + csv_of(TRUTH, names=False)),
    made("title", "Survey of 2020\n" + PLAIN, said="left out"),
    made("title_padded", "Survey of 2020,,\n,,\n" + PLAIN, said="left out"),
    made("titles_of_two_cells", "Survey,2020,\nAuthor,Smith,\n" + PLAIN, said="left out"),
    made("key_value_header", "Survey: 2020\nAuthor: Smith\nN: 60\n\n" + PLAIN, said="left out"),
    made("same_names", "a,a,y\n" + csv_of({"a": A, "b": B, "y": Y}, names=False), {"a": A, "a.2": B, "y": Y}, said="more than once"),
    made("empty_names", "a,,y\n" + csv_of(TRUTH, names=False), {"a": A, "x2": K, "y": Y}),
    made("empty_first_name", ",a,y\n" + csv_of({"i": [float(i) for i in range(N)], "a": A, "y": Y}, names=False), {"a": A, "y": Y}, left_out=("x1",)),
    made("unnamed_0", csv_of({"Unnamed: 0": [float(i) for i in range(N)], "a": A, "y": Y}), {"a": A, "y": Y}, left_out=("Unnamed: 0",)),
    made("trailing_separators", PLAIN.replace("\n", ",\n")),
    made("trailing_two", PLAIN.replace("\n", ",,\n")),
    made("leading_separators", "".join("," + row + "\n" for row in ROWS)),
    made("markdown", "| a | k | y |\n|---|---|---|\n" + "".join("| " + row.replace(",", " | ") + " |\n" for row in ROWS[1:])),
    made("latex_ampersands", "".join(row.replace(",", " & ") + " \\\\\n" for row in ROWS), refused="--sep|sep=|columns?"),
    made("names_with_lines", '"a","k","y\n(class)"\n' + csv_of(TRUTH, names=False), {"a": A, "k": K, "y (class)": Y}),
    made("texts_with_lines", csv_of({"a": A, "k": [f'"{one}\nside"' for one in K], "y": Y}), {"a": A, "k": [f"{one}\nside" for one in K], "y": Y}),
    made("all_quoted", "".join(",".join(f'"{cell}"' for cell in row.split(",")) + "\n" for row in ROWS)),
    made("single_quotes", "".join(",".join(f"'{cell}'" for cell in row.split(",")) + "\n" for row in ROWS)),
    made("single_quotes_with_commas", csv_of({"a": A, "k": [f"'{one}, far'" for one in K], "y": Y}), {"a": A, "k": [f"{one}, far" for one in K], "y": Y}, refused="line 2: 4 fields"),
    made("whole_lines_quoted", "".join(f'"{row}"\n' for row in ROWS)),
    made("backslash_escapes", csv_of({"a": A, "k": [f'"{one} \\"x\\" side"' for one in K], "y": Y}), {"a": A, "k": [f'{one} "x" side' for one in K], "y": Y}),
    made("r_names", "a k y\n" + "".join(f"{i} {row.replace(',', ' ')}\n" for i, row in enumerate(ROWS[1:], 1)), left_out=("x1",)),
    made("r_quoted", '"a","k","y"\n' + "".join(f'"{i}",{a},"{k}","{y}"\n' for i, (a, k, y) in enumerate(zip(A, K, Y), 1)), left_out=("x1",)),
    made("sep_line", "sep=;\n" + PLAIN.replace(",", ";")),
    made("bars", PLAIN.replace(",", "|")),
    made("tildes", PLAIN.replace(",", "~")),
    made("carets", PLAIN.replace(",", "^")),
    made("double_bars", PLAIN.replace(",", "||")),
    made("tabs_in_csv", PLAIN.replace(",", "\t"), said="tabs"),
    made("comma_blank", PLAIN.replace(",", ", ")),
    made("comma_tab", PLAIN.replace(",", ",\t")),
    made("fixed_width", "".join(f"{a:>8} {k:<8} {y:<6}\n" for a, k, y in [("a", "k", "y"), *zip(A, K, Y)]), file="m.txt"),
    made("fixed_width_gap", "a       k       y\n" + "".join(f"{'' if i == 5 else a:<8}{k:<8}{y}\n" for i, (a, k, y) in enumerate(zip(A, K, Y))), file="m.txt", refused="line 7: 2 fields"),
    made("comments", "# made\n# by hand\n" + PLAIN, said="above the table"),
    made("comment_inside", inserted(20, "# second day"), said="between the rows"),
    made("comment_at_end", PLAIN + "# end\n", said="between the rows|left out"),
    made("numbers_for_names", "0,1,2\n" + csv_of(TRUTH, names=False), {"0": A, "1": K, "2": Y}),
    made("years_for_names", "k,2019,2020\n" + lines([K, A, B]), {"k": K, "2019": A, "2020": B}),
    made("dates_for_names", "k,2020-01-01,2020-02-01\n" + lines([K, A, B]), {"k": K, "2020-01-01": A, "2020-02-01": B}),
    made("only_names", "a,k,y\n", {"x1": ["a"], "x2": ["k"], "y": ["y"]}, refused="header but no rows"),
    made("one_row", "a,k,y\n1,north,red\n", {"a": [1.0], "k": ["north"], "y": ["red"]}),
    made("one_column", "a\n" + lines([A]), {}, refused="one column"),
    made("empty", "", {}, refused="empty"),
    made("only_blanks", "  \n \n", {}, refused="empty"),
    made("empty_column", csv_of({"a": A, "b": [""] * N, "y": Y}), {"a": A, "y": Y}, left_out=("b",)),
    made("constant", csv_of({"a": A, "b": ["x"] * N, "y": Y}), {"a": A, "b": ["x"] * N, "y": Y}),
    made("wide", csv_of({f"c{i}": A for i in range(700)} | {"y": Y}), {f"c{i}": A for i in range(700)} | {"y": Y}),
]
DRESS = [
    column("thousands", quoted(["1,200", "950", "12,000", "3,100"]), [1200.0, 950.0, 12000.0, 3100.0], separator=",", said="is read as"),
    column("millions", quoted(["1,200,000", "950", "12,000.5"]), [1200000.0, 950.0, 12000.5], separator=",", said="is read as"),
    column("indian", quoted(["1,23,456", "95,000", "12,34,567"]), [123456.0, 95000.0, 1234567.0], separator=",", said="is read as"),
    column("german", ["1.234,50", "2.500,00", "3,5"], [1234.5, 2500.0, 3.5], said="is read as|decimal commas"),
    column("decimal_commas", ["1,25", "2,5", "3"], [1.25, 2.5, 3.0], said="decimal commas"),
    column("decimal_commas_quoted", quoted(["1,25", "2,5", "3"]), [1.25, 2.5, 3.0], separator=",", said="decimal commas"),
    column("french", ["1\u202f234,5", "2 500", "3,5"], [1234.5, 2500.0, 3.5], said="is read as"),
    column("swiss", ["1'234.50", "2’500", "3.5"], [1234.5, 2500.0, 3.5], said="is read as"),
    column("dollars", ["$1,200", "$950.50", "-$3"], [1200.0, 950.5, -3.0], said="is read as"),
    column("euros", ["1.200 €", "950,50 €", "3 €"], [1200.0, 950.5, 3.0], said="is read as"),
    column("usd", ["USD 1,200", "USD 950.50", "USD 3"], [1200.0, 950.5, 3.0], said="is read as"),
    column("two_currencies", ["$1,200", "€950", "$3", "£4"], ["$1,200", "€950", "$3", "£4"], said="different units"),
    column("percent", ["5.1%", "6 %", "7.25%"], [5.1, 6.0, 7.25], said="is read as"),
    column("percent_and_share", ["5.1%", "0.06", "7.25%", "0.5"], ["5.1%", "0.06", "7.25%", "0.5"], said="read as labels|%"),
    column("units", ["12.3 cm", "4 cm", "5cm", "6.5 cm"], [12.3, 4.0, 5.0, 6.5], said="cm"),
    column("two_units", ["12.3 cm", "4 m", "5 cm", "6.5 m"], ["12.3 cm", "4 m", "5 cm", "6.5 m"], said="different units"),
    column("magnitudes", ["1.2M", "3.5k", "2M", "7k"], ["1.2M", "3.5k", "2M", "7k"], said="different units"),
    column("million_only", ["1.2M", "3.5M", "2M", "7M"], [1.2, 3.5, 2.0, 7.0], said="M taken off"),
    column("some_in_thousands", ["1.2k", "350", "2k", "700", "3.1k", "12"], ["1.2k", "350", "2k", "700", "3.1k", "12"], said="k"),
    column("brackets", ["(1200)", "345", "-12"], [-1200.0, 345.0, -12.0], said="is read as"),
    column("minus_after", ["1200-", "345", "12-", "7.5-"], [-1200.0, 345.0, -12.0, -7.5], said="is read as"),
    column("minus_unicode", ["\u22121.5", "3", "\u221212"], [-1.5, 3.0, -12.0], said="is read as"),
    column("minus_dash", ["–1.5", "3", "–12"], [-1.5, 3.0, -12.0], said="is read as"),
    column("plus", ["+1.5", "3", "+12"], [1.5, 3.0, 12.0]),
    column("exponents", ["1e5", "1E-3", "2.5e+02"], [1e5, 1e-3, 250.0]),
    column("fortran", ["1.5D+02", "2.0D-01", "3.0D+00"], [150.0, 0.2, 3.0], said="is read as"),
    column("times_ten", ["1.5x10^3", "2x10^2", "3.1x10^4"], ["1.5x10^3", "2x10^2", "3.1x10^4"]),
    column("hex", ["0x1F", "0xA0", "0x00"], ["0x1F", "0xA0", "0x00"]),
    column("versions", ["1.2.3", "1.10.0", "2.0.1"], ["1.2.3", "1.10.0", "2.0.1"]),
    column("ip", ["10.0.0.1", "10.0.0.2", "192.168.1.1"], ["10.0.0.1", "10.0.0.2", "192.168.1.1"]),
    column("booleans", ["true", "false", "true"], ["true", "false", "true"]),
    column("booleans_mixed", ["TRUE", "true", "False", "FALSE", "true", "False"], ["true", "true", "False", "False", "true", "False"], said="spellings"),
    column("yes_no", ["yes", "no", "Yes", "NO", "yes", "no"], ["yes", "no", "yes", "no", "yes", "no"], said="spellings"),
    column("cases", ["Cat", "cat", "CAT", "dog", "cat"], ["cat", "cat", "cat", "dog", "cat"], said="spellings"),
    column("padded", ["cat  ", "cat", " dog", "dog"], ["cat", "cat", "dog", "dog"]),
    column("padded_quoted", quoted(["cat  ", "cat", " dog", "dog"]), ["cat", "cat", "dog", "dog"]),
    column("nbsp", ["big cat", "big\u00a0cat", "dog"], ["big cat", "big cat", "dog"], said="spellings"),
    column("zero_width", ["cat", "cat\u200b", "dog", "cat"], ["cat", "cat", "dog", "cat"], said="spellings"),
    column("composed", ["Köln", "Ko\u0308ln", "Ulm", "Köln"], ["Köln", "Köln", "Ulm", "Köln"], said="spellings"),
    column("leading_zeros", ["01067", "04109", "10115"], ["01067", "04109", "10115"], said="leading zeros"),
    column("excel_codes", ['="001"', '="002"', '="010"'], ["001", "002", "010"], said="leading zeros"),
    column("excel_apostrophes", ["'001", "'002", "'010"], ["001", "002", "010"], said="leading zeros"),
    column("ids", [f"P{i:03}" for i in range(N)], None),
    column("long_ids", [f"{4000123412340000 + 17 * i}" for i in range(N)], None),
    column("uuids", [f"123e4567-e89b-12d3-a456-4266141740{i:02}" for i in range(N)], None),
    column("phones", ["+49 30 1234567", "030/7654321", "(030) 5557"], ["+49 30 1234567", "030/7654321", "(030) 5557"]),
    column("ranges", ["10-20", "20-30", "30-40"], ["10-20", "20-30", "30-40"]),
    column("fractions", ["1/2", "1/3", "2/3"], ["1/2", "1/3", "2/3"]),
    column("censored", ["<5", "5.5", "7.2", "<5", "8.1", "9.3"], ["<5", "5.5", "7.2", "<5", "8.1", "9.3"], said="<5"),
    column("censored_few", ["<5", *(f"{5 + i / 10:.1f}" for i in range(29))], [None, *(5 + i / 10 for i in range(29))], said="<5"),
    column("top_coded", ["90+", *(f"{i}" for i in range(40, 69))], [None, *(float(i) for i in range(40, 69))], said=r"90\+"),
    column("errors_of_means", ["5.1±0.2", "6.2±0.1", "7.0±0.3"], ["5.1±0.2", "6.2±0.1", "7.0±0.3"]),
    column("stars", ["5.1*", "6.2", "7.0**"], ["5.1*", "6.2", "7.0**"], said=r"\*"),
    column("coordinates", ["52°31'N", "48°08'N", "53°33'N"], ["52°31'N", "48°08'N", "53°33'N"]),
    column("clock", ["12:30", "08:15", "23:59"], ["12:30", "08:15", "23:59"]),
    column("infinite", ["inf", "1.5", "-inf", "2"], [np.inf, 1.5, -np.inf, 2.0]),
    column("not_a_number", ["NaN", "1.5", "nan", "2"], [None, 1.5, None, 2.0]),
    column("windows_nan", ["-1.#IND", "1.5", "1.#QNAN", "2", *map(str, range(3, 30))], [None, 1.5, None, 2.0, *map(float, range(3, 30))], said="IND"),
    column("wide_digits", ["１２", "３", "４５"], [12.0, 3.0, 45.0]),
    column("long_numbers", ["0.1234567890123456789", "2.5", "3"], [0.12345678901234568, 2.5, 3.0]),
    column("negative_zero", ["-0", "0", "1.5"], [0.0, 0.0, 1.5]),
]
GAPS = [
    *(
        column(f"gap_{i}", [mark, *map(str, range(1, 20))], [None, *map(float, range(1, 20))])
        for i, mark in enumerate(
            ["", "NA", "N/A", "n/a", "na", "null", "NULL", "None", "none", "nan", "-", "--", ".", "?", "#N/A", "<NA>", "\\N", "(null)",
             "unknown", "Unknown", "missing", "not available", "n.a.", "nil", "*", "…", "#DIV/0!", "#REF!", "NaT", "N.D.", "no data",
             "not applicable", "prefer not to say", "refused", "don't know", "x", "k.A.", "s/d", "n. d.", "NO DATA", "empty", "blank"]
        )
    ),
    column("gaps_999", ["-999", *map(str, range(1, 20))], [None, *map(float, range(1, 20))], said="-999"),
    column("gaps_999_half", ["-999", "1.5", "-999", "2.5"], [None, 1.5, None, 2.5], said="-999"),
    column("gaps_9999", ["9999", *map(str, range(1, 20))], [9999.0, *map(float, range(1, 20))], said="9999"),
    column("gaps_9999_minus", ["-9999.0", "-3.5", "-7", "4"], [None, -3.5, -7.0, 4.0], said="-9999"),
    column("gaps_99", ["99", *map(str, range(1, 8))], [99.0, *map(float, range(1, 8))], said="99"),
    column("gaps_200", ["-200", *map(str, range(1, 20))], [-200.0, *map(float, range(1, 20))], said="-200"),
    column("gaps_1e20", ["1e+20", *map(str, range(1, 20))], [1e20, *map(float, range(1, 20))], said="1e\\+20"),
    column("gaps_32768", ["-32768", *map(str, range(1, 20))], [-32768.0, *map(float, range(1, 20))], said="-32768"),
    column("gaps_two_kinds", ["-998", "-999", *map(str, range(1, 20))], [-998.0, -999.0, *map(float, range(1, 20))], said="-99"),
    column("label_na", ["NA", "DE", "FR"], ["NA", "DE", "FR"], said="'NA'"),
    column("label_none", ["none", "mild", "severe"], ["none", "mild", "severe"]),
    column("label_na_lower", ["na", "de", "fr"], ["na", "de", "fr"], said="'na'"),
    column("label_null", ["null", "gas", "oil"], [None, "gas", "oil"], said="null"),
    column("label_question", ["?", "gas", "oil"], [None, "gas", "oil"]),
    column("label_minus", ["-", "+", "+"], ["-", "+", "+"]),
    column("label_backslash_n", ["\\N", "gas", "oil"], [None, "gas", "oil"], said="N"),
    column("label_empty_quoted", ['""', "gas", "oil"], [None, "gas", "oil"]),
]
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
DATES = [
    column("date_iso", [f"{y}-{m:02}-{d:02}" for y, m, d in DAYS], None),
    column("date_iso_time", [f"{y}-{m:02}-{d:02} 12:{d}:00" for y, m, d in DAYS], None),
    column("date_iso_zone", [f"{y}-{m:02}-{d:02}T12:{d}:00Z" for y, m, d in DAYS], None),
    column("date_iso_offset", [f"{y}-{m:02}-{d:02}T12:{d}:00.123+02:00" for y, m, d in DAYS], None),
    column("date_german", [f"{d:02}.{m:02}.{y}" for y, m, d in DAYS], None),
    column("date_short_year", [f"{d:02}.{m:02}.{y % 100}" for y, m, d in DAYS], None),
    column("date_english", [f"{d:02}/{m:02}/{y}" for y, m, d in DAYS], None),
    column("date_american", [f"{m}/{d}/{y}" for y, m, d in DAYS], None),
    column("date_ambiguous", [f"{m:02}/{d:02}/{y}" for y, m, d in EARLY], None, said="day.month.year|month"),
    column("date_names", [f"{d} {_MONTHS[m - 1]} {y}" for y, m, d in DAYS], None),
    column("date_sas", [f"{d:02}{_MONTHS[m - 1].upper()}{y}" for y, m, d in DAYS], None),
    column("date_names_first", [f"{_MONTHS[m - 1]} {d}, {y}" for y, m, d in DAYS], None, separator=";"),
    column("date_dashes", [f"{d}-{_MONTHS[m - 1]}-{y % 100}" for y, m, d in DAYS], None),
    column("date_digits", [f"{y}{m:02}{d:02}" for y, m, d in DAYS], None),
    column("date_slashes", [f"{y}/{m:02}/{d:02}" for y, m, d in DAYS], None),
    column("date_month", [f"{y}-{m:02}" for y, m, d in DAYS], None),
    column("date_month_name", [f"{_MONTHS[m - 1]}-{y % 100}" for y, m, d in DAYS], None),
    column("date_quarter", [f"{y}Q{1 + m // 4}" for y, m, d in DAYS], [f"{y}Q{1 + m // 4}" for y, m, d in DAYS]),
    column("date_weekday", [f"Mon, {d} {_MONTHS[m - 1]} {y} 10:00" for y, m, d in DAYS], None),
    column("date_mixed", [f"{y}-{m:02}-{d:02}" if i % 2 else f"{d:02}.{m:02}.{y}" for i, (y, m, d) in enumerate(DAYS)], None, said="date"),
    column("date_gap", ["", *(f"{y}-{m:02}-{d:02}" for y, m, d in DAYS[1:])], None),
    column("date_unknown", ["unknown", *(f"{y}-{m:02}-{d:02}" for y, m, d in DAYS[1:])], None),
    column("date_zero", ["0000-00-00", *(f"{y}-{m:02}-{d:02}" for y, m, d in DAYS[1:])], None),
    column("date_unix", [f"{1577836800 + 86400 * i}" for i in range(N)], [1577836800.0 + 86400 * i for i in range(N)]),
    column("date_year", [f"{2000 + i % 20}" for i in range(N)], [2000.0 + i % 20 for i in range(N)]),
]

ARFF = "@relation r\n@attribute a numeric\n@attribute k {north,south,west}\n@attribute y {blue,red}\n@data\n"
BODY = csv_of(TRUTH, names=False)


def sparse(row: tuple[Any, ...], first: tuple[str, ...] = ("", "north", "blue")) -> str:
    parts = [f"{i} {shown(value)}" for i, (value, zero) in enumerate(zip(row, first)) if value != zero and value != 0]
    return "{" + ", ".join(parts) + "}\n"


ZEROS = [0.0 if i % 3 else value for i, value in enumerate(A)]
SPARSE = {"a": ZEROS, "k": K, "y": Y}
HEADERS = [
    made("arff", ARFF + BODY, file="m.arff"),
    made("arff_upper", ARFF.upper().replace("{NORTH,SOUTH,WEST}", "{north,south,west}").replace("{BLUE,RED}", "{blue,red}").replace(" A ", " a ").replace(" K ", " k ").replace(" Y ", " y ") + BODY, file="m.ARFF"),
    made("arff_sparse", ARFF + "".join(map(sparse, zip(*SPARSE.values()))), SPARSE, file="m.arff"),
    made("arff_sparse_gaps", ARFF + "".join(map(sparse, zip(*SPARSE.values()))) + "{0 ?, 1 south, 2 red}\n{}\n", {"a": [*ZEROS, None, 0.0], "k": [*K, "south", "north"], "y": [*Y, "red", "blue"]}, file="m.arff"),
    made("arff_sparse_quoted", ARFF.replace("north", "'far north'").replace("south", "'deep south'") + "".join(sparse(row, ("", "north", "blue")) for row in zip(*SPARSE.values())).replace("south", "'deep south'"),
         {**SPARSE, "k": [one.replace("north", "far north").replace("south", "deep south") for one in K]}, file="m.arff"),
    made("arff_sparse_beyond", ARFF + "{0 1, 7 red}\n" + BODY, {}, file="m.arff", refused="line 6: .*7"),
    made("arff_sparse_twice", ARFF + "{0 1, 0 2}\n" + BODY, {}, file="m.arff", refused="line 6"),
    made("arff_mixed_sparse", ARFF + "{0 1.5, 1 west}\n" + BODY, {"a": [1.5, *A], "k": ["west", *K], "y": ["blue", *Y]}, file="m.arff"),
    made("arff_tabs", ARFF.replace(" ", "\t").replace("numeric", "\tnumeric") + BODY.replace(",", "\t"), file="m.arff"),
    made("arff_comments", "% title\n" + ARFF.replace("numeric", "numeric % size") + BODY + "% end\n", file="m.arff"),
    made("arff_quoted_mark", ARFF.replace("north", "'?'") + BODY.replace("north", "'?'"), {**TRUTH, "k": [one.replace("north", "?") for one in K]}, file="m.arff"),
    made("arff_date", ARFF.replace("@data", "@attribute d date 'yyyy-MM-dd'\n@data") + csv_of({**TRUTH, "d": [f'"{y}-{m:02}-{d:02}"' for y, m, d in DAYS]}, names=False), TRUTH, file="m.arff", left_out=("d",)),
    made("arff_string", ARFF.replace("@attribute y", "@attribute s string\n@attribute y") + csv_of({"a": A, "k": K, "s": [f"'note {i}, long'" for i in range(N)], "y": Y}, names=False), TRUTH, file="m.arff", left_out=("s",)),
    made("arff_relational", ARFF.replace("@attribute y", "@attribute bag relational\n  @attribute f numeric\n@end bag\n@attribute y") + csv_of({"a": A, "k": K, "s": ['"1\\n2"'] * N, "y": Y}, names=False), {}, file="m.arff", refused="relational"),
    made("arff_weights", ARFF + "".join(row + ",{2}\n" for row in BODY.splitlines()), file="m.arff", said="weight"),
    made("arff_undeclared", ARFF + BODY + "1,east,red\n", {}, file="m.arff", refused="'east'.*declare"),
    made("arff_case", ARFF + BODY + "1,North,red\n", {}, file="m.arff", refused="'North'.*declare"),
    made("arff_blank_padded", ARFF.replace("{north,south,west}", "{ north , south ,west }") + BODY.replace(",", " , "), file="m.arff"),
    made("arff_in_csv", ARFF + BODY),
    made("arff_escapes", ARFF.replace("north", "'no\\'rth'") + BODY.replace("north", "'no\\'rth'"), {**TRUTH, "k": [one.replace("north", "no'rth") for one in K]}, file="m.arff"),
    made("arff_integers_real", ARFF.replace("a numeric", "a INTEGER") + BODY, file="m.arff", said="declared integer"),
    made("arff_no_data", ARFF, {}, file="m.arff", refused="no rows"),
    made("arff_short_row", ARFF + BODY + "1,north\n", {}, file="m.arff", refused="2 fields where the header declares 3"),
    made("keel", "@relation r\n@attribute a real [1.0, 20.0]\n@attribute k {north, south, west}\n@attribute y {blue, red}\n@inputs a, k\n@outputs y\n@data\n" + BODY.replace(",", ", "), file="m.dat"),
    made("keel_odd", "@relation  r\n@attribute a real[1.0,20.0]\n@attribute k{north,south , west}\n@attribute   y   {blue,red}\n@input a,k\n@output  y\n@data\n" + BODY, file="m.dat"),
    made("keel_crlf", "@relation r\r\n@attribute a real [1,20]\r\n@attribute k {north,south,west}\r\n@attribute y {blue,red}\r\n@inputs a,k\r\n@outputs y\r\n@data\r\n" + BODY.replace("\n", "\r\n"), file="m.dat"),
    made("keel_missing", "@relation r\n@attribute a real [1,20]\n@attribute k {north,south,west}\n@attribute y {blue,red}\n@inputs a,k\n@outputs y\n@data\n" + BODY + "<null>, north, red\n",
         {"a": [*A, None], "k": [*K, "north"], "y": [*Y, "red"]}, file="m.dat"),
]
PACKED = [
    made("gz", gzip.compress(PLAIN.encode()), file="m.csv.gz"),
    made("gz_other_name", gzip.compress(PLAIN.encode()), file="m.csv"),
    made("gz_cut", gzip.compress(PLAIN.encode())[:-30], {}, file="m.csv.gz", refused="ends too early"),
    made("bz2", bz2.compress(PLAIN.encode()), file="m.csv.bz2"),
    made("xz", lzma.compress(PLAIN.encode()), file="m.csv.xz"),
    made("zip", packed({"m.csv": PLAIN}), file="m.zip"),
    made("zip_mac", packed({"m.csv": PLAIN, "__MACOSX/._m.csv": b"\0\1"}), file="m.zip"),
    made("zip_two", packed({"m.csv": PLAIN, "n.csv": PLAIN}), file="m.zip"),
    made("zip_read_me", packed({"README.txt": "about", "m.csv": PLAIN}), file="m.zip"),
    made("zip_empty", packed({}), {}, file="m.zip", refused="archive"),
    made("zip_in_zip", packed({"m.zip": packed({"m.csv": PLAIN})}), file="m.zip"),
    made("gz_in_zip", packed({"m.csv.gz": gzip.compress(PLAIN.encode())}), file="m.zip"),
    made("tar", tarred({"m.csv": PLAIN}), {}, file="m.tar", refused="tar"),
    made("tar_gz", gzip.compress(tarred({"m.csv": PLAIN})), {}, file="m.tar.gz", refused="tar"),
    made("zst", b"\x28\xb5\x2f\xfd" + b"\x04\x00" + PLAIN.encode(), {}, file="m.csv.zst", refused="Zstandard|zstd"),
    made("seven_zip", b"7z\xbc\xaf\x27\x1c\0\4" + bytes(range(60)), {}, file="m.7z", refused="7-Zip"),
    made("rar", b"Rar!\x1a\x07\x00" + bytes(range(60)), {}, file="m.rar", refused="RAR"),
]
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "ab" * 32 + "\nsize 12345\n"
OTHER = [
    made("html_page", "<!DOCTYPE html>\n<html><body><h1>404 Not Found</h1></body></html>", {}, refused="HTML page"),
    made("html_late", "\n\n<HTML><HEAD><TITLE>Error</TITLE></HEAD></HTML>", {}, refused="HTML page"),
    made("html_as_xls", "<html><table><tr><td>a</td><td>y</td></tr><tr><td>1</td><td>2</td></tr></table></html>", {}, file="m.xls", refused="HTML.*save"),
    made("html_table_alone", "<table><tr><td>a</td><td>y</td></tr>\n<tr><td>1</td><td>2</td></tr></table>", {}, file="m.xls", refused="HTML.*save"),
    made("xml_2003", '<?xml version="1.0"?>\n<?mso-application progid="Excel.Sheet"?>\n<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"></Workbook>', {}, file="m.xls", refused="XML.*save"),
    made("xml", '<?xml version="1.0"?>\n<rows>\n<row a="1" y="2"/>\n</rows>\n', {}, file="m.xml", refused="XML.*save"),
    made("lfs_pointer", POINTER, {}, refused="git lfs pull"),
    made("lfs_pointer_as_parquet", POINTER, {}, file="m.parquet", refused="git lfs pull"),
    made("json_error", '{"error": "not found", "status": 404}', {}, refused="JSON"),
    made("pdf", b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", {}, file="m.csv", refused="PDF"),
    made("png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", {}, refused="picture|image"),
    made("docx", packed({"[Content_Types].xml": "<x/>", "word/document.xml": "<w/>"}), {}, file="m.docx", refused="Word"),
    made("spss", b"$FL2@(#) SPSS DATA FILE" + bytes(100), {}, file="m.sav", refused="SPSS.*save"),
    made("rds", gzip.compress(b"X\n\0\0\0\3" + bytes(60)), {}, file="m.rds", refused="R .*write.csv"),
    made("rdata", gzip.compress(b"RDX3\nX\n\0\0\0\3" + bytes(60)), {}, file="m.RData", refused="R .*write.csv"),
    made("pickle", b"\x80\x04\x95" + bytes(60), {}, file="m.pkl", refused="pickle"),
    made("npy", b"\x93NUMPY\x01\0v\0" + bytes(60), {}, file="m.npy", refused="NumPy"),
    made("hdf5", b"\x89HDF\r\n\x1a\n" + bytes(60), {}, file="m.h5", refused="HDF5"),
    made("sqlite", b"SQLite format 3\0" + bytes(60), {}, file="m.db", refused="SQLite"),
    made("matlab", b"MATLAB 5.0 MAT-file, Platform: GLNXA64" + bytes(100), {}, file="m.mat", refused="MATLAB"),
    made("program", "import pandas as pd\n\ndef f(x):\n    return x\n", {}, file="m.py", refused="one column|fields|table"),
]
MAKERS = dict([*STRUCTURE, *DRESS, *GAPS, *DATES, *HEADERS, *PACKED, *OTHER])


def made_named(name: str) -> Made:
    return MAKERS[name]
