"""Every public function is handed every array in every form that people have: the same value comes out, or a refusal in words."""

import ast
import linecache
import traceback
import warnings
from collections import Counter
from functools import cache

import numpy as np
import pandas as pd
import pytest

import foldshift
from factories import PACKAGE
from public_calls import CALLS, PACKAGES, Call

FEW = (
    "masked",
    "object None",
    "pandas",
    "permuted labels",
    "nullable NA",
    "read-only",
    "wrong length",
    "complex",
    "float16",
    "empty",
    "minus one",
)


def polars_of(v):
    polars = pytest.importorskip("polars")
    return polars.Series(v) if v.ndim == 1 else polars.DataFrame({f"c{j}": column for j, column in enumerate(v.T)})


def frame(v):
    return pd.Series(v) if v.ndim == 1 else pd.DataFrame(v, columns=[f"c{j}" for j in range(v.shape[1])])


def strided(v):
    wide = np.empty((2 * len(v), *v.shape[1:]), v.dtype)
    wide[::2] = v
    return wide[::2]


def frozen(v):
    v = v.copy()
    v.flags.writeable = False
    return v


def first(v, value, kind=object):
    """The array with another value at its first place."""
    v = v.astype(kind)
    v[(0,) * v.ndim] = value
    return v


def signed(v, value):
    return first(v, value, np.result_type(v.dtype, np.int8))


def nan(v):
    return first(v, np.nan, np.float64)


def mask(v):
    return np.ma.array(v, mask=np.arange(v.size).reshape(v.shape) == 0)


def nullable_na(v):
    made = frame(v).convert_dtypes()
    if v.ndim == 1:
        made.iloc[0] = pd.NA
    else:
        made.iloc[0, 0] = pd.NA
    return made


def arrow(v):
    return frame(v).convert_dtypes(dtype_backend="pyarrow")


# Form, and what the plain array with the same content is; None: there is none, so only a refusal is right.
SAME = {
    "read-only": frozen,
    "non-contiguous": strided,
    "Fortran": np.asfortranarray,
    "list": lambda v: v.tolist(),
    "pandas": frame,
    "nullable": lambda v: frame(v).convert_dtypes(),
    "pyarrow": arrow,
    "polars": polars_of,
    "object": lambda v: v.astype(object),
    "big-endian": lambda v: v.astype(v.dtype.newbyteorder(">")),
    "mask of nothing": lambda v: np.ma.array(v, mask=False),
    "list of masked rows": lambda v: [np.ma.array(row) for row in v],
    "column": lambda v: v[:, None] if v.ndim == 1 else v,
    "category": lambda v: pd.Series(v).astype("category") if v.ndim == 1 else frame(v).astype("category"),
    "strings": lambda v: v.astype(str),
    "object strings": lambda v: v.astype(str).astype(object),
    "longdouble": lambda v: v.astype(np.longdouble),
}
OTHER = {
    "float16": (lambda v: v.astype(np.float16), lambda v: v.astype(np.float16).astype(np.float64)),
    "masked": (mask, nan),
    "object None": (lambda v: first(v, None), nan),
    "object NA": (lambda v: first(v, pd.NA), nan),
    "object NaN": (lambda v: first(v, np.nan), nan),
    "nullable NA": (nullable_na, nan),
    "infinity": (lambda v: first(v, np.inf, np.float64), lambda v: first(v, np.inf, np.float64)),
    "complex": (lambda v: v + 1j, None),
    "minus two": (lambda v: signed(v, -2), lambda v: signed(v, -2)),
    "minus one": (lambda v: signed(v, -1), lambda v: signed(v, -1)),
    "gaps": (lambda v: v * v.dtype.type(2), lambda v: v * v.dtype.type(2)),
    "constant": (np.zeros_like, np.zeros_like),
    "days": (lambda v: (np.round(v * 1e3)).astype("M8[D]"), lambda v: np.round(v * 1e3)),
    "durations": (lambda v: (np.round(v * 1e3)).astype("m8[s]"), lambda v: np.round(v * 1e3)),
    "empty": (lambda v: v[:0], lambda v: v[:0]),
    "one row": (lambda v: v[:1], lambda v: v[:1]),
    "wrong length": (lambda v: v[:-1], lambda v: v[:-1]),
    "transposed": (lambda v: v.T if v.ndim > 1 else v[None], None),
    "scalar": (lambda v: v.flat[0], None),
    "None inside a list": (lambda v: first(v, None).tolist(), nan),
}
# What a form may mean beside the plain array with the same content, and why.
ALLOWED = {
    "transposed": "a table with as many rows as columns, one repetition, or one data set, is one",
    "scalar": "a single number is broadcast where the docstring says so",
    "column": "a table of one column is one",
    "strings": "labels are text",
    "object strings": "labels are text",
    "category": "columns of a categorical type are nominal",
    "days": "a table of dates is one of quantities in time",
    "durations": "a table of durations is one of quantities",
}


OF_THE_LEARNER = (
    "fit_predict",
    "predicted",
    "score_folds",
    "as_folds",
    "as_splits",
)  # they call the caller's learner or splitter


@cache
def raising_lines(file):
    """Lines of a file that belong to a `raise`."""
    tree = ast.parse("".join(linecache.getlines(file)))
    return {line for node in ast.walk(tree) if isinstance(node, ast.Raise) for line in range(node.lineno, node.end_lineno + 1)}


def of_a_learner(error):
    """Return True if the caller's own learner speaks, or scikit-learn's check of inputs for one of ours."""
    frames = traceback.extract_tb(error.__traceback__)
    places = [frame.name for frame in frames[:-1] if frame.filename.startswith(str(PACKAGE))]
    if "could not be fitted" in str(error) or "could not predict" in str(error):
        return True
    if "_validated" in places:
        return isinstance(error, ValueError) and any(word in str(error) for word in ("X", "y", "array", "samples"))
    return any(place in OF_THE_LEARNER for place in places)


def in_own_words(error):
    last = traceback.extract_tb(error.__traceback__)[-1]
    if of_a_learner(error):
        return True
    own = last.filename.startswith(str(PACKAGE)) and last.lineno in raising_lines(last.filename)
    return own and isinstance(error, ValueError | TypeError) and bool(str(error)) and str(error).isprintable()


def outcome(call, function, arrays):
    """Outcome of a call: ("value", it) or ("error", it)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return "value", call.run(function, **arrays)
        except Exception as error:  # any: whose words it has is what is asked
            return "error", error


def same(a, b):
    """Compare two results, whatever they are made of."""
    if hasattr(a, "_asdict"):
        a, b = a._asdict(), b._asdict()
    if hasattr(a, "__dataclass_fields__"):
        a, b = vars(a), vars(b)
    if isinstance(a, dict):
        return set(a) == set(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return False
    if a.dtype.kind in "fc" or b.dtype.kind in "fc":
        return np.allclose(a.astype(float), b.astype(float), rtol=1e-9, atol=1e-12, equal_nan=True)
    return bool((a == b).all()) if a.dtype.kind != "O" else all(map(_equal, a.ravel(), b.ravel()))


def _equal(a, b):
    return bool(a == b) or (a != a and b != b) or (isinstance(a, float) and np.isclose(a, b, rtol=1e-9))


def fault(call, function, usual, form):
    """Fault of the outcome for one form of one array; "" if it is right."""
    name, kind, given, plain = form
    found = outcome(call, function, call.arrays | {name: given})
    if found[0] == "error":
        if not in_own_words(found[1]):
            last = traceback.extract_tb(found[1].__traceback__)[-1]
            place = f"{last.filename.rpartition('/src/')[2]}:{last.lineno}"
            return f"foreign words: {type(found[1]).__name__} {str(found[1])[:90]!r} at {place}"
        wanted = [*call.names.get(name, name).split("|"), name, "table", "folds", "column", "sample", "rows", "shape"]
        if of_a_learner(found[1]):
            return ""
        return "" if any(word in str(found[1]) for word in wanted) else f"the argument is not named: {str(found[1])[:100]!r}"
    if plain is None:
        return "" if kind in (*ALLOWED, *call.lenient) else f"taken, as {str(found[1])[:60]!r}"
    expected = outcome(call, function, call.arrays | {name: plain}) if plain is not call.arrays[name] else usual
    if expected[0] == "value" and same(found[1], expected[1]):
        return ""
    if kind in (*ALLOWED, *call.lenient):
        return ""
    return f"silent: {str(found[1])[:70]!r}, not {str(expected[1])[:70]!r}"


def forms(call, name):
    """Yield kind, form and plain array of everything to hand over as one argument."""
    plain = call.arrays[name]
    for kind, make in SAME.items():
        if call.slow and kind not in FEW:
            continue
        if plain.ndim > 2 and kind in ("pandas", "nullable", "pyarrow", "polars", "category", "list of masked rows"):
            continue
        yield kind, make(plain), plain
    for kind, (make, content) in OTHER.items():
        if call.slow and kind not in FEW:
            continue
        if plain.ndim > 2 and kind == "nullable NA":
            continue
        yield kind, make(plain), None if content is None else content(plain)


def permuted_fault(call, function, name):
    """What is wrong where the rows of one argument stand in another order, under labels that say so."""
    labels = [f"r{i}" for i in range(len(call.arrays[name]))]
    arrays = {key: value.copy() for key, value in call.arrays.items()}
    for row in call.rows:
        arrays[row] = frame(call.arrays[row]).set_axis(labels, axis=0)
    order = np.random.default_rng(1).permutation(len(labels))
    found = outcome(call, function, arrays | {name: arrays[name].iloc[order]})
    if found[0] == "error":
        return (
            ""
            if in_own_words(found[1]) and ("labels" in str(found[1]) or "indices" in str(found[1]))
            else f"foreign words: {found[1]!r}"
        )
    expected = outcome(call, function, arrays)
    return "" if same(found[1], expected[1]) else "silent: paired by position"


def faults(package, public):
    """Faults of one public function, and how many forms were tried."""
    call: Call = CALLS[package][public]
    function = getattr(PACKAGES[package], public)
    usual = outcome(call, function, call.arrays)
    assert usual[0] == "value", usual[1]
    tried, found = 0, {}
    for name in call.arrays:
        for kind, given, plain in forms(call, name):
            tried += 1
            if wrong := fault(call, function, usual, (name, kind, given, plain)):
                found[name, kind] = wrong
        if name in call.rows and len(call.rows) > 1:
            tried += 1
            if wrong := permuted_fault(call, function, name):
                found[name, "permuted labels"] = wrong
    return tried, found


EVERY = [(package, public) for package, names in CALLS.items() for public, call in names.items() if call.arrays]


@pytest.mark.parametrize(("package", "public"), EVERY)
def test_every_form_of_every_array_gives_the_same_value_or_a_refusal_in_words(package, public):
    tried, found = faults(package, public)
    assert tried >= len(FEW) - 2
    assert not found, "\n".join(f"{name}, {kind}: {wrong}" for (name, kind), wrong in found.items())


def test_every_public_name_has_an_entry():
    assert {name for name in foldshift.__all__ if not hasattr(getattr(foldshift, name), "__path__")} == {"advise"}
    for package, module in PACKAGES.items():
        assert set(CALLS[package]) == set(module.__all__), f"tests/public_calls.py: {package}"


if __name__ == "__main__":  # counts by kind of outcome, for the report
    counts, total = Counter(), 0
    for package, public in EVERY:
        tried, found = faults(package, public)
        total += tried
        for (name, kind), wrong in found.items():
            counts[wrong.partition(":")[0]] += 1
            print(f"{package}.{public}({name}) {kind}: {wrong}")
    print(total, "forms,", dict(counts) or "no fault")
