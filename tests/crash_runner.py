"""Kill a run with SIGKILL at random moments, resume it, and compare what comes out with a run that nobody killed.

    python tests/crash_runner.py [KILLS] [SEED]

kills KILLS runs (default 10) together with all their jobs, and as many runs with Snakemake alone, whose jobs go on writing.
"""

import contextlib
import copy
import os
import random
import re
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from workflow_runner import TINY, Workflow

SMALL = copy.deepcopy(TINY) | {"seeds_per_block": 2}
SMALL["studies"]["saez_2022"] |= {"datasets": ["steps"], "learners": ["NN"], "n_seeds": 6}
SECONDS_OF_A_JOB = 2.0


class Crash(NamedTuple):
    """What a kill cost.

    Attributes
    ----------
    n_jobs : int
        Jobs of the whole run.
    n_finished : int
        Those that were finished at the kill.
    n_resumed : int
        Jobs of the run after the kill.
    """

    n_jobs: int
    n_finished: int
    n_resumed: int

    @property
    def n_redone(self):
        """Jobs that were finished and ran again nevertheless."""
        return self.n_finished + self.n_resumed - self.n_jobs

    def __str__(self):
        resumed = f"resumed with {self.n_resumed}, finished jobs redone: {self.n_redone}"
        return f"killed after {self.n_finished} of {self.n_jobs} jobs; {resumed}"


def finished_jobs(log):
    """Jobs that a run has finished, by what it says.

    Parameters
    ----------
    log : path-like
        Output of Snakemake.

    Returns
    -------
    n_finished : int
        -1 before the first job starts.
    """
    text = Path(log).read_text(encoding="utf-8", errors="replace")
    return (
        len(re.findall(r"^Finished jobid: ", text, re.MULTILINE)) if re.search(r"^Execute \d+ jobs", text, re.MULTILINE) else -1
    )


def planned_jobs(text):
    """Number of jobs that a run planned, from what Snakemake says; 0 when there was nothing to do."""
    found = re.search(r"^total\s+(\d+)\s*$", text, re.MULTILINE)
    return int(found[1]) if found else 0


def wait_until(condition, seconds, what):
    """Poll until a condition holds.

    Parameters
    ----------
    condition : callable
        Without arguments.
    seconds : float
        How long to wait at most.
    what : str
        What is waited for.

    Raises
    ------
    TimeoutError
        If it does not hold in time.
    """
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: not within {seconds:g} s")
        time.sleep(0.02)


def kill_run(run, with_jobs):
    """SIGKILL a run that `Workflow.start` began.

    Parameters
    ----------
    run : subprocess.Popen
        Leader of its process group.
    with_jobs : bool
        Kill the whole group, or else Snakemake alone.
    """
    if with_jobs:
        end_group(run)
    else:
        os.kill(run.pid, signal.SIGKILL)
    run.wait()


def end_group(run):
    """Kill whatever is left of the process group of a run."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(run.pid, signal.SIGKILL)


def group_lives(run):
    """Whether any process of a run's group is left."""
    try:
        os.killpg(run.pid, 0)
    except ProcessLookupError:
        return False
    return True


def crash_and_resume(workflow, n_finished, delay, with_jobs, targets=None):
    """Kill a run some time after a number of jobs is finished, and resume it at once.

    Parameters
    ----------
    workflow : Workflow
        In a folder where nothing has run yet.
    n_finished : int
        Finished jobs to wait for.
    delay : float
        Seconds to wait then.
    with_jobs : bool
        Kill the jobs too. Otherwise they go on writing while the resumed run does the same work.
    targets : sequence of str, optional
        Files to make; the whole study without them.

    Returns
    -------
    crash : Crash
    """
    log = workflow.folder / "killed.log"
    run = workflow.start(log, "--verbose", targets=targets)  # which says what every job does
    try:
        wait_until(lambda: finished_jobs(log) >= n_finished or run.poll() is not None, 600, f"{n_finished} finished jobs")
        time.sleep(delay)
        kill_run(run, with_jobs)
        done = workflow("--verbose", targets=targets, check=True)
        # Orphans have long lost the race; they must be gone before anybody looks for what they leave behind.
        wait_until(lambda: not group_lives(run), 120, "end of the orphans")
    finally:
        end_group(run)
    killed = log.read_text(encoding="utf-8", errors="replace")
    return Crash(planned_jobs(killed), finished_jobs(log), planned_jobs(done.stdout + done.stderr))


def moments(n_kills, n_jobs, seed):
    """Random moments of kills, one in each part of the run: finished jobs to wait for, and seconds after that."""
    rng = random.Random(seed)
    return [(int((part + rng.random()) / n_kills * (n_jobs - 1)), rng.uniform(0, SECONDS_OF_A_JOB)) for part in range(n_kills)]


def temporaries(folder):
    """Hidden files below a folder: what a killed job may leave behind."""
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob(".*") if ".snakemake" not in path.parts)


def main(n_kills=10, seed=1):
    """Kill, resume and compare; one line per kill. Returns the number of runs that ended with other bytes."""
    n_bad = 0
    with tempfile.TemporaryDirectory() as folder:
        reference = Workflow(Path(folder) / "reference", SMALL)
        n_jobs = planned_jobs(reference("--verbose", check=True).stderr)
        for with_jobs in (True, False):
            for number, (n_finished, delay) in enumerate(moments(n_kills, n_jobs, seed + with_jobs)):
                workflow = Workflow(Path(folder) / f"{'group' if with_jobs else 'alone'}-{number}", SMALL)
                crash = crash_and_resume(workflow, n_finished, delay, with_jobs)
                same = workflow.tables() == reference.tables()
                n_bad += not same
                kind = "with its jobs" if with_jobs else "alone"
                print(
                    f"Snakemake {kind}: {crash}; {'same bytes' if same else 'OTHER BYTES'}; left behind: "
                    f"{temporaries(workflow.folder) or 'nothing'}",
                    flush=True,
                )
    return n_bad


if __name__ == "__main__":
    sys.exit(min(main(*map(int, sys.argv[1:3])), 1))
