"""
Target shift by cut
===================

How unlike are the targets of training and test part, only because of how the data were cut?
"""

# %%
# Two hundred cuts by each partitioner. ``make_folds`` gives an array with the fold of every row, a row for each seed; ``fold_ks``
# the Kolmogorov-Smirnov distance D\ :sub:`n` between the targets of training and test part of every fold.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from foldshift.partition import make_folds
from foldshift.shift import fold_ks

X, y = map(np.asarray, load_diabetes(return_X_y=True))
names = ["CV", "SCV2", "SCV10", "TSCV", "CB-TSCV"]
shift = {name: fold_ks(y, make_folds(name, X, y, n_folds=10, seeds=range(200))).mean(axis=1) for name in names}
for name, values in shift.items():
    print(f"{name:8} mean D_n {values.mean():.3f}")

# %%
# More strata, less shift; total stratification (TSCV) takes nearly all of it away.
figure, axis = plt.subplots(figsize=(6, 3), layout="constrained")
axis.boxplot(list(shift.values()), tick_labels=names, medianprops={"color": "#d55e00"})
axis.set_ylabel("$D_n$ of the target, mean of ten folds")
plt.show()

# %%
# And the inputs? TSCV leaves them as a random cut does; the joint cut balances them as well.
for name in ("CV", "TSCV", "CB-TSCV"):
    folds = make_folds(name, X, y, n_folds=10, seeds=range(50))
    print(f"{name:8} mean D_n of the ten inputs {sum(fold_ks(column, folds).mean() for column in X.T) / 10:.3f}")

# %%
# Folds that are more alike are not yet an estimate that is nearer to the truth. The study
# :doc:`foldshift 2026 </made/studies/foldshift_2026>` could not decide that for TSCV.
