"""The verdict on the model of the sliders, and the others beside it."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from commod.dashboard.model.fitted import FitResult
from commod.dashboard.pages.decide.models import AS_F, SCREEN, Candidate, offer_setting
from commod.dashboard.state import session
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.html import piece, style
from commod.dashboard.views.checks import changing_table, first_capital, lines_of_verdicts
from commod.dashboard.views.impact import BEYOND, FOUR_FIFTHS, impact_in_words
from commod.dashboard.views.methods import keeping
from commod.decisions import RULES, VERDICTS, Requirements, met_in_words
from commod.decisions.verdicts import rounded
from commod.explain.checks import Answer
from commod.metrics.figures import FIGURES
from commod.wording import listed, with_capital

TABLE = "The models side by side"
# What an update is to be by which nobody can lose, or gain.
ONE_WAY = {"improve": "nobody can lose", "worsen": "nobody can gain"}


def draw_verdict(shown: Candidate, required: Requirements, answers: Mapping[str, Answer]) -> None:
    """A line for each requirement with what it would take, and bad signs besides."""
    collapse, lines, more, keep = (st.empty() for _ in range(4))  # as many places whatever the verdict is
    if shown.collapse:
        text = f"This model has collapsed. Do not use it, whatever requirements it meets. {shown.collapse}"
        collapse.warning(escape_markdown(text), icon=":material/warning:")
    lines.markdown(lines_of_verdicts(shown.checked))
    if text := worth_knowing(answers, required):
        more.markdown(f":orange[:material/error:] **Not required, but important:** {escape_markdown(text)}")
    _offer_to_keep(shown, required, keep)


def with_accuracy(result: FitResult) -> str:
    """The two sentences on the fit, and the accuracy where it falls."""
    f, g = (FIGURES["accuracy"].show(result.figures.loc["accuracy", model]) for model in ("f", "g"))
    lost = result.figures.loc["accuracy", "g"] < result.figures.loc["accuracy", "f"] and f != g
    return f"{result.verdict} Accuracy falls from {f} to {g}." if lost else result.verdict


def worth_knowing(answers: Mapping[str, Answer], required: Requirements) -> str:
    """What speaks against the changes and is not asked for; `answers` are those to "Do these changes make sense?"."""
    doubtful = [answer for name, answer in answers.items() if name not in required.limits]
    return " ".join(answer.sentence for answer in doubtful if answer.mark in ("look", "bad"))


def _offer_to_keep(shown: Candidate, required: Requirements, place: Any) -> None:
    """One click to the setting that keeps features out and to a direction, where the model on the screen does not."""
    verdicts = shown.checked.set_index("requirement")["verdict"]
    if all(verdicts.get(name, "pass") == "pass" for name in ("kept_out", "direction")):
        return
    here = session.current()
    there = keeping(here, required)
    values = {"kept_out": "keep these features out", "direction": ONE_WAY.get(required.direction, "")}
    broken = [values[name] for name in values if verdicts.get(name, "pass") != "pass"]
    offer_setting(place, f"Train it so: {' and '.join(broken)}", there)


def answer_in_words(candidates: Sequence[Candidate], *, waiting: bool) -> str:
    """Who of the others meets the requirements, in words."""
    others = [one for one in candidates if one.name != SCREEN]
    passing = [one for one in others if one.verdict == "pass"]
    perhaps = [one.subject for one in others if one.verdict == "cannot tell"]
    if passing:
        applies = " that applies" if any((one.checked["verdict"] == "does not apply").any() for one in passing) else ""
        text = (
            f"{listed(one.subject for one in passing)} {'meets' if len(passing) == 1 else 'meet'} everything{applies}"
        )
    else:
        text = f"no other model meets everything{' beyond doubt' if perhaps else ''}"
    if perhaps:
        text += f"; we cannot tell for {listed(perhaps)}"
    return f"**{'So far, ' + text if waiting else first_capital(text)}.**"


# ---- side by side ----


def paint_table(place: Any, candidates: Sequence[Candidate], result: FitResult) -> Any:
    """Draw a row for each model and a column for each requirement; gives the place, to draw them again there."""
    first, spec = candidates[0].checked, result.task.spec
    limits = first.set_index("requirement")["limit"]
    with_impact = bool(limits.get("p_rule") != FOUR_FIFTHS) or not spec.favourable  # otherwise P-Rule says it
    together = ["All together"] * (len(first) > 1)  # otherwise the one requirement says it
    headings = ["Model", *together, *map(first_capital, first["wanted"]), "Decisions changed", "Accuracy"]
    headings += [
        f"Four-fifths rule: P-Rule of the favourable decision, “{spec.outcomes[spec.favourable]}”"
    ] * with_impact
    rows = [(one.title, _notes(one), _cells(one, result, with_impact)) for one in candidates]
    return changing_table(place, style() + style("verdicts") + piece("verdicts", headings, rows, TABLE))


def _notes(one: Candidate) -> list[str]:
    return [note for note in (one.setting, AS_F if one.is_as_f else "", one.collapse) if note]


def _cells(one: Candidate, result: FitResult, with_impact: bool) -> list[tuple[str, str, str]]:
    """Of each column after the first its kind, what it says first, and what else."""
    found = [_cell(row, one) for row in one.checked.to_dict("records")]
    found = [_together(one), *found] if len(found) > 1 else found
    found += [("", f"{one.facts.changed:,}", f"{one.facts.better:,} better off\n{one.facts.worse:,} worse off")]
    found += [("", FIGURES["accuracy"].show(result.scene.figures(one.decisions)["accuracy"]), "")]
    return [*found, _impact(one, result)] if with_impact else found


_KINDS = {"pass": "pass", "fail": "fail", "cannot tell": "untold", "does not apply": "beside"}


def _together(one: Candidate) -> tuple[str, str, str]:
    if one.collapse:
        return "fail", "✗ collapsed", ""
    text, untold = f"meets {met_in_words(one.checked['verdict'])}", (one.checked["verdict"] == "cannot tell").sum()
    if untold:
        text += f" for certain\n{untold} not known"
    return _KINDS[one.verdict], f"{VERDICTS[one.verdict]} {one.verdict}", text


def _impact(one: Candidate, result: FitResult) -> tuple[str, str, str]:
    """Adverse impact, with its ratio unless P-Rule says the same above."""
    (ratio, text), (p, chance) = impact_in_words(result.scene, one.decisions).values()
    side, _, who = text.partition("\n")
    p_rule = one.checked.set_index("requirement")["value"].get("p_rule", math.nan)
    same = ratio == RULES["p_rule"].show(p_rule)
    if not who:
        return "", side, ""
    if "below" not in side and chance == BEYOND:
        side += f", but the groups differ by {chance}"
    else:
        p += f", {chance}"
    return "", with_capital(side), f"{who if same else f'{ratio}: {who}'}\nFisher's exact test: {p}"


def _cell(row: Mapping[Any, Any], one: Candidate) -> tuple[str, str, str]:
    """Verdict, value with its intervals, and what it would take."""
    verdict, rule = row["verdict"], RULES.get(row["requirement"])
    parts = []
    if rule is not None and not math.isnan(row["value"]):
        measured = one.facts.measured[rule.name]
        parts.append(rule.show(row["value"]))
        if measured.exact:
            parts[0] += " for everyone"
        else:
            parts[0] += f" [{rule.show(row['low'])},\u00a0{rule.show(row['high'])}]"
        if one.name == SCREEN:  # the top of the page has the rest
            return _KINDS[verdict], f"{VERDICTS[verdict]} {verdict}", parts[0]
        if not math.isnan(row["refits_low"]):
            parts.append(f"refits [{rule.show(row['refits_low'])},\u00a0{rule.show(row['refits_high'])}]")
        if row["splits"]:
            parts.append(f"splits {row['splits']}")
        if verdict != "cannot tell":
            parts += filter(None, [row["takes"]])
        elif math.isnan(row["more_people"]):
            parts.append("too close to call")
        else:
            parts.append(f"about {rounded(row['more_people'])} more people would settle it")
    else:
        parts.append(row["sentence"])
    return _KINDS[verdict], f"{VERDICTS[verdict]} {verdict}", "\n".join(parts)
