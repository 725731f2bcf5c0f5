"""Fetch one data set from the first source that gives it, check it, and remember its checksum; say what was assumed in reading a
file of the user's own."""

import json
import logging
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from foldshift.core.errors import DataError
from foldshift.core.files import write_text
from foldshift.core.printable import printable
from foldshift.core.remedies import at
from foldshift.datasets.catalogue_entry import CatalogueEntry
from foldshift.datasets.prepare import prepare
from foldshift.datasets.readers.raw_table import RawTable
from foldshift.datasets.sources.download import UnreachableError
from foldshift.datasets.sources.fetch import DEFAULT_HOSTS, fetch
from foldshift.engine.jobs.run_job import run
from foldshift.engine.storage.raw_table_files import write_raw

PAUSE = 30  # seconds: hosts fail for minutes at a time, and the pauses between attempts of one download are shorter


def origin(entry: CatalogueEntry, fetched: Any) -> dict[str, Any]:
    """Return the origin of a table, as plain values."""
    about = {"name": entry.name, "title": entry.title, "task": entry.task, "citation": entry.citation}
    about |= {key: getattr(fetched, key) for key in ("source", "address", "retrieved", "sha256", "fingerprint")}
    about["licence"] = fetched.licence or entry.licence
    about["attempts"] = [asdict(attempt) for attempt in fetched.attempts]
    return about


def check_lock(lock: Path, entry: CatalogueEntry, fetched: Any) -> None:
    """Compare with the checksum of the first use. A local file is the user's own to change."""
    if fetched.source.startswith("file:") or not lock.exists():
        return
    first = lock.read_text(encoding="utf-8").strip()
    if first != fetched.fingerprint:
        raise DataError(
            f"data set {entry.name}: its content has changed since it was first used: checksum {fetched.fingerprint} from "
            f"{fetched.source}, "
            f"was {first}; find out why, or delete {lock} to accept the new content"
        )


def fetch_patiently(entry: CatalogueEntry, pause: float = PAUSE, **arguments: Any) -> Any:
    """Fetch, and once more after a pause where a host could not be reached. What is wrong with a file is wrong the next time."""
    try:
        return fetch(entry, progress=logging.info, **arguments)
    except UnreachableError as error:
        logging.info("%s; once more in %g s", error, pause)
        time.sleep(pause)
        return fetch(entry, progress=logging.info, **arguments)


def review(entry: CatalogueEntry, table: RawTable) -> None:
    """Say on the terminal, before anything is computed, how a file of the user's own was read; an error if it cannot be used."""
    for note in prepare(table, entry.name, entry.task, scaling="none").notes:
        print(printable(f"data set {entry.name}: {at(note, 'workflow')}"), file=sys.stderr)


def main(job: Any) -> None:
    """Fetch, compare with the checksum of the first use, write the table and where it came from."""
    entry = CatalogueEntry(**job.params.entry)
    if job.params.optin:
        entry = replace(entry, sources=(*entry.sources, *entry.optin_sources))
    hosts = DEFAULT_HOSTS | dict(job.params.hosts)
    fetched = fetch_patiently(entry, mirror=job.params.mirror, hosts=hosts, cache=job.params.cache)
    if entry.own:
        review(entry, fetched.table)
    lock = Path(job.params.lock)
    check_lock(lock, entry, fetched)
    write_raw(job.output.table, fetched.table)
    write_text(job.output.origin, json.dumps(origin(entry, fetched), indent=2, ensure_ascii=False) + "\n")
    if not fetched.source.startswith("file:"):
        write_text(lock, fetched.fingerprint + "\n")


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
