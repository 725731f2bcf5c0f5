"""Declarations that make up a study: measures, outputs, costs.

A study is a folder with a file ``study.yaml`` (title, task, settings) and a module ``study`` that has ``STUDY``, a `Study`.
Everything else is made from these declarations: rules, output files, report entries, archive, plan, progress, documents and
tests. Declarations name functions as text (``"tables.target_shift"``, counted from the folder), because every process of
Snakemake reads the declarations and only a job needs pandas or Matplotlib.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from foldshift.engine.costs.cost_record import Cost as Cost

if TYPE_CHECKING:
    from foldshift.engine.study.run import Run

FORMATS = {"table": ("html", "csv", "tex", "rst"), "figure": ("html", "svg", "pdf", "png", "rst")}  # first: report
FOLDERS = {"table": "tables/", "figure": "figures/"}
PAPER_VS_OURS = "paper_vs_ours"
# Settings that the engine understands wherever a study has them; it reads no others (docs/add_a_study.md).
ENGINE_SETTINGS = (
    "datasets",
    "partitioners",
    "learners",
    "n_folds",
    "schemes",
    "n_seeds",
    "n_truth",
    "metric",
    "scaling",
    "configurations",
    "max_rows",
    "max_sample",
    "seeds_per_block",
    "learners_per_job",
    "populations",
    "n_sample",
    "sample_sizes",
)


def nothing(*_: Any) -> dict[Any, Any]:
    """Return no inputs and no parameters."""
    return {}


def always(_: Run) -> bool:
    """Return True: the item is made in every run."""
    return True


@dataclass(frozen=True, eq=False)
class Measure:
    """Declaration of a measure: a job for every cell, and the rows that it writes.

    Attributes
    ----------
    name : str
        Verb and object; the rule is ``<study>_<name>``.
    function : str
        The function, as ``module.function`` within the folder of the study. It is called as ``function(inputs, cell,
        **params)`` with the named inputs as attributes and the cell as a dictionary of text, and returns a dictionary from kind
        of rows to a list of dictionaries of columns. The module has ``SCHEMAS``, a dictionary from kind to ``pyarrow.Schema``.
    rows : dict of str to str
        Kind of rows to path below the results of the study, with the words of the cell in braces: ``"claims/{model}.parquet"``.
        All kinds have the same words. A kind whose path ends with ``.html`` is a page: the function returns its text, and it
        needs no schema.
    cells : callable
        ``cells(run)``: the cells of a run, dictionaries of text; `Run` says what can be asked.
    cost : callable
        ``cost(run, cell)``: a `Cost`.
    inputs, params : callable
        ``inputs(run, cell)``: files by name (paths or lists of paths); ``params(run, cell)``: further arguments of the function.
        What does not stand there does not make a job run again.
    learners : callable
        ``learners(run)``: ids of the learners whose code the rows rest on.
    partitioners : callable
        ``partitioners(run)``: names of the partitioners, the library's or the user's own, that the function calls; the rows rest
        on their code and on that of no others.
    limited : bool
        Whether learners run isolated: the function then also gets ``limits``, a dictionary with ``minutes`` and ``memory_mb`` of
        a cell.
    first_call : str
        A function without arguments, as ``module.function``, that calls the compiled functions of the measure on a data set of
        its own making: they are compiled once, before the jobs. Empty where nothing is compiled but learners.
    message : str
        What Snakemake says when such a job starts, with the words of the cell in braces.
    archived : bool
        Whether an archive holds the rows.
    patterns : dict of str to str
        Regular expressions of words of the cell; by default a word holds no slash.
    """

    name: str
    function: str
    rows: dict[str, str]
    cells: Callable[..., Any]
    cost: Callable[..., Any]
    message: str
    inputs: Callable[..., Any] = nothing
    params: Callable[..., Any] = nothing
    learners: Callable[..., Any] = lambda run: ()
    partitioners: Callable[..., Any] = lambda run: ()
    limited: bool = False
    first_call: str = ""
    archived: bool = True
    patterns: dict[str, str] = field(default_factory=dict)

    @property
    def words(self) -> tuple[str, ...]:
        """The words of a cell, in the order of the path."""
        return tuple(re.findall(r"{(\w+)}", next(iter(self.rows.values()))))

    @property
    def cell_path(self) -> str:
        """The words of a cell as a path: ``"{dataset}/{block}"``."""
        return "/".join(f"{{{word}}}" for word in self.words)


@dataclass(frozen=True, eq=False)
class Table:
    """Declaration of a table: CSV, HTML, LaTeX, and its caption.

    Attributes
    ----------
    name : str
        Name of its files, and how it is called in code.
    title : str
        What stands in the list of the report and in front of the caption: words, for a reader who does not know the name.
    category : str
        Part of the report, e.g. ``"2 Target shift"``.
    caption : str
        The one text that the report, the HTML and the LaTeX file show: what it is, what to look at. Settings of the study stand
        in braces (``{n_seeds}``), as do further words that the function returns (`foldshift.reporting.items.TableResult`).
    when : callable
        ``when(run)``: whether a run has it.
    show : str
        The function that lays out the table from its data frame alone, as ``module.function`` within the folder of the study
        (a name with ``foldshift.`` in front counts from the top); it returns a `foldshift.reporting.table_grid.Grid`. Further
        parameters are settings of the study, by name. A published table is shown by it; by default, as its columns are.
    shown_with : dict
        Further arguments of the function, by name, that are not settings.
    """

    name: str
    title: str
    category: str
    caption: str
    when: Callable[..., Any] = always
    show: str = ""
    shown_with: dict[str, Any] = field(default_factory=dict)

    kind = "table"

    @property
    def stem(self) -> Any:
        """Path of its files below the results of the study, without the ending."""
        return self.name if self.name == PAPER_VS_OURS else FOLDERS[self.kind] + self.name

    def files(self) -> list[str]:
        """Paths below the results of the study; the first one goes into the report."""
        return [f"{self.stem}.{ending}" for ending in FORMATS[self.kind]]


@dataclass(frozen=True, eq=False)
class Figure(Table):
    """Declaration of a figure: SVG, PDF, PNG, and its caption; attributes as for `Table`.

    Attributes
    ----------
    draw : str
        The function that draws the figure from the data frame of a table, as `show` of a table. Empty where it needs more: of
        a published figure the file is shown.
    drawn_from : str
        Name of that table; by default the figure's own.
    """

    draw: str = ""
    drawn_from: str = ""

    kind = "figure"


@dataclass(frozen=True, eq=False)
class OutputGroup:
    """Declaration of a group of tables and figures that one job makes: starting a job takes longer than making one of them.

    Attributes
    ----------
    name : str
        The rule is ``<study>_<name>``.
    function : str
        The function, as ``module.function`` within the folder of the study (a name with ``foldshift.`` in front counts from the
        top). It is called as ``function(inputs, settings, **params)`` and returns a dictionary from the name of each item
        (``"name"``
        for a table, ``"name (figure)"`` for a figure, see `key`) to a data frame, a `foldshift.reporting.items.TableResult`, or a
        Matplotlib figure.
    items : tuple of Table or Figure
    inputs, params : callable
        ``inputs(run)``, ``params(run)``: as of `Measure`.
    seconds : float or callable
        Of one core without the start of Python: at the paper's scale, or ``seconds(run)`` where that says little of a small run.
    mb : float
        Memory in MB.
    local : bool
        Whether it runs where Snakemake runs, also with a cluster: work of seconds.
    message : str
        What Snakemake says when the job starts.
    """

    name: str
    function: str
    items: tuple[Table, ...]
    message: str
    inputs: Callable[..., Any] = nothing
    params: Callable[..., Any] = nothing
    seconds: float | Callable[..., Any] = 1.0
    mb: float = 1000.0
    local: bool = False


def key(item: Table) -> str:
    """Name of an item that tells a table from a figure of the same name."""
    return item.name if item.kind == "table" else f"{item.name} (figure)"


@dataclass(frozen=True, eq=False)
class Study:
    """Declaration of a study.

    Attributes
    ----------
    measures : tuple of Measure
    items : tuple of OutputGroup
        In the order of the report.
    prepared : callable
        ``prepared(settings)``: scaling of the prepared data sets whose descriptions its tables use; None for a study without data
        sets of the catalogue.
    cuts : bool
        Whether the engine cuts its data sets and evaluates its learners (folds and scores as files).
    variants : callable
        ``variants(settings)``: `foldshift.engine.layout.bundles.Variants` of the partitioners that the engine cuts as well.
    population_tasks : dict of str to str
        Parts of the settings whose ``populations`` must be of one task, ``regression`` or ``classification``; others take both.
    references : tuple of str
        Partitioners that must be there, because others are compared with them.
    check : callable
        ``check(settings)``: raises `foldshift.core.errors.ConfigError` at what the schema cannot know.
    derive : callable
        ``derive(run)``: what the settings of the functions hold beside the configuration.
    origins : callable
        ``origins(run)``: files that say where the data came from, if not from the catalogue.
    """

    measures: tuple[Measure, ...] = ()
    items: tuple[OutputGroup, ...] = ()
    cuts: bool = False
    variants: Callable[..., Any] = lambda settings: ()
    population_tasks: dict[str, str] = field(default_factory=dict)
    references: tuple[str, ...] = ()
    check: Callable[..., Any] = nothing
    derive: Callable[..., Any] = nothing
    prepared: Callable[..., Any] = lambda settings: None
    origins: Callable[..., Any] | None = None
