"""The sections of the Compare page that show all methods at once; the match of single models is in `matching`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from commod.charts import export_chart, plot_methods, plot_segments
from commod.charts.compare import DEPLOYED, DEPLOYED_STYLE
from commod.dashboard.jobs.results import figures_of_base
from commod.dashboard.state.settings import Settings, base_models_of
from commod.dashboard.text.figures import FAIRNESS_TITLES
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import html_legend, html_table
from commod.dashboard.views.chart import draw
from commod.dashboard.views.methods import choose_model, label_of, state, styles_of
from commod.dashboard.views.table import Table
from commod.datasets import load_task
from commod.experiments import Sweep, points_of
from commod.experiments.scene import FAIRNESS_FIGURES
from commod.experiments.segments import (
    PAPER_MAIN,
    PAPER_SEGMENTS,
    Segments,
    cell_table,
    in_segments,
    quartiles_of,
)
from commod.explain.concepts import in_percent
from commod.metrics.figures import CRITERIA
from commod.metrics.pareto import undominated
from commod.models.competitors import METHODS, overview

# ---- the trade-off ----


def _frame(settings: Settings, sweeps: dict[str, Sweep], chosen: int | None) -> pd.DataFrame:
    """Points of the charts: all models, and which COMMOD model is chosen."""
    points = points_of(sweeps.values())
    figure = FAIRNESS_FIGURES[settings.fairness]
    frame = pd.DataFrame(
        {
            "label": points["method"].map(label_of),
            "method": points["method"],
            "fairness": points[figure],
            **{name: points[name] for name in ("p_rule", "dm", "accuracy", "change_rate", "settings", "best")},
            "id": np.where(points["method"] == "commod", points.groupby("method").cumcount(), -1),
        }
    )
    frame["chosen"] = (frame["id"] >= 0) & (frame["id"] == (-1 if chosen is None else chosen))
    return frame


def _deployed(settings: Settings) -> pd.DataFrame:
    figures = figures_of_base(settings.scene())
    row = {"label": DEPLOYED, "fairness": figures[FAIRNESS_FIGURES[settings.fairness]], "settings": "unchanged"}
    row |= {"accuracy": figures["accuracy"], "change_rate": 0.0, "best": True, "chosen": False, "id": -1}
    return pd.DataFrame([row])


def _drawn(settings: Settings, sweeps: dict[str, Sweep], chosen: int | None) -> tuple[pd.DataFrame, int]:
    """Points of the trade-off with f, and how many are left out: those that f beats, and by far in fairness."""
    frame, f = _frame(settings, sweeps, chosen), _deployed(settings)
    sign = 1.0 if settings.fairness == "demographic_parity" else -1.0
    lost = sign * (f["fairness"].iloc[0] - frame["fairness"])
    hopeless = (lost > 0.1) & (frame["accuracy"] < f["accuracy"].iloc[0])
    return pd.concat([frame[~hopeless], f], ignore_index=True), int(hopeless.sum())


def _table(settings: Settings, title: str, key: str) -> Table:
    """The table behind a picture of points."""
    columns = {
        "label": ("Method", ""),
        "settings": ("Setting", ""),
        "fairness": (FAIRNESS_TITLES[FAIRNESS_FIGURES[settings.fairness]], ".3f"),
        "accuracy": ("Accuracy on test", ".1%"),
        "change_rate": ("Decisions changed", ".1%"),
    }
    return Table(title, key, columns)


def tradeoff(
    settings: Settings, sweeps: dict[str, Sweep], place: Any, *, chosen: int | None = None, final: bool = False
) -> None:
    """Accuracy against fairness; once all is there, a click on a COMMOD point chooses it for the match."""

    def choose() -> None:
        picked = st.session_state["methods_chart"]["selection"].get("pick") or []
        if picked and int(picked[0]["id"]) >= 0:
            choose_model(sweeps["commod"], int(picked[0]["id"]))

    selection: dict[str, Any] = {"key": "methods_chart", "on_select": choose} if final else {}
    frame, left_out = _drawn(settings, sweeps, chosen)
    table = _table(settings, "All points as a table", "compare_points")
    less = f" {left_out} models that are far less fair than f, and less accurate, are not drawn." if left_out else ""
    with place.container():
        st.markdown(read_out(settings, sweeps))
        st.html(html_legend((*styles_of(sweeps), DEPLOYED_STYLE)))
        draw(
            plot_methods,
            frame,
            alt="Accuracy against fairness of every model of every method.",
            table=table if final else table.title,
            caption="A point is a model. Faint: another model of the same method is at least as fair and as accurate. "
            "Hollow (○): needs the group at predict. A click on a COMMOD point takes it to "
            f"[the match](#match) below, where it is the large one here; it can be chosen there, too.{less}",
            styles=styles_of(sweeps),
            fairness_title=FAIRNESS_TITLES[FAIRNESS_FIGURES[settings.fairness]],
            legend=False,
            height=440,
            **selection,
        )


def read_out(settings: Settings, sweeps: dict[str, Sweep]) -> str:
    """The picture in words, at one level of fairness: who is most accurate, who changes least."""
    figure = FAIRNESS_FIGURES[settings.fairness]
    start = figures_of_base(settings.scene())[figure]
    points = points_of(sweeps.values())
    points = points[~points["needs_sensitive"]]
    if figure == "p_rule":
        level = 0.8 if start < 0.75 else 0.5 * (1.0 + start)
        fair, words = points[points[figure] >= level], f"a P-Rule of {level:.2f} or more"
    else:
        level = 0.5 * start
        fair, words = points[points[figure] <= level], f"half the mistreatment of f ({level:.3f}) or less"
    if points["method"].drop_duplicates().size < 2:
        return "Two methods that need no group can be compared in words."
    if fair.empty:
        return f"No method drawn that needs no group reaches {words} on test."
    accurate, gentle = fair.loc[fair["accuracy"].idxmax()], fair.loc[fair["change_rate"].idxmin()]
    first = (
        f"With {words}, without being told the group: most accurate is **{accurate['title']}** "
        f"({accurate['accuracy']:.1%}, with {accurate['change_rate']:.1%} of the decisions changed)"
    )
    if gentle.name == accurate.name:
        return f"{first}, which also changes fewest."
    return (
        f"{first}; fewest changes are **{gentle['title']}**'s ({gentle['change_rate']:.1%}, at an accuracy of "
        f"{gentle['accuracy']:.1%})."
    )


# ---- changes within segments of equal fairness ----


OWN_SEGMENTS = ("quartiles of AdvDebias here", "quartiles of all models drawn")


def choose_segments(settings: Settings, names: list[str]) -> str:
    """The definition of the segments to be used, by its name."""
    page = state()
    printed = [cuts.source for cuts in PAPER_SEGMENTS.get((settings.data, settings.fairness), [])]
    options = printed + [name for name in OWN_SEGMENTS if name != OWN_SEGMENTS[0] or "adv_debias" in names]
    key = f"segments_{settings.problem()}"
    if key not in st.session_state:
        st.session_state[key] = options[min(page.segments, len(options) - 1)]
    if st.session_state[key] not in options:
        st.session_state[key] = options[0]

    def take() -> None:
        page.segments = options.index(st.session_state[key])

    return str(
        st.selectbox(
            "Segments of fairness",
            options,
            key=key,
            on_change=take,
            help=tip("segments"),
        )
    )


def _cuts(settings: Settings, sweeps: dict[str, Sweep], source: str) -> Segments:
    for cuts in PAPER_SEGMENTS.get((settings.data, settings.fairness), []):
        if cuts.source == source:
            return cuts
    points = points_of(sweeps.values())
    if source == OWN_SEGMENTS[0] and "adv_debias" in sweeps:
        points = sweeps["adv_debias"].points
    return quartiles_of(points, settings.fairness, source)


def _in_segments(
    settings: Settings, sweeps: dict[str, Sweep], cuts: Segments, chosen: int | None
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Points with their segment and their method's frontier in it, and the axes that all segments share."""
    frame = in_segments(_frame(settings, sweeps, chosen), cuts, settings.fairness)
    frame["best"] = False
    for _, rows in frame.groupby(["method", "fairness_q"]):
        frame.loc[rows.index, "best"] = undominated(-rows["change_rate"], rows["accuracy"])
    low, high = frame["accuracy"].quantile([0.02, 1.0])
    axes: dict[str, Any] = {
        "most_changes": float(np.ceil(max(frame["change_rate"].max(), 0.05) * 20) / 20),
        "accuracy_range": (float(np.floor(low * 50) / 50), float(np.ceil(high * 50) / 50)),
    }
    return frame, axes


def _on_axes(frame: pd.DataFrame, axes: dict[str, Any]) -> pd.DataFrame:
    """Points that lie within the axes."""
    return frame[frame["accuracy"] >= axes["accuracy_range"][0]]


def segments(
    settings: Settings,
    sweeps: dict[str, Sweep],
    place: Any,
    source: str,
    *,
    chosen: int | None = None,
    final: bool = False,
) -> None:
    """Changes against accuracy, one picture for each segment of fairness, and their means as a table."""
    cuts = _cuts(settings, sweeps, source)
    frame, axes = _in_segments(settings, sweeps, cuts, chosen)
    shown = _on_axes(frame, axes)
    with place.container():
        st.html(html_legend(styles_of(sweeps)))
        rows = [st.columns(2, gap="medium"), st.columns(2, gap="medium")]
        for q, title in enumerate(_titles(cuts, settings), start=1):
            here = shown[shown["fairness_q"] == q]
            with rows[(q - 1) // 2][(q - 1) % 2]:
                st.markdown(f"**{title}**")
                if here.empty:
                    st.caption("No model lands here.")
                    continue
                table = _table(settings, f"Q{q} as a table", f"compare_q{q}")
                draw(
                    plot_methods,
                    here,
                    alt=f"Decisions changed against accuracy in fairness segment {q}.",
                    table=table if final else table.title,
                    styles=styles_of(sweeps),
                    view="changes",
                    fairness_title=FAIRNESS_TITLES[FAIRNESS_FIGURES[settings.fairness]],
                    legend=False,
                    height=250,
                    **axes,
                )
        st.caption(
            "Best is low and to the right: few changes, high accuracy. Faint: another model of the same method in the "
            "segment changes no more and is at least as accurate."
        )
        _cells(frame, sweeps, cuts)


def _titles(cuts: Segments, settings: Settings) -> tuple[str, ...]:
    name = "P-Rule" if settings.fairness == "demographic_parity" else "Mistreatment"
    words = {1: ", least fair", 4: ", fairest"}
    return tuple(f"Q{q}{words.get(q, '')}: {name} {cuts.fairness_range(q, settings.fairness)}" for q in range(1, 5))


def _cells(frame: pd.DataFrame, sweeps: dict[str, Sweep], cuts: Segments) -> None:
    cells = cell_table(frame, count_unchanged=False)
    cells["cell"] = "Q" + cells["fairness_q"].astype(str) + " fair, Q" + cells["accuracy_q"].astype(str) + " acc."
    order = cells.sort_values(["fairness_q", "accuracy_q"])["cell"].unique()
    table = cells.pivot_table(index="method", columns="cell", values="change_rate")[order]
    table = table.reindex([name for name in METHODS if name in sweeps])
    blind = [name for name in table.index if not METHODS[name].needs_sensitive]
    lowest = table.loc[blind].min()
    contested = table.loc[blind].notna().sum() >= 2
    printed = " (the paper's Table 1, on this split)" if cuts.source == PAPER_MAIN else ""
    text = f"Mean share of decisions changed by segment of fairness and accuracy{printed}."
    if "commod" in blind and len(blind) > 1:
        own = table.loc["commod"].notna()
        shared = own & contested
        ahead = int((table.loc["commod", shared] <= lowest[shared]).sum())
        absent = int((table.loc[blind].notna().any() & ~own).sum())
        text += (
            f" Among the methods that need no group, COMMOD changes fewest in **{ahead} of {int(shared.sum())}** cells "
            f"that it shares with another"
        )
        text += f"; in {absent} cells only others have a model." if absent else "."
    st.markdown(text)
    rows = [
        [label_of(str(name)), *("–" if np.isnan(value) else in_percent(value) for value in row)]
        for name, row in zip(table.index, table.to_numpy(), strict=True)
    ]
    marked = {
        (i, j + 1)
        for i, name in enumerate(table.index)
        for j, cell in enumerate(table.columns)
        if name in blind and contested[cell] and round(table.loc[name, cell], 3) == round(lowest[cell], 3)
    }
    st.html(html_table({"Method": "", **dict.fromkeys(order, "")}, rows, caption="Mean change rates", marked=marked))
    accuracy = ", ".join(f"{cut:.1%}" for cut in cuts.accuracy)
    st.caption(
        f"Shaded: fewest changes, where two or more methods that need no group meet. Models that change nobody do not "
        f"count. Accuracy is cut at {accuracy}. A dash: no model there."
    )


# ---- take away ----


def downloads(
    settings: Settings,
    sweeps: dict[str, Sweep],
    source: str,
    chosen: int | None,
    more: Mapping[str, Callable[[], Any]],
) -> None:
    """All points as CSV, the charts (those of the match are in `more`) as pictures."""
    points = points_of(sweeps.values())
    name = f"{settings.data}_{settings.fairness}_split{settings.seed}"
    styles = styles_of(sweeps)
    cuts = _cuts(settings, sweeps, source)
    figure = FAIRNESS_FIGURES[settings.fairness]
    heading = scene_in_words(settings)

    def whole() -> Any:
        frame, _ = _drawn(settings, sweeps, chosen)
        return plot_methods(frame, styles=styles, fairness_title=FAIRNESS_TITLES[figure])

    def parts() -> Any:
        frame, axes = _in_segments(settings, sweeps, cuts, chosen)
        return plot_segments(_on_axes(frame, axes), titles=_titles(cuts, settings), styles=styles, **axes)

    def picture(what: str, kind: Any) -> bytes:
        title = f"{heading}; {cuts.source}" if what == "Segments" else f"{what}: {heading}"
        return export_chart(charts[what]().properties(title=title), kind, width=None if what == "Segments" else 900)

    charts: dict[str, Callable[[], Any]] = {"Trade-off": whole, "Segments": parts, **more}

    with st.container(horizontal=True, gap="small"):
        csv = points.to_csv(index=False)
        st.download_button("Points as CSV", csv, f"{name}.csv", "text/csv", icon=":material/table:", on_click="ignore")
        for what in charts:
            for kind, mime in (("png", "image/png"), ("svg", "image/svg+xml")):
                st.download_button(
                    f"{what} as {kind.upper()}",
                    partial(picture, what, kind),
                    f"{name}_{what.lower().replace(' ', '_')}.{kind}",
                    mime,
                    icon=":material/image:",
                    on_click="ignore",
                )
    st.caption("The same on the command line:")
    st.code(
        f"python -m commod compare {settings.data} --fairness {settings.fairness} --base-model {settings.f} "
        f"--seed {settings.seed} --methods {','.join(sweeps)} --out points.csv",
        language=None,
        wrap_lines=True,
    )


def scene_in_words(settings: Settings) -> str:
    """Data, criterion, f and split in one line."""
    criterion = CRITERIA[settings.fairness].title
    f = base_models_of(settings.data)[settings.f].lower()
    return f"{load_task(settings.data).spec.title}, {criterion.lower()}, f: {f}, split {settings.seed}"


def methods_table() -> None:
    """The paper's overview of methods, with what runs here."""
    st.header("The methods")
    table = overview()
    runs = int((table["runs"] == "yes").sum())
    st.markdown(
        f"The paper's overview, live: {runs} of {len(table)} methods run here. One that *needs the group* must be told "
        "S for everyone it decides on; the others use it in training only."
    )
    short = {True: "yes", False: "–"}
    rows = [
        [
            row["method"],
            row["reference"],
            row["runs"],
            row["model_agnostic"],
            short[row["needs_sensitive"]],
            row["criteria"],
            short[row["minimises_changes"]],
            short[row["randomised"]],
            row["knob"] or "–",
            row["note"],
        ]
        for row in table.to_dict("records")
    ]
    names = (
        "Method, Reference, Runs here, Any model, Needs the group, Criterion, Minimises changes, Randomised, Knob, Note"
    )
    st.html(html_table(dict.fromkeys(names.split(", "), ""), rows, caption="Methods", text={1, 3, 9}))
