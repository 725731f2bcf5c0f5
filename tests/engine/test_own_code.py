"""What code of the user's own raises is told with its function, line and what was wanted, never as a fault of the program."""

import sys
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import evaluate
import make_folds
import make_items
import measure
from foldshift.engine.jobs.failure_summary import lost_fits_line, lost_rows
from foldshift.engine.jobs.run_job import run
from foldshift.engine.jobs.user_code import OwnCodeError, call_own, check_call
from foldshift.engine.layout.units import Units

CODE = """import numpy as np


def raises(X, y, n_folds, rngs):
    return {}["gap"]


def two(X, y):
    return np.zeros((1, len(y)), dtype=int)


def short(X, y, n_folds, rngs):
    return np.zeros((len(rngs), 3), dtype=int)


def lists(X, y, n_folds, rngs):
    return [[i % n_folds for i in range(len(y))] for _ in rngs]


class Moody:
    def __init__(self):
        raise RuntimeError("not today")


SCHEMAS = {"rows": None}


def measured(inputs, cell):
    return 1 / 0


def shown(inputs, settings):
    return {"table": 3}
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A working directory with a module of the user's own."""
    (tmp_path / "my_code.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield tmp_path
    sys.modules.pop("my_code", None)


def folds_by(name):
    data = SimpleNamespace(name="mine", X=np.zeros((6, 1)), y=np.arange(6.0))
    return make_folds.cut(data, "Mine", 2, [1, 2], 0, {"import": f"my_code.{name}", "options": {}})


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("raises", ["your my_code.raises raised KeyError: 'gap' (my_code.py, line 5)"]),
        ("two", ["your my_code.two raised TypeError: two() takes 2 positional arguments but 4 were given"]),
        ("short", ["your my_code.short returned what is no partition", "(2, 3)", "(2, 6)"]),
    ],
)
def test_a_partitioner_of_the_users_own_that_fails_is_named_with_what_was_wanted(own, name, expected):
    with pytest.raises(ValueError) as caught:
        folds_by(name)
    line = str(caught.value)
    wanted = "it is called as f(X, y, n_folds, rngs, **params) and returns the fold of every sample"
    for part in (*expected, "data set mine, partitioner Mine, k=2", wanted):
        assert part in line
    assert "\n" not in line


def test_a_partitioner_that_returns_lists_is_taken(own):
    assert folds_by("lists").tolist() == [[0, 1, 0, 1, 0, 1]] * 2


def test_a_learner_that_cannot_be_made_is_named_with_its_line(own):
    data = SimpleNamespace(scaling="none", categorical_features=None)
    with pytest.raises(
        OwnCodeError, match=r"your my_code.Moody raised RuntimeError: not today \(my_code.py, line 22\); it must be"
    ):
        evaluate.estimator({"import": "my_code.Moody", "nominal": "codes"}, data)


@pytest.mark.parametrize(
    ("script", "params", "expected"),
    [
        (
            measure,
            {"function": "my_code.measured", "limited": False},
            "ZeroDivisionError: division by zero (my_code.py, line 29)",
        ),
        (
            make_items,
            {"function": "my_code.shown", "settings": {}, "shown": [{"key": "table", "kind": "table"}]},
            "my_code.shown raised",
        ),
    ],
)
def test_a_study_of_the_users_own_that_fails_is_no_fault_of_the_program(own, capsys, script, params, expected):
    job = SimpleNamespace(log=[str(own / "job.log")], input=[], wildcards={}, threads=1)
    job.params, job.output = SimpleNamespace(arguments={}, **params), [str(own / "table.html")]
    with pytest.raises(SystemExit):
        run(script.main, job)
    error, log = capsys.readouterr().err, (own / "job.log").read_text()
    assert f"foldshift: your {params['function']}" in error and expected in error and "Traceback" not in error
    assert "fault of the program" not in log and "Traceback" not in log


def test_the_librarys_own_faults_stay_faults():
    with pytest.raises(KeyError):
        call_own("foldshift.shift.measures.ks.dn", "", {}.__getitem__, "gap")
    with pytest.raises(MemoryError):
        call_own("my_code.f", "", lambda: (_ for _ in ()).throw(MemoryError()))


def test_a_signature_is_checked_without_a_call():
    check_call("my.f", "", lambda X, y, n_folds, rngs, gap=0: 1 / 0, None, None, 2, [], gap=3)
    check_call("numpy.f", "", np.add, 1, 2)  # tells no signature
    with pytest.raises(OwnCodeError, match=r"your my.f has the signature \(X, y\) \(too many positional arguments\); wanted"):
        check_call("my.f", "wanted", lambda X, y: 0, None, None, 2, [])


def failure(learner, message, n_failed):
    return {"learner": learner, "status": "failed", "message": message, "n_failed": n_failed}


def test_a_run_with_failed_fits_says_how_many_why_most_of_them_and_where():
    lists = [
        {"dataset": "iris", "n_fits": 1000, "failures": [failure("SVM", "ValueError: a", 600), failure("PET", "late", 20)]},
        {"dataset": "wine", "n_fits": 1000, "failures": [failure("SVM", "ValueError: a", 30)]},
        {"dataset": "zoo", "n_fits": 1000, "failures": []},
    ]
    assert lost_fits_line("mine", lists, "failures.html") == (
        "mine: 650 of 3,000 fits failed, 630 of them, SVM on iris, wine: ValueError: a; tables leave them out and say so; all of "
        "them: failures.html"
    )
    assert lost_fits_line("mine", lists[2:], "failures.html") is None
    many = [{"dataset": str(i), "n_fits": 1, "failures": [failure("A", "x" * 500, 1)]} for i in range(5)]
    line = lost_fits_line("mine", many, "t")
    assert "A on 5 data sets" in line and "x…;" in line and len(line) < 350


def test_rows_of_a_measure_of_a_study_that_were_lost_are_told_too(tmp_path):
    measure = SimpleNamespace(name="count", rows={"counts": "{dataset}", "pairs": "{dataset}"})
    files = ["<results>/a.parquet", "<results>/b.parquet", "<results>/not_yet.parquet"]
    rows = {"counts": files, "pairs": ["<results>/p.parquet"]}
    run = SimpleNamespace(id="mine", measures=lambda: [measure], rows=rows.get, units=Units())

    def write(name, status):
        messages = ["" if one == "ok" else "ValueError: no" for one in status]
        columns = {"learner": ["SVM"] * len(status), "status": status, "message": messages}
        pq.write_table(pa.table({key: pa.array(values).dictionary_encode() for key, values in columns.items()}), tmp_path / name)

    write("a.parquet", ["ok", "ok"])
    pq.write_table(pa.table({"both": [1.0]}), tmp_path / "p.parquet")
    assert lost_rows(tmp_path, [run]) == []
    write("b.parquet", ["failed", "ok", "failed"])
    assert lost_rows(tmp_path, [run]) == [
        "mine: 2 of 5 rows of count lost to failed fits of SVM: ValueError: no; tables leave them out and say so"
    ]
