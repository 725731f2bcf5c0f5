"""Code of the user's own: what it raises is told as the user's, with function, line and what was wanted, never as a fault of the
program."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from foldshift.core.errors import FoldshiftError
from foldshift.core.imports import is_own, raised
from foldshift.engine.jobs.run_job import machine_fault

PARTITIONER = (
    "it is called as f(X, y, n_folds, rngs, **params) and returns the fold of every sample, shape (len(rngs), len(y)); X and y "
    "are read-only, and row i depends on rngs[i] alone"
)
MEASURE = "it is called as f(inputs, cell, **params) and returns a dictionary from kind of rows to rows"
ROWS = "rows are dictionaries of columns, as SCHEMAS beside the function has them"
ITEMS = "it is called as f(inputs, settings, **params) and returns a data frame for every table and a figure for every figure"
DECLARED = "docs/add_a_study.md shows every part of a study"
LEARNER = "it must be a scikit-learn estimator: a class with fit(X, y) and predict(X), made with its params"


class OwnCodeError(FoldshiftError):
    """A mistake in code of the user's own."""


def call_own(path: str, wanted: str, function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
    """Call a function that may be the user's own."""
    if not is_own(path):
        return function(*arguments, **keywords)
    try:
        return function(*arguments, **keywords)
    except (Exception, SystemExit) as error:
        if isinstance(error, FoldshiftError) or machine_fault(error):
            raise
        raise OwnCodeError(f"your {path} raised {raised(error, Path.cwd())}; {wanted}") from error


def check_call(
    path: str, wanted: str, function: Callable[..., Any] | int | type[Any], /, *arguments: Any, **keywords: Any
) -> None:
    """Refuse a function that cannot be called in the way that is wanted, without calling it."""
    if not callable(function):
        raise OwnCodeError(f"your {path} is {function!r}, nothing that can be called; {wanted}")
    try:
        signature = inspect.signature(function)
    except ValueError:
        return  # written in another language than Python: calling it will tell
    try:
        signature.bind(*arguments, **keywords)
    except TypeError as error:
        raise OwnCodeError(f"your {path} has the signature {signature} ({error}); {wanted}") from error
