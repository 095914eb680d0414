"""The sections of the Explore page, in the order they are drawn. All take one `FitResult`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
import pyarrow as pa
import streamlit as st

from commod.charts import plot_changes, plot_contributions, plot_f1_by_depth, plot_pareto
from commod.charts.bars import ACCOUNTS
from commod.charts.pareto import CURRENT, DEPLOYED, PATH, SWEEP, TRIED
from commod.dashboard import compute, controls, layout, session
from commod.dashboard.drawing import draw
from commod.dashboard.glossary import tip
from commod.dashboard.markup import plain, tree_list
from commod.dashboard.results import FitResult
from commod.dashboard.settings import VIEWS, Settings, in_words
from commod.dashboard.tables import Table, fold
from commod.dashboard.work import Ticket
from commod.experiments.scene import FAIRNESS_FIGURES
from commod.explain import ChangeTree

__all__ = [
    "changes",
    "concepts",
    "current_model",
    "directions",
    "figures",
    "pareto",
    "shap",
    "train",
    "tree",
    "verdict",
]

POINTS = "All points as a table"
FAIRNESS_TITLES = {"p_rule": "P-Rule (1 is fair)", "dm": "Disparate mistreatment (0 is fair)"}


def train(settings: Settings, begun: FitResult | Ticket) -> FitResult | None:
    """The fit of `settings`, or, if it fails, one sentence and the last good one."""
    place = st.empty()
    first = session.last_good() is None
    if first:
        place.skeleton(height=600)
    try:
        result = compute.finish(begun, place)
    except ValueError as error:
        place.empty()
        st.error(f"This setting could not be trained: {plain(error)}", icon=":material/error:")
        return session.last_good()
    except Exception:
        place.empty()
        st.error(
            "Training failed for a reason of ours, not of yours. The last picture is kept; choose another setting.",
            icon=":material/error:",
        )
        return session.last_good()
    if first:
        place.empty()
    if not result.converged:
        st.warning(
            "The solver did not settle at this setting, so the model shown may be improved on. "
            "A larger λ_ratio or a smaller λ_fair helps.",
            icon=":material/warning:",
        )
    session.remember(settings, result.path.iloc[-1].to_dict(), result)
    return result


def current_model() -> FitResult:
    """The model of the sliders, with the sidebar beside it; the page ends here if there is none."""
    settings = session.current()
    begun = compute.begin(settings)
    controls.sidebar()
    controls.notices()
    result = train(settings, begun)
    if result is None:
        session.keep_link()
        st.stop()
    return result


def verdict(result: FitResult) -> str:
    """The picture in one sentence, honest about noise."""
    said: str = result.keep("verdict", lambda: _verdict(result))
    return said


def _verdict(result: FitResult) -> str:
    name = FAIRNESS_FIGURES[result.settings.fairness]
    title = "P-Rule" if name == "p_rule" else "disparate mistreatment"
    row, accuracy = result.figures.loc[name], result.figures.loc["accuracy"]
    changed, total = int(result.changed_test.sum()), len(result.changed_test)
    people = result.task.spec.people
    if changed == 0:
        return (
            f"No decision changes yet: the smallest ratio r among {total:,} {people} is {result.smallest_ratio:.2f}, "
            "and a decision changes where r falls below 0. Move λ_fair to the right."
        )
    gain = row["difference"] if name == "p_rule" else -row["difference"]
    if row["difference_low"] <= 0 <= row["difference_high"]:
        moved = f"moves from {row['f']:.2f} to {row['g']:.2f}, a difference that may be chance on {total:,} {people},"
    else:
        moved = f"{'improves' if gain > 0 else 'worsens'} from {row['f']:.2f} to {row['g']:.2f}"
    cost = 100 * accuracy["difference"]
    price = f"{abs(cost):.1f} points of accuracy {'lost' if cost < 0 else 'gained'}"
    (_, better), (_, worse) = directions(result)
    helped, harmed = int(result.changes[better].sum()), int(result.changes[worse].sum())
    return (
        f"{title[0].upper() + title[1:]} {moved} by changing {changed:,} of {total:,} decisions, with {price}: "
        f"{helped:,} {people} get the better decision, {harmed:,} the worse one."
    )


def figures(result: FitResult) -> None:
    """Accuracy, fairness, changes: value, difference to f, interval."""
    for cell, tile in zip(st.columns(4, gap="small"), result.keep("tiles", lambda: _tiles(result)), strict=True):
        cell.metric(**tile)
    st.caption(
        "On test. Below each figure: the difference to f (in grey where it may be chance, or is neither good nor bad), "
        "and in [ ] the figure's 95 % interval."
    )


def _tiles(result: FitResult) -> list[dict[str, Any]]:
    """What `metric` shows of a model."""
    figures = result.figures.to_dict("index")
    name = FAIRNESS_FIGURES[result.settings.fairness]
    fair, changed = figures[name], figures["change_rate"]
    better = "normal" if name == "p_rule" else "inverse"
    low, high = f"{1000 * changed['g_low']:.0f}", f"{1000 * changed['g_high']:.0f}"
    return [
        _tile("Accuracy", figures["accuracy"], "accuracy", percent=True),
        _tile("P-Rule" if name == "p_rule" else "Disparate mistreatment", fair, name, color=better),
        _tile("Decisions changed", changed, "change_rate", percent=True, color=None),
        {
            "label": "Changed per 1,000",
            "value": f"{1000 * changed['g']:.0f}",
            "delta": f"{1000 * changed['g']:+.0f}",
            "delta_color": "off",
            "delta_arrow": "off",
            "help": _with_interval("per_1000", low, high),
            "border": True,
            "delta_description": f"[{low}, {high}]",
        },
    ]


def _tile(
    label: str, row: Mapping[Any, float], name: str, *, percent: bool = False, color: Any = "normal"
) -> dict[str, Any]:
    """One tile; `color` says which direction is good, None that neither is."""

    def show(value: float, sign: str = "") -> str:
        return f"{value:{sign}.1%}" if percent else f"{value:{sign}.3f}"

    chance = row["difference_low"] <= 0 <= row["difference_high"]
    return {
        "label": label,
        "value": show(row["g"]),
        "delta": f"{100 * row['difference']:+.1f} points" if percent else show(row["difference"], "+"),
        "delta_color": "off" if chance or color is None else color,
        "delta_arrow": "off" if chance or color is None else "auto",
        "help": _with_interval(name, show(row["g_low"]), show(row["g_high"])),
        "border": True,
        "delta_description": f"[{show(row['g_low'])}, {show(row['g_high'])}]".replace("%", ""),
    }


def _with_interval(name: str, low: str, high: str) -> str:
    return f"{tip(name)} {tip('interval_of', low=low, high=high)}"


# Columns of the Pareto view.
_COLUMNS = {
    "kind": pa.string(),
    "fairness": pa.float64(),
    "accuracy": pa.float64(),
    "change_rate": pa.float64(),
    "settings": pa.string(),
    "id": pa.int64(),
    "order": pa.float64(),
    "line": pa.string(),
}


FIGURES = ("accuracy", "change_rate")


def _values(frame: pd.DataFrame, *columns: str) -> Iterator[tuple[Any, ...]]:
    """Rows of some columns; for a few rows pandas' own ways take milliseconds."""
    return zip(*(frame[column].tolist() for column in columns), strict=True)


def _rows(rows: list[tuple[Any, ...]]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else [()] * len(_COLUMNS)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, _COLUMNS.values(), strict=True)]
    return pa.Table.from_arrays(arrays, names=list(_COLUMNS))


def _points(result: FitResult, sweep: pd.DataFrame | None) -> tuple[pa.Table, list[Settings]]:
    """Rows of the Pareto view, and the settings behind the points tried before (their ``id`` is the place)."""
    here = result.settings
    # k is a reading of the model, not another model: one point for all of them.
    models = {replace(s, k=here.k): s for s in session.tried() if s.scene() == here.scene()}
    known = [s for model, s in models.items() if model != here]
    behind, above = result.keep(f"points_{sweep is not None}", lambda: _fixed_points(result, sweep))
    rows = []
    for i, s in enumerate(known):
        shown = session.tried()[s]
        rows.append((TRIED, shown["fairness"], shown["accuracy"], shown["change_rate"], in_words(s), i, 0, ""))
    return pa.concat_tables([behind, _rows(rows), above]).combine_chunks(), known


def _fixed_points(result: FitResult, sweep: pd.DataFrame | None) -> tuple[pa.Table, pa.Table]:
    """Rows that are the same for all sessions, behind the points tried before and above them."""
    here = result.settings
    behind: list[tuple[Any, ...]] = []
    if sweep is not None:
        for *shown, best in _values(sweep, FAIRNESS_FIGURES[here.fairness], *FIGURES, "settings", "best"):
            behind.append((SWEEP, *shown, -1, shown[0], "frontier" if best else ""))
    path = list(_values(result.path, "fairness", *FIGURES, "lambda_fair"))
    for *shown, value in path:
        behind.append((PATH, *shown, in_words(replace(here, lambda_fair=value)), -1, value, "path"))
    above = [(CURRENT, *path[-1][:3], in_words(here), -1, 0, ""), (DEPLOYED, *path[0][:3], "unchanged", -1, 0, "")]
    return _rows(behind), _rows(above)


def pareto(result: FitResult) -> Any:
    """Fairness and accuracy of everything tried; returns what waits for the sweep, to be called last."""
    st.header("What fairness costs")
    view = st.segmented_control(
        "View of the trade-off",
        list(VIEWS),
        format_func=VIEWS.__getitem__,
        key=session.widget_key("view"),
        on_change=session.change,
        args=("view",),
        label_visibility="collapsed",
    )
    place = st.empty()
    settings = result.settings

    def paint(sweep: pd.DataFrame | None) -> None:
        frame, known = _points(result, sweep)
        name = FAIRNESS_FIGURES[settings.fairness]

        def clicked() -> None:
            picked = st.session_state["pareto"]["selection"].get("pick") or []
            place_of = int(picked[0]["id"]) if picked else -1
            if 0 <= place_of < len(known):
                _go_back(known[place_of])

        draw(
            plot_pareto,
            frame,
            alt="Trade-off of fairness, accuracy and changes: f, this setting and others tried.",
            table=POINTS,
            place=place,
            key="pareto",
            on_select=clicked,
            view=view or session.current().view,
            fairness_title=FAIRNESS_TITLES[name],
        )

    sweep = compute.known_frontier(settings)
    paint(sweep)
    squares = (
        " Click a square to go back to that setting, or choose it with the table." if len(session.tried()) > 1 else ""
    )
    grey = "Grey: a sweep over λ_fair and λ_ratio, its frontier as a line."
    st.caption((grey if sweep is not None else "A sweep over λ_fair and λ_ratio is being computed …") + squares)
    table = st.empty()

    def finish() -> None:
        if sweep is None:
            compute.wait_for_frontier(settings)
            st.rerun()  # all the rest is in the cache by now
        columns = {
            "kind": ("Model", ""),
            "settings": ("Setting", ""),
            "fairness": (FAIRNESS_TITLES[FAIRNESS_FIGURES[settings.fairness]], ".3f"),
            "accuracy": ("Accuracy on test", ".1%"),
            "change_rate": ("Decisions changed", ".1%"),
        }
        points = Table(POINTS, "points_table", columns, lambda: _points(result, sweep)[0].to_pandas().iloc[::-1])
        fold(points, result.path, place=table, above=lambda: _choose_tried(_points(result, sweep)[1]))

    return finish


def _go_back(there: Settings) -> None:
    session.go_to(replace(there, depth=session.current().depth, view=session.current().view))


def _choose_tried(known: list[Settings]) -> None:
    """What a click on a square does, for the keyboard."""

    def take() -> None:
        there = st.session_state["tried_before"]
        st.session_state["tried_before"] = None
        if there is not None:
            _go_back(there)

    if known:
        st.selectbox(
            "Go back to a setting tried before",
            known[::-1],
            index=None,
            format_func=in_words,
            key="tried_before",
            on_change=take,
            placeholder="Choose one",
        )


def changes(result: FitResult) -> None:
    """Who moved, in which direction."""
    st.header("Whose decisions change")
    better, worse = directions(result)
    data, words = result.keep("changes", lambda: _changes_of(result))
    draw(
        plot_changes,
        data,
        alt="Decisions changed by group and direction.",
        table=_changes_table(result),
        caption=f"On test. {words}.",
        better=better[0],
        worse=worse[0],
    )


def _changes_of(result: FitResult) -> tuple[pa.Table, str]:
    """Rows of the chart of the changes, and the same in words."""
    better, worse = directions(result)
    rows: dict[str, list[Any]] = {"group": [], "rank": [], "direction": [], "count": [], "share": [], "place": []}
    words = []
    for rank, (code, row) in enumerate(result.changes.to_dict("index").items()):
        name = result.task.groups[int(code)]
        group = f"{name}|{row['changed']:,.0f} of {row['count']:,.0f}"
        for place, (label, part) in enumerate((better, worse)):
            cells = (group, rank, label, int(row[part]), row[f"{part}_rate"], place)
            for column, cell in zip(rows.values(), cells, strict=True):
                column.append(cell)
        words.append(
            f"{plain(name)}: {row[better[1]]:,.0f} better off, {row[worse[1]]:,.0f} worse off, of {row['count']:,.0f}"
        )
    return pa.table(rows), "; ".join(words)


def _changes_table(result: FitResult) -> Table:
    columns = {
        "group": ("Group", ""),
        "direction": ("Changed", ""),
        "people": ("People", ","),
        "share": ("Of group", ".1%"),
    }

    def frame() -> pd.DataFrame:
        rows = [
            (result.task.groups[int(code)], label, int(row[part]), row[f"{part}_rate"])
            for code, row in result.changes.iterrows()
            for label, part in directions(result)
        ]
        return pd.DataFrame(rows, columns=list(columns))

    return Table("Changes by group as a table", "changes_table", columns, frame)


def directions(result: FitResult) -> tuple[tuple[str, str], tuple[str, str]]:
    """Words and column of the changes that favour a person, and of those that do not."""
    spec = result.task.spec
    names = ("lowered", "raised")
    good, bad = spec.favourable, 1 - spec.favourable
    return (
        (f"better: now “{spec.outcomes[good]}”", names[good]),
        (f"worse: now “{spec.outcomes[bad]}”", names[bad]),
    )


def concepts(result: FitResult) -> None:
    """The concepts behind r."""
    st.header("Why: the concepts behind the change")
    st.caption(
        f"r(x) = {result.g.intercept_:.2f} plus, for each concept, its weight times how much a person shows of it. "
        "The score of f is multiplied by r; below 0 the decision changes. A concept “takes back” a decision by "
        "lowering r. k only decides how finely the same model is read."
    )
    st.html(result.cards)


def tree(result: FitResult, depth: int) -> None:
    """Where decisions changed, as questions."""
    st.header("Where: a tree of the changes")
    if not result.changed_train.any():
        st.info("No decision changes at this setting, so there is nothing for a tree to find.", icon=":material/info:")
        return
    found = compute.tree(result, depth)
    with layout.one_by_one():
        wide, narrow = st.columns([3, 2], gap="large")
        with wide:
            controls.slider("depth")
            st.html(tree_of(result, found, depth))
        with narrow:
            st.metric("F1 of the tree on test", f"{found.f1:.2f}", help=tip("f1"))
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


def _accounts(features: pd.DataFrame) -> pa.Table:
    """Rows of the chart of both accounts."""
    columns = features.to_dict("list")
    n, none = len(features), [0.0] * len(features)
    return pa.table(
        {
            "label": columns["label"] * 2,
            "rank": [*range(n)] * 2,
            "account": [ACCOUNTS[0]] * n + [ACCOUNTS[1]] * n,
            "value": columns["commod"] + columns["shap"],
            "low": none + columns["shap_low"],
            "high": none + columns["shap_high"],
        }
    )


def shap(result: FitResult) -> None:
    """SHAP beside COMMOD's own account; loads last."""
    st.header("Post hoc or built in: SHAP beside COMMOD")
    if not result.keep("attributes", lambda: bool(result.loadings["loading"].any())):
        st.info("The score does not change at this setting, so there is nothing to attribute.", icon=":material/info:")
        return
    place = st.empty()
    skeleton = st.empty()
    skeleton.skeleton(height=320)
    comparison = compute.shap(result, place)
    with layout.one_by_one():
        skeleton.empty()
        features = comparison.features
        frame = _accounts(features)
        wide, narrow = st.columns([3, 2], gap="large")
        with wide:
            columns = {
                "label": ("Feature", ""),
                "commod": ("COMMOD's own (logit)", ".3f"),
                "shap": ("SHAP (logit)", ".3f"),
                "shap_low": ("SHAP, least of its redraws", ".3f"),
                "shap_high": ("SHAP, most", ".3f"),
            }
            draw(
                plot_contributions,
                frame,
                alt="Mean contribution to the change in score by feature.",
                table=Table("Contributions as a table", "contributions_table", columns, lambda: features),
            )
        with narrow:
            st.metric(
                "Rank agreement of the two",
                f"{comparison.agreement:.2f}",
                help=tip("agreement"),
            )
            st.metric(
                "SHAP's top five that stay",
                f"{comparison.top_kept:.0%}",
                help=f"{tip('top_kept')} "
                + tip("redrawn", background=comparison.background, redraws=comparison.redraws),
            )
            faster = comparison.shap_seconds / max(comparison.commod_seconds, 1e-9)
            st.markdown(
                f"SHAP took **{comparison.shap_seconds * 1e3:,.0f} ms** for {comparison.rows} people, COMMOD's own "
                f"account **{comparison.commod_seconds * 1e3:,.0f} ms** ({faster:,.0f} times less): it is read from "
                "the model."
            )
            st.caption("Thin lines: how far SHAP's bar moves when its background sample is redrawn.")
