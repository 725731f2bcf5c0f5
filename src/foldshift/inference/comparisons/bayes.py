"""Bayesian comparisons of two learners over data sets, with a region of practical equivalence."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from scipy import special, stats

from foldshift.core.gate.arrays import as_list
from foldshift.core.gate.numbers import as_numbers
from foldshift.core.gate.rows import check_pairs
from foldshift.core.repr import readable
from foldshift.inference._midranks import SAME

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import FloatArray, TableLike

PRIOR_STRENGTH = 0.5  # of the Dirichlet process, in data sets
BOUND = 1000  # standard deviations up to which those of the priors reach
ALPHA, BETA = (1.0, 2.0), (0.01, 0.1)  # ends of the uniform priors for shape and rate of the gamma that nu has
CHAINS, BURN_IN, STEPS = 40, 300, 6


FEWEST_BLOCKS = 6  # fewer agree by chance more often than in .05 of studies


@readable
class BayesianSignedRanks(NamedTuple):
    """Result of `bayesian_signed_ranks`."""

    # left, rope, right: Probability that differences below the region, within it, or above it are the most common: the second
    # learner's score is larger in practice, neither is, the first one's is. They sum to 1
    left: float
    rope: float
    right: float
    shares: tuple[float, ...]  # posterior means of the shares of the three
    margin: float  # half-width of the region of practical equivalence
    n_blocks: int  # n_blocks, n_draws: Blocks, and draws of the posterior
    n_draws: int

    def sentences(self) -> list[str]:
        """Report the posterior in words."""
        return [
            f"Bayesian signed ranks over {self.n_blocks} blocks: {_words(self)}.",
            *(
                [
                    f"{self.n_blocks} blocks are too few: if neither learner is better, all blocks agree by chance in "
                    f"{100 * 2.0 ** (1 - self.n_blocks):.3g} % of studies, and these probabilities are then near 0 or 1."
                ]
                if self.n_blocks < FEWEST_BLOCKS
                else []
            ),
            f"From {self.n_draws} draws of the posterior; standard error of a probability up to {0.5 / self.n_draws**0.5:.2g}.",
        ]

    def to_frame(self) -> pd.DataFrame:
        """Table with one row for each of the three regions."""
        return _regions(self, self.shares)


@readable
class BayesianHierarchical(NamedTuple):
    """Result of `bayesian_hierarchical`."""

    # left, rope, right: Probability that, on a further data set, a mean difference below the region is the most probable, one
    # within it, or one above it. They sum to 1
    left: float
    rope: float
    right: float
    next_dataset: tuple[float, ...]  # probability that the mean difference on a further data set is below, within, above
    # mean, spread: Mean difference over data sets (mu0) and the scale of its spread (sigma0): posterior mean and equal-tailed
    # interval
    mean: tuple[float, ...]
    spread: tuple[float, ...]
    # for every data set: mean difference as observed and as estimated together with the others (which draws it to their mean),
    # its interval, and its probabilities of the three regions
    datasets: pd.DataFrame
    margin: float  # half-width of the region of practical equivalence
    confidence: float  # of the intervals
    r_hat: float  # the largest of mu0, log sigma0 and log nu: chains of the sampler agree where it is near 1
    n_draws: int  # draws of the posterior

    def sentences(self) -> list[str]:
        """Report the posterior in words."""
        doubt = "" if self.r_hat < 1.05 else " The chains do not agree yet: ask for more draws."
        return [
            f"Hierarchical model over {len(self.datasets)} data sets: {_words(self)}.",
            f"Mean difference over data sets {self.mean[0]:.4g} ({self.confidence:g} interval {self.mean[1]:.4g} to "
            f"{self.mean[2]:.4g}); scale of its spread between them {self.spread[0]:.4g} ({self.spread[1]:.4g} to "
            f"{self.spread[2]:.4g}).",
            f"From {self.n_draws} draws of the posterior, R-hat {self.r_hat:.3f}.{doubt}",
        ]

    def to_frame(self) -> pd.DataFrame:
        """Table with one row for each of the three regions."""
        return _regions(self, self.next_dataset)


def bayesian_signed_ranks(
    a: ArrayLike, b: ArrayLike, *, rope: float = 0.0, n_draws: int = 50_000, random_state: int = 0
) -> BayesianSignedRanks:
    """Bayesian signed-ranks test over data sets, with a region of practical equivalence.

    The distribution of the differences has a Dirichlet process as prior, of strength one half at a difference of 0; asked is
    where the mean of two differences drawn from it lies, below, within or above the region.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Paired results on independent blocks, e.g. the accuracy of two methods on n data sets.
    rope : float, default=0.0
        Half-width of the region of practical equivalence around 0, in units of the score; 0 for none.
    n_draws : int, default=50000
        Draws of the posterior.
    random_state : int, default=0
        Seed of the draws.

    Returns
    -------
    posterior : BayesianSignedRanks

    Raises
    ------
    ValueError
        If the shapes differ, there is no pair, a value is not finite, or rope or n_draws is out of range.

    Examples
    --------
    >>> posterior = bayesian_signed_ranks([0.91, 0.84, 0.77, 0.69, 0.88], [0.85, 0.80, 0.70, 0.66, 0.80], rope=0.01)
    >>> posterior.right > 0.99
    True

    References
    ----------
    .. [1] Benavoli, A., Mangili, F., Corani, G., Zaffalon, M. and Ruggeri, F. (2014). A Bayesian Wilcoxon signed-rank test based
       on the Dirichlet process. ICML, PMLR 32(2), 1026-1034.
    .. [2] Benavoli, A., Corani, G., Demsar, J. and Zaffalon, M. (2017). Time for a change: a tutorial for comparing multiple
       classifiers through Bayesian analysis. JMLR 18(77), 1-36, section 4.2.
    """
    check_pairs(a=a, b=b)
    a, b = as_numbers(a, "a"), as_numbers(b, "b")
    if a.shape != b.shape or a.ndim != 1 or a.size == 0:
        raise ValueError(f"a and b have shapes {a.shape} and {b.shape}; expected (n,) twice, with at least one pair")
    if not (np.isfinite(a) & np.isfinite(b)).all():
        raise ValueError("a and b must hold finite numbers; a value is NaN or infinite")
    _check(rope, n_draws)
    z = np.append(0.0, a - b)
    sums = z[:, None] + z
    same = 2 * SAME * max(np.abs(a).max(), np.abs(b).max(), rope)
    # a mean on the border of the region counts one half on either side
    above, below = (np.where(np.abs(side - 2 * rope) <= same, 0.5, side > 2 * rope) for side in (sums, -sums))
    weights = np.random.default_rng(random_state).dirichlet(np.append(PRIOR_STRENGTH, np.ones(len(a))), n_draws)
    right, left = (((weights @ side) * weights).sum(axis=1) for side in (above, below))
    theta = np.stack([left, 1 - left - right if rope > 0 else np.zeros(n_draws), right], axis=1)
    shares = tuple(theta.mean(axis=0).tolist())
    return BayesianSignedRanks(*_winners(theta), shares, float(rope), len(a), n_draws)


def bayesian_hierarchical(
    differences: TableLike, rho: float, rope: float, *, confidence: float = 0.95, n_draws: int = 20_000, random_state: int = 0
) -> BayesianHierarchical:
    """Hierarchical Bayesian comparison of two learners from their cross-validation results on several data sets.

    The differences on a data set are normal with a mean and a standard deviation of its own, two of them correlated by rho, as
    in `bayesian_correlated_t`; the means of the data sets come from a Student t of unknown centre mu0, scale sigma0 and degrees
    of freedom nu. So the uncertain results of single data sets are drawn towards the results of the others.

    Parameters
    ----------
    differences : array-like of shape (q, r, k) or (q, m), or sequence of q arrays
        Difference of the two learners' scores in every fold of every repetition, for each of q data sets; their numbers of
        folds may differ.
    rho : float
        Correlation of the folds, in [0, 1): 1/k for k folds.
    rope : float
        Half-width of the region of practical equivalence around 0, in units of the score; 0 for none.
    confidence : float, default=0.95
        Of the intervals.
    n_draws : int, default=20000
        Draws of the posterior, of 40 chains together.
    random_state : int, default=0
        Seed of the draws.

    Returns
    -------
    posterior : BayesianHierarchical

    Raises
    ------
    ValueError
        If there are fewer than two data sets, one has fewer than two differences, a difference is not finite, rho, rope or
        n_draws is out of range, or the differences of a data set are all the same and rope is 0.

    Notes
    -----
    Priors, in units of the mean standard deviation on a data set: mu0 uniform up to the largest difference, sigma0 and the
    standard deviations uniform up to 1,000 times those observed, nu a gamma whose shape is uniform in 1 to 2 and whose rate in
    .01 to .1 (integrated out). Gibbs sampler with the means integrated out where mu0 and sigma0 are drawn; nu is drawn on a grid.
    A data set on which all differences are the same is taken to have the spread of a uniform on the region.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> d = rng.normal(0.05, 0.02, (6, 1)) + rng.normal(0, 0.05, (6, 10))
    >>> posterior = bayesian_hierarchical(d, rho=1 / 10, rope=0.01, n_draws=4000)
    >>> posterior.right > 0.9
    True

    References
    ----------
    .. [1] Corani, G., Benavoli, A., Demsar, J., Mangili, F. and Zaffalon, M. (2017). Statistical comparison of classifiers
       through Bayesian hierarchical modelling. Machine Learning 106, 1817-1837.
    """
    _check(rope, n_draws)
    if not 0 <= rho < 1:
        raise ValueError(f"rho={rho!r} must be in [0, 1); for k folds it is 1/k")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence!r} must be between 0 and 1")
    data = _checked_differences(differences)
    means, n = np.array([d.mean() for d in data]), np.array([len(d) for d in data], dtype=np.float64)
    spreads = np.array([d.std(ddof=1) if np.ptp(d) > SAME * np.abs(d).max() else rope / 3**0.5 for d in data])
    if (spreads == 0).any():
        raise ValueError(
            f"differences[{int(np.argmin(spreads))}] are all the same, so their spread is unknown; give rope > 0, or leave that "
            "data set out"
        )
    unit = spreads.mean()
    centre, largest = means / unit, max(np.abs(d).max() for d in data) / unit
    squares = (n - 1) * (spreads / unit) ** 2 / (1 - rho)
    among = means.std(ddof=1) / unit
    bounds = _Bounds(largest, BOUND * (among if among > 0 else 1.0), BOUND)
    draws = _sample(_Observed(centre, squares, n, (1 + (n - 1) * rho) / n), bounds, n_draws, random_state)
    r_hat = max(_r_hat(chain) for chain in (draws.mu0, np.log(draws.sigma0), np.log(draws.nu)))
    mu0, sigma0, nu = (value.ravel()[:n_draws] for value in (draws.mu0, draws.sigma0, draws.nu))
    mu, edge = draws.means.reshape(-1, len(data))[:n_draws], rope / unit
    left, right = stats.t.cdf((-edge - mu0) / sigma0, nu), stats.t.sf((edge - mu0) / sigma0, nu)
    theta = np.stack([left, np.maximum(1 - left - right, 0) if rope > 0 else np.zeros_like(left), right], axis=1)
    ends = [(1 - confidence) / 2, (1 + confidence) / 2]

    def summary(values: FloatArray) -> tuple[float, ...]:
        return tuple(float(unit * x) for x in (values.mean(), *np.quantile(values, ends)))

    low, high = np.quantile(mu, ends, axis=0) * unit
    outside = (mu < -edge).mean(axis=0), (mu > edge).mean(axis=0)
    frame = {"observed": means, "estimate": mu.mean(axis=0) * unit, "low": low, "high": high}
    frame |= {"p_left": outside[0], "p_rope": 1 - outside[0] - outside[1], "p_right": outside[1]}
    next_dataset = tuple(theta.mean(axis=0).tolist())
    own = pd.DataFrame(frame)
    return BayesianHierarchical(
        *_winners(theta), next_dataset, summary(mu0), summary(sigma0), own, float(rope), confidence, float(r_hat), len(mu0)
    )


def _checked_differences(differences: TableLike) -> list[FloatArray]:
    """Differences of every data set in a row, two or more of two or more data sets."""
    data = [as_numbers(d, f"differences[{i}]").ravel() for i, d in enumerate(as_list(differences, "differences"))]
    if len(data) < 2 or min(map(len, data)) < 2:
        raise ValueError(
            f"differences holds {len(data)} data sets with {min(map(len, data), default=0)} or more results; expected two or "
            "more of both: (q, r, k), the folds of every data set"
        )
    for number, d in enumerate(data):
        if not np.isfinite(d).all():
            raise ValueError(
                f"differences[{number}] has {(~np.isfinite(d)).sum()} NaN or infinite values; leave that data set out"
            )
    return data


class _Observed(NamedTuple):
    """Mean, sum of squares over ``1 - rho``, folds, and variance of the mean over that of a fold, for every data set."""

    centre: FloatArray
    squares: FloatArray
    n: FloatArray
    factor: FloatArray


class _Bounds(NamedTuple):
    """Ends of the uniform priors for mu0, sigma0 and the standard deviations within data sets."""

    mean: float
    spread: float
    within: float


class _Draws(NamedTuple):
    """Draws of the posterior, each of shape (kept, chains); those of the means of q data sets (kept, chains, q)."""

    mu0: FloatArray
    sigma0: FloatArray
    nu: FloatArray
    means: FloatArray


def _sample(observed: _Observed, bounds: _Bounds, n_draws: int, random_state: int) -> _Draws:
    """Draw from the posterior with a Gibbs sampler; see the notes of `bayesian_hierarchical`."""
    centre, squares, n, factor = observed
    rng = np.random.default_rng(random_state)
    shape = CHAINS, len(centre)
    log_nu, prior = _nu_prior()
    grid = np.exp(log_nu)
    # chains start far apart, so that R-hat shows if they have not met
    mu0 = rng.uniform(centre.min(), centre.max(), (CHAINS, 1))
    sigma0 = np.exp(rng.normal(np.log(max(centre.std(), 0.01)), 1, (CHAINS, 1)))
    nu = rng.choice(grid, (CHAINS, 1), p=prior / prior.sum())
    weight = np.ones(shape)
    variance = np.tile(squares / (n - 1), (CHAINS, 1))
    kept = -(-n_draws // CHAINS)
    draws = np.empty((3, kept, CHAINS)), np.empty((kept, *shape))

    def log_density(sigma0: FloatArray) -> FloatArray:
        total = sigma0**2 / weight + factor * variance
        found = -0.5 * (np.log(total) + (centre - mu0) ** 2 / total).sum(axis=1, keepdims=True) + np.log(sigma0)
        return np.where(sigma0 < bounds.spread, found, -np.inf)

    for step in range(BURN_IN + 2 * kept):
        now = log_density(sigma0)
        for size in (0.2, 0.6, 1.8) * (STEPS // 3):
            proposed = sigma0 * np.exp(rng.normal(0, size, (CHAINS, 1)))
            then = log_density(proposed)
            taken = np.log(rng.random((CHAINS, 1))) < then - now
            sigma0, now = np.where(taken, proposed, sigma0), np.where(taken, then, now)
        precision = 1 / (sigma0**2 / weight + factor * variance)
        total = precision.sum(axis=1, keepdims=True)
        mu0 = _truncated_normal((precision * centre).sum(axis=1, keepdims=True) / total, total**-0.5, bounds.mean, rng)
        own, common = 1 / (factor * variance), weight / sigma0**2
        mu = (own * centre + common * mu0) / (own + common) + rng.standard_normal(shape) / np.sqrt(own + common)
        rate = (squares + (centre - mu) ** 2 / factor) / 2
        # sigma uniform up to the bound: a gamma of 1 / sigma^2 above the bound's
        variance = np.minimum(rate / rng.standard_gamma((n - 1) / 2, shape), bounds.within**2)
        weight = rng.standard_gamma((nu + 1) / 2, shape) / ((nu + ((mu - mu0) / sigma0) ** 2) / 2)
        half = grid / 2
        sums = (np.log(weight) - weight).sum(axis=1, keepdims=True)
        logs = np.log(prior) + shape[1] * (half * np.log(half) - special.gammaln(half)) + half * sums
        steps = np.cumsum(np.exp(logs - logs.max(axis=1, keepdims=True)), axis=1)
        nu = grid[(rng.random((CHAINS, 1)) * steps[:, -1:] > steps).sum(axis=1)][:, None]
        if step >= BURN_IN and (step - BURN_IN) % 2:
            at = (step - BURN_IN) // 2
            draws[0][:, at], draws[1][at] = np.concatenate([mu0, sigma0, nu], axis=1).T, mu
    return _Draws(draws[0][0], draws[0][1], draws[0][2], draws[1])


def _nu_prior() -> tuple[FloatArray, FloatArray]:
    """Grid of log nu and the prior's weight there, the gamma's shape and rate integrated out."""
    log_nu = np.linspace(np.log(0.05), np.log(3000), 240)
    alpha, beta = (np.linspace(*ends, 41) for ends in (ALPHA, BETA))
    logs = alpha[:, None] * np.log(beta) - special.gammaln(alpha)[:, None]
    density = logs + alpha[:, None] * log_nu[:, None, None] - beta * np.exp(log_nu)[:, None, None]
    return log_nu, np.trapezoid(np.trapezoid(np.exp(density), beta, axis=2), alpha, axis=1)


def _truncated_normal(mean: FloatArray, scale: FloatArray, bound: float, rng: np.random.Generator) -> FloatArray:
    low, high = special.ndtr((-bound - mean) / scale), special.ndtr((bound - mean) / scale)
    return np.clip(mean + scale * special.ndtri(low + (high - low) * rng.random(mean.shape)), -bound, bound)


def _r_hat(chains: FloatArray) -> float:
    """Potential scale reduction of draws of shape (kept, chains), each chain cut in two (Gelman and others, 2013)."""
    half = len(chains) // 2
    if half < 2:
        return np.inf
    parts = np.concatenate([chains[:half], chains[half : 2 * half]], axis=1)
    within = parts.var(axis=0, ddof=1).mean()
    return np.sqrt((half - 1) / half + parts.mean(axis=0).var(ddof=1) / within) if within > 0 else np.inf


def _winners(theta: FloatArray) -> tuple[float, float, float]:
    """Share of draws in which each of the three regions is the most probable; ties are split."""
    most = np.isclose(theta, theta.max(axis=1, keepdims=True), rtol=1e-12, atol=0)
    left, within, right = (most / most.sum(axis=1, keepdims=True)).mean(axis=0).tolist()
    return left, within, right


def _words(posterior: BayesianSignedRanks | BayesianHierarchical) -> str:
    within = f"practically equivalent (within {posterior.margin:g}) {posterior.rope:.3f}, " if posterior.margin > 0 else ""
    return f"probability that the second is better in practice {posterior.left:.3f}, {within}the first {posterior.right:.3f}"


def _regions(posterior: BayesianSignedRanks | BayesianHierarchical, shares: tuple[float, ...]) -> pd.DataFrame:
    names = f"below -{posterior.margin:g}", f"within {posterior.margin:g}", f"above {posterior.margin:g}"
    return pd.DataFrame({"difference": names, "probability": list(posterior[:3]), "share": shares})


def _check(rope: float, n_draws: int) -> None:
    if not 0 <= rope < np.inf:
        raise ValueError(f"rope={rope!r} must be 0 or a positive number in units of the score")
    if isinstance(n_draws, bool) or not isinstance(n_draws, int | np.integer) or n_draws < 100:
        raise ValueError(f"n_draws={n_draws!r} must be a whole number from 100")
