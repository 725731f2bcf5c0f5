"""RIPPER: ordered rules, grown, pruned and optimised class by class."""

import numbers
from dataclasses import dataclass

import numpy as np
from numba import njit

from foldshift.learners._rulecore import (
    GE,
    LE,
    EQ,
    RuleList,
    _bits_with,
    condition_text,
    covers,
    data_bits,
    grow,
    make_work,
    meets,
    names_of,
    prepare,
    prune,
    rule_bits,
    rules_of_class,
    split_rows,
    start_fold,
)
from foldshift.learners.base import FoldClassifier
from foldshift.learners.gbm import _draw_seeds


@dataclass(frozen=True)
class RipperRule:
    """One rule of an ordered list.

    Attributes
    ----------
    conditions : tuple of str
        All must hold; none in the default rule.
    label : object
        Class that the rule predicts.
    n_covered, n_correct : int
        Training rows that reach the rule and meet it, and those of them in its class.
    """

    conditions: tuple
    label: object
    n_covered: int
    n_correct: int

    def __str__(self):
        premise = " and ".join(self.conditions) or "otherwise"
        return f"{premise} => {self.label} ({self.n_correct}/{self.n_covered})"


class RIPPERClassifier(FoldClassifier):
    """doc"""

    def __init__(
        self,
        grow_fraction=0.66,
        n_optimisations=2,
        slack_bits=64,
        remaining_rows_mdl=False,
        final_polish=True,
        categorical_features=None,
        random_state=None,
    ):
        self.grow_fraction = grow_fraction
        self.n_optimisations = n_optimisations
        self.slack_bits = slack_bits
        self.remaining_rows_mdl = remaining_rows_mdl
        self.final_polish = final_polish
        self.categorical_features = categorical_features
        self.random_state = random_state

    def _check(self):
        pass

    def _settings(self):
        return (
            float(self.grow_fraction),
            int(self.n_optimisations),
            float(self.slack_bits),
            int(self.remaining_rows_mdl),
            bool(self.final_polish),
        )

    def _fit(self, X, codes, n_classes):
        self._check()
        data = prepare(X, self.categorical_features)
        seed = _draw_seeds(self.random_state, (1, 1))[0, 0]
        self._model = _fit_one(data, codes, n_classes, seed, *self._settings())
        conditions, thresholds, starts, classes, counts = self._model
        names = names_of(self)
        self.rules_ = RuleList(
            RipperRule(
                tuple(
                    condition_text(names[f], kind, value)
                    for (f, kind), value in zip(conditions[a:b].tolist(), thresholds[a:b].tolist())
                ),
                self.classes_[c],
                int(count.sum()),
                int(count[c]),
            )
            for a, b, c, count in zip(starts[:-1], starts[1:], classes, counts)
        )

    def _scores(self, X):
        return _apply(X, *self._model)

    def _scores_folds(self, X, codes, n_classes, folds, n_folds, random_states):
        self._check()
        if random_states is None:
            random_states = _draw_seeds(self.random_state, (len(folds), n_folds))
        data = prepare(X, self.categorical_features)
        return _fit_and_score(X, data, codes, n_classes, folds, random_states.astype(np.uint64), *self._settings())


@njit(cache=True)
def _fit_one(data, y, n_classes, seed, share, n_optimisations, slack_bits, keel, polish):
    n_features, n = data[1].shape
    work = make_work(n_features, n)
    positive = np.zeros(n, np.int8)
    return _learn(data, y, n_classes, np.ones(n, np.bool_), seed, share, n_optimisations, slack_bits, keel, polish, positive, work)


@njit(cache=True)
def _fit_and_score(X, data, y, n_classes, folds, seeds, share, n_optimisations, slack_bits, keel, polish):
    n_seeds, n = folds.shape
    scores = np.empty((n_seeds, n, n_classes))
    work = make_work(X.shape[1], n)
    positive = np.zeros(n, np.int8)
    in_training = np.empty(n, np.bool_)
    for s in range(n_seeds):
        for fold in range(seeds.shape[1]):
            for i in range(n):
                in_training[i] = folds[s, i] != fold
            conditions, thresholds, starts, classes, counts = _learn(
                data, y, n_classes, in_training, seeds[s, fold], share, n_optimisations, slack_bits, keel, polish, positive, work
            )
            shares = _shares(classes, counts)
            for i in range(n):
                if not in_training[i]:
                    scores[s, i] = shares[_first(X[i], conditions, thresholds, starts)]
    return scores


@njit(cache=True)
def _apply(X, conditions, thresholds, starts, classes, counts):
    shares = _shares(classes, counts)
    scores = np.empty((len(X), counts.shape[1]))
    for i in range(len(X)):
        scores[i] = shares[_first(X[i], conditions, thresholds, starts)]
    return scores


@njit(cache=True)
def _first(x, conditions, thresholds, starts):
    """First rule that covers a row; the last one has no conditions."""
    for r in range(len(starts) - 1):
        met = True
        for j in range(starts[r], starts[r + 1]):
            if not meets(conditions[j, 1], x[conditions[j, 0]], thresholds[j]):
                met = False
                break
        if met:
            return r
    return -1


@njit(cache=True)
def _shares(classes, counts):
    """Class shares of the training rows of every rule, its own class just above the others if it is not."""
    out = np.empty(counts.shape)
    for r in range(len(counts)):
        total = counts[r].sum()
        if total == 0:
            out[r] = 0.0
            out[r, classes[r]] = 1.0
            continue
        most = counts[r].max()
        for c in range(counts.shape[1]):
            out[r, c] = counts[r, c] / total
        if out[r].argmax() != classes[r]:
            out[r, classes[r]] = most / total * (1 + 1e-9)
            out[r] /= out[r].sum()
    return out


@njit(cache=True)
def _learn(data, y, n_classes, in_training, seed, share, n_optimisations, slack_bits, keel, polish, positive, work):
    """Rules of all classes but the most frequent, then the default rule.

    Returns
    -------
    conditions : ndarray of shape (n_conditions, 2), dtype int64
        Column and kind.
    thresholds : ndarray of shape (n_conditions,), dtype float64
    starts : ndarray of shape (n_rules + 1,), dtype int64
        First condition of every rule, and the number of conditions.
    classes : ndarray of shape (n_rules,), dtype int64
    counts : ndarray of shape (n_rules, n_classes), dtype int64
        Training rows that reach the rule and meet it, by class.
    """
    values = data[2]
    rows, n_conditions = start_fold(data, in_training, work)
    work = (work[0][:, : len(rows)], work[1], work[2], work[3], work[4])
    state = np.uint64(seed)
    sizes = np.zeros(n_classes, np.int64)
    for row in rows:
        sizes[y[row]] += 1
    ranked = np.argsort(sizes, kind="mergesort")
    rules = [np.empty((0, 3), np.int64)]
    rules.pop()
    classes = np.empty(0, np.int64)
    counts = np.empty((0, n_classes), np.int64)
    left = rows
    for turn in range(n_classes - 1):
        target = ranked[turn]
        if sizes[target] == 0:
            continue
        n_positive = 0
        for row in rows:
            positive[row] = y[row] == target
        for row in left:
            n_positive += positive[row]
        if n_positive == 0:
            continue
        if keel:
            found, state = _rules_keel(data, left, positive, n_conditions, work, share, n_optimisations, slack_bits, keel, state)
        else:
            found, state = rules_of_class(
                data, left, positive, n_conditions, work, True, share, n_optimisations, slack_bits, polish, state
            )
        for rule in found:
            count = np.zeros((1, n_classes), np.int64)
            out = np.empty(len(left), np.uint32)
            n = 0
            for row in left:
                if covers(rule, data[1], row):
                    count[0, y[row]] += 1
                else:
                    out[n] = row
                    n += 1
            left = out[:n]
            rules.append(rule)
            classes = np.append(classes, target)
            counts = np.concatenate((counts, count))
        if keel:
            n = 0
            out = np.empty(len(left), np.uint32)
            for row in left:
                out[n] = row
                n += y[row] != target
            # left = out[:n]
    count = np.zeros((1, n_classes), np.int64)
    for row in left:
        count[0, y[row]] += 1
    rules.append(np.empty((0, 3), np.int64))
    classes = np.append(classes, ranked[-1])
    counts = np.concatenate((counts, count))

    starts = np.zeros(len(rules) + 1, np.int64)
    for r in range(len(rules)):
        starts[r + 1] = starts[r] + len(rules[r])
    conditions, thresholds = np.empty((starts[-1], 2), np.int64), np.empty(starts[-1])
    for r in range(len(rules)):
        for j in range(len(rules[r])):
            at = starts[r] + j
            conditions[at] = rules[r][j, :2]
            thresholds[at] = values[rules[r][j, 0], rules[r][j, 2]]
    return conditions, thresholds, starts, classes, counts


# ---- KEEL
@njit(cache=True)
def _prune_keel(rule, rows, positive, codes, whole):
    k = len(rule)
    covered = np.zeros((k + 1, 2), np.int64)
    n_pos = 0
    for row in rows:
        n_pos += positive[row]
        covered[0, positive[row]] += 1
        for j in range(k):
            if not meets(rule[j, 1], codes[rule[j, 0], row], rule[j, 2]):
                break
            covered[j + 1, positive[row]] += 1
    n_neg = len(rows) - n_pos
    while k > 1:
        n1, p1 = covered[k]
        n0, p0 = covered[k - 1]
        if whole:
            better = p0 - n0 > p1 - n1
        else:
            better = (p0 + 1.0) / (p0 + n0 + 2.0) > (p1 + 1.0) / (p1 + n1 + 2.0)
        if not better:
            break
        k -= 1
    return rule[:k]


@njit(cache=True)
def _rules_keel(data, rows, positive, n_conditions, work, share, n_optimisations, slack_bits, flags, state):
    codes = data[1]
    once = (flags & 2) > 0
    nothing = np.empty((0, 3), np.int64)
    rules = [nothing]
    rules.pop()
    times = np.zeros(codes.shape[1], np.int64)  # how many rules cover a row
    left = rows
    for turn in range(n_optimisations + 1):
        # build
        least = np.inf
        first = True
        theory = 0.0
        for rule in rules:
            theory += rule_bits(len(rule), n_conditions)
        while True:
            n_pos = 0
            for row in left:
                n_pos += positive[row]
            if n_pos == 0:
                break
            growing, pruning, state = split_rows(left, positive, share, state)
            rule = grow(nothing, growing, positive, data, work, once)
            if flags & 4:
                rule = _prune_keel(rule, pruning, positive, codes, False)
            else:
                rule = prune(rule, pruning, positive, codes, False)
            theory += rule_bits(len(rule), n_conditions)
            tp = fp = 0.0
            for row in left:
                if times[row] > 0 or covers(rule, codes, row):
                    tp += positive[row]
                    fp += 1 - positive[row]
            bits = theory + data_bits(0.5, tp + fp, len(left) - tp - fp, fp, n_pos - tp)
            if (tp == 0 and fp > 0) or bits > least + slack_bits:
                break
            least = min(least, bits)
            rules.append(rule)
            out = np.empty(len(left), np.uint32)
            n = 0
            for row in left:
                if covers(rule, codes, row):
                    times[row] += 1
                else:
                    out[n] = row
                    n += 1
            if turn > 0:
                for row in rows:
                    pass
            left = out[:n]
        # recount all
        for row in rows:
            times[row] = 0
        for rule in rules:
            for row in rows:
                times[row] += covers(rule, codes, row)
        if turn == n_optimisations:
            break
        # optimise
        theory = 0.0
        for rule in rules:
            theory += rule_bits(len(rule), n_conditions)
        n_pos = 0
        for row in rows:
            n_pos += positive[row]
        for at in range(len(rules)):
            old = rules[at]
            growing, pruning, state = split_rows(rows, positive, share, state)
            for row in rows:
                times[row] -= covers(old, codes, row)
            n = 0
            for i in range(len(pruning)):
                pruning[n] = pruning[i]
                n += times[pruning[i]] == 0
            pruning = pruning[:n]
            if flags & 4:
                new = _prune_keel(grow(nothing, growing, positive, data, work, once), pruning, positive, codes, True)
                extended = _prune_keel(grow(old, growing, positive, data, work, once), pruning, positive, codes, True)
            else:
                new = prune(grow(nothing, growing, positive, data, work, once), pruning, positive, codes, True)
                extended = prune(grow(old, growing, positive, data, work, once), pruning, positive, codes, True)
            theory -= rule_bits(len(old), n_conditions)
            best = np.inf
            chosen = old
            for candidate in (old, new, extended):
                tp = fp = 0.0
                for row in rows:
                    if times[row] > 0 or covers(candidate, codes, row):
                        tp += positive[row]
                        fp += 1 - positive[row]
                bits = theory + rule_bits(len(candidate), n_conditions)
                bits += data_bits(0.5, tp + fp, len(rows) - tp - fp, fp, n_pos - tp)
                if bits < best:
                    best, chosen = bits, candidate
            rules[at] = chosen
            theory += rule_bits(len(chosen), n_conditions)
            for row in rows:
                times[row] += covers(chosen, codes, row)
        # what is left: uncovered rows of the class, all others
        out = np.empty(len(rows), np.uint32)
        n = 0
        for row in rows:
            out[n] = row
            n += positive[row] == 0 or times[row] == 0
        left = out[:n]
    kept = [nothing]
    kept.pop()
    for rule in rules:
        if len(rule) > 0:
            kept.append(rule)
    return kept, state
