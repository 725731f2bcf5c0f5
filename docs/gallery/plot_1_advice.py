"""
Advice for one table
====================

How to cut, how often, which interval may be printed, and what is wrong with the table: one call.
"""

# %%
# A table with a fault
# --------------------
# The breast cancer data, with a column that gives the target away, as it may come out of a database.
import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import foldshift

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = pd.DataFrame(X)  # editors do not know that it is one
X["treated"] = (y == 0).astype(float)
model = make_pipeline(StandardScaler(), LogisticRegression())
advice = foldshift.advise(X, y, model, effort="quick", random_state=0)
for issue in advice.faults:
    print(f"{issue.code}: {issue.found} {issue.remedy}")

# %%
# Without it
# ----------
# The verdict in three sentences, the splitter to pass on, and the paragraph for the methods section.
advice = foldshift.advise(X.drop(columns="treated"), y, model, effort="quick", random_state=0)
for sentence in advice.verdict:
    print(sentence)
print(advice.cv)

# %%
# How far a single estimate may be off, and the interval that may be printed.
advice.plot()
plt.show()

# %%
# All figures are in ``advice.to_dict()``; ``advice.to_html("page.html")`` writes the page, and in a notebook the object shows it.
print(advice)
