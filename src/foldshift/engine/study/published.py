"""Published results of a study: tables and figures at full scale that come with the clone, beside those of a smaller run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldshift.engine.config.merge import LAPTOP
from foldshift.engine.study.declare import FOLDERS, PAPER_VS_OURS, Figure, Table

if TYPE_CHECKING:
    from foldshift.engine.study.run import Run

FOLDER = "docs/results"  # below the folder of the workflow; an installed library has none
PROVENANCE = "provenance.json"
DATA = {"table": "csv", "figure": "svg"}  # published form of an item
SECONDS = 0.3  # of an item: a page, or a figure and its page


class PublishedStudy:
    """Published items of a study, whether or not this run has them, and their files.

    Nothing is published where the folder is not there, and nothing is shown beside a run that is no small one.
    """

    def __init__(self, run: Run, root: Path) -> None:
        self._run, self._folder = run, root / FOLDER / run.id
        is_shown = run.config["scale"] == LAPTOP and not run.config["archived"] and (self._folder / PROVENANCE).is_file()
        declared = [item for group in run.declared.items for item in group.items] if is_shown else []
        self.items = [item for item in declared if self._source(item).is_file()]

    def inputs(self) -> list[str]:
        """Published files that the pages are made from, the facts of the run that made them first."""
        files = [self._folder / PROVENANCE]
        for item in self.items:
            files += [path for path in (self._source(item), self._table(item), self._caption(item)) if path and path.is_file()]
        return [str(path) for path in dict.fromkeys(files)]

    def outputs(self) -> list[str]:
        """Pages of the items and, beside each, the published table or the figure."""
        return [self._run.file(f"{_stem(item)}.{ending}") for item in self.items for ending in ("html", DATA[item.kind])]

    def words(self) -> list[dict[str, Any]]:
        """Facts that the job needs to know of each item, in the order of `outputs`."""
        return [
            {
                "kind": item.kind,
                "name": item.name,
                "title": item.title,
                "source": str(self._source(item)),
                "caption": str(self._caption(item)),
                "table": str(self._table(item) or ""),
                "function": self._function(item),
                "arguments": item.shown_with,
            }
            for item in self.items
        ]

    def functions(self) -> list[str]:
        """Functions that show the items: the pages rest on their code."""
        return list(dict.fromkeys(filter(None, map(self._function, self.items))))

    def seconds(self) -> float:
        """Expected time of the job without the start of Python."""
        return SECONDS * len(self.items)

    def _function(self, item: Table) -> str:
        """Full path of the function that shows an item from a published table; empty where there is none."""
        table = self._table(item)
        name = item.draw if isinstance(item, Figure) else item.show
        return self._run.found.path(name) if name and table and table.is_file() else ""

    def _table(self, item: Table) -> Path | None:
        """Published table that an item is shown from; None for a figure that is not drawn anew."""
        if not isinstance(item, Figure):
            return self._source(item)
        return self._folder / "tables" / f"{item.drawn_from or item.name}.csv" if item.draw else None

    def _source(self, item: Table) -> Path:
        return self._folder / f"{item.stem}.{DATA[item.kind]}"

    def _caption(self, item: Table) -> Path:
        return self._folder / f"{item.stem}.rst"


def _stem(item: Table) -> str:
    """Path of the files of an item below the results of the study, without the ending."""
    return f"published/{FOLDERS['table'] if item.name == PAPER_VS_OURS else FOLDERS[item.kind]}{item.name}"
