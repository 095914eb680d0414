"""Nightly runs of `commod watch --state`: how many false alarms, and what is found? As in docs/benchmarks.md.

``python -m tests.benchmarks.watch`` prints two tables, and what later halves of our data sets say to a single look.
Nights are drawn from populations with the group shares and the rates of positive decisions of our data sets, and of
two invented ones; the requirement is a P-Rule of 0.8.

- False alarms: a P-Rule of exactly 0.8, the hardest quiet case, for a year of nights. The share of years with an alarm
  on any night; at most 5 % are promised.
- Found: a P-Rule of 0.75, from the first night on, and after half a quiet year. The share of cases with an alarm within
  4,000 people. Beside it the share that the best test of one fixed look at 4,000 people finds, at a level of 5 %
  (Neyman and Pearson, normal approximation): nothing that keeps to 5 % finds more, however it looks.
"""

import argparse

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from commod.dashboard.model.training import fit_result
from commod.dashboard.state.settings import defaults
from commod.datasets.declared import TASKS
from commod.decisions.facts import CONFIDENCE
from commod.decisions.requirements import RULES
from commod.metrics.counts import wilson_interval
from commod.metrics.report import _ratios
from commod.monitoring import outcome_of
from commod.monitoring.requirements import ALPHA, e_value, tolerance
from commod.monitoring.state import KEPT, STEP, money_on

LIMIT, DROP, WITHIN, NIGHTS = 0.8, 0.05, 4_000, 365
# Share of the group with the lower rate, and the other's rate of positive decisions.
POPULATIONS = {
    "law_school": (0.265, 0.594),
    "law_school_full": (0.159, 0.984),
    "compas": (0.341, 0.416),
    "adult": (0.332, 0.258),
    "german": (0.190, 0.798),
    "half and half, 90 % positive": (0.5, 0.9),
    "half and half, 80 % positive": (0.5, 0.8),
}


def e_values(positive, people):
    """The e-values against a P-Rule of 0.8 or more, of many samples at once.

    `positive` and `people` are (2, samples), the group with the lower rate first.
    """
    rates = positive / people
    value = rates[0] / rates[1]
    low, high = (ends[0] for ends in _ratios(rates, *wilson_interval(positive, people, CONFIDENCE)))
    error = np.where(value < LIMIT, high - value, value - low) / ndtri(0.5 + CONFIDENCE / 2)
    return e_value(LIMIT - value, error, tolerance(RULES["p_rule"]))


def drawn(ratios, people, population, years, rng):
    """How many were decided positively, and people, (2, years, nights), by the P-Rule of each night."""
    share, rate = population
    few = np.clip(rng.binomial(people, share, (years, len(ratios))), 1, people - 1)
    sizes = np.stack([few, people - few])
    chances = np.stack([rate * np.asarray(ratios), np.full(len(ratios), rate)])
    return rng.binomial(sizes, chances[:, None]).astype(float), sizes.astype(float)


def capital(positive, people, each):
    """The e-value of total and windows together (years, nights): `WatchState` and its looks, for many years at once."""
    sums = [
        np.concatenate([np.zeros((2, len(part[0]), 1)), part.cumsum(axis=-1)], axis=-1) for part in (positive, people)
    ]
    starts = np.arange(0, positive.shape[-1], -(-STEP // each))  # the night before which a window starts
    found = []
    for night in range(1, positive.shape[-1] + 1):
        windows = [number for number in range(1, len(starts)) if starts[number] < night]
        if starts[len(windows)] + -(-STEP // each) == night:  # one that has nobody yet is kept, too
            windows.append(0)
        kept = [number for number in windows[-KEPT:] if number]
        found.append(
            sum(
                money_on(number) * e_values(*(part[..., night] - part[..., starts[number]] for part in sums))
                for number in (0, *kept)
            )
        )
    return np.array(found).T


def alarms(ratios, people, population, years, rng):
    """Whether there is an alarm (years, nights), by the P-Rule of each night."""
    with np.errstate(all="ignore"):  # nobody decided positively in the first nights
        return np.nan_to_num(capital(*drawn(ratios, people, population, years, rng), people)) >= 1 / ALPHA


def found(people, population, quiet, cases, rng):
    """The share of cases in which a drop is found within 4,000 people, after so many quiet nights without an alarm."""
    seen = alarms([LIMIT] * quiet + [LIMIT - DROP] * (WITHIN // people), people, population, cases, rng)
    return seen[~seen[:, :quiet].any(axis=1)].any(axis=1).mean()


def at_most(population):
    """What the best test of one look at 4,000 people finds."""
    share, rate = population
    low = rate * (LIMIT - DROP / 2)
    variance = ((1 - low) / (low * share) + (1 - rate) / (rate * (1 - share))) / WITHIN
    return float(ndtr(np.log(LIMIT / (LIMIT - DROP)) / np.sqrt(variance) + ndtri(ALPHA)))


def table(people, years):
    """One row per population: false alarms, found from the first night and after half a year, and by one best look."""
    rows = {}
    for name, population in POPULATIONS.items():
        rng = np.random.default_rng(0)
        quiet = alarms([LIMIT] * NIGHTS, people, population, years, rng).any(axis=1).mean()
        seen = [found(people, population, nights, years, rng) for nights in (0, NIGHTS // 2)]
        rows[name] = [float(share) for share in (quiet, *seen, at_most(population))]
    return rows


def halves():
    """Of each data set, what a later half of its own test people says where nothing is required."""
    for name in TASKS:
        found = fit_result(defaults(name)).held_out(False)
        outcome = outcome_of(found, pd.DataFrame())
        print(f"{name:18}{found.people:>6,} people  {outcome.title}: {outcome.why.split('. Of ')[0]}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--years", type=int, default=2000, help="quiet years, and cases of a drop (default 2,000)")
    parser.add_argument("--people", type=int, default=100, help="people a night (default 100)")
    arguments = parser.parse_args()
    print(f"{'':32}{'false alarms':>14}{'found, from':>14}{'found, after':>14}{'best single':>14}")
    print(f"{'population':32}{'in a year':>14}{'night 1':>14}{'half a year':>14}{'look':>14}")
    for name, shares in table(arguments.people, arguments.years).items():
        print(f"{name:32}" + "".join(f"{share:>14.1%}" for share in shares))
    print("\nLater halves, a single look, nothing required")
    halves()


if __name__ == "__main__":
    main()
