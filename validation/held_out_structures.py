"""Tables with a known structure and a known deployment, and clean tables, for the validation of checks and honest cuts.

They were named before any rule was made. **No threshold is to be set on `held_out` and `clean`**: they decide whether the checks
hold. `development` is for choices: the same families with another seed, other parameters, other names of columns.

Every table is drawn with a seed that follows from its name. A table knows its structure, what its owner could declare, and
`deployment(estimator, score)`: the estimator is fitted to the whole table and scored on what it will meet: new groups, later
time, other places, new rows without copies, rows without the column that leaks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.metrics import average_precision_score, balanced_accuracy_score, roc_auc_score

from foldshift.core.seeding import generator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldshift.core.types import Array, Estimator, FloatArray, IntArray, Task

    Deployment = Callable[..., float]
    Draw = Callable[..., tuple[pd.DataFrame, FloatArray]]

SEEDS = {"held out": 540_054, "development": 45, "clean": 540_055, "development clean": 46}
N_NEW = 2000  # rows that stand for deployment
REAL: dict[str, tuple[Callable[..., Any], Task]] = {
    "iris": (load_iris, "classification"),
    "wine": (load_wine, "classification"),
    "breast_cancer": (load_breast_cancer, "classification"),
    "diabetes": (load_diabetes, "regression"),
    "digits": (load_digits, "classification"),
}


class StructuredTable(NamedTuple):
    """A table, its structure, and its score at deployment."""

    name: str
    X: pd.DataFrame
    y: Array
    task: Task
    structure: tuple[str, ...]  # groups, time, space, copies, leak, rare, sentinel; empty if it is clean
    deployment: Deployment  # (estimator, score=None) -> float: error rate, RMSE, or area under the curve for rare classes
    declared: dict[str, Any]  # what the owner could declare: groups, times, coordinates, leak
    codes: IntArray | None = None  # group, or set of copies, of every row


class Setting(NamedTuple):
    """Parameters that tell the held-out tables from those for development: ranges, and names of columns."""

    n_groups: tuple[int, int]
    rows: tuple[int, int]  # of a table
    effect: tuple[float, float]  # standard deviation of what a group adds, in units of the noise
    persistence: tuple[float, float]  # of an autoregressive series, from step to step
    reach: tuple[float, float]  # of a random field, in units of the side of the square
    jitter: tuple[float, float]  # of copies, in standard deviations, on the logarithm
    rare: tuple[float, float]  # share of the rare class
    sites: tuple[str, ...]
    inputs: tuple[str, ...]
    places: tuple[tuple[str, str], ...]
    times: tuple[str, ...]
    sentinels: tuple[float, ...]


HELD_OUT = Setting(
    (12, 60), (200, 900), (0.8, 2.5), (0.93, 0.995), (0.1, 0.35), (1e-6, 0.03), (0.008, 0.045),
    ("site", "clinic", "plant", "v17", "batch_no", "school"),
    ("rain", "load", "alpha", "ph", "bmi", "depth", "gain", "mass", "flux", "tone"),
    (("latitude", "longitude"), ("x", "y"), ("easting", "northing"), ("a1", "a2")),
    ("date", "day", "timestamp", ""), (-999.0, 9999.0, 0.0, -1.0, 99.0),
)  # fmt: skip
DEVELOPMENT = Setting(
    (10, 80), (150, 1200), (0.6, 3.0), (0.9, 0.99), (0.08, 0.3), (1e-7, 0.04), (0.005, 0.04),
    ("patient", "farm", "machine", "k", "lot", "household"),
    ("q1", "temp", "beta", "salt", "speed", "width", "power", "weight", "light", "noise"),
    (("lat", "lon"), ("X", "Y"), ("utm_e", "utm_n"), ("c1", "c2")),
    ("when", "time", "week", ""), (-99.0, 999.0, 0.0, -9999.0, 8888.0),
)  # fmt: skip


# Score at deployment


def score_of(estimator: Estimator, X: pd.DataFrame, y: Array, score: str) -> float:
    """Score a fitted estimator: ``error``, ``rmse``, ``roc_auc``, ``average_precision`` or ``balanced_accuracy``."""
    if score == "rmse":
        return float(np.sqrt(np.mean((estimator.predict(X) - y) ** 2)))
    if score == "error":
        return float(np.mean(estimator.predict(X) != y))
    if score == "balanced_accuracy":
        return float(balanced_accuracy_score(y, estimator.predict(X)))
    chances = estimator.predict_proba(X)[:, 1]
    return float((roc_auc_score if score == "roc_auc" else average_precision_score)(y == estimator.classes_[1], chances))


def _deployment(X: pd.DataFrame, y: Array, usual: str, new: Callable[[], tuple[pd.DataFrame, Array]]) -> Deployment:
    """Make a function that fits to the whole table and scores on new rows."""

    def deployment(estimator: Estimator, score: str | None = None) -> float:
        later, truth = new()
        return score_of(clone(estimator).fit(X[list(later.columns)], y), later, truth, score or usual)

    return deployment


# Parts of populations


def _response(X: FloatArray, weights: FloatArray, bends: FloatArray) -> FloatArray:
    """A sum of slopes and sines of the inputs."""
    return X @ weights + np.sin(X @ bends)


def _draw_response(p: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    return rng.normal(size=p) / np.sqrt(p), rng.normal(size=p)


def _target(latent: FloatArray, task: Task, cut: float) -> Array:
    return latent if task == "regression" else np.where(latent > cut, "yes", "no")


def _names(setting: Setting, p: int, rng: np.random.Generator) -> list[str]:
    return [str(name) for name in rng.permutation(setting.inputs)[:p]]


def _usual(task: Task) -> str:
    return "rmse" if task == "regression" else "error"


def grouped(name: str, setting: Setting, rng: np.random.Generator, mark: str, task: Task) -> StructuredTable:
    """Groups with random effects in target and inputs.

    `mark` says what shows them: ``name`` (a column of labels), ``number`` (a column of whole numbers), ``constant`` (three
    columns that are constant within a group), ``near`` (three columns that are nearly so), ``both`` (labels, rows in order).
    """
    p, n_groups = int(rng.integers(3, 7)), int(rng.integers(*setting.n_groups))
    per_group = max(4, int(rng.integers(*setting.rows)) // n_groups)
    effect, spread = rng.uniform(*setting.effect), rng.uniform(0.7, 2.0)
    weights, bends = _draw_response(p, rng)
    columns, label, is_even = _names(setting, p, rng), str(rng.choice(setting.sites)), bool(rng.random() < 0.5)

    def draw(n_groups: int, rng: np.random.Generator) -> tuple[pd.DataFrame, FloatArray, IntArray]:
        sizes = np.full(n_groups, per_group) if is_even else rng.integers(2, 2 * per_group, n_groups)
        codes = np.repeat(np.arange(n_groups), sizes)
        inputs = spread * rng.normal(size=(n_groups, p))[codes] + rng.normal(size=(len(codes), p))
        latent = _response(inputs, weights, bends) + effect * rng.normal(size=n_groups)[codes] + rng.normal(size=len(codes))
        X = pd.DataFrame(inputs, columns=columns)
        own = rng.normal(size=(n_groups, 3))[codes]
        if mark in ("constant", "near"):
            own = own + (0.02 * rng.normal(size=own.shape) if mark == "near" else 0)
            X = X.assign(**{f"{label}_{j}": own[:, j].round(6) for j in range(3)})
        elif mark == "number":
            X[label] = rng.permutation(10 * n_groups)[:n_groups][codes]
        else:
            X[label] = np.array([f"{label[0].upper()}{code:03d}" for code in rng.permutation(n_groups)])[codes]
        return X, latent, codes

    X, latent, codes = draw(n_groups, rng)
    if mark != "both":
        order = rng.permutation(len(X))
        X, latent, codes = X.iloc[order].reset_index(drop=True), latent[order], codes[order]
    cut = float(np.median(latent))
    y, seed = _target(latent, task, cut), int(rng.integers(2**32))

    def new() -> tuple[pd.DataFrame, Array]:
        later, hidden, _ = draw(max(60, N_NEW // per_group), np.random.default_rng(seed))
        return later, _target(hidden, task, cut)

    return StructuredTable(name, X, y, task, ("groups",), _deployment(X, y, _usual(task), new), {"groups": codes}, codes)


def patients(name: str, setting: Setting, rng: np.random.Generator, mark: str, task: Task) -> StructuredTable:
    """Persons with some visits each: age, sex and height of the person, measures of the visit, and a diagnosis that stays.

    `mark`: ``id`` (a column of numbers) or ``none``.
    """
    n_persons = int(rng.integers(40, 110))
    stays, visits, own = rng.uniform(0.85, 0.97), int(rng.integers(3, 8)), rng.uniform(1.0, 3.0)

    def draw(n_persons: int, rng: np.random.Generator) -> tuple[pd.DataFrame, Array, IntArray]:
        codes = np.repeat(np.arange(n_persons), rng.integers(max(2, visits - 2), visits + 3, n_persons))
        age, sex = rng.integers(20, 85, n_persons), rng.integers(2, size=n_persons)
        height, level = rng.normal(170, 9, n_persons).round(1), own * rng.normal(size=(n_persons, 3))
        inner = 0.03 * (age - 50) + 0.3 * sex + 0.4 * level[:, 0] + rng.normal(size=n_persons)
        X = pd.DataFrame({"years": age[codes], "sex": sex[codes], "tall_cm": height[codes]})
        measures = level[codes] + rng.normal(size=(len(codes), 3))
        X = X.assign(**dict(zip(("systolic", "glucose", "iron"), measures.T.round(3))))
        if mark == "id":
            X["subject_id"] = rng.permutation(9000)[:n_persons][codes] + 1000
        if task == "regression":
            return X, 2 * inner[codes] + rng.normal(size=len(codes)), codes
        sick = inner > 0
        return X, np.where(rng.random(len(codes)) < stays, sick[codes], ~sick[codes]).astype(int), codes

    X, y, codes = draw(n_persons, rng)
    order = rng.permutation(len(X))
    X, y, codes = X.iloc[order].reset_index(drop=True), y[order], codes[order]
    seed = int(rng.integers(2**32))

    def new() -> tuple[pd.DataFrame, Array]:
        return draw(max(60, N_NEW // visits), np.random.default_rng(seed))[:2]

    return StructuredTable(name, X, y, task, ("groups",), _deployment(X, y, _usual(task), new), {"groups": codes}, codes)


def series(name: str, setting: Setting, rng: np.random.Generator, mark: str, task: Task) -> StructuredTable:
    """A series with a slow level, slow inputs and lags; deployment is the stretch that follows, a fifth as long.

    `mark`: ``date`` (a column of dates, rows in order), ``shuffled`` (the same, rows not in order), ``number`` (a column that
    counts), ``lags`` (rows in order, the target's own past), ``none`` (rows in order, nothing that says so).
    """
    n, p = int(rng.integers(*setting.rows)), int(rng.integers(2, 5))
    n_later = n // 5
    slow, of_level, drift = rng.uniform(*setting.persistence), rng.uniform(1.5, 4.0), rng.uniform(-1.5, 1.5)
    weights, columns = rng.normal(size=p) / np.sqrt(p), _names(setting, p, rng)
    label = next(one for one in rng.permutation(setting.times) if one)
    shocks = np.sqrt(1 - slow**2)

    def walk(start: FloatArray, steps: int, rng: np.random.Generator) -> FloatArray:
        """States (steps, p + 1) of unit variance, after `start`."""
        out, state = np.empty((steps, p + 1)), start
        for t in range(steps):
            state = slow * state + shocks * rng.normal(size=p + 1)
            out[t] = state
        return out

    def observe(states: FloatArray, first: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        inputs = states[:, :p] + 0.2 * rng.normal(size=(len(states), p))
        when = np.arange(first, first + len(states)) / n
        return inputs, inputs @ weights + of_level * states[:, p] + drift * when + 0.5 * rng.normal(size=len(states))

    def table(inputs: FloatArray, latent: FloatArray, first: int) -> pd.DataFrame:
        X = pd.DataFrame(inputs, columns=columns)
        days = np.arange(first, first + len(inputs))
        if mark in ("date", "shuffled"):
            X[label] = pd.Timestamp("2019-01-07") + pd.to_timedelta(days, unit="D")
            X["since"] = days
        elif mark == "number":
            X[label] = days
        elif mark == "lags":
            for lag in (5, 6, 7):
                X[f"{lag} before"] = latent[7 - lag : len(latent) - lag]
        return X

    states = walk(rng.normal(size=p + 1), n + 7, rng)
    inputs, latent = observe(states, 0, rng)
    X, cut = table(inputs[7:], latent, 7), float(np.median(latent))
    y, order = _target(latent[7:], task, cut), np.arange(n)
    if mark == "shuffled":
        order = rng.permutation(n)
        X, y = X.iloc[order].reset_index(drop=True), y[order]
    seed = int(rng.integers(2**32))

    def new() -> tuple[pd.DataFrame, Array]:
        own, parts = np.random.default_rng(seed), []
        for _ in range(20):
            later_inputs, later = observe(walk(states[-1], n_later, own), n + 7, own)
            parts.append((table(later_inputs, np.concatenate([latent[-7:], later]), n + 7), later))
        return pd.concat([X for X, _ in parts], ignore_index=True), _target(np.concatenate([y for _, y in parts]), task, cut)

    return StructuredTable(name, X, y, task, ("time",), _deployment(X, y, _usual(task), new), {"times": order})


def field(name: str, setting: Setting, rng: np.random.Generator, mark: str, task: Task) -> StructuredTable:
    """A Gaussian random field over coordinates, which are columns; deployment is at other places.

    `mark`: ``patches`` (places lie in patches, deployment in other patches of the square) or ``beside`` (places all over the
    square, deployment in a strip beside it).
    """
    n, p = int(rng.integers(*setting.rows)), int(rng.integers(2, 5))
    reach, strength = rng.uniform(*setting.reach), rng.uniform(1.0, 3.0)
    weights, columns = rng.normal(size=p) / np.sqrt(p), _names(setting, p, rng)
    pair = setting.places[int(rng.integers(len(setting.places)))]
    if mark == "patches":
        centres = rng.random((40, 2))
        places = np.concatenate(
            [
                centres[half][rng.integers(20, size=m)] + 0.03 * rng.normal(size=(m, 2))
                for half, m in ((slice(20), n), (slice(20, 40), 400))
            ]
        )
    else:
        places = np.concatenate([rng.random((n, 2)), np.array([1.05, 0]) + np.array([0.3, 1]) * rng.random((400, 2))])
    root = np.linalg.cholesky(np.exp(-cdist(places, places) / reach) + 1e-6 * np.eye(len(places)))
    n_fields = p + 1
    drawn = rng.normal(size=(n, n_fields))
    noise = rng.normal(size=(n, n_fields))

    def observe(fields: FloatArray, noise: FloatArray) -> tuple[FloatArray, FloatArray]:
        inputs = fields[:, :p] + 0.3 * noise[:, :p]
        return inputs, inputs @ weights + strength * fields[:, p] + 0.5 * noise[:, p]

    def table(inputs: FloatArray, places: FloatArray) -> pd.DataFrame:
        X = pd.DataFrame(inputs, columns=columns)
        return X.assign(**{pair[0]: places[:, 0] + 40, pair[1]: places[:, 1] + 7})

    inputs, latent = observe(root[:n, :n] @ drawn, noise)
    X, cut = table(inputs, places[:n]), float(np.median(latent))
    y, seed = _target(latent, task, cut), int(rng.integers(2**32))

    def new() -> tuple[pd.DataFrame, Array]:
        own, parts = np.random.default_rng(seed), []
        for _ in range(20):
            fields = root[n:, :n] @ drawn + root[n:, n:] @ own.normal(size=(400, n_fields))
            later_inputs, later = observe(fields, own.normal(size=(400, n_fields)))
            parts.append((table(later_inputs, places[n:]), later))
        return pd.concat([X for X, _ in parts], ignore_index=True), _target(np.concatenate([y for _, y in parts]), task, cut)

    return StructuredTable(name, X, y, task, ("space",), _deployment(X, y, _usual(task), new), {"coordinates": places[:n]})


# Tables of independent rows, plain or with something planted in them

FORMS = ("normal", "correlated", "discrete", "ties", "skewed", "imbalanced", "mixed", "clusters", "uniform", "wide")


def _independent(form: str, setting: Setting, rng: np.random.Generator) -> tuple[int, Draw]:
    """Draw a population of independent rows; return the number of rows of a table, and ``draw(n, rng)``."""
    p = int(rng.integers(60, 120)) if form == "wide" else int(rng.integers(3, 11))
    n = int(rng.integers(80, 150)) if form == "wide" else int(rng.integers(*setting.rows))
    weights, bends = _draw_response(p, rng)
    mix, centres, levels = rng.normal(size=(p, p)) / np.sqrt(p), 3 * rng.normal(size=(6, p)), rng.integers(3, 12, p)
    columns = _names(setting, p, rng) if p <= len(setting.inputs) else [f"g{j}" for j in range(p)]

    def draw(n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, FloatArray]:
        inputs = rng.normal(size=(n, p))
        if form == "correlated":
            inputs = inputs @ mix + rng.normal(size=(n, 1))
        elif form == "discrete":
            inputs = np.floor(levels * rng.random((n, p)))
        elif form == "ties":
            inputs = inputs.round(1)
        elif form == "skewed":
            inputs = np.exp(inputs)
        elif form == "clusters":
            inputs = inputs + centres[rng.integers(6, size=n)]
        elif form == "uniform":
            inputs = rng.random((n, p))
        elif form == "mixed":
            inputs[:, 0], inputs[:, 1] = rng.integers(5, size=n), rng.integers(2, size=n)
        scaled = inputs / np.array([levels.max() if form == "discrete" else 1.0])
        return pd.DataFrame(inputs, columns=columns), _response(scaled, weights, bends) + 0.7 * rng.normal(size=n)

    return n, draw


def independent(name: str, setting: Setting, rng: np.random.Generator, form: str, task: Task, plant: str = "") -> StructuredTable:
    """Independent rows, and what is planted: ``""``, ``copies``, ``jitter``, ``leak``, ``gaps``, ``rare`` or ``sentinel``."""
    n, draw = _independent(form, setting, rng)
    X, latent = draw(n, rng)
    share = 1 - rng.uniform(*setting.rare) if plant == "rare" else 0.85 if form == "imbalanced" else 0.5
    cut = float(np.quantile(latent, share))
    y, seed = _target(latent, task, cut), int(rng.integers(2**32))
    if plant == "sentinel":
        sentinel, shown, holes = float(rng.choice(setting.sentinels)), float(rng.uniform(0.02, 0.2)), int(rng.integers(1, 3))

    def with_sentinels(X: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        """Values far from zero, of which some are the sentinel."""
        X = X.copy()
        for column in X.columns[:holes]:
            X[column] = np.where(rng.random(len(X)) < shown, sentinel, (40 + 5 * X[column]).round(2))
        return X

    def new() -> tuple[pd.DataFrame, Array]:
        own = np.random.default_rng(seed)
        later, hidden = draw(10 * N_NEW if plant == "rare" else N_NEW, own)
        later = with_sentinels(later, own) if plant == "sentinel" else later
        return later, _target(hidden, task, cut)

    if plant == "sentinel":
        X = with_sentinels(X, rng)
    structure = {"jitter": ("copies",), "gaps": ("leak",), "": ()}.get(plant, (plant,))
    usual = "roc_auc" if plant == "rare" else _usual(task)
    table = StructuredTable(name, X, y, task, structure, _deployment(X, y, usual, new), {})
    return planted(table, plant, setting, rng, usual, new)


def planted(
    table: StructuredTable, plant: str, setting: Setting, rng: np.random.Generator, usual: str, new: Callable[..., Any]
) -> StructuredTable:
    """Plant copies or a column that leaks in a table of independent rows."""
    X, y, n = table.X, table.y, len(table.X)
    codes, declared = None, dict[str, Any]()
    if plant in ("copies", "jitter"):
        share = float(np.exp(rng.uniform(np.log(0.05), np.log(1.0))))
        again = rng.permutation(n)[: max(2, round(share * n))]
        more = X.iloc[again]
        if plant == "jitter":
            size = float(np.exp(rng.uniform(*np.log(setting.jitter))))
            more = more + size * X.std(ddof=0).to_numpy() * rng.normal(size=more.shape)
        codes = np.concatenate([np.arange(n), again])
        order = rng.permutation(len(codes))
        X, y = pd.concat([X, more], ignore_index=True).iloc[order].reset_index(drop=True), np.concatenate([y, y[again]])[order]
        codes = codes[order]
        declared = {"groups": codes}
    elif plant == "leak":
        code = (y == "yes").astype(float) if table.task == "classification" else y
        if table.task == "classification":
            wrong = rng.random(n) < rng.uniform(0, 0.01)
            leak = np.where(wrong, 1 - code, code) * rng.uniform(2, 9) + rng.random(n)
        else:
            leak = rng.uniform(-3, 3) * (code + rng.uniform(0, 0.08) * code.std() * rng.normal(size=n)) + 5
        X = X.assign(final_note=leak)
        declared = {"leak": "final_note"}
    elif plant == "gaps":
        seen = (y == "yes") if table.task == "classification" else y > np.median(y)
        X = X.assign(follow_up=np.where(seen, rng.normal(size=n), np.nan))
        declared = {"leak": "follow_up"}
    return table._replace(X=X, y=y, codes=codes, declared=declared, deployment=_deployment(X, y, usual, new))


def real(name: str, setting: Setting, rng: np.random.Generator, source: str, plant: str = "") -> StructuredTable:
    """A real table, shuffled; half of its rows are held back for deployment if something is planted, else a quarter."""
    load, task = REAL[source]
    X, y = load(return_X_y=True, as_frame=True)
    order = rng.permutation(len(X))
    X, y = X.iloc[order].reset_index(drop=True), y.to_numpy()[order]
    if task == "classification":
        y = np.array([f"class {label}" for label in y])
    kept = len(X) // 2 if plant else 3 * len(X) // 4
    later, truth, X, y = X.iloc[kept:], y[kept:], X.iloc[:kept], y[:kept]
    usual = _usual(task)
    if plant == "rare":
        first = np.unique(y)[0]
        ours = np.flatnonzero(y != first)
        few = np.flatnonzero(y == first)[: max(5, round(rng.uniform(*setting.rare) * len(ours)))]
        rows = rng.permutation(np.concatenate([ours, few]))
        X, y, usual = X.iloc[rows].reset_index(drop=True), y[rows], "roc_auc"

    def new() -> tuple[pd.DataFrame, Array]:
        return later, truth

    structure = {"jitter": ("copies",), "": ()}.get(plant, (plant,))
    table = StructuredTable(name, X, y, task, structure, _deployment(X, y, usual, new), {})
    return planted(table, plant, setting, rng, usual, new)


# Lists of tables

TASKS: tuple[Task, ...] = ("regression", "classification")


def _structured(seed: int, setting: Setting, n_each: int) -> Iterator[StructuredTable]:
    made: list[tuple[Callable[..., StructuredTable], tuple[Any, ...]]] = []
    for make, marks in (
        (grouped, ("name", "number", "constant", "near", "both")),
        (patients, ("id", "none")),
        (series, ("date", "shuffled", "number", "lags", "none")),
        (field, ("patches", "beside")),
    ):
        made += [(make, (mark, task)) for mark in marks for task in TASKS for _ in range(n_each if len(marks) == 2 else 1)]
    plants = ("copies", "jitter", "jitter", "jitter", "leak", "gaps", "sentinel")
    made += [(independent, (FORMS[place % 9], task, plant)) for place, plant in enumerate(plants) for task in TASKS]
    made += [(independent, (form, "classification", "rare")) for form in ("normal", "correlated", "skewed")]
    made += [(real, (source, plant)) for source, plant in (("breast_cancer", "rare"), ("diabetes", "jitter"), ("wine", "jitter"),
                                                           ("breast_cancer", "copies"), ("digits", "jitter"))]  # fmt: skip
    for place, (make, options) in enumerate(made):
        name = f"{place:02d} {make.__name__} {' '.join(filter(None, options))}"
        yield make(name, setting, generator(seed, name), *options)


def held_out() -> Iterator[StructuredTable]:
    """Yield 58 structured tables that no threshold may be set on."""
    return _structured(SEEDS["held out"], HELD_OUT, 2)


def development(seed: int = SEEDS["development"]) -> Iterator[StructuredTable]:
    """Yield 58 structured tables for choices; another `seed` gives others."""
    return _structured(seed, DEVELOPMENT, 2)


def _clean(seed: int, setting: Setting) -> Iterator[StructuredTable]:
    options: list[tuple[str, Task]] = [(form, task) for form in FORMS for task in TASKS]
    for place, (form, task) in enumerate([*options, *options[:12]]):
        name = f"{place:02d} independent {form} {task}"
        yield independent(name, setting, generator(seed, name), form, task)
    for place, source in enumerate([*REAL, "diabetes", "breast_cancer", "wine"], 32):
        name = f"{place:02d} real {source}"
        yield real(name, setting, generator(seed, name), source)


def clean() -> Iterator[StructuredTable]:
    """Yield 40 clean tables that no threshold may be set on."""
    return _clean(SEEDS["clean"], HELD_OUT)


def development_clean(seed: int = SEEDS["development clean"]) -> Iterator[StructuredTable]:
    """Yield 40 clean tables for choices; another `seed` gives others. The real ones are other rows of the same sources."""
    return _clean(seed, DEVELOPMENT)
