"""Differences within data sets of the classification study."""

from foldshift.studies.common.within_dataset import one_dataset
from foldshift.studies.moreno_torres_2012.notation import REFERENCE


def differences(inputs, settings, wanted):
    """Ways of cutting, and learners, on each data set by itself.

    Parameters
    ----------
    inputs : object
        ``scores``: files of scores of all data sets.
    settings : dict
        Of the study.
    wanted : list of dict
        See `foldshift.studies.common.within_dataset.one_dataset`.

    Returns
    -------
    items : dict of str to foldshift.reporting.items.Shown
    """
    return one_dataset(inputs, settings, wanted, "auc_crisp", REFERENCE)
