"""Commands and their options. Results go to standard output, progress and messages to standard error."""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Callable
from typing import Any

# One thread per process unless the user says otherwise: fits are small, and more threads make them slower.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import click  # noqa: E402

from foldshift import __version__  # noqa: E402
from foldshift.command.terminal_progress import Progress  # noqa: E402

DONE, MISTAKE, USAGE, FOUND = 0, 1, 2, 3
EXIT_CODES = """\b
Exit codes:
  0  done
  1  a file, a column or a value cannot be used; one line says why
  2  the command line cannot be understood
  3  with --check: something was found
"""
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def one_line(function: Callable[..., Any]) -> Callable[..., Any]:
    """A mistake of the user's is told in one line on standard error, with exit code 1."""

    @functools.wraps(function)
    def run(*args: Any, **options: Any) -> None:
        try:
            return function(*args, **options)
        except (ValueError, TypeError, ImportError, OSError, MemoryError) as error:
            said = " ".join(str(error).split()) or type(error).__name__
            if isinstance(error, OSError) and error.strerror:
                said = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
            click.echo(f"foldshift: {said}", err=True)
            sys.exit(MISTAKE)

    return run


def table_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Options of every command that reads a table of the user's own."""
    for option in reversed(
        [
            click.option("--target", "-t", metavar="COLUMN", help="The column to be predicted; the last one by default."),
            click.option("--groups", "-g", metavar="COLUMN", help="The column that says which rows belong together."),
            click.option("--task", type=click.Choice(["classification", "regression"]), help="What the target is."),
            click.option("--drop", metavar="COLUMN", multiple=True, help="Leave a column out; can be given again."),
            click.option("--keep", metavar="COLUMN", multiple=True, help="Take a column in that looks like no input."),
            click.option("--nominal", metavar="COLUMN", multiple=True, help="Numbers in this column are labels."),
        ]
    ):
        function = option(function)
    return function


@click.group(context_settings=SETTINGS, epilog=EXIT_CODES)
@click.version_option(__version__, prog_name="foldshift")
def main() -> None:
    """What the way of cutting data into folds does to results.

    \b
    Examples:
      foldshift advise data.csv --target price
      foldshift drift train.csv test.csv
      foldshift folds data.csv --target price --partitioner TSCV > folds.csv
    """


@main.command(epilog=EXIT_CODES)
@click.argument("file")
@table_options
@click.option("--learner", "-l", metavar="PATH", help="scikit-learn name or import path; a random forest by default.")
@click.option("--compare", metavar="PATH", help="Another learner to compare with.")
@click.option("--scoring", metavar="NAME", help="A scorer of scikit-learn, such as accuracy, roc_auc, r2.")
@click.option("--cv", type=click.IntRange(2), metavar="K", help="Number of folds that you use; it is judged.")
@click.option("--rope", type=click.FloatRange(0), metavar="X", help="Differences up to this do not matter.")
@click.option("--budget", "-b", default="60s", show_default=True, help="Time for all of it: 90s, 5min.")
@click.option("--random-state", type=click.IntRange(0), default=0, show_default=True, help="Seed of all folds.")
@click.option("--html", type=click.Path(dir_okay=False), metavar="FILE", help="Write the page.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON instead of text.")
@click.option("--check", is_flag=True, help="Exit with 3 if a fault was found, or a shift of the split that --cv names.")
@click.option("--quiet", "-q", is_flag=True, help="No progress.")
@one_line
def advise(
    file: str,
    target: str | None,
    groups: str | None,
    task: Any,
    drop: tuple[Any, ...],
    keep: tuple[Any, ...],
    nominal: tuple[Any, ...],
    learner: str | None,
    compare: str | None,
    scoring: Any,
    cv: int | None,
    rope: float,
    budget: str,
    random_state: int,
    html: str | None,
    as_json: bool,
    check: bool,
    quiet: bool,
) -> None:
    """How to cut the table FILE, how often, which interval may be printed, and what to beware of.

    FILE is csv, tsv, arff, Excel or parquet, packed or not; - is standard input. Texts are coded and gaps filled inside every
    training part.

    \b
    Examples:
      foldshift advise data.csv --target price
      foldshift advise data.csv -t survived -l LogisticRegression --compare RandomForestClassifier --html page.html
      foldshift advise data.csv -t y --groups patient --scoring roc_auc --budget 2min --json > advice.json
    """
    from foldshift.advice.advise import advise as ask
    from foldshift.advice.advise import seconds_of
    from foldshift.advice.preprocessing import imported, on_all_cores, prepared, usual
    from foldshift.command.read_tables import read, target_and_inputs

    seconds_of(budget)
    _can_be_written(html)
    with Progress(quiet) as progress:
        progress(f"reading {file}")
        table = read(file, target=target, groups=groups, task=task, drop=drop, keep=keep, nominal=nominal)
        X, y, labels, task, notes = target_and_inputs(table, task)
        chosen = usual(task, random_state) if learner is None else imported(learner, task)
        other = None if compare is None else prepared(imported(compare, task), X)
        with on_all_cores(X.size):
            advice = ask(
                X, y, prepared(chosen, X), scoring=scoring, groups=labels, cv=cv, compare=other, budget=budget, rope=rope,
                task=task, random_state=random_state, left_out=table.left_out, tell=progress,
            )  # fmt: skip
    _tell(notes)
    if html:
        advice.to_html(html)
        click.echo(f"Page: {html}", err=True)
    click.echo(advice.to_json() if as_json else str(advice), nl=not as_json)
    grave = any(fault.severity != "note" for fault in advice.faults)
    if check and (grave or (advice.split_is_given and advice.split is not None and advice.split.shifted)):
        sys.exit(FOUND)


@main.command(epilog=EXIT_CODES)
@click.argument("train")
@click.argument("test")
@click.option("--drop", metavar="COLUMN", multiple=True, help="Leave a column out; can be given again.")
@click.option("--keep", metavar="COLUMN", multiple=True, help="Compare a column that looks like row numbers, names or dates.")
@click.option("--alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05, show_default=True,
              help="Level of the verdict over all columns.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON instead of text.")
@click.option("--check", is_flag=True, help="Exit with 3 if a column has moved.")
@one_line
def drift(train: str, test: str, drop: tuple[str, ...], keep: tuple[str, ...], alpha: float, as_json: bool, check: bool) -> None:
    """Which columns of the table TEST are distributed otherwise than in the table TRAIN.

    \b
    Examples:
      foldshift drift train.csv test.csv
      foldshift drift january.csv february.csv --drop date --check || echo moved
    """
    from foldshift.command.read_tables import as_options, frames_of
    from foldshift.shift import DriftReport

    with Progress(False) as progress:
        progress("comparing")
        frames, notes = frames_of((train, test), drop, keep)
        report = DriftReport(*frames, alpha=alpha, keep=keep)
    _tell(notes)
    click.echo(json.dumps(report.to_dict(), indent=1, ensure_ascii=False) if as_json else as_options(str(report)))
    if check and any(row.moved for row in report.features):
        sys.exit(FOUND)


@main.command(epilog=EXIT_CODES)
@click.argument("file")
@table_options
@click.option("--partitioner", "-p", metavar="NAME", help="SCV for classes and TSCV for numbers by default.")
@click.option("--n-folds", "-k", type=click.IntRange(2), default=5, show_default=True, help="Number of folds.")
@click.option("--seeds", "-s", type=click.IntRange(1), default=1, show_default=True, help="How many partitions: seeds 0, 1, ...")
@one_line
def folds(
    file: str,
    target: str,
    groups: Any,
    task: Any,
    drop: tuple[Any, ...],
    keep: tuple[Any, ...],
    nominal: tuple[Any, ...],
    partitioner: Any,
    n_folds: int,
    seeds: int,
) -> None:
    """Cut the table FILE into folds: a csv with the fold of every row, a column for every seed.

    \b
    Examples:
      foldshift folds data.csv --target price --partitioner TSCV --n-folds 5 --seeds 10 > folds.csv
      foldshift folds data.csv -t class -p CB-SCV --groups patient > folds.csv
    """
    from foldshift.command.read_tables import folds_of, read

    table = read(file, target=target, groups=groups, task=task, drop=drop, keep=keep, nominal=nominal)
    with Progress(False) as progress:
        progress("cutting")
        text, notes = folds_of(table, task, partitioner, n_folds, seeds)
    _tell(notes)
    click.echo(text, nl=False)


@main.command(epilog=EXIT_CODES)
@click.argument("name", required=False)
@click.option("--task", type=click.Choice(["classification", "regression"]), help="Only these.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@one_line
def data(name: str | None, task: str | None, as_json: bool) -> None:
    """The data sets of the papers: all of them, or one with where it comes from.

    \b
    Examples:
      foldshift data
      foldshift data --task regression
      foldshift data concrete
    """
    from foldshift.command.listings import data_sets

    click.echo(data_sets(name, task, as_json))


@main.command(epilog=EXIT_CODES)
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@one_line
def studies(name: str | None, as_json: bool) -> None:
    """The studies that the workflow runs: all of them, or what one asks and found.

    \b
    Examples:
      foldshift studies
      foldshift studies advice
    """
    from foldshift.command.listings import study_list

    click.echo(study_list(name, as_json))


def _tell(notes: list[str]) -> None:
    for note in notes:
        click.echo(f"Note: {note.rstrip('.')}.", err=True)


def _can_be_written(path: str | None) -> None:
    """Refuse a page that could not be written before the time is spent."""
    if path is None:
        return
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise ValueError(f"--html {path}: there is no folder {folder}; make it first")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"--html {path}: the folder {folder} cannot be written")
