"""
Does B beat A?
==============

Two models on one data set: the tests that fit, those that do not, and how often to repeat.
"""

# %%
# Scores of the same folds for both, six repetitions of five folds.
import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from foldshift.inference import compare, recommend_repetitions

X, y = load_wine(return_X_y=True)
cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=6, random_state=0)
neighbours = cross_val_score(make_pipeline(StandardScaler(), KNeighborsClassifier(5)), X, y, cv=cv)
bayes = cross_val_score(GaussianNB(), X, y, cv=cv)

# %%
# Differences up to one point of accuracy are said not to matter (``rope``).
print(compare(neighbours, bayes, cv=cv, design="folds", names=["5NN", "naive Bayes"], rope=0.01))

# %%
# The intervals of the tests that apply.
compare(neighbours, bayes, cv=cv, design="folds", names=["5NN", "naive Bayes"], rope=0.01).plot()
plt.show()

# %%
# How many repetitions until the choice of partitions adds little to what the sample itself leaves open?
print(recommend_repetitions(neighbours, cv=cv))
