"""What scores mean, then and now: the share with the label beside the mean score, at large and by tenths."""

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from commod.decisions.facts import CONFIDENCE
from commod.metrics.counts import sizes_of_groups
from commod.metrics.intervals import wilson_interval
from commod.monitoring.batch_rows import LEAST_PEOPLE, BatchRows
from commod.monitoring.differences import compared
from commod.monitoring.figures import EVERYONE
from commod.monitoring.reference import Reference, bins_of, cells_in, gaps_of

_Z = float(ndtri(0.5 + CONFIDENCE / 2))


def compare_gaps(reference: Reference, rows: BatchRows) -> list[dict[str, Any]]:
    """Calibration at large: the share with the label less the mean score, of everyone and of each group."""
    found = []
    names = [EVERYONE, *(reference["groups"] if rows.grouped else [])]
    sizes = [sizes_of_groups(each) for each in (cells_in(reference).rows, rows.cells.rows)]
    for model, scores in (("f", rows.scores_f), ("g", rows.scores_g)):
        old, new = reference["gaps"][model], gaps_of(rows.y, scores, rows.codes, len(names) - 1, rows.weight)
        for place, name in enumerate(names):
            both = [gaps[place] for gaps in (old, new)]
            few = place and min(sizes[0][place - 1], sizes[1][place - 1]) < LEAST_PEOPLE
            ends = [(gap[0], gap[0] - _Z * gap[1], gap[0] + _Z * gap[1]) for gap in both if gap is not None]
            if few or len(ends) < 2:
                continue
            suffix = "" if place == 0 else f"_{place - 1}"
            title = f"Label less score: {name}"
            found.append(compared({"figure": f"calibration_gap{suffix}", "model": model, "title": title}, *ends))
    return found


def calibration_bins(reference: Reference, rows: BatchRows) -> pd.DataFrame:
    """Labels by tenths of the score, with Wilson's interval of each share."""
    frames = []
    for model, scores in (("f", rows.scores_f), ("g", rows.scores_g)):
        for time, bins in (("old", reference["bins"][model]), ("new", bins_of(rows.y, scores))):
            count, positive, total = np.array(bins, dtype=float).T
            used = count > 0
            count, positive, total = count[used], positive[used], total[used]
            low, high = wilson_interval(positive, count, CONFIDENCE)
            columns = {"mean_score": total / count, "rate": positive / count, "rate_low": low, "rate_high": high}
            frames.append(pd.DataFrame({"model": model, "time": time, **columns, "count": count.astype(int)}))
    return pd.concat(frames, ignore_index=True)
