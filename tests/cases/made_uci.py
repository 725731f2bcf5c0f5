"""Made files in the form of the usual copies of UCI: no names, odd separators, gaps, broken lines."""

# ruff: noqa: E501
# fmt: off
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from verdicts import Made

N = 60
Table = dict[str, list[Any]]


def real(rng: np.random.Generator, low: float = 0, high: float = 10, digits: int = 1) -> list[float]:
    return rng.uniform(low, high, N).round(digits).tolist()


def whole(rng: np.random.Generator, low: int = 0, high: int = 10) -> list[float]:
    return [float(value) for value in rng.integers(low, high, N)]


def pick(rng: np.random.Generator, labels: str | Sequence[str]) -> list[str]:
    labels = labels.split() if isinstance(labels, str) else list(labels)
    return rng.permutation([labels[i % len(labels)] for i in range(N)]).tolist()


def with_gaps(rng: np.random.Generator, values: list[Any], share: float = 0.1) -> list[Any]:
    return [None if gap else value for value, gap in zip(values, rng.random(N) < share)]


def shown(value: Any, gap: str = "?") -> str:
    return gap if value is None else value if isinstance(value, str) else f"{value:.15g}"


def numbered(*columns: list[Any], last: str = "") -> Table:
    names = [f"x{i}" for i in range(1, len(columns) + 1)]
    names[-1] = last or names[-1]
    return dict(zip(names, columns))


def lines(columns: Sequence[list[Any]], separator: str = ",", gap: str = "?") -> str:
    return "".join(separator.join(shown(value, gap) for value in row) + "\n" for row in zip(*columns))


def bare(name: str, columns: Sequence[list[Any]], separator: str = ",", target: int = -1, after: str = "", **more: Any) -> Made:
    """Make a file without names; the target is the last column or at a position that is given as an option."""
    names = [f"x{i}" for i in range(1, len(columns) + 1)]
    at = target - 1 if target > 0 else len(columns) - 1
    names[at] = "y"
    left_out = more.pop("left_out", ())
    truth = {one: values for one, values in zip(names, columns) if one not in left_out}
    options = {"target": str(target)} if target > 0 else {}
    options |= more.pop("options", {})
    text = more.pop("text", None) or lines(columns, separator, more.pop("gap", "?"))
    return Made(name, (text + after).encode(), truth, "y", options, left_out, **more)


def named(
    name: str, table: Table, separator: str = ",", target: str = "", quoted: bool = False, gap: str = "", **more: Any
) -> Made:
    """Make a file with names."""
    mark = '"' if quoted else ""
    head = separator.join(f"{mark}{one}{mark}" for one in table) + "\n"
    rows = [[f'"{value}"' if quoted and isinstance(value, str) else value for value in column] for column in table.values()]
    left_out = more.pop("left_out", ())
    truth = {one: values for one, values in table.items() if one not in left_out}
    options = {"target": target} if target else {}
    text = more.pop("text", None) or head + lines(rows, separator, gap)
    return Made(name, text.encode(), truth, target or list(truth)[-1], options, left_out, **more)


def iris(rng):
    return bare("iris.data", [real(rng) for _ in range(4)] + [pick(rng, "Iris-setosa Iris-versicolor Iris-virginica")], after="\n\n")


def adult_columns(rng):
    work = with_gaps(rng, pick(rng, "Private State-gov Self-emp-not-inc"))
    return [
        whole(rng, 17, 80), work, whole(rng, 12285, 1484705), pick(rng, "Bachelors HS-grad 11th 9th"), whole(rng, 1, 16),
        pick(rng, "Never-married Divorced"), with_gaps(rng, pick(rng, "Sales Adm-clerical")), pick(rng, "White Black"),
        pick(rng, "Male Female"), [0.0 if i % 9 else 2174.0 for i in range(N)], whole(rng, 1, 99),
        with_gaps(rng, pick(rng, "United-States Cuba"), 0.05), pick(rng, "<=50K >50K"),
    ]


def adult(rng):
    return bare("adult.data", adult_columns(rng), ", ", after="\n")


def adult_test(rng):
    columns = adult_columns(rng)
    columns[-1] = [f"{value}." for value in columns[-1]]
    return bare("adult.test", columns, text="|1x3 Cross validator\n" + lines(columns, ", "), said="1x3 Cross validator")


def wine(rng):
    return bare("wine.data", [pick_numbers(rng, 1, 3)] + [real(rng, 1, 15, 2) for _ in range(13)], target=1)


def pick_numbers(rng, low, high):
    return [float(value) for value in pick(rng, list(map(str, range(low, high + 1))))]


def abalone(rng):
    return bare("abalone.data", [pick(rng, "M F I")] + [real(rng, 0.1, 1, 3) for _ in range(7)] + [whole(rng, 1, 29)])


def auto_mpg(rng):
    power = with_gaps(rng, real(rng, 50, 230))
    columns = [real(rng, 9, 46), pick_numbers(rng, 3, 8), real(rng, 70, 450), power, real(rng, 1600, 5100, 0), real(rng, 8, 24),
               whole(rng, 70, 83), whole(rng, 1, 4), [f"ford pinto {i}" for i in range(N)]]
    text = "".join(
        f"{a:<7.1f}{b:<4.0f}{c:<11.1f}{'?' if d is None else format(d, '.1f'):<11}{e:.0f}.      {f:<7.1f}{g:.0f}  {h:.0f}\t\"{k}\"\n"
        for a, b, c, d, e, f, g, h, k in zip(*columns)
    )
    return bare("auto-mpg.data", columns, target=1, text=text, left_out=("x9",))


def glass(rng):
    ids = [float(i + 1) for i in range(N)]
    return bare("glass.data", [ids, real(rng, 1.51, 1.53, 5)] + [real(rng, 0, 70, 2) for _ in range(8)] + [pick_numbers(rng, 1, 7)],
                left_out=("x1",))


def ionosphere(rng):
    return bare("ionosphere.data", [pick_numbers(rng, 0, 1), [0.0] * N] + [real(rng, -1, 1, 5) for _ in range(32)] + [pick(rng, "g b")])


def magic(rng):
    return bare("magic04.data", [real(rng, 10, 300, 4) for _ in range(10)] + [pick(rng, "g h")])


def letter(rng):
    return bare("letter-recognition.data", [pick(rng, "T I D N G S B A")] + [whole(rng, 0, 16) for _ in range(16)], target=1)


def car(rng):
    levels = ["vhigh high med low"] * 2 + ["2 3 4 5more", "2 4 more", "small med big", "low med high", "unacc acc good vgood"]
    return bare("car.data", [pick(rng, one) for one in levels])


def mushroom(rng):
    return bare("agaricus-lepiota.data", [pick(rng, "p e"), pick(rng, "x b s f"), pick(rng, "n y w g"), pick(rng, "t f"),
                with_gaps(rng, pick(rng, "e c b r"), 0.3), pick(rng, "u g m d")], target=1)


def breast_cancer(rng):
    ids = whole(rng, 61634, 13454352)
    ids[7] = ids[3]
    return bare("breast-cancer-wisconsin.data", [ids, *(whole(rng, 1, 11) for _ in range(5)), with_gaps(rng, whole(rng, 1, 11)),
                *(whole(rng, 1, 11) for _ in range(3)), [2.0 if i % 3 else 4.0 for i in range(N)]])


def poker(rng):
    return bare("poker-hand-training-true.data", [c for _ in range(5) for c in (whole(rng, 1, 5), whole(rng, 1, 14))] + [whole(rng, 0, 10)])


def yeast(rng):
    columns = [[f"ADT{i}_YEAST" for i in range(N)], *(real(rng, 0, 1, 2) for _ in range(8)), pick(rng, "MIT NUC CYT ME1")]
    text = "".join(f"{row[0]:<12}" + "  ".join(f"{v:.2f}" for v in row[1:-1]) + f"  {row[-1]}\n" for row in zip(*columns))
    return bare("yeast.data", columns, text=text, left_out=("x1",))


def housing(rng):
    columns = [real(rng, 0, 90, 5), real(rng, 0, 100, 2), real(rng, 0, 27, 2), pick_numbers(rng, 0, 1), real(rng, 0.3, 0.9, 4),
               whole(rng, 1, 24), real(rng, 300, 397, 2), real(rng, 5, 50, 2)]
    text = "".join(f" {a:.5f}  {b:6.2f}  {c:6.3f}  {d:.0f}  {e:.4f}  {f:2.0f}  {g:6.2f}  {h:5.2f}\n" for a, b, c, d, e, f, g, h in zip(*columns))
    return bare("housing.data", columns, text=text)


def forest_fires(rng):
    return named("forestfires.csv", {"X": whole(rng, 1, 10), "Y": whole(rng, 2, 10), "month": pick(rng, "mar oct aug sep"),
                 "day": pick(rng, "fri tue sat"), "FFMC": real(rng, 18, 96), "area": real(rng, 0, 1090, 2)})


def student(rng):
    table = {"school": pick(rng, "GP MS"), "sex": pick(rng, "F M"), "age": whole(rng, 15, 22), "Mjob": pick(rng, "at_home health other"),
             "paid": pick(rng, "yes no"), "absences": whole(rng, 0, 30), "G1": [f"{v:.0f}" for v in whole(rng, 1, 20)], "G3": whole(rng, 0, 20)}
    made = named("student-mat.csv", table, ";", quoted=True)
    made.truth["G1"] = [float(value) for value in table["G1"]]
    return made


def air_quality(rng):
    n = range(N)
    table = {"Date": [f"{1 + i % 28:02}/03/2004" for i in n], "Time": [f"{i % 24:02}.00.00" for i in n],
             "CO(GT)": [-200.0 if i % 8 == 0 else v for i, v in zip(n, real(rng, 0.5, 9))],
             "PT08.S1(CO)": whole(rng, 700, 2000), "C6H6(GT)": real(rng, 1, 60), "T": real(rng, -1, 44)}
    head = ";".join(table) + ";;\n"
    text = head + "".join(";".join(shown(v).replace(".", ",") if not isinstance(v, str) else v for v in row) + ";;\n" for row in zip(*table.values()))
    return named("AirQualityUCI.csv", table, text=text + ";;;;;;;\n" * 5, left_out=("Date",), said="-200")


def bank(rng):
    return named("bank-full.csv", {"age": whole(rng, 18, 90), "job": pick(rng, "admin. blue-collar unknown"), "balance": whole(rng, -500, 9000),
                 "pdays": [-1.0 if i % 4 else float(i) for i in range(N)], "y": pick(rng, "no yes")}, ";", quoted=True)


def krkopt(rng):
    return bare("krkopt.data", [pick(rng, "a b c d"), whole(rng, 1, 5), pick(rng, "a b c d"), whole(rng, 1, 9), pick(rng, "c d e"), whole(rng, 1, 9),
                pick(rng, "draw zero one fifteen")])


def balance(rng):
    return bare("balance-scale.data", [pick(rng, "B R L")] + [pick_numbers(rng, 1, 5) for _ in range(4)], target=1)


def hayes_roth(rng):
    return bare("hayes-roth.data", [[float(i + 1) for i in range(N)]] + [pick_numbers(rng, 1, 4) for _ in range(4)] + [pick_numbers(rng, 1, 3)],
                left_out=("x1",))


def nursery(rng):
    return bare("nursery.data", [pick(rng, "usual pretentious great_pret"), pick(rng, "proper less_proper"), pick(rng, "1 2 3 more"),
                pick(rng, "convenient inconv"), pick(rng, "recommended priority")])


def zoo(rng):
    return bare("zoo.data", [[f"animal{i}" for i in range(N)], *(pick_numbers(rng, 0, 1) for _ in range(12)), [float(v) for v in pick(rng, "0 2 4 5 6 8")], pick_numbers(rng, 1, 7)],
                left_out=("x1",))


def echocardiogram(rng):
    columns = [with_gaps(rng, real(rng, 0, 57)), pick_numbers(rng, 0, 1), with_gaps(rng, whole(rng, 35, 86)), real(rng, 0, 1, 3), ["name"] * N,
               pick_numbers(rng, 1, 2), with_gaps(rng, pick_numbers(rng, 0, 1))]
    rows = lines(columns).splitlines(keepends=True)
    rows[49] = ",?,?,77,?,name,2,?,1\n"
    return bare("echocardiogram.data", columns, text="".join(rows), refused="line 50: 9 fields where most rows have 7")


def arrhythmia(rng):
    columns = [whole(rng, 1, 83), pick_numbers(rng, 0, 1), *(with_gaps(rng, whole(rng, -180, 180), 0.2) for _ in range(4)),
               *(real(rng, -5, 5) for _ in range(200)), [0.0] * N, [1.0 if i % 2 else float(i % 16 + 1) for i in range(N)]]
    return bare("arrhythmia.data", columns)


def covertype(rng):
    return bare("covtype.data", [*(whole(rng, 0, 4000) for _ in range(10)), *(pick_numbers(rng, 0, 1) for _ in range(44)), pick_numbers(rng, 1, 7)])


def sonar(rng):
    return bare("sonar.all-data", [real(rng, 0, 1, 4) for _ in range(60)] + [pick(rng, "R M")])


def seeds(rng):
    columns = [real(rng, 10, 21, 2), real(rng, 12, 17, 2), real(rng, 0.8, 0.92, 4), pick_numbers(rng, 1, 3)]
    rows = [("\t\t" if i % 9 == 0 else "\t").join(map(shown, row)) for i, row in enumerate(zip(*columns))]
    return bare("seeds_dataset.txt", columns, text="\n".join(rows) + "\n")


def spam_texts(rng):
    texts = [f"Ok lar... I'm {i} \"mins\" away, call {i * 37 % 100} me" for i in range(N)]
    return bare("SMSSpamCollection", [pick(rng, "ham spam"), texts], "\t", target=1, refused="free text")


def red_wine(rng):
    table = {"fixed acidity": real(rng, 4, 16), "volatile acidity": real(rng, 0, 2, 2), "pH": real(rng, 2.7, 4, 2), "quality": whole(rng, 3, 9)}
    return named("winequality-red.csv", table, ";", text=";".join(f'"{name}"' for name in table) + "\n" + lines([*table.values()], ";"))


def parkinsons(rng):
    return named("parkinsons.data", {"name": [f"phon_R01_S{i:02}_1" for i in range(N)], "MDVP:Fo(Hz)": real(rng, 88, 260, 3),
                 "status": pick_numbers(rng, 0, 1), "PPE": real(rng, 0, 1, 6)}, target="status", left_out=("name",))


def power(rng):
    days, times = [f"{1 + i % 28}/12/2006" for i in range(N)], [f"17:{i % 60:02}:00" for i in range(N)]
    table = {"Date": days, "Time": times, "Global_active_power": with_gaps(rng, real(rng, 0, 8, 3)), "Voltage": with_gaps(rng, real(rng, 230, 245, 3))}
    return named("household_power_consumption.txt", table, ";", gap="?", left_out=("Date", "Time"))


def german_credit(rng):
    return bare("german.data", [pick(rng, "A11 A12 A13 A14"), whole(rng, 4, 72), pick(rng, "A34 A32"), whole(rng, 250, 18000), pick(rng, "A65 A61"),
                pick_numbers(rng, 1, 2)], " ")


def credit_approval(rng):
    zips = pick(rng, "00202 00043 00280 00100 00120")
    return bare("crx.data", [with_gaps(rng, pick(rng, "a b")), with_gaps(rng, real(rng, 13, 80, 2)), real(rng, 0, 28, 3), pick(rng, "g p"), pick(rng, "t f"),
                with_gaps(rng, zips), whole(rng, 0, 1000), pick(rng, "+ -")], said="leading zeros")


def heart(rng):
    columns = [whole(rng, 29, 77), pick_numbers(rng, 0, 1), whole(rng, 126, 564), with_gaps(rng, pick_numbers(rng, 0, 3)), with_gaps(rng, pick_numbers(rng, 3, 7)), pick_numbers(rng, 0, 4)]
    return bare("processed.cleveland.data", columns, text="".join(",".join("?" if v is None else f"{v:.1f}" for v in row[:-1]) + f",{row[-1]:.0f}\n" for row in zip(*columns)))


def imports_85(rng):
    losses = with_gaps(rng, whole(rng, 65, 256), 0.2)
    losses[0] = None
    return bare("imports-85.data", [pick_numbers(rng, 0, 3), losses, pick(rng, "alfa-romero audi bmw"), pick(rng, "gas diesel"),
                with_gaps(rng, pick(rng, "two four"), 0.05), real(rng, 86, 121), with_gaps(rng, whole(rng, 5118, 45400))])


def tic_tac_toe(rng):
    return bare("tic-tac-toe.data", [pick(rng, "x o b") for _ in range(9)] + [pick(rng, "positive negative")])


def horse_colic(rng):
    columns = [pick_numbers(rng, 1, 2), pick_numbers(rng, 1, 9), whole(rng, 518476, 5305629), with_gaps(rng, real(rng, 36, 40)), with_gaps(rng, whole(rng, 30, 180)),
               with_gaps(rng, pick_numbers(rng, 1, 4), 0.3), pick_numbers(rng, 1, 2)]
    return bare("horse-colic.data", columns, text="".join(" ".join(map(shown, row)) + " \n" for row in zip(*columns)))


def lenses(rng):
    columns = [[float(i + 1) for i in range(N)], *(pick_numbers(rng, 1, 3) for _ in range(4)), pick_numbers(rng, 1, 3)]
    return bare("lenses.data", columns, text="".join(f"{row[0]:2.0f}  " + "  ".join(map(shown, row[1:])) + "\n" for row in zip(*columns)), left_out=("x1",))


def segmentation(rng):
    inputs = {"REGION-CENTROID-COL": whole(rng, 1, 254), "REGION-CENTROID-ROW": whole(rng, 11, 251), "HUE-MEAN": real(rng, -3, 3, 4)}
    kinds = pick(rng, "BRICKFACE SKY FOLIAGE")
    text = ";;;; Image Segmentation data\n;;;; by a group\n\n" + ",".join(inputs) + "\n\n" + lines([kinds, *inputs.values()])
    return Made("segmentation.data", text.encode(), {"x1": kinds, **inputs}, "x1", {"target": "1"}, said="above the table left out")


def votes(rng):
    return bare("house-votes-84.data", [pick(rng, "republican democrat"), *(with_gaps(rng, pick(rng, "y n")) for _ in range(16))], target=1)


def machine(rng):
    return bare("machine.data", [pick(rng, "adviser amdahl apollo"), [f"{i}/70" for i in range(N)], whole(rng, 17, 1500), whole(rng, 64, 32000), whole(rng, 6, 1150)],
                left_out=("x2",))


def soybean(rng):
    return bare("soybean-large.data", [pick(rng, "diaporthe-stem-canker charcoal-rot"), *(with_gaps(rng, pick_numbers(rng, 0, 3)) for _ in range(35))], target=1)


def spambase(rng):
    return bare("spambase.data", [*([0.0 if i % 3 else v for i, v in enumerate(real(rng, 0, 5, 2))] for _ in range(54)), real(rng, 1, 9, 3), whole(rng, 1, 900), pick_numbers(rng, 0, 1)])


def contraceptive(rng):
    return bare("cmc.data", [whole(rng, 16, 50), *(pick_numbers(rng, 1, 4) for _ in range(3)), pick_numbers(rng, 0, 1), pick_numbers(rng, 1, 3)])


def ecoli(rng):
    columns = [[f"AAT{i}_ECOLI" for i in range(N)], *(real(rng, 0, 1, 2) for _ in range(3)), ["0.48"] * N, pick(rng, "cp im pp")]
    columns[4] = [0.48] * N
    return bare("ecoli.data", columns, text="".join(f"{row[0]:<14}" + "  ".join(f"{v:5.2f}" for v in row[1:-1]) + f"   {row[-1]}\n" for row in zip(*columns)), left_out=("x1",))


def hepatitis(rng):
    return bare("hepatitis.data", [pick_numbers(rng, 1, 2), whole(rng, 7, 78), *(with_gaps(rng, pick_numbers(rng, 1, 2)) for _ in range(5)), with_gaps(rng, real(rng, 0.3, 8, 2))], target=1)


MAKERS: dict[str, Callable[[np.random.Generator], Made]] = {
    maker.__name__: maker
    for maker in (
        iris, adult, adult_test, wine, abalone, auto_mpg, glass, ionosphere, magic, letter, car, mushroom, breast_cancer, poker,
        yeast, housing, forest_fires, student, air_quality, bank, krkopt, balance, hayes_roth, nursery, zoo, echocardiogram,
        arrhythmia, covertype, sonar, seeds, spam_texts, red_wine, parkinsons, power, german_credit, credit_approval, heart,
        imports_85, tic_tac_toe, horse_colic, lenses, segmentation, votes, machine, soybean, spambase, contraceptive, ecoli,
        hepatitis,
    )
}


def made(name: str, seed: int = 0) -> Made:
    """Make one file; the same name and seed make the same bytes."""
    return MAKERS[name](np.random.default_rng([seed, *name.encode()]))
