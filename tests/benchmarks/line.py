"""Where the label's loss is measured if f's cut-off is not one half: ``python -m tests.benchmarks.line``.

Two ways: on f's own scale, as `Commod` does it, and on scores moved so that the line is one half. Printed: decisions
changed at a λ_fair that asks for hardly any fairness, and at one that asks for some, with the P-Rule reached, on test.
"""

import numpy as np

from commod.metrics import p_rule
from commod.models import best_response
from commod.models.evaluation import judged_elsewhere
from commod.models.objective import ScoreObjective
from tests.fitting import case, fit


class Moved(ScoreObjective):
    """The label's loss of scores whose line was moved to one half."""

    def __init__(self, y, sensitive, *, by_label, line=0.0):
        super().__init__(y, sensitive, by_label=by_label)


def main():
    print(f"{'data':12}{'cut-off':>8}  {'update':8}{'label loss on':18}{'λ_fair 0.1':>24}{'λ_fair 3':>24}")
    for data in ("law_school", "compas"):
        here = case(data)
        for threshold in (0.8, 0.3):
            for update in ("ratio", "affine"):
                for words, objective in (("f's own scale", ScoreObjective), ("moved scores", Moved)):
                    best_response.ScoreObjective = objective
                    cells = [told(here, threshold, update, lambda_fair) for lambda_fair in (0.1, 3.0)]
                    print(f"{data:12}{threshold:>8}  {update:8}{words:18}{cells[0]:>24}{cells[1]:>24}")


def told(here, threshold, update, lambda_fair):
    with judged_elsewhere():
        g = fit(here, lambda_fair=lambda_fair, update=update, threshold=threshold)
    before, after = (g.margin_of_f(here.test.X) > 0).astype(int), g.predict(here.test.X)
    rules = [p_rule(here.test.y, decided, sensitive_features=here.test.sensitive) for decided in (before, after)]
    return f"{np.mean(before != after):.1%}, {rules[0]:.2f} → {rules[1]:.2f}"


if __name__ == "__main__":
    main()
