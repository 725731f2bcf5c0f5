"""Learners that raise, hang, hoard memory or end their process, on demand."""

import collections
import ctypes
import faulthandler
import itertools
import os
import signal
import sys
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator

HOARD_MB = 2000  # a test whose limit does not work must not take the machine's memory


def hang():
    """Compute for ever in C without giving up the interpreter's lock: no signal handler and no other thread runs."""
    collections.deque(itertools.repeat(0), maxlen=0)


def sleep():
    """Sleep in C without giving up the interpreter's lock."""
    ctypes.PyDLL(None).sleep(10_000)


def compile_and_hang():
    """Compute for ever in compiled code."""
    import numba

    numba.njit(_count_for_ever)()


def _count_for_ever():
    i = 0
    while i >= 0:
        i = (i + 1) % 7
    return i


def hoard():
    """Allocate without end, in large pieces."""
    pieces = []
    while len(pieces) < HOARD_MB // 8:
        pieces.append(np.ones(1_000_000))
    raise AssertionError("no limit of memory was met")


def hoard_objects():
    """Allocate without end, in the smallest pieces, and keep them."""
    while len(KEPT) < 30_000_000:
        KEPT.append(float(len(KEPT)))
    raise AssertionError("no limit of memory was met")


KEPT = []


def crash():
    """Read where nothing is."""
    faulthandler.disable()  # pytest's would fill the screen
    ctypes.string_at(0)


def give_up():
    raise RuntimeError("not in\nthe mood")


WAYS = {
    "raise": give_up,
    "hang": hang,
    "sleep": sleep,
    "hang compiled": compile_and_hang,
    "hoard": hoard,
    "hoard objects": hoard_objects,
    "exit": lambda: sys.exit(3),
    "end": lambda: os._exit(3),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "crash": crash,
}


class Misbehaving(BaseEstimator):
    """Predicts the smallest training target, unless it misbehaves in `fit`.

    Parameters
    ----------
    way : str
        One of `WAYS`.
    n_features : int, optional
        Misbehaves on data with so many columns only.
    once : str, optional
        A file that is made at the first time; while it is there, the learner behaves.
    """

    def __init__(self, way="raise", n_features=None, once=None):
        self.way = way
        self.n_features = n_features
        self.once = once

    def fit(self, X, y):
        wanted = self.n_features in (None, X.shape[1]) and not (self.once and Path(self.once).exists())
        if wanted:
            if self.once:
                Path(self.once).touch()
            WAYS[self.way]()
        self.value_ = y.min()
        return self

    def predict(self, X):
        return np.full(len(X), self.value_)
