"""Methods compared by their average ranks over independent blocks: Friedman's test, and which methods are not told apart."""

from typing import NamedTuple

import numpy as np
from scipy import stats

from foldshift.inference.corrections import adjust_p
from foldshift.inference.wilcoxon import wilcoxon_signed_ranks


class Friedman(NamedTuple):
    """Result of `friedman`."""

    average_ranks: np.ndarray
    chi2: float
    df: int
    p_chi2: float
    f: float
    df_f: tuple
    p_f: float


class CriticalDifference(NamedTuple):
    """Result of `critical_difference`; methods in order of average rank, then name.

    Attributes
    ----------
    names : tuple of str
        Methods, the best first.
    average_ranks : ndarray of shape (k,)
        1 is best.
    friedman : Friedman
        Friedman's test of all methods, with the same order.
    p_values : ndarray of shape (k, k)
        Of every pair, corrected for the number of pairs; symmetric, 1 on the diagonal.
    groups : tuple of tuple of int
        Positions in `names` of every largest set of two or more methods of which no pair is told apart.
    difference : float
        Nemenyi's critical difference of average ranks; NaN for Holm, which has none.
    alpha : float
        Level.
    method : {"nemenyi", "holm"}
        How pairs are tested.
    n_blocks : int
        Data sets or sources.
    """

    names: tuple
    average_ranks: np.ndarray
    friedman: Friedman
    p_values: np.ndarray
    groups: tuple
    difference: float
    alpha: float
    method: str
    n_blocks: int


def friedman(scores, *, larger_is_better=True):
    """Friedman's test, corrected for ties, with Iman and Davenport's F; two methods are allowed.

    Parameters
    ----------
    scores : array-like of shape (n_blocks, k)
        Score of every method on every block. Blocks must be independent: data sets or sources, never folds or repetitions on one
        data set.
    larger_is_better : bool, default=True
        Whether the largest score of a block has rank 1. Equal scores share the mean of their ranks.

    Returns
    -------
    test : Friedman
        average_ranks (k,); chi2 with df = k - 1 degrees of freedom and its p; f with df_f = (k - 1, (k - 1)(n - 1)) and its p.
        Where all methods tie on every block, both statistics are 0 and both p 1; f is infinite where all blocks have the same
        order. For two methods chi2 is the sign test's, ``(wins - losses)^2 / blocks that are not tied``.

    Raises
    ------
    ValueError
        If there are fewer than two blocks or methods, or a score is not finite.

    References
    ----------
    .. [1] Demsar, J. (2006). Statistical comparisons of classifiers over multiple data sets. JMLR 7, 1-30, section 3.2.2.
    .. [2] Iman, R. L. and Davenport, J. M. (1980). Approximations of the critical region of the Friedman statistic.
    Communications in Statistics A9, 571-595.
    """
    scores = _checked(scores)
    n, k = scores.shape
    ranks = stats.rankdata(-scores if larger_is_better else scores, axis=1)
    # Twice a rank is an integer, so sums are exact: methods that tie have the same average rank to the last bit.
    sums = ranks.sum(axis=0)
    between = ((sums - n * (k + 1) / 2) ** 2).sum()
    within = (ranks**2).sum() - n * k * (k + 1) ** 2 / 4
    chi2 = (k - 1) * between / within if within > 0 else 0.0
    left = n * (k - 1) - chi2
    f = (n - 1) * chi2 / left if left > 1e-12 * n * k else np.inf
    df_f = (k - 1, (k - 1) * (n - 1))
    return Friedman(sums / n, float(chi2), k - 1, float(stats.chi2.sf(chi2, k - 1)), float(f), df_f, float(stats.f.sf(f, *df_f)))


def critical_difference(scores, names, *, alpha=0.05, method="nemenyi", larger_is_better=True):
    """Rank methods over independent blocks and say which are not told apart: what a critical-difference diagram shows.

    Parameters
    ----------
    scores : array-like of shape (n_blocks, k)
        Score of every method on every block. Blocks are data sets or sources, one number each, averaged over folds and
        repetitions before. Folds or repetitions of one data set share their rows; as blocks they would make any difference
        significant.
    names : sequence of str
        Names of the k methods, all different.
    alpha : float, default=0.05
        Level over all pairs together.
    method : {"nemenyi", "holm"}, default="nemenyi"
        ``nemenyi``: pairs whose average ranks differ by less than ``q sqrt(k (k + 1) / (6 n))`` are not told apart; the result
        depends on which other methods are in the table. ``holm``: Wilcoxon's signed-ranks test of every pair, with Holm's
        correction; it does not.
    larger_is_better : bool, default=True
        False for errors.

    Returns
    -------
    result : CriticalDifference
        The groups are there whatever Friedman's test says: Nemenyi and Holm hold their level alone.

    Raises
    ------
    ValueError
        If there are fewer than two blocks or methods, a score is not finite, or names are too few, too many or not all different.

    References
    ----------
    .. [1] Demsar, J. (2006). Statistical comparisons of classifiers over multiple data sets. JMLR 7, 1-30, section 3.2.2 and
    Figure 1.
    .. [2] Benavoli, A., Corani, G. and Mangili, F. (2016). Should we really use post-hoc tests based on mean-ranks? JMLR 17(5),
    1-10.
    """
    if method not in ("nemenyi", "holm"):
        raise ValueError(f"method={method!r} must be 'nemenyi' or 'holm'")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha={alpha!r} must be between 0 and 1, e.g. 0.05")
    scores = _checked(scores)
    n, k = scores.shape
    names = tuple(str(name) for name in names)
    if len(names) != k or len(set(names)) != k:
        raise ValueError(f"names has {len(names)} names, {len(set(names))} of them different; expected {k}, one for every column")
    test = friedman(scores, larger_is_better=larger_is_better)
    order = sorted(range(k), key=lambda i: (test.average_ranks[i], names[i]))
    scores, ranks = scores[:, order], test.average_ranks[order]
    p_values, difference = np.ones((k, k)), np.nan
    if method == "nemenyi":
        unit = np.sqrt(k * (k + 1) / (6 * n))
        apart = np.abs(ranks[:, None] - ranks)
        # the studentized range of two is twice a normal, which is exact where its quadrature is not
        p_values = 2 * stats.norm.sf(apart / unit) if k == 2 else stats.studentized_range.sf(apart / unit * 2**0.5, k, np.inf)
        np.fill_diagonal(p_values, 1.0)
        q = stats.norm.isf(alpha / 2) if k == 2 else stats.studentized_range.isf(alpha, k, np.inf) / 2**0.5
        difference = float(q * unit)
        told_apart = apart >= difference
    else:
        rows, columns = np.triu_indices(k, 1)
        p = adjust_p(wilcoxon_signed_ranks(scores[:, rows].T, scores[:, columns].T).p_value, "holm")
        p_values[rows, columns] = p_values[columns, rows] = p
        told_apart = p_values <= alpha
    return CriticalDifference(
        tuple(names[i] for i in order),
        ranks,
        test._replace(average_ranks=ranks),
        p_values,
        cliques(~told_apart),
        difference,
        alpha,
        method,
        n,
    )


def cliques(joined):
    """Largest sets of two or more of which every pair is joined.

    Parameters
    ----------
    joined : ndarray of shape (k, k), bool
        Symmetric; the diagonal does not count.

    Returns
    -------
    groups : tuple of tuple of int
        Every maximal clique, sorted; one is not part of another.

    References
    ----------
    .. [1] Bron, C. and Kerbosch, J. (1973). Algorithm 457: finding all cliques of an undirected graph. Communications of the ACM
    16, 575-577.
    """
    neighbours = [{int(j) for j in np.flatnonzero(row) if j != i} for i, row in enumerate(joined)]
    found = []

    def extend(clique, candidates, excluded):
        if not candidates and not excluded:
            found.append(tuple(sorted(clique)))
            return
        pivot = max(candidates | excluded, key=lambda i: len(candidates & neighbours[i]))
        for i in sorted(candidates - neighbours[pivot]):
            extend([*clique, i], candidates & neighbours[i], excluded & neighbours[i])
            candidates = candidates - {i}
            excluded = excluded | {i}

    extend([], set(range(len(neighbours))), set())
    return tuple(sorted(group for group in found if len(group) > 1))


def _checked(scores):
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 2 or scores.shape[0] < 2 or scores.shape[1] < 2:
        raise ValueError(f"scores has shape {scores.shape}; expected (n_blocks, n_methods) with two or more of both")
    bad = ~np.isfinite(scores)
    if bad.any():
        first = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(
            f"scores has {bad.sum()} NaN or infinite values, the first at {first}; leave that block or that method out"
        )
    return scores
