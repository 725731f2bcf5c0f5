"""Facts and files behind the page of a study in the report, from what the study declares and what its run has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foldshift.engine.study.declare import PAPER_VS_OURS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from foldshift.engine.study.declare import Table
    from foldshift.engine.study.run import Run

PAGE = "index.html"
FULL_SCALE = "paper"
COUNTED = ("claims_ledger", "print_ledger")  # tables whose rows the page counts
SECONDARY = {"table1_datasets", "failures", PAPER_VS_OURS, *COUNTED}  # no table to begin with, where a study names none
# Settings in words, where the key says too little.
WORDS = {
    "datasets": "data sets",
    "n_datasets": "data sets drawn",
    "fitted": "learners",
    "folds": "numbers of folds",
    "n_folds": "numbers of folds",
    "n_truth": "experiments behind the truth",
}
NO_PRINT = "no printed number is compared, as this run has none of what the paper shows them for"


def page_of(run: Run) -> str:
    """Path of the page of a study."""
    return run.file(PAGE)


def page_files(run: Run) -> dict[str, list[str]]:
    """Name the files that the page of a study is made from."""
    items = _items(run)
    names = {item.name for item in items if item.kind == "table"}
    answer = (run.found.report.answer or {}).get("table")
    read = [name for name in (*COUNTED, answer) if name in names]
    main = (_main(run, "figure"), _main(run, "table"))
    shown = [item for item in items if item.kind == "figure" or item in main or item.name == "print_ledger"]
    return {
        "pages": [run.file(item.files()[0]) for item in shown],
        "rows": [run.table(name) for name in dict.fromkeys(read)],
        "figures": [run.file(f"{item.stem}.svg") for item in items if item is main[0]],
    }


def page_facts(run: Run) -> dict[str, Any]:
    """Facts that the page of a study shows beside its results, as plain values.

    They are the arguments of `foldshift.reporting.report_page.StudyWords`, items as those of `ReportItem`.
    """
    report = run.found.report
    ended = [path for measure in run.measures() for path in measure.rows.values() if path.endswith(".html")]
    pages = [path.removeprefix(run.file("")) for path in run.measured() if path.endswith(".html")] if ended else []
    return {
        "id": run.id,
        "title": run.found.title,
        "question": report.question or first_question(run.found.summary),
        "answer": report.answer,
        "main": [_plain(item) for kind in ("figure", "table") if (item := _main(run, kind))],
        "items": [_plain(item) for item in _items(run)],
        "left_out": list(_left_out(run)),
        "size": size_line(run.settings, run.found.scales.get(FULL_SCALE)),
        "pages": pages,
    }


def absent_studies(runs: Mapping[str, Run], named: Collection[str], titles: Mapping[str, str]) -> list[str]:
    """Say in a line for each reason which known studies are not in a run; `titles` has all known ones by id."""
    unknown = [f"{title} ({study})" for study, title in titles.items() if study not in runs]
    unnamed = [f"{title} ({study})" for study, title in titles.items() if study in runs and study not in named]
    lines = [f"{', '.join(unknown)}: the configuration leaves them out; add them to its studies."] if unknown else []
    return lines + ([f"{', '.join(unnamed)}: the command names other studies; snakemake all makes them."] if unnamed else [])


def first_question(summary: str) -> str:
    """Take the first question out of the summary of a study; the first sentence, where it asks nothing.

    >>> first_question("asks: does it matter? Everything is compared.")
    'Does it matter?'
    """
    text = summary.removeprefix("asks:").strip()
    end = text.find("?") + 1 or text.find(". ") + 1 or len(text)
    return text[:1].upper() + text[1:end]


def size_line(settings: Mapping[str, Any], full: Mapping[str, Any] | None) -> str:
    """Say in a line how a run differs from the paper's scale; empty, where the study has no such scale."""
    if full is None:
        return ""
    differing = [text for key, there in full.items() if (text := _difference(key, settings.get(key), there))]
    if not differing:
        return "At the paper's scale."
    return f"Not the full scale, which is in brackets: {', '.join(differing)}. The full scale: --configfile config/paper.yaml."


def _difference(key: str, here: Any, there: Any) -> str:
    """Say how one setting differs: numbers by value, lists by length; nothing where it does not, or is neither."""
    words = WORDS.get(key, key.removeprefix("n_").replace("_", " "))
    if isinstance(there, list) and isinstance(here, list):
        if len(here) != len(there):
            return f"{words} {len(here)} ({len(there)})"
        return "" if sorted(map(str, here)) == sorted(map(str, there)) else f"other {words}"
    if isinstance(there, int) and isinstance(here, int) and here != there:
        return f"{words} {here:,} ({there:,})"
    return ""


def _items(run: Run) -> list[Table]:
    """Items of a run in the order of the report."""
    return sorted((item for _, some in run.items() for item in some), key=lambda item: item.category)


def _main(run: Run, kind: str) -> Table | None:
    """Find the figure or table that the page shows: that of the study, also where the run lacks it, or the first of results."""
    name = getattr(run.found.report, kind)
    declared = [item for group in run.declared.items for item in group.items] if name else _items(run)
    found = [item for item in declared if item.kind == kind and (item.name == name or (not name and item.name not in SECONDARY))]
    return found[0] if found else None


def _plain(item: Table) -> list[str]:
    """Facts about an item as `foldshift.reporting.report_page.ReportItem` takes them."""
    return [item.kind, item.name, item.title, item.category, item.stem]


def _left_out(run: Run) -> Iterator[str]:
    """Lines on the items that a study declares and this run does not have."""
    there = {(item.kind, item.name) for item in _items(run)}
    declared = [item for group in run.declared.items for item in group.items]
    absent = [item for item in declared if (item.kind, item.name) not in there]
    if any(item.name == PAPER_VS_OURS for item in absent):
        group = next(group for group in run.declared.items if any(item.name == PAPER_VS_OURS for item in group.items))
        absent = [item for item in absent if item not in group.items]
        yield f"Paper versus ours: {NO_PRINT}."
    if absent:
        yield f"{'; '.join(item.title for item in absent)}: the settings or data sets of this run leave them out."
