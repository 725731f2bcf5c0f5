"""The same piece of work at an earlier commit and now: what the comparing tools share."""

import contextlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@contextlib.contextmanager
def sources_of(commit):
    """Folders that the package is imported from at a commit, which gets a worktree for a while, and now."""
    with tempfile.TemporaryDirectory() as folder:
        before = Path(folder) / "before"
        subprocess.run(["git", "worktree", "add", "--detach", "--quiet", before, commit], cwd=ROOT, check=True)
        try:
            yield before / "src", ROOT / "src"
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", before], cwd=ROOT, check=True)


def run(source, tool, task):
    """What ``measure(task)`` of a tool returns, in a process that imports the package from a folder."""
    folders = [str(source), str(ROOT / "tools")]
    code = f"import sys; sys.path[:0] = {folders}; import {tool}, two_commits; two_commits.answer({tool}.measure)"
    task = task | {"source": str(source)}
    made = subprocess.run([sys.executable, "-c", code], input=json.dumps(task), capture_output=True, text=True, cwd=source.parent)
    if made.returncode:
        sys.exit(f"{source}: {made.stderr}")
    return json.loads(made.stdout.splitlines()[-1])


def answer(measure):
    """The other end of `run`."""
    import foldshift

    task = json.load(sys.stdin)
    if not foldshift.__file__.startswith(task["source"]):
        sys.exit(f"the package comes from {foldshift.__file__}, not from {task['source']}")
    print(json.dumps(measure(task)))
