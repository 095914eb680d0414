"""Requirements that were checked: each as a line with its verdict, and all of them in one sentence."""

from __future__ import annotations

from typing import Any

import pandas as pd

from commod.dashboard.text.escape import escape_markdown
from commod.decisions import RULES, VERDICTS

# Word and sign tell a verdict; the colour only underlines it.
SHOWN = {
    "pass": ":green[:material/check_circle:] **pass**",
    "fail": ":red[:material/cancel:] **fail**",
    "cannot tell": ":orange[:material/help:] **cannot tell**",
}
assert set(SHOWN) == set(VERDICTS)


def lines_of_verdicts(checked: pd.DataFrame) -> str:
    """Markdown: a line for each requirement, from `check_requirements`."""
    rows = checked.to_dict("records")
    return "\n\n".join(
        f"{SHOWN[row['verdict']]} · **{escape_markdown(_title(row))}.** {escape_markdown(row['sentence'])}"
        for row in rows
    )


def _title(row: dict[Any, Any]) -> str:
    rule = RULES.get(row["requirement"])
    return row["title"] if rule is None else f"{rule.title} {rule.show_limit(row['limit'])}"


def verdict_in_words(checked: pd.DataFrame, people: int, subject: str) -> str:
    """How many requirements a model meets, in one sentence."""
    total = len(checked)
    met, failed, untold = ((checked["verdict"] == name).sum() for name in VERDICTS)
    what = "requirement" if total == 1 else "requirements"
    if met == total:
        return f"{subject} meets {'the one requirement' if total == 1 else f'all {total} {what}'}."
    text = f"{subject} meets {met} of {total} {what}" if met else f"{subject} meets none of {total} {what}"
    if failed:
        text += f"; {failed} {'fails' if failed == 1 else 'fail'}"
    if untold:
        text += f"; {untold} cannot be told with {people:,} people"
    return f"{text}."
