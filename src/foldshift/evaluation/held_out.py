"""Cross-validated estimates of a sample beside what the classifier really reaches on rows that no fold has held."""

import numpy as np

from foldshift.core.estimators import clone_with_state
from foldshift.evaluation.class_scores import classification_scores
from foldshift.evaluation.cross_validate import evaluate_folds
from foldshift.partition.methods.scv import scv_folds


def sample_and_rest(n_rows, n_sample, most_rest, rng):
    """Draw a simple random sample, and a simple random part of what is left.

    Parameters
    ----------
    n_rows : int
        Rows of the population.
    n_sample : int
        Rows of the sample, below `n_rows`.
    most_rest : int
        Held-out rows, at most; all that are left if these are fewer.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    sample, rest : ndarray of int
        Row numbers, in random order, without a common one.
    """
    order = rng.permutation(n_rows)
    return order[:n_sample], order[n_sample : n_sample + most_rest]


def scale_by_sample(X, sample_rows, categorical_features):
    """Scale numeric columns to [0, 1] over the sample; held-out rows may lie outside.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), dtype float64
        Inputs of the population.
    sample_rows : ndarray of int
        Rows of the sample.
    categorical_features : array-like of bool of shape (n_features,)
        Nominal columns, left as they are.

    Returns
    -------
    scaled : ndarray of shape (n_rows, n_features), dtype float64, C order
        A column with one value in the sample is shifted only.
    """
    scaled = np.array(X, dtype=np.float64, order="C")
    numeric = ~np.asarray(categorical_features, dtype=bool)
    low, high = scaled[np.ix_(sample_rows, numeric)].min(axis=0), scaled[np.ix_(sample_rows, numeric)].max(axis=0)
    scaled[:, numeric] = (scaled[:, numeric] - low) / np.where(high > low, high - low, 1)
    return scaled


def training_parts(y, n_folds, n_parts, rng):
    """Random stratified parts of a sample, of the size that k-fold cross-validation trains on.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Classes of the sample.
    n_folds : int
        k; a part holds (k - 1) / k of every class.
    n_parts : int
        How many. Each k of them leave out the k folds of one SCV partition, beginning with a random one.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    parts : list of ndarray of int
        Positions in the sample of the rows of each part, in the order of KEEL's training files: fold after fold, inside a fold
        class after class.
    """
    folds = scv_folds(None, y, n_folds, [rng] * -(-n_parts // n_folds))
    first = np.floor(n_folds * rng.random(len(folds))).astype(np.int64)
    parts = []
    for i in range(n_parts):
        partition, turn = divmod(i, n_folds)
        order = np.lexsort((y, folds[partition]))
        parts.append(order[folds[partition][order] != (first[partition] + turn) % n_folds])
    return parts


def held_out_auc(estimator, X, y, train_rows, rest_rows, random_state=None):
    """Crisp AUC on the held-out rows, all at once, after training on some rows of the sample.

    Parameters
    ----------
    estimator : scikit-learn classifier
        Not changed.
    X : ndarray of shape (n_rows, n_columns)
        Inputs of the population.
    y : ndarray of shape (n_rows,), dtype int64
        Class codes ``0, 1, ...`` of the population.
    train_rows, rest_rows : ndarray of int
        Rows to train on and rows to predict.
    random_state : int, optional
        Of the fit, where the estimator's own is None.

    Returns
    -------
    auc : float
        ``(1 + TPR - FPR) / 2`` of the predicted classes, for more than two classes the mean recall; NaN if the fit fails.

    Raises
    ------
    MemoryError
        If the fit needs more memory than there is.
    """
    try:
        predicted = clone_with_state(estimator, random_state).fit(X[train_rows], y[train_rows]).predict(X[rest_rows])
    except MemoryError:
        raise
    except (Exception, SystemExit):  # whatever else a learner raises costs no more than this number
        return np.nan
    return _crisp_aucs(y[rest_rows], predicted[None], np.zeros((1, len(rest_rows)), dtype=np.uint8), 1)[0, 0]


def heldout_replicate(estimator, X, y, sample_rows, rest_rows, partitions, parts, rng):
    """Cross-validated estimates of one sample and one learner, and the truths that they may be held against.

    Parameters
    ----------
    estimator : scikit-learn classifier
        Not changed.
    X : ndarray of shape (n_rows, n_columns), dtype float64
        Inputs of the population as the learner sees them.
    y : ndarray of shape (n_rows,), dtype int64
        Class codes ``0, 1, ...`` of the population.
    sample_rows, rest_rows : ndarray of int
        Rows of the sample, and held-out rows.
    partitions : dict of (str, int) to ndarray of shape (n_runs, n_samples), unsigned integer
        Folds of the sample by partitioner and k, one row per run of an experiment.
    parts : dict of int to list of ndarray of int
        Training parts by k, as `training_parts` makes them. A classifier whose ``tie_order`` is ``fold`` gets the rows in that
        order, as it does in cross-validation; any other gets them in the order of the sample.
    rng : numpy.random.Generator
        Source of the random states of randomised learners.

    Returns
    -------
    estimates : dict of (str, int) to float
        Crisp AUC by partitioner and k: mean over folds and runs, as the paper has it.
    truth_part : dict of int to float
        By k: crisp AUC on the held-out rows after training on a part, mean over the parts: what k folds estimate.
    truth_whole : float
        The same after training on the whole sample: what the user wants to know.

    Raises
    ------
    MemoryError
        If a fit needs more memory than there is.

    Notes
    -----
    A number is NaN if one of its fits fails. A random stratified cut makes training and test parts that are draws of the same
    kind as a training part and the held-out rows, so that SCV has no bias against `truth_part`: a check of the measurement, not a
    result.
    """
    X_sample, y_sample = np.ascontiguousarray(X[sample_rows]), y[sample_rows]
    estimates = {}
    for (name, k), folds in partitions.items():
        try:
            predicted = evaluate_folds(
                estimator, X_sample, y_sample, folds, random_states=_states(rng, (len(folds), k)), shared="always"
            )
            areas = _crisp_aucs(y_sample, predicted, folds, k)
            areas = areas[~np.isnan(areas)]  # a test part with one class has none
            estimates[name, k] = float(areas.mean()) if len(areas) else np.nan
        except MemoryError:
            raise
        except (Exception, SystemExit):  # as in held_out_auc
            estimates[name, k] = np.nan
    by_fold = getattr(estimator, "tie_order", None) == "fold"
    truth_part = {}
    for k, positions in parts.items():
        trains = [sample_rows[part if by_fold else np.sort(part)] for part in positions]
        states = _states(rng, len(trains))
        aucs = [held_out_auc(estimator, X, y, train, rest_rows, state) for train, state in zip(trains, states)]
        truth_part[k] = float(np.mean(aucs))
    truth_whole = float(held_out_auc(estimator, X, y, sample_rows, rest_rows, _states(rng, 1)[0]))
    return estimates, truth_part, truth_whole


def _states(rng, shape):
    return (rng.random(shape) * 2**32).astype(np.uint32)


def _crisp_aucs(codes, predictions, folds, n_folds):
    return classification_scores(codes, predictions, None, folds, n_folds)["auc_corrected"]
