"""Whether the changes make sense, for a report: by the record, by how sure f was, by calibration, and by refits."""

import numpy as np

from commod.dashboard.model.fitted import FitResult
from commod.dashboard.text.verdicts import directions
from commod.experiments.checks import Evidence
from commod.experiments.refits import Refits
from commod.explain.checks import AGAIN
from commod.explain.plausibility import explain_certainty

# Ends of the classes of how often a change happens in refits.
_AGAIN = (0.5, AGAIN)


def by_record(result: FitResult) -> list[list[str]]:
    """Rightly and wrongly changed, by group and direction."""
    words = [word for word, _ in directions(result.task.spec)]
    return [
        [
            f"{row.group}, {words[not row.better]}",
            f"{row.count:,}",
            f"{row.right:,}",
            f"{row.wrong:,}",
            f"{row.share:.1%}\n[{100 * row.low:.1f}, {100 * row.high:.1f}]" if row.count else "–",
            f"{row.expected:.1%}" if row.count else "–",
        ]
        for row in result.record.itertuples()
    ]


def by_certainty(result: FitResult) -> list[list[str]]:
    """How sure f was of what changed, beside everyone."""
    found = explain_certainty(result.scene.certainty_test, result.scene.decisions_test, result.decisions)
    return [
        [
            f"{row.low:.0%} to {row.high:.0%}",
            f"{row.changed:,} ({row.share_changed:.1%})",
            f"{row.everyone:,} ({row.share_everyone:.1%})",
        ]
        for row in found.itertuples()
    ]


def by_refits(result: FitResult, refits: Refits) -> list[list[str]]:
    """How many of the changed decisions change again in how many of the refits."""
    share = np.asarray(refits.share)[result.changed_test]
    whole, (low, high) = len(share), _AGAIN
    classes = {
        f"in {high:.0%} of the refits or more": share >= high,
        f"in {low:.0%} to {high:.0%}": (share >= low) & (share < high),
        f"in fewer than {low:.0%}": share < low,
    }
    return [[name, f"{here.sum():,}", f"{here.mean():.1%}" if whole else "–"] for name, here in classes.items()]


def calibration(result: FitResult, evidence: Evidence) -> list[list[str]]:
    """Calibration error of f and g by group."""
    rows = []
    for code, row in evidence.calibration.iterrows():
        cells = [f"{row[name]:.3f}\n[{row[f'{name}_low']:.3f}, {row[f'{name}_high']:.3f}]" for name in ("f", "g")]
        rows.append([result.task.groups[int(code)], *cells])
    return rows
