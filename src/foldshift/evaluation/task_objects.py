"""Import path of each task, loaded by name so that a job rests on the modules of its own task alone."""

# Not in `tasks`, which both tasks import: paths there would make the code of each task rest on that of the other.
TASK_OBJECTS = {
    "regression": "foldshift.evaluation.regressors.REGRESSION",
    "classification": "foldshift.evaluation.classifiers.CLASSIFICATION",
}
