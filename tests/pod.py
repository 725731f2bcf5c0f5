"""A stand-in for a cluster without a shared file system: every job in an empty folder of its own, as in a pod.

python tests/pod.py submit FOLDER JOBSCRIPT    starts a job, prints its number
python tests/pod.py status FOLDER NUMBER       running, success or failed
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path


def submit(folder, script):
    """Run a script in a new folder, in the background; a file there tells its end."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    pod = Path(tempfile.mkdtemp(prefix="pod-", dir=folder))
    (pod / "job.sh").write_bytes(Path(script).read_bytes())
    (pod / "work").mkdir()
    # A pod knows nothing of its leader; its image has the same Python.
    env = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": os.environ["HOME"]}
    command = "cd work; sh ../job.sh >../said 2>&1; echo $? >../status"
    nowhere = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    subprocess.Popen(["sh", "-c", command], cwd=pod, env=env, **nowhere)
    print(pod.name)


def status(folder, pod):
    """Print how a job is."""
    file = Path(folder, pod, "status")
    code = file.read_text().strip() if file.exists() else ""
    print({"": "running", "0": "success"}.get(code, "failed"))


if __name__ == "__main__":
    {"submit": submit, "status": status}[sys.argv[1]](*sys.argv[2:])
