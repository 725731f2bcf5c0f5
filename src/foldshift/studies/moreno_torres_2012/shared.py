"""Names and notation that several modules of the study share; light, because tables and figures rest on it."""

REFERENCE = "SCV"
AVERAGE = "Average"  # the scheme of rows that average over the schemes
ALL = "all"  # the learner of rows that average over the learners
NO_PAIR = "no pair of classifiers truly differs in this run (Table IV), so that there is nothing for an experiment to find"
# How measures of the covariate shift are printed.
SHIFT_LABELS = {
    "ks_mean": "KS, mean",
    "ks_max": "KS, largest",
    "hellinger": "Hellinger",
    "energy": "energy",
    "two_sample_auc": "two-sample AUC",
    "features_more": "features shifted",
    "features_less": "features balanced",
}
CHANCE_IS_HALF = "two_sample_auc"


def paper_name(dataset):
    """The name of a data set in the paper's tables: small letters, without the mark of a repair."""
    return dataset.lower().removesuffix("-repaired")


def scheme_name(k, r):
    """Notation of the paper: 5x2 is five folds iterated twice."""
    return f"{k}x{r}"


def describe(scheme):
    """A scheme in words: ``5x2 (5 folds, 2 iterations)``."""
    k, r = scheme.split("x")
    return f"{scheme} ({k} folds, {r} iteration{'s' if r != '1' else ''})"


def by_partitioner(part, value, partitioners):
    """Data sets by partitioners, those data sets that have a result for all.

    Parameters
    ----------
    part : pandas.DataFrame
        Rows of one scheme: ``dataset``, ``partitioner`` and the value.
    value : str
        Column.
    partitioners : sequence of str
        Columns of the result.

    Returns
    -------
    wide : pandas.DataFrame
    """
    wide = part.pivot(index="dataset", columns="partitioner", values=value).reindex(columns=list(partitioners))
    return wide.loc[[name for name in dict.fromkeys(part["dataset"]) if wide.loc[name].notna().all()]]
