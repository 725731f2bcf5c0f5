"""Errors of the checks of advice by their constants, over tables with a known structure and clean ones.

    python validation/check_constants.py

The tables are those for choices of `held_out_structures`, so that the held-out ones go on deciding whether
the checks hold. An error is a structured table in which something else is found than what it has, or a clean one in which
anything is. A constant is sound if the errors are few on both sides of it: it lies on a plateau.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from foldshift.advice.data import as_data
from foldshift.advice.structure import copies, entities, leaks, order, places, values
from foldshift.advice.structure.checks import run_checks
from foldshift.advice.structure.find import find_structure
from held_out_structures import SEEDS, development, development_clean
from provenance_tables import write_table
from reader_constants import replaced
from simulate_structures import found_kinds

if TYPE_CHECKING:
    from types import ModuleType

    from foldshift.advice.data import Data


class Question(NamedTuple):
    """A constant of a module in `foldshift.advice.structure`, and the values that are tried."""

    module: ModuleType
    constant: str
    values: tuple[float, ...]


QUESTIONS = (
    Question(copies, "TIMES_CHANCE", (1, 2, 3, 5, 8)),
    Question(copies, "TIMES_BOUND", (1, 1.5, 2, 3, 5)),
    Question(copies, "FARTHEST", (0.05, 0.1, 0.15, 0.2, 0.3, 0.5)),
    Question(copies, "NEAREST", (0.005, 0.01, 0.02, 0.04, 0.08)),
    Question(copies, "ACROSS", (0.1, 0.3, 0.5, 0.7, 0.9)),
    Question(entities, "AS_MUCH", (0.5, 0.65, 0.8, 0.9, 0.99)),
    Question(entities, "IN_GROUPS", (0.5, 0.65, 0.8, 0.9, 0.99)),
    Question(entities, "CONSTANT", (0.8, 0.9, 0.95, 0.98, 1.0)),
    Question(entities, "UNLIKE", (0.2, 0.35, 0.5, 0.65, 0.8)),
    Question(entities, "LIFT", (2, 3.5, 5, 8, 12)),
    Question(entities, "SLOPE", (0.2, 0.35, 0.5, 0.65, 0.8)),
    Question(entities, "ALIKE", (0.03, 0.06, 0.1, 0.15, 0.25)),
    Question(places, "MOST_OF_ONE", (0.05, 0.1, 0.25, 0.4, 0.6)),
    Question(places, "MOST_RATIO", (0.6, 0.7, 0.85, 0.95, 1.0)),
    Question(places, "ENOUGH_VALUES", (0.02, 0.05, 0.1, 0.2, 0.4)),
    Question(places, "LEAST_Z", (2, 3, 3.5, 4, 5)),
    Question(order, "LEAST_Z", (3, 4, 5, 6, 8)),
    Question(order, "LEAST_CORRELATION", (0.02, 0.05, 0.1, 0.2, 0.3)),
    Question(leaks, "GIVEN_AWAY", (0.9, 0.95, 0.98, 0.99, 0.995, 0.999)),
    Question(leaks, "MOST_WRONG", (0.01, 0.02, 0.03, 0.05, 0.1)),
    Question(leaks, "NEARLY", (0.6, 0.8, 0.9, 0.95, 0.99)),
    Question(values, "AWAY", (0.5, 1, 1.5, 2, 3)),
    Question(values, "SPIKE", (2, 3, 5, 8, 12)),
)


class Table(NamedTuple):
    """A table, and the kinds of structure that it has: none if it is clean."""

    data: Data
    kinds: set[str]


def drawn() -> list[Table]:
    """Draw the tables for choices."""
    return [Table(as_data(one.X, one.y, task=one.task), set(one.structure)) for one in (*development(), *development_clean())]


def errors(tables: list[Table]) -> dict[str, int]:
    """Count structured tables in which a structure is missed or another one is found, and clean ones with an alarm."""
    missed = other = alarms = 0
    for table in tables:
        found = found_kinds(run_checks(table.data, find_structure(table.data)))
        missed += not table.kinds <= found
        other += bool(table.kinds) and not found <= table.kinds
        alarms += not table.kinds and bool(found)
    n_clean = sum(not table.kinds for table in tables)
    return {"structured": len(tables) - n_clean, "missed": missed, "other_found": other, "clean": n_clean, "alarms": alarms}


def main() -> None:
    """Print and write the table."""
    tables, rows = drawn(), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for question in QUESTIONS:
            usual = getattr(question.module, question.constant)
            for value in question.values:
                with replaced(question.module, question.constant, value):
                    counted = errors(tables)
                rows.append(
                    {
                        "module": question.module.__name__.rpartition(".")[2],
                        "constant": question.constant,
                        "value": value,
                        "is_used": value == usual,
                    }
                    | counted
                )
                print(rows[-1], flush=True)
    write_table("check_constants", pd.DataFrame(rows), seeds={name: SEEDS[name] for name in ("development", "development clean")})


if __name__ == "__main__":
    main()
