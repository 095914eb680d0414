"""What pages explain about a model: whose decisions change, why, where, whether rightly, and SHAP's account."""

from dataclasses import replace
from typing import Any

import pandas as pd
import pyarrow as pa
import streamlit as st
from markupsafe import Markup

from commod.charts import plot_changes, plot_contributions
from commod.charts.people import ACCOUNTS, CHANGED, EVERYONE, RIGHT_BEFORE, RIGHT_NOW, plot_certainty, plot_record
from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.queue import Ticket
from commod.dashboard.jobs.service import Pending, deferred_paint, draw_pending, in_line, ready_in, result_of, submit
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.state import session
from commod.dashboard.state.page_state import PageState, mirrored
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.html import concept_cards, html_table, tree_list
from commod.dashboard.text.verdicts import changes_by_direction, directions
from commod.dashboard.views import controls
from commod.dashboard.views.chart import Table, draw
from commod.dashboard.views.words import say, say_declared, say_in_html, tip
from commod.experiments.biased import disadvantaged, figures_if_missed, scene_in_truth, shares_to_ask
from commod.explain import ChangeTree, ShapComparison
from commod.explain.checks import explain_certainty
from commod.explain.concepts import form_in_words, formula_in_words, guess_in_words
from commod.metrics.figures import FIGURES

CHANGES = Table(
    "Changes by group as a table",
    "changes_table",
    {"name": ("Group", ""), "direction": ("Changed", ""), "count": ("People", ","), "share": ("Of group", ".1%")},
)


def draw_changes(result: FitResult) -> None:
    """Who moved, in which direction."""
    st.header(say_declared("Whose decisions change"))
    (better, _), (worse, _) = directions(result.task.spec)
    where = "The most changed group first; behind each name" if result.has_many_groups else "Below each group"
    draw(
        plot_changes,
        result.keep(f"changes_{session.language()}", lambda: _changes_of(result)),
        alt="Decisions changed by group and direction.",
        table=CHANGES,
        caption=f"On test. {where}: people changed, of all in the group.",
        better=say_declared(better),
        worse=say_declared(worse),
        many=result.has_many_groups,
    )


def _changes_of(result: FitResult) -> pa.Table:
    """Rows of the chart of the changes."""
    rows = changes_by_direction(result.task.spec, result.changes)
    return pa.Table.from_pylist(
        [row | {name: say_declared(row[name]) for name in ("name", "group", "direction")} for row in rows]
    )


def draw_concepts(result: FitResult) -> None:
    """How g decides, its concepts, and how well they guess the group."""
    outcomes = result.task.spec.outcomes
    formula = formula_in_words(result.g, outcomes, result.line_in_words)
    sentence = f"{formula} k only decides how finely the same model is read."
    st.header(say_declared("Why: the concepts behind the change"), help=escape_markdown(say_declared(sentence)))
    text = f"{result.acts_only} {form_in_words(result.g, outcomes)}".strip()
    st.markdown(escape_markdown(say_declared(text)))
    st.html(say_in_html(cached_cards(result)))
    if sentence := guess_in_words(result.concepts):
        st.caption(escape_markdown(say_declared(sentence)))


def cached_cards(result: FitResult) -> Markup:
    """A card for each concept."""
    return result.keep("cards", lambda: concept_cards(result.loadings, result.concepts))


_RECORD = Table(
    "By the record, as a table",
    "record_table",
    {
        "group": ("Group", ""),
        "direction": ("Changed", ""),
        "count": ("People", ","),
        "right": ("g right by the record", ","),
        "wrong": ("f was right", ","),
        "share": ("Rightly changed", ".1%"),
        "low": ("95 % from", ".1%"),
        "high": ("to", ".1%"),
        "expected": ("Expected by f", ".1%"),
    },
)
_CERTAINTY = Table(
    "How sure f was, as a table",
    "certainty_table",
    {
        "class": ("f was sure (%)", ""),
        "everyone": ("Everyone (people)", ","),
        "share_everyone": ("Share", ".1%"),
        "changed": ("Changed (people)", ","),
        "share_changed": ("Share of the changed", ".1%"),
    },
)


def draw_record(result: FitResult) -> None:
    """Changed people by group and direction, and whether the record agrees with g or with f."""
    (better, _), (worse, _) = directions(result.task.spec)
    words = {True: better, False: worse}
    named = result.record["group"].map(say_declared)
    frame = result.record.assign(group=named, direction=result.record["better"].map(words).map(say_declared))
    shown = frame[frame["count"] > 0].reset_index(drop=True)
    if result.has_many_groups:
        shown = shown.sort_values("count", ascending=False, kind="stable")
    parts = [(say_declared(RIGHT_NOW), "right"), (say_declared(RIGHT_BEFORE), "wrong")]
    bars = [
        {
            "name": f"{row['group']}, {row['direction']} ({say_declared(format(row['count'], ','))})",
            "rank": rank,
            "who": who,
            "place": place,
            "people": row[part],
            "share": row[part] / row["count"],
        }
        for rank, row in enumerate(shown.to_dict("records"))
        for place, (who, part) in enumerate(parts)
    ]
    draw(
        plot_record,
        pd.DataFrame(bars),
        alt="Changed people by group and direction, and whether g or f agrees with the record.",
        table=replace(_RECORD, frame=lambda: frame),
        caption=f"On test. {tip('record')}",
    )


def draw_certainty(result: FitResult) -> None:
    """How sure f was of those changed, beside everyone."""
    scene = result.scene
    frame = explain_certainty(scene.certainty_test, scene.decisions_test, result.decisions)
    frame["class"] = [
        f"{100 * low:.0f}–{100 * high:.0f}" for low, high in zip(frame["low"], frame["high"], strict=True)
    ]
    bars = [
        {"name": row["class"], "rank": rank, "whose": whose, "share": row[f"share_{part}"], "people": row[part]}
        for rank, row in enumerate(frame.to_dict("records"))
        for whose, part in ((say_declared(EVERYONE), "everyone"), (say_declared(CHANGED), "changed"))
    ]
    draw(
        plot_certainty,
        pd.DataFrame(bars),
        alt="How sure f was of those changed, beside everyone.",
        table=replace(_CERTAINTY, frame=lambda: frame),
        caption=tip("certainty"),
    )


# The share that the session asks about, on every page.
_missed: PageState[float] = PageState("missed", float)


def _ask_missed(result: FitResult) -> float:
    """The slider; 0 where the record leaves no room for a question."""
    task = result.task
    shares: list[float] = result.keep("shares to ask", lambda: shares_to_ask(result.scene))
    group, outcome = task.groups[disadvantaged(result.scene)], task.spec.outcomes[task.spec.favourable]
    about = {"group": escape_markdown(say_declared(group)), "outcome": escape_markdown(say_declared(outcome))}
    if len(shares) < 2:
        st.caption(say("biased.no_room", **about))
        return 0.0
    return float(
        st.select_slider(
            say("biased.slider", **about),
            shares,
            format_func=lambda share: f"{share:.0%}",
            help=say("biased.help", most=f"{shares[-1]:.0%}", **about),
            **mirrored("missed", min(_missed(), shares[-1]), _missed.set),
        )
    )


def draw_biased(result: FitResult) -> None:
    """The question with its slider, and the figures by the record, if so, and in truth where that is known."""
    missed, scene = _ask_missed(result), result.scene
    worlds = {say("biased.record"): (scene, 0.0)}
    if missed:
        worlds[say("biased.missed", share=f"{missed:.0%}")] = (scene, missed)
    if (truth := scene_in_truth(scene)) is not None:
        worlds[say("biased.truth")] = (truth, 0.0)
    if len(worlds) == 1:
        return
    g = [figures_if_missed(here, result.decisions, share) for here, share in worlds.values()]
    f = [figures_if_missed(here, scene.decisions_test, share) for here, share in worlds.values()]
    accuracy = FIGURES["accuracy"].show
    rows = [
        [say("biased.right"), *("–" if each["right"] != each["right"] else accuracy(each["right"]) for each in g)],
        [say("biased.accuracy", model="f"), *(accuracy(each["accuracy"]) for each in f)],
        [say("biased.accuracy", model="g"), *(accuracy(each["accuracy"]) for each in g)],
        [say("biased.errors"), *(FIGURES["dm"].show(each["dm"]) for each in g)],
    ]
    st.html(html_table(["", *worlds], rows, caption=say("biased.title")))


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
            controls.draw_control("depth")
            if not found.nodes["predicts"].any():
                st.info(say("tree.cannot"), icon=":material/info:")
                return
            st.html(say_in_html(tree_of(result, found, depth)))
        with narrow:
            st.metric(say_declared("F1 of the tree on test"), say_declared(f"{found.f1:.2f}"), help=tip("f1"))
            st.caption(
                say_declared(
                    "Learnt on the training part, counted on test. A high F1 with few questions means that the changes "
                    "are easy to describe."
                )
            )


def tree_of(result: FitResult, found: ChangeTree, depth: int) -> str:
    """The tree as HTML."""
    return result.keep(f"tree_{depth}", lambda: tree_list(found))


def account_columns(shap: str, form: str) -> dict[str, tuple[str, str]]:
    """Columns of the table behind the chart of both accounts."""
    return {
        "label": ("Feature", ""),
        "commod": (f"{ACCOUNTS[0]} (logit)", form),
        "shap": (f"{shap} (logit)", form),
        "shap_low": ("SHAP, least of its redraws", form),
        "shap_high": ("SHAP, most", form),
    }


def draw_accounts(features: pd.DataFrame, table: Table, **options: Any) -> None:
    """Both accounts of the features in one chart; `features` has a row each, ``label, commod, shap, shap_low, …``."""
    columns, n = features.to_dict("list"), len(features)
    rows = {
        "label": columns["label"] * 2,
        "rank": [*range(n)] * 2,
        "account": [account for account in map(say_declared, ACCOUNTS) for _ in range(n)],
        "value": columns["commod"] + columns["shap"],
        "low": [0.0] * n + columns["shap_low"],
        "high": [0.0] * n + columns["shap_high"],
    }
    draw(plot_contributions, pa.table(rows), table=table, **options)


def draw_shap(result: FitResult) -> None:
    """SHAP beside COMMOD's own account, waited for."""
    draw_pending(begin_shap(result))


def begin_shap(result: FitResult) -> Pending | None:
    """The section of SHAP, which is drawn when its figures are there."""
    st.header(say_declared("A second explanation: SHAP"))
    if not result.keep("attributes", lambda: bool(result.loadings["loading"].any())):
        st.info(say("shap.nothing"), icon=":material/info:")
        return None
    found = submit(tasks.shap(result))
    if found.has():  # drawn over the one before: no gray copy of that stays
        with found, deferred_paint(), st.container():
            _draw(found.result())
        return None
    place = st.empty()
    place.skeleton(height=320)
    waiting = ""

    def show_progress(ticket: Ticket) -> None:
        nonlocal waiting
        waits = ticket.before or ticket.note or ready_in(ticket)
        if waits and (text := in_line("SHAP", ticket)) != waiting:
            place.progress(ticket.progress, text=text)
            waiting = text

    def paint(ticket: Ticket) -> None:
        with deferred_paint(), place.container():
            _draw(ticket.result())

    return Pending(found, paint, show_progress)


def _draw(comparison: ShapComparison) -> None:
    features = comparison.features.assign(label=comparison.features["label"].map(say_declared))
    wide, narrow = st.columns([3, 2], gap="large")
    with wide:
        draw_accounts(
            features,
            Table("Contributions as a table", "contributions_table", account_columns("SHAP", ".3f"), lambda: features),
            alt="Mean contribution to the change in score by feature.",
        )
    with narrow:
        agreement, kept = (say_declared(text) for text in (f"{comparison.agreement:.2f}", f"{comparison.top_kept:.0%}"))
        st.metric(say("shap.agreement"), agreement, help=tip("agreement"))
        redrawn = tip("redrawn", background=comparison.background, redraws=comparison.redraws)
        st.metric(say("shap.top_kept"), kept, help=f"{tip('top_kept')} {redrawn}")
        st.markdown(say("shap.scores", n=comparison.evaluations, rows=comparison.rows))
        st.caption(say("shap.lines"))
