import io
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from foldshift.reporting.drift_page import MOST, draw_drift, draw_fold_drift
from foldshift.reporting.figure_style import plt
from foldshift.shift.report.drift_report import DriftReport
from foldshift.shift.report.fold_drift import fold_drift

LONG = "a rather long name of feature {}, cost in $ and $$ per year, as the register of the year before last has it"


def frame(seed, n, p, shift=0.0):
    rng = np.random.default_rng(seed)
    columns = {}
    for j in range(p):
        name = f"x{j}" if j % 4 else LONG.format(j)
        weights = [0.15, 0.3, 0.4, 0.15] if shift and j < 12 else [0.4, 0.3, 0.2, 0.1]
        nominal = rng.choice(["red", "green", "blue", "$ a long name of a colour"], n, p=weights)
        columns[name] = nominal if j % 5 == 1 else rng.normal(shift * (j < 10), 1, n)
    return pd.DataFrame(columns)


def report(p, **options):
    return DriftReport(frame(1, 200, p), frame(2, 100, p, 1.0), n_permutations=99, **options)


def folds_of(p):
    X = frame(1, 200, p)
    return fold_drift(X, None, np.argsort(np.argsort(X.iloc[:, 0].to_numpy())) * 5 // 200, n_random=None if p > 20 else 999)


def texts(figure):
    """All texts that are drawn: labels of ticks beyond the limits are not."""
    beyond = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            beyond |= {tick.label1 for tick in axis.get_major_ticks() if not low - 1e-9 <= tick.get_loc() <= high + 1e-9}
    return [text for text in figure.findobj(plt.Text) if text.get_text().strip() and text.get_visible() and text not in beyond]


def boxes(figure):
    figure.canvas.draw()
    return [(text.get_text(), text.get_window_extent()) for text in texts(figure)]


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.mark.parametrize("p", [2, 20, 60])
@pytest.mark.parametrize(
    "draw", [lambda p: draw_drift(report(p)), lambda p: draw_fold_drift(folds_of(p))], ids=["tables", "folds"]
)
def test_no_text_overlaps_another_or_leaves_the_page(draw, p):
    figure = draw(p)
    found = boxes(figure)
    page = figure.bbox
    for text, box in found:
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1, text
    for (one, a), (other, b) in combinations(found, 2):
        apart = min(a.x1, b.x1) - max(a.x0, b.x0) <= 1 or min(a.y1, b.y1) - max(a.y0, b.y0) <= 1.5
        assert apart, f"{one!r} over {other!r}"


def test_the_page_says_the_verdict_and_marks_what_moved_by_shape():
    made = report(20)
    figure = draw_drift(made)
    words = " ".join(text.get_text() for text in texts(figure)).replace(r"\$", "$")
    for word in made.verdict.split():
        assert word in words
    axis = figure.axes[0]
    marks = [(line.get_marker(), line.get_xdata()[0]) for line in axis.lines if line.get_marker() in "so"]
    expected = sorted(((row.effect, "s" if row.moved else "o") for row in made.features), reverse=True)
    assert [(x, mark) for mark, x in marks] == expected
    assert {mark for mark, _ in marks} == {"s", "o"}


def test_the_panels_are_distribution_functions_and_shares_of_the_features_that_moved():
    made = report(20)
    figure = draw_drift(made)
    top = sorted((row for row in made.features if row.moved), key=lambda row: -row.effect)[:3]
    for row, axis in zip(top, figure.axes[1:], strict=True):
        column = next(column for column in made.columns if column.name == row.name)
        if column.kind == "numeric":
            line = axis.lines[0]
            assert line.get_ydata()[-1] == 1 and np.array_equal(line.get_xdata()[1:], np.sort(column.train))
            assert axis.lines[0].get_linestyle() != axis.lines[1].get_linestyle()
        else:
            shares = [np.mean(column.train == code) for code in range(len(column.categories))]
            assert sorted(bar.get_height() for bar in axis.patches[:4]) == pytest.approx(sorted(shares))


def test_above_forty_features_those_that_moved_are_drawn_and_the_rest_counted():
    made = report(60)
    axis = draw_drift(made).axes[0]
    marks = [line.get_marker() for line in axis.lines if line.get_marker() in "so"]
    assert len(marks) == MOST and marks.count("s") == sum(row.moved for row in made.features)
    assert axis.get_xlabel().endswith("and 20 more, 0 of them marked")


def test_the_page_of_folds_shows_chance_beside_every_feature():
    made = folds_of(6)
    left, right = draw_fold_drift(made).axes
    rows = sorted(made.features, key=lambda row: row.distance_chance - row.distance)
    for axis, values, chance in ((left, "distance", "distance_chance"), (right, "failing", "failing_chance")):
        marks = [line for line in axis.lines if line.get_marker() in "sov"]
        assert [line.get_xdata()[0] for line in marks] == [getattr(row, values) for row in rows]
        upright = [
            line.get_xdata()[0]
            for line in axis.lines
            if len(line.get_xdata()) == 2 and line.get_xdata()[0] == line.get_xdata()[1] > 0
        ]
        assert [getattr(row, chance) for row in rows] == [x for x in upright if x in {getattr(row, chance) for row in rows}]
        assert {line.get_marker() for line in marks} == {"s", "o"}


def test_odd_tables_have_a_page_too():
    constant = pd.DataFrame({"same": np.ones(20), "gone": np.full(20, np.nan)})
    draw_drift(DriftReport(constant, constant, n_permutations=9))
    only_gone = constant[["gone"]]
    draw_drift(DriftReport(only_gone, only_gone, n_permutations=9))
    draw_drift(DriftReport(constant, constant.assign(gone=1.0), n_permutations=9))


def test_the_same_report_gives_the_same_picture():
    pictures = []
    for _ in range(2):
        file = io.BytesIO()
        draw_drift(report(3)).savefig(file, format="png", metadata={"Software": None})
        pictures.append(file.getvalue())
    assert pictures[0] == pictures[1]
