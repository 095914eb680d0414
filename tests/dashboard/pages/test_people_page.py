"""The page Who changed."""

import csv
import io
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.service import result_of
from commod.dashboard.model.training import fit_result
from commod.dashboard.pages.people import page as people
from commod.dashboard.pages.people import table as people_table
from commod.dashboard.pages.people.groups import OUTCOMES
from commod.dashboard.state.settings import defaults
from commod.dashboard.views.chart import MAX_ROWS
from commod.datasets import load_task
from tests.dashboard.driving import captions, fine, run, tables, words

PEOPLE = "pages/people.py"


@pytest.fixture(scope="module")
def law():
    return fit_result(defaults("law_school").model())


@pytest.fixture
def downloads(monkeypatch):
    """What the page would hand out, by file name."""
    found = {}
    monkeypatch.setattr(
        people_table.st, "download_button", lambda label, data, file_name, **more: found.update({file_name: data})
    )
    return found


def widget(app, kind, label):
    return next(w for w in getattr(app, kind) if w.label == label)


def listed(app):
    """The table of the people: the only one that is open."""
    (table,) = app.dataframe
    return table.value


def test_group_sizes_come_first_and_are_those_of_the_explore_page(law):
    app = fine(run(PEOPLE))
    rows = {row[0]: row[1:] for row in tables(app)["The groups on test, and how many of each changed"]}
    assert list(rows) == ["White", "Non-White"]
    for code, row in law.changes.iterrows():
        changed, better, worse = rows[law.task.groups[code]]
        assert changed.startswith(f"{row['changed']:,.0f} of {row['count']:,.0f} (")
        assert [better, worse] == [f"{row[way]:,.0f}" for way in ("raised", "lowered")]
    changed = int(law.changed_test.sum())
    assert f"**{changed:,} of 1,376 students**" in words(app)
    assert len(listed(app)) == changed
    better = int(law.changes["raised"].sum())
    assert f"**{better} gain** “passes the bar”" in words(app)


def test_true_and_false_positives_in_people(law):
    app = run(PEOPLE)
    app.session_state["outcomes_table"] = True
    rows = {tuple(row[:2]): row[2:5] for row in tables(fine(app.run()))[OUTCOMES]}
    y, s = law.scene.test.y.to_numpy(), law.scene.test.sensitive.to_numpy()
    for group in (0, 1):
        for label, kind in ((1, "passes the bar (true positives)"), (0, "fails the bar (false positives)")):
            here = (y == label) & (s == group)
            before, after = law.scene.decisions_test[here].sum(), law.decisions[here].sum()
            assert rows[law.task.groups[group], kind] == [f"{here.sum():,}", f"{before:,}", f"{after:,}"]


def test_segments_are_ranked_and_their_number_is_told():
    app = fine(run(PEOPLE))
    assert re.search(r"of all \d+ with 30 people or more", captions(app))
    app.session_state["segments_table"] = True
    fine(app.run())

    def listed_segments():
        names = ["segment", "count", "changed", "better", "worse", "share", "low", "high"]
        return pd.DataFrame(tables(app)["All segments as a table"], columns=names)

    def share_of(rows, part):
        people = rows["count"].str.replace(",", "").astype(int)
        return [f"{int(n) / m:.1%}" if m >= 30 else "–" for n, m in zip(rows[part], people, strict=True)]

    everyone = listed_segments()
    assert len(everyone) == MAX_ROWS
    assert "The first 200 of " in " ".join(caption.value for caption in app.caption)
    assert everyone["share"].tolist() == share_of(everyone, "changed")
    assert everyone["share"].str.rstrip("%").astype(float).is_monotonic_decreasing
    fine(app.button_group(key="people_rank").set_value("worse").run())
    worse = listed_segments()
    assert worse["share"].tolist() == share_of(worse, "worse")


def test_people_are_filtered_by_group_direction_leaf_and_feature(downloads):
    app = fine(run(PEOPLE))
    everyone = listed(app)
    filters = widget(app, "multiselect", "More columns and filters")
    fine(filters.set_value(["group", "better", "leaf"]).run())
    fine(widget(app, "multiselect", "Group").set_value(["White"]).run())
    white = listed(app)
    assert len(white) == (everyone["group"] == "White").sum() > 0
    fine(widget(app, "multiselect", "For the person").set_value(["better"]).run())
    better = listed(app)
    assert len(better) == ((everyone["group"] == "White") & (everyone["better"] == "better")).sum() > 0
    assert set(better["decision"]) == {"passes the bar"}
    leaf = better["leaf"].iloc[0]
    fine(widget(app, "multiselect", "Leaf of the tree").set_value([leaf]).run())
    assert set(listed(app)["leaf"]) == {leaf}
    fine(widget(app, "multiselect", "More columns and filters").set_value(["feature:study"]).run())
    fine(widget(app, "multiselect", "Study mode").set_value(["part-time"]).run())
    assert len(listed(app)) == (everyone["feature:study"] == "part-time").sum() > 0
    fine(widget(app, "multiselect", "More columns and filters").set_value(["feature:zgpa"]).run())
    slider = widget(app, "slider", "Cumulative grades (standardised points)")
    assert len(listed(app)) == len(everyone)  # the ends leave nobody out
    low, _ = slider.value
    fine(slider.set_value((low, 0.0)).run())
    assert len(listed(app)) == (everyone["feature:zgpa"] <= 0).sum() < len(everyone)
    assert f"**{len(listed(app)):,} of {len(everyone):,}** changed students" in words(app)
    rows = list(csv.DictReader(io.StringIO(downloads["changed-law_school.csv"]().decode("utf-8-sig"))))
    assert [int(row["Number"]) for row in rows] == listed(app)["number"].tolist()  # what is shown, as it is shown
    assert float(rows[0]["r"]) == listed(app)["r"].iloc[0]
    assert rows[0]["Group"] in ("White", "Non-White")
    assert rows[0]["LSAT score (points)"] == str(listed(app)["feature:lsat"].iloc[0])
    fine(widget(app, "multiselect", "More columns and filters").set_value(["group", "leaf"]).run())
    gone = next(leaf for leaf in everyone["leaf"].unique() if leaf not in set(white["leaf"]))
    fine(widget(app, "multiselect", "Group").set_value(["White"]).run())
    fine(widget(app, "multiselect", "Leaf of the tree").set_value([gone]).run())
    assert not app.dataframe
    assert "Take a filter away" in app.info[0].value


def test_the_table_fits_on_the_page_until_more_columns_are_asked_for():
    app = fine(run(PEOPLE))
    usual = list(app.dataframe[0].proto.column_order)
    assert usual == list(people_table.USUAL)
    fine(widget(app, "multiselect", "More columns and filters").set_value(["group", "r"]).run())
    assert list(app.dataframe[0].proto.column_order) == [*usual, "r"]


def test_where_nobody_loses_nobody_is_ranked_by_it():
    app = fine(run(PEOPLE, direction="improve"))
    assert "**nobody loses** it" in words(app)
    fine(app.button_group(key="people_rank").set_value("worse").run())
    assert any(info.value == "Nobody is worse off." for info in app.info)


def test_the_sum_behind_r_and_the_leaf_are_those_of_the_model(law):
    table = listed(fine(run(PEOPLE, depth="2")))
    parts = table.filter(like="concept:").sum(axis=1) + law.g.intercept_
    np.testing.assert_allclose(parts, table["r"], atol=1e-9)
    assert (table["r"] < 0).all()
    assert ((table["f"] > 50) != (table["g"] > 50)).all()  # in percent
    nodes = result_of(tasks.tree(law, 2)).nodes
    leaves = nodes[nodes["leaf"] & (nodes["changed"] > 0)]
    assert sorted(table["leaf"].value_counts()) == sorted(leaves["changed"])


def test_where_nobody_changes_it_says_so():
    app = fine(run(PEOPLE, lambda_fair="0"))
    assert "Nothing changes" in words(app)
    assert "nothing to check" in app.info[0].value
    assert "nobody to list" in app.info[1].value
    assert not app.dataframe


@pytest.mark.slow
def test_the_worse_decision_may_be_the_positive_one_and_small_groups_say_so(monkeypatch):
    app = fine(run(PEOPLE, data="compas"))
    assert "**4 gain** “not charged again”" in words(app)
    assert any("an error against a person" in c.value for c in app.caption)
    assert any("Charge: the 12 most frequent levels" in c.value for c in app.caption)
    monkeypatch.setattr(people, "FEW", 60)
    app = fine(run(PEOPLE, data="german"))
    assert "with fewer than 60 applicants on test, the figures of this group may be chance" in captions(app)
    rows = {row[0]: row[1] for row in tables(app)["The groups on test, and how many of each changed"]}
    assert [name for name, changed in rows.items() if changed.endswith("(few)")] == ["25 or younger"]


def test_filters_that_ask_nothing_keep_everyone():
    frame = pd.DataFrame({"group": ["a", "b"], "better": [True, False], "leaf": ["x", "y"], "feature:n": [1.0, 2.0]})
    assert len(people_table.filtered(frame, {})) == 2
    assert len(people_table.filtered(frame, {"group": [], "better": [], "feature:n": (1.0, 2.0)})) == 2
    assert len(people_table.filtered(frame, {"feature:n": (1.0, 1.0)})) == 1
    assert len(people_table.filtered(frame, {"better": [False]})) == 1
    assert len(people_table.filtered(frame, {"group": ["a"], "leaf": ["y"]})) == 0
    unknown = frame.assign(**{"feature:n": [1.0, np.nan]})
    assert len(people_table.filtered(unknown, {"feature:n": (1.0, 1.0)})) == 2  # the whole range
    assert len(people_table.filtered(unknown, {"feature:n": (0.0, 0.5)})) == 0


def test_headings_are_readable(law):
    frame = pd.DataFrame(columns=["group", "better", "f", "concept:Concept 1", "leaf", "feature:lsat", "feature:sex"])
    names = people_table.headings(frame, load_task("law_school"), law.g)
    assert list(names.values()) == [
        "Group",
        "For the person",
        "Score of f",
        "Concept 1 adds to r",
        "Leaf of the tree",
        "LSAT score (points)",
        "Sex",
    ]


def test_a_shift_has_its_columns(law):
    shifted = fit_result(replace(defaults("law_school"), update="affine").model())
    names = people_table.headings(result_of(tasks.people(shifted, 3)), shifted.task, shifted.g)
    assert names["s"] == "s"
    assert names["concept:Concept 1, shift"] == "Concept 1 adds to s"
    assert names["concept:Concept 1"] == "Concept 1 adds to r"
    assert "s" not in people_table.headings(result_of(tasks.people(law, 3)), law.task, law.g)


def test_a_balance_has_its_column():
    found = fit_result(replace(defaults("law_school"), update="decisions").model())
    names = people_table.headings(result_of(tasks.people(found, 3)), found.task, found.g)
    assert names["balance"] == "Balance"
    assert names["concept:Concept 1"] == "Concept 1 adds to the balance"
    assert not {"r", "s"} & set(names)
