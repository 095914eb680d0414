"""The check that fairlearn asks of its mitigations, on COMMOD: it must be fairer than the model before.

Measured with fairlearn's own metrics, on a logistic regression, as in its tests. `Commod` takes the same
arguments as they do (``fit(X, y, sensitive_features=…)``), so that it goes through the same check, under either
criterion. Run with ``python -m examples.fairlearn_check``, which needs fairlearn.
"""

from fairlearn.metrics import demographic_parity_difference, equalized_odds_difference
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score

from commod import Commod, load_task

METRICS = {"demographic_parity": demographic_parity_difference, "equalized_odds": equalized_odds_difference}


def fairer(name, fairness, **settings):
    """Fairlearn's measure of the unmitigated and the mitigated model on test, and their accuracies."""
    task = load_task(name)
    train, test = task.split(seed=0)
    unmitigated = task.base_model(LogisticRegression(max_iter=1000)).fit(train.X, train.y)
    mitigated = Commod(unmitigated, fairness=fairness, **settings)
    mitigated.fit(train.X, train.y, sensitive_features=train.sensitive)
    decided = [model.predict(test.X) for model in (unmitigated, mitigated)]
    measured = [METRICS[fairness](test.y, each, sensitive_features=test.sensitive) for each in decided]
    return measured, [accuracy_score(test.y, each) for each in decided]


if __name__ == "__main__":
    for fairness in METRICS:
        (before, after), (old, new) = fairer("compas", fairness, lambda_fair=4.0)
        print(f"{fairness}: {before:.3f} to {after:.3f}, accuracy {old:.3f} to {new:.3f}, fairer: {after < before}")
