"""Requirements that were checked: each as a line with its verdict, and all of them in one sentence."""

from typing import Any

import pandas as pd

from commod.dashboard.text.escape import escape_markdown
from commod.decisions import RULES, VERDICTS

# Word and sign tell a verdict; the colour only underlines it.
SHOWN = {
    "pass": ":green[:material/check_circle:] **pass**",
    "fail": ":red[:material/cancel:] **fail**",
    "cannot tell": ":orange[:material/help:] **cannot tell**",
    "does not apply": ":gray[:material/do_not_disturb_on:] **does not apply**",
}
assert set(SHOWN) == set(VERDICTS)


def lines_of_verdicts(checked: pd.DataFrame) -> str:
    """Markdown: a line for each requirement, from `check_requirements`."""
    rows = checked.to_dict("records")
    return "\n\n".join(
        f"{SHOWN[row['verdict']]} · **{escape_markdown(_title(row))}.** {escape_markdown(row['sentence'])}"
        + (f" :gray[Other splits: {row['splits']}.]" if row["splits"] else "")
        for row in rows
    )


def _title(row: dict[Any, Any]) -> str:
    rule = RULES.get(row["requirement"])
    return row["title"] if rule is None else f"{rule.title} {rule.show_limit(row['limit'])}"


def verdict_in_words(checked: pd.DataFrame, people: int, subject: str) -> str:
    """How many requirements a model meets, of those that apply to it, in one sentence."""
    met, failed, untold, beside = ((checked["verdict"] == name).sum() for name in VERDICTS)
    total = len(checked) - beside
    measured = checked["value"][checked["verdict"] == "cannot tell"].notna().all()  # so that people would settle it
    cannot = f"cannot be told with {people:,} people" if measured else "cannot be told"
    if not total:
        return f"Nothing that is required applies to {subject[0].lower()}{subject[1:]}: nobody's decision changes."
    if total == 1:
        verb = "meets" if met else "fails" if failed else f"{cannot} to meet"
        parts = [f"{subject} {verb} the one requirement{' that applies' if beside else ''}"]
    else:
        count = f"all {total}" if met == total else f"{met or 'none'} of {total}"
        parts = [f"{subject} meets {count} requirements{' that apply' if beside else ''}"]
        parts += [f"{failed} {'fails' if failed == 1 else 'fail'}"] if failed else []
        parts += [f"{untold} {cannot}"] if untold else []
    if beside:
        parts.append(f"{beside} {'does' if beside == 1 else 'do'} not apply, as nobody's decision changes")
    return f"{'; '.join(parts)}."
