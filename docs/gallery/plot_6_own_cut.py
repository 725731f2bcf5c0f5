"""
A cut of one's own, judged
==========================

A partitioner is a function from data to folds. What does yours do to target, inputs and estimate?
"""

# %%
# Deal rows in the order of the first principal component.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge

from foldshift.evaluation import score_folds
from foldshift.partition import make_folds
from foldshift.shift import fold_ks

X, y = map(np.asarray, load_diabetes(return_X_y=True))


def by_component(X, y, n_folds, rngs):
    """Runs of ``n_folds`` rows that follow each other on the first component go to different folds."""
    order = np.argsort(PCA(1).fit_transform(X)[:, 0])
    folds = np.empty((len(rngs), len(y)), dtype=np.uint8)
    for row, rng in zip(folds, rngs):
        labels = np.concatenate([rng.permutation(n_folds) for _ in range(-(-len(y) // n_folds))])
        row[order] = labels[: len(y)]
    return folds


n_seeds = 30
cuts = {
    "CV": make_folds("CV", X, y, n_folds=5, seeds=range(n_seeds)),
    "own": by_component(X, y, 5, [np.random.default_rng(seed) for seed in range(n_seeds)]),
    "CB-TSCV": make_folds("CB-TSCV", X, y, n_folds=5, seeds=range(n_seeds)),
}

# %%
# Shift of the target, of the inputs, and the estimate with its spread over cuts.
scores = {}
print(f"{'cut':8} {'target':>7} {'inputs':>7} {'R2':>6} {'spread':>7}")
for name, folds in cuts.items():
    target, inputs = fold_ks(y, folds).mean(), np.mean([fold_ks(column, folds).mean() for column in X.T])
    score = scores[name] = score_folds(Ridge(), X, y, folds, scoring="r2").mean(axis=1)
    print(f"{name:8} {target:7.3f} {inputs:7.3f} {score.mean():6.3f} {score.std(ddof=1):7.4f}")

# %%
# A narrow box says that it does not matter which seed is taken, not that the estimate is right.
figure, axis = plt.subplots(figsize=(6, 2.2), layout="constrained")
axis.boxplot(list(scores.values()), tick_labels=list(scores), orientation="horizontal", medianprops={"color": "#d55e00"})
axis.set_xlabel("R2, mean of five folds; 30 cuts")
plt.show()
