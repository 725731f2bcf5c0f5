"""Run the workflow in a folder of its own."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
# The smallest that every study has: its settings are in study.yaml.
TINY = {"scale": "test", "seeds_per_block": 100, "studies": {"saez_2022": {}}}
TINY_CLASSES = {"scale": "test", "studies": {"moreno_torres_2012": {}}}
TINY_SOURCES = {"scale": "test", "studies": {"geras_2013": {}}}
TINY_INFERENCE = {"scale": "test", "studies": {"wong_2015": {}}}
TINY_MONITORING = {"scale": "test", "studies": {"cieslak_2009": {}}}
TINY_HONESTY = {"scale": "test", "studies": {"foldshift_2026": {}}}
TINY_ADVICE = {"scale": "test", "studies": {"advice": {}}}


class Workflow:
    """The workflow with its own working directory and configuration."""

    def __init__(self, folder, config=TINY, root=ROOT):
        self.folder, self.root = folder, root
        (self.study,) = config["studies"] if len(config["studies"]) == 1 else (None,)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "my.yaml").write_text(yaml.safe_dump(config))

    def command(self, *arguments, config=(), cores=2, targets=None, profile="default"):
        """Command line of a run; `cores=None` leaves the number of jobs to the profile."""
        targets = (self.study or "all",) if targets is None else targets
        command = [str(Path(sys.executable).with_name("snakemake")), *targets, "--snakefile", str(self.root / "Snakefile")]
        command += ["--workflow-profile", str(self.root / "profiles" / profile), "--directory", str(self.folder)]
        command += [] if cores is None else ["--cores", str(cores)]
        return [*command, "--configfile", str(self.folder / "my.yaml"), *(["--config", *config] if config else []), *arguments]

    def __call__(self, *arguments, env=None, check=False, **keywords):
        command, environment = self.command(*arguments, **keywords), os.environ | {"PYTHONPATH": ""} | (env or {})
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=self.folder, timeout=1800)
        if check:
            assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
        return done

    def watched(self, *arguments, **keywords):
        """Run and look on: what every job loads of the library and of the user's own modules, and what its rule says that it
        rests on.

        Returns
        -------
        jobs : list of (str, str, set of str, set of str)
            Rule, first output, files loaded, files declared.
        """
        notes = self.folder / "watched.jsonl"
        env = {"FOLDSHIFT_WATCH": str(notes), "PYTHONPATH": str(ROOT / "tests/watch")}
        self(*arguments, env=env, check=True, **keywords)
        noted = [json.loads(line) for line in notes.read_text().splitlines()]
        files = {note["digest"]: note["files"] for note in noted if "digest" in note}
        jobs = {}
        for note in noted:
            if "digest" in note:
                continue
            loaded, declared = jobs.setdefault((note["rule"], note["output"]), (set(), set()))
            declared.update(files.get(note["code"], ()))
            place = f"{note['module'].replace('.', '/')}.py"
            loaded.update(str(folder / place) for folder in (self.root / "src", self.folder) if (folder / place).is_file())
        return [(*job, *files) for job, files in jobs.items()]

    def start(self, log, *arguments, env=None, **keywords):
        """A run in the background and in a session of its own; what it says goes to the file `log`."""
        command, environment = self.command(*arguments, **keywords), os.environ | {"PYTHONPATH": ""} | (env or {})
        with open(log, "wb") as file:
            return subprocess.Popen(
                command, stdout=file, stderr=subprocess.STDOUT, env=environment, cwd=self.folder, start_new_session=True
            )

    def plan(self, *arguments, **keywords):
        """Number of jobs of every rule that a run would do now."""
        done = self("--dry-run", *arguments, check=True, **keywords)
        text = done.stdout + done.stderr
        if "Nothing to be done" in text:
            return {}
        stats = text.split("Job stats:")[1].split("total")[0]
        return {name: int(n) for name, n in re.findall(r"^(\w+)\s+(\d+)\s*$", stats, re.MULTILINE)}

    def tables(self, results="results"):
        """Bytes of every table and figure of the study (or of all, where there are several), by name."""
        base = self.folder / results / (self.study or "")
        patterns = ("tables/*", "figures/*", "paper_vs_ours.*")
        files = [path for pattern in patterns for path in base.glob(pattern if self.study else f"*/{pattern}")]
        return {str(path.relative_to(base)): path.read_bytes() for path in sorted(files)}
