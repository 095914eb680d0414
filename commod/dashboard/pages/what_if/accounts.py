"""What f and g say of a person, and why: the sum that leads from the one to the other, and SHAP's account beside it."""

import re
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from commod.charts.people import ACCOUNTS, plot_waterfall, term_styles
from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.service import result_of
from commod.dashboard.pages.what_if.person import Person
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.html import html_legend
from commod.dashboard.text.verdicts import score_in_words
from commod.dashboard.views.chart import Table, draw
from commod.dashboard.views.checks import SHOWN
from commod.dashboard.views.explained import account_columns, draw_accounts
from commod.experiments.refits import Refits
from commod.explain.checks import CHECKS, often_enough
from commod.explain.concepts import constants_in_words
from commod.explain.what_if import edit_row, explain_sum, score_rows

MAX_BARS = 8
# A name with so many letters stands in a line of its own; a level, where its line would be longer.
LONG, LONGEST = 18, 26
_SUM = {
    "label": ("Term", ""),
    "ratio": ("Adds to r (f counts as 1)", "+.3f"),
    "shift": ("Adds to s", "+.3f"),
    "logit": ("Adds to the logit", "+.3f"),
    "end": ("Logit so far", "+.3f"),
    "chance": ("Chance so far", ".1%"),
}
_ACCOUNTS = account_columns(ACCOUNTS[1], "+.3f")


def _minus(text: str) -> str:
    return re.sub(r"-(?=\d)", "−", text)


def read_aloud(person: Person) -> None:
    """What f and g say and, where something is edited, what they said before."""
    with st.container(key="what_if_says"):
        st.markdown(_verdict(person, person.now, "**"))
    if person.edits:
        names = ", ".join(escape_markdown(person.task.label(name)) for name in person.edits)
        st.markdown(f"Before the edit of {names}: {_verdict(person, person.scores.iloc[0])}")
    for sentence in wrong_turns(person):
        st.warning(escape_markdown(sentence), icon=":material/u_turn_left:")


def _not_acted_on(person: Person) -> str:
    kept = "lose" if person.result.settings.direction == "improve" else "gain"
    decided = escape_markdown(person.task.spec.outcomes[int(person.now["f"])])
    return f"g keeps f's score here: f says “{decided}”, and nobody may {kept} the better decision."


def _arithmetic(person: Person) -> str:
    """What becomes of f's score, so that a layman can follow."""
    row, line = person.now, person.result.line_in_words
    if person.result.g.decides:
        says = escape_markdown(person.task.spec.outcomes[int(row["g"])])
        does = "moves just across the line" if row["changed"] else "keeps f's score"
        return _minus(f"The balance is {row['balance']:+.2f}, so g says “{says}” and {does}. Dashed: the line, {line}.")
    return f"The decision turns at the dashed line ({line})."


def _percent(person: Person, margin: float, outcome: int = 1) -> str:
    """The probability of an outcome, where the logit of the positive one lies so far above the cut-off."""
    positive = float(person.result.scene.probabilities(np.asarray(margin)))
    return score_in_words(positive if outcome == 1 else 1.0 - positive)


def wrong_turns(person: Person) -> list[str]:
    """A sentence for each merit of which the edit gives more, and g's outcome is worse for it, all else as edited."""
    spec, found = person.task.spec, []
    for feature in spec.features:
        if not feature.merit or feature.name not in person.edits:
            continue
        recorded = person.recorded[feature.name].iloc[0]
        if feature.merit * (person.edits[feature.name] - recorded) <= 0:
            continue
        without = edit_row(person.edited, {feature.name: recorded})
        before, after = (score_rows(person.result.g, rows).iloc[0] for rows in (without, person.edited))
        sign = 1 if spec.favourable else -1
        if sign * (after["logit_g"] - before["logit_g"]) >= 0:
            continue
        known = person.ranges[feature.name]
        values = f"{known.in_words(recorded)} → {known.in_words(person.edits[feature.name])}"
        turned = before["g"] == spec.favourable != after["g"]
        became = f"turns g's decision to “{spec.outcomes[int(after['g'])]}”" if turned else "lowers g's score"
        good, percent = spec.outcomes[spec.favourable], partial(_percent, person, outcome=spec.favourable)
        scores = [
            f"{model}: {percent(before[f'logit_{model}'])}, now {percent(after[f'logit_{model}'])}"
            for model in ("f", "g")
        ]
        found.append(f"More merit hurts here: {feature.label} {values} {became} (“{good}”: {'; '.join(scores)}).")
    return found


def refits_in_words(person: Person, refits: Refits) -> str:
    """How often this person, as recorded, would change again."""
    count = round(float(refits.share[person.number]) * len(refits))
    before = " (before the edit)" if person.edits else ""
    again = f"{count:,} of {len(refits)} models trained on other samples of people change this decision{before}"
    if person.result.changed_test[person.number]:
        often = often_enough(count / len(refits))
        tail = "" if often else ": it depends on which people happen to be in the training data"
        return f"**{CHECKS['again'].title}** {SHOWN['fine' if often else 'look']} {again}{tail}."
    return f"{again}."


def _verdict(person: Person, row: pd.Series, bold: str = "") -> str:
    """What f and g decide, and the chances that they see."""
    spec = person.task.spec
    says_f, says_g, positive = (escape_markdown(spec.outcomes[place]) for place in (int(row["f"]), int(row["g"]), 1))
    became = "unchanged"
    if row["changed"]:
        became = "changed for the better" if row["g"] == spec.favourable else "changed for the worse"
    f, g = (_percent(person, row[f"logit_{model}"]) for model in ("f", "g"))
    return (
        f"{bold}f{bold} says “{says_f}”, {bold}g{bold} says “{says_g}”: {bold}{became}{bold}. "
        f"Chance of “{positive}”: {f} by f, {g} by g."
    )


def draw_sum(person: Person) -> None:
    """The sum from f's score to g's, by concept; as a table on demand."""
    spec = person.task.spec
    options: dict[str, Any] = {"outcomes": spec.outcomes, "favourable": spec.favourable}
    decides = person.result.g.decides
    titled = options | ({} if decides else {"line": person.result.scene.line})
    frame = explain_sum(person.result.g, person.task, person.edited)
    columns = _sum_columns(person)
    st.html(html_legend(term_styles(**options)))
    draw(
        plot_waterfall,
        _bars(person, frame),
        alt="The sum that leads from the score of f to that of g, a bar for each term.",
        table=Table("The sum as a table", "what_if_table", columns, lambda: _sum_rows(person, frame)),
        caption=_arithmetic(person) if person.acted_on else _not_acted_on(person),
        **titled,
    )


def _sum_columns(person: Person) -> dict[str, tuple[str, str]]:
    missing = set() if person.result.g.has_shift else {"shift"}
    missing |= {"ratio", "shift", "chance"} if person.result.g.decides else set()
    return {name: about for name, about in _SUM.items() if name not in missing}


def _bars(person: Person, frame: pd.DataFrame) -> pd.DataFrame:
    """Beside its name stands to what chance a bar leads; where the sum only decides, what it adds to that."""
    kind = np.where(frame["part"] == "term", np.where(frame["logit"] > 0, "up", "down"), frame["part"])
    end = person.result.scene.probabilities(frame["end"].to_numpy())
    labels = []
    for place, (label, value) in enumerate(zip(frame["label"], frame["logit"], strict=True)):
        name, bar, more = label.partition("|")
        more = more.replace(" “", "|“", 1) if len(more) > LONGEST else more
        if person.result.g.decides and kind[place] not in ("f", "g"):
            labels.append(_minus(f"{name}: {value:+.2f}{bar}{more}"))
        else:
            text = f"{'' if kind[place] in ('f', 'g') else 'to '}{score_in_words(end[place])}"
            labels.append(f"{name}: {text}{bar}{more}" if len(name) < LONG else f"{name}|{text}")
    return frame[["start", "end"]].assign(label=labels, kind=kind, chance=end, rank=range(len(frame)))


def _sum_rows(person: Person, frame: pd.DataFrame) -> pd.DataFrame:
    chance = person.result.scene.probabilities(frame["end"].to_numpy())
    return frame.assign(label=frame["label"].str.replace("|", ": ", regex=False), chance=chance)


def draw_person_shap(person: Person) -> None:
    """SHAP's account of this person beside COMMOD's own, on demand; to be called last, since it may take a while."""
    with st.expander("A second explanation: SHAP", key="what_if_shap", on_change="rerun") as second:
        if second.open:
            _draw_accounts_of(person)


def _draw_accounts_of(person: Person) -> None:
    own = explain_sum(person.result.g, person.task, person.edited, by="column").set_index("term")
    decides = person.result.g.decides
    if own.index.isin(["f", "g", *(("constant", "kept") if decides else ())]).all():
        st.info("The score does not change at this setting, so there is nothing to attribute.", icon=":material/info:")
        return
    edits = tuple(sorted(person.edits.items()))
    found = result_of(tasks.person_shap(person.result, person.number, edits), st.empty(), "SHAP")
    frame = found.assign(commod=[float(own["logit"].get(str(name), 0.0)) for name in found.index])
    frame = frame.loc[frame[["commod", "shap"]].abs().max(axis=1).sort_values(ascending=False, kind="stable").index]
    hidden = len(frame) - MAX_BARS
    less = f" {hidden} smaller features are in the table." if hidden > 0 else ""

    def accounts() -> pd.DataFrame:
        constant = float(own["logit"].get("constant", 0.0))
        return _account_rows(frame, constants, constant, float(found.attrs["average"]), splits)

    constants, splits = constants_in_words(person.result.g), "the balance" if decides else "g's logit"
    draw_accounts(
        frame.head(MAX_BARS),
        Table("Both accounts as a table", "what_if_accounts", _ACCOUNTS, accounts),
        alt="What each feature adds to the change in this person's score, by COMMOD and by SHAP.",
        caption="COMMOD's bars are read from the model. SHAP's are estimated by comparing this person with others. "
        f"Thin lines: how far they move with others drawn anew.{less}",
        title="Adds to the balance" if decides else "Pushes the score up or down (logit)",
        label_limit=150,
    )


def _account_rows(frame: pd.DataFrame, constants: str, constant: float, average: float, whole: str) -> pd.DataFrame:
    """The features between where the two accounts begin and where both end."""
    start = {"label": f"{constants}; average of others", "commod": constant, "shap": average}
    sums = {name: frame[name].sum() + start[name] for name in ("commod", "shap")}
    rows = [start, *frame.to_dict("records"), {"label": f"Sum: {whole} less f's logit", **sums}]
    return pd.DataFrame(rows, columns=list(_ACCOUNTS))
