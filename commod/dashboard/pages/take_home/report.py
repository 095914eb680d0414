"""What one takes home of one fit, made without Streamlit: a report as one HTML file, the predictions, the model.

The same model and date give the same bytes.
"""

from __future__ import annotations

import re
import shlex
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from commod import __version__
from commod.charts import KINDS, export_chart, plot_changes, plot_pareto
from commod.charts.pareto import CURRENT, DEPLOYED, PATH
from commod.dashboard.jobs.checks import Evidence
from commod.dashboard.jobs.later import base_model_in_words
from commod.dashboard.jobs.results import FitResult
from commod.dashboard.state.settings import CONTROLS, data_in_words, described
from commod.dashboard.text.escape import bold, safe_csv
from commod.dashboard.text.html import cards_of, document, drawing, nodes_of
from commod.dashboard.text.verdicts import ONE_WAY, changes_by_direction, directions
from commod.datasets import Task, is_shipped
from commod.datasets.raw import in_words as rule_in_words
from commod.experiments.limits import Limits
from commod.experiments.refits import Refits
from commod.explain import ChangeTree
from commod.explain.checks import MARKS
from commod.explain.groups import beyond_in_words, extremes_in_words, margins_in_words
from commod.explain.people import FEW
from commod.explain.sense import certainty
from commod.metrics.figures import CRITERIA, FIGURES, figure_of, key_figures, title_of

CHART_WIDTH = 340


# ---- the predictions ----


def file_name(result: FitResult, what: str, ending: str) -> str:
    """Name of a file that is safe anywhere: letters, digits and underscores."""
    name = result.settings.task_name if is_shipped(result.settings.task_name) else result.task.spec.title
    data = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")[:40] or "data"
    return f"commod_{data}_{what}.{ending}"


def predictions_csv(result: FitResult, refits: Refits) -> bytes:
    """The test rows: who they are, what f and g say, and how often it would happen again.

    Columns ``number`` (in the test part, as on the pages), ``row`` (of the data set), ``group, label, f_score, r,
    g_score, f_decision, g_decision, changed, right_by_record`` (whether g's decision is the label; with a shift, ``s``
    follows ``r``), ``f_certainty`` (the probability that f gives to its decision) and ``refits_that_change`` (share);
    labels, decisions, ``changed`` and ``right_by_record`` are 0 or 1.
    """
    scene = result.scene
    test = scene.test
    frame = pd.DataFrame(
        {
            "number": np.arange(len(test)),
            "row": test.X.index,
            "group": np.array(result.task.groups, dtype=object)[test.sensitive.to_numpy()],
            "label": test.y.to_numpy(),
            "f_score": scene.scores_test,
            "r": result.ratio_test,
            **({"s": result.shift_test} if result.g.has_shift else {}),
            "g_score": result.scores,
            "f_decision": scene.decisions_test,
            "g_decision": result.decisions,
            "changed": (scene.decisions_test != result.decisions).astype(int),
            "right_by_record": (result.decisions == test.y.to_numpy()).astype(int),
            "f_certainty": certainty(scene.logit_test),
            "refits_that_change": refits.share,
        }
    )
    return safe_csv(frame, for_spreadsheets=False)


# ---- the report ----


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
) -> str:
    """A model card of one fit as one HTML file that needs nothing else; its words are in ``report.html``.

    Parameters
    ----------
    result : FitResult
    tree : ChangeTree or None
        Of the changes; None where there is none.
    limits : Limits
        The exact bound on this scene.
    evidence, merit, refits : Evidence, DataFrame, Refits
        Whether the changes make sense.
    code : str
        The Python that makes the model again.
    date : str
        When it was made, as it is to be shown.
    fingerprint : str
        SHA-256 of the model's JSON file.
    limited : str
        What limits the update, why, and what that costs; empty where nothing does.
    """
    task = result.task
    caveats = re.search(r"\*\*Caveats\.\*\*\s*(.+?)(?:\n\s*\n|\Z)", task.datasheet, flags=re.DOTALL)
    return document(
        "report.html",
        kicker=f"Model card · COMMOD Explorer · {date}",
        title=f"{data_in_words(result.settings)}: a fairer copy of a model",
        lead=result.verdict,
        result=result,
        tree=tree,
        nodes=[] if tree is None else nodes_of(tree),
        limits=limits,
        code=code,
        date=date,
        fingerprint=fingerprint,
        limited=limited,
        version=__version__,
        base_model=base_model_in_words(result),
        # Of an f that came as scores, nobody here knows what it was trained on or given.
        only_scores=isinstance(result.scene.f, str),
        datasheet=_datasheet(task),
        caveats_of_data=_markdown(" ".join(caveats[1].split())) if caveats else "",
        groups=_group_rows(result),
        set_to=_settings(result),
        n_test=len(result.scene.test),
        figures=_figure_rows(result),
        key_figures=key_figures(),
        concepts=cards_of(result.loadings, result.concepts, task.spec.people),
        bound=_bound(result, limits),
        checks=[(*MARKS[answer.mark], answer) for answer in result.answers(merit, refits).values()],
        calibration=_calibration(result, evidence),
        smallest=_smallest(result),
        each_group=_each_group(result),
        contract=[[str(rule.name), rule_in_words(rule)] for rule in task.contract],
        p_rules=_p_rules(result),
        **_trade_off(result),
        **_who(result),
    )


def _drawing(chart: Any, number: int, alt: str) -> Markup:
    """A chart as a drawing in the page."""
    # Legible on a telephone too, where the drawing is shrunk to fit.
    chart = chart.configure_axis(labelFontSize=12, titleFontSize=12).configure_legend(labelFontSize=12)
    return drawing(export_chart(chart, "svg", width=CHART_WIDTH).decode(), alt, f"chart{number}-")


# ---- what this is, and its settings ----


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
    own: list[tuple[str, str]] = [("Source", "No datasheet: the table was brought by the user.")]
    if task.words:
        command = Markup("<code>{}</code>").format(f"python -m commod fit {shlex.join(task.words)}")
        own.append(("What was chosen of it, as a command", command))
    return found or own


def _markdown(text: str) -> Markup:
    """The little Markdown that a datasheet has, as HTML."""
    with_code = re.sub(r"`([^`]+)`", r"<code>\1</code>", str(bold(text)))
    return Markup(re.sub(r"\*([^*]+)\*", r"<em>\1</em>", with_code))


def _settings(result: FitResult) -> list[tuple[str, str]]:
    values = described(result.settings) | {"f": base_model_in_words(result)}
    return [(CONTROLS[name].heading, value) for name, value in values.items()]


# ---- figures ----


def _figure_rows(result: FitResult) -> list[list[str]]:
    """Each figure of f, of g and their difference, with intervals."""
    rows = []
    for name, row in result.figures.iterrows():
        figure, _ = figure_of(str(name))
        # Of a change, f has 0 by definition, and the difference is the same again.
        shown = ("g",) if figure.of_change else ("f", "g", "difference")
        cells = [
            figure.show_with_interval(row, column) if column in shown else "–" for column in ("f", "g", "difference")
        ]
        rows.append([title_of(str(name), result.task.groups, result.task.spec.outcomes), *cells])
    return rows


def _each_group(result: FitResult) -> dict[str, Any]:
    """Many groups: which are the extremes, the margins of a crossing, and each against everyone; of two, nothing."""
    found, fairness = result.groups, result.settings.fairness
    if found is None:
        return {}
    figure = CRITERIA[fairness].figure
    rows = [
        [
            row.group,
            f"{row.count:,}" + ("" if row.compared else " (few)"),
            f"{row.before:.1%}\n[{100 * row.before_low:.1f}, {100 * row.before_high:.1f}]",
            f"{row.rate:.1%}\n[{100 * row.low:.1f}, {100 * row.high:.1f}]",
            f"{100 * row.difference:+.1f} points".replace("-", "−"),
            f"{row.ratio:.2f}",
        ]
        for row in found.table.itertuples()
    ]
    return {
        "extremes": [
            (model, figure.show(result.figures.loc[figure.name, model]), extremes_in_words(found, fairness, model))
            for model in ("g", "f")
            if figure.name in result.figures.index
        ],
        "title": figure.title,
        "margins": " ".join(filter(None, [beyond_in_words(found), margins_in_words(found, fairness, result.figures)])),
        "rows": rows,
    }


def _trade_off(result: FitResult) -> dict[str, Any]:
    """The path from f to g as a chart and as a table."""
    path = result.path
    fairness = CRITERIA[result.settings.fairness].figure
    shown = {"fairness": fairness, "accuracy": FIGURES["accuracy"], "change_rate": FIGURES["change_rate"]}
    names = list(shown)
    # As the Explore page draws them, without what else was tried: the report is a function of the model.
    frame = pd.concat(
        [
            path[names].assign(kind=PATH, order=path["lambda_fair"], line="path"),
            path[names].iloc[[-1]].assign(kind=CURRENT, order=0.0, line=""),
            path[names].iloc[[0]].assign(kind=DEPLOYED, order=0.0, line=""),
        ],
        ignore_index=True,
    ).assign(settings="", id=-1)
    chart = plot_pareto(frame, fairness_title=fairness.axis_title).properties(height=280)
    # Of five kinds, three are drawn: the caption names them instead of the legend.
    lines, points = chart.layer
    for channel in (lines.encoding.color, points.encoding.color, points.encoding.shape):
        channel.legend = None
    ends = {0: " (f)", len(path) - 1: " (g)"}
    return {
        "trade_off": _drawing(
            chart, 1, "Fairness against accuracy of the models from f to g; values in the table below."
        ),
        "marks": [(KINDS[kind][0], glyph, kind) for kind, glyph in ((DEPLOYED, "◆"), (CURRENT, "●"), (PATH, "―"))],
        "path_headings": ["λ_fair", *(figure.axis_title for figure in shown.values())],
        "path": [
            [f"{row['lambda_fair']:.3g}{ends.get(place, '')}", *(shown[name].show(row[name]) for name in names)]
            for place, row in enumerate(path.to_dict("records"))
        ],
    }


def _who(result: FitResult) -> dict[str, Any]:
    """Changes by group and direction, as a chart and as a table."""
    bars = changes_by_direction(result.task.spec, result.changes)
    (better, _), (worse, _) = directions(result.task.spec)
    chart = plot_changes(pd.DataFrame(bars), better=better, worse=worse, many=result.has_many_groups)
    chart = chart if result.has_many_groups else chart.properties(height=150)
    alt = "Share of each group whose decision changed, by direction; values in the table below."
    rows = []
    of_group = {result.task.groups[int(code)]: row for code, row in result.changes.iterrows()}
    for both in zip(bars[::2], bars[1::2], strict=True):
        row = of_group[both[0]["name"]]
        changed = [(row["changed"], row["change_rate"]), *((bar["count"], bar["share"]) for bar in both)]
        cells = [f"{people:,.0f} ({share:.1%})" for people, share in changed]
        rows.append([both[0]["name"], f"{row['count']:,.0f}", *cells])
    return {
        "changes": _drawing(chart, 2, alt),
        "change_headings": ["Group", "On test", "Changed", *(word[0].upper() + word[1:] for word in (better, worse))],
        "change_rows": rows,
    }


def _calibration(result: FitResult, evidence: Evidence) -> list[list[str]]:
    """Calibration error of f and g by group."""
    rows = []
    for code, row in evidence.calibration.iterrows():
        cells = [f"{row[name]:.3f}\n[{row[f'{name}_low']:.3f}, {row[f'{name}_high']:.3f}]" for name in ("f", "g")]
        rows.append([result.task.groups[int(code)], *cells])
    return rows


# ---- limits and caveats ----


def _bound(result: FitResult, limits: Limits) -> dict[str, str]:
    """What so many changes could reach, in figures."""
    here = result.path.iloc[-1]
    rate = min(float(here["change_rate"]), float(limits.curve["change_rate"].iloc[-1]))
    criterion, show_rate = CRITERIA[result.settings.fairness], FIGURES["change_rate"].show
    show = criterion.figure.show
    return {
        "name": criterion.figure.in_sentence,
        "one_way": ONE_WAY[result.settings.direction],
        "allowed": show_rate(rate),
        "best": show(limits.at(rate)),
        "reached": show(here["fairness"]),
        "changed": show_rate(here["change_rate"]),
        "start": show(result.path["fairness"][0]),
        "goal": "above 0.99" if criterion.upward else "below 0.01",
        "fair_from": show_rate((limits.fair_from or 0) / limits.people),
    }


def _p_rules(result: FitResult) -> list[dict[str, str]]:
    """P-Rule of f and of g, counted on the negative decisions and on the positive ones."""
    rows = [(FIGURES[name], result.figures.loc[name]) for name in ("p_rule_of_negative", "p_rule")]
    return [{model: figure.show(row[model]) for model in ("f", "g")} for figure, row in rows]


def _smallest(result: FitResult) -> dict[str, Any]:
    """The smallest group and label on test."""
    task, test = result.task, result.scene.test
    people, group, label = min(
        (int(((test.sensitive == code) & (test.y == y)).sum()), name, outcome)
        for code, name in enumerate(task.groups)
        for y, outcome in enumerate(task.spec.outcomes)
    )
    return {"people": people, "group": group, "label": label, "few": people < FEW}
