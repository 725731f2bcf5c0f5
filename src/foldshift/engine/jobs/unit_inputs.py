"""Give jobs that read files of units the files of their data sets, one for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from foldshift.core.files import scratch_folder
from foldshift.engine.storage.unit_files import unpack


class Named(list):
    """Files of a job, or its wildcards: a list, and attributes of its named members."""

    def __init__(self, items: Sequence[tuple[str, Any]]) -> None:
        super().__init__(value for _, value in items)
        self._items = [(name, value) for name, value in items if name]
        for name, value in self._items:
            setattr(self, name, value)

    def items(self) -> list[tuple[str, Any]]:
        """Names and values of the named members."""
        return self._items


@contextmanager
def of_datasets(files: Any, units: Sequence[str], datasets: Sequence[str]) -> Iterator[tuple[Any, dict[str, str]]]:
    """Yield the files of a job as those of data sets, in their order, and why data sets among them failed."""
    if not any(unit_in(path, units) for path in paths_of(files)):
        yield files, {}
        return
    with scratch_folder() as folder:
        failed: dict[str, str] = {}
        found = [(name, _expanded(value, units, datasets, folder / name, failed)) for name, value in files.items()]
        yield Named(found), failed


def _expanded(value: Any, units: Sequence[str], datasets: Sequence[str], folder: Path, failed: dict[str, str]) -> Any:
    """Files of data sets in place of those of units."""
    if isinstance(value, str) or not any(unit_in(path, units) for path in value):
        return value
    by_dataset: dict[str, list[str]] = {name: [] for name in datasets}
    for path in value:
        if unit_in(path, units):
            found, lost = unpacked(path, folder)
            failed |= {name: why["message"] for name, why in lost.items()}
            for name, file in found:
                by_dataset.setdefault(name, []).append(file)
        else:
            parts = [*Path(path).parts, Path(path).stem]
            by_dataset[next(part for part in parts if part in by_dataset)].append(path)
    return [file for name in datasets for file in by_dataset[name]]


def unpacked(path: str, folder: Path) -> tuple[list[tuple[str, str]], dict[str, dict[str, str]]]:
    """Unpack the file of a unit; return data sets and their files, and the data sets that failed."""
    found: list[tuple[str, str]] = []

    def place(name: str) -> Path:
        found.append((name, str(place_of(folder, name, path))))
        return Path(found[-1][1])

    lost = unpack(path, place)
    return found, lost


def unit_in(path: str, units: Sequence[str]) -> str | None:
    """Return the unit whose file a path is."""
    return next((part for part in (*Path(path).parts, Path(path).stem) if part in units), None)


def place_of(folder: Path, name: str, path: str) -> Path:
    """Place of the file of a data set: below a folder of its own, under the name that the unit's has."""
    file = Path(path)
    return folder / name / (file.relative_to(file.anchor) if file.is_absolute() else file)


def paths_of(files: Any) -> list[str]:
    """List all paths of inputs or outputs."""
    return [path for one in files for path in ([one] if isinstance(one, str) else one)]
