"""Your data with more than two groups: all of a column, put together, crossed, in bands, counted; and weights."""

import numpy as np
import pandas as pd
import pytest

from tests.dashboard.driving import captions, fine, run, tables


@pytest.fixture
def app():
    """A survey of four races, two of them rare, some of them not said."""
    rng = np.random.default_rng(0)
    race = rng.choice(["White", "Black", "Asian", "Native", ""], 1600, p=[0.59, 0.25, 0.08, 0.03, 0.05])
    score = rng.normal(0, 1, 1600).round(2)
    frame = pd.DataFrame(
        {
            "race": race,
            "sex": rng.choice(["Female", "Male"], 1600),
            "region": rng.choice(list("ABCDEFGH"), 1600),
            "age": rng.integers(18, 80, 1600),
            "score": score,
            "wt": rng.gamma(2, 100, 1600).round(1),
            "hired": np.where(rng.random(1600) < 1 / (1 + np.exp(-score - (race == "White"))), "yes", "no"),
        }
    )
    app = run("pages/your_data.py")
    fine(app.file_uploader[0].set_value(("survey.csv", frame.to_csv(index=False).encode(), "text/csv")).run())
    return fine(app.selectbox(key="own_sensitive").set_value("race").run())


def groups(app):
    """Rows of the table, by group."""
    return {row[0]: row[1:] for row in tables(app)["Rows of each group"]}


def test_all_groups_are_counted_put_together_and_crossed(app):
    assert list(groups(app)) == ["White", "Black", "Asian", "Native"]
    assert groups(app)["Native"][2].endswith(", small")
    assert "leave out" in captions(app)
    assert app.selectbox(key="own_unknown").value == "train"
    fine(app.button(key="merge_small_race").click().run())
    assert list(groups(app)) == ["White", "Black", "other"]
    app.multiselect(key="own_merging_race").set_value(["Black", "other"])
    app.text_input(key="own_called_race").set_value("everyone else")
    fine(app.run())
    fine(app.button(key="merge_now_race").click().run())
    assert list(groups(app)) == ["White", "everyone else"]
    fine(app.selectbox(key="own_crossed").set_value("sex").run())
    assert set(groups(app)) == {f"{race} × {sex}" for race in ("White", "everyone else") for sex in ("Female", "Male")}
    fine(app.button(key="merge_none_race").click().run())
    assert len(groups(app)) == 8
    app.selectbox(key="own_crossed").set_value("region").run()
    assert " groups; at most 12 can be compared" in app.error[0].value
    chosen = next(box for box in app.multiselect if box.label.startswith("Groups"))
    fine(chosen.set_value(["White × A", "White × B", "Black × A"]).run())
    assert list(groups(app)) == ["White × A", "White × B", "Black × A"]


@pytest.mark.slow
def test_numbers_are_cut_into_bands_and_rows_weighted(app):
    fine(app.selectbox(key="own_sensitive").set_value("age").run())
    fine(app.selectbox(key="own_sensitive_bands_age").set_value("4").run())
    assert len(groups(app)) == 4
    app.number_input(key="own_sensitive_cut_age_4_1").set_value(25.0)
    app.selectbox(key="own_weight").set_value("wt")
    fine(app.run())
    assert "< 25" in groups(app)
    assert {row[0]: row[1] for row in tables(app)["The columns of the file"]}["wt"] == "weight"
    fine(next(button for button in app.button if button.label == "Use these data").click().run())
    task = app.session_state["held_own_data"].task
    assert len(task.groups) == 4
    assert "age: < 25" in task.groups
    assert "wt" not in task.X
    assert len(task.weight) == len(task.y) == 1600 - len(task.sealed.weight)
    assert "weight='wt'" in task.recipe
    app.number_input(key="own_sensitive_cut_age_4_1").set_value(75.0).run()
    assert "not in rising order" in app.error[0].value
