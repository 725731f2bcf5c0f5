"""What the labels in the names of files stand for, kept beside the results: of this configuration and of earlier ones.

And whether Snakemake still knows what the results were made with.
"""

import json
from pathlib import Path

from foldshift.core.files import write_text

KINDS = ("learners", "partitioners")


def record_file(results):
    """Path of the record below the folder of the results."""
    return Path(results, "provenance", "labels.json")


def read_record(path):
    """Read what labels stand for.

    Parameters
    ----------
    path : path-like
        A JSON file that `add_record` wrote.

    Returns
    -------
    record : dict of str to dict of str to dict
        ``learners`` and ``partitioners`` by label; empty where there is no such file or it is damaged: what it would explain is
        then made anew.
    """
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
        return {kind: {label: dict(entry) for label, entry in record[kind].items()} for kind in KINDS}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {kind: {} for kind in KINDS}


def add_record(path, records):
    """Add what labels stand for to those of earlier runs; nothing is written where nothing is new.

    Parameters
    ----------
    path : path-like
        The JSON file; it need not exist.
    records : iterable of dict
        As `foldshift.engine.layout.job_layout.Layout.record` gives them.
    """
    known = read_record(path)
    record = {kind: dict(known[kind]) for kind in KINDS}
    for one in records:
        for kind in KINDS:
            record[kind] |= one[kind]
    if record != known:
        write_text(path, json.dumps(record, indent=1, ensure_ascii=False, default=str) + "\n")


def forgotten(results, studies, memory=".snakemake"):
    """Say so where results are left of which Snakemake knows nothing: it would take whatever is there for finished.

    Parameters
    ----------
    results : path-like
        Folder of the results.
    studies : iterable of str
        Names of the folders in it to look at.
    memory : path-like, default=".snakemake"
        Where Snakemake keeps its records of finished jobs.

    Returns
    -------
    note : str or None
        None where there are no results, or records.
    """
    if any(path.is_file() for path in Path(memory, "metadata").glob("**/*")) or Path(memory, "metadata.db").exists():
        return None
    found = [name for name in studies if any(path.is_file() for path in Path(results, name).glob("**/*"))]
    if not found:
        return None
    return (
        f"{results} holds files of {', '.join(found)}, and {memory} no record of what they were made with: they count as "
        "finished, even if code, data or settings have changed since. "
        f"Put {memory} back if you have it; to compute all anew, add --forceall"
    )
