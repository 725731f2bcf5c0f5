"""The studies that the tools measure: the first one of each task."""

from foldshift.importing import import_object
from foldshift.studies.load import find_studies


def main_study(task):
    """The first study, in the order of the report, whose data sets have this task: ``"regression"`` or ``"classification"``."""
    return min((study for study in find_studies().values() if study.task == task), key=lambda study: study.order)


def measure_of(name):
    """Id of the study that declares a measure of this name, and the measure's function."""
    for study in find_studies().values():
        for measure in study.declaration().measures:
            if measure.name == name:
                return study.id, import_object(study.path(measure.make), "measure")
    raise ValueError(f"no study has a measure {name!r}")
