"""Partitioners by the names the papers print."""

from __future__ import annotations

import numbers
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foldshift.core.errors import unknown
from foldshift.core.gate.rows import check_rows, count_rows
from foldshift.core.imports import import_object
from foldshift.partition.fold_numbers import check_n_folds
from foldshift.partition.folds import check_folds
from foldshift.partition.user_cuts import folds_by

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import FloatArray, TableLike, Task, UnsignedArray

CLASSES: Task = "classification"
NUMBERS: Task = "regression"


class Partitioner(NamedTuple):
    """Entry of the registry."""

    # import path of the array function, so that folds load, and rest on, the modules of the partitioners they are cut with and no
    # others (`import_path`)
    path: str
    tasks: tuple[Task, ...]  # tasks whose tables may list it
    looks_at_inputs: bool = False  # whether its folds depend on X; it then takes ``categorical_features``
    takes: tuple[str, ...] = ()  # further options

    @property
    def options(self) -> tuple[str, ...]:
        """All options by name."""
        return (*self.takes, "categorical_features") if self.looks_at_inputs else self.takes


BY_DISTANCE = ("metric", "duplicates", "remainders")
BALANCED = ("groups", "stratify")
ONE_COLUMN_MORE = ("task",)  # the target is one: of numbers or of categories
STRATA = Partitioner("foldshift.partition.methods.stratified.stratified_folds", (NUMBERS,))  # CV, SCVt and TSCV
PARTITIONERS = {
    "CV": STRATA,
    "TSCV": STRATA,
    "SCV": Partitioner("foldshift.partition.methods.scv.scv_folds", (CLASSES,)),
    "DB-SCV": Partitioner("foldshift.partition.methods.distance_based.db_scv_folds", (CLASSES,), True, BY_DISTANCE),
    "DOB-SCV": Partitioner("foldshift.partition.methods.distance_based.dob_scv_folds", (CLASSES,), True, BY_DISTANCE),
    "MS-SCV": Partitioner("foldshift.partition.methods.distance_based.ms_scv_folds", (CLASSES,), True, BY_DISTANCE),
    "CB-TSCV": Partitioner("foldshift.partition.methods.balanced.cb_tscv_folds", (NUMBERS,), True, BALANCED),
    "CB-SCV": Partitioner("foldshift.partition.methods.balanced.cb_scv_folds", (CLASSES,), True, BALANCED),
    "CB-CV": Partitioner("foldshift.partition.methods.balanced.cb_cv_folds", (NUMBERS, CLASSES), True, BALANCED),
    "ABA": Partitioner("foldshift.partition.methods.anticlustering.aba_folds", (NUMBERS, CLASSES), True),
    "Twinning": Partitioner(
        "foldshift.partition.methods.anticlustering.twinning_folds", (NUMBERS, CLASSES), True, ONE_COLUMN_MORE
    ),
    "BDSCV": Partitioner("foldshift.partition.methods.discrepancy.bdscv_folds", (NUMBERS, CLASSES), True),
    "CBDSCV": Partitioner("foldshift.partition.methods.cluster.cbdscv_folds", (NUMBERS, CLASSES), True),
    "SCBCV": Partitioner("foldshift.partition.methods.cluster.scbcv_folds", (CLASSES,), True),
    "SPXY": Partitioner("foldshift.partition.methods.spxy.spxy_folds", (NUMBERS, CLASSES), True, ONE_COLUMN_MORE),
    "LOSO": Partitioner("foldshift.partition.methods.leave_group_out.source_folds", (), False, ("groups",)),
    "BLOCKS": Partitioner(
        "foldshift.partition.structure.spatial_blocks.block_folds", (NUMBERS,), False, ("coordinates", "block_size")
    ),
    "NNDM": Partitioner(
        "foldshift.partition.structure.nearest_distance.nndm_folds", (), False, ("coordinates", "prediction_points")
    ),
}
LEAVE_ONE_SOURCE_OUT = "LOSO"
BLIND = ("CV", "CB-CV", "ABA", "BDSCV", "LOSO", "BLOCKS", "NNDM")  # to the target, or able to do without
# Cuts that train on a part of the other rows, which an array of folds cannot say, and their splitters.
NOT_FOLDS = {"FORWARD": "ForwardBlockKFold", "SOAK": "SameOtherAllKFold"}
SHOWN_STRATA = ("SCV2", "SCV4", "SCV10", "SCV20", "SCV50", "SCV100")
HINT = "SCVt takes any number of strata t, for example SCV7."
OF_SCIKIT_LEARN = {"n_splits": "n_folds", "cv": "n_folds", "random_state": "seeds=[...]", "n_repeats": "one seed for each"}


def known_partitioners(task: Task | None = None) -> list[str]:
    """List the names to choose from, with some of SCVt among them."""
    names = [name for name, one in PARTITIONERS.items() if task is None or task in one.tasks]
    if task in (None, NUMBERS):
        names[1:1] = SHOWN_STRATA
    return names


def find_partitioner(name: str) -> Partitioner:
    """Look up a partitioner by its name."""
    if name in PARTITIONERS:
        return PARTITIONERS[name]
    if name in NOT_FOLDS:
        raise ValueError(
            f"{name} trains on some of the rows outside a test part only, and an array of folds stands for training on all: use "
            f"the splitter {NOT_FOLDS[name]}, or as_splits({NOT_FOLDS[name]}(...), X, y, groups) for arrays"
        )
    n_strata_of(name)
    return STRATA


def n_strata_of(name: str) -> int | None:
    """Read the number of strata from the name of a regression partitioner; None: as many as samples."""
    if name == "CV":
        return 1
    if name == "TSCV":
        return None
    match = re.fullmatch(r"SCV([1-9][0-9]*)", name)
    if match is None:
        raise ValueError(unknown("partitioner", name, known_partitioners(), HINT))
    return int(match.group(1))


def import_path(partitioner: str) -> str:
    """Import path of the function that cuts; the folds of a partitioner rest on its module."""
    return find_partitioner(partitioner).path


def function_of(partitioner: str) -> Callable[..., Any]:
    """Import the array function of a partitioner by its name."""
    return import_object(find_partitioner(partitioner).path, "partitioner")


def options_of(
    partitioner: str | Callable[..., Any],
    *,
    categorical_features: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    task: Task | None = None,
    coordinates: ArrayLike | None = None,
) -> dict[str, Any]:
    """Select the options that a partitioner accepts."""
    if callable(partitioner):
        return {}
    takes = find_partitioner(partitioner).options
    given = {"categorical_features": categorical_features, "groups": groups, "task": task, "coordinates": coordinates}
    return {name: value for name, value in given.items() if name in takes and value is not None}


def make_folds(
    partitioner: str | Callable[..., Any],
    X: TableLike,
    y: TableLike,
    n_folds: int = 5,
    seeds: Iterable[int | np.random.SeedSequence | np.random.Generator] = (0,),
    **options: Any,
) -> UnsignedArray:
    """Cut the same data into folds once per seed.

    Parameters
    ----------
    partitioner : str or callable
        For a continuous target ``CV`` (which takes classes too), ``SCVt`` with any number of strata t, ``TSCV``, or ``CB-TSCV``;
        for classes ``SCV``, ``DB-SCV``, ``DOB-SCV``, ``MS-SCV`` or ``CB-SCV``; for either ``CB-CV``, blind to the target, and, to
        compare with, ``ABA``, ``BDSCV``, ``Twinning``, ``CBDSCV``, ``SPXY`` and, for classes, ``SCBCV``; for data from several
        sources ``LOSO``, leave one source out; for data in space ``BLOCKS`` and ``NNDM``; or a user-defined function
        ``f(X, y, n_folds, rngs, **options) -> folds``, which is given read-only arrays and must draw from ``rngs[i]`` alone for
        row i. Cuts that do not train on all other rows have splitters only: `ForwardBlockKFold`, `SameOtherAllKFold`.
    X : array-like of shape (n_samples, n_features) or None
        Inputs. ``CV``, ``SCVt``, ``TSCV``, ``SCV``, ``LOSO``, ``BLOCKS`` and ``NNDM`` do not look at them.
    y : array-like of shape (n_samples,) or (n_samples, 1), or None
        Target, without missing values. None: there is none, for ``CV``, ``CB-CV``, ``ABA``,
        ``BDSCV``, ``LOSO``, ``BLOCKS`` and ``NNDM``.
    n_folds : int, default=5
        Number of folds, ``2 <= n_folds <= n_samples``. ``LOSO`` makes as many as there are sources, whatever is asked for.
    seeds : iterable of int, numpy.random.SeedSequence or numpy.random.Generator
        One partition is made for each; those of ``LOSO`` are all the same.
    **options
        Passed on to the partitioner: ``categorical_features`` of those that look at the inputs, ``metric`` of those that measure
        distances, ``stratify`` of the balanced ones, ``task`` of ``Twinning`` and ``SPXY`` (whether whole numbers are a
        target of numbers or of classes), ``groups`` of the balanced ones and of ``LOSO`` (array-like of shape
        (n_samples,): the group or source of every sample), ``coordinates`` of
        ``BLOCKS`` and ``NNDM``, ``block_size`` of the former, ``prediction_points`` of the latter.

    Returns
    -------
    folds : ndarray of shape (n_seeds, n_samples), dtype uint8 (uint16 above 256 folds)
        Fold of every sample in the caller's own order.

    Raises
    ------
    ValueError
        If the partitioner is unknown; if `n_folds` or the number of strata is out of range or not a whole number; if a target is
        missing, has two columns, or is continuous where classes are wanted; if `X` and `y` differ in length; if `seeds` is one
        number.

    Notes
    -----
    The folds of a seed depend on that seed alone. A splitter with ``random_state=s`` makes those of ``seeds=[s]``. A repeated
    splitter with ``random_state=s`` makes those of ``seeds=numpy.random.SeedSequence(s).spawn(n_repeats)``, so that two of them
    with neighbouring states share no partition, and more repetitions keep the ones there were.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import RepeatedContinuousStratifiedKFold, as_folds, make_folds
    >>> y = np.arange(12.0)
    >>> make_folds("TSCV", None, y, n_folds=3, seeds=range(100)).shape
    (100, 12)
    >>> splitter = RepeatedContinuousStratifiedKFold(n_splits=3, n_repeats=4, random_state=7)
    >>> folds = make_folds("TSCV", None, y, n_folds=3, seeds=np.random.SeedSequence(7).spawn(4))
    >>> bool((folds == as_folds(splitter, y, y)).all())
    True
    """
    rngs = [_generator(seed) for seed in _listed(seeds)]
    target, y = y, _no_target(partitioner, options.get("coordinates") if X is None else X) if y is None else y
    if isinstance(partitioner, str):
        check_rows(X=X, y=y, groups=options.get("groups"))
    else:
        check_rows(X=X, y=y)
    if partitioner != LEAVE_ONE_SOURCE_OUT:
        check_n_folds(n_folds, count_rows(y, "y"))
    if callable(partitioner):
        folds = folds_by(partitioner, X, target, n_folds, rngs, options)
        return check_folds(folds, len(y), n_seeds=len(rngs), n_folds=n_folds)
    known = find_partitioner(partitioner)
    refused = sorted(set(options) - set(known.options))
    if refused:
        takes = f"only {', '.join(known.options)}" if known.options else "no options"
        raise ValueError(f"partitioner {partitioner} takes {takes}; got {', '.join(refused)}{_instead(refused)}")
    if known.looks_at_inputs and X is None:
        raise ValueError(f"partitioner {partitioner} looks at the inputs; X is None")
    function = function_of(partitioner)
    if partitioner == LEAVE_ONE_SOURCE_OUT:
        return np.repeat(function(len(y), **options)[None], len(rngs), axis=0)
    if known is STRATA:
        return function(y, n_folds, n_strata_of(partitioner), rngs)
    return function(X, y, n_folds, rngs, **options)


def _instead(refused: Sequence[str]) -> str:
    """Say what to write for options that a partitioner does not take, or which partitioners take them."""
    renamed = [f"{name} is {ours}" for name, ours in OF_SCIKIT_LEARN.items() if name in refused]
    if renamed:
        return f"; here {', '.join(renamed)}"
    takers = [name for name, known in PARTITIONERS.items() if set(refused) <= set(known.options)]
    return f"; those that take {' and '.join(refused)}: {', '.join(takers)}" if takers else ""


def _no_target(partitioner: str | Callable[..., Any], X: TableLike) -> FloatArray:
    """Make a target without meaning, for cuts that do not look at one."""
    if not callable(partitioner) and partitioner not in BLIND:
        find_partitioner(partitioner)
        raise ValueError(f"partitioner {partitioner} looks at the target; y is None. Without one: {', '.join(BLIND)}")
    if X is None:
        raise ValueError(f"partitioner {partitioner}: X and y are None; one of them must give the number of samples")
    return np.zeros(X.shape[0] if hasattr(X, "shape") else len(X))


def _generator(seed: Any) -> np.random.Generator:
    """Make the generator of one partition; raise ValueError for what is no seed."""
    is_drawn = isinstance(seed, (np.random.SeedSequence, np.random.Generator))
    if not is_drawn and (isinstance(seed, bool) or not isinstance(seed, numbers.Integral) or int(seed) < 0):
        raise ValueError(f"seeds holds {seed!r}; expected whole numbers from 0, SeedSequences or Generators")
    return np.random.default_rng(seed)


def _listed(seeds: Any) -> Iterable[Any]:
    """Raise ValueError for one seed in place of a list of them."""
    if isinstance(seeds, numbers.Integral):
        many = f"seeds=range({seeds}) for as many" if int(seeds) > 1 else "seeds=range(10) for ten"
        raise ValueError(f"seeds={seeds} must be a list, one partition for each: seeds=[{seeds}] for one, {many}")
    if isinstance(seeds, (np.random.SeedSequence, np.random.Generator)):
        raise ValueError(f"seeds is one {type(seeds).__name__}; expected a list, one partition for each: seeds=[...]")
    return seeds


def is_partitioner(name: object) -> bool:
    """Return True if a name is that of one of the library's partitioners."""
    try:
        find_partitioner(str(name))
    except ValueError:
        return False
    return True
