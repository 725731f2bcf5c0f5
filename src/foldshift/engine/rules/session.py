"""One run of the workflow, from the command line to the last line on standard error."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from snakemake.logging import logger

from foldshift.core.errors import FoldshiftError
from foldshift.core.files import sweep, write_text
from foldshift.engine.config.command_line import check_arguments, check_targets, named_studies
from foldshift.engine.config.paper_target import FILES, PAPER, is_paper
from foldshift.engine.config.read import located
from foldshift.engine.config.runs import configure
from foldshift.engine.costs.machine_speed import pace
from foldshift.engine.costs.plan import RECORD, Recorder, in_a_list, plan_text
from foldshift.engine.costs.progress import LastWords, Progress
from foldshift.engine.jobs.code_digest import expose
from foldshift.engine.jobs.failure_summary import lost_fits, lost_rows
from foldshift.engine.jobs.run_job import LEADER, RERUN, SHOWN, rerun_command
from foldshift.engine.jobs.s3_patch import ask_less
from foldshift.engine.jobs.slurm_patch import shorten_log_folders
from foldshift.engine.layout.labels import add_record, add_units, forgotten, record_file, units_file
from foldshift.engine.rules import snakemake_internals as internals
from foldshift.engine.rules.rule_functions import RuleFunctions, rule_descriptions
from foldshift.engine.rules.run_lock import recorded_lock
from foldshift.engine.rules.short_output import TerminalChoice, failure_lines, result_lines
from foldshift.engine.rules.stopping import IGNORED_BY_JOBS, STOPPING
from foldshift.engine.storage.checksums import ChecksumRecorder
from foldshift.engine.study.report_facts import absent_studies, page_of
from foldshift.engine.study.run import own_study_folders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from foldshift.engine.config.runs import Configured
    from foldshift.engine.study.declare import OutputGroup
    from foldshift.engine.study.run import Run

Result = TypeVar("Result")


def or_end(function: Callable[..., Result], *arguments: Any) -> Result:
    """Return what a function returns; a user's mistake ends the process with one line, before anything is planned."""
    try:
        return function(*arguments)
    except FoldshiftError as error:
        end(error)


def end(error: FoldshiftError) -> NoReturn:
    """End the process with the line of a user's mistake."""
    sys.exit(f"foldshift: {error}")


class Session:
    """State of a run: its configuration, which becomes the resolved one in `config`, the functions of its rules, its progress."""

    def __init__(self, workflow: Any, config: dict[str, Any], root: Path) -> None:
        self._workflow, self._root, self._progress = workflow, root, Progress()
        self.has_storage = internals.storage_name(workflow) is not None
        self.cores = internals.n_cores(workflow)
        # Where another workflow uses this one as a module, the command line is not about this one.
        is_own = root in internals.main_snakefile(workflow).parents
        self.is_main = internals.is_main_process(workflow) and is_own
        # Jobs run the library of this clone, whatever else is installed, and find user-defined modules in the working directory.
        # An unpacked archive lies in the working directory: nothing there is code.
        here = () if config.get("archived") else (Path.cwd(),)
        expose(root / "src", *here)
        if self.is_main:
            STOPPING.listen(sys.argv)
            STOPPING.progress = self._progress.words
            internals.choose_output(logger, STOPPING.shows)
            internals.keep_ctrl_c_from_jobs(IGNORED_BY_JOBS)
            self._tell(internals.guard_lock(self._lock))
            or_end(check_arguments, sys.argv)
        self._targets = internals.targets_of(sys.argv) if self.is_main else []
        if or_end(is_paper, self._targets):
            internals.add_configfiles(workflow, config, [located(file, root) for file in FILES])
        if is_own:
            internals.type_settings(workflow, config)
        self._shown = TerminalChoice()
        self._tell(internals.patch_storage(workflow, ask_less), internals.patch_slurm(shorten_log_folders))
        configured = or_end(configure, config, root, self._targets, not self.has_storage)
        if self.is_main:
            self._warn(configured)
        self.functions = RuleFunctions(configured, root, self.has_storage)
        self.runs: dict[str, Run] = configured.runs
        self.titles = configured.titles
        self.works = next(iter(self.runs.values())).costs.works  # what `pace` compares this machine with
        expose(root / "src", *here, *own_study_folders(self.runs.values()))
        config.clear()
        config.update(configured.config)
        self.config = config
        self._tell_jobs()
        self._add_handlers()

    def _warn(self, configured: Configured) -> None:
        """Log what the configuration passes over, and results that Snakemake has no record of."""
        notes = list(configured.notes)
        if not self.has_storage and not configured.config["archived"]:
            notes += filter(None, [forgotten(configured.config["results"], configured.runs)])
        self._tell(*notes)

    def _tell(self, *notes: str | None) -> None:
        """Log notes, once for a run: its jobs are quiet."""
        for note in filter(None, notes if self.is_main else ()):
            logger.warning(f"foldshift: note: {note}")

    def _tell_jobs(self) -> None:
        """Set the environment variables that jobs read."""
        os.environ[LEADER] = str(os.getpid())  # on a cluster every node has a Snakemake of its own
        if not internals.is_main_process(self._workflow):
            return
        files, settings = internals.command_line_config(self._workflow)
        snakefile = internals.main_snakefile(self._workflow)
        os.environ[RERUN] = rerun_command(snakefile, Path.cwd(), files, settings, self._root / "profiles/default")
        if internals.shows_failed_logs(self._workflow):  # else jobs speak on their own
            os.environ[SHOWN] = "1"

    def _add_handlers(self) -> None:
        """Choose what the terminal shows of the log of Snakemake, and follow it where Snakemake says or asks nothing itself."""
        handlers: list[logging.Handler] = []
        if self.is_main and internals.is_short(self._workflow):
            internals.choose_output(logger, self._shown)
            handlers.append(_WhenDone(self._say_results))
        if self.is_main and internals.is_quiet(self._workflow):
            handlers.append(LastWords())
        if os.environ.get(RECORD) and internals.is_main_process(self._workflow):
            handlers.append(Recorder(os.environ[RECORD]))
        for handler in handlers:
            logger.addHandler(handler)

    @contextlib.contextmanager
    def _lock(self, folder: Path, locked: Callable[[], bool], clear: Callable[[], None]) -> Iterator[None]:
        """Hold the lock of the folder, or end with a line that says who holds it."""
        held = recorded_lock(folder, STOPPING.command, locked, clear, lambda text: self._progress.say(f"foldshift: {text}"))
        with contextlib.ExitStack() as stack:
            or_end(stack.enter_context, held)
            yield

    def path_in_jobs(self, key: str) -> str:
        """Folder of a key of the configuration, such as the results, as jobs see it."""
        return internals.path_in_jobs(self._workflow, self.config[key])

    def finish_rules(self) -> None:
        """Describe the rules for ``snakemake --list`` and refuse targets that no rule makes: called once all rules are there."""
        internals.describe_rules(self._workflow, rule_descriptions(self.runs, _without_wildcards))
        results = self.config["results"]
        or_end(
            check_targets,
            self._targets,
            [*internals.target_rules(self._workflow), *self.functions.item_targets()],
            lambda: [path.replace("<results>", results) for run in self.runs.values() for path in run.outputs()],
            lambda file: internals.is_made(self._workflow, file),
        )

    def named_items(self) -> dict[str, list[str]]:
        """Tables and figures that the command asks for by ``<study>_<name>``: a rule is made for these alone."""
        return {name: files for name, files in self.functions.item_targets().items() if name in self._targets}

    def rule_of_items(self, run: Run, group: OutputGroup) -> str:
        """Name of the rule that makes a group of items: another one where the command asks for a single item by that name."""
        name = f"{run.id}_{group.name}"
        return f"{name}_and_others" if name in self.named_items() else name

    # The run

    def begin(self, log: Sequence[str] = ()) -> None:
        """Clear what a killed run left half-written, and report from now on how far this run is; `log`: Snakemake's log files."""
        or_end(self._clear)
        self._tell(internals.stop_rate_limiter(self._workflow))
        here, dag = internals.runs_locally(self._workflow), internals.inside(self._workflow, "dag")
        factor = pace(self.works) if here else 1.0
        before = internals.jobs_done_before(dag, factor) if here else ()
        jobs = internals.jobs_to_run(dag, factor)
        if not self.has_storage:
            logger.addHandler(ChecksumRecorder(self.config["results"], internals.outputs_to_make(self._workflow)))
        self._progress.start(jobs, self.cores if here else None, logger, before)
        if self.is_main and PAPER in self._targets:
            self._progress.say(f"\n{self._plan(dag, factor)}\n")
        if len(jobs) > 1:
            self._progress.say(f"{self._progress.first_line()}; every job: --verbose, and {' '.join(map(_near, log))}")
        self._shown.running = True
        if self.is_main:
            STOPPING.listen(sys.argv)  # Snakemake's scheduler has a handler of its own for SIGTERM

    def _clear(self) -> None:
        """Clear what a killed run left half-written, and write what this run begins with."""
        folders = [self.config["results"], self.config["resources"]]
        if self.has_storage:
            folders.append(internals.local_storage_prefix(self._workflow))
        for folder in folders:
            sweep(folder)
        records = [layout.record() for layout in self.functions.layouts.values()]
        add_record(record_file(self.config["results"]), records)
        united = {study: layout.units.members for study, layout in self.functions.layouts.items()}
        add_units(units_file(self.config["results"]), united)
        write_text(self._front_file(), self._front_text())

    def _plan(self, dag: Any, factor: float) -> str:
        """Format what the run will take, before anything is started."""
        everything, left = (in_a_list(find(dag)) for find in (internals.all_jobs, internals.jobs_to_run))
        reporting, unmeasured = self.functions.reporting_rules(), self.functions.unmeasured_learners()
        return plan_text(everything, left, reporting, unmeasured, self.cores or 1, factor)

    def end(self) -> None:
        """Report how the run ended, and which jobs failed; a run that was stopped says so in its last line."""
        if STOPPING.cause:
            return
        self._shown.running = False
        self._progress.end()
        for line in failure_lines(list(self._progress.failed.values())):
            self._progress.say(f"foldshift: {line}")

    def finish(self) -> None:
        """Report, after a run that went well, how it ended, which fits failed, and where the results are."""
        self.end()
        self._say_results()

    def _say_results(self) -> None:
        """Report which fits failed, and where the results are: also where nothing was left to do."""
        self._report_failures()
        rules, results = {job.rule.name for job in internals.planned_jobs(self._workflow)}, self.config["results"]
        named = [path for files in self.named_items().values() for path in files if path.endswith(".html")]
        named = [path.replace("<results>", results) for path in named]
        for line in result_lines(Path(results), self.runs.values(), rules, named):
            self._progress.say(f"foldshift: {line}")

    def _report_failures(self) -> None:
        """Report how many fits failed, why, and where they are listed."""
        jobs = internals.planned_jobs(self._workflow)
        ran = {job.rule.name for job in jobs}
        collected = {job.wildcards_dict["study"] for job in jobs if job.rule.name.endswith("collect_scores")}
        scored = [self.runs[study] for study in self.functions.layouts if study in collected]
        measured = [run for run in self.runs.values() if any(_made_rows(run, name) for name in ran)]
        for line in (*lost_fits(self.config["results"], scored), *lost_rows(self.config["results"], measured)):
            self._progress.say(f"foldshift: {line}")

    # The report

    @property
    def reported(self) -> list[str]:
        """Ids of the studies that the command makes: those of the index."""
        return named_studies(self._targets, self.runs)

    def report_pages(self, run: Run) -> list[str]:
        """Pages that the target of a study makes: its own and, unless another workflow names the targets, the index.

        None in archived mode, which makes what an archive is compared by.
        """
        if self.config["archived"]:
            return []
        return [page_of(run), *(["<results>/index.html"] if self.is_main else [])]

    def pages_of_earlier_runs(self) -> list[str]:
        """Pages of studies that the command leaves out, where earlier runs made them."""
        if self.has_storage:
            return []
        pages = [page_of(run) for study, run in self.runs.items() if study not in self.reported]
        return [path for page in pages if Path(path := page.replace("<results>", self.config["results"])).exists()]

    def absent_studies(self) -> list[str]:
        """Lines on the studies that are not on the index, and why."""
        earlier = [Path(path).parent.name for path in self.pages_of_earlier_runs()]
        return absent_studies(self.runs, [*self.reported, *earlier], self.titles)

    # The front page of Snakemake's report

    def front_page(self) -> str:
        """Path of the front page; of its beginning, while nothing has run."""
        file = self._front_file().absolute()
        return str(file if file.exists() else self._root / "workflow/report/workflow.rst")

    def _front_file(self) -> Path:
        return Path(self.config["results"], "provenance", "front.rst")

    def _front_text(self) -> str:
        """Text of the front page, from the summaries of the studies."""
        first = (self._root / "workflow/report/workflow.rst").read_text(encoding="utf-8")
        return "\n\n".join([first.strip(), *map(_front_paragraph, self.runs.values())]) + "\n"


class _WhenDone(logging.Handler):
    """Log handler that calls a function where there is nothing to do: no handler of the workflow is called then."""

    def __init__(self, function: Callable[[], None]) -> None:
        super().__init__()
        self._function = function

    def emit(self, record: logging.LogRecord) -> None:
        """Call the function; ignore everything else that is logged."""
        if internals.is_nothing_to_do(record):
            self._function()


def _near(path: str) -> str:
    """Path as seen from the working directory, where it is below it."""
    file = Path(path)
    return str(file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file)


def _made_rows(run: Run, rule: str) -> bool:
    """Return True if a rule makes rows of a study; another workflow may have put a prefix in front of its name."""
    return any(rule.endswith(f"{run.id}_{measure.name}") for measure in run.measures())


def _front_paragraph(run: Run) -> str:
    """Question of one study, for a report that has results of it: a study that the command leaves out has no category there."""
    words = f"*{run.found.title}* {run.found.summary}"
    condition = f"{run.found.title!r} in categories|map(attribute='name')"
    return f"{{% if {condition} %}}{{% raw %}}\n{words}\n{{% endraw %}}{{% endif %}}"


def _without_wildcards(message: str) -> str:
    """A message with the names of wildcards in capitals in place of their values."""
    return re.sub(r"{(\w+)}", lambda word: word[1].upper(), message)
