"""Why not everything can be equal at once where groups differ in their base rates, with the numbers of a model.

By counting alone, in each group with base rate p (Chouldechova 2017, Eq. 2.6):

    FPR = p / (1 − p) · (1 − PPV) / PPV · (1 − FNR)

If two groups have equal PPV and equal FNR and different p, their FPR must differ, unless there are no errors.
Kleinberg, Mullainathan and Raghavan (2016) show the same of scores that are calibrated in each group.
"""

from typing import Any

import numpy as np
import pandas as pd

from commod.metrics.counts import tally
from commod.metrics.fairness import FPR, PPV, TPR


def error_rates(y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None) -> pd.DataFrame:
    """What a positive decision means, and how often decisions err, by group; and what equal ones would force.

    Returns
    -------
    DataFrame
        One row per group: ``base_rate`` (share of label 1), ``ppv`` (of positive decisions, the share proved right),
        ``fnr, fpr``, and ``forced_fpr``: the false positive rate that the group would have to have if its PPV and FNR
        were those of everybody. It may be above 1: then no decisions have them. NaN where a rate does not exist.
    """
    found = tally(y_true, {"y_pred": y_pred}, sensitive_features, sample_weight)
    counts = found.counts
    base = counts[:, 1].sum(axis=1) / counts.sum(axis=(1, 2))
    ppv, hit = float(PPV(counts)), float(TPR(counts))
    with np.errstate(divide="ignore", invalid="ignore"):  # a group with one label
        columns = {
            "base_rate": base,
            "ppv": PPV.rates(counts),
            "fnr": 1.0 - TPR.rates(counts),
            "fpr": FPR.rates(counts),
            "forced_fpr": base / (1.0 - base) * ((1.0 - ppv) / ppv if ppv > 0 else np.nan) * hit,
        }
    return pd.DataFrame(columns, index=pd.Index(found.groups, name="group"))
