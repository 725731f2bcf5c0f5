"""The split that the user works with, as folds that can be judged."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.model_selection import GroupKFold, check_cv
from sklearn.model_selection._split import GroupsConsumerMixin

from foldshift.core.counting import bincount
from foldshift.core.errors import DataError
from foldshift.core.remedies import Given
from foldshift.core.user_code.guarded_process import call_guarded
from foldshift.partition.folds import PartialTrainingError, as_folds
from foldshift.partition.user_cuts import is_known

if TYPE_CHECKING:
    from foldshift.advice.data import Data
    from foldshift.core.types import Array, Splitter

    CV = int | Splitter | Iterable[tuple[Array, Array]] | None  # as scikit-learn takes it; None: its default


class GivenSplit(NamedTuple):
    """The split to be judged."""

    folds: Array | None  # -1 for rows that are never tested; None if the split cannot be judged; shape (n_seeds, n)
    name: str  # name of the split, as the subject of a sentence
    notes: tuple[str, ...] = ()  # parts of the judgement that are left out
    forward: bool = False  # whether it cannot be judged because it trains only on rows before its test rows


def given_split(cv: CV, data: Data, seconds: float | None = None) -> GivenSplit:
    """Make folds of the user's split, by default of what scikit-learn would do; raise ValueError if it does not fit the table.

    With `seconds`, a user-defined splitter runs in a process of its own, and is stopped after that time.
    """
    if cv is None or is_known(cv) or isinstance(cv, numbers.Integral):
        return _given_split(cv, data)
    return call_guarded(lambda: _given_split(cv, data), f"cv: {type(cv).__name__}", seconds)


def _given_split(cv: CV, data: Data) -> GivenSplit:
    splitter, name = _named_splitter(cv, data)
    if isinstance(splitter, GroupsConsumerMixin) and data.groups is None:
        raise ValueError(f"cv: {type(splitter).__name__} needs groups; declare them: groups=")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            folds = as_folds(splitter, np.zeros((data.n, 1)) if cv is None else data.X, data.y, data.groups)
    except ValueError as error:
        if cv is None:
            return GivenSplit(None, name, (f"{name} was not judged: {error}",))
        if isinstance(error, PartialTrainingError):
            notes = (f"{name} was not judged: it does not train on all rows outside a test part",)
            return GivenSplit(None, name, notes, _goes_forward(splitter, data))
        raise ValueError(f"cv: {error}") from error
    untested = (f"{name} leaves rows untested; it was looked at for groups, not for shift",)
    return GivenSplit(folds, name, untested if (folds < 0).any() else ())


def _named_splitter(cv: CV, data: Data) -> tuple[Splitter | list[tuple[Array, Array]], str]:
    """The splitter, or a list of its pairs, and its name."""
    if cv is None and data.groups is not None:
        k = min(5, int(data.groups.max()) + 1)
        return GroupKFold(k), f"scikit-learn's GroupKFold({k})"
    classifier = data.task == "classification"
    if cv is None:
        return check_cv(5, data.y, classifier=classifier), "scikit-learn's default (five folds, not shuffled)"
    if isinstance(cv, numbers.Integral) and not isinstance(cv, bool):
        if not 2 <= int(cv) <= data.n:
            raise DataError(Given("cv", str(cv)), f" must be between 2 and {data.n} folds, the number of rows")
        largest = int(bincount(data.target.astype(int)).max()) if classifier else data.n
        if int(cv) > largest:
            raise DataError(Given("cv", str(cv)), f" is more than the {largest} rows of the largest class; take fewer folds")
        return check_cv(int(cv), data.y, classifier=classifier), f"your split (cv={cv})"
    if isinstance(cv, type):
        raise ValueError(f"cv is the class {cv.__name__}; give an instance, {cv.__name__}()")
    if not isinstance(cv, str) and hasattr(cv, "split"):
        return cv, f"your split ({type(cv).__name__})"
    if not isinstance(cv, str) and isinstance(cv, Iterable):
        return list(cv), "your split"
    raise ValueError(f"cv={cv!r} must be a number of folds, a splitter, or pairs of (train, test)")


def _goes_forward(splitter: Splitter | list[tuple[Array, Array]], data: Data) -> bool:
    """Return True if every part is tested on rows behind those that it is trained on."""
    pairs = splitter if isinstance(splitter, list) else list(splitter.split(data.X, data.y, data.groups))
    return bool(pairs) and all(len(train) and len(test) and np.max(train) < np.min(test) for train, test in pairs)
