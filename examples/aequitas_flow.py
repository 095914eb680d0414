"""COMMOD as a post-processing method of Aequitas Flow, which fits on scores and knows the group only then.

An adapter of a few lines: ``fit(X, y_hat, y, s)`` and ``transform(X, y_hat, s=None)``. Where Aequitas is installed the
class is one of its methods; without it, it works all the same. Run with ``python -m examples.aequitas_flow``.

Tried with Aequitas 1.1.0, which does not name all that it imports: ``pip install aequitas hyperparameter-tuning
omegaconf hydra-core fairgbm``.
"""

import pandas as pd
from sklearn.linear_model import LogisticRegression

from commod import Commod, load_task
from commod.metrics import change_rate, p_rule

try:
    from aequitas.flow.methods.postprocessing.postprocessing import PostProcessing
except ImportError:
    PostProcessing = object


class CommodPostProcessing(PostProcessing):
    """Takes the arguments of `Commod`; gives its scores, so that a threshold can follow in the experiment."""

    def __init__(self, **settings):
        self.commod = Commod(**settings)

    def fit(self, X, y_hat, y, s=None):
        """Learn from scores, labels and groups of the validation rows."""
        self.commod.fit(X, y, sensitive_features=s, base_scores=y_hat)

    def transform(self, X, y_hat, s=None):
        """The scores of g; the group is not asked for."""
        return pd.Series(self.commod.predict_proba(X, base_scores=y_hat)[:, 1], index=X.index)


if __name__ == "__main__":
    task = load_task("law_school")
    train, test = task.split(seed=0)
    f = task.base_model(LogisticRegression(max_iter=1000)).fit(train.X, train.y)
    of_train, of_test = (pd.Series(f.predict_proba(part.X)[:, 1], part.X.index) for part in (train, test))

    method = CommodPostProcessing(lambda_fair=3.0, lambda_ratio=0.05)
    method.fit(train.X, of_train, train.y, train.sensitive)
    decisions = {"f": of_test > 0.5, "g": method.transform(test.X, of_test) > 0.5}  # without the group
    for name, decided in decisions.items():
        print(f"{name}: P-Rule {p_rule(test.y, decided.astype(int), sensitive_features=test.sensitive):.3f}")
    print(f"decisions changed: {change_rate(decisions['f'].astype(int), decisions['g'].astype(int)):.1%}")
