"""Regret of the model that answers to pairs lead to, by simulated people: ``python -m tests.benchmarks.pairs``.

People of known preferences answer on COMMOD's sweeps. A linear one weighs four figures; a concave one cares ever less
for more of them; one with a threshold wants so much fairness first. They answer without error, or as a logistic model
has it. Regret is what the chosen model loses, as a share of what lies between their best and their worst model.
"""

from __future__ import annotations

import argparse
from functools import cache

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from commod.decisions.pairs import NEARLY, Interview, PairAnswer, models_to_choose_from
from commod.experiments import prepare, sweep_method

SCENES = (
    ("law_school", "demographic_parity"),
    ("law_school", "equalized_odds"),
    ("compas", "demographic_parity"),
    ("compas", "equalized_odds"),
)
KINDS = ("linear", "concave", "threshold")
# How far apart best and worst are in units of an answer's noise; 0: no noise.
NOISES = (0.0, 20.0, 8.0)
QUESTIONS = (8, 12, 15)


@cache
def models_of(data: str, criterion: str) -> pd.DataFrame:
    """The models of a scene."""
    scene = prepare(data)
    return models_to_choose_from(scene, sweep_method(scene, "commod", criterion))


def utility_of(kind: str, models: pd.DataFrame, random: np.random.Generator) -> pd.Series:
    """A person's utility of each model, from 0 to 1."""
    gains = models * pd.Series(models.attrs["signs"])
    scaled = (gains - gains.min()) / (gains.max() - gains.min())
    if kind == "concave":
        scaled = scaled ** random.uniform(0.25, 0.8, scaled.shape[1])
    if kind == "threshold":
        short = (random.uniform(0.4, 0.9) - scaled.iloc[:, 0]).clip(lower=0)
        found = scaled.iloc[:, 1:] @ random.dirichlet(np.ones(scaled.shape[1] - 1)) - 3 * short
    else:
        found = scaled @ random.dirichlet(np.ones(scaled.shape[1]))
    return (found - found.min()) / (found.max() - found.min())


def answered(utility: pd.Series, pair: tuple[int, int], noise: float, random: np.random.Generator) -> PairAnswer:
    """What a person says to a pair."""
    margin = utility[pair[0]] - utility[pair[1]]
    says_a = random.random() < 1 / (1 + np.exp(-noise * margin)) if noise else margin > 0
    return PairAnswer(*pair, "a" if says_a else "b")


def once(models: pd.DataFrame, kind: str, noise: float, person: int) -> list[dict[str, object]]:
    """One person, asked by the interview and at random; and a fixed setting in the middle of the frontier."""
    interview = Interview(models)
    places = list(models.index)
    middle = models.iloc[:, 0].sort_values().index[len(models) // 2]
    rows: list[dict[str, object]] = []
    for way in ("interview", "random pairs"):
        random = np.random.default_rng((person, 7))
        utility = utility_of(kind, models, random)
        answers: list[PairAnswer] = []
        while len(answers) < max(QUESTIONS):
            drawn = tuple(int(place) for place in random.choice(places, 2, replace=False))
            # Here nobody stops when it is sure enough: all are asked as often.
            again = interview._to_repeat(answers) if len(answers) + 1 in (6, 12) else None
            pair = drawn if way == "random pairs" else again or interview.most_telling(answers) or drawn
            answers.append(answered(utility, pair, noise, random))
            if len(answers) in QUESTIONS:
                found = interview.preference(answers)
                rows.append(
                    {
                        "way": way,
                        "questions": len(answers),
                        "regret": 1 - utility[found.place],
                        "sure": found.sure,
                        "nearly": 1 - utility[found.place] <= NEARLY,
                        "explained": found.explained / found.choices,
                    }
                )
    rows += [{"way": "middle", "questions": n, "regret": 1 - utility[middle]} for n in QUESTIONS]
    return [{"kind": kind, "noise": noise} | row for row in rows]


def simulate(people: int, scenes: tuple[tuple[str, str], ...] = SCENES, n_jobs: int = -1) -> pd.DataFrame:
    """A row for each person, way and number of questions."""
    swept = [models_of(*scene) for scene in scenes]
    jobs = [(models, kind, noise, k) for models in swept for kind in KINDS for noise in NOISES for k in range(people)]
    return pd.DataFrame(row for rows in Parallel(n_jobs=n_jobs)(delayed(once)(*job) for job in jobs) for row in rows)


def main() -> None:
    """Print mean regret by kind of person, and whether "sure" is what it says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=10, help="of each kind and noise, on each scene")
    frame = simulate(parser.parse_args().people)
    means = frame.pivot_table("regret", ["kind", "noise", "way"], "questions", sort=False)
    print(means.round(3).to_string())
    asked = frame[frame["way"] == "interview"]
    told = asked.groupby(["kind", "noise", "questions"], sort=False)[["sure", "nearly", "explained"]]
    print(told.mean().round(2).to_string())


if __name__ == "__main__":
    main()
