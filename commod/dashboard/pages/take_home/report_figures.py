"""Figures and charts of a report, as its template wants them."""

from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from commod.charts import KINDS, export_chart, plot_changes, plot_pareto
from commod.charts.pareto import CURRENT, DEPLOYED, PATH
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.text.html import drawing
from commod.dashboard.text.verdicts import ONE_WAY, changes_by_direction, directions
from commod.experiments.checks import Evidence
from commod.experiments.limits import Limits
from commod.experiments.refits import Refits
from commod.explain.checks import AGAIN, explain_certainty
from commod.explain.groups import beyond_in_words, extremes_in_words, margins_in_words
from commod.metrics.figures import CRITERIA, FIGURES, figure_of, title_of
from commod.wording import with_capital

CHART_WIDTH = 340


def _drawing(chart: Any, number: int, alt: str) -> Markup:
    # Legible on a telephone too, where the drawing is shrunk to fit.
    chart = chart.configure_axis(labelFontSize=12, titleFontSize=12).configure_legend(labelFontSize=12)
    return drawing(export_chart(chart, "svg", width=CHART_WIDTH).decode(), alt, f"chart{number}-")


def figure_rows(result: FitResult) -> list[list[str]]:
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


def widened(result: FitResult) -> list[str]:
    """A sentence for each measure of fairness that gets worse by more than chance."""
    sentences = []
    for name, row in result.figures.iterrows():
        figure, group = figure_of(str(name))
        if not figure.fair or figure.title.startswith("…") or group is not None:
            continue
        rises, falls = row["difference_low"] > 0, row["difference_high"] < 0
        if rises if figure.direction < 0 else falls:
            title = title_of(str(name), result.task.groups, result.task.spec.outcomes)
            title = title.replace("Difference", "The difference", 1) if title.startswith("Difference") else title
            sentences.append(
                f"{title} {'rises' if rises else 'falls'} from {figure.show(row['f'])} to {figure.show(row['g'])} "
                f"({figure.fair} is fair): by this measure g is less fair than f."
            )
    return sentences


def each_group(result: FitResult) -> dict[str, Any]:
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


def trade_off(result: FitResult) -> dict[str, Any]:
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
    chart = plot_pareto(frame, fairness_title=fairness.axis_title, fairer=fairness.fairer).properties(height=280)
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


def who(result: FitResult) -> dict[str, Any]:
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
        "change_headings": ["Group", "On test", "Changed", *(with_capital(word) for word in (better, worse))],
        "change_rows": rows,
    }


def bound(result: FitResult, limits: Limits) -> dict[str, str]:
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


# ---- do the changes make sense? ----


def by_record(result: FitResult) -> list[list[str]]:
    """Rightly and wrongly changed, by group and direction."""
    words = [word for word, _ in directions(result.task.spec)]
    return [
        [
            f"{row.group}, {words[not row.better]}",
            f"{row.count:,}",
            f"{row.right:,}",
            f"{row.wrong:,}",
            f"{row.share:.1%}\n[{100 * row.low:.1f}, {100 * row.high:.1f}]" if row.count else "–",
            f"{row.expected:.1%}" if row.count else "–",
        ]
        for row in result.record.itertuples()
    ]


def by_certainty(result: FitResult) -> list[list[str]]:
    """How sure f was of what changed, beside everyone."""
    found = explain_certainty(result.scene.certainty_test, result.scene.decisions_test, result.decisions)
    return [
        [
            f"{row.low:.0%} to {row.high:.0%}",
            f"{row.changed:,} ({row.share_changed:.1%})",
            f"{row.everyone:,} ({row.share_everyone:.1%})",
        ]
        for row in found.itertuples()
    ]


def by_refits(result: FitResult, refits: Refits) -> list[list[str]]:
    """How many of the changed decisions change again in how many of the refits."""
    share = np.asarray(refits.share)[result.changed_test]
    whole, low, high = len(share), 0.5, AGAIN
    classes = {
        f"in {high:.0%} of the refits or more": share >= high,
        f"in {low:.0%} to {high:.0%}": (share >= low) & (share < high),
        f"in fewer than {low:.0%}": share < low,
    }
    return [[name, f"{here.sum():,}", f"{here.mean():.1%}" if whole else "–"] for name, here in classes.items()]


def calibration(result: FitResult, evidence: Evidence) -> list[list[str]]:
    """Calibration error of f and g by group."""
    rows = []
    for code, row in evidence.calibration.iterrows():
        cells = [f"{row[name]:.3f}\n[{row[f'{name}_low']:.3f}, {row[f'{name}_high']:.3f}]" for name in ("f", "g")]
        rows.append([result.task.groups[int(code)], *cells])
    return rows
