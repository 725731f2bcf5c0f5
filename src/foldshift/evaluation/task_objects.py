"""Where each task is found; apart from `Task`, which both tasks import, so that neither rests on the other's modules."""

# Loaded by name, so that a job rests on the modules of its own task alone.
TASK_OBJECTS = {
    "regression": "foldshift.evaluation.regressors.REGRESSION",
    "classification": "foldshift.evaluation.classifiers.CLASSIFICATION",
}
