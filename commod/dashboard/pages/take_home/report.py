"""A report on one fit as one HTML file, made without Streamlit. The same model and date give the same bytes."""

import re
import shlex
from typing import Any

import pandas as pd
from markupsafe import Markup

from commod import __version__
from commod.dashboard.model.fitted import FitResult, concerns_in_words
from commod.dashboard.pages.take_home import report_figures as parts
from commod.dashboard.pages.take_home.report_decided import Decided, decided_parts
from commod.dashboard.pages.take_home.report_law import law_parts
from commod.dashboard.state.settings import CONTROLS, data_in_words, described
from commod.dashboard.text.escape import bold
from commod.dashboard.text.glossary import tip, words
from commod.dashboard.text.html import cards_of, document, nodes_of
from commod.datasets import Task
from commod.datasets.choice import ROLES, roles_json
from commod.datasets.raw import rule_in_words as rule_in_words
from commod.experiments.checks import Evidence
from commod.experiments.limits import Limits
from commod.experiments.refits import Refits
from commod.explain import ChangeTree
from commod.explain.concepts import form_in_words, formula_in_words, guess_in_words
from commod.explain.people import FEW
from commod.metrics.figures import FIGURES, key_figures

NOTHING_DECIDED = Decided()


def report_html(
    result: FitResult,
    tree: ChangeTree | None,
    limits: Limits,
    evidence: Evidence,
    merit: pd.DataFrame,
    refits: Refits,
    *,
    code: str,
    date: str,
    fingerprint: str = "",
    limited: str = "",
    decided: Decided = NOTHING_DECIDED,
) -> str:
    """A bias profile of one fit as one HTML file that needs nothing else; its words are in ``report.html``.

    `tree`: of the changes; None where there is none. `limits`: the exact bound on this scene. `evidence`, `merit`,
    `refits`: whether the changes make sense. `code`: the Python that makes the model again. `date`: when it was made,
    as it is to be shown. `fingerprint`: SHA-256 of the model's JSON file. `limited`: what limits the update, why, and
    what that costs; empty where nothing does. `decided`: what was required and signed.
    """
    task = result.task
    caveats = re.search(r"\*\*Caveats\.\*\*\s*(.+?)(?:\n\s*\n|\Z)", task.datasheet, flags=re.DOTALL)
    decision = decided_parts(result, decided)
    settings = described(result.settings) | {"f": result.base_model}
    return document(
        "report.html",
        kicker=f"Bias profile · COMMOD Explorer · {date}",
        title=f"{data_in_words(result.settings)}: {_title(result)}",
        lead=" ".join(filter(None, [decision["signed"].get("in_words"), decision["confirmed"], result.verdict])),
        result=result,
        concerns=concerns_in_words(result),
        widened=parts.widened(result),
        tree=tree,
        nodes=[] if tree is None else nodes_of(tree),
        limits=limits,
        code=code,
        date=date,
        fingerprint=fingerprint,
        limited=limited,
        version=__version__,
        base_model=result.base_model,
        # Of an f that came as scores, nobody here knows what it was trained on or given.
        only_scores=isinstance(result.scene.f, str),
        datasheet=_datasheet(task),
        caveats_of_data=_markdown(" ".join(caveats[1].split())) if caveats else "",
        groups=_group_rows(result),
        set_to=[(CONTROLS[name].heading, value) for name, value in settings.items()],
        n_test=len(result.scene.test),
        figures=parts.figure_rows(result),
        key_figures=[words()[figure.name] for figure in key_figures()],
        concepts=cards_of(result.loadings, result.concepts),
        form=form_in_words(result.g, task.spec.outcomes),
        formula=formula_in_words(result.g, task.spec.outcomes, result.line_in_words),
        guess=guess_in_words(result.concepts),
        bound=parts.bound(result, limits),
        checks=[(*answer.word_and_sign, answer) for answer in result.answers(merit, refits).values()],
        record=parts.by_record(result),
        certainty=parts.by_certainty(result),
        again=parts.by_refits(result, refits),
        n_refits=len(refits),
        calibration=parts.calibration(result, evidence),
        smallest=_smallest(result),
        each_group=parts.each_group(result),
        contract=[[str(rule.name), rule_in_words(rule)] for rule in task.contract],
        # Counted on the negative decisions and on the positive ones.
        p_rules=[
            {model: FIGURES[name].show(result.figures.loc[name, model]) for model in ("f", "g")}
            for name in ("p_rule_of_negative", "p_rule")
        ],
        four_fifths_law=tip("four_fifths_law"),
        **law_parts(result),
        **decision,
        **parts.trade_off(result),
        **parts.who(result),
    )


# ---- what this is, and its settings ----


def _title(result: FitResult) -> str:
    return "a corrected copy of a model" if result.changed_test.any() else "the model as it is"


def _group_rows(result: FitResult) -> list[list[str]]:
    rows = []
    for code, name in enumerate(result.task.groups):
        row = [name]
        for part in (result.scene.train, result.scene.test):
            here = part.sensitive == code
            row += [f"{here.sum():,}", f"{part.y[here].mean():.1%}" if here.any() else "–"]
        rows.append(row)
    return rows


def _datasheet(task: Task) -> list[tuple[str, str]]:
    """Origin, source and licence of the data, as its datasheet has them."""
    rows = re.findall(r"^\|\s*([^|]+?)\s*\|\s*(.+?)\s*\|\s*$", task.datasheet, flags=re.MULTILINE)
    wanted = ("Origin", "Source file", "Source files", "Licence")
    found: list[tuple[str, str]] = [(name, _markdown(text)) for name, text in rows if name in wanted]
    own: list[tuple[str, str]] = [("Source", "No datasheet: the user uploaded the table.")]
    if task.roles:
        command = f"python -m commod fit {shlex.join(task.command)}"
        own.append(("As a command", Markup("<code>{}</code>").format(command)))
        own.append((ROLES, Markup("<code>{}</code>").format(roles_json(task.roles))))
    return found or own


def _markdown(text: str) -> Markup:
    """The little Markdown that a datasheet has, as HTML."""
    with_code = re.sub(r"`([^`]+)`", r"<code>\1</code>", str(bold(text)))
    return Markup(re.sub(r"\*([^*]+)\*", r"<em>\1</em>", with_code))  # nosec B704


# ---- limits and caveats ----


def _smallest(result: FitResult) -> dict[str, Any]:
    task, test = result.task, result.scene.test
    people, group, label = min(
        (int(((test.sensitive == code) & (test.y == y)).sum()), name, outcome)
        for code, name in enumerate(task.groups)
        for y, outcome in enumerate(task.spec.outcomes)
    )
    return {"people": people, "group": group, "label": label, "few": people < FEW}
