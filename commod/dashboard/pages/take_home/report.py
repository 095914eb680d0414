"""What one takes home of one fit, made without Streamlit: a report as one HTML file, the predictions, the model.

The same model and date give the same bytes. Every text from data or settings is escaped.
"""

from __future__ import annotations

import re
from html import escape
from itertools import count
from typing import Any

import numpy as np
import pandas as pd

from commod import __version__
from commod.charts import KINDS, export_chart, plot_changes, plot_pareto
from commod.charts.pareto import CURRENT, DEPLOYED, PATH
from commod.dashboard.jobs.results import FitResult
from commod.dashboard.state.settings import CONTROLS, described, in_words
from commod.dashboard.text.document import facts, html_document, listed
from commod.dashboard.text.escape import no_formula
from commod.dashboard.text.figures import FAIRNESS_TITLES
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import concept_cards, html_table, tree_list
from commod.dashboard.text.verdicts import directions
from commod.datasets import TASKS, Task
from commod.experiments.limits import Limits
from commod.experiments.scene import FAIRNESS_FIGURES
from commod.explain import ChangeTree
from commod.models.adversary import sigmoid
from commod.models.base_models import BASE_MODELS
from commod.models.export import portable_json

CHART_WIDTH = 340
# Fewer people than this in a group and label: the report warns of it.
FEW = 50


# ---- the model and its predictions ----


def base_model_in_words(result: FitResult) -> str:
    """What f is."""
    if isinstance(result.scene.f, str):
        return f"scores in the column “{result.scene.f}”"
    name = result.settings.f
    return BASE_MODELS[name][0] if name in BASE_MODELS else name


def file_name(result: FitResult, what: str, ending: str) -> str:
    """Name of a file that is safe anywhere: letters, digits and underscores."""
    name = result.settings.data if result.settings.data in TASKS else result.task.spec.title
    data = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")[:40] or "data"
    return f"commod_{data}_{what}.{ending}"


def model_json(result: FitResult) -> str:
    """The model for `commod.portable`."""
    spec = result.task.spec
    about = {
        "data": spec.title,
        "positive class": spec.outcomes[1],
        "f": base_model_in_words(result),
        "settings": in_words(result.settings),
        "made by": f"commod {__version__}",
    }
    return portable_json(result.g, about=about)


def predictions_csv(result: FitResult) -> str:
    """The test rows: who they are, what f and g say.

    Columns ``number`` (in the test part, as on the pages), ``row`` (of the data set), ``group, label, f_score, r,
    g_score, f_decision, g_decision, changed``; labels, decisions and ``changed`` are 0 or 1. A text that a spreadsheet
    would take for a formula gets a ' in front.
    """
    scene = result.scene
    test = scene.test
    groups = np.array([no_formula(name) for name in result.task.groups], dtype=object)
    frame = pd.DataFrame(
        {
            "number": np.arange(len(test)),
            "row": [no_formula(name) for name in test.X.index],
            "group": groups[test.sensitive.to_numpy()],
            "label": test.y.to_numpy(),
            "f_score": sigmoid(scene.logit_test),
            "r": result.ratio_test,
            "g_score": sigmoid(result.ratio_test * scene.logit_test),
            "f_decision": scene.decisions_test,
            "g_decision": result.decisions,
            "changed": (scene.decisions_test != result.decisions).astype(int),
        }
    )
    text: str = frame.to_csv(index=False, lineterminator="\n")
    return text


# ---- the report ----


def report_html(
    result: FitResult, tree: ChangeTree | None, limits: Limits, *, code: str, date: str, fingerprint: str = ""
) -> str:
    """A model card of one fit as one HTML file that needs nothing else.

    Parameters
    ----------
    result : FitResult
    tree : ChangeTree or None
        Of the changes; None where there is none.
    limits : Limits
        The exact bound on this scene.
    code : str
        The Python that makes the model again.
    date : str
        When it was made, as it is to be shown.
    fingerprint : str
        SHA-256 of the model's JSON file.
    """
    charts = count(1)
    sections = {
        "What this is": _card(result, date, fingerprint),
        "Settings": _settings(result),
        "Figures of f and g": _figures(result),
        "What fairness costs": _trade_off(result, next(charts)),
        "Whose decisions change": _who(result, next(charts)),
        "Why: the concepts behind the change": _concepts(result),
        "Where: a tree of the changes": _tree(result, tree),
        "How few changes could do it": _bound(result, limits),
        "Caveats": _caveats(result),
        "The same model in Python": f"<pre><code>{escape(code)}</code></pre>",
    }
    title = f"{result.task.spec.title}: a fairer copy of a model"
    return html_document(f"Model card · COMMOD Explorer · {date}", title, result.verdict, sections)


def _chart(chart: Any, number: int, alt: str, caption: str) -> str:
    """A chart as a drawing in the page; `caption` is HTML."""
    # Legible on a telephone too, where the drawing is shrunk to fit.
    chart = chart.configure_axis(labelFontSize=12, titleFontSize=12).configure_legend(labelFontSize=12)
    drawing = export_chart(chart, "svg", width=CHART_WIDTH).decode()
    drawing = drawing[drawing.index("<svg") :]
    # Several drawings in one page share one space of names.
    drawing = re.sub(r'(\bid="|url\(#)', rf"\g<1>chart{number}-", drawing)
    drawing = drawing.replace("<svg", f'<svg role="img" aria-label="{escape(alt)}"', 1)
    return f"<figure>{drawing}<figcaption>{caption}</figcaption></figure>"


# ---- what this is, and its settings ----


def _card(result: FitResult, date: str, fingerprint: str) -> str:
    task, scene = result.task, result.scene
    spec = task.spec
    low, high = spec.outcomes
    model = (
        f"g, COMMOD's edit of f: g(x) = σ(r(x) · logit f(x)). f is the model in use ({base_model_in_words(result)}); "
        f"r is linear, read through {result.settings.k} concept{'s' if result.settings.k > 1 else ''}. "
        f"It decides “{high}” where g(x) is above one half, else “{low}”."
    )
    use = (
        "To study what it costs to make this model fairer, whose decisions would change and why, and to discuss that "
        "with the people concerned. g is meant to stand beside f, with its changes looked at one by one."
    )
    misuse = (
        f"To decide about {spec.people} without a person who answers for it; for other populations or times than those "
        "of the data; as proof that decisions are fair."
    )
    known = [
        ("Model", escape(model)),
        ("Intended use", escape(use)),
        ("Not intended", escape(misuse)),
        ("Data set", f"{escape(spec.title)}: {len(task.y):,} {escape(spec.people)}. {escape(spec.filter)}"),
        *((name, _markdown(text)) for name, text in _datasheet(task)),
        (
            "Decision",
            escape(
                f"“{low}” or “{high}”, from the label “{spec.target_label}”; the better one is "
                f"“{spec.outcomes[spec.favourable]}”."
            ),
        ),
        (
            "Sensitive attribute",
            escape(f"{spec.sensitive}: used to train g; {_who_is('is', result)} given it to decide."),
        ),
        ("Made", escape(f"{date}, with commod {__version__}.")),
        *([("Model file", f"SHA-256 <code>{escape(fingerprint)}</code>")] if fingerprint else []),
    ]
    rows = []
    for code, name in enumerate(task.groups):
        row = [name]
        for part in (scene.train, scene.test):
            here = part.sensitive == code
            row += [f"{here.sum():,}", f"{part.y[here].mean():.1%}" if here.any() else "–"]
        rows.append(row)
    positive = f"of these, label “{high}”"
    headings = {"Group": "", "Training": "", positive: "", "Test": "", f"{positive} ": ""}
    return facts(known) + "<h3>Groups and their sizes</h3>" + html_table(headings, rows, caption="Sizes of the groups")


def _who_is(verb: str, result: FitResult) -> str:
    """Of an f that came as scores, nobody here knows what it was trained on or given."""
    return f"g {verb} not" if isinstance(result.scene.f, str) else f"neither f nor g {verb}"


def _datasheet(task: Task) -> list[tuple[str, str]]:
    """Origin, source and licence of the data, as its datasheet has them."""
    rows = re.findall(r"^\|\s*([^|]+?)\s*\|\s*(.+?)\s*\|\s*$", task.datasheet, flags=re.MULTILINE)
    found = [(name, text) for name, text in rows if name in ("Origin", "Source file", "Source files", "Licence")]
    return found or [("Source", "No datasheet: the table was brought by the user.")]


def _markdown(text: str) -> str:
    """The little Markdown that a datasheet has, as HTML."""
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
    text = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", text)
    return re.sub(r"\*([^*]+)\*", r"<em>\1</em>", text)


def _settings(result: FitResult) -> str:
    values = described(result.settings) | {"f": base_model_in_words(result)}
    known = [(CONTROLS[name].heading, escape(value)) for name, value in values.items()]
    settled = "" if result.converged else "<p>The solver did not settle: this model may be improved on.</p>"
    return facts(known) + settled


# ---- figures ----

# Names that are not those of a group or an outcome, and whether they are shown in percent.
_FIGURES = {
    "accuracy": ("Accuracy", True),
    "p_rule": ("P-Rule", False),
    "demographic_parity_difference": ("Difference of the rates of positive decisions", False),
    "dm": ("Disparate mistreatment", False),
    "delta_tpr": ("… of which true positive rates", False),
    "delta_fpr": ("… of which false positive rates", False),
    "change_rate": ("Decisions changed", True),
}


def _figure_name(name: str, task: Task) -> tuple[str, bool]:
    if name in _FIGURES:
        return _FIGURES[name]
    low, high = task.spec.outcomes
    if name in ("raised_rate", "lowered_rate"):
        return f"… changed to “{high if name == 'raised_rate' else low}”", True
    kind, _, code = name.rpartition("_")
    group = task.groups[int(code)]
    return (f"Decided “{high}”: {group}" if kind == "positive_rate" else f"… changed: {group}"), True


def _shown(value: float, percent: bool, sign: str = "") -> str:
    """A figure as the Explore page writes it."""
    if percent and sign:
        return f"{100 * value:{sign}.1f} points".replace("-", "−")
    return f"{value:.1%}" if percent else f"{value:{sign}.3f}".replace("-", "−")


def _figures(result: FitResult) -> str:
    rows = []
    for name, row in result.figures.iterrows():
        label, percent = _figure_name(str(name), result.task)
        of_changes = "change_rate" in str(name) or name in ("raised_rate", "lowered_rate")
        cells = [label]
        for column, sign in (("f", ""), ("g", ""), ("difference", "+")):
            if of_changes and column != "g":  # 0 by definition, and the same again
                cells.append("–")
                continue
            low, high = (_shown(row[f"{column}_{end}"], percent, sign) for end in ("low", "high"))
            interval = f"[{low}, {high}]".replace("%", "").replace(" points", "")
            cells.append(f"{_shown(row[column], percent, sign)}\n{interval}")
        rows.append(cells)
    meanings = [(_FIGURES[name][0], escape(tip(name))) for name in ("accuracy", "p_rule", "dm", "change_rate")]
    table = html_table({"Figure": "", "f": "", "g": "", "g − f": ""}, rows, caption="Figures of f and g on test")
    note = (
        f"On the {len(result.scene.test):,} test rows, which {_who_is('was', result)} trained on. In [ ] the 95 % "
        "interval (bootstrap within group and label); a difference whose interval holds 0 may be chance."
    )
    return f'{table}<p class="note">{note}</p>{facts(meanings)}'


def _trade_off(result: FitResult, number: int) -> str:
    here = result.settings
    path = result.path
    names = ["fairness", "accuracy", "change_rate"]
    # As the Explore page draws them, without what else was tried: the report is a function of the model.
    frame = pd.concat(
        [
            path[names].assign(kind=PATH, order=path["lambda_fair"], line="path"),
            path[names].iloc[[-1]].assign(kind=CURRENT, order=0.0, line=""),
            path[names].iloc[[0]].assign(kind=DEPLOYED, order=0.0, line=""),
        ],
        ignore_index=True,
    ).assign(settings="", id=-1)
    title = FAIRNESS_TITLES[FAIRNESS_FIGURES[here.fairness]]
    chart = plot_pareto(frame, fairness_title=title).properties(height=280)
    # Of five kinds, three are drawn: the caption names them instead of the legend.
    lines, points = chart.layer
    for channel in (lines.encoding.color, points.encoding.color, points.encoding.shape):
        channel.legend = None
    glyphs = {DEPLOYED: "◆", CURRENT: "●", PATH: "―"}
    named = ", ".join(
        f'<span style="color:{KINDS[kind][0]}" aria-hidden="true">{glyph}</span> {escape(kind)}'
        for kind, glyph in glyphs.items()
    )
    caption = f"{named}: the models passed on the way from f to g as λ_fair grows, on test. Values in the table."
    rows = []
    for place, row in enumerate(path.itertuples()):
        end = {0: " (f)", len(path) - 1: " (g)"}.get(place, "")
        rows.append(
            [
                f"{row.lambda_fair:.3g}{end}",
                _shown(row.fairness, False),
                _shown(row.accuracy, True),
                _shown(row.change_rate, True),
            ]
        )
    headings = {"λ_fair": "", title: "", "Accuracy": "", "Decisions changed": ""}
    alt = "Fairness against accuracy of the models from f to g; values in the table below."
    return _chart(chart, number, alt, caption) + html_table(headings, rows, caption="The path from f to g")


# ---- who, why, where ----


def _who(result: FitResult, number: int) -> str:
    better, worse = directions(result.task.spec)
    bars: list[dict[str, Any]] = []
    rows: list[list[str]] = []
    for rank, (code, row) in enumerate(result.changes.iterrows()):
        name = result.task.groups[int(code)]
        cells = [name, f"{row['count']:,.0f}", f"{row['changed']:,.0f} ({row['change_rate']:.1%})"]
        for place, (label, part) in enumerate((better, worse)):
            share = row[f"{part}_rate"]
            cells.append(f"{row[part]:,.0f} ({share:.1%})")
            group = f"{name}|{row['changed']:,.0f} of {row['count']:,.0f}"
            bars.append({"group": group, "rank": rank, "direction": label, "share": share, "place": place})
        rows.append(cells)
    chart = plot_changes(pd.DataFrame(bars).assign(count=0), better=better[0], worse=worse[0]).properties(height=150)
    alt = "Share of each group whose decision changed, by direction; values in the table below."
    capital = [label[0].upper() + label[1:] for label, _ in (better, worse)]
    headings = {"Group": "", "On test": "", "Changed": "", capital[0]: "", capital[1]: ""}
    return _chart(chart, number, alt, "On test. Values in the table.") + html_table(
        headings, rows, caption="Decisions changed by group and direction"
    )


def _concepts(result: FitResult) -> str:
    used = result.concepts[result.concepts["features"] > 0]
    if used.empty:
        return "<p>No feature is needed at this setting: g decides as f does.</p>"
    formula = f"r(x) = {result.g.intercept_:.2f} plus, for each concept, its weight times how much a person shows of it"
    return (
        f"<p>{escape(formula)}. The score of f is multiplied by r; below 0 the decision changes.</p>"
        + concept_cards(result.loadings, result.concepts, result.task.spec.people)
    )


def _tree(result: FitResult, tree: ChangeTree | None) -> str:
    if tree is None:
        return "<p>No decision changes at this setting, so there is nothing for a tree to find.</p>"
    by_depth = ", ".join(f"{row.f1:.2f} at depth {row.depth}" for row in tree.f1_by_depth.itertuples())
    return (
        f"{tree_list(tree)}<p class='note'>Learnt on the training part, counted on test. F1 of this tree on test: "
        f"{tree.f1:.2f} (1: it finds all changed decisions and no others). By depth: {by_depth}.</p>"
    )


# ---- limits and caveats ----


def _bound(result: FitResult, limits: Limits) -> str:
    here = result.path.iloc[-1]
    rate = min(float(here["change_rate"]), float(limits.curve["change_rate"].iloc[-1]))
    is_dp = result.settings.fairness == "demographic_parity"
    name = "P-Rule" if is_dp else "disparate mistreatment"
    best, reached, start = (_shown(x, False) for x in (limits.at(rate), here["fairness"], result.path["fairness"][0]))
    words = (
        f"With {_shown(rate, True)} of the decisions changed, nobody can do better than a {name} of {best}, even "
        f"knowing everyone's group; g, which is not told the group, reaches {reached} with "
        f"{_shown(here['change_rate'], True)} changed, and f starts at {start}."
    )
    if limits.fair_from is not None:
        goal = "above 0.99" if is_dp else "below 0.01"
        share = _shown(limits.fair_from / limits.people, True)
        words += f" A {name} {goal} takes at least {limits.fair_from:,} changes ({share})."
    return f"<p>{escape(words)} Counted exactly on the test rows.</p>"


def _caveats(result: FitResult) -> str:
    task, test = result.task, result.scene.test
    spec = task.spec
    cells = [
        (int(((test.sensitive == s) & (test.y == label)).sum()), task.groups[s], spec.outcomes[label])
        for s in (0, 1)
        for label in (0, 1)
    ]
    fewest, group, outcome = min(cells)
    small = f"The smallest part of the test rows is {fewest:,} {spec.people} ({group}, label “{outcome}”)"
    items = [
        "Group metrics compare averages of decisions. They do not say whether the label records what one wants to "
        "know, whether a decision is just to the person it concerns, or what happens to people afterwards.",
        "Demographic parity and equalized odds conflict wherever base rates differ, and both can be met by worsening "
        "one group's decisions instead of improving the other's: look at who changes.",
        f"{small}: {'too few to tell more than large differences' if fewest < FEW else 'read the intervals'}.",
        f"All figures are of one split of the rows (seed {result.settings.seed}). The intervals tell how far they "
        "would move with other test rows, not with another training part, and not that a setting was chosen by "
        "looking at them.",
        "The two groups may join people who fare very differently.",
    ]
    if spec.favourable == 0:
        items.append(
            f"The positive decision, “{spec.outcomes[1]}”, is the worse one: a P-Rule on it reads the other way round, "
            "and the group with the higher rate is the one harmed."
        )
    own = re.search(r"\*\*Caveats\.\*\*\s*(.+?)(?:\n\s*\n|\Z)", task.datasheet, flags=re.DOTALL)
    of_data = f"<h3>Of the data</h3><p>{_markdown(' '.join(own[1].split()))}</p>" if own else ""
    return listed(items) + of_data
