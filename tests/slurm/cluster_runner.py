"""Runs on the cluster that `slurm_cluster.sh` starts: through the profile, by SLURM's own books, with what may happen to nodes
and jobs."""

import copy
import getpass
import os
import re
import subprocess
import time
from typing import NamedTuple

from crash_runner import wait_until
from foldshift.engine.study.find import find_studies
from workflow_runner import ROOT, TINY, TINY_CLASSES

SCRIPT = ROOT / "tests/slurm_cluster.sh"
REGRESSION = copy.deepcopy(TINY) | {"seeds_per_block": 2}
REGRESSION["studies"]["saez_2022"] |= {"datasets": ["steps"], "learners": ["NN"], "n_seeds": 4}
TABLES = tuple(f"results/saez_2022/tables/{name}.csv" for name in ("table4_dn", "table5_error"))  # they rest on every job
# Every rule of both studies, with few jobs: one costs five seconds of a core on its way through SLURM.
BOTH = copy.deepcopy(REGRESSION)
BOTH["studies"]["moreno_torres_2012"] = copy.deepcopy(TINY_CLASSES["studies"]["moreno_torres_2012"]) | {
    "datasets": ["iris"],
    "partitioners": ["SCV", "DOB-SCV"],
    "learners": ["1NN", "LDA"],
    "schemes": ["3x1"],
    "n_truth": 4,
    "seeds_per_block": 4,
    # So many that the names of a job that is submitted alone are together longer than a file system allows.
    "ablation": {"n_seeds": 2, "schemes": ["3x1"], "metrics": ["heom", "euclidean"], "rules": ["balanced", "keel"]},
    "held_out": {"populations": ["twonorm"], "n_sample": 60, "n_replicates": 3, "n_parts": 2},
}
# What a test cannot wait for; all else is the profile as users have it.
IMPATIENT = ("--slurm-init-seconds-before-status-checks", "5", "--latency-wait", "10")


class Record(NamedTuple):
    """One job in SLURM's own books."""

    job: str
    state: str
    node: str
    rule: str


def _rule(comment):
    return re.sub(r"_wildcards_.*", "", comment).removeprefix("rule_")


def _command(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout


class Cluster:
    """The cluster: runs through the profile, what SLURM says of them, and what may happen to a node or job."""

    def run(self, workflow, *arguments, **keywords):
        """A whole run through the profile."""
        return workflow(*arguments, *IMPATIENT, cores=None, profile="slurm", **keywords)

    def start(self, workflow, log, *arguments, **keywords):
        """The same in the background, with the cluster to itself."""
        _command("scancel", f"--user={getpass.getuser()}")
        wait_until(lambda: not _command("squeue", "--noheader"), 60, "an empty queue")
        return workflow.start(log, *arguments, *IMPATIENT, cores=None, profile="slurm", **keywords)

    def now(self):
        """Jobs that are running."""
        lines = _command("squeue", "--noheader", "--states=RUNNING", "--format=%i|%T|%N|%k").splitlines()
        return [Record(job, state, node, _rule(comment)) for job, state, node, comment in (line.split("|") for line in lines)]

    def wait_for(self, rule, run, but=None):
        """Wait until a job of a rule is running, but for the one with that number; give all that are."""
        found = []

        def running():
            found[:] = [job for job in self.now() if job.rule == rule and job.job != but]
            assert run.poll() is None, "the run ended before the test could harm it"
            return found

        wait_until(running, 240, f"a running job of {rule}")
        return found

    def records(self, text):
        """All jobs of a run, requeued ones each time, by what Snakemake said of the run's name."""
        (name,) = re.findall(r"^SLURM run ID: (\S+)", text, re.MULTILINE)
        columns = "--format=JobID,State,NodeList,Comment"
        for _ in range(50):  # the books are a few seconds behind
            lines = _command("sacct", "--duplicates", "-X", "--parsable2", "--noheader", columns, f"--name={name}").splitlines()
            records = [
                Record(job, state.split()[0], node, _rule(comment))
                for job, state, node, comment in (line.split("|", 3) for line in lines)
            ]
            if records and not {"PENDING", "RUNNING", "REQUEUED"} & {record.state for record in records}:
                break
            time.sleep(0.2)
        return records

    def node(self, action, name):
        """`crash` or `revive` a node."""
        subprocess.run([SCRIPT, action, name], check=True, timeout=120)

    def kill_processes(self, job, script):
        """SIGKILL to the processes of a job that run a script; their number."""
        n_killed = 0
        for folder in [name for name in os.listdir("/proc") if name.isdigit()]:
            try:
                with open(f"/proc/{folder}/environ", "rb") as file:
                    ours = f"SLURM_JOB_ID={job}".encode() in file.read().split(b"\0")
                with open(f"/proc/{folder}/cmdline", "rb") as file:
                    ours = ours and re.search(rb"\.snakemake/scripts/\S*" + script.encode(), file.read())
                if ours:
                    os.kill(int(folder), 9)
                    n_killed += 1
            except OSError:  # it is gone, or not ours to look at
                continue
        return n_killed


def local_rules():
    """Names of the rules that run where Snakemake runs: those that are written down, and those made from declarations."""
    files = [
        ROOT / "workflow/Snakefile",
        *(file for part in ("workflow", "src") for file in sorted((ROOT / part).rglob("*.smk"))),
    ]
    rules = [part for file in files for part in re.split(r"^\s*rule ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]]
    written = {rule.partition(":")[0] for rule in rules if re.search(r"^\s+localrule: True", rule, re.MULTILINE)}
    studies = find_studies()
    made = {f"{name}_{items.name}" for name, study in studies.items() for items in study.declaration().items if items.local}
    return {*written, *studies, *made, *(f"{name}_published" for name in studies)}
