"""How fast this machine is, against the one that the costs were measured on."""

import math
import time

import numpy as np

REPEATS = 7


def interpret():
    """Work of the interpreter, which starts of jobs are made of: dictionaries, calls, texts."""
    counts, words = {}, [f"{number:x}" for number in range(20_000)]
    for word in words:
        counts[word[:2]] = counts.get(word[:2], 0) + len(word)
    return sum(counts.values()) + len(" ".join(sorted(words, key=lambda word: word[::-1])))


def compute():
    """Work of compiled code on arrays of a data set's size: sorting, gathering, sums of products."""
    X = np.random.default_rng(0).standard_normal((20_000, 5))
    order = np.argsort(X, axis=0)
    ranked = np.take_along_axis(X, order, axis=0)
    return float(np.cumsum(ranked, axis=0)[-1].sum() + np.einsum("ij,ik->jk", ranked, X).sum())


WORKS = {"interpret": interpret, "compute": compute}


def milliseconds_of(work, repeats=REPEATS):
    """Processor time of a call, the least of some: what else goes on in the machine only adds."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return 1000 * min(found)


def pace(reference, measure=milliseconds_of):
    """By how much jobs take longer on this machine than their costs say.

    Parameters
    ----------
    reference : sequence of float
        Milliseconds of each of `WORKS` on the machine of the costs; empty where they do not say.
    measure : callable, default=milliseconds_of
        What gives the same of a work on this machine.

    Returns
    -------
    factor : float
        Geometric mean of the ratios: 2 where this machine takes twice the time; 1 without a reference.

    Examples
    --------
    >>> pace([10.0, 10.0], measure=lambda work: 20.0)
    2.0
    """
    if not reference:
        return 1.0
    ratios = [measure(work) / milliseconds for work, milliseconds in zip(WORKS.values(), reference, strict=True)]
    return math.exp(math.fsum(map(math.log, ratios)) / len(ratios))
