"""Discovery of studies: those of the library and those in user-defined folders."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import jsonschema

import foldshift
from foldshift.core.errors import ConfigError
from foldshift.core.imports import raised
from foldshift.engine.config.yaml_files import read_yaml
from foldshift.engine.study.declare import Study
from foldshift.engine.study.report_words import ReportWords, check_items, read_report

if TYPE_CHECKING:
    from foldshift.core.types import PathLike, Task

STUDIES = Path(foldshift.__file__).parent / "studies"
KEYS = {"title", "summary", "order", "task", "settings", "scales"}
OPTIONAL_KEYS = {"report"}
TASKS = ("regression", "classification", None)


class StudyInfo(NamedTuple):
    """Facts about a study, and where it was found."""

    id: str  # name of its folder
    folder: Path
    package: str  # import path of the folder
    title: str  # title, summary: The paper, in words; what it asks, as the front page of the report has it
    summary: str
    order: float  # place among the studies
    task: Task | None  # what its data sets are for; None: it has none of the catalogue
    schema: dict[str, Any]  # JSON schema of its settings
    scales: dict[str, dict[str, Any]]  # settings by scale: ``laptop``, ``paper``, ``test``
    report: ReportWords = ReportWords()  # question, answer, figure and table of its page

    def path(self, name: str) -> str:
        """Return the full import path of a function of the study; a name with ``foldshift.`` in front counts from the top."""
        return name if name.startswith("foldshift.") else f"{self.package}.{name}"

    def declaration(self) -> Study:
        """Load the `Study` that the module ``study`` declares."""
        try:
            study = importlib.import_module(f"{self.package}.study").STUDY
        except Exception as error:  # the user's own code may raise anything
            raise ConfigError(
                f"study {self.id}: {self.folder / 'study.py'} must define STUDY = Study(...); {raised(error, self.folder)}"
            ) from error
        if not isinstance(study, Study):
            raise ConfigError(
                f"study {self.id}: STUDY in {self.folder / 'study.py'} must be a foldshift.study.Study; got "
                f"{type(study).__name__}"
            )
        check_items(self.folder / "study.yaml", self.report, [(one.kind, one.name) for some in study.items for one in some.items])
        return study


def find_studies(folders: Sequence[PathLike] = (), only: Collection[str] | None = None) -> dict[str, StudyInfo]:
    """Find the studies of the library and of some folders; their declarations are not loaded."""
    found: dict[Any, Any] = {}
    for folder in (STUDIES, *map(Path, folders)):
        places = [folder] if (folder / "study.yaml").is_file() else sorted(path.parent for path in folder.glob("*/study.yaml"))
        if not places and folder != STUDIES:
            raise ConfigError(f"studies_from: {folder} holds no study; a study is a folder with study.yaml and study.py")
        for place in places:
            if only is not None and place.name not in only:
                continue
            study = _read(place, folder == STUDIES)
            if study.id in found:
                raise ConfigError(f"two studies are called {study.id}: {found[study.id].folder} and {place}; rename one folder")
            found[study.id] = study
    return dict(sorted(found.items(), key=lambda pair: (pair[1].order, pair[0])))


def main_study(task: Task) -> StudyInfo:
    """Return the first study, in the order of the report, whose data sets have a task, such as ``"regression"``."""
    return min((study for study in find_studies().values() if study.task == task), key=lambda study: study.order)


def _read(folder: Path, inside: bool) -> StudyInfo:
    where = folder / "study.yaml"
    if not re.fullmatch(r"[a-z][a-z0-9_]*", folder.name):
        raise ConfigError(f"study {folder.name!r}: the folder's name is its id; small letters, digits and underscores only")
    about = read_yaml(where, "study")
    if not isinstance(about, dict) or (wrong := (set(about) - OPTIONAL_KEYS) ^ KEYS):
        raise ConfigError(
            f"{where} must have the keys {', '.join(sorted(KEYS))}, and may have {', '.join(OPTIONAL_KEYS)}; "
            f"wrong or missing: {', '.join(sorted(map(str, wrong)))}"
        )
    if about["task"] not in TASKS:
        raise ConfigError(f"{where}: task={about['task']!r} must be regression, classification or null")
    if not inside:
        _check(where, about)
        parent = str(folder.resolve().parent)
        if parent not in sys.path:
            sys.path.append(parent)
    package = f"foldshift.studies.{folder.name}" if inside else folder.name
    return StudyInfo(
        folder.name,
        folder,
        package,
        str(about["title"]),
        " ".join(str(about["summary"]).split()),
        float(about["order"]),
        about["task"],
        about["settings"],
        about["scales"],
        read_report(where, about.get("report")),
    )


def _check(where: Path, about: dict[str, Any]) -> None:
    """Check the study.yaml of a user-defined study."""
    for key, kind, words in (("title", str, "text"), ("summary", str, "text"), ("order", (int, float), "a number")):
        if not isinstance(about[key], kind):
            raise ConfigError(f"{where}: {key}={about[key]!r} must be {words}")
    if not isinstance(about["scales"], dict) or not isinstance(about["scales"].get("laptop"), dict):
        raise ConfigError(f"{where}: scales={about['scales']!r} must hold settings for `laptop`: {{laptop: {{...}}}}")
    try:
        jsonschema.Draft202012Validator.check_schema(about["settings"])
        about["settings"]["properties"].items()
    except (jsonschema.SchemaError, TypeError, KeyError, AttributeError) as error:
        raise ConfigError(f"{where}: settings must hold `type: object` and `properties`, as docs/add_a_study.md shows") from error
