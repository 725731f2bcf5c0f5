"""Seeds derived from names, so that results do not depend on the order or the batch in which they are computed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from foldshift.core.types import IntArray, UnsignedArray

N_SEEDS_AVAILABLE = 1_000_000


def seed_sequence(master_seed: int, *names: Any) -> np.random.SeedSequence:
    """Derive the seed sequence of a piece of work from a master seed (not negative) and names.

    The same on every machine for the same names, independent for different names.
    """
    text = "\x1f".join(str(name) for name in names)
    digest = hashlib.sha256(text.encode()).digest()
    return np.random.SeedSequence([int(master_seed), *np.frombuffer(digest[:16], dtype="<u4").tolist()])


def generator(master_seed: int, *names: Any) -> np.random.Generator:
    """Make the random generator (PCG64) of a named piece of work; see `seed_sequence`."""
    return np.random.Generator(np.random.PCG64(seed_sequence(master_seed, *names)))


def as_generator(rng: np.random.Generator | int) -> np.random.Generator:
    """Return a generator unchanged, or make one from a seed.

    >>> int(as_generator(7).integers(100)) == int(np.random.default_rng(7).integers(100))
    True
    """
    if isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool) and rng >= 0:
        return np.random.default_rng(rng)
    raise ValueError(f"rng={rng!r} must be a numpy.random.Generator, or a whole number of at least 0 that seeds one")


def draw_seeds(master_seed: int, n_seeds: int) -> IntArray:
    """Draw seeds without replacement from 1 to 1,000,000; fewer seeds are the first of more seeds."""
    if not 1 <= n_seeds <= N_SEEDS_AVAILABLE:
        raise ValueError(f"n_seeds={n_seeds} must be between 1 and {N_SEEDS_AVAILABLE:,}")
    # The first steps of a Fisher-Yates shuffle, on the stream of `random`, which numpy keeps stable.
    rng = generator(master_seed, "seeds")
    moved: dict[int, int] = {}
    seeds = np.empty(n_seeds, dtype=np.int64)
    for i, number in enumerate(rng.random(n_seeds)):
        j = i + int(number * (N_SEEDS_AVAILABLE - i))
        seeds[i] = moved.get(j, j) + 1
        moved[j] = moved.get(i, i)
    return seeds


def fit_states(master_seed: int, names: Sequence[str | int], seeds: Sequence[int], n_folds: int) -> UnsignedArray:
    """Derive the `random_state` of every fit of a randomised learner, shape (n_seeds, n_folds)."""
    states = [seed_sequence(master_seed, "fit", *names, int(seed)).generate_state(n_folds) for seed in seeds]
    return np.array(states, dtype=np.uint32).reshape(len(states), n_folds)
