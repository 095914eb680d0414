"""What a later look comes to, in words: still true, not as it was, not any more, or cannot tell; and what moved."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtri

from commod.decisions.facts import CONFIDENCE, Facts, Z
from commod.decisions.requirements import Requirements
from commod.decisions.verdicts import REVEALED
from commod.decisions.verify import agree, shown
from commod.metrics.counts import SCARCE
from commod.metrics.figures import CRITERIA, FIGURES, Figure
from commod.monitoring.requirements import Look, check_then_and_now
from commod.monitoring.watch import Watched
from commod.uploads.limits import count_of, short
from commod.wording import some_of, with_capital

# Where nothing is required: a difference of the main figure that must not go unseen for "still true", 10 points.
SEEN = 0.1
# Figures that are named, of those that moved.
NAMED = 3
MOVED = "Not as it was"  # the title where figures moved, whatever became of what is required


class Outcome(NamedTuple):
    """Whether what was found about a model is still true."""

    kind: Literal["holds", "broken", "unknown"]  # where anything is required, by that alone
    title: str  # `MOVED`, "Still true", "Not any more", "Cannot tell", or "Not true, as before"
    why: str  # in a sentence
    mentioned: tuple[Any, ...] = ()  # the rows of what was checked whose sentences it has
    furthest: tuple[tuple[str, str], ...] = ()  # the figures that moved furthest, and from what to what


def outcome_of(found: Watched, checked: pd.DataFrame, *, other_model: str = "", nightly: bool = False) -> Outcome:
    """The bottom line: what moved, unless it is `nightly`, and what is required (`checked`, of `check_then_and_now`).

    `other_model` says why the model is not the one of the decision, if it is not: then nothing can be said of that one.
    """
    if other_model:
        return Outcome("unknown", "Cannot tell", other_model)
    moved = _by_what_moved(found)
    required = _by_requirements(checked) if len(checked) else moved
    if checked.empty or nightly or moved.title != MOVED:  # in many nights, some figure moves by chance
        return required
    text = f"{moved.why} What is required: {required.title.lower()}. {with_capital(required.why)}"
    return required._replace(title=MOVED, why=text, furthest=moved.furthest)


class Judged(NamedTuple):
    """What a page or a command says of a batch."""

    outcome: Outcome
    headline: str  # what became of the main figure
    moved: str  # how many columns moved and, where the outcome has not counted them, figures
    left_out: str  # who is not counted; empty if all are
    checked: pd.DataFrame  # from `check_then_and_now`; empty if nothing is required
    signature: pd.DataFrame | None  # from `check_signature`; None without a decision


def judge(
    found: Watched,
    required: Requirements | None = None,
    record: Mapping[str, Any] | None = None,
    *,
    facts: Facts | None = None,
    looks: Sequence[Look] = (),
) -> Judged:
    """Check a batch against what is required and, if there is one, the signed decision.

    `facts` and `looks` are of all people counted so far, from a `WatchState`; by default, of the batch.
    """
    checked = pd.DataFrame()
    if required:
        checked = check_then_and_now(required, found.old_facts, facts or found.facts, record, looks)
    lines = None if record is None else check_signature(record, found)
    other = "" if lines is None or lines["agrees"].all() else signature_in_words(lines)
    outcome = outcome_of(found, checked, other_model=other, nightly=bool(looks))
    moved = drift_in_words(found) if outcome.title == MOVED or checked.empty else moved_in_words(found)
    return Judged(outcome, headline(found), moved, rows_left_out_in_words(found), checked, lines)


def _by_requirements(checked: pd.DataFrame) -> Outcome:
    failing = checked[checked["verdict"] == "fail"]
    if len(broke := failing[failing["broke"]]):
        rest = len(failing) - len(broke)
        before = f" {count_of(rest, 'other')} failed already before." if rest else ""
        return Outcome("broken", "Not any more", f"{_named(broke)}.{before}")
    if len(failing):
        return Outcome("broken", "Not true, as before", f"{_named(failing)}.")
    count, unknown = count_of(len(checked), "requirement"), checked[checked["verdict"] == "cannot tell"]
    if len(unknown):
        text = f"None of {count} fails, but {len(unknown)} cannot be determined. " if len(checked) > 1 else ""
        return Outcome("unknown", "Cannot tell", text + " ".join(unknown["sentence"]), tuple(unknown.index))
    held = int((checked["verdict"] == "pass").sum())
    if not held:
        return Outcome("unknown", "Cannot tell", "Nothing that is required applies to these people.")
    beside = "" if held == len(checked) else "; the rest does not apply"
    of = "the requirement holds" if len(checked) == 1 else f"{held} of {count} hold"
    near = (checked["verdict"] == "pass") & (checked["low"] < checked["limit"]) & (checked["limit"] < checked["high"])
    sentences = checked.loc[near, "sentence"]
    return Outcome(
        "holds", "Still true", " ".join([f"On these people {of}{beside}.", *sentences]), tuple(sentences.index)
    )


def _named(rows: pd.DataFrame) -> str:
    return "; ".join(f"{row.wanted}: {row.became}" for row in rows.itertuples())


def _by_what_moved(found: Watched) -> Outcome:
    figure, row = main_figure(found)
    name, figures = figure_in_words(figure), found.figures
    far = figures[far_beyond_chance(figures)]
    moved, by_chance = _moved_by_chance(found)
    counted = f"Of {count_of(len(figures), 'figure')} compared, {moved} {by_chance}"
    # A fall is noticed once the upper end of its interval is below 0, and not ruled out as long as the lower end is.
    above, below = row["high"] - row["difference"], row["difference"] - row["low"]
    way, noticed, worst = ("fall", above, -row["low"]) if figure.direction > 0 else ("rise", below, row["high"])
    if small := {group: people for group, people in found.groups.items() if people < SCARCE}:
        few = ", ".join(f"{group} ({count_of(people, 'person', 'people')})" for group, people in small.items())
        text = f"There are too few new people of {few}: a group is compared from {SCARCE} people on."
        return Outcome("unknown", "Cannot tell", f"{text} {counted}.")
    if row["moved"] or len(far):
        text = f"{moved} of {count_of(len(figures), 'figure')} {by_chance}. {with_capital(name)} "
        text += "is one of them, and would count even alone" if row["moved"] else "is not one of them"
        named = far if len(far) else figures[figures["moved"]]
        return Outcome("broken", MOVED, f"{text}.", furthest=_furthest(named))
    if figure is not (wanted := _trained_for(found)):
        text = f"{with_capital(figure_in_words(wanted))} cannot be measured on this batch"
        return Outcome("unknown", "Cannot tell", f"{text}. {counted}.")
    if worst > SEEN:
        people = count_of(found.people, "new person", "new people")
        seen = figure.show_difference(noticed * REVEALED).lstrip("+−")
        people += f" against {found.old_people:,} before"
        revealed = f"With {people}, {name} must {way} by {seen} or more to be noticed 4 times in 5"
        return Outcome("unknown", "Cannot tell", f"{revealed}. {counted}.")
    return Outcome("holds", "Still true", f"{counted}.")


def _furthest(figures: pd.DataFrame) -> tuple[tuple[str, str], ...]:
    """The figures that moved furthest, as their intervals measure it; f's only if g's did not move."""
    figures = figures[(figures["model"] != "f") | ~figures["title"].isin(figures["title"][figures["model"] == "g"])]
    reach = (figures["high"] - figures["low"]).clip(lower=1e-12)
    first = figures.loc[(figures["difference"].abs() / reach).sort_values(ascending=False, kind="stable").index[:NAMED]]
    found = []
    for row in first.itertuples():
        figure = FIGURES.get(row.figure)
        old, new = (figure.show(each) if figure else f"{each:.1%}" for each in (row.old, row.new))
        found.append((f"{row.title.removeprefix('… ')}{' of f' * (row.model == 'f')}", f"{old} → {new}"))
    return tuple(found)


def far_beyond_chance(figures: pd.DataFrame) -> pd.Series:
    """Which figures moved so far that chance does not explain it among so many (Bonferroni).

    The reach of an interval towards 0 is stretched from 1.96 standard errors to as many as their number asks for.
    """
    most = float(-ndtri((1 - CONFIDENCE) / 2 / max(len(figures), 1)))
    difference = figures["difference"]
    reach = np.where(difference > 0, difference - figures["low"], figures["high"] - difference)
    return figures["moved"] & (difference.abs() > reach * most / Z)


# ---- what moved ----


def _trained_for(found: Watched) -> Figure:
    return CRITERIA.get(found.fairness, next(iter(CRITERIA.values()))).figure


def main_figure(found: Watched) -> tuple[Figure, Any]:
    """The figure that the model was trained for, and its row; where the batch does not tell it, the share changed."""
    wanted, rows = _trained_for(found), found.figures.set_index(["figure", "model"])
    if (wanted.name, "g") in rows.index:
        return wanted, rows.loc[(wanted.name, "g")]
    figure = next(figure for figure in FIGURES.values() if figure.of_change and figure.key)
    return figure, rows.loc[(figure.name, "change")]


def figure_in_words(figure: Figure) -> str:
    """Its name as the subject of a sentence."""
    if figure.of_change:
        return "the share of changed decisions"
    is_name = figure.in_sentence[1:2].isupper() or "-" in figure.in_sentence
    return f"the {figure.in_sentence}" if is_name else figure.in_sentence  # disparate mistreatment


def headline(found: Watched) -> str:
    """What became of the figure that the model was trained for; without it, of the share of decisions changed."""
    figure, row = main_figure(found)
    now, then = figure.show(row["new"]), figure.show(row["old"])
    interval = f"{figure.show(row['new_low'])} to {figure.show(row['new_high'])}".replace("%", "", 1)
    people, text = count_of(found.people, "new person", "new people"), figure_in_words(figure)
    text = f"On {people} {text} is {now} ({interval}); it was {then}"
    if not row["moved"]:
        low, high = (figure.show_difference(row[end]) for end in ("low", "high"))
        return f"{text}: chance may explain the difference ({low.removesuffix(' points')} to {high})."
    by = figure.show_difference(abs(row["difference"])).lstrip("+")
    return f"{text}: {'higher' if row['difference'] > 0 else 'lower'} by {by}, more than chance explains."


def moved_in_words(found: Watched) -> str:
    """How many figures moved, beside how many would by chance, and which columns are not as they were."""
    moved, by_chance = _moved_by_chance(found)
    return f"{moved} of {count_of(len(found.figures), 'figure')} {by_chance}. {drift_in_words(found)}"


def _moved_by_chance(found: Watched) -> tuple[int, str]:
    text = f"moved more than chance explains; 1 in 20 (about {0.05 * len(found.figures):.0f}) would by chance alone"
    moved = int(found.figures["moved"].sum())
    if moved and not far_beyond_chance(found.figures).any():
        text += ", and none moved far enough to stand out among so many"
    return moved, text


def drift_in_words(found: Watched) -> str:
    """How many columns are distributed otherwise than they were, and what values nobody had."""
    drifted, total = int((found.drift["drift"] != "stable").sum()), len(found.drift)
    verb = "is" if drifted == 1 else "are"
    text = f"{drifted or 'None'} of the {total} columns and scores {verb} distributed differently than before."
    unseen = found.drift[found.drift["unseen"] > 0]
    if unseen.empty:
        return text
    names = some_of([f"“{short(name)}”" for name in unseen["shown"]], 3)
    most = int(unseen["unseen"].max())
    people = count_of(most, "person has a value", "people have values")
    some = people if len(unseen) == 1 else f"up to {people}"
    return f"{text} In {names} {some} that nobody had when the model was tested."


def rows_left_out_in_words(found: Watched) -> str:
    """Who of the batch is not counted, and why; empty if all are."""
    if not found.left_out:
        return ""
    reasons = ", ".join(f"{count:,} ({why})" for why, count in found.left_out.items())
    return f"Left out of {found.people + sum(found.left_out.values()):,} rows: {reasons}."


# ---- the decision ----


def check_signature(record: Mapping[str, Any], found: Watched) -> pd.DataFrame:
    """Compare a decision (from `commod.decisions.read_record`) with a model, line by line, without training.

    Settings are compared by name, figures with the counts in the model's file: if all agree, it is the signed model, or
    one with the same record. Columns ``line, recorded, found`` (texts), ``agrees``.
    """
    signed = record["model"]
    asked = {"fairness": signed["fairness"], "lambda_fair": signed["value"], **signed["settings"]}
    asked["threshold"] = signed["threshold"]
    here, figures = {"threshold": 0.5, **found.settings}, found.signed
    rows: list[tuple[str, Any, Any]] = [("method", signed["method"], "commod")]
    rows += [(name, asked[name], here[name]) for name in asked if name in here]
    rows += [(name, value, figures[name]) for name, value in record["figures"].items() if name in figures]
    lines = [(name, shown(then), shown(now), agree(then, now)) for name, then, now in rows]
    return pd.DataFrame(lines, columns=["line", "recorded", "found", "agrees"])


def signature_in_words(lines: pd.DataFrame) -> str:
    """Whether it is the model that was decided for."""
    other = lines.loc[~lines["agrees"], "line"].tolist()
    if not other:
        return f"This is the model of the decision: all {len(lines)} settings and figures that both files name agree."
    return f"This is not the model of the decision: {len(other)} of {len(lines)} lines differ ({some_of(other, 4)})."


def due_in_words(record: Mapping[str, Any], today: date) -> str:
    """Who decided, and whether it is time to look again."""
    day = date.fromisoformat(record["signature"]["look_again"])
    left = (day - today).days
    due = f"in {count_of(left, 'day')}" if left > 0 else "today" if left == 0 else f"{count_of(-left, 'day')} ago"
    by = f"{record['signature']['who']}, {record['signature']['role']}"
    signed = record["signature"]["signed"]
    return f"Signed on {signed}, in the name of {by}; somebody was to look again on {day.isoformat()}: {due}."
