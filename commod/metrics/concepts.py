"""How sparse and how different a model's concepts are (paper, Sec. 6.3)."""

from itertools import combinations

import numpy as np
import pandas as pd

# A weight of a unit direction that is smaller than this counts as none (the paper's ε).
NULL_WEIGHT = 0.01


def concept_size(concepts: pd.DataFrame) -> int:
    """Σ over concepts of the weights that are not null, |W| > 0.01. 0 or more; fewer is sparser.

    `concepts`: unit directions. (The paper prints W > ε; a weight counts by its size here, whatever its sign.)
    """
    return int((concepts.abs().to_numpy() > NULL_WEIGHT).sum())


def concept_redundancy(concepts: pd.DataFrame) -> float:
    """Mean over pairs of concepts of the Jaccard index of their signed features, 0 (nothing shared) to 1.

    Two concepts share a feature if both weigh it with the same sign: one feature used in opposite directions is two.
    Concepts without features share nothing; a single concept has no pair, and the redundancy is 0.
    """
    W = concepts.to_numpy()
    signed = [
        set(zip(np.flatnonzero(np.abs(w) > NULL_WEIGHT), np.sign(w[np.abs(w) > NULL_WEIGHT]), strict=True)) for w in W.T
    ]
    pairs = [len(a & b) / len(a | b) if a | b else 0.0 for a, b in combinations(signed, 2)]
    return float(np.mean(pairs)) if pairs else 0.0
