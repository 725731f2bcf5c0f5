"""The user's table cut into folds, or into splits where its rows belong together, for the command ``folds``."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from foldshift.command.read_tables import target_and_inputs
from foldshift.core.errors import DataError
from foldshift.core.remedies import Given, Remedy
from foldshift.partition.distinct import distinct_partitions
from foldshift.partition.export import Format, csv_text, export_folds
from foldshift.partition.holdout import holdout
from foldshift.partition.registry import PARTITIONERS, find_partitioner, known_partitioners, make_folds, options_of
from foldshift.partition.splits import Splits, as_splits, join_splits

if TYPE_CHECKING:
    from foldshift.advice.data import Data
    from foldshift.command.read_tables import TargetAndInputs
    from foldshift.command.table_options import Structure
    from foldshift.core.types import Array, BoolArray, IntArray, Splitter, Task
    from foldshift.datasets.readers.raw_table import RawTable

OF_STRUCTURE = ("time_on", "space_on", "subset_on")
BY_COLUMN = {
    "FORWARD": Remedy("time_on", "COLUMN"),
    "BLOCKS": Remedy("space_on", ("COLUMN", "COLUMN")),
    "NNDM": Remedy("space_on", ("COLUMN", "COLUMN")),
    "SOAK": Remedy("subset_on", "COLUMN"),
}
GOES_WITH = {"gap": "time_on", "block_size": "space_on", "buffer": "space_on", "validation_size": "test_size"}


class CutTable(NamedTuple):
    """Folds or splits of the rows of a table that have a target, and notes on how it was read and cut."""

    parts: Array | Splits
    rows: IntArray  # positions in the file, from 0
    names: list[str] | None  # of the splits
    notes: list[str]
    validation: BoolArray | None = None  # (n_seeds, n_samples), for one test part in place of folds

    def text(self, program: Format) -> str:
        """Write it for a program."""
        if self.validation is not None and isinstance(self.parts, Splits):
            if program == "csv":
                return held_out_csv(self.parts, self.validation, self.rows)
            if self.validation.any():
                remedy = Remedy("format", "csv")
                raise DataError(f"the format of {program} has no validation part; leave it out, or take ", remedy)
        return export_folds(self.parts, program, rows=self.rows, names=self.names)


def cut_table(
    table: RawTable, task: Task | None, structure: Structure, partitioner: str | None, sizes: tuple[int, int]
) -> CutTable:
    """Cut a table into folds, `sizes` of them and with so many seeds, as its structure asks for."""
    from foldshift.advice.data import FEWEST_ROWS

    _check_structure(structure, table, partitioner)
    found = target_and_inputs(table, task)
    if len(found.y) < FEWEST_ROWS:
        raise DataError(f"the table has {len(found.y)} rows; make_folds of foldshift.partition cuts fewer than {FEWEST_ROWS}")
    rows = np.flatnonzero(~table.frame[table.target].isna().to_numpy())
    if structure.test_size is not None:
        return CutTable(*_held_out(found, structure, rows, sizes[1]))
    if any(getattr(structure, one) for one in OF_STRUCTURE):
        splits, names, notes = _structured(table.frame.iloc[rows], found, structure, sizes)
        return CutTable(splits, rows, names, [*found.notes, *notes])
    folds, notes = _folds(table, found, structure, partitioner, sizes)
    return CutTable(folds, rows, None, [*found.notes, *notes])


def _check_structure(structure: Structure, table: RawTable, partitioner: str | None) -> None:
    """Refuse options that do not go together, and columns that cannot say how rows belong together."""
    given = [Given(one, structure.words(one)) for one in OF_STRUCTURE if getattr(structure, one)]
    others = [Given("groups", table.groups)] if table.groups and structure.test_size is None else []
    given += [Given("test_size", f"{structure.test_size:g}")] if structure.test_size is not None else []
    others += [Given("partitioner", partitioner)] if partitioner is not None else []
    others += [Given("stratify_on", structure.stratify_on)] if structure.stratify_on else []
    if given and len(given) + len(others) > 1:
        first, second = (*given, *others)[:2]
        raise DataError(first, " and ", second, " ask for different cuts; give one of them")
    for option, wanted in GOES_WITH.items():
        value = getattr(structure, option)
        if value is not None and not getattr(structure, wanted):
            raise DataError(
                Given(option, f"{value:g}"),
                " goes with ",
                Given(wanted, "SHARE" if wanted == "test_size" else "COLUMN"),
                ", which is not given",
            )
    for option, name in structure.named:
        if name == table.target and option != "stratify_on":
            raise DataError(f"{name!r} is the target, and cannot say which rows belong together; name another column")
    if len(set(structure.space_on)) == 1:
        raise DataError(f"{structure.space_on[0]!r} is given twice for the place; name two columns")


def _held_out(
    found: TargetAndInputs, structure: Structure, rows: IntArray, n_seeds: int
) -> tuple[Splits, IntArray, list[str], list[str], BoolArray]:
    """Cut off one test part, and a validation part if wanted, once for every seed."""
    target = found.y.to_numpy()
    strata = target if found.task == "classification" else target + 0.25  # not whole: strata by size
    masks = np.zeros((3, n_seeds, len(target)), dtype=bool)
    for seed in range(n_seeds):
        sizes: dict[str, Any] = {"test_size": structure.test_size, "validation_size": structure.validation_size}
        for mask, part in zip(masks, holdout(target, **sizes, stratify=strata, groups=found.groups, random_state=seed)):
            mask[seed, part] = True
    train, validation, test = masks
    numbers = np.arange(n_seeds)
    splits = Splits(train, test, numbers, np.zeros_like(numbers))
    return splits, rows, [f"seed_{seed}" for seed in range(n_seeds)], found.notes, validation


def held_out_csv(splits: Splits, validation: BoolArray, rows: IntArray) -> str:
    """Write the part of every row, in words, with a column for every seed."""
    columns: dict[str, Array] = {"row": rows + 1}
    for seed, masks in enumerate(zip(splits.train, validation, splits.test)):
        columns[f"seed_{seed}"] = np.select(masks, ["train", "validation", "test"], "")
    return csv_text(columns)


def _structured(
    frame: pd.DataFrame, found: TargetAndInputs, structure: Structure, sizes: tuple[int, int]
) -> tuple[Splits | Array, list[str] | None, list[str]]:
    """Cut by time, place or subset, once for every seed; return splits, their names and notes."""
    n_folds, n_seeds = sizes
    columns = [name for _, name in structure.named]
    without = frame[columns].isna().any(axis=1).to_numpy()
    if without.any():
        raise DataError(
            f"{int(without.sum())} rows have no value of {' or '.join(map(repr, columns))}, the first is row "
            f"{int(frame.index[without.argmax()]) + 1}; fill them in, or leave these rows out"
        )
    notes = list[str]()
    if structure.time_on and n_seeds > 1:
        notes.append("a cut forward in time has no randomness: one partition was made")
        n_seeds = 1
    values = _values(frame, structure)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        cuts = [as_splits(_splitter(structure, n_folds, seed), values, found.y.to_numpy(), values) for seed in range(n_seeds)]
    notes += dict.fromkeys(str(one.message) for one in caught if issubclass(one.category, UserWarning))
    splits, names = join_splits(cuts), None
    if structure.subset_on:
        of_one = _splitter(structure, n_folds, 0).split_names(values)
        names = [f"seed_{seed}_{one.subset}_fold_{one.fold}_{one.trained_on}" for seed in range(n_seeds) for one in of_one]
    return splits, names, notes


def _values(frame: pd.DataFrame, structure: Structure) -> Array | pd.DataFrame:
    """Times, coordinates or subsets of all rows."""
    if structure.subset_on:
        labels = frame[structure.subset_on].astype(object).to_numpy()
        whole = all(isinstance(label, float) and label.is_integer() for label in labels)
        return np.array([str(int(label) if whole else label) for label in labels])
    columns = list(structure.space_on) or [str(structure.time_on)]
    for name in columns:
        if frame[name].dtype.kind not in "iufb":
            example, wanted = frame[name].iloc[0], "lengths" if structure.space_on else "times"
            remedy = Remedy("types", ((name, "number" if structure.space_on else "date"),))
            raise DataError(
                f"{name!r} holds labels, such as {example!r}, and not {wanted}; name another column, or take ", remedy
            )
    return frame[columns] if structure.space_on else frame[columns[0]].to_numpy()


def _splitter(structure: Structure, n_folds: int, seed: int) -> Splitter:
    """Make the splitter for a structure."""
    from foldshift.partition import ForwardBlockKFold, SameOtherAllKFold, SpatialBlockKFold

    if structure.time_on:
        return ForwardBlockKFold(n_folds, gap=structure.gap or 0)
    if structure.space_on:
        return SpatialBlockKFold(n_folds, block_size=structure.block_size, buffer=structure.buffer, random_state=seed)
    return SameOtherAllKFold(n_folds, random_state=seed)


def _folds(
    table: RawTable, found: TargetAndInputs, structure: Structure, partitioner: str | None, sizes: tuple[int, int]
) -> tuple[Array, list[str]]:
    """Cut by a partitioner, once for every seed; return folds and notes."""
    from foldshift.advice.data import as_data

    n_folds, n_seeds = sizes
    task, is_class = found.task, found.task == "classification"
    data = as_data(found.X, found.y.to_numpy(), task=task, groups=found.groups)
    balanced = "CB-SCV" if is_class else "CB-TSCV"
    stratify = [name for name in structure.stratify_on if name != table.target]
    name = partitioner or (balanced if found.groups is not None or stratify else "SCV" if is_class else "TSCV")
    if name in BY_COLUMN:
        raise DataError(f"--partitioner {name} needs columns: leave it out, and take ", BY_COLUMN[name])
    known = find_partitioner(name)
    wishes = {"groups": (found.groups is not None, "keep groups together"), "stratify": (bool(stratify), "balance columns")}
    for option, (wanted, what) in wishes.items():
        if wanted and option not in known.takes:
            able = [one for one, about in PARTITIONERS.items() if option in about.takes]
            remedy = Remedy("partitioner", balanced)
            raise DataError(f"--partitioner {name} does not {what}; take ", remedy, f", or one of {', '.join(able)}")
    _check_cut(name, known.tasks, task, table.target)
    _check_n_folds(n_folds, data)
    options = options_of(name, categorical_features=data.nominal, groups=data.groups, task=task)
    if stratify:
        options["stratify"] = [[column.name for column in data.columns].index(one) for one in stratify]
    if known.looks_at_inputs and np.isnan(data.codes).any() and not name.startswith("CB-"):
        remedy = Remedy("partitioner", balanced)
        raise DataError(f"--partitioner {name} needs inputs without missing values; take ", remedy, ", which does not")
    target = data.target.astype(np.int64) if is_class else data.target
    folds = make_folds(name, data.codes, target, n_folds=n_folds, seeds=range(n_seeds), **options)
    stratified = is_class and found.groups is None and "SCV" in name
    made = distinct_partitions(folds, groups=found.groups, classes=target if stratified else None)
    few = f"{n_seeds} seeds gave {made.in_words()}; seeds that give the same one repeat nothing"
    return folds, [] if made.all_differ else [few]


def _check_n_folds(n_folds: int, data: Data) -> None:
    """Refuse more folds than there are rows, or groups."""
    units = len(data.target) if data.groups is None else len(np.unique(data.groups))
    if n_folds > units:
        what = "rows" if data.groups is None else "groups, and a group is never in two folds"
        raise DataError(Given("n_folds", str(n_folds)), f" is more than the {units} {what}; take ", Remedy("n_folds", str(units)))


def _check_cut(name: str, tasks: Sequence[str], task: Task, target: str) -> None:
    """Refuse a partitioner for the other kind of target."""
    if not tasks or task in tasks:
        return
    able = [one for one in known_partitioners(task) if one not in BY_COLUMN and (not one.startswith("SCV") or one == "SCV")]
    holds, other = ("a quantity", "classification") if task == "regression" else ("classes", "regression")
    raise DataError(
        f"--partitioner {name} is for {other}, and the target {target!r} holds {holds}; take ", Remedy("partitioner", able[0]),
        f", or one of {', '.join(able[1:])}"
    )  # fmt: skip
