"""Whose groups: one sensitive attribute or two crossed, in bands or put together, and counted before anybody trains."""

from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from commod.dashboard.pages.your_data.draft import draft, kept, select
from commod.dashboard.pages.your_data.roles import ask_column, choose_blanks, choose_cut, is_to_be_cut
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import html_table
from commod.dashboard.views.widgets import button
from commod.datasets import Choice, own_groups, roles
from commod.datasets.grouping import CROSS
from commod.datasets.raw import OTHER
from commod.datasets.task import CONFIRM_SHARE, TEST_SHARE
from commod.metrics import MIN_GROUP, left_out_in_words
from commod.metrics.counts import least_people
from commod.uploads.limits import count_of

# How many rows make a group that is not small in the test part.
SMALL = round(MIN_GROUP / TEST_SHARE)
# So many rows of each group and outcome for some to be sealed without asking: a fifth of fewer settles nothing.
LEAST_TO_SEAL = 50


def choose_groups(choice: Choice) -> Choice:
    """The choice with its groups: by which columns, how these are cut and put together, and which of them."""
    here = draft()
    columns = [column for column in roles.columns_of_roles(here.guesses) if column != choice.target]
    guess = roles.guess_sensitive(columns, here.guesses)
    ask_column("Which column says which group a person belongs to?", guess, columns, "sensitive")
    first = select("Sensitive attribute", columns, "sensitive", str(guess))
    others = ["", *(column for column in columns if column != first)]
    label = "Crossed with"
    second = select(label, others, "crossed", "", format_func=lambda name: name or "nothing", help=tip("crossing"))
    choice = replace(choice, sensitive=(first, second) if second else first)
    cuts = {column: cut for column in choice.sensitive_columns if (cut := _choose_cuts(column))}
    choice = replace(choice, cuts=cuts)
    for column in choice.sensitive_columns:
        blanks = choose_blanks(column, roles.values_of(here.frame[column], cuts.get(column)))
        choice = replace(choice, blanks=(*choice.blanks, *blanks))
    # What was put together of a column stays so, whatever it is crossed with.
    if new := [column for column in choice.sensitive_columns if _merge_key(column) not in here.chosen]:
        guessed = roles.guess_merge(here.frame, choice)
        here.chosen.update({_merge_key(column): guessed.get(column, {}) for column in new})
    choice = replace(choice, merge={column: _choose_merge(choice, column) for column in choice.sensitive_columns})
    choice = replace(choice, merge={column: names for column, names in choice.merge.items() if names})
    choice = replace(choice, groups=_choose_among(choice))
    own_groups.check_groups(here.frame, choice)
    return choice


# ---- numbers ----


def _choose_cuts(column: str) -> tuple[float, ...]:
    """Where to cut a column of numbers; nowhere, if its values are groups as they are."""
    here = draft()
    if not is_to_be_cut("sensitive", column, f"Cut “{escape_markdown(column)}” into bands"):
        return ()
    most = min(own_groups.MAX_BANDS, int(here.guesses.loc[column, "values"]))
    options = [str(bands) for bands in range(2, most + 1)]
    bands = int(select(f"Bands of “{column}”", options, f"sensitive_bands_{column}", "2"))
    guessed = roles.guess_cuts(here.frame[column], bands)
    if bands == 2:
        return (choose_cut(f"sensitive_cut_{column}", column, guessed[0]),)
    with st.container(horizontal=True, gap="small"):
        return tuple(
            choose_cut(f"sensitive_cut_{column}_{bands}_{place}", column, guess, f"Cut {place}")
            for place, guess in enumerate(guessed, start=1)
        )


# ---- levels that are put together ----


def _merge_key(column: str) -> str:
    return f"merge_{column}"


def _choose_merge(choice: Choice, column: str) -> dict[str, str]:
    """Level of a column to what it is called instead, by hand or by its size."""
    here = draft()
    levels = [str(level) for level in own_groups.classes_of(here.frame[column]).dropna().unique()]
    if column in choice.cuts or len(levels) < 3:
        return {}
    names: dict[str, str] = here.chosen[_merge_key(column)]
    rows = roles.count_levels(here.frame, replace(choice, merge={column: names}), column)
    name, called = f"merging_{column}", f"called_{column}"
    chosen = [level for level in here.chosen.get(name, []) if level in rows]
    with st.expander(f"Combine values of “{escape_markdown(column)}”", expanded=len(levels) > own_groups.MAX_GROUPS):
        st.multiselect(
            "Values to combine",
            list(rows),
            format_func=lambda level: f"{level} ({rows[level]:,})",
            **kept(name, chosen),
        )
        now = here.chosen.get(called, "")
        st.text_input("Name of the new group", placeholder=OTHER, max_chars=60, **kept(called, now))
        small = own_groups.small_together(rows, SMALL)
        with st.container(horizontal=True, gap="small"):
            button("Combine", "", _put_together, column, levels, key=f"merge_now_{column}", disabled=not chosen)
            label, by_size = f"Combine those under {SMALL} rows", (column, levels, list(small))
            if 0 < len(small) < len(rows):
                button(label, "", _put_together, *by_size, key=f"merge_small_{column}", help=tip("few_in_test"))
            if names:
                button("Undo", "", _put_apart, column, key=f"merge_none_{column}")
        for group in dict.fromkeys(names.values()):
            old = ", ".join(level for level, new in names.items() if new == group)
            st.caption(escape_markdown(f"“{group}” stands for {old}."))
    return names


def _put_together(column: str, levels: list[str], chosen: list[str] | None = None) -> None:
    """Give levels one name: those `chosen` the usual one, or those in the list the name in the field below it."""
    here = draft()
    name = OTHER
    if chosen is None:  # what is in the fields at the click, which need not have come with an earlier run
        chosen = st.session_state[f"own_merging_{column}"]
        name = st.session_state[f"own_called_{column}"].strip() or OTHER
    names: dict[str, str] = here.chosen[_merge_key(column)]
    now = {level: names.get(level, level) for level in levels}
    now = {level: name if called in chosen else called for level, called in now.items()}
    here.chosen[_merge_key(column)] = {level: called for level, called in now.items() if level != called}
    here.chosen[f"merging_{column}"], here.chosen[f"called_{column}"] = [], ""


def _put_apart(column: str) -> None:
    draft().chosen[_merge_key(column)] = {}


# ---- which of them ----


def _choose_among(choice: Choice) -> tuple[str, ...]:
    """The groups that are looked at; all of them at first, but for those of hardly anybody."""
    here = draft()
    rows = {str(group): int(count) for group, count in _groups_with_outcome(choice).value_counts().items()}
    name = f"groups_{CROSS.join(rows)}"
    chosen = here.chosen.get(name, list(roles.guess_groups(here.frame, choice)))
    st.multiselect(
        "Groups (rows of others are left out)",
        list(rows),
        format_func=lambda group: f"{group} ({rows[group]:,})",
        **kept(name, chosen),
    )
    least = own_groups.LEAST_IN_GROUP
    if few := [f"{group} ({count:,})" for group, count in rows.items() if group not in chosen and count < least]:
        text = f"Left out, with fewer than {least} rows: {', '.join(few)}. You can combine them with others above."
        st.caption(escape_markdown(text))
    return tuple(chosen)


def _groups_with_outcome(choice: Choice) -> pd.Series:
    frame = draft().frame
    return own_groups.groups_of(frame[own_groups.outcomes_of(frame, choice).notna()], choice)


def choose_unknown(choice: Choice) -> Choice:
    """What is done with rows whose group is not known, if there are any."""
    unknown = int(_groups_with_outcome(choice).isna().sum())
    if not unknown:
        return choice
    what: Any = select(
        f"{count_of(unknown, 'row')} without a known group",
        ["train", "drop"],
        "unknown",
        "train",
        format_func={"train": "train on them, but measure nothing on them", "drop": "leave them out"}.get,
        help=tip("known_in_part"),
    )
    return replace(choice, unknown=what)


def draw_counts(choice: Choice) -> None:
    """How many rows each group has and how many of them the favourable outcome, before anything is trained."""
    counted = own_groups.count_groups(draft().frame, choice).reindex(list(choice.groups), fill_value=0)
    tested = ((choice.confirm or TEST_SHARE) * counted["rows"]).round().astype(int)
    least = least_people(tested)
    rows = [
        [
            str(group),
            f"{row['rows']:,}",
            f"{row['favourable']:,} ({row['favourable'] / max(row['rows'], 1):.0%})",
            f"{tested[group]:,}" + (", small" if tested[group] < least else ""),
        ]
        for group, row in counted.iterrows()
    ]
    headings = ["Group", "Rows", f"{choice.target}: {' or '.join(choice.good_values)}", "Test people, about"]
    st.html(html_table(headings, rows, caption="Rows of each group"))
    if text := left_out_in_words(list(choice.groups), tested):
        st.caption(escape_markdown(text))


def seal_at_first(choice: Choice) -> Choice:
    """The choice with a fifth of the people sealed, unless somebody said otherwise or too few would be."""
    counted = own_groups.count_groups(draft().frame, choice).reindex(list(choice.groups), fill_value=0)
    enough = min(counted["favourable"].min(), (counted["rows"] - counted["favourable"]).min()) >= LEAST_TO_SEAL
    return replace(choice, confirm=CONFIRM_SHARE if draft().chosen.get("sealed", enough) else 0.0)


def choose_sealed(choice: Choice) -> None:
    """The switch for it, and what it does."""
    st.toggle("Seal about a fifth of the people until you decide", **kept("sealed", choice.confirm > 0))
    st.caption(tip("seal_own"))
