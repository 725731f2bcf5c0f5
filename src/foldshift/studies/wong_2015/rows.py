"""Reading the rows of the study, and what all of its tables and figures need to know of them."""

import pandas as pd

from foldshift.evaluation.storage import read_columns

LEAVE_ONE_OUT = 0  # the k of leave-one-out
REPETITIONS = 10  # for which the variance ratio is printed


def read_rows(paths, columns):
    """Some columns of all files, one for each cell."""
    return pd.concat([pd.DataFrame(read_columns(path, columns)) for path in paths], ignore_index=True)
