"""Your data: a session brings its own table, says what is what in it, uses it on all pages, and forgets it."""

from dataclasses import replace
from typing import Any

import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.service import result_of
from commod.dashboard.model.fitted import FitResult, concerns_in_words
from commod.dashboard.pages.your_data import draft as drafts
from commod.dashboard.pages.your_data import groups, roles
from commod.dashboard.pages.your_data.draft import TableDraft, UnansweredError, draft, kept
from commod.dashboard.state import session
from commod.dashboard.state.own_data import NoRoomError, OwnData, own_data
from commod.dashboard.state.settings import Settings, defaults
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import html_table
from commod.dashboard.views import frame
from commod.dashboard.views.chart import offer
from commod.dashboard.views.tiles import draw_group_sizes
from commod.dashboard.views.widgets import button
from commod.datasets import Choice, ChoiceError, load_task, make_task
from commod.datasets.example import example_table
from commod.datasets.own import Done
from commod.datasets.own_groups import LEAST_ROWS
from commod.datasets.roles import columns_of_roles
from commod.experiments.start import Start
from commod.uploads.limits import FILE_TYPES, MAX_BYTES, MAX_COLUMNS, MAX_ROWS, count_of, short
from commod.wording import with_capital

EXAMPLE = "applicants.csv"
ODD = "If that means “unknown” or is a mistake, empty or correct these cells in the file and upload it again."
# Whether the data in use were taken just now.
JUST_USED = "own_just_used"
# Two groups with enough people of either outcome.
LEAST = 4 * LEAST_ROWS
TOO_FEW = f"A file needs at least {LEAST} rows: {LEAST_ROWS} of either outcome in each of two groups."
# A loss of accuracy that has to be said first.
COSTLY = 0.05


# ---- bring a file ----


def _bring() -> None:
    """Upload, or the example."""
    here = draft()
    st.markdown(tip("bring_data", size=MAX_BYTES // 2**20))
    left, right = st.columns([3, 2], gap="medium")
    left.file_uploader("Your file", type=FILE_TYPES, key=f"upload_{here.uploads}", on_change=drafts.take)
    with right, st.container(border=True):
        st.markdown("**Nothing at hand?** An invented table of applicants, with the scores of a model:")
        with st.container(horizontal=True, gap="small"):
            offer("Example file", _example, EXAMPLE)
            button("Open it here", "table", lambda: drafts.read(_example(), EXAMPLE, uploaded=False))
    if here.forgotten:
        gone, shown = (escape_markdown(text) for text in (here.forgotten, load_task(session.current().data).spec.title))
        st.success(f"{gone} and all made of it is forgotten; the pages show {shown}.", icon=":material/delete:")
    if here.problem:
        st.error(escape_markdown(here.problem), icon=":material/error:")


def _example() -> bytes:
    return example_table().to_csv(index=False).encode()


# ---- say what is what ----


def _choose() -> None:
    """What each column is, what that would mean, and the button that makes a task of it."""
    here = draft()
    if here.table is None:
        return
    st.header(f"Columns of {escape_markdown(here.name)}")
    if here.table.notices:
        st.info(escape_markdown(" ".join(here.table.notices)), icon=":material/info:")
    text = "" if here.used else " We guessed the answers below: check them."
    st.caption(f"{len(here.frame):,} rows, {len(here.frame.columns)} columns.{text}")
    if len(here.frame) < LEAST:
        st.error(f"{TOO_FEW} Bring more rows.", icon=":material/error:")
        return
    if (usable := len(columns_of_roles(here.guesses))) < 2:
        text = "You need a column for the outcome and one for the groups, each with two values or more."
        st.error(f"{text} This table has {count_of(usable, 'such column')}.", icon=":material/error:")
        return
    try:
        choice, place = _choice()
    except UnansweredError:
        st.info("Answer the question to go on.", icon=":material/help:")
        return
    except ChoiceError as error:
        st.error(escape_markdown(str(error)), icon=":material/error:")
        return
    with place:
        choice, answered = roles.choose_line(choice)
    preview = here.preview(choice)
    if preview.problem:
        st.warning(escape_markdown(preview.problem), icon=":material/warning:")
    for place, leak in enumerate(preview.warnings):
        st.warning(escape_markdown(leak), icon=":material/warning:")
        if leak.columns:
            title = "Leave it out" if len(leak.columns) == 1 else f"Leave these {len(leak.columns)} columns out"
            button(title, "", roles.leave_out, *leak.columns, key=f"leave_out_{place}")
    for column, odd in here.guesses["odd"].items():
        if odd and choice.kinds.get(column) != "leave out":
            st.warning(escape_markdown(f"“{short(column)}” holds {odd}. {ODD}"), icon=":material/warning:")
    for concern in preview.concerns(choice):
        # The first stands above, as a question; the other is told at the top, of all rows.
        if (concern.kind == "turned" and not answered) or (concern.kind == "fair" and here.used == choice):
            continue
        box, icon = (st.info, ":material/info:") if concern.kind == "fair" else (st.warning, ":material/warning:")
        box(escape_markdown(concern.text), icon=icon)
    why_not = tip("unusable") if preview.problem else None if answered else tip("unanswered")
    button("Use these data", "check", _use, choice, type="primary", disabled=why_not is not None, help=why_not)
    if here.refused:
        st.error(escape_markdown(here.refused), icon=":material/error:")


def _choice() -> tuple[Choice, Any]:
    """The widgets that say what is what, each with our guess at first; and the place for what is asked about f."""
    here = draft()
    left, right = st.columns(2, gap="large")
    with left:
        outcome, good = roles.choose_outcome()
    with right:
        choice = Choice(outcome.column, good, "", (), {}, target_cut=outcome.cut, blanks=outcome.blanks)
        choice = groups.choose_groups(choice)
    choice = groups.seal_at_first(choice)
    groups.draw_counts(choice)
    groups.choose_sealed(choice)
    choice = groups.choose_unknown(choice)
    named = (outcome.column, *choice.sensitive_columns)
    scores, out_of = roles.choose_scores(named)
    place = st.container()
    with st.expander("Columns, weights and missing values"):
        person, time = roles.choose_split(outcome.column)
        weight = roles.choose_weight((*named, scores, person, time))
        taken = {weight: "weight", person: "who it is", scores: "scores of f"}
        taken |= {**dict.fromkeys(choice.sensitive_columns, "sensitive"), outcome.column: "outcome"}
        kinds = roles.choose_features({column: use for column, use in taken.items() if column})
        merits = roles.choose_merits([column for column, kind in kinds.items() if kind == "number"])
        fill = {"fill": "Fill in (median of numbers; a category of its own)", "drop": "Leave those rows out"}
        how: Any = {"horizontal": True, **kept("missing", here.chosen.get("missing", "fill"))}
        missing: Any = st.radio("Missing values of features", list(fill), format_func=fill.get, **how)
    more: dict[str, Any] = {"kinds": kinds, "merits": merits, "missing": missing, "title": here.name}
    more |= {"scores": scores, "scores_out_of": out_of, "person": person, "time": time, "weight": weight}
    return replace(choice, **more), place


def _use(choice: Choice) -> None:
    here = draft()
    try:
        own = make_task(here.frame, choice)
        session.use_own(own.task)
    except (ChoiceError, NoRoomError) as error:
        here.refused = str(error)
        return
    here.problem, here.refused, here.done = "", "", own.done
    here.leaks = here.preview(choice).warnings
    here.used = choice
    st.session_state[JUST_USED] = True


# ---- what is in use ----


def _in_use() -> None:
    """The data this session works on, what was done to them, and the button that forgets them."""
    own = own_data()
    if own is None:
        return
    here, task = draft(), own.task
    st.header(f"In use: {escape_markdown(task.spec.title)}", anchor="in_use")
    waiting = st.empty()
    if st.session_state.pop(JUST_USED, False):
        frame.scroll_to("in_use")
    try:
        start = _start(own, waiting)
        opens = defaults(own.name).looked_at_as(session.current())
        opened = result_of(tasks.fit(opens), waiting, "Training this model")
        st.markdown(f"**{escape_markdown(opened.verdict)}**")
        for text in _first(opened):
            st.warning(escape_markdown(text), icon=":material/warning:")
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.page_link("app.py", label="Explore these data", icon=":material/tune:")
            st.page_link("pages/decide.py", label="Decide for a model", icon=":material/gavel:")
        with st.expander("Why the pages open with this model"):
            st.markdown(escape_markdown(start.text))
        if start.papers and button("Open with the paper's form", "", session.go_to, replace(opens, **start.papers)):
            st.switch_page("app.py")
    except ValueError as error:
        waiting.empty()
        st.error(f"No model could be trained on these data yet: {escape_markdown(error)}", icon=":material/error:")
    unknown, sealed = int((task.sensitive < 0).sum()), 0 if task.sealed is None else len(task.sealed)
    text = f", {unknown:,} of them of an unknown group" * bool(unknown)
    text += f"; {sealed:,} more stay sealed until you decide" * bool(sealed)
    st.caption(f"All pages work on {count_of(len(task.y), 'row')} now{text}.")
    draw_group_sizes(task)
    for sentence in here.leaks if here.used is None else ():  # else they stand below
        st.warning(escape_markdown(sentence), icon=":material/warning:")
    if here.done:
        _draw_done(here.done)
    button("Forget these data", "delete", _forget)


def _first(opened: FitResult) -> list[str]:
    """What has to be said before somebody goes on: what is wrong with the opening model, or what it costs."""
    found, (before, after) = concerns_in_words(opened), opened.path["accuracy"].iloc[[0, -1]]
    costs = f"The model that the pages open with is right for {after:.1%} of people, f for {before:.1%}. "
    dear = [f"{costs}Move the slider on Explore to the left to lose less."] * (before - after >= COSTLY)
    return found or dear


def _start(own: OwnData, waiting: Any) -> Start:
    """Where the pages open on these data, and why: found at the first visit, unless somebody does not wait for it."""
    if own.start is None:
        settings = session.current()
        with waiting.container():
            place = st.empty()
            stopped = Start({"lambda_fair": 0.0}, "They open with f as it is: the search for a setting was stopped.")
            button("Stop, and open with f as it is", "", _begin, own, stopped, settings)
        _begin(own, result_of(tasks.start(settings), place, "Looking for a setting to begin with"), settings)
        waiting.empty()
    assert own.start is not None
    return own.start


def _begin(own: OwnData, start: Start, settings: Settings) -> None:
    own.begin(start)
    if settings == session.current() and settings.data == own.name:
        session.go_to(defaults(own.name).looked_at_as(settings))


def _draw_done(done: tuple[Done, ...]) -> None:
    """What was done to the data, a row for each column and step."""
    rows = [
        [step.column or "All", count_of(step.count, step.of) if step.count else "", with_capital(step.what)]
        for step in done
    ]
    with st.expander(f"What was done to the data: {count_of(len(rows), 'step')}", expanded=len(rows) <= 8):
        headings = ["Column", "How many", "What was done"]
        st.html(html_table(headings, rows, caption="What was done to the data", text=(2,), tall=len(rows) > 15))


def _forget() -> None:
    own, uploads = own_data(), draft().uploads
    gone = own.task.spec.title if own else ""
    session.forget_own()
    draft.set(TableDraft(uploads=uploads + 1, forgotten=gone))
    st.session_state.pop(f"upload_{uploads}", None)


def _what_it_is() -> None:
    """For whoever wonders what is asked for."""
    with st.expander("What is needed, and what happens to it"):
        st.markdown(tip("your_data_needs", rows=MAX_ROWS, columns=MAX_COLUMNS))


# ---- the page ----


def show() -> None:
    """The page, from top to bottom."""
    frame.page("pages/your_data.py")
    st.title("Use your own data")
    if not session.access().allows("data"):
        st.info("Your link fixes the data set, so you cannot upload another.", icon=":material/lock:")
        session.keep_link()
        st.stop()
    top = st.container()
    _bring()
    _choose()
    _what_it_is()
    with top:
        _in_use()
    session.keep_link()
