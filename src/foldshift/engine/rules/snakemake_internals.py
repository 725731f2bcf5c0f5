"""Everything that reaches into Snakemake beyond its documented interface: one function for each need.

Snakemake does not promise to keep these names. Each of them is listed in `PATHS`, a test looks for each in the installed version,
and where one is missing the user reads a line instead of a traceback.
"""

from __future__ import annotations

import contextlib
import copy
import io
import logging
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldshift.core.errors import FoldshiftError
from foldshift.engine.config.yaml_files import typed
from foldshift.engine.costs.plan import Job
from foldshift.engine.costs.timings import Ended, ended_jobs
from foldshift.engine.jobs.foreign_names import changed, left_alone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

TESTED = "9.27"  # the newest Snakemake that these names were tested with
PATHS = (
    "is_main_process",
    "main_snakefile",
    "storage_settings.default_storage_provider",
    "storage_settings.default_storage_prefix",
    "storage_settings.local_storage_prefix",
    "storage_registry",
    "config_settings.configfiles",
    "config_settings.config_args",
    "config_settings.config",
    "config_settings.overwrite_config",
    "output_settings.quiet",
    "output_settings.verbose",
    "output_settings.dryrun",
    "output_settings.show_failed_logs",
    "resource_settings.cores",
    "modifier.path_modifier",
    "rules",
    "local_exec",
)  # of a workflow that has been read; the paths of a workflow that runs are those of `RUNNING_PATHS`
TERMINAL = "DefaultStreamHandler"  # name of the log handler of the terminal
RUNNING_PATHS = ("dag.jobs", "dag.dependencies", "scheduler", "scheduler.job_rate_limiter")
LOCK = {"lock": ("self",), "cleanup_locks": ("self",), "locked": None, "path": None}  # of the class that holds it


class MissingInternalError(FoldshiftError):
    """The installed Snakemake lacks a name that foldshift uses."""


def inside(workflow: Any, path: str) -> Any:
    """Return the object at a dotted path below a workflow."""
    found = workflow
    for name in path.split("."):
        try:
            found = getattr(found, name)
        except AttributeError as error:
            raise MissingInternalError(
                f"Snakemake {version('snakemake')} has no `workflow.{path}`, which foldshift uses; it was tested with Snakemake "
                f"{TESTED}: pip install 'snakemake=={TESTED}.*'"
            ) from error
    return found


def is_main_process(workflow: Any) -> bool:
    """Return True if this process was started by the user, and not by another Snakemake for one job."""
    return bool(inside(workflow, "is_main_process"))


def main_snakefile(workflow: Any) -> Path:
    """Path of the Snakefile that was named or found: that of another workflow where it uses this one as a module."""
    return Path(str(inside(workflow, "main_snakefile")))


def storage_name(workflow: Any) -> str | None:
    """Name of the storage provider that holds inputs and outputs, such as ``s3``; None for plain folders."""
    return inside(workflow, "storage_settings.default_storage_provider")


def local_storage_prefix(workflow: Any) -> str:
    """Folder of the local copies of stored files."""
    return str(inside(workflow, "storage_settings.local_storage_prefix"))


def path_in_jobs(workflow: Any, path: str) -> str:
    """Path of a file as jobs see it: below the local copies where a storage is used."""
    return str(inside(workflow, "modifier.path_modifier").apply_default_storage(path))


def command_line_config(workflow: Any) -> tuple[list[Any], tuple[str, ...]]:
    """Configuration files and settings of the command line."""
    return inside(workflow, "config_settings.configfiles"), inside(workflow, "config_settings.config_args") or ()


def type_settings(workflow: Any, config: dict[str, Any]) -> None:
    """Give the lists and mappings of `--config` the types of YAML, in place: Snakemake reads what is inside them as text."""
    from snakemake.utils import update_config

    settings = inside(workflow, "config_settings.config") or {}
    update_config(config, {key: typed(value) for key, value in settings.items() if isinstance(value, list | dict)})


def add_configfiles(workflow: Any, config: dict[str, Any], files: Sequence[Path]) -> None:
    """Read configuration files as if they were named on the command line before all others; `config` is changed in place.

    Jobs in processes of their own get the files with Snakemake's own options.
    """
    from snakemake.common.configfile import load_configfile
    from snakemake.utils import update_config

    settings = inside(workflow, "config_settings")
    merged: dict[str, Any] = {}
    given = list(inside(workflow, "config_settings.configfiles"))
    settings.configfiles = [*(file.absolute() for file in files if file.absolute() not in given), *given]
    for file in settings.configfiles:
        update_config(merged, load_configfile(file))
    update_config(merged, inside(workflow, "config_settings.config") or {})
    settings.overwrite_config = merged
    config.clear()
    config.update(copy.deepcopy(merged))


def n_cores(workflow: Any) -> int | None:
    """Cores of this machine that jobs may use; None on a cluster, where `workflow.cores` would raise."""
    return inside(workflow, "resource_settings.cores")


def is_quiet(workflow: Any) -> bool:
    """Return True if Snakemake was told to be quiet about everything, also about what ends a run."""
    return any(one.name == "ALL" for one in inside(workflow, "output_settings.quiet") or ())


def is_short(workflow: Any) -> bool:
    """Return True if the terminal need not show a line for every job: not with ``--verbose``, and not in a dry run."""
    return not (inside(workflow, "output_settings.verbose") or inside(workflow, "output_settings.dryrun"))


def choose_output(logger: logging.Logger, shown: Callable[[logging.LogRecord], bool]) -> bool:
    """Show on the terminal only the records that a function chooses; the log file keeps all.

    ``quiet`` in a profile keeps records from both, those of failed jobs among them (Snakemake 9.27). False where a logger plugin
    writes to the terminal in Snakemake's place: it chooses by itself.
    """
    handlers = [handler for handler in logger.handlers if handler.get_name() == TERMINAL]
    for handler in handlers:
        handler.addFilter(shown)
    return bool(handlers)


def is_nothing_to_do(record: logging.LogRecord) -> bool:
    """Return True if Snakemake logs that all results are there: then it calls no handler of the workflow."""
    from snakemake.common import NOTHING_TO_BE_DONE_MSG

    return record.msg == NOTHING_TO_BE_DONE_MSG


def shows_failed_logs(workflow: Any) -> bool:
    """Return True if Snakemake prints the log of a failed job; with ``--quiet all`` it keeps logs to itself."""
    return bool(inside(workflow, "output_settings.show_failed_logs")) and not is_quiet(workflow)


def runs_locally(workflow: Any) -> bool:
    """Return True if jobs run on this machine."""
    return bool(inside(workflow, "local_exec"))


def patch_storage(workflow: Any, reduce_calls: Callable[[type, type, str], str | None]) -> str | None:
    """Change the class of stored objects of the S3 plugin, where it is in use; see `foldshift.engine.jobs.s3_patch`.

    The line on a plugin that cannot be changed is returned.
    """
    if storage_name(workflow) != "s3":
        return None
    from snakemake_interface_storage_plugins.io import Mtime

    objects = inside(workflow, "storage_registry").default_storage_provider.get_storage_object_cls()
    return reduce_calls(objects, Mtime, inside(workflow, "storage_settings.default_storage_prefix") or "")


def patch_slurm(shorten: Callable[[Any], str | None]) -> str | None:
    """Change the SLURM plugin, where it is loaded; see `foldshift.engine.jobs.slurm_patch`.

    The line on a plugin that cannot be changed is returned.
    """
    plugin = sys.modules.get("snakemake_executor_plugin_slurm")
    return None if plugin is None else shorten(plugin)


def stop_rate_limiter(workflow: Any) -> str | None:
    """Remove the rate limiter of the scheduler, or return the line on a Snakemake that has none.

    Every timer of it starts another one, more with every job. Soon the scheduler would do nothing else, and with a long time span
    in ``max-jobs-per-timespan`` the process would wait for them at its end. The command line knows limits, but not the lack of
    one, and when a Snakefile is read the settings of the scheduler are not there yet (Snakemake 9.27).
    """
    scheduler = inside(workflow, "scheduler")
    if not hasattr(scheduler, "job_rate_limiter"):
        reason = "workflow.scheduler has no job_rate_limiter"
        return left_alone("snakemake", f"{TESTED}.*", reason, "Its limit of jobs per second may slow down a run of many jobs.")
    scheduler.job_rate_limiter = None
    return None


def targets_of(arguments: list[str]) -> list[str]:
    """Targets of a command line, program first, as Snakemake itself reads it; none where the program is another one."""
    if Path(arguments[0]).name not in ("snakemake", "snakemake.exe", "__main__.py"):
        return []
    from snakemake.cli import parse_args

    with contextlib.suppress(SystemExit), contextlib.redirect_stderr(io.StringIO()):
        return list(parse_args(list(arguments[1:]))[1].targets)
    return []


def target_rules(workflow: Any) -> list[str]:
    """Names of the rules that can be targets."""
    return [one.name for one in inside(workflow, "rules") if not one.has_wildcards()]


def is_made(workflow: Any, file: str) -> bool:
    """Return True if a rule makes a file."""
    return any(one.is_producer(file) for one in inside(workflow, "rules"))


def guard_lock(guard: Callable[[Path, Callable[[], bool], Callable[[], None]], AbstractContextManager[None]]) -> str | None:
    """Hold Snakemake's lock of the folder inside a context manager, which gets Snakemake's folder and how to ask for and clear
    the lock.

    The line on a Snakemake that cannot be changed is returned.
    """
    from snakemake.persistence import PersistenceBase

    if reason := changed(PersistenceBase, LOCK):
        effect = "A lock that a killed run left stays: snakemake --unlock."
        return left_alone("snakemake", f"{TESTED}.*", reason, effect)
    lock = PersistenceBase.lock

    def clear(persistence: Any) -> None:
        persistence.cleanup_locks()
        if folder := getattr(
            persistence, "_lockdir", None
        ):  # Snakemake deletes it, and makes it before it asks for the lock alone
            Path(folder).mkdir(exist_ok=True)

    @contextlib.contextmanager
    def guarded(persistence: Any) -> Iterator[None]:
        with guard(persistence.path, lambda: persistence.locked, lambda: clear(persistence)), lock(persistence):
            yield

    PersistenceBase.lock = guarded
    return None


def keep_ctrl_c_from_jobs(prefix: str) -> None:
    """Put a prefix before the commands of all jobs, if they run in bash."""
    from snakemake.shell import shell

    if Path(shell.get_executable() or "").name == "bash":
        shell.prefix(prefix)


def describe_rules(workflow: Any, descriptions: Mapping[str, str]) -> None:
    """Set the descriptions that ``snakemake --list`` shows, by name of the rule."""
    for one in inside(workflow, "rules"):
        if one.name in descriptions:
            one.docstring = descriptions[one.name]


def planned_jobs(workflow: Any) -> list[Any]:
    """All jobs of the graph, done or not."""
    return list(inside(workflow, "dag.jobs"))


def jobs_to_run(dag: Any, pace: float = 1.0) -> dict[int, Job]:
    """Jobs that are to run, by Snakemake's id, in an order in which they can run.

    `pace` is how much longer jobs take on this machine; see `foldshift.engine.costs.machine_speed`.
    """
    return _in_order(dag, set(dag.needrun_jobs()), pace)


def outputs_to_make(workflow: Any) -> dict[int, list[str]]:
    """Files that jobs are to make, by Snakemake's id."""
    return {job.jobid: [str(file) for file in job.output] for job in inside(workflow, "dag").needrun_jobs()}


def all_jobs(dag: Any) -> dict[int, Job]:
    """All jobs of the graph, done or not, as `jobs_to_run` gives those that are to run."""
    return _in_order(dag, set(dag.jobs), 1.0)


def _in_order(dag: Any, wanted: set[Any], pace: float) -> dict[int, Job]:
    """Jobs by id, each after those that it needs."""
    needs = {job: [one for one in dag.dependencies[job] if one in wanted] for job in wanted}
    found: dict[int, Job] = {}
    for first in sorted(wanted, key=lambda job: job.jobid):
        stack = [first]
        while stack:
            job = stack[-1]
            missing = [one for one in needs[job] if one.jobid not in found]
            if missing and job.jobid not in found:
                stack += missing
                continue
            stack.pop()
            if job.jobid not in found:
                found[job.jobid] = _as_planned(job, pace, tuple(one.jobid for one in needs[job]))
    return found


def _as_planned(job: Any, pace: float, needs: tuple[int, ...]) -> Job:
    """Facts of a job that the plan and the progress count."""
    seconds, mb, writes_mb = (float(job.resources.get(key, 0.0) or 0.0) for key in ("expected_s", "mem_mb", "writes_mb"))
    return Job(job.rule.name, pace * seconds, mb, writes_mb, needs, str(next(iter(job.output), "")), str(job.benchmark or ""))


def jobs_done_before(dag: Any, pace: float = 1.0) -> list[Ended]:
    """Jobs that an earlier run did and timed, of those that this run needs; `pace` as for `jobs_to_run`."""
    done = set(dag.jobs) - set(dag.needrun_jobs())
    return ended_jobs([_as_planned(job, 1.0, ()) for job in done if job.benchmark], pace)
