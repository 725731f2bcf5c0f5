"""Design of scores that come without one: read from what they are, or refused with what to say."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from foldshift.core.errors import DataError
from foldshift.core.gate.numbers import as_numbers
from foldshift.core.remedies import Number, Remedy
from foldshift.inference._fold_scores import is_report, of_cross_validate
from foldshift.inference.score_tables.score_columns import ROLES, plain_name
from foldshift.inference.score_tables.score_forms import measured

if TYPE_CHECKING:
    from foldshift.core.remedies import Message

    Unit = Literal["folds", "datasets", "sources"]

DESIGNS = ("folds", "datasets", "sources")
OF_BLOCKS = "one for each data set: design='datasets', or for each source left out: design='sources'"
OF_INDEX: dict[str, Unit] = {"fold": "folds", "repeat": "folds", "dataset": "datasets"}  # by the name of a series' index


def check_kinds(scores_a: Any, scores_b: Any, design: str | None) -> None:
    """Refuse what holds no scores of a learner, or more than those of one: files, learners, numbers, searches, tables."""
    if scores_a is None or (isinstance(scores_a, Mapping) and not scores_a):
        raise DataError(f"scores_a is {scores_a!r}; give the scores of both learners, scores_a and scores_b")
    for name, one in (("scores_a", scores_a), ("scores_b", scores_b)):
        if isinstance(one, Iterator):
            raise DataError(f"{name} is a {type(one).__name__}, which can be read once; give a list: list({name})")
        if isinstance(one, str | os.PathLike):
            raise DataError(f"{name} is {str(one)!r}; give scores: of a file, pd.read_csv({str(one)!r})")
        if isinstance(one, type) or (hasattr(one, "fit") and hasattr(one, "get_params")):
            raise DataError(f"{name} is a learner, {_title(one)}; learners are compared on data: give X= and y=, and cv=")
        if one is not None and np.ndim(_plain(one)) == 0 and not isinstance(one, Mapping) and not is_report(one):
            raise DataError(f"{name} is {one!r}; one number has no spread: give the scores of folds, data sets or items")
        if is_search(one):
            folds = "[results[f'split{i}_test_score'][candidate] for i in range(n_splits)]"
            raise DataError(f"{name} is the cv_results_ of a search, of many candidates; give the folds of one for each: {folds}")
        if scores_b is not None and is_table(one):
            labels = [column for column in one.columns if ROLES.get(plain_name(str(column))) == "learner"]
            joined = "[scores_a, scores_b]" if labels else '{"a": scores_a, "b": scores_b}, names=["learner"]'
            raise DataError(
                f"{name} is a table with columns of other things than scores; put both into one: compare(pd.concat({joined}))"
            )
    if design is not None and scores_b is None and is_table(scores_a):
        _refuse_table(scores_a, design)


def _refuse_table(frame: pd.DataFrame, design: str) -> None:
    """Refuse a table of scores beside a design, which is for arrays."""
    keys = [str(one) for one in frame.columns if plain_name(str(one)) in ("source", "sources", "site", "domain")]
    if design == "sources":
        column = keys[0] if keys else "COLUMN"
        how = (
            f"scores_a.set_index({column!r}), or, of one in long form, scores_a.pivot(index={column!r}, columns=..., values=...)"
        )
        raise DataError(f"scores_a is a table with labels; give a column of scores for every learner: {how}")
    unit = Remedy("unit", "fold" if design == "folds" else "dataset")
    raise DataError(
        f"scores_a is a table with labels, whose columns say what a row is; leave design={design!r} out, or say ", unit
    )


def is_table(scores: Any) -> bool:
    """Say whether scores are a table of which some columns hold labels or keys."""
    if not isinstance(scores, pd.DataFrame) or of_cross_validate(scores):
        return False
    numbers, fractions = (
        scores.select_dtypes(["number", "bool"]).columns,
        measured(scores.set_axis(scores.columns.map(str), axis=1)),
    )
    keys = [name for name in scores.columns if plain_name(str(name)) in ROLES and str(name) not in fractions]
    return len(numbers) < scores.shape[1] or bool(keys)


def design_of(scores_a: Any, scores_b: Any, of_folds: list[str]) -> Unit:
    """Find the design of scores without one; `of_folds` names the arguments given that are for folds alone."""
    named = isinstance(scores_a, Mapping) and not of_cross_validate(scores_a)
    values = list(scores_a.values()) if named and scores_b is None else [one for one in (scores_a, scores_b) if one is not None]
    if of_folds or any(is_report(one) or of_cross_validate(one) for one in values):
        return "folds"
    if len(values) == 1 and named:
        raise DataError(f"scores_a holds the scores of one learner, {next(iter(scores_a))!r}; a comparison needs those of two")
    if len(values) == 1:
        raise DataError(
            "scores_b is missing; give the scores of both learners. Where scores_a has a column for each learner, say what a row "
            "is: a data set, design='datasets', or a source left out, design='sources'"
        )
    if any(np.ndim(_plain(one)) == 2 for one in values):
        return "folds"
    roles = {OF_INDEX.get(ROLES.get(plain_name(str(name)), "")) for one in values for name in _index_names(one)}
    if len(roles) == 1 and (role := roles.pop()) is not None:
        return role
    raise DataError(*_open(values, ["scores_a", "scores_b"] if not named else list(map(str, scores_a))))


def _open(values: list[Any], names: list[str]) -> tuple[str | Remedy | Message, ...]:
    """Say what flat scores without a design may be."""
    for name, one in zip(names, values):
        shape = np.shape(_plain(one))
        if len(shape) != 1 or not shape[0]:
            raise DataError(f"{name} has shape {shape}; expected (r, k), k folds of r repetitions, or their scores in a row")
        as_numbers(one, name)
    flat = [np.asarray(_plain(one)).ravel() for one in values]
    sizes = sorted({len(one) for one in flat})
    numbers = f"{' and '.join(map(str, sizes))} numbers{' each' * (len(sizes) == 1)}"
    what = f"{' and '.join(names[:3])} have {numbers}; say what one is for: "
    if all(one.dtype.kind in "biuf" and np.isin(one, (0, 1)).all() for one in flat):
        columns = "{" + ", ".join(f"{name!r}: {name}" for name in names) + "}"
        return (
            what,
            "right or wrong for each item: compare(pd.DataFrame(",
            columns,
            "), ",
            Remedy("unit", "item"),
            "); ",
            OF_BLOCKS,
        )
    folds: tuple[str | Remedy, ...] = "each fold of one data set: ", Number("n_splits", "FOLDS"), " (in a repetition), or cv=; "
    if len(values) > 2:
        folds = (
            "each fold of one data set: compare(pd.DataFrame(scores_a), ",
            Number("n_splits", "FOLDS"),
            ", ",
            Remedy("better", "higher"),
            "); ",
        )
    return what, *folds, OF_BLOCKS


def _index_names(values: Any) -> list[Any]:
    """Names of the index of a series."""
    return [] if not isinstance(values, pd.Series) else [name for name in values.index.names if name is not None]


def _plain(values: Any) -> Any:
    """Return scores as something that numpy can measure; a ragged list as a flat one."""
    if isinstance(values, Mapping) or is_report(values):
        return [0.0]
    try:
        return values if hasattr(values, "ndim") else np.asarray(values)
    except ValueError:
        return np.empty(len(values))


def is_search(values: Any) -> bool:
    """Say whether values are the results of a search over candidates."""
    names = list(map(str, values)) if isinstance(values, Mapping | pd.DataFrame) else []
    return "params" in names and any(name.startswith("split0_test") for name in names)


def _title(learner: Any) -> str:
    return learner.__name__ if isinstance(learner, type) else type(learner).__name__
