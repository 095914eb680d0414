"""What the seed moves: ``python -m tests.benchmarks.seeds``. The default solver beside the paper's listing."""

import argparse

import numpy as np

from commod.metrics import p_rule
from tests.fitting import case, fit, test_change_rate


def spread(name, seeds, **settings):
    c = case(name)
    models = [fit(c, lambda_fair=3.0, random_state=seed, **settings) for seed in range(seeds)]
    rules = [p_rule(c.test.y, g.predict(c.test.X), sensitive_features=c.test.sensitive) for g in models]
    changes = [test_change_rate(c, g) for g in models]
    first = models[0].concepts_.to_numpy()
    # Match each concept of the first model with its nearest in the others, whatever order they come in.
    matches = [np.abs(first.T @ g.concepts_.to_numpy()).max(axis=1).min() for g in models[1:]]
    return np.array(rules), np.array(changes), min(matches)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    arguments = parser.parse_args()
    for name in ("law_school", "compas"):
        print(f"\n{name}, λ_fair = 3, split 0, {arguments.seeds} values of random_state (mean ± sd on test)")
        for label, settings in (("best response", {}), ("the paper's listing", {"solver": "adversarial"})):
            rules, changes, match = spread(name, arguments.seeds, **settings)
            print(
                f"  {label:20} P-Rule {rules.mean():.4f} ± {rules.std():.4f}, changes {changes.mean():.4f} ± "
                f"{changes.std():.4f}, least similar concept: |cosine| {match:.2f}"
            )
