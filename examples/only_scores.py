"""Only the scores: debias a model that nobody hands over.

A vendor's model cannot be had, but its scores stand in a column of the table. f is then the name of that column; where
the scores lie apart from the table, they are passed as ``base_scores`` instead. Both give the same g. Run from the
repository with ``python -m examples.only_scores``.
"""

import numpy as np

from commod import Commod
from commod.datasets import Choice, guess_columns, make_task
from commod.datasets.example import example_table
from commod.metrics import change_rate, p_rule

# 1,500 invented applicants: what is known of them, whether they were hired, and the score of an unknown model.
table = example_table()
guessed = guess_columns(table)["kind"]
features = guessed[guessed != "leave out"].drop(["hired", "group", "model_score"])
choice = Choice("hired", "yes", "group", ("A", "B"), features.to_dict(), scores="model_score")
own = make_task(table, choice)
print(*own.done, sep="\n")  # what was done to the table on the way

train, test = own.task.split(seed=0)
settings = {"lambda_fair": 2.0, "lambda_ratio": 0.05}
g = Commod("model_score", **settings).fit(train.X, train.y, sensitive_features=train.sensitive)

decided_by_f = (test.X["model_score"] > 0.5).astype(int)
decided_by_g = g.predict(test.X)
for name, decided in (("f", decided_by_f), ("g", decided_by_g)):
    print(f"{name}: P-Rule {p_rule(test.y, decided, sensitive_features=test.sensitive):.3f} (1 is fair)")
print(f"decisions changed: {change_rate(decided_by_f, decided_by_g):.1%}")

# The same with the scores apart: X has no column of them, and they are given to fit and to predict.
rows, new = own.task.features(train.X), own.task.features(test.X)
h = Commod(**settings).fit(rows, train.y, sensitive_features=train.sensitive, base_scores=train.X["model_score"])
same = np.array_equal(h.predict(new, base_scores=test.X["model_score"]), decided_by_g)
print(f"base_scores= decides the same about everybody: {same}")
