"""A classifier monitored while its test data shift: random splits, every injected shift, and what each detector says of it.

Two things that the paper leaves open are set as its printed numbers have them. Its KS is one-sided: the distribution function of
the training part less that of the test part, not the absolute difference, which is what equation 7 with two degrees of freedom is
the limit of. And "the top 25 %" that MAR removes are the first rows in ascending order, the smallest values: only then does a
one-sided test that sees every translation upwards (Table 4) see every feature fail on itself (Table 2). The kind of rows
``readings`` counts what fails under each of the four readings.
"""

import logging

import numpy as np

from foldshift.datasets.dataset import Dataset, read_prepared
from foldshift.errors import DataError
from foldshift.planning.blocks import block_range
from foldshift.seeding import fit_states, generator
from foldshift.shift.injectors import ENDS, feature_scale, versions
from foldshift.studies.cieslak_2009.conditions import CONDITIONS, UNSHIFTED
from foldshift.studies.cieslak_2009.features import (
    class_failures,
    complete_tables,
    count_readings,
    hellinger_permutation_p,
    multivariate_tests,
    shift_rows,
)
from foldshift.studies.cieslak_2009.predictions import detector_rows, learner_scores
from foldshift.studies.cieslak_2009.rows import SCHEMAS
from foldshift.studies.cieslak_2009.splits import positive_class, split

STUDY = "cieslak_2009"


def measure_shifts(inputs, cell, *, learners, master_seed, positive, **settings):
    """A block of repeats on one data set: every injected shift, every detector.

    Parameters
    ----------
    inputs : object
        ``data``: the prepared data set, not scaled.
    cell : dict
        ``dataset``, ``block``.
    learners, master_seed, positive, **settings
        As of `measure_repeat`.

    Returns
    -------
    rows : dict of str to list of dict
        By kind, as `foldshift.studies.cieslak_2009.rows.SCHEMAS` has them; those of a learner that fails are NaN and carry its
        message.

    Raises
    ------
    foldshift.errors.DataError
        If the data set has no such positive class, or too few rows of a class.
    """
    data = read_prepared(inputs.data)
    start, n_repeats = block_range(cell["block"])
    rows = {kind: [] for kind in SCHEMAS}
    for repeat in range(start, start + n_repeats):
        try:
            found = measure_repeat(data, learners, master_seed, repeat, positive=positive, progress=logging.warning, **settings)
        except ValueError as error:
            raise DataError(f"data set {data.name}: {error}") from error
        for kind, columns in found.items():
            if columns:
                rows[kind].append(columns)
        logging.info("repeat %d: %d rows of learners", repeat, len(found["learners"].get("version", ())))
    return rows


def measure_repeat(
    data,
    learners,
    master_seed,
    repeat,
    *,
    positive=None,
    alpha=0.05,
    mask="median",
    removed="smallest",
    n_bootstraps=100,
    n_versions_multivariate=2,
    n_repeats_multivariate=5,
    n_permutations=200,
    progress=lambda line: None,
):
    """Split, train, shift the test part in every way, and detect: one repeat of the study on one data set.

    Parameters
    ----------
    data : foldshift.datasets.Dataset
        Classification data set, not scaled.
    learners : dict of str to dict
        Entries of the learners file by name.
    master_seed, repeat : int
        What all randomness is derived from, with the names of data set, condition and learner: rows do not depend on what else is
        measured.
    positive : str, optional
        The positive class; see `positive_class`.
    alpha : float, default=0.05
        Level of the tests whose failures are counted.
    mask : {"median", "missing"}, default="median"
        What a learner sees where a feature is masked: its median in the training part (the most frequent category of a nominal
        one), or NaN, at which most learners fail. Naive Bayes leaves the feature out in both.
    removed : {"smallest", "largest"}, default="smallest"
        Which values of a feature MAR, MNAR and true MNAR drop.
    n_bootstraps : int, default=100
        Bootstraps of the paper's Friedman test.
    n_versions_multivariate, n_repeats_multivariate : int
        The first versions of every condition, in the first repeats, on which the tests with permutations of rows are made.
    n_permutations : int, default=200
        Permutations of these.
    progress : callable, optional
        Called with one line of text for every condition that is refused and every learner that fails.

    Returns
    -------
    rows : dict of str to dict of str to ndarray
        ``shift``, ``readings``, ``co_failure``, ``learners``, ``multivariate``: columns by name.

    Raises
    ------
    ValueError
        If a class has fewer than 4 rows, or an argument is not allowed.

    Notes
    -----
    Numeric inputs are scaled to [0, 1] by the training part before any learner. A row is called positive where its score is above
    .5. Conditions that would leave a class with fewer than 5 rows have no rows. Nominal features are not translated.

    "Valid" p-values of a numeric feature are two-sided: exact for small samples, else asymptotic; under ties both are
    conservative. Those of a nominal one are chi-square's, in both columns.

    References
    ----------
    .. [1] Cieslak, D.A., Chawla, N.V. (2009). A framework for monitoring classifiers' performance: when and why failure occurs?
       Knowledge and Information Systems 18, 83-108.
    """
    if mask not in ("median", "missing"):
        raise ValueError(f"mask={mask!r} must be 'median' or 'missing'")
    if removed not in ENDS:
        raise ValueError(f"removed={removed!r} must be 'smallest' or 'largest'")
    y = positive_class(data, positive)
    parts = split(y, generator(master_seed, STUDY, data.name, "split", repeat))
    nominal = data.categorical_features
    train, test = data.X[parts.train], data.X[parts.test]
    y_train, y_test = y[parts.train], y[parts.test]
    scale = np.where(nominal, 0.0, feature_scale(train))
    scored = {}
    for name, spec in learners.items():
        state = fit_states(master_seed, (STUDY, data.name, name), [repeat], 1)[0, 0]
        scored[name] = learner_scores(spec, data, parts, y, scale, mask, state)
        for line in dict.fromkeys(text for text in scored[name].messages.values() if text):
            progress(f"repeat {repeat}: {name} failed: {line}")
    rows = {kind: [] for kind in SCHEMAS}
    for condition in CONDITIONS:

        def shift_test(end, condition=condition):
            # MAR and MNAR share the draw, and so their rows.
            kind = "mar" if condition.kind == "mnar" else condition.kind
            return versions(
                test,
                y_test,
                condition.kind,
                condition.severity,
                rng=generator(master_seed, STUDY, data.name, "rows", repeat, kind, condition.severity),
                scale=scale,
                n_versions=1 if condition is UNSHIFTED else None,
                positive=True,
                removed=end,
            )

        try:
            shifted = shift_test(removed)
        except ValueError as error:
            progress(f"repeat {repeat}: {condition.name} left out: {error}")
            continue
        n_versions = len(shifted.feature)

        def seed(purpose, *names, condition=condition):
            return generator(master_seed, STUDY, data.name, purpose, repeat, condition.name, *names)

        searched = range(min(n_versions_multivariate, n_versions) if repeat < n_repeats_multivariate else 0)
        tables = [complete_tables(train, test, shifted, version) for version in searched]
        per_version, per_condition = shift_rows(train, test, y_train, y_test, shifted, nominal, alpha)
        per_version["hellinger_p"][: len(tables)] = [
            hellinger_permutation_p(a, b, seed("hellinger", v), n_permutations, nominal[kept])
            for v, (a, b, kept) in enumerate(tables)
        ]
        if condition is UNSHIFTED or condition.kind == "prior":
            per_version |= class_failures(train, test, y_train, y_test, shifted.rows[0], nominal, alpha)
        keys = {"dataset": data.name, "repeat": repeat, "condition": condition.name}
        if condition.kind in ("mcar", "mar", "mnar"):
            by_end = {end: shifted if end == removed or condition.kind == "mcar" else shift_test(end) for end in ENDS}
            rows["readings"].append(_columns(4, **keys, **count_readings(train, test, by_end, nominal, alpha)))
        rows["shift"].append(_columns(n_versions, **keys, version=np.arange(n_versions), **per_version))
        rows["co_failure"].append(_columns(1, **keys, **per_condition))
        for name, scores in scored.items():
            found = detector_rows(scores, condition, shifted, y_test, n_bootstraps, seed("friedman", name))
            rows["learners"].append(_columns(n_versions, **keys, version=np.arange(n_versions), learner=name, **found))
        for v, (a, b, kept) in enumerate(tables):
            for name, found in multivariate_tests(a, b, nominal[kept], n_permutations, lambda name, v=v: seed(name, v)).items():
                rows["multivariate"].append(_columns(1, **keys, version=v, detector=name, **found))
    return {kind: _joined(parts) for kind, parts in rows.items()}


def first_call():
    """Call what is compiled here: one repeat on made-up data, with the learners that have a way of their own."""
    rng, n_rows = np.random.default_rng(0), 90
    X = np.column_stack([rng.random((n_rows, 2)), np.arange(n_rows) % 3, np.arange(n_rows) % 2])
    kinds, names, categories = ("real", "real", "nominal", "nominal"), tuple("abcd"), ((), (), ("a", "b", "c"), ("a", "b"))
    data = Dataset(
        "first calls", "classification", X, rng.permutation(np.arange(n_rows) % 2), names, kinds, categories, ("0", "1"), None,
        "y", (0, 0), np.zeros((4, 2)), "none", np.arange(n_rows), 0, (), (),
    )  # fmt: skip
    learners = {
        "NB": {"import": "foldshift.learners.NaiveBayesClassifier", "nominal": "native"},
        "5NN": {"import": "foldshift.learners.NNClassifier", "nominal": "native", "params": {"n_neighbors": 5}},
    }
    measure_repeat(data, learners, 0, 0, n_bootstraps=2, n_versions_multivariate=1, n_repeats_multivariate=0)


def _columns(n, **columns):
    """Columns of n rows; single values are repeated."""
    return {
        name: np.full(n, value, dtype=object if isinstance(value, str) else None) if np.ndim(value) == 0 else np.asarray(value)
        for name, value in columns.items()
    }


def _joined(parts):
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]} if parts else {}
