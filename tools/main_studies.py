"""The studies that the tools measure: the first one of each task."""

from foldshift.studies.load import find_studies


def main_study(task):
    """The first study, in the order of the report, whose data sets have this task: ``"regression"`` or ``"classification"``."""
    return min((study for study in find_studies().values() if study.task == task), key=lambda study: study.order)
