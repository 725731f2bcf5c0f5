"""Errors of the reader of user-defined files by its constants, over real columns with damage that is put in.

    python validation/reader_constants.py FOLDER

FOLDER holds data sets in the formats of KEEL and ARFF, whose headers declare the kind of every column. Each is written as csv
with damage, and read with every value of a constant. An error is a column or table that is read as another kind than declared.
A constant is sound if the errors are few on both sides of it: it lies on a plateau.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pandas as pd

import provenance_tables as provenance
from foldshift.core.errors import FoldshiftError
from foldshift.datasets import own_files
from foldshift.datasets.own_files import read_bytes, task_of_numbers
from foldshift.datasets.readers import header, infer
from foldshift.datasets.readers.columns import text_values
from foldshift.datasets.readers.formats import read_table
from foldshift.datasets.readers.raw_table import RawTable

SEED, ROWS, COLUMNS = 20261129, 200, 6
LABELS = 3  # different labels from which a column is one of labels


class Question(NamedTuple):
    """A constant, the values that are tried, and what counts errors: read tables to (errors, decisions)."""

    module: ModuleType
    constant: str
    values: tuple[float, ...]
    count: Callable[[list[pd.DataFrame], list[pd.DataFrame], np.random.Generator], tuple[int, int]]


def real_tables(folder: Path) -> Iterator[tuple[RawTable, np.random.Generator]]:
    """Read the tables of a folder, with a generator of random numbers for each."""
    for file in sorted([*folder.rglob("*.dat"), *folder.rglob("*.arff")]):
        try:
            table = read_table(file.read_bytes(), file.name)
        except FoldshiftError:  # parts of a data set, in other formats
            continue
        if len(table.frame) >= ROWS:
            yield table, np.random.default_rng([SEED, *file.name.encode()])


def samples(folder: Path) -> tuple[list[pd.DataFrame], list[pd.DataFrame]]:
    """Take rows of every table: columns of numbers with many values, and columns of labels."""
    numbers, labels = [], []
    for table, rng in real_tables(folder):
        frame = table.frame.iloc[rng.choice(len(table.frame), ROWS, replace=False)].reset_index(drop=True)
        names = [
            str(name)
            for name in frame
            if table.kinds[str(name)] != "nominal" and frame[name].nunique() > 2 * text_values.QUANTITY
        ]
        if len(names) > 1:
            numbers.append(frame[names[:COLUMNS]].astype(float))
        names = [str(name) for name in frame if table.kinds[str(name)] == "nominal" and frame[name].nunique() >= 2]
        if names:
            labels.append(frame[names[:COLUMNS]].astype(str))
    return numbers, labels


@contextmanager
def replaced(module: ModuleType, constant: str, value: float) -> Iterator[None]:
    """Give a constant another value, for a while."""
    usual = getattr(module, constant)
    setattr(module, constant, value)
    try:
        yield
    finally:
        setattr(module, constant, usual)


def read(frame: pd.DataFrame, names: bool = True) -> RawTable:
    """Read a table as a file of a user's."""
    text = frame.to_csv(index=False, header=names)
    return read_bytes(text.encode(), "m.csv", {"keep": [str(one) for one in frame]} if names else {}, has_target=False)


def few_odd(numbers: list[pd.DataFrame], labels: list[pd.DataFrame], rng: np.random.Generator) -> tuple[int, int]:
    """Count columns of numbers with up to 7 % words, and of labels half of which are numbers, that are read as the other kind."""
    errors = decided = 0
    for frame in numbers:
        damaged = frame.astype(object)
        for at, name in enumerate(damaged):
            words = rng.random(ROWS) < 0.01 + 0.06 * at / COLUMNS
            damaged.loc[words, name] = [f"see note {i % 3}" for i in range(int(words.sum()))]
        found = read(damaged)
        errors += sum(found.kinds[str(name)] == "nominal" for name in frame)
        decided += frame.shape[1]
        codes = frame.round(2).astype(str)
        for at, name in enumerate(codes):
            letters = rng.random(ROWS) < 0.25 + 0.5 * at / COLUMNS
            codes.loc[letters, name] = "K" + codes.loc[letters, name]
        found = read(codes)
        errors += sum(found.kinds[str(name)] != "nominal" for name in frame)
        decided += frame.shape[1]
    return errors, decided


def numbers_in_a_column(numbers: list[pd.DataFrame], labels: list[pd.DataFrame], rng: np.random.Generator) -> tuple[int, int]:
    """Count tables with up to 15 % words among numbers whose first row is taken for what it is not."""
    errors = decided = 0
    for frame in numbers:
        damaged = frame.astype(object)
        for name in damaged:
            words = rng.random(ROWS) < 0.15
            words[0] = False
            damaged.loc[words, name] = [f"see note {i % 3}" for i in range(int(words.sum()))]
        for names in (True, False):
            errors += len(read(damaged, names).frame) != ROWS
            decided += 1
    for frame in labels:
        for names in (True, False):
            errors += len(read(frame, names).frame) != ROWS if names else 0  # labels alone may tell nothing without names
            decided += names
    return errors, decided


def rare(numbers: list[pd.DataFrame], labels: list[pd.DataFrame], rng: np.random.Generator) -> tuple[int, int]:
    """Count targets of coded classes taken for quantities, and of counts taken for classes."""
    errors = decided = 0
    table = RawTable(pd.DataFrame(), "y", {}, own=True)
    for n_classes in range(5, 11):
        for _ in range(30):
            even = rng.dirichlet(np.full(n_classes, 60.0))
            coded = rng.choice(n_classes, 20 * ROWS, p=even).astype(float)
            errors += task_of_numbers(coded, table, []) != "classification"
            counts = rng.poisson(rng.uniform(1, 3), ROWS).astype(float)
            errors += (
                task_of_numbers(counts, table, []) != "regression" if len(np.unique(counts)) > own_files.SURELY_CLASSES else 0
            )
            decided += 2
    return errors, decided


def names_rows(numbers: list[pd.DataFrame], labels: list[pd.DataFrame], rng: np.random.Generator) -> tuple[int, int]:
    """Count real columns of labels that are left out, and names of rows, of which up to 5 % come twice, that are not."""
    errors = decided = 0
    for frame in labels:
        found = read_bytes(frame.assign(a=rng.normal(size=ROWS)).to_csv(index=False).encode(), "m.csv", {}, has_target=False)
        errors += sum(str(name) in found.left_out for name in frame)
        share = rng.uniform(0, 0.05)
        names = [f"sample {i}" if rng.random() > share else "sample 1" for i in range(ROWS)]
        found = read_bytes(frame.assign(rows=names).to_csv(index=False).encode(), "m.csv", {}, has_target=False)
        errors += "rows" not in found.left_out
        decided += frame.shape[1] + 1
    return errors, decided


def far(numbers: list[pd.DataFrame], labels: list[pd.DataFrame], rng: np.random.Generator) -> tuple[int, int]:
    """Count columns of numbers with a note of a mark for missing that is none, and with such a mark and no note."""
    errors = decided = 0
    for frame in numbers:
        found = read(frame)
        errors += sum("far from all other values" in str(note) for note in found.notes)
        marks = {name: float(10 ** np.ceil(np.log10(10 * max(1.0, frame[name].abs().max()))) - 1) for name in frame}
        damaged = frame.copy()
        for name in frame:
            damaged.loc[rng.choice(ROWS, 8, replace=False), name] = marks[name]
        found = read(damaged)
        errors += frame.shape[1] - sum("far from all other values" in str(note) for note in found.notes)
        decided += 2 * frame.shape[1]
    return errors, decided


QUESTIONS = (
    Question(text_values, "FEW_ODD", (0.02, 0.04, 0.08, 0.1, 0.12, 0.15, 0.2, 0.3, 0.5), few_odd),
    Question(header, "NUMBERS", (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95), numbers_in_a_column),
    Question(own_files, "RARE", (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9), rare),
    Question(infer, "NAMES_ROWS", (0.3, 0.5, 0.7, 0.8, 0.85, 0.9, 0.92, 0.95, 0.99), names_rows),
    Question(text_values, "FAR", (1.5, 2, 3, 4, 5, 6, 8, 12, 20), far),
)


def main() -> None:
    """Print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="data sets in the formats of KEEL and ARFF")
    folder = parser.parse_args().folder
    numbers, labels = samples(folder)
    rows = []
    for question in QUESTIONS:
        usual = getattr(question.module, question.constant)
        for value in question.values:
            with replaced(question.module, question.constant, value):
                errors, decided = question.count(numbers, labels, np.random.default_rng(SEED))
            rows.append(
                {"constant": question.constant, "value": value, "is_used": value == usual, "errors": errors, "decided": decided}
            )
            print(rows[-1], flush=True)
    provenance.write_table("reader_constants", pd.DataFrame(rows), seed=SEED, rows=ROWS, tables=[len(numbers), len(labels)])


if __name__ == "__main__":
    main()
