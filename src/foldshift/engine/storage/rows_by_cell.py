"""Read the rows of all data sets of a study and arrange them by cell."""

import numpy as np

from foldshift.engine.storage.score_files import read_columns
from foldshift.engine.storage.seed_results import by_cell


def read_cells(paths, keys, values, datasets, cells):
    """Arrange the seed rows of all data sets as arrays.

    Parameters
    ----------
    paths : sequence of path-like
        One file of seed rows for each data set.
    keys : sequence of str
        Columns that make a cell.
    values : sequence of str
        Columns to arrange.
    datasets : sequence of str
        Data sets, in the order wanted.
    cells : sequence of tuple
        Cells wanted.

    Returns
    -------
    arrays : list of dict of tuple to ndarray of shape (n_datasets, n_seeds)
        One dictionary for each of `values`.
    """
    names = ("dataset", *keys, *values)
    parts = [read_columns(path, names) for path in paths]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in names}
    return [by_cell(columns, keys, value, datasets, cells) for value in values]
