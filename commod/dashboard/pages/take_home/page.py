"""Take home: the current model as a report, as predictions, as a file that runs anywhere, and as code."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

import streamlit as st

from commod import portable
from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.queue import Ticket
from commod.dashboard.jobs.service import Pending, draw_pending, get, in_line, result_of, submit
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.model.standalone import MOST_PEOPLE, page_html, settings_on_page
from commod.dashboard.pages.take_home.files import file_name, model_card, predictions_csv
from commod.dashboard.pages.take_home.report import report_html
from commod.dashboard.pages.take_home.report_decided import NOTHING_REQUIRED, Decided, signed_in_words
from commod.dashboard.pages.take_home.report_law import impact_ratios
from commod.dashboard.state import session
from commod.dashboard.state.decision import signed_decision
from commod.dashboard.state.recipe import to_python
from commod.dashboard.state.settings import Settings, in_words, limits_in_words
from commod.dashboard.text.escape import escape_markdown, safe_csv
from commod.dashboard.views import frame
from commod.dashboard.views import methods as sweeps
from commod.dashboard.views.chart import offer
from commod.dashboard.views.model import current_model
from commod.datasets import is_shipped
from commod.decisions import Requirements, best_under, facts_of
from commod.experiments.refits import Refits
from commod.models.competitors import METHODS
from commod.models.export import portable_source

LOADER = "commod_portable.py"
# Of more test rows than this, nobody waits for refits to get the predictions.
MANY_ROWS = 20_000


def show() -> None:
    """The page, from top to bottom."""
    frame.page("pages/take_home.py")
    st.title("Take this model home")
    result = current_model()
    session.keep_link()
    pending = _files(result, session.current())
    _how_to(result)
    draw_pending(*pending)


@dataclass(frozen=True)
class Export:
    """A file: what it is called, what it is for, and how it is made."""

    title: str
    kind: str
    purpose: str
    name: str
    make: Callable[[], bytes]
    again: bool = False  # whether it tells if the changes would happen again, which takes refits


def exports(
    result: FitResult,
    settings: Settings,
    required: Requirements = NOTHING_REQUIRED,
    record: Mapping[str, Any] | None = None,
) -> list[Export]:
    """All that can be taken home of one fit at `settings`, which also say how deep the report's tree is.

    What is `required`, and the `record` of what was signed on these data, are told in the report.
    """
    spec = result.task.spec
    code = to_python(result.settings)
    many = len(result.scene.test) > MANY_ROWS
    of_f = {"column": "f's scores are read from their column", "given": "f's scores are to be passed along"}
    return [
        Export(
            "Report",
            "HTML",
            "Start here. Verdicts, figures, who changed and why, what US and EU law asks for, and limits.",
            file_name(result, "bias_profile", "html"),
            partial(_report, result, settings, code, required, record),
            again=True,
        ),
        Export(
            "Predictions",
            "CSV",
            f"What f and g decide about each of the {len(result.scene.test):,} test {spec.people}, and who changes. "
            f"1 is “{spec.outcomes[1]}”."
            + " “line” is the line in your file, with headings in line 1 and no empty lines."
            * bool(result.task.roles),
            file_name(result, "predictions", "csv"),
            lambda: predictions_csv(result, None if many else result_of(tasks.refits(result))),
            again=not many,
        ),
        Export(
            "Impact ratios",
            "CSV",
            "Selection rates as New York City's Local Law 144 lists them; not an independent audit.",
            file_name(result, "impact_ratios", "csv"),
            lambda: safe_csv(impact_ratios(result).round(6)),
        ),
        Export(
            "Model card",
            "Markdown",
            "For publishing g: its purpose, figures and caveats.",
            file_name(result, "model_card", "md"),
            lambda: model_card(result, code, _today()).encode(),
        ),
        Export(
            "Model",
            "JSON",
            f"Decides about new people elsewhere; {of_f.get(_kind_of_f(settings, result), 'f is included')}.",
            file_name(result, "model", "json"),
            lambda: result.as_json().encode(),
        ),
        Export("Loader", "Python", "Runs the model file without this project. It needs only numpy.", LOADER, _loader),
        Export(
            "Recipe",
            "Python",
            "Trains the same model again with the library.",
            file_name(result, "model", "py"),
            code.encode,
        ),
    ]


def _files(result: FitResult, settings: Settings) -> list[Pending | None]:
    st.markdown(escape_markdown(result.verdict))
    st.caption(escape_markdown(f"The model of the sliders: {result.task.spec.title}, {in_words(result.settings)}."))
    if (record := signed_decision()) is not None:
        st.info(escape_markdown(signed_in_words(result, record)), icon=":material/lock:")
    else:
        st.page_link("pages/decide.py", label="Sign a decision first to have it in the report", icon=":material/gavel:")
    report, *others = exports(result, settings, session.requirements(), record)
    pending = [_file(result, report), _page(result), *(_file(result, export) for export in others[:3])]
    st.header("For technicians")
    return [*pending, *(_file(result, export) for export in others[3:])]


def _line(purpose: str) -> Any:
    """A line about a file; gives the place for its button."""
    left, right = st.columns([2, 5], gap="small", vertical_alignment="center")
    right.markdown(escape_markdown(purpose))
    return left.empty()


def _file(result: FitResult, export: Export) -> Pending | None:
    """One file; the button of one that needs refits comes with them, and the others work meanwhile."""
    place, label = _line(export.purpose), f"{export.title} ({export.kind})"

    def ready(_: object) -> None:
        offer(label, export.make, export.name, place=place, key=f"take_{export.title}", width="stretch")

    def show_progress(ticket: Ticket) -> None:
        line = in_line("First g is trained again on other samples of people", ticket)
        place.progress(ticket.progress, f"**{label}.** {line}")

    if export.again and get(task := tasks.refits(result)) is None:
        return Pending(submit(task), ready, show_progress)
    ready(None)
    return None


def _page(result: FitResult) -> Pending | None:
    """A page that needs no server, which takes minutes to make: begun when somebody asks for it."""
    place = _line("All sliders and a short lesson in one file of about 1 MB that works without a network.")
    settings, own = result.settings, not is_shipped(result.task.name)
    rows = own and st.checkbox(f"Put rows of up to {MOST_PEOPLE} test people into the page", key="take_rows")
    task = tasks.standalone(settings)
    name, address = file_name(result, "page", "html"), (st.context.url or "").partition("/take_home")[0]

    def ready(parts: list[bytes]) -> None:
        make = partial(page_html, settings, settings_on_page(settings), parts, people=rows, app=address)
        offer("Page (HTML)", lambda: make().encode(), name, place=place, key="take_page", width="stretch")

    def show_progress(ticket: Ticket) -> None:
        place.progress(ticket.progress, f"**Page (HTML).** {in_line('Training every model', ticket)}")

    if (parts := get(task)) is not None:
        ready(parts)
    elif (
        place.button("Make a page (some minutes)", key="make_page", icon=":material/web:", width="stretch")
        or st.session_state.get("page_asked_for") == settings
    ):
        st.session_state["page_asked_for"] = settings
        return Pending(submit(task), lambda ticket: ready(ticket.result()), show_progress)
    return None


def _how_to(result: FitResult) -> None:
    with st.expander("How to use the model file"):
        st.markdown("With the loader and the model file in one folder, and numpy installed:")
        st.code(_usage(result), language=None, wrap_lines=True)
        st.caption(
            "Rows are dicts, or one dict of columns (a DataFrame will do). Cells may be texts, as `csv.DictReader` has "
            "them. The report says what each column must hold; the top of the loader describes the format."
        )


def _usage(result: FitResult) -> str:
    """Five lines that run: load, decide and explain the first test row."""
    first = result.scene.test.X.iloc[0]
    row = {name: value.item() if hasattr(value, "item") else value for name, value in first.items()}
    scores = ", base_scores=[0.5]" if _kind_of_f(result.settings, result) == "given" else ""
    return (
        f"from {LOADER.removesuffix('.py')} import load\n\n"
        f'g = load("{file_name(result, "model", "json")}")\n'
        f"row = {row!r}\n"
        f"print(g.predict([row]{scores}), g.predict_proba([row]{scores}))\n"
        f"print(*g.explain(row{scores}), sep='\\n')\n"
    )


def _report(
    result: FitResult, settings: Settings, code: str, required: Requirements, record: Mapping[str, Any] | None
) -> bytes:
    """Made when it is asked for, in a thread without a session."""
    tree = result_of(tasks.tree(result, settings.depth)) if result.changed_train.any() else None
    limits = result_of(tasks.limits(result.settings))
    sense = [result_of(task(result)) for task in (tasks.evidence, tasks.merit, tasks.refits)]
    fingerprint = hashlib.sha256(result.as_json().encode()).hexdigest()
    limited = limits_in_words(settings)
    if limited:
        limited = f"{limited} {result.beside(result_of(tasks.fit(settings.free())))}"
    return report_html(
        result,
        tree,
        limits,
        *sense,
        code=code,
        date=_today(),
        fingerprint=fingerprint,
        limited=limited,
        decided=_decided(result, settings, required, record, sense[-1]),
    ).encode()


def _today() -> str:
    now = datetime.now(UTC)
    return f"{now.day} {now:%B %Y}"


def _decided(
    result: FitResult, settings: Settings, required: Requirements, record: Mapping[str, Any] | None, refits: Refits
) -> Decided:
    """What is required and signed; of other methods only those whose sweeps are there, as on Compare and Decide."""
    if not required:
        return Decided(record=record)
    facts = facts_of(result.scene, result.decisions, result.cell, refits)
    known = sweeps.known(settings, list(METHODS), sweeps.own_form(settings, sweeps.form_of(settings, required)))
    rivals = tuple(
        (sweeps.best_label(name, settings), best_under(required, result.scene, sweep)) for name, sweep in known.items()
    )
    return Decided(required, facts, rivals, record, 1 + sum(len(sweep.models) for sweep in known.values()))


@st.cache_data(show_spinner=False, max_entries=64)
def _kind_of_f(settings: Settings, _result: FitResult) -> str:
    """The kind of f in the model file."""
    return str(portable.load(_result.as_json()).content["f"]["kind"])


def _loader() -> bytes:
    return portable_source().encode()
