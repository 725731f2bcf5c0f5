"""Losses of cross-validation over sources, for many data sets drawn from the same rows."""

import numpy as np

from foldshift.core.errors import unknown
from foldshift.core.estimators import clone_with_state

DESIGNS = ("cvs", "cvr")


def draw_rows(groups, sources, M, n_datasets, rng, *, replace=True):
    """Draw data sets from the empirical distribution of every source.

    Parameters
    ----------
    groups : array-like of shape (n_rows,)
        Source of every row.
    sources : sequence
        The K sources to draw from, values of `groups`, in the order of the blocks.
    M : int or sequence of int
        Rows per source; one number for every source if they differ.
    n_datasets : int
        Number of data sets R.
    rng : numpy.random.Generator
        Source of randomness.
    replace : bool, default=True
        With replacement, as from the empirical distribution: the same row can occur twice in a data set, and then in two blocks
        of a random cut but never in two sources. False draws every row of a data set at most once.

    Returns
    -------
    rows : ndarray of shape (R, K, M), int64; list of K ndarrays of shape (R, M_k) if `M` is a sequence
        Numbers of rows. The classes are not stratified: their shares vary from data set to data set.

    Raises
    ------
    ValueError
        If a source has no rows, is named twice, or has fewer than `M` rows to draw without replacement.

    References
    ----------
    .. [1] Geras, Sutton (2013). Multiple-source cross-validation. ICML, section 6.
    """
    groups, sources = np.asarray(groups), list(sources)
    sizes = [M] * len(sources) if np.ndim(M) == 0 else list(M)
    if not sources or len(sizes) != len(sources):
        raise ValueError(f"M has {len(sizes)} sizes for {len(sources)} sources; expected one or more sources and a size for each")
    if len(set(sources)) < len(sources):
        raise ValueError(f"sources {sources} names a source twice; every source is one block")
    for name, value in (("n_datasets", n_datasets), *(("M", size) for size in sizes)):
        if not (isinstance(value, (int, np.integer)) and value >= 1):
            raise ValueError(f"{name}={value!r} must be an integer of at least 1")
    rows = []
    for source, size in zip(sources, sizes):
        members = np.flatnonzero(groups == source)
        if not len(members):
            raise ValueError(f"source {source!r} has no rows; groups holds {np.unique(groups)[:12].tolist()}")
        if replace:
            chosen = rng.integers(len(members), size=(n_datasets, size))
        elif size > len(members):
            raise ValueError(f"source {source!r} has {len(members)} rows; M={size} cannot be drawn without replacement")
        else:
            chosen = np.argsort(rng.random((n_datasets, len(members))), axis=1, kind="stable")[:, :size]
        rows.append(members[chosen])
    return np.stack(rows, axis=1) if np.ndim(M) == 0 else rows


def random_blocks(rows, rng):
    """Cut every data set at random into as many blocks as it has sources (CVR), without regard to source or class.

    Parameters
    ----------
    rows : ndarray of shape (R, K, M), or sequence of K ndarrays of shape (R, M_k)
        Data sets by source.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    blocks : ndarray of shape (R, K, M); list of K ndarrays if `rows` is a sequence
        The same rows by block. The sizes of the blocks differ by one at most, larger ones first, whatever the sizes of the
        sources.
    """
    flat, sizes = _flat(rows)
    shuffled = np.take_along_axis(flat, _random_orders(flat.shape, rng), axis=1)
    if isinstance(rows, np.ndarray):
        return shuffled.reshape(rows.shape)
    return np.array_split(shuffled, len(sizes), axis=1)


def source_losses(X, y, rows, learner, design, rng=None, *, shared=True):
    """0/1 losses of cross-validation, by source or by random blocks, of many data sets.

    Parameters
    ----------
    X : sparse matrix or ndarray of shape (n_rows, n_features)
        Inputs of all rows; counts for naive Bayes, `foldshift.learners.linear.text.unit_rows` of them for the linear SVM.
    y : array-like of shape (n_rows,)
        Class labels.
    rows : ndarray of shape (R, K, M), or sequence of K ndarrays of shape (R, M_k), integer
        Data sets by source, as rows of `X`, as `draw_rows` makes them.
    learner : scikit-learn classifier
        Not changed. One with a method ``predict_blocks`` shares work between the blocks of a data set.
    design : {"cvs", "cvr"}
        ``cvs``: block k is source k, so that every source is predicted by a model of the others. ``cvr``: `random_blocks`.
    rng : numpy.random.Generator, optional
        Source of the random cut, drawn first and the same for every learner; then of the states of a learner that is random and
        whose `random_state` is None.
    shared : bool, default=True
        Whether to use the shared path where there is one. Both give the same losses. A training part of one class predicts that
        class.

    Returns
    -------
    losses : ndarray of shape (R, K, M), dtype uint8; list of K ndarrays of shape (R, M_k) if `rows` is a sequence
        1 where the prediction of the m-th row of block k is wrong. For ``cvr``, blocks are those of the random cut, not the
        sources.

    Raises
    ------
    ValueError
        If the design is unknown, there are fewer than two sources, a source has no rows, or a row does not exist.

    References
    ----------
    .. [1] Geras, Sutton (2013). Multiple-source cross-validation. ICML, sections 2 and 3, equation 1.
    """
    if design not in DESIGNS:
        raise ValueError(unknown("design", design, DESIGNS))
    if design == "cvr":
        if rng is None:
            raise ValueError("rng=None; design 'cvr' needs a numpy.random.Generator to cut the data sets")
        rows = random_blocks(rows, rng)
    flat, sizes = _flat(rows)
    if len(sizes) < 2:
        raise ValueError(f"rows has {len(sizes)} source; cross-validation over sources needs at least 2")
    losses = _losses(X, y, flat, sizes, learner, 0, rng, shared)
    if isinstance(rows, np.ndarray):
        return losses.reshape(rows.shape)
    return np.split(losses, np.cumsum(sizes)[:-1], axis=1)


def out_of_source_error(X, y, train_rows, test_rows, learner, rng=None, *, shared=True):
    """Error on a source that is not in the training data, for many pairs of training and test set.

    Parameters
    ----------
    X, y, learner, shared
        As in `source_losses`.
    train_rows : ndarray of shape (R, n) or (R, K, M), integer
        Training sets, as rows of `X`.
    test_rows : ndarray of shape (R, m), integer
        Test sets of the new source.
    rng : numpy.random.Generator, optional
        Source of the states of a learner that is random and whose `random_state` is None.

    Returns
    -------
    errors : ndarray of shape (R,), dtype float64
        Share of the test rows that are predicted wrongly.

    References
    ----------
    .. [1] Geras, Sutton (2013). Multiple-source cross-validation. ICML, equation 3.
    """
    train, test = np.asarray(train_rows), np.asarray(test_rows)
    train = train.reshape(len(train), -1)
    if test.ndim != 2 or len(train) != len(test):
        raise ValueError(f"test_rows has shape {test.shape} for {len(train)} training sets; expected ({len(train)}, m)")
    flat, sizes = _flat([train, test])
    return _losses(X, y, flat, sizes, learner, 1, rng, shared).mean(axis=1)


def estimate_losses(X, y, rows, new_rows, learner, rng, *, shared=True):
    """Losses of cross-validation by source and by random blocks, and of the model of all rows on rows of a new source.

    Parameters
    ----------
    X, y, learner, shared
        As in `source_losses`. A learner with a method ``predict_partitions`` shares work between all models of a data set.
    rows : ndarray of shape (R, K, M), integer
        Data sets by source, as rows of `X`.
    new_rows : ndarray of shape (R, m), integer
        Rows of the new source; m may be 0.
    rng : numpy.random.Generator
        Source of the random cut, and of the states of a learner that is random.

    Returns
    -------
    cvs, cvr : ndarray of shape (R, K, M), dtype uint8
        `source_losses` of both designs.
    new : ndarray of shape (R, m), dtype uint8
        1 where the prediction of a new row is wrong.

    Raises
    ------
    ValueError
        If the shapes do not fit, a source has no rows, or a row does not exist.

    References
    ----------
    .. [1] Geras, Sutton (2013). Multiple-source cross-validation. ICML, equations 1 and 3.
    """
    rows, new_rows = np.asarray(rows), np.asarray(new_rows)
    flat, sizes = _flat(rows)
    if new_rows.ndim != 2 or len(new_rows) != len(rows):
        raise ValueError(f"new_rows has shape {new_rows.shape} for {len(rows)} data sets; expected ({len(rows)}, m)")
    orders = _random_orders(flat.shape, rng)  # first, so that every learner sees the same cut
    both = np.concatenate([flat, new_rows], axis=1)
    y = _checked(X, y, both)
    if shared and hasattr(learner, "predict_partitions"):
        blocks = np.broadcast_to(np.repeat(np.arange(len(sizes)), sizes), flat.shape)
        cut = np.empty_like(blocks)
        np.put_along_axis(cut, orders, blocks, axis=1)
        predicted, new = learner.predict_partitions(X, y, flat, np.stack([blocks, cut], axis=1), new_rows)
        wrong = (predicted != y[flat][:, None]).astype(np.uint8)
        # In memory as on the plain path, so that sums of them are the same to the last bit.
        cvs, cvr = (np.ascontiguousarray(one) for one in (wrong[:, 0], np.take_along_axis(wrong[:, 1], orders, axis=1)))
        new = (new != y[new_rows]).astype(np.uint8)
    else:
        cvs = _losses(X, y, flat, sizes, learner, 0, rng, shared)
        cvr = _losses(X, y, np.take_along_axis(flat, orders, axis=1), sizes, learner, 0, rng, shared)
        new = np.empty(new_rows.shape, dtype=np.uint8)
        if new.size:
            new = _losses(X, y, both, np.array([flat.shape[1], new_rows.shape[1]]), learner, 1, rng, shared)
    return cvs.reshape(rows.shape), cvr.reshape(rows.shape), new


def _random_orders(shape, rng):
    """Places 0 to n - 1 of every data set in random order, of shape (R, n)."""
    return rng.permuted(np.broadcast_to(np.arange(shape[1]), shape), axis=1)


def _flat(rows):
    """Data sets block after block, of shape (R, n), and the sizes of the blocks."""
    if isinstance(rows, np.ndarray) and rows.ndim != 3:
        raise ValueError(f"rows has shape {rows.shape}; expected (n_datasets, n_sources, M), or a list with one array per source")
    parts = list(rows.swapaxes(0, 1)) if isinstance(rows, np.ndarray) else [np.asarray(part) for part in rows]
    shapes = [part.shape for part in parts]
    if not parts or any(len(shape) != 2 or shape[0] != shapes[0][0] for shape in shapes):
        raise ValueError(f"rows holds arrays of the shapes {shapes}; expected (n_datasets, M_k) for every source k")
    if any(part.dtype.kind not in "ui" for part in parts):
        raise ValueError(f"rows holds {', '.join(sorted({str(part.dtype) for part in parts}))}; expected integers")
    sizes = np.array([shape[1] for shape in shapes])
    if (sizes == 0).any():
        raise ValueError(f"source {int(np.flatnonzero(sizes == 0)[0])} has no rows; every source needs one or more")
    return np.concatenate(parts, axis=1), sizes


def _checked(X, y, rows):
    """`y` as an array, where it fits `X` and the rows exist."""
    y = np.asarray(y)
    if len(y) != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows and y {len(y)}; expected the same number")
    if rows.size and (rows.min() < 0 or rows.max() >= len(y)):
        raise ValueError(f"rows holds numbers from {rows.min()} to {rows.max()}; expected 0 to {len(y) - 1}")
    return y


def _losses(X, y, rows, sizes, learner, first, rng, shared):
    """Losses, uint8, of the rows from block `first` on."""
    y = _checked(X, y, rows)
    starts = np.append(0, np.cumsum(sizes))
    truth = y[rows[:, starts[first] :]]
    if shared and hasattr(learner, "predict_blocks"):
        return (learner.predict_blocks(X, y, rows, sizes, first) != truth).astype(np.uint8)
    losses = np.empty(truth.shape, dtype=np.uint8)
    n_fits = len(sizes) - first
    states = None if rng is None else rng.integers(2**32, size=(len(rows), n_fits), dtype=np.uint32)
    for r, chosen in enumerate(rows):
        for k in range(first, len(sizes)):
            test = slice(starts[k], starts[k + 1])
            train = np.delete(chosen, test)
            if (y[train] == y[train[0]]).all():
                predicted = y[train[0]]  # some learners refuse a single class; there is nothing else to predict
            else:
                model = clone_with_state(learner, None if states is None else states[r, k - first])
                predicted = model.fit(X[train], y[train]).predict(X[chosen[test]])
            losses[r, starts[k] - starts[first] : starts[k + 1] - starts[first]] = predicted != y[chosen[test]]
    return losses
