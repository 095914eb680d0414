"""The price on the Limits page: what accuracy a level of fairness must cost."""

import math

import pandas as pd
import streamlit as st

from commod.charts.compare import DEPLOYED_STYLE
from commod.charts.limits import PRICES, plot_price
from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.wait import result_of
from commod.dashboard.pages.limits.asked import Drawn, by_percent
from commod.dashboard.views.chart import draw
from commod.dashboard.views.table import Table


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
