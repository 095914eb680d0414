"""The reachable region of the Limits page and the price: who gets how far, and what accuracy it must cost."""

import math
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from commod.charts.compare import DEPLOYED_STYLE
from commod.charts.limits import BLIND_STYLE, BOUND_STYLE, CURRENT_STYLE, FEWEST_STYLE, PRICES, plot_limits, plot_price
from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.service import result_of
from commod.dashboard.pages.limits.asked import Drawn, by_percent
from commod.dashboard.text.html import html_legend, html_table
from commod.dashboard.text.verdicts import ONE_WAY
from commod.dashboard.views.chart import Table, draw
from commod.dashboard.views.methods import label_of
from commod.dashboard.views.points import rests_on
from commod.experiments.limits import MAX_POINTS, best_within
from commod.metrics.figures import FIGURES
from commod.metrics.pareto import undominated
from commod.wording import with_capital


def sentence(here: Drawn) -> str:
    """The picture read out."""
    limits, budget, criterion = here.limits, here.budget, here.criterion
    known = "group and outcome" if criterion.by_label else "group"
    kept = ONE_WAY[here.settings.direction]
    count = int(budget * limits.people + 1e-9)
    words = (
        f"With {budget:.0%} of the decisions changed{kept} ({count:,} of {limits.people:,}), "
        f"nobody can do better than {criterion.noun} of **{here.show(limits.at(budget))}**, even knowing everyone's "
        f"{known}; f starts at {here.show(limits.at(0.0))}."
    )
    if here.own_sweep is not None:
        best = best_within(here.own_sweep.points, criterion.name, budget)
        assert best is not None  # λ_fair = 0 changes nobody
        words += (
            f" {here.form}, which is not told the group, reaches **{here.show(best[criterion.figure_name])}** "
            f"(with {best['change_rate']:.1%} changed, accuracy {best['accuracy']:.1%})."
        )
    reached = limits.curve[here.is_fair(limits.curve)]
    wish = criterion.wish(here.level)
    wish = with_capital(wish)
    if reached.empty:
        return f"{words} {wish} takes more than {limits.curve['change_rate'].iloc[-1]:.0%}."
    first = reached.iloc[0]
    if first["changes"] == 0:
        return f"{words} {wish}: f is that fair already."
    words += f" {wish} takes at least **{first['change_rate']:.1%}** ({first['changes']:,.0f} people)"
    if here.own_sweep is not None:
        fair = here.own[here.is_fair(here.own)]
        own = "does not get there" if fair.empty else f"needs {fair['change_rate'].min():.1%}"
        words += f"; {here.form} {own}"
    return f"{words}."


def blind_sentence(here: Drawn) -> str:
    """How much of the distance to the limit is COMMOD's, and how much is not knowing the group."""
    show, bound, blind = here.show, here.limits.at(here.budget), here.blind_at()
    words = (
        f"A rule that is not told the group, and knows of it what gradient boosting learns from the features, can "
        f"expect **{show(blind)}** ({show(here.blind_at('low'))} to {show(here.blind_at('high'))} over people and two "
        f"learners); counted on these test people, such a rule reached {show(here.blind_at('counted'))}."
    )
    if here.own_sweep is None:
        return words
    best = best_within(here.own_sweep.points, here.criterion.name, here.budget)
    assert best is not None  # λ_fair = 0 changes nobody
    own = float(best[here.criterion.figure_name])
    if own > blind:
        return (
            f"{words} {here.form} lies beyond that by {show(own - blind)}: on few test people chance can do that, and "
            "so can a P(group | features) that was not learnt well enough."
        )
    if bound - own < 0.005:
        return f"{words} {here.form} is at the limit."
    not_told = max(0.0, bound - blind)
    return (
        f"{words} So of the {show(max(bound, blind) - own)} that {here.form} lacks of the limit, {show(not_told)} is "
        f"for not knowing the group and {show(blind - own)} is its own."
    )


def region(here: Drawn, place: Any, *, final: bool = False) -> None:
    """The reachable region, and who gets how far into it; once all is there, with the table behind it."""
    limits, criterion, most = here.limits, here.criterion, here.most
    start = limits.at(0.0)
    low, high = 0.0, math.ceil(start * 22) / 20
    if criterion.upward:
        low, high = max(0.0, math.floor((start - 0.08) * 20) / 20), 1.0
    thin = np.unique(np.linspace(0, len(limits.curve) - 1, MAX_POINTS).round().astype(int))
    models = here.models[here.models["fairness"].between(low, high) & (here.models["change_rate"] <= most)]
    parts = [
        limits.curve.iloc[thin].assign(kind="bound"),
        models,
        pd.DataFrame([{"kind": "budget", "change_rate": here.budget}, {"kind": "level", "fairness": here.level}]),
        *([pd.DataFrame([{"kind": "fewest", "change_rate": limits.fewest}])] if here.has_fewest else []),
    ]
    if here.has_blind:
        parts.append(here.blind.assign(kind="blind"))
    if here.own_sweep is not None:  # its fairest model with at most so many changes, as steps
        steps = here.own[undominated(criterion.gain(here.own["fairness"]), -here.own["change_rate"])]
        steps = steps.sort_values("change_rate").drop_duplicates("change_rate")
        parts.append(steps[["change_rate", "fairness"]].assign(kind="frontier"))

    def rows() -> pd.DataFrame:
        bound = by_percent(limits.curve[limits.curve["change_rate"] <= most].assign(kind="bound"))
        lines = [bound.assign(label=BOUND_STYLE.label)]
        if here.has_blind:
            lines.append(by_percent(here.blind.assign(kind="blind", label=BLIND_STYLE.label)))
        return pd.concat([models, *lines], ignore_index=True)

    table = Table("Limit and models as a table", "limits_table", here.columns("fairness"), rows)
    with place.container():
        st.markdown(sentence(here))
        if here.has_blind:
            st.markdown(blind_sentence(here))
        elif final:
            st.caption(
                "The bound for rules that are not told the group is drawn for demographic parity of two groups only."
            )
        st.html(
            html_legend(
                (
                    BOUND_STYLE,
                    *((BLIND_STYLE,) if here.has_blind else ()),
                    *((FEWEST_STYLE,) if here.has_fewest else ()),
                    *here.styles,
                    CURRENT_STYLE,
                    DEPLOYED_STYLE,
                )
            )
        )
        wide, narrow = st.columns([3, 2], gap="medium")
        with wide:
            draw(
                plot_limits,
                pd.concat(parts, ignore_index=True),
                alt="Fairness against decisions changed: the exact bound and models.",
                table=table if final else table.title,
                caption=_caption(here, hidden=len(here.models) - len(models)),
                styles=here.styles,
                fairness_title=here.fairness_title,
                low=low,
                high=high,
                most=most,
                upward=criterion.upward,
            )
        with narrow:
            _best_table(here)


def _caption(here: Drawn, hidden: int) -> str:
    """What the lines and marks are; `hidden` models are not drawn."""
    edge = "above" if here.criterion.upward else "below"
    known = "group and outcome are" if here.criterion.by_label else "group is"
    less = f" {hidden} models that change more, or are less fair than f, are not drawn." if hidden else ""
    dotted = (
        " Dotted, with its 95% interval (chance in who is on test): the best to be expected of a rule that has only "
        "P(group | features), as gradient boosting learns it."
        if here.has_blind
        else ""
    )
    green = (
        f" Green, {here.limits.fewest:.1%}: by a rule that knows group and score, not the outcome, in expectation."
        if here.has_fewest
        else ""
    )
    own = f" Orange steps: the fairest {here.form} model with so many changes." if here.own_sweep else ""
    return (
        f"On test. Solid: the best that so many flips can do when everyone's {known} known, counted exactly; {edge} it "
        f"nobody gets.{dotted}{green} Dashed: what you ask for.{own} ○: needs the group at predict.{less} "
        f"{rests_on(here.result.scene)}"
    )


def _best_table(here: Drawn) -> None:
    budget, figure = here.budget, here.criterion.figure
    st.markdown(f"**The fairest with at most {budget:.0%} changed**")
    rows = [["Nobody can do better", here.show(here.limits.at(budget)), f"{budget:.1%}", "–"]]
    if here.has_blind:
        rows.append(["Not told the group", here.show(here.blind_at()), f"{budget:.1%}", "–"])
    for name, sweep in here.sweeps.items():
        best = best_within(sweep.points, here.criterion.name, budget)
        if best is None:
            rows.append([label_of(name), "–", f"over {budget:.0%}", "–"])
            continue
        changed = f"{best['change_rate']:.1%}" if best["change_rate"] > 0 else "0, as f"
        rows.append([label_of(name), here.show(best[figure.name]), changed, f"{best['accuracy']:.1%}"])
    headings = {"Method": "", figure.title: figure.axis_title}
    headings |= {other.short_title: other.meaning for other in (FIGURES["change_rate"], FIGURES["accuracy"])}
    caption = f"The fairest models with at most {budget:.0%} of the decisions changed"
    st.html(html_table(headings, rows, caption=caption))


def price(here: Drawn) -> None:
    """What accuracy this fairness must cost, by changes."""
    criterion, most = here.criterion, here.most
    asked = criterion.wish(here.level)
    st.header(f"The price of {asked}")
    if criterion.is_met(here.limits.at(0.0), here.level):
        st.info("f is that fair already: nothing has to change.", icon=":material/info:")
        return
    curves = result_of(tasks.price(here.settings, here.level, most, here.missed))
    if curves.empty:
        st.info(f"With {most:.0%} of the decisions changed, {asked} cannot be reached.", icon=":material/info:")
        return
    of_f = here.models.loc[here.models["label"] == DEPLOYED_STYLE.label, "accuracy"].iloc[0]
    models = here.models.assign(difference=here.models["accuracy"] - of_f)
    models = models[here.is_fair(models) & (models["change_rate"] <= most)]
    dashed = pd.DataFrame([{"kind": "budget", "change_rate": here.budget}])
    frame = pd.concat([curves.rename(columns={"known": "kind"}), models, dashed], ignore_index=True)
    # Hindsight goes up to all errors mended: cut where it leaves what models can do far below.
    top = max(0.02, float(models["difference"].max() if len(models) else 0.0)) + 0.03
    bottom = min(-0.02, float(frame["difference"].min()))
    low, high = math.floor(bottom * 50) / 50, math.ceil(top * 50) / 50
    leaves = "; it leaves the picture at the top" if (frame["difference"] > high).any() else ""
    frame = frame[frame["difference"].between(low, high) | (frame["kind"] == "budget")]
    st.markdown(_price_words(curves, models, asked, form=here.form if here.own_sweep else ""))
    counted = _counted(curves, here.limits.people, most)
    dotted = f" Dotted: {PRICES['scores'].lower()}, the people nearest to f's cut-off first."
    columns = here.columns() | {"points": ("Accuracy against f (points)", "+.1f")}

    def rows() -> pd.DataFrame:
        drawn = frame.assign(points=100 * frame["difference"])
        lines = by_percent(drawn[drawn["kind"].isin(PRICES)])
        return pd.concat([drawn[drawn["kind"] == "model"], lines.assign(label=lines["kind"].map(PRICES))])

    draw(
        plot_price,
        frame,
        alt="Accuracy against f by decisions changed, at the fairness asked for.",
        table=Table("Prices as a table", "price_table", columns, rows),
        caption=f"On test. Solid: {PRICES['labels'].lower()}, so that flips mend errors{leaves}."
        f"{'' if criterion.by_label or here.missed else dotted} Points: models that are fair enough.{counted}",
        styles=here.styles,
        low=low,
        high=high,
        most=most,
    )


def _counted(curves: pd.DataFrame, people: int, most: float) -> str:
    """What of the test rows, or of the changes, the lines are counted on; empty if it is all."""
    rows, last = int(curves["people"].iloc[0]), float(curves["change_rate"].max())
    if rows < people:
        return f" Lines: counted on {rows:,} of the {people:,} test rows, as many of each group, outcome and decision."
    return f" Lines: counted up to {last * people:,.0f} changes." if last < most - 1.0 / people else ""


def _price_words(curves: pd.DataFrame, models: pd.DataFrame, asked: str, *, form: str) -> str:
    cheapest = curves[curves["known"] == "scores"]
    if cheapest.empty:
        first = curves.iloc[0]
        words = (
            f"In hindsight, with {first['change_rate']:.1%} changed, {asked} goes with "
            f"{100 * first['difference']:+.1f} points of accuracy."
        )
    else:
        first, best = cheapest.iloc[0], cheapest.loc[cheapest["difference"].idxmax()]
        words = (
            f"By f's own scores and knowing the group, {asked} costs about {-100 * best['difference']:.1f} points of "
            f"accuracy (with {best['change_rate']:.1%} changed)"
        )
        same = best["change_rate"] == first["change_rate"]
        fewest = f", or {-100 * first['difference']:.1f} with the fewest changes, {first['change_rate']:.1%}"
        words += "." if same else f"{fewest}."
    own = models[models["label"] == form]
    if not form:
        return words
    if own.empty:
        return f"{words} No {form} model of the sweep is that fair."
    best = own.loc[own["difference"].idxmax()]
    change = 100 * best["difference"]
    verb = f"loses {-change:.1f}" if change < 0 else f"gains {change:.1f}"
    return f"{words} The most accurate such {form} model {verb} points (with {best['change_rate']:.1%} changed)."
