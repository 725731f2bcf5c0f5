"""Seeds derived from names, so that a result does not depend on the order, the position or the company it was computed in."""

import hashlib

import numpy as np

N_SEEDS_AVAILABLE = 1_000_000


def seed_sequence(master_seed, *names):
    """Seed sequence of a named piece of work.

    Parameters
    ----------
    master_seed : int
        The one seed of a configuration; not negative.
    *names : str or int
        What the randomness is for, e.g. ``"folds", "abalone", "TSCV", 10, 4711``.

    Returns
    -------
    sequence : numpy.random.SeedSequence
        The same for the same names on every machine; independent for different ones.
    """
    text = "\x1f".join(str(name) for name in names)
    digest = hashlib.sha256(text.encode()).digest()
    return np.random.SeedSequence([int(master_seed), *np.frombuffer(digest[:16], dtype="<u4").tolist()])


def generator(master_seed, *names):
    """Random generator (PCG64) of a named piece of work; see `seed_sequence`."""
    return np.random.Generator(np.random.PCG64(seed_sequence(master_seed, *names)))


def as_generator(rng):
    """The generator that a user means by ``rng``: itself, or that of a seed.

    Parameters
    ----------
    rng : numpy.random.Generator or int

    Returns
    -------
    rng : numpy.random.Generator

    Raises
    ------
    ValueError
        If it is neither: what is drawn must be drawn again alike.

    Examples
    --------
    >>> int(as_generator(7).integers(100)) == int(np.random.default_rng(7).integers(100))
    True
    """
    if isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool) and rng >= 0:
        return np.random.default_rng(rng)
    raise ValueError(f"rng={rng!r} must be a numpy.random.Generator, or a whole number of at least 0 that seeds one")


def draw_seeds(master_seed, n_seeds):
    """Draw seeds without replacement from 1 to 1,000,000.

    Parameters
    ----------
    master_seed : int
        The one seed of a configuration.
    n_seeds : int
        How many, at most 1,000,000.

    Returns
    -------
    seeds : ndarray of shape (n_seeds,), dtype int64
        Fewer seeds are the first of more seeds, so that a larger study contains the smaller one.
    """
    if not 1 <= n_seeds <= N_SEEDS_AVAILABLE:
        raise ValueError(f"n_seeds={n_seeds} must be between 1 and {N_SEEDS_AVAILABLE:,}")
    # The first steps of a Fisher-Yates shuffle, on the stream of `random`, which numpy keeps stable.
    rng = generator(master_seed, "seeds")
    moved = {}
    seeds = np.empty(n_seeds, dtype=np.int64)
    for i, number in enumerate(rng.random(n_seeds)):
        j = i + int(number * (N_SEEDS_AVAILABLE - i))
        seeds[i] = moved.get(j, j) + 1
        moved[j] = moved.get(i, i)
    return seeds


def fit_states(master_seed, names, seeds, n_folds):
    """The `random_state` of every fit of a randomised learner.

    Parameters
    ----------
    master_seed : int
        The one seed of a configuration.
    names : sequence of str or int
        Data set, partitioner, number of folds.
    seeds : sequence of int
        Seeds of the partitions.
    n_folds : int
        Fits per seed.

    Returns
    -------
    random_states : ndarray of shape (n_seeds, n_folds), dtype uint32
    """
    states = [seed_sequence(master_seed, "fit", *names, int(seed)).generate_state(n_folds) for seed in seeds]
    return np.array(states, dtype=np.uint32).reshape(len(states), n_folds)
