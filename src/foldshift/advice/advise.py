"""Advice for one table, one learner and one question: how to cut, how often, what may be claimed, what to beware of."""

from __future__ import annotations

import math
import numbers
import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.model_selection import GroupKFold, check_cv

from foldshift.advice.data import as_data, check_kind
from foldshift.advice.issues import find_faults
from foldshift.advice.learner_warnings import with_warnings_as_a_fault
from foldshift.advice.preprocessing import SEED, baseline, has_gaps_or_texts, prepared, usual
from foldshift.advice.report_interval import difference, told
from foldshift.advice.result import Advice
from foldshift.advice.rules import cautions, decide
from foldshift.advice.score import as_score
from foldshift.advice.split_half import on_halves_of, with_biases
from foldshift.advice.split_shift import RANDOM_GROUPS, cut, cuts_side_by_side, split_shift, table_of
from foldshift.advice.timed_cv import FOR_EVER, Clock, cross_validate, first_fit
from foldshift.advice.wording import methods_paragraph, used_versions, verdict
from foldshift.core.arguments import check_confidence
from foldshift.core.errors import DataError
from foldshift.core.estimators import check_predictor, title, title_in_full
from foldshift.inference.repetitions.recommend import FEWEST_PARTITIONS, recommend_repetitions
from foldshift.partition.folds import as_folds

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.advice.data import Data
    from foldshift.advice.score import Score
    from foldshift.advice.split_shift import CutShift
    from foldshift.advice.timed_cv import Fits
    from foldshift.command.terminal_progress import Progress
    from foldshift.core.types import Array, Estimator, FloatArray, IntArray, Splitter, TableLike, Task
    from foldshift.inference.repetitions.recommend import Repetitions
    from foldshift.partition.splitters.regression_splitters import FoldsSplitter

MOST_REPEATS = 50
EPS = 0.25  # of the standard deviation that no repetition removes: beyond, another cut adds 3 % to the standard error
FOR_FITS = 0.75  # share of what the budget leaves after looking
FOR_COMPILING, SLOWER = 0.5, 1.5  # share for a way of cutting that was never called here; machines slower than the one measured
FOR_SPREADS, N_SPREAD = 0.6, 5  # share of what is left then; partitions of each way of cutting
LEAST_BUDGET = 5.0


@with_warnings_as_a_fault
def advise(
    X: TableLike,
    y: ArrayLike,
    estimator: Estimator = None,
    *,
    scoring: str | Callable[..., Any] | None = None,
    groups: ArrayLike | None = None,
    cv: int | Splitter | Iterable[tuple[Array, Array]] | None = None,
    compare: Estimator = None,
    budget: float | str | None = 60,
    rope: float | None = None,
    confidence: float = 0.95,
    task: Task | None = None,
    categorical_features: ArrayLike | None = None,
    most_repetitions: int = MOST_REPEATS,
    random_state: int = SEED,
    left_out: dict[str, str] | None = None,
    tell: Callable[..., Any] | None = None,
) -> Advice:
    """How to cut a table into folds, how often, which interval may be printed, whether a split is fair, and what to beware of.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Inputs, as the learner takes them.
    y : array-like of shape (n_samples,)
        Target: a quantity, or two or more classes; without missing values.
    estimator : scikit-learn estimator, optional
        Any classifier, regressor or pipeline; not changed. By default a random forest behind a plain preparation
        (`foldshift.advice.preprocessing.prepared`).
    scoring : str or callable, optional
        A scorer of scikit-learn by name, or ``scorer(estimator, X, y)``; ``error`` (default for classes) or ``rmse`` (default for
        quantities). For accuracy, squared and absolute error, log loss and Brier score intervals rest on rows, else on folds.
    groups : array-like of shape (n_samples,), optional
        Rows that belong together and must not be cut apart: persons, sites, days.
    cv : int, splitter or iterable of (train, test), optional
        The split that you use, to be judged. By default what scikit-learn would do: five folds, not shuffled.
    compare : scikit-learn estimator, optional
        Another learner, cross-validated on the same folds.
    budget : float, str or None, default=60
        Seconds, or such as ``"90s"`` or ``"5 min"``, for all of it; None: as long as it takes. At least one cross-validation is
        finished if one is possible.
    rope : float, optional
        Differences in loss up to this are none in practice (for a score of folds: in score). By default .01 for error rates,
        1 % of the baseline's loss else.
    confidence : float, default=0.95
        Of the intervals.
    task : {None, "classification", "regression"}
        What the target is, where neither the learner nor the values say so.
    categorical_features : None, array-like of bool of shape (n_features,), of int or of str, optional
        Nominal columns that hold numbers, by mask, positions or names. Texts are nominal by themselves.
    most_repetitions : int, default=50
        Repetitions of cross-validation, at most.
    random_state : int, default=0
        Seed of all folds; the same gives the same folds.
    left_out : dict of str to str, optional
        Columns that are not in X on purpose, and why; the page says so.
    tell : callable, optional
        ``tell(text)`` is called with what is being done.

    Returns
    -------
    advice : Advice
        Print it; ``advice.cv`` is the splitter, ``advice.to_html(path)`` the page, ``advice.to_dict()`` all figures.

    Raises
    ------
    ValueError
        If the data, the learner or an argument cannot be used; one line that says why.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> advice = advise(*load_iris(return_X_y=True), GaussianNB(), budget=10)
    >>> advice.interval.low < 0.05 < advice.interval.high
    True
    """
    clock = Clock(seconds_of(budget))
    check_confidence(confidence)
    if isinstance(random_state, bool) or not isinstance(random_state, numbers.Integral) or random_state < 0:
        raise ValueError(f"random_state={random_state!r} must be a whole number of at least 0")
    if isinstance(most_repetitions, bool) or not isinstance(most_repetitions, numbers.Integral) or most_repetitions < 1:
        raise ValueError(f"most_repetitions={most_repetitions!r} must be a whole number of at least 1")
    if rope is not None and not 0 <= rope < np.inf:
        raise ValueError(f"rope={rope!r} must be a difference of 0 or more")
    tell = tell or (lambda text: None)
    for name, learner in (("estimator", estimator), ("compare", compare)):
        if learner is not None:
            check_predictor(learner, name)
    data = as_data(X, y, estimator, groups, task, categorical_features)
    if compare is not None:
        check_kind(compare, data.task, len(np.unique(data.y)))
    if estimator is None:
        estimator = usual(data.task, random_state)
        if has_gaps_or_texts(data.X):
            estimator = prepared(estimator, data.X)
    score = as_score(scoring, data.task)
    rng = np.random.default_rng(random_state)
    tell(f"one fit of {title(estimator)} on nine tenths of {data.n:,} rows")
    seconds = first_fit(estimator, data, score)
    given = given_split(cv, data)
    notes = list(given.notes)
    tell("looking for faults")
    faults = find_faults(data, given.folds, left_out=left_out, rng=rng, forward=given.name if given.forward else None)
    tell("comparing the split with random ones")
    split = split_shift(data, given.folds, rng, given.name) if given.folds is not None else None
    learners = _learners(estimator, compare, data)
    facts = _facts(data, score, clock, seconds, len(learners) - 1)
    chosen = {part: decide(part, facts) for part in ("cut", "folds", "interval", "difference")}
    k = _folds(chosen["folds"].advice, data)
    tell("cutting in other ways")
    cuts, left_out_cuts = cuts_side_by_side(data, k, is_time_for=lambda seconds: SLOWER * seconds < FOR_COMPILING * clock.left)
    if left_out_cuts:
        notes.append(
            f"{', '.join(left_out_cuts)} {'was' if len(left_out_cuts) == 1 else 'were'} not cut side by side: compiling takes "
            "longer than the budget has left; with a longer one, once, it is there for good"
        )
    fits, repetitions = _fits(
        learners, data, score, chosen["cut"].advice, k, random_state, clock, seconds, most_repetitions, tell
    )
    cuts = _with_spreads(cuts, learners, data, score, chosen["cut"].advice, k, random_state, clock, fits, tell)
    chosen["repetitions"] = decide("repetitions", facts | {"fits": len(fits.folds) * k})
    n_done = len(fits.folds)
    n_repeats = n_done if repetitions is None or repetitions.repetitions is None else max(1, repetitions.repetitions)
    n_repeats = min(n_repeats, 10 * MOST_REPEATS)
    names = list(learners)
    intervals = told(chosen["interval"], fits, score, confidence, k, data.groups)
    region = _region(rope, fits, score)
    differences = tuple(difference(names[0], other, fits, score, region, confidence, k, data.groups) for other in names[1:])
    on_halves = (estimator, data, score, chosen["cut"].advice, k, clock, fits.seconds_per_fit)
    halves, drawn, gaps = on_halves_of(*on_halves, confidence, rng, tell)
    cuts = with_biases(cuts, drawn, gaps, *on_halves, tell)
    cv_object, line = _splitter(chosen["cut"].advice, data, k, n_repeats, random_state)
    rules = (*chosen.values(), *cautions(facts))
    versions = used_versions()
    advice = Advice(
        verdict=(),
        cv=cv_object,
        cv_line=line,
        data=data,
        facts=facts,
        rules=rules,
        faults=tuple(faults),
        split=split,
        split_name=given.name,
        split_is_given=cv is not None,
        cuts=tuple(cuts),
        intervals=intervals,
        differences=differences,
        repetitions=repetitions,
        halves=halves,
        score=score,
        learner=names[0],
        baseline=float(score.show(np.nanmean(fits.losses["baseline"]))) if fits.losses else None,
        n_splits=k,
        n_repeats=n_repeats,
        n_done=n_done,
        seconds_per_fit=fits.seconds_per_fit,
        seconds=clock.spent,
        budget=None if budget is None else clock.budget,
        methods="",
        notes=(*data.notes, *notes),
        versions=versions,
    )
    return replace(
        advice, verdict=verdict(advice), methods=methods_paragraph(advice, title_in_full(estimator), confidence, random_state)
    )


def seconds_of(budget: int | str | None) -> float:
    """Seconds of a budget such as 60, "90s", "5 min" or "1h".

    Examples
    --------
    >>> seconds_of("1.5 min")
    90.0
    """
    seconds = FOR_EVER if budget is None else None
    if isinstance(budget, numbers.Real) and not isinstance(budget, bool):
        seconds = float(budget)
    elif isinstance(budget, str) and (
        match := re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(s|sec|seconds?|m|min|minutes?|h|hours?)?\s*", budget)
    ):
        seconds = float(match[1]) * {"s": 1, "m": 60, "h": 3600}[(match[2] or "s")[0]]
    if seconds is None or not math.isfinite(seconds):
        raise ValueError(f"budget={budget!r} is no time; say seconds, or such as '90s', '5 min', '1h'")
    if seconds < LEAST_BUDGET:
        raise ValueError(f"budget={budget!r} is {seconds:g} s; looking at a table takes at least {LEAST_BUDGET:g} s")
    return seconds


class GivenSplit(NamedTuple):
    """The split to be judged.

    Attributes
    ----------
    folds : ndarray of shape (n_seeds, n), or None
        -1 for rows that are never tested; None where it cannot be judged.
    name : str
        Which split it is, as the subject of a sentence.
    notes : tuple of str
        What could not be looked at.
    forward : bool
        Whether it cannot be judged as it trains on rows before its test rows only.
    """

    folds: Array | None
    name: str
    notes: tuple[str, ...] = ()
    forward: bool = False


def given_split(cv: int | Splitter | Iterable[tuple[Array, Array]] | None, data: Data) -> GivenSplit:
    """The split that the user works with, to be judged."""
    if cv is None and data.groups is not None:
        k = min(5, int(data.groups.max()) + 1)
        splitter, name = GroupKFold(k), f"scikit-learn's GroupKFold({k})"
    elif cv is None:
        splitter, name = (
            check_cv(5, data.y, classifier=data.task == "classification"),
            "scikit-learn's default (five folds, not shuffled)",
        )
    elif isinstance(cv, numbers.Integral) and not isinstance(cv, bool):
        if not 2 <= cv <= data.n:
            raise ValueError(f"cv={cv!r} must be between 2 and {data.n} folds, the number of rows")
        splitter, name = check_cv(int(cv), data.y, classifier=data.task == "classification"), f"your split (cv={cv})"
    elif not isinstance(cv, str) and (hasattr(cv, "split") or hasattr(cv, "__iter__")):
        splitter = cv if hasattr(cv, "split") else list(cv)
        name = f"your split ({type(cv).__name__})" if hasattr(cv, "split") else "your split"
    else:
        raise ValueError(f"cv={cv!r} must be a number of folds, a splitter, or pairs of (train, test)")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            folds = as_folds(splitter, np.zeros((data.n, 1)) if cv is None else data.X, data.y, data.groups)
    except ValueError as error:
        if cv is None:
            return GivenSplit(None, name, (f"{name} was not judged: {error}",))
        if "trains on" in str(error):
            notes = (f"{name} was not judged: it does not train on all rows outside a test part",)
            return GivenSplit(None, name, notes, _goes_forward(splitter, data))
        raise ValueError(f"cv: {error}") from error
    untested = (f"{name} leaves rows untested; it was looked at for groups, not for shift",)
    return GivenSplit(folds, name, untested if (folds < 0).any() else ())


def _goes_forward(splitter: Splitter | list[tuple[IntArray, IntArray]], data: Data) -> bool:
    """Whether every part is tested on rows behind those that it is trained on."""
    pairs = splitter if isinstance(splitter, list) else list(splitter.split(data.X, data.y, data.groups))
    return bool(pairs) and all(np.max(train) < np.min(test) for train, test in pairs)


def _learners(estimator: Estimator, compare: Estimator, data: Data) -> dict[str, Estimator]:
    learners = {title(estimator): estimator}
    if compare is not None:
        name = title(compare)
        learners[name if name not in learners else f"{name} (2)"] = compare
    return {**learners, "baseline": baseline(data.task)}


def _facts(data: Data, score: Score, clock: Clock, seconds: float, n_learners: int) -> dict[str, Any]:
    left = max(0.0, clock.left) * FOR_FITS
    smallest = int(np.bincount(data.target.astype(int)).min()) if data.task == "classification" else data.n
    return {
        "task": data.task,
        "score": score.kind,
        "groups": data.groups is not None,
        "n": data.n,
        "fits": int(min(left / max(seconds * n_learners, 1e-9), 1e6)),
        "smallest_class": smallest,
        "n_groups": data.n if data.groups is None else int(data.groups.max()) + 1,
        "baseline": True,
    }


def _folds(k: int, data: Data) -> int:
    most = data.n // 2 if data.groups is None else int(data.groups.max()) + 1
    return max(2, min(k, most))


def _seeds(random_state: int, n: int) -> list[np.random.SeedSequence]:
    """The seeds of a repeated splitter with this random state."""
    return np.random.SeedSequence(random_state).spawn(n)


def _fits(
    learners: dict[str, Estimator],
    data: Data,
    score: Score,
    name: str,
    k: int,
    random_state: int,
    clock: Clock,
    seconds: float,
    most: int,
    tell: Callable[..., Any] | Progress,
) -> tuple[Fits, Repetitions | None]:
    """Cross-validate until the promise on repetitions is met or the budget is used up."""
    reserve = clock.left * (1 - FOR_FITS)
    nominal = data.nominal if data.columns else None
    table = table_of(data)
    total = seconds * (len(learners) - 1) * k
    folds = cut(name, table, data, k, _seeds(random_state, most), nominal)

    def progress(done: int, of: int) -> None:
        tell(f"cross-validating: {done} fits of {title(next(iter(learners.values())))}, {clock.said}")

    fits = cross_validate(
        learners, data, score, folds[: FEWEST_PARTITIONS * 2], clock, reserve=reserve, seconds=total, tell=progress
    )
    found = _repetitions(fits, learners)
    while (
        found is not None
        and found.repetitions is not None
        and len(fits.folds) < min(found.repetitions, most)
        and clock.left - reserve > 2 * fits.seconds / len(fits.folds)
    ):
        more = folds[len(fits.folds) : len(fits.folds) + 5]
        added = cross_validate(
            learners, data, score, more, clock, reserve=reserve, seconds=fits.seconds / len(fits.folds), tell=progress
        )
        fits = _joined(fits, added)
        found = _repetitions(fits, learners)
    return fits, found


def _with_spreads(
    cuts: list[CutShift],
    learners: dict[str, Estimator],
    data: Data,
    score: Score,
    name: str,
    k: int,
    random_state: int,
    clock: Clock,
    fits: Fits,
    tell: Callable[..., Any] | Progress,
) -> list[CutShift]:
    """Ways of cutting with the spread of the learner's score between their partitions, as far as there is time."""
    first = next(iter(learners))
    stop = clock.left * (1 - FOR_SPREADS)
    if len(fits.folds) < N_SPREAD or clock.left - stop < N_SPREAD * k * fits.seconds_per_fit:
        return cuts
    table, nominal, found = table_of(data), data.nominal if data.columns else None, []
    for one in cuts:
        enough = clock.left - stop > N_SPREAD * k * fits.seconds_per_fit
        if one.cut == name:
            values = fits
        elif one.cut == RANDOM_GROUPS or not enough:
            found.append(one)
            continue
        else:
            tell(f"cross-validating with {one.cut}, {clock.said}")
            folds = cut(one.cut, table, data, k, _seeds(random_state, N_SPREAD), nominal)
            try:
                values = cross_validate({first: learners[first]}, data, score, folds, clock, least=N_SPREAD)
            except DataError:  # a cut that is blind to classes may leave one out of a part, and some scores need all of them
                found.append(one)
                continue
        rows = values.losses.get(first, values.scores[first])[:N_SPREAD]
        found.append(one._replace(spread=float(np.std(score.show(np.nanmean(rows, axis=1)), ddof=1)), n_partitions=N_SPREAD))
    return found


def _joined(a: Fits, b: Fits) -> Fits:
    def both(x: dict[str, FloatArray], y: dict[str, FloatArray]) -> dict[str, FloatArray]:
        return {name: np.concatenate([x[name], y[name]]) for name in x}

    seconds, n_fits = a.seconds + b.seconds, a.n_fits + b.n_fits
    of_first = (a.seconds_per_fit * a.n_fits + b.seconds_per_fit * b.n_fits) / n_fits
    return type(a)(
        np.concatenate([a.folds, b.folds]), both(a.losses, b.losses), both(a.scores, b.scores), seconds, n_fits, of_first
    )


def _repetitions(fits: Fits, learners: dict[str, Estimator]) -> Repetitions | None:
    scores = fits.scores[next(iter(learners))]
    scores = scores[:, ~np.isnan(scores).any(axis=0)]
    if len(scores) < 2 or scores.shape[1] < 2:
        return None
    return recommend_repetitions(scores, eps=EPS)


def _region(rope: float | None, fits: Fits, score: Score) -> float:
    if rope is not None:
        return float(rope)
    if score.kind == "share" or not fits.losses:
        return 0.01
    return 0.01 * float(np.nanmean(fits.losses["baseline"]))


def _splitter(name: str, data: Data, k: int, n_repeats: int, random_state: int) -> tuple[FoldsSplitter, str]:
    """The recommended splitter, and the line that makes it."""
    from foldshift import partition

    if name in ("TSCV", "CV"):
        kind, options = "RepeatedContinuousStratifiedKFold", {} if name == "TSCV" else {"n_strata": 1}
    elif name == "SCV":
        kind, options = "RepeatedSCV", {}
    elif name == "DOB-SCV":
        kind, options = "RepeatedDOBSCV", {}
    elif name.startswith("CB-"):
        kind, options = "RepeatedCovariateBalancedKFold", {"task": data.task}
    else:
        raise DataError(f"rules.toml names the cut {name!r}, of which no splitter is known")
    arguments = {"n_splits": k, "n_repeats": n_repeats, **options, "random_state": random_state}
    line = f"foldshift.partition.{kind}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
    return getattr(partition, kind)(**arguments), line
