"""Checks of a table: each with a stable code, what came out, and what to do; one list of all, passed ones too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from foldshift.advice.issues import Issue, Severity, issue_about, issue_of, issue_texts
from foldshift.advice.structure.order import TIME_NAME, is_sorted_by_target, never_falls
from foldshift.advice.structure.remedies import ColumnRemedy, MissingRemedy, drop
from foldshift.advice.structure.values import RARE
from foldshift.core.counting import bincount
from foldshift.core.remedies import Remedy
from foldshift.shift.report.drift_text import counted

if TYPE_CHECKING:
    from foldshift.advice.data import Data
    from foldshift.advice.structure.record import Part, Structure
    from foldshift.core.types import Array, IntArray

Result = Literal["passed", "found", "not applicable", "muted"]
PAGE = "checks.html"  # of the site: one paragraph a code
FEW_ROWS = 50
SHARE_OF_COPIES, FEW_COPIES = 0.01, 4  # copies up to either are a note
MOST_SHOWN = 20  # rows that a check names


@dataclass(frozen=True)
class Check:
    """One check of a table or its split."""

    code: str  # a letter and a number, such as D1; it lasts
    name: str
    result: Result
    severity: Severity | None  # of what was found: the estimate is wrong, is wrong unless you know better, or a note
    text: str  # what was found, what would have been, why it does not apply, or why it was muted
    remedies: tuple[Remedy, ...] = ()
    rows: tuple[int, ...] = ()  # the first ones that it is about, from 0
    columns: tuple[str, ...] = ()
    address: str = ""  # paragraph on the site: what it looks for, what it misses, what to do
    issue: Issue | None = None  # what was found at length; muted checks have it, too


class _Looked(NamedTuple):
    """Parts of a table that checks look at."""

    data: Data
    structure: Structure
    folds: Array | None
    left_out: Mapping[str, str]
    forward: str | None


def run_checks(
    data: Data,
    structure: Structure,
    folds: Array | None = None,
    mute: Mapping[str, str] | None = None,
    *,
    left_out: Mapping[str, str] | None = None,
    forward: str | None = None,
) -> tuple[Check, ...]:
    """Run every check of a table and its split, in the order of their codes in ``docs/checks.md``.

    `folds` is the user's split, (n_seeds, n), -1 for rows that are never tested; `forward` names it if it trains on earlier rows
    only. `mute` maps codes of checks to reasons, which reports print, and `left_out` columns that were left out before to
    reasons; one with the word "date" marks a column of dates.
    """
    muted = check_muted(mute)
    looked = _Looked(data, structure, folds, left_out or {}, forward)
    names = issue_texts()["checks"]
    checks = list[Check]()
    for code, look in CHECKS.items():
        outcome = look(looked)
        name, address = names[code]["name"], f"{PAGE}#{code.lower()}"
        if isinstance(outcome, str):
            checks.append(Check(code, name, "not applicable", None, outcome, address=address))
        elif not outcome:
            text = names[code]["passed"].format(**_words(looked))
            checks.append(Check(code, name, "passed", None, text, address=address))
        for issue in outcome if isinstance(outcome, list) else []:
            rows = tuple(place for place in issue.where if not isinstance(place, str))
            columns = tuple(place for place in issue.where if isinstance(place, str))
            result: Result = "muted" if code in muted else "found"
            text = f"muted: {muted[code]}. {issue.found}" if code in muted else issue.found
            remedies = _remedies(code, issue, structure)
            checks.append(Check(code, name, result, issue.severity, text, remedies, rows, columns, address, issue))
    return tuple(checks)


def check_muted(mute: Mapping[str, str] | None) -> dict[str, str]:
    """Check codes and reasons; codes are those of `CHECKS` in any case."""
    if mute is None:
        return {}
    if not isinstance(mute, Mapping):
        raise ValueError(f"mute={mute!r} must be a mapping of codes to reasons, such as {{'G2': 'every row is another person'}}")
    known = [*issue_texts()["checks"]]
    muted = {}
    for code, reason in mute.items():
        if str(code).upper() not in known:
            raise ValueError(f"mute names the check {code!r}; checks are {', '.join(known)}")
        if not isinstance(reason, str) or not reason.strip():
            raise ValueError(f"mute gives no reason for {code}: {reason!r}; say why in words, as reports print it")
        muted[str(code).upper()] = reason.strip().rstrip(".")
    return muted


def _words(looked: _Looked) -> dict[str, object]:
    copies, power = looked.structure.copies, ""
    if copies is not None and copies.jitter > 0:
        power = (
            f" Copies with errors of up to {copies.jitter:g} standard deviations, in {100 * copies.share:g} % of the rows, would "
            "be found."
        )
    elif copies is not None and copies.n_searched:
        power = " In so few rows, or columns, near copies cannot be told from neighbours."
    return {"power": power, "n": looked.data.n, "rare": f"{100 * RARE:g} %"}


def _remedies(code: str, issue: Issue, structure: Structure) -> tuple[Remedy, ...]:
    """Settings that answer an issue, and the one that mutes it."""
    columns = tuple(place for place in issue.where if isinstance(place, str))
    mute = Remedy("mute", ((code, "reason"),))
    if code in ("I1", "L1", "L2", "V3") and issue.code != "identifier_left_out" and columns:
        return (drop(columns), mute)
    if code == "G2" and len(columns) == 1 and not (structure.groups is not None and structure.groups.beginning):
        return (ColumnRemedy("group_on", columns), mute)
    if code == "T2" and columns:
        return (ColumnRemedy("time_on", columns), mute)
    if code == "S1":
        return (ColumnRemedy("space_on", columns), mute)
    if code == "V1":
        values = tuple(dict.fromkeys(f"{one.value:g}" for one in structure.sentinels))
        return (MissingRemedy("missing", values), mute)
    return (mute,)


# One function a check: a list of issues, or the reason why it does not apply

Outcome = list[Issue] | str


def _identifiers(looked: _Looked) -> Outcome:
    left_out = [name for name, why in looked.left_out.items() if "date" not in why]
    reasons = "; ".join(sorted({looked.left_out[name] for name in left_out}))
    named = [column for column in looked.data.columns if column.kind == "identifier"]
    names, cuts = ([column.name for column in named if column.is_cut == is_cut] for is_cut in (False, True))
    if not looked.data.columns:
        return _unseen(looked)
    return [
        *([issue_about("identifier_left_out", left_out, reasons=reasons)] if left_out else []),
        *([issue_about("identifier", names)] if names else []),
        *([issue_about("cut_as_input", cuts)] if cuts else []),
    ]


def _unseen(looked: _Looked) -> str:
    return "; ".join(looked.data.notes) or "there are no columns to look at"


def _copies(looked: _Looked) -> Outcome:
    copies = looked.structure.copies
    if copies is None:
        return _unseen(looked)
    if not copies.n_exact:
        return []
    n = looked.data.n
    alike = _in_sets(copies.codes)
    apart = "" if looked.folds is None else _cut_apart(copies.codes, looked.folds)
    issue = issue_of("duplicates", alike[:MOST_SHOWN].tolist(), n_alike=copies.n_exact, n=n, apart=apart)
    grave = copies.n_exact > max(FEW_COPIES, SHARE_OF_COPIES * n)
    return [issue._replace(severity="beware") if grave else issue]


def _near_copies(looked: _Looked) -> Outcome:
    copies = looked.structure.copies
    if copies is None:
        return _unseen(looked)
    if not copies.n_searched:
        return "near copies are looked for in tables with numbers, of at least 20 different rows"
    if not copies.n_near:
        return []
    rows = _in_sets(copies.codes)[:MOST_SHOWN].tolist()
    issue = issue_of("near_duplicates", rows, n_near=copies.n_near, n=copies.n_searched)
    grave = copies.n_near > max(FEW_COPIES, SHARE_OF_COPIES * copies.n_searched)
    return [issue if grave else issue._replace(severity="note")]


def _in_sets(codes: IntArray) -> IntArray:
    """Rows that share their set with others."""
    return np.flatnonzero(bincount(codes)[codes] > 1)


def _lowest_and_highest(values: Array, sets: IntArray, n_sets: int) -> tuple[IntArray, IntArray]:
    """Smallest and largest of the whole numbers `values` in every set of rows."""
    low, high = np.full(n_sets, np.iinfo(np.int64).max), np.full(n_sets, -2)
    np.minimum.at(low, sets, values)
    np.maximum.at(high, sets, values)
    return low, high


def _cut_apart(copy_of: IntArray, folds: Array) -> str:
    """Say how many sets of copies the split cuts apart; empty for none."""
    low, high = _lowest_and_highest(folds[0], copy_of, int(copy_of.max()) + 1)
    apart = int((high > low).sum())
    return f"; the split puts {apart} such sets on both sides of a cut" if apart else ""


def _groups_cut(looked: _Looked) -> Outcome:
    groups = looked.structure.groups
    if groups is None or not groups.is_declared:
        return "no groups were declared"
    if looked.folds is None:
        return "no split with folds was given"
    cut = np.zeros(groups.values.max() + 1, dtype=bool)
    for row in looked.folds:
        low, high = _lowest_and_highest(row, groups.values, len(cut))
        cut |= high > low
    return [issue_of("groups_cut", n_cut=int(cut.sum()), n_groups=len(cut))] if cut.any() else []


def _like_groups(looked: _Looked) -> Outcome:
    groups = looked.structure.groups
    if groups is None:
        return _declared_instead(looked, "groups") or ([] if looked.data.columns else _unseen(looked))
    if groups.is_declared:
        return "groups were declared"
    if groups.beginning:
        return [issue_about("named_alike", groups.columns, beginning=groups.beginning, n_groups=int(groups.values.max()) + 1)]
    if len(groups.columns) == 1:
        return [issue_about("like_groups", groups.columns, first=groups.columns[0])]
    return [issue_about("like_groups_together", groups.columns, n_groups=len(np.unique(groups.values)))]


def _declared_instead(looked: _Looked, kind: str) -> str:
    """Say that another structure was declared, where this one was therefore not looked for."""
    names = {"groups": "groups", "times": "times", "coordinates": "coordinates", "subsets": "subsets"}
    parts: list[tuple[str, Part | None]] = [(name, getattr(looked.structure, name)) for name in names if name != kind]
    declared = [names[name] for name, part in parts if part is not None and part.is_declared]
    return f"{' and '.join(declared)} were declared" if declared else ""


def _dates(looked: _Looked) -> Outcome:
    left_out = [name for name, why in looked.left_out.items() if "date" in why]
    forward = looked.forward
    names = [column.name for column in looked.data.columns if column.kind == "date"]
    names += [
        column.name
        for column in looked.data.columns
        if column.kind != "date" and TIME_NAME.search(column.name) and never_falls(column.train)
    ]
    issues = [
        *([issue_about("time_left_out", left_out)] if left_out else []),
        *([issue_of("time_forward", split=f"{forward[0].upper()}{forward[1:]}")] if forward else []),
        *([issue_about("time", names)] if names else []),
    ]
    return issues if issues or looked.data.columns else _unseen(looked)


def _order(looked: _Looked) -> Outcome:
    times = looked.structure.times
    if times is None:
        return []
    if times.is_declared:
        return "times were declared"
    along = "the order of the rows" if times.is_row_order else f"{times.columns[0]!r}"
    return [issue_of("order", times.columns, along=along)]


def _sorted(looked: _Looked) -> Outcome:
    if not is_sorted_by_target(looked.data):
        return []
    in_blocks = looked.folds is not None and all(_contiguous(row) for row in looked.folds)
    return [issue_of("sorted_blocks" if in_blocks else "sorted", target=looked.data.name)]


def _contiguous(row: Array) -> bool:
    tested = row[row >= 0]
    return len(tested) > 1 and bool((np.diff(tested) != 0).sum() == len(np.unique(tested)) - 1)


def _places(looked: _Looked) -> Outcome:
    places = looked.structure.coordinates
    if places is None:
        return _declared_instead(looked, "coordinates") or ([] if looked.data.columns else _unseen(looked))
    if places.is_declared:
        return "coordinates were declared"
    return [issue_about("space", places.columns, first=places.columns[0], second=places.columns[1])]


def _leaks(looked: _Looked) -> Outcome:
    found = {"given_away": looked.structure.leaks, "given_away_together": looked.structure.formula}
    issues = [issue_about(section, names, target=looked.data.name) for section, names in found.items() if names]
    return issues or _seen(looked)


def _leaks_by_gaps(looked: _Looked) -> Outcome:
    names = looked.structure.leaks_by_gaps
    return [issue_about("given_away_by_gaps", names, target=looked.data.name)] if names else _seen(looked)


def _seen(looked: _Looked) -> Outcome:
    return [] if looked.data.columns else _unseen(looked)


def _rare(looked: _Looked) -> Outcome:
    if looked.data.task != "classification":
        return "the target is a quantity"
    rare = looked.structure.rare
    return [issue_of("rare", classes=_counted(rare), rare=f"{100 * RARE:g} %")] if rare else []


def _counted(classes: Any) -> str:
    named = ", ".join(f"{label!r} ({counted(count, 'row')})" for label, count in classes[:5])
    return f"{'Class' if len(classes) == 1 else 'Classes'} {named}" + (" and more" if len(classes) > 5 else "")


def _small_classes(looked: _Looked) -> Outcome:
    """Classes with fewer rows than there are folds; ten folds if no split is given."""
    data, folds = looked.data, looked.folds
    if data.task != "classification":
        return "the target is a quantity"
    n_folds = 10 if folds is None else int(folds.max()) + 1
    counts = bincount(data.target.astype(int))
    few = [(data.classes[code], int(count)) for code, count in enumerate(counts) if count < n_folds]
    return [issue_of("rare_class", classes=_counted(few), n_folds=n_folds)] if few else []


def _sentinels(looked: _Looked) -> Outcome:
    found = looked.structure.sentinels
    if not found:
        return _seen(looked)
    names = ", ".join(f"{one.column!r} ({one.value:g}, {one.n_rows} rows)" for one in found[:5])
    names += f" and {len(found) - 5} more" if len(found) > 5 else ""
    columns = tuple(dict.fromkeys(one.column for one in found))
    return [issue_of("sentinel", columns, names=names, first=f"{found[0].value:g}")]


def _scaled(looked: _Looked) -> Outcome:
    """Numeric columns that were standardised on all rows, if they are at least half of them."""
    numeric = [column for column in looked.data.columns if not column.categories]
    names = []
    for column in numeric:
        values = column.train[~np.isnan(column.train)]
        if len(np.unique(values)) > 2 and abs(values.mean()) < 1e-6 and abs(values.std(ddof=0) - 1) < 1e-6 + 1 / len(values):
            names.append(column.name)
    return [issue_about("scaled_before", names)] if len(names) >= max(2, 0.5 * len(numeric)) else _seen(looked)


def _constant(looked: _Looked) -> Outcome:
    names = [column.name for column in looked.data.columns if len(np.unique(column.train[~np.isnan(column.train)])) < 2]
    return [issue_about("constant", names)] if names else _seen(looked)


def _few_rows(looked: _Looked) -> Outcome:
    return [issue_of("few_rows", n=looked.data.n, least=FEW_ROWS)] if looked.data.n < FEW_ROWS else []


CHECKS: dict[str, Callable[[_Looked], Outcome]] = {
    "I1": _identifiers, "D1": _copies, "D2": _near_copies, "G1": _groups_cut, "G2": _like_groups, "T1": _dates, "T2": _order,
    "T3": _sorted, "S1": _places, "L1": _leaks, "L2": _leaks_by_gaps, "R1": _rare, "R2": _small_classes, "V1": _sentinels,
    "V2": _scaled, "V3": _constant, "N1": _few_rows,
}  # fmt: skip
