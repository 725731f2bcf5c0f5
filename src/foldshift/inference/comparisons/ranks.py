"""Comparison of methods by their average ranks over independent blocks: Friedman's test, and the methods not told apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from foldshift.core.arguments import check_one_of, column_names
from foldshift.core.gate.numbers import as_numbers, check_finite
from foldshift.core.repr import readable
from foldshift.inference._midranks import midranks
from foldshift.inference.comparisons.wilcoxon import orders, rank_sums, wilcoxon_signed_ranks
from foldshift.inference.corrections import adjust_p

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from foldshift.core.types import Array, BoolArray, FloatArray, TableLike

SMALL = 60  # scores; up to these, p-values come from the permutation distribution
LEAST = float(np.finfo(np.float64).tiny)  # least p-value, as none is 0
PAIRS = {
    "nemenyi": "the largest difference of two average ranks (Nemenyi)",
    "bonferroni_dunn": "the differences from the control (Bonferroni-Dunn)",
    "holm": "Wilcoxon's signed ranks of every pair, corrected by Holm",
}


@readable
class Friedman(NamedTuple):
    """Result of `friedman`."""

    average_ranks: Array  # 1 is best; shape (k,)
    chi2: float  # chi2, df, p_chi2: Friedman's statistic, its degrees of freedom and its p
    df: int
    p_chi2: float
    f: float  # f, df_f, p_f: Iman and Davenport's statistic, its degrees of freedom and its p
    df_f: tuple[int, int]
    p_f: float
    # source of the p-values: ``exact``, ``Monte Carlo``, or ``approximation`` (chi-square and F)
    distribution: str = "approximation"

    def sentences(self) -> list[str]:
        """Report the test in words."""
        k, n = self.df + 1, self.df_f[1] // self.df_f[0] + 1
        return [
            f"Friedman's test of {k} methods over {n} blocks: chi-square = {self.chi2:.4g}, p = {self.p_chi2:.3g}; Iman and "
            f"Davenport's F = {self.f:.4g}, p = {self.p_f:.3g}.",
            _source(self.distribution, "The F orders outcomes as the chi-square does, so both have the same p."),
        ]

    def to_frame(self) -> pd.DataFrame:
        """Table with one row for each statistic."""
        rows = [("Friedman chi-square", self.chi2, self.df, self.p_chi2), ("Iman-Davenport F", self.f, self.df_f, self.p_f)]
        return pd.DataFrame(rows, columns=["test", "statistic", "df", "p_value"])


@readable
class CriticalDifference(NamedTuple):
    """Result of `critical_difference`; methods in order of average rank, then name."""

    names: tuple[str, ...]  # methods, the best first
    average_ranks: Array  # 1 is best; shape (k,)
    friedman: Friedman  # Friedman's test of all methods, with the same order
    # of every pair, corrected for the number of pairs; symmetric, 1 on the diagonal. With a control NaN for pairs without it;
    # shape (k, k)
    p_values: Array
    # positions in `names` of every largest set of two or more methods with no pair told apart. With a control, the one set of the
    # control and all methods not told apart from it
    groups: tuple[tuple[int, ...], ...]
    # smallest difference of average ranks that tells two methods apart; infinite if none can with so few blocks, NaN for Holm,
    # which has none
    difference: float
    alpha: float  # level
    method: str  # test of the pairs
    n_blocks: int  # data sets or sources
    # source of the p-values of pairs: ``exact``, ``Monte Carlo`` or ``approximation``; for Holm the method of Wilcoxon's test
    distribution: str = "approximation"
    control: str | None = None  # method that the others are compared with

    def sentences(self) -> list[str]:
        """Report the ranks and the methods told apart, in words."""
        apart = [(i, j) for i, j in self._pairs() if self.p_values[i, j] <= self.alpha]
        told = "; ".join(f"{self.names[i]} from {self.names[j]}" for i, j in apart) or "no pair"
        needed = f" Average ranks must differ by {self.difference:.3g}." if np.isfinite(self.difference) else ""
        if self.difference == np.inf:
            needed = f" With {self.n_blocks} blocks no difference of ranks can reach that level."
        order = ", ".join(f"{name} {rank:.2f}" for name, rank in zip(self.names, self.average_ranks))
        return [
            f"Average ranks over {self.n_blocks} blocks, 1 is best: {order}.",
            self.friedman.sentences()[0],
            f"Told apart at alpha = {self.alpha:g} by {PAIRS[self.method]}: {told}.{needed}",
            f"p-values of pairs: {self.distribution}." if self.method == "holm" else _source(self.distribution, ""),
        ]

    def to_frame(self) -> pd.DataFrame:
        """Table with one row for each pair that was tested, the better rank first."""
        rows = [
            (
                self.names[i],
                self.names[j],
                self.average_ranks[j] - self.average_ranks[i],
                self.p_values[i, j],
                bool(self.p_values[i, j] <= self.alpha),
            )
            for i, j in self._pairs()
        ]
        return pd.DataFrame(rows, columns=["method", "other", "rank_difference", "p_value", "told_apart"])

    def plot(self, ax: Axes | None = None, *, blocks: str = "data sets") -> Axes:
        """Draw the critical-difference diagram in `ax` or in a figure of the right size; the footer names the blocks."""
        from foldshift.inference.comparisons.rank_diagram import draw_diagram, layout

        test = self.friedman
        sizes = layout(
            self,
            f"Average ranks over {self.n_blocks} {blocks}, 1 is best. Friedman: p {test.p_chi2:.3g}; Iman-Davenport: p "
            f"{test.p_f:.3g}. Bars join methods not told apart at {self.alpha:g} by {PAIRS[self.method]}.",
        )
        if ax is None:
            from matplotlib import pyplot as plt

            ax = plt.figure(figsize=(sizes.width, sizes.height), layout="none").add_axes((0, 0, 1, 1))
        draw_diagram(ax, self, sizes)
        return ax

    def _pairs(self) -> list[tuple[int, int]]:
        rows, columns = np.nonzero(np.triu(~np.isnan(self.p_values), 1))
        return list(zip(rows.tolist(), columns.tolist()))


def friedman(
    scores: TableLike, *, larger_is_better: bool = True, distribution: Literal["auto", "approximation"] = "auto"
) -> Friedman:
    """Friedman's test, corrected for ties, with Iman and Davenport's F; two methods are allowed.

    Parameters
    ----------
    scores : array-like of shape (n_blocks, k)
        Score of every method on every block. Blocks must be independent: data sets or sources, never folds or repetitions on one
        data set.
    larger_is_better : bool, default=True
        True if the largest score of a block has rank 1. Equal scores share the mean of their ranks; scores that differ by
        rounding are equal.
    distribution : {"auto", "approximation"}, default="auto"
        ``auto``: for two methods, and up to 60 scores, p is the share of all orders of the ranks within blocks whose statistic is
        as large, counted exactly or, if there are too many, drawn (99,999 draws of a fixed seed). Both statistics order
        outcomes alike, so both have the same p. Above: the chi-square and F distributions. ``approximation``: always these.

    Returns
    -------
    test : Friedman
        average_ranks (k,); chi2 with df = k - 1 degrees of freedom and its p; f with df_f = (k - 1, (k - 1)(n - 1)) and its p.
        If all methods tie on every block, both statistics are 0 and both p 1; f is infinite if all blocks have the same
        order. p is never 0. For two methods chi2 is the sign test's, ``(wins - losses)^2 / blocks that are not tied``.

    Raises
    ------
    ValueError
        If there are fewer than two blocks or methods, a score is not finite, or `distribution` is not known.

    Examples
    --------
    >>> test = friedman([[0.9, 0.8], [0.7, 0.6], [0.8, 0.7], [0.9, 0.5], [0.6, 0.5]])
    >>> test.p_f, test.distribution
    (0.0625, 'exact')

    References
    ----------
    .. [1] Demsar, J. (2006). Statistical comparisons of classifiers over multiple data sets. JMLR 7, 1-30, section 3.2.2.
    .. [2] Iman, R. L. and Davenport, J. M. (1980). Approximations of the critical region of the Friedman statistic.
           Communications in Statistics A9, 571-595.
    .. [3] Friedman, M. (1937). The use of ranks to avoid the assumption of normality. Journal of the American Statistical
           Association 32, 675-701 (the permutation distribution).
    """
    exact = _wants_exact(distribution)
    scores = _checked(scores)
    return _friedman(_ranks(scores, larger_is_better), exact)


def critical_difference(
    scores: TableLike,
    names: Sequence[str] | None = None,
    *,
    alpha: float = 0.05,
    method: Literal["nemenyi", "bonferroni_dunn", "holm"] = "nemenyi",
    control: str | None = None,
    larger_is_better: bool = True,
    distribution: Literal["auto", "approximation"] = "auto",
) -> CriticalDifference:
    """Rank methods over independent blocks and find those not told apart, as in a critical-difference diagram.

    Parameters
    ----------
    scores : array-like of shape (n_blocks, k)
        Score of every method on every block. Blocks are data sets or sources, one number each, averaged over folds and
        repetitions before. Folds or repetitions of one data set share their rows; as blocks they would make any difference
        significant.
    names : sequence of str, optional
        Names of the k methods, all different; by default those of the columns of a data frame.
    alpha : float, default=0.05
        Level over all pairs together.
    method : {"nemenyi", "bonferroni_dunn", "holm"}, default="nemenyi"
        ``nemenyi``: pairs whose average ranks differ by less than ``q sqrt(k (k + 1) / (6 n))`` are not told apart; the result
        depends on which other methods are in the table. ``bonferroni_dunn``: the same against a control alone, ``q`` the normal
        quantile of ``alpha / (2 (k - 1))``. For two methods, and up to 60 scores, both take the largest difference over all
        orders of the ranks within blocks instead, as `friedman` does. ``holm``: Wilcoxon's signed-ranks test
        of every pair, with Holm's correction; it does not depend on the others.
    control : str, optional
        One of `names`, for ``bonferroni_dunn``.
    larger_is_better : bool, default=True
        False for errors.
    distribution : {"auto", "approximation"}, default="auto"
        As for `friedman`.

    Returns
    -------
    result : CriticalDifference
        The groups do not depend on Friedman's test: Nemenyi and Holm hold their level alone.

    Raises
    ------
    ValueError
        If there are fewer than two blocks or methods, a score is not finite, names are too few, too many or not all different, or
        the control is missing or not wanted.

    Examples
    --------
    >>> result = critical_difference([[3, 2, 1]] * 5, ["a", "b", "c"])
    >>> [[result.names[i] for i in group] for group in result.groups], result.difference
    ([['a', 'b'], ['b', 'c']], 1.6)

    References
    ----------
    .. [1] Demsar, J. (2006). Statistical comparisons of classifiers over multiple data sets. JMLR 7, 1-30, section 3.2.2 and
           Figure 1.
    .. [2] Benavoli, A., Corani, G. and Mangili, F. (2016). Should we really use post-hoc tests based on mean-ranks? JMLR 17(5),
           1-10.
    """
    check_one_of("method", method, PAIRS)
    if not 0 < alpha < 1:
        raise ValueError(f"alpha={alpha!r} must be between 0 and 1, e.g. 0.05")
    exact = _wants_exact(distribution)
    given = column_names(scores) if names is None else names
    scores = _checked(scores)
    n, k = scores.shape
    if given is None:
        raise ValueError(f"names is missing; give one for each of the {k} columns, or a data frame with names")
    names = tuple(str(name) for name in given)
    if len(names) != k or len(set(names)) != k:
        raise ValueError(f"names has {len(names)} names, {len(set(names))} of them different; expected {k}, one for every column")
    if (method == "bonferroni_dunn") != (control is not None) or control not in (None, *names):
        raise ValueError(
            f"control={control!r} must be one of {', '.join(names)} with method='bonferroni_dunn', which compares the others "
            f"with it, and None with other methods; got method={method!r}"
        )
    ranks = _ranks(scores, larger_is_better)
    test = _friedman(ranks, exact)
    order = [i for _, _, i in sorted(zip(test.average_ranks, names, range(k)))]
    names, ranks = tuple(names[i] for i in order), ranks[:, order]
    against = None if control is None else names.index(control)
    pairs = _holm(scores[:, order]) if method == "holm" else _differences(ranks, alpha, against, exact)
    if against is None:
        groups = cliques(pairs.p_values > alpha)
    else:
        joined = np.flatnonzero(pairs.p_values[against] > alpha)
        groups = (tuple(joined.tolist()),) if len(joined) > 1 else ()
    average_ranks = test.average_ranks[order]
    test = test._replace(average_ranks=average_ranks)
    return CriticalDifference(
        names, average_ranks, test, pairs.p_values, groups, pairs.difference, alpha, method, n, pairs.distribution, control
    )


class _Pairs(NamedTuple):
    """p-values of all pairs (k, k), the critical difference of average ranks, and the source of both."""

    p_values: FloatArray
    difference: float
    distribution: str


def _friedman(ranks: FloatArray, exact: bool) -> Friedman:
    n, k = ranks.shape
    # Twice a rank is an integer, so sums are exact: methods that tie have the same average rank to the last bit.
    sums = ranks.sum(axis=0)
    between = ((sums - n * (k + 1) / 2) ** 2).sum()
    within = (ranks**2).sum() - n * k * (k + 1) ** 2 / 4
    chi2 = (k - 1) * between / within if within > 0 else 0.0
    left = n * (k - 1) - chi2
    agree = left <= 1e-12 * n * k
    f = np.inf if agree else (n - 1) * chi2 / left
    df_f = (k - 1, (k - 1) * (n - 1))
    if exact and _is_small(ranks):
        null = rank_sums(ranks)
        p_chi2 = p_f = float(null.spread_p(np.rint(2 * sums)))
        distribution = "exact" if null.exact else "Monte Carlo"
    else:
        p_chi2, distribution = float(stats.chi2.sf(chi2, k - 1)), "approximation"
        # all blocks the same: the order of the first one, again in all others
        p_f = float(orders(tuple(ranks[0]))) ** (1.0 - n) if agree else float(stats.f.sf(f, *df_f))
    return Friedman(sums / n, float(chi2), k - 1, max(p_chi2, LEAST), float(f), df_f, max(p_f, LEAST), distribution)


def _differences(ranks: FloatArray, alpha: float, control: int | None, exact: bool) -> _Pairs:
    """Test the differences of average ranks."""
    n, k = ranks.shape
    sums = ranks.sum(axis=0)
    apart = np.abs(sums[:, None] - sums)  # multiples of one half, so exact
    if exact and _is_small(ranks):
        null = rank_sums(ranks)
        p_values = null.difference_p(np.rint(2 * apart), control=control is not None)
        difference = null.smallest_difference(alpha, control=control is not None) / (2 * n)
        distribution = "exact" if null.exact else "Monte Carlo"
    else:
        unit = np.sqrt(k * (k + 1) / (6 * n))
        z = apart / n / unit
        if k == 2:  # the studentized range of two is twice a normal, which is exact where its quadrature is not
            p_values, q = 2 * stats.norm.sf(z), stats.norm.isf(alpha / 2)
        elif control is None:
            p_values = stats.studentized_range.sf(z * 2**0.5, k, np.inf)
            q = stats.studentized_range.isf(alpha, k, np.inf) / 2**0.5
        else:
            p_values = np.minimum(1.0, (k - 1) * 2 * stats.norm.sf(z))
            q = stats.norm.isf(alpha / (2 * (k - 1)))
        difference, distribution = float(q * unit), "approximation"
    p_values = np.maximum(p_values, LEAST)
    if control is not None:
        others = np.arange(k) != control
        p_values[np.ix_(others, others)] = np.nan
    np.fill_diagonal(p_values, 1.0)
    return _Pairs(p_values, difference, distribution)


def _holm(scores: FloatArray) -> _Pairs:
    """Test every pair by Wilcoxon's signed ranks with Holm's correction."""
    k = scores.shape[1]
    p_values = np.ones((k, k))
    rows, columns = np.triu_indices(k, 1)
    p = adjust_p(wilcoxon_signed_ranks(scores[:, rows].T, scores[:, columns].T).p_value, "holm")
    p_values[rows, columns] = p_values[columns, rows] = p
    return _Pairs(p_values, np.nan, "Wilcoxon's")


def _wants_exact(distribution: str) -> bool:
    check_one_of("distribution", distribution, ("auto", "approximation"))
    return distribution == "auto"


def _is_small(ranks: FloatArray) -> bool:
    return ranks.shape[1] == 2 or ranks.size <= SMALL


def _ranks(scores: FloatArray, larger_is_better: bool) -> FloatArray:
    return midranks(-scores if larger_is_better else scores, np.abs(scores).max(axis=1))


def _source(distribution: str, more: str) -> str:
    """Name the source of p-values in words."""
    if distribution == "approximation":
        return "p-values are those of the limiting distributions, which are for many blocks."
    how = "counted exactly" if distribution == "exact" else "by 99,999 random draws"
    return f"p-values are shares of all orders of the ranks within blocks, {how}. {more}".strip()


def cliques(joined: BoolArray) -> tuple[tuple[int, ...], ...]:
    """Maximal sets of two or more of which every pair is joined, sorted; none is part of another.

    Source: Bron, C. and Kerbosch, J. (1973). Algorithm 457: finding all cliques of an undirected graph. Communications of the ACM
    16, 575-577.
    """
    neighbours = [{int(j) for j in np.flatnonzero(row) if j != i} for i, row in enumerate(joined)]
    found = []

    def extend(clique: list[int], candidates: set[int], excluded: set[int]) -> None:
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


def _checked(scores: TableLike) -> FloatArray:
    scores = as_numbers(scores, "scores")
    if scores.ndim != 2 or scores.shape[0] < 2 or scores.shape[1] < 2:
        raise ValueError(f"scores has shape {scores.shape}; expected (n_blocks, n_methods) with two or more of both")
    check_finite(scores, "scores", "leave that block or that method out")
    return scores
