"""
Has the data moved?
===================

New data against those that a model was trained on, and folds against each other.
"""

# %%
# Half of the wine data for training; of the other half, the wines with the largest values of one column are missing.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from foldshift.partition import make_folds
from foldshift.shift import DriftReport, fold_drift, inject_shift

X, y = load_wine(return_X_y=True)
train, test = slice(0, None, 2), slice(1, None, 2)
moved = inject_shift(X[test], y[test], "mar", severity=50, feature=9, rng=np.random.default_rng(0))
print(DriftReport(X[train], moved.X, n_permutations=199))

# %%
# The same as a picture.
DriftReport(X[train], moved.X, n_permutations=199).plot()
plt.show()

# %%
# Without a shift nothing is reported: the correction is for the number of columns.
print(DriftReport(X[train], X[test], n_permutations=199))

# %%
# The same question of folds. MS-SCV puts near neighbours into the same fold on purpose.
for name in ("SCV", "MS-SCV"):
    print(name)
    print(fold_drift(X, y, make_folds(name, X, y, n_folds=5, seeds=range(3))))
