"""The sections of the Compare page that show all methods at once; the match of single models is in `match`."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from commod.charts import export_chart, plot_methods, plot_segments
from commod.charts.compare import DEPLOYED, DEPLOYED_STYLE
from commod.dashboard.jobs.results import figures_of_base
from commod.dashboard.state.settings import Settings, data_in_words, described
from commod.dashboard.text.escape import safe_csv
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import html_legend, html_table
from commod.dashboard.views.chart import draw
from commod.dashboard.views.download import offer
from commod.dashboard.views.methods import choose_model, state
from commod.dashboard.views.points import (
    Swept,
    as_rows,
    draw_cells,
    draw_segments,
    lead_in_words,
    point_columns,
    rests_on,
)
from commod.dashboard.views.table import Table
from commod.datasets import load_task
from commod.experiments import prepare
from commod.experiments.segments import (
    PAPER_MAIN,
    Segments,
    cell_table,
    in_segments,
    mark_fewest,
    mark_frontiers,
    segment_sources,
    segments_by,
)
from commod.explain.concepts import in_percent
from commod.metrics.figures import CRITERIA
from commod.models.competitors import METHODS, overview, overview_in_words
from commod.models.threshold import ONE_HALF


@dataclass(frozen=True)
class Compared(Swept):
    """The same with how segments are cut, and the COMMOD model to be matched."""

    source: str
    chosen: int | None = None

    @cached_property
    def of_f(self) -> dict[str, float]:
        """Figures of f on test."""
        return figures_of_base(self.settings.scene())

    @cached_property
    def rows(self) -> pd.DataFrame:
        """All models as points; ``id`` is the place of COMMOD's in their sweep, −1 for others."""
        rows = as_rows(self.points, self.criterion.name)
        rows["id"] = np.where(rows["method"] == "commod", rows.groupby("method").cumcount(), -1)
        rows["chosen"] = (rows["id"] >= 0) & (rows["id"] == (-1 if self.chosen is None else self.chosen))
        return rows

    @cached_property
    def tradeoff(self) -> tuple[pd.DataFrame, int]:
        """Points with f, and how many are left out: those that f beats, and by far in fairness."""
        fairness = self.of_f[self.criterion.figure_name]
        lost = self.criterion.gain(fairness - self.rows["fairness"])
        hopeless = (lost > 0.1) & (self.rows["accuracy"] < self.of_f["accuracy"])
        f = {name: self.of_f[name] for name in ("accuracy", "change_rate")} | {"label": DEPLOYED, "fairness": fairness}
        f |= {"settings": "unchanged", "best": True, "chosen": False, "id": -1}
        return pd.concat([self.rows[~hopeless], pd.DataFrame([f])], ignore_index=True), int(hopeless.sum())

    @cached_property
    def cuts(self) -> Segments:
        return segments_by(self.source, self.settings.task_name, self.criterion.name, self.points)

    @cached_property
    def in_segments(self) -> pd.DataFrame:
        """Points with their segment and their method's frontier in it."""
        return mark_frontiers(in_segments(self.rows, self.cuts, self.criterion.name))

    @cached_property
    def segments(self) -> tuple[pd.DataFrame, dict[str, Any]]:
        """Points that lie within the axes that all segments share, and these axes."""
        frame = self.in_segments
        low, high = frame["accuracy"].quantile([0.02, 1.0])
        axes: dict[str, Any] = {
            "most_changes": float(np.ceil(max(frame["change_rate"].max(), 0.05) * 20) / 20),
            "accuracy_range": (float(np.floor(low * 50) / 50), float(np.ceil(high * 50) / 50)),
        }
        return frame[frame["accuracy"] >= axes["accuracy_range"][0]], axes

    @cached_property
    def cells(self) -> pd.DataFrame:
        """Mean change rates by cell, with who changes fewest."""
        means = cell_table(self.in_segments, count_unchanged=False)
        return mark_fewest(means.round({"change_rate": 3}))  # equal as they are written

    @property
    def titles(self) -> tuple[str, ...]:
        return self.cuts.titles(self.criterion.name, (", least fair", ", fairest"))

    def table(self, title: str, key: str, *, final: bool) -> Table | str:
        """The table behind a picture; while others are to come, its title."""
        columns = point_columns(self.criterion.name, label="Method", settings="Setting")
        return Table(title, key, columns) if final else title


def scene_in_words(settings: Settings) -> str:
    """Data, criterion, f and split in one line."""
    words, criterion = described(settings, "scene"), CRITERIA[settings.fairness].title.lower()
    line = "" if settings.threshold == ONE_HALF else f", cut-off {words['threshold']}"
    return f"{data_in_words(settings)}, {criterion}, f: {words['f'].lower()}{line}, split {settings.seed}"


# ---- the trade-off ----


def tradeoff(here: Compared, place: Any, *, final: bool = False) -> None:
    """Accuracy against fairness; once all is there, a click on a COMMOD point chooses it for the match."""

    def choose() -> None:
        picked = st.session_state["methods_chart"]["selection"].get("pick") or []
        if picked and int(picked[0]["id"]) >= 0:
            choose_model(here.sweeps["commod"], int(picked[0]["id"]))

    selection: dict[str, Any] = {"key": "methods_chart", "on_select": choose} if final else {}
    frame, left_out = here.tradeoff
    rest_on = rests_on(prepare(*here.settings.scene()))
    less = f" {left_out} models that are far less fair than f, and less accurate, are not drawn." if left_out else ""
    with place.container():
        told = answer_in_words(here)
        st.markdown(told if final else f"**So far, of {len(here.sweeps)} methods.** {told}")
        st.html(html_legend((*here.styles, DEPLOYED_STYLE)))
        draw(
            plot_methods,
            frame,
            alt="Accuracy against fairness of every model of every method.",
            table=here.table("All points as a table", "compare_points", final=final),
            caption="A point is a model. Faint: another model of the same method is at least as fair and as accurate. "
            "Hollow (○): needs the group at predict. A click on a COMMOD point takes it to "
            f"[the match](#match) below, where it is the large one here; it can be chosen there, too.{less} {rest_on}",
            styles=here.styles,
            fairness_title=here.fairness_title,
            legend=False,
            height=440,
            **selection,
        )


def answer_in_words(here: Compared) -> str:
    """Who changes fewest: where fairness and accuracy are equal, and at one level of fairness whatever the accuracy.

    The two need not agree: who gives up accuracy, or is fairer than others can be, may change fewer, or more. So they
    are told together, and COMMOD's own models in either.
    """
    figure = here.criterion.figure
    points = here.points[~here.points["needs_sensitive"]]
    if points["method"].nunique() < 2:
        return "Two methods that need no group can be compared in words."
    text = "It depends on how fair and how accurate the decisions are to be. "
    if "commod" in here.sweeps:
        text += f"**At equal fairness and accuracy**, in [the cells](#cells) below: {lead_in_words(here.cells)} "
    start = here.of_f[figure.name]
    if here.criterion.upward:
        level = 0.8 if start < 0.75 else 0.5 * (1.0 + start)
        words = f"{here.criterion.noun} of {level:.2f} or more"
    else:
        level = 0.5 * start
        words = f"{figure.short_in_sentence} of {figure.show(level)} (half of f's) or less"
    fair = points[here.criterion.is_met(points[figure.name], level)]
    if fair.empty:
        return f"{text}No method drawn that needs no group reaches {words} on test."
    accurate, gentle = fair.loc[fair["accuracy"].idxmax()], fair.loc[fair["change_rate"].idxmin()]

    def told(point: pd.Series) -> str:
        return f"{point['change_rate']:.1%} changed at an accuracy of {point['accuracy']:.1%}"

    text += f"**With {words}, whatever the accuracy**: fewest changes are {gentle['title']}'s ({told(gentle)}), "
    same = gentle.name == accurate.name
    text += "which is also the most accurate" if same else f"most accurate is {accurate['title']} ({told(accurate)})"
    if "commod" not in here.sweeps or "commod" in (gentle["method"], accurate["method"]):
        return f"{text}."
    own = fair[fair["method"] == "commod"]
    if own.empty:
        return f"{text}; no COMMOD model is that fair."
    return f"{text}; COMMOD needs at least {told(own.loc[own['change_rate'].idxmin()])}."


# ---- changes within segments of equal fairness ----


def choose_segments(settings: Settings, names: list[str]) -> str:
    """The definition of the segments to be used, by its name."""
    page = state()
    options = segment_sources(settings.task_name, settings.fairness, names)
    key = f"segments_{settings.problem()}"
    if key not in st.session_state:
        st.session_state[key] = options[min(page.segments, len(options) - 1)]
    if st.session_state[key] not in options:
        st.session_state[key] = options[0]

    def take() -> None:
        page.segments = options.index(st.session_state[key])

    return str(st.selectbox("Segments of fairness", options, key=key, on_change=take, help=tip("segments")))


def segments(here: Compared, place: Any, *, final: bool = False) -> None:
    """Changes against accuracy, one picture for each segment of fairness, and their means as a table."""
    shown, axes = here.segments

    def table(q: int) -> Table | str:
        return here.table(f"Q{q} as a table", f"compare_q{q}", final=final)

    with place.container():
        st.html(html_legend(here.styles))
        draw_segments(shown, here.titles, here.criterion.name, table, styles=here.styles, **axes)
        st.caption(
            "Best is low and to the right: few changes, high accuracy. Faint: another model of the same method in the "
            "segment changes no more and is at least as accurate."
        )
        _cells(here)


def _cells(here: Compared) -> None:
    """Mean change rates by method and cell of fairness and accuracy."""
    cells = here.cells
    printed = " (the paper's Table 1, on this split)" if here.cuts.source == PAPER_MAIN else ""
    st.subheader("Mean change rates by cell", anchor="cells")
    st.markdown(f"Mean share of decisions changed by segment of fairness and accuracy{printed}.")
    draw_cells(
        cells,
        [name for name in METHODS if name in here.sweeps],
        sorted({*zip(cells["fairness_q"], cells["accuracy_q"], strict=True)}),
        lambda cell: in_percent(cell["change_rate"]),
        heading="Q{} fair, Q{} acc.",
        caption="Mean change rates",
    )
    accuracy = ", ".join(f"{cut:.1%}" for cut in here.cuts.accuracy)
    st.caption(
        f"Shaded: fewest changes, where two or more methods that need no group meet. Models that change nobody do not "
        f"count. Accuracy is cut at {accuracy}. A dash: no model there."
    )


# ---- take away ----


def downloads(here: Compared, more: Mapping[str, Callable[[], Any]]) -> None:
    """All points as CSV, the charts (those of the match are in `more`) as pictures."""
    settings = here.settings
    name = f"{settings.task_name}_{settings.fairness}_split{settings.seed}"
    look: dict[str, Any] = {"styles": here.styles, "fairness_title": here.fairness_title}

    def picture(what: str, kind: Any) -> bytes:
        scene = scene_in_words(settings)
        title = f"{scene}; {here.cuts.source}" if what == "Segments" else f"{what}: {scene}"
        return export_chart(charts[what]().properties(title=title), kind, width=None if what == "Segments" else 900)

    charts: dict[str, Callable[[], Any]] = {
        "Trade-off": lambda: plot_methods(here.tradeoff[0], **look),
        "Segments": lambda: plot_segments(here.segments[0], titles=here.titles, **look, **here.segments[1]),
        **more,
    }
    with st.container(horizontal=True, gap="small"):
        csv = safe_csv(here.points, for_spreadsheets=False)
        offer("Points as CSV", csv, f"{name}.csv", icon=":material/table:")
        for what in charts:
            for kind in ("png", "svg"):
                file = f"{name}_{what.lower().replace(' ', '_')}.{kind}"
                offer(f"{what} as {kind.upper()}", partial(picture, what, kind), file, icon=":material/image:")
    own = load_task(settings.task_name).words
    st.caption(f"The same on the command line{', in the folder of your file' if own else ''}:")
    st.code(_command(settings, own or (settings.task_name,), here.sweeps), language=None, wrap_lines=True)


def _command(settings: Settings, data: Sequence[str], methods: Iterable[str]) -> str:
    """What makes the same points in a shell."""
    scene = {"--fairness": settings.fairness, "--base-model": settings.f, "--seed": str(settings.seed)}
    if settings.threshold != ONE_HALF:
        scene["--threshold"] = f"{settings.threshold:g}"
    asked = [
        word for option in (scene | {"--methods": ",".join(methods), "--out": "points.csv"}).items() for word in option
    ]
    return shlex.join(["python", "-m", "commod", "compare", *data, *asked])


def methods_table() -> None:
    """The paper's overview of methods, with what runs here."""
    st.header("The methods")
    st.markdown(
        f"{overview_in_words()} One that *needs the group* must be told S for everyone it decides on; the others use "
        "it in training only."
    )
    table = overview()
    for name in ("needs_sensitive", "weights", "minimises_changes", "randomised"):
        table[name] = table[name].map({True: "yes", False: "–"})
    rows = table.assign(knob=table["knob"].replace("", "–")).to_numpy().tolist()
    names = (
        "Method, Reference, Runs here, Any model, Needs the group, Criterion, Groups, Weights, Minimises changes, "
        "Randomised, Knob, Note"
    )
    st.html(html_table(dict.fromkeys(names.split(", "), ""), rows, caption="Methods", text={1, 3, 11}))
