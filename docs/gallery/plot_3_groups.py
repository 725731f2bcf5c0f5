"""
Groups with a continuous target
===============================

Rows of one person belong together. Keep them in one fold, and the folds balanced all the same.
"""

# %%
# Four rows for each of 110 persons, who differ in the target.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.neighbors import KNeighborsRegressor

from foldshift.partition import CovariateBalancedKFold, as_folds
from foldshift.shift import fold_ks

X, y = load_diabetes(return_X_y=True, as_frame=True)
X = pd.DataFrame(X)  # editors do not know that it is one
X, y = X[:440], y[:440]
persons = np.argsort(np.argsort(y, kind="stable"), kind="stable") // 4

balanced = CovariateBalancedKFold(5, task="regression", random_state=0)
for name, splitter in {"GroupKFold": GroupKFold(5, shuffle=True, random_state=0), "CovariateBalancedKFold": balanced}.items():
    folds = as_folds(splitter, X, y, groups=persons)
    together = all(len(np.unique(folds[0, persons == person])) == 1 for person in range(110))
    print(f"{name:23} target shift {fold_ks(y, folds).mean():.3f}, no person in two folds: {together}")

# %%
# What happens to the estimate when persons are cut apart: the nearest neighbour of a row is the same person.
learner = KNeighborsRegressor(3)
signature = np.random.default_rng(0).normal(scale=0.1, size=(110, 2))[persons]  # what rows of a person have in common
inputs = X.assign(first=signature[:, 0], second=signature[:, 1])
apart = -cross_val_score(learner, inputs, y, cv=5, scoring="neg_mean_absolute_error").mean()
kept = -cross_val_score(learner, inputs, y, cv=balanced, groups=persons, scoring="neg_mean_absolute_error").mean()
figure, axis = plt.subplots(figsize=(6, 1.8), layout="constrained")
axis.barh(["persons cut apart", "persons kept together"], [apart, kept], color=["#b0b0b0", "#0072b2"])
axis.set_xlabel("mean absolute error, cross-validated")
plt.show()
print(f"mean absolute error: persons cut apart {apart:.1f}, kept together {kept:.1f}")
