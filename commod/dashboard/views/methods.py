"""Which methods the Compare page draws, and waiting for their sweeps."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import streamlit as st

from commod.charts import MethodStyle, palette
from commod.charts.compare import SHAPES
from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.computation import ComputeTask
from commod.dashboard.jobs.queue import Ticket
from commod.dashboard.jobs.scheduling import SLOW_POLL
from commod.dashboard.jobs.service import get, ready_in, submit, watch
from commod.dashboard.state.controls import join, split
from commod.dashboard.state.page_state import PageState
from commod.dashboard.state.settings import Settings, defaults, described, features_of
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.dashboard.views.widgets import button
from commod.datasets import load_task
from commod.decisions import Requirements
from commod.experiments import Sweep
from commod.experiments.scene import SceneKey
from commod.experiments.sweep import Cell, lines_of, tuned_form
from commod.models.competitors import FAMILIES, METHODS, available_methods
from commod.models.competitors.registry import two_groups_in_words

# What limits COMMOD's update, as `commod.experiments.sweep.lines_of` takes it.
Form = tuple[tuple[str, Any], ...]
# What the paper compares, COMMOD counting decisions, and the Bayes rule of the paper's theory; the others are one click
# away. On Limits: COMMOD, and one of the others.
USUAL = ("commod", "commod_decisions", "adv_debias", "frappe", "lpp", "oracle_lpp", "oracle_roc", "hardt", "bayes")
QUICK = ("commod", "commod_decisions", "lpp")


@dataclass
class Page:
    """What this session has chosen on the page; the scene is shared with the other pages."""

    methods: list[str] | None = None  # None: what is usual on the page
    model: tuple[float, float] | None = None  # λ_fair and λ_ratio of the COMMOD model to be matched
    problem: tuple[SceneKey, str] | None = None  # that `model` was chosen on
    stopped: bool = False
    unknown: list[str] = field(default_factory=list)  # of the link


def _from_link() -> Page:
    page = Page()
    if "methods" in st.query_params:
        asked = [name for name in st.query_params["methods"].split(",") if name]
        known = [name for name in asked if name in METHODS and METHODS[name].is_written]
        page.unknown = [name for name in asked if name not in known]
        page.methods = known if known or not asked else None
    page.model = _model_in(st.query_params.get("model", ""))
    return page


# The session's choices.
state = PageState("compare", _from_link)


def _model_in(text: str) -> tuple[float, float] | None:
    """λ_fair and λ_ratio in a link, "3,0.05"."""
    try:
        fair, ratio = (float(part) for part in text[:40].split(","))
    except ValueError:
        return None
    return (fair, ratio) if math.isfinite(fair) and math.isfinite(ratio) else None


def link() -> dict[str, str]:
    """What of the page goes into the address."""
    page = state()
    more = {} if page.methods is None else {"methods": ",".join(page.methods)}
    return more if page.model is None else more | {"model": f"{page.model[0]:g},{page.model[1]:g}"}


def chosen_model(settings: Settings, sweep: Sweep) -> int:
    """Place of the COMMOD model to match: the one chosen on this scene, or that of the sliders, or mid-frontier."""
    page = state()
    if page.problem not in (None, settings.problem()):
        page.model = None
    page.problem = settings.problem()
    for wanted in (page.model, (settings.lambda_fair, settings.lambda_ratio)):
        for place, model in enumerate(sweep.models):
            if wanted == (model.cell.value, dict(model.cell.others)["lambda_ratio"]):
                choose_model(sweep, place)
                return place
    frontier = sweep.points.index[sweep.points["best"]]
    place = int(frontier[len(frontier) // 2])
    choose_model(sweep, place)
    return place


def choose_model(sweep: Sweep, place: int) -> None:
    """Remember which model of COMMOD's sweep is to be matched."""
    cell = sweep.models[place].cell
    state().model = (cell.value, dict(cell.others)["lambda_ratio"])


def own_method(settings: Settings) -> str:
    """COMMOD in the form in use, as a method."""
    return "commod_decisions" if settings.update == "decisions" else "commod"


def best_label(name: str, settings: Settings) -> str:
    """What a method's best model is called; COMMOD's in the form in use, which can be taken over, by that form."""
    if name != own_method(settings):
        return label_of(name)
    form, _, _ = described(settings, "model")["update"].partition(" (")
    return f"COMMOD ({form}), best"


def own_form(settings: Settings, limits: Form = ()) -> Form:
    """The same as arguments of its sweep, with what limits the update; the affine form is no method of its own."""
    return (*((("update", "affine"),) if settings.update == "affine" else ()), *limits)


def keeping(settings: Settings, required: Requirements) -> Settings:
    """The same with an update that keeps the required features out, and to the required direction."""
    out = {*split(settings.without), *required.kept_out}
    known = features_of(settings.task_name)
    direction = required.direction or settings.direction
    return replace(settings, direction=direction, without=join(name for name in known if name in out))


def form_of(settings: Settings, required: Requirements) -> Form:
    """What the requirements limit COMMOD's update to, as its sweep takes it."""
    arguments = keeping(settings.free(), required).commod_arguments()
    return tuple((name, arguments[name]) for name in ("direction", "favourable", "features") if name in arguments)


def on_explore(settings: Settings, cell: Cell) -> Settings:
    """The settings under which Explore trains a COMMOD model of a sweep."""
    usual, others = defaults(settings.data, settings.groups), dict(cell.others)
    features = others.pop("features", ())
    kept_out = [name for name in features_of(settings.task_name) if name not in features] if features else []
    here = settings.free()
    return replace(
        here,
        lambda_fair=cell.value,
        lambda_ratio=others["lambda_ratio"],
        lambda_concepts=others.get("lambda_concepts", usual.lambda_concepts),
        k=usual.k,
        update=others.get("update", METHODS[cell.method].settings.get("update", Settings.update)),
        direction=others.get("direction", here.direction),
        without=join(kept_out),
    )


# ---- which methods ----


def choose_methods(settings: Settings, usual: Sequence[str] = USUAL) -> list[str]:
    """The methods to be drawn, those that are defined for the criterion; `usual` if the session has chosen none."""
    page = state()
    of_criterion = available_methods(settings.fairness)
    defined = available_methods(settings.fairness, len(load_task(settings.task_name).groups))
    asked = list(usual) if page.methods is None else page.methods
    wanted = [name for name in asked if name in defined]
    keys = {}  # of a family's choice, by family
    for family in FAMILIES:
        keys[family] = key = f"methods_{family}_{settings.fairness}_{len(usual)}_{len(defined)}"
        if key not in st.session_state:
            st.session_state[key] = [name for name in wanted if METHODS[name].family == family]

    def take() -> None:
        chosen = {name for key in keys.values() for name in st.session_state[key]}
        page.methods, page.stopped, page.unknown = [name for name in defined if name in chosen], False, []

    picked: list[str] = []
    count = sum(len(st.session_state[key]) for key in keys.values())
    with st.expander(f"Methods shown: **{count} of {len(defined)}**", key="methods_fold"):
        for family, title in FAMILIES.items():
            members = [name for name in defined if METHODS[name].family == family]
            if members:
                how: dict[str, Any] = {"format_func": label_of, "on_change": take}
                picked += st.pills(title, members, selection_mode="multi", key=keys[family], **how)
        st.caption(tip("needs_group"))
    if page.unknown:
        unknown = escape_markdown(", ".join(name[:20] for name in page.unknown[:5]))
        st.warning(f"The link asks for methods that are not known: {unknown}.", icon=":material/link_off:")
    undefined = [METHODS[name].title for name in asked if name not in of_criterion]
    if undefined:
        st.caption(f"Not defined for this criterion: {', '.join(undefined)}.")
    if for_two := two_groups_in_words([name for name in of_criterion if name not in defined]):
        st.caption(f":gray[{for_two}]")
    return [name for name in defined if name in picked]


@cache
def cost_of(name: str) -> float:
    """What a method's sweep costs, about, in models of the quickest."""
    return METHODS[name].cost * sum(map(len, lines_of(name)))


def first_ours(names: Iterable[str]) -> list[str]:
    """COMMOD, which all are compared with, then the quick ones: the picture fills while the slow ones are at work."""
    return sorted(names, key=lambda name: (not METHODS[name].is_commod, cost_of(name)))


def label_of(name: str) -> str:
    """Title of a method, marked if it must know the group."""
    return METHODS[name].title + (" ○" if METHODS[name].needs_sensitive else "")


def form_to_add(names: Collection[str]) -> str:
    """That the other form of COMMOD can be added, if only one is among the methods."""
    left = [method.title for name, method in METHODS.items() if method.is_commod and name not in names]
    return f"{left[0]} can be added under “Methods shown”." if len(left) == 1 else ""


def name_of(name: str) -> str:
    """The same where there is little room."""
    return METHODS[name].short_title + (" ○" if METHODS[name].needs_sensitive else "")


def styles_of(names: Any) -> tuple[MethodStyle, ...]:
    """How methods are drawn, in the registry's order."""
    return tuple(_style(name) for name in METHODS if name in names)


def _style(name: str) -> MethodStyle:
    method = METHODS[name]
    peers = [key for key, other in METHODS.items() if other.family == method.family and key != "commod"]
    if name == "commod":
        return MethodStyle(label_of(name), palette.COMMOD, "circle")
    place, shades = peers.index(name), palette.FAMILIES[method.family]
    # After a round of the shapes, another shade: no two of a family look alike.
    shade = shades[(place + place // len(SHAPES)) % len(shades)]
    return MethodStyle(label_of(name), shade, SHAPES[place % len(SHAPES)], method.needs_sensitive)


# ---- sweeping ----


def sweep_of(name: str, settings: Settings, form: Form = (), *, tuned: bool = False) -> ComputeTask:
    """The sweep of a method; `form` is that of COMMOD's update, see `own_form`; `tuned`, see `tuned_form`."""
    of_all = tuple(each for each in form if each[0] != "update")
    own = form if name == "commod" else of_all if METHODS[name].is_commod else ()
    return tasks.sweep(settings, name, own + (tuned_form(settings.task_name, name, settings.fairness) if tuned else ()))


def usual_sweeps(settings: Settings) -> list[ComputeTask]:
    """What Compare and Limits ask for if nobody has chosen anything, as they order it."""
    of_criterion = available_methods(settings.fairness, len(load_task(settings.task_name).groups))
    names = first_ours(name for name in USUAL if name in of_criterion)
    return [tasks.blind_limits(settings), *(sweep_of(name, settings, tuned=True) for name in names)]


def own_sweep(settings: Settings) -> ComputeTask:
    """The sweep of COMMOD in the form in use."""
    return sweep_of(own_method(settings), settings, own_form(settings))


def known(settings: Settings, names: list[str], form: Form = (), *, tuned: bool = False) -> dict[str, Sweep]:
    """Those sweeps of the methods that are there."""
    found = {name: get(sweep_of(name, settings, form, tuned=tuned)) for name in names}
    return {name: sweep for name, sweep in found.items() if sweep is not None}


def place(*, waits: bool) -> Any:
    """A place for what is drawn of the sweeps: each time that more comes in if the page `waits`, else once.

    If it waits, what was drawn before, which may be of another scene, goes at once. If not, that stays until it is
    drawn anew, and the keyboard keeps its focus.
    """
    slot = st.container()
    return slot.empty() if waits else slot


def collect(
    settings: Settings,
    names: list[str],
    found: dict[str, Sweep],
    place: Any,
    paint: Callable[[dict[str, Sweep]], object],
    form: Form = (),
    *,
    tuned: bool = False,
) -> dict[str, Sweep]:
    """Sweep the methods that are not `found`, with a progress bar, and return what there is for the caller to draw.

    `paint` is called whenever a method is done and another is missing. Leaving the page, changing the scene or pressing
    Stop ends sweeps that nobody else waits for; what is done stays.
    """
    page = state()
    missing = first_ours(name for name in names if name not in found)
    if not missing:
        return found
    if page.stopped:
        with place.container(border=True, horizontal=True, vertical_alignment="center"):
            st.markdown(f"Stopped: {len(found)} of {len(names)} methods are drawn.")
            button("Go on", "play_arrow", _stop, False)
        return found
    if found:
        paint(found)
    failed: list[str] = []
    with place.container(border=True), ExitStack() as places_in_queue:
        head = st.container(horizontal=True, vertical_alignment="center")
        said, bar = head.empty(), st.empty()
        head.button("Stop", icon=":material/stop_circle:", on_click=_stop)
        asked = {name: submit(sweep_of(name, settings, form, tuned=tuned)) for name in missing}
        tickets = {name: places_in_queue.enter_context(ticket) for name, ticket in asked.items()}

        def poll(left: Mapping[str, Ticket]) -> float:
            done = len(names) - len(left)
            at_work = [
                " ".join((METHODS[name].title, ready_in(one) or f"{one.progress:.0%}"))
                for name, one in left.items()
                if one.progress
            ]
            said.markdown(f"**{done} of {len(names)} methods are done.** The picture grows with each.")
            share = (done + sum(ticket.progress for ticket in left.values())) / len(names)
            waiting = [METHODS[name].title for name, one in left.items() if not one.progress]
            texts = [f"At work: {'; '.join(at_work)}"] * bool(at_work) + [f"Next: {', '.join(waiting)}"] * bool(waiting)
            text = ". ".join(texts)
            bar.progress(min(share, 1.0), text=text)
            return SLOW_POLL

        for name in watch(tickets, poll):
            try:
                found[name] = tickets.pop(name).result()
            except Exception as error:
                reason = escape_markdown(error) if isinstance(error, ValueError) else "a fault of ours"
                failed.append(f"{METHODS[name].title} could not be swept: {reason}")
            if found and tickets:  # the last one is for the caller to draw
                paint(found)
    place.empty()
    for sentence in failed:
        st.warning(sentence, icon=":material/warning:")
    return {name: found[name] for name in names if name in found}  # in the registry's order, not that of arrival


def _stop(stopped: bool = True) -> None:
    state().stopped = stopped
