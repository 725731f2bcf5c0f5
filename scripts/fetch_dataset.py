"""Fetch one data set from the first source that gives it, check it, and remember its checksum."""

import json
import logging
from dataclasses import asdict, replace
from pathlib import Path

from foldshift.datasets.entry import CatalogueEntry
from foldshift.datasets.sources import DEFAULT_HOSTS, fetch
from foldshift.datasets.storage import write_raw
from foldshift.errors import DataError
from foldshift.files import write_text
from foldshift.jobs import run


def origin(entry, fetched):
    """Where a table came from, as plain values."""
    about = {"name": entry.name, "title": entry.title, "task": entry.task, "citation": entry.citation}
    about |= {key: getattr(fetched, key) for key in ("source", "address", "retrieved", "sha256", "fingerprint")}
    about["licence"] = fetched.licence or entry.licence
    about["attempts"] = [asdict(attempt) for attempt in fetched.attempts]
    return about


def check_lock(lock, entry, fetched):
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


def main(job):
    """Fetch, compare with the checksum of the first use, write the table and where it came from."""
    entry = CatalogueEntry(**job.params.entry)
    if job.params.optin:
        entry = replace(entry, sources=(*entry.sources, *entry.optin_sources))
    hosts = DEFAULT_HOSTS | dict(job.params.hosts)
    fetched = fetch(entry, mirror=job.params.mirror, hosts=hosts, cache=job.params.cache, progress=logging.info)
    lock = Path(job.params.lock)
    check_lock(lock, entry, fetched)
    write_raw(job.output.table, fetched.table)
    write_text(job.output.origin, json.dumps(origin(entry, fetched), indent=2, ensure_ascii=False) + "\n")
    write_text(lock, fetched.fingerprint + "\n")


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
