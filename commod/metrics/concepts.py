"""How sparse and how different a model's concepts are (paper, Sec. 6.3)."""

from itertools import combinations

import numpy as np
import pandas as pd

# A weight of a unit direction that is smaller than this counts as none (the paper's ε).
NULL_WEIGHT = 0.01


def concept_size(concepts: pd.DataFrame) -> int:
    """Number of weights of all concepts that are not null, |W| > 0.01 (the paper prints W > ε); fewer is sparser."""
    return int((concepts.abs().to_numpy() > NULL_WEIGHT).sum())


def concept_redundancy(concepts: pd.DataFrame) -> float:
    """Mean over pairs of concepts of the Jaccard index of their signed features, 0 (nothing shared) to 1.

    A feature is shared if both weigh it with the same sign. With a single concept the redundancy is 0.
    """
    W = concepts.to_numpy()
    signed = [
        set(zip(np.flatnonzero(np.abs(w) > NULL_WEIGHT), np.sign(w[np.abs(w) > NULL_WEIGHT]), strict=True)) for w in W.T
    ]
    pairs = [len(a & b) / len(a | b) if a | b else 0.0 for a, b in combinations(signed, 2)]
    return float(np.mean(pairs)) if pairs else 0.0
