"""What the lesson draws with an answer: parts of the Explore page, and pictures of its own."""

import math
from collections.abc import Callable

import pandas as pd
import streamlit as st

from commod.charts import MethodStyle, palette
from commod.charts.compare import plot_scatter
from commod.charts.parts import towards
from commod.charts.people import plot_curve, plot_paying, plot_two_groups
from commod.dashboard.state.settings import in_words
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.views.chart import Table, draw
from commod.dashboard.views.dots import draw_dots
from commod.dashboard.views.explained import (
    draw_biased,
    draw_certainty,
    draw_changes,
    draw_concepts,
    draw_record,
    draw_shap,
)
from commod.dashboard.views.lesson import facts, script
from commod.dashboard.views.lesson.steps import SHOWS, StepModels
from commod.dashboard.views.tiles import draw_figures
from commod.dashboard.views.words import say, say_declared
from commod.metrics.figures import CRITERIA, FIGURES
from commod.models.competitors import METHODS
from commod.wording import with_capital

# Drawn with the slider, so that all are on one screen: the first that a step has stands beside it, the next below it.
_WITH_SLIDER = ("dots", "curve")
# What no slider of the app moves.
STILL = ("two_groups",)


def with_slider(at: StepModels) -> list[Callable[[StepModels], None]]:
    """What draws the pictures that are seen while the slider is moved, be the answer told or not."""
    return [_PICTURES[name] for name in _WITH_SLIDER if name in at.step.shows]


def draw_pictures(at: StepModels, names: list[str]) -> None:
    """What the step shows with its answer."""
    if {"figures", "changes"} & set(names) and at.shown.model() != at.step.end.model():
        st.caption(say("lesson.sliders_now", setting=say_declared(in_words(at.shown))))
    for name in names:
        if name not in _WITH_SLIDER:
            _PICTURES[name](at)


def draw_figures_on_the_way(at: StepModels) -> None:
    """The figures where the sliders stand, before the answer is told."""
    if "figures" in at.step.shows:
        draw_figures(at.live)


def _groups(at: StepModels) -> None:
    st.html(script.groups_table(at))


def _curve(at: StepModels) -> None:
    """What fairness costs, along λ_fair, and where the slider stands."""
    names = {name: say(f"lesson.{name}") for name in ("deployed", "here", "asked")}
    path, here = at.far.path, at.live.path
    columns = ["name", "lambda_fair", "fairness", "accuracy"]
    frame = pd.concat(
        [
            path.assign(name=names["asked"]),
            path.head(1).assign(name=names["deployed"]),
            here.tail(1).assign(name=names["here"]),
        ],
        ignore_index=True,
    )[columns]
    figure, accuracy = CRITERIA[at.step.start.fairness].figure, say("lesson.accuracy_axis")
    fair = say_declared(figure.axis_title)
    draw(
        plot_curve,
        frame,
        alt=say("lesson.curve_alt"),
        table=Table(
            say("lesson.curve_table"),
            "curve_table",
            {
                "name": (say("lesson.model"), ""),
                "lambda_fair": ("λ_fair", "g"),
                "fairness": (fair, ".3f"),
                "accuracy": (accuracy, ".1%"),
            },
        ),
        x_title=towards(fair, say_declared(figure.fairer)),
        y_title=accuracy,
        setting="λ_fair",
        **names,
    )


def _conflict(at: StepModels) -> None:
    frame = facts.conflict_paths(at)
    p_rule, dm = FIGURES["p_rule"], FIGURES["dm"]
    settings = ["–" if math.isnan(value) else f"λ_fair {value:g}" for value in frame["lambda_fair"]]
    looks = {
        facts.DP: (palette.G, "circle"),
        facts.EO: (palette.F, "square"),
        facts.TRUTH: (palette.TRAIL, "diamond"),
        facts.BEGAN: (palette.BETTER, "triangle-up"),
        facts.HERE: (palette.PATH, "cross"),
    }
    labels = {kind: say(f"lesson.conflict_{kind}") for kind in looks}
    draw(
        plot_scatter,
        frame.assign(
            label=frame["kind"].map(labels),
            x=frame["p_rule"],
            y=frame["dm"],
            order=range(len(frame)),
            settings=settings,
        ),
        alt=say("lesson.conflict_alt"),
        table=Table(
            say("lesson.conflict_table"),
            "conflict_table",
            {
                "label": (say("lesson.model"), ""),
                "settings": (say("lesson.setting"), ""),
                "x": (p_rule.axis_title, ".3f"),
                "y": (dm.axis_title, ".3f"),
            },
        ),
        caption=say("lesson.conflict_caption"),
        styles=tuple(MethodStyle(labels[kind], *look) for kind, look in looks.items() if kind in set(frame["kind"])),
        x_title=p_rule.axis_title,
        y_title=say("lesson.mistreatment_axis"),
    )


def _two_groups(at: StepModels) -> None:
    """Two groups of 100 whose base rates are those of the labels: fair by one criterion, and what the other says."""
    table, task = facts.groups_of_model(at.before), at.before.task
    left, right = st.columns(2, gap="medium", vertical_alignment="bottom")
    fair_by = left.radio(
        say("lesson.fair_by"),
        ["equalized_odds", "demographic_parity"],
        format_func=lambda name: say(f"lesson.{name}"),
        key="two_groups_fair_by",
    )
    quality = right.slider(
        say("lesson.quality"),
        50,
        100,
        90,
        step=5,
        format="%d %%",
        key="two_groups_quality",
        help=say("lesson.quality_help"),
    )
    counts = facts.two_groups(table["base_rate"].tolist(), quality / 100, str(fair_by))
    what = [
        say(f"lesson.dot_{name}", outcome=at.step.called(task.spec.outcomes[1])) for name in ("right", "wrong", "no")
    ]
    names = [with_capital(at.step.called(group)) for group in task.groups]
    for column, name, cells in zip(st.columns(2, gap="medium"), names, counts, strict=True):
        rightly, wrongly = round(cells[1][1]), round(cells[0][1])  # decided 1
        numbers = dict(zip(what, (rightly, wrongly, 100 - rightly - wrongly), strict=True))
        kinds = [kind for kind, number in numbers.items() for _ in range(number)]
        dots = pd.DataFrame({"group": name, "number": range(100), "what": kinds})
        with column:
            says = ", ".join(f"{number} {escape_markdown(kind)}" for kind, number in numbers.items())
            st.markdown(f"**{escape_markdown(name)}**{say('standalone.colon')} {says}")
            draw(
                plot_two_groups,
                dots,
                alt=say("lesson.dots_alt"),
                table=Table(
                    f"{say('lesson.dots_table')} ({name})",
                    f"dots_table_{names.index(name)}",
                    {"what": (say("lesson.dots_what"), ""), "people": (say("lesson.of_100"), "d")},
                    lambda numbers=numbers: pd.DataFrame(numbers.items(), columns=["what", "people"]),  # type: ignore[misc]
                ),
                right=what[0],
                wrong=what[1],
                no=what[2],
            )
    p_rule, dm = (float(FIGURES[name].of_counts(counts)) for name in ("p_rule", "dm"))
    st.markdown(say("lesson.two_groups_say", p_rule=p_rule, dm=dm))


def _paying(frame: pd.DataFrame, key: str, caption: str = "") -> None:
    """People with the better and the worse decision, by model."""
    better, worse = say("lesson.better"), say("lesson.worse")
    p_rule = FIGURES["p_rule"]
    rows = []
    for rank, row in enumerate(frame.to_dict("records")):
        level = say_declared(f"{row['p_rule']:.2f}")
        name = f"{row['title']}|{p_rule.title} {level}, {say('lesson.changed_of', n=row['changed'])}"
        for place, (direction, part) in enumerate(((better, "better"), (worse, "worse"))):
            rows.append({"name": name, "rank": rank, "direction": direction, "place": place, "people": row[part]})
    draw(
        plot_paying,
        pd.DataFrame(rows),
        alt=say("lesson.paying_alt"),
        table=Table(
            say("lesson.paying_table"),
            key,
            {
                "title": (say("lesson.model"), ""),
                "p_rule": (p_rule.title, ".2f"),
                "accuracy": (say("lesson.accuracy"), ".1%"),
                "changed": (say("lesson.changed"), ","),
                "better": (better, ","),
                "worse": (worse, ","),
            },
            lambda: frame,
        ),
        caption=caption,
        better=better,
        worse=worse,
        title=say("lesson.changed_axis"),
    )


def _rivals(at: StepModels) -> None:
    others = ", ".join(METHODS[method].title for method, _ in at.step.rivals)
    _paying(facts.rivals_paying(at), "rivals_table", say("lesson.paying_rivals", others=others))


def _concepts(at: StepModels) -> None:
    live = at.live
    changed, total = (say_declared(f"{n:,}") for n in (live.changed_test.sum(), len(live.changed_test)))
    st.metric(say("lesson.changed_at_k", k=live.settings.k), f"{changed} / {total}", border=True, width="content")
    draw_concepts(live)


_PICTURES: dict[str, Callable[[StepModels], None]] = {
    "groups": _groups,
    "dots": lambda at: draw_dots(at.live, [], None, brief=True)(),  # they follow the slider while it moves
    "curve": _curve,
    "figures": lambda at: draw_figures(at.live),
    "changes": lambda at: draw_changes(at.live),
    "beside": lambda at: _paying(facts.beside_paying(at), "beside_table"),
    "rivals": _rivals,
    "conflict": _conflict,
    "two_groups": _two_groups,
    "concepts": _concepts,
    "shap": lambda at: draw_shap(at.after),
    "record": lambda at: draw_record(at.live),
    "biased": lambda at: draw_biased(at.live),
    "certainty": lambda at: draw_certainty(at.live),
}
assert set(_PICTURES) == set(SHOWS)
