"""Tables of scores as people have them, read into one form: a row for every unit, a column for every learner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from foldshift.core.errors import DataError
from foldshift.core.remedies import Given, Message, Number, Remedy
from foldshift.inference.mixed_units import refuse_mixed_units
from foldshift.inference.score_tables.predictions import as_labels, score_predictions
from foldshift.inference.score_tables.score_columns import (
    CLUSTERS,
    ROLES,
    Columns,
    TableColumns,
    find_columns,
    higher_is_better,
    plain_name,
)
from foldshift.inference.score_tables.score_forms import (
    KEYS,
    ROW,
    check_keys,
    check_several,
    long_form,
    measured,
    named_columns,
    row_each,
    rows_in_words,
    wide_form,
    without_spreads,
)
from foldshift.inference.score_tables.statistic_rows import without_statistics

if TYPE_CHECKING:
    from foldshift.core.types import BoolArray, FloatArray, IntArray

Unit = Literal["item", "fold", "dataset"]
UNITS: tuple[Unit, ...] = ("item", "fold", "dataset")
WORDS = {"item": "items", "fold": "folds", "dataset": "data sets"}
FEW_CLUSTERS = 10
LARGEST = 1e100  # of scores, so that their squares are numbers


class Design(NamedTuple):
    """Kind of the rows of a table of scores, and so the test that fits."""

    unit: Unit
    n_repeats: int  # repetitions of every unit; of folds: of the partition
    n_folds: int  # folds of a repetition; 1 for repeated hold-out; 0 where the unit is no fold
    overlap: float  # rows tested by rows trained on; NaN where the unit is no fold
    of_test_set: bool  # whether items were scored by models that no other item has trained

    def words(self, n_units: int) -> str:
        """Describe the design."""
        if self.unit != "fold":
            return f"{n_units} {WORDS[self.unit]}"
        if self.n_folds == 1:
            return f"{n_units} hold-outs"
        return f"{self.n_repeats} x {self.n_folds} folds" if self.n_repeats > 1 else f"{self.n_folds} folds"


class ScoreTable(NamedTuple):
    """Scores of learners on the same units, read from a table of any form."""

    learners: tuple[str, ...]
    design: Design
    scores: FloatArray  # shape (n_units, n_learners), complete
    units: tuple[str, ...]
    clusters: IntArray | None  # codes, shape (n_units,)
    metric: str  # empty if the table does not name it
    higher_is_better: bool
    notes: tuple[str, ...]

    @property
    def binary(self) -> bool:
        """True if every score is 0 or 1."""
        return bool(np.isin(self.scores, (0.0, 1.0)).all())


def read_scores(
    frame: pd.DataFrame, columns: TableColumns, metric: str | None = None, sizes: tuple[float | None, float | None] = (None, None)
) -> ScoreTable:
    """Read a table of scores, in long form (a row for every score) or in wide form (a column for every learner).

    `sizes` are the rows of a training and of a test part, if the caller knows them.
    """
    frame, given = named_columns(frame), {key: value for key, value in columns.items() if value is not None}
    unit, better = (None if given.get(name) is None else str(given.pop(name)) for name in ("unit", "better"))
    for name, value, allowed in (("unit", unit, UNITS), ("better", better, ("higher", "lower"))):
        if value is not None and value not in allowed:
            raise DataError(Given(name, str(value)), f" must be one of {', '.join(allowed)}")
    notes: list[str] = []
    frame = without_spreads(frame, notes)
    found = find_columns(list(frame.columns), {key: str(value) for key, value in given.items()}, measured(frame))
    frame, found, metric = score_predictions(frame, found, metric, notes)
    frame = without_statistics(frame, found, notes)
    frame, found = row_each(frame, found, unit)
    if found.learner is not None:
        frame, found, told = long_form(frame, found, metric)
    else:
        frame, found, told = wide_form(frame, found, metric, notes)
    check_keys(frame, found)
    cells, levels = _cells(frame, found, notes)
    kind = _unit_of(cells, found, levels, unit)  # type: ignore[arg-type]
    up = _direction(better, told, cells, notes)
    _check_scale(cells, by_metric=better is None and higher_is_better(told) is True)
    complete = _complete(cells, notes, kind)
    design = _design(complete, kind, levels, frame, found, sizes, notes)
    clusters = _clusters(frame, found, complete, kind, notes)
    scores = complete.groupby(level=_levels_of(kind, levels), sort=False, observed=True).mean()
    codes = None if clusters is None else np.unique(clusters.loc[scores.index].to_numpy(), return_inverse=True)[1].ravel()
    names = tuple(" ".join(map(str, key)) if isinstance(key, tuple) else str(key) for key in scores.index)
    if len(scores) < 2:
        what = {"item": "items", "fold": "folds", "dataset": "data sets"}[kind]
        raise DataError(f"the table has 1 row to compare on; a comparison needs two or more {what} that all learners share")
    learners = tuple(str(name) for name in scores.columns)
    values = scores.to_numpy(np.float64)
    return ScoreTable(learners, design, values, names, codes, told, up, tuple(notes))


def _cells(frame: pd.DataFrame, found: Columns, notes: list[str]) -> tuple[pd.DataFrame, list[str]]:
    """Scores with a row for every key and a column for every learner, and the keys that tell rows apart."""
    names = {role: getattr(found, role) for role in KEYS if getattr(found, role) is not None}
    names = {role: name for role, name in names.items() if role != "dataset" or frame[name].nunique() > 1 or len(names) == 1}
    if not names:
        check_several(frame, found)
        rest = [name for name in frame.columns if name not in found.taken]
        raise DataError(
            "no column says which rows of the learners belong together; name one: ",
            Remedy("item", next((name for name in rest if plain_name(name) not in ROLES), "COLUMN")), " (or fold, dataset)",
        )  # fmt: skip
    flat = pd.DataFrame({role: as_labels(frame[name]) for role, name in names.items()})
    flat["learner"], flat["score"] = as_labels(frame[found.learner]), frame[found.score].to_numpy(np.float64)
    keys = [*names, "learner"]
    twice = flat.duplicated(keys, keep=False)
    if twice.any():
        raise DataError(*_repeated(frame, flat, twice.to_numpy(), keys, found))
    order = list(dict.fromkeys(flat["learner"]))
    cells = flat.set_index(keys)["score"].unstack("learner", sort=False)[order]
    empty = flat["score"].isna()
    if empty.any():
        missing = f"{(n := int(empty.sum()))} score{'s are' if n > 1 else ' is'} missing"
        notes.append(f"{missing} (NaN or empty); if a fit failed there, what is left flatters")
    for learner in order:
        if cells[learner].isna().all():
            raise DataError(f"{learner!r} has no score in any row; leave it out")
    return cells, list(names)


def _repeated(
    frame: pd.DataFrame, flat: pd.DataFrame, twice: BoolArray, keys: list[str], found: Columns
) -> tuple[str | Remedy, ...]:
    """Say which rows have the same key, and the column that may tell them apart."""
    first = flat[keys][twice].iloc[0]
    same = (flat[keys] == first).all(axis=1).to_numpy()
    places = (np.flatnonzero(same)[:2] + 1).tolist()
    where = ", ".join(f"{role} {value!r}" for role, value in first.items())
    what = f"{int(twice.sum())} rows share their key with another, such as rows {places[0]} and {places[1]} ({where}); "
    if frame[same].duplicated().any():
        return what, "they are copies: keep one of each"
    rest = [name for name in frame.columns if name not in found.taken and frame[name][same].nunique() == int(same.sum())]
    role = next((one for one in ("repeat", "fold", "item") if one not in keys), None)
    if rest and role:
        return what, "a column may tell them apart: ", Remedy(role, rest[0])
    return what, "keep one of each, or add a column that tells repetitions apart: ", Remedy("repeat", "COLUMN")


def _unit_of(cells: pd.DataFrame, found: Columns, levels: list[str], unit: Unit | None) -> Unit:
    """Unit of the comparison: as asked, else the finest that the table holds."""
    unnamed = found.item == ROW
    if unnamed and unit is None and not np.isin(cells.to_numpy()[~cells.isna().to_numpy()], (0.0, 1.0)).all():
        choices = (
            Remedy("unit", "item"),
            ", ",
            Remedy("unit", "dataset"),
            ", folds in their order: ",
            Number("n_splits", "FOLDS"),
            ", or name their column: ",
            Remedy("fold", "COLUMN"),
        )
        raise DataError("no column says what a row is; say it: ", *choices)
    if unit is None:
        if "item" in levels:
            return "item"
        if "dataset" in levels and cells.index.get_level_values("dataset").nunique() > 1:
            return "dataset"
        if levels == ["dataset"]:
            raise DataError(
                f"column {found.dataset!r} names one data set, {cells.index[0]!r}; a comparison over data sets needs two or "
                "more; for the folds or items of this one name their column: ",
                Remedy("fold", "COLUMN"), ", ", Remedy("item", "COLUMN"),
            )  # fmt: skip
        return "fold"
    if unnamed:
        return unit
    wanted = {"item": ("item",), "fold": ("fold", "repeat"), "dataset": ("dataset",)}[unit]
    if not any(one in levels for one in wanted):
        raise DataError(Given("unit", unit), " needs a column of them; name it: ", Remedy(wanted[0], "COLUMN"))
    if unit == "fold" and ("dataset" in levels):
        n = cells.index.get_level_values("dataset").nunique()
        if n > 1:
            raise DataError(
                f"folds of {n} data sets are no sample of one kind; compare over data sets: ", Remedy("unit", "dataset")
            )
    return unit


def _levels_of(kind: Unit, levels: list[str]) -> list[str]:
    """Keys that name a unit."""
    wanted = {"item": ("dataset", "item"), "fold": ("repeat", "fold"), "dataset": ("dataset",)}[kind]
    return [one for one in levels if one in wanted] or levels


def _direction(better: str | None, metric: str, cells: pd.DataFrame, notes: list[str]) -> bool:
    """Say whether higher scores are better: as given, by the name of the metric, or 1 for right."""
    if better is not None:
        return better == "higher"
    known = higher_is_better(metric)
    if known is not None:
        return known
    values = cells.to_numpy()
    if np.isin(values[~np.isnan(values)], (0.0, 1.0)).all():
        notes.append(Message("scores of 0 and 1 are taken for wrong and right; if 1 is a failure: ", Remedy("better", "lower")))
        return True
    named = f"{metric!r} does not tell" if metric else "no name of a metric tells"
    raise DataError(
        f"{named} whether higher scores are better; say ", Remedy("better", "higher"), " or ", Remedy("better", "lower")
    )


def _check_scale(cells: pd.DataFrame, by_metric: bool) -> None:
    """Refuse scores of which some are shares and others percents: those of two learners, or, of a known metric, any."""
    values = cells.to_numpy()
    largest = float(np.nanmax(np.abs(values)))
    if largest > LARGEST or 0 < largest < 1 / LARGEST:
        raise DataError(f"the largest score is {largest:g}; write the scores in a unit in which they are nearer to 1")
    refuse_mixed_units(values, [str(name) for name in cells.columns], by_metric)


def _complete(cells: pd.DataFrame, notes: list[str], kind: Unit) -> pd.DataFrame:
    """Keys that all learners have; say which are left out."""
    gaps = cells.isna()
    gone = gaps.any(axis=1)
    if not gone.any():
        return cells
    if gone.all():
        by = gaps.sum().sort_values(ascending=False, kind="stable")
        raise DataError(
            f"no row has the scores of all learners ({by.index[0]!r} lacks {int(by.iloc[0])} of {len(cells)}); are the "
            "items named alike for all of them? Leave out a learner that was scored on others"
        )
    worst = gaps.sum()
    lack = ", ".join(f"{name} lacks {int(n)}" for name, n in worst[worst > 0].items())
    what = "are" if gone.sum() > 1 else "is"
    notes.append(f"{int(gone.sum())} of {len(cells)} rows {what} left out for all learners, as some have no score there ({lack})")
    return cells[~gone]


def _design(
    cells: pd.DataFrame, kind: Unit, levels: list[str], frame: pd.DataFrame, found: Columns,
    sizes: tuple[float | None, float | None], notes: list[str],
) -> Design:  # fmt: skip
    """Find repetitions, folds and the overlap of training parts."""
    if kind == "item":
        n_items = len(cells.groupby(level=_levels_of(kind, levels), observed=True))
        if "dataset" in levels:
            n = cells.index.get_level_values("dataset").nunique()
            notes.append(Message(f"items of {n} data sets: the answer is about new items of these; about new data sets: ",
                                 Remedy("unit", "dataset")))  # fmt: skip
        per_item = round(len(cells) / n_items)
        if len(cells) > n_items:
            notes.append(f"the scores of an item are averaged over some {per_item} repetitions")
        return Design(kind, per_item, 0, np.nan, "fold" not in levels)
    if kind == "dataset":
        n = len(cells.groupby(level=_levels_of(kind, levels), observed=True))
        if len(cells) > n:
            notes.append(f"the scores of a data set are averaged over some {round(len(cells) / n)} folds or repetitions")
        return Design(kind, round(len(cells) / n), 0, np.nan, True)
    if "item" in levels and found.item != ROW:
        cells = cells.groupby(level=_levels_of(kind, levels), observed=True).mean()
    n_folds = 1
    n_repeats = len(cells)
    if "fold" in levels:
        counts = cells.groupby(level="repeat", observed=True).size() if "repeat" in levels else pd.Series([len(cells)])
        n_folds, n_repeats = int(counts.max()), len(counts)
    overlap = _overlap(frame, found, n_folds, sizes, notes)
    return Design(kind, n_repeats, n_folds, overlap, False)


def _overlap(
    frame: pd.DataFrame, found: Columns, n_folds: int, sizes: tuple[float | None, float | None], notes: list[str]
) -> float:
    """Rows tested by rows trained on: from the sizes, else of k folds."""
    by_column = [
        None if name is None else float(pd.to_numeric(frame[name], errors="coerce").mean())
        for name in (found.n_train, found.n_test)
    ]
    n_train, n_test = (size if size is not None else own for size, own in zip(sizes, by_column))
    for name, size in (("n_train", n_train), ("n_test", n_test)):
        if size is not None and not 0 < size < np.inf:
            raise DataError(Given(name, f"{size:g}"), " must be a positive number of rows (the mean where folds differ)")
    if n_train is not None and n_test is not None:
        return float(n_test) / float(n_train)
    if n_folds < 2:
        raise DataError(
            "repeated hold-out needs the sizes of its parts, as they share rows: ", Remedy("n_train", "ROWS"), " ",
            Remedy("n_test", "ROWS"), "; or name the column of folds: ", Remedy("fold", "COLUMN"),
        )  # fmt: skip
    if n_train is not None or n_test is not None:
        lacking = "n_test" if n_test is None else "n_train"
        raise DataError(f"{lacking} is missing beside the other size; give both: ", Remedy(lacking, "ROWS"))
    notes.append(
        Message(f"training and test parts are taken for those of {n_folds} folds, {n_folds - 1} to 1; else say ",
                Remedy("n_train", "ROWS"), " ", Remedy("n_test", "ROWS"))
    )  # fmt: skip
    return 1 / (n_folds - 1)


def _clusters(frame: pd.DataFrame, found: Columns, cells: pd.DataFrame, kind: Unit, notes: list[str]) -> Any:
    """Cluster of every item; refuse those that split an item."""
    if found.clusters is None:
        named = [name for name in frame.columns if kind == "item" and plain_name(name) in CLUSTERS.split()]
        if named and frame[named[0]].nunique() < len(cells):
            notes.append(Message(f"column {named[0]!r} may say which items belong together: ", Remedy("clusters", named[0])))
        return None
    if kind != "item":
        raise DataError(
            Given("clusters", found.clusters), f" is for items, and here a row is one of the {WORDS[kind]}; leave it out"
        )
    if frame[found.clusters].isna().any():
        gone = rows_in_words(frame[found.clusters].isna())
        raise DataError(f"{gone} no value in column {found.clusters!r}; every item belongs to a cluster")
    names = _levels_of(kind, list(cells.index.names))
    flat = pd.DataFrame(
        {role: as_labels(frame[getattr(found, role)]) for role in names} | {"cluster": as_labels(frame[found.clusters])}
    )
    by_item = flat.groupby(names, sort=False)["cluster"]
    split = by_item.nunique() > 1
    if split.any():
        raise DataError(
            f"item {split.idxmax()!r} is in {int(by_item.nunique().max())} clusters of {found.clusters!r}; it needs one"
        )
    clusters = by_item.first()
    there = clusters.loc[cells.groupby(level=names, sort=False, observed=True).size().index]
    n = there.nunique()
    if n < 2:
        raise DataError(f"column {found.clusters!r} has one cluster; clusters are what is drawn anew, and two or more are needed")
    if n < FEW_CLUSTERS:
        notes.append(f"only {n} clusters: the interval rests on few")
    return clusters
