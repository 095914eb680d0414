"""Where decisions changed, as a tree of questions."""

import pyarrow as pa
import streamlit as st

from commod.charts import plot_f1_by_depth
from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.wait import deferred_paint, result_of
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.text.html import tree_list
from commod.dashboard.views import controls
from commod.dashboard.views.chart import draw
from commod.dashboard.views.table import Table
from commod.dashboard.views.words import say, say_declared, say_in_html, tip
from commod.explain import ChangeTree


def draw_tree(result: FitResult, depth: int) -> None:
    """Where decisions changed, as questions."""
    st.header(say_declared("Where: a tree of the changes"))
    if not result.changed_train.any():
        st.info(say("tree.nothing"), icon=":material/info:")
        return
    found = result_of(tasks.tree(result, depth))
    with deferred_paint():
        wide, narrow = st.columns([3, 2], gap="large")
        with wide:
            controls.control("depth")
            st.html(say_in_html(tree_of(result, found, depth)))
        with narrow:
            st.metric(say_declared("F1 of the tree on test"), say_declared(f"{found.f1:.2f}"), help=tip("f1"))
            frame = result.keep(f"f1_{depth}", lambda: _depths(found, depth))
            why = " No leaf is mostly “changed”: allow more questions." if found.f1 == 0 else ""
            columns = {"depth": ("Depth (questions)", ""), "f1": ("F1 on test", ".3f"), "leaves": ("Leaves", ",")}
            draw(
                plot_f1_by_depth,
                frame,
                alt="F1 of the tree by its depth.",
                table=Table("F1 by depth as a table", "depths_table", columns),
                caption="Learnt on the training part, counted on test. A high F1 with few questions means that the "
                f"changes are easy to describe.{why}",
            )


def tree_of(result: FitResult, found: ChangeTree, depth: int) -> str:
    """The tree as HTML."""
    made: str = result.keep(f"tree_{depth}", lambda: tree_list(found))
    return made


def _depths(found: ChangeTree, depth: int) -> pa.Table:
    """Rows of the chart of F1 by depth."""
    columns = found.f1_by_depth.to_dict("list")
    return pa.table(columns | {"shown": [tried == depth for tried in columns["depth"]]})
