"""Learners, partitioners and splitters of users that go wrong in every way that we thought of, and some that only look odd."""

import os
import sys
import time
import warnings

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

import misbehaving

REFUSED, WORKS = "refused", "works"


class _Means(BaseEstimator):
    """Predicts the smallest training target; subclasses go wrong."""

    def fit(self, X, y):
        self.in_fit(X, y)
        self.classes_, self.least_ = np.unique(y), np.min(y)
        return self

    def in_fit(self, X, y):
        """Do what the subclass does while it is fitted."""

    def predict(self, X):
        return self.answer(X, np.full(len(X), self.least_))

    def answer(self, X, plain):
        """Return the predictions of the subclass."""
        return plain


class Classifier(ClassifierMixin, _Means):
    def predict_proba(self, X):
        return self.shares(np.full((len(X), len(self.classes_)), 1 / len(self.classes_)))

    def shares(self, plain):
        return plain


class Regressor(RegressorMixin, _Means):
    def fit(self, X, y):
        super().fit(X, y)
        del self.classes_
        return self


LEARNERS = {}  # name to (class, outcome, reason)


def learner(outcome, scoring=None):
    """Register a learner, with what should come of it."""

    def register(cls):
        LEARNERS[cls.__name__] = (cls, outcome, scoring)
        return cls

    return register


def _odd(name, base, outcome, scoring=None, **methods):
    cls = type(name, (base,), methods | {"__module__": __name__})
    globals()[name] = learner(outcome, scoring)(cls)


def _raise(*arguments):
    raise KeyError("gap")


def _init(self):
    raise RuntimeError("not today")


def _fork(self, X, y):
    for _ in range(3):
        if os.fork() == 0:
            return
    if os.fork() == 0:
        time.sleep(1000)


def _flood(self, X, y):
    for _ in range(2000):
        print("x" * 500)
        print("x" * 500, file=sys.stderr)
    os.write(1, b"straight to the terminal\n")


def _warn(self, X, y):
    for i in range(3000):
        warnings.warn(f"warning {i}", UserWarning, stacklevel=1)


def _write(self, X, y):
    X[:], y[:] = X[:1], y[:1]


def _change_globals(self, X, y):
    np.random.seed(0)
    os.chdir("/")
    os.environ["HOME"] = "/nowhere"
    os.environ["FOLDSHIFT_CACHE"] = "/nowhere"
    np.seterr(all="raise")


def _count(self, X, plain):
    type(self).times = getattr(type(self), "times", 0) + 1
    return plain + type(self).times


def _keep(self, X, y):
    self.huge_ = np.ones(4_000_000)


def _forget_rows(self, X, plain):
    return pd.Series(plain + np.arange(len(X)), index=np.arange(len(X))[::-1])


def _masked(gaps):
    return lambda _, X, plain: np.ma.masked_array(plain, np.arange(len(plain)) < gaps)


for _name, _what in {
    "RaisesInFit": _raise,
    "ExitsInFit": lambda self, X, y: sys.exit(),
    "ExitsWithNought": lambda self, X, y: sys.exit(0),
    "EndsInFit": lambda self, X, y: os._exit(0),
    "HangsInFit": lambda self, X, y: misbehaving.hang(),
    "SleepsInFit": lambda self, X, y: misbehaving.sleep(),
    "CrashesInFit": lambda self, X, y: misbehaving.crash(),
    "HoardsInFit": lambda self, X, y: misbehaving.WAYS["hoard"](),
    "IsKilledInFit": lambda self, X, y: os.kill(os.getpid(), 9),
}.items():
    _odd(_name, Classifier, REFUSED, in_fit=_what)
for _name, _what in {
    "PrintsFloods": _flood,
    "WarnsFloods": _warn,
    "LeavesChildren": _fork,
    "WritesIntoItsInput": _write,
    "ChangesGlobals": _change_globals,
    "KeepsAHugeObject": _keep,
}.items():
    _odd(_name, Classifier, WORKS, in_fit=_what)
for _name, _what in {
    "RaisesInPredict": _raise,
    "HangsInPredict": lambda _, X, plain: misbehaving.sleep(),
    "ExitsInPredict": lambda _, X, plain: sys.exit(1),
    "PredictsTooFew": lambda _, X, plain: plain[1:],
    "PredictsTooMany": lambda _, X, plain: np.r_[plain, plain],
    "PredictsOne": lambda _, X, plain: plain[:1],
    "PredictsANumber": lambda _, X, plain: plain[0],
    "PredictsNothing": lambda _, X, plain: None,
    "PredictsAGenerator": lambda _, X, plain: (one for one in plain),
    "PredictsATable": lambda _, X, plain: np.c_[plain, plain],
    "PredictsOtherLabels": lambda _, X, plain: np.full(len(X), 99),
    "PredictsTexts": lambda _, X, plain: plain.astype(str),
    "PredictsFractions": lambda _, X, plain: plain + 0.25,
    "PredictsComplexLabels": lambda _, X, plain: plain + 1j,
    "PredictsDates": lambda _, X, plain: plain.astype("M8[s]"),
    "PredictsGaps": _masked(3),
    "PredictsAnotherOrder": _forget_rows,
}.items():
    _odd(_name, Classifier, REFUSED, answer=_what)
for _name, _what in {
    "PredictsAColumn": lambda _, X, plain: plain[:, None],
    "PredictsAList": lambda _, X, plain: plain.tolist(),
    "PredictsASeries": lambda _, X, plain: pd.Series(plain, index=np.arange(len(X)) + 1000),
    "PredictsSparse": lambda _, X, plain: csr_matrix(plain[:, None]),
    "PredictsObjects": lambda _, X, plain: plain.astype(object),
    "PredictsFloats": lambda _, X, plain: plain.astype(np.float32),
    "PredictsUnmasked": _masked(0),
}.items():
    _odd(_name, Classifier, WORKS, answer=_what)
for _name, _what in {
    "SharesAddToTwo": lambda _, plain: 2 * plain,
    "SharesBelowNought": lambda _, plain: plain + np.array([[-1, 1]]),
    "SharesOfThree": lambda _, plain: np.c_[plain, 0 * plain[:, 0]],
    "SharesOfOne": lambda _, plain: plain[:, :1],
    "SharesRaise": _raise,
    "SharesOfNoRow": lambda _, plain: plain[:1],
    "SharesWithNaN": lambda _, plain: plain * np.nan,
}.items():
    _odd(_name, Classifier, REFUSED, "neg_log_loss", shares=_what)
for _name, _what in {
    "PredictsNaN": lambda _, X, plain: np.where(np.arange(len(X)) == 1, np.nan, plain),
    "PredictsInfinity": lambda _, X, plain: plain + np.inf,
    "PredictsComplex": lambda _, X, plain: plain + 1j,
    "PredictsNumbersAsTexts": lambda _, X, plain: plain.astype(str),
    "PredictsNone": lambda _, X, plain: np.array([None] * len(X)),
    "PredictsOneNumber": lambda _, X, plain: plain[:1],
    "PredictsTimes": lambda _, X, plain: plain.astype("m8[s]"),
}.items():
    _odd(_name, Regressor, REFUSED, answer=_what)
for _name, _what in {
    "PredictsAColumnOfNumbers": lambda _, X, plain: plain[:, None],
    "PredictsNumbersInObjects": lambda _, X, plain: plain.astype(object),
    "KeepsState": _count,
    "DrawsWithoutASeed": lambda _, X, plain: plain + np.random.random(len(X)),
}.items():
    _odd(_name, Regressor, WORKS, answer=_what)


class ComesBackTwice(Classifier):
    """Copies its process, and both go on."""

    def in_fit(self, X, y):
        os.fork()


_odd("RaisesInInit", Classifier, REFUSED, __init__=_init)
_odd("RaisesInClone", Classifier, REFUSED, __sklearn_clone__=_raise)

# Partitioners: f(X, y, n_folds, rngs)


def _one(draw):
    """A partitioner that cuts each row by ``draw(rng, n, k)``."""
    return lambda X, y, n_folds, rngs: np.array([draw(rng, len(y), n_folds) for rng in rngs])


def plain_cut(rng, n, k):
    return rng.permutation(np.arange(n) % k)


def _writes_X(X, y, n_folds, rngs):
    X[:] = 0
    return _one(plain_cut)(X, y, n_folds, rngs)


def _writes_y(X, y, n_folds, rngs):
    y.sort()
    return _one(plain_cut)(X, y, n_folds, rngs)


def _shares_a_generator(X, y, n_folds, rngs):
    return np.array([plain_cut(rngs[0], len(y), n_folds) for _ in rngs])


def _counts(X, y, n_folds, rngs, times=[0]):  # noqa: B006
    times[0] += 1
    return np.roll(_one(plain_cut)(X, y, n_folds, rngs), times[0], axis=1)


def _prints(X, y, n_folds, rngs):
    print("x" * 100_000)
    return _one(plain_cut)(X, y, n_folds, rngs)


def _global(X, y, n_folds, rngs):
    return np.array([np.random.permutation(np.arange(len(y)) % n_folds) for _ in rngs])


def _with(change):
    return lambda X, y, n_folds, rngs: change(_one(plain_cut)(X, y, n_folds, rngs))


def _first(value):
    def change(folds):
        folds = folds.astype(float) if isinstance(value, float) else folds
        folds[:, 0] = value
        return folds

    return change


PARTITIONERS = {
    "raises": (_raise, REFUSED),
    "exits": (lambda *a: sys.exit(0), REFUSED),
    "ends": (lambda *a: os._exit(0), REFUSED),
    "hangs": (lambda *a: misbehaving.hang(), REFUSED),
    "crashes": (lambda *a: misbehaving.crash(), REFUSED),
    "writes into X": (_writes_X, REFUSED),
    "writes into y": (_writes_y, REFUSED),
    "minus one": (_with(_first(-1)), REFUSED),
    "fractions": (_with(_first(0.5)), REFUSED),
    "NaN": (_with(_first(np.nan)), REFUSED),
    "more folds than k": (_with(_first(99)), REFUSED),
    "an empty fold": (_with(lambda folds: np.minimum(folds, 1)), REFUSED),
    "one fold": (_with(lambda folds: 0 * folds), REFUSED),
    "too few rows": (_with(lambda folds: folds[:, 1:]), REFUSED),
    "too few partitions": (_with(lambda folds: folds[1:]), REFUSED),
    "boolean masks": (_with(lambda folds: folds == 0), REFUSED),
    "texts": (_with(lambda folds: folds.astype(str)), REFUSED),
    "a generator": (_with(lambda folds: (row for row in folds)), REFUSED),
    "nothing": (lambda *a: None, REFUSED),
    "rows of different lengths": (_with(lambda folds: [folds[0].tolist(), [1]]), REFUSED),
    "masked": (_with(lambda folds: np.ma.masked_equal(folds, 0)), REFUSED),
    "draws from elsewhere": (_global, REFUSED),
    "one generator for all": (_shares_a_generator, REFUSED),
    "keeps state": (_counts, REFUSED),
    "prints": (_prints, WORKS),
    "lists": (_with(lambda folds: folds.tolist()), WORKS),
    "whole floats": (_with(lambda folds: folds.astype(float)), WORKS),
    "the same every time": (_one(lambda rng, n, k: np.arange(n) % k), WORKS),
    "by the order of rows": (_one(lambda rng, n, k: np.sort(np.arange(n) % k)), WORKS),
}

# Splitters: pairs of training and test rows


class Splitter:
    """A splitter of three folds whose pairs are changed."""

    def __init__(self, change):
        self.change = change

    def split(self, X, y=None, groups=None):
        rows = np.arange(len(X))
        return [self.change(rows[rows % 3 != fold], rows[rows % 3 == fold], fold) for fold in range(3)]

    def get_n_splits(self, X=None, y=None, groups=None):
        return 3


class Writes(Splitter):
    def split(self, X, y=None, groups=None):
        np.asarray(X)[:] = 0
        return super().split(X, y, groups)


class Lazy(Splitter):
    def split(self, X, y=None, groups=None):
        yield from super().split(X, y, groups)


def same(train, test, fold):
    return train, test


SPLITTERS = {
    "raises": (Splitter(_raise), REFUSED),
    "exits": (Splitter(lambda *a: sys.exit(0)), REFUSED),
    "ends": (Splitter(lambda *a: os._exit(0)), REFUSED),
    "hangs": (Splitter(lambda *a: misbehaving.hang()), REFUSED),
    "writes into X": (Writes(same), REFUSED),
    "trains on test rows": (Splitter(lambda train, test, fold: (np.r_[train, test[:1]], test)), REFUSED),
    "an empty test part": (Splitter(lambda train, test, fold: (train, test[:0] if fold else test)), REFUSED),
    "minus one": (Splitter(lambda train, test, fold: (train, np.r_[test[:-1], -1])), REFUSED),
    "out of range": (Splitter(lambda train, test, fold: (train, np.r_[test, 1000])), REFUSED),
    "floats": (Splitter(lambda train, test, fold: (train, test + 0.5)), REFUSED),
    "rows twice": (Splitter(lambda train, test, fold: (np.r_[train, train[:2]], test)), REFUSED),
    "a table": (Splitter(lambda train, test, fold: (train, test[:, None])), REFUSED),
    "no pairs": (Splitter(lambda train, test, fold: train), REFUSED),
    "nothing": (Splitter(lambda train, test, fold: None), REFUSED),
    "folds as numbers": (Splitter(lambda train, test, fold: fold), REFUSED),
    "boolean masks": (Splitter(lambda train, test, fold: tuple(np.isin(np.arange(60), part) for part in (train, test))), WORKS),
    "lists": (Splitter(lambda train, test, fold: (train.tolist(), test.tolist())), WORKS),
    "unordered": (Splitter(lambda train, test, fold: (train[::-1], test[::-1])), WORKS),
    "a generator": (Lazy(same), WORKS),
}

for _name, (_cut, _) in PARTITIONERS.items():  # by import path, as a configuration names them
    globals()[f"cut_{_name.replace(' ', '_')}"] = _cut
