"""Who changed: group sizes first, what it did to each group, the segments, and the people one by one. All on test."""

import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.service import Pending, draw_pending, get, submit
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.pages.people.groups import draw_open, draw_outcomes, draw_people_segments
from commod.dashboard.pages.people.sense import draw_sense
from commod.dashboard.pages.people.table import people
from commod.dashboard.state import session
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import html_table
from commod.dashboard.text.verdicts import directions
from commod.dashboard.views import frame
from commod.dashboard.views.checks import begin_checks
from commod.dashboard.views.model import current_model
from commod.dashboard.views.next_step import begin_next_steps
from commod.experiments.refits import Refits
from commod.explain.concepts import in_percent
from commod.explain.people import FEW


def show() -> None:
    """The page, from top to bottom."""
    frame.page("pages/people.py")
    st.title("Whose decision changes?")
    result = current_model()
    session.keep_link()

    st.markdown(_verdict(result))
    offers = st.empty()
    _groups(result)
    if not result.changes["changed"].any():
        begin_checks(result)  # says that there is nothing to check
        draw_outcomes(result)
        st.info("Nobody's decision changes at this setting, so there is nobody to list.", icon=":material/info:")
        st.stop()
    refits: Refits | None = get(tasks.refits(result))
    place = draw_sense(result, refits)
    draw_outcomes(result)
    draw_people_segments(result)
    draw_open(result)
    people(result, session.current().depth, refits)
    # What takes a while comes last: with it the page is drawn anew, all else being in the cache.
    draw_pending(
        *begin_next_steps(session.current(), result, offers),
        None if refits else Pending(submit(tasks.refits(result)), lambda _: st.rerun(), place),
    )


def _verdict(result: FitResult) -> str:
    """Who gains and who loses; the first tab says which of f and g the record supports."""
    counts, spec = result.change_counts, result.task.spec
    if not counts.count:
        return escape_markdown(result.verdict)
    good = escape_markdown(spec.outcomes[spec.favourable])
    gain = f"**{counts.better:,} {'gains' if counts.better == 1 else 'gain'}** “{good}”"
    lose = f"**{counts.worse:,} {'loses' if counts.worse == 1 else 'lose'}** {'it' if counts.better else f'“{good}”'}"
    moves = [gain] * (counts.better > 0) + [lose if counts.worse else "**nobody loses** it"]
    people = escape_markdown(spec.people)
    whole = f"**{counts.count:,} of {len(result.decisions):,} {people}** in the test part"
    return f"**g** changes the decision of {whole}: {', '.join(moves)}."


def _groups(result: FitResult) -> None:
    """Each group, the largest first, and how many of it changed."""
    columns = [column for _, column in directions(result.task.spec)]
    rows = []
    for code, row in result.changes.sort_values("count", ascending=False, kind="stable").iterrows():
        few = " (few)" if row["count"] < FEW else ""
        changed = f"{row['changed']:,.0f} of {row['count']:,.0f} ({in_percent(row['changed'] / row['count'])}){few}"
        rows.append([result.task.groups[int(code)], changed, *(f"{row[column]:,.0f}" for column in columns)])
    headings = ["Group", "Changed", "Better off", "Worse off"]
    st.html(html_table(headings, rows, caption="The groups on test, and how many of each changed"))
    if (result.changes["count"] < FEW).any():
        st.caption(tip("few_people", few=FEW, people=escape_markdown(result.task.spec.people)))
