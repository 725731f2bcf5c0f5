"""Speed of this machine relative to the one that the costs were measured on."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

REPEATS = 7


def fill() -> float:
    """Do a fixed piece of vector work on memory that is fresh and larger than caches: squared distances, their exponentials."""
    X = np.random.default_rng(0).standard_normal((1500, 3))
    squares = np.zeros((1500, 1500))
    for column in X.T:
        squares += (column[:, None] - column) ** 2
    return float(np.exp(-squares).sum(axis=1).max())


def interpret() -> int:
    """Do a fixed piece of interpreter work, as in the start of a job: dictionaries, calls, texts."""
    counts: dict[str, int] = {}
    words = [f"{number:x}" for number in range(20_000)]
    for word in words:
        counts[word[:2]] = counts.get(word[:2], 0) + len(word)
    return sum(counts.values()) + len(" ".join(sorted(words, key=lambda word: word[::-1])))


def compute() -> float:
    """Do a fixed piece of array work: sorting, gathering, sums of products."""
    X = np.random.default_rng(0).standard_normal((20_000, 5))
    order = np.argsort(X, axis=0)
    ranked = np.take_along_axis(X, order, axis=0)
    return float(np.cumsum(ranked, axis=0)[-1].sum() + np.einsum("ij,ik->jk", ranked, X).sum())


# `fill` first: once large arrays were freed, the allocator keeps memory for smaller ones, and `compute` takes a third less time.
WORKS = {"fill": fill, "interpret": interpret, "compute": compute}


def milliseconds_of(work: Callable[..., Any], repeats: int = REPEATS) -> float:
    """Measure the processor time of a call in milliseconds: the smallest of several, as other work on the machine only adds."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return 1000 * min(found)


def pace(reference: Sequence[float], measure: Callable[..., Any] = milliseconds_of) -> float:
    """Return how much longer jobs take on this machine than their costs say.

    >>> pace([10.0, 10.0, 10.0], measure=lambda work: 20.0)
    2.0
    """
    if not reference:
        return 1.0
    ratios = [measure(work) / milliseconds for work, milliseconds in zip(WORKS.values(), reference, strict=True)]
    return math.exp(math.fsum(map(math.log, ratios)) / len(ratios))
