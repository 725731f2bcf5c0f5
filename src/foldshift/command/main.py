"""Commands and their options. Results go to standard output, progress and messages to standard error."""

from __future__ import annotations

import functools
import json
import os
import shlex
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec

# One thread per process unless the user sets another number: fits are small, and more threads make them slower.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import click  # noqa: E402

from foldshift import __version__  # noqa: E402
from foldshift.command.table_options import (  # noqa: E402
    Structure,
    TableOptions,
    reading_options,
    structure_columns,
    structure_options,
    table_options,
)
from foldshift.command.terminal import Known, answer, drop_unwritten, known_at_ctrl_c, say  # noqa: E402
from foldshift.command.terminal_progress import Progress  # noqa: E402
from foldshift.core.errors import FoldshiftError  # noqa: E402
from foldshift.core.files import check_target  # noqa: E402
from foldshift.core.remedies import at  # noqa: E402

if TYPE_CHECKING:
    from foldshift.advice.work_plan import Effort
    from foldshift.inference.score_tables.score_columns import TableColumns
    from foldshift.partition.export import Format

P = ParamSpec("P")

DONE, MISTAKE, USAGE, FOUND, STOPPED = 0, 1, 2, 3, 130
EXIT_CODES = """\b
Exit codes:
  0  done
  1  a file, a column or a value cannot be used; one line says why
  2  the command line cannot be understood
  3  with --check: something was found
130  stopped by Ctrl-C; what was known by then is printed
"""
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def mistakes_in_one_line(function: Callable[P, None]) -> Callable[P, None]:
    """Report a user's mistake in one line on standard error, with exit code 1."""

    @functools.wraps(function)
    def run(*args: P.args, **options: P.kwargs) -> None:
        try:
            function(*args, **options)
        except (ValueError, TypeError, ImportError, OSError, MemoryError) as error:
            if isinstance(error, BrokenPipeError):
                raise  # the reader has had enough, as in `| head`; click ends quietly
            text = error.at("command") if isinstance(error, FoldshiftError) else str(error)
            if isinstance(error, ModuleNotFoundError) and error.name and "pip install" not in text:
                package = error.name.partition(".")[0]
                text = f"the package {package} is not installed; install with: {sys.executable} -m pip install {package}"
            message = " ".join(text.split()) or type(error).__name__
            if isinstance(error, OSError) and error.strerror:
                message = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
            say(f"foldshift: {message}", err=True)
            drop_unwritten()
            sys.exit(MISTAKE)
        except Known as known:
            say("\nfoldshift: stopped by Ctrl-C; this is what was known by then", err=True)
            say(str(known), err=known.is_error)
            sys.exit(STOPPED)
        except KeyboardInterrupt:
            say("\nfoldshift: stopped by Ctrl-C before there was an answer; the same command begins again", err=True)
            sys.exit(STOPPED)

    return run


def file_by_file(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command of one file several with --check: the exit code is the largest of theirs."""

    @functools.wraps(function)
    def run(files: tuple[str, ...], **options: Any) -> None:
        if len(files) == 1:
            function(file=files[0], **options)
            return
        if not options["check"]:
            raise click.UsageError(
                f"{files[1]!r} is a second file; several go with --check alone, and the target is --target NAME."
            )
        if options["as_json"] or options["html"] is not None or "-" in files:
            raise click.UsageError("--json, --html and standard input are for one file; give one.")
        worst = DONE
        for file in files:
            say(f"{file}:")
            try:
                function(file=file, **options)
            except SystemExit as ended:
                worst = max(worst, int(ended.code or DONE))
                if ended.code == STOPPED:
                    break
        sys.exit(worst)

    return run


class _Command(click.Command):
    """Command that refuses an option that is given twice, or without a text, which would be passed over in silence."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Check the options before click reads them."""
        values, _, order = self.make_parser(ctx).parse_args(args=list(args))
        single = [one for one in order if isinstance(one, click.Option) and not (one.multiple or one.is_flag or one.count)]
        twice = [one for one in single if single.count(one) > 1]
        if twice:
            raise click.UsageError(f"Option '{twice[0].opts[0]}' is given twice; give it once.", ctx)
        empty = [one for one in order if values.get(one.name or "") in ("", [""])]
        if empty:
            raise click.UsageError(f"Option '{empty[0].opts[0]}' is empty; give a value, or leave the option out.", ctx)
        known = {name for one in self.get_params(ctx) for name in one.opts}
        for one in order:
            given = list(values.get(one.name or "") or ()) if one.nargs > 1 else []
            if known & set(given):
                parts = " ".join(given[0].split(",")) if "," in given[0] else " ".join(one.make_metavar(ctx).split())
                raise click.UsageError(f"Option '{one.opts[0]}' takes {one.nargs} values: {one.opts[0]} {parts}", ctx)
        return super().parse_args(ctx, args)


class _Group(click.Group):
    """Group of such commands."""

    command_class = _Command


@click.group(cls=_Group, context_settings=SETTINGS, epilog=EXIT_CODES)
@click.version_option(__version__, prog_name="foldshift")
def main() -> None:
    """See what the way of cutting data into folds does to results.

    \b
    Examples:
      foldshift advise data.csv --target price
      foldshift drift train.csv test.csv
      foldshift folds data.csv --target price --partitioner TSCV > folds.csv
    """


@main.command(epilog=EXIT_CODES, short_help="Advise on a table: folds, repetitions, interval, issues.")
@click.argument("files", nargs=-1, required=True, metavar="FILE")
@file_by_file
@table_options
@structure_columns
@click.option("--learner", "-l", metavar="PATH", help="scikit-learn name or import path; a random forest by default.")
@click.option("--compare", metavar="PATH", help="Another learner to compare with.")
@click.option("--scoring", metavar="NAME", help="A scorer of scikit-learn, such as accuracy, roc_auc, r2.")
@click.option("--cv", type=click.IntRange(2), metavar="K", help="The number of folds that you use, to be judged.")
@click.option("--rope", type=click.FloatRange(0), metavar="X", help="Differences up to this do not matter.")
@click.option("--effort", type=click.Choice(["quick", "standard", "thorough"]), default="standard", show_default=True,
              help="Amount of work, the same on any machine.")  # fmt: skip
@click.option("--budget", "-b", metavar="TIME", help="Time after which the work stops, such as 90s or 5min; none by default.")
@click.option("--random-state", type=click.IntRange(0), default=0, show_default=True, help="Seed of all folds.")
@click.option("--html", type=click.Path(dir_okay=False), metavar="FILE", help="Write the advice as a page.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON instead of text.")
@click.option("--check", is_flag=True, help="Exit with 3 if a fault was found, or a shift of the split that --cv names.")
@click.option("--mute", multiple=True, metavar="CODE=REASON", help="A check whose finding is known; can be given again.")
@click.option("--verbose", "-v", is_flag=True, help="Print everything that was found, not the summary alone.")
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
@mistakes_in_one_line
def advise(
    file: str,
    options: TableOptions,
    structure: Structure,
    learner: str | None,
    compare: str | None,
    scoring: str | None,
    cv: int | None,
    rope: float | None,
    effort: Effort,
    budget: str | None,
    random_state: int,
    html: str | None,
    as_json: bool,
    check: bool,
    mute: tuple[str, ...],
    verbose: bool,
    quiet: bool,
) -> None:
    """Advise on the table FILE: how to cut it, how often, which interval to print, what to beware of.

    FILE is csv, tsv, arff, Excel or parquet, compressed or not; - is standard input. With --check, there may be
    several. Texts are coded and gaps filled inside every training part.

    \b
    Examples:
      foldshift advise data.csv --target price
      foldshift advise data.csv -t survived -l LogisticRegression --compare RandomForestClassifier --html page.html
      foldshift advise data.csv -t y --group-on patient --scoring roc_auc --json > advice.json
      foldshift advise data.csv -t sales --time-on date --check --mute D1="sales repeat"
    """
    begun = time.perf_counter()  # the budget is for everything, loading of libraries and reading included
    from foldshift.advice.advise import advise as advice_on
    from foldshift.advice.data import check_rows
    from foldshift.advice.learner.preprocessing import imported, on_all_cores, prepared, usual
    from foldshift.advice.planned_cv import Clock, seconds_of
    from foldshift.advice.wording import summary
    from foldshift.command.read_tables import declared, predicted, read_with_structure, target_and_inputs

    seconds = seconds_of(budget)
    clock = None if budget is None else Clock(seconds, begun)
    _check_writable(html)
    muted = _muted(mute)
    with Progress(quiet) as progress:
        progress(f"reading {file}")
        table = read_with_structure(file, options, structure)
        found, known = declared(table, target_and_inputs(table, options.task), structure)
        X, task = found.X, found.task
        check_rows(len(X))
        chosen = usual(task, random_state, len(X)) if learner is None else imported(learner, task, seconds=seconds)
        other = None if compare is None else prepared(imported(compare, task, "compare", seconds), X)
        with on_all_cores(X.size), known_at_ctrl_c(progress.known, as_json):
            advice = advice_on(
                X, found.y, prepared(chosen, X), scoring=scoring, groups=found.groups, cv=cv, compare=other, effort=effort,
                budget=clock, rope=rope, task=task, random_state=random_state, left_out=table.left_out, tell=progress,
                mute=muted, times=known.times,
                coordinates=known.coordinates, subsets=known.subsets, row_names=known.row_names,
            )  # fmt: skip
    _print_notes([*found.notes, *advice.not_respected])
    if any(decision.sure == "unsure" for decision in table.receipt.decisions):
        _print_notes([f"every decision about the file, and the option that overrules it: foldshift data {shlex.quote(file)}"])
    shown = advice.to_json() if as_json else str(advice) if verbose else "\n".join(summary(advice))
    if options.reading["target"] is None and not as_json:
        shown = f"{predicted(table, found)}\n{shown}"
    with on_all_cores(X.size):
        if html is not None:
            _ = advice.ran  # the code of the page runs while standard output is whole
        answer(shown, as_json=as_json, files={html: advice.to_html} if html is not None else {})
    grave = any(issue.severity != "note" for issue in advice.faults)
    if check and (grave or (advice.split_is_given and advice.split is not None and advice.split.shifted)):
        sys.exit(FOUND)


@main.command(epilog=EXIT_CODES, short_help="Find columns that differ between two tables.")
@click.argument("train")
@click.argument("test")
@reading_options
@click.option("--alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05, show_default=True,
              help="Level of the verdict over all columns.")  # fmt: skip
@click.option("--multivariate", default="energy,spread", show_default=True, metavar="A,B,...",
              help="Tests of all columns together: energy, spread, c2st, mmd, dependence; none.")  # fmt: skip
@click.option("--n-permutations", type=click.IntRange(1), default=999, show_default=True,
              help="Permutations of the tests of all columns together.")  # fmt: skip
@click.option("--html", type=click.Path(dir_okay=False), metavar="FILE", help="Write the report as a page.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON instead of text.")
@click.option("--check", is_flag=True, help="Exit with 3 if a shift was found.")
@mistakes_in_one_line
def drift(
    train: str,
    test: str,
    options: TableOptions,
    alpha: float,
    multivariate: str,
    n_permutations: int,
    html: str | None,
    as_json: bool,
    check: bool,
) -> None:
    """Find the columns whose distribution in the table TEST differs from that in the table TRAIN.

    Both tables are read as one: a column has the same kind, form of numbers and marks for missing values in both.

    \b
    Examples:
      foldshift drift train.csv test.csv --html drift.html
      foldshift drift january.csv february.csv --drop date --check || echo moved
    """
    from foldshift.command.read_tables import drift_of

    _check_writable(html)
    with Progress() as progress:
        progress("comparing")
        tests = [] if multivariate == "none" else [name.strip() for name in multivariate.split(",")]
        report, notes = drift_of((train, test), options, alpha=alpha, multivariate=tests, n_permutations=n_permutations)
    _print_notes(notes)
    text = str(report)
    report.notes[:0] = [at(note, "command") for note in notes]  # kept with the results
    shown = json.dumps(report.to_dict(), indent=1, ensure_ascii=False) if as_json else text
    answer(shown, as_json=as_json, files={html: report.to_html} if html is not None else {})
    if check and (any(row.moved for row in report.features) or any(test.moved for test in report.global_tests)):
        sys.exit(FOUND)


@main.command(epilog=EXIT_CODES, short_help="Compare learners from a table of their scores.")
@click.argument("file")
@reading_options
@click.option("--learner", metavar="COLUMN", help="Column of the learner; without one, every column of numbers is a learner.")
@click.option("--item", metavar="COLUMN", help="Column of the item (row, question) that a score is for.")
@click.option("--fold", metavar="COLUMN", help="Column of the fold.")
@click.option("--repeat", metavar="COLUMN", help="Column of the repetition or seed.")
@click.option("--dataset", metavar="COLUMN", help="Column of the data set.")
@click.option("--score", metavar="COLUMN", help="Column of the score.")
@click.option("--truth", metavar="COLUMN", help="Column of the true value, if the table holds predictions and no scores.")
@click.option(
    "--prediction", metavar="COLUMN", help="Column of the prediction, beside those of the learner and of the true value."
)
@click.option("--clusters", metavar="COLUMN", help="Column that says which items belong together.")
@click.option("--unit", metavar="UNIT", help="What the answer is about: item, fold or dataset; by default the finest there is.")
@click.option("--metric", metavar="NAME", help="Name of the score, or the one to take of a column of metrics.")
@click.option("--better", metavar="WHICH", help="Whether higher or lower scores are better, if the metric does not tell.")
@click.option("--n-splits", type=click.IntRange(1), metavar="FOLDS", help="Folds of a repetition, where no column says the fold.")
@click.option("--n-repeats", type=click.IntRange(1), metavar="N", help="Repetitions, where no column says which one.")
@click.option("--n-train", type=float, metavar="ROWS", help="Rows of a training part, for folds.")
@click.option("--n-test", type=float, metavar="ROWS", help="Rows of a test part, for folds.")
@click.option("--rope", type=click.FloatRange(0), default=0.0, metavar="X", help="Differences up to this do not matter.")
@click.option("--confidence", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True,
              help="Of the intervals, all together.")  # fmt: skip
@click.option("--html", type=click.Path(dir_okay=False), metavar="FILE", help="Write the comparison as a page.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON instead of text.")
@click.option("--verbose", "-v", is_flag=True, help="Print all pairs and all notes.")
@mistakes_in_one_line
def compare(
    file: str,
    options: TableOptions,
    metric: str | None,
    n_splits: int | None,
    n_repeats: int | None,
    n_train: float | None,
    n_test: float | None,
    rope: float,
    confidence: float,
    html: str | None,
    as_json: bool,
    verbose: bool,
    **columns: str | None,
) -> None:
    """Compare learners from the table FILE of their scores: which is better, by how much, and what would have been seen.

    A row is an item, a fold, a repetition or a data set; a column names the learner, or there is a column for each. Columns are
    found by plain names (model, fold, seed, dataset, item, score ...), or as the options say.

    \b
    Examples:
      foldshift compare scores.csv
      foldshift compare answers.csv --learner model --item question --score correct --clusters document
      foldshift compare folds.csv --score rmse --n-train 400 --n-test 100 --html page.html
    """
    from foldshift.command.compare_scores import compared, comparison_json, write_page

    _check_writable(html)
    given: TableColumns = {name: value for name, value in columns.items() if value is not None}  # type: ignore[assignment]
    result, notes = compared(
        file, options, given, {"n_splits": n_splits, "n_repeats": n_repeats}, metric=metric, sizes=(n_train, n_test), rope=rope,
        confidence=confidence,
    )  # fmt: skip
    _print_notes(notes)
    text = comparison_json(result, notes) if as_json else result.text(verbose=verbose, door="command")
    title = f"Comparison of {len(result.table.learners)} learners: {os.path.basename(file)}"
    answer(text, as_json=as_json, files={html: lambda path: write_page(result, title, path)} if html is not None else {})


@main.command(epilog=EXIT_CODES, short_help="Check whether scores can come from a cut of this size.")
@click.argument("file")
@reading_options
@click.option("--n", type=int, metavar="ROWS", help="Rows of the data set; the sum of the classes by default.")
@click.option("--k", type=int, metavar="FOLDS", help="Number of folds.")
@click.option("--classes", type=int, nargs=2, metavar="NEGATIVE POSITIVE", help="Rows of the negative and the positive class.")
@click.option("--decimals", type=int, metavar="N", help="Digits behind the point; by default those of the longest score.")
@click.option("--repeats", type=int, default=1, show_default=True, metavar="N", help="Repetitions that scores are means over.")
@click.option("--of", metavar="WHAT", help="Scores are means over folds, of all rows at once, or of one fold: folds, rows, fold.")
@click.option("--metric", metavar="NAME", help="Score of every column of numbers, where columns are learners.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON instead of text.")
@mistakes_in_one_line
def check(
    file: str,
    options: TableOptions,
    n: int | None,
    k: int | None,
    classes: tuple[int, int] | None,
    decimals: int | None,
    repeats: int,
    of: str | None,
    metric: str | None,
    as_json: bool,
) -> None:
    """Check whether the scores in the table FILE can come from the stated cut and sizes.

    Every row holds scores of one data set or learner, in columns named accuracy, error, sensitivity, specificity,
    balanced_accuracy, precision, f1 or mcc, which are checked together. Columns n, k, n_negative and n_positive overrule the
    options. A column fold makes a row the scores of one fold; without --k, sizes are then those of that fold.

    \b
    Examples:
      foldshift check scores.csv --n 150 --k 10
      foldshift check scores.csv --k 10 --classes 30 70 --decimals 4
      foldshift check table.csv --metric accuracy --n 150 --of rows
    """
    from foldshift.command.check_table import Cut, checked_table

    found = checked_table(file, options, Cut(n, k, classes, decimals, repeats, of), metric)
    _print_notes(found.notes)
    say(found.to_json() if as_json else found.text(), as_json=as_json)


@main.command(epilog=EXIT_CODES, short_help="Cut a table into folds, for any program.")
@click.argument("file")
@table_options
@structure_options
@click.option("--partitioner", "-p", metavar="NAME", help="SCV for classes and TSCV for numbers by default.")
@click.option("--n-folds", "-k", type=click.IntRange(2), default=5, show_default=True, help="Number of folds.")
@click.option("--seeds", "-s", type=click.IntRange(1), default=1, show_default=True,
              help="Number of partitions, with seeds 0, 1, ...")  # fmt: skip
@click.option("--format", "program", type=click.Choice(["csv", "openml", "rsample", "autogluon", "sklearn"]), default="csv",
              show_default=True, help="Program that reads the folds.")  # fmt: skip
@mistakes_in_one_line
def folds(
    file: str,
    options: TableOptions,
    structure: Structure,
    partitioner: str | None,
    n_folds: int,
    seeds: int,
    program: Format,
) -> None:
    """Cut the table FILE into folds: a csv with the fold of every row, and a column for every seed.

    Where a part trains on some of the other rows only, there is a column for every split: train, test, or nothing.

    \b
    Examples:
      foldshift folds data.csv --target price --partitioner TSCV --n-folds 5 --seeds 10 > folds.csv
      foldshift folds data.csv -t class -p CB-SCV --group-on patient > folds.csv
      foldshift folds data.csv -t class --test-size 0.2 --validation-size 0.2 > parts.csv
      foldshift folds data.csv -t sales --time-on date --gap 7 > splits.csv
      foldshift folds data.csv -t yield --space-on x y --buffer 500 --format rsample > splits.R
    """
    from foldshift.command.cut_tables import cut_table
    from foldshift.command.read_tables import read_with_structure

    table = read_with_structure(file, options, structure)
    with Progress() as progress:
        progress("cutting")
        cut = cut_table(table, options.task, structure, partitioner, (n_folds, seeds))
    _print_notes(cut.notes)
    say(cut.text(program))


@main.command(epilog=EXIT_CODES, short_help="Show how a file is read, or list the data sets of the papers.")
@click.argument("name", required=False)
@table_options
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@mistakes_in_one_line
def data(name: str | None, options: TableOptions, as_json: bool) -> None:
    """Show how the file NAME is read, and which option overrules each decision; or list the data sets of the papers.

    \b
    Examples:
      foldshift data data.csv
      foldshift data
      foldshift data --task regression
      foldshift data concrete
    """
    from foldshift.command.listings import data_sets, is_data_set
    from foldshift.command.read_tables import receipt_of

    if name is not None and (name == "-" or not is_data_set(name)):
        say(receipt_of(name, options, as_json), as_json=as_json)
    else:
        say(data_sets(name, options.task, as_json), as_json=as_json)


@main.command(epilog=EXIT_CODES, short_help="List the studies of the workflow, or show one.")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@mistakes_in_one_line
def studies(name: str | None, as_json: bool) -> None:
    """List the studies that the workflow runs, or show the question and the findings of one.

    \b
    Examples:
      foldshift studies
      foldshift studies advice
    """
    from foldshift.command.study_list import study_list

    say(study_list(name, as_json), as_json=as_json)


def _muted(given: tuple[str, ...]) -> dict[str, str]:
    """Codes and reasons of checks to mute."""
    for one in given:
        if "=" not in one:
            raise ValueError(f"--mute {one}: give a code and the reason, such as --mute D1='cases are repeated on purpose'")
    return {code.strip(): reason for code, _, reason in (one.partition("=") for one in given)}


def _print_notes(notes: list[str]) -> None:
    for note in notes:
        say(f"Note: {at(note, 'command').rstrip('.')}.", err=True)


def _check_writable(path: str | None) -> None:
    """Refuse a page that cannot be written, before time is spent."""
    if path is None:
        return
    check_target(path)
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise ValueError(f"--html {path}: there is no folder {folder}; make it first")
    if not (os.access(folder, os.W_OK) or os.path.exists(path)):
        raise ValueError(f"--html {path}: the folder {folder} cannot be written; name another one")
