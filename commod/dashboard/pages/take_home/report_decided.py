"""What was required and decided, for a report: verdicts, the best models of other methods, and who decided."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

import pandas as pd

from commod.dashboard.model.fitted import FitResult
from commod.dashboard.state.settings import in_words
from commod.dashboard.text.verdicts import verdict_in_words
from commod.dashboard.views.impact import impact_in_words
from commod.decisions import (
    RULES,
    VERDICTS,
    BestModel,
    Facts,
    Requirements,
    check_requirements,
    confirmation,
    facts_of_f,
    is_of,
    met_in_words,
    overall,
    requirements_in,
    tried_in_words,
)
from commod.decisions.record import KEEP_F
from commod.metrics.figures import CRITERIA, FIGURES
from commod.models.competitors import METHODS
from commod.uploads.limits import count_of
from commod.wording import with_capital

NOTHING_REQUIRED = Requirements()
THIS = "the model of this report"


@dataclass(frozen=True)
class Decided:
    """What a report tells beside its model; what is not known is not in it."""

    requirements: Requirements = NOTHING_REQUIRED
    facts: Facts | None = None  # of the model, where anything is required
    rivals: tuple[tuple[str, BestModel], ...] = ()  # the best of each method whose sweep was there, by its title
    # The decision that was signed on these data, see `commod.decisions.make_record`.
    record: Mapping[str, Any] | None = None
    searched: int = 0  # models of all these methods


def decided_parts(result: FitResult, decided: Decided) -> dict[str, Any]:
    """For the template: ``verdicts``, ``rivals`` and ``signed``, each empty where there is nothing to tell."""
    checked = None if decided.facts is None else check_requirements(decided.requirements, decided.facts)
    return {
        "verdicts": {} if checked is None else _verdicts(result, decided, checked),
        "rivals": [] if checked is None else _rivals(result, decided, checked),
        "searched": decided.searched,
        "signed": {} if decided.record is None else _signed(result, decided.record),
        "confirmed": _confirmed(result, decided.record),
    }


def signed_in_words(result: FitResult, record: Mapping[str, Any]) -> str:
    """Who signed, when, for which model, and what it does not meet."""
    signature, limits = record["signature"], requirements_in(record).limits
    day, of, verdicts = date.fromisoformat(signature["signed"]), _model_of(result, record), record["verdicts"]
    text = f"Signed by {signature['who']} ({signature['role']}) on {day.day} {day:%b %Y}"
    text += "" if of == THIS else f" for {of}"
    failed = [_in_short(each, limits) for each in verdicts if each["verdict"] == "fail"]
    untold = sum(each["verdict"] == "cannot tell" for each in verdicts)
    if failed:
        count = count_of(len(verdicts), "requirement")
        return f"{text}, although it does not meet {len(failed)} of {count} ({'; '.join(failed)})."
    return (
        f"{text}, although {untold} of {count_of(len(verdicts), 'requirement')} cannot be determined."
        if untold
        else f"{text}."
    )


def _in_short(each: Mapping[str, Any], limits: Mapping[str, float]) -> str:
    """A requirement with its value and its limit."""
    if (rule := RULES.get(each["requirement"])) is None:
        return str(each["requirement"]).replace("_", " ")
    limit = f"{'' if rule.sign > 0 else 'at most '}{rule.show_limit(limits[rule.name])}"
    return f"{rule.title.removesuffix(f' {rule.side}')} {rule.show(each['value'])}, required {limit}"


def _confirmed(result: FitResult, record: Mapping[str, Any] | None) -> str:
    """What the sealed people said, for the first sentence; empty where nobody is sealed."""
    if result.task.sealed is None:
        return ""
    if record is None or not (text := confirmation(record)):
        return "Not confirmed: nobody has decided yet, so the sealed people are not opened."
    of = _model_of(result, record)
    return text if of == THIS else f"{text} That was {of}."


def _sign(verdict: Any) -> str:
    return f"{VERDICTS[verdict]}\u00a0{verdict}"  # on one line


def _verdicts(result: FitResult, decided: Decided, checked: pd.DataFrame) -> dict[str, Any]:
    of_f = check_requirements(decided.requirements, facts_of_f(result.scene))
    rows = [
        [with_capital(row.wanted), _sign(row.verdict), row.sentence, _sign(f_verdict)]
        for row, f_verdict in zip(checked.itertuples(), of_f["verdict"], strict=True)
    ]
    text = f"{VERDICTS[overall(checked)]} {verdict_in_words(checked, len(result.scene.test), 'This model')}"
    return {"rows": rows, "overall": text, "refits": decided.facts.n_refits if decided.facts else 0}


def _rivals(result: FitResult, decided: Decided, checked: pd.DataFrame) -> list[list[str]]:
    """The model, f, and the best of each other method, side by side."""
    scene, fair = result.scene, CRITERIA[result.settings.fairness].figure

    def row(title: str, setting: str, found: pd.DataFrame, decisions: Any, verdict: str = "") -> list[str]:
        figures = scene.figures(decisions)
        cells = [figure.show(figures[figure.name]) for figure in (fair, FIGURES["accuracy"], FIGURES["change_rate"])]
        cells += [short for short, _ in impact_in_words(scene, decisions).values()]
        return [title, setting, _sign(verdict or overall(found)), met_in_words(found["verdict"]), *cells]

    if not decided.rivals:
        return []
    of_f = check_requirements(decided.requirements, facts_of_f(scene))
    own = row("This model", in_words(result.settings), checked, result.decisions)
    others = [
        row(
            label,
            f"{best.model.cell.words}{' (decides as f)' if best.is_f else ''}",
            best.checked,
            best.model.decisions_test,
            best.verdict,
        )
        for label, best in decided.rivals
    ]
    return [own, row("f, as it is", "–", of_f, scene.decisions_test), *others]


def _signed(result: FitResult, record: Mapping[str, Any]) -> dict[str, Any]:
    """Who signed what, and whether it is the model of this report."""
    signature = record["signature"]
    return {
        "in_words": signed_in_words(result, record),
        **{name: signature[name] for name in ("why", "look_again")},
        "rejected": [[name, why] for name, why in signature["rejected"].items()],
        "required": ", ".join(requirements_in(record).in_words) or "nothing",
        "sha256": record["sha256"],
        "confirmed": f"{confirmation(record)} {tried_in_words(record)}" if confirmation(record) else "",
    }


def _model_of(result: FitResult, record: Mapping[str, Any]) -> str:
    """The model of a record, beside that of the report."""
    model = record["model"]
    if model["method"] == KEEP_F:
        return "f as it is, unchanged"
    if is_of(record, result.cell):
        return THIS
    return f"another model than that of this report: {METHODS[model['method']].title} at {model['value']:g}"
