"""OpenML through its own client, in a separate process.

The client sets no time limit on its requests and keeps settings and a log in the home folder. A separate process can be
stopped, and its folders can be chosen. The client only fetches; `foldshift.datasets.readers.formats` reads the files.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldshift.core.errors import SourceError
from foldshift.core.files import atomic_path, write_text
from foldshift.datasets.sources.download import UnreachableError, one_line

if TYPE_CHECKING:
    from foldshift.core.types import PathLike
    from foldshift.datasets.sources.download import Limits

_MEMORY = 4 * 2**30  # bytes; the client holds whole answers in memory, and an endless one must not exhaust the machine


def fetch_openml(
    identifier: int, folder: PathLike, *, server: str, limits: Limits, insecure_parquet: bool = False
) -> tuple[Path, dict[str, Any]]:
    """Fetch the file of one OpenML data set or take it from the cache; return its path and description.

    The description has ``target``, ``ignore`` (columns that are not inputs), ``licence`` and ``url``. The client gets parquet
    files without a checksum or encryption, so `insecure_parquet` requires that the caller knows the fingerprint.
    """
    folder = Path(folder)
    description = folder / f"{identifier}.json"
    with contextlib.suppress(OSError, ValueError, KeyError):
        about = json.loads(description.read_text(encoding="utf-8"))
        path = folder / Path(about["file"]).name
        if path.is_file() and (insecure_parquet or path.suffix == ".arff"):
            return path, about
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".openml.") as scratch:
        about = _ask(identifier, scratch, server, limits, insecure_parquet)
        content = Path(about.pop("path"))
        if content.stat().st_size > limits.max_bytes:
            raise SourceError(f"the file has more than the limit of {limits.max_bytes} bytes; raise max_bytes to accept it")
        path = folder / f"{identifier}{'.arff' if content.suffix == '.arff' else '.parquet'}"
        with atomic_path(path) as temporary:
            temporary.write_bytes(content.read_bytes())
    about["file"] = path.name
    write_text(description, json.dumps(about, indent=1, sort_keys=True) + "\n")
    return path, about


def _ask(identifier: int, scratch: str, server: str, limits: Limits, insecure_parquet: bool) -> dict[str, Any]:
    """Run the client in a separate process with the folder `scratch` for all its files."""
    command = [sys.executable, "-m", "foldshift.datasets.sources.openml_client"]
    command += [
        str(identifier),
        server,
        str(limits.retries + 1),
        str(limits.max_bytes),
        "parquet" if insecure_parquet else "arff",
    ]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "OPENML_CACHE_DIR": str(Path(scratch) / "cache"),
        "XDG_CONFIG_HOME": str(Path(scratch) / "config"),
        "OPENBLAS_NUM_THREADS": "1",
    }
    try:
        done = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=limits.total_timeout, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise UnreachableError(
            f"{server}: data set {identifier} not finished within the limit of {limits.total_timeout:g} s; check the network"
        ) from error
    lines = done.stdout.decode("utf-8", "replace").strip().splitlines()
    try:
        answer = json.loads(lines[-1])
    except (IndexError, ValueError) as error:
        output = one_line(done.stderr.decode("utf-8", "replace")[-200:])
        raise SourceError(f"{server}: the OpenML client ended with code {done.returncode} ({output})") from error
    if "error" in answer:  # the client does not say whether it is temporary
        raise UnreachableError(f"{server}: data set {identifier}: {one_line(answer['error'], 400)}")
    return answer


def _main(identifier: str, server: str, attempts: str, max_bytes: str, form: str) -> None:
    """Run in the separate process; the last line of output is the answer."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        largest = int(max_bytes) + 2**20  # the client writes some files to disk without any limit
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
    try:
        answer = _describe(int(identifier), server, int(attempts), form)
    except Exception as error:  # an error of any kind must become one line
        answer = {"error": f"the OpenML client failed with {type(error).__name__}: {one_line(error, 300)}"}
        if isinstance(error, OSError) and error.errno == errno.EFBIG:
            answer = {"error": f"the file has more than the limit of {max_bytes} bytes; raise max_bytes to accept it"}
    print("\n" + json.dumps(answer))


def _describe(identifier: int, server: str, attempts: int, form: str) -> dict[str, Any]:
    """Fetch a data set with the client and describe it, or return the error."""
    try:
        import openml
    except ImportError:
        return {"error": "openml is not installed: pip install openml, or use another source"}
    openml.config.server = server
    openml.config.set_retry_policy("human", attempts)
    os.environ["OPENML_SKIP_PARQUET"] = "true"  # ARFF first, because its checksum is verified
    try:
        dataset = openml.datasets.get_dataset(identifier, download_data=True)
    except Exception:
        if form != "parquet":
            raise
        os.environ["OPENML_SKIP_PARQUET"] = "false"
        dataset = openml.datasets.get_dataset(identifier, download_data=True)
    ignore = []
    for names in (dataset.ignore_attribute, dataset.row_id_attribute):
        ignore += names.split(",") if isinstance(names, str) else names or []
    return {
        "path": str(dataset.parquet_file or dataset.data_file),
        "target": dataset.default_target_attribute or "",
        "ignore": ignore,
        "licence": one_line(dataset.licence or ""),
        "url": dataset.url or "",
    }


if __name__ == "__main__":
    _main(*sys.argv[1:])
