"""Table 1 of the paper, recomputed: change rates by cell beside the printed ones, f, and the models behind it."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from commod.charts import plot_methods
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import html_legend, html_table
from commod.dashboard.views.chart import Table, draw
from commod.dashboard.views.methods import label_of, styles_of
from commod.dashboard.views.points import as_rows, draw_cells, point_columns
from commod.datasets import TASKS
from commod.experiments.paper import LEAST_SPLITS, TABLE1_ROWS, table1
from commod.experiments.paper_numbers import BLACK_BOX, FIGURE2, METHOD_ROWS, TABLE1_CELLS
from commod.experiments.results import read_result, results_directory
from commod.experiments.segments import PAPER_SEGMENTS, Segments, in_segments, mark_fewest, quartiles_of
from commod.experiments.sweep import as_points
from commod.experiments.winners import Claim, Place, claims_of
from commod.metrics.figures import CRITERIA
from commod.uploads.limits import count_of
from commod.wording import with_capital


@lru_cache(maxsize=16)
def read(name: str) -> tuple[pd.DataFrame, dict[str, Any]]:
    """A result and how it was made."""
    return read_result(results_directory() / f"{name}.parquet")


def result(name: str, data: str = "") -> pd.DataFrame | None:
    """A result (that has models of a data set), or None and a sentence that says how to make it."""
    try:
        frame = read(name)[0]
    except ValueError as error:
        st.warning(str(error), icon=":material/warning:")
        return None
    if data and data not in set(frame["dataset"]):
        st.warning(
            f"{name}.parquet was made without {TASKS[data].title}: make it with 'python -m commod paper {name}'.",
            icon=":material/warning:",
        )
        return None
    return frame


def versions_in_words() -> str:
    """How the results were made."""
    try:
        about = read("table1")[1]
    except ValueError:
        return ""
    packages = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    return f"{about['splits']} splits; Python {about['python']}, {packages}."


OWN_QUARTILES = "quartiles of our own AdvDebias"
MARKS = {"better": "\u00a0▼", "equal": "\u00a0=", "worse": "\u00a0▲", "too few splits": ""}
# Behind a method that the paper's Table 1 does not have; † has another meaning in the names of methods.
ADDED = " *"


@lru_cache(maxsize=16)
def _cells(data: str, criterion: str, segments: Segments) -> pd.DataFrame:
    return mark_fewest(table1(read("table1")[0], data, criterion, segments))


def draw_table1(models: pd.DataFrame, data: str, criterion: str) -> None:
    """Change rates by cell, beside the printed ones, and the models."""
    here = models[(models["dataset"] == data) & (models["fairness"] == criterion)]
    definitions = {cuts.source: cuts for cuts in PAPER_SEGMENTS[data, criterion]}
    definitions[OWN_QUARTILES] = quartiles_of(here[here["method"] == "adv_debias"], criterion, OWN_QUARTILES)
    body = st.container()
    with st.expander("f, and where the cells are cut"):
        source = st.selectbox("Cut at", list(definitions), key=f"paper_segments_{data}_{criterion}")
        _cuts_and_f(here, data, criterion, list(definitions.values()))
    with body:
        cells = _cells(data, criterion, definitions[source])
        # The paper prints its main definition.
        _draw_cells(cells if source == next(iter(definitions)) else cells.assign(printed=np.nan))
    _pictures(here[here["error"] == ""], criterion, definitions[source])


def claims_at(cells: pd.DataFrame) -> list[Claim]:
    """What can be claimed of the cells that are shown."""
    return [claim for claim in claims_of(cells) if claim.place in _places(cells)]


def _places(cells: pd.DataFrame) -> list[Place]:
    """Those that the paper prints, of demographic parity only; all where it prints none."""
    if cells["printed"].notna().any():
        return list(TABLE1_CELLS)
    return sorted({*zip(cells["fairness_q"], cells["accuracy_q"], strict=True)})


def _draw_cells(cells: pd.DataFrame) -> None:
    rows = [name for name in TABLE1_ROWS if name in set(cells["method"])]
    if cells["printed"].notna().any():
        st.markdown(_verdict(cells))

    def words(cell: Mapping[Any, Any]) -> str:
        splits = count_of(cell["splits"], "split").replace(" ", "\u00a0")
        if cell["splits"] >= LEAST_SPLITS:
            splits = f"[{cell['low']:.0%},\u00a0{cell['high']:.0%}] of\u00a0{splits}"
        text = f"{cell['change_rate']:.1%}\n{splits}"
        if pd.notna(cell["printed"]):
            text += f"\npaper\u00a0{cell['printed']:.0%}{MARKS[cell['verdict']]}"
        return text

    added = f"{ADDED.strip()} Not in the paper's table. " if set(rows) - set(METHOD_ROWS) else ""
    draw_cells(
        cells,
        rows,
        {place: "Fairness Q{}, accuracy Q{}".format(*place) for place in _places(cells)},
        words,
        caption="Change rates",
        label=lambda name: label_of(name) + ("" if name in METHOD_ROWS else ADDED),
    )
    st.caption(tip("table1_how", least=LEAST_SPLITS, added=added))


def _verdict(cells: pd.DataFrame) -> str:
    """How COMMOD does against the print, as the table says it cell by cell."""
    known = cells[(cells["method"] == "commod") & cells["printed"].notna()]
    said = known["verdict"].value_counts()
    counts = {name: int(said.get(name, 0)) for name in MARKS}
    missing = len(TABLE1_CELLS) - len(known)
    return (
        f"**COMMOD, ours and printed**, in {len(TABLE1_CELLS)} cells: **{counts['better']} better** (fewer changes), "
        f"**{counts['equal']} equal** (the printed number lies in our interval), **{counts['worse']} worse**"
        + (f", {counts['too few splits']} with too few splits to tell" * (counts["too few splits"] > 0))
        + (f", {missing} without a model of ours" * (missing > 0))
        + "."
    )


def _cuts_and_f(models: pd.DataFrame, data: str, criterion: str, definitions: list[Segments]) -> None:
    """Where the segments are cut, and f: the printed ones and ours."""
    figure = CRITERIA[criterion].figure
    fair, accurate = BLACK_BOX[data, criterion]
    rows = [["f, printed in App. C.4 and C.5", f"{fair:.4f}", f"{accurate:.2%}"]]
    if (data, criterion) == ("compas", "demographic_parity"):
        rows.append(["f, printed in Section 6.3", f"{FIGURE2['p_rule_f']:.2f}", f"{FIGURE2['accuracy_f']:.0%}"])
    of_f = models[models["change_rate"] == 0].drop_duplicates("split")  # what changes nobody has the figures of f
    rows.append([f"f, ours: mean of {len(of_f)} splits, least and most"])
    for name, form in ((figure.name, ".4f"), ("accuracy", ".2%")):
        mean, least, most = (f"{value:{form}}" for value in of_f[name].agg(["mean", "min", "max"]))
        rows[-1].append(f"{mean}\n[{least}, {most}]")
    for cuts in definitions:
        fairness, accuracy = (f"{cut:.4f}" for cut in cuts.fairness), (f"{cut:.2%}" for cut in cuts.accuracy)
        rows.append([with_capital(cuts.source), ", ".join(fairness), ", ".join(accuracy)])
    st.html(html_table(("What", figure.axis_title, "Accuracy"), rows, caption="f, and where the cells are cut"))


def _pictures(models: pd.DataFrame, criterion: str, cuts: Segments) -> None:
    figure = CRITERIA[criterion].figure
    frame = as_rows(as_points(models), criterion, "split").assign(id=-1, chosen=False)
    styles = styles_of(set(models["method"]))
    columns = point_columns(criterion, label="Method", split="Split", settings="Setting")
    with st.expander("Figure 7: fairness against accuracy"):
        st.markdown("A point is a model on one split. Bold: no model of its method is both fairer and more accurate.")
        st.html(html_legend(styles))
        draw(
            plot_methods,
            frame,
            alt="Accuracy against fairness of every model on every split.",
            table=Table("Models of Figure 7 as a table", "figure7_table", columns),
            styles=styles,
            strong=label_of("commod"),
            fairness_title=figure.axis_title,
            upward=CRITERIA[criterion].upward,
        )
    with st.expander("Figure 1: changes at equal fairness"):
        st.markdown("A picture holds models of about equal fairness. Low and to the right is best.")
        st.html(html_legend(styles))
        frame = in_segments(frame, cuts, criterion)
        low, high = frame["accuracy"].quantile([0.02, 1.0])
        places = [*st.columns(2, gap="medium"), *st.columns(2, gap="medium")]
        for q, (place, title) in enumerate(zip(places, cuts.titles(criterion), strict=True), start=1):
            part = frame[(frame["fairness_q"] == q) & (frame["accuracy"] >= low)].assign(best=True)
            place.markdown(f"**{title}**")
            if part.empty:
                place.caption("No model lands here.")
                continue
            with place:
                draw(
                    plot_methods,
                    part,
                    alt=f"Decisions changed against accuracy in fairness Q{q}.",
                    table=Table(f"Models of Figure 1, Q{q} as a table", f"figure1_q{q}_table", columns),
                    axes=("accuracy", "change_rate"),
                    styles=styles,
                    strong=label_of("commod"),
                    most_changes=float(np.ceil(frame["change_rate"].max() * 20) / 20),
                    accuracy_range=(float(np.floor(low * 50) / 50), float(np.ceil(high * 50) / 50)),
                    lines=False,
                    fairness_title=figure.axis_title,
                    height=250,
                )
