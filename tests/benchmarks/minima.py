"""Does the solver find the lowest loss? ``python -m tests.benchmarks.minima``: its loss beside the best of 20 random
starts, and how smoothly the changes follow the slider."""

import argparse
from collections import Counter
from itertools import pairwise

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import spearmanr

from commod.models import WarmStart
from commod.models.threads import single_threaded
from tests.fitting import case, fit
from tests.random_starts import lowest_loss

WITHIN = 1e-5
CRITERIA = ("demographic_parity", "equalized_odds")
STRENGTHS = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0)
SPLITS = {"law_school": 6, "compas": 4, "adult": 1}
SLIDER = np.round(np.arange(0, 6.001, 0.1), 2)


def cell(name, fairness, lambda_fair, seed):
    """How much lower the best of the random starts lies than the solver's loss; below 0 the solver is lower."""
    c = case(name, seed)
    g = fit(c, lambda_fair=lambda_fair, fairness=fairness)
    with single_threaded():
        return name, fairness, lambda_fair, seed, g.path_["objective"].iloc[-1] - lowest_loss(c, g)


def smooth(name, fairness, seed):
    """Spearman's ρ of λ_fair and the changes, and the largest share of people that one step decides otherwise."""
    c, warm_start = case(name, seed), WarmStart()
    fits = (fit(c, lambda_fair=float(lam), fairness=fairness, warm_start=warm_start) for lam in SLIDER)
    decided = [g.predict(c.test.X) for g in fits]
    changes = [float(np.mean(each != decided[0])) for each in decided]  # the first is f
    most = max(float(np.mean(a != b)) for a, b in pairwise(decided))
    return name, fairness, seed, spearmanr(SLIDER, changes).statistic, most


def all_cells():
    """What `cell` finds everywhere, by data set."""
    places = [
        (name, fairness, lam, seed)
        for name, n in SPLITS.items()
        for fairness in CRITERIA
        for seed in range(n)
        for lam in STRENGTHS
    ]
    found = Parallel(n_jobs=-1)(delayed(cell)(*place) for place in places)
    return {name: [each for each in found if each[0] == name] for name in SPLITS}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", choices=SPLITS, help="one of them only")
    arguments = parser.parse_args()
    splits = {name: n for name, n in SPLITS.items() if arguments.dataset in (None, name)}
    workers = Parallel(n_jobs=-1)
    where = [(name, fairness, seed) for name, n in splits.items() for fairness in CRITERIA for seed in range(n)]
    cells = workers(delayed(cell)(name, fairness, lam, seed) for name, fairness, seed in where for lam in STRENGTHS)
    met: Counter[tuple[str, str]] = Counter((c[0], c[1]) for c in cells if c[4] <= WITHIN)
    for name in splits:
        for fairness in CRITERIA:
            here = [c for c in cells if c[:2] == (name, fairness)]
            missed = ", ".join(f"λ_fair {c[2]:g} split {c[3]} by {c[4]:.1e}" for c in here if c[4] > WITHIN)
            print(f"{name:10} {fairness:18} {met[name, fairness]:3} of {len(here):3}  {missed}")
    print(
        f"as low as the best of 20 random starts (within {WITHIN:g}): {met.total()} of {len(cells)} (asked for: 90 %)"
    )
    print("changes along the slider, on test people (asked for: Spearman ≥ 0.95, no step above 0.05):")
    for name, fairness, seed, rho, step in workers(delayed(smooth)(*place) for place in where):
        print(f"  {name:10} {fairness:18} split {seed}: Spearman {rho:.4f}, largest step {step:.4f}")
