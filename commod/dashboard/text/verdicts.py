"""One fit in two sentences, what is required of it in one, and the words for changes for the better and the worse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from commod.dashboard.text.language import declared, phrase
from commod.dashboard.text.stories import called, extremes, of_100
from commod.datasets import TaskSpec
from commod.decisions import VERDICTS
from commod.experiments import Scene
from commod.metrics import compared_groups
from commod.metrics.figures import CRITERIA

# By direction, what else is asked of the changes than that they are few.
ONE_WAY = {"both": "", "improve": " and no better decision taken away", "worsen": " and no better decision given"}


def directions(spec: TaskSpec) -> tuple[tuple[str, str], tuple[str, str]]:
    """Words and column of the changes that favour a person, and of those that do not."""
    names = ("lowered", "raised")
    good, bad = spec.favourable, 1 - spec.favourable
    return (
        (f"better: now “{spec.outcomes[good]}”", names[good]),
        (f"worse: now “{spec.outcomes[bad]}”", names[bad]),
    )


def changes_by_direction(spec: TaskSpec, changes: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of `plot_changes`, one for each group and direction, the favourable one first; ``name`` is the group's.

    Two groups stand in their order, more by the share that changed, the largest first.
    """
    rows = []
    if len(changes) > 2:
        changes = changes.sort_values("change_rate", ascending=False, kind="stable")
    compared = compared_groups(changes["count"])
    for rank, (code, row) in enumerate(changes.to_dict("index").items()):
        name, few = spec.groups[int(code)], "" if compared[rank] else ", few"
        group = {"name": name, "group": f"{name}|{row['changed']:,.0f} of {row['count']:,.0f}{few}", "rank": rank}
        for place, (label, part) in enumerate(directions(spec)):
            share = row[f"{part}_rate"]
            rows.append({**group, "direction": label, "count": int(row[part]), "share": share, "place": place})
    return rows


@dataclass(frozen=True)
class Verdict:
    """What to say first of a model that changes decisions, and the one thing to add; both are phrases in words/."""

    lead: str  # fairer, perhaps, away, same, less
    added: str  # worse, wrong, right

    @classmethod
    def of(cls, gain: float, changes: Changes, *, chance: bool = False) -> Verdict:
        """`gain`: how much fairer g is than f; `chance`: whether that may be chance."""
        if gain > 0 and changes.worse > changes.better:
            return cls("perhaps" if chance else "away", "worse")
        lead = ("perhaps" if chance else "fairer") if gain > 0 else ("less" if gain < 0 and not chance else "same")
        return cls(lead, "wrong" if changes.wrong > changes.right else "right")

    @property
    def is_bad(self) -> bool:
        return self.lead != "fairer" or self.added != "right"


@dataclass(frozen=True)
class Changes:
    """Changed decisions on test: for the better, for the worse, and how many of both the record supports."""

    better: int
    worse: int
    right: int

    @classmethod
    def of(cls, scene: Scene, decisions: Any) -> Changes:
        """From those of f to these."""
        changed = decisions != scene.decisions_test
        better = int((decisions[changed] == scene.task.spec.favourable).sum())
        right = int((changed & (decisions == scene.test.y.to_numpy())).sum())
        return cls(better, int(changed.sum()) - better, right)

    @property
    def count(self) -> int:
        return self.better + self.worse

    @property
    def wrong(self) -> int:
        """How many contradict the record."""
        return self.count - self.right


def verdict(
    language: str,
    spec: TaskSpec,
    fairness: str,
    rows: Mapping[int, Mapping[str, Any]],
    changes: Changes,
    gain: float,
    *,
    chance: bool = False,
) -> str:
    """Two sentences: is a model with these `rows` of `count_hundred` fairer, and what speaks against it."""
    judged = Verdict.of(gain, changes, chance=chance)
    if CRITERIA[fairness].by_label:
        moved = phrase(language, "verdict.closer" if gain > 0 else "verdict.apart")
    else:
        moved = _rates(language, spec, rows)
    counts = {name: getattr(changes, name) for name in ("count", "worse", "wrong", "right")}
    lead = phrase(language, f"verdict.{judged.lead}", moved=moved)
    return f"{lead} {phrase(language, f'verdict.{judged.added}', **counts)}"


def named_first(spec: TaskSpec, rows: Mapping[int, Mapping[str, Any]]) -> int:
    """The group whose rates a verdict names: of the extremes, the one for which g changes more."""
    return max(extremes(spec, rows), key=lambda code: abs(rows[code]["now"] - rows[code]["before"]))


def _rates(language: str, spec: TaskSpec, rows: Mapping[int, Mapping[str, Any]]) -> str:
    code = named_first(spec, rows)
    values = {when: of_100(language, rows[code], when) for when in ("now", "before")}
    yes, who = declared(language, spec.outcomes[1]), called(language, spec, code)
    return phrase(language, "verdict.rates", yes=yes, who=who, **values)


def cost_of_limits(
    spec: TaskSpec, fairness: str, here: tuple[pd.DataFrame, pd.DataFrame], free: tuple[pd.DataFrame, pd.DataFrame]
) -> str:
    """What the same sliders give where the update is not limited; `here` and `free` are figures and changes."""
    parts = []
    for figure in CRITERIA[fairness].key_figures:
        if figure.name in here[0].index:
            values = [figure.show(figures.loc[figure.name, "g"]) for figures, _ in (free, here)]
            parts.append(f"{figure.short_in_sentence} {values[0]} (here {values[1]})")
    for word, (_, column) in zip(("better", "worse"), directions(spec), strict=True):
        counts = [int(changes[column].sum()) for _, changes in (free, here)]
        parts.append(f"{counts[0]:,} {spec.people} who get the {word} decision (here {counts[1]:,})")
    if not any(changes["changed"].sum() for _, changes in (free, here)):
        return "No decision changes at this setting, limited or not."
    return f"Not limited, the same sliders give {', '.join(parts)}."


def score_in_words(score: float) -> str:
    """A score in percent; never 0 or 100, which no model gives."""
    return "<0.1%" if score < 0.0005 else ">99.9%" if score > 0.9995 else f"{score:.1%}"


def verdict_in_words(checked: pd.DataFrame, people: int, subject: str) -> str:
    """How many requirements a model meets, of those that apply to it, in one sentence."""
    met, failed, untold, beside = ((checked["verdict"] == name).sum() for name in VERDICTS)
    total = len(checked) - beside
    measured = checked["value"][checked["verdict"] == "cannot tell"].notna().all()  # so that people would settle it
    cannot = f"cannot be determined with {people:,} people" if measured else "cannot be determined"
    if not total:
        return f"Nothing that is required applies to {subject[0].lower()}{subject[1:]}: nobody's decision changes."
    if total == 1:
        verb = "meets" if met else "does not meet" if failed else "may or may not meet"
        parts = [f"{subject} {verb} the one requirement{' that applies' if beside else ''}"]
        parts += [f"it {cannot}"] if untold else []
    else:
        every = "both" if total == 2 else f"all {total}"
        count = every if total in (met, failed) else f"{met if met or not failed else failed} of {total}"
        parts = [f"{subject} {'fails' if failed and not met else 'meets'} {count} requirements"]
        parts[0] += " that apply" if beside else ""
        parts += [f"fails {failed}"] if failed and met else []
        parts += [f"{untold} {cannot}"] if untold else []
    if beside:
        parts.append(f"{beside} {'does' if beside == 1 else 'do'} not apply, as nobody's decision changes")
    return f"{'; '.join(parts)}."
