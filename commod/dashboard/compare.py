"""The sections of the Compare page that show all methods at once; the match of single models is in `matching`."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from commod.charts import export_chart, plot_methods, plot_segments
from commod.charts.compare import DEPLOYED
from commod.dashboard import compute
from commod.dashboard.drawing import draw
from commod.dashboard.explore import FAIRNESS_TITLES
from commod.dashboard.markup import table_of
from commod.dashboard.settings import Settings
from commod.dashboard.sweeps import label_of, state, styles_of
from commod.experiments import Sweep, points_of
from commod.experiments.scene import FAIRNESS_FIGURES
from commod.experiments.segments import PAPER_SEGMENTS, Segments, cell_table, in_segments, quartiles_of
from commod.explain.concepts import in_percent
from commod.metrics.pareto import undominated
from commod.models.competitors import METHODS, overview

__all__ = ["downloads", "methods_table", "read_out", "segments", "tradeoff"]


# ---- the trade-off ----


def _frame(settings: Settings, sweeps: dict[str, Sweep]) -> pd.DataFrame:
    """Points of the charts: all models, f itself, and which COMMOD model is chosen."""
    points = points_of(sweeps.values())
    place = points.groupby("method").cumcount()
    chosen = state().chosen
    figure = FAIRNESS_FIGURES[settings.fairness]
    frame = pd.DataFrame(
        {
            "label": points["method"].map(label_of),
            "method": points["method"],
            "fairness": points[figure],
            "p_rule": points["p_rule"],
            "dm": points["dm"],
            "accuracy": points["accuracy"],
            "change_rate": points["change_rate"],
            "settings": points["settings"],
            "best": points["best"],
            "id": np.where(points["method"] == "commod", place, -1),
        }
    )
    frame["chosen"] = (frame["id"] >= 0) & (frame["id"] == (-1 if chosen is None else chosen))
    return frame


def _deployed(settings: Settings) -> pd.DataFrame:
    figures = compute.figures_of_base(settings)
    row = {"label": DEPLOYED, "fairness": figures[FAIRNESS_FIGURES[settings.fairness]], "settings": "unchanged"}
    row |= {"accuracy": figures["accuracy"], "change_rate": 0.0, "best": True, "chosen": False, "id": -1}
    return pd.DataFrame([row])


def tradeoff(settings: Settings, sweeps: dict[str, Sweep], place: Any, *, final: bool) -> None:
    """Accuracy against fairness; once all is there, a click on a COMMOD point chooses it for the match."""

    def choose() -> None:
        picked = st.session_state["methods_chart"]["selection"].get("pick") or []
        if picked and int(picked[0]["id"]) >= 0:
            state().chosen = int(picked[0]["id"])

    selection: dict[str, Any] = {"key": "methods_chart", "on_select": choose} if final else {}
    draw(
        plot_methods,
        pd.concat([_frame(settings, sweeps), _deployed(settings)], ignore_index=True),
        alt="Accuracy against fairness of every model of every method. Values in the table.",
        place=place,
        styles=styles_of(sweeps),
        fairness_title=FAIRNESS_TITLES[FAIRNESS_FIGURES[settings.fairness]],
        **selection,
    )


def read_out(settings: Settings, sweeps: dict[str, Sweep]) -> str:
    """The picture in words, at one level of fairness: who is most accurate, who changes least."""
    figure = FAIRNESS_FIGURES[settings.fairness]
    start = compute.figures_of_base(settings)[figure]
    points = points_of(sweeps.values())
    points = points[~points["needs_sensitive"]]
    if figure == "p_rule":
        level = 0.8 if start < 0.75 else 0.5 * (1.0 + start)
        fair, words = points[points[figure] >= level], f"a P-Rule of {level:.2f} or more"
    else:
        level = 0.5 * start
        fair, words = points[points[figure] <= level], f"half the mistreatment of f ({level:.2f}) or less"
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


def _definitions(settings: Settings, sweeps: dict[str, Sweep]) -> dict[str, Segments]:
    """Segments one can choose from, the paper's first."""
    known = list(PAPER_SEGMENTS.get((settings.data, settings.fairness), []))
    if "adv_debias" in sweeps:
        known.append(quartiles_of(sweeps["adv_debias"].points, settings.fairness, "quartiles of AdvDebias here"))
    known.append(quartiles_of(points_of(sweeps.values()), settings.fairness, "quartiles of all models drawn"))
    return {segments.source: segments for segments in known}


def segments(settings: Settings, sweeps: dict[str, Sweep], place: Any, *, final: bool) -> None:
    """Changes against accuracy, one picture for each segment of fairness, and their means as a table."""
    definitions = _definitions(settings, sweeps)
    with place.container():
        source = next(iter(definitions))
        if final:
            source = st.selectbox("Segments of fairness", list(definitions), key=f"segments_{settings.scene()}")
        cuts = definitions[source]
        frame = in_segments(_frame(settings, sweeps), cuts, settings.fairness)
        titles = _titles(cuts, settings)
        most = _end_of_axis(frame["change_rate"].max())
        rows = [st.columns(2, gap="medium"), st.columns(2, gap="medium")]
        for q, title in enumerate(titles, start=1):
            here = frame[frame["fairness_q"] == q]
            here = here.assign(best=_few_changes(here))
            with rows[(q - 1) // 2][(q - 1) % 2]:
                st.markdown(f"**{title}**")
                if here.empty:
                    st.caption("No model lands here.")
                    continue
                draw(
                    plot_methods,
                    here,
                    alt=f"Decisions changed against accuracy in fairness segment {q}. Values in the table.",
                    styles=styles_of(sweeps),
                    view="changes",
                    fairness_title=FAIRNESS_TITLES[FAIRNESS_FIGURES[settings.fairness]],
                    most_changes=most,
                    legend=False,
                    height=250,
                )
        _cells(frame, sweeps, cuts)


def _titles(cuts: Segments, settings: Settings) -> tuple[str, ...]:
    name = "P-Rule" if settings.fairness == "demographic_parity" else "Mistreatment"
    words = {1: ", least fair", 4: ", fairest"}
    return tuple(f"Q{q}{words.get(q, '')}: {name} {cuts.fairness_range(q, settings.fairness)}" for q in range(1, 5))


def _end_of_axis(most: float) -> float:
    return float(np.ceil(max(most, 0.05) * 20) / 20)


def _few_changes(frame: pd.DataFrame) -> pd.Series:
    """Which points no other of the same method beats in changes or accuracy."""
    best = pd.Series(False, index=frame.index)
    for _, rows in frame.groupby("method"):
        best[rows.index] = undominated(-rows["change_rate"], rows["accuracy"])
    return best


def _cells(frame: pd.DataFrame, sweeps: dict[str, Sweep], cuts: Segments) -> None:
    cells = cell_table(frame)
    cells["cell"] = "Q" + cells["fairness_q"].astype(str) + " fair, Q" + cells["accuracy_q"].astype(str) + " acc."
    order = cells.sort_values(["fairness_q", "accuracy_q"])["cell"].unique()
    table = cells.pivot_table(index="method", columns="cell", values="change_rate")[order]
    table = table.reindex([name for name in METHODS if name in sweeps])
    blind = [name for name in table.index if not METHODS[name].needs_sensitive]
    lowest = table.loc[blind].min()
    rivals = [name for name in blind if name != "commod"]
    if "commod" in blind and rivals:
        shared = table.loc["commod"].notna() & table.loc[rivals].notna().any()
        ahead = int((table.loc["commod", shared] <= lowest[shared]).sum())
        st.markdown(
            "Mean share of decisions changed by segment of fairness and accuracy (the paper's Table 1, this split). "
            f"COMMOD changes fewest, among the methods that need no group at predict, in **{ahead} of "
            f"{int(shared.sum())}** cells that it shares with another."
        )
    rows = [
        [label_of(str(name)), *("–" if np.isnan(value) else in_percent(value) for value in row)]
        for name, row in zip(table.index, table.to_numpy(), strict=True)
    ]
    marked = {
        (i, j + 1)
        for i, name in enumerate(table.index)
        for j, cell in enumerate(table.columns)
        if name in blind and table.loc[name, cell] == lowest[cell]
    }
    st.html(table_of({"Method": "", **dict.fromkeys(order, "")}, rows, caption="Mean change rates", marked=marked))
    accuracy = ", ".join(f"{cut:.1%}" for cut in cuts.accuracy)
    st.caption(
        f"Shaded: fewest changes among methods that do not need the group. Accuracy is cut at {accuracy}. "
        "A dash: no model there."
    )


# ---- take away ----


def downloads(settings: Settings, sweeps: dict[str, Sweep]) -> None:
    """All points as CSV, the charts as pictures, the points as a table."""
    points = points_of(sweeps.values())
    name = f"{settings.data}_{settings.fairness}_split{settings.seed}"
    styles = styles_of(sweeps)
    cuts = next(iter(_definitions(settings, sweeps).values()))
    title = FAIRNESS_TITLES[FAIRNESS_FIGURES[settings.fairness]]

    def whole(kind: Any) -> bytes:
        frame = pd.concat([_frame(settings, sweeps), _deployed(settings)], ignore_index=True)
        return export_chart(plot_methods(frame, styles=styles, fairness_title=title), kind)

    def parts(kind: Any) -> bytes:
        frame = in_segments(_frame(settings, sweeps), cuts, settings.fairness)
        most = _end_of_axis(frame["change_rate"].max())
        chart = plot_segments(frame, titles=_titles(cuts, settings), styles=styles, most_changes=most)
        return export_chart(chart, kind, width=None)

    with st.container(horizontal=True, gap="small"):
        st.download_button(
            "Points as CSV",
            points.to_csv(index=False),
            f"{name}.csv",
            "text/csv",
            icon=":material/table:",
            on_click="ignore",
        )
        for what, make in (("Trade-off", whole), ("Segments", parts)):
            for kind, mime in (("png", "image/png"), ("svg", "image/svg+xml")):
                st.download_button(
                    f"{what} as {kind.upper()}",
                    partial(make, kind),
                    f"{name}_{what.lower()}.{kind}",
                    mime,
                    icon=":material/image:",
                    on_click="ignore",
                )
    with st.expander("All points as a table", key="compare_points", on_change="rerun") as opened:
        if opened.open:
            st.dataframe(points.drop(columns=["method", "dataset", "base_model", "split", "fairness"]), hide_index=True)
    st.caption(
        f"The same on the command line: `python -m commod compare {settings.data} --fairness {settings.fairness} "
        f"--base-model {settings.f} --seed {settings.seed} --methods {','.join(sweeps)} --out points.csv`"
    )


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
    st.html(table_of(dict.fromkeys(names.split(", "), ""), rows, caption="Methods", text={1, 3, 9}))
