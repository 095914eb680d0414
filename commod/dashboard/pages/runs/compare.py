"""Up to four saved runs side by side: one table of what differs, whom they change, and their concepts and trees."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import streamlit as st
from markupsafe import Markup

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.queue import Ticket
from commod.dashboard.jobs.service import Pending, get, result_of, submit, wait
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.state import session
from commod.dashboard.state.page_state import mirrored
from commod.dashboard.state.runs_file import Run, figures_of_run
from commod.dashboard.state.saved_runs import MAX_COMPARED, shelf
from commod.dashboard.state.settings import CONTROLS, Settings, described
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.html import html_columns, html_table
from commod.dashboard.views import controls
from commod.dashboard.views.checks import changing_table, checks_in_words, in_a_cell
from commod.dashboard.views.explained import cached_cards, tree_of
from commod.explain.checks import CHECKS, Answer
from commod.explain.concepts import guess_in_words, starts_in_words
from commod.metrics.figures import CRITERIA, FIGURES, Figure, key_figures
from commod.uploads.limits import count_of

MARKS = "ABCD"


@dataclass(frozen=True)
class Shown:
    """A run that is compared: its letter, and its model."""

    mark: str
    run: Run
    result: FitResult

    @property
    def settings(self) -> Settings:
        return self.run.settings

    @property
    def title(self) -> str:
        return f"{self.mark}: {self.run.name}"


def train_compared(chosen: Sequence[Run]) -> list[Shown]:
    """The models of the runs that are compared; one that fails is named and left out."""
    place = st.empty()
    shown: list[Shown] = []
    with ExitStack() as places_in_queue:
        begun = [places_in_queue.enter_context(submit(tasks.fit(run.settings))) for run in chosen]
        for mark, run, training in zip(MARKS, chosen, begun, strict=False):
            try:
                result: FitResult = wait(training, place, "Training")
            except Exception as error:
                st.error(f"{_why_not(run, error)} The others are shown.", icon=":material/error:")
                continue
            _keep_figures(result)
            shown.append(Shown(mark, run, result))
            if not result.converged:
                st.warning(
                    f"The solver did not settle on “{escape_markdown(run.name)}”, so its model may be improved on.",
                    icon=":material/warning:",
                )
    return shown


def train_rest(place: Any) -> None:
    """Count the figures of runs that are not compared, for the table and the file."""
    here = shelf()
    missing = [run for run in here.runs if run.settings.model() not in here.figures]
    for i, run in enumerate(missing, start=1):
        place.progress((i - 1) / len(missing), text=f"Training {i} of {len(missing)} runs that are not compared …")
        try:
            _keep_figures(result_of(tasks.fit(run.settings)))
        except Exception as error:
            st.warning(_why_not(run, error), icon=":material/warning:")
    place.empty()


def _keep_figures(result: FitResult) -> None:
    """Remember the key figures of a model that was trained."""
    figures = shelf().figures
    if result.settings not in figures:
        figures[result.settings] = figures_of_run(result.figures)


def _why_not(run: Run, error: Exception) -> str:
    """One sentence on a run that failed; of our own faults nothing is told."""
    reason = str(error) if isinstance(error, ValueError) else "it is our fault, not yours."
    return escape_markdown(f"“{run.name}” could not be trained: {reason}")


TABLE = "The runs side by side"
# What makes an f; runs that are equal in it share one.
_OF_F = ("data", "groups", "seed", "f", "threshold")
# What to bear in mind where runs differ in a setting.
_DIFFERENT = {
    "data": "They use different data sets: compare only what each gains over its own f.",
    "groups": "They group people differently: each is fair or not to its own groups.",
    "seed": "They use different splits, so small differences may come from the split.",
    "f": "They start from different base models: changes are counted from each one's own f.",
    "threshold": "They use different cut-offs of f: changes are counted from f at each one's own.",
    "fairness": "They were trained for different criteria: each should do well by its own.",
}


def choose() -> list[Run]:
    """Which runs to compare."""
    here = shelf()

    def take(names: list[str]) -> None:
        here.compared = names

    chosen = mirrored("runs_compared", [run.name for run in here.chosen()], take)
    st.multiselect("Runs to compare, up to four", here.names(), max_selections=MAX_COMPARED, **chosen)
    return here.chosen()


def side_by_side(shown: Sequence[Shown]) -> Callable[[], list[Pending]]:
    """All that is compared; what it gives sets out to find what takes longer."""
    notes = [text for name, text in _DIFFERENT.items() if _differ(shown, name)]
    if notes:
        st.info(" ".join(notes), icon=":material/balance:")
    first, *others = shown
    st.markdown(_in_short(first) + "".join(f"\n{_in_short(one)}{_instead(first, one)}" for one in others))
    settings, figures = _settings(shown), list(_figures(shown))
    jobs = [(tasks.merit(one.result), tasks.refits(one.result)) for one in shown]

    def table() -> Markup:
        found = [one.result.answers(*map(get, both)) for one, both in zip(shown, jobs, strict=True)]
        rows = [*settings, *figures, *(_check(name, found, shares_f=_share_f(shown)) for name in CHECKS)]
        headings = ["", *(["f"] if _share_f(shown) else []), *(one.title for one in shown)]
        return html_table(headings, rows, caption=TABLE, text=range(1, len(headings)))

    place = changing_table(st, table())
    fair = "; ".join(f"{figure.in_sentence}: {figure.fair} is fair" for figure in key_figures() if figure.fair)
    st.caption(
        f"On test people, with 95 % intervals in [ ]. {fair}. Settings that are equal in all are left out.",
        help=checks_in_words(),
    )
    _overlap(shown)
    _inside(shown)

    def paint(_: Ticket) -> None:
        changing_table(place, table())

    return lambda: [Pending(submit(job), paint) for both in jobs for job in both if get(job) is None]


def _in_short(one: Shown) -> str:
    return f"- **{escape_markdown(one.title)}.** {escape_markdown(one.result.verdict)}"


def _instead(one: Shown, other: Shown) -> str:
    """What another model of the same f does more or less than the first."""
    if not _share_f((one, other)):
        return ""
    changes = int(other.result.changed_test.sum()) - int(one.result.changed_test.sum())
    tables = one.result.figures, other.result.figures
    kind = "more change" if changes > 0 else "fewer change"
    parts = [count_of(abs(changes), kind) if changes else "as many changes"]
    for figure in (CRITERIA[one.settings.fairness].figure, FIGURES["accuracy"]):
        step = tables[1].loc[figure.name, "g"] - tables[0].loc[figure.name, "g"]
        parts.append(f"{figure.in_sentence} {figure.show_difference(step)}")
    return f" **Instead of {one.mark}:** {', '.join(parts)}."


def _differ(shown: Sequence[Shown], *names: str) -> bool:
    return len({tuple(getattr(one.settings, name) for name in names) for one in shown}) > 1


def _share_f(shown: Sequence[Shown]) -> bool:
    """Whether f has a column of its own."""
    return not _differ(shown, *_OF_F)


# ---- the rows of the table ----


def _settings(shown: Sequence[Shown]) -> list[list[str]]:
    """The settings that differ."""
    noted = ("note",) if any(one.settings.reason for one in shown) else ()
    columns = [
        described(one.settings, "scene", "model", *noted) | {"fairness": CRITERIA[one.settings.fairness].title}
        for one in shown
    ]
    named = {CONTROLS[name].heading: [column[name] for column in columns] for name in columns[0]}
    if any(one.run.requirements for one in shown):
        named["Required"] = ["; ".join(one.run.requirements.in_words) or "nothing" for one in shown]
    of_f = ["–"] * _share_f(shown)
    return [[name, *of_f, *values] for name, values in named.items() if len(set(values)) > 1 or len(shown) == 1]


def _figures(shown: Sequence[Shown]) -> Iterator[list[str]]:
    """The key figures of g, those of f before or below them, and changes by group and direction where they differ."""
    shares_f = _share_f(shown)
    for figure in key_figures():
        of_f = [_value(shown[0], figure, "f")] if shares_f else []
        below = not shares_f and not figure.of_change
        sentences = [_value(one, figure, "g") + (f"\nf: {_value(one, figure, 'f')}" if below else "") for one in shown]
        yield [figure.title, *of_f, *sentences]
    changed: dict[str, dict[str, str]] = {}
    for one in shown:
        task = one.result.task
        for code, row in one.result.changes.iterrows():
            for part, outcome in (("raised", 1), ("lowered", 0)):
                title = f"{task.groups[int(code)]}: now “{task.spec.outcomes[outcome]}”"
                changed.setdefault(title, {})[one.mark] = f"{row[part]:,.0f} of {row['count']:,.0f}"
    for title, found in changed.items():
        cells = [found.get(one.mark, "–") for one in shown]
        if len(set(cells)) > 1 or len(shown) == 1:
            yield [title, *(["–"] * shares_f), *cells]


def _value(one: Shown, figure: Figure, column: str) -> str:
    """A figure with its interval; a dash where it is not defined."""
    figures = one.result.figures
    if figure.name not in figures.index or (figure.of_change and column == "f"):
        return "–"
    return figure.show_with_interval(figures.loc[figure.name], column).replace("\n", " ").replace("-", "−")


def _check(name: str, found: Sequence[Mapping[str, Answer]], *, shares_f: bool) -> list[str]:
    cells = (in_a_cell(answers[name]) if name in answers else "…" for answers in found)
    return [CHECKS[name].title, *(["–"] * shares_f), *cells]


# ---- the same people? ----


def _overlap(shown: Sequence[Shown]) -> None:
    """Of the people changed by either of two runs, how many are changed by both."""
    if len(shown) < 2:
        return
    st.subheader("Do they change the same people?")
    lines = []
    for one, other in combinations(shown, 2):
        if _differ([one, other], "data", "groups", "seed"):
            continue
        a, b = one.result.changed_test, other.result.changed_test
        both, either = int((a & b).sum()), int((a | b).sum())
        text = f"of the {either:,} people whom either changes, both change {both:,} ({both / either:.0%})"
        lines.append(f"{one.title} and {other.title}: {text if either else 'neither changes anybody'}.")
    if len(lines) < len(shown) * (len(shown) - 1) // 2:
        which = "Other pairs" if lines else "These runs"
        lines.append(f"{which} differ in data set, groups or split: their test people are not the same.")
    st.markdown("\n".join(f"- {escape_markdown(line)}" for line in lines))


# ---- concepts and trees ----


def _inside(shown: Sequence[Shown]) -> None:
    """Concepts and trees of each, when somebody asks for them."""
    with st.expander("Concepts and trees of each", key="runs_inside", on_change="rerun") as opened:
        if not opened.open:
            return
        parts = []
        for one in shown:
            starts = f"Start: {starts_in_words(one.result.g, one.result.task.spec.outcomes)}."
            parts.append(
                (one.title, f"{starts} {guess_in_words(one.result.concepts)}".strip(), cached_cards(one.result))
            )
        st.html(html_columns(parts))
        controls.draw_control("depth")
        depth = session.current().depth
        st.html(html_columns([(one.title, *_tree(one, depth)) for one in shown]))


def _tree(one: Shown, depth: int) -> tuple[str, Any]:
    if not one.result.changed_train.any():
        return "No decision changes, so there is nothing for a tree to find.", ""
    found = result_of(tasks.tree(one.result, depth))
    return f"F1 of the tree on test (1: it finds just those who change): {found.f1:.2f}", tree_of(
        one.result, found, depth
    )
